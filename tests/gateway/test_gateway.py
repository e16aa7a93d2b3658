"""A running gateway answers real peers and standard clients on one port, and outlives bad ones."""
# ruff: noqa: E501 (a row of a table is a line)

import datetime
import json
import select
import shutil
import socket
import ssl
import struct
import subprocess
import threading
from contextlib import ExitStack, suppress

import gateways
import httpx
import peers
import pytest
import requests
from gateways import connected, exchange, gateway, said
from gold import KEY, RECORDINGS, documents, recording, replaying
from waiting import HANG, until

from sssjob.gateway import conversation
from sssjob.gateway.config import TLS, GatewayLimits
from sssjob.gateway.figures import freed
from sssjob.rmap.address import Address
from sssjob.rmap.envelope import opened
from sssjob.rmap.framing import LEGACY_HEAD
from sssjob.rmap.keys import Key
from sssjob.rmap.message import DataDocument, Object, Request, Row
from sssjob.rmap.reading import read_response
from sssjob.rmap.responder import HandlerAnswer, Policy, Responder
from sssjob.rmap.signature import sign
from sssjob.rmap.writing import envelope, write_request

RAW = recording("raw-ok")
HEAD = b"POST /SSSRMAP3 HTTP/1.1\r\nHost: a\r\n"


@pytest.fixture(scope="module")
def gold():
    with gateway(replaying) as running:
        yield running


def one(call):
    return HandlerAnswer([Row("User", (("Name", "ann"),))])


def code(document):
    return read_response(opened(document).body).status.code


def code_of(reply):
    """The code in a reply of any framing."""
    return code(documents(reply)[0])


def still_answers(running):
    return exchange(running, RAW.sent) == RAW.answered


# --- real peers ------------------------------------------------------------------------------


@pytest.mark.parametrize("client", peers.ALL)
@pytest.mark.parametrize("each", RECORDINGS, ids=lambda each: each.name)
def test_every_recorded_request_gets_a_reply_that_every_client_reads(gold, each, client):
    reply = exchange(gold, each.sent)
    assert reply[:88] == LEGACY_HEAD
    if client == "java" and each.name == "enc-query":
        client = "perl"
    if client in ("c", "slurm") and each.name == "enc-query":
        return  # neither knows encryption
    if client == "hadoop" and each.name == "charge":
        return  # its message has two lines, as in Gold
    assert peers.ALL[client](reply).strip() in reply


EXACT = [
    each
    for each in RECORDINGS
    if each.answered and not each.name.startswith("v22-") and each.name != "enc-query"
]


@pytest.mark.parametrize("each", EXACT, ids=lambda each: each.name)
def test_given_the_same_rows_the_reply_has_every_byte_of_golds(gold, each):
    assert exchange(gold, each.sent) == each.answered


def test_a_reply_comes_although_the_client_keeps_its_side_open(gold):
    with connected(gold) as connection:
        connection.sendall(recording("no-tail").sent)
        assert said(connection) == RAW.answered


def test_what_comes_after_the_reply_does_not_take_it_away(gold):
    with connected(gold) as connection:
        connection.sendall(recording("no-tail").sent)
        assert connection.recv(88) == RAW.answered[:88]
        connection.sendall(b"0\r\n" + b"x" * 100_000)
        assert said(connection) == RAW.answered[88:]


def test_a_request_may_come_byte_by_byte(gold):
    with connected(gold) as connection:
        for byte in RAW.sent:
            connection.sendall(bytes([byte]))
        assert said(connection) == RAW.answered


# --- standard clients ------------------------------------------------------------------------


def test_requests_uses_a_connection_twice(gold):
    with requests.Session() as session:
        for _ in range(2):
            reply = session.post(gold.url(), data=RAW.message, timeout=HANG)
            assert (reply.status_code, code(reply.content)) == (200, "000")
            assert reply.headers["Connection"] == "keep-alive"
        assert len(session.adapters["http://"].poolmanager.pools) == 1


