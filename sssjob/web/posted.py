"""The views that work on what was sent with the request: they answer, and keep nothing of it.

What is sent is read by a process within bounds (``verbs.confined``), as questions in XPath are: a
stranger wrote it, and compressed bytes may become very many.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import TypeVar, cast

from starlette.exceptions import HTTPException
from starlette.responses import Response

from sssjob import records
from sssjob.accounting.report import GROUPINGS
from sssjob.errors import UnreadableDocument
from sssjob.expression.offer import Mode
from sssjob.spans import in_order
from sssjob.store.browsing import MOST
from sssjob.verbs.confined import FULL, Confined
from sssjob.web import pages, views
from sssjob.web.parameters import named
from sssjob.web.views import LINES, MEDIA, PageRequest

AUTO = records.AUTO.name
LATEST = 1 << 40  # seconds since 1970

T = TypeVar("T")


def validate(asked: PageRequest) -> Response:
    """The findings about documents, as ``sssjob validate --json`` prints them."""
    profile = asked.given.get("profile") or FULL
    found = asked.site.stores.confined(lambda some: some.validate(asked.body, profile=profile))
    return pages.json([each.as_dict() for each in found])


def convert(asked: PageRequest) -> Response:
    """Records as job objects, as ``sssjob convert --to jsonl`` prints them."""
    format_, zone = asked.given.get("from", AUTO), asked.given.get("tz")
    named(format_, tuple(records.formats()), "from")
    made = _read(asked, lambda some: some.convert(asked.body, format=format_, zone=zone))
    counts = made.counts
    told = {
        "sssjob-records": counts["records"], "sssjob-jobs": counts["jobs"],
        views.BAD: counts["bad_count"],
    }  # fmt: skip
    headers = {name: str(number) for name, number in told.items()}
    return Response(made.lines, media_type=MEDIA[LINES], headers=headers)


def match(asked: PageRequest) -> Response:
    """What documents ask of offers, both in the body, as ``sssjob match --json`` prints it."""
    mode = _mode(asked)
    return pages.json(_read(asked, lambda some: some.match(asked.body, mode=mode)))


def match_job(asked: PageRequest) -> Response:
    """What a job of the store asks of the offers in the body, as ``match`` tells it."""
    with asked.site.stores.opened() as kept:
        seen = views.seen_job(asked, kept)
    document, mode = seen.stored.document, _mode(asked)
    told = _read(
        asked, lambda some: some.match_job(document, seen.path, asked.body, mode=mode)
    )  # fmt: skip
    return pages.json(told)


def _read(asked: PageRequest, work: Callable[[Confined], T]) -> T:
    """What the process within bounds makes of what was sent."""
    try:
        return asked.site.stores.confined(work)
    except UnreadableDocument as error:  # what was sent, since the store's was read before
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None


def _mode(asked: PageRequest) -> Mode | None:
    return cast("Mode | None", asked.given.get("mode") or None)


def report(asked: PageRequest) -> Response:
    """What jobs used, added up, as ``sssjob report --json`` prints it."""
    asked.reader.require_all("A report")
    given = asked.given
    by = tuple(name.strip() for name in given.get("by", "user").split(",") if name.strip())
    for name in by:
        named(name, tuple(GROUPINGS), "by")
    sort = given.get("sort")
    since, until = (
        given.number(name, 1, LATEST) if given.get(name) else None for name in ("since", "until")
    )
    in_order(since, until)
    limit = given.number("limit", 1, MOST) if given.get("limit") else None
    stores = asked.site.stores
    told = stores.confined(
        lambda some: some.report(
            stores.address, by, since=since, until=until, sort=sort, limit=limit
        )
    )
    answer = pages.json(told.report)
    answer.headers[views.BAD] = str(told.bad)
    return answer
