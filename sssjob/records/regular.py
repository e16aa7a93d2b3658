"""Regular lines of a block, told by counting, as columns.

Strategy. Nearly every line of a log has the fields that its format says, and none of the trouble
that a reader of lines is written for: delimiters and line ends in texts, bytes of no encoding. To
take each of them apart, and every field by itself, costs more than all that is done with them.

The idea is to count. A physical line is regular that has exactly as many delimiters as a record,
and no control characters; what is not ASCII is UTF-8. numpy counts the delimiters of every line of
a block, and Arrow reads the regular ones into columns, of which each distinct text is held once.

Why it is right: a regular line has one way to be cut, which is the reader's own: at each delimiter.
A line end within a text makes two lines, and the first of them may be regular by itself; so what a
line means is not told here. The format decides which runs of regular lines are records, as it does
for single lines, and all others go to its reader. Tests hold both roads to the same. # decision 440

It needs numpy and pyarrow. Without them, and for input that is too small to be worth their import,
the readers of lines do it all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from sssjob.own_process import leave_pandas_out
from sssjob.records.texts import BulkColumn, Coded, Numbers, Plain, compact

_MAYBE_NONE = b"\xef\xbf"  # how those characters begin that none of a document is
LEAST = 64  # lines of a run that is worth its columns
CHUNK = 1 << 20  # bytes that are read at once


class Road:
    """Whether records go by columns here: from some bytes on, if there is what it takes.

    So many bytes are ``worth`` the import of the libraries that are ``needed``. One for a process,
    since its imports stay.
    """

    def __init__(self, worth: int, needed: Sequence[str]) -> None:
        self.worth = worth
        self._needed = needed
        self._seen = 0
        self._is_open: bool | None = None

    def is_open(self, size: int, whole: int = 0) -> bool:
        """Whether so many bytes of records, and those before, are worth it.

        ``whole``: how many bytes the stream has of which they are a part, as far as that is known.
        """
        if self._is_open is None:
            self._seen += size
            is_loaded = all(name in sys.modules for name in self._needed)
            if max(self._seen, whole) < self.worth and not is_loaded:
                return False
            self._is_open = all(find_spec(name) is not None for name in self._needed)
        return self._is_open

    def wide(self) -> int:
        """How many bytes are read at once; 0: as many as else."""
        return CHUNK if self._is_open else 0

    def open(self, *, is_open: bool = True) -> None:
        """Let lines go by columns from the first byte on, or never: for tests."""
        self._is_open = is_open

    def reset(self) -> None:
        """Let it depend on what is read again."""
        self._is_open = None


ROAD = Road(1 << 21, ("numpy", "pyarrow"))


class BlockLines:
    """The lines of a block, by where they begin and end."""

    def __init__(self, block: bytes) -> None:
        import numpy as np

        self.block = block
        self.bytes = np.frombuffer(block, np.uint8)
        self.ends = np.append(np.flatnonzero(self.bytes == 10), len(block))
        self.begins = np.concatenate(([0], self.ends[:-1] + 1))

    def __len__(self) -> int:
        return len(self.ends)

    def of(self, begin: int, end: int) -> bytes:
        """Some lines, as they stand in the block."""
        return self.block[self.begins[begin] : self.ends[end - 1]]


class Regular(NamedTuple):
    """The regular lines of a block: their numbers in it, and their fields as columns."""

    lines: BlockLines
    places: Numbers
    columns: Sequence[BulkColumn]

    def runs(self, fit: Numbers) -> Iterator[tuple[int, int, int]]:
        """Runs of lines that ``fit``: first line, first place in the columns, and how many."""
        import numpy as np

        chosen = np.flatnonzero(fit)
        if not len(chosen):
            return
        places = self.places[chosen]
        breaks = np.flatnonzero(np.diff(places) != 1) + 1
        begins = [0, *breaks.tolist()]
        ends = [*breaks.tolist(), len(chosen)]
        for begin, end in zip(begins, ends, strict=True):
            if end - begin >= LEAST:
                yield int(places[begin]), int(chosen[begin]), end - begin


def regular(block: bytes, delimiter: str, width: int, varied: set[int]) -> Regular | None:
    """The regular lines of a block of whole lines; None where there are too few.

    There are two fields at least, and the delimiter is one printable character of ASCII. ``varied``
    are the columns whose texts seldom repeated in the blocks before; others are put there.
    """
    import numpy as np

    lines = BlockLines(block)
    size, data = len(lines), lines.bytes
    found = np.flatnonzero(data == ord(delimiter))
    counts = np.diff(np.searchsorted(found, lines.ends), prepend=0)
    are_regular = counts == width - 1
    is_ascii = block.isascii()
    if not is_ascii or np.count_nonzero(data < 0x20) > size - 1 or b"\x7f" in block:
        beyond = (data >= 0x7F) if not is_ascii and not _is_text(block) else (data == 0x7F)
        odd = np.flatnonzero(beyond | ((data < 0x20) & (data != 10)))
        are_regular[np.searchsorted(lines.ends, odd)] = False
    places = np.flatnonzero(are_regular)
    if len(places) < LEAST:
        return None
    if len(places) < size:
        block = b"\n".join(_stretches(lines, places))
    return Regular(lines, places, _columns(block, delimiter, width, varied))


def _is_text(block: bytes) -> bool:
    """Whether bytes are UTF-8 that a document can hold: then the reader keeps each character."""
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return _MAYBE_NONE not in block


def _stretches(lines: BlockLines, places: Numbers) -> Iterator[bytes]:
    import numpy as np

    breaks = np.flatnonzero(np.diff(places) != 1) + 1
    for some in np.split(places, breaks):
        yield lines.of(int(some[0]), int(some[-1]) + 1)


def _columns(block: bytes, delimiter: str, width: int, varied: set[int]) -> list[BulkColumn]:
    """The fields of regular lines, column by column."""
    leave_pandas_out()
    import pyarrow as pa
    import pyarrow.csv as csv

    names = [str(at) for at in range(width)]
    kinds = [pa.dictionary(pa.int32(), pa.string())] * width
    for at in varied:
        kinds[at] = pa.string()
    table = csv.read_csv(
        pa.BufferReader(block),
        csv.ReadOptions(column_names=names, use_threads=False, block_size=len(block) + 1),
        csv.ParseOptions(
            delimiter=delimiter, quote_char=False, escape_char=False, newlines_in_values=False,
            ignore_empty_lines=False,
        ),
        csv.ConvertOptions(
            column_types=dict(zip(names, kinds, strict=True)), strings_can_be_null=False,
            check_utf8=False,
        ),
    )  # fmt: skip
    is_ascii = block.isascii()
    return [_column(each, at, varied, is_ascii) for at, each in enumerate(table.itercolumns())]


def _column(chunks: Any, at: int, varied: set[int], is_ascii: bool) -> BulkColumn:
    import pyarrow.compute as pc

    found = chunks.chunk(0) if chunks.num_chunks == 1 else chunks.combine_chunks()
    if at in varied:
        if is_ascii or pc.all(pc.string_is_ascii(found)).as_py():
            return Plain(found)
        found = found.dictionary_encode()
    elif len(found.dictionary) * 2 > len(found):
        varied.add(at)
        if is_ascii or pc.all(pc.string_is_ascii(found.dictionary)).as_py():
            return Plain(found.dictionary_decode())
    return Coded(found.dictionary.to_pylist(), found.indices.to_numpy())


def part(column: BulkColumn, begin: int, end: int) -> BulkColumn:
    """The texts of some records, one behind the other."""
    if not begin and end == len(column):
        return column
    if isinstance(column, Coded):
        return compact(column.values, column.codes[begin:end])
    assert isinstance(column, Plain)
    return Plain(column.array.slice(begin, end - begin))
