"""``sssjob deliver``: features directories and accounting records folded into requested jobs."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sssjob.accounting import FORMATS
from sssjob.cli import common
from sssjob.errors import Severity, SSSJobError

if TYPE_CHECKING:
    from sssjob.delivery import Delivery, Tally


@click.command(
    epilog="""\b
Examples:
  sssjob deliver job.xml --record sacct.txt
  sssjob deliver job.xml --features /run/mjf/1234 --record sacct.txt -o done.xml
  sssjob deliver job.xml --features /run/mjf/1234 --status /run/mjf/1234/status --in-place
  sssjob deliver --in-place requested.sss --record sacct.txt --tz Europe/Berlin

Exit code: 0 done, disagreements or not, 1 nothing is about any of the jobs,
2 something cannot be read."""
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
    file: str, directory: str | None, machine: str | None, status: str | None,
    usages: tuple[str, ...], records: tuple[str, ...], format_: str, tz: str,
    overwrite: bool, force: bool, now: int | None, output: str | None, in_place: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Fold what was delivered into the jobs of JOB.xml, and print the document.

    JOB.xml may hold many jobs, in one document or in several, and be of any size. All of it is
    kept as it is, to the byte, but for the jobs to which something is delivered.

    Each record goes to its job by Id; a features directory to the job that its job_id names, and
    with it what its machine and its pilot say, and what was measured.
    What was requested is left untouched. Where a job knows better, the difference is reported
    and the job keeps its value, unless --overwrite. Folding again changes nothing.
    """
    from sssjob.delivery import Delivery

    if not records and not any((directory, machine, status, usages)):
        common.fail("nothing to fold: --features DIR or --record FILE is needed")
    if in_place and (output or file == "-"):
        common.fail("--in-place needs a file of its own, and no -o")
    if in_place and _is_compressed(file):
        common.fail(f"{file} is compressed; write to another file with -o")
    with ExitStack() as stack:
        try:
            name = "<stdin>" if file == "-" else file
            work = Delivery(_again(file, stack), name, overwrite=overwrite, force=force, now=now)
            work.look()
            for place, take in (
                (directory, work.take_features), (machine, work.take_machine),
                (status, work.take_status), *((each, work.take_usage) for each in usages),
            ):  # fmt: skip
                if place is not None:
                    take(place)
            for record in common.sources(records) if records else ():
                try:
                    work.take_records(record.source, record.name, format_, tz)
                except SSSJobError as error:
                    common.fail(f"{record.name}: {error}")
            target = file if in_place else output
            with common.output(None if as_json and not target else target) as stream:
                for piece in work.pieces():
                    if target or not as_json:
                        stream.write(piece)
                if in_place and not work.tally.changes:
                    raise _Unchanged
        except _Unchanged:
            pass
        except SSSJobError as error:
            common.fail(f"{'<stdin>' if file == '-' else file}: {error}")
        except OSError as error:
            common.fail(common.reason(error))
    _report(work, as_json)
    sys.exit(common.FOUND if work.tally.delivered else common.NOTHING)


class _Unchanged(Exception):
    """Leave the file alone: nothing has changed."""


def _again(file: str, stack: ExitStack) -> Path:
    """A source that can be read twice: standard input is kept in a temporary file."""
    if file != "-":
        return Path(file)
    copy = stack.enter_context(tempfile.NamedTemporaryFile())  # noqa: SIM115 - the stack closes it
    shutil.copyfileobj(sys.stdin.buffer, copy)
    copy.flush()
    return Path(copy.name)


def _is_compressed(file: str) -> bool:
    from sssjob.document.files import is_compressed

    try:
        return is_compressed(file)
    except OSError as error:
        common.fail(common.reason(error))


def _report(work: Delivery, as_json: bool) -> None:
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


def _sentence(tally: Tally, disagreements: int) -> str:
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
