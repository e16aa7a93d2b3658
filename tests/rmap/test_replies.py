"""Replies of real servers, of ours and of standard ones are read alike."""
# ruff: noqa: E501 (a row of a table is a line)

import pytest
from draws import examples
from gold import ANSWERED, documents, recording
from hypothesis import example, given
from hypothesis import strategies as st
from messages import pieces

from sssjob.errors import BadFraming
from sssjob.rmap.framing import LEGACY_HEAD, legacy_reply, standard_reply
from sssjob.rmap.replies import Reply

ONE = b'<?xml version="1.0"?>\n<Envelope><a>1</a></Envelope>\n'
TWO = b'<?xml version="1.0"?>\n<Envelope><a>2</a></Envelope>\n'


def read(data, cuts=(), *, ended=False):
    reply = Reply()
    for piece in pieces(data, cuts):
        reply.feed(piece)
    if ended:
        reply.end()
    return reply, [document.strip() for document in reply.documents()]


@pytest.mark.parametrize("each", ANSWERED, ids=lambda each: each.name)
@examples(20)
@given(cuts=st.lists(st.integers(0, 6000), max_size=6))
def test_every_recorded_reply_is_read_however_it_is_split(each, cuts):
    reply, found = read(each.answered, cuts)
    assert found == [document.strip() for document in documents(each.answered)]
    assert reply.is_complete
    assert reply.status == (404 if each.name == "v22-bad-uri" else 200)


SHAPES = [
    pytest.param(legacy_reply([ONE, TWO]), False, id="ours, legacy"),
    pytest.param(legacy_reply([ONE, TWO])[:-3], False, id="without tail"),
    pytest.param(standard_reply(ONE + TWO), False, id="ours, standard"),
    pytest.param(LEGACY_HEAD + b"%x\r\n%s\r\n0\r\n\r\n" % (len(ONE + TWO), ONE + TWO), False,
                 id="standard chunks"),
    pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n" + standard_reply(ONE + TWO), False, id="continue"),
    pytest.param(b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n" * 2 + standard_reply(ONE + TWO), False, id="hints"),
    pytest.param(b"HTTP/1.0 200 OK\r\n\r\n" + ONE + TWO, True, id="to the end"),
]  # fmt: skip


@pytest.mark.parametrize("data, ended", SHAPES)
@given(cuts=st.lists(st.integers(0, 400), max_size=6))
def test_documents_are_told_apart_in_every_framing(data, ended, cuts):
    _, found = read(data, cuts, ended=ended)
    assert found == [ONE.strip(), TWO.strip()]


def test_a_document_is_out_before_what_ends_the_reply():
    reply = Reply()
    reply.feed(legacy_reply([ONE, TWO])[: -len(TWO) - 7])
    assert reply.documents() == [ONE.strip()]
    assert not reply.is_complete


def test_an_answer_that_gold_begins_anew_is_given_up():
    again = recording("chunk-user").answered[:-3]
    with pytest.raises(BadFraming, match="anew"):
        read(again + again)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n\r\n", id="another protocol"),
        pytest.param(LEGACY_HEAD + b"size\r\n", id="size"),
        pytest.param(LEGACY_HEAD + b"-1\r\n", id="negative size"),
        pytest.param(LEGACY_HEAD + b"1" * 2000, id="line without end"),
        pytest.param(b"a" * 20000, id="header without end"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", id="length"),
    ],
)
def test_what_is_no_reply_is_refused(data):
    with pytest.raises(BadFraming):
        read(data)


def test_no_more_is_held_than_was_allowed():
    reply = Reply(limit=1000)
    with pytest.raises(BadFraming, match="1000"):
        reply.feed(LEGACY_HEAD + b"ffff\r\n" + b"a" * 1000)


def test_as_much_is_held_as_was_allowed():
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    reply = Reply(limit=1000)
    reply.feed(head + b"a" * (1000 - len(head)))
    reply.feed(b"a" * len(head))
    with pytest.raises(BadFraming, match="1000"):
        reply.feed(b"a")


