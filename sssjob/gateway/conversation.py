"""What happens on one connection: requests come in, each is answered, and it ends.

One port serves peers of Gold, which send one request by framing of their own, and standard
clients of HTTP/1.1. A client that is slow, silent or too large is left, so that it costs the
others nothing.

Strategy. Most requests are small, come in one piece and are answered at once. A task, a stream
and a time-out for each of them take longer than the answer itself.

The idea is that the event loop calls a connection, which answers within the call what can be
answered at once. A task is made only for what may wait: a large message, a handler that asks a
disk or a network. A connection has one timer, which no request touches: where it goes off too
early, it is set again for the rest.

Why it is right: a request is looked at only while the connection waits for one, so that answers
go out one by one in the order of requests; a client that sends ahead is not read beyond a limit.
Nor is the next request looked at before the client has taken the answer to the one before.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from enum import Enum, auto
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar, cast

from sssjob.errors import BadFraming
from sssjob.gateway.config import GatewayLimits
from sssjob.gateway.crowd import Crowd
from sssjob.gateway.figures import MISSING, SEVERAL, Uncounted, figures
from sssjob.gateway.log import LOGGER, answered, event
from sssjob.rmap.framing import CONTINUE, HTTPRequest, Requests, legacy_reply, standard_reply
from sssjob.rmap.responder import LoggedAnswer, OpenedMessage, Responder

T = TypeVar("T")
_AHEAD = 64 << 10  # bytes that a client may send before it has its answer
_LINGER = 1.0  # seconds in which what a client still sends is read and forgotten
_LINGER_BYTES = 4 << 20  # at least; twice a message, for who reads only when all is sent
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


class Stage(Enum):
    """What a connection is at."""

    WAITING = auto()  # for a request, or for the rest of one
    WORKING = auto()  # on an answer, in a task
    SENDING = auto()  # an answer that the client has not taken yet
    LINGERING = auto()  # until the client has read its last answer
    REFUSED = auto()  # it is one too many


class Conversation(asyncio.Protocol):
    """One connection of the crowd. ``messages`` and ``figures`` say what may be asked on it.

    ``enter`` tells whether there is a place for it, and ``leave`` is told when it has ended.
    """

    def __init__(
        self, shared: Shared, *, messages: bool, figures: bool,
        enter: Callable[[Conversation], bool], leave: Callable[[Conversation], None],
    ) -> None:  # fmt: skip
        self.shared, self.messages, self.figures = shared, messages, figures
        self.origin, self.stage = "", Stage.WAITING
        self._enter, self._leave = enter, leave
        self._loop = asyncio.get_running_loop()
        self._parser = Requests(shared.limits.message)
        self._task: asyncio.Task[None] | None = None
        self._held = 0  # bytes that are counted
        self._begun = False  # a part of a request is there
        self._keeps = True  # another request may come after this answer
        self._stuck = False  # the client takes nothing more now
        self._full = False  # nothing more is read now
        self._next = False  # what has come already has its turn soon
        self._over = False  # the client sends nothing more
        self._deaf = False  # the connection is gone
        self._left = max(_LINGER_BYTES, 2 * shared.limits.message)
        self._deadline: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def busy(self) -> bool:
        """Whether an answer is owed, or on its way."""
        return self.stage is not Stage.WAITING or self._next

    def finish(self) -> None:
        """Answer what has arrived whole, read nothing more, and end. ``stopping`` is set."""
        if self.busy:
            self._fill()
        else:
            self.abort()

    def abort(self) -> None:
        """End it now."""
        self._transport.abort()

    def cut_off(self) -> None:
        """End it now, whatever is owed."""
        if self._task is not None:
            self._task.cancel()
        self.abort()

    # --- what the event loop tells -----------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a place, if there is one."""
        # The transport of TLS says of itself only that it is one of these.
        self._transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")
        self.origin = str(peer[0]) if peer else ""
        # A write is over when its last byte is on its way. (With 0, TLS would wait for ever.)
        self._transport.set_write_buffer_limits(high=1, low=0)
        if self._enter(self):
            self._wait(self.shared.limits.idle)
        else:
            self.stage = Stage.REFUSED
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing comes any more, and nothing goes."""
        if exc is not None:
            event("client left", logging.DEBUG, origin=self.origin, reason=str(exc))
        self._deadline, self._deaf = None, True
        if self._timer is not None:
            self._timer.cancel()
        if self._task is None and self.stage is not Stage.REFUSED:
            self._leave(self)

    def eof_received(self) -> bool:
        """The client sends no more; it may still read what it is owed."""
        self._over = True
        if self.stage is Stage.WAITING:
            self._loop.call_soon(self._again)
        elif self.stage is Stage.LINGERING:
            self.abort()
        return self._transport.can_write_eof()  # TLS ends both ways

    def data_received(self, data: bytes) -> None:
        """Bytes of the client."""
        self.shared.figures.received(len(data))
        if self.stage is Stage.LINGERING:
            self._left -= len(data)
            if self._left <= 0:
                self.abort()
            return
        self._parser.feed(data)
        if self.stage is Stage.WAITING and not self._next:
            self._proceed()
        elif self._parser.held > _AHEAD:
            self._fill()

    def pause_writing(self) -> None:
        """The client does not take all that was written."""
        self._stuck = True

    def resume_writing(self) -> None:
        """All that was written is on its way."""
        self._stuck = False
        if self.stage is Stage.SENDING:
            self._sent()

    # --- time --------------------------------------------------------------------------------

    def _wait(self, seconds: float) -> None:
        """Be patient for so many seconds from now on."""
        self._deadline = deadline = self._loop.time() + seconds
        if self._timer is not None:
            if self._timer.when() <= deadline:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(deadline, self._rung)

    def _rung(self) -> None:
        """A time has come: the one that counts, or one that was put off since."""
        self._timer = None
        if self._deadline is None:
            return
        if self._loop.time() < self._deadline:
            self._timer = self._loop.call_at(self._deadline, self._rung)
        elif self.stage is Stage.WAITING and not self._parser.is_idle:
            self._refuse("232", "The request took too long", HTTPStatus.REQUEST_TIMEOUT)
        else:
            self.abort()

    # --- requests ----------------------------------------------------------------------------

    def _again(self) -> None:
        """See to what came while something else was done."""
        self._next = False
        if self.stage is Stage.WAITING and not self._transport.is_closing():
            self._proceed()

    def _proceed(self) -> None:
        """Answer the next request, if it is whole."""
        parser = self._parser
        try:
            request = parser.next()
        except BadFraming as error:
            self._refuse(error.code, error.message, HTTPStatus(error.http))
            return
        if request is not None:
            self._begin(request)
            return
        if self.shared.stopping:  # what has arrived whole is answered
            self._linger()
            return
        self._listen()  # the rest of it has to come
        if self._over:
            self.abort()
        elif not self._hold_bytes(parser.held):
            self._refuse("730", "Busy", _BUSY)
        elif not parser.is_idle:
            if parser.awaits_continue:
                parser.awaits_continue = False
                self._transport.write(CONTINUE)
            if not self._begun:
                self._begun = True
                self._wait(self.shared.limits.arrival)

    def _begin(self, request: HTTPRequest) -> None:
        """Answer a request: here where that comes at once, else in a task."""
        self._begun, self._deadline = False, None
        is_last = self.shared.stopping and self._parser.is_idle
        self._keeps = request.keep_alive and not is_last
        route = self._route(request)
        if route is not _MESSAGES:
            self._send(self._elsewhere(request, route))
            return
        shared, size = self.shared, len(request.body)
        if shared.pending >= shared.limits.pending or not self._hold_bytes(
            self._parser.held + size
        ):
            self._send(self._told(self._busy(), request, _BUSY))
        elif size > _LARGE:
            self._work(self._large(request, time.perf_counter()), is_large=True)
        else:
            self._small(request, time.perf_counter())

    def _small(self, request: HTTPRequest, started: float) -> None:
        """Open a message here, and answer it if that comes at once."""
        responder = self.shared.responder
        try:
            seen = responder.look(request.body)
            if (refused := self._without_room(seen.cost)) is not None:
                self._send(self._told(refused[0], request, refused[1], started))
                return
            taken = responder.take(seen, self.origin, legacy=request.is_legacy)
            if not responder.is_quick(taken):
                self._work(self._waiting(request, taken, started))
                return
            outcome = responder.answer(taken)
        except Exception as fault:  # of a handler, whichever it is: it costs one answer
            outcome = self._fault(fault)
        self._send(self._told(outcome, request, HTTPStatus.OK, started))

    def _without_room(self, cost: int) -> tuple[LoggedAnswer, HTTPStatus] | None:
        """Why a message that takes so much is not answered; None where there is room for it."""
        if cost > self.shared.limits.memory:
            said = "To answer the message takes more memory than the server may have"
            return self.shared.responder.failure("242", said), _TOO_LARGE
        if not self._hold_bytes(self._parser.held + cost):
            return self._busy(), _BUSY
        return None

    # --- in a task ---------------------------------------------------------------------------

    def _work(self, answering: Coroutine[Any, Any, bytes], *, is_large: bool = False) -> None:
        """Make an answer that may take long, and send it."""
        self.stage = Stage.WORKING
        self.shared.crowd.work(self)
        self._task = self._loop.create_task(self._worked(answering, is_large))

    async def _worked(self, answering: Coroutine[Any, Any, bytes], is_large: bool) -> None:
        self.shared.pending += 1
        reply = None
        try:
            reply = await answering
            del answering  # nobody needs the message while its answer is on its way
            self._hold_bytes(self._parser.held)
            if is_large:
                await self._in_thread(give_back)
        finally:
            self.shared.pending -= 1
            self._task = None
            if self._deaf:
                self._leave(self)
            elif reply is None:  # a fault of ours, which the loop tells: nobody is to wait for it
                self.abort()
        self._send(reply)

    async def _waiting(self, request: HTTPRequest, taken: OpenedMessage, started: float) -> bytes:
        """The answer to a small message that was opened, made in a thread."""
        try:
            outcome = await self._made(taken)
        except Exception as fault:  # of a handler, whichever it is: it costs one answer
            outcome = self._fault(fault)
        return self._told(outcome, request, HTTPStatus.OK, started)

    async def _large(self, request: HTTPRequest, started: float) -> bytes:
        """The answer to a large message, of which everything takes long."""
        responder, status = self.shared.responder, HTTPStatus.OK
        try:
            seen = await self._in_thread(partial(responder.look, request.body))
            if (refused := self._without_room(seen.cost)) is not None:
                outcome, status = refused
            else:
                take = partial(responder.take, seen, self.origin, legacy=request.is_legacy)
                outcome = await self._made(await self._in_thread(take))
        except Exception as fault:  # of a handler, whichever it is: it costs one answer
            outcome = self._fault(fault)
        return self._told(outcome, request, status, started)

    async def _made(self, taken: OpenedMessage) -> LoggedAnswer:
        responder = self.shared.responder
        answer = partial(responder.answer, taken)
        return await self._in_thread(answer, slow=responder.is_slow(taken))

    async def _in_thread(self, make: Callable[[], T], *, slow: bool = False) -> T:
        """Make something in a thread, where others do not wait behind what is slow."""
        pool = self.shared.orders if slow else self.shared.pool
        return await self._loop.run_in_executor(pool, make)

    # --- answers -----------------------------------------------------------------------------

    def _route(self, request: HTTPRequest) -> str | HTTPStatus:
        """What is asked for: messages, health or figures; or the status that says why not."""
        path = request.target.partition("?")[0]
        if self.figures and path in (_HEALTH, _FIGURES):
            return path if request.method in ("GET", "HEAD") else HTTPStatus.METHOD_NOT_ALLOWED
        if not self.messages or not any(part in path for part in _PATHS):
            return HTTPStatus.NOT_FOUND
        return _MESSAGES if request.method == "POST" else HTTPStatus.METHOD_NOT_ALLOWED

    def _elsewhere(self, request: HTTPRequest, route: str | HTTPStatus) -> bytes:
        """The answer to what is no message."""
        if isinstance(route, HTTPStatus):
            return self._told(self.shared.responder.failure("242", _REASONS[route]), request, route)
        healthy = not self.shared.stopping
        if route == _HEALTH:
            status = HTTPStatus.OK if healthy else HTTPStatus.SERVICE_UNAVAILABLE
            body, kind = (b"ok\n" if healthy else b"stopping\n"), _PLAIN
        elif (told := self.shared.figures.text()) is not None:
            status, (kind, body) = HTTPStatus.OK, told
        else:
            status, kind, body = HTTPStatus.NOT_FOUND, _PLAIN, f"{self.shared.uncounted}\n".encode()
        return standard_reply(
            body, status=status, content_type=kind, keep_alive=self._keeps,
            head_only=request.method == "HEAD",
        )  # fmt: skip

    def _busy(self) -> LoggedAnswer:
        return self.shared.responder.failure("730", "Busy")

    def _fault(self, fault: Exception) -> LoggedAnswer:
        LOGGER.error("fault", exc_info=fault, extra={"facts": {"origin": self.origin}})
        return self.shared.responder.failure("720", "The server failed to answer")

    def _refuse(self, code: str, message: str, status: HTTPStatus) -> None:
        """Say why a request is not read to its end, and end the connection."""
        self._deadline, self._keeps = None, False
        self._send(self._told(self.shared.responder.failure(code, message), None, status))

    def _told(
        self, outcome: LoggedAnswer, request: HTTPRequest | None, status: HTTPStatus,
        started: float | None = None,
    ) -> bytes:  # fmt: skip
        """An answer as it is framed, once it is in the log."""
        self._log(outcome, request, 0.0 if started is None else time.perf_counter() - started)
        # Gold's clients drop code and message with any other status than 200. decision 146
        if request.is_legacy if request else self._parser.is_legacy:
            return legacy_reply(outcome.parts)
        return standard_reply(
            b"".join(outcome.parts),
            status=status,
            keep_alive=self._keeps,
            headers=_HEADERS.get(status),
            head_only=request is not None and request.method == "HEAD",
        )

    def _log(self, outcome: LoggedAnswer, request: HTTPRequest | None, seconds: float) -> None:
        self.shared.figures.answered(outcome.action, outcome.code, seconds)
        failed = outcome.code[0] not in "01"
        level = logging.WARNING if failed else logging.INFO
        answered(
            level,
            origin=self.origin, actor=outcome.actor, action=outcome.action, object=outcome.object,
            id=outcome.id, code=outcome.code, rows=outcome.rows, ms=round(seconds * 1000, 2),
            bytes=len(request.body) if request else self._parser.held,
            message=outcome.message if failed else None,
        )  # fmt: skip

    # --- sending -----------------------------------------------------------------------------

    def _send(self, reply: bytes) -> None:
        """Send an answer, and see that the client takes it."""
        transport = self._transport
        if transport.is_closing():
            return
        # At once: Gold's Perl client fails where the next chunk is not there yet.
        transport.write(reply)
        self.shared.figures.sent(len(reply))
        if not self._stuck:
            self._sent()
            return
        self.stage = Stage.SENDING
        if self._hold_bytes(self._parser.held + transport.get_write_buffer_size()):
            self._wait(self.shared.limits.arrival + len(reply) / _SLOWEST)
        else:  # too much waits for clients that do not read
            self.abort()

    def _sent(self) -> None:
        """Go on once an answer is on its way."""
        self._hold_bytes(self._parser.held)
        if self._transport.is_closing():
            return
        self.shared.crowd.wait(self)
        if not self._keeps:
            self._linger()
            return
        self.stage = Stage.WAITING
        self._wait(self.shared.limits.idle)
        if self._over or not self._parser.is_idle:
            self._next = True
            self._loop.call_soon(self._again)  # others have their turn in between
        elif self.shared.stopping:  # it was promised to go on before that
            self._linger()
        else:
            self._listen()

    def _linger(self) -> None:
        """Let the client read its answer: closing on unread bytes would take it away again."""
        self.stage = Stage.LINGERING
        self._wait(_LINGER)
        self._listen()
        if self._over or not self._transport.can_write_eof():  # TLS has no such end
            self._transport.close()
        else:
            self._transport.write_eof()

    def _fill(self) -> None:
        """Read no more, since enough waits to be answered."""
        if not self._full:
            self._full = True
            self._transport.pause_reading()

    def _listen(self) -> None:
        """Read again what the client sends."""
        if self._full:
            self._full = False
            self._transport.resume_reading()

    def _hold_bytes(self, held: int) -> bool:
        """Count what this connection holds; whether there is room for it."""
        if held == self._held:
            return True
        self._held = held
        return self.shared.crowd.hold(self, held)


def give_back() -> None:
    """Give back what was freed, of all threads."""
    if _trim is not None:
        _trim(0)
