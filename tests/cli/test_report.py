"""sssjob report: the same numbers as a table, CSV, JSON and bars."""

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from lxml import etree

from sssjob import store
from sssjob.cli import sssjob
from sssjob.measures import EXTRA

SACCT = Path(__file__).parents[2] / "examples" / "slurm" / "sacct.txt"
JOBS = """\
<Job><Id>1</Id><User>amy</User><EndTime>1795132740</EndTime><CpuDuration>1800</CpuDuration>\
<Delivered><Duration>3600</Duration><Processors>2</Processors></Delivered></Job>
<Job><Id>2</Id><User>b&#x9b;b</User><EndTime>1795132860</EndTime>\
<Delivered><Duration>1800</Duration></Delivered></Job>
<Job><Id>3</Id><State>Running</State></Job>
"""


def run(*arguments, data=JOBS):
    return CliRunner().invoke(sssjob, ["report", *map(str, arguments)], input=data)


def test_a_table_for_people():
    result = run()
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0][:6] == ["user", "jobs", "wall", "h", "proc", "h"]
    assert lines[1][:6] == ["amy", "1", "1.00", "2.00", "0.50", "25%"]
    assert lines[3][:4] == ["-", "1", "0.00", "0.00"]
    assert lines[4][:6] == ["(total)", "3", "1.50", "2.50", "0.50", "25%"]
    assert "\x9b" not in result.stdout


def test_the_same_as_JSON_and_CSV():
    data = json.loads(run("--json", "--sort", "jobs").stdout)
    assert data["by"] == ["user"]
    assert {row["user"]: row["processor_seconds"] for row in data["rows"]} == {
        "amy": 7200, "b\x9bb": 1800, None: 0,
    }  # fmt: skip
    assert data["total"]["efficiency"] == 0.25
    rows = list(csv.DictReader(io.StringIO(run("--csv").stdout)))
    assert [row["user"] for row in rows] == ["amy", "b\x9bb", ""]
    assert rows[0]["wall_seconds"] == "3600"
    assert rows[1]["efficiency"] == ""


def test_a_limit_adds_up_the_rest():
    data = json.loads(run("--json", "--limit", "1").stdout)
    assert (len(data["rows"]), data["others"]["jobs"], data["total"]["jobs"]) == (1, 2, 3)
    assert "(others)" in run("--limit", "1").stdout


@pytest.mark.parametrize("arguments, jobs", [
    pytest.param(("--since", "2026-11-20"), 1, id="a-day"),
    pytest.param(("--until", "2026-11-20"), 1, id="before-a-day"),
    pytest.param(("--since", "2026", "--until", "2027"), 2, id="a-year"),
    pytest.param(("--since", "2026-11", "--until", "1795132860"), 1, id="seconds"),
    pytest.param(("--since", "2026-11-20", "--tz", "Europe/Amsterdam"), 2, id="a-zone"),
    pytest.param(("--since", "2026-11-19T23:59:30Z"), 1, id="a-time"),
])  # fmt: skip
def test_spans_of_time(arguments, jobs):
    result = run("--json", *arguments)
    data = json.loads(result.stdout)
    assert (data["total"]["jobs"], data["outside"]) == (jobs, 3 - jobs)
    assert f"left out: {3 - jobs} job" in result.stderr


def test_records_and_documents_of_the_same_jobs_give_the_same_report():
    converted = CliRunner().invoke(sssjob, ["convert", "--from", "slurm", str(SACCT)]).stdout
    by = ("--by", "project,day", "--json")
    of_records = run("--from", "slurm", *by, SACCT)
    assert of_records.exit_code == 0
    assert "converted 51" in of_records.stderr
    assert json.loads(of_records.stdout) == json.loads(run(*by, data=converted).stdout)


def test_a_store_is_reported_as_its_documents_are(tmp_path):
    path = tmp_path / "jobs.db"
    with store.open(path, create=True, by="amy") as jobs, jobs.change() as change:
        for line in JOBS.splitlines():
            change.put(line.encode())
    assert run("--json", path).stdout == run("--json").stdout


def test_bars_in_the_terminal_and_as_SVG(tmp_path):
    picture = tmp_path / "bars.svg"
    result = run("--plot", "--svg", picture)
    assert "proc h by user" in result.stdout
    assert f"amy  {'█' * 50} 2.00" in result.stdout
    assert etree.fromstring(picture.read_bytes()).tag.endswith("svg")
    beside = run("--json", "--plot")
    assert json.loads(beside.stdout)
    assert "█" in beside.stderr


