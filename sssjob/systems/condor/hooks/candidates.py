"""Documents made candidates for slots: an ad for each alternative of each job that may run."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from sssjob import graph
from sssjob.amounts import Scope
from sssjob.check.awareness import AwarenessOutcome, Understood, by_group, said, understood
from sssjob.check.awareness import around as surroundings
from sssjob.check.vocabulary import FULL, AwarenessPolicy
from sssjob.classads import long
from sssjob.defaults import resolve
from sssjob.errors import InheritedTooMuch, InvalidValue, Severity, SSSJobError, UnreadableDocument
from sssjob.graph.progress import State
from sssjob.integers import LARGEST
from sssjob.model import Block, Delivered, Item, Job, JobGroup, Property, TaskGroup, jobs_of
from sssjob.states import STEPS, has_ended, spelled, step
from sssjob.systems.condor import names
from sssjob.systems.condor.hooks import holds, offers, stamp, starts
from sssjob.systems.condor.hooks.documents import (
    Documents,
    QueuedDocument,
    asks,
    documents,
    origin,
)
from sssjob.systems.condor.hooks.queue import (
    ACCEPTED,
    DONE,
    HELD,
    OFFERED,
    READY,
    RETURNED,
    TAKEN,
    WAITING,
    Candidate,
    JobQueue,
    SpoolJob,
    exactly,
    is_same,
)
from sssjob.systems.condor.hooks.settings import GONE, SPOOL, HookSettings, fault_told
from sssjob.systems.condor.hooks.trust import NOBODY, Trust, Untrusted, trust
from sssjob.systems.condor.job_ad import Mapped
from sssjob.systems.condor.task_groups import OUTCOME, JobOfAd, parts

CPUS = "RequestCpus"
ALTERNATIVES = 16  # of one job, the best
_AHEAD = 86_400  # seconds by which the clock of another machine may be
_TOGETHER = 50  # documents that are noted in one go
_LARGE = 1 << 20  # bytes of a document before which the others are noted
_LEAST = 1.0  # seconds for documents of which no job is given away

Say = Callable[[object], None]


class UnreadReason(str):
    """What is said of a document of which nothing can be read, so that it is no job at all."""

    __slots__ = ()


def refresh(settings: HookSettings, queue: JobQueue, *, until: float | None, say: Say) -> bool:
    """Bring the queue in step with the documents; False if the time ran out before all were done.

    ``until`` is a moment in seconds since 1970.
    """
    with queue.alone():
        return looked(settings, queue, until=until, say=say)


def looked(settings: HookSettings, queue: JobQueue, *, until: float | None, say: Say) -> bool:
    """The same for who is alone with the documents."""
    began = time.time()
    before = stamp.stamp(settings.jobs)
    source, trusted = documents(settings), trust(settings)
    mark, whole = stamp.mark(settings, queue, began)
    offered = _offered(settings, queue, began, is_whole=not mark)
    odd: list[object] = []
    listed = source.found(mark, queue.unread() if mark else (), odd.append)
    found = {each.name: each for each in listed.there}
    if listed.gone is None:
        known, whole = queue.documents(), began
        if queue.is_news("odd", odd):  # it stays, and nobody reads of it for ever
            for each in odd:
                say(UnreadReason(each))
        with queue.changing():
            for name in known.keys() - found.keys():
                queue.forget(name)
            queue.drop_strays()
            queue.forget_past(began)
    else:
        known = queue.documents((*found, *listed.gone))
        if gone := known.keys() & listed.gone:
            with queue.changing():
                for name in gone:
                    queue.forget(name)
    there = _KnownNames(found, queue)
    new = [
        each for name, each in sorted(found.items())
        if name not in known or known[name][0] != each.stamp
    ]  # fmt: skip
    holders = queue.holders(each.name for each in new) if new else set()
    holders |= found.keys() & {each.document for each in offered}
    # What was given away may stand elsewhere by now: first is asked where it stood, of all of it.
    # Then those of users who put few there: nobody keeps the others waiting (decision 664).
    sizes = Counter[int]()
    for each in new:
        sizes[_user(each, known)] += each.size
    new.sort(key=lambda each: (each.name not in holders, sizes[_user(each, known)]))
    first = sum(each.name in holders for each in new)
    lost: dict[str, list[SpoolJob]] | None = None  # by their Ids
    seen: set[str] = set()  # names of documents that were read
    while new and (until is None or time.time() < until):
        made: list[tuple[QueuedDocument, int, list[Candidate]]] = []
        for number, each in enumerate(new[: max(_TOGETHER, first)], 1):
            if number > max(first, 1) and until is not None and time.time() > until:
                break
            if number > max(first, 1) and each.size > _LARGE:  # what was read is noted before
                break
            made.append((each, *_fenced(source, each, queue, known, trusted, say)))
        if first and until is not None:  # all of them were read, however long that took
            until = max(until, time.time() + _LEAST)
        first = 0
        new = new[len(made) :]
        seen |= {each.name for each, *_ in made}
        here = _offers_of(offered, there, seen, made)
        with queue.changing():
            queue.number_from(began)
            for each, _, jobs in made:
                for number, job in enumerate(jobs, 1):
                    queue.restore(each.name, job, began)
                    offer = here.get((each.name, number))
                    # decision 895
                    if offer is not None and (job.runs is None or job.runs[1] < offer.attempt):
                        job.runs = offer.key, offer.attempt
                        state = ACCEPTED if offer.is_taken else OFFERED
                        queue.restore(each.name, job, began, state)
        read = {each.name for each, *_ in made}
        if lost is None:
            lost = _lost(queue, queue.astray(read), there, made)
        with queue.changing():
            for each, _, jobs in made:
                # A job there may have waited for the one that has gone.
                for name in sorted(_adopt(queue, lost, each.name, jobs) - read):
                    if name in found:
                        new.append(found[name])
                    else:  # it is read when documents are looked at the next time
                        queue.read_again("?", name)
            for each, uid, jobs in made:
                queue.put(each.name, each.stamp, uid, jobs)
    if not new:
        stamp.note(queue, before, began, whole)
        queue.mark(listed.mark, whole)
    return not new


class _KnownNames:
    """The names of documents that are there, as far as the queue has heard of it."""

    def __init__(self, found: Container[str], queue: JobQueue) -> None:
        self._found, self._queue = found, queue

    def __contains__(self, name: object) -> bool:
        return name in self._found or self._queue.uid(str(name)) is not None


def _offered(
    settings: HookSettings, queue: JobQueue, now: float, *, is_whole: bool
) -> list[offers.OfferedJob]:
    """The offers that are noted and of which the queue knows nothing.

    The others are settled, but for those that a slot may take, or that were taken and of which
    nothing else tells. Unless ``is_whole``, those that the queue offers itself are left alone.
    """
    if not queue.state or not (tickets := offers.tickets(queue.state)):
        return []
    if not is_whole:
        tickets = queue.not_offered(tickets)
    found = []
    untold = {row.key for row in queue.taken_untold()} if tickets else ()
    for moment, each in offers.noted(queue.state, tickets):
        row = queue.job(each.key)
        kept = GONE if each.is_taken else settings.silence
        is_unknown = row is None or (
            row.attempt < each.attempt and not queue.gave(row, each.attempt)
        )
        if is_unknown and moment > now - kept:
            queue.read_again("?", each.document)
            found.append(each)
            continue
        if row is None or row.attempt != each.attempt or row.state not in TAKEN:
            offers.settled(queue.state, each.key, each.attempt)
        elif row.state == OFFERED:
            if each.is_taken:  # and the hook was killed
                queue.move(each.key, each.attempt, [OFFERED], ACCEPTED, now)
        elif each.key not in untold:
            offers.settled(queue.state, each.key, each.attempt)
        elif not each.is_taken:
            offers.note_taken(queue.state, each.key, each.attempt)
    return found


# decision 907
def _offers_of(
    offered: list[offers.OfferedJob], found: Container[str], read: Container[str],
    made: Iterable[tuple[QueuedDocument, int, Sequence[Candidate]]],
) -> dict[tuple[str, int], offers.OfferedJob]:  # fmt: skip
    """The attempts as which jobs are being offered, or were taken, as far as notes tell.

    By the document and the number of the job. Where it does not stand in its place any more it is
    known by its Id, what it runs, and its user. What was found is taken out of ``offered``.
    """
    jobs = {
        (document.name, number): job
        for document, _, candidates in made for number, job in enumerate(candidates, 1)
    }  # fmt: skip
    here: dict[tuple[str, int], offers.OfferedJob] = {}
    for each in sorted(offered, key=lambda each: each.attempt):
        place = each.document, each.number
        if place in jobs and _is_offered(each, jobs[place]):
            here[place] = each
            offered.remove(each)
    for each in [*offered]:
        if each.document in found and each.document not in read:
            continue  # it may stand there yet
        for place, job in jobs.items():
            is_free = place not in here and (job.runs is None or job.runs[0] == each.key)
            if is_free and _is_offered(each, job):
                here[place] = each
                offered.remove(each)
                break
    return here


def _is_offered(offer: offers.OfferedJob, job: Candidate) -> bool:
    return (offer.id, offer.asks) == (job.id, job.asks) and job.whose in ("", offer.owner)


def _user(found: QueuedDocument, known: Mapping[str, tuple[str, int]]) -> int:
    """Whose a document is, whoever wrote it last."""
    uid = known.get(found.name, ("", NOBODY))[1]
    return found.uid if uid == NOBODY else uid


# decision 597
def _lost(
    queue: JobQueue, away: Iterable[SpoolJob], found: Container[str],
    made: Iterable[tuple[QueuedDocument, int, Sequence[Candidate]]],
) -> dict[str, list[SpoolJob]]:  # fmt: skip
    """What was given away and is not in its document any more, by the Ids of the jobs."""
    kept = {
        row.key
        for document, _, jobs in made
        for row in exactly(queue.known(document.name), jobs).values()
    }
    read = {document.name for document, *_ in made}
    lost: dict[str, list[SpoolJob]] = {}
    for row in away:
        is_gone = row.document not in found or row.number < 0 or row.document in read
        if is_gone and row.key not in kept:
            lost.setdefault(row.id, []).append(row)
    return lost


def _adopt(
    queue: JobQueue, lost: Mapping[str, list[SpoolJob]], document: str, jobs: Sequence[Candidate]
) -> set[str]:
    """Find jobs in a document that are lost in another, and give the names of those others."""
    if not any(each.id in lost for each in jobs):
        return set()
    own = exactly(queue.known(document), jobs)
    left = set()
    for number, each in enumerate(jobs, 1):
        rows = lost.get(each.id, [])
        row = next((row for row in rows if is_same(row, each)), None)
        if row is not None and number not in own:
            rows.remove(row)
            if row.document != document:
                queue.adopt(row, document)
                left.add(row.document)
    return left


# decision 663
def _fenced(
    source: Documents, found: QueuedDocument, queue: JobQueue, known: Mapping[str, tuple[str, int]],
    trusted: Trust, say: Say,
) -> tuple[int, list[Candidate]]:  # fmt: skip
    """Whose a document is, and its jobs; a fault of ours costs that document alone, and is told."""
    try:
        return _made(source, found, queue, known, trusted, say)
    except TimeoutError:  # of the hook
        raise
    except InheritedTooMuch as error:
        say(UnreadReason(error.finding.in_file(found.name)))
        return known.get(found.name, ("", NOBODY))[1], []
    except Exception as fault:  # of ours, whichever it is: any user may put documents there
        say(UnreadReason(f"{found.name}: {fault_told(fault)}"))
        return known.get(found.name, ("", NOBODY))[1], []


def _made(
    source: Documents, found: QueuedDocument, queue: JobQueue, known: Mapping[str, tuple[str, int]],
    trusted: Trust, say: Say,
) -> tuple[int, list[Candidate]]:  # fmt: skip
    """Whose a document is, and its jobs, each in the state that it should have."""
    believed = found.uid in trusted.uids
    # We fold into what users put there, which makes it a file of ours.
    before_us = known.get(found.name, ("", NOBODY))[1] if believed else NOBODY
    uid = found.uid if before_us == NOBODY else before_us
    try:
        blocks = source.blocks(found)
    except UnreadableDocument as error:
        say(UnreadReason(error.finding.in_file(found.name)))
        return uid, []
    except TimeoutError:  # of the hook
        raise
    except (SSSJobError, OSError) as error:
        say(UnreadReason(f"{found.name}: {error}"))
        return uid, []
    all_jobs = [job for block in blocks for job in jobs_of(block)]
    noted = [origin(job) if believed else None for job in all_jobs]
    if any(each is not None for each in noted):
        uid = next(each for each in noted if each is not None)
    elif believed and before_us == NOBODY and source.owned and any(map(_is_folded, all_jobs)):
        uid = NOBODY
    standing = [each for block in blocks for each in _standing(block)]
    jobs = []
    for (as_known, _), job, own in zip(standing, all_jobs, noted, strict=True):
        jobs.append(Candidate(as_known.block.id, WAITING))
        jobs[-1].asks = asks(job)
        jobs[-1].last = _last(job)
        if own is not None and source.owned:  # else anybody may have written that it runs
            jobs[-1].runs, jobs[-1].began = _running(job), _began(job)
            jobs[-1].over = _over(job)
        elif not source.owned:
            jobs[-1].began = _reported_here(source, queue, _began(job))
            runs = _reported_here(source, queue, filter(None, [_running(job)]))
            jobs[-1].runs = next(iter(runs), None)
        with suppress(Untrusted):
            jobs[-1].whose = trusted.owner(_as_one(as_known.block), uid if own is None else own)
    before = queue.recall(found.name, jobs)
    for number, ((as_known, reason), own) in enumerate(zip(standing, noted, strict=True), 1):
        state = before[number].state if number in before else ""
        name = found.name if len(standing) == 1 else f"{found.name}#{number}"

        def tell(message: str, name: str = name) -> None:
            say(f"{name}: {message}")

        taken = _taken(source, all_jobs[number - 1])
        try:
            whose = uid if own is None else own
            made = _candidate(as_known, reason, state, whose, trusted, tell, is_taken=bool(taken))
        except (_NoAd, Untrusted) as error:
            say(f"{name}: {error}")
            made = Candidate(as_known.block.id, WAITING, reason=str(error))
        else:
            for each in as_known.findings() if made.state == READY else ():
                say(f"{name}: {each.message}")
        before_it = jobs[number - 1]
        made.asks, made.whose, made.runs = before_it.asks, before_it.whose, before_it.runs
        made.began = before_it.began
        made.last, made.over, made.taken = before_it.last, before_it.over, taken
        jobs[number - 1] = made
    return uid, jobs


# decision 599, 849
def _running(job: Job) -> tuple[int, int] | None:
    """The key and the attempt that a slot has, as far as a job tells: the last one, if no end of it
    is known.

    Whatever the State is: another attempt may have ended the job, or somebody set it to Hold. But
    who set it back to Idle has it run again, and what we hold was taken back.
    """
    if (taken := names.of_ticket(starts.taken(job))) is not None:
        return taken
    *_, last = (None, *starts.of_job(job).values())
    is_back = holds.is_ours(job) or spelled(job.get("State") or "Idle") == "Idle"
    return None if last is None or last.ended or is_back else names.of_ticket(last.ticket)


# decision 849
def _began(job: Job) -> list[tuple[int, int]]:
    """The attempts of which a job tells that they started, and no end: one may still be told."""
    told = (each.ticket for each in starts.of_job(job).values() if not each.ended)
    return [found for ticket in told if (found := names.of_ticket(ticket)) is not None]


# decision 599
def _reported_here(
    source: Documents, queue: JobQueue, told: Iterable[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The attempts at a job of a store that this machine gave away, and its queue does not know.

    That is so where a claim tells of it, and a report of it was left here, whose user is asked for
    when it is folded.
    """
    unknown = []
    for key, attempt in told if queue.state else ():
        row = queue.job(key)
        if row is None or not queue.gave(row, attempt):  # lost, or the queue is an older copy
            unknown.append((key, attempt))
    if not unknown:
        return []
    with os.scandir(os.path.join(queue.state, SPOOL)) as entries:
        keys = {each.name.partition(".")[0] for each in entries}
    return [
        each for each in unknown
        if str(each[0]) in keys and source.claimed(names.ticket(*each)) is not None
    ]  # fmt: skip


