"""The nodes that a request names, and how many of them it wants: for layouts, targets and features.

A List or a Range is a set to choose from, of which all are wanted where nothing else counts nodes;
of two of them, or of single names, each has to be among the nodes (SSS 5.1). # decision 902

>>> from sssjob.model import Job, Property, Requested
>>> names = Property("Node", "n[1-3]", {"aggregation": "Range"})
>>> found = named(Job((Requested((names,)),)), "/Job", (Comparison(names),))
>>> found.count(), found.count(tasks=2), found.count(tasks=6, per_node=3)
(3, 2, 2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice

from sssjob import expression, nodes
from sssjob.expression import Comparison, Not, Term
from sssjob.model import Block

LIMIT = 1_000_000  # names that are made


@dataclass(frozen=True, slots=True)
class NamedNodes:
    """Names that a request gives for nodes, each set with how many are wanted of it."""

    sets: tuple[tuple[nodes.Names, int | None], ...] = ()
    excluded: tuple[nodes.Names, ...] = ()
    matching: int = 0  # nodes that the counts of Patterns ask for
    open: bool = True  # whether other nodes may be taken, too
    path: str = ""
    line: int = 0

    def count(self, tasks: int | None = None, per_node: int | None = None) -> int | None:
        """How many nodes are asked for by names, where nothing else counts nodes.

        So many as the names say themselves, or else all of them; but where the number of ``tasks``
        is known, no more than these need of a set to choose from. None where no node is named.
        """
        if self.wanted:
            return self.wanted
        if not self.sets:
            return None
        if tasks is None:
            return self.number or None
        if per_node is not None:
            need = -(-tasks // per_node)
            return max(need, self.number) if self.open else need
        return (self.number if self.open else min(self.number, tasks)) or None

    @property
    def wanted(self) -> int:
        """How many nodes the count attributes ask for together; 0 if none does."""
        return self.matching + sum(count or 0 for _, count in self.sets)

    @property
    def number(self) -> int:
        """How many different names there are; none is made."""
        left_out = self._left_out
        wanted = chain.from_iterable(names.parts for names, _ in self.sets)
        return nodes.Names((*wanted, *left_out.parts)).distinct - left_out.distinct

    @property
    def _left_out(self) -> nodes.Names:
        return nodes.Names(tuple(part for names in self.excluded for part in names.parts))

    def among(self, number: int) -> int:
        """How many different names there are, at most so many."""
        return min(self.number, number)

    def names(self, number: int = LIMIT) -> tuple[str, ...]:
        """At most so many different names: what is wanted of each set first, then the others."""
        chosen: dict[str, None] = {}
        taken = list(self.excluded)  # and the sets of which nothing is left
        for names, count in self.sets:
            if count and _choose(names, taken, chosen, count) < count:
                taken.append(names)
        for names, _ in self.sets:
            more = number - len(chosen)
            if more > 0 and _choose(names, taken, chosen, more) < more:
                taken.append(names)
        return tuple(islice(chosen, number))


def _choose(
    names: nodes.Names, taken: Sequence[nodes.Names], chosen: dict[str, None], number: int
) -> int:
    """Choose so many more of a set, and give how many there were."""
    before = len(chosen)
    for name in names.without(taken):
        if len(chosen) - before == number:
            break
        chosen.setdefault(name)
    return len(chosen) - before


def named(block: Block, path: str, terms: Sequence[Term], *, extended: bool = False) -> NamedNodes:
    """The names of nodes that the terms of a request have, or else the block itself.

    Raises ``InvalidValue`` and ``LimitExceeded`` for what cannot be read.
    """
    asked = [term for term in terms if _is_about_nodes(term)]
    where = f"{path}/Requested/Node"
    if not asked and (own := block.properties.get("Node")) is not None:
        asked, where = [Comparison(own.having(op=None))], f"{path}/Node"
    sets: list[tuple[nodes.Names, int | None]] = []
    excluded: list[nodes.Names] = []
    matching = 0
    for term in asked:
        item = next(expression.comparisons(term)).item
        op = "NE" if isinstance(term, Not) else term.op
        found = nodes.expand(item, extended=extended) if op in ("EQ", "NE") else None
        if isinstance(found, nodes.Names):
            if op == "EQ":
                sets.append((found, nodes.stated_count(item)))
            else:
                excluded.append(found)
        elif found is not None and op == "EQ":
            matching += nodes.stated_count(item) or 0
    first = next(expression.comparisons(asked[0])).item if asked else None
    # A set is what to choose from; of two, or of single names, each has to be among the nodes.
    closed = (
        len(asked) == len(sets) == 1 and first is not None and "aggregation" in first.attributes
    )
    line = first.line if first else 0
    return NamedNodes(tuple(sets), tuple(excluded), matching, not closed, where, line)


def _is_about_nodes(term: Term) -> bool:
    return expression.key(next(expression.comparisons(term)).item) == "Node"
