"""Bytes in, bytes out: every recorded request gets an answer that its client could read."""

from dataclasses import replace
from itertools import count

import pytest
from gold import ANSWERED, FOLDER, KEY, documents, recording
from hypothesis import given
from hypothesis import strategies as st

from sssjob.errors import Refused
from sssjob.rmap.encryption import decrypt, encrypt
from sssjob.rmap.envelope import opened
from sssjob.rmap.gate import FORMS
from sssjob.rmap.keys import Algorithm, Key, Ring
from sssjob.rmap.message import Data, DataDocument, Object, Option, Request, Row
from sssjob.rmap.reading import read_response
from sssjob.rmap.responder import HandlerAnswer, Policy, ReadMessage, Responder, _bytes
from sssjob.rmap.signature import sign, verify
from sssjob.rmap.writing import encrypted_envelope, envelope, signed, write_request, written

RING = Ring(Key(KEY), passwords={"ann": Key(b"s3cretpass", owner="ann")})
JOB = Request("Query", "root", (Object("Job"),))
LEGACY = Policy(name="root", triple_des=True)


def rows(number):
    return [Row("Job", (("Id", str(place)),)) for place in range(number)]


def answering(*items, **options):
    return lambda call: HandlerAnswer(items, **options)


def responder(handler, ring=RING, policy=LEGACY, **options):
    return Responder(handler, ring, policy, **options)


def message(request, key=RING.shared, **options):
    body = write_request(request).encode()
    return envelope(body, sign(body, key, **options))


def answers(outcome):
    return [read_response(opened(part).body) for part in outcome.parts]


def code(outcome):
    (answer,) = answers(outcome)
    assert answer.status.code == outcome.code
    return outcome.code


def ids(outcome):
    return [row.get("Id") for answer in answers(outcome) for row in answer.rows]


def recorded_answer(each):
    """A handler that answers what Gold answered."""
    replies = [read_response(opened(part).body) for part in documents(each.answered)]
    status = replies[-1].status

    def handler(call):
        if status.value == "Failure":
            raise Refused(status.code, status.message)
        found = [row for reply in replies for row in reply.rows]
        amount = replies[0].count if replies[0].count != len(replies[0].rows) else "rows"
        return HandlerAnswer(found, status.code, status.message, amount)

    return handler


GOLD_REFUSES = {"canon-gt-raw-asis", "content-length", "two-http-chunks"}  # what we understand
SILENT = {"noauth-query", "wrongkey", "v22-auth-wrong-key"}  # what nobody may answer
OTHERS = {"enc-query", "v22-bad-uri", "v22-no-object"}  # of which Gold's answer is not by its rows


@pytest.mark.parametrize(
    "each", [r for r in ANSWERED if r.name not in SILENT | OTHERS], ids=lambda each: each.name
)
def test_given_the_same_rows_the_answer_is_that_of_gold_byte_for_byte(each):
    outcome = responder(recorded_answer(each)).respond(each.message)
    assert list(outcome.parts) == documents(each.answered)


def test_a_request_without_an_object_is_refused_by_the_code_of_gold():
    assert code(responder(answering()).respond(recording("v22-no-object").message)) == "311"


@pytest.mark.parametrize("name", sorted(GOLD_REFUSES))
def test_what_gold_could_not_read_is_answered(name):
    outcome = responder(answering(*rows(1))).respond(recording(name).message)
    assert code(outcome) == "000"


@pytest.mark.parametrize("name", sorted(SILENT))
def test_who_is_not_proven_is_refused_before_anybody_is_asked(name):
    def handler(call):
        pytest.fail("asked")

    outcome = responder(handler).respond(recording(name).message)
    assert (code(outcome), outcome.actor) == ("424", "")


def test_an_encrypted_request_gets_an_encrypted_answer():
    each = recording("enc-query")
    outcome = responder(recorded_plain).respond(each.message)
    plain = decrypt(opened(outcome.parts[0]).encrypted, KEY, limit=10_000)
    assert plain == (FOLDER / "enc-query.s2c.plain.xml").read_bytes()


def recorded_plain(call):
    assert call.request.wheres[0].value == "ann"
    return HandlerAnswer([Row("User", (("Name", "ann"), ("EmailAddress", "ann@example.org")))])


def test_encryption_is_off_unless_it_is_turned_on():
    each = recording("enc-query")
    assert code(responder(recorded_plain, policy=Policy()).respond(each.message)) == "434"


