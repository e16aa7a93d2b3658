"""Records become documents, or records of another kind.

The builder depends on what is wanted: documents are made as text, column by column, without a job
object in between; what needs job objects (other targets, logs of computing elements) gets them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeVar, Union, cast
from urllib.parse import quote

from sssjob import outputs
from sssjob.document import dumps
from sssjob.document import opened as unpacked
from sssjob.document.files import span
from sssjob.document.sources import Files, NamedSource, grouped, is_small, naming
from sssjob.document.text import write_texts
from sssjob.errors import Severity, SSSJobError, UnusableInput
from sssjob.records import find, parts, read_records
from sssjob.records.builders import OBJECTS, TEXTS, Builder
from sssjob.records.cutting import NotAlone, Part, StreamPlace
from sssjob.records.parts import Cutting, Following, Result, StreamRest
from sssjob.records.record import Converted, Noted, Options, Outcome, RecordCounts
from sssjob.records.runs import Knowing, ListedRuns, Met, SeenRuns, probe
from sssjob.verbs.records import RecordReading

if TYPE_CHECKING:
    from sssjob.accounting.grid import Grid
    from sssjob.accounting.writers.writer import OnLoss
    from sssjob.accounting.writers.writer import WriterOptions as Told
    from sssjob.lcginfo.snapshot import Report
    from sssjob.model import Job
    from sssjob.workers import Workers

P = TypeVar("P")
J = TypeVar("J")
R = TypeVar("R")

DOCUMENTS = "sss"  # the format of sources that hold job objects already
WRAPPER = "Jobs"
HEAD, TAIL = f'<?xml version="1.0" encoding="UTF-8"?>\n<{WRAPPER}>\n', f"</{WRAPPER}>\n"
COMMIT = 32  # parts of a growing log after which what was done counts: some seconds' work


class ReadAgain(Exception):
    """What was written has records that do not count: all is to be read a second time."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """Sources of records in one format, how they are read, and by how many processes.

    ``grid`` has the entries of computing elements' logs that jobs are joined with. Runs that
    ``seen`` has met are left out; without it, what is given twice is converted twice. Where that
    has to be read again, ``ReadAgain`` is raised at the end, if the output ``can_begin_anew``.
    Parts for several processes are up to so many times ``larger`` than the least. Their tasks end
    with the first source that cannot be read, unless each ``goes_on`` behind it.
    """

    sources: Iterable[NamedSource]
    format: str
    options: Options = field(default_factory=Options)
    reading: RecordReading = field(default_factory=RecordReading)
    processes: int = 1
    grid: Grid | None = None
    seen: Knowing | None = field(default_factory=SeenRuns)
    can_begin_anew: bool = False
    larger: int = parts.LARGER
    goes_on: bool = False

    def jobs(self) -> Iterator[Job]:
        """The job objects."""
        yield from self.reading.jobs(self.sources, self.outcomes)
        self.finish()

    def finish(self) -> None:
        """End a reading. Raises ``ReadAgain``."""
        if self.can_begin_anew and isinstance(self.seen, SeenRuns) and self.seen.is_undecided:
            raise ReadAgain

    def outcomes(
        self, stream: BinaryIO, builder: Builder[Any, Any] | None = None
    ) -> Iterator[Outcome[Any]]:
        """What becomes of each record of a stream: job objects, or what a builder makes.

        What is joined with logs becomes job objects.
        """
        if builder is None or self.grid is not None:
            found = read_records(find(self.format), stream, self.options, OBJECTS, self.seen)
            return found if self.grid is None else _joined(found, self.grid)
        return read_records(find(self.format), stream, self.options, builder, self.seen)

    def texts(self) -> Iterator[str]:
        """The documents as text."""

        def read(stream: BinaryIO) -> Iterator[Outcome[str]]:
            return read_records(find(self.format), stream, self.options, TEXTS, self.seen)

        yield from self.reading.jobs(self.sources, read)
        self.finish()

    def parts(self, *, lines: bool) -> Iterator[bytes | memoryview]:
        """The documents by several processes, one on each line, in the order of their records."""
        if self.format == DOCUMENTS:
            from sssjob.verbs import (
                convert_documents,
            )  # slow to import, as all that reads documents

            yield from convert_documents.parts(
                self.sources, self.reading, self.processes, self.seen,
                lines=lines, ended_only=self.options.ended_only,
            )  # fmt: skip
            self.finish()
            return
        for _, result in self.results(self.tasks(), lines=lines):
            yield result.data

    def results(
        self, tasks: Iterable[ConvertTask | Small], *, lines: bool
    ) -> Iterator[tuple[ConvertTask, Result]]:
        """What the parts of streams became; what is to be said of them is told."""
        from sssjob.workers import (  # slow to import; most commands have one process
            PartWork,
            Workers,
        )

        tell, counts, seen = self.reading.tell, self.reading.counts, self.seen
        work = PartWork("sssjob.verbs.convert:converter", (lines, probe() if seen else None))
        again = TEXTS.remembering()
        with Workers[ConvertTask | Small, Answer[Result]](work, self.processes) as workers:
            for task, result in in_turn(workers, tasks):
                if task.sign:
                    tell(task.name, task.noted)
                if seen and task.part and not seen.are_new_in(result.runs):
                    with naming(task.name):
                        result = parts.convert(
                            task.format, task.part, lines=lines, builder=again, met=seen
                        )
                counts.include(result.counts)
                for item in result.remarks:
                    tell(task.name, item)
                yield task, result
        self.finish()

    def tasks(self) -> Iterator[ConvertTask | Small]:
        """The parts of all sources, small files many together."""
        for small, some in groupby(self.sources, is_small):
            if small:
                for files in grouped(some):
                    yield Small(files, self.format, self.options, self.goes_on)
                continue
            for task in self.cut(some, guessed=True):
                yield task
                if task.error is not None and not self.goes_on:
                    return

    def cut(
        self, sources: Iterable[NamedSource], *, guessed: bool = False
    ) -> Iterator[ConvertTask]:
        """The parts of sources, for ``in_turn`` if they may be ``guessed``.

        What cannot be opened or cut is told in its turn.
        """
        for source in sources:
            try:
                with (
                    naming(source.name),
                    self.reading.opening(source) as raw,
                    unpacked(raw) as stream,
                ):
                    file = span(source.given, stream)
                    cutting = Cutting(
                        stream, self.format, self.options,
                        file=file, guessed=guessed, processes=self.processes, larger=self.larger,
                    )  # fmt: skip
                    yield from _tasks(source.name, cutting)
                    if cutting.is_empty:  # the format says what nothing at all is
                        nothing = Part(b"", cutting.place.line, self.options)
                        yield ConvertTask(source.name, cutting.format, nothing, cutting.place)
            except (OSError, SSSJobError) as error:
                yield ConvertTask(source.name, error=error)
                if not self.goes_on:
                    return


@dataclass(frozen=True, slots=True)
class ConvertTask:
    """A part of a source, and what else belongs there: how its format was recognised, an error.

    ``place`` is where the part ends.
    """

    name: str
    format: str = ""
    part: Part | None = None
    place: StreamPlace | None = None
    sign: str = ""
    error: Exception | None = None

    def __str__(self) -> str:
        return f"{self.name}:{self.part.line}" if self.part else self.name

    @property
    def noted(self) -> Noted:
        """By what its format was recognised, for whoever reads."""
        return Noted(1, self.sign, severity=Severity.NOTICE)

    def outcomes(
        self, builder: Builder[P, J], met: Met | None = None
    ) -> Iterator[Outcome[J]]:  # fmt: skip
        """What becomes of each record. Raises what could not be opened or cut."""
        if self.error is not None:
            raise self.error
        if self.part is not None:
            with naming(self.name):
                yield from parts.outcomes(self.format, self.part, builder, met)


class Small(NamedTuple):
    """Small files, and what they are, for a process that opens and cuts them itself."""

    files: Files
    format: str
    options: Options
    goes_on: bool = False

    def __str__(self) -> str:
        return str(self.files)


# What is made of a part, or that it cannot be made of it alone; of small files, of each of their
# parts, up to an error.
Answer = Union[R, NotAlone, list[tuple[ConvertTask, R | None]]]  # noqa: UP007  # a generic alias


def on_tasks(work: Callable[[ConvertTask], R]) -> Callable[[ConvertTask | Small], Answer[R]]:
    """What does some work on parts, and on those of small files, in another process."""

    def on_part(task: ConvertTask) -> R | NotAlone:
        try:
            return work(task)
        except NotAlone as error:
            return error

    def on_small(small: Small) -> list[tuple[ConvertTask, R | None]]:
        found: list[tuple[ConvertTask, R | None]] = []
        conversion = Conversion(
            small.files.sources, small.format, small.options, goes_on=small.goes_on
        )
        for task in conversion.cut(conversion.sources):
            try:
                found.append((task, work(task)))
            except (OSError, SSSJobError) as error:
                found.append((ConvertTask(task.name, error=error), None))
                break
        return found

    return lambda task: on_small(task) if isinstance(task, Small) else on_part(task)


def in_turn(
    workers: Workers[ConvertTask | Small, Answer[R]], tasks: Iterable[ConvertTask | Small]
) -> Iterator[tuple[ConvertTask, R]]:
    """Each part with what was made of it; an error of a small file is raised in its turn.

    Parts that were guessed, and are something else in their stream, are done again here.
    """
    following, again = Following(), None
    answers = workers.in_order(tasks, str)
    for task, found in answers:
        if isinstance(task, ConvertTask):
            is_alone = not isinstance(found, NotAlone)
            if task.part and task.part.is_open and not is_alone:
                again = again or workers.work.made()
                for part in StreamRest(task.format, task.part, _parts_of(answers)):
                    here = replace(task, part=part, place=None)  # nobody knows where it ends
                    yield here, cast(R, again(here))
                continue
            if task.part and (
                mended := following.mended(task.format, task.part, is_alone=is_alone)
            ):
                task = replace(task, part=mended)
                again = again or workers.work.made()
                found = again(task)
            yield task, cast(R, found)
            continue
        for each, made in cast(list[tuple[ConvertTask, R | None]], found):
            if made is None:
                assert each.error is not None
                raise each.error
            yield each, made


def _parts_of(answers: Iterator[tuple[ConvertTask | Small, Any]]) -> Iterator[Part]:
    """The next parts of a source."""
    for task, _ in answers:
        assert isinstance(task, ConvertTask)  # a source that was cut is not small
        if task.part:
            yield task.part


def converter(lines: bool, probed: int | None) -> Callable[[ConvertTask | Small], Answer[Result]]:
    """What makes documents of a part, each on one line with ``lines``.

    Its runs are listed for whom ``probed`` tells of, see ``ListedRuns``.
    """
    builder = TEXTS.remembering()

    def convert(task: ConvertTask) -> Result:
        if task.error is not None:
            raise task.error
        if task.part is None:
            return Result(b"", RecordCounts(), [])
        with naming(task.name):
            met = None if probed is None else ListedRuns(probed)
            return parts.convert(task.format, task.part, lines=lines, builder=builder, met=met)

    return on_tasks(convert)


# What parts become, to be appended.
New = Callable[[Iterator[ConvertTask]], Iterator[tuple[ConvertTask, bytes | memoryview]]]


def _tasks(name: str, cutting: Cutting) -> Iterator[ConvertTask]:
    if cutting.sign:
        yield ConvertTask(name, sign=cutting.sign)
    for part in cutting:
        yield ConvertTask(name, cutting.format, part, cutting.place)


def documents(
    work: Conversion, stream: BinaryIO, *, wrap: bool, indent: bool = False, at_once: bool = False
) -> None:
    """Write a document on each line, or with ``wrap`` one around all.

    One process writes each ``at_once`` where that is asked for; several write many together.
    """
    root = WRAPPER if wrap else ""
    if indent or work.grid is not None:
        printed = (dumps(job, indent=indent) for job in work.jobs())
        write_texts(printed, stream, wrap=root, indent=indent, at_once=at_once)
    elif work.processes == 1:
        write_texts(work.texts(), stream, wrap=root, at_once=at_once)
    else:
        if wrap:
            stream.write(HEAD.encode())
        stream.writelines(work.parts(lines=not wrap))
        if wrap:
            stream.write(TAIL.encode())


class Filed:
    """Documents in a directory, each in a file of its own; whole or not at all."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._runs: dict[str, int] = {}  # how many documents there are of each name of a file

    def write(self, documents: Iterable[tuple[str, bytes]]) -> None:
        """Write documents by their names; of what was written before, only these are left."""
        before, self._runs = self._runs, {}
        self._directory.mkdir(parents=True, exist_ok=True)
        for name, document in documents:
            with outputs.writing(self._path(self._next(name)), follow=False) as stream:
                stream.write(document)
        for name in before.keys() - self._runs.keys():
            self._path(name).unlink(missing_ok=True)

    def _next(self, name: str) -> str:
        """The name of a file that no other document has: ``7``, ``7-2``, ``7-3``."""
        count = self._runs.get(name, 0) + 1
        while count > 1 and f"{name}-{count}" in self._runs:  # the name of another document
            count += 1
        self._runs[name] = count
        if count == 1:
            return name
        self._runs[f"{name}-{count}"] = 1
        return f"{name}-{count}"

    def _path(self, name: str) -> Path:
        return self._directory / f"{name}.xml"


