"""What a writer makes of a job, in parts, for one job or for many at once.

Strategy. A record of accounting is put together of some dozens of values, and asking a job object
for each of them took ten times as long as the text of a whole document. But what a target holds,
and what is lost, must not depend on how many jobs are written at once.

The idea is that a writer declares its record as parts, and each part the names of the properties
that it is made of. Of one job, each part is asked what it makes. Of many jobs, which come as
columns of properties, a part is asked once for what repeats: for a job that has nothing but these
properties. Values that seldom repeat, such as times, have a way for a whole column.

Why it is right: a part sees no other properties than those it names, so what it makes of them in a
job of their own is what it makes of them in any. ``many`` gives nothing where texts are not of the
plainest form. Jobs that state an awarenessPolicy are written one by one, and tests compare all
writers both ways.
"""

# decision 271

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from sssjob.accounting.writers.losses import NO_PLACE, POLICY, WISH, Loss, Taken, named
from sssjob.accounting.writers.writer import (
    Kinds,
    RefusedJob,
    Unfit,
    WriterOptions,
    WrittenJob,
    checked,
)
from sssjob.model import Delivered, Item, Job, Properties, Property, Requested, TaskGroup
from sssjob.records.builders import (
    OBJECTS,
    Column,
    ColumnsBuilder,
    Items,
    Lines,
    NamedTexts,
    Same,
    SameItems,
    items_of,
)

Many = Callable[[Sequence[str]], "Column | None"]

_REMEMBERED = 4096  # values of a part, and kinds of columns that it is made of
_OWN, _DELIVERED = "", "Delivered/"


class Part(NamedTuple):
    """A piece of a record: the properties that it takes, and what it makes of a job.

    It may look at others, too, which it does not take. ``many`` makes the same of the texts of
    many properties that have no attributes, or None where it takes the job to tell.
    """

    takes: tuple[str, ...]
    write: Callable[[Taken, WriterOptions], str]
    looks: tuple[str, ...] = ()
    many: Many | None = None


class Around(NamedTuple):
    """An element around parts, which is not there without any of them."""

    name: str
    parts: tuple[Part | Around, ...]


def of_job(parts: Iterable[Part | Around], job: Taken, options: WriterOptions) -> str:
    """The text of a record. Raises ``Unfit``."""
    return "".join(
        part.write(job, options)
        if isinstance(part, Part)
        else _around(part.name, of_job(part.parts, job, options))
        for part in parts
    )


def _around(name: str, inner: str) -> str:
    return f"<{name}>{inner}</{name}>" if inner else ""


class PartsBuilder(ColumnsBuilder[WrittenJob]):
    """Builds records of parts; ``end`` stands behind each."""

    def __init__(
        self, parts: Sequence[Part | Around], options: WriterOptions, end: str = ""
    ) -> None:
        self._parts, self._options, self._end = parts, options, end
        self._makers: dict[int, _Maker] = {}
        self._takes = frozenset(_taken(parts))

    def from_job(self, job: Job) -> WrittenJob:
        """One record, all parts of the job itself."""
        taken = Taken(job)
        try:
            text = of_job(self._parts, taken, self._options)
            losses = checked(taken)
        except (Unfit, RefusedJob) as error:
            return WrittenJob("", (), error)
        return WrittenJob(text + self._end, (_kinds(losses),))

    def jobs(
        self, own: Sequence[Column], requested: Sequence[Column], delivered: Sequence[Column],
        groups: Sequence[Items],
    ) -> list[WrittenJob]:  # fmt: skip
        """Records of many jobs, part by part."""
        told = _Told(own, requested, delivered)
        if told.is_odd:
            mine, asked, given = ([*map(items_of, each)] for each in (own, requested, delivered))
            return [*map(self.from_job, OBJECTS.jobs(mine, asked, given, groups))]
        size = len(groups)
        batch = _Batch(told, self._options, size)
        lines = Lines(size)
        self._put(lines, self._parts, batch)
        lost = [*batch.lost, *told.lost(self._takes, size), *_of_groups(groups)]
        texts = lines.texts(self._end)
        if not batch.errors:
            return [*map(WrittenJob, texts, zip(*lost, strict=True) if lost else [()] * size)]
        each = zip(*lost, strict=True) if lost else [()] * size
        return [
            WrittenJob("", (), batch.errors[at]) if at in batch.errors else WrittenJob(text, kinds)
            for at, (text, kinds) in enumerate(zip(texts, each, strict=True))
        ]

    def _put(self, lines: Lines, parts: Sequence[Part | Around], batch: _Batch) -> None:
        for part in parts:
            if isinstance(part, Part):
                lines.put(self._columns((part,), batch))
            else:
                inner = self._columns(part.parts, batch)
                if any(inner):
                    lines.put_block(part.name, inner)

    def _columns(self, parts: Sequence[Part | Around], batch: _Batch) -> list[Column]:
        found: list[Column] = []
        for part in parts:
            if isinstance(part, Around):
                inner = Lines(batch.size)
                self._put(inner, (part,), batch)
                found.append(inner.texts())
            else:
                maker = self._makers.get(id(part))
                if maker is None:
                    maker = self._makers[id(part)] = _Maker(part)
                if (made := maker.column(batch)) is not None:
                    found.append(made)
        return found