def test_a_reply_that_has_not_begun_has_no_status_and_is_not_complete():
    reply = Reply()
    assert (reply.status, reply.is_complete, reply.documents()) == (0, False, [])
    reply.end()
    assert (reply.status, reply.is_complete, reply.documents()) == (0, False, [])
    reply.feed(b"HTTP/1.1 200")
    reply.end()
    assert (reply.status, reply.is_complete) == (0, False)


def test_a_reply_with_chunks_that_breaks_off_gives_what_was_whole():
    reply, found = read(legacy_reply([ONE, TWO])[:-20], ended=True)
    assert not reply.is_complete
    assert found == [ONE.strip()]


def test_an_empty_reply_is_complete_without_a_document():
    for data in (b"HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n", LEGACY_HEAD + b"0\r\n"):
        reply, found = read(data)
        assert (reply.is_complete, found) == (True, [])
    assert read(b"HTTP/1.1 502 Bad\n\n", ended=True)[0].is_complete


def test_what_is_no_envelope_is_out_with_the_last_chunk():
    reply = Reply()
    reply.feed(LEGACY_HEAD + b"5\r\nhello")
    assert reply.documents() == []
    reply.feed(b"0\r\n")
    assert (reply.is_complete, reply.documents()) == (True, [b"hello"])


def test_a_length_of_many_zeros_is_read():
    reply, found = read(b"HTTP/1.1 200 OK\r\nContent-Length: 00%d\r\n\r\n%s" % (len(ONE), ONE))
    assert (reply.is_complete, found) == (True, [ONE.strip()])


def test_a_reply_that_begins_with_empty_lines_is_none():
    with pytest.raises(BadFraming, match="not HTTP"):
        read(b"\r\n\r\n" + standard_reply(ONE))


def test_a_reply_that_breaks_off_is_not_complete():
    reply, found = read(standard_reply(ONE)[:-5], ended=True)
    assert not reply.is_complete
    assert found == []


def test_a_header_may_be_as_long_as_its_limit():
    start = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA: "
    fitting = start + b"a" * ((16 << 10) - len(start))
    Reply().feed(fitting)
    with pytest.raises(BadFraming, match="too long"):
        Reply().feed(fitting + b"a")


@pytest.mark.parametrize(
    "data",
    [b"HTTP/1.1 100 Continue\r\n\r\n" * 4000, LEGACY_HEAD + b"\r\n" * 40_000],
    ids=["heads", "empty lines"],
)
def test_a_server_that_goes_on_without_an_answer_is_given_up(data):
    reply = Reply()
    reply.feed(data[: 1 << 16])
    assert not reply.is_complete
    with pytest.raises(BadFraming, match="65536 bytes that are no reply"):
        reply.feed(data[1 << 16 :])


def test_as_many_empty_lines_come_before_each_chunk_as_may_be_no_reply():
    lines = b"\r\n" * (1 << 15)
    reply = Reply()
    reply.feed(LEGACY_HEAD + lines + b"1\r\na" + lines)
    assert not reply.is_complete
    with pytest.raises(BadFraming, match="65536 bytes that are no reply"):
        reply.feed(b"\n")


def in_chunks(data, cuts):
    return b"".join(b"%x\r\n%s\r\n" % (len(each), each) for each in pieces(data, cuts) if each)


@given(cuts=st.lists(st.integers(0, 120), max_size=12))
@example(cuts=[31])  # behind the first start tag
@example(cuts=range(120))
def test_a_document_ends_with_its_end_tag_however_it_is_in_chunks(cuts):
    other = TWO.replace(b"Envelope", b"s:Envelope")
    _, found = read(LEGACY_HEAD + in_chunks(ONE + other, cuts) + b"0\r\n\r\n")
    assert found == [ONE.strip(), other.strip()]


def test_many_chunks_are_no_empty_lines():
    document = b"<Envelope>" + b"a" * 40_000 + b"</Envelope>"
    _, found = read(LEGACY_HEAD + in_chunks(document, range(len(document))) + b"0\r\n\r\n")
    assert found == [document]
