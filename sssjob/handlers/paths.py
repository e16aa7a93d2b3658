"""Get with an expression: what XPath finds in each job, asked as if the job stood alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.document import bridge
from sssjob.errors import LimitExceeded, NotAQuery, Refused, UnreadableDocument
from sssjob.handlers.columns import is_name
from sssjob.handlers.view import View
from sssjob.query import Match, Question, compile
from sssjob.rmap.message import Get, Item
from sssjob.rmap.reading import item

_VALUE = "Value"  # what a found text is called that has no name of its own
_LONGEST = 4096  # characters of an expression


@dataclass(frozen=True, slots=True)
class Path:
    """An expression, and what its findings are called."""

    question: Question
    label: str

    @classmethod
    def of(cls, asked: Get) -> Path:
        """The path that a Get asks for. Raises ``Refused`` (318) for what is no XPath 1.0."""
        label = asked.alias or asked.name
        if asked.op or (label and not is_name(label)) or len(asked.path) > _LONGEST:
            raise Refused("318", "An expression stands alone, or with an alias")
        try:
            return cls(compile(asked.path), label)
        except (NotAQuery, LimitExceeded) as error:
            raise Refused("318", f"The expression is not understood: {error}") from error


def found(view: View, paths: Sequence[Path], cells: Sequence[tuple[str, str]]) -> Item | None:
    """The element of a job with what its paths find; None where they find nothing.

    ``cells`` are the properties that were asked for by name; they make a job worth an element.
    """
    # Effective, and detached: no axis leads to a neighbour in the same job group.
    root = bridge.to_tree(view.block, namespace="")
    element = etree.Element(view.block.name)
    for name, text in cells:
        etree.SubElement(element, name).text = text
    for path in paths:
        for match in _matches(path, root):
            element.append(_shown(match, path.label))
    return item(element) if len(element) else None


def _matches(path: Path, root: Element) -> Iterator[Match]:
    try:
        yield from path.question.asked_of(root, places=False)
    except (LimitExceeded, UnreadableDocument) as error:
        raise Refused("318", "The expression asks too much of a job") from error


def _shown(match: Match, label: str) -> Element:
    if isinstance(match.found, Element) and isinstance(match.found.tag, str):
        copy = deepcopy(match.found)
        copy.tail = None
        if label:
            copy.tag = label
        return copy
    element = etree.Element(label or _VALUE)
    element.text = match.text
    return element
