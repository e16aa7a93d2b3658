"""Finding documents in a store, by Id, by plan or all, and making them out of its rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import groupby, islice

from sssjob.errors import DamagedStore, hand_over
from sssjob.integers import LARGEST
from sssjob.store.access_paths import StoreMoment
from sssjob.store.columns import (
    BOTH,
    IRREGULAR,
    JOB,
    KIND,
    ODD,
    PLACE,
    READING,
    SEPARATOR,
    bit,
    name_of,
)
from sssjob.store.condition import Bits, Compare, Condition, Op, Prefix, all_of, any_of, none_of
from sssjob.store.engine import Engine, ReadTransaction, Row
from sssjob.store.files import digests_of
from sssjob.store.identity import MARKS, Identity, rank, stated
from sssjob.store.packing import NotUnpacked, Packing
from sssjob.store.plan import Level, QueryPlan
from sssjob.store.schema import TAKEN_IN
from sssjob.store.sql import Sql, SqlDialect, sql
from sssjob.store.stored import Stored

OnDamage = Callable[[DamagedStore], None]

_DOUBT = Bits(ODD, IRREGULAR | bit("Id"))  # rows that do not tell their Id
_BATCH = 200  # documents that are fetched together
_END = name_of("EndTime")

# The columns of a document's version, with who made it.
_VERSION = (
    'd.number, d.name, d.id, d.run, {0}.version, c.at, c."by", c.source, c.reason, '
    "{0}.deleted, {0}.files, {0}.dictionary, {0}.data"
)
PRESENT = (
    f"SELECT {_VERSION.format('d')} FROM document AS d JOIN change AS c ON c.number = d.change "
)
FORMER = (
    f"SELECT {_VERSION.format('f')} FROM former AS f JOIN document AS d ON d.number = f.document "
    "JOIN change AS c ON c.number = f.change "
)
_RUNS = "SELECT number, name, id, run, global_id, submitted, started, deleted FROM document "
# The same of documents that have a job, with the marks of that job.
_MARKS = tuple(map(name_of, MARKS))
_RUNS_OF_JOB = (
    f"SELECT d.number, d.name, d.id, d.run, {', '.join(f'j.{each}' for each in _MARKS)}, "
    "d.deleted FROM ({}) AS j JOIN document AS d ON d.number = j.document"
)
EVENTS = (
    'SELECT d.name, d.id, d.run, v.version, c.at, c."by", c.source, c.reason, v.deleted FROM '
    "(SELECT number AS document, version, change, deleted FROM document UNION ALL "
    "SELECT document, version, change, deleted FROM former) AS v "
    "JOIN document AS d ON d.number = v.document JOIN change AS c ON c.number = v.change "
    """WHERE c.at >= ? AND (? = '' OR c."by" = ?) ORDER BY v.change, v.document, v.version"""
)


def find(engine: Engine, identity: Identity | str, *, deleted: bool | None = False) -> Row | None:
    """The present version of a document; a text is an Id, see ``Store.get``.

    Where it may be several, one that is shown, or ``deleted``, comes before the others; None asks
    for neither.
    """
    first = next(iter(ranked(engine, identity, deleted=deleted)), None)
    return None if first is None else by_number(engine, first)


def ranked(engine: Engine, identity: Identity | str, *, deleted: bool | None) -> list[int]:
    """The numbers of the documents that it may be, in the order in which they are meant.

    Whoever asks for ``deleted`` ones does not mean those of which a group has the job.
    """
    wanted = identity if isinstance(identity, Identity) else Identity("", identity)
    asked = {"id": wanted.id, "name": wanted.name or None, "run": wanted.run}
    given = {name: value for name, value in asked.items() if value is not None}
    condition = " AND ".join(f"{name} = ?" for name in given)
    runs = engine.fetch(f"{_RUNS}WHERE {condition}", tuple(given.values()))
    if not isinstance(identity, Identity) and not any(_is_there(row, deleted) for row in runs):
        told = of_job(identity, engine.dialect, ("document", *_MARKS))
        runs = [*runs, *engine.fetch(_RUNS_OF_JOB.format(told.text), told.values)]
    runs = sorted(runs, key=lambda row: _rank(row, wanted.id, deleted), reverse=True)
    return [*dict.fromkeys(number for number, *_ in runs)]


def _rank(row: Row, id_: str, deleted: bool | None) -> tuple[bool, bool, bool, int, int, int]:
    """What orders the documents of one Id: jobs, groups, and groups in which it is a job's."""
    number, name, own, run, *marks, _ = row
    there, latest, order = rank(stated(*map(_mark, marks)), run, is_there=_is_there(row, deleted))
    return there, name == "Job", own == id_, latest, order, number


