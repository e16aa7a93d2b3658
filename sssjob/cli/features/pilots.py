"""``sssjob features pilots``: which pilots cost least to drain or to kill."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, options
from sssjob.cli.ranges import NumberRange, WholeNumber

if TYPE_CHECKING:
    from sssjob.features.keys import Value
    from sssjob.features.ranking import RankedPilot

_FIGURES = ("draining_waste", "kill_waste", "remaining_time_expected", "remaining_time_enforced")


@click.command(
    epilog="""\b
Examples:
  sssjob features pilots /run/mjf/*/
  sssjob features pilots --for kill --json /run/mjf/*/
  sssjob features pilots --allocated 8 /home/pilot/jobstatus

Exit code: 0 at least one pilot is ranked, 1 nothing is known of any,
2 not understood."""
)
@click.argument("directories", metavar="DIR...", nargs=-1, required=True, type=click.Path())
@click.option("--for", "purpose", type=click.Choice(("drain", "kill", "wait")), default="drain",
              show_default=True,
              help="Order by draining waste, by kill waste, or by remaining time.")  # fmt: skip
@click.option("--allocated", metavar="CORES", type=WholeNumber(1),
              help="allocated_CPU, instead of that of jobfeatures beside the status.")  # fmt: skip
@click.option("--wait", metavar="SECONDS", type=NumberRange(0, 600), default=2,
              show_default=True, help="How long to wait for the lock of a pilot.")  # fmt: skip
@click.option("--now", metavar="TIME", type=options.MOMENT,
              help="What time it is: seconds since 1970, or such as 2026-11-30T12:00.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array in the same order.")
def command(
    directories: tuple[str, ...], purpose: str, allocated: int | None, wait: float,
    now: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Rank pilots by what it costs to end them: least waste first.

    Each DIR is a $JOBSTATUS, or holds jobstatus and jobfeatures. Waste is in CPU seconds, time in
    seconds. Draining waste is what stands idle if the pilot fetches no more work; kill waste is the
    work that is lost if the pilot ends now. A pilot whose can_postpone_last_job is False drains
    already, so that draining it costs nothing more. Among pilots of one user with equal waste, the
    one with the lower priority_factor comes first.
    """
    from sssjob.features.ranking import look, ranked

    pilots = ranked(
        (look(each, allocated=allocated, wait=wait, now=now) for each in directories), purpose
    )
    if as_json:
        common.data(json.dumps([_as_dict(pilot) for pilot in pilots], indent=2))
    else:
        for line in _lines(pilots):
            common.echo(line)
    for pilot in pilots:
        common.print_findings(pilot.findings)
        notes = pilot.outlook.notes if pilot.outlook else ()
        for note in filter(None, (*notes, pilot.problem)):
            common.say(f"{pilot.place}: warning: {note}")
    known = any(pilot.outlook is not None for pilot in pilots)
    sys.exit(common.FOUND if known else common.NOTHING)


def _lines(pilots: list[RankedPilot]) -> Iterator[str]:
    """A table: numbers to the right, a dash for what is not known."""
    from sssjob.drawing.columns import aligned

    rows: list[tuple[str, ...]] = [
        ("job", "drain", "kill", "expected", "enforced", "used_CPU", "")
    ]  # fmt: skip
    for pilot in pilots:
        used = _spelled(pilot.values.get("used_CPU"))
        figures = (_shown(pilot, name) for name in _FIGURES)
        note = "retires" if pilot.retires else ""
        rows.append((pilot.job_id or pilot.place, *figures, used, note))
    yield from aligned(rows, 1, common.room())


def _shown(pilot: RankedPilot, name: str) -> str:
    figure = pilot.figure(name)
    return _spelled(None if figure is None else figure.value)


def _spelled(value: Value | None) -> str:
    from sssjob.features.keys import spell

    return "-" if value is None else spell(value)


def _as_dict(pilot: RankedPilot) -> dict[str, object]:
    from sssjob.features.keys import spell

    figures = {name: pilot.figure(name) for name in _FIGURES}
    return {
        "directory": pilot.place,
        "job_id": pilot.job_id,
        "owner": pilot.owner,
        "retires": pilot.retires,
        **{
            name: None if figure is None else float(figure.value)
            for name, figure in figures.items()
        },
        "exact": {
            name: None if figure is None else float(figure.exact)
            for name, figure in figures.items()
        },
        "status": {name: spell(value) for name, value in pilot.values.items()},
        "now": None if pilot.snapshot is None else int(pilot.snapshot.now),
        "problem": pilot.problem,
    }