def _taken(parts: Iterable[Part | Around]) -> Iterator[str]:
    for part in parts:
        yield from part.takes if isinstance(part, Part) else _taken(part.parts)


class _Place(NamedTuple):
    """A column, where it stands, and the names of its properties."""

    place: str
    column: Column
    names: frozenset[str]
    pieces: Sequence[tuple[Property, ...]]  # each that there is


class _Told:
    """The columns of many jobs, by the names of their properties."""

    def __init__(
        self, own: Sequence[Column], requested: Sequence[Column], delivered: Sequence[Column]
    ) -> None:
        self.places = [
            *(_placed(_DELIVERED, column) for column in delivered),
            *(_placed(_OWN, column) for column in own),
        ]
        self._requested = [_placed(f"{Requested.name}/", column) for column in requested]
        self.is_odd = any(map(_is_odd, (*self.places, *self._requested)))

    def lost(self, takes: frozenset[str], size: int) -> Iterator[Sequence[Kinds]]:
        """What of many jobs no part takes."""
        for each in self.places:
            if not each.names <= takes:
                yield _lost(each, takes, NO_PLACE, size)
        for each in self._requested:
            yield _lost(each, frozenset(), WISH, size)


def _placed(place: str, column: Column) -> _Place:
    if isinstance(column, NamedTexts):
        like = Property.read(column.name, "", column.attributes)
        return _Place(place, column, frozenset((column.name,)), ((like,),))
    some = (
        [column.items]
        if isinstance(column, SameItems)
        else [*{id(it): it for it in column}.values()]
    )
    names = frozenset(item.name for piece in some for item in piece if isinstance(item, Property))
    return _Place(place, column, names, cast(Sequence[tuple[Property, ...]], some))


def _is_odd(place: _Place) -> bool:
    """Whether a column holds what decides about losses, or is no plain property."""
    return any(
        type(item) is not Property or POLICY in item.attributes
        for piece in place.pieces
        for item in piece
    )


def _lost(place: _Place, takes: frozenset[str], reason: str, size: int) -> Sequence[Kinds]:
    """What is lost of each piece of a column, but for the names that are taken."""
    kinds: dict[int, Kinds] = {
        id(piece): tuple(
            ((f"{place.place}{named(item)}", reason), 1) for item in piece if item.name not in takes
        )
        for piece in place.pieces
    }
    if isinstance(place.column, NamedTexts | SameItems):
        return [*kinds.values()] * size
    return [kinds[id(piece)] for piece in place.column]


def _of_groups(groups: Sequence[Items]) -> Iterator[Sequence[Kinds]]:
    if any(groups):
        yield [(((TaskGroup.name, NO_PLACE), len(each)),) if each else () for each in groups]


class _Batch:
    """Many jobs that are written at once: what was lost so far, and which cannot be written."""

    def __init__(self, told: _Told, options: WriterOptions, size: int) -> None:
        self.told, self.options, self.size = told, options, size
        self.lost: list[Sequence[Kinds]] = []
        self.errors: dict[int, Unfit] = {}


class _Made(NamedTuple):
    """What a part makes of some properties, which are kept for as long as it is remembered."""

    text: str
    lost: Kinds
    error: Unfit | None
    pieces: Any


