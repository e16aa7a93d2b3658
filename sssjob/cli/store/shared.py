"""What the commands of ``sssjob store`` share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from sssjob.cli import common
from sssjob.users import caller

if TYPE_CHECKING:
    from sssjob.store import Store

store = click.argument("store", metavar="STORE")
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
by = click.option(
    "--by", metavar="NAME", help="Who makes the change, for the history. Default: the user."
)


@contextmanager
def opened(target: str, **options: Any) -> Iterator[Store]:
    """A store; whatever is wrong with it ends the command."""
    from sssjob import store

    patience = click.get_current_context().obj
    with failing(), store.open(target, patience=patience, **options) as jobs:
        yield jobs


@contextmanager
def failing() -> Iterator[None]:
    """Whatever is wrong with a store ends the command."""
    from sssjob.errors import UnusableStore

    try:
        yield
    except UnusableStore as error:
        common.fail(error)


@contextmanager
def counted(what: str) -> Iterator[Callable[[int], None]]:
    """How many documents are done, on a terminal only."""
    from sssjob.cli.progress import counting

    with counting(what) as tell:
        yield tell


def user(name: str | None) -> str:
    """Who makes a change."""
    return caller() if name is None else name


def moment(at: int | None) -> str:
    """A time as people read it; "-" for none."""
    from sssjob.units import iso

    return "-" if at is None else iso(at)
