"""``sssjob serve`` with pages: a process beside the gateway, which lives and ends with it."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from gateways import prepared, serving
from waiting import HANG, until

from sssjob.client import JSONClient
from sssjob.errors import Refused
from sssjob.gateway.config import load
from sssjob.web.served import Pages

TOKEN = "a-token-that-nobody-guesses"
LATER = "another-token-that-nobody-guesses"
CONFIG = """
listen = ["127.0.0.1:0"]
[store]
address = "jobs.db"
[security]
unsigned = true
[web]
listen = "127.0.0.1:{port}"
[actors.root]
roles = ["admin"]
token = "root.token"
"""


@pytest.fixture
def folder(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    prepared(tmp_path, CONFIG.format(port=port), **{"root.token": TOKEN})
    (tmp_path / "port").write_text(str(port))
    return tmp_path


def write(folder, token):
    (folder / "root.token").write_text(token)
    (folder / "root.token").chmod(0o600)


def events(folder, **wanted):
    """The lines of the log that say this."""
    lines = (folder / "log").read_text().splitlines()
    found = (json.loads(line) for line in lines if line.startswith("{") and line.endswith("}"))
    return [each for each in found if wanted.items() <= each.items()]


def asked(folder, path, token=TOKEN, body=None, **headers):
    """The status and the text of an answer."""
    url = f"http://127.0.0.1:{(folder / 'port').read_text()}{path}"
    told = {"authorization": f"Bearer {token}", **headers}
    request = urllib.request.Request(url, body, told)
    try:
        with urllib.request.urlopen(request, timeout=HANG) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def sssjob(*arguments):
    command = [sys.executable, "-m", "sssjob", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG)


def children(pid):
    found = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(each) for each in found.read_text().split()]


def command_of(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def test_pages_on_a_port_that_is_free_are_asked_by_the_address_that_was_told(folder):
    (folder / "gateway.toml").write_text(CONFIG.format(port=0))
    with serving(folder) as (process, _):
        assert until(lambda: events(folder, kind="web"), going=lambda: process.poll() is None)
        [told] = events(folder, kind="web")
        for again in (False, True):  # also by settings that are read again
            (folder / "port").write_text(told["address"].rpartition(":")[2])
            assert asked(folder, "/jobs.json")[0] == 200
            if not again:
                write(folder, LATER)
                process.send_signal(signal.SIGHUP)
                assert until(lambda: asked(folder, "/jobs.json", LATER)[0] == 200)
                write(folder, TOKEN)
                process.send_signal(signal.SIGHUP)
                assert until(lambda: asked(folder, "/jobs.json")[0] == 200)


def test_pages_and_gateway_have_one_store_and_one_end(folder):
    with serving(folder) as (process, _):
        assert until(lambda: events(folder, kind="web"), going=lambda: process.poll() is None)
        body = json.dumps({"action": "Create", "data": "<Job><Id>1</Id></Job>"}).encode()
        status, told = asked(folder, "/requests.json", body=body, **{"idempotency-key": "1"})
        assert (status, json.loads(told)["count"]) == (200, 1), told
        status, told = asked(folder, "/jobs.json?columns=id")
        assert [each["id"] for each in json.loads(told)["jobs"]] == ["1"]
        assert asked(folder, "/jobs.json", LATER)[0] == 401

        url = f"http://127.0.0.1:{(folder / 'port').read_text()}/"
        client = JSONClient(url, TOKEN)
        job = "<Job><Id>2</Id><User>amy</User></Job>"
        for _ in range(2):  # done once for its key
            assert client.call(client.body("Create", data=job), "2").count == 1
        with pytest.raises(Refused, match="2") as refused:
            client.call(client.body("Create", data=job))
        assert refused.value.code == "740"
        [row] = client.call(client.body("Query", get=["User"], where=["Id=2"])).rows
        assert row.fields == (("User", "amy"),)
        [whole] = client.call(client.body("Query", where=["Id=2"])).rows
        assert b"<Id>2</Id>" in whole.xml
        to = ("--http", "--to", url, "--token-file", folder / "root.token")
        told = sssjob("request", "Query", "Job", "--get", "Sort(Id)", "--json", *to)
        assert [each["Id"] for each in json.loads(told.stdout)] == ["1", "2"]
        assert sssjob("request", "Query", "Job", "--where", "Id=9", *to).returncode == 1
        (folder / "job.xml").write_text("<Job><Id>3</Id></Job>")
        told = sssjob("request", "Create", "Job", "--data", folder / "job.xml", *to)
        assert told.returncode == 0, told.stderr
        told = sssjob("request", "Fly", "Job", *to)
        assert (told.returncode, "(315)" in told.stderr) == (1, True), told.stderr

        write(folder, LATER)
        process.send_signal(signal.SIGHUP)
        assert until(lambda: asked(folder, "/jobs.json", LATER)[0] == 200)
        assert asked(folder, "/jobs.json")[0] == 401

        [pages] = [each for each in children(process.pid) if b"spawn_main" in command_of(each)]
        os.kill(pages, signal.SIGKILL)
        assert until(lambda: len(events(folder, kind="web")) == 2)
        assert asked(folder, "/jobs.json", LATER)[0] == 200
        process.terminate()
        assert process.wait(HANG) == 0
    assert until(lambda: not Path(f"/proc/{pages}").exists())


def test_pages_end_with_a_gateway_that_is_killed(folder):
    with serving(folder) as (process, _):
        assert until(lambda: events(folder, kind="web"), going=lambda: process.poll() is None)
        [pages] = [each for each in children(process.pid) if b"spawn_main" in command_of(each)]
        process.kill()
        process.wait(HANG)
        assert until(lambda: not Path(f"/proc/{pages}").exists())


def test_a_port_that_is_taken_is_told(folder):
    plan = load(folder / "gateway.toml").web
    with (
        socket.create_server(("127.0.0.1", plan.listen.port)),
        pytest.raises(OSError, match="in use"),
    ):
        Pages(folder / "gateway.toml", plan)
