"""``sssjob deliver``: features directories and accounting records folded into requested jobs."""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from sssjob.atomic import Unchanged
from sssjob.cli import common, deliver_many
from sssjob.cli.records import format_of
from sssjob.document.files import raw
from sssjob.errors import SSSJobError
from sssjob.records import FORMATS

if TYPE_CHECKING:
    from sssjob.delivery import Delivery


@click.command(
    epilog="""\b
Examples:
  sssjob deliver job.xml --record sacct.txt
  sssjob deliver job.xml --features /run/mjf/1234 --record sacct.txt -o done.xml
  sssjob deliver job.xml --features /run/mjf/1234 --status /run/mjf/1234/status --in-place
  sssjob deliver --in-place requested.sss --record sacct.txt --tz Europe/Berlin
  sssjob deliver --in-place requested/ --from pbs --record 20261121
  sssjob deliver jobs.db --from sge --record common/accounting

Exit code: 0 done, disagreements or not, 1 nothing is about any of the jobs,
2 something cannot be read, or a job is refused (awarenessPolicy)."""
)
@click.argument("file", metavar="JOB.xml", type=click.Path())
@click.option("--features", "directory", metavar="DIR", type=click.Path(),
              help="A directory of $JOBFEATURES.")  # fmt: skip
@click.option("--machine", metavar="DIR", type=click.Path(),
              help="A directory of $MACHINEFEATURES.")  # fmt: skip
@click.option("--status", metavar="DIR", type=click.Path(),
              help="A directory of $JOBSTATUS, read under its lock.")  # fmt: skip
@click.option("--usage", "usages", metavar="DIR|FILE", multiple=True, type=click.Path(),
              help="What was measured: a control group, or lines of NAME=VALUE.")  # fmt: skip
@click.option("--record", "records", metavar="FILE", multiple=True, type=click.Path(),
              help="Accounting records; may be repeated.")  # fmt: skip
@click.option("--from", "format_", metavar="FORMAT", default="slurm", show_default=True,
              help=f"What the records are: {', '.join(FORMATS)}.")  # fmt: skip
@click.option("--tz", metavar="ZONE", default="", help="The zone of times that state none.")
@click.option("--overwrite", is_flag=True, help="Replace values of the job that disagree.")
@click.option("--force", is_flag=True, help="Accept a directory whose job_id names another job.")
@click.option("--now", metavar="SECONDS", type=click.IntRange(0),
              help="Until when a job without an end has run, in seconds since 1970.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Write the document here.")
@click.option("--in-place", is_flag=True, help="Write the document back, if anything changed.")
@click.option("--json", "as_json", is_flag=True,
              help="Print counts and findings as JSON, and the document only with -o.")  # fmt: skip
def command(
    file: str, directory: str | None, machine: str | None, status: str | None,
    usages: tuple[str, ...], records: tuple[str, ...], format_: str, tz: str,
    overwrite: bool, force: bool, now: int | None, output: str | None, in_place: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Fold what was delivered into the jobs of JOB.xml, a directory or a store.

    The document with what was delivered is printed, or written where -o or --in-place say.

    JOB.xml may hold many jobs, in one document or in several, and be of any size. Everything but
    the jobs that get something is kept byte for byte.

    A record goes to the job with its Id. A features directory goes to the job that its job_id
    names, together with the directories of its machine and its pilot, and with what was measured.
    In a directory, every document that gets a record is written back. A store keeps the new version
    beside the old one; a run that it does not know yet (of a requeued job) becomes a document of
    its own. Directories and stores take records only.

    What was requested is left untouched. Where a job has another value already, the difference is
    reported and the job keeps its value, unless --overwrite is given. A second run with the same
    data changes nothing.

    A job with something that is not understood is refused and stays as it is, unless its
    awarenessPolicy says Warn or Ignore.
    """
    from sssjob.delivery import Delivery

    what = What(directory, machine, status, usages, records, format_, tz)
    if not records and not what.of_features:
        common.fail("nothing to fold: --features DIR or --record FILE is needed")
    format_of(format_)
    if (many := deliver_many.kind(file)) is not None:
        _into_many(many, file, what, output, in_place, overwrite=overwrite, as_json=as_json)
        return
    if in_place and (output or file == "-"):
        common.fail("--in-place needs a file of its own, and no -o")
    if in_place and _is_compressed(file):
        common.fail(f"{file} is compressed; write to another file with -o")
    name = "<stdin>" if file == "-" else file
    with ExitStack() as stack:
        try:
            work = Delivery(_again(file, stack), name, overwrite=overwrite, force=force, now=now)
            _take(work, what)
            _write(work, file if in_place else output, shown=not as_json, in_place=in_place)
        except SSSJobError as error:
            common.fail(common.placed(error, name))
        except OSError as error:
            common.fail(common.reason(error))
    deliver_many.report(work.tally, as_json)
    sys.exit(deliver_many.exit_code(work.tally))


class What(NamedTuple):
    """What is to be folded: directories of features, what was measured, and records."""

    directory: str | None
    machine: str | None
    status: str | None
    usages: tuple[str, ...]
    records: tuple[str, ...]
    format: str
    zone: str

    @property
    def of_features(self) -> bool:
        """Whether there is anything but records."""
        return any((self.directory, self.machine, self.status, self.usages))


def _into_many(
    many: str, file: str, what: What, output: str | None, in_place: bool, *,
    overwrite: bool, as_json: bool,
) -> None:  # fmt: skip
    """Fold records into a directory or a store."""
    if not what.records or what.of_features or output:
        common.fail(f"{file}: only records are folded into many documents, without -o")
    if many == "directory" and not in_place:
        common.fail(f"{file} is a directory: say --in-place to have its documents written back")
    into = deliver_many.into_store if many == "store" else deliver_many.into_directory
    into(file, what.records, what.format, what.zone, overwrite=overwrite, as_json=as_json)


def _take(work: Delivery, what: What) -> None:
    """Read what is to be folded."""
    work.look()
    for place, take in (
        (what.directory, work.take_features), (what.machine, work.take_machine),
        (what.status, work.take_status), *((each, work.take_usage) for each in what.usages),
    ):  # fmt: skip
        if place is not None:
            take(place)
    for record in common.sources(what.records) if what.records else ():
        try:
            work.take_records(record.given, record.name, what.format, what.zone)
        except SSSJobError as error:
            common.fail(common.placed(error, record.name))


def _write(work: Delivery, target: str | None, *, shown: bool, in_place: bool) -> None:
    """Write the document to a file; without one it is printed if it is to be shown."""
    with common.output(target if target or shown else None) as stream:
        for piece in work.pieces():
            if target or shown:
                stream.write(piece)
        if in_place and not work.tally.changes:
            raise Unchanged


def _again(file: str, stack: ExitStack) -> Path:
    """A source that can be read twice: what comes from a pipe is kept in a temporary file."""
    if file != "-" and (Path(file).is_file() or not Path(file).exists()):
        return Path(file)
    (source,) = common.sources((file,))
    copy = stack.enter_context(tempfile.NamedTemporaryFile())  # noqa: SIM115 - the stack closes it
    with raw(source.given) as stream:
        shutil.copyfileobj(stream, copy)
    copy.flush()
    return Path(copy.name)


def _is_compressed(file: str) -> bool:
    from sssjob.document.files import is_compressed

    try:
        return is_compressed(file)
    except OSError as error:
        common.fail(common.reason(error))
