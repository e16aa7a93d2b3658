import http.client
import os
import socket
import ssl
import subprocess
import threading
from contextlib import contextmanager

import pytest
from waiting import HANG, until

from sssjob import features
from sssjob.features import keys, serve, status
from sssjob.features.answers import Answers, ByToken, by_address
from sssjob.features.remote import RemoteOptions, read
from sssjob.features.serve import Server
from sssjob.features.write import write

TOKEN = "0123456789abcdef"


@contextmanager
def serving(root, identify=by_address, **options):
    with Server(Answers(root, identify), "127.0.0.1", 0, **options) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def root(tmp_path):
    (tmp_path / "127.0.0.1").mkdir()
    write({"total_cpu": 16, "hs06": "151.25"}, tmp_path / "machinefeatures")
    write({"allocated_cpu": 8, "job_id": "7"}, tmp_path / "127.0.0.1" / "jobfeatures")
    return tmp_path


def ask(server, *lines):
    """What the server sends for the bytes of a request, up to its end."""
    with socket.create_connection(server.server_address[:2], timeout=HANG) as connection:
        connection.sendall("\r\n".join((*lines, "Connection: close", "", "")).encode())
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


def test_a_payload_in_a_virtual_machine_reads_what_the_site_wrote(root):
    with serving(root) as server:
        given = {
            "MACHINEFEATURES": f"{server.url}/machinefeatures",
            "JOBFEATURES": f"{server.url}/jobfeatures",
        }
        found = features.here(given)
    assert found.machine == {"total_cpu": 16, "hs06": 151.25}
    assert found.job == {"allocated_cpu": 8, "job_id": "7"}
    assert (found.problems, found.unknown) == ((), ())


@pytest.mark.parametrize("kind", ["a link that leads out", "too long", "a FIFO"])
def test_a_limit_that_cannot_be_given_is_unknown_to_who_asks_and_not_absent(root, kind):
    place = root / "127.0.0.1/jobfeatures/wall_limit_secs"
    if kind == "too long":
        place.write_text("9" * 5000)
    elif kind == "a FIFO":
        os.mkfifo(place)
    else:
        place.symlink_to(root / "elsewhere")
        (root / "elsewhere").write_text("60\n")
    with serving(root) as server:
        found = features.here({"JOBFEATURES": f"{server.url}/jobfeatures"})
    assert found.unknown == ("wall_limit_secs",)
    assert features.here({"JOBFEATURES": str(place.parent)}).unknown == ("wall_limit_secs",)


def test_who_keeps_many_connections_open_takes_them_from_nobody_else(root, monkeypatch):
    monkeypatch.setattr(serve, "OF_ONE", 2)
    (root / "127.0.0.2").symlink_to(root / "127.0.0.1")
    with serving(root) as server:
        address = server.server_address[:2]
        kept = [socket.create_connection(address, timeout=HANG) for _ in range(2)]
        try:
            for each in kept:  # so that each is known to be served
                each.sendall(b"GET /jobfeatures/job_id HTTP/1.1\r\n\r\n")
                assert each.recv(65536).startswith(b"HTTP/1.1 200")
            with socket.create_connection(address, timeout=HANG) as third:
                assert third.recv(1) == b""
            with socket.create_connection(address, HANG, ("127.0.0.2", 0)) as other:
                other.sendall(b"GET /jobfeatures/job_id HTTP/1.1\r\n\r\n")
                assert other.recv(65536).startswith(b"HTTP/1.1 200")
        finally:
            for each in kept:
                each.close()
        assert until(lambda: not server._open)
        assert "200 OK" in ask(server, "GET /jobfeatures/job_id HTTP/1.1")


