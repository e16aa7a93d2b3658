"""Which of the rows that arrive are new, replace others, or say nothing new.

Strategy. A record comes again: the same log twice, windows that overlap, a job that ran when it was
first looked at. A run is known by its machine, the id of its job, when it was submitted and when it
began, and, of HTCondor, by its user, where both of two records tell one by name. Of two records of
a run the one that ended tells more than one that only started, and that more than one that waits;
of two that go on, the one that tells of more wall time, and of two alike, the one that names its
user, or else the one that came later. A record of
tasks of an array that wait, such as ``7_[3-9]``, gives way to each that tells of one of these
tasks: that has started, or of fewer that wait. One without any time gives way to each of the same
machine, Id and user that has started and tells no submission either. # decision 770

The idea is to compare what arrives, once, with the rows that count, and to write down which of them
it replaces. So a report need not look for twins: it leaves out what is written down. Files in which
no job has the Id of one that arrives are looked at no further.

Why it is right: the comparison is of the columns themselves, by SQL in which None is None, not of
hashes. It is made against the manifest behind which the rows are committed; if another writer was
faster, it is made again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from sssjob.array_indices import beginning
from sssjob.known_by import (
    APART,
    are_of_others,
    job_sql,
    of_one_sql,
    owner_sql,
    submission_sql,
    telling_sql,
)
from sssjob.ledger.columns import (
    CONTENT,
    END,
    GLOBAL,
    GROUPED,
    ID,
    LINE,
    MACHINE,
    SOURCE,
    START,
    SUBMIT,
    SUMMED,
    TOLD,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

_RANK, _WALL = telling_sql(f"{{0}}.{START}", f"{{0}}.{END}", f"{{0}}.{SUMMED['wall']}")
_ONE = of_one_sql(f"{{0}}.{ID}", f"{{0}}.{GLOBAL}")
# Nothing but itself tells a row without submission and start, and without a GlobalJobId.
_TOLD = f"CASE WHEN {_ONE} IS NULL THEN {{0}}.{TOLD} END"
_WAITS = f"({{0}}.{START} IS NULL AND {{0}}.{END} IS NULL AND {_TOLD} IS NULL)"
# What tells a job: as ``known_by.job_of`` says it of a job object.
_USER = GROUPED["user"]
_OWNER = owner_sql(f"{{0}}.{ID}", f"{{0}}.{GLOBAL}", f"{{0}}.{_USER}")
# These are added to ``fresh`` and to ``live``.
WHERE, JOB_ID, ONE, WHOSE = "job_machine", "job_id", "job_one", "job_whose"
ASKED, ALONE, OVER, IDLE = "job_submit", "job_told", "job_over", "job_idle"
_USED_NOTHING = " AND ".join(f"coalesce({{0}}.{SUMMED[name]}, 0) = 0" for name in ("wall", "cpu"))
_ADDED = (
    job_sql(f"{{0}}.{MACHINE}", f"{{0}}.{ID}", f"{{0}}.{GLOBAL}", (WHERE, JOB_ID, ONE))
    + f", {submission_sql(_ONE, f'{{0}}.{SUBMIT}')} AS {ASKED}, {_TOLD} AS {ALONE}"
    + f", CASE WHEN NOT {_WAITS} THEN {_OWNER} END AS {WHOSE}"
    + f", CASE WHEN {{0}}.{START} IS NULL THEN {{0}}.{END} END AS {OVER}"
    + f", CASE WHEN {{0}}.{START} IS NULL AND {{0}}.{END} IS NOT NULL THEN {_USED_NOTHING} END"
    + f" AS {IDLE}"
)
_BESIDE = WHERE, ASKED, ONE
_IS_NAMED = f"{{0}}.{WHOSE} IS NOT NULL"
_TELLS = f"({_RANK}, {_WALL}, {_IS_NAMED})"  # as ``known_by.telling`` says it
_JOB = " AND ".join(
    [f"f.{JOB_ID} = h.{JOB_ID}",
     *(f"f.{name} IS NOT DISTINCT FROM h.{name}" for name in (*_BESIDE, ALONE))]
)  # fmt: skip


def _as_far(*names: str) -> str:
    """That nothing differs that both tell."""
    return " AND ".join(
        f"(f.{name} = h.{name} OR f.{name} IS NULL OR h.{name} IS NULL)" for name in names
    )


# As ``known_by.are_of_others`` says it.
_ARE_OF_OTHERS = f"(f.{WHOSE} <> h.{WHOSE} AND (f.{ONE} IS NOT NULL OR h.{ONE} IS NOT NULL))"
_OF_ONE_USER = f"coalesce(NOT {_ARE_OF_OTHERS}, TRUE)"

# When a run began tells it from others of its job, or else when it ended, and whether it is one
# that ended without having begun. # decisions 978, 1021
_TIMES = START, OVER, IDLE
_AT_ONE_TIME = " AND ".join(f"f.{name} IS NOT DISTINCT FROM h.{name}" for name in _TIMES)
_ONE_WAITS = f"({_WAITS.format('f')} OR {_WAITS.format('h')})"
_ALIKE = f"({_ONE_WAITS} OR f.{WHOSE} IS NOT DISTINCT FROM h.{WHOSE})"
_RUN = f"{_JOB} AND ({_ONE_WAITS} OR ({_AT_ONE_TIME} AND {_OF_ONE_USER}))"
# Of a run that began, what only one record tells decides nothing. # decision 780
_WHOEVER = (
    f"f.{JOB_ID} = h.{JOB_ID} AND {_AT_ONE_TIME}"
    f" AND NOT {_ONE_WAITS} AND ({_JOB} OR (f.{START} IS NOT NULL AND {_as_far(*_BESIDE)}))"
)
_AS_FAR = f"{_WHOEVER} AND {_OF_ONE_USER}"
# decision 820
_OF_OTHERS = f"{_WHOEVER} AND {_ARE_OF_OTHERS}"
_SAME = " AND ".join(f'f."{name}" IS NOT DISTINCT FROM h."{name}"' for name in (*CONTENT, START))

# A job without times that used nothing, and a run that began at an unknown time after submission:
# ``runs.whose_untimed`` says the same of a job object.
_UNTIMED = (
    f"({{0}}.{ALONE} IS NOT NULL AND {{0}}.{END} IS NULL AND {{0}}.{ID} <> '' AND {_USED_NOTHING})"
)
_HAS_BEGUN = (
    f"{{0}}.{START} IS NOT NULL AND {{0}}.{ASKED} IS NULL"
    f" AND f.{JOB_ID} = h.{JOB_ID} AND "
    + " AND ".join(
        f"f.{name} IS NOT DISTINCT FROM h.{name}" for name in (WHERE, ONE, GROUPED["user"])
    )
)

# Numbers upwards in the order in which rows came: a column of what arrives in another order. Those
# of what may be cut short are below that of each row that is there. # decision 962
SEQ = "seq"
THERE = -1
CUT = -(1 << 62)
_IS_CUT = f"f.seq < {THERE}"
# What is known of arrays of which something waits: by live rows, which came before all others.
_TOLD_OF = ", ".join((MACHINE, SUBMIT, ID))
_EVERY = f"""
SELECT {_TOLD_OF}, seq, {_WAITS.format("f")} AS waits, NULL AS file, 0 AS row FROM fresh AS f
UNION ALL SELECT {_TOLD_OF}, {THERE}, {_WAITS.format("h")}, file, row FROM live AS h
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
CREATE TEMP TABLE fresh AS SELECT * FROM (SELECT *, {_ADDED.format("f")} FROM arrived AS f) AS f
QUALIFY row_number() OVER (
    PARTITION BY {JOB_ID}, {", ".join(_BESIDE)}, {", ".join(_TIMES)}, {ALONE}, {WHOSE}
    ORDER BY {_RANK.format("f")} DESC, {_WALL.format("f")} DESC, seq DESC
) = 1
"""
_NO_LONGER_WAITS = f"""
DELETE FROM fresh AS f WHERE {_WAITS.format("f")} AND EXISTS (
    SELECT 1 FROM fresh AS h WHERE {_JOB} AND NOT {_WAITS.format("h")}
)
"""
_HELD = f"CREATE TEMP VIEW held AS SELECT *, {_ADDED.format('h')} FROM live AS h"
# A job that arrives may have another Id there; and tasks of an array have others than those that
# wait. # decision 782
_HAS_OTHER_IDS = (
    f"SELECT 1 FROM fresh WHERE {ONE} IS NOT NULL"
    f" OR regexp_full_match({ID}, '[0-9]+[.][0-9]+') LIMIT 1"
)
_WAITS_IN_ARRAY = (
    f"SELECT 1 FROM fresh AS f WHERE {_WAITS.format('f')} AND contains({ID}, '_[') LIMIT 1"
)
_NEAR = "SELECT DISTINCT file FROM {0} SEMI JOIN fresh USING ({1})"
_NO_LONGER_UNTIMED = f"""
DELETE FROM fresh AS f WHERE {_UNTIMED.format("f")} AND (
    EXISTS (SELECT 1 FROM fresh AS h WHERE {_HAS_BEGUN.format("h")})
    OR EXISTS (SELECT 1 FROM held AS h WHERE {_HAS_BEGUN.format("h")})
)
"""
_MET = f"""
CREATE TEMP TABLE met AS
SELECT h.file, h.row, f.seq,
       ({_TELLS.format("h")}, {_IS_CUT}) > ({_TELLS.format("f")}, FALSE) AS tells_more,
       {_SAME} AS same, {_JOB} AND {_ALIKE} AS is_told, {_WAITS.format("h")} AS waits
