"""Slurm: what ``sacct --parsable2`` prints, with any columns in any order, becomes job objects.

The rows of one job follow each other: the allocation, then its steps. Steps are folded into their
job and kept as its task groups. The mapping is ``table``; here rows are folded into jobs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, repeat
from operator import attrgetter
from typing import Any, BinaryIO, Generic, TypeVar

from sssjob.records.cuts import cut_short
from sssjob.records.cutting import Cutter
from sssjob.records.layout import KnownColumns, Layout, Names, Piece, RecordBatch, RunKey, Stretch
from sssjob.records.lines import clean, first_line
from sssjob.records.making import Plans
from sssjob.records.plan import Odd
from sssjob.records.record import Bad, Noted, Options, of_bad
from sssjob.systems.slurm.accounting import table
from sssjob.systems.slurm.accounting.header import JOB_ID, are_job_ids
from sssjob.systems.slurm.accounting.headers import DELIMITERS
from sssjob.systems.slurm.accounting.jobs import RowColumns, truncated_end
from sssjob.systems.slurm.accounting.lines import RowRun, SacctRow, TableReader
from sssjob.systems.slurm.accounting.parts import TableCutter
from sssjob.systems.slurm.accounting.readers import TYPE
from sssjob.systems.slurm.accounting.steps import StepValues, Summed
from sssjob.systems.slurm.unset import NO_VALUE

P = TypeVar("P")
J = TypeVar("J")

STEP_LIMIT = 100_000  # steps of one job that are kept; all of them are summed

_ID_COLUMN = re.compile(r"JobID(?:Raw)?(?:%[0-9]+)?")


@dataclass(frozen=True, slots=True)
class _SacctTable:
    """Pieces that are rows of a table with a header line, or with columns that are named."""

    cutter: type[Cutter] | None = TableCutter

    def batches(self, stream: BinaryIO, first: int, options: Options) -> Iterator[Sequence[Piece]]:
        """The rows, as many at once as a block has."""
        reader = TableReader(table.COLUMNS, options, first)
        yield from reader.batches(stream)
        yield cut_short(reader.cut_short, doubts=reader.may_end_in_step)


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it has a header of sacct's, or ""."""
    line = clean(first_line(head, b"#"), DELIMITERS.encode())
    first = re.match("[A-Za-z]+", line)
    if first is None or "JobID" not in line:
        return ""
    # Between two names of columns stands what delimits them.
    rest = line[first.end() :].removeprefix("%")
    delimiter = re.match(r"[0-9]*([^A-Za-z0-9%]{1,8})", rest)
    names = line.split(delimiter[1]) if delimiter else [line]
    found = any(_ID_COLUMN.fullmatch(name) for name in names)
    return "a header line with JobID" if found else ""


class RowFolding:
    """Folds rows: an allocation and the steps behind it are one job."""

    def folder(self, options: Options, plans: Plans[Any, Any]) -> _SacctFolder[Any, Any]:
        """What folds the rows of a stream."""
        return _SacctFolder(options, plans)


class _OpenJob(Generic[P]):
    """A job whose rows are being read: its allocation, and what its steps have told so far."""

    __slots__ = ("id", "notes", "row", "steps")

    def __init__(self, row: SacctRow, id: str) -> None:
        self.row = row
        self.id = id
        self.steps: _Steps[P] | None = None
        self.notes: tuple[Noted, ...] = ()

    def wrong(self) -> str:
        """Why it is no job, or ""."""
        if not JOB_ID.fullmatch(self.id):
            return f"{self.id[:60]!r} is no job id"
        if "." in self.id and _parted(self.id)[1]:
            return f"step {self.id} without its job before it"
        return ""


class _Steps(Collection[tuple[int, str]], Generic[P]):
    """The steps of a job: the lines of those that are kept, with their groups, and of others."""

    __slots__ = ("beyond", "groups", "job", "lines")

    def __init__(self, job: str) -> None:
        self.job = job
        self.lines: dict[str, int] = {}
        self.beyond: list[int] = []
        self.groups: list[P] = []

    def __len__(self) -> int:
        return len(self.lines) + len(self.beyond)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        for step, line in self.lines.items():
            yield line, f"step {self.job}.{step}"
        for line in self.beyond:
            yield line, f"step of {self.job}"

    def __contains__(self, item: object) -> bool:
        return item in tuple(self)


