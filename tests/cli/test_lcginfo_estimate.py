"""sssjob lcginfo estimate and check: the same numbers for people and machines."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from waiting import HANG

from sssjob.cli import sssjob

EXAMPLES = Path(__file__).parents[2] / "examples" / "lcginfo"
KEYS = ["queue", "vo", "running", "waiting", "free", "ert", "wrt"]


def run(*arguments, data=None):
    return CliRunner().invoke(sssjob, ["lcginfo", *map(str, arguments)], input=data)


@pytest.fixture
def conf(tmp_path):
    """A configuration that prints the example, with more lines in its sections."""

    def make(main="", backend=f"cat {EXAMPLES / 'lrmsinfo'}", caps=f"cat {EXAMPLES / 'vomaxjobs'}"):
        path = tmp_path / "conf"
        path.write_text(
            f"[Main]\nstatic_ldif_file = {EXAMPLES / 'static-file-CE.ldif'}\n"
            f"vomap =\n  atlsgm : atlas\n  biome : biomed\n{main}\n"
            f"[LRMS]\nlrms_backend_cmd = {backend}\n"
            f"[Scheduler]\nvo_max_jobs_cmd = {caps}\ncycle_time = 120\n"
        )
        return path

    return make


def test_a_table_for_people(conf):
    result = run("estimate", "-c", conf())
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["queue", "VO", "running", "waiting", "free", "ERT", "WRT"]
    assert lines[1].split() == ["long", "atlas", "1", "0", "0", "00:01:00", "00:55:00"]
    assert len(lines) == 5


def test_the_same_as_JSON_for_machines(conf):
    rows = json.loads(run("estimate", "-c", conf(), "--json").stdout)
    assert list(rows[0]) == KEYS
    assert list(rows[0].values()) == ["long", "atlas", 1, 0, 0, 60, 3300]
    explained = json.loads(run("estimate", "-c", conf(), "--json", "--explain").stdout)
    assert "no slot is free" in explained[0]["why"]


def test_why_a_job_would_wait(conf):
    text = run("estimate", "-c", conf(), "--explain", "--vo", "aliceprd").stdout
    assert "    the cap of 1 binds: 1 used\n" in text
    assert "104.ce.example.org" in text


@pytest.mark.parametrize("name, times", [
    pytest.param("waittime", [174, 174], id="waittime"),
    # Two run in 'long', of ages 86400 and 14400, and one waits: two rounds.
    pytest.param("basic", [2 * 50400, 2 * 86400], id="basic"),
])  # fmt: skip
def test_an_estimator_is_chosen_by_name(conf, tmp_path, name, times):
    path = conf(f"sample_dir = {tmp_path}\nestimator = simulate")
    rows = json.loads(run("estimate", "-c", path, "--estimator", name, "--json").stdout)
    assert [rows[0]["ert"], rows[0]["wrt"]] == times


def test_files_stand_for_commands(conf):
    files = ("--lrms", EXAMPLES / "lrmsinfo", "--caps", EXAMPLES / "vomaxjobs")
    path = conf(backend="false", caps="false")
    assert run("estimate", "-c", path, *files).stdout == run("estimate", "-c", conf()).stdout
    text = (EXAMPLES / "lrmsinfo").read_text()
    assert run("estimate", "--lrms", "-", data=text).stdout.count("\n") == 5


def test_a_pair_is_answered_for_even_if_no_job_is_there():
    text = "nactive 4\nnfree 4\nnow 5\nschedCycle 120\n"
    rows = json.loads(
        run("estimate", "--lrms", "-", "--queue", "q", "--vo", "v", "--json", data=text).stdout
    )
    assert [list(row.values()) for row in rows] == [["q", "v", 0, 0, 4, 60, 120]]
    assert run("estimate", "--lrms", "-", data=text).exit_code == 0
    assert run("estimate", "--lrms", "-", "--queue", "q", data=text).exit_code == 1


BRIEF = 0.3  # seconds, for what never ends


@pytest.mark.parametrize("backend, caps, message", [
    pytest.param("/no/such", "true", "Error running LRMS backend command", id="no-program"),
    pytest.param("false", "true", "LRMS backend command returned 1", id="fails"),
    pytest.param("echo hello", "true", "neither a header nor jobs", id="no-lrmsinfo"),
    pytest.param("echo nactive 3", "false", "VO max jobs backend command returned 1", id="caps"),
    pytest.param("echo nactive 3", "echo none", "there are no caps in it", id="no-caps"),
    pytest.param("sleep 60", "true", "did not end within 0.3 seconds", id="hangs"),
    pytest.param("yes", "true", "printed more than 5000 bytes", id="floods"),
])  # fmt: skip
def test_what_goes_wrong_prints_nothing_and_exits_2(conf, backend, caps, message):
    seconds = BRIEF if f"{BRIEF} seconds" in message else HANG
    path = conf(f"command_timeout = {seconds}\ncommand_output = 5000", backend, caps)
    result = run("estimate", "-c", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_a_configuration_that_cannot_be_used_exits_2(conf, tmp_path):
    for command in ("estimate", "check"):
        assert run(command, "-c", tmp_path / "none").exit_code == 2
        assert run(command, "-c", conf("outputformat = xml")).exit_code == 2
    assert run("estimate", "-c", conf("estimator = oracle")).exit_code == 2
    assert run("estimate").exit_code == 2


def test_hostile_names_cannot_steer_the_terminal():
    text = "nfree 1\n{'queue': '\\x1b[2J', 'group': 'g', 'state': 'queued', 'qtime': 1}\n"
    assert "\x1b" not in run("estimate", "--lrms", "-", "--explain", data=text).stdout


def test_a_configuration_is_explained(conf):
    result = run("check", "-c", conf("unkown = omit\nacbr = first"))
    assert result.exit_code == 0
    assert "[Main] vomap: atlsgm is atlas, biome is biomed; unix groups" in result.stdout
    assert "[Main] acbr: first; a view's rule that counts" in result.stdout
    assert "[Main] estimator: simulate (default);" in result.stdout
    assert "[Main] unkown is not known; was unknown meant?" in result.stderr
    assert "4 static entries to publish, of 2 queues: long, short" in result.stderr
    options = json.loads(run("check", "-c", conf(), "--json").stdout)
    assert options["lrms_backend_cmd"].startswith("cat ")
    assert options["vomap"] == {"atlsgm": "atlas", "biome": "biomed"}


@pytest.mark.parametrize("main, backend, message", [
    pytest.param("", "", "lrms_backend_cmd is not set", id="no-command"),
    pytest.param("", "no-such-program", "no program that can be run", id="no-program"),
    pytest.param("static_ldif_file = /none", "true", "/none: No such file", id="no-file"),
    pytest.param("estimator = oracle", "true", "no known estimator", id="no-estimator"),
    pytest.param("estimator = basic\nsample_dir = /none", "true", "no directory", id="no-samples"),
])  # fmt: skip
def test_what_would_not_work_is_told(conf, main, backend, message):
    result = run("check", "-c", conf(main, backend))
    assert result.exit_code == 1
    assert message in result.stderr


def test_static_entries_that_cannot_be_published_are_told_with_their_place(conf, tmp_path):
    broken = tmp_path / "static.ldif"
    broken.write_text("dn: GlueCEUniqueID=a\nGlueCEUniqueID: a\n")
    result = run("check", "-c", conf(f"static_ldif_file = {broken}"))
    assert result.exit_code == 1
    assert f"{broken}: Missing mandatory attribute GlueCEName: line 1" in result.stderr


def test_commands_can_be_tried(conf):
    result = run("check", "--run", "-c", conf())
    assert result.exit_code == 0
    assert (
        "7 jobs in 2 queues, 4 running, 2 waiting; slots 8, free 0; caps of 2 VOs" in result.stderr
    )
    failing = run("check", "--run", "-c", conf(backend="false"))
    assert failing.exit_code == 1
    assert "LRMS backend command returned 1" in failing.stderr


def test_an_estimator_that_fails_says_so(conf, tmp_path):
    result = run(
        "estimate", "-c", conf(f"sample_dir = {tmp_path / 'none'}"), "--estimator", "basic"
    )
    assert (result.exit_code, result.stdout) == (2, "")
    assert "sample directory" in result.stderr


@pytest.mark.parametrize(
    ("option", "text", "why"),
    [
        ("--caps", "none", "there are no caps in it, such as {'atlas': 20}"),
        ("--caps", "{'a': 1", "the caps cannot be read"),
        ("--lrms", "", "this is not lrmsinfo: it has neither a header nor jobs"),
        ("--lrms", "{'queue': 1", "lrmsinfo: no job can be read, of 1"),
        ("--lrms", "%PDF-1.7", "this is a PDF document"),
        ("--caps", "%PDF-1.7", "this is a PDF document"),
    ],
)
def test_a_file_of_no_use_is_named(tmp_path, option, text, why):
    (tmp_path / "good").write_text("nactive 3\nnfree 1\nnow 5\n")
    (tmp_path / "bad").write_text(text)
    lrms = tmp_path / ("bad" if option == "--lrms" else "good")
    words = ["--lrms", str(lrms), *(["--caps", str(tmp_path / "bad")] * (option == "--caps"))]
    done = CliRunner().invoke(sssjob, ["lcginfo", "estimate", *words])
    assert done.exit_code == 2
    said = done.stderr.splitlines()[-1].removeprefix("sssjob: error: ").replace(": error: ", ": ")
    assert said.startswith(f"{tmp_path / 'bad'}: {why}")


def test_a_bad_cap_is_told_under_the_name_of_its_file(tmp_path):
    (tmp_path / "lrms").write_text("nactive 3\nnfree 1\nnow 5\n")
    (tmp_path / "caps").write_text("{'atlas': -1}")
    files = ["--lrms", str(tmp_path / "lrms"), "--caps", str(tmp_path / "caps")]
    done = CliRunner().invoke(sssjob, ["lcginfo", "estimate", *files])
    assert f"{tmp_path / 'caps'}: error: the cap -1 of 'atlas'" in done.stderr


def test_a_start_that_nobody_knows_is_no_age_of_a_job():
    known = "{'queue': 'a', 'state': 'running', 'group': 'g', 'start': 1699999000, 'jobid': '2'}\n"
    head = "nactive 2\nnfree 0\nnow 1700000000\nschedCycle 60\n"
    unknown = known.replace("1699999000", "0").replace("'2'", "'1'")
    found = [json.loads(run("estimate", "--lrms", "-", "--json", data=head + jobs).stdout)
             for jobs in (known, unknown + known, known + unknown)]  # fmt: skip
    assert {row["wrt"] < 86400 for rows in found for row in rows} == {True}


def test_lines_that_are_left_out_are_told_by_the_exit_code():
    good = "{'queue': 'a', 'state': 'running', 'group': 'g', 'start': 5, 'jobid': '2'}\n"
    head = "nactive 2\nnfree 0\nnow 10\nschedCycle 60\n"
    result = run("estimate", "--lrms", "-", data=head + good + "{'queue': 'a'}\n")
    assert result.exit_code == 1
    assert result.stdout == run("estimate", "--lrms", "-", data=head + good).stdout
