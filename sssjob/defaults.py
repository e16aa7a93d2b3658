"""What holds for a job: JobDefaults, TaskGroupDefaults and TaskDefaults resolved (SSS 4 to 7).

A job goes over the JobDefaults beside it, a task group over the TaskGroupDefaults of its job
and those over the ones in JobDefaults, and so on for tasks. The result holds no defaults
elements, and resolving it again changes nothing.

>>> from sssjob.model import Job, JobDefaults, JobGroup
>>> group = JobGroup((JobDefaults.of(User="keith", Project="P"), Job.of(Id="b", User="amy")))
>>> [(item.name, item.text) for item in resolve(group).block.jobs[0].properties]
[('Id', 'b'), ('User', 'amy'), ('Project', 'P')]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias

from sssjob import expression, spec, units
from sssjob.errors import (
    Finding,
    InvalidValue,
    LimitExceeded,
    Severity,
    UnbalancedGroup,
    finding,
)
from sssjob.expression import Expression
from sssjob.model import Block, Item, Note, Property

Env: TypeAlias = Literal["merge", "replace"]

OWN = "own"

# fmt: off
# What each block holds that takes defaults, and the element that gives them.
HOLDS = {
    "JobGroup":          ("Job",       "JobDefaults"),
    "Job":               ("TaskGroup", "TaskGroupDefaults"),
    "JobDefaults":       ("TaskGroup", "TaskGroupDefaults"),
    "TaskGroup":         ("Task",      "TaskDefaults"),
    "TaskGroupDefaults": ("Task",      "TaskDefaults"),
}

# A default is the same property as another if these attributes agree, besides the name.
KEYS = {
    "Variable":      ("name",),
    "ResourceLimit": ("name", "type"),
    "Resource":      ("name", "type"),
    "Extension":     ("name", "type"),
}
# fmt: on
LISTS = ("Dependency", "Hold", "TaskGroup", "Task")  # a list of one's own replaces all defaults
IDENTITY = ("Id", "GlobalId")  # never inherited
POLICIES = ("Reject", "Warn", "Ignore")


class Written(NamedTuple):
    """A value and where it was written: ``own``, or the defaults element that holds it."""

    source: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Origin:
    """Where one effective property comes from, and what it overrode."""

    path: str
    value: str
    source: str
    line: int = 0
    overrode: tuple[Written, ...] = ()

    def __str__(self) -> str:
        line = f":{self.line}" if self.line else ""
        over = "".join(f", over {old.value!r} of {old.source}" for old in self.overrode)
        return f"{self.path} = {self.value!r} ({self.source}{line}{over})"


@dataclass(frozen=True, slots=True)
class Resolved:
    """A block with its defaults applied, and what is worth knowing about them."""

    block: Block
    findings: tuple[Finding, ...]
    original: Block = field(repr=False)
    env: Env = "merge"

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Where every effective property comes from, in document order; worked out when asked."""
        origins: list[Origin] = []
        _Resolver(self.env, origins.append).block(self.original)
        return tuple(origins)


def resolve(block: Block, *, env: Env = "merge") -> Resolved:
    """Apply the defaults in a job group, job or task group to what it holds.

    Variables of an Environment are merged one by one; with ``env="replace"`` an Environment
    overrides the default one as a whole. A Requested element that cannot be read is a finding,
    and stands or falls as a whole.
    """
    resolver = _Resolver(env)
    return Resolved(resolver.block(block), tuple(resolver.findings), block, env)


class _Entry(NamedTuple):
    """An item on its way: where it was written, and the awarenessPolicy that held there.

    ``parts`` are what a rewritten Requested, Delivered or Environment holds; None is as it was.
    """

    item: Item
    source: str
    policy: str
    over: tuple[Written, ...] = ()
    parts: tuple[_Entry, ...] | None = None

    def written(self) -> Written:
        text = self.item.text.strip() if isinstance(self.item, Property) else ""
        return Written(self.source, text, _line(self.item))


_Key: TypeAlias = tuple[str, ...]


