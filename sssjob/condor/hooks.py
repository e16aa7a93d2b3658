"""The hooks that a startd and a starter run: what each reads, does and answers.

A hook answers whole or not at all, ends in bounded time, and with 0 where its status is ignored.
What it imports first imports little: a job waits for every one of them. What takes longer
(documents that are new, usage to fold) is done by modules that are imported when they are needed,
and folding waits until the hook has answered.
"""

from __future__ import annotations

import os
import sys
import time

from sssjob.classads import daemons
from sssjob.classads.values import Ad
from sssjob.condor import names
from sssjob.condor.queue import (
    ACCEPTED,
    DONE,
    OFFERED,
    READY,
    REPORT_LIMIT,
    RUNNING,
    SPOOL,
    Queue,
    is_entry,
    known_as,
)
from sssjob.condor.settings import Settings, given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ACCEPT, REJECT = "accept", "reject"
EXITS = ("exit", "remove", "hold", "evict")

IDLE = 390  # the code of a preparation that failed here and may succeed on another machine


class Failed(Exception):
    """What keeps a hook from doing its work, as a sentence for the log."""


def main(words: Sequence[str]) -> int | None:
    """Run the hook that the first word names; None if its words are not understood."""
    understood = given(words[1:])
    if understood is None:
        return None
    settings, rest = understood
    return run(words[0], settings, rest)


def run(hook: str, settings: Settings, rest: Sequence[str] = ()) -> int:
    """Run a hook with its standard input and output, and give its exit status."""
    _limit(settings.seconds)
    try:
        _HOOKS[hook](settings, rest)
    except (OSError, ValueError, TimeoutError, Failed) as error:
        say(f"{hook}: {error}")
        if hook == "prepare-job":
            _answer(_status(IDLE if settings.mandatory else 0, f"features are not there: {error}"))
    _limit(0)
    if settings.fold != "never" and settings.jobs and hook != "prepare-job":
        _fold(settings)
    return 0


def say(text: object) -> None:
    """A line for the log of the daemon."""
    print(f"sssjob: {text}", file=sys.stderr)


def fetch_work(settings: Settings, rest: Sequence[str]) -> None:
    """Claim the first job that fits the slot, and print its ad; print nothing if there is none."""
    queue = _queue(settings)
    [slot, *_] = _ads() or [Ad()]
    if not slot:
        raise Failed("no ad of a slot on standard input")
    now = time.time()
    for state in (OFFERED, RUNNING):
        for name in queue.silent(state, now - settings.silence):
            silence = f"nothing was heard of it for {settings.silence} s"
            say(f"{known_as(name)}: {silence}; it is ready again")
            _give_back(settings, queue, name, state)
    _refresh(settings, queue, now)
    for name in queue.names(READY):
        try:
            text = queue.text(READY, name)
        except FileNotFoundError:  # another slot was faster
            continue
        ad = _fitting(text, slot, settings, name)
        if ad is None or not queue.move(name, READY, OFFERED):
            continue
        if not _taken(settings, name):
            queue.move(name, OFFERED, DONE)
            continue
        try:
            _answer(ad)
        except OSError:
            _give_back(settings, queue, name, OFFERED)
            raise
        return


def reply_fetch(settings: Settings, rest: Sequence[str]) -> None:
    """Note that a job was accepted, or hand it back."""
    if list(rest) not in ([ACCEPT], [REJECT]):
        raise Failed(f"called with {' '.join(rest) or 'nothing'}, expected {ACCEPT} or {REJECT}")
    queue, name = _queue(settings), _name(_ads())
    if rest[0] == ACCEPT:
        queue.move(name, OFFERED, ACCEPTED)
    else:
        _give_back(settings, queue, name, OFFERED)


def evict_claim(settings: Settings, rest: Sequence[str]) -> None:
    """Hand a job back, unless it has ended: a claim is given up behind the last job, too."""
    queue, name = _queue(settings), _name(_ads())
    if queue.ended(name):
        return
    for state in (OFFERED, ACCEPTED, RUNNING):
        _give_back(settings, queue, name, state)


