"""What an expression of XPath 2.0 or later is, part by part: a way of named steps, or constants.

Whoever answers from something else than the document asks here which nodes are meant. What has no
plain form is None, or the ``rest`` of a way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from elementpath import ElementPathError

from sssjob.query.syntax import PREFIX, Chain, Constant, Expression, FunctionCall, Path, Step, Test
from sssjob.query.xpath2.parser import FAULTS
from sssjob.query.xpath2.scope import symbol_of

Literal = str | int | float | Decimal | bool

_AXES = ("child", "descendant", "descendant-or-self", "self", "attribute")
_UNIONS = ("|", "union")
_LITERALS = ("(string)", "(integer)", "(decimal)", "(float)")
_WORKED_OUT = ("+", "-", "*", "div", "idiv", "mod", "(", ",")
_OF_CONSTANTS = ("bytes", "seconds", "time")


@dataclass(frozen=True, slots=True)
class Move:
    """One step: ``predicates`` are tokens of elementpath."""

    axis: str
    test: Test
    predicates: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Way:
    """Steps from the document, from the context, or from a variable.

    ``rest`` is whether something follows that is no step, and gives nothing where these
    steps lead to nothing.
    """

    moves: tuple[Move, ...] = ()
    absolute: bool = False
    variable: str = ""
    rest: bool = False


def way(token: Any) -> Way | None:
    """The steps that an expression begins with; None if it does not begin with a step."""
    symbol = symbol_of(token)
    if symbol in ("/", "//") and len(token) == 1:
        first = way(token[0])
        if first is None or first.absolute or first.variable:
            return None
        moves = _down(symbol, first.moves)
        return replace(first, moves=moves, absolute=True) if moves else None
    if symbol in ("/", "//") and len(token) == 2:
        start, next_ = way(token[0]), _move(token[1])
        if start is None or start.rest:
            return start
        moves = None if next_ is None else _down(symbol, (next_,))
        return replace(start, moves=(*start.moves, *moves)) if moves else _and_more(start)
    if symbol == "(" and len(token) == 1:
        return way(token[0])
    if symbol == "!" or (symbol == "[" and token[0].symbol == "("):
        return _and_more(way(token[0]))
    if symbol == "for" and len(token) == 3:
        return _and_more(way(token[1]))
    if symbol == "$":
        return Way(variable=token[0].value)
    step = _move(token)
    return None if step is None else Way((step,))


def branches(token: Any) -> tuple[Any, ...]:
    """The operands of a union, or the expression itself."""
    if token.symbol in _UNIONS:
        return tuple(each for part in token for each in branches(part))
    if token.symbol == "(" and len(token) == 1:
        return branches(token[0])
    return (token,)


def called(token: Any, namespaces: Any) -> tuple[str, Any]:
    """The name of what a token is, ours with their prefix, and the token without its prefix."""
    if token.symbol == ":" and token[0].value == PREFIX:
        return f"{PREFIX}:{token[1].symbol}", token[1]
    if token.symbol == ":" and token[0].value == "fn" and "fn" not in namespaces:
        return token[1].symbol, token[1]
    return token.symbol, token


def constants(token: Any) -> tuple[Literal, ...] | None:
    """The values of an expression that asks no document; None if it does, or has others."""
    if not _is_constant(token):
        return None
    try:
        found = token.evaluate()
    except (ElementPathError, *FAULTS):
        return None  # which documents have to tell
    values = tuple(found) if isinstance(found, list) else (found,)
    return values if all(isinstance(each, Literal) for each in values) else None


def _is_constant(token: Any) -> bool:
    symbol = symbol_of(token)
    if symbol in _LITERALS:
        return True
    if symbol in ("true", "false"):
        return bool(token.label == "function")
    if symbol == ":":
        ours = token[0].value == PREFIX and token[1].symbol in _OF_CONSTANTS
        return ours and all(map(_is_constant, token[1]))
    if symbol == "*" and not len(token):
        return False  # a name test
    return symbol in _WORKED_OUT and all(map(_is_constant, token))


def plain(token: Any, namespaces: Mapping[str, str]) -> Path | None:
    """A path as XPath 1.0 has it, where all versions give the same nodes; None elsewhere.

    What it asks may have no error in any version, and compare texts only.
    """
    found = way(token)
    if found is None or found.rest or found.variable:
        return None
    steps = []
    for move in found.moves:
        predicates = [_plain_truth(each, namespaces) for each in move.predicates]
        asked = tuple(each for each in predicates if each is not None)
        if len(asked) < len(predicates):
            return None
        steps.append(Step(move.axis, move.test, asked))
    return Path(tuple(steps), found.absolute)


def _plain_truth(token: Any, namespaces: Mapping[str, str]) -> Expression | None:
    """A predicate that is true or false, and no number."""
    name, call = called(token, namespaces)
    if name == "(" and len(call) == 1:
        return _plain_truth(call[0], namespaces)
    if name in ("and", "or"):
        both = [_plain_truth(each, namespaces) for each in call]
        sides = tuple(each for each in both if each is not None)
        return Chain(sides, (name,)) if len(sides) == 2 else None
    if name in ("not", "exists", "empty", "boolean") and len(call) == 1:
        inner = _plain_truth(call[0], namespaces)
        positive = name in ("exists", "boolean")
        return inner and FunctionCall("boolean" if positive else "not", (inner,))
    if name in ("=", "!=") and len(call) == 2 and call[1].symbol == "(string)":
        text, side = call[1].value, plain(call[0], namespaces)
        if side is None or "'" in text:
            return None
        return Chain((side, Constant(f"'{text}'")), (name,))
    found = plain(token, namespaces)
    return None if found is None or found.absolute else found


def _and_more(start: Way | None) -> Way | None:
    return None if start is None else replace(start, rest=True)


def _down(symbol: str, moves: tuple[Move, ...]) -> tuple[Move, ...] | None:
    """The steps behind ``/`` or ``//``; None for attributes of whatever stands below."""
    if symbol == "/":
        return moves
    first, *others = moves
    if first.axis == "attribute":
        return None
    axis = {"child": "descendant", "self": "descendant-or-self"}.get(first.axis, first.axis)
    return replace(first, axis=axis), *others


def _move(token: Any) -> Move | None:
    """One step, or None."""
    symbol = symbol_of(token)
    if symbol == "[":
        inner = _move(token[0])
        if inner is None:
            return None
        return replace(inner, predicates=(*inner.predicates, token[1]))
    if symbol == "(name)":
        return Move("child", Test(token.value))
    if symbol == ".":
        return Move("self", Test("node()"))
    if symbol == "@" and token[0].symbol == "(name)":
        return Move("attribute", Test(token[0].value))
    if symbol in _AXES and len(token) == 1 and token[0].symbol == "(name)":
        return Move(symbol, Test(token[0].value))
    if symbol == "self" and len(token) == 1 and token[0].symbol == "node":
        return Move("self", Test("node()"))
    return None