@dataclass(slots=True)
class _Layer:
    """What one block gives: entries, and the defaults for what it holds."""

    block: Block
    path: str
    policy: str
    entries: list[_Entry]
    below: _Layer | None = None
    # The conjuncts of its Requested elements, once they were asked for as defaults.
    read_once: bool = False
    conjuncts: tuple[Expression, ...] | None = None

    def plain(self) -> list[_Entry]:
        """The entries of uncategorised properties."""
        return [entry for entry in self.entries if isinstance(entry.item, Property)]

    def named(self, name: str) -> list[_Entry]:
        return [entry for entry in self.entries if _name(entry.item) == name]

    def requested(self) -> list[_Entry]:
        """The entries of the properties in all Requested elements."""
        return [part for entry in self.named("Requested") for part in _parts(entry)]

    def put(self, old: list[_Entry], new: _Entry) -> None:
        """Let one entry stand for others, at the place of the first, or at the end."""
        gone = {id(entry) for entry in old}
        places = [index for index, entry in enumerate(self.entries) if id(entry) in gone]
        for index in reversed(places[1:]):
            del self.entries[index]
        first = places[0] if places else len(self.entries)
        self.entries[first : first + 1] = [new]


@dataclass(slots=True)
class _Resolver:
    """One run over a document: collects findings, and tells origins to whom it may concern."""

    env: Env
    tell: Callable[[Origin], None] | None = None
    findings: list[Finding] = field(default_factory=list)

    def block(self, block: Block) -> Block:
        """A block that stands at the root of a document."""
        if block.name in spec.DEFAULTS.values():
            return block
        return self.effective(block, None, OWN, "Reject", f"/{block.name}")

    def effective(
        self, block: Block, default: _Layer | None, source: str, outer: str, path: str
    ) -> Block:
        """A block over its defaults, and everything below it."""
        if default is None and self.tell is None and not _has_defaults(block):
            return block
        own = self.read(block, source, outer, path)
        layer = self.merge(own, default)
        held, _ = HOLDS.get(block.name, ("", ""))
        if own.below and source == OWN and not _holds(layer, held):
            self.findings.append(_useless(own.below, held))
        items: list[Item] = []
        for entry, at in _numbered(layer.entries, path):
            item = _placed(entry, layer.policy)
            if isinstance(item, Block) and item.name == held:
                item = self.effective(item, layer.below, entry.source, layer.policy, at)
            elif self.tell is not None:
                self.explain(entry, at)
            items.append(item)
        return block.holding(items)

    def explain(self, entry: _Entry, path: str) -> None:
        """Tell where a property is from, or each property in a category or an Environment."""
        if parts := _parts(entry):
            for part, at in _numbered(parts, path):
                self.explain(part, at)
        elif self.tell is not None and isinstance(entry.item, Property):
            source, value, line = entry.written()
            self.tell(Origin(path, value, source, line, entry.over))

    # Reading

    def read(self, block: Block, source: str, outer: str, path: str) -> _Layer:
        """The entries of a block, with its defaults element set apart."""
        policy = _policy(block.attributes, outer)
        layer = _Layer(block, path, policy, [])
        held = HOLDS.get(block.name, ("", ""))[1]
        for item in block.items:
            if isinstance(item, Block) and item.name == held:
                if layer.below is None:
                    inside = item.name if source == OWN else f"{source}/{item.name}"
                    layer.below = self.read_defaults(item, inside, policy, f"{path}/{item.name}")
            else:
                layer.entries.append(_entry(item, source, policy))
        return layer

    def read_defaults(self, block: Block, source: str, outer: str, path: str) -> _Layer:
        """The entries of a defaults element that can be inherited; says what is odd in it."""
        layer = self.read(block, source, outer, path)
        for entry in layer.entries:
            self.findings.extend(_oddities(entry.item, block.name, path))
        layer.entries = [
            entry
            for entry in layer.entries
            if not isinstance(entry.item, Note) and entry.item.name not in IDENTITY
        ]
        return layer

    # Merging

    def merge(self, child: _Layer, default: _Layer | None) -> _Layer:
        """The child over its defaults: its own items first, then what it inherits."""
        if default is None:
            return child
        below = child.below or default.below
        if child.below and default.below:
            below = self.merge(child.below, default.below)
        merged = _Layer(child.block, child.path, child.policy, list(child.entries), below)
        overridden: _Overridden = {}
        self.properties(child, default, merged, overridden)
        self.requested(child, default, merged, overridden)
        for kind in ("Delivered", "Environment"):
            ours, theirs = child.named(kind), default.named(kind)
            if not ours:
                merged.entries += theirs
            elif theirs and kind == "Delivered":
                merged.put(ours[:1], _delivered(ours, theirs))
            elif theirs and self.env == "merge":
                merged.put(ours[:1], _environment(ours[0], theirs[0]))
        if self.tell is not None:
            merged.entries = [_overriding(entry, overridden) for entry in merged.entries]
        return merged

    def properties(
        self, child: _Layer, default: _Layer, merged: _Layer, overridden: _Overridden
    ) -> None:
        """Inherit the properties that the child has neither uncategorised nor in Requested."""
        mine = {_key(entry.item) for entry in (*child.plain(), *child.requested())}
        names = {_name(entry.item) for entry in child.entries}
        for entry in default.entries:
            name, key = _name(entry.item), _key(entry.item)
            if name in _JOINED:
                continue
            if name in names if name in LISTS else key in mine:
                overridden[key] = (*overridden.get(key, ()), entry.written())
            elif _on_itself(entry.item, child, default):
                self.findings.append(_self_dependency(entry, child))
            else:
                merged.entries.append(entry)

    def requested(
        self, child: _Layer, default: _Layer, merged: _Layer, overridden: _Overridden
    ) -> None:
        """The child's expression And each default conjunct on nothing that the child mentions."""
        ours, theirs = child.named("Requested"), default.named("Requested")
        if not theirs:
            return
        inherited = self.conjuncts(default, "default")
        if inherited is None:
            merged.entries += () if ours else theirs
            return
        asked = [*child.plain(), *child.requested()]
        mine = {expression.key(e.item): e for e in asked if isinstance(e.item, Property)}
        kept = [each for each in inherited if not expression.mentions(each) & mine.keys()]
        sources = {**_marks("default", default), **_marks("own", child)}
        for conjunct in inherited:
            over = tuple(
                sources[_mark(each.item)].written() for each in expression.comparisons(conjunct)
            )
            for name in expression.mentions(conjunct) & mine.keys():
                key = _key(mine[name].item)
                overridden[key] = (*overridden.get(key, ()), *over)
        if len(kept) == len(inherited) and not ours:
            merged.entries += theirs
        elif kept and (own := self.conjuncts(child, "own")) is not None:
            written = expression.write(expression.all_of((*own, *kept)))
            if expression.scope_matters(written):
                self.findings.append(_scope_finding(child))
            notes = [note for entry in ours for note in _notes(entry)]
            parts = (*notes, *(_unmarked(item, sources) for item in written))
            merged.put(ours, (ours or theirs)[0]._replace(parts=parts))

    def conjuncts(self, layer: _Layer, role: str) -> tuple[Expression, ...] | None:
        """The conjuncts of all Requested blocks of a layer, marked; None if one is unreadable."""
        if role == "default" and layer.read_once:
            return layer.conjuncts
        layer.read_once = True
        conjuncts: list[Expression] = []
        counted = 0
        for entry in layer.named("Requested"):
            items = [part.item for part in _parts(entry) if isinstance(part.item, Property)]
            marked = [
                item.having(**{_MARK: f"{role} {counted + index}"})
                for index, item in enumerate(items)
            ]
            counted += len(items)
            try:
                conjuncts += expression.conjuncts(expression.parse(marked))
            except (UnbalancedGroup, InvalidValue, LimitExceeded) as error:
                self.findings.append(_unreadable(error, items, entry, layer.path))
                return None
        layer.conjuncts = tuple(conjuncts)
        return layer.conjuncts


