"""What every record format shares: rows of a mapping, what becomes of a record, and the counts.

A format reads bytes and yields outcomes. Every record of the input ends in exactly one of
``Converted``, ``Skipped`` and ``Bad``; a ``Noted`` stands beside them and is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import wraps
from typing import Any, Generic, NamedTuple, TypeVar, Union

from sssjob import spec
from sssjob.errors import InvalidValue, Severity
from sssjob.model import Property
from sssjob.records.texts import BulkColumn, Coded

J = TypeVar("J")  # what a record becomes: a Job, or the text of one

CUT_SHORT = "the last line has no line end: it may be cut short"  # ``Noted`` behind the last record
JOB = "Job"
REQUESTED, DELIVERED = spec.REQUESTED, spec.DELIVERED
NOWHERE = ""
KEPT, LEFT_OUT = "kept as an Extension", "left out"  # what becomes of a text that is no value
COMPARED = "(compared)"  # a column that is only held against others, which raises ``Instead``

Found = str | tuple[Property, ...] | None
Read = Callable[..., Found]  # of one text, or of as many as a row has columns
Many = Callable[[Sequence[str]], "Sequence[str] | None"]
Parts = Callable[[str], Sequence[str]]
Bulk = Callable[[BulkColumn], BulkColumn | None]
Apart = Callable[[BulkColumn], "Sequence[Coded] | None"]

_NO_ATTRIBUTES: Mapping[str, str] = {}


def plain(text: str) -> Found:
    """The text as it stands."""
    return text


R = TypeVar("R", bound=Read)


def varied(read: R) -> R:
    """Mark a reader of texts that seldom repeat: it costs less to read them than to remember."""
    read.varied = True  # type: ignore[attr-defined]  # functions have attributes
    return read


def numeric(largest: int) -> Callable[[R], R]:
    """Mark a reader that gives a whole number from 1 to ``largest`` as it is printed."""

    def mark(read: R) -> R:
        read.largest = largest  # type: ignore[attr-defined]
        return varied(read)

    return mark


def kept(many: Many, most: int = 4) -> Many:
    """The same way for many texts, which is gone once for a column that two ask for in turn.

    The last columns are known, ``most`` of them, each by itself and not by what is in it. What is
    made of columns of bytes these know on their own (``Plain.once``).
    """
    known: list[tuple[Sequence[str], Sequence[str] | None]] = []

    @wraps(many)
    def read(texts: Sequence[str]) -> Sequence[str] | None:
        for column, found in known:
            if column is texts:
                return found
        found = many(texts)
        known.append((texts, found))
        del known[:-most]
        return found

    return read


def by_columns(many: Many) -> Callable[[R], R]:
    """Mark a reader that has a faster way for many texts, none of them empty.

    ``many`` gives for each what the reader would, a text without a character to escape, or None
    where it takes the reader to tell.
    """

    def mark(read: R) -> R:
        read.many = many  # type: ignore[attr-defined]
        return varied(read)

    return mark


def in_bulk(bulk: Bulk) -> Callable[[R], R]:
    """Mark a reader that has a way for the bytes of a whole column (``texts.Plain``).

    ``bulk`` gives a column of what the reader gives for each, or None where it takes the reader to
    tell.
    """

    def mark(read: R) -> R:
        read.bulk = bulk  # type: ignore[attr-defined]
        return varied(read)

    return mark


def in_parts(parts: Parts, apart: Apart) -> Callable[[R], R]:
    """Mark a reader of texts that seldom repeat, but are put together of some that do.

    ``parts`` gives of a text, which is not empty, others that it reads as well: what the text
    becomes is what these become, one behind the other. ``apart`` gives columns of such texts for a
    whole column, "" for none, or None where it takes ``parts``.
    """

    def mark(read: R) -> R:
        read.parts = parts  # type: ignore[attr-defined]
        read.apart = apart  # type: ignore[attr-defined]
        return read

    return mark


class Instead(InvalidValue):
    """A text that is no value, and the properties that stand for it; ``then`` says how.

    It refuses no record. ``keeps``: the text is kept as an Extension all the same.
    """

    def __init__(
        self,
        text: str,
        expected: str,
        properties: tuple[Property, ...],
        then: str,
        *,
        keeps: bool = False,
    ) -> None:
        super().__init__(text, expected)
        self.properties, self.then, self.keeps = properties, then, keeps


class Field(NamedTuple):
    """One row of a mapping: a column of the source, and the property that it becomes.

    ``place`` is JOB, REQUESTED, DELIVERED, COMPARED, or NOWHERE for a column that is known and not
    kept.
    ``read`` gives the text of the property, whole properties, or None where there is no value, and
    raises ``InvalidValue`` for what is no such value at all. It is not asked about an empty text,
    unless the row has more columns ``beside`` the first: then it is given the texts of all, "" for
    each that a record does not have.
    """

    column: str
    place: str = NOWHERE
    element: str = ""
    read: Read = plain
    attributes: Mapping[str, str] = _NO_ATTRIBUTES
    beside: tuple[str, ...] = ()


class NamedColumns(NamedTuple):
    """The columns of a table, and what stands between them."""

    names: tuple[str, ...]
    delimiter: str


@dataclass(frozen=True, slots=True)
class Options:
    """How to read records; a format heeds what its source leaves open.

    ``zone``, by its name or itself, is for times that state none; ``columns`` and ``delimiter``
    are those of a table without a header, and ``earlier`` those of header lines further up, the
    latest first, whose records may go on; ``ended_only`` skips jobs that have not ended; ``steps``
    keeps the steps of a job as its task groups. ``format`` names what a source is for those who
    would recognise it otherwise: records, or documents.
    """

    zone: str | tzinfo = ""
    columns: tuple[str, ...] = ()
    delimiter: str = ""
    ended_only: bool = False
    steps: bool = True
    format: str = ""
    earlier: tuple[NamedColumns, ...] = ()


class Converted(NamedTuple, Generic[J]):
    """A record that became a job; ``steps`` more records were folded into it.

    ``job`` is a Job, or its text, by the builder that was used. A tuple, because there is one for
    each record, and any other class takes several times as long to make.
    """

    line: int
    job: J
    steps: int = 0


class ConvertedTogether(NamedTuple, Generic[J]):
    """Records that follow each other and became jobs, of a builder that hands them on so."""

    lines: Sequence[int]
    jobs: Sequence[J]

    @property
    def line(self) -> int:
        """The line of the first."""
        return self.lines[0]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that is no job, or one that was not asked for."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Bad:
    """A record that cannot be converted; ``unread``: a document that cannot be read at all.

    Of that the ``column`` and the ``code`` of its finding are kept, where they are known.
    """

    line: int
    reason: str
    unread: bool = False
    column: int = 0
    code: str = ""


@dataclass(frozen=True, slots=True)
class Noted:
    """Something worth knowing about the record at ``line``, which is counted elsewhere, or at 0
    about all of a source.

    ``once``: the same message about another record need not be said again. ``severity`` is a
    notice where nothing is wrong. ``assumes_utc``: it tells that times without a zone are read as
    UTC, for which whoever shows it may know another remedy. ``doubts``: the last record before it
    may be cut short, so that of records of its run that tell alike any other counts.
    """

    line: int
    message: str
    once: bool = False
    severity: Severity = Severity.WARNING
    assumes_utc: bool = False
    doubts: bool = False


def of_bad(parts: Iterable[tuple[int, str]]) -> Iterator[Bad]:
    """What becomes of records, by their lines and names, that were folded into a bad one."""
    return (Bad(line, f"{name} of a job whose record is bad") for line, name in parts)


Outcome = Union[Converted[J], Skipped, Bad, Noted]  # noqa: UP007  # a generic alias


FOLDED = "folded into their job"


@dataclass(slots=True)
class RecordCounts:
    """How many records ended in which way; ``records`` is always the sum of the others."""

    converted: int = 0
    steps: int = 0
    bad: int = 0
    skipped: dict[str, int] = field(default_factory=dict)

    @property
    def records(self) -> int:
        """All records, the steps that were folded into their job included."""
        return self.converted + self.steps + self.bad + sum(self.skipped.values())

    def __reduce__(self) -> tuple[Any, ...]:
        """By any protocol of pickle: those before 2 know no slots."""
        return RecordCounts, (self.converted, self.steps, self.bad, self.skipped)

    def add(self, outcome: Outcome[J]) -> None:
        """Count one outcome."""
        if isinstance(outcome, Converted):
            self.converted += 1
            self.steps += outcome.steps
        elif isinstance(outcome, ConvertedTogether):
            self.converted += len(outcome.jobs)
        elif isinstance(outcome, Bad):
            self.bad += 1
        elif isinstance(outcome, Skipped):
            self.skipped[outcome.reason] = self.skipped.get(outcome.reason, 0) + 1

    def counting(self, outcomes: Iterable[Outcome[J]]) -> Iterator[Outcome[J]]:
        """The same outcomes, counted as they pass."""
        for outcome in outcomes:
            self.add(outcome)
            yield outcome

    def include(self, more: RecordCounts) -> None:
        """Add the counts of another part of the input."""
        self.converted += more.converted
        self.steps += more.steps
        self.bad += more.bad
        for reason, count in more.skipped.items():
            self.skipped[reason] = self.skipped.get(reason, 0) + count

    def as_dict(self) -> dict[str, Any]:
        """The counts as JSON has them: records are jobs, those skipped, and bad ones.

        A step is skipped here, because its job tells of it.
        """
        folded = {FOLDED: self.steps} if self.steps else {}
        return {
            "records": self.records,
            "jobs": self.converted,
            "skipped": {**folded, **self.skipped},
            "bad_count": self.bad,
        }

    def __str__(self) -> str:
        """One line: ``converted 54 (and 60 steps), skipped 2 (header 2), bad 1``."""
        noun = "step" if self.steps == 1 else "steps"
        steps = f" (and {self.steps} {noun})" if self.steps else ""
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(self.skipped.items()))
        skipped = sum(self.skipped.values())
        return (
            f"converted {self.converted}{steps}, "
            f"skipped {skipped}{f' ({reasons})' if reasons else ''}, bad {self.bad}"
        )
