"""Whatever bit of a ledger is flipped: an answer is what it was, or says what is wrong."""

import io
import os
import random
import subprocess
import sys
from contextlib import suppress

import pytest

pytest.importorskip("duckdb")

from draws import cases
from ledger_runs import run

from sssjob.accounting.report import Report
from sssjob.document.sources import NamedSource
from sssjob.errors import DamagedStore, UnusableStore
from sssjob.ledger import damage, ids, jobs, ledger, manifest, questions, rollup, upkeep
from sssjob.ledger.asking import found as asked_runs
from sssjob.ledger.exporting import export
from sssjob.ledger.report import add_to, roll_up
from sssjob.ledger.tables import Runs
from sssjob.measures import Histograms
from sssjob.query import Query
from sssjob.verbs.ledger import Ingestion, record_of

HEADER = "JobID|Cluster|User|State|Submit|Start|End|ElapsedRaw|NCPUS\n"
LINE = "{0}|c|amy|COMPLETED|1|2|{1}|{2}|4\n"


def take(kept, first):
    lines = (LINE.format(number, 86_400 * number + first, first) for number in range(first, 9))
    work = Ingestion(kept, pytest.fail, keep=True)
    data = (HEADER + "".join(lines)).encode()
    work.take([NamedSource(f"log {first}", io.BytesIO(data))], "slurm")
    work.commit()


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A ledger with a file of each kind: some rows of the first file were replaced."""
    monkeypatch.setattr(ids, "FEW", 1)
    found = ledger.create(tmp_path / "usage")
    take(found, 3)
    take(found, 5)
    roll_up(found)
    return found


def reported(kept, told, **more):
    report = Report(("user", "day"))
    add_to(report, kept, on_error=told.append, **more)
    return report.groups


def of_spreads(kept, told):
    report = Report(("user",), histograms=Histograms.read(()))
    add_to(report, kept, on_error=told.append)
    return report.groups, report.histograms.groups


def exported(kept, _):
    stream = io.BytesIO()
    export(Runs(kept), "csv", stream)
    return sorted(stream.getvalue().splitlines())


def sql(kept, _):
    with questions.asked(kept, "SELECT * FROM runs ORDER BY ALL") as answer:
        return [*answer.rows]


def records(kept, _):
    return [record_of(kept, each) for each in kept.runs(["8"])]


ASKED = {
    "report": reported,
    "report of rows": lambda kept, told: reported(kept, told, by_rollup=False),
    "histograms": of_spreads,
    "sql": sql,
    "show": lambda kept, _: kept.runs(["4", "8", "nobody"]),
    "show --record": records,
    "query by id": lambda kept, _: [*map(str, asked_runs(kept, Query("//Job[Id = '8']")))],
    "query": lambda kept, _: sorted(
        map(str, asked_runs(kept, Query("//Job[Delivered/Processors > 3]")))
    ),
    "jobs": lambda kept, told: sorted(map(str, jobs.jobs(kept, told.append))),
    "audit": lambda kept, told: sorted(map(str, jobs.runs(kept, told.append))),
    "export": exported,
    "Python": lambda kept, _: sorted(
        Runs(kept).to_arrow("id", "wall_seconds").to_pylist(), key=str
    ),
}
READ = {"report of rows", "histograms", "sql", "query", "jobs", "audit", "export", "Python"}
FOLDERS = ("usage", ledger.GONE, "records", rollup.FOLDER, ids.FOLDER, manifest.FOLDER)


def flipped(path, at, bit):
    data = bytearray(path.read_bytes())
    data[at] ^= 1 << bit
    path.write_bytes(data)


def test_a_flipped_bit_of_any_file_changes_no_answer_in_silence(kept):
    true = {name: ask(kept, []) for name, ask in ASKED.items()}
    chosen, silent, told_of = random.Random(610), [], set()
    for folder in FOLDERS:
        paths = sorted(path for path in (kept.home / folder).rglob("*") if path.is_file())
        assert paths, folder
        if folder == manifest.FOLDER:
            paths = paths[-1:]  # others are not read
        for _ in range(cases(3)):
            path = chosen.choice(paths)
            whole = path.read_bytes()
            at = chosen.choice([chosen.randrange(len(whole)), chosen.randrange(16)])
            flipped(path, at, chosen.randrange(8))
            for name, ask in ASKED.items():
                told = []
                try:
                    is_same = ask(kept, told) == true[name]
                except UnusableStore as error:
                    told.append(error)
                    is_same = False
                if told:
                    told_of.add((folder, name))
                elif not is_same:
                    silent.append((path, at, name))
            path.write_bytes(whole)
    assert silent == []
    # What is read is compared, and what is not needed is not told of.
    assert {name for folder, name in told_of if folder == "usage"} >= READ
    assert {folder for folder, _ in told_of} == {"usage", ledger.GONE, "records", manifest.FOLDER}
    assert {name: ask(kept, []) for name, ask in ASKED.items()} == true


def test_a_report_of_several_processes_leaves_the_file_out_and_tells_it(kept, monkeypatch):
    monkeypatch.setattr("sssjob.ledger.report._ROWS", 1)
    file = next(each for each in kept.manifest().files if not each.gone)
    flipped(kept.home / file.path, 20, 3)
    for processes in (1, 2):
        told = []
        found = reported(kept, told, by_rollup=False, processes=processes)
        (fault,) = told
        assert fault.store == str(kept.home / file.path)
        assert fault.reason.startswith("is not what was written; ")
        assert sum(each.jobs for each in found.values()) == kept.manifest().rows - file.rows


def test_damage_is_not_written_into_new_files(kept):
    """Neither by compacting, nor in what is made of a file, nor beside what replaces its rows."""
    now = kept.manifest()
    file = now.files[0]
    for path in [*(kept.home / ids.FOLDER).iterdir(), *(kept.home / rollup.FOLDER).rglob("*.par*")]:
        path.unlink()
    flipped(kept.home / file.path, file.size // 2, 3)
    for work in (
        upkeep.compact, roll_up, lambda _: ids.remake(kept.home, file), lambda _: take(kept, 2)
    ):  # fmt: skip
        with pytest.raises(DamagedStore, match=file.name):
            work(kept)
    with suppress(DamagedStore):
        upkeep.filter_ids(kept)
    assert kept.manifest() == now
    stem = file.name.removesuffix(".parquet")
    assert not [path for path in kept.home.rglob(f"{stem}*") if path.suffix != ".parquet"]
    assert not [path for path in (kept.home / rollup.FOLDER).rglob(f"{stem}*")]


def test_files_of_an_earlier_version_are_compared_by_their_digests(kept):
    now = kept.manifest()
    files = tuple(file._replace(crc=None) for file in now.files)
    manifest.commit(kept.home, manifest.next_to(now, files=files))
    assert damage.whole(kept.home, files) == ([*files], [])
    flipped(kept.home / files[0].path, 9, 0)
    whole, (fault,) = damage.whole(kept.home, files)
    assert (whole, fault.store) == ([*files[1:]], str(kept.home / files[0].path))
    (kept.home / files[0].path).unlink()
    assert "No such file" in str(damage.fault(kept.home, files[0]))


THREADS = """
import os, sys
from pathlib import Path
import duckdb, numpy, pyarrow.compute
from sssjob.ledger import asking, jobs, ledger, questions
from sssjob.measures import Histograms
from sssjob.query import Query
before = len(os.listdir("/proc/self/task"))
kept = ledger.opened(Path(sys.argv[1]))
for text in ("//Job[Id = '7']", "//Job[Delivered/Duration > 3]"):
    next(asking.found(kept, Query(text)))
next(jobs.jobs(kept))
assert kept.runs(["7"])
print(len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are not listed here")
def test_who_reads_rows_starts_no_thread_of_arrow(tmp_path):
    """One that ends a read while the process ends aborts it."""
    kept = ledger.create(tmp_path / "usage")
    kept.add([run(7, start=5, end=9, wall=4), run(8, start=5, end=10, wall=4)])
    words = [sys.executable, "-c", THREADS, str(kept.home)]
    found = subprocess.run(words, capture_output=True, text=True, check=True)
    assert found.stdout == "0\n"
