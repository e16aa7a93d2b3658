"""The views: what each address answers, as a page and as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response, StreamingResponse

from sssjob import registry, spec
from sssjob.document import dumps
from sssjob.drawing import graph_svg, shares, timeline
from sssjob.drawing import layout as on_nodes
from sssjob.drawing.graph import picture
from sssjob.errors import InvalidValue
from sssjob.handlers.view import job_views
from sssjob.rmap.responder import Responder
from sssjob.store import Store, Stored
from sssjob.store.browsing import (
    FACETS,
    MOST,
    SHOWN,
    USUAL,
    Page,
    TableJob,
    ValueKind,
    columns_of,
    count,
)
from sssjob.store.columns import PATHS, PLACE
from sssjob.store.condition import Compare, Op, all_of
from sssjob.store.engine import CountedIn
from sssjob.verbs import browse, translate
from sssjob.verbs.browse import SeenGroup, SeenJob
from sssjob.visible import Markup, csv_lines
from sssjob.web import listing, pages
from sssjob.web.listing import ListingRequest
from sssjob.web.parameters import QueryParameters, named
from sssjob.web.readers import Reader
from sssjob.web.stores import StorePool

HTML, JSON, LINES, CSV, XML, PARQUET = "html", "json", "jsonl", "csv", "xml", "parquet"
MEDIA = {
    HTML: "text/html",
    JSON: "application/json",
    LINES: "application/jsonl",
    CSV: "text/csv",
    XML: "application/xml",
    PARQUET: "application/vnd.apache.parquet",
}
ANSWERS = 100  # of a question in XPath
SHOWN_BYTES = 1 << 18  # of a JobGroup that its page shows as it is written
BAD = "sssjob-bad"  # the header with how many documents or records could not be read
_NO_JOB = "There is no such job here."


class KeysInUse:
    """The keys of the requests that are being answered: the same one is not answered beside it."""

    def __init__(self) -> None:
        self._keys: set[tuple[str, str]] = set()
        self._lock = Lock()

    @contextmanager
    def held(self, actor: str, key: str) -> Iterator[None]:
        """Answer a request with a key of an actor. Raises 409 where that is being done."""
        with self._lock:
            if (actor, key) in self._keys:
                said = f"The request with the key {key!r} is still being answered; ask again later."
                raise HTTPException(HTTPStatus.CONFLICT, said, {"retry-after": "1"})
            self._keys.add((actor, key))
        try:
            yield
        finally:
            with self._lock:
                self._keys.remove((actor, key))


@dataclass(frozen=True)
class ViewedStore:
    """What is looked at: the store, and what its pages call it."""

    stores: StorePool
    title: str
    responder: Responder | None = None  # of a gateway, which answers requests of SSSRMAP
    keys: KeysInUse = field(default_factory=KeysInUse)  # of such requests
    queues: Path | None = None  # the directory of queue states that are kept


@dataclass(frozen=True)
class PageRequest:
    """A request of a view: the parts of its path, its parameters, and the form of the answer.

    ``here`` is the path without the ending of its form; ``body`` what came with the request.
    """

    site: ViewedStore
    reader: Reader
    path: dict[str, Any]
    given: QueryParameters
    form: str
    here: str
    body: bytes = field(default=b"", repr=False)
    keys: tuple[str, ...] = ()  # each Idempotency-Key
    origin: str = ""  # the address of who asks

    @property
    def table(self) -> ListingRequest:
        """The jobs that the address asks for, of those that its reader sees."""
        return ListingRequest(self.given, self.reader.sees)

    def was_own(self, version: browse.Version) -> bool:
        """Whether who asks sees all jobs, or those of a version were their own when it was made."""
        if self.reader.sees_all:
            return True
        if not version.stored.document:
            return False  # it is damaged: nobody knows
        return self.reader.may_see(job_views(version.stored))

    def page(self, template: str, **values: object) -> Response:
        """A page, which knows where it is."""
        return pages.page(
            template,
            title=self.site.title,
            given=self.given,
            here=self.here,
            reader=self.reader,
            has_queues=self.site.queues is not None,
            **values,
        )

    def data(self, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Response:
        """A table in the form that is asked for: Parquet, or CSV, in which None is empty."""
        if self.form == PARQUET:
            return pages.parquet(heads, rows)
        return Response("".join(csv_lines([heads, *rows])), media_type=MEDIA[CSV])

    def form_of(self, form: str) -> str:
        """The address of the same view in another form."""
        return f"{self.here}.{form}{self.given.query}"


def start(asked: PageRequest) -> Response:
    """Lead to the table of jobs."""
    return RedirectResponse("/jobs", HTTPStatus.SEE_OTHER)


def jobs(asked: PageRequest) -> Response:
    """A page of the table, or, in lines, all of it from there on."""
    table = asked.table
    opened = table.open
    with asked.site.stores.opened() as kept:
        found = table.page(_rows(asked, kept, table), table.after)
        if asked.form in (LINES, CSV, PARQUET):
            return _lines(asked, table, found)
        following = None
        if found.after is not None:
            following = asked.given.having(after=listing.written(found.after)).query
        if asked.form == XML:
            document, bad = listing.xml(kept, found.rows)
            headers = {BAD: str(bad)}
            if following:
                headers["link"] = f'<{asked.here}.{XML}{following}>; rel="next"'  # RFC 8288
            return Response(document, media_type=MEDIA[XML], headers=headers)
        counted = asked.site.stores.summaries.of(kept, table.where())
        total = count(counted.engine, table.where())
        if asked.form == JSON:
            rows = [listing.as_dict(table.columns, row) for row in found.rows]
            after = following and f"{asked.here}.{JSON}{following}"
            return pages.json({"jobs": rows, "total": total, "as_of": counted.at, "next": after})
        facets = [table.facet(counted.engine, name, listing.VALUES) for name in opened]
    return asked.page(
        "jobs.html", table=table, rows=found.rows, total=total, facets=facets,
        following=following, shown=SHOWN, usual=USUAL, as_of=counted.at,
        closed=[name for name in FACETS if name not in opened],
        forms=(JSON, CSV, XML, LINES, PARQUET), asked=asked,
    )  # fmt: skip


def _rows(asked: PageRequest, kept: Store, table: ListingRequest) -> CountedIn:
    """What gives the rows of a table: a summary only where the store is still as it was."""
    found = asked.site.stores.summaries.of(kept, table.where(), *table.asked)
    return kept.engine if found.at is not None else found.engine


def _lines(asked: PageRequest, table: ListingRequest, first: Page) -> Response:
    """All jobs of the table from a page on, one page in memory at a time."""

    def rows() -> Iterator[TableJob]:
        found = first
        yield from found.rows
        while found.after is not None:
            with asked.site.stores.opened() as kept:
                found = table.page(_rows(asked, kept, table), found.after, MOST)
            yield from found.rows

    if asked.form == CSV:
        return StreamingResponse(listing.csv(table.columns, rows()), media_type=MEDIA[CSV])
    if asked.form == PARQUET:
        heads: list[tuple[str, type]] = [("document", int), ("place", int)]
        heads += [
            (name, str if SHOWN[name].kind is ValueKind.TEXT else float) for name in table.columns
        ]
        table_rows = ((row.document, row.place, *listing.cells(row)) for row in rows())
        return pages.parquet_of(heads, table_rows)
    lines = (pages.line(listing.as_dict(table.columns, row)) for row in rows())
    return StreamingResponse(lines, media_type=MEDIA[LINES])


def facet(asked: PageRequest) -> Response:
    """Every value of a facet, with how many jobs have it."""
    table, name = asked.table, asked.path["name"]
    with asked.site.stores.opened() as kept:
        counted = asked.site.stores.summaries.of(kept, table.where(), *columns_of(name))
        found = table.facet(counted.engine, name, MOST)
    if asked.form == JSON:
        values = [{"value": each.value, "jobs": each.jobs} for each in found.counts]
        return pages.json({
            "facet": name, "values": values, "more": found.more, "as_of": counted.at
        })  # fmt: skip
    if asked.form in (CSV, PARQUET):
        return asked.data((name, "jobs"), found.counts)
    return asked.page(
        "facet.html", facet=found, asked=asked, forms=(JSON, CSV, PARQUET), as_of=counted.at
    )


def by_id(asked: PageRequest) -> Response:
    """Lead to the last run of the job with an Id."""
    wanted = asked.given.get("id")
    with asked.site.stores.opened() as kept:
        found_as = all_of(Compare("id", Op.EQ, wanted), asked.reader.sees)
        rows = kept.rows(("document", PLACE), found_as, sort=[("document", True)], limit=1)
        found = next(rows, None)
    if found is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, _NO_JOB)
    return RedirectResponse(f"/jobs/{found[0]}/{found[1]}", HTTPStatus.SEE_OTHER)


def job(asked: PageRequest) -> Response:
    """All that is known of a job, or of a JobGroup."""
    with asked.site.stores.opened() as kept:
        if not asked.path["place"]:
            group = browse.group(kept, asked.path["document"])
            if group is not None:
                if not _is_whole(asked, kept):
                    raise HTTPException(HTTPStatus.NOT_FOUND, _NO_JOB)
                return _group(asked, group)
        seen = seen_job(asked, kept)
        if asked.form == XML:
            return Response(_document(seen), media_type=MEDIA[XML])
        # The graph of a group and its versions tell of all its jobs.
        is_whole = not seen.place or _is_whole(asked, kept)
        versions = browse.versions(kept, seen.stored) if is_whole else ()
        if not all(map(asked.was_own, versions)):
            versions = ()
    if asked.form == JSON:
        return pages.json(_as_dict(seen, versions))
    return asked.page(
        "job.html", seen=seen, versions=versions, document=_document(seen).decode(),
        origins=seen.effective[0], findings=seen.effective[1],
        pictures=_pictures(seen, is_whole), is_whole=is_whole,
        targets=_targets(), forms=(JSON, XML), asked=asked,
    )  # fmt: skip


def _group(asked: PageRequest, seen: SeenGroup) -> Response:
    if asked.form == XML:
        return Response(seen.stored.document, media_type=MEDIA[XML])
    if asked.form == JSON:
        return pages.json({
            "id": seen.group.id,
            "document": seen.stored.number,
            "total": seen.total,
            "jobs": [listing.as_dict(browse.MEMBER, row) for row in seen.rows],
            "asked": [each._asdict() for each in seen.asked],
        })  # fmt: skip
    is_short = len(seen.stored.document) <= SHOWN_BYTES
    return asked.page(
        "group.html", seen=seen, columns=browse.MEMBER, shown=SHOWN,
        graph=_drawn(seen.stored, seen.around),
        document=seen.stored.document.decode("utf-8", "replace") if is_short else None,
        forms=(JSON, XML), asked=asked,
    )  # fmt: skip


def translation(asked: PageRequest) -> Response:
    """A job as another system takes it, and what that one cannot hold."""
    to = asked.given.get("to")
    named(to, _targets(), "to")
    with asked.site.stores.opened() as kept:
        seen = seen_job(asked, kept)
    made = translate.of_job(seen.job, to)
    if asked.form == JSON:
        losses = [loss.as_dict() for loss in made.losses]
        return pages.json({"to": to, "text": made.text, "why": made.why, "losses": losses})
    return asked.page(
        "translation.html", seen=seen, made=made, to=to, targets=_targets(), asked=asked,
        forms=(JSON,),
    )  # fmt: skip


def query(asked: PageRequest) -> Response:
    """What an expression of XPath finds, how it was found, and what was probably meant."""
    expression, version = asked.given.get("xpath").strip(), asked.given.get("version") or "1.0"
    limit = asked.given.number("size", ANSWERS, MOST)
    asked.reader.require_all("XPath")
    told = asked.site.stores.ask(expression, version, limit) if expression else None
    if asked.form == HTML:
        return asked.page(
            "query.html", told=told, expression=expression, version=version, versions=VERSIONS,
            names=_names(), paths=PATHS, asked=asked,
            forms=(JSON, CSV, PARQUET) if expression else (),
        )  # fmt: skip
    if told is None:
        raise InvalidValue("", "an expression, for xpath")
    if asked.form in (CSV, PARQUET):
        is_typed = asked.form == PARQUET  # a column has one type there
        rows = ((m.job, m.path, str(m.value) if is_typed else m.value) for m in told.found)
        return asked.data(("job", "path", "value"), rows)
    return pages.json({
        "found": [{"job": m.job, "path": m.path, "value": m.value} for m in told.found],
        "more": told.more, "plan": told.plan, "hints": told.hints, "faults": told.faults,
    })  # fmt: skip


VERSIONS = ("1.0", "2.0", "3.0", "3.1")


def seen_job(asked: PageRequest, kept: Store) -> SeenJob:
    """The job that a path means. Raises ``HTTPException`` where there is none."""
    document, place = asked.path["document"], asked.path["place"]
    found = browse.job(kept, document, place)
    if found is not None and not asked.reader.sees_all:
        here = (Compare("document", Op.EQ, document), Compare(PLACE, Op.EQ, place))
        if not count(kept.engine, all_of(*here, asked.reader.sees)):
            found = None
    if found is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, _NO_JOB)
    return found


def _is_whole(asked: PageRequest, kept: Store) -> bool:
    """Whether all jobs of a document are seen by who asks."""
    if asked.reader.sees_all:
        return True
    here = Compare("document", Op.EQ, asked.path["document"])
    seen = count(kept.engine, all_of(here, asked.reader.sees))
    return seen == count(kept.engine, here)


def _document(seen: SeenJob) -> bytes:
    """The document as it is kept; of a JobGroup only the job, with what holds for it."""
    return dumps(seen.job, indent=True).encode() if seen.place else seen.stored.document


class _Pictures(NamedTuple):
    """The pictures of a job; None where there is nothing to draw."""

    shares: Markup | None
    times: Markup | None
    graph: Markup | None
    tasks: tuple[tuple[str, Markup, int], ...]  # a name, the picture, and how many nodes it lacks


def _pictures(seen: SeenJob, is_whole: bool) -> _Pictures:
    bars = [shares.ShareBar(each.what, float(each.part), each.words) for each in seen.shares]
    moments = [timeline.Moment(*each) for each in seen.times]
    return _Pictures(
        shares.svg("Used of what was asked for", bars) if bars else None,
        timeline.svg("Times of the job", moments, browse.RAN) if moments else None,
        _drawn(seen.stored, seen.around) if is_whole else None,
        tuple(
            (each.name, on_nodes.svg("Tasks on nodes", each.layout.shares), more)
            for each in seen.layouts
            for more in (max(len(each.layout.shares) - on_nodes.NODES, 0),)
        ),
    )


def _drawn(stored: Stored, around: browse.NeighbourGraph | None) -> Markup | None:
    if around is None or len(around.keys) < 2:
        return None
    drawn = picture(f"JobGroup {stored.identity.id}", around.graph, around.progress, around.keys)
    places = around.places.items()
    return graph_svg.svg(
        drawn, {vertex: f"/jobs/{stored.number}/{place}" for vertex, place in places}
    )


def _as_dict(seen: SeenJob, versions: tuple[browse.Version, ...]) -> dict[str, Any]:
    return {
        "id": seen.job.id,
        "document": seen.stored.number,
        "place": seen.place,
        "asked": [each._asdict() for each in seen.asked],
        "used": [
            {"what": each.what, "used": float(each.used), "of": float(each.of), "unit": each.unit}
            for each in seen.shares
        ],
        "advice": seen.advice,
        "times": dict(seen.times),
        "not_understood": [
            {"path": each.path, "kind": each.kind, "what": each.what, "policy": each.policy}
            for each in seen.not_understood
        ],
        "effective": [
            {"path": each.path, "value": each.value, "source": each.source}
            for each in seen.effective[0]
        ],
        "versions": [
            {
                "version": each.stored.version, "at": each.stored.at, "by": each.stored.by,
                "source": each.stored.source, "reason": each.stored.reason,
                "differences": [found._asdict() for found in each.differences],
                "unread": each.unread,
            }
            for each in versions
        ],
    }  # fmt: skip


@cache
def _targets() -> tuple[str, ...]:
    return tuple(name for name, row in registry.all_targets().items() if row.writes)


@cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(spec.names()))
