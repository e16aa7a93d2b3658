"""Several processes that answer on the same ports, one for each core.

The kernel gives each new connection to one of them (SO_REUSEPORT). They share the store, and so
the ids of requests that were done; and nonces, in a file of their own. The process that started
them starts one anew that ended, reads the file for all of them, and does what is done once: it
forwards, looks after submitted jobs and prunes. They end with it, however it ends.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from types import MappingProxyType

from sssjob.gateway.config import GatewayConfig
from sssjob.gateway.log import event
from sssjob.gateway.nonces import SharedNonces
from sssjob.handlers.service import ServiceSettings
from sssjob.rmap.address import Address
from sssjob.rmap.keys import Ring

_AGAIN = 1.0  # seconds until a process that ended is started anew


@dataclass(frozen=True, slots=True)
class Duty:
    """What a process of the crew has to know.

    ``config`` is what was read of the file at ``path``, with the ports of the crew.
    """

    path: Path
    config: GatewayConfig
    nonces: Path
    since: float

    # decision 924
    def reloaded(self, ring: Ring, settings: ServiceSettings) -> Duty:
        """The same with what a reload takes, for a process that begins later."""
        own = self.config.jobs.settings
        jobs = replace(self.config.jobs, settings=replace(settings, submission=own.submission))
        return replace(self, config=replace(self.config, ring=ring, jobs=jobs))

    def remembered(self) -> SharedNonces:
        """The nonces of the crew."""
        config = self.config
        return SharedNonces(
            self.nonces, since=self.since, window=config.window, required=config.nonce
        )


Work = Callable[[Duty, Connection], None]


class Crew:
    """Processes that do the same ``work``, as many as there are told."""

    def __init__(self, duty: Duty, count: int, work: Work) -> None:
        self.duty, self.count, self.work = duty, count, work
        self._context = get_context("spawn")  # threads are running here
        self._running: dict[BaseProcess, Connection] = {}
        self._waited: set[BaseProcess] = set()  # that are not ready yet
        self._stopping = False
        self._ended = asyncio.Event()
        self._is_ready = False

    async def run(self, ready: Callable[[], None]) -> None:
        """Work until ``stop``; ``ready`` is called once clients can come."""
        loop, self._ready = asyncio.get_running_loop(), ready
        for _ in range(self.count):
            self._start(loop)
        await self._ended.wait()

    def stop(self) -> None:
        """End, each after the answers that it owes."""
        self._stopping = True
        for each in self._running:
            if each.pid is not None and each.is_alive():
                os.kill(each.pid, signal.SIGTERM)
        self._check()

    def reload(self, ring: Ring, settings: ServiceSettings) -> None:
        """Let all take what was read anew, also those that are not ready yet, or begin later."""
        self.duty = self.duty.reloaded(ring, settings)
        for pipe in self._running.values():
            with suppress(BrokenPipeError):  # it has ended, which the loop is told
                pipe.send((ring, settings))

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._stopping:
            return
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=self.work, args=(self.duty, theirs), daemon=True)
        process.start()
        theirs.close()
        self._running[process] = ours
        self._waited.add(process)
        loop.add_reader(ours.fileno(), self._heard, process, loop)
        loop.add_reader(process.sentinel, self._over, process, loop)

    def _heard(self, process: BaseProcess, loop: asyncio.AbstractEventLoop) -> None:
        """A process says that it listens; or its end of the pipe is closed."""
        loop.remove_reader(self._running[process].fileno())
        self._waited.discard(process)
        if not self._waited and not self._is_ready and not self._stopping:
            self._is_ready = True
            self._ready()

    def _over(self, process: BaseProcess, loop: asyncio.AbstractEventLoop) -> None:
        loop.remove_reader(process.sentinel)
        pipe = self._running.pop(process)
        loop.remove_reader(pipe.fileno())
        pipe.close()
        process.join()
        self._waited.discard(process)
        if not self._stopping:
            event("a process ended", logging.ERROR, pid=process.pid, code=process.exitcode)
            loop.call_later(_AGAIN, self._start, loop)
        self._check()

    def _check(self) -> None:
        if self._stopping and not self._running:
            self._ended.set()


def _read_only(values: Mapping[str, object]) -> Mapping[str, object]:
    return MappingProxyType(values)


# A process that begins is given a configuration, in which there are some of these.
ForkingPickler.register(MappingProxyType, lambda found: (_read_only, (dict(found),)))


@contextmanager
def duty(path: Path, config: GatewayConfig) -> Iterator[Duty]:
    """The ports and the files of a crew. Raises OSError where it cannot listen."""
    with ExitStack() as stack:

        def kept(addresses: Iterable[Address]) -> tuple[Address, ...]:
            return tuple(_kept(stack, each) for each in addresses)

        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="sssjob-nonces-"))
        listening = replace(
            config, listen=kept(config.listen),
            tls=replace(config.tls, listen=kept(config.tls.listen)) if config.tls else None,
            observe=kept([config.observe])[0] if config.observe else None,
        )  # fmt: skip
        yield Duty(path.absolute(), listening, Path(folder) / "nonces.db", time.time())


def tell(config: GatewayConfig) -> None:
    """Say where the crew listens."""
    kinds = {"listen": config.listen, "tls": config.tls.listen if config.tls else ()}
    for kind, addresses in kinds.items():
        for each in addresses:
            event("listening", kind=kind, address=str(each))
    if config.observe is not None:
        event("listening", kind="observe", address=str(config.observe))


def _kept(stack: ExitStack, address: Address) -> Address:
    """An address with its port, which nobody else takes: a free one, where it is 0."""
    family, kind, protocol, _, place = socket.getaddrinfo(
        address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    bound = stack.enter_context(socket.socket(family, kind, protocol))
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    if family == socket.AF_INET6:
        bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    bound.bind(place)
    return replace(address, port=bound.getsockname()[1])
