"""The client understands every reply of a real Gold and ours, and repeats only what is safe."""
# ruff: noqa: E501 (a row of a table is a line)

from dataclasses import replace

import pytest
from gateways import gateway
from gold import ANSWERED, KEY, documents, recording, replaying
from servers import closed_port, scripted
from waiting import HANG

from sssjob.client import GOLD, SSSJOB, Client, transport
from sssjob.errors import InvalidValue, NoReply, Refused
from sssjob.rmap.envelope import opened
from sssjob.rmap.framing import LEGACY_HEAD, legacy_reply, standard_reply
from sssjob.rmap.keys import Algorithm, Key, Ring
from sssjob.rmap.message import Get, Object, Option, Request, Row, Where
from sssjob.rmap.reading import read_request, read_response
from sssjob.rmap.responder import HandlerAnswer
from sssjob.rmap.signature import verify
from sssjob.rmap.writing import envelope, write_response

QUERY = Request("Query", "root", (Object("Job"),))
CHARGE = replace(QUERY, action="Charge")
CREATE = replace(QUERY, action="Create")
RAW = recording("raw-ok")
DONE = RAW.answered
BUSY = (
    recording("job-query-nested")
    .answered.replace(b"<Value>Success", b"<Value>Failure")
    .replace(b"<Code>000", b"<Code>730")
)


@pytest.mark.parametrize("host", ["a..b", "a" * 64, "[::1", "", "\udcff", ".a"])
@pytest.mark.parametrize("form", ["http://{}/", "https://{}:1/x", "{}:1"])
def test_what_no_resolver_can_be_asked_for_is_no_address(form, host):
    with pytest.raises(ValueError, match=r".*"):
        transport(form.format(host))


def client(*addresses, **options):
    waits = []
    options.setdefault("key", Key(KEY))
    options.setdefault("dialect", GOLD)
    made = Client(
        [transport(address, timeout=options.pop("timeout", HANG)) for address in addresses],
        sleep=waits.append, **options,
    )  # fmt: skip
    return made, waits


def at(server, scheme=""):
    return f"{scheme}127.0.0.1:{server.port}"


@pytest.mark.parametrize("each", ANSWERED, ids=lambda each: each.name)
def test_every_recorded_reply_is_understood(each):
    with scripted(each.answered) as server:
        asking, _ = client(at(server))
        parts = list(asking.call(QUERY))
    if each.name == "enc-query":
        assert parts[0].rows == (
            Row("User", (("Name", "ann"), ("EmailAddress", "ann@example.org"))),
        )
        return
    assert parts == [read_response(opened(part).body) for part in documents(each.answered)]


def test_what_is_sent_to_gold_is_what_its_own_client_sends():
    asked = Request("Query", "root", (Object("Job"),), tuple(map(Get, (
        "Id", "JobId", "User", "Processors", "Charge",
    ))), wheres=read_request(opened(recording("job-query-nested").message).body).wheres)  # fmt: skip
    # Perl leaves the first And away where it is the default.
    ours = client("a")[0].message(replace(asked, gets=(Get("JobId"),)))
    assert verify(opened(ours), Key(KEY))
    with scripted(DONE) as server:
        list(client(at(server))[0].call(asked))
        sent = server.requests[0]
    assert sent.is_legacy
    assert "id=" not in sent.body.decode()
    assert "nonce" not in sent.body.decode()


@pytest.mark.parametrize("scheme", ["", "http://"])
@pytest.mark.parametrize("dialect", [GOLD, SSSJOB])
def test_our_gateway_answers_by_both_transports(scheme, dialect):
    def rows(call):
        return HandlerAnswer([Row("User", (("Name", str(number)),)) for number in range(7)])

    asked = Request("Query", "root", (Object("User"),), chunking=True, chunk_size=3)
    with gateway(rows) as running:
        host, port = running.address()
        asking, _ = client(f"{scheme}{host}:{port}", dialect=dialect)
        assert [row.get("Name") for row in asking.rows(asked)] == list("0123456")
        assert [len(part.rows) for part in asking.call(asked)] == [3, 3, 1]


def test_a_password_and_encryption_work_against_our_gateway():
    with gateway(replaying) as running:
        host, port = running.address()
        asking, _ = client(f"{host}:{port}", encrypted=True)
        assert next(asking.rows(read_request(opened(RAW.message).body))).get("Name") == "ann"
        ann, _ = client(f"{host}:{port}", key=Key(b"s3cretpass"), password=True)
        asked = read_request(opened(recording("pw-ok").message).body)
        assert next(ann.rows(asked)).get("Name") == "ann"