def _taken(source: Documents, job: Job) -> str:
    """The attempt of which a job of a store says that it runs, if a claim of it tells until when.

    It may be given away again when that is over.
    """
    if source.owned or (running := _running(job)) is None:
        return ""
    ticket = names.ticket(*running)
    return ticket if source.claimed(ticket) is not None else ""


def _over(job: Job) -> list[tuple[int, int]]:
    """The last attempt of each queue that gave a job away, where its document says that it ended.

    A queue that was brought back from a copy may believe that one of them, or an earlier one, runs.
    """
    last: dict[int, tuple[int, bool]] = {}
    for each in starts.of_job(job).values():
        if (found := names.of_ticket(each.ticket)) is not None:
            last[found[0]] = (found[1], each.ended)
    return [(key, attempt) for key, (attempt, ended) in last.items() if ended]


def _last(job: Job) -> int:
    """The last attempt of a job that was given away, as its document tells; 0 if it tells none.

    What is far ahead of any clock somebody wrote by hand.
    """
    told = (names.of_ticket(each) for each in starts.tickets(job))
    given = (names.given_at(found[1]) for found in told if found is not None)
    most = (time.time() + _AHEAD) * 1000
    return max((each for each in given if each < most), default=0)


def _is_folded(job: Job) -> bool:
    return job.properties.get("Extension", type=names.EXTENSION, name=names.STARTS) is not None


