"""The pages of a gateway, in a process of their own: no reader makes a scheduler wait.

The gateway starts it, hands on SIGHUP, starts it anew where it ended, and ends it; it ends too
where the gateway is no more.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import uvicorn

from sssjob.gateway import service
from sssjob.gateway.config import load
from sssjob.gateway.log import event
from sssjob.gateway.pages import PagesPlan
from sssjob.rmap.responder import Responder
from sssjob.web.app import behind_door
from sssjob.web.gate import Gate
from sssjob.web.stores import StorePool
from sssjob.web.views import ViewedStore

_AGAIN = 1.0  # seconds until a process that ended is started anew
_PATIENCE = 10.0  # seconds for it to end
_BEHIND = 5  # by how much it lets the gateway go first
REQUESTS = 64  # that are answered at the same time; others are told to come again


class Pages:
    """The process of the pages of a gateway. Raises OSError where it cannot listen."""

    def __init__(self, path: Path, plan: PagesPlan) -> None:
        self._path = path.absolute()
        family = socket.AF_INET6 if ":" in plan.listen.host else socket.AF_INET
        self._socket = socket.create_server((plan.listen.host, plan.listen.port), family=family)
        self.port: int = self._socket.getsockname()[1]
        self._context = get_context("spawn")  # threads are running here
        self._stopping = threading.Event()
        self._process: BaseProcess | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._ours: Connection | None = None

    def start(self) -> None:
        """Begin."""
        self._begin()
        self._thread = threading.Thread(target=self._watch, name="pages", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End, after the answers that are owed."""
        self._stopping.set()
        with self._lock:
            process = self._process
        if process is not None:
            process.terminate()
            process.join(_PATIENCE)
            if process.is_alive():
                process.kill()
        if self._thread is not None:
            self._thread.join(_PATIENCE)
        self._socket.close()

    def reload(self) -> None:
        """Have it read tokens and roles again."""
        with self._lock:
            process = self._process
        if process is not None and process.pid is not None and process.is_alive():
            os.kill(process.pid, signal.SIGHUP)

    def _begin(self) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=run, args=(self._path, self._socket, theirs), daemon=True
        )
        with self._lock:
            if self._stopping.is_set():
                return
            process.start()
            theirs.close()
            self._process, self._ours = process, ours

    def _watch(self) -> None:
        while not self._stopping.is_set():
            process = self._process
            assert process is not None
            process.join()
            if not self._stopping.is_set():
                event("pages ended", logging.ERROR, pid=process.pid, code=process.exitcode)
                if not self._stopping.wait(_AGAIN):
                    self._begin()


def run(path: Path, listening: socket.socket, gateway: Connection) -> None:
    """Answer until a signal, or the end of the gateway at the other end of a pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the gateway ends it
    os.nice(_BEHIND)
    with service.logging_to_stderr():
        config = load(path)
        assert config.web is not None
        host, port = listening.getsockname()[:2]
        plan, handlers = config.web.at(port), service.answering(config)
        assert handlers is not None
        shadow = service.shadow_of(config)
        actions = service.actions_of(config, handlers, shadow)
        responder = Responder(actions, config.ring, config.policy)
        stores = StorePool(config.jobs.store)
        gate = Gate(
            behind_door(ViewedStore(stores, plan.title, responder, queues=plan.queues)), plan,
            config.jobs.settings.roles, config.ring.revoked,
        )  # fmt: skip
        server = uvicorn.Server(
            uvicorn.Config(
                gate, log_config=None, access_log=False, server_header=False, lifespan="on",
                limit_concurrency=REQUESTS, proxy_headers=False, timeout_graceful_shutdown=5,
                ws="none",
            )
        )  # fmt: skip

        def reload(number: int, frame: object) -> None:
            found = service.read_again(path)
            if found is not None:
                service.take_settings(handlers, found.jobs.settings)
            if found is not None and found.web is not None:
                gate.take(found.web.at(port), found.jobs.settings.roles, found.ring.revoked)

        signal.signal(signal.SIGHUP, reload)
        threading.Thread(target=_until_alone, args=(gateway, server), daemon=True).start()
        event("listening", kind="web", address=f"{host}:{port}")
        with service.beside(shadow):
            server.run([listening])


def _until_alone(gateway: Connection, server: uvicorn.Server) -> None:
    """Wait until nobody is at the other end of a pipe."""
    try:
        gateway.recv()
    except (EOFError, OSError):
        server.should_exit = True