def file_of(job: Job) -> tuple[str, bytes]:
    """The name of a job's file, and what it holds."""
    return file_name(job.id), f"{dumps(job, indent=True)}\n".encode()


def target(work: Conversion, name: str, stream: BinaryIO, told: Told, on_loss: OnLoss) -> None:
    """Write the records of a target format.

    Raises ``ImportError`` for a target whose library is not installed. By several processes:
    ``convert_targets.py``.
    """
    from sssjob.accounting.writers import TARGETS

    writer = TARGETS[name].writer(stream, told, on_loss)
    builder = writer.builder()

    def read(source: BinaryIO) -> Iterator[Outcome[Any]]:
        return writer.through(work.outcomes(source, builder))

    for _ in work.reading.jobs(work.sources, read):
        pass
    work.finish()
    writer.close()


def lrmsinfo(work: Conversion, stream: BinaryIO, report: Report) -> None:
    """Write lines of lrmsinfo; a job that nobody could count is left out, and told."""
    stream.writelines(line.encode() for line in lrms_lines(work.jobs(), report))


def lrms_lines(jobs: Iterable[Job], report: Report) -> Iterator[str]:
    """The lines of lrmsinfo for jobs."""
    from sssjob.lcginfo import lrmsinfo
    from sssjob.lcginfo.jobs import from_blocks

    return map(lrmsinfo.line_of, from_blocks(jobs, report=report))


