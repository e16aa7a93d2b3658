"""What cannot hold together in one alternative of a request: one rule for all who look at it.

>>> from sssjob.expression import alternatives, parse
>>> from sssjob.model import Property
>>> asked = parse([Property("Feature", "ib"), Property("Feature", "ib", {"op": "NE"})])
>>> shown(conflict(alternatives(asked).best[0]))
'Feature EQ ib and Feature NE ib cannot hold together'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations, islice

from sssjob.errors import InvalidValue
from sssjob.expression.alternative import Alternative, interval
from sssjob.expression.asked_names import (
    AskedNames,
    asked_names,
    excluded_by,
    is_matched_and_not,
    mismatches,
)
from sssjob.expression.offer import AMOUNTS, COUNTS, SETS, slots
from sssjob.expression.tree import Comparison, Term, amount, comparison_of, key
from sssjob.model import Property

# Of which a job has one at least, as a whole number.
COUNTED = ("NodeCount", "Processors", "Duration")
_PAIRS = 4096  # more are not looked at: then all that is said of the thing is told


# decision 1033
def conflict(one: Alternative) -> tuple[Term, ...]:
    """Terms of one alternative that no value satisfies together; none where there is one.

    Of features and nodes there may be several, of all else there is one value. Names of a List, a
    Range or a Pattern are those that ``asked_names`` gives; two patterns are the same by their
    text.
    """
    terms = one.terms
    alone = {term.item.name if isinstance(term, Comparison) else "" for term in terms}
    if len(alone) == len(terms) and "" not in alone:  # as in most
        return ()
    kinds: dict[str, list[Term]] = {}
    for term in terms:
        item = comparison_of(term).item
        if item.name in SETS or "aggregation" not in item.attributes:
            kinds.setdefault(about(item), []).append(term)
    for same in kinds.values():
        if len(same) > 1 and (found := _clash(same)):
            return found
    return ()


# decisions 1162, 1181
def without_conflicts(
    every: Sequence[Alternative], demanded: Callable[[Alternative], Iterable[Term]]
) -> Sequence[Alternative]:
    """Those of which what is demanded can hold together; all of them where none can."""
    if len(every) < 2:
        return every
    return [one for one in every if not conflict(Alternative((*demanded(one),)))] or every


# decision 1121
def no_count(one: Alternative) -> tuple[Term, ...]:
    """Terms of one alternative that leave no node, or no processor; none where they leave some."""
    for name in COUNTED:
        terms = [
            term for term in one.terms
            if isinstance(term, Comparison) and term.item.name == name and _is_of_job(term.item)
        ]  # fmt: skip
        with suppress(InvalidValue):  # which is told where it is read
            if terms and interval(terms, name).has_no_count:
                return tuple(terms)
    return ()


def _is_of_job(item: Property) -> bool:
    """Whether an amount is what the job is to have, rather than what a node is built with."""
    said = item.attributes
    return "metric" not in said and said.get("context", "").strip() not in ("Configured", "Used")


def shown(found: Iterable[Term]) -> str:
    """A conflict as a sentence."""
    terms = [*dict.fromkeys(map(str, found))]
    said = " and ".join(terms)
    return f"{said} cannot hold together" if len(terms) > 1 else f"{said} leaves no number above 0"


def about(item: Property) -> str:
    """What a comparison is about: an amount by where it is looked up, a fact by its key."""
    return slots(item)[0] if item.name in AMOUNTS else key(item)


def _clash(terms: Sequence[Term]) -> tuple[Term, ...]:
    if comparison_of(terms[0]).item.name in AMOUNTS:
        numbers = [*_readable(terms)]
        if not _no_number(numbers):
            return ()
        pairs = islice(combinations(numbers, 2), _PAIRS)
        return next((pair for pair in pairs if _no_number(pair)), tuple(numbers))
    named = [(term, asked_names(term)) for term in terms]
    if not _no_text(named):
        return ()
    both = (pair for pair in islice(combinations(named, 2), _PAIRS) if _no_text(pair))
    return tuple(term for term, _ in next(both, named))


def _readable(terms: Iterable[Term]) -> Iterator[Comparison]:
    for term in terms:
        if isinstance(term, Comparison):
            with suppress(InvalidValue):  # which is told where it is read
                amount(term.item)
                yield term


def _no_number(terms: Sequence[Comparison]) -> bool:
    left = interval(terms, key(terms[0].item)) if terms else None
    return left is not None and (left.integers() if terms[0].item.name in COUNTS else left).empty


def _no_text(named: Sequence[tuple[Term, AskedNames]]) -> bool:
    demanded = {texts for _, asked in named for texts in asked.demanded}
    wanted = {asked.pattern for _, asked in named if not asked.is_excluding} - {""}
    if wanted and is_matched_and_not(asked for _, asked in named):
        return True
    if comparison_of(named[0][0]).item.name not in SETS and (
        len(demanded) > 1
        # decision 1041
        or any(
            all(mismatches(each, text) for text in texts) for each in wanted for texts in demanded
        )
    ):
        return True
    if not any(asked.takes_away for _, asked in named):
        return False
    is_excluded = excluded_by(asked for _, asked in named)
    return any(bool(texts) and all(map(is_excluded, texts)) for texts in demanded)
