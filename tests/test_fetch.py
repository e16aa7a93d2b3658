"""Addresses are fetched only where they were allowed by name."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sssjob.errors import NotFetched
from sssjob.fetch import Allowed, fetch

pytest.importorskip("requests")


class Answers(BaseHTTPRequestHandler):
    asked: list = []  # noqa: RUF012 (one list for all requests of a test)

    def do_GET(self):
        self.asked.append(self.path)
        getattr(self, self.path.strip("/").replace("-", "_"), self.missing)()

    def log_message(self, *arguments):
        pass

    def answer(self, body, status=200, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def script(self):
        self.answer(b"echo hello\r\n")

    def missing(self):
        self.answer(b"no", 404)

    def large(self):
        self.answer(b"x" * 2000)

    def compressed(self):
        self.answer(b"\x1f\x8b", Content_Encoding="gzip")

    def there(self):
        self.answer(b"", 302, Location="/script")

    def away(self):
        self.answer(b"", 302, Location="http://elsewhere.invalid/script")

    def to_file(self):
        self.answer(b"", 302, Location="file:///etc/passwd")

    def round(self):
        self.answer(b"", 302, Location="/round")

    def slow(self):
        self.send_response(200)
        self.end_headers()
        while not self.server.stopping.wait(0.02):
            self.wfile.write(b".")
            self.wfile.flush()


@pytest.fixture
def server():
    Answers.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.stopping = threading.Event()
    server.handle_error = lambda *arguments: None
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.stopping.set()
    server.shutdown()
    thread.join()
    server.server_close()


def allow(host, **limits):
    return Allowed(frozenset((host,)), frozenset(("http",)), **limits)


@pytest.mark.parametrize("path", ["script", "there"])
def test_an_allowed_host_is_asked_and_its_bytes_are_exact(server, path):
    assert fetch(f"http://{server}/{path}", allow(server)) == b"echo hello\r\n"


REFUSED = [
    ("http://{0}/script", Allowed.of("{0}"), "scheme http is not allowed"),
    ("http://{0}/script", Allowed.of("example.org", schemes=("http",)), "host .* is not allowed"),
    ("http://{0}/script", Allowed.of("127.0.0.1", schemes=("http",)), "host .* is not allowed"),
    ("http://amy:x@{0}/script", Allowed.of("{0}", schemes=("http",)), "holds a login"),
    ("http://{0}@evil.invalid/", Allowed.of("{0}", schemes=("http",)), "login"),
    ("file:///etc/passwd", Allowed.of("", schemes=("file",)), "scheme file is not allowed"),
    ("ftp://{0}/x", Allowed.of("{0}", schemes=("ftp",)), "scheme ftp is not allowed"),
    ("http:///script", Allowed.of("{0}", "", schemes=("http",)), "host of it is not allowed"),
    ("http://[::1/x", Allowed.of("{0}", schemes=("http",)), "Invalid IPv6"),
    ("http://{0}x/", Allowed.of("{0}", schemes=("http",)), "[Pp]ort"),
    ("script.sh", Allowed.of("{0}", schemes=("http",)), "scheme of it is not allowed"),
]


@pytest.mark.parametrize("uri, allowed, reason", REFUSED)
def test_what_was_not_allowed_is_not_even_asked_for(server, uri, allowed, reason):
    hosts = frozenset(host.format(server) for host in allowed.hosts)
    with pytest.raises(NotFetched, match=reason):
        fetch(uri.format(server), Allowed(hosts, allowed.schemes))
    assert Answers.asked == []


FAILED = [
    ("missing", {}, "answers 404"),
    ("large", {"size": 1000}, "more than 1000 bytes"),
    ("compressed", {}, "compressed"),
    ("away", {}, "leads to .*elsewhere"),
    ("to-file", {}, "leads to file"),
    ("round", {}, "leads on more than 5 times"),
    ("slow", {"seconds": 0.3}, "more than 0.3 seconds"),
]


@pytest.mark.parametrize("path, limits, reason", FAILED)
def test_what_leads_away_or_does_not_end_is_not_fetched(server, path, limits, reason):
    with pytest.raises(NotFetched, match=reason):
        fetch(f"http://{server}/{path}", allow(server, **limits))


def test_a_server_that_is_not_there_is_a_reason_too():
    with pytest.raises(NotFetched, match=r"127\.0\.0\.1"):
        fetch("http://127.0.0.1:1/", allow("127.0.0.1:1"))


def test_a_redirect_to_another_allowed_host_is_not_followed(server):
    allowed = Allowed(frozenset((server, "elsewhere.invalid")), frozenset(("http",)))
    with pytest.raises(NotFetched, match="another host"):
        fetch(f"http://{server}/away", allowed)


@pytest.mark.parametrize(
    "uri, allowed",
    [
        ("https://example.org/x", True),
        ("https://EXAMPLE.org:443/x", True),
        ("https://example.org:8443/x", False),
        ("https://example.org.evil.invalid/x", False),
        ("http://example.org/x", False),
    ],
)
def test_a_host_without_a_port_means_the_usual_one_and_https_is_the_default(uri, allowed):
    assert (Allowed.of("Example.ORG").refusal(uri) == "") == allowed


def test_proxies_of_the_environment_are_not_used(server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert fetch(f"http://{server}/script", allow(server)) == b"echo hello\r\n"
