"""sssjob convert: documents on standard output, bad records and counts on standard error."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from sssjob import loads
from sssjob.check.sources import check_source
from sssjob.cli import sssjob
from sssjob.document import read

DATA = Path(__file__).parent.parent / "data"
EXAMPLES = Path(__file__).parents[2] / "examples"
SAMPLE = DATA / "slurm" / "22.05" / "all-steps-epoch.txt"
RECORDS = "JobID|JobName|State|Start\n1|a|COMPLETED|2026-07-01T12:00:00\n2|b\n3|c|FAILED|1\n"


def convert(*arguments, data=None):
    return CliRunner().invoke(
        sssjob, ["convert", "--from", "slurm", *map(str, arguments)], input=data
    )


def test_each_job_is_a_document_on_a_line_and_bad_records_are_reported_with_theirs():
    result = convert("--tz", "Europe/London", "-", data=RECORDS)
    assert result.exit_code == 1
    first, second = map(loads, result.stdout.splitlines())
    assert (first.id, first.get("StartTime")) == ("1", "1782903600")
    assert second.id == "3"
    assert result.stderr.splitlines() == [
        "<stdin>:3: error: not part of any record",
        "converted 2, skipped 0, bad 1",
    ]


def test_times_without_a_zone_are_remarked_upon_once():
    result = convert("-", data=RECORDS)
    assert result.stderr.count("warning: times without a zone are read as UTC") == 1
    assert convert("--tz", "UTC", "-", data=RECORDS).stderr.count("warning") == 0


def test_a_sample_becomes_valid_documents_in_both_forms(tmp_path):
    lines = convert(SAMPLE)
    assert lines.exit_code == 0
    assert len(lines.stdout.splitlines()) == 51
    assert lines.stderr.count("warning: a text has the delimiter in it") == 2
    wrapped = convert("--to", "sss", SAMPLE)
    for form in (lines, wrapped):
        assert not [item for item in check_source(form.stdout_bytes) if item.severity == "error"]
    assert list(read(wrapped.stdout_bytes)) == list(read(lines.stdout_bytes))


def test_compressed_records_are_read_as_they_are(tmp_path):
    packed = tmp_path / "sacct.txt.gz"
    packed.write_bytes(gzip.compress(SAMPLE.read_bytes()))
    assert convert(packed).stdout == convert(SAMPLE).stdout


def test_several_files_are_one_stream_and_one_count(tmp_path):
    counts = tmp_path / "counts.json"
    result = convert("--counts-json", counts, "-o", tmp_path / "jobs.sss", SAMPLE,
                     DATA / "slurm" / "22.05" / "cancelled-pending.txt")  # fmt: skip
    assert result.exit_code == 0
    assert result.stdout == ""
    assert json.loads(counts.read_text()) == {
        "records": 165, "jobs": 54, "skipped": {"read before": 51 + 60},
        "bad_count": 0, "bad": [],
    }  # fmt: skip
    assert len(list(read(tmp_path / "jobs.sss"))) == 54


def test_an_output_file_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "jobs.sss"
    assert convert("-o", target, SAMPLE, tmp_path / "missing.txt").exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_records_without_a_header_need_names_for_their_columns():
    data = "1|alice|COMPLETED\n"
    assert convert("-", data=data).exit_code == 2
    result = convert("--columns", "jobid,User,state", "-", data=data)
    assert result.exit_code == 0
    assert loads(result.stdout).delivered.text("User") == "alice"


def test_a_delimiter_can_be_named():
    data = "1\x1fa|b\x1fCOMPLETED\n"
    arguments = ("--columns", "JobID,JobName,State", "--delimiter", r"\x1f", "-")
    assert loads(convert(*arguments, data=data).stdout).get("Name") == "a|b"


def test_steps_and_unended_jobs_can_be_left_out():
    result = convert("--no-steps", "--ended-only", SAMPLE)
    assert "<TaskGroup>" not in result.stdout
    assert "<State>Running</State>" not in result.stdout
    assert "skipped 3 (not ended 3)" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "data", "message"),
    [
        pytest.param(["--from", "table", "-"], "", "'table' is no known record format; known: auto",
                     id="format"),
        pytest.param(["missing.txt"], None, "missing.txt: No such file", id="missing"),
        pytest.param(["-"], "", "<stdin>: nothing to read", id="empty"),
        pytest.param(["-"], "<Jobs/>\n", "<stdin>:1: no header line", id="no header"),
        pytest.param(["--tz", "Mars", "-"], RECORDS, "'Mars' is not a time zone", id="zone"),
        pytest.param(["-"], gzip.compress(SAMPLE.read_bytes())[:900], "compressed data", id="cut"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_ends_with_2_and_a_reason(arguments, data, message):
    result = convert(*arguments, data=data)
    assert result.exit_code == 2
    assert message in result.stderr


SERVER_LOG = (
    "07/11/2026 00:00:01;0008;PBS_Server.1234;Job;123.srv;Job Queued at request of amy@login\n"
    "07/11/2026 00:00:02.123456;0100;Server@srv;Req;;Type AuthenticateUser request received\n"
)
QUEUE = (DATA / "lcginfo" / "slurm-24.11" / "squeue.json").read_text(encoding="utf-8")


# The form of TORQUE 6.
LATER_LOG = SERVER_LOG.replace(";0008;", ";08;").replace("00:00:01;", "00:00:01.595;")


@pytest.mark.parametrize("more", [[], ["--workers", "2"]])
@pytest.mark.parametrize("format_", ["pbs", "auto"])
@pytest.mark.parametrize("log", [SERVER_LOG, LATER_LOG], ids=["log", "later log"])
def test_a_log_of_the_server_of_pbs_is_told_in_one_line(log, format_, more):
    result = convert("--from", format_, *more, "-", data=log)
    assert (result.exit_code, result.stdout) == (2, "")
    said = "<stdin>:1: a log of the server, not of its accounting: take server_priv/accounting"
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["report", "translate"])
def test_a_log_of_the_server_is_told_where_formats_are_recognised(command, tmp_path):
    (tmp_path / "log").write_text(SERVER_LOG)
    options = ["--to", "slurm"] if command == "translate" else []
    result = CliRunner().invoke(sssjob, [command, *options, str(tmp_path / "log")])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "log:1: a log of the server, not of its accounting" in result.stderr


def test_a_line_of_the_server_within_accounting_is_one_bad_record():
    record = "11/20/2026 14:29:34;E;7.srv;user=amy start=1 end=2\n"
    data = record + SERVER_LOG * 2 + record.replace("7.srv", "8.srv")
    for more in ([], ["--workers", "2"]):
        result = convert("--from", "pbs", *more, "-", data=data)
        assert result.exit_code == 1
        assert "converted 2, skipped 2 (0008: an unknown record 2), bad 2" in result.stderr


@pytest.mark.parametrize("format_", ["slurm-json", "auto"])
def test_the_json_of_squeue_is_told_from_that_of_sacct(format_):
    result = convert("--from", format_, "-", data=QUEUE)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "jobs as squeue and scontrol print them" in result.stderr
    assert "sssjob status --from slurm" in result.stderr.splitlines()[-1]


def test_help_has_examples():
    assert "sssjob convert --from slurm sacct.txt" in convert("--help").output


def test_jobs_become_lines_of_lrmsinfo_and_these_jobs_again():
    lines = convert("--to", "lrmsinfo", SAMPLE)
    assert lines.exit_code == 0
    assert len(lines.stdout.splitlines()) == 51
    back = CliRunner().invoke(
        sssjob, ["convert", "--from", "lrmsinfo", "--tz", "UTC", "-"], input=lines.stdout
    )
    jobs = read(convert(SAMPLE).stdout_bytes)
    for again, job in zip(read(back.stdout_bytes), jobs, strict=True):
        assert again.get("SubmitTime") == job.get("SubmitTime")
        assert again.get("State") == job.get("State")
        if "Duration" in job.delivered.names():
            assert again.delivered.text("Duration") == job.delivered.text("Duration")


def test_a_job_without_queue_is_left_out_of_lrmsinfo_with_a_warning():
    result = convert("--to", "lrmsinfo", "-", data="JobID|User|State\n7|amy|COMPLETED\n")
    assert result.stdout == ""
    assert "job '7': no Queue, so nobody could count it" in result.stderr


def test_a_log_of_a_computing_element_is_joined_and_its_bad_lines_are_reported(tmp_path):
    log = tmp_path / "blahp.log"
    log.write_text(
        '"timestamp=2023-11-14 22:13:20" "userDN=/CN=Amy" "lrmsID=7"\n'
        '"timestamp=2001-11-14 22:13:20" "userDN=/CN=Ann" "lrmsID=7"\nbad\n'
    )
    result = convert("--blah", log, "-", data="JobID|State|End\n7|COMPLETED|1700000100\n")
    assert result.exit_code == 1
    assert loads(result.stdout).delivered.text("GlobalUser") == "/CN=Amy"
    assert result.stderr.splitlines() == [
        f"{log}:3: error: 'bad' is not a line of \"name=value\" pairs, each in quotes",
        "joined 1 of 2 entries of logs",
        "converted 1, skipped 0, bad 0",
    ]


BAD = "JobID|State|ElapsedRaw|NCPUS\n" + "".join(
    f"{n}|COMPLETED|notatime|1\n" for n in range(1, 26)
)
TWENTY = [f"bad.txt:{line}: error: " for line in range(2, 22)]


@pytest.mark.parametrize(
    "words",
    [("convert", "--from", "slurm"), ("report", "--from", "slurm"), ("audit",)],
    ids=" ".join,
)
def test_of_many_bad_records_the_first_twenty_and_the_number_of_others_are_told(
    tmp_path, monkeypatch, words
):
    monkeypatch.chdir(tmp_path)
    Path("bad.txt").write_text(BAD)
    few = CliRunner().invoke(sssjob, [*words, "bad.txt"])
    told = [line for line in few.stderr.splitlines() if ": error: " in line]
    assert [line[: len(begin)] for line, begin in zip(told, TWENTY, strict=False)] == TWENTY
    assert told[20:] == ["bad.txt: error: and 5 more like these; --all-findings tells each"]
    every = CliRunner().invoke(sssjob, [*words, "--all-findings", "bad.txt"])
    assert (
        sum("bad.txt:" in line and ": error: " in line for line in every.stderr.splitlines()) == 25
    )
    assert every.exit_code == few.exit_code == 1


def test_messages_stand_where_they_belong_among_documents(tmp_path):
    """Where both go to one pipe, as by ``2>&1``."""
    lines = ["JobID|State|Start|End|NCPUS", *(f"{id_}|COMPLETED|1|2|1" for id_ in (1, 2, 3))]
    lines[3:3] = ["2.5x|COMPLETED|bad|2|1"]
    file = tmp_path / "sacct.txt"
    file.write_text("\n".join([*lines, ""]))
    command = [Path(sys.executable).with_name("sssjob"), "convert", file]
    printed = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    ).stdout.splitlines()
    first = [line.partition("</Id>")[0].removeprefix(f"{file}:")[:10] for line in printed]
    assert first == [
        "1: notice:",
        "<Job><Id>1",
        "<Job><Id>2",
        "4: warning",
        "<Job><Id>3",
        "converted ",
    ]


def test_what_is_said_of_a_file_stands_in_the_order_of_its_lines():
    said = convert(EXAMPLES / "slurm" / "sacct.txt").stderr
    lines = [int(line.split(":")[1]) for line in said.splitlines() if line.count(":") > 1]
    assert lines == sorted(lines)
    assert len(lines) > 5
