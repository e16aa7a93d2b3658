"""What a record format declares; documents, job objects, parts and ``auto`` follow from it.

Strategy. A format is a mapping of columns, and all else about it is mechanics: cutting bytes,
folding what belongs to one job, making jobs by two builders, in one process or in several, of a
whole file or of what is new in a growing log. If each format wrote these mechanics, each would have
its own faults.

The idea is one value, ``Layout``, that holds what only the format knows, and one engine
(``engine.py``) that does the rest, in stages: bytes are *cut* into pieces with their line; a piece
is *read* into a ``Record``, named columns of text; records of one job are *folded*; and many
records with the same names, which are a ``RecordBatch`` then, are *made* into jobs at once, column
by column, by a ``Plan`` of the table's rows. What folds may give such batches itself.

Why it is right: a stage knows of its neighbours only what passes between them, so what holds for
one format holds for all: every piece ends in exactly one outcome, both builders use the same
plan, and a part that begins with another line number gives what the whole would have given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple, Protocol, Union, cast

from sssjob.errors import InvalidValue, Severity
from sssjob.model import Job, Property
from sssjob.records.clock import BLANK, Clock
from sssjob.records.cutting import Moved, NewCutter
from sssjob.records.record import Bad, Field, Noted, Options, Skipped
from sssjob.records.texts import BulkColumn
from sssjob.records.wall_times import Lasted

Names = tuple[str, ...]

NEVER = "(never started)"  # stands behind the names of a record that tells of no run
NO_STATE = "no state: the job has none"
# What there is to say of a record without a start that tells of a run all the same.
NO_START = "no start, and it ran, as its wall or CPU time says: what it used counts"
# Of a job that has ended and used something. # decision 1073
NO_WALL = "no wall time, and no start and end that tell it: sums count 0 s of such a job"
_SOME_TIME = re.compile(r"(?!-)[0-9:.-]*[1-9][0-9:.-]*")


def ran(*times: str) -> bool:
    """Whether a wall or CPU time of a record says that its job ran, whatever its start is.

    >>> ran("", "00:00:00.5"), ran("0", "0.000"), ran("-1", "Unknown"), ran("1-00:00:00")
    (True, False, False, True)
    """
    return any(map(_SOME_TIME.fullmatch, times))


class NoRecord(InvalidValue):
    """A piece that is no record, and why."""

    def __str__(self) -> str:
        return self.text

    def __init__(self, reason: str) -> None:
        super().__init__(reason, "a record")


class Record(NamedTuple):
    """A record that was read: its line, the names of its columns, and their values.

    Records with one tuple of names are taken together; names without a value stand last. ``more``
    are Extensions that have no column, ``notes`` what is worth knowing if it becomes a job,
    ``folded`` the lines and names of records that were folded into it, and ``groups`` what the
    builder made of them, if they are task groups.
    """

    line: int
    names: Names
    fields: Sequence[Any]
    ended: bool = True
    more: tuple[Property, ...] = ()
    notes: tuple[Noted, ...] = ()
    folded: Collection[tuple[int, str]] = ()
    groups: Any = ()


class RunKey(NamedTuple):
    """The columns of the times that tell a run of a job from its others.

    Those that a clock reads are read at once where they are named; the times that the table gives
    count in any case. Whose it is, its machine and its id, is what the table says. ``is_whole``
    says that a record has so many columns, always, that two which are the same in all of them are
    one, even without times. ``record`` is the column of what tells a record from all others, which
    tells those without any.
    """

    submit: str = ""
    start: str = ""
    end: str = ""
    is_whole: bool = False
    record: str = ""

    @property
    def times(self) -> tuple[str, str, str]:
        """The columns of submission, start and end."""
        return self.submit, self.start, self.end


class NoRunKey(NamedTuple):
    """Why nothing tells a run of a job from its others: a record that is read twice is two."""

    reason: str


BY_TIMES = RunKey()  # whatever columns the table makes SubmitTime, StartTime and EndTime of


class KnownColumns(NamedTuple):
    """Every column that the vendor knows, in its order: for the page that says where each goes.

    ``worked_out`` are columns that no record has, by those that they are made of; ``not_kept`` says
    why nothing becomes of a column, and ``also`` what one gives beside its property.
    """

    columns: Names
    worked_out: Mapping[str, Names] = {}
    not_kept: Mapping[str, str] = {}
    also: Mapping[str, str] = {}


def goes_on(line: int, who: str = "") -> Noted:
    """What there is to say of a job that goes on and has an end all the same; ``who`` prints it."""
    text = f"an End of a job that goes on: {who and f'{who} prints it, and '}it is left out"
    return Noted(line, text, once=True, severity=Severity.NOTICE)


_record = tuple.__new__  # what Record(...) calls in the end, without a call in between


def told_by_columns(line: int, names: Names, fields: Sequence[Any]) -> Record:
    """``Record(line, names, fields)`` in half the time, for the millions that are just so."""
    return _record(Record, (line, names, fields, True, (), (), (), ()))


class MadeJob(NamedTuple):
    """A record that is a job object already, by other means than a table."""

    line: int
    job: Job
    ended: bool = True
    notes: tuple[Noted, ...] = ()


class RecordBatch(NamedTuple):
    """Records with the same names, as columns.

    ``places`` is where they stand in their ``Stretch``. Behind the columns is what a ``Record``
    tells of itself; nothing where that is the same as if a record told nothing.
    """

    names: Names
    places: Sequence[int]
    lines: Sequence[int]
    columns: Sequence[Sequence[Any]]
    ended: Sequence[bool] = ()
    more: Sequence[tuple[Property, ...]] = ()
    notes: Sequence[tuple[Noted, ...]] = ()
    folded: Sequence[Collection[tuple[int, str]]] = ()
    groups: Sequence[Any] = ()

    @classmethod
    def of(cls, places: Sequence[int], records: Sequence[Record]) -> RecordBatch:
        """Records in these places of their stretch."""
        lines, names, fields, *told = zip(*records, strict=True)
        return cls(names[0], places, lines, [*zip(*fields, strict=True)], *told)

    def only(self, chosen: Sequence[int]) -> RecordBatch:
        """Some of the records, by their numbers in the batch."""

        def of(column: Sequence[Any]) -> Sequence[Any]:
            if isinstance(column, BulkColumn) and len(chosen):
                return column.take(chosen)
            return [column[at] for at in chosen] if column else ()

        names, places, lines, columns, *told = self
        return RecordBatch(names, of(places), of(lines), [*map(of, columns)], *map(of, told))

    def skipped(self, at: int, reason: str) -> list[Skipped]:
        """What a record becomes, with those folded into it, where it is not wanted."""
        parts = self.folded[at] if self.folded else ()
        return [Skipped(self.lines[at], reason), *(Skipped(line, reason) for line, _ in parts)]


class RecordRun(NamedTuple):
    """Records of one line each that follow each other from a line on, and of which none is a part.

    ``batches`` have them all; ``columns`` are the fields of their lines.
    """

    line: int
    columns: Sequence[BulkColumn]
    batches: Sequence[RecordBatch]

    def __len__(self) -> int:
        return len(self.columns[0])

    def pieces(self) -> Iterator[tuple[int, list[str]]]:
        """The lines one by one, as the cut of single lines gives them."""
        fields = zip(*[column.list for column in self.columns], strict=True)
        return enumerate(map(list, fields), self.line)

    def records(self) -> list[Record]:
        """The records one by one."""
        found: list[Any] = [None] * len(self)
        for batch in self.batches:
            for place, line, fields in zip(
                batch.places, batch.lines, zip(*batch.columns, strict=True), strict=True
            ):
                found[place] = told_by_columns(line, batch.names, [*fields])
        return found

    def stretch(self) -> Stretch:
        """The same as a stretch."""
        return Stretch([None] * len(self), self.batches)


class Stretch(NamedTuple):
    """What was found in a stretch of the input, in its order.

    ``items`` is what becomes an outcome as it is; in the places of records of ``batches`` stands
    anything, and so it does where the items ``made`` are jobs already.
    """

    items: Sequence[Any]
    batches: Sequence[RecordBatch] = ()
    made: Sequence[int] = ()

    @classmethod
    def of(cls, found: Sequence[Any]) -> Stretch:
        """What was read record by record; those with the same names become a batch."""
        if found and found[0].__class__ is RecordRun:
            (run,) = found
            return cast(RecordRun, run).stretch()
        if {*map(type, found)} == {Record}:
            records = cast(Sequence[Record], found)
            told = [record.names for record in records]
            if told.count(told[0]) == len(told):
                return cls(found, [RecordBatch.of(range(len(found)), records)])
        alike: dict[int, list[int]] = {}  # by the identity of the names: hashing them takes time
        made: list[int] = []
        names: Names | None = None
        places: list[int] = []
        for place, item in enumerate(found):
            if item.__class__ is Record:
                if item.names is not names:  # mostly they are those of the record before
                    names = item.names
                    places = alike.setdefault(id(names), [])
                places.append(place)
            elif item.__class__ is MadeJob:
                made.append(place)
        batches = [
            RecordBatch.of(places, cast(list[Record], [found[place] for place in places]))
            for places in alike.values()
        ]
        return cls(found, batches, made)

    def replaced(self, instead: Mapping[int, Sequence[Any]], behind: Mapping[int, Any]) -> Stretch:
        """The same with other things in some places, or behind them."""
        items: list[Any] = []
        moved: dict[int, int] = {}
        for place, item in enumerate(self.items):
            if place in instead:
                items += instead[place]
                continue
            moved[place] = len(items)
            items.append(item)
            if place in behind:
                items.append(behind[place])
        batches = []
        for batch in self.batches:
            kept = batch.only([at for at, place in enumerate(batch.places) if place in moved])
            batches.append(kept._replace(places=[moved[place] for place in kept.places]))
        return Stretch(items, batches, [moved[place] for place in self.made if place in moved])

    def then(self, more: Stretch) -> Stretch:
        """This stretch, and the next one."""
        size = len(self.items)
        return Stretch(
            [*self.items, *more.items],
            [*self.batches,
             *(each._replace(places=[size + at for at in each.places]) for each in more.batches)],
            [*self.made, *(size + at for at in more.made)],
        )  # fmt: skip


Read = Union[Record, MadeJob, Skipped, Bad, Noted]  # noqa: UP007  # a value, not only a type
# A line, or another number, with what is read there; or what was read already, for the folding.
Piece = Union[tuple[Any, ...], RecordRun, Skipped, Bad, Noted, Moved]  # noqa: UP007  # the same
# What a piece is. None: nothing. Raises ``InvalidValue`` for one that is no record.
Reader = Callable[[int, Any], Read | list[Read] | None]
Rows = Callable[[Names], Iterable[Field]]


class Cut(Protocol):
    """How bytes are cut into pieces: each has the number of its first line."""

    @property
    def cutter(self) -> NewCutter | None:
        """What cuts a stream where these pieces can be cut, whatever they tell."""
        ...

    def batches(self, stream: BinaryIO, first: int, options: Options) -> Iterator[Iterable[Piece]]:
        """The pieces of a stream whose first line has this number, some hundred at once.

        Each batch is taken to its end before the next one is asked for.
        Raises ``UnusableInput`` where it does not begin as it must.
        """
        ...


def _unknown(head: bytes) -> str:
    return ""


class Folder(Protocol):
    """Folds what was read of a stream into the records of jobs, and leaves all else as it is."""

    def take(self, found: Sequence[Any]) -> Stretch:
        """What is known after the next of what was read."""
        ...

    def close(self) -> Stretch:
        """What is known when nothing more comes."""
        ...


class Folds(Protocol):
    """What folds several records of one job, for each stream anew."""

    def folder(self, options: Options, plans: Any) -> Folder:
        """What folds a stream; ``plans`` are those of the engine (``making.Plans``), and kept."""
        ...


def alone(read: Reader) -> Callable[[Options, Clock], Reader]:
    """The reader of a format whose pieces are read without knowing anything else."""
    return lambda options, clock: read


def mapping(started: Iterable[Field], waiting: Iterable[Field] = ()) -> Rows:
    """One mapping for all records; another one for those that tell of no run, if it is given."""
    rows, others = tuple(started), tuple(waiting)
    return lambda names: others if others and names[-1] == NEVER else rows


_NO_ROWS = mapping(())


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A record format.

    ``type`` is that of its Extensions. ``reader`` gives, for each stream anew, what reads a piece;
    without one, pieces are read already. ``rows`` is the mapping for records with these names; what
    is ``MadeJob`` needs none. ``span`` names the columns of start and end, of which a
    note may speak, and ``lasted`` those of a wall time that cannot be longer. ``run`` tells runs
    apart, so that a record which is read twice counts once, or why nothing does; ``known`` all
    columns. ``untold`` are its words for an unknown time.
    ``recognises`` says what in the first bytes of a file tells the format, ``mistaken`` what is
    wrong with a file that is often taken for it; both give "" for all others. ``folding`` is for
    formats with several records of one job. ``is_table``: its columns stand in a header, or are
    those that ``Options`` name.
    """

    type: str
    cut: Cut
    reader: Callable[[Options, Clock], Reader] | None = None
    rows: Rows = _NO_ROWS
    folding: Folds | None = None
    span: tuple[str, str] = ("", "")
    lasted: Lasted | None = None
    run: RunKey | NoRunKey = BY_TIMES
    known: KnownColumns | None = None
    untold: frozenset[str] = BLANK
    recognises: Callable[[bytes], str] = _unknown
    mistaken: Callable[[bytes], str] = _unknown
    is_table: bool = False
