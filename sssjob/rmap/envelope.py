"""The Envelope around a message: its Body, and what proves or hides it."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from lxml.etree import _Element as Element

from sssjob import spec
from sssjob.document import tree
from sssjob.document.places import split
from sssjob.errors import Finding, Refused, UnreadableDocument

SYMMETRIC, PASSWORD = "Symmetric", "Password"
_LONGEST = 200  # characters of a name with its namespace; names of strangers are remembered
_NO_XML = "The message is not well-formed XML, or too deep"
_ONCE = ("Body", "Signature", "EncryptedData")


def base64_text(data: bytes) -> str:
    """Bytes as they stand in an envelope."""
    return b64encode(data).decode()


def base64_bytes(text: str) -> bytes:
    """The bytes that such a text stands for. Raises ``ValueError``."""
    return b64decode(text, validate=True)


class Signature(NamedTuple):
    """What proves who sent a Body: texts in base64, and whose key it was.

    ``name`` is "" where the peer leaves it to the actor to say whose.
    """

    digest: str
    value: str
    token: str = SYMMETRIC
    name: str = ""


class Encrypted(NamedTuple):
    """A Body and its signature that only the holder of a key can read; texts in base64."""

    key: str
    value: str
    token: str = SYMMETRIC
    name: str = ""


@dataclass(frozen=True, slots=True)
class Envelope:
    """An envelope that was opened. It has a body, or else it is encrypted.

    ``raw`` is the whole message as it came, which a signature may be about.
    """

    raw: bytes
    body: Element | None
    signature: Signature | None = None
    encrypted: Encrypted | None = None


def opened(raw: bytes) -> Envelope:
    """Open an envelope, in the namespace of SSSRMAP or in none.

    Raises ``Refused``: 244 for nothing, 302 for what is not XML, 242 for another root, 240 where
    it is not clear which Body is meant.
    """
    if not raw.strip():
        raise Refused("244", "The message is empty")
    try:
        root = tree.parse(raw)
    except UnreadableDocument as error:
        raise Refused("302", f"{_NO_XML}: {_place(error.finding)}{error.finding.message}") from None
    if local(root) != "Envelope":
        raise Refused("242", "The root of the message is not an Envelope")
    parts: dict[str, Element] = {}
    for name, child in named(root, *_ONCE):
        # What is signed and what is acted upon have to be the same.
        if name in parts:
            raise Refused("240", f"The Envelope holds more than one {name}")
        parts[name] = child
    body, signature, encrypted = (parts.get(name) for name in _ONCE)
    if (body is None) == (encrypted is None):
        raise Refused("240", "The Envelope needs one Body, or one EncryptedData")
    return Envelope(raw, body, _signature(signature), _encrypted(encrypted))


def _place(found: Finding) -> str:
    """Where the fault stands in the message, if that is known."""
    places = (("line", found.line), ("column", found.column))
    told = ", ".join(f"{name} {number}" for name, number in places if number)
    return f"{told}: " if told else ""


def signed_body(body: bytes) -> Element:
    """The tree of the bytes of a Body, which no namespace or encoding from outside changes.

    Raises ``Refused`` (302).
    """
    try:
        return tree.parse(body)
    except UnreadableDocument:  # of what was encrypted, nothing is told to who may try keys
        raise Refused("302", _NO_XML) from None


def around(root: Element) -> tuple[Signature | None, Encrypted | None]:
    """What stands in an Envelope beside its Body."""
    parts = dict(named(root, *_ONCE))
    return _signature(parts.get("Signature")), _encrypted(parts.get("EncryptedData"))


def local(element: Element) -> str:
    """The name of an element of SSSRMAP; "" for a comment, foreign namespaces, what is too long.

    Gold's programs use no namespace; some declare that of SSSRMAP on the Envelope.
    """
    tag = element.tag
    if not isinstance(tag, str) or len(tag) > _LONGEST:
        return ""
    return _known(tag) if tag[0] == "{" else tag


@lru_cache(1 << 12)
def _known(tag: str) -> str:
    namespace, name = split(tag)
    return name if namespace in spec.NAMESPACES else ""


def elements(element: Element) -> list[tuple[str, Element]]:
    """The elements within an element, each with its name."""
    return [(name, child) for child in element if (name := local(child))]


def named(element: Element, *names: str) -> list[tuple[str, Element]]:
    """The elements of some names within an element of which it is not known yet who sent it.

    All others are passed by libxml2, however many they are.
    """
    found = element.iterchildren(*(f"{{*}}{name}" for name in names))
    return [(name, child) for child in found if (name := local(child))]


def text(element: Element) -> str:
    """The whole text of an element, whatever comments stand in between."""
    if not len(element):
        return element.text or ""
    return "".join([element.text or "", *(child.tail or "" for child in element)])


def _signature(element: Element | None) -> Signature | None:
    if element is None:
        return None
    parts = dict(elements(element))
    return Signature(
        _base64(parts, "DigestValue"), _base64(parts, "SignatureValue"), *_token(parts)
    )


def _encrypted(element: Element | None) -> Encrypted | None:
    if element is None:
        return None
    parts = dict(elements(element))
    key, value = _base64(parts, "EncryptedKey"), _base64(parts, "CipherValue")
    return Encrypted(key, value, *_token(parts))


def _base64(parts: dict[str, Element], name: str) -> str:
    return "".join(text(parts[name]).split()) if name in parts else ""


def _token(parts: dict[str, Element]) -> tuple[str, str]:
    """A missing token means Symmetric: Maui sends none."""
    token = parts.get("SecurityToken")
    if token is None:
        return SYMMETRIC, ""
    return token.get("type") or SYMMETRIC, token.get("name") or ""
