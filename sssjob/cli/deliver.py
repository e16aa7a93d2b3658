"""``sssjob deliver``: features directories and accounting records folded into requested jobs."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import click

from sssjob.accounting import FORMATS
from sssjob.cli import common
from sssjob.errors import Finding, Severity, SSSJobError, finding

if TYPE_CHECKING:
    from sssjob.features.keys import Value
    from sssjob.fold import Folded
    from sssjob.model import Block, Job, Property

_MAGIC = (b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")


@click.command(
    epilog="""\b
Examples:
  sssjob deliver job.xml --record sacct.txt
  sssjob deliver job.xml --features /run/mjf/1234 --record sacct.txt -o done.xml
  sssjob deliver --in-place requested.sss --record sacct.txt --tz Europe/Berlin

Exit code: 0 done, disagreements or not, 1 nothing is about any of the jobs,
2 something cannot be read."""
)
@click.argument("file", metavar="JOB.xml", type=click.Path())
@click.option("--features", "directory", metavar="DIR", type=click.Path(),
              help="A directory of $JOBFEATURES.")  # fmt: skip
@click.option("--record", "records", metavar="FILE", multiple=True, type=click.Path(),
              help="Accounting records; may be repeated.")  # fmt: skip
@click.option("--from", "format_", type=click.Choice(list(FORMATS)), default="slurm",
              show_default=True, help="The format of the records.")  # fmt: skip
@click.option("--tz", metavar="ZONE", default="", help="The zone of times that state none.")
@click.option("--overwrite", is_flag=True, help="Let what was delivered replace what disagrees.")
@click.option("--force", is_flag=True, help="Fold a directory that names another job.")
@click.option("--now", metavar="SECONDS", type=click.IntRange(0),
              help="Until when a job without an end has run, in seconds since 1970.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Write the document here.")
@click.option("--in-place", is_flag=True, help="Write the document back, if anything changed.")
@click.option("--json", "as_json", is_flag=True,
              help="Print counts and findings as JSON, and the document only with -o.")  # fmt: skip
def command(
    file: str, directory: str | None, records: tuple[str, ...], format_: str, tz: str,
    overwrite: bool, force: bool, now: int | None, output: str | None, in_place: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Fold what was delivered into the jobs of JOB.xml, and print the document.

    JOB.xml may hold many jobs, in one document or in several, and be of any size. All of it is
    kept as it is, to the byte, but for the jobs to which something is delivered.

    Each record goes to its job by Id; a features directory to the job that its job_id names.
    What was requested is left untouched. Where a job knows better, the difference is reported
    and the job keeps its value, unless --overwrite. Folding again changes nothing.
    """
    if not records and directory is None:
        common.fail("nothing to fold: --features DIR or --record FILE is needed")
    if in_place and (output or file == "-"):
        common.fail("--in-place needs a file of its own, and no -o")
    if in_place and _is_compressed(file):
        common.fail(f"{file} is compressed; write to another file with -o")
    with ExitStack() as stack:
        try:
            work = _Delivery(_again(file, stack), file, overwrite, force, now)
            work.look()
            if directory is not None:
                work.take_features(directory)
            for record in common.sources(records) if records else ():
                try:
                    work.take_records(record, format_, tz)
                except SSSJobError as error:
                    common.fail(f"{record.name}: {error}")
            target = file if in_place else output
            with common.output(None if as_json and not target else target) as stream:
                _write(work, stream if target or not as_json else None)
                if in_place and not work.tally.changes:
                    raise _Unchanged
        except _Unchanged:
            pass
        except OSError as error:
            common.fail(common.reason(error))
        except SSSJobError as error:
            common.fail(f"{'<stdin>' if file == '-' else file}: {error}")
    _report(work, as_json)
    sys.exit(common.FOUND if work.tally.delivered else common.NOTHING)


class _Unchanged(Exception):
    """Leave the file alone: nothing has changed."""


class _Record(NamedTuple):
    """A record and where it was read."""

    place: str
    job: Job


@dataclass(slots=True)
class _Tally:
    """What happened, in numbers."""

    jobs: int = 0
    delivered: int = 0
    changes: int = 0
    records: int = 0
    bad: int = 0
    elsewhere: int = 0
    findings: list[Finding] = field(default_factory=list)


