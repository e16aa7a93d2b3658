"""Columns of properties, for who makes something of very many records column by column.

Strategy. What is made of a record, such as a row of a ledger, a row of a store or a part of a usage
record, rests on a few of its properties, and most of what these say was said by other records, too.
To ask each record for itself takes ten times as long as to cut it out of a log.

The idea is that the record engine gives columns of properties, in one of four kinds: by what many
records have in common, it need not hold what each has. ``ColumnPlace`` is the one reader of these
kinds. ``RememberedValues`` makes a value of a job that has nothing but the properties that matter,
and keeps it by what these say.

Why it is right: a value is always made of a job object by whoever makes it of a whole one, and what
it was kept by has the place, the name, the text and the attributes of each property that it saw.
What is kept is bounded by its number. Tests compare all builders over changed records.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, cast

from sssjob.model import Attributes, Delivered, Item, Job, Properties, Property, Requested
from sssjob.records.builders import Column, Items, ItemsBuilder
from sssjob.records.record import DELIVERED, JOB, REQUESTED
from sssjob.records.texts import Coded, Numbers

J = TypeVar("J")
T = TypeVar("T")

REMEMBERED = 4096  # values, and kinds of columns that they are made of


class NamedTexts(NamedTuple):
    """A column of properties with one name and the same attributes: their texts, none empty."""

    name: str
    attributes: Mapping[str, str]
    texts: Sequence[str]


class SameItems(NamedTuple):
    """A column of which every piece is this one."""

    items: Items
    size: int


class PickedItems(NamedTuple):
    """A column of pieces by their numbers: an array of numpy."""

    pieces: Sequence[Items]
    codes: Numbers


class ColumnsBuilder(ItemsBuilder[J]):
    """Of columns of properties, for who writes something of them column by column.

    A column is ``NamedTexts``, ``SameItems``, ``PickedItems``, or tuples of properties.
    """

    def column(
        self, element: str, attributes: Mapping[str, str]
    ) -> Callable[[Sequence[str], bool], Column]:
        """Texts with their name."""
        told = Attributes.read(attributes)
        return lambda texts, _: NamedTexts(element, told, texts)

    def same(self, piece: Items, size: int) -> Column:
        """The piece once."""
        return SameItems(piece, size)

    def picked(self, pieces: Sequence[Items], codes: Numbers) -> Column:
        """The pieces and their numbers."""
        return PickedItems(pieces, codes)

    def is_full(self, column: Column) -> bool:
        """Whether it is certain that each record has a property of a column."""
        if isinstance(column, NamedTexts):
            return True
        if isinstance(column, SameItems):
            return bool(column.items)
        return all(column.pieces if isinstance(column, PickedItems) else column)

    def side_by_side(self, columns: Sequence[Column], size: int) -> list[Items]:
        """Each record's properties."""
        return super().side_by_side([*map(items_of, columns)], size)

    def groups(self, own: Sequence[Column], delivered: Sequence[Column], size: int) -> list[Items]:
        """Task groups as they are."""
        return super().groups([*map(items_of, own)], [*map(items_of, delivered)], size)


def items_of(column: Column) -> Sequence[Items]:
    """A column of any kind as tuples of properties."""
    if isinstance(column, NamedTexts):
        name, attributes, texts = column
        return [(Property.read(name, text, attributes),) for text in texts]
    if isinstance(column, SameItems):
        return [column.items] * column.size
    if isinstance(column, PickedItems):
        return [*map(column.pieces.__getitem__, column.codes.tolist())]
    return column


