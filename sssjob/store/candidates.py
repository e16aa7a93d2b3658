"""The documents in which a plan may find something, for whoever asks documents for himself."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import groupby, islice

from sssjob.store import lookup
from sssjob.store.access import Moment
from sssjob.store.columns import IRREGULAR, ODD, bit
from sssjob.store.condition import Bits
from sssjob.store.engine import Engine, Reader, Row
from sssjob.store.packing import Packing
from sssjob.store.plan import Level, Plan
from sssjob.store.sql import Dialect, Sql, sql
from sssjob.store.stored import Stored

_DOUBT = Bits(ODD, IRREGULAR | bit("Id"))  # rows that do not tell their Id
_BATCH = 200  # documents that are fetched together


def candidates(
    engine: Engine, packing: Packing, how: Plan, *, effective: bool, deleted: bool
) -> Iterator[Stored]:
    """See ``Store.candidates``."""
    with engine.reading() as reader:
        if how.level is Level.NOTHING:
            yield from _every(engine, packing, reader, deleted)
            return
        numbers = _planned(engine, reader, how, effective, deleted)
        while batch := list(islice(numbers, _BATCH)):
            among, value = engine.among("number", batch)
            for row in reader.fetch(
                f"{lookup.PRESENT}WHERE d.number IN (SELECT number FROM document WHERE {among}) "
                "ORDER BY d.number",
                (value,),
            ):
                yield lookup.stored(row, packing, engine.address)


def named(engine: Engine, packing: Packing, id_: str, *, deleted: bool) -> Iterator[Stored]:
    """See ``Store.named``."""
    hidden = "" if deleted else "d.deleted = 0 AND "
    told = _named(id_, engine.dialect)
    text = f"{lookup.PRESENT}WHERE {hidden}d.number IN ({told.text}) ORDER BY d.number"
    for row in engine.fetch(text, told.values):
        yield lookup.stored(row, packing, engine.address)


def compared(
    engine: Engine, packing: Packing, what: Plan | str, *, effective: bool, deleted: bool
) -> Iterator[tuple[Stored, bool]]:
    """See ``Store.compared``."""
    with engine.reading() as reader:
        if isinstance(what, Plan):
            numbers = _planned(engine, reader, what, effective, deleted)
        else:
            told = _named(what, engine.dialect)
            numbers = _single(reader.stream(f"{told.text} ORDER BY 1", told.values))
        reads_all = isinstance(what, Plan) and what.level is Level.NOTHING
        chosen = next(numbers, None)
        for stored in _every(engine, packing, reader, deleted):
            while chosen is not None and chosen < stored.number:  # a hidden one
                chosen = next(numbers, None)
            yield stored, reads_all or chosen == stored.number


def _every(engine: Engine, packing: Packing, reader: Reader, deleted: bool) -> Iterator[Stored]:
    hidden = "" if deleted else "WHERE d.deleted = 0 "
    for row in reader.stream(f"{lookup.PRESENT}{hidden}ORDER BY d.number"):
        yield lookup.stored(row, packing, engine.address)


def _named(id_: str, dialect: Dialect) -> Sql:
    """The numbers of documents with a job of an Id; each part has an index to go by."""
    told, odd = lookup.of_job(id_, dialect), _odd(dialect)
    text = f"{told.text} UNION ALL SELECT document FROM job WHERE {odd.text}"
    return Sql(text, (*told.values, *odd.values))


@cache
def _odd(dialect: Dialect) -> Sql:
    return sql(_DOUBT, dialect)


def _planned(
    engine: Engine, reader: Reader, how: Plan, effective: bool, deleted: bool
) -> Iterator[int]:
    if deleted:
        where = sql(how.candidates(effective=effective), engine.dialect)
        text = f"SELECT DISTINCT document FROM job WHERE {where.text} ORDER BY document"
    else:
        way = Moment(reader, engine.dialect).access(how, effective=effective)
        where = way.statement("")
        text = where.text
    return _single(reader.stream(text, where.values))


def _single(rows: Iterator[Row]) -> Iterator[int]:
    """The numbers that rows begin with, in order, each of them once."""
    return (number for number, _ in groupby(row[0] for row in rows))
