"""Signed queries by Id, 2 KB each, over few connections and many.

The yardstick is a bare server of asyncio that verifies a request and sends it back; ``bare`` also
parses it, and answers from memory, and ``least`` from a store by one SELECT: about the least that
Python takes for it. ``memory`` is our gateway with a handler that answers from
memory, ``store`` the same over a store of 100 000 jobs in a file, with roles and conditions, and
``logged`` this one with its log. The client runs on the same machine and keeps its connections. A
ratio is the CPU time of the yardstick for each request against that of a server in the same round,
so that 1 is as fast; the aim of ``store`` is 0.8.
"""

import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from _measure import options

from sssjob.rmap.keys import Key
from sssjob.rmap.message import Get, Object, Option, Request, Where
from sssjob.rmap.signature import sign
from sssjob.rmap.writing import envelope, write_request

SERVERS = Path(__file__).with_name("_gateway_servers.py")
KEY = Key(b"benchmark-key-0123456789")
SIZE = 2000  # bytes of a message
SERVED = ("echo", "bare", "least", "memory", "store", "logged")  # the first is the yardstick
CONNECTIONS = (1, 16, 256)
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Round:
    """What one server did in one round; times are in milliseconds, CPU time in microseconds."""

    server: str
    connections: int
    requests: float
    median: float
    p99: float
    cpu: float


def message(number: int) -> bytes:
    """A request framed for a standard client."""
    asked = Request(
        "Query", "ann", (Object("Job"),), tuple(map(Get, ("Id", "User", "State"))),
        wheres=(Where("Id", f"PBS.{number}.0"),), options=(Option("Note", "x"),),
    )  # fmt: skip
    short = len(envelope(write_request(asked).encode(), sign(b"", KEY)))
    note = Option("Note", "x" * (SIZE - short + 1))
    body = write_request(
        Request(asked.action, asked.actor, asked.objects, asked.gets, (), asked.wheres, (note,))
    ).encode()
    payload = envelope(body, sign(body, KEY))
    head = f"POST /SSSRMAP3 HTTP/1.1\r\nHost: a\r\nContent-Length: {len(payload)}\r\n\r\n"
    return head.encode() + payload


@contextmanager
def running(name: str, jobs: Path) -> Iterator[tuple[int, int]]:
    """The process and port of a server; ``jobs`` is the file of a store."""
    process = subprocess.Popen(
        [sys.executable, SERVERS, name, jobs], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process.pid, int(process.stdout.readline())
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        process.stdout.close()


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


async def ask(port: int, messages: list[bytes], until: float, took: list[float]) -> None:
    """One connection that sends one request after the other."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    number = 0
    while time.perf_counter() < until:
        started = time.perf_counter()
        writer.write(messages[number % len(messages)])
        head = await reader.readuntil(b"\r\n\r\n")
        at = head.index(b"Content-Length: ") + 16
        body = await reader.readexactly(int(head[at : head.index(b"\r\n", at)]))
        took.append(time.perf_counter() - started)
        if b"<Code>000</Code>" not in body and b"<Request" not in body:
            raise SystemExit(f"a wrong answer: {body.decode()}")
        number += 1
    writer.close()


async def load(port: int, connections: int, seconds: float) -> list[float]:
    """The seconds that each request took."""
    messages = [message(number) for number in range(0, 100_000, 997)]
    took: list[float] = []
    until = time.perf_counter() + seconds
    await asyncio.gather(*(ask(port, messages, until, took) for _ in range(connections)))
    return took


def measured(name: str, connections: int, seconds: float, jobs: Path) -> Round:
    """One round of one server, after a tenth of it to warm up."""
    with running(name, jobs) as (pid, port):
        asyncio.run(load(port, connections, seconds / 10))
        before, started = cpu_seconds(pid), time.perf_counter()
        took = asyncio.run(load(port, connections, seconds))
        passed, used = time.perf_counter() - started, cpu_seconds(pid) - before
    took.sort()
    return Round(
        name, connections, len(took) / passed, statistics.median(took) * 1e3,
        took[int(len(took) * 0.99)] * 1e3, used / len(took) * 1e6,
    )  # fmt: skip


def as_table(rounds: list[Round]) -> str:
    """The medians of each server, by connections."""
    heads = ("connections", "req/s", "median ms", "p99 ms", "cpu us", "ratio")
    lines = ["  ".join(["server".ljust(8), *heads])]
    for connections in CONNECTIONS:
        for name in SERVED:
            own = [
                each for each in rounds if (each.server, each.connections) == (name, connections)
            ]
            figures = (
                connections,
                *(statistics.median(getattr(each, what) for each in own)
                  for what in ("requests", "median", "p99", "cpu")),
                ratio(rounds, name, connections),
            )  # fmt: skip
            forms = ("d", ".0f", ".2f", ".2f", ".0f", ".2f")
            cells = [
                format(figure, f"{len(head)}{form}")
                for figure, head, form in zip(figures, heads, forms, strict=True)
            ]
            lines.append("  ".join([name.ljust(8), *cells]))
    return "\n".join(lines)


def ratio(rounds: list[Round], name: str, connections: int) -> float:
    """The CPU time of the yardstick's request against a server's, the median over the rounds."""
    own, first = (
        [each.cpu for each in rounds if (each.server, each.connections) == (which, connections)]
        for which in (name, SERVED[0])
    )
    return statistics.median(least / ours for ours, least in zip(own, first, strict=True))


if __name__ == "__main__":
    parser = options(__doc__, rounds=3)
    parser.add_argument("--seconds", type=float, default=1.5, help="of a round (%(default)s)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        rounds = [
            measured(name, connections, chosen.seconds, Path(place, "jobs.db"))
            for connections in CONNECTIONS
            for _ in range(chosen.rounds)
            for name in SERVED
        ]
    if chosen.json:
        print(json.dumps([asdict(each) for each in rounds], indent=2))
    else:
        print(as_table(rounds))