class _Delivery:
    """The jobs of a document, read twice: first which there are, then with what is for them."""

    def __init__(
        self, source: Path, name: str, overwrite: bool, force: bool, now: int | None
    ) -> None:
        self.source, self.name = source, "<stdin>" if name == "-" else name
        self.overwrite, self.force, self.now = overwrite, force, now
        self.tally = _Tally()
        self.wanted: set[str] = set()
        self.records: dict[str, list[_Record]] = defaultdict(list)
        self.directory = ""
        self.features: dict[str, Value] = {}
        self.machine: dict[str, Value] = {}

    def look(self) -> None:
        """Learn the ids, so that only records about these jobs are kept."""
        from sssjob.document import read
        from sssjob.fold import identities

        for block in read(self.source):
            for job in _jobs(block):
                self.tally.jobs += 1
                self.wanted |= identities(job)

    def take_features(self, directory: str) -> None:
        """Read a features directory; keys of the machine may stand in it too."""
        from sssjob.features import keys
        from sssjob.features.read import modern, read

        both = modern(read(directory, (*keys.JOB_FEATURES, *keys.MACHINE_FEATURES)))
        of_machine = {row.name for row in keys.MACHINE_FEATURES}
        self.directory = directory
        self.features = {k: v for k, v in both.values.items() if k not in of_machine}
        self.machine = {k: v for k, v in both.values.items() if k in of_machine}
        self.tally.findings += both.findings
        if "job_id" not in self.features and self.tally.jobs > 1:
            common.fail(f"{directory} has no job_id, and {self.name} holds several jobs")

    def take_records(self, source: common.Input, format_: str, zone: str) -> None:
        """Read the records about jobs of the document; bad ones are reported and counted."""
        from sssjob.accounting.record import Bad, Converted, Noted
        from sssjob.document import opened
        from sssjob.fold import identities

        module = import_module(FORMATS[format_].module)
        said: set[str] = set()
        names: frozenset[str] = frozenset()
        with opened(source.source) as stream:
            for outcome in module.jobs(stream, module.Options(zone=zone)):
                place = f"{source.name}:{outcome.line}"
                match outcome:
                    case Converted(job=job):
                        self.tally.records += 1
                        names = identities(job) & self.wanted
                        self.tally.elsewhere += not names
                        for name in names:
                            self.records[name].append(_Record(place, job))
                    case Bad(line=line, reason=reason):
                        self.tally.bad += 1
                        self._note("E-TYPE", reason, source.name, line)
                    case Noted(line=line, message=message, once=True):
                        if message not in said:
                            self._note("I-UNIT", message, source.name, line)
                            said.add(message)
                    case Noted(line=line, message=message) if names:
                        self._note("W-USELESS", message, source.name, line)

    def changed(self, block: Block) -> Block:
        """A job, or the jobs of a group, with what was delivered to each."""
        from sssjob.defaults import resolve
        from sssjob.model import Job, JobGroup

        if isinstance(block, Job):
            return self._delivered(block, block)
        if isinstance(block, JobGroup):
            effective = iter(_jobs(resolve(block).block))
            return block.holding(
                self._delivered(item, next(effective)) if type(item) is Job else item
                for item in block.items
            )
        return block

    def _delivered(self, job: Job, effective: Job) -> Job:
        """A job with its records, then with its features; ``effective`` has its defaults."""
        from sssjob.features import fold as features
        from sssjob.fold import fold

        about = False
        for record in self._records(job):
            folded = fold(job, record.job, source=record.place, overwrite=self.overwrite)
            job, about = self._keep(job, folded), True
        if self.directory and self._has_features(job):
            known = effective.holding((*effective.items, *_times(job, effective)))
            given = features.facts(
                known, self.features, self.machine, now=self.now, force=self.force
            )
            self._find(given.findings)
            if given.about:
                folded = fold(job, given.facts, source=self.directory, overwrite=self.overwrite)
                job, about = self._keep(job, folded), True
        self.tally.delivered += about
        return job

    def _has_features(self, job: Job) -> bool:
        from sssjob.features.derive import job_id

        stated = self.features.get("job_id")
        return self.tally.jobs == 1 or str(stated) == job_id(job.id)

    def _records(self, job: Job) -> list[_Record]:
        """The records of the last run of a job; runs before a requeue are reported."""
        from sssjob.fold import identities

        found = {
            record.place: record
            for name in identities(job)
            for record in self.records.get(name, ())
        }
        if not found:
            return []
        last = max(_run(record.job) for record in found.values())
        for record in found.values():
            if _run(record.job) != last:
                text = f"{record.place}: an earlier run of job {job.id} is not folded"
                self._note("W-USELESS", text, self.name, job.line)
        return [record for record in found.values() if _run(record.job) == last]

    def _keep(self, job: Job, folded: Folded) -> Job:
        self._find(folded.findings)
        self.tally.changes += folded.changes
        return folded.job if folded.changes else job

    def _find(self, findings: Iterable[Finding]) -> None:
        self.tally.findings += (item.in_file(item.file or self.name) for item in findings)

    def _note(self, code: str, text: str, file: str, line: int) -> None:
        self.tally.findings.append(finding(code, text, file=file, line=line))


