"""A task group with what it asks, of which things can be left out one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from sssjob import expression
from sssjob.check.awareness import Item, UnknownKind, judge, said
from sssjob.check.vocabulary import FULL, AwarenessPolicy
from sssjob.errors import Finding, InvalidValue, LimitExceeded, Severity, finding
from sssjob.expression import Comparison, Expression
from sssjob.expression.evaluate import Request
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
    """A task group, the operands of its request, and the amounts that its tasks have together."""

    path: str
    block: Block
    parts: tuple[Expression, ...]
    whole: frozenset[str]

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
            names = sorted(expression.mentions(part))
            where = f"/{names[0]}" if len(names) == 1 else ""
            yield Thing(f"{self.path}/Requested{where}", str(part), part)

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
    if not block.blocks(Requested):
        # Counts are read where they stand; asked for as well, they would be left out in vain.
        parts = tuple(part for part in parts if not _is_count(part))
    own = block.properties.get("Node")
    if own is not None and not any("Node" in expression.mentions(part) for part in parts):
        parts = (*parts, Comparison(own.having(op=None)))
    faults = list(Request(expression.all_of(parts), match).faults())
    block = block.holding(item for item in block.items if item is not own)
    if faults:
        wrong = [replace(each, path=f"{path}/Requested/{each.path}") for each in faults]
        return None, [*findings, *wrong]
    return Demand(path, block, parts, _whole(unit, parts)), findings


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


def _is_count(part: Expression) -> bool:
    return (
        isinstance(part, Comparison)
        and part.item.name in _COUNTS
        and part.item.attributes.keys() <= {_POLICY}
    )


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
