"""The commands of ``sssjob ledger``."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("duckdb")

from sssjob import store
from sssjob.cli import sssjob

RECORDS = Path(__file__).parents[2] / "examples" / "slurm" / "sacct.txt"
HEADER = "JobID|Cluster|User|State|Submit|Start|End|ElapsedRaw|NCPUS\n"


@pytest.fixture
def run():
    return lambda *words: CliRunner().invoke(sssjob, ["ledger", *map(str, words)])


@pytest.fixture
def ingest(run, usage, tmp_path):
    """Puts records into the ledger, each time by another file."""

    def ingest(*records):
        file = tmp_path / f"sacct-{len(list(tmp_path.iterdir()))}"
        file.write_text(HEADER + "".join(f"{each}\n" for each in records))
        return run("ingest", usage, file), file

    return ingest


@pytest.fixture
def usage(tmp_path):
    return tmp_path / "usage"


@pytest.mark.parametrize("by", ["user", "project,day", "state,month,hour"])
@pytest.mark.parametrize("form", ["--json", "--csv"])
def test_a_report_is_that_over_the_records(run, usage, by, form):
    run("ingest", usage, RECORDS)
    found = run("report", "--book", "end", form, "--by", by, usage)
    wanted = CliRunner().invoke(sssjob, ["report", form, "--by", by, str(RECORDS)])
    assert found.stdout == wanted.stdout
    assert found.exit_code == wanted.exit_code == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_records_documents_and_stores_are_taken_in(run, usage, tmp_path, workers):
    document, records = tmp_path / "jobs.sss", tmp_path / "sacct"
    document.write_text("<Jobs><Job><Id>a</Id></Job><Job><Id>b</Id></Job></Jobs>")
    records.write_text(HEADER + "7|c|amy|COMPLETED|1|2|5|3|4\n")
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(b"<Job><Id>d</Id><User>bob</User></Job>")
    found = run("ingest", "--workers", workers, usage, document, records, tmp_path / "jobs.db")
    assert found.stderr.splitlines()[-1] == "new 4, replaced 0, unchanged 0, bad 0"
    told = json.loads(run("report", "--json", usage).stdout)
    assert {row["user"]: row["jobs"] for row in told["rows"]} == {"amy": 1, "bob": 1, None: 2}


def test_a_file_that_was_read_is_not_read_again_unless_it_is_wanted(run, usage, tmp_path):
    file = tmp_path / "sacct"
    file.write_text(HEADER + "7|c|amy|COMPLETED|1|2|5|3|4\n")
    run("ingest", usage, file)
    known = {"new": 0, "replaced": 0, "unchanged": 0, "bad": 0, "unread": 0, "known": 1}
    assert json.loads(run("ingest", "--json", usage, file).stdout) == known
    again = json.loads(run("ingest", "--again", "--json", usage, file).stdout)
    assert (again["unchanged"], again["known"]) == (1, 0)
    file.write_text(HEADER + "7|c|amy|COMPLETED|1|2|6|4|4\n")
    assert json.loads(run("ingest", "--json", usage, file).stdout)["replaced"] == 1


def test_a_bad_record_is_told_with_its_line_and_the_others_are_kept(ingest):
    found, file = ingest("x|c|amy|COMPLETED|1|2|5|3|4", "8|c|amy|COMPLETED|1|2|5|3|4")
    assert f"{file}:2: error: 'x' is no job id" in found.stderr
    assert (found.exit_code, "new 1" in found.stderr) == (1, True)


def test_a_file_that_is_not_there_costs_itself(run, usage, tmp_path):
    file = tmp_path / "sacct"
    file.write_text(HEADER + "7|c|amy|COMPLETED|1|2|5|3|4\n")
    found = run("ingest", usage, tmp_path / "nothing", file)
    assert (found.exit_code, "new 1" in found.stderr) == (2, True)
    assert f"{tmp_path / 'nothing'}: No such file or directory" in found.stderr


def test_a_torn_file_is_told_and_the_rest_is_reported(run, ingest, usage):
    ingest("7|c|amy|COMPLETED|1|2|5|3|4", "8|c|bob|RUNNING|1|2|Unknown|3|4")
    (torn,) = usage.glob("usage/1970-01/*.parquet")
    torn.write_bytes(b"PAR1")
    found = run("report", "--json", usage)
    assert f"{torn}: is torn: 4 bytes" in found.stderr
    users = [row["user"] for row in json.loads(found.stdout)["rows"]]
    assert (found.exit_code, users) == (2, ["bob"])


def test_an_older_state_can_be_asked(run, ingest, usage):
    ingest("7|c|amy|COMPLETED|1|2|5|3|4")
    ingest("8|c|amy|COMPLETED|1|2|5|3|4")
    counts = [
        json.loads(run("report", "--json", *words, usage).stdout)["total"]["jobs"]
        for words in ([], ["--as-of", "1"], ["--as-of", "0"])
    ]
    assert counts == [2, 1, 0]


def test_what_is_no_ledger_is_refused(run, tmp_path):
    found = run("report", tmp_path)
    assert (found.exit_code, "is no ledger: sssjob ledger init makes one" in found.stderr) == (
        2,
        True,
    )
