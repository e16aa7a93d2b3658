"""The server around ``answers``: the standard library's, because it runs on every hypervisor.

A machine serves as many clients as it has virtual machines, each of which asks now and then, so
that a thread for each connection is enough, and nothing has to be installed. # decision 81
"""

from __future__ import annotations

import socket
import ssl
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore, Lock
from typing import Any

from sssjob.features.answers import KNOWN, Answers

CONNECTIONS = 256  # at the same time; more are closed at once
OF_ONE = 64  # of these, from one address
PATIENCE = 30.0  # seconds that a client may be silent


def _nothing(line: str) -> None:
    """Keep no log."""


class Server(ThreadingHTTPServer):
    """Features on one address and port (0: any that is free), until ``shutdown``.

    ``log`` gets a line for each answer: who asked, the status, and of the path only what is no
    secret. ``context`` makes it HTTPS. Raises ``OSError`` if the address cannot be had.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, answers: Answers, address: str, port: int, *,
        context: ssl.SSLContext | None = None, log: Callable[[str], None] = _nothing,
    ) -> None:  # fmt: skip
        self.answers, self.log, self.context = answers, log, context
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._free = BoundedSemaphore(CONNECTIONS)
        self._lock, self._open = Lock(), Counter[str]()
        super().__init__((address, port), _ConnectionHandler)
        if context is not None:
            # The handshake happens in the thread of the connection, where it may take its time.
            self.socket = context.wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False
            )

    @property
    def url(self) -> str:
        """How the server is reached at the address it was given."""
        host, port = self.server_address[:2]
        shown = host.decode() if isinstance(host, bytes | bytearray) else str(host)
        scheme = "http" if self.context is None else "https"
        return f"{scheme}://{f'[{shown}]' if ':' in shown else shown}:{port}"

    def server_bind(self) -> None:
        """Bind without asking for the name of the machine, which may take long."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread, if not too many are at it."""
        with self._lock:
            is_room = self._open[client_address[0]] < OF_ONE and self._free.acquire(blocking=False)
            self._open[client_address[0]] += is_room
        if not is_room:
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and let the next one in."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._open[client_address[0]] -= 1
                self._open += Counter()  # who has none is forgotten
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away or speaks no HTTP: a line in the log."""
        self.log(f"{client_address[0]} went away, or does not speak HTTP")


class _ConnectionHandler(BaseHTTPRequestHandler):
    """One connection, over which several requests may come."""

    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    wbufsize = -1  # headers and body go in one piece
    disable_nagle_algorithm = True
    server: Server
    path = ""  # until a request line was understood

    def _answer(self) -> None:
        client = str(self.client_address[0])
        response = self.server.answers.respond(self.command, self.path, client, self.headers)
        if self.command not in ("GET", "HEAD"):
            self.close_connection = True  # what comes with it is not read
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.status is not HTTPStatus.NOT_MODIFIED:  # whose length is that of the value
            self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = _answer

    def version_string(self) -> str:
        """The name of the server, and not which Python runs it."""
        return "sssjob"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Who asked, for which key, and what came of it; anything else may be a token."""
        last = self.path.partition("?")[0].rstrip("/").rpartition("/")[2]
        shown = last if last in KNOWN else "..."
        self.server.log(f"{self.client_address[0]} {self.command} {shown} {int(code)}")

    def log_message(self, format: str, *args: Any) -> None:
        """Faults of a request, by their number only: the text may hold a token."""
