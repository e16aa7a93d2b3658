import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sssjob.cli.features import COMMANDS, command
from sssjob.features.read import read
from sssjob.features.write import write

NOW = 1_700_000_000
JOB = """<Job><Id>7</Id><Requested><Processors>4</Processors><Memory units="GB">2</Memory>
  <Duration>3600</Duration></Requested></Job>"""
SITE = 'hepscore_per_cpu = 10\ngrace_secs = 60\n[[nodes]]\nnames = "n[1-2]"\ntotal_cpu = 8\n'


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MACHINEFEATURES", raising=False)
    monkeypatch.delenv("JOBFEATURES", raising=False)
    (tmp_path / "job.xml").write_text(JOB)
    (tmp_path / "site.toml").write_text(SITE)
    return lambda *arguments: CliRunner().invoke(command, arguments)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples_and_exit_codes(run, name):
    printed = run(name, "--help").stdout
    assert f"sssjob features {name if name != 'job' else ''}".strip() in printed
    assert "Exit code" in printed


def test_job_may_be_named_or_left_out(run):
    named, unnamed = run("job", "job.xml", "a"), run("job.xml", "b")
    assert named.exit_code == unnamed.exit_code == 0
    assert read("a").values == read("b").values


def test_both_vocabularies_are_written_and_every_value_names_its_source(run):
    result = run("job.xml", "out", "--vocabulary", "both", "--explain")
    values = read("out").values
    assert values["max_rss_bytes"] == 2**31
    assert values["mem_limit_MB"] == 2147
    line = next(line for line in result.stdout.splitlines() if line.startswith("mem_limit_MB"))
    assert "max_rss_bytes of /Job/Requested/Memory (derived" in line
    assert run("job.xml", "out", "--vocabulary", "2014").exit_code == 0
    assert "max_rss_bytes" not in read("out").values


def test_a_machine_is_derived_from_the_configuration_of_its_node(run):
    result = run("machine", "out", "--node", "n2", "--no-host", "--site", "site.toml")
    assert result.exit_code == 0
    values = read("out", ()).values
    assert (values["total_cpu"], values["hs06"], values["log_cores"]) == ("8", "80", "8")
    narrow = ("machine", "out", "--node", "n2", "--no-host", "--site", "site.toml")
    assert run(*narrow, "--vocabulary", "2016").exit_code == 0
    assert set(read("out", ()).values) == {"total_cpu", "hs06", "grace_secs"}


def test_a_machine_is_derived_from_its_description(run, tmp_path):
    nodes = [{"id": "a", "Processors": 4}, {"id": "b", "Processors": 6}]
    (tmp_path / "nodes.json").write_text(json.dumps(nodes))
    options = ("--no-host", "--description", "nodes.json")
    printed = json.loads(run("machine", "--json", *options, "--node", "b").stdout)
    assert printed["values"]["total_cpu"] == "6"
    assert printed["sources"]["total_cpu"]["source"] == "description/Processors"
    assert run("machine", "--json", *options, "--node", "c").exit_code == 2
    assert run("machine", "--json", *options).exit_code == 2, "of two nodes one must be named"


def test_a_machine_is_derived_from_a_job_that_ran_on_it(run, tmp_path):
    (tmp_path / "ran.xml").write_text(
        "<Job><Id>7</Id><Extension type='MachineFeatures' name='hs06'>88</Extension>"
        "<Delivered><Processors context='Configured'>64</Processors></Delivered></Job>"
    )
    printed = json.loads(run("machine", "--json", "--no-host", "--job", "ran.xml").stdout)
    assert (printed["values"]["total_cpu"], printed["values"]["hs06"]) == ("64", "88")


def test_one_directory_that_is_both_shows_each_key_once(run):
    write({"total_cpu": 16, "allocated_cpu": 8}, "both")
    printed = json.loads(run("show", "--job", "both", "--machine", "both", "--json").stdout)
    assert (printed["machine"], printed["job"]) == ({"total_cpu": "16"}, {"allocated_cpu": "8"})


