"""A directory of features as others left it: whatever is wrong with one key spares the rest."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice

from sssjob.errors import Finding, InvalidValue, finding
from sssjob.features import keys
from sssjob.features.keys import Key, Value

LONGEST = 4096  # bytes of one value
MOST = 10_000  # files looked at in one directory

_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_SECTION = "MJF 2016"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a directory said: a value for each key that is there, and what could not be read.

    A key that is absent is not known, not applicable, or no limit; it is never zero.
    """

    values: Mapping[str, Value] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def read(directory: str | os.PathLike[str], table: Iterable[Key] = keys.JOB_FEATURES) -> Reading:
    """Read the keys of one local directory by a table of keys; unknown keys are text.

    Reads through no symbolic link that leaves the directory, and opens regular files only.
    Raises ``OSError`` if the directory itself cannot be read.
    """
    rows = tuple(table)
    findings: list[Finding] = []
    values: dict[str, Value] = {}
    folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in _names(folder, findings):
            path = os.path.join(os.fspath(directory), name)
            try:
                text = _text(folder, name)
                if text:
                    values[name] = keys.parse(text, keys.key(name, rows), name)
            except (InvalidValue, OSError) as error:
                reason = error.strerror if isinstance(error, OSError) else str(error)
                findings.append(_unread(name, path, reason or str(error)))
    finally:
        os.close(folder)
    findings += _stale(values, os.fspath(directory))
    return Reading(values, tuple(findings))


def modern(reading: Reading) -> Reading:
    """The same reading in the vocabulary of 2016; what only the 2014 text has keeps its name.

    Where both names stand there the newer one counts, and a difference beyond rounding is
    reported.
    """
    values: dict[str, Value] = {}
    findings = list(reading.findings)
    for name, value in reading.values.items():
        new, converted = keys.modern(name, value)
        twin = reading.values.get(new) if new != name else None
        if twin is None:
            values[new] = converted
        elif _apart(twin, converted, keys.key(name, keys.JOB_FEATURES)):
            findings.append(
                finding(
                    "W-DISAGREE",
                    f"{name} {keys.spell(value)} is not {new} {keys.spell(twin)}, which counts",
                    section=_SECTION,
                )
            )
    return Reading(values, tuple(findings))


def _apart(newer: Value, older: Value, row: Key | None) -> bool:
    """Whether two spellings of one amount differ by a whole unit of the coarser one."""
    if isinstance(newer, str) or isinstance(older, str):
        return newer != older
    return abs(Fraction(newer) - Fraction(older)) >= (row.scale if row else 1)


def _names(folder: int, findings: list[Finding]) -> list[str]:
    """The names that can be keys: README and hidden files are none."""
    with os.scandir(folder) as entries:
        found = [entry.name for entry in islice(entries, MOST + 1)]
    if len(found) > MOST:
        findings.append(
            finding("E-LIMIT", f"more than {MOST} files in the directory; the rest is not read")
        )
    return sorted(name for name in found[:MOST] if keys.is_name(name))


def _text(folder: int, name: str) -> str:
    """The text of one key, stripped. Raises ``InvalidValue`` or ``OSError``."""
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        name = os.readlink(name, dir_fd=folder)
        if "/" in name or name in ("", ".", ".."):
            raise InvalidValue(name, "a link that stays in the directory")
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode):
        raise InvalidValue(name, "a regular file")
    # Between stat and open the name may become something else: O_NONBLOCK and O_NOFOLLOW.
    with open(os.open(name, _OPEN, dir_fd=folder), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise InvalidValue(name, "a regular file")
        content = file.read(LONGEST + 1)
    if len(content) > LONGEST:
        raise InvalidValue(name, f"a value of at most {LONGEST} bytes")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InvalidValue(name, f"UTF-8: byte {error.start + 1} is not") from None
    if "\0" in text:
        raise InvalidValue(name, "text: it holds a NUL")
    return text.strip()


def _unread(name: str, path: str, reason: str) -> Finding:
    return finding("E-TYPE", f"{name} is not read: {reason}", file=path, section=_SECTION)


def _stale(values: dict[str, Value], directory: str) -> Iterator[Finding]:
    """Drop shutdown times that cannot be meant: before 2001, or before the job started."""
    start = values.get("jobstart_secs", 0)
    for name in ("shutdowntime", "shutdowntime_job"):
        moment = values.get(name)
        if not isinstance(moment, int) or not isinstance(start, int):
            continue
        if moment < max(keys.EARLIEST, start):
            del values[name]
            yield finding(
                "W-RANGE",
                f"{name} {moment} is stale and ignored: it lies before "
                + ("2001" if moment < keys.EARLIEST else f"the start of the job, {start}"),
                file=os.path.join(directory, name),
                section=_SECTION,
            )
