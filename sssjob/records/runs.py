"""Twice is once: runs of jobs of which a record was read before, in the same file or another one.

Strategy. The same log is given twice, windows of sacct overlap, files are sent again, and documents
stand beside the log that they were made of: what a run used would be counted twice. A run is known
by the id of its job (``known_by``), when it began, its machine, and when it was submitted, as the
job object says these. Messages of APEL tell no submission, and some logs no machine: of a run that
began, what only one of two records tells decides nothing. # decision 780
So does the user of a job of HTCondor, where both tell one by name: each then has a run, and that is
told. # decisions 820, 826, 1200
Of several records of a run the one that ended tells more than one that only began, and that more
than one that waits; of two that go on, the one with more wall time; of two alike the one that names
its user, or else the later one counts, unless it may be cut short. A ledger has the same rule
(``ledger/merging.py``), and so has a store. # decisions 508, 670, 827, 962
Of a job that tells its submission, and no start, the end tells the run. # decision 1021
A job without times waits, too, as long as it used nothing: until a run of the same machine, Id and
user began of which no submission is told either. # decision 770

The idea is to keep two numbers of a run: a hash of what tells it, and one of its end with how much
was told (WAITS, BEGAN, ENDED); where there is no end yet, of its wall time. The second number has
some bits of the machine, of the submission and of the user, too: a run is looked for by its id and
start, and where these bits are others, by further numbers made of that. Whether many runs are
all new is asked of a set at once, in any order; only where it may be that one was met before, each
is looked up in its turn. The last runs are in a dictionary then. When they are many, they go into a
table of 24 bytes for each, of which half is free, and a large one lies in files without a name,
which the system may write out.

What was read first may be what does not count. It was counted, or written, by then. So which record
of such a run counts is kept by its number, and who can begin anew reads all a ``second`` time, when
all others are left out. Who cannot, as what writes into a pipe, has written both.

Why it is right: only where a hash of 64 bits, another in each process, is that of a run before, is
a record left out, and that is told. A second reading is of the same records in the same order, so
numbers mean the same. A bad record has no number: it hides no good one.
"""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, repeat
from typing import Any, NamedTuple, Protocol

from sssjob import registry, units
from sssjob.errors import InvalidValue, Severity
from sssjob.known_by import APART, BEGAN, ENDED, WAITS, job_of, may_be_of_schedd, submission, whose
from sssjob.model import Delivered, Job, Property
from sssjob.records import clock as clocks
from sssjob.records.clock import Clock
from sssjob.records.layout import NEVER, Layout, Names, RecordBatch, RunKey, Stretch
from sssjob.records.readers import single
from sssjob.records.record import DELIVERED, JOB, Field, Noted, Skipped, plain
from sssjob.records.texts import distinct, has_any
from sssjob.runs import TIMES

AGAIN = "read before"
_TWICE = "a record of the same run was read before: it counts once"
_INSTEAD = "a record of the same run was read before, and this one tells more: it counts instead"
_OTHERS = "a record read before tells of another user of this job and start: both count"

_NOTHING = frozenset(("", "0", "-1", "0.0"))  # beside words for a time that is not known
_RECENT = 1 << 17  # numbers in the set: some 14 MiB, with their ends
_SLOTS = 1 << 8  # of a table at first
_IN_MEMORY = 1 << 18  # slots of a table that is in no file: 4 MiB
_READERS = 256  # names that are remembered with what reads the keys of their records
_TOGETHER = 256  # job objects that are looked up at once
_LAST = str(units.TIME_LIMIT)  # the last time, in seconds

# LATER: the one that was read before ended alike; OTHERS: that one is another user's, this is new
NEW, TWICE, INSTEAD, LATER, OTHERS = range(5)
UNTOLD = 0  # stands for what tells no run; no hash but that of "" is this number, as good as never
_KIND = 3  # the bits of how much a record tells of its run
_CUT = 4  # the bit of one that may be cut short
_END = (1 << 30) - 1  # the bits of an end, and of that
_NOT_END = ~_END
_TIMES = _END - _KIND - _CUT  # the bits of an end
# Bits of what may tell a run from another one with its id and start; 0 is not stated.
_SUBMITTED = (1 << 33) - 1 << 30
_SUBMISSIONS = _SUBMITTED >> 30
_HALF = 63  # the bits up to here are one number of a table, the others another one
_IS_ONE = 1 << _HALF  # what is told is no machine, but an id that holds everywhere
_WHERE = (1 << 31) - 1 << _HALF
_WHOSE = (1 << 32) - 1 << _HALF + 31
_PLACE = 32  # bits of the number of a record of a run
_CHOSEN = (1 << _PLACE) - 1
_USED = {"Duration": DELIVERED, "CpuDuration": JOB}  # a job without times or either waits
_LONGEST = (1 << 27) - 3  # seconds of wall time that are told apart

_PROBE = "is a hash the same here and there?"


class RunKeys(NamedTuple):
    """Of many records what tells their runs, what tells their jobs, and their ends.

    UNTOLD where nothing does. An end has how much its record tells, and is at most so for those
    that wait, if there are any (``has_waiting``).
    """

    runs: Sequence[Any]
    jobs: Sequence[Any]
    ends: Sequence[Any]
    has_waiting: bool = False

    def some(self, places: Iterable[int]) -> RunKeys:
        """Those of records in some places."""
        chosen = [*places]
        runs, jobs, ends, has_waiting = self
        return RunKeys(
            [runs[at] for at in chosen], [jobs[at] for at in chosen],
            [ends[at] for at in chosen], has_waiting,
        )  # fmt: skip


NO_KEYS = RunKeys([], [], [])