def prepare_job(settings: Settings, rest: Sequence[str]) -> None:
    """Write the features of a job where it finds them, and answer with its environment."""
    from sssjob.classads.quoting import with_environment
    from sssjob.condor.mjf import prepared, provided

    [job, *_] = _ads() or [Ad()]
    scratch = settings.features or os.environ.get("_CONDOR_SCRATCH_DIR", "") or os.getcwd()
    slot = _slot(os.environ.get("_CONDOR_MACHINE_AD", ""))
    variables = prepared(job, slot, os.path.join(scratch, ".mjf"), int(time.time()))
    given = {key: value for key, value in provided(job, slot).items() if key not in job}
    _answer(_lines({**given, **with_environment(job, variables)}) + _status(0, ""))


def update_job_info(settings: Settings, rest: Sequence[str]) -> None:
    """Leave what a running job uses in the spool."""
    _report(settings, "update")


def job_exit(settings: Settings, rest: Sequence[str]) -> None:
    """Leave how a job ended in the spool."""
    if len(rest) != 1 or rest[0] not in EXITS:
        raise Failed(
            f"called with {' '.join(rest) or 'nothing'}, expected one of {', '.join(EXITS)}"
        )
    _report(settings, f"exit-{rest[0]}")


_HOOKS: dict[str, Callable[[Settings, Sequence[str]], None]] = {
    "fetch-work": fetch_work,
    "reply-fetch": reply_fetch,
    "evict-claim": evict_claim,
    "prepare-job": prepare_job,
    "update-job-info": update_job_info,
    "job-exit": job_exit,
}


def _fitting(text: bytes, slot: Ad, settings: Settings, name: str) -> bytes | None:
    """The ad of the first alternative of a job that fits the slot, as it is to be printed."""
    for part in text.split(b"\n\n"):
        if not part.strip():
            continue
        [ad] = daemons.read(part)
        asked = {key: int(number) for key, number in settings.requests if key not in ad}
        added: dict[str, str | int] = {**asked}
        if settings.owner and "Owner" not in ad:
            added["Owner"] = settings.owner
        ad = ad.merged(added)
        if missing := _missing(ad, slot):
            say(f"{known_as(name)}: {missing}")
            return None
        if _has_room(ad, slot) and _agree(ad, slot):
            from sssjob.condor.mjf import provided

            more = _lines({**added, **provided(ad, slot)})
            return b"".join(sorted((part.strip(b"\n") + b"\n" + more).splitlines(keepends=True)))
    return None


def _missing(ad: Ad, slot: Ad) -> str:
    """What a startd would refuse the job for."""
    if "Owner" not in ad and _startd_is_root():
        return "a job without User cannot be run by a startd that is root"
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
    if os.geteuid() == 0:
        return True
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name == "condor"
    except KeyError:
        return False


def _has_room(ad: Ad, slot: Ad) -> bool:
    """Whether the slot has what the job requests; what a slot does not tell, it has."""
    for attribute in ad:
        if attribute.startswith("Request"):
            wanted, has = ad.number(attribute), slot.number(attribute[len("Request") :])
            if (
                wanted
                and has is None
                and attribute not in ("RequestCpus", "RequestMemory", "RequestDisk")
            ):
                return False
            if wanted is not None and has is not None and wanted > has:
                return False
    return True


def _agree(ad: Ad, slot: Ad) -> bool:
    """Whether the Requirements of both hold; what starts the evaluator is imported only then."""
    if names.REQUIREMENTS not in ad and names.REQUIREMENTS not in slot:
        return True
    from sssjob.classads.evaluate import matches

    return matches(ad, slot)