class ColumnPlace(NamedTuple):
    """A column, where it stands, the names of its properties, and each piece that there is.

    Of ``NamedTexts`` the one piece stands for all, and has no text.
    """

    place: str
    column: Column
    names: frozenset[str]
    pieces: Sequence[Properties]

    @classmethod
    def of(cls, place: str, column: Column) -> ColumnPlace:
        """A column that ``ColumnsBuilder`` was given."""
        some: Sequence[Items]
        if isinstance(column, NamedTexts):
            some = [(Property.read(column.name, "", column.attributes),)]
        elif isinstance(column, SameItems):
            some = [column.items]
        elif isinstance(column, PickedItems):
            some = column.pieces
        else:
            some = [*dict(zip(map(id, column), column, strict=True)).values()]
        names = (item.name for piece in some for item in piece if isinstance(item, Property))
        return cls(place, column, frozenset(names), cast(Sequence[Properties], some))

    @property
    def is_same(self) -> bool:
        """Whether it is known that all records have the same piece."""
        return isinstance(self.column, SameItems)

    def piece(self, at: int) -> Items:
        """What a record has of it."""
        column = self.column
        if isinstance(column, NamedTexts):
            return (Property.read(column.name, column.texts[at], column.attributes),)
        if isinstance(column, PickedItems):
            return column.pieces[int(column.codes[at])]
        found: Items = column.items if isinstance(column, SameItems) else column[at]
        return found

    def some(self, at: Sequence[int]) -> ColumnPlace:
        """The column of some of its records."""
        column = self.column
        if isinstance(column, NamedTexts):
            texts = [column.texts[each] for each in at]
            return self._replace(column=column._replace(texts=texts))
        if isinstance(column, SameItems):
            return self._replace(column=column._replace(size=len(at)))
        return self._replace(column=[self.piece(each) for each in at])

    def spread(self, of: Callable[[Properties], T], size: int) -> Sequence[T]:
        """What is said of each record's piece, asked once of each of ``pieces``."""
        column = self.column
        if isinstance(column, NamedTexts | SameItems):
            return [of(self.pieces[0])] * size
        if isinstance(column, PickedItems):
            return [*map([*map(of, self.pieces)].__getitem__, column.codes.tolist())]
        known = {id(piece): of(piece) for piece in self.pieces}
        return [*map(known.__getitem__, map(id, column))]

    def alike(self, needed: frozenset[str] | None = None) -> NamedTexts | None:
        """The column as texts of properties with one name and the same attributes, "" for none.

        None where it is anything else. Of the attributes only the ``needed`` ones matter; None is
        all.
        """
        column = self.column
        if isinstance(column, NamedTexts):
            return column
        some = [piece[0] for piece in self.pieces if piece]
        if len(some) < sum(map(len, self.pieces)):
            return None
        if not all(type(item) is Property and item.text for item in some):
            return None
        kinds = {(item.name, attributes_of(item.attributes, needed)) for item in some}
        if len(kinds) != 1:
            return None
        ((name, told),) = kinds
        texts = [piece[0].text if piece else "" for piece in cast(Any, items_of(column))]
        return NamedTexts(name, Attributes.read(dict(told)), texts)

    def coded(self) -> tuple[int, Numbers] | None:
        """How many pieces there may be, and the number of each record's; None if there is none."""
        column = self.column
        if isinstance(column, PickedItems):
            return len(column.pieces), column.codes
        if isinstance(column, NamedTexts) and isinstance(column.texts, Coded):
            return len(column.texts.values), column.texts.codes
        return None


def attributes_of(
    given: Mapping[str, str], needed: frozenset[str] | None = None
) -> tuple[tuple[str, str], ...]:
    """Those attributes that are needed; None is all."""
    if not given:
        return ()
    if needed is None:
        return tuple(given.items())
    return tuple([each for each in given.items() if each[0] in needed])


def job_of(items: Mapping[str, Iterable[Item]], groups: Items = ()) -> Job:
    """A job of items by their places, and of its task groups."""
    blocks = [
        kind(told)
        for place, kind in ((REQUESTED, Requested), (DELIVERED, Delivered))
        if (told := tuple(items.get(place, ())))
    ]
    return Job((*items.get(JOB, ()), *blocks, *groups))


