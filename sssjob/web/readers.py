"""Who asks, and which jobs they may see."""

from __future__ import annotations

from http import HTTPStatus
from typing import NamedTuple

from starlette.exceptions import HTTPException

from sssjob.store.condition import TRUE, Condition

READER = "sssjob.reader"  # under which the door leaves who came through, for what is behind it


class Reader(NamedTuple):
    """Somebody by name, and the jobs that they ``see``, as columns of a store tell it."""

    name: str
    sees: Condition = TRUE

    @property
    def sees_all(self) -> bool:
        """Whether no job is hidden from them."""
        return self.sees == TRUE

    def require_all(self, what: str) -> None:
        """Refuse what is asked of all jobs to those who do not see all. Raises 403."""
        if not self.sees_all:
            detail = f"{what} is about all jobs, and you may see some of them."
            raise HTTPException(HTTPStatus.FORBIDDEN, detail)


OWNER = Reader("")  # of the store itself, on their own machine
