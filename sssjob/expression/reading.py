"""Properties of a Requested block to a tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sssjob import units
from sssjob.errors import InvalidValue, LimitExceeded, UnbalancedGroup
from sssjob.expression.tree import (
    OPERATIONS,
    And,
    Comparison,
    Expression,
    OneOf,
    Or,
    Wish,
    all_of,
    conjuncts,
    follows,
    is_level,
    negation,
    sums,
    weight,
)
from sssjob.model import Block, Property, Requested

DEPTH_LIMIT = 64

NorScope: TypeAlias = Literal["group", "term"]

# By which properties of a request are joined; with the operator, all that makes of one of them
# more than a comparison by EQ that holds together with all others.
LOGIC = frozenset(("conj", "group", "preference"))
LOGIC_AND_OPERATOR = LOGIC | {"op"}

# fmt: off
# "Nand meaning and not, and Nor meaning or not", SSS 8.1; SSSRMAP's Where calls them AndNot, OrNot.
CONJUNCTIONS: dict[str, tuple[str, bool]] = {
    "And":    ("And", False),
    "Or":     ("Or",  False),
    "Nand":   ("And", True),
    "Nor":    ("Or",  True),
    "AndNot": ("And", True),
    "OrNot":  ("Or",  True),
}
# fmt: on


def parse(
    properties: Iterable[Property], *, precedence: bool = True, nor_scope: NorScope = "group"
) -> Expression:
    """Read the properties of one Requested block, in document order, as one expression.

    Not binds closer than And, And closer than Or; Nand and Nor negate the whole group that
    their element opens, or else that element (decision: the text says only "much like
    parenthetical groupings"). Without ``precedence`` And and Or are read from left to right;
    with ``nor_scope="term"`` only the first element of a group is negated, as by Gold.

    Raises ``UnbalancedGroup``, ``InvalidValue`` for an operation, conjunction, group or
    preference that is none, and ``LimitExceeded`` for too deep groups.
    """
    items = tuple(properties)
    if all(LOGIC.isdisjoint(item.attributes) for item in items):  # as most requests are
        return all_of(map(_comparison, items))
    groups = [_group(item) for item in items]
    if fault := _unbalanced(items, groups):
        raise fault
    levels = [_OpenLevel(precedence=precedence)]
    start = 0
    while start < len(items):
        end = _run(items, groups, start)
        joined, negated = conjunction(items[start])
        operand = _operand(items[start:end])
        opened, closed = max(groups[start], 0), max(-groups[end - 1], 0)
        if len(levels) + opened > DEPTH_LIMIT + 1:
            raise LimitExceeded("groups inside each other", DEPTH_LIMIT)
        if opened:
            whole = negated and nor_scope == "group"
            levels.append(_OpenLevel(joined, whole, precedence))
            levels += [_OpenLevel(precedence=precedence) for _ in range(opened - 1)]
            levels[-1].add("And", negation(operand) if negated and not whole else operand)
        else:
            levels[-1].add(joined, negation(operand) if negated else operand)
        for _ in range(closed):
            level = levels.pop()
            levels[-1].add(level.joined, level.bracketed())
        start = end
    return levels[0].expression()


def of(block: Block) -> Expression | None:
    """Everything that a job, task group or task requests, or None without a Requested element.

    Each Requested element is balanced on its own, and all of them hold.
    """
    blocks = [parse(requested.properties) for requested in block.blocks(Requested)]
    return all_requested(blocks) if blocks else None


def parts_of(block: Block) -> tuple[Expression, ...]:
    """The parts of what a block requests that And joins; none without a Requested element.

    Raises as ``parse``.
    """
    requested = of(block)
    return () if requested is None else conjuncts(requested)


def all_requested(requests: Iterable[Expression]) -> Expression:
    """What several Requested elements ask for: all hold, and preferences count in their own."""
    every = [conjuncts(read) for read in requests]
    parts: list[Expression] = []
    for own, apart in zip(every, are_apart(every), strict=True):
        # Brackets around one preference say nothing, but for what holds beside it.
        whole = And(own) if is_level(And(own)) else And((*own, And(())))
        parts += [whole] if apart else own
    return all_of(parts)


def are_one(requests: Iterable[Expression]) -> bool:
    """Whether several Requested elements can be written as one: brackets need two properties."""
    every = [conjuncts(read) for read in requests]
    return all(
        is_level(And(own)) or not apart for own, apart in zip(every, are_apart(every), strict=True)
    )


def are_apart(every: Sequence[Sequence[Expression]]) -> list[bool]:
    """Which of several requests hold preferences that would count together with another's.

    Each is whole: what it joins by And.
    """
    times = Counter(group for own in every for group in sums(own))
    return [any(times[group] > 1 for group in sums(own)) for own in every]


def balance(properties: Iterable[Property]) -> UnbalancedGroup | None:
    """What is wrong with the group attributes, or None; groups that are no integers count as 0."""
    items = tuple(properties)
    return _unbalanced(items, [group_or_zero(item) for item in items])


def swap_balances(properties: Iterable[Property]) -> bool:
    """Whether groups that do not balance would if the sign of each were turned."""
    items = tuple(properties)
    groups = [group_or_zero(item) for item in items]
    turned = [-group for group in groups]
    return bool(_unbalanced(items, groups)) and not _unbalanced(items, turned)


@dataclass(slots=True)
class _OpenLevel:
    """A group that is still open: And binds closer, so it is a list of lists."""

    joined: str = "And"
    negated: bool = False
    precedence: bool = True
    rows: list[list[Expression]] = field(default_factory=list)
    turns: int = 0

    def add(self, joined: str, operand: Expression) -> None:
        if joined == "Or" or not self.rows:
            self.rows.append([operand])
        elif not self.precedence and len(self.rows) > 1:
            self.turns += 1
            if self.turns > DEPTH_LIMIT:
                raise LimitExceeded("changes from Or to And read from left to right", DEPTH_LIMIT)
            self.rows = [[self._joined(), operand]]
        else:
            self.rows[-1].append(operand)

    def expression(self) -> Expression:
        """What the root asks for."""
        return self._joined()

    def bracketed(self) -> Expression:
        """What a group asks for; a run of preferences keeps its brackets until more is known."""
        whole = self._joined()
        asked = negation(whole) if self.negated else whole
        return And((asked,)) if is_level(And((asked,))) else asked

    def _joined(self) -> Expression:
        """The rows as one. Brackets matter to preferences that count together across them."""
        every = [[_groups(operand) for operand in row] for row in self.rows]
        times = Counter(group for row in every for found in row for group in found)
        rows = [[_unbracketed(operand, times) for operand in row] for row in self.rows]
        if len(rows) < 2:
            return all_of(part for row in rows for part in row)
        inside = [sums(row) for row in rows]
        shared = Counter(group for found in inside for group in found)
        return Or(tuple(
            all_of(row) if len(row) == 1 else And(tuple(row), any(shared[g] > 1 for g in found))
            for row, found in zip(rows, inside, strict=True)
        ))  # fmt: skip


def _groups(operand: Expression) -> Iterable[str]:
    """The groups of preferences that an operand holds but for brackets of its own."""
    return sums(operand.operands if isinstance(operand, And) and len(operand.operands) == 1
                else (operand,))  # fmt: skip


def _unbracketed(operand: Expression, times: Counter[str]) -> Expression:
    """A run of preferences without its brackets if no other counts together with it."""
    if isinstance(operand, And) and len(operand.operands) == 1:
        alone = all(times[group] == 1 for group in sums(operand.operands))
        return operand.operands[0] if alone else operand
    return operand


def _unbalanced(items: Sequence[Property], groups: Sequence[int]) -> UnbalancedGroup | None:
    openers: list[list[int]] = []
    depth = 0
    for index, group in enumerate(groups):
        if depth + group < 0:
            return UnbalancedGroup(index, items[index].name, -group, depth)
        depth += group
        if group > 0:
            openers.append([index, group])
        while group < 0:
            closed = min(-group, openers[-1][1])
            openers[-1][1] -= closed
            group += closed
            if not openers[-1][1]:
                openers.pop()
    if not depth:
        return None
    index = openers[-1][0]
    return UnbalancedGroup(index, items[index].name, 0, depth)


def _group(item: Property) -> int:
    return units.integer(item.attributes.get("group", "0"))


def group_or_zero(item: Property) -> int:
    """How many groups open, or close if it is negative; what is no integer counts as 0."""
    try:
        return _group(item)
    except InvalidValue:
        return 0


def conjunction(item: Property) -> tuple[str, bool]:
    """And or Or, and whether a negation follows. Raises ``InvalidValue``."""
    conj = item.said("conj", "And")
    if conj not in CONJUNCTIONS:
        raise InvalidValue(conj, f"one of the conjunctions {', '.join(CONJUNCTIONS)}")
    return CONJUNCTIONS[conj]


def _run(items: Sequence[Property], groups: Sequence[int], start: int) -> int:
    """Where the operand that begins at ``start`` ends: adjacent preferences of one level."""
    end = start + 1
    while (
        end < len(items)
        and groups[end - 1] >= 0
        and groups[end] <= 0
        and follows(items[end - 1], items[end])
    ):
        end += 1
    return end


def _comparison(item: Property) -> Comparison:
    found = Comparison(item)
    if found.op not in OPERATIONS:
        raise InvalidValue(found.op, f"one of the operations {', '.join(OPERATIONS)}")
    return found


def _operand(items: Sequence[Property]) -> Expression:
    members = tuple(map(_comparison, items))
    preference = weight(items[0])
    if not preference:
        return members[0]
    return OneOf(members) if preference > 0 else Wish(members)
