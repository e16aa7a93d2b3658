"""Arrays of jobs: elements told by an index, as a task group, and as options of several systems.

A task group that is an array has an Extension of the type ``array`` with the name ``indices``: each
of its tasks is an element, and what the group requests is for all of them (5.1), but memory and
time, which are those of each.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from sssjob import units
from sssjob.array_indices import ELEMENTS, Array, at_once, parse
from sssjob.errors import Finding, InvalidValue, finding
from sssjob.model import Block, Item, Job, Property, Requested, TaskGroup, stripped
from sssjob.translate.requests import ARRAY, NO_OPTION, JobRequest

TYPE, INDICES = ARRAY, "indices"  # of the Extension

_BRACKETS = re.compile(r"([^\[]*)\[([^\[\]]*)\](%.*)?")
# What a group says of all its tasks together, and what of the layout of one that has several.
_TOTALS = ("Processors", "Resource")
_SEVERAL = frozenset(("TaskCount", "TaskDistribution", "NodeCount"))


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a system spells an array: its option, and the variable in which an element finds itself.

    ``several`` spans and ``steps`` in them may not be known there, and with which option it is said
    how many run at once (``%`` where it stands behind the indices). ``least`` is the first index.
    Where the indices stand in brackets behind the name of the job, ``unnamed`` is that of an array
    that has none. ``kind`` is the type of the Extension that keeps it, "" for the target's name.
    """

    option: str = ""
    variable: str = ""
    several: bool = True
    steps: bool = True
    at_once: str = "%"
    least: int = 0
    unnamed: str = ""
    kind: str = ""

    def said(self, value: str) -> tuple[str, Array | None]:
        """What stands before the array in the value of the option, and the array."""
        if not self.unnamed:
            return "", parse(value)
        found = _BRACKETS.fullmatch(value)
        return (found[1], parse(f"{found[2]}{found[3] or ''}")) if found else (value, None)

    def options(self, array: Array) -> list[tuple[str, str]]:
        """The options of an array. Raises ``InvalidValue`` for one that there is no way to say."""
        spans = array.spans
        if not self.steps:
            if sum(len(span) for span in spans if span.step > 1) > ELEMENTS:
                raise InvalidValue(str(array), f"at most {ELEMENTS} indices with steps between")
            spans = tuple(part for span in spans for part in _plain(span))
        if not self.several and len(spans) > 1:
            raise InvalidValue(str(array), "one span of indices")
        if min(span[0] for span in spans) < self.least:
            raise InvalidValue(str(array), f"indices from {self.least} on")
        behind = self.at_once == "%"
        text = str(Array(spans, array.at_once if behind else 0))
        if self.unnamed:
            indices, percent, limit = text.partition("%")
            text = f"[{indices}]{percent}{limit}"
        found = [(self.option, text)]
        if array.at_once and not behind:
            found.append((self.at_once, str(array.at_once)))
        return found


NO_ARRAYS = Spelling()


def write_array(asked: JobRequest, spelling: Spelling, write: Callable[[Array], None]) -> None:
    """What says of which array this is one element; ``write`` may raise ``InvalidValue``."""
    for item in asked.mine("Extension", TYPE):
        array = parse(stripped(item.text))
        if not spelling.option:
            asked.refuse(item, NO_OPTION)
        elif array is None or item.attributes.get("name") != INDICES:
            asked.refuse(item, "it is no array")
        else:
            try:
                write(array)
            except InvalidValue as error:
                asked.refuse(item, str(error))


def _plain(span: range) -> list[range]:
    return [span] if span.step == 1 else [range(index, index + 1) for index in span]


def grouped(job: Job, kind: str, spelling: Spelling) -> tuple[Job, tuple[Finding, ...]]:
    """A job whose array is an option that was kept, with a task group in its place.

    One whose elements have several tasks stays as it is, for a task has none: that is told.
    """
    if not spelling.option:
        return job, ()
    extensions = {
        item.attributes.get("name", ""): item
        for item in job.items
        if isinstance(item, Property) and item.name == "Extension"
        and item.said("type") == kind
    }  # fmt: skip
    option, limit = extensions.get(spelling.option), extensions.get(spelling.at_once)
    array = None if option is None else spelling.said(option.text)[1]
    if option is None or array is None or not array.few:
        return job, ()
    whole = _limited(array, limit)
    if several := _layout(job):
        text = (
            f"the array {option.text} stays an option: its elements have a {several} of their own"
        )
        return job, (finding("W-UNKNOWN", text, path="/Job/Extension"),)
    gone = {id(option), id(limit)}
    items = [item for item in job.items if id(item) not in gone]
    mine = [_times(item, len(array)) for item in items if isinstance(item, Requested)]
    name = Property("Extension", str(whole), {"type": TYPE, "name": INDICES})
    group = TaskGroup((Property("TaskCount", len(array)), name, *mine))
    rest = [item for item in items if not isinstance(item, Requested) and not _is_one(item)]
    told = f"the index of a task is that of its element, which is in ${spelling.variable}"
    noted = finding("I-REFERENCE", told, path="/Job/TaskGroup")
    return job.holding((*rest, group)), (noted,)


