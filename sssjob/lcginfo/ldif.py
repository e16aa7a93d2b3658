"""LDIF, the text form of directory entries (RFC 2849): read entries, write lines.

The reader takes folded lines, base64, comments and both kinds of line ends. It never follows the
URL of a value, and it does not know change records: an entry is a name and its attributes.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from sssjob.errors import LimitExceeded, SSSJobError, quoted, unheard
from sssjob.lcginfo.snapshot import Remark, Report
from sssjob.visible import Ldif

SIZE_LIMIT = 1 << 24

# RFC 2849, SAFE-STRING; "values ... that end with SPACE SHOULD be base-64 encoded".
_SAFE = re.compile(r"(?:[^\x00\n\r :<\x80-\U0010ffff](?:[^\x00\n\r\x80-\U0010ffff]*"
                   r"[^\x00\n\r \x80-\U0010ffff])?)?")  # fmt: skip
_LINE = re.compile(r"([^\x00-\x20:]++):(:|<)? *(.*)", re.DOTALL)


class BadLDIF(SSSJobError, ValueError):
    """Static entries that nothing can be published for; the message says which and why."""


@dataclass(frozen=True, slots=True)
class LdifEntry:
    """An entry: where it begins, its name, the lines that said so, its attributes in order.

    ``head`` is the ``dn`` line as it stood, folds included. Bytes that are no UTF-8 are kept as
    surrogates, so that ``encoded`` gives them back.
    """

    line: int
    dn: str
    head: Ldif
    attributes: tuple[tuple[str, str], ...] = ()

    def all(self, name: str) -> tuple[str, ...]:
        """The values of an attribute; its name counts in any case."""
        wanted = name.lower()
        return tuple(value for key, value in self.attributes if key.lower() == wanted)


def read(data: bytes, report: Report = unheard) -> Iterator[LdifEntry]:
    """The entries of a text; a line that cannot be used is reported and left out.

    Raises ``LimitExceeded``, and ``BadLDIF`` for an entry whose name cannot be read.

    >>> [entry.dn for entry in read(b"dn: o=gr\\n id\\no: grid\\n\\n# nothing\\ndn:: bz1nbHVl\\n")]
    ['o=grid', 'o=glue']
    """
    if len(data) > SIZE_LIMIT:
        raise LimitExceeded("bytes of LDIF", SIZE_LIMIT)
    draft = _Draft()
    for number, raw in _lines(data):
        if not raw:
            yield from draft.finished()
            continue
        pair = _pair(number, raw.replace("\n ", ""), report)
        if pair is None:
            continue
        name, value = pair
        if name.lower() == "dn":
            # Old writers forget the blank line between entries.
            yield from draft.finished()
            draft = _Draft(number, value, Ldif(raw))
        elif draft.head:
            draft.attributes.append(pair)
        elif name.lower() != "version":
            report(Remark(number, f"{name} belongs to no entry"))
    yield from draft.finished()


def line(name: str, value: str) -> Ldif:
    """One attribute as a line without its end, in base64 where the value asks for it.

    Lines are not folded: those who merge entries by text match them whole.

    >>> line("GlueCEName", "long"), line("GlueCEName", " long")
    ('GlueCEName: long', 'GlueCEName:: IGxvbmc=')
    """
    if _SAFE.fullmatch(value):
        return Ldif(f"{name}: {value}")
    return Ldif(f"{name}:: {base64.b64encode(encoded(value)).decode('ascii')}")


def encoded(text: str) -> bytes:
    """The bytes of what was read here, as they were."""
    return text.encode("utf-8", "surrogateescape")


@dataclass(slots=True)
class _Draft:
    """An entry while its lines come in; without a head there is none."""

    line: int = 0
    dn: str = ""
    head: Ldif = field(default_factory=Ldif)
    attributes: list[tuple[str, str]] = field(default_factory=list)

    def finished(self) -> Iterator[LdifEntry]:
        if self.head:
            yield LdifEntry(self.line, self.dn, self.head, tuple(self.attributes))
        self.head = Ldif()


def _lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Each line with its number, folds within it as ``\\n``; "" between entries; no comments."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    start, parts = 0, list[str]()
    for number, raw in enumerate(text.split("\n"), 1):
        part = raw.removesuffix("\r")
        if part.startswith(" ") and parts:
            parts.append(part)
            continue
        if parts and not parts[0].startswith("#"):
            yield start, "\n".join(parts)
        start, parts = number, [part]
        if not part.strip():
            yield number, ""
            parts = []
    if parts and not parts[0].startswith("#"):
        yield start, "\n".join(parts)


def _pair(number: int, text: str, report: Report) -> tuple[str, str] | None:
    """Name and value of an unfolded line, or None if it is none."""
    found = _LINE.fullmatch(text)
    if found is None:
        report(Remark(number, f"{quoted(text)} is not 'attribute: value'"))
        return None
    name, form, value = found[1], found[2], found[3]
    problem = ""
    if form == "<":
        problem = "a value at a URL is not fetched"
    elif form == ":":
        try:
            octets = base64.b64decode(value.strip(), validate=True)
            value = octets.decode("utf-8", "surrogateescape")
        except (binascii.Error, ValueError):
            problem = "its value is not base64"
    if not problem:
        return name, value
    if name.lower() == "dn":
        raise BadLDIF(f"line {number}: dn: {problem}")
    report(Remark(number, f"{name}: {problem}"))
    return None