def _mark(value: object) -> str:
    """A mark as a text; times of jobs are whole seconds here, which is enough for their order."""
    return "" if value is None else str(int(value) if isinstance(value, float) else value)


def _is_there(row: Row, deleted: bool | None) -> bool:
    """Whether a document is one of those that are asked for."""
    return deleted is None or row[-1] == int(deleted)


def by_number(engine: Engine, number: int) -> Row | None:
    """The present version of a document, by its number in the store."""
    found = engine.fetch(f"{PRESENT}WHERE d.number = ?", (number,))
    return found[0] if found else None


def is_empty(engine: Engine) -> bool:
    """Whether there was never a document."""
    return not engine.fetch("SELECT 1 FROM document LIMIT 1")


def former(engine: Engine, number: int, newest: int | None = None) -> list[Row]:
    """The former versions of a document, the first one first; with ``newest`` only so many."""
    rows = engine.fetch(
        f"{FORMER}WHERE f.document = ? ORDER BY f.version DESC LIMIT ?",
        (number, LARGEST if newest is None else newest),
    )
    return [*reversed(rows)]


def changes(engine: Engine, number: int) -> list[tuple[int, str]]:
    """Which change made each version of a document, and why; the first one first."""
    rows = engine.fetch(
        "SELECT v.change, c.reason FROM ("
        "SELECT version, change FROM former WHERE document = ? UNION ALL "
        "SELECT version, change FROM document WHERE number = ?) AS v "
        "JOIN change AS c ON c.number = v.change ORDER BY v.version",
        (number, number),
    )
    return [(int(change), str(reason)) for change, reason in rows]


def noted(engine: Engine, name: str) -> str | None:
    """A small fact that stands beside the documents, or None."""
    found = engine.fetch("SELECT value FROM note WHERE name = ?", (name,))
    return str(found[0][0]) if found else None


def answered(engine: Engine, kind: str, mark: str, since: float) -> str | None:
    """What was answered to a message of a kind since a time, or None."""
    found = engine.fetch(
        "SELECT text FROM answer WHERE job = ? AND mark = ? AND at >= ?",
        (kind, mark, math.floor(since)),
    )
    return str(found[0][0]) if found else None


def notes(engine: Engine, begin: str) -> dict[str, str]:
    """The small facts whose names begin so, in order of their names."""
    end = f"{begin[:-1]}{chr(ord(begin[-1]) + 1)}"  # in the order of bytes
    rows = engine.fetch(
        "SELECT name, value FROM note WHERE name >= ? AND name < ? ORDER BY name", (begin, end)
    )
    return {str(name): str(value) for name, value in rows}


def of_job(id_: str, dialect: SqlDialect, columns: Sequence[str] = ("document",)) -> Sql:
    """The numbers of documents with a row of this Id; of several Ids the first one counts.

    Or other ``columns`` of these rows.
    """
    several = sql(Prefix("id", f"{SEPARATOR}{id_}{SEPARATOR}"), dialect)
    rows = f"SELECT {', '.join(columns)} FROM job WHERE"
    return Sql(f"{rows} id = ? UNION ALL {rows} {several.text}", (id_, *several.values))


