"""Requests come out of any framing that real clients use, however their bytes are split."""
# ruff: noqa: E501 (a row of a table is a line)

import tracemalloc

import pytest
from draws import examples
from gold import RECORDINGS, recording
from hypothesis import given
from hypothesis import strategies as st
from messages import pieces

from sssjob.errors import BadFraming
from sssjob.rmap import framing
from sssjob.rmap.framing import (
    LEGACY_HEAD,
    Requests,
    chunk_line,
    chunk_size,
    legacy_reply,
    legacy_request,
    standard_reply,
)

MESSAGE = b'<?xml version="1.0"?>\n<Envelope><Body></Body></Envelope>\n'
HEAD = b"POST /SSSRMAP3 HTTP/1.1\r\nContent-Type: text/xml\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n"


def taken(parser):
    found = []
    while (request := parser.next()) is not None:
        found.append(request)
    return found


def read(data, cuts=(), **options):
    """All requests of a connection, its bytes fed in pieces."""
    parser = Requests(**options)
    found = []
    for piece in pieces(data, cuts):
        parser.feed(piece)
        found += taken(parser)
    return found


def feed(parser, data, cuts=()):
    for piece in pieces(data, cuts):
        parser.feed(piece)
        parser.next()


def chunk(data, end=b"\r\n"):
    return b"%x\r\n%s%s" % (len(data), data, end)


@pytest.mark.parametrize("each", RECORDINGS, ids=lambda each: each.name)
def test_every_recorded_request_is_read_and_nothing_behind_it(each):
    (request,) = read(each.sent)
    assert request.is_legacy
    assert not request.keep_alive
    assert request.method == "POST"
    assert request.body.strip() == each.message.strip()


FRAMINGS = [
    pytest.param(CHUNKED + b"\r\n" + chunk(MESSAGE, b"") + b"0\r\n", id="Gold's Perl client"),
    pytest.param(CHUNKED + b"\r\n" + chunk(MESSAGE, b""), id="without tail"),
    pytest.param(CHUNKED + b"\r\n" + chunk(MESSAGE) + b"0\r\n", id="Gold's C library"),
    pytest.param(CHUNKED + b"\r\n" + chunk(MESSAGE, b"\r\n\0"), id="Maui"),
    pytest.param(CHUNKED.replace(b"chunked", b"chunked;") + b"\r\n" + chunk(MESSAGE), id="semicolon"),
    pytest.param(CHUNKED.replace(b"1.1\r", b"1.1 HTTP/1.0\r") + b"\r\n" + chunk(MESSAGE, b"0\r\n"), id="HOD"),
    pytest.param(CHUNKED + b"\r\n" + chunk(MESSAGE) + b"0\r\n\r\n", id="standard, no host"),
    pytest.param(CHUNKED + b"Host: a\r\n\r\n" + chunk(MESSAGE) + b"0\r\n\r\n", id="standard"),
    pytest.param(CHUNKED + b"Host: a\r\n\r\n" + chunk(MESSAGE) + b"0\r\nA: b\r\n\r\n", id="trailers"),
    pytest.param(CHUNKED + b"Host: a\r\n\r\n" + chunk(MESSAGE, b"") + b"0\r\n", id="standard, bent"),
    pytest.param(CHUNKED + b"\r\n" + chunk(MESSAGE[:20]) + chunk(MESSAGE[20:]) + b"0\r\n", id="two chunks"),
    pytest.param(CHUNKED + b"\r\n" + chunk(MESSAGE[:20], b"") + chunk(MESSAGE[20:], b"") + b"0\r\n", id="two, bent"),
    pytest.param(CHUNKED + b"\r\n" + chunk(MESSAGE).replace(b"\r\n", b";name=x\r\n", 1), id="extension"),
    pytest.param(HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(MESSAGE), MESSAGE), id="length"),
    pytest.param(HEAD + b"Content-Length: %d\r\nhost:a\r\n\r\n%s" % (len(MESSAGE), MESSAGE), id="length, host"),
    pytest.param(b"\r\n\r\n" + HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(MESSAGE), MESSAGE), id="empty lines"),
    pytest.param((CHUNKED + b"\r\n").replace(b"\r\n", b"\n") + chunk(MESSAGE).replace(b"\r\n", b"\n"), id="bare line feeds"),
]  # fmt: skip


