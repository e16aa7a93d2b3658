"""What is certain about a predicate from the columns of a row alone: bounds of its truth."""

from __future__ import annotations

from typing import NamedTuple

from sssjob.store.condition import FALSE, TRUE, Condition, all_of, any_of, none_of


class Bounds(NamedTuple):
    """A predicate between two conditions, in every row whose columns tell all (``odd`` is 0).

    Where ``sure`` holds, so does the predicate; where the predicate holds, so does ``maybe``.
    """

    sure: Condition
    maybe: Condition

    @property
    def is_exact(self) -> bool:
        """Whether the columns decide it."""
        return self.sure == self.maybe

    def __and__(self, other: Bounds) -> Bounds:
        return Bounds(all_of(self.sure, other.sure), all_of(self.maybe, other.maybe))

    def __or__(self, other: Bounds) -> Bounds:
        return Bounds(any_of(self.sure, other.sure), any_of(self.maybe, other.maybe))

    def __invert__(self) -> Bounds:
        return Bounds(none_of(self.maybe), none_of(self.sure))


def exactly(condition: Condition) -> Bounds:
    """A predicate that is this condition."""
    return Bounds(condition, condition)


def at_most(condition: Condition) -> Bounds:
    """A predicate of which only this is known: it holds nowhere else."""
    return Bounds(FALSE, condition)


ALWAYS, NEVER, UNKNOWN = exactly(TRUE), exactly(FALSE), at_most(TRUE)
