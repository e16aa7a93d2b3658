"""A stream of records cut at record boundaries, and converted part by part, on several cores.

A part stands alone: what a reader would have known before it (the header of a table, the rows of
tasks whose job comes later) travels with it. So its conversion gives the bytes that it would have
given within the whole. # decision 104
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from operator import index
from pickle import PickleBuffer
from typing import Any, BinaryIO, NamedTuple, SupportsIndex, TypeVar

from sssjob.document.files import ByteRange, looked_at
from sssjob.document.text import on_one_line
from sssjob.errors import UnusableInput
from sssjob.records import find, recognition
from sssjob.records.builders import TEXTS, Builder
from sssjob.records.clock import Clock
from sssjob.records.cuts import CustomPieces, Lines, before
from sssjob.records.cutting import Cutter, Front, NotAlone, Part, StreamPlace, beginning
from sssjob.records.engine import RecordEngine
from sssjob.records.folding import Folding, FoldingCutter, GuessingCutter
from sssjob.records.json_parts import ObjectCutter
from sssjob.records.layout import Layout
from sssjob.records.lines import check_end
from sssjob.records.recognition import checked
from sssjob.records.record import Bad, Converted, Noted, Options, Outcome, RecordCounts, Skipped
from sssjob.records.regular import ROAD
from sssjob.records.runs import NO_KEYS, Met, RunKeys, listed_of

P = TypeVar("P")
J = TypeVar("J")

SIZE = 1 << 19  # bytes of a part, at least
LARGER = 4  # times that at most, since each part takes its time, unless its records become little
FIRST = 16  # times ``SIZE`` of a stream of unknown size, behind which parts are ``LARGER``
LIMIT = 1 << 25  # bytes among which a boundary is looked for; then a line end has to do
LINE = 1 << 21  # bytes that are kept of a line that has none of these
PIECES = 256  # of a part that is not cut by its bytes
_WITH_VIEWS = 5  # the first protocol of pickle that has a ``PickleBuffer``


def cutter(layout: Layout, options: Options, front: Front = (), head: bytes = b"") -> Cutter | None:
    """What cuts a stream that begins so into parts that stand alone, if its bytes tell how."""
    if isinstance(layout.cut, CustomPieces):
        parted = layout.cut.parted
        chosen = parted.cutter(head, before(front)) if parted else None
        return chosen(options, front) if chosen else None
    if layout.cut.cutter is None:
        return None
    if isinstance(layout.folding, Folding):
        return _following(layout, layout.folding, options, front)
    return layout.cut.cutter(options, front)


def _following(
    layout: Layout, folding: Folding, options: Options, front: Front = ()
) -> FoldingCutter:
    assert layout.reader is not None  # what is folded was read
    read = layout.reader(options, Clock(untold=layout.untold))
    return FoldingCutter(folding, read, options, front, _many(layout))


def _many(layout: Layout) -> Callable[[Sequence[str]], Sequence[Any]] | None:
    return layout.cut.many if isinstance(layout.cut, Lines) else None


_NOT_CUT = "records of {} cannot be cut for several processes: a part would not stand alone"
_DOES_NOT_GROW = (
    "records of {} say nowhere where they can be cut, as in a document that is written as a whole "
    "and does not grow: --state is for logs to which records are appended"
)


class WholeCutter:
    """Takes all that there is for one part, as of a small file."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.front: Front = ()

    def cut(self, data: bytes, line: int, *, final: bool) -> tuple[Part | None, int]:
        """All data, at its end."""
        if not final or not data:
            return None, 0
        return Part(data, line, self.options), len(data)