_Overridden: TypeAlias = dict[_Key, tuple[Written, ...]]
_JOINED = ("Requested", "Delivered", "Environment")

# While a Requested element is rewritten, an attribute carries each property's place in its layer;
# no attribute that was read has an empty name.
_MARK = ""


def _marks(role: str, layer: _Layer) -> dict[str, _Entry]:
    return {f"{role} {index}": entry for index, entry in enumerate(layer.requested())}


def _mark(item: Property) -> str:
    return item.attributes[_MARK]


def _unmarked(item: Property, sources: Mapping[str, _Entry]) -> _Entry:
    return sources[_mark(item)]._replace(item=item.having(**{_MARK: None}))


def _unreadable(
    error: UnbalancedGroup | InvalidValue | LimitExceeded,
    items: list[Property],
    entry: _Entry,
    path: str,
) -> Finding:
    code = {UnbalancedGroup: "E-GROUP", InvalidValue: "E-TYPE", LimitExceeded: "E-LIMIT"}
    line = items[error.index].line if isinstance(error, UnbalancedGroup) else _line(entry.item)
    return finding(
        code[type(error)], f"the Requested element is not merged: {error}", line=line,
        path=f"{path}/Requested", section="SSS 8.1",
    )  # fmt: skip


def _scope_finding(layer: _Layer) -> Finding:
    return finding(
        "W-NOT-SCOPE",
        "a group of nothing but negated Match terms, which some readers negate in part only",
        line=layer.block.line, path=f"{layer.path}/Requested", section="SSS 8.1",
    )  # fmt: skip


