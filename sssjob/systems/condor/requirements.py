"""A request as Requirements and Rank of a job ad, and Requirements as a request.

>>> from sssjob.expression import parse
>>> from sssjob.model import Property
>>> asked = parse([Property("Architecture", "x86_64"), Property("Memory", 2, {"units": "GB"})])
>>> from sssjob.classads import writing
>>> writing.expression(demands(asked).requirements)
'TARGET.Arch == "X86_64" && TARGET.Memory >= 2048'
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, TypeGuard

from sssjob import expression as requests
from sssjob import nodes, units
from sssjob.amounts import Scope
from sssjob.classads import tree, writing
from sssjob.classads.errors import BadAd
from sssjob.classads.values import Node
from sssjob.errors import InvalidValue, LimitExceeded, SSSJobError
from sssjob.expression import And, Comparison, Expression, Not, OneOf, Or, Wish
from sssjob.expression.asked_names import AskedNames, asked_names, excluded_by
from sssjob.expression.tree import is_term, negation
from sssjob.integers import LARGEST
from sssjob.model import Property, stripped
from sssjob.resource_names import is_license
from sssjob.systems.condor import names
from sssjob.systems.condor.gpus import CLAUSE
from sssjob.translate.requests import no_case

SIGNS = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
# What a slot must have of what a job takes a part of: a slot that has more will do.
_AT_LEAST = {"EQ": ">=", "GE": ">=", "GT": ">"}

NO_NAME = (
    "the name of a Feature: HTCondor has an attribute for each, and cannot be asked for names that "
    "match or come later"
)

OF_MACHINES = ("Feature", *names.SIDES)  # what machines are, not what they have

# What no machine has, and a job asks for by numbers of its own.
_OF_NO_MACHINE = ("Duration", "NodeCount", "TaskCount")

TARGET = tree.AttributeReference(None, "TARGET")


@dataclass(frozen=True, slots=True)
class Demands:
    """What a slot must be (None: anything), what is liked of it, and what could not be said."""

    requirements: Node | None
    rank: Node | None = None
    unsaid: tuple[str, ...] = ()


class Unsayable(InvalidValue):
    """What a request may ask for, and no Requirements can say."""


class _Beyond(Unsayable):
    """What has no place in Requirements at all."""


class _Unwanted(Unsayable):
    """A wish for what must not be there, where no Requirements can say so."""

    def __str__(self) -> str:
        return "what cannot be said excludes it"


class SameName(Unsayable):
    """A name that HTCondor does not tell apart from one that is asked for; its text says why."""

    def __str__(self) -> str:
        return self.text


class UnsaidTerm(NamedTuple):
    """A comparison that a machine cannot be asked for, and why; Unsayable if it can be read."""

    comparison: Comparison
    why: SSSJobError

    @property
    def item(self) -> Property:
        """What is compared."""
        return self.comparison.item

    @property
    def told(self) -> str:
        """Both as a sentence."""
        beyond = f"HTCondor cannot be asked for {self.comparison}"
        return beyond if isinstance(self.why, _Beyond) else f"{beyond}: {self.why}"


@dataclass(frozen=True, slots=True)
class SaidParts:
    """What is demanded and liked of a slot, by which ``parts``, and what cannot be said of it.

    ``alike`` are demands that one before them says in another spelling, and why they are the same.
    """

    requirements: Node | None
    rank: Node | None
    parts: tuple[Expression, ...]
    unsaid: tuple[UnsaidTerm, ...]
    alike: tuple[tuple[Comparison, str], ...] = ()


@dataclass(slots=True)
class _FoundTerms:
    """What is found on the way through a request."""

    rank: list[Node] = field(default_factory=list)
    unsaid: list[Comparison] = field(default_factory=list)
    # Whether one of several branches demands nothing of a slot, so that the others cannot, either.
    is_open: bool = False


def demands(request: Expression) -> Demands:
    """What a request demands of a slot, and wishes.

    Amounts are capacities: ``Processors EQ 8`` is satisfied by a slot with more, and an upper
    limit says what the job is given, not what the slot is. In the context Configured the whole
    machine is compared as it is. What is no matter of slots (User, Duration) demands nothing.
    Raises ``InvalidValue`` and ``LimitExceeded`` for values that cannot be read.
    """
    found = _FoundTerms()
    whole = _term(request, found)
    rank = _joined("+", found.rank)
    return Demands(whole, rank, tuple(dict.fromkeys(map(str, found.unsaid))))


# decision 1038
def of_machines(
    parts: Iterable[Expression],
    chosen: Callable[[Expression], Sequence[Expression]],
    is_said: Callable[[Property], bool],
    is_amount: Callable[[Property], bool] | None = None,
    *, is_whole: Callable[[Expression], bool],
) -> Iterator[Expression]:  # fmt: skip
    """What the parts of a request demand of machines, and like of them, one after the other.

    A part about what ``is_said`` of machines alone stands as a whole, where it ``is_whole``, so
    that it can be asked of each machine. Amounts that the job itself
    asks for are those of one alternative: of a part that is about these, or anything else, too, the
    terms that are ``chosen`` of it, and of those the ones that are said, or of an ``is_amount``.
    """
    for part in parts:
        for term in (part,) if _are_all(part, is_said) and is_whole(part) else chosen(part):
            if _are_all(term, is_said) or (is_amount is not None and _are_all(term, is_amount)):
                yield term


def _are_all(part: Expression, is_so: Callable[[Property], bool]) -> bool:
    return all(is_so(each.item) for each in requests.comparisons(part))


# decision 1035
def demands_of_each(
    parts: Iterable[Expression],
    chosen: Callable[[Expression], Sequence[Expression]],
    write: Callable[[Node], object] | None = None,
    unwanted: Iterable[AskedNames] = (),
) -> SaidParts:
    """What the parts of a request demand of a slot, and wish, each by itself.

    Of a part that cannot be said as a whole, the terms that are ``chosen`` of it, and of a wish
    each of its members. ``write`` raises ``BadAd`` or ``InvalidValue`` for what has no place. What
    cannot be said must not be there, or is ``unwanted``, is not liked.
    """
    demanded: list[Node | None] = []
    rank: list[Node] = []
    said: list[Expression] = []
    unsaid: list[UnsaidTerm] = []
    every, unwanted, more = [*parts], [*unwanted], list[AskedNames]()
    spelled, alike = dict[str, _SpelledName](), list[tuple[Comparison, str]]()
    is_unlike, is_unwanted = _are_unlike(every), excluded_by(unwanted)
    pending = every[::-1]
    while pending:
        part = pending.pop()
        if unwanted and (lost := _unwanted_of(part, is_unwanted)):
            unsaid += (UnsaidTerm(each, _Unwanted(each.item.text, "wanted")) for each in lost)
            gone = set(map(id, lost))
            kept = tuple(each for each in _liked(part) if id(each) not in gone)
            pending += [Wish(kept)] if kept else []
            continue
        found = _FoundTerms()
        try:
            whole = _term(part, found)
            if write is not None:
                for node in filter(None, (whole, *found.rank)):
                    write(node)
            why: SSSJobError | None = None
            if found.unsaid:
                why = _Beyond(str(found.unsaid[0]), "what HTCondor can be asked for")
            elif found.is_open:
                why = _Beyond(str(part), "a choice between machines alone")
            elif is_unlike and (both := _other_spelling(part, spelled)) is not None:
                other, text = both
                if _says_names(part) and part.op == other.op:
                    alike.append((part, no_case(other.text, text)))
                else:
                    why = SameName(no_case(other.text, text), "another name")
        except (BadAd, InvalidValue, LimitExceeded) as error:
            why = error
        if why is None:
            said.append(part)
            demanded.append(whole)
            rank += found.rank
            if is_unlike:
                for name in _spelled(part):
                    spelled.setdefault(name.key, name)
            continue
        inner = _parts_of(part, chosen)
        if inner:
            pending += reversed(inner)
        else:
            unsaid += (UnsaidTerm(each, why) for each in requests.comparisons(part))
            if is_term(part) and (asked := asked_names(part)).is_excluding:
                more.append(asked)
    is_unsaid = excluded_by(more)
    if more and any(_unwanted_of(part, is_unsaid) for part in said):
        return demands_of_each(every, chosen, write, (*unwanted, *more))
    return SaidParts(
        _joined("&&", dict.fromkeys(demanded)), _joined("+", rank), tuple(said), tuple(unsaid),
        tuple(alike),
    )  # fmt: skip


class _SpelledName(NamedTuple):
    """A name as a request spells it: of an attribute, or what it is compared with.

    With what it is a name of, and how it is compared by itself where it has to be there, or not
    (EQ, NE); "" for all else.
    """

    key: str
    text: str
    op: str
    of: str

    def is_unlike(self, other: _SpelledName) -> bool:
        """Whether another of the same key is spelled otherwise, or of something else denied."""
        return self.text != other.text or (self.of != other.of and self.op != other.op)


def _spelled(part: Expression) -> Iterator[_SpelledName]:
    """The names in a request that HTCondor knows in several spellings.

    They are those of attributes, which Features and Resources are, and texts of machines.
    """
    op = part.op if _says_names(part) else ""
    for each in requests.comparisons(part):
        item = each.item
        if item.name == "Feature":
            for text in _members(item):
                yield _SpelledName(f"{names.HAS}{text}".lower(), text, op, item.name)
        elif item.name == "Resource" and not is_license(item.attributes):
            text = names.machine_resource(item.said("name"))
            yield _SpelledName(text.lower(), text, "", item.name)
        elif item.name in names.SIDES and each.op in ("EQ", "NE"):
            for text in _members(item):
                known = f"{names.SIDES[item.name]} {_as_spelled(item.name, text)}"
                yield _SpelledName(known.lower(), text, op, item.name)


def _are_unlike(parts: Iterable[Expression]) -> bool:
    """Whether names may be spelled in several ways: few requests have two that can be the same."""
    sides = dict[str, tuple[str, str]]()
    for item in (each.item for part in parts for each in requests.comparisons(part)):
        if item.name == "Resource":
            return True
        side = names.SIDES.get(item.name)
        is_list = side is not None and "aggregation" in item.attributes
        if (is_list or item.name == "Feature") and item.text != item.text.lower():
            return True
        said = item.name, item.text
        if side is not None and sides.setdefault(side, said) != said:
            return True
    return False


# decisions 1037, 1049
def _other_spelling(
    part: Expression, spelled: Mapping[str, _SpelledName]
) -> tuple[_SpelledName, str] | None:
    """A name among those that are there, or in the part itself, and its other spelling there."""
    own = dict[str, _SpelledName]()
    for name in _spelled(part):
        known = spelled.get(name.key) or own.setdefault(name.key, name)
        if known.is_unlike(name):
            return known, name.text
    return None


def _says_names(part: Expression) -> TypeGuard[Comparison]:
    """Whether names have to be there, or not to be there, which another spelling says alike."""
    return (
        isinstance(part, Comparison)
        and part.op in ("EQ", "NE")
        and (part.item.name == "Feature" or part.item.name in names.SIDES)
    )


def _liked(part: Expression) -> tuple[Comparison, ...]:
    return part.members if isinstance(part, Wish) and not part.avoid else ()


def _unwanted_of(part: Expression, is_excluded: Callable[[str], bool]) -> list[Comparison]:
    return [
        each for each in _liked(part)
        if each.item.name == "Feature" and is_excluded(stripped(each.item.text))
    ]  # fmt: skip


def _parts_of(
    part: Expression, chosen: Callable[[Expression], Sequence[Expression]]
) -> list[Expression]:
    """What of a part can be said by itself; nothing of what is one comparison."""
    if isinstance(part, Wish):
        members = part.members
        return [Wish((each,), part.avoid) for each in members] if len(members) > 1 else []
    return [term for term in chosen(part) if term is not part and term != part]


ONE_NAME = "a machine has one name: several cannot be asked for"
NODE_FIRST = "what HTCondor calls Machine is the Node, which is asked for"


# decision 902
# decision 1034
def of_one_machine(
    parts: Sequence[Expression],
) -> tuple[list[Expression], list[tuple[Property, str]]]:
    """What one machine can be asked for: all, or without the names where it would have several.

    With the names that are left out, and why. What HTCondor calls Machine is a node of the
    standard, whose Machine is the system: beside a Node it is not asked for.
    """
    left_out: list[tuple[Comparison, str]] = []
    named = [each for each in parts if _names_machine(each)]
    if len({each.item.text for each in named}) > 1:
        left_out += ((each, ONE_NAME) for each in named)
    systems = [each for each in parts if _names_system(each)]
    texts = {stripped(each.item.text) for each in systems}
    if len(texts) > 1:
        left_out += ((each, ONE_NAME) for each in systems)
    elif any(map(_names_node, parts)) and {stripped(each.item.text) for each in named} != texts:
        left_out += ((each, NODE_FIRST) for each in systems)
    gone = {id(each) for each, _ in left_out}  # what is equal to one of them is one of them
    return [each for each in parts if id(each) not in gone], [
        (each.item, why) for each, why in left_out
    ]


# decision 1118
def any_of_several(
    parts: Iterable[Expression], scope: Scope, *, is_parallel: bool
) -> Iterator[Comparison]:
    """Names of which each machine is to be any, where more nodes are wanted than one.

    Of a set one node is wanted where a layout has one. Brackets around what And joins say nothing.
    """
    named = [each for part in parts for each in requests.conjuncts(part) if _names_machine(each)]
    if is_parallel:
        yield from named
        return
    for each in named:
        is_set = each.item.said("aggregation") in (nodes.LIST, nodes.RANGE)
        if is_set and nodes.count_of_set(each.item) != 1 and scope.nodes_of_layout != 1:
            yield each


def _names_machine(part: Expression) -> TypeGuard[Comparison]:
    return isinstance(part, Comparison) and part.op == "EQ" and part.item.name == "Node"


def _names_node(part: Expression) -> bool:
    return isinstance(part, Comparison) and part.op in ("EQ", "Match") and part.item.name == "Node"


def _names_system(part: Expression) -> TypeGuard[Comparison]:
    return isinstance(part, Comparison) and part.op == "EQ" and part.item.name == "Machine"


def _term(request: Expression, found: _FoundTerms) -> Node | None:
    match request:
        case Comparison():
            return _comparison(request, found)
        case And(operands):
            # What is said in Requested and outside of it, or by several task groups, is there once.
            return _joined("&&", dict.fromkeys(_term(each, found) for each in operands))
        case Or(operands):
            parts = [_term(each, found) for each in operands]
            return _any_of(parts, found)
        case Not(operand):
            return _negated(operand, found)
        case OneOf(members):
            parts = [_term(member, found) for member in members]
            found.rank += _ranks(members, parts)
            whole = _any_of(parts, found)
            return None if whole is None else tree.Grouped(_certain(whole))
        case Wish(members, avoid):
            parts = [_term(member, found) for member in members]
            found.rank += _ranks(members, parts, avoid)
            return None
    raise AssertionError(request)


def _any_of(parts: Sequence[Node | None], found: _FoundTerms) -> Node | None:
    """One or the other; nothing where one of them demands nothing of a slot."""
    if None in parts:
        found.is_open = True
        return None
    return _joined("||", parts)


def _negated(operand: Expression, found: _FoundTerms) -> Node | None:
    """Not of an expression: at the comparisons where an amount has no literal meaning."""
    match operand:
        case Comparison():
            inverse = requests.tree.inverse(operand)
            if isinstance(inverse, Comparison):
                return _comparison(inverse, found)
            inner = _comparison(operand, found)
            return None if inner is None else tree.Unary("!", tree.Grouped(inner))
        case Not(inner_):
            return _term(inner_, found)
        case And(operands) | Or(operands) if _amounts(operand):
            other = Or if isinstance(operand, And) else And
            return _term(other(tuple(negation(each) for each in operands)), found)
    whole = _term(operand, found)
    return None if whole is None else tree.Unary("!", _grouped(whole))


def _amounts(request: Expression) -> bool:
    numbers = (*names.AMOUNTS, *_OF_NO_MACHINE, "Resource")
    return any(each.item.name in numbers for each in requests.comparisons(request))


def _comparison(asked: Comparison, found: _FoundTerms) -> Node | None:
    item = asked.item
    if item.name in names.AMOUNTS:
        return _amount(asked, found)
    if item.name == "Resource":
        return _resource(asked, found)
    if item.name == "Feature":
        return _feature(asked)
    if item.name in names.SIDES:
        return _text(asked)
    if item.name not in _OF_NO_MACHINE:
        found.unsaid.append(asked)
    return None


def _amount(asked: Comparison, found: _FoundTerms) -> Node | None:
    item = asked.item
    size = requests.amount(item)
    if item.said("context") == "Configured":
        name, unit = names.CONFIGURED[item.name]
        return _of_number(asked, found, _sign(asked), name, units.approximate(size / unit))
    _, name, unit = names.AMOUNTS[item.name]
    sign = _AT_LEAST.get(asked.op)
    whole = math.floor if sign == ">" else math.ceil  # machines tell whole numbers
    return None if sign is None else _of_number(asked, found, sign, name, whole(size / unit))


def _resource(asked: Comparison, found: _FoundTerms) -> Node | None:
    if is_license(asked.item.attributes):  # which are counted by the negotiator
        return None
    sign = _AT_LEAST.get(asked.op)
    name = names.machine_resource(asked.item.said("name"))
    if sign is None or not name:
        return None
    return _of_number(asked, found, sign, name, units.approximate(requests.amount(asked.item)))


def _of_number(
    asked: Comparison, found: _FoundTerms, sign: str, name: str, number: float
) -> Node | None:
    """What a machine has of something, compared with a number, if that fits 64 bits."""
    if isinstance(number, int) and abs(number) > LARGEST:
        found.unsaid.append(asked)
        return None
    return tree.Binary(sign, _target(name), tree.Literal(number))


def _feature(asked: Comparison) -> Node | None:
    """Features are attributes that are there or not; a list asks for every one, NE for none.

    Names that differ by case alone are one attribute, as the first is spelled.
    """
    item = asked.item
    members = nodes.expand(item)
    if isinstance(members, nodes.Pattern) or asked.op not in ("EQ", "NE"):
        raise Unsayable(item.text, NO_NAME)
    # A slot that does not have the attribute does not have the feature.
    each: list[Node] = [
        tree.Binary("is", _target(f"{names.HAS}{name}"), tree.Literal(True))
        for name in _spelled_once(members)
    ]
    if asked.op == "NE":
        each = [tree.Unary("!", tree.Grouped(part)) for part in each]
    return _joined("&&", each)


def _spelled_once(texts: Iterable[str]) -> Iterable[str]:
    found = dict[str, str]()
    for text in texts:
        found.setdefault(text.lower(), text)
    return found.values()


def _text(asked: Comparison) -> Node:
    item = asked.item
    left = _target(names.SIDES[item.name])
    aggregation = item.said("aggregation")
    if asked.op == "Match" or aggregation == "Pattern":
        # Our patterns are the whole name, those of HTCondor any part of it.
        whole = tree.Literal(f"^(?:{item.text.strip()})$")
        matched = tree.Call("regexp", (whole, left))
        return tree.Unary("!", matched) if asked.op == "NE" else matched
    if aggregation:
        members = tuple(tree.Literal(name) for name in _members(item))
        found = tree.Call("member", (left, tree.Listing(members)))
        return tree.Unary("!", found) if asked.op == "NE" else found
    return tree.Binary(_sign(asked), left, tree.Literal(_as_spelled(item.name, item.text)))


def _as_spelled(name: str, text: str) -> str:
    """What a machine is, as HTCondor spells it."""
    if name == "Architecture":
        return names.architecture(text)
    return names.system(text) if name == "OperatingSystem" else text.strip()


def _sign(asked: Comparison) -> str:
    """How an op is spelled. Raises ``InvalidValue`` for one that compares no such values."""
    if asked.op not in SIGNS:
        raise Unsayable(asked.op, f"one of {', '.join(SIGNS)} as op of {asked.item.name}")
    return SIGNS[asked.op]


def _members(item: Property) -> Iterable[str]:
    found = nodes.expand(item)
    return () if isinstance(found, nodes.Pattern) else found


def _ranks(
    members: Iterable[Comparison], parts: Iterable[Node | None], avoid: bool = False
) -> Iterator[Node]:
    for member, part in zip(members, parts, strict=True):
        if part is not None:
            condition = tree.Unary("!", tree.Grouped(part)) if avoid else part
            weight = abs(requests.weight(member.item))
            yield tree.Binary("*", tree.Literal(weight), tree.Grouped(condition))


def _target(name: str) -> Node:
    """An attribute of the slot."""
    return tree.AttributeReference(TARGET, name)


def _joined(op: str, parts: Iterable[Node | None]) -> Node | None:
    """The parts that say anything, as a chain from the left."""
    whole: Node | None = None
    for part in parts:
        if part is None:
            continue
        chain = isinstance(part, tree.Binary) and part.op in ("||", "&&")
        # Only at its beginning may a chain hold another one of the same operator without brackets.
        bare = isinstance(part, tree.Binary) and part.op == op and whole is None
        side = _grouped(part) if chain and not bare else part
        whole = side if whole is None else tree.Binary(op, whole, side)
    return whole


def appended(whole: Node | None, op: str, more: Node) -> Node:
    """Another expression behind ``&&`` or ``+``, in brackets where it would be read otherwise."""
    if whole is None:
        return more
    parts = _conjuncts(more) if op == "&&" else (tree.Grouped(more),)
    plain = (tree.Binary, tree.Call, tree.AttributeReference, tree.Literal, tree.Grouped)
    for part in parts:
        side = part if isinstance(part, plain) else tree.Grouped(part)
        whole = _joined(op, (whole, side)) or whole
    return whole


def _certain(node: Node | None) -> Node:
    assert node is not None
    return node.inner if isinstance(node, tree.Grouped) else node


def _grouped(node: Node) -> Node:
    return (
        node
        if isinstance(node, (tree.Grouped, tree.Call, tree.AttributeReference))
        else tree.Grouped(node)
    )


# And back.


@dataclass(frozen=True, slots=True)
class ReadRequirements:
    """The request that Requirements are, and the terms that no request can say."""

    request: Expression | None
    rest: Node | None = None

    @property
    def complete(self) -> bool:
        """Whether the request says all of them."""
        return self.rest is None


def request(
    requirements: Node, resources: Mapping[str, int] = MappingProxyType({}), *, machines: int = 1
) -> ReadRequirements:
    """The request in Requirements: terms of TARGET.Attr op literal, joined by && and ||.

    Terms that only repeat what the job requests (``TARGET.Memory >= RequestMemory``, or how many
    it requests of ``resources``, by their names in small letters) say nothing new. Of a conjunction
    what can be said is said; a disjunction is said as a whole or not. One machine that
    is a member of a list is one of these nodes; of more ``machines``, their number says it,
    and of more than there are names no request says it.
    """
    terms = [term for term in _conjuncts(requirements) if not _repeats(term, resources)]
    asked = [_request(term, machines) for term in terms]
    found = _of_one_name([part for part in asked if part is not None], machines)
    if found is None:  # no machine is in all of the lists
        asked = [None if part and _names_machine(part) else part for part in asked]
        found = [part for part in asked if part is not None]
    parts = found
    rest = [term for term, part in zip(terms, asked, strict=True) if part is None]
    return ReadRequirements(requests.all_of(parts) if parts else None, _joined("&&", rest))


def wishes(rank: Node) -> list[Wish]:
    """What a rank likes: a sum of comparisons, each a whole number of times, 1 if none is said.

    Raises ``InvalidValue`` for any other rank, and one about anything else than what machines are.
    """
    found: list[Wish] = []
    pending = [rank]
    while pending:
        match pending.pop():
            case tree.Binary("+", left, right):
                pending += (right, left)
            case tree.Grouped(tree.Binary("+") as inner):
                pending.append(inner)
            case tree.Binary("*", tree.Literal(int() as times), condition):
                found.append(_wish(condition, times))
            case tree.Binary("*", condition, tree.Literal(int() as times)):
                found.append(_wish(condition, times))
            case condition:
                found.append(_wish(condition, 1))
    return found


def _wish(condition: Node, times: int) -> Wish:
    asked = _request(condition, _ANY)
    if not isinstance(asked, Comparison) or isinstance(times, bool) or times < 1:
        raise InvalidValue("a rank", "a sum of comparisons, each a whole number of times")
    item = asked.item
    if item.name not in OF_MACHINES:
        raise InvalidValue(item.name, "a property of machines, for a rank to prefer")
    weighted = Property(item.name, item.text, {**item.attributes, "preference": str(-times)})
    return Wish((Comparison(weighted),))


def _conjuncts(node: Node) -> Iterator[Node]:
    pending = [node]
    while pending:
        match pending.pop():
            case tree.Binary("&&", left, right):
                pending += (right, left)
            case tree.Grouped(inner) if isinstance(inner, (tree.Grouped, tree.Binary)):
                pending.append(inner)
            case tree.Literal(True):
                pass
            case other:
                yield other


def _repeats(node: Node, resources: Mapping[str, int]) -> bool:
    match node:
        case tree.Binary(">=", tree.Call(), tree.AttributeReference(_, "RequestGPUs")):
            return writing.expression(node) == CLAUSE  # which RequireGPUs says
        case tree.Binary(">=", tree.AttributeReference(_, name), tree.Literal(int() as count)):
            return resources.get(name.lower()) == count
        case tree.Binary(">=", tree.AttributeReference(_, left), tree.AttributeReference(_, right)):
            return right.lower() == f"request{left.lower()}"
    return False


def _request(node: Node, machines: int) -> Expression | None:
    match node:
        case tree.Grouped(inner):
            return _request(inner, machines)
        case tree.Binary("||" | "&&" as op, left, right):
            parts = [_request(left, machines), _request(right, machines)]
            if None in parts:
                return None
            both = [part for part in parts if part is not None]
            if op == "||":
                return Or(tuple(both))
            one = _of_one_name(both, machines)
            return None if one is None else requests.all_of(one)
        case tree.Unary("!", operand):
            inner_ = _request(operand, _ANY)
            if isinstance(inner_, Comparison):
                return requests.tree.inverse(inner_)
            return None if inner_ is None else Not(inner_)
        case tree.Binary(op, tree.AttributeReference(), tree.Literal()) if op in _OPS or op == "is":
            return _compared(node.left, op, node.right)
        case tree.Binary(op, tree.Literal(), tree.AttributeReference()) if op in _MIRRORED:
            return _compared(node.right, _MIRRORED[op], node.left)
        case tree.Call(
            name, (tree.Literal(str() as pattern), tree.AttributeReference() as left)
        ) if name.lower() == "regexp":
            element = _element(left)
            if element is not None and element in names.SIDES:
                return Comparison(Property(element, _unanchored(pattern), {"op": "Match"}))
        case tree.Call(name, (tree.AttributeReference() as left, tree.Listing(members))) if (
            name.lower() == "member"
        ):
            return _listed(left, members, machines)
        case tree.AttributeReference():
            return _has(node)
    return None


_ANY = 0  # machines, where no number of them is wanted
_OPS = {sign: op for op, sign in SIGNS.items()}
_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
# The first element of each attribute is the one that is written back.
_ELEMENTS = {name.lower(): element for element, name in reversed(names.SIDES.items())}
_SIZES = {row[1].lower(): (element, row[2]) for element, row in names.AMOUNTS.items()}


def _element(node: Node) -> str | None:
    match node:
        case tree.AttributeReference(
            None | tree.AttributeReference(None, "TARGET" | "Target" | "target"), name
        ):
            return _ELEMENTS.get(name.lower())
    return None


def _compared(left: Node, op: str, right: Node) -> Expression | None:
    if not isinstance(left, tree.AttributeReference) or not isinstance(right, tree.Literal):
        return None
    if left.base is not None and left.base != TARGET:
        return None
    value = right.value
    attributes = {} if op in ("==", "is") else {"op": _OPS[op]}
    element = _element(left)
    if isinstance(value, bool):
        return _has(left) if value and op in ("==", "is") else None
    if element is not None and isinstance(value, str) and op in _OPS:
        spell = {"Architecture": names.plain_architecture, "OperatingSystem": names.plain_system}
        return Comparison(Property(element, spell.get(element, str)(value), attributes))
    if left.name.lower() in _SIZES and isinstance(value, int) and value >= 0 and op in _OPS:
        element, unit = _SIZES[left.name.lower()]
        if unit > 1:
            attributes = {"units": "MB" if unit == 1 << 20 else "KB", **attributes}
        return Comparison(Property(element, value, attributes))
    return None


# decisions 932, 938
def _listed(left: Node, members: tuple[Node, ...], machines: int) -> Expression | None:
    element = _element(left)
    texts = [each.value for each in members if isinstance(each, tree.Literal)]
    words = [text for text in texts if isinstance(text, str) and "," not in text]
    if element not in ("Node",) or len(words) != len(members) or not words:
        return None
    if len({*words}) < machines:  # two of them may be slots of one node
        return None
    return _one_of(words, machines)


def _one_of(words: list[str], machines: int) -> Comparison:
    """Each of so many machines has one of these names."""
    count = {"count": "1"} if machines == 1 and len({*words}) > 1 else {}
    return Comparison(Property("Node", ",".join(words), {"aggregation": nodes.LIST, **count}))


# decision 966
def _of_one_name(parts: list[Expression], machines: int) -> list[Expression] | None:
    """What holds together of a machine: of several lists of names it has one that is in all.

    It is that of the first list. None where there is none, or fewer are left than ``machines``.
    """
    flat = [term for part in parts for term in requests.conjuncts(part)]
    named = [part for part in flat if _names_machine(part)]
    if len(named) < 2:
        return parts
    lists = [_texts(part.item) for part in named]
    every = [{text.lower() for text in texts} for texts in lists]  # as ClassAds compare
    common = [text for text in lists[0] if all(text.lower() in texts for texts in every)]
    if not common or len({text.lower() for text in common}) < machines:
        return None
    if len(common) == 1:
        one: Expression = Comparison(Property("Node", common[0]))
    else:
        one = _one_of(common, machines)
    first = flat.index(named[0])
    others = [part for part in flat if not _names_machine(part)]
    before = sum(not _names_machine(part) for part in flat[:first])
    return [*others[:before], one, *others[before:]]


def _texts(item: Property) -> list[str]:
    return item.text.split(",") if "aggregation" in item.attributes else [item.text]


def _has(node: Node) -> Expression | None:
    match node:
        case tree.AttributeReference(None | tree.AttributeReference(None, "TARGET"), name) if (
            _is_feature(name)
        ):
            return Comparison(Property("Feature", name[len(names.HAS) :]))
    return None


def _is_feature(name: str) -> bool:
    """A capability that a site names; transferring files is what every starter does."""
    own = ("HasFileTransfer", "HasIOProxy", "HasReconnect", "HasTDP", "HasJICLocalConfig")
    return name.startswith(names.HAS) and len(name) > len(names.HAS) and name not in own


def _unanchored(pattern: str) -> str:
    """A pattern of HTCondor, which is found anywhere, as one of the whole name."""
    if pattern.startswith("^(?:") and pattern.endswith(")$"):
        return pattern[4:-2]
    before = "" if pattern.startswith("^") else ".*"
    after = "" if pattern.endswith("$") and not pattern.endswith("\\$") else ".*"
    return f"{before}{pattern.removeprefix('^')[: None if after else -1]}{after}"
