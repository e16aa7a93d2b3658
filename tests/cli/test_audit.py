"""sssjob audit: what was read beside what exists, as a table and as JSON, and by its exit code."""
# ruff: noqa: E501 (a row is a line)

import json

import pytest
from click.testing import CliRunner

from sssjob import store
from sssjob.cli import sssjob

HEAD = "JobID|Cluster|State|Submit|Start|End|ElapsedRaw|NCPUS|ExitCode|TotalCPU"
ROWS = [
    "7|c|COMPLETED|1700000000|1700000100|1700000200|100|4|0:0|00:01:00",
    "8|c|COMPLETED|1700000000|1700000100|1700000300|200|4|0:0|00:01:00",
    "9|c|FAILED|1700000000|1700000100|1700090000|89900|1|1:0|00:01:00",
]
RUNNING = "11|c|RUNNING|1700000000|1700000100|Unknown|100|4|0:0|00:01:00"
SYNC = (
    "APEL-sync-message: v0.1\nSite: X\nSubmitHost: h\nNumberOfJobs: {}\nMonth: 11\nYear: 2023\n%%\n"
)
SREPORT = """\
--------------------------------------------------------------------------------
Cluster Utilization 2023-11-14T00:00:00 - 2023-11-15T23:59:59 (172800 secs)
Usage reported in CPU Seconds
--------------------------------------------------------------------------------
Cluster|Allocated|Down|PLND Down|Idle|Planned|Reported
c|{}|0|0|16|0|86
"""


@pytest.fixture
def audited(tmp_path, monkeypatch):
    """Runs an audit on files of these lines and texts."""
    monkeypatch.chdir(tmp_path)

    def audited(*arguments, data=None, **files):
        for name, given in files.items():
            text = given if isinstance(given, str) else "\n".join((HEAD, *given, ""))
            (tmp_path / name).write_text(text)
        return CliRunner().invoke(sssjob, ["audit", *map(str, arguments)], input=data)

    return audited


def test_a_table_shows_each_machine_and_day_and_what_is_amiss(audited):
    found = audited("--against", "list", "read", list=[*ROWS, RUNNING], read=[*ROWS[:1], *ROWS[:1]])
    assert found.exit_code == 1
    assert [line.split() for line in found.stdout.splitlines()[:4]] == [
        ["machine", "day", "listed", "read", "missing", "truncated", "doubled", "changed", "unlisted"],
        ["c", "2023-11-14", "2", "1", "0", "1", "1", "0", "0"],
        ["c", "2023-11-15", "1", "0", "0", "1", "0", "0", "0"],
        ["(total)", "3", "1", "0", "2", "1", "0", "0"],
    ]  # fmt: skip
    assert "truncated: c 8 (submitted 2023-11-14T22:13:20Z, began" in found.stdout


@pytest.mark.parametrize(
    "text, code",
    [("<html><p/></html>\n", 2), ("<Jobs/>\n", 1), (f"{HEAD}\n", 1)],  # decision 1178
)
def test_an_audit_of_nothing_says_so_and_is_not_well(audited, text, code):
    found = audited("read", read=text)
    assert found.exit_code == code
    assert "nothing was read, and nothing is listed" in found.stdout
    found = audited("--json", "read", read=text)
    assert found.exit_code == code
    assert json.loads(found.stdout)["ok"] is False
    told = "nothing was read, and nothing is listed" if code == 1 else "[E-UNKNOWN]"
    assert told in found.stderr


def test_tables_that_were_read_need_no_header(audited):
    """The listing has its own, with other columns in another order."""
    read = "4;7;c;1700000200;1700000100\n4;8;c;1700000300;1700000100\n"
    table = ("--columns", "NCPUS,JobID,Cluster,End,Start", "--delimiter", ";")
    given = {"list": ROWS[:2], "read": read}
    found = audited("--from", "slurm", *table, "--against", "list", "read", **given)
    assert found.exit_code == 0, found.output
    assert found.stdout.splitlines()[-1].split()[2:] == ["2", "2", "0", "0", "0", "0", "0"]
    refused = audited(*table, "--against", "list", "read", **given)
    assert (refused.exit_code, "need --from" in refused.stderr) == (2, True)


