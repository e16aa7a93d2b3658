"""The servers that gateway.py compares; each prints its port and answers until it is stopped.

``store`` is our gateway over a store of 100 000 jobs, in a file that is made if it is not there;
``logged`` is the same and writes its log into a file. ``memory`` is our gateway with a handler
that answers from memory. ``echo`` reads a request by its length, verifies the signature, and sends
the message back; ``bare`` parses it, too, and answers from memory. ``least`` is ``bare`` with one
SELECT in the same store, and so about the least that an answer takes in Python. These know one form
of a message, and neither roles nor conditions.
"""

import asyncio
import base64
import hashlib
import hmac
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import cast

from lxml import etree

from sssjob import store
from sssjob.gateway import service
from sssjob.gateway.actions import Actions
from sssjob.gateway.config import GatewayConfig
from sssjob.gateway.server import GatewayServer
from sssjob.handlers.roles import Roles
from sssjob.handlers.service import Service, ServiceSettings
from sssjob.handlers.stores import Stores
from sssjob.rmap.address import Address
from sssjob.rmap.keys import Key, Ring
from sssjob.rmap.message import Row
from sssjob.rmap.responder import HandlerAnswer, ReceivedRequest, Responder

KEY = b"benchmark-key-0123456789"
JOBS = MappingProxyType({
    f"PBS.{number}.0": (("Id", f"PBS.{number}.0"), ("User", "ann"), ("State", "Completed"))
    for number in range(100_000)
})  # fmt: skip

JOB = (
    "<Job><Id>PBS.{0}.0</Id><User>ann</User><Project>p</Project><State>Completed</State>"
    "<Machine>m1</Machine><Queue>batch</Queue><Charge>{0}</Charge><EndTime>1704070800</EndTime>"
    '<Requested><Processors>8</Processors><Memory units="GB">2</Memory></Requested>'
    "<Delivered><Processors>8</Processors><Duration>1155</Duration></Delivered></Job>"
)


class Bare(asyncio.Protocol):
    """One connection, with the least that an answer needs."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        self._answer = answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep where to write."""
        self._transport, self._buffer = cast(asyncio.Transport, transport), b""  # as uvloop's is

    def data_received(self, data: bytes) -> None:
        """Answer what is whole."""
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) > 0:
            at = self._buffer.index(b"Content-Length: ") + 16
            length = int(self._buffer[at : self._buffer.index(b"\r\n", at)])
            whole = end + 4 + length
            if len(self._buffer) < whole:
                return
            message, self._buffer = self._buffer[end + 4 : whole], self._buffer[whole:]
            body = self._answer(message)
            self._transport.write(
                b'HTTP/1.1 200 OK\r\nContent-Type: text/xml; charset="utf-8"\r\n'
                b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
            )


def echoed(message: bytes) -> bytes:
    """Verify and send back."""
    signed = message[message.index(b"<Body>") : message.index(b"</Body>") + 7]
    expected = base64.b64encode(hmac.digest(KEY, hashlib.sha1(signed).digest(), "sha1"))
    at = message.index(b"<SignatureValue>") + 16
    if not hmac.compare_digest(expected, message[at : message.index(b"<", at)]):
        raise SystemExit("the signature is wrong")
    return message


def answered(
    message: bytes, look_up: Callable[[str], Iterable[tuple[str, str]]] = JOBS.__getitem__
) -> bytes:
    """Parse, verify, look up, answer."""
    root = etree.fromstring(message)
    signed = message[message.index(b"<Body>") : message.index(b"</Body>") + 7]
    digest = hashlib.sha1(signed).digest()
    expected = base64.b64encode(hmac.digest(KEY, digest, "sha1"))
    if not hmac.compare_digest(expected, root.findtext("Signature/SignatureValue", "").encode()):
        raise SystemExit("the signature is wrong")
    row = look_up(root.findtext("Body/Request/Where", ""))
    fields = "".join(f"<{name}>{value}</{name}>" for name, value in row)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<Envelope><Body><Response actor="bare"><Status>'
        "<Value>Success</Value><Code>000</Code></Status><Count>1</Count><Data>"
        f"<Job>{fields}</Job></Data></Response></Body></Envelope>\n"
    ).encode()


def from_memory(call: ReceivedRequest) -> HandlerAnswer:
    """The job of the one condition."""
    return HandlerAnswer((Row("Job", JOBS[call.request.wheres[0].value]),))


async def bare(answer: Callable[[bytes], bytes] = answered) -> None:
    """Serve with the least there is."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Bare(answer), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    stopped = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    await stopped.wait()


async def least() -> None:
    """Serve from a store with the least there is."""
    connection = sqlite3.connect(made(Path(sys.argv[2])), isolation_level=None)
    statement = 'SELECT id, "user", state FROM job WHERE id = ? AND deleted = 0'

    def look_up(name: str) -> Iterable[tuple[str, str]]:
        connection.execute("BEGIN")
        [row] = connection.execute(statement, (name,)).fetchall()
        connection.execute("COMMIT")
        return zip(("Id", "User", "State"), row, strict=True)

    await bare(partial(answered, look_up=look_up))


async def memory() -> None:
    """Serve with our gateway."""
    config = GatewayConfig(listen=(Address("127.0.0.1", 0),), ring=Ring(Key(KEY)))
    responder = Responder(from_memory, config.ring, config.policy, quick=lambda request: True)
    server = GatewayServer(responder, config)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, server.stop)
    await server.run(lambda: print(server.addresses["listen"][0].port, flush=True))


def made(path: Path) -> Path:
    """The file of a store, which is made if it is not there."""
    if not path.exists():
        with store.open(path, create=True) as new:
            new.load("\n".join(map(JOB.format, range(100_000))).encode())
    return path


async def stored() -> None:
    """Serve with our gateway, from a store; whoever has the key may ask."""
    path = made(Path(sys.argv[2]))
    jobs = Service(Stores(str(path)), ServiceSettings(Roles(usual="admin")))
    config = GatewayConfig(listen=(Address("127.0.0.1", 0),), ring=Ring(Key(KEY)))
    actions = Actions(jobs.actions, jobs.is_quick)
    responder = Responder(actions, config.ring, config.policy, quick=actions.is_quick)
    server = GatewayServer(responder, config, jobs)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, server.stop)
    await server.run(lambda: print(server.addresses["listen"][0].port, flush=True))


async def logged() -> None:
    """The same with its log, in a file beside the store."""
    with (
        Path(sys.argv[2]).with_suffix(".log").open("w", buffering=1) as log,
        redirect_stderr(log),
        service.logging_to_stderr(),
    ):
        await stored()


if __name__ == "__main__":
    served = {
        "echo": lambda: bare(echoed), "bare": bare, "least": least, "memory": memory,
        "store": stored, "logged": logged,
    }  # fmt: skip
    with asyncio.Runner(loop_factory=service.loop_factory()) as runner:
        runner.run(served[sys.argv[1]]())
