"""The limits of a fetched job: whether it is over one of them, and how it is ended then.

No schedd looks after a job that a slot fetched, so HTCondor keeps none of its limits but what the
site's policy says. They are those that the job finds as its features. The hook that a starter calls
again and again holds what HTCondor has measured against them, and ends the job. The startd ends one
that runs too long (``site.HookSite``), within seconds.
"""

from __future__ import annotations

import os
import time

from sssjob.classads.values import Ad
from sssjob.systems.condor import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

GRACE = 5  # seconds from SIGTERM to SIGKILL
MARK = ".sssjob-limit"  # in the scratch directory: why the job was ended, or not started
_MOST = 400  # letters of a reason
FOREVER = 1 << 40  # seconds since 1970

# fmt: off
# The feature, what was used by an ad in which unit, and how it is told. The first words are those
# by which ``states`` knows that a job did not end by itself.
_ROWS = (
    ("cpu_limit_secs",      1,       "TIMEOUT: {} s of CPU time used, {} s allowed"),
    ("max_rss_bytes",       1 << 10, "OUT_OF_MEMORY: {} KiB of memory used, {} KiB allowed"),
    ("scratch_limit_bytes", 1 << 10, "ABORTED: {} KiB of disk used, {} KiB allowed"),
)
# fmt: on


# decision 886
def exceeded(ad: Ad, ran: float) -> str:
    """Which limit a job that was fetched is over after ``ran`` seconds, as a sentence; or ""."""
    return overran(ad, ran) or overused(ad)


def overused(ad: Ad) -> str:
    """Of what a job that was fetched used more than it may, as a sentence; or "".

    Its limits are the features that are made of its ad, whoever said them: the job, the options of
    the hooks, or the slot, whose size travels with the job.
    """
    from sssjob.systems.condor.slot import job_features

    limits = job_features(ad, Ad())
    used = {
        "cpu_limit_secs": (ad.number("RemoteUserCpu") or 0) + (ad.number("RemoteSysCpu") or 0),
        "max_rss_bytes": ad.number("ResidentSetSize") or 0,
        "scratch_limit_bytes": ad.number("DiskUsage") or 0,
    }
    for key, unit, text in _ROWS:
        limit = int(limits.get(key, 0))
        if limit > 0 and used[key] * unit > limit:
            return text.format(int(used[key]), limit // unit)
    return ""


# decision 856
def disk_used(say: Callable[[object], None]) -> int | None:
    """The KiB on the disk that the scratch directory of this starter takes; None without one.

    A starter tells it of a schedd's jobs alone.
    """
    from sssjob.systems.condor.hooks import disk

    scratch = os.environ.get("_CONDOR_SCRATCH_DIR", "")
    return disk.used(scratch, say) if scratch else None


def held_until(ad: Ad, silence: int) -> float:
    """Until when no other machine may have a job that runs from now on.

    One without a limit is nobody else's until it comes back, or somebody gives it back.
    """
    limit = _limit(ad, "wall_limit_secs")
    return time.time() + limit + silence if limit and limit > 0 else FOREVER


def overran(ad: Ad, ran: float, claimed: float = 0) -> str:
    """Whether a job that was fetched ran for longer than it may, as a sentence; or "".

    ``claimed`` are the seconds for which its slot had it, where these count, too.

    >>> from sssjob.classads.values import Ad
    >>> overran(Ad({"SSSFeature_wall_limit_secs": 60}), 59, 61)
    'TIMEOUT: it ran 59 s of 61 s in its slot, 60 s allowed'
    """
    limit = _limit(ad, "wall_limit_secs")
    if limit is None or max(ran, claimed) < limit:
        return ""
    within = "" if ran >= limit else f" of {int(claimed)} s in its slot"
    return f"TIMEOUT: it ran {int(ran)} s{within}, {limit} s allowed"


def _limit(ad: Ad, key: str) -> int | None:
    value = ad.number(f"{names.FEATURE}{key}")
    return int(value) if value is not None and value > 0 else None


def end(ad: Ad, reason: str, say: Callable[[object], None]) -> None:
    """End the process of a job, and leave the reason where ``marked`` finds it.

    Only a process that the starter started, as it did us, is one of the job.
    """
    pid = int(ad.number("JobPid") or 0)
    try:
        handle = os.pidfd_open(pid)  # from here on it is this process, and no later one
    except (OSError, OverflowError):
        return
    try:
        if pid < 2 or _parent(pid) != os.getppid():
            say(f"{reason}; process {pid} is not one of the starter's, and goes on")
            return
        try:
            mark(reason)
        except OSError as error:  # a full disk, or whatever the job made of its directory
            say(f"the reason cannot be left for the end: {error}")
        _stop(handle)
        say(f"{reason}; it was ended")
    finally:
        os.close(handle)


def _stop(handle: int) -> None:
    import _signal  # type: ignore[import-not-found]  # it has no annotations
    import select

    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    for number, patience in ((_signal.SIGTERM, GRACE * 1000), (_signal.SIGKILL, 1000)):
        try:
            _signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            return
        if waiting.poll(patience):
            return


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def mark(reason: str) -> None:
    """Leave why a job was ended, or not started, where ``marked`` finds it."""
    from sssjob import atomic

    if scratch := os.environ.get("_CONDOR_SCRATCH_DIR"):
        atomic.put(scratch, MARK, reason.encode(), durable=False)


def marked() -> str:
    """Why we ended the job of this starter, or did not let it start; "" if neither."""
    scratch = os.environ.get("_CONDOR_SCRATCH_DIR", "")
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(os.path.join(scratch, MARK), flags) if scratch else -1
    except OSError:
        return ""
    if handle < 0:
        return ""
    try:
        text = os.read(handle, _MOST).decode("ascii", "replace")
    except OSError:
        return ""
    finally:
        os.close(handle)
    return " ".join(text.split())


def why_not_started(ad: Ad) -> str:
    """What keeps a starter from starting a job, as its user finds it; "" if nothing does."""
    directory = ad.text("Iwd")
    if directory and not os.path.isdir(directory):
        return f"{directory} (InitialWorkingDirectory) is no directory"
    command = os.path.join(directory, ad.text("Cmd"))
    if not os.path.exists(command):
        return f"{command} (Executable) does not exist"
    if os.path.isdir(command) or not os.access(command, os.X_OK):
        return f"{command} (Executable) cannot be executed"
    if (name := ad.text("In")) and not os.access(os.path.join(directory, name), os.R_OK):
        return f"{os.path.join(directory, name)} (InputFile) cannot be read"
    for name, element in (("Out", "OutputFile"), ("Err", "ErrorFile")):
        path = os.path.join(directory, ad.text(name))
        place = path if os.path.exists(path) else os.path.dirname(path)
        if ad.text(name) and not os.access(place, os.W_OK):
            return f"{path} ({element}) cannot be written"
    return ""
