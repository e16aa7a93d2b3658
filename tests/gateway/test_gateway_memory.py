"""What a gateway holds is counted, bounded and let go: messages, and what answers take."""

import threading
import tracemalloc
from contextlib import ExitStack

import pytest
import requests
from gateways import connected, gateway
from gold import KEY, documents
from waiting import HANG, until

from sssjob.gateway import conversation, server
from sssjob.gateway.config import GatewayLimits
from sssjob.gateway.conversation import give_back
from sssjob.rmap.envelope import opened
from sssjob.rmap.keys import Key
from sssjob.rmap.reading import read_response
from sssjob.rmap.responder import HandlerAnswer
from sssjob.rmap.signature import sign
from sssjob.rmap.writing import envelope

HEAD = "POST {} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n"


def message(filling, key=KEY):
    asked = f'<Request action="Query" actor="ann"><Object>Job</Object><Data>{filling}</Data>'
    body = f"<Body>{asked}</Request></Body>"
    return envelope(body.encode(), sign(body.encode(), Key(key)))


def framed(payload, path="/SSSRMAP3"):
    return HEAD.format(path, len(payload)).encode() + payload


def answer(connection):
    """The head and the body of one answer."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(1 << 16)
    head, _, body = received.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(1 << 16)
    return head, body


def code(body):
    return read_response(opened(documents(body)[0]).body).status.code


class Held:
    """A handler that waits until it is let go."""

    def __init__(self):
        self.asked, self.go = threading.Semaphore(0), threading.Event()

    def __call__(self, call):
        self.asked.release()
        assert self.go.wait(HANG)
        return HandlerAnswer()


DENSE = message("<a/>" * 5000)  # some 20 KB, of which a tree takes half a megabyte and more


def test_a_message_that_takes_more_than_there_may_be_is_told_so():
    with gateway(
        lambda call: HandlerAnswer(), limits=GatewayLimits(memory=1_000_000, grace=5)
    ) as running:
        reply = requests.post(running.url(), data=DENSE, timeout=HANG)
        assert (reply.status_code, code(reply.content)) == (413, "242")
        assert "memory" in reply.text
        assert requests.post(running.url(), data=message("x" * 20_000), timeout=HANG).ok


@pytest.mark.parametrize("filling", ["<a/>" * 5000, "<a/>" * 40_000], ids=["short", "large"])
def test_what_answers_take_counts_until_they_are_made(filling):
    asked, handler = message(filling), Held()
    limits = GatewayLimits(
        memory=len(filling) // 4 * 700, grace=5
    )  # for one of them, and not for two
    with gateway(handler, limits=limits) as running, connected(running) as waiting:
        waiting.sendall(framed(asked))
        assert handler.asked.acquire(timeout=HANG)
        reply = requests.post(running.url(), data=asked, timeout=HANG)
        assert (reply.status_code, code(reply.content)) == (503, "730")
        handler.go.set()
        assert code(answer(waiting)[1]) == "000"
        assert code(requests.post(running.url(), data=asked, timeout=HANG).content) == "000"


@pytest.mark.parametrize("path", ["/SSSRMAP3", "/nothing"])
def test_what_was_answered_counts_no_more(path):
    limits = GatewayLimits(memory=100_000, grace=5)
    asked = framed(message("x" * 60_000), path)
    with (
        gateway(lambda call: HandlerAnswer(), limits=limits) as running,
        connected(running) as connection,
    ):
        heads = []
        for _ in range(5):
            connection.sendall(asked)
            heads.append(answer(connection)[0])
        assert len({head.split(b"\r\n")[0] for head in heads}) == 1
        assert b" 503 " not in heads[0]


def test_nothing_of_a_message_is_kept_once_it_was_refused():
    asked = framed(message("x" * 4_000_000, b"another key"))
    with gateway(lambda call: HandlerAnswer()) as running, ExitStack() as stack:
        connections = [stack.enter_context(connected(running)) for _ in range(4)]
        tracemalloc.start()
        try:
            for connection in connections:
                connection.sendall(asked)
                assert code(answer(connection)[1]) == "424"
                # The clients are still there; the answer may be read before its thread has ended.
                assert until(lambda: tracemalloc.get_traced_memory()[0] < len(asked) / 4)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 2 * len(asked)


def test_memory_goes_back_to_the_system_now_and_then(monkeypatch):
    given = []
    monkeypatch.setattr(server, "_TIDY", 0.001)
    monkeypatch.setattr(server, "give_back", lambda: given.append(give_back()))
    with gateway(lambda call: HandlerAnswer()):
        until(lambda: len(given) > 2)


def test_after_large_messages_memory_goes_back_to_the_system(monkeypatch):
    given = []
    monkeypatch.setattr(conversation, "give_back", lambda: given.append(give_back()))
    with gateway(lambda call: HandlerAnswer()) as running:
        for size, times in ((1000, 0), (200_000, 1)):
            assert requests.post(running.url(), data=message("x" * size), timeout=HANG).ok
            assert len(given) == times
