"""A features directory in the URL space of a server, read with care: it may stall, redirect or lie.

Needs ``requests`` (``pip install 'sssjob[http]'``).
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from html import unescape
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit

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
_DENIED = (403, 405)  # what servers answer who list no directory
_PART = 206  # of a range, for which nobody asked
_WORD = re.compile(r"[A-Za-z0-9_]+")
# No parser of HTML: that of Python raises for some pages, and takes long for others.
_LINK = re.compile(r"""\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))""", re.IGNORECASE)
_FILE = re.compile(r"<file\b[^<>]*>([^<>]*)</file>")  # of nginx's XML
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")  # of JSON
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
    404 and 410 mean that a key is absent, but for one that stands in the list, and for all where
    there is a list that cannot be read. Whatever else keeps an answer away makes the key unknown,
    which is something else: then nothing may be concluded from its absence.
    Raises ``ModuleNotFoundError`` if ``requests`` is not installed. # decisions 767, 801
    """
    asking = _ServerQuestions(options or RemoteOptions())
    answer = RemoteAnswer()
    rows = tuple(table)
    known = tuple(dict.fromkeys((*keys.names(rows), *keys.names(rows, "v2014"))))
    unlisted = ""
    listed: tuple[str, ...] = ()
    try:
        listed = asking.listed(f"{url}/", known)
    except NoAnswer as error:
        answer.unknown += known
        answer.faults.append(
            KeyFault("W-UNKNOWN", "", f"nothing is known of {url}: {error.reason}")
        )
        return answer
    except NotFetched as error:
        unlisted = error.reason
    # What else a page leads to need not be a key.
    absent = [each for each in _ask(asking, url, (*listed, *known), answer) if each in known]
    if unlisted and absent:
        answer.unknown += absent
        text = f"the list at {url}/ cannot be read: {unlisted}; not known is {', '.join(absent)}"
        answer.faults.append(KeyFault("W-UNKNOWN", "", text))
    for name in absent:
        if name in listed:
            answer.unknown.append(name)
            answer.faults.append(_unknown(name, "the server lists it, and says that it is absent"))
    return answer


def asked(url: str, names: Iterable[str], options: RemoteOptions | None = None) -> RemoteAnswer:
    """The text of each of some keys at an address, in that order."""
    answer = RemoteAnswer()
    _ask(_ServerQuestions(options or RemoteOptions()), url, names, answer)
    return answer


def content(url: str, options: RemoteOptions | None = None) -> str | None:
    """The text at an address, up to 1 MiB; None if the server says that nothing is there.

    Raises ``NoAnswer`` if no server answers, ``NotFetched`` for an answer that is none, and
    ``ModuleNotFoundError``.
    """
    return _ServerQuestions(options or RemoteOptions()).get(url, LISTING_LIMIT)


def _ask(
    asking: _ServerQuestions, url: str, names: Iterable[str], answer: RemoteAnswer
) -> list[str]:
    """Ask for each of some keys; those are given of which the server says that they are absent."""
    absent = []
    for name in dict.fromkeys(names):
        try:
            text = asking.get(f"{url}/{name}", LONGEST)
        except NotFetched as error:
            answer.unknown.append(name)
            answer.faults.append(_unknown(name, error.reason))
            continue
        if text is None:
            absent.append(name)
        elif "\0" in text:
            answer.faults.append(unread(name, "it holds a NUL"))
        elif text.strip():
            answer.texts[name] = text.strip()
    return absent


def _unknown(name: str, why: str) -> KeyFault:
    return KeyFault("W-UNKNOWN", name, f"{name} is not known: {why}")


class NoAnswer(NotFetched):
    """A server that cannot be reached, or that did not answer in time."""


class Denied(NotFetched):
    """An answer that is given to nobody who asks so."""


class _ServerQuestions:
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

    def listed(self, url: str, known: Collection[str]) -> tuple[str, ...]:
        """The keys that a server lists, of the ``known`` ones each that it names in any way.

        Raises ``NoAnswer``: who does not answer once is not asked for every key; and ``NotFetched``
        for a list that cannot be read. A server that gives none names none.
        """
        try:
            text = self.get(url, LISTING_LIMIT, "application/json, text/html;q=0.9") or ""
        except Denied:
            return ()
        if "\0" in text:
            raise NotFetched(url, "it holds a NUL, as UTF-16 does")
        words = set(_WORD.findall(_spelled(text)))
        more = (name for name in _names(text) if keys.is_found(name))
        return tuple(dict.fromkeys((*(n for n in known if n in words), *islice(more, MOST))))


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
    if response.status_code in _DENIED:
        raise Denied(url, f"status {response.status_code}")
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


def _spelled(text: str) -> str:
    """A text in which nothing is spelled by JSON, HTML or an address in another way."""
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    return unquote(unescape(plain))


def _names(text: str) -> Iterator[str]:
    """The names in a list of files: of a JSON array (of names, or of objects that have one) or
    object, of the links of a page, of nginx's XML, or of lines."""
    try:
        found = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        if "<" not in text:
            yield from map(str.strip, text.splitlines())
        for link in _LINK.finditer(text):
            place, _, _ = _spelled(link[link.lastindex or 0]).partition("?")
            yield place.partition("#")[0].rpartition("/")[2]
        yield from map(str.strip, _FILE.findall(text))
        return
    for each in found if isinstance(found, list | dict) else ():
        name = each.get("name") if isinstance(each, dict) else each
        if isinstance(name, str):
            yield name


def _reason(error: Exception) -> str:
    """The innermost reason of a failure, without the objects that it went through."""
    inner: object = error
    while isinstance(inner, Exception) and inner.args and isinstance(inner.args[0], Exception):
        inner = inner.args[0]
    reason = getattr(inner, "reason", None)
    return str(reason if isinstance(reason, Exception) else inner)
