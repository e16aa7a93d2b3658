"""``sssjob ledger report``: what jobs used, from a ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from sssjob.cli import cluster, common, options, spans
from sssjob.cli import report as shown
from sssjob.cli.ledger import shared

if TYPE_CHECKING:
    from sssjob.measures import Histograms, Percentiles


def _distributions() -> Iterable[str]:
    from sssjob.measures import DISTRIBUTIONS

    return DISTRIBUTIONS


@click.command(
    epilog="""\b
Examples:
  sssjob ledger report usage
  sssjob ledger report --by month,project --since 2026-01 --until 2026-07 usage
  sssjob ledger report --by day --csv usage > days.csv
  sssjob ledger report --by project --book end --json usage
  sssjob ledger report --by queue --percentiles 50,90,99 --of wait,efficiency usage
  sssjob ledger report --by queue --histograms --of wait --svg waits.svg usage
  sssjob ledger report --by department,month --names people.toml --svg months.svg usage
  sssjob ledger report --by project --rates 2026.toml --what-if 2027.toml usage

The usage of a run is divided among the hours, days or months by the time that it ran in each. It
counts as a job, and for means and maxima, where it ended; with --book end all of its usage counts
there, too.

Exit code: 0 reported, 1 no job, 2 not understood, or something could not be read."""
)
@shown.BY
@spans.SINCE
@spans.UNTIL
@shown.ZONE
@click.option(
    "--book", type=click.Choice(("run", "end")), default="run", show_default=True,
    help="Divide usage over the time of the run, or count all of it when the job ended.",
)  # fmt: skip
@click.option(
    "--percentiles",
    metavar="NUMBERS",
    default="",
    help="Add percentiles of each group, with commas: 50,90,99.9.",
)
@click.option(
    "--of", "distributions", metavar="NAMES", default="",
    shell_complete=options.completes(_distributions, several=True),
    help="What percentiles and histograms are of: wait, wall, processors, nodes, memory, "
         "efficiency, memory_efficiency. Default: all but nodes and memory.",
)  # fmt: skip
@click.option(
    "--histograms", "has_histograms", is_flag=True,
    help="Count the jobs of each group by these numbers. --plot and --svg draw them then.",
)  # fmt: skip
@shown.SORT
@shown.LIMIT
@shown.site_options
@shown.CSV
@options.RAW
@shown.JSON
@shown.PLOT
@shown.SVG
@shown.PARQUET
@options.WORKERS
@cluster.option
@click.option(
    "--no-rollup",
    "by_rows",
    is_flag=True,
    help="Add up all rows, even where sums that the ledger keeps (rollups) are enough.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Say how many files were answered by rollups, and how many by rows.",
)
@shared.AS_OF
@shared.directory
def command(
    by: str, since: str, until: str, zone: str, book: str, percentiles: str, distributions: str,
    has_histograms: bool, sort: str, limit: int | None, as_csv: bool, raw: bool, as_json: bool,
    plot: bool, svg: str | None, parquet: str, processes: int, by_rows: bool, explain: bool,
    number: int | None, directory: str, site: shown.SiteFiles,
) -> None:  # fmt: skip
    """Add up what jobs used, as sssjob report does, from the ledger DIR.

    A TIME is 2026, 2026-11, 2026-11-30, ISO 8601 or seconds since 1970.
    """
    from sssjob.accounting.report import Report

    where = spans.zone_of(zone)
    valued = shown.valuation(site, where)
    parts = shown.checked(by, sort, valued)
    report = Report(parts, *spans.window(since, until, where), where, extra=shown.asked(site))
    of = _listed(distributions)
    report.percentiles = _percentiles(percentiles, of)
    if has_histograms:
        report.histograms = _histograms(of, drawn=bool(svg))
    elif (of or distributions) and not percentiles:
        common.fail("--of needs --histograms, or numbers, such as --percentiles 50,90,99")
    if (percentiles or has_histograms) and (processes != 1 or cluster.is_wanted()):
        common.fail("--percentiles and --histograms are worked out by one process, which asks all "
                    "jobs together: leave --workers and --cluster out")  # fmt: skip
    with common.failing():
        fine = valued.fine(report)
    shown.check_sort(report, sort)
    used = cluster.processes(processes)
    unread = common.Complaints()
    with shared.opened(directory, number=number) as ledger:
        from sssjob.ledger.report import add_to

        answered = add_to(fine, ledger, book, unread, used, by_rollup=not by_rows)
    report.answered = answered._asdict()
    valued.fold(fine, report)
    rows = report.rows(sort, limit)
    shown.printed(report, rows, as_json=as_json, as_csv=as_csv, raw=raw)
    shown.drawn(report, rows, sort, plot=plot, svg=svg, beside=as_json or as_csv)
    if explain:
        common.say(answered)
    shown.written(report, rows, parquet)
    shown.tell_outside(report, valued)
    unread.leave(rows)


def _percentiles(wanted: str, of: Sequence[str]) -> Percentiles | None:
    """What ``--percentiles`` and ``--of`` ask for; what is not known ends the command."""
    from sssjob.measures import Percentiles

    if not wanted:
        return None
    numbers = _listed(wanted)
    if not numbers:
        common.fail("--percentiles needs numbers, such as --percentiles 50,90,99")
    with common.failing():
        return Percentiles.read(numbers, of)


def _histograms(of: Sequence[str], *, drawn: bool) -> Histograms:
    """What ``--histograms`` and ``--of`` ask for; what is not known ends the command."""
    from sssjob.measures import Histograms

    with common.failing():
        found = Histograms.read(of)
    if drawn and len(found.of) > 1:
        common.fail("--svg draws one histogram: name it, such as --of wait")
    return found


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
