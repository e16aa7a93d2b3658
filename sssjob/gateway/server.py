"""A server that listens until it is stopped: its ports, its threads, its limits."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sssjob.gateway.config import GatewayConfig
from sssjob.gateway.conversation import Conversation, Shared, give_back
from sssjob.gateway.log import event
from sssjob.gateway.shadow import Shadow
from sssjob.handlers.service import Service
from sssjob.rmap.address import Address
from sssjob.rmap.keys import Keys
from sssjob.rmap.responder import Responder

_BACKLOG = 1024  # connections that the system keeps until they are accepted
_BEHIND = 4  # requests that the server behind is asked at once
_PASSES = 100  # of the loop: to accept, and to read a message in some pieces
_TIDY = 60.0  # seconds between two times at which freed memory goes back to the system


class GatewayServer:
    """A gateway. ``responder`` answers in threads, so that nobody waits for a slow answer.

    ``service`` has the handlers over a store, ``shadow`` compares them with another server.
    ``addresses`` says where it listens, by kind: listen, tls, observe. It ``shares`` them
    with other processes where it is one of several.
    """

    def __init__(
        self, responder: Responder, config: GatewayConfig, service: Service | None = None,
        shadow: Shadow | None = None, *, shares: bool = False,
    ) -> None:  # fmt: skip
        self.config, self.service, self.shadow, self.shares = config, service, shadow, shares
        self.addresses: dict[str, tuple[Address, ...]] = {}
        self._pool = ThreadPoolExecutor(config.limits.workers, thread_name_prefix="answer")
        to = config.jobs.settings.submission
        orders = (to.at_once if to else 1) + (_BEHIND if config.behind else 0)
        self._orders = ThreadPoolExecutor(orders, thread_name_prefix="order")
        counts = not shares  # figures of one process among several tell nobody anything
        self._shared = Shared(responder, config.limits, self._pool, self._orders, counts=counts)
        self._open: set[Conversation] = set()
        self._alone = asyncio.Event()  # nobody is connected any more
        self._stopping = asyncio.Event()
        self.has_cut_off = False  # whether it ended while threads were still at work

    @property
    def figures(self) -> bytes:
        """What Prometheus would be told now; nothing without its library."""
        _, text = self._shared.figures.text() or ("", b"")
        return text

    @property
    def held(self) -> int:
        """Bytes of requests that are held now, and of what it takes to answer them."""
        return self._shared.crowd.held

    def take_keys(self, keys: Keys) -> None:
        """Prove actors by other keys from now on."""
        self._shared.responder.keys = keys

    async def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Listen and answer until ``stop``; ``ready`` is called when clients can come.

        Raises OSError where an address cannot be listened on.
        """
        asyncio.get_running_loop().set_exception_handler(_failed)
        servers = await self._listening()
        ready()
        tidying = asyncio.create_task(self._tidying())
        await self._stopping.wait()
        tidying.cancel()
        await _take_what_came()
        self._shared.stopping = True
        for server in servers:
            server.close()
        await self._finish()
        for pool in (self._pool, self._orders):
            pool.shutdown(wait=False, cancel_futures=True)
        event("stopped")

    def stop(self) -> None:
        """Take no more requests, answer those that have arrived whole, and end."""
        self._stopping.set()

    async def _listening(self) -> list[asyncio.Server]:
        """One server for each address, or none at all."""
        tls, observe = self.config.tls, self.config.observe
        # Figures on a port of their own are not shown to everybody.
        everything = observe is None
        wanted: list[tuple[str, Address, ssl.SSLContext | None, bool, bool]] = [
            ("listen", address, None, True, everything) for address in self.config.listen
        ]
        if tls:
            context = tls.context()
            wanted += [("tls", address, context, True, everything) for address in tls.listen]
        if observe:
            wanted.append(("observe", observe, None, False, True))
        servers: list[asyncio.Server] = []
        try:
            for kind, address, context_, messages, figures in wanted:
                server = await self._listen(address, context_, messages, figures)
                servers.append(server)
                bound = tuple(Address(*each.getsockname()[:2]) for each in server.sockets)
                self.addresses[kind] = self.addresses.get(kind, ()) + bound
                for each in () if self.shares else bound:
                    event("listening", kind=kind, address=str(each))
        except OSError:
            for server in servers:
                server.close()
            raise
        return servers

    async def _listen(
        self, address: Address, context: ssl.SSLContext | None, messages: bool, figures: bool
    ) -> asyncio.Server:
        def accepted() -> Conversation:
            return Conversation(
                self._shared, messages=messages, figures=figures,
                enter=self._entered, leave=self._left,
            )  # fmt: skip

        return await asyncio.get_running_loop().create_server(
            accepted, address.host, address.port, ssl=context, backlog=_BACKLOG,
            ssl_handshake_timeout=self.config.limits.arrival if context else None,
            reuse_port=self.shares or None,
        )  # fmt: skip

    def _entered(self, conversation: Conversation) -> bool:
        """Take a connection in, if there is a place for it."""
        if self._shared.stopping or not self._shared.crowd.enter(conversation):
            self._shared.figures.refused()
            return False
        self._open.add(conversation)
        self._shared.figures.connected(1)
        return True

    def _left(self, conversation: Conversation) -> None:
        """A connection has ended, and nobody works on an answer to it."""
        self._open.discard(conversation)
        self._shared.crowd.leave(conversation)
        self._shared.figures.connected(-1)
        if not self._open:
            self._alone.set()

    async def _tidying(self) -> None:
        """Give back what was freed, again and again.

        Caches of the store grow and shrink in each thread, and what one has freed no other uses.
        """
        while True:
            await asyncio.sleep(_TIDY)
            await asyncio.get_running_loop().run_in_executor(self._pool, give_back)

    async def _finish(self) -> None:
        """Let those who wait for an answer have it, for as long as the grace lasts."""
        event("stopping", connections=len(self._open))
        for conversation in tuple(self._open):
            conversation.finish()
        if await self._is_alone(self.config.limits.grace):
            return
        for conversation in tuple(self._open):
            event("cut off", logging.WARNING, origin=conversation.origin)
            conversation.cut_off()
            self.has_cut_off = True
        await self._is_alone(None)

    async def _is_alone(self, patience: float | None) -> bool:
        """Wait until nobody is connected; whether that came to be within so many seconds."""
        self._alone.clear()
        if not self._open:
            return True
        try:
            async with asyncio.timeout(patience):
                await self._alone.wait()
        except TimeoutError:
            return False
        return True


async def _take_what_came() -> None:
    """Let the loop accept connections and read bytes that the system has for it.

    Where a listening socket is closed, or a connection with bytes that nobody has read, the client
    sees a reset. Each pass asks the system once, without waiting.
    """
    for _ in range(_PASSES):
        await asyncio.sleep(0)


def _failed(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A handshake that failed, or a fault of ours outside of any answer."""
    error = context.get("exception")
    reason = f"{context.get('message', '')} {type(error).__name__ if error else ''}".strip()
    event("connection failed", logging.WARNING, reason=reason)
