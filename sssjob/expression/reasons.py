"""Why an offer was taken or refused: the request as a tree of verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sssjob.errors import shortened
from sssjob.expression.comparison import YES, Leaf, Verdict
from sssjob.expression.fit import components, plan
from sssjob.expression.normal_form import (
    All,
    Any,
    Formula,
    Point,
    Preferred,
    Wished,
    apart,
    leaves,
    scale,
    scored,
    truth,
)
from sssjob.expression.offer import Offer
from sssjob.expression.tree import Comparison, Expression, all_of, inverse, key

_Ask: TypeAlias = Callable[[Formula], int]


@dataclass(frozen=True, slots=True)
class Reason:
    """A part of a request, its verdict, and why; ``parts`` are those of And, Or and so on.

    ``optional`` is a wish, which decides nothing.
    """

    verdict: Verdict
    text: str
    parts: tuple[Reason, ...] = ()
    optional: bool = False

    def __str__(self) -> str:
        return self.text

    def deciding(self) -> Iterator[Reason]:
        """The comparisons without which the verdict would be another; a wish has none."""
        if self.optional:
            return
        if not self.parts and self.text:
            yield self
        for part in self.parts:
            if part.verdict == self.verdict:
                yield from part.deciding()


def explained(part: Formula, offer: Offer, point: Point, verdict: int) -> Reason:
    """The reason for the verdict over a request, with all its parts.

    Of a yes, each part is judged by the amounts that are taken; of another verdict by itself,
    with any amounts, so that what can never be satisfied stands out.
    """
    ask = _at(offer, point) if verdict == YES or offer.mode == "exact" else _alone(offer)
    return _explained(part, offer, ask)


def _explained(part: Formula, offer: Offer, ask: _Ask) -> Reason:
    match part:
        case Leaf():
            return Reason(Verdict(ask(part)), _compared(part, offer))
        case All(()):
            return Reason(Verdict.YES, "")
        case Any(()):
            return Reason(Verdict.NO, "a negated group has a preference in it, which always holds")
        case All(parts) | Any(parts) | Preferred(parts) | Wished(parts):
            inner = tuple(_explained(each, offer, ask) for each in parts)
    verdict = Verdict(ask(part))
    if isinstance(part, All) and verdict != min((each.verdict for each in inner), default=YES):
        inner = (*inner, *_conflicts(part, ask))
    return Reason(verdict, _NAMES[type(part)], inner, isinstance(part, Wished))


_NAMES = {All: "And", Any: "Or", Preferred: "at least one of", Wished: "if possible"}


def chosen(part: Formula, offer: Offer, point: Point) -> Expression:
    """What of a request is satisfied by these amounts: one alternative of it."""
    return all_of(_chosen(part, offer, point))


def _chosen(part: Formula, offer: Offer, point: Point) -> Iterator[Expression]:
    match part:
        case Leaf(comparison, negated):
            yield _term(comparison, negated)
        case All(parts):
            for inner in apart(parts):
                yield from _chosen(inner, offer, point)
        case Any(parts):
            whole = scale(part)
            best = max(parts, key=lambda inner: scored(inner, offer, point, whole))
            yield from _chosen(best, offer, point)
        case Preferred(members, weights):
            held = [
                (each, member)
                for member, each in zip(members, weights, strict=True)
                if truth(member, offer, point) == YES
            ]
            _, best = max(held, key=lambda pair: pair[0])
            yield best.comparison


def _term(comparison: Comparison, negated: bool) -> Expression:
    return inverse(comparison) if negated else comparison


def _at(offer: Offer, point: Point) -> _Ask:
    """The verdict over a part at these amounts."""
    return lambda part: truth(part, offer, point)


def _alone(offer: Offer) -> _Ask:
    """The verdict over a part by itself: with any amounts that the offer allows."""
    return lambda part: plan(part).verdict(offer)


def _compared(leaf: Leaf, offer: Offer) -> str:
    """``Processors EQ 8: up to 4 offered``: both values in their own units.

    A number that is offered is the most that there is, unless numbers are compared as they are.
    """
    name = shortened(str(leaf))
    if leaf.fault:
        return f"{name}: {leaf.fault}"
    if leaf.pattern is not None:
        texts = offer.names.get(key(leaf.comparison.item), ())
        if why := leaf.pattern.given_up(texts):
            return f"{name}: given up, {why}"
    shown = shortened(offer.shown(leaf.comparison.item))
    if leaf.slots and shown != "not known" and offer.amount(leaf.slots) is None:
        return f"{name}: cannot be compared with {shown}"
    if shown == "not known":
        return f"{name}: {shown}"
    up_to = "up to " if leaf.slots and offer.mode == "fit" and shown != "none" else ""
    return f"{name}: {up_to}{shown} offered"


def _conflicts(part: All, ask: _Ask) -> Iterator[Reason]:
    """The parts that can each be satisfied, but not with the same amounts."""
    for group in components(part.parts):
        if len(group) < 2:
            continue
        together = All(tuple(group))
        verdict = ask(together)
        if verdict < min(map(ask, group)):
            taken = [each.comparison.item.name for each in leaves(together) if each.slots]
            names = " and ".join(dict.fromkeys(taken))
            said = " and ".join(dict.fromkeys(map(_brief, group)))
            yield Reason(Verdict(verdict), f"no amount of {names} satisfies {said} together")


def _brief(part: Formula) -> str:
    if isinstance(part, Leaf):
        return shortened(str(part))
    joint = " And " if isinstance(part, All) else " Or "
    inner: Sequence[Formula] = part.parts if isinstance(part, All | Any) else part.members
    return f"({joint.join(map(_brief, inner))})"
