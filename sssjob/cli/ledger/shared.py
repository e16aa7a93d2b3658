"""What the commands of ``sssjob ledger`` share."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

import click

from sssjob.cli import common
from sssjob.cli.ranges import WholeNumber

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
        _leave_pandas_out()
        from sssjob.ledger import ledger, places

        home = places.place(directory)
        if damaged:
            yield ledger.found(home)
            return
        yield ledger.create(home) if create else ledger.opened(home, number)


class _NoPandas:
    """Finds no pandas, and leaves all else to others."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        """Raise ``ModuleNotFoundError`` for pandas."""
        if name == "pandas":
            raise ModuleNotFoundError(name, name=name)
        return None


def _leave_pandas_out() -> None:
    """Have pyarrow look for pandas now, and find none, before its first array would import it.

    That takes as long as the rest of a short command, none of which has a Series. Whoever asks
    pyarrow for a DataFrame afterwards still gets one.
    """
    if "pandas" in sys.modules:
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        import pyarrow

        pyarrow.array([None])
    finally:
        sys.meta_path.remove(finder)


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