class _SacctFolder(Generic[P, J]):
    """Folds rows into the records of jobs; rows with other names belong to no job before."""

    def __init__(self, options: Options, plans: Plans[P, J]) -> None:
        self._options, self._plans = options, plans
        self._nothing, self._join = plans.builder.nothing, plans.builder.join
        self._begin(())

    def _begin(self, names: Names) -> None:
        self._names = names
        self._columns = RowColumns(names, self._plans)
        self._summed = Summed(names)
        self._open: _OpenJob[P] | None = None
        self._told: StepValues | None = None  # what the rows of the open job told

    def take(self, found: Sequence[Any]) -> Stretch:
        """Take the next rows: allocations, and steps of the job before them."""
        names = next(
            (row.names for row in found if isinstance(row, SacctRow | RowRun)), self._names
        )
        before = Stretch(())
        if names is not self._names:
            before = self.close()
            self._begin(names)
        runs = [each for each in found if _is_run(each)]
        told = self._columns.of_runs(runs, self._summed) if runs else []
        if told is None:  # times that happened twice, which need each row
            found = [*chain(*(each.rows() if _is_run(each) else [each] for each in found))]
            runs = []
        some = self._taken(found)
        return before.then(_with_runs(some, told or []) if runs else some)

    def _taken(self, found: Sequence[Any]) -> Stretch:
        rows = _RowsByJob(self._open)
        rows.take(found, self._columns.key)
        self._open = rows.now
        before = self._told if rows.before is not None else None
        told = self._summed.read(rows.rows, rows.parts, before)
        if before is not None:
            told = before.then(told)
        self._group(rows)
        spans = rows.spans(len(told.parts))
        self._told = told.rows(*spans.pop()) if rows.now is not None else None
        return self._known(rows.done, told, spans)

    def close(self) -> Stretch:
        """The last job, with its steps."""
        now, self._open = self._open, None
        if now is None or self._told is None:
            return Stretch(())
        return self._known([now], self._told, [(0, len(self._told.parts))])

    def _group(self, rows: _RowsByJob[P]) -> None:
        """Make the steps of a batch that are kept into task groups of their jobs."""
        for now, row in rows.joined:
            now.notes = *now.notes, *self._columns.joined(row)
        if not rows.steps or not self._options.steps:
            return
        steps = [step for *_, step in rows.steps]
        made, truncated = self._columns.groups([row for _, row, _ in rows.steps], steps)
        for at in truncated:
            now, row, _ = rows.steps[at]
            now.notes = *now.notes, truncated_end(row.line)
        for (now, row, _), group in zip(rows.steps, made, strict=True):
            if isinstance(group, Odd):
                group, remarks = group
                now.notes = *now.notes, *_noted(row.line, remarks)
            assert now.steps is not None
            now.steps.groups.append(group)
            if row.joined is not None:
                now.notes = *now.notes, *self._columns.doubts(row, step=True)

    def _known(
        self, done: Sequence[Any], told: StepValues, spans: Sequence[tuple[int, int]]
    ) -> Stretch:
        """Jobs as records, and what stands between them as it is."""
        jobs = [item for item in done if item.__class__ is _OpenJob]
        wrong = {} if _are_jobs(jobs) else {now: why for now in jobs if (why := now.wrong())}
        if not wrong and len(jobs) == len(done) and not any(now.row.joined for now in jobs):
            return Stretch(jobs, self._batches(jobs, range(len(jobs)), told, spans))
        items: list[Any] = []
        places: list[int] = []
        for item in done:
            if item.__class__ is not _OpenJob:
                items.append(item)
                continue
            if item.row.joined is not None:  # before what is said of its steps
                items += self._columns.joined(item.row)
            if item in wrong:
                items += [Bad(item.row.line, wrong[item]), *of_bad(item.steps or ())]
            else:
                places.append(len(items))
                items.append(item)
        if wrong:
            pairs = zip(jobs, spans, strict=True)
            spans = [span for now, span in pairs if now not in wrong]
            jobs = [now for now in jobs if now not in wrong]
        return Stretch(items, self._batches(jobs, places, told, spans))

    def _batches(
        self, jobs: Sequence[_OpenJob[P]], places: Sequence[int], told: StepValues,
        spans: Sequence[tuple[int, int]],
    ) -> list[RecordBatch]:  # fmt: skip
        rows = [now.row for now in jobs]
        steps = [now.steps for now in jobs]
        have_steps = steps.count(None) < len(steps)
        return self._columns.batches(
            rows, places, told.sums(spans),
            [self._join(each.groups) if each else self._nothing for each in steps]
            if have_steps else (),
            self._notes(jobs, told, spans),
            [() if each is None else each for each in steps] if have_steps else (),
        )  # fmt: skip

    def _notes(
        self, jobs: Sequence[_OpenJob[P]], told: StepValues, spans: Sequence[tuple[int, int]]
    ) -> Sequence[tuple[Noted, ...]]:
        """What there is to say of each job; nothing where that is nothing of any."""
        are_told = [
            bool(told.lost or now.notes or now.row.joined)
            or (now.steps is not None and bool(now.steps.beyond))
            for now in jobs
        ]
        if True not in are_told:
            return ()
        return [
            self._notes_of(now, told, span) if is_told else ()
            for now, span, is_told in zip(jobs, spans, are_told, strict=True)
        ]

    def _notes_of(
        self, now: _OpenJob[P], told: StepValues, span: tuple[int, int]
    ) -> tuple[Noted, ...]:
        """What there is to say of a job if it becomes one."""
        steps = now.steps if self._options.steps else None
        notes = [*self._columns.doubts(now.row), *now.notes]
        if steps is not None and steps.beyond:
            text = f"job {now.id} has more than {STEP_LIMIT} steps: the rest is only summed"
            notes.append(Noted(steps.beyond[0], text))
        if told.lost:
            # The task group of a step tells what is wrong with the columns that it has.
            groups = set(steps.lines.values()) if steps else set()
            notes += (
                Noted(one.line, str(one), once=True)
                for one in told.lost_of(*span)
                if not (one.line in groups and one.column in self._columns.step_columns)
            )
        return tuple(sorted(notes, key=attrgetter("line")))  # in the order of the file


