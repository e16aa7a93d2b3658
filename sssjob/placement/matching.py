"""From what is asked and what there is to whole numbers: who can be on which node, and how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import compress
from math import floor, lcm
from typing import NamedTuple

from sssjob import expression
from sssjob.errors import Finding
from sssjob.expression import Term
from sssjob.expression.comparison import YES
from sssjob.expression.evaluate import Request
from sssjob.expression.offer import ALL_GPUS, AMOUNTS, SETS, Number, Offer, is_of_model
from sssjob.expression.offer import slots as slots_of
from sssjob.expression.pattern import Matching
from sssjob.model import Property
from sssjob.placement.nodes import NodeKind, Nodes
from sssjob.placement.problem import NodeClass, PlacementPart, PlacementProblem, Quota, TaskOption
from sssjob.placement.requests import NOTHING, CountingWay, Need, Variant, WantedNames

_GPUS = (ALL_GPUS,)
# What is a matter of nodes: where a node does not mention it, it is not known to have it.
OF_NODES = (AMOUNTS | SETS | {"Architecture", "NetworkAdapter", "OperatingSystem"}) - {"Duration"}


class _Classes(NamedTuple):
    """The kinds of nodes, parted by which comparisons of Node their names satisfy.

    Side by side: of which kind a class is, what its names satisfy, and its nodes.
    """

    kinds: Sequence[int]
    marks: Sequence[tuple[bool, ...]]
    members: Sequence[tuple[int, ...]]


class Market:
    """A set of nodes, asked by any number of requests; what was answered once is kept."""

    def __init__(self, nodes: Nodes, match: Matching = "full") -> None:
        self.nodes, self.match = nodes, match
        self.of_job = NOTHING
        self._facts: dict[tuple[Term, ...], bytes] = {}
        self._requests: dict[tuple[Term, ...], tuple[Request, ...]] = {}  # that were asked
        self._named: dict[tuple[Term, ...], frozenset[int]] = {}

    def asking(self, of_job: Variant) -> Market:
        """The same nodes, of which a job asks this beside what its task groups do.

        Its needs are those of all tasks together.
        """
        made = copy(self)  # what was answered is known to both
        made.of_job = of_job
        return made

    def problem(self, ways: Sequence[CountingWay]) -> PlacementProblem:
        """These ways to count, one for each part, as a problem in whole numbers."""
        every = [variant for way in ways for variant in way.variants]
        named = list(dict.fromkeys(v.named for v in (*every, self.of_job) if v.named))
        place = {terms: index for index, terms in enumerate(named)}
        classes = self._classes([self._by_name(terms) for terms in named])
        tasks = sum(way.layout.tasks.value for way in ways)
        rows = _AmountRows(every, tasks)
        kinds = [self.nodes.kinds[kind] for kind in classes.kinds]
        rooms = rows.rooms(kinds)
        of_job = self._of_job(classes, place, kinds, tasks)
        parts = []
        for way in ways:
            # For each variant and each class one byte: whether it is able to run it.
            able = [
                self._able(classes, variant, place.get(variant.named)) for variant in way.variants
            ]
            options = rows.options(way.variants, zip(*able, strict=True), rooms)
            parts.append(self._part(way, tuple(of_job.beside(options, len(rows.rows)))))
        amounts = of_job.joined(rooms.amounts)
        return PlacementProblem(tuple(map(NodeClass, classes.members, amounts)), tuple(parts))

    # decision 1023
    def _of_job(
        self, classes: _Classes, place: Mapping[tuple[Term, ...], int], kinds: Sequence[NodeKind],
        tasks: int,
    ) -> _OfJob:  # fmt: skip
        """What a job asks of each class of nodes beside its task groups."""
        if self.of_job is NOTHING:
            return _OfJob(None, ())
        needs = tuple(need.shared(tasks) for need in self.of_job.needs)
        each = replace(self.of_job, needs=needs)
        rows = _AmountRows((each,), tasks)
        rooms = rows.rooms(kinds)
        able = self._able(classes, each, place.get(each.named))
        return _OfJob(tuple(rows.options((each,), zip(able, strict=True), rooms)), rooms.amounts)

    def _classes(self, fitting: Sequence[frozenset[int]]) -> _Classes:
        """The kinds, parted by which of these sets of nodes their members are in."""
        every = self.nodes.kinds
        if not fitting:
            return _Classes(range(len(every)), (), [kind.members for kind in every])
        classes: dict[tuple[int, tuple[bool, ...]], list[int]] = {}
        for number, kind in enumerate(every):
            for node in kind.members:
                marks = tuple([node in each for each in fitting])
                classes.setdefault((number, marks), []).append(node)
        kinds, parted = zip(*classes, strict=True) if classes else ((), ())
        return _Classes(kinds, parted, [tuple(members) for members in classes.values()])

    def _able(self, classes: _Classes, variant: Variant, named: int | None) -> bytes:
        """Of each class, whether its nodes have what a variant asks for and are named so."""
        has = self._having(variant.facts)
        if not classes.marks:
            return has
        if named is None:
            return bytes([has[kind] for kind in classes.kinds])
        pairs = zip(classes.kinds, classes.marks, strict=True)
        return bytes([marks[named] and has[kind] for kind, marks in pairs])

    def _part(self, way: CountingWay, options: tuple[tuple[TaskOption, ...], ...]) -> PlacementPart:
        nodes = self.nodes
        pins: dict[int, int] = {}
        for name, number in way.tasks_by_name.items():
            node = nodes.positions.get(name, -1)  # nowhere: nothing fits
            pins[node] = pins.get(node, 0) + number
        quotas = tuple(Quota(self._among(each), each.number) for each in way.wanted)
        return PlacementPart(
            way.layout.tasks.value, way.low, way.high, way.shape, options, way.excluded, quotas,
            pins, way.per_node,
        )  # fmt: skip

    def _among(self, wanted: WantedNames) -> frozenset[int]:
        """The positions of the nodes of which some are wanted by their names."""
        matching = (self._by_name((pattern,)) for pattern in wanted.patterns)
        return self.nodes.among(wanted.names).union(*matching)

    def _having(self, terms: tuple[Term, ...]) -> bytes:
        """Of each kind, whether its nodes satisfy comparisons of what is not taken.

        Nodes of which these see the same get the same answer, and are asked once.
        """
        if (known := self._facts.get(terms)) is None:
            kinds = self.nodes.kinds
            seen = [_seen(term, kinds) for term in terms]
            if seen:
                asking = _NodeComparisons(terms, self.match)
                answers: dict[object, bool] = {}
                found = bytearray()
                for kind, key in zip(kinds, zip(*seen, strict=True), strict=True):
                    if (answer := answers.get(key)) is None:
                        answer = answers[key] = asking.has(kind.offer)
                    found.append(answer)
                known = bytes(found)
                self._requests[terms] = asking.asked
            else:
                known = b"\1" * len(kinds)
            self._facts[terms] = known
        return known

    def _by_name(self, terms: tuple[Term, ...]) -> frozenset[int]:
        """The nodes whose names satisfy comparisons of Node."""
        if (known := self._named.get(terms)) is None:
            request = Request(expression.all_of(terms), self.match)
            self._requests[terms] = (request,)
            known = self._named[terms] = frozenset(
                node
                for node, name in enumerate(self.nodes.names)
                if request.verdict(Offer.of(name, (Property("Node", name),))) == YES
            )
        return known

    def stopped(self, ways: Iterable[CountingWay]) -> Iterator[Finding]:
        """The patterns that took too many steps with some node: it may be one after all."""
        return self._stopped(variant for way in ways for variant in way.variants)

    def stopped_of_job(self) -> Iterator[Finding]:
        """The same, of what a job asks beside its task groups."""
        return self._stopped((self.of_job,))

    def _stopped(self, variants: Iterable[Variant]) -> Iterator[Finding]:
        for terms in dict.fromkeys(t for each in variants for t in (each.facts, each.named)):
            for request in self._requests.get(terms, ()):
                yield from request.stopped()


class _OfJob(NamedTuple):
    """What a job asks of nodes: for each class how a task can be there, and what nodes have.

    ``ways`` are None where it asks for nothing. Its amounts are rows of their own, with room for
    all that the nodes have: whether what its task groups ask for is part of it, nobody says.
    """

    ways: tuple[tuple[TaskOption, ...], ...] | None
    amounts: Sequence[tuple[int, ...]]

    def beside(
        self, options: Iterable[tuple[TaskOption, ...]], rows: int
    ) -> Iterable[tuple[TaskOption, ...]]:
        """The options of a part, with what its job asks in rows behind these."""
        return options if self.ways is None else self._taking(options, self.ways, rows)

    def _taking(
        self, options: Iterable[tuple[TaskOption, ...]], ways: Iterable[tuple[TaskOption, ...]],
        rows: int,
    ) -> Iterator[tuple[TaskOption, ...]]:  # fmt: skip
        for some, own in zip(options, ways, strict=True):
            taken = tuple((row + rows, number) for each in own for row, number in each.takes)
            yield tuple(TaskOption(each.score, (*each.takes, *taken)) for each in some if own)

    def joined(self, amounts: Sequence[tuple[int, ...]]) -> Sequence[tuple[int, ...]]:
        """What the nodes of each class have of all rows."""
        if self.ways is None:
            return amounts
        return [(*some, *own) for some, own in zip(amounts, self.amounts, strict=True)]


class _NodeComparisons:
    """Comparisons asked of nodes, each request made once: what is not asked of all differs."""

    def __init__(self, terms: tuple[Term, ...], match: Matching) -> None:
        self.terms, self.match = terms, match
        self.requests: dict[tuple[bool, ...], Request | None] = {}

    @property
    def asked(self) -> tuple[Request, ...]:
        """The requests that were made."""
        return tuple(filter(None, self.requests.values()))

    def has(self, offer: Offer) -> bool:
        """Whether a node satisfies those that are asked of it."""
        marks = tuple([_is_asked(term, offer) for term in self.terms])
        if marks not in self.requests:
            asked = tuple(compress(self.terms, marks))
            self.requests[marks] = Request(expression.all_of(asked), self.match) if asked else None
        request = self.requests[marks]
        return request is None or request.verdict(offer) == YES


def _seen(term: Term, kinds: Iterable[NodeKind]) -> list[object]:
    """Of each kind, all that a comparison and the question whether it is asked look at."""
    item = next(expression.comparisons(term)).item
    name = expression.key(item)
    if item.name in AMOUNTS:
        where = slots_of(item)
        return [(name in kind.offer.facts, kind.offer.amount(where)) for kind in kinds]
    return [kind.offer.names.get(name) for kind in kinds]


def _is_asked(term: Term, offer: Offer) -> bool:
    """Whether a comparison is asked of a node: what is about the job only if it is mentioned."""
    item = next(expression.comparisons(term)).item
    return item.name in OF_NODES or expression.key(item) in offer.facts


class _Rooms(NamedTuple):
    """What nodes have in each row: whether that is known, and how much it is; else nothing.

    Side by side for each class of nodes.
    """

    known: Sequence[tuple[bool, ...]]
    amounts: Sequence[tuple[int, ...]]


class _AmountRows:
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
                for slots in (*_drawn(need), *[_GPUS] * is_of_model(need.slots[0])):
                    here.setdefault(slots, []).append(need)
        for slots, needs in here.items():
            common = lcm(*{need.least.denominator for need in needs})
            self.rows[slots] = len(self.rows)
            self.factors.append((common, tasks + 1 if any(need.open for need in needs) else 1))

    def rooms(self, kinds: Sequence[NodeKind]) -> _Rooms:
        """What the nodes of these kinds have."""
        columns = [
            _amounts(kinds, slots, *factors)
            for slots, factors in zip(self.rows, self.factors, strict=True)
        ]
        amounts = list(zip(*columns, strict=True)) if columns else [()] * len(kinds)
        if not any(None in column for column in columns):
            return _Rooms([(True,) * len(columns)] * len(kinds), amounts)
        known = [tuple([each is not None for each in some]) for some in amounts]
        return _Rooms(known, [tuple([each or 0 for each in some]) for some in amounts])

    def options(
        self, variants: Sequence[Variant], able: Iterable[tuple[int, ...]], rooms: _Rooms
    ) -> Iterator[tuple[TaskOption, ...]]:
        """How a task can be on nodes of each class, by those of its variants that are able to run.

        What is better is the same for all nodes of which the same is known, and is found once.
        """
        found: dict[object, tuple[TaskOption, ...]] = {}
        for marks, known, amounts in zip(able, *rooms, strict=True):
            if (best := found.get((marks, known))) is None:
                made = (self._option(variant, known) for variant in compress(variants, marks))
                best = found[marks, known] = tuple(_best(filter(None, made)))
            for option in best:
                if not option.fits(amounts, 1):
                    yield tuple(each for each in best if each.fits(amounts, 1))
                    break
            else:
                yield best

    def _option(self, variant: Variant, known: Sequence[bool]) -> TaskOption | None:
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
        models = [each for each in variant.needs if is_of_model(each.slots[0])]
        if models:  # of those that a task takes of any model, these are some
            row = self.rows[_GPUS]
            common, steps = self.factors[row]
            some = sum(int(each.least * common) * steps + each.open for each in models)
            takes[row] = max(takes.get(row, 0), some)
        taken = tuple(item for item in sorted(takes.items()) if known[item[0]])
        return TaskOption(variant.score, taken)


def _amounts(
    kinds: Iterable[NodeKind], slots: tuple[str, ...], common: int, steps: int
) -> list[int | None]:
    """What nodes of each kind have of one row."""
    found = [kind.offer.amount(slots) for kind in kinds]
    return [
        amount * common * steps if type(amount) is int else _whole(amount, common, steps)
        for amount in found
    ]


def _whole(amount: Number | None, common: int, steps: int) -> int | None:
    if amount is None:
        return None
    whole = floor(amount * common)
    # What is left above the last whole number has room for all that is just above it.
    rest = steps - 1 if whole < amount * common else 0
    return whole * steps + rest


def _drawn(need: Need) -> tuple[tuple[str, ...], ...]:
    """The rows that a need is in: its own, and what is free of the same."""
    pool = (need.slots[0].partition("|")[0],)
    return (need.slots,) if need.slots == pool else (need.slots, pool)


def _best(options: Iterable[TaskOption]) -> Iterator[TaskOption]:
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
