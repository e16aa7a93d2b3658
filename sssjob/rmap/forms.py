"""The forms of a Body that real peers digest: the bytes that went over the wire, or libxml2's.

Gold does not digest what it received. It parses the message and digests libxml2's text of the
Body: empty elements with an end tag, ``&gt;`` everywhere, character references resolved, no
namespace from outside, and one byte of Latin-1 for each character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.rmap.envelope import Envelope, elements

_BODY = re.compile(rb"<Body(?:[ \t\r\n][^>]*)?(?:/>|>.*</Body[ \t\r\n]*>)", re.DOTALL)
_TAGS, _END_TAGS = re.compile(rb"<Body[ \t\r\n/>]"), re.compile(rb"</Body[ \t\r\n>]")
_PLAIN = ("UTF-8", "US-ASCII", "ASCII", "ISO-8859-1")  # `<` is one byte, and that byte is `<`
# An Envelope is serialised with one child here, and `>` never stands in an attribute.
_ENVELOPE = re.compile(rb"<[^>]*>(.*)</[^>]*>", re.DOTALL)


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
