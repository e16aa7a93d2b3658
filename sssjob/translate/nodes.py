"""Features and nodes that a job asks for by name, on their way into options."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sssjob import nodes
from sssjob.errors import InvalidValue, LimitExceeded
from sssjob.model import Property
from sssjob.translate.options import Heard
from sssjob.translate.requests import Asked

LIMIT = 10_000  # names that an option lists

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def plain(text: str) -> bool:
    """Whether a text is a name without signs that options give a meaning to."""
    return _PLAIN.fullmatch(text) is not None


def features(asked: Asked, name: str = "Feature") -> list[str]:
    """Take the features that every node has to have, as plain names."""
    found: list[str] = []
    for item in asked.take(name, "aggregation", "delimiter"):
        texts = listed(asked, item)
        if all(map(plain, texts)):
            found += texts
        elif texts:
            asked.refuse(item, "it is no plain name")
    return list(dict.fromkeys(found))


def listed(asked: Asked, item: Property) -> tuple[str, ...]:
    """The names that a property stands for; none, and it is refused, where these are no names."""
    try:
        found = nodes.expand(item)
    except (InvalidValue, LimitExceeded) as error:
        asked.refuse(item, str(error))
        return ()
    if isinstance(found, nodes.Pattern):
        asked.refuse(item, "a pattern has no place, only names")
        return ()
    if len(found) > LIMIT:
        asked.refuse(item, f"more than {LIMIT} names")
        return ()
    return tuple(found)


def names(asked: Asked, wanted: int) -> list[str]:
    """Take the nodes that a job is to run on, where it is to run on all of those that it names.

    ``wanted`` is the number of nodes, 0 where nothing says it.
    """
    found: list[str] = []
    for item in asked.take("Node", "aggregation", "delimiter", "count"):
        texts = listed(asked, item)
        if not texts:
            continue
        if not all(map(plain, texts)):
            asked.refuse(item, "it is no plain name")
            continue
        distinct = list(dict.fromkeys(texts))
        if nodes.required(item, wanted or None) < len(distinct):
            asked.refuse(item, "only some of the nodes are wanted, and all would be given")
            continue
        found += distinct
    return list(dict.fromkeys(found))


def say_nodes(heard: Heard, texts: Iterable[str]) -> None:
    """One property for nodes that are all asked for."""
    found = list(texts)
    if found:
        item = nodes.joined(found)
        heard.requested.append(item)
