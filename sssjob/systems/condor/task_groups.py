"""Task groups as processes of one parallel job: an ad for each, of hosts of its own.

The universe ``parallel`` runs the processes of a cluster at the same time, and each of them says
how many hosts it wants and what each of these has to have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from sssjob.classads.values import Ad
from sssjob.errors import Finding, finding
from sssjob.model import Block, Delivered, Item, Job, Note, Property, Requested, TaskGroup
from sssjob.systems.condor import names
from sssjob.systems.condor.from_ad import ReadJob, to_job
from sssjob.systems.condor.job_ad import Mapped, embedded, to_ad

_IDENTITY = ("Id", "Name")
_OF_A_GROUP = ("TaskCount", *_IDENTITY)
_TITLES = (("Id", names.TASK_GROUP_ID), ("Name", names.TASK_GROUP_NAME))
_UNSAID = ("Task", "TaskDefaults")  # of a group, for which an ad has no place
_AMOUNTS = frozenset((*names.AMOUNTS, "NodeCount", "Resource"))
_OF_THE_WHOLE = ("User", "Project", "GlobalUser")  # what is delivered to a job and not to its parts
_MOST_WAITING = 10_000  # ads of jobs of which some are missing


# decision 596
def to_ads(job: Job, *, document: str = "", v1: bool = False) -> list[Mapped]:
    """The ads of a job: one, or one for each task group where these are on hosts of their own.

    A job that says itself what it asks for in all has one ad, in which its groups are added up.
    """
    whole = to_ad(job, document=document, v1=v1)
    groups = job.asking_groups
    asks = {item.name for item in job.requested} & _AMOUNTS
    if not groups or asks or (len(groups) > 1 and "MinHosts" not in whole.ad):
        return [whole]
    if len(groups) == 1 and not any(_is_named(item, _OF_A_GROUP) for item in groups[0].items):
        return [whole]
    digest = hashlib.sha256(embedded(job).encode()).hexdigest()[:32]
    found = []
    for number, group in enumerate(groups):
        mapped = to_ad(_alone(job, group), document="" if number else document, v1=v1)
        told: dict[str, str | int] = {
            names.TASK_GROUP: number + 1, names.TASK_GROUPS: len(groups),
            names.TASK_GROUPS_OF: digest,
        }  # fmt: skip
        if len(groups) > 1:
            told["JobUniverse"] = names.UNIVERSES["parallel"]
            told |= {name: 1 for name in ("MinHosts", "MaxHosts") if name not in mapped.ad}
            if "ClusterId" in mapped.ad:
                told["ProcId"] = number
        for name, attribute in _TITLES:
            if text := group.get(name):
                told[attribute] = text
        findings = (*mapped.findings, *_unsaid(group, number))
        found.append(Mapped(mapped.ad.merged(told), findings))
    return found


def _unsaid(group: TaskGroup, number: int) -> Iterator[Finding]:
    for name in dict.fromkeys(item.name for item in group.items if not isinstance(item, Note)):
        if name in _UNSAID:
            path = f"/Job/TaskGroup[{number + 1}]/{name}"
            told = f"an ad has no place for {name} of a task group"
            yield finding("W-USELESS", told, path=path)


def _alone(job: Job, group: TaskGroup) -> Job:
    """A job that has one of its groups only: what this says, it says of its single group."""
    own = [item for item in group.items if not _is_named(item, _IDENTITY)]
    stated = frozenset(item.name for item in own if isinstance(item, Property))
    items: list[Item] = [
        item for item in job.items
        if not (isinstance(item, TaskGroup) or _is_named(item, stated))
    ]  # fmt: skip
    return job.holding((*items, *own))


def _is_named(item: Item, among: Iterable[str]) -> bool:
    return isinstance(item, Property) and item.name in among


class _Parts:
    """The ads of the task groups of one job, as far as they have been seen."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.ads: dict[int, Ad] = {}

    def in_order(self) -> list[Ad]:
        return [self.ads[number] for number in sorted(self.ads)]


