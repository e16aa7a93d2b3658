"""Stores and ledgers, told apart from other files without loading what they need."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from sssjob.database_files import database, first_bytes

POSTGRESQL = ("postgresql://", "postgres://")
SQLITE = "sqlite:"
OBJECTS = "s3://"  # with which the address of a ledger in an object store begins

MANIFESTS = "manifests"  # the directory in a ledger that has its manifests
LEDGER = "sssjob ledger"  # what the first line of each manifest says

_DIGITS = 8  # of the number of a manifest
_HEAD = 64  # bytes that say what it is of


def is_store(target: str) -> bool:
    """Whether a text names a store by its scheme, or is a file that SQLite has written.

    A database of another program is one, too: who opens it as a store is told what it is, by
    whichever command. A file that cannot be read is taken for none: whoever reads it says why it
    cannot be.
    """
    if target.startswith((*POSTGRESQL, SQLITE)):
        return True
    path = Path(target)
    try:
        if not path.is_file():  # a pipe would lose what is read of it here
            return False
        return bool(database(first_bytes(path)))
    except OSError:
        return False


def is_host(name: str) -> bool:
    """Whether a resolver can be asked for a name: each of its labels has 1 to 63 letters.

    >>> is_host("gold.example.org"), is_host("gold..example.org")
    (True, False)
    """
    try:
        return bool(name) and "\0" not in name and bool(name.encode("idna"))
    except UnicodeError:
        return False


def is_url(text: str) -> bool:
    """Whether a text is the URL of a page: of HTTP, and of a host that a resolver can be asked for.

    >>> is_url("https://jobs.example.org/"), is_url("https://jobs..example.org/")
    (True, False)
    """
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and is_host(parts.hostname or "")
    except ValueError:
        return False


def is_object(target: str) -> bool:
    """Whether a text is an address in an object store, where only ledgers are looked for."""
    return target.startswith(OBJECTS)


def is_ledger(path: Path) -> bool:
    """Whether a directory is a ledger: it has a manifest of one.

    What cannot be read is taken for none: whoever reads it says why it cannot be.
    """
    try:
        with os.scandir(path / MANIFESTS) as entries:
            found = next((each.path for each in entries if number_of(each.name) is not None), None)
        if found is None:
            return False
        with open(found, "rb") as stream:
            return LEDGER.encode() in stream.read(_HEAD)
    except OSError:
        return False


def manifest_name(number: int) -> str:
    """What the manifest of a number is called."""
    return f"{number:0{_DIGITS}}.json"


def number_of(name: str) -> int | None:
    """The number of the manifest that has a name; None where it is no manifest.

    >>> number_of("00000012.json")
    12
    """
    digits, _, rest = name.partition(".")
    is_manifest = rest == "json" and len(digits) == _DIGITS and digits.isdecimal()
    return int(digits) if is_manifest else None