BOTH = Key(KEY, (Algorithm.HMAC_SHA256,))


def test_an_answer_to_hmac_sha256_is_proven_and_about_this_request():
    with gateway(lambda call: HandlerAnswer([Row("Job")]), ring=Ring(BOTH)) as running:
        host, port = running.address()
        asking, _ = client(f"{host}:{port}", key=BOTH, dialect=SSSJOB)
        assert list(asking.rows(QUERY)) == [Row("Job")]
        (document,) = asking.transports[0].exchange(asking.message(replace(QUERY, nonce="old",
                                                                           time=2**40)))  # fmt: skip
        assert read_response(opened(document).body).status.code == "424"
        (stale,) = asking.transports[0].exchange(asking.message(QUERY))
    for answer, told in ((legacy_reply([stale]), "another request"), (DONE, "not signed")):
        with scripted(answer) as server, pytest.raises(Refused, match=told):
            list(client(at(server), key=BOTH, dialect=SSSJOB)[0].call(QUERY))


def test_a_failure_of_the_server_is_a_part_and_an_exception_of_its_rows():
    with scripted(*[recording("hod-style").answered] * 2) as server:
        asking, _ = client(at(server))
        (part,) = asking.call(QUERY)
        assert part.status.code == "314"
        with pytest.raises(Refused, match=r"A machine must be specified .*\(314\)"):
            list(asking.rows(QUERY))


# --- once or again ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "request_, dialect, answers, tried",
    [
        pytest.param(QUERY, GOLD, [None, b"HTTP/1.1 ", DONE], 3, id="a query, again"),
        pytest.param(QUERY, GOLD, [BUSY, DONE], 2, id="busy, again"),
        pytest.param(CHARGE, GOLD, [BUSY, DONE], 2, id="a charge that was not done, again"),
        pytest.param(CHARGE, SSSJOB, [b"HTTP/1.1 ", DONE], 2, id="a charge with an id, again"),
    ],
)
def test_what_is_safe_is_tried_again(request_, dialect, answers, tried):
    with scripted(*answers) as server:
        asking, waits = client(at(server), dialect=dialect, key=Key(KEY))
        assert [part.status.code for part in asking.call(request_)] == ["000"]
    assert len(waits) == tried - 1
    assert waits == sorted(waits)


@pytest.mark.parametrize(
    "request_, dialect",
    [
        pytest.param(CHARGE, GOLD, id="Gold charges twice"),
        pytest.param(CREATE, GOLD, id="creating"),
        pytest.param(replace(CREATE, action="Cancel"), SSSJOB, id="telling a scheduler"),
    ],
)
def test_what_may_have_been_done_is_not_tried_again(request_, dialect):
    with scripted(b"HTTP/1.1 ") as server:
        asking, waits = client(at(server), dialect=dialect)
        with pytest.raises(NoReply) as error:
            list(asking.call(request_))
    assert (error.value.code, error.value.asked, waits) == ("246", True, [])


def test_a_charge_is_known_by_its_id_when_it_comes_again():
    with scripted(b"HTTP/1.1 ", DONE) as server:
        list(client(at(server), dialect=SSSJOB)[0].call(CHARGE))
    first, second = (read_request(opened(sent.body).body) for sent in server.requests)
    assert first.id == second.id != ""
    assert first.nonce != second.nonce


def test_the_next_server_is_asked_where_the_first_cannot_be_reached():
    with scripted(DONE) as server:
        asking, _ = client(f"127.0.0.1:{closed_port()}", at(server))
        assert list(asking.call(CHARGE))


def test_after_the_last_try_it_is_told_why():
    asking, waits = client(f"127.0.0.1:{closed_port()}", tries=2)
    with pytest.raises(NoReply, match=r"cannot connect to 127.0.0.1:.*\(222\)"):
        list(asking.call(QUERY))
    assert len(waits) == 1
    web, _ = client(f"http://127.0.0.1:{closed_port()}", tries=1)
    with pytest.raises(NoReply) as error:
        list(web.call(CHARGE))
    assert (error.value.code, error.value.asked) == ("222", False)


# --- answers that are none -------------------------------------------------------------------


def parts(*numbers):
    empty = read_response(opened(documents(recording("conj-or").answered)[0]).body)
    return legacy_reply([
        envelope(write_response(replace(empty, chunk_num=num, chunk_max=last)).encode())
        for num, last in numbers
    ])  # fmt: skip