def _oddities(item: Item, name: str, path: str) -> Iterator[Finding]:
    """What a defaults element holds that gives nothing to others, or the same to all."""
    if isinstance(item, Note):
        return
    held, _ = HOLDS.get(name, ("", ""))
    if item.name in IDENTITY:
        code, message = "W-USELESS", f"{item.name} is never inherited from {name}"
    elif item.name == held:
        code, message = "W-TEMPLATE", f"{held} in {name} is copied where there is none"
    elif item.name == "Name":
        code, message = "W-TEMPLATE", f"Name in {name} gives all the same name"
    else:
        return
    section = spec.CONTAINER[name].section
    yield finding(code, message, line=item.line, path=f"{path}/{item.name}", section=section)


def _useless(layer: _Layer, held: str) -> Finding:
    name = layer.block.name
    return finding(
        "W-USELESS", f"{name} has no {held} to apply to", line=layer.block.line, path=layer.path,
        section=spec.CONTAINER[name].section,
    )  # fmt: skip


def _self_dependency(entry: _Entry, child: _Layer) -> Finding:
    return finding(
        "W-USELESS", f"the dependency on {entry.written().value!r} from {entry.source} is not "
        "inherited by that job itself", line=child.block.line, path=child.path,
        section="SSS 5.1 Dependency", severity=Severity.NOTICE,
    )  # fmt: skip


def _on_itself(item: Item, child: _Layer, default: _Layer) -> bool:
    """Whether a default is a dependency that would make a job wait for itself."""
    if _name(item) != "Dependency" or not isinstance(item, Property):
        return False
    if item.attributes.get("designator", "JobId") == "JobName":
        return item.text.strip() == (child.block.get("Name") or default.block.get("Name"))
    return item.text.strip() == child.block.id


def _delivered(ours: list[_Entry], theirs: list[_Entry]) -> _Entry:
    """The first Delivered, and with it the defaults that differ in property, metric or context."""
    mine = {_delivered_key(part.item) for entry in ours for part in _parts(entry)}
    inherited = [
        part
        for entry in theirs
        for part in _without([(part, _delivered_key(part.item) in mine) for part in _parts(entry)])
    ]
    own = ours[0]
    return own._replace(parts=(*_all_parts(own), *inherited)) if inherited else own


def _environment(own: _Entry, default: _Entry) -> _Entry:
    """One Environment over another, variable by variable."""
    theirs = {_key(part.item): part for part in _parts(default)}
    parts = []
    for part in _all_parts(own):
        over = theirs.pop(_key(part.item), None)
        parts.append(part._replace(over=(*part.over, over.written())) if over else part)
    export = _attributes(default.item).get("export")
    if isinstance(own.item, Property) and export and "export" not in own.item.attributes:
        own = own._replace(item=own.item.having(export=export))
    return own._replace(parts=(*parts, *theirs.values()))


def _overriding(entry: _Entry, overridden: _Overridden) -> _Entry:
    """The entry with what it overrode; only the first of its key says so."""
    if _name(entry.item) == "Requested":
        return entry._replace(
            parts=tuple(_overriding(part, overridden) for part in _all_parts(entry))
        )
    if not isinstance(entry.item, Property) or _name(entry.item) in _JOINED:
        return entry
    return entry._replace(over=(*entry.over, *overridden.pop(_key(entry.item), ())))