FROM held AS h JOIN fresh AS f ON f.{JOB_ID} = h.{JOB_ID} AND ({_RUN} OR {_AS_FAR})
"""
# Runs of which some records tell a machine, or a submission, and others do not.
_OF_THEM = (
    f"untold ON untold.{JOB_ID} = {{0}}.{JOB_ID}"
    + "".join(f" AND untold.{name} IS NOT DISTINCT FROM {{0}}.{name}" for name in _TIMES)
    + f" AND NOT {_WAITS} AND {{0}}.{ALONE} IS NULL"
)
_KNOWN_BY = ", ".join(f"f.{name}" for name in (JOB_ID, *_TIMES))
_UNTOLD = f"""
CREATE TEMP TABLE untold AS
SELECT DISTINCT {_KNOWN_BY} FROM fresh AS f JOIN met USING (seq) WHERE NOT is_told
UNION SELECT {_KNOWN_BY} FROM fresh AS f JOIN fresh AS h ON {_AS_FAR} AND f.seq < h.seq
"""
_OF_UNTOLD = " UNION ALL ".join(
    f"SELECT {', '.join(f'{{0}}.{name}' for name in (JOB_ID, *_TIMES))}, {{1}}, "
    f"{{0}}.{WHERE}, {{0}}.{ASKED}, {{0}}.{ONE}, {{0}}.{WHOSE}, "
    f"{_RANK}, {_WALL}, {_IS_NAMED} FROM {{2}} AS {{0}} "
    f"SEMI JOIN {_OF_THEM}".format(*each)
    for each in (("f", "f.seq, NULL, 0", "fresh"), ("h", f"{THERE}, h.file, h.row", "held"))
)
_JUDGED = f"""
DELETE FROM met WHERE NOT waits AND seq IN (
    SELECT seq FROM fresh AS f SEMI JOIN {_OF_THEM.format("f")}
)
"""
# What another user is told to have run, too: the first record of each that does not say so.
_CONFLICTS = f"""
SELECT {SOURCE}, {LINE}, {ID}, {_USER}, min(other) FROM (
    SELECT f.*, h.{_USER} AS other FROM fresh AS f JOIN held AS h ON {_OF_OTHERS}
    UNION ALL SELECT f.*, h.{_USER} AS other FROM fresh AS f JOIN fresh AS h
        ON {_OF_OTHERS} AND h.seq < f.seq
) GROUP BY ALL ORDER BY 1, 2, 3
"""
_NOTHING_NEW = "DELETE FROM fresh WHERE seq IN (SELECT seq FROM met WHERE tells_more OR same)"
_REPLACED = f"""
SELECT file, row FROM met WHERE seq IN (SELECT seq FROM fresh)
UNION SELECT file, row FROM held AS h WHERE {_UNTIMED.format("h")} AND EXISTS (
    SELECT 1 FROM fresh AS f WHERE {_HAS_BEGUN.format("f")}
)
"""


class Conflict(NamedTuple):
    """A run that arrived, of which another record tells that it was another user's."""

    source: str | None
    line: int | None
    id: str
    user: str
    other: str


