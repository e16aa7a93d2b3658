"""Text to expression: a recursive descent over the grammar of XPath 1.0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sssjob import suggestions
from sssjob.errors import InvalidValue, NotAQuery
from sssjob.query.syntax import (
    ANYWHERE,
    FUNCTIONS,
    LEVELS,
    NAMESPACE,
    PREFIX,
    UNION,
    Chain,
    Constant,
    Expression,
    FunctionCall,
    Negative,
    Path,
    Step,
    Test,
    Type,
    type_of,
)
from sssjob.query.tokens import END, LITERAL, NAME, NUMBER, SIGN, VARIABLE, Token, tokens

MAX_DEPTH = 32  # brackets inside brackets

_AXES = frozenset((
    "ancestor", "ancestor-or-self", "attribute", "child", "descendant", "descendant-or-self",
    "following", "following-sibling", "namespace", "parent", "preceding", "preceding-sibling",
    "self",
))  # fmt: skip
_NODE_TYPES = ("comment", "text", "processing-instruction", "node")
_OPERAND = "a path, a value or a function"


def parse(expression: str, namespaces: Mapping[str, str] | None = None) -> Expression:
    """The tree of an expression whose prefixes are all in ``namespaces``.

    Raises ``NotAQuery`` with the first place that is not understood.
    """
    return _XPathParser(expression, namespaces or {}).whole()


class _XPathParser:
    def __init__(self, expression: str, namespaces: Mapping[str, str]) -> None:
        self.expression = expression
        self.namespaces = namespaces
        self.tokens = tuple(tokens(expression))
        self.index = 0
        self.depth = 0
        self.brackets = 0

    def whole(self) -> Expression:
        found = self.chain(0)
        if self.token.kind != END:
            raise self.unexpected("an operator or the end")
        return found

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    @property
    def following(self) -> str:
        """The text of the token behind the current one, which is not the end."""
        return self.tokens[self.index + 1].text

    def take(self) -> Token:
        token = self.token
        self.index += 1
        return token

    def at(self, *signs: str) -> bool:
        return self.token.kind == SIGN and self.token.text in signs

    def accept(self, sign: str) -> bool:
        if not self.at(sign):
            return False
        self.index += 1
        return True

    def expect(self, sign: str, alternative: str = "") -> None:
        if not self.accept(sign):
            raise self.unexpected(f"{alternative} or {sign}" if alternative else sign)

    def unexpected(self, expected: str) -> NotAQuery:
        token = self.token
        found = "end of source" if token.kind == END else token.text
        return self.error(token.start, f"unexpected {found}", expected)

    def error(self, position: int, message: str, expected: str = "") -> NotAQuery:
        return NotAQuery(self.expression, position, message, expected)

    @contextmanager
    def nested(self) -> Iterator[None]:
        if self.depth == MAX_DEPTH:
            start = self.token.start
            raise self.error(start, f"nested more than {MAX_DEPTH} levels deep")
        self.depth += 1
        yield
        self.depth -= 1

    def chain(self, level: int) -> Expression:
        """Operands of one level; the tightest but one may carry minus signs."""
        if level > UNION:
            return self.path()
        if level == UNION and self.at("-"):
            return self.negative()
        start = self.token.start
        operands, signs = [self.chain(level + 1)], []
        while (sign := self.token).text in LEVELS[level][0] and sign.kind in (SIGN, NAME):
            self.take()
            if level == UNION:
                self.demand_nodes(operands[-1], start, "on both sides of |")
            start = self.token.start
            operands.append(self.chain(level + 1))
            signs.append(sign.text)
        if level == UNION and signs:
            self.demand_nodes(operands[-1], start, "on both sides of |")
        return Chain(tuple(operands), tuple(signs)) if signs else operands[0]

    def negative(self) -> Expression:
        turned = 0
        while self.accept("-"):
            turned += 1
        # Two minus signs turn twice, and make a number of what was none.
        operand = Negative(self.chain(UNION))
        return operand if turned % 2 else Negative(operand)

    def demand_nodes(self, operand: Expression, start: int, where: str) -> None:
        if type_of(operand) is not Type.NODES:
            raise self.error(start, f"{type_of(operand)} {where}", str(Type.NODES))

    def path(self) -> Expression:
        """A location path, or a primary expression with what may follow it."""
        if self.token.kind == VARIABLE:
            raise self.error(self.token.start, f"{self.token.text} has no value here")
        if self.at("(") or self.token.kind in (NUMBER, LITERAL) or self.at_call():
            return self.filtered()
        steps: list[Step] = []
        absolute = self.at("/", "//")
        if self.accept("//"):
            steps.append(ANYWHERE)
        elif self.accept("/") and not self.at_step():
            return Path((), absolute=True)
        steps.extend(self.steps())
        return Path(tuple(steps), absolute)

    def at_call(self) -> bool:
        token = self.token
        return token.kind == NAME and self.following == "(" and token.text not in _NODE_TYPES

    def at_step(self) -> bool:
        return self.token.kind == NAME or self.at(".", "..", "@", "*")

    def filtered(self) -> Expression:
        start = self.token.start
        primary = self.primary()
        predicates = self.predicates()
        steps: list[Step] = []
        if self.at("/", "//"):
            if self.take().text == "//":
                steps.append(ANYWHERE)
            steps.extend(self.steps())
        if not predicates and not steps:
            return primary
        self.demand_nodes(primary, start, "before [ or /")
        return Path(tuple(steps), start=primary, predicates=predicates)

    def primary(self) -> Expression:
        if self.token.kind in (NUMBER, LITERAL):
            return Constant(self.take().text)
        if self.token.kind == NAME:
            return self.call()
        with self.nested():
            self.expect("(")
            inner = self.chain(0)
            self.expect(")", "an operator")
        return inner

    def call(self) -> Expression:
        token = self.take()
        name = token._replace(text=self.function(token))
        if name.text in ("position", "last") and not self.brackets:
            raise self.error(name.start, f"{name.text}() without brackets around it", "[ before it")
        _, least, most, of_nodes = FUNCTIONS[name.text]
        arguments: list[Expression] = []
        with self.nested():
            self.expect("(")
            while not self.at(")"):
                start = self.token.start
                arguments.append(self.chain(0))
                if of_nodes and len(arguments) == 1:
                    self.demand_nodes(arguments[0], start, f"as argument of {name.text}()")
                self.demand_readable(name.text, arguments[-1], start)
                if not self.at(")"):
                    self.expect(",", "an operator, )")
                    if self.at(")"):
                        raise self.unexpected(_OPERAND)
            self.expect(")")
        if len(arguments) < least or (most is not None and len(arguments) > most):
            raise self.error(
                name.start, f"{len(arguments)} arguments of {name.text}()", _number(least, most)
            )
        return FunctionCall(name.text, tuple(arguments))

    def function(self, token: Token) -> str:
        """The name of a function by which the tree knows it."""
        prefix, _, name = token.text.rpartition(":")
        bound = {**self.namespaces, PREFIX: NAMESPACE}
        ours = prefix and bound.get(prefix) == NAMESPACE
        known = f"{PREFIX}:{name}" if ours else token.text
        if known not in FUNCTIONS:
            near = suggestions.nearest(known, FUNCTIONS)
            if f"{PREFIX}:{name}" in FUNCTIONS:
                near = f"{PREFIX}:{name}"
            advice = f"; did you mean {near}?" if near else ""
            raise self.error(token.start, f"no function {token.text} in XPath 1.0{advice}")
        return known

    def demand_readable(self, function: str, argument: Expression, start: int) -> None:
        """Refuse a literal that one of our functions can never read."""
        prefix, _, name = function.rpartition(":")
        if prefix and isinstance(argument, Constant) and type_of(argument) is Type.STRING:
            from sssjob.query.functions import check_literal  # there is much behind it to import

            try:
                check_literal(name, argument.text[1:-1])
            except InvalidValue as error:
                raise self.error(start, f"{error.text!r} in {function}()", error.expected) from None

    def steps(self) -> Iterator[Step]:
        yield self.step()
        while self.at("/", "//"):
            if self.take().text == "//":
                yield ANYWHERE
            yield self.step()

    def step(self) -> Step:
        start = self.token.start
        if self.accept(".."):
            return Step("parent", Test("node()", at=start))
        if self.accept("."):
            return Step("self", Test("node()", at=start))
        axis = "child"
        if self.accept("@"):
            axis = "attribute"
        elif self.token.kind == NAME and self.following == "::":
            if self.token.text not in _AXES:
                raise self.error(start, f"no axis {self.token.text} in XPath 1.0")
            axis = self.take().text
            self.take()
        return Step(axis, self.test(), self.predicates())

    def test(self) -> Test:
        token = self.token
        if self.accept("*"):
            return Test("*", at=token.start)
        if token.kind != NAME:
            raise self.unexpected(_OPERAND)
        self.take()
        if self.at("(") and token.text in _NODE_TYPES:
            return self.node_type(token)
        prefix, _, name = token.text.rpartition(":")
        if prefix == PREFIX:
            raise self.error(
                token.start, f"{prefix} is the prefix of functions", "another prefix for elements"
            )
        if prefix and prefix != "xml" and prefix not in self.namespaces:
            raise self.error(token.start, f"prefix {prefix} has no namespace", f"--ns {prefix}=URI")
        return Test(name, prefix, token.start)

    def node_type(self, token: Token) -> Test:
        self.take()
        target = ""
        if token.text == "processing-instruction" and self.token.kind == LITERAL:
            target = self.take().text
        self.expect(")")
        return Test(f"{token.text}({target})", at=token.start)

    def predicates(self) -> tuple[Expression, ...]:
        found = []
        while self.at("["):
            with self.nested():
                self.take()
                self.brackets += 1
                found.append(self.chain(0))
                self.brackets -= 1
                self.expect("]", "an operator")
        return tuple(found)


def _number(least: int, most: int | None) -> str:
    if most is None:
        return f"at least {least}"
    return str(least) if least == most else f"{least} to {most}"
