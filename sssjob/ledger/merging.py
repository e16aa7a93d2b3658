"""Which of the rows that arrive are new, replace others, or say nothing new.

Strategy. A record comes again: the same log twice, windows that overlap, a job that ran when it was
first looked at. A run is known by its machine, the id of its job, when it was submitted and when it
began. Of two records of a run the one that ended tells more than one that only started, and that
more than one that waits; of two that go on, the one that tells of more wall time, and of two
alike, the one that came later. A record of tasks of an array that wait, such as ``7_[3-9]``, gives
way to each that tells of one of these tasks: that has started, or of fewer that wait. One without
any time gives way to each of the same machine, Id and user that has started and tells no submission
either. # decision 770

The idea is to compare what arrives, once, with the rows that count, and to write down which of them
it replaces. So a report need not look for twins: it leaves out what is written down.

Why it is right: the comparison is of the columns themselves, by SQL in which None is None, not of
hashes. It is made against the manifest behind which the rows are committed; if another writer was
faster, it is made again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from sssjob.array_indices import beginning
from sssjob.fold import OF_ONE
from sssjob.ledger.columns import (
    CONTENT,
    END,
    GLOBAL,
    GROUPED,
    ID,
    KEY,
    MACHINE,
    START,
    SUBMIT,
    SUMMED,
    TOLD,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

_RANK = f"CASE WHEN {{0}}.{END} IS NOT NULL THEN 2 WHEN {{0}}.{START} IS NOT NULL THEN 1 ELSE 0 END"
# Of those that go on; one that ended may be the correction of another.
_WALL = (
    f"CASE WHEN {{0}}.{END} IS NULL AND {{0}}.{START} IS NOT NULL THEN {{0}}.{SUMMED['wall']} END"
)
_WAITS = f"({{0}}.{START} IS NULL AND {{0}}.{END} IS NULL AND {{0}}.{TOLD} IS NULL)"
# The Id that tells a job; ``runs.told_id`` says the same of a job object. # decision 672
_TOLD_ID = (
    f"CASE WHEN {{0}}.{MACHINE} IS NULL AND contains({{0}}.{GLOBAL}, '#') "
    f"AND regexp_full_match({{0}}.{GLOBAL}, '{OF_ONE}') THEN {{0}}.{GLOBAL} ELSE {{0}}.{ID} END"
)
_JOB = " AND ".join(
    [f"{_TOLD_ID.format('f')} = {_TOLD_ID.format('h')}",
     *(f"f.{name} IS NOT DISTINCT FROM h.{name}" for name in (MACHINE, SUBMIT, TOLD))]
)  # fmt: skip
_RUN = (
    f"{_JOB} AND (f.{START} IS NOT DISTINCT FROM h.{START}"
    f" OR {_WAITS.format('f')} OR {_WAITS.format('h')})"
)
_SAME = " AND ".join(f'f."{name}" IS NOT DISTINCT FROM h."{name}"' for name in (*CONTENT, START))

# A job without times that used nothing, and a run that began at an unknown time after submission:
# ``runs.whose_untimed`` says the same of a job object.
_UNTIMED = (
    f"({{0}}.{TOLD} IS NOT NULL AND {{0}}.{END} IS NULL AND {{0}}.{ID} <> ''"
    f" AND coalesce({{0}}.{SUMMED['wall']}, 0) = 0 AND coalesce({{0}}.{SUMMED['cpu']}, 0) = 0)"
)
_HAS_BEGUN = (
    f"{{0}}.{START} IS NOT NULL AND {{0}}.{SUBMIT} IS NULL"
    f" AND {_TOLD_ID.format('f')} = {_TOLD_ID.format('h')} AND "
    + " AND ".join(f"f.{name} IS NOT DISTINCT FROM h.{name}" for name in (MACHINE, GROUPED["user"]))
)

# Numbers upwards in the order in which rows came: a column of what arrives in another order.
SEQ = "seq"
# What is known of arrays of which something waits: by live rows, which came before all others.
_TOLD_OF = ", ".join((MACHINE, SUBMIT, ID))
_EVERY = f"""
SELECT {_TOLD_OF}, seq, {_WAITS.format("f")} AS waits, NULL AS file, 0 AS row FROM fresh AS f
UNION ALL SELECT {_TOLD_OF}, -1, {_WAITS.format("h")}, file, row FROM live AS h
"""
_ARRAYS = f"""
CREATE TEMP TABLE arrays AS
SELECT DISTINCT {MACHINE}, {SUBMIT}, split_part({ID}, '_', 1) || '_' AS head FROM ({_EVERY})
WHERE waits AND contains({ID}, '_[')
"""
_OF_ARRAYS = f"""
SELECT e.{MACHINE}, e.{SUBMIT}, e.{ID}, seq, waits, file, row
FROM ({_EVERY}) AS e JOIN arrays AS a ON e.{SUBMIT} = a.{SUBMIT} AND starts_with(e.{ID}, a.head)
    AND e.{MACHINE} IS NOT DISTINCT FROM a.{MACHINE}
