"""The values of ``$JOBFEATURES`` for a job object: which element says what, in which order.

The job's defaults are resolved before. Nothing here reads a clock or a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sssjob import contradicting_counts
from sssjob.amounts import ASSUMED, MAXIMUM, MINIMUM, MIXED, Amount
from sssjob.errors import finding
from sssjob.expression.offer import is_over
from sssjob.feature_rules import GRANTED, job_id
from sssjob.features.keys import Value
from sssjob.features.precedence import Derived, Features
from sssjob.features.sources import SOURCES, Derivation, Source
from sssjob.model import Job

__all__ = ["Derived", "Features", "derive"]

_MOST = 256  # keys that only an extension gives: each is a file that is open until all are there
_JOB_ID = "/Job/Extension[@name='job_id']"
_NOTHING: Mapping[str, Value] = {}
_NO_AMOUNTS: Mapping[str, Amount] = {}


def derive(
    job: Job,
    *,
    now: int | None = None,
    starting: bool = False,
    nodes: Iterable[str] = (),
    cpu_limit: bool = True,
    repair: bool = False,
    reservation_end: int | None = None,
    machine: Mapping[str, Value] = _NOTHING,
    settings: Mapping[str, Amount] = _NO_AMOUNTS,
    host: Mapping[str, Amount] = _NO_AMOUNTS,
    granted: Mapping[str, Amount] = _NO_AMOUNTS,
    guessing: bool = True,
    called: str = "",
    number: int | None = None,
    judging: bool = True,
) -> Features:
    """The values of the 2016 vocabulary for a job whose defaults are resolved.

    ``now`` is what the deadline and the start are compared with, and the start itself if the
    job is ``starting`` and has no StartTime. ``nodes`` restricts counts and sizes to the tasks
    on those nodes. ``cpu_limit`` lets the CPU time limit follow from the elapsed time limit.
    ``repair`` turns groups round that balance only then. ``machine`` holds $MACHINEFEATURES,
    ``settings`` what the site's configuration says of the node, ``host`` what the machine
    enforces: it decides what a request leaves open, and is checked against what it does not.
    ``granted`` is what the batch system has given to the job: it wins over all else. Without
    ``guessing`` nothing is assumed, and a range of processors does not say how many were given.
    ``called`` is the id that the batch system has for the job; "" is that of the document.
    ``number`` is that of the choice which is made (``Scope.choices``), where it is not the best.
    Without ``judging`` counts that contradict each other are not told: who translates tells them.
    """
    work = _CheckedDerivation(
        job, now, starting, frozenset(nodes), cpu_limit, repair, machine, number
    )
    work.reservation_end, work.settings, work.host = reservation_end, settings, host
    work.granted, work.guessing, work.called = granted, guessing, called
    for name, sources in SOURCES.items():
        work.derive(name, sources)
    work.carry()
    work.compare()
    if judging:
        work.judge_counts()
    return work.features()


def _is_guess(name: str, amount: Amount) -> bool:
    """Whether an amount is not stated; of what is requested a job may be given more or less."""
    open_ = name == "allocated_cpu" and amount.basis in (MAXIMUM, MINIMUM, MIXED)
    return open_ or amount.basis == ASSUMED


class _CheckedDerivation(Derivation):
    """A run that keeps what the sources give, checked against each other."""

    def derive(self, name: str, sources: tuple[Source, ...]) -> None:
        """Take what the sources say, by their precedence; the others are checked against it."""
        found = [amount for source in sources if (amount := source(self)) is not None]
        granted = self.granted.get(name)
        if granted is not None:  # guesses are checked against it, and the machine is not asked
            self.choose(name, found, granted=granted)
            return
        amounts = found if self.guessing else [each for each in found if not _is_guess(name, each)]
        if found and not amounts:
            self.absent[name] = f"{found[0].source} does not say it for certain"
        self.choose(name, amounts, self.host.get(name))

    def carry(self) -> None:
        """The extensions that have no other home."""
        others = [
            name for name in self.overrides
            if name not in SOURCES and not (name == "job_id" and self.called)
        ]  # fmt: skip
        for name in others[:_MOST]:
            self.override(name, self.overrides[name], [])
        if len(others) > _MOST:
            text = f"of {len(others)} extensions with names of their own {_MOST} are carried"
            self.report(finding("W-COUNTS", text, path="/Job/Extension"))
        if self.called:
            self._call()
        elif not self.job.id:
            self.report(finding("E-MISSING", "a job without Id has no job_id", path="/Job"))
        else:
            self.derived.setdefault("job_id", Derived(job_id(self.job.id), "/Job/Id"))

    def compare(self) -> None:
        """Say so where the job ends before it starts, which readers take for a leftover."""
        start, end = (self.derived.get(name) for name in ("jobstart_secs", "shutdowntime_job"))
        numbers = [each.value for each in (start, end) if each and not isinstance(each.value, str)]
        if end is not None and len(numbers) == 2 and numbers[1] <= numbers[0]:
            text = f"shutdowntime_job {numbers[1]} is not after jobstart_secs {numbers[0]}"
            self.report(finding("W-RANGE", text, path=end.source))

    # decision 1170
    def judge_counts(self) -> None:
        """Say so where what counts tasks, nodes and processors is faulty or contradicts itself.

        Numbers follow all the same, in the order of 5.1. What a job was delivered says by itself
        how many there are.
        """
        if is_over(self.job):
            return
        for scope in (self.scope, *self.groups):
            if fault := scope.mapping_fault:
                text = f"it counts for nothing: {fault}"
                path = f"{scope.path}/TaskDistribution"
                self.report(finding("W-COUNTS", text, path=path))
        for found in contradicting_counts.of_all(self.scope):
            self.report(finding("W-COUNTS", found.why, path=found.path))

    def _call(self) -> None:
        """The job is what its batch system calls it, whatever an extension says."""
        self.derived["job_id"] = Derived(job_id(self.called), GRANTED)
        said = self.overrides.get("job_id")
        if said is not None and said != self.derived["job_id"].value:
            text = f"job_id is {self.called} by the batch system, but {said} by {_JOB_ID}"
            self.report(finding("W-DISAGREE", text, path=_JOB_ID))
