"""A ledger: sacct text put in, reports by user and month, and one job by its id; a store's report.

Ingest is held against the same log made documents (``convert``), a report against DuckDB that is
asked by hand for the same sums of the same files, whose times it need not look up. A report from
rollups is held against one of a ledger of one run, which is the start; one of a store against SQL
by hand for some of the sums.

The figures over 10^8 runs, which ``--keep`` leaves in a directory to be used again (some 4 GB):

    python benchmarks/ledger.py --rows 100000000 --rounds 1 --keep /scratch/runs
"""

from __future__ import annotations

import multiprocessing
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from _measure import Case, compare, options, program, sssjob
from _records import log

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 2_000_000  # of the ledger that is asked, if nobody says another number
FILE = 1_000_000  # rows of a file, as compacting makes them
MONTHS = 24
MONTH = 30 * 86_400

INGEST = """
import shutil, sys
from sssjob.__main__ import main
shutil.rmtree(sys.argv[1], ignore_errors=True)
sys.argv[1:] = ["ledger", "ingest", "--from", "slurm", *sys.argv[1:]]
main()
"""
BARE = """
import duckdb, sys
connection = duckdb.connect()
print(connection.execute(
    "SELECT user, strftime(make_timestamp(end_time * 1000000), '%Y-%m') AS month, count(*),"
    " sum(wall_seconds), sum(processor_seconds), sum(cpu_seconds), sum(used_processors),"
    " sum(used_memory_bytes), max(used_memory_bytes), sum(node_seconds), sum(gpu_seconds),"
    " sum(energy_joules) FROM read_parquet($1) GROUP BY ALL ORDER BY ALL", [sys.argv[1]]
).fetchall())
"""
BY_HAND = """
import sqlite3, sys
wall = "coalesce(delivered_duration, duration)"
print(sqlite3.connect(sys.argv[1]).execute(
    "SELECT coalesce(delivered_user, user, requested_user), count(*), sum(" + wall + "),"
    " sum(" + wall + " * coalesce(delivered_processors, processors, 1)), sum(cpu_duration),"
    " sum(coalesce(delivered_processors, processors)), count(delivered_processors),"
    " sum(" + wall + " * coalesce(delivered_node_count, node_count)), sum(delivered_memory_bytes),"
    " max(delivered_memory_bytes), sum(requested_memory_bytes), sum(requested_duration)"
    " FROM job WHERE deleted = 0 AND kind = 'Job' GROUP BY 1"
).fetchall())
"""
NIGHT = """
import os, shutil, sys
from sssjob.__main__ import main
large, night, log = sys.argv[1:]
shutil.rmtree(night, ignore_errors=True)
shutil.copytree(large, night, copy_function=os.link)  # no file of a ledger is ever changed
sys.argv[1:] = ["ledger", "ingest", "--from", "slurm", night, log]
main()
"""
RATES = """
currency = "EUR"

[[rate]]
processor_hour = 0.01

[[rate]]
processor_hour = 0.02
queue = "gpu"

[[rate]]
processor_hour = 0.015
from = 2024-01-01
queue = "gpu"
qos = "normal"
"""


