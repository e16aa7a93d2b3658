"""Texts of ``qstat -f`` and ``pbsnodes -a``: what they are about, and the attributes below it.

Nothing is quoted: where a value has a line end, the next lines can imitate attributes, and jobs.
JSON has no such values: take it where there is it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

SIZE_LIMIT = 1 << 24  # characters of one block

JOB = re.compile(r"^Job Id:[ \t]*(.*)", re.MULTILINE)  # what a job begins with
NODE = re.compile(r"^(\S.*)", re.MULTILINE)
_NAME = r" +[A-Za-z_][A-Za-z0-9_.-]* ="
_ATTRIBUTE = re.compile(rf"^ +([A-Za-z_][A-Za-z0-9_.-]*) = ?(.*(?:\n(?!{_NAME}).*)*)", re.MULTILINE)


class ListingBlock(NamedTuple):
    """The number of its first line, what it is about, and attributes in their order.

    A name may come again. Of what is longer than ``SIZE_LIMIT`` is known only where it begins, and
    ``is_long`` is set.
    """

    line: int
    head: str
    attributes: list[tuple[str, str]]
    is_long: bool = False

    @property
    def first(self) -> dict[str, str]:
        """The attributes by name; the first one of a name counts: users write behind the server."""
        return dict(reversed(self.attributes))


def blocks(texts: Iterable[tuple[int, str]], begin: re.Pattern[str]) -> Iterator[ListingBlock]:
    """The blocks of a text that comes in parts of whole lines, each with its first line's number.

    A line that begins with a tab goes on with the attribute above it, and so does any other line
    that is neither an attribute nor the ``begin`` of a block. What stands above the first block is
    a block without a head, if there are attributes in it.
    """
    rest, line, is_long = "", 1, False
    for number, text in texts:
        if not rest and not is_long:
            line = number
        rest += f"{text}\n"
        places = [found.start() for found in begin.finditer(rest)]
        last = places[-1] if places else 0
        if is_long and places:
            line += rest.count("\n", 0, places[0])
            rest, last, is_long = rest[places[0] :], last - places[0], False
        if not is_long and last:
            yield from in_text(rest[:last], begin, line)
            line += rest.count("\n", 0, last)
            rest = rest[last:]
        if is_long or len(rest) > SIZE_LIMIT:
            if not is_long:
                yield ListingBlock(line, "", [], is_long=True)
            line += rest.count("\n")
            rest, is_long = "", True
    if rest:
        yield from in_text(rest, begin, line)


def in_text(text: str, begin: re.Pattern[str], line: int = 1) -> Iterator[ListingBlock]:
    """The blocks of a whole text, whose first line has this number."""
    heads = [*begin.finditer(text)]
    places = [*(found.start() for found in heads), len(text)]
    if above := _attributes(text[: places[0]]):
        yield ListingBlock(line, "", above)
    line += text.count("\n", 0, places[0])
    for found, end in zip(heads, places[1:], strict=True):
        yield ListingBlock(line, found[1].strip(), _attributes(text[found.end() : end]))
        line += text.count("\n", found.start(), end)


def _attributes(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = _ATTRIBUTE.findall(text)
    return [
        (name, value.replace("\n\t", "").strip() if "\n" in value else value.strip())
        for name, value in found
    ]
