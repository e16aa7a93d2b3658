"""What records become, ready for a store: documents with their rows, which are not read again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, groupby, starmap
from typing import Any

from sssjob.accounting.document_rows import DocumentRows, DocumentRowsBuilder
from sssjob.document.text import on_one_line
from sssjob.errors import UnreadableDocument
from sssjob.store.incoming import Incoming
from sssjob.store.reading import made
from sssjob.verbs.convert import Conversion
from sssjob.verbs.records import LastRecords

Read = Incoming | UnreadableDocument


def of_sources(work: Conversion) -> Iterator[tuple[str, Iterator[Read]]]:
    """The documents of each source, with its name; those of one are taken before the next.

    By several processes, if the conversion says so.
    """
    last = LastRecords[Read](work.reading.tell, _as_cut)
    work = replace(work, reading=replace(work.reading, tell=last.tell))
    for name, documents in _by_several(work) if work.processes > 1 else _by_one(work):
        yield name, last.marked(name, documents)


def _as_cut(document: Read) -> Read:
    return document._replace(is_cut=True) if isinstance(document, Incoming) else document


def _by_one(work: Conversion) -> Iterator[tuple[str, Iterator[Read]]]:
    read = partial(work.outcomes, builder=DocumentRowsBuilder())
    for source in work.sources:
        yield source.name, _by_lines(work.reading.made((source,), read))


def _by_lines(found: Iterable[tuple[str, Any]]) -> Iterator[Read]:
    """What records became, with their lines."""
    for _, outcome in found:
        yield ready(outcome.line, outcome.job)


def _by_several(work: Conversion) -> Iterator[tuple[str, Iterator[Read]]]:
    from sssjob.accounting.writers.writer import LossCounts, WriterOptions  # slow to import
    from sssjob.verbs import convert_targets

    name = convert_targets.DOCUMENTS
    parts = convert_targets.results(work, work.tasks(), name, WriterOptions(), LossCounts())
    for source, some in groupby(parts, lambda each: each[0].name):
        yield source, starmap(ready, chain.from_iterable(part for _, part in some))


def ready(line: int, found: DocumentRows) -> Read:
    """A document, ready to be written, or why it cannot be kept; ``line`` is its record's."""
    try:
        document = made(on_one_line(found.text).encode(), found.rows, found.used)
    except UnreadableDocument as error:
        return UnreadableDocument(replace(error.finding, line=line, column=0))
    return document._replace(line=line)
