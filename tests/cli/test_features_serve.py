import json
import signal
import subprocess
import sys
import threading
import urllib.request

import pytest
from click.testing import CliRunner
from waiting import HANG

from sssjob.cli.features import command
from sssjob.features.answers import Answers, by_address
from sssjob.features.serve import Server
from sssjob.features.write import write

NOW = 1_700_000_000


def fetched(url):
    with urllib.request.urlopen(url, timeout=HANG) as response:
        return response.read()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_server_answers_until_it_is_told_to_stop(tmp_path, number):
    write({"total_cpu": 16}, tmp_path / "machinefeatures")
    arguments = ("-m", "sssjob", "features", "serve", tmp_path, "--listen", "127.0.0.1:0", "--log")
    in_background = ("sh", "-c", 'trap "" INT; exec "$@"', "sh")  # as a script's "command &" is
    server = subprocess.Popen(
        [*in_background, sys.executable, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with server:
        try:
            url = server.stdout.readline().split()[-1]
            place = fetched(f"{url}/latest/meta-data/machinefeatures").decode()
            assert place == f"{url}/machinefeatures"
            assert fetched(f"{place}/total_cpu") == b"16\n"
            server.send_signal(number)
            _, said = server.communicate(timeout=HANG)
        finally:
            server.kill()  # or leaving the block would wait for it
    assert server.returncode == 0
    assert "127.0.0.1 GET total_cpu 200\n" in said
    assert said.endswith("stopped\n")


@pytest.fixture
def url(tmp_path):
    """A server of the features of 127.0.0.1, in this process."""
    (tmp_path / "127.0.0.1").mkdir()
    write({"total_cpu": 16}, tmp_path / "machinefeatures")
    values = {"jobstart_secs": NOW, "wall_limit_secs": 600}
    write(values, tmp_path / "127.0.0.1" / "jobfeatures")
    with Server(Answers(tmp_path, by_address), "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.url
        server.shutdown()
        thread.join()


def test_what_a_server_tells_is_shown_and_counted(url):
    options = ("--job", f"{url}/jobfeatures", "--now", str(NOW + 60))
    result = CliRunner().invoke(
        command, ["show", *options, "--machine", f"{url}/machinefeatures", "--json"]
    )
    printed = json.loads(result.stdout)
    assert printed["machine"] == {"total_cpu": "16"}
    assert printed["left"]["time"] == 540
    assert CliRunner().invoke(command, ["left", *options, "--at-least", "540"]).exit_code == 0
    assert CliRunner().invoke(command, ["left", *options, "--at-least", "541"]).exit_code == 1


def test_what_a_server_does_not_tell_is_not_taken_for_no_limit(url):
    nobody = "http://127.0.0.1:1/jobfeatures"
    result = CliRunner().invoke(
        command, ["left", "--job", nobody, "--machine", f"{url}/machinefeatures", "--wall", "1"]
    )
    assert result.exit_code == 2
    assert (
        "the server did not answer about: jobstart_secs, shutdowntime_job, wall_limit_secs"
        in result.stderr
    )


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        pytest.param(("absent",), "does not exist", id="no directory"),
        pytest.param((".", "--listen", "8080"), "ADDRESS:PORT", id="no address"),
        pytest.param((".", "--listen", "127.0.0.1:99999"), "ADDRESS:PORT", id="no port"),
        pytest.param((".", "--listen", "192.0.2.1:0"), "--listen 192.0.2.1:0: ", id="not ours"),
        pytest.param((".", "--tokens", "absent"), "absent: No such file", id="no tokens"),
        pytest.param((".", "--certificate", "absent"), "No such file", id="no certificate"),
    ],
)
def test_what_cannot_be_served_ends_with_2(tmp_path, monkeypatch, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(command, ["serve", *arguments])
    assert result.exit_code == 2
    assert complaint in result.stderr
