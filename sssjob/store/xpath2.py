"""Predicates of XPath 2.0 and later, as bounds on the columns of a row.

Strategy. They are bounded as those of XPath 1.0 are (``predicate``, ``bounds``), with one thing
more. Where XPath 1.0 always has an answer, later versions may have an error instead: a text that is
compared with a number and is none, two nodes where one is expected. A row whose document would
raise an error must not be left out, or the error is never told. So each predicate has two bounds
(``FallibleBounds``): what ``holds`` where nothing fails, and where something ``fails``. In the end
a row is certain where the predicate surely holds and nothing fails, and a candidate where it may
hold or fail.

elementpath works ``and``, ``or``, ``if`` and predicates out from the left and stops early, so that
what fails on the right counts only where the left side lets it be asked.

Why it is right: comparisons are those of ``facts``, by the rules of the later versions. Numbers of
rows that are not odd are the same in all versions up to rounding, and whole where they are whole
(``rows``); whatever is not listed here ``may`` hold and fail anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from sssjob.query.xpath2.scope import is_boolean
from sssjob.query.xpath2.ways import Literal, Move, branches, called, constants, way
from sssjob.store.bounds import ALWAYS, NEVER, NOTHING, UNKNOWN, PredicateBounds, between, exactly
from sssjob.store.columns import SEPARATOR
from sssjob.store.condition import Op
from sssjob.store.entry import ASTRAY, COUNTED, NO_PATH, answered, either, entry, start
from sssjob.store.facts import PathColumns
from sssjob.store.plan import QueryPlan
from sssjob.store.predicate import step_to

# fmt: off
_GENERAL = {"=": Op.EQ, "!=": Op.NE, "<": Op.LT, "<=": Op.LE, ">": Op.GT, ">=": Op.GE}
_VALUE = {"eq": Op.EQ, "ne": Op.NE, "lt": Op.LT, "le": Op.LE, "gt": Op.GT, "ge": Op.GE}
_OF_NODES = ("count", "string", "number", "sss:bytes", "sss:seconds", "sss:time")
# fmt: on


class FallibleBounds(NamedTuple):
    """What columns tell of a predicate: where it holds, unless it fails, and where it may fail."""

    holds: PredicateBounds
    fails: PredicateBounds = NEVER

    @property
    def bounds(self) -> PredicateBounds:
        """Where the predicate lets a row through, or has to be asked for its error."""
        return (self.holds & ~self.fails) | self.fails

    @property
    def possible(self) -> FallibleBounds:
        """What is left of it when only this is known: it holds nowhere else."""
        return FallibleBounds(self.holds.possible, self.fails)

    def __and__(self, other: FallibleBounds) -> FallibleBounds:
        return FallibleBounds(
            self.holds & other.holds, self.fails | (self.holds & other.fails).possible
        )

    def __or__(self, other: FallibleBounds) -> FallibleBounds:
        return FallibleBounds(
            self.holds | other.holds, self.fails | (~self.holds & other.fails).possible
        )

    def __invert__(self) -> FallibleBounds:
        return FallibleBounds(~self.holds, self.fails)


ANYTHING = FallibleBounds(UNKNOWN, UNKNOWN)


class SelectedTokens(NamedTuple):
    """The nodes that a path selects: a fact, and what their predicates tell, if there are any."""

    fact: PathColumns
    held: FallibleBounds | None = None

    @property
    def exists(self) -> FallibleBounds:
        """Whether the path selects a node."""
        if self.held is None:
            return FallibleBounds(self.fact.exists)
        both = self.fact.exists & self.held.holds
        return FallibleBounds(
            between(self.held.holds.sure, both.maybe, both.paths), self.held.fails
        )

    def narrowed(self, found: FallibleBounds) -> FallibleBounds:
        """What was found of the fact, of those nodes that the predicates leave."""
        return found if self.held is None else (self.held & found).possible


class TokenContext(NamedTuple):
    """How tokens are read: ``at`` which nodes below the job, and what a variable stands for."""

    namespaces: Mapping[str, str]
    at: str = ""
    variable: str = ""  # the nodes ``at``, if they are not the context

    def truth(self, token: Any) -> FallibleBounds:
        """Whether a predicate holds for the job, or for one of the nodes ``at`` a path below it."""
        value = constants(token)
        if value is not None:
            return self._constant(value)
        name, call = called(token, self.namespaces)
        match name, len(call):
            case "(", 1:
                return self.truth(call[0])
            case "and", 2:
                both = self.truth(call[0]) & self.truth(call[1])
                return both if not self.at else both.possible
            case "or", 2:
                return self._or(self.truth(call[0]), self.truth(call[1]))
            case (("not" | "empty"), 1):
                return self._not(self._held(name, call[0]))
            case (("boolean" | "exists"), 1):
                return self._held(name, call[0])
            case "if", 3:
                return self._if(*map(self.truth, call))
            case (("some" | "every"), 3):
                return self._quantified(name, call)
            case (("contains" | "starts-with"), 2):
                return self._searched(name, *call)
            case (("=" | "!=" | "<" | "<=" | ">" | ">="), 2):
                return self._compared(call[0], _GENERAL[name], call[1], is_value=False)
            case (("eq" | "ne" | "lt" | "le" | "gt" | "ge"), 2):
                return self._compared(call[0], _VALUE[name], call[1], is_value=True)
        return self._exists(token)

    def target(self, token: Any) -> SelectedTokens | None:
        """What a path selects; None if no fact can."""
        found = way(token)
        if found is None or found.rest or found.absolute or found.variable != self.variable:
            return None
        return self.reached(found.moves)

    def reached(self, moves: tuple[Move, ...]) -> SelectedTokens | None:
        """What these steps from the job, or from the nodes ``at`` a path, lead to."""
        place = self.at
        held: FallibleBounds | None = None
        for move in moves:
            inner = step_to(place, move)
            if inner is None:
                return None
            place = inner
            for predicate in move.predicates:
                # A place among others is only known in the document.
                asked = is_boolean(predicate)
                below = TokenContext(self.namespaces, place)
                told = below.truth(predicate) if asked else ANYTHING
                held = told if held is None else (held & told).possible
            if held is not None and move is not moves[-1]:
                held = held.possible
        return SelectedTokens(PathColumns(place), held) if place else None

    @property
    def _here(self) -> PredicateBounds:
        """Whether there is a context node at all."""
        return PathColumns(self.at).exists if self.at else ALWAYS

    @property
    def _anything(self) -> FallibleBounds:
        """What is not known: it may hold, and fail, where there is a context node."""
        return FallibleBounds(self._here.possible, self._here.possible)

    def _constant(self, values: tuple[Literal, ...]) -> FallibleBounds:
        if len(values) > 1 or (values and not isinstance(values[0], bool | str)):
            return self._anything
        return FallibleBounds(self._here if any(values) else NEVER)

    def _or(self, one: FallibleBounds, other: FallibleBounds) -> FallibleBounds:
        if not self.at:
            return one | other
        return FallibleBounds(one.holds | other.holds, one.fails | other.fails)

    def _not(self, told: FallibleBounds) -> FallibleBounds:
        return FallibleBounds(self._here.possible, told.fails) if self.at else ~told

    def _if(
        self, condition: FallibleBounds, one: FallibleBounds, other: FallibleBounds
    ) -> FallibleBounds:
        if self.at:
            fails = condition.fails | one.fails | other.fails
            return FallibleBounds(self._here.possible, fails)
        return (condition & one) | (~condition & other)

    def _held(self, name: str, token: Any) -> FallibleBounds:
        """The argument of a function that asks whether there is something."""
        if name in ("exists", "empty"):
            return self._exists(token)
        return self.truth(token) if is_boolean(token) else self._anything

    def _exists(self, token: Any) -> FallibleBounds:
        found = FallibleBounds(NEVER)
        for each in branches(token):
            aim = self.target(each)
            if aim is None:
                return self._anything
            found = self._or(found, aim.exists)
        return found

    def _quantified(self, name: str, call: Any) -> FallibleBounds:
        variable, among, satisfied = call
        aim = self.target(among)
        if self.at or aim is None or not _speaks_only_of(variable[0].value, satisfied):
            return self._anything
        inner = TokenContext(self.namespaces, aim.fact.path, variable[0].value)
        found = aim.narrowed(inner.truth(satisfied))
        # Of all nodes something is only known where there is none.
        return found if name == "some" else FallibleBounds(~aim.exists.possible.holds, found.fails)

    def _searched(self, name: str, searched: Any, token: Any) -> FallibleBounds:
        values, aim = constants(token), self.target(searched)
        if self.at or aim is None or values is None or len(values) != 1:
            return self._anything
        [value] = values
        if not isinstance(value, str) or SEPARATOR in value or aim.held is not None:
            return self._anything
        fact = aim.fact
        found = fact.begins(value) if name == "starts-with" else fact.contains(value)
        return FallibleBounds(found, fact.several.possible)

    def _compared(self, one: Any, op: Op, other: Any, *, is_value: bool) -> FallibleBounds:
        for side, values, sign in (
            (one, constants(other), op), (other, constants(one), op.mirrored)
        ):  # fmt: skip
            if values is not None:
                return self._against(side, sign, values, is_value=is_value)
        mine, theirs = self.target(one), self.target(other)
        if mine is None or theirs is None:
            return self._anything
        found = _related(mine.fact, op, theirs.fact, is_value)
        holds = mine.narrowed(theirs.narrowed(found)).holds
        for aim in (mine, theirs):  # both sides are worked out, whatever one of them gives
            if aim.held is not None:
                found = FallibleBounds(found.holds, found.fails | aim.held.fails)
        return FallibleBounds(holds.possible if self.at else holds, found.fails)

    def _against(
        self, token: Any, op: Op, values: tuple[Literal, ...], *, is_value: bool
    ) -> FallibleBounds:
        """An expression against constants, of which one has to be met."""
        if is_value and len(values) != 1:
            return self._anything
        if not values:
            return FallibleBounds(NEVER, self._exists(token).fails)
        found = [self._met(token, op, value, is_value=is_value) for value in values]
        holds, fails = NEVER, NEVER
        for each in found:
            holds, fails = holds | each.holds, fails | each.fails
        return FallibleBounds(holds, fails)

    def _met(self, token: Any, op: Op, value: Literal, *, is_value: bool) -> FallibleBounds:
        if SEPARATOR in value if isinstance(value, str) else not _is_moderate(value):
            return self._anything
        name, call = called(token, self.namespaces)
        if name in _OF_NODES and len(call) == 1:
            return self._of_nodes(name, call[0], op, value)
        parts = branches(token)
        if is_value and len(parts) > 1:
            return self._anything
        holds, fails = NEVER, NEVER
        for each in parts:
            aim = self.target(each)
            if aim is None:
                return self._anything
            told = aim.narrowed(_general(aim.fact, op, value))
            if is_value:
                wrong = aim.fact.several if isinstance(value, str) else aim.fact.exists
                told = FallibleBounds(
                    told.holds, told.fails | aim.narrowed(FallibleBounds(wrong)).holds.possible
                )
            holds, fails = holds | told.holds, fails | told.fails
        return FallibleBounds(holds, fails)

    def _of_nodes(self, name: str, token: Any, op: Op, value: Literal) -> FallibleBounds:
        """A function of nodes against a constant."""
        aim = self.target(token)
        if self.at or aim is None or aim.held is not None or isinstance(value, bool):
            return self._anything
        fact = aim.fact
        if isinstance(value, str):
            if name != "string" or op not in (Op.EQ, Op.NE):
                return self._anything
            is_it = fact.string(value)
            return FallibleBounds(is_it if op is Op.EQ else ~is_it, fact.several.possible)
        if name == "string":
            return self._anything
        if name == "count":
            return (
                FallibleBounds(fact.counted(op, float(value)))
                if _is_double(value)
                else self._anything
            )
        if name == "number":
            absent = ~fact.exists if op is Op.NE else NEVER
            found = fact.measured(op, value) if fact.numbers else UNKNOWN
            return FallibleBounds(found | absent, fact.several.possible)
        if "@" in fact.path or not _is_double(value):
            return self._anything  # ours refuse texts that can never be read
        if name == "sss:bytes":
            return FallibleBounds(fact.bytes(op, float(value)))
        # They read what number() cannot, which is odd; what both read is the same number.
        return FallibleBounds(UNKNOWN if op is Op.NE else fact.measured(op, value).possible)


def planned(token: Any, namespaces: Mapping[str, str]) -> QueryPlan:
    """How a store answers an expression."""
    return either([_path(each, namespaces) for each in branches(token)])


def _path(token: Any, namespaces: Mapping[str, str]) -> QueryPlan:
    found = way(token)
    if found is None or found.variable:
        return QueryPlan(UNKNOWN, None, NO_PATH)
    moves = found.moves
    entered = entry(moves) if found.absolute else start(moves)
    if entered is None:
        return QueryPlan(UNKNOWN, None, ASTRAY)
    count, scope = entered
    within = FallibleBounds(exactly(scope, NOTHING))
    for predicate in moves[count - 1].predicates if count else ():
        if not is_boolean(predicate):
            return QueryPlan(UNKNOWN, None, COUNTED)
        within &= TokenContext(namespaces).truth(predicate)
    if count == len(moves):
        return (
            QueryPlan(within.bounds, "")
            if not found.rest
            else QueryPlan(within.possible.bounds, None)
        )
    aim = TokenContext(namespaces).reached(moves[count:])
    if aim is None:
        return QueryPlan(within.possible.bounds, None)
    if found.rest or aim.held is not None:
        return QueryPlan((within & aim.exists).possible.bounds, None)
    told = answered(within.holds, aim.exists.holds, aim.fact, is_all=True)
    return QueryPlan(FallibleBounds(told.bounds, within.fails).bounds, told.path)


def _general(fact: PathColumns, op: Op, value: Literal) -> FallibleBounds:
    """The nodes at a path against a constant, as ``=`` and ``<`` compare them."""
    if isinstance(value, str):
        return FallibleBounds(
            fact.compared(op, value) if op in (Op.EQ, Op.NE) else fact.sorted(op, value)
        )
    there = fact.exists.possible
    if isinstance(value, bool) or not fact.numbers:
        return FallibleBounds(there, there)  # each text is cast, which may fail
    return FallibleBounds(fact.measured(op, value))


def _related(mine: PathColumns, op: Op, theirs: PathColumns, is_value: bool) -> FallibleBounds:
    """The nodes at two paths: texts, or numbers where one is to be less than another."""
    both = (mine.exists & theirs.exists).possible
    are_texts = op in (Op.EQ, Op.NE)
    numbers = mine.numbers and theirs.numbers and not is_value
    fails = NEVER if are_texts or numbers else both
    if is_value:
        fails = (fails | mine.several | theirs.several).possible
    return FallibleBounds(mine.related(op, theirs) if are_texts else both, fails)


def _speaks_only_of(variable: str, token: Any) -> bool:
    """Whether every path of an expression starts at a variable, and at no other."""
    if token.symbol == "$":
        return bool(token[0].value == variable)
    found = way(token)
    if found is not None:
        asked = (each for move in found.moves for each in move.predicates)
        return found.variable == variable and not any(
            part.symbol == "$" for each in asked for part in each.iter()
        )
    if token.symbol in ("some", "every", "for", "let", "function"):
        return False
    return all(_speaks_only_of(variable, part) for part in token if part.symbol != "(name)")


def _is_moderate(value: float | Decimal) -> bool:
    """Whether a number is one, and so small that whole ones are doubles."""
    return -(2**53) <= value <= 2**53


def _is_double(value: float | Decimal) -> bool:
    """Whether a number is a double, so that to compare it with one rounds nothing."""
    return Decimal(float(value)) == Decimal(value)
