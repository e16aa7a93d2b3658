"""Documents on their way into a store: alone, or many at once as columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from sssjob.document.meant import Around
from sssjob.integers import DIGITS
from sssjob.known_by import may_be_of_schedd, of_one
from sssjob.store import columns, schema
from sssjob.store.columns import NAMES
from sssjob.store.engine import Row, Sparse
from sssjob.store.files import NO_FILES
from sssjob.store.identity import MARKS, Marks, ids_of
from sssjob.store.packing import Content, Packed

if TYPE_CHECKING:
    from sssjob.store.used import JobUse

_STARTED, _ID, _GLOBAL_ID = (
    NAMES.index(columns.name_of(path)) for path in ("StartTime", "Id", "GlobalId")
)
_PLACE = NAMES.index(columns.PLACE)
MARKED = len(MARKS)  # columns of the table
# Whose a job is: of whom was delivered, or else its own User, as in reports.
USERS = [columns.name_of(path) for path in ("Delivered/User", "User")]
_USER_PLACES = [NAMES.index(name) for name in USERS]


class MemberRow(NamedTuple):
    """A job of a group by the columns of its row."""

    id: object
    global_id: object = None
    started: object = None

    def ids(self) -> tuple[str, ...]:
        """The Ids by which it may be told of."""
        id_, global_id = (str(each or "") for each in self[:2])
        return ids_of("Job", id_, Marks(global_id))

    def starts(self) -> Iterator[int]:
        """When it started, where it may be told of by an Id that it does not tell."""
        if isinstance(self.started, int | float) and float(self.started).is_integer():
            id_, global_id = (str(each or "") for each in self[:2])
            yield from starts_of(id_, Marks(global_id, started=str(int(self.started))))


class Incoming(NamedTuple):
    """A document that was read: what it is about, its content, and the rows of its jobs.

    ``named`` are the ids of the Files that it names, and ``files`` what came of them with it;
    ``others`` are their ids with the names of attributes that are not kept.
    ``stands_alone`` is whether nothing can stand beside it; else ``around`` are the elements that
    it stands in. One that ``is_cut`` may be cut short: what is there, and tells as much of its
    run, counts. ``used`` is what reports read of its jobs; None is not known.
    """

    name: str
    id: str
    marks: Marks
    content: Content
    rows: Sequence[Row]
    named: tuple[str, ...] = ()
    files: Mapping[str, bytes] = NO_FILES
    stands_alone: bool = True
    line: int = 0
    around: Around = ()
    others: tuple[tuple[str, str], ...] = ()
    is_cut: bool = False
    used: Sequence[JobUse] | None = None

    def every_id(self) -> tuple[str, ...]:
        """The Ids by which a store may have it, its own first."""
        return ids_of(self.name, self.id, self.marks)

    def members(self) -> Iterator[MemberRow]:
        """The jobs of a group."""
        for row in self.rows:
            if row[_PLACE] and row[_ID] is not None:
                yield MemberRow(row[_ID], row[_GLOBAL_ID], row[_STARTED])

    def ids_inside(self) -> set[str]:
        """The Ids by which jobs of a group may be told of."""
        return {id_ for each in self.members() for id_ in each.ids()}

    def starts(self) -> Iterator[int]:
        """When it started, where a store may have it by an Id that this does not tell."""
        return starts_of(self.id, self.marks)

    def is_one_of(self, ids: Collection[str]) -> bool:
        """Whether it may be told of by one of these Ids."""
        return any(id_ in ids for id_ in self.every_id())

    def of_nobody(self) -> Incoming:
        """The same, whoever the user is."""
        return self._replace(marks=self.marks.of_nobody())

    @property
    def size(self) -> int:
        """The bytes of the document."""
        return self.content.size if isinstance(self.content, Packed) else len(self.content)


class Ready(NamedTuple):
    """Documents that were read and compressed elsewhere, as columns, to be added many at once.

    They stand alone and name no Files. To make objects of each of them would take longer than
    the database does. ``owners`` says to which document each row belongs, and ``places`` which
    columns have a value in any of them.
    """

    names: Sequence[str]
    ids: Sequence[str]
    marks: Sequence[tuple[str, ...]]  # the fields of ``Marks``, each of all documents
    lines: Sequence[int]
    dictionary: int
    data: Sequence[bytes]
    sizes: Sequence[int]
    owners: Sequence[int]
    places: tuple[int, ...]
    columns: Sequence[Row]

    @classmethod
    def of(cls, documents: Sequence[Incoming]) -> Ready:
        """Documents for which ``is_plain`` holds, at least one."""
        names, ids, marks, contents, *_ = zip(*documents, strict=True)
        lines = [document.line for document in documents]
        dictionaries, data, sizes = zip(*contents, strict=True)
        found = [sparse(row) for document in documents for row in document.rows]
        shapes = {row.places for row in found}
        places = tuple(sorted(frozenset[int]().union(*shapes)))
        picks = {shape: _wide(shape, places) for shape in shapes}
        owners = [n for n, document in enumerate(documents) for _ in document.rows]
        rows = (picks[row.places]((*row.values, None)) for row in found)
        return cls(
            names, ids, tuple(zip(*marks, strict=True)), lines, dictionaries[0], data, sizes,
            owners, places, tuple(zip(*rows, strict=True)),
        )  # fmt: skip

    @property
    def size(self) -> int:
        """The bytes of the documents."""
        return sum(self.sizes)

    def every_id(self) -> list[str]:
        """The Ids by which a store may have one of them."""
        if not any("#" in id_ for id_ in (*self.ids, *self.marks[0])):
            return [*self.ids]
        every = zip(self.names, self.ids, zip(*self.marks, strict=True), strict=True)
        return [id_ for name, own, told in every for id_ in ids_of(name, own, Marks(*told))]

    def starts(self) -> Iterator[int]:
        """When those started that a store may have by Ids that these do not tell."""
        global_ids, _, started, owners, _ = self.marks
        return starts_untold(self.ids, global_ids, started, owners)

    def added(self, numbers: Iterator[int], change: int) -> Iterator[Row]:
        """The rows of documents that are new, with the next numbers."""
        return zip(
            islice(numbers, len(self.ids)), self.names, self.ids, repeat(1), *self.marks[:MARKED],
            repeat(1), repeat(change), repeat(0), repeat(""), repeat(self.dictionary), self.data,
        )  # fmt: skip

    def members(self) -> Iterator[MemberRow]:
        """The jobs in the groups among them."""
        if "JobGroup" not in self.names:
            return
        by = {place - schema.OWN: at for at, place in enumerate(self.places[schema.OWN :])}
        told = _ID, _GLOBAL_ID, _STARTED, _PLACE
        found = (self.columns[by[each]] if each in by else repeat(None) for each in told)
        for id_, global_id, started, place in zip(*found, strict=False):
            if place and id_ is not None:
                yield MemberRow(id_, global_id, started)

    def documents(self) -> Iterator[Incoming]:
        """Each of them by itself."""
        rows: list[list[Row]] = [[] for _ in self.ids]
        whole = _wide(self.places, range(schema.OWN + len(NAMES)))
        for owner, values in zip(self.owners, zip(*self.columns, strict=True), strict=True):
            rows[owner].append(whole((*values, None)))
        contents = map(Packed, repeat(self.dictionary), self.data, self.sizes)
        marks = (Marks(*each) for each in zip(*self.marks, strict=True))
        found = map(Incoming, self.names, self.ids, marks, contents, rows)
        return (each._replace(line=line) for each, line in zip(found, self.lines, strict=True))


def is_plain(found: object) -> bool:
    """Whether this is a document that others can be added with: it waits for nothing."""
    return (
        isinstance(found, Incoming)
        and found.stands_alone
        and not found.named
        and isinstance(found.content, Packed)
    )


def sparse(row: Row) -> Sparse:
    """A row as the table of rows takes it, behind the columns that say whose it is."""
    there = tuple([place for place, value in enumerate(row) if value is not None])
    places, pick = _shape(there)
    return Sparse(places, pick(row))


@lru_cache
def _shape(there: tuple[int, ...]) -> tuple[tuple[int, ...], Callable[[Row], Row]]:
    """The places in the table of rows of what is there, and what picks it out of a row."""
    own = schema.OWN
    return (*range(own), *(own + place for place in there)), itemgetter(*there)


def _wide(shape: Sequence[int], places: Sequence[int]) -> Callable[[Row], Row]:
    """What picks the values for places out of a row of this shape with None behind it."""
    at = {place: index for index, place in enumerate(shape[schema.OWN :])}
    return itemgetter(*(at.get(place, -1) for place in places[schema.OWN :]))


def has_global_ids(ids: Iterable[str]) -> bool:
    """Whether a job of HTCondor is among them: no index tells that its several Ids are of one."""
    return any("#" in id_ for id_ in ids)


def distinct(documents: Sequence[Incoming]) -> Iterator[Sequence[Incoming]]:
    """The documents in their order, in pieces within which no two have the same Id.

    Nor is a job alone in the piece of a group that has it: which came first counts.
    """
    seen, alone, inside = set[str](), set[str](), set[str]()
    start = 0
    for end, document in enumerate(documents):
        ids, members = document.every_id(), document.ids_inside()
        is_job = document.name == "Job"
        is_apart = inside.isdisjoint(ids) if is_job else alone.isdisjoint(members)
        if not (is_apart and seen.isdisjoint(ids)):
            yield documents[start:end]
            seen, alone, inside, start = set(), set(), set(), end
        seen.update(ids)
        alone.update(ids if is_job else ())
        inside.update(members)
    if documents:
        yield documents[start:]


def starts_untold(
    ids: Iterable[str], global_ids: Iterable[str], started: Iterable[str], owners: Iterable[str]
) -> Iterator[int]:
    """When the runs started of which no GlobalJobId is told, but a part of it, or no user."""
    for id_, one, start, owned_by in zip(ids, global_ids, started, owners, strict=True):
        is_known = owned_by and of_one(id_, one)
        if (
            len(start) <= DIGITS
            and start.isdecimal()
            and may_be_of_schedd(id_, one)
            and not is_known
        ):
            yield int(start)


def starts_of(id_: str, marks: Marks) -> Iterator[int]:
    """The same of one run."""
    return starts_untold((id_,), (marks.global_id,), (marks.started,), (marks.whose,))


def user_in(row: Row) -> str:
    """The user of a job by its row; "" is not told."""
    return next((str(row[at]) for at in _USER_PLACES if row[at] is not None), "")