def test_all_that_is_listed_was_read(audited):
    found = audited("--against", "list", "read", list=[*ROWS, RUNNING], read=ROWS)
    assert found.exit_code == 0, found.output


def test_JSON_for_cron_says_all_of_it(audited):
    found = audited("--json", "--against", "list", "read", list=ROWS, read=ROWS[::2])
    data = json.loads(found.stdout)
    assert (found.exit_code, data["ok"], data["bad"]) == (1, False, 0)
    assert data["total"]["missing"] == 1
    assert data["findings"] == [{
        "kind": "missing", "machine": "c", "id": "8", "submit": 1700000000, "start": 1700000100,
        "end": 1700000300,
    }]  # fmt: skip


def test_a_store_and_a_pipe_are_sides_too(audited, tmp_path):
    audited("-", data="", list=ROWS)
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(b"<Job><Id>7</Id><SubmitTime>1700000000</SubmitTime><StartTime>1700000100"
                  b"</StartTime><EndTime>1700000200</EndTime></Job>")  # fmt: skip
    text = (tmp_path / "list").read_text()
    found = audited("--against", "-", "--json", "jobs.db", data=text)
    assert json.loads(found.stdout)["total"]["truncated"] == 2
    assert audited("jobs.db").exit_code == 0


def test_a_bad_record_is_amiss(audited):
    found = audited("--from", "slurm", "--json", "read", read=[*ROWS, "x" + ROWS[0][1:]])
    assert found.exit_code == 1
    assert json.loads(found.stdout)["bad"] == 1


@pytest.mark.parametrize("jobs, seconds, code", [(3, 91100, 0), (4, 91100, 1), (3, 91101, 1)])
def test_sums_of_APEL_and_sreport_are_compared(audited, jobs, seconds, code):
    found = audited(
        "--against", "sync", "--against", "sreport", "read", read=ROWS,
        sync=SYNC.format(jobs), sreport=SREPORT.format(seconds),
    )  # fmt: skip
    assert found.exit_code == code, found.output
    assert (
        f"sync: h, 2023-11-01T00:00:00Z to 2023-12-01T00:00:00Z: {jobs} jobs, read 3"
        in found.stdout
    )
    if seconds > 91100:
        where = ("--tolerance", "1", "--against", "sreport", "read")
        assert audited(*where).exit_code == 0


def test_what_is_sent_to_APEL_agrees_with_what_it_was_made_of(audited, tmp_path):
    rows = [*ROWS, "12|c|CANCELLED by 1|1700000000|Unknown|1700000300|0|0|0:0|"]
    audited("--help", read=rows)
    written = [
        "convert",
        "--from",
        "slurm",
        "--to",
        "apel-sync",
        "--submit-host",
        "h",
        "-o",
        "sync",
    ]
    assert CliRunner().invoke(sssjob, [*written, "read"]).exit_code == 0
    assert "NumberOfJobs: 3\n" in (tmp_path / "sync").read_text()
    assert audited("--against", "sync", "read").exit_code == 0


def test_gaps_are_told_if_asked_for(audited):
    assert audited("read", read=ROWS[::2]).exit_code == 0
    found = audited("--gaps", "read")
    assert found.exit_code == 1
    assert "gap: c: no job 8\n" in found.stdout


@pytest.fixture
def sacct(tmp_path, monkeypatch):
    """A program in front of the others that is called sacct."""
    place = tmp_path / "bin"
    place.mkdir()
    monkeypatch.setenv("PATH", f"{place}:/usr/bin:/bin")

    def sacct(script):
        (place / "sacct").write_text(f"#!/bin/sh\n{script}\n")
        (place / "sacct").chmod(0o755)

    return sacct


def test_Slurm_is_asked_of_a_span_without_a_shell(audited, sacct, tmp_path):
    rows = "\n".join(row.replace("|", "\x1f") for row in (HEAD, *ROWS))
    sacct(f'echo "$TZ $*" >{tmp_path}/asked; cat <<"END"\n{rows}\nEND')
    asking = ("--ask", "slurm", "--since", "2023-11-14", "--until", "2023-11-16")
    found = audited(*asking, "read", read=ROWS[:2])
    assert found.exit_code == 1
    assert "truncated: c 9" in found.stdout
    asked = (tmp_path / "asked").read_text()
    assert asked.startswith("UTC --allusers --duplicates --allocations --parsable2")
    assert "--starttime=2023-11-14T00:00:00 --endtime=2023-11-16T00:00:00" in asked


