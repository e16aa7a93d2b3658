"""Bounds: what the columns of a row say for certain about a predicate of its document.

Strategy. A store answers questions from columns, and has to answer as its documents would. But
columns do not know everything: a predicate may ask for what has no column, or for what a column
tells in part. To open every document would be right, and slow.

The idea is to compute with pairs. Each predicate lies between two conditions on columns: where
``sure`` holds, so does the predicate, and where the predicate holds, so does ``maybe``. ``and``,
``or`` and ``not`` of predicates are those of their bounds, so that whoever can bound the
comparisons of an expression (``facts``) has bounded all of it. Rows where ``sure`` holds are
answers, rows where ``maybe`` does not are none, and of the others the document is opened.

Why it is right: a comparison is bounded by what columns say of the nodes at a path, and is right
in every row where they say all of it. Where they do not, the row is ``odd`` at that path
(``columns``). So bounds are right in all rows that are not odd at one of the paths they **rest
on**, and these stay with them in every combination. It has to be so even where no column is left
to be asked: ``count(Processors) > 1`` never holds by columns, since two of them make the row odd.
Whoever runs a plan opens all rows that are odd where its bounds rest (``Plan.doubt``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sssjob.store import columns
from sssjob.store.condition import FALSE, TRUE, Condition, all_of, any_of, none_of
from sssjob.store.condition import columns as asked_columns

Paths = frozenset[str]

NOTHING: Paths = frozenset()  # what rests on no path holds in every row, odd ones too


@dataclass(frozen=True, slots=True)
class PredicateBounds:
    """A predicate between two conditions, in every row that is not ``odd`` at one of the paths.

    They are made by ``between`` and ``exactly``, and combined, which keeps what these look after.
    Where ``sure`` holds, so does the predicate; where the predicate holds, so does ``maybe``.
    """

    sure: Condition
    maybe: Condition
    paths: Paths

    @property
    def is_exact(self) -> bool:
        """Whether the columns decide it."""
        return self.sure == self.maybe

    @property
    def possible(self) -> PredicateBounds:
        """What is left of it when only this is known: it holds nowhere else."""
        return PredicateBounds(FALSE, self.maybe, self.paths)

    def replaced(self, change: Callable[[Condition], Condition]) -> PredicateBounds:
        """The same with both conditions changed to others that mean the same."""
        return PredicateBounds(change(self.sure), change(self.maybe), self.paths)

    def __and__(self, other: PredicateBounds) -> PredicateBounds:
        sure, maybe = all_of(self.sure, other.sure), all_of(self.maybe, other.maybe)
        return PredicateBounds(sure, maybe, self.paths | other.paths)

    def __or__(self, other: PredicateBounds) -> PredicateBounds:
        sure, maybe = any_of(self.sure, other.sure), any_of(self.maybe, other.maybe)
        return PredicateBounds(sure, maybe, self.paths | other.paths)

    def __invert__(self) -> PredicateBounds:
        return PredicateBounds(none_of(self.maybe), none_of(self.sure), self.paths)


def between(sure: Condition, maybe: Condition, paths: Paths) -> PredicateBounds:
    """A predicate of which columns tell this much: it rests on their paths, and on others."""
    asked = asked_columns(sure) | asked_columns(maybe)
    assert columns.paths(asked) <= paths, "bounds rest on the paths of their columns"
    return PredicateBounds(sure, maybe, paths)


def exactly(condition: Condition, paths: Paths) -> PredicateBounds:
    """A predicate that is this condition."""
    return between(condition, condition, paths)


ALWAYS, NEVER = exactly(TRUE, NOTHING), exactly(FALSE, NOTHING)
UNKNOWN = ALWAYS.possible
