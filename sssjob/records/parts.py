"""A stream of records cut at record boundaries, and converted part by part, on several cores.

A part stands alone: what a reader would have known before it (the header of a table, the rows of
tasks whose job comes later) travels with it. So its conversion gives the bytes that it would have
given within the whole. # decision 104
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from pickle import PickleBuffer
from typing import Any, BinaryIO, NamedTuple, SupportsIndex, TypeVar

from sssjob.document.files import Span, looked_at
from sssjob.document.text import on_one_line
from sssjob.errors import UnusableInput
from sssjob.records import AUTO, FORMATS, find, recognition
from sssjob.records.builders import TEXTS, Builder
from sssjob.records.clock import Clock
from sssjob.records.cuts import Lines
from sssjob.records.cutting import Cutter, Part, StreamPlace
from sssjob.records.engine import Engine
from sssjob.records.folding import Folding, FoldingCutter
from sssjob.records.layout import Layout
from sssjob.records.recognition import checked
from sssjob.records.record import Bad, Converted, Counts, Noted, Options, Outcome
from sssjob.records.runs import Keys, ListedRuns, Met

P = TypeVar("P")
J = TypeVar("J")

SIZE = 1 << 19  # bytes of a part
LIMIT = 1 << 25  # bytes among which a boundary is looked for; then a line end has to do
LINE = 1 << 21  # bytes that are kept of a line that has none of these


def cutter(
    layout: Layout, options: Options, front: tuple[tuple[int, bytes], ...] = ()
) -> Cutter | None:
    """What cuts a stream of a format into parts that stand alone, if it can be cut."""
    if layout.cut.cutter is None:
        return None
    if not isinstance(layout.folding, Folding):
        return layout.cut.cutter(options, front)
    assert layout.reader is not None  # what is folded was read
    many = layout.cut.many if isinstance(layout.cut, Lines) else None
    return FoldingCutter(layout.folding, layout.reader(options, Clock()), options, front, many)


def _not_cut(format_: str) -> UnusableInput:
    others = (row for row in FORMATS.values() if row is not AUTO)
    known = ", ".join(row.name for row in others if cutter(row.load(), Options()))
    return UnusableInput(
        f"records of {format_} cannot be cut for several processes: a part would not stand alone; "
        f"those of {known} can"
    )


class Cutting:
    """The parts of a stream, in order; ``place`` is how far they go.

    ``format`` is what the records are: ``auto`` is looked up, and ``sign`` says by what. With
    ``held`` the stream may still grow: what may be the beginning of a record stays behind. Of a
    ``file`` that the stream reads, the parts say where they stand, and hold no bytes. Raises
    ``UnusableInput`` for records that cannot be cut.
    """

    def __init__(
        self, stream: BinaryIO, format_: str, options: Options,
        place: StreamPlace | None = None, *, held: bool = False, file: Span | None = None,
    ) -> None:  # fmt: skip
        self.place = place or StreamPlace()
        if self.place.columns:
            options = replace(options, columns=self.place.columns, delimiter=self.place.delimiter)
        self.format, self.sign = format_, ""
        if format_ == "auto":
            head, stream = looked_at(stream, recognition.HEAD)
            found = recognition.recognise(head)
            self.format, self.sign = found.format.name, str(found)
        layout: Layout = find(self.format).load()
        self._stream = stream if self.place.offset else checked(layout, stream)
        self._held, self._file = held, file
        cuts = cutter(layout, options, self.place.front)
        if cuts is None:
            raise _not_cut(self.format)
        self._cutter = cuts

    def __iter__(self) -> Iterator[Part]:
        data, over = b"", False
        while not over:
            more = self._stream.read(SIZE)
            over = not more
            data += more
            while data:
                final = over and not self._held
                part, size = self._cutter.cut(data, self.place.line, final=final)
                if not size and len(data) > LIMIT and (size := data.rfind(b"\n") + 1):
                    part, _ = self._cutter.cut(data[:size], self.place.line, final=True)
                if not size:
                    break
                start = self.place.offset
                self._advance(data[:size])
                if part is not None:
                    yield self._in_file(part, data[:size], start)
                data = data[size:]
                if not over:
                    break
            if len(data) > LIMIT:
                data = self._shortened(data)
        if not self._held:
            part, _ = self._cutter.cut(b"", self.place.line, final=True)
            if part is not None:  # what waited for something that did not come
                yield part

    def _in_file(self, part: Part, data: bytes, start: int) -> Part:
        """A part without its bytes, where they are those that the file has at a place."""
        if self._file is None or part.data != data:
            return part
        return replace(part, data=self._file._replace(start=start, size=len(data)))

    def _advance(self, data: bytes) -> None:
        options, front = self._cutter.options, self._cutter.front
        self.place = StreamPlace(
            self.place.offset + len(data), self.place.line + data.count(b"\n"),
            options.columns, options.delimiter, front,
        )  # fmt: skip

    def _shortened(self, data: bytes) -> bytes:
        """A line without an end, of which only so much is kept that it is known to be too long."""
        beyond = len(data) - LINE
        self._file = None  # what comes is no longer what stands at its place
        while more := self._stream.read(SIZE):
            head, newline, tail = more.partition(b"\n")
            beyond += len(head)
            if newline:
                data = data[:LINE] + newline + tail
                break
        else:
            data = data[:LINE]
        self.place = replace(self.place, offset=self.place.offset + beyond)
        return data


class Result(NamedTuple):
    """What a part became: its documents, one a line, its counts, and what there is to say.

    ``runs`` are those that it tells of, where they were only listed. From another process the
    documents come as a view of what was read, for they are long.
    """

    data: bytes | memoryview
    counts: Counts
    remarks: list[Bad | Noted]
    runs: Keys = ([], [])

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return Result, (PickleBuffer(self.data), self.counts, self.remarks, self.runs)


def outcomes(
    format_: str, part: Part, builder: Builder[P, J], met: Met | None = None
) -> Iterator[Outcome[J]]:
    """What becomes of each record of a part, with its line in the whole stream."""
    engine = _engine(format_, part.options, builder)
    yield from engine.outcomes(io.BytesIO(part.read()), part.line, part.front, met, part.settled)


@lru_cache(8)
def _engine(format_: str, options: Options, builder: Builder[Any, Any]) -> Engine[Any, Any]:
    """The engine that the parts of a file share: what was learnt of one serves the next."""
    return Engine(find(format_).load(), options, builder)


def convert(
    format_: str, part: Part, *, lines: bool = True, builder: Builder[str, str] = TEXTS,
    met: Met | None = None,
) -> Result:  # fmt: skip
    """Convert a part; with ``lines`` a line break within a text is a reference."""
    runs = met.runs if isinstance(met, ListedRuns) else ([], [])
    return result(outcomes(format_, part, builder, met), lines=lines)._replace(runs=runs)


def result(found: Iterable[Outcome[str]], *, lines: bool) -> Result:
    """Outcomes with texts of documents, as what a part became."""
    counts, remarks, texts = Counts(), [], []
    for outcome in counts.counting(found):
        if isinstance(outcome, Converted):
            texts.append(on_one_line(outcome.job) if lines else outcome.job)
        elif isinstance(outcome, (Bad, Noted)):
            remarks.append(outcome)
    if texts:
        texts.append("")
    return Result("\n".join(texts).encode(), counts, remarks)
