"""What the address of a view says: its parameters, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from sssjob.errors import InvalidValue
from sssjob.suggestions import nearest

LONGEST = 10_000  # characters of a value


class Parameter(NamedTuple):
    """A parameter of a view: what it means, and its JSON Schema; it may be given again if
    ``several``, and has to be given if ``required``.
    """

    name: str
    meaning: str
    schema: dict[str, object]
    several: bool = False
    required: bool = False


def named(text: str, names: Sequence[str], parameter: str) -> None:
    """Raise ``InvalidValue`` for a value of a parameter that is not one of these names."""
    if text not in names:
        meant = nearest(text, names)
        told = f"; did you mean {meant}?" if meant else ""
        raise InvalidValue(text, f"one of {', '.join(names)}, for {parameter}{told}")


class QueryParameters(NamedTuple):
    """The parameters of a request, in their order, known and of a fair length."""

    pairs: tuple[tuple[str, str], ...]

    def get(self, name: str, otherwise: str = "") -> str:
        """The value of a parameter, or else another one."""
        return next((value for key, value in self.pairs if key == name), otherwise)

    def all(self, name: str) -> tuple[str, ...]:
        """All values of a parameter."""
        return tuple(value for key, value in self.pairs if key == name)

    def number(self, name: str, otherwise: int, most: int) -> int:
        """A whole number from 1 to ``most``. Raises ``InvalidValue``."""
        text = self.get(name, str(otherwise))
        if not (
            text.isascii()
            and text.isdecimal()
            and len(text) <= len(str(most))
            and 0 < int(text) <= most
        ):
            raise InvalidValue(text, f"a number from 1 to {most}, for {name}")
        return int(text)

    def having(self, **changed: str | Sequence[str] | None) -> QueryParameters:
        """The same with other values: None takes a parameter away."""
        kept = [pair for pair in self.pairs if pair[0] not in changed]
        return QueryParameters((*kept, *_pairs(changed.items())))

    @property
    def query(self) -> str:
        """As it stands in an address, ``?`` included; "" without any."""
        return f"?{urlencode(self.pairs)}" if self.pairs else ""


def _pairs(
    changed: Iterable[tuple[str, str | Sequence[str] | None]],
) -> Iterator[tuple[str, str]]:
    for name, value in changed:
        if value is not None:
            for each in (value,) if isinstance(value, str) else value:
                yield name, each


def given(pairs: Iterable[tuple[str, str]], known: Sequence[Parameter]) -> QueryParameters:
    """The parameters of a request. Raises ``InvalidValue`` for those that a view has not, and for
    values that are none of those that it names; an empty one is as none, as forms send it.
    """
    row_of = {each.name: each for each in known}
    met: set[str] = set()
    found = tuple(pairs)
    for name, value in found:
        if name not in row_of:
            meant = nearest(name, row_of)
            told = f"; did you mean {meant}?" if meant else ""
            raise InvalidValue(name, f"a parameter or a column of this page{told}")
        if name in met and not row_of[name].several:
            raise InvalidValue(name, "a parameter that may be given twice")
        if len(value) > LONGEST or "\0" in value:
            raise InvalidValue(value, f"a text of at most {LONGEST} characters without NUL")
        among = row_of[name].schema.get("enum")
        if isinstance(among, list) and value:
            named(value, among, name)
        met.add(name)
    return QueryParameters(found)
