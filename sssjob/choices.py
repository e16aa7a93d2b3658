"""What a job requests together with its only task group: which alternatives the two have as one.

A job and its only task group are one, so that neither has alternatives of its own: each of one goes
with each of the other, and what counts of both is ``defaults.together``. Whoever takes numbers,
nodes or features of one of them takes those of the same choice of the other.

Why it is right: a part that both say alike is one part, so that only those go together that take
the same branch of it; and what does not count, as the other says another, is in no ``whole``.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from sssjob import expression
from sssjob.defaults import COUNTS, together
from sssjob.expression import Alternative, Expression, Term, comparisons, identities
from sssjob.expression.comparison import Leaf
from sssjob.expression.offer import without_set_aside
from sssjob.model import Block, Requested

B = TypeVar("B", bound=Block)


class JointChoice(NamedTuple):
    """An alternative of a job, with that of its only task group, if it has one.

    ``whole`` is what counts of both, ``counting`` that of the group with the counts of its job. Of
    one of several task groups ``theirs`` is what its job says of each.
    """

    whole: Alternative
    own: Alternative
    theirs: Alternative
    counting: Alternative


def alone(own: Alternative) -> JointChoice:
    """The choice of who has no group."""
    return JointChoice(own, own, NOTHING, own)


NOTHING = Alternative(())  # of who requests nothing


class Asking(NamedTuple):
    """What a job or task group requests: its parts that And joins, and its alternatives.

    ``beside`` is what it asks for outside of its request (``offer.asked_outside``).
    """

    parts: Sequence[Expression]
    alternatives: Sequence[Alternative]
    beside: Sequence[Expression] = ()

    @property
    def every(self) -> tuple[Expression, ...]:
        """All parts, in the request and beside it."""
        return (*self.parts, *self.beside)


def of_both(own: Asking, theirs: Asking, said: Iterable[str], most: int) -> list[JointChoice]:
    """The choices of a job and its only task group, best first, equal ones in document order.

    ``said`` are the names by which the group says something outside of its request.
    """
    counts = together(own.every, theirs.every, said).items
    alike = [
        (identities((mine,)), identities((part,)))
        for mine in own.parts for part in theirs.parts if mine == part
    ]  # fmt: skip
    found = (
        _choice(one, other, counts)
        for one, other in _pairs(own.alternatives, theirs.alternatives, 0 if alike else most)
        if all(_inside(one, mine) == _inside(other, part) for mine, part in alike)
    )
    return sorted(found, key=lambda each: each.whole.score, reverse=True)[:most]


# decision 1190
def of_each(
    lent: Sequence[Alternative], own: Sequence[Alternative], most: int
) -> list[JointChoice]:  # fmt: skip
    """The choices of one of several task groups with what its job says of each of them.

    Best first, equal ones in document order; ``theirs`` is what the job says.
    """
    found = (_beside(one, other) for one, other in _pairs(lent, own, most))
    return sorted(found, key=lambda each: each.whole.score, reverse=True)[:most]


def _beside(lent: Alternative, own: Alternative) -> JointChoice:
    whole = Alternative((*lent.terms, *own.terms), lent.score + own.score)
    return JointChoice(whole, own, lent, own)


def requesting(block: B, alternative: Alternative) -> B:
    """A block that requests one of its alternatives, with the wishes in it.

    Nothing counts outside of the request that did not before.
    """
    terms = (*alternative.terms, *alternative.wished)
    asked = expression.write(expression.all_of(terms))
    first = block.block(Requested)
    return block.holding(
        each.holding(asked if each is first else ()) if isinstance(each, Requested) else each
        for each in without_set_aside(block).items
    )


def _pairs(
    own: Sequence[Alternative], theirs: Sequence[Alternative], most: int
) -> Iterator[tuple[Alternative, Alternative]]:
    """Each with each: both are sorted, so that in the n-th best (i + 1)(j + 1) <= n."""
    for place, one in enumerate(own or (NOTHING,)):
        others = theirs or (NOTHING,)
        for other in others[: most // (place + 1)] if most else others:
            yield one, other


def _choice(own: Alternative, theirs: Alternative, counts: Container[int]) -> JointChoice:
    mine, others = _counting(own, counts), _counting(theirs, counts)
    score = own.score + theirs.score
    of_tasks = [term for term in mine.terms if not COUNTS.isdisjoint(_names(term))]
    return JointChoice(
        Alternative((*mine.terms, *others.terms), score), mine, others,
        Alternative((*of_tasks, *others.terms), score),
    )  # fmt: skip


def _counting(alternative: Alternative, items: Container[int]) -> Alternative:
    """An alternative without the terms that are made of other comparisons."""
    asked = [*alternative.asked]
    kept = [term for term, of in asked if id(of.item) in items]
    if len(kept) == len(asked):
        return alternative
    parts = [
        part for part in alternative.parts
        if not isinstance(part, Leaf) or id(part.comparison.item) in items
    ]  # fmt: skip
    return Alternative(tuple(kept), alternative.score, parts)


def _names(term: Term) -> set[str]:
    return {each.item.name for each in comparisons(term)}


def _inside(alternative: Alternative, items: Container[int]) -> tuple[Term, ...]:
    """The terms of an alternative that are made of some comparisons."""
    return tuple(term for term, asked in alternative.asked if id(asked.item) in items)
