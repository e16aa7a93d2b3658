"""Signatures verify in every form that real peers digest, and in no other."""
# ruff: noqa: E501 (a row of a table is a line)

import pytest
from gold import KEY, RECORDINGS, recording
from hypothesis import given
from hypothesis import strategies as st
from messages import REQUESTS

from sssjob.errors import Refused
from sssjob.rmap.envelope import opened
from sssjob.rmap.keys import Algorithm, Key
from sssjob.rmap.reading import read_request
from sssjob.rmap.signature import forms, sign, slice_of, verify
from sssjob.rmap.writing import envelope, write_request

SHA256 = (Algorithm.HMAC_SHA256,)
SIGNED = [each for each in RECORDINGS if each.name not in ("enc-query", "noauth-query")]
BODY = b'<Body><Request action="Query" actor="ann"><Object>Job</Object></Request></Body>'


def refused(sealed, key):
    with pytest.raises(Refused) as error:
        verify(sealed, key)
    return error.value.code


@pytest.mark.parametrize("each", SIGNED, ids=lambda each: each.name)
def test_every_recorded_request_verifies_with_its_key_only(each):
    sealed = opened(each.message)
    assert verify(sealed, Key(each.key)) is Algorithm.HMAC_SHA1
    assert refused(sealed, Key(b"another")) == "424"
    assert refused(sealed, Key(each.key, SHA256)) == "424"


def test_the_published_vector_comes_out():
    body = slice_of(recording("raw-ok").message, opened(recording("raw-ok").message).body)
    signature = sign(body, Key(KEY))
    assert len(body) == 134
    assert signature.digest == "BbA+IOELAO49OLUP/QplnOT5xOA="
    assert signature.value == "ygOhRLGti1uYa9TbBeQPLu0C2bQ="


@given(REQUESTS, st.binary(min_size=1, max_size=40), st.sampled_from(Algorithm))
def test_what_is_signed_verifies(request, secret, algorithm):
    body = write_request(request).encode()
    key = Key(secret, (algorithm,))
    sealed = opened(envelope(body, sign(body, key)))
    assert verify(sealed, key) is algorithm
    assert read_request(sealed.body) == request


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_one_other_byte_in_body_or_signature_breaks_it(place, change):
    message = bytearray(envelope(BODY, sign(BODY, Key(KEY))))
    start, end = message.index(b"<Body"), message.index(b"<SecurityToken")
    message[start + place % (end - start)] ^= change
    try:
        sealed = opened(bytes(message))
    except Refused:
        return
    same = sealed.signature == opened(envelope(BODY, sign(BODY, Key(KEY)))).signature
    if same and read_request_or_none(sealed) == read_request(opened(envelope(BODY)).body):
        return  # white space within a tag, say: the same to libxml2, and so to Gold
    assert refused(sealed, Key(KEY)) == "424"


def read_request_or_none(sealed):
    try:
        return read_request(sealed.body)
    except Refused:
        return None


@pytest.mark.parametrize(
    "name, which",
    [
        pytest.param("canon-gt-raw-asis", 0, id="as received"),
        pytest.param("canon-gt-raw-signed-entity", 1, id="escaped by libxml2"),
        pytest.param("canon-empty-selfclosed-signed-expanded", 1, id="end tags"),
        pytest.param("canon-crlf-in-text-as-lf", 1, id="line breaks"),
        pytest.param("canon-latin1-signed-latin1", 2, id="Latin-1"),
    ],
)
def test_each_form_is_the_one_that_a_real_peer_digested(name, which):
    sealed = opened(recording(name).message)
    digests = [sign(form, Key(KEY)).digest for form in forms(sealed)]
    assert digests.index(sealed.signature.digest) == which


@pytest.mark.parametrize(
    "sent, digested",
    [
        pytest.param('<Request b="1" a="2"></Request>', '<Request a="2" b="1"></Request>', id="sorted"),
        pytest.param("<Request  a = '1' />", '<Request a="1"></Request>', id="tags"),
        pytest.param("<Request>&#x41;&quot;</Request>", '<Request>A"</Request>', id="references"),
        pytest.param("<Request><![CDATA[a<b]]></Request>", "<Request><![CDATA[a<b]]></Request>", id="CDATA"),
        pytest.param("<Request><!-- x --></Request>", "<Request><!-- x --></Request>", id="comment"),
        pytest.param("<Request>\r\n a\t</Request>", "<Request>\n a\t</Request>", id="white space"),
        pytest.param("<Request>a&#13;b</Request>", "<Request>a&#13;b</Request>", id="carriage return"),
    ],
)  # fmt: skip
def test_gold_digests_what_libxml2_makes_of_a_body(sent, digested):
    body = f"<Body>{digested}</Body>".encode()
    message = envelope(f"<Body>{sent}</Body>".encode(), sign(body, Key(KEY)))
    assert verify(opened(message), Key(KEY))


