"""What a task group states about its tasks and nodes, in each alternative of its request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sssjob import expression
from sssjob.errors import Finding, InvalidValue, LimitExceeded, finding
from sssjob.expression import Comparison, Interval, Term
from sssjob.layout.values import Count, Stated
from sssjob.model import Block, Property, Task
from sssjob.named_nodes import NamedNodes, named
from sssjob.units import XML_SPACE

LIMIT = 1_000_000  # tasks, and nodes, of one layout
ALTERNATIVES = 64  # of one request

GEOMETRY, PER_NODE, PER_TASK, RULE = "Geometry", "TasksPerNode", "ProcessorsPerTask", "Rule"

_SECTION = "SSS 5.1 TaskDistribution"
_COUNT = re.compile(r"[ \t\r\n]*\+?([0-9]{1,18})[ \t\r\n]*")
_TASKS = re.compile(r"[0-9]{1,7}(?:,[0-9]{1,7})*")


@dataclass(frozen=True, slots=True)
class TaskDistribution:
    """A TaskDistribution as it was read: at most one of its values is set."""

    geometry: tuple[tuple[int, ...], ...] = ()
    per_node: Count | None = None
    per_task: Count | None = None
    rule: str = ""
    path: str = ""
    line: int = 0
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class LayoutRequest:
    """What a task group states in one alternative."""

    path: str
    line: int
    alternative: str
    tasks: Stated | None
    nodes: Stated | None
    processors: Stated | None
    distribution: TaskDistribution
    candidates: NamedNodes
    spelled: int  # Task elements
    pins: tuple[str, ...]  # for each of them the node it names, or nothing

    @property
    def counts(self) -> tuple[object, ...]:
        """What alternatives with the same layout have in common."""
        return self.nodes, self.processors, self.candidates


def requests(
    block: Block, path: str, *, extended: bool = False
) -> tuple[tuple[LayoutRequest, ...], bool]:
    """What is stated in each alternative that some number satisfies; and whether these are all.

    The best is first; those that do not differ in what matters here are one. Raises
    ``UnbalancedGroup``, ``InvalidValue`` and ``LimitExceeded`` for what cannot be read.
    """
    found = expression.alternatives(expression.of(block) or expression.And(), ALTERNATIVES)
    stated = Statement(block, path, extended=extended)
    told: dict[tuple[object, ...], LayoutRequest] = {}
    for alternative in found:
        asked = stated.request(alternative.terms)
        if asked is not None:
            told.setdefault(asked.counts, asked)
    return tuple(told.values()), found.complete


class Statement:
    """What a task group says of its tasks and nodes outside of any alternative, read once.

    Raises ``InvalidValue`` and ``LimitExceeded`` for what cannot be read.
    """

    def __init__(self, block: Block, path: str, *, extended: bool = False) -> None:
        self.block, self.path, self.extended = block, path, extended
        self.distribution = _distribution(block, path)
        self.pins = tuple(_pin(task) for task in block.blocks(Task))

    def request(self, terms: tuple[Term, ...]) -> LayoutRequest | None:
        """What is stated if these terms are to hold; None if no number satisfies them."""
        block, path = self.block, self.path
        plain = tuple(_about_the_job(terms))
        count, processors = (
            _stated(block, path, plain, name) for name in ("NodeCount", "Processors")
        )
        if any(number is not None and number.bounds.empty for number in (count, processors)):
            return None
        candidates = named(block, path, plain, extended=self.extended)
        if count is None and candidates.wanted:
            wanted = Fraction(candidates.wanted)
            place = f"{candidates.path}/@count"
            count = Stated(Interval(wanted, wanted), place, candidates.line)
        about = [term for term in plain if _name(term) in ("NodeCount", "Processors", "Node")]
        return LayoutRequest(
            path, block.line, str(expression.And(tuple(about))) if about else "",
            _own(block, path, "TaskCount"), count, processors, self.distribution, candidates,
            len(self.pins), self.pins,
        )  # fmt: skip


def geometry(text: str) -> tuple[tuple[int, ...], ...]:
    """The tasks of each node of a geometry. Raises ``InvalidValue`` and ``LimitExceeded``.

    >>> geometry("{1,4}{2}{3,5}")
    ((1, 4), (2,), (3, 5))
    """
    expected = "a geometry such as {1,4}{2}{3,5}"
    if text.count(",") + text.count("{") > LIMIT:
        raise LimitExceeded("tasks in a geometry", LIMIT)
    if text[:1] != "{" or text[-1:] != "}":
        raise InvalidValue(text, expected)
    groups = text[1:-1].split("}{")
    if not all(map(_TASKS.fullmatch, groups)):
        raise InvalidValue(text, expected)
    return tuple(tuple(map(int, group.split(","))) for group in groups)


def _distribution(block: Block, path: str) -> TaskDistribution:
    """How tasks are to be mapped to nodes; what cannot be read is a finding and maps nothing."""
    item = block.properties.get("TaskDistribution")
    if item is None:
        return TaskDistribution()
    here, text = f"{path}/TaskDistribution", item.text.strip(XML_SPACE)
    kind = item.attributes.get("type", "").strip(XML_SPACE)
    said: list[Finding] = []

    def say(code: str, message: str, advice: str = "") -> None:
        said.append(finding(
            code, message, path=here, line=item.line, section=_SECTION, suggestion=advice
        ))  # fmt: skip

    number = _COUNT.fullmatch(text)
    if not kind:
        kind = GEOMETRY if text[:1] == "{" else PER_NODE if number else RULE
        if number:
            text_read = f"TaskDistribution {text} without a type is read as tasks per node"
            say("W-TYPE", text_read, f'write type="{PER_NODE}"')
    if kind == GEOMETRY:
        try:
            groups = geometry(text)
        except InvalidValue as error:
            say("E-TYPE", str(error))
        except LimitExceeded as error:
            say("E-LIMIT", str(error))
        else:
            if fault := _numbering(groups):
                say("E-COUNTS", fault)
            else:
                return TaskDistribution(geometry=groups, path=here, line=item.line)
    elif kind in (PER_NODE, PER_TASK):
        if number and (value := int(number[1])) > 0:
            count, findings = Count(value, here, item.line), tuple(said)
            if kind == PER_NODE:
                return TaskDistribution(per_node=count, findings=findings)
            return TaskDistribution(per_task=count, findings=findings)
        say("E-TYPE", f"{kind}: {text[:60]!r} is no whole number of at least 1")
    else:
        return TaskDistribution(rule=text or kind, path=here, line=item.line)
    return TaskDistribution(findings=tuple(said))


def _numbering(groups: tuple[tuple[int, ...], ...]) -> str:
    """What is wrong with the numbers of a geometry: each task once, none left out."""
    seen: set[int] = set()
    for number in (number for group in groups for number in group):
        if number in seen:
            return f"the geometry places task {number} twice"
        seen.add(number)
    first = min(seen)
    if first > 1:
        return f"the geometry begins with task {first}, and tasks are numbered from 0 or 1"
    if max(seen) - first + 1 != len(seen):
        missing = next(number for number in range(first, max(seen)) if number not in seen)
        return f"the geometry leaves out task {missing}"
    return ""


def _stated(block: Block, path: str, terms: tuple[Term, ...], name: str) -> Stated | None:
    """What the request says of a count, or else the block itself."""
    named = [term.item for term in terms if isinstance(term, Comparison) and _name(term) == name]
    if not named:
        return _own(block, path, name)
    bounds = expression.interval(terms, name).integers()
    if not (bounds.bounded or bounds.excluded):
        return None
    # A count is at least one: "not one" is two or more.
    if not bounds.bounded or any(end is not None and end < 1 for end in (bounds.lo, bounds.hi)):
        bounds = Interval(Fraction(1), bounds.hi, excluded=bounds.excluded).integers()
    return Stated(bounds, f"{path}/Requested/{name}", named[0].line)


def _own(block: Block, path: str, name: str) -> Stated | None:
    """What a block says of a count outside of any category."""
    item = block.properties.get(name, context="", metric="")
    if item is None:
        return None
    number = expression.amount(item)
    if number < 1 or number.denominator != 1:
        raise InvalidValue(item.text, f"a {name}, which is a whole number of at least 1")
    return Stated(Interval(number, number), f"{path}/{name}", item.line)


def _about_the_job(terms: tuple[Term, ...]) -> Iterator[Term]:
    """The terms about what the job is to have, rather than what a node is built with."""
    for term in terms:
        attributes = next(expression.comparisons(term)).item.attributes
        context = attributes.get("context", "")
        if context not in ("Configured", "Used") and "metric" not in attributes:
            yield term


def _pin(task: Task) -> str:
    """The one node that a task names."""
    for properties in (task.properties, task.delivered, task.requested):
        item: Property | None = properties.get("Node", aggregation="", op="")
        if item is not None:
            return item.text.strip(XML_SPACE)
    return ""


def _name(term: Term) -> str:
    return expression.key(next(expression.comparisons(term)).item)