def test_httpx_uses_a_connection_twice_and_may_send_chunks(gold):
    pieces = [RAW.message[at : at + 7] for at in range(0, len(RAW.message), 7)]
    with httpx.Client(timeout=HANG, trust_env=False) as session:
        replies = [session.post(gold.url(), content=each) for each in (RAW.message, iter(pieces))]
        assert [(reply.status_code, code(reply.content)) for reply in replies] == [(200, "000")] * 2
        assert replies[1].request.headers["Transfer-Encoding"] == "chunked"
        [first, second] = (reply.extensions["network_stream"] for reply in replies)
        assert first.get_extra_info("client_addr") == second.get_extra_info("client_addr")
        refused = session.post(gold.url("/nothere"), content=b"x")
        assert (refused.status_code, code(refused.content)) == (404, "242")


def test_requests_may_send_chunks(gold):
    pieces = (RAW.message[at : at + 7] for at in range(0, len(RAW.message), 7))
    assert code(requests.post(gold.url(), data=pieces, timeout=HANG).content) == "000"


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize(
    "options",
    [
        pytest.param([], id="length"),
        pytest.param(["-H", "Transfer-Encoding: chunked"], id="chunks"),
        pytest.param(["-H", "Expect: 100-continue"], id="continue"),
        pytest.param(["--http1.0"], id="HTTP/1.0"),
    ],
)
def test_curl_is_answered(gold, options, tmp_path):
    message = tmp_path / "message.xml"
    message.write_bytes(RAW.message)
    done = subprocess.run(
        ["curl", "-sS", "--fail", "--max-time", "10", *options, "-H", "Content-Type: text/xml",
         "--data-binary", f"@{message}", gold.url()],
        capture_output=True, check=True,
    )  # fmt: skip
    assert code(done.stdout) == "000"


def test_parts_of_a_long_answer_are_documents_one_after_the_other(gold):
    reply = requests.post(gold.url(), data=recording("chunk-user").message, timeout=HANG)
    assert len(documents(reply.content)) == 4


@pytest.mark.parametrize(
    "method, path, status, expected",
    [
        pytest.param("POST", "/nothere", 404, "242", id="path"),
        pytest.param("PUT", "/SSSRMAP3", 405, "242", id="method"),
        pytest.param("DELETE", "/metrics", 405, "242", id="method of figures"),
    ],
)
def test_standard_clients_get_the_status_of_http(gold, method, path, status, expected):
    reply = requests.request(method, gold.url(path), data=b"x", timeout=HANG)
    assert (reply.status_code, code(reply.content)) == (status, expected)


def test_an_answer_to_head_has_no_body(gold):
    with requests.Session() as session:
        assert session.head(gold.url(), timeout=HANG).status_code == 405
        assert session.get(gold.url("/healthz"), timeout=HANG).text == "ok\n"


def test_health_and_figures_are_told(gold):
    assert requests.get(gold.url("/healthz"), timeout=HANG).text == "ok\n"
    exchange(gold, RAW.sent)
    figures = requests.get(gold.url("/metrics"), timeout=HANG).text
    assert 'sssjob_requests_total{action="Query",code="000"}' in figures
    assert "sssjob_request_seconds_bucket" in figures
    assert "sssjob_sqlite_bytes" in figures
    assert freed() is None or "sssjob_freed_bytes" in figures
    assert requests.head(gold.url("/healthz"), timeout=HANG).content == b""


def test_figures_on_a_port_of_their_own_are_on_no_other():
    with gateway(one, observe=Address("127.0.0.1", 0)) as running:
        assert requests.get(running.url("/metrics", "observe"), timeout=HANG).status_code == 200
        assert requests.get(running.url("/metrics"), timeout=HANG).status_code == 404
        reply = requests.post(running.url(kind="observe"), data=RAW.message, timeout=HANG)
        assert reply.status_code == 404


# --- bad input -------------------------------------------------------------------------------


def signed(request, key=KEY):
    body = write_request(request).encode()
    return envelope(body, sign(body, Key(key)))


BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "aaaaaaaaaaaaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 50) for i in range(8))
    + b"]><Envelope><Body>&i;</Body></Envelope>"
)


def posted(body):
    return HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


