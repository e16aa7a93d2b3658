"""The canonical form of a job object: two that say the same are written the same.

Present names, no namespace, properties in the printed order of the tables, numbers as short as
they are exact, sizes with their unit, no attribute that only says what its absence says, and
Requested in the form that every known reader takes the same way. What the standard does not know
is kept as it is, behind what it does; so are the prefixes that only texts mean.

Strategy. To compare job objects, equal meaning has to become equal text, and different meaning
must stay different.

The idea is to write everything anew by the tables: each row says the type of a value, the default
of an attribute, and whether a property may repeat. Items are sorted by the row, then by what tells
repeated ones apart. Requested is read as an expression, its operands are sorted, and it is written
as an expression again.

Why it is right: only what the tables or the rules of expressions call the same is changed. The
sort is stable and compares nothing else, so that items whose order may mean something keep it. A
value that is not of its type, and an expression that cannot be read, stay as they are. The
canonical form of a canonical form is itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import TypeVar

from sssjob import defaults, expression, model, spec, units
from sssjob.document.bridge import prefixes_in_content
from sssjob.document.places import is_adapter
from sssjob.errors import AwarenessPolicy, InvalidValue, LimitExceeded, UnbalancedGroup
from sssjob.expression import And, Expression, Not, OneOf, Or, Wish
from sssjob.expression.tree import sums
from sssjob.model import (
    Block,
    Delivered,
    Item,
    Note,
    Property,
    Reference,
    Requested,
    stripped,
)

Key = tuple[object, ...]

B = TypeVar("B", bound=Block)

# Defaults elements say what the others rest on; categories come before what is inside a job.
_BLOCKS = (
    "JobDefaults", "TaskGroupDefaults", "TaskDefaults", spec.REQUESTED, spec.DELIVERED,
    "JobGroup", "Job", "TaskGroup", "Task",
)  # fmt: skip
# What groups and preferences of nothing say.
_IDLE = {"group": "0", "preference": "0"}


def canon(block: Block, *, effective: bool = False, comments: bool = False) -> Block:
    """The canonical form of a job object; that of a canonical form is itself.

    ``effective`` applies the defaults elements first. ``comments`` keeps comments and processing
    instructions, each before what it stood before. A Requested element that cannot be read keeps
    its order.
    """
    whole = defaults.resolve(block).block if effective else block
    written = _CanonicalWriter(comments).block(whole, AwarenessPolicy.REJECT)
    meant = prefixes_in_content(replace(written, prefixes=whole.prefixes or block.prefixes))
    return replace(written, prefixes=meant) if meant else written


def canonical_expression(read: Expression) -> Expression:
    """An expression with negations at its comparisons, operands in order, and no idle brackets."""
    return _ordered(expression.parse(expression.write(read)))


def order(name: str, container: str) -> Key:
    """Where a property stands in a container: as the tables are printed, then by name."""
    known = _rows(container) if container in spec.CONTAINER else {}
    return (0, known[name], "") if name in known else (1, 0, name)


@dataclass(frozen=True)
class _CanonicalWriter:
    """Writes one job object anew."""

    comments: bool

    def block(self, block: B, inherited: AwarenessPolicy) -> B:
        """A block with everything in it; ``inherited`` is the policy that holds around it."""
        attributes = self.attributes(block.attributes, block.name, "", inherited)
        policy = AwarenessPolicy.at(attributes, inherited)
        items = self.items(block, policy)
        return type(block)(tuple(items), attributes, "", block.line)

    def items(self, block: Block, policy: AwarenessPolicy) -> Iterator[Item]:
        """The items of a block in their canonical order, comments before what they precede."""
        notes = [item for item in block.items if isinstance(item, Note)]
        texts = [stripped(note.text) for note in notes if _is_text(note)]
        if texts:
            yield Note("text", " ".join(texts))
        rows: list[tuple[Key, list[Note], Item]] = []
        notes = []
        for item in self.merged(block, policy):
            if isinstance(item, Note):
                notes += [_plain(item)] if self.comments and not _is_text(item) else []
                continue
            written = self.item(item, block.name, policy)
            rows.append((_place(written, block.name), notes, written))
            notes = []
        if not _keeps_order(block, (written for _, _, written in rows)):
            rows.sort(key=lambda row: row[0])
        for _, before, written in rows:
            yield from before
            yield written
        yield from notes

    def item(self, item: Item, container: str, policy: AwarenessPolicy) -> Item:
        """One item that is no note."""
        if isinstance(item, Block):
            return self.block(item, policy)
        assert isinstance(item, Property)
        return self.property(item, container, policy)

    def merged(self, block: Block, policy: AwarenessPolicy) -> Iterable[Item]:
        """The items, where all that is requested is one expression if it can be read."""
        if isinstance(block, Requested):
            return self.expression((block,), policy) or block.items
        wishes = block.blocks(Requested)
        if len(wishes) < 2:
            return block.items
        alike = all(dict(wish.attributes) == dict(wishes[0].attributes) for wish in wishes)
        together = self.expression(wishes, policy) if alike else None
        if together is None:
            return block.items
        later = {id(wish) for wish in wishes[1:]}
        one = wishes[0].holding(together)
        return [one if item is wishes[0] else item for item in block.items if id(item) not in later]

    def expression(
        self, wishes: Iterable[Requested], policy: AwarenessPolicy
    ) -> tuple[Item, ...] | None:
        """The properties of all these blocks as one expression, or None if they are none."""
        parts: list[Expression] = []
        others: list[Item] = []
        for wish in wishes:
            inside = AwarenessPolicy.at(wish.attributes, policy)
            asked = [self.property(item, wish.name, inside) for item in wish.properties]
            others += [item for item in wish.items if type(item) is not Property]
            try:
                parts.append(expression.parse(asked))
            except (UnbalancedGroup, InvalidValue, LimitExceeded):
                return None
        if not expression.are_one(parts):
            return None
        written = expression.write(canonical_expression(expression.all_requested(parts)))
        return (*others, *written)

    def property(self, item: Property, container: str, policy: AwarenessPolicy) -> Property:
        """One property; what the tables do not have here keeps its text."""
        row = spec.properties(container).get(item.name)
        category = container if container in (spec.REQUESTED, spec.DELIVERED) else ""
        kind = type(item)
        if row is None or kind is Reference:
            attributes = self.attributes(item.attributes, "", "", policy)
            text, inside = (stripped(item.text), ()) if kind is Reference else self.content(item)
            return kind(item.name, text, attributes, inside, "", item.line)
        attributes = self.attributes(item.attributes, item.name, category, policy)
        text, inside = self.content(item)
        text = _text(row, text)
        if item.name in units.DEFAULT_UNITS:
            text, attributes = _sized(item.name, text, attributes)
        if item.name == "ResourceLimit" and "name" in attributes:
            attributes["name"] = spec.limit_name(attributes["name"])
        if item.name == "Network" and "context" in item.attributes and is_adapter(text, attributes):
            # Nothing else tells that it is an amount, and no older name of NetworkAdapter.
            attributes["context"] = stripped(item.attributes["context"])
        in_order = _in_order(attributes, spec.attributes(item.name, category))
        if item.name == "Environment":
            inside = self.environment(inside, AwarenessPolicy.at(item.attributes, policy))
        return Property(item.name, text, in_order, inside, "", item.line)

    def environment(
        self, inside: Iterable[Property | Note], policy: AwarenessPolicy
    ) -> tuple[Property | Note, ...]:
        """Variables by their names, and behind them what else an Environment holds."""
        kept = [
            self.property(child, "Environment", policy) if isinstance(child, Property) else child
            for child in inside
        ]
        return tuple(sorted(kept, key=_variable))

    def content(self, item: Property) -> tuple[str, tuple[Property | Note, ...]]:
        """The text of an element and what it holds that the tables leave empty.

        Where a comment goes, the texts around it become one.
        """
        text = item.text
        kept: list[Property | Note] = []
        for child in item.children:
            if isinstance(child, Property):
                own, inside = self.content(child)
                attributes = self.attributes(child.attributes, "", "", None)
                kept.append(Property(child.name, own, attributes, inside, "", child.line))
            elif not _is_text(child):
                kept += [_plain(child)] if self.comments else []
            elif not kept:
                text += child.text
            elif isinstance(last := kept[-1], Note) and _is_text(last):
                kept[-1] = Note(last.kind, last.text + child.text)
            else:
                kept.append(child)
        return text, tuple(kept)

    def attributes(
        self,
        found: Mapping[str, str],
        element: str,
        category: str,
        inherited: AwarenessPolicy | None,
    ) -> dict[str, str]:
        """Attributes in printed order, without those that say what their absence says."""
        rows = spec.attributes(element, category)
        written = {
            name: _attribute(rows[name], value) if name in rows else value
            for name, value in found.items()
        }
        usual: dict[str, str | None] = {
            row.name: row.default for row in rows.values() if row.default
        }
        usual |= _IDLE
        # What was delivered was in use; a policy counts against that around it; a conj may end a
        # run of preferences.
        usual |= {"awarenessPolicy": inherited, "conj": None, "context": _context(category)}
        kept = {
            name: value
            for name, value in written.items()
            if name not in rows or name not in usual or value != usual[name]
        }
        return _in_order(kept, rows)


def _context(category: str) -> str:
    return "Used" if category == spec.DELIVERED else "Available"


@cache
def _rows(container: str) -> dict[str, int]:
    return {name: index for index, name in enumerate(spec.properties(container))}


def _is_text(item: Item) -> bool:
    return isinstance(item, Note) and item.kind == "text"


def _plain(note: Note) -> Note:
    """A note; between the target and the text of an instruction is one blank."""
    if note.kind != "instruction":
        return note
    return Note(note.kind, " ".join(part.strip() for part in note.text.split(None, 1)))


def _keeps_order(block: Block, written: Iterable[Item]) -> bool:
    """Whether the order of a block's properties means something: expressions and bags."""
    return isinstance(block, Requested) or (
        isinstance(block, Delivered)
        and any("group" in item.attributes for item in written if isinstance(item, Property))
    )


