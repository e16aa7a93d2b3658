"""Circles: jobs that wait for each other, found without recursion."""

from __future__ import annotations

from collections.abc import Iterator

from sssjob.graph.net import Net

LIMIT = 100  # circles that are spelled out; one knot can hold more than anybody can read


def circles(net: Net) -> tuple[tuple[tuple[int, ...], ...], bool]:
    """Each circle as the jobs in it, every one depending upon the next, the first in document
    order in front and again behind; and whether there are more than are told.

    Each circle has a dependency that no circle before it has. Without the last dependencies
    found so, one for each circle, no circle is left.
    """
    found: dict[tuple[int, ...], None] = {}
    for circle in _closing(net):
        if circle not in found and len(found) == LIMIT:
            return tuple(sorted(found)), True
        found[circle] = None
    return tuple(sorted(found)), False


def _closing(net: Net) -> Iterator[tuple[int, ...]]:
    """The circles that a walk in depth closes, from each job in document order."""
    _, rest = net.sequence
    inside = set(rest)
    finished: set[int] = set()
    for start in rest:
        if start in finished:
            continue
        path, depth = [start], {start: 0}
        ways = [net.targets(start)]
        while path:
            for target in ways[-1]:
                if target in depth:
                    yield _turned(path[depth[target] :], len(net.keys))
                elif target in inside and target not in finished:
                    depth[target] = len(path)
                    path.append(target)
                    ways.append(net.targets(target))
                    break
            else:
                ways.pop()
                finished.add(path[-1])
                del depth[path.pop()]


def _turned(path: list[int], jobs: int) -> tuple[int, ...]:
    """A circle of vertices as jobs only, from the first of them back to it."""
    circle = [vertex for vertex in path if vertex < jobs]
    first = circle.index(min(circle))
    return (*circle[first:], *circle[: first + 1])
