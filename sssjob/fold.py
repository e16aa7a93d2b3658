"""What was delivered, folded into a job that is known: facts take their place, none is lost.

What was requested stays as it was. A fact whose place is empty is set; where another value
stands, the first row of ``PRECEDENCE`` that fits decides. Folding the same facts again changes
nothing.

Strategy. What a job used is told several times: by its features, by a record, by a later record,
and in any order. Each source may know less than another, or contradict it.

The idea is to treat each value as a fact with its place. A fact that agrees with what stands there
changes nothing. Where they differ, one table decides: a maximum grows, a minimum shrinks, a state
only advances, and a duration grows until the job ends. For all else the value that is known stays
and the disagreement is a finding, unless the caller overwrites.

Why it is right: each fact is set, agrees with what stands there, is passed over by a row that
says why, or becomes a finding that names both values. A fact that was taken agrees with what
stands there the next time, and one that was not is judged alike again.

>>> job = Job.of(Requested.of(Processors=12), Id="PBS.1")
>>> folded = fold(job, [Fact(Property("Processors", 16)), Fact(Property("ExitCode", 0), JOB)])
>>> [folded.job.get("ExitCode"), folded.job.delivered.text("Processors")]
['0', '16']
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from sssjob import registry, spec
from sssjob.errors import Finding, InvalidValue, Severity, finding, of_kind
from sssjob.known_by import of_one, other_ids, whose
from sssjob.model import B, Block, Delivered, Item, Job, Property, Requested, Task, TaskGroup
from sssjob.resource_names import key
from sssjob.runs import CLOCKS
from sssjob.states import has_ended, step

JOB, DELIVERED = "Job", spec.DELIVERED


class FoldVerdict(Enum):
    """What becomes of a fact when its place is taken by another value."""

    KEEP = "the value that stands there stays"
    TAKE = "the fact replaces it"
    DISAGREE = "it stays and the disagreement is reported, unless the caller overwrites"
    CORRECT = "the fact replaces it, and the disagreement is reported"


REPLACING = FoldVerdict.TAKE, FoldVerdict.CORRECT


class Situation(NamedTuple):
    """What a rule may look at: the two properties, and how far the job has come."""

    old: Property
    new: Property
    ended: bool
    advances: bool


class Rule(NamedTuple):
    """One row of the precedence: where it holds, and what it decides."""

    place: str
    name: str
    metric: str
    decide: Callable[[Situation], FoldVerdict]
    reason: str

    def fits(self, place: str, item: Property) -> bool:
        """Whether the row speaks of this property; ``*`` is any."""
        return (
            self.place in ("*", place)
            and self.name in ("*", item.name)
            and self.metric in ("*", item.said("metric"))
        )


@dataclass(frozen=True, slots=True)
class Fact:
    """A property and the place it is for: the job itself, or its Delivered element.

    Numbers that differ by no more than ``tolerance`` agree. A fact that ``renews`` is a later
    state of what stands there, and replaces it. One that ``completes`` sets its attributes on a
    value that agrees.
    """

    item: Property
    place: str = DELIVERED
    tolerance: int = 0
    renews: bool = False
    completes: bool = False


@dataclass(frozen=True, slots=True)
class Folded:
    """The job with the facts in it, what was found, and how many facts changed something."""

    job: Job
    findings: tuple[Finding, ...] = ()
    changes: int = 0


def is_more(new: Property, old: Property) -> bool | None:
    """Whether an amount is more, whatever the units of both; None where one is no number."""
    first, second = _number(new), _number(old)
    return None if first is None or second is None else first > second


def _grows(it: Situation) -> FoldVerdict:
    found = is_more(it.new, it.old)
    if found is None:
        return FoldVerdict.DISAGREE
    return FoldVerdict.TAKE if found else FoldVerdict.KEEP


def _shrinks(it: Situation) -> FoldVerdict:
    old, new = _number(it.old), _number(it.new)
    if old is None or new is None:
        return FoldVerdict.DISAGREE
    return FoldVerdict.TAKE if new < old else FoldVerdict.KEEP


def _grows_until_the_end(it: Situation) -> FoldVerdict:
    return (
        FoldVerdict.DISAGREE if it.ended or _grows(it) is not FoldVerdict.TAKE else FoldVerdict.TAKE
    )


def _advances(it: Situation) -> FoldVerdict:
    known = step(it.old.text)
    return FoldVerdict.TAKE if 0 <= known < step(it.new.text) else FoldVerdict.DISAGREE


def _follows_the_state(it: Situation) -> FoldVerdict:
    return FoldVerdict.TAKE if it.advances else FoldVerdict.DISAGREE


def _ends_with_state(it: Situation) -> FoldVerdict:
    if not it.advances:
        return FoldVerdict.DISAGREE
    return FoldVerdict.CORRECT if it.ended else FoldVerdict.TAKE


def _is_submitted_anew(it: Situation) -> FoldVerdict:
    old, new = _number(it.old), _number(it.new)
    is_other = old is not None and new is not None and abs(old - new) > CLOCKS
    return FoldVerdict.CORRECT if it.advances and is_other else FoldVerdict.DISAGREE


def _stays(it: Situation) -> FoldVerdict:
    return FoldVerdict.DISAGREE


# fmt: off
# Precedence, stated once: the first row that fits decides about a value that is not the same.
PRECEDENCE = (
    Rule("*",       "*",               "Max", _grows,               "a maximum only grows"),
    Rule("*",       "*",               "Min", _shrinks,             "a minimum only shrinks"),
    Rule(DELIVERED, "Duration",        "*",   _grows_until_the_end, "until it ends a job runs on"),
    Rule("*",       "CpuDuration",     "*",   _grows_until_the_end, "and uses ever more"),
    Rule(JOB,       "SuspendDuration", "*",   _grows_until_the_end, "and is suspended longer"),
    Rule(JOB,       "StartCount",      "*",   _grows,               "a start is not undone"),
    Rule(JOB,       "State",           "*",   _advances,            "a later state replaces it"),
    Rule(JOB,       "StatusMessage",   "*",   _follows_the_state,   "it explains the state"),
    Rule(JOB,       "DeadlineTime",    "*",   _shrinks,             "the earlier deadline binds"),
    Rule(JOB,       "EndTime",         "*",   _ends_with_state,     "its State tells an end"),
    Rule(JOB,       "SubmitTime",      "*",   _is_submitted_anew,   "while it waits, anew"),
    Rule("*",       "*",               "*",   _stays,               "what is known stays"),
)
# fmt: on

_FOR = "duration"  # an amount for another time is another amount
# What tells two properties of one name apart, besides metric and context.
_KEYS = {"Extension": ("name", "type"), "ResourceLimit": ("type",)}
_ARRAY_TASK = re.compile(r"([0-9]+)\[([0-9]+)\]")
_PLAIN_FACTS = frozenset(
    row.name for row in (*spec.JOB, *spec.CREDENTIALS) if row.type == spec.STRING
)


def fold(
    job: Job,
    delivered: Job | Iterable[Fact],
    *,
    source: str = "",
    overwrite: bool = False,
    force: bool = False,
) -> Folded:
    """Fold facts, or a record that is a job itself, into a job.

    A record must be about that job, unless ``force``: otherwise nothing is folded and a finding
    of severity error says so. What the record requests is not looked at; its task groups are
    folded into those of the same Id or Name. ``source`` names the facts in findings.
    ``overwrite`` lets them replace what they disagree with.
    """
    of_kind(job, Job, "a job")
    of_kind(source, str, "the name of a source")
    if not isinstance(delivered, Job):
        of_kind(delivered, Iterable, "a record, or facts")
        delivered = tuple(delivered)
        for each in delivered:
            of_kind(each, Fact, "a fact")
        return _FoldCall(source, overwrite).job(job, delivered, ())
    if not force and not is_about(delivered, job):
        text = f"{source or 'the record'} is about job {delivered.id!r}, not {job.id!r}"
        known = job.properties.get("Id")
        line = known.line if known else job.line
        wrong = finding("W-DISAGREE", text, line=line, path="/Job/Id", severity=Severity.ERROR)
        return Folded(job, (wrong,))
    return _FoldCall(source, overwrite).job(job, tuple(facts(delivered)), delivered.task_groups)


def facts(record: Job | TaskGroup) -> Iterator[Fact]:
    """The facts of a record: its own properties except the Id, and what was delivered."""
    for item in record.properties:
        if item.name != "Id" and (type(record) is Job or item.name != "Name"):
            yield Fact(item, JOB)
    for item in record.delivered:
        yield Fact(item, DELIVERED)


def is_about(record: Job, job: Job) -> bool:
    """Whether a record is about a job: one of its identities is the Id or GlobalId of the job.

    Where both have an id that holds for one job everywhere, that alone tells, and whose they are.
    """
    one, other = (of_one(each.id, each.get("GlobalId")) for each in (record, job))
    if one and other:
        mine, its = (
            whose(each.delivered.text("User") or each.get("User")) for each in (record, job)
        )
        return one == other and (mine == its or not mine or not its)
    return not identities(record).isdisjoint(identities(job))


def identities(job: Job) -> frozenset[str]:
    """The ids by which a job is known: its Id, its GlobalId, and the raw id of its batch system.

    Each task of an array and each component of a heterogeneous job of Slurm has a raw id of its
    own, but the last task of an array has the id of the whole array, so that is no identity.
    """
    own = _ARRAY_TASK.sub(r"\1_\2", job.id)
    raw = next(
        (
            item.text.strip()
            for item in job.properties.all("Extension")
            if (item.attributes.get("type", ""), item.attributes.get("name", "").lower())
            in _raw_ids()
        ),
        "",
    )
    if own.startswith(f"{raw}_"):
        raw = ""
    global_id = job.get("GlobalId")
    return frozenset(filter(None, (own, raw, global_id))) | other_ids(job.id, global_id)


@cache
def _raw_ids() -> frozenset[tuple[str, str]]:
    """The Extensions with raw ids, by type and name."""
    rows = registry.all_systems().values()
    return frozenset((row.title, row.raw_id.lower()) for row in rows if row.raw_id)


class _FoldCall:
    """One call of ``fold``: collects the findings and counts the changes."""

    def __init__(self, source: str, overwrite: bool) -> None:
        self.source, self.overwrite = source or "the record", overwrite
        self.findings: list[Finding] = []
        self.changes = 0
        self.ended = self.advances = False

    def job(self, job: Job, facts: tuple[Fact, ...], groups: Iterable[TaskGroup]) -> Folded:
        self.ended = has_ended(job.get)
        before = step(job.get("State"))
        self.advances = any(
            fact.item.name == "State" and step(fact.item.text) > before
            for fact in facts
            if fact.place == JOB
        )
        folded = self.block(job, facts, "/Job")
        for group in groups:
            folded = self.group(folded, group)
        return Folded(folded, tuple(self.findings), self.changes)

    def group(self, job: Job, group: TaskGroup) -> Job:
        """Fold a task group into the one that it is, or set it behind the others."""
        for known in job.task_groups:
            if known == group or is_same_group(known, group):
                path = f"/Job/TaskGroup[{job.task_groups.index(known) + 1}]"
                folded = self.block(known, tuple(facts(group)), path)
                if not known.tasks and group.tasks:
                    self.changes += 1
                    folded = folded.holding((*folded.items, *group.blocks(Task)))
                return job.holding(folded if item is known else item for item in job.items)
        self.changes += 1
        return job.holding((*job.items, group))

    def block(self, block: B, facts: tuple[Fact, ...], path: str) -> B:
        """Fold facts into the properties and the Delivered element of one block."""
        for fact in facts:
            if fact.place == DELIVERED:
                self.compare_plain(block, fact.item, path)
            block = self.fact(block, fact, path)
        return block

    def fact(self, block: B, fact: Fact, path: str) -> B:
        rivals = _rivals(block, fact)
        if not rivals:
            self.changes += 1
            return placed(block, fact)
        old = rivals[0]
        if _agree(rivals, fact):
            return self.completed(block, old, fact) if fact.completes else block
        if fact.renews:
            self.changes += 1
            return _replaced(block, old, replace_value(old, fact.item))
        rule = next(rule for rule in PRECEDENCE if rule.fits(fact.place, fact.item))
        verdict = rule.decide(Situation(old, fact.item, self.ended, self.advances))
        if verdict is FoldVerdict.DISAGREE:
            inner = f"/{DELIVERED}" if fact.place == DELIVERED else ""
            self.disagree(old, fact.item, f"{path}{inner}/{old.name}", replaced=self.overwrite)
        if verdict is FoldVerdict.CORRECT:
            self.disagree(old, fact.item, f"{path}/{old.name}", replaced=True)
        if verdict in REPLACING or (verdict is FoldVerdict.DISAGREE and self.overwrite):
            self.changes += 1
            return _replaced(block, old, replace_value(old, fact.item))
        return block

    def completed(self, block: B, old: Property, fact: Fact) -> B:
        """The block with the attributes of a fact on the value that it agrees with."""
        new = old.having(**fact.item.attributes)
        if new.attributes == old.attributes:
            return block
        self.changes += 1
        return _replaced(block, old, new)

    def compare_plain(self, block: Block, item: Property, path: str) -> None:
        """A name that stands in no category should be the one that was delivered."""
        plain = block.properties.get(item.name) if item.name in _PLAIN_FACTS else None
        if plain is not None and plain.text.strip() != item.text.strip():
            self.disagree(plain, item, f"{path}/{item.name}", replaced=False)

    def disagree(self, old: Property, new: Property, path: str, *, replaced: bool) -> None:
        what = "is replaced by" if replaced else "is kept, not"
        text = f"{old.name} {_shown(old)} {what} {_shown(new)} of {self.source}"
        self.findings.append(finding("W-DISAGREE", text, line=old.line, path=path))


def replace_value(old: Property, new: Property) -> Property:
    """A new value in an old place: the namespace stays, text and attributes are the new ones."""
    return replace_namespace(new, old.namespace)


def replace_namespace(item: Property, namespace: str) -> Property:
    """The same property in a recognised namespace; a foreign one stays where it is."""
    if item.name.startswith("{") or item.namespace == namespace:
        return item
    return Property(item.name, item.text, item.attributes, item.children, namespace)


def _rivals(block: Block, fact: Fact) -> list[Property]:
    """The properties that stand in the fact's place."""
    items = [*block.properties] if fact.place == JOB else [*block.delivered]
    if fact.item.name == "CpuDuration" and fact.place == JOB:
        items += block.delivered  # its table gives it no category; some write it there
    return [item for item in items if is_same_place(item, fact.item)]