class KeptArray(NamedTuple):
    """An array that a job has as the option of a target, which spells it its own way.

    ``kind`` is the type of the Extension, and ``limit`` another that says how many run at once.
    """

    kind: str
    option: Property
    limit: Property | None
    spelling: Spelling


def kept(job: Job, spelling_of: Callable[[str], Spelling]) -> KeptArray | None:
    """The array that a job keeps as an option; ``spelling_of`` tells how a target spells it."""
    extensions = job.properties.all("Extension")
    for item in extensions:
        kind = item.said("type")
        spelling = NO_ARRAYS if kind == TYPE else spelling_of(kind)
        if not spelling.option or item.attributes.get("name") != spelling.option:
            continue
        limits = [
            each
            for each in extensions
            if each.said("type") == kind
            and each.attributes.get("name") == spelling.at_once
            and at_once(each.text)
        ]
        return KeptArray(kind, item, limits[0] if len(limits) == 1 else None, spelling)
    return None


def respelled(job: Job, array: KeptArray) -> tuple[Job, Property]:
    """A job with an array that any system spells its own way, and what stands for the option."""
    found = array.spelling.said(array.option.text)[1]
    text = array.option.text if found is None else str(_limited(found, array.limit))
    attributes = {**array.option.attributes, "type": TYPE, "name": INDICES}
    mine = Property("Extension", text, attributes, line=array.option.line)
    items = [mine if each is array.option else each for each in job.items]
    return job.holding(tuple(each for each in items if each is not array.limit)), mine


def _limited(array: Array, limit: Property | None) -> Array:
    """An array, of which another option may say how many elements run at once."""
    number = 0 if limit is None else at_once(limit.text)
    return replace(array, at_once=number) if number else array


def flattened(job: Job, spelling: Spelling) -> Job:
    """A job whose only task group is an array, as one of its elements, with the array beside it.

    Where a system has no way to say it, the job stays as it is.
    """
    if not spelling.option:
        return job
    groups = job.asking_groups
    if len(groups) != 1:
        return job
    (group,) = groups
    said = [item for item in group.items if isinstance(item, Property) and _is_array(item)]
    array = parse(stripped(said[0].text)) if len(said) == 1 else None
    if array is None or not array.few or stripped(group.get("TaskCount")) != str(len(array)):
        return job
    rest = [item for item in group.items if item is not said[0]]
    rest = [item for item in rest if not (isinstance(item, Property) and item.name == "TaskCount")]
    if not all(isinstance(item, Requested) for item in rest) or job.blocks(Requested):
        return job
    try:
        spelling.options(array)
        mine = [_times(item, Fraction(1, len(array))) for item in rest]
    except InvalidValue:
        return job
    items = [item for item in job.items if item is not group]
    return job.holding((*items, said[0], Property("TaskCount", 1), *mine))


def _is_array(item: Property) -> bool:
    attributes = item.attributes
    return (item.name, attributes.get("type"), attributes.get("name")) == (
        "Extension",
        TYPE,
        INDICES,
    )


def _is_one(item: Item) -> bool:
    return isinstance(item, Property) and item.name == "TaskCount"


def _layout(job: Job) -> str:
    """What an element says of several tasks or nodes; "" for one task on one node."""
    requested = [item for block in job.blocks(Requested) for item in block.properties]
    for item in (*job.properties, *requested):
        if item.name in _SEVERAL and stripped(item.text) != "1":
            return str(item.name)
    return "TaskGroup" if job.asking_groups else ""


def _times(block: Item, factor: int | Fraction) -> Item:
    """A request of so many times as much. Raises ``InvalidValue`` where that is no whole number."""
    assert isinstance(block, Block)
    items: list[Item] = []
    for item in block.items:
        if isinstance(item, Property) and item.name in _TOTALS:
            number = units.number(item.text) * factor
            if number.denominator != 1:
                raise InvalidValue(item.text, "a number that all elements share")
            item = Property(item.name, int(number), item.attributes, item.children, line=item.line)
        items.append(item)
    return block.holding(tuple(items))
