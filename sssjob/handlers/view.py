"""A job as accounting sees it: a flat row, read off what is stored.

What was delivered stands before what is said of the job itself, and that before what was
requested, which counts only where exactly one value was asked for. Defaults of a job group and
older names are resolved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property
from typing import Protocol

from sssjob import expression, spec, units
from sssjob.amounts import Scope
from sssjob.errors import InvalidValue
from sssjob.handlers.attributes import JOB, AttributeType, ObjectAttribute, attribute
from sssjob.integers import LARGEST
from sssjob.model import (
    Block,
    Job,
    JobGroup,
    Property,
    Requested,
    stripped,
)
from sssjob.store import Identity, Stored
from sssjob.store.flat_properties import effective, flat_properties, is_text, jobs_in
from sssjob.store.identity import NAMED
from sssjob.store.ledger import EntryKind, StoreLedger
from sssjob.store.reach import Reach
from sssjob.usage import average

_IN_SECONDS = {AttributeType.TIME: units.time, AttributeType.DURATION: units.duration}
# By what an amount is for a part of the time, or on one of several machines.
_IN_PART = frozenset(("duration", "group"))
NOWHERE = Stored(0, Identity(JOB, ""), b"", 0, 0, "", "", "", False)


class HasLedger(Protocol):
    """What has a ledger: a store, or a change of one."""

    @property
    def ledger(self) -> StoreLedger:
        """What jobs were quoted, reserved, charged and refunded."""
        ...


class View:
    """A Job or JobGroup of a document.

    ``place`` is 0 for the document's own object; the jobs of a JobGroup count from 1. ``home``
    has the ledger of its store.
    """

    def __init__(
        self, stored: Stored, block: Block, place: int, home: HasLedger | None = None
    ) -> None:
        self.stored, self.block, self.place, self.home = stored, block, place, home

    @cached_property
    def flat(self) -> dict[str, Property]:
        """The property that counts for each name, in the order in which they are found."""
        return flat_properties(self.block)

    @cached_property
    def used(self) -> View:
        """The same job without what was only asked for."""
        items = (item for item in self.block.items if not isinstance(item, Requested))
        return View(self.stored, self.block.holding(items), self.place, self.home)

    def property(self, attribute: ObjectAttribute) -> Property | None:
        """The property of an attribute; None if the job has none."""
        if attribute.extension:
            return self.block.properties.get("Extension", name=attribute.name)
        return self.flat.get(attribute.name)

    def text(self, attribute: ObjectAttribute) -> str | None:
        """The value of an attribute as text; None if absent.

        Amounts are in their default unit; times and durations in seconds, in whatever form that
        reports read they are written.
        """
        if attribute.derived:
            return self._derived(attribute.name)
        found = self.property(attribute)
        if found is None or not is_text(found):
            return None
        stated = found.attributes.get("units")
        if attribute.kind is AttributeType.AMOUNT and stated:
            try:
                return units.decimal(found.bytes / units.UNITS[units.DEFAULT_UNITS[found.name]])
            except InvalidValue:
                return found.text
        return on_the_wire(attribute, found.text)

    def number(self, attribute: ObjectAttribute) -> Fraction | None:
        """The value as an exact number, amounts in their default unit; None if it is none."""
        text = self.text(attribute)
        try:
            return None if text is None else units.number(text)
        except InvalidValue:
            return None

    # decisions 959 and 1013
    def amount(self, attribute: ObjectAttribute, seconds: int) -> Fraction | None:
        """The number of an amount for so many seconds that a job ran, as reports count it.

        It is in its default unit, and None where it says none, as a part of a processor does.
        Parts are added up, each for the time for which the job had it.
        """
        stated = self.property(attribute)
        if stated is None or stated.name not in spec.AMOUNTS or not is_text(stated):
            return self.number(attribute)
        parts = [stated]
        if seconds and not _IN_PART.isdisjoint(stated.attributes):
            found = Scope(self.block, "").parts(stated.name)
            parts = found if stated in found else parts
        try:
            each = average(parts, seconds, amount=_read) if seconds else _read(stated)
        except InvalidValue:
            return None
        unit = units.DEFAULT_UNITS.get(stated.name)
        return each / units.UNITS[unit] if unit else each

    def seconds(self, attribute: ObjectAttribute) -> int | None:
        """A duration or a time in whole seconds, in any form that reports read; None if none."""
        return whole_seconds(self.text(attribute) or "", _IN_SECONDS.get(attribute.kind))

    def is_within(self, reach: Reach) -> bool:
        """Whether a job may be seen by who sees these; a group, whether all its jobs may."""
        if reach.is_all:
            return True
        jobs = self.block.jobs if isinstance(self.block, JobGroup) else (self.block,)
        return bool(jobs) and all(
            reach.covers(_named(job, "User"), _named(job, "Project")) for job in jobs
        )

    def _derived(self, name: str) -> str:
        if name == "Stage":
            return self._stage()
        if name == "Deleted":
            return str(self.stored.deleted)
        return str(self.stored.at if name == "ModificationTime" else self.stored.version)

    def _stage(self) -> str:
        """How far accounting has come with the job, by the ledger.

        What came with a Charge was charged elsewhere, but for a Charge of 0, which Gold gives to
        jobs that nobody charged. A quote is of the job that has its number, and of no new one of
        the Id. # decision 976
        """
        known, quote = attribute("Charge"), attribute("Quote")
        kinds: set[EntryKind] = set()
        if self.home is not None:
            kinds = self.home.ledger.kinds(self.stored.number, self.block.id)
        if EntryKind.CHARGE in kinds or (known and self.number(known)):
            return str(EntryKind.CHARGE)
        if not (quote and self.text(quote)):
            kinds.discard(EntryKind.QUOTE)
        return next(
            (str(kind) for kind in (EntryKind.RESERVE, EntryKind.QUOTE) if kind in kinds), ""
        )


class JobView(View):
    """A Job of a document."""

    block: Job

    def __init__(
        self, stored: Stored, block: Job, place: int, home: HasLedger | None = None
    ) -> None:
        super().__init__(stored, block, place, home)


def whole_seconds(text: str, read: Callable[[str], int] | None = None) -> int | None:
    """What a text says in whole seconds; None where it says none, or more than can be held."""
    try:
        found = (read or units.duration)(text)
    except InvalidValue:
        return None
    return found if found <= LARGEST else None


def on_the_wire(attribute: ObjectAttribute, text: str) -> str:
    """A time or a duration as SSSRMAP has it, in digits, in whatever form it is written.

    What is none in whole seconds stays as it is. So does everything else, but for the blanks around
    a name by which a job is known, or somebody charged.
    """
    read = _IN_SECONDS.get(attribute.kind)
    if read is None:
        return stripped(text) if attribute.name in NAMED else text
    if text.isascii() and text.isdecimal() and text[0] != "0":
        return text
    seconds = whole_seconds(text, read)
    return text if seconds is None else str(seconds)


def views(stored: Stored, kind: str, home: HasLedger | None = None) -> Iterator[View]:
    """The jobs of a document, or the job group that it is."""
    if kind == JOB:
        yield from job_views(stored, home)
    elif isinstance(block := stored.block(), JobGroup):
        yield View(stored, effective(block), 0, home)


def job_views(stored: Stored, home: HasLedger | None = None) -> Iterator[JobView]:
    """The jobs of a document: the one that it is, or those of its group."""
    return jobs_of(stored, stored.block(), home)


def jobs_of(stored: Stored, block: Block, home: HasLedger | None = None) -> Iterator[JobView]:
    """The jobs of what a document holds, or is to hold."""
    for place, job in jobs_in(block):
        yield JobView(stored, job, place, home)


def only(block: Block) -> View:
    """A job that is not stored, or not yet."""
    return View(NOWHERE, effective(block), 0)


def _read(item: Property) -> Fraction:
    """An amount in bytes or as a count; a whole number is one in whatever form, as 4.0."""
    row = spec.element(item.name)
    if row is None or row.type != spec.INTEGER:
        return expression.amount(item)
    found = units.number(item.text)
    if found.denominator != 1:
        raise InvalidValue(item.text, "a whole number")
    return found


def _named(job: Block, name: str) -> set[str]:
    """All that is called the user of a job, or its project."""
    named = (*job.properties.all(name), *job.delivered.all(name), *job.requested.all(name))
    return {stripped(each.text) for each in named}
