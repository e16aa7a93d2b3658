"""Who asks, and which jobs they may see."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import NamedTuple

from starlette.exceptions import HTTPException

from sssjob.handlers.view import View
from sssjob.store.condition import FALSE, TRUE, Condition
from sssjob.store.plan import QueryPlan
from sssjob.store.reach import EVERYBODY, Reach

READER = "sssjob.reader"  # under which the door leaves who came through, for what is behind it


class Reader(NamedTuple):
    """Somebody by name, and whose jobs they see."""

    name: str
    reach: Reach | None = EVERYBODY  # None: nobody's

    @property
    def sees(self) -> Condition:
        """The jobs that they see, as columns of a store tell it for certain."""
        if self.reach is None:
            return FALSE
        return TRUE if self.reach.is_all else QueryPlan(self.reach.bounds, "").certain

    @property
    def sees_all(self) -> bool:
        """Whether no job is hidden from them."""
        return self.reach is not None and self.reach.is_all

    def may_see(self, jobs: Iterable[View]) -> bool:
        """Whether they see all of these, as their documents tell it."""
        return self.reach is not None and all(each.is_within(self.reach) for each in jobs)

    def require_all(self, what: str) -> None:
        """Refuse what is asked of all jobs to those who do not see all. Raises 403."""
        if not self.sees_all:
            detail = f"{what} is about all jobs, and you may see some of them."
            raise HTTPException(HTTPStatus.FORBIDDEN, detail)


OWNER = Reader("")  # of the store itself, on their own machine