def _place(item: Item, container: str) -> Key:
    """What items are sorted by; those that may not change places are equal."""
    if isinstance(item, Block | Reference):
        return (2, _BLOCKS.index(item.name), *_identity(item))
    assert isinstance(item, Property)
    row = spec.properties(container).get(item.name)
    repeats = True if container == spec.DELIVERED else row.repeats if row else False
    if repeats is True:
        attributes = tuple(sorted(item.attributes.items()))
        return (*order(item.name, container), attributes, item.text)
    keys = [item.attributes.get(name, "") for name in repeats or ()]
    return (*order(item.name, container), *keys)


def _identity(item: Block | Reference) -> Key:
    """Ids in the order that people count in; what has none keeps its place, behind."""
    if isinstance(item, Reference):
        name = item.id
    else:
        name = item.id or (item.get("Name") if item.name == "TaskGroup" else "")
    return (not name, not name.isdigit(), len(name) if name.isdigit() else 0, name)


def _variable(child: Property | Note) -> Key:
    if isinstance(child, Note):
        return (2,)
    return (0, child.attributes.get("name", "")) if child.name == "Variable" else (1, child.name)


def _text(row: spec.Element, text: str) -> str:
    plain = stripped(text)
    if row.name == "NotificationList":
        return _words(plain, spec.NOTIFICATIONS)
    return _value(row.type, plain)