def test_a_job_has_a_share_of_the_rating_of_its_machine(run):
    run("machine", "m", "--node", "n2", "--no-host", "--site", "site.toml")
    assert run("job.xml", "out", "--machine", "m").exit_code == 0
    assert read("out").values["hs06_job"] == 40
    assert run("job.xml", "out", "--site", "site.toml", "--node", "n1").exit_code == 0
    assert read("out").values["hs06_job"] == 40, "without a directory, as it is configured"


def test_a_live_job_has_a_share_as_well(run):
    assert run("live", "out", "--site", "site.toml").exit_code == 0
    found = read("out").values
    assert found["hs06_job"] == 10 * found["allocated_cpu"]


def test_a_live_job_needs_no_document(run):
    result = run("live", "out", "--job-id", "9", "--start", str(NOW), "--wall", "60")
    assert result.exit_code == 0
    values = read("out").values
    assert (values["job_id"], values["jobstart_secs"], values["wall_limit_secs"]) == ("9", NOW, 60)
    assert values["allocated_cpu"] >= 1
    assert run("live", "--explain", "--start", "soon").exit_code == 2


@pytest.mark.parametrize(
    "option, complaint",
    [
        (("--cgroup", "absent"), "absent is not a directory"),
        (("--scratch", "absent"), "absent is not a directory"),
        (("--pid", "999999999"), "there is no process 999999999"),
    ],
)
def test_what_is_named_to_limit_a_live_job_has_to_be_there(run, option, complaint):
    result = run("live", "--explain", *option)
    assert result.exit_code == 2
    assert complaint in result.stderr


def test_a_shutdown_is_announced_with_the_notice_that_was_promised(run):
    write({"grace_secs_job": 600}, "out")
    result = run("set", "shutdowntime_job", "+3600", "out", "--now", str(NOW))
    assert result.exit_code == 0
    assert result.stdout == f"shutdowntime_job  {NOW + 3600} (2023-11-14T23:13:20Z) in out\n"
    result = run("set", "shutdowntime_job", "+5", "out", "--now", str(NOW))
    assert result.exit_code == 1
    assert f"the earliest is {NOW + 600}" in result.stderr
    assert read("out").values["shutdowntime_job"] == NOW + 3600
    assert run("set", "shutdowntime_job", "+5", "out", "--earliest").exit_code == 0
    result = run("set", "shutdowntime_job", "never", "out", "--json")
    assert json.loads(result.stdout) == [
        {"directory": "out", "key": "shutdowntime_job", "value": None}
    ]


def test_without_a_directory_the_variable_of_the_key_is_meant(run, monkeypatch, tmp_path):
    write({"grace_secs": 1}, "machine")
    monkeypatch.setenv("MACHINEFEATURES", str(tmp_path / "machine"))
    assert run("set", "shutdowntime", "+60").exit_code == 0
    assert "shutdowntime" in read("machine", ()).values
    result = run("set", "shutdowntime_job", "+60")
    assert result.exit_code == 2
    assert "$JOBFEATURES is not set" in result.stderr


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        pytest.param(("wall_limit_secs", "60", "out"), "a key that may change", id="static"),
        pytest.param(("allocated_cpu", "-4", "out"), "above 0", id="negative"),
        pytest.param(("shutdowntime", "+60", "absent"), "absent: No such file", id="no directory"),
    ],
)
def test_what_cannot_be_set_ends_with_2(run, arguments, complaint):
    write({"job_id": "1"}, "out")
    result = run("set", *arguments)
    assert result.exit_code == 2
    assert complaint in result.stderr


def test_a_directory_that_is_not_there_does_not_spare_the_others(run):
    write({"job_id": "1"}, "out")
    result = run("set", "shutdowntime_job", "+60", "nowhere", "out", "--json", "--now", str(NOW))
    assert result.exit_code == 2
    assert "nowhere: No such file" in result.stderr
    assert [item.get("value") for item in json.loads(result.stdout)] == [None, NOW + 60]
    assert read("out").values["shutdowntime_job"] == NOW + 60


