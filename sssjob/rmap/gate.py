"""What the bytes of a message tell before anything of it is parsed: enough to refuse strangers.

Strategy. Whoever can connect can send a large message, and its tree takes some forty times as
many bytes. Whether a key signed a message is said inside of it, where only a parser sees it for
certain.

The idea is that a large message has one large part, its Body, or what is encrypted. What is
around that part is small: its beginning and end are looked for within a few kilobytes of either
end of the message, and only what is around it is parsed. That gives who is claimed to have sent
it, and the signature. Its code has to be that of the digest that it holds, and the digest that of
the Body, whose bytes are asked here if they are more than ``FORMS``. So a stranger costs little
more than a pass over bytes, unless the site takes messages without a signature.

libxml2 keeps each name that it has read for as long as its thread lasts. So what no key vouches
for, byte by byte (``vouched``), is parsed in a thread that ends with it (``apart``); else strangers
would fill the table of names, of which nothing is given back.

Why it is right: nothing that is read here is believed. What comes through is parsed and proven
once more by its tree, so that a mistake here can refuse a message, and never accept one. Messages
of up to ``SMALL`` bytes go straight to their tree, whatever form they have:
it takes no longer than the rest of an answer.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.document import tree
from sssjob.document.limits import markup_of
from sssjob.document.parsing import parsed
from sssjob.errors import Refused, UnreadableDocument
from sssjob.rmap.envelope import SYMMETRIC, Encrypted, Signature, around, local
from sssjob.rmap.keys import Algorithm, Key
from sssjob.rmap.signature import is_digest, promised

T = TypeVar("T")
KeyOf = Callable[[Signature, str], Key]  # of a signature and an actor; it may raise ``Refused``

SMALL = 4 << 10  # bytes of a message that may become a tree, whoever sent it
FORMS = 1 << 20  # bytes of a Body that may be digested in other forms than it came in
_AROUND = 8 << 10  # bytes of a large message in front of its Body, and behind it
_TAGS = 64  # of an encrypted message, or around a Body
_EACH = 450  # bytes for a tag or attribute: parsed, read, made a job object, written
_NAME = rb"(?:[\w.-]+:)?"  # the prefix of a name, if it has one
_REST = rb"""(?=[\s/>])(?:[^<>"']|"[^"<]*"|'[^'<]*')*>"""  # of a start tag
_REQUEST = re.compile(rb"<" + _NAME + rb"Request" + _REST)
_SPACE = rb"[ \t\r\n]*"
_BEFORE = re.compile(
    _SPACE
    + rb"(?:<\?xml version=[\"']1.0[\"'](?: encoding=[\"'](?:UTF|utf)-8[\"'])?[^<>=]*\?>)?"
    + _SPACE
    + rb"<Envelope>"
    + _SPACE
    + rb"(?=<Body><Request[^<>]*?\sactor=\"([^\"&<]*)\")"
)
_AFTER = re.compile(
    _SPACE
    + rb"<Signature>"
    + _SPACE
    + rb"<DigestValue>([\w+/=]*)</DigestValue>"
    + _SPACE
    + rb"<SignatureValue>([\w+/=]*)</SignatureValue>"
    + _SPACE
    + rb"(?:<SecurityToken(?: type=\"(\w*)\")?(?: name=\"([\w.@-]*)\")?"
    + rb"(?:/>|></SecurityToken>))?"
    + _SPACE
    + rb"</Signature>"
    + _SPACE
    + rb"</Envelope>"
    + _SPACE
)
_ACTOR = re.compile(rb"""\sactor\s*=\s*(?:"[^"]*"|'[^']*')""")


class Claims(NamedTuple):
    """Who a large message says it is from, and how it says that this is proven."""

    actor: str
    body: memoryview
    signature: Signature | None


class Voucher(NamedTuple):
    """How a key has signed the bytes of a Body."""

    actor: str
    body: bytes
    signature: Signature
    key: Key
    algorithm: Algorithm


class _LargePart(NamedTuple):
    """The start tag and the end tag of the one large part of a message."""

    start: re.Pattern[bytes]
    end: re.Pattern[bytes]

    @classmethod
    def named(cls, name: bytes) -> _LargePart:
        return cls(
            re.compile(rb"<" + _NAME + name + _REST), re.compile(rb"</" + _NAME + name + rb"\s*>")
        )


_BODY, _CIPHER = _LargePart.named(b"Body"), _LargePart.named(b"CipherValue")


def weight(message: bytes, most: int) -> int:
    """About how many bytes a message takes from its tree to its answer, itself included.

    Raises ``Refused`` (302) for more than ``most`` tags and attributes.
    """
    markup = markup_of(message)
    if markup > most:
        raise Refused("302", f"The message has more than {most} tags and attributes")
    return len(message) + markup * _EACH


def claims(message: bytes) -> Claims:
    """What a large message claims.

    Raises ``Refused``: 302 where it does not begin and end as an Envelope with a Body does, 242
    for another root.
    """
    tag, start, end = _found(message, _BODY)
    request = _REQUEST.search(message, start + len(tag), start + len(tag) + _AROUND)
    actor = _actor(request[0]) if request else ""
    signature, _ = around(_without(message, start, end))
    return Claims(actor or _actor(tag), memoryview(message)[start:end], signature)


def vouched(message: bytes, key_of: KeyOf) -> Voucher | None:
    """Whether a key has signed the Body as it came, in the plainest form of an Envelope.

    Nothing that could be something else is around it, no namespace and no other encoding. None
    for all others, of which a tree has to tell.
    """
    end = message.rfind(b"</Body>") + len(b"</Body>")
    before, after = _BEFORE.match(message), _AFTER.fullmatch(message, end)
    if before is None or after is None:
        return None
    actor, body = before[1].decode("latin-1"), message[before.end() : end]
    digest, value, token, name = ((each or b"").decode("latin-1") for each in after.groups())
    signature = Signature(digest, value, token or SYMMETRIC, name)
    try:
        key = key_of(signature, actor)
        algorithm = promised(signature, key)
    except Refused:
        return None
    found = Voucher(actor, body, signature, key, algorithm)
    return found if is_digest(signature, body, algorithm) else None


def apart(make: Callable[[], T]) -> T:
    """Make something in a thread of its own, with which the names end that libxml2 read for it."""
    found: list[T] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            found.append(make())
        except Exception as error:  # whichever it is, it is that of who asked
            failed.append(error)

    thread = threading.Thread(target=run, name="unproven")
    thread.start()
    thread.join()
    if failed:
        raise failed.pop()  # a list that kept it would keep the message, too
    return found[0]


def is_encrypted(message: bytes) -> bool:
    """Whether a message seems to be encrypted: Gold's clients put nothing before EncryptedData."""
    there = message.find(b"EncryptedData", 0, _AROUND) >= 0
    return there and _BODY.start.search(message, 0, _AROUND) is None


def encrypted(message: bytes) -> Encrypted:
    """How a large message is encrypted, without what is. Raises ``Refused`` as ``claims`` does."""
    _, start, end = _found(message, _CIPHER)
    if message.count(b"<", start, end) > 2:  # it is a text, however long
        raise _unclear()
    _, found = around(_without(message, start, end))
    if found is None:
        raise _unclear()
    return found


def _found(message: bytes, part: _LargePart) -> tuple[bytes, int, int]:
    """The start tag of a part, and where the part begins and ends."""
    start = part.start.search(message, 0, _AROUND)
    ends = list(part.end.finditer(message, max(len(message) - _AROUND, 0)))
    if start is None or not ends or ends[-1].start() < start.end():
        raise _unclear()
    return start[0], start.start(), ends[-1].end()


def _without(message: bytes, start: int, end: int) -> Element:
    """The Envelope without its one large part."""
    outside = message[:start] + message[end:]
    if outside.count(b"<") > _TAGS:
        raise _unclear()
    try:
        root = tree.parse(outside)
    except UnreadableDocument:
        raise _unclear() from None
    if local(root) != "Envelope":
        raise Refused("242", "The root of the message is not an Envelope")
    return root


def _actor(tag: bytes) -> str:
    """The actor that a start tag names, "" if it names none."""
    found = _ACTOR.search(tag)
    if found is None:
        return ""
    try:
        return parsed(b"<a" + found[0] + b"/>").get("actor", "")
    except etree.XMLSyntaxError:
        raise _unclear() from None


def _unclear() -> Refused:
    return Refused(
        "302",
        "A message of this size is well-formed XML in an encoding like ASCII: an Envelope with one "
        "Body, and little else",
    )
