"""What is read strictly in JSON that people write."""

from __future__ import annotations

from typing import Any


def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no name stands twice, since the last would hide the others.

    This is an ``object_pairs_hook``; it raises ``ValueError``.

    >>> each_once([("a", 1), ("b", 2)])
    {'a': 1, 'b': 2}
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice[:60]!r} stands twice in one object")
    return found
