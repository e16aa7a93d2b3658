"""A stranger without a key costs the bytes that were sent, and who has one is let in as ever."""
# ruff: noqa: E501 (a row of a table is a line)

import gc
import resource
import threading
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from gold import KEY, RECORDINGS
from hypothesis import given
from hypothesis import strategies as st
from messages import REQUESTS

from sssjob.document import tree
from sssjob.errors import Refused
from sssjob.rmap import envelope as envelope_module
from sssjob.rmap import gate, signature
from sssjob.rmap.encryption import encrypt
from sssjob.rmap.envelope import opened
from sssjob.rmap.keys import Key, Ring
from sssjob.rmap.message import Object, Option, Request
from sssjob.rmap.responder import HandlerAnswer, Policy, Responder, read
from sssjob.rmap.signature import forms, sign
from sssjob.rmap.writing import encrypted_envelope, envelope, write_request

SHARED = Key(KEY)
RING = Ring(SHARED, own={"eve": Key(b"own", owner="eve")}, passwords={"ann": Key(b"s3cretpass")})
OPEN = Policy(triple_des=True)
REQUEST = '<Request action="Query" actor="ann"><Object>Job</Object><Data>{}</Data></Request>'
PADDING = "<a/>" * (1 << 18)  # a MiB, of which a tree takes thirty
FORGED = sign(b"<Body></Body>", Key(b"no key of theirs"))


def responder(policy=OPEN, ring=RING):
    return Responder(lambda call: HandlerAnswer(message=call.actor), ring, policy)


def body(padding=PADDING, actor="ann"):
    return f"<Body>{REQUEST.format(padding).replace('ann', actor)}</Body>".encode()


def unlike(message):
    """The same bytes of a signature before another Body."""
    return message.replace(b'"Query"', b'"Delete"')


GOOD = envelope(body(), sign(body(), SHARED))
STRANGERS = [
    pytest.param(envelope(body()), "424", id="not signed"),
    pytest.param(envelope(body(), FORGED), "424", id="signed with another key"),
    pytest.param(envelope(body(), sign(body(), Key(b"x"), token="Password", name="ann")), "424", id="another password"),
    pytest.param(envelope(body(actor="eve"), sign(body(actor="eve"), SHARED)), "424", id="the shared key for somebody with a key"),
    pytest.param(envelope(body(), FORGED._replace(digest="no base64")), "424", id="no digest"),
    pytest.param(envelope(body(), FORGED._replace(token="X509v3")), "424", id="a token that nobody knows"),
    pytest.param(unlike(GOOD), "424", id="a signature that was overheard"),
    pytest.param(GOOD.replace(b"<Signature>", b"<Signature/><Signature>" + b" " * 9000), "302", id="much beside the Body"),
    pytest.param(b"<Job>" + PADDING.encode() + b"</Job>", "302", id="no Envelope"),
    pytest.param(GOOD.replace(b"Envelope>", b"Job>"), "242", id="another root"),
    pytest.param(b"<Envelope>" + PADDING.encode() + GOOD[GOOD.index(b"<Body") :], "302", id="a late Body"),
    pytest.param(GOOD.decode().replace("UTF-8", "UTF-16").encode("utf-16"), "302", id="UTF-16"),
    pytest.param(b"<Envelope><EncryptedData>" + PADDING.encode() + b"</EncryptedData></Envelope>", "302", id="nothing that was encrypted"),
    pytest.param(encrypted_envelope(encrypt(b"<Body/>", b"another key")._replace(value="A" * (1 << 20))), "434", id="encrypted with another key"),
    pytest.param(encrypted_envelope(encrypt(b"<Body/>", KEY)._replace(value=PADDING)), "302", id="encrypted tags"),
    pytest.param(b'<!DOCTYPE Envelope [<!ENTITY x "y">]>' + GOOD, "302", id="a document type"),
]  # fmt: skip


@pytest.fixture
def parsed(monkeypatch):
    """The bytes of each document that becomes a tree."""
    sizes, parse = [], tree.parse

    def recorded(data):
        sizes.append(len(data))
        return parse(data)

    monkeypatch.setattr(tree, "parse", recorded)
    return sizes


