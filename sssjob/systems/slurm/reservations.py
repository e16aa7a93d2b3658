"""When nodes are taken away from jobs: reservations, as ``scontrol -o show reservation`` has them.

Of these, a window of maintenance (the flag MAINT) ends what still runs on its nodes, and a
reservation ends what runs in it. A node that is drained lets its jobs run to their end.
# decision 272
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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
    return list(_read(lines)) if lines else None


def maintenance(known: list[Reservation], node: str, now: int) -> Reservation | None:
    """The next window of maintenance of a node; one that has begun stops no job that starts."""
    windows = [each for each in known if each.is_maintenance and node in each.nodes]
    ahead = [each for each in windows if each.start > now]
    return min(ahead, key=lambda each: each.start, default=None)


def named(known: list[Reservation], name: str) -> Reservation | None:
    """The reservation of a name."""
    return next((each for each in known if each.name == name), None)


def _read(lines: list[str]) -> Iterator[Reservation]:
    for line in lines:
        said: dict[str, str] = {}
        for word in line.split():
            name, _, value = word.partition("=")
            said.setdefault(name, value)
        start, end = words.moment(said.get("StartTime", "")), words.moment(said.get("EndTime", ""))
        try:
            nodes = words.expand(said.get("Nodes", ""), _MOST_NODES) or ()
        except InvalidValue:
            continue
        if start is not None and end is not None:
            flags = frozenset(said.get("Flags", "").split(","))
            yield Reservation(said["ReservationName"], start, end, frozenset(nodes), flags)