class Merged(NamedTuple):
    """The rows that are replaced, as ``file`` and ``row``, and the runs that two users claim."""

    replaced: pa.Table
    conflicts: list[Conflict]


def merged(
    connection: Connection, arrived: pa.Table, look_at: Callable[[Collection[str]], None]
) -> Merged:
    """What becomes of rows that arrive; ``fresh`` has those to write.

    The connection has ``live``: the rows that count. ``look_at`` leaves those of some files in it,
    by their names, and of all that may have a run that waits.
    """
    if SEQ not in arrived.column_names:
        arrived = arrived.append_column(SEQ, pa.array(range(len(arrived)), pa.int64()))
    connection.register("arrived", arrived)
    for text in (_FRESH, _HELD):
        connection.execute(text)
    if not connection.execute(_WAITS_IN_ARRAY).fetchall():
        has_others = connection.execute(_HAS_OTHER_IDS).fetchall()
        near = _NEAR.format(*(("held", JOB_ID) if has_others else ("live", ID)))
        look_at({file for (file,) in connection.execute(near).fetchall()})
    for text in (_NO_LONGER_WAITS, _NO_LONGER_UNTIMED):
        connection.execute(text)
    told = _of_arrays(connection)
    for text in (_MET, _UNTOLD):
        connection.execute(text)
    if connection.execute("SELECT 1 FROM untold LIMIT 1").fetchall():
        told += _of_untold(connection)
    connection.execute(_NOTHING_NEW)
    conflicts = [Conflict(*row) for row in connection.execute(_CONFLICTS).fetchall()]
    return Merged(_replaced(connection, told), conflicts)


