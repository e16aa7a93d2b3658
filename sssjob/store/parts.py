"""Sums over a whole store that are kept: of parts of it, of which only changed ones are asked anew.

Strategy. To add up a million rows takes a second of a processor, and a gateway is asked for the
same totals again and again while it writes. The documents of a store are divided by their numbers
into parts of ``SIZE``. Each transaction counts, in the store itself, which parts it writes to; so
whoever kept the sums of a part knows by one number whether they still hold.

Why it is right: the count of a part grows with each committed transaction that writes to it, and
is read in the same moment as the rows. Equal counts are of moments between which nothing was
written there. Sums are whole numbers of Python, which are added and taken away exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

from sssjob.store.engine import ReadTransaction

SIZE = 8192  # documents of a part; a million of them have 123 parts
MOST = 200_000  # sums of a group in a part that are kept in memory; each takes about 400 bytes
_ASK = "SELECT part, sum(changes) FROM touched GROUP BY part ORDER BY part"

_PARTS = 1 << 50
_SEVERAL = 100  # stretches of numbers that a question names

Texts = tuple[str, ...]
Sums = tuple[tuple[int, int], ...]  # of each measure: how many have it, and its sum


def counts(moment: ReadTransaction) -> dict[int, int]:
    """How often each part was written to."""
    rows = moment.fetch(_ASK)
    # Nobody writes to other parts: documents have numbers that grow one by one.
    return {int(part): int(count) for part, count in rows if 0 <= part < _PARTS}


def changed(moment: ReadTransaction, table: str, column: str) -> tuple[str, tuple[int, ...]]:
    """Which documents are in parts that were written to since a table had their counts.

    As a condition on the column that has their numbers, and the values for its marks.
    """
    kept: dict[int, int] = dict(moment.fetch(f"SELECT part, changes FROM {table}"))
    same = sorted(part for part, count in counts(moment).items() if kept.get(part) == count)
    terms, values, first = [], list[int](), 0
    for part in same:
        if part > first:
            terms.append(f"{column} >= ? AND {column} < ?")
            values += numbers(first)[0], numbers(part)[0]
        first = part + 1
    if len(terms) > _SEVERAL:
        return "1 = 1", ()
    terms.append(f"{column} >= ?")
    return f"({' OR '.join(terms)})", (*values, numbers(first)[0])


class PartSums(NamedTuple):
    """What is summed up of some documents.

    ``groups`` has for the texts of each group the first document and the sums; None where the
    database may have rounded. ``others`` are the documents that are to be asked themselves.
    """

    groups: dict[Texts, tuple[int, Sums]] | None
    others: tuple[int, ...] = ()


def part_of(document: int) -> int:
    """The part to which the document of a number belongs."""
    return document // SIZE


def numbers(part: int) -> tuple[int, int]:
    """The first number of a part, and the first behind it."""
    return part * SIZE, (part + 1) * SIZE


@dataclass(slots=True)
class _TotalSums:
    """The sums of all parts, and of each by itself."""

    parts: dict[int, tuple[int, PartSums]] = field(default_factory=dict)  # with their counts
    firsts: dict[Texts, dict[int, int]] = field(default_factory=dict)  # by part
    sums: dict[Texts, list[list[int]]] = field(default_factory=dict)
    size: int = 0

    def replace(self, part: int, count: int, new: PartSums) -> None:
        """Take what a part is now for what it was."""
        if part in self.parts:
            self._add(part, self.parts[part][1], -1)
        self.parts[part] = count, new
        self._add(part, new, 1)

    def _add(self, part: int, found: PartSums, sign: int) -> None:
        groups = found.groups or {}
        self.size += sign * (1 + len(groups) + len(found.others))
        for texts, (first, sums) in groups.items():
            firsts = self.firsts.setdefault(texts, {})
            whole = self.sums.setdefault(texts, [[0, 0] for _ in sums])
            for each, (count, number) in zip(whole, sums, strict=True):
                each[0] += sign * count
                each[1] += sign * number
            if sign > 0:
                firsts[part] = first
                continue
            del firsts[part]
            if not firsts:
                del self.firsts[texts], self.sums[texts]

    def all(self) -> PartSums:
        """The sums of all parts; their dictionary belongs to who asks."""
        others = tuple(self._others())
        if any(found.groups is None for _, found in self.parts.values()):
            return PartSums(None, others)
        groups = {
            texts: (min(self.firsts[texts].values()), tuple((count, n) for count, n in sums))
            for texts, sums in self.sums.items()
        }
        return PartSums(groups, others)

    def _others(self) -> Iterator[int]:
        for _, (_, found) in sorted(self.parts.items()):
            yield from found.others


class KeptSums:
    """The sums that were asked for last, of one store; several threads may ask."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[Hashable, _TotalSums] = {}  # the one that was asked for last stands last

    def of(
        self, what: Hashable, moment: ReadTransaction, ask: Callable[[int], PartSums]
    ) -> PartSums:
        """Sums over all documents in a moment; ``ask`` gives those of a part.

        ``what`` tells these sums from others that are kept.
        """
        found = counts(moment)
        with self._lock:
            whole = self._kept.pop(what, None) or _TotalSums()
            # A moment that began before another one's may not have a part that this one had.
            for part in {*found, *whole.parts}:
                count = found.get(part, 0)
                if part not in whole.parts or whole.parts[part][0] != count:
                    whole.replace(part, count, ask(part))
            self._keep(what, whole)
            return whole.all()

    @property
    def size(self) -> int:
        """How many sums of a group in a part are kept."""
        return sum(whole.size for whole in self._kept.values())

    def _keep(self, what: Hashable, whole: _TotalSums) -> None:
        if whole.size > MOST:
            return
        self._kept[what] = whole
        while self.size > MOST:
            self._kept.pop(next(iter(self._kept)))


def touching(parts: Iterable[int], writer: int) -> list[tuple[int, int]]:
    """The rows that say to which parts a writer wrote, in the order in which all lock them."""
    return [(part, writer) for part in sorted(parts)]