AGAIN = recording("chunk-user").answered[:-3]
NONE = [
    pytest.param(b"", "232", id="silence"),
    pytest.param(None, "226", id="closed at once"),
    pytest.param(LEGACY_HEAD, "246", id="header alone"),
    pytest.param(LEGACY_HEAD + b"zz\r\n", "242", id="no chunk"),
    pytest.param(b"SSH-2.0-x\r\n\r\n", "242", id="no HTTP"),
    pytest.param(AGAIN[:-200], "246", id="parts missing"),
    pytest.param(parts((1, -1), (1, -1)), "226", id="the first part again"),
    pytest.param(parts((1, -1), (3, 0)), "226", id="a part left out"),
    pytest.param(AGAIN[: AGAIN.rindex(b"10C\r\n")] + AGAIN, "242", id="a second header"),
    pytest.param(legacy_reply([b"<Envelope><Body/></Envelope>"]), "246", id="no response"),
    pytest.param(legacy_reply([b"<a/>"]), "242", id="no envelope"),
    pytest.param(legacy_reply([b"<Envelope>"]), "302", id="no XML"),
]


def patience(answer):
    """The seconds that an answer is waited for: only silence is to last too long."""
    return 0.5 if answer == b"" else HANG


@pytest.mark.parametrize("answer, code", NONE)
def test_what_is_no_answer_is_refused_with_its_code(answer, code):
    with scripted(answer) as server:
        asking, _ = client(at(server), tries=1, timeout=patience(answer))
        with pytest.raises(Refused) as error:
            list(asking.call(QUERY))
    assert error.value.code in {
        code,
        "246" if answer is None else code,
        "224" if answer is None else code,
    }


@pytest.mark.parametrize(
    "answer, code",
    [
        pytest.param(b"", "232", id="silence"),
        pytest.param(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 3\r\n\r\nbad", "242", id="status"),
        pytest.param(standard_reply(b"hello"), "302", id="no XML"),
        pytest.param(b"HTTP/1.1 302 Found\r\nLocation: http://a\r\nContent-Length: 0\r\n\r\n", "242", id="elsewhere"),
    ],
)  # fmt: skip
def test_standard_servers_that_give_no_answer_are_told_apart(answer, code):
    with scripted(answer) as server:
        asking, _ = client(at(server, "http://"), tries=1, timeout=patience(answer))
        with pytest.raises(Refused) as error:
            list(asking.call(QUERY))
    assert error.value.code == code


# --- dialects --------------------------------------------------------------------------------


def spoken(**changes):
    return GOLD.spoken(replace(QUERY, **changes))


def test_gold_hears_its_own_names():
    heard = spoken(
        gets=(Get("Id"), Get("Duration", "Sum")),
        wheres=(Where("NodeCount", "2"), Where("User", "ann")),
        id="x", nonce="y", time=1,
    )  # fmt: skip
    assert heard.gets == (Get("JobId"), Get("WallDuration", "Sum"))
    assert heard.wheres == (Where("Nodes", "2"), Where("User", "ann"))
    assert (heard.id, heard.nonce, heard.time) == ("", "", None)
    assert GOLD.spoken(replace(QUERY, objects=(Object("User"),), gets=(Get("Id"),))).gets == (
        Get("Id"),
    )


@pytest.mark.parametrize(
    "changes, told",
    [
        pytest.param({"wheres": (Where("User", "o'neil"),)}, "SQL", id="apostrophe"),
        pytest.param({"chunking": True}, "chunks", id="endless chunks"),
        pytest.param({"gets": (Get("", path="//Job"),)}, "expressions", id="XPath"),
    ],
)
def test_what_gold_would_misunderstand_is_not_sent(changes, told):
    with pytest.raises(InvalidValue, match=told):
        spoken(**changes)
    assert SSSJOB.spoken(replace(QUERY, **changes))


def test_gold_digests_latin_1_and_nothing_beyond():
    asked = replace(QUERY, wheres=(Where("User", "J\u00fcrgen"),))
    message = client("a")[0].message(asked)
    assert message.isascii()
    assert verify(opened(message), Key(KEY))
    assert b"J&#252;rgen" in message
    with pytest.raises(InvalidValue, match="Latin-1"):
        client("a")[0].message(replace(asked, options=(Option("A", "\u20ac"),)))


def test_the_bytes_that_gold_accepted_for_latin_1_are_signed_alike():
    each = recording("canon-latin1-signed-latin1")
    body = "<Body>J&#252;rgen</Body>"
    assert GOLD.digested(body) == "<Body>J\u00fcrgen</Body>".encode("latin-1")
    assert verify(opened(each.message), Key(KEY))


@pytest.mark.parametrize("text", ["", ":1", "a:b", "a:99999", "[::1"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(ValueError, match=r".*"):
        transport(text)
