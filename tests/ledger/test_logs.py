"""The record of each run is found in the text that was kept, in every format."""

import io
import json

import pytest
from click.testing import CliRunner

pytest.importorskip("duckdb")

from mutated_records import READ, SOURCES

from sssjob.cli import sssjob
from sssjob.document.sources import NamedSource
from sssjob.errors import DamagedStore
from sssjob.ledger import ledger, logs, manifest, upkeep
from sssjob.verbs.ledger import Ingestion, record_of

HEADER = "JobID|Cluster|User|State|Submit|Start|End|ElapsedRaw|NCPUS\n"
LINE = "{0}|c|amy|COMPLETED|1|2|{1}|3|4\n{0}.batch|c||COMPLETED|1|2|{1}|3|4\n"


def put(kept, name, format_, data, **more):
    work = Ingestion(kept, pytest.fail, keep=True, **more)
    work.take([NamedSource(name, io.BytesIO(data))], format_)
    work.commit()
    return work


def rows(kept):
    with kept.connected() as connection:
        found = connection.execute("SELECT DISTINCT id FROM usage WHERE id IS NOT NULL").fetchall()
    return kept.runs([name for (name,) in found])


@pytest.mark.parametrize("format_", SOURCES)
def test_the_record_of_each_run_names_it(tmp_path, format_):
    kept = ledger.create(tmp_path / "usage")
    for name in SOURCES[format_]:
        put(kept, name, format_, READ[name])
    runs = rows(kept)[:12]
    assert runs
    for run in runs:
        found = record_of(kept, run)
        lines = READ[run["source"]].splitlines(keepends=True)
        assert found.text
        assert b"".join(lines[run["line"] - 1 :]).startswith(found.text)
        assert run["id"].split(".")[0].split("[")[0].split("_")[0].encode() in found.text


def test_a_record_has_its_header_and_its_steps(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "BLOCK", 40)
    monkeypatch.setattr(logs, "PIECE", 200)
    kept = ledger.create(tmp_path / "usage")
    data = (HEADER + "".join(LINE.format(number, 5) for number in range(30))).encode()
    put(kept, "log", "slurm", data)
    assert len(kept.manifest().logs) > 3
    text = logs.texts(kept.manifest().logs, "log")[0]
    assert b"".join(logs.whole(kept.home, text)) == data
    for run in rows(kept):
        assert record_of(kept, run) == (HEADER.encode(), LINE.format(run["id"], 5).encode())


def test_a_name_that_comes_again_does_not_mix_records_up(tmp_path):
    kept = ledger.create(tmp_path / "usage")
    nights = [(HEADER + LINE.format(7 + night, 5 + night)).encode() for night in range(3)]
    for data in nights:
        put(kept, "log", "slurm", data)
    assert put(kept, "log", "slurm", nights[0]).known == 1
    assert [record_of(kept, run).text.decode() for run in rows(kept)] == [
        LINE.format(7 + night, 5 + night) for night in range(3)
    ]
    upkeep.compact(kept)
    assert record_of(kept, rows(kept)[0]).text.decode() == LINE.format(7, 5)
    assert upkeep.check(kept).strays == []


def test_a_damaged_text_is_told_and_left_out(tmp_path):
    kept = ledger.create(tmp_path / "usage")
    put(kept, "log", "slurm", (HEADER + LINE.format(7, 5)).encode())
    path = kept.home / kept.manifest().logs[0].path
    path.write_bytes(path.read_bytes()[:-9])
    (run,) = rows(kept)
    with pytest.raises(DamagedStore, match=f"{path}: is not what was written"):
        record_of(kept, run)
    assert [fault.store for fault in upkeep.check(kept).faults] == [str(path)]
    assert "3 lines of records were in it" in str(upkeep.repair(kept).faults[0])
    assert record_of(kept, run) is None
    put(kept, "log", "slurm", (HEADER + LINE.format(7, 5)).encode())
    assert record_of(kept, run) is not None


def test_an_empty_ledger_is_of_the_first_version(tmp_path):
    kept = ledger.create(tmp_path / "usage")
    path = manifest.path_of(kept.home, 0)
    assert json.loads(path.read_bytes().split(b"\n")[0])["version"] == 1
    put(kept, "log", "slurm", (HEADER + LINE.format(7, 5)).encode())
    path = manifest.path_of(kept.home, 1)
    assert json.loads(path.read_bytes().split(b"\n")[0])["version"] == manifest.VERSION


def test_the_command_prints_the_record(tmp_path):
    def run(*words, **more):
        return CliRunner().invoke(sssjob, ["ledger", *map(str, words)], **more)

    usage, text = tmp_path / "usage", HEADER + LINE.format(7, 5)
    assert run("ingest", "--from", "slurm", usage, "-", input=text).exit_code == 0
    found = run("show", "--record", usage, "7")
    assert (found.exit_code, "its record is not kept" in found.stderr) == (0, True)
    assert run("ingest", "--keep", "--from", "slurm", usage, "-", input=text).exit_code == 0
    assert run("show", "--record", usage, "7").stdout.endswith(text)
    told = json.loads(run("show", "--record", "--json", usage, "7").stdout)
    assert told["header"] + told["record"] == text
