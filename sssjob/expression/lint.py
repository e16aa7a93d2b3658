"""What in a request is probably not meant: readings that differ, and what nothing satisfies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product

from sssjob.errors import Finding, InvalidValue, LimitExceeded, UnbalancedGroup, finding
from sssjob.expression.alternative import alternatives
from sssjob.expression.comparison import leaf
from sssjob.expression.conflicts import about, conflict, no_count, shown
from sssjob.expression.fit import numbers
from sssjob.expression.offer import AMOUNTS, COUNTS, SETS
from sssjob.expression.pattern import NotAPattern, Pattern
from sssjob.expression.reading import conjunction, group_or_zero, parse, swap_balances
from sssjob.expression.tree import (
    And,
    Comparison,
    Expression,
    Not,
    OneOf,
    Or,
    Wish,
    comparisons,
    follows,
    weight,
)
from sssjob.model import MARK, Property, marked

_SECTION = "SSS 8.1"
_WORLDS = 4096  # more combinations are not compared: the readings then count as different
_COMPARED = 100
_ALTERNATIVES = 256
_NODES = 10_000
# While a request is looked at, an attribute without a name carries each property's place in it.


def lint(properties: Iterable[Property], *, nodes: Iterable[str] = ()) -> Iterator[Finding]:
    """What to say of the properties of one Requested element, in document order.

    A finding's ``path`` is the step to its property, ``Processors[2]``. ``nodes`` are names over
    which patterns are tried. What is no expression at all is left to ``parse``.
    """
    items = tuple(properties)
    found = sorted(_remarks(items, tuple(islice(nodes, _NODES))), key=lambda remark: remark[0])
    steps = tuple(_steps(items))
    for place, code, message, advice in found:
        yield finding(code, message, line=items[place].line, path=steps[place],
                      section=_SECTION, suggestion=advice)  # fmt: skip


Remark = tuple[int, str, str, str]


def _remarks(items: Sequence[Property], nodes: Sequence[str]) -> Iterator[Remark]:
    if swap_balances(items):
        yield (0, "W-GROUP-SWAP", "the groups balance if every sign is reversed",
               "positive opens, negative closes")  # fmt: skip
    placed = [marked(item, str(place)) for place, item in enumerate(items)]
    try:
        read = parse(placed)
    except (UnbalancedGroup, InvalidValue, LimitExceeded):
        return
    yield from _meaningless(items)
    yield from _first(items)
    yield from _scopes(items)
    yield from _mixed(placed, read)
    yield from _unsatisfiable(read)
    yield from _anchors(items, nodes)


def _meaningless(items: Sequence[Property]) -> Iterator[Remark]:
    """Comparisons that no offer can answer."""
    for place, item in enumerate(items):
        made = leaf(Comparison(item), False, "full")
        if made.code:
            yield place, made.code, f"{made}: {made.fault}", ""


def _first(items: Sequence[Property]) -> Iterator[Remark]:
    """The first element has none before it to be joined with (2.4)."""
    if items and conjunction(items[0])[1]:
        yield (0, "W-NOT-SCOPE", f"{items[0].attributes['conj']} on the first element negates it",
               "write the inverse operation")  # fmt: skip


def _scopes(items: Sequence[Property]) -> Iterator[Remark]:
    for place, item in enumerate(items):
        if conjunction(item)[1] and group_or_zero(item) > 0:
            message = (
                f"{item.attributes['conj'].strip()} negates the group that {item.name} opens; "
                "some readers negate its first element only"
            )
            yield place, "W-NOT-SCOPE", message, "negate each element of the group"


def _mixed(items: Sequence[Property], read: Expression) -> Iterator[Remark]:
    """And behind Or at one level, if reading from left to right is another request."""
    try:
        other = parse(items, precedence=False)
    except LimitExceeded:
        other = None
    if other == read or (other is not None and _same(read, other)):
        return
    place = _and_behind_or(items)
    message = f"{items[place].name} is joined by And behind an Or without a group"
    yield (
        place,
        "W-MIXED",
        f"{message}: And binds closer, but some readers go from left to right",
        ("put what belongs together into a group"),
    )


def _and_behind_or(items: Sequence[Property]) -> int:
    """The first place where precedence and reading from left to right part."""
    seen = [False]
    for place, item in enumerate(items):
        joined = conjunction(item)[0]
        if place and not follows(items[place - 1], item):
            if joined == "Or":
                seen[-1] = True
            elif seen[-1]:
                return place
        group = group_or_zero(item)
        seen += [False] * group
        del seen[len(seen) + min(group, 0) :]
    return 0


def _same(left: Expression, right: Expression) -> bool:
    """Whether two readings of the same comparisons agree about everything that may be offered."""
    kinds: dict[str, list[Comparison]] = {}
    compared = list(comparisons(left))
    if len(compared) > _COMPARED:
        return False
    for each in compared:
        kinds.setdefault(about(each.item), []).append(each)
    cases = [list(_cases(kind)) for kind in kinds.values()]
    size = 1
    for case in cases:
        size *= len(case)
        if size > _WORLDS:
            return False
    return all(
        _true(left, world) == _true(right, world)
        for world in (
            {k: v for part in parts for k, v in part.items()} for parts in product(*cases)
        )
    )


World = dict[str, bool]


def _cases(compared: Sequence[Comparison]) -> Iterator[World]:
    """Which of the comparisons of one property can hold at the same time."""
    places = [each.item.attributes[MARK] for each in compared]
    made = tuple(leaf(each, False, "full") for each in compared)
    item = compared[0].item
    if item.name in AMOUNTS and not any(each.fault for each in made):
        for number in numbers(made, item.name in COUNTS):
            yield dict(zip(places, (each.holds(number) for each in made), strict=True))
    elif item.name not in SETS and all(map(_is_equality, compared)):
        texts = [each.item.text.strip() for each in compared]
        for text in (*dict.fromkeys(texts), None):
            held = (
                (mine == text) == (each.op == "EQ")
                for mine, each in zip(texts, compared, strict=True)
            )
            yield dict(zip(places, held, strict=True))
    else:
        said = [str(each) for each in compared]
        distinct = list(dict.fromkeys(said))
        if len(distinct) > _WORLDS.bit_length():
            distinct = distinct[: _WORLDS.bit_length()]
        for values in product((False, True), repeat=len(distinct)):
            truth = dict(zip(distinct, values, strict=True))
            yield {place: truth.get(text, False) for place, text in zip(places, said, strict=True)}


def _is_equality(comparison: Comparison) -> bool:
    return comparison.op in ("EQ", "NE") and "aggregation" not in comparison.item.attributes


def _true(expression: Expression, world: World) -> bool:
    match expression:
        case Comparison(item):
            return world[item.attributes[MARK]]
        case Not(operand):
            return not _true(operand, world)
        case And(operands):
            return all(_true(operand, world) for operand in operands)
        case Or(operands) | OneOf(operands):
            return any(_true(operand, world) for operand in operands)
        case Wish():
            return True


def _unsatisfiable(read: Expression) -> Iterator[Remark]:
    try:
        found = alternatives(read, _ALTERNATIVES)
    except LimitExceeded as error:
        yield 0, "E-LIMIT", str(error), "state each preference once, in a group without Nand or Nor"
        return
    if not found.complete:
        return
    if not found.best:
        wishes = (each for each in comparisons(read) if weight(each.item) < 0)
        place = min(int(each.item.attributes[MARK]) for each in wishes)
        message = "nothing satisfies a negated group in which a preference stands: it always holds"
        yield place, "W-UNSAT", message, "negate the preference alone"
        return
    conflicts = [conflict(one) or no_count(one) for one in found]
    first = conflicts[0]
    if not all(conflicts):
        return
    said = [each for term in first for each in comparisons(term)]
    place = max(int(each.item.attributes[MARK]) for each in said)
    positive = all(isinstance(each, Comparison) and each.op == "EQ" for each in first)
    advice = "write Or if one of them is enough" if positive and len(first) > 1 else ""
    yield place, "W-UNSAT", shown(first), advice


def _anchors(items: Sequence[Property], nodes: Sequence[str]) -> Iterator[Remark]:
    """Whether a pattern chooses other nodes when it may stand anywhere in a name (2.10)."""
    for place, item in enumerate(items):
        made = Comparison(item)
        if item.name != "Node" or str(made).split(" ")[1] != "Match":
            continue
        try:
            full, part = (Pattern(item.text.strip(), match) for match in ("full", "search"))
            more = [node for node in nodes if part.matches(node) and not full.matches(node)]
        except (NotAPattern, LimitExceeded):
            continue
        if more:
            others = f"programs that match a part of it take {more[0]}, too"
            message = f"{made} is held against the whole name; {others}"
            yield place, "W-ANCHOR", message, "write ^ and $, or .* where anything may follow"


def _steps(items: Sequence[Property]) -> Iterator[str]:
    """The step to each property: its name, and its number if several have that name."""
    counts = Counter(item.name for item in items)
    seen: Counter[str] = Counter()
    for item in items:
        seen[item.name] += 1
        yield f"{item.name}[{seen[item.name]}]" if counts[item.name] > 1 else item.name