class RememberedValues(Generic[T]):
    """What ``of`` makes of a job that has nothing but properties that ``sees`` lets through.

    Of those with a name of ``there`` it matters only whether they have a text.
    """

    def __init__(
        self,
        of: Callable[[Job], T],
        sees: Callable[[Property], bool],
        there: Collection[str] = (),
    ) -> None:
        self._of, self._sees, self._there = of, sees, frozenset(there)
        self._memories: dict[Any, dict[Any, T]] = {}  # by what all records have
        self._keys_of: dict[Any, object] = {}  # short ones, by what pieces say
        self._texts: dict[Any, Sequence[T]] = {}

    def values(self, places: Sequence[ColumnPlace], size: int) -> Sequence[T]:
        """What is made of each record, by these columns."""
        same: list[Any] = []
        varied: list[ColumnPlace] = []
        for each in places:
            same.append(self._shape(each))
            if not each.is_same:
                varied.append(each)
        memory = self._memory(tuple(same))
        if not varied:
            return [self._value(memory, (), places, 0)] * size if size else []
        columns = [self._keys(each, size) for each in varied]
        keys: Sequence[Any] = columns[0] if len(columns) == 1 else [*zip(*columns, strict=True)]
        try:
            return [*map(memory.__getitem__, keys)]
        except KeyError:
            return [self._value(memory, key, places, at) for at, key in enumerate(keys)]

    def of_texts(
        self, place: str, columns: Sequence[NamedTexts], texts: tuple[str, ...]
    ) -> Sequence[T]:
        """What is made of a few texts, each of which stands in columns like these."""
        key = place, texts, *((each.name, attributes_of(each.attributes)) for each in columns)
        found = self._texts.get(key)
        if found is None:
            if len(self._texts) >= REMEMBERED:
                self._texts.clear()
            like = [ColumnPlace.of(place, each._replace(texts=texts)) for each in columns]
            found = self._texts[key] = self.values(like, len(texts))
        return found

    def _memory(self, shape: tuple[Any, ...]) -> dict[Any, T]:
        memory = self._memories.get(shape)
        if memory is None:
            if len(self._memories) >= REMEMBERED:
                self._memories.clear()
            memory = self._memories[shape] = {}
        return memory

    def _value(self, memory: dict[Any, T], key: Any, places: Sequence[ColumnPlace], at: int) -> T:
        try:
            return memory[key]
        except KeyError:
            if len(memory) >= REMEMBERED:
                memory.clear()
        items: dict[str, list[Item]] = {}
        for each in places:
            told = items.setdefault(each.place, [])
            told += [item for item in each.piece(at) if self._is_seen(item)]
        found = memory[key] = self._of(job_of(items))
        return found

    def _is_seen(self, item: Item) -> bool:
        return isinstance(item, Property) and self._sees(item)

    def _shape(self, place: ColumnPlace) -> Any:
        """What the pieces of a column have in common, of what matters."""
        column = place.column
        if isinstance(column, NamedTexts):
            return place.place, column.name, attributes_of(column.attributes)
        return place.place, self._key(column.items) if isinstance(column, SameItems) else None

    def _keys(self, place: ColumnPlace, size: int) -> Sequence[Any]:
        """What tells the pieces of a column apart, of what matters."""
        column = place.column
        if not isinstance(column, NamedTexts):
            return place.spread(self._key, size)
        return [*map(str.isspace, column.texts)] if column.name in self._there else column.texts

    def _key(self, piece: Items) -> object:
        told = tuple([
            (
                item.name,
                item.text.isspace() if item.name in self._there else item.text,
                attributes_of(item.attributes),
            )
            for item in cast(Properties, piece)
            if self._is_seen(item)
        ])  # fmt: skip
        found = self._keys_of.get(told)
        if found is None:
            if len(self._keys_of) >= REMEMBERED:
                self._keys_of.clear()
            found = self._keys_of[told] = object()
        return found
