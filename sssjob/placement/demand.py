"""A task group with what it asks, of which things can be left out one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from sssjob import expression
from sssjob.check.awareness import Item, UnknownKind, judge, said
from sssjob.check.vocabulary import FULL, AwarenessPolicy
from sssjob.errors import Finding, InvalidValue, LimitExceeded, Severity, finding
from sssjob.expression import Comparison, Expression, Wish
from sssjob.expression.conflicts import no_count
from sssjob.expression.evaluate import Request
from sssjob.expression.offer import AMOUNTS, without_set_aside
from sssjob.expression.pattern import Matching
from sssjob.expression.requests import asked as requested
from sssjob.layout import Unit, check_whole
from sssjob.layout.plan import ROUND_ROBIN
from sssjob.matching import AskedOfGroups, Asker, Parts, asked_of_groups
from sssjob.model import Block, Property, Task, TaskGroup
from sssjob.placement.requests import (
    OF_THE_JOB,
    AskedGroup,
    AskedOfNodes,
    asked,
    of_all_nodes,
    too_many,
)

_COUNTS = ("TaskCount", "NodeCount", "Processors", "TaskDistribution")
_POLICY = "awarenessPolicy"


class Thing(NamedTuple):
    """What can be left out: an operand of the request, a count, or all that Task elements say."""

    path: str
    text: str
    what: Expression | Property | type[Task]


PlacedThing: TypeAlias = tuple[int | None, Thing]  # of which group, or of its job


@dataclass(frozen=True, slots=True)
class Demand:
    """A task group, the operands of its request, and the amounts that its tasks have together.

    ``places`` are where the properties stand that are asked for, by identity. ``from_one``: ranges
    of counts with an upper end alone begin at one.
    """

    path: str
    block: Block
    parts: tuple[Expression, ...]
    whole: frozenset[str]
    places: Mapping[int, str]
    from_one: bool = False

    def asked(self) -> AskedGroup:
        """The ways to count it; what cannot be read is a finding, and then there are none."""
        try:
            found = asked(self.block, self.path, expression.all_of(self.parts), whole=self.whole,
                          from_one=self.from_one)  # fmt: skip
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
            yield _of_part(part, self.places, self.path)

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


@dataclass(frozen=True, slots=True)
class JobDemand:
    """A job with what it asks of all the nodes of its task groups together, and these.

    ``parts`` are of the job and of none of its groups. ``places`` are where the properties stand.
    """

    path: str
    groups: tuple[Demand, ...]
    parts: tuple[Expression, ...]
    places: Mapping[int, str]
    line: int = 0

    def asked(self) -> AskedOfNodes:
        """The ways to satisfy what the job asks; what cannot be is a finding."""
        return of_all_nodes(self.parts, self.path, self.line)

    def things(self) -> Iterator[PlacedThing]:
        """Everything that can be left out, of which group it is; None of the job itself."""
        for place, each in enumerate(self.groups):
            yield from ((place, thing) for thing in each.things())
        for part in self.parts:
            yield None, _of_part(part, self.places, self.path)

    def without(self, things: Iterable[PlacedThing]) -> JobDemand:
        """What is left without these."""
        left_out: dict[int | None, list[Thing]] = {}
        for place, thing in things:
            left_out.setdefault(place, []).append(thing)
        own = {id(thing.what) for thing in left_out.get(None, ())}
        return replace(
            self,
            groups=tuple(
                each.without(*left_out[place]) if place in left_out else each
                for place, each in enumerate(self.groups)
            ),
            parts=tuple(part for part in self.parts if id(part) not in own),
        )

    def from_one(self) -> JobDemand:
        """The same, where ranges of counts with an upper end alone begin at one."""
        return replace(self, groups=tuple(replace(each, from_one=True) for each in self.groups))

    def alone(self, part: Expression) -> Demand:
        """One task that asks for nothing but this, as if its job had no other."""
        whole = frozenset(expression.mentions(part))
        return Demand(self.path, TaskGroup(()), (part,), whole, self.places)


def _of_part(part: Expression, places: Mapping[int, str], path: str) -> Thing:
    found = {places[id(each.item)] for each in expression.comparisons(part)}
    return Thing(found.pop() if len(found) == 1 else f"{path}/Requested", str(part), part)


# decision 1023
def demanded(
    job: Asker, together: Sequence[Unit], every: Sequence[Unit], match: Matching
) -> tuple[JobDemand | None, list[Finding]]:
    """What a job asks, of which only what is understood is left, and what to say of it.

    What it requests is what offers are asked for by ``sssjob match``. ``together`` are the task
    groups that were chosen, of ``every`` that it has.
    """
    findings: list[Finding] = []

    def read(unit: Asker) -> Parts:
        parts, found = requested(unit.block, unit.path, job=unit.whole)
        findings.extend(found)
        return parts

    found = asked_of_groups(job, read, findings.extend)
    groups = {each.unit.path: each for each in found.groups}
    demands: list[Demand | None] = []
    for unit in together:
        asking = groups.get(unit.path)
        if asking is not None:
            one, parts, of_job = asking.unit, asking.parts, found.own if found.is_one else ()
        elif unit.job is None:
            one, parts, of_job = job, found.own, found.own
        else:  # a step of a job that ran
            one = Asker(unit.path, unit.block, job.around, job)
            parts, of_job = read(one), ()
        made, said = _demand(unit, one, parts, of_job or (), match)
        findings += said
        demands.append(made)
    own = _of_job(found, together, every, findings)
    findings += _faults(own, job.path, match) if own else ()
    if None in demands or any(each.severity is Severity.ERROR for each in findings):
        return None, findings
    able = tuple(each for each in demands if each is not None)
    return JobDemand(job.path, able, own, _places((job,), own), job.block.line), findings


def _of_job(
    found: AskedOfGroups, together: Sequence[Unit], every: Sequence[Unit], findings: list[Finding]
) -> tuple[Expression, ...]:
    """What a job asks of all its tasks, and what to say of its counts.

    Of amounts for all of them, some tasks alone take nobody knows how much.
    """
    job = found.unit
    parts = found.of_all or ()
    if parts and len(together) == len(every):
        findings += check_whole(job.block, every, job.path)
    elif parts:
        parts = tuple(part for part in parts if _mentioned(part).isdisjoint(AMOUNTS))
    useless = [part for part in parts if _counts_nodes(part)]
    for part in useless:
        item = next(expression.comparisons(part)).item
        findings.append(
            finding("W-USELESS", "NodeCount of a job counts for nothing beside several task groups",
                    path=job.where(item), line=item.line, section="SSS 5.1",
                    suggestion="say it in each task group")
        )  # fmt: skip
    return tuple(part for part in parts if part not in useless)


# decision 1182
def _counts_nodes(part: Expression) -> bool:
    """Whether a part has a number of nodes, but in alternatives alone that are left out."""
    if "NodeCount" not in (names := _mentioned(part)):
        return False
    if len(names) == 1:
        return True
    left = [one for one in expression.alternatives(part, OF_THE_JOB) if not no_count(one)]
    return any("NodeCount" in expression.mentions(expression.all_of(one.terms)) for one in left)


def _mentioned(part: Expression) -> set[str]:
    return {item.name for item in _items(part)}


def _items(part: Expression) -> Iterator[Property]:
    return (found.item for found in expression.comparisons(part))


def _demand(
    unit: Unit, asker: Asker, parts: Parts, of_job: Sequence[Expression], match: Matching
) -> tuple[Demand | None, list[Finding]]:
    """What a task group asks, of which only what is understood is left, and what to say of it."""
    block, path = unit.block, unit.path
    policy = FULL.policy(block.attributes.get(_POLICY), asker.around)
    findings = list(_rule(block, path, policy))
    if parts is None:
        return None, findings
    block = without_set_aside(block)
    # Counts are read where they stand; asked for as well, they would be left out in vain. Of those
    # that stand in Requested alike, that one counts and is left to it. Beside a wish it holds, too.
    wished = {item.name for part in parts if isinstance(part, Wish) for item in _items(part)}
    own = {
        _known_by(item)
        for item in block.properties
        if item.name in _COUNTS and item.name not in wished
    }
    parts = tuple(
        part for part in parts
        if not (isinstance(part, Comparison) and _known_by(part.item) in own)
    )  # fmt: skip
    findings += _faults(parts, path, match)
    block = block.holding(
        item for item in block.items
        if not (isinstance(item, Property) and item.name == "Node")
    )  # fmt: skip
    of_all = expression.identities(of_job)
    whole = frozenset(
        expression.key(found.item)
        for part in parts
        for found in expression.comparisons(part)
        if id(found.item) in of_all
    )  # decision 186: what the job itself states is of all its tasks
    places = _places([asker, *[asker.job] * (asker.job is not None)], parts)
    return Demand(path, block, parts, whole, places), findings


def _faults(parts: Sequence[Expression], path: str, match: Matching) -> Iterator[Finding]:
    for each in Request(expression.all_of(parts), match).faults():
        yield replace(each, path=f"{path}/Requested/{each.path}")


def _rule(block: Block, path: str, policy: AwarenessPolicy) -> Iterator[Finding]:
    """What to say of a rule by which nobody here can place tasks (9.0)."""
    item = block.properties.get("TaskDistribution")
    if item is None or item.said("type") not in ("", "Rule"):
        return
    text = item.text.strip()
    if text in ("", ROUND_ROBIN) or text[:1] == "{" or text.lstrip("+").isdecimal():
        return
    here = FULL.policy(item.attributes.get(_POLICY), policy)
    unknown = Item(f"{path}/{item.name}", item.line, UnknownKind.VALUE, item.name, text, here)
    yield from said(judge([unknown]))


def _places(askers: Iterable[Asker | None], parts: Sequence[Expression]) -> dict[int, str]:
    """Where what is asked for stands: in the task group, or in its job, which lends to it."""
    if not parts:
        return {}
    paths: dict[tuple[str, str, int], str] = {}
    every = (found.item for part in parts for found in expression.comparisons(part))
    last = ""
    for asker in filter(None, askers):
        last = last or asker.path
        block = asker.block
        for place, items in (("/Requested", block.requested), ("", block.properties)):
            for item in items:
                paths[_known_by(item)] = f"{asker.path}{place}/{item.name}"
    return {id(item): paths.get(_known_by(item), f"{last}/Requested/{item.name}") for item in every}


def _known_by(item: Property) -> tuple[str, str, int]:
    return expression.key(item), item.text, item.line
