"""Jobs that no exit codes whatever let run: what they need of one job excludes itself.

A job runs only if all that it depends upon ran, so it needs what they need. For each job in whose
exit needs may differ there are columns, pairs of opposites: to succeed or to fail; and for its
codes, the digits of their numbers, 0 or 1. A job that inherits both sides of a column cannot run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from itertools import islice
from typing import NamedTuple

from sssjob.graph.net import FAILED, NeededVertex, Net, Want

_WIDTH = 2048  # columns carried through the graph at a time: two integers of that size per vertex
_SPREAD = 1 << 20  # needs of shared names that are also counted for each of their jobs
_VISITS = 1 << 24  # vertices and needs looked at, over all columns
_STEPS = 1 << 20  # steps back through the graph in search of words

Sides = tuple[int, int]  # columns as bits: those of which one side is needed, and the other


class NeedColumn(NamedTuple):
    """A vertex, and needs of it that exclude each other: any of one side, any of the other."""

    target: int
    one: tuple[Want, ...]
    other: tuple[Want, ...]


class Contradiction(NamedTuple):
    """A job, and two needs that exclude each other; ``one`` and ``other`` say whose they are."""

    job: int
    target: int
    one: tuple[int, Want]
    other: tuple[int, Want]


def contradictions(net: Net) -> tuple[Contradiction, ...]:
    """The jobs that can never run, less those that cannot only because another cannot.

    The work is bounded: of a document made to be hard, not every such job may be found.
    """
    wants, owner = _wants(net)
    pending = _columns(wants)
    found: dict[int, Contradiction] = {}
    lost = bytearray(net.size)
    steps = _STEPS
    turn = net.size + sum(map(len, net.needs))
    for _ in range(_VISITS // (turn + 1) + 1):
        batch = list(islice(pending, _WIDTH))
        if not batch:
            break
        sides = _sides(batch, owner)
        for job, number in _conflicts(net, sides, lost):
            one, other, steps = _whose(net, job, batch[number], number, sides, steps)
            found[job] = Contradiction(job, batch[number].target, one, other)
    return tuple(found[job] for job in sorted(_first(net, found)))


def _wants(net: Net) -> tuple[dict[int, dict[Want, None]], dict[int, int]]:
    """What is needed of each vertex, and the shared name by which it may be needed, too.

    The only need of a job on which none depends excludes nothing ("clean up if this fails"),
    unless it is of a name: one job of that name may depend on another.
    """
    found: dict[int, dict[Want, None]] = {}
    for vertex, needs in enumerate(net.needs):
        by_name = any(need.target in net.members for need in needs)
        if len(needs) > 1 or by_name or net.dependents[vertex]:
            for target, want in needs:
                if isinstance(want, int) or want is FAILED:
                    found.setdefault(target, {})[want] = None
    owner = {}
    budget = _SPREAD
    for name, members in net.members.items():
        for want in tuple(found.get(name, ())):
            budget -= len(members)
            for member in members if budget > 0 else ():
                owner[member] = name
                found.setdefault(member, {})[want] = None
    return found, owner


def _columns(wants: dict[int, dict[Want, None]]) -> Iterator[NeedColumn]:
    for target in sorted(wants):
        if 0 in wants[target] and len(wants[target]) > 1:
            yield NeedColumn(target, (0,), tuple(want for want in wants[target] if want != 0))
        codes = [want for want in wants[target] if isinstance(want, int) and want != 0]
        for digit in range((len(codes) - 1).bit_length() if codes else 0):
            sides: tuple[list[Want], list[Want]] = ([], [])
            for number, code in enumerate(codes):
                sides[number >> digit & 1].append(code)
            yield NeedColumn(target, tuple(sides[0]), tuple(sides[1]))


def _sides(batch: list[NeedColumn], owner: dict[int, int]) -> dict[NeededVertex, Sides]:
    """For each need the columns of a batch in which it takes a side."""
    sides: dict[NeededVertex, Sides] = {}
    for number, (target, *opposites) in enumerate(batch):
        bit = 1 << number
        for vertex in (target, owner[target]) if target in owner else (target,):
            for side, wants in enumerate(opposites):
                for want in wants:
                    one, other = sides.get(NeededVertex(vertex, want), (0, 0))
                    taken = (one, other | bit) if side else (one | bit, other)
                    sides[NeededVertex(vertex, want)] = taken
    return sides


def _conflicts(
    net: Net, sides: dict[NeededVertex, Sides], lost: bytearray
) -> Iterator[tuple[int, int]]:
    """The jobs that take both sides of a column, and the number of the column.

    ``lost`` marks them and what depends on them; what is lost is not looked at again.
    """
    ones, others = [0] * net.size, [0] * net.size
    nothing = (0, 0)
    for vertex in net.sequence[0]:
        if lost[vertex]:
            continue
        one = other = 0
        for target in net.members.get(vertex, ()):
            one, other = one | ones[target], other | others[target]
            lost[vertex] |= lost[target]
        for need in net.needs[vertex]:
            target = need[0]
            mine = sides.get(need, nothing)
            one, other = one | ones[target] | mine[0], other | others[target] | mine[1]
            lost[vertex] |= lost[target]
        if lost[vertex]:
            continue
        both = one & other
        if both and vertex < len(net.keys):
            lost[vertex] = 1
            yield vertex, (both & -both).bit_length() - 1
        elif one or other:
            ones[vertex], others[vertex] = one, other


def _whose(
    net: Net,
    job: int,
    column: NeedColumn,
    number: int,
    sides: dict[NeededVertex, Sides],
    steps: int,
) -> tuple[tuple[int, Want], tuple[int, Want], int]:
    """The nearest jobs that need one side and the other, and how many steps are left to search.

    Without steps, the needs are said to be the job's own, which they are, too.
    """
    found: list[tuple[int, Want] | None] = [None, None]
    waiting, seen = deque([job]), {job}
    while waiting and None in found and steps > 0:
        vertex = waiting.popleft()
        for need in net.needs[vertex]:
            taken = sides.get(need, (0, 0))
            for side in (0, 1):
                if taken[side] >> number & 1 and found[side] is None:
                    found[side] = (vertex, need.want)
        for target in net.targets(vertex):
            steps -= 1
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return found[0] or (job, column.one[0]), found[1] or (job, column.other[0]), steps


def _first(net: Net, found: Collection[int]) -> Iterator[int]:
    """Those of the jobs that depend on none of the others, even at some distance."""
    lost = set()
    for vertex in net.sequence[0] if found else ():
        if any(target in lost for target in net.targets(vertex)):
            lost.add(vertex)
        elif vertex in found:
            lost.add(vertex)
            yield vertex