BAD = [
    pytest.param(b"\x16\x03\x01\x00\xa5\x01\x00\n\n", "242", id="TLS on the wrong port"),
    pytest.param(b"GET\r\n\r\n", "242", id="no HTTP"),
    pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "242", id="chunk size"),
    pytest.param(HEAD + b"Content-Length: 1000000000\r\n\r\n", "242", id="1 GB announced"),
    pytest.param(HEAD + b"\r\n", "242", id="no length"),
    pytest.param(posted(b""), "244", id="empty"),
    pytest.param(posted(b"\0\1\2"), "302", id="binary"),
    pytest.param(posted(BOMB), "302", id="entity bomb"),
    pytest.param(posted(b"<a>" * 100_000), "302", id="depth"),
    pytest.param(posted(signed(Request("Query", "ann", (Object("Job"),)), b"other")), "424", id="key"),
    pytest.param(posted(RAW.message.replace(b"ann", b"bob")), "424", id="other bytes"),
    pytest.param(RAW.sent.replace(b"ann", b"bob"), "424", id="other bytes, legacy"),
]  # fmt: skip


@pytest.mark.parametrize("data, expected", BAD)
def test_bad_input_gets_its_code_and_the_server_goes_on(gold, data, expected):
    assert code_of(exchange(gold, data)) == expected
    assert still_answers(gold)


def flood(connection, data, times):
    for _ in range(times):
        connection.sendall(data)


def test_a_body_of_1_gb_is_not_read_and_not_kept():
    piece = b"400\r\n" + b"a" * 1024 + b"\r\n"
    with gateway(one, limits=GatewayLimits(message=100_000, grace=5)) as running:
        with connected(running) as connection:
            connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
            with pytest.raises(ConnectionError):
                flood(connection, piece * 64, 1 << 14)
        assert still_answers(running)


def test_a_slow_client_is_told_and_left():
    with gateway(one, limits=GatewayLimits(arrival=0.2, grace=5)) as running:
        with connected(running) as connection:
            connection.sendall(RAW.sent[:200])
            reply = said(connection)
        assert reply[:88] == LEGACY_HEAD
        assert code_of(reply) == "232"
        with connected(running) as standard:
            standard.sendall(HEAD)
            assert said(standard).startswith(b"HTTP/1.1 408 ")
        assert still_answers(running)


def test_a_client_that_dribbles_is_left_all_the_same():
    with (
        gateway(one, limits=GatewayLimits(arrival=0.3, grace=5)) as running,
        connected(running) as connection,
    ):
        stop = threading.Event()

        def dribble():
            while not stop.wait(0.01):
                try:
                    connection.sendall(b"A")
                except OSError:
                    return

        connection.sendall(HEAD)
        thread = threading.Thread(target=dribble)
        thread.start()
        try:
            reply = said(connection)
        except ConnectionResetError:
            reply = b"HTTP/1.1 408 "
        finally:
            stop.set()
            thread.join()
        assert reply.startswith(b"HTTP/1.1 408 ")


def test_a_client_that_says_nothing_is_left():
    with (
        gateway(one, limits=GatewayLimits(idle=0.1, grace=5)) as running,
        connected(running) as silent,
    ):
        assert said(silent) == b""


def closed(running):
    with connected(running) as connection, suppress(ConnectionResetError):
        return said(connection) == b""
    return True


def elsewhere(running, host="127.0.0.2"):
    """A connection from another address."""
    return socket.create_connection(running.address(), timeout=HANG, source_address=(host, 0))


def asks(connection):
    connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(RAW.message), RAW.message))
    return b"<Code>000</Code>" in connection.recv(4096)


def test_one_connection_too_many_takes_the_place_of_the_one_that_waits_longest():
    with (
        gateway(one, limits=GatewayLimits(connections=2, grace=5)) as running,
        connected(running) as first,
        connected(running) as second,
    ):
        for each in (first, second, first):
            assert asks(each)
        with connected(running) as third:
            assert asks(third)
            assert said(second) == b""
            assert asks(first)


def test_half_requests_of_one_address_shut_nobody_else_out():
    with (
        gateway(one, limits=GatewayLimits(connections=8, grace=5)) as running,
        ExitStack() as stack,
        elsewhere(running) as other,
    ):
        assert asks(other)
        flood = []
        for _ in range(40):
            flood.append(stack.enter_context(connected(running)))
            flood[-1].sendall(HEAD + b"Content-Length: 9999\r\n\r\n<Envelope>")
            assert asks(other)
        with elsewhere(running, "127.0.0.3") as fresh:
            assert asks(fresh)
            assert asks(other)
            gone = [each for each in flood if select.select([each], [], [], 0)[0]]
            assert len(gone) >= 40 - 6
            assert flood[-1] not in gone  # the slowest have gone first


