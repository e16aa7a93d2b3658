"""Whether an offer satisfies a request, how well, and which comparison decided.

>>> from sssjob.expression import parse
>>> from sssjob.model import Property
>>> request = Request(parse([Property("Processors", 8, {"op": "GE"})]))
>>> answer = request.answer(Offer.of("n1", [Property("Processors", 4)]))
>>> print(answer.verdict, *answer.reasons)
no Processors GE 8: up to 4 offered
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType

from sssjob.errors import Finding, InvalidValue, finding, of_kind, one_of, shown
from sssjob.expression.alternative import interval
from sssjob.expression.comparison import NO, Ask, Verdict
from sssjob.expression.fit import Fit, FitPlan, at
from sssjob.expression.fit import plan as planned
from sssjob.expression.normal_form import Formula, Point, leaves, truth
from sssjob.expression.normal_form import formula as normal
from sssjob.expression.offer import Number, Offer, outside
from sssjob.expression.pattern import Matching
from sssjob.expression.reading import all_requested, of
from sssjob.expression.reasons import Reason, chosen, explained
from sssjob.expression.tree import (
    Comparison,
    Expression,
    Not,
    OneOf,
    Or,
    all_of,
    conjuncts,
    inverse,
)
from sssjob.model import Block

__all__ = ["Answer", "Offer", "Reason", "Request", "Verdict", "ranked"]


_VERDICTS = tuple(Verdict)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request has to say to one offer.

    ``score`` is the sum of the shares of the preferences that hold (3.3), and None if the offer
    is refused. ``alternative`` is what of the request it satisfies, and ``taken`` the amounts
    that do so. ``reason`` is the whole explanation, ``reasons`` are the comparisons that decided.
    """

    offer: Offer
    verdict: Verdict
    score: Fraction | None
    alternative: Expression | None
    taken: Point
    reason: Reason

    def __bool__(self) -> bool:
        """Whether the verdict is yes: what is not known is not."""
        return self.verdict is Verdict.YES

    @property
    def reasons(self) -> tuple[str, ...]:
        """Each comparison that decided, in document order, with what was offered."""
        return tuple(dict.fromkeys(map(str, self.reason.deciding())))


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """An expression made ready once, to be asked of any number of offers."""

    expression: Expression
    match: Matching = "full"
    formula: Formula = field(init=False, repr=False)
    plan: FitPlan = field(init=False, repr=False)
    _fits: Ask = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.expression, Expression):
            raise InvalidValue(shown(self.expression), "an expression; Request.of takes a job")
        one_of(self.match, Matching, "how patterns match")
        made = normal(self.expression, self.match, _node_count(self.expression))
        object.__setattr__(self, "formula", made)
        object.__setattr__(self, "plan", planned(made))
        object.__setattr__(self, "_fits", self.plan.verdict)

    @classmethod
    def of(cls, block: Block, match: Matching = "full") -> Request:
        """What a job, task group or task asks for itself, in Requested and outside of it.

        Its defaults are resolved; task groups in it are left out. Raises as ``parse`` does.
        """
        if not isinstance(block, Block):
            raise InvalidValue(shown(block), "a job, a task group or a task; loads reads a text")
        return cls(stated(block), match)

    def verdict(self, offer: Offer) -> Verdict:
        """Whether the offer satisfies the request. Raises ``WrongKind``."""
        if type(offer) is not Offer:
            of_kind(offer, Offer, "an Offer")
        if offer.mode == "exact":
            return Verdict(truth(self.formula, offer, self._delivered(offer)))
        return _VERDICTS[self._fits(offer)]

    def answer(self, offer: Offer) -> Answer:
        """The verdict with its score and its reasons. Raises ``WrongKind``."""
        of_kind(offer, Offer, "an Offer")
        if offer.mode == "exact":
            found = at(self.formula, offer, self._delivered(offer))
        elif self._fits(offer) == NO:
            found = Fit(NO)
        else:
            found = self.plan.best(offer)
        verdict, score, taken = Verdict(found.verdict), found.score, found.taken
        if verdict is Verdict.UNKNOWN and found.stopped:
            reason = Reason(verdict, str(found.stopped))
        else:
            reason = explained(self.formula, offer, taken, verdict)
        if verdict is Verdict.NO:
            return Answer(offer, verdict, None, None, MappingProxyType({}), reason)
        alternative = chosen(self.formula, offer, taken) if verdict is Verdict.YES else None
        return Answer(offer, verdict, score, alternative, MappingProxyType(taken), reason)

    def faults(self) -> Iterator[Finding]:
        """What in the request cannot be answered by any offer."""
        for leaf in leaves(self.formula):
            if leaf.code:
                item = leaf.comparison.item
                yield finding(leaf.code, f"{leaf.comparison}: {leaf.fault}", line=item.line,
                              path=item.name, section="SSS 8.1")  # fmt: skip

    def stopped(self) -> Iterator[Finding]:
        """The patterns that took too many steps with some offer."""
        for leaf in leaves(self.formula):
            if leaf.pattern is not None and leaf.pattern.stopped is not None:
                item = leaf.comparison.item
                yield finding("E-REGEX-LIMIT", str(leaf.pattern.stopped), line=item.line,
                              path=item.name, section="SSS 8.1")  # fmt: skip

    def _delivered(self, offer: Offer) -> dict[str, Number | None]:
        return {leaf.slot: offer.amount(leaf.slots) for leaf in leaves(self.formula) if leaf.slots}


def stated(block: Block, job: Block | None = None) -> Expression:
    """What a block asks for, in Requested and outside of it (8.0); raises as ``parse``.

    ``job`` is the whole one, of which the block is a part.
    """
    requested, beside = of(block), outside(block, job)
    if requested is None or not beside:  # as of most
        return all_of(map(Comparison, beside)) if requested is None else requested
    return all_requested((requested, all_of(map(Comparison, beside))))


def ranked(answers: Iterable[Answer]) -> list[Answer]:
    """The best first: yes before unknown before no, then by score; ties keep their order."""
    of_kind(answers, Iterable, "answers")
    given = list(answers)
    for each in given:
        of_kind(each, Answer, "an answer of match")
    return sorted(given, key=lambda each: (-each.verdict, -(each.score or 0)))


def _node_count(expression: Expression) -> int | None:
    """How many nodes the request wants in any case; of a range, or of alternatives, the fewest."""
    try:
        return _fewest(conjuncts(expression))
    except ValueError:  # it is no number, which is said where it is compared
        return None


def _fewest(parts: Iterable[Expression]) -> int | None:
    """The fewest nodes that all of these want together; None if they do not say."""
    plain: list[Comparison] = []
    found: list[int] = []
    for each in parts:
        part: Expression = each
        if isinstance(each, Not) and isinstance(each.operand, Comparison):
            part = inverse(each.operand)
        match part:
            case Comparison(item) if item.name == "NodeCount" and part.op != "Match":
                plain.append(part)
            case Or(operands) | OneOf(operands):
                every = [_fewest(conjuncts(operand)) for operand in operands]
                fewest = [number for number in every if number is not None]
                if fewest and len(fewest) == len(every):
                    found.append(min(fewest))
    if plain:
        bounds = interval(plain, "NodeCount")
        if bounds.lo is None or bounds.lo < 1:  # a node is needed at the least
            bounds = replace(bounds, lo=Fraction(1), lo_open=False)
        least = bounds.integers().lo
        assert least is not None
        found.append(int(least))
    return max(found, default=None)
