"""All that is to be submitted, translated before the first of it is.

Jobs of a document wait for each other by their Ids and Names there; what a batch system is told are
the ids that it has given them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sssjob import graph
from sssjob.check.awareness import SharedContext, understood
from sssjob.document.attached import Every, doubled, named
from sssjob.document.bundle import MessageFile
from sssjob.errors import Finding, InvalidValue, Severity, SSSJobError, finding
from sssjob.model import Block, Item, Job, JobGroup, Property, replace_text, stripped
from sssjob.submission.at_once import runs_once, strangers
from sssjob.submission.control import Control
from sssjob.translate import Loss, Settings, Untranslatable, translate
from sssjob.translate.losses import REJECT
from sssjob.translate.sss import requested_jobs

BY_ID, BY_NAME = "JobId", "JobName"

_DEPENDENCY = "Dependency"
_UNKNOWN_ID = "1"  # stands for the id of a job that has none yet


class NotSubmitted(SSSJobError, ValueError):
    """Jobs of which none is submitted; ``findings`` say what is wrong, and what else is told."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__(self.findings)

    def __str__(self) -> str:
        wrong = [found for found in self.findings if found.severity is Severity.ERROR]
        return f"nothing is submitted: {'; '.join(found.message for found in wrong)}"


class JobWithFiles(NamedTuple):
    """A job object, and the Files that it may name by an id; ``every`` has those not meant, too."""

    block: Block
    files: Mapping[str, bytes]
    every: Mapping[str, Sequence[MessageFile]] = {}


@dataclass(frozen=True, slots=True)
class Planned:
    """A job: as it stands in its document, and as it is translated, its defaults resolved.

    ``files`` are those that it may name. ``needs`` are the places of the jobs of the document that
    it waits for. ``findings`` and ``losses`` are what is to be told of it. ``around`` is what is
    left of its surroundings, to be judged with it.
    """

    place: int
    written: Job
    job: Job
    files: Mapping[str, bytes] = field(default_factory=dict)
    needs: frozenset[int] = frozenset()
    findings: tuple[Finding, ...] = ()
    losses: tuple[Loss, ...] = ()
    around: SharedContext | None = None

    @property
    def submitted(self) -> bool:
        """Whether its document says that it is: a job that was has a SubmitTime."""
        return bool(stripped(self.written.get("SubmitTime")) and self.written.id)


@dataclass(slots=True)
class SubmissionPlan:
    """The jobs of a document in an order in which each comes behind those that it waits for."""

    control: Control
    settings: Settings
    jobs: Sequence[Planned]
    names: Mapping[str, Mapping[str, tuple[int, ...]]]
    ids: dict[int, str] = field(default_factory=dict)  # of jobs that are submitted, by their places

    def text(self, planned: Planned) -> str:
        """What its batch system is given, with the ids of those that it waits for."""
        settings = self.settings_of(planned)
        return translate(self.waiting(planned.job), self.control.target, settings).text

    def settings_of(self, planned: Planned) -> Settings:
        """Settings of translations with the Files that a job may name, and how often it runs."""
        files = {**planned.files, **self.settings.files}
        return replace(self.settings, files=files, once=runs_once(planned.job))

    def waiting(self, job: Job) -> Job:
        """A job that waits for ids of its batch system."""
        items: list[Item] = []
        for item in job.items:
            meant = self.meant(item, job)
            if meant is None:
                items.append(item)
                continue
            assert isinstance(item, Property)
            item = item.having(designator=None)
            ids = dict.fromkeys(self.ids.get(place, _UNKNOWN_ID) for place in meant)
            items += [replace_text(item, id_, item.attributes) for id_ in ids]
        return job.holding(items)

    def meant(self, item: Item, job: Job) -> tuple[int, ...] | None:
        """The places of the jobs that a dependency means; None for what means none here."""
        if type(item) is not Property or item.name != _DEPENDENCY:
            return None
        designator = item.said("designator", BY_ID)
        places = self.names.get(designator, {}).get(stripped(item.text))
        own = stripped(item.text) == (job.id if designator == BY_ID else job.get("Name"))
        return () if own and places else places  # what defaults lend to the job itself


