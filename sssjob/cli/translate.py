"""``sssjob translate``: jobs to what other systems submit and show, and back."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple
from urllib.parse import quote

import click

from sssjob import registry
from sssjob.cli import common, names, options, records
from sssjob.errors import UNREAD, Finding, InheritedTooMuch, Severity

if TYPE_CHECKING:
    from sssjob.model import Job
    from sssjob.verbs.translate import TranslatedJob, TranslationTask

ALL = "all"
AS_BYTES = "surrogateescape"  # bytes of a script that are no UTF-8 stay what they are
_KEPT = 1 << 20  # bytes of texts that wait in memory, and not in a file


class _TranslatedFiles(NamedTuple):
    """What is written of a job when all are translated: ``name`` is how its file's begins.

    Its text has so many bytes, behind those of the jobs before it.
    """

    name: str
    size: int
    files: Mapping[str, bytes]
    job: str


@click.command(
    epilog="""\b
Examples:
  sssjob translate job.sh --to sss > job.xml
  sssjob translate job.xml --to sbatch > job.sh
  sssjob translate job.sh --from sbatch --to sge -o job.sge
  sssjob translate jobs.xml --to sbatch --output-dir scripts --losses lost.jsonl
  sssjob translate job.xml --to all --explain
  sssjob translate jobs.db --select 7 --to sbatch          of a store

