"""What people write for Where, Get, Set and Option, as values."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sssjob.errors import InvalidValue
from sssjob.rmap.message import Conj, Get, Op, Option, Set, Where

# fmt: off
_SIGNS = {
    "=":  Op.EQ,
    "!=": Op.NE,
    ">":  Op.GT,
    ">=": Op.GE,
    "<":  Op.LT,
    "<=": Op.LE,
    "~":  Op.MATCH,
}
# fmt: on
_NAME = r"(?:(?P<object>\w+)\.)?(?P<name>\w+)"
_WHERE = re.compile(
    rf"\s*(?:(?P<conj>{'|'.join(Conj)})\s+)?(?P<opens>[(\s]*){_NAME}\s*(?P<op>[!<>]?=|[<>~])"
    r"\s?(?P<value>.*)",
    re.DOTALL,
)
_PLAIN = _NAME.replace("P<", "P<plain_")
_GET = re.compile(rf"(?:(?P<op>\w+)\({_NAME}\)|{_PLAIN})(?: as (?P<alias>\w+))?")
_SET = re.compile(r"(?P<name>\w+)\s*(?P<op>[+\-]?)=\s?(?P<value>.*)", re.DOTALL)
_OPTION = re.compile(r"(?P<name>\w+)=(?P<value>.*)", re.DOTALL)
_SET_OPS = {"": "Assign", "+": "Inc", "-": "Dec"}


def wheres(texts: Iterable[str]) -> tuple[Where, ...]:
    """Conditions, each in a text of its own; all of them together have balanced parentheses.

    A value that ends with a parenthesis while one is open, or that begins with a quote, stands
    in double quotes. Raises ``InvalidValue``.

    >>> [(where.group, where.value) for where in wheres(["(User=ann", "Or User=bob)", "Charge>5"])]
    [(1, 'ann'), (-1, 'bob'), (0, '5')]
    """
    found, depth = [], 0
    for text in texts:
        where = _where(text, depth)
        depth += where.group
        found.append(where)
    if depth:
        raise InvalidValue(text, "the end of the conditions: a parenthesis is still open")
    return tuple(found)


def get(text: str) -> Get:
    """A property to be shown: ``Name``, ``Object.Name``, ``Sum(Charge)``, ``Sum(Charge) as Total``.

    >>> get("Sum(Charge) as Total")
    Get(name='Charge', op='Sum', object='', alias='Total', path='')
    """
    match = _GET.fullmatch(text.strip())
    if match is None:
        raise InvalidValue(text, "NAME, OBJECT.NAME or OP(NAME), with or without 'as ALIAS'")
    name = match["name"] or match["plain_name"]
    object_ = match["object"] or match["plain_object"] or ""
    return Get(name, match["op"] or "", object_, match["alias"] or "")


def change(text: str) -> Set:
    """A property to be changed: ``Name=value``, ``Name+=value``, ``Name-=value``.

    >>> change("Charge+=5")
    Set(name='Charge', value='5', op='Inc')
    """
    match = _SET.fullmatch(text)
    if match is None:
        raise InvalidValue(text, "NAME=VALUE, NAME+=VALUE or NAME-=VALUE")
    return Set(match["name"], match["value"], _SET_OPS[match["op"]])


def option(text: str) -> Option:
    """An option: ``Name=value``.

    >>> option("ShowHidden=True")
    Option(name='ShowHidden', value='True', op='')
    """
    match = _OPTION.fullmatch(text)
    if match is None:
        raise InvalidValue(text, "NAME=VALUE")
    return Option(match["name"], match["value"])


def _where(text: str, depth: int) -> Where:
    match = _WHERE.fullmatch(text)
    if match is None:
        raise InvalidValue(
            text, f"NAME OP VALUE with OP one of {' '.join(_SIGNS)}, after {', '.join(Conj)} or (",
        )  # fmt: skip
    conj = Conj(match["conj"] or "And")
    opens = match["opens"].count("(")
    if opens and conj.negates:
        raise InvalidValue(
            text, "a condition without (: the Not is about one condition, not a group"
        )
    value, closes = _value(match["value"], depth + opens)
    return Where(
        match["name"], value, _SIGNS[match["op"]], conj, opens - closes, match["object"] or ""
    )


def _value(text: str, depth: int) -> tuple[str, int]:
    """A value, and how many parentheses are closed behind it."""
    if text.startswith('"'):
        quoted, mark, rest = text[1:].rpartition('"')
        if not mark or rest.strip(") "):
            raise InvalidValue(text, "a value in double quotes, with nothing but ) after it")
        closes = rest.count(")")
        if closes > depth:
            raise InvalidValue(text, f"no more than {depth} closing parentheses")
        return quoted, closes
    closes = 0
    while depth > closes and text.rstrip().endswith(")"):
        text, closes = text.rstrip()[:-1], closes + 1
    return text.rstrip() if closes else text, closes
