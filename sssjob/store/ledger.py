"""What jobs were quoted, reserved, charged and refunded: entries that are added and never changed.

What a job was charged is the sum of its Charges without its Refunds. Reservations end by an entry
that says so, such as a Charge, or by time. Entries go away by one rule: quotes and reservations
that ended long ago (``prune``); Charges and Refunds stay.
"""

from __future__ import annotations

import json
from collections.abc import Container, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple, Protocol

from sssjob.store.engine import Engine, Row
from sssjob.store.reach import EVERYBODY, Reach
from sssjob.store.schema import LEDGER, QUOTED, listed
from sssjob.store.sql import quoted
from sssjob.units import decimal

_COLUMNS = ", ".join(f"l.{name}" for name in listed(LEDGER.names).split(", "))
_SELECT = (
    f'SELECT {_COLUMNS}, c."by", c.source, c.reason FROM ledger AS l '
    "JOIN change AS c ON c.number = l.change "
)
_ORDER = " ORDER BY l.number"
# What ended the reservations of a run that were made before it. # decision 911
_ENDED = (
    "EXISTS (SELECT 1 FROM ledger AS e WHERE e.job = l.job AND e.ends = 1 AND e.number > l.number "
    "AND (l.document IS NULL OR e.document = l.document))"
)
_DELETED = (
    "(SELECT 1 FROM ledger AS e WHERE e.job = l.job AND e.document = l.document "
    "AND e.kind IN ('Delete', 'Ended') AND e.number > l.number)"
)
_OLD = "until < ? AND number < (SELECT max(number) FROM ledger)"  # no number is given again

RESOURCE = "Resource"  # the type of a rate for amounts; other types are properties
Rates = Mapping[tuple[str, str], Fraction]  # by type and name


