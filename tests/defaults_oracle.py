"""A second opinion on what a job or a task group asks for, with its defaults: rules 1.1 to 1.6.

It takes plain values and shares no code with ``sssjob.defaults`` or ``sssjob.expression``. What is
requested is a list of conjuncts, each with the names that it mentions and those that it demands;
amounts outside of Requested are requested, too, unless Requested demands something of that name.
"""

from __future__ import annotations

from typing import NamedTuple

import match_oracle as oracle


class Unit(NamedTuple):
    """What a job, a task group or a defaults element says: amounts of its own, Requested blocks,
    and what lends to those below."""

    own: tuple = ()
    requested: tuple = ()
    below: Unit | None = None
    inner: tuple = ()


class Conjunct(NamedTuple):
    """A part of a request that holds by itself, its names, those of them that are no wishes alone,
    and the sums of its preferences."""

    part: object
    names: frozenset
    demanded: frozenset
    sums: dict


class Layer(NamedTuple):
    """A unit over its defaults."""

    own: tuple
    conjuncts: tuple
    below: Layer | None


def layer(unit):
    """A unit as it stands."""
    if unit is None:
        return None
    conjuncts = tuple(each for items in unit.requested for each in split(items))
    return Layer(tuple(unit.own), conjuncts, layer(unit.below))


def split(items):
    """The conjuncts of one Requested: what And joins at its root; all of it, where Or does."""
    asked = oracle.Asked(items)
    rows = asked.root.rows
    while len(rows) == 1 and len(rows[0]) == 1 and isinstance(rows[0][0][1], oracle.Level):
        ((negated, inner),) = rows[0]  # brackets around all of it say nothing
        if negated:
            break
        rows = inner.rows
    if len(rows) != 1:
        return [conjunct(asked.whole, asked.root, asked.sums)] if rows else []
    return [
        conjunct(oracle._operand(operand, was, False), operand, asked.sums)
        for was, operand in rows[0]
    ]


def conjunct(part, operand, sums):
    found = members(operand)
    demanded = frozenset(member.name for member in found if member.sign >= 0)
    return Conjunct(part, frozenset(member.name for member in found), demanded, sums)


def members(operand):
    if isinstance(operand, oracle.Run):
        return operand.members
    return [member for row in operand.rows for _, each in row for member in members(each)]


def over(child, default):
    """1.5, 1.6: what the child mentions, in Requested or outside of it, drops a default."""
    if default is None:
        return child
    if child is None:
        return default
    said = {item.name for item in child.own}.union(*(each.names for each in child.conjuncts))
    own = (*child.own, *(item for item in default.own if item.name not in said))
    kept = tuple(each for each in default.conjuncts if not each.names & said)
    return Layer(own, (*child.conjuncts, *kept), over(child.below, default.below))


def asked(found):
    """A layer as a request that the oracle of requests answers."""
    whole = oracle.Asked(())
    demanded = frozenset().union(*(each.demanded for each in found.conjuncts))
    beside = [item for item in found.own if item.name not in demanded]  # 8.0
    conjuncts = (*found.conjuncts, *(each for item in beside for each in split([item])))
    whole.whole = oracle.Part("And", [each.part for each in conjuncts])
    for each in conjuncts:
        whole.sums.update(each.sums)
    return whole


def requests(group):
    """What each job of a group asks for, and each of its task groups, in document order."""
    for job in group.inner:
        found = over(layer(job), layer(group.below))
        yield asked(found)
        for task_group in job.inner:
            yield asked(over(layer(task_group), found.below))
