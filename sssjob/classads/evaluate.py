"""What an expression is worth between two ads: three-valued, and never an exception.

>>> from sssjob.classads.parser import expression
>>> evaluate(expression("TARGET.Memory >= RequestMemory"), Ad({"RequestMemory": 1}), Ad())
UNDEFINED
"""

from __future__ import annotations

import time

from sssjob.classads import functions, operators
from sssjob.classads.errors import BadAd
from sssjob.classads.parser import expression, from_tree
from sssjob.classads.tree import (
    Binary,
    Call,
    Conditional,
    Grouped,
    Listing,
    Literal,
    Record,
    Reference,
    Subscript,
    Unary,
)
from sssjob.classads.values import ERROR, UNDEFINED, Ad, Node, Special, Unparsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sssjob.classads.values import Attribute, Value

DEPTH_LIMIT = 128  # attributes that refer to attributes, and what they hold
STEPS_LIMIT = 1_000_000  # nodes that one evaluation looks at

_MY, _TARGET = ("my",), ("target", "other")


def evaluate(
    node: Node, my: Ad | None = None, target: Ad | None = None, *, now: float | None = None,
    remark: Callable[[str], None] | None = None,
) -> Value:  # fmt: skip
    """The value of an expression that stands in ``my`` ad, with the ``target`` ad opposite.

    A bare name is an attribute of its own ad or else, as in matchmaking, of the other. ``now``
    is what ``time()`` says. What makes it an error that is not in the ads, such as a function
    that is not known, goes to ``remark``.
    """
    return _Evaluation(now, remark).value(node, _Scope(my or Ad(), target))


def attribute(ad: Ad, name: str, target: Ad | None = None, *, now: float | None = None) -> Value:
    """The value of an attribute of an ad, UNDEFINED if it has none."""
    return _Evaluation(now, None).attribute(name, _Scope(ad, target))


def number(ad: Ad, name: str, target: Ad | None = None) -> int | float | None:
    """The number that an attribute is or comes to, None if it comes to none."""
    value = attribute(ad, name, target)
    return None if isinstance(value, bool) or not isinstance(value, (int, float)) else value


def matches(my: Ad, target: Ad) -> bool:
    """Whether the Requirements of both ads are true of the other one; without any, they are."""
    return all(
        "Requirements" not in one or attribute(one, "Requirements", other) is True
        for one, other in ((my, target), (target, my))
    )


class _Scope:
    """The ad that names are looked up in, the ads around it, and the ad opposite."""

    __slots__ = ("ad", "around", "target")

    def __init__(self, ad: Ad, target: Ad | None, around: _Scope | None = None) -> None:
        self.ad, self.target, self.around = ad, target, around

    @property
    def root(self) -> _Scope:
        scope = self
        while scope.around is not None:
            scope = scope.around
        return scope

    def opposite(self) -> _Scope | None:
        root = self.root
        return None if root.target is None else _Scope(root.target, root.ad)


