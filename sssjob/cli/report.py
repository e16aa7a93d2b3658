"""``sssjob report``: what jobs used, by user, group, project, queue, machine, state and time."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from sssjob.cli import cluster, common, names, options, records, spans
from sssjob.cli.names import DOCUMENTS
from sssjob.cli.progress import watching
from sssjob.cli.ranges import WholeNumber
from sssjob.records import AUTO

if TYPE_CHECKING:
    from datetime import tzinfo

    from sssjob.accounting.report import Report
    from sssjob.accounting.valuing import Valuation
    from sssjob.document.sources import NamedSource
    from sssjob.drawing.report import Rows
    from sssjob.errors import SSSJobError
    from sssjob.records.runs import Knowing
    from sssjob.verbs.records import Tell


def _groupings() -> Iterable[str]:
    from sssjob.accounting.report import GROUPINGS

    return GROUPINGS


def _measures() -> Iterable[str]:
    from sssjob.measures import SORTED_BY

    return SORTED_BY


# Options of every report.
BY = click.option(
    "--by", metavar="NAMES", default="user", show_default=True,
    shell_complete=options.completes(_groupings, several=True),
    help="What to group by, with commas: user, group, project or account, queue, partition, "
         "machine or cluster, state, status, qos, application, global-user, exit, nodes (by size); "
         "hour, day, week, month, year of the end; any column of --names.",
)  # fmt: skip
ZONE = click.option(
    "--tz", "zone", metavar="ZONE", default="UTC", show_default=True,
    shell_complete=options.completes(options.zones),
    help="The zone of days and months, and of times that state none.",
)  # fmt: skip
SORT = click.option(
    "--sort", metavar="MEASURE", default="", shell_complete=options.completes(_measures),
    help="Sort by this, the largest first. Default: time, then processor_seconds.",
)  # fmt: skip
LIMIT = click.option(
    "--limit", metavar="N", type=WholeNumber(1), help="Only so many rows; the rest are added up."
)


def _one_form(context: click.Context, parameter: click.Parameter, value: bool) -> bool:
    """Refuse a second form beside one."""
    given = {name for name in ("as_json", "as_csv") if context.params.get(name)}
    if value and given - {parameter.name}:
        raise click.UsageError("--json and --csv: give one of them", context)
    return value


CSV = click.option(
    "--csv", "as_csv", is_flag=True, callback=_one_form, help="Print comma-separated values."
)
JSON = click.option(
    "--json",
    "as_json",
    is_flag=True,
    callback=_one_form,
    help="Print JSON: times in seconds, sizes in bytes, efficiencies from 0 to 1.",
)
PLOT = click.option("--plot", is_flag=True, help="Draw processor hours (or --sort) as bars.")
SVG = options.picture(
    "Draw the bars in FILE; over time, where --by is hour, day, week, month or year alone."
)
NAMES = click.option(
    "--names", "names_files", metavar="FILE", multiple=True, type=click.Path(),
    help="Who belongs where, for --by department and the like: TOML or CSV, several times.",
)  # fmt: skip
FACTORS = click.option(
    "--factors", metavar="FILE", default="", type=click.Path(),
    help="Benchmark factors of machines and the like, for normalized hours: TOML or CSV.",
)  # fmt: skip
RATES = click.option(
    "--rates", metavar="FILE", default="", type=click.Path(),
    help="Prices of hours and the like, for charges: TOML or CSV.",
)  # fmt: skip
WHAT_IF = click.option(
    "--what-if", "what_if", metavar="FILE", default="", type=click.Path(),
    help="Other rates, for charges beside those of --rates.",
)  # fmt: skip
REQUESTED = click.option(
    "--requested",
    is_flag=True,
    help="Add the wall time, processors, memory and GPUs that were requested, and what was used of "
         "them.",
)  # fmt: skip
WAIT = click.option(
    "--wait", is_flag=True,
    help="Add how long jobs waited from submission to start: the sum, and the mean of a job.",
)  # fmt: skip
PARQUET = click.option(
    "--parquet", metavar="FILE", default="", type=click.Path(),
    help="Write the rows to FILE as Parquet, too.",
)  # fmt: skip


class SiteFiles(NamedTuple):
    """The files of a site, as options name them, and what is told besides."""

    names: tuple[str, ...] = ()
    factors: str = ""
    rates: str = ""
    what_if: str = ""
    requested: bool = False
    wait: bool = False


def site_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options for names, factors and rates; the command gets ``site``, its ``SiteFiles``."""

    @wraps(command)
    def run(
        names_files: tuple[str, ...], factors: str, rates: str, what_if: str, requested: bool,
        wait: bool, **rest: Any,
    ) -> None:  # fmt: skip
        command(site=SiteFiles(names_files, factors, rates, what_if, requested, wait), **rest)

    for option in (WAIT, REQUESTED, WHAT_IF, RATES, FACTORS, NAMES):
        run = option(run)
    return run


