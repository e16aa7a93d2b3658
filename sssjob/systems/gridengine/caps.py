"""How many slots a group may take at most: the resource quota sets of qconf."""

from __future__ import annotations

import re

_QUOTA = re.compile(r"\s*limit\s+(?:name\s+\S+\s+)?(.*?)\bto\s+(?:\S+,)?slots=([0-9]{1,9})\b")
_FILTER = re.compile(r"\b(users|projects)\s+(\{[^}]*\}|[^{\s]+)")


def read(text: str) -> dict[str, int]:
    """The caps of projects and users in Grid Engine's ``qconf -srqs``, of enabled sets only.

    >>> read("{\\n name vo\\n enabled TRUE\\n limit projects {atlas,cms} to slots=8\\n}")
    {'atlas': 8, 'cms': 8}
    """
    caps: dict[str, int] = {}
    enabled = True
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["enabled"]:
            enabled = words[1:] == ["TRUE"]
        elif enabled and (limit := _QUOTA.match(line)):
            for _, names in _FILTER.findall(limit[1]):
                for name in names.strip("{}").split(","):
                    if name.strip() and name.strip()[0] not in "*!":
                        # The first rule of a set that fits is the one that counts.
                        caps.setdefault(name.strip().lstrip("@"), int(limit[2]))
    return caps
