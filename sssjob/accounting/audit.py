"""Whether accounting is complete: what was read, held against what the batch system says exists.

Strategy. Both sides are runs of jobs: read ones, and listed ones. A run is told by its machine, the
id of its job (``known_by``), when it was submitted and when it began; what a side does not state
decides nothing, because a listing seldom has all columns. Of each id the runs of both sides are
paired, those first that agree in all they state. What is left over on one side is missing or not
listed, and pairs that say different things were changed later. Everything is counted by machine and
day of the end, as the listing has it. Sums (of a month, of a machine) are held against the sums of
what was read.

Memory grows with the number of runs, some 1500 bytes for each of a side.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from itertools import chain, islice, pairwise
from typing import NamedTuple

from sssjob.accounting.run import StatedRun
from sssjob.known_by import are_of_others
from sssjob.measures import Number
from sssjob.spans import in_order

FINDINGS = 1000  # of a kind that are listed; all are counted
GAPS = 1000  # of a machine that are listed
ALIKE = 50  # runs of an id and a time that one is compared with

_Runs = dict[str, list[StatedRun]]  # by the ids of their jobs


# What is amiss with a run, in the order in which it is told.
MISSING, TRUNCATED, DOUBLED, CHANGED, UNLISTED = KINDS = (
    "missing", "truncated", "doubled", "changed", "unlisted",
)  # fmt: skip


class Amiss(NamedTuple):
    """A run that is not as the batch system says; ``why`` tells what differs."""

    kind: str
    run: StatedRun
    why: str = ""


@dataclass(slots=True)
class MachineDay:
    """A machine and a day: how many runs are listed and read, and how many are amiss."""

    machine: str
    day: str
    listed: int = 0
    read: int = 0
    amiss: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))

    @property
    def is_well(self) -> bool:
        """Whether nothing is amiss."""
        return not any(self.amiss.values())


class SystemStatement(NamedTuple):
    """What a system says of a span of time in one number: jobs that ended, or what was used.

    ``since`` and ``until`` are in seconds, the latter not included. ``processor_seconds`` are those
    used in the span, also by jobs that ended later; ``exact_to`` is what they were rounded to. It
    is about all machines or submit hosts where it names none.
    """

    source: str
    since: int
    until: int
    jobs: int | None = None
    processor_seconds: int | None = None
    machine: str = ""
    submit_host: str = ""
    exact_to: int = 1


class Compared(NamedTuple):
    """A statement beside what was read; ``is_well`` where they agree."""

    statement: SystemStatement
    found: int
    is_well: bool

    @property
    def said(self) -> int:
        """What the system says."""
        statement = self.statement
        return statement.jobs if statement.jobs is not None else statement.processor_seconds or 0


class Gap(NamedTuple):
    """Numbers, from ``first`` to ``last``, that no job has that was read."""

    machine: str
    first: int
    last: int


@dataclass(slots=True)
class Audit:
    """What was found; ``listed`` tells whether there was a list of runs to compare with.

    ``outside`` counts runs that did not end in the span, ``left_out`` findings of a kind that are
    counted and not listed. ``is_empty``: there was nothing to compare, since no run was read and
    none is listed.
    """

    listed: bool
    is_empty: bool = False
    rows: list[MachineDay] = field(default_factory=list)
    findings: list[Amiss] = field(default_factory=list)
    sums: list[Compared] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    outside: int = 0

    @property
    def is_well(self) -> bool:
        """Whether nothing is amiss."""
        well = all(row.is_well for row in self.rows) and all(each.is_well for each in self.sums)
        return well and not self.gaps

    @property
    def total(self) -> MachineDay:
        """All rows added up."""
        total = MachineDay("", "")
        for row in self.rows:
            total.listed += row.listed
            total.read += row.read
            for kind, number in row.amiss.items():
                total.amiss[kind] += number
        return total


@dataclass(frozen=True, slots=True)
class AuditQuestion:
    """What to compare: runs that ended at ``since`` or later and before ``until``.

    Without them, the span from the first to the last day of the listing, or everything where there
    is no listing. ``tolerance`` is the part by which processor seconds may differ; ``gaps`` looks
    for numbers that are not there. Raises ``InvalidValue`` if ``since`` is after ``until``.
    """

    since: int | None = None
    until: int | None = None
    zone: tzinfo = UTC
    tolerance: Number = 0
    gaps: bool = False

    def __post_init__(self) -> None:
        in_order(self.since, self.until)

    def day(self, end: int) -> str:
        """The day of a time."""
        return f"{datetime.fromtimestamp(end, self.zone):%Y-%m-%d}"


def audit(
    question: AuditQuestion, read: Iterable[StatedRun], listed: Iterable[StatedRun] | None,
    statements: Sequence[SystemStatement] = (),
) -> Audit:  # fmt: skip
    """Compare what was read with what is listed, where there is a list, and with statements."""
    found = Audit(listed is not None)
    runs, doubled = _without_twins(read)
    told = _without_twins(_in_places(listed))[0] if listed is not None else None
    counting = _Counting(question, found, _is_inside(question, told), _last_ends(runs))
    for twin in doubled:
        counting.amiss(DOUBLED, twin)
    for key in {**runs, **(told or {})}:
        counting.pair(runs.get(key, []), told.get(key, []) if told is not None else None)
    counting.tell_missing()
    found.rows = sorted(counting.rows.values(), key=lambda row: (row.machine, row.day))
    found.findings.sort(key=lambda each: (KINDS.index(each.kind), each.run.machine, _when(each)))
    every = [run for some in runs.values() for run in some]
    found.is_empty = not (every or told or statements)
    found.sums = [_compared(each, every, question) for each in statements]
    if question.gaps:
        found.gaps = list(_gaps(every, (run for some in (told or {}).values() for run in some)))
    return found


def _when(found: Amiss) -> tuple[int, str]:
    return found.run.end or 0, found.run.id


def _without_twins(runs: Iterable[StatedRun]) -> tuple[_Runs, list[StatedRun]]:
    """Runs by their ids, each once, and those that were there before with an end.

    One that has not ended is an earlier look at a run that has: the later one counts. Where no time
    tells runs apart, none is taken for another.
    """
    found: dict[str, dict[tuple[object, ...], StatedRun]] = defaultdict(dict)
    begun: dict[tuple[object, ...], list[tuple[object, ...]]] = defaultdict(list)
    twins = []
    for run in runs:
        same = found[run.job]
        is_told = run.submit is not None or run.start is not None
        key: tuple[object, ...] = (len(same),)
        if is_told:
            key = run.machine, run.submit, run.start, run.end, run.teller
        if run.start is not None and key not in same:  # perhaps another record tells less of it
            known = begun[run.job, run.start, run.end]
            # decision 1172
            key = next((one for one in islice(known, ALIKE) if _are_one(same[one], run)), key)
            if key not in same:
                known.append(key)
        if key in same and run.end is not None:
            twins.append(run)
        if not (run.is_cut and key in same):  # decision 962
            same[key] = run
    return {name: _ended_ones(list(some.values())) for name, some in found.items()}, twins


def _ended_ones(runs: list[StatedRun]) -> list[StatedRun]:
    """Without those that waited when they were looked at, where it is known how they went."""
    if len(runs) < 2:
        return runs
    ended = [run for run in runs if run.end is not None]
    alike = _LikeRuns(ended, lambda run: run.submit)
    waiting = [
        run for run in runs
        if run.end is None and not any(_agree(run, other) for other in alike.to(run))
    ]  # fmt: skip
    return [*ended, *waiting]


class _LikeRuns:
    """Runs by a time that may not be known: those that may be one with another, in their order."""

    def __init__(self, runs: Iterable[StatedRun], time: Callable[[StatedRun], int | None]) -> None:
        self._time = time
        self._runs = OrderedDict(enumerate(runs))
        self._places: dict[int | None, OrderedDict[int, None]] = {}
        for place, run in self._runs.items():
            self._places.setdefault(time(run), OrderedDict())[place] = None

    def __iter__(self) -> Iterator[StatedRun]:
        return iter(self._runs.values())

    def to(self, run: StatedRun) -> Iterator[StatedRun]:
        """At most so many of those whose time is that of a run, or of which one is not known."""
        return (self._runs[place] for place in self._places_of(run))

    def take(self, run: StatedRun, chosen: StatedRun) -> None:
        """Remove the first that is the one chosen, of those that may be one with a run."""
        place = next(each for each in self._places_of(run) if self._runs[each] is chosen)
        del self._places[self._time(chosen)][place], self._runs[place]

    def _places_of(self, run: StatedRun) -> list[int]:
        time = self._time(run)
        if time is None:
            return [*islice(self._runs, ALIKE)]
        some = (islice(self._places.get(each, ()), ALIKE) for each in (time, None))
        return sorted(chain.from_iterable(some))[:ALIKE]


def _in_places(listed: Iterable[StatedRun]) -> Iterator[StatedRun]:
    return (run._replace(place=place) for place, run in enumerate(listed))


def _last_ends(runs: _Runs) -> dict[str, int]:
    """When the last run ended that was read of each machine."""
    last: dict[str, int] = {}
    for some in runs.values():
        for run in some:
            if run.end is not None:
                last[run.machine] = max(last.get(run.machine, run.end), run.end)
    return last


def _is_inside(question: AuditQuestion, listed: _Runs | None) -> Callable[[int], bool]:
    """Whether an end is in the span that is compared."""
    since, until = question.since, question.until
    if since is not None or until is not None or listed is None:
        return lambda end: (since is None or since <= end) and (until is None or end < until)
    ends = [run.end for some in listed.values() for run in some if run.end is not None]
    if not ends:
        return lambda end: True
    days = question.day(min(ends)), question.day(max(ends))
    return lambda end: days[0] <= question.day(end) <= days[1]


def _agree(one: StatedRun, other: StatedRun) -> bool:
    """Whether two runs of an id may be the same: nothing that both state differs.

    Whom a batch system charges may change later; a GlobalJobId of HTCondor anybody may state.
    """
    if one.one and other.one:
        if not _have_one_user(one, other):
            return False
        where = one.one, other.one
    else:
        where = ("", "") if one.one or other.one else (one.machine, other.machine)
    return (
        (not all(where) or where[0] == where[1])
        and (one.submit is None or other.submit is None or one.submit == other.submit)
        and (one.start is None or other.start is None or one.start == other.start)
    )


def _are_one(one: StatedRun, other: StatedRun) -> bool:
    """Whether two records of an id may be of one run: of another user's is another one."""
    return _have_one_user(one, other) and _agree(one, other)


