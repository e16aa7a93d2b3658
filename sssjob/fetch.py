"""Fetching what an absolute URI names: only from hosts that were allowed by name.

A job object comes from a stranger, and a service that opens whatever address it is given opens
doors inside its own network. So nothing is fetched unless scheme and host were allowed; there is
no way to other hosts by redirects, no login, no proxy and no ``file:``; size and time end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urljoin, urlsplit

from sssjob.errors import NotFetched

if TYPE_CHECKING:
    from requests import Response, Session

_PORTS = {"https": 443, "http": 80}
_REDIRECTS = 5
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Allowed:
    """What may be fetched: hosts by name (``files.example.org``, ``localhost:8000``), and limits.

    A host without a port means the usual port of the scheme. ``seconds`` is for everything
    together, ``size`` is in bytes.
    """

    hosts: frozenset[str]
    schemes: frozenset[str] = frozenset(("https",))
    size: int = 16 << 20
    seconds: float = 30.0

    @classmethod
    def of(cls, *hosts: str, schemes: Iterable[str] = ("https",)) -> Allowed:
        """Allow these hosts."""
        return cls(frozenset(host.lower() for host in hosts), frozenset(schemes))

    def refusal(self, uri: str) -> str:
        """Why an address may not be fetched; "" if it may."""
        try:
            parts = urlsplit(uri)
            port = parts.port
        except ValueError as error:
            return str(error)
        if parts.scheme not in self.schemes or parts.scheme not in _PORTS:
            return f"the scheme {parts.scheme or 'of it'} is not allowed"
        if parts.username is not None or parts.password is not None:
            return "it holds a login"
        if not self._names(parts, port):
            return f"the host {parts.netloc or 'of it'} is not allowed"
        return ""

    def _names(self, parts: SplitResult, port: int | None) -> bool:
        usual = port in (None, _PORTS[parts.scheme])
        host = parts.hostname or ""
        names = {f"{host}:{port or _PORTS[parts.scheme]}", *([host] if usual else [])}
        return bool(host) and not self.hosts.isdisjoint(names)


def fetch(uri: str, allowed: Allowed) -> bytes:
    """The bytes at an address, as they are. Needs ``requests`` (``pip install 'sssjob[http]'``).

    Raises ``NotFetched`` for what is not allowed, does not come, is too large or takes too long.
    """
    if refusal := allowed.refusal(uri):
        raise NotFetched(uri, refusal)
    if find_spec("requests") is None:  # of what is missing in a thread, nobody hears
        raise NotFetched(uri, "requests is not installed: pip install 'sssjob[http]'")
    # A server that sends a byte now and then satisfies every time limit of a socket.
    answer: SimpleQueue[bytes | NotFetched] = SimpleQueue()
    Thread(target=_into, args=(answer, uri, allowed), daemon=True).start()
    try:
        result = answer.get(timeout=allowed.seconds)
    except Empty:
        raise NotFetched(uri, f"it took more than {allowed.seconds:g} seconds") from None
    if isinstance(result, NotFetched):
        raise result
    return result


def _into(answer: SimpleQueue[bytes | NotFetched], uri: str, allowed: Allowed) -> None:
    import requests
    import urllib3

    try:
        with requests.Session() as session:
            # Neither proxies nor logins from the environment.
            session.trust_env = False
            answer.put(_fetched(session, uri, allowed))
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        answer.put(NotFetched(uri, str(error)))
    except NotFetched as error:
        answer.put(error)


def _fetched(session: Session, uri: str, allowed: Allowed) -> bytes:
    at = uri
    for _ in range(_REDIRECTS):
        with session.get(
            at, stream=True, allow_redirects=False, timeout=allowed.seconds,
            headers={"Accept-Encoding": "identity", "User-Agent": "sssjob"},
        ) as response:  # fmt: skip
            if not response.is_redirect:
                return _body(response, uri, allowed)
            after = urljoin(at, response.headers["Location"])
        if refusal := allowed.refusal(after):
            raise NotFetched(uri, f"it leads to {after}: {refusal}")
        if _origin(after) != _origin(uri):
            raise NotFetched(uri, f"it leads to another host: {after}")
        at = after
    raise NotFetched(uri, f"it leads on more than {_REDIRECTS} times")


def _body(response: Response, uri: str, allowed: Allowed) -> bytes:
    if response.status_code != 200:
        raise NotFetched(uri, f"the server answers {response.status_code} {response.reason}")
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise NotFetched(uri, "it comes compressed, which was not asked for")
    pieces, size = [], 0
    for piece in response.iter_content(_CHUNK):
        pieces.append(piece)
        size += len(piece)
        if size > allowed.size:
            raise NotFetched(uri, f"it has more than {allowed.size} bytes")
    return b"".join(pieces)


def _origin(uri: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(uri)
    return parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme]
