"""``sssjob audit``: whether accounting is complete, by what the batch system says exists."""

from __future__ import annotations

import json
import sys
from fractions import Fraction

import click

from sssjob.cli import common, names, options, records, spans
from sssjob.cli.names import DOCUMENTS
from sssjob.cli.progress import watching
from sssjob.cli.ranges import NumberRange


@click.command(
    epilog="""\b
Examples:
  sssjob audit --against sacct-list.txt jobs.sss
  sssjob audit --ask slurm --since 2026-11-20 --until 2026-11-21 jobs.db
  sacct -aPDX -S 2026-11-20 -o ALL | sssjob audit --against - --json jobs.sss
  sssjob audit --gaps server_priv/accounting/2026*
  sssjob audit --against sreport.txt --against sync-message jobs.sss

Exit code: 0 no differences, 1 some, or a bad record, or nothing was read and nothing is
listed, 2 not understood, or something could not be read."""
)
@click.option(
    "--against", metavar="FILE", multiple=True, type=click.Path(),
    help="What the system says exists: records or documents that list its jobs, what sreport "
         "prints (-P -t Seconds), or APEL's messages of synchronisation; may be repeated.",
)  # fmt: skip
@click.option(
    "--ask", "system", metavar="SYSTEM", type=names.SystemName("listed"),
    help="Ask this batch system which jobs there are, since --since.",
)  # fmt: skip
@click.option("--gaps", is_flag=True, help="Report job numbers that were not read, too.")
@names.DOCUMENTS_OR_RECORDS
@options.COLUMNS
@options.DELIMITER
@spans.SINCE
@spans.UNTIL
@click.option(
    "--tz", "zone", metavar="ZONE", default="UTC", show_default=True,
    shell_complete=options.completes(options.zones),
    help="The zone of days, and of times without one.",
)  # fmt: skip
@click.option(
    "--tolerance", metavar="PERCENT", type=NumberRange(0, 100), default=0, show_default=True,
    help="By how much processor seconds may differ from those of sreport.",
)  # fmt: skip
@options.TIMEOUT
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@options.ALL_FINDINGS
@click.argument("files", nargs=-1, metavar="FILE...")
def command(
    against: tuple[str, ...], system: str | None, gaps: bool, format_name: str,
    columns: str, delimiter: str, since: str,
    until: str, zone: str, tolerance: float, timeout: float, as_json: bool,
    files: tuple[str, ...],
) -> None:  # fmt: skip
    """Compare what was read with what a batch system says exists, by machine and day of the end.

    FILEs are what was read: documents, stores or records; "-" is standard input. Runs are missing,
    truncated (reading stopped before them), doubled, changed later, or not listed.
    Without --against and --ask, only runs that were read twice are reported, and with --gaps also
    missing job numbers.
    """
    from sssjob.accounting.audit import AuditQuestion, audit
    from sssjob.commands import CommandLimits
    from sssjob.drawing import audit as forms
    from sssjob.verbs.audit import Sides
    from sssjob.verbs.records import RecordReading

    if format_name != DOCUMENTS:
        records.format_of(format_name)
    table = records.table(columns, delimiter, format_name)
    where = spans.zone_of(zone)
    question = AuditQuestion(
        *spans.window(since, until, where), where,
        Fraction(str(tolerance)) / 100, gaps,
    )  # fmt: skip
    if system and question.since is None:
        common.fail("--ask needs --since: from when on to ask the batch system")
    if not files and "-" in against:
        common.fail(
            "name the FILEs that were read: standard input has the jobs that they are compared with"
        )
    unread = common.Complaints()
    said = records.RecordMessages()
    reading = RecordReading(said, watching)
    sides = Sides(unread, reading, "" if zone == "UTC" else zone, *table)
    with common.failing():
        listed, sums = sides.against(common.sources(against)) if against else (None, [])
        if system:
            listed = [
                *(listed or ()),
                *sides.asked(system, question, CommandLimits(seconds=timeout)),
            ]
        read = sides.runs(common.sources(files), format_name)
        found = audit(question, read, listed, sums)
    if as_json:
        bad = {"bad": reading.counts.bad}
        common.data(json.dumps({**forms.as_json(found), **bad}, indent=2, ensure_ascii=False))
    else:
        for line in forms.lines(found, common.room()):
            common.fitted(line)
    said.rest()
    if found.outside:
        noun = "run" if found.outside == 1 else "runs"
        common.say(f"left out: {found.outside} {noun} that did not end in this span of time")
    if as_json and found.is_empty and not (unread.count or reading.counts.bad):
        common.say(f"sssjob: {forms.EMPTY}")
    is_well = found.is_well and not found.is_empty
    sys.exit(common.ended(reading.counts.bad or not is_well, unread=unread.count + said.unread))
