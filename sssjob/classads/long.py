"""The long form, also called old ClassAds: an attribute a line, as daemons give it to hooks."""

from __future__ import annotations

import re

from sssjob.classads.values import Ad, Unparsed, bad

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sssjob.classads.errors import BadAd, OnError
    from sssjob.classads.values import Attribute

SEPARATOR = "-----"  # between the ads that a hook is given
LINE_LIMIT = 1 << 20  # bytes of one line
ATTRIBUTES_LIMIT = 100_000  # of one ad

# "typeset as a dash in the manual"
_SEPARATORS = (SEPARATOR, "\N{EM DASH}", "\N{EM DASH}\N{EN DASH}", "\N{EM DASH}-")
_WORDS: dict[str, bool] = {"true": True, "false": False}

# Group by group: what a line can stand for without being parsed as an expression.
_LINE = re.compile(
    r"""([A-Za-z_][A-Za-z0-9_.]*|'[^'\\]+')[ \t]*=(?!=)[ \t]*
        (?:(-?(?:0|[1-9][0-9]{0,17})(?![^\s]))|"((?:[^"\\\r\0]|\\"?)*+)"|([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])
         |(-?[0-9]{1,15}(?:\.[0-9]{1,17}(?:[eE][+-]?[0-9]{1,3})?|[eE][+-]?[0-9]{1,3})))?""",
    re.VERBOSE,
)
_INTEGER, _STRING, _BOOLEAN, _REAL = 2, 3, 4, 5


def read(
    lines: Iterable[bytes], *, strict: bool = False, lazy: bool = False,
    on_error: OnError | None = None,
) -> Iterator[Ad]:  # fmt: skip
    """The ads of lines: an empty line, a banner (``***``) or ``-----`` ends one.

    ``strict`` reads what a hook may answer: one ad, no comments, no carriage return, no blanks
    where HTCondor trips over them. ``lazy`` leaves expressions unparsed, and their faults to
    whoever asks for them. A bad line is raised as ``BadAd``, or handed to ``on_error`` and left
    out.
    """
    attributes: dict[str, Attribute] = {}
    start = 0
    for number, octets in enumerate(lines, 1):
        try:
            text = _decoded(octets, strict)
            if not text.strip() or text[0] in "*-\N{EM DASH}" or (text[0] == "#" and not strict):
                if text[:1] in ("*", "-", "\N{EM DASH}"):
                    _check_separator(text, strict)
                if attributes and text[:1] != "#" and not strict:
                    yield Ad(attributes, start)
                    attributes = {}
                continue
            name, value = attribute(text, strict=strict, lazy=lazy)
            if len(attributes) >= ATTRIBUTES_LIMIT and name not in attributes:
                raise bad(f"an ad of more than {ATTRIBUTES_LIMIT} attributes")
            if not attributes:
                start = number
            attributes[name] = value
        except ValueError as error:
            from sssjob.errors import hand_over  # hooks, which read good ads, start without

            hand_over(_at(error, number), on_error)
    if attributes:
        yield Ad(attributes, start)


def attribute(line: str, *, strict: bool = False, lazy: bool = False) -> tuple[str, Attribute]:
    """The name and the value of one line, without its line feed. Raises ``BadAd``.

    >>> attribute('Cmd = "/bin/sleep"')
    ('Cmd', '/bin/sleep')
    """
    found = _LINE.match(line)
    if found is None:
        found = _LINE.match(line.lstrip())
        line = line.lstrip()
    if found is None:
        raise bad("no attribute: {}; a line is NAME = VALUE", line)
    name, kind, end = found[1], found.lastindex, found.end()
    if "." in name and strict:
        raise bad(f"{name!r} is no name")
    if name[0] == "'":
        name = name[1:-1]
    if end == len(line) or (not strict and not line[end:].strip()):
        if kind == _STRING:
            text = found[_STRING]
            return name, text.replace('\\"', '"') if "\\" in text else text
        if kind == _INTEGER:
            return name, int(found[_INTEGER])
        if kind == _BOOLEAN:
            return name, _WORDS[found[_BOOLEAN].lower()]
        if kind == _REAL:
            return name, float(found[_REAL])
    start = line.index("=", found.end(1)) + 1
    return name, value(line[start:].lstrip(" \t"), lazy=lazy)


def value(text: str, *, lazy: bool = False) -> Attribute:
    """What an expression stands for: a plain value if it is one. Raises ``BadAd``."""
    if not text:
        raise bad("an attribute without a value")
    if lazy and text[0] != '"' and not text.lstrip("-").isdecimal():
        return Unparsed(text)
    from sssjob.classads.parser import plain

    return plain(text, old=True)


def write(ad: Ad, *, ordered: bool = False) -> str:
    """The lines of an ad. Raises ``BadAd`` for a value that the form cannot hold.

    ``ordered`` sorts by name, as HTCondor does for its hooks.
    """
    from sssjob.classads.writing import OLD
    from sssjob.classads.writing import attribute as spelled
    from sssjob.classads.writing import name as named

    names = sorted(ad) if ordered else list(ad)
    return "".join(f"{named(name, OLD)} = {spelled(ad[name])}\n" for name in names)


def _decoded(octets: bytes, strict: bool) -> str:
    """A line without its end. Bytes that are no UTF-8 are taken as Latin-1, if not strict."""
    if len(octets) > LINE_LIMIT:
        raise bad(f"a line of more than {LINE_LIMIT} bytes")
    octets = octets.removesuffix(b"\n")
    if strict:
        if b"\r" in octets:
            raise bad("a carriage return")
    else:
        octets = octets.removesuffix(b"\r")
    try:
        return octets.decode()
    except UnicodeDecodeError:
        if strict:
            raise bad("bytes that are no UTF-8: {}", repr(octets)[2:-1]) from None
        return octets.decode("latin-1")


def _check_separator(text: str, strict: bool) -> None:
    if text.startswith("***") or text.strip() in _SEPARATORS:
        if strict:
            raise bad("{} is no attribute; a reply holds one ad and nothing else", text)
        return
    raise bad("no attribute: {}; a line is NAME = VALUE", text)


def _at(error: ValueError, line: int) -> BadAd:
    from sssjob.classads.errors import BadAd

    return BadAd(error.reason if isinstance(error, BadAd) else str(error), line)