def large(home: Path, records: Path, rows: int) -> None:
    """Make a ledger with many copies of some runs, in files of two years of months."""
    import pyarrow as pa

    from sssjob.document.sources import NamedSource
    from sssjob.ledger import columns, ledger, manifest
    from sssjob.ledger.columns import END
    from sssjob.ledger.report import RUN, roll_up
    from sssjob.verbs.ledger import Ingestion

    kept = ledger.create(home)
    work = Ingestion(kept, print)
    work.take([NamedSource(str(records), records)], "slurm")
    work.commit()
    with kept.connected() as connection:
        names = ", ".join(f'"{name}"' for name in columns.NAMES)
        some = connection.sql(f"SELECT {names} FROM live ORDER BY {END}").to_arrow_table()
    files = [*kept.manifest().files]
    copies = max(1, FILE // len(some))
    for first in range(1, rows // len(some), copies):
        month = first // copies % MONTHS
        many = [_later(some, copy, month) for copy in range(first, first + copies)]
        later = pa.concat_tables(many).sort_by(END)
        files.append(kept.write(later, f"{month:02}", []))
    now = kept.manifest()
    manifest.commit(home, manifest.next_to(now, files=tuple(files), why="benchmark"))
    roll_up(kept, [RUN])


def _later(some: pa.Table, copy: int, month: int) -> pa.Table:
    """The runs in another month, with ids of their own."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from sssjob.ledger import columns
    from sssjob.ledger.columns import END, ID, START, SUBMIT

    for name in (SUBMIT, START, END):
        at = some.schema.get_field_index(name)
        some = some.set_column(at, name, pc.add(some[name], month * MONTH))
    at = some.schema.get_field_index(ID)
    named = pc.binary_join_element_wise(some[ID], pa.scalar(str(copy)), "_")
    return some.set_column(at, ID, named).cast(columns.schema())


def main() -> None:
    """Measure what is put in, and what is asked."""
    known = options(__doc__.partition("\n")[0], count=50_000, rounds=3)
    known.add_argument("--rows", type=int, default=ROWS, help="of the ledger that is asked")
    known.add_argument("--keep", type=Path, help="make that ledger in this directory, and keep it")
    chosen = known.parse_args()
    records = log("slurm", chosen.count)
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        compare(
            [
                Case("convert to documents", sssjob("convert", "--from", "slurm", records)),
                Case("ingest", program(INGEST, home / "ingested", records), aim=2.0),
            ],
            chosen,
        )
        large_ = home / "large" if chosen.keep is None else chosen.keep / "large"
        if not large_.exists():
            # In a process of its own: a peak below that of this process could not be seen.
            made = multiprocessing.get_context("spawn").Process(
                target=large, args=(large_, records, chosen.rows)
            )
            made.start()
            made.join()
            if made.exitcode:
                raise SystemExit("the ledger that is asked could not be made")
        chosen.count = None
        files = large_ / "usage" / "*" / "*.parquet"
        asked = ("ledger", "report", "--by", "user,month", "--json")
        report = (*asked, "--no-rollup", large_)
        rates = home / "rates.toml"
        rates.write_text(RATES)
        lines = records.read_bytes().splitlines(keepends=True)
        few = home / "few.txt"
        few.write_bytes(b"".join(lines[:2]))
        main_of(["ledger", "ingest", "--from", "slurm", home / "few", few])
        by = ("ledger", "report", "--no-rollup", "--json", "--by")
        where = "//Job[Id = '1000_7']/Delivered/User"
        compare(
            [
                Case("bare DuckDB", program(BARE, files)),
                Case(
                    "report, booked at the end",
                    sssjob(*by, "user,month", "--book", "end", large_),
                    aim=1.2,
                ),
                Case("report, divided by months", sssjob(*by, "user,month", large_)),
                Case("report, divided by days", sssjob(*by, "user,day", large_)),
                Case("report, by project and day", sssjob(*by, "project,day", large_)),
                Case("one job by its id", sssjob("ledger", "show", large_, "1000_7")),
                Case("one job by XPath", sssjob("query", where, large_)),
            ],
            chosen,
        )
        compare(
            [
                Case("start: a ledger of one run", sssjob(*asked, home / "few")),
                Case("report from rollups", sssjob(*asked, large_)),
                Case("charges from rollups", sssjob(*asked, "--rates", rates, large_)),
                Case("charges of rows", sssjob(*report, "--rates", rates)),
            ],
            chosen,
        )
        night, others = large_.with_name("night"), home / "others.txt"
        others.write_bytes(records.read_bytes().replace(b"|colony|", b"|other|"))
        compare(
            [
                Case("a night into a new ledger", program(INGEST, home / "ingested", others)),
                Case("a night into that ledger", program(NIGHT, large_, night, others)),
            ],
            chosen,
        )
        store = home / "jobs.db"
        main_of(["store", "import", "--from", "slurm", store, records])
        by_user = ("report", "--by", "user", "--json")
        main_of([*by_user, store])
        compare(
            [
                Case("SQL by hand on a store", program(BY_HAND, store)),
                Case("report of the store", sssjob(*by_user, store)),
                Case("report of the records", sssjob(*by_user, "--from", "slurm", records)),
            ],
            chosen,
        )


def main_of(arguments: Sequence[str | Path]) -> None:
    """Run a command to its end."""
    subprocess.run(sssjob(*arguments), check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
