"""Slurm: what ``sacct --parsable2`` prints, with any columns in any order, becomes job objects.

The rows of one job follow each other: the allocation, then its steps. Steps are folded into their
job and kept as its task groups. The mapping is ``slurm_table``; here rows are gathered into jobs.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, BinaryIO, Generic, TypeVar, cast

from sssjob.errors import InvalidValue, Severity
from sssjob.records.clock import Clock
from sssjob.records.cuts import CUT_SHORT, Found
from sssjob.records.head import first_line
from sssjob.records.layout import Layout, no_pieces
from sssjob.records.layout import table as mapping
from sssjob.records.lines import clean
from sssjob.records.plan import Odd
from sssjob.records.record import Bad, Converted, Noted, Options, Outcome, Skipped
from sssjob.records.roads import Road
from sssjob.systems.slurm.accounting import table
from sssjob.systems.slurm.accounting.header import JOB_ID, Header
from sssjob.systems.slurm.accounting.jobs import GOES_ON, Maker
from sssjob.systems.slurm.accounting.lines import DELIMITERS, Reader, Row
from sssjob.systems.slurm.accounting.parts import Cutter
from sssjob.systems.slurm.accounting.steps import NO_SUMS, Places, Total

P = TypeVar("P")
J = TypeVar("J")

COLUMNS = table.COLUMNS

STEP_LIMIT = 100_000  # steps of one job that are kept; all of them are summed

_converted = tuple.__new__  # what Converted(...) calls in the end, without a call in between
_ID_COLUMN = re.compile(r"JobID(?:Raw)?(?:%[0-9]+)?")
_WAITING_STEPS = 1024  # steps of one job that wait for being made into task groups


def records(
    stream: BinaryIO, options: Options, road: Road[P, J], first: int
) -> Iterator[Outcome[J]]:
    """What becomes of each record of a stream, in its order; memory holds few jobs at a time.

    Raises ``UnusableInput`` where there is no header line and no columns are named, and
    ``InvalidValue`` for an unknown zone.
    """
    reader = Reader(COLUMNS, options.columns, options.delimiter, first)
    clock = Clock(options.zone)
    gathering: Gathering[P, J] | None = None
    for header, batch in reader.batches(stream):
        found: list[Outcome[J]] = []
        if gathering is None or gathering.header is not header:
            if gathering is not None:
                found += gathering.close()
            gathering = Gathering(header, clock, options, road)
        found += gathering.take(batch)
        yield from clock.assumption(batch[0].line if batch else 0)
        yield from found
    if gathering is not None:
        found = gathering.close()
        yield from clock.assumption(0)
        yield from found
    if reader.cut_short:
        yield Noted(reader.cut_short, CUT_SHORT)


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it has a header of sacct's, or ""."""
    line = clean(first_line(head, b"#"), DELIMITERS.encode()).removeprefix("\ufeff")
    first = re.match("[A-Za-z]+", line)
    if first is None or "JobID" not in line:
        return ""
    # Between two names of columns stands what delimits them.
    rest = line[first.end() :].removeprefix("%")
    delimiter = re.match(r"[0-9]*([^A-Za-z0-9%]{1,8})", rest)
    names = line.split(delimiter[1]) if delimiter else [line]
    found = any(_ID_COLUMN.fullmatch(name) for name in names)
    return "a header line with JobID" if found else ""


_Found = Row | Skipped | Bad


class _Open(Generic[P, J]):
    """The job whose rows are being read: its allocation, and what its steps have told so far."""

    __slots__ = (
        "early",
        "groups",
        "id",
        "lines",
        "more",
        "notes",
        "row",
        "steps",
        "total",
    )

    def __init__(self, row: Row, id: str) -> None:
        self.row, self.id = row, id
        self.lines: dict[str, int] = {}
        self.steps: list[tuple[Row, str]] = []  # that are not yet made into groups
        self.groups: list[P] = []
        self.total: Total | None = None
        self.notes: list[Noted] = []
        self.more = 0  # steps beyond the limit
        self.early: Outcome[J] | None = None  # what would have become of it at the limit