def gathered(ads: Iterable[tuple[str, Ad]]) -> Iterator[tuple[str, list[Ad]]]:
    """Ads with where they came from, those of the task groups of one job together, in order.

    These may stand anywhere: a history has the newest first, a queue what else runs between them.
    They are one job by their Id, user, and the digest of the job; two that are the same in all of
    it have the same ads, so that it does not matter which of them is whose.
    """
    waiting: dict[tuple[object, ...], list[_Parts]] = {}
    held = 0
    for where, ad in ads:
        number, count = ad.get(names.TASK_GROUP), ad.get(names.TASK_GROUPS)
        if (
            type(number) is not int
            or type(count) is not int
            or not 1 <= number <= count
            or count < 2
        ):
            yield where, [ad]
            continue
        key = (*(ad.text(name) for name in (names.JOB_ID, "Owner", names.TASK_GROUPS_OF)), count)
        of_one = waiting.setdefault(key, [])
        parts = next((each for each in of_one if number not in each.ads), None)
        if parts is None:
            parts = _Parts(where)
            of_one.append(parts)
        parts.ads[number] = ad
        held += 1
        if len(parts.ads) < count and held < _MOST_WAITING:
            continue
        if len(parts.ads) < count:
            key = next(iter(waiting))  # what waits for longest
            parts = waiting[key][0]
        waiting[key].remove(parts)
        if not waiting[key]:
            del waiting[key]
        held -= len(parts.ads)
        yield parts.where, parts.in_order()
    for of_one in waiting.values():
        yield from ((parts.where, parts.in_order()) for parts in of_one)


def together(ads: list[Ad], *, embedded: bool = True) -> ReadJob:
    """The job of an ad, or of the ads of its task groups.

    What all of them say is said of the job, and what some say of the groups.
    """
    read = [to_job(ad, embedded=embedded) for ad in ads]
    has_document = embedded and bool(ads[0].text(names.DOCUMENT))
    if names.TASK_GROUP not in ads[0] or has_document:
        return read[0]
    findings = list(dict.fromkeys(each for found in read for each in found.findings))
    findings += _missing(ads)
    jobs = [found.job for found in read]
    others = [frozenset(_said(each)) for each in jobs[1:]]
    common = [item for item in _said(jobs[0]) if all(item in every for every in others)]
    if (identity := jobs[0].properties.get("Id")) is not None and identity not in common:
        common.insert(0, identity)
    given = [_whole(each) for each in jobs]
    whose = [item for item in given[0] if all(item in each for each in given)]
    items: list[Item] = [*common, *([Delivered(tuple(whose))] if whose else [])]
    groups = [
        _group(ad, job, {*common, *whose}, many=len(ads) > 1)
        for ad, job in zip(ads, jobs, strict=True)
    ]
    return ReadJob(jobs[0].holding((*items, *groups)), tuple(findings))


def _said(job: Job) -> list[Property]:
    """What an ad says of its job, but for what can be said of a task group alone."""
    return [
        item for item in job.items
        if isinstance(item, Property) and item.name != "TaskCount"
    ]  # fmt: skip


def _whole(job: Job) -> list[Property]:
    return [item for item in job.delivered if item.name in _OF_THE_WHOLE]


def _group(ad: Ad, job: Job, told: set[Property], *, many: bool) -> TaskGroup:
    """A task group, without what is ``told`` of its job."""
    items: list[Item] = [
        Property(name, ad.text(attribute)) for name, attribute in _TITLES if ad.text(attribute)
    ]
    items += (
        item for item in job.items
        if isinstance(item, Property) and item.name != "Id" and item not in told
    )  # fmt: skip
    asked = [item for block in job.blocks(Requested) for item in block.items]
    if many and "NodeCount" not in job.requested.names():
        asked.insert(0, Property("NodeCount", 1))
    if asked:
        items.append(Requested(tuple(asked)))
    for block in job.blocks(Delivered):
        if rest := [item for item in block.items if item not in told]:
            items.append(Delivered(tuple(rest)))
    for group in job.task_groups:  # of a job that runs: its processes
        items += (item for item in group.items if isinstance(item, Block))
    return TaskGroup(tuple(items))


def _missing(ads: list[Ad]) -> Iterator[Finding]:
    there, count = {ad[names.TASK_GROUP] for ad in ads}, ads[0].get(names.TASK_GROUPS)
    if isinstance(count, int) and len(there) < count:
        told = f"{len(there)} of the {count} task groups of {ads[0].text(names.JOB_ID)!r} are here"
        yield finding("W-COUNTS", told)
