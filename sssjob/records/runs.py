"""Twice is once: runs of jobs that a record was read of before, in the same file or another one.

Strategy. The same log is given twice, windows of sacct overlap, files are sent again: what a run
used would be counted twice. A run is known by the machine, the id of its job, when it was submitted
and when it began, as the records spell them; one that did not begin only by all that its record
says. # decision 245

The idea is to keep of a run two hashes: one of the texts that tell it, and one of its end. Whether
many runs are all new is asked of a set at once, in any order; only where it may be that one was met
before, each is looked up in its turn. The last runs are in a dictionary then. When they are many,
they go into a table of 16 bytes for each, of which half is free, and a large one lies in a file
without a name, which the system may write out.

Why it is right: only where both hashes, of 64 bits each and another in each process, are those of
a record before, is one left out, and that is told. Records of one run that end differently, such as
those of a job that was resized, are all kept. What is left out is never made: it costs its reading.
"""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from sssjob.errors import Severity
from sssjob.records.clock import NO_VALUE, Clock
from sssjob.records.layout import NEVER, Names, RecordBatch, RunKey, Stretch
from sssjob.records.record import Noted, Skipped
from sssjob.records.texts import distinct

AGAIN = "read before"
_TWICE = "a record of the same run was read before: it counts once"
_CHANGED = "a record of the same run with another end was read before: both are kept"

_NOTHING = NO_VALUE | {"0", "-1", "0.0"}
_NOT_OVER = frozenset(map(hash, _NOTHING))
_RECENT = 1 << 17  # runs in the set: some 14 MiB, with their ends
_SLOTS = 1 << 8  # of a table at first
_IN_MEMORY = 1 << 18  # slots of a table that is in no file: 4 MiB
_READERS = 256  # names that are remembered with what reads the keys of their records
_OTHERS = 1 << 16  # runs with several ends of which all ends are remembered

NEW, TWICE, CHANGED = range(3)
UNTOLD = 0  # stands for what tells no run; no hash but that of "" is this number, as good as never
Keys = tuple[Sequence[Any], Sequence[Any]]  # what tells runs, and their ends

_PROBE = "is a hash the same here and there?"


class Met(Protocol):
    """Who is told of the runs that were read, and says which of them were met before."""

    @property
    def told(self) -> Callable[[Any], Any]:
        """What is made of the texts that tell a run, and of the text of its end."""
        ...

    def are_new(self, keys: Sequence[Any], ends: Sequence[Any]) -> bool:
        """Whether none of many runs was met before, nor twice among them; then they are now."""
        ...

    def take(self, keys: Sequence[Any], ends: Sequence[Any]) -> Sequence[int]:
        """For each of many runs in their order NEW, TWICE or CHANGED."""
        ...

    def forget(self, keys: Iterable[Any]) -> None:
        """Of these runs, which were the last that were new, nothing was read after all."""
        ...


class SeenRuns:
    """The runs that were met; see above."""

    told = staticmethod(hash)

    def __init__(self) -> None:
        self._runs = {UNTOLD}  # the last ones, and perhaps others that were asked for
        self._taken: list[Keys] = []  # those that were taken together, and are not in ``_ends``
        self._ends: dict[int, int] = {}  # by the last runs
        self._table = _Table(_SLOTS)
        self._others: dict[int, set[int]] = {}  # further ends of runs that have several
        self._forgotten: set[int] = set()  # runs that were met, and of which nothing was read

    def take(self, keys: Sequence[int], ends: Sequence[int]) -> Sequence[int]:
        """For each of many runs in their order NEW, TWICE or CHANGED; they are remembered."""
        verdicts = []
        for run, end in zip(keys, ends, strict=True):
            known = self._end(run) if run else None
            if known is not None and run in self._forgotten:
                self._forgotten.discard(run)
                self._others[run] = {end}
                verdicts.append(NEW)
                continue
            if known is not None:
                verdicts.append(self._met(run, known, end))
                continue
            verdicts.append(NEW)
            if run:
                self._runs.add(run)
                self._ends[run] = end
        self._put_away()
        return verdicts

    def are_new(self, keys: Sequence[int], ends: Sequence[int]) -> bool:
        """Whether none of many runs was met before, nor twice among them; then they are now."""
        runs, before = self._runs, len(self._runs)
        runs.update(keys)
        grown = len(runs) - before
        if grown < len(keys) and grown + keys.count(UNTOLD) < len(keys):
            return False
        if self._table.has_any(keys):
            return False
        self._taken.append((keys, ends))
        self._put_away()
        return True

    def forget(self, keys: Iterable[int]) -> None:
        """Take the next record of these runs for the first one."""
        if len(self._forgotten) < _OTHERS:
            self._forgotten.update(key for key in keys if key)

    def are_new_in(self, listed: Keys) -> bool:
        """The same of the runs of a part that another process has listed."""
        keys, ends = listed
        if isinstance(keys, list):
            return self.are_new([*map(hash, keys)], [*map(hash, ends)])
        return self.are_new(keys, ends)

    def _put_away(self) -> None:
        """Put what was met into the table, if it is much."""
        if len(self._runs) > _RECENT:
            self._table = self._table.with_more(self._looked_up())
            self._runs, self._ends = {UNTOLD}, {}

    def _looked_up(self) -> dict[int, int]:
        """The ends of the last runs."""
        for keys, ends in self._taken:
            self._ends.update(zip(keys, ends, strict=True))
        self._taken.clear()
        self._ends.pop(UNTOLD, None)
        return self._ends

    def _end(self, run: int) -> int | None:
        """The end of a run that was met."""
        found = self._looked_up().get(run)
        return self._table.get(run) if found is None else found

    def _met(self, run: int, known: int, end: int) -> int:
        """What to say of a run that was met before, with an end that is known."""
        others = self._others.get(run, set())
        if end in _NOT_OVER or end == known or end in others:
            return TWICE  # one that has not ended tells less than what is known
        if len(self._others) < _OTHERS:
            self._others[run] = others | {end}
        return CHANGED


