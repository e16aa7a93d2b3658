"""Whether the bytes of a file are those that were written, asked by whoever is about to read it.

Strategy. A flipped bit in Parquet is another number more often than an error: neither DuckDB nor
Arrow looks at the bytes before it takes them, and what a page has of its own is no sum of headers
and footers. So a report would be wrong in silence.

The idea is that nothing is read before all bytes of the file were compared. A file of rows has a
CRC-32 in the manifest for this, which costs a few percent of the CPU time of a report, while the
digest costs four times as much; ``check`` compares digests. What is small or seldom read (lists of
replaced rows, texts of records, rollups) is compared by its digest.

Why it is right: a CRC of 32 bits differs where any one bit, or any 32 bits in a row, were changed.
Nothing is remembered of what was compared, so it does not matter what was changed, when, or what
the time of the file says. In an object store, files of rows are not compared: the whole of them
would be fetched for a few columns, and it is the store that compares what it has. # decision 610
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from hashlib import blake2b, file_digest
from zlib import crc32

from sssjob.errors import DamagedStore
from sssjob.ledger import places
from sssjob.ledger.manifest import DataFile, Gone, RecordedLog
from sssjob.ledger.places import ObjectPath, Place

digest_of = partial(blake2b, digest_size=16)  # of the bytes of a file
CHANGED = "is not what was written"
_BLOCK = 1 << 18  # bytes that are read at once


def fault(home: Place, file: DataFile) -> DamagedStore | None:
    """What is wrong with a file of rows that is about to be read; None where nothing is."""
    if isinstance(home, ObjectPath):
        return None
    path = home / file.path
    try:
        is_whole = digest(path) == file.digest if file.crc is None else _crc(path) == file.crc
    except OSError as error:
        return DamagedStore(str(path), f"{error.strerror or error}; {left_out(file)}")
    return None if is_whole else DamagedStore(str(path), f"{CHANGED}; {left_out(file)}")


def whole(home: Place, files: Iterable[DataFile]) -> tuple[list[DataFile], list[DamagedStore]]:
    """The files of rows that may be read, and what is wrong with others."""
    found, faults = [], []
    for file in files:
        wrong = fault(home, file)
        if wrong is None:
            found.append(file)
        else:
            faults.append(wrong)
    return found, faults


def refuse(home: Place, files: Iterable[DataFile]) -> None:
    """Raise ``DamagedStore`` for the first of some files of rows that may not be read."""
    for file in files:
        if (wrong := fault(home, file)) is not None:
            raise wrong


def data_of(home: Place, file: Gone | RecordedLog) -> bytes:
    """All bytes of a file. Raises ``DamagedStore`` where they are not those that were written."""
    path = home / file.path
    try:
        with places.stream(path) as stream:
            data = stream.read()
    except OSError as error:
        raise DamagedStore(str(path), f"cannot be read: {error}") from None
    if digest_of(data).hexdigest() != file.digest:
        raise DamagedStore(str(path), CHANGED)
    return data


def digest_of_bytes(data: bytes | memoryview) -> str:
    """The digest of what a file holds."""
    return digest_of(data).hexdigest()


def digest(path: Place) -> str:
    """The digest of a file. Raises ``OSError``."""
    with places.stream(path) as stream:
        return file_digest(stream, digest_of).hexdigest()


def left_out(file: DataFile) -> str:
    """How many rows of a file do not count in an answer without it."""
    rows = file.rows - file.gone
    return f"{rows} {'row' if rows == 1 else 'rows'} of it left out"


def _crc(path: Place) -> int:
    found = 0
    buffer = memoryview(bytearray(_BLOCK))
    with places.stream(path) as stream:
        while size := stream.readinto(buffer):
            found = crc32(buffer[:size], found)
    return found
