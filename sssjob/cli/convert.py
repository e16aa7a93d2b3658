"""``sssjob convert``: accounting records in, job objects out."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from sssjob.cli import cluster, common, names, options, records, targets
from sssjob.cli.progress import watching
from sssjob.records import AUTO

if TYPE_CHECKING:
    from types import ModuleType

    from sssjob.accounting.grid import Grid
    from sssjob.document.sources import NamedSource
    from sssjob.lcginfo.snapshot import Remark
    from sssjob.records import record
    from sssjob.verbs.convert import Conversion, Filed
    from sssjob.verbs.records import RecordReading

LRMSINFO = "lrmsinfo"
LINES, WHOLE = "sss-lines", "sss"
OTHERS = (
    "jsonl", "parquet", "ur", "car", "apel", "apel-summary", "apel-normalised", "apel-sync",
)  # see accounting.writers  # fmt: skip
GROWING = ("jsonl", "ur", "car", "apel")  # of these, what more can be appended to
_SUM = "a sum that was written counts no job that comes later"
_WHOLE = {
    "parquet": "a table ends with what tells where its rows are",
    **dict.fromkeys(("apel-summary", "apel-normalised", "apel-sync"), _SUM),
    "lrmsinfo": "it shows the jobs of one moment",
}  # why nothing can be appended to the others
_FILES = "each job has a file of its own"
_BOTH = (
    "warning: of some runs two records are written, since what was written first cannot be taken "
    "back; --output FILE and --output-dir have only the one that counts"
)
FORMS = (LINES, WHOLE, *OTHERS, LRMSINFO)


@click.command(
    epilog="""\b
Examples:
  sssjob convert --from slurm sacct.txt > jobs.sss
  sacct -aPD -o ALL --delimiter=$'\\x1f' | sssjob convert --from slurm --tz Europe/London -
  sssjob convert --from slurm --to sss -o jobs.xml sacct-2026-*.txt.gz
  sssjob convert history.json.gz | sssjob query '//Job[ExitCode != 0]/Id' -
  sssjob convert --from slurm-json --blah blahp.log-20261121 sacct.json
  sssjob convert --from pbs --workers 0 -o jobs.sss server_priv/accounting/2026*
  sssjob convert --from sge --state sge.state -o jobs.sss common/accounting
  sssjob convert --from slurm --to ur -o records.xml --losses lost.jsonl sacct.txt
  sssjob convert --from sss --to apel-summary --site CERN-PROD jobs.sss

