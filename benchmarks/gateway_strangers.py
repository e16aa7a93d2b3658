"""What a stranger without a key costs a gateway: large envelopes, and requests that never end.

Each kind of envelope has the largest size that is taken, and ends with a refusal. The yardstick is
what was sent: the ratio is the memory that the gateway needed at most, above what it had before,
against the bytes of all envelopes together; ``left`` is the same a moment after the last answer.

Half requests come from one address, more than there may be connections. Told is how many of the
requests of another address are answered meanwhile, each on a connection of its own, and the CPU
seconds of the gateway for all of it. So it is told of small requests that are sent all at once on
one connection, with how much CPU time each of them takes, a few and many.
"""

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from _measure import options

SERVERS = Path(__file__).with_name("_gateway_servers.py")
SIZE = (16 << 20) - (64 << 10)  # bytes of a Body, just below what a gateway takes
AIM = 2.0  # bytes of memory for each byte that was sent
AT_ONCE = (1, 8)
PIPELINED = 1000, 20_000  # requests of one connection
HALVES, ASKED = 600, 50  # connections of the stranger, requests of the other
_REQUEST = b'<Body><Request action="Query" actor="ann"><Object>Job</Object><Data>'
_ANSWERED = b"HTTP/1.1 200"
_CLOSED = b"</Data></Request></Body>"
_FORGED = (
    b"<Signature><DigestValue>irX1+GI4qym1ECzqW2geHynzqEg=</DigestValue><SignatureValue>"
    b'irX1+GI4qym1ECzqW2geHynzqEg=</SignatureValue><SecurityToken type="Symmetric"/></Signature>'
)


@dataclass(frozen=True, slots=True)
class Round:
    """One kind of envelope: memory and seconds, for so many at once."""

    kind: str
    at_once: int
    ratio: float
    left: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Siege:
    """Half requests of one address: how many requests of another were answered, of how many."""

    halves: int
    answered: int
    asked: int
    cpu: float


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Requests of one connection, sent at once: CPU seconds, and the most memory a byte."""

    requests: int
    cpu: float
    ratio: float


def envelope(filling: bytes, signature: bytes = b"") -> bytes:
    """An envelope whose Body is filled with one thing over and over."""
    body = _REQUEST + filling * (SIZE // len(filling)) + _CLOSED
    return b"<Envelope>" + body + signature + b"</Envelope>"


def kinds() -> dict[str, Callable[[], bytes]]:
    """What is sent, by name."""
    return {
        "elements": lambda: envelope(b"<a/>"),
        "attributes": lambda: envelope(b'<a b="" c="" d=""/>'),
        "text": lambda: envelope(b"<a>1</a>\n"),
        "forged": lambda: envelope(b"<a/>", _FORGED),
        "hidden": lambda: (
            b"<Envelope><EncryptedData>%s</EncryptedData></Envelope>" % (b"<a/>" * (SIZE // 4))
        ),
        "no envelope": lambda: b"<Job>%s</Job>" % (b"<a/>" * (SIZE // 4)),
    }


@contextmanager
def gateway() -> Iterator[tuple[int, int]]:
    """The process and port of a gateway that answers from memory."""
    process = subprocess.Popen(
        [sys.executable, SERVERS, "memory"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        yield process.pid, int(process.stdout.readline())
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        process.stdout.close()


def memory(pid: int, what: str) -> int:
    """A figure of a process in bytes: VmRSS is what it has, VmHWM the most that it had."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{what}:"):
            return int(line.split()[1]) << 10
    raise SystemExit(f"Linux does not tell {what}")


def refused(port: int, message: bytes, took: list[float]) -> None:
    """Send one envelope and wait for the refusal."""
    head = f"POST /SSSRMAP3 HTTP/1.1\r\nHost: a\r\nContent-Length: {len(message)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        started = time.perf_counter()
        connection.sendall(head.encode())
        connection.sendall(message)
        answer = connection.recv(1 << 16)
        took.append(time.perf_counter() - started)
    if b"<Value>Failure</Value>" not in answer:
        raise SystemExit(f"a wrong answer: {answer!r}")


