"""The server on this machine: its socket, its token, and the address that lets one in."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn

from sssjob.web.app import application
from sssjob.web.guard import PARAMETER

LOOPBACK = "127.0.0.1"
REQUESTS = 32  # that are answered at the same time; others are told to come again


@dataclass
class WebServer:
    """A server of one store on a port of the loopback interface; port 0 is any that is free.

    ``queues`` is a directory of queue states. Raises ``OSError`` where the port cannot be used.
    """

    address: str
    title: str
    port: int = 0
    queues: Path | None = None
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    def __post_init__(self) -> None:
        self._socket = socket.create_server((LOOPBACK, self.port))
        self.port = self._socket.getsockname()[1]

    @property
    def url(self) -> str:
        """The address that lets its reader in."""
        return f"http://{LOOPBACK}:{self.port}/?{PARAMETER}={self.token}"

    def run(self, started: Callable[[], None] = lambda: None) -> None:
        """Answer until a signal ends it; ``started`` is called when it is ready."""
        hosts = frozenset(f"{name}:{self.port}" for name in (LOOPBACK, "localhost"))
        app = application(
            self.address, title=self.title, token=self.token, hosts=hosts, queues=self.queues
        )
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, lifespan="on",
            limit_concurrency=REQUESTS, proxy_headers=False, timeout_graceful_shutdown=5, ws="none",
        )  # fmt: skip
        started()
        try:
            uvicorn.Server(config).run([self._socket])
        finally:
            self._socket.close()
