"""A second opinion on counts and names of nodes, by brute force: every set of nodes is tried.

It has what 4.4, 5.1 and 5.2 say, and decisions 1066, 1080, 1081 and 1098, and nothing of how a
layout comes to it. Names are few, and some nodes stand for all that nobody names.
"""

from itertools import combinations
from typing import NamedTuple

NAMES = ("n1", "n2", "n3", "m1", "m2")
OTHERS = ("o1", "o2", "o3", "o4", "o5", "o6")  # any node that is not named
MOST = 24  # tasks and processors


class NodeTerm(NamedTuple):
    """What one Node element says: a name, a set of which ``count`` are wanted, or what is not."""

    names: tuple
    is_set: bool = False
    count: int | None = None
    excludes: bool = False


class CountTerm(NamedTuple):
    """What one branch says of a number of nodes or processors."""

    name: str
    op: str
    number: int

    @property
    def admits(self):
        """The numbers of which it holds."""
        return ADMITS[self.op](self.number)


class Counts(NamedTuple):
    """What is said of counts; each is the numbers that are admitted, or None."""

    tasks: int | None = None
    nodes: frozenset | None = None
    processors: frozenset | None = None
    per_node: int | None = None
    per_task: int | None = None
    pins: tuple = ()  # for each Task element the node that it names, or ""

    def narrowed(self, term):
        """The same, where a branch says something of it, too."""
        which = "nodes" if term.name == "NodeCount" else "processors"
        own = getattr(self, which)
        both = term.admits if own is None else frozenset(own) & frozenset(term.admits)
        return self._replace(**{which: both})


_FROM_ONE = frozenset(range(1, MOST * MOST))
ADMITS = {
    "EQ": lambda number: _FROM_ONE & {number},
    "NE": lambda number: _FROM_ONE - {number},
    "GE": lambda number: frozenset(range(number, MOST * MOST)),
    "GT": lambda number: frozenset(range(number + 1, MOST * MOST)),
    "LE": lambda number: frozenset(range(1, number + 1)),
    "LT": lambda number: frozenset(range(1, number)),
}


def can_be_met(branches, counts):
    """Whether there are nodes for one of the branches, by which all of its terms hold."""
    return any(is_met(terms, counts) for terms in branches)


def is_met(branch, counts):
    """Whether there are nodes by which all terms of a branch hold, whatever they are about."""
    for term in branch:
        if isinstance(term, CountTerm):
            counts = counts.narrowed(term)
    return bool(worlds([term for term in branch if isinstance(term, NodeTerm)], counts))


def worlds(terms, counts):
    """How many nodes, tasks and processors there may be for these terms."""
    found = set()
    pinned = {name for name in counts.pins if name}
    every = [*_choices(terms)]
    sizes = {len(chosen) for chosen in every if pinned <= set(chosen)}
    if counts.nodes is None and any(term.count for term in terms if not term.excludes):
        least = min(map(len, every), default=0)  # how many there are is what the counts say
        sizes &= {least}
    for tasks, processors in _tasks(counts):
        for size in sizes:
            if _fits(size, tasks, counts):
                found.add((size, tasks, processors))
    return found


def _tasks(counts):
    """Tasks and their processors that the counts admit."""
    for tasks in [counts.tasks] if counts.tasks else range(max(len(counts.pins), 1), MOST + 1):
        # Of tasks that nobody counts each has one processor.
        known = [counts.per_task] if counts.per_task else range(1, MOST + 1)
        is_known = counts.tasks or counts.per_task or (counts.pins and tasks == len(counts.pins))
        for of_one in known if is_known else [1]:
            processors = tasks * of_one
            if counts.processors is None:
                if of_one == (counts.per_task or 1):
                    yield tasks, processors
            elif processors in counts.processors:
                yield tasks, processors


def _fits(size, tasks, counts):
    here = [counts.pins.count(name) for name in {*counts.pins} - {""}]
    if len(counts.pins) > tasks or size > tasks - sum(here) + len(here):
        return False  # a node is left without a task
    if counts.per_node and max(here, default=0) > counts.per_node:
        return False
    if size > tasks or (counts.per_node and tasks > size * counts.per_node):
        return False
    return counts.nodes is None or size in counts.nodes


def _choices(terms):
    """The sets of nodes that have all the names that are wanted, and none that is not."""
    wanted = [term for term in terms if not term.excludes]
    unwanted = {name for term in terms if term.excludes for name in term.names}
    alone = len(wanted) == 1 and wanted[0].is_set
    every = wanted[0].names if alone else (*NAMES, *OTHERS)
    may_be = [name for name in dict.fromkeys(every) if name not in unwanted]
    for size in range(wanted[0].count or 1 if alone else 1, len(may_be) + 1):
        for chosen in combinations(may_be, size):
            if alone or _has_all(set(chosen), wanted):
                yield chosen


def _has_all(chosen, wanted):
    """Whether each name without a count is there, and for each count nodes of its own."""
    whole = {name for term in wanted if not term.count for name in term.names}
    if not whole <= chosen:
        return False
    counted = [
        (set(term.names), max(term.count - len(whole & set(term.names)), 0))
        for term in wanted if term.count
    ]  # fmt: skip
    return _disjoint(chosen - whole, counted)


def _disjoint(free, counted):
    if not counted:
        return True
    (names, number), *rest = counted
    return any(
        _disjoint(free - set(taken), rest) for taken in combinations(sorted(free & names), number)
    )
