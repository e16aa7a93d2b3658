"""A large message is read in a process of its own, which has its limits and ends with it."""

import os
from contextlib import suppress
from pathlib import Path

import pytest
from gold import KEY

from sssjob.gateway.large import reading_apart
from sssjob.rmap import gate
from sssjob.rmap.keys import Key, Ring
from sssjob.rmap.message import Data, Object, Request, Row
from sssjob.rmap.responder import HandlerAnswer, Policy, Responder, read
from sssjob.rmap.signature import sign
from sssjob.rmap.writing import envelope, write_request

MEMORY = 512 << 20
OWN = Key(b"a key of ann's", owner="ann")
RING = Ring(Key(KEY), own={"ann": OWN})
ROWS = tuple(Row("Job", (("JobId", str(number)), ("Queue", "x" * 50))) for number in range(20_000))
DENSE = Request("Create", "bob", (Object("Job"),), data=Data((Row("a"),) * 200_000))
ASKED = Request("Create", "bob", (Object("Job"),), data=Data(ROWS))


def message(request=ASKED, key=RING.shared):
    body = write_request(request).encode()
    return envelope(body, sign(body, key) if key else None)


def responder(reads, **policy):
    def handler(call):
        return HandlerAnswer(message=f"{call.actor} {len(call.request.data.items)}")

    return Responder(handler, RING, Policy(**policy), reads_large=reads)


def answered(text, reads=None, **policy):
    answer = responder(reads or reading_apart(MEMORY), **policy).respond(text)
    return answer.code, answer.message


def children():
    """The processes that this one has, whoever started them."""
    found = set()
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            if int(place.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                found.add(place.parent.name)
    return found


def test_what_is_read_apart_is_what_is_read_here():
    asked, before = message(), children()
    assert len(asked) > gate.FORMS
    here = read(asked, lambda *_: RING.shared, unsigned=False)
    assert reading_apart(MEMORY)(asked, RING.shared) == here
    assert here.request == ASKED
    assert answered(asked) == ("000", "bob 20000")
    assert children() == before  # nobody is left


@pytest.mark.parametrize(
    ("text", "policy", "code"),
    [
        (message(key=Key(b"another")), {}, "424"),
        (message(key=None), {}, "424"),
        (message(key=None), {"unsigned": True}, "000"),
        (message(DENSE).replace(b"<a></a></Data>", b"<b></b></Data>"), {}, "424"),
    ],
)  # fmt: skip
def test_whoever_reads_it_the_same_is_refused(text, policy, code):
    assert answered(text, **policy)[0] == code


def test_nobody_is_taken_for_who_the_bytes_say_and_the_tree_does_not():
    # The key of ann proves ann only, whatever a tag in a comment claims.
    body = write_request(ASKED).encode()
    body = body.replace(b"<Body>", b'<Body><!--<Request actor="ann">-->', 1)
    assert answered(envelope(body, sign(body, OWN)))[0] == "424"
    assert answered(envelope(body, sign(body, RING.shared)))[0] == "424"


@pytest.mark.parametrize("mib", [1, 16], ids=["of libxml2", "of Python"])
def test_more_memory_than_there_may_be_is_told(mib):
    code, said = answered(message(DENSE), reading_apart(mib << 20))
    assert (code, said) == ("242", f"To read the message takes more than {mib} MiB of memory")
