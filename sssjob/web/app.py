"""The application: the views of the table, behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request as Asked
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from sssjob.errors import SSSJobError
from sssjob.web import bodies, openapi, pages, problems
from sssjob.web.guard import STATIC, Guard
from sssjob.web.parameters import given
from sssjob.web.problems import HTTPProblem
from sssjob.web.readers import READER, Reader
from sssjob.web.routes import SERVED, VIEWS, View
from sssjob.web.stores import StorePool
from sssjob.web.views import HTML, PageRequest, ViewedStore

_STATIC = {"style.css": "text/css", "icon.svg": "image/svg+xml"}
_ORDER = sorted(VIEWS, key=lambda view: "{" in view.path)  # what is named before what is a place


def application(
    address: str, *, title: str, token: str, hosts: frozenset[str], stores: StorePool | None = None,
    queues: Path | None = None,
) -> ASGIApp:  # fmt: skip
    """The pages of the store at an address, for whoever knows the token.

    ``hosts`` are the names and ports by which it may be asked; ``title`` is what pages call it.
    ``stores`` are connections to that address, if there are some.
    ``queues`` is a directory of queue states (``lcginfo.history``).
    """
    site = ViewedStore(stores or StorePool(address), title, queues=queues)
    return Guard(behind_door(site), token=token, hosts=hosts)


def behind_door(site: ViewedStore) -> ASGIApp:
    """The pages of a site, for readers that a door let in."""

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        yield
        site.stores.close()

    return Starlette(
        routes=[*_routes(site)],
        exception_handlers={SSSJobError: _failed, HTTPException: _refused, 500: _broken},
        lifespan=life,
    )


def _routes(site: ViewedStore) -> Iterator[BaseRoute]:
    views = _ORDER if site.responder is None else (*_ORDER, *SERVED)
    yield Route(openapi.PATH, lambda asked: pages.json(openapi.document(views)))
    yield Route(f"{STATIC}{{name}}", _static)
    for view in views:
        for form in sorted(view.forms, key=lambda form: form == HTML):  # /facets/user.json first
            ending = "" if form == HTML else f".{form}"
            path, answer = f"{view.path}{ending}", _answering(site, view, form)
            yield Route(
                path, _reading(answer) if view.body else _at_once(answer), methods=[view.method]
            )


def _answering(site: ViewedStore, view: View, form: str) -> Callable[[Asked, bytes], Response]:
    """What answers a view in a form, with what came with the request."""

    def answer(asked: Asked, body: bytes) -> Response:
        known = given(asked.query_params.multi_items(), view.parameters)
        ending = "" if form == HTML else f".{form}"
        here = asked.url.path.removesuffix(ending)
        keys = tuple(asked.headers.getlist("idempotency-key"))
        origin = asked.client.host if asked.client else ""
        reader: Reader = asked.scope[READER]
        return view.answer(
            PageRequest(site, reader, asked.path_params, known, form, here, body, keys, origin)
        )

    return answer


def _at_once(answer: Callable[[Asked, bytes], Response]) -> Callable[[Asked], Response]:
    """What answers in a thread, since stores make one wait."""
    return lambda asked: answer(asked, b"")


def _reading(
    answer: Callable[[Asked, bytes], Response],
) -> Callable[[Asked], Awaitable[Response]]:
    """The same behind what comes with the request, of a bounded size and in a bounded time."""

    async def read(asked: Asked) -> Response:
        body = await bodies.read(asked)
        return await run_in_threadpool(answer, asked, body)

    return read


def _static(asked: Asked) -> Response:
    name = asked.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return Response(_content(name), media_type=_STATIC[name])


@cache
def _content(name: str) -> bytes:
    return (files("sssjob.web") / "static" / name).read_bytes()


def _failed(asked: Asked, error: Exception) -> Response:
    assert isinstance(error, SSSJobError)
    return pages.problem(asked, problems.of(error))


def _refused(asked: Asked, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    detail = error.detail if error.detail != status.phrase else status.description
    answer = pages.problem(asked, HTTPProblem(status, detail))
    answer.headers.update(error.headers or {})
    return answer


def _broken(asked: Asked, error: Exception) -> Response:
    """A fault of ours, which the log has; the client learns nothing of it."""
    return pages.problem(asked, HTTPProblem(HTTPStatus.INTERNAL_SERVER_ERROR, "A fault of sssjob."))