def _replaced(connection: Connection, told: list[tuple[str, int]]) -> pa.Table:
    """The rows that are replaced, with these."""
    found = connection.sql(_REPLACED).to_arrow_table()
    if not told:
        return found
    known = {*zip(*found.to_pydict().values(), strict=True)}
    more = [place for place in told if place not in known]
    files, rows = zip(*more, strict=True) if more else ((), ())
    return pa.concat_tables([found, pa.table([[*files], [*rows]], schema=found.schema)])


class _KnownRecord(NamedTuple):
    """A record of a run that began: where it is, or its number, and how much it tells."""

    seq: int
    file: str | None
    row: int
    beside: tuple[str | int | None, ...]  # its machine, its submission, the GlobalJobId, the user
    tells: tuple[int, int, bool, bool]  # at last whether it is whole


def _of_untold(connection: Connection) -> list[tuple[str, int]]:
    """Judge runs of which not all records tell the machine, the submission or the user.

    It gives what ``_of_arrays`` does. It is what ``runs.SeenRuns`` says of records in this order.
    """
    found: dict[tuple[Any, ...], list[_KnownRecord]] = {}
    for job, start, over, idle, *told in connection.execute(_OF_UNTOLD).fetchall():
        seq, file, row, *beside, rank, wall, is_named = told
        tells = rank, wall, is_named, seq >= THERE
        one = _KnownRecord(seq, file, row, tuple(beside), tells)
        # Without a start, its machine and its submission tell it.
        found.setdefault((job, start, over, idle, *beside[: 0 if start else 2]), []).append(one)
    lost = [one for some in found.values() for one in _that_do_not_count(some)]
    connection.execute(_JUDGED)
    return _taken_out(connection, lost)


