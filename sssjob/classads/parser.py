"""Text to the tree of an expression, to a plain value, and to the ads of the new syntax."""

from __future__ import annotations

from functools import lru_cache

from sssjob.classads.errors import BadAd
from sssjob.classads.tokens import END, NAME, NUMBER, QUOTED, SIGN, STRING, number, tokens, unquoted
from sssjob.classads.tree import (
    BINDS,
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
from sssjob.classads.values import ERROR, UNDEFINED, AbsTime, Ad, Node, RelTime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sssjob.classads.values import Attribute, Value


DEPTH_LIMIT = 64

_WORDS: dict[str, Value] = {"true": True, "false": False, "undefined": UNDEFINED, "error": ERROR}


@lru_cache(maxsize=4096)
def expression(text: str, old: bool = False) -> Node:
    """The tree of one expression. Raises ``BadAd``.

    Nested deeper than ``DEPTH_LIMIT`` is refused; chains such as ``a && b && c`` are not deep.
    """
    reader = Parser(text, old)
    found = reader.expression()
    reader.expect(END, "")
    return found


class Parser:
    """A place in the words of a text, from which the grammar goes on."""

    def __init__(self, text: str, old: bool = False) -> None:
        self.text, self.words, self.at, self.depth = text, tokens(text, old), 0, 0

    @property
    def kind(self) -> str:
        """What kind of word comes next."""
        return self.words[self.at][0]

    @property
    def word(self) -> str:
        """The next word itself."""
        return self.words[self.at][1]

    def take(self, kind: str, word: str) -> bool:
        """Pass a word if it comes next."""
        if self.words[self.at][:2] == (kind, word):
            self.at += 1
            return True
        return False

    def expect(self, kind: str, word: str) -> None:
        """Pass a word that must come next."""
        if not self.take(kind, word):
            raise self.wrong(repr(word) if word else "the end")

    def wrong(self, expected: str) -> BadAd:
        """What to say where something else was expected."""
        start = self.words[self.at][2]
        found = repr(self.text[start : start + 30]) if self.word else "the end"
        return BadAd(f"{found} at character {start + 1}, where {expected} is expected")

    def expression(self) -> Node:
        """A whole expression."""
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            raise BadAd(f"an expression more than {DEPTH_LIMIT} levels deep")
        found = self._binary(0)
        if self.take(SIGN, "?"):
            yes = self.expression()
            self.expect(SIGN, ":")
            found = Conditional(found, yes, self.expression())
        self.depth -= 1
        return found

    def record(self) -> Record:
        """An ad after its ``[``, up to and with its ``]``."""
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            raise BadAd(f"ads more than {DEPTH_LIMIT} levels deep")
        attributes = []
        while not self.take(SIGN, "]"):
            if self.take(SIGN, ";"):
                continue
            name = self._name()
            self.expect(SIGN, "=")
            attributes.append((name, self.expression()))
            if (self.kind, self.word) not in ((SIGN, ";"), (SIGN, "]")):
                raise self.wrong("';' or ']'")
        self.depth -= 1
        return Record(tuple(attributes))

    def _binary(self, level: int) -> Node:
        """Operators that bind as close as those of a level, or closer."""
        return self._rest(self._unary(), level)

    def _rest(self, left: Node, level: int) -> Node:
        """A chain that begins with ``left``: a loop, so that long chains are not deep."""
        while (binds := self._operator()) >= level:
            op = self.word
            self.at += 1
            right = self._unary()
            while self._operator() > binds:
                right = self._rest(right, binds + 1)
            left = Binary(op, left, right)
        return left

    def _operator(self) -> int:
        kind, word, _ = self.words[self.at]
        if kind == NAME:
            word = word.lower()
            return BINDS.get(word, -1) if word in ("is", "isnt") else -1
        return BINDS.get(word, -1) if kind == SIGN else -1

    def _unary(self) -> Node:
        signs = []
        while self.kind == SIGN and self.word in ("-", "+", "!", "~"):
            signs.append(self.word)
            self.at += 1
        if len(signs) > DEPTH_LIMIT:
            raise BadAd(f"more than {DEPTH_LIMIT} signs before an operand")
        if signs and signs[-1] == "-" and self.kind == NUMBER:
            signs.pop()
            self.at += 1
            literal = Literal(self._negative())
            found = self._defaulted(self._suffixed(literal))
        else:
            found = self._defaulted(self._suffixed(self._primary()))
        for sign in reversed(signs):
            found = Unary(sign, found)
        return found

    def _negative(self) -> int | float:
        """The number just passed, behind a minus; only what stands right behind it is one word."""
        (_, _, sign), (_, word, place) = self.words[self.at - 2 : self.at]
        return number(word, negative=True) if place == sign + 1 else -number(word)

    def _defaulted(self, found: Node) -> Node:
        """``a ?: b``, which binds closer than any other operator, also than those before it."""
        steps = 0
        while self.words[self.at][1] == "?" and self.words[self.at + 1][1] == ":":
            steps += 1
            if steps > DEPTH_LIMIT:
                raise BadAd(f"more than {DEPTH_LIMIT} defaults for one value")
            self.at += 2
            if self.take(SIGN, "-"):
                if self.kind != NUMBER:
                    raise self.wrong("a number")
                self.at += 1
                other: Node = Literal(self._negative())
            else:
                other = self._suffixed(self._primary())
            found = Conditional(found, None, other)
        return found

    def _suffixed(self, base: Node) -> Node:
        steps = 0
        while self.kind == SIGN and self.word in (".", "["):
            steps += 1
            if steps > DEPTH_LIMIT:
                raise BadAd(f"more than {DEPTH_LIMIT} steps into lists and ads")
            if self.take(SIGN, "."):
                base = AttributeReference(base, self._name())
            else:
                self.expect(SIGN, "[")
                base = Subscript(base, self.expression())
                self.expect(SIGN, "]")
        return base

    def _primary(self) -> Node:
        kind, word, _ = self.words[self.at]
        self.at += 1
        if kind == NUMBER:
            return Literal(number(word))
        if kind == STRING:
            text = unquoted(word)
            while self.kind == STRING:  # neighbours are one string
                text += unquoted(self.word)
                self.at += 1
            return Literal(text)
        if kind == QUOTED:
            return AttributeReference(None, unquoted(word))
        if kind == NAME:
            return self._named(word)
        if kind == SIGN:
            if word == "(":
                inner = self.expression()
                self.expect(SIGN, ")")
                return Grouped(inner)
            if word == "{":
                return Listing(self._members("}"))
            if word == "[":
                return self.record()
            if word == ".":
                return AttributeReference(None, self._name(), absolute=True)
        self.at -= 1
        raise self.wrong("a value, a name or a bracket")

    def _named(self, word: str) -> Node:
        lower = word.lower()
        if lower in _WORDS:
            return Literal(_WORDS[lower])
        if lower in ("is", "isnt"):
            self.at -= 1
            raise self.wrong("a value, a name or a bracket")
        if not self.take(SIGN, "("):
            return AttributeReference(None, word)
        arguments = self._members(")")
        return _constant(lower, arguments) or Call(word, arguments)

    def _members(self, end: str) -> tuple[Node, ...]:
        members: list[Node] = []
        if self.take(SIGN, end):
            return ()
        while True:
            members.append(self.expression())
            if self.take(SIGN, end):
                return tuple(members)
            self.expect(SIGN, ",")

    def _name(self) -> str:
        kind, word, _ = self.words[self.at]
        if kind not in (NAME, QUOTED):
            raise self.wrong("a name")
        self.at += 1
        return unquoted(word) if kind == QUOTED else word


def _constant(name: str, arguments: tuple[Node, ...]) -> Node | None:
    """Times and odd numbers are written as calls, but are plain values."""
    from sssjob.classads import times

    match arguments:
        case (Literal(str() as text),) if name == "abstime":
            found: AbsTime | RelTime | None = times.absolute(text)
        case (Literal(str() as text),) if name == "reltime":
            found = times.relative(text)
        case (Literal(str() as text),) if (
            name == "real" and text.isascii() and text.upper() in _ODD
        ):
            return Literal(_ODD[text.upper()])
        case _:
            return None
    return None if found is None else Literal(found)


_ODD = {"NAN": float("nan"), "INF": float("inf"), "-INF": float("-inf")}


def plain(text: str, old: bool = False) -> Attribute:
    """The value that a text stands for, or the expression that it is. Raises ``BadAd``.

    >>> plain("{ 1, [a = b] }")
    (1, Ad({'a': AttributeReference(None, 'b', False)}))
    """
    return from_tree(expression(text, old))


def from_tree(node: Node) -> Attribute:
    """The value of a tree, where it is one."""
    match node:
        case Literal(value):
            return value
        case Listing(members):
            return tuple(from_tree(member) for member in members)
        case Record(attributes):
            return Ad((name, from_tree(part)) for name, part in attributes)
    return node