class _Evaluation:
    """One run: what is being worked out now, so that circles end, and how much was done."""

    def __init__(self, now: float | None, remark: Callable[[str], None] | None) -> None:
        self.now = time.time if now is None else lambda: now
        self.remark = remark or (lambda _: None)
        self.steps = self.depth = 0

    def value(self, node: Node, scope: _Scope) -> Value:
        self.steps += 1
        self.depth += 1
        if self.depth > 4 * DEPTH_LIMIT or self.steps > STEPS_LIMIT:
            self.remark("the expression is too deep or too long to be evaluated")
            self.depth -= 1
            return ERROR
        found = self._value(node, scope)
        self.depth -= 1
        return found

    def _value(self, node: Node, scope: _Scope) -> Value:
        match node:
            case Literal(value):
                return value
            case Unparsed(text):
                return self._unparsed(text, scope)
            case Grouped(inner):
                return self.value(inner, scope)
            case Reference():
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
                return tuple(self.value(member, scope) for member in members)
            case Record(attributes):
                return Ad((name, from_tree(part)) for name, part in attributes)
            case Subscript(base, index):
                return self._subscript(base, index, scope)
        raise AssertionError(node)

    def attribute(self, name: str, scope: _Scope) -> Value:
        """An attribute of the ad of a scope."""
        return self._found(scope.ad.get(name, UNDEFINED), scope)

    def _found(self, held: Attribute, scope: _Scope) -> Value:
        if isinstance(held, Node):
            if self.depth > DEPTH_LIMIT:  # a circle, or as good as one
                return UNDEFINED
            return self.value(held, scope)
        if isinstance(held, tuple):
            return tuple(self._found(member, scope) for member in held)
        return held

    def _unparsed(self, text: str, scope: _Scope) -> Value:
        try:
            return self.value(expression(text, old=True), scope)
        except BadAd as error:
            self.remark(str(error))
            return ERROR

    def _reference(self, node: Reference, scope: _Scope) -> Value:
        if node.base is None and not node.absolute and node.name.lower() in (*_MY, *_TARGET):
            side = self._side(node.name.lower(), scope)
            return UNDEFINED if side is None else side.ad
        place = self._place(node, scope)
        return place if isinstance(place, Special) else self.attribute(node.name, place)

    def _place(self, node: Reference, scope: _Scope) -> _Scope | Special:
        """The scope that has an attribute: of its base and what is around that, or a bare name.

        A bare name is looked for in the ad itself, in those around it, in the one opposite.
        """
        if node.absolute:
            return scope.root
        inner = scope if node.base is None else self._entered(node.base, scope)
        if isinstance(inner, Special):
            return inner
        here: _Scope | None = inner
        while here is not None:
            if node.name in here.ad:
                return here
            here = here.around
        opposite = scope.opposite() if node.base is None else None
        return opposite if opposite is not None and node.name in opposite.ad else UNDEFINED

    def _entered(self, base: Node, scope: _Scope) -> _Scope | Special:
        """The scope of an ad that a dot or a subscript follows; it knows the ads around it."""
        while isinstance(base, Grouped):
            base = base.inner
        around = scope
        if isinstance(base, Reference):
            side = base.name.lower()
            if base.base is None and not base.absolute and side in (*_MY, *_TARGET):
                return self._side(side, scope) or UNDEFINED
            place = self._place(base, scope)
            if isinstance(place, Special):
                return place
            around, found = place, self.attribute(base.name, place)
        else:
            found = self.value(base, scope)
        if isinstance(found, Ad):
            return _Scope(found, None, around)
        return UNDEFINED if found is UNDEFINED else ERROR

    def _side(self, name: str, scope: _Scope) -> _Scope | None:
        return scope.root if name in _MY else scope.opposite()

    def _subscript(self, base: Node, index: Node, scope: _Scope) -> Value:
        place = self.value(index, scope)
        if isinstance(place, str):
            return self._reference(Reference(base, place), scope)
        held = self.value(base, scope)
        if held is ERROR or place is ERROR:
            return ERROR
        if held is UNDEFINED or place is UNDEFINED:
            return UNDEFINED
        if not isinstance(held, tuple) or type(place) is not int or not 0 <= place < len(held):
            return ERROR
        return self._found(held[place], scope)

    def _conditional(self, node: Conditional, scope: _Scope) -> Value:
        found = self.value(node.test, scope)
        if node.yes is None:
            return self.value(node.no, scope) if found is UNDEFINED else found
        test = operators.truth(found)
        if isinstance(test, Special):
            return test
        return self.value(node.yes if test else node.no, scope)

    def _chain(self, node: Binary, scope: _Scope) -> Value:
        """Operators from the left: a loop, so that long chains are not deep."""
        chain = []
        left: Node = node
        while isinstance(left, Binary):
            chain.append(left)
            left = left.left
        found = self.value(left, scope)
        for each in reversed(chain):
            if each.op in ("&&", "||"):
                found = self._logical(each, found, scope)
            else:
                found = operators.binary(each.op, found, self.value(each.right, scope))
        return found

    def _logical(self, node: Binary, left: Value, scope: _Scope) -> Value:
        """``false && x`` is false whatever x is; so is ``undefined && false``."""
        decided = node.op == "||"
        first = operators.truth(left)
        if first is ERROR or first is decided:
            return first
        second = operators.truth(self.value(node.right, scope))
        if second is ERROR or second is decided:
            return second
        return UNDEFINED if first is UNDEFINED or second is UNDEFINED else not decided

    def _call(self, name: str, arguments: tuple[Node, ...], scope: _Scope) -> Value:
        lower = name.lower()
        if lower == "ifthenelse":
            if len(arguments) != 3:
                return ERROR
            return self._conditional(Conditional(*arguments), scope)
        if lower not in functions.KNOWN:
            self.remark(f"the function {name} is not known")
            return ERROR
        values = tuple(self.value(argument, scope) for argument in arguments)
        return functions.call(lower, values, self.now)
