"""What is certain about a predicate from the columns of a row alone: bounds of its truth.

A bound rests on paths: on what columns say of the nodes there, or leave out because there can be
nothing to say. In a row that is odd at one of them it means nothing, so the paths stay with it
whatever it is combined with, also when no column is left to be asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sssjob.store.columns import paths
from sssjob.store.condition import FALSE, TRUE, Condition, all_of, any_of, none_of
from sssjob.store.condition import columns as asked_columns

Paths = frozenset[str]

NOTHING: Paths = frozenset()  # what rests on no path holds in every row, odd ones too


@dataclass(frozen=True, slots=True)
class Bounds:
    """A predicate between two conditions, in every row that is not ``odd`` at one of the paths.

    Where ``sure`` holds, so does the predicate; where the predicate holds, so does ``maybe``.
    """

    sure: Condition
    maybe: Condition
    paths: Paths

    def __post_init__(self) -> None:
        asked = asked_columns(self.sure) | asked_columns(self.maybe)
        assert paths(asked) <= self.paths, "bounds rest on the paths of their columns"

    @property
    def is_exact(self) -> bool:
        """Whether the columns decide it."""
        return self.sure == self.maybe

    @property
    def possible(self) -> Bounds:
        """What is left of it when only this is known: it holds nowhere else."""
        return Bounds(FALSE, self.maybe, self.paths)

    def replaced(self, change: Callable[[Condition], Condition]) -> Bounds:
        """The same with both conditions changed to others that mean the same."""
        return Bounds(change(self.sure), change(self.maybe), self.paths)

    def __and__(self, other: Bounds) -> Bounds:
        sure, maybe = all_of(self.sure, other.sure), all_of(self.maybe, other.maybe)
        return Bounds(sure, maybe, self.paths | other.paths)

    def __or__(self, other: Bounds) -> Bounds:
        sure, maybe = any_of(self.sure, other.sure), any_of(self.maybe, other.maybe)
        return Bounds(sure, maybe, self.paths | other.paths)

    def __invert__(self) -> Bounds:
        return Bounds(none_of(self.maybe), none_of(self.sure), self.paths)


def exactly(condition: Condition, paths: Paths) -> Bounds:
    """A predicate that is this condition."""
    return Bounds(condition, condition, paths)


ALWAYS, NEVER = exactly(TRUE, NOTHING), exactly(FALSE, NOTHING)
UNKNOWN = ALWAYS.possible
