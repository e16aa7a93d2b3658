"""Queries of XPath 2.0 and later: the same questions, asked through elementpath."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, Protocol, Self

from elementpath import ElementPathError
from elementpath.xpath_nodes import AttributeNode, DocumentNode, TextNode, XPathNode
from lxml import etree
from lxml.etree import _Element as Element

from sssjob.document import tree
from sssjob.document.batches import Batch, Located
from sssjob.document.files import Source
from sssjob.errors import (
    InvalidValue,
    LimitExceeded,
    NotAQuery,
    SSSJobError,
    UnreadableDocument,
    finding,
    hand_over,
)  # fmt: skip
from sssjob.query.match import Match
from sssjob.query.parser import MAX_DEPTH, parse
from sssjob.query.question import Ask, Question, with_resolved
from sssjob.query.syntax import Expression
from sssjob.query.xpath import Query
from sssjob.query.xpath2 import parser, scope, ways
from sssjob.query.xpath2.context import Context
from sssjob.query.xpath2.gathering import GatheredValues, Gathering, Place, gathering

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
    part: Place = ()  # of the token that is asked, if it is a part of the expression

    @classmethod
    def of(
        cls, expression: str, namespaces: dict[str, str], version: str, part: Place = ()
    ) -> Self:
        """A query whose expression was read; raises ``NotAQuery``."""
        if version not in VERSIONS:
            raise InvalidValue(version, f"a version of XPath: expected 1.0, {', '.join(VERSIONS)}")
        query = cls(expression, namespaces, version, part)
        query._refuse_unbound()
        return query

    @cached_property
    def parsed(self) -> Expression | None:
        """The expression as a tree of XPath 1.0, or None if it is none."""
        if self.part:
            return None
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
        with self._faults():
            if self.is_relative:
                root = element if self.is_inside else element.getroottree()
                context = Context(root, element)
            else:
                context = Context(element.getroottree())
            return [self._item(found) for found in self.token.select(context)]

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Say as ours what elementpath and Python say of an expression."""
        try:
            yield
        except ElementPathError as error:
            raise parser.stopped(error) or parser.not_a_query(self.expression, error) from error
        except InvalidValue as error:
            raise NotAQuery(self.expression, 0, str(error)) from error
        except SSSJobError:
            raise
        except RecursionError:
            raise LimitExceeded("calls inside each other", MAX_DEPTH) from None
        except parser.FAULTS as error:
            raise parser.beyond(self.expression, error) from error

    def _item(self, found: Any) -> Any:
        """An item as lxml has it; a value of a part keeps its type."""
        return found if self.part and not isinstance(found, XPathNode) else _item(found)

    @cached_property
    def gathering(self) -> Gathering | None:
        """How it has one answer for all documents; None where each is asked for itself."""
        if self.is_relative or self.part:
            return None
        own = parser.parse(self.expression, dict(self.namespaces), self.version)
        return gathering(own)

    @property
    def has_one_answer(self) -> bool:
        """Whether many documents have one answer together, and not one each."""
        return self.gathering is not None

    @property
    def holds_documents(self) -> bool:
        """Whether its one answer needs documents side by side in memory."""
        return self.gathering is not None and bool(self.gathering.holds)

    @cached_property
    def only_part(self) -> Question | None:
        """All that it gathers, as a question of its own, if that is one part and no document."""
        how = self.gathering
        if how is None or how.holds or len(how.parts) != 1:
            return None
        question = self.at(how.parts[0].place)
        return question.plain or question

    def keep(
        self, located: Located, gathered: Mapping[str, GatheredValues], effective: bool,
        on_error: tree.OnError | None,
    ) -> Element:  # fmt: skip
        """Add what its parts find in a document, and give that, with its defaults if wanted.

        Raises ``LimitExceeded``, and ``UnreadableDocument`` as ``run`` does.
        """
        if effective:
            located = located._replace(element=with_resolved(located.element))
        for variable, question in self._parts:
            found = question.of_documents((located,), False, False, on_error)
            gathered[variable].add(found)
        return located.element

    @cached_property
    def _parts(self) -> list[tuple[str, XPath2Query]]:
        assert self.gathering is not None
        return [(part.variable, self.at(part.place)) for part in self.gathering.parts]

    @cached_property
    def plain(self) -> Question | None:
        """The same question of XPath 1.0, where it certainly means the same."""
        found = ways.plain(self.token, self.namespaces)
        return None if found is None else Query(str(found), self.namespaces)

    def at(self, place: Place) -> XPath2Query:
        """The question that a part of it is."""
        return XPath2Query.of(self.expression, dict(self.namespaces), self.version, place)

    def run(
        self, source: Source, *, effective: bool = False, places: bool = True, whole: bool = False,
        wanted: tree.Wanted = tree.Wanted.DOCUMENTS, on_error: tree.OnError | None = None,
    ) -> Iterator[Match]:  # fmt: skip
        """As of any question; one that gathers has one answer for all documents of a source."""
        if not self.has_one_answer:
            asked = self.plain.run if self.plain else super().run
            return asked(
                source, effective=effective, places=places, whole=whole, wanted=wanted,
                on_error=on_error,
            )  # fmt: skip
        return self.gathered(_OfSource(self, source, effective, wanted), on_error)

    def asked_of(
        self, root: Element, *, effective: bool = False, places: bool = True
    ) -> Iterator[Match]:
        """What the expression finds in a document that was read, whose root is a job object."""
        asked = self.plain.asked_of if self.plain else super().asked_of
        return asked(root, effective=effective, places=places)

    def batch_asker(
        self, effective: bool, places: bool
    ) -> Callable[[Batch, tree.OnError | None], Iterator[Match]]:
        """What finds all matches in a batch, for an expression that streams."""
        made = self.plain.batch_asker if self.plain else super().batch_asker
        return made(effective, places)

    def of_documents(
        self, source: Iterable[Located], effective: bool, places: bool,
        on_error: tree.OnError | None,
    ) -> Iterator[Match]:  # fmt: skip
        """What it finds in documents one after the other, each a whole tree."""
        asked = self.plain.of_documents if self.plain else super().of_documents
        return asked(source, effective, places, on_error)

    def gathered(self, supply: Supply, on_error: tree.OnError | None) -> Iterator[Match]:
        """The one answer, by what documents give; none where one of them cannot be asked."""
        how, faults = self.gathering, []
        assert how is not None

        def tell(error: Any) -> None:
            faults.append(error)
            hand_over(error, on_error)

        try:
            found, documents = supply.gathered(how, tell)
            if faults:
                return
            alone = supply.holds_all and len(documents) == 1
            items = self.on(documents[0]) if alone else self._worked_out(how, found, documents)
        except LimitExceeded as error:
            tell(UnreadableDocument(finding("E-LIMIT", str(error))))
        except NotAQuery as error:
            tell(UnreadableDocument(finding("E-TYPE", error.message)))
        else:
            yield from self._matches(items, None, 0, 0)

    def _worked_out(
        self, how: Gathering, found: Mapping[str, list[Any]], documents: list[Element]
    ) -> list[Any]:
        with self._faults():
            return [self._item(each) for each in how.answer(found, documents)]

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
        found = parser.parse(self.expression, dict(self.namespaces), self.version)
        for index in self.part:
            found = found[index]
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """What elementpath compiled does not travel between processes; the text does."""
        return type(self).of, (self.expression, dict(self.namespaces), self.version, self.part)


