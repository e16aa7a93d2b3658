"""A gateway over a store under moderate load: does it grow? ``--seconds 3600`` asks for an hour.

Clients create, quote, reserve, change, charge, refund and ask for jobs, some of them badly, half of
them by HTTP, and strangers knock; every ten seconds the memory and the open files of all processes
of the server are looked at. Each request is expected to be answered, and each job that was created,
and each charge, is looked for in the end. Of the memory it is told what the caches of SQLite are,
and what was freed and lies between what is in use: early and late, and at each of the minutes. The
bound is the gateway itself after its first tenth: the ratio is its memory at the end against then.
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from _measure import options, sssjob

from sssjob import store
from sssjob.client import HTTP, Client, Legacy
from sssjob.rmap.framing import PATH
from sssjob.rmap.keys import Key
from sssjob.rmap.message import Data, Get, Object, Option, Request, Row, Set, Where
from sssjob.store.ledger import EntryKind

SETTINGS = """
listen = ["127.0.0.1:0"]
[security]
key = "key"
role = "admin"
[store]
address = "jobs.db"
"""
RATES = """
[rates.Resource]
Processors = 1
"""
KEY = b"benchmark-key-0123456789"
JOB = (Object("Job"),)
LONG = "what a user wrote " * 1000  # more than is read before its signature is looked at


@dataclass
class Answered:
    """How long each answer took, and the Ids of jobs that were made, and charged."""

    seconds: list[float] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    charged: list[str] = field(default_factory=list)


@contextmanager
def started(place: Path, more: str = "", key: bytes = KEY) -> Iterator[tuple[int, int]]:
    """The process of a gateway over a store in a directory, and its port."""
    (place / "gateway.toml").write_text(SETTINGS + more)
    (place / "key").write_bytes(key)
    (place / "key").chmod(0o600)
    with (place / "log").open("wb") as log:
        command = [*sssjob("serve", "--config", place / "gateway.toml")]
        process = subprocess.Popen(command, stderr=log)
    try:
        yield process.pid, listening(place / "log")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


@dataclass(frozen=True, slots=True)
class SoakFigures:
    """What the server has after so many seconds, in bytes, and how many files are open."""

    seconds: float
    memory: int
    files: int
    sqlite: float
    freed: float

    def __str__(self) -> str:
        sizes = [round(each / 1e6, 1) for each in (self.memory, self.sqlite, self.freed)]
        return f"{self.seconds / 60:6.1f} min {sizes} MB, {self.files} files"


def main(seconds: float, clients: int, rate: float, count: int, as_json: bool) -> None:
    """Start a gateway, ask it for so many seconds, and tell what became of it."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        with store.open(place / "jobs.db", create=True) as jobs:
            jobs.load(known(count))
        with started(place, RATES) as (pid, port):
            figures, answered = soaked(pid, port, seconds, clients, rate)
        with store.open(place / "jobs.db", read_only=True) as jobs:
            kept = {stored.identity.id for stored in jobs.documents()}
            charges = Counter(each.job for each in jobs.ledger.entries((EntryKind.CHARGE,)))
            faults = len(list(jobs.check()))
    early = figures[len(figures) // 10 : len(figures) // 5 + 1]
    late = figures[-len(early) :]
    told = {
        "requests": len(answered.seconds),
        "lost": len(set(answered.created) - kept),
        "charged": len(answered.charged),
        "charged_wrong": sum(charges[name] != 1 for name in answered.charged),
        "faults": faults,
        "median_ms": round(statistics.median(answered.seconds) * 1e3, 2),
        "memory_mb": round(statistics.median(each.memory for each in late) / 1e6, 1),
        "ratio": round(
            statistics.median(each.memory for each in late)
            / statistics.median(each.memory for each in early),
            3,
        ),
        "files": [statistics.median(each.files for each in part) for part in (early, late)],
        "sqlite_mb": [
            round(statistics.median(each.sqlite for each in part) / 1e6, 1)
            for part in (early, late)
        ],
    }
    print(json.dumps(told) if as_json else "\n".join(f"{key:13} {told[key]}" for key in told))


def listening(log: Path) -> int:
    """The port of a gateway, as soon as its log tells it."""
    while True:
        for line in log.read_text().splitlines():
            if '"listening"' in line:
                return int(json.loads(line)["address"].rpartition(":")[2])
        time.sleep(0.1)


def soaked(
    pid: int, port: int, seconds: float, clients: int, rate: float
) -> tuple[list[SoakFigures], Answered]:
    """The figures of the server in the meantime, and what was answered."""
    answered = Answered()
    begin = time.monotonic()
    until = begin + seconds
    threads = [
        threading.Thread(target=asking, args=(port, number, until, clients / rate, answered))
        for number in range(clients)
    ]
    for thread in threads:
        thread.start()
    figures: list[SoakFigures] = []
    told = 0.0
    while time.monotonic() < until:
        time.sleep(min(10.0, seconds / 50))
        figures.append(looked_at(pid, port, time.monotonic() - begin))
        if figures[-1].seconds // 60 > told:
            told = figures[-1].seconds // 60
            print(figures[-1], file=sys.stderr, flush=True)
    for thread in threads:
        thread.join()
    return figures, answered


def asking(port: int, client: int, until: float, pause: float, answered: Answered) -> None:
    """One client: a job's life over and over, with a pause after each request."""
    way = HTTP(f"http://127.0.0.1:{port}{PATH}") if client % 2 else Legacy("127.0.0.1", port)
    asked, stranger = Client([way], Key(KEY)), Client([way], Key(b"no key of this gateway"))
    number = 0
    while time.monotonic() < until:
        number += 1
        name = f"{client}.{number}"
        where = (Where("Id", name),)
        for request in (
            Request("Create", "ann", JOB, sets=(Set("Id", name), Set("User", "ann"))),
            Request("Quote", "ann", JOB, data=Data((used_by(name),))),
            Request("Reserve", "ann", JOB, data=Data((used_by(name),))),
            Request("Modify", "ann", JOB, sets=(Set("State", "Running"),), wheres=where),
            Request("Modify", "ann", JOB, sets=(Set("Comment", LONG),), wheres=where),
            Request("Charge", "ann", JOB, data=Data((used_by(name),))),
            Request("Refund", "ann", JOB, options=(Option("JobId", name), Option("Amount", "1"))),
            Request("Query", "ann", JOB, (Get("Id"), Get("State"), Get("Charge")), wheres=where),
            Request("Query", "ann", JOB, (Get("User", "GroupBy"), Get("Charge", "Sum"))),
            Request("Query", "ann", JOB, (Get("", path="State"),), wheres=where),
            Request("Query", "ann", JOB, (Get("Nothing"),)),
        ):
            started = time.perf_counter()
            [response] = asked.call(request)
            answered.seconds.append(time.perf_counter() - started)
            if request.action == "Create" and response.status.code == "000":
                answered.created.append(name)
            if request.action == "Charge" and response.status.code == "000":
                answered.charged.append(name)
            time.sleep(pause)
        for request in (
            Request("Query", "ann", JOB, (Get("Id"),)),
            Request("Create", "ann", JOB, sets=(Set("Id", name), Set("Comment", LONG))),
        ):
            [response] = stranger.call(request)
            assert response.status.code != "000", response
            time.sleep(pause)


def known(count: int) -> bytes:
    """So many jobs that the store has before anybody asks."""
    one = "<Job><Id>old.%d</Id><User>user%d</User><State>Completed</State><Delivered>"
    two = "<Processors>%d</Processors><Duration>%d</Duration></Delivered></Job>"
    jobs = ((one + two) % (each, each % 97, each % 64 + 1, each % 9973) for each in range(count))
    return b"<Jobs>%s</Jobs>" % "".join(jobs).encode()


def used_by(name: str) -> Row:
    """What a job has used: each is charged the same."""
    fields = ("JobId", name), ("UserId", "ann"), ("Processors", "4"), ("WallDuration", "60")
    return Row("Job", fields)


def looked_at(pid: int, port: int, seconds: float) -> SoakFigures:
    """What a process and those that it started have; the first of them tells of SQLite's.

    Pages of programs and libraries are not counted: how many others have them changes all the time.
    """
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as told:
        lines = told.read().decode().splitlines()
    sqlite, freed = (
        float(next(line.split()[1] for line in lines if line.startswith(f"sssjob_{name}_bytes ")))
        for name in ("sqlite", "freed")
    )
    memory = files = 0
    for each in family(pid):
        with suppress(OSError):  # one that has ended meanwhile
            rollup = Path(f"/proc/{each}/smaps_rollup").read_text()
            memory += int(rollup.partition("Anonymous:")[2].split()[0]) * 1024
            files += len(os.listdir(f"/proc/{each}/fd"))
    return SoakFigures(seconds, memory, files, sqlite, freed)


def family(pid: int) -> Iterator[int]:
    """A process, and all that it has started."""
    yield pid
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from family(int(child))


if __name__ == "__main__":
    parser = options(__doc__, count=30_000, rounds=1)
    parser.add_argument("--seconds", type=float, default=120, help="(%(default)s)")
    parser.add_argument("--clients", type=int, default=4, help="(%(default)s)")
    parser.add_argument("--rate", type=float, default=50, help="requests a second (%(default)s)")
    chosen = parser.parse_args()
    main(chosen.seconds, chosen.clients, chosen.rate, chosen.count, chosen.json)
