"""The texts that records were read from, kept beside the rows: nothing of a record is lost.

Strategy. A row has what reports add up. Whoever doubts it wants the record, with its steps and all
columns, years later. To cut each record out while it is read would cost each format a second way.

The idea is to keep the whole text that was read, compressed, as a file of Parquet: blocks of whole
lines, each with the number of its first line. A row says the name of its text and the line of its
record. The text is read again by the same reader, with all that stands above the record; the record
is what made the same row.

Why it is right: names of files come again (a log of each night has the same one), but a row that is
the same, from the same line, tells the text. # decision 513
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from sssjob.ledger import damage, places

if TYPE_CHECKING:
    from sssjob.ledger.manifest import RecordedLog
    from sssjob.ledger.places import Place

FOLDER = "records"
BLOCK = 1 << 20  # bytes of a block, and of a row group: what is read for a record
PIECE = 1 << 27  # bytes of text in a file
_SCHEMA = pa.schema([pa.field("line", pa.int64()), pa.field("text", pa.binary())])


class KeptText(NamedTuple):
    """A text that was kept: the files that it is in, in their order."""

    name: str
    how: str
    files: Sequence[RecordedLog]


def pieces(stream: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """A text as files of Parquet, and how many lines each has."""
    line, rest, is_last = 1, b"", False
    while not is_last:
        kept, first, size = BytesIO(), line, 0
        with pq.ParquetWriter(
            kept, _SCHEMA, compression="zstd", compression_level=3, use_dictionary=False
        ) as writer:
            while size < PIECE:
                read = stream.read(BLOCK)
                head, newline, tail = (rest + read).rpartition(b"\n")
                block, rest = (head + newline, tail) if read else (rest, b"")
                if block:
                    table = pa.table([[line], [block]], schema=_SCHEMA)
                    writer.write_table(table)
                    size += len(block)
                    line += block.count(b"\n") + (not block.endswith(b"\n"))
                if not read:
                    is_last = True
                    break
        if size:
            yield kept.getvalue(), line - first


def texts(logs: Sequence[RecordedLog], name: str) -> list[KeptText]:
    """The texts of a name, the newest first."""
    some = [each for each in logs if each.name == name]
    found = [
        KeptText(name, how, [*files])
        for (_, how), files in groupby(some, lambda each: (each.input, each.how))
    ]
    return found[::-1]


def lines(
    home: Place, text: KeptText, first: int = 1, behind: int | None = None
) -> Iterator[bytes]:
    """The lines of a text from one on, and before another one; only their blocks are read.

    Raises ``DamagedStore``.
    """
    for block_first, block in _blocks(home, text, first, behind):
        for number, line in enumerate(BytesIO(block), block_first):
            if number >= first and (behind is None or number < behind):
                yield line


def whole(home: Place, text: KeptText) -> Iterator[bytes]:
    """All of a text, in blocks."""
    return (block for _, block in _blocks(home, text, 1, None))


def _blocks(
    home: Place, text: KeptText, first: int, behind: int | None
) -> Iterator[tuple[int, bytes]]:
    for log in text.files:
        with places.parquet(damage.data_of(home, log)) as file:
            firsts = [
                file.metadata.row_group(group).column(0).statistics.min
                for group in range(file.num_row_groups)
            ]
            for group, line in enumerate(firsts):
                following = firsts[group + 1] if group + 1 < len(firsts) else None
                if following is not None and following <= first:
                    continue
                if behind is not None and line >= behind:
                    return
                (block,) = file.read_row_group(group, ["text"], use_threads=False)[
                    "text"
                ].to_pylist()
                yield line, block
