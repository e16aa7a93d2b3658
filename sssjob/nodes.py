"""Several names in one property: List, Range and Pattern of Feature and Node (SSS 5.1).

>>> from sssjob.model import Property
>>> list(expand(Property("Node", "n[005-007,12]", {"aggregation": "Range"})))
['n005', 'n006', 'n007', 'n12']
>>> fold(["n005", "n006", "n007", "n12"])
'n[005-007,12]'
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from sssjob import units
from sssjob.errors import Finding, InvalidValue, LimitExceeded, finding
from sssjob.model import Block, Delivered, Property, Requested, paths
from sssjob.spec import DELIVERED, REQUESTED
from sssjob.units import XML_SPACE

if TYPE_CHECKING:
    from ClusterShell.NodeSet import NodeSet

LIMIT = 1_000_000  # names that one property may stand for
OPTION_LIMIT = 10_000  # names that an option of a batch system lists

LIST, PATTERN, RANGE = "List", "Pattern", "Range"
_SETS = {"Feature": (LIST,), "Node": (LIST, RANGE)}  # what stands for several names

_DIGITS = 18
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_ITEM = re.compile(rf"([0-9]{{1,{_DIGITS}}})(?:-([0-9]{{1,{_DIGITS}}}))?")
_NUMBER = re.compile(rf"[0-9]{{1,{_DIGITS}}}\Z")
_RANGE_SHAPE = re.compile(r"([^\[\]]*)\[([^\[\]]*)\](.*)", re.DOTALL)
_RANGE = "a range of nodes such as fr15n[01-08,77]"

# What ClusterShell is asked: sets of names with brackets, steps included. Its groups (@) would
# be looked up in this machine's configuration, and its wildcards stand for those groups.
_STEPS = re.compile(rf"[0-9]{{1,{_DIGITS}}}(?:-[0-9]{{1,{_DIGITS}}}(?:/[0-9]{{1,6}})?)?")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_OPERATORS = re.compile(r"[,!&^]")
_REFUSED = re.compile(r"[@*?%\[\]\s:]")


@dataclass(frozen=True, slots=True)
class Span:
    """Consecutive numbers behind a prefix, as wide as the low bound is written."""

    prefix: str
    low: int
    high: int
    width: int = 1

    def __len__(self) -> int:
        return self.high - self.low + 1

    def __iter__(self) -> Iterator[str]:
        return (f"{self.prefix}{number:0{self.width}}" for number in range(self.low, self.high + 1))

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str) or not name.startswith(self.prefix):
            return False
        digits = name[len(self.prefix) :]
        if not _NUMBER.match(digits):
            return False
        number = int(digits)
        return self.low <= number <= self.high and digits == f"{number:0{self.width}}"

    def without(self, other: Span) -> Iterator[Span]:
        """What is left without another span of the same prefix; no name is made for it."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if self.width != other.width:  # with as many digits, they are written alike
            low = max(low, 10 ** (max(self.width, other.width) - 1))
        if low > high:
            yield self
            return
        if self.low < low:
            yield replace(self, high=low - 1)
        if high < self.high:
            yield replace(self, low=high + 1)


def _tester(written: set[str], by_prefix: dict[str, list[Span]]) -> Callable[[str], bool]:
    """What tells whether a name is written there, or in a span of what it begins with."""

    def is_one(name: str) -> bool:
        heads = (name[:end] for end in range(len(name)) if name[:end] in by_prefix)
        return name in written or any(name in span for head in heads for span in by_prefix[head])

    return is_one