class _Maker:
    """Makes columns of a part, and remembers what it made of the same properties."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._names = frozenset((*part.takes, *part.looks))
        self._memories: dict[tuple[Any, ...], tuple[dict[Any, _Made], Any]] = {}

    def column(self, batch: _Batch) -> Column | None:
        """What the part makes of many jobs; None is nothing of any."""
        places = [each for each in batch.told.places if each.names & self._names]
        if len(places) == 1 and self._part.many:
            made = self._together(places[0], self._part.many)
            if made is not None:
                return made
        return self._one_by_one(places, batch)

    def _together(self, place: _Place, many: Many) -> Column | None:
        column = place.column
        if isinstance(column, NamedTexts):
            return None if column.attributes else many(column.texts)
        if isinstance(column, SameItems) or any(
            len(piece) > 1 or (piece and piece[0].attributes) for piece in place.pieces
        ):
            return None
        texts = [piece[0].text for piece in column if piece]
        if not all(texts) or (made := many(texts)) is None:
            return None
        lines = Lines(len(texts))
        lines.put((made,))
        found = iter(lines.texts())
        return [next(found) if piece else "" for piece in column]

    def _one_by_one(self, places: Sequence[_Place], batch: _Batch) -> Column | None:
        shape = tuple((each.place, *_shape(each.column), *each.names) for each in places)
        if shape not in self._memories:
            if len(self._memories) >= _REMEMBERED:
                self._memories.clear()
            kept = [each.column for each in places if isinstance(each.column, SameItems)]
            self._memories[shape] = {}, kept
        memory, _ = self._memories[shape]
        varied = [each.column for each in places if not isinstance(each.column, SameItems)]
        keys: Iterable[Any] = zip(*map(_keys, varied), strict=True) if varied else [()]
        made = [*map(memory.get, keys := [*keys])]
        if None in made:
            if len(memory) >= _REMEMBERED:
                memory.clear()
            for at, key in enumerate(keys):
                if made[at] is None:
                    found = memory.get(key)
                    if found is None:
                        found = memory[key] = self._made(places, at, batch.options)
                    made[at] = found
        found_all: list[_Made] = made  # type: ignore[assignment]  # none is left out
        if not varied:
            found_all *= batch.size
        lost = [each.lost for each in found_all]
        if any(lost):
            batch.lost.append(lost)
        for at, each in enumerate(found_all):
            if each.error is not None:
                batch.errors.setdefault(at, each.error)
        if not varied:
            return Same((found_all[0].text,)) if found_all and found_all[0].text else None
        return [each.text for each in found_all]

    def _made(self, places: Sequence[_Place], at: int, options: WriterOptions) -> _Made:
        """What the part makes of a job that has nothing but what it is made of."""
        own: list[Item] = []
        given: list[Item] = []
        pieces = [_piece(each.column, at) for each in places]
        for each, piece in zip(places, pieces, strict=True):
            into = given if each.place else own
            into += [item for item in cast(Properties, piece) if item.name in self._names]
        taken = Taken(Job((*own, Delivered(tuple(given))) if given else tuple(own)))
        try:
            text = self._part.write(taken, options)
        except Unfit as error:
            return _Made("", (), error, pieces)
        return _Made(text, _kinds(taken.losses(frozenset(self._part.takes))), None, pieces)


def _shape(column: Column) -> tuple[Any, ...]:
    """What columns have in common whose pieces are told by their keys."""
    if isinstance(column, NamedTexts):
        return "texts", column.name, *column.attributes.items()
    return ("same", id(column.items)) if isinstance(column, SameItems) else ("pieces",)


def _keys(column: Column) -> Iterable[Any]:
    return column.texts if isinstance(column, NamedTexts) else map(id, column)


def _piece(column: Column, at: int) -> Items:
    if isinstance(column, NamedTexts):
        return (Property.read(column.name, column.texts[at], column.attributes),)
    found: Items = column.items if isinstance(column, SameItems) else column[at]
    return found


def _kinds(losses: Iterable[Loss]) -> Kinds:
    """How many losses there are of each kind."""
    return tuple(Counter((loss.path, loss.reason) for loss in losses).items())
