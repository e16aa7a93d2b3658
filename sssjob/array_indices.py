"""The indices of an array of jobs, as batch systems write them: ``1-5:2,9%2``.

>>> found = parse("1-5:2,9%2")
>>> len(found), list(found), found.at_once
(4, [1, 3, 5, 9], 2)
>>> print(found)
1-5:2,9%2
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

ELEMENTS = 100_000  # of an array that are taken one by one

_SPAN = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10})(?::([0-9]{1,10}))?)?")
_AT_ONCE = re.compile(r"[1-9][0-9]{0,8}")
_NO_LIMIT = "0"  # behind %
_MORE = "..."  # in the place of spans that were not printed


@dataclass(frozen=True, slots=True)
class Array:
    """Spans of indices with steps, and how many elements run at once; 0 for any number."""

    spans: tuple[range, ...]
    at_once: int = 0

    def __len__(self) -> int:
        return sum(map(len, self.spans))

    def __iter__(self) -> Iterator[int]:
        for span in self.spans:
            yield from span

    @property
    def few(self) -> bool:
        """Whether there are no more elements than are taken one by one."""
        return len(self) <= ELEMENTS

    def __str__(self) -> str:
        limit = f"%{self.at_once}" if self.at_once else ""
        return f"{','.join(map(_shown, self.spans))}{limit}"


def _shown(span: range) -> str:
    if len(span) == 1:
        return str(span[0])
    step = f":{span.step}" if span.step > 1 else ""
    last = span[-1] if span.step == 1 else span.stop - 1
    return f"{span[0]}-{last}{step}"


def parse(text: str) -> Array | None:
    """An array such as 1-10:2,15%4; None for what is none. Its elements are not counted."""
    array, is_whole = beginning(text)
    return array if is_whole else None


def beginning(text: str) -> tuple[Array, bool]:
    """The array up to the first span that is none, and whether that is the whole text.

    >>> array, is_whole = beginning("1,3,5...")
    >>> print(array, is_whole)
    1,3,5 False
    """
    listed, limited, limit = text.partition("%")
    printed, more, _ = listed.partition(_MORE)
    spans: list[range] = []
    for part in printed.split(","):
        span = _span(part)
        if span is None:
            return Array(tuple(spans)), False
        spans.append(span)
    if limited and limit != _NO_LIMIT and not at_once(limit):
        return Array(tuple(spans)), False
    return Array(tuple(spans), int(limit or 0)), not more


def at_once(text: str) -> int:
    """How many elements run at once, as it is written by itself; 0 for what is no such number."""
    return int(text) if _AT_ONCE.fullmatch(text) else 0


def _span(part: str) -> range | None:
    """A span such as 7, 1-5 or 1-9:2; None for what is none, such as one of no index."""
    found = _SPAN.fullmatch(part)
    if found is None:
        return None
    low, high, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
    return range(low, high + 1, step) if step and high >= low else None
