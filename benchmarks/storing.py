"""What it costs to keep job objects: import, room, memory, and one document by its Id.

The yardstick of an import is the same bytes read by a bare ``lxml.iterparse`` loop and written by
``sqlite3`` into one table of Id and XML, compressed by zlib: what somebody would write in an hour.
"""

import argparse
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path

from _generate import corpus
from _measure import Case, compare, options, program
from _site_records import log

from sssjob import store

ROOM = 0.6  # times the XML, indexes included
LOOKUPS = 2000

BARE = """
import os, sqlite3, sys, zlib
from lxml import etree
if os.path.exists(sys.argv[2]):
    os.remove(sys.argv[2])
db = sqlite3.connect(sys.argv[2], isolation_level=None)
db.execute("PRAGMA journal_mode = WAL")
db.execute("CREATE TABLE job (id TEXT PRIMARY KEY, xml BLOB)")
def rows():
    for _, element in etree.iterparse(sys.argv[1], tag="Job"):
        yield element.findtext("Id"), zlib.compress(etree.tostring(element), 1)
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]
db.execute("BEGIN")
db.executemany("INSERT OR REPLACE INTO job VALUES (?, ?)", rows())
db.execute("COMMIT")
"""
OURS = """
import os, sys
from sssjob import store
for end in ("", "-wal", "-shm"):
    if os.path.exists(sys.argv[2] + end):
        os.remove(sys.argv[2] + end)
with store.open(sys.argv[2], create=True) as jobs:
    jobs.load(sys.argv[1])
"""
RECORDS = """
import os, sys
for end in ("", "-wal", "-shm"):
    if os.path.exists(sys.argv[2] + end):
        os.remove(sys.argv[2] + end)
from sssjob.cli import sssjob
sssjob(["store", "import", "--from", "slurm", sys.argv[2], sys.argv[1]])
"""
AGAIN = """
import sys
from sssjob import store
with store.open(sys.argv[2]) as jobs:
    jobs.load(sys.argv[1])
"""


def room(path: Path, xml: Path, chosen: argparse.Namespace) -> None:
    """Print how much room the store takes, as it was imported and compacted."""
    sizes = {}
    with store.open(path) as jobs:
        sizes["imported"] = jobs.engine.size() / xml.stat().st_size
        jobs.compact()
        sizes["compacted"] = jobs.engine.size() / xml.stat().st_size
    for name, ratio in sizes.items():
        verdict = "" if ratio <= ROOM else "  over"
        print(f"room, {name}: {ratio:.2f} times the XML, aim {ROOM}{verdict}")
    if chosen.strict and sizes["compacted"] > ROOM:
        raise SystemExit(1)


def lookups(path: Path, chosen: argparse.Namespace) -> None:
    """Print what one document by its Id takes, against plain SQL on the same tables."""
    ids = [f"PBS.{1 + number * 7919 % chosen.count}.0" for number in range(LOOKUPS)]
    plain = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    statement = "SELECT data FROM document WHERE id = ?"
    rounds: dict[str, list[float]] = {"plain SQL, as it is packed": [], "jobs.get(id)": []}
    with store.open(path, read_only=True) as jobs:
        for _ in range(chosen.rounds):
            started = time.perf_counter()
            for each in ids:
                plain.execute(statement, (each,)).fetchone()
            middle = time.perf_counter()
            for each in ids:
                jobs.get(each)
            ended = time.perf_counter()
            for each_round, seconds in zip(
                rounds.values(), (middle - started, ended - middle), strict=True
            ):
                each_round.append(seconds / LOOKUPS * 1000)
    for name, taken in rounds.items():
        print(f"one document, {name}: {statistics.median(taken):.4f} ms")


if __name__ == "__main__":
    chosen = options("Keeping job objects", count=50_000, rounds=3).parse_args()
    wrapped, lines = corpus(chosen.count), corpus(chosen.count, wrapped=False)
    records = log("slurm", chosen.count)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "jobs.db")
        cases = [
            Case("lxml, zlib, one table", program(BARE, wrapped, Path(folder, "bare.db"))),
            Case("import, one document a line", program(OURS, lines, path), aim=2.0),
            Case("import, wrapped", program(OURS, wrapped, path)),
            Case("the same import again", program(AGAIN, wrapped, path)),
            Case("import of records", program(RECORDS, records, Path(folder, "records.db"))),
        ]
        compare(cases, chosen)
        if not chosen.json:
            room(path, wrapped, chosen)
            lookups(path, chosen)