@pytest.mark.parametrize(("message", "code"), STRANGERS)
def test_no_tree_is_made_of_what_a_stranger_sends(message, code, parsed):
    assert len(message) > gate.SMALL
    ours = responder()
    tracemalloc.start()
    try:
        outcome = ours.respond(message)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert outcome.code == code
    assert sum(parsed) <= 2 * gate._AROUND
    assert peak < len(message) / 4  # beside the message itself


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_an_encoding_unlike_ascii_is_of_small_messages_only_which_is_told(encoding):
    for padding, code in (("", "000"), ("<!---->" * 1000, "302")):
        plain = envelope(body(padding), sign(body(padding), SHARED)).decode()
        outcome = responder().respond(plain.replace("UTF-8", encoding.upper()).encode(encoding))
        assert outcome.code == code
        assert ("in an encoding like ASCII" in outcome.message) == (code == "302")


def test_what_is_not_encrypted_here_is_not_even_looked_at(parsed):
    message = encrypted_envelope(encrypt(GOOD, KEY)._replace(value="A" * (1 << 20)))
    assert responder(Policy()).respond(message).code == "434"
    assert sum(parsed) < 1000


def test_a_digest_that_no_key_has_signed_is_not_looked_for(monkeypatch):
    monkeypatch.setattr(signature, "forms", lambda sealed: pytest.fail("looked for"))
    small = envelope(body(""), FORGED)
    assert responder().respond(small).code == "424"


TEXT = "x" * (2 * gate.SMALL)
BODY = body(TEXT)


def enveloped(body, head="<Envelope>", before="", after="", signed=None):
    made = sign(body if signed is None else signed, SHARED)
    code = f"<DigestValue>{made.digest}</DigestValue><SignatureValue>{made.value}</SignatureValue>"
    return (
        (head + before.format(code)).encode() + body + (after.format(code) + "</Envelope>").encode()
    )


SIGNATURE = "<Signature>{}</Signature>"
PEERS = [
    pytest.param(enveloped(BODY, after=SIGNATURE), id="ours"),
    pytest.param(enveloped(BODY, "<?xml version='1.0'?>\r\n<Envelope>", after=SIGNATURE + "\r\n"), id="Java"),
    pytest.param(enveloped(BODY, '<Envelope count="1" name="SSSRMAP">', before=SIGNATURE), id="Maui"),
    pytest.param(
        enveloped(f"<Body actor='ann'><Request action='Query' object='Job'>{TEXT}</Request></Body>".encode(), before=SIGNATURE),
        id="an actor on Body",
    ),
    pytest.param(enveloped(BODY.replace(b'"', b"'"), after=SIGNATURE), id="Slurm"),
    pytest.param(enveloped(BODY, '<Envelope xmlns="http://www.scidac.org/ScalableSystems/SSSRMAP" xmlns:x="urn:x">', after=SIGNATURE), id="a namespace"),
    pytest.param(
        enveloped(BODY.replace(b"<", b"<s:").replace(b"<s:/", b"</s:"), '<s:Envelope xmlns:s="http://www.scidac.org/ScalableSystems/SSSRMAP">',
                  after=SIGNATURE.replace("Signature>", 'Signature xmlns="http://www.scidac.org/ScalableSystems/SSSRMAP">', 1)).replace(b"</Envelope>", b"</s:Envelope>"),
        id="a prefix",
    ),
    pytest.param(enveloped(body(f"<!-- {TEXT} --><x><![CDATA[<Body>]]></x>"), after=SIGNATURE), id="a comment"),
    pytest.param(enveloped(body(TEXT + "<Body></Body>"), after=SIGNATURE), id="a Body inside the Body"),
    pytest.param(enveloped(body(TEXT + "\u00e9"), after=SIGNATURE, signed=body(TEXT + "\u00e9").decode().encode("latin-1")), id="Latin-1"),
    pytest.param(enveloped(body(TEXT + "<a/>"), after=SIGNATURE, signed=body(TEXT + "<a></a>")), id="as libxml2 writes it"),
    pytest.param(enveloped(body(TEXT + '<a c="1" b="2"></a>'), after=SIGNATURE, signed=body(TEXT + '<a b="2" c="1"></a>')), id="sorted"),
    pytest.param(enveloped(body(TEXT).replace(b'actor="ann"', b'x="&gt;>" actor = "&#97;nn"'), after=SIGNATURE), id="odd attributes"),
]  # fmt: skip


