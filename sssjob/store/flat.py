"""Totals of jobs as accounting sees them, flat: by columns, and by documents where they must be.

Strategy. A flat property is what was delivered, else what is said of the job itself, else what
was requested for exactly one value. To read that off every document takes seconds for each
hundred thousand; SQL adds up as many columns in a tenth of one.

The idea is to split the rows. Those where columns decide both whether a job is meant and what its
properties are, are added up by SQL. All others are opened, and added up by whoever asks, from
their documents. Each document is in one part only: rows of jobs in a group, and in strange
places, are always opened.

Why it is right: a row is decided where the plan is certain of it, where it is not odd at any
place of a property, has one text or number at each, and where nothing is only requested, since
columns do not tell what asks for exactly one. Sums are of whole numbers that doubles hold; other
numbers are read from documents, which have them exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from sssjob import spec
from sssjob.store import columns, lookup
from sssjob.store.columns import KIND, ODD, PLACE, SEPARATOR, Says
from sssjob.store.condition import (
    Bits,
    Compare,
    Condition,
    Op,
    Prefix,
    Present,
    all_of,
    any_of,
    none_of,
)
from sssjob.store.engine import Engine
from sssjob.store.packing import Packing
from sssjob.store.plan import QueryPlan, reading
from sssjob.store.sql import Sql, SqlDialect, quoted, sql
from sssjob.store.stored import Stored

_BATCH = 200  # documents that are fetched together
_EXACT = 2**53  # whole numbers below are doubles
_BLOCKS = (spec.DELIVERED, "", spec.REQUESTED)


class FlatGroup(NamedTuple):
    """What is told of jobs with the same texts: ``first`` is the number of the first document.

    ``sums`` has how many of them have each property, and the sum of its numbers.
    """

    texts: tuple[str, ...]
    first: int
    sums: tuple[tuple[int, Fraction], ...]


class _Flat(NamedTuple):
    """A property by its columns: its value in SQL, and where that is right."""

    value: str
    right: Condition
    is_number: bool


def totals(
    engine: Engine, packing: Packing, how: QueryPlan, by: Sequence[str], of: Sequence[str],
    add: Callable[[Stored], None],
) -> list[FlatGroup] | None:  # fmt: skip
    """Jobs of a plan in groups by the texts of properties, with the totals of others.

    ``add`` is given each document that columns do not decide. None where columns cannot add up
    these properties; nothing was added then.
    """
    keys, measures = [_flat(name) for name in by], [_flat(name) for name in of]
    if None in keys or None in measures or any(key and key.is_number for key in keys):
        return None
    flats = [each for each in (*keys, *measures) if each is not None]
    decided = all_of(
        how.certain, Compare(PLACE, Op.EQ, 0), Compare(KIND, Op.EQ, columns.JOB),
        Compare("deleted", Op.EQ, 0), reading(effective=True), *(each.right for each in flats),
    )  # fmt: skip
    where = _whole(sql(decided, engine.dialect), flats, engine.dialect)
    with engine.reading() as moment:
        statement = _statement([each.value for each in flats[: len(by)]], flats[len(by) :], where)
        rows = moment.fetch(statement, where.values)
        found = [_group(row, len(by)) for row in rows]
        if None in found:
            return None
        maybe = sql(
            all_of(how.candidates(effective=True), Compare("deleted", Op.EQ, 0)), engine.dialect
        )
        others = moment.fetch(
            f"SELECT DISTINCT document FROM job WHERE {maybe.text} AND ({where.text}) IS NOT TRUE "
            "ORDER BY document",
            (*maybe.values, *where.values),
        )
        numbers = [number for (number,) in others]
        for start in range(0, len(numbers), _BATCH):
            batch = numbers[start : start + _BATCH]
            for stored in lookup.numbered(engine, packing, moment, batch):
                add(stored)
    return [each for each in found if each is not None]


def _statement(keys: Sequence[str], measures: Sequence[_Flat], where: Sql) -> str:
    told = [*keys, "min(document)"]
    for each in measures:
        told.append(f"count({each.value})")
        if each.is_number:
            told += [f"sum({each.value})", f"sum(abs({each.value}))"]
        else:
            told += ["0", "0"]
    grouped = f" GROUP BY {', '.join(keys)}" if keys else " HAVING count(*) > 0"
    return f"SELECT {', '.join(told)} FROM job WHERE {where.text}{grouped}"


def _group(row: Sequence[object], keys: int) -> FlatGroup | None:
    """A group of a row; None where its sums may be rounded."""
    values = [float(str(each or 0)) for each in row[keys + 1 :]]
    sums = []
    for place in range(0, len(values), 3):
        count, total, absolute = values[place : place + 3]
        if absolute >= _EXACT:
            return None
        sums.append((int(count), Fraction(int(total))))
    texts = tuple("" if each is None else str(each) for each in row[:keys])
    return FlatGroup(texts, int(str(row[keys])), tuple(sums))


def _whole(where: Sql, flats: Sequence[_Flat], dialect: SqlDialect) -> Sql:
    """The condition, of rows whose numbers doubles hold exactly."""
    exact = [
        f"({each.value} IS NULL OR ({dialect.whole.format(each.value)} "
        f"AND abs({each.value}) < {_EXACT}))"
        for each in flats
        if each.is_number
    ]
    return Sql(" AND ".join([where.text, *exact]), where.values)


def _flat(name: str) -> _Flat | None:
    """A property by its columns; None where a place of it has none, or has amounts."""
    paths = []
    for block in _BLOCKS:
        path = f"{block}/{name}".lstrip("/")
        if any(columns.column(path, says) for says in (Says.TEXT, Says.LOW)):
            paths.append(path)
        elif not block or name in spec.properties(block):
            return None
    if any(columns.column(path, Says.BYTES) for path in paths):
        return None
    is_number = columns.is_number(name)
    says = Says.LOW if is_number else Says.TEXT
    mask = columns.bit(name)
    right: list[Condition] = []
    values: list[str] = []
    for path in paths:
        mask |= columns.bit(path)
        value = columns.column(path, says)
        assert value is not None
        if path.startswith(f"{spec.REQUESTED}/"):
            right.append(any_of(none_of(Present(value)), *map(Present, values)))
            continue
        values.append(value)
        high = columns.column(path, Says.HIGH)
        if high is not None:
            right.append(none_of(Present(high)))
        elif not is_number:
            right.append(none_of(Prefix(value, SEPARATOR)))
    named = ", ".join(map(quoted, values))
    value = f"coalesce({named})" if len(values) > 1 else named
    return _Flat(value, all_of(none_of(Bits(ODD, mask)), *right), is_number)
