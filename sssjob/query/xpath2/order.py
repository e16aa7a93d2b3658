"""Where the nodes of a path are sorted: only where elementpath may come upon them out of order.

Why it is right: of peers, nodes in document order of which none stands in another one, each holds
nodes that come before those of the next one. So steps down from peers keep the order, and one step
from a single node does. Everything else, as ``//Job/Memory`` where a Job may hold a Job, is sorted;
to sort what is in order already takes little.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from elementpath.xpath_nodes import XPathNode

from sssjob.query.xpath2.scope import PATHS, symbol_of

_TESTS = (
    "(name)",
    "*",
    "node",
    "text",
    "element",
    "attribute",
    "comment",
    "processing-instruction",
)
_PEERS_BELOW = ("child", "self", "attribute", "@", ".")  # at or in the node that they are asked of
_SINGLE = (".", "..", "self", "parent")
_BESIDE = ("following-sibling", "preceding-sibling")
_WITHIN = ("descendant", "descendant-or-self")
_PLACE = attrgetter("position")


def is_kept(path: Any) -> bool:
    """Whether a path certainly gives its nodes in document order as it comes upon them."""
    if len(path) < 2:
        return True  # from the document: ``//`` of elementpath sorts what it finds
    if path.symbol == "//":
        return False
    start, step = path[0], _step(path[1])
    if _is_single(start):
        return _is_peers_below(step) or step.symbol in (*_SINGLE, *_BESIDE, *_WITHIN)
    return _is_peers(start) and (_is_peers_below(step) or step.symbol in _WITHIN)


def sorted_by_place(found: Iterable[Any]) -> list[Any]:
    """Nodes in document order; what has values in it stays as it is."""
    items = list(found)
    if all(isinstance(each, XPathNode) for each in items):
        items.sort(key=_PLACE)
    return items


def _is_single(token: Any) -> bool:
    """Whether an expression certainly gives one node at most."""
    return (token.symbol == "/" and not len(token)) or _step(token).symbol in _SINGLE


def _is_peers_below(step: Any) -> bool:
    """Whether a step certainly gives peers that are its context item, or stand in it."""
    return _is_test(step) or step.symbol in _PEERS_BELOW


def _is_peers(token: Any) -> bool:
    """Whether an expression certainly gives nodes of which none stands in another one, in order."""
    step = _step(token)
    if step.symbol in PATHS and len(step) < 2:
        return step.symbol == "/" and (not len(step) or _is_peers(step[0]))
    if step.symbol == "/":
        start, last = step[0], step[1]
        if _is_single(start) and _is_peers(last):
            return True
        return _is_peers(start) and _is_peers_below(_step(last))
    return _is_peers_below(step) or step.symbol in (*_SINGLE, *_BESIDE)


def _step(token: Any) -> Any:
    """A step without its predicates, brackets and prefix."""
    while symbol_of(token) == "[" or (token.symbol in ("(", ":") and len(token)):
        if token.symbol == "(" and len(token) != 1:
            break
        token = token[1] if token.symbol == ":" else token[0]
    return token


def _is_test(step: Any) -> bool:
    """Whether a step is a name, a star that is no product, or a test of a kind."""
    if step.symbol == "(name)":
        return True
    if step.symbol == "*":
        return not len(step)
    return bool(step.symbol in _TESTS and step.label == "kind test")
