"""The ways to cut bytes into pieces that several formats share; JSON: ``json_objects.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, BinaryIO, ClassVar, NamedTuple

from sssjob.records.cutting import Cutter, Front, LineCutter, OpenStream, Part, PartStream
from sssjob.records.layout import Piece
from sssjob.records.lines import LINE_LIMIT, TOO_LONG, Blocks, clean
from sssjob.records.record import Bad, Noted, Options

_BATCH = 256  # pieces that are taken at once; decision 264
CUT_SHORT = "the last line has no line end: it may be cut short"


@dataclass(frozen=True, slots=True)
class Lines:
    """Each line is a piece, without its end; blank ones are none.

    ``many`` may make of many lines at once what is read in their place.
    """

    many: Callable[[Sequence[str]], Sequence[Any]] | None = None
    cutter: type[Cutter] | None = LineCutter

    def batches(self, stream: BinaryIO, first: int, options: Options) -> Iterator[Sequence[Piece]]:
        """The lines, as many at once as a block has."""
        blocks = Blocks(stream, first)
        for number, block in blocks:
            if len(block) > LINE_LIMIT:
                yield [*_bounded(number, block)]
                continue
            found = enumerate(clean(block).split("\n"), number)
            lines = [(place, line) for place, line in found if line.strip()]
            if self.many is not None and lines:
                numbers, texts = zip(*lines, strict=True)
                yield [*zip(numbers, self.many(texts), strict=True)]
            else:
                yield lines
        yield cut_short(blocks.cut_short)


def _bounded(first: int, block: bytes) -> Iterator[Piece]:
    """The lines of a block that may be too long: of one that is, only its size is known."""
    for number, line in enumerate(block.split(b"\n"), first):
        if len(line) > LINE_LIMIT:
            yield Bad(number, TOO_LONG)
        elif (text := clean(line)).strip():
            yield number, text


def cut_short(line: int) -> Sequence[Noted]:
    """What there is to say of a last line without its end; 0: there is none."""
    return [Noted(line, CUT_SHORT)] if line else []


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

    cutter: Callable[[bytes, bytes], Callable[[Options, Front], Cutter] | None]
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
