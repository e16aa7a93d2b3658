"""File names with what only the running job knows in them, such as its id (decision 238).

In a job object it stands in double braces, whatever batch system the job is for; digits behind a
colon are how many there are at least, and ``{{{{}}`` stands for two braces. All else is text.

>>> parse("scan-{{Id}}.{{ArrayIndex:3}}")
['scan-', RunningValue(name='Id', width=0), '.', RunningValue(name='ArrayIndex', width=3)]
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from sssjob.errors import InvalidValue
from sssjob.model import Job

ID, NAME, USER, NODE, ARRAY, INDEX = NAMES = "Id", "Name", "User", "Node", "ArrayId", "ArrayIndex"
# Of a job that is no array, the id of the array is its own, and its index this one.
ALONE = "0"

OPEN = "{{"
_ONE = rf"\{{\{{(?:({'|'.join(NAMES)})(?::([1-9]))?|\{{\{{)\}}\}}"
_NEUTRAL = re.compile(_ONE)
_ALIKE = re.compile(rf"\{{\{{(?=(?:(?:{'|'.join(NAMES)})(?::[1-9])?|\{{\{{)\}}\}})")


class RunningValue(NamedTuple):
    """What only the running job knows, and how many digits it has at least."""

    name: str
    width: int = 0

    def __str__(self) -> str:
        return f"{{{{{self.name}{f':{self.width}' if self.width else ''}}}}}"


def parse(text: str) -> list[str | RunningValue]:
    """The name of a file of a job object, in parts."""
    parts: list[str | RunningValue] = []
    place = 0
    for found in _NEUTRAL.finditer(text):
        parts += [text[place : found.start()]] if found.start() > place else []
        parts.append(RunningValue(found[1], int(found[2] or 0)) if found[1] else OPEN)
        place = found.end()
    return [*parts, text[place:]] if place < len(text) else parts


def literal(text: str) -> str:
    """A text of which nothing stands for anything else, as a job object has it.

    >>> literal("{{Id}} {{x}}")
    '{{{{}}Id}} {{x}}'
    """
    return _ALIKE.sub("{{{{}}", text) if OPEN in text else text


def joined(parts: Iterable[str | RunningValue]) -> str:
    """Parts as a job object has them."""
    texts: list[str | RunningValue] = []
    for part in parts:
        if isinstance(part, str) and texts and isinstance(texts[-1], str):
            texts[-1] += part
        else:
            texts.append(part)
    return "".join(literal(part) if isinstance(part, str) else str(part) for part in texts)


def indexed(text: str, index: int) -> str:
    """The name of a file of an element of an array that is a job of its own.

    >>> indexed("{{ArrayIndex}}.{{ArrayIndex:3}}.{{Id}}", 7)
    '7.007.{{Id}}'
    """
    return joined(
        f"{index:0{part.width}}" if isinstance(part, RunningValue) and part.name == INDEX else part
        for part in parse(text)
    )


def filled(text: str, job: Job) -> str:
    """The name of a file of a job that is no array, whose id is known.

    Raises ``InvalidValue`` where it has what the job does not say.
    """
    known = {ID: job.id, ARRAY: job.id, INDEX: ALONE, NAME: job.get(NAME), USER: job.get(USER)}
    parts = []
    for part in parse(text):
        told = part if isinstance(part, str) else known.get(part.name, "").strip().zfill(part.width)
        if not told:
            raise InvalidValue(str(part), "what the job says")
        parts.append(told)
    return "".join(parts)
