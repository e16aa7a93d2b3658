"""What each job of a store used, as whole numbers in a narrow table, for reports by SQL.

Strategy. A report asks of every job who it is of and what it used. The columns of ``columns`` are
what XPath finds; a report wants what was delivered before what the job says itself, and exactly. To
open each document for that takes 0.2 ms and more.

The idea is to open each version of a document once: what a report reads of it is kept in rows
beside it, texts as the numbers of a list, so that a million of them are added up in seconds. Who
imports records knows them from the columns of these, and opens none; others wait until a report is
asked for. ``done`` has the version of each document that rows are made of.

Why it is right: a document's version grows with every change of it, also when it is deleted, so
rows are used only of documents that are as they were. Whether all of a part of the store are is
told by the count of its changes (``parts``), so that few documents are looked at. What is no whole
number below ``MOST`` is kept as the text of a fraction, and added up outside; sums are of ``_PART``
rows at most, so that none of them passes 64 bits. Of many rows sums are kept, too (``rolled``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from sssjob.errors import UnusableStore
from sssjob.measures import (
    HELD_BITS,
    SUMS,
    JobUsage,
    Totals,
    has_both_sql,
    memory_held,
    usage_of,
    usage_text,
)
from sssjob.store import lookup, rolled, schema
from sssjob.store.documents import PackedRows, parts
from sssjob.store.engine import Engine, ReadTransaction, Row
from sssjob.store.packing import Packing
from sssjob.store.parts import changed, counts, part_of
from sssjob.store.schema import INTEGER, TEXT, Field, Table

MOST = 1 << 43  # numbers of rows are below
_PART = 18  # bits of how many rows are added up together
_BATCH = 5000  # rows that are written together
_LOW = (1 << HELD_BITS) - 1  # the lower side of wall time by memory
_VERSION = 2  # of what rows say: others are made anew
_NAMES = tuple(each.name for each in SUMS)

TEXTS = Table("usage_text", (Field("number", INTEGER), Field("text", TEXT)), ("number",))
DONE = Table(
    "usage_done", (Field("document", INTEGER), Field("version", INTEGER)), ("document",),
    is_small=True,
)  # fmt: skip
# How often a part of the store was written to when rows of all its documents were there.
PARTS = Table(
    "usage_part", (Field("part", INTEGER), Field("changes", INTEGER)), ("part",), is_small=True
)
_SETTING = "usage"

Window = rolled.Window


# What a report reads of a job: its texts by the names that reports group by, when it ended, and
# what it used.
JobUse = tuple[tuple[str, ...], int | None, JobUsage]
Follow = Callable[[Mapping[int, Sequence[JobUse]]], None]  # takes new documents by their numbers


class UsageRow(NamedTuple):
    """What a report reads of a job of a document; see ``JobUse``."""

    document: int
    texts: tuple[str, ...]
    end: int | None
    sums: JobUsage


class UsageGroup(NamedTuple):
    """Jobs with the same texts that ended in the same quotient of time; None is never."""

    texts: tuple[str, ...]
    place: int | None
    totals: Totals


class StoreUsage:
    """The rows of a store; ``names`` are what its texts are by.

    ``engine`` may be one that only reads: then rows are used as far as they are there.
    """

    def __init__(self, engine: Engine, packing: Packing, names: Sequence[str]) -> None:
        self._engine, self._packing, self._names = engine, packing, tuple(names)
        self._numbers: dict[str, int] = {}  # of texts, in order
        self._last, self._text_of_last = 0, ""  # of those that are in the table
        self._table = _table(self._names)
        self._rolled = rolled.RolledSums(engine, _aggregates(()))
        self._tables = (self._table, TEXTS, DONE, PARTS, *self._rolled.tables)

    @cached_property
    def is_there(self) -> bool:
        """Whether there are such rows, of this version of what they say."""
        if not all(self._engine.has(each.name) for each in self._tables):
            return False
        told = self._engine.fetch("SELECT value FROM setting WHERE name = ?", (_SETTING,))
        return [*map(tuple, told)] == [(self._says,)]

    def make(self) -> None:
        """Make the tables if they are not there. Raises ``UnusableStore``."""
        if self.is_there:
            return
        types, suffix = self._engine.types()
        with self._engine.transaction():
            self._engine.hold("usage")
            self.__dict__.pop("is_there", None)
            if not self.is_there:
                for table in self._tables:
                    self._engine.fetch(f"DROP TABLE IF EXISTS {table.name}")
                    made = schema.create(table, types, suffix if table.is_small else "")
                    self._engine.fetch(made)
                for name in ("document", "exact"):
                    self._engine.fetch(schema.create_index(self._table, (name,)))
                self._engine.fetch("DELETE FROM setting WHERE name = ?", (_SETTING,))
                self._engine.add(schema.SETTING, [(_SETTING, self._says)])
            self.__dict__["is_there"] = True

    def stale(self, moment: ReadTransaction) -> dict[int, tuple[int, bool]]:
        """The documents whose rows are not of what they are now: version, and if it is hidden."""
        within, values = changed(moment, PARTS.name, "d.number")
        found = moment.fetch(f"{_STALE} AND {within}", values)
        return {number: (version, bool(hidden)) for number, version, hidden in found}

    def settled(self, written: Mapping[int, int], without: Iterable[int]) -> None:
        """Note that the rows of all documents are there, but for some, as of a moment in which
        parts were written to so often; and keep the sums of many rows.
        """
        left = {*map(part_of, without)}
        rows = sorted((part, count) for part, count in written.items() if part not in left)
        there = self._engine.fetch(f"SELECT part, changes FROM {PARTS.name}")
        if rows == sorted(map(tuple, there)) and not self._rolled.missing():
            return
        with self._engine.transaction():
            self._engine.hold("usage")
            self._engine.fetch(f"DELETE FROM {PARTS.name}")
            self._engine.add(PARTS, rows)
            self._rolled.make()

    @contextmanager
    def followed(self) -> Iterator[Follow]:
        """Keep the rows of documents that an import adds, while it goes on.

        Where there are documents without rows, these are left to a report, as all that cannot be
        written: the documents tell the same.
        """
        can_write = False

        def follow(new: Mapping[int, Sequence[JobUse]]) -> None:
            nonlocal can_write
            if new and can_write:
                can_write = self._added(new)

        with suppress(UnusableStore):
            if self.is_there or lookup.is_empty(self._engine):
                self.make()
                can_write = True
        yield follow
        if can_write:
            with suppress(UnusableStore):
                with self._engine.reading() as moment:
                    written, stale = counts(moment), self.stale(moment)
                self.settled(written, stale)

    def _added(self, new: Mapping[int, Sequence[JobUse]]) -> bool:
        """Keep the rows of new documents; False if they cannot be written."""
        try:
            self.write(
                dict.fromkeys(new, 1),
                (UsageRow(number, *use) for number, uses in new.items() for use in uses),
            )
        except UnusableStore:
            return False
        return True

    def documents(self, moment: ReadTransaction, numbers: Sequence[int]) -> Iterator[PackedRows]:
        """Documents by their numbers, in parts."""
        for start in range(0, len(numbers), _BATCH):
            among, value = self._engine.among("number", numbers[start : start + _BATCH])
            chosen = f"d.number IN (SELECT number FROM document WHERE {among})"
            rows = moment.stream(f"{lookup.PRESENT}WHERE {chosen} ORDER BY d.number", (value,))
            yield from parts(rows, self._packing, self._engine.address)

    def write(self, documents: Mapping[int, int], rows: Iterable[UsageRow]) -> None:
        """Keep the rows of documents, by their numbers and versions, instead of older ones.

        Who comes late leaves those of newer versions: these may be all that a report looks at.
        """
        with self._engine.transaction():
            self._engine.hold("usage")
            self._learn()
            among, numbers = self._engine.among("document", [*documents])
            there = f"SELECT document, version FROM {DONE.name} WHERE {among}"
            newer = {
                document for document, version in self._engine.fetch(there, (numbers,))
                if version > documents[document]
            }  # fmt: skip
            if newer:
                documents = {each: documents[each] for each in documents.keys() - newer}
                rows = (row for row in rows if row.document not in newer)
                among, numbers = self._engine.among("document", [*documents])
            blocks = f"SELECT DISTINCT number / {rolled.SIZE} FROM usage WHERE {among}"
            gone = {block for (block,) in self._engine.fetch(blocks, (numbers,))}
            for table in (self._table, DONE):
                self._engine.fetch(f"DELETE FROM {table.name} WHERE {among}", (numbers,))
            found = [self._as_row(row) for row in rows]
            more = islice(self._numbers.items(), self._last, None)
            new = [(number, text) for text, number in more]
            self._engine.add(TEXTS, new)
            [(last,)] = self._engine.fetch("SELECT max(number) FROM usage")
            first = (last or 0) + 1
            new_ones = range(first // rolled.SIZE, (first + len(found)) // rolled.SIZE + 1)
            self._rolled.forget({*gone, *new_ones})
            self._engine.add(self._table, [(first + n, *row) for n, row in enumerate(found)])
            self._engine.add(DONE, [*documents.items()])

    def groups(
        self, moment: ReadTransaction, by: Sequence[str], quotient: int | None, window: Window,
        without: Sequence[int], fields: Collection[str],
    ) -> Iterator[UsageGroup]:  # fmt: skip
        """The jobs of documents but for some, in groups; ``fields`` of ``Totals`` are left out.

        Without a ``quotient`` time makes no group.
        """
        texts: dict[int, str] = dict(moment.fetch(f"SELECT number, text FROM {TEXTS.name}"))
        columns = [rolled.column(name) for name in by]
        sums = _aggregates(fields)
        named = [f"k{number}" for number in range(len(columns))]
        keys = [f"{each} AS {name}" for each, name in zip(columns, named, strict=True)]
        for part in self._parts(moment, by, quotient, window, without):
            at = rolled.place(quotient, is_rolled=part.is_rolled)
            told = (self._rolled.again(sums) if part.is_rolled else sums).values()
            together = "block" if part.is_rolled else f"number >> {_PART}"
            exact = "" if part.is_rolled else " AND exact IS NULL"
            text = (
                f"SELECT {', '.join([*named, 'place', *told])} FROM (SELECT u.*, "
                f"{', '.join([*keys, f'{at} AS place'])} FROM {part.table} AS u "
                f"WHERE {part.where}{exact}) AS part "
                f"GROUP BY {', '.join([*named, 'place', together])}"
            )
            for row in moment.fetch(text, part.values):
                key, (time, *numbers) = [*row[: len(named)]], row[len(named) :]
                yield UsageGroup(tuple(texts[each] for each in key), time, _totals(numbers, sums))
        place = rolled.place(quotient, is_rolled=False)
        within, values = self._within(window, without)
        odd = f"SELECT {', '.join([*columns, place, 'exact'])} FROM usage WHERE"
        for row in moment.fetch(f"{odd} exact IS NOT NULL AND {within}", values):
            *key, time, exact = row
            totals = Totals()
            totals.add(usage_of(exact))
            totals.forget(fields)
            yield UsageGroup(tuple(texts[each] for each in key), time, totals)

    def span(
        self, moment: ReadTransaction, window: Window, without: Sequence[int]
    ) -> tuple[int | None, int | None, int]:
        """When the first and the last job ended in a window, and how many ended outside of it."""
        least, most, count = self._ends(moment, window, without)
        if window == (None, None):
            return least, most, 0
        return least, most, self._ends(moment, (None, None), without)[2] - count

    def _ends(
        self, moment: ReadTransaction, window: Window, without: Sequence[int]
    ) -> tuple[int | None, int | None, int]:
        """When the first and the last job ended, and how many there are."""
        told = 'min("end"), max("end"), count(*)'
        within, values = self._within(window, without)
        text = f"SELECT {told} FROM usage WHERE exact IS NOT NULL AND {within}"
        found = moment.fetch(text, values)
        for part in self._parts(moment, (), None, window, without):
            if part.is_rolled:
                again = self._rolled.again([("first", 0), ("last", 0), ("jobs", 0)])
                told, exact = ", ".join(again.values()), ""
            else:
                told, exact = 'min("end"), max("end"), count(*)', " AND exact IS NULL"
            text = f"SELECT {told} FROM {part.table} WHERE {part.where}{exact}"
            found += moment.fetch(text, part.values)
        firsts, lasts, counts = (
            [each for each in column if each is not None] for column in zip(*found, strict=True)
        )
        return min(firsts, default=None), max(lasts, default=None), int(sum(counts))

    def _parts(
        self, moment: ReadTransaction, by: Sequence[str], quotient: int | None, window: Window,
        without: Sequence[int],
    ) -> Iterator[rolled.RowSource]:  # fmt: skip
        """The rows, and the sums of rows, that a question is asked of, without some documents."""
        blocks: frozenset[int] = frozenset()
        if without:
            among, value = self._engine.among("document", without)
            text = f"SELECT DISTINCT number / {rolled.SIZE} FROM usage WHERE {among}"
            blocks = frozenset(block for (block,) in moment.fetch(text, (value,)))
        for part in self._rolled.parts(moment, by, quotient, window, blocks):
            if without and not part.is_rolled:
                where = f"{part.where} AND NOT ({among})"
                yield part._replace(where=where, values=(*part.values, value))
            else:
                yield part

    @property
    def _says(self) -> str:
        return f"{_VERSION} {' '.join(self._names)} {' '.join(_NAMES)}"

    def _within(self, window: Window, without: Sequence[int]) -> tuple[str, tuple[object, ...]]:
        """Which rows are of jobs that ended in a window, as SQL with marks, and their values."""
        since, until = window
        told: list[tuple[str, object]] = [('"end" >= ?', since), ('"end" < ?', until)]
        some = [(text, value) for text, value in told if value is not None]
        if without:
            among, value = self._engine.among("document", without)
            some.append((f"NOT ({among})", value))
        text = " AND ".join(text for text, _ in some) or "1 = 1"
        return text, tuple(value for _, value in some)

    def _learn(self) -> None:
        """Know all texts that are there; others are numbered behind them.

        What was numbered by a transaction that came to nothing is numbered again.
        """
        known = f"SELECT number, text FROM {TEXTS.name} WHERE number"
        last = [*map(tuple, self._engine.fetch(f"{known} = ?", (self._last,)))]
        if last != [(self._last, self._text_of_last)]:  # none yet, or those of other tables
            self._numbers, self._last = {}, 0
        else:
            for text in [*islice(self._numbers, self._last, None)]:
                del self._numbers[text]
        for number, text in self._engine.fetch(f"{known} > ? ORDER BY number", (self._last,)):
            self._numbers[text] = number
            self._last, self._text_of_last = number, text

    def _as_row(self, row: UsageRow) -> Row:
        known = self._numbers
        numbers = [known.setdefault(text, len(known) + 1) for text in row.texts]
        exact = None if _are_narrow(row.sums) else usage_text(row.sums)
        held = 0 if exact else int((row.sums.wall or 0) * (memory_held(row.sums) or 0))
        sums = (None,) * len(_NAMES) if exact else row.sums
        return (
            row.document, *numbers, row.end, *sums, held >> HELD_BITS, held & _LOW, exact,
        )  # fmt: skip


def _table(names: Sequence[str]) -> Table:
    return Table(
        "usage",
        (
            Field("number", INTEGER), Field("document", INTEGER),
            *(Field(rolled.column(name), INTEGER) for name in names),
            Field("end", INTEGER, optional=True),
            *(Field(f"sum_{name}", INTEGER, optional=True) for name in _NAMES),
            Field("held_high", INTEGER), Field("held_low", INTEGER),
            Field("exact", TEXT, optional=True),
        ),
        ("number",),
    )  # fmt: skip


_STALE = (
    "SELECT d.number, d.version, d.deleted FROM document AS d "
    "LEFT JOIN usage_done AS done ON done.document = d.number "
    "WHERE (done.version IS NULL OR done.version <> d.version)"
)


def _sum(name: str) -> str:
    return f"sum_{name}"


def _aggregates(without: Collection[str]) -> dict[tuple[str, int], str]:
    """The sums of a group as SQL, by the fields of ``Totals`` and the number of the side of each;
    fields that nobody needs are left out.
    """
    told: dict[tuple[str, int], str] = {}

    def put(name: str, *terms: str, by: str = "sum", where: str = "") -> None:
        if name not in without:
            for at, term in enumerate(terms):
                chosen = f"CASE WHEN {where} THEN {term} END" if where else term
                told[name, at] = f"{by}({chosen})"

    put("jobs", "*", by="count")
    for name in ("wall", "slots", "cpu", "nodes", "gpus", "energy", "processors", "memory",
                 "limit", "asked", "wait"):  # fmt: skip
        put(name, _sum(name))
    for name in ("processors", "memory", "asked", "wait"):
        put(f"with_{name}", _sum(name), by="count")
    put("most_memory", _sum("memory"), by="max")
    slots, gpus = (f"{_sum('wall')} * {_sum(name)}" for name in ("asked_processors", "asked_gpus"))
    put("asked_slots", slots)
    put("asked_gpus", gpus)
    for name, over, under in (
        ("cpu_of", _sum("cpu"), _sum("slots")), ("memory_of", _sum("memory"), _sum("asked")),
        ("limit_of", _sum("wall"), _sum("limit")), ("cpu_of_asked", _sum("cpu"), slots),
        ("gpus_of_asked", _sum("gpus"), gpus),
    ):  # fmt: skip
        put(name, over, under, where=has_both_sql(over, under))
    put("held", "held_high", "held_low")
    return told


def _totals(numbers: Sequence[object], sums: Iterable[tuple[str, int]]) -> Totals:
    """The totals of a group, of the sums of ``_aggregates``."""
    return Totals.of_sums({
        label: None if each is None else int(str(each))
        for label, each in zip(sums, numbers, strict=True)
    })  # fmt: skip


def _are_narrow(sums: JobUsage) -> bool:
    """Whether all numbers of a job, and the products of them, can be added up as they are."""
    if not {*map(type, sums)} <= _WHOLE:
        return False
    known = [each for each in sums if each is not None]
    if known and not (max(known) < MOST and min(known) > -MOST):
        return False
    factors = [each for each in (sums.asked_processors, sums.asked_gpus) if each is not None]
    return all(-MOST < (sums.wall or 0) * each < MOST for each in factors)


_WHOLE = frozenset({int, type(None)})
