"""Values and expressions as text of the old and of the new syntax."""

from __future__ import annotations

import re

from sssjob.classads.errors import BadAd
from sssjob.classads.parser import expression as parsed
from sssjob.classads.times import absolute_text, relative_text
from sssjob.classads.tree import BINDS, Binary, Conditional, Unary
from sssjob.classads.values import (
    AbsTime,
    Ad,
    Node,
    RelTime,
    Special,
    Unparsed,
)
from sssjob.integers import LARGEST, SMALLEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sssjob.classads.values import Attribute

OLD, NEW = "old", "new"
UNPARSED = "unparsed"  # the new one as unparse() lays it out: a line for each member

_RESERVED = ("error", "false", "is", "isnt", "parent", "true", "undefined")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FORBIDDEN = re.compile("[\r\n\0\ud800-\udfff]")
_ESCAPED = re.compile('["\\\\\x00-\x1f\x7f-\uffff\U00010000-\U0010ffff]')
_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}
_OLD_SIGNS = {"is": "=?=", "isnt": "=!="}


def attribute(value: Attribute, syntax: str = OLD) -> str:
    """What stands behind ``Name =``. Raises ``BadAd`` for what the syntax cannot say.

    >>> attribute((1, "x"))
    '{ 1,"x" }'
    """
    if type(value) is str and syntax == OLD:
        return string(value, syntax, last=True)
    return _value(value, syntax)


def string(text: str, syntax: str = OLD, last: bool = False) -> str:
    """A text in double quotes. In the old syntax a backslash at its end must be ``last``."""
    if syntax != OLD:
        if "\0" in text:
            raise _bad("a NUL character cannot be written", text)
        return f'"{_ESCAPED.sub(_escape, text)}"'
    if found := _FORBIDDEN.search(text):
        raise _bad(f"the character {found[0]!r} cannot be written in the long form", text)
    if text.endswith("\\") and not last:
        raise _bad("a backslash at the end of a string cannot be written here", text)
    return f'"{text.replace(chr(34), chr(92) + chr(34))}"'


def real(number: float, syntax: str = OLD) -> str:
    """A real, told apart from an integer in any case."""
    if number != number:
        return 'real("NaN")'
    if number in (float("inf"), float("-inf")):
        return 'real("INF")' if number > 0 else 'real("-INF")'
    if number == 0:
        return "0.0" if str(number) == "0.0" else "-0.0"
    if syntax != OLD:
        return f"{number:1.15E}"
    text = f"{number:.16G}"
    return text if {*text} & {".", "E"} else f"{text}.0"


def name(text: str, syntax: str = NEW) -> str:
    """A name, in single quotes where it is no word or a reserved one."""
    if _NAME.fullmatch(text) and text.lower() not in _RESERVED:
        return text
    if syntax == OLD:
        if not text or {*text} & {*"'\\\n\r\0"} or _FORBIDDEN.search(text):
            raise _bad("a name that cannot be written in the long form", text)
        return f"'{text}'"
    if "\0" in text:
        raise _bad("a NUL character cannot be written", text)
    return f"'{_ESCAPED.sub(_escape, text).replace(chr(39), chr(92) + chr(39))}'"


def expression(node: Node, syntax: str = NEW) -> str:
    """A tree as text, with the brackets it was read with and those that it needs."""
    from sssjob.classads import tree

    match node:
        case tree.Literal(value):
            return _value(value, syntax)
        case Unparsed(text):
            return text if syntax == OLD else expression(parsed(text, True), syntax)
        case tree.AttributeReference(None, word, absolute):
            return f"{'.' if absolute else ''}{name(word, syntax)}"
        case tree.AttributeReference(Node() as inner, word):
            return f"{_base(inner, syntax)}.{name(word, syntax)}"
        case tree.Grouped(inner):
            return f"({expression(inner, syntax)})"
        case tree.Unary(op, operand):
            space = " " if syntax == UNPARSED else ""
            return f"{space}{op}{_bracketed(operand, len(BINDS), syntax)}"
        case tree.Binary():
            return _chain(node, syntax)
        case tree.Conditional(test, None, no):
            first = expression(test, syntax)
            if not isinstance(test, Conditional) or test.yes is not None:
                first = _base(test, syntax)
            return f"{first} ?: {_base(no, syntax)}"
        case tree.Conditional(test, Node() as yes, no):
            parts = (_bracketed(test, 0, syntax), expression(yes, syntax), expression(no, syntax))
            return "{} ? {} : {}".format(*parts)
        case tree.Subscript(inner, index):
            return f"{_base(inner, syntax)}[{expression(index, syntax)}]"
        case tree.Call(word, arguments):
            return f"{word}({','.join(expression(part, syntax) for part in arguments)})"
        case tree.Listing(members):
            return _listing((expression(part, syntax) for part in members), syntax)
        case tree.Record(attributes):
            return _record(((word, expression(part, syntax)) for word, part in attributes), syntax)
    raise AssertionError(node)


