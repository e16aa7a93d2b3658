"""A task group with what it asks, of which things can be left out one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from sssjob import expression
from sssjob.check.awareness import Item, UnknownKind, judge, said
from sssjob.check.vocabulary import FULL, AwarenessPolicy
from sssjob.errors import Finding, InvalidValue, LimitExceeded, Severity, finding
from sssjob.expression import Comparison, Expression
from sssjob.expression.evaluate import Request
from sssjob.expression.offer import without_set_aside
from sssjob.expression.pattern import Matching
from sssjob.expression.requests import asked as requested
from sssjob.layout import Unit
from sssjob.layout.plan import ROUND_ROBIN
from sssjob.model import Block, Job, Property, Requested, Task, TaskGroup
from sssjob.placement.requests import AskedGroup, asked, too_many

_COUNTS = ("TaskCount", "NodeCount", "Processors", "TaskDistribution")
_POLICY = "awarenessPolicy"


class Thing(NamedTuple):
    """What can be left out: an operand of the request, a count, or all that Task elements say."""

    path: str
    text: str
    what: Expression | Property | type[Task]


@dataclass(frozen=True, slots=True)
class Demand:
    """A task group, the operands of its request, and the amounts that its tasks have together.

    ``places`` are where the properties stand that are asked for, by identity.
    """

    path: str
    block: Block
    parts: tuple[Expression, ...]
    whole: frozenset[str]
    places: Mapping[int, str]

    def asked(self) -> AskedGroup:
        """The ways to count it; what cannot be read is a finding, and then there are none."""
        try:
            found = asked(self.block, self.path, expression.all_of(self.parts), whole=self.whole)
        except (InvalidValue, LimitExceeded) as error:
            code = "E-LIMIT" if isinstance(error, LimitExceeded) else "E-TYPE"
            wrong = finding(
                code, str(error), path=self.path, line=self.block.line, section="SSS 5.1"
            )
            return AskedGroup((), (wrong,))
        ways = tuple(way for way in found.ways if too_many(way, self.path) is None)
        if ways or not found.ways:
            return replace(found, ways=ways)
        limits = filter(None, (too_many(way, self.path) for way in found.ways))
        return replace(found, ways=(), findings=(*found.findings, *dict.fromkeys(limits)))

    def things(self) -> Iterator[Thing]:
        """Everything that can be left out, counts first."""
        for name in _COUNTS:
            for item in self.block.properties.all(name):
                yield Thing(f"{self.path}/{name}", f"{name} {item.text.strip()}", item)
        if tasks := self.block.blocks(Task):
            yield Thing(f"{self.path}/Task", f"nodes of {len(tasks)} Task elements", Task)
        for part in self.parts:
            places = {self.places[id(found.item)] for found in expression.comparisons(part)}
            where = places.pop() if len(places) == 1 else f"{self.path}/Requested"
            yield Thing(where, str(part), part)

    def without(self, *things: Thing) -> Demand:
        """What is left without these."""
        left_out = {id(thing.what) for thing in things}
        items = tuple(
            each
            for each in self.block.items
            if id(Task if isinstance(each, Task) else each) not in left_out
        )
        parts = tuple(part for part in self.parts if id(part) not in left_out)
        return replace(self, block=self.block.holding(items), parts=parts)

    def alone(self, part: Expression) -> Demand:
        """One task that asks for nothing else."""
        return replace(self, block=TaskGroup(()), parts=(part,))


def demand(
    unit: Unit, around: AwarenessPolicy, match: Matching
) -> tuple[Demand | None, list[Finding]]:
    """What a task group asks, of which only what is understood is left, and what to say of it.

    ``around`` is the awarenessPolicy that holds around it.
    """
    block, path = unit.block, unit.path
    parts, found = requested(block, path)
    policy = FULL.policy(block.attributes.get(_POLICY), around)
    findings = [*found, *_rule(block, path, policy)]
    if parts is None or any(each.severity is Severity.ERROR for each in findings):
        return None, findings
    # Counts are read where they stand; asked for as well, they would be left out in vain.
    own = {id(item) for item in block.properties if item.name in _COUNTS}
    parts = tuple(
        part for part in parts if not (isinstance(part, Comparison) and id(part.item) in own)
    )
    faults = list(Request(expression.all_of(parts), match).faults())
    block = block.holding(
        item for item in without_set_aside(block).items
        if not (isinstance(item, Property) and item.name == "Node")
    )  # fmt: skip
    if faults:
        wrong = [replace(each, path=f"{path}/Requested/{each.path}") for each in faults]
        return None, [*findings, *wrong]
    return Demand(path, block, parts, _whole(unit, parts), _places(unit, parts)), findings


def _rule(block: Block, path: str, policy: AwarenessPolicy) -> Iterator[Finding]:
    """What to say of a rule by which nobody here can place tasks (9.0)."""
    item = block.properties.get("TaskDistribution")
    if item is None or item.attributes.get("type", "").strip() not in ("", "Rule"):
        return
    text = item.text.strip()
    if text in ("", ROUND_ROBIN) or text[:1] == "{" or text.lstrip("+").isdecimal():
        return
    here = FULL.policy(item.attributes.get(_POLICY), policy)
    unknown = Item(f"{path}/{item.name}", item.line, UnknownKind.VALUE, item.name, text, here)
    yield from said(judge([unknown]))


def _places(unit: Unit, parts: tuple[Expression, ...]) -> dict[int, str]:
    """Where what is asked for stands: in the task group, or in its job, which lends to it."""
    paths: dict[tuple[str, str, int], str] = {}
    blocks = [(unit.path, unit.block)]
    if unit.job is not None:
        blocks.append((unit.path.rpartition("/")[0], unit.job))
    for path, block in blocks:  # what the job says is there, and is lent to the group as it is
        for place, items in (("/Requested", block.requested), ("", block.properties)):
            for item in items:
                paths[_known_by(item)] = f"{path}{place}/{item.name}"
    every = (found.item for part in parts for found in expression.comparisons(part))
    return {
        id(item): paths.get(_known_by(item), f"{unit.path}/Requested/{item.name}") for item in every
    }


def _known_by(item: Property) -> tuple[str, str, int]:
    return expression.key(item), item.text, item.line


def _whole(unit: Unit, parts: tuple[Expression, ...]) -> frozenset[str]:
    """The amounts that are of the whole job (decision 186): those that the job itself states."""
    if unit.job is None:
        return frozenset(expression.key(found.item) for part in parts
                         for found in expression.comparisons(part))  # fmt: skip
    assert isinstance(unit.job, Job)
    if len(unit.job.asking_groups) > 1:  # only a single one takes over what its job states
        return frozenset()
    own = [item for block in unit.job.blocks(Requested) for item in block.properties]
    own += [item for item in unit.job.items if isinstance(item, Property)]
    return frozenset(
        expression.key(item)
        for part in parts
        for item in (found.item for found in expression.comparisons(part))
        if any(item == each and item.line == each.line for each in own)
    )
