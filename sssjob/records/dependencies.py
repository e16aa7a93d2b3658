"""Dependencies as Slurm and PBS print them: ``afterok:1:2,afterany:3``."""

from __future__ import annotations

import re

from sssjob.model import Property
from sssjob.records.record import Found

# What the words of Slurm, PBS and Flux's RFC 26 mean in the words of the standard.
CONDITIONS = {"afterok": "OnSuccess", "afternotok": "OnFailure", "afterany": "OnExit"}

# An id, and behind it how it stands with Slurm: ``28(unfulfilled)``, ``28_*(failed)``.
_STATED = re.compile(r"([^\s:?()+]+)(?:\([a-z_]+\))?")
_ANY = "?"  # between dependencies of which one is enough


def dependencies(text: str) -> Found:
    """A Dependency for each job that is waited for, where all of them are.

    >>> found = dependencies("afterok:1:2(failed),afterany:3,before:4")
    >>> [(item.text, item.attributes["condition"]) for item in found]
    [('1', 'OnSuccess'), ('2', 'OnSuccess'), ('3', 'OnExit')]
    """
    if _ANY in text:
        return None
    return tuple(item for part in text.split(",") for item in _waited_for(part))


def other_dependencies(text: str) -> Found:
    """What the standard cannot say of them, as it was printed: ``singleton``, one of several.

    >>> other_dependencies("afterok:1,before:3"), other_dependencies("afterok:1?afterok:2")
    ('before:3', 'afterok:1?afterok:2')
    """
    if _ANY in text:
        return text
    return ",".join(part for part in text.split(",") if not _waited_for(part)) or None


def _waited_for(part: str) -> tuple[Property, ...]:
    """The Dependency of each id of ``word:id:id``; none where not all of it can be said."""
    word, *ids = part.split(":")
    found = [_STATED.fullmatch(id) for id in ids]
    if word not in CONDITIONS or not all(found):
        return ()
    attributes = {"condition": CONDITIONS[word]}
    return tuple(Property("Dependency", each[1], attributes) for each in found if each)