def _without(parts: Iterable[tuple[_Entry, bool]]) -> list[_Entry]:
    """The parts that are not dropped; a group that a dropped one opens or closes passes on."""
    kept: list[_Entry] = []
    opening = 0
    for part, dropped in parts:
        group = _group(part)
        if not dropped:
            kept.append(_grouped(part, group + opening))
            opening = 0
            continue
        opening += group
        if opening < 0 and kept:
            kept[-1] = _grouped(kept[-1], _group(kept[-1]) + opening)
            opening = 0
    return kept


def _group(entry: _Entry) -> int:
    try:
        return units.integer(_attributes(entry.item).get("group", "0"))
    except InvalidValue:
        return 0


def _grouped(entry: _Entry, group: int) -> _Entry:
    if group == _group(entry) or not isinstance(entry.item, Property):
        return entry
    return entry._replace(item=entry.item.having(group=str(group) if group else None))


# Items and their places


def _name(item: Item) -> str:
    return "" if isinstance(item, Note) else item.name


def _line(item: Item) -> int:
    return 0 if isinstance(item, Note) else item.line


def _attributes(item: Item) -> Mapping[str, str]:
    return {} if isinstance(item, Note) else item.attributes


def _key(item: Item) -> _Key:
    """What makes two properties the same one."""
    name, attributes = _name(item), _attributes(item)
    return (name, *(attributes.get(each, "").strip() for each in KEYS.get(name, ())))


def _delivered_key(item: Item) -> _Key:
    return (*_key(item), *(_attributes(item).get(each, "") for each in ("metric", "context")))


def _policy(attributes: Mapping[str, str], outer: str) -> str:
    """The policy of an element; one that is not understood is always Reject."""
    policy = attributes.get("awarenessPolicy", outer)
    return policy if policy in POLICIES else "Reject"


def _entry(item: Item, source: str, outer: str) -> _Entry:
    return _Entry(item, source, _policy(_attributes(item), outer))


def _all_parts(entry: _Entry) -> tuple[_Entry, ...]:
    """What a category or an Environment holds, notes included; nothing for other items."""
    if entry.parts is not None or isinstance(entry.item, Note):
        return entry.parts or ()
    inside: tuple[Item, ...] = ()
    if _name(entry.item) in _JOINED:
        inside = entry.item.items if isinstance(entry.item, Block) else entry.item.children
    return tuple(_entry(item, entry.source, entry.policy) for item in inside)


def _parts(entry: _Entry) -> list[_Entry]:
    return [part for part in _all_parts(entry) if not isinstance(part.item, Note)]


def _notes(entry: _Entry) -> list[_Entry]:
    return [part for part in _all_parts(entry) if isinstance(part.item, Note)]


def _placed(entry: _Entry, outer: str) -> Item:
    """The item for its new place, where it keeps the policy that held where it was written."""
    item = entry.item
    if isinstance(item, Note):
        return item
    if "awarenessPolicy" not in item.attributes and entry.policy != outer:
        if isinstance(item, Block):
            item = replace(item, attributes={**item.attributes, "awarenessPolicy": entry.policy})
        else:
            item = item.having(awarenessPolicy=entry.policy)
    if entry.parts is None:
        return item
    parts = tuple(_placed(part, entry.policy) for part in entry.parts)
    if isinstance(item, Block):
        return item.holding(parts)
    inside = tuple(part for part in parts if not isinstance(part, Block))
    return Property(item.name, item.text, item.attributes, inside, item.namespace, item.line)


def _numbered(entries: Sequence[_Entry], path: str) -> Iterator[tuple[_Entry, str]]:
    """Each entry with its path; those that share a name are counted."""
    counts = Counter(_name(entry.item) for entry in entries)
    seen: Counter[str] = Counter()
    for entry in entries:
        name = _name(entry.item)
        seen[name] += 1
        yield entry, f"{path}/{name}[{seen[name]}]" if counts[name] > 1 else f"{path}/{name}"


def _holds(layer: _Layer, held: str) -> bool:
    return any(isinstance(entry.item, Block) for entry in layer.named(held))


def _has_defaults(block: Block) -> bool:
    """Whether there is a defaults element in the block or in what it holds."""
    return any(
        isinstance(item, Block)
        and (item.name in spec.DEFAULTS.values() or (item.name in HOLDS and _has_defaults(item)))
        for item in block.items
    )