Exit code: 0 translated, though warnings may tell of what is lost; 1 something is wrong, or a job is
not written, because its awarenessPolicy is Reject for what the target cannot hold; 2 a document or
a file cannot be read."""
)
@names.option("--to", "target", names=names.targets, metavar="NAME", required=True,
              help="What to write: {names}; with --explain also: all.")  # fmt: skip
@names.option("--from", "source", names=names.sources, metavar="NAME", default="auto",
              help="What the files are: {names}. By default they are recognised.")  # fmt: skip
@click.option("--explain", is_flag=True,
              help="Print a table instead: what each target makes of each property, or why "
                   "not.")  # fmt: skip
@click.option("--all", "every", is_flag=True,
              help="Write every alternative of a request, not only the best.")  # fmt: skip
@options.MEMORY_SCOPE
@click.option("--arrays", type=click.Choice(("keep", "task-group", "jobs")),
              default="keep",
              show_default=True,
              help="What becomes of an array: its option is kept, or each of its elements "
                   "becomes a task of one task group, or a job.")  # fmt: skip
@options.PARALLEL
@click.option("--losses", metavar="FILE", type=click.Path(dir_okay=False),
              help="List what the target cannot hold, as JSON lines.")  # fmt: skip
@click.option("--no-residual", is_flag=True,
              help="Do not keep in comments what the target cannot hold: it is lost.")  # fmt: skip
@click.option("--select", metavar="ID", default="", help="Only the job with this Id.")
@options.OUTPUT_DIRECTORY
@options.ALL_FINDINGS
@options.OUTPUT
@click.argument("files", nargs=-1, metavar="[FILE]...")
def command(
    target: str, source: str, explain: bool, every: bool, memory_scope: str, arrays: str,
    parallel: str, losses: str | None, no_residual: bool, select: str, output_dir: str | None,
    output: str | None, files: tuple[str, ...],
) -> None:  # fmt: skip
    """Translate jobs: job objects to scripts of batch systems, scripts to job objects.

    What a target cannot hold is reported and kept in comments, so that a later translation back
    gives the same job. If the awarenessPolicy of something that would be left out is Reject, the
    job is not written, and everything that would be left out is listed.
    """
    from sssjob.translate import Settings
    from sssjob.verbs.translate import TranslationTask

    settings = Settings(memory_scope, arrays, not no_residual, parallel=parallel)
    work = TranslationTask(target, source, settings, every, select, options=records.reading())
    if output_dir or output:
        work = replace(work, beside=partial(_beside, target, output))
    with common.failing():
        if explain:
            _explain(work, files, output)
        else:
            _known(target)
            _translate(work, files, output, output_dir, losses)


def _known(target: str) -> None:
    from sssjob.translate import written

    if target == ALL:
        common.fail("--to all goes with --explain, which prints a table")
    row = registry.all_targets().get(written(target).name)
    if row is None or not row.writes:
        common.fail(f"{target} can be read (--from {target}) and not written")


def _translate(
    work: TranslationTask, files: tuple[str, ...], output: str | None, output_dir: str | None,
    losses: str | None,
) -> None:  # fmt: skip
    """Write what is translated, and say what was lost."""
    from sssjob.verbs.translate import run

    found: list[_TranslatedFiles] = []
    good, unread = True, False
    said = records.RecordMessages()
    with ExitStack() as stack:
        listed = stack.enter_context(common.output(losses)) if losses else None
        texts = stack.enter_context(SpooledTemporaryFile(_KEPT))
        for source in records.with_requests(files):
            some = bool(work.select)
            for written in _until_too_much(run(work, iter((source,)), said)):
                some = True
                if isinstance(written, Finding):
                    common.say_error(written)
                    unread = True
                    continue
                _say(written, listed)
                wrong = any(each.severity is Severity.ERROR for each in written.findings)
                good = good and not written.why and not wrong
                unread = unread or (written.job is None and _unread(written.findings))
                if written.text:
                    size = texts.write(written.text.encode(errors=AS_BYTES))
                    found.append(_output(written, len(found) + 1, size))
            good = _is_some(some, source.name) and good
        said.rest()
        texts.seek(0)
        _write(work, found, texts, output, output_dir)
    _leave(good=good and not said.bad, unread=unread or said.unread)
    if not found:
        asked = f" has the Id {work.select!r}" if work.select else ""
        common.say(f"sssjob: no job{asked}")
        sys.exit(common.NOTHING)


def _until_too_much(found: Iterator[TranslatedJob]) -> Iterator[TranslatedJob | Finding]:
    """What is found of a source, as far as its jobs do not inherit too much; that is told."""
    try:
        yield from found
    except InheritedTooMuch as error:
        yield error.finding


def _unread(findings: Iterable[Finding]) -> bool:
    """Whether a document could not be read at all."""
    return any(each.severity is Severity.ERROR and each.code in UNREAD for each in findings)


def _leave(*, good: bool, unread: object) -> None:
    """End the command, unless all is good."""
    if code := common.ended(not good, unread=unread):
        sys.exit(code)


def _is_some(some: bool, name: str) -> bool:
    """Whether there was a job in a source; that there was none is said."""
    if not some:
        common.say(f"{common.name_of(name)}: error: there is no job in it")
    return some


def _output(written: TranslatedJob, place: int, size: int) -> _TranslatedFiles:
    """What is kept of a translated job: its losses and findings are said."""
    number = written.number
    name = _named(written.job, number) or f"{place}{f'.{number + 1}' if number else ''}"
    job = written.job.id if written.job is not None else ""
    return _TranslatedFiles(name, size, written.files, job)


def _say(written: TranslatedJob, listed: BinaryIO | None) -> None:
    """Findings, then losses; facts are only listed where they are kept beside."""
    file = written.file
    common.print_findings(item.in_file(file) for item in written.findings)
    if listed is not None:
        for loss in written.losses:
            line = json.dumps(loss.as_dict(), ensure_ascii=False)
            listed.write(f"{line}\n".encode())
    common.print_findings(loss.finding(file) for loss in written.losses if loss.is_told)
    if written.why:
        named = f" {written.job.id}" if written.job is not None and written.job.id else ""
        told = f"{common.name_of(file)}: job{named} is not written: {written.why}"
        common.say_of(file, Severity.ERROR, told, ": jobs that are not written")


def _write(
    work: TranslationTask, found: list[_TranslatedFiles], texts: IO[bytes], output: str | None,
    output_dir: str | None,
) -> None:  # fmt: skip
    from sssjob.translate import translator

    _check_names(found, each=output_dir is not None)
    if output_dir is not None:
        directory = Path(output_dir)
        directory.mkdir(parents=True, exist_ok=True)
        _write_files(directory, found, texts, translator(work.to).suffix)
        return
    if len(found) > 1 and not translator(work.to).joins:
        common.fail(_apart(work.to, found))
    if found:
        with common.output(output) as stream:
            for written in found:
                stream.write(texts.read(written.size))
        if output is not None:
            _write_files(Path(output).parent, found, texts)


def _apart(target: str, found: Sequence[_TranslatedFiles]) -> str:
    """That jobs are files of their own for a target, and what to type."""
    ids = [each.job for each in found if each.job]
    one = f"; or --select {shlex.quote(ids[0])} for one of them" if len({*ids}) > 1 else ""
    return (
        f"{len(found)} jobs are {len(found)} files for {target}, and this is one: add"
        f" --output-dir DIR, which gets all of them{one}"
    )


def _check_names(found: Iterable[_TranslatedFiles], *, each: bool) -> None:
    """Nothing is written where two jobs would be one file, or have one beside them."""
    names: set[str] = set()
    beside: set[str] = set()
    for written in found:
        if each and written.name in names:
            common.fail(f"two jobs have the id {written.job}")
        names.add(written.name)
        for name in written.files:
            if name in beside:
                common.fail(f"two jobs have the file {name}")
            beside.add(name)


def _write_files(
    directory: Path, found: Iterable[_TranslatedFiles], texts: IO[bytes], suffix: str | None = None
) -> None:
    """Write scripts that have to stand beside, which are run, and with a suffix each job, too."""
    with common.many_files() as put:
        for written in found:
            if suffix is not None:
                put(str(directory / f"{written.name}{suffix}"), texts.read(written.size))
            for name, content in written.files.items():
                put(str(directory / name), content, 0o755)


def _named(job: Job | None, number: int) -> str:
    """How the name of the file of a job begins; "" for a job without an id."""
    name = quote(job.id if job is not None else "", safe=" @+,=[]")
    name = f"%2E{name[1:]}" if name.startswith(".") else name
    return f"{name}.{number + 1}" if name and number else name


def _beside(target: str, output: str | None, job: Job, number: int) -> str:
    """How the names of files begin that stand beside what is written for a job."""
    from sssjob.translate import translator

    row = translator(target)
    name = _named(job, number) or "job"
    if output is None:
        return f"{name}{row.suffix}"
    return f"{Path(output).name}.{name}" if row.joins else Path(output).name


def _lines(text: str, room: int) -> bytes:
    """A line of the table, in as many lines as it needs."""
    from sssjob.drawing.columns import folded

    return "".join(f"{line}\n" for line in folded(text, room)).encode()


def _explain(work: TranslationTask, files: tuple[str, ...], output: str | None) -> None:
    """Print a table of properties and targets."""
    from sssjob.errors import LimitExceeded
    from sssjob.translate import written
    from sssjob.verbs.translate import explain, readings

    wanted = None if work.to == ALL else {written(work.to).name}
    tell, good, unread = records.RecordMessages(), True, False
    room = common.room(output)
    with common.output(output) as stream:
        for source in records.with_requests(files):
            some = bool(work.select)
            for file, found in readings(work, source, tell):
                some = True
                common.print_findings(item.in_file(file) for item in found.findings)
                wrong = any(each.severity is Severity.ERROR for each in found.findings)
                good = good and not wrong
                unread = unread or (found.job is None and _unread(found.findings))
                if found.job is None or work.select not in ("", found.job.id):
                    continue
                given = replace(work.settings, files={**work.settings.files, **found.files})
                try:
                    for row in explain(found.job, given):
                        stream.write(_lines(f"{row.path} {row.value[:60]!r}", room))
                        for name, said in row.told.items():
                            if wanted is None or name in wanted:
                                stream.write(_lines(f"  {name:<10} {said}", room))
                except LimitExceeded as error:
                    what = f"Job {found.job.id}: its other properties are not explained: {error}"
                    told = f"{common.name_of(file)}: error: {what}"
                    common.say_of(file, Severity.ERROR, told)
                    good = False
            good = _is_some(some, source.name) and good
    tell.rest()
    _leave(good=good and not tell.bad, unread=unread or tell.unread)
