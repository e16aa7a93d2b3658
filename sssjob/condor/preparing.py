"""Documents made ready for hooks: an ad for each alternative of each job that may run."""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from typing import TypedDict

from sssjob import graph
from sssjob.amounts import Scope
from sssjob.classads import long
from sssjob.condor import freshness, names
from sssjob.condor.documents import Documents, documents, jobs_of
from sssjob.condor.job_ad import to_ad
from sssjob.condor.queue import (
    ACCEPTED,
    DONE,
    INDEX,
    LOCK,
    OFFERED,
    READY,
    RUNNING,
    WAITING,
    Queue,
    encoded,
    entry,
)
from sssjob.condor.settings import Settings
from sssjob.defaults import resolve
from sssjob.errors import InvalidValue, Severity, SSSJobError
from sssjob.expression import Alternative
from sssjob.graph.progress import State
from sssjob.model import Block, Job, Property

ALTERNATIVES = 16  # of one job, the best
FREE = (READY, WAITING)  # what nobody has taken yet

_SCHEDD = re.compile(r"[^#]+#[0-9]+\.[0-9]+#[0-9]+")  # a GlobalJobId

TAKEN = (OFFERED, ACCEPTED, RUNNING)


class Row(TypedDict):
    """A document in the index: what it looked like, and the entries of its jobs."""

    stamp: str
    entries: list[str]


Say = Callable[[object], None]


def refresh(settings: Settings, queue: Queue, *, until: float | None, say: Say) -> bool:
    """Bring the queue in step with the documents; False if the time ran out before all were done.

    ``until`` is a moment in seconds since 1970.
    """
    with locked(queue):
        began = time.time()
        before = freshness.stamp(settings.jobs)
        source = documents(settings)
        index = _index(queue)
        stamps = dict(source.stamps())
        for name in [name for name in index if name not in stamps]:
            _forget(queue, index.pop(name)["entries"])
        complete = True
        for name, stamp in sorted(stamps.items()):
            if until is not None and time.time() > until:
                complete = False
                break
            row = index.get(name)
            if row is None or row["stamp"] != stamp:
                known = [] if row is None else row["entries"]
                index[name] = {"stamp": stamp, "entries": _made(source, name, queue, known, say)}
        queue.put("", INDEX, json.dumps(index).encode())
        if complete:
            freshness.note(settings, queue, before, began)
        return complete


@contextmanager
def locked(queue: Queue) -> Iterator[None]:
    """Be alone with the documents; another process that is at them is waited for."""
    with open(os.path.join(queue.path, LOCK), "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def document_of(queue: Queue, name: str) -> str | None:
    """Which document the job of an entry stands in."""
    return next((doc for doc, row in _index(queue).items() if name in row["entries"]), None)


def forget_stamp(queue: Queue, document: str) -> None:
    """Have a document looked at again, because we changed it ourselves."""
    index = _index(queue)
    if document in index:
        index[document]["stamp"] = ""
        queue.put("", INDEX, json.dumps(index).encode())
    queue.put("", freshness.SEEN, b"")


def _index(queue: Queue) -> dict[str, Row]:
    try:
        found = json.loads(queue.text("", INDEX))
    except (FileNotFoundError, ValueError):  # it is made anew from the documents
        return {}
    return found if isinstance(found, dict) else {}


def _forget(queue: Queue, entries: list[str]) -> None:
    """Drop jobs whose document is gone, unless they run."""
    for name in entries:
        for state in (*FREE, DONE):
            with suppress(FileNotFoundError):
                os.unlink(queue.place(state, name))


def _made(source: Documents, document: str, queue: Queue, known: list[str], say: Say) -> list[str]:
    """The entries of the jobs of a document, each in the state in which it is."""
    try:
        blocks = source.blocks(document)
    except SSSJobError as error:
        say(f"{document}: {error}")
        _forget(queue, known)
        return []
    taken = {name.rpartition("~")[2]: name for name in known if queue.state_of(name) in TAKEN}
    jobs = [found for block in blocks for found in _standing(block)]
    entries = []
    for number, (job, reason) in enumerate(jobs, 1):
        key = encoded(document if len(jobs) == 1 else f"{document}#{number}")
        if key in taken:
            entries.append(taken[key])
            continue
        entries.append(_placed(queue, key, job, reason, say))
    _forget(queue, [name for name in known if name not in entries])
    return entries


def _standing(block: Block) -> Iterator[tuple[Job, str]]:
    """The jobs of a block with their defaults, and why they may not run yet, if so."""
    resolved = resolve(block).block
    jobs = jobs_of(resolved)
    states = list(graph.of(jobs).states().values())
    for job, state in zip(jobs, states, strict=True):
        waits = "it waits for other jobs" if state is State.WAITING else ""
        never = "a job that it depends upon lets it never run" if state is State.NEVER else ""
        yield job, waits or never


def _placed(queue: Queue, key: str, job: Job, reason: str, say: Say) -> str:
    """Put a job into the state that its document tells, and give its entry."""
    numbers = [job.properties.get(name) for name in ("Priority", "SubmitTime")]
    priority, submitted = (_whole(each) for each in numbers)
    name = entry(key, priority, submitted)
    state = job.get("State") or "Idle"
    # What was given away and came back still says that it runs.
    lost = state in ("Running", "Suspended") and queue.state_of(name) == READY
    if state == "Completed":
        where, text = DONE, b""
    elif _SCHEDD.fullmatch(job.get("GlobalId")):
        where, text = WAITING, b"a schedd has it\n"
    elif "Hold" in job.properties.names() or not (state == "Idle" or lost):
        where, text = WAITING, f"its State is {state}\n".encode()
    elif reason:
        where, text = WAITING, f"{reason}\n".encode()
    else:
        ads, fault = ads_of(job, name)
        where, text = (WAITING, f"{fault}\n".encode()) if fault else (READY, ads)
        if fault:
            say(f"{key}: {fault}")
    queue.put(where, name, text)
    for other in (READY, WAITING, DONE):
        if other != where:
            with suppress(FileNotFoundError):
                os.unlink(queue.place(other, name))
    return name


def ads_of(job: Job, name: str) -> tuple[bytes, str]:
    """The ads of the alternatives of a job, best first, in the long form; or why there are none."""
    scope = Scope(job, "/Job", lambda found: None)
    chosen: tuple[Alternative | None, ...] = scope.alternatives[:ALTERNATIVES]
    if not chosen and job.requested:
        return b"", "the request cannot be read, or nothing satisfies it"
    texts = []
    for alternative in chosen or (None,):
        mapped = to_ad(job, alternative=alternative)
        wrong = [each.message for each in mapped.findings if each.severity is Severity.ERROR]
        if wrong:
            return b"", "; ".join(wrong)
        if mapped.ad.get("JobUniverse") == names.UNIVERSES["parallel"]:
            return b"", "it wants more than one node, and a slot is on one"
        ad = mapped.ad.merged({names.KEY: name})
        try:
            text = long.write(ad, ordered=True).encode()
            [again] = long.read(text.splitlines(keepends=True), strict=True)
        except ValueError as error:
            return b"", f"its ad cannot be written: {error}"
        assert again == ad  # a reply that is not read back would be thrown away as a whole
        texts.append(text)
    return b"\n".join(texts), ""


def _whole(item: Property | None) -> int:
    try:
        value = 0 if item is None else item.value
    except InvalidValue:
        return 0
    return int(value) if isinstance(value, (int, Fraction)) else 0
