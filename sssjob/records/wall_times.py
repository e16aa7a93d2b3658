"""Wall times of records that are longer than the time from their start to their end.

What a job was suspended for, or its prologue, makes a wall time shorter, which contradicts nothing.
A longer one cannot be true together with the times. # decision 1060
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import sub
from typing import Any, NamedTuple, cast

from sssjob.errors import InvalidValue
from sssjob.records.clock import ROUNDED, Clock, is_apart
from sssjob.records.record import Found, Many
from sssjob.records.texts import Coded, Numbers, Plain, WholeNumbers

Column = Sequence[Any]


def _never(record: Mapping[str, Any]) -> bool:
    return False


class Lasted(NamedTuple):
    """The columns of a wall time in seconds, of which the first with a text counts.

    ``read`` reads one, as the table does, and raises ``InvalidValue``; ``many`` is its faster way
    for many. By ``rounded`` seconds a wall time may be longer; ``may_be_longer`` says of which
    records it may be by any time.
    """

    columns: tuple[str, ...]
    read: Callable[[str], Found]
    many: Many | None = None
    rounded: int = ROUNDED
    may_be_longer: Callable[[Mapping[str, Any]], bool] = _never

    def longer(
        self,
        clock: Clock,
        names: Sequence[str],
        columns: Sequence[Column],
        starts: Column,
        ends: Column,
    ) -> dict[int, tuple[str, str, str]]:
        """The places of records that lasted longer than from start to end.

        With start, end and wall time of each, in seconds.
        """
        walls = [columns[names.index(name)] for name in self.columns if name in names]
        if not walls:
            return {}
        found = {}
        for at in self._candidates(clock, walls[0], starts, ends):
            start, end, wall = self._told(clock, starts[at], ends[at], [each[at] for each in walls])
            if not (start and end and wall) or int(end) < int(start):
                continue
            is_longer = is_apart(int(end) - int(start), int(wall), self.rounded, longer=True)
            if not is_longer:
                continue
            told = zip(names, (column[at] for column in columns), strict=False)
            if not self.may_be_longer(dict(told)):
                found[at] = start, end, wall
        return found

    def _told(
        self, clock: Clock, start: str, end: str, walls: Sequence[str]
    ) -> tuple[str, str, str]:
        """The times and the wall time of a record in seconds, "" of what cannot be read."""
        wall = next(filter(None, walls), "")
        if not (start and end and wall):
            return "", "", ""
        try:
            seconds = self.read(wall)
        except InvalidValue:
            seconds = None
        return clock.readable(start), clock.readable(end), str(seconds or "")

    def _candidates(
        self, clock: Clock, walls: Column, starts: Column, ends: Column
    ) -> Sequence[int]:
        """Where a record may be that lasted longer: all others have not."""
        if isinstance(starts, Plain) and isinstance(ends, Plain):
            begun, over, lasted = clock.bulk(starts), clock.bulk(ends), _array(walls)
            is_read = isinstance(begun, WholeNumbers) and isinstance(over, WholeNumbers)
            if is_read and lasted is not None:
                between = cast(WholeNumbers, over).numbers - cast(WholeNumbers, begun).numbers
                apart = is_apart(between, lasted, self.rounded, longer=True)
                found: list[int] = apart.nonzero()[0].tolist()
                return found
        told = self.many(walls) if self.many and "" not in walls else walls
        try:
            between = map(sub, map(int, ends), map(int, starts))
            most = max(map(sub, _numbers(told or walls), between))
        except ValueError:  # some are told in another form, or not at all
            return range(len(walls))
        return range(len(walls)) if is_apart(0, most, self.rounded, longer=True) else ()


def _array(walls: Column) -> Numbers | None:
    """A column of wall times as an array of numpy, where each is a number."""
    import numpy as np
    import pyarrow as pa

    try:
        if isinstance(walls, Coded):
            return np.array([*map(float, walls.values)])[walls.codes]
        if isinstance(walls, Plain):
            return walls.array.cast("float64").to_numpy()
    except (ValueError, pa.ArrowInvalid):
        return None
    return None


def _numbers(texts: Sequence[str]) -> list[Any]:
    """Texts as numbers; most are whole ones, which are read in half the time.

    Raises ``ValueError``.
    """
    try:
        return [*map(int, texts)]
    except ValueError:
        return [*map(float, texts)]


def lasted(read: Callable[[str], Found], *columns: str, **more: Any) -> Lasted:
    """Wall times in these columns, by the reader that a table has for them."""
    return Lasted(columns, read, getattr(read, "many", None), **more)