def test_what_fails_before_decryption_is_answered_in_the_clear_and_after_it_hidden():
    wrong = encrypted_envelope(encrypt(b"<Body></Body>", b"x" * 24))
    assert code(responder(answering()).respond(wrong)) == "434"
    unsigned = encrypted_envelope(encrypt(write_request(JOB).encode(), KEY))
    outcome = responder(answering()).respond(unsigned)
    assert opened(outcome.parts[0]).encrypted is not None
    assert outcome.code == "424"


def test_the_handler_is_told_who_asks_and_from_where():
    calls = []
    ring = replace(RING, own={"ann": Key(b"own", owner="ann")})

    def handler(call):
        calls.append((call.actor, call.origin, call.proven))
        return HandlerAnswer()

    asked = responder(handler, ring, replace(LEGACY, unsigned=True))
    asked.respond(message(JOB), "192.0.2.7")
    asked.respond(message(replace(JOB, actor="ann"), Key(b"own")), "192.0.2.8")
    asked.respond(envelope(write_request(JOB).encode()))
    assert calls == [
        ("root", "192.0.2.7", True),
        ("ann", "192.0.2.8", True),
        ("root", "", False),
    ]


def test_a_copy_is_told_by_what_was_signed_where_nothing_else_tells_it():
    marks = []
    asked = responder(
        lambda call: marks.append(call.mark) or HandlerAnswer(),
        policy=replace(LEGACY, unsigned=True), clock=lambda: 1000.0,
    )  # fmt: skip
    signed_once = message(JOB)
    for each in (
        signed_once, signed_once, message(replace(JOB, actor="ann")),
        message(replace(JOB, nonce="x", time=1000)), envelope(write_request(JOB).encode()),
    ):  # fmt: skip
        assert code(asked.respond(each)) == "000"
    assert marks[0] == marks[1] != marks[2]
    assert (marks[0], marks[3:]) == (opened(signed_once).signature.digest, ["", ""])


def test_who_has_a_key_of_their_own_is_not_proven_by_the_shared_one():
    ring = replace(RING, own={"ann": Key(b"own", owner="ann")})
    assert code(responder(answering(), ring).respond(message(replace(JOB, actor="ann")))) == "424"


OWN = replace(RING, own={"eve": Key(b"own", owner="eve")})


@pytest.mark.parametrize("quote", ["'", "'&#10;"])
def test_an_actor_in_the_value_of_another_attribute_is_nobody(quote):
    """A key of eve signs what says eve to a search, and ann to a parser."""
    start = f"""<Body><Request x={quote} actor="eve"' actor="ann" """
    body = f"""{start}action="Query"><Object>Job</Object></Request></Body>""".encode()
    told = responder(lambda call: HandlerAnswer(message=call.actor), OWN)
    assert code(told.respond(envelope(body, sign(body, OWN.own["eve"])))) == "424"
    (answer,) = answers(told.respond(envelope(body, sign(body, OWN.shared))))
    assert (answer.status.code, answer.status.message) == ("000", "ann")


LARGE = Request("Query", "eve", (Object("Job"),), options=(Option("x", "a" * (1 << 20)),))


def reading_large(request=LARGE, key=OWN.own["eve"], policy=LEGACY):
    """What a message of eve says to a responder, whose reader of large ones says something else."""
    asked, sent = [], message(LARGE, OWN.own["eve"])

    def reads(data, claimed):
        asked.append((data, claimed))
        signature = opened(sent).signature if key else None
        return ReadMessage(request, request.actor, signature, key, None)

    told = responder(lambda call: HandlerAnswer(message=call.actor), OWN, policy, reads_large=reads)
    outcome = told.respond(sent)
    assert asked == [(sent, OWN.own["eve"])]
    return outcome.code, outcome.message


def test_a_large_message_is_read_with_the_key_of_who_it_seems_to_be_from():
    assert reading_large() == ("000", "eve")
    assert reading_large(replace(LARGE, actor="ann"))[0] == "424"  # not with this key
    assert reading_large(key=None) == ("424", "The message is not signed")
    assert reading_large(key=None, policy=replace(LEGACY, unsigned=True)) == ("000", "eve")


def test_a_message_that_is_not_large_is_read_at_once():
    def reads(data, claimed):
        raise AssertionError(len(data))

    padded = replace(JOB, options=(Option("x", ""),))
    room = FORMS - len(message(padded))
    fitting = message(replace(JOB, options=(Option("x", "a" * room),)))
    assert len(fitting) == FORMS
    assert code(responder(answering(), reads_large=reads).respond(fitting)) == "000"


def test_a_large_message_that_nobody_signed_is_read_where_the_site_takes_such():
    def reads(data, claimed):
        assert claimed is None
        return ReadMessage(LARGE, "eve", None, None, None)

    sent = envelope(write_request(LARGE).encode())
    asked = responder(answering(), OWN, replace(LEGACY, unsigned=True), reads_large=reads)
    assert code(asked.respond(sent)) == "000"


