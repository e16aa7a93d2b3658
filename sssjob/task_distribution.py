"""What a TaskDistribution says, whoever asks: layouts, amounts, translators (5.1, 5.2).

>>> from sssjob.model import Property
>>> read(Property("TaskDistribution", "{1,4}{2}{3,5}")).geometry
((1, 4), (2,), (3, 5))
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sssjob.errors import InvalidValue, LimitExceeded
from sssjob.model import Property
from sssjob.units import XML_SPACE

LIMIT = 1_000_000  # tasks, and nodes, of one layout

GEOMETRY, PER_NODE, PER_TASK, RULE = "Geometry", "TasksPerNode", "ProcessorsPerTask", "Rule"

_COUNT = re.compile(r"[ \t\r\n]*\+?([0-9]{1,18})[ \t\r\n]*")
_TASKS = re.compile(r"[0-9]{1,7}(?:,[0-9]{1,7})*")


class MappingFault(NamedTuple):
    """Why a TaskDistribution maps nothing, or is read with a doubt."""

    code: str
    message: str
    advice: str = ""


class TaskMapping(NamedTuple):
    """A TaskDistribution as it is read: at most one of its values is set, none if it is faulty."""

    geometry: tuple[tuple[int, ...], ...] = ()
    per_node: int = 0
    per_task: int = 0
    rule: str = ""
    faults: tuple[MappingFault, ...] = ()


# decision 981
def read(item: Property) -> TaskMapping:
    """What a TaskDistribution says; one that cannot be read maps nothing."""
    text = item.text.strip(XML_SPACE)
    kind = item.said("type")
    number = _COUNT.fullmatch(text)
    value = int(number[1]) if number else 0
    faults: tuple[MappingFault, ...] = ()
    if not kind:
        kind = GEOMETRY if text[:1] == "{" else PER_NODE if number else RULE
        if number:
            told = f"TaskDistribution {text} without a type is read as tasks per node"
            faults = (MappingFault("W-TYPE", told, f'write type="{PER_NODE}"'),)
    if kind == GEOMETRY:
        return _geometry(text)
    if kind not in (PER_NODE, PER_TASK):
        return TaskMapping(rule=text or kind)
    if not value:
        told = f"{kind}: {text[:60]!r} is no whole number of at least 1"
        return TaskMapping(faults=(*faults, MappingFault("E-TYPE", told)))
    return TaskMapping(
        per_node=value if kind == PER_NODE else 0,
        per_task=value if kind == PER_TASK else 0,
        faults=faults,
    )


def _geometry(text: str) -> TaskMapping:
    try:
        groups = geometry(text)
    except InvalidValue as error:
        return TaskMapping(faults=(MappingFault("E-TYPE", str(error)),))
    except LimitExceeded as error:
        return TaskMapping(faults=(MappingFault("E-LIMIT", str(error)),))
    if fault := _numbering(groups):
        return TaskMapping(faults=(MappingFault("E-COUNTS", fault),))
    return TaskMapping(geometry=groups)


def geometry(text: str) -> tuple[tuple[int, ...], ...]:
    """The tasks of each node of a geometry. Raises ``InvalidValue`` and ``LimitExceeded``.

    >>> geometry("{1,4}{2}{3,5}")
    ((1, 4), (2,), (3, 5))
    """
    expected = "a geometry such as {1,4}{2}{3,5}"
    if text.count(",") + text.count("{") > LIMIT:
        raise LimitExceeded("tasks in a geometry", LIMIT)
    if text[:1] != "{" or text[-1:] != "}":
        raise InvalidValue(text, expected)
    groups = text[1:-1].split("}{")
    if not all(map(_TASKS.fullmatch, groups)):
        raise InvalidValue(text, expected)
    return tuple(tuple(map(int, group.split(","))) for group in groups)


def _numbering(groups: tuple[tuple[int, ...], ...]) -> str:
    """What is wrong with the numbers of a geometry: each task once, none left out."""
    seen: set[int] = set()
    for number in (number for group in groups for number in group):
        if number in seen:
            return f"the geometry places task {number} twice"
        seen.add(number)
    first = min(seen)
    if first > 1:
        return f"the geometry begins with task {first}, and tasks are numbered from 0 or 1"
    if max(seen) - first + 1 != len(seen):
        missing = next(number for number in range(first, max(seen)) if number not in seen)
        return f"the geometry leaves out task {missing}"
    return ""
