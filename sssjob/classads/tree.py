"""The kinds of node that an expression of ClassAds has."""

from __future__ import annotations

from sssjob.classads.values import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sssjob.classads.values import Value

# fmt: off
# The operators between two operands, level by level; what binds closest comes last.
LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!=", "is", "isnt"),
    ("<", "<=", ">", ">="), ("<<", ">>", ">>>"), ("+", "-"), ("*", "/", "%"),
)
# fmt: on
BINDS = {op: level for level, ops in enumerate(LEVELS) for op in ops}


class Literal(Node):
    """A plain value."""

    __slots__ = __match_args__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class AttributeReference(Node):
    """An attribute by name: of ``base``, of the outermost ad (``.x``), or of the ad around it."""

    __slots__ = __match_args__ = ("base", "name", "absolute")

    def __init__(self, base: Node | None, name: str, absolute: bool = False) -> None:
        self.base, self.name, self.absolute = base, name, absolute


class Unary(Node):
    """``+``, ``-``, ``!`` or ``~`` and its operand."""

    __slots__ = __match_args__ = ("op", "operand")

    def __init__(self, op: str, operand: Node) -> None:
        self.op, self.operand = op, operand


class Binary(Node):
    """Two operands; ``=?=`` and ``=!=`` are called ``is`` and ``isnt``."""

    __slots__ = __match_args__ = ("op", "left", "right")

    def __init__(self, op: str, left: Node, right: Node) -> None:
        self.op, self.left, self.right = op, left, right


class Conditional(Node):
    """``test ? yes : no``; without ``yes`` it is ``test ?: no``, for undefined."""

    __slots__ = __match_args__ = ("test", "yes", "no")

    def __init__(self, test: Node, yes: Node | None, no: Node) -> None:
        self.test, self.yes, self.no = test, yes, no


class Subscript(Node):
    """A member of a list by its place, or an attribute of an ad by its name."""

    __slots__ = __match_args__ = ("base", "index")

    def __init__(self, base: Node, index: Node) -> None:
        self.base, self.index = base, index


class Call(Node):
    """A function by the name it was called by, and its arguments."""

    __slots__ = __match_args__ = ("name", "arguments")

    def __init__(self, name: str, arguments: tuple[Node, ...]) -> None:
        self.name, self.arguments = name, arguments


class Listing(Node):
    """``{ a, b }``."""

    __slots__ = __match_args__ = ("members",)

    def __init__(self, members: tuple[Node, ...]) -> None:
        self.members = members


class Record(Node):
    """``[ a = 1; b = 2 ]``: names, and the expressions they stand for."""

    __slots__ = __match_args__ = ("attributes",)

    def __init__(self, attributes: tuple[tuple[str, Node], ...]) -> None:
        self.attributes = attributes


class Grouped(Node):
    """An expression in brackets, which are kept when it is written."""

    __slots__ = __match_args__ = ("inner",)

    def __init__(self, inner: Node) -> None:
        self.inner = inner