class Cutting:
    """The parts of a stream, in order; ``place`` is how far they go.

    ``format`` is what the records are: ``auto`` is looked up, and ``sign`` says by what. With
    ``held`` the stream may still grow: what may be the beginning of a record stays behind. Of a
    ``file`` that the stream reads, the parts say where they stand, and hold no bytes. With
    ``guessed`` parts may be taken to stand alone, see ``Following`` and ``StreamRest``, and so may
    those of a log (``is_log``), of any size, which does not grow any more. What cannot
    be cut by its bytes is taken apart here. So many ``processes`` share what there is: parts of a
    file become smaller towards its end, so that all end together. Raises ``UnusableInput`` for
    what cannot be cut at all.
    """

    def __init__(
        self, stream: BinaryIO, format_: str, options: Options,
        place: StreamPlace | None = None, *, held: bool = False, file: ByteRange | None = None,
        guessed: bool = False, is_log: bool = False, processes: int = 1, larger: int = LARGER,
    ) -> None:  # fmt: skip
        self._whole, self._processes, self._larger = file.whole if file else 0, processes, larger
        self.place = place or StreamPlace()
        if self.place.columns:
            options = replace(
                options, columns=self.place.columns, delimiter=self.place.delimiter,
                earlier=self.place.earlier,
            )  # fmt: skip
        self.format, self.sign = format_, ""
        if format_ == "auto":
            head, stream = looked_at(stream, recognition.HEAD)
            found = recognition.recognise(head)
            self.format, self.sign = found.format.name, str(found)
        layout: Layout = find(self.format).load()
        self._stream = stream if self.place.offset else checked(layout, stream)
        self._held, self._file, self._layout, self._options = held, file, layout, options
        self.is_empty = not self.place.offset  # nothing was found yet
        cuts: Cutter | None
        if guessed and isinstance(layout.folding, Folding):
            cuts = GuessingCutter(layout.folding, options, _many(layout))
        elif isinstance(layout.cut, CustomPieces):
            head, self._stream = looked_at(self._stream, recognition.HEAD)
            cuts = cutter(layout, options, self.place.front, head)
            # A beginning may become anything.
            is_told = len(head) == recognition.HEAD or b"\n" in head
            if held and not self.place.offset and not is_told:
                cuts = WholeCutter(options)
            is_small = not (guessed or held or is_log or self.place.offset)
            if isinstance(cuts, ObjectCutter) and is_small:
                cuts = WholeCutter(options)
        else:
            cuts = cutter(layout, options, self.place.front)
        if cuts is None and (held or not isinstance(layout.cut, CustomPieces)):
            raise UnusableInput((_DOES_NOT_GROW if held else _NOT_CUT).format(self.format))
        self._cutter = cuts

    def __iter__(self) -> Iterator[Part]:
        for part in self._by_bytes(self._cutter) if self._cutter else self._by_pieces():
            self.is_empty = False
            yield part

    def _by_pieces(self) -> Iterator[Part]:
        """Parts of so many pieces, which others read."""
        cut = self._layout.cut
        assert isinstance(cut, CustomPieces)
        pieces = iter(cut.pieces(self._stream, self.place.line))
        while some := tuple(islice(pieces, PIECES)):
            yield Part(b"", self.place.line, self._options, pieces=some)

    def _by_bytes(self, cuts: Cutter) -> Iterator[Part]:
        data, over = b"", False
        while not over:
            more = self._stream.read(self._next_size())
            over = not more
            data += more
            while data:
                final = over and not self._held
                part, size = cuts.cut(data, self.place.line, final=final)
                if not size and len(data) > LIMIT and (size := data.rfind(b"\n") + 1):
                    part, _ = cuts.cut(data[:size], self.place.line, final=True)
                if not size:
                    break
                start = self.place.offset
                self._advance(cuts, data[:size])
                if part is not None:
                    yield self._in_file(part, data[:size], start)
                data = data[size:]
                if not over:
                    break
            if len(data) > LIMIT:
                data = self._shortened(data)
        if not self._held:
            part, _ = cuts.cut(b"", self.place.line, final=True)
            self._advance(cuts, b"")  # nothing waits any more
            if part is not None:  # what waited for something that did not come
                yield part

    def _next_size(self) -> int:
        """How many bytes the next part is to have."""
        if not self._whole:
            return SIZE if self.place.offset < FIRST * SIZE else self._larger * SIZE
        share = (self._whole - self.place.offset) // self._processes
        return min(max(share, SIZE), self._larger * SIZE)

    def _in_file(self, part: Part, data: bytes, start: int) -> Part:
        """A part without its bytes, where they are those that the file has at a place."""
        if self._file is None or part.data != data:
            return part
        return replace(part, data=self._file._replace(start=start, size=len(data)))

    def _advance(self, cuts: Cutter, data: bytes) -> None:
        options, front = cuts.options, cuts.front
        self.place = StreamPlace(
            self.place.offset + len(data), self.place.line + data.count(b"\n"),
            options.columns, options.delimiter, front, options.earlier,
        )  # fmt: skip

    def _shortened(self, data: bytes) -> bytes:
        """A line without an end, of which only so much is kept that it is known to be too long."""
        beyond = len(data) - LINE
        self._file = None  # what comes is no longer what stands at its place
        while more := self._stream.read(SIZE):
            head, newline, tail = more.partition(b"\n")
            beyond += len(head)
            check_end(beyond)
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
    documents come as a view of what was read, for they are long, where the protocol of pickle has
    such views (5 and later); of ``multiprocessing`` it depends on the version of Python.
    """

    data: bytes | memoryview
    counts: RecordCounts
    remarks: list[Bad | Noted]
    runs: RunKeys = NO_KEYS

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        has_views = index(protocol) >= _WITH_VIEWS
        data = PickleBuffer(self.data) if has_views else bytes(self.data)
        return Result, (data, self.counts, self.remarks, self.runs)


class Following:
    """Follows the guessed parts of streams, from one that does not stand alone, as far as needed.

    That is to where nothing is held, and at the latest to the end of the stream. Parts are given in
    their order.
    """

    def __init__(self) -> None:
        self._cutter: FoldingCutter | None = None

    def mended(self, format_: str, part: Part, *, is_alone: bool) -> Part | None:
        """A part as it is in its stream; None if that is as it was guessed.

        ``is_alone``: all that its own records need was found among them.
        """
        if part.guess is None:
            return None
        if self._cutter is None:
            if is_alone and part.guess.sure:
                return None
            layout: Layout = find(format_).load()
            assert isinstance(layout.folding, Folding)  # no others are guessed
            self._cutter = _following(layout, layout.folding, part.options)
        data = part.read()
        known = self._cutter.follow(data, part.line, part.guess)
        if not self._cutter.front:
            self._cutter = None
        if known is None:
            return None
        if is_alone and not known.front and not known.settled:
            return None
        return known


class StreamRest:
    """What a stream holds from an open part on that does not end where one of its records does.

    It is read in one go, by the parts that follow: ``more`` gives them. Parts of what was found in
    it are given to whoever reads parts.
    """

    is_rest = True  # no other part follows it

    def __init__(self, format_: str, part: Part, more: Iterator[Part]) -> None:
        self._format, self._part, self._more = format_, part, more
        self._data = part.read()
        self.head, self.is_open = beginning(self._data), part.is_open

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most so many; none at the end."""
        while len(self._data) < size and self.is_open and (part := next(self._more, None)):
            self._data, self.is_open = self._data + part.read(), part.is_open
        found, self._data = self._data[:size], self._data[size:]
        return found

    def __iter__(self) -> Iterator[Part]:
        cut = find(self._format).load().cut
        assert isinstance(cut, CustomPieces)
        assert cut.parted is not None  # no others have open parts
        pieces = iter(cut.parted.rest(before(self._part.front), self, self._part.line))
        while some := tuple(islice(pieces, PIECES)):
            yield Part(b"", self._part.line, self._part.options, pieces=some)
        while self.read(SIZE):  # what stands behind all that is read is part of the stream, too
            pass