def test_shutdowns_that_have_come_are_removed_from_every_directory(run, safe_path, monkeypatch):
    monkeypatch.chdir(safe_path)
    for name, moment in (("a", NOW - 1), ("b", NOW + 1)):
        write({"shutdowntime_job": moment}, name)
    result = run("expire", "a", "absent", "b", "--now", str(NOW))
    assert result.stdout == "a: removed shutdowntime_job\n"
    assert result.exit_code == 2
    assert "absent: No such file" in result.stderr
    assert set(read("b").values) == {"shutdowntime_job"}


@pytest.fixture
def job(run, tmp_path):
    write({"jobstart_secs": NOW, "wall_limit_secs": 3600, "cpu_limit_secs": 100}, "job")
    write({"total_cpu": 8, "colour": "blue\x1b[2J"}, "machine")
    return ("--job", "job", "--machine", "machine", "--now", str(NOW + 600), "--cpu-used", "40")


def test_both_directories_are_shown_with_what_is_left(run, job):
    result = run("show", *job)
    assert result.exit_code == 0
    assert "  total_cpu  8  processors that may be allocated" in result.stdout
    assert "  colour     blue?[2J  not a key of either text\n" in result.stdout
    assert "  wall      3000 s  00:50:00\n" in result.stdout
    printed = json.loads(run("show", *job, "--json").stdout)
    assert printed["left"]["time"] == 3000
    assert printed["machine"]["total_cpu"] == "8"


@pytest.mark.parametrize(
    "needs, code",
    [
        pytest.param((), 0, id="nothing is asked"),
        pytest.param(("--at-least", "3000"), 0, id="just enough"),
        pytest.param(("--wall", "3001"), 1, id="a second short"),
        pytest.param(("--cpu", "60"), 0, id="enough CPU time"),
        pytest.param(("--cpu", "61"), 1, id="too little CPU time"),
    ],
)
def test_what_is_left_decides_the_exit_code(run, job, needs, code):
    result = run("left", *job, *needs)
    assert result.exit_code == code
    assert "time      3000\n" in result.stdout


def test_an_absent_limit_is_no_limit(run):
    write({"job_id": "1"}, "job")
    result = run("left", "--job", "job", "--at-least", "999999999", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["time"] is None


@pytest.mark.parametrize(
    "key, text",
    [
        pytest.param("wall_limit_secs", "1 h", id="a value with a unit"),
        pytest.param("shutdowntime_job", "0\0", id="a NUL"),
        pytest.param("jobstart_secs", "", id="no start from which the limit counts"),
    ],
)
def test_a_key_that_decides_and_cannot_be_read_is_not_taken_for_no_limit(run, job, key, text):
    Path("job", key).write_text(text)
    result = run("left", *job, "--at-least", "1")
    assert result.exit_code == 2
    assert f"a limit that the answer needs is not known: {key}\n" in result.stderr
    assert run("left", *job, "--cpu", "1").exit_code == 0, "CPU time is counted apart"


def test_a_directory_that_the_environment_names_and_that_is_not_there_decides(
    run, job, monkeypatch
):
    monkeypatch.setenv("JOBFEATURES", "/nowhere")
    result = run("left", "--machine", "machine", "--at-least", "1")
    assert result.exit_code == 2
    assert "wall_limit_secs" in result.stderr


def test_without_any_features_nothing_is_found(run):
    result = run("left")
    assert result.exit_code == 1
    assert "$JOBFEATURES is not set" in result.stderr
    assert run("show").exit_code == 1


def test_a_directory_that_was_named_must_be_there(run):
    result = run("show", "--job", "absent")
    assert result.exit_code == 2
    assert "absent: No such file" in result.stderr