def _report(settings: Settings, kind: str) -> None:
    """Leave standard input in the spool, under the name of its job and start."""
    # Users of jobs may write into the spool only, which is there once a startd has fetched.
    queue = _queue(settings, writes=not os.path.isdir(os.path.join(settings.state, SPOOL)))
    text = sys.stdin.buffer.read(REPORT_LIMIT + 1)
    if len(text) > REPORT_LIMIT:
        raise Failed(f"an ad of more than {REPORT_LIMIT} bytes")
    job = next(iter(daemons.read(text)), Ad())
    name = job.text(names.KEY) or job.text("GlobalJobId") or _local_id(job)
    if not name:
        raise Failed("an ad without SSSKey, GlobalJobId and ClusterId is about no job")
    start = job.number("JobStartDate") or job.number("JobCurrentStartDate") or 0
    queue.report(name, int(start), kind, text)


def _local_id(job: Ad) -> str:
    cluster = job.number("ClusterId")
    return "" if cluster is None else f"{cluster}.{job.number('ProcId') or 0}"


def _queue(settings: Settings, writes: bool = True) -> Queue:
    if not settings.jobs or not settings.state:
        raise Failed(
            "no jobs: say --jobs DIR or --jobs STORE, and --state DIR for a store elsewhere"
        )
    queue = Queue(settings.state)
    if writes:
        queue.make()
    return queue


def _ads() -> list[Ad]:
    """The ads on standard input, as far as they can be read."""
    text = sys.stdin.buffer.read(REPORT_LIMIT + 1)
    if len(text) > REPORT_LIMIT:
        raise Failed(f"more than {REPORT_LIMIT} bytes on standard input")
    return daemons.read(text, _skipped)


def _skipped(number: int, line: str) -> None:
    say(f"line {number} of standard input is no attribute: {line[:60]!r}")


def _name(ads: Sequence[Ad]) -> str:
    """Which job of the queue an ad is about."""
    name = ads[0].text(names.KEY) if ads else ""
    if not is_entry(name):
        raise Failed(f"the ad of a job that was not fetched here: {names.KEY} is {name[:60]!r}")
    return name


def _slot(path: str) -> Ad:
    """The ad of the slot that a job runs in; without one, what the job says has to do."""
    if not path:
        return Ad()
    with open(path, "rb") as file:
        return next(iter(daemons.read(file.read(REPORT_LIMIT))), Ad())


def _give_back(settings: Settings, queue: Queue, name: str, state: str) -> None:
    if queue.move(name, state, READY) and _is_store(settings):
        from sssjob.condor.documents import documents

        documents(settings).release(name)


def _taken(settings: Settings, name: str) -> bool:
    """Whether the job is ours in the store, too, which other machines may look at."""
    if not _is_store(settings):
        return True
    from sssjob.condor.documents import documents

    return documents(settings).take(name, settings.silence)


def _is_store(settings: Settings) -> bool:
    return not os.path.isdir(settings.jobs)


def _refresh(settings: Settings, queue: Queue, now: float) -> None:
    """Make documents that are new or changed ready, as far as the time allows."""
    from sssjob.condor.freshness import is_fresh

    if is_fresh(settings, queue, now):
        return
    from sssjob.condor.preparing import refresh

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
    """Raise TimeoutError when the time is over, wherever that may be."""
    # What is behind signal: that makes enumerations of its numbers, which takes longer than we do.
    import _signal  # type: ignore[import-not-found]  # it has no annotations

    def over(number: int, frame: object) -> None:
        raise TimeoutError(f"it takes more than {seconds} s")

    _signal.signal(_signal.SIGALRM, over)
    _signal.alarm(seconds)


def _fold(settings: Settings) -> None:
    """Fold what is in the spool: at once, or in a process that nobody waits for."""
    queue = Queue(settings.state)
    if not queue.reports() or not os.access(queue.place(DONE), os.W_OK):
        return
    if settings.fold == "after":
        sys.stdout.flush()
        if os.fork():
            return
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nothing, number)
    from sssjob.condor.reports import fold

    try:
        fold(settings, queue, say=say)
    finally:
        if settings.fold == "after":
            os._exit(0)
