"""The ways to cut bytes into pieces that several formats share; JSON: ``json_objects.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, BinaryIO

from sssjob.records.cutting import Cutter, LineCutter
from sssjob.records.layout import Piece
from sssjob.records.lines import LINE_LIMIT, TOO_LONG, Blocks, clean
from sssjob.records.record import Bad, Noted, Options

_BATCH = 256  # pieces that are taken at once
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


@dataclass(frozen=True, slots=True)
class CustomPieces:
    """Pieces that a format finds by its own means, one after the other."""

    pieces: Callable[[BinaryIO, int], Iterable[Piece]]
    cutter: type[Cutter] | None = None

    def batches(self, stream: BinaryIO, first: int, options: Options) -> Iterator[Iterable[Piece]]:
        """The pieces, some hundred at once.

        Each is found when it is asked for: what it was read from, such as a tree of JSON, is not
        kept, which takes less time than to find room for it.
        """
        rest = iter(self.pieces(stream, first))
        for piece in rest:
            yield chain((piece,), islice(rest, _BATCH - 1))


def of_lines(pieces: Callable[[Iterable[tuple[int, str]]], Iterator[Piece]]) -> CustomPieces:
    """Pieces of several lines, blank ones among them."""

    def found(stream: BinaryIO, first: int) -> Iterator[Piece]:
        blocks = Blocks(stream, first)
        yield from pieces(blocks.lines())
        yield from cut_short(blocks.cut_short)

    return CustomPieces(found)
