"""Sums of what jobs used, kept beside the rows that they are of: for the reports of large stores.

Strategy. To add up sixteen columns of a million rows takes SQLite two seconds, and most reports ask
for few names and whole days. Such sums are kept as in a ledger (``ledger.rollup``): by machine,
group, project, user, queue and QoS, once by the day on which jobs ended, and once for all days.

The idea is to keep them of blocks of rows, by the numbers of these. Rows are added behind the last
one and are never changed, so a block that is full says the same until one of its rows is deleted.
Who deletes or adds rows forgets the sums of their blocks in the same transaction.

Why it is right: what is said of a block is a sum of its rows, or there is none, and then its rows
are added up. A block has ``SIZE`` rows, so its sums are below 64 bits as those of other parts are
(``used``); sums of several blocks are added up outside. # decision 671
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from sssjob.spans import BEFORE
from sssjob.store.engine import Engine, ReadTransaction
from sssjob.store.schema import INTEGER, Field, Table, listed
from sssjob.store.sql import quoted

SIZE = 1 << 16  # rows of a block
NAMES = ("machine", "group", "project", "user", "queue", "qos")
DAY = 86_400
_NEVER = -1  # the day on which a job ended that did not

Label = tuple[str, int]  # of a sum: a field of ``Totals``, and the number of its side
Window = tuple[int | None, int | None]  # of the ends of jobs

ROLLED = Table("usage_rolled", (Field("block", INTEGER),), ("block",), is_small=True)
_OWN = ("block", "day")
_END = '"end"'


class RowSource(NamedTuple):
    """Rows that a question is asked of: those of a table, by a condition with marks.

    If it ``is_rolled``, they are sums of blocks.
    """

    table: str
    where: str
    values: tuple[object, ...]
    is_rolled: bool


class RolledSums:
    """The sums of blocks of rows of the table ``usage``; ``sums`` are all that reports ask for."""

    def __init__(self, engine: Engine, sums: Mapping[Label, str]) -> None:
        self._engine = engine
        self._sums = {**sums, ("first", 0): f"min({_END})", ("last", 0): f"max({_END})"}
        keys = tuple(map(column, NAMES))
        fields = (
            *(Field(name, INTEGER) for name in (*_OWN, *keys)),
            *(Field(_column_of(label), INTEGER, optional=True) for label in self._sums),
        )
        self.days = Table("usage_by_day", fields, (*_OWN, *keys), is_small=True)
        self.whole = Table("usage_by_names", fields, (*_OWN, *keys), is_small=True)
        self.tables = (ROLLED, self.days, self.whole)
        self._keys = listed(keys)

    def again(self, labels: Iterable[Label]) -> dict[Label, str]:
        """How sums of blocks are added up, as SQL."""
        return {label: _again(self._sums[label], _column_of(label)) for label in labels}

    def missing(self) -> list[int]:
        """The blocks that are full and have no sums."""
        [(last,)] = self._engine.fetch("SELECT max(number) FROM usage")
        there = {block for (block,) in self._engine.fetch("SELECT block FROM usage_rolled")}
        return [block for block in range((last or 0) // SIZE) if block not in there]

    def make(self) -> None:
        """Make those of blocks that are full and have none; inside a transaction."""
        for block in self.missing():
            self._make(block)

    def _make(self, block: int) -> None:
        day = f"coalesce(({_END} + {BEFORE}) / {DAY}, {_NEVER})"
        into = f"INSERT INTO {{}} SELECT {block}, {{}}, {self._keys}, {{}} FROM {{}} WHERE {{}} "
        told, again = self._sums, self.again(self._sums)
        rows = f"exact IS NULL AND number >= {block * SIZE} AND number < {(block + 1) * SIZE}"
        named = [column(name) for name in NAMES]
        for table, at, sums, of, where, by in (
            (self.days.name, day, told, "usage", rows, [*named, day]),
            (self.whole.name, str(_NEVER), again, self.days.name, f"block = {block}", named),
        ):
            grouped = f"GROUP BY {', '.join(by)}"
            self._engine.fetch(
                into.format(table, at, ", ".join(sums.values()), of, where) + grouped
            )
        self._engine.add(ROLLED, [(block,)])

    def forget(self, blocks: Collection[int]) -> None:
        """Have none of these blocks any more; inside a transaction."""
        if not blocks:
            return
        among, values = self._engine.among("block", [*blocks])
        there = self._engine.fetch(f"SELECT block FROM usage_rolled WHERE {among}", (values,))
        if there:
            for table in self.tables:
                self._engine.fetch(f"DELETE FROM {table.name} WHERE {among}", (values,))

    def parts(
        self, moment: ReadTransaction, by: Sequence[str], quotient: int | None, window: Window,
        without: Collection[int],
    ) -> list[RowSource]:  # fmt: skip
        """What to ask for jobs that ended in a window, by names and quotients of time.

        Blocks in which a number ``without`` sums is are asked for their rows.
        """
        days = [None if each is None else divmod(each + BEFORE, DAY) for each in window]
        if (
            not {*by} <= {*NAMES}
            or (quotient is not None and quotient % DAY)
            or any(each is not None and each[1] for each in days)
        ):
            return [_rows([], window)]
        found = moment.fetch("SELECT block FROM usage_rolled ORDER BY block")
        blocks = [block for (block,) in found if block not in without]
        if not blocks:
            return [_rows([], window)]
        terms, values = ["1 = 1"], list[int]()
        if len(blocks) < len(found):
            left = sorted({block for (block,) in found} - {*blocks})
            terms.append(f"block NOT IN ({', '.join('?' * len(left))})")
            values += left
        since, until = days
        for text, each in (("day >= ?", since), ("day < ?", until)):
            if each is not None:
                terms.append(f"{text} AND day <> {_NEVER}")
                values.append(each[0])
        is_whole = quotient is None and window == (None, None)
        table = self.whole.name if is_whole else self.days.name
        return [
            RowSource(table, " AND ".join(terms), tuple(values), is_rolled=True),
            _rows(blocks, window),
        ]


def place(quotient: int | None, *, is_rolled: bool) -> str:
    """In which quotient of time a row, or a sum, is, as SQL."""
    if quotient is None:
        return "NULL"
    if is_rolled:
        return f"NULLIF(day, {_NEVER}) * {DAY} / {quotient}"
    return f"({_END} + {BEFORE}) / {quotient}"


def column(name: str) -> str:
    """The column of a row by which a report groups."""
    return f"by_{name.replace('-', '_')}"


def _column_of(label: Label) -> str:
    return f"{label[0]}_{label[1]}"


def _again(told: str, name: str) -> str:
    """How a sum of sums is told: counts are added up, and of extremes one is taken."""
    kind = told.partition("(")[0]
    return f"{kind if kind in ('min', 'max') else 'sum'}({quoted(name)})"


def _rows(without: Sequence[int], window: Window) -> RowSource:
    """The rows that are in none of these blocks, which are in order."""
    since, until = window
    told = [(f"{_END} >= ?", since), (f"{_END} < ?", until)]
    terms = [text for text, value in told if value is not None]
    values = [value for _, value in told if value is not None]
    if without:
        gaps, first = [], 0
        for block in without:
            if block > first:
                gaps.append("number >= ? AND number < ?")
                values += first * SIZE, block * SIZE
            first = block + 1
        values.append(first * SIZE)
        terms.append(f"({' OR '.join([*gaps, 'number >= ?'])})")
    return RowSource("usage", " AND ".join(terms) or "1 = 1", tuple(values), is_rolled=False)