@pytest.mark.parametrize("data", FRAMINGS)
@examples(30)
@given(cuts=st.lists(st.integers(0, 400), max_size=8))
def test_any_split_gives_the_same_request(data, cuts):
    (request,) = read(data, cuts)
    assert (request.method, request.target, request.body) == ("POST", "/SSSRMAP3", MESSAGE)


@given(
    st.lists(
        st.tuples(st.binary(max_size=60), st.booleans(), st.integers(1, 20)), min_size=1, max_size=4
    ),
    st.lists(st.integers(0, 2000), max_size=10),
)
def test_a_standard_client_may_send_one_request_after_the_other(bodies, cuts):
    sent = b""
    for body, chunked, size in bodies:
        if chunked:
            pieces = [chunk(body[at : at + size]) for at in range(0, len(body), size)]
            sent += CHUNKED + b"Host: a\r\n\r\n" + b"".join(pieces) + b"0\r\n\r\n"
        else:
            sent += HEAD + b"Host: a\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    found = read(sent, cuts)
    assert [request.body for request in found] == [body for body, _, _ in bodies]
    assert all(request.keep_alive for request in found)


def test_what_waits_behind_a_request_is_not_read_for_it():
    """Else each of many requests that were sent at once would take as long as all of them."""

    class Watched(bytearray):
        def find(self, mark, start=0, end=1 << 62):
            assert min(end, len(self)) - start <= 16 << 10
            return super().find(mark, start, end)

    requests = Requests()
    requests._buffer = Watched()
    one = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
    requests.feed(one * 2000)
    assert [requests.next() is not None for _ in range(2001)] == [True] * 2000 + [False]
    requests.feed(b"\r\n" * 20_000 + b" \n" + one)
    assert requests.next().target == "/healthz"
    assert requests.is_idle


def test_lines_of_nothing_are_taken_at_once_and_lines_behind_chunks_are_counted():
    requests = Requests()
    requests.feed(CHUNKED + b"Host: a\r\n\r\n" + b"\n" * 100_000 + b"1\r\nx\r\n0\r\n\r\n")
    assert requests.next().body == b"x"
    requests.feed(b"a: b\r\n" * 900)
    assert requests.next() is None
    requests.feed(b"a: b\r\n" * 200)
    with pytest.raises(BadFraming, match="behind the last chunk"):
        requests.next()


ONE_CHUNK = CHUNKED + b"Host: a\r\n\r\n" + chunk(b"x") + b"0\r\n"
GET = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"


def test_a_request_may_come_right_behind_the_last_line_of_another_one():
    first, second = read(ONE_CHUNK + b"a: b\r\n" + GET)
    assert (first.body, second.method, second.target) == (b"x", "GET", "/healthz")
    first, second = read(ONE_CHUNK + GET.replace(b"/healthz", b"http://a:8/healthz"))
    assert second.target == "http://a:8/healthz"


@pytest.mark.parametrize("line", [b"garbage", b"a b: c", b"1"])
def test_what_is_neither_a_trailer_nor_a_request_is_refused_behind_chunks_too(line):
    with pytest.raises(BadFraming):
        read(ONE_CHUNK + line + b"\r\n" + GET)


@pytest.mark.parametrize("before, each", [(b"", b"\n"), (ONE_CHUNK, b"a: b\r\n")])
def test_a_thousand_lines_may_stand_before_a_request(before, each):
    requests = Requests()
    requests.feed(before)
    requests.next()
    for _ in range(1000):
        requests.feed(each)
        assert requests.next() is None
    requests.feed(each)
    with pytest.raises(BadFraming, match="behind the last chunk"):
        requests.next()


@pytest.mark.parametrize("size, remembered", [(1024, True), (1025, False)])
def test_a_short_head_is_read_once_however_often_it_comes(size, remembered):
    begins = HEAD + b"Host: a\r\nContent-Length: 0\r\nX-Mine: "
    head = begins + b"a" * (size - len(begins) - 4) + b"\r\n\r\n"
    assert len(head) == size
    framing._head.cache_clear()
    read(head * 2)
    assert framing._head.cache_info().currsize == remembered


@pytest.mark.parametrize("closing", [b"Connection: close", b"Content-Length: 5"])
def test_a_connection_is_not_used_again_where_that_is_asked_or_not_sure(closing):
    one = CHUNKED + b"Host: a\r\n" + closing + b"\r\n\r\n" + chunk(MESSAGE) + b"0\r\n\r\n"
    (request,) = read(one + one)
    assert not request.keep_alive


