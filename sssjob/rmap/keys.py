"""Keys: whose they are, what they may sign with, and the files that hold them."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from sssjob.directory_handles import ROOT
from sssjob.errors import BadKeyFile
from sssjob.rmap.envelope import PASSWORD, SYMMETRIC

_LONGEST = 4096  # bytes of a key


class Algorithm(StrEnum):
    """How a Body is signed. HMAC-SHA256 is ours; every other peer knows HMAC-SHA1 only."""

    HMAC_SHA1 = "HMAC-SHA1"
    HMAC_SHA256 = "HMAC-SHA256"

    @property
    def hash(self) -> str:
        """Its hash, as hashlib calls it."""
        return "sha256" if self is Algorithm.HMAC_SHA256 else "sha1"


@dataclass(frozen=True, slots=True)
class Key:
    """A secret, and what a signature made with it may be. ``owner`` is "" if many share it."""

    secret: bytes = field(repr=False)
    algorithms: tuple[Algorithm, ...] = (Algorithm.HMAC_SHA1,)
    owner: str = ""


class Keys(Protocol):
    """Where keys are looked up."""

    def find(self, token: str, name: str, actor: str) -> Key | None:
        """The key that has to have signed for an actor; None if nothing can prove it."""


@dataclass(frozen=True, slots=True)
class Ring:
    """The keys of a gateway.

    Who has a key of their own is proven by that key only, all others by the ``shared`` one, if
    there is any. ``passwords`` are for tokens of type Password. ``revoked`` actors are proven by
    nothing.
    """

    shared: Key | None = None
    own: Mapping[str, Key] = field(default_factory=lambda: MappingProxyType({}))
    passwords: Mapping[str, Key] = field(default_factory=lambda: MappingProxyType({}))
    revoked: frozenset[str] = frozenset()

    def find(self, token: str, name: str, actor: str) -> Key | None:
        """The key of an actor for a type of token. A token that names another is not theirs."""
        if actor in self.revoked or (name and name != actor):
            return None
        if token == PASSWORD:
            return self.passwords.get(actor) if name else None
        if token != SYMMETRIC:
            return None
        return self.own.get(actor, self.shared)


def read_key(path: str | os.PathLike[str]) -> bytes:
    """The first line of a key file, as it is, without its line break.

    Raises ``BadKeyFile`` for a file that anybody but its owner can read or write, that belongs
    to another user (root may own it), or that is empty or too long; ``OSError`` if it cannot be
    opened.
    """
    name = os.fspath(path)
    with Path(path).open("rb") as stream:
        about = os.fstat(stream.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise BadKeyFile(name, "not a regular file")
        if about.st_mode & 0o077:
            mode = stat.S_IMODE(about.st_mode)
            raise BadKeyFile(name, f"mode {mode:04o}, expected 0600: only its owner may read a key")
        if about.st_uid not in (os.geteuid(), ROOT):
            raise BadKeyFile(name, f"owned by user {about.st_uid}, expected {os.geteuid()} or root")
        line = stream.read(_LONGEST + 1).split(b"\n", 1)[0]
    if len(line) > _LONGEST:
        raise BadKeyFile(name, f"its first line has more than {_LONGEST} bytes, expected the key")
    line = line.removesuffix(b"\r")
    if not line:
        raise BadKeyFile(name, "its first line is empty, expected the key")
    return line
