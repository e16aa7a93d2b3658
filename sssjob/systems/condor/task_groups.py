"""Task groups as processes of one parallel job: an ad for each, of hosts of its own.

The universe ``parallel`` runs the processes of a cluster at the same time, and each of them says
how many hosts it wants and what each of these has to have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sssjob.classads.values import Ad
from sssjob.errors import Finding
from sssjob.model import Item, Job, Property, Requested, TaskGroup
from sssjob.systems.condor import names
from sssjob.systems.condor.from_ad import ReadJob, to_job
from sssjob.systems.condor.job_ad import Mapped, to_ad

_IDENTITY = ("Id", "Name")
_AMOUNTS = frozenset((*names.AMOUNTS, "NodeCount", "Resource"))


# decision 596
def to_ads(job: Job, *, document: str = "", v1: bool = False) -> list[Mapped]:
    """The ads of a job: one, or one for each task group where these are on hosts of their own.

    A job that says itself what it asks for in all has one ad, in which its groups are added up.
    """
    whole = to_ad(job, document=document, v1=v1)
    groups = job.asking_groups
    asks = {item.name for item in job.requested} & _AMOUNTS
    if len(groups) < 2 or "MinHosts" not in whole.ad or asks:
        return [whole]
    found = []
    for number, group in enumerate(groups):
        mapped = to_ad(_alone(job, group), document="" if number else document, v1=v1)
        told: dict[str, str | int] = {
            "JobUniverse": names.UNIVERSES["parallel"], names.TASK_GROUP: number + 1,
        }  # fmt: skip
        for name in ("MinHosts", "MaxHosts"):
            if name not in mapped.ad:
                told[name] = 1
        if "ClusterId" in mapped.ad:
            told["ProcId"] = number
        if name := group.get("Name"):
            told[names.TASK_GROUP_NAME] = name
        found.append(replace(mapped, ad=mapped.ad.merged(told)))
    return found


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


def gathered(ads: Iterable[tuple[str, Ad]]) -> Iterator[tuple[str, list[Ad]]]:
    """Ads with where they came from, those of the task groups of one job together."""
    waiting: list[Ad] = []
    where = ""
    for name, ad in ads:
        follows = (
            waiting and name == where
            and ad.get(names.TASK_GROUP) == len(waiting) + 1
            and ad.text(names.JOB_ID) == waiting[0].text(names.JOB_ID)
        )  # fmt: skip
        if waiting and not follows:
            yield where, waiting
            waiting = []
        waiting.append(ad)
        where = name
        if ad.get(names.TASK_GROUP) != len(waiting):
            yield where, waiting
            waiting = []
    if waiting:
        yield where, waiting


def together(ads: list[Ad], *, embedded: bool = True) -> ReadJob:
    """The job of an ad, or of the ads of its task groups."""
    first = to_job(ads[0], embedded=embedded)
    if len(ads) == 1 or (embedded and ads[0].text(names.DOCUMENT)):
        return first
    findings: list[Finding] = [*first.findings]
    groups: list[Item] = []
    for number, ad in enumerate(ads, 1):
        found = first if number == 1 else to_job(ad, embedded=False)
        findings += (each for each in found.findings if each not in findings)
        asked = [item for block in found.job.blocks(Requested) for item in block.items]
        if "NodeCount" not in found.job.requested.names():
            asked.insert(0, Property("NodeCount", 1))
        title = Property("Name", ad.text(names.TASK_GROUP_NAME) or str(number))
        groups.append(TaskGroup((title, Requested(tuple(asked)))))
    items = [item for item in first.job.items if not isinstance(item, Requested)]
    return ReadJob(first.job.holding((*items, *groups)), tuple(findings))
