"""``sssjob request`` asks gateways and prints what they answer."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from gateways import gateway
from gold import KEY, recording, replaying
from json_commands import keeps_to_its_schema
from servers import closed_port, scripted

from sssjob.cli import sssjob
from sssjob.errors import Refused
from sssjob.rmap.envelope import opened
from sssjob.rmap.message import Data, DataDocument, Row
from sssjob.rmap.reading import read_request
from sssjob.rmap.responder import HandlerAnswer

SSSJOB = Path(sys.executable).with_name("sssjob")
JOB = b'<Job><Id>PBS.1</Id><Requested><Memory units="GB">2</Memory></Requested></Job>'


@pytest.fixture
def ask(tmp_path):
    (tmp_path / "key").write_bytes(KEY)
    (tmp_path / "key").chmod(0o600)

    def asked(server, *arguments, **options):
        to = ":".join(map(str, server.address())) if hasattr(server, "address") else server
        return subprocess.run(
            [SSSJOB, "request", "--to", to, "--key-file", "key", "--actor", "root", *arguments],
            capture_output=True, text=True, check=False, cwd=tmp_path, **options,
        )  # fmt: skip

    return asked


@pytest.fixture(scope="module")
def gold():
    with gateway(replaying) as running:
        yield running


WHERE = [
    "Query", "Job", "--get", "Sort(Id)", "--get", "JobId", "--get", "User", "--get", "Charge",
    "--get", "EndTime", "--where", "(User=ann", "--where", "Or User=bob)", "--where", "Charge>1000",
]  # fmt: skip


def test_rows_are_a_table(ask, gold):
    result = ask(gold, *WHERE)
    assert result.stdout == (
        "Id  JobId       User  Charge  EndTime\n"
        "--  ----------  ----  ------  -------\n"
        "3   PBS.1235.0  ann   36960\n"
        "5   PBS.1237.0  bob   57600\n"
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_rows_are_json_and_xml(ask, gold):
    rows = json.loads(ask(gold, *WHERE, "--json").stdout)
    keeps_to_its_schema("request", rows)
    lines = ask(gold, *WHERE, "--jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == rows
    assert rows[0] == {
        "object": "Job", "Id": "3", "JobId": "PBS.1235.0", "User": "ann", "Charge": "36960",
        "EndTime": "",
    }  # fmt: skip
    lines = ask(gold, *WHERE, "--xml").stdout.splitlines()
    assert lines[1].startswith("<Job><Id>5</Id><JobId>PBS.1237.0</JobId>")
    assert ask(gold, *WHERE, "--raw").stdout.startswith("<Body><Response ")


def test_chunks_follow_each_other_in_one_table(ask, gold):
    result = ask(gold, "Query", "User", "--get", "Name", "--get", "Active", "--chunk", "2")
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [
        "Name", "----", "root", "ANY", "NONE", "SELF", "MEMBERS", "ann", "bob",
    ]  # fmt: skip


def test_nothing_found_and_refused_end_with_1(ask, gold):
    nothing = ask(gold, "Query", "User", "--where", "Name=nobody")
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (1, "", "")
    empty = ask(gold, "Query", "User", "--where", "Name=nobody", "--json")
    assert (empty.returncode, json.loads(empty.stdout)) == (1, [])

    def refusing(call):
        raise Refused("444", "ann may not do this (Job Delete)")

    with gateway(refusing) as running:
        refused = ask(running, "Delete", "Job", "--where", "Id=1")
    assert refused.returncode == 1
    assert refused.stderr == "sssjob: error: ann may not do this (Job Delete) (444)\n"


def test_a_message_of_the_server_and_a_warning_are_said(ask):
    with scripted(
        recording("charge-data").answered, recording("chunk-size-no-chunking").answered
    ) as server:
        charged = ask(f"127.0.0.1:{server.port}", "Charge", "Job")
        assert charged.stderr == "Successfully charged job PBS.1236.0 for 800 credits\n"
        assert charged.stdout.splitlines()[-1].split() == ["800", "4"]
        cut = ask(f"127.0.0.1:{server.port}", "Query", "User")
        assert (cut.returncode, cut.stderr.startswith("sssjob: warning: Results were")) == (0, True)


def test_job_objects_are_sent_as_they_are_or_as_gold_takes_them(ask, tmp_path):
    asked = []

    def keep(call):
        asked.append(call.request)
        return HandlerAnswer(call.request.data.items)

    (tmp_path / "jobs.xml").write_bytes(JOB)
    with gateway(keep) as running:
        same = ask(running, "Create", "Job", "--data", "jobs.xml")
        piped = ask(running, "Create", "Job", "--data", "-", "--xml", input=JOB.decode())
        gold = ask(running, "Quote", "Job", "--data", "jobs.xml", "--dialect", "gold")
        used = ask(running, "Charge", "Job", "--data", "jobs.xml", "--dialect", "gold")
    assert same.stdout == piped.stdout == JOB.decode() + "\n"
    assert asked[0].data == Data((DataDocument(JOB),))
    assert asked[0].id
    assert asked[2].data == Data((Row("Job", (("JobId", "PBS.1"), ("Memory", "2"))),))
    assert gold.stderr == "jobs.xml: warning: Gold has no place for units of Memory\n"
    # What was only requested is not charged.
    assert asked[3].data == Data((Row("Job", (("JobId", "PBS.1"),)),))
    assert used.stderr == "jobs.xml: warning: Gold has no place for Memory\n"


def test_a_dry_run_prints_the_message(ask):
    result = ask("nowhere", "Modify", "Job", "--set", "Charge+=5", "--where", "Id=1", "--dry-run",
                 "--option", "ShowHidden=True", "--limit", "3", "--path", "//Id")  # fmt: skip
    request = read_request(opened(result.stdout.encode()).body)
    assert (request.action, request.sets[0].op, request.gets[0].path) == ("Modify", "Inc", "//Id")
    assert (request.option("Limit"), request.option("ShowHidden")) == ("3", "True")


@pytest.mark.parametrize(
    "arguments, told",
    [
        pytest.param(
            ["Query", "Job", "--where", "User"], "'User' is not NAME OP VALUE", id="condition"
        ),
        *(
            pytest.param(
                ["Query", "Job", "--dry-run", form], f"no answer as {form}", id=f"dry {form[2:]}"
            )
            for form in ("--json", "--raw")
        ),
        pytest.param(["Query", "Job", "--key-file", "gone"], "gone: No such file", id="no key"),
        pytest.param(
            ["Query", "Job", "--key-file", "open"], "mode 0644, expected 0600", id="open key"
        ),
        pytest.param(
            ["Query", "Job", "--data", "gone.xml"], "gone.xml: No such file", id="no data"
        ),
        pytest.param(["Query", "Job", "--data", "open"], "open:1:1: error:", id="no job"),
        pytest.param(
            ["Query", "Job", "--to", "a:b"],
            "--to: found a:b, expected HOST:PORT or a URL",
            id="address",
        ),
        pytest.param(
            ["Query", "Job", "--dialect", "gold", "--chunk", "2"], "chunks", id="endless chunks"
        ),
        pytest.param(["Query"], "Missing argument 'OBJECT...'", id="no object"),
    ],
)
def test_what_is_not_understood_is_told_and_nothing_is_sent(ask, tmp_path, arguments, told):
    (tmp_path / "open").write_text("no secret")
    (tmp_path / "open").chmod(0o644)
    result = ask(f"127.0.0.1:{closed_port()}", *arguments)
    assert result.returncode == 2
    assert told in result.stderr
    assert "Traceback" not in result.stderr


def test_a_server_that_is_not_there_ends_with_2(ask):
    result = ask(f"127.0.0.1:{closed_port()}", "Query", "Job", "--tries", "1")
    assert result.returncode == 2
    assert "cannot connect to 127.0.0.1:" in result.stderr


@pytest.mark.parametrize("given", [[], ["--http", "--token-file", "x"]])
@pytest.mark.parametrize("address", ["http://a..b/", f"http://{'a' * 64}:1/"])
def test_a_host_that_nobody_can_look_up_is_told(address, given):
    told = CliRunner().invoke(sssjob, ["request", "Query", "Job", "--to", address, *given])
    assert told.exit_code == 2
    assert "URL" in told.stderr


def test_an_address_without_a_scheme_is_told_where_pages_are_asked(tmp_path):
    told = CliRunner().invoke(
        sssjob,
        ["request", "Query", "Job", "--http", "--to", "localhost:1", "--token-file", str(tmp_path)],
    )
    assert told.exit_code == 2
    assert "--to localhost:1: with --http it is the URL of pages" in told.stderr