WHERE NOT waits OR contains(e.{ID}, '_[')
"""
_FRESH = f"""
CREATE TEMP TABLE fresh AS SELECT * FROM arrived AS f
QUALIFY row_number() OVER (
    PARTITION BY {_TOLD_ID.format("f")}, {", ".join(name for name in KEY if name != ID)}
    ORDER BY {_RANK.format("f")} DESC, {_WALL.format("f")} DESC NULLS LAST, seq DESC
) = 1
"""
_NO_LONGER_WAITS = f"""
DELETE FROM fresh AS f WHERE {_WAITS.format("f")} AND EXISTS (
    SELECT 1 FROM fresh AS h WHERE {_JOB} AND NOT {_WAITS.format("h")}
)
"""
_NO_LONGER_UNTIMED = f"""
DELETE FROM fresh AS f WHERE {_UNTIMED.format("f")} AND (
    EXISTS (SELECT 1 FROM fresh AS h WHERE {_HAS_BEGUN.format("h")})
    OR EXISTS (SELECT 1 FROM live AS h WHERE {_HAS_BEGUN.format("h")})
)
"""
_MET = f"""
CREATE TEMP TABLE met AS
SELECT h.file, h.row, f.seq,
       ({_RANK.format("h")}, coalesce({_WALL.format("h")}, -1))
       > ({_RANK.format("f")}, coalesce({_WALL.format("f")}, -1)) AS tells_more,
       {_SAME} AS same
FROM live AS h JOIN fresh AS f ON {_RUN}
"""
_NOTHING_NEW = "DELETE FROM fresh WHERE seq IN (SELECT seq FROM met WHERE tells_more OR same)"
_REPLACED = f"""
SELECT file, row FROM met WHERE seq IN (SELECT seq FROM fresh)
UNION SELECT file, row FROM live AS h WHERE {_UNTIMED.format("h")} AND EXISTS (
    SELECT 1 FROM fresh AS f WHERE {_HAS_BEGUN.format("f")}
)
"""


def merged(connection: Connection, arrived: pa.Table) -> pa.Table:
    """What is replaced by rows that arrive, as ``file`` and ``row``; ``fresh`` has those to write.

    The connection has ``live``: the rows that count.
    """
    if SEQ not in arrived.column_names:
        arrived = arrived.append_column(SEQ, pa.array(range(len(arrived)), pa.int64()))
    connection.register("arrived", arrived)
    for text in (_FRESH, _NO_LONGER_WAITS, _NO_LONGER_UNTIMED):
        connection.execute(text)
    told = _of_arrays(connection)
    for text in (_MET, _NOTHING_NEW):
        connection.execute(text)
    found = connection.sql(_REPLACED).to_arrow_table()
    if not told:
        return found
    known = {*zip(*found.to_pydict().values(), strict=True)}
    more = [place for place in told if place not in known]
    files, rows = zip(*more, strict=True) if more else ((), ())
    return pa.concat_tables([found, pa.table([[*files], [*rows]], schema=found.schema)])


def _of_arrays(connection: Connection) -> list[tuple[str, int]]:
    """Take tasks that no longer wait out of ``fresh``; the rows that are replaced, by place."""
    connection.execute(_ARRAYS)
    if not connection.execute("SELECT 1 FROM arrays LIMIT 1").fetchall():
        return []
    tasks: dict[tuple[Any, ...], list[_Task]] = {}
    for machine, submit, name, *told in connection.execute(_OF_ARRAYS).fetchall():
        array, _, indices = name.partition("_")
        tasks.setdefault((machine, submit, array), []).append(_Task(indices, *told))
    gone = [one for some in tasks.values() for one in _that_give_way(some)]
    if numbers := [one.seq for one in gone if one.file is None]:
        connection.execute("DELETE FROM fresh WHERE list_contains($1, seq)", [numbers])
    return [(one.file, one.row) for one in gone if one.file is not None]


class _Task(NamedTuple):
    """A record of a task of an array, or of some that wait: where it is, or its number."""

    indices: str
    seq: int
    waits: bool
    file: str | None
    row: int


def _that_give_way(tasks: Sequence[_Task]) -> Iterator[_Task]:
    """The records of tasks that wait of which another record of their array tells more."""
    started = {int(it.indices) for it in tasks if not it.waits and _INDEX.fullmatch(it.indices)}
    for one in tasks:
        if not one.waits:
            continue
        array, is_whole = beginning(one.indices.strip("[]"))
        if (
            (started and not is_whole)  # Slurm cuts long lists
            or any(number in span for number in started for span in array.spans)
            or any(_is_later(it, one) for it in tasks if it.waits and it.indices != one.indices)
        ):
            yield one


def _is_later(one: _Task, other: _Task) -> bool:
    """Whether one record of what waits of an array is of a later time than another one.

    Tasks of an array only become fewer that wait, from the first ones on, in whatever order records
    are read; where that tells nothing, the one counts that came later.
    """
    (mine, mine_whole), (others, others_whole) = (
        beginning(each.indices.strip("[]")) for each in (one, other)
    )
    if mine_whole and others_whole and len(mine) != len(others):
        return len(mine) < len(others)
    firsts = [min((span[0] for span in each.spans), default=0) for each in (mine, others)]
    return firsts[0] > firsts[1] or (firsts[0] == firsts[1] and one.seq > other.seq)


_INDEX = re.compile("[0-9]{1,10}")
