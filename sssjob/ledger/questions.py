"""Questions to a ledger: the rows of some jobs, and SQL of users, which changes nothing.

Strategy. Who may read a ledger may ask it anything. But a question comes from anywhere, SQL can
read and write files and settings, and one join can fill a disk.

The idea is that DuckDB itself keeps to a fence that is closed before the question is known: no file
outside the ledger, no extension, no setting, so much memory, disk and time. Of the question itself
only its kind is looked at: one statement that selects, which is what cannot write.

Why it is right: the fence is that of the engine, and not a list of words; a view, a function or a
file that is named in any way is opened by the same engine. What is not selected is refused before
any of it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Timer
from typing import TYPE_CHECKING, Any

import duckdb

from sssjob.errors import LimitExceeded, UnusableInput
from sssjob.ledger import columns
from sssjob.ledger.columns import ID, LINE, MACHINE, SOURCE, START, SUBMIT
from sssjob.ledger.engine import rows_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

    from sssjob.ledger.ledger import Ledger

SECONDS = 60  # that a question may take
_FENCE = {
    "memory_limit": "1GB",
    "max_temp_directory_size": "4GB",
    "python_enable_replacements": False,  # names of Python would be tables
}
_FETCHED = 1000  # rows at once


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of an answer, as they come, and the names of their columns, each once."""

    names: Sequence[str]
    rows: Iterator[Sequence[Any]]


def runs(ledger: Ledger, ids: Sequence[str]) -> list[dict[str, Any]]:
    """What is known of the runs of jobs with these ids: only what is stated, in order.

    Raises ``UnusableStore``.
    """
    names = ", ".join(f'"{name}"' for name in columns.NAMES)
    text = (
        f"SELECT {names} FROM live WHERE {ID} IN (SELECT unnest($ids))"
        f" ORDER BY {ID}, {MACHINE}, {SUBMIT}, {START}, {SOURCE}, {LINE}"
    )
    known = [each.encode("utf-8", "replace").decode() for each in ids]  # as rows have them
    _check(ledger)
    with ledger.connected() as connection:
        found = rows_of(connection, text, {"ids": known})
    return [
        {name: value for name, value in zip(columns.NAMES, row, strict=True) if value is not None}
        for row in found
    ]


@contextmanager
def asked(ledger: Ledger, text: str, seconds: float = SECONDS) -> Iterator[Answer]:
    """What SQL finds in the views ``usage`` and ``runs``.

    Raises ``UnusableInput`` for what is no such question, ``LimitExceeded`` where it takes longer,
    also while its rows are read, and ``UnusableStore``.
    """
    _check(ledger)
    with ledger.connected(fence=_FENCE) as connection:
        timer = Timer(seconds, connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            with _refused(seconds):
                _check_kind(connection, text)
                cursor = connection.execute(text)
            names = _each_once([each[0] for each in cursor.description or ()])
            yield Answer(names, _rows(cursor, seconds))
        finally:
            timer.cancel()


def _check(ledger: Ledger) -> None:
    """Raise what is wrong with a file: an answer without its rows would be another one."""
    _, faults = ledger.present(ledger.manifest())
    if faults:
        raise faults[0]


def _check_kind(connection: Connection, text: str) -> None:
    text.encode()  # raises ValueError for what is no text in UTF-8
    found = connection.extract_statements(text)
    kinds = [statement.type for statement in found]
    if kinds != [duckdb.StatementType.SELECT]:
        what = ", ".join(kind.name for kind in kinds) or "nothing"
        raise UnusableInput(f"one SELECT is expected, found {what}")


def _rows(cursor: Connection, seconds: float) -> Iterator[Sequence[Any]]:
    while True:
        with _refused(seconds):
            some = cursor.fetchmany(_FETCHED)
        if not some:
            return
        yield from some


@contextmanager
def _refused(seconds: float) -> Iterator[None]:
    """What DuckDB refuses, in our words."""
    try:
        yield
    except duckdb.InterruptException:
        raise LimitExceeded("seconds for a question", seconds) from None
    except (duckdb.Error, RuntimeError, ValueError) as error:
        raise UnusableInput(f"SQL: {error}") from None


def _each_once(names: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for name in names:
        number, other = 1, name
        while other in found:
            number += 1
            other = f"{name}_{number}"
        found[other] = None
    return [*found]
