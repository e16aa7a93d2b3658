"""Signing and verifying: an HMAC over the digest of a Body, in the forms that real peers digest.

Gold does not digest what it received. It parses the message and digests libxml2's text of the
Body: empty elements with an end tag, ``&gt;`` everywhere, character references resolved, no
namespace from outside, and one byte of Latin-1 for each character.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator
from copy import deepcopy

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.errors import Refused
from sssjob.rmap.envelope import (
    SYMMETRIC,
    Envelope,
    Signature,
    base64_bytes,
    base64_text,
    elements,
)
from sssjob.rmap.keys import Algorithm, Key

# Characters of a digest in base64.
_LENGTHS = {one: -(-hashlib.new(one.hash).digest_size // 3) * 4 for one in Algorithm}
_JAVA = 24  # characters of a key that Gold's Java client uses
_BODY = re.compile(rb"<Body(?:[ \t\r\n][^>]*)?(?:/>|>.*</Body[ \t\r\n]*>)", re.DOTALL)
_TAGS, _END_TAGS = re.compile(rb"<Body[ \t\r\n/>]"), re.compile(rb"</Body[ \t\r\n>]")
_PLAIN = ("UTF-8", "US-ASCII", "ASCII", "ISO-8859-1")  # `<` is one byte, and that byte is `<`
# An Envelope is serialised with one child here, and `>` never stands in an attribute.
_ENVELOPE = re.compile(rb"<[^>]*>(.*)</[^>]*>", re.DOTALL)


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
    return Signature(
        base64_text(digest), base64_text(_mac(key.secret, digest, chosen)), token, name
    )


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
    return base64_text(hashlib.new(algorithm.hash, form).digest()) == signature.digest


def unproven() -> Refused:
    """What is said of a signature by nobody knows whom."""
    return Refused("424", "The signature does not prove the actor")


def _bytes(text: str) -> bytes:
    try:
        return base64_bytes(text)
    except ValueError:
        raise unproven() from None


def _secrets(key: Key) -> list[bytes]:
    """The key, and what Gold's Java client makes of a longer one."""
    short = key.secret[:_JAVA].strip()
    return [key.secret] if len(key.secret) <= _JAVA or not short else [key.secret, short]


def _proves(secret: bytes, digest: bytes, algorithm: Algorithm, signature: Signature) -> bool:
    expected = base64_text(_mac(secret, digest, algorithm))
    return hmac.compare_digest(expected.encode(), signature.value.encode())


def _mac(secret: bytes, digest: bytes, algorithm: Algorithm) -> bytes:
    return hmac.digest(secret, digest, algorithm.hash)


def forms(envelope: Envelope) -> Iterator[bytes]:
    """What the sender may have digested, the likeliest first.

    These are the received bytes; libxml2's form in UTF-8, and in Latin-1; both once more with
    attributes in alphabetical order. An encrypted envelope has none.
    """
    if envelope.body is None:
        return
    if (received := slice_of(envelope.raw, envelope.body)) is not None:
        yield received
    body = _as_gold_reads_it(envelope)
    yield from _serialised(body)
    for element in body.iter("*"):
        if len(element.attrib) > 1:
            attributes = sorted(element.attrib.items())
            element.attrib.clear()
            element.attrib.update(attributes)
    yield from _serialised(body)


def slice_of(raw: bytes, body: Element) -> bytes | None:
    """The bytes of the Body within the message; None where it is not certain which they are.

    A second Body, were it in a comment, in CDATA or with a prefix, and encodings such as UTF-7
    could make other bytes look like the Body that was parsed: then nothing is taken from the
    bytes. Where there is but one tag ``<Body`` and the Body that was parsed has it, it is that.
    """
    encoding = body.getroottree().docinfo.encoding
    if encoding is not None and encoding.upper() not in _PLAIN:
        return None
    if body.prefix or len(_TAGS.findall(raw)) != 1 or len(_END_TAGS.findall(raw)) > 1:
        return None
    found = _BODY.search(raw)
    return found[0] if found else None


def _as_gold_reads_it(envelope: Envelope) -> Element:
    """The Body alone in a copy of its Envelope, with an end tag for each element."""
    assert envelope.body is not None
    root = envelope.body.getparent()
    if b"<![CDATA[" in envelope.raw:
        # It is digested as it was written, which the usual parser does not keep.
        root = etree.fromstring(envelope.raw, _keeping_cdata())
    assert root is not None
    root = deepcopy(root)
    body = next(child for name, child in elements(root) if name == "Body")
    for child in list(root):
        if child is not body:
            root.remove(child)
    root.text = body.tail = None
    for element in body.iter("*"):
        if not len(element) and element.text is None:
            element.text = ""
    return body


def _keeping_cdata() -> etree.XMLParser:
    return etree.XMLParser(
        strip_cdata=False, resolve_entities=False, no_network=True, load_dtd=False
    )


def _serialised(body: Element) -> Iterator[bytes]:
    root = body.getparent()
    assert root is not None
    # A Body alone would get the namespaces of its Envelope.
    around = _ENVELOPE.fullmatch(etree.tostring(root, encoding="UTF-8"))
    assert around is not None
    yield around[1]
    if not around[1].isascii():
        text = around[1].decode()
        if max(text) <= "\xff":  # Gold cannot read what Latin-1 does not have
            yield text.encode("latin-1")
