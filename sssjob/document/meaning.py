"""What the values of a document say together: rules that ask the floor of meaning.

They need values instead of trees, which takes longer than the walk. So a look at the tree tells
first whether there is anything for them: most jobs state a number of nodes and of processors
that agree, and nothing about tasks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lxml.etree import _Element as Element

from sssjob import layout, nodes, spec, units
from sssjob.document.bridge import from_tree
from sssjob.document.places import split
from sssjob.errors import Finding, InvalidValue

_NAMED = ("Feature", "Node")
_COUNTED = ("NodeCount", "Processors")
_TASKS = ("TaskCount", "TaskDistribution", "Task")
_CANONICAL = {
    **{name: name for name in (*_NAMED, *_COUNTED, *_TASKS)},
    **{row.name: row.canonical for row in spec.ALIASES if row.canonical in _COUNTED},
}
_TAGS = tuple(f"{{*}}{name}" for name in _CANONICAL)
_DEFAULTS = tuple(f"{{*}}{name}" for name in spec.DEFAULTS.values())
_PLAIN = ("EQ", "GE", "LE")


def check(element: Element, *, offset: int = 0) -> Iterator[Finding]:
    """Every finding about names, counts and layouts of a job object.

    ``offset`` is the number of lines before its document.
    """
    if is_silent(element):
        return
    block = from_tree(element)
    for found in (*nodes.check(block), *layout.check(block)):
        yield replace(found, line=found.line + offset) if found.line else found


def is_silent(element: Element) -> bool:
    """Whether it is certain, without values, that ``check`` finds nothing."""
    counts: dict[str, list[int]] = {name: [] for name in _COUNTED}
    for item in element.iter(_TAGS):
        name = _CANONICAL[split(item.tag)[1]]
        if name in _NAMED:
            if item.get("aggregation") is not None or item.get("delimiter") is not None:
                return False
        elif name in _TASKS:
            return False
        elif not _is_delivered(item):
            number = _count(item)
            if number is None:
                return False
            counts[name].append(number)
    if not any(counts.values()):
        return True
    if next(element.iter("{*}TaskGroup"), None) is not None and len(counts["Processors"]) > 1:
        return False  # a job's may be those of its task groups, or not
    # However values are inherited and lent: if every number of nodes is at most every number of
    # processors, each node has a task.
    return not (all(counts.values()) and max(counts["NodeCount"]) > min(counts["Processors"]))


def _is_delivered(item: Element) -> bool:
    parent = item.getparent()
    return parent is not None and split(str(parent.tag))[1] == spec.DELIVERED


def _count(item: Element) -> int | None:
    """A count that stands in an expression as what it is, or in none; None if that is doubtful."""
    if item.get("op", "EQ") not in _PLAIN or _is_grouped(item):
        return None
    try:
        return units.integer(item.text or "")
    except InvalidValue:
        return None


def _is_grouped(item: Element) -> bool:
    """Whether groups or conjunctions stand around it, which may turn it into its contrary."""
    parent = item.getparent()
    return parent is not None and any(
        child.get("group") is not None or child.get("conj") is not None for child in parent
    )