def is_same_place(old: Property, new: Property) -> bool:
    """Whether one property takes the place of the other in a block."""
    if old.name != new.name:
        return False
    row = spec.element(old.name)
    if row is not None and row.repeats is True and old.name not in (*_KEYS, "Resource"):
        return old.text.strip() == new.text.strip()  # holds and dependencies: a set
    if old.name == "ResourceLimit":
        names = {spec.limit_name(item.attributes.get("name", "")) for item in (old, new)}
        types = {item.attributes.get("type", "") for item in (old, new)}
        return len(names) == 1 and (len(types) == 1 or "" in types)  # no type sets both limits
    if old.name == "Resource" and key(old.attributes) != key(new.attributes):
        return False
    keys = (*_KEYS.get(old.name, ()), "metric", "context")
    return all(old.attributes.get(each, "") == new.attributes.get(each, "") for each in keys)


def _agree(rivals: list[Property], fact: Fact) -> bool:
    """Whether one of the values that stand there is the same, or all of them in sum."""
    if any(_same(rival, fact.item, fact.tolerance) for rival in rivals):
        return True
    if len(rivals) < 2 or fact.item.name not in {row.name for row in spec.CONSUMABLES}:
        return False
    numbers = [_number(rival) for rival in rivals]
    return None not in numbers and sum(filter(None, numbers)) == _number(fact.item)


