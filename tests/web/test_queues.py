"""The page of queues: states and response times that lcginfo estimate printed, now and before."""

import json
import os

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from sssjob import store
from sssjob.cli.lcginfo.estimate import command
from sssjob.lcginfo import history
from sssjob.web.app import application

HOST = "127.0.0.1:8181"
ROW = {"queue": "long", "vo": "<b>", "running": 3, "waiting": 2, "free": 0, "ert": 60, "wrt": 7200}
LRMS = """nactive 4
nfree 2
now 1000
schedCycle 60
{'queue': 'long', 'start': 900.0, 'state': 'running', 'cpucount': 2, 'group': 'atlas', 'maxwalltime': 7200.0, 'qtime': 800.0, 'jobid': '1'}
"""  # noqa: E501


def keep(folder, name, text, at):
    path = folder / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    os.utime(path, (at, at))


@pytest.fixture
def asking(tmp_path):
    """A site with a directory of queue states, and what asks it."""
    folder = tmp_path / "queues"
    folder.mkdir()
    store.open(tmp_path / "jobs.db", create=True).close()
    app = application(
        str(tmp_path / "jobs.db"), title="jobs", token="t", hosts=frozenset((HOST,)), queues=folder
    )
    headers = {"authorization": "Bearer t", "accept": "text/html"}
    with TestClient(app, base_url=f"http://{HOST}", headers=headers) as client:
        yield folder, client.get


def test_the_newest_is_shown_and_what_was_before_is_its_history(asking):
    folder, ask = asking
    keep(folder, "a.json", [ROW | {"ert": None, "free": None}], 1_795_000_000)
    keep(folder, "b.json", [ROW, ROW | {"queue": "short", "ert": 0}], 1_795_003_600)
    told = ask("/queues.json").json()
    assert told["at"] == 1_795_003_600
    assert told["queues"] == [ROW, ROW | {"queue": "short", "ert": 0}]
    assert [each["at"] for each in told["history"]] == [1_795_003_600] * 2 + [1_795_000_000]
    assert told["history"][-1]["ert"] is None
    page = ask("/queues").text
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "2026-11-18 12:06:40 UTC" in page
    assert "00:01:00" in page
    assert "02:00:00" in page
    assert '/jobs?queue=long"' in page
    one = ask("/queues", params={"queue": "long", "vo": "<b>"})
    assert one.text.count("<tr>") == 3
    chosen = ask("/queues.json", params={"queue": "short"}).json()
    assert [each["queue"] for each in chosen["history"]] == ["short"]
    lines = ask("/queues.csv").text.splitlines()
    assert lines[0] == "at,queue,vo,running,waiting,free,ert,wrt"
    assert lines[-1] == "1795000000,long,<b>,3,2,,,7200"
    assert ask("/queues.parquet").status_code == 200


@pytest.mark.parametrize(
    "text",
    [
        "", "{}", "[1]", "[" * 100_000, '[{"queue": "a"}]', "\xff", "NaN", "[NaN]",
        json.dumps([ROW | {"running": -1}]), json.dumps([ROW | {"wrt": 1e400}]),
        json.dumps([ROW | {"vo": 7}]), json.dumps([ROW | {"ert": True}]),
        json.dumps([ROW | {"ert": 1 << 70}]), '[{"queue": "a", "queue": "b"}]',
        json.dumps([ROW]) + " " * history.SIZE_LIMIT,
    ],
    ids=range(15),
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_told_and_the_others_are_shown(asking, text):
    folder, ask = asking
    keep(folder, "good.json", [ROW], 1000)
    keep(folder, "<i>.json", text, 2000)
    keep(folder, ".hidden.json", "", 3000)
    keep(folder, "new", "", 3000)
    (folder / "folder.json").mkdir()
    told = ask("/queues.json").json()
    assert told["queues"] == [ROW]
    assert [each["name"] for each in told["bad"]] == ["<i>.json"]
    page = ask("/queues").text
    assert "&lt;i&gt;.json cannot be read" in page


def test_only_the_newest_files_are_read(asking):
    folder, ask = asking
    for number in range(history.NEWEST + 3):
        keep(folder, f"{number}.json", [ROW | {"running": number}], 1000 + number)
    told = ask("/queues.json").json()
    assert [each["running"] for each in told["history"]] == [*range(history.NEWEST + 2, 2, -1)]


def test_what_the_command_prints_is_what_the_page_reads(asking):
    folder, ask = asking
    lrms = folder / "lrms"
    lrms.write_text(LRMS)
    printed = CliRunner().invoke(command, ["--lrms", str(lrms), "--json"])
    assert printed.exit_code == 0, printed.output
    keep(folder, "a.json", printed.stdout, 1000)
    assert ask("/queues.json").json()["queues"] == json.loads(printed.stdout) != []


def test_without_states_the_page_says_so_and_without_a_directory_there_is_none(asking, tmp_path):
    _, ask = asking
    assert "No queue states are kept yet." in ask("/queues").text
    assert ask("/queues.json").json() == {"at": None, "queues": [], "history": [], "bad": []}
    assert 'href="/queues"' in ask("/jobs").text
    app = application(str(tmp_path / "jobs.db"), title="jobs", token="t", hosts=frozenset((HOST,)))
    headers = {"authorization": "Bearer t", "accept": "text/html"}
    with TestClient(app, base_url=f"http://{HOST}", headers=headers) as client:
        assert client.get("/queues").status_code == 404
        assert 'href="/queues"' not in client.get("/jobs").text
