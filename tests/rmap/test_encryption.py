"""Encrypted messages of a real Gold are opened, and what we encrypt it could open."""

import base64
import gzip

import pytest
from gold import FOLDER, KEY, documents, recording
from hypothesis import given
from hypothesis import strategies as st

from sssjob.errors import Refused
from sssjob.rmap import encryption
from sssjob.rmap.encryption import decrypt, encrypt
from sssjob.rmap.envelope import Encrypted, opened
from sssjob.rmap.writing import encrypted_envelope

PLAIN = b"<Body><Request></Request></Body>"


@pytest.mark.parametrize("way", ["c2s", "s2c"])
def test_what_gold_and_its_client_encrypted_is_opened(way):

    each = recording("enc-query")
    (document,) = documents(each.sent if way == "c2s" else each.answered)
    expected = (FOLDER / f"enc-query.{way}.plain.xml").read_bytes()
    assert decrypt(opened(document).encrypted, KEY, limit=1000) == expected


@given(st.binary(min_size=1, max_size=300), st.binary(min_size=1, max_size=40))
def test_what_is_encrypted_is_opened_with_its_key(plain, secret):
    hidden = opened(encrypted_envelope(encrypt(plain, secret, name="ann"))).encrypted
    assert (hidden.token, hidden.name) == ("Symmetric", "ann")
    assert decrypt(hidden, secret, limit=300) == plain


def test_keys_and_vectors_that_gold_cannot_open_are_drawn_again(monkeypatch):
    drawn = iter([b"\0" * 8, b"\1" * 8])
    monkeypatch.setattr(encryption.secrets, "token_bytes", lambda size: next(drawn))
    assert encryption._drawn_without_trap() == b"\1" * 8
    trap = next(
        key
        for number in range(10_000)
        if encryption._checksum(key := number.to_bytes(24, "big")).endswith(b"\0")
    )
    drawn = iter([trap, b"\2" * 24])
    assert encryption._session_key() == b"\2" * 24


def test_a_vector_with_a_zero_is_opened_all_the_same():
    wrapped = encryption._wrapped(b"\5" * 24, KEY, b"\0" * 8)
    assert encryption._unwrapped(wrapped, KEY) == b"\5" * 24


def spoilt(**changes):
    return encrypt(PLAIN, KEY)._replace(**changes)


def padded_with(end):
    """An encrypted message whose last bytes are these."""
    hidden = encrypt(PLAIN, KEY)
    session = encryption.opens(hidden, KEY)
    value = base64.b64decode(hidden.value)
    start = value[:8]
    plain = encryption._decrypted(value[8:], session, start)
    plain = plain[: -plain[-1]]
    plain += bytes(-(len(plain) + len(end)) % 8) + end
    made = start + encryption._encrypted(plain, session, start)
    return hidden._replace(value=base64.b64encode(made).decode())


def cut_off():
    """An encrypted message whose packed text ends early."""
    hidden = encrypt(PLAIN, KEY)
    session = encryption.opens(hidden, KEY)
    start = base64.b64decode(hidden.value)[:8]
    plain = gzip.compress(PLAIN, mtime=0)[:16] + b"\x08" * 8
    made = start + encryption._encrypted(plain, session, start)
    return hidden._replace(value=base64.b64encode(made).decode())


WHOLE = encrypt(PLAIN, KEY)
BAD = [
    pytest.param(padded_with(b"\0"), id="padded by nothing"),
    pytest.param(padded_with(b"\x09" * 9), id="padded by more than a block"),
    pytest.param(padded_with(b"\1\2"), id="padded by other bytes"),
    pytest.param(WHOLE._replace(value=WHOLE.value + "?"), id="more than base64"),
    pytest.param(WHOLE._replace(key=WHOLE.key + "?"), id="a key that is more than base64"),
    pytest.param(encrypt(b"a" * 1001, KEY), id="a byte too long"),
    pytest.param(encrypt(PLAIN, b"x" * 24), id="another key"),
    pytest.param(spoilt(key=""), id="no key"),
    pytest.param(spoilt(key="?"), id="no base64"),
    pytest.param(spoilt(value=base64.b64encode(b"a" * 8).decode()), id="too short"),
    pytest.param(spoilt(value=base64.b64encode(b"a" * 9).decode()), id="a block and a byte"),
    pytest.param(cut_off(), id="a packed text without its end"),
    pytest.param(spoilt(value=base64.b64encode(b"a" * 64).decode()), id="other bytes"),
    pytest.param(spoilt(value=base64.b64encode(b"a" * 63).decode()), id="no blocks"),
    pytest.param(encrypt(b"a" * 1_000_000, KEY), id="a bomb"),
]


@pytest.mark.parametrize("hidden", BAD)
def test_what_cannot_be_opened_is_refused_without_telling_why(hidden):
    with pytest.raises(Refused) as refused:
        decrypt(Encrypted(*hidden), KEY, limit=1000)
    assert (refused.value.code, refused.value.message) == ("434", "The message cannot be decrypted")


def test_what_is_refused_for_a_sign_too_many_is_opened_without_it():
    assert decrypt(WHOLE, KEY, limit=1000) == PLAIN


def test_a_message_may_be_as_long_as_the_limit():
    assert decrypt(encrypt(b"a" * 1000, KEY), KEY, limit=1000) == b"a" * 1000
