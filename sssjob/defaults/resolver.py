"""One block over its defaults, from the root down.

Strategy. JobDefaults, TaskGroupDefaults and TaskDefaults may stand at every level, those of a
level lend to those below, and Requested is an expression, of which single properties cannot
simply be replaced.

The idea is that one function merges a layer with the layer of its defaults, and defaults elements
are layers too: those of a block are merged over those that it inherits before they are used for
what it holds. Properties are inherited if the child has none of the same key, in Requested or
outside of it. Requested is taken apart into conjuncts; a default conjunct is added with And if it
mentions no key that the child states, and is left out as a whole if it does. Each entry keeps its
source, which is what ``--explain`` prints.

Why it is right: a conjunct is the smallest part that can be left out without changing what the
others mean, so that the child's expression holds as it was written. Where a Requested cannot be
read as an expression nothing is mixed: it stands beside the other as it was written, so that
whoever reads the job meets it. The same holds for operations and conjunctions that nobody knows:
awarenessPolicy decides about them, after this. A document without defaults elements comes back as
it is.

n defaults and n jobs make n times n inherited properties. What defaults say is worked out once,
whoever goes over them, and how many elements are inherited is bounded by the size of the document.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, TypeAlias

from sssjob import expression, spec
from sssjob.defaults import notices
from sssjob.defaults.entries import (
    HOLDS,
    IDENTITY,
    JOINED,
    LISTS,
    OWN,
    Conjuncts,
    Key,
    Layer,
    Origin,
    Overridden,
    SourcedItem,
    all_parts,
    attributes_of,
    delivered_key,
    entry_of,
    group_of,
    grouped,
    key_of,
    name_of,
    notes_of,
    numbered,
    parts_of,
    placed,
)
from sssjob.errors import (
    AwarenessPolicy,
    Finding,
    InheritedTooMuch,
    InvalidValue,
    LimitExceeded,
    UnbalancedGroup,
)
from sssjob.expression import Expression
from sssjob.model import MARK, Block, Item, Note, Property, marked

# How many elements may be inherited in a document: for each element of it, and in any case.
LENT_FOR_EACH, LENT = 50, 20_000
_INHERITED = "elements that jobs inherit from what is said for all of them"

Env: TypeAlias = Literal["merge", "replace"]


@dataclass(slots=True)
class Resolver:
    """One run over a document: collects findings, and tells origins to whom it may concern."""

    env: Env
    tell: Callable[[Origin], None] | None = None
    # Whether what is said as a wish alone takes the place of a default, as of any other (1.6).
    wishes_count: bool = True
    findings: list[Finding] = field(default_factory=list)
    lent: int = 0  # how many elements were inherited
    most: int = LENT
    line: int = 0  # in which the block begins
    # Items of defaults, each kept with what it is in another place.
    shared: dict[tuple[int, str, str], tuple[Item, Item]] = field(default_factory=dict)

    def block(self, block: Block) -> Block:
        """A block that stands at the root of a document. Raises ``LimitExceeded``."""
        if block.name in spec.DEFAULTS.values():
            return block
        self.most, self.line = _most(block), block.line
        return self.effective(block, None, OWN, AwarenessPolicy.REJECT, f"/{block.name}")

    def effective(
        self, block: Block, default: Layer | None, source: str, outer: AwarenessPolicy, path: str
    ) -> Block:
        """A block over its defaults, and everything below it."""
        if default is None and self.tell is None and not _has_defaults(block):
            return block
        own = self.read(block, source, outer, path)
        layer = self.merge(own, default)
        held, _ = HOLDS.get(block.name, ("", ""))
        if own.below and source == OWN and not _holds(layer, held):
            self.findings.append(notices.useless(own.below, held))
        if layer.below is not None:
            among = sum(
                isinstance(each.item, Block) and each.item.name == held for each in layer.entries
            )
            self.allow(among * layer.below.lent().size)
        items: list[Item] = []
        if self.tell is None and not _holds(layer, held):
            return block.holding([self.placed(entry, layer.policy) for entry in layer.entries])
        for entry, at in numbered(layer.entries, path):
            item = self.placed(entry, layer.policy)
            if isinstance(item, Block) and item.name == held:
                item = self.effective(item, layer.below, entry.source, layer.policy, at)
            elif self.tell is not None:
                self.explain(entry, at)
            items.append(item)
        return block.holding(items)

    def placed(self, entry: SourcedItem, outer: AwarenessPolicy) -> Item:
        """An item for its new place: that of defaults is made once for all that have it."""
        if entry.policy == outer and entry.parts is None:
            return entry.item
        if entry.source == OWN or entry.parts is not None:
            return placed(entry, outer)
        key = id(entry.item), entry.policy, outer
        if key not in self.shared:
            self.shared[key] = entry.item, placed(entry, outer)
        return self.shared[key][1]

    def charge(self, size: int) -> None:
        """Count what is inherited. Raises ``LimitExceeded`` for what multiplies the document."""
        self.allow(size)
        self.lent += size

    def allow(self, size: int) -> None:
        """Raise ``LimitExceeded`` where so much more is too much, before any of it is made."""
        if self.lent + size > self.most:
            raise InheritedTooMuch(_INHERITED, self.most, self.line)

    def explain(self, entry: SourcedItem, path: str) -> None:
        """Tell where a property is from, or each property in a category or an Environment."""
        if parts := parts_of(entry):
            for part, at in numbered(parts, path):
                self.explain(part, at)
        elif self.tell is not None and isinstance(entry.item, Property):
            source, value, line = entry.written()
            self.tell(Origin(path, value, source, line, entry.over))

    # Reading

    def read(self, block: Block, source: str, outer: AwarenessPolicy, path: str) -> Layer:
        """The entries of a block, with its defaults element set apart."""
        policy = AwarenessPolicy.at(block.attributes, outer)
        layer = Layer(block, path, policy, [])
        held = HOLDS.get(block.name, ("", ""))[1]
        for item in block.items:
            if isinstance(item, Block) and item.name == held:
                if layer.below is None:
                    inside = item.name if source == OWN else f"{source}/{item.name}"
                    layer.below = self.read_defaults(item, inside, policy, f"{path}/{item.name}")
            else:
                layer.entries.append(entry_of(item, source, policy))
        return layer

    def read_defaults(self, block: Block, source: str, outer: AwarenessPolicy, path: str) -> Layer:
        """The entries of a defaults element that can be inherited; says what is odd in it."""
        layer = self.read(block, source, outer, path)
        for entry in layer.entries:
            self.findings.extend(notices.oddities(entry.item, block.name, path))
        layer.entries = [
            entry
            for entry in layer.entries
            if not isinstance(entry.item, Note) and entry.item.name not in IDENTITY
        ]
        return layer

    # Merging

    def merge(self, child: Layer, default: Layer | None) -> Layer:
        """The child over its defaults: its own items first, then what it inherits."""
        if default is None:
            return child
        self.charge(default.lent().size)
        below = child.below or default.below
        if child.below and default.below:
            below = self.merge(child.below, default.below)
        merged = Layer(child.block, child.path, child.policy, list(child.entries), below)
        overridden: Overridden = {}
        self.properties(child, default, merged, overridden)
        self.requested(child, default, merged, overridden)
        for kind in ("Delivered", "Environment"):
            ours, theirs = child.named(kind), default.lent().joined[kind]
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
        self, child: Layer, default: Layer, merged: Layer, overridden: Overridden
    ) -> None:
        """Inherit the properties that the child has neither uncategorised nor in Requested."""
        mine = {key_of(entry.item) for entry in self.said(child)}
        names = {name_of(entry.item) for entry in child.entries}
        called = child.block.id, child.block.get("Name") or default.block.get("Name")
        for name, key, entry in default.lent().properties:
            over = key if key in mine else None
            if name == "ResourceLimit":
                over = _overriding_key(key, mine)
            if name in names if name in LISTS else over is not None:
                overridden[over or key] = (*overridden.get(over or key, ()), entry.written())
            elif name == "Dependency" and _on_itself(entry.item, called):
                self.findings.append(notices.self_dependency(entry, child))
            else:
                merged.entries.append(entry)

    def said(self, child: Layer) -> list[SourcedItem]:
        """The entries of properties that take the place of defaults."""
        asked = child.requested()
        if not self.wishes_count:
            asked = [
                each for each in asked
                if not (isinstance(each.item, Property) and expression.is_wish(each.item))
            ]  # fmt: skip
        return [*child.plain(), *asked]

    def requested(
        self, child: Layer, default: Layer, merged: Layer, overridden: Overridden
    ) -> None:
        """The child's expression And each default conjunct on nothing that the child mentions."""
        ours, theirs = child.named("Requested"), default.lent().joined["Requested"]
        if not theirs:
            return
        inherited = self.conjuncts(default, "default")
        if inherited is None:
            merged.entries += theirs
            return
        mine = {expression.key(e.item): e for e in self.said(child) if isinstance(e.item, Property)}
        if self.tell is None and not ours and default.mentioned.isdisjoint(mine):
            merged.entries += theirs  # as most are
            return
        kept = [
            tuple(each for each in block if not expression.mentions(each) & mine.keys())
            for block in inherited
        ]
        sources = {**_marks("default", default), **_marks("own", child)}
        for conjunct in chain.from_iterable(inherited) if self.tell is not None else ():
            over = tuple(
                sources[_mark(each.item)].written() for each in expression.comparisons(conjunct)
            )
            for name in expression.mentions(conjunct) & mine.keys():
                key = key_of(mine[name].item)
                overridden[key] = (*overridden.get(key, ()), *over)
        if tuple(kept) == inherited and not ours:
            merged.entries += theirs
        elif any(kept):
            odd = any(_has_unknown_words(entry) for entry in (*ours, *theirs))
            own = None if odd else self.conjuncts(child, "own")
            if own is not None and not any(expression.are_apart((*own, *kept))):
                joined = chain.from_iterable((*own, *kept))
                entry = self.rewritten(child, ours, (ours or theirs)[0], joined, sources)
                merged.put(ours, entry)
                return
            # Preferences count in their own Requested, and what cannot be read is left as it is.
            first = 0
            for entry, whole, block in zip(theirs, inherited, kept, strict=True):
                if whole == block:
                    merged.entries.append(entry)
                elif block:
                    merged.entries.append(self.left(child, entry, first, block, sources))
                first += len(_asked(entry))

    def rewritten(
        self, child: Layer, ours: Sequence[SourcedItem], entry: SourcedItem,
        asked: Iterable[Expression], sources: Mapping[str, SourcedItem],
    ) -> SourcedItem:  # fmt: skip
        """A Requested element that asks for all of these, with the notes of some."""
        written = expression.write(expression.all_of(asked))
        if expression.scope_matters(written):
            self.findings.append(notices.scope_matters(child))
        notes = [note for each in ours for note in notes_of(each)]
        return entry._replace(parts=(*notes, *(_unmarked(item, sources) for item in written)))

    def left(
        self, child: Layer, entry: SourcedItem, first: int, block: Conjuncts,
        sources: Mapping[str, SourcedItem],
    ) -> SourcedItem:  # fmt: skip
        """What is left of a default Requested element that stays by itself.

        ``first`` is the place of its first property in the layer.
        """
        if not _has_unknown_words(entry):
            return self.rewritten(child, [], entry, block, sources)
        wanted = {_mark(each.item) for part in block for each in expression.comparisons(part)}
        written = expression.keeping(
            _marked(entry, "default", first),
            lambda part: all(_mark(each.item) in wanted for each in expression.comparisons(part)),
        )
        return entry._replace(parts=tuple(_unmarked(item, sources) for item in written))

    def conjuncts(self, layer: Layer, role: str) -> tuple[Conjuncts, ...] | None:
        """The conjuncts of each Requested of a layer, marked; None if one is unreadable."""
        if role == "default" and layer.read_once:
            return layer.conjuncts
        layer.read_once = role == "default"
        conjuncts: list[Conjuncts] = []
        counted = 0
        for entry in layer.named("Requested"):
            items = _marked(entry, role, counted)
            counted += len(items)
            try:
                read = expression.parse(expression.as_known(items))
                conjuncts.append(expression.conjuncts(read))
            except (UnbalancedGroup, InvalidValue, LimitExceeded) as error:
                self.findings.append(notices.unreadable(error, items, entry, layer.path))
                return None
        layer.conjuncts = tuple(conjuncts)
        if layer.read_once:
            every = chain.from_iterable(conjuncts)
            layer.mentioned = frozenset(chain.from_iterable(map(expression.mentions, every)))
        return layer.conjuncts