class _RowsByJob(Generic[P]):
    """Rows by their jobs: ``now`` is the one of which more may come, ``before`` was so before.

    ``rows`` are those of jobs one after the other, with their ``parts``: steps, or "" for a job.
    ``done`` are jobs, and between them what is no row.
    """

    def __init__(self, before: _OpenJob[P] | None) -> None:
        self.before = self.now = before
        self.done: list[Any] = []
        self.rows: list[SacctRow] = []
        self.parts: list[str] = []
        self.steps: list[tuple[_OpenJob[P], SacctRow, str]] = []
        self.joined: list[tuple[_OpenJob[P], SacctRow]] = []
        self._begins: list[int] = [] if before is None else [0]

    def take(self, found: Sequence[Any], key: int) -> None:
        """Take the next rows, and what stands between them: behind it no job goes on."""
        for are_rows, some in groupby(found, lambda each: each.__class__ is SacctRow):
            if are_rows:
                self._take_rows([*some], key)
                continue
            if self.now is not None:
                self.done.append(self.now)
                self.now = None
            self.done += some

    def _take_rows(self, batch: Sequence[SacctRow], key: int) -> None:
        ids = [row.fields[key] for row in batch]
        # Steps of the job that is open come first; behind them jobs begin.
        head = next((place for place, id in enumerate(ids) if "." not in id), len(ids))
        self._one_by_one(batch[:head], key)
        if not self._whole_jobs(batch[head:], ids[head:]):
            self._one_by_one(batch[head:], key)

    def _one_by_one(self, batch: Sequence[SacctRow], key: int) -> None:
        now, rows, parts = self.now, self.rows, self.parts
        for row in batch:
            id = row.fields[key]
            if "." in id and now is not None:
                job, step = _parted(id)
                if step and now.id == job:
                    self._step(now, row, step)
                    continue
            if now is not None:
                self.done.append(now)
            now = _OpenJob(row, id)
            self._begins.append(len(rows))
            rows.append(row)
            parts.append("")
        self.now = now

    def _whole_jobs(self, batch: Sequence[SacctRow], ids: Sequence[str]) -> bool:
        """Take rows all at once, of which the first is of a job, if each step is of its job."""
        told = "".join(ids)
        if not ids or "[" in told:
            return not ids
        if "." not in told:  # there are no steps
            self._add([*map(_OpenJob, batch, ids)], range(len(ids)), batch, [""] * len(ids))
            return True
        begins = [place for place, id in enumerate(ids) if "." not in id]
        opened: list[_OpenJob[P]] = [_OpenJob(batch[place], ids[place]) for place in begins]
        steps: list[tuple[_OpenJob[P], SacctRow, str]] = []
        parts = [""] * len(ids)
        for now, begin, end in zip(opened, begins, [*begins[1:], len(ids)], strict=True):
            if end - begin == 1:
                continue
            job, inner = f"{now.id}.", batch[begin + 1 : end]
            names = [id.removeprefix(job) for id in ids[begin + 1 : end]]
            now.steps = _Steps(now.id)
            now.steps.lines = {step: row.line for step, row in zip(names, inner, strict=True)}
            is_fit = "" not in names and len(now.steps.lines) == len(names) <= STEP_LIMIT
            if not is_fit or not all(id.startswith(job) for id in ids[begin + 1 : end]):
                return False
            parts[begin + 1 : end] = names
            steps += zip(repeat(now), inner, names)
        self._add(opened, begins, batch, parts)
        self.steps += steps
        self.joined += [(now, row) for now, row, _ in steps if row.joined is not None]
        return True

    def _add(
        self, opened: list[_OpenJob[P]], begins: Sequence[int], batch: Sequence[SacctRow],
        parts: Sequence[str],
    ) -> None:  # fmt: skip
        """Take jobs with their rows, of which the last may go on."""
        if self.now is not None:
            self.done.append(self.now)
        self.now = opened.pop()
        self.done += opened
        self._begins += [len(self.rows) + begin for begin in begins]
        self.rows += batch
        self.parts += parts

    def spans(self, size: int) -> list[tuple[int, int]]:
        """Where the rows of each job begin and end, among so many with those from before."""
        first = 0 if self.before is None else 1
        earlier = size - len(self.rows)
        begins = [*self._begins[:first], *(begin + earlier for begin in self._begins[first:])]
        return list(zip(begins, [*begins[1:], size], strict=False))

    def _step(self, now: _OpenJob[P], row: SacctRow, step: str) -> None:
        if now.steps is None:
            now.steps = _Steps(now.id)
        steps = now.steps
        if step in steps.lines:
            self.done.append(Bad(row.line, f"step {now.id}.{step} a second time"))
            return
        self.rows.append(row)
        self.parts.append(step)
        if len(steps.lines) < STEP_LIMIT:
            steps.lines[step] = row.line
            self.steps.append((now, row, step))
        else:
            steps.beyond.append(row.line)
        if row.joined is not None:
            self.joined.append((now, row))


