"""In which line of a text of JSON each value stands, for findings about values.

>>> line_of_value('{"a": 1,\\n "b": [2,\\n 3]}', ("b", 1))
3
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|\n')


class Loaded(dict[str, Any]):
    """An object of JSON that knows the text that it was read from, and where in it it stands."""

    text = ""
    path: tuple[str | int, ...] = ()

    @classmethod
    def at(cls, found: dict[str, Any], text: str, path: tuple[str | int, ...]) -> Loaded:
        """An object as it was read."""
        loaded = cls(found)
        loaded.text, loaded.path = text, path
        return loaded

    def line(self, path: Sequence[str | int]) -> int:
        """The line of a value in the object, or of what is next around it."""
        return line_of_value(self.text, (*self.path, *path))


def line_of_value(text: str, path: Sequence[str | int]) -> int:
    """The line in which a value begins, or else the one around it; 1 for the whole."""
    wanted = tuple(path)
    best, found = -1, 1
    for line, place in _values(text):
        length = len(place)
        if length > best and place == wanted[:length]:
            best, found = length, line
            if length == len(wanted):
                break
    return found


def _values(text: str) -> Iterator[tuple[int, tuple[str | int, ...]]]:
    """Each value with its line and its path, in their order; the text is well-formed JSON."""
    line = 1
    path: list[str | int] = []
    inside: list[str] = []  # brackets that are open
    key = False  # whether the next text is a name
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word == "\n":
            line += 1
        elif word == ",":
            key = inside[-1] == "{"
            last = path[-1]
            if isinstance(last, int):
                path[-1] = last + 1
        elif word in "}]":
            inside.pop()
            path.pop()
            key = False
        elif word == ":":
            key = False
        elif key:
            path[-1] = json.loads(word)
        else:
            yield line, tuple(path)
            if word in "{[":
                inside.append(word)
                path.append("" if word == "{" else 0)
                key = word == "{"