# While a Requested element is rewritten, an attribute carries each property's place in its layer;
# no attribute that was read has an empty name.


def _asked(entry: SourcedItem) -> list[Property]:
    """The properties of a Requested element."""
    return [part.item for part in parts_of(entry) if isinstance(part.item, Property)]


def _has_unknown_words(entry: SourcedItem) -> bool:
    return expression.has_unknown_words(_asked(entry))


def _marked(entry: SourcedItem, role: str, first: int) -> list[Property]:
    asked = _asked(entry)
    return [marked(item, f"{role} {place}") for place, item in enumerate(asked, first)]


def _marks(role: str, layer: Layer) -> dict[str, SourcedItem]:
    return {f"{role} {index}": entry for index, entry in enumerate(layer.requested())}


def _mark(item: Property) -> str:
    return item.attributes[MARK]


def _unmarked(item: Property, sources: Mapping[str, SourcedItem]) -> SourcedItem:
    return sources[_mark(item)]._replace(item=item.having(**{MARK: None}))


def _overriding_key(key: Key, mine: Container[Key]) -> Key | None:
    """The key of the child's property that a default of this key yields to, if there is one.

    A ResourceLimit without type sets both limits, so it overrides both, and both override it.
    """
    if key in mine or key[0] != "ResourceLimit":
        return key if key in mine else None
    *limit, kind = key
    both, hard, soft = ((*limit, each) for each in ("", "Hard", "Soft"))
    if kind:
        return both if both in mine else None
    return hard if hard in mine and soft in mine else None