def _have_one_user(one: StatedRun, other: StatedRun) -> bool:
    is_of_schedd = bool(one.one or other.one)
    return not are_of_others(one.whose, other.whose, is_of_schedd=is_of_schedd)


def _told(run: StatedRun) -> tuple[object, ...]:
    """What tells a run, and whose it is."""
    return (*run[:5], run.teller)


def _likeness(one: StatedRun, other: StatedRun) -> tuple[bool, bool, bool]:
    """How alike two runs are that may be the same: in users, all that tells them, or ends."""
    return _have_one_user(one, other), one[:4] == other[:4], one.end == other.end


@dataclass(slots=True)
class _Counting:
    """Counts runs by machine and day."""

    question: AuditQuestion
    found: Audit
    is_inside: Callable[[int], bool]
    last: dict[str, int]
    rows: dict[tuple[str, str], MachineDay] = field(default_factory=dict)
    _missing: list[StatedRun] = field(default_factory=list)
    _reached: dict[str, int] = field(default_factory=dict)  # places of what was read of machines
    _told: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))

    def pair(self, read: list[StatedRun], listed: list[StatedRun] | None) -> None:
        """Count the runs of one id: first those that both sides tell in the same words."""
        exact = defaultdict(list)
        for run in read:
            exact[_told(run)].append(run)
        rest = []
        for run in listed or ():
            if exact[_told(run)]:
                self._listed(run, exact[_told(run)].pop())
            else:
                rest.append(run)
        left = _LikeRuns((run for some in exact.values() for run in some), lambda run: run.start)
        for run in rest:
            same = [other for other in left.to(run) if _agree(run, other)]
            other = max(same, key=lambda each: _likeness(each, run), default=None)
            if other is not None:
                left.take(run, other)
            self._listed(run, other)
        for run in left:
            if run.end is None:
                continue  # it has not ended, or nobody says when: it is in no day
            if not self.is_inside(run.end):
                self.found.outside += 1
                continue
            self._row(run).read += 1
            if listed is not None:
                self.amiss(UNLISTED, run)

    def _listed(self, run: StatedRun, read: StatedRun | None) -> None:
        """Count a run that is listed, and what was read of it."""
        if run.end is None or not self.is_inside(run.end):
            self.found.outside += run.end is not None
            return
        named = run if run.machine or read is None else run._replace(machine=read.machine)
        row = self._row(named)
        row.listed += 1
        if read is None:
            self._missing.append(run)
            return
        row.read += 1
        self._reached[run.machine] = max(run.place, self._reached.get(run.machine, 0))
        differences = list(_differences(read, run))
        if differences:
            self.amiss(CHANGED, named, ", ".join(differences))

    def tell_missing(self) -> None:
        """Tell of runs that were not read: those at the end of what is listed are cut off."""
        for run in self._missing:
            self.amiss(TRUNCATED if self._is_behind(run) else MISSING, run)

    def _is_behind(self, run: StatedRun) -> bool:
        """Whether it is listed behind all that was read of its machine, or ended after it."""
        if run.machine in self._reached and run.place > self._reached[run.machine]:
            return True
        machine = run.machine if run.machine in self.last else ""
        return run.end is not None and machine in self.last and run.end > self.last[machine]

    def _row(self, run: StatedRun) -> MachineDay:
        assert run.end is not None
        key = run.machine, self.question.day(run.end)
        return self.rows.setdefault(key, MachineDay(*key))

    def amiss(self, kind: str, run: StatedRun, why: str = "") -> None:
        """Count a run that is amiss, and list it."""
        if run.end is None or not self.is_inside(run.end):
            return
        self._row(run).amiss[kind] += 1
        self._told[kind] += 1
        if self._told[kind] <= FINDINGS:
            self.found.findings.append(Amiss(kind, run, why))


