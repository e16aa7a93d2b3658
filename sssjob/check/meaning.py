"""What the values of a document say together: rules that ask the floor of meaning.

They need values instead of trees, which takes longer than the walk. So a look at the tree tells
first whether there is anything for them: most jobs state a number of nodes and of processors
that agree, and nothing about tasks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from lxml.etree import _Element as Element

from sssjob import layout, nodes, spec, units
from sssjob.amounts import Scope
from sssjob.check import requests
from sssjob.defaults import OVERRIDDEN_BY_ALL, has_only_group, resolve, together
from sssjob.defaults.overriding import overridden_by_all
from sssjob.document.bridge import from_tree
from sssjob.document.places import attributes, split, text_of
from sssjob.document.report import ObjectReport
from sssjob.errors import Finding, InvalidValue, LimitExceeded, UnbalancedGroup, finding
from sssjob.expression import comparisons, conjuncts
from sssjob.expression.conflicts import shown
from sssjob.expression.evaluate import stated
from sssjob.model import Block, Job, Property, TaskGroup, paths

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
_NEGATING = ("Nand", "Nor")
_UNSAT = "W-UNSAT"
_BEHIND_GROUP = re.compile(r"(?<=/TaskGroup)\[[0-9]+\](?=/Requested$)")  # steps stand beside it


def check(report: ObjectReport) -> None:
    """Say all there is to say about names, counts and layouts of a job object."""
    root = report.root
    requests.check(report)
    if any(each.code == _UNSAT for each in report.found):
        _tell_useless(report)
    if _is_settled(root):
        return
    for item in root.iter(*(f"{{*}}{name}" for name in _NAMED)):
        names(item, report)
    block = from_tree(root)
    found = [*layout.check(block), *_of_features(block, report)]
    blamed = Blamed(root) if found else None
    for fault in found:
        assert blamed is not None
        path, _, attribute = fault.path.partition("/@")
        report.say(
            fault.code, blamed(path, fault.line), fault.message, fault.section, fault.suggestion,
            attribute, severity=fault.severity,
        )  # fmt: skip


# decision 1180
def _tell_useless(report: ObjectReport) -> None:
    """Say of what counts for nothing that it does so, and not that nothing can satisfy it."""
    if next(report.root.iter("{*}TaskGroup"), None) is None:
        return
    block = resolve(from_tree(report.root)).block
    why: dict[tuple[str, int, str], str] = {}
    for path, each in chain([(f"/{block.name}", block)], paths(block, f"/{block.name}")):
        for holder, item, reason in _useless(each) if type(each) is Job else ():
            at = path if holder is each else f"{path}/TaskGroup"
            why[f"{at}/Requested", item.line + report.offset, item.name] = reason
    for number, told in enumerate(report.found):
        at, _, name = told.path.rpartition("/")
        reason = why.get((_BEHIND_GROUP.sub("", at), told.line, name.partition("[")[0]), "")
        if told.code == _UNSAT and reason:
            text = f"{name.partition('[')[0]} counts for nothing: {reason}"
            report.found[number] = finding(
                "W-USELESS", text, line=told.line, path=told.path, section=told.section
            )


def _useless(job: Job) -> Iterator[tuple[Block, Property, str]]:
    """What a job or its task groups request and nobody is asked for, by whom, and why."""
    groups = job.asking_groups
    try:
        own, *theirs = (conjuncts(stated(each, job)) for each in (job, *groups))
        if has_only_group(job):
            left = together(own, theirs[0], groups[0].properties.names()).left
            yield from ((job if of_job else groups[0], item, why) for item, of_job, why in left)
        elif groups:
            for part in overridden_by_all(job, own, theirs):
                yield from ((job, each.item, OVERRIDDEN_BY_ALL) for each in comparisons(part))
    except (InvalidValue, LimitExceeded, UnbalancedGroup):  # which is told
        return


# decision 1158
def _of_features(block: Block, report: ObjectReport) -> Iterator[Finding]:
    """What a job and its only task group say of features, or a block outside of its request.

    What one request says by itself is told of it.
    """
    if not _excludes([*report.root.iter("{*}Feature")]):
        return
    told = [each.path for each in report.found if each.code == _UNSAT]
    for path, scope in _asking(block):
        if scope.is_said_twice and not any(each.startswith(f"{path}/") for each in told):
            yield from _contradiction(scope)


def _asking(block: Block) -> Iterator[tuple[str, Scope]]:
    """Jobs, each with its only task group, and each of several groups."""
    effective = resolve(block).block
    for path, each in chain([(f"/{block.name}", effective)], paths(effective, f"/{block.name}")):
        if type(each) is Job:
            yield path, (job := Scope(each, path))
            inner = () if job.is_one else paths(each, path)
            yield from ((at, Scope(of, at)) for at, of in inner if type(of) is TaskGroup)
        elif type(each) is TaskGroup and each is effective:
            yield path, Scope(each, path)


def _contradiction(scope: Scope) -> Iterator[Finding]:
    found = scope.contradiction
    if not found:
        return
    last = [each.item for term in found for each in comparisons(term)][-1]
    is_of_job = any(last is item for item in scope.request)
    inner = "" if is_of_job or not scope.is_one else "/TaskGroup"
    yield finding(_UNSAT, shown(found), path=f"{scope.path}{inner}/Requested/{last.name}",
                  line=last.line, section="SSS 8.1")  # fmt: skip


def names(element: Element, report: ObjectReport) -> None:
    """Say what is wrong with the aggregation of a Feature or Node, if it is known in its place."""
    above = [split(str(ancestor.tag)) for ancestor in element.iterancestors()]
    depth = len(list(report.root.iterancestors()))
    inside = above[: len(above) - depth]
    if not all(name in spec.CONTAINER and space in spec.NAMESPACES for space, name in inside):
        return
    namespace, name = split(str(element.tag))
    if namespace in spec.NAMESPACES and inside:
        item = Property(name, text_of(element), attributes(element))
        for fault in nodes.faults(item, inside[0][1]):
            attribute = fault.path.removeprefix("/@")
            report.say(
                fault.code, element, fault.message, fault.section, fault.suggestion, attribute
            )  # fmt: skip


class Blamed:
    """The element of a tree that is meant by a path and a line of values made from it.

    Values may have been inherited or lent, and then stand elsewhere in the tree: in a category
    or defaults element of the block, or of one around it.
    """

    def __init__(self, root: Element) -> None:
        self.root = root
        self.steps: dict[Element, dict[str, Element]] = {}
        self.lenders: dict[Element, list[Element]] = {}

    def __call__(self, path: str, line: int) -> Element:
        """The element, or the block that it would stand in."""
        node = self.root
        steps = path.split("/")[2:]
        for step in steps:
            inner = self._inside(node).get(step)
            if inner is None:
                break
            node = inner
        else:
            return node
        name = steps[-1].partition("[")[0]
        around: Element | None = node
        while around is not None:
            for lender in (around, *self._lending(around)):
                for child in lender.iterchildren(*_written(name)):
                    if child.sourceline == line:
                        return child
            around = around.getparent() if around is not self.root else None
        return node

    def _inside(self, element: Element) -> dict[str, Element]:
        if element not in self.steps:
            children = list(element.iterchildren("{*}*"))
            totals = Counter(child.tag for child in children)
            met: Counter[str] = Counter()
            found: dict[str, Element] = {}
            for child in children:
                tag = str(child.tag)
                met[tag] += 1
                number = f"[{met[tag]}]" if totals[tag] > 1 else ""
                found[split(tag)[1] + number] = child
            self.steps[element] = found
        return self.steps[element]

    def _lending(self, element: Element) -> list[Element]:
        if element not in self.lenders:
            inner = list(element.iterchildren("{*}Requested", *_DEFAULTS))
            self.lenders[element] = [
                *inner,
                *(below for one in inner for below in one.iter("{*}Requested", *_DEFAULTS)),
            ]
        return self.lenders[element]


def _written(name: str) -> tuple[str, ...]:
    """The tags by which a count may be written."""
    return tuple(f"{{*}}{tag}" for tag, canonical in _CANONICAL.items() if canonical == name) or (
        f"{{*}}{name}",
    )


def is_silent(element: Element) -> bool:
    """Whether it is certain, without values, that ``check`` finds nothing."""
    return _is_settled(element) and requests.is_silent(element)


def _excludes(features: Sequence[Element]) -> bool:
    """Whether a feature may be wanted in one place that is not wanted in another."""
    if len(features) < 2:
        return False
    if any(each.get("op", "EQ") != "EQ" for each in features):
        return True
    around = {each.getparent() for each in features}
    return any(
        child.get("conj", "").strip() in _NEGATING
        for each in around if each is not None
        for child in each.iterchildren("{*}*")
    )  # fmt: skip


def _is_settled(element: Element) -> bool:
    """Whether it is certain that names and counts agree."""
    stated: dict[str, list[Element]] = {name: [] for name in (*_NAMED, *_COUNTED)}
    for item in element.iter(*_TAGS):
        name = _CANONICAL[split(str(item.tag))[1]]
        if name in _NAMED:
            if item.get("aggregation") is not None or item.get("delimiter") is not None:
                return False
            if name == "Node" and not _is_delivered(item):
                # Both have to be there, or one is excluded; a pattern may be one name.
                if stated[name] or item.get("op") == "Match":
                    return False
                stated[name].append(item)
            elif name == "Feature":
                stated[name].append(item)
        elif name in _TASKS:
            return False
        elif not _is_delivered(item):
            stated[name].append(item)
    nodes_, processors = (stated[name] for name in _COUNTED)
    if _excludes(stated["Feature"]):
        return False
    groups = len([*islice(element.iter("{*}TaskGroup"), 2)]) if processors else 0
    if groups > 1 or (groups and len(processors) > 1):
        return False  # a job's may be those of its task groups, or not
    grouped = _grouped((*nodes_, *processors))
    if not all(map(requests.leaves_some, nodes_)) or not _leave_numbers(grouped):
        return False
    if not nodes_ or not processors:
        return True
    # However values are inherited and lent: if every number of nodes is at most every number of
    # processors, each node has a task.
    counts = [
        [None if item in grouped else _count(item) for item in items]
        for items in (nodes_, processors)
    ]
    if None in counts[0] or None in counts[1]:
        return False
    most, least = max(filter(None, counts[0]), default=0), min(filter(None, counts[1]), default=0)
    return most <= least


def _is_delivered(item: Element) -> bool:
    parent = item.getparent()
    return parent is not None and split(str(parent.tag))[1] == spec.DELIVERED


def _count(item: Element) -> int | None:
    """What a count bounds by itself; None if that is doubtful."""
    if item.get("op", "EQ") not in _PLAIN:
        return None
    try:
        return units.integer(item.text or "")
    except InvalidValue:
        return None


def _leave_numbers(grouped: Mapping[Element, Element]) -> bool:
    """Whether it is certain that each alternative of a request leaves numbers to its counts."""
    within: dict[Element, list[Element]] = {}
    for item, parent in grouped.items():
        within.setdefault(parent, []).append(item)
    return all(
        all(map(requests.leaves_some, items)) and (len(items) == 1 or _is_plain_choice(parent))
        and not any(child.get("conj", "").strip() in _NEGATING for child in parent)
        for parent, items in within.items()
    )  # fmt: skip


def _is_plain_choice(requested: Element) -> bool:
    """Whether one of some values is enough: Or joins all, and none is of a group."""
    return all(
        child.get("group") is None and child.get("op") in (None, "EQ")
        and (child.get("conj") == "Or" or (place == 0 and child.get("conj") is None))
        for place, child in enumerate(requested.iterchildren("{*}*"))
    )  # fmt: skip


def _grouped(items: Iterable[Element]) -> dict[Element, Element]:
    """Items, with what they stand in, around which are groups or conjunctions.

    These may turn an item into its contrary.
    """
    within: dict[Element, bool] = {}
    found: dict[Element, Element] = {}
    for item in items:
        if (parent := item.getparent()) is None:
            continue
        if parent not in within:
            within[parent] = any(
                child.get("group") is not None or child.get("conj") is not None for child in parent
            )
        if within[parent]:
            found[item] = parent
    return found
