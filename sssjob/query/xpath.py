"""XPath 1.0 queries over job objects, compiled once and run on any number of documents.

An expression that starts at the document (``//Job[State='Idle']/Id``) is asked of each document;
one that starts anywhere (``Delivered/Processors``) is asked of each job object, the outermost
Job or JobGroup. Names without prefix mean no namespace and the one of SSSRMAP alike.

The answers are those of libxml2 on the whole document. Where it is certain that job object by
job object gives the same answers, that is how they are found, in constant memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import defaults, spec
from sssjob.document import bridge, tree
from sssjob.document.files import Source
from sssjob.errors import NotAQuery
from sssjob.model import BLOCKS
from sssjob.query import functions, rewrite, scope
from sssjob.query.match import Match
from sssjob.query.parser import parse
from sssjob.query.syntax import Chain, Expression

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
        try:
            return (self.both if _USES_NAMESPACE(within) else self.plain)(element)
        except etree.XPathError as error:
            raise NotAQuery(self.expression, 0, f"{error}, when it was evaluated") from error


@dataclass(frozen=True)
class Query:
    """A compiled expression: a value to keep, and to run on many documents; see ``compile``."""

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
    def streams(self) -> bool:
        """Whether a source of any size is answered in constant memory."""
        return not self.obstacle

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
        """
        return self._compiled[False].on(element, element.getroottree().getroot())

    def run(
        self,
        source: Source,
        *,
        effective: bool = False,
        places: bool = True,
        whole: bool = False,
        on_error: tree.OnError | None = None,
    ) -> Iterator[Match]:
        """What the expression finds in a source of documents, in document order.

        ``whole`` holds documents as whole trees even where the expression does not need them,
        for a caller who looks around what was found. ``effective`` asks the job objects with
        their defaults applied and their older names replaced. Without ``places``, attributes
        and texts do not know where they stand, which is faster. Raises ``UnreadableDocument``,
        or hands it to ``on_error`` where documents of one line each let the rest go on.
        """
        if self.streams and not whole:
            return self._streamed(source, effective, places, on_error)
        return self._on_whole(source, effective, places)

    def asked_of(
        self, root: Element, *, effective: bool = False, places: bool = True
    ) -> Iterator[Match]:
        """What the expression finds in a document that was read: one whose root is a job object."""
        unit = _resolved(root) if effective else root
        yield from _matches(self._compiled[places].on(unit, unit), unit, 0, root.sourceline or 0)

    def _streamed(
        self, source: Source, effective: bool, places: bool, on_error: tree.OnError | None
    ) -> Iterator[Match]:
        parent: object = self  # what no element has above it
        pair = None
        for located in tree.located(source, on_error=on_error):
            unit = located.element
            if self.is_relative and not _is_object(unit):
                continue
            above = unit.getparent()
            if above is not parent:  # the same parent, the same ancestors
                parent, pair = above, self._at(unit, places)
            if pair is not None:
                unit = _resolved(unit) if effective else unit
                yield from _matches(pair.on(unit, unit), unit, located.offset, located.line)

    def _on_whole(self, source: Source, effective: bool, places: bool) -> Iterator[Match]:
        pair = self._compiled[places]
        for document, offset in tree.whole(source):
            root = _with_resolved(document) if effective else document
            if not self.is_relative:
                yield from _matches(pair.on(root, root), None, offset)
                continue
            for unit in filter(_is_object, _objects(root)):
                yield from _matches(pair.on(unit, root), unit, offset)

    def _at(self, unit: Element, places: bool) -> _Pair | None:
        """What is left to ask at a job object that hangs below its ancestors."""
        if self.is_relative:
            return self._compiled[places]
        tags = tuple(str(ancestor.tag) for ancestor in unit.iterancestors())
        key = (tags, places)
        if key not in self._residuals:
            ancestors = [scope.split(tag) for tag in reversed(tags)]
            paths = scope.residual(scope.unions(self.parsed), ancestors, self.namespaces)
            union = Chain(paths, ("|",) * (len(paths) - 1)) if len(paths) > 1 else None
            rest = union or next(iter(paths), None)
            self._residuals[key] = None if rest is None else self._compile(rest, places)
        return self._residuals[key]

    def _compile(self, expression: Expression, places: bool) -> _Pair:
        prefix = "sssrmap"
        while prefix in self.namespaces:
            prefix += "_"
        bound = {
            **self.namespaces,
            prefix: spec.NAMESPACE,
            functions.PREFIX: functions.NAMESPACE,
        }
        both = rewrite.in_both_namespaces(expression, prefix)
        # lxml registers them anew for every evaluation: only where one is called.
        ours = functions.extensions() if f"{functions.PREFIX}:" in str(expression) else None
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
        return compile, (self.expression, dict(self.namespaces))


def compile(expression: str, namespaces: Mapping[str, str] | None = None) -> Query:
    """A query from XPath 1.0; raises ``NotAQuery`` with the place that is not understood.

    ``namespaces`` gives the prefixes that the expression uses their namespaces.

    >>> query = compile("//Job[Processors > 12]/Id")
    >>> [match.text for match in query.run(b"<Job><Id>1</Id><Processors>16</Processors></Job>")]
    ['1']
    """
    query = Query(expression, dict(namespaces or {}))
    query.on(etree.Element("Nothing"))  # says now what libxml2 would say later
    return query


def _matches(answer: Any, unit: Element | None, offset: int, line: int = 0) -> Iterator[Match]:
    if isinstance(answer, list):
        for node in answer:
            yield Match(node, unit, offset, line)
    else:
        yield Match(answer, unit, offset, line, is_node=False)


def _objects(root: Element) -> list[Element]:
    """The outermost job objects of a tree, or its root if that is part of a job or holds none."""
    namespace, local = scope.split(str(root.tag))
    if namespace in spec.NAMESPACES and local in spec.CONTAINER:
        return [root]
    inner = [item for item in root.iter(*tree.UNIT_TAGS) if not _is_inside(item)]
    return inner or [root]


def _is_inside(element: Element) -> bool:
    return any(ancestor.tag in tree.UNIT_TAGS for ancestor in element.iterancestors())


def _is_object(element: Element) -> bool:
    namespace, local = scope.split(str(element.tag))
    return namespace in spec.NAMESPACES and local in BLOCKS


def _resolved(element: Element) -> Element:
    """A job object with its defaults applied; what is none stays as it is."""
    if not _is_object(element):
        return element
    return bridge.to_tree(defaults.resolve(bridge.from_tree(element)).block)


def _with_resolved(root: Element) -> Element:
    for element in _objects(root):
        new = _resolved(element)
        parent = element.getparent()
        if parent is None:
            return new
        if new is not element:
            new.tail = element.tail
            parent.replace(element, new)
    return root
