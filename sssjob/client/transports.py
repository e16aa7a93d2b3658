"""How a message gets to a server and its answer back: a socket for old peers, or standard HTTP."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol

from sssjob.addresses import is_url
from sssjob.errors import BadFraming, NoReply
from sssjob.rmap.address import PORT, Address
from sssjob.rmap.address import address as parsed
from sssjob.rmap.framing import CONTENT_TYPE, PATH, legacy_request
from sssjob.rmap.replies import Reply

TIMEOUT = 20.0  # seconds without a byte, as Gold's own clients have it
_READ = 64 << 10
REPLY_LIMIT = 256 << 20  # bytes of one answer


class Transport(Protocol):
    """A way to a server."""

    def exchange(self, message: bytes) -> Iterator[bytes]:
        """The documents of the answer, as they come. Raises ``NoReply``."""


@dataclass(frozen=True, slots=True)
class Legacy:
    """A connection for each message, framed as Gold expects it. ``timeout`` is in seconds.

    ``limit`` is in bytes of an answer, as far as it is held here. With ``tls`` the connection is
    encrypted, and the server has to prove that it is ``host``.
    """

    host: str = "localhost"
    port: int = PORT
    timeout: float = TIMEOUT
    tls: ssl.SSLContext | None = None
    path: str = PATH
    limit: int = REPLY_LIMIT

    def exchange(self, message: bytes) -> Iterator[bytes]:
        """The documents of the answer, as they come.

        Raises ``NoReply``: 222 where nobody answers at the address, 224, 226 and 232 for a
        connection that breaks or falls silent, 246 for one that ends too early, 242 for what is
        no HTTP.
        """
        try:
            connection = self._connected()
        except OSError as error:
            reason = error.strerror or str(error)
            raise NoReply("222", f"cannot connect to {self}: {reason}", asked=False) from None
        with connection:
            try:
                connection.sendall(legacy_request(message, self.path))
            except OSError as error:
                raise NoReply("224", f"cannot write to {self}: {error}") from None
            yield from self._documents(connection)

    def __str__(self) -> str:
        return str(Address(self.host, self.port))

    def _connected(self) -> socket.socket:
        plain = socket.create_connection((self.host, self.port), self.timeout)
        if self.tls is None:
            return plain
        try:
            return self.tls.wrap_socket(plain, server_hostname=self.host)
        except OSError:
            plain.close()
            raise

    def _documents(self, connection: socket.socket) -> Iterator[bytes]:
        reply = Reply(self.limit)
        count = 0
        try:
            while not reply.is_complete:
                data = connection.recv(_READ)
                if data:
                    reply.feed(data)
                else:
                    reply.end()
                for document in reply.documents():
                    count += 1
                    yield document
                if not data:
                    break
        except TimeoutError:
            raise NoReply("232", f"{self} is silent for {self.timeout:g} seconds") from None
        except BadFraming as error:
            raise NoReply(error.code, error.message) from None
        except OSError as error:
            raise NoReply("226", f"cannot read from {self}: {error}") from None
        if not count:
            raise NoReply("246", f"{self} ended the connection without an answer")


@dataclass(frozen=True, slots=True)
class HTTP:
    """Messages to a URL, by the library requests (``pip install 'sssjob[http]'``).

    ``verify`` is a file of certificates to trust, or True for the usual ones; ``certificate``
    holds the files of one's own certificate and its key. ``limit`` is in bytes of an answer.
    """

    url: str
    timeout: float = TIMEOUT
    verify: bool | str = True
    certificate: tuple[str, str] | None = None
    limit: int = REPLY_LIMIT

    def exchange(self, message: bytes) -> Iterator[bytes]:
        """The documents of the answer. Raises ``NoReply`` with the codes that ``Legacy`` has."""
        import requests

        reply = Reply(self.limit)
        end = time.monotonic() + 10 * self.timeout
        try:
            with requests.post(
                self.url, data=message, timeout=self.timeout, verify=self.verify,
                cert=self.certificate, stream=True, allow_redirects=False,
                headers={"Content-Type": CONTENT_TYPE, "Accept-Encoding": "identity"},
            ) as answer:  # fmt: skip
                status = answer.status_code
                reply.feed(b"HTTP/1.1 %d \r\n\r\n" % status)
                for piece in answer.iter_content(_READ):
                    reply.feed(piece)
                    if time.monotonic() > end:
                        raise NoReply("232", f"{self.url} is too slow")
        except requests.exceptions.ConnectionError as error:
            # Without an answer of its own, requests does not tell how far it came.
            refused = isinstance(error, requests.exceptions.ConnectTimeout) or _refused(error)
            code = "222" if refused else "226"
            raise NoReply(code, f"cannot reach {self.url}", asked=not refused) from None
        except requests.exceptions.Timeout:
            raise NoReply("232", f"{self.url} is silent for {self.timeout:g} seconds") from None
        except (requests.exceptions.RequestException, BadFraming) as error:
            raise NoReply("242", f"{self.url}: {error}") from None
        reply.end()
        documents = [document for document in reply.documents() if document]
        if not documents or (status != 200 and b"Envelope" not in documents[0]):
            raise NoReply("242", f"{self.url} answers with status {status} of HTTP")
        yield from documents

    def __str__(self) -> str:
        return self.url


def transport(
    address: str, *, timeout: float = TIMEOUT, limit: int = REPLY_LIMIT
) -> Transport:  # fmt: skip
    """The way to an address: standard HTTP to ``http://`` and ``https://``, else ``host:port``.

    ``limit`` is in bytes of an answer. Raises ValueError for what is neither.

    >>> str(transport("gold.example.org")), str(transport("[::1]:7113"))
    ('gold.example.org:7112', '[::1]:7113')
    """
    if address.startswith(("http://", "https://")):
        if not is_url(address):
            raise ValueError(address)
        return HTTP(address if address.count("/") > 2 else address + PATH, timeout, limit=limit)
    place = parsed(address)
    return Legacy(place.host, place.port, timeout, limit=limit)


def missing(way: Transport) -> str:
    """How to install what sends by a way, if it is not installed; or an empty text."""
    lacking = isinstance(way, HTTP) and find_spec("requests") is None
    return "pip install 'sssjob[http]'" if lacking else ""


def _refused(error: BaseException | None) -> bool:
    """Whether no connection was made at all."""
    from urllib3.exceptions import MaxRetryError, NewConnectionError

    while error is not None:
        if isinstance(error, NewConnectionError):
            return True
        reason = error.reason if isinstance(error, MaxRetryError) else None
        inner = error.args[0] if error.args else None
        error = reason or (inner if isinstance(inner, BaseException) else error.__cause__)
    return False
