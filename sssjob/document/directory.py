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
    for folder, inner, names in os.walk(path, onerror=on_error):
        inner.sort()
        for name in sorted(names):
            file = Path(folder, name)
            if name.endswith(_SUFFIXES) and file.is_file():
                yield file
            elif on_skipped is not None:
                on_skipped(file)
