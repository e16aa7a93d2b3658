"""What folds put into a job of one of its runs: a list in the job says it, so that it can go again.

A limit that a run was given looks like one that was asked for, and a deadline that was earlier has
taken the place of the one that was asked for. Nobody could tell them apart when the job runs again
(a requeue). So an Extension of the job lists the properties that folds set, each with the one that
stood there before, where folds replace one. # decision 805

>>> asked = Job.of(Id="1", DeadlineTime=900)
>>> ran = listed(asked, Job.of(Id="1", DeadlineTime=500, StartTime=100))
>>> without_listed(ran) == asked
True
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Container, Iterable
from typing import Any, NamedTuple, TypeVar

from sssjob import spec
from sssjob.errors import AwarenessPolicy, InvalidValue
from sssjob.features.fold import JOB_TABLE, MACHINE_TABLE
from sssjob.features.measured import EXTENSION as STATUS
from sssjob.fold import JOB, PRECEDENCE, REPLACING, Fact, Situation, is_same_place, placed
from sssjob.json_text import each_once
from sssjob.model import (
    VALUE_READERS,
    Block,
    Delivered,
    Item,
    Job,
    JobGroup,
    Note,
    Property,
    TaskGroup,
)
from sssjob.states import SIGNAL, has_ended
from sssjob.units import XML_SPACE

B = TypeVar("B", bound=Block)

EXTENSION, NAME = "JobRun", "folded"  # type and name of the list

# What a record, a pilot or a charge says of a run; what was asked for stays.
_OF_A_RUN = frozenset(("StartTime", "EndTime", "Charge", "CpuDuration", "SuspendDuration"))
_OF_ONE_THAT_ENDED = _OF_A_RUN | {"SubmitTime", "State", "StatusMessage", "ExitCode"}

_RULES = {rule.name: rule for rule in PRECEDENCE if rule.name != "*"}  # where folds replace
_OF_FEATURES = frozenset(
    element
    for table in (JOB_TABLE, MACHINE_TABLE)
    for place, element, _ in table.places.values()
    if place == JOB
)
# What records say of a job beside: not which it is, whose, and what it runs.
_OF_RECORDS = frozenset((
    "Checkpointable", "Dependency", "EligibleTime", "ErrorFile", "Extension", "Hold", "InputFile",
    "Interactive", "Machine", "Name", "NotificationList", "OutputFile", "Priority", "Queue",
    "ResourceLimit", "Restartable", "SubmitHost", "TaskCount", "TaskDistribution",
))  # fmt: skip
_POLICY, _POLICIES = "awarenessPolicy", {each.value for each in AwarenessPolicy}  # (9.0)
# All that a list is believed of, as whoever submits a document may write one. # decision 851
LISTED = _OF_ONE_THAT_ENDED | _OF_FEATURES | _OF_RECORDS | frozenset(_RULES)


class FoldedProperty(NamedTuple):
    """A property of the job that folds set, and what it replaced, where folds do replace that."""

    item: Property
    before: Property | None


def listed(before: Job, after: Job) -> Job:
    """A job ``after`` its folds, with the list of what it had not ``before`` all of them."""
    gone = beyond(before.properties, after.properties)
    rows: list[FoldedProperty] = []
    for item in beyond(after.properties, before.properties):
        old = next((each for each in gone if is_same_place(each, item)), None)
        if old is not None:
            gone.remove(old)
        if item.name in LISTED:
            rows.append(FoldedProperty(item, _replaced(old, item)))
    if not rows:
        return after
    text = json.dumps([_spelled_row(row) for row in rows], ensure_ascii=False)
    return placed(after, Fact(Property("Extension", text, {"type": EXTENSION, "name": NAME}), JOB))


def is_folded(job: Job, name: str) -> bool:
    """Whether the list of a job says that a fold put a property of this name into it."""
    return any(row.item.name == name for row in _rows(job) or ())


def without_list(job: Job) -> Job:
    """A job with all that folds put into it, and without the list of it."""
    return job.holding(item for item in job.items if not _is_list(item))


def without_listed(job: Job) -> Job:
    """A job as it was before its folds, as far as the list says it; without one it stays.

    What somebody changed after the fold is theirs, and stays.
    """
    rows = _rows(job)
    if rows is None:
        return job
    known: defaultdict[tuple[str, str], list[FoldedProperty]] = defaultdict(list)
    for row in rows:
        known[row.item.name, row.item.text].append(row)
    items: list[Item] = []
    for item in without_list(job).items:
        if not isinstance(item, Property):
            items.append(item)
            continue
        same = known.get((item.name, item.text), [])
        of_run = next((each for each in same if _is_same(each.item, item)), None)
        if of_run is None:
            items.append(item)
            continue
        same.remove(of_run)
        if of_run.before is not None:
            items.append(_in_place_of(item, of_run.before))
    return job.holding(items)


def without_run(job: Job) -> Job:
    """A job without what a run of it was given, did and used; what it asked for stays."""
    asked = without_listed(job)
    names = _OF_ONE_THAT_ENDED if has_ended(asked.get) else _OF_A_RUN
    items: list[Item] = []
    for item in asked.items:
        if isinstance(item, Delivered) or _is_a_step(item):
            continue
        if isinstance(item, TaskGroup):
            inner = [each for each in item.items if not _is_of_a_group_that_ran(each)]
            items.append(item.holding(inner))
        elif not (isinstance(item, Property) and _is_of_a_run(item, names)):
            items.append(item)
    return job.holding(items)


def as_requested(job: Job) -> Job:
    """A job without what its list says of a run of it; one without a list is as it is."""
    return job if _rows(job) is None else without_run(job)


def of_its_run(job: Job) -> Job | None:
    """What a job says of a run of it and did not ask for, without the list; None without one."""
    asked = as_requested(job)
    if asked is job:
        return None
    kept = {id(item) for block in (asked, *asked.task_groups) for item in block.items}
    return _beside(without_list(job), kept)


def _beside(block: B, kept: Container[int]) -> B:
    """A block with its items that are not ``kept``, by identity."""
    items: list[Item] = []
    for item in block.items:
        if not isinstance(item, TaskGroup):
            items += [item] * (id(item) not in kept)
        elif (inner := _beside(item, kept)).items:
            items.append(inner)
    return block.holding(items)


def beginning(block: Job | JobGroup) -> Job | JobGroup:
    """Jobs that begin to run, or are to, without what their lists say of earlier runs.

    Defaults of a group are not resolved yet: what a run was given hides those that hold again.
    """
    if isinstance(block, Job):
        return as_requested(block)
    return block.holding(
        as_requested(item) if isinstance(item, Job) else item for item in block.items
    )


def _is_a_step(item: Item) -> bool:
    """Whether it is a task group that a record made: with what was delivered, and no request."""
    if not isinstance(item, TaskGroup):
        return False
    kinds = {type(each) for each in item.items if isinstance(each, Block)}
    return Delivered in kinds and not kinds - {Delivered}


def _is_of_a_group_that_ran(item: Item) -> bool:
    """Whether a record tells it of a task group: no request says that of a part of a job."""
    return isinstance(item, Delivered) or (
        isinstance(item, Property) and _is_of_a_run(item, _OF_ONE_THAT_ENDED)
    )


def _is_of_a_run(item: Property, names: frozenset[str]) -> bool:
    if item.name == "Extension":
        return item.said("type") == STATUS or item.attributes.get("name") == SIGNAL
    return item.name in names


def beyond(items: Iterable[Property], others: Iterable[Property]) -> list[Property]:
    """The items that are not among the others, each of which stands for one."""
    rest = Counter(others)
    found = []
    for item in items:
        if rest[item] > 0:
            rest[item] -= 1
        else:
            found.append(item)
    return found


def _is_list(item: Item) -> bool:
    return (
        isinstance(item, Property)
        and item.name == "Extension"
        and item.said("type") == EXTENSION
        and item.attributes.get("name") == NAME
    )


def _is_same(told: Property, item: Property) -> bool:
    """Whether both say the same; the namespace is that of the job."""
    return (told.name, told.text, told.attributes, told.children) == (
        item.name, item.text, item.attributes, item.children,
    )  # fmt: skip


def _rows(job: Job) -> list[FoldedProperty] | None:
    """What the list of a job says; None where it has none, or more than one, or no such list."""
    found = [item for item in job.properties if _is_list(item)]
    if len(found) != 1:
        return None
    try:
        rows = json.loads(found[0].text, object_pairs_hook=each_once)
        return [_row(each) for each in rows]
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return None


def _row(told: Any) -> FoldedProperty:
    before = told.get("before")
    item, old = _property(told), None if before is None else _property(before)
    if item.name not in LISTED or not (old is None or is_same_place(old, item)):
        raise InvalidValue(str(told)[:60], "a property of a run")
    return FoldedProperty(item, _replaced(old, item))


def _replaced(old: Property | None, item: Property) -> Property | None:
    """What stood in the place of an item, if a fold replaces it by that without being told to.

    All else that a list says of it could be what nobody asked for. # decision 851
    """
    rule = _RULES.get(item.name)
    if old is None or rule is None or old.attributes.keys() - {_POLICY} or old.children:
        return None
    row = spec.element(item.name)
    read = VALUE_READERS.get(spec.STRING if row is None else row.type, str)
    try:
        read(old.text)
    except InvalidValue:
        return None
    found = rule.decide(Situation(old, item, ended=False, advances=True))
    if found not in REPLACING:
        return None
    return Property(old.name, old.text, _policy(old))


def _policy(item: Property) -> dict[str, str]:
    """The attribute of a policy that a property states, as what is asked for is refused by it."""
    stated = item.attributes.get(_POLICY, "").strip(XML_SPACE)
    return {_POLICY: stated} if stated in _POLICIES else {}


def _property(told: Any) -> Property:
    children = [_child(each) for each in told.get("children", [])]
    attributes = told.get("attributes", {})
    text, namespace = told["text"], told.get("namespace", "")
    if not all(isinstance(each, str) for each in (text, namespace, *attributes.values())):
        raise InvalidValue(str(told)[:60], "a property with texts")
    return Property(told["name"], text, attributes, children, namespace)


def _child(told: Any) -> Property | Note:
    return Note(told["note"], told["text"]) if "note" in told else _property(told)


def _in_place_of(item: Property, old: Property) -> Property:
    return Property(item.name, old.text, old.attributes, (), item.namespace, item.line)


def _spelled_row(row: FoldedProperty) -> dict[str, Any]:
    spelled = _spelled(row.item)
    if row.before is None:
        return spelled
    return {**spelled, "before": _spelled(row.before)}


def _spelled(item: Property | Note) -> dict[str, Any]:
    if isinstance(item, Note):
        return {"note": item.kind, "text": item.text}
    told = {
        "name": item.name,
        "text": item.text,
        "attributes": dict(item.attributes),
        "namespace": item.namespace,
        "children": [_spelled(each) for each in item.children],
    }
    return {name: value for name, value in told.items() if value or name == "text"}