def _differences(read: StatedRun, listed: StatedRun) -> Iterator[str]:
    """What two sides say of a run and is not the same: ``EndTime 1700000060, now 1700000090``."""
    if read.end is None:
        yield "it had not ended when it was read"
        return
    said = dict(read.said)
    for name, value in listed.said:
        if said.get(name, value) != value:
            yield f"{name} {said[name]}, now {value}"


def _compared(
    statement: SystemStatement, runs: Iterable[StatedRun], question: AuditQuestion
) -> Compared:
    """A statement beside the same sum of runs."""
    found: Number = 0
    for run in runs:
        if statement.machine and run.machine and run.machine != statement.machine:
            continue
        if statement.submit_host and run.submit_host not in ("", statement.submit_host):
            continue
        if statement.jobs is not None:
            is_inside = run.end is not None and statement.since <= run.end < statement.until
            found += is_inside and run.is_usage
        else:
            found += _seconds(run, statement) * (run.processors or 1)
    compared = Compared(statement, int(found), is_well=True)
    off = max(found - compared.said, compared.said - found)
    if statement.jobs is not None:
        return compared._replace(is_well=not off)
    if off < statement.exact_to:
        return compared
    return compared._replace(is_well=off <= compared.said * question.tolerance)


def _seconds(run: StatedRun, statement: SystemStatement) -> Number:
    """How long a run was at work in the span of a statement."""
    if run.start is None or run.end is None:
        return 0
    if statement.since <= run.start and run.end <= statement.until and run.wall is not None:
        return run.wall  # without the time that it was suspended
    return max(min(run.end, statement.until) - max(run.start, statement.since), 0)


