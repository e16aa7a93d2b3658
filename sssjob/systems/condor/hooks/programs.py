"""The hooks that a startd and a starter run: what each reads, does and answers.

A hook answers whole or not at all, ends in bounded time, and with 0 where its status is ignored.
What it imports first imports little: a job waits for every one of them. What takes longer
(documents that are new, usage to fold) is done by modules that are imported when they are needed.
Folding comes last, within the time of the hook: what a hook leaves running, HTCondor kills.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import chain

from sssjob.classads import hook_ads
from sssjob.classads.values import Ad
from sssjob.systems.condor import names
from sssjob.systems.condor.hooks import owners
from sssjob.systems.condor.hooks.place import as_whom, check_said, clear_the_way, owner_of
from sssjob.systems.condor.hooks.settings import (
    SPOOL,
    HookSettings,
    fault_told,
    given,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import FrameType

    from sssjob.systems.condor.hooks.queue import JobQueue, OpenQueue, SpoolJob

ACCEPT, REJECT = "accept", "reject"
EXITS = ("exit", "remove", "hold", "evict")

LIMIT = 16 << 20  # bytes of what a hook is told
_ROOM = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
SHARE = 1.0  # seconds for which the jobs of one user are compared with a slot
LOOKS = 3  # at documents that change while a job of them is given away
ELSEWHERE = 60  # seconds until a job is looked at again that another machine has
IDLE = 390  # the code of a preparation that failed here and may succeed on another machine


class Failed(Exception):
    """What keeps a hook from doing its work, as a sentence for the log."""


class Misused(Exception):
    """What tells that no daemon of HTCondor calls, as a sentence."""


def main(words: Sequence[str]) -> int | None:
    """Run the hook that the first word names; None if its words are not understood."""
    understood = given(words[1:])
    if understood is None:
        return None
    settings, rest = understood
    return run(words[0], settings, rest)


def run(hook: str, settings: HookSettings, rest: Sequence[str] = ()) -> int:
    """Run a hook with its standard input and output, and give its exit status."""
    began = time.time()
    is_awaited = hook == "prepare-job"
    _limit(settings.seconds)
    try:
        is_awaited = _HOOKS[hook](settings, rest) or is_awaited
    except Misused as error:
        _limit(0)
        say(f"{hook}: {error}")
        return 2
    except (OSError, ValueError, TimeoutError, Failed) as error:
        _limit(0)
        say(f"{hook}: {error}")
        if hook == "prepare-job":
            told = f"features are not there: {error}"
            if settings.mandatory:
                from sssjob.systems.condor.hooks.limits import mark

                mark(told)
            _answer(_status(IDLE if settings.mandatory else 0, told))
    _limit(0)
    if settings.fold == "now" and hook != "prepare-job":
        _fold(settings, None)
    elif settings.fold == "after" and not is_awaited:
        _fold(settings, began + settings.seconds)
    return 0


def say(text: object) -> None:
    """A line for the log of the daemon."""
    from sssjob.visible import visible_lines  # most hooks say nothing

    print(f"sssjob: {visible_lines(str(text))}", file=sys.stderr)


def fetch_work(settings: HookSettings, rest: Sequence[str]) -> bool:
    """Claim the first job that fits the slot, and print its ad; print nothing if there is none.

    Gives whether there was one: then HTCondor waits for the end of this.
    """
    [slot, *_] = _ads() or [Ad()]
    if not slot:
        raise Failed("no ad of a slot on standard input")
    check_said(settings)
    from sssjob.systems.condor.hooks import stamp

    if stamp.is_idle(settings, time.time()):  # most slots ask most of the time for nothing
        return False
    with _held(settings) as queue:
        if queue.refused:
            raise Failed(queue.refused)
        now = time.time()
        queue.note_limits(settings, _personal(slot))
        silent = list(queue.silent(now - settings.silence))
        reports = _left(silent, settings) if silent else {}
        for job in silent:
            ended, heard, started = reports.get(job.key, (False, 0, False))
            if heard > now - settings.silence:  # and nobody has folded it yet
                queue.move(job.key, job.attempt, [job.state], "running", heard)
            elif not ended:
                silence = f"nothing was heard of it for {settings.silence} s"
                after = _gone(settings, queue, job, silence, was_started=started)
                again = {"held": "it is held", "running": "an earlier attempt runs"}.get(
                    after, "it may be given to a slot again"
                )
                say(f"{job.label}: {silence}; {again}")
        for _ in range(LOOKS):
            left = settings.seconds - settings.seconds // 4 - int(time.time() - now)
            _limit(max(left, 1))
            try:
                _refresh(settings, queue, now)
                if time.time() > now + settings.seconds / 2:  # the rest is left to the next hook
                    raise TimeoutError(f"it took more than {settings.seconds / 2:g} s")
            except TimeoutError as error:  # what is known already can be given away
                say(f"fetch-work: looking at the documents: {error}")
            _limit(max(settings.seconds // 4, 1))
            before = stamp.file_stamp(settings.state)
            ready = queue.ready(time.time())
            changed: set[str] = set()
            if (first := next(ready, None)) is None:
                stamp.note_idle(settings, queue, before)
            elif _one_given(settings, queue, chain((first,), ready), slot, now, changed):
                return True
            if not changed or time.time() > now + settings.seconds / 2:
                break
        return False


def reply_fetch(settings: HookSettings, rest: Sequence[str]) -> None:
    """Note that a job was accepted, or hand it back."""
    if list(rest) not in ([ACCEPT], [REJECT]):
        raise Failed(f"called with {' '.join(rest) or 'nothing'}, expected {ACCEPT} or {REJECT}")
    from sssjob.systems.condor.hooks import offers

    ads = _ads()
    key, attempt = _ticket(ads)
    with _held(settings) as queue:
        job = queue.job(key)
        if job is None or job.attempt < attempt:  # where the queue was lost, the offer is noted
            _refresh(settings, queue, time.time())
            job = queue.job(key)
        if job is None or job.attempt != attempt:
            raise Failed(f"nothing was offered as {names.ticket(key, attempt)}")
        if rest[0] == ACCEPT:  # what runs already stays so
            _take(settings, queue, job, ads[0])
            _tell_taken(settings, queue)
            # Where its document is away, or others are at it, the note says that it is taken.
            if all(each.key != key for each in queue.taken_untold()):
                offers.settled(settings.state, key, attempt)
        elif job.state == "offered":  # which is no fault of the job
            slot = ads[1].text("Name") if len(ads) > 1 else ""
            offers.settled(settings.state, key, attempt)
            if queue.refuse(key, attempt, slot, time.time(), settings.pause):
                _release(settings, queue, job)


def evict_claim(settings: HookSettings, rest: Sequence[str]) -> None:
    """Hand a job back, unless it has ended: a claim is given up behind the last job, too."""
    from sssjob.systems.condor.hooks.queue import TAKEN

    key, attempt = _ticket(_ads())
    with _held(settings) as queue:
        job = queue.job(key)
        if job is None or job.attempt < attempt:  # an older copy of the queue: its document knows
            if job is not None:
                with queue.changing():
                    queue.read_again("?", job.document)
            _refresh(settings, queue, time.time())
            job = queue.job(key)
        if job is None:
            return
        if job.attempt == attempt and job.state in TAKEN:
            ended, _, started = _left([job], settings).get(key, (False, 0, False))
            if not ended:
                reason = "its claim was given up without a report of how it ended"
                _gone(settings, queue, job, reason, was_started=started)
        elif (
            job.taken == names.ticket(key, attempt) and _is_store(settings)
            and _is_silent(settings, key)
        ):  # fmt: skip
            from sssjob.systems.condor.hooks.documents import documents

            # Which an older copy of the queue takes for that of another machine.
            documents(settings).release(job.claim(attempt))


def prepare_job(settings: HookSettings, rest: Sequence[str]) -> None:
    """Write the features of a job where it finds them, and answer with its environment."""
    from sssjob.classads.quoting import with_environment
    from sssjob.systems.condor.hooks.features import prepared, provided

    scratch = settings.features or os.environ.get("_CONDOR_SCRATCH_DIR", "")
    if not scratch:
        raise Misused(
            "no scratch directory: $_CONDOR_SCRATCH_DIR, which a starter sets, is not set"
        )
    [job, *_] = _ads() or [Ad()]
    slot = _slot(os.environ.get("_CONDOR_MACHINE_AD", ""))
    variables = prepared(job, slot, os.path.join(scratch, ".mjf"), int(time.time()))
    given = {key: value for key, value in provided(job, slot).items() if key not in job}
    _answer(_lines({**given, **with_environment(job, variables)}) + _status(0, ""))


def update_job_info(settings: HookSettings, rest: Sequence[str]) -> None:
    """Leave what a running job uses in the spool, and end one that is over a limit of its own.

    It is ended where nothing can be written, too: a full disk is what its limit is for.
    """
    text, job = _told(settings)
    try:
        _leave(settings, "update", text, job)
    finally:
        if settings.limits == "keep" and "JobPid" in job and names.of_ticket(job.text(names.KEY)):
            from sssjob.systems.condor.hooks.limits import end, exceeded

            now = time.time()
            ran = now - (job.number("JobStartDate") or now)
            suspended = job.number("CumulativeSuspensionTime") or 0
            if reason := exceeded(job, ran - suspended):
                end(job, reason, say)


def job_exit(settings: HookSettings, rest: Sequence[str]) -> None:
    """Leave how a job ended in the spool."""
    if len(rest) != 1 or rest[0] not in EXITS:
        raise Failed(
            f"called with {' '.join(rest) or 'nothing'}, expected one of {', '.join(EXITS)}"
        )
    _leave(settings, f"exit-{rest[0]}", *_told(settings))


_HOOKS: dict[str, Callable[[HookSettings, Sequence[str]], bool | None]] = {
    "fetch-work": fetch_work,
    "reply-fetch": reply_fetch,
    "evict-claim": evict_claim,
    "prepare-job": prepare_job,
    "update-job-info": update_job_info,
    "job-exit": job_exit,
}


# decision 664
def _one_given(
    settings: HookSettings, queue: JobQueue, ready: Iterable[int], slot: Ad, now: float,
    changed: set[str],
) -> bool:  # fmt: skip
    """Give the first job that fits to a slot; gives whether there was one.

    To ``changed`` the documents are added that are no longer as they were read. Whoever has jobs
    that take long to be compared with a slot keeps nobody else from it: after ``SHARE`` seconds
    the rest of them is asked behind those of all others.
    """
    spent: dict[str, float] = {}
    behind: list[SpoolJob] = []
    for key in ready:
        job = queue.job(key)
        if job is None:
            continue
        if spent.get(job.owner, 0.0) > SHARE:
            behind.append(job)
            continue
        began = time.time()
        if _given_away(settings, queue, job, slot, now, changed):
            return True
        spent[job.owner] = spent.get(job.owner, 0.0) + (time.time() - began)
    return any(_given_away(settings, queue, job, slot, now, changed) for job in behind)


def _given_away(
    settings: HookSettings, queue: JobQueue, job: SpoolJob, slot: Ad, now: float, changed: set[str]
) -> bool:
    """Give a job to a slot, if it fits and nobody else was faster."""
    key = job.key
    if (
        job.document in changed
        or job.state != "ready"
        or job.untimely(now)
        or queue.is_refused(key, slot.text("Name"), now)
    ):
        return False
    personal = _personal(slot)
    owner = job.owner or settings.owner or personal
    if reason := owners.refused(owner, personal):
        say(f"{job.label}: {reason}")
        return False
    try:
        text, added, provided = _fitting(job, slot, settings, owner) or (b"", {}, {})
    except TimeoutError:
        raise
    except Exception as fault:  # of ours, whichever it is: any user may put jobs there
        say(f"{job.label}: {fault_told(fault)}")
        return False
    if text and job.attempt and _is_kept(settings, queue, job):
        return False
    own = queue.attempts(key) if text else []
    attempt = queue.claim(key, owner, now, _lines(provided).decode()) if text else None
    if attempt is None:
        return False
    if not _taken(settings, queue, job, attempt, own, changed):
        return False
    try:
        ticket = names.ticket(key, attempt)
        told = {**added, **provided, names.KEY: ticket, names.FETCHED: int(now)}
        if job.deadline:  # by which it has to end, however long it may run
            from sssjob.systems.condor.hooks.limits import FOREVER

            name = f"{names.FEATURE}wall_limit_secs"
            [ad] = hook_ads.read(text)
            told[name] = max(int(min(ad.number(name) or FOREVER, job.deadline - now)), 1)
            text = b"\n".join(
                line for line in text.split(b"\n") if not line.startswith(name.encode() + b" ")
            )
        more = _lines(told)
        if settings.state:
            from sssjob.systems.condor.hooks import offers

            offers.note(settings.state, job, attempt, owner)
        _answer(b"".join(sorted((text + b"\n" + more).splitlines(keepends=True))))
    except OSError:
        job.attempt = attempt
        _give_back(settings, queue, job)
        raise
    return True


def _fitting(
    job: SpoolJob, slot: Ad, settings: HookSettings, owner: str
) -> tuple[bytes, dict[str, str | int], dict[str, str | int]] | None:
    """The ad of the first alternative of a job that fits the slot, what it lacks, and what the slot
    gives.
    """
    for part in job.ads.split(b"\n\n"):
        if not part.strip():
            continue
        [ad] = hook_ads.read(part)
        # A job that asks for no processors runs on one.
        most = {"RequestCpus": 1, **{key: int(number) for key, number in settings.requests}}
        asked = {key: number for key, number in most.items() if key not in ad}
        added: dict[str, str | int] = {**asked}
        if owner and "Owner" not in ad:
            added["Owner"] = owner
        ad = ad.merged(added)
        if missing := _missing(ad, slot):
            say(f"{job.label}: {missing}")
            return None
        if _has_room(ad, slot) and _agree(ad, slot) and _is_wanted(ad, slot):
            from sssjob.systems.condor.hooks.features import provided

            return part.strip(b"\n"), added, provided(ad, slot)
    return None


def _missing(ad: Ad, slot: Ad) -> str:
    """What a startd would refuse the job for."""
    if slot.get("PartitionableSlot") is True:
        wanted = ("RequestCpus", "RequestMemory", "RequestDisk")
        lacking = [attribute for attribute in wanted if attribute not in ad]
        if lacking:
            return (
                f"a partitionable slot needs {', '.join(lacking)}, which the job does not request"
            )
    return ""


def _startd_is_root() -> bool:
    """A startd that is root runs its hooks as root or as the user condor."""
    return os.getuid() == 0 or _me() == "condor"


def _personal(slot: Ad) -> str:
    """As whom a startd runs every job that is not root, or that we simulate."""
    return slot.text(names.RUNS_AS) or ("" if _startd_is_root() else _me())


def _me() -> str:
    from sssjob.users import user_name

    return user_name(os.getuid())


def _has_room(ad: Ad, slot: Ad) -> bool:
    """Whether the slot has what the job requests; what a slot does not tell, it has."""
    from sssjob.systems.condor.slot import lacking

    return next(lacking(ad, slot), None) is None


def _agree(ad: Ad, slot: Ad) -> bool:
    """Whether the Requirements of both hold; what starts the evaluator is imported only then."""
    if names.REQUIREMENTS not in ad and names.REQUIREMENTS not in slot:
        return True
    from sssjob.classads.evaluate import matches

    return matches(ad, slot)


# decision 815
def _is_wanted(ad: Ad, slot: Ad) -> bool:
    """Whether a slot would take a job, rather than go on with the one that it runs."""
    if slot.text("State") == "Preempting":
        return False
    if slot.text("State") != "Claimed" or slot.text("Activity") in ("", "Idle"):
        return True
    from sssjob.classads import evaluate

    rank = evaluate.attribute(slot, "Rank", ad)  # as HTCondor does, true is 1
    return isinstance(rank, (int, float)) and rank > (slot.number("CurrentRank") or 0)


def _told(settings: HookSettings) -> tuple[bytes, Ad]:
    """What a starter tells of a job that was fetched, or that a schedd has, and the ad in it.

    Of one that was fetched the disk that it takes is added, which a starter does not tell.
    """
    check_said(settings)
    text = sys.stdin.buffer.read(LIMIT + 1)
    if len(text) > LIMIT:
        raise Failed(f"an ad of more than {LIMIT} bytes")
    job = next(iter(hook_ads.read(text)), Ad())
    if names.of_ticket(job.text(names.KEY)) is None:
        if not names.is_of_schedd(job.text("GlobalJobId")):
            raise Failed(
                f"an ad without {names.KEY} and GlobalJobId is about no job that was fetched here, "
                "or that a schedd has"
            )
    elif "JobPid" in job and "DiskUsage" not in job:
        from sssjob.systems.condor.hooks.limits import disk_used

        if (used := disk_used(say)) is not None:
            return _lines({"DiskUsage": used}) + text, job.merged({"DiskUsage": used})
    return text, job


def _leave(settings: HookSettings, kind: str, text: bytes, job: Ad) -> None:
    """Leave in the spool what a starter tells, with the hook that it came to."""
    from sssjob import atomic

    ticket = names.of_ticket(job.text(names.KEY))
    about: dict[str, str | int] = {names.REPORT: kind}
    if ticket is not None and kind != "update" and (reason := _reason(job)):
        about[names.REASON] = reason
    spool = os.path.join(settings.state, SPOOL)
    if not os.path.isdir(spool):
        _make_spool(settings)
    name = f"{ticket[0] if ticket else 0}.{os.urandom(16).hex()}"  # 0 is no job of the queue
    folder = os.open(spool, _ROOM)
    try:
        atomic.put(folder, name, _lines(about) + text)
    finally:
        os.close(folder)


def _reason(job: Ad) -> str:
    """Why a job was ended, or was never started, which only its own starter can find out.

    One that a signal ended while it was over a limit was ended by us, though nobody could note it.
    """
    from sssjob.systems.condor.hooks.limits import marked, overused, why_not_started

    if noted := marked():
        return noted
    if not names.was_started(job):
        return why_not_started(job)
    return overused(job) if job.get("ExitBySignal") is True else ""


def _make_spool(settings: HookSettings) -> None:
    """Make the queue with its spool, if the jobs are ours: users of jobs write into it only."""
    owner = owner_of(settings)
    if os.geteuid() not in (0, owner):
        raise Failed(
            f"there is no spool in {settings.state}: sssjob condor fold by uid {owner} makes it"
        )
    with _held(settings):
        pass


def _is_silent(settings: HookSettings, key: int) -> bool:
    """Whether no report of a job waits in the spool, whatever it says."""
    from sssjob.systems.condor.hooks.spool import Spool

    with Spool(settings.state, say) as spool:
        return not spool.by_key(time.time(), {key}).get(key)


# decision 818, 892
def _is_kept(settings: HookSettings, queue: JobQueue, job: SpoolJob) -> bool:
    """Whether a report waits in the spool by which one of the attempts at a job came to its end, or
    runs after all.
    """
    from sssjob.systems.condor.hooks.spool import Spool
    from sssjob.systems.condor.hooks.trust import reporters

    with Spool(settings.state, say) as spool:
        found = spool.by_key(time.time(), {job.key}).get(job.key)
        if not found:
            return False
        from sssjob.systems.condor.hooks.reports import completes

        trusted = reporters(settings)
        for report in spool.read(found, lambda uid: trusted.counts(uid, job.given)):
            ad = next(iter(hook_ads.read(report.text)), Ad())
            ticket = names.of_ticket(ad.text(names.KEY))
            if ticket is None or ticket[0] != job.key or queue.attempt(*ticket) is None:
                continue
            kind = ad.text(names.REPORT)
            if completes(ad, kind, report.moment):
                return True
            if kind == "update" and "JobPid" in ad and queue.is_later(*ticket, report.left):
                return True
    return False


def _left(jobs: Sequence[SpoolJob], settings: HookSettings) -> dict[int, tuple[bool, int, bool]]:
    """What waits in the spool about attempts that are out, by the keys of their jobs.

    Whether one has ended, when the last report that counts was left, in seconds since 1970, and
    whether one tells that the job was started.
    """
    from sssjob.systems.condor.hooks.spool import Spool
    from sssjob.systems.condor.hooks.trust import reporters

    trusted = reporters(settings)
    found: dict[int, tuple[bool, int, bool]] = {}
    with Spool(settings.state, say) as spool:
        names_of = spool.by_key(time.time(), {job.key for job in jobs})
        for job in jobs:
            mine = names.ticket(job.key, job.attempt)
            ended, heard, started = False, 0, False
            for report in spool.read(
                names_of.get(job.key, ()),
                lambda uid, given=job.given: trusted.counts(uid, given),  # type: ignore[misc]
            ):
                ad = next(iter(hook_ads.read(report.text)), Ad())
                if ad.text(names.KEY) == mine:
                    ended = ended or ad.text(names.REPORT).startswith("exit-")
                    heard = max(heard, report.moment)
                    started = started or names.was_started(ad)
            found[job.key] = ended, 0 if ended else heard, started
    return found


def _held(settings: HookSettings) -> OpenQueue:
    from sssjob.systems.condor.hooks.queue import OpenQueue

    check_said(settings)
    clear_the_way(settings)
    if as_whom(settings) != os.geteuid():
        # Whom root acts as may not be able to read where we are installed.
        import sssjob.systems.condor.hooks.candidates
        import sssjob.systems.condor.hooks.reports  # noqa: F401
    return OpenQueue(settings)


def _ads() -> list[Ad]:
    """The ads on standard input, as far as they can be read."""
    text = sys.stdin.buffer.read(LIMIT + 1)
    if len(text) > LIMIT:
        raise Failed(f"more than {LIMIT} bytes on standard input")
    return hook_ads.read(text, _skipped)


def _skipped(number: int, line: str) -> None:
    say(f"line {number} of standard input is no attribute: {line[:60]!r}")


def _ticket(ads: Sequence[Ad]) -> tuple[int, int]:
    """Which job of the queue an ad is about, and which attempt."""
    text = ads[0].text(names.KEY) if ads else ""
    if (found := names.of_ticket(text)) is None:
        raise Failed(f"the ad of a job that was not fetched here: {names.KEY} is {text[:60]!r}")
    return found


def _slot(path: str) -> Ad:
    """The ad of the slot that a job runs in; without one, what the job says has to do."""
    if not path:
        return Ad()
    with open(path, "rb") as file:
        return next(iter(hook_ads.read(file.read(LIMIT))), Ad())


# decision 816
def _gone(
    settings: HookSettings, queue: JobQueue, job: SpoolJob, why: str, *, was_started: bool
) -> str:
    """Take back a job whose attempt ended without a word: where it is then, "" if it was not away.

    Only an attempt of which no start was heard is one that could not be started.
    """
    now, key, attempt = time.time(), job.key, job.attempt
    known = queue.attempt(key, attempt)
    if was_started or (known is not None and known.is_seen):
        after = queue.lost(key, attempt, now, why, settings.pause, settings.lost)
    else:
        after = queue.failed(key, attempt, now, why, settings.pause, settings.attempts)
    if after:
        from sssjob.systems.condor.hooks import offers

        _release(settings, queue, job)
        offers.settled(settings.state, key, attempt)
    return after


def _release(settings: HookSettings, queue: JobQueue, job: SpoolJob) -> None:
    """Give up the claim of the attempt at a job, which other machines may look at.

    Where another attempt runs after all, the job is that one's.
    """
    if not _is_store(settings):
        return
    from sssjob.systems.condor.hooks.documents import documents

    source = documents(settings)
    source.release(job.claim(job.attempt))
    if (runs := queue.running(job.key)) is not None:
        source.keep(runs, source.claimed(runs.ticket) or 0)


def _give_back(settings: HookSettings, queue: JobQueue, job: SpoolJob) -> None:
    from sssjob.systems.condor.hooks.queue import TAKEN

    if queue.give_back(job.key, job.attempt, TAKEN, time.time()):
        _release(settings, queue, job)


def _taken(
    settings: HookSettings, queue: JobQueue, job: SpoolJob, attempt: int, own: Sequence[int],
    changed: set[str],
) -> bool:  # fmt: skip
    """Whether a job that was claimed is the one that was read, and ours in a store, too, which
    other machines may look at.

    ``own`` are the attempts as which it was given away here before. What is not ours comes back.
    """
    now = time.time()
    if not _is_store(settings):
        from sssjob.systems.condor.hooks import stamp

        if stamp.is_as_read(settings, queue, job.document):
            return True
        changed.add(job.document)
        queue.unclaim(job, attempt, now)
        return False
    from sssjob.systems.condor.hooks.documents import QueuedDocument, documents
    from sssjob.systems.condor.hooks.queue import TAKEN

    source, others = documents(settings), job.others(own)
    read = QueuedDocument(job.document, queue.stamp(job.document), os.geteuid())
    try:
        if source.take(job.claim(attempt), now + settings.silence, others, read):
            return True
        is_elsewhere = source.taken(job.known_as, others) > now
    except (OSError, ValueError):  # the store does not answer, and nobody is told of the job
        queue.give_back(job.key, attempt, TAKEN, now)
        raise
    if is_elsewhere:
        # Until its claim is over, or the document says what became of the job.
        seconds = min(settings.silence, ELSEWHERE)
        queue.rest(job.key, attempt, now, "another machine has it", seconds)
    else:  # another machine had it, or its document changed: that is read before
        changed.add(job.document)
        queue.unclaim(job, attempt, now)
    return False


# decision 885
def _take(settings: HookSettings, queue: JobQueue, job: SpoolJob, ad: Ad) -> None:
    """Note that a startd took a job that was offered.

    In the note of the offer first: whoever finds it goes on where we are killed.
    """
    from sssjob.systems.condor.hooks import offers

    try:
        if job.state == "offered":
            _keep(settings, job, ad)
    finally:  # whatever a store says, the startd has it
        offers.note_taken(settings.state, job.key, job.attempt)
        queue.move(job.key, job.attempt, ["offered"], "accepted", time.time())


def _keep(settings: HookSettings, job: SpoolJob, ad: Ad) -> None:
    """Let no other machine have a job that a startd took, for as long as it may run.

    A machine whose slots are all busy calls no hook that could tell that it still runs; one that
    is lost keeps a job without a limit until somebody gives it back.
    """
    if _is_store(settings):
        from sssjob.systems.condor.hooks.documents import documents
        from sssjob.systems.condor.hooks.limits import held_until

        documents(settings).keep(job.claim(job.attempt), held_until(ad, settings.silence))


def _tell_taken(settings: HookSettings, queue: JobQueue) -> None:
    """Have the document of a job say that a startd took it; nobody waits for this hook."""
    if settings.fold == "never":
        return
    from sssjob.errors import SSSJobError
    from sssjob.systems.condor.hooks.reports import tell_taken

    try:
        with queue.alone(wait=False):
            tell_taken(settings, queue, say)
    except (BlockingIOError, SSSJobError):  # whoever is at it folds, and does the same then
        return


def _is_store(settings: HookSettings) -> bool:
    return not os.path.isdir(settings.jobs)


def _refresh(settings: HookSettings, queue: JobQueue, now: float) -> None:
    """Make documents that are new or changed ready, as far as the time allows."""
    from sssjob.systems.condor.hooks import stamp

    if stamp.is_fresh(settings, queue, now):
        return
    from sssjob.systems.condor.hooks.candidates import refresh

    refresh(settings, queue, until=now + settings.seconds / 2, say=say)


def _answer(text: bytes) -> None:
    """Print an answer in one go."""
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def _status(code: int, message: str) -> bytes:
    told: dict[str, str | int] = {"HookStatusCode": code}
    if message:
        told["HookStatusMessage"] = " ".join(message.split())
    return _lines(told)


def _lines(attributes: Mapping[str, str | int]) -> bytes:
    """Attributes in the long form. Raises ``Failed`` for a text that it cannot hold."""
    lines = []
    for name, value in attributes.items():
        text = str(value)
        if isinstance(value, str):
            if "\n" in value or "\r" in value or "\0" in value:
                raise Failed(f"{name} has a line end, which an ad cannot hold")
            text = '"' + value.replace('"', '\\"') + '"'
        lines.append(f"{name} = {text}\n")
    return "".join(lines).encode()


def _limit(seconds: int) -> None:
    """Raise TimeoutError when the time is over, wherever that may be; 0 is without a limit.

    Python ignores what is raised where it calls back, as within its locks of imports: it is raised
    again until somebody hears it. While a module is imported it waits for that: what is raised
    there may come out as another error, and leave half a module.
    """
    # What is behind signal: that makes enumerations of its numbers, which takes longer than we do.
    import _signal  # type: ignore[import-not-found]  # it has no annotations

    def over(number: int, frame: FrameType | None) -> None:
        if _is_in_import(frame):
            _signal.alarm(1)
            return
        _signal.alarm(max(seconds // 4, 1))
        raise TimeoutError(f"it takes more than {seconds} s")

    _signal.signal(_signal.SIGALRM, over)
    _signal.alarm(seconds)


def _is_in_import(frame: FrameType | None) -> bool:
    """Whether a module is being imported where a signal came."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _fold(settings: HookSettings, until: float | None) -> None:
    """Fold what is in the spool, if it is ours to do; ``until`` is when to stop."""
    try:
        is_ours = os.geteuid() in (0, os.stat(settings.state).st_uid)
        with os.scandir(os.path.join(settings.state, SPOOL)) as entries:
            if not is_ours or next(entries, None) is None:
                return
    except OSError:  # there is no spool yet
        return
    from sssjob.errors import SSSJobError
    from sssjob.systems.condor.hooks.reports import fold

    try:
        with _held(settings) as queue:
            fold(settings, queue, say=say, until=until, wait=until is None)
    except BlockingIOError:  # another hook is at it
        return
    except (OSError, SSSJobError, Failed) as error:
        say(f"fold: {error}")
