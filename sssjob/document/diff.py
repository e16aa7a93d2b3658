"""What two job objects say differently: each difference with its path and both values.

Both are compared in their canonical form, so order, units, defaults and older names make no
difference. Jobs are matched by their Ids, task groups by Id, Name or position, and properties that
repeat by what tells them apart; what is requested is compared as an expression.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from sssjob import defaults, expression, spec
from sssjob.document.bundle import MessageFile
from sssjob.document.canonical import Key, canon, canonical_expression, order
from sssjob.errors import InvalidValue, LimitExceeded, UnbalancedGroup
from sssjob.expression import And, Comparison, Expression, Not, OneOf, Or, Wish
from sssjob.model import BLOCKS, Block, Delivered, Item, Note, Property, Reference, Requested

# What tells several of a name apart, in any container.
_KEYS: dict[str, tuple[str, ...]] = {
    "Variable": ("name",),
    "ResourceLimit": ("name", "type"),
    "Extension": ("name", "type"),
    "Resource": ("name", "type", "metric", "context"),
} | {row.name: ("metric", "context") for row in spec.TABLES["Table 4"]}
# What it is as if it stood there without anything in it.
_HOLLOW = (spec.REQUESTED, spec.DELIVERED, "Environment")
# What an expression tells of itself.
_IN_EXPRESSION = ("op", "preference", "conj", "group")


class Difference(NamedTuple):
    """What two job objects say of one thing; None is nothing."""

    path: str
    left: str | None
    right: str | None


class OfFile(Difference):
    """What two Files of an id hold, whose lines can be compared."""


def diff(
    left: Block, right: Block, *, effective: bool = False, strict: bool = False
) -> Iterator[Difference]:
    """The differences of two job objects, in the printed order of the tables.

    ``effective`` compares what holds after defaults elements are applied. ``strict`` compares
    texts and attributes as they are written, and the order of properties.
    """
    if left == right:
        return
    if strict:
        one, other = (defaults.resolve(b).block if effective else b for b in (left, right))
    else:
        one, other = (canon(block, effective=effective) for block in (left, right))
    if type(one) is not type(other):
        yield Difference("/", label(one), label(other))
        return
    yield from _blocks(one, other, f"/{one.name}", strict)


def _no_files(block: Block) -> Iterable[MessageFile]:
    return ()


def differences(
    left: Iterable[Block], right: Iterable[Block], *, effective: bool = False,
    strict: bool = False, files: Callable[[Block], Iterable[MessageFile]] = _no_files,
) -> Iterator[Difference]:  # fmt: skip
    """The differences of two documents about many job objects, which are matched by kind and Id.

    All of the left one are held in memory, of the right one those that have no match. A single job
    object is compared with a single other one, whatever their Ids. ``files`` gives the Files that
    a job object names: they are compared with those of its match, one that several name once.
    """
    ones, others = list(left), iter(right)
    first, second = next(others, None), next(others, None)
    compared = _FileComparisons(files)
    if len(ones) == 1 and first is not None and second is None:
        yield from diff(ones[0], first, effective=effective, strict=strict)
        yield from compared.of(ones[0], first, "")
        return
    waiting: dict[tuple[str, str], list[Block]] = {}
    for block in ones:
        waiting.setdefault((block.name, block.id), []).append(block)
    rest = [block for block in (first, second) if block is not None]
    extra: list[Block] = []
    for block in chain(rest, others):
        same = waiting.get((block.name, block.id))
        if not same:
            extra.append(block)
            continue
        path, one = f"/{block.name}{_where('Id', block.id)}", same.pop(0)
        for found in diff(one, block, effective=effective, strict=strict):
            yield found._replace(path=path + found.path.removeprefix(f"/{block.name}"))
        yield from compared.of(one, block, f"/*[/{path}]")
    for blocks in waiting.values():
        for block in blocks:
            path = f"/{block.name}{_where('Id', block.id)}"
            yield Difference(path, label(block), None)
            yield from compared.of(block, None, f"/*[/{path}]")
    for block in extra:
        path = f"/{block.name}{_where('Id', block.id)}"
        yield Difference(path, None, label(block))
        yield from compared.of(None, block, f"/*[/{path}]")


class _FileComparisons:
    """The Files of job objects, of which each two are compared once."""

    def __init__(self, files: Callable[[Block], Iterable[MessageFile]]) -> None:
        self.files = files
        # By what they are: two documents may have Files that are alike. They are kept meanwhile.
        self._told: dict[tuple[int, int], tuple[MessageFile | None, MessageFile | None]] = {}

    def of(self, left: Block | None, right: Block | None, around: str) -> Iterator[Difference]:
        """What the Files of one job object hold differently, of which either may be missing."""
        ones, others = ({} if block is None else dict(_numbered(self.files(block)))
                        for block in (left, right))  # fmt: skip
        for id_, number in dict.fromkeys((*ones, *others)):
            one, other = ones.get((id_, number)), others.get((id_, number))
            key = id(one), id(other)
            if one != other and key not in self._told:
                self._told[key] = one, other
                place = f"[{number}]" if number > 1 else ""
                path = f"{around}//File{_where('@id', id_)}{place}"
                yield OfFile(path, _content(one), _content(other))


def _numbered(files: Iterable[MessageFile]) -> Iterator[tuple[tuple[str, int], MessageFile]]:
    """Files by their ids, and their places among those of one id."""
    count: Counter[str] = Counter()
    for file in files:
        count[file.id] += 1
        yield (file.id, count[file.id]), file


def _content(file: MessageFile | None) -> str | None:
    return None if file is None else file.content.decode(errors="replace")


def label(item: Item | None) -> str | None:
    """An item in a few words: ``Job b``, ``2 GB``, ``System``."""
    if item is None:
        return None
    if isinstance(item, Reference):
        return f"reference to {item.id}"
    if isinstance(item, Property):
        return _told(item, _KEYS.get(item.name, ()))
    if isinstance(item, Note):
        return item.text
    return f"{item.name} {item.id or item.get('Name')}".strip()


def _blocks(left: Block, right: Block, path: str, strict: bool) -> Iterator[Difference]:
    """The differences of two blocks of a kind."""
    yield from _attributes(left.attributes, right.attributes, path)
    if isinstance(left, Requested) and not strict:
        yield from _requested(left, right, path)
    elif isinstance(left, Requested) or _has_bags(left) or _has_bags(right):
        yield from _in_sequence(left.properties, right.properties, path)
    else:
        yield from _matched(left.items, right.items, path, left.name, strict)
        if strict:
            yield from _order(left, right, path)


def _has_bags(block: Block) -> bool:
    return isinstance(block, Delivered) and any(
        "group" in item.attributes for item in block.properties
    )


def _in_sequence(
    left: Sequence[Property], right: Sequence[Property], path: str
) -> Iterator[Difference]:
    """The differences of properties whose order means something."""
    for number, (one, other) in enumerate(zip_longest(left, right), 1):
        here = f"{path}/*[{number}]"
        if one is not None and other is not None and one.name == other.name:
            yield from _properties(one, other, here)
        else:
            yield Difference(here, _with_name(one), _with_name(other))


def _with_name(item: Property | None) -> str | None:
    return None if item is None else f"{item.name} {_told(item)}"


def _matched(
    left: Iterable[Item], right: Iterable[Item], path: str, container: str, strict: bool
) -> Iterator[Difference]:
    """The differences of items, each compared with the one that is about the same thing."""
    ones, others = _by_key(left, container), _by_key(right, container)
    for key in sorted({*ones, *others}):
        one, other = ones.get(key, []), others.get(key, [])
        several = len(one) > 1 or len(other) > 1
        for number, pair in _pairs(one, other):
            step = key.step + (f"[{number}]" if several else "")
            yield from _items(*pair, f"{path}/{step}", strict)


class _ItemKey(NamedTuple):
    """What an item is about: items of both sides with one key are compared."""

    place: Key
    step: str  # of the path


def _by_key(items: Iterable[Item], container: str) -> dict[_ItemKey, list[Item]]:
    found: dict[_ItemKey, list[Item]] = {}
    for item in items:
        if not isinstance(item, Note) or item.kind == "text":
            found.setdefault(_key(item, container), []).append(item)
    return found


def _key(item: Item, container: str) -> _ItemKey:
    if isinstance(item, Note):
        return _ItemKey((3, 0, ""), "text()")
    if isinstance(item, Reference):
        return _ItemKey((2, 0, item.name), f"{item.name}{_where('.', item.id)}")
    if isinstance(item, Property):
        known = [name for name in _KEYS.get(item.name, ()) if name in item.attributes]
        marks = "".join(_where(f"@{name}", item.attributes[name]) for name in known)
        return _ItemKey(order(item.name, container), item.name.rpartition("}")[2] + marks)
    for name in ("Id", "Name") if item.name == "TaskGroup" else ("Id",):
        if item.name in ("Job", "TaskGroup", "Task", "JobGroup") and item.get(name):
            step = f"{item.name}{_where(name, item.get(name))}"
            return _ItemKey((2, 1, item.name), step)
    return _ItemKey((2, list(BLOCKS).index(item.name), ""), item.name)


def _pairs(
    left: Sequence[Item], right: Sequence[Item]
) -> Iterator[tuple[int, tuple[Item | None, Item | None]]]:
    """Those that are on one side only, side by side; each pair with its number."""
    waiting: dict[Item, deque[int]] = {}
    for number, item in enumerate(right):
        waiting.setdefault(item, deque()).append(number)
    met = set()
    alone = []
    for number, item in enumerate(left, 1):
        if same := waiting.get(item):
            met.add(same.popleft())
        else:
            alone.append((number, item))
    rest = [(number + 1, item) for number, item in enumerate(right) if number not in met]
    for one, other in zip_longest(alone, rest):
        number = min(found[0] for found in (one, other) if found)
        yield number, (one[1] if one else None, other[1] if other else None)


def _items(one: Item | None, other: Item | None, path: str, strict: bool) -> Iterator[Difference]:
    """The differences of two items about one thing, of which one may be missing."""
    some = other if one is None else one
    if isinstance(some, Block | Property) and some.name in _HOLLOW:
        # Nothing in it is missing as a whole, but everything in it is.
        one, other = (_hollow(some) if item is None else item for item in (one, other))
    if isinstance(one, Block) and isinstance(other, Block):
        yield from _blocks(one, other, path, strict)
    elif isinstance(one, Property) and isinstance(other, Property):
        yield from _properties(one, other, path)
    elif label(one) != label(other):
        yield Difference(path, label(one), label(other))


def _hollow(item: Block | Property) -> Block | Property:
    return type(item)() if isinstance(item, Block) else Property(item.name)


def _properties(left: Property, right: Property, path: str) -> Iterator[Difference]:
    """The differences of two properties about one thing."""
    if left == right:
        return
    if _amount(left) != _amount(right):
        yield Difference(path, _amount(left), _amount(right))
    yield from _attributes(left.attributes, right.attributes, path, ("units",))
    yield from _matched(left.children, right.children, path, left.name, False)


def _attributes(
    left: Mapping[str, str], right: Mapping[str, str], path: str, besides: Iterable[str] = ()
) -> Iterator[Difference]:
    for name in sorted({*left, *right}.difference(besides)):
        if left.get(name) != right.get(name):
            yield Difference(f"{path}/@{name}", left.get(name), right.get(name))


def _order(left: Block, right: Block, path: str) -> Iterator[Difference]:
    """Whether what both have stands in another order."""
    one, other = ([item.name for item in block.properties] for block in (left, right))
    if one != other and sorted(one) == sorted(other):
        yield Difference(f"{path}/*", ", ".join(one), ", ".join(other))


def _requested(left: Block, right: Block, path: str) -> Iterator[Difference]:
    """The differences of two expressions: what only one of them asks for, side by side."""
    one, other = _conjuncts(left), _conjuncts(right)
    if one is None or other is None:
        # Without a meaning, what is written is compared.
        yield from _in_sequence(left.properties, right.properties, path)
        return
    alone: dict[tuple[str, ...], tuple[list[Expression], list[Expression]]] = {}
    for side, mine, theirs in ((0, one, other), (1, other, one)):
        rest = Counter(theirs)
        for part in mine:
            rest[part] -= 1
            if rest[part] < 0:
                names = tuple(sorted(expression.mentions(part)))
                alone.setdefault(names, ([], []))[side].append(part)
    for names in sorted(alone):
        lefts, rights = alone[names]
        here = f"{path}/{names[0].partition('[')[0]}" if len(names) == 1 else path
        for index in range(max(len(lefts), len(rights))):
            yield Difference(
                here,
                str(_shown(lefts[index])) if index < len(lefts) else None,
                str(_shown(rights[index])) if index < len(rights) else None,
            )


def _conjuncts(block: Block) -> tuple[Expression, ...] | None:
    """What is asked for, part by part; None if it cannot be read."""
    try:
        return expression.conjuncts(canonical_expression(expression.parse(block.properties)))
    except (UnbalancedGroup, InvalidValue, LimitExceeded):
        return None


def _shown(read: Expression) -> Expression:
    """The same with units and attributes in the text of each comparison."""
    match read:
        case Comparison(item):
            return Comparison(_showing(item))
        case Not(operand):
            return Not(_shown(operand))
        case OneOf(members):
            return OneOf(tuple(Comparison(_showing(member.item)) for member in members))
        case Wish(members, avoid):
            return Wish(tuple(Comparison(_showing(member.item)) for member in members), avoid)
        case And(operands) | Or(operands):
            return type(read)(tuple(_shown(operand) for operand in operands))


def _showing(item: Property) -> Property:
    told = ("name", "type") if item.name == "Resource" else ()
    keys = (*_IN_EXPRESSION, *told)
    kept = {key: item.attributes[key] for key in keys if key in item.attributes}
    return Property(item.name, _told(item, keys), kept)


def _amount(item: Property) -> str:
    unit = item.attributes.get("units", "")
    return f"{item.text} {unit}" if unit else item.text


def _told(item: Property, besides: Iterable[str] = ()) -> str:
    """A property in words: its amount, and the attributes that are not told elsewhere."""
    marks = [
        f'{name}="{value}"' for name, value in item.attributes.items()
        if name != "units" and name not in besides
    ]  # fmt: skip
    return " ".join(part for part in (_amount(item), *marks) if part)


def _where(name: str, value: str) -> str:
    """A predicate of XPath, in which a text with both kinds of quotes has to be joined."""
    if "'" not in value:
        return f"[{name}='{value}']"
    if '"' not in value:
        return f'[{name}="{value}"]'
    parts = ', "\'", '.join(f"'{part}'" for part in value.split("'"))
    return f"[{name}=concat({parts})]"