@pytest.mark.parametrize("arguments, message", [
    pytest.param(("--by", "shoe"), "--by 'shoe' is not one of user, ", id="grouping"),
    pytest.param(("--sort", "shoe"), "--sort 'shoe' is not one of jobs, ", id="measure"),
    pytest.param(("--by", "day,usr"), "; did you mean user?", id="misspelt-grouping"),
    pytest.param(("--sort", "wait_seconds"), "--sort wait_seconds needs --wait", id="not-told"),
    pytest.param(("--sort", "charge"), "--sort charge needs --rates", id="no-charge"),
    pytest.param(("--sort", "wall_secnds"), "; did you mean wall_seconds?", id="misspelt-measure"),
    pytest.param(("--tz", "Europ/Berlin"), "; did you mean Europe/Berlin?", id="misspelt-zone"),
    pytest.param(("--since", "soon"), "'soon' is no time such as 2026-11", id="time"),
    pytest.param(("--since", "2026-12", "--until", "2026-01"),
                 "--since 2026-12 is after --until 2026-01: no job ended", id="window"),
    pytest.param(("--tz", "Mars/Base"), "'Mars/Base' is not a time zone such as", id="zone"),
    pytest.param(("--from", "shoe"), "no known record format", id="format"),
    pytest.param(("/no/such",), "/no/such: No such file", id="file"),
])  # fmt: skip
def test_what_is_not_understood_exits_2(arguments, message):
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


@pytest.mark.parametrize("by, once", [
    ("user,user", "user"), ("day,user,day", "day,user"), ("user, user,", "user"),
])  # fmt: skip
@pytest.mark.parametrize("form", [(), ("--csv",), ("--json",)])
def test_a_name_that_by_says_again_counts_once(by, once, form):
    again, wanted = run("--by", by, *form), run("--by", once, *form)
    assert (again.exit_code, again.output) == (0, wanted.output)


@pytest.mark.parametrize("name", ["utc", "Z", "z", ""])
def test_utc_goes_by_each_of_its_names(name):
    def printed(zone):
        return run("--by", "day", "--tz", zone, data=JOBS)

    assert printed(name).exit_code == 0
    assert printed(name).stdout == printed("UTC").stdout


def test_what_cannot_be_read_is_said_and_the_rest_is_reported():
    result = run(data=JOBS + "<Job><Id>4</Id>\n" + JOBS.replace("<Id>1", "<Id>9"))
    assert result.exit_code == 2
    assert "<stdin>:4:16: error: " in result.stderr
    assert "(total)     6" in result.stdout


def test_nothing_to_report_exits_1():
    assert run(data="<Jobs/>").exit_code == 1


def test_records_are_recognised_and_documents_and_stores_are_read_beside_them(tmp_path):
    (tmp_path / "jobs.sss").write_text(JOBS)
    named = json.loads(run("--from", "slurm", "--json", SACCT).stdout)["total"]["jobs"]
    both = run("--json", SACCT, tmp_path / "jobs.sss")
    assert json.loads(both.stdout)["total"]["jobs"] == named + 3
    assert "sacct.txt:1: notice: recognised as slurm" in both.stderr
    assert "converted 51 (and 60 steps), skipped 0, bad 0" in both.stderr


@pytest.mark.parametrize("more", [(), ("--workers", "2")], ids=["one process", "two"])
def test_a_table_without_a_header_has_its_columns_named(more, tmp_path):
    (tmp_path / "sacct.txt").write_text("7;amy;COMPLETED;100;4\n8;amy;COMPLETED;200;4\n")
    table = ("--columns", "JobID,User,State,ElapsedRaw,NCPUS", "--delimiter", ";", *more)
    found = run("--from", "slurm", "--json", *table, tmp_path / "sacct.txt")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["total"]["processor_seconds"] == 1200
    refused = run(*table, tmp_path / "sacct.txt")
    assert (refused.exit_code, "need --from" in refused.stderr) == (2, True)


@pytest.mark.parametrize("end", ["99999999999999", "253402300800", "-99999999999999"])
def test_an_end_without_a_date_is_in_no_span(end):
    found = run("--by", "day", data=f"<Job><Id>1</Id><EndTime>{end}</EndTime></Job>")
    assert found.exit_code == 0, found.output
    assert found.stdout.splitlines()[1].startswith("-  ")


def test_each_measure_that_is_told_besides_has_its_option():
    from sssjob.cli.report import _OPTIONS, command

    assert {*_OPTIONS} == {*EXTRA}
    assert {*_OPTIONS.values()} <= {name for each in command.params for name in each.opts}
