"""The part of a startd: slots that fetch work by the hooks of a site, as the text states it.

A site tries its set-up this way without HTCondor, and so do our tests.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sssjob.classads import evaluate, long
from sssjob.classads.operators import holds
from sssjob.classads.values import Ad
from sssjob.systems.condor import names
from sssjob.systems.condor.hooks.starter import INITIAL_UPDATE, UPDATE, Hooks, Starter
from sssjob.users import user_name

FETCH_TIMEOUT = 60.0  # seconds


@dataclass(frozen=True, slots=True)
class SlotEvent:
    """Something that happened to a slot: what, the job by its Cmd or key, and more about it."""

    slot: str
    what: str
    job: str = ""
    more: str = ""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a slot goes on (``rounds`` of fetching), and seconds between updates.

    ``timeout`` are the seconds that each hook may take, where they are not those of HTCondor.
    """

    rounds: int = 100
    initial_update: float = INITIAL_UPDATE
    update: float = UPDATE
    timeout: float | None = None


def slot_ad(number: int, cpus: int, memory: int, disk: int, host: str = "localhost") -> Ad:
    """The ad of a static slot; memory in MiB, disk in KiB."""
    return Ad({
        "MyType": "Machine", "Name": f"slot{number}@{host}", "Machine": host, "SlotID": number,
        "SlotType": "Static", "PartitionableSlot": False, "DynamicSlot": False,
        "Cpus": cpus, "Memory": memory, "Disk": disk, "VirtualMemory": 2 * memory * 1024,
        "TotalCpus": cpus, "TotalMemory": memory, "TotalDisk": disk, "DetectedCpus": cpus,
        "Arch": "X86_64", "OpSys": "LINUX", "State": "Unclaimed", "Activity": "Idle", "Start": True,
        "MachineMaxVacateTime": 600, "MaxJobRetirementTime": 0,
    })  # fmt: skip


def simulate(
    slots: Iterable[Ad], hooks: Mapping[str, Sequence[str]], event: Callable[[SlotEvent], None],
    pace: Pace | None = None,
) -> None:  # fmt: skip
    """Let slots fetch and run work at the same time until there is none for them.

    ``hooks`` are commands by the names of ours (fetch-work, ...). Jobs really run, all as who we
    are: nobody else looks after them. # decision 894
    """
    given, own = pace or Pace(), {names.RUNS_AS: user_name(os.geteuid())}
    threads = [
        threading.Thread(target=_slot, args=(slot.merged(own), hooks, event, given))
        for slot in slots
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _slot(
    slot: Ad, hooks: Mapping[str, Sequence[str]], event: Callable[[SlotEvent], None], pace: Pace
) -> None:
    """One slot: fetch, reply, run, and fetch again while there is work."""
    name = slot.text("Name")
    last: Ad | None = None

    def told(what: str, more: str) -> None:
        event(SlotEvent(name, what, "" if last is None else last.text("Cmd"), more))

    calls = Hooks(hooks, told, timeout=pace.timeout)
    for _ in range(pace.rounds):
        job = _fetched(slot, calls)
        if job is None:
            break
        last = job
        told("fetched", job.text("SSSJobId"))
        accepted = holds(evaluate.attribute(slot, "Start", job))
        claim = 'ClaimId = "<127.0.0.1:9618>#1#1#..."\n' if accepted else ""
        both = f"{long.write(job, ordered=True)}{long.SEPARATOR}\n{long.write(slot, ordered=True)}"
        calls.call("reply-fetch", both + claim, "accept" if accepted else "reject")
        told("accepted" if accepted else "rejected", "")
        if not accepted:
            break
        with tempfile.TemporaryDirectory(prefix="dir_") as scratch:
            starter = Starter(job, slot, Path(scratch), calls, pace.initial_update, pace.update)
            ended = starter.run()
        if ended == "idle":
            calls.call("evict-claim", both + claim)
            told("evicted", "")
            break
    else:
        told("stopped", f"after {pace.rounds} jobs")
    if last is not None:
        both = f"{long.write(last, ordered=True)}{long.SEPARATOR}\n{long.write(slot, ordered=True)}"
        calls.call("evict-claim", both + 'ClaimId = "<127.0.0.1:9618>#1#1#..."\n')
        told("claim given up", "")


def _fetched(slot: Ad, calls: Hooks) -> Ad | None:
    """The job that a hook answers with; one bad line makes the startd throw all of it away."""
    done = calls.call("fetch-work", long.write(slot, ordered=True), timeout=FETCH_TIMEOUT)
    if done is None or not done.stdout.strip():
        calls.event("no work", "")
        return None
    try:
        [ad] = long.read(done.stdout.splitlines(keepends=True), strict=True)
    except ValueError as error:
        calls.event("bad reply", str(error))
        return None
    if "Cmd" not in ad:
        calls.event("bad reply", "the ad has no Cmd")
        return None
    static = {f"Request{name}": 1 for name in ("Cpus", "Memory", "Disk")}
    return Ad({**static, **ad}) if slot.get("PartitionableSlot") is not True else ad