class _Table:
    """Ends by runs, in a memory of pairs of numbers; a run is looked for from its own place on."""

    def __init__(self, slots: int) -> None:
        self.count = 0
        self._slots, self._last = slots, 2 * slots - 2
        if slots <= _IN_MEMORY:
            memory = mmap.mmap(-1, 16 * slots)
        else:
            import tempfile  # slow to import, and few commands read so many runs

            with tempfile.TemporaryFile() as file:
                file.truncate(16 * slots)
                memory = mmap.mmap(file.fileno(), 16 * slots)
        self._pairs = memoryview(memory).cast("q")

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
        return self._pairs[place + 1] if self._pairs[place] else None

    def with_more(self, runs: Mapping[int, int]) -> _Table:
        """A table with more runs: this one, or a larger one."""
        table, count = self, self.count + len(runs)
        if 2 * count > self._slots:
            table = _Table(1 << (2 * count).bit_length())
            pairs = self._pairs
            table.fill((pairs[at], pairs[at + 1]) for at in range(0, len(pairs), 2) if pairs[at])
        table.fill(runs.items())
        return table

    def fill(self, runs: Iterable[tuple[int, int]]) -> None:
        """Put in runs that are not there."""
        pairs, last = self._pairs, self._last
        for run, end in runs:
            place = run * 2 & last
            while pairs[place]:
                place = place + 2 & last
            pairs[place], pairs[place + 1] = run, end
            self.count += 1

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
        self._keys: Any = array("q")
        self._ends: Any = array("q")
        if probe != hash(_PROBE):
            self.told, self._keys, self._ends = _as_it_is, [], []

    @property
    def runs(self) -> Keys:
        """All of them."""
        return self._keys, self._ends

    def are_new(self, keys: Sequence[Any], ends: Sequence[Any]) -> bool:
        """List them all: here nobody knows better."""
        self._keys.extend(keys)
        self._ends.extend(ends)
        return True

    def take(self, keys: Sequence[Any], ends: Sequence[Any]) -> Sequence[int]:
        """As long as all are new, nobody asks this."""
        return [NEW] * len(keys)

    def forget(self, keys: Iterable[Any]) -> None:
        """List nothing of them."""
        for key in keys:
            place = next(at for at in range(len(self._keys) - 1, -1, -1) if self._keys[at] == key)
            self._keys[place] = UNTOLD


def probe() -> int:
    """What a process that lists runs needs, to know whether its hashes are those of this one."""
    return hash(_PROBE)


def _as_it_is(told: Any) -> Any:
    return told


