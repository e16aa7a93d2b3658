"""What records become, ready for a store: documents with their rows, which are not read again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, groupby
from typing import Any

from sssjob.accounting.document_rows import DocumentRows, DocumentRowsBuilder
from sssjob.document.text import on_one_line
from sssjob.errors import UnreadableDocument
from sssjob.records.record import CUT_SHORT, Bad, Noted
from sssjob.store.reading import made
from sssjob.store.writing import Incoming
from sssjob.verbs.convert import Conversion

Read = Incoming | UnreadableDocument


def of_sources(work: Conversion) -> Iterator[tuple[str, Iterator[Read]]]:
    """The documents of each source, with its name; those of one are taken before the next.

    By several processes, if the conversion says so.
    """
    last = _LastLines(work.reading.tell)
    work = replace(work, reading=replace(work.reading, tell=last.tell))
    for name, documents in _by_several(work) if work.processes > 1 else _by_one(work):
        yield name, last.marked(name, documents)


class _LastLines:
    """Which sources end in a record that may be cut short: it gives way to any other of its run."""

    def __init__(self, tell: Callable[[str, Bad | Noted], None]) -> None:
        self._tell = tell
        self._cut: dict[str, int] = {}  # the last line, where it has no end
        self._bad: dict[str, int] = {}  # the last line that is bad

    def tell(self, name: str, item: Bad | Noted) -> None:
        """Hear what is told, and tell it."""
        if isinstance(item, Bad):
            self._bad[name] = item.line
        elif item.message == CUT_SHORT:
            self._cut[name] = item.line
        self._tell(name, item)

    def marked(self, name: str, documents: Iterator[Read]) -> Iterator[Read]:
        """The documents of a source, of which the last one may be cut short."""
        held: Read | None = None
        for each in documents:
            if held is not None:
                yield held
            held = each
        is_cut = name in self._cut and self._bad.get(name, 0) < self._cut[name]
        if is_cut and isinstance(held, Incoming):
            held = held._replace(is_cut=True)
        if held is not None:
            yield held


def _by_one(work: Conversion) -> Iterator[tuple[str, Iterator[Read]]]:
    read = partial(work.outcomes, builder=DocumentRowsBuilder())
    for source in work.sources:
        yield source.name, _by_lines(work.reading.made((source,), read))


def _by_lines(found: Iterable[tuple[str, Any]]) -> Iterator[Read]:
    """What records became, with their lines."""
    for _, outcome in found:
        document = ready(outcome.job)
        if isinstance(document, Incoming):
            document = document._replace(line=outcome.line)
        yield document


def _by_several(work: Conversion) -> Iterator[tuple[str, Iterator[Read]]]:
    from sssjob.accounting.writers.writer import LossCounts, WriterOptions  # slow to import
    from sssjob.verbs import convert_targets

    name = convert_targets.DOCUMENTS
    parts = convert_targets.results(work, work.tasks(), name, WriterOptions(), LossCounts())
    for source, some in groupby(parts, lambda each: each[0].name):
        yield source, map(ready, chain.from_iterable(part for _, part in some))


def ready(found: DocumentRows) -> Read:
    """A document, ready to be written, or why it cannot be kept."""
    try:
        return made(on_one_line(found.text).encode(), found.rows)
    except UnreadableDocument as error:
        return error