@pytest.mark.parametrize("message", PEERS)
def test_large_messages_of_real_peers_are_let_in(message):
    assert len(message) > gate.SMALL
    outcome = responder().respond(message)
    assert (outcome.code, outcome.message) == ("000", "ann")


@pytest.mark.parametrize("each", RECORDINGS, ids=lambda each: each.name)
def test_every_recorded_message_that_is_proven_comes_through_the_gate(each, monkeypatch):
    ring = replace(RING, shared=Key(each.key), passwords={"ann": Key(each.key)})
    usual = responder(ring=ring).respond(each.message)
    monkeypatch.setattr(gate, "SMALL", 0)
    outcome = responder(ring=ring).respond(each.message)
    assert outcome.code == usual.code or {outcome.code, usual.code} == {"424", "302"}
    assert (outcome.code == "000") is (usual.code == "000")


@given(REQUESTS, st.integers(0, 4))
def test_whatever_form_was_signed_comes_through_the_gate(request, which):
    plain = write_request(request).encode()
    made = list(forms(opened(envelope(plain))))
    message = envelope(plain, sign(made[min(which, len(made) - 1)], SHARED))
    seen = Responder(lambda call: HandlerAnswer(), Ring(SHARED))
    seen._require_proof(message)
    with pytest.raises(Refused):
        seen._require_proof(envelope(plain, FORGED))


def test_other_forms_than_the_one_that_came_are_made_of_short_bodies_only(monkeypatch):
    message = enveloped(body(TEXT + "<a/>"), after=SIGNATURE, signed=body(TEXT + "<a></a>"))
    monkeypatch.setattr(gate, "FORMS", len(TEXT))
    outcome = responder().respond(message)
    assert (outcome.code, outcome.message) == (
        "424",
        "The signature is not about the Body as it came",
    )


def test_who_need_not_sign_is_bounded_by_tags_and_attributes(parsed):
    liberal = replace(OPEN, unsigned=True, markup_limit=100_000)
    assert responder(liberal).respond(envelope(body("<a/>" * 50_000))).code == "000"
    parsed.clear()
    for filling in ("<a/>" * 100_000, '<a b="" c="" d="" e=""/>' * 20_000):
        assert responder(liberal).respond(envelope(body(filling))).code == "302"
    assert sum(parsed) < 10_000


def test_what_a_message_costs_is_known_before_it_is_parsed(parsed):
    short, long = responder().look(envelope(body(""))), responder().look(GOOD)
    assert short.cost < 20_000
    assert long.cost > 30 * len(GOOD)
    assert responder().look(unlike(GOOD)).cost == 0
    request = Request("Query", "ann", (Object("Job"),), options=(Option("x", "y" * 100_000),))
    plain = write_request(request).encode()
    hidden = encrypted_envelope(encrypt(plain + signed_text(plain), KEY))
    assert responder().look(hidden).cost > len(plain) > len(hidden)
    assert sum(parsed) < 3 * gate._AROUND


def signed_text(plain):
    return envelope(plain, sign(plain, SHARED)).split(b"</Body>")[1].removesuffix(b"</Envelope>\n")


# What no key vouches for


def outcome(message):
    """What a message says and who is proven, or why it is refused."""
    try:
        return read(
            message,
            lambda each, actor: RING.find(each.token, each.name, actor) or unknown(),
            unsigned=True,
        )
    except Refused as error:
        return error.code, error.message


def unknown():
    raise signature.unproven()


PARTS = [
    b"<Body>",
    b"</Body>",
    b"<!--",
    b"-->",
    b"<![CDATA[",
    b"]]>",
    b"<Signature/>",
    b"<x>",
    b"</x>",
    b" ",
    b"\n",
    b"&#97;",
    b"ann",
    b"eve",
    b' actor="eve"',
    b"<Request/>",
    b"\xc3\xa4",
    b"\xff",
    b"<?p?>",
    b"<Envelope>",
    b"</Envelope>",
    b"<Body/>",
    b'"',
    b">",
]