def _same(old: Property, new: Property, tolerance: int) -> bool:
    if old.attributes.get(_FOR) != new.attributes.get(_FOR):
        return False
    if old.text.strip() == new.text.strip() and (
        old.attributes.get("units") == new.attributes.get("units")
    ):
        return True
    row = spec.element(old.name)
    if row is None or row.type in ("", spec.STRING, spec.BOOLEAN):
        return False
    known, told = _number(old), _number(new)
    return known is not None and told is not None and abs(known - told) <= tolerance


def _number(item: Property) -> Fraction | None:
    """A value in base units, or None for what is no number."""
    from sssjob import expression  # slow to import

    try:
        return expression.amount(item)
    except InvalidValue:
        return None


def _shown(item: Property) -> str:
    text = item.text.strip()
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    seconds = f" for {item.attributes[_FOR]} s" if _FOR in item.attributes else ""
    return f"{shown or repr('')} {item.attributes.get('units', '')}".rstrip() + seconds


def is_same_group(known: Block, other: Block) -> bool:
    """Whether two task groups, or tasks, are one by what they are called."""
    if known.id and other.id:
        return known.id == other.id
    return bool(other.get("Name")) and known.get("Name") == other.get("Name")


def placed(block: B, fact: Fact) -> B:
    """The block with a fact in a place where nothing stands."""
    item = replace_namespace(fact.item, block.namespace)
    items = list(block.items)
    if fact.place == JOB:
        first = _first(items, Block)
        place = 1 + max((i for i in range(first) if isinstance(items[i], Property)), default=-1)
        return block.holding((*items[:place], item, *items[place:]))
    for index, known in enumerate(items):
        if isinstance(known, Delivered):
            items[index] = known.holding((*known.items, item))
            return block.holding(items)
    requested = [index for index, known in enumerate(items) if isinstance(known, Requested)]
    place = requested[-1] + 1 if requested else _first(items, TaskGroup, Task)
    new = Delivered((item,), {}, block.namespace)
    return block.holding((*items[:place], new, *items[place:]))


def _first(items: list[Item], *kinds: type[Block]) -> int:
    """The index of the first block of some kinds, or the end."""
    return next((index for index, item in enumerate(items) if isinstance(item, kinds)), len(items))


def _replaced(block: B, old: Property, new: Property) -> B:
    """The block with one property exchanged, in itself or in its Delivered elements."""
    return block.holding(
        replace(item, items=tuple(new if inner is old else inner for inner in item.items))
        if isinstance(item, Delivered)
        else new if item is old else item
        for item in block.items
    )  # fmt: skip