def test_only_a_message_with_a_call_can_be_slow():
    asked = []
    told = responder(
        answering(), quick=lambda request: asked.append(request) or False,
        slow=lambda request: asked.append(request) or True,
    )  # fmt: skip
    taken, refused = told.take(told.look(message(JOB))), told.take(told.look(b""))
    assert (told.is_quick(taken), told.is_slow(taken), asked) == (False, True, [JOB, JOB])
    assert (told.is_quick(refused), told.is_slow(refused), len(asked)) == (True, False, 2)
    plain = responder(answering())
    assert (plain.is_quick(taken), plain.is_slow(taken)) == (False, False)


def test_an_answer_that_is_made_here_says_so():
    outcome = responder(answering()).failure("730", "Too many requests")
    assert (code(outcome), outcome.message, outcome.rows) == ("730", "Too many requests", 0)


def test_only_peers_of_gold_get_flat_rows():
    flat = []
    told = responder(
        lambda call: flat.append(call.flat) or HandlerAnswer(), clock=lambda: 1000.0
    )  # fmt: skip
    for legacy in (False, True):
        told.respond(message(JOB), legacy=legacy)
        told.respond(message(replace(JOB, nonce=f"{legacy}", time=1000)), legacy=legacy)
    assert flat == [False, False, True, False]


def test_a_password_proves_its_user():
    outcome = responder(answering()).respond(recording("pw-ok").message)
    assert (code(outcome), outcome.actor) == ("000", "ann")


def test_rows_of_a_generator_are_drawn_as_needed_and_closed():
    closed = []

    def drawn():
        try:
            for number in count():
                yield Row("Job", (("Id", str(number)),))
        finally:
            closed.append(number)

    outcome = responder(lambda call: HandlerAnswer(drawn()), policy=Policy(rows=3)).respond(
        message(JOB)
    )
    assert (code(outcome), ids(outcome), closed) == ("146", ["0", "1", "2"], [3])


@given(st.integers(0, 12), st.integers(0, 5), st.integers(1, 5))
def test_chunks_hold_all_rows_in_order_and_the_last_one_says_so(number, asked, most):
    request = replace(JOB, chunking=True, chunk_size=asked)
    outcome = responder(answering(*rows(number)), policy=Policy(rows=most)).respond(
        message(request)
    )
    parts = answers(outcome)
    size = min(asked or most, most)
    assert ids(outcome) == [str(place) for place in range(number)]
    assert [part.count for part in parts] == [len(part.rows) for part in parts]
    assert all(len(part.rows) == size for part in parts[:-1])
    if len(parts) == 1:
        assert (parts[0].chunk_num, parts[0].chunk_max) == (None, None)
    else:
        last = len(parts)
        assert [part.chunk_num for part in parts] == list(range(1, last + 1))
        assert [part.chunk_max for part in parts] == [-1] * (last - 1) + [0]


def test_without_chunking_what_is_too_much_is_cut_with_a_warning():
    outcome = responder(answering(*rows(3))).respond(message(replace(JOB, chunk_size=2)))
    (answer,) = answers(outcome)
    assert (answer.status.value, answer.status.code, answer.count) == ("Warning", "146", 2)
    assert answer.chunk_num is None


@pytest.mark.parametrize("limit", ["2", "9" * 9, "1" + "0" * 9, "9" * 18])
def test_a_limit_comes_before_chunking_however_large_it_is(limit):
    asked = replace(JOB, chunking=True, chunk_size=1, options=(Option("Limit", limit),))
    outcome = responder(answering(*rows(2))).respond(message(asked))
    assert (code(outcome), ids(outcome)) == ("000", ["0", "1"])


def test_a_reply_ends_where_it_would_be_too_large():
    big = [DataDocument(b"<Job><Requested>" + b"a" * 900 + b"</Requested></Job>")] * 10
    policy = Policy(reply_limit=2000)
    for asked in (JOB, replace(JOB, chunking=True, chunk_size=1)):
        outcome = responder(answering(*big), policy=policy).respond(message(asked))
        assert (outcome.code, outcome.rows) == ("146", 3)
        assert answers(outcome)[-1].is_last


def test_a_count_may_be_an_amount_or_be_absent():
    assert answers(responder(answering(count=36960)).respond(message(JOB)))[0].count == 36960
    assert answers(responder(answering(count=None)).respond(message(JOB)))[0].count is None


