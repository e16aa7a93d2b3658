"""A directory of features as others left it: whatever is wrong with one key spares the rest."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sssjob.errors import Finding, finding
from sssjob.features import files, keys, vocabulary
from sssjob.features.files import LONGEST, MOST, KeyFault
from sssjob.features.keys import Key, Value

__all__ = ["LONGEST", "MOST", "DirectoryValues", "modern", "read"]

_SECTION = "MJF 2016"


@dataclass(frozen=True, slots=True)
class DirectoryValues:
    """What a directory said: a value for each key that is there, and what could not be read.

    A key that is absent is not known, not applicable, or no limit; it is never zero. Keys in
    ``unknown`` may be there or not: a server did not say. Those in ``unread`` are there, and no
    value could be made of them. Those in ``unlearned`` whoever made the directory did not know.
    """

    values: Mapping[str, Value] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    unknown: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    unlearned: tuple[str, ...] = ()


def read(
    directory: str | os.PathLike[str], table: Iterable[Key] = keys.JOB_FEATURES,
    now: float | None = None,
) -> DirectoryValues:  # fmt: skip
    """Read the keys of one local directory by a table of keys, at ``now``; others are text.

    Reads through no symbolic link that leaves the directory, and opens regular files only.
    Raises ``OSError`` if the directory itself cannot be read.
    """
    texts, faults = files.texts(directory)
    return reading(os.fspath(directory), texts, faults, table, now=now)


def reading(
    place: str, texts: Mapping[str, str], faults: Iterable[KeyFault], table: Iterable[Key],
    unknown: Iterable[str] = (), now: float | None = None,
) -> DirectoryValues:  # fmt: skip
    """Texts by key and what is wrong with others as a reading of a directory or address."""
    values, wrong = vocabulary.typed(texts, table, now=now)
    all_faults = (*faults, *wrong)
    found = tuple(_finding(fault, place) for fault in all_faults)
    unread = tuple(fault.name for fault in all_faults if fault.is_unread)
    unlearned = tuple(fault.name for fault in all_faults if fault.is_unlearned)
    return DirectoryValues(values, found, tuple(unknown), unread, unlearned)


def modern(reading: DirectoryValues) -> DirectoryValues:
    """The same reading in the vocabulary of 2016; what only the 2014 text has keeps its name.

    Where both names stand there the newer one counts, and a difference beyond rounding is
    reported.
    """
    values, faults = vocabulary.modern(reading.values)
    findings = (*reading.findings, *(_finding(fault, "") for fault in faults))
    unread = tuple(name for name in reading.unread if vocabulary.made_of(name) not in values)
    return DirectoryValues(values, findings, reading.unknown, unread, reading.unlearned)


def _finding(fault: KeyFault, place: str) -> Finding:
    file = f"{place.rstrip('/')}/{fault.name}" if place and fault.name else ""
    return finding(fault.code, fault.message, file=file, section=_SECTION)
