"""Builders of what records become: job objects, or straight the text of documents.

A format says once what becomes of its columns, and a builder does it: pieces are made of
properties, laid side by side, and put into jobs. For one builder a piece is a tuple of items and
the end a ``Job``; for the other a piece is XML text and the end the text of the same job. Many
records are taken at once, column by column, because a call for each value is what takes time.
# decision 101
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from itertools import chain, repeat
from typing import Any, Generic, NamedTuple, Self, TypeVar

from sssjob.document.text import dumps, escaped, fragment, tags, writer
from sssjob.model import Block, Delivered, Item, Job, Property, Requested, TaskGroup
from sssjob.records.texts import Numbers, combined

P = TypeVar("P")  # a piece: what a column of a record becomes
J = TypeVar("J")  # what a record becomes

# A piece for each record. A builder may have something for it that is laid side by side faster.
Column = Sequence[Any]


class Builder(ABC, Generic[P, J]):
    """How properties become pieces, and pieces jobs.

    ``memories`` is what is remembered of the texts of columns, by whoever uses this builder; None
    where every table remembers for itself. ``needs`` tells of the places of properties
    (``Field.place``) which are looked at there, by their names; columns of others are not read.
    ``Extension/NAME`` is only the Extension of that name.
    """

    nothing: P
    memories: dict[Any, Any] | None = None
    needs: Mapping[str, Collection[str]] | None = None

    def remembering(self) -> Self:
        """The same builder with its own memories, for streams or tables that say much the same."""
        if self.memories is not None:
            return self
        builder = copy(self)
        builder.memories = {}
        return builder

    @abstractmethod
    def of(self, properties: Iterable[Property]) -> P:
        """The piece that these properties are."""

    @abstractmethod
    def maker(self, element: str, attributes: Mapping[str, str]) -> Callable[[str], P]:
        """What makes the piece of one property, given its text."""

    @abstractmethod
    def column(
        self, element: str, attributes: Mapping[str, str]
    ) -> Callable[[Sequence[str], bool], Column]:
        """The same for many texts at once, none of them empty; False: they are words of digits."""

    @abstractmethod
    def same(self, piece: P, size: int) -> Column:
        """A column of so many equal pieces."""

    def picked(self, pieces: Sequence[P], codes: Numbers) -> Column:
        """A column of these pieces, by their numbers: an array of numpy."""
        return [*map(pieces.__getitem__, codes.tolist())]

    def is_full(self, column: Column) -> bool:
        """Whether it is certain that each record has something of a column."""
        return all(column)

    @abstractmethod
    def join(self, pieces: Iterable[P]) -> P:
        """Pieces behind each other."""

    @abstractmethod
    def holds(self, piece: P, part: P) -> bool:
        """Whether a piece is, or was joined of, another one that is not nothing."""

    @abstractmethod
    def side_by_side(self, columns: Sequence[Column], size: int) -> list[P]:
        """One piece for each of so many records, of the pieces of several columns."""

    @abstractmethod
    def jobs(
        self, own: Sequence[Column], requested: Sequence[Column], delivered: Sequence[Column],
        groups: Sequence[P],
    ) -> Sequence[J]:  # fmt: skip
        """Jobs of columns of their own and in their categories, and of their task groups."""

    @abstractmethod
    def groups(self, own: Sequence[Column], delivered: Sequence[Column], size: int) -> list[P]:
        """So many task groups, each with its own properties and what was delivered to it."""

    @abstractmethod
    def from_job(self, job: Job) -> J:
        """A job that was made by other means."""


Items = tuple[Item, ...]


class ItemsBuilder(Builder[Items, J]):
    """A piece is a tuple of properties; without a piece for a job of its own."""

    nothing: Items = ()

    def of(self, properties: Iterable[Property]) -> Items:
        """The properties."""
        return tuple(properties)

    def maker(self, element: str, attributes: Mapping[str, str]) -> Callable[[str], Items]:
        """What makes the one property of a text."""
        return lambda text: (Property.read(element, text, attributes),)

    def column(
        self, element: str, attributes: Mapping[str, str]
    ) -> Callable[[Sequence[str], bool], Column]:
        """Properties of texts."""
        return lambda texts, _: [(Property.read(element, text, attributes),) for text in texts]

    def same(self, piece: Items, size: int) -> Column:
        """The piece so many times."""
        return [piece] * size

    def join(self, pieces: Iterable[Items]) -> Items:
        """Properties behind each other."""
        return tuple(chain.from_iterable(pieces))

    def holds(self, piece: Items, part: Items) -> bool:
        """Whether all properties of the part are among those of the piece."""
        return all(each in piece for each in part)

    def side_by_side(self, columns: Sequence[Column], size: int) -> list[Items]:
        """The properties of each record."""
        if not columns:
            return [()] * size
        return [tuple(chain.from_iterable(pieces)) for pieces in zip(*columns, strict=True)]

    def groups(self, own: Sequence[Column], delivered: Sequence[Column], size: int) -> list[Items]:
        """Task groups of their properties."""
        told = (self.side_by_side(columns, size) for columns in (own, delivered))
        return [
            (TaskGroup((*mine, *_block(Delivered, given))),)
            for mine, given in zip(*told, strict=True)
        ]


class JobBuilder(ItemsBuilder[Job]):
    """Builds job objects; of the places in ``needs`` only with the properties named there."""

    def __init__(self, needs: Mapping[str, Collection[str]] | None = None) -> None:
        self.needs = needs

    def jobs(
        self, own: Sequence[Column], requested: Sequence[Column], delivered: Sequence[Column],
        groups: Sequence[Items],
    ) -> list[Job]:  # fmt: skip
        """Job objects."""
        told = (self.side_by_side(columns, len(groups)) for columns in (own, requested, delivered))
        return [
            Job((*mine, *_block(Requested, asked), *_block(Delivered, given), *inner))
            for mine, asked, given, inner in zip(*told, groups, strict=True)
        ]

    def from_job(self, job: Job) -> Job:
        """The job itself, whole."""
        return job


def _block(kind: type[Block], items: Items) -> Items:
    return (kind(items),) if items else ()


class BuiltBatch(Sequence[J]):
    """What many records became, which is handed on at once: see ``ConvertedTogether``."""

    @abstractmethod
    def part(self, begin: int, end: int) -> BuiltBatch[J]:
        """What some of them became, handed on in the same way."""


class TextPieces(Builder[str, J]):
    """A builder whose pieces are texts, which stand behind each other."""

    def same(self, piece: str, size: int) -> Column:
        """The piece once."""
        return Same((piece,))

    def picked(self, pieces: Sequence[str], codes: Numbers) -> Column:
        """The pieces and their numbers."""
        return Picked(pieces, codes)

    def is_full(self, column: Column) -> bool:
        """Whether each record has a text of a column."""
        return isinstance(column, Tagged) or _has_all(column)

    def join(self, pieces: Iterable[str]) -> str:
        """Pieces behind each other."""
        return "".join(pieces)

    def holds(self, piece: str, part: str) -> bool:
        """Whether the text stands in the other one."""
        return part in piece

    def side_by_side(self, columns: Sequence[Column], size: int) -> list[str]:
        """The pieces of each record."""
        return side_by_side(columns, size)


class _TextBuilder(TextPieces[str]):
    nothing = ""

    def of(self, properties: Iterable[Property]) -> str:
        return fragment(properties)

    def maker(self, element: str, attributes: Mapping[str, str]) -> Callable[[str], str]:
        return writer(element, attributes)

    def column(
        self, element: str, attributes: Mapping[str, str]
    ) -> Callable[[Sequence[str], bool], Column]:
        before, behind = tags(element, attributes)
        return lambda texts, free: Tagged(before, escaped(texts) if free else texts, behind)

    def jobs(
        self, own: Sequence[Column], requested: Sequence[Column], delivered: Sequence[Column],
        groups: Sequence[str],
    ) -> list[str]:  # fmt: skip
        lines = LineBuilder(len(groups), "<Job>")
        lines.put(own)
        lines.put_block(Requested.name, requested)
        lines.put_block(Delivered.name, delivered)
        if any(groups):
            lines.put((groups,))
        return lines.texts("</Job>")

    def groups(self, own: Sequence[Column], delivered: Sequence[Column], size: int) -> list[str]:
        lines = LineBuilder(size, "<TaskGroup>")
        lines.put(own)
        lines.put_block(Delivered.name, delivered)
        return lines.texts("</TaskGroup>")

    def from_job(self, job: Job) -> str:
        return dumps(job)


class Tagged(NamedTuple):
    """A column of texts, none of them empty, that have the same tags around them."""

    before: str
    texts: Sequence[str]
    behind: str


class Same(tuple[str]):
    """A column of which every piece is this one."""


class Picked(NamedTuple):
    """A column of pieces by their numbers."""

    pieces: Sequence[str]
    codes: Numbers

    def texts(self, before: str) -> Sequence[str]:
        """The piece of each record, with a text before it."""
        import numpy as np

        pieces = np.array([before + piece for piece in self.pieces], object)
        found: list[str] = pieces[self.codes].tolist()
        return found

    def with_behind(self, behind: str) -> Picked:
        """The same, and a text behind each piece."""
        return Picked([piece + behind for piece in self.pieces], self.codes)

    def then(self, other: Picked) -> Picked | None:
        """The pieces of two columns as one, if there are few of both together."""
        both = combined([(self.pieces, self.codes), (other.pieces, other.codes)], _FEW)
        return None if both is None else Picked([*map("".join, both.values)], both.codes)


_FEW = 1 << 8  # pieces of several columns that are put together before those of the records


def side_by_side(columns: Sequence[Column], size: int) -> list[str]:
    """The texts of each record, of the pieces of several columns."""
    lines = LineBuilder(size)
    lines.put(columns)
    return lines.texts() or [""] * size


class LineBuilder:
    """Text in the making, a line for each record: what all have is written into it once.

    What stands between the texts of two columns is one string, so that a line takes one join.
    """

    def __init__(self, size: int, begin: str = "") -> None:
        self._size = size
        self._columns: list[Iterable[str]] = []
        self._shared = begin
        self._picked: Picked | None = None  # what is not put yet, and stands before all else

    def put(self, columns: Iterable[Column]) -> None:
        """Put columns behind what there is."""
        for column in columns:
            if isinstance(column, Tagged):
                self._put(column.before, column.texts)
                self._share(column.behind)
            elif isinstance(column, Same):
                self._share(column[0])
            elif isinstance(column, Picked):
                self._pick(column)
            else:
                self._put("", column)

    def put_block(self, name: str, columns: Sequence[Column]) -> None:
        """Put columns into a block, which a record without any of them does not have."""
        before, behind = f"<{name}>", f"</{name}>"
        if any(isinstance(column, Tagged) or _has_all(column) for column in columns):
            self._share(before)
            self.put(columns)
            self._share(behind)
        elif columns:
            lines = LineBuilder(self._size)
            lines.put(columns)
            self._put("", [before + text + behind if text else "" for text in lines.texts()])

    def texts(self, end: str = "") -> list[str]:
        """The lines; none where there is nothing in any."""
        self._put(end, ())
        return list(map("".join, zip(*self._columns, strict=True)))

    def _share(self, text: str) -> None:
        """Put a text that all have behind what there is."""
        if self._picked is None:
            self._shared += text
        else:
            self._picked = self._picked.with_behind(text)

    def _pick(self, column: Picked) -> None:
        """Put a column of pieces behind what there is; such columns are made one where they can."""
        if self._picked is None:
            self._picked = column
        elif both := self._picked.then(column):
            self._picked = both
        else:
            self._flush()
            self._picked = column

    def _flush(self) -> None:
        if (picked := self._picked) is not None:
            self._picked = None
            self._columns.append(picked.texts(self._shared))
            self._shared = ""

    def _put(self, before: str, texts: Sequence[str]) -> None:
        self._share(before)
        self._flush()
        if self._shared:
            self._columns.append(repeat(self._shared, self._size))
            self._shared = ""
        if texts:
            self._columns.append(texts)


def _has_all(column: Column) -> bool:
    return all(column.pieces if isinstance(column, Picked) else column)


OBJECTS = JobBuilder()
TEXTS = _TextBuilder()
