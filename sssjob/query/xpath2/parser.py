"""Expressions of XPath 2.0 and later as elementpath reads them, without what is not safe.

No function here opens a file or an address or looks at the environment, patterns run under a
time limit, and a range is bounded before it is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from typing import Any

import regex
from elementpath import ElementPathError, ElementPathTypeError, XPath2Parser
from elementpath.datatypes import UntypedAtomic
from elementpath.regex import RegexError, translate_pattern
from elementpath.xpath3 import XPath3Parser
from elementpath.xpath30 import XPath30Parser
from elementpath.xpath_nodes import AttributeNode, ElementNode, TextNode, XPathNode

from sssjob.errors import InvalidValue, LimitExceeded, NotAQuery
from sssjob.library_words import pattern_fault
from sssjob.query import functions
from sssjob.query.parser import MAX_DEPTH
from sssjob.query.syntax import NAMESPACE, PREFIX
from sssjob.query.tokens import MAX_LENGTH
from sssjob.query.xpath2 import order, scope
from sssjob.units import XML_SPACE

PARSERS = {"2.0": XPath2Parser, "3.0": XPath30Parser, "3.1": XPath3Parser}

RANGE_LIMIT = 1_000_000  # numbers of one range, 1 to N
PATTERN_SECONDS = 0.1  # for one text, as patterns of requests have

UNKNOWN_VARIABLE = "XPST0008"

# What reads files, addresses or the environment, or reaches a function by its name as a text.
_REFUSED = (
    "analyze-string", "available-environment-variables", "collection", "doc", "doc-available",
    "environment-variable", "function-lookup", "json-doc", "json-to-xml", "load-xquery-module",
    "parse-xml", "parse-xml-fragment", "trace", "transform", "unparsed-text",
    "unparsed-text-available", "unparsed-text-lines", "uri-collection",
)  # fmt: skip
# What elementpath raises of its own where it does not expect what an expression asks, such as
# math:pow(10,400): not of this document, and not of us.
FAULTS = (
    ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError,
    ValueError,
)  # fmt: skip
# What is said of them: they have words of Python.
_FAULT = (
    (TypeError, ": an argument is empty, or of a type that is not taken there"),
    (ArithmeticError, ": a number is too large, or none comes out"),
    (ValueError, ": a value is not taken there"),
)
_BRACKETS = re.compile(r"\"[^\"]*\"|'[^']*'|\(:|:\)|([(\[{])|([)\]}])")
_PLACE = re.compile(r"line (\d{1,9}), column (\d{1,9}): ")
_CODE = re.compile(r"\[err:(\w+)\] (.*)", re.DOTALL)


_NO_NUMBER = re.compile(r"(?:could not convert string to float|invalid literal for \S+[^:]*): (.*)")
_FUNCTION = re.compile(r"'([\w:.\-]+)' (?:constructor )?function\b")
_CLASS = re.compile(r"<class '(?:\w+\.)*(\w+?)(?:10)?'>")
_ARGUMENT = re.compile(
    r"(?:the )?(?:(\d+(?:st|nd|rd|th)) )?(?:argument has (?:an invalid )?|invalid argument )"
    r"type (<class '[\w.]+'>)(?: instead of (<class '[\w.]+'>))?"
)
_TYPES = {
    "NoneType": "an empty sequence", "int": "xs:integer", "str": "xs:string", "float": "xs:double",
    "bool": "xs:boolean", "Decimal": "xs:decimal", "list": "a sequence", "tuple": "a sequence",
    "NumericProxy": "a number", "ArithmeticProxy": "a number or a time",
}  # fmt: skip


def parse(expression: str, namespaces: dict[str, str], version: str) -> Any:
    """The root token of an expression. Raises ``NotAQuery`` with the place."""
    _refuse_hostile(expression)
    parser = _parser(namespaces, version)
    try:
        return parser.parse(expression)
    except RecursionError:
        raise NotAQuery(expression, 0, "nested too deeply") from None
    except (InvalidValue, LimitExceeded) as error:  # what is constant is worked out now
        raise NotAQuery(expression, 0, str(error)) from error
    except ElementPathError as error:
        raise not_a_query(expression, error) from error
    except FAULTS as error:
        raise beyond(expression, error) from error


def beyond(expression: str, error: Exception) -> NotAQuery:
    """That elementpath cannot work an expression out, for a reason of its own."""
    kind = next((said for of, said in _FAULT if isinstance(error, of)), "")
    return NotAQuery(expression, 0, f"cannot be worked out{kind}")


def stopped(error: ElementPathError) -> LimitExceeded | None:
    """The limit at which an expression ended; elementpath takes it for a value that is wrong."""
    found: BaseException | None = error
    while isinstance(found, ElementPathError):
        found = found.__context__
    return found if isinstance(found, LimitExceeded) else None


def not_a_query(expression: str, error: ElementPathError) -> NotAQuery:
    """What elementpath says of an expression, with its place and without its own form."""
    position = 0
    if found := _PLACE.search(str(error)):
        lines = expression.split("\n")
        position = sum(len(line) + 1 for line in lines[: int(found[1]) - 1]) + int(found[2]) - 1
    if "'(end)'" in str(error):
        position = len(expression)
    return NotAQuery(expression, position, said(error))


def said(error: ElementPathError) -> str:
    """The sentence of an error, with its code, and with types as XPath calls them."""
    found = _CODE.search(str(error))
    sentence, code = (found[2], f" ({found[1]})") if found else (str(error), "")
    of = _FUNCTION.match(str(error))
    sentence = _ARGUMENT.sub(partial(_of_argument, f" of {of[1]}()" if of else ""), sentence)
    sentence = _NO_NUMBER.sub(r"\1 is no number", sentence)
    return f"{_CLASS.sub(_type, sentence)}{code}"


def _of_argument(function: str, found: re.Match[str]) -> str:
    """``the 2nd argument of QName() is an empty sequence``."""
    which = f"the {found[1]}" if found[1] else "the"
    wanted = f", and not {found[3]}" if found[3] else ", which it does not take"
    return f"{which} argument{function} is {found[2]}{wanted}"


def _type(found: re.Match[str]) -> str:
    """A type of values, of which elementpath says what it is in Python."""
    name = found[1]
    return _TYPES.get(name) or f"xs:{name if name[:2].isupper() else name[0].lower() + name[1:]}"


def _refuse_hostile(expression: str) -> None:
    if len(expression) > MAX_LENGTH:
        raise NotAQuery(
            expression, MAX_LENGTH,
            f"an expression of {len(expression)} characters", f"at most {MAX_LENGTH}",
        )  # fmt: skip
    depth = 0
    for found in _BRACKETS.finditer(expression):
        depth += bool(found[1]) - bool(found[2])
        if depth > MAX_DEPTH:
            raise NotAQuery(expression, found.start(), f"nested more than {MAX_DEPTH} levels deep")


def _parser(namespaces: dict[str, str], version: str) -> Any:
    parser: Any = PARSERS[version](
        namespaces={**namespaces, PREFIX: NAMESPACE}
    )  # fmt: skip
    table = {
        symbol: token for symbol, token in parser.symbol_table.items()
        if symbol.rpartition("}")[2].rpartition(":")[2] not in _REFUSED
    }  # fmt: skip
    table["to"] = _bounded(table["to"])
    table["sum"] = _of_numbers(table["sum"])
    if "!" in table:  # which XPath 2.0 has not
        table["!"] = _watched(table["!"])
    for symbol in scope.PATHS:
        table[symbol] = _in_order(table[symbol])
    for name in ("matches", "replace", "tokenize"):
        del table[name]
    parser.symbol_table = table
    for function in (matches, replace, tokenize):
        # A path takes as a step what is labelled so.
        parser.external_function(function, function.__name__).label = "function"
    for name, ours in functions.FUNCTIONS.items():
        parser.external_function(partial(_ours, ours), name, PREFIX, ("item()*", "item()*"))
    return parser


def _bounded(token: Any) -> Any:
    """The class of the operator ``to``, which makes all its numbers at once."""

    def evaluate(self: Any, context: Any = None) -> Any:
        start, stop = self.get_operands(context, cls=int)
        if start is not None and stop is not None and stop - start >= RANGE_LIMIT:
            raise LimitExceeded("numbers in a range", RANGE_LIMIT)
        return token.evaluate(self, context)

    return type(token.__name__, (token,), {"evaluate": evaluate, "__module__": token.__module__})


def _watched(token: Any) -> Any:
    """The class of the operator ``!``, which elementpath works out in one context for all items:
    so the time is looked at for each of them, and not only where a name or a predicate is asked.
    """

    def select(self: Any, context: Any = None) -> Iterator[Any]:
        if context is None:
            raise self.missing_context()
        for _ in self[0].select_with_focus(context):
            context.check()
            yield from self[1].select(context)

    return type(token.__name__, (token,), {"select": select, "__module__": token.__module__})


def _in_order(token: Any) -> Any:
    """The class of the operator ``/`` or ``//``, which gives nodes as it comes upon them: they are
    in document order (XPath 2.0 3.2), whatever ways lead to them.
    """

    def select(self: Any, context: Any = None) -> Iterator[Any]:
        found = token.select(self, context)
        if context is None:
            return found  # type: ignore[no-any-return]
        if self.keeps is None:
            self.keeps = order.is_kept(self)
        return found if self.keeps else iter(order.sorted_by_place(found))

    own = {"select": select, "keeps": None, "__module__": token.__module__}
    return type(token.__name__, (token,), own)


def _of_numbers(token: Any) -> Any:
    """The class of the function ``sum``: a text that is no number is the error that F&O has, and
    that ``avg`` and ``max`` give, where elementpath says NaN of a value, and another one of a node.
    """

    def evaluate(self: Any, context: Any = None) -> Any:
        again = copy(context)
        try:
            found = token.evaluate(self, context)
        except ElementPathTypeError:
            _refuse_texts(self, again)
            raise
        if found != found:  # NaN, which a text may say, too
            _refuse_texts(self, again)
        return found

    return type(token.__name__, (token,), {"evaluate": evaluate, "__module__": token.__module__})


def _refuse_texts(function: Any, context: Any) -> None:
    """Raise what elementpath says of the first text that is no number, FORG0001."""
    for item in function[0].atomization(context):
        if isinstance(item, UntypedAtomic):
            function.cast_to_double(item.value)


def _ours(function: Callable[[functions.Argument], Any], argument: Any) -> Any:
    """One of our functions with nodes of elementpath; the nodes it makes come back as strings."""
    items = argument if isinstance(argument, list) else [argument]
    found = function([_plain(item) for item in items])
    return [item.text for item in found] if isinstance(found, list) else found


def _plain(item: Any) -> Any:
    """What lxml has for a node, and the text of any other value."""
    if isinstance(item, ElementNode):
        return item.value
    if isinstance(item, AttributeNode | TextNode):
        return str(item.value)
    return _text(item)


def _text(item: Any) -> str:
    if item is None:
        return ""
    return str(item.string_value if isinstance(item, XPathNode) else item)


def matches(text: Any, pattern: Any, flags: Any = "") -> bool:
    """``fn:matches``, under a time limit."""
    return bool(_timed(_pattern(pattern, flags).search, _text(text)))


def replace(text: Any, pattern: Any, by: Any, flags: Any = "") -> str:
    """``fn:replace``, under a time limit; ``$1`` stands for a group."""
    compiled = _pattern(pattern, flags)
    if compiled.search(""):
        raise InvalidValue(_text(pattern), "a pattern that matches some text, and no empty one")
    template = _text(by)
    if "q" not in _text(flags):
        if re.fullmatch(r"(?:[^\\$]|\\[\\$]|\$[0-9])*", template) is None:
            raise InvalidValue(template, "a replacement with $1, \\$ or \\\\ only")
        parts = re.split(r"(\\[\\$]|\$[0-9])", template)

        def filled(found: Any) -> str:
            return "".join(_part(part, found) for part in parts)
    else:

        def filled(found: Any) -> str:
            return template

    return str(_timed(partial(compiled.sub, filled), _text(text)))


def tokenize(text: Any, pattern: Any = None, flags: Any = "") -> list[str]:
    """``fn:tokenize``, under a time limit; without a pattern at white space."""
    if pattern is None:
        return _text(text).split()
    compiled = _pattern(pattern, flags)
    if compiled.search(""):
        raise InvalidValue(_text(pattern), "a pattern that matches some text, and no empty one")
    given = _text(text)
    pieces, start = [], 0
    for found in _timed(
        lambda whole, timeout: list(compiled.finditer(whole, timeout=timeout)), given
    ):
        pieces.append(given[start : found.start()])
        start = found.end()
    return [*pieces, given[start:]] if given else []


def _part(part: str, found: Any) -> str:
    if part[:1] == "$":
        group = int(part[1:])
        return (found[group] or "") if group <= found.re.groups else ""
    return part[1:] if part[:1] == "\\" else part


def _pattern(pattern: Any, flags: Any) -> Any:
    text, given, said = _text(pattern), 0, _text(flags)
    for flag in said:
        if flag not in "smixq":
            raise InvalidValue(flag, "one of the flags s, m, i, x, q of a pattern")
        given |= _FLAGS.get(flag, 0)
    if "q" in said:
        return regex.compile(re.escape(text), given)
    if "x" in said:
        text = _without_space(text)
    try:
        return regex.compile(translate_pattern(text, given), given)
    except (RegexError, regex.error) as error:
        raise InvalidValue(text, f"a pattern: {pattern_fault(error)}") from error


_FLAGS = {"s": re.S, "m": re.M, "i": re.I}


def _without_space(pattern: str) -> str:
    """A pattern without white space that stands outside of classes of characters (F&O 5.6.1.1)."""
    kept, depth, is_escaped = [], 0, False
    for letter in pattern:
        if letter in XML_SPACE and not depth:
            continue
        kept.append(letter)
        if not is_escaped:
            depth += (letter == "[") - (letter == "]")
        is_escaped = letter == "\\" and not is_escaped
    return "".join(kept)


def _timed(search: Callable[..., Any], text: str) -> Any:
    try:
        return search(text, timeout=PATTERN_SECONDS)
    except TimeoutError:
        limit = int(PATTERN_SECONDS * 1000)
        raise LimitExceeded(f"milliseconds to match a pattern with {text[:40]!r}", limit) from None
