"""What happens on one connection: requests come in, each is answered, and it ends.

One port serves peers of Gold, which send one request by framing of their own, and standard
clients of HTTP/1.1. A client that is slow, silent or too large is left, so that it costs the
others nothing.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import TypeVar

from sssjob.errors import BadFraming
from sssjob.gateway.config import GatewayLimits
from sssjob.gateway.crowd import Crowd
from sssjob.gateway.figures import MISSING, SEVERAL, Uncounted, figures
from sssjob.gateway.log import LOGGER, event
from sssjob.rmap.framing import CONTINUE, HTTPRequest, Requests, legacy_reply, standard_reply
from sssjob.rmap.responder import CheckedMessage, LoggedAnswer, Responder

T = TypeVar("T")
READ = 64 << 10  # bytes taken from a connection at once
_LINGER = 1.0  # seconds in which what a client still sends is read and forgotten
_LINGER_BYTES = 4 << 20
_LARGE = 128 << 10  # bytes of a message that takes long to parse
_SLOWEST = 64 << 10  # bytes in a second, at which a client has to take an answer
_PLAIN = "text/plain; charset=utf-8"
_PATHS = ("/SSSRMAP", "/gold")  # what Gold 2.2 takes anywhere in a path
_MESSAGES, _HEALTH, _FIGURES = "", "/healthz", "/metrics"
_BUSY, _TOO_LARGE = HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.REQUEST_ENTITY_TOO_LARGE
_HEADERS = {
    HTTPStatus.METHOD_NOT_ALLOWED: {"Allow": "GET, HEAD, POST"},
    HTTPStatus.SERVICE_UNAVAILABLE: {"Retry-After": "1"},
}
_REASONS = {
    HTTPStatus.NOT_FOUND: "There is nothing at this path; messages go to /SSSRMAP3",
    HTTPStatus.METHOD_NOT_ALLOWED: "Messages are sent by POST",
}
# Of glibc; others give back by themselves, or not at all.
_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)


class Shared:
    """What all conversations of a server have in common."""

    def __init__(
        self, responder: Responder, limits: GatewayLimits, pool: ThreadPoolExecutor,
        orders: ThreadPoolExecutor, *, counts: bool = True,
    ) -> None:  # fmt: skip
        self.responder, self.limits, self.pool, self.orders = responder, limits, pool, orders
        self.crowd = Crowd(limits.connections, limits.memory)
        self.pending = 0  # requests that wait for their answer
        self.figures = figures(lambda: self.pending) if counts else Uncounted()
        self.uncounted = MISSING if counts else SEVERAL
        self.stopping = False


class Conversation:
    """One connection of the crowd. ``messages`` and ``figures`` say what may be asked on it."""

    def __init__(
        self,
        shared: Shared,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        messages: bool,
        figures: bool,
    ) -> None:
        self.shared, self.reader, self.writer = shared, reader, writer
        self.messages, self.figures = messages, figures
        peer = writer.get_extra_info("peername")
        self.origin = str(peer[0]) if peer else ""
        self.busy = False
        self._parser = Requests(shared.limits.message)
        # A write is over when its last byte is on its way. (With 0, TLS would wait for ever.)
        writer.transport.set_write_buffer_limits(high=1, low=0)

    async def hold(self) -> None:
        """Answer requests until the client, the server or a limit ends it."""
        try:
            while await self._exchange():
                self.busy = False
        except OSError as error:  # time-outs are among them
            event("client left", logging.DEBUG, origin=self.origin, reason=str(error))
        finally:
            self.abort()

    def abort(self) -> None:
        """End it now."""
        self.writer.transport.abort()

    async def _exchange(self) -> bool:
        """One request and its answer; whether there may be another."""
        self.shared.crowd.wait(self)
        request = await self._receive()
        if request is None:
            return False
        self.busy = True
        self.shared.crowd.work(self)
        keep_alive = request.keep_alive and not self.shared.stopping
        is_large = len(request.body) > _LARGE
        reply = await self._answer(request, keep_alive)
        del request  # nobody needs it while the answer is on its way
        self._hold_bytes(self._parser.held)
        if is_large:
            await self._in_thread(give_back)
        await self._send(reply)
        if not keep_alive:
            await self._linger()
        return keep_alive

    async def _receive(self) -> HTTPRequest | None:
        """The next request that is whole; None when there is none, which may have been answered."""
        limits, parser = self.shared.limits, self._parser
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(limits.idle) as wait:
                begun = False
                while (request := parser.next()) is None:
                    if parser.ended:
                        return None
                    if not begun and not parser.is_idle:
                        begun = True
                        wait.reschedule(loop.time() + limits.arrival)
                    if parser.awaits_continue:
                        parser.awaits_continue = False
                        self._require_client()
                        self.writer.write(CONTINUE)
                    data = await self.reader.read(READ)
                    if not data:
                        return None
                    self.shared.figures.received(len(data))
                    parser.feed(data)
                    if not self._hold_bytes(parser.held):
                        await self._refuse("730", "Busy", HTTPStatus.SERVICE_UNAVAILABLE)
                        return None
        except BadFraming as error:
            await self._refuse(error.code, error.message, HTTPStatus(error.http))
            return None
        except TimeoutError:
            if not parser.is_idle:
                await self._refuse("232", "The request took too long", HTTPStatus.REQUEST_TIMEOUT)
            return None
        self._hold_bytes(parser.held + len(request.body))
        return request

    def _hold_bytes(self, held: int) -> bool:
        """Count what this connection holds; whether there is room for it."""
        return self.shared.crowd.hold(self, held)

    # --- answers -----------------------------------------------------------------------------

    async def _answer(self, request: HTTPRequest, keep_alive: bool) -> bytes:
        route = self._route(request)
        if isinstance(route, HTTPStatus):
            outcome = self.shared.responder.failure("242", _REASONS[route])
            self._log(outcome, request, 0.0)
            return self._framed(outcome, request, route, keep_alive)
        if route is not _MESSAGES:
            return self._observed(request, route, keep_alive)
        if self.shared.pending >= self.shared.limits.pending:
            outcome, status = self._busy(), _BUSY
            seconds = 0.0
        else:
            started = time.perf_counter()
            outcome, status = await self._responded(request.body, request.is_legacy)
            seconds = time.perf_counter() - started
        self._log(outcome, request, seconds)
        return self._framed(outcome, request, status, keep_alive)

    def _route(self, request: HTTPRequest) -> str | HTTPStatus:
        """What is asked for: messages, health or figures; or the status that says why not."""
        path = request.target.partition("?")[0]
        if self.figures and path in (_HEALTH, _FIGURES):
            return path if request.method in ("GET", "HEAD") else HTTPStatus.METHOD_NOT_ALLOWED
        if not self.messages or not any(part in path for part in _PATHS):
            return HTTPStatus.NOT_FOUND
        return _MESSAGES if request.method == "POST" else HTTPStatus.METHOD_NOT_ALLOWED

    async def _responded(self, message: bytes, legacy: bool) -> tuple[LoggedAnswer, HTTPStatus]:
        """The answer, as long as there is room for what it takes."""
        shared, is_large = self.shared, len(message) > _LARGE
        shared.pending += 1
        try:
            look = partial(shared.responder.look, message)
            seen = await self._in_thread(look) if is_large else look()
            if seen.cost > shared.limits.memory:
                said = "To answer the message takes more memory than the server may have"
                return shared.responder.failure("242", said), _TOO_LARGE
            if not self._hold_bytes(self._parser.held + seen.cost):
                return self._busy(), _BUSY
            return await self._made(seen, legacy, is_large=is_large), HTTPStatus.OK
        except Exception as fault:  # of a handler, whichever it is: it costs one answer
            LOGGER.error("fault", exc_info=fault, extra={"facts": {"origin": self.origin}})
            return shared.responder.failure("720", "The server failed to answer"), HTTPStatus.OK
        finally:
            shared.pending -= 1

    async def _made(self, seen: CheckedMessage, legacy: bool, *, is_large: bool) -> LoggedAnswer:
        """The answer: made here where it comes at once, in a thread where it may take long."""
        responder = self.shared.responder
        take = partial(responder.take, seen, self.origin, legacy=legacy)
        taken = await self._in_thread(take) if is_large else take()
        if not is_large and responder.is_quick(taken):
            return responder.answer(taken)
        return await self._in_thread(
            partial(responder.answer, taken), slow=responder.is_slow(taken)
        )

    def _busy(self) -> LoggedAnswer:
        return self.shared.responder.failure("730", "Busy")

    async def _in_thread(self, make: Callable[[], T], *, slow: bool = False) -> T:
        """Make something in a thread, where others do not wait behind what is slow."""
        pool = self.shared.orders if slow else self.shared.pool
        return await asyncio.get_running_loop().run_in_executor(pool, make)

    def _observed(self, request: HTTPRequest, path: str, keep_alive: bool) -> bytes:
        healthy = not self.shared.stopping
        if path == _HEALTH:
            status = HTTPStatus.OK if healthy else HTTPStatus.SERVICE_UNAVAILABLE
            body, kind = (b"ok\n" if healthy else b"stopping\n"), _PLAIN
        elif (told := self.shared.figures.text()) is not None:
            status, (kind, body) = HTTPStatus.OK, told
        else:
            status, kind, body = HTTPStatus.NOT_FOUND, _PLAIN, f"{self.shared.uncounted}\n".encode()
        return standard_reply(
            body, status=status, content_type=kind, keep_alive=keep_alive,
            head_only=request.method == "HEAD",
        )  # fmt: skip

    def _framed(
        self,
        outcome: LoggedAnswer,
        request: HTTPRequest | None,
        status: HTTPStatus,
        keep_alive: bool,
    ) -> bytes:
        # Gold's clients drop code and message with any other status than 200. decision 146
        if request.is_legacy if request else self._parser.is_legacy:
            return legacy_reply(outcome.parts)
        return standard_reply(
            b"".join(outcome.parts),
            status=status,
            keep_alive=keep_alive,
            headers=_HEADERS.get(status),
            head_only=request is not None and request.method == "HEAD",
        )

    async def _refuse(self, code: str, message: str, status: HTTPStatus) -> None:
        """Say why a request is not read to its end, and end the connection."""
        outcome = self.shared.responder.failure(code, message)
        self._log(outcome, None, 0.0)
        await self._send(self._framed(outcome, None, status, keep_alive=False))
        await self._linger()

    async def _send(self, reply: bytes) -> None:
        self._require_client()
        # At once: Gold's Perl client fails where the next chunk is not there yet.
        self.writer.write(reply)
        self.shared.figures.sent(len(reply))
        waiting = self.writer.transport.get_write_buffer_size()
        if not waiting:
            return
        if not self._hold_bytes(self._parser.held + waiting):
            raise ConnectionAbortedError("too much waits for clients that do not read")
        async with asyncio.timeout(self.shared.limits.arrival + len(reply) / _SLOWEST):
            await self.writer.drain()
        self._hold_bytes(self._parser.held)

    def _require_client(self) -> None:
        """Raise OSError where the client is gone: not every event loop says it by itself."""
        if self.writer.transport.is_closing():
            raise ConnectionResetError("the client is gone")

    async def _linger(self) -> None:
        """Let the client read its answer: closing on unread bytes would take it away again."""
        left = _LINGER_BYTES
        self.shared.crowd.wait(self)
        with suppress(OSError):
            self._require_client()
            async with asyncio.timeout(_LINGER):
                if not self.writer.can_write_eof():  # TLS has no such end
                    self.writer.close()
                    await self.writer.wait_closed()
                    return
                self.writer.write_eof()
                while left > 0 and (data := await self.reader.read(READ)):
                    left -= len(data)

    def _log(self, outcome: LoggedAnswer, request: HTTPRequest | None, seconds: float) -> None:
        self.shared.figures.answered(outcome.action, outcome.code, seconds)
        failed = outcome.code[0] not in "01"
        level = logging.WARNING if failed else logging.INFO
        if not LOGGER.isEnabledFor(level):
            return
        event(
            "request", level,
            origin=self.origin, actor=outcome.actor, action=outcome.action, object=outcome.object,
            id=outcome.id, code=outcome.code, rows=outcome.rows, ms=round(seconds * 1000, 2),
            bytes=len(request.body) if request else self._parser.held,
            **({"message": outcome.message} if failed else {}),
        )  # fmt: skip


def give_back() -> None:
    """Give back what was freed, of all threads."""
    if _trim is not None:
        _trim(0)