Exit code: 0 every record converted or skipped, 1 some were bad or may be missing, 2 a file or a
document cannot be read."""
)
@names.option(
    "--from", "format_name", names=names.formats, metavar="FORMAT", default=AUTO.name,
    help="What the records are: {names}, or the name of a batch system. Default: auto.",
)  # fmt: skip
@click.option(
    "--to", "form", type=options.DocumentForm(FORMS),
    help="One document on each line (the default), one document around all, JSON lines, a table, "
         "OGF usage records, EMI's compute records, APEL's messages, or lines of lrmsinfo. "
         "Without it, a terminal gets indented documents.",
)  # fmt: skip
@options.OUTPUT_DIRECTORY
@options.ZONE
@options.COLUMNS
@options.DELIMITER
@options.ENDED_ONLY
@click.option(
    "--no-steps", is_flag=True, help="Add what steps used to their job, and leave the steps out."
)
@click.option(
    "--blah", "logs", metavar="FILE", multiple=True, type=click.Path(dir_okay=False),
    help="Join the jobs with this log of a computing element, by id and time; may be repeated.",
)  # fmt: skip
@options.WORKERS
@cluster.option
@click.option(
    "--state", metavar="FILE", type=click.Path(dir_okay=False),
    help="Remember how far growing logs were read, and append what is new to the output.",
)  # fmt: skip
@click.option(
    "--site", metavar="NAME", default="",
    help="The site, for CAR and APEL. Default for APEL: the machine.",
)  # fmt: skip
@click.option(
    "--submit-host", metavar="NAME", default="", help="Where jobs were submitted, for CAR and APEL."
)
@click.option(
    "--infrastructure", metavar="TYPE", default="", help="For CAR and APEL. Default: grid."
)
@click.option(
    "--benchmark", metavar="TYPE=FIGURE", default="",
    help="The rating of a processor, for CAR and APEL, such as HEPscore23=11.4.",
)  # fmt: skip
@click.option(
    "--losses", metavar="FILE", type=click.Path(dir_okay=False),
    help="List what the target could not hold, as JSON lines.",
)  # fmt: skip
@click.option(
    "--counts-json", metavar="FILE", type=click.Path(dir_okay=False),
    help="Write the counts as JSON.",
)  # fmt: skip
@options.ALL_FINDINGS
@options.OUTPUT
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

    A FILE has records or documents, compressed or not; or it is a directory of documents, a store,
    or "-" for standard input. A bad record is reported with its line, and the others are converted.
    The numbers of converted, skipped and bad records are printed at the end.
    """
    from sssjob.document.sources import RereadableSources
    from sssjob.records.runs import SeenRuns
    from sssjob.verbs import documents
    from sssjob.verbs.convert import Conversion, Filed, ReadAgain
    from sssjob.verbs.records import RecordReading, ToldOnce

    records.format_of(format_name)
    options = _options(zone, columns, delimiter, ended_only, not no_steps, format_name)
    told = targets.TargetOptions(site, submit_host, infrastructure, benchmark, losses)
    wanted = WantedOutput(form, output, output_dir, state, told)
    _refuse(wanted, processes != 1 or cluster.is_wanted(), bool(logs), bool(files))
    said = records.RecordMessages()
    of_logs = reading = RecordReading(said, watching)
    with common.failing():
        grid = _grid(logs, of_logs) if logs else None
        given = tuple(common.sources(files))
        again = RereadableSources(given) if wanted.can_begin_anew else given
        is_documents = format_name in (AUTO.name, documents.DOCUMENTS)
        seen, once = SeenRuns(), ToldOnce(said)
        filed = None if output_dir is None else Filed(Path(output_dir))
        work = Conversion(
            (), format_name, options, reading, cluster.processes(processes), grid, seen,
            can_begin_anew=wanted.can_begin_anew,
        )  # fmt: skip

        def sources() -> tuple[NamedSource, ...]:
            return tuple(documents.readable(again, once) if is_documents else again)

        try:
            reading = RecordReading(once, watching)
            missed = _write(replace(work, sources=sources(), reading=reading), wanted, filed)
        except ReadAgain:
            once.begin(is_silent=True)
            reading = RecordReading(once, watching)
            if grid is not None:
                grid.joined = 0
            work = replace(work, sources=sources(), reading=reading, seen=seen.second())
            missed = _write(work, wanted, filed)
        else:
            if seen.has_written_both:
                common.say(_BOTH)
    if grid is not None:
        common.say(f"joined {grid.joined} of {grid.entries} entries of logs")
    said.rest()
    _report(reading.counts, counts_json, said)
    bad = reading.counts.bad or of_logs.counts.bad or missed
    sys.exit(common.ended(bad, unread=said.unread))


class WantedOutput(NamedTuple):
    """What the user wants: a form, and where it goes; ``state`` remembers growing logs."""

    form: str | None
    output: str | None
    output_dir: str | None
    state: str | None
    told: targets.TargetOptions

    @property
    def can_begin_anew(self) -> bool:
        """Whether what was written may be written again: it is seen at the end, or replaced."""
        if self.state is not None:
            return False
        if self.output_dir is not None:
            return True
        if self.output in (None, "-"):
            return self.form in _WHOLE
        path = Path(self.output)
        return path.is_file() or not os.path.lexists(path)

    @property
    def indent(self) -> bool:
        """Whether a person looks at the documents."""
        return self.form is None and self.output in (None, "-") and sys.stdout.isatty()


