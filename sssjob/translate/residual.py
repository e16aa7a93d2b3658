"""What a target does not hold, kept in its open places: A to B and back gives A.

Strategy. No target can say all that a job object says, and who edits a script after it was made
must not be overruled by what was kept beside it.

The idea is to read a target back before it is handed out. Each kind of item that does not come back
as it was becomes a line ``KIND DIGEST XML``: the XML holds what the job says, the digest names what
the target alone says of that kind. A reader puts the first in the place of the second.

Why it is right: what is kept is just what did come back differently, so the way back gives the same
job. Where the target has been changed since, the digests differ, and what the target says holds.
Kinds that a target is sure to say as they are meant need not be read (``Translator.doubtful``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache, lru_cache
from hashlib import blake2b
from operator import itemgetter

from sssjob import expression, spec
from sssjob.document import dumps, loads
from sssjob.errors import Finding, InvalidValue, SSSJobError, finding
from sssjob.executable import arguments
from sssjob.model import Block, Item, Job, Note, Property, Requested, stripped
from sssjob.units import DEFAULT_UNITS, bytes_of

SELF = "."  # the kind of a job's own attributes

_NOTHING = "-"
# What was read of a target that says nothing of it, and says the same as its absence.
_FORMERLY = {
    "TaskDistribution": Property("TaskDistribution", "1", {"type": "ProcessorsPerTask"}),
}
_ENDS = {"\n": "&#10;", "\r": "&#13;", "\\": "&#92;"}  # a backslash may continue a line


class ResidualLine(str):
    """A line of a residual as it was read, with the line of the target in which it stands."""

    line = 0

    @classmethod
    def at(cls, text: str, line: int) -> ResidualLine:
        """A line of a residual that stands in a line."""
        kept = cls(text)
        kept.line = line
        return kept


def patch(job: Job, back: Job, sure: Collection[str] = ()) -> tuple[str, ...]:
    """The lines that make ``job`` of ``back``, which is what a target says by itself.

    ``sure`` are kinds that the target says as the job does, whatever ``back`` has of them. What
    XML cannot hold is not among the lines.
    """
    mine, read = _kinds(job, sure), _kinds(back, sure)
    lines = []
    for kind in (*mine, *(kind for kind in read if kind not in mine)):
        ours, theirs = mine.get(kind, []), read.get(kind, [])
        if not _same(ours, theirs):
            lines.append(_line(kind, theirs, Job(tuple(ours))))
    if dict(job.attributes) != dict(back.attributes):
        lines.append(_line(SELF, [], Job((), job.attributes)))
    return tuple(filter(None, lines))


def apply(back: Job, lines: Iterable[str]) -> tuple[Job, tuple[Finding, ...]]:
    """What a target says with what was kept beside it, and what could not be put back."""
    kinds = _kinds(back)
    attributes: Mapping[str, str] = back.attributes
    found: list[Finding] = []
    for line in lines:
        place = line.line if isinstance(line, ResidualLine) else 0
        kind, _, rest = line.partition(" ")
        digest, _, text = rest.partition(" ")
        try:
            held = Job() if text == _nothing() else loads(text)  # as most are
        except (SSSJobError, ValueError) as error:
            found.append(_fault(kind, f"cannot be read: {error}", place))
            continue
        if not isinstance(held, Job):
            found.append(_fault(kind, "holds no job", place))
        elif kind == SELF:
            attributes = held.attributes
        elif not _is_of(digest, kind, kinds.get(kind, [])):
            told = "was written for another text: what stands there now holds"
            found.append(_fault(kind, told, place))
        else:
            kinds[kind] = [item for item in held.items if not isinstance(item, Note)]
    items = (item for kind in kinds.values() for item in kind)
    return Job(tuple(items), attributes), tuple(found)


def _fault(kind: str, reason: str, line: int) -> Finding:
    text = f"what was kept of {kind[:60]} {reason}"
    return finding("W-DISAGREE", text, path=f"/Job/{kind[:60]}", line=line)


def _kinds(job: Job, but: Collection[str] = ()) -> dict[str, list[Item]]:
    """The items of a job by name, in the order in which each name is met first."""
    kinds: dict[str, list[Item]] = {}
    for item in job.items:
        if not isinstance(item, Note) and item.name not in but:
            kinds.setdefault(item.name, []).append(item)
    return kinds


def _line(kind: str, read: list[Item], held: Job) -> str:
    """One line, or nothing for what XML does not have."""
    try:
        text = dumps(held) if held.items or held.attributes else _nothing()
    except ValueError:
        return ""
    for end, reference in _ENDS.items():
        text = text.replace(end, reference)
    return f"{kind} {_digest(read)} {text}"


@cache
def _nothing() -> str:
    """A job that says nothing."""
    return dumps(Job())


# decision 1108
def _is_of(digest: str, kind: str, items: list[Item]) -> bool:
    """Whether a digest is of these items, or of what was read of the same text formerly."""
    if digest == _digest(items):
        return True
    more = _FORMERLY.get(kind)
    return more is not None and digest == _digest([*items, more])


def _digest(items: list[Item]) -> str:
    if not items:
        return _NOTHING
    text = repr([*map(_plain, items)]).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=4).hexdigest()


def _plain(item: Item) -> object:
    """An item as what it says."""
    if isinstance(item, Property):
        inner = tuple(_plain(each) for each in item.children if isinstance(each, Property))
        return (item.name, item.text, sorted(item.attributes.items()), inner)
    if isinstance(item, Block):
        return (item.name, sorted(item.attributes.items()), [*map(_plain, item.items)])
    return ()


def _same(mine: list[Item], read: list[Item]) -> bool:
    """Whether two lists say the same; sizes may have other units."""
    if len(mine) != len(read):
        return False
    return all(map(_alike, mine, read))


def _alike(one: Item, other: Item) -> bool:
    if one == other:
        return True
    if isinstance(one, Property) and isinstance(other, Property):
        return _said(one) == _said(other)
    if isinstance(one, Requested) and isinstance(other, Requested):
        return dict(one.attributes) == dict(other.attributes) and (
            _same_texts(one, other) or _terms(one) == _terms(other)
        )
    return _plain(one) == _plain(other)


def _same_texts(one: Requested, other: Requested) -> bool:
    """Whether two requests have the same terms but for their order, each of a name of its own."""
    terms = {item.name: item for item in one.items if type(item) is Property}
    if len(terms) < len(one.items) or len(one.items) != len(other.items):
        return False
    for item in other.items:
        if type(item) is not Property:
            return False
        ours = terms.get(item.name)
        if ours is None or ours.text != item.text:
            return False
        if ours.attributes != item.attributes or ours.children or item.children:
            return False
        if not expression.LOGIC.isdisjoint(item.attributes):
            return False
    return True


def _terms(block: Requested) -> object:
    """The terms of a request; their order means nothing where all of them hold."""
    items = [item for item in block.items if isinstance(item, Property)]
    said = [*map(_said, items)]
    if not all(expression.LOGIC.isdisjoint(item.attributes) for item in items):
        return said
    alone = len({item.name for item in items}) == len(items)
    return sorted(said, key=itemgetter(0) if alone else repr)  # the name, which is much faster


def _said(item: Property) -> tuple[object, ...]:
    """What a property says: its value, and attributes that say more than their absence."""
    attributes = item.attributes
    value: object = stripped(item.text)
    if item.name in DEFAULT_UNITS:
        value = _size(item.text, attributes.get("units", DEFAULT_UNITS[item.name]))
    elif item.name == "Arguments":
        value = _words(item.text)
    told: tuple[object, ...] = ()
    if attributes:
        told = tuple(sorted(
            (key, text) for key, text in attributes.items()
            if text != _defaults(item.name).get(key)
            and not (key == "units" and item.name in DEFAULT_UNITS)
        ))  # fmt: skip
    inner = tuple(_said(each) for each in item.children if isinstance(each, Property))
    return (item.name, value, told, inner)


@cache
def _defaults(name: str) -> Mapping[str, str]:
    """What the absence of attributes means."""
    rows = (*spec.attributes(name).values(), *spec.attributes(name, spec.REQUESTED).values())
    return {row.name: row.default for row in rows if row.default}


@lru_cache(maxsize=1024)
def _words(text: str) -> object:
    try:
        return arguments(text)
    except InvalidValue:
        return text


@lru_cache(maxsize=4096)
def _size(text: str, unit: str) -> object:
    try:
        return bytes_of(text, unit)
    except InvalidValue:
        return f"{text} {unit}"
