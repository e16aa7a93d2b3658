"""Records become jobs: many at once, those with the same names together, by either builder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, repeat
from operator import lt
from typing import Any, Generic, TypeVar

from sssjob.errors import InvalidValue
from sssjob.model import Property
from sssjob.records import clock as clocks
from sssjob.records.builders import Builder, BuiltBatch
from sssjob.records.clock import Clock, doubts, is_backwards
from sssjob.records.layout import Layout, Names, RecordBatch, Stretch
from sssjob.records.plan import Odd, Plan
from sssjob.records.record import (
    JOB,
    Bad,
    Converted,
    ConvertedTogether,
    Field,
    Found,
    Noted,
    Outcome,
    of_bad,
    varied,
)
from sssjob.records.texts import Plain, WholeNumbers
from sssjob.records.wall_times import Lasted

P = TypeVar("P")
J = TypeVar("J")

_converted = tuple.__new__  # what Converted(...) calls in the end, without a call in between
_LEAST = 16  # records, on an average, of a stretch that is worth being handed on at once
_PLANS = 256  # names that are remembered with their plans
BACKWARDS = "the job ends before it starts: the clock was set back"


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
            numbers = getattr(self._layout.folding, "numbers", ())
            rows = clocks.by(self.clock, (*self._layout.rows(names), _MORE), numbers)
            plan = self._plans[names] = Plan(rows, names, self.builder, self._layout.type)
            return plan


class Maker(Generic[P, J]):
    """Makes jobs of records, with plans for their names."""

    def __init__(
        self, plans: Plans[P, J], span: tuple[str, str], lasted: Lasted | None = None
    ) -> None:
        self._plans = plans
        self._builder = plans.builder
        self._span = span
        self._lasted = lasted
        self.bad: set[int] = set()  # the places of records of the last stretch that are bad

    def outcomes(self, found: Stretch) -> list[Outcome[J]]:
        """What becomes of what was found, in its order."""
        self.bad = set()
        outcomes: list[Any] = [*found.items]
        beside: dict[int, list[Outcome[J]]] = {}
        for place in found.made:
            item = found.items[place]
            outcomes[place] = Converted(item.line, self._builder.from_job(item.job))
            beside[place] = [*item.notes]
        for batch in found.batches:
            if batch.lines:
                self._make(batch, outcomes, beside)
        made = [*_with(outcomes, beside)] if beside else outcomes
        return [outcome for outcome in made if outcome is not None] if None in made else made

    def _make(
        self, batch: RecordBatch, outcomes: list[Any], beside: dict[int, list[Outcome[J]]]
    ) -> None:
        """Put in their places what becomes of records, and what to say."""
        names, columns = batch.names, batch.columns
        if any(batch.more):
            names = (*names[: len(columns)], _MORE.column, *names[len(columns) :])
            columns = [*columns, batch.more]
        backwards, doubtful = self._doubtful(batch, names, columns)
        ended = batch.ended
        if backwards:  # which says why nothing tells a wall time
            ended = [*(ended or repeat(True, len(batch.lines)))]
            for at in backwards:
                ended[at] = False
        jobs = self._plans.of(names).jobs(columns, self._groups(batch), ended)
        if isinstance(jobs, BuiltBatch) and not (doubtful or any(batch.notes) or any(batch.folded)):
            stretches = [*_stretches(batch.places)]
            if len(stretches) * _LEAST <= max(len(jobs), _LEAST):
                for begin, end in stretches:
                    place = batch.places[begin]
                    outcomes[place : place + end - begin] = [None] * (end - begin)
                    some = jobs if end - begin == len(jobs) else jobs.part(begin, end)
                    outcomes[place] = ConvertedTogether(batch.lines[begin:end], some)
                return
        folded = [*map(len, batch.folded)] if any(batch.folded) else [0] * len(jobs)
        if any(batch.notes) or any(
            issubclass(kind, InvalidValue | Odd) for kind in {*map(type, jobs)}
        ):
            self._tell(batch, jobs, folded, outcomes, beside)
        else:
            told = zip(batch.lines, jobs, folded, strict=True)
            made = map(_converted, repeat(Converted), told)
            if len(jobs) == len(outcomes):
                outcomes[:] = made
            else:
                for place, outcome in zip(batch.places, made, strict=True):
                    outcomes[place] = outcome
        for at, note in doubtful:
            place = batch.places[at]
            if isinstance(outcomes[place], Converted):
                beside.setdefault(place, []).append(note)

    def _tell(
        self, batch: RecordBatch, jobs: Sequence[Any], folded: Sequence[int],
        outcomes: list[Any], beside: dict[int, list[Outcome[J]]],
    ) -> None:  # fmt: skip
        """Put in their places jobs, what is wrong with others, and what there is to say."""
        notes = batch.notes or [()] * len(jobs)
        for at, (place, line, job) in enumerate(zip(batch.places, batch.lines, jobs, strict=True)):
            if isinstance(job, InvalidValue):
                outcomes[place] = Bad(line, str(job))
                self.bad.add(place)
                beside[place] = [*of_bad(batch.folded[at] if batch.folded else ())]
                continue
            said: tuple[Noted, ...] = notes[at]
            if isinstance(job, Odd):
                job, remarks = job
                said += tuple(Noted(line, text, once=True) for text in remarks)
            outcomes[place] = _converted(Converted, (line, job, folded[at]))
            if said:
                beside[place] = [*dict.fromkeys(said)]  # a column may be read for two ends

    def _groups(self, batch: RecordBatch) -> list[P] | None:
        nothing = self._builder.nothing
        return [group or nothing for group in batch.groups] if any(batch.groups) else None

    def _doubtful(
        self, batch: RecordBatch, names: Names, columns: Sequence[Sequence[Any]]
    ) -> tuple[set[int], list[tuple[int, Noted]]]:
        """Where times of records go backwards, and what all of them contradict, and where."""
        start, end = self._span
        if start not in names or end not in names:
            return set(), []
        starts, ends = columns[names.index(start)], columns[names.index(end)]
        backwards = self._backwards(starts, ends)
        told = [(at, Noted(batch.lines[at], BACKWARDS)) for at in backwards]
        if self._lasted is None:
            return backwards, told
        longer = self._lasted.longer(self._plans.clock, names, columns, starts, ends)
        for at, times in longer.items():
            told += ((at, note) for note in doubts(batch.lines[at], *times))
        return backwards, told

    def _backwards(self, starts: Sequence[Any], ends: Sequence[Any]) -> set[int]:
        """Records whose clock was set back while they ran."""
        clock = self._plans.clock
        if isinstance(starts, Plain) and isinstance(ends, Plain):
            begun, over = clock.bulk(starts), clock.bulk(ends)
            if isinstance(begun, WholeNumbers) and isinstance(over, WholeNumbers):
                earlier = (over.numbers < begun.numbers) & (over.numbers > 0)
                return {*earlier.nonzero()[0].tolist()}
        # Texts of the same length are in the order of their times, in each form that is usual.
        if not any(map(lt, ends, starts)) and [*map(len, ends)] == [*map(len, starts)]:
            return set()
        return {
            place
            for place, (begun, over) in enumerate(zip(starts, ends, strict=True))
            if (over < begun or len(over) != len(begun))
            and is_backwards(clock.readable(begun), clock.readable(over))
        }


def _stretches(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where places that follow each other begin and end, among places that go upwards."""
    if places[-1] - places[0] == len(places) - 1:
        yield 0, len(places)
        return
    begin = 0
    for at, (one, next_) in enumerate(pairwise(places), start=1):
        if next_ != one + 1:
            yield begin, at
            begin = at
    yield begin, len(places)


def _with(
    outcomes: Sequence[Outcome[J]], beside: dict[int, list[Outcome[J]]]
) -> Iterator[Outcome[J]]:
    for place, outcome in enumerate(outcomes):
        yield outcome
        yield from beside.get(place, ())
