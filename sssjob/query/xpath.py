"""XPath 1.0 queries over job objects, compiled once and run on any number of documents.

The answers are those of libxml2 on the whole document. Names without prefix mean no namespace and
the one of SSSRMAP alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import spec
from sssjob.document import limits, reader, tree
from sssjob.document.batches import Batch, Located
from sssjob.document.files import Source
from sssjob.document.outermost import is_block
from sssjob.document.places import split
from sssjob.errors import LimitExceeded, NotAQuery, UnreadableDocument
from sssjob.query import cost, rewrite, scope
from sssjob.query.match import Match
from sssjob.query.parser import parse
from sssjob.query.question import Ask, Question
from sssjob.query.syntax import (
    NAMESPACE,
    PREFIX,
    Chain,
    Expression,
    Path,
    Step,
    Test,
)

_FEW = 64  # job objects: in a batch of more, none is large

# What asks an element, once it is known what tree that stands in.
Asking = Callable[[Element], Callable[[Element], Any]]

_USES_NAMESPACE = etree.XPath(
    "boolean(descendant-or-self::s:*)", namespaces={"s": spec.NAMESPACE}, smart_strings=False
)


class _Pair(NamedTuple):
    """One expression for documents without the namespace of SSSRMAP, and one for those with."""

    expression: str
    plain: etree.XPath
    both: etree.XPath

    def on(self, element: Element, within: Element) -> Any:
        """The answer at an element whose tree the expression sees from ``within`` on."""
        return self.at_once(within)(element)

    def at_once(self, within: Element) -> Callable[[Element], Any]:
        """What asks many elements of a tree, which the expression sees from ``within`` on."""
        compiled = self.both if _USES_NAMESPACE(within) else self.plain

        def ask(element: Element) -> Any:
            try:
                return compiled(element)
            except etree.XPathError as error:
                said = f"{error}, when it was evaluated"
                raise NotAQuery(self.expression, 0, said) from error

        return ask


@dataclass(frozen=True)
class Query(Question):
    """A compiled expression of XPath 1.0; see ``sssjob.query.compile``."""

    expression: str
    namespaces: Mapping[str, str] = field(default_factory=dict, hash=False)

    @cached_property
    def parsed(self) -> Expression:
        """The expression as a tree, without the detours that ``//`` takes."""
        return rewrite.direct(parse(self.expression, self.namespaces))

    @cached_property
    def is_relative(self) -> bool:
        """Whether it is asked of each job object, not of each document."""
        return scope.is_relative(self.parsed)

    @cached_property
    def obstacle(self) -> str:
        """Why it needs whole documents in memory; "" if it streams."""
        return scope.obstacle(self.parsed, self.namespaces)

    @cached_property
    def is_inside(self) -> bool:
        """Whether, asked of an element, it certainly looks at nothing outside of that element."""
        return scope.is_inside(self.parsed)

    def on(self, element: Element) -> Any:
        """What the expression gives at an element: a list of nodes, a string, float or bool.

        Attributes and text come as strings. An absolute path starts at the element's document.
        Raises ``LimitExceeded`` where an answer could take for ever.
        """
        return self._bounded(self._compiled[False])(element, element.getroottree().getroot())

    def _asker(self, above: tuple[str, ...] | None, places: bool) -> Ask | None:
        if above is None or self.is_relative:
            return self._bounded(self._compiled[places])
        key = (above, places)
        if key not in self._residuals:
            ancestors = [split(tag) for tag in reversed(above)]
            paths = scope.residual(scope.unions(self.parsed), ancestors, self.namespaces)
            union = Chain(paths, ("|",) * (len(paths) - 1)) if len(paths) > 1 else None
            rest = union or next(iter(paths), None)
            self._residuals[key] = None if rest is None else self._compile(rest, places)
        found = self._residuals[key]
        return None if found is None else self._bounded(found)

    def refuse_many(self, element: Element, within: Element) -> None:
        """Raise ``LimitExceeded`` where what would be found fills the memory.

        It is counted first, which takes as long as to find it, where all nodes would be too many.
        """
        nodes = limits.nodes_of_tree(within)
        with suppress(LimitExceeded):
            limits.refuse_made(nodes, nodes * limits.FOUND)
            return
        with suppress(NotAQuery):  # a value: nothing is counted
            found = self._counted.on(element, within)
            limits.refuse_made(nodes, int(found) * limits.FOUND)

    @cached_property
    def _counted(self) -> _Pair:
        counted = rewrite.direct(parse(f"count({self.expression})", self.namespaces))
        return self._compile(counted, places=False)

    @cached_property
    def _multiplies(self) -> bool:
        return cost.multiplies(self.parsed)

    def _bounded(self, pair: _Pair) -> Ask:
        """What asks only where that ends in time; raises ``LimitExceeded`` elsewhere."""
        if not self._multiplies:
            return pair.on

        def ask(element: Element, within: Element) -> Any:
            cost.refuse_endless(self.parsed, within)
            return pair.on(element, within)

        return ask

    def _streamed(
        self, source: Source, effective: bool, places: bool, on_error: tree.OnError | None, *,
        wanted: tree.Wanted,
    ) -> Iterator[Match]:  # fmt: skip
        # Resolving a job takes many times as long as reading it; and in a batch, what multiplies
        # would multiply more.
        if effective or self._multiplies:
            yield from super()._streamed(source, effective, places, on_error, wanted=wanted)
            return
        ask = self.batch_asker(effective, places)
        for batch in reader.batches(source, on_error=on_error, wanted=wanted):
            yield from ask(batch, on_error)

    def batch_asker(
        self, effective: bool, places: bool
    ) -> Callable[[Batch, tree.OnError | None], Iterator[Match]]:
        """As of any question; where that gives the same, a batch is asked at once."""
        one_by_one = super().batch_asker(effective, places)
        if effective or self._multiplies:
            return one_by_one
        at_once = self._compile(self.parsed, places).at_once
        side_by_side = None if self.is_relative else self.side_by_side(places)

        def ask(batch: Batch, on_error: tree.OnError | None) -> Iterator[Match]:
            try:
                return iter(list(self._of_batch(batch, at_once, side_by_side)))
            except (LimitExceeded, UnreadableDocument):  # which it is, is told when each is asked
                return one_by_one(batch, on_error)

        return ask

    def _of_batch(self, batch: Batch, ask: Asking, side_by_side: Asking | None) -> Iterator[Match]:
        root, line = batch.root, batch.offset
        if len(batch.units) <= _FEW:
            for each in batch.units if self.is_relative else (root,):
                self.refuse_many(each, each)
        if side_by_side is not None:
            chosen = side_by_side if batch.are_documents else ask
            yield from self._matches(chosen(root)(root), None, line, 0)
            return
        asked = ask(root)
        for unit in filter(is_block, batch.units):
            yield from self._matches(asked(unit), unit, line, Located(unit, line).line)

    def side_by_side(self, places: bool) -> Asking:
        """How to ask many documents that stand below one root, each as if it stood alone.

        For an expression that streams and starts at the document.
        """
        # What is left of the paths at the root of a document is asked of all of them.
        down = (Step("child", Test("*")),) * 2
        found = tuple(
            Path((*down, *path.steps), absolute=True)
            for path in scope.residual(scope.unions(self.parsed), (), self.namespaces)
        )
        union = (
            Chain(found, ("|",) * (len(found) - 1)) if len(found) > 1 else next(iter(found), None)
        )
        nothing = Path((Step("child", Test("*")), Step("attribute", Test("*"))), absolute=True)
        return self._compile(union or next(iter(found), nothing), places).at_once

    def _compile(self, expression: Expression, places: bool) -> _Pair:
        prefix = "sssrmap"
        while prefix in self.namespaces:
            prefix += "_"
        bound = {
            **self.namespaces,
            prefix: spec.NAMESPACE,
            PREFIX: NAMESPACE,
        }
        both = rewrite.in_both_namespaces(expression, prefix)
        # lxml registers them anew for every evaluation: only where one is called.
        ours = _functions() if f"{PREFIX}:" in str(expression) else None
        try:
            plain, either = (
                etree.XPath(
                    str(text), namespaces=bound, extensions=ours, smart_strings=places, regexp=False
                )
                for text in (expression, both)
            )
        except etree.XPathError as error:
            raise NotAQuery(self.expression, 0, str(error)) from error
        return _Pair(self.expression, plain, either)

    @cached_property
    def _compiled(self) -> dict[bool, _Pair]:
        return {places: self._compile(self.parsed, places) for places in (False, True)}

    @cached_property
    def _residuals(self) -> dict[tuple[tuple[str, ...], bool], _Pair | None]:
        return {}

    def __reduce__(self) -> tuple[Any, ...]:
        """What libxml2 compiled does not travel between processes; the text does."""
        return Query, (self.expression, dict(self.namespaces))


def _functions() -> dict[tuple[str, str], Callable[..., Any]]:
    from sssjob.query import functions  # they read requests, for which there is much to import

    return functions.extensions()
