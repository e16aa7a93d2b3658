"""When nodes are taken away from jobs: reservations, as ``scontrol -o show reservation`` has them.

Of these, a window of maintenance (the flag MAINT) ends what still runs on its nodes, and a
reservation ends what runs in it. A node that is drained lets its jobs run to their end.
# decision 272
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from sssjob.errors import InvalidValue
from sssjob.systems.slurm import words

QUESTION = ("scontrol", "-o", "show", "reservation")
NONE = "No reservations in the system"
_MOST_NODES = 100_000  # of one reservation


@dataclass(frozen=True, slots=True)
class Reservation:
    """One of them: ``start`` and ``end`` in seconds since 1970."""

    name: str
    start: int
    end: int
    nodes: frozenset[str]
    flags: frozenset[str]

    @property
    def is_maintenance(self) -> bool:
        """Whether jobs have to be gone when it starts."""
        return "MAINT" in self.flags


def read(printed: str) -> list[Reservation] | None:
    """All that are printed; None where what is printed is no such listing.

    A line in which a time or the nodes cannot be read is left out: it says of no node when.
    """
    lines = [line for line in printed.splitlines() if line.strip()]
    if not all(line.startswith("ReservationName=") or line.startswith(NONE) for line in lines):
        return None
    found = [each.whole() for each in map(_line, lines)]
    return [each for each in found if each is not None] if lines else None


def is_doubtful(printed: str, node: str) -> bool:
    """Whether a window of maintenance that may be one of the node cannot be read."""
    return any(
        "MAINT" in each.flags and (each.nodes is None or node in each.nodes) and not each.whole()
        for each in map(_line, printed.splitlines())
    )


def maintenance(known: list[Reservation], node: str, now: int) -> Reservation | None:
    """The next window of maintenance of a node; one that has begun stops no job that starts."""
    windows = [each for each in known if each.is_maintenance and node in each.nodes]
    ahead = [each for each in windows if each.start > now]
    return min(ahead, key=lambda each: each.start, default=None)


def named(known: list[Reservation], name: str) -> Reservation | None:
    """The reservation of a name."""
    return next((each for each in known if each.name == name), None)


class _ReservationLine(NamedTuple):
    """What a line says; None for what cannot be read."""

    name: str
    start: int | None
    end: int | None
    nodes: frozenset[str] | None
    flags: frozenset[str]

    def whole(self) -> Reservation | None:
        """The reservation, if all of it can be read."""
        if not self.name or self.start is None or self.end is None or self.nodes is None:
            return None
        return Reservation(self.name, self.start, self.end, self.nodes, self.flags)


def _line(line: str) -> _ReservationLine:
    said: dict[str, str] = {}
    for word in line.split():
        name, _, value = word.partition("=")
        said.setdefault(name, value)
    # Nodes= without any: a reservation of licences, for example.
    nodes: frozenset[str] | None = frozenset() if said.get("Nodes") == "" else None
    with suppress(InvalidValue):
        listed = words.expand(said.get("Nodes", ""), _MOST_NODES)
        nodes = None if listed is None else frozenset(listed)
    return _ReservationLine(
        said.get("ReservationName", ""), words.moment(said.get("StartTime", "")),
        words.moment(said.get("EndTime", "")), nodes, frozenset(said.get("Flags", "").split(",")),
    )  # fmt: skip