class Grown(NamedTuple):
    """What is to be said of logs that grow; ``losses`` of what may be missing in the output."""

    remarks: tuple[str, ...]
    losses: tuple[str, ...]


def grown(
    work: Conversion, state_file: Path, output: Path, head: str = "", new: New | None = None,
    tail: str = "", end: str = ">\n",
) -> Grown:  # fmt: skip
    """Append the documents of what is new in growing logs; gives what a person should know.

    What else can be appended to is made by ``new``, between a head and a tail, each record with
    the same ``end``: what has another end was cut. Raises ``OSError``, and ``UnusableInput`` where
    that cannot be done without losing any.
    """
    if work.format == "auto":
        raise UnusableInput("--state needs --from FORMAT: new lines alone may not show it")
    from sssjob.records.state import OPEN, LogsState  # slow to import, by the digests that it keeps

    def documents(tasks: Iterator[ConvertTask]) -> Iterator[tuple[ConvertTask, bytes | memoryview]]:
        return ((task, result.data) for task, result in work.results(tasks, lines=not tail))

    made = new or documents
    state = LogsState.read(state_file)
    paths = [Path(source.name) for source in work.sources]
    state.watch(paths)
    ends = tuple(each.encode() for each in (end, head) if each)
    with state.appending(output, tail.encode(), ends) as stream:
        if not state.output[1]:
            stream.write(head.encode())
        for rest in chain.from_iterable(state.rests(path, paths) for path in paths):
            source = NamedSource(str(rest.path), rest.stream)
            with work.reading.opening(source) as raw, rest.unpacked(raw) as new_bytes:
                cutting = Cutting(
                    new_bytes, work.format, work.options, rest.place, held=rest.held, is_log=True
                )
                done = made(_tasks(source.name, cutting))
                for number, (task, data) in enumerate(done, 1):
                    stream.write(data)
                    if not number % COMMIT and task.place and not rest.packed:
                        state.keep(rest, task.place, OPEN)
                        state.commit(stream)
            state.keep(rest, cutting.place, rest.fate)
        state.end(paths)
    return Grown(tuple(state.remarks), tuple(state.losses))


def file_name(text: str) -> str:
    """An Id as the name of a file, whatever it holds; a long one is cut and told by a digest.

    >>> file_name("PBS.1234.0"), file_name("../etc/passwd"), file_name(".x")
    ('PBS.1234.0', '%2E.%2Fetc%2Fpasswd', '%2Ex')
    """
    name = quote(text, safe="[]@+,=")
    if name.startswith("."):
        name = f"%2E{name[1:]}"
    if len(name) > 200:
        import hashlib  # slow to start with, and long names are rare

        name = f"{name[:160]}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    return name or "%"


def _joined(outcomes: Iterator[Outcome[Job]], grid: Grid) -> Iterator[Outcome[Job]]:
    """The same outcomes, their jobs joined with the logs of computing elements."""
    for outcome in outcomes:
        if isinstance(outcome, Converted):
            yield outcome._replace(job=grid.join(outcome.job))
        else:
            yield outcome
