"""The estimator of the deployed program: ages of running jobs, sampled over many runs.

A file for each queue holds ``#nslot K`` and a line ``start id age`` for each sample. We read and
write the same files, but one run at a time, and each file appears whole.
"""

from __future__ import annotations

import fcntl
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from sssjob import atomic
from sssjob.errors import SSSJobError
from sssjob.lcginfo import config
from sssjob.lcginfo.site import Site
from sssjob.lcginfo.snapshot import RUNNING

FILE_LIMIT = 1 << 24
MADE = ".sssjob-samples"  # the lock, and the names of the files that we made

_SLOTS = "#nslot"


class StartedJob(NamedTuple):
    """A running job as it was met: when it started, which it is, how old it was."""

    start: int
    jobid: str
    age: int


class Samples(NamedTuple):
    """The samples of a queue, and how many slots it had when jobs last waited."""

    slots: int
    kept: tuple[StartedJob, ...]


class QueueEstimate(NamedTuple):
    """The two times of a queue, and the numbers they come from."""

    ert: int
    wrt: int
    why: str


class UnusableSamples(SSSJobError, OSError):
    """A sample directory that cannot be used."""


def estimate(site: Site) -> dict[str, QueueEstimate]:
    """The estimates of all queues with a running job; their sample files are brought up to date.

    The usual directory is made if it is not there yet; another one has to be.
    Raises ``UnusableSamples``.
    """
    found: dict[str, QueueEstimate] = {}
    running = _running(site)
    directory = Path(site.config.sample_dir)
    try:
        if site.config.sample_dir == config.SAMPLE_DIR:
            directory.mkdir(exist_ok=True)
        with _locked(directory) as made:
            for queue, new in running.items():
                path = directory / file_name(queue)
                stored = _read(path)
                samples = updated(
                    stored, sorted(new), site.waiting(queue), site.config.sample_number
                )
                _write(path, samples)
                found[queue] = formula(samples, len(new), site.waiting(queue))
            _forget(directory, made, {file_name(queue) for queue in running})
    except OSError as error:
        raise UnusableSamples(f"sample directory {directory}: {error.strerror}") from error
    return found


def file_name(queue: str) -> str:
    """The name of a queue's file, which is in the directory whatever the queue is called.

    >>> file_name("atlas"), file_name("../a b")
    ('atlas', '%2E.%2Fa%20b')
    """
    quoted = quote(queue, safe="")
    return f"%2E{quoted[1:]}" if quoted.startswith(".") else quoted


def updated(stored: Samples | None, new: Sequence[StartedJob], waiting: int, keep: int) -> Samples:
    """The samples of a queue after one more look at its running jobs, which are in order.

    A stored sample that is older than the next new one stays, another one gives it its place.
    """
    merged: list[StartedJob] = []
    next_new = 0
    for sample in stored.kept if stored else ():
        if next_new < len(new) and sample[:2] >= new[next_new][:2]:
            merged.append(new[next_new])
            next_new += 1
        else:
            merged.append(sample)
    merged += new[next_new:]
    slots = stored.slots if stored and not waiting else len(new)
    return Samples(slots, tuple(merged[-keep:]))


def formula(samples: Samples, running: int, waiting: int) -> QueueEstimate:
    """The two times: rounds of jobs through the slots, each as long as the mean age.

    >>> both = Samples(2, (StartedJob(200, "b", 800), StartedJob(500, "a", 500)))
    >>> formula(both, running=2, waiting=2)[:2]
    (1300, 1600)
    """
    if running < samples.slots:
        return QueueEstimate(0, 0, f"{running} jobs run where {samples.slots} have")
    rounds = math.ceil(waiting / samples.slots + 1)
    ages = [sample.age for sample in samples.kept]
    mean, longest = sum(ages) // len(ages), max(ages)
    why = f"{rounds} rounds of {samples.slots} jobs, of age {mean} on average, {longest} at most"
    return QueueEstimate(rounds * mean, rounds * longest, why)


def _running(site: Site) -> dict[str, list[StartedJob]]:
    now = site.snapshot.time
    found: dict[str, list[StartedJob]] = {}
    for job in site.snapshot.jobs:
        if job.state == RUNNING and job.start is not None:
            # A blank in an id would end the field of its line.
            jobid = quote(job.jobid, safe="[]@:.,/+%") or "-"
            sample = StartedJob(int(job.start), jobid, max(int(now - job.start), 0))
            found.setdefault(job.queue, []).append(sample)
    return found


@contextmanager
def _locked(directory: Path) -> Iterator[Path]:
    """Hold the lock of a directory, and give the file with the names of what we made in it."""
    path = directory / MADE
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, 0o644), "r+") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield path


def _read(path: Path) -> Samples | None:
    """The samples in a file; None if it is not there or not one of these files."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as stream:
        lines = stream.read(FILE_LIMIT).splitlines()
    try:
        word, slots = lines[0].split()
        kept = [line.split() for line in lines[1:] if line.strip()]
        samples = tuple(StartedJob(_whole(start), jobid, _whole(age)) for start, jobid, age in kept)
        return Samples(int(slots), samples) if word == _SLOTS and int(slots) > 0 else None
    except (IndexError, ValueError):
        return None


def _whole(text: str) -> int:
    return int(text.partition(".")[0])


def _write(path: Path, samples: Samples) -> None:
    lines = [f"{_SLOTS} {samples.slots}\n"]
    lines += [f"{start} {jobid} {age}\n" for start, jobid, age in samples.kept]
    atomic.put(path.parent, path.name, "".join(lines).encode(), 0o600)


def _forget(directory: Path, made: Path, present: set[str]) -> None:
    """Remove the files that we made for queues that are gone, and only those."""
    known = set(made.read_text(encoding="utf-8").split())
    for name in known - present:
        if "/" not in name and not name.startswith("."):
            (directory / name).unlink(missing_ok=True)
    made.write_text("".join(f"{name}\n" for name in sorted(present)), encoding="utf-8")
