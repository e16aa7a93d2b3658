"""The kinds of node an expression has, and what can be asked of any of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, TypeGuard

from sssjob import nodes, resource_names, units
from sssjob.model import Property, replace_text

# Each operation with the one that holds exactly where it does not; Match has none.
INVERSES = {"EQ": "NE", "NE": "EQ", "LT": "GE", "GE": "LT", "GT": "LE", "LE": "GT"}
OPERATIONS = (*INVERSES, "Match")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One property compared by its ``op``."""

    item: Property

    @property
    def op(self) -> str:
        """The operation; EQ if the attribute is absent."""
        return self.item.said("op", "EQ")

    def __str__(self) -> str:
        attributes = self.item.attributes
        pattern = self.op == "EQ" and self.item.said("aggregation") == "Pattern"
        unit = f" {attributes['units'].strip()}" if "units" in attributes else ""
        return f"{key(self.item)} {'Match' if pattern else self.op} {self.item.text.strip()}{unit}"


@dataclass(frozen=True, slots=True)
class Not:
    """True where the operand is false."""

    operand: Expression

    def __str__(self) -> str:
        return f"Not {self.operand}"


@dataclass(frozen=True, slots=True)
class And:
    """True where every operand is; without operands it asks for nothing.

    A ``loose`` one had no brackets of its own: preferences in it count with those around it.
    """

    operands: tuple[Expression, ...] = ()
    loose: bool = False

    def __str__(self) -> str:
        # One that asks for nothing only keeps the preferences beside it apart.
        said = [each for each in self.operands if not (isinstance(each, And) and not each.operands)]
        return f"({' And '.join(map(str, said))})"


@dataclass(frozen=True, slots=True)
class Or:
    """True where an operand is.

    A ``loose`` one had no brackets of its own: preferences in it count with those around it.
    """

    operands: tuple[Expression, ...] = ()
    loose: bool = False

    def __str__(self) -> str:
        return f"({' Or '.join(map(str, self.operands))})"


@dataclass(frozen=True, slots=True)
class OneOf:
    """Alternatives of positive preference: "at least one of the preferences must be satisfied"."""

    members: tuple[Comparison, ...]

    def __str__(self) -> str:
        return f"OneOf({_weighted(self.members)})"


@dataclass(frozen=True, slots=True)
class Wish:
    """Negative preferences: tried, but "the job will still run", so it is always true.

    ``avoid`` wishes that the members do not hold, as a Nand before them says.
    """

    members: tuple[Comparison, ...]
    avoid: bool = False

    def __str__(self) -> str:
        return f"{'Avoid' if self.avoid else 'Wish'}({_weighted(self.members)})"


Expression: TypeAlias = Comparison | Not | And | Or | OneOf | Wish
Term: TypeAlias = Comparison | Not


def comparison_of(term: Term) -> Comparison:
    """What a term compares, negated or not."""
    inner = term.operand if isinstance(term, Not) else term
    assert isinstance(inner, Comparison)
    return inner


def is_term(expression: Expression) -> TypeGuard[Term]:
    """Whether a part compares one property by itself, negated or not: all else is made of parts."""
    inner = expression.operand if isinstance(expression, Not) else expression
    return isinstance(inner, Comparison)


def key(item: Property) -> str:
    """What a property is compared as: its name, and for a Resource which one."""
    if item.name != "Resource":
        return item.name
    told = resource_names.key(item.attributes)
    return f"Resource[{' '.join(f'{name}={value!r}' for name, value in told)}]"


def is_wish(item: Property) -> bool:
    """Whether a requested property is only preferred, so that it never blocks (8.1)."""
    return item.said("preference").startswith("-")


# decision 1022
def compared(requested: Iterable[Property]) -> frozenset[str]:
    """The keys of all that a request demands, in whatever alternative; of these it alone speaks."""
    return frozenset(key(item) for item in requested if not is_wish(item))


def asks(item: Property) -> bool:
    """Whether a property outside of Requested asks for something: no measure, and nothing used."""
    if not item.attributes:
        return True
    return item.said("context") != "Used" and item.said("metric") in ("", "Total")


def all_of(operands: Iterable[Expression]) -> Expression:
    """The operands joined by And; a single one stays what it is."""
    parts = tuple(operands)
    return parts[0] if len(parts) == 1 else And(parts)


def is_about(expression: Expression, names: Container[str]) -> bool:
    """Whether an expression compares properties of these names only."""
    return all(each.item.name in names for each in comparisons(expression))


def conjuncts(expression: Expression) -> tuple[Expression, ...]:
    """The operands of an And at the root, or the whole."""
    return expression.operands if isinstance(expression, And) else (expression,)


def opened(parts: Iterable[Expression]) -> tuple[Expression, ...]:
    """Parts that And joins, without brackets that say nothing: they keep no preferences apart."""
    found: list[Expression] = []
    for part in parts:
        is_said = not isinstance(part, And) or not part.operands or bool(sums(part.operands))
        found += (part,) if is_said else opened(conjuncts(part))
    return tuple(found)


