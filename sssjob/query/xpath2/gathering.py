"""One answer over many documents, such as ``max(//Job/Charge)`` of a stream or of a store.

Strategy. A path from the document means the nodes of all documents, one document after the other.
Where an expression is such a path, each document is asked alone, and the answers stand side by
side. Any other expression has one answer, which is worked out once: what stands below it and can
be asked document by document is gathered first. Of a path whose values are wanted (``max``, ``=``)
the values are kept, of one that is counted its number; where nodes are wanted, documents are held
in memory, and the path is followed in all of them.

Why it is right: what is asked document by document begins at the document, and so cannot depend on
another one; its nodes come in the order that they have in the whole. What depends on several is
worked out once, of all that was gathered. That is bounded: beyond it there is an error, and no
answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from elementpath import get_node_tree
from elementpath.datatypes import UntypedAtomic
from elementpath.xpath30 import XPath30Parser
from elementpath.xpath_nodes import DocumentNode, ElementNode, XPathNode
from lxml import etree
from lxml.etree import _Element as Element

from sssjob.errors import LimitExceeded
from sssjob.query.match import Match
from sssjob.query.xpath2.context import Context
from sssjob.query.xpath2.scope import (
    INTO,
    PATHS,
    asks_place,
    at_its_item,
    every,
    hidden,
    is_boolean,
    symbol_of,
)

VALUES = 2_000_000  # values that are gathered
TEXT = 1 << 28  # characters of their texts
NODES = 1_000_000  # nodes of documents that are held in memory, where there is more than one

Place = tuple[int, ...]  # of a token below the root of an expression

_EACH: Any = XPath30Parser.symbol_table["!"]
_DOCUMENTS = "sss-documents"  # the variable that stands for all documents
_SETS = ("|", "union", "except", "intersect")
_BINDING = ("for", "let", "some", "every")
_THROUGH = ("(", ",", ":")
_OF_VALUES = (
    "max", "min", "sum", "avg", "distinct-values", "string-join", "data", "index-of",
    "=", "!=", "<", "<=", ">", ">=", "eq", "ne", "lt", "le", "gt", "ge",
    "+", "-", "*", "div", "idiv", "mod", "||", "to", "concat",
)  # fmt: skip


class GatheredPart(NamedTuple):
    """An expression that is gathered: where it stands, and what is kept of it."""

    variable: str
    place: Place
    counts: bool


@dataclass(frozen=True, slots=True)
class Gathering:
    """An expression over what is gathered.

    ``holds`` are the paths that are followed in documents held in memory, None among them for one
    that may lead anywhere; no document is held where there are none.
    """

    token: Any
    parts: tuple[GatheredPart, ...]
    holds: tuple[Place | None, ...]

    def kept(self) -> dict[str, GatheredValues]:
        """What is to be kept of each part, by its variable; nothing so far."""
        return {part.variable: GatheredValues(part) for part in self.parts}

    def answer(
        self, gathered: Mapping[str, list[Any]], documents: Iterable[Element]
    ) -> Iterator[Any]:
        """The items of the answer, by what its parts gave; raises what elementpath does."""
        context = _Over(etree.ElementTree(etree.Element("Nothing")))
        context.variables.update(gathered)
        context.variables[_DOCUMENTS] = _side_by_side(documents)
        yield from self.token.select(context)


def gathering(token: Any) -> Gathering | None:
    """How an expression that starts at the document is answered once for all documents.

    ``token`` is changed. None where each document is asked for itself.
    """
    if _is_by_document(token) or _loses_its_document(token):
        return None
    made = _Making()
    root = made.replaced(token, (), frozenset(), wants_values=False)
    return Gathering(root, tuple(made.parts), tuple(made.holds))


class GatheredValues:
    """What is kept of a part, of some documents or of all: the values, or how many there are."""

    def __init__(self, part: GatheredPart) -> None:
        self._counts = part.counts
        self._number, self._size = 0, 0
        self._values: list[Any] = []

    @property
    def items(self) -> list[Any]:
        """What stands for the part where the answer is worked out."""
        return [self._number] if self._counts else self._values

    def add(self, matches: Iterable[Match]) -> None:
        """Keep of what was found in more documents. Raises ``LimitExceeded``."""
        for match in matches:
            if not self._counts:
                self._values.append(self._value(match))
            self._grow(1)

    def merge(self, other: GatheredValues) -> None:
        """Keep what was kept of the documents behind these. Raises ``LimitExceeded``."""
        self._values += other._values
        self._size += other._size
        self._grow(other._number)

    def _value(self, match: Match) -> Any:
        if not match.is_node:
            return match.found
        text = match.text
        self._size += len(text)
        is_note = isinstance(match.found, etree._Comment | etree._ProcessingInstruction)
        return text if is_note else UntypedAtomic(text)

    def _grow(self, number: int) -> None:
        self._number += number
        if len(self._values) > VALUES:
            raise LimitExceeded("values gathered from all documents", VALUES)
        if self._size > TEXT:
            raise LimitExceeded("characters gathered from all documents", TEXT)


class _Over(Context):
    """A context of several documents: what starts at the document starts at that of the item."""

    @property
    def root(self) -> Any:
        """The document in which the context item stands."""
        node = getattr(self, "item", None)
        while isinstance(node, XPathNode) and node.parent is not None:
            node = node.parent
        return node if isinstance(node, DocumentNode) else self.__dict__.get("_root")

    @root.setter
    def root(self, root: Any) -> None:
        self.__dict__["_root"] = root

    @property
    def document(self) -> Any:
        """The same, which elementpath tells apart from an element that has no document."""
        return self.root

    @document.setter
    def document(self, document: Any) -> None:
        """Where there is no document, there is none that would have to be made."""


class _Making:
    """The parts of an expression, as they are found."""

    def __init__(self) -> None:
        self.parts: list[GatheredPart] = []
        self.holds: list[Place | None] = []

    def replaced(
        self, token: Any, place: Place, bound: frozenset[str], *, wants_values: bool
    ) -> Any:
        """The expression with variables where something is gathered."""
        symbol = symbol_of(token)
        if symbol == "count" and len(token) == 1 and _is_gathered(token[0], bound):
            return self._part(token, (*place, 0), counts=True)
        if _is_gathered(token, bound):
            if wants_values:
                return self._part(token, place, counts=False)
            self.holds.append(place)
            return self._held(token)
        if _is_start(token):
            self.holds.append(None)
            return self._held(token)
        if symbol == ":":  # a prefix, which a variable would not have
            named = self.replaced(token[1], (*place, 1), bound, wants_values=wants_values)
            return token if named is token[1] else named
        inner = bound
        if symbol in _BINDING:
            inner = bound | {each[0].value for each in token if each.symbol == "$"}
        wanted = symbol in _OF_VALUES or (wants_values and symbol in _THROUGH)
        for index, part in enumerate(token):
            if index and symbol in INTO:
                break
            if part.symbol not in ("$", "(name)"):
                token[index] = self.replaced(part, (*place, index), inner, wants_values=wanted)
        return token

    def _part(self, token: Any, place: Place, *, counts: bool) -> Any:
        part = GatheredPart(f"sss-part{len(self.parts)}", place, counts)
        self.parts.append(part)
        return _variable(token, part.variable)

    def _held(self, token: Any) -> Any:
        """The expression with its paths from the document followed in all that are held."""
        symbol = symbol_of(token)
        if symbol in PATHS and not len(token):
            return _variable(token, _DOCUMENTS)
        if symbol in PATHS and len(token) == 1:
            each = _EACH(token.parser)
            each[:] = _variable(token, _DOCUMENTS), token
            return each
        first = 1 if symbol in INTO else len(token)
        for index, part in enumerate(token):
            if index < first and part.symbol not in ("$", "(name)"):
                token[index] = self._held(part)
        return token


def _variable(token: Any, name: str) -> Any:
    """A token that stands for what is gathered, made by the parser of another one."""
    parser = token.parser
    variable = parser.symbol_table["$"](parser)
    inner = parser.symbol_table["(name)"](parser, name)
    variable[:] = (inner,)
    variable.value = name
    return variable


def _is_gathered(token: Any, bound: frozenset[str]) -> bool:
    """Whether each document can be asked for it, whatever the variables around it stand for."""
    used = {each[0].value for each in every(token) if each.symbol == "$"}
    return _is_by_document(token) and not used & bound


def _is_by_document(token: Any) -> bool:
    """Whether what all documents give is what each of them gives, one after the other."""
    symbol = symbol_of(token)
    if _is_start(token):
        return True
    if symbol in (*PATHS, "!"):
        return _is_by_document(token[0]) and not asks_place(token[1])
    if symbol == "[":
        return _is_by_document(token[0]) and is_boolean(token[1])
    if symbol == "(" and len(token) == 1:
        return _is_by_document(token[0])
    if symbol in _SETS:
        return all(map(_is_by_document, token))
    if symbol == "for" and len(token) == 3:
        return _is_by_document(token[1]) and not _starts_anew(token[2])
    return False


def _loses_its_document(token: Any) -> bool:
    """Whether an expression starts at the document where no node says which one.

    So do the body of a function and the values of a map, and what stands behind a value, as in
    ``(1 to 3) ! count(//Job)``.
    """
    for part in every(token):
        if any(_is_start(each) for one in hidden(part) for each in every(one)):
            return True
        behind = symbol_of(part) in INTO and len(part) == 2 and not _gives_nodes(part[0])
        if behind and any(map(_is_start, every(part[1]))):
            return True
    return False


def _is_start(token: Any) -> bool:
    """Whether an expression is the document, or a path from it."""
    return token.symbol in PATHS and len(token) < 2


def _gives_nodes(token: Any) -> bool:
    """Whether an expression certainly gives nodes."""
    symbol = symbol_of(token)
    if symbol in ("(name)", "@", "*", ".", "..") or token.label == "axis" or _is_start(token):
        return True
    if symbol in PATHS:
        return _gives_nodes(token[1])
    if symbol in ("(", "["):
        return len(token) > 0 and _gives_nodes(token[0])
    return symbol in _SETS and all(map(_gives_nodes, token))


def _starts_anew(token: Any) -> bool:
    """Whether an expression starts at the document, whatever its context item is."""
    return _is_start(token) or any(map(_starts_anew, at_its_item(token)))


def _side_by_side(documents: Iterable[Element]) -> list[Any]:
    """Documents as elementpath sees them, with nodes in the order of the documents."""
    found: list[Any] = []
    after = total = 0
    for root in documents:
        tree: Any = root.getroottree()
        node: Any = get_node_tree(tree)
        last = after
        for each in node.iter():
            each.position += after
            taken = len(each.value.nsmap) + len(each.value.attrib) if _is_element(each) else 0
            last = max(last, each.position + taken + 2)
            total += 1
        if found and total > NODES:
            raise LimitExceeded("nodes of documents that are asked together", NODES)
        after = last
        found.append(node)
    return found


def _is_element(node: Any) -> bool:
    return isinstance(node, ElementNode)