def test_a_namespace_of_the_envelope_is_no_part_of_the_body():
    body = b'<Body><Request b="1" a="2"></Request></Body>'
    message = envelope(body.replace(b'b="1"', b"b = '1'"), sign(body, Key(KEY)))
    ours = b'<Envelope xmlns="http://www.scidac.org/ScalableSystems/SSSRMAP" xmlns:x="urn:x">'
    assert verify(opened(message.replace(b"<Envelope>", ours)), Key(KEY))
    with pytest.raises(Refused, match="not an Envelope"):
        opened(message.replace(b"<Envelope>", b'<Envelope xmlns="urn:x">'))


GOOD = envelope(BODY, sign(BODY, Key(KEY)))
EVIL = b'<Request action="Delete" actor="root"><Object>Job</Object></Request>'
SPACE = b"http://www.scidac.org/ScalableSystems/SSSRMAP"
WRAPPED = [
    pytest.param(GOOD.replace(BODY, b"<!--" + BODY + b"--><Body>" + EVIL + b"</Body>"), id="comment"),
    pytest.param(GOOD.replace(BODY, b"<x><![CDATA[" + BODY + b"]]></x><Body>" + EVIL + b"</Body>"), id="CDATA"),
    pytest.param(GOOD.replace(BODY, b"<x>" + BODY + b"</x><Body>" + EVIL + b"</Body>"), id="elsewhere"),
    pytest.param(GOOD.replace(BODY, b"<Body>" + EVIL + b"<x>" + BODY + b"</x></Body>"), id="inside"),
    pytest.param(GOOD.replace(BODY, b"<Body>" + EVIL + b"</Body><!--" + BODY + b"-->"), id="comment behind"),
    pytest.param(GOOD.replace(BODY, b"<Body>" + EVIL + b"<!--" + BODY + b"--></Body>"), id="comment inside"),
    pytest.param(GOOD.replace(BODY, b"<!--" + BODY.removesuffix(b"</Body>") + b"--><Body>" + EVIL + b"</Body>"), id="a tag in a comment"),
    pytest.param(GOOD.replace(BODY, b"<?x " + BODY + b"?><Body>" + EVIL + b"</Body>"), id="instruction"),
    pytest.param(
        GOOD.replace(b"<Envelope>", b'<s:Envelope xmlns:s="' + SPACE + b'">')
        .replace(b"</Envelope>", b"</s:Envelope>")
        .replace(BODY, b"<x>" + BODY + b"</x><s:Body>" + EVIL.replace(b"<", b"<s:").replace(b"<s:/", b"</s:") + b"</s:Body>")
        .replace(b"<Signature>", b'<Signature xmlns="' + SPACE + b'">'),
        id="prefix",
    ),
]  # fmt: skip


@pytest.mark.parametrize("message", WRAPPED)
def test_a_signature_does_not_prove_what_stands_beside_what_was_signed(message):
    sealed = opened(message)
    assert sealed.signature is not None
    assert read_request(sealed.body).action == "Delete"
    assert refused(sealed, Key(KEY)) == "424"


def test_bytes_of_an_encoding_that_may_hide_tags_are_not_compared_as_they_came():
    sealed = opened(GOOD.replace(b"UTF-8", b"EUC-JP"))
    assert slice_of(sealed.raw, sealed.body) is None
    assert slice_of(GOOD, opened(GOOD).body) == BODY
    assert verify(sealed, Key(KEY))


def test_what_stands_between_tags_does_not_hide_the_bytes_of_a_body():
    body = BODY.replace(b"<Object>", b"<!-- x --><?x?><BodyCount/><![CDATA[y]]><Object>")
    sealed = opened(envelope(body, sign(body, Key(KEY))))
    assert slice_of(sealed.raw, sealed.body) == body
    assert next(forms(sealed)) == body


