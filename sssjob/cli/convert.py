"""``sssjob convert``: accounting records in, job objects out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO

import click

from sssjob.cli import common, records, targets
from sssjob.records import FORMATS

if TYPE_CHECKING:
    from sssjob.accounting.grid import Grid
    from sssjob.model import Job
    from sssjob.records import record

LRMSINFO = "lrmsinfo"
LINES, WHOLE = "sss-lines", "sss"
OTHERS = ("jsonl", "parquet", "ur", "car", "apel", "apel-summary")  # see accounting.writers
FORMS = (LINES, WHOLE, *OTHERS, LRMSINFO)
WRAPPER = "Jobs"


@click.command(
    epilog="""\b
Examples:
  sssjob convert --from slurm sacct.txt > jobs.sss
  sacct -aPD -o ALL --delimiter=$'\\x1f' | sssjob convert --from slurm --tz Europe/London -
  sssjob convert --from slurm --to sss -o jobs.xml sacct-2026-*.txt.gz
  sssjob convert --from auto history.json.gz | sssjob query '//Job[ExitCode != 0]/Id' -
  sssjob convert --from slurm-json --blah blahp.log-20261121 sacct.json
  sssjob convert --from pbs --jobs 0 -o jobs.sss server_priv/accounting/2026*
  sssjob convert --from sge --state sge.state -o jobs.sss common/accounting
  sssjob convert --from slurm --to ur -o records.xml --losses lost.jsonl sacct.txt
  sssjob convert --from sss --to apel-summary --site CERN-PROD jobs.sss

