import signal
import subprocess
import sys
import urllib.request

import pytest
from click.testing import CliRunner

from sssjob.cli.features import command
from sssjob.features.write import write


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_server_answers_until_it_is_told_to_stop(tmp_path, number):
    write({"total_cpu": 16}, tmp_path / "machinefeatures")
    arguments = ("-m", "sssjob", "features", "serve", tmp_path, "--listen", "127.0.0.1:0", "--log")
    server = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with server:
        url = server.stdout.readline().split()[-1]
        with urllib.request.urlopen(f"{url}/latest/meta-data/machinefeatures") as response:
            place = response.read().decode()
        assert place == f"{url}/machinefeatures"
        with urllib.request.urlopen(f"{place}/total_cpu") as response:
            assert response.read() == b"16\n"
        server.send_signal(number)
        _, said = server.communicate(timeout=60)
    assert server.returncode == 0
    assert "127.0.0.1 GET total_cpu 200\n" in said
    assert said.endswith("stopped\n")


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