@click.command(
    epilog="""\b
Examples:
  sssjob report jobs.sss
  sssjob report sacct.txt
  sssjob report --by project,month --since 2026-01 --until 2026-07 jobs.db
  sacct -aPD -S 2026-11-01 -o ALL | sssjob report --by user --plot -
  sssjob report --by queue --csv jobs.sss > queues.csv
  sssjob report --by department,month --names people.toml --rates prices.toml jobs.db

Hours are wall time, wall time by processors, and CPU time.

Exit code: 0 reported, 1 no job or a bad record, 2 not understood, or something could not be
read."""
)
@BY
@names.DOCUMENTS_OR_RECORDS
@options.COLUMNS
@options.DELIMITER
@spans.SINCE
@spans.UNTIL
@ZONE
@SORT
@LIMIT
@site_options
@CSV
@options.RAW
@JSON
@PLOT
@SVG
@PARQUET
@options.WORKERS
@cluster.option
@options.ALL_FINDINGS
@click.argument("files", nargs=-1, metavar="FILE...")
def command(
    by: str,
    format_name: str,
    columns: str,
    delimiter: str,
    since: str,
    until: str,
    zone: str,
    sort: str,
    limit: int | None,
    as_csv: bool,
    raw: bool,
    as_json: bool,
    plot: bool,
    svg: str | None,
    parquet: str,
    processes: int,
    files: tuple[str, ...],
    site: SiteFiles,
) -> None:
    """Add up what jobs used.

    FILEs hold documents (compressed or not), or are stores, or hold records of a batch system;
    "-" is standard input. A TIME is 2026, 2026-11, 2026-11-30, ISO 8601 or seconds since 1970.
    """
    from sssjob.accounting.report import Report
    from sssjob.document.sources import RereadableSources
    from sssjob.records.runs import SeenRuns
    from sssjob.verbs.records import RecordReading, ToldOnce
    from sssjob.verbs.report import ReportedJobs, add_once

    if format_name != DOCUMENTS:
        records.format_of(format_name)
    table = records.table(columns, delimiter, format_name)
    where = spans.zone_of(zone)
    valued = valuation(site, where)
    parts = checked(by, sort, valued)
    report = Report(parts, *spans.window(since, until, where), where, extra=asked(site))
    with common.failing():
        fine = valued.fine(report)
    check_sort(report, sort)
    unread: list[SSSJobError] = []

    def unread_(error: SSSJobError) -> None:
        unread.append(error)
        common.say_error(error)

    said = records.RecordMessages()
    told, failed = ToldOnce(said), ToldOnce(unread_)
    reading = RecordReading(told, watching)
    given = "" if zone == "UTC" else zone
    sources = RereadableSources(common.sources(files))
    used = cluster.processes(processes)

    def read(found: Report, seen: Knowing, by_one: bool) -> None:
        nonlocal reading
        reading = RecordReading(told, watching)
        for each in (told, failed):
            each.begin(is_silent=not isinstance(seen, SeenRuns))
        with ExitStack() as stack:
            for name, some in by_format(sources, format_name, stack, told):
                ReportedJobs(
                    some,
                    failed,
                    name,
                    given,
                    reading,
                    1 if by_one else used,
                    seen,
                    *table,
                    True,
                    len(files) > 1,
                ).add_to(found)

    with common.failing():
        add_once(fine, read)
    valued.fold(fine, report)
    rows = report.rows(sort, limit)
    printed(report, rows, as_json=as_json, as_csv=as_csv, raw=raw)
    drawn(report, rows, sort, plot=plot, svg=svg, beside=as_json or as_csv)
    written(report, rows, parquet)
    tell_outside(report, valued)
    said.rest()
    if reading.counts.records or format_name not in (AUTO.name, DOCUMENTS):
        common.say(reading.counts)
    broken = len(unread) + said.unread
    if not (broken or rows or reading.counts.records or report.outside):
        common.say("sssjob: no job")
    sys.exit(common.ended(reading.counts.bad or not rows, unread=broken))


