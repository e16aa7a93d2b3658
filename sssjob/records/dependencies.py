"""Dependencies as Slurm, PBS and Grid Engine have them: ``afterok:1:2,afterany:3``.

One reader for what they print and what stands in scripts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from sssjob.model import Property
from sssjob.records.record import Found

# What the words of Slurm, PBS and Flux's RFC 26 mean in the words of the standard.
CONDITIONS = {"afterok": "OnSuccess", "afternotok": "OnFailure", "afterany": "OnExit"}
WORDS = {condition: word for word, condition in CONDITIONS.items()}  # how they are written

ReadId = Callable[[str], str | None]

# An id, and behind it how it stands with Slurm: ``28(unfulfilled)``, ``28_*(failed)``.
_STATED = re.compile(r"([^\s:?()+]+)(?:\([a-z_]+\))?")
_ANY = "?"  # between dependencies of which one is enough


class AwaitedJobs(NamedTuple):
    """Jobs that are waited for, each an id and a condition; the rest in the words it was said."""

    jobs: tuple[tuple[str, str], ...]
    rest: str = ""


def printed_id(text: str) -> str | None:
    """The id of a text that holds one, without its state; else None.

    >>> printed_id("28_*(failed)"), printed_id("time+5")
    ('28_*', None)
    """
    found = _STATED.fullmatch(text)
    return found[1] if found else None


def matching(pattern: str) -> ReadId:
    """A reader of ids that all of a text has to be.

    >>> matching("[0-9]+")("5"), matching("[0-9]+")("5a")
    ('5', None)
    """
    fullmatch = re.compile(pattern, re.ASCII).fullmatch
    return lambda text: text if fullmatch(text) else None


# decision 336
def waits(text: str, id: ReadId = printed_id, words: Mapping[str, str] = CONDITIONS) -> AwaitedJobs:
    """What a list says, of which all holds; one by one, so that a part is not lost for another.

    ``id`` gives the id of a job as it stands in the list. ``words`` has the condition of each
    word; with "" ids stand without one. A list of which any part is enough is all rest.

    >>> waits("afterok:1:2(failed),singleton,before:4")
    AwaitedJobs(jobs=(('1', 'OnSuccess'), ('2', 'OnSuccess')), rest='singleton,before:4')
    >>> waits("afterok:1?afterok:2"), waits("5,a", words={"": "OnExit"}).jobs
    (AwaitedJobs(jobs=(), rest='afterok:1?afterok:2'), (('5', 'OnExit'), ('a', 'OnExit')))
    """
    if _ANY in text:
        return AwaitedJobs((), text)
    jobs: list[tuple[str, str]] = []
    rest = []
    for part in text.split(","):
        word, _, ids = part.partition(":") if "" not in words else ("", "", part)
        found = [id(each) for each in ids.split(":")]
        if word in words and None not in found:
            jobs += ((each, words[word]) for each in found if each is not None)
        else:
            rest.append(part)
    return AwaitedJobs(tuple(jobs), ",".join(rest))


def dependencies(text: str, id: ReadId = printed_id) -> Found:
    """A Dependency for each job that is waited for, where all of them are.

    >>> [(item.text, item.attributes["condition"]) for item in dependencies("afterany:3,before:4")]
    [('3', 'OnExit')]
    """
    return tuple(
        Property("Dependency", job, {"condition": condition})
        for job, condition in waits(text, id).jobs
    )


def other_dependencies(text: str, id: ReadId = printed_id) -> Found:
    """What the standard cannot say of them, as it was printed: ``singleton``, one of several.

    >>> other_dependencies("afterok:1,before:3"), other_dependencies("afterok:1")
    ('before:3', None)
    """
    return waits(text, id).rest or None