@pytest.mark.parametrize("double", [BODY, b"<Signature></Signature>"])
def test_an_envelope_that_holds_something_twice_is_refused(double):
    with pytest.raises(Refused, match="more than one"):
        opened(GOOD.replace(b"</Envelope>", double + b"</Envelope>"))


def test_a_key_that_java_cuts_is_known_by_its_first_24_characters():
    long = b"gold-test-key-0123456 89 and more"
    assert verify(opened(envelope(BODY, sign(BODY, Key(b"gold-test-key-0123456 89")))), Key(long))
    assert (
        refused(opened(envelope(BODY, sign(BODY, Key(b"gold-test-key-0123456")))), Key(long))
        == "424"
    )


def test_a_key_of_24_characters_is_not_cut_and_keeps_its_blank():
    whole = b"gold-test-key-012345678 "
    assert len(whole) == 24
    assert verify(opened(envelope(BODY, sign(BODY, Key(whole)))), Key(whole))
    assert refused(opened(envelope(BODY, sign(BODY, Key(whole.strip())))), Key(whole)) == "424"


def test_a_digest_with_letters_that_base64_has_not_proves_nothing():
    odd = GOOD.replace(b"<DigestValue>", b"<DigestValue>*")
    assert odd != GOOD
    assert refused(opened(odd), Key(KEY)) == "424"


def test_who_may_use_both_algorithms_is_told_which_it_was():
    both = Key(KEY, (Algorithm.HMAC_SHA256, Algorithm.HMAC_SHA1))
    assert verify(opened(GOOD), both) is Algorithm.HMAC_SHA1
    assert verify(opened(envelope(BODY, sign(BODY, both))), both) is Algorithm.HMAC_SHA256


def test_a_message_without_a_signature_proves_nobody():
    assert refused(opened(recording("noauth-query").message), Key(KEY)) == "424"


def test_a_secret_does_not_show_where_a_key_is_printed():
    assert "secret" not in repr(Key(b"secret"))


def test_maui_signs_before_the_body_names_no_token_and_has_the_actor_outside():
    body = b'<Body actor="maui"><Request action="Quote" object="Job"><Data></Data></Request></Body>'
    signature = sign(body, Key(KEY))
    message = (
        '<Envelope count="1" name="SSSRMAP" version="3.0" type="nonblocking"><Signature>'
        f"<DigestValue>{signature.digest}</DigestValue>"
        f"<SignatureValue>{signature.value}</SignatureValue></Signature>{body.decode()}</Envelope>"
    ).encode()
    sealed = opened(message)
    assert (sealed.signature.token, sealed.signature.name) == ("Symmetric", "")
    assert verify(sealed, Key(KEY))
    assert read_request(sealed.body).actor == "maui"


def test_spaces_of_a_short_key_are_a_part_of_it():
    sealed = opened(envelope(BODY, sign(BODY, Key(b"key"))))
    assert refused(sealed, Key(b" key ")) == "424"
    assert verify(sealed, Key(b"key")) is Algorithm.HMAC_SHA1


def test_a_signature_with_signs_that_base64_lacks_proves_nobody():
    signature = sign(BODY, Key(KEY))
    for other in (
        signature._replace(digest=signature.digest + "?"),
        signature._replace(value=signature.value + "?"),
    ):
        assert refused(opened(envelope(BODY, other)), Key(KEY)) == "424"


def test_a_body_with_two_end_tags_is_not_compared_as_it_came():
    raw = b"<Envelope>" + BODY + b"<!--%s--></Envelope>"
    assert slice_of(raw % b"", opened(raw % b"").body) == BODY
    assert slice_of(raw % b"</Body>", opened(raw % b"</Body>").body) is None


def test_cdata_is_digested_as_it_was_written_by_who_sent_other_tags():
    sent = b"<Envelope><Body><a b='1'/><c><![CDATA[x]]></c></Body></Envelope>"
    received, *others = forms(opened(sent))
    assert received == sent[10:-11]
    assert others
    assert all(b"<![CDATA[x]]>" in each for each in others)


@pytest.mark.parametrize("letter, is_latin", [("\xff", True), ("\u0100", False)])
def test_gold_digests_what_latin_1_has_in_latin_1(letter, is_latin):
    found = [*forms(opened(f"<Envelope><Body>{letter}</Body></Envelope>".encode()))]
    assert f"<Body>{letter}</Body>".encode() in found
    assert (f"<Body>{letter}</Body>".encode("latin-1", "replace") in found) is is_latin
