"""A second opinion on placements, by brute force: every way to spread tasks over nodes is tried.

What a request means is taken from ``match_oracle``; of counts, shapes and names it has only what
decisions 183 to 189 say. Numbers are small: amounts are halves, tasks and nodes few.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import NamedTuple

import match_oracle as oracle

JUST = Fraction(1, 64)  # just above a bound that is not included
OF_THE_JOB = ("Queue", "Duration")  # asked only of nodes that mention it


class Variant(NamedTuple):
    score: Fraction
    needs: dict
    facts: list


class Group(NamedTuple):
    """A task group: its tasks, the processors of each, the request, and how tasks spread."""

    tasks: int
    each: int
    request: list
    low: int
    high: int
    shape: tuple = ("any",)
    only: tuple = ()  # names to choose from
    among: tuple = ()  # names that all have to be used
    pins: dict = {}  # noqa: RUF012 - a name, and how many tasks have to be there
    whole: bool = False  # whether amounts are those of all tasks together
    other: int = 0  # a number of nodes that will not do


class Node(NamedTuple):
    name: str
    facts: dict  # {(name, resource): texts}


def variants(group):
    """Every choice of an alternative: what a task takes, what the node has to be, the score."""
    asked = oracle.Asked(group.request)
    for atoms in oracle.alternatives(asked.whole):
        choices = []
        for atom in atoms:
            if atom.kind == "must":
                choices.append([((atom.member, atom.negated),)])
            elif atom.kind == "of":
                choices.append([((member, False),) for member in atom.run.members])
            else:
                every = [(member, atom.negated) for member in atom.run.members]
                choices.append([
                    tuple(term for term, is_in in zip(every, chosen, strict=True) if is_in)
                    for chosen in product((False, True), repeat=len(every))
                ])  # fmt: skip
        for chosen in product(*choices):
            best, wished = {}, Fraction(0)
            for atom, terms in zip(atoms, chosen, strict=True):
                for member, _ in terms:
                    if atom.kind == "must":
                        continue
                    share = Fraction(
                        abs(member.weight), asked.sums[atom.run.level, atom.run.sign, member.key]
                    )
                    if atom.kind == "wish":
                        wished += share
                    else:
                        key = atom.run.level, member.key
                        best[key] = max(best.get(key, Fraction(0)), share)
            made = _variant(group, [term for terms in chosen for term in terms])
            if made is not None:
                yield made._replace(score=wished + sum(best.values()))


def _variant(group, terms):
    needs, facts = {("Processors", None): Fraction(group.each)}, []
    amounts = {}
    for member, negated in terms:
        if member.name in oracle.AMOUNTS and member.name != "Duration":
            amounts.setdefault(member.key, []).append((member, negated))
        else:
            facts.append((member, negated))
    for key, some in amounts.items():
        bounds = [Fraction(0), *(Fraction(member.text) for member, _ in some)]
        tried = sorted(n for bound in bounds for n in (bound, bound + JUST) if n > 0)
        least = next(
            (
                number for number in tried
                if all(oracle.holds(m, n, {}, {key: number}) == oracle.YES for m, n in some)
            ),
            None,
        )  # fmt: skip
        if least is None:
            return None
        needs[key] = least / group.tasks if group.whole else least
    return Variant(Fraction(0), needs, facts)


def admits(variant, node):
    """Whether a node is what a variant asks of it, apart from what is taken."""
    times = []
    for member, negated in variant.facts:
        if member.key not in node.facts and member.name in OF_THE_JOB:
            continue
        if member.name == "Duration":
            times.append((member, negated))
        elif oracle.holds(member, negated, node.facts, {}) != oracle.YES:
            return False
    return not times or any(
        all(oracle.holds(m, n, {}, {m.key: seconds}) == oracle.YES for m, n in times)
        for seconds in range(1, int(node.facts[times[0][0].key][0]) + 1)
    )


def spreads(group, names):
    """Every way to spread the tasks of a group that its counts, shape and names allow."""
    for numbers in product(range(-1, group.tasks + 1), repeat=len(names)):
        used = [number for number in numbers if number >= 0]  # -1: not a node of the group
        if sum(used) != group.tasks or not group.low <= len(used) <= group.high:
            continue
        if len(used) == group.other:
            continue
        kind, *rest = group.shape
        if kind == "full":
            full, left = rest[0], group.tasks % rest[0]
            if any(number not in (0, full, left) for number in used):
                continue
            if sum(number == left for number in used) > 1 and 0 < left < full:
                continue
        elif 0 in used:
            continue
        if kind == "even" and max(used) - min(used) > 1:
            continue
        if kind == "sizes" and sorted(used) != sorted(rest[0]):
            continue
        where = {name: number for name, number in zip(names, numbers, strict=True) if number >= 0}
        if group.only and not set(where) <= set(group.only):
            continue
        if not set(group.among) <= set(where):
            continue
        if any(where.get(name, -1) < number for name, number in group.pins.items()):
            continue
        yield where


def best(groups, nodes):
    """The best value of all placements, or None: the score, and minus the number of nodes."""
    names = [node.name for node in nodes]
    found = None
    for wheres in product(*(list(spreads(group, names)) for group in groups)):
        score = scored(groups, nodes, wheres)
        if score is not None:
            value = score, -len(set().union(*wheres))
            found = value if found is None else max(found, value)
    return found


_VARIANTS = {}


def scored(groups, nodes, wheres):
    """The best score with so many tasks of each group on each node, or None."""
    total = Fraction(0)
    for node in nodes:
        here = [(g, where[node.name]) for g, where in zip(groups, wheres, strict=True)
                if node.name in where]  # fmt: skip
        choices = []
        for group, number in here:
            if id(group) not in _VARIANTS:
                every = []
                for each in variants(group):
                    every += [] if each in every else [each]
                _VARIANTS[id(group)] = group, every
            able = [each for each in _VARIANTS[id(group)][1] if admits(each, node)
                    and _room(node, [(each, 1)])]  # fmt: skip
            if not able:
                return None
            choices.append([
                [(each, some.count(each)) for each in able]
                for some in combinations_with_replacement(able, number)
            ])  # fmt: skip
        scores = [
            sum(
                (Fraction(each.score * number, group.tasks)
                 for (group, _), some in zip(here, chosen, strict=True) for each, number in some),
                Fraction(0),
            )
            for chosen in product(*choices)
            if _room(node, [pair for some in chosen for pair in some])
        ]  # fmt: skip
        if not scores:
            return None
        total += max(scores)
    return total


def _room(node, placed):
    """Whether a node has room for so many tasks of each variant."""
    taken = {}
    for variant, number in placed:
        for key, least in variant.needs.items() if number else ():
            taken[key] = taken.get(key, Fraction(0)) + least * number
    return all(
        key in node.facts and Fraction(node.facts[key][0]) >= number
        for key, number in taken.items()
    )