Exit code: 0 every record converted or skipped, 1 some were bad, 2 a file cannot be read."""
)
@click.option(
    "--from", "format_name", metavar="FORMAT", required=True,
    help=f"What the records are: {', '.join(FORMATS)}.",
)  # fmt: skip
@click.option(
    "--to", "form", type=click.Choice(FORMS),
    help="One document on each line (the default), one document around all, JSON lines, a table, "
         "OGF usage records, EMI's compute records, APEL's messages, or lines of lrmsinfo. "
         "Without it, a terminal gets indented documents.",
)  # fmt: skip
@click.option(
    "--output-dir", metavar="DIR", type=click.Path(file_okay=False),
    help="Write each job to a file of its own in DIR, named by its Id.",
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
    "--blah", "logs", metavar="FILE", multiple=True, type=click.Path(dir_okay=False),
    help="Join the jobs with this log of a computing element, by id and time; may be repeated.",
)  # fmt: skip
@click.option(
    "--jobs", "processes", metavar="N", type=click.IntRange(0), default=1,
    help="Use so many processes, 0 for all cores; order and output stay the same.",
)  # fmt: skip
@click.option(
    "--state", metavar="FILE", type=click.Path(dir_okay=False),
    help="Remember how far growing logs were read, and append what is new to the output.",
)  # fmt: skip
@click.option(
    "--site", metavar="NAME", default="",
    help="The site, for CAR and APEL. Default for APEL: the machine.",
)  # fmt: skip
@click.option(
    "--submit-host", metavar="NAME", default="", help="Where jobs were submitted, for APEL."
)
@click.option(
    "--infrastructure", metavar="TYPE", default="", help="For CAR and APEL. Default: grid."
)
@click.option(
    "--benchmark", metavar="TYPE=FIGURE", default="",
    help="Of a processor, for CAR and APEL, such as HEPscore23=11.4.",
)  # fmt: skip
@click.option(
    "--losses", metavar="FILE", type=click.Path(dir_okay=False),
    help="List what the target could not hold, as JSON lines.",
)  # fmt: skip
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
    output_dir: str | None,
    zone: str,
    columns: str,
    delimiter: str,
    ended_only: bool,
    no_steps: bool,
    logs: tuple[str, ...],
    processes: int,
    state: str | None,
    site: str,
    submit_host: str,
    infrastructure: str,
    benchmark: str,
    losses: str | None,
    counts_json: str | None,
    output: str | None,
    files: tuple[str, ...],
) -> None:
    """Turn accounting records into job objects, or into other records.

    Each FILE may be compressed; "-" is standard input. A bad record is reported with its line,
    and the rest go on. How many records were converted, skipped and bad is printed at the end.
    """
    from sssjob.document import dumps
    from sssjob.document.text import write_texts
    from sssjob.errors import SSSJobError
    from sssjob.records import read_records
    from sssjob.records.record import Counts, Options
    from sssjob.records.roads import OBJECTS, TEXTS

    chosen = records.format_of(format_name)
    options = Options(
        zone=zone,
        columns=tuple(name.strip() for name in columns.split(",") if name.strip()),
        delimiter=delimiter.replace("\\x1f", "\x1f").replace("\\t", "\t"),
        ended_only=ended_only,
        steps=not no_steps,
    )
    counts, counts_of_logs, said = Counts(), Counts(), records.Said()
    indent = form is None and output in (None, "-") and sys.stdout.isatty()
    wrap = WRAPPER if form == "sss" else ""
    in_objects = indent or bool(logs) or output_dir is not None or form in (LRMSINFO, *OTHERS)
    if output_dir is not None and (output or form not in (None, LINES, WHOLE)):
        common.fail("--output-dir is for job objects, without --output")
    told = targets.Told(site, submit_host, infrastructure, benchmark, losses)
    if form not in OTHERS and any(told):
        named = ", ".join(OTHERS)
        common.fail(f"--losses and what describes a site are for --to {named}")
    try:
        if state is not None or processes != 1:
            if in_objects:
                common.fail("--jobs and --state are for --to sss-lines and sss, without --blah")
            if state is not None and (output in (None, "-") or wrap or not files):
                common.fail("--state needs --output FILE, --to sss-lines and named files")
            from sssjob.cli.in_parts import Work, converted, grown

            work = Work(format_name, options, processes, counts, said)
            if state is not None and output is not None:
                grown(work, files, state, output)
            else:
                converted(work, files, output, wrap)
        elif in_objects:
            grid = _grid(logs, counts_of_logs, said)

            def outcomes(stream: BinaryIO) -> Iterator[record.Outcome[Job]]:
                found = read_records(chosen, stream, options, OBJECTS)
                return _joined(found, grid) if logs else found

            if form in OTHERS:
                targets.written(
                    form, told, output,
                    lambda through: records.jobs(files, through(outcomes), counts, said),
                )  # fmt: skip
            elif output_dir is not None:
                targets.in_files(output_dir, records.jobs(files, outcomes, counts, said))
            else:
                with common.output(output) as stream:
                    jobs = records.jobs(files, outcomes, counts, said)
                    if form == LRMSINFO:
                        stream.writelines(line.encode() for line in _entries(jobs))
                    else:
                        printed = (dumps(job, indent=indent) for job in jobs)
                        write_texts(printed, stream, wrap=wrap, indent=indent)
        else:
            with common.output(output) as stream:
                texts = records.jobs(
                    files, lambda stream: read_records(chosen, stream, options, TEXTS), counts, said
                )
                write_texts(texts, stream, wrap=wrap)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        common.fail(common.reason(error))
    except SSSJobError as error:
        common.fail(error)
    if logs:
        common.say(f"joined {grid.joined} of {grid.entries} entries of logs")
    _report(counts, counts_json, said)
    sys.exit(common.NOTHING if counts.bad or counts_of_logs.bad else common.FOUND)


def _grid(logs: tuple[str, ...], counts: record.Counts, said: records.Said) -> Grid:
    """What the logs of computing elements say; what cannot be read of them is printed."""
    from sssjob.accounting.grid import Grid

    grid = Grid()
    for _ in records.jobs(logs, grid.read, counts, said) if logs else ():
        pass
    return grid


def _joined(outcomes: Iterator[record.Outcome[Job]], grid: Grid) -> Iterator[record.Outcome[Job]]:
    """The same outcomes, their jobs joined with the logs of computing elements."""
    from sssjob.records.record import Converted

    for outcome in outcomes:
        if isinstance(outcome, Converted):
            yield outcome._replace(job=grid.join(outcome.job))
        else:
            yield outcome


def _entries(jobs: Iterable[Job]) -> Iterator[str]:
    """Jobs as lines of lrmsinfo; one that nobody could count is left out, and said."""
    from sssjob.lcginfo import lrmsinfo
    from sssjob.lcginfo.jobs import from_blocks
    from sssjob.lcginfo.snapshot import Remark

    def report(remark: Remark) -> None:
        common.say(f"{remark.severity}: {remark.message}")

    return map(lrmsinfo.line_of, from_blocks(jobs, report=report))


def _report(counts: record.Counts, counts_json: str | None, said: records.Said) -> None:
    common.say(counts)
    if counts_json:
        found = {**counts.as_dict(), "bad": said.faults}
        with common.output(counts_json) as stream:
            stream.write(json.dumps(found).encode() + b"\n")
