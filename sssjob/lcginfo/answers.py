"""What is published, pair by pair of queue and VO; the same numbers for people and machines."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sssjob import commands
from sssjob.errors import Severity, unheard
from sssjob.lcginfo import caps, estimators, lrmsinfo
from sssjob.lcginfo.config import BadConfig, Config
from sssjob.lcginfo.site import Pair, Site
from sssjob.lcginfo.snapshot import (
    QUEUED,
    RUNNING,
    QueueRules,
    Remark,
    RemarkTally,
    Report,
    Snapshot,
    UnusableOutput,
)

BACKEND = "LRMS backend command"
CAPS = "VO max jobs backend command"
ROW = ("queue", "vo", "running", "waiting", "free", "ert", "wrt")


@dataclass(frozen=True, slots=True)
class QueueAnswer:
    """One row: jobs in numbers, free slots, and response times in seconds; None is unknown.

    The VO "" stands for the queue as a whole, of which the free slots are those of the site.
    ``used`` and ``requested`` are the slots of the jobs that run, and of those that wait; ``cap``
    is how many jobs of the VO may run, and ``rules`` what the batch system says of the queue.
    """

    queue: str
    vo: str
    running: int
    waiting: int
    free: int | None
    ert: int | None
    wrt: int | None
    why: tuple[str, ...] = ()
    used: int = 0
    requested: int = 0
    cap: int | None = None
    rules: QueueRules | None = None

    def as_dict(self, *, explain: bool = False) -> dict[str, Any]:
        """The row as JSON has it; why only where that is asked."""
        values = {name: getattr(self, name) for name in ROW}
        return {**values, "why": list(self.why)} if explain else values


class ManagerAnswer(NamedTuple):
    """Slots of a whole site (None: nobody says), and those that jobs of the grid and others use."""

    total: int | None
    grid: int
    local: int


def answers(
    site: Site, pairs: Collection[Pair] | None = None, estimator: str = ""
) -> tuple[QueueAnswer, ...]:
    """The answers for pairs of queue and VO, of all that are met if none is named.

    Raises ``NoEstimator``, and whatever an estimator raises.
    """
    asked = site.pairs if pairs is None else tuple(pairs)
    found = estimators.get(estimator or site.config.estimator)(site, asked)
    return tuple(_answer(site, queue, vo, found.get((queue, vo))) for queue, vo in asked)


def gather(
    config: Config,
    report: Report = unheard,
    *,
    printed: bytes | None = None,
    given: Mapping[str, int] | None = None,
) -> Site:
    """The site that the commands of a configuration show, or what is given as if they printed it.

    ``given`` are the caps then, of which no command is asked.
    Raises ``CommandFailed``, ``UnusableOutput``, and ``BadConfig`` if there is nothing to run.
    """
    if printed is None:
        if not config.lrms_backend_cmd:
            raise BadConfig("[LRMS] lrms_backend_cmd is not set")
        printed = commands.run(config.lrms_backend_cmd, BACKEND, config.limits)
    snapshot = _snapshot(printed, report)
    if given is None and config.vo_max_jobs_cmd:
        output = commands.run(config.vo_max_jobs_cmd, CAPS, config.limits)
        given = caps.read(output.decode("utf-8", "replace"), report)
    return Site.of(snapshot, given or {}, config)


def _snapshot(printed: bytes, report: Report) -> Snapshot:
    """The snapshot in what a command printed, if there is one at all."""
    heard = RemarkTally(report)
    snapshot = lrmsinfo.read(io.BytesIO(printed), heard)
    if heard.bad:
        if not snapshot.jobs:
            raise UnusableOutput(f"lrmsinfo: no job can be read, of {heard.bad}")
        report(Remark(0, f"lrmsinfo: jobs that cannot be read: {heard.bad}", Severity.ERROR))
    if snapshot == Snapshot():
        raise UnusableOutput("this is not lrmsinfo: it has neither a header nor jobs")
    return snapshot


def _answer(site: Site, queue: str, vo: str, estimate: estimators.Estimate | None) -> QueueAnswer:
    if estimate is None:
        stand_in = {"peer": 0, "placeholder": estimators.UNKNOWN_TIME}.get(site.config.unknown)
        ert = wrt = stand_in
        why: tuple[str, ...] = ("no estimate",)
    else:
        ert, wrt = estimators.published(estimate, site.cycle)
        why = estimate.why
    return QueueAnswer(
        queue,
        vo,
        site.running(queue, vo or None),
        site.waiting(queue, vo or None),
        site.free(vo) if vo else site.free_slots,
        ert,
        wrt,
        why,
        site.slots(RUNNING, queue, vo),
        site.slots(QUEUED, queue, vo),
        site.caps.get(vo) if site.config.count == "jobs" else None,
        next((rules for rules in site.snapshot.scheduling.queues if rules.name == queue), None),
    )


def manager(site: Site, vos: Collection[str]) -> ManagerAnswer:
    """The slots of the whole site; jobs of other than these VOs did not come by the grid."""
    grid = sum(
        job.cpucount for job in site.snapshot.jobs if job.state == RUNNING and site.vo(job) in vos
    )
    return ManagerAnswer(site.snapshot.nactive, grid, site.snapshot.busy - grid)
