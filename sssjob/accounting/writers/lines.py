"""Jobs as JSON, each on a line of its own, as ``document.json`` has them: one, or many at once.

Of many jobs the text is put together column by column, as that of documents is, and no job object
is made. Digits are a number as they stand where the type of the element says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from json.encoder import encode_basestring as quoted

from sssjob import spec
from sssjob.accounting.writers.writer import WrittenJob
from sssjob.document.json import as_dict
from sssjob.model import Delivered, Item, Job, Property, Requested, TaskGroup
from sssjob.records.builders import (
    Column,
    LineBuilder,
    TextPieces,
)
from sssjob.units import XML_SPACE

_BETWEEN = ", "
_LONGEST = 15  # digits of a number that JSON has as it stands


def line_of(job: Job) -> str:
    """The line of a job, with its end."""
    return f"{_text(job)}\n"


class JSONBuilder(TextPieces[WrittenJob]):
    """Builds lines of JSON. A piece is properties, each with what stands between it and others."""

    nothing = ""

    def of(self, properties: Iterable[Property]) -> str:
        """The piece of properties."""
        return "".join([f"{_BETWEEN}{_text(item)}" for item in properties])

    def maker(self, element: str, attributes: Mapping[str, str]) -> Callable[[str], str]:
        """What makes the piece of one text."""
        return lambda text: self.of((Property.read(element, text, attributes),))

    def column(
        self, element: str, attributes: Mapping[str, str]
    ) -> Callable[[Sequence[str], bool], Column]:
        """What makes pieces of texts that have the same around them."""
        before = f'{_BETWEEN}{{"element": {quoted(element)}, "text": '
        told = f', "attributes": {json.dumps(dict(attributes), ensure_ascii=False)}'
        behind = f"{told if attributes else ''}}}"
        make = self.maker(element, attributes)
        row = spec.element(element)
        are_texts = row is None or row.type in ("", spec.STRING)
        are_numbers = not are_texts and _text(Property.read(element, "10", {})).endswith(": 10}")

        def pieces(texts: Sequence[str], _: bool) -> Column:
            if are_texts and _are_stripped(texts):
                words = map(quoted, texts)
                return [f'{before}{word}, "value": {word}{behind}' for word in words]
            if are_numbers and _are_numbers(texts):
                return [f'{before}"{text}", "value": {text}{behind}' for text in texts]
            return [*map(make, texts)]

        return pieces

    def jobs(
        self, own: Sequence[Column], requested: Sequence[Column], delivered: Sequence[Column],
        groups: Sequence[str],
    ) -> list[WrittenJob]:  # fmt: skip
        """The lines of many jobs."""
        size = len(groups)
        lines = LineBuilder(size)
        lines.put(own)
        for name, columns in ((Requested.name, requested), (Delivered.name, delivered)):
            if columns:
                lines.put((self._blocks(name, self.side_by_side(columns, size)),))
        if any(groups):
            lines.put((groups,))
        head, empty = _around(Job.name)
        return [
            WrittenJob(f"{head}{text[len(_BETWEEN) :]}]}}\n" if text else f"{empty}\n")
            for text in lines.texts() or repeat("", size)
        ]

    def groups(self, own: Sequence[Column], delivered: Sequence[Column], size: int) -> list[str]:
        """Task groups, which are there even where nothing stands in them."""
        told = self.side_by_side(delivered, size)
        inner = [self.side_by_side(own, size), self._blocks(Delivered.name, told)]
        head, empty = _around(TaskGroup.name)
        return [
            f"{_BETWEEN}{head}{text[len(_BETWEEN) :]}]}}" if text else f"{_BETWEEN}{empty}"
            for text in map("".join, zip(*inner, strict=True))
        ]

    def _blocks(self, name: str, inner: Sequence[str]) -> list[str]:
        """Blocks of these pieces, where there are any."""
        head, _ = _around(name)
        return [f"{_BETWEEN}{head}{text[len(_BETWEEN) :]}]}}" if text else "" for text in inner]

    def from_job(self, job: Job) -> WrittenJob:
        """The line of a job that was made by other means."""
        return WrittenJob(line_of(job))


def _text(item: Item) -> str:
    return json.dumps(as_dict(item), ensure_ascii=False)


def _around(name: str) -> tuple[str, str]:
    """What stands before the items of a block, and all of one without any."""
    return f'{{"element": "{name}", "items": [', f'{{"element": "{name}"}}'


def _are_stripped(texts: Sequence[str]) -> bool:
    """Whether every text is its own value: not empty, and without white space around it."""
    joined = "".join(texts)
    if not (" " in joined or "\n" in joined or "\t" in joined or "\r" in joined):
        return "" not in texts
    return all(text and text == text.strip(XML_SPACE) for text in texts)


def _are_numbers(texts: Sequence[str]) -> bool:
    """Whether every text is a whole number as JSON has it."""
    joined = "".join(texts)
    if not (joined.isdecimal() and joined.isascii()) or max(map(len, texts)) > _LONGEST:
        return False
    return min(texts) >= "1"  # in the order of characters, before it come "" and leading zeros