def _standing(block: Block) -> Iterator[tuple[Understood[Job], str]]:
    """The jobs of a block with their defaults, and why they may not run yet, if so."""
    resolved = resolve(block).block
    policy = block.attributes.get("awarenessPolicy") if isinstance(block, JobGroup) else None
    around = FULL.policy(policy, AwarenessPolicy.REJECT)
    jobs = jobs_of(resolved)
    depending = [_with_dependencies_of_tasks(job) for job in jobs]
    states = list(graph.of(depending).states().values())
    contexts = surroundings(block, jobs_of(block))
    for job, stated, state, context in zip(jobs, depending, states, contexts, strict=True):
        waits = "it waits for other jobs" if state is State.WAITING else ""
        if not all(each.text.strip() for each in stated.properties.all("Dependency")):
            waits = "its Dependency names no job"
        never = "a job that it depends upon lets it never run" if state is State.NEVER else ""
        own = by_group(job, block) if isinstance(block, JobGroup) else job
        yield understood(own, around=around).within(context), waits or never


def _with_dependencies_of_tasks(job: Job) -> Job:
    """A job that begins when all of its task groups may: a slot is given to it as a whole."""
    groups = [each for each in _asking(job).items if isinstance(each, TaskGroup)]
    stated = [item for each in groups for item in each.properties.all("Dependency")]
    return job.holding((*job.items, *stated)) if stated else job


