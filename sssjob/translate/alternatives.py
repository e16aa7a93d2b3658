"""Which alternative of a request is written: the best, or the next one that nothing refuses.

One rule for what is translated, for ads and for what is submitted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from sssjob.amounts import Scope
from sssjob.defaults import LAID_OUT
from sssjob.expression import Alternative, Not, comparisons
from sssjob.model import stripped


class Refusal(NamedTuple):
    """What is refused of a job: the place of a property, and its value where that is known."""

    path: str
    value: str | None = None

    @property
    def name(self) -> str:
        """The name of the property."""
        return self.path.partition("/@")[0].rpartition("/")[2].partition("[")[0]


class WithRefusals(Protocol):
    """What is made of one alternative of a job."""

    @property
    def refusals(self) -> Collection[Refusal]:
        """What refuses the job."""
        ...


W = TypeVar("W", bound=WithRefusals)


# decisions 1112, 1146
def not_refused(scope: Scope, best: W, made_of: Callable[[int], W]) -> W:
    """What is made of the first of the alternatives, best first, that nothing refuses; or the best.

    ``made_of`` makes that of an alternative by its number (``Scope.choices``). What the request
    does not speak of is the same in each. One that asks for all that is refused of the best is not
    looked at.
    """
    if not best.refusals or len(scope.choices) < 2:
        return best
    refused = _of_request(scope, best.refusals)
    best_said = _said(scope.choice.whole) if scope.choice is not None else frozenset()
    for number, each in enumerate(scope.choices) if refused else ():
        if each is not scope.choice and _differs(each.whole, refused, best_said):
            made = made_of(number)
            if not _of_request(scope, made.refusals):
                return made
    return best


def _of_request(scope: Scope, refusals: Iterable[Refusal]) -> list[Refusal]:
    """Those of which another alternative may ask for less."""
    names = scope.mentioned_with_group | LAID_OUT
    return [each for each in refusals if each.name in names]


_Said: TypeAlias = frozenset[tuple[str, str, str, bool]]


def _said(alternative: Alternative) -> _Said:
    """What an alternative compares: the name, the value, the operator, and whether by Not."""
    return frozenset(
        (each.item.name, stripped(each.item.text), each.op, isinstance(term, Not))
        for term in alternative.terms
        for each in comparisons(term)
    )


# decision 1196
def _differs(alternative: Alternative, refused: Iterable[Refusal], best: _Said) -> bool:
    """Whether an alternative may ask for less of what is refused, or counts nodes otherwise.

    It may where it lacks a comparison that the ``best`` has with what is refused.
    """
    said = _said(alternative)
    values = {each[:2] for each in said} - {each[:2] for each in best - said}
    return any(
        each.name in LAID_OUT or each.value is None or (each.name, each.value) not in values
        for each in refused
    )