def test_one_connection_serves_many_requests(root):
    with serving(root) as server:
        connection = http.client.HTTPConnection(*server.server_address[:2])
        for _ in range(3):
            connection.request("GET", "/jobfeatures/job_id")
            response = connection.getresponse()
            assert response.read() == b"7\n"
            assert response.headers["Content-Length"] == "2"
            assert response.headers["Server"] == "sssjob"
        connection.request("HEAD", "/jobfeatures/job_id")
        response = connection.getresponse()
        assert (response.headers["Content-Length"], response.read()) == ("2", b"")
        tag = response.headers["ETag"]
        connection.request("GET", "/jobfeatures/job_id", headers={"If-None-Match": tag})
        assert connection.getresponse().status == 304
        connection.close()


@pytest.mark.parametrize(
    "request_line, code",
    [
        ("GET /jobfeatures/../../secret HTTP/1.1", "404"),
        ("PUT /jobfeatures/job_id HTTP/1.1", "405"),
        ("GET /jobfeatures/absent HTTP/1.1", "404"),
        ("BREW /jobfeatures/job_id HTTP/1.1", "501"),
        ("GET /" + "x" * 70000 + " HTTP/1.1", "414"),
    ],
)
def test_odd_requests_are_refused(root, request_line, code):
    with serving(root) as server:
        assert ask(server, request_line, "Host: x").split()[1] == code


def test_the_log_holds_no_token(root, tmp_path):
    (tmp_path / "tokens").write_text(f"127.0.0.1 {TOKEN}\n")
    lines = []
    with serving(root, ByToken(tmp_path / "tokens"), log=lines.append) as server:
        assert "200" in ask(server, f"GET /{TOKEN}/jobfeatures/job_id HTTP/1.1", "Host: x")
        ask(server, f"GET /{TOKEN} HTTP/1.1", "Host: x")
        ask(server, f"GET /x/{TOKEN} HTTP/1.1", "Host: x")
        ask(server, f"GET /{TOKEN} {TOKEN} HTTP/1.1", "Host: x")
    assert lines[0] == "127.0.0.1 GET job_id 200"
    assert not any(TOKEN in line for line in lines)


def test_who_says_nothing_does_not_keep_others_waiting(root):
    with serving(root) as server, socket.create_connection(server.server_address[:2]):
        assert "200 OK" in ask(server, "GET /jobfeatures/job_id HTTP/1.1", "Host: x")


def test_more_connections_than_can_be_served_are_closed(root, monkeypatch):
    monkeypatch.setattr(serve, "CONNECTIONS", 1)
    with serving(root) as server:
        address = server.server_address[:2]
        with socket.create_connection(address) as first:
            first.sendall(b"GET /jobfeatures/job_id HTTP/1.1\r\nHost: x\r\n\r\n")
            assert first.recv(15).startswith(b"HTTP/1.1 200")
            with socket.create_connection(address, timeout=HANG) as second:
                assert second.recv(1) == b""


def test_a_status_is_read_from_a_server_without_a_lock(root, tmp_path, monkeypatch):
    status.write({"used_CPU": 4, "priority_factor": 2}, root / "127.0.0.1" / "jobfeatures")
    with serving(root) as server:
        found = status.read(f"{server.url}/jobfeatures")
        assert found.values == {"used_CPU": 4, "priority_factor": 2}
        assert found.consistent
        assert status.read(f"{server.url}/machinefeatures") is None


@pytest.fixture
def certificate(tmp_path):
    """A certificate for 127.0.0.1 that nobody but its owner trusts."""
    command = (
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
        "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=127.0.0.1",
        "-addext", "subjectAltName=IP:127.0.0.1",
    )  # fmt: skip
    try:
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("needs openssl to make a certificate")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    return str(tmp_path / "cert.pem"), context


def test_https_is_read_by_those_who_trust_the_certificate_only(root, certificate):
    path, context = certificate
    with serving(root, context=context) as server:
        url = f"{server.url}/jobfeatures"
        assert url.startswith("https://")
        trusted = read(url, keys.JOB_FEATURES, RemoteOptions(ca=path))
        assert trusted.values == {"allocated_cpu": 8, "job_id": "7"}
        refused = read(url, keys.JOB_FEATURES)
    assert refused.values == {}
    assert "job_id" in refused.unknown
    assert "certificate" in refused.findings[0].message