class Once:
    """Leaves out what was read of runs that were met before."""

    def __init__(self, run: RunKey, met: Met, clock: Clock) -> None:
        self._run, self._met, self._clock = run, met, clock
        self._readers: dict[Names, Callable[[RecordBatch], Keys]] = {}
        self._are_new = True  # what was taken last

    def take(self, found: Stretch, bad: Callable[[Stretch], Collection[int]]) -> Stretch:
        """What was found, without them, and with what is to say.

        ``bad`` tells the places of records of which nothing can be made: these are no first ones.
        """
        self._are_new = True
        keys: list[Any] = []
        ends: list[Any] = []
        for batch in found.batches:
            more = self._keys(batch)
            keys += more[0]
            ends += more[1]
        if not keys or self._met.are_new(keys, ends):
            return found
        self._are_new = False
        places = [place for batch in found.batches for place in batch.places]
        if wrong := bad(found):
            good = [at for at, place in enumerate(places) if place not in wrong]
            keys, ends, places = ([told[at] for at in good] for told in (keys, ends, places))
        if len(found.batches) > 1:  # the first of two is the one that stands first
            order = sorted(range(len(places)), key=places.__getitem__)
            keys, ends = [keys[at] for at in order], [ends[at] for at in order]
            places = [places[at] for at in order]
        verdicts = self._met.take(keys, ends)
        return _without(found, dict(zip(places, verdicts, strict=True)))

    def forget(self, found: Stretch, bad: Collection[int]) -> None:
        """Of what was just taken, these records could not be made."""
        if not self._are_new:
            return  # then they were not remembered
        for batch in found.batches:
            wrong = [at for at, place in enumerate(batch.places) if place in bad]
            if wrong:
                keys, _ = self._keys(batch)
                self._met.forget([keys[at] for at in wrong if keys[at] != UNTOLD])

    def _keys(self, batch: RecordBatch) -> Keys:
        """What tells the runs of a batch, UNTOLD where nothing does, and their ends."""
        try:
            read = self._readers[batch.names]
        except KeyError:
            if len(self._readers) >= _READERS:
                self._readers.clear()
            read = _reader(self._run, batch.names, self._met.told, self._clock)
            self._readers[batch.names] = read
        return read(batch)


def _without(found: Stretch, verdicts: Mapping[int, int]) -> Stretch:
    instead: dict[int, list[Skipped | Noted]] = {}
    behind: dict[int, Noted] = {}
    for batch in found.batches:
        for at, (place, line) in enumerate(zip(batch.places, batch.lines, strict=True)):
            if verdicts.get(place) == TWICE:
                note = Noted(line, _TWICE, once=True, severity=Severity.NOTICE)
                instead[place] = [*batch.skipped(at, AGAIN), note]
            elif verdicts.get(place) == CHANGED:
                behind[place] = Noted(line, _CHANGED, once=True, severity=Severity.NOTICE)
    return found.replaced(instead, behind)


def _reader(
    run: RunKey, names: Names, told: Callable[[Any], Any], clock: Clock
) -> Callable[[RecordBatch], Keys]:  # fmt: skip
    """What reads the keys of records with these names, as they are ``told``."""
    places = [names.index(name) for name in run.of if name in names]
    submit, start, end = (_place(names, name) for name in (run.submit, run.start, run.end))
    times = [place for place in (submit, start) if place is not None]

    def whole(batch: RecordBatch, at: int) -> Any:
        """What tells a record that did not begin: all that it says, if that is enough."""
        is_told = submit is not None and batch.columns[submit][at] not in _NOTHING
        if not (is_told or run.is_whole):
            return UNTOLD
        fields = (column[at] for column in batch.columns)
        return told((NEVER, *(text for text in fields if text.__class__ is str)))

    def read(batch: RecordBatch) -> Keys:
        columns, size = batch.columns, len(batch.lines)
        ends = [UNTOLD] * size if end is None else [*map(told, _seconds(columns[end], clock))]
        if NEVER in names or start is None:
            return [whole(batch, at) for at in range(size)], ends
        parts = [columns[place] for place in places]
        parts += [_seconds(columns[place], clock) for place in times]
        keys = [*map(told, zip(*parts, strict=True))]
        if not _NOTHING.isdisjoint(columns[start]):
            for at, text in enumerate(columns[start]):
                if text in _NOTHING:
                    keys[at] = whole(batch, at)
        return keys, ends

    return read


def _seconds(column: Sequence[Any], clock: Clock) -> Sequence[Any]:
    """Times by their values, however they are written; what is none stays as it is."""
    if {*map(type, distinct(column))} != {str}:
        return column
    found = clock.column(column)
    if found is column or "" not in found:
        return found
    return [text or as_written for text, as_written in zip(found, column, strict=True)]


def _place(names: Names, name: str) -> int | None:
    return names.index(name) if name in names else None