def _gaps(read: Iterable[StatedRun], listed: Iterable[StatedRun]) -> Iterator[Gap]:
    """The numbers between the first and the last one read of each machine that no run has."""
    numbers: dict[str, set[int]] = defaultdict(set)
    for run in read:
        if run.number is not None:
            numbers[run.machine].add(run.number)
    known = sorted({run.number for run in listed if run.number})
    breaks = [at for at, (one, other) in enumerate(pairwise(known)) if other > one + 1]
    for machine, some in sorted(numbers.items()):
        gaps = (
            gap for one, other in pairwise(sorted(some)) if other > one + 1
            for gap in _gaps_between(one, other, known, breaks)
        )  # fmt: skip
        yield from (Gap(machine, *gap) for gap in islice(gaps, GAPS))


def _gaps_between(
    one: int, other: int, known: Sequence[int], breaks: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """What is not there between two numbers, where others are ``known``.

    ``breaks`` are the places of those behind which one is missing.
    """
    first, last = bisect_right(known, one), bisect_left(known, other)
    if first == last:
        yield one + 1, other - 1
        return
    if known[first] > one + 1:
        yield one + 1, known[first] - 1
    for at in range(bisect_left(breaks, first), bisect_left(breaks, last - 1)):
        yield known[breaks[at]] + 1, known[breaks[at] + 1] - 1
    if other > known[last - 1] + 1:
        yield known[last - 1] + 1, other - 1