def test_a_refusal_of_the_handler_or_of_its_rows_is_a_failure_without_rows():
    def refusing(call):
        yield Row("Job")
        raise Refused("444", "not yours")

    outcome = responder(lambda call: HandlerAnswer(refusing(call))).respond(message(JOB))
    (answer,) = answers(outcome)
    assert (answer.status.value, answer.status.code, answer.rows) == ("Failure", "444", ())
    assert (outcome.actor, outcome.action, outcome.object) == ("root", "Query", "Job")


def test_a_document_goes_both_ways_as_it_is():
    job = DataDocument(b'<Job><Id>1</Id><Requested><Memory units="GB">2</Memory></Requested></Job>')
    echo = responder(lambda call: HandlerAnswer(call.request.data.items))
    asked = replace(JOB, action="Create", data=Data((job,)))
    assert answers(echo.respond(message(asked)))[0].rows == (job,)


BOTH = Key(KEY, (Algorithm.HMAC_SHA256,))


def test_hmac_sha256_is_for_whom_it_was_configured_and_its_answers_are_signed():
    ours = responder(answering(*rows(1)), Ring(BOTH))
    (part,) = ours.respond(message(JOB, BOTH)).parts
    assert verify(opened(part), BOTH) is Algorithm.HMAC_SHA256
    assert code(ours.respond(message(JOB))) == "424"
    assert code(responder(answering()).respond(message(JOB, BOTH))) == "424"


def test_gold_clients_never_get_a_signature():
    (part,) = responder(answering(*rows(1))).respond(message(JOB)).parts
    assert opened(part).signature is None


def test_a_nonce_comes_back_and_its_copy_is_refused():
    ours = responder(answering(), clock=lambda: 1000.0)
    asked = message(replace(JOB, nonce="abc", time=1000))
    assert answers(ours.respond(asked))[0].nonce == "abc"
    assert code(ours.respond(asked)) == "424"


BOMB = (
    b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    b"<Envelope><Body>&b;</Body></Envelope>"
)
OUTSIDE = (
    b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><Envelope><Body>&a;</Body></Envelope>'
)
BAD = [
    pytest.param(b"", "244", id="nothing"),
    pytest.param(b" \n", "244", id="white space"),
    pytest.param(b"hello", "302", id="no XML"),
    pytest.param(b"<Envelope><Body></Envelope>", "302", id="not well-formed"),
    pytest.param(b"\xff\xfe\x00", "302", id="other bytes"),
    pytest.param(b"<Envelope><Body>\xff</Body></Envelope>", "302", id="no UTF-8"),
    pytest.param(b"<a>" * 3000 + b"</a>" * 3000, "302", id="too deep"),
    pytest.param(BOMB, "302", id="entity bomb"),
    pytest.param(OUTSIDE, "302", id="file of the server"),
    pytest.param(b"<Job/>", "242", id="another root"),
    pytest.param(b"<Envelope/>", "240", id="empty envelope"),
    pytest.param(b"<Envelope><Body/></Envelope>", "302", id="empty body"),
    pytest.param(b"<Envelope><Body/><Body/></Envelope>", "240", id="two bodies"),
    pytest.param(b"<Envelope><EncryptedData/></Envelope>", "434", id="nothing encrypted"),
]


@pytest.mark.parametrize("data, expected", BAD)
def test_bad_input_gets_its_code_and_nothing_that_helps(data, expected):
    outcome = responder(answering()).respond(data)
    (answer,) = answers(outcome)
    assert answer.status.code == expected
    assert "root:" not in answer.status.message
    assert "lxml" not in answer.status.message


def test_what_is_no_xml_is_told_with_its_place_and_reason():
    (answer,) = answers(responder(answering()).respond(b"<Envelope>\n<Body></Envelope>"))
    assert "line 2, column " in answer.status.message
    assert "Body" in answer.status.message


@given(st.binary(max_size=200))
def test_whatever_comes_is_answered(data):
    assert code(responder(answering()).respond(data)) != "000"


def test_an_answer_to_hmac_sha256_is_signed_before_it_is_encrypted():
    body = write_request(JOB).encode()
    inner = signed(sign(body, BOTH)) + body
    ours = responder(answering(), Ring(BOTH))
    (part,) = ours.respond(encrypted_envelope(encrypt(inner, KEY))).parts
    plain = decrypt(opened(part).encrypted, KEY, limit=10_000)
    assert verify(opened(b"<Envelope>" + plain + b"</Envelope>"), BOTH)


def test_a_row_takes_as_many_bytes_of_a_reply_as_its_elements_have():
    for fields in ((), (("Id", "1"),), (("Id", ""), ("User", "ann"), ("User", "bob"))):
        row = Row("Job", fields)
        assert _bytes(row) == len(written(row)) - len("<Job></Job>")
    assert _bytes(DataDocument(b"<Job/>")) == 6