def _candidate(
    as_known: Understood[Job], reason: str, known: str, uid: int, trusted: Trust,
    say: Callable[[str], None], *, is_taken: bool = False,
) -> Candidate:  # fmt: skip
    """A job in the state that its document tells; ``known`` is the one in the queue.

    ``is_taken`` is whether a claim tells how long it runs elsewhere. Raises ``Untrusted`` and
    ``_NoAd``.
    """
    job = as_known.block
    state = job.get("State") or "Idle"
    # What was given away and came back still says that it runs.
    is_lost = step(state) == STEPS["Running"] and (is_taken or known in (READY, RETURNED, HELD))
    if has_ended(job.get):
        return Candidate(job.id, DONE)
    if names.is_of_schedd(job.get("GlobalId")):
        return Candidate(job.id, WAITING, reason="a schedd has it")
    told, says_held = job.get("StatusMessage"), holds.is_ours(job)
    if says_held or holds.was_ours(job):
        job = holds.without(job)
    elif "Hold" in job.properties.names() or not (spelled(state) == "Idle" or is_lost):
        if spelled(state) == "Idle":
            return Candidate(job.id, WAITING, reason=f"its Hold is {job.get('Hold')!r}")
        more = f": {told}" if spelled(state) == "Hold" and told else ""
        return Candidate(job.id, WAITING, reason=f"its State is {state}{more}")
    if reason:
        return Candidate(job.id, WAITING, reason=reason)
    if not as_known.accepted:
        rejected = said(AwarenessOutcome(as_known.outcome.reject))
        raise _NoAd("; ".join(each.message for each in rejected))
    whole = _as_one(job)
    if "Hold" in whole.properties.names():
        return Candidate(job.id, WAITING, reason=f"the Hold of its task is {whole.get('Hold')!r}")
    owner = trusted.owner(whole, uid)
    priority, submitted, eligible, deadline = (
        _whole(whole.properties.get(name))
        for name in ("Priority", "SubmitTime", "EligibleTime", "DeadlineTime")
    )
    ads = ads_of(job, owner, say)
    # The queue knows whether it still holds the job; one that knows nothing of it does.
    is_new = says_held and known not in (HELD, READY, RETURNED)
    return Candidate(
        job.id, HELD if is_new else READY, owner=owner, ads=ads, priority=priority,
        submitted=submitted, says_held=says_held, reason=told if is_new else "",
        eligible=min(max(eligible, 0), LARGEST), deadline=min(max(deadline, 0), LARGEST),
    )  # fmt: skip