class Gathering(Generic[P, J]):
    """Gathers rows that share a header into jobs."""

    def __init__(self, header: Header, clock: Clock, options: Options, road: Road[P, J]) -> None:
        self.header = header
        self._options = options
        self._nothing, self._join = road.nothing, road.join
        self._make = Maker(header, clock, road)
        self._places = Places(header)
        self._clock = clock
        self._open: _Open[P, J] | None = None
        self._told = False

    def take(self, batch: Sequence[_Found]) -> list[Outcome[J]]:
        """Take the next rows: allocations, and steps of the job before them."""
        return self._noticed(self._taken(batch))

    def close(self) -> list[Outcome[J]]:
        """What becomes of the last job, and of its steps."""
        now, self._open = self._open, None
        return [] if now is None else self._noticed(self._merged([now], []))

    def _noticed(self, found: list[Outcome[J]]) -> list[Outcome[J]]:
        """The same, with what is to say once of all rows."""
        line = self._make.truncated
        if not line or self._told:
            return found
        self._told = True
        return [*found, Noted(line, GOES_ON, once=True, severity=Severity.NOTICE)]

    def _taken(self, batch: Sequence[_Found]) -> list[Outcome[J]]:
        key = self.header.key
        head = 0  # steps of the job that is open
        while head < len(batch) and isinstance(row := batch[head], Row) and "." in row.fields[key]:
            head += 1
        found = self._one_by_one(batch[:head]) if head else []
        batch = batch[head:]
        if (fast := self._whole_jobs(batch)) is not None:
            more, batch = fast
            found += more
        return found + self._one_by_one(batch) if batch else found

    def _one_by_one(self, batch: Sequence[_Found]) -> list[Outcome[J]]:
        key = self.header.key
        done: list[_Open[P, J]] = []
        beside: list[tuple[int, Outcome[J]]] = []  # outcomes that follow so many jobs
        now = self._open
        for row in batch:
            if not isinstance(row, Row):
                if now is not None:
                    done.append(now)
                    now = None
                beside.append((len(done), row))
                continue
            id = row.fields[key]
            if now is not None and "." in id:
                job, step = _parted(id)
                if step and now.id == job:
                    for outcome in self._add(now, row, step):
                        beside.append((len(done), outcome))
                    continue
            if now is not None:
                done.append(now)
            now = _Open(row, id)
        self._open = now
        return self._merged(done, beside)

    def _whole_jobs(
        self, batch: Sequence[_Found]
    ) -> tuple[list[Outcome[J]], Sequence[_Found]] | None:
        """What becomes of jobs of which all rows are there, and the rows behind them.

        None where it takes looking at the rows one by one; nothing has happened then.
        """
        if self._options.ended_only or self._clock.twice:
            return None
        rows = [
            row
            for row in batch
            if isinstance(row, Row) and not (row.joined and row.joined.in_doubt)
        ]
        if len(rows) < len(batch):
            return None
        now = self._open
        is_first = now is not None and not now.lines and not _is_doubtful(now.row)
        if now is not None and is_first:
            rows.insert(0, now.row)
        key = self.header.key
        fields = [row.fields for row in rows]
        ids = [texts[key] for texts in fields]
        spans = _spans(ids)
        if spans is None or len(spans) < 2:
            return None
        last, _ = spans.pop()
        try:
            sums = self._places.sums(fields, spans)
        except InvalidValue:
            return None
        if sums is None:
            return None
        notes: dict[int, list[Noted]] = {}  # by the place of the job
        for at, row in _joined_rows(rows[:last], spans):
            notes.setdefault(at, []).extend(self._make.joined(row))
        groups = self._groups(rows[:last], ids, spans, notes)
        own = [rows[begin] for begin, _ in spans]
        made = self._make.jobs(own, sums, groups)
        if self._clock.twice or any(isinstance(job, InvalidValue) for job in made):
            return None
        before = [] if now is None or is_first else self._merged([now], [])
        self._open = _Open(rows[last], ids[last])
        steps = [end - begin - 1 for begin, end in spans]
        told = zip([row.line for row in own], made, steps, strict=True)
        if notes or any(isinstance(job, Odd) for job in made):
            for at, (line, job, count) in enumerate(told):
                before += _with_notes(line, job, count, notes.get(at, ()))
        else:
            before += map(_converted, repeat(Converted), told)
        return before, rows[last + 1 :]

    def _groups(
        self, rows: Sequence[Row], ids: Sequence[str], spans: Sequence[tuple[int, int]],
        notes: dict[int, list[Noted]],
    ) -> list[P]:  # fmt: skip
        """The task groups of many jobs; what there is to say of them is put with ``notes``.

        Steps that are not kept are not read: what they tell of their job is summed elsewhere.
        """
        if len(spans) == len(rows) or not self._options.steps:
            return [self._nothing] * len(spans)
        inner = [place for begin, end in spans for place in range(begin + 1, end)]
        made = self._make.groups(
            [rows[place] for place in inner], [ids[place].partition(".")[2] for place in inner]
        )
        if any(isinstance(group, Odd) for group in made):
            jobs = [job for job, (begin, end) in enumerate(spans) for _ in range(begin + 1, end)]
            for at, (job, place) in enumerate(zip(jobs, inner, strict=True)):
                group = made[at]
                if isinstance(group, Odd):
                    made[at], remarks = group
                    notes.setdefault(job, []).extend(_noted(rows[place].line, remarks))
        groups = cast(list[P], made)
        found, at = [], 0
        for begin, end in spans:
            count = end - begin - 1
            found.append(self._join(groups[at : at + count]) if count else self._nothing)
            at += count
        return found

    def _merged(
        self, done: Sequence[_Open[P, J]], beside: Sequence[tuple[int, Outcome[J]]]
    ) -> list[Outcome[J]]:
        found: list[Outcome[J]] = []
        others = iter((*beside, (len(done) + 1, None)))
        place, other = next(others)
        for number, (now, outcome) in enumerate(zip(done, self._outcomes(done), strict=True)):
            while place <= number and other is not None:
                found.append(other)
                place, other = next(others)
            found.append(outcome)
            if not isinstance(outcome, Converted):
                found += _unfolded(outcome, now)
                found += self._make.joined(now.row)
            elif now.notes or now.row.joined or self._clock.twice:
                found += self._make.joined(now.row)
                found += self._make.doubts(now.row)
                found += dict.fromkeys(now.notes)  # a column may be read for two ends
                found += self._make.twice(now.row)
        while other is not None:
            found.append(other)
            place, other = next(others)
        return found

    def _add(self, now: _Open[P, J], row: Row, step: str) -> Sequence[Outcome[J]]:
        """Fold a step into its job."""
        if step in now.lines:
            return (Bad(row.line, f"step {now.id}.{step} a second time"),)
        if len(now.lines) >= STEP_LIMIT:
            return tuple(self._count(now, row, step))
        now.lines[step] = row.line
        now.notes += self._make.joined(row)
        self._sum(now, row, step)
        if self._options.steps:
            now.steps.append((row, step))
            if len(now.steps) >= _WAITING_STEPS:
                self._group([now])
        return ()

    def _sum(self, now: _Open[P, J], row: Row, step: str) -> None:
        now.total = now.total or Total(self._places)
        now.total.add_step(row.line, row.fields, step)

    def _count(self, now: _Open[P, J], row: Row, step: str) -> Iterator[Outcome[J]]:
        """Sum up a step beyond the limit; it cannot make the job a bad one."""
        if now.early is None:
            (now.early,) = self._outcomes([now])
        if not isinstance(now.early, Converted):
            yield _lost(now.early, row.line, f"{now.id}.{step}")
            return
        now.notes += self._make.joined(row)
        self._sum(now, row, step)
        now.more += 1
        if now.more == 1 and self._options.steps:
            text = f"job {now.id} has more than {STEP_LIMIT} steps: the rest is only summed"
            now.notes.append(Noted(row.line, text))

    def _group(self, opens: Sequence[_Open[P, J]]) -> None:
        """Make the steps that wait into task groups, those of many jobs at once."""
        steps = [(now, row, step) for now in opens for row, step in now.steps]
        if not steps:
            return
        made = self._make.groups([row for _, row, _ in steps], [step for _, _, step in steps])
        for (now, row, _), group in zip(steps, made, strict=True):
            if isinstance(group, Odd):
                group, remarks = group
                now.notes += _noted(row.line, remarks)
            now.groups.append(group)
            now.notes += self._make.doubts(row, step=True)
        for now in opens:
            now.steps.clear()

    def _outcomes(self, done: Sequence[_Open[P, J]]) -> list[Outcome[J]]:
        """What becomes of allocations."""
        self._group([now for now in done if now.steps])
        refused = [self._refused(now) for now in done]
        whole = [now for now, outcome in zip(done, refused, strict=True) if outcome is None]
        made = iter(
            self._make.jobs(
                [now.row for now in whole],
                [self._summed(now) for now in whole],
                [self._join(now.groups) if now.groups else self._nothing for now in whole],
            )
        )
        return [
            outcome or self._outcome(now, next(made))
            for now, outcome in zip(done, refused, strict=True)
        ]

    def _outcome(self, now: _Open[P, J], job: J | Odd[J] | InvalidValue) -> Outcome[J]:
        """What became of an allocation; what there is to say of it is put with its notes."""
        line = now.row.line
        if isinstance(job, InvalidValue):
            return Bad(line, str(job))
        if isinstance(job, Odd):
            job, remarks = job
            now.notes += _noted(line, remarks)
        if now.total is not None and (lost := now.total.lost()):
            # The task group of a step tells what is wrong with the columns that it has.
            told = set(now.lines.values()) if self._options.steps else set()
            now.notes += (
                Noted(one.line, str(one), once=True)
                for one in lost
                if not (one.line in told and one.column in self._make.step_columns)
            )
        return Converted(line, job, len(now.lines) + now.more)

    def _refused(self, now: _Open[P, J]) -> Outcome[J] | None:
        """What becomes of an allocation that cannot be a job, or is not wanted as one."""
        line, id = now.row.line, now.id
        if not JOB_ID.fullmatch(id):
            return Bad(line, f"{id[:60]!r} is no job id")
        if "." in id and _parted(id)[1]:
            return Bad(line, f"step {id} without its job before it")
        if self._options.ended_only and not self._make.ended(now.row):
            return Skipped(line, "not ended")
        if now.early is None and (now.total or self._places.any(now.row.fields)):
            now.total = now.total or Total(self._places)
            now.total.add_allocation(line, now.row.fields)
        return None

    def _summed(self, now: _Open[P, J]) -> Sequence[Any]:
        return NO_SUMS if now.total is None else now.total.texts()


