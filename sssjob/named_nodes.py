"""The nodes that a request names, and how many of them it wants: for layouts, targets and features.

A List or a Range is a set to choose from, of which all are wanted where nothing else counts nodes;
of two of them, or of single names, each has to be among the nodes (SSS 5.1). # decision 902
What is compared by NE, or by a pattern, takes names away; the rest is the set. # decision 1048

>>> from sssjob.model import Job, Property, Requested
>>> names = Property("Node", "n[1-3]", {"aggregation": "Range"})
>>> found = named(Job((Requested((names,)),)), "/Job", (Comparison(names),))
>>> found.count(), found.count(2), found.count(6, need=2)
(3, 2, 2)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations

from sssjob import expression, nodes
from sssjob.expression import Comparison, Term
from sssjob.expression.asked_names import AskedNames, asked_names, is_matched_and_not, names_in
from sssjob.model import Block, Property
from sssjob.task_counts import CountRange

LIMIT = 1_000_000  # names that are made

_EVERY_CHOICE = 6  # sets with a count, of which every choice is looked at


@dataclass(frozen=True, slots=True)
class NamedNodes:
    """Names that a request gives for nodes, each set with how many are wanted of it."""

    sets: tuple[tuple[nodes.Names, int | None], ...] = ()
    excluded: tuple[nodes.Names, ...] = ()
    patterns: tuple[Term, ...] = ()  # which each node has to satisfy by its name
    matching: tuple[tuple[Property, int], ...] = ()  # Patterns, each with how many nodes it wants
    open: bool = True  # whether other nodes may be taken, too
    each_of: tuple[nodes.Names, ...] = ()  # not to be none of these is to be one of them
    path: str = ""
    line: int = 0
    lines: tuple[int, ...] = field(default=(), compare=False)  # of each set

    def line_of(self, names: nodes.Names) -> int:
        """Where a set stands, or else the first of them."""
        every = zip(self.sets, self.lines, strict=False)
        return next((line for (each, _), line in every if each is names), self.line)

    def count(self, most: int | None = None, need: int | None = None) -> int | None:
        """How many nodes are asked for by names, where nothing else counts nodes.

        So many as the names say themselves, or else all of them; but where the number of tasks is
        known, of a set to choose from no more than the ``most`` that these can be on, or those
        that they ``need`` where so many are on each. None where no node is named.
        """
        if self.is_counted:
            return self.least
        if not self.sets:
            return None
        if most is None:
            return self.number or None
        if need is not None:
            return max(need, self.number) if self.open else need
        return (self.number if self.open else min(self.number, most)) or None

    @property
    def is_counted(self) -> bool:
        """Whether a count attribute says how many nodes are wanted."""
        return bool(self.matching) or any(count for _, count in self.sets)

    # decision 1135
    @property
    def some_match(self) -> bool:
        """Whether Patterns with a count ask for some of the nodes, and not for each.

        So they do beside names, or beside each other; one alone is a set to choose from.
        """
        return bool(self.matching) and len(self.matching) + len(self.sets) > 1

    # decisions 1065, 1066, 1080
    @property
    def least(self) -> int:
        """How many nodes there are at least, as these have to be among them.

        All names that have no count, and of the others so many more as their counts ask for, each
        count of nodes of its own. 0 of one set alone without a count, which is there to choose
        from.
        """
        if not self.open:
            return self.sets[0][1] or 0
        if not self.is_counted:
            return self.number
        all_of, counted = self._apart()
        more = sum(
            self._beside_matching(pattern, count, all_of) for pattern, count in self.matching
        )
        more += sum(self._beside(names, count, all_of) for names, count in counted)
        return self.left(all_of) + more

    # decision 1142
    def beside(self, others: Sequence[str]) -> NamedNodes:
        """The same, where these names are among the nodes, too; a set to choose from has them."""
        if not self.open or not others:
            return self
        return replace(self, sets=(*self.sets, (nodes.Names(tuple(others)), None)))

    def least_beside(self, others: Sequence[str]) -> int:
        """How many nodes there are at least, if these names are among them."""
        found = self.beside(others).least
        return found if self.open else max(found, len(others))

    def strangers(self, others: Iterable[str]) -> Iterator[str]:
        """Which of these names no node can have, by what is asked of the name of each."""
        of_each = () if self.some_match else self.matching
        matched = [asked_names(Comparison(item.having(count=None))) for item, _ in of_each]
        may_be = self.may_be()
        in_set = None if self.open else self.sets[0][0].tester()
        for name in others:
            is_one = in_set is None or in_set(name)
            if not (is_one and may_be(name) and all(each.admits(name) for each in matched)):
                yield name

    def _apart(self) -> tuple[list[nodes.Names], list[tuple[nodes.Names, int]]]:
        """The sets without a count, of which all have to be there, and those with one."""
        all_of = [names for names, count in self.sets if not count]
        return all_of, [(names, count) for names, count in self.sets if count]

    # decisions 1066, 1098
    def bounds(self, asked: CountRange) -> CountRange:
        """Between which of the numbers of nodes that are ``asked`` for there can be nodes.

        From those on that have to be there by name; and of an upper end alone, up to those that
        there are at most.
        """
        found = asked.from_least(self.least)
        return found.up_to(self.greatest) if found.lo is None else found

    # decision 1129
    @property
    def greatest(self) -> int | None:
        """How many nodes there are at most, as each is one of some names; None if of any name.

        Where no name is left, or none can be, that says nothing of their number.
        """
        ends = [end for end in (None if self.open else self.number, self.most) if end]
        return min(ends, default=None)

    @property
    def number(self) -> int:
        """How many different names there are."""
        return self.left(names for names, _ in self.sets)

    # decision 1067
    def left(self, sets: Iterable[nodes.Names]) -> int:
        """How many different names NE and patterns leave of some of the sets.

        None is made, unless patterns are asked of them.
        """
        if self.patterns:
            matched = self._matched()
            return len({name for names in sets
                        for name in filter(matched, names.without(self.excluded))})  # fmt: skip
        wanted = chain.from_iterable(names.parts for names in sets)
        if not self.excluded:
            return nodes.Names((*wanted,)).distinct
        left_out = self._left_out
        return nodes.Names((*wanted, *left_out.parts)).distinct - left_out.distinct

    @property
    def parts_left(self) -> Sequence[str | nodes.Span]:
        """The names that are left of all sets, of which none is made where all are."""
        if self.excluded or self.patterns:
            return self.names()
        return [part for names, _ in self.sets for part in names.parts]

    def _asked_patterns(self) -> Iterator[AskedNames]:
        """What the patterns demand and exclude, those with a count of some of the nodes, too."""
        counted = (Comparison(item.having(count=None)) for item, _ in self.matching)
        return map(asked_names, (*self.patterns, *counted))

    def _matched(self) -> Callable[[str], bool]:
        """What the patterns say of a name; of more names than an option lists, nothing.

        That is what would take too long, as does a pattern that is given up.
        """
        size = sum(len(names) for names, _ in self.sets)
        asked = [asked_names(term) for term in self.patterns if size <= nodes.OPTION_LIMIT]
        return lambda name: all(each.admits(name) for each in asked)

    @property
    def _left_out(self) -> nodes.Names:
        return nodes.Names(tuple(part for names in self.excluded for part in names.parts))

    # decision 1081
    def short(self, *, counted: bool = False) -> Iterator[tuple[nodes.Names, int | None, int]]:
        """Sets, of which some have to be among the nodes and fewer are left, with their counts.

        And how many are left. Where nodes are ``counted``, one set alone without a count is held
        against these.
        """
        if counted and not self.open and not self.is_counted:
            return
        if not (self.excluded or self.patterns or self.is_counted):
            return
        may_be = self.may_be()
        for names, count in self.sets:
            is_one = len(names.parts) == 1 and isinstance(names.parts[0], str)
            left = sum(map(may_be, names)) if is_one else self.left((names,))
            if left < (count or 1):
                yield names, count, left
                return
        for names, number in self.together():
            if (left := self.left((names,))) < number:
                yield names, number, left
                return
        if not counted and self.patterns and self.most == 0:
            patterns = tuple(str(next(expression.comparisons(term))) for term in self.patterns)
            yield next(iter(self.each_of), nodes.Names(patterns[:1])), None, 0

    # decision 1098
    def together(self) -> Iterator[tuple[nodes.Names, int]]:
        """Sets that share names and are counted, with how many of their nodes there have to be.

        Each count asks for nodes of its own: there are as many if every choice of the sets has
        what its counts ask for together. Names that have to be there anyway are among them.
        """
        all_of, counted = self._apart()
        sizes = range(2, len(counted) + 1) if len(counted) <= _EVERY_CHOICE else (2, len(counted))
        whole = self.left(all_of) if len(counted) > 1 else 0
        for some in chain.from_iterable(combinations(counted, size) for size in sizes):
            sets = [names for names, _ in some]
            beside = [self.left((*all_of, names)) - whole for names in sets]
            if self.left((*all_of, *sets)) - whole < sum(beside):
                wanted = sum(self._beside(names, count, all_of) for names, count in some)
                parts = chain.from_iterable(names.parts for names in (*sets, *all_of))
                yield nodes.Names(tuple(parts)), wanted + whole

    def _beside(self, names: nodes.Names, count: int, all_of: Sequence[nodes.Names]) -> int:
        """How many nodes a count asks for beside those that have to be there by their names."""
        whole = self.left(all_of)
        both = self.left((names,)) + whole - self.left((*all_of, names)) if whole else 0
        return max(count - both, 0)

    # decision 1135
    def _beside_matching(self, pattern: Property, count: int, all_of: Sequence[nodes.Names]) -> int:
        """The same of nodes that match a pattern, which some of those names may do."""
        matched = replace(self, patterns=(*self.patterns, Comparison(pattern.having(count=None))))
        return max(count - matched.left(all_of), 0)

    def among(self, number: int) -> int:
        """How many different names there are, at most so many."""
        return min(self.number, number)

    # decision 1138
    @property
    def most(self) -> int | None:
        """How many nodes there are at most, as each is one of some names; None if of any name.

        Of more names than an option lists, nothing is said. None has a name that one pattern
        matches, and that it does not.
        """
        if self.patterns and is_matched_and_not(self._asked_patterns()):
            return 0
        some = self.each_of[:1] or self._names_as_patterns()[:1]
        return self.left(some) if some and len(some[0]) <= nodes.OPTION_LIMIT else None

    # decision 1119
    def _names_as_patterns(self) -> list[nodes.Names]:
        """Patterns that are no more than a name: what matches them is that name."""
        every = (asked_names(term) for term in self.patterns)
        return [nodes.Names(texts) for each in every for texts in each.demanded]

    def lacking(self, wanted: int, own: int | None = None) -> str:
        """Why so many nodes cannot be had of a set of ``own`` names; "" where they can.

        ``own`` are all there are where that is not said. Names that are no set have others beside.
        """
        there = self.number if own is None else own
        if self.open or there >= wanted:
            return ""
        return f"each of {wanted} nodes would have to be among the {there} named"

    def without_contradictions(self) -> NamedNodes:
        """The same without the patterns, or else all that is not wanted, that leave no name."""
        for one in (self, replace(self, patterns=())):
            if not self.sets or one.number:
                return one
        return replace(self, patterns=(), excluded=())

    def may_be(self) -> Callable[[str], bool]:
        """Whether a node of a name may be among the nodes, by what is not wanted of names."""
        is_left_out, matched = self._left_out.tester(), self._matched()
        return lambda name: not is_left_out(name) and matched(name)

    def names(self, number: int = LIMIT) -> tuple[str, ...]:
        """At most so many different names: what is counted of each set, then the others.

        Of these the names that have to be among the nodes come before those that are only of a set.
        """
        matched = self._matched()
        taken = list(self.excluded)  # and the sets of which nothing is left
        chosen: dict[str, None] = {}

        def choose(names: nodes.Names, most: int) -> list[str]:
            """So many more of a set."""
            found: list[str] = []
            for name in filter(matched, names.without(taken)) if most > 0 else ():
                if name not in chosen:
                    chosen[name] = None
                    found.append(name)
                    if len(found) == most:
                        return found
            if most > 0 and len(names) > 1:
                taken.append(names)
            return found

        all_of, counted = self._apart()
        for names in all_of if self.open else ():
            choose(names, number - len(chosen))
        whole, first = tuple(chosen), dict[int, list[str]]()
        places = [*range(len(counted))]
        if len(places) > 1:  # those that have the fewest others come first
            places.sort(key=lambda at: self.left((counted[at][0],)) - counted[at][1])
        for at in places:
            names, count = counted[at]
            both = sum(map(names.tester(), whole)) if whole else 0
            first[at] = choose(names, min(count - both, number - len(chosen)))
        for names, _ in self.sets:
            choose(names, number - len(chosen))
        in_order = chain.from_iterable(first[at] for at in sorted(first))
        return tuple(dict.fromkeys((*in_order, *chosen)))


# decision 1124
def nodes_together(groups: Iterable[tuple[NamedNodes | None, int]]) -> int:
    """On how many nodes task groups are together, by the names and the number of nodes of each.

    A node that several of them name is one; of what has no name, nodes are added up.
    """
    among = others = 0
    parts: list[str | nodes.Span] = []
    for names, number in groups:
        own = min(names.number, number) if names is not None and names.sets else 0
        if names is not None and own:
            parts += names.parts_left
        among, others = among + own, others + number - own
    return others + min(among, nodes.Names(tuple(parts)).distinct)


def named(block: Block, path: str, terms: Sequence[Term], *, extended: bool = False) -> NamedNodes:
    """The names of nodes that the terms of a request have, or else the block itself.

    Raises ``InvalidValue`` and ``LimitExceeded`` for what cannot be read.
    """
    asked = [term for term in terms if _is_about_nodes(term)]
    where = f"{path}/Requested/Node"
    if not asked and (own := block.properties.get("Node")) is not None:
        asked, where = [Comparison(own.having(op=None))], f"{path}/Node"
    sets: list[tuple[nodes.Names, int | None]] = []
    lines: list[int] = []
    excluded: list[nodes.Names] = []
    patterns: list[Term] = []
    matching: list[tuple[Property, int]] = []
    each_of: list[nodes.Names] = []
    first = None
    for term in asked:
        said = names_in(term, extended=extended)
        item, names = said.item, said.names
        if names is not None and said.excludes:
            excluded.append(names)
            continue
        if names is not None and not said.is_one_of:
            sets.append((names, nodes.count_of_set(item)))
            lines.append(item.line)
            first = first or item
            continue
        patterns.append(term)
        if names is not None:
            each_of.append(names)
        elif said.op == "EQ" and not said.excludes and (count := nodes.count_of_set(item)):
            matching.append((item, count))
    # A set is what to choose from; of two, or of single names, each has to be among the nodes.
    closed = len(sets) == 1 and not matching and first and "aggregation" in first.attributes
    first = first or (next(expression.comparisons(asked[0])).item if asked else None)
    return NamedNodes(
        tuple(sets), tuple(excluded), tuple(patterns), tuple(matching), not closed, tuple(each_of),
        where, first.line if first else 0, tuple(lines),
    )  # fmt: skip


def _is_about_nodes(term: Term) -> bool:
    return expression.key(next(expression.comparisons(term)).item) == "Node"
