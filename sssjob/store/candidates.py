"""The documents in which a plan may find something, for whoever asks documents for himself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby, islice

from sssjob.store import lookup
from sssjob.store.access import Moment
from sssjob.store.columns import IRREGULAR, ODD, bit
from sssjob.store.condition import Bits
from sssjob.store.engine import Engine, Reader
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
            hidden = "" if deleted else "WHERE d.deleted = 0 "
            for row in reader.stream(f"{lookup.PRESENT}{hidden}ORDER BY d.number"):
                yield lookup.stored(row, packing, engine.address)
            return
        numbers = iter(_numbers(engine, reader, how, effective, deleted))
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
    # Each part has an index to go by.
    told, odd = lookup.of_job(id_, engine.dialect), _odd(engine.dialect)
    text = (
        f"{lookup.PRESENT}WHERE {hidden}d.number IN ({told.text} "
        f"UNION ALL SELECT document FROM job WHERE {odd.text}) ORDER BY d.number"
    )
    for row in engine.fetch(text, (*told.values, *odd.values)):
        yield lookup.stored(row, packing, engine.address)


@cache
def _odd(dialect: Dialect) -> Sql:
    return sql(_DOUBT, dialect)


def _numbers(
    engine: Engine, reader: Reader, how: Plan, effective: bool, deleted: bool
) -> Iterable[int]:
    if deleted:
        where = sql(how.candidates(effective=effective), engine.dialect)
        text = f"SELECT DISTINCT document FROM job WHERE {where.text} ORDER BY document"
    else:
        way = Moment(reader, engine.dialect).access(how, effective=effective)
        where = way.statement("")
        text = where.text
    found = reader.stream(text, where.values)
    return (number for number, _ in groupby(row[0] for row in found))