class EntryKind(StrEnum):
    """What an entry is about."""

    QUOTE = "Quote"
    RESERVE = "Reserve"
    CHARGE = "Charge"
    REFUND = "Refund"
    NAMED = "Named"  # a quote of no job, by the first job that has its number
    DELETE = "Delete"  # of a job for which something was reserved, which it is no more
    ENDED = "Ended"  # what was reserved for a run that is over, by the Charge of a later one


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry, about a job of a document, or about none that is known.

    ``serial`` is the number of a quote or a reservation. ``amount`` is not below 0; None where it
    was not kept. ``places`` are decimal places. An entry that ``ends`` says that what was
    reserved for the job of its document before is reserved no more. ``begins`` is from when a
    quote or a reservation is, None for ``at``. ``said`` is what a Charge or a Reserve itself said
    of whose the job is, None where that was not kept. The number, the last ``ended`` and who made
    it (``by``, from where, why) are known once it is kept.
    """

    kind: EntryKind
    amount: Fraction | None
    at: int
    job: str = ""
    document: int | None = None
    serial: int | None = None
    user: str = ""
    project: str = ""
    machine: str = ""
    places: int = 0
    duration: int | None = None
    until: int | None = None
    ends: bool = False
    details: str = ""
    number: int = 0
    by: str = ""
    source: str = ""
    reason: str = ""
    ended: bool = False
    begins: int | None = None
    said: SaidNames | None = None


@dataclass(frozen=True, slots=True)
class SaidNames:
    """Names that a request said, with their texts: by what was ``used``, and what is ``asked``."""

    used: Mapping[str, str] = field(default_factory=dict)
    asked: Mapping[str, str] = field(default_factory=dict)


class SaidEntry(NamedTuple):
    """What an entry of a Charge or a Reserve said, in a document, by the number of its change."""

    document: int
    change: int
    kind: EntryKind
    said: SaidNames


class Owner(NamedTuple):
    """Whom a job is charged to; "" where it does not say."""

    user: str = ""
    project: str = ""
    machine: str = ""


Share = tuple[Owner, Fraction]  # credits of one of those who were charged


def shares(entered: Iterable[Share], amount: Fraction) -> list[Share]:
    """To whom an amount is given back: to who was charged last, and the rest to those before.

    ``entered`` are Charges in their order, and Refunds as amounts below 0. Nobody gets more than
    was taken, but for what nobody was charged: it goes to the last one.
    """
    sums: dict[Owner, Fraction] = {}
    for owner, credits in entered:
        had = sums.get(owner, Fraction())
        if credits > 0:
            sums.pop(owner, None)  # it was charged last
        sums[owner] = had + credits
    found, left = [], amount
    for owner, credits in reversed(sums.items()):
        if left > 0 and credits > 0:
            found.append((owner, min(credits, left)))
            left -= found[-1][1]
    if left > 0:
        last, part = found[0] if found else (next(reversed(sums), Owner()), Fraction())
        found[:1] = [(last, part + left)]
    return found


class NumberedEntry(Protocol):
    """The entry of a change in the history."""

    @property
    def number(self) -> int:
        """Its number."""
        ...


def entered(kind: str, amount: str, *owner: str) -> Share:
    """A Charge as a row has it; a Refund is an amount below 0."""
    return Owner(*owner), Fraction(amount) * (1 if kind == EntryKind.CHARGE else -1)


class StoreLedger:
    """The entries of a store; within a change, more can be added."""

    def __init__(self, engine: Engine, change: NumberedEntry | None = None) -> None:
        self._engine, self._change = engine, change

    def add(self, entry: Entry, rates: Rates | None = None) -> Entry:
        """Add an entry, with the ``rates`` that a quote promises."""
        [number] = self.add_all([entry])
        if rates:
            rows = [(entry.serial, *key, str(rate)) for key, rate in rates.items()]
            self._engine.add(QUOTED, rows)
        return replace(entry, number=number)

    def add_all(self, entries: Sequence[Entry]) -> Sequence[int]:
        """Add many, in their order; the numbers that they got."""
        assert self._change is not None  # only a change writes
        change = self._change.number
        numbers = self._engine.numbers(LEDGER, len(entries))
        rows = [
            (
                number, change, each.at, str(each.kind), each.serial, each.document, each.job,
                each.user, each.project, each.machine,
                None if each.amount is None else decimal(each.amount), each.places,
                each.duration, each.until, int(each.ends), each.details, each.begins,
                None if each.said is None else json.dumps([each.said.used, each.said.asked]),
            )
            for number, each in zip(numbers, entries, strict=True)
        ]  # fmt: skip
        self._engine.add(LEDGER, rows)
        return numbers

    def hold(self, job: str) -> None:
        """Keep others from adding entries about a job until the change ends."""
        self._engine.hold(f"ledger {job}")

    def of_job(self, document: int, job: str) -> list[Entry]:
        """All entries about a job of a document."""
        found = self._engine.fetch(f"{_SELECT}WHERE l.document = ? AND l.job = ?{_ORDER}",
                                   (document, job))  # fmt: skip
        return [_entry(row) for row in found]

    def said(self, job: str) -> list[SaidEntry]:
        """What Charges and Reserves of an Id said of whose it is, in their order.

        Those of which that was not kept are not among them.
        """
        found = self._engine.fetch(
            "SELECT document, change, kind, said FROM ledger WHERE job = ? AND said IS NOT NULL "
            "AND document IS NOT NULL ORDER BY number",
            (job,),
        )
        return [
            SaidEntry(document, change, EntryKind(kind), SaidNames(*json.loads(said)))
            for document, change, kind, said in found
        ]

    def kinds(self, document: int, job: str) -> set[EntryKind]:
        """Which kinds of entries there are about a job of a document.

        What was reserved before its Delete, or has ended otherwise, is reserved no more.
        """
        found = self._engine.fetch(
            "SELECT DISTINCT kind FROM ledger AS l WHERE document = ? AND job = ? AND NOT "
            f"(kind = 'Reserve' AND EXISTS {_DELETED})",
            (document, job),
        )
        return {EntryKind(kind) for (kind,) in found}

    def balance(self, document: int, job: str) -> Fraction:
        """What a job was charged and not given back."""
        return sum((credits for _, credits in self._entered(document, job)), Fraction())

    def shares(self, document: int, job: str, amount: Fraction) -> list[Share]:
        """To whom an amount of a job is given back."""
        return shares(self._entered(document, job), amount)

    def _entered(self, document: int, job: str) -> list[Share]:
        """What a job was charged, and given back, in this order."""
        found = self._engine.fetch(
            'SELECT kind, amount, "user", project, machine FROM ledger WHERE document = ? '
            "AND job = ? AND kind IN ('Charge', 'Refund') ORDER BY number",
            (document, job),
        )
        return [entered(*row) for row in found]

    def reservations(self, job: str, now: float) -> list[Entry]:
        """What is reserved for an Id now."""
        found = self._engine.fetch(
            f"{_SELECT}WHERE l.job = ? AND l.kind = 'Reserve' AND l.until >= ? "
            f"AND NOT {_ENDED}{_ORDER}",
            (job, int(now)),
        )
        return [_entry(row) for row in found]

    def reserved(self, documents: Sequence[int]) -> list[int]:
        """The documents, of some, with jobs for which something is reserved."""
        condition, value = self._engine.among("document", documents)
        found = self._engine.fetch(
            f"SELECT DISTINCT document FROM (SELECT * FROM ledger WHERE kind = 'Reserve' "
            f"AND {condition}) AS l WHERE NOT {_ENDED}",
            (value,),
        )
        return [int(number) for (number,) in found]

    def end_reservations(self, document: int, at: int, *, kept: Container[str] = ()) -> None:
        """Enter that what was reserved for the jobs of a document is reserved no more.

        But for those whose Ids are ``kept``.
        """
        found = self._engine.fetch(
            f"{_SELECT}WHERE l.document = ? AND l.kind = 'Reserve' AND NOT {_ENDED}{_ORDER}",
            (document,),
        )
        gone = (entry for entry in map(_entry, found) if entry.job not in kept)
        self._end(EntryKind.DELETE, gone, at)

    def end(self, reservations: Iterable[Entry], at: int) -> None:
        """Enter that these are no more, nor any other one of their runs, as those are over.

        What says so goes when they do.
        """
        self._end(EntryKind.ENDED, reservations, at)

    def _end(self, kind: EntryKind, reservations: Iterable[Entry], at: int) -> None:
        last: dict[tuple[int | None, str], Entry] = {}
        for each in reservations:
            former = last.get((each.document, each.job), each)
            until = max(each.until or 0, former.until or 0)
            last[each.document, each.job] = replace(each, until=until)
        if last:
            self.add_all([
                Entry(kind, None, at, job, document, user=each.user, project=each.project,
                      machine=each.machine, ends=True,
                      until=each.until if kind is EntryKind.ENDED else None)
                for (document, job), each in last.items()
            ])  # fmt: skip

    def quote(self, serial: int) -> tuple[Entry, Rates] | None:
        """The quote of a number, and the rates that it promises; None if there is none."""
        found = self._engine.fetch(f"{_SELECT}WHERE l.serial = ? AND l.kind = 'Quote'", (serial,))
        if not found:
            return None
        rates = self._engine.fetch("SELECT type, name, rate FROM quoted WHERE quote = ?", (serial,))
        return _entry(found[0]), {(type_, name): Fraction(rate) for type_, name, rate in rates}

    def bind(self, quote: Entry, job: str, at: int) -> str:
        """The Id of the job that a quote is for: of one that named none, the first that asks."""
        if quote.job:
            return quote.job
        found = self._engine.fetch(
            "SELECT job FROM ledger WHERE serial = ? AND kind = 'Named' ORDER BY number",
            (quote.serial,),
        )
        if found:
            return str(found[0][0])
        self.add(Entry(EntryKind.NAMED, None, at, job, serial=quote.serial, until=quote.until))
        return job

    def entries(
        self, kinds: Sequence[EntryKind], *, job: str | None = None, reach: Reach = EVERYBODY
    ) -> Generator[Entry, None, None]:
        """Entries of some kinds, in order; perhaps of one Id, and within a ``reach``.

        Of reservations it is known whether they were ended by another entry.
        """
        marks = ", ".join("?" * len(kinds))
        conditions, values = [f"l.kind IN ({marks})"], [*map(str, kinds)]
        if job is not None:
            conditions.append("l.job = ?")
            values.append(job)
        if reach.user is not None:
            managed = " OR l.project = ?" * len(reach.projects)
            conditions.append(f"(l.{quoted('user')} = ?{managed})")
            values += [reach.user, *reach.projects]
        statement = _SELECT.replace(
            " FROM ", f", CASE WHEN l.kind = 'Reserve' AND {_ENDED} THEN 1 ELSE 0 END FROM ", 1
        )
        where = " AND ".join(conditions)
        for row in self._engine.stream(f"{statement}WHERE {where}{_ORDER}", values):
            yield replace(_entry(row[:-1]), ended=bool(row[-1]))

    def prune(self, before: int) -> int:
        """Forget quotes and reservations that ended before a time; how many those were."""
        with self._engine.transaction():
            self._engine.hold("prune ledger")
            [(count,)] = self._engine.fetch(f"SELECT count(*) FROM ledger WHERE {_OLD}", (before,))
            if count:
                old = f"SELECT serial FROM ledger WHERE {_OLD} AND kind = 'Quote'"
                self._engine.fetch(f"DELETE FROM quoted WHERE quote IN ({old})", (before,))
                self._engine.fetch(f"DELETE FROM ledger WHERE {_OLD}", (before,))
        return int(count)


def _entry(row: Row) -> Entry:
    (number, _, at, kind, serial, document, job, user, project, machine, amount, places,
     duration, until, ends, details, begins, said, by, source, reason) = row  # fmt: skip
    return Entry(
        EntryKind(kind), None if amount is None else Fraction(amount), at, job, document, serial,
        user, project, machine, places, duration, until, bool(ends), details, number, by, source,
        reason, begins=begins, said=None if said is None else SaidNames(*json.loads(said)),
    )  # fmt: skip
