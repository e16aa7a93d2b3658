"""Addresses of stores, told apart from files without loading what a store needs."""

from __future__ import annotations

from pathlib import Path

POSTGRESQL = ("postgresql://", "postgres://")
SQLITE = "sqlite:"

MAGIC = b"SQLite format 3\0"  # with which a file of SQLite begins
APPLICATION = 0x53535342  # what its head says where it is a store


def is_store(target: str) -> bool:
    """Whether a text names a store by its scheme, or is a file that SQLite has written.

    A file that cannot be read is taken for none: whoever reads it says why it cannot be.
    """
    if target.startswith((*POSTGRESQL, SQLITE)):
        return True
    path = Path(target)
    try:
        if not path.is_file():  # a pipe would lose what is read of it here
            return False
        with path.open("rb") as stream:
            return stream.read(len(MAGIC)) == MAGIC
    except OSError:
        return False
