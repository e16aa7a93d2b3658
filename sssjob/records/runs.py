"""Twice is once: runs of jobs that a record was read of before, in the same file or another one.

Strategy. The same log is given twice, windows of sacct overlap, files are sent again: what a run
used would be counted twice. A run is known by the machine, the id of its job, when it was submitted
and when it began, as the records spell them; one that did not begin only by all that its record
says. # decision 245

The idea is to keep of a run two hashes: one of the texts that tell it, and one of its end. Many
runs are looked up at once. Those of the last records are in a dictionary, which is fast; when it is
full, they go into a table of 16 bytes for each, of which half is free, and a large one lies in a
file without a name, which the system may write out.

Why it is right: only where both hashes, of 64 bits each and another in each process, are those of
a record before, is one left out, and that is told. Records of one run that end differently, such as
those of a job that was resized, are all kept. What is left out is never made: it costs its reading.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from sssjob.errors import Severity
from sssjob.records.clock import NO_VALUE
from sssjob.records.layout import NEVER, Names, RecordBatch, Run, Stretch
from sssjob.records.record import Noted, Skipped

AGAIN = "read before"
_TWICE = "a record of the same run was read before: it counts once"
_CHANGED = "a record of the same run with another end was read before: both are kept"

_SEPARATOR = "\x1f"  # of the texts of a run
_NOTHING = NO_VALUE | {"0", "-1", "0.0"}
_RECENT = 1 << 17  # runs in the dictionary: some 14 MiB
_SLOTS = 1 << 8  # of a table at first
_IN_MEMORY = 1 << 18  # slots of a table that is in no file: 4 MiB
_OTHERS = 1 << 16  # runs with several ends of which all ends are remembered

NEW, TWICE, CHANGED = range(3)
Keys = tuple[list[str], list[str]]  # what tells runs, "" where nothing does, and their ends


class Met(Protocol):
    """Who is told of the runs that were read, and says which of them were met before."""

    def take(self, keys: Sequence[str], ends: Sequence[str]) -> Sequence[int]:
        """For each of many runs NEW, TWICE or CHANGED; nothing where none was met before."""
        ...


class SeenRuns:
    """The runs that were met; see above."""

    def __init__(self) -> None:
        self._recent: dict[int, int] = {}  # ends by runs
        self._table = _Table(_SLOTS)
        self._others: dict[int, set[int]] = {}  # further ends of runs that have several

    def take(self, keys: Sequence[str], ends: Sequence[str]) -> Sequence[int]:
        """Remember runs, and say which were met before; nothing where none was."""
        if self.are_new(keys, ends):
            return ()
        verdicts = []
        for key, end in zip(keys, ends, strict=True):
            run, ended = hash(key), hash(end)
            known = self._end(run) if key else None
            if known is not None:
                verdicts.append(self._met(run, known, ended, is_over=end not in _NOTHING))
                continue
            verdicts.append(NEW)
            if key:
                self._add({run: ended})
        return verdicts

    def are_new(self, keys: Sequence[str], ends: Sequence[str]) -> bool:
        """Whether none of many runs was met before, nor twice among them; then they are now."""
        runs = dict(zip(map(hash, keys), map(hash, ends), strict=True))
        if len(runs) < len(keys) or "" in keys:
            return False
        if not self._recent.keys().isdisjoint(runs.keys()) or self._table.has_any(runs):
            return False
        self._add(runs)
        return True

    def _add(self, runs: dict[int, int]) -> None:
        self._recent.update(runs)
        if len(self._recent) > _RECENT:
            self._table = self._table.with_more(self._recent)
            self._recent = {}

    def _end(self, run: int) -> int | None:
        """The end of a run that was met."""
        found = self._recent.get(run)
        return self._table.get(run) if found is None else found

    def _met(self, run: int, known: int, end: int, *, is_over: bool) -> int:
        """What to say of a run that was met before, with an end that is known."""
        others = self._others.get(run, set())
        if not is_over or end == known or end in others:
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
        """Whether one of these runs is in it."""
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
    """The runs of a part, listed for whoever knows those of the other parts."""

    def __init__(self) -> None:
        self.runs: Keys = [], []

    def take(self, keys: Sequence[str], ends: Sequence[str]) -> Sequence[int]:
        """List them all."""
        self.runs[0].extend(keys)
        self.runs[1].extend(ends)
        return ()


class Once:
    """Leaves out what was read of runs that were met before."""

    def __init__(self, run: Run, met: Met) -> None:
        self._run, self._met = run, met
        self._names: Names = ()
        self._keys: Callable[[RecordBatch], Keys] = _untold

    def take(self, found: Stretch) -> Stretch:
        """What was found, without them, and with what is to say."""
        keys: list[str] = []
        ends: list[str] = []
        places: list[int] = []
        for batch in found.batches:
            if batch.names is not self._names:
                self._names, self._keys = batch.names, _reader(self._run, batch.names)
            more = self._keys(batch)
            keys += more[0]
            ends += more[1]
            places += batch.places
        if not places:
            return found
        if len(found.batches) > 1:  # the first of two is the one that stands first
            order = sorted(range(len(places)), key=places.__getitem__)
            keys, ends = [keys[at] for at in order], [ends[at] for at in order]
            places = [places[at] for at in order]
        verdicts = self._met.take(keys, ends)
        return _without(found, dict(zip(places, verdicts, strict=True))) if verdicts else found


def _without(found: Stretch, verdicts: Mapping[int, int]) -> Stretch:
    instead: dict[int, list[Skipped | Noted]] = {}
    behind: dict[int, Noted] = {}
    for batch in found.batches:
        for at, (place, line) in enumerate(zip(batch.places, batch.lines, strict=True)):
            if verdicts[place] == TWICE:
                note = Noted(line, _TWICE, once=True, severity=Severity.NOTICE)
                instead[place] = [*batch.skipped(at, AGAIN), note]
            elif verdicts[place] == CHANGED:
                behind[place] = Noted(line, _CHANGED, once=True, severity=Severity.NOTICE)
    return found.replaced(instead, behind)


def _untold(batch: RecordBatch) -> Keys:
    """The keys of records that do not tell their run."""
    return [""] * len(batch.lines), [""] * len(batch.lines)


def _reader(run: Run, names: Names) -> Callable[[RecordBatch], Keys]:
    """What reads the keys of records with these names."""
    places = [names.index(name) for name in (*run.of, run.submit, run.start) if name in names]
    submit, start, end = (_place(names, name) for name in (run.submit, run.start, run.end))
    ended = _texts(end)
    if NEVER in names or start is None:
        if submit is None:
            return _untold
        return lambda batch: (
            [_whole(batch, at, submit) for at in range(len(batch.lines))],
            ended(batch),
        )

    def read(batch: RecordBatch) -> Keys:
        told = zip(*(batch.columns[place] for place in places), strict=True)
        keys = [*map(_SEPARATOR.join, told)]
        starts = batch.columns[start]
        if not _NOTHING.isdisjoint(starts):
            for at, text in enumerate(starts):
                if text in _NOTHING:
                    keys[at] = _whole(batch, at, submit)
        return keys, ended(batch)

    return read


def _place(names: Names, name: str) -> int | None:
    return names.index(name) if name in names else None


def _texts(place: int | None) -> Callable[[RecordBatch], list[str]]:
    """What gives a column, "" where there is none."""
    if place is None:
        return lambda batch: [""] * len(batch.lines)
    return lambda batch: [*batch.columns[place]]


def _whole(batch: RecordBatch, at: int, submit: int | None) -> str:
    """All that a record of a job that did not begin says, if it says when it was submitted."""
    if submit is None or batch.columns[submit][at] in _NOTHING:
        return ""
    fields = (column[at] for column in batch.columns)
    texts: Iterable[Any] = (text for text in fields if text.__class__ is str)
    return _SEPARATOR.join((NEVER, *texts))
