"""Queries of XPath 2.0 and later: the same questions, asked through elementpath."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, Self

from elementpath import ElementPathError
from elementpath.xpath_nodes import AttributeNode, DocumentNode, TextNode, XPathNode
from lxml import etree
from lxml.etree import _Element as Element

from sssjob.errors import (
    InvalidValue,
    LimitExceeded,
    NotAQuery,
    SSSJobError,
    UnreadableDocument,
    finding,
)  # fmt: skip
from sssjob.query.match import Match
from sssjob.query.parser import MAX_DEPTH, parse
from sssjob.query.question import Ask, Question
from sssjob.query.syntax import Expression
from sssjob.query.xpath2 import parser, scope
from sssjob.query.xpath2.context import Context

VERSIONS = tuple(parser.PARSERS)

LONGEST = 1 << 13  # bits of an integer; Python writes no more than 4300 digits

_ATTRIBUTES = etree.XPath("@*")
_TEXTS = etree.XPath("text()")


@dataclass(frozen=True)
class XPath2Query(Question):
    """A compiled expression of XPath 2.0, 3.0 or 3.1; see ``sssjob.query.compile``."""

    expression: str
    namespaces: Mapping[str, str] = field(default_factory=dict, hash=False)
    version: str = "3.1"

    @classmethod
    def of(cls, expression: str, namespaces: dict[str, str], version: str) -> Self:
        """A query whose expression was read; raises ``NotAQuery``."""
        if version not in VERSIONS:
            raise ValueError(
                f"{version!r} is no version of XPath: expected 1.0, {', '.join(VERSIONS)}"
            )
        query = cls(expression, namespaces, version)
        query._refuse_unbound()
        return query

    @cached_property
    def parsed(self) -> Expression | None:
        """The expression as a tree of XPath 1.0, or None if it is none."""
        try:
            return parse(self.expression, self.namespaces)
        except NotAQuery:
            return None

    @cached_property
    def is_relative(self) -> bool:
        """Whether it is asked of each job object, not of each document."""
        return scope.is_relative(self.token)

    @cached_property
    def obstacle(self) -> str:
        """Why it needs whole documents in memory; "" if it streams."""
        return scope.obstacle(self.token, dict(self.namespaces))

    @cached_property
    def is_inside(self) -> bool:
        """Whether, asked of an element, it certainly looks at nothing outside of that element."""
        return scope.is_inside(self.token)

    def on(self, element: Element) -> list[Any]:
        """The items that the expression gives at an element: nodes, and values of any type.

        Raises ``NotAQuery`` for an error of the expression that shows with this element, and
        ``LimitExceeded`` where it takes too long.
        """
        try:
            if self.is_relative:
                root = element if self.is_inside else element.getroottree()
                context = Context(root, element)
            else:
                context = Context(element.getroottree())
            return [_item(found) for found in self.token.select(context)]
        except ElementPathError as error:
            raise parser.not_a_query(self.expression, error) from error
        except InvalidValue as error:
            raise NotAQuery(self.expression, 0, str(error)) from error
        except SSSJobError:
            raise
        except RecursionError:
            raise LimitExceeded("calls inside each other", MAX_DEPTH) from None
        except parser.FAULTS as error:
            raise parser.beyond(self.expression, error) from error

    def _asker(self, above: tuple[str, ...] | None, places: bool) -> Ask | None:
        """On its own, since the tree of a stream also holds what was read ahead."""

        def ask(element: Element, within: Element) -> list[Any]:
            alone = element if above is None or self.is_relative else _below(above, element)
            try:
                return self.on(alone)
            except NotAQuery as error:  # with this job object: others may have what it lacks
                raise UnreadableDocument(finding("E-TYPE", error.message)) from error

        return ask

    def _matches(
        self, answer: Any, unit: Element | None, offset: int, line: int
    ) -> Iterator[Match]:
        for item in answer:
            is_node = isinstance(item, Element) or hasattr(item, "getparent")
            yield Match(item, unit, offset, line, is_node)

    def _refuse_unbound(self) -> None:
        """Raise ``NotAQuery`` for a variable without a value, which elementpath notices late."""
        if any(token.symbol == "$" for token in self.token.iter()):
            try:
                self.on(etree.Element("Nothing"))
            except LimitExceeded:
                return
            except NotAQuery as error:
                if parser.UNKNOWN_VARIABLE in error.message:
                    raise

    @cached_property
    def token(self) -> Any:
        """The expression as elementpath reads it: the token at the root of the others."""
        return parser.parse(self.expression, dict(self.namespaces), self.version)

    def __reduce__(self) -> tuple[Any, ...]:
        """What elementpath compiled does not travel between processes; the text does."""
        return type(self).of, (self.expression, dict(self.namespaces), self.version)


def _below(above: tuple[str, ...], element: Element) -> Element:
    """A copy of an element, lines included, below elements with these tags, the nearest first."""
    copy = inner = deepcopy(element)
    for tag in above:
        outer = etree.Element(tag)
        outer.append(inner)
        inner = outer
    return copy


def _item(found: Any) -> Any:
    """What lxml has for a node of elementpath; numbers and booleans as they are, else a text."""
    value: Any = found.value if isinstance(found, XPathNode) else found
    if isinstance(found, AttributeNode | TextNode):
        parent: Any = None if found.parent is None else found.parent.value
        return str(value) if parent is None else _placed(found, parent)
    if isinstance(found, DocumentNode):
        return value.getroot()
    if type(value) is int and value.bit_length() > LONGEST:
        raise LimitExceeded("bits of a number", LONGEST)
    return value if isinstance(value, Element | bool | int | float | Decimal) else str(value)


def _placed(found: AttributeNode | TextNode, parent: Element) -> Any:
    """An attribute or text as lxml gives it, which knows where it stands."""
    if isinstance(found, AttributeNode):
        return next(each for each in _ATTRIBUTES(parent) if each.attrname == found.name)
    texts = (each for each in _TEXTS(parent) if each == found.value)
    return next(texts, str(found.value))