def test_bytes_of_one_address_leave_room_for_those_of_others():
    begun = HEAD + b"Content-Length: 60000\r\n\r\n" + b"a" * 40_000
    with (
        gateway(one, limits=GatewayLimits(memory=50_000, grace=5)) as running,
        connected(running) as first,
        elsewhere(running) as other,
    ):
        first.sendall(begun)
        until(lambda: running.server.held >= 40_000)
        other.sendall(HEAD + b"Content-Length: 20000\r\n\r\n" + b"b" * 20_000)
        assert b"<Code>302</Code>" in other.recv(4096)
        assert said(first) == b""


def test_what_all_clients_together_may_hold_has_an_end():
    begun = HEAD + b"Content-Length: 60000\r\n\r\n" + b"a" * 40_000
    with gateway(one, limits=GatewayLimits(memory=50_000, grace=5)) as running:
        with connected(running) as first, connected(running) as second:
            first.sendall(begun)
            second.sendall(begun)
            readable, _, _ = select.select([first, second], [], [], 10)
            assert [each.recv(12) for each in readable] == [b"HTTP/1.1 503"]
        assert until(lambda: not running.server.held)  # uvloop may accept before it sees an end
        assert still_answers(running)


def test_answers_that_nobody_reads_do_not_pile_up():
    def long(call):
        return HandlerAnswer(
            [DataDocument(b"<Job><Requested>" + b"a" * 8_000_000 + b"</Requested></Job>")] * 4
        )

    with gateway(long, limits=GatewayLimits(memory=1_000_000, grace=5)) as running:
        with connected(running) as connection:
            connection.sendall(recording("op-GT").sent)
            with suppress(ConnectionResetError):
                assert len(said(connection)) < 32_000_000
        assert requests.get(running.url("/healthz"), timeout=HANG).text == "ok\n"


class Held:
    """A handler that waits until it is let go."""

    def __init__(self):
        self.asked, self.go = threading.Semaphore(0), threading.Event()

    def __call__(self, call):
        self.asked.release()
        assert self.go.wait(HANG)
        return one(call)


def test_requests_beyond_those_that_may_wait_are_told_to_come_again():
    handler = Held()
    limits = GatewayLimits(pending=1, grace=5)
    with gateway(handler, limits=limits) as running, connected(running) as first:
        first.sendall(RAW.sent)
        assert handler.asked.acquire(timeout=HANG)
        assert code_of(exchange(running, RAW.sent)) == "730"
        reply = requests.post(running.url(), data=RAW.message, timeout=HANG)
        assert (reply.status_code, reply.headers["Retry-After"]) == (503, "1")
        assert requests.get(running.url("/healthz"), timeout=HANG).text == "ok\n"
        handler.go.set()
        assert said(first) == RAW.answered


@pytest.mark.parametrize("quick", [False, True], ids=["in a task", "at once"])
def test_a_fault_of_the_gateway_itself_ends_the_connection_and_no_other(monkeypatch, quick):
    """Nobody waits for an answer that does not come."""
    genuine = conversation.Conversation._told

    def faulty(self, outcome, request, *more):
        if request is not None and outcome.object == "Job":
            raise RuntimeError("told wrongly")
        return genuine(self, outcome, request, *more)

    monkeypatch.setattr(conversation.Conversation, "_told", faulty)
    monkeypatch.setattr(Responder, "is_quick", lambda self, taken: quick)
    with gateway(one) as running:
        assert exchange(running, recording("op-GT").sent) == b""
        assert still_answers(running)


