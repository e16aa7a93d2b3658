"""``sssjob lcginfo backtest``: estimates compared with what happened."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import click

from sssjob.cli import common, defaults, options, records, spans
from sssjob.cli.lcginfo import shared
from sssjob.cli.ranges import NumberRange, WholeNumber

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sssjob.drawing.chart import Chart
    from sssjob.lcginfo.backtest import EstimatorChoice, Trial

HEADER = ("estimator", "jobs", "bias", "median error", "95% bounds", "within WRT")


@click.command(
    epilog="""\b
Examples:
  sssjob convert --from slurm sacct.txt | sssjob lcginfo backtest --slots 240
  sssjob lcginfo backtest -c lcg-info-dynamic-scheduler.conf --svg waits.svg jobs.sss
  sssjob lcginfo lrms --from slurm > now && sssjob lcginfo backtest --lrms now jobs.db

Exit code: 0 done, 1 no job of the log could be estimated, or a record is bad, 2 not
understood."""
)
@click.option("-c", "--config", "path", metavar="FILE", help="The configuration: vomap, factors.")
@click.option("--caps", metavar="FILE", help="The caps that held, as vo-max-jobs.")
@click.option(
    "--lrms", metavar="FILE",
    help="The slots, pools, queues and reservations that there were, as lrmsinfo.",
)  # fmt: skip
@options.ESTIMATORS
@click.option(
    "--slots",
    metavar="N",
    type=WholeNumber(1),
    help="How many slots there were. Default: the most that were busy at one time.",
)
@click.option(
    "--samples", metavar="N", type=WholeNumber(1), default=200, show_default=True,
    help="How many jobs to estimate, spread evenly over the log.",
)  # fmt: skip
@click.option(
    "--warm-up", metavar="SECONDS", type=NumberRange(0), default=0,
    help="Skip jobs of the log's first seconds: it does not show what ran before.",
)  # fmt: skip
@click.option(
    "--remember", metavar="JOBS", type=WholeNumber(0), default=0,
    help="How many finished jobs the batch system shows; estimators learn from them.",
)  # fmt: skip
@options.QUEUE
@options.ALL_FINDINGS
@click.option("--plot", is_flag=True, help="Plot estimated over actual waits.")
@options.PLOT
@click.option("--json", "as_json", is_flag=True, help="Print every sample as JSON.")
@click.argument("files", nargs=-1, metavar="[FILE]...")
def command(
    path: str | None,
    caps: str | None,
    lrms: str | None,
    names: tuple[str, ...],
    slots: int | None,
    samples: int,
    warm_up: float,
    remember: int,
    queue: str,
    plot: bool,
    svg: str | None,
    as_json: bool,
    files: tuple[str, ...],
) -> None:
    """Compare estimated response times with how long jobs waited.

    FILEs hold finished jobs: documents, records, directories of documents, or stores. Bias is the
    mean of estimated less actual wait. The median error of all jobs like these is within the bounds
    in 95 of 100 logs that are long: some weeks, by how much its parts differ. The last column is
    the part of the jobs that started within the worst time. The estimator that was nearest is
    named, and whether the log is enough to say so.
    """
    from sssjob.commands import OUTPUT_LIMIT
    from sssjob.lcginfo import backtest, config, estimators, lrmsinfo
    from sssjob.lcginfo.reader import ReaderOptions
    from sssjob.lcginfo.snapshot import Snapshot
    from sssjob.verbs.queue_state import QueueReading

    log = shared.Log()
    with common.failing():
        log.name = path or ""
        loaded = config.load(path, log) if path else config.Config()
        limits = loaded.vomap.caps(shared.caps(caps, log)) if caps else {}
        log.name = lrms or ""
        printed = shared.contents(lrms, OUTPUT_LIMIT) if lrms else b""
        there = lrmsinfo.read(io.BytesIO(printed), log) if lrms else Snapshot()
        slots = there.nactive if slots is None else slots
        understood = log.bad
        said = records.RecordMessages()
        zone = defaults.zone(click.get_current_context())
        told = ReaderOptions(spans.zone_of(zone) if zone else None, queue=queue)
        reading = QueueReading(told, log.about, said)
        past = reading.past(common.sources(files))
        said.rest()
        unread = log.bad > understood or said.unread
        setup = backtest.Setup(loaded, limits, slots, samples, warm_up, remember, there.scheduling)
        trials = backtest.backtest(past, names or estimators.names(), setup)
        log.close()
        if svg:
            _write(svg, trials)
    if slots is None:
        common.say(f"slots: {backtest.most_busy(past)}, the most that were busy at one time")
    if not any(trial.samples for trial in trials):
        common.say("no job with a SubmitTime and a StartTime to ask about")
        sys.exit(common.ended(True, unread=unread))
    chosen = backtest.choice(trials)
    if as_json:
        common.data(json.dumps([_plain(trial, chosen) for trial in trials], indent=2))
    else:
        for line in _table(trials):
            common.echo(line)
        for line in _chosen(chosen):
            common.fitted(line)
    if plot:
        from sssjob.drawing import chart

        for line in chart.terminal(_chart(trials), common.room()):
            common.echo(line, err=as_json)
    sys.exit(common.ended(said.bad, unread=unread))


def _chosen(choice: EstimatorChoice | None) -> Iterator[str]:
    """What the back-test says of which estimator to use."""
    if choice is None:
        return
    if choice.rivals:
        yield f"nearest: {choice.estimator}; as near may be: {', '.join(choice.rivals)}"
    else:
        yield f"nearest: {choice.estimator}, in 95 of 100 such logs"


def _plain(trial: Trial, choice: EstimatorChoice | None) -> dict[str, Any]:
    low, high = trial.error_bounds or (None, None)
    return {
        "estimator": trial.estimator,
        "jobs": len(trial.samples),
        "answered": len(trial.errors),
        "bias": trial.bias,
        "median_absolute_error": trial.median_error,
        "median_at_least": low,
        "median_at_most": high,
        "nearest": choice is not None and trial.estimator == choice.estimator,
        "as_near": choice is not None and trial.estimator in choice.rivals,
        "within_worst": trial.within_worst,
        "samples": [sample._asdict() for sample in trial.samples],
    }


def _table(trials: Sequence[Trial]) -> list[str]:
    from sssjob.drawing.columns import aligned

    return list(aligned([HEADER, *map(_cells, trials)], 1, common.room()))


def _cells(trial: Trial) -> tuple[str, ...]:
    from sssjob import units

    within = trial.within_worst
    bias, bounds = trial.bias, trial.error_bounds
    return (
        trial.estimator,
        str(len(trial.errors)),
        "-" if bias is None else ("-" if bias < 0 else "+") + units.clock(round(abs(bias))),
        "-" if trial.median_error is None else units.clock(round(trial.median_error)),
        "-" if bounds is None else " to ".join(units.clock(round(each)) for each in bounds),
        "-" if within is None else f"{within:.0%}",
    )


def _chart(trials: Sequence[Trial]) -> Chart:
    from sssjob.drawing.chart import Axis, Chart, Series

    return Chart(
        "Estimated and actual waits",
        Axis("actual wait", durations=True),
        Axis("estimated wait", durations=True),
        tuple(
            Series(
                trial.estimator,
                tuple(
                    (sample.waited, float(sample.ert))
                    for sample in trial.samples
                    if sample.ert is not None
                ),
            )
            for trial in trials
        ),
        even=True,
    )


def _write(path: str, trials: Sequence[Trial]) -> None:
    from sssjob.drawing import chart

    with common.output(path) as stream:
        stream.write(chart.svg(_chart(trials)).encode())
