"""The documents in a directory, by their names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

_SUFFIXES = tuple(
    f".{name}{packed}" for name in ("xml", "sss") for packed in ("", ".gz", ".bz2", ".xz", ".zst")
)


def documents(
    path: Path,
    *,
    on_skipped: Callable[[Path], None] | None = None,
    on_error: Callable[[OSError], None] | None = None,
) -> Iterator[Path]:
    """A file itself; of a directory ``*.xml`` and ``*.sss``, compressed or not, sorted.

    Directories in it are entered, except through symbolic links. ``on_skipped`` is told of files
    with other names, ``on_error`` of directories that cannot be read.
    """
    if not path.is_dir():
        yield path
        return
    waiting = [str(path)]
    while waiting:  # no function in a function, as os.walk has: they may be nested without end
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            if on_error is not None:
                on_error(error)
            continue
        inner = []
        for entry in found:
            if entry.is_dir():
                inner += [] if entry.is_symlink() else [entry.path]
            elif entry.name.endswith(_SUFFIXES) and entry.is_file():
                yield Path(entry.path)
            elif on_skipped is not None:
                on_skipped(Path(entry.path))
        waiting += reversed(inner)
