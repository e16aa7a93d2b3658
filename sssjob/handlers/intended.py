"""What a Submit is about: a Job or a JobGroup that it carries, or one of the store.

It is kept before anything is submitted. Each of its jobs is noted by its GlobalId, and a group by
its Id, with the number of the document. # decisions 219 and 254
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sssjob import defaults
from sssjob.document import dumps
from sssjob.document.splice import rewrite
from sssjob.errors import Refused
from sssjob.handlers.attributes import GROUP, JOB
from sssjob.handlers.changes import changing, noted_as, require_conditions
from sssjob.handlers.documents import RequestDocuments, carried
from sssjob.handlers.editing import require_own, require_short
from sssjob.handlers.finding import Search
from sssjob.handlers.view import View, only, views
from sssjob.model import Block, Job, stripped, walk
from sssjob.rmap.responder import ReceivedRequest
from sssjob.store import Change, Store, Stored
from sssjob.store.change import REQUEST, SUBMITTED
from sssjob.store.reach import Reach
from sssjob.submission import BECAME, control
from sssjob.submission.planning import SubmissionPlan, defined
from sssjob.translate import read

MOST = 1000  # jobs of one group, each of which starts commands

# What only a batch system says of a job, or who runs this.
_SAID = (*BECAME, "State", "SubmitTime")
_UNDER_WAY = "submissions that are under way"


@dataclass(frozen=True, slots=True)
class IntendedJob:
    """A job object to be submitted, and the ``digest`` of how it was given.

    ``stored`` is the document of the store that it is now; ``asked`` is what a request is noted by
    that names it by a Where.
    """

    block: Block
    digest: str
    stored: Stored | None = None
    asked: str = ""
    warnings: str = ""

    def is_known(self, jobs: Store) -> bool:
        """Whether it was kept before, to be submitted."""
        return jobs.noted(name_of(self.block)) is not None


@dataclass(frozen=True, slots=True)
class Intake:
    """What jobs are taken for: the batch system that they go ``to``, the ``user`` they run as.

    They go to one of ``queues``, where there are any.
    """

    to: str
    user: str
    queues: Sequence[str] = ()

    def wanted(self, jobs: Store, call: ReceivedRequest, reach: Reach) -> IntendedJob:
        """What a Submit is about. Raises ``Refused``."""
        asked = call.request
        if asked.gets or asked.sets or (asked.wheres and asked.data):
            raise Refused("318", "A Submit has Data, or a Where, and nothing else")
        found = self._there(jobs, call, reach) if asked.wheres else self._carried(call)
        require_own(call, reach, [only(found.block)])
        return found

    def require_queue(self, plan: SubmissionPlan) -> None:
        """Refuse (740) a job that would go to another queue than one of ours.

        What is submitted is read, for a job may say in several ways where it goes.
        """
        for planned in plan.jobs if self.queues else ():
            for found in read(plan.text(planned).encode(), plan.control.target):
                said = found.job or Job()
                if stripped(said.get("Queue")) not in self.queues or said.get("Machine"):
                    names = ", ".join(self.queues)
                    raise Refused("740", f"Jobs go to one of these queues: {names}")

    def _carried(self, call: ReceivedRequest) -> IntendedJob:
        """What comes with the request."""
        asked = call.request
        new: RequestDocuments = carried(asked)
        if len(new.blocks) != 1:
            raise Refused("314", f"A Submit carries exactly one {asked.object}")
        if new.files:
            raise Refused("740", "Files cannot travel with a Submit: an Executable is a path")
        (given,) = new.blocks
        digest = _digest(given)
        if not given.id and given.name == GROUP:
            given = given.setting(Id=_made_name(call, f"{digest} of the group"))
        # The Id of a job is that of the batch system, once that has it.
        block = self._taken(given, call, digest, renamed=given.name == JOB)
        require_short(block.id)
        return IntendedJob(block, digest, warnings=new.warnings)

    def _there(self, jobs: Store, call: ReceivedRequest, reach: Reach) -> IntendedJob:
        """What a Where finds; a request that comes again is about what it found first."""
        require_conditions(call.request)
        asked = _asked(call)
        before = jobs.noted(asked) if asked else None
        if before is not None:
            stored = jobs.at(int(before))
            (found,) = views(stored, call.request.object)
        else:
            found = _found(jobs, call, reach)
            stored = found.stored
        given = stored.block()
        digest = _digest(given)
        if is_here(jobs, found):
            return IntendedJob(given, digest, stored, asked)
        if jobs.files(stored):
            raise Refused("740", f"{given.id} has Files, and only paths are submitted here")
        return IntendedJob(self._taken(given, call, digest), digest, stored, asked)

    def _taken(
        self, given: Block, call: ReceivedRequest, digest: str, *, renamed: bool = False
    ) -> Block:  # fmt: skip
        """A job object as it is kept before it is submitted: each job has a GlobalId."""
        written = defined(given)
        if not 1 <= len(written) <= MOST:
            raise Refused("740", f"A JobGroup has 1 to {MOST} jobs; this one has {len(written)}")
        for block in walk(given):
            for item in block.properties:
                if item.name == "Extension" and item.said("type") in _forms(self.to):
                    raise Refused("740", "Options of the batch system itself are not taken here")
        effective = defined(defaults.resolve(given).block)
        for job in effective:
            self._require_new(job)
        names = [
            global_id(own) or _made_name(call, f"{digest} {place}" if place else digest)
            for place, own in enumerate(written)
        ]
        made = [
            self._named(own.setting(Id=name) if renamed else own, job, name, call.actor)
            for own, job, name in zip(written, effective, names, strict=True)
        ]
        if given.name == JOB:
            return made[0]
        jobs = iter(made)
        block = given.holding(next(jobs) if type(item) is Job else item for item in given.items)
        times = Counter(map(global_id, defined(block)))
        if twice := [text for text, number in times.items() if number > 1]:
            raise Refused("740", f"Several jobs have the GlobalId {twice[0]}")
        return block

    def _require_new(self, job: Job) -> None:
        """Refuse (740) a job that is in a batch system already, or belongs into another one."""
        said = [name for name in _SAID if job.get(name)]
        said += ["Delivered"] * bool(job.delivered)
        if said:
            raise Refused("740", f"The job is submitted or has run already: it has a {said[0]}")
        manager = stripped(job.get("ResourceManagerType"))
        if manager and not control(self.to).manages(manager):
            raise Refused("740", f"Jobs are submitted to {self.to} here, not to {manager[:60]}")

    def _named(self, own: Job, effective: Job, name: str, actor: str) -> Job:
        """A job with a GlobalId, and with who and where, if nothing says that."""
        require_short(name)
        job = own.setting(GlobalId=name)
        if not stripped(effective.get("User")):
            job = job.setting(User=self.user)
        if not stripped(effective.get("GlobalUser")):
            job = job.setting(GlobalUser=actor)
        asks = effective.get("Queue"), effective.requested.text("Queue") or ""
        if self.queues and not any(map(stripped, asks)):
            job = job.setting(Queue=self.queues[0])
        return job


def kept(jobs: Store, call: ReceivedRequest, wanted: IntendedJob) -> int:
    """The number of the document of a job object, which is made if it is new.

    Raises ``Refused``: 740 where its GlobalId, or the Id of the group, is that of another one, and
    730 where it has been changed meanwhile.
    """
    block, name = wanted.block, name_of(wanted.block)
    what = "job" if block.name == JOB else GROUP
    with changing(jobs, call) as change:
        before = change.noted(name)
        if before is None:
            return _made(change, call, wanted)
        number, *known = json.loads(before)
        if wanted.stored is None:
            same = known == [wanted.digest, call.actor]
        else:
            same = number == wanted.stored.number
        if change.at(number).deleted or not same:
            shown = global_id(block) if block.name == JOB else block.id
            raise Refused("740", f"{shown} is another {what}, or was deleted")
        if wanted.asked:
            change.note(wanted.asked, str(number))
        return int(number)


def is_here(jobs: Store, view: View) -> bool:
    """Whether a job, or a group, was submitted by this gateway."""
    noted = jobs.noted(name_of(view.block))
    return noted is not None and json.loads(noted)[0] == view.stored.number


def under_way(jobs: Store) -> list[int]:
    """The documents of jobs that were submitted, and had not ended when they were looked at."""
    return [int(number) for number in json.loads(jobs.noted(_UNDER_WAY) or "[]")]


def forget(jobs: Store, over: set[int], why: str) -> None:
    """Documents whose jobs have ended are not looked at any more."""
    with jobs.change(reason=why) as change:
        numbers = json.loads(change.noted(_UNDER_WAY) or "[]")
        change.note(_UNDER_WAY, json.dumps([each for each in numbers if each not in over]))


def global_id(job: Block) -> str:
    """What a job is noted by."""
    return stripped(job.get("GlobalId"))


def name_of(block: Block) -> str:
    """What a job or a group is noted by."""
    if block.name == GROUP:
        return f"group submission of {block.id}"
    return f"submission of {global_id(block)}"


def _found(jobs: Store, call: ReceivedRequest, reach: Reach) -> View:
    """The only job object that a Where finds."""
    kind = call.request.object
    found = [view for view, _ in zip(Search(call, reach).run(jobs), range(2), strict=False)]
    if len(found) != 1:
        number = "no" if not found else "more than one"
        raise Refused("740", f"A Submit is about one {kind}; this Where finds {number}")
    if found[0].place:
        raise Refused("740", f"The job is a part of {found[0].stored.identity}: submit that")
    return found[0]


def _made(change: Change, call: ReceivedRequest, wanted: IntendedJob) -> int:
    """Keep a job object that is new, or a new version of one, and note all that it has."""
    names = [name_of(job) for job in defined(wanted.block)]
    for name, job in zip(names, defined(wanted.block), strict=True):
        if change.noted(name) is not None:
            raise Refused("740", f"{global_id(job)} is another job, or was deleted")
    if wanted.stored is None:
        if (old := change.about(wanted.block)) is not None:
            raise Refused("740", f"{old.identity} is there already")
        stored = change.put(wanted.block)
    else:
        old = change.at(wanted.stored.number)
        if (old.version, old.deleted) != (wanted.stored.version, False):
            raise Refused("730", "The job has been changed meanwhile; send the request again")
        new = b"".join(rewrite(old.document, lambda block: wanted.block))
        stored = change.put(new, replacing=old)
    for name in dict.fromkeys((*names, name_of(wanted.block))):
        change.note(name, json.dumps([stored.number, wanted.digest, call.actor]))
    if wanted.asked:
        change.note(wanted.asked, str(stored.number))
    numbers = json.loads(change.noted(_UNDER_WAY) or "[]")
    change.note(_UNDER_WAY, json.dumps([*numbers, stored.number]))
    return stored.number


def _digest(block: Block) -> str:
    return hashlib.sha256(dumps(block).encode()).hexdigest()


def _asked(call: ReceivedRequest) -> str:
    """What a request is noted by, if it can be told from others."""
    if not call.request.id and not call.mark:
        return ""
    noted = noted_as(call).removeprefix(REQUEST)
    return f"{SUBMITTED}{noted} {'' if call.request.id else call.mark}"


def _forms(system: str) -> frozenset[str]:
    """The forms of a batch system, which are the types of Extensions that hold its options."""
    found = control(system)
    return frozenset((found.target, *found.also))


def _made_name(call: ReceivedRequest, digest: str) -> str:
    """A GlobalId: the same for the same request, so that a copy of it is about the same job."""
    asked = call.request
    if not asked.id and not call.mark:
        return uuid.uuid4().urn
    words = json.dumps([call.actor, asked.id or call.mark, digest])
    return uuid.uuid5(uuid.NAMESPACE_OID, words).urn