def _on_itself(item: Item, called: tuple[str, str]) -> bool:
    """Whether a dependency would make a job wait for itself, by its Id and its Name."""
    if not isinstance(item, Property):
        return False
    by_name = item.said("designator", "JobId") == "JobName"
    return item.text.strip() == called[by_name]


def _delivered(ours: list[SourcedItem], theirs: list[SourcedItem]) -> SourcedItem:
    """The first Delivered, and with it the defaults that differ in property, metric or context."""
    mine = {delivered_key(part.item) for entry in ours for part in parts_of(entry)}
    inherited = [
        part
        for entry in theirs
        for part in _without([(part, delivered_key(part.item) in mine) for part in parts_of(entry)])
    ]
    own = ours[0]
    return own._replace(parts=(*all_parts(own), *inherited)) if inherited else own


def _environment(own: SourcedItem, default: SourcedItem) -> SourcedItem:
    """One Environment over another, variable by variable."""
    theirs = {key_of(part.item): part for part in parts_of(default)}
    parts = []
    for part in all_parts(own):
        over = theirs.pop(key_of(part.item), None)
        parts.append(part._replace(over=(*part.over, over.written())) if over else part)
    export = attributes_of(default.item).get("export")
    if isinstance(own.item, Property) and export and "export" not in own.item.attributes:
        own = own._replace(item=own.item.having(export=export))
    return own._replace(parts=(*parts, *theirs.values()))


