"""What the commands of ``sssjob ledger`` share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from sssjob.cli import common
from sssjob.cli.ranges import WholeNumber
from sssjob.own_process import leave_pandas_out

if TYPE_CHECKING:
    from sssjob.ledger.ledger import Ledger

directory = click.argument("directory", metavar="DIR", type=click.Path())
AS_OF = click.option(
    "--as-of", "number", metavar="N", type=WholeNumber(0),
    help="The ledger as it was after its commit N.",
)  # fmt: skip


@contextmanager
def opened(
    directory: str, *, create: bool = False, number: int | None = None, damaged: bool = False
) -> Iterator[Ledger]:
    """A ledger; whatever is wrong with it ends the command, unless it may be ``damaged``."""
    with failing():
        leave_pandas_out()
        from sssjob.ledger import ledger, places

        home = places.place(directory)
        if damaged:
            yield ledger.found(home)
            return
        yield ledger.create(home) if create else ledger.opened(home, number)


@contextmanager
def failing() -> Iterator[None]:
    """Whatever is wrong with a ledger ends the command, and so does a library that is missing."""
    try:
        with common.failing():
            yield
    except ModuleNotFoundError as error:
        if error.name in ("deltalake", "s3fs"):
            common.fail(error)
        if error.name not in ("duckdb", "pyarrow"):
            raise
        common.fail(f"a ledger needs {error.name}: pip install 'sssjob[ledger]'")
