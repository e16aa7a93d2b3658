"""The queue as a simulation sees it, drawn over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sssjob.drawing.chart import Axis, Chart, Point, Series, thinned

if TYPE_CHECKING:
    from sssjob.lcginfo.site import Site


def queue_chart(site: Site) -> Chart:
    """How many jobs wait and how many slots are busy from now on, if no job came any more.

    Jobs run the expected part of their limits.
    """
    from sssjob.lcginfo import simulate

    waiting: list[Point] = []
    busy: list[Point] = []
    for step in simulate.steps(site, simulate.expected_usage(site)):
        waiting.append((step.time, step.waiting))
        busy.append((step.time, step.busy))
    return Chart(
        "The queue from now on, if no job came any more",
        Axis("time from now", durations=True),
        Axis("number"),
        (
            Series("waiting jobs", thinned(waiting), steps=True),
            Series("busy slots", thinned(busy), steps=True),
        ),
    )
