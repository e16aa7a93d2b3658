"""Signing and verifying: an HMAC over the digest of a Body."""

from __future__ import annotations

import base64
import hashlib
import hmac

from sssjob.errors import Refused
from sssjob.rmap.envelope import SYMMETRIC, Envelope, Signature
from sssjob.rmap.forms import forms
from sssjob.rmap.keys import Algorithm, Key

# Characters of a digest in base64.
_LENGTHS = {one: -(-hashlib.new(one.hash).digest_size // 3) * 4 for one in Algorithm}
_JAVA = 24  # characters of a key that Gold's Java client uses


def sign(
    body: bytes,
    key: Key,
    *,
    algorithm: Algorithm | None = None,
    token: str = SYMMETRIC,
    name: str = "",
) -> Signature:
    """Sign the bytes of a Body element, its tags included, by the first algorithm of the key.

    The HMAC is over the binary digest, not over the Body.

    >>> sign(b"<Body></Body>", Key(b"gold-test-key-0123456789")).digest
    'irX1+GI4qym1ECzqW2geHynzqEg='
    """
    chosen = algorithm or key.algorithms[0]
    digest = hashlib.new(chosen.hash, body).digest()
    return Signature(_text(digest), _text(_mac(key.secret, digest, chosen)), token, name)


def verify(envelope: Envelope, key: Key) -> Algorithm:
    """How an envelope was signed with a key. Raises ``Refused`` (424) if it was not.

    The Body may be digested in any form that real peers use. They are made only for a digest that
    the key has signed, since they cost more than all the rest.
    """
    signature = envelope.signature
    if signature is None:
        raise Refused("424", "The message is not signed")
    algorithm = promised(signature, key)
    if not any(is_digest(signature, form, algorithm) for form in forms(envelope)):
        raise unproven()
    return algorithm


def promised(signature: Signature, key: Key) -> Algorithm:
    """How a key has signed the digest of a signature, whatever that is the digest of.

    The code is compared in constant time. Raises ``Refused`` (424) if the key has not.
    """
    for algorithm in key.algorithms:  # their digests differ in length
        if len(signature.digest) == _LENGTHS[algorithm]:
            digest = _bytes(signature.digest)
            if any(_proves(secret, digest, algorithm, signature) for secret in _secrets(key)):
                return algorithm
    raise unproven()


def is_digest(signature: Signature, form: bytes | memoryview, algorithm: Algorithm) -> bool:
    """Whether the digest of a signature is that of these bytes; it is no secret."""
    return _text(hashlib.new(algorithm.hash, form).digest()) == signature.digest


def unproven() -> Refused:
    """What is said of a signature by nobody knows whom."""
    return Refused("424", "The signature does not prove the actor")


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise unproven() from None


def _secrets(key: Key) -> list[bytes]:
    """The key, and what Gold's Java client makes of a longer one."""
    short = key.secret[:_JAVA].strip()
    return [key.secret] if len(key.secret) <= _JAVA or not short else [key.secret, short]


def _proves(secret: bytes, digest: bytes, algorithm: Algorithm, signature: Signature) -> bool:
    expected = _text(_mac(secret, digest, algorithm))
    return hmac.compare_digest(expected.encode(), signature.value.encode())


def _mac(secret: bytes, digest: bytes, algorithm: Algorithm) -> bytes:
    return hmac.digest(secret, digest, algorithm.hash)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