def test_a_fault_of_a_handler_costs_one_answer():
    def faulty(call):
        return HandlerAnswer([1 // 0])

    def sometimes(call):
        return faulty(call) if call.request.object == "Job" else one(call)

    with gateway(sometimes) as running:
        reply = exchange(running, recording("op-GT").sent)
        assert code_of(reply) == "720"
        assert b"division" not in reply
        assert still_answers(running)


def test_whole_requests_are_answered_before_the_end():
    handler = Held()
    with gateway(handler) as running, connected(running) as waiting, connected(running) as idle:
        waiting.sendall(RAW.sent)
        assert handler.asked.acquire(timeout=HANG)
        running.stop()
        with suppress(ConnectionResetError):
            assert said(idle) == b""
        handler.go.set()
        assert said(waiting) == RAW.answered


def test_requests_that_have_come_are_answered_before_the_end_though_nobody_has_looked_at_them():
    """The gateway is held while clients connect and send, as on a machine that is busy."""
    came, go = threading.Event(), threading.Event()

    def hold():
        came.set()
        go.wait(HANG)

    with gateway(one) as running, ExitStack() as stack:
        known = stack.enter_context(connected(running))
        running.do(hold)
        assert came.wait(HANG)
        clients = [known, *(stack.enter_context(connected(running)) for _ in range(9))]
        for each in clients:
            each.sendall(RAW.sent)
        running.stop()
        go.set()
        assert [code_of(said(each)) for each in clients] == ["000"] * 10


def test_a_connection_that_was_to_be_kept_ends_with_its_answer_once_the_gateway_does(log):
    handler = Held()
    with (
        gateway(handler, limits=GatewayLimits(grace=HANG)) as running,
        connected(running) as kept,
    ):
        message = signed(Request("Query", "root", (Object("User"),)))
        kept.sendall(posted(message).replace(b"Connection: close\r\n", b""))
        assert handler.asked.acquire(timeout=HANG)
        running.stop()
        assert until(lambda: any(line["event"] == "stopping" for line in log))
        handler.go.set()
        assert said(kept).startswith(b"HTTP/1.1 200 ")
    assert not [line for line in log if line["event"] == "cut off"]


@pytest.mark.parametrize("behind", [b"", b"\r\n", b"\n\r\n", b"POST /SSSRMAP3 HT"])
@pytest.mark.parametrize("count", [1, 2, 5, 30])
def test_requests_sent_ahead_are_answered_before_the_end_whatever_stands_behind_them(
    log, count, behind
):
    """The gateway is held while they come, so that nobody has looked at any."""
    came, go = threading.Event(), threading.Event()

    def hold():
        came.set()
        go.wait(HANG)

    message = signed(Request("Query", "root", (Object("User"),)))
    kept = posted(message).replace(b"Connection: close\r\n", b"")
    with (
        gateway(one, limits=GatewayLimits(grace=HANG)) as running,
        connected(running) as client,
    ):
        running.do(hold)
        assert came.wait(HANG)
        client.sendall(kept * count + behind)
        running.stop()
        go.set()
        answers = said(client)
    assert answers.count(b"HTTP/1.1 200 ") == count
    assert not [line for line in log if line["event"] == "cut off"]


def test_what_takes_longer_than_the_grace_is_cut_off():
    handler = Held()
    with (
        gateway(handler, limits=GatewayLimits(grace=0.1)) as running,
        connected(running) as waiting,
    ):
        waiting.sendall(RAW.sent)
        assert handler.asked.acquire(timeout=HANG)
        running.stop()
        with suppress(ConnectionResetError):
            assert said(waiting) == b""
        handler.go.set()


# --- secrets ---------------------------------------------------------------------------------


def test_a_client_that_is_gone_before_its_answer_is_no_fault(log):
    handler = Held()
    with gateway(handler) as running:
        for how in (b"junk\r\n\r\n", recording("op-GT").sent):
            with connected(running) as connection:
                # With this, closing sends a reset instead of an end.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.sendall(how)
        assert handler.asked.acquire(timeout=HANG)
        handler.go.set()
        assert still_answers(running)
    assert not [line for line in log if line["event"] in ("connection failed", "fault")]


def test_the_log_tells_who_did_what_and_no_secret(log):
    with gateway(replaying) as running:
        for each in (RAW, recording("pw-ok"), recording("wrongkey"), recording("enc-query")):
            exchange(running, each.sent)
    asked = [line for line in log if line["event"] == "request"]
    assert [(line["actor"], line["action"], line["object"], line["code"]) for line in asked] == [
        ("root", "Query", "User", "000"),
        ("ann", "Query", "User", "000"),
        ("", "", "", "424"),
        ("root", "Query", "User", "000"),
    ]
    assert {line["origin"] for line in asked} == {"127.0.0.1"}
    text = json.dumps(log)
    for secret in ("gold-test-key", "s3cretpass", "ygOhRLGti1uYa9TbBeQPLu0C2bQ", "Envelope"):
        assert secret not in text


def test_words_of_a_client_cannot_forge_a_line_of_the_log(log):
    asked = Request('Query\n{"event": "forged"}', "root" + "x" * 1000, (Object("User"),))
    with gateway(one) as running:
        exchange(running, posted(signed(asked)))
    (line,) = [line for line in log if line["event"] == "request"]
    assert line["action"] == asked.action
    assert len(line["actor"]) == 200


# --- TLS -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    (folder / "certificate.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = folder / "key.pem"
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    private.chmod(0o600)
    return folder


def test_the_same_is_answered_over_tls(certificate):
    files = certificate / "certificate.pem", certificate / "key.pem"
    with gateway(one, tls=TLS((Address("127.0.0.1", 0),), *files)) as running:
        context = ssl.create_default_context(cafile=files[0])
        with (
            connected(running, "tls") as plain,
            context.wrap_socket(plain, server_hostname="localhost") as connection,
        ):
            connection.sendall(RAW.sent)
            assert said(connection) == RAW.answered
        with connected(running, "tls") as wrong:
            wrong.sendall(RAW.sent)
            assert b"SSSRMAP" not in wrong.recv(100)
        assert still_answers(running)


def test_clients_without_a_certificate_are_left_out_where_one_is_wanted(certificate):
    files = certificate / "certificate.pem", certificate / "key.pem"
    wanted = TLS((Address("127.0.0.1", 0),), *files, clients=files[0])
    with gateway(one, tls=wanted) as running:
        host, port = running.address("tls")
        url = f"https://localhost:{port}/SSSRMAP3"
        with pytest.raises(requests.exceptions.RequestException):
            requests.post(url, data=RAW.message, verify=str(files[0]), timeout=HANG)
        reply = requests.post(
            url, data=RAW.message, verify=str(files[0]), cert=tuple(map(str, files)), timeout=HANG
        )
        assert (host, code(reply.content)) == ("127.0.0.1", "000")


def test_unsigned_requests_are_let_in_only_where_that_was_said():
    unsigned = recording("noauth-query").sent
    with gateway(one) as running:
        assert code_of(exchange(running, unsigned)) == "424"
    with gateway(one, policy=Policy(unsigned=True), ring=gateways.RING) as running:
        assert code_of(exchange(running, unsigned)) == "000"


@pytest.mark.parametrize(
    "head",
    [
        LEGACY_HEAD + b"1100000\r\n",  # a chunk of 17 MB
        HEAD + b"Content-Length: 17825792\r\n\r\n",
    ],
)
def test_who_reads_only_when_all_is_sent_is_told_that_it_was_too_large(gold, head, monkeypatch):
    monkeypatch.setattr(conversation, "_LINGER", HANG)
    assert code_of(exchange(gold, head + bytes(17 << 20))) == "242"


def test_many_requests_that_are_sent_at_once_are_answered_while_few_of_them_are_held(
    gold, monkeypatch
):
    """What waits is not read again for each answer, and no more of it is taken than is needed."""
    held = []
    feed = conversation.Requests.feed

    def watched(self, data):
        feed(self, data)
        held.append(self.held)

    monkeypatch.setattr(conversation.Requests, "feed", watched)
    asked = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" * 60_000
    got = bytearray()
    with connected(gold) as connection:
        sender = threading.Thread(target=connection.sendall, args=(asked,))
        sender.start()
        while got.count(b"HTTP/1.1 200") < 300:
            got += connection.recv(1 << 16)
        connection.shutdown(socket.SHUT_RDWR)
        with suppress(OSError):
            sender.join(HANG)
    assert max(held) <= 2 * conversation._AHEAD + (256 << 10)  # of 2 MB that were sent
    assert still_answers(gold)
