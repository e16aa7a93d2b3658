"""The door of the pages of a gateway: who asks is proven, and sees what their roles let them.

A program sends a token. Of people, a reverse proxy tells the name in a header, which is believed
only from the proxy's own address. A browser sends what lets it in with every request that another
site makes it send; so what is not only read has to come from a page of this site, or from no
page at all.
"""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from http import HTTPStatus

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp

from sssjob.errors import Refused
from sssjob.features.answers import token_digest
from sssjob.gateway.pages import PagesPlan
from sssjob.handlers.roles import Roles
from sssjob.rmap.message import Object, Request
from sssjob.rmap.responder import ReceivedRequest
from sssjob.store.reach import Reach
from sssjob.web import pages
from sssjob.web.guard import READING, HostCheck
from sssjob.web.problems import HTTPProblem
from sssjob.web.readers import Reader

_LONGEST = 200  # characters of a name
_ACTORS = 10_000  # whose requests are counted
_OWN = ("same-origin", "none")  # what a browser says of a request that no other site made
_UNKNOWN = "Who asks is not known here."


class Rate:
    """How often each actor, or address, may ask in a minute; who asks too often waits."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, asker: str) -> float:
        """Count a request; seconds until there may be one, if there may be none now."""
        now, each = self._clock(), 60 / self._most
        left, then = self._left.pop(asker, (float(self._most), now))
        left = min(left + (now - then) / each, float(self._most))
        took = left >= 1
        self._left[asker] = (left - 1 if took else left, now)
        if len(self._left) > _ACTORS:
            self._left.popitem(last=False)
        return 0.0 if took else (1 - left) * each


class Gate(HostCheck):
    """An application behind the roles of a gateway; ``take`` exchanges its rules."""

    def __init__(
        self, app: ASGIApp, plan: PagesPlan, roles: Roles, revoked: frozenset[str] = frozenset()
    ) -> None:
        super().__init__(app, frozenset(plan.names))
        self.take(plan, roles, revoked)
        self._rate, self._strangers = Rate(plan.rate), Rate(plan.rate)

    def take(self, plan: PagesPlan, roles: Roles, revoked: frozenset[str]) -> None:
        """Go by other tokens, roles and projects from now on."""
        self._plan, self._roles, self._revoked = plan, roles, revoked
        self._origins = {f"{way}://{name}" for name in plan.names for way in ("http", "https")}

    async def reader(self, asked: HTTPConnection) -> Reader | Response:
        """Who asks, if they may see any job."""
        name = self._by_token(asked)
        if name is None:
            name = self._by_header(asked)
            if name is not None and not self._is_of_here(asked):
                said = "A page of another site has sent this."
                return pages.problem(asked, HTTPProblem(HTTPStatus.FORBIDDEN, said))
        if name is None or name in self._revoked:
            # Only those nobody knows are counted by address: who has a token is never kept out by
            # others behind the same one.
            address = "" if asked.client is None else asked.client.host
            if (seconds := self._strangers.wait(address)) > 0:
                return self._too_often(asked, seconds)
            answer = pages.problem(asked, HTTPProblem(HTTPStatus.UNAUTHORIZED, _UNKNOWN))
            answer.headers["www-authenticate"] = "Bearer"
            return answer
        if (seconds := self._rate.wait(name)) > 0:
            return self._too_often(asked, seconds)
        reach = self.reach(name)
        if reach is None:
            said = f"{name} may see no jobs here."
            return pages.problem(asked, HTTPProblem(HTTPStatus.FORBIDDEN, said))
        return Reader(name, reach)

    def _too_often(self, asked: HTTPConnection, seconds: float) -> Response:
        said = f"More than {self._plan.rate} requests in a minute."
        answer = pages.problem(asked, HTTPProblem(HTTPStatus.TOO_MANY_REQUESTS, said))
        answer.headers["retry-after"] = str(int(seconds) + 1)
        return answer

    def reach(self, name: str) -> Reach | None:
        """Whose jobs somebody may see, by who may query them; None for none."""
        query = Request("Query", name, (Object("Job"),))
        try:
            return self._roles.reach(ReceivedRequest(query, name))
        except Refused:
            return None

    def _by_token(self, asked: HTTPConnection) -> str | None:
        scheme, _, token = asked.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        return self._plan.tokens.get(token_digest(token.strip()))

    def _by_header(self, asked: HTTPConnection) -> str | None:
        """The name that a proxy tells, if it is the proxy who asks, and tells one."""
        if not self._plan.header or asked.client is None:
            return None
        try:
            here = ipaddress.ip_address(asked.client.host)
        except ValueError:
            return None
        names = asked.headers.getlist(self._plan.header)
        if len(names) != 1 or not any(here in network for network in self._plan.proxies):
            return None
        name = names[0].strip()
        return name if 0 < len(name) <= _LONGEST and name.isprintable() else None

    def _is_of_here(self, asked: HTTPConnection) -> bool:
        """Whether a request only reads, or no page of another site has sent it."""
        if asked.scope["method"] in READING:
            return True
        origin = asked.headers.get("origin")
        site = asked.headers.get("sec-fetch-site", _OWN[0])
        return site in _OWN and (origin is None or origin in self._origins)
