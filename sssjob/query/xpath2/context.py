"""Where an expression is asked, as elementpath sees it: both namespaces, and not for ever."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

from elementpath import XPathContext
from elementpath.xpath_nodes import ElementNode
from lxml import etree

from sssjob.document import limits
from sssjob.errors import LimitExceeded
from sssjob.spec import NAMESPACE

SECONDS = 20  # for one job object, or for one document that is asked as a whole


PREFIXES = 100  # elementpath asks each element for all that hold there


class Context(XPathContext):
    """A context in which a name without prefix means both namespaces of the standard."""

    deadline: float

    def __init__(self, root: Any, item: Any = None) -> None:
        top = root.getroot() if hasattr(root, "getroot") else root
        _check_prefixes(top)
        nodes = limits.nodes_of_tree(top)
        limits.refuse_made(nodes, nodes * limits.NODE_OF_XPATH2)
        super().__init__(root, item=item)
        self.deadline = time.monotonic() + SECONDS

    def iter_matching_nodes(self, name: str, default_namespace: str | None = None) -> Iterator[Any]:
        """Elements or attributes of a name, children unless an axis is active."""
        self.check()
        if default_namespace is None or name[:1] in "{*":
            yield from super().iter_matching_nodes(name, default_namespace)
            return
        both = (name, f"{{{NAMESPACE}}}{name}")
        if self.axis is not None:
            item: Any = self.item
            if getattr(item, "name", None) in (both if isinstance(item, ElementNode) else both[:1]):
                yield item
            return
        for child in self.iter_children_or_self():
            if isinstance(child, ElementNode) and child.name in both:
                yield child

    def iter_descendants(self, axis: str | None = None) -> Iterator[Any]:
        """The axes descendant and descendant-or-self, and //."""
        for item in super().iter_descendants(axis):
            self.check()
            yield item

    def iter_product(self, *arguments: Any, **options: Any) -> Iterator[Any]:
        """What for, some and every go through."""
        for item in super().iter_product(*arguments, **options):
            self.check()
            yield item

    def __copy__(self) -> Context:
        """What predicates, maps and functions are worked out in, for each of their items."""
        self.check()
        return cast(Context, super().__copy__())

    def check(self) -> None:
        """Raise ``LimitExceeded`` where it takes too long."""
        if time.monotonic() > self.deadline:
            raise LimitExceeded("seconds for one document", SECONDS)


def _check_prefixes(root: Any) -> None:
    """Raise ``LimitExceeded`` where more prefixes hold at an element than elementpath can bear."""
    held: list[str] = [prefix or "" for prefix in root.nsmap]
    counts = Counter(held)
    for _, found in etree.iterwalk(root, events=("start-ns", "end-ns")):
        if found is not None:  # else the declaration that came last ends
            held.append(found[0])
            counts[found[0]] += 1
        elif held:
            last = held.pop()
            counts[last] -= 1
            if not counts[last]:
                del counts[last]
        if len(counts) > PREFIXES:
            raise LimitExceeded("prefixes that hold at an element", PREFIXES)