@dataclass(frozen=True, slots=True)
class Names:
    """Names in the order in which they are written, with those that are written twice.

    They are made when they are asked for: a range costs nothing until then.
    """

    parts: tuple[str | Span, ...]

    def __len__(self) -> int:
        return sum(1 if isinstance(part, str) else len(part) for part in self.parts)

    def __iter__(self) -> Iterator[str]:
        for part in self.parts:
            if isinstance(part, str):
                yield part
            else:
                yield from part

    @property
    def distinct(self) -> int:
        """How many different names there are; none is made, and the same may be written two ways.

        Names that end in numbers are compared as these: n1[0-9] is n[10-19].
        """
        if len(self.parts) < 2:  # as most are
            return len(self)
        ends: defaultdict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
        for part in self.parts:
            for head, digits, low, high in _numbered(part):
                ends[head, digits].append((low, high))
        total = 0
        for each in ends.values():
            end = -1
            for low, high in sorted(each):
                total += max(high - max(low - 1, end), 0)
                end = max(end, high)
        return total

    def tester(self) -> Callable[[str], bool]:
        """What tells whether a name is one of these; no name is made for it.

        >>> spans("n[1-1000000]").tester()("n77")
        True
        """
        return _tester(*self._sorted())

    def _sorted(self) -> tuple[set[str], dict[str, list[Span]]]:
        """Names as they are written, and spans by what stands before their numbers."""
        written: set[str] = set()
        by_prefix: dict[str, list[Span]] = {}
        for part in self.parts:
            if isinstance(part, str):
                written.add(part)
            else:
                by_prefix.setdefault(part.prefix, []).append(part)
        return written, by_prefix

    def without(self, others: Iterable[Names]) -> Iterator[str]:
        """The names, as often as they are written, that are in none of the others.

        Spans of a prefix are taken from each other as numbers: of a million names that are all in
        others none is made.
        """
        all_others = Names(tuple(part for each in others for part in each.parts))
        written, by_prefix = all_others._sorted()
        is_other = _tester(written, by_prefix)
        for part in self.parts:
            if isinstance(part, str):
                yield from () if is_other(part) else (part,)
                continue
            left = [part]
            for span in by_prefix.get(part.prefix, ()):
                left = [piece for each in left for piece in each.without(span)]
            # Another prefix can name the same: n1[0-9] is in n[10-19].
            is_alone = not written and len(by_prefix) == (part.prefix in by_prefix)
            for piece in left:
                yield from piece if is_alone else (name for name in piece if not is_other(name))


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression (perl5) instead of names; evaluating a request matches it."""

    text: str


Nodes: TypeAlias = Names | Pattern


def expand(item: Property, *, extended: bool = False) -> Nodes:
    """The names that a Feature or Node stands for; one name without aggregation.

    Raises ``InvalidValue``, and ``LimitExceeded`` above ``LIMIT`` names, before any is made.
    ``extended`` also reads what the standard's Range does not have: suffixes, several brackets,
    steps, and sets of them (``r[1-2]c[0-9/3],m5``). ClusterShell reads those (``sssjob[nodes]``),
    which sorts the names and keeps each once.
    """
    text = item.text.strip(XML_SPACE)
    match item.said("aggregation"):
        case "":
            return Names((text,))
        case "List":
            members = split(item.text, item.attributes.get("delimiter", ","))
            return Names(tuple(member for member in members if member))
        case "Range":
            try:
                return spans(text)
            except InvalidValue:
                if not extended:
                    raise
                return _extended(text)
        case "Pattern":
            return Pattern(text)
        case other:
            raise InvalidValue(other, f"one of the aggregations {LIST}, {PATTERN}, {RANGE}")


def single(item: Property) -> str:
    """The only name that a List of Features, or a List or a Range of nodes stands for, or "".

    >>> from sssjob.model import Property
    >>> single(Property("Node", "n[7-7]", {"aggregation": "Range"}))
    'n7'
    """
    kind = item.said("aggregation")
    if kind not in _SETS.get(item.name, ()):
        return ""
    try:
        found = expand(item)
    except (InvalidValue, LimitExceeded):  # which is told where it is read
        return ""
    assert isinstance(found, Names)
    return next(iter(found), "") if found.distinct == 1 else ""


def plain(text: str) -> bool:
    """Whether a text is a name without signs that options of batch systems give a meaning to.

    >>> plain("n1.example.org"), plain("n[1-4]"), plain("-n1")
    (True, False, False)
    """
    return _PLAIN.fullmatch(text) is not None


def split(text: str, delimiter: str = ",") -> tuple[str, ...]:
    """The members of a List, empty ones included; blanks around them are not part of them.

    A delimiter of blanks separates exactly where it stands. Raises ``InvalidValue`` for an empty
    delimiter and ``LimitExceeded`` above ``LIMIT`` members.

    >>> split("ib; ssd;;", ";")
    ('ib', 'ssd', '', '')
    """
    if not delimiter:
        raise InvalidValue(delimiter, "a delimiter, which has at least one character")
    if text.count(delimiter) >= LIMIT:
        raise LimitExceeded("members in a List", LIMIT)
    members = text.strip(XML_SPACE).split(delimiter)
    blank = not delimiter.strip(XML_SPACE)
    return tuple(members) if blank else tuple(member.strip(XML_SPACE) for member in members)


def spans(text: str, limit: int = LIMIT) -> Names:
    """The names of a Range, ``prefix[5-23,77]``; without a bracket it is one name.

    A low bound that starts with 0 fixes the width of its item. Raises ``InvalidValue``, and
    ``LimitExceeded`` above ``limit`` names.
    """
    shape = _RANGE_SHAPE.fullmatch(text)
    if shape is None:
        if not text or "[" in text or "]" in text:
            raise InvalidValue(text, _RANGE)
        return Names((text,))
    if shape[3]:
        raise InvalidValue(text, f"{_RANGE}: nothing may stand behind the bracket")
    return Names(tuple(_items(text, shape[1], shape[2], limit)))


def fold(names: Iterable[str]) -> str | None:
    """The Range that stands for these names in this order, or None where one cannot say it.

    >>> fold(["n3", "n1", "n2", "n2"]), fold(["n08", "n09", "n10"]), fold(["n1", "m1"])
    ('n[3,1-2,2]', 'n[08-10]', None)
    """
    given = list(names)
    if not given or any(set(name) & set("[]") or name != name.strip(XML_SPACE) for name in given):
        return None
    if len(given) == 1:
        return given[0] or None
    prefix, _ = _parted(given[0])
    items: list[tuple[str, str, int]] = []  # as written: low and high; and what would come next
    for name in given:
        head, digits = _parted(name)
        if head != prefix or not digits:
            return None
        number = int(digits)
        if items and number == items[-1][2] and digits == f"{number:0{len(items[-1][0])}}":
            items[-1] = (items[-1][0], digits, number + 1)
        else:
            items.append((digits, digits, number + 1))
    shown = (low if low == high else f"{low}-{high}" for low, high, _ in items)
    return f"{prefix}[{','.join(shown)}]"


def joined(names: Iterable[str], name: str = "Node") -> Property:
    """One property for several names: a Range of nodes if that can be, or else a List.

    Raises ``InvalidValue`` for a name that cannot stand in either.
    """
    given = tuple(names)
    for one in given:
        if not one or one != one.strip(XML_SPACE):
            raise InvalidValue(one, "a name without blanks around it")
    if len(given) == 1:
        return Property(name, given[0])
    if name == "Node" and (text := fold(given)):
        return Property(name, text, {"aggregation": RANGE})
    for delimiter in (",", ";", "|", "\n"):
        if not any(delimiter in one for one in given):
            attributes = {"aggregation": LIST} | (
                {} if delimiter == "," else {"delimiter": delimiter}
            )
            return Property(name, delimiter.join(given), attributes)
    raise InvalidValue(given[0], "a name that some delimiter can separate from others")


def required(item: Property, node_count: int | None = None) -> int:
    """How many of the nodes of a requested Node are wanted (SSS 5.1 Node, 8.1).

    Its count says so, or else NodeCount, or else it is all of a List or Range and at least one
    that matches a Pattern.
    """
    count = count_of_set(item)
    if count is not None or node_count is not None:
        return count or node_count or 1
    found = expand(item)
    return 1 if isinstance(found, Pattern) else found.distinct


def stated_count(item: Property) -> int | None:
    """The count attribute: nodes that are wanted, or in Delivered instances on each of them.

    None where it is absent, or not a whole number of at least 1.
    """
    try:
        count = units.integer(item.attributes.get("count", "0"))
    except InvalidValue:
        return None
    return count if count >= 1 else None


# decision 1122
def count_of_set(item: Property) -> int | None:
    """How many nodes of a List, a Range or a Pattern are wanted, where its count says so.

    That of a single name is how many instances there are of that node (decision 1122).
    """
    is_set = item.said("aggregation")
    return stated_count(item) if is_set else None


def check(block: Block, path: str = "") -> Iterator[Finding]:
    """Every finding about Feature and Node elements of a block and of the blocks inside it.

    Values that the tables of the standard exclude by themselves are not judged again.
    """
    here = path or f"/{block.name}"
    category = block.name if isinstance(block, Requested | Delivered) else ""
    for item in block.properties:
        for found in faults(item, category):
            yield replace(found, path=f"{here}/{item.name}{found.path}", line=item.line)
    for inner_path, inner in paths(block, here):
        yield from check(inner, inner_path)


def faults(item: Property, category: str = "") -> Iterator[Finding]:
    """Every finding about the aggregation of one property; its path starts at the property."""
    if item.name not in ("Feature", "Node"):
        return
    section = f"SSS 5.1 {item.name}"
    kind = item.said("aggregation")
    if "delimiter" in item.attributes and kind != LIST:
        text = f"a delimiter means nothing without aggregation {LIST}"
        yield finding("W-USELESS", text, path="/@delimiter", section=section)
    if kind == PATTERN and category == DELIVERED:
        text = f"{item.name}: what was delivered has names, and no Pattern"
        advice = f"write the names as a {LIST}"
        yield finding("E-OP", text, path="/@aggregation", section=section, suggestion=advice)
    if kind == LIST:
        yield from _list_faults(item, section)
    elif kind == RANGE and item.name == "Node":
        try:
            expand(item)
        except InvalidValue as error:
            yield finding("E-TYPE", f"Node: {error}", section=section)
        except LimitExceeded as error:
            yield finding("E-LIMIT", f"Node: {error}", section=section)
    if category == REQUESTED:
        yield from _count_faults(item, section)


def _list_faults(item: Property, section: str) -> Iterator[Finding]:
    delimiter = item.attributes.get("delimiter", ",")
    try:
        members = split(item.text, delimiter)
    except InvalidValue as error:
        yield finding("E-TYPE", str(error), path="/@delimiter", section=section)
        return
    except LimitExceeded as error:
        yield finding("E-LIMIT", f"{item.name}: {error}", section=section)
        return
    if (empty := members.count("")) > 0:
        text = f"{item.name}: {empty} of {len(members)} members of the {LIST} are empty and dropped"
        yield finding("W-USELESS", text, section=section)
    inner = item.text.strip(XML_SPACE)
    if delimiter.strip(" ") == "" and any(sign in inner for sign in "\t\n"):
        # XML normalizes literal white space in attributes, but not in the text of elements.
        text = (
            f"{item.name}: the delimiter is a space, and names have tabs or newlines between them"
        )
        advice = 'a tab in an attribute reads as a space: write delimiter="&#9;", "&#10;" a newline'
        yield finding("W-USELESS", text, path="/@delimiter", section=section, suggestion=advice)


# decision 1122
def _count_faults(item: Property, section: str) -> Iterator[Finding]:
    """A count of names that are not wanted: what there has to be of a set, layouts say."""
    is_unwanted = item.said("op") == "NE"
    if item.name == "Node" and is_unwanted and stated_count(item) is not None:
        text = "a count means nothing of nodes that are not wanted (op NE)"
        yield finding("W-USELESS", text, path="/@count", section=section)


def _items(text: str, prefix: str, inside: str, limit: int) -> Iterator[Span]:
    total = 0
    for item in inside.split(","):
        found = _ITEM.fullmatch(item)
        if found is None:
            raise InvalidValue(
                text, f"{_RANGE}: {item!r} is neither a number nor two with a - between"
            )
        low, high = found[1], found[2] or found[1]
        if int(low) > int(high):
            raise InvalidValue(text, f"{_RANGE}: {low} is above {high}")
        total += int(high) - int(low) + 1
        if total > limit:
            raise LimitExceeded(f"names in {text[:60]}", limit)
        yield Span(prefix, int(low), int(high), len(low))


def _numbered(part: str | Span) -> Iterator[tuple[str, int, int, int]]:
    """Names as what stands before their last digits, how many these are, and from which to which.

    No more than 18 digits are a number; those before them are as letters are.
    """
    if isinstance(part, str):
        head, digits = _parted(part)
        yield head, len(digits), int(digits or 0), int(digits or 0)
        return
    _, before = _parted(part.prefix)
    for size in range(part.width, max(part.width, len(str(part.high))) + 1):
        low = max(part.low, 10 ** (size - 1) if size > part.width else 0)
        high = min(part.high, 10**size - 1)
        if low <= high:
            digits = before[max(len(before) + size - _DIGITS, 0) :]
            head = part.prefix[: len(part.prefix) - len(digits)]
            more = int(digits or 0) * 10**size
            yield head, len(digits) + size, more + low, more + high


def _parted(name: str) -> tuple[str, str]:
    """A name before its last digits, and these."""
    found = _NUMBER.search(name)
    return (name[: found.start()], found[0]) if found else (name, "")


def _extended(text: str) -> Names:
    """A set of names in the syntax of ClusterShell; it is measured before it is made."""
    total = 0
    shape = _BRACKETS.sub(lambda found: "#" * len(found[0]), text)
    start = 0
    for found in (*_OPERATORS.finditer(shape), None):
        end = found.start() if found else len(text)
        total += _size(text, text[start:end])
        start = end + 1
    if total > LIMIT:
        raise LimitExceeded(f"names in {text[:60]}", LIMIT)
    return Names(tuple(_cluster_shell(text)))


def _size(whole: str, host: str) -> int:
    """How many names one member of a set stands for, without making them."""
    expected = "a set of nodes such as r[1-2]c[0-9/3],m5"
    if not host or _REFUSED.search(_BRACKETS.sub("", host)):
        raise InvalidValue(whole, expected)
    sizes = []
    for inside in _BRACKETS.findall(host):
        items = inside.split(",")
        if not all(_STEPS.fullmatch(item) for item in items):
            raise InvalidValue(whole, expected)
        bounds = [item.partition("/")[0].partition("-") for item in items]
        sizes.append(sum(max(int(high or low) - int(low) + 1, 1) for low, _, high in bounds))
    return prod(sizes)


def _cluster_shell(text: str) -> NodeSet:
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetParseError

    try:
        return NodeSet(text, resolver=RESOLVER_NOGROUP)
    except NodeSetParseError as error:
        raise InvalidValue(text, f"a set of nodes that ClusterShell reads: {error}") from error
