"""Queue states that are kept: a directory of what ``sssjob lcginfo estimate --json`` printed.

Each file is the answers of one moment, which is when it was written. Only the newest are read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from heapq import nlargest
from pathlib import Path
from typing import Any, NamedTuple

from sssjob import json_text
from sssjob.errors import InvalidValue
from sssjob.lcginfo.answers import ROW, QueueAnswer

ENDING = ".json"
NEWEST = 100  # files that are read
FILES = 100_000  # of a directory that are looked at
SIZE_LIMIT = 1 << 20  # bytes of a file
_LARGEST = 1 << 53  # of a number
_NAMES = ("queue", "vo")
_MAY_LACK = ("free", "ert", "wrt")


class KeptAnswers(NamedTuple):
    """The answers of one moment, in seconds since 1970."""

    at: int
    rows: tuple[QueueAnswer, ...]


class BadFile(NamedTuple):
    """A file that cannot be read, by its name, and why."""

    name: str
    why: str


def read(directory: Path) -> tuple[list[KeptAnswers], list[BadFile]]:
    """What is kept in a directory, the newest first, and the files that cannot be read.

    A file or directory that is not there has nothing.
    """
    kept, bad = [], []
    for at, name in nlargest(NEWEST, _files(directory)):
        try:
            kept.append(KeptAnswers(at, _rows(_content(directory / name))))
        except FileNotFoundError:
            continue  # it was removed just now
        except OSError as error:
            bad.append(BadFile(name, error.strerror or "it cannot be read"))
        except ValueError as error:
            bad.append(BadFile(name, str(error)))
    return kept, bad


def _files(directory: Path) -> Iterator[tuple[int, str]]:
    """When each file was written, and its name; a name that begins with a dot is not looked at."""
    try:
        entries = os.scandir(directory)
    except OSError:
        return
    with entries:
        for _, entry in zip(range(FILES), entries, strict=False):
            if not entry.name.endswith(ENDING) or entry.name.startswith("."):
                continue
            try:
                found = entry.stat()
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode):
                yield int(found.st_mtime), entry.name


def _content(path: Path) -> bytes:
    with path.open("rb") as stream:
        data = stream.read(SIZE_LIMIT + 1)
    if len(data) > SIZE_LIMIT:
        raise InvalidValue(path.name, f"a file of at most {SIZE_LIMIT} bytes")
    return data


def _rows(data: bytes) -> tuple[QueueAnswer, ...]:
    """The rows of a file. Raises ``ValueError``."""
    told = json_text.kept(data)
    if not isinstance(told, list):
        raise InvalidValue(str(told)[:40], "a list of rows, as lcginfo estimate --json prints it")
    return tuple(map(_row, told))


def _row(told: Any) -> QueueAnswer:
    if not isinstance(told, dict):
        raise InvalidValue(str(told)[:40], "a row with a queue, a VO and numbers")
    for name in ROW:
        value = told.get(name)
        is_name = name in _NAMES and type(value) is str
        is_number = name not in _NAMES and type(value) is int and 0 <= value <= _LARGEST
        if not (is_name or is_number or (name in _MAY_LACK and value is None)):
            expected = "a text" if name in _NAMES else "a whole number, 0 or more"
            raise InvalidValue(str(value)[:40], f"{expected}, for {name}")
    values: dict[str, Any] = {name: told.get(name) for name in ROW}
    return QueueAnswer(**values)
