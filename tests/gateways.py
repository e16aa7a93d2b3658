"""Gateways on free ports: in a thread of the test, or in a process of their own."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager

from gold import KEY
from waiting import HANG, until

from sssjob.gateway import service
from sssjob.gateway.config import GatewayConfig, GatewayLimits, load
from sssjob.gateway.server import GatewayServer
from sssjob.rmap.address import Address
from sssjob.rmap.keys import Key, Ring
from sssjob.rmap.responder import Policy, Responder

RING = Ring(Key(KEY), passwords={"ann": Key(b"s3cretpass", owner="ann")})


def prepared(folder, settings, **secrets):
    """A folder with the file of a gateway and its secrets, by the names of their files."""
    (folder / "gateway.toml").write_text(settings)
    for name, text in secrets.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o600)
    return folder


class Running:
    """A server that listens, and what a test may ask of it."""

    def __init__(self, server, loop):
        self.server, self._loop = server, loop

    def address(self, kind="listen"):
        bound = self.server.addresses[kind][0]
        return bound.host, bound.port

    def url(self, path="/SSSRMAP3", kind="listen", scheme="http"):
        host, port = self.address(kind)
        return f"{scheme}://{host}:{port}{path}"

    def do(self, work):
        """Have the loop of the server do something as soon as it can."""
        self._loop.call_soon_threadsafe(work)

    def stop(self):
        self.do(self.server.stop)


@contextmanager
def gateway(handler, *, ring=RING, policy=None, **options):
    """A gateway with this handler, which ends with the block."""
    options.setdefault("limits", GatewayLimits(grace=5))
    config = GatewayConfig(
        listen=(Address("127.0.0.1", 0),), ring=ring,
        policy=policy or Policy(name="root", triple_des=True), **options,
    )  # fmt: skip
    server = GatewayServer(Responder(handler, config.ring, config.policy), config)
    with listening_here(server) as running:
        yield running


@contextmanager
def listening_here(server):
    """A server in a thread of the test, which ends with the block."""
    ready = threading.Event()
    loop = (service.loop_factory() or asyncio.new_event_loop)()
    thread = threading.Thread(target=lambda: loop.run_until_complete(server.run(ready.set)))
    thread.start()
    assert ready.wait(HANG)
    running = Running(server, loop)
    try:
        yield running
    finally:
        if thread.is_alive():
            running.stop()
        thread.join(HANG)
        loop.close()
        assert not thread.is_alive()


@contextmanager
def beside(folder):
    """The gateway of a file, in a thread of the test, and its port; no signal reaches it."""
    config = load(folder / "gateway.toml")
    server = service.server(config)
    with (
        service.beside(*service.once(config, server.service), server.shadow),
        listening_here(server) as running,
    ):
        yield running.address()[1]


def connected(running, kind="listen"):
    return socket.create_connection(running.address(kind), timeout=HANG)


def said(connection):
    """Everything until the server ends the connection."""
    received = b""
    while data := connection.recv(1 << 16):
        received += data
    return received


def exchange(running, data):
    """What a legacy client is answered."""
    with connected(running) as connection:
        connection.sendall(data)
        return said(connection)


@contextmanager
def serving(folder, *options):
    """The process of a gateway, and its port."""
    log = (folder / "log").open("a+b")
    before = log.seek(0, os.SEEK_END)
    process = subprocess.Popen(
        [sys.executable, "-m", "sssjob", "serve", "--config", folder / "gateway.toml", *options],
        stderr=log,
    )
    try:
        found = until(lambda: listening(log, before), going=lambda: process.poll() is None)
        assert found, (folder / "log").read_text()
        yield process, int(found[0]["address"].rpartition(":")[2])
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(HANG)
        log.close()


def listening(log, place):
    """The lines of a log, behind a place, that say where a gateway listens."""
    log.seek(place)
    lines = [
        json.loads(line)
        for line in log.read().splitlines()
        if line.startswith(b"{") and line.endswith(b"}")
    ]
    return [line for line in lines if line["event"] == "listening"]