def _is_doubtful(row: Row) -> bool:
    return row.joined is not None and bool(row.joined.in_doubt)


def _joined_rows(
    rows: Sequence[Row], spans: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, Row]]:
    """The rows that were joined of several lines, with the places of their jobs."""
    begins = [begin for begin, _ in spans]
    for place, row in enumerate(rows):
        if row.joined is not None:
            yield bisect_right(begins, place) - 1, row


def _with_notes(
    line: int, job: J | Odd[J] | InvalidValue, steps: int, notes: Iterable[Noted]
) -> Iterator[Outcome[J]]:
    """What becomes of a job that was made, and what there is to say of it and of its steps."""
    assert not isinstance(job, InvalidValue)
    remarks: tuple[str, ...] = ()
    if isinstance(job, Odd):
        job, remarks = job
    yield Converted(line, job, steps)
    yield from dict.fromkeys((*notes, *_noted(line, remarks)))


def _noted(line: int, remarks: Iterable[str]) -> Iterator[Noted]:
    return (Noted(line, remark, once=True) for remark in remarks)


def _unfolded(outcome: Outcome[J], now: _Open[P, J]) -> Iterator[Outcome[J]]:
    """What becomes of the steps of a job that is not converted."""
    for step, line in now.lines.items():
        yield _lost(outcome, line, f"{now.id}.{step}")


