"""Records become jobs: many at once, those with the same names together, by either builder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any, Generic, TypeVar, cast

from sssjob.errors import InvalidValue
from sssjob.model import Property
from sssjob.records import clock as clocks
from sssjob.records.builders import Builder
from sssjob.records.clock import Clock, is_backwards
from sssjob.records.layout import Layout, Made, Names, Read, Record
from sssjob.records.plan import Odd, Plan
from sssjob.records.record import (
    JOB,
    Bad,
    Converted,
    Field,
    Found,
    Noted,
    Outcome,
    of_bad,
    varied,
)

P = TypeVar("P")
J = TypeVar("J")

_converted = tuple.__new__  # what Converted(...) calls in the end, without a call in between
_PLANS = 256  # names that are remembered with their plans
_BACKWARDS = "the job ends before it starts: the clock was set back"


@varied
def _as_they_are(items: tuple[Property, ...]) -> Found:
    return items


_MORE = Field("Extensions beside the columns", JOB, "Extension", _as_they_are)


class Plans(Generic[P, J]):
    """The plans of a layout for records with any names, which are kept, for one builder."""

    def __init__(self, layout: Layout, clock: Clock, builder: Builder[P, J]) -> None:
        self.clock = clock
        self.builder = builder.remembering()
        self._layout = layout
        self._plans: dict[Names, Plan[P, J]] = {}

    def of(self, names: Names) -> Plan[P, J]:
        """The plan for records with these names."""
        try:
            return self._plans[names]
        except KeyError:
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            rows = clocks.by(self.clock, (*self._layout.rows(names), _MORE))
            plan = self._plans[names] = Plan(rows, names, self.builder, self._layout.type)
            return plan


class Maker(Generic[P, J]):
    """Makes jobs of records, with plans for their names."""

    def __init__(self, plans: Plans[P, J], span: tuple[str, str]) -> None:
        self._plans = plans
        self._builder = plans.builder
        self._span = span

    def outcomes(self, found: Sequence[Read]) -> list[Outcome[J]]:
        """What becomes of records, in their order."""
        alike: dict[int, list[int]] = {}  # by the identity of the names: hashing them takes time
        outcomes: list[Any] = [*found]
        beside: dict[int, list[Outcome[J]]] = {}
        names: Names | None = None
        places: list[int] = []
        for place, item in enumerate(found):
            if item.__class__ is Record:
                if item.names is not names:  # mostly they are those of the record before
                    names = item.names
                    places = alike.setdefault(id(names), [])
                places.append(place)
            elif item.__class__ is Made:
                outcomes[place] = Converted(item.line, self._builder.from_job(item.job))
                beside[place] = [*item.notes]
        for places in alike.values():
            records = cast(list[Record], [found[place] for place in places])
            self._make(places, records, outcomes, beside)
        return [*_with(outcomes, beside)] if beside else outcomes

    def _make(
        self, places: Sequence[int], records: Sequence[Record], outcomes: list[Any],
        beside: dict[int, list[Outcome[J]]],
    ) -> None:  # fmt: skip
        """Put in their places what becomes of records with the same names, and what to say."""
        names = records[0].names
        columns: list[Sequence[Any]] = [*zip(*[it.fields for it in records], strict=True)]
        more = [record.more for record in records]
        plan = self._plans.of(names)
        if any(more):
            plan = self._plans.of((*names[: len(columns)], _MORE.column, *names[len(columns) :]))
            columns.append(more)
        jobs = plan.jobs(columns, self._groups(records))
        if _are_plain(records, jobs):
            folded = [len(record.folded) for record in records]
            told = zip([record.line for record in records], jobs, folded, strict=True)
            made = map(_converted, repeat(Converted), told)
            for place, outcome in zip(places, made, strict=True):
                outcomes[place] = outcome
        else:
            self._tell(places, records, jobs, outcomes, beside)
        for at in self._backwards(names, columns):
            if isinstance(outcomes[places[at]], Converted):
                beside.setdefault(places[at], []).append(Noted(records[at].line, _BACKWARDS))

    def _tell(
        self, places: Sequence[int], records: Sequence[Record], jobs: Sequence[Any],
        outcomes: list[Any], beside: dict[int, list[Outcome[J]]],
    ) -> None:  # fmt: skip
        """Put in their places jobs, what is wrong with others, and what there is to say."""
        for place, record, job in zip(places, records, jobs, strict=True):
            if isinstance(job, InvalidValue):
                outcomes[place] = Bad(record.line, str(job))
                beside[place] = [*of_bad(record.folded)]
                continue
            said: tuple[Noted, ...] = record.notes
            if isinstance(job, Odd):
                job, remarks = job
                said += tuple(Noted(record.line, text, once=True) for text in remarks)
            outcomes[place] = _converted(Converted, (record.line, job, len(record.folded)))
            if said:
                beside[place] = [*dict.fromkeys(said)]  # a column may be read for two ends

    def _groups(self, records: Sequence[Record]) -> list[P] | None:
        groups = [record.groups for record in records]
        nothing = self._builder.nothing
        return [group or nothing for group in groups] if any(groups) else None

    def _backwards(self, names: Names, columns: Sequence[Sequence[Any]]) -> set[int]:
        """Records whose clock was set back while they ran."""
        start, end = self._span
        if start not in names or end not in names:
            return set()
        starts, ends = columns[names.index(start)], columns[names.index(end)]
        return {
            place
            for place, (begun, over) in enumerate(zip(starts, ends, strict=True))
            if over < begun and is_backwards(begun, over)
        }


def _are_plain(records: Sequence[Record], jobs: Sequence[Any]) -> bool:
    """Whether all became jobs of which there is nothing to say."""
    kinds = {job.__class__ for job in jobs}
    return not any(issubclass(kind, InvalidValue | Odd) for kind in kinds) and not any(
        [record.notes for record in records]
    )


def _with(
    outcomes: Sequence[Outcome[J]], beside: dict[int, list[Outcome[J]]]
) -> Iterator[Outcome[J]]:
    for place, outcome in enumerate(outcomes):
        yield outcome
        yield from beside.get(place, ())