_ON_NODES = "it wants more than one node, and a slot is on one"


class _NoAd(ValueError):
    """Why a job cannot be given to a slot."""


def ads_of(job: Job, owner: str, say: Callable[[str], None]) -> bytes:
    """The ads of the alternatives of a job, best first, in the long form.

    They say what is asked for, and nothing of earlier attempts: a starter would take that for what
    became of this one; nor of Dependency, which the queue heeds. What an ad cannot hold is said,
    once; an alternative that no slot can be asked for has none. Raises ``_NoAd`` with the reason
    why there are none at all.
    """
    asking = _asking(job)
    scope = Scope(_part(asking).job, "/Job")
    numbers: list[int | None] = [*range(len(scope.choices[:ALTERNATIVES]))]
    if not numbers and scope.block.requested:
        raise _NoAd("the request cannot be read, or nothing satisfies it")
    texts = []
    refused: dict[str, None] = {}
    unsaid: dict[str, None] = {}
    for number in numbers or (None,):
        try:
            part = _part(asking, number)
            mapped = part.mapped(number=number)
            texts.append(_ad_of(mapped, part.job.get("Type"), owner, unsaid))
        except _NoAd as why:
            refused[str(why)] = None
    if not texts:
        raise _NoAd("; ".join(refused))
    for message in unsaid:
        say(message)
    return b"\n".join(texts)


