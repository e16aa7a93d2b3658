"""Features over HTTP: which bytes answer which request. No socket is touched here.

A tree of directories is served: ``ROOT/machinefeatures`` to everybody, and to each virtual machine
or job what stands below its name: ``ROOT/NAME/jobfeatures`` and, where it has one of its own,
``ROOT/NAME/machinefeatures``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address
from typing import Protocol

from sssjob.errors import UnusableInput
from sssjob.features import files, keys
from sssjob.visible import Markup

KINDS = {"machinefeatures": keys.MACHINE_FEATURES, "jobfeatures": keys.JOB_FEATURES}
SHORTEST_TOKEN = 16

_STATIC = "max-age=3600"
_FRESH = "no-cache"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}")
_TOKEN = re.compile(rf"[A-Za-z0-9_-]{{{SHORTEST_TOKEN},256}}")
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# As clouds at large have them, in the version of a date or in the latest.
_VERSION = re.compile(r"latest|[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A status, headers, and a body."""

    status: HTTPStatus
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


KNOWN = frozenset(
    (
        *KINDS,
        *(name for table in KINDS.values() for row in table for name in (row.v2014, row.v2016)),
    )
)

Identify = Callable[[list[str], str], tuple[str, list[str]] | None]


class Headers(Protocol):
    """The headers of a request, by name in any case."""

    def get(self, name: str, default: str, /) -> str:
        """The value of a header, or the default."""


def by_address(steps: list[str], client: str) -> tuple[str, list[str]] | None:
    """The name of who asks is its address. The path is what is asked for."""
    name = _plain_address(client)
    return (name, steps) if name else None


@lru_cache(4096)
def _plain_address(client: str) -> str:
    """An address as it is usually written, "" for what is none."""
    try:
        address = ip_address(client.partition("%")[0])
    except ValueError:
        return ""
    plain = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(plain or address)


@lru_cache(4096)
def _date(seconds: int) -> str:
    return formatdate(seconds, usegmt=True)


class ByToken:
    """The first step of the path is a token that nobody can guess; a file says whose it is.

    Each line of the file is ``NAME TOKEN``. It is read again when it changes. Tokens are looked
    up by their digest, so that how long it takes says nothing about them.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        self._stamp: tuple[int, int] | None = None
        self._names: dict[bytes, str] = {}
        self.load()

    def __call__(self, steps: list[str], client: str) -> tuple[str, list[str]] | None:
        """Whose token it is, and the rest of the path; None if it is nobody's."""
        self.load()
        name = self._names.get(token_digest(steps[0])) if steps else None
        return None if name is None else (name, steps[1:])

    def load(self) -> None:
        """Read the file if it has changed. Raises ``UnusableInput`` or ``OSError``."""
        status = os.stat(self.path)
        stamp = status.st_mtime_ns, status.st_ino
        if stamp != self._stamp:
            with open(self.path, encoding="ascii", errors="replace") as file:
                self._names = dict(_tokens(file, os.fspath(self.path)))
            self._stamp = stamp