def run_of(told: Any) -> int:
    """The number of what tells a run: its job and a time, or all that a record says."""
    if told.__class__ is tuple and told[0].__class__ is tuple:
        return hash((hash(told[0]), told[1]))
    return hash(told)


def end_of(told: End) -> int:
    """The number of an end, of how much its record tells, and of what else it tells of its run.

    Of a run that goes on it is the greater, the more wall time there was.
    """
    end, kind, where, submit, user = told
    return hash(end) & _TIMES | kind | _where(*where) | _submitted(submit) | _whose(user)


def _where(machine: str, one: str) -> int:
    """The bits of a machine, or of the id that holds everywhere: it needs none."""
    told = _bits(one or machine, _WHERE - _IS_ONE)
    return told | _IS_ONE if one else told


def _submitted(submit: str) -> int:
    """The bits of a submission."""
    return _bits(submit, _SUBMITTED)


def _whose(user: str) -> int:
    """The bits of a user."""
    return _bits(whose(user), _WHOSE)


def _bits(text: str, mask: int) -> int:
    """Some of a hash in the bits of a mask; 0 of nothing, and of nothing else."""
    lowest = mask & -mask
    return (hash(text) % (mask // lowest) + 1) * lowest if text else 0


def _tells_more(one: int, other: int) -> bool:
    """Whether a record tells more of its run than another one, as ``known_by.telling`` has it."""
    return _tells(one) > _tells(other)


def _tells(end: int) -> tuple[int, int, bool, bool]:
    kind = end & _KIND
    return kind, end & _TIMES if kind != ENDED else 0, bool(end & _WHOSE), not end & _CUT


def _differ(one: int, other: int) -> bool:
    """Whether two records of runs with the same id and start tell of different ones.

    Users tell them apart as ``known_by.are_of_others`` says it.
    """
    are_of_others = (one | other) & _IS_ONE and _differ_in(_WHOSE, one, other)
    return bool(are_of_others) or _are_elsewhere(one, other)


def _are_elsewhere(one: int, other: int) -> bool:
    """Whether they do, whoever the users are."""
    if _differ_in(_SUBMITTED, one, other):
        return True
    return _differ_in(_WHERE, one, other) and not (one ^ other) & _IS_ONE


def _differ_in(mask: int, one: int, other: int) -> bool:
    return bool(one & mask and other & mask and (one ^ other) & mask)


def _with_all(end: int, known: int) -> int:
    """An end with what another record tells of the run, and this one does not.

    But for the user: a run is whose the record says that counts. # decision 827
    """
    if not end & _SUBMITTED:
        end |= known & _SUBMITTED
    if not end & _WHERE or known & _IS_ONE:
        end = end & ~_WHERE | known & _WHERE
    return end


def _later(known: int, end: int) -> int:
    """What is known of a run after one more record of it."""
    counts, other = (known, end) if _tells_more(known, end) else (end, known)
    return _with_all(counts, other)


def _goes_on(wall: int | None) -> int:
    """What stands for the end of a run that goes on: a number, which is its own hash."""
    return (1 if wall is None else max(min(wall, _LONGEST), 0) + 2) * 2 * _CUT


# Of a job that waits and tells no time: there may be others of its Id.
_UNTIMED: End = 2 * _CUT, WAITS, ("", ""), "", ""
_ONE_UNTIMED = end_of(_UNTIMED)
_IDLE = "-"  # before the end of what ended without having begun, which is none that ran


def _waiting(wall: int | None) -> End:
    """The end of what tells neither a start nor an end: it waits, or used something meanwhile."""
    return _goes_on(wall) if wall else "", WAITS, ("", ""), "", ""


# An end, or what stands for it, how much its record tells, the machine or the id that holds
# everywhere, the submission, and the user.
End = tuple[Any, int, tuple[str, str], str, str]


class Met(Protocol):
    """Who is told of the runs that were read, and says which of them were met before."""

    @property
    def told(self) -> Callable[[Any], Any]:
        """What is made of the texts that tell a job, and of it with a time, which tells a run."""
        ...

    @property
    def ended(self) -> Callable[[End], Any]:
        """What is made of an end, and of what its record tells."""
        ...

    def are_new(self, keys: RunKeys) -> bool:
        """Whether none of many runs was met before, nor twice among them; then they are now."""
        ...

    def take(self, keys: RunKeys) -> Sequence[int]:
        """For each of many runs in their order NEW, TWICE, INSTEAD, LATER or OTHERS."""
        ...

    def forget(self, keys: RunKeys, places: Collection[int]) -> None:
        """Of the keys that were taken last, all of them new, those in some places are of no record.

        Nothing was read of their runs and jobs after all. # decision 1086
        """
        ...

    def doubt(self, run: Any) -> None:
        """The last record that was read is of this run, and may be cut short."""
        ...


class Knowing(Met, Protocol):
    """Who knows the runs of all parts, and not only of one."""

    def are_new_in(self, listed: RunKeys) -> bool:
        """``are_new`` of the runs of a part that another process has listed."""
        ...


class SeenRuns:
    """The runs that were met; see above.

    Of two records that end alike the later one is left out in a first reading, unless whoever asks
    ``takes_later`` ones for what counts, as a store does, which has versions.
    """

    told = staticmethod(hash)
    ended = staticmethod(end_of)

    def __init__(self, *, takes_later: bool = False) -> None:
        self._alike = LATER if takes_later else TWICE
        self._runs = {UNTOLD}  # the last ones, and perhaps others that were asked for
        self._taken: list[RunKeys] = []  # those that were taken together, and are not in ``_ends``
        self._ends: dict[int, int] = {}  # by the last runs
        self._table = _RunTable(_SLOTS)
        self._chosen = _RunTable(_SLOTS)  # of runs with several: how many, and which of them counts
        # Jobs of which a run began or ended, the last ones as they came; and runs that wait.
        self._last_begun = array("q")
        self._begun = _RunTable(_SLOTS)
        self._waiting: dict[int, int] = {}
        # The last run with several records: what was known, which counted, whether the last does.
        self._repeated = UNTOLD, 0, 1, True
        self._last = UNTOLD, UNTOLD  # the last run that was taken: as it was looked for, and found
        self.is_undecided = False  # what was read first is not what counts, or may not be
        self.has_written_both = False  # of a run, of which a later record counts

    def take(self, keys: RunKeys) -> Sequence[int]:
        """For each of many runs in their order what it is; they are remembered."""
        verdicts = [
            self._taken_one(run, job, end) if run else NEW
            for run, job, end in zip(keys.runs, keys.jobs, keys.ends, strict=True)
        ]
        self._put_away()
        return verdicts

    def _taken_one(self, run: int, job: int, end: int) -> int:
        if end == _ONE_UNTIMED:
            return self._taken_untimed(run, job)
        kind, looked_for = end & _KIND, run
        run, known, is_others = _found(run, end, self._known)
        if run != looked_for and looked_for not in self._chosen:
            self._chosen = self._chosen.having(looked_for, 1 << _PLACE | 1)
        self._last = looked_for, run
        if kind == WAITS:
            if job and self._has_begun(job):
                self._again(run, known, counts=False)
                return TWICE
            self._waiting |= {job: run} if job else {}
        elif job:
            self._begins(job, run)
        if not known & _KIND:
            if run in self._chosen:  # one that waited gave way
                self._again(run, known, counts=True)
            self._remember(run, end)
            return OTHERS if is_others else NEW
        counts = not _tells_more(known, end)
        self._repeated = run, known, (self._chosen.get(run) or 1) & _CHOSEN, counts
        if not counts:
            self._again(run, known, counts=False)
            self._remember(run, _later(known, end))
            return TWICE
        end = _later(known, end)
        is_alike = (known ^ end) & _END == 0 and not _tells_more(end, known)
        self._again(run, known, counts=True)
        self.has_written_both |= not is_alike
        self._remember(run, end)
        return self._alike if is_alike else INSTEAD

    def _taken_untimed(self, run: int, job: int) -> int:
        """Those of one Id count each, as long as none has begun, and then none does."""
        if self._has_begun(job):
            self._again(run, 0, counts=False, none=True)
            return TWICE
        self._waiting[job] = run
        return NEW

    def _begins(self, job: int, run: int) -> None:
        """A run of a job has begun: what waits gives way to it."""
        self._last_begun.append(job)
        waiting = self._waiting.pop(job, run)
        if waiting != run:
            self._again(waiting, self._known(waiting), counts=False, none=True)
            self.has_written_both = True
            self._remember(waiting, 0)

    def _has_begun(self, job: int) -> bool:
        if self._last_begun:
            self._begun = self._begun.with_more(
                dict.fromkeys(filter(None, self._last_begun), ENDED)
            )
            del self._last_begun[:]
        return job in self._begun

    def _again(self, run: int, known: int, *, counts: bool, none: bool = False) -> None:
        """Another record of a run: whether it counts, or else the one that did, or none does."""
        told = self._chosen.get(run)
        if told is None:
            told = 1 << _PLACE | 1 if known & _KIND else 0
        count, chosen = told >> _PLACE, told & _CHOSEN
        if none:
            chosen = 0
        else:
            count += 1
            chosen = count if counts else chosen
        if counts or none:
            self.is_undecided = True
        self._chosen = self._chosen.having(run, count << _PLACE | chosen)

    def are_new(self, keys: RunKeys) -> bool:
        """Whether none of many runs was met before, nor twice among them; then they are now."""
        begun = _begun(keys)
        waiting: dict[int, int] = {}
        if keys.has_waiting:
            told = zip(keys.runs, keys.jobs, keys.ends, strict=True)
            waiting = {job: run for run, job, end in told if end & _KIND == WAITS and job}
            if any(map(self._has_begun, waiting)) or not waiting.keys().isdisjoint(begun):
                return False
        if self._waiting and not self._waiting.keys().isdisjoint(begun):
            return False
        runs, before = self._runs, len(self._runs)
        runs.update(keys.runs)
        grown = len(runs) - before
        if grown < len(keys.runs) and grown + keys.runs.count(UNTOLD) < len(keys.runs):
            return False
        # Of a run that is in neither, a record that waited may have given way to another run.
        if self._table.has_any(keys.runs) or self._chosen.has_any(keys.runs):
            return False
        self._taken.append(keys)
        self._last = UNTOLD, UNTOLD
        self._last_begun.extend(begun)
        self._waiting |= waiting
        self._put_away()
        return True

    def forget(self, keys: RunKeys, places: Collection[int]) -> None:
        """Take the next record of these runs for the first one, and of these jobs as well."""
        gone = {*places}
        for at in gone:
            run, job = keys.runs[at], keys.jobs[at]
            if run:
                self._remember(run, 0)
            if self._waiting.get(job) == run:
                del self._waiting[job]
        del self._last_begun[len(self._last_begun) - len(_begun(keys)) :]
        others = keys.some(at for at in range(len(keys.runs)) if at not in gone)
        self._last_begun.extend(_begun(others))

    def doubt(self, run: int) -> None:
        """If what counted before the last record of this run tells as much, that counts again."""
        if run == self._last[0]:
            run = self._last[1]
        repeated, known, chosen, counts = self._repeated
        cut = as_cut(self._known(run))
        if run != repeated:
            self._remember(run, cut)
        elif counts and _tells_more(known, cut):
            count = (self._chosen.get(run) or 0) >> _PLACE
            self._chosen = self._chosen.having(run, count << _PLACE | chosen)
            self._remember(run, _later(known, cut))
        elif counts:
            self._remember(run, cut)

    def are_new_in(self, listed: RunKeys) -> bool:
        """The same of the runs of a part that another process has listed."""
        return self.are_new(hashed(listed))

    def second(self) -> SecondReading:
        """Who knows which records count, when the same ones are read again."""
        return SecondReading(self._chosen)

    def _remember(self, run: int, end: int) -> None:
        self._runs.add(run)
        self._looked_up()[run] = end

    def _put_away(self) -> None:
        """Put what was met into the table, if it is much."""
        if len(self._runs) > _RECENT:
            self._table = self._table.with_more(self._looked_up())
            self._runs, self._ends = {UNTOLD}, {}

    def _looked_up(self) -> dict[int, int]:
        """The ends of the last runs."""
        for keys in self._taken:
            self._ends.update(zip(keys.runs, keys.ends, strict=True))
        self._taken.clear()
        self._ends.pop(UNTOLD, None)
        return self._ends

    def _known(self, run: int) -> int:
        """The end of a run that was met; 0 of any other, and where nothing was read after all."""
        found = self._looked_up().get(run)
        return (self._table.get(run) or 0) if found is None else found


class SecondReading:
    """The runs of which several records were read, and which of those counts."""

    told = staticmethod(hash)
    ended = staticmethod(end_of)

    def __init__(self, chosen: _RunTable) -> None:
        self._chosen, self._counts = chosen, _RunTable(_SLOTS)
        self._told = _RunTable(_SLOTS)  # what the records of these runs told of them

    def are_new(self, keys: RunKeys) -> bool:
        """Whether one record was read of each."""
        return not self._chosen.has_any(keys.runs)

    def are_new_in(self, listed: RunKeys) -> bool:
        """The same of the runs of a part that another process has listed."""
        return self.are_new(hashed(listed))

    def take(self, keys: RunKeys) -> Sequence[int]:
        """For each of many runs in their order NEW, or TWICE for a record that does not count."""
        return [
            self._taken_one(run, end) if run else NEW
            for run, end in zip(keys.runs, keys.ends, strict=True)
        ]

    def _taken_one(self, run: int, end: int) -> int:
        if run in self._chosen:  # as in the first reading
            run, known, _ = _found(run, end, self._told_of)
            self._told = self._told.having(run, _later(known, end))
        told = self._chosen.get(run)
        if told is None:
            return NEW
        count = (self._counts.get(run) or 0) + 1
        self._counts = self._counts.having(run, count)
        return NEW if count == told & _CHOSEN else TWICE

    def _told_of(self, run: int) -> int:
        return self._told.get(run) or 0

    def forget(self, keys: RunKeys, places: Collection[int]) -> None:
        """A bad record was not counted in the first reading either."""

    def doubt(self, run: int) -> None:
        """It was doubted in the first reading."""


def _begun(keys: RunKeys) -> Sequence[int]:
    """The jobs of which a run began, or ended."""
    if not keys.has_waiting:
        return keys.jobs
    told = zip(keys.jobs, keys.ends, strict=True)
    return [job for job, end in told if end & _KIND != WAITS]


def _found(run: int, end: int, known_of: Callable[[int], int]) -> tuple[int, int, bool]:
    """The number of the run that a record is of, what is known of it, and whether one is others'.

    It is the first one with its id and start from which nothing tells it apart: one of its own
    user, or else, as only one of them names any, the one that tells most. Beyond some of them it is
    one of which all is told alike: who makes up records does not make it slow. That one of the
    others differs by its user alone comes last.
    """
    is_others = False
    found: tuple[int, int] | None = None
    for place in chain((run,), (hash((run, at)) for at in range(APART))):
        known = known_of(place)
        if not known:
            return (*(found or (place, known)), is_others and found is None)
        if _differ(known, end):
            is_others = is_others or not _are_elsewhere(known, end)
        elif not (known ^ end) & _WHOSE:
            return place, known, False
        elif found is None or _tells_more(known, found[1]):
            found = place, known
    if found is not None:
        return (*found, False)
    place = hash((run, end & _NOT_END))
    return place, known_of(place), is_others


def hashed(listed: RunKeys) -> RunKeys:
    """What another process has listed, as numbers of this one."""
    if not isinstance(listed.runs, list):
        return listed
    runs, jobs, ends, has_waiting = listed
    return RunKeys([*map(run_of, runs)], [*map(hash, jobs)], [*map(end_of, ends)], has_waiting)


def _memory(size: int, *, is_large: bool) -> memoryview:
    """So many numbers, all 0; many lie in a file."""
    if not is_large:
        return memoryview(mmap.mmap(-1, 8 * size)).cast("q")
    import tempfile  # slow to import, and few commands read so many runs

    with tempfile.TemporaryFile() as file:
        file.truncate(8 * size)
        return memoryview(mmap.mmap(file.fileno(), 8 * size)).cast("q")


class _RunTable:
    """Ends by runs, in a memory of pairs of numbers; a run is looked for from its own place on.

    What an end has beyond the bits of one number is in a memory beside it, if there is any.
    """

    def __init__(self, slots: int) -> None:
        self.count = 0
        self._slots, self._last = slots, 2 * slots - 2
        self._pairs = _memory(2 * slots, is_large=slots > _IN_MEMORY)
        self._beside: memoryview | None = None

    def has_any(self, runs: Iterable[int]) -> bool:
        """Whether one of these runs is in it; UNTOLD is in none."""
        if not self.count:
            return False
        pairs, last = self._pairs, self._last
        for run in runs:
            place = run * 2 & last
            while (found := pairs[place]) and found != run:
                place = place + 2 & last
            if found:
                return True
        return False

    def get(self, run: int) -> int | None:
        """The end of a run, or None."""
        place = self._place(run)
        return self._end(place) if self._pairs[place] else None

    def __contains__(self, run: int) -> bool:
        return bool(self._pairs[self._place(run)])

    def having(self, run: int, end: int) -> _RunTable:
        """A table in which a run has this end: this one, or a larger one."""
        return self.with_more({run: end})

    def with_more(self, runs: Mapping[int, int]) -> _RunTable:
        """A table with more runs, or other ends of runs: this one, or a larger one."""
        table, count = self, self.count + len(runs)
        if 2 * count > self._slots:
            table = _RunTable(1 << (2 * count).bit_length())
            pairs = self._pairs
            table.fill((pairs[at], self._end(at)) for at in range(0, len(pairs), 2) if pairs[at])
        table.fill(runs.items())
        return table

    def fill(self, runs: Iterable[tuple[int, int]]) -> None:
        """Put in runs, or other ends of those that are there."""
        pairs, last = self._pairs, self._last
        for run, end in runs:
            place = run * 2 & last
            while (found := pairs[place]) and found != run:
                place = place + 2 & last
            self.count += not found
            pairs[place], pairs[place + 1] = run, end & _IS_ONE - 1
            if more := end >> _HALF:
                if self._beside is None:
                    self._beside = _memory(self._slots, is_large=self._slots > _IN_MEMORY)
                self._beside[place >> 1] = more
            elif found and self._beside is not None:
                self._beside[place >> 1] = 0

    def _end(self, place: int) -> int:
        """The end in a place."""
        end = self._pairs[place + 1]
        return end if self._beside is None else end | self._beside[place >> 1] << _HALF

    def _place(self, run: int) -> int:
        place = run * 2 & self._last
        while (found := self._pairs[place]) and found != run:
            place = place + 2 & self._last
        return place


class ListedRuns:
    """The runs of a part, listed for whoever knows those of the other parts.

    ``probe`` is what ``probe()`` gives there. A process that is a copy makes the same hashes, which
    take little room; any other one lists what would be hashed.
    """

    def __init__(self, probe: int) -> None:
        self.told: Callable[[Any], Any] = hash
        self.ended: Callable[[End], Any] = end_of
        self._runs: Any = array("q")
        self._jobs: Any = array("q")
        self._ends: list[Any] = []
        if probe != hash(_PROBE):
            self.told = self.ended = _as_it_is
            self._runs, self._jobs = [], []
        self._has_waiting = False

    @property
    def runs(self) -> RunKeys:
        """All of them."""
        return RunKeys(self._runs, self._jobs, self._ends, self._has_waiting)

    def are_new(self, keys: RunKeys) -> bool:
        """List them all: here nobody knows better."""
        self._runs.extend(keys.runs)
        self._jobs.extend(keys.jobs)
        self._ends.extend(keys.ends)
        self._has_waiting |= keys.has_waiting
        return True

    def take(self, keys: RunKeys) -> Sequence[int]:
        """As long as all are new, nobody asks this."""
        return [NEW] * len(keys.runs)

    def forget(self, keys: RunKeys, places: Collection[int]) -> None:
        """List nothing of them."""
        first = len(self._runs) - len(keys.runs)
        for place in places:
            self._runs[first + place] = self._jobs[first + place] = UNTOLD

    def doubt(self, run: Any) -> None:
        """List that it may be."""
        for at in range(len(self._runs) - 1, -1, -1):
            if self._runs[at] == run:
                self._ends[at] = as_cut(self._ends[at])
                return


def as_cut(end: Any) -> Any:
    """An end, or what was made of one, of a record that may be cut short, unless it waits."""
    if isinstance(end, tuple):
        return end if end[1] == WAITS else (end[0], end[1] | _CUT, *end[2:])
    return end if end & _KIND == WAITS else end | _CUT


def listed_of(met: Met | None) -> RunKeys:
    """The runs of a part, where they were only listed."""
    return met.runs if isinstance(met, ListedRuns) else NO_KEYS


def probe() -> int:
    """What a process that lists runs needs, to know whether its hashes are those of this one."""
    return hash(_PROBE)


def _as_it_is(told: Any) -> Any:
    return told


class Once:
    """Leaves out what was read of runs that were met before."""

    def __init__(self, layout: Layout, run: RunKey, met: Met, clock: Clock) -> None:
        self._layout, self._run, self._met, self._clock = layout, run, met, clock
        self._readers: dict[Names, Callable[[RecordBatch], RunKeys]] = {}
        self._are_new = True  # what was taken last
        self._last: Any = UNTOLD  # the run of the last record

    def take(
        self, found: Stretch, bad: Callable[[Stretch], Collection[int]], *, is_cut: bool = False
    ) -> Stretch:
        """What was found, without them, and with what is to say.

        ``bad`` tells the places of records of which nothing can be made: these are no first ones.
        ``is_cut``: the last record up to here may be cut short.
        """
        self._are_new = True
        keys, places = self._all(found)
        if not places:
            if is_cut and self._last != UNTOLD:
                self._met.doubt(self._last)
            return found
        at = max(range(len(places)), key=places.__getitem__) if len(found.batches) > 1 else -1
        self._last = keys.runs[at]
        if is_cut:
            ends = [*keys.ends]
            ends[at] = as_cut(ends[at])
            keys = keys._replace(ends=ends)
        if self._met.are_new(keys):
            return found
        self._are_new = False
        wrong = bad(found)
        # The first of two is the one that stands first.
        order = sorted(
            (at for at, place in enumerate(places) if place not in wrong), key=places.__getitem__
        )
        verdicts = self._met.take(keys.some(order))
        return _without(found, dict(zip((places[at] for at in order), verdicts, strict=True)))

    def forget(self, found: Stretch, bad: Collection[int]) -> None:
        """Of what was just taken, these records could not be made."""
        if not self._are_new:
            return  # then they were not remembered
        keys, places = self._all(found)
        self._met.forget(keys, [at for at, place in enumerate(places) if place in bad])

    def _all(self, found: Stretch) -> tuple[RunKeys, list[int]]:
        """The keys of what was found, and their places."""
        some = [self._keys(batch) for batch in found.batches]
        places = [place for batch in found.batches for place in batch.places]
        if found.made:
            some.append(of_jobs((found.items[at].job for at in found.made), self._met))
            places += found.made
        if len(some) == 1:
            return some[0], places
        return RunKeys(
            [each for one in some for each in one.runs],
            [each for one in some for each in one.jobs],
            [each for one in some for each in one.ends],
            any(one.has_waiting for one in some),
        ), places

    def _keys(self, batch: RecordBatch) -> RunKeys:
        """What tells the runs of a batch."""
        try:
            read = self._readers[batch.names]
        except KeyError:
            if len(self._readers) >= _READERS:
                self._readers.clear()
            read = _reader(self._layout, self._run, batch.names, self._met, self._clock)
            self._readers[batch.names] = read
        return read(batch)


def noted(line: int, verdict: int) -> Noted | None:
    """What to say of a record that is not the first of its run."""
    if verdict == NEW:
        return None
    if verdict == OTHERS:
        return Noted(line, _OTHERS)
    text = _INSTEAD if verdict == INSTEAD else _TWICE
    return Noted(line, text, once=True, severity=Severity.NOTICE)


def _without(found: Stretch, verdicts: Mapping[int, int]) -> Stretch:
    instead: dict[int, list[Skipped | Noted]] = {}
    behind: dict[int, Noted] = {}

    def judge(place: int, line: int, skipped: Callable[[], list[Skipped]]) -> None:
        verdict = verdicts.get(place, NEW)
        note = noted(line, verdict)
        if note and verdict == TWICE:
            instead[place] = [*skipped(), note]
        elif note:
            behind[place] = note

    for batch in found.batches:
        for at, (place, line) in enumerate(zip(batch.places, batch.lines, strict=True)):
            if place in verdicts:
                judge(place, line, partial(batch.skipped, at, AGAIN))
    for place in found.made:
        skipped = Skipped(found.items[place].line, AGAIN)
        judge(place, skipped.line, [skipped].copy)
    return found.replaced(instead, behind)


def of_job(job: Job, met: Met) -> tuple[Any, Any, Any]:
    """What tells the run that a job object is about, its job, and its end."""
    own = {item.name: item.text.strip() for item in job.items if type(item) is Property}
    submit, start, end = (_said(own, name) for name in ("SubmitTime", "StartTime", "EndTime"))
    machine = _delivered(job, "Machine") or own.get("Machine", "")
    machine, id_, one = job_of(machine, job.id, own.get("GlobalId", ""))
    submit = submission(one, submit)
    user = _delivered(job, "User") or own.get("User", "")
    beside = (machine, one), submit, user if may_be_of_schedd(id_, one) else ""
    if end:
        told = met.ended((end, ENDED, *beside))
    elif start:
        told = met.ended((_goes_on(_seconds_given(job)), BEGAN, *beside))
    else:
        told = met.ended(_waiting(_seconds_given(job)))
    where = one or machine
    asked = met.told((where, id_, submit))
    run = met.told((id_, start)) if start else met.told((asked, _over(end, lambda: _has_used(job))))
    if submit:
        return run, asked, told
    untimed = met.told(whose_untimed(where, id_, user)) if id_ else UNTOLD
    if start:
        return run, untimed, told
    if end or not id_ or _has_used(job):
        return UNTOLD, UNTOLD, told
    return met.told((untimed, "")), untimed, met.ended(_UNTIMED)


# decisions 978, 1021
def _over(end: str, has_used: Callable[[], bool]) -> str:
    """What tells a run of its job by its end: one that used nothing ended without having begun."""
    return end if not end or has_used() else _IDLE + end


def whose_untimed(machine: str, id_: str, user: str) -> tuple[str, str, str, str]:
    """What tells a job of which no submission is told: two users may have an Id each."""
    return machine, id_, "", user


def _delivered(job: Job, name: str) -> str:
    """The first text of a name in Delivered, "" if there is none."""
    for block in job.items:
        if type(block) is Delivered:
            for item in block.items:
                if type(item) is Property and item.name == name:
                    return item.text.strip()
    return ""


def _has_used(job: Job) -> bool:
    """Whether a job tells of any wall time, or of time of processors."""
    return any(_seconds_given(job, name) for name in _USED)


def _seconds_given(job: Job, name: str = "Duration") -> int | None:
    """How long a job ran so far, or another time: delivered, or else its own, as in reports."""
    from sssjob.amounts import Scope, is_given  # few jobs go on

    scope = Scope(job, "/Job")
    amount = scope.delivered(name)
    if amount is not None:
        return units.rounded(amount.value)
    own = [item for item in scope.own if item.name == name and is_given(item)]
    value = scope.read(own[0]) if own else None
    return None if value is None else units.rounded(value)


def of_jobs(jobs: Iterable[Job], met: Met) -> RunKeys:
    """The same of many."""
    told = [of_job(job, met) for job in jobs]
    if not told:
        return NO_KEYS
    runs, jobs_, ends = map(list, zip(*told, strict=True))
    return RunKeys(runs, jobs_, ends, any(_waits(end) for end in ends))


def _waits(end: Any) -> bool:
    return (end & _KIND if end.__class__ is int else end[1]) == WAITS


def without_twins(jobs: Iterable[Job], met: Met, tell: Callable[[Noted], None]) -> Iterator[Job]:
    """Job objects, without those of runs that were met before, which are told."""
    rest = iter(jobs)
    while some := [*islice(rest, _TOGETHER)]:
        keys = of_jobs(some, met)
        if met.are_new(keys):
            yield from some
            continue
        for job, verdict in zip(some, met.take(keys), strict=True):
            if note := noted(job.line, verdict):
                tell(note)
            if verdict != TWICE:
                yield job


def _said(own: Mapping[str, str], name: str) -> str:
    """A time of a job as records have it; "" where it is not stated."""
    text = own.get(name, "")
    if text in _NOTHING:
        return ""
    is_told = text.isdecimal() or text not in registry.said_of_jobs().no_time
    return text if is_told else ""


def _reader(
    layout: Layout, run: RunKey, names: Names, met: Met, clock: Clock
) -> Callable[[RecordBatch], RunKeys]:
    """What reads the keys of records with these names."""
    rows = [*clocks.by(clock, layout.rows(names))]
    ids, machines = (_texts(rows, names, element) for element in ("Id", "Machine"))
    # What is made of other columns is no GlobalJobId.
    global_ids = _texts([row for row in rows if not row.beside], names, "GlobalId")
    used = [_seconds_read(rows, names, element) for element in _USED]
    walls, users = used[0], _texts(rows, names, "User")
    submitted, begun, over = (
        _times(rows, names, element, column, clock)
        for element, column in zip(TIMES, run.times, strict=True)
    )
    if NEVER in names:
        begun = _nothing
    nothing = _NOTHING | layout.untold
    told, ended = met.told, met.ended
    known = _place(names, run.record) if run.record else None

    def whole(batch: RecordBatch, at: int) -> Any:
        """What tells a record without times: its own name, or all that it says, if it may."""
        if known is not None and (name := batch.columns[known][at]):
            return told((NEVER, name))
        if not run.is_whole:
            return UNTOLD
        fields = (column[at] for column in batch.columns)
        return told((NEVER, *(text for text in fields if text.__class__ is str)))

    def read(batch: RecordBatch) -> RunKeys:
        columns, size = batch.columns, len(batch.lines)

        submits, starts, ends = (
            _stated(times(columns, size), nothing) for times in (submitted, begun, over)
        )
        if batch.ended and not all(batch.ended):
            ends = [
                text if is_over else "" for text, is_over in zip(ends, batch.ended, strict=True)
            ]
        machine, id = machines(columns, size), ids(columns, size)
        every = global_ids(columns, size)
        user = users(columns, size)
        where: Sequence[tuple[str, str]] = [*zip(machine, repeat(""))]
        if _has_mark(every) or _has_mark(id):
            known = [*map(job_of, machine, id, every)]
            where = [(each.machine, each.one) for each in known]
            machine, id = [each.one or each.machine for each in known], [each.id for each in known]
            submits = [
                submission(each.one, told) for each, told in zip(known, submits, strict=True)
            ]
        owners = _owners(id, where, user)
        has_waiting = False
        if "" in ends:
            kinds = [
                ENDED if last else BEGAN if first else WAITS
                for first, last in zip(starts, ends, strict=True)
            ]
            has_waiting = WAITS in kinds
            shown: list[Any] = [*ends]
            some = [at for at, kind in enumerate(kinds) if kind != ENDED]
            for at, wall in zip(some, walls(columns, some), strict=True):
                shown[at] = _goes_on(wall) if kinds[at] == BEGAN else _waiting(wall)
            told_ends = [
                ended(told[0] if told[1] == WAITS else told)
                for told in zip(shown, kinds, where, submits, owners, strict=True)
            ]
        elif ended is end_of:
            told_ends = [
                hash(text) & _TIMES | ENDED | more
                for text, more in zip(ends, _all_beside(where, submits, owners), strict=True)
            ]
        else:
            told_ends = [*map(ended, zip(ends, repeat(ENDED), where, submits, owners))]
        jobs = [*map(told, zip(machine, id, submits, strict=True))]
        runs = [*map(told, zip(id, starts, strict=True))]
        if "" in starts:
            for at, first in enumerate(starts):
                if not first:
                    has_used = partial(_has_any_seconds, used, columns, at)
                    runs[at] = told((jobs[at], _over(ends[at], has_used)))
        if "" not in submits:
            return RunKeys(runs, jobs, told_ends, has_waiting)
        others = map(told, map(whose_untimed, machine, id, user))
        jobs = [
            job if asked else other if named else UNTOLD
            for job, asked, other, named in zip(jobs, submits, others, id, strict=True)
        ]
        if "" not in starts:
            return RunKeys(runs, jobs, told_ends, has_waiting)
        for at, (first, asked) in enumerate(zip(starts, submits, strict=True)):
            if first or asked:
                continue
            runs[at] = whole(batch, at)
            if not jobs[at] or ends[at] or _has_any_seconds(used, columns, at):
                jobs[at] = UNTOLD
            elif runs[at] == UNTOLD:
                runs[at], told_ends[at] = told((jobs[at], "")), ended(_UNTIMED)
        return RunKeys(runs, jobs, told_ends, has_waiting)

    return read


def _owners(
    ids: Sequence[str], where: Sequence[tuple[str, str]], users: Sequence[str]
) -> Sequence[str]:
    """The users of records where they tell runs apart; "" of other ones."""
    if not any("." in id_ for id_ in ids):  # no job of HTCondor is among them
        return [""] * len(ids)
    return [
        user if may_be_of_schedd(id_, one) else ""
        for id_, (_, one), user in zip(ids, where, users, strict=True)
    ]


def _has_mark(column: Sequence[Any]) -> bool:
    """Whether one of some ids may be a GlobalJobId."""
    return any("#" in text for text in distinct(column) if text.__class__ is str)


def _all_beside(
    wheres: Sequence[tuple[str, str]], submits: Sequence[str], users: Sequence[str]
) -> Sequence[int]:
    """The bits of many machines, or ids that hold everywhere, and submissions, and users."""
    known = {where: _where(*where) for where in {*wheres}}
    whose_ = {user: _whose(user) for user in {*users}}
    return [
        known[where] | whose_[user] | (hash(asked) % _SUBMISSIONS + 1 << 30 if asked else 0)
        for where, asked, user in zip(wheres, submits, users, strict=True)
    ]


_ReadTexts = Callable[[Sequence[Any], int], Sequence[Any]]


def _nothing(columns: Sequence[Any], size: int) -> Sequence[Any]:
    """What is read of a column that is not there."""
    return [""] * size


def _texts(
    rows: Sequence[Field], names: Names, element: str, places: Collection[str] = (JOB, DELIVERED)
) -> _ReadTexts:
    """What records say of an element that stands once in a job, "" for nothing.

    Of several columns that tell it the later ones count.
    """
    wanted = [
        _texts_of(row, names, element) for row in reversed(rows)
        if row.element == element and row.place in places and row.column in names
    ]  # fmt: skip
    if len(wanted) < 2:
        return wanted[0] if wanted else _nothing

    def texts(columns: Sequence[Any], size: int) -> Sequence[Any]:
        every = zip(*[read(columns, size) for read in wanted], strict=True)
        return [next(filter(None, told), "") for told in every]

    return texts


def _times(
    rows: Sequence[Field], names: Names, element: str, column: str, clock: Clock
) -> _ReadTexts:
    """What reads times of records: each as if it stood alone. # decision 1086

    A column that a clock reads is read at once, to what the row of the table gives of each.
    """
    texts = _texts(rows, names, element)
    wanted = [row for row in rows if row.element == element and row.column in names]
    own = next((_clock_of(row, clock) for row in wanted if row.column == column), None)
    if own is None:
        return texts
    place, is_alone = names.index(column), len(wanted) == 1

    def times(columns: Sequence[Any], size: int) -> Sequence[Any]:
        written = columns[place]
        if {*map(type, distinct(written))} == {str}:
            found = own.column(written)
            if (found is not written or _are_in_time(written)) and (is_alone or "" not in found):
                return found
        return texts(columns, size)

    return times


def _clock_of(row: Field, clock: Clock) -> Clock | None:
    """The clock that reads a column, and nothing else does."""
    if row.beside:
        return None
    if row.read is clock.reading:
        return clock
    own = getattr(row.read, "__self__", None)
    return own if isinstance(own, Clock) else None


_ReadSeconds = Callable[[Sequence[Any], Sequence[int]], "list[int | None]"]


def _seconds_read(rows: Sequence[Field], names: Names, element: str) -> _ReadSeconds:
    """What reads how long some of many records ran."""
    read = _texts(rows, names, element, (_USED[element],))

    def seconds(columns: Sequence[Any], at: Sequence[int]) -> list[int | None]:
        some = [[column[place] for place in at] for column in columns]
        return [*map(_seconds_of, read(some, len(at)))]

    return seconds


def _has_any_seconds(used: Iterable[_ReadSeconds], columns: Sequence[Any], at: int) -> bool:
    """Whether a record tells of any time that was used."""
    return any(read(columns, (at,))[0] for read in used)


def _seconds_of(text: str) -> int | None:
    try:
        return units.duration(text)
    except InvalidValue:
        return None


def _texts_of(row: Field, names: Names, element: str) -> _ReadTexts:
    """What reads this of a row of a table; "" of what it cannot be read of."""
    places = [_place(names, name) for name in (row.column, *row.beside)]
    first = places[0]
    assert first is not None
    if not row.beside and row.read in (plain, single):
        return lambda columns, size: columns[first]
    read = row.read

    def one(*texts: str) -> str:
        try:
            found = read(*texts) if row.beside or texts[0] else None
        except InvalidValue:
            return ""
        if isinstance(found, str):
            return found
        return next((item.text for item in found or () if item.name == element), "")

    def texts(columns: Sequence[Any], size: int) -> Sequence[Any]:
        some = [[""] * size if place is None else columns[place] for place in places]
        return [*map(one, *some)]

    return texts


def _stated(column: Sequence[Any], nothing: frozenset[str]) -> Sequence[Any]:
    """Times, "" for what is none."""
    if not has_any(column, nothing):
        return column
    return ["" if text in nothing else text for text in column]


def _are_in_time(seconds: Sequence[str]) -> bool:
    """Whether none of some seconds since 1970 is beyond what a time can be."""
    return max(map(len, seconds)) <= len(_LAST) and max(seconds) <= _LAST


def _place(names: Names, name: str) -> int | None:
    return names.index(name) if name in names else None
