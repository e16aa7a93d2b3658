"""What an expression is worth between two ads: three-valued, and never an exception.

>>> from sssjob.classads.parser import expression
>>> evaluate(expression("TARGET.Memory >= RequestMemory"), Ad({"RequestMemory": 1}), Ad())
UNDEFINED
"""

from __future__ import annotations

import time
from types import MappingProxyType

from sssjob.classads import functions, operators
from sssjob.classads.errors import BadAd
from sssjob.classads.parser import expression, from_tree
from sssjob.classads.question import QUESTION, OneQuestion
from sssjob.classads.tree import (
    AttributeReference,
    Binary,
    Call,
    Conditional,
    Grouped,
    Listing,
    Literal,
    Record,
    Subscript,
    Unary,
)
from sssjob.classads.values import (
    ERROR,
    UNDEFINED,
    AbsTime,
    Ad,
    Listed,
    Node,
    RelTime,
    Special,
    Unparsed,
    exists,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeAlias

    from sssjob.classads.machine import Maps
    from sssjob.classads.values import Attribute, Value

    # What a name stands for, and where: an attribute is evaluated among those beside it.
    Held: TypeAlias = "tuple[Attribute, _AdScope]"

DEPTH_LIMIT = 96  # attributes that refer to attributes, and what they hold
_LAZY_DEPTH = 2  # what a call of Python is deeper for functions that evaluate their arguments
STEPS_LIMIT = 250_000  # nodes that one question looks at, and what is read in long strings
LONGEST = 1 << 20  # characters of a string
_A_STEP = 64  # characters, or members of a list, that count as one more node

_TARGET = ("target", "other")
# Names that stand for an ad, or for the time, where no attribute has them.
_SPECIAL = ("my", "self", "parent", "root", "toplevel", "currenttime")
_NO_MAPS: Mapping[str, Callable[[str], str | None]] = MappingProxyType({})


def evaluate(
    node: Node, my: Ad | None = None, target: Ad | None = None, *, now: float | None = None,
    remark: Callable[[str], None] | None = None, maps: Maps = _NO_MAPS,
) -> Value:  # fmt: skip
    """The value of an expression that stands in ``my`` ad, with the ``target`` ad opposite.

    A bare name is an attribute of its own ad or else, as in matchmaking, of the other. ``now``
    is what ``time()`` says; ``maps``, by name in small letters, are those of ``userMap()``. What
    makes it an error that is not in the ads, such as a function that is not known, goes to
    ``remark``.
    """
    run = _Evaluation(now, remark, maps)
    return run.counted(run.value(node, _AdScope(my or Ad(), target)))


def attribute(ad: Ad, name: str, target: Ad | None = None, *, now: float | None = None) -> Value:
    """The value of an attribute of an ad, UNDEFINED if it has none."""
    run = _Evaluation(now, None)
    return run.counted(run.attribute(name, _AdScope(ad, target)))


def number(ad: Ad, name: str, target: Ad | None = None) -> int | float | None:
    """The number that an attribute is or comes to, None if it comes to none."""
    value = attribute(ad, name, target)
    return None if isinstance(value, bool) or not isinstance(value, (int, float)) else value


def matches(my: Ad, target: Ad) -> bool:
    """Whether the Requirements of both ads hold for the other one; without any, they do."""
    with OneQuestion():
        return all(
            "Requirements" not in one or operators.holds(attribute(one, "Requirements", other))
            for one, other in ((my, target), (target, my))
        )


class _AdScope:
    """The ad that names are looked up in, the ads around it, and the ad opposite."""

    __slots__ = ("ad", "around", "target")

    def __init__(self, ad: Ad, target: Ad | None, around: _AdScope | None = None) -> None:
        self.ad, self.target, self.around = ad, target, around

    @property
    def root(self) -> _AdScope:
        scope = self
        while scope.around is not None:
            scope = scope.around
        return scope

    def opposite(self) -> _AdScope | None:
        root = self.root
        return None if root.target is None else _AdScope(root.target, root.ad)


class _Evaluation:
    """One run: what is being worked out now, so that circles end, and how much was done."""

    def __init__(
        self, now: float | None, remark: Callable[[str], None] | None, maps: Maps = _NO_MAPS
    ) -> None:
        self.now = time.time if now is None else lambda: now
        self.remark = remark or (lambda _: None)
        self.is_heard = remark is not None
        self.maps = maps
        self.question = QUESTION.get()
        self.steps = self.question.taken if self.question is not None else 0
        self.depth = 0

    def counted(self, found: Value) -> Value:
        """A value of this run, whose steps count for those that follow it in its question."""
        if self.question is not None:
            self.question.taken = self.steps
        return found

    def value(self, node: Node, scope: _AdScope) -> Value:
        self.steps += 1
        self.depth += 1
        if self.depth > 4 * DEPTH_LIMIT or self.steps > STEPS_LIMIT:
            self.remark("the expression is too deep or too long to be evaluated")
            self.depth -= 1
            return ERROR
        found = self._value(node, scope)
        self.depth -= 1
        if isinstance(found, (str, tuple)):
            self.steps += len(found) // _A_STEP
            if len(found) > LONGEST:
                self.remark(f"a value of more than {LONGEST} characters")
                return ERROR
        elif isinstance(found, (AbsTime, RelTime)) and not exists(found):
            return ERROR
        return found

    def _value(self, node: Node, scope: _AdScope) -> Value:
        match node:
            case Literal(value):
                return value
            case Unparsed(text):
                return self._unparsed(text, scope)
            case Grouped(inner):
                return self.value(inner, scope)
            case AttributeReference():
                return self._reference(node, scope)
            case Binary():
                return self._chain(node, scope)
            case Unary(op, operand):
                return operators.unary(op, self.value(operand, scope))
            case Conditional():
                return self._conditional(node, scope)
            case Call(name, arguments):
                return self._call(name, arguments, scope)
            case Listing(members):
                return Listed((self.value(member, scope) for member in members), members)
            case Record(attributes):
                return Ad((name, from_tree(part)) for name, part in attributes)
            case Subscript(base, index):
                return self._subscript(base, index, scope)
        raise AssertionError(node)

    def attribute(self, name: str, scope: _AdScope) -> Value:
        """An attribute of the ad of a scope."""
        return self._found(scope.ad.get(name, UNDEFINED), scope)

    def _found(self, held: Attribute, scope: _AdScope) -> Value:
        if not isinstance(held, (Node, tuple)):
            return held
        if self.depth > DEPTH_LIMIT:  # a circle, or as good as one
            return UNDEFINED
        if isinstance(held, Node):
            return self.value(held, scope)
        self.depth += 1
        found = Listed((self._found(each, scope) for each in self._counted(held)), held)
        self.depth -= 1
        return found

    def _counted(self, members: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
        """The members of a list, each of which is a step; none if there are too many."""
        self.steps += len(members)
        return members if self.steps <= STEPS_LIMIT else (ERROR,)

    def _unparsed(self, text: str, scope: _AdScope) -> Value:
        return self.value(self._tree(text), scope)

    def _reference(self, node: AttributeReference, scope: _AdScope) -> Value:
        found = self._resolved(node, scope)
        if isinstance(found, _AdScope):
            return found.ad
        return found if isinstance(found, Special) else self._found(*found)

    def _resolved(self, node: AttributeReference, scope: _AdScope) -> Held | _AdScope | Special:
        """What a name stands for: an attribute and where it is, an ad (parent), or neither."""
        if node.absolute:
            root = scope.root
            known = root.target is None and node.name in root.ad  # in a match nothing is above
            return (root.ad[node.name], root) if known else UNDEFINED
        if node.base is None:
            return self._looked_up(node.name, scope, bare=scope.around is None)
        inner = self._entered(node.base, scope)
        if isinstance(inner, Special):
            return inner
        if isinstance(inner, _AdScope):
            return self._looked_up(node.name, inner, bare=False)
        members, place = inner
        return (
            tuple(self._selected(each, node.name, place) for each in self._counted(members)),
            place,
        )

    def _looked_up(self, name: str, scope: _AdScope, bare: bool) -> Held | _AdScope | Special:
        """A name in an ad, in those around it, and if it is ``bare`` in the one opposite."""
        lower = name.lower()
        here: _AdScope | None = scope
        while here is not None:
            if name in here.ad:
                return here.ad[name], here
            if lower in _SPECIAL:
                return self._special(lower, here)
            here = here.around
        opposite = scope.opposite()
        if lower in _TARGET:
            return opposite or UNDEFINED
        known = bare and opposite is not None and name in opposite.ad
        return (opposite.ad[name], opposite) if known and opposite is not None else UNDEFINED

    def _special(self, name: str, here: _AdScope) -> Held | _AdScope | Special:
        match name:
            case "my" | "self":
                return here
            case "parent":
                return here.around or UNDEFINED
            case "currenttime":
                return int(self.now()), here
        root = here.root
        return root if root.target is None else UNDEFINED  # above both ads there is none

    def _selected(self, member: Attribute, name: str, place: _AdScope) -> Value:
        """The attribute of one member of a list; of a list of lists it is one of lists."""
        inner = self._entered(member if isinstance(member, Node) else Literal(member), place)
        if isinstance(inner, tuple):
            return tuple(self._selected(each, name, inner[1]) for each in self._counted(inner[0]))
        if isinstance(inner, Special):
            return inner
        found = self._looked_up(name, inner, bare=False)
        if isinstance(found, _AdScope):
            return found.ad
        return found if isinstance(found, Special) else self._found(*found)

    def _entered(
        self, base: Node, scope: _AdScope
    ) -> _AdScope | tuple[tuple[Attribute, ...], _AdScope] | Special:
        """What a dot or a subscript follows: an ad, which knows those around it, or a list."""
        if self.depth > DEPTH_LIMIT:
            return UNDEFINED
        self.depth += 1
        try:
            return self._inside(base, scope)
        finally:
            self.depth -= 1

    def _inside(
        self, base: Node, scope: _AdScope
    ) -> _AdScope | tuple[tuple[Attribute, ...], _AdScope] | Special:
        held: Attribute = base
        place = scope
        match base:
            case Grouped(inner):
                return self._entered(inner, scope)
            case Listing(members):
                return members, scope
            case AttributeReference():
                found = self._resolved(base, scope)
                if isinstance(found, (_AdScope, Special)):
                    return found
                held, place = found
                if isinstance(held, Unparsed):
                    held = self._tree(held.text)
                if isinstance(held, Node):
                    return self._entered(held, place)
            case Subscript():
                member = self._at(base, scope)
                if isinstance(member, Special):
                    return member
                held, place = member
        value = self.value(held, place) if isinstance(held, Node) else held
        if isinstance(value, Ad):
            return _around(value, place) or _AdScope(value, None, place)
        if isinstance(value, tuple):
            return value, place
        return UNDEFINED if value is UNDEFINED else ERROR

    def _tree(self, text: str) -> Node:
        try:
            return expression(text, old=True)
        except BadAd as error:
            self.remark(str(error))
            return Literal(ERROR)

    def _subscript(self, base: Node, index: Node, scope: _AdScope) -> Value:
        member = self._at(Subscript(base, index), scope)
        return member if isinstance(member, Special) else self._found(*member)

    def _at(self, node: Subscript, scope: _AdScope) -> Held | Special:
        """A member of a list by its place, or an attribute of an ad by its name."""
        place = self.value(node.index, scope)
        held = self._entered(node.base, scope)
        if place is ERROR or (
            held is ERROR and (place is not UNDEFINED or self.value(node.base, scope) is ERROR)
        ):
            return ERROR
        if isinstance(held, Special) or place is UNDEFINED:
            return UNDEFINED
        if isinstance(held, _AdScope):
            found = self._looked_up(place, held, bare=False) if isinstance(place, str) else ERROR
            return (found.ad, found) if isinstance(found, _AdScope) else found
        members, around = held
        at = operators.short(place) if type(place) is int else -1
        return (members[at], around) if 0 <= at < len(members) else ERROR

    def _conditional(self, node: Conditional, scope: _AdScope) -> Value:
        found = self.value(node.test, scope)
        if node.yes is None:
            return self.value(node.no, scope) if found is UNDEFINED else found
        test = operators.truth(found)
        if isinstance(test, Special):
            return test
        return self.value(node.yes if test else node.no, scope)

    def _chain(self, node: Binary, scope: _AdScope) -> Value:
        """Operators from the left: a loop, so that long chains are not deep."""
        chain = []
        left: Node = node
        while isinstance(left, Binary):
            chain.append(left)
            left = left.left
        self.steps += len(chain) // _A_STEP  # however early it is decided
        found = self.value(left, scope)
        for each in reversed(chain):
            if each.op in ("&&", "||"):
                found = self._logical(each, found, scope)
            else:
                found = operators.binary(each.op, found, self.value(each.right, scope))
        return found

    def _logical(self, node: Binary, left: Value, scope: _AdScope) -> Value:
        """``false && x`` is false whatever x is; so is ``undefined && false``."""
        decided = node.op == "||"
        first = operators.truth(left)
        if first is ERROR or first is decided:
            return first
        second = operators.truth(self.value(node.right, scope))
        if second is ERROR or second is decided:
            return second
        return UNDEFINED if first is UNDEFINED or second is UNDEFINED else not decided

    def _call(self, name: str, arguments: tuple[Node, ...], scope: _AdScope) -> Value:
        lower = name.lower()
        if lower in functions.LAZY:
            least, most, lazy = _LAZY[lower]
            if not least <= len(arguments) <= most:
                return ERROR
            self.depth += _LAZY_DEPTH
            found = lazy(self, arguments, scope)
            self.depth -= _LAZY_DEPTH
            return found
        if lower not in functions.KNOWN:
            self.remark(f"the function {name} is not known")
            return ERROR
        values = tuple(self.value(argument, scope) for argument in arguments)
        if self.is_heard and (told := functions.otherwise(lower, values)):
            self.remark(told)
        return functions.call(lower, values, self.now, self.maps)

    def _if_then_else(self, arguments: tuple[Node, ...], scope: _AdScope) -> Value:
        return self._conditional(Conditional(*arguments), scope)

    def _debug(self, arguments: tuple[Node, ...], scope: _AdScope) -> Value:
        return self.value(arguments[0], scope)

    def _eval(self, arguments: tuple[Node, ...], scope: _AdScope) -> Value:
        """The value of the expression that a string is."""
        text = self.value(arguments[0], scope)
        if isinstance(text, Special):
            return ERROR
        if isinstance(text, (AbsTime, RelTime)):
            text = functions.call("string", (text,), self.now, self.maps)
        if not isinstance(text, str):
            return text
        self.steps += len(text)
        if self.steps > STEPS_LIMIT:
            return ERROR
        try:
            return self.value(expression.__wrapped__(text), scope)  # none of it is remembered
        except BadAd as error:
            self.remark(f"eval: {error}")
            return ERROR

    def _unparse(self, arguments: tuple[Node, ...], scope: _AdScope) -> Value:
        """An attribute of its own ad as text, not its value."""
        node = arguments[0]
        if not isinstance(node, AttributeReference):
            return ERROR
        if node.base is not None or node.name not in scope.ad:
            return ""
        from sssjob.classads import writing

        return writing.attribute(scope.ad[node.name], writing.UNPARSED)

    def _unresolved(self, arguments: tuple[Node, ...], scope: _AdScope) -> Value:
        """Names that an attribute needs from elsewhere, or whether one of them fits a pattern."""
        node = arguments[0]
        if not isinstance(node, AttributeReference):
            return ERROR
        from sssjob.classads.needed import names, of_a_side

        place = scope if node.base is None else self._entered(node.base, scope)
        if not isinstance(place, _AdScope) or node.name not in place.ad or of_a_side(node):
            return UNDEFINED
        # What it names is looked up in the ads around it, too.
        known, around = place.ad, place.around
        while around is not None:
            known, around = around.ad.merged(dict(known.items())), around.around
        found = names(place.ad[node.name], known)
        if len(arguments) == 1:
            return ",".join(found)
        pattern = self.value(arguments[1], scope)
        return functions.call("regexpmember", (pattern, tuple(found), "i"), self.now, self.maps)

    def _format_time(self, arguments: tuple[Node, ...], scope: _AdScope) -> Value:
        """A moment as text; of one that is an ad, the attributes are evaluated where they stand."""
        from sssjob.classads import moments

        values = [self.value(argument, scope) for argument in arguments]
        place = (
            self._entered(arguments[0], scope)
            if values and isinstance(values[0], Ad)
            else UNDEFINED
        )
        if isinstance(place, _AdScope):
            known = (name for name in moments.PARTS if name in place.ad)
            values[0] = Ad({name: self.attribute(name, place) for name in known})
        return functions.call("formattime", tuple(values), self.now, self.maps)

    def _in_each(self, arguments: tuple[Node, ...], scope: _AdScope) -> Iterator[Value] | Special:
        """The values of an expression in each ad of a list; a name stands for its expression."""
        node = arguments[0]
        contexts = self._entered(arguments[1], scope)
        if isinstance(contexts, Special):
            return contexts
        if isinstance(contexts, _AdScope):
            return ERROR
        held: Attribute = node
        if isinstance(node, AttributeReference):
            found = self._resolved(node, scope)
            if isinstance(found, tuple):
                held = found[0]
            elif scope.root.target is not None and not _listed(arguments[1]):
                return UNDEFINED  # as HTCondor in a match: looked up before the list is
        members, place = contexts
        return (self._within(held, member, place) for member in members)

    def _within(self, held: Attribute, member: Attribute, place: _AdScope) -> Value:
        context = self._entered(member if isinstance(member, Node) else Literal(member), place)
        if not isinstance(context, _AdScope):
            return UNDEFINED if context is UNDEFINED else ERROR
        return self._found(held, context)

    def _evaluated_in_each(self, arguments: tuple[Node, ...], scope: _AdScope) -> Value:
        found = self._in_each(arguments, scope)
        return found if isinstance(found, Special) else tuple(found)

    def _count_matches(self, arguments: tuple[Node, ...], scope: _AdScope) -> Value:
        found = self._in_each(arguments, scope)
        if isinstance(found, Special):
            return 0 if found is UNDEFINED else ERROR
        return sum(operators.truth(value) is True for value in found)


def _around(ad: Ad, scope: _AdScope) -> _AdScope | None:
    """The scope of an ad that a function gave, if it is one of those around."""
    here: _AdScope | None = scope
    while here is not None and here.ad is not ad:
        here = here.around
    return here


def _listed(node: Node) -> bool:
    """Whether a list is written out."""
    while isinstance(node, Grouped):
        node = node.inner
    return isinstance(node, Listing)


# The least and the most arguments of functions that look at them before they are evaluated.
_LAZY: dict[str, tuple[int, int, Callable[[_Evaluation, tuple[Node, ...], _AdScope], Value]]] = {
    "ifthenelse": (3, 3, _Evaluation._if_then_else),
    "debug": (1, 1, _Evaluation._debug),
    "eval": (1, 1, _Evaluation._eval),
    "unparse": (1, 1, _Evaluation._unparse),
    "unresolved": (1, 2, _Evaluation._unresolved),
    "evalineachcontext": (2, 2, _Evaluation._evaluated_in_each),
    "countmatches": (2, 2, _Evaluation._count_matches),
    "formattime": (0, 2, _Evaluation._format_time),
}
