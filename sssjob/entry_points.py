"""Whether any distribution may declare entry points of a group, found out fast.

``importlib.metadata`` takes longer to import than most commands take, and payloads ask this too:
nothing here that is slow to import.
"""

from __future__ import annotations

import os
import sys

_MOST = 64  # directories whose files are remembered: a process asks for several groups
_CHUNK = 1 << 16  # bytes
_declared: dict[tuple[str, tuple[str, ...]], bytes | None] = {}


def may_be_declared(group: str) -> bool:
    """Whether the files of some distribution may have such a group, or cannot be looked at."""
    section = f"[{group}]".encode()
    if any(hasattr(each, "find_distributions") and not _is_usual(each) for each in sys.meta_path):
        return True
    return any(_may_have(section, folder) for folder in sys.path)


def _is_usual(finder: object) -> bool:
    """Whether it finds what stands in the directories of ``sys.path``, and nothing else."""
    return getattr(finder, "__name__", "") == "PathFinder"


def _may_have(section: bytes, folder: str) -> bool:
    """The same of the distributions in a directory, where modules are looked for."""
    try:
        names = os.listdir(folder or ".")
    except FileNotFoundError:
        return False
    except OSError:  # such as an archive
        return True
    if any(name.lower().endswith((".egg", ".zip")) for name in names):
        return True
    distributions = tuple(each for each in names if each.endswith((".dist-info", ".egg-info")))
    declared = _read(os.path.abspath(folder), distributions)
    return declared is None or section in declared


def _read(folder: str, distributions: tuple[str, ...]) -> bytes | None:
    """What these declare as entry points, without blanks; None if one cannot be read."""
    key = folder, distributions
    if key not in _declared:
        if len(_declared) >= _MOST:
            _declared.clear()
        _declared[key] = _texts(folder, distributions)
    return _declared[key]


def _texts(folder: str, distributions: tuple[str, ...]) -> bytes | None:
    found = []
    for name in distributions:
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