def _is_run(found: Any) -> bool:
    return found.__class__ is RowRun


def _with_runs(found: Stretch, told: Sequence[RecordBatch]) -> Stretch:
    """The same with the records of runs, where these stand among the items."""
    items: list[Any] = []
    moved: list[int] = []
    places: list[int] = []
    for item in found.items:
        moved.append(len(items))
        if _is_run(item):
            places += range(len(items), len(items) + item.size)
            items += [None] * item.size
        else:
            items.append(item)
    batches = [
        batch._replace(places=[new[at] for at in batch.places])
        for new, some in ((moved, found.batches), (places, told))
        for batch in some
    ]
    return Stretch(items, batches, [moved[at] for at in found.made])


def _are_jobs(opened: Sequence[_OpenJob[Any]]) -> bool:
    """Whether none of them is wrong, which is seen of all ids at once."""
    ids = [now.id for now in opened]
    return "." not in "".join(ids) and are_job_ids(ids)


def _noted(line: int, remarks: Iterable[str]) -> Iterator[Noted]:
    return (Noted(line, remark, once=True) for remark in remarks)


def _parted(text: str) -> tuple[str, str]:
    """An id's job and step; the dots of a list that was cut (``1_[1,4,...]``) name no step."""
    job, _, step = text.partition(".")
    return (text, "") if "[" in text else (job, step)


LAYOUT = Layout(
    type=TYPE,
    cut=_SacctTable(),
    rows=table.rows,
    folding=RowFolding(),
    span=("Start", "End"),
    known=KnownColumns(table.COLUMNS, table.WORKED_OUT, table.NOT_KEPT),
    run=RunKey("Submit", "Start", "End"),
    is_table=True,
    untold=NO_VALUE,
    recognises=recognises,
)
