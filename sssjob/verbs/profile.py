"""What a peer that supports less would lose of job objects, whatever was named.

>>> import io
>>> from sssjob.check.vocabulary import of_level
>>> from sssjob.document.sources import NamedSource
>>> job = NamedSource("jobs", io.BytesIO(b"<Job><Id>1</Id><Site>a</Site></Job>"))
>>> [found] = judged([job], of_level("minimal"))
>>> found.id, found.verdict, [item.name for item in found.items]
('1', 'rejected', ['Site'])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from sssjob.check.awareness import AwarenessOutcome, Item, items, judge
from sssjob.check.vocabulary import Vocabulary
from sssjob.document import tree
from sssjob.document.places import local, text_of
from sssjob.document.sources import NamedSource
from sssjob.errors import Finding, UnreadableDocument, unheard

# What becomes of what the peer does not understand, by the awarenessPolicy that holds there.
OUTCOMES = {"Reject": "rejected", "Warn": "lost, with a warning", "Ignore": "lost in silence"}


class JudgedBlock(NamedTuple):
    """One outermost job object as a peer sees it; "" and 0 where its Id or line is not known."""

    file: str
    line: int
    name: str
    id: str
    items: Sequence[Item]
    outcome: AwarenessOutcome

    @property
    def verdict(self) -> str:
        """Whether the peer takes it, and with losses."""
        if not self.outcome.accepted:
            return "rejected"
        return "accepted, with losses" if self.items else "accepted"

    def row(self) -> dict[str, Any]:
        """The same as plain data; what is not known is None."""
        return {
            "file": self.file,
            "line": self.line or None,
            "name": self.name,
            "id": self.id or None,
            "accepted": self.outcome.accepted,
            "items": [
                {
                    "path": item.path,
                    "line": item.line or None,
                    "kind": item.kind.value,
                    "name": item.name,
                    "value": item.value,
                    "level": item.level or None,
                    "policy": item.policy.value,
                    "outcome": OUTCOMES[item.policy],
                }
                for item in self.items
            ],
        }


def judged(
    documents: Iterable[NamedSource], peer: Vocabulary,
    tell: Callable[[Finding | OSError], None] = unheard,
) -> Iterator[JudgedBlock]:  # fmt: skip
    """Each outermost job object of documents, as a peer of this vocabulary sees it.

    ``tell`` is told of what cannot be read: a finding with its file, or the error of a file.
    """

    for name, source in documents:

        def unread(error: UnreadableDocument, name: str = name) -> None:
            tell(error.finding.in_file(name))

        try:
            for element, offset in tree.located(source, on_error=unread):
                found = tuple(items(element, peer, offset=offset))
                ids = (*element.iterfind("{*}Id"), *element.iterfind("{*}JobId"))
                id_ = next((text_of(each).strip() for each in ids), "")
                line = (element.sourceline or 0) + offset
                yield JudgedBlock(name, line, local(element), id_, found, judge(found))
        except OSError as error:
            tell(error)