def test_a_connection_is_idle_until_something_of_a_request_has_come():
    parser = Requests()
    assert parser.is_idle
    parser.feed(HEAD)
    assert not parser.is_idle
    parser.feed(b"Host: a\r\nContent-Length: 1\r\n\r\n")
    assert parser.next() is None
    assert not parser.is_idle
    parser.feed(b"a")
    assert parser.next().body == b"a"
    assert parser.is_idle
    parser.feed(b"\r\n")  # an empty line, which a server passes: RFC 9112, 2.2
    assert parser.is_idle
    assert parser.next() is None
    assert parser.is_idle


def test_a_new_connection_has_said_nothing():
    parser = Requests()
    assert not any([parser.awaits_continue, parser.is_legacy, parser.ended])
    assert parser.held == 0
    assert parser.next() is None


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE", "PUT"])
def test_what_tells_no_length_and_is_no_post_has_no_body(method):
    (request,) = read(f"{method} /healthz HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    assert (request.method, request.target, request.body) == (method, "/healthz", b"")


def test_a_client_that_waits_to_be_told_to_go_on_is_noticed():
    parser = Requests()
    parser.feed(HEAD + b"Host: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
    assert parser.next() is None
    assert parser.awaits_continue
    parser.feed(b"abc")
    assert parser.next().body == b"abc"
    assert not parser.awaits_continue


BAD = [
    pytest.param(b"hello\r\n\r\n", 400, id="no request line"),
    pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n", 400, id="TLS"),
    pytest.param(b"POST / HTTP/2.0\r\n\r\n", 400, id="other version"),
    pytest.param(HEAD + b"no colon\r\n\r\n", 400, id="no header"),
    pytest.param(HEAD + b"Spaced : 1\r\n\r\n", 400, id="space before the colon"),
    pytest.param(HEAD + b"\r\n", 411, id="no length"),
    pytest.param(HEAD + b"Content-Length: -1\r\n\r\n", 400, id="negative"),
    pytest.param(HEAD + b"Content-Length: 1, 1\r\n\r\n", 400, id="two lengths in one"),
    pytest.param(HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, id="two lengths"),
    pytest.param(HEAD + "Content-Length: ١\r\n\r\n".encode(), 400, id="digits of others"),
    pytest.param(HEAD + b"Content-Length: 1000000000\r\n\r\n", 413, id="1 GB"),
    pytest.param(CHUNKED + b"\r\n3B9ACA00\r\n", 413, id="1 GB in a chunk"),
    pytest.param(CHUNKED + b"\r\n" + chunk(b"a" * 600) + chunk(b"a" * 600), 413, id="in two chunks"),
    pytest.param(CHUNKED + b"\r\nxyz\r\n", 400, id="size"),
    pytest.param(CHUNKED + b"\r\n-5\r\n", 400, id="negative size"),
    pytest.param(CHUNKED + b"\r\n0x5\r\n", 400, id="size with a mark"),
    pytest.param(CHUNKED + b"\r\n" + b"f" * 40 + b"\r\n", 400, id="size without end"),
    pytest.param(CHUNKED + b"\r\n" + b"1" * 2000, 400, id="line without end"),
    pytest.param(HEAD + b"Transfer-Encoding: gzip\r\n\r\n", 501, id="other coding"),
    pytest.param(HEAD + b"A: " + b"a" * 20000, 431, id="header without end"),
    pytest.param(HEAD + b"A: b\r\n" * 4000 + b"\r\n", 431, id="many headers"),
]  # fmt: skip


@pytest.mark.parametrize("data, http", BAD)
@examples(20)
@given(cuts=st.lists(st.integers(0, 3000), max_size=4))
def test_what_is_no_request_is_refused_once_and_then_the_rest_is_forgotten(data, http, cuts):
    parser = Requests(limit=1000)
    with pytest.raises(BadFraming) as refused:
        feed(parser, data, cuts)
    assert (refused.value.http, refused.value.code) == (http, "242")
    parser.feed(recording("raw-ok").sent)
    assert parser.next() is None


def test_no_more_is_held_than_was_allowed():
    parser = Requests(limit=1000)
    parser.feed(CHUNKED + b"\r\n" + chunk(b"a" * 900, b""))
    assert parser.next() is None
    assert parser.held == 900
    with pytest.raises(BadFraming):
        feed(parser, b"\r\n65\r\n")


def test_a_body_may_be_as_long_as_the_limit():
    for head, body in (
        (HEAD + b"Host: a\r\nContent-Length: 1000\r\n\r\n", b"a" * 1000),
        (CHUNKED + b"Host: a\r\n\r\n", chunk(b"a" * 600) + chunk(b"a" * 400) + b"0\r\n\r\n"),
    ):
        assert read(head + body, limit=1000)[0].body == b"a" * 1000


@pytest.mark.parametrize("name", [b"Host", b"Transfer-Encoding", b"Content-Length"])
def test_a_header_that_decides_stands_once(name):
    twice = (name + b": 3\r\n") * 2
    with pytest.raises(BadFraming, match=f"more than one {name.decode().lower()}"):
        read(HEAD + twice + b"\r\nabc")


def long_head(size, end=b"\r\n\r\n"):
    start = HEAD + b"Host: a\r\nContent-Length: 0\r\nA: "
    return start + b"a" * (size - len(start) - len(end)) + end


def test_a_head_has_16_kib_at_most():
    assert read(long_head(16 << 10))[0].body == b""
    with pytest.raises(BadFraming, match="header is too long"):
        read(long_head((16 << 10) + 1))
    whole = Requests()
    whole.feed(long_head(16 << 10, b""))
    assert whole.next() is None
    whole.feed(b"a")
    with pytest.raises(BadFraming, match="header is too long"):
        whole.next()


def test_the_line_before_a_chunk_has_one_kib_at_most():
    parser = Requests()
    parser.feed(CHUNKED + b"\r\n1;" + b"a" * 1022)
    assert parser.next() is None
    parser.feed(b"a")
    with pytest.raises(BadFraming, match="not hexadecimal"):
        parser.next()


def test_a_line_that_comes_whole_has_one_kib_at_most_too():
    assert chunk_line(bytearray(b"a" * 1024 + b"\n")) == b"a" * 1024
    with pytest.raises(BadFraming, match="not hexadecimal"):
        chunk_line(bytearray(b"a" * 1025 + b"\n"))


def test_a_size_has_15_digits_at_most():
    assert chunk_size(b"0" * 14 + b"a") == 10
    assert chunk_size(b" 1F ; name=x") == 31
    for line in (b"0" * 15 + b"a", b"", b";", b"g"):
        with pytest.raises(BadFraming, match="not hexadecimal"):
            chunk_size(line)
    long = b"%015d" % 3
    assert read(HEAD + b"Host: a\r\nContent-Length: " + long + b"\r\n\r\nabc")[0].body == b"abc"
    with pytest.raises(BadFraming, match="no number"):
        read(HEAD + b"Host: a\r\nContent-Length: 0" + long + b"\r\n\r\nabc")


def test_a_line_before_a_chunk_may_be_empty():
    buffer = bytearray(b"\n5\r\nab")
    assert (chunk_line(buffer), chunk_line(buffer), chunk_line(buffer)) == (b"", b"5", None)
    assert buffer == b"ab"


def test_a_header_that_stands_twice_is_a_list():
    (request,) = read(HEAD + b"Host: a\r\nA: 1\r\na:  2 \r\nContent-Length: 0\r\n\r\n")
    assert request.headers["a"] == "1, 2"


def test_chunks_of_a_byte_each_are_not_read_for_ever():
    parser = Requests()
    feed(parser, CHUNKED + b"\r\n" + chunk(b"a") * 1000)
    with pytest.raises(BadFraming, match="small chunks"):
        feed(parser, chunk(b"a") * 9)
    large = b"".join(chunk(b"a" * 256) for _ in range(5000))
    assert len(read(CHUNKED + b"Host: a\r\n\r\n" + large + b"0\r\n\r\n")[0].body) == 5000 * 256


def test_a_request_is_framed_as_the_perl_client_does():
    each = recording("raw-ok")
    assert legacy_request(each.message) == each.sent


@pytest.mark.parametrize(
    "head", [b"Content-Length: 8000000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n7A1200\r\n"]
)
def test_a_body_is_in_memory_once(head):
    piece, parser = b"a" * 64_000, Requests()
    tracemalloc.start()
    try:
        parser.feed(b"POST / HTTP/1.1\r\nHost: a\r\n" + head)
        for _ in range(125):
            assert parser.next() is None
            parser.feed(piece)
        parser.feed(b"\r\n0\r\n" if b"chunked" in head else b"")
        request = parser.next()
        assert len(request.body) == 125 * len(piece)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * len(request.body)


def test_a_reply_begins_with_the_88_bytes_that_slurm_counts():
    assert len(LEGACY_HEAD) == 88
    each = recording("chunk-user")
    assert each.answered[:88] == LEGACY_HEAD


def test_a_standard_reply_has_a_length():
    reply = standard_reply(b"abc", keep_alive=False, headers={"Allow": "POST"})
    assert reply.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\nContent-Length: 3\r\nConnection: close\r\nAllow: POST\r\n\r\nabc" in reply
    assert standard_reply(b"abc", head_only=True).endswith(b"\r\n\r\n")


def test_parts_follow_each_other_without_line_breaks():
    assert legacy_reply([b"ab", b"c"]) == LEGACY_HEAD + b"2\r\nab1\r\nc0\r\n"


LINES = st.sampled_from([
    b"POST / HTTP/1.1\r\n", b"GET /healthz HTTP/1.1\n", b"Host: a\r\n", b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n", b"\r\n", b"\n", b"0\r\n", b"5\r\n", b"hello", b"A: b\r\n", MESSAGE,
])  # fmt: skip


@given(st.lists(LINES | st.binary(max_size=9), max_size=12), st.lists(st.integers(0, 999)))
def test_any_bytes_are_requests_or_are_refused_and_nothing_else_happens(lines, cuts):
    def outcome(cuts):
        parser, found = Requests(limit=100), []
        try:
            for piece in pieces(b"".join(lines), cuts):
                parser.feed(piece)
                found += taken(parser)
        except BadFraming as error:
            # What came before the fault was out, but only where it came in a piece of its own.
            return [], str(error)
        return found, ""

    assert outcome(cuts)[1] == outcome([])[1]
    if not outcome([])[1]:
        assert outcome(cuts) == outcome([])


def test_a_legacy_message_ends_with_its_end_tag_and_not_with_its_start_tag():
    parser = Requests()
    parser.feed(b"POST /SSSRMAP3 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\na\r\n<Envelope>\r\n")
    assert parser.next() is None
    parser.feed(b"d\r\n</s:Envelope>")
    assert parser.next().body == b"<Envelope></s:Envelope>"


@pytest.mark.parametrize(
    "head, awaits",
    [
        (b"Host: a\r\nExpect: 100-continue\r\n", True),
        (b"Host: a\r\nExpect: 100-Continue\r\n", True),
        (b"Host: a\r\n", False),
        (b"Host: a\r\nExpect: other\r\n", False),
        (b"Expect: 100-continue\r\n", False),
    ],
)
def test_only_who_says_so_and_names_a_host_awaits_a_continue(head, awaits):
    parser = Requests()
    parser.feed(CHUNKED + head + b"\r\n")
    assert parser.next() is None
    assert parser.awaits_continue is awaits


def test_a_body_has_1000_chunks_and_another_one_for_each_256_bytes():
    begin = CHUNKED + b"Host: a\r\n\r\n"
    [request] = read(begin + chunk(b"a") * 1002 + b"0\r\n\r\n")  # the last one counts, too
    assert request.body == b"a" * 1002
    with pytest.raises(BadFraming, match="too many small chunks"):
        read(begin + chunk(b"a") * 1003 + b"0\r\n\r\n")


@pytest.mark.parametrize("data, end", [
    (b"", -1), (b"a", -1), (b"\r\n\r\n", 4), (b"\n\n", 2), (b"a\n\nb\r\n\r\n", 3),
    (b"a\r\n\r\nb\n\n", 5), (b"a\n\r\n", 4),
])  # fmt: skip
def test_a_head_ends_behind_the_first_empty_line(data, end):
    assert framing.end_of_head(bytearray(data)) == end


def test_a_head_has_so_many_bytes():
    most = HEAD + b"Host: a\r\nContent-Length: 0\r\nX: "
    for more, is_read in ((0, True), (1, False)):
        head = most + b"a" * (framing.HEAD_LIMIT - len(most) - 4 + more) + b"\r\n\r\n"
        if is_read:
            assert [each.body for each in read(head)] == [b""]
        else:
            with pytest.raises(BadFraming, match="header is too long"):
                read(head)