def _chain(node: Binary, syntax: str) -> str:
    """Operators of one level from the left: a loop, so that long chains are not deep."""
    pieces = []
    while True:
        binds = BINDS[node.op]
        sign = _OLD_SIGNS.get(node.op, node.op) if syntax == OLD else node.op
        pieces.append(f" {sign} {_bracketed(node.right, binds + 1, syntax)}")
        left = node.left
        if not isinstance(left, Binary) or BINDS[left.op] < binds:
            pieces.append(_bracketed(left, binds, syntax))
            return "".join(reversed(pieces))
        node = left


def _bracketed(node: Node, least: int, syntax: str) -> str:
    """A part in brackets unless it binds at least so closely."""
    loose = isinstance(node, Conditional) and node.yes is not None
    loose = loose or (isinstance(node, Binary) and BINDS[node.op] < least)
    text = expression(node, syntax)
    return f"({text})" if loose else text


def _base(node: Node, syntax: str) -> str:
    """What a dot or a subscript follows."""
    text = expression(node, syntax)
    return f"({text})" if isinstance(node, (Binary, Conditional, Unary)) else text


def _value(value: Attribute, syntax: str) -> str:
    """A value inside of something else, or in the new syntax."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            if not SMALLEST <= value <= LARGEST:
                raise _bad("an integer that does not fit 64 bits", str(value))
            return str(value)
        case float():
            return real(value, syntax)
        case str():
            return string(value, syntax)
        case Node():
            return expression(value, syntax)
        case tuple():
            return _listing((_value(member, syntax) for member in value), syntax)
        case Ad():
            return _record(((word, _value(part, syntax)) for word, part in value.items()), syntax)
        case AbsTime():
            return f'absTime("{absolute_text(value)}")'
        case RelTime():
            return f'relTime("{relative_text(value)}")'
        case Special():
            return value.name
    raise TypeError(f"{type(value).__name__} is no value of a ClassAd")


def _listing(members: Iterable[str], syntax: str) -> str:
    if syntax == UNPARSED:
        return _in_lines("{", members, ",", "}", 3)
    return f"{{ {','.join(members)} }}"


def _record(attributes: Iterable[tuple[str, str]], syntax: str) -> str:
    if syntax != UNPARSED:
        return f"[ {'; '.join(f'{name(word, syntax)} = {text}' for word, text in attributes)} ]"
    in_order = sorted(attributes, key=lambda each: (len(each[0]), each[0].lower()))
    members = (f"{name(word, syntax)} = {text}" for word, text in in_order)
    return _in_lines("[", members, "; ", "]", 4)


def _in_lines(begin: str, members: Iterable[str], between: str, end: str, width: int) -> str:
    """Members on lines of their own, each twice as deep as the brackets around them."""
    edge = f"\n{' ' * width}"
    inner = edge + " " * width
    told = between.join(inner + each.replace("\n", inner) for each in members)
    return f"{edge}{begin}{told}{edge}{end}"


def _escape(match: re.Match[str]) -> str:
    """A character as an escape of C; what is no ASCII as the octal bytes of its UTF-8."""
    letter = match[0]
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    try:
        return "".join(f"\\{byte:03o}" for byte in letter.encode())
    except UnicodeEncodeError:
        raise _bad("a lone surrogate cannot be written", letter) from None


def _bad(reason: str, text: str) -> BadAd:
    shown = text if len(text) <= 40 else text[:37] + "..."
    return BadAd(f"{reason}: {shown!r}")
