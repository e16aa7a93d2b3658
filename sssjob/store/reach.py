"""Whose jobs somebody may see: everybody's, or their own and those of projects that they manage.

The rule stands here once, as far as columns tell it; who has a document asks ``covers``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sssjob import spec
from sssjob.store.bounds import ALWAYS, NEVER, PredicateBounds, between
from sssjob.store.columns import Says, column
from sssjob.store.condition import FALSE, Compare, Holds, Op, Present, all_of, any_of, none_of
from sssjob.store.facts import PathColumns

_BLOCKS = (spec.DELIVERED, "", spec.REQUESTED)


@dataclass(frozen=True, slots=True)
class Reach:
    """The jobs of a ``user``, and of ``projects``; everybody's where no user is named.

    A job is a user's if nobody else is called its user, wherever it says so, and of projects if no
    other project is named: a job of two would show to one what is the other's.
    """

    user: str | None = None
    projects: tuple[str, ...] = ()

    @property
    def is_all(self) -> bool:
        """Whether everybody's jobs are meant."""
        return self.user is None

    def covers(self, users: Collection[str], projects: Collection[str]) -> bool:
        """Whether a job is meant that names these users and projects, anywhere."""
        if self.user is None or set(users) == {self.user}:
            return True
        return bool(projects) and set(self.projects).issuperset(projects)

    @property
    def bounds(self) -> PredicateBounds:
        """Which rows of jobs are meant."""
        if self.user is None:
            return ALWAYS
        managed = _only("Project", self.projects) if self.projects else NEVER
        return _only("User", (self.user,)) | managed


EVERYBODY = Reach()


def _only(name: str, values: tuple[str, ...]) -> PredicateBounds:
    """Jobs in which a property has these values only, with white space around or without."""
    paths = [f"{block}/{name}".lstrip("/") for block in _BLOCKS]
    maybe = NEVER
    for path in paths:
        fact = PathColumns(path)
        assert fact.text is not None
        maybe |= fact.between(FALSE, any_of(*(Holds(fact.text, value) for value in values)))
    columns = [found for path in paths if (found := column(path, Says.TEXT)) is not None]
    right = [any_of(*(Compare(each, Op.EQ, value) for value in values)) for each in columns]
    no_other = [
        any_of(none_of(Present(each)), one) for each, one in zip(columns, right, strict=True)
    ]
    return between(all_of(any_of(*right), *no_other), maybe.maybe, maybe.paths)