@pytest.mark.parametrize("script, why", [
    ("echo no database >&2; exit 1", "sacct returned 1: no database"),
    ("sleep 100", "it did not end within 0.5 seconds"),
])  # fmt: skip
def test_a_system_that_does_not_answer_ends_the_audit(audited, sacct, script, why):
    sacct(script)
    asking = ("--ask", "slurm", "--timeout", "0.5", "--since", "2023-11-14")
    found = audited(*asking, "read", read=ROWS)
    assert found.exit_code == 2
    assert why in found.stderr


@pytest.mark.parametrize("arguments, why", [
    (("--ask", "slurm", "read"), "--ask needs --since"),
    (("--against", "-"), "name the FILEs that were read"),
    (("--against", "nothing", "read"), "No such file"),
    (("--against", "odd", "read"), "odd:7: a record needs whole numbers"),
    (("--ask", "gridengine", "--since", "2023", "read"), "'gridengine' is not"),
    (("--since", "soon", "read"), "'soon' is no time"),
    (("--since", "99999999999999", "read"), "is no time"),
    (("--since", "2026-12", "--until", "2026-01", "read"), "--since 2026-12 is after --until 2026"),
])  # fmt: skip
def test_what_is_not_understood_ends_it(audited, arguments, why):
    found = audited(*arguments, read=ROWS, odd=SYNC.format("many"))
    assert found.exit_code == 2
    assert why in found.stderr


@pytest.mark.parametrize("time", ["99999999999999", "253402300800", "-99999999999999"])
def test_times_without_a_date_are_not_stated(audited, time):
    job = "<Job><Id>7</Id><SubmitTime>1</SubmitTime><{0}>{1}</{0}></Job>"
    for name in ("StartTime", "EndTime"):
        found = audited("read", "again", read=job.format(name, time), again=job.format(name, time))
        assert found.exit_code == 0, found.output


@pytest.fixture
def put_in(tmp_path, audited):
    """Puts lines of sacct into a ledger."""
    pytest.importorskip("duckdb")

    def put_in(*rows):
        file = tmp_path / f"sacct-{len(list(tmp_path.iterdir()))}"
        file.write_text("\n".join((HEAD, *rows, "")))
        CliRunner().invoke(sssjob, ["ledger", "ingest", "usage", str(file)])

    return put_in


def test_a_ledger_is_what_was_read(audited, put_in):
    """What it replaced is no longer there, so nothing is doubled."""
    put_in(RUNNING, *ROWS[:1])
    put_in(ROWS[0].replace("|4|", "|2|"), RUNNING.replace("RUNNING", "COMPLETED"))
    found = audited("--json", "--against", "list", "usage", list=ROWS)
    told = json.loads(found.stdout)["total"]
    assert (found.exit_code, told["listed"], told["read"]) == (1, 3, 1)
    assert (told["changed"], told["truncated"], told["doubled"]) == (1, 2, 0)
    assert "Processors 2, now 4" in found.stdout


def test_numbers_that_a_ledger_does_not_have_are_gaps(audited, put_in):
    put_in(ROWS[0], ROWS[2])
    found = audited("--gaps", "usage")
    assert (found.exit_code, found.stdout.splitlines()[-1]) == (1, "gap: c: no job 8")
    found = audited("--gaps", "usage", "read", read=ROWS[1:2])
    assert (found.exit_code, "gap" in found.stdout) == (0, False)


def test_a_ledger_with_a_torn_file_is_not_audited(audited, put_in, tmp_path):
    put_in(*ROWS)
    (torn,) = tmp_path.glob("usage/usage/*/*.parquet")
    torn.write_bytes(b"PAR1")
    found = audited("--gaps", "usage")
    assert (found.exit_code, found.stdout) == (2, "")
    assert f"{torn.name}: is torn" in found.stderr
