"""What hosts have to be, as ``select`` of LSF says it: names, ``!``, ``&&``, ``||`` and brackets.

>>> print(selected("ib && (ssd || !old) && hname!=n1"))
(Feature EQ ib And (Feature EQ ssd Or Feature NE old) And Node NE n1)
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sssjob import expression, nodes
from sssjob.errors import InvalidValue, LimitExceeded
from sssjob.expression import Comparison, Expression, Not, Or
from sssjob.model import Property, stripped
from sssjob.nodes import plain

_COMPARED = {"type": "Architecture", "hname": "Node"}
_NAMES = {name: word for word, name in _COMPARED.items()}
_SIGNS = {"==": "EQ", "!=": "NE"}
_WORD = re.compile(r"\s*(&&|\|\||==|!=|[!()]|[A-Za-z0-9_][A-Za-z0-9_.-]*)")
_OPEN = ("any", "local")  # types of hosts, of which any is taken, or that of who submits
# Resources that hosts have by themselves: a selection of one asks whether it is zero.
_MEANT = frozenset((
    "cpuf", "hname", "io", "it", "ls", "maxmem", "maxslots", "maxswp", "maxtmp", "mem", "model",
    "ncores", "ncpus", "ndisks", "nprocs", "nthreads", "pg", "r15m", "r15s", "r1m", "rexpri",
    "server", "slots", "status", "swp", "tmp", "type", "ut",
))  # fmt: skip
_DEPTH = 50
_NOT_ALL = "a selection that a request can say"


def is_host(text: str) -> bool:
    """Whether a text is the name of a host, and not all others."""
    return plain(text) and text != "others"


def is_name(text: str) -> bool:
    """Whether a text is the name of a feature, or of one type of hosts."""
    return plain(text) and text not in _OPEN


def is_feature(text: str) -> bool:
    """Whether a site gives a name its meaning: LSF has amounts and states of its own."""
    return is_name(text) and text not in _MEANT


def selection(part: Expression, take: Callable[[str], bool] = is_feature) -> str:
    """An expression about hosts, whose features are names that are ``take``n for one.

    Raises ``InvalidValue`` for one that is about something else.
    """
    match part:
        case Comparison(item):
            return _comparison(item, part.op, take)
        case Not(operand):
            inner = selection(operand, take)
            return f"!{inner}" if plain(inner) or inner.startswith("(") else f"!({inner})"
        case expression.And(operands) if operands:
            return f"({' && '.join(selection(each, take) for each in operands)})"
        case Or(operands) if operands:
            return f"({' || '.join(selection(each, take) for each in operands)})"
    raise InvalidValue(str(part), "a demand without preferences")


def _comparison(item: Property, op: str, is_taken: Callable[[str], bool]) -> str:
    found = nodes.expand(item) if item.name in ("Feature", "Node") else (stripped(item.text),)
    if (
        isinstance(found, nodes.Pattern)
        or op not in _SIGNS.values()
        or len(found) > nodes.OPTION_LIMIT
    ):
        raise InvalidValue(item.text, "names that are there, or are not")
    texts = list(dict.fromkeys(found))
    take = {"Node": plain, "Feature": is_taken}.get(item.name, is_name)
    if not texts or not all(map(take, texts)):
        raise InvalidValue(item.text, "plain names")
    if item.name == "Feature":
        whole = " && ".join(texts if op == "EQ" else (f"!{text}" for text in texts))
        return f"({whole})" if len(texts) > 1 else whole
    sign = "==" if op == "EQ" else "!="
    terms = [f"{_NAMES[item.name]}{sign}{text}" for text in texts]
    if len(terms) == 1:
        return terms[0]
    return f"({(' || ' if op == 'EQ' else ' && ').join(terms)})"


def is_open(term: Comparison) -> bool:
    """Whether a part leaves the type of hosts open: ``type==any`` or ``local``, ``any``.

    LSF puts it into requirements that name no type.
    """
    return term.item.name in ("Architecture", "Feature") and term.item.text in _OPEN


def selected(text: str) -> Expression:
    """The expression of a selection. Raises ``InvalidValue``."""
    reader = _WordReader(text)
    found = reader.either(0)
    if reader.words:
        raise InvalidValue(text, _NOT_ALL)
    return found


class _WordReader:
    """Reads words one after the other; ``words`` are those that are left."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[str] = []
        place = 0
        stop = len(text.rstrip())
        while place < stop:
            found = _WORD.match(text, place)
            if found is None:
                raise InvalidValue(text, _NOT_ALL)
            self.words.append(found[1])
            place = found.end()
        self.words.reverse()

    def either(self, depth: int) -> Expression:
        """Parts with || between them."""
        parts = [self._both(depth)]
        while self._takes("||"):
            parts.append(self._both(depth))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _both(self, depth: int) -> Expression:
        parts = [self._one(depth)]
        while self._takes("&&"):
            parts.append(self._one(depth))
        return expression.all_of(parts)

    def _one(self, depth: int) -> Expression:
        if depth > _DEPTH:
            raise LimitExceeded("brackets in a selection", _DEPTH)
        if self._takes("!"):
            inner = self._one(depth + 1)
            negated = isinstance(inner, Comparison) and inner.item.name == "Feature"
            if isinstance(inner, Comparison) and negated and inner.op == "EQ":
                return Comparison(Property("Feature", inner.item.text, {"op": "NE"}))
            return Not(inner)
        if self._takes("("):
            inner = self.either(depth + 1)
            if not self._takes(")"):
                raise InvalidValue(self.text, _NOT_ALL)
            return inner
        return self._comparison()

    def _comparison(self) -> Expression:
        name = self._name()
        if not self.words or self.words[-1] not in _SIGNS:
            if name in _MEANT:
                raise InvalidValue(self.text, _NOT_ALL)
            return Comparison(Property("Feature", name))
        op = _SIGNS[self.words.pop()]
        if name not in _COMPARED:
            raise InvalidValue(self.text, _NOT_ALL)
        attributes = {"op": op} if op != "EQ" else {}
        return Comparison(Property(_COMPARED[name], self._name(), attributes))

    def _name(self) -> str:
        if not self.words or not plain(self.words[-1]):
            raise InvalidValue(self.text, _NOT_ALL)
        return self.words.pop()

    def _takes(self, word: str) -> bool:
        if self.words and self.words[-1] == word:
            self.words.pop()
            return True
        return False
