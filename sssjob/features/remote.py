"""A features directory in the URL space of a server, read with care: it may stall, redirect or lie.

Needs ``requests`` (``pip install 'sssjob[http]'``).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from sssjob.errors import NotFetched
from sssjob.features import keys
from sssjob.features.files import LONGEST, MOST, KeyFault, unread
from sssjob.features.keys import Key
from sssjob.features.read import DirectoryValues, reading

if TYPE_CHECKING:
    from requests import Response, Session

LINK_LOCAL = "http://169.254.169.254"  # where a cloud tells a virtual machine about itself
LISTING_LIMIT = 1 << 20  # bytes of a list of keys
REDIRECTS = 3

_ABSENT = (404, 410)
_PART = 206  # of a range, for which nobody asked
_CERTIFICATES = "X509_CERT_DIR"  # where grid sites keep those of their authorities


@dataclass(frozen=True, slots=True)
class RemoteOptions:
    """How a server is asked: seconds for each answer and for all together, and TLS.

    ``ca`` is a file or directory of authorities to trust instead of the usual ones; without it,
    $X509_CERT_DIR counts if it is set. ``certificate`` and ``key`` are files of the client's own.
    Certificates are always verified; proxies come from the usual variables.

    Who is asked with ``headers`` of its own, or by another ``method``, is asked without a proxy and
    may not lead elsewhere: a header may be a secret.
    """

    seconds: float = 10.0
    all_seconds: float = 30.0
    ca: str = ""
    certificate: str = ""
    key: str = ""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    method: str = "GET"

    @property
    def is_own(self) -> bool:
        """Whether a server is asked in a way of its own."""
        return bool(self.headers) or self.method != "GET"


@dataclass(slots=True)
class RemoteAnswer:
    """What a server said: texts by key, faults, and the keys of which it said nothing."""

    texts: dict[str, str] = field(default_factory=dict)
    faults: list[KeyFault] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def read(
    url: str, table: Iterable[Key], options: RemoteOptions | None = None, now: float | None = None
) -> DirectoryValues:
    """Read a directory over HTTP(S) by a table of keys, as ``read.read`` does a local one."""
    rows = tuple(table)
    answer = texts(url, rows, options)
    return reading(url, answer.texts, answer.faults, rows, answer.unknown, now)


def texts(url: str, table: Iterable[Key], options: RemoteOptions | None = None) -> RemoteAnswer:
    """The text of each known key at an address, and of those that a list of the server adds.

    What is not listed is asked for, too: a page with links may stand there that is no list of all.
    404 and 410 mean that a key is absent, if it is not listed. Whatever else keeps an answer away
    makes the key unknown, which is something else: then nothing may be concluded from its absence.
    Raises ``ModuleNotFoundError`` if ``requests`` is not installed.
    """
    asking = _Asking(options or RemoteOptions())
    answer = RemoteAnswer()
    rows = tuple(table)
    known = tuple(dict.fromkeys((*keys.names(rows), *keys.names(rows, "v2014"))))
    try:
        listed = asking.listed(f"{url}/") or ()
    except NoAnswer as error:
        answer.unknown += known
        answer.faults.append(
            KeyFault("W-UNKNOWN", "", f"nothing is known of {url}: {error.reason}")
        )
        return answer
    # What else a page leads to need not be a key.
    _ask(asking, url, dict.fromkeys((*listed, *known)), answer, {*listed} & {*known})
    return answer


def asked(url: str, names: Iterable[str], options: RemoteOptions | None = None) -> RemoteAnswer:
    """The text of each of some keys at an address, in that order."""
    answer = RemoteAnswer()
    _ask(_Asking(options or RemoteOptions()), url, names, answer)
    return answer


def content(url: str, options: RemoteOptions | None = None) -> str | None:
    """The text at an address, up to 1 MiB; None if the server says that nothing is there.

    Raises ``NoAnswer`` if no server answers, ``NotFetched`` for an answer that is none, and
    ``ModuleNotFoundError``.
    """
    return _Asking(options or RemoteOptions()).get(url, LISTING_LIMIT)


def _ask(
    asking: _Asking, url: str, names: Iterable[str], answer: RemoteAnswer,
    listed: Collection[str] = (),
) -> None:  # fmt: skip
    for name in names:
        try:
            text = asking.get(f"{url}/{name}", LONGEST)
            if text is None and name in listed:
                raise NotFetched(f"{url}/{name}", "the server lists it, and says that it is absent")
        except NotFetched as error:
            answer.unknown.append(name)
            answer.faults.append(
                KeyFault("W-UNKNOWN", name, f"{name} is not known: {error.reason}")
            )
            continue
        if text is None:
            continue
        if "\0" in text:
            answer.faults.append(unread(name, "it holds a NUL"))
        elif text.strip():
            answer.texts[name] = text.strip()


class NoAnswer(NotFetched):
    """A server that cannot be reached, or that did not answer in time."""


class _Asking:
    """Questions to one server, in a thread each, because a slow answer may never end."""

    def __init__(self, options: RemoteOptions) -> None:
        _requests()
        self.options = options
        self.end = time.monotonic() + options.all_seconds

    def get(self, url: str, limit: int, accept: str = "text/plain, */*;q=0.5") -> str | None:
        """The text at an address, None if nothing is there. Raises ``NotFetched``."""
        # A server that sends a byte now and then satisfies every time limit of a socket.
        seconds = min(self.options.seconds, self.end - time.monotonic())
        if seconds <= 0:
            raise NoAnswer(url, f"{self.options.all_seconds:g} seconds are over")
        answer: SimpleQueue[str | Exception | None] = SimpleQueue()
        arguments = (answer, url, limit, accept, self.options)
        Thread(target=_into, args=arguments, daemon=True).start()
        try:
            found = answer.get(timeout=seconds)
        except Empty:
            raise NoAnswer(url, f"no answer within {seconds:.3g} seconds") from None
        if isinstance(found, Exception):
            raise found
        return found

    def listed(self, url: str) -> tuple[str, ...] | None:
        """The keys that a server lists, as JSON or as links; None if it lists none.

        Raises ``NoAnswer``: who does not answer once is not asked for every key.
        """
        try:
            text = self.get(url, LISTING_LIMIT, "application/json, text/html;q=0.9")
        except NoAnswer:
            raise
        except NotFetched:
            return None
        if not text:
            return None
        found = [name for name in _names(text) if keys.is_found(name)]
        return tuple(dict.fromkeys(found[:MOST])) or None


def _requests() -> None:
    """Say what is missing here, and not in a thread of which nobody hears."""
    try:
        import requests  # noqa: F401
    except ModuleNotFoundError:
        advice = "features over HTTP are read with requests: pip install 'sssjob[http]'"
        raise ModuleNotFoundError(advice, name="requests") from None


def _into(
    answer: SimpleQueue[str | Exception | None], url: str, limit: int, accept: str,
    options: RemoteOptions,
) -> None:  # fmt: skip
    import requests
    import urllib3

    try:
        with requests.Session() as session:
            session.headers.update(
                {"Accept": accept, "Accept-Encoding": "identity", "User-Agent": "sssjob"}
            )
            session.trust_env = not options.is_own
            session.headers.update(options.headers)
            if options.certificate:
                own = (options.certificate, options.key) if options.key else options.certificate
                session.cert = own
            answer.put(_answered(session, url, limit, options))
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        answer.put(NoAnswer(url, _reason(error)))
    except Exception as error:  # whichever it is: who asked raises it
        answer.put(error)


def _answered(session: Session, url: str, limit: int, options: RemoteOptions) -> str | None:
    """The text at an address, through at most three redirects, none of them to a weaker scheme."""
    # Told with each request: of a session, $REQUESTS_CA_BUNDLE would win over it.
    verify = options.ca or os.environ.get(_CERTIFICATES) or True
    at = url
    for _ in range(REDIRECTS + 1):
        with session.request(
            options.method, at, stream=True, allow_redirects=False, timeout=options.seconds,
            verify=verify,
        ) as response:  # fmt: skip
            if not response.is_redirect:
                return _text(response, url, limit)
            if options.is_own:
                raise NotFetched(url, "it leads elsewhere")
            after = urljoin(at, response.headers["Location"])
        schemes = urlsplit(at).scheme, urlsplit(after).scheme
        if schemes[1] not in ("http", "https") or schemes == ("https", "http"):
            raise NotFetched(url, f"redirected from {schemes[0]} to {schemes[1] or 'nowhere'}")
        at = after
    raise NotFetched(url, f"more than {REDIRECTS} redirects")


def _text(response: Response, url: str, limit: int) -> str | None:
    if response.status_code in _ABSENT:
        return None
    if not 200 <= response.status_code < 300 or response.status_code == _PART:
        raise NotFetched(url, f"status {response.status_code}")
    octets = b""
    for piece in response.iter_content(limit + 1):
        octets += piece
        if len(octets) > limit:
            raise NotFetched(url, f"more than {limit} bytes")
    try:
        return octets.decode()
    except UnicodeDecodeError as error:
        raise NotFetched(url, f"byte {error.start + 1} is not UTF-8") from None


def _names(text: str) -> Iterator[str]:
    """The names in a list of keys: of a JSON array or object, or of the links of a page."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        page = _Links()
        page.feed(text)
        yield from page.names
        return
    if isinstance(found, list | dict):
        yield from (name for name in found if isinstance(name, str))


class _Links(HTMLParser):
    """The last step of what each link of a page leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            target = dict(attrs).get("href") or ""
            self.names.append(target.rpartition("/")[2])


def _reason(error: Exception) -> str:
    """The innermost reason of a failure, without the objects that it went through."""
    inner: object = error
    while isinstance(inner, Exception) and inner.args and isinstance(inner.args[0], Exception):
        inner = inner.args[0]
    reason = getattr(inner, "reason", None)
    return str(reason if isinstance(reason, Exception) else inner)