def measured(kind: str, message: bytes, at_once: int) -> Round:
    """One round with a gateway of its own."""
    took: list[float] = []
    with gateway() as (pid, port):
        refused(port, b"<Envelope/>", [])  # to warm up
        before = memory(pid, "VmRSS")
        Path(f"/proc/{pid}/clear_refs").write_text("5")  # the peak begins anew
        threads = [
            threading.Thread(target=refused, args=(port, message, took)) for _ in range(at_once)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        peak = memory(pid, "VmHWM")
        time.sleep(1)
        left = memory(pid, "VmRSS")
    sent = len(message) * at_once
    return Round(kind, at_once, (peak - before) / sent, (left - before) / sent, max(took))


def besieged() -> Siege:
    """A gateway that is asked while one address has begun requests and does not end them."""
    half = b"POST /SSSRMAP3 HTTP/1.1\r\nHost: a\r\nContent-Length: 999\r\n\r\n<Envelope>"
    whole = b"POST /SSSRMAP3 HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n<Envelope/>"
    answered = 0
    with gateway() as (pid, port), ExitStack() as stack:
        before = seconds_of(pid)
        for place in range(HALVES):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            one.sendall(half)
            if place >= HALVES - ASKED:
                answered += is_answered(port, whole)
        return Siege(HALVES, answered, ASKED, seconds_of(pid) - before)


def pipelined(number: int) -> Pipeline:
    """A gateway that gets so many requests on one connection before it can answer the first."""
    one = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
    with gateway() as (pid, port):
        refused(port, b"<Envelope/>", [])  # to warm up
        before, memory_before = seconds_of(pid), memory(pid, "VmRSS")
        Path(f"/proc/{pid}/clear_refs").write_text("5")
        with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
            sender = threading.Thread(target=connection.sendall, args=(one * number,))
            sender.start()
            left, rest = number, b""
            while left > 0:
                got = rest + connection.recv(1 << 20)
                left -= got.count(_ANSWERED)
                rest = got[-len(_ANSWERED) + 1 :]
            sender.join()
        grown = memory(pid, "VmHWM") - memory_before
        return Pipeline(number, seconds_of(pid) - before, grown / (len(one) * number))


def is_answered(port: int, message: bytes) -> bool:
    """Whether another address gets an answer."""
    try:
        with socket.create_connection(
            ("127.0.0.1", port), timeout=10, source_address=("127.0.0.2", 0)
        ) as other:
            other.sendall(message)
            return b"<Value>Failure</Value>" in other.recv(1 << 16)
    except OSError:
        return False


def seconds_of(pid: int) -> float:
    """The CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def as_table(rounds: list[Round]) -> str:
    """The medians of each kind."""
    lines = [f"{'':12}  at once  ratio   left  seconds   aim"]
    for kind, at_once in dict.fromkeys((each.kind, each.at_once) for each in rounds):
        own = [each for each in rounds if (each.kind, each.at_once) == (kind, at_once)]
        ratio, left, seconds = (
            statistics.median(getattr(each, what) for each in own)
            for what in ("ratio", "left", "seconds")
        )
        over = "  over" if ratio > AIM else ""
        lines.append(
            f"{kind:12}  {at_once:7}  {ratio:5.2f}  {left:5.2f}  {seconds:7.2f}  {AIM:4.2f}{over}"
        )
    return "\n".join(lines)


def main(chosen: argparse.Namespace) -> None:
    """Measure every kind, and tell."""
    rounds = [
        measured(kind, message(), at_once)
        for kind, message in kinds().items()
        for at_once in AT_ONCE
        for _ in range(chosen.rounds)
    ]
    siege, lines = besieged(), [pipelined(number) for number in PIPELINED]
    if chosen.json:
        said = {
            "envelopes": [asdict(each) for each in rounds], "halves": asdict(siege),
            "pipelined": [asdict(each) for each in lines],
        }  # fmt: skip
        print(json.dumps(said, indent=2))
    else:
        print(as_table(rounds))
        print(f"{siege.halves} half requests of one address: {siege.answered} of {siege.asked} "
              f"requests of another are answered; {siege.cpu:.2f} s of CPU")  # fmt: skip
        for each in lines:
            took = each.cpu / each.requests * 1e6
            print(f"{each.requests} requests at once on a connection: {took:.0f} us of CPU each")
    if chosen.strict and (any(each.ratio > AIM for each in rounds) or siege.answered < siege.asked):
        raise SystemExit(1)


if __name__ == "__main__":
    if not os.path.exists("/proc/self/clear_refs"):
        raise SystemExit("This measures by way of /proc, which is Linux's")
    main(options(__doc__, rounds=1).parse_args())
