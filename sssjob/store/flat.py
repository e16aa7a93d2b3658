"""Jobs as accounting sees them, flat: rows and totals by columns, and by documents where needed.

Strategy. A flat property is what was delivered, else what is said of the job itself, else what
was requested for exactly one value. To read that off every document takes seconds for each
hundred thousand; SQL adds up as many columns in a tenth of one.

The idea is to split the rows. Those where columns decide both whether a job is meant and what its
properties are, are given, or added up, by SQL. All others are opened, and whoever asks makes the
same of their documents. Each document is in one part only: rows of jobs in a group, and in strange
places, are always opened.

Why it is right: a row is decided where the plan is certain of it, where it is not odd at any
place of a property, has one text or number at each, and where nothing is only requested, since
columns do not tell what asks for exactly one. Sums are of whole numbers that doubles hold; other
numbers are read from documents, which have them exactly. Rows have texts only, since a column of
numbers does not tell how a number was written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from sssjob import spec
from sssjob.store import columns, lookup
from sssjob.store.access_paths import StoreMoment
from sssjob.store.columns import KIND, ODD, PLACE, SEPARATOR, Says
from sssjob.store.condition import (
    Bits,
    Compare,
    Condition,
    Op,
    Plain,
    Prefix,
    Present,
    all_of,
    any_of,
    none_of,
)
from sssjob.store.engine import Engine, ReadTransaction, Row
from sssjob.store.packing import Packing
from sssjob.store.parts import KeptSums, PartSums, Sums, numbers
from sssjob.store.plan import Level, QueryPlan, reading
from sssjob.store.reach import EVERYBODY, Reach
from sssjob.store.sql import Sql, SqlDialect, quoted, sql
from sssjob.store.stored import Stored
from sssjob.store.where import Term, where

_BATCH = 200  # documents that are fetched together
_EXACT = 2**53  # whole numbers below are doubles
_BLOCKS = (spec.DELIVERED, "", spec.REQUESTED)
# What stands for an Id, a user and a project in a statement that is kept; no text of XML holds
# these.
_ID, _USER, _PROJECT = "\x1fid", "\x1fuser", "\x1fproject"


class FlatGroup(NamedTuple):
    """What is told of jobs with the same texts: ``first`` is the number of the first document.

    ``sums`` has how many of them have each property, and the sum of its numbers.
    """

    texts: tuple[str, ...]
    first: int
    sums: tuple[tuple[int, Fraction], ...]


class FlatColumn(NamedTuple):
    """A property by its columns: its value in SQL, and where that is right."""

    value: str
    right: Condition
    is_number: bool


class _KeptSql(NamedTuple):
    """A statement that is kept, and the values in which what is asked for has its places."""

    text: str
    values: tuple[Plain, ...]
    places: tuple[tuple[int, str], ...]


Texts = tuple[str, ...]  # of the properties that were asked for, "" where there is none


def rows(
    engine: Engine, packing: Packing, how: QueryPlan, names: Sequence[str]
) -> Iterator[Texts | Stored] | None:
    """The texts of properties of each job of a plan, in the order of the store.

    Where columns do not decide a document, it is given itself. None where columns do not have
    these properties as texts.
    """
    chosen = _text_values(tuple(names))
    return None if chosen is None else _rows(engine, packing, how, chosen)


def named(
    engine: Engine, packing: Packing, id_: str, reach: Reach, names: Sequence[str]
) -> list[Texts | Stored] | None:
    """The same of the jobs with an Id, as far as ``reach`` covers them."""
    places = [f"{_PROJECT}{number}\x1f" for number in range(len(reach.projects))]
    kept = EVERYBODY if reach.is_all else Reach(_USER, tuple(places))
    told = _named(engine.dialect, tuple(names), kept)
    if told is None:
        return None
    meant = {_ID: id_}
    if reach.user is not None:
        meant |= {_USER: reach.user} | dict(zip(places, reach.projects, strict=True))
    values = list(told.values)
    for at, value in told.places:
        for place, text in meant.items():
            value = value.replace(place, text)
        values[at] = value

    def opened(number: int) -> Iterator[Stored]:
        row = lookup.by_number(engine, number)
        if row is not None:
            yield lookup.stored(row, packing, engine.address)

    return list(_opened(iter(engine.fetch(told.text, values)), opened))


def _rows(
    engine: Engine, packing: Packing, how: QueryPlan, chosen: tuple[FlatColumn, ...]
) -> Iterator[Texts | Stored]:
    told = _told(how, chosen, engine.dialect)
    with engine.reading() as moment:
        if how.level is Level.NOTHING:
            text, values = told
        else:
            way = StoreMoment(moment, engine.dialect).access(how, effective=True).statement("")
            text = f"{told.text} AND document IN (SELECT document FROM ({way.text}) AS meant)"
            values = (*told.values, *way.values)
        found = moment.stream(f"{text} ORDER BY document, place", values)
        yield from _opened(found, lambda number: lookup.numbered(engine, packing, moment, [number]))


def _opened(
    found: Iterator[Row], opened: Callable[[int], Iterator[Stored]]
) -> Iterator[Texts | Stored]:
    """What rows tell, and the documents of those that do not."""
    last = None
    for number, is_decided, *texts in found:
        if is_decided:
            yield tuple(["" if each is None else str(each) for each in texts])
        elif number != last:  # of several jobs
            last = number
            yield from opened(number)


@lru_cache(256)
def _named(dialect: SqlDialect, names: tuple[str, ...], reach: Reach) -> _KeptSql | None:
    """The statement for any Id, user and projects; None where columns do not have these as texts.

    To make it takes longer than to ask it.
    """
    chosen = _text_values(names)
    if chosen is None:
        return None
    bounds = where((Term("Id", "EQ", _ID),)).bounds
    told = _told(QueryPlan(bounds & reach.bounds, ""), chosen, dialect)
    candidates = lookup.of_id(_ID, dialect)
    text = f"{told.text} AND document IN ({candidates.text}) ORDER BY document, place"
    values = (*told.values, *candidates.values)
    places = [
        (at, value) for at, value in enumerate(values)
        if isinstance(value, str) and SEPARATOR in value  # as every place has it
    ]  # fmt: skip
    return _KeptSql(text, values, tuple(places))


def _told(how: QueryPlan, chosen: Sequence[FlatColumn], dialect: SqlDialect) -> Sql:
    """Candidates that are not deleted: document, whether it is decided, and texts."""
    decided = sql(_decided(how, chosen), dialect)
    shown = sql(all_of(Compare("deleted", Op.EQ, 0), how.candidates(effective=True)), dialect)
    said = ", ".join(("document", f"({decided.text}) IS TRUE", *(each.value for each in chosen)))
    return Sql(f"SELECT {said} FROM job WHERE {shown.text}", (*decided.values, *shown.values))


def _decided(how: QueryPlan, flats: Sequence[FlatColumn]) -> Condition:
    """Where columns tell that a job is meant, and what these properties of it are."""
    return all_of(
        how.certain, Compare(PLACE, Op.EQ, 0), Compare(KIND, Op.EQ, columns.JOB),
        Compare("deleted", Op.EQ, 0), reading(effective=True), *(each.right for each in flats),
    )  # fmt: skip


@lru_cache(256)
def _text_values(names: tuple[str, ...]) -> tuple[FlatColumn, ...] | None:
    found = tuple(flat for name in names if (flat := flat_column(name)) and not flat.is_number)
    return found if len(found) == len(names) else None


def totals(
    engine: Engine, packing: Packing, how: QueryPlan, by: Sequence[str], of: Sequence[str],
    add: Callable[[Stored], None], kept: KeptSums,
) -> list[FlatGroup] | None:  # fmt: skip
    """Jobs of a plan in groups by the texts of properties, with the totals of others.

    ``add`` is given each document that columns do not decide. None where columns cannot add up
    these properties; nothing was added then. Sums over all documents are ``kept`` by parts.
    """
    keys, measures = [flat_column(name) for name in by], [flat_column(name) for name in of]
    if None in keys or None in measures or any(key and key.is_number for key in keys):
        return None
    flats = [each for each in (*keys, *measures) if each is not None]
    asked = _FlatSums.of(how, flats, len(by), engine.dialect)
    with engine.reading() as moment:
        if not how.bounds.paths:  # nothing is asked of the jobs that are meant
            found = kept.of(asked, moment, lambda part: asked.found(moment, numbers(part)))
        else:
            found = asked.found(moment)
        if found.groups is None:
            return None
        for start in range(0, len(found.others), _BATCH):
            batch = found.others[start : start + _BATCH]
            for stored in lookup.numbered(engine, packing, moment, batch):
                add(stored)
    return [
        FlatGroup(texts, first, tuple((count, Fraction(number)) for count, number in sums))
        for texts, (first, sums) in found.groups.items()
    ]


class _FlatSums(NamedTuple):
    """What is asked for sums: those that columns decide, how many may be meant, the others."""

    keys: int
    told: Sql
    grouped: str
    all_: Sql
    others: Sql

    @classmethod
    def of(
        cls, how: QueryPlan, flats: Sequence[FlatColumn], keys: int, dialect: SqlDialect
    ) -> _FlatSums:
        """The sums of a plan; the first properties are ``keys`` to group by."""
        decided = of_whole_numbers(sql(_decided(how, flats), dialect), flats, dialect)
        maybe = sql(all_of(how.candidates(effective=True), Compare("deleted", Op.EQ, 0)), dialect)
        by = ", ".join(map(_key, flats[:keys]))
        others = f"({decided.text}) IS NOT TRUE AND {maybe.text}"
        return cls(
            keys,
            Sql(f"SELECT {_told_sums(flats, keys)} WHERE {decided.text}", decided.values),
            f" GROUP BY {by}" if keys else " HAVING count(*) > 0",
            Sql(f"SELECT count(*) FROM job WHERE {maybe.text}", maybe.values),
            Sql(
                f"SELECT DISTINCT document FROM job WHERE {others}",
                (*decided.values, *maybe.values),
            ),
        )

    def found(self, moment: ReadTransaction, span: tuple[int, int] | None = None) -> PartSums:
        """The sums of a moment: of all documents, or of those in a span of numbers."""
        within = "" if span is None else " AND document >= ? AND document < ?"
        bounds = span or ()

        def ask(what: Sql, end: str = "") -> list[Row]:
            return moment.fetch(f"{what.text}{within}{end}", (*what.values, *bounds))

        rows = ask(self.told, self.grouped)
        [(all_,)] = ask(self.all_)
        # To look for those that are not decided takes as long as to add up the others.
        is_all = sum(int(row[self.keys + 1]) for row in rows) == all_
        others = () if is_all else ask(self.others, " ORDER BY document")
        return PartSums(self._groups(rows), tuple(number for (number,) in others))

    def _groups(self, rows: Sequence[Row]) -> dict[Texts, tuple[int, Sums]] | None:
        """The groups of rows; None where a sum of them may be rounded."""
        found: dict[Texts, tuple[int, Sums]] = {}
        for row in rows:
            sums = []
            for place in range(self.keys + 2, len(row), 3):
                count, total, absolute = (float(each or 0) for each in row[place : place + 3])
                if absolute >= _EXACT:
                    return None
                sums.append((int(count), int(total)))
            texts = tuple(map(str, row[: self.keys]))
            found[texts] = int(row[self.keys]), tuple(sums)
        return found


def _key(flat: FlatColumn) -> str:
    """A text to group by: jobs that have none are shown like those whose text is empty."""
    return f"coalesce({flat.value}, '')"


def _told_sums(flats: Sequence[FlatColumn], keys: int) -> str:
    told = [*map(_key, flats[:keys]), "min(document)", "count(*)"]
    for each in flats[keys:]:
        told.append(f"count({each.value})")
        if each.is_number:
            told += [f"sum({each.value})", f"sum(abs({each.value}))"]
        else:
            told += ["0", "0"]
    return f"{', '.join(told)} FROM job"


def of_whole_numbers(where: Sql, flats: Sequence[FlatColumn], dialect: SqlDialect) -> Sql:
    """The condition, of rows whose numbers doubles hold exactly."""
    exact = [
        f"({each.value} IS NULL OR ({dialect.whole.format(each.value)} "
        f"AND abs({each.value}) < {_EXACT}))"
        for each in flats
        if each.is_number
    ]
    return Sql(" AND ".join([where.text, *exact]), where.values)


def flat_column(name: str) -> FlatColumn | None:
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
    return FlatColumn(value, all_of(none_of(Bits(ODD, mask)), *right), is_number)
