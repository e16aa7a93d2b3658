"""What an expression of XPath 2.0 or later looks at; as cautious as for XPath 1.0.

Asked of the tokens of elementpath, whose ``symbol`` says what each is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from elementpath.xpath_tokens import XPathArray

from sssjob import spec
from sssjob.query.scope import UNITS

PATHS = ("/", "//")
INTO = (*PATHS, "!", "[")  # of two operands the second one is asked at the items of the first

_AWAY = {
    "..": "..", "parent": "parent::", "ancestor": "ancestor::",
    "ancestor-or-self": "ancestor-or-self::", "following": "following::",
    "preceding": "preceding::", "following-sibling": "following-sibling::",
    "preceding-sibling": "preceding-sibling::", "namespace": "namespace::",
    "root": "root()", "id": "id()", "idref": "idref()", "element-with-id": "element-with-id()",
    "lang": "lang()", "path": "path()", "base-uri": "base-uri()", "document-uri": "document-uri()",
    "in-scope-prefixes": "in-scope-prefixes()", "resolve-QName": "resolve-QName()",
    "namespace-uri-for-prefix": "namespace-uri-for-prefix()", "#": "a named function",
}  # fmt: skip
_PLACE = ("position", "last")
_DOWN = ("child", "descendant", "descendant-or-self")
_COMPARED = (
    "=", "!=", "<", "<=", ">", ">=", "eq", "ne", "lt", "le", "gt", "ge", "is", "<<", ">>",
    "and", "or", "some", "every", "instance", "castable",
)  # fmt: skip
_BOOLEAN = (
    "not", "exists", "empty", "boolean", "true", "false", "contains", "starts-with", "ends-with",
    "matches", "deep-equal", "satisfied",
)  # fmt: skip
_NODES = ("(name)", "/", "//", "@", ".", "*", *_DOWN)
_OF_CONTEXT = (
    *_PLACE, "string", "name", "local-name", "namespace-uri", "number",
    "string-length", "normalize-space", "data", "node-name", "has-children", "generate-id",
)  # fmt: skip


class _MayLeave(Exception):
    """An expression that may look outside of its job object, and where it does."""


def symbol_of(token: Any) -> str:
    """What a token is; an array in brackets has the symbol of a predicate, and is none."""
    return "array" if isinstance(token, XPathArray) else str(token.symbol)


def is_relative(token: Any) -> bool:
    """Whether the answer depends on where the expression starts: then that is each job object."""
    symbol = symbol_of(token)
    if symbol in ("/", "//"):
        return len(token) == 2 and is_relative(token[0])
    if symbol in ("!", "["):
        return is_relative(token[0])
    if symbol == ":":  # a prefix, and a name or a function
        return token[1].symbol in ("(name)", "*") or is_relative(token[1])
    is_product = symbol == "*" and len(token)
    if symbol in (*_NODES, *_AWAY) and not is_product:
        return True
    if symbol in _OF_CONTEXT and not len(token):
        return True
    if symbol in ("$", "function", "(string)", "(integer)", "(decimal)", "(float)"):
        return False
    return any(is_relative(part) for part in token)


def obstacle(token: Any, namespaces: dict[str, str]) -> str:
    """Why the expression needs whole documents; "" if job object by job object will do."""
    try:
        if is_relative(token):
            _stay(token)
        elif not _enters(token, namespaces):
            return f"{token.source} may stand outside of job objects"
    except _MayLeave as reason:
        return str(reason)
    return ""


def is_inside(token: Any) -> bool:
    """Whether an expression, asked of an element, certainly stays in that element."""
    try:
        _stay(token)
    except _MayLeave:
        return False
    return True


def _stay(token: Any) -> None:
    """Check that nothing in an expression leaves the node that it is asked of."""
    for part in every(token):
        if part.symbol in ("/", "//") and len(part) < 2:
            raise _MayLeave(f"{part.source} starts at the document again")
        if part.symbol in _AWAY:
            raise _MayLeave(f"{_AWAY[part.symbol]} may leave the job object")


def _stay_without_place(token: Any) -> None:
    """The same of what is asked at each of many nodes: it may not count them."""
    if asks_place(token):
        raise _MayLeave(f"{token.source} counts nodes of other job objects")
    _stay(token)


def _enters(token: Any, namespaces: dict[str, str]) -> bool:
    """Whether an expression has come to job objects, one after the other, and stays in each."""
    symbol = symbol_of(token)
    if symbol in ("/", "//") and len(token) == 1:
        return _is_unit(token[0], namespaces)
    if symbol in ("/", "//") and len(token) == 2:
        if _enters(token[0], namespaces):
            _stay_without_place(token[1])
            return True
        return _is_unit(token[1], namespaces)
    if symbol == "!" and _enters(token[0], namespaces):
        _stay_without_place(token[1])
        return True
    if symbol in ("|", "union"):
        return all(_enters(part, namespaces) for part in token)
    if symbol == "for" and len(token) == 3 and _enters(token[1], namespaces):
        _stay(token[2])
        return not is_relative(token[2])
    if symbol == "(" and len(token) == 1:
        return _enters(token[0], namespaces)
    raise _MayLeave(f"{token.source} is worked out over the whole document")


def _is_unit(step: Any, namespaces: dict[str, str]) -> bool:
    """Whether a step names Job or JobGroup and counts none of them."""
    if symbol_of(step) == "[":
        if not _is_unit(step[0], namespaces):
            raise _MayLeave(f"{step.source} asks something before a job object is reached")
        if not is_boolean(step[1]):
            raise _MayLeave(f"{step.source} may count job objects")
        _stay(step[1])
        return True
    if step.symbol in _DOWN and len(step) == 1:
        return _is_unit(step[0], namespaces)
    if step.symbol == "(name)":
        return step.value in UNITS
    if step.symbol == ":" and step[1].symbol == "(name)":
        known = namespaces.get(step[0].value) in spec.NAMESPACES
        return known and step[1].value in UNITS
    if step.symbol in ("*", ":"):
        return False
    raise _MayLeave(f"{step.source} may stand outside of job objects")


def is_boolean(predicate: Any) -> bool:
    """Whether a predicate certainly gives no number, and asks for no position."""
    if any(map(_is_place, every(predicate))):
        return False
    if predicate.symbol == "if":
        return is_boolean(predicate[1]) and is_boolean(predicate[2])
    if predicate.symbol == "(" and len(predicate) == 1:
        return is_boolean(predicate[0])
    if predicate.symbol == "*" and len(predicate):
        return False  # a product
    if predicate.symbol == ":":
        return predicate[1].symbol in ("(name)", "*", *_BOOLEAN)
    if predicate.symbol in ("/", "//") and len(predicate) == 2:
        return is_boolean(predicate[1])
    if symbol_of(predicate) == "[":
        return is_boolean(predicate[0])
    return predicate.symbol in (*_COMPARED, *_BOOLEAN, *_NODES)


def asks_place(token: Any) -> bool:
    """Whether an expression asks where its context item stands among others."""
    return _is_place(token) or any(map(asks_place, at_its_item(token)))


def _is_place(token: Any) -> bool:
    """Whether it is ``position()``, ``last()`` or the name of one of these, as ``last#0``."""
    if token.symbol == "#":
        named = token[0][1] if token[0].symbol == ":" else token[0]
        return named.value in _PLACE
    return token.symbol in _PLACE


def at_its_item(token: Any) -> tuple[Any, ...]:
    """The parts of an expression that are asked at its own context item."""
    return tuple(token)[:1] if symbol_of(token) in INTO else inside(token)


def inside(token: Any) -> tuple[Any, ...]:
    """The parts of an expression, with those that are hidden."""
    return (*token, *hidden(token))


def hidden(token: Any) -> tuple[Any, ...]:
    """The values of a map and the body of a function: no parts of the tree."""
    body = getattr(token, "body", None)
    # elementpath has no other way to the values of a map that is not evaluated.
    return (*(getattr(token, "_values", None) or ()), *(() if body is None else (body,)))


def every(token: Any) -> Iterator[Any]:
    """An expression, and all that stands in it."""
    yield token
    for part in inside(token):
        yield from every(part)
