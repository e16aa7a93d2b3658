"""``sssjob convert``: accounting records in, job objects out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO, TypeVar

import click

from sssjob.accounting import FORMATS
from sssjob.cli import common

if TYPE_CHECKING:
    from sssjob.accounting import record

J = TypeVar("J")

FORMS = ("sss-lines", "sss")
WRAPPER = "Jobs"


@click.command(
    epilog="""\b
Examples:
  sssjob convert --from slurm sacct.txt > jobs.sss
  sacct -aPD -o ALL --delimiter=$'\\x1f' | sssjob convert --from slurm --tz Europe/London -
  sssjob convert --from slurm --to sss -o jobs.xml sacct-2026-*.txt.gz

Exit code: 0 every record converted or skipped, 1 some were bad, 2 a file cannot be read."""
)
@click.option(
    "--from", "format_name", metavar="FORMAT", required=True,
    help=f"What the records are: {', '.join(FORMATS)}.",
)  # fmt: skip
@click.option(
    "--to", "form", type=click.Choice(FORMS),
    help="One document on each line (the default), or one document around all. "
         "Without it, a terminal gets indented documents.",
)  # fmt: skip
@click.option(
    "--tz", "zone", metavar="ZONE", default="",
    help="The zone of times that state none, such as Europe/London. Default: UTC.",
)  # fmt: skip
@click.option(
    "--columns", metavar="NAMES", default="",
    help="The columns of records without a header line: JobID,User,State,...",
)  # fmt: skip
@click.option(
    "--delimiter", metavar="TEXT", default="",
    help="What separates fields, where the header does not tell; \\x1f and \\t are understood.",
)  # fmt: skip
@click.option("--ended-only", is_flag=True, help="Skip jobs that have not ended.")
@click.option("--no-steps", is_flag=True, help="Fold steps into their job without keeping them.")
@click.option(
    "--counts-json", metavar="FILE", type=click.Path(dir_okay=False),
    help="Write the counts as JSON.",
)  # fmt: skip
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(dir_okay=False),
    help="Write to FILE, whole or not at all.",
)  # fmt: skip
@click.argument("files", nargs=-1, metavar="FILE...")
def command(
    format_name: str,
    form: str | None,
    zone: str,
    columns: str,
    delimiter: str,
    ended_only: bool,
    no_steps: bool,
    counts_json: str | None,
    output: str | None,
    files: tuple[str, ...],
) -> None:
    """Turn accounting records into job objects.

    Each FILE may be compressed; "-" is standard input. A bad record is reported with its line,
    and the rest go on. How many records were converted, skipped and bad is printed at the end.
    """
    if format_name not in FORMATS:
        known = ", ".join(FORMATS)
        common.fail(f"{format_name!r} is no known record format; known: {known}")
    from sssjob.accounting.record import Counts, Options
    from sssjob.accounting.roads import TEXTS
    from sssjob.document import dumps
    from sssjob.document.text import write_texts
    from sssjob.errors import SSSJobError

    records = import_module(FORMATS[format_name].module)
    options = Options(
        zone=zone,
        columns=tuple(name.strip() for name in columns.split(",") if name.strip()),
        delimiter=delimiter.replace("\\x1f", "\x1f").replace("\\t", "\t"),
        ended_only=ended_only,
        steps=not no_steps,
    )
    counts = Counts()
    indent = form is None and output in (None, "-") and sys.stdout.isatty()
    try:
        with common.output(output) as stream:
            texts: Iterator[str]
            if indent:
                jobs = _jobs(files, lambda stream: records.jobs(stream, options), counts)
                texts = (dumps(job, indent=True) for job in jobs)
            else:
                texts = _jobs(files, lambda stream: records.records(stream, options, TEXTS), counts)
            write_texts(texts, stream, wrap=WRAPPER if form == "sss" else "", indent=indent)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        common.fail(common.reason(error))
    except SSSJobError as error:
        common.fail(error)
    _report(counts, counts_json)
    sys.exit(common.NOTHING if counts.bad else common.FOUND)


def _jobs(
    files: tuple[str, ...],
    read: Callable[[BinaryIO], Iterator[record.Outcome[J]]],
    counts: record.Counts,
) -> Iterator[J]:
    """The jobs of all files, or their texts; what else their records are is printed and counted."""
    from sssjob.accounting import record
    from sssjob.cli.progress import watched
    from sssjob.document import opened
    from sssjob.errors import UnreadableDocument, UnusableInput

    told: set[str] = set()
    for name, source in common.sources(files):
        try:
            with watched(source, name) as raw, opened(raw) as stream:
                for outcome in counts.counting(read(stream)):
                    if isinstance(outcome, record.Converted):
                        yield outcome.job
                    elif isinstance(outcome, record.Bad):
                        common.say(f"{name}:{outcome.line}: error: {outcome.reason}")
                    elif isinstance(outcome, record.Noted) and outcome.message not in told:
                        told |= {outcome.message} if outcome.once else set()
                        common.say(f"{name}:{outcome.line}: warning: {outcome.message}")
        except UnusableInput as error:
            place = f"{name}:{error.line}" if error.line else name
            common.fail(f"{place}: {error.reason}")
        except UnreadableDocument as error:
            common.fail(error.finding.in_file(name))


def _report(counts: record.Counts, counts_json: str | None) -> None:
    common.say(counts)
    if counts_json:
        with common.output(counts_json) as stream:
            stream.write(json.dumps(counts.as_dict()).encode() + b"\n")