def _jobs(block: Block) -> tuple[Job, ...]:
    from sssjob.model import Job

    return (block,) if isinstance(block, Job) else block.blocks(Job)


def _run(job: Job) -> tuple[int, int]:
    """What orders the runs of one job: when it was submitted, and when it started."""
    submitted, started = (job.get(name) for name in ("SubmitTime", "StartTime"))
    return int(submitted or 0), int(started or 0)


def _times(job: Job, effective: Job) -> Iterator[Property]:
    """What a record told about times, for a job whose defaults were resolved before."""
    for item in job.properties:
        told = item.name in ("StartTime", "EndTime", "SuspendDuration")
        if told and effective.properties.get(item.name) is None:
            yield item


def _again(file: str, stack: ExitStack) -> Path:
    """A source that can be read twice: standard input is kept in a temporary file."""
    if file != "-":
        return Path(file)
    copy = stack.enter_context(tempfile.NamedTemporaryFile())  # noqa: SIM115 - the stack closes it
    shutil.copyfileobj(sys.stdin.buffer, copy)
    copy.flush()
    return Path(copy.name)


def _is_compressed(file: str) -> bool:
    try:
        with open(file, "rb") as stream:
            return stream.read(6).startswith(_MAGIC)
    except OSError as error:
        common.fail(common.reason(error))


def _write(work: _Delivery, stream: BinaryIO | None) -> None:
    """The document as it was, but for the jobs to which something was delivered."""
    from sssjob.document.splice import rewrite

    for piece in rewrite(work.source, work.changed):
        if stream is not None:
            stream.write(piece)


def _report(work: _Delivery, as_json: bool) -> None:
    tally = work.tally
    errors = sum(item.severity is Severity.ERROR for item in tally.findings)
    counts = {
        "jobs": tally.jobs,
        "delivered": tally.delivered,
        "unchanged": tally.jobs - tally.delivered,
        "facts": tally.changes,
        "disagreements": sum(item.code == "W-DISAGREE" for item in tally.findings),
        "records": tally.records,
        "elsewhere": tally.elsewhere,
        "bad": tally.bad,
        "errors": errors,
    }
    if as_json:
        found = [item.as_dict() for item in tally.findings]
        click.echo(json.dumps({**counts, "findings": found}, indent=2, ensure_ascii=False))
        return
    common.print_findings(tally.findings)
    common.say(_sentence(tally, counts["disagreements"]))


def _sentence(tally: _Tally, disagreements: int) -> str:
    """What happened, for a person."""
    records = ""
    if tally.records or tally.bad:
        asides = [f"{tally.elsewhere} about other jobs"] if tally.elsewhere else []
        asides += [f"{tally.bad} bad"] if tally.bad else []
        records = f" from {_count(tally.records + tally.bad, 'record')}"
        records += f" ({', '.join(asides)})" if asides else ""
    return (
        f"delivered to {tally.delivered} of {_count(tally.jobs, 'job')}{records}: "
        f"{_count(tally.changes, 'fact')} folded, {_count(disagreements, 'disagreement')}"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
