"""Questions to a ledger: SQL of users, which changes nothing.

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
import pyarrow as pa

from sssjob.errors import LimitExceeded, UnusableInput
from sssjob.ledger import damage

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
BATCH = 100_000  # rows of a piece of Arrow


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows of an answer, as they come, and the names of their columns, each once."""

    names: Sequence[str]
    rows: Iterator[Sequence[Any]]


@contextmanager
def asked(ledger: Ledger, text: str, seconds: float = SECONDS) -> Iterator[QueryResult]:
    """What SQL finds in the views ``usage`` and ``runs``.

    Raises ``UnusableInput`` for what is no such question, ``LimitExceeded`` where it takes longer,
    also while its rows are read, and ``UnusableStore``.
    """
    with _asking(ledger, text, seconds) as connection:
        with _refused(seconds):
            cursor = connection.execute(text)
        names = _each_once([each[0] for each in cursor.description or ()])
        yield QueryResult(names, _rows(cursor, seconds))


@contextmanager
def in_batches(
    ledger: Ledger, text: str, given: Any = None, seconds: float | None = SECONDS
) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
    """The same as Arrow has it, in pieces, of which one is in memory; a name stands once.

    ``given`` are the values of ``$1`` or ``$name`` in the question. Without ``seconds`` it may
    take any time.
    """
    with _asking(ledger, text, seconds) as connection:
        with _refused(seconds):
            reader = connection.sql(text, params=given).to_arrow_reader(BATCH)
        names = _each_once(reader.schema.names)
        fields = pa.schema(
            field.with_name(name) for field, name in zip(reader.schema, names, strict=True)
        )
        yield fields, _batches(reader, fields, seconds)


@contextmanager
def _asking(ledger: Ledger, text: str, seconds: float | None) -> Iterator[Connection]:
    """A connection inside the fence for one question, for so long."""
    now = ledger.whole()
    damage.refuse(ledger.home, now.files)
    with ledger.connected(now, fence=_FENCE) as connection:
        timer = Timer(seconds or 0, connection.interrupt)
        timer.daemon = True
        if seconds is not None:
            timer.start()
        try:
            with _refused(seconds):
                _check_kind(connection, text)
            yield connection
        finally:
            timer.cancel()


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


def _batches(
    reader: pa.RecordBatchReader, fields: pa.Schema, seconds: float | None
) -> Iterator[pa.RecordBatch]:
    while True:
        try:
            with _refused(seconds):
                batch = reader.read_next_batch()
        except StopIteration:
            return
        except (OSError, pa.ArrowException) as error:  # what DuckDB says by way of Arrow
            raise _refusal(error, seconds, late=str(error).startswith("INTERRUPT")) from None
        yield pa.RecordBatch.from_arrays(batch.columns, schema=fields)


@contextmanager
def _refused(seconds: float | None) -> Iterator[None]:
    """What DuckDB refuses, in our words."""
    try:
        yield
    except duckdb.InterruptException as error:
        raise _refusal(error, seconds, late=True) from None
    except (duckdb.Error, RuntimeError, ValueError) as error:
        raise _refusal(error, seconds) from None


def _refusal(error: Exception, seconds: float | None, *, late: bool = False) -> Exception:
    if late:
        return LimitExceeded("seconds for a question", seconds or 0)
    return UnusableInput(f"SQL: {error}")


def _each_once(names: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for name in names:
        number, other = 1, name
        while other in found:
            number += 1
            other = f"{name}_{number}"
        found[other] = None
    return [*found]
