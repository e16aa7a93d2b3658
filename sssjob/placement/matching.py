"""From what is asked and what there is to whole numbers: who can be on which node, and how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import floor, lcm

from sssjob import expression
from sssjob.expression import Term
from sssjob.expression.comparison import YES
from sssjob.expression.evaluate import Request
from sssjob.expression.offer import AMOUNTS, SETS, Offer
from sssjob.expression.pattern import Matching
from sssjob.model import Property
from sssjob.placement.nodes import Nodes
from sssjob.placement.problem import Class, Option, Part, Problem, Quota
from sssjob.placement.requests import Need, Variant, Way

# What is a matter of nodes: where a node does not mention it, it is not known to have it.
OF_NODES = (AMOUNTS | SETS | {"Architecture", "NetworkAdapter", "OperatingSystem"}) - {"Duration"}

_Marks = tuple[bool, ...]


class Market:
    """A set of nodes, asked by any number of requests; what was answered once is kept."""

    def __init__(self, nodes: Nodes, match: Matching = "full") -> None:
        self.nodes, self.match = nodes, match
        self._requests: dict[tuple[Term, ...], Request] = {}
        self._numbers: dict[tuple[Term, ...], int] = {}  # of comparisons that are asked together
        self._facts: dict[tuple[int, int], bool] = {}
        self._named: dict[tuple[Term, ...], frozenset[int]] = {}

    def problem(self, ways: Sequence[Way]) -> Problem:
        """These ways to count, one for each part, as a problem in whole numbers."""
        named = list(dict.fromkeys(v.named for way in ways for v in way.variants if v.named))
        fitting = [self._by_name(terms) for terms in named]
        classes: dict[tuple[int, _Marks], list[int]] = {}
        for number, kind in enumerate(self.nodes.kinds):
            if not named:
                classes[number, ()] = list(kind.members)
                continue
            for node in kind.members:
                marks = tuple(node in each for each in fitting)
                classes.setdefault((number, marks), []).append(node)
        kinds = self.nodes.kinds
        every = [variant for way in ways for variant in way.variants]
        rows = _Rows(every, sum(way.layout.tasks.value for way in ways))
        rooms = [rows.room(kinds[number].offer) for number, _ in classes]
        place = {terms: index for index, terms in enumerate(named)}
        parts = []
        for way in ways:
            asked = [self._numbers.setdefault(each.facts, len(self._numbers))
                     for each in way.variants]  # fmt: skip
            options = []
            for (number, marks), room in zip(classes, rooms, strict=True):
                able = tuple(
                    index
                    for index, variant in enumerate(way.variants)
                    if (not variant.named or marks[place[variant.named]])
                    and self._has(number, asked[index], variant.facts)
                )
                options.append(rows.options(way.variants, able, room))
            parts.append(self._part(way, tuple(options)))
        members = (
            Class(tuple(nodes), tuple(number or 0 for number in room))
            for nodes, room in zip(classes.values(), rooms, strict=True)
        )
        return Problem(tuple(members), tuple(parts))

    def _part(self, way: Way, options: tuple[tuple[Option, ...], ...]) -> Part:
        nodes = self.nodes
        pins: dict[int, int] = {}
        for name in filter(None, way.pins):
            node = nodes.positions.get(name, -1)  # nowhere: nothing fits
            pins[node] = pins.get(node, 0) + 1
        quotas = tuple(Quota(nodes.among(each.names), each.number) for each in way.wanted)
        return Part(
            way.layout.tasks.value, way.low, way.high, way.shape, options, way.excluded, quotas,
            pins, way.per_node,
        )  # fmt: skip

    def _has(self, number: int, which: int, terms: tuple[Term, ...]) -> bool:
        """Whether nodes of a kind satisfy comparisons of what is not taken."""
        key = number, which
        if (known := self._facts.get(key)) is None:
            offer = self.nodes.kinds[number].offer
            asked = tuple(term for term in terms if _is_asked(term, offer))
            known = self._facts[key] = not asked or self._request(asked).verdict(offer) == YES
        return known

    def _by_name(self, terms: tuple[Term, ...]) -> frozenset[int]:
        """The nodes whose names satisfy comparisons of Node."""
        if (known := self._named.get(terms)) is None:
            request = self._request(terms)
            known = self._named[terms] = frozenset(
                node
                for node, name in enumerate(self.nodes.names)
                if request.verdict(Offer.of(name, (Property("Node", name),))) == YES
            )
        return known

    def _request(self, terms: tuple[Term, ...]) -> Request:
        if terms not in self._requests:
            self._requests[terms] = Request(expression.all_of(terms), self.match)
        return self._requests[terms]


def _is_asked(term: Term, offer: Offer) -> bool:
    """Whether a comparison is asked of a node: what is about the job only if it is mentioned."""
    item = next(expression.comparisons(term)).item
    return item.name in OF_NODES or expression.key(item) in offer.facts


class _Rows:
    """The amounts that tasks take, as rows of whole numbers.

    What is dedicated is also taken from what is free. All numbers of a row are multiplied by what
    makes the needs whole, and by more than the tasks if a need is open.
    """

    def __init__(self, variants: Sequence[Variant], tasks: int) -> None:
        self.rows: dict[tuple[str, ...], int] = {}
        self.factors: list[tuple[int, int]] = []  # for the denominators, for what is open
        here: dict[tuple[str, ...], list[Need]] = {}
        for variant in variants:
            for need in variant.needs:
                for slots in _drawn(need):
                    here.setdefault(slots, []).append(need)
        for slots, needs in here.items():
            common = lcm(*{need.least.denominator for need in needs})
            self.rows[slots] = len(self.rows)
            self.factors.append((common, tasks + 1 if any(need.open for need in needs) else 1))
        self._best: dict[tuple[int, tuple[int, ...], tuple[bool, ...]], tuple[Option, ...]] = {}

    def room(self, offer: Offer) -> list[int | None]:
        """What a node has in each row; None where that is not known."""
        found: list[int | None] = []
        for slots, row in self.rows.items():
            amount = offer.amount(slots)
            common, steps = self.factors[row]
            if amount is None:
                found.append(None)
                continue
            whole = floor(amount * common)
            # What is left above the last whole number has room for all that is just above it.
            rest = steps - 1 if whole < amount * common else 0
            found.append(whole * steps + rest)
        return found

    def options(
        self, variants: Sequence[Variant], able: tuple[int, ...], room: Sequence[int | None]
    ) -> tuple[Option, ...]:
        """How a task can be on a node, by those of its variants that the node is able to run.

        What is better is the same for all nodes of which the same is known, and is found once.
        """
        known = tuple(number is not None for number in room)
        key = id(variants), able, known
        if (best := self._best.get(key)) is None:
            made = (self._option(variants[index], known) for index in able)
            best = self._best[key] = tuple(_best(filter(None, made)))
        numbers = [number or 0 for number in room]
        return tuple(option for option in best if option.fits(numbers, 1))

    def _option(self, variant: Variant, known: Sequence[bool]) -> Option | None:
        """What a task takes by a variant; None if it is not known whether that is there."""
        takes: dict[int, int] = {}
        for need in variant.needs:
            if not known[self.rows[need.slots]]:
                return None
            for slots in _drawn(need):
                row = self.rows[slots]
                common, steps = self.factors[row]
                takes[row] = takes.get(row, 0) + int(need.least * common) * steps + need.open
        # A pool of which nobody states the size bounds nothing beyond what was asked of it.
        taken = tuple(item for item in sorted(takes.items()) if known[item[0]])
        return Option(variant.score, taken)


def _drawn(need: Need) -> tuple[tuple[str, ...], ...]:
    """The rows that a need is in: its own, and what is free of the same."""
    pool = (need.slots[0].partition("|")[0],)
    return (need.slots,) if need.slots == pool else (need.slots, pool)


def _best(options: Iterable[Option]) -> Iterator[Option]:
    """Those that no other is at least as good as in all respects; the best liked first."""
    kept: list[dict[int, int]] = []
    for option in sorted(options, key=lambda each: (-each.score, sum(n for _, n in each.takes))):
        takes = dict(option.takes)
        if not any(_within(other, takes) for other in kept):
            kept.append(takes)
            yield option


def _within(takes: dict[int, int], bounds: dict[int, int]) -> bool:
    """Whether these take no more than others do."""
    return all(number <= bounds.get(row, 0) for row, number in takes.items())