def _refuse(wanted: WantedOutput, several: bool, joined: bool, named: bool) -> None:
    """End the command where options do not go together."""
    form, output = wanted.form, wanted.output
    if wanted.output_dir is not None and (output or form not in (None, LINES, WHOLE)):
        common.fail("--output-dir writes job objects, and cannot be used with --output")
    if form not in OTHERS and any(wanted.told):
        common.fail(
            f"--losses and the options that describe a site need --to of {', '.join(OTHERS)}"
        )
    if joined and (wanted.state is not None or several):
        common.fail(
            "--blah cannot be used with --workers, --cluster or --state: a job is joined in one "
            "run only"
        )
    if wanted.indent and wanted.output_dir is None and several:
        common.fail(
            "--workers and --cluster cannot write indented documents: name another form with --to"
        )
    if wanted.state is None:
        return
    if wanted.output_dir is not None or form not in (None, LINES, WHOLE, *GROWING):
        told = "--output-dir" if wanted.output_dir is not None else f"--to {form}"
        common.fail(
            f"--state cannot append to {told}: {_WHOLE.get(form or '', _FILES)}; "
            f"append to --to {LINES}, {WHOLE} or {', '.join(GROWING)}, and convert what is there"
        )
    if output in (None, "-") or not named:
        common.fail("--state needs --output FILE and named files")


def _options(
    zone: str, columns: str, delimiter: str, ended_only: bool, steps: bool, format_name: str
) -> record.Options:
    from sssjob.records import AUTO
    from sssjob.records.record import Options

    table = records.table(columns, delimiter, "" if format_name == AUTO.name else format_name)
    return Options(zone, table.columns, table.delimiter, ended_only, steps)


def _write(work: Conversion, wanted: WantedOutput, filed: Filed | None) -> int:
    """Write what is wanted to where it is wanted: ``filed`` is a directory, if that is it.

    Gives the number of logs of which records may be missing.
    """
    from sssjob.verbs import convert

    if wanted.state is not None and wanted.output is not None:
        state, grown = Path(wanted.state), Path(wanted.output)
        if wanted.form in GROWING:
            said = targets.append(work, wanted.form, wanted.told, state, grown)
        else:
            around = (convert.HEAD, None, convert.TAIL) if wanted.form == WHOLE else ()
            said = convert.grown(work, state, grown, *around)
        for text in (*said.remarks, *said.losses):
            common.say(f"warning: {text}")
        return len(said.losses)
    if filed is not None:
        if work.processes > 1:
            filed.write(_by_several().documents(work))
        else:
            filed.write(map(convert.file_of, work.jobs()))
    elif wanted.form in OTHERS:
        targets.write(work, wanted.form, wanted.told, wanted.output)
    else:
        with common.output(wanted.output) as stream:
            if wanted.form == LRMSINFO:
                (convert if work.processes == 1 else _by_several()).lrmsinfo(work, stream, _remark)
            else:
                whole = wanted.form == WHOLE
                mixed = common.is_mixed(wanted.output)
                convert.documents(work, stream, wrap=whole, indent=wanted.indent, at_once=mixed)
    return 0


def _by_several() -> ModuleType:
    """What writes by several processes, which takes its time to import."""
    from sssjob.verbs import convert_targets

    return convert_targets


def _remark(remark: Remark) -> None:
    common.say(f"{remark.severity}: {remark.message}")


def _grid(logs: tuple[str, ...], reading: RecordReading) -> Grid:
    """What the logs of computing elements say; what cannot be read of them is printed."""
    from sssjob.accounting.grid import Grid

    grid = Grid()
    for _ in reading.jobs(common.sources(logs), grid.read):
        pass
    return grid


def _report(
    counts: record.RecordCounts, counts_json: str | None, said: records.RecordMessages
) -> None:
    common.say(counts)
    if counts_json:
        found = {**counts.as_dict(), "bad": said.faults}
        with common.output(counts_json) as stream:
            stream.write(json.dumps(found).encode() + b"\n")
