"""A gateway with two processes, and one beside slow clients, each against itself without them.

Two processes answer signed queries by Id over a store of 100 000 jobs, with their log. The ratio of
``processes`` is twice the CPU time of a request of one process alone, against that of both: 2 if
nothing that they share costs anything. ``busier`` is the same for the busier of them: less, as far
as the kernel, which deals out connections by chance, gives it more than one half of these 64. It is
of CPU time, since the clients take a part of the same cores.

Slow clients have each begun a request and send a byte of it every half second. The ratio is the
median time of the requests of a fast client meanwhile, against the same a moment before.
"""

import argparse
import asyncio
import json
import socket
import statistics
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from _measure import options
from gateway import KEY, cpu_seconds, load, running
from gateway_soak import started

CONNECTIONS, SLOW = 64, 256
AIMS = {"processes": 1.8, "busier": 1.8, "slow": 1.2}
PROCESSES = """
[limits]
processes = {}
"""


@dataclass(frozen=True, slots=True)
class Compared:
    """What one round found: how much more processes do, or how much slower a fast client is."""

    kind: str
    ratio: float


@contextmanager
def serving(folder: Path, processes: int) -> Iterator[tuple[list[int], int]]:
    """The processes that answer, and their port."""
    with started(folder, PROCESSES.format(processes), KEY.secret) as (pid, port):
        yield children(pid) if processes > 1 else [pid], port


def children(pid: int) -> list[int]:
    """The processes that a process has started and that answer."""
    told = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [
        int(each) for each in told if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes()
    ]


def done(folder: Path, processes: int, seconds: float) -> list[float]:
    """CPU seconds of each process for each request that was answered."""
    with serving(folder, processes) as (pids, port):
        asyncio.run(load(port, CONNECTIONS, seconds / 10))
        before = [cpu_seconds(pid) for pid in pids]
        took = asyncio.run(load(port, CONNECTIONS, seconds))
        used = [cpu_seconds(pid) - begun for pid, begun in zip(pids, before, strict=True)]
    return [each / len(took) for each in used]


def besieged(folder: Path, seconds: float) -> float:
    """The median of a fast client beside slow ones, against that without them."""
    with running("store", folder / "jobs.db") as (_, port), ExitStack() as stack:
        asyncio.run(load(port, 1, seconds / 10))
        alone = statistics.median(asyncio.run(load(port, 1, seconds)))
        slow = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            for _ in range(SLOW)
        ]
        for each in slow:
            each.sendall(b"POST /SSSRMAP3 HTTP/1.1\r\nHost: a\r\nContent-Length: 999\r\n\r\n")
        over = threading.Event()
        dribbling = threading.Thread(target=dribble, args=(slow, over))
        dribbling.start()
        try:
            beside = statistics.median(asyncio.run(load(port, 1, seconds)))
        finally:
            over.set()
            dribbling.join()
    return beside / alone


def dribble(slow: list[socket.socket], over: threading.Event) -> None:
    """Send a byte on each connection every half second."""
    pause = 0.5 / len(slow)
    while True:
        for each in slow:
            if over.wait(pause):
                return
            each.sendall(b"x")


def main(chosen: argparse.Namespace) -> None:
    """Measure both, and tell."""
    rounds = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with running("store", folder / "jobs.db"):
            pass  # it has made the store
        for _ in range(chosen.rounds):
            [one], two = (done(folder, count, chosen.seconds) for count in (1, 2))
            rounds.append(Compared("processes", 2 * one / sum(two)))
            rounds.append(Compared("busier", one / max(two)))
            rounds.append(Compared("slow", besieged(folder, chosen.seconds)))
    if chosen.json:
        print(json.dumps([asdict(each) for each in rounds], indent=2))
        return
    for kind, aim in AIMS.items():
        found = statistics.median(each.ratio for each in rounds if each.kind == kind)
        print(f"{kind:10} {found:6.2f}   aim {aim:4.2f}")


if __name__ == "__main__":
    parser = options(__doc__, rounds=3)
    parser.add_argument("--seconds", type=float, default=2, help="of a round (%(default)s)")
    main(parser.parse_args())