def _part(asking: Job, number: int | None = None) -> JobOfAd:
    """What the ad of an alternative is about. Raises ``_NoAd`` where there are several.

    What became of a group is past as well.
    """
    [part, *others] = parts(asking, () if number is None else (number,))
    if others:
        raise _NoAd(_ON_NODES)
    return replace(part, job=part.job.holding(
        item for item in part.job.items if not (_is_past(item) or _is_heeded(item))
    ))  # fmt: skip


# decision 1146
def _ad_of(mapped: Mapped, kind: str, owner: str, unsaid: dict[str, None]) -> bytes:
    """The ad of one alternative; to ``unsaid`` is added what it does not hold. Raises ``_NoAd``."""
    wrong = [each.message for each in mapped.findings if each.severity is Severity.ERROR]
    if wrong:
        raise _NoAd("; ".join(wrong))
    universe = mapped.ad.get("JobUniverse")
    if universe == names.UNIVERSES["parallel"]:
        raise _NoAd(_ON_NODES)
    if universe not in names.OF_SLOTS:
        raise _NoAd(f"its Type is the universe {kind}, of which no slot fetches")
    # The queue keeps a job until its time has come. A starter that is told a time that is over
    # holds the job, and with one to come it keeps the slot.
    ad = mapped.ad.without(names.OWN["EligibleTime"])
    if CPUS in mapped.assumed:  # the hook says how many, when a slot gets the job
        ad = ad.without(CPUS)
    ad = ad.merged({"Owner": owner} if owner else {})
    try:
        text = long.write(ad, ordered=True).encode()
        [again] = long.read(text.splitlines(keepends=True), strict=True)
    except ValueError as error:
        raise _NoAd(f"its ad cannot be written: {error}") from error
    if again != ad:  # a reply that is not read back would be thrown away as a whole
        raise _NoAd("its ad is not read back as it is written")
    unsaid |= dict.fromkeys(each.message for each in mapped.findings)
    if "ConcurrencyLimits" in mapped.ad:
        unsaid["nobody counts the licences of a job that a slot fetches"] = None
    return text


def _asking(job: Job) -> Job:
    """A job without what earlier attempts left in it, and what the queue heeds."""
    past = starts.of_job(job)
    return job.holding(
        item for item in job.items
        if not (
            _is_past(item) or _is_heeded(item)
            or (isinstance(item, TaskGroup) and starts.is_start(item, past))
        )
    )  # fmt: skip


# decision 812
def _as_one(job: Job) -> Job:
    """A job with what its task groups say of it, as its ad does; as it is where these are several
    ads.
    """
    found = parts(_asking(job))
    return found[0].job if len(found) == 1 else job


# What attempts leave in a document.
_PAST = OUTCOME | {"Hold"}


def _is_heeded(item: Item) -> bool:
    """Whether the queue itself does what a property asks for."""
    return isinstance(item, Property) and item.name == "Dependency"


def _is_past(item: Item) -> bool:
    return isinstance(item, Delivered) or (isinstance(item, Property) and item.name in _PAST)


def _whole(item: Property | None) -> int:
    try:
        value = 0 if item is None else item.value
    except InvalidValue:
        return 0
    return int(value) if isinstance(value, (int, Fraction)) else 0
