"""Whether any distribution may declare entry points of a group, found out fast.

``importlib.metadata`` takes longer to import than most commands take, and payloads ask this too:
nothing here that is slow to import.
"""

from __future__ import annotations

import os
import sys
import time

_MOST = 64  # directories whose files are remembered: a process asks for several groups
_CHUNK = 1 << 16  # bytes
_SETTLED = 2_000_000_000  # nanoseconds: the coarsest time that a file system keeps of a change
_OF_THE_BACKPORT = "importlib_metadata", "MetadataPathFinder"
_listed: dict[str, tuple[tuple[int, int, int], tuple[str, ...]]] = {}
_declared: dict[tuple[str, tuple[str, ...]], bytes | None] = {}


def may_be_declared(group: str) -> bool:
    """Whether the files of some distribution may have such a group, or cannot be looked at."""
    section = f"[{group}]".encode()
    if any(hasattr(each, "find_distributions") and not _is_usual(each) for each in sys.meta_path):
        return True
    return any(_may_have(section, folder) for folder in sys.path)


def _is_usual(finder: object) -> bool:
    """Whether it finds what stands in the directories of ``sys.path``, and nothing else.

    Where an application imports importlib_metadata, its finder takes the place of the other one.
    """
    kind = type(finder)
    return (
        getattr(finder, "__name__", "") == "PathFinder"
        or (kind.__module__, kind.__name__) == _OF_THE_BACKPORT
    )


def _may_have(section: bytes, folder: str) -> bool:
    """The same of the distributions in a directory, where modules are looked for."""
    try:
        names = _names(folder or ".")
    except FileNotFoundError:
        return False
    except OSError:  # such as an archive
        return True
    declared = _read(os.path.abspath(folder), names)
    return declared is None or section in declared


def _names(folder: str) -> tuple[str, ...]:
    """What is in a directory: it is listed again when it changed, for a question may be per job."""
    status = os.stat(folder)
    stamp = status.st_dev, status.st_ino, status.st_mtime_ns
    known = _listed.get(folder)
    if known is not None and known[0] == stamp:
        return known[1]
    names = tuple(os.listdir(folder))
    # Another change soon after the last one may leave the same time.
    if time.time_ns() - status.st_mtime_ns > _SETTLED:
        if len(_listed) >= _MOST:
            _listed.clear()
        _listed[folder] = stamp, names
    return names


def _read(folder: str, names: tuple[str, ...]) -> bytes | None:
    """What distributions declare in a folder of these names; None if that cannot be known."""
    key = folder, names
    if key not in _declared:
        if len(_declared) >= _MOST:
            _declared.clear()
        _declared[key] = _texts(folder, names)
    return _declared[key]


def _texts(folder: str, names: tuple[str, ...]) -> bytes | None:
    """The entry points, without blanks."""
    found = []
    for name in names:
        if name.lower().endswith((".egg", ".zip")):  # has distributions inside
            return None
        if not name.endswith((".dist-info", ".egg-info")):
            continue
        try:
            found.append(_whole(f"{folder}/{name}/entry_points.txt").replace(b" ", b""))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return None
    return b"\n".join(found)


def _whole(path: str) -> bytes:
    """A file, by three calls of the system: there are hundreds of them."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(descriptor, _CHUNK):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)
