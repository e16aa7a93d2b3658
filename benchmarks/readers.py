"""A client of a gateway, while fifty people look at its pages.

The gateway answers signed queries by Id over one connection, from a store of 100 000 jobs; the
pages of the same store are a process of their own, as ``sssjob serve`` starts it. Each reader opens
a page a second, as people do who click, and waits for it. Rounds without and with readers
alternate. The yardstick is the client alone: a ratio is its median time with readers against that
without, and the CPU time of the gateway for each request likewise, which a loaded machine changes
less. Readers run on this machine, too, in a process that lets the others go first.
"""

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from pathlib import Path

from gateway import cpu_seconds, load, running

from sssjob.gateway import config
from sssjob.web.served import Pages

TOKEN = "a-token-that-nobody-guesses"
CONFIG = """
[store]
address = "{jobs}"
[security]
unsigned = true
[web]
listen = "127.0.0.1:0"
names = ["pages"]
rate = 1000000
[actors.root]
roles = ["admin"]
token = "root.token"
"""
PATHS = ("/jobs?sort=id", "/facets/queue", "/jobs/{}/0", "/usage?by=project", "/jobs?user=ann")
AIM = 1.2


async def reader(port: int, number: int, told: list[int]) -> None:
    """One who opens a page a second until the process ends."""
    while True:
        begun = time.monotonic()
        stream, writer = await asyncio.open_connection("127.0.0.1", port)
        path = PATHS[(number + len(told)) % len(PATHS)].format(number + 1)
        head = f"GET {path} HTTP/1.1\r\nHost: pages\r\nAuthorization: Bearer {TOKEN}\r\n"
        writer.write(f"{head}Accept: text/html\r\nConnection: close\r\n\r\n".encode())
        answer = await stream.read(-1)
        writer.close()
        told.append(int(answer[9:12] or 0))
        await asyncio.sleep(max(begun + 1 - time.monotonic(), 0))


def readers(port: int, count: int, seconds: float, heard: SimpleQueue[tuple[int, int]]) -> None:
    """So many of them, for so long; how many pages were shown is put into a queue."""
    os.nice(19)
    told: list[int] = []

    async def all_() -> None:
        everybody = [reader(port, number, told) for number in range(count)]
        await asyncio.wait([*map(asyncio.ensure_future, everybody)], timeout=seconds)

    asyncio.run(all_())
    heard.put((told.count(200), len(told)))


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=50, help="(%(default)s)")
    parser.add_argument("--seconds", type=float, default=5, help="of a round (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="of each kind (%(default)s)")
    parser.add_argument("--strict", action="store_true", help="exit 1 when the aim is missed")
    chosen = parser.parse_args()
    context = get_context("spawn")
    pairs: list[list[tuple[float, float, tuple[int, int]]]] = []
    with tempfile.TemporaryDirectory() as folder, running("store", Path(folder, "jobs.db")) as (
        pid, port,
    ):  # fmt: skip
        Path(folder, "gateway.toml").write_text(CONFIG.format(jobs=Path(folder, "jobs.db")))
        Path(folder, "root.token").write_text(TOKEN)
        Path(folder, "root.token").chmod(0o600)
        file = Path(folder, "gateway.toml")
        plan = config.load(file).web
        assert plan is not None
        pages = Pages(file, plan)
        pages.start()
        asyncio.run(load(port, 1, chosen.seconds / 5))
        for _ in range(chosen.rounds):
            pair: list[tuple[float, float, tuple[int, int]]] = []
            for count in (0, chosen.readers):
                heard: SimpleQueue[tuple[int, int]] = context.SimpleQueue()
                people = context.Process(
                    target=readers, args=(pages.port, count, chosen.seconds + 2, heard)
                )
                if count:
                    people.start()
                    time.sleep(1)
                before = cpu_seconds(pid)
                took = asyncio.run(load(port, 1, chosen.seconds))
                cpu = (cpu_seconds(pid) - before) / len(took)
                shown = (0, 0)
                if count:
                    people.join()
                    shown = heard.get()
                pair.append((statistics.median(took), cpu, shown))
            pairs.append(pair)
        pages.stop()
    cpu_ratio = statistics.median(pair[1][1] / pair[0][1] for pair in pairs)
    told = {
        "median_ms": [statistics.median(pair[n][0] for pair in pairs) * 1000 for n in (0, 1)],
        "cpu_us": [statistics.median(pair[n][1] for pair in pairs) * 1e6 for n in (0, 1)],
        "ratio": statistics.median(pair[1][0] / pair[0][0] for pair in pairs),
        "cpu_ratio": cpu_ratio,
        "pages": [pair[1][2] for pair in pairs],
    }
    print(json.dumps(told, indent=2))
    if chosen.strict and cpu_ratio > AIM:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
