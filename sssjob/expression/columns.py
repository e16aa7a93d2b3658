"""Very many offers as columns of numpy, asked all at once: the verdicts that each would get alone.

Strategy. A request is fitted by the plan of ``fit``, and this module has no meaning of its own.
What a plan says of one offer is said here of all: a least amount is one comparison of a column; And
and Or join what their operands say. All else rests on one fact: offers that no comparison tells
apart get the same answer. So each column becomes classes (the numbers between two that the request
names, or equal texts), and of the offers with the same classes one is asked, as if it were alone.
Reasons are given for those offers that somebody asks about.

Needs numpy: ``pip install 'sssjob[numpy]'``.

>>> from sssjob.expression import parse
>>> from sssjob.expression.evaluate import Request
>>> from sssjob.model import Property
>>> offers = Columns({"Processors": [4, 64], "Queue": ["short", "long"]})
>>> found = offers.ask(Request(parse([Property("Processors", 8, {"op": "GE"})])))
>>> found.yes.tolist(), found.answer(0).reasons
([False, True], ('Processors GE 8: up to 4 offered',))
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from math import ceil, floor, inf, isinf, lcm, nextafter
from typing import Any, NoReturn, TypeAlias

try:
    import numpy as np
    from numpy.typing import NDArray
except ModuleNotFoundError as error:
    text = "columns of offers need numpy: pip install 'sssjob[numpy]'"
    raise ModuleNotFoundError(text, name="numpy") from error

from sssjob import spec
from sssjob.expression.comparison import NO, UNKNOWN, YES, Leaf, Verdict
from sssjob.expression.evaluate import Answer, Request
from sssjob.expression.fit import (
    Fit,
    FitPlan,
    Joint,
    OrChoice,
    PlainComparison,
    Searched,
    Threshold,
    at,
    numbers,
)
from sssjob.expression.normal_form import All, Formula, counted, leaves
from sssjob.expression.offer import AMOUNTS, Mode, Number, Offer
from sssjob.expression.offers import BadOffer, offer
from sssjob.expression.tree import key
from sssjob.units import DEFAULT_UNITS, UNITS, double

Truths: TypeAlias = NDArray[np.bool_]
Codes: TypeAlias = NDArray[np.int64]

_ZERO = Fraction(0)
_FEW = 1 << 16  # classes that are numbered without looking which of them there are
_MOST = 1 << 62  # numerators of scores are counted in 64 bits up to here


@dataclass(frozen=True, slots=True)
class OfferColumn:
    """One member of all offers: numbers that can be compared at once, or values by their number.

    ``numbers`` are in units of ``factor``; those that are ``missing`` are not known. ``codes`` say
    which of the ``values`` each offer has, and ``first`` which is the first to have each.
    """

    numbers: NDArray[Any] | None = None
    factor: int = 1
    missing: Truths | None = None
    codes: Codes | None = None
    values: tuple[Any, ...] = ()
    first: Sequence[int] = ()


class Columns:
    """Offers by column: names as in offers of JSON, and for each one value per offer.

    Numbers are in the default unit of their property; NaN, None and what is masked is not known.
    ``ids``, or a column ``id``, name the offers, which else have numbers. Raises ``BadOffer`` for
    what JSON would be refused for.
    """

    def __init__(
        self, columns: Mapping[str, Any], *, ids: Sequence[str] | None = None, mode: Mode = "fit"
    ) -> None:
        self.mode: Mode = mode
        self._ids = columns.get("id", ids)
        self._given: dict[str, _OfferMember] = {}
        for name, value in columns.items():
            if name == "id":
                continue
            alias = spec.alias(name, spec.REQUESTED)
            member = alias.canonical if alias else name
            if member in self._given or member == "mode":
                raise BadOffer(None, "", f"{name} is no column, or one for the second time")
            self._given[member] = _OfferMember(member, value)
        sizes = {len(given) for given in self._given.values()}
        sizes |= set() if self._ids is None else {len(self._ids)}
        if len(sizes) > 1:
            raise BadOffer(None, "", f"columns of different lengths: {sorted(sizes)}")
        self.size = sizes.pop() if sizes else 0
        for given in self._given.values():
            given.check(self)

    def __len__(self) -> int:
        return self.size

    def offer(self, place: int) -> Offer:
        """One of the offers, by itself."""
        if not 0 <= place < self.size:
            raise IndexError(place)
        return self._offer(place, self._given.values())

    def ask(self, request: Request) -> ColumnAnswers:
        """What a request says to each of the offers."""
        return _ColumnRequest(self, request).found()

    def column(self, name: str) -> OfferColumn | None:
        """The column of a member, or None if the offers have none."""
        given = self._given.get(name)
        return None if given is None else given.column

    def alone(self, place: int, names: Iterable[str]) -> Offer:
        """An offer with these members only."""
        return self._offer(place, [self._given[name] for name in names])

    def _offer(self, place: int, members: Iterable[_OfferMember]) -> Offer:
        row = {given.name: given.value(place) for given in members}
        name = str(place) if self._ids is None else str(self._ids[place])
        return replace(offer(row, place, self.mode), id=name)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnAnswers:
    """What a request says to offers: ``yes`` and ``possible`` (no certain no) for each of them.

    The score of an offer is its part of ``scores`` over ``whole``.
    """

    columns: Columns
    request: Request
    yes: Truths
    possible: Truths
    scores: NDArray[Any] | None = None
    whole: int = 1

    @property
    def verdicts(self) -> NDArray[np.int8]:
        """0 no, 1 unknown, 2 yes."""
        return self.yes.astype(np.int8) + self.possible

    def verdict(self, place: int) -> Verdict:
        """What is said to one of them."""
        return Verdict(int(self.yes[place]) + int(self.possible[place]))

    def score(self, place: int) -> Fraction | None:
        """How well one is liked, exactly; None if it is refused."""
        if not self.possible[place]:
            return None
        return _ZERO if self.scores is None else Fraction(int(self.scores[place]), self.whole)

    def ranked(self) -> Codes:
        """The places of all offers, the best first; ties keep their order."""
        if self.scores is None:
            return np.argsort(-self.verdicts, kind="stable")
        liked = np.where(self.possible, self.scores, 0)
        return np.lexsort((-liked, -self.verdicts))

    def answer(self, place: int) -> Answer:
        """The whole answer for one of them, with reasons."""
        return self.request.answer(self.columns.offer(place))


class _OfferMember:
    """A member of all offers as it was given: one value each, or a mapping of such."""

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.inner = None
        self.values: Any = None
        if isinstance(value, Mapping):
            self.inner = {inner: _OfferMember(inner, held) for inner, held in value.items()}
            return
        masked = isinstance(value, np.ma.MaskedArray)
        self.values = value if masked else _array(value)
        if self.values.ndim != 1:
            raise BadOffer(None, "", f"{name}: a column has one value for each offer")

    def __len__(self) -> int:
        if self.inner is None:
            return len(self.values)
        sizes = {len(each) for each in self.inner.values()}
        if len(sizes) != 1:
            raise BadOffer(None, "", f"{self.name}: columns of different lengths")
        return sizes.pop()

    def value(self, place: int) -> Any:
        """The value of one offer as JSON has it."""
        if self.inner is not None:
            held = {name: each.value(place) for name, each in self.inner.items()}
            return {name: value for name, value in held.items() if value is not None} or None
        value = self.values[place]
        if value is np.ma.masked:
            return None
        return _plain(value.item() if isinstance(value, np.generic) else value)

    @cached_property
    def column(self) -> OfferColumn:
        """The column, made ready to be asked often."""
        if self.inner is None and self.values.dtype.kind in "iuf" and self.name in AMOUNTS:
            return self._numbers()
        if (
            self.inner is None
            and type(self.values) is np.ndarray
            and self.values.dtype.kind in "US"
        ):
            return self._texts()
        every = [self.value(place) for place in range(len(self))]
        known: dict[Hashable, int] = {}
        values: list[Any] = []
        first: list[int] = []
        codes = np.empty(len(every), np.int64)
        for place, value in enumerate(every):
            held = _hashable(value)
            if held not in known:
                known[held] = len(values)
                values.append(value)
                first.append(place)
            codes[place] = known[held]
        return OfferColumn(codes=codes, values=tuple(values), first=tuple(first))

    def check(self, columns: Columns) -> None:
        """Refuse what JSON would be refused for, told of the first such offer."""
        column = self.column
        if column.numbers is None:
            for place, value in zip(column.first, column.values, strict=True):
                if self.name in AMOUNTS or not isinstance(value, str):
                    columns.alone(place, (self.name,))
            return
        kept = column.numbers if column.missing is None else column.numbers[~column.missing]
        bad = None
        if kept.dtype.kind == "f" and not np.isfinite(kept).all():
            bad = kept[~np.isfinite(kept)][0]
        elif self.name == "Duration" and ((kept < 0) | (kept != np.floor(kept))).any():
            bad = kept[(kept < 0) | (kept != np.floor(kept))][0]
        if bad is not None:
            self._refuse(int(np.argmax(column.numbers == bad)), f"{bad} is no amount")

    def _numbers(self) -> OfferColumn:
        data = np.asarray(self.values)
        mask = np.ma.getmaskarray(self.values) if np.ma.isMaskedArray(self.values) else None
        if data.dtype.kind == "f":
            data = data.astype(np.float64)
            gone = np.isnan(data)
            mask = gone if mask is None else mask | gone
        if mask is not None and not mask.any():
            mask = None
        unit = DEFAULT_UNITS.get(self.name)
        return OfferColumn(data, UNITS[unit] if unit else 1, mask)

    def _texts(self) -> OfferColumn:
        """The same, sooner."""
        known: dict[Any, int] = {}
        listed = self.values.tolist()
        codes = np.fromiter((known.setdefault(each, len(known)) for each in listed), np.int64)
        first = np.empty(len(known), np.int64)
        first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # the last that is written stays
        return OfferColumn(codes=codes, values=tuple(known), first=tuple(first.tolist()))

    def _refuse(self, place: int, reason: str) -> NoReturn:
        raise BadOffer(place, "", f"{self.name}: {reason}")


@dataclass(slots=True)
class _Verdicts:
    """What a part of a request says to all offers; ``scores`` are over ``whole``, None is none."""

    yes: Truths
    possible: Truths
    scores: NDArray[Any] | None = None
    whole: int = 1


class _ColumnRequest:
    """One request over columns."""

    def __init__(self, columns: Columns, request: Request) -> None:
        self.columns, self.request = columns, request
        self.size = len(columns)

    def found(self) -> ColumnAnswers:
        if self.columns.mode == "exact":
            said = self.exactly(self.request.formula)
        else:
            said = self.fitted(self.request.plan)
        return ColumnAnswers(
            self.columns, self.request, said.yes, said.possible, said.scores, said.whole
        )

    def fitted(self, plan: FitPlan) -> _Verdicts:
        """What a plan says."""
        match plan:
            case Threshold(liked=False):
                return self.compared(plan)
            case PlainComparison(leaf=leaf):
                return self.by_classes((leaf,), plan.best)
            case Joint(plans=plans):
                return self.every([self.fitted(each) for each in plans])
            case OrChoice(plans=plans):
                return self.any([self.fitted(each) for each in plans])
        assert isinstance(plan, Searched | Threshold)
        return self.by_classes(tuple(leaves(plan.part)), plan.best)

    def exactly(self, formula: Formula) -> _Verdicts:
        """What a formula says of the numbers as they are."""
        if isinstance(formula, All):
            groups = counted(formula.parts)
            return self.every([
                self.exactly(group[0]) if len(group) == 1 else self.alike(All(group))
                for group in groups
            ])  # fmt: skip
        return self.alike(formula)

    def alike(self, part: Formula) -> _Verdicts:
        """What a part says of numbers as they are, by classes."""
        found = tuple(leaves(part))

        def ask(each: Offer) -> Fit:
            point = {leaf.slot: each.amount(leaf.slots) for leaf in found if leaf.slots}
            return at(part, each, point)

        return self.by_classes(found, ask)

    def compared(self, plan: Threshold) -> _Verdicts:
        """An amount from some capacity on; at once, where the offers have one number each."""
        column = self.number(plan.slots)
        if column is None or column.numbers is None:
            return self.by_classes(tuple(leaves(plan.part)), plan.best)
        yes = _from(column, plan.bound, plan.open)
        if column.missing is None:
            return _Verdicts(yes, yes)
        if plan.missing == YES:
            yes |= column.missing
            return _Verdicts(yes, yes)
        yes &= ~column.missing
        return _Verdicts(yes, yes if plan.missing == NO else yes | column.missing)

    def number(self, slots: tuple[str, ...]) -> OfferColumn | None:
        """The one number that these slots mean, if it is the same for all contexts."""
        for name in AMOUNTS:
            if slots[0] == name or f"{name}||" in slots:
                return self.columns.column(name)
        return None

    def every(self, parts: list[_Verdicts]) -> _Verdicts:
        """And: the least of all, and the sum of the scores."""
        if not parts:
            return self.constant(YES)
        yes, possible = parts[0].yes.copy(), parts[0].possible
        shared = parts[0].yes is possible
        possible = yes if shared else possible.copy()
        for part in parts[1:]:
            if shared and part.possible is not part.yes:
                possible, shared = yes.copy(), False
            yes &= part.yes
            if not shared:
                possible &= part.possible
        liked = [part for part in parts if part.scores is not None]
        if not liked:
            return _Verdicts(yes, possible)
        whole = lcm(*(part.whole for part in liked))
        scores = reduce(np.add, (_over(part, whole, self.size) for part in liked))
        return _Verdicts(yes, possible, scores, whole)

    def any(self, parts: list[_Verdicts]) -> _Verdicts:
        """Or: the best of all, by its verdict and then by its score."""
        if not parts:
            return self.constant(NO)
        yes = reduce(np.logical_or, (part.yes for part in parts))
        possible = reduce(np.logical_or, (part.possible for part in parts))
        if all(part.scores is None for part in parts):
            return _Verdicts(yes, possible)
        whole = lcm(*(part.whole for part in parts))
        highest = yes.astype(np.int8) + possible
        scores = np.zeros(self.size, np.int64 if whole < _MOST else object)
        for part in parts:
            best = (part.yes.astype(np.int8) + part.possible) == highest
            scores = np.where(best, np.maximum(scores, _over(part, whole, self.size)), scores)
        return _Verdicts(yes, possible, scores, whole)

    def constant(self, verdict: int) -> _Verdicts:
        return _Verdicts(
            np.full(self.size, verdict == YES), np.full(self.size, verdict >= UNKNOWN)
        )  # fmt: skip

    def by_classes(self, found: tuple[Leaf, ...], ask: Callable[[Offer], Fit]) -> _Verdicts:
        """What is asked of one offer of each class, and said to all of it."""
        if not self.size:
            return self.constant(NO)
        alike: dict[str, list[Leaf]] = {}
        for leaf in found:
            alike.setdefault(_member(leaf), []).append(leaf)
        names = [name for name in alike if self.columns.column(name) is not None]
        where, places = self.classes({name: alike[name] for name in names})
        fits = [ask(self.columns.alone(int(place), names)) for place in places]
        yes = np.array([fit.verdict == YES for fit in fits])[where]
        possible = yes
        if any(fit.verdict == UNKNOWN for fit in fits):
            possible = np.array([fit.verdict != NO for fit in fits])[where]
        if all(not fit.score for fit in fits):
            return _Verdicts(yes, possible)
        whole = lcm(*(fit.score.denominator for fit in fits))
        scores = [int(fit.score * whole) for fit in fits]
        kind = np.int64 if whole < _MOST and max(scores) < _MOST else object
        return _Verdicts(yes, possible, np.array(scores, kind)[where], whole)

    def classes(self, alike: Mapping[str, list[Leaf]]) -> tuple[Codes, Iterable[int]]:
        """The class of each offer by some members together, and an offer of each class."""
        codes, number = np.zeros(self.size, np.int64), 1
        for name, found in alike.items():
            column = self.columns.column(name)
            assert column is not None
            if column.codes is not None and len(alike) == 1:
                return column.codes, column.first
            own, several = _classes(column, found)
            codes, number = codes * several + own, number * several
            if number > _FEW:
                codes = np.unique(codes, return_inverse=True)[1]
                number = int(codes.max()) + 1
        # The last that is written stays: of each class, the first offer.
        first = np.full(number, -1)
        first[codes[::-1]] = np.arange(self.size - 1, -1, -1)
        used = first >= 0
        return np.cumsum(used)[codes] - 1, first[used]


def _member(leaf: Leaf) -> str:
    """The member of an offer that a comparison is about."""
    item = leaf.comparison.item
    return item.name if item.name == "Resource" else key(item)


def _over(part: _Verdicts, whole: int, size: int) -> NDArray[Any]:
    """Scores over a larger whole."""
    kind = np.int64 if whole < _MOST else object
    if part.scores is None:
        return np.zeros(size, kind)
    return part.scores.astype(kind) * (whole // part.whole)


def _classes(column: OfferColumn, found: list[Leaf]) -> tuple[Codes, int]:
    """Which offers no comparison tells apart: those of one class; and the number of classes."""
    if column.numbers is None:
        assert column.codes is not None
        return column.codes, len(column.values)
    values = column.numbers
    whole = any(leaf.whole for leaf in found)
    points: set[Number] = {0}
    for leaf in found:
        if leaf.slots:
            points |= {leaf.number, *numbers((leaf,), leaf.whole)}
    same = tuple(leaf for leaf in found if leaf.slots)
    points |= set(numbers(same, whole)) if same else set()
    if whole:  # what is counted is taken in whole numbers
        points |= {floor(each) for each in points} | {ceil(each) for each in points}
        points |= {each + 1 for each in points if each == floor(each)}
    codes = np.zeros(len(values), np.int64)
    for point in sorted(points):
        codes += _from(column, point, False)
        codes += _from(column, point, True)
    if column.missing is not None:
        codes[column.missing] = 2 * len(points) + 1
    return codes, 2 * len(points) + 2


def _from(column: OfferColumn, bound: Number | float, open_: bool) -> Truths:
    """Which numbers are at least so many base units, or more than that; exactly."""
    data = column.numbers
    assert data is not None
    if bound in (inf, -inf):
        return np.full(len(data), bound < 0)
    limit = Fraction(bound) / column.factor
    if data.dtype.kind in "iu":
        least = floor(limit) + 1 if open_ else ceil(limit)
        lowest, highest = np.iinfo(data.dtype).min, np.iinfo(data.dtype).max
        if not lowest <= least <= highest:
            return np.full(len(data), least < lowest)
        return np.asarray(data >= data.dtype.type(least))
    return np.asarray(data >= _least(limit, open_))


def _least(limit: Fraction, open_: bool) -> float:
    """The least float that stands for at least this number, or for more than it."""
    found = double(limit)
    if isinf(found):
        return found
    while not _reaches(found, limit, open_):
        found = nextafter(found, inf)
    while _reaches(lower := nextafter(found, -inf), limit, open_):
        found = lower
    return found


def _reaches(value: float, limit: Fraction, open_: bool) -> bool:
    if value in (inf, -inf):
        return value > 0
    exact = Fraction(str(_plain(value)))
    return exact > limit if open_ else exact >= limit


def _plain(value: Any) -> Any:
    """A value as JSON has it: whole numbers without a fraction, NaN as nothing."""
    if isinstance(value, float):
        if value != value:
            return None
        return int(value) if value.is_integer() else value
    return list(value) if isinstance(value, tuple | set | frozenset | np.ndarray) else value


def _hashable(value: Any) -> Hashable:
    if isinstance(value, list):
        return ("list", *map(_hashable, value))
    if isinstance(value, dict):
        return ("dict", *((name, _hashable(inner)) for name, inner in value.items()))
    return (type(value), value)


def _array(values: Any) -> NDArray[Any]:
    """Values as an array, where lists among them stay what they are."""
    if isinstance(values, np.ndarray):
        return values
    held = list(values)
    if all(isinstance(each, int | float) and not isinstance(each, bool) for each in held):
        return np.asarray(held)
    made = np.empty(len(held), object)
    for place, each in enumerate(held):
        made[place] = each
    return made
