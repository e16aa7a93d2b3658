"""What a task group states about its tasks and nodes, in each alternative of its request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sssjob import expression, task_distribution
from sssjob.defaults import LAID_OUT
from sssjob.errors import Finding, InvalidValue, finding
from sssjob.expression import Comparison, Term
from sssjob.expression.conflicts import without_conflicts
from sssjob.expression.offer import ALL_NEEDED, asked_outside, without_set_aside
from sssjob.expression.tree import comparison_of
from sssjob.layout.values import Count, Stated
from sssjob.model import Block
from sssjob.named_nodes import NamedNodes, named
from sssjob.task_counts import CountRange, StatedCounts, as_names_have, pins

ALTERNATIVES = 64  # of one request

_SECTION = "SSS 5.1 TaskDistribution"


class NoCount(InvalidValue):
    """A number that is said of tasks or nodes, and counts none."""


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
    pins: tuple[str, ...]  # for each Task element the node it names, or nothing

    @property
    def counts(self) -> tuple[object, ...]:
        """What alternatives with the same layout have in common."""
        return self.nodes, self.processors, self.candidates

    @property
    def said(self) -> StatedCounts:
        """The numbers alone."""
        spread, tasks, processors = self.distribution, self.tasks, self.processors
        return StatedCounts(
            None if tasks is None else tasks.least,
            None if self.nodes is None else self.nodes.bounds,
            None if processors is None else processors.bounds,
            None if spread.per_node is None else spread.per_node.value,
            None if spread.per_task is None else spread.per_task.value,
            spread.geometry, self.pins, self.candidates,
        )  # fmt: skip

    # decision 1143
    @property
    def nodes_of_geometry(self) -> tuple[tuple[str, ...], ...]:
        """For each node of a geometry the names that its tasks have for it, in their order."""
        geometry = self.distribution.geometry
        if not geometry or not any(self.pins):
            return ()
        first = min(map(min, geometry))
        named = dict(enumerate(self.pins, first))
        return tuple(
            tuple(dict.fromkeys(name for task in part if (name := named.get(task, ""))))
            for part in geometry
        )

    def from_one(self) -> LayoutRequest:
        """The same, where a range of processors or nodes with an upper end alone begins at one."""
        nodes, processors = (
            each and each.within(each.bounds.from_one()) for each in (self.nodes, self.processors)
        )
        if nodes is self.nodes and processors is self.processors:
            return self
        return replace(self, nodes=nodes, processors=processors)


class LayoutRequests(NamedTuple):
    """What is stated in each alternative that some number satisfies; and whether these are all.

    ``empty`` are the terms of those that none satisfies.
    """

    asked: tuple[LayoutRequest, ...]
    complete: bool
    empty: tuple[tuple[Term, ...], ...] = ()


def requests(block: Block, path: str, *, extended: bool = False) -> LayoutRequests:
    """What is stated in each alternative.

    The best is first; those that do not differ in what matters here are one. Raises
    ``UnbalancedGroup``, ``InvalidValue`` and ``LimitExceeded`` for what cannot be read.
    """
    found = expression.alternatives(expression.of(block) or expression.And(), ALTERNATIVES)
    stated = Statement(without_set_aside(block), path, extended=extended)
    told: dict[tuple[object, ...], LayoutRequest] = {}
    empty: list[tuple[Term, ...]] = []
    for alternative in _without_conflicts(block, found):
        asked = stated.request(alternative.terms)
        if asked is None:
            empty.append(tuple(of_counts(alternative.terms)))
        else:
            told.setdefault(asked.counts, asked)
    return LayoutRequests(tuple(told.values()), found.complete, tuple(empty))


def _without_conflicts(
    block: Block, found: expression.Alternatives
) -> Sequence[expression.Alternative]:
    """Alternatives without those that contradict themselves, unless all do.

    Counts and names of nodes that do are told where the numbers are taken.
    """
    if len(found) < 2:
        return found.best
    beside = asked_outside(block, ALL_NEEDED)
    return without_conflicts(found.best, lambda one: (*beside, *no_counts(one.terms)))


def no_counts(terms: Iterable[Term]) -> Iterator[Term]:
    """The terms about what is not laid out."""
    return (term for term in terms if comparison_of(term).item.name not in LAID_OUT)


class Statement:
    """What a task group says of its tasks and nodes outside of any alternative, read once.

    Raises ``InvalidValue`` and ``LimitExceeded`` for what cannot be read.
    """

    def __init__(self, block: Block, path: str, *, extended: bool = False) -> None:
        self.block, self.path, self.extended = block, path, extended
        self.distribution = _distribution(block, path)
        self.pins = pins(block)

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
        bounds = as_names_have(None if count is None else count.bounds, candidates)
        if count is not None and bounds is not None:
            count = count.within(bounds)
        elif bounds is not None:
            count = Stated(bounds, f"{candidates.path}/@count", candidates.line)
        about = [*of_counts(plain)]
        return LayoutRequest(
            path, block.line, str(expression.And(tuple(about))) if about else "",
            _own(block, path, "TaskCount"), count, processors, self.distribution, candidates,
            self.pins,
        )  # fmt: skip


def _distribution(block: Block, path: str) -> TaskDistribution:
    """How tasks are to be mapped to nodes; what cannot be read is a finding and maps nothing."""
    item = block.properties.get("TaskDistribution")
    if item is None:
        return TaskDistribution()
    found, here = task_distribution.read(item), f"{path}/TaskDistribution"
    findings = tuple(
        finding(fault.code, fault.message, path=here, line=item.line, section=_SECTION,
                suggestion=fault.advice)
        for fault in found.faults
    )  # fmt: skip
    per_node, per_task = (
        Count(number, here, item.line) if number else None
        for number in (found.per_node, found.per_task)
    )
    return TaskDistribution(
        found.geometry, per_node, per_task, found.rule, here, item.line, findings
    )


def _stated(block: Block, path: str, terms: tuple[Term, ...], name: str) -> Stated | None:
    """What the request says of a count, or else the block itself."""
    named = [term.item for term in terms if isinstance(term, Comparison) and _name(term) == name]
    if not named:
        return _own(block, path, name)
    bounds = expression.interval(terms, name).integers()
    if not (bounds.bounded or bounds.excluded):
        return None
    return Stated(CountRange.of(bounds), f"{path}/Requested/{name}", named[0].line)


def _own(block: Block, path: str, name: str) -> Stated | None:
    """What a block says of a count outside of any category."""
    item = block.properties.get(name, context="", metric="")
    if item is None:
        return None
    number = expression.amount(item)
    if number < 1 or number.denominator != 1:
        wrong = InvalidValue if name == "Processors" else NoCount  # which a job may have had
        raise wrong(item.text, f"a {name}, which is a whole number of at least 1")
    return Stated(CountRange.exactly(number.numerator), f"{path}/{name}", item.line)


def of_counts(terms: Iterable[Term]) -> Iterator[Term]:
    """The terms about what is laid out."""
    return (term for term in terms if _name(term) in ("NodeCount", "Processors", "Node"))


def _about_the_job(terms: tuple[Term, ...]) -> Iterator[Term]:
    """The terms about what the job is to have, rather than what a node is built with."""
    for term in terms:
        item = next(expression.comparisons(term)).item
        context = item.said("context")
        if context not in ("Configured", "Used") and "metric" not in item.attributes:
            yield term


def _name(term: Term) -> str:
    return expression.key(next(expression.comparisons(term)).item)
