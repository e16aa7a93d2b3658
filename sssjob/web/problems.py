"""What went wrong with a request, as a page and as problem details (RFC 9457)."""

from __future__ import annotations

from http import HTTPStatus
from typing import NamedTuple

from sssjob.document.sources import UnusableSource
from sssjob.errors import (
    BusyStore,
    InvalidJob,
    InvalidValue,
    LimitExceeded,
    LostWorker,
    NotAQuery,
    Refused,
    SSSJobError,
    UnreadableDocument,
    UnusableStore,
)
from sssjob.expression.offers import BadOffer

MEDIA_TYPE = "application/problem+json"


class HTTPProblem(NamedTuple):
    """A status, and what is wrong."""

    status: HTTPStatus
    detail: str

    def as_dict(self, instance: str) -> dict[str, object]:
        """The members that RFC 9457 names; ``instance`` is the path that was asked."""
        return {
            "type": "about:blank",
            "title": self.status.phrase,
            "status": self.status.value,
            "detail": self.detail,
            "instance": instance,
        }


# fmt: off
_STATUS: tuple[tuple[type[SSSJobError], HTTPStatus], ...] = (
    (NotAQuery,          HTTPStatus.BAD_REQUEST),
    (InvalidValue,       HTTPStatus.BAD_REQUEST),
    (BadOffer,           HTTPStatus.UNPROCESSABLE_ENTITY),
    (InvalidJob,         HTTPStatus.UNPROCESSABLE_ENTITY),
    (LimitExceeded,      HTTPStatus.UNPROCESSABLE_ENTITY),
    (UnusableSource,     HTTPStatus.UNPROCESSABLE_ENTITY),
    (LostWorker,         HTTPStatus.UNPROCESSABLE_ENTITY),
    (BusyStore,          HTTPStatus.SERVICE_UNAVAILABLE),
    (UnusableStore,      HTTPStatus.INTERNAL_SERVER_ERROR),
    (UnreadableDocument, HTTPStatus.INTERNAL_SERVER_ERROR),
)
# fmt: on


# fmt: off
_CODES = {
    "4":   HTTPStatus.FORBIDDEN,             # who asks
    "730": HTTPStatus.SERVICE_UNAVAILABLE,   # busy
    "720": HTTPStatus.INTERNAL_SERVER_ERROR,
    "740": HTTPStatus.UNPROCESSABLE_ENTITY,  # what is asked for is not there
}
# fmt: on


def of_refusal(error: Refused) -> tuple[HTTPStatus, str]:
    """The status and the words of what a handler refuses, with its code of SSSRMAP."""
    status = _CODES.get(error.code) or _CODES.get(error.code[:1], HTTPStatus.BAD_REQUEST)
    return status, f"{error.message} ({error.code})"


def of(error: SSSJobError) -> HTTPProblem:
    """The problem that an error is."""
    found = (status for kind, status in _STATUS if isinstance(error, kind))
    return HTTPProblem(next(found, HTTPStatus.INTERNAL_SERVER_ERROR), str(error))
