"""Who is let in: whoever knows the token that was printed, and asks for this server by its name.

Any page that a browser shows can ask a server on this machine, and a name that leads to another
address can be made to lead here (DNS rebinding). So the Host of a request has to be the server's
own, and the token, which the first address has, becomes a cookie that no other site makes the
browser send, but for a link that the user follows.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from http import HTTPStatus
from urllib.parse import urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sssjob.web import pages
from sssjob.web.problems import HTTPProblem
from sssjob.web.readers import OWNER, READER, Reader

PARAMETER = "token"  # the parameter of the first address
STATIC = "/static/"  # what everybody may have, since every installation has it

# fmt: off
_HEADERS = {
    "Content-Security-Policy": pages.POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# fmt: on
NOBODY = Reader("", None)
READING = ("GET", "HEAD")  # what a cookie is good for
_STRANGE_HOST = "This server is asked by its own name only: open the address that it printed."
_UNKNOWN = "Open the address that the command printed: it has a token that lets you in."


class HostCheck:
    """An application behind a door, for some names of this host: who comes through is a reader."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application do so."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        asked = HTTPConnection(scope)
        found: Reader | Response
        if asked.headers.get("host", "") not in self._hosts:
            problem = HTTPProblem(HTTPStatus.MISDIRECTED_REQUEST, _STRANGE_HOST)
            found = pages.problem(asked, problem)
        elif asked.url.path.startswith(STATIC):
            found = NOBODY
        else:
            found = await self.reader(asked)
        if isinstance(found, Reader):
            scope[READER] = found
            await self._app(scope, receive, sent)
        else:
            await found(scope, receive, sent)

    async def reader(self, asked: HTTPConnection) -> Reader | Response:
        """Who asks, or what is answered to them."""
        raise NotImplementedError


class Guard(HostCheck):
    """An application behind a token: whoever knows it sees everything."""

    def __init__(self, app: ASGIApp, *, token: str, hosts: frozenset[str]) -> None:
        super().__init__(app, hosts)
        self._token = token.encode()
        # Cookies know no ports: two servers of one user have to call theirs differently.
        port = next(iter(hosts)).rpartition(":")[2] if hosts else ""
        self._cookie = f"sssjob-{port}"

    async def reader(self, asked: HTTPConnection) -> Reader | Response:
        """The owner, if they know the token."""
        first = asked.query_params.get(PARAMETER)
        if first is not None and asked.scope["method"] in READING and self._is_token(first):
            rest = [pair for pair in asked.query_params.multi_items() if pair[0] != PARAMETER]
            answer = RedirectResponse(
                asked.url.path + (f"?{urlencode(rest)}" if rest else ""), HTTPStatus.SEE_OTHER
            )
            answer.set_cookie(self._cookie, first, httponly=True, samesite="lax")
            return answer
        if any(map(self._is_token, self._tokens(asked))):
            return OWNER
        return pages.problem(asked, HTTPProblem(HTTPStatus.UNAUTHORIZED, _UNKNOWN))

    def _tokens(self, asked: HTTPConnection) -> Iterator[str]:
        """The tokens of a request; a cookie is none for what a page of another site can send."""
        scheme, _, bearer = asked.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            yield bearer.strip()
        if asked.scope["method"] in READING:
            yield asked.cookies.get(self._cookie, "")

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self._token)