def stored(
    row: Row, packing: Packing, address: str, on_error: OnDamage | None = None
) -> Stored:  # fmt: skip
    """A document of a row as ``PRESENT`` and ``FORMER`` give it.

    Raises ``DamagedStore``, or gives that to ``on_error``, and what is known beside the document.
    """
    number, name, id_, run, version, at, by, source, reason, deleted, files, *packed = row
    identity = Identity(name, id_, run)
    digests: dict[str, str] = {}
    try:
        if files:
            digests = digests_of(files)
        document = packing.unpack(*packed)
    except NotUnpacked as error:
        said = f"{identity}, version {version}, is damaged: {error}"
        damage = DamagedStore(address, said, name, id_, run, version)
        if on_error is None:
            raise damage from error
        on_error(damage)
        document = b""
    return Stored(
        number, identity, document, version, at, by, source, reason, bool(deleted),
        digests, deleted == TAKEN_IN,
    )  # fmt: skip


def each(
    engine: Engine, packing: Packing, *, deleted: bool, on_error: OnDamage | None
) -> Iterator[Stored]:
    """All documents in the order of the store; see ``Store.documents``."""
    found, address = rows(engine, deleted=deleted, on_error=on_error), engine.address
    if on_error is None:
        return (stored(row, packing, address) for row in found)
    return (each for row in found for each in told(row, packing, address, on_error))


def rows(engine: Engine, *, deleted: bool, on_error: OnDamage | None) -> Iterator[Row]:
    """Their rows, as ``PRESENT`` has them."""
    hidden = "" if deleted else "WHERE d.deleted = 0 "
    last = 0
    try:
        for row in engine.stream(f"{PRESENT}{hidden}ORDER BY d.number"):
            last = row[0]
            yield row
        return
    except DamagedStore as error:
        if on_error is None:
            raise
        on_error(error)
    # Beyond damage in the database itself, each document is looked for on its own.
    [(end,)] = engine.fetch("SELECT max(number) FROM document")
    for number in range(last + 1, end + 1):
        try:
            found = by_number(engine, number)
        except DamagedStore:
            on_error(DamagedStore(engine.address, f"document number {number} cannot be read"))
            continue
        if found is not None and (deleted or not found[9]):
            yield found


def ended_within(
    engine: Engine, since: int | None, until: int | None, on_others: Callable[[int], None],
    on_error: OnDamage | None,
) -> Iterator[Row]:  # fmt: skip
    """The rows of documents; see ``Store.ended_within``."""
    told = sql(_ended_outside(since, until), engine.dialect)
    one = f"SELECT document FROM job WHERE {told.text}"
    last = 0
    try:
        with engine.reading() as moment:
            [(others,)] = moment.fetch(f"SELECT count(*) FROM ({one}) AS others", told.values)
            text = f"{PRESENT}WHERE d.deleted = 0 AND d.number NOT IN ({one}) ORDER BY d.number"
            for row in moment.stream(text, told.values):
                last = row[0]
                yield row
        on_others(others)
    except DamagedStore as error:
        hand_over(error, on_error)
        # Beyond the damage every document is looked at, and those before it were counted at most.
        for row in rows(engine, deleted=False, on_error=on_error):
            if row[0] > last:
                yield row


def _ended_outside(since: int | None, until: int | None) -> Condition:
    """Rows of documents that are one Job, which ended before a time, or at another or later.

    Columns know: where its time is no plain number there is none, or the row is odd.
    """
    sides: list[Condition] = []
    if since is not None:
        sides.append(Compare(_END, Op.LT, since))
    if until is not None:
        sides.append(Compare(_END, Op.GE, until))
    return all_of(
        any_of(*sides), none_of(Bits(ODD, IRREGULAR | bit("EndTime"))), Compare(PLACE, Op.EQ, 0),
        Compare(KIND, Op.EQ, JOB), Compare(READING, Op.EQ, BOTH), Compare("deleted", Op.EQ, 0),
    )  # fmt: skip


def each_former(engine: Engine, packing: Packing, on_error: OnDamage) -> Iterator[Stored]:
    """All versions that were replaced, as far as the database can be read."""
    try:
        for row in engine.stream(f"{FORMER}ORDER BY f.document, f.version"):
            yield from told(row, packing, engine.address, on_error)
    except DamagedStore as error:
        on_error(error)


