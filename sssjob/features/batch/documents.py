"""Job objects of jobs that a batch system runs: ``DIR/ID.xml`` holds the one with that Id."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sssjob.check.awareness import Understood, around, understood
from sssjob.defaults import resolve
from sssjob.document import read
from sssjob.errors import AwarenessPolicy, UnusableInput
from sssjob.features.folded import beginning
from sssjob.model import Job, JobGroup, jobs_of

_POLL = 0.05  # seconds


def place(directory: str | os.PathLike[str], job_id: str) -> Path:
    """Where the document about a job is, if there is one."""
    return Path(directory, f"{job_id}.xml")


def is_absent(document: Path) -> bool:
    """Whether the system says that it is not there, in a directory that is; no other fault says so.

    A server that is gone, or a directory that may not be read or is not there, hides one that may
    be there, and so does a link that leads nowhere.
    """
    try:
        document.lstat()
    except FileNotFoundError:
        return document.parent.is_dir()
    except OSError:
        return False  # whoever opens it is told why
    return False


def check(document: Path) -> None:
    """Raise ``OSError`` where there is none, or something else: a FIFO would have us wait."""
    if not stat.S_ISREG(document.stat().st_mode):
        raise OSError(errno.EINVAL, "is no regular file", str(document))


def described(document: Path, job_id: str) -> Understood[Job]:
    """What is understood of the job with an Id in a document as it begins to run.

    Its defaults are resolved, and what stands around it is judged with it. What the document has
    of an earlier run of that job is not in it.
    Raises ``OSError``, ``UnreadableDocument``, or ``UnusableInput`` where no job has that Id.
    """
    check(document)
    for block in read(document):
        if not isinstance(block, Job | JobGroup):
            continue
        policy = AwarenessPolicy.REJECT
        if isinstance(block, JobGroup):
            policy = AwarenessPolicy.at(block.attributes, policy)
        jobs = jobs_of(resolve(beginning(block)).block)
        for job, context in zip(jobs, around(block, jobs_of(block)), strict=True):
            if job.id == job_id:
                return understood(job, around=policy).within(context)
    raise UnusableInput(f"no job has the Id {job_id}")


@contextmanager
def locked(document: Path, seconds: float) -> Iterator[None]:
    """Keep others from rewriting a document meanwhile. Raises ``OSError``.

    ``TimeoutError`` is that others did not give the lock back in time.

    One file, ``.lock``, is the lock of all documents of a directory: a document itself is renamed
    when it is written, and a lock for each would be left behind by every job.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    handle = os.open(document.with_name(".lock"), flags, 0o600)
    try:
        end = time.monotonic() + seconds
        while True:
            try:
                fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except (BlockingIOError, PermissionError):
                if time.monotonic() > end:
                    text = f"the lock of its directory is not given back within {seconds:g} s"
                    raise TimeoutError(errno.ETIMEDOUT, text, str(document)) from None
                time.sleep(_POLL)
        yield
    finally:
        os.close(handle)
