"""Which of the rows that arrive are new, replace others, or say nothing new.

Strategy. A record comes again: the same log twice, windows that overlap, a job that ran when it was
first looked at. A run is known by its machine, the id of its job, when it was submitted and when it
began. Of two records of a run the one that ended tells more than one that only started, and that
more than one that waits; of two alike, the one that came later.

The idea is to compare what arrives, once, with the rows that count, and to write down which of them
it replaces. So a report need not look for twins: it leaves out what is written down.

Why it is right: the comparison is of the columns themselves, by SQL in which None is None, not of
hashes. It is made against the manifest behind which the rows are committed; if another writer was
faster, it is made again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sssjob.ledger.columns import CONTENT, END, KEY, MACHINE, START, SUBMIT, TOLD

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection as Connection

_RANK = f"CASE WHEN {{0}}.{END} IS NOT NULL THEN 2 WHEN {{0}}.{START} IS NOT NULL THEN 1 ELSE 0 END"
_WAITS = f"({{0}}.{START} IS NULL AND {{0}}.{END} IS NULL AND {{0}}.{TOLD} IS NULL)"
_JOB = " AND ".join(
    [f"f.{KEY[1]} = h.{KEY[1]}",
     *(f"f.{name} IS NOT DISTINCT FROM h.{name}" for name in (MACHINE, SUBMIT, TOLD))]
)  # fmt: skip
_RUN = (
    f"{_JOB} AND (f.{START} IS NOT DISTINCT FROM h.{START}"
    f" OR {_WAITS.format('f')} OR {_WAITS.format('h')})"
)
_SAME = " AND ".join(f'f."{name}" IS NOT DISTINCT FROM h."{name}"' for name in (*CONTENT, START))

SEQ = "seq"  # a column of ``arrived``: numbers upwards in the order in which rows came
_FRESH = f"""
CREATE TEMP TABLE fresh AS SELECT * FROM arrived AS f
QUALIFY row_number() OVER (
    PARTITION BY {", ".join(KEY)} ORDER BY {_RANK.format("f")} DESC, seq DESC
) = 1
"""
_NO_LONGER_WAITS = f"""
DELETE FROM fresh AS f WHERE {_WAITS.format("f")} AND EXISTS (
    SELECT 1 FROM fresh AS h WHERE {_JOB} AND NOT {_WAITS.format("h")}
)
"""
_MET = f"""
CREATE TEMP TABLE met AS
SELECT h.file, h.row, f.seq, {_RANK.format("h")} > {_RANK.format("f")} AS tells_more,
       {_SAME} AS same
FROM live AS h JOIN fresh AS f ON {_RUN}
"""
_NOTHING_NEW = "DELETE FROM fresh WHERE seq IN (SELECT seq FROM met WHERE tells_more OR same)"
_REPLACED = "SELECT DISTINCT file, row FROM met WHERE seq IN (SELECT seq FROM fresh)"


def merged(connection: Connection, arrived: pa.Table) -> pa.Table:
    """What is replaced by rows that arrive, as ``file`` and ``row``; ``fresh`` has those to write.

    The connection has ``live``: the rows that count.
    """
    connection.register("arrived", arrived)
    for text in (_FRESH, _NO_LONGER_WAITS, _MET, _NOTHING_NEW):
        connection.execute(text)
    return connection.sql(_REPLACED).to_arrow_table()