def _attribute(row: spec.Attribute, text: str) -> str:
    if row.name == "delimiter":
        return text  # a blank may be one
    return _words(text, row.values) if row.words else _value(row.type, stripped(text))


def _value(type_: str, text: str) -> str:
    """A text of a data type as shortly as it is exact; one that is not of it stays."""
    reader = model.VALUE_READERS.get(type_)
    try:
        return text if reader is None else model.text(reader(text))
    except InvalidValue:
        return text


def _words(text: str, values: tuple[str, ...]) -> str:
    """The words of a list in printed order, each once; unknown ones behind."""
    words = {stripped(word) for word in text.split(",")} - {""}
    known = [word for word in values if word in words]
    return ",".join((*known, *sorted(words.difference(values))))


def _sized(name: str, text: str, attributes: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    stated = stripped(attributes.get("units", "")) or units.DEFAULT_UNITS[name]
    try:
        written, unit = _size(text, stated)
    except InvalidValue:
        return text, dict(attributes)
    return written, {**attributes, "units": unit}


@lru_cache(1 << 12)
def _size(text: str, unit: str) -> tuple[str, str]:
    """An amount of bytes in the largest unit in which it is whole, or else the shortest."""
    size = units.bytes_of(text, unit)
    return units.in_units(size) if size.denominator == 1 else _shortest(size)


def _shortest(size: Fraction) -> tuple[str, str]:
    forms = [(units.decimal(size / factor), unit) for unit, factor in units.UNITS.items()]
    return min(reversed(forms), key=lambda form: len(form[0]))


def _in_order(attributes: Mapping[str, str], rows: Iterable[str]) -> dict[str, str]:
    known = [name for name in rows if name in attributes]
    return {name: attributes[name] for name in (*known, *sorted(set(attributes).difference(known)))}


def _ordered(read: Expression) -> Expression:
    """And and Or do not care about the order of their operands, nor about their like inside."""
    match read:
        case Not(operand):
            return Not(_ordered(operand))
        case OneOf(members):
            return OneOf(tuple(sorted(members, key=_weight)))
        case Wish(members, avoid):
            return Wish(tuple(sorted(members, key=_weight)), avoid)
        case And(operands) | Or(operands):
            kind = type(read)
            parts: list[Expression] = []
            for operand in map(_ordered, operands):
                # Preferences are weighed against those in the same brackets, which stay.
                loose = isinstance(operand, kind) and (operand.loose or not sums(operand.operands))
                parts += operand.operands if loose and isinstance(operand, kind) else [operand]
            parts.sort(key=_expression_key)
            return kind(tuple(parts), read.loose)
    return read


def _weight(member: expression.Comparison) -> int:
    return -abs(expression.weight(member.item))


def _expression_key(read: Expression) -> Key:
    found = [each.item for each in expression.comparisons(read)]
    first = order(found[0].name, spec.REQUESTED)
    told = [(item.name, item.text, tuple(sorted(item.attributes.items()))) for item in found]
    return (*first, str(read), told)
