"""How a store answers a query: what the columns decide, and what is asked of the documents."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sssjob.store import columns
from sssjob.store.bounds import PredicateBounds
from sssjob.store.columns import BOTH, EFFECTIVE, IRREGULAR, ODD, READING, WRITTEN, Says
from sssjob.store.condition import (
    FALSE,
    TRUE,
    Bits,
    Compare,
    Condition,
    Op,
    all_of,
    any_of,
    none_of,
)


class Level(StrEnum):
    """How much of a query the columns answer."""

    EXACT = "columns decide"
    NARROWS = "columns give candidates, and documents decide"
    NOTHING = "every document is read"


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """Which rows answer a query: ``bounds`` of that, and rows that are odd where these rest.

    ``path`` is what the answer is, one that columns have; "" where it is the jobs themselves;
    None where only the document knows. ``why`` says what could not be planned.
    """

    bounds: PredicateBounds
    path: str | None = None
    why: str = ""

    @property
    def level(self) -> Level:
        """How much of the query the columns answer."""
        if self.bounds.maybe == TRUE:
            return Level.NOTHING
        return Level.EXACT if self.bounds.is_exact else Level.NARROWS

    @property
    def texts(self) -> str | None:
        """The column of the texts that are the answer."""
        return columns.column(self.path, Says.TEXT) if self.path else None

    @property
    def numbers(self) -> str | None:
        """The column of the numbers of what the answer is, one in each row."""
        return columns.column(self.path, Says.LOW) if self.path else None

    @property
    def doubt(self) -> Condition:
        """Where a row has more than its columns tell, at a path that this plan rests on."""
        answer = {self.path} if self.path else ()
        mask = IRREGULAR
        for path in self.bounds.paths.union(answer):
            mask |= columns.bit(path)
        return Bits(ODD, mask)

    def candidates(self, *, effective: bool) -> Condition:
        """The rows in which the query may find something, in one of the two readings."""
        return all_of(any_of(self.bounds.maybe, self.doubt), reading(effective=effective))

    @property
    def certain(self) -> Condition:
        """Of the candidates, those that are an answer without a look at the document."""
        return FALSE if self.bounds.sure == FALSE else all_of(self.bounds.sure, none_of(self.doubt))


def reading(*, effective: bool) -> Condition:
    """The rows of documents as they are written, or with their defaults applied."""
    which = EFFECTIVE if effective else WRITTEN
    return any_of(Compare(READING, Op.EQ, BOTH), Compare(READING, Op.EQ, which))