def by_format(
    sources: Iterable[NamedSource], wanted: str, stack: ExitStack, said: Tell
) -> Iterator[tuple[str, Iterable[NamedSource]]]:
    """The sources by the format that was named, or that they are recognised by, which is said."""
    from sssjob.verbs.documents import by_format

    if wanted != AUTO.name:
        yield wanted, sources
        return
    yield from by_format(sources, stack, said)


def asked(site: SiteFiles) -> tuple[str, ...]:
    """What a report tells besides, without the files of a site."""
    from sssjob.measures import told_besides

    return told_besides(requested=site.requested, wait=site.wait)


def valuation(site: SiteFiles, zone: tzinfo) -> Valuation:
    """What the files of a site say; what is wrong with one ends the command."""
    from sssjob.accounting.valuing import Valuation

    if site.what_if and not site.rates:
        common.fail("--what-if needs --rates, with which its charges are compared")
    with common.failing():
        return Valuation.read(site.names, site.factors, site.rates, site.what_if, zone)


def checked(by: str, sort: str, valued: Valuation) -> tuple[str, ...]:
    """What to group by; a name that is not known ends the command."""
    from sssjob.accounting.report import GROUPINGS
    from sssjob.measures import MEASURES, SORTED_BY

    parts = tuple(name.strip() for name in by.split(",") if name.strip())
    known = [each.name for each in MEASURES]
    known += [name for name in SORTED_BY if name not in known]
    for name in parts:
        _known("--by", name, (*GROUPINGS, *valued.names.sources))
    if sort:
        _known("--sort", sort, known)
    return parts


def check_sort(report: Report, sort: str) -> None:
    """End the command for a measure that this report does not tell."""
    from sssjob.measures import EXTRA

    if sort and sort not in {each.name for each in report.measures}:
        of = next(name for name, some in EXTRA.items() if sort in {each.name for each in some})
        common.fail(
            f"--sort {sort} needs {_OPTIONS[of]}: without it, the report has no such column"
        )


# The options by which a report tells more, by the names of ``measures.EXTRA``.
_OPTIONS = {
    "asked": "--requested", "wait": "--wait", "factors": "--factors", "rates": "--rates",
    "what-if": "--what-if",
}  # fmt: skip


def _known(option: str, name: str, names: Collection[str]) -> None:
    """End the command for a name that is none of those of an option."""
    from sssjob.suggestions import question

    if name not in names:
        common.fail(f"{option} {name!r} is not one of {', '.join(names)}{question(name, names)}")


def printed(report: Report, rows: Rows, *, as_json: bool, as_csv: bool, raw: bool) -> None:
    """Print the rows."""
    from sssjob.drawing import report as forms

    if as_json:
        common.data(json.dumps(forms.as_json(report, rows), indent=2, ensure_ascii=False))
    elif as_csv:
        common.data(forms.as_csv(report, rows, raw=raw), nl=False)
    elif rows:
        for line in forms.table(report, rows, common.room()):
            common.echo(line)


def tell_outside(report: Report, valued: Valuation) -> None:
    """Say how many jobs were left out, and what the files of a site do not tell."""
    for note in valued.notes:
        common.say(note)
    if report.outside:
        jobs = "job" if report.outside == 1 else "jobs"
        common.say(f"left out: {report.outside} {jobs} that did not end in this span of time")


def drawn(
    report: Report, rows: Rows, sort: str, *, plot: bool, svg: str | None, beside: bool
) -> None:
    """The rows as bars, in the terminal (beside other output: on standard error) or in a file."""
    from sssjob.drawing import bars, histogram
    from sssjob.drawing.report import over_time, picture

    every = report.measures
    measure = next((each for each in every if each.name == sort), every[2])
    title, some = picture(report, rows, measure)
    is_spread = report.histograms is not None
    if plot:
        room = common.room()
        lines = histogram.terminal(report, room) if is_spread else bars.terminal(title, some, room)
        for line in lines:
            common.echo(line, err=beside)
    if svg:
        keys = [key for key, _ in rows]
        if is_spread:
            drawn = histogram.svg(report, keys)
        else:
            drawn = over_time(report, rows, measure) or bars.svg(title, some)
        with common.output(svg) as stream:
            stream.write(drawn.encode())


def written(report: Report, rows: Rows, file: str) -> None:
    """The rows in a file of Parquet, if that is wanted."""
    if not file:
        return
    try:
        from sssjob.accounting.rows import write
    except ModuleNotFoundError as error:
        common.fail(f"--parquet needs {error.name}: pip install 'sssjob[parquet]'")
    with common.output(file) as stream:
        write(report, rows, stream)
