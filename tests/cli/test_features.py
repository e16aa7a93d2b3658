import json

import pytest
from click.testing import CliRunner

from sssjob.cli.features import command
from sssjob.features.read import read

JOB = b"""<Job><Id>PBS.1234.0</Id><Requested><Processors op="GE">8</Processors>
  <Processors op="LE">16</Processors><Memory op="GE" units="GB">2</Memory>
  <Duration>3600</Duration></Requested></Job>"""
GROUP = b"""<JobGroup><Id>g</Id><JobDefaults><Duration>60</Duration></JobDefaults>
  <Job><Id>a</Id><Processors>1</Processors></Job>
  <Job><Id>b</Id><Processors>2</Processors></Job></JobGroup>"""
UNBALANCED = JOB.replace(b'<Processors op="GE"', b'<Processors group="-1" op="GE"').replace(
    b'<Processors op="LE"', b'<Processors group="1" op="LE"'
)
KEYS = ("allocated_cpu", "cpu_limit_secs", "job_id", "max_rss_bytes", "wall_limit_secs")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke(document, *arguments):
        (tmp_path / "job.xml").write_bytes(document)
        return CliRunner().invoke(command, arguments)

    return invoke


def test_a_directory_is_written_and_what_was_written_is_printed(run, tmp_path):
    result = run(JOB, "job.xml", "out")
    assert result.exit_code == 0
    assert "wall_limit_secs  3600\n" in result.stdout
    assert result.stdout.endswith("5 keys written to out\n")
    assert read(tmp_path / "out").values == {
        "allocated_cpu": 8, "cpu_limit_secs": 28800, "job_id": "PBS.1234.0",
        "max_rss_bytes": 2147483648, "wall_limit_secs": 3600,
    }  # fmt: skip


def test_a_dry_run_writes_nothing(run, tmp_path):
    result = run(JOB, "job.xml", "out", "--dry-run")
    assert result.exit_code == 0
    assert "allocated_cpu" in result.stdout
    assert not (tmp_path / "out").exists()


def test_explaining_says_which_element_gave_which_value(run):
    result = run(JOB, "job.xml", "--explain")
    assert (
        "allocated_cpu        8  /Job/Requested/Processors (minimum: 8 to 16 is requested)\n"
        in result.stdout
    )
    assert "shutdowntime_job     -  no source gives it\n" in result.stdout


def test_json_holds_values_sources_and_what_was_written(run):
    result = run(JOB, "job.xml", "out", "--json")
    printed = json.loads(result.stdout)
    assert printed["values"]["allocated_cpu"] == "8"
    assert printed["sources"]["max_rss_bytes"]["source"] == "/Job/Requested/Memory"
    assert tuple(sorted(printed["written"])) == KEYS
    assert printed["findings"] == []


def test_json_alone_prints_what_would_be_written(run, tmp_path):
    result = run(JOB, "job.xml", "--json")
    assert result.exit_code == 0
    printed = json.loads(result.stdout)
    assert (printed["values"]["allocated_cpu"], printed["written"]) == ("8", [])


def test_a_job_comes_from_standard_input():
    result = CliRunner().invoke(command, ["-", "--dry-run"], input=JOB)
    assert "allocated_cpu" in result.stdout


def test_a_later_run_removes_keys_that_are_gone(run, tmp_path):
    run(JOB, "job.xml", "out")
    result = run(b"<Job><Id>1</Id><Processors>1</Processors></Job>", "job.xml", "out")
    assert "removed: cpu_limit_secs, max_rss_bytes, wall_limit_secs" in result.stdout
    assert set(read(tmp_path / "out").values) == {"allocated_cpu", "job_id"}


@pytest.mark.parametrize("document", [GROUP, b"<Jobs>" + JOB + GROUP + b"</Jobs>"])
def test_of_several_jobs_one_has_to_be_selected(run, tmp_path, document):
    result = run(document, "job.xml", "out")
    assert result.exit_code == 2
    assert "--select one of them: " in result.stderr
    assert "a, b" in result.stderr
    assert not (tmp_path / "out").exists()
    result = run(document, "job.xml", "out", "--select", "b")
    assert result.exit_code == 0
    assert read(tmp_path / "out").values["wall_limit_secs"] == 60, "by default of the group"


def test_an_unknown_id_is_answered_with_the_known_ones(run):
    result = run(GROUP, "job.xml", "out", "--select", "c")
    assert result.exit_code == 2
    assert "no job c: a, b" in result.stderr


def test_groups_that_do_not_balance_are_an_error_and_give_no_wrong_number(run, tmp_path):
    result = run(UNBALANCED, "job.xml", "out")
    assert result.exit_code == 1
    assert "job.xml:1: error: Processors (item 1) closes 1 level" in result.stderr
    assert set(read(tmp_path / "out").values) == {"job_id"}
    assert run(UNBALANCED, "job.xml", "out", "--repair").exit_code == 0
    assert set(read(tmp_path / "out").values) == set(KEYS)


def test_options_reach_the_derivation(run):
    result = run(JOB, "job.xml", "-n", "--no-cpu-limit", "--starting", "--now", "1700000000")
    assert "cpu_limit_secs" not in result.stdout
    assert "jobstart_secs    1700000000\n" in result.stdout


def test_a_node_has_its_part(run):
    tasks = "".join(f"<Task><Node>{name}</Node></Task>" for name in "aab")
    document = f"<Job><Id>1</Id><TaskGroup>{tasks}</TaskGroup></Job>".encode()
    assert "allocated_cpu  2\n" in run(document, "job.xml", "-n", "--node", "a").stdout
    assert (
        "allocated_cpu  3\n" in run(document, "job.xml", "-n", "--node", "a", "--node", "b").stdout
    )


@pytest.mark.parametrize(
    "document, arguments, message",
    [
        pytest.param(JOB, ("job.xml",), "a directory to write to is needed", id="no directory"),
        pytest.param(JOB, ("absent.xml", "out"), "absent.xml: No such file", id="no file"),
        pytest.param(JOB, ("job.xml", "a/b/c"), "a/b/c: No such file", id="no parent"),
        pytest.param(JOB, ("job.xml", "job.xml"), "job.xml", id="a file for a directory"),
        pytest.param(b"<Job><Id>", ("job.xml", "out"), "job.xml:1:", id="not well-formed"),
        pytest.param(b"<Jobs/>", ("job.xml", "out"), "no job", id="no job"),
    ],
)
def test_what_is_not_understood_ends_with_2(run, document, arguments, message):
    result = run(document, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
