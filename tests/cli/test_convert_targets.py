"""sssjob convert --to: usage records, messages, tables and single files."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from lxml import etree

from sssjob.check.sources import check_source
from sssjob.cli import sssjob

SACCT = Path(__file__).parents[2] / "examples" / "slurm" / "sacct.txt"
DATA = Path(__file__).parents[1] / "data"
JOBS = (
    "<Job><Id>1</Id><Priority>7</Priority><CpuDuration>5</CpuDuration><StartTime>10</StartTime>"
    "<EndTime>20</EndTime><Delivered><Duration>10</Duration></Delivered></Job>\n"
    "<Job><Id>../1</Id></Job>\n<Job><Id>1</Id><StartTime>30</StartTime></Job>\n"
)


def run(*arguments, data=None):
    return CliRunner().invoke(sssjob, ["convert", *map(str, arguments)], input=data)


@pytest.mark.parametrize("form", ["csv", "CSV", "tsv"])
@pytest.mark.parametrize("command", ["convert", "show", "store export"])
def test_who_wants_CSV_is_told_what_prints_it(command, form):
    found = CliRunner().invoke(sssjob, [*command.split(), "--to", form, str(SACCT)])
    assert (found.exit_code, found.stdout) == (2, "")
    for other in ("sssjob report --csv", "sssjob query --csv --columns", "ledger export --to csv"):
        assert other in " ".join(found.stderr.split())


def test_records_of_a_real_Slurm_become_valid_usage_records(tmp_path):
    target, lost = tmp_path / "records.xml", tmp_path / "lost.jsonl"
    result = run("--from", "slurm", "--to", "ur", "-o", target, "--losses", lost, SACCT)
    assert result.exit_code == 0, result.stderr
    schema = etree.XMLSchema(etree.parse(str(DATA / "oracles" / "urf-1.0.xsd")))
    schema.assertValid(etree.parse(str(target)))
    assert "lost in ur: Priority 51 times: no place for it" in result.stderr
    assert "converted 51 (and 60 steps), skipped 0, bad 0" in result.stderr
    losses = [json.loads(line) for line in lost.read_text().splitlines()]
    assert {"job": "1", "path": "Priority", "value": "1", "reason": "no place for it"} in losses


def test_what_a_target_has_no_records_for_is_skipped_and_counted(tmp_path):
    counts = tmp_path / "counts.json"
    result = run(
        "--from", "sss", "--to", "apel", "--site", "HERE", "--counts-json", counts, "-", data=JOBS
    )
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1:3] == ["Site: HERE", "LocalJobId: 1"]
    found = json.loads(counts.read_text())
    assert (found["records"], found["jobs"]) == (3, 1)
    assert found["skipped"] == {"no Duration, which APEL demands": 2}


def test_a_refused_record_is_bad_and_the_others_go_on(tmp_path):
    data = JOBS.replace("<Priority>", "<Priority awarenessPolicy='Reject'>")
    result = run("--from", "sss", "--to", "ur", "-", data=data)
    assert result.exit_code == 1
    assert "<stdin>:1: error: '7' is not what the target holds: Priority with" in result.stderr
    assert result.stdout.count("<urf:JobUsageRecord>") == 2
    assert etree.fromstring(result.stdout_bytes) is not None


def test_each_job_in_a_file_of_its_own(tmp_path):
    result = run("--from", "sss", "--output-dir", tmp_path / "jobs", "-", data=JOBS)
    assert result.exit_code == 0
    names = sorted(path.name for path in (tmp_path / "jobs").iterdir())
    assert names == ["%2E.%2F1.xml", "1-2.xml", "1.xml"]
    for path in (tmp_path / "jobs").iterdir():
        assert not [item for item in check_source(path) if item.severity == "error"]


def test_no_two_jobs_have_one_file(tmp_path):
    """A second run of job 1 would be called as job 1-2 is."""
    ids = ("1", "1-2", "1", "1", "1-2")
    data = "".join(f"<Job><Id>{id_}</Id></Job>" for id_ in ids)
    assert run("--from", "sss", "--output-dir", tmp_path / "d", "-", data=data).exit_code == 0
    found = [re.findall("<Id>(.*)</Id>", path.read_text()) for path in (tmp_path / "d").iterdir()]
    assert sorted(id_ for some in found for id_ in some) == sorted(ids)


COLUMNS = "Cluster|JobID|State|Submit|Start|End|ElapsedRaw\n"
EVENING = f"{COLUMNS}c|7|RUNNING|100|200|Unknown|50\nc|8|COMPLETED|100|200|300|90\n"
MORNING = f"{COLUMNS}c|7|COMPLETED|100|200|300|100\nc|8|COMPLETED|100|200|300|95\n"


@pytest.mark.parametrize("more", [(), ("--workers", "2")], ids=["one", "two"])
def test_of_records_of_a_run_one_has_a_file(more, tmp_path):
    logs = tmp_path / "evening", tmp_path / "morning"
    for path, text in zip(logs, (EVENING, MORNING), strict=True):
        path.write_text(text)
    result = run("--from", "slurm", "--output-dir", tmp_path / "d", *more, *logs)
    assert "converted 2, skipped 2 (read before 2)" in result.stderr
    assert "two records are written" not in result.stderr
    found = {path.name: path.read_text() for path in (tmp_path / "d").iterdir()}
    assert sorted(found) == ["7.xml", "8.xml"]
    assert "<Duration>100</Duration>" in found["7.xml"]
    assert "<Duration>95</Duration>" in found["8.xml"]


def test_of_records_of_a_run_one_is_joined_with_the_log_of_a_computing_element(tmp_path):
    (tmp_path / "log").write_text('"timestamp=1970-01-01 00:01:40" "jobID=C" "lrmsID=7"\n')
    out = tmp_path / "out"
    more = ("--blah", tmp_path / "log", "-o", out, "-")
    result = run("--from", "slurm", *more, data=EVENING + MORNING)
    assert "joined 1 of 1 entries" in result.stderr
    assert "two records are written" not in result.stderr
    assert out.read_text().count("<Job>") == 2
    assert "<State>Running</State>" not in out.read_text()


def test_documents_become_job_objects_again_with_their_defaults():
    group = (
        "<JobGroup><Id>g</Id><JobDefaults><User>amy</User></JobDefaults><Job><Id>1</Id></Job>"
        "</JobGroup>"
    )
    result = run("--from", "auto", "-", data=group)
    assert "<Id>1</Id><User>amy</User>" in result.stdout
    assert "recognised as sss by an element JobGroup" in result.stderr


@pytest.mark.parametrize("arguments, message", [
    pytest.param(("--to", "ur", "--benchmark", "fast"), "expected NAME=NUMBER, such", id="figure"),
    pytest.param(("--to", "ur", "--output-dir", "x"), "writes job objects", id="files"),
    pytest.param(("--site", "X"), "need --to of jsonl, ", id="site"),
    pytest.param(("--to", "ur", "--state", "x"), "--state", id="state"),
])  # fmt: skip
def test_options_that_do_not_fit_exit_2(arguments, message):
    result = run("--from", "sss", *arguments, "-", data=JOBS)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