def candidates(
    engine: Engine, packing: Packing, how: QueryPlan, *, effective: bool, deleted: bool
) -> Iterator[Stored]:
    """See ``Store.candidates``."""
    with engine.reading() as reader:
        if how.level is Level.NOTHING:
            yield from _every(engine, packing, reader, deleted)
            return
        numbers = _planned(engine, reader, how, effective, deleted)
        while batch := list(islice(numbers, _BATCH)):
            yield from numbered(engine, packing, reader, batch)


def numbered(
    engine: Engine, packing: Packing, reader: ReadTransaction, numbers: Sequence[int]
) -> Iterator[Stored]:
    """The documents of these numbers, in their order."""
    among, value = engine.among("number", numbers)
    for row in reader.fetch(
        f"{PRESENT}WHERE d.number IN (SELECT number FROM document WHERE {among}) ORDER BY d.number",
        (value,),
    ):
        yield stored(row, packing, engine.address)


def named(engine: Engine, packing: Packing, id_: str, *, deleted: bool) -> Iterator[Stored]:
    """See ``Store.named``."""
    hidden = "" if deleted else "d.deleted = 0 AND "
    told = of_id(id_, engine.dialect)
    text = f"{PRESENT}WHERE {hidden}d.number IN ({told.text}) ORDER BY d.number"
    for row in engine.fetch(text, told.values):
        yield stored(row, packing, engine.address)


def compared(
    engine: Engine, packing: Packing, what: QueryPlan | str, *, effective: bool, deleted: bool
) -> Iterator[tuple[Stored, bool]]:
    """See ``Store.compared``."""
    with engine.reading() as reader:
        if isinstance(what, QueryPlan):
            numbers = _planned(engine, reader, what, effective, deleted)
        else:
            told = of_id(what, engine.dialect)
            numbers = _single(reader.stream(f"{told.text} ORDER BY 1", told.values))
        reads_all = isinstance(what, QueryPlan) and what.level is Level.NOTHING
        chosen = next(numbers, None)
        for stored in _every(engine, packing, reader, deleted):
            while chosen is not None and chosen < stored.number:  # a hidden one
                chosen = next(numbers, None)
            yield stored, reads_all or chosen == stored.number


def told(row: Row, packing: Packing, address: str, on_error: OnDamage | None) -> Iterator[Stored]:
    """The document of a row, or none when somebody is told that it is damaged."""
    try:
        document = stored(row, packing, address)
    except DamagedStore as error:
        hand_over(error, on_error)
    else:
        yield document


def _every(
    engine: Engine, packing: Packing, reader: ReadTransaction, deleted: bool
) -> Iterator[Stored]:
    hidden = "" if deleted else "WHERE d.deleted = 0 "
    for row in reader.stream(f"{PRESENT}{hidden}ORDER BY d.number"):
        yield stored(row, packing, engine.address)


def of_id(id_: str, dialect: SqlDialect) -> Sql:
    """The numbers of documents with a job of an Id; each part has an index to go by."""
    told, odd = of_job(id_, dialect), _odd(dialect)
    text = f"{told.text} UNION ALL SELECT document FROM job WHERE {odd.text}"
    return Sql(text, (*told.values, *odd.values))


@cache
def _odd(dialect: SqlDialect) -> Sql:
    return sql(_DOUBT, dialect)


def _planned(
    engine: Engine, reader: ReadTransaction, how: QueryPlan, effective: bool, deleted: bool
) -> Iterator[int]:
    if deleted:
        where = sql(how.candidates(effective=effective), engine.dialect)
        text = f"SELECT DISTINCT document FROM job WHERE {where.text} ORDER BY document"
    else:
        way = StoreMoment(reader, engine.dialect).access(how, effective=effective)
        where = way.statement("")
        text = where.text
    return _single(reader.stream(text, where.values))


def _single(rows: Iterator[Row]) -> Iterator[int]:
    """The numbers that rows begin with, in order, each of them once."""
    return (number for number, _ in groupby(row[0] for row in rows))