@given(
    st.sampled_from(["ann", "eve"]), st.sampled_from([SHARED, Key(b"own"), Key(b"s3cretpass")]),
    st.lists(st.tuples(st.integers(0, 10**4), st.sampled_from(PARTS), st.sampled_from([0, 0, 1, 7])), max_size=3),
)  # fmt: skip
def test_what_a_key_vouches_for_is_what_the_tree_says(actor, key, changes):
    signed_body = body("<x>1</x>", actor)
    message = envelope(signed_body, sign(signed_body, key))
    for at, part, over in changes:
        place = at % (len(message) + 1)
        message = message[:place] + part + message[place + over :]
    quick = outcome(message)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "vouched", lambda *asked: None)
        assert quick == outcome(message)
    if not changes:
        assert (gate.vouched(message, lambda each, actor: key) is not None) is True


def test_messages_of_real_peers_are_vouched_for_as_they_came():
    found = [
        gate.vouched(each.message, lambda *asked, key=each.key: Key(key)) for each in RECORDINGS
    ]
    assert sum(each is not None for each in found) > len(found) // 2


@pytest.mark.parametrize(
    ("message", "is_apart"),
    [
        (envelope(body(""), sign(body(""), SHARED)), False),
        (envelope(body("")), True),
        (envelope(body(""), FORGED), True),
        (unlike(envelope(body(""), sign(body(""), SHARED))), True),
        (b"<Envelope/>", True),
        (envelope(body(""), sign(body(""), SHARED)).replace(b"<Envelope>", b"<Envelope><late/>"), True),
        (GOOD, False),
        (unlike(GOOD), True),
        (encrypted_envelope(encrypt(b"<Body/>", b"another key")), True),
    ],
)  # fmt: skip
def test_what_no_key_vouches_for_is_parsed_in_a_thread_that_ends(message, is_apart, monkeypatch):
    threads = []
    parse = tree.parse

    def parsed(octets):
        if b"late" in octets or b"Request" in octets or b"<Envelope" in octets:
            threads.append(threading.current_thread())
        return parse(octets)

    monkeypatch.setattr(tree, "parse", parsed)
    responder().respond(message)
    here = threading.main_thread()
    assert threads
    assert (here not in threads) is is_apart
    assert not any(each.is_alive() for each in threads if each is not here)


@pytest.mark.parametrize(
    "message",
    [
        envelope(b"<Body>" + b"<a/>" * 16_000 + b"</Body>"),
        envelope(body("<a/>" * 16_000)),
        enveloped(BODY, head="<Envelope>" + "<a/>" * 1800, after=SIGNATURE),
        enveloped(BODY, after="<a/>" * 1800 + SIGNATURE),
    ],
    ids=["in the Body", "in the Request", "before", "behind"],
)
def test_few_tags_are_read_of_a_stranger(message, parsed):
    """Nor of a sender who puts many around what was signed, for whom nobody vouches either."""
    assert responder().respond(message).code in ("302", "424")
    assert sum(parsed) < 1000


def test_elements_beside_the_request_are_passed_without_a_look(monkeypatch):
    looked, name = [], envelope_module.local
    monkeypatch.setattr(envelope_module, "local", lambda each: looked.append(each) or name(each))
    others = "<a/>" * 800
    message = f"<Envelope>{others[:40]}<Body>{others}<Request/></Body></Envelope>".encode()
    assert len(message) < gate.SMALL
    assert responder().respond(message).code == "424"
    assert len(looked) < 10


def test_names_of_strangers_are_not_kept():
    answering = responder()

    def used():
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    sent, before = 0, used()
    for number in range(6000):
        message = f"<Envelope><n{number}{'x' * 3500}/></Envelope>".encode()
        sent += len(message)
        assert answering.respond(message).code == "240"
    assert used() - before < sent / 2  # it was twice what was sent


def test_a_message_weighs_its_bytes_and_so_much_for_each_tag_and_attribute():
    message = b'<a b="1"/>'
    assert gate.weight(message, 2) == len(message) + 2 * gate._EACH
    with pytest.raises(Refused) as refused:
        gate.weight(message, 1)
    assert refused.value.message == "The message has more than 1 tags and attributes"