class Supply(Protocol):
    """What documents there are."""

    @property
    def holds_all(self) -> bool:
        """Whether the documents that are held, if any are, are all that there are."""

    def gathered(
        self, how: Gathering, on_error: Callable[[Any], None]
    ) -> tuple[Mapping[str, list[Any]], list[Element]]:
        """What the parts give, by their variables, and the documents that are held."""


@dataclass(frozen=True, slots=True)
class _OfSource:
    """The documents of a source, which is read once."""

    question: XPath2Query
    source: Source
    effective: bool
    wanted: tree.Wanted

    @property
    def holds_all(self) -> bool:
        """All documents are held, if one is."""
        return True

    def gathered(
        self, how: Gathering, on_error: Callable[[Any], None]
    ) -> tuple[dict[str, list[Any]], list[Element]]:
        """What the parts give, by their variables, and the documents that are held."""
        gathered = how.kept()
        documents: list[Element] = []
        if (alone := self.question.only_part) is not None:
            [found] = gathered.values()
            found.add(alone.run(
                self.source, effective=self.effective, places=False, wanted=self.wanted,
                on_error=on_error,
            ))  # fmt: skip
        else:
            known = self.question.known
            for located in tree.documents(
                self.source, on_error=on_error, known=known, wanted=self.wanted
            ):
                root = self.question.keep(located, gathered, self.effective, on_error)
                if how.holds:
                    documents.append(root)
        return {name: each.items for name, each in gathered.items()}, documents


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
