"""What XML 1.0 can hold: its characters and names, asked where a program gives them."""

from __future__ import annotations

import re
from functools import lru_cache

from sssjob.errors import InvalidValue, shown

# Characters that XML 1.0 does not have at all, escaped or not (XML 2.2).
# Told by what it lacks: this set compiles in a seventh of the time of the one that it has.
ILLEGAL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
DECLARES = "{http://www.w3.org/2000/xmlns/}"  # what an attribute begins with that declares a prefix

_START = (
    "A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME = f"[{_START}][{_START}.0-9\xb7\u0300-\u036f\u203f\u2040-]*"  # XML 2.3
# RFC 3986 as parsers take it: anything in brackets for a host, and brackets in a fragment.
_CHARACTER = r"(?:[\w.~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})"
_OF_PATH = f"(?:{_CHARACTER}|[:@])"
_AUTHORITY = (
    rf"//(?:(?:{_CHARACTER}|:)*@)?(?:\[[^\]]*\]|{_CHARACTER}*)(?::[0-9]+)?(?:/{_OF_PATH}*)*"
)
_ABSOLUTE = f"/(?:{_OF_PATH}+(?:/{_OF_PATH}*)*)?"
_URI = (  # compiled for the first namespace, which few documents have
    rf"(?:(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?:{_AUTHORITY}|{_ABSOLUTE})"
    rf"|[A-Za-z][A-Za-z0-9+.-]*:(?:{_OF_PATH}+(?:/{_OF_PATH}*)*)?"
    rf"|(?:(?:{_CHARACTER}|@)+(?:/{_OF_PATH}*)*)?)"
    rf"(?:\?(?:{_OF_PATH}|[/?])*)?(?:\#(?:{_OF_PATH}|[/?\[\]])*)?"
)
_ASCII_NAME = re.compile("[A-Za-z_][A-Za-z_.0-9-]*")  # the other one takes long to compile


def no_letter(found: re.Match[str]) -> str:
    """That a letter has no place in a document, as ``ILLEGAL`` found.

    >>> no_letter(ILLEGAL.search(chr(7)))
    'character U+0007 cannot be in XML'
    """
    return f"character U+{ord(found[0]):04X} cannot be in XML"


def legal(text: str, name: str = "") -> str:
    """A text, if XML 1.0 has all of its characters (2.2). Raises ``InvalidValue``.

    ``name`` is that of what has it, for the message.
    """
    # Whatever is printable is legal, which is four times as fast to find out.
    if not text.isprintable() and (illegal := ILLEGAL.search(text)):
        what = f"a value of {name}" if name else "a text"
        raise InvalidValue(text, f"{what} that XML can hold: it has U+{ord(illegal[0]):04X}")
    return text


@lru_cache(1 << 12)
def legal_name(name: str) -> str:
    """The name of an element or attribute, which a program may have made up.

    Raises ``InvalidValue``.
    """
    namespace, local = "", name
    if name[:1] == "{":
        namespace, _, local = name[1:].rpartition("}")
        legal_namespace(namespace, name)
    if not (_ASCII_NAME.fullmatch(local) or re.fullmatch(_NAME, local)):
        raise InvalidValue(name, "a name of XML")
    return name


@lru_cache(1 << 8)
def legal_namespace(namespace: str, name: str = "") -> str:
    """A namespace, which is a URI; ``name`` is what is in it. Raises ``InvalidValue``."""
    if not re.fullmatch(_URI, namespace, re.ASCII) or namespace in ("", DECLARES[1:-1]):
        raise InvalidValue(name or namespace, "in a namespace that is a URI")
    return namespace


def legal_note(kind: str, text: str) -> str:
    """What stands between elements, if XML can hold it. Raises ``InvalidValue``."""
    if not isinstance(text, str):
        raise InvalidValue(shown(text), f"the text of a {kind}")
    legal(text)
    if kind in ("comment", "instruction") and "\r" in text:
        # Nothing can be escaped there, and a line break as it stands is read as \n (XML 2.11).
        raise InvalidValue(
            text,
            "the text of an instruction or comment that is read back: it has a carriage return",
        )
    if kind == "comment" and ("--" in text or text.endswith("-")):
        raise InvalidValue(text, "a comment of XML: it has -- or ends with -")
    if kind == "instruction":
        target = legal_name(text.partition(" ")[0])
        if "?>" in text or target.lower() == "xml" or text != _instruction(text):
            raise InvalidValue(
                text,
                "an instruction of XML: it has ?>, is named xml, or two blanks",
            )
    elif kind not in ("comment", "text"):
        raise InvalidValue(kind, "comment, instruction or text")
    return text


def _instruction(text: str) -> str:
    """An instruction as it is read again: one blank is behind its target."""
    target, _, rest = text.partition(" ")
    rest = rest.lstrip(" \t\r\n")
    return f"{target} {rest}" if rest else target
