"""``sssjob serve`` as people and systemd run it."""

import json
import re
import signal
import socket
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from gold import KEY, documents, recording
from waiting import HANG

from sssjob import store
from sssjob.gateway.outbox import Outbox
from sssjob.rmap.envelope import opened
from sssjob.rmap.keys import Key
from sssjob.rmap.message import Object, Request
from sssjob.rmap.reading import read_response
from sssjob.rmap.signature import sign
from sssjob.rmap.writing import envelope, write_request

SSSJOB = Path(sys.executable).with_name("sssjob")
SYSTEM = Request("Query", "ann", (Object("System"),))


@pytest.fixture
def config(tmp_path):
    (tmp_path / "auth_key").write_bytes(KEY + b"\n")
    (tmp_path / "auth_key").chmod(0o600)
    path = tmp_path / "gateway.toml"
    path.write_text('listen = ["127.0.0.1:0"]\n[security]\nkey = "auth_key"\n')
    return path


def run(*arguments):
    return subprocess.run(
        [SSSJOB, "serve", *arguments], capture_output=True, text=True, check=False
    )


class Service:
    """The command while it runs."""

    def __init__(self, process):
        self.process = process
        self.port = int(self.event("listening")["address"].rpartition(":")[2])

    def event(self, name):
        """The next event of that name in the log."""
        for line in self.process.stderr:
            if (told := json.loads(line))["event"] == name:
                return told
        pytest.fail(f"no {name}")

    def ask(self, request=SYSTEM):
        body = write_request(request).encode()
        message = envelope(body, sign(body, Key(KEY)))
        with socket.create_connection(("127.0.0.1", self.port), timeout=HANG) as connection:
            connection.sendall(recording("raw-ok").sent.partition(b"\r\n\r\n")[0] + b"\r\n\r\n")
            connection.sendall(b"%X\r\n%s0\r\n" % (len(message), message))
            reply = b"".join(iter(lambda: connection.recv(4096), b""))
        return read_response(opened(documents(reply)[0]).body)


@contextmanager
def serving(config, **options):
    process = subprocess.Popen(
        [SSSJOB, "serve", "--config", config], stderr=subprocess.PIPE, text=True, **options
    )
    try:
        yield Service(process)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_answers_until_a_signal_ends_it(config, number):
    with serving(config) as service:
        answer = service.ask()
        assert (answer.status.code, answer.rows[0].get("Name")) == ("000", "sssjob")
        assert service.ask(Request("Query", "ann", (Object("Nothing"),))).status.code == "740"
        assert service.ask(Request("Delete", "ann", (Object("System"),))).status.code == "315"
        service.process.send_signal(number)
        assert service.process.wait(HANG) == 0


def test_an_actor_is_revoked_without_a_restart(config):
    with serving(config) as service:
        assert service.ask().status.code == "000"
        config.write_text(config.read_text() + "[actors.ann]\nrevoked = true\n")
        service.process.send_signal(signal.SIGHUP)
        assert service.event("keys reloaded")["revoked"] == 1
        assert service.ask().status.code == "424"
        config.write_text("broken")
        service.process.send_signal(signal.SIGHUP)
        assert "gateway.toml:1" in service.event("not reloaded")["reason"]
        assert service.ask().status.code == "424"


def test_systemd_is_told_when_it_is_ready_and_when_it_stops(config, tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        place = tmp_path / "notify"
        manager.bind(str(place))
        manager.settimeout(HANG)
        monkeypatch.setenv("NOTIFY_SOCKET", str(place))
        with serving(config) as service:
            assert manager.recv(99) == b"READY=1"
            service.process.terminate()
            assert manager.recv(99) == b"STOPPING=1"


def test_check_says_that_nothing_is_wrong_or_what(config):
    good = run("--config", config, "--check")
    assert (good.returncode, good.stdout, good.stderr) == (0, f"{config}: nothing is wrong\n", "")
    config.write_text(config.read_text() + "kye = 1\n")
    bad = run("--config", config, "--check")
    told = f"{config}:4: error: security.kye: found a key that is not known, expected key\n"
    assert (bad.returncode, bad.stdout, bad.stderr) == (1, "", told)
    assert run("--config", config).returncode == 2


@pytest.mark.parametrize(
    "arguments, told",
    [
        pytest.param(["--config", "/gone.toml"], "/gone.toml: No such file", id="no file"),
        pytest.param([], "Missing option '-c' / '--config'", id="no configuration"),
        pytest.param(["--listen", "::1"], "--listen: found ::1, expected an address", id="address"),
    ],
)
def test_what_it_cannot_start_with_is_told(config, arguments, told):
    given = arguments if not arguments or "--config" in arguments else ["-c", config, *arguments]
    result = run(*given)
    assert result.returncode == 2
    assert told in result.stderr
    assert "Traceback" not in result.stderr


def test_a_queue_takes_over_what_is_forwarded_from_a_store(config, tmp_path):
    none = run("-c", config, "--take-over")
    assert (none.returncode, none.stderr.count("--take-over needs a server")) == (2, 1)
    store.open(tmp_path / "jobs.db", create=True).close()
    kept = f'[store]\naddress = "{tmp_path / "jobs.db"}"\n[forward]\nto = "127.0.0.1:1"\n'
    said = config.read_text()
    for name in ("one.db", "other.db"):
        config.write_text(f'{said}{kept}queue = "{tmp_path / name}"\n')
        assert run("-c", config, "--take-over").returncode == 0
    with store.open(tmp_path / "jobs.db", read_only=True) as jobs:
        _, where, times, *_ = json.loads(jobs.noted("forwarding to 127.0.0.1:1"))
    assert where.startswith(f"{tmp_path / 'other.db'} of ")
    assert times == 0
    assert run("-c", config, "--take-over", "--since", "2026-11-25T10:00:00Z").returncode == 0
    with closing(Outbox(tmp_path / "other.db")) as outbox:
        assert int(outbox.fact("since")) == 1795600800 < int(outbox.fact("asks"))
    bad = run("-c", config, "--take-over", "--since", "soon")
    assert (bad.returncode, bad.stderr.startswith("sssjob: error: --since: ")) == (2, True)
    alone = run("-c", config, "--since", "0")
    assert (alone.returncode, "--since goes with --take-over" in alone.stderr) == (2, True)


def test_a_port_that_is_taken_is_told(config):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = run("-c", config, "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
    assert result.returncode == 2
    assert "cannot listen" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_unit_for_systemd_is_printed(config):
    unit = run("--config", config, "--unit").stdout
    assert re.search(rf"^ExecStart=\S+sssjob serve --config {config}$", unit, re.MULTILINE)
    assert "Type=notify" in unit
