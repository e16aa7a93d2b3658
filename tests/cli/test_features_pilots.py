import json

import pytest
from click.testing import CliRunner

from sssjob.cli.deliver import command as deliver
from sssjob.cli.features import command
from sssjob.document import read as read_jobs
from sssjob.features.status import read, write
from sssjob.features.write import write as write_features

NOW = 1_700_000_000


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JOBSTATUS", raising=False)
    for name, uncommitted in (("a", 900), ("b", 100)):
        (tmp_path / name / "jobstatus").mkdir(parents=True)
        write_features({"job_id": name, "allocated_cpu": 8}, tmp_path / name / "jobfeatures")
        values = {
            "used_CPU": 6, "last_job_start": NOW - 100, "add_uncom_time": uncommitted,
            "can_postpone_last_job": name == "a",
        }  # fmt: skip
        write(values, tmp_path / name / "jobstatus")
    return lambda *arguments: CliRunner().invoke(command, arguments)


def test_the_pilot_that_costs_least_to_kill_comes_first(run):
    result = run("pilots", "--for", "kill", "--now", str(NOW), "a", "b")
    assert result.exit_code == 0
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["job", "drain", "kill", "expected", "enforced", "used_CPU"],
        ["b", "-", "700", "-", "-", "6", "retires"],
        ["a", "-", "1500", "-", "-", "6"],
    ]


def test_json_holds_figures_and_status(run):
    printed = json.loads(run("pilots", "--json", "--now", str(NOW), "a").stdout)
    assert printed[0]["kill_waste"] == 1500
    assert printed[0]["status"]["used_CPU"] == "6"
    assert printed[0]["draining_waste"] is None


def test_pilots_of_which_nothing_is_known_end_with_1(run):
    result = run("pilots", "absent")
    assert result.exit_code == 1
    assert "absent: warning: No such file" in result.stderr


def test_a_shell_writes_and_reads_the_status(run, monkeypatch, tmp_path):
    monkeypatch.setenv("JOBSTATUS", str(tmp_path / "a" / "jobstatus"))
    assert run("status", "used_CPU=2", "last_job_start=", "priority_factor=-1").exit_code == 0
    values = read(tmp_path / "a" / "jobstatus").values
    assert values["used_CPU"] == 2
    assert values["priority_factor"] == -1
    assert "last_job_start" not in values
    assert "used_CPU               2\n" in run("status").stdout
    printed = json.loads(run("status", "--json").stdout)
    assert printed["values"]["can_postpone_last_job"] == "True"
    assert printed["consistent"] is True


@pytest.mark.parametrize(
    "arguments, code, complaint",
    [
        pytest.param(("status",), 2, "$JOBSTATUS is not set", id="no directory"),
        pytest.param(("status", "--in", "a"), 1, "", id="no status yet"),
        pytest.param(("status", "--in", "a", "cores=2"), 2, "KEY=VALUE", id="unknown key"),
        pytest.param(("status", "--in", "a", "used_CPU=-2"), 2, "0 or more", id="negative"),
        pytest.param(("status", "--in", "absent"), 2, "absent: No such file", id="absent"),
    ],
)
def test_what_cannot_be_done_is_said(run, arguments, code, complaint):
    result = run(*arguments)
    assert result.exit_code == code
    assert complaint in result.stderr


def test_status_machine_and_usage_are_folded_and_folding_again_changes_nothing(run, tmp_path):
    (tmp_path / "job.xml").write_text("<Job><Id>a</Id><Processors>8</Processors></Job>")
    write_features({"total_cpu": 16}, tmp_path / "machine")
    (tmp_path / "group").mkdir()
    (tmp_path / "group" / "cpu.stat").write_text("usage_usec 7000000\n")
    (tmp_path / "group" / "memory.peak").write_text(f"{2**30}\n")
    options = (
        "--features", "a/jobfeatures", "--machine", "machine", "--status", "a/jobstatus",
        "--usage", "group",
    )  # fmt: skip
    result = CliRunner().invoke(deliver, ["job.xml", *options, "-o", "done.xml"])
    assert result.exit_code == 0, result.stderr
    [job] = read_jobs(tmp_path / "done.xml")
    assert job.delivered.get("Processors", context="Configured").text == "16"
    assert job.delivered.get("Processors", context="Used").text == "6"
    assert job.delivered.get("Memory", metric="Max").text == "1"
    assert job.properties.get("CpuDuration").text == "7"
    again = CliRunner().invoke(deliver, ["done.xml", *options, "-o", "again.xml"])
    assert again.exit_code == 0
    assert (tmp_path / "again.xml").read_bytes() == (tmp_path / "done.xml").read_bytes()


def test_a_pilot_that_said_nothing_delivers_nothing(run, tmp_path):
    (tmp_path / "job.xml").write_text("<Job><Id>a</Id></Job>")
    (tmp_path / "silent").mkdir()
    result = CliRunner().invoke(deliver, ["job.xml", "--status", "silent"])
    assert result.exit_code == 1
    assert result.stdout == "<Job><Id>a</Id></Job>"


def test_a_group_that_measures_nothing_ends_the_command(run, tmp_path):
    (tmp_path / "job.xml").write_text("<Job><Id>a</Id></Job>")
    result = CliRunner().invoke(deliver, ["job.xml", "--usage", "a"])
    assert result.exit_code == 2
    assert "no control group" in result.stderr