def _overriding(entry: SourcedItem, overridden: Overridden) -> SourcedItem:
    """The entry with what it overrode; only the first of its key says so."""
    if name_of(entry.item) == "Requested":
        return entry._replace(
            parts=tuple(_overriding(part, overridden) for part in all_parts(entry))
        )
    if not isinstance(entry.item, Property) or name_of(entry.item) in JOINED:
        return entry
    return entry._replace(over=(*entry.over, *overridden.pop(key_of(entry.item), ())))


def _without(parts: Iterable[tuple[SourcedItem, bool]]) -> list[SourcedItem]:
    """The parts that are not dropped; a group that a dropped one opens or closes passes on."""
    kept: list[SourcedItem] = []
    opening = 0
    for part, dropped in parts:
        group = group_of(part)
        if not dropped:
            kept.append(grouped(part, group + opening))
            opening = 0
            continue
        opening += group
        if opening < 0 and kept:
            kept[-1] = grouped(kept[-1], group_of(kept[-1]) + opening)
            opening = 0
    return kept


def _holds(layer: Layer, held: str) -> bool:
    return any(isinstance(entry.item, Block) and entry.item.name == held for entry in layer.entries)


def _most(block: Block) -> int:
    return max(LENT, LENT_FOR_EACH * _size(block))


def _size(block: Block) -> int:
    """How many elements a block holds, but for those in properties."""
    return sum(1 + (_size(item) if isinstance(item, Block) else 0) for item in block.items)


def _has_defaults(block: Block) -> bool:
    """Whether there is a defaults element in the block or in what it holds."""
    return any(
        isinstance(item, Block)
        and (item.name in spec.DEFAULTS.values() or (item.name in HOLDS and _has_defaults(item)))
        for item in block.items
    )