def comparisons(expression: Expression) -> Iterator[Comparison]:
    """Every comparison, in document order."""
    pending: list[Expression] = [expression]
    while pending:
        match pending.pop():
            case Comparison() as found:
                yield found
            case Not(operand):
                pending.append(operand)
            case And(operands) | Or(operands):
                pending.extend(reversed(operands))
            case OneOf(members) | Wish(members):
                yield from members


def identities(parts: Iterable[Expression]) -> frozenset[int]:
    """What parts compare, by the identity of properties."""
    return frozenset(id(each.item) for part in parts for each in comparisons(part))


def mentions(expression: Expression) -> frozenset[str]:
    """The keys of all properties that an expression compares."""
    return frozenset(key(found.item) for found in comparisons(expression))


def without(expression: Expression, items: Iterable[Property]) -> Expression | None:
    """What is left without these very properties, or None: neither And nor Or misses them."""
    return _without(expression, frozenset(map(id, items)))


def _without(expression: Expression, left_out: frozenset[int]) -> Expression | None:
    match expression:
        case Comparison(item):
            return None if id(item) in left_out else expression
        case Not(operand):
            inner = _without(operand, left_out)
            return None if inner is None else Not(inner)
        case And(operands) | Or(operands) if operands:
            every = (_without(operand, left_out) for operand in operands)
            parts = tuple(part for part in every if part is not None)
            if not parts:
                return None
            whole = type(expression)(parts, expression.loose)
            return parts[0] if len(parts) == 1 and not is_level(whole) else whole
        case OneOf(members):
            kept = tuple(each for each in members if id(each.item) not in left_out)
            return OneOf(kept) if kept else None
        case Wish(members, avoid):
            kept = tuple(each for each in members if id(each.item) not in left_out)
            return Wish(kept, avoid) if kept else None
    return expression


def amount(item: Property) -> Fraction:
    """A number in base units: bytes, seconds, or a count. Raises ``InvalidValue``."""
    return _amount(item.name, item.text, item.attributes.get("units"))


@lru_cache(1 << 10)  # the same amounts are asked for again and again
def _amount(name: str, text: str, unit: str | None) -> Fraction:
    item = Property(name, text, {} if unit is None else {"units": unit})
    if name in units.DEFAULT_UNITS or unit in units.UNITS:
        return item.bytes
    value = item.value
    if isinstance(value, str):
        return units.number(value)
    return Fraction(value)


def weight(item: Property) -> int:
    """The preference of a property; 0 if it has none. Raises ``InvalidValue``."""
    return units.integer(item.attributes.get("preference", "0"))


def group(members: Sequence[Comparison]) -> str:
    """What a run of preferences counts together with: its sign and what it compares (3.1)."""
    return f"{'+' if weight(members[0].item) > 0 else '-'}{key(members[0].item)}"


def weights(members: Iterable[Comparison]) -> tuple[int, ...]:
    """The weights of a run of preferences, without their sign."""
    return tuple(abs(weight(member.item)) for member in members)


def sums(operands: Iterable[Expression]) -> Counter[str]:
    """The sum of the weights of each group of preferences at one parenthesis level (3.1)."""
    found: Counter[str] = Counter()
    for operand in operands:
        while isinstance(operand, Not):
            operand = operand.operand
        match operand:
            case OneOf(members) | Wish(members):
                found[group(members)] += sum(weights(members))
            case And(inner) | Or(inner) if not is_level(operand):
                found += sums(inner)
    return found


def is_level(expression: And | Or) -> bool:
    """Whether its brackets keep preferences apart, which a single property cannot have."""
    match expression.operands:
        case (OneOf(members) | Wish(members) | Not(OneOf(members) | Wish(members)),):
            return len(members) > 1
        case (_,):
            return False
    return not expression.loose


def follows(before: Property, item: Property) -> bool:
    """Whether a preference goes on: same property, same sign, no conj of its own."""
    return (
        "conj" not in item.attributes
        and weight(before) * weight(item) > 0
        and key(before) == key(item)
    )


def inverse(comparison: Comparison) -> Term:
    """What holds exactly where a comparison does not, without Not if there is such an operation.

    So there is of a List or a Range of one name, which is that name.
    """
    item = comparison.item
    if comparison.op not in INVERSES:
        return Not(comparison)
    if "aggregation" in item.attributes:
        one = nodes.single(item) if comparison.op in ("EQ", "NE") else ""
        if not one:
            return Not(comparison)
        item = replace_text(item, one, item.attributes).having(
            aggregation=None, delimiter=None, count=None
        )
    inverse = INVERSES[comparison.op]
    return Comparison(item.having(op=None if inverse == "EQ" else inverse))


def negation(operand: Expression) -> Expression:
    """Not of a wish would block the job, which a wish must never do: it wishes the contrary."""
    return Wish(operand.members, not operand.avoid) if isinstance(operand, Wish) else Not(operand)


def _weighted(members: Sequence[Comparison]) -> str:
    return ", ".join(f"{member}: {abs(weight(member.item))}" for member in members)