def outcomes(
    format_: str, part: Part, builder: Builder[P, J], met: Met | None = None
) -> Iterator[Outcome[J]]:
    """What becomes of each record of a part, with its line in the whole stream.

    Raises ``NotAlone`` where that was guessed, and is not so.
    """
    engine = _engine(format_, part.options, builder)
    cut = find(format_).load().cut
    if isinstance(cut, CustomPieces):
        yield from engine.of_batches(cut.of_part(part), met=met)
        return
    ROAD.is_open(0, part.whole)  # each process sees some parts of a stream only
    found = engine.outcomes(io.BytesIO(part.read()), part.line, part.front, met, part.settled)
    if part.guess is None:
        yield from found
        return
    folding = find(format_).load().folding
    for outcome in found:
        if outcome.__class__ is Skipped and outcome.reason == folding.alone:
            raise NotAlone
        yield outcome


@lru_cache(8)
def _engine(format_: str, options: Options, builder: Builder[Any, Any]) -> RecordEngine[Any, Any]:
    """The engine that the parts of a file share: what was learnt of one serves the next."""
    return RecordEngine(find(format_).load(), options, builder)


def convert(
    format_: str, part: Part, *, lines: bool = True, builder: Builder[str, str] = TEXTS,
    met: Met | None = None,
) -> Result:  # fmt: skip
    """Convert a part; with ``lines`` a line break within a text is a reference."""
    made = result(outcomes(format_, part, builder, met), lines=lines)
    return made._replace(runs=listed_of(met))  # they are listed by now


def result(found: Iterable[Outcome[str]], *, lines: bool) -> Result:
    """Outcomes with texts of documents, as what a part became."""
    counts, remarks, texts = RecordCounts(), [], []
    for outcome in counts.counting(found):
        if isinstance(outcome, Converted):
            texts.append(on_one_line(outcome.job) if lines else outcome.job)
        elif isinstance(outcome, (Bad, Noted)):
            remarks.append(outcome)
    if texts:
        texts.append("")
    return Result("\n".join(texts).encode(), counts, remarks)