def _that_do_not_count(some: list[_KnownRecord]) -> Iterator[_KnownRecord]:
    """The records with one id and start of which another record of the same run counts."""
    some.sort(key=lambda one: (one.seq, one.file or "", one.row))
    runs: list[_MergedRun] = []
    others: dict[tuple[Any, ...], _MergedRun] = {}
    for one in some:
        run = _run_of(one, runs)
        if run is None and len(runs) > APART:  # who makes up records does not make it slow
            run = others.get(one.beside)
        if run is None:
            run = others[one.beside] = _MergedRun(one, one.beside)
            if len(runs) <= APART:
                runs.append(run)
            continue
        tells_more = run.counts.tells > one.tells
        yield one if tells_more else run.counts
        told = (run.beside, one.beside) if tells_more else (one.beside, run.beside)
        every = [each if each is not None else other for each, other in zip(*told, strict=True)]
        run.beside = (*every[:-1], told[0][-1])  # it is whose the record says that counts
        run.counts = run.counts if tells_more else one


def _run_of(one: _KnownRecord, runs: Sequence[_MergedRun]) -> _MergedRun | None:
    """The run that a record is of, as ``runs.SeenRuns`` finds it: one of its user, or the best."""
    known = [run for run in runs if _are_alike(run.beside, one.beside)]
    own = next((run for run in known if run.beside[-1] == one.beside[-1]), None)
    return own or max(known, key=lambda run: run.counts.tells, default=None)


@dataclass(slots=True)
class _MergedRun:
    """A run, by the record of it that counts, what all tell, and whose that one says it is."""

    counts: _KnownRecord
    beside: tuple[str | int | None, ...]


def _are_alike(one: tuple[str | int | None, ...], other: tuple[str | int | None, ...]) -> bool:
    """Whether nothing differs that both tell, and no two users have a run each."""
    *mine, owned_by = one
    *others, other_owner = other
    if any(a != b and None not in (a, b) for a, b in zip(mine, others, strict=True)):
        return False
    is_of_schedd = mine[-1] is not None or others[-1] is not None
    owners = str(owned_by or ""), str(other_owner or "")
    return not are_of_others(*owners, is_of_schedd=is_of_schedd)


def _of_arrays(connection: Connection) -> list[tuple[str, int]]:
    """Take tasks that no longer wait out of ``fresh``; the rows that are replaced, by place."""
    connection.execute(_ARRAYS)
    if not connection.execute("SELECT 1 FROM arrays LIMIT 1").fetchall():
        return []
    tasks: dict[tuple[Any, ...], list[_MergeTask]] = {}
    for machine, submit, name, *told in connection.execute(_OF_ARRAYS).fetchall():
        array, _, indices = name.partition("_")
        tasks.setdefault((machine, submit, array), []).append(_MergeTask(indices, *told))
    gone = [one for some in tasks.values() for one in _that_give_way(some)]
    return _taken_out(connection, gone)


def _taken_out(
    connection: Connection, lost: Sequence[_KnownRecord | _MergeTask]
) -> list[tuple[str, int]]:
    """Take records that do not count out of ``fresh``; where those are that are in files."""
    numbers = pa.array([one.seq for one in lost if one.file is None], pa.int64())
    if len(numbers):
        connection.register("lost", pa.table({"seq": numbers}))
        connection.execute("DELETE FROM fresh WHERE seq IN (SELECT seq FROM lost)")
    return [(one.file, one.row) for one in lost if one.file is not None]


class _MergeTask(NamedTuple):
    """A record of a task of an array, or of some that wait: where it is, or its number."""

    indices: str
    seq: int
    waits: bool
    file: str | None
    row: int


def _that_give_way(tasks: Sequence[_MergeTask]) -> Iterator[_MergeTask]:
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


def _is_later(one: _MergeTask, other: _MergeTask) -> bool:
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