def _lost(outcome: Outcome[J], line: int, id: str) -> Outcome[J]:
    if isinstance(outcome, Skipped):
        return Skipped(line, outcome.reason)
    return Bad(line, f"step {id} of a job whose record is bad")


def _spans(ids: Sequence[str]) -> list[tuple[int, int]] | None:
    """Where the rows of each job begin and end; None where an id is none or in no usual place."""
    if not all(map(JOB_ID.fullmatch, ids)) or "[" in "".join(ids):
        return None
    begins = [place for place, id in enumerate(ids) if "." not in id]
    if not begins or begins[0]:
        return None
    spans = list(zip(begins, [*begins[1:], len(ids)], strict=True))
    for begin, end in spans:
        if end - begin > 1:
            job = ids[begin] + "."
            steps = ids[begin + 1 : end]
            if len(set(steps)) < len(steps) or not all(id.startswith(job) for id in steps):
                return None
    return spans


def _parted(text: str) -> tuple[str, str]:
    """An id's job and step; the dots of a list that was cut (``1_[1,4,...]``) name no step."""
    job, _, step = text.partition(".")
    return (text, "") if "[" in text else (job, step)


LAYOUT = Layout(
    type="Slurm",
    cut=Found(lambda stream, first: (), Cutter),
    reader=no_pieces,
    rows=mapping(()),
    gathered=records,
    recognises=recognises,
)