CLAIMED = [
    (b'<Body actor="amy"><Request actor="bob"/></Body>', "bob"),
    (b'<Body actor="amy"><Request/></Body>', "amy"),
    (b'<Body actor="&#97;my"></Body>', "amy"),
    (b"<s:Body x='1' actor = 'a my'  ></s:Body>", "a my"),
    (b"<Body></Body >", ""),
    (b'<!--<Request actor="eve"/>--><Body x="                            "></Body>', ""),
]


@pytest.mark.parametrize("inside, actor", CLAIMED)
def test_a_large_message_claims_the_actor_of_its_request_or_of_its_body(inside, actor):
    found = gate.claims(b'<Envelope xmlns:s="urn:s">' + inside + b"</Envelope>")
    assert (found.actor, found.signature) == (actor, None)
    assert bytes(found.body) == inside[inside.rindex(b"--><") + 3 if b"--" in inside else 0 :]


@pytest.mark.parametrize("left, actor", [(0, "amy"), (1, "")])
def test_a_request_is_looked_for_at_the_begin_of_a_body(left, actor):
    request = b'<Request actor="amy"/>'
    space = b" " * (gate._AROUND - len(request) + left)
    message = b"<Envelope><Body>" + space + request + b"</Body></Envelope>"
    assert gate.claims(message).actor == actor


@pytest.mark.parametrize(
    "message, code",
    [
        (b"<Envelope></Body><Body></Envelope>", "302"),
        (b"<Envelope><Body></Envelope>", "302"),
        (b"<Envelope></Body></Envelope>", "302"),
        (b"<Envelope><Body></Body>", "302"),
        (b'<Envelope><Body actor="&bad;"></Body></Envelope>', "302"),
        (b"<Other><Body></Body></Other>", "242"),
    ],
)
def test_what_does_not_begin_and_end_as_an_envelope_is_unclear(message, code):
    with pytest.raises(Refused) as refused:
        gate.claims(message)
    assert refused.value.code == code


@pytest.mark.parametrize(
    "message, seems",
    [
        (b"<Envelope><EncryptedData><CipherValue>", True),
        (b"<EncryptedData>", True),
        (b"EncryptedData", True),
        (b"<Envelope><Body>EncryptedData", False),
        (b"<Envelope>EncryptedData<Body>", False),
        (b"<Body>EncryptedData", False),
        (b"<Envelope/>", False),
        (b" " * gate._AROUND + b"EncryptedData", False),
    ],
)
def test_a_message_seems_encrypted_if_it_names_the_data_and_no_body(message, seems):
    assert gate.is_encrypted(message) is seems


def test_an_encrypted_message_has_so_many_tags():
    inside = b"<EncryptedData><EncryptedKey>a b</EncryptedKey><CipherValue>c</CipherValue></EncryptedData>"
    for tags, is_read in ((gate._TAGS, True), (gate._TAGS + 1, False)):
        more = tags - inside.count(b"<")  # two around the value, for two of the Envelope
        message = b"<Envelope>" + inside + b"<x/>" * more + b"</Envelope>"
        if is_read:
            assert gate.encrypted(message) == ("ab", "", "Symmetric", "")
        else:
            with pytest.raises(Refused):
                gate.encrypted(message)
    with pytest.raises(Refused):
        gate.encrypted(b"<Envelope><CipherValue></CipherValue></Envelope>")


@pytest.mark.parametrize(
    "token, known",
    [
        (b'<SecurityToken type="Password" name="ann"/>', ("Password", "ann")),
        (b'<SecurityToken name="ann"></SecurityToken>', ("Symmetric", "ann")),
        (b"", ("Symmetric", "")),
    ],
)
def test_the_key_of_a_plain_message_is_that_of_its_token(token, known):
    asked = []

    def key_of(signature, actor):
        asked.append((signature.token, signature.name, actor))
        raise Refused("424", "")

    message = (
        b'<Envelope><Body><Request actor="ann"/></Body><Signature><DigestValue>a</DigestValue>'
        b"<SignatureValue>b</SignatureValue>" + token + b"</Signature></Envelope>"
    )
    assert gate.vouched(message, key_of) is None
    assert asked == [(*known, "ann")]
