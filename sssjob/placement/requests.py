"""What a task group asks of a set of nodes: the ways to count its tasks, and their alternatives.

A request is a choice of conjunctions (``expression.alternatives``), wishes granted or not. What
each says of counts and names of nodes is read as ``layout`` reads it. Of the rest, amounts are what
a task takes of its node, and all else is asked of the node by the evaluator of requests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sssjob import expression, nodes
from sssjob.errors import Finding, Severity, finding
from sssjob.expression import Alternative, Comparison, Expression, Interval, Not, Term
from sssjob.expression.conflicts import no_count, without_conflicts
from sssjob.expression.offer import AMOUNTS, slots
from sssjob.expression.tree import comparison_of
from sssjob.layout import left_out
from sssjob.layout.plan import ROUND_ROBIN, CountsPlan
from sssjob.layout.request import LayoutRequest, Statement, no_counts
from sssjob.layout.values import Layout, Stated
from sssjob.model import Block, Property
from sssjob.named_nodes import NamedNodes
from sssjob.placement.problem import TaskGeometry
from sssjob.task_distribution import LIMIT

ALTERNATIVES = 256  # of one request that are tried, and of very long ones
OF_THE_JOB = 16  # of what a job asks beside its task groups: each is another set of problems
FEWEST, TERMS = 16, 16_384  # at least so many, and no more than have so many terms together

_NONE: frozenset[int] = frozenset()
_AVAILABLE = "Available"
_OWN = ("", _AVAILABLE, "Dedicated")  # contexts of what a task takes for itself
_COUNTS = ("Processors", "NodeCount", "TaskCount")
_TAKEN = AMOUNTS - {*_COUNTS, "Duration"}
_PROCESSORS = ("Processors",)
_Row = tuple[Fraction, tuple[Term, ...]]
_SECTION = "SSS 5.1 TaskDistribution"


@dataclass(frozen=True, slots=True)
class Need:
    """An amount that each task takes: at least this, or more than this if that is ``open``."""

    slots: tuple[str, ...]
    least: Fraction
    open: bool = False

    def shared(self, tasks: int) -> Need:
        """The even part of each task, where this is of all of them."""
        return Need(self.slots, self.least / tasks, self.open)


@dataclass(frozen=True, slots=True)
class Variant:
    """One alternative: what each task takes, and what is asked of a node and of its name."""

    score: Fraction
    needs: tuple[Need, ...]
    facts: tuple[Term, ...]
    named: tuple[Term, ...]


NOTHING = Variant(Fraction(0), (), (), ())


@dataclass(frozen=True, slots=True)
class WantedNames:
    """So many of these names, or of those that match one of the patterns, are among the nodes."""

    names: nodes.Names
    number: int
    patterns: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class CountingWay:
    """One way to count, with all alternatives that count so."""

    layout: Layout
    low: int
    high: int
    excluded: frozenset[int]
    shape: TaskGeometry
    per_node: int
    wanted: tuple[WantedNames, ...]
    pins: tuple[str, ...]  # for each task, or for each node of a geometry, the node that is named
    variants: tuple[Variant, ...]

    @property
    def rule(self) -> str:
        """How tasks are spread: as ``layout`` calls it, or nothing where any numbers will do."""
        told = self.pins or not self.shape.free
        return self.layout.rule if told and self.layout.tasks.value > 1 else ""

    @property
    def tasks_by_name(self) -> Counter[str]:
        """How many tasks are on the nodes that tasks name: of a geometry all, else at least."""
        if not self.shape.sizes:
            return Counter(filter(None, self.pins))
        pairs = zip(self.pins, self.shape.sizes, strict=False)
        return Counter({name: size for name, size in pairs if name})

    @property
    def around(self) -> bool:
        """Whether tasks are dealt out one by one."""
        return self.shape.even and self.layout.rule == ROUND_ROBIN

    @property
    def geometry(self) -> tuple[Sequence[int], ...]:
        """The tasks that a geometry puts together."""
        return tuple(share.tasks for share in self.layout.shares) if self.shape.sizes else ()


@dataclass(frozen=True, slots=True)
class AskedGroup:
    """All that a task group asks.

    Without ``ways``, ``findings`` say why. Not ``complete`` if there are more alternatives.
    ``upper``: some count is the upper end of a range that has no other.
    """

    ways: tuple[CountingWay, ...]
    findings: tuple[Finding, ...] = ()
    complete: bool = True
    upper: bool = False


@dataclass(frozen=True, slots=True)
class AskedOfNodes:
    """What a job asks of all nodes of its task groups together, by each of its alternatives.

    Needs are those of all tasks. Without ``variants``, ``findings`` say why.
    """

    variants: tuple[Variant, ...]
    findings: tuple[Finding, ...] = ()
    complete: bool = True


# decision 1023
def of_all_nodes(parts: Sequence[Expression], path: str, line: int) -> AskedOfNodes:
    """What a job asks by the parts of its request that are of none of its task groups."""
    if not parts:
        return AskedOfNodes((NOTHING,))
    every, limit = _alternatives(expression.all_of(parts), OF_THE_JOB)
    every = without_conflicts(every, lambda one: filter(_is_demanded, one.terms))
    made = (_of_all_tasks(each.score, each.terms) for each in every if not no_count(each))
    variants = tuple(each for each in made if each is not None)
    said: list[Finding] = []
    if limit:
        severity = Severity.WARNING if variants else Severity.ERROR
        said.append(_too_many_ways(path, line, limit, severity))
    elif not variants:
        said.append(_unsatisfiable(path, line))
    return AskedOfNodes(variants, tuple(said), not limit)


def _of_all_tasks(score: Fraction, terms: Sequence[Term]) -> Variant | None:
    """One alternative of what a job asks, with what all tasks take; None if no number does."""
    facts: list[Term] = []
    named: list[Term] = []
    kinds: dict[str, list[Term]] = {}
    for term in terms:
        item = next(expression.comparisons(term)).item
        if item.name == "Node":
            named += _of_each_name(term)
        elif _is_taken(item) or (item.name == "Processors" and _counts(item)):
            kinds.setdefault(slots(item)[0], []).append(term)
        else:
            facts.append(term)
    needs = _needs(kinds)
    return None if needs is None else Variant(score, needs, tuple(facts), tuple(named))


def _needs(kinds: Mapping[str, Sequence[Term]]) -> tuple[Need, ...] | None:
    """The least of each amount that these comparisons allow; None if there is none."""
    needs: list[Need] = []
    for some in kinds.values():
        item = next(expression.comparisons(some[0])).item
        least = _least(expression.interval(some, expression.key(item)))
        if least is None:
            return None
        needs.append(Need(slots(item), *least))
    return tuple(needs)


def asked(
    block: Block, path: str, request: Expression, *, whole: Iterable[str] = (),
    from_one: bool = False,
) -> AskedGroup:  # fmt: skip
    """What a task group asks by its counts and by ``request``.

    ``whole`` are the amounts, by key, that all tasks have together, each an even part; of all
    others it is each task that takes so much. ``from_one``: a range of processors or nodes with an
    upper end alone begins at one; else the end is taken. Raises what ``Statement`` raises.
    """
    statement = Statement(block, path)
    said = list(statement.distribution.findings)
    if any(found.severity is Severity.ERROR for found in said):
        return AskedGroup((), tuple(said))
    every, limit = _alternatives(request)
    # Counts and names that contradict each other are told where they are laid out.
    every = without_conflicts(every, lambda one: filter(_is_demanded, no_counts(one.terms)))
    upper = False
    empty: list[tuple[Term, ...]] = []
    together: dict[object, tuple[LayoutRequest, list[tuple[Fraction, tuple[Term, ...]]]]] = {}
    for alternative in every:
        counted = statement.request(alternative.terms)
        if counted is None:
            empty.append(alternative.terms)
        else:
            least = counted.from_one()
            upper = upper or (least is not counted and not from_one)
            counted = least if from_one else counted
            _, rows = together.setdefault(counted.counts, (counted, []))
            rows.append((alternative.score, alternative.terms))
    ways: list[CountingWay] = []
    wrong: list[Layout] = []
    for counted, rows in together.values():
        plan = CountsPlan(counted, lenient=False)
        # Which tasks stand together is asked of what names or numbers them alone.
        says = counted.distribution.geometry or any(counted.pins)
        layout = plan.layout() if says else plan.checked()
        if layout.holds:
            ways += _ways(counted, layout, rows, frozenset(whole))
        else:
            wrong.append(layout)
    if limit:
        severity = Severity.WARNING if ways or wrong else Severity.ERROR
        said.append(_too_many_ways(path, block.line, limit, severity))
    elif not ways and not wrong:
        said.append(_unsatisfiable(path, block.line))
    said += (
        left_out(block, path, wrong, empty)
        if ways
        else dict.fromkeys(found for each in wrong for found in each.findings)
    )
    return AskedGroup(tuple(ways), tuple(said), not limit, upper)


def _alternatives(
    request: Expression, most: int = ALTERNATIVES
) -> tuple[Sequence[Alternative], int]:
    """Those with wishes and, as wishes never block, those without; and the limit if it is met."""
    first = expression.alternatives(request, 1).best
    terms = max((len(each.terms) for each in first), default=0)
    limit = max(min(most, TERMS // max(terms, 1)), FEWEST)
    found = expression.alternatives(request, limit, wishes=True)
    if found.complete:
        return found.best, 0
    plain = expression.alternatives(request, limit)
    return tuple(dict.fromkeys((*found, *plain))), found.limit


# decision 1181
def _is_demanded(term: Term) -> bool:
    """Whether something binds: a wish that is granted never blocks."""
    return not expression.is_wish(comparison_of(term).item)


def _ways(
    counted: LayoutRequest, layout: Layout, rows: Sequence[_Row], whole: frozenset[str]
) -> Iterator[CountingWay]:
    """The way to count, if any of its alternatives can be satisfied at all."""
    tasks = layout.tasks.value
    made = (_variant(counted, layout, row, whole) for row in rows)
    variants = tuple(each for each in made if each is not None)
    if not variants:
        return
    low, high, excluded = _bounds(counted, layout)
    spread = counted.distribution
    per_node = spread.per_node.value if spread.per_node else 0
    pins = counted.pins[:tasks] if any(counted.pins) else ()
    if _says_which_together(counted, layout, exact=low == high):
        low = high = len(layout.shares)
        shape = TaskGeometry(sizes=tuple(len(share.tasks) for share in layout.shares))
        pins = tuple(share.name if share.name in pins else "" for share in layout.shares)
    elif pins:
        shape = TaskGeometry()
    elif per_node:
        shape = TaskGeometry(full=per_node)
    else:
        # Where the number of nodes is open, any part of the tasks may be on each (decision 185).
        shape = TaskGeometry(even=spread.rule == ROUND_ROBIN or (not spread.rule and low == high))
    yield CountingWay(
        layout, low, min(high, max(tasks, low)), excluded, shape, per_node,
        tuple(_wanted(counted)), pins, variants,
    )  # fmt: skip


# decision 1132
def _says_which_together(counted: LayoutRequest, layout: Layout, *, exact: bool) -> bool:
    """Whether it is said which tasks are on one node, which then is a matter of the layout.

    So a geometry says it; or the nodes that tasks name, where the others are spread by a rule, or
    evenly over an ``exact`` number of nodes.
    """
    spread = counted.distribution
    is_spread = exact or spread.per_node is not None or spread.rule == ROUND_ROBIN
    return bool(layout.shares) and (bool(spread.geometry) or is_spread)


def _bounds(counted: LayoutRequest, layout: Layout) -> tuple[int, int, frozenset[int]]:
    """The least and the greatest number of nodes, and which between are excluded."""
    stated: Stated | None = counted.nodes
    if stated is None or counted.distribution.geometry:
        exact = layout.nodes
        return (
            (1, layout.tasks.value, frozenset()) if exact is None else (exact.value,) * 2 + (_NONE,)
        )
    among = stated.bounds.from_least(counted.said.nodes_by_name)
    high = layout.tasks.value if among.hi is None else among.hi
    return among.granted, high, among.excluded


def _wanted(counted: LayoutRequest) -> Iterator[WantedNames]:
    """Of names that are no set to choose from, how many have to be among the nodes."""
    candidates: NamedNodes = counted.candidates
    if not candidates.open:
        return
    for names, count in candidates.sets:
        yield WantedNames(names, count or candidates.left((names,)))
    yield from (WantedNames(*each) for each in candidates.together())
    if candidates.some_match:  # each count asks for nodes of its own
        patterns = tuple(Comparison(item.having(count=None)) for item, _ in candidates.matching)
        for pattern, (_, count) in zip(patterns, candidates.matching, strict=True):
            yield WantedNames(nodes.Names(()), count, (pattern,))
        every = tuple(part for names, _ in candidates.sets for part in names.parts)
        yield WantedNames(nodes.Names(every), candidates.least, patterns)


def _variant(
    counted: LayoutRequest, layout: Layout, row: _Row, whole: frozenset[str]
) -> Variant | None:
    """One alternative of a way, or None if no numbers satisfy it."""
    score, terms = row
    kinds: dict[str, list[Term]] = {}
    facts: list[Term] = []
    named: list[Term] = []
    processors: tuple[str, ...] = _PROCESSORS
    for term in terms:
        item = next(expression.comparisons(term)).item
        if item.name == "Node":
            named += _of_name(term, counted.candidates)
        elif not _is_taken(item) and not _counts(item):
            facts.append(term)
        elif item.name == "Processors":
            processors = slots(item)
        elif item.name == "TaskCount":
            if layout.tasks.value not in expression.interval((term,), item.name):
                return None
        elif item.name != "NodeCount":
            kinds.setdefault(slots(item)[0], []).append(term)
    needs = _needs(kinds)
    if needs is None:
        return None
    tasks = layout.tasks.value
    of_all = {some for some, terms in kinds.items()
              if expression.key(next(expression.comparisons(terms[0])).item) in whole}  # fmt: skip
    each = [need.shared(tasks) if some in of_all else need
            for some, need in zip(kinds, needs, strict=True)]  # fmt: skip
    own = Need(processors, Fraction(layout.processors_per_task.value))
    return Variant(score, (own, *each), tuple(facts), tuple(named))


def _least(bounds: Interval) -> tuple[Fraction, bool] | None:
    """The least amount above zero between bounds, and whether it is just above that."""
    if bounds.empty or (bounds.hi is not None and bounds.hi <= 0):
        return None
    if bounds.lo is None or bounds.lo <= 0:
        return Fraction(0), True
    return bounds.lo, bounds.lo_open or bounds.lo in bounds.excluded


def _is_taken(item: Property) -> bool:
    """Whether tasks take so much of a node; else it is only to have it."""
    meant = item.said("context", _AVAILABLE)
    return item.name in _TAKEN and meant in _OWN and not item.said("metric")


def _counts(item: Property) -> bool:
    """Whether it is about all tasks together, and so a matter of the layout."""
    meant = item.said("context", _AVAILABLE)
    return item.name in _COUNTS and meant in _OWN and "metric" not in item.attributes


def _of_name(term: Term, candidates: NamedNodes) -> Iterator[Term]:
    """What a comparison of Node says of the name of each node.

    Several names that are no set to choose from say nothing: each has to be somewhere
    (``WantedNames``), as have so many that match a pattern as its count says beside names.
    """
    (one,) = _of_each_name(term)
    found = next(expression.comparisons(one))
    if _is_pattern(found):
        item = next(expression.comparisons(term)).item
        is_of_each = not (candidates.some_match and nodes.count_of_set(item))
    else:
        is_of_each = not candidates.open
    if isinstance(one, Not) or found.op != "EQ" or is_of_each:
        yield one


def _of_each_name(term: Term) -> tuple[Term]:
    """A comparison of Node as one node by itself is asked."""
    found = next(expression.comparisons(term))
    if found.item.said("aggregation"):
        found = Comparison(found.item.having(count="1"))
    return (Not(found) if isinstance(term, Not) else found,)


def _is_pattern(found: Comparison) -> bool:
    return found.item.said("aggregation") == nodes.PATTERN


def _unsatisfiable(path: str, line: int) -> Finding:
    text = "no node, whatever it has, can satisfy the request"
    return finding("E-UNSAT", text, path=path, line=line, section="SSS 8.1")


def _too_many_ways(path: str, line: int, limit: int, severity: Severity) -> Finding:
    text = (
        f"the request can be met in more than {limit} ways: the {limit} of the highest "
        "preference are tried, and of equal ones those that come first"
    )
    return finding("E-LIMIT", text, path=path, line=line, severity=severity)


def too_many(way: CountingWay, path: str) -> Finding | None:
    """What to say of more tasks than are placed."""
    if way.layout.tasks.value <= LIMIT:
        return None
    text = f"only up to {LIMIT} tasks are placed, and there are {way.layout.tasks}"
    return finding("E-LIMIT", text, path=path, section=_SECTION)
