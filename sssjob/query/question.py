"""What every query can do, whatever it is written in: run over documents of any size.

An expression that starts at the document (``//Job[State='Idle']/Id``) is asked of each document;
one that starts anywhere (``Delivered/Processors``) is asked of each job object, the outermost
Job or JobGroup. Where it is certain that job object by job object gives the answers of the whole
document, that is how they are found, in constant memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from lxml.etree import _Element as Element

from sssjob.document import bridge, tree
from sssjob.document.batches import Batch, LargeDocument, Located, around
from sssjob.document.files import Source
from sssjob.document.outermost import is_block, outermost
from sssjob.errors import InheritedTooMuch, LimitExceeded, UnreadableDocument, finding
from sssjob.query.match import Match
from sssjob.query.syntax import Expression

# What an expression gives at an element whose tree it sees from another element on.
Ask = Callable[[Element, Element], Any]


class Question(ABC):
    """A compiled expression: a value to keep, to pickle, and to run on many documents."""

    expression: str
    namespaces: Mapping[str, str]

    @property
    @abstractmethod
    def parsed(self) -> Expression | None:
        """The expression as a tree of XPath 1.0, or None if it is none."""

    @property
    @abstractmethod
    def is_relative(self) -> bool:
        """Whether it is asked of each job object, not of each document."""

    @property
    @abstractmethod
    def obstacle(self) -> str:
        """Why it needs whole documents in memory; "" if it streams."""

    @property
    @abstractmethod
    def is_inside(self) -> bool:
        """Whether, asked of an element, it certainly looks at nothing outside of that element."""

    @abstractmethod
    def on(self, element: Element) -> Any:
        """What the expression gives at an element: a list of items, a string, float or bool.

        Attributes and text come as strings. An absolute path starts at the element's document.
        """

    @property
    def has_one_answer(self) -> bool:
        """Whether many documents have one answer together, and not one each."""
        return False

    @property
    def holds_documents(self) -> bool:
        """Whether its one answer needs documents side by side in memory."""
        return False

    @property
    def plain(self) -> Question | None:
        """The same question of XPath 1.0, if there is one in a later version."""
        return None

    @property
    def streams(self) -> bool:
        """Whether a source of any size is answered in constant memory."""
        return not self.obstacle

    def run(
        self,
        source: Source,
        *,
        effective: bool = False,
        places: bool = True,
        whole: bool = False,
        wanted: tree.Wanted = tree.Wanted.DOCUMENTS,
        on_error: tree.OnError | None = None,
    ) -> Iterator[Match]:
        """What the expression finds in a source of documents, in document order.

        ``whole`` holds documents as whole trees even where the expression does not need them,
        for a caller who looks around what was found. ``effective`` asks the job objects with
        their defaults applied and their older names replaced. Without ``places``, attributes
        and texts do not know where they stand, which is faster. Raises ``UnreadableDocument``,
        or hands it to ``on_error`` where the rest can go on: with the next document of one line
        each, or the next job object if it is one that cannot be asked. Documents without a job
        object are asked, too, or told as what cannot be read where job objects are ``wanted``.
        """
        if self.streams and not whole:
            return self._streamed(source, effective, places, on_error, wanted=wanted)
        located = tree.documents(source, on_error=on_error, known=self.known, wanted=wanted)
        return self.of_documents(located, effective, places, on_error)

    def asked_of(
        self, root: Element, *, effective: bool = False, places: bool = True
    ) -> Iterator[Match]:
        """What the expression finds in a document that was read, whose root is a job object.

        Raises ``LimitExceeded`` or ``UnreadableDocument`` for one that cannot be asked.
        """
        ask = self._asker(None, places)
        assert ask is not None
        unit = _resolved(root) if effective else root
        yield from self._matches(ask(unit, unit), unit, 0, root.sourceline or 0)

    @abstractmethod
    def _asker(self, above: tuple[str, ...] | None, places: bool) -> Ask | None:
        """How to ask a job object below elements with these tags, the nearest first.

        None as tags: how to ask a whole document. None as answer: nothing can be found there.
        """

    def refuse_many(  # noqa: B027 - one that asks node by node has nothing to do
        self, element: Element, within: Element
    ) -> None:
        """Raise ``LimitExceeded`` where what would be found fills the memory.

        Of what is asked node by node, that shows on the way.
        """

    def _matches(
        self, answer: Any, unit: Element | None, offset: int, line: int
    ) -> Iterator[Match]:
        if isinstance(answer, list):
            for node in answer:
                yield Match(node, unit, offset, line)
        else:
            yield Match(answer, unit, offset, line, is_node=False)

    def _streamed(
        self, source: Source, effective: bool, places: bool, on_error: tree.OnError | None, *,
        wanted: tree.Wanted,
    ) -> Iterator[Match]:  # fmt: skip
        located = tree.located(source, on_error=on_error, wanted=wanted)
        return self.of_units(located, effective, places, on_error)

    def of_units(
        self, source: Iterator[Located], effective: bool, places: bool,
        on_error: tree.OnError | None,
    ) -> Iterator[Match]:  # fmt: skip
        """What it finds in job objects one after the other, if it streams."""
        askers: dict[tuple[str, ...], Ask | None] = {}
        parent: object = self  # what no element has above it
        ask = None
        for located in source:
            unit = located.element
            if self.is_relative and not is_block(unit):
                continue
            above = unit.getparent()
            if above is not parent:  # the same parent, the same ancestors
                parent, tags = above, tuple(str(each.tag) for each in around(unit))
                if tags not in askers:
                    askers[tags] = self._asker(tags, places)
                ask = askers[tags]
            if ask is None:
                continue
            try:
                if effective:
                    unit = _resolved(unit)
                self.refuse_many(unit, unit)
                answer = ask(unit, unit)
            except (LimitExceeded, UnreadableDocument) as error:
                _refuse(error, located.line, on_error)
            else:
                yield from self._matches(answer, unit, located.offset, located.line)

    def batch_asker(
        self, effective: bool, places: bool
    ) -> Callable[[Batch, tree.OnError | None], Iterator[Match]]:
        """What finds all matches in a batch, for an expression that streams."""
        return lambda batch, on_error: self.of_units(batch.located(), effective, places, on_error)

    @property
    def known(self) -> frozenset[str]:
        """The namespaces of which the expression knows names: what is in them is asked for."""
        return frozenset(self.namespaces.values())

    def of_documents(
        self, source: Iterable[Located], effective: bool, places: bool,
        on_error: tree.OnError | None,
    ) -> Iterator[Match]:  # fmt: skip
        """What it finds in documents one after the other, each a whole tree."""
        ask = self._asker(None, places)
        assert ask is not None
        for located in source:
            document, offset = located
            is_large = isinstance(located, LargeDocument)
            try:
                root = with_resolved(document) if effective else document
            except InheritedTooMuch as error:
                _refuse(error, error.finding.line + offset, on_error)
                continue
            units = filter(is_block, outermost(root) or [root]) if self.is_relative else [root]
            for unit in units:
                try:
                    if is_large:
                        self.refuse_many(unit, root)
                    answer = ask(unit, root)
                except (LimitExceeded, UnreadableDocument) as error:
                    line = unit.sourceline
                    _refuse(error, line + offset if line else 0, on_error)
                else:
                    yield from self._matches(answer, unit if self.is_relative else None, offset, 0)


def _refuse(
    error: LimitExceeded | UnreadableDocument, line: int, on_error: tree.OnError | None
) -> None:
    """Say of one job object that it cannot be asked, and where it stands."""
    if isinstance(error, UnreadableDocument):
        placed = UnreadableDocument(replace(error.finding, line=line))
    else:
        placed = UnreadableDocument(finding("E-LIMIT", str(error), line=line))
    if on_error is None:
        raise placed from error
    on_error(placed)


def _resolved(element: Element) -> Element:
    """A job object with its defaults applied; what is none stays as it is."""
    if not is_block(element):
        return element
    from sssjob import defaults  # few queries are asked of what holds

    return bridge.to_tree(defaults.resolve(bridge.from_tree(element)).block)


def with_resolved(root: Element) -> Element:
    """A document with the defaults of all its job objects applied."""
    for element in outermost(root) or [root]:
        new = _resolved(element)
        parent = element.getparent()
        if parent is None:
            return new
        if new is not element:
            new.tail = element.tail
            parent.replace(element, new)
    return root
