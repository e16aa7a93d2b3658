"""``sssjob lcginfo estimate``: how long a job would wait, and why."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, options
from sssjob.cli.lcginfo import shared

if TYPE_CHECKING:
    from sssjob.lcginfo.answers import QueueAnswer
    from sssjob.lcginfo.site import Pair, Site

HEADER = ("queue", "VO", "running", "waiting", "free", "ERT", "WRT")


@click.command(
    epilog="""\b
Examples:
  sssjob lcginfo estimate -c lcg-info-dynamic-scheduler.conf --explain
  sssjob lcginfo estimate --lrms lrmsinfo --caps vomaxjobs --json
  sssjob lcginfo estimate --lrms lrmsinfo --plot --svg queue.svg
  sssjob lcginfo lrms --from slurm | sssjob lcginfo estimate --lrms - --queue main --vo atlas

Exit code: 0 answered, 1 no job names that queue or VO, or a line was left out, 2 no answer."""
)
@options.CONFIGURATION
@click.option("--lrms", metavar="FILE", help="Read lrmsinfo here instead of running a command.")
@click.option("--caps", metavar="FILE", help="Read vo-max-jobs here instead of running a command.")
@options.ESTIMATOR
@options.ALL_FINDINGS
@click.option("--queue", metavar="NAME", help="Show this queue only.")
@click.option("--vo", metavar="NAME", help="Show this VO or FQAN only.")
@click.option("--explain", is_flag=True, help="Say why a job would wait.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON, times in seconds.")
@click.option("--plot", is_flag=True, help="Plot the simulated queue over time.")
@options.PLOT
def command(
    path: str | None,
    lrms: str | None,
    caps: str | None,
    estimator: str,
    queue: str | None,
    vo: str | None,
    explain: bool,
    as_json: bool,
    plot: bool,
    svg: str | None,
) -> None:
    """Estimate how long a job would wait in each queue, for each VO.

    ERT is the estimated, WRT the worst response time. With --queue and --vo there is an answer even
    if that VO has no job in that queue.
    """
    from sssjob.lcginfo import answers

    if path is None and lrms is None:
        common.fail("nothing to estimate from: give --config or --lrms")
    log = shared.Log()
    with common.failing():
        site = _site(path, lrms, caps, log)
        pairs = _pairs(site, queue, vo)
        rows = answers.answers(site, pairs, estimator)
        plotted = _plotted(site, svg) if plot or svg else []
    log.close()
    if as_json:
        common.data(json.dumps([row.as_dict(explain=explain) for row in rows], indent=2))
    elif rows:
        for line in _table(rows, explain=explain):
            common.fitted(line)
    if plot:
        for line in plotted:
            common.echo(line, err=as_json)
    if log.bad or (not rows and (queue or vo)):
        raise SystemExit(common.NOTHING)


def _site(path: str | None, lrms: str | None, caps: str | None, log: shared.Log) -> Site:
    """The site that the configuration's commands, or the named files, show."""
    from sssjob.commands import OUTPUT_LIMIT
    from sssjob.lcginfo import answers, config
    from sssjob.lcginfo.snapshot import about_source

    log.name = path or ""
    loaded = config.load(path, log) if path else config.Config()
    printed = None if lrms is None else shared.contents(lrms, OUTPUT_LIMIT)
    given = None if caps is None else shared.caps(caps, log)
    log.name = lrms or path or ""
    if printed is None:
        with config.about_file(log.name):
            return answers.gather(loaded, log, given=given)
    with about_source(log.name):
        loaded = replace(loaded, vo_max_jobs_cmd=())
        return answers.gather(loaded, log, printed=printed, given=given)


def _plotted(site: Site, svg: str | None) -> list[str]:
    """The plot of the simulated queue as lines, and in a file if one is named."""
    from sssjob.drawing import chart
    from sssjob.drawing.queue import queue_chart

    drawn = queue_chart(site)
    if svg:
        with common.output(svg) as stream:
            stream.write(chart.svg(drawn).encode())
    return chart.terminal(drawn, common.room())


def _pairs(site: Site, queue: str | None, vo: str | None) -> Sequence[Pair]:
    from sssjob.lcginfo.names import normal

    named = None if vo is None else normal(vo)
    if queue and named:
        return [(queue, named)]
    return [
        pair
        for pair in site.pairs
        if (queue is None or pair[0] == queue) and (named is None or pair[1] == named)
    ]


def _table(rows: Sequence[QueueAnswer], *, explain: bool) -> list[str]:
    """The rows as aligned text, each with the reasons below it."""
    from sssjob.drawing.columns import aligned
    from sssjob.visible import visible

    table = list(aligned([HEADER, *map(_cells, rows)], 2, 0 if explain else common.room()))
    if not explain:
        return table
    lines = table[:1]
    for line, row in zip(table[1:], rows, strict=True):
        lines += [line, *(f"    {visible(reason)}" for reason in row.why)]
    return lines


def _cells(row: QueueAnswer) -> tuple[str, ...]:
    from sssjob import units
    from sssjob.visible import visible

    counts = (row.running, row.waiting, row.free)
    return (
        visible(row.queue),
        visible(row.vo),
        *("-" if count is None else str(count) for count in counts),
        *("-" if time is None else units.clock(time) for time in (row.ert, row.wrt)),
    )
