"""Where the boxes of a graph go: in layers from left to right, with few crossings.

Strategy. Boxes must not overlap, links should be short and cross seldom; to find the picture with
the fewest crossings takes time that nobody has.

The idea is the usual three steps, each of which keeps what the one before has found. A layer for
each box, one behind all that lead to it. Then an order in each layer, by the mean place of the
neighbours, forth and back. Then heights as near to the neighbours' as boxes allow. Long links take
a place of their own in each layer that they pass.

Why it is right: every link is taken from the earlier box to the later one, so that there is no
circle and each box has a layer. Crossings are counted, not guessed, and of all orders that were
tried the best is kept, so that a sweep never makes the picture worse. Where wishes would overlap,
boxes move as one block to the mean of what they wish, the nearest place for all of them. The number
of sweeps is fixed, and so is that of the places of a link: time grows little faster than the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

_SWEEPS = 12
_LONGEST = 12  # layers that a link passes with places of its own; beyond, it goes straight


@dataclass(slots=True)
class Layers:
    """Boxes in layers: ``layer`` and ``height`` of each, and the boxes that each link passes.

    Boxes from ``count`` on are only places where a long link passes.
    """

    count: int
    layer: list[int]
    height: list[float] = field(default_factory=list)
    passed: list[tuple[int, ...]] = field(default_factory=list)
    rows: list[list[int]] = field(default_factory=list)


def layered(count: int, links: Sequence[tuple[int, int]], sizes: Sequence[float]) -> Layers:
    """Lay out boxes, given in an order in which most links lead forward.

    ``sizes`` are the heights that boxes take, free space included; heights are of their middles.
    """
    forward = [(min(link), max(link)) for link in links]
    found = Layers(count, _layers(count, forward))
    steps = _passing(found, forward)
    found.rows = [[] for _ in range(max(found.layer, default=0) + 1)]
    for box, layer in enumerate(found.layer):
        found.rows[layer].append(box)
    before: list[list[int]] = [[] for _ in found.layer]
    behind: list[list[int]] = [[] for _ in found.layer]
    for one, other in steps:
        behind[one].append(other)
        before[other].append(one)
    found.rows = _ordered(found.rows, before, behind)
    space = [*sizes, *[14.0] * (len(found.layer) - count)]
    found.height = _heights(found.rows, before, behind, space)
    return found


def _layers(count: int, links: Iterable[tuple[int, int]]) -> list[int]:
    """One behind the last of those that lead to a box; a first box just before its next."""
    layer = [0] * count
    nexts: list[list[int]] = [[] for _ in range(count)]
    led = set()
    for one, other in sorted(links):
        if one != other:
            layer[other] = max(layer[other], layer[one] + 1)
            nexts[one].append(other)
            led.add(other)
    for box in range(count):
        if box not in led and nexts[box]:
            layer[box] = min(layer[other] for other in nexts[box]) - 1
    return layer


def _passing(found: Layers, links: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Make a place in each layer that a long link passes; the steps from layer to layer."""
    steps = []
    for one, other in links:
        way = [one]
        between = range(found.layer[one] + 1, found.layer[other])
        for layer in between if len(between) <= _LONGEST else ():
            way.append(len(found.layer))
            found.layer.append(layer)
        way.append(other)
        found.passed.append(tuple(way))
        steps += [step for step in pairwise(way) if step[0] != step[1]]
    return steps


def _ordered(
    rows: list[list[int]], before: list[list[int]], behind: list[list[int]]
) -> list[list[int]]:
    """Sweep forth and back, each layer sorted by the mean place of neighbours; keep the best."""
    best, fewest = rows, _crossings(rows, behind)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        rows = [list(row) for row in rows]
        neighbours = behind if sweep % 2 else before
        places = {box: place for row in rows for place, box in enumerate(row)}
        for row in reversed(rows) if sweep % 2 else rows:
            means = {
                box: sum(places[each] for each in neighbours[box]) / len(neighbours[box])
                if neighbours[box]
                else places[box]
                for box in row
            }
            row.sort(key=means.__getitem__)
            places.update((box, place) for place, box in enumerate(row))
        if (crossings := _crossings(rows, behind)) < fewest:
            best, fewest = rows, crossings
    return best


def _crossings(rows: list[list[int]], behind: list[list[int]]) -> int:
    """How many pairs of links between neighbouring layers cross, counted with a binary tree."""
    total = 0
    for row, next_row in pairwise(rows):
        places = {box: place for place, box in enumerate(next_row)}
        tree = [0] * (len(next_row) + 1)
        seen = 0
        for box in row:
            targets = sorted(places[each] for each in behind[box] if each in places)
            for place in targets:
                total += seen - _sum(tree, place + 1)
            for place in targets:
                seen += 1
                index = place + 1
                while index < len(tree):
                    tree[index] += 1
                    index += index & -index
    return total


def _sum(tree: list[int], index: int) -> int:
    total = 0
    while index:
        total += tree[index]
        index &= index - 1
    return total


def _heights(
    rows: list[list[int]],
    before: list[list[int]],
    behind: list[list[int]],
    space: Sequence[float],
) -> list[float]:
    heights = [0.0] * len(space)
    for row in rows:
        for box, height in zip(row, _apart([0.0] * len(row), row, space), strict=True):
            heights[box] = height
    for sweep in range(_SWEEPS):
        for row in reversed(rows) if sweep % 2 else rows:
            wished = [
                _mean([heights[each] for each in (*before[box], *behind[box])], heights[box])
                for box in row
            ]
            for box, height in zip(row, _apart(wished, row, space), strict=True):
                heights[box] = height
    return heights


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _apart(wished: Sequence[float], row: Sequence[int], space: Sequence[float]) -> list[float]:
    """The heights nearest to the wished ones in which no two boxes of a layer overlap.

    Boxes that would overlap form blocks, and each block stands at the mean of its wishes.
    """
    offsets = [0.0]
    for one, other in pairwise(row):
        offsets.append(offsets[-1] + (space[one] + space[other]) / 2)
    blocks: list[tuple[float, int]] = []  # mean wish, number of boxes
    for wish, offset in zip(wished, offsets, strict=True):
        mean, size = wish - offset, 1
        while blocks and blocks[-1][0] > mean:
            above, many = blocks.pop()
            mean, size = (above * many + mean * size) / (many + size), many + size
        blocks.append((mean, size))
    starts = [mean for mean, size in blocks for _ in range(size)]
    return [start + offset for start, offset in zip(starts, offsets, strict=True)]