def plan(
    held: Sequence[JobWithFiles], control: Control, settings: Settings,
    chosen: Callable[[Job], bool], owner: str = "",
) -> SubmissionPlan:  # fmt: skip
    """What is to be submitted of some job objects, those that are submitted already included.

    Raises ``NotSubmitted`` with all that is wrong.
    """
    blocks = [each.block for each in held]
    written = [job for block in blocks for job in defined(block)]
    places = [each for each in held for _ in defined(each.block)]
    # The document has it all: nothing of it needs to be kept in what is submitted.
    settings = replace(settings, unstated=REJECT, residual=False, terminal=False)
    requested = list(requested_jobs(blocks))
    effective = [each.job for each in requested]
    found = SubmissionPlan(control, settings, (), _names(written))
    jobs: list[Planned] = []
    there: dict[int, str] = {}
    for place, (own, job) in enumerate(zip(written, effective, strict=True)):
        planned = Planned(place, own, job, places[place].files, around=requested[place].around)
        if planned.submitted:
            found.ids[place] = own.id
            there[place] = own.get("ResourceManagerType")
        if chosen(own):
            jobs.append(
                planned
                if planned.submitted
                else _translated(planned, found, owner, places[place].every)
            )
    wrong = [each for planned in jobs for each in planned.findings]
    wrong += _unmet(jobs, there, control)
    order = _order(blocks, effective, wrong)
    if any(each.severity is Severity.ERROR for each in wrong):
        raise NotSubmitted(wrong)
    found.jobs = sorted(jobs, key=lambda planned: order[planned.place])
    return found


def defined(block: Block) -> tuple[Job, ...]:
    """The jobs of a job object, in their order."""
    if isinstance(block, JobGroup):
        return block.jobs
    return (block,) if type(block) is Job else ()


def _by_id(item: Property) -> bool:
    return item.said("designator", BY_ID) == BY_ID


def _names(jobs: Sequence[Job]) -> Mapping[str, Mapping[str, tuple[int, ...]]]:
    """The places of jobs by what dependencies call them."""
    found: dict[str, dict[str, list[int]]] = {
        BY_ID: defaultdict(list), BY_NAME: defaultdict(list)
    }  # fmt: skip
    for place, job in enumerate(jobs):
        for kind, text in ((BY_ID, job.id), (BY_NAME, stripped(job.get("Name")))):
            if text:
                found[kind][text].append(place)
    return {kind: {text: tuple(places) for text, places in each.items()}
            for kind, each in found.items()}  # fmt: skip


def _translated(planned: Planned, found: SubmissionPlan, owner: str, every: Every) -> Planned:
    """A job with all that is to be said of it; it is translated, and the text is not kept yet."""
    job = planned.job
    known = understood(job)
    told = [*doubled(named(job, every)), *known.findings()]
    if planned.around is not None:
        told += planned.around.judged()[1]
    losses: list[Loss] = []
    needs: set[int] = set()
    for item in job.items:
        meant = found.meant(item, job) or ()
        needs.update(meant)
        if len(meant) > 1 and isinstance(item, Property) and _by_id(item):
            text = stripped(item.text)
            told.append(
                _error("E-DUP", job, f"{len(meant)} jobs have the Id {text!r}, on which it depends")
            )
    if known.accepted:
        try:
            asked = found.waiting(known.block)
            losses += translate(asked, found.control.target, found.settings_of(planned)).losses
        except Untranslatable as refused:
            losses += refused.losses
        except InvalidValue as error:
            told.append(_error("E-TYPE", job, str(error)))
        losses += strangers(known.block, found.control.target, owner)
        told += [loss.finding() for loss in losses if loss.refuses]
    return replace(
        planned, job=known.block, needs=frozenset(needs), findings=tuple(told),
        losses=tuple(loss for loss in losses if not loss.refuses),
    )  # fmt: skip


def _unmet(jobs: Sequence[Planned], there: Mapping[int, str], control: Control) -> list[Finding]:
    """Jobs that wait for one that is neither submitted nor about to be, or is elsewhere."""
    known = {planned.place for planned in jobs} | there.keys()
    found = []
    for planned in jobs:
        elsewhere = [there[at] for at in planned.needs & there.keys()]
        if not planned.needs <= known:
            text = "it depends on a job of the document that is not to be submitted"
            found.append(_error("E-REF", planned.job, text))
        elif any(not control.manages(name) for name in elsewhere):
            text = "it depends on a job that is submitted to another batch system"
            found.append(_error("E-REF", planned.job, text))
    return found


def _order(
    blocks: Sequence[Block], effective: Sequence[Job], wrong: list[Finding]
) -> Mapping[int, int]:
    """Where each job comes, by its place; a circle is wrong."""
    only = blocks[0] if len(blocks) == 1 else None
    net = graph.of(only if isinstance(only, JobGroup) else effective)
    places = {key: place for place, key in enumerate(net.jobs)}
    ordered = {places[key]: number for number, key in enumerate(net.order)}
    if len(ordered) < len(places):
        wrong += [each for each in net.check() if each.severity is Severity.ERROR]
    return {**dict.fromkeys(places.values(), len(places)), **ordered}


def _error(code: str, job: Job, text: str) -> Finding:
    named = f"job {job.id}: " if job.id else ""
    return finding(code, f"{named}{text}", line=job.line, path="/Job", severity=Severity.ERROR)
