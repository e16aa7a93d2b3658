"""Questions that are asked twice: of the columns, and of every document, whose answers hold.

What columns say of a document is said for certain; whether it is true, the document knows. Where
a store is asked so, its answers are those of its documents, and each difference is told: it would
be a fault of this software, or rows that somebody else has changed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sssjob.query import Match, match
from sssjob.store.columns import SEPARATOR
from sssjob.store.engine import Row
from sssjob.store.identity import Identity
from sssjob.store.plan import QueryPlan
from sssjob.store.rows import number

LOGGER = logging.getLogger("sssjob.store")  # for those who name nobody to tell
_SHOWN = 3  # answers that are printed

Said = tuple[Any, ...]  # texts, numbers, or a None for each job


@dataclass(frozen=True, slots=True)
class Difference:
    """A document of which columns say something else than it does itself."""

    identity: Identity
    columns: Said
    document: Said

    def __str__(self) -> str:
        """As ``--verify`` prints it."""
        return (
            f"{self.identity}: its columns give {_shown(self.columns)}, "
            f"but the document gives {_shown(self.document)}"
        )


OnDifference = Callable[[Difference], None]


def of_columns(how: QueryPlan, rows: Sequence[Row]) -> Said | None:
    """What the rows of one document give: number, certainty and column of each; None: unsure."""
    if not all(row[1] for row in rows):
        return None
    if how.texts:
        return tuple(text for row in rows for text in split(row[2]))
    return tuple(row[2] for row in rows)


def of_document(how: QueryPlan, matches: Iterable[Match]) -> Said:
    """What a document gives, in the same words."""
    if how.texts:
        return tuple(each.text for each in matches)
    if how.numbers:
        return tuple(number(each.text) for each in matches)
    return tuple(None for each in matches if each.is_true)


def split(texts: str) -> list[str]:
    """The texts of a column: one, or several between separators."""
    return texts[1:-1].split(SEPARATOR) if texts[:1] == SEPARATOR else [texts]


def _shown(said: Said) -> str:
    if not said:
        return "nothing"
    if said[0] is None:
        return f"{len(said)} of its jobs" if len(said) > 1 else "a job"
    more = f" and {len(said) - _SHOWN} more" if len(said) > _SHOWN else ""
    return ", ".join(map(_written, said[:_SHOWN])) + more


def _written(answer: str | float) -> str:
    return repr(answer) if isinstance(answer, str) else match.number(answer)
