"""What every record format shares: rows of a mapping, what becomes of a record, and the counts.

A format reads bytes and yields outcomes. Every record of the input ends in exactly one of
``Converted``, ``Skipped`` and ``Bad``; a ``Noted`` stands beside them and is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple

from sssjob import spec
from sssjob.model import Job, Property

JOB = "Job"
REQUESTED, DELIVERED = spec.REQUESTED, spec.DELIVERED
NOWHERE = ""

Found = str | tuple[Property, ...] | None
Read = Callable[[str], Found]

_NO_ATTRIBUTES: Mapping[str, str] = {}


def plain(text: str) -> Found:
    """The text as it stands."""
    return text


class Field(NamedTuple):
    """One row of a mapping: a column of the source, and the property that it becomes.

    ``place`` is JOB, REQUESTED, DELIVERED, or NOWHERE for a column that is known and not kept.
    ``read`` gives the text of the property, whole properties, or None where there is no value.
    """

    column: str
    place: str = NOWHERE
    element: str = ""
    read: Read = plain
    attributes: Mapping[str, str] = _NO_ATTRIBUTES

    def properties(self, text: str) -> tuple[Property, ...]:
        """What the column's text becomes. Raises ``InvalidValue``."""
        found = self.read(text)
        if found is None:
            return ()
        if isinstance(found, str):
            return (Property(self.element, found, self.attributes),)
        return found


@dataclass(frozen=True, slots=True)
class Converted:
    """A record that became a job; ``steps`` more records were folded into it."""

    line: int
    job: Job
    steps: int = 0


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that is no job, or one that was not asked for."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Bad:
    """A record that cannot be converted."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Noted:
    """Something worth knowing about the record at ``line``, which is counted elsewhere.

    ``once``: the same message about another record need not be said again.
    """

    line: int
    message: str
    once: bool = False


Outcome = Converted | Skipped | Bad | Noted


@dataclass(slots=True)
class Counts:
    """How many records ended in which way; ``records`` is always the sum of the others."""

    converted: int = 0
    steps: int = 0
    bad: int = 0
    skipped: dict[str, int] = field(default_factory=dict)

    @property
    def records(self) -> int:
        """All records, the steps that were folded into their job included."""
        return self.converted + self.steps + self.bad + sum(self.skipped.values())

    def add(self, outcome: Outcome) -> None:
        """Count one outcome."""
        if isinstance(outcome, Converted):
            self.converted += 1
            self.steps += outcome.steps
        elif isinstance(outcome, Bad):
            self.bad += 1
        elif isinstance(outcome, Skipped):
            self.skipped[outcome.reason] = self.skipped.get(outcome.reason, 0) + 1

    def counting(self, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
        """The same outcomes, counted as they pass."""
        for outcome in outcomes:
            self.add(outcome)
            yield outcome

    def as_dict(self) -> dict[str, Any]:
        """The counts as JSON has them."""
        return {
            "records": self.records,
            "converted": self.converted,
            "steps": self.steps,
            "skipped": dict(self.skipped),
            "bad": self.bad,
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


# XML 1.0 has no place for these, not even escaped (production 2, Char).
_FORBIDDEN_BYTES = bytes(range(0x09)) + b"\x0b\x0c" + bytes(range(0x0E, 0x20))
_NONCHARACTERS = (b"\xef\xbf\xbe", b"\xef\xbf\xbf")


def clean(raw: bytes, keep: bytes = b"") -> str:
    """Bytes as text that a document can hold.

    Control characters go, except those in ``keep`` (a delimiter may be one); what is not UTF-8
    becomes U+FFFD, so that no byte can end a run; line ends become ``\\n``.

    >>> clean(b"caf\\xe9\\x00 1\\r\\n2")
    'caf\\ufffd 1\\n2'
    """
    unwanted = bytes(byte for byte in _FORBIDDEN_BYTES if byte not in keep)
    raw = raw.translate(None, unwanted).replace(b"\r\n", b"\n").removesuffix(b"\r")
    for character in _NONCHARACTERS:
        raw = raw.replace(character, b"")
    return raw.decode("utf-8", "replace")


def blocks(stream: BinaryIO, limit: int, chunk: int = 1 << 16) -> Iterator[bytes]:
    """The bytes of a stream in blocks of whole lines, their last line end left out.

    Of a line longer than ``limit`` bytes only somewhat more than that is given: memory stays
    bounded, and the caller sees that it is too long.
    """
    rest, dropping = b"", False
    while block := stream.read(chunk):
        if dropping:
            _, newline, block = block.partition(b"\n")
            if not newline:
                continue
            yield rest
            rest, dropping = b"", False
        head, newline, tail = block.rpartition(b"\n")
        if newline:
            yield rest + head
            rest = tail
        else:
            rest += block
            dropping = len(rest) > limit + chunk
    if rest:
        yield rest
