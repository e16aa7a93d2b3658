"""sssjob convert --to: usage records, messages, tables and single files."""

import json
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
    "<Job><Id>../1</Id></Job>\n<Job><Id>1</Id></Job>\n"
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