def _tokens(lines: Iterable[str], path: str) -> Iterator[tuple[bytes, str]]:
    for number, line in enumerate(lines, 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or not _NAME.fullmatch(words[0]) or not _TOKEN.fullmatch(words[1]):
            expected = f"a name and a token of at least {SHORTEST_TOKEN} letters and digits"
            raise UnusableInput(f"{path}: expected {expected}", number)  # never what stands there
        yield token_digest(words[1]), words[0]


def token_digest(token: str) -> bytes:
    """A token as it is kept and compared: nobody learns from how long it takes."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


class Answers:
    """What is answered to whom: the directories below ``root``, and who may see which.

    ``url`` is how this server is called in metadata, without a slash at the end.
    """

    def __init__(self, root: str | os.PathLike[str], identify: Identify, url: str = "") -> None:
        self.root, self.identify, self.url = os.fspath(root), identify, url

    def respond(self, method: str, target: str, client: str, headers: Headers) -> HttpResponse:
        """The answer to a request for a path from an address."""
        if method not in ("GET", "HEAD"):
            return _failure(HTTPStatus.METHOD_NOT_ALLOWED, {"Allow": "GET, HEAD"})
        path = target.partition("?")[0]
        steps = [step for step in path.split("/") if step]  # "//" is "/"
        if "%" in path or ".." in steps or not path.startswith("/"):
            return _failure(HTTPStatus.NOT_FOUND)
        found = self.identify(steps, client)
        if found is None:
            return _failure(HTTPStatus.NOT_FOUND)  # and not a word about whose it is
        try:
            return self._found(*found, steps, path, headers) or _failure(HTTPStatus.NOT_FOUND)
        except OSError:  # a directory is there that cannot be read, or is a link
            return _failure(HTTPStatus.INTERNAL_SERVER_ERROR)

    def _found(
        self, name: str, rest: list[str], steps: list[str], path: str, headers: Headers
    ) -> HttpResponse | None:
        prefix = "/" + "/".join(steps[: len(steps) - len(rest)])
        return self._answer(name, rest, path.endswith("/"), prefix, headers)

    def _answer(
        self, name: str, steps: list[str], slash: bool, prefix: str, headers: Headers
    ) -> HttpResponse | None:
        accept = headers.get("Accept", "")
        if not steps:
            return _listing([f"{kind}/" for kind in KINDS], "", accept)
        if _is_metadata(steps) or _is_document(steps):
            return self._metadata(name, steps, prefix.rstrip("/"), accept)
        if steps[0] not in KINDS or len(steps) > 2:
            return None
        with self._directory(name, steps[0]) as folder:
            if folder is None:
                return None
            if len(steps) == 1:
                above = "" if slash else f"{steps[0]}/"
                return _listing(_names(folder), above, accept)
            return _value(folder, steps[0], steps[1], headers)

    def _metadata(
        self, name: str, steps: list[str], prefix: str, accept: str
    ) -> HttpResponse | None:
        """The metadata keys machinefeatures and jobfeatures, which hold the directories' URLs."""
        places = {kind: f"{self.url}{prefix}/{kind}" for kind in KINDS}
        if _is_document(steps):
            meta = {**places, **dict(self._values(name))}
            body = json.dumps({"meta": meta}, indent=2)
            return _text(body, "application/json", {"Cache-Control": _FRESH})
        if len(steps) == 2:
            return _text("".join(f"{kind}\n" for kind in KINDS), "text/plain")
        if len(steps) == 3 and steps[2] in places:
            return _text(places[steps[2]], "text/plain", {"Cache-Control": _STATIC})
        return None

    def _values(self, name: str) -> Iterator[tuple[str, str]]:
        """Every value, as images at CERN look for them: ``mjf@machinefeatures@KEY``."""
        for kind in KINDS:
            with self._directory(name, kind) as folder:
                if folder is None:
                    continue
                for key in _names(folder):
                    try:
                        text = files.content(folder, key).decode().strip()
                    except (OSError, ValueError):  # it has gone, or is none
                        continue
                    yield f"mjf@{kind}@{key}", text

    def _directory(self, name: str, kind: str) -> _OpenDirectory:
        """The directory of a kind: one's own, or else, for machines, that of everybody."""
        places = [f"{self.root}/{name}/{kind}"] if _NAME.fullmatch(name) else []
        if kind == "machinefeatures":
            places.append(f"{self.root}/{kind}")
        for place in places:
            try:
                return _OpenDirectory(os.open(place, _DIRECTORY))
            except FileNotFoundError:
                continue
        return _OpenDirectory(None)


class _OpenDirectory:
    """A descriptor of a directory, or None, for as long as it is used."""

    __slots__ = ("handle",)

    def __init__(self, handle: int | None) -> None:
        self.handle = handle

    def __enter__(self) -> int | None:
        return self.handle

    def __exit__(self, *error: object) -> None:
        if self.handle is not None:
            os.close(self.handle)


def _is_metadata(steps: list[str]) -> bool:
    return len(steps) > 1 and steps[1] == "meta-data" and bool(_VERSION.fullmatch(steps[0]))


def _is_document(steps: list[str]) -> bool:
    is_one = len(steps) == 3 and (steps[0], steps[2]) == ("openstack", "meta_data.json")
    return is_one and bool(_VERSION.fullmatch(steps[1]))


def _value(folder: int, kind: str, name: str, headers: Headers) -> HttpResponse | None:
    """One key, unless who asks has it already."""
    if not keys.is_name(name):
        return None
    row = keys.key(name, KINDS[kind])
    try:
        octets, status = files.held(folder, name)
    except FileNotFoundError:
        is_known = all(
            row is None or each not in (row.v2014, row.v2016) for each in files.unlearned(folder)
        )
        return None if is_known else _failure(HTTPStatus.INTERNAL_SERVER_ERROR)
    except (OSError, ValueError):  # a link that leads out, too large, or no file: not "no limit"
        return _failure(HTTPStatus.INTERNAL_SERVER_ERROR)
    tag = f'W/"{status.st_mtime_ns:x}-{status.st_size:x}"'
    told = {
        "ETag": tag,
        "Last-Modified": _date(int(status.st_mtime)),
        "Cache-Control": _STATIC if row is not None and not row.dynamic else _FRESH,
    }
    known = [each.strip() for each in headers.get("If-None-Match", "").split(",")]
    if tag in known or "*" in known:
        return HttpResponse(HTTPStatus.NOT_MODIFIED, headers=told)
    return HttpResponse(
        HTTPStatus.OK, octets, {"Content-Type": "text/plain; charset=utf-8", **told}
    )


def _names(folder: int) -> list[str]:
    return sorted(name for name in os.listdir(folder)[: files.MOST] if keys.is_found(name))


def _listing(names: Iterable[str], above: str, accept: str) -> HttpResponse:
    """A list of names: JSON for those who ask for it, else links. ``above`` stands before each."""
    headers = {"Cache-Control": _FRESH, "Vary": "Accept"}
    if "application/json" in accept:
        return _text(json.dumps([name.rstrip("/") for name in names]), "application/json", headers)
    item = '<li><a href="{place}">{name}</a></li>\n'
    items = Markup.joined(Markup.of(item, place=above + name, name=name) for name in names)
    page = "<!DOCTYPE html>\n<title>Machine/Job Features</title>\n<ul>\n{items}</ul>\n"
    return _page(Markup.of(page, items=items), headers)


def _page(body: Markup, headers: Mapping[str, str]) -> HttpResponse:
    return _text(body, "text/html", headers)


def _text(body: str, kind: str, headers: Mapping[str, str] | None = None) -> HttpResponse:
    told = {"Content-Type": f"{kind}; charset=utf-8", **(headers or {})}
    return HttpResponse(HTTPStatus.OK, body.encode(), told)


def _failure(status: HTTPStatus, headers: Mapping[str, str] | None = None) -> HttpResponse:
    told = {"Content-Type": "text/plain; charset=utf-8", **(headers or {})}
    return HttpResponse(status, f"{status.value} {status.phrase}\n".encode(), told)
