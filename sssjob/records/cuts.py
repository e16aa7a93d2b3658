"""The ways to cut bytes into pieces that several formats share; JSON: ``json_objects.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, BinaryIO, ClassVar, NamedTuple

from sssjob.records import regular
from sssjob.records.cutting import Front, LineCutter, NewCutter, OpenStream, Part, PartStream
from sssjob.records.layout import Piece, RecordBatch, RecordRun
from sssjob.records.lines import LINE_LIMIT, TOO_LONG, Blocks, clean
from sssjob.records.record import CUT_SHORT, Bad, Noted, Options
from sssjob.records.regular import Regular
from sssjob.records.texts import BulkColumn

_LOOK = 1 << 16  # bytes of a block that tell how many fields its lines have
_BATCH = 256  # pieces that are taken at once; decision 264


Columns = Sequence[BulkColumn]


class RegularLines(NamedTuple):
    """What a format says of lines that go by columns: see ``regular.py``.

    They have one of these ``widths``, and one ``delimiter``. ``fit``: lines with these fields are
    records for sure, of one line each, and none is a part of a job; ``batches`` makes what the
    reader of the format makes of each, of those from a line on.
    """

    delimiter: str
    widths: frozenset[int]
    fit: Callable[[Columns], bool]
    batches: Callable[[int, Columns], Sequence[RecordBatch]]

    def width(self, block: bytes) -> int:
        """That of most of the first lines; 0 where it is none of these."""
        mark = self.delimiter.encode()
        sizes = [line.count(mark) + 1 for line in block[:_LOOK].split(b"\n")[: regular.LEAST]]
        found = max({*sizes}, key=sizes.count)
        return found if found in self.widths else 0

    def runs(self, found: Regular) -> Iterator[tuple[int, Columns]]:
        """Lines that follow each other and fit: the place of the first in the block."""
        lines = found.lines
        short = (lines.ends - lines.begins)[found.places] <= LINE_LIMIT
        for begin, at, size in found.runs(short):
            yield from self._fitting(
                begin, [regular.part(each, at, at + size) for each in found.columns]
            )

    def _fitting(self, begin: int, columns: Columns) -> Iterator[tuple[int, Columns]]:
        """The same of lines of which perhaps not all fit: each half by itself then."""
        size = len(columns[0])
        if size < regular.LEAST:
            return
        if self.fit(columns):
            yield begin, columns
            return
        half = size // 2
        for first, last in ((0, half), (half, size)):
            yield from self._fitting(
                begin + first, [regular.part(each, first, last) for each in columns]
            )


@dataclass(frozen=True, slots=True)
class Lines:
    """Each line is a piece, without its end; blank ones are none.

    ``many`` may make of many lines at once what is read in their place. Those that are
    ``regular`` become records by columns, where there is what that takes. ``has_parts``: a line may
    be a part of the record before it.
    """

    many: Callable[[Sequence[str]], Sequence[Any]] | None = None
    cutter: NewCutter | None = LineCutter
    regular: RegularLines | None = None
    has_parts: bool = False

    def batches(self, stream: BinaryIO, first: int, options: Options) -> Iterator[Sequence[Piece]]:
        """The lines, as many at once as a block has."""
        form = self.regular
        blocks = Blocks(stream, first, int if form is None else regular.ROAD.wide)
        varied: dict[int, set[int]] = {}  # columns, by how many there are
        for number, block in blocks:
            if (
                form is not None
                and regular.ROAD.is_open(len(block))
                and (width := form.width(block))
            ):
                known = varied.setdefault(width, set())
                if (found := regular.regular(block, form.delimiter, width, known)) is not None:
                    yield from self._by_columns(form, number, found)
                    continue
            # What is said of a line that was cut stands with it: who reads it has to know.
            note = cut_short(blocks.cut_short, doubts=self.has_parts)
            yield [*self._by_lines(number, block), *note]

    def _by_columns(
        self, form: RegularLines, number: int, found: Regular
    ) -> Iterator[Sequence[Piece]]:
        """The lines of a block, runs of them as columns; the last of a run may have parts behind
        it, and stands with what follows.
        """
        place = 0
        for begin, columns in form.runs(found):
            if place < begin:
                yield self._by_lines(number + place, found.lines.of(place, begin))
            place = begin + len(columns[0]) - 1
            run = [regular.part(each, 0, place - begin) for each in columns]
            yield [RecordRun(number + begin, run, form.batches(number + begin, run))]
        if place < len(found.lines):
            yield self._by_lines(number + place, found.lines.of(place, len(found.lines)))

    def _by_lines(self, number: int, block: bytes) -> Sequence[Piece]:
        """The lines of a block, each by itself."""
        if len(block) > LINE_LIMIT and max(map(len, block.split(b"\n"))) > LINE_LIMIT:
            return [*_bounded(number, block)]
        found = enumerate(clean(block).split("\n"), number)
        lines = [(place, line) for place, line in found if line.strip()]
        if self.many is None or not lines:
            return lines
        numbers, texts = zip(*lines, strict=True)
        return [*zip(numbers, self.many(texts), strict=True)]


def _bounded(first: int, block: bytes) -> Iterator[Piece]:
    """The lines of a block that may be too long: of one that is, only its size is known."""
    for number, line in enumerate(block.split(b"\n"), first):
        if len(line) > LINE_LIMIT:
            yield Bad(number, TOO_LONG)
        elif (text := clean(line)).strip():
            yield number, text


def cut_short(line: int, *, doubts: bool = False) -> Sequence[Noted]:
    """What there is to say of a last line without its end; 0: there is none.

    Where the line may be a part of the record before it, it ``doubts`` that even if it is bad.
    """
    return [Noted(line, CUT_SHORT, doubts=doubts)] if line else []


def all_read(pieces: Iterable[Any]) -> Iterable[Piece]:
    """Pieces that are what they were found as."""
    return pieces


def _no_rest(front: bytes, stream: OpenStream, first: int) -> Iterable[Any]:
    """Parts that are not open leave none."""
    return ()


class Parted(NamedTuple):
    """How a stream of pieces of one's own is cut by its bytes.

    ``cutter`` gives for the first bytes of a stream, or for what the front of a part says, what
    cuts it, or None; ``behind`` finds the pieces of a part, given its front and the number of its
    first line. It raises ``NotAlone`` for one that is open and does not end where a piece does:
    then ``rest`` finds those of all that is left of the stream.
    """

    cutter: Callable[[bytes, bytes], NewCutter | None]
    behind: Callable[[bytes, PartStream, int], Iterable[Any]]
    rest: Callable[[bytes, OpenStream, int], Iterable[Any]] = _no_rest


@dataclass(frozen=True, slots=True)
class CustomPieces:
    """Pieces that a format finds by its own means, one after the other.

    What can be found fast, and sent to another process, need not be what is read: ``opened`` makes
    that of it.
    """

    pieces: Callable[[BinaryIO, int], Iterable[Any]]
    opened: Callable[[Iterable[Any]], Iterable[Piece]] = all_read
    parted: Parted | None = None

    cutter: ClassVar[None] = None  # that of ``parted`` depends on the stream

    def batches(self, stream: BinaryIO, first: int, options: Options) -> Iterator[Iterable[Piece]]:
        """The pieces, some hundred at once.

        Each is found when it is asked for: what it was read from, such as a tree of JSON, is not
        kept, which takes less time than to find room for it.
        """
        return _batches(self.opened(self.pieces(stream, first)))

    def of_part(self, part: Part) -> Iterator[Iterable[Piece]]:
        """The pieces of a part. Raises ``NotAlone`` where its end was guessed wrong."""
        if part.pieces:
            return _batches(self.opened(part.pieces))
        stream = PartStream(part.read(), is_open=part.is_open)
        if self.parted is None:
            return self.batches(stream, part.line, part.options)
        return _batches(self.opened(self.parted.behind(before(part.front), stream, part.line)))


def before(front: Front) -> bytes:
    """What the front of a part says of it."""
    return b"".join(line for _, line in front)


def _batches(pieces: Iterable[Piece]) -> Iterator[Iterable[Piece]]:
    rest = iter(pieces)
    for piece in rest:
        yield chain((piece,), islice(rest, _BATCH - 1))


def of_lines(
    pieces: Callable[[Iterable[tuple[int, str]]], Iterator[Piece]], parted: Parted | None = None
) -> CustomPieces:
    """Pieces of several lines, blank ones among them."""

    def found(stream: BinaryIO, first: int) -> Iterator[Piece]:
        blocks = Blocks(stream, first)
        yield from pieces(blocks.lines())
        yield from cut_short(blocks.cut_short)

    return CustomPieces(found, parted=parted)
