"""Which rows of a file may have an id: a filter beside each large file of rows.

Strategy. One job of 10^8 is asked for by its id. Rows are sorted by their end, so each row group
may have any id, and to read all ids takes seconds.

The idea is a split-block Bloom filter, as Parquet has them, of the ids of each row group, with 16
bits an id. The filters of a file stand beside each other block by block, so one read of some
hundred bytes tells of all its row groups whether they may have an id. What may is read and
compared.

Why it is right: a filter never leaves out an id that was put in. Each block has a sum of its bytes;
where that is wrong, or the file is torn or not there, every row group may have the id. A file of
rows never changes, so neither does its filter. # decision 511
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from io import SEEK_END, BytesIO
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sssjob.errors import DamagedStore
from sssjob.ledger import damage, places
from sssjob.ledger.columns import ID
from sssjob.ledger.manifest import DataFile

if TYPE_CHECKING:
    from io import BufferedIOBase

    from sssjob.ledger.places import Place

FOLDER = "ids"
FEW = 20_000  # rows of a file whose ids are rather read
_HEAD = struct.Struct("<8sII")  # what it is, how many row groups, how many blocks of each
_KIND = b"sssids 1"
_BITS = 16  # for an id: of a thousand row groups that do not have it, one may
_BLOCK = 32  # bytes
_SUM = struct.Struct("<I")
# The odd numbers by which Parquet's filters choose a bit in each of the eight words of a block.
_SALTS = (
    0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31,
)  # fmt: skip
_FACTOR = 0x9E3779B97F4A7C15
_MIXED = ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53))
_WIDE = (1 << 64) - 1
_LONGEST = 256  # bytes of an id that are looked at


def _weights() -> list[int]:
    found = [_FACTOR]
    for _ in range(_LONGEST - 1):
        found.append(found[-1] * _FACTOR & _WIDE)
    return found


_WEIGHTS = _weights()


def _hash(text: str) -> int:
    """The number of an id; ``_hashes`` gives the same for many."""
    data = text.encode()
    total = len(data)
    for weight, byte in zip(_WEIGHTS, data, strict=False):
        total += weight * byte
    total &= _WIDE
    for shift, factor in _MIXED:
        total = (total ^ total >> shift) * factor & _WIDE
    return total ^ total >> 33


def _hashes(ids: pa.Array) -> Any:
    """The numbers of ids, those of null left out."""
    known = ids.drop_null()
    offsets = np.frombuffer(known.buffers()[1], np.int32)[known.offset :][: len(known) + 1]
    sizes = np.diff(offsets)
    data = known.buffers()[2]
    total = sizes.astype(np.uint64)
    if data is None or not len(known):
        return total
    raw = np.frombuffer(data, np.uint8)
    for place in range(min(int(sizes.max()), _LONGEST)):
        has = np.flatnonzero(sizes > place)
        some = raw[offsets[has] + place].astype(np.uint64)
        total[has] += some * np.uint64(_WEIGHTS[place])
    for shift, factor in _MIXED:
        total = (total ^ total >> np.uint64(shift)) * np.uint64(factor)
    return total ^ total >> np.uint64(33)


def made(ids: pa.ChunkedArray, group: int) -> bytes:
    """The filters of a file whose row groups have so many rows."""
    whole = ids.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # of no chunk
        whole = pa.array([], pa.string())
    blocks = max(1, -(-min(group, len(whole)) * _BITS // (8 * _BLOCK)))
    groups = max(1, -(-len(whole) // group))
    bits = np.zeros((blocks, groups, 8), np.uint32)
    for number in range(groups):
        found = _hashes(whole.slice(number * group, group))
        block = ((found >> np.uint64(32)) * np.uint64(blocks)) >> np.uint64(32)
        low = found.astype(np.uint32)
        for word, salt in enumerate(_SALTS):
            mask = np.uint32(1) << ((low * np.uint32(salt)) >> np.uint32(27))
            np.bitwise_or.at(bits, (block.astype(np.int64), number, word), mask)
    stream = BytesIO()
    stream.write(_HEAD.pack(_KIND, groups, blocks))
    for each in bits:
        data = each.tobytes()
        stream.write(data)
        stream.write(_SUM.pack(crc32(data)))
    return stream.getvalue()


def path_of(file: DataFile) -> str:
    """Where in the ledger the filters of a file are, if it has some."""
    return f"{FOLDER}/{file.name.removesuffix('.parquet')}.ids"


def remake(home: Place, file: DataFile) -> None:
    """Write the filters of a file by what it holds.

    Raises ``OSError``, and ``DamagedStore``: a filter of other bytes would hide runs.
    """
    damage.refuse(home, [file])
    with places.parquet(home / file.path) as found:
        group = found.metadata.row_group(0).num_rows
        told = found.read([ID], use_threads=False)[ID]
    places.put(home / path_of(file), made(told, group), durable=False)


def rows(
    home: Place, files: Iterable[DataFile], wanted: Sequence[str]
) -> Iterator[tuple[DataFile, int]]:
    """The files and the numbers of the rows that have one of these ids.

    Raises ``DamagedStore`` for a file that cannot be read.
    """
    for file in files:
        known = groups(home, file, wanted)
        if known is not None and not known:
            continue
        damage.refuse(home, [file])
        try:
            yield from ((file, number) for number in _numbers(home / file.path, known, wanted))
        except (OSError, pa.ArrowException) as error:
            raise DamagedStore(str(home / file.path), f"cannot be read: {error}") from None


def _numbers(path: Place, known: Sequence[int] | None, wanted: Sequence[str]) -> Iterator[int]:
    asked = pa.array(wanted, pa.string())
    with places.parquet(path) as file:
        first = 0
        for group in range(file.num_row_groups):
            if known is None or group in known:
                found = pc.is_in(file.read_row_group(group, [ID], use_threads=False)[ID], asked)
                for number in pc.indices_nonzero(found).to_pylist():
                    yield first + number
            first += file.metadata.row_group(group).num_rows


def groups(home: Place, file: DataFile, wanted: Sequence[str]) -> Sequence[int] | None:
    """The row groups that may have one of these ids; None where each may."""
    if file.rows < FEW:
        return None
    try:
        with places.stream(home / path_of(file)) as stream:
            return _may(stream, wanted)
    except OSError:
        return None


def _may(stream: BufferedIOBase, wanted: Sequence[str]) -> Sequence[int] | None:
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    kind, count, blocks = _HEAD.unpack(head)
    if kind != _KIND:
        return None
    size = count * _BLOCK
    if stream.seek(0, SEEK_END) != _HEAD.size + blocks * (size + _SUM.size):
        return None  # the head has no sum, but says how long it all is
    found: set[int] = set()
    for each in wanted:
        number = _hash(each)
        low = number & 0xFFFFFFFF
        masks = [1 << ((low * salt & 0xFFFFFFFF) >> 27) for salt in _SALTS]
        stream.seek(_HEAD.size + ((number >> 32) * blocks >> 32) * (size + _SUM.size))
        data = stream.read(size + _SUM.size)
        if len(data) < size + _SUM.size or _SUM.unpack(data[size:]) != (crc32(data[:size]),):
            return None
        words = struct.unpack(f"<{8 * count}I", data[:size])
        found.update(
            group
            for group in range(count)
            if all(words[8 * group + at] & mask for at, mask in enumerate(masks))
        )
    return sorted(found)


def is_damaged(home: Place, file: DataFile) -> bool:
    """Whether a file has filters that are not whole."""
    try:
        with places.stream(home / path_of(file)) as stream:
            data = stream.read()
    except FileNotFoundError:
        return False
    except OSError:
        return True
    if len(data) < _HEAD.size or data[:8] != _KIND:
        return True
    _, count, blocks = _HEAD.unpack(data[: _HEAD.size])
    size = count * _BLOCK
    if len(data) != _HEAD.size + blocks * (size + _SUM.size):
        return True
    parts = range(_HEAD.size, len(data), size + _SUM.size)
    return any(_SUM.unpack_from(data, at + size) != (crc32(data[at : at + size]),) for at in parts)
