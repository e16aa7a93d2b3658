"""What is offered to a request: a node, a queue, or what was delivered.

An offer says of each property which values it has; a property it does not mention is not known.
Amounts are kept as exact numbers in base units: bytes, seconds, counts.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, NoReturn, TypeAlias, TypeVar, get_args

from sssjob import nodes, resource_names, spec, units
from sssjob.errors import InvalidValue, LimitExceeded, of_kind, one_of
from sssjob.expression.tree import Comparison, amount, asks, compared, is_wish, key
from sssjob.model import Block, Job, Property, Requested, has_only_group, worked_out
from sssjob.states import has_ended

B = TypeVar("B", bound=Block)

Mode: TypeAlias = Literal["fit", "exact"]
Number: TypeAlias = int | Fraction

# fit: numbers are capacities, of which a request may take a part. exact: numbers are compared.
MODES: tuple[Mode, ...] = get_args(Mode)

# What is taken in amounts; all else is so or not so. Duration is taken, too: of a limit.
COUNTS = frozenset(("Processors", "NodeCount", "TaskCount", "Duration"))
AMOUNTS = COUNTS | {row.name for row in spec.CONSUMABLES} | {"Resource"}
SETS = frozenset(("Feature", "Node"))
ALL_NEEDED = frozenset(("Feature",))  # of which all are needed, wherever they stand
DESCRIPTIONS = SETS | {"Architecture", "NetworkAdapter", "OperatingSystem"}
# How many tasks there are is no matter of one offer, and nothing that Requested can hold.
ASKED = DESCRIPTIONS | AMOUNTS - {"TaskCount"}
# What its Requested alone asks for, where that speaks of it.
SPOKEN_OF = frozenset(spec.properties(spec.REQUESTED)) - ALL_NEEDED
_OF_THE_JOB = SPOKEN_OF - ASKED
OTHERWISE = "its Requested says another"  # of what stands outside, and counts for nothing
# The attributes that Requested lends (8.1).
_LENT = dict.fromkeys(("op", "conj", "group", "preference", "performanceFactor"))

NAMES_LIMIT = 100_000  # nodes or features of one offer
ALL_GPUS = key(Property("Resource", "0", {"name": resource_names.GPU}))  # of any model

# Which of several delivered measurements is meant where a request names none.
_METRICS = ("", "Max", "Total")


_FACTORS = {name: units.UNITS[unit] for name, unit in units.DEFAULT_UNITS.items()}
_LONG = 18
_OF_MODEL = f"{ALL_GPUS[:-1]} "


@dataclass(frozen=True, slots=True)
class Offer:
    """The values of each property by ``key``; no values means that it is known to have none.

    Raises ``InvalidValue`` for an amount that is no number and for a pattern, which no offer
    can be, and ``LimitExceeded`` for too many nodes.
    """

    id: str
    facts: Mapping[str, tuple[Property, ...]]
    mode: Mode = "fit"
    amounts: Mapping[str, Number] = field(init=False, repr=False, compare=False)
    names: Mapping[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if type(self.id) is not str:
            of_kind(self.id, str, "the id of an offer")
        if self.mode not in MODES:
            one_of(self.mode, Mode, "how an offer counts")
        amounts: dict[str, Number] = {}
        names: dict[str, tuple[str, ...]] = {}
        try:
            for name, items in self.facts.items():
                if items and items[0].name in AMOUNTS:
                    _measure(_together(items) if name == ALL_GPUS else items, amounts)
                elif items and items[0].name in SETS:
                    names[name] = tuple(_expanded(items))
                else:
                    names[name] = tuple([item.text.strip() for item in items])
        except (AttributeError, TypeError) as error:
            self._refuse(error)
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))
        object.__setattr__(self, "amounts", MappingProxyType(amounts))
        object.__setattr__(self, "names", MappingProxyType(names))

    def _refuse(self, error: Exception) -> NoReturn:
        """Say what of the facts is of a wrong kind, or that there is another error."""
        of_kind(self.facts, Mapping, "the properties of an offer by their names")
        for name, items in self.facts.items():
            of_kind(name, str, "a name of a property")
            of_kind(items, Sequence, f"several properties {name}")
            for item in items:
                of_kind(item, Property, "a Property")
        raise error

    def __reduce__(self) -> tuple[type[Offer], tuple[str, dict[str, tuple[Property, ...]], Mode]]:
        return Offer, (self.id, dict(self.facts), self.mode)

    @classmethod
    def of(cls, id: str, properties: Iterable[Property], mode: Mode = "fit") -> Offer:
        """An offer of properties, as they stand in a Delivered element for example."""
        of_kind(properties, Iterable, "properties")
        facts: dict[str, tuple[Property, ...]] = {}
        for item in properties:
            if type(item) is not Property:
                of_kind(item, Property, "a Property")
            for each in keys(item):
                facts[each] = (*facts.get(each, ()), item)
        return cls(id, facts, mode)

    def amount(self, slots: Iterable[str]) -> Number | None:
        """The first number that is known, or None."""
        known = self.amounts
        if type(slots) is not tuple:
            of_kind(slots, Iterable, "names of amounts")
        for slot in slots:
            if slot in known:
                return known[slot]
        return None

    def shown(self, item: Property) -> str:
        """What is offered of a requested property, in the units of the offer."""
        of_kind(item, Property, "a Property")
        found = self.facts.get(key(item))
        if found is None:
            return "not known"
        return ", ".join(map(worded, found)) or "none"


def delivered(block: Block) -> Iterator[Property]:
    """What was delivered to a job, and what else it says of itself that can be requested."""
    names = block.delivered.names()
    known = spec.properties(spec.REQUESTED)
    yield from block.delivered
    yield from (item for item in block.properties if item.name in known and item.name not in names)


# decision 1022
def outside(block: Block, job: Block | None = None) -> tuple[Property, ...]:
    """What a job or task group asks for outside of Requested: amounts, and what describes nodes.

    "When no such distinction is necessary, it is recommended that the property not be enveloped
    in one of these elements." (8.0) What Requested speaks of, it alone asks for (``set_aside``),
    but for features, of which all are needed. Amounts of a job that has ended and has a Requested
    are those that it used; ``job`` is the whole one, of which the block is a part.
    """
    found = [item for item in block.properties if item.name in ASKED and asks(item)]
    if not found or not requests(block, job):
        return tuple(map(_bare, found))
    over, spoken = is_over(job or block), compared(block.requested) - ALL_NEEDED
    return tuple(
        _bare(item)
        for item in found
        if key(item) not in spoken and not (over and item.name in AMOUNTS)
    )


# decision 1194
def requests(block: Block, job: Block | None = None) -> bool:
    """Whether a block has a Requested; a job and its only task group are one, and have both."""
    whole = job or block
    is_one = isinstance(whole, Job) and has_only_group(whole)
    blocks = (whole, *whole.asking_groups) if is_one and isinstance(whole, Job) else (block,)
    return any(each.blocks(Requested) for each in blocks)


def asked_outside(block: Block, names: Container[str] = ASKED) -> tuple[Comparison, ...]:
    """The same by some names, as it is compared."""
    return tuple(Comparison(item) for item in outside(block) if item.name in names)


def set_aside(block: Block, job: Block | None = None) -> tuple[Property, ...]:
    """What a block says outside of Requested of which its Requested says another.

    Of a job that has ended it is what became of it, and says nothing else.
    """
    found = tuple(item for item, is_another in passed_over(block) if is_another)
    return () if found and is_over(job or block) else found


def unasked(block: Block) -> tuple[Property, ...]:
    """What a block says outside of Requested, by which an offer may differ, and never is asked.

    That is the queue, the user, or whatever else is of the job itself: nodes do not say it, and
    would not be known to satisfy it. Requested asks for it.
    """
    return tuple(item for item in block.properties if item.name in _OF_THE_JOB)


# decisions 1022, 1024
def passed_over(block: Block) -> list[tuple[Property, bool]]:
    """What a block says outside of Requested and its Requested alone speaks of.

    Each with whether that says another. It says the same only where it asks for just that value.
    """
    requested = block.requested
    spoken = compared(requested)
    found = [
        item
        for item in (block.properties if spoken else ())
        if item.name in SPOKEN_OF and asks(item) and key(item) in spoken
    ]
    said = {_saying(item) for item in requested if _is_equal(item)} if found else frozenset()
    return [(item, _saying(item) not in said) for item in found]


def _saying(item: Property) -> tuple[str, str, str, str]:
    """What a property says of what."""
    context = item.said("context", "Available")
    return key(item), item.text.strip(), item.attributes.get("units", "").strip(), context


def _is_equal(item: Property) -> bool:
    """Whether a request demands the very value of a property."""
    op, conj = map(item.said, ("op", "conj"))
    return op in ("", "EQ") and conj not in ("Nand", "Nor") and not is_wish(item)


def without_set_aside(block: B) -> B:
    """A block without what it says outside of Requested and its Requested speaks of."""
    left_out = {id(item) for item, _ in passed_over(block)}
    if not left_out:
        return block
    return block.holding(item for item in block.items if id(item) not in left_out)


def is_over(job: Block) -> bool:
    """Whether a job has ended, so that its own amounts are those that it used."""
    return worked_out(job, _is_over)


def _is_over(job: Block) -> bool:
    # A job whose State says that it has not ended may have been delivered something all the same.
    return has_ended(job.get) or (bool(job.delivered) and not job.get("State"))


def _bare(item: Property) -> Property:
    """A property without the attributes that have no meaning outside of Requested (2.9)."""
    return item if _LENT.keys().isdisjoint(item.attributes) else item.having(**_LENT)


def worded(item: Property) -> str:
    """The value of a property with its units and the sense in which it is meant."""
    meant = [item.attributes[name] for name in ("context", "metric") if name in item.attributes]
    unit = item.attributes.get("units", "")
    return " ".join(filter(None, (item.text.strip(), unit, f"({', '.join(meant)})" * bool(meant))))


# decision 370
def keys(item: Property) -> tuple[str, ...]:
    """The keys by which an offer has a property: GPUs of a model are among all GPUs, too."""
    found = key(item)
    return (found, ALL_GPUS) if is_of_model(found) else (found,)


def is_of_model(slot: str) -> bool:
    """Whether a key, or an amount by it, is about GPUs of one model."""
    return slot.startswith(_OF_MODEL)


def slots(item: Property) -> tuple[str, ...]:
    """Where the number that a requested amount is compared with is looked up, best first.

    "Available" is what the absence of a context means; an offer without one serves any.
    """
    context = item.said("context", "Available")
    metric = item.said("metric")
    name = _measured(item)
    if context == "Available" and not metric:
        return (name,)
    metrics = (metric, "") if metric else _METRICS
    contexts = (context, "") if context else ("",)
    return tuple(_slot(name, each, kind) for each in contexts for kind in metrics)


def _measured(item: Property) -> str:
    """The key of an amount, told apart by units that cannot be converted into each other."""
    unit = item.attributes.get("units", "").strip()
    if not unit or item.name in units.DEFAULT_UNITS:
        return key(item)
    return f"{key(item)} in {'bytes' if unit in units.UNITS else unit}"


@lru_cache(1 << 10)
def _slot(name: str, context: str, metric: str) -> str:
    return f"{name}|{context}|{metric}"


def _measure(items: tuple[Property, ...], amounts: dict[str, Number]) -> None:
    """Add the numbers of one property; what is said more than once is not known."""
    if len(items) == 1 and not items[0].attributes:
        (item,) = items
        name = key(item)
        if item.text.isdecimal() and item.text.isascii() and len(item.text) < _LONG:
            number: Number = int(item.text) * _FACTORS.get(name, 1)
        else:
            number = units.plain(amount(item))
        amounts[name] = amounts[_slot(name, "", "")] = number
        return
    found: dict[str, list[Number]] = {}
    for item in items:
        context, metric = map(item.said, ("context", "metric"))
        slot = _slot(_measured(item), context, metric)
        found.setdefault(slot, []).append(units.plain(amount(item)))
    amounts.update((slot, numbers[0]) for slot, numbers in found.items() if len(numbers) == 1)
    for name in dict.fromkeys(map(_measured, items)):
        _dedicated(name, amounts)
        wanted = (_slot(name, c, m) for c in ("Available", "", "Used") for m in _METRICS)
        plain = next((slot for slot in wanted if slot in found), None)
        if plain in amounts and plain is not None:
            amounts[name] = amounts[plain]


def _together(items: tuple[Property, ...]) -> tuple[Property, ...]:
    """GPUs of all models added up, for each context and metric.

    What is said more than once of one model stays so, and is not known.
    """
    found: dict[tuple[tuple[str, str], ...], list[Property]] = {}
    for item in items:
        alike = {**item.attributes, "name": resource_names.GPU}
        alike.pop("type", None)
        found.setdefault(tuple(sorted(alike.items())), []).append(item)
    made: list[Property] = []
    for attributes, some in found.items():
        models = len(set(map(key, some)))
        total = sum(units.number(item.text) for item in some)
        made += [Property("Resource", units.decimal(total), dict(attributes))] * (
            1 if models == len(some) else 2
        )
    return tuple(made)


def _dedicated(name: str, amounts: dict[str, Number]) -> None:
    """What is free and nobody else's: everything that there is, if nothing of it is taken."""
    whole, free = (amounts.get(_slot(name, c, "")) for c in ("Configured", "Available"))
    if whole is not None and free is not None:
        amounts.setdefault(_slot(name, "Dedicated", ""), whole if free == whole else 0)


def _expanded(items: tuple[Property, ...]) -> Iterator[str]:
    for item in items:
        found = nodes.expand(item)
        if isinstance(found, nodes.Pattern):
            raise InvalidValue(item.text, f"a {item.name} that is offered: it is a pattern")
        if len(found) > NAMES_LIMIT:
            raise LimitExceeded(f"names in {item.name} of one offer", NAMES_LIMIT)
        yield from found
