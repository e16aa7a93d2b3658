"""A gateway as a service: made from its file, stopped and reloaded by signals."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol

from sssjob import store
from sssjob.client import GOLD, Dialect
from sssjob.errors import BadSettings
from sssjob.gateway import crew, systemd
from sssjob.gateway.actions import Actions
from sssjob.gateway.config import GatewayConfig, load
from sssjob.gateway.figures import MISSING, SEVERAL, available
from sssjob.gateway.forwarding import Forwarding, hindrance
from sssjob.gateway.large import reading_apart
from sssjob.gateway.log import LOGGER, JsonHandler, event
from sssjob.gateway.nonces import StoredNonces
from sssjob.gateway.server import GatewayServer
from sssjob.gateway.shadow import Shadow
from sssjob.gateway.upkeep import Looking, Pruning
from sssjob.handlers.service import Service, ServiceSettings
from sssjob.handlers.stores import Stores
from sssjob.handlers.view import JobView
from sssjob.rmap.keys import Ring
from sssjob.rmap.replay import Nonces
from sssjob.rmap.responder import Responder
from sssjob.store.verifying import LOGGER as STORE


def server(config: GatewayConfig, nonces: Nonces | None = None) -> GatewayServer:
    """The server that a configuration describes.

    With ``nonces`` that others remember, too, it is one of several processes.
    """
    shares = nonces is not None
    if nonces is None:
        nonces = Nonces(since=time.time(), window=config.window, required=config.nonce)
    service, shadow = answering(config), shadow_of(config)
    actions = actions_of(config, service, shadow)
    responder = Responder(
        actions, config.ring, config.policy, nonces=nonces, quick=actions.is_quick,
        slow=actions.is_slow, reads_large=reading_apart(config.limits.memory),
    )  # fmt: skip
    return GatewayServer(responder, config, service, shadow, shares=shares)


def shadow_of(config: GatewayConfig) -> Shadow | None:
    """What compares answers with those of another server, if the configuration asks for it."""
    behind = config.behind
    return Shadow(behind) if behind is not None and behind.shadow else None


def actions_of(config: GatewayConfig, service: Service | None, shadow: Shadow | None) -> Actions:
    """What answers each action, over the store and the server behind, as far as there are some."""
    behind = config.behind
    if service is None:
        return Actions({}, behind=behind)
    own = service.actions | (behind.over(service) if behind is not None else {})
    admit = StoredNonces(service.stores, config.window).admit
    passing = behind.passing(service) if behind is not None else None
    return Actions(own, service.is_quick, service.is_slow, behind, shadow, admit, passing)


def answering(config: GatewayConfig) -> Service | None:
    """Handlers over the store of a configuration, which is made if it is new; None without one.

    Raises ``UnusableStore``.
    """
    jobs = config.jobs
    if not jobs.store:
        return None
    with store.open(jobs.store, create=True, patience=jobs.patience) as made:
        verifies = made.verifies
    stores = Stores(jobs.store, patience=jobs.patience, verifies=verifies)
    if config.forward.client.transports:
        plan = config.forward
        advice = partial(unsendable, dialect=plan.client.dialect, charge=plan.charge)
        return Service(stores, jobs.settings, advice)
    return Service(stores, jobs.settings)


def unsendable(view: JobView, dialect: Dialect = GOLD, *, charge: bool = False) -> str:
    """What is to be said of a job that will not be forwarded as it is; "" for all others."""
    why = hindrance(view, dialect, charge=charge)
    return f"will not be forwarded: {why}" if why else ""


def run(path: Path, config: GatewayConfig, pages: ReloadedWork | None = None) -> None:
    """Serve until SIGTERM or SIGINT; SIGHUP reads the keys of the file anew.

    ``pages`` work beside it. Logs to standard error. Raises OSError where an address cannot be
    listened on, and ``UnusableStore``.
    """
    with logging_to_stderr():
        for name in shared_roles(config):
            event("anybody with the shared key can claim this role", logging.WARNING, actor=name)
        if config.limits.processes > 1:
            _run_crew(path, config, pages)
            return
        if not available():
            event("no figures", reason=MISSING)
        running = server(config)
        with beside(*once(config, running.service), running.shadow, pages):
            _run(_until_signalled(running, path, pages=pages))
        _end(running)


def once(config: GatewayConfig, service: Service | None) -> tuple[BackgroundWork | None, ...]:
    """What one process does, however many answer."""
    return forwarding(config, service), looking(service), pruning(config, service)


def _run(main: Coroutine[None, None, None]) -> None:
    """Run on the event loop of uvloop, where that is installed."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(main)


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """What makes event loops; None for those of Python."""
    try:
        import uvloop  # type: ignore[import-not-found, unused-ignore]
    except ModuleNotFoundError:
        return None
    made: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return made


class BackgroundWork(Protocol):
    """What works in a thread of its own."""

    def start(self) -> None:
        """Begin."""

    def stop(self) -> None:
        """End."""


class ReloadedWork(BackgroundWork, Protocol):
    """The same, with settings of its own."""

    def reload(self) -> None:
        """Take the settings of the file anew."""


@contextmanager
def logging_to_stderr() -> Iterator[None]:
    """The log of a process of the gateway, one object of JSON a line."""
    handler = JsonHandler(sys.stderr)
    STORE.addHandler(handler)
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        STORE.removeHandler(handler)
        handler.flush()


@contextmanager
def beside(*made: BackgroundWork | None) -> Iterator[None]:
    """What works beside a block, from its begin to its end."""
    working = [each for each in made if each is not None]
    try:
        for each in working:
            each.start()
        yield
    finally:
        for each in working:
            each.stop()


def _run_crew(path: Path, config: GatewayConfig, pages: ReloadedWork | None) -> None:
    event("no figures", reason=SEVERAL)
    service = answering(config)
    with crew.duty(path, config) as duty, beside(*once(config, service), pages):
        asyncio.run(_lead(crew.Crew(duty, config.limits.processes, work), duty, service, pages))


async def _lead(
    processes: crew.Crew, duty: crew.Duty, service: Service | None, pages: ReloadedWork | None
) -> None:
    """Hand on what signals say until all have ended."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        systemd.tell("STOPPING=1")
        processes.stop()

    def again() -> None:
        config = read_again(duty.path)
        if config is not None:
            take_settings(service, config.jobs.settings)
            processes.reload(config.ring, config.jobs.settings)
        if pages is not None:
            pages.reload()

    def ready() -> None:
        crew.tell(duty.config)
        systemd.tell("READY=1")

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    loop.add_signal_handler(signal.SIGHUP, again)
    await processes.run(ready)


def work(duty: crew.Duty, pipe: Connection) -> None:
    """Be one of several processes, until a signal or the end of the one that started it."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # who started this reads the file for all
    with logging_to_stderr():
        nonces = duty.remembered()
        running = server(duty.config, nonces)
        try:
            with beside(running.shadow):
                _run(_until_signalled(running, duty.path, pipe))
        finally:
            nonces.close()
        _end(running)


def _end(running: GatewayServer) -> None:
    """End the process where a thread still works on an answer that nobody will get.

    Python would wait for it, and it would hold the store against the next gateway. A change that
    is not committed by now is none.
    """
    if running.has_cut_off:
        logging.shutdown()
        os._exit(0)


def shared_roles(config: GatewayConfig) -> list[str]:
    """Actors with roles of their own and no key of their own: the shared one proves them."""
    roles, ring = config.jobs.settings.roles, config.ring
    if ring.shared is None:
        return []
    proven, usual = {*ring.own, *ring.revoked}, {roles.usual, "anonymous"}
    return [
        name
        for name, own in roles.actors.items()
        if name not in proven and not usual.issuperset(own)
    ]


def forwarding(config: GatewayConfig, service: Service | None) -> Forwarding | None:
    """What sends finished jobs on, if the configuration says where to. Raises ``UnusableStore``."""
    if service is None or not config.forward.client.transports:
        return None
    return Forwarding(
        config.forward, service.stores, rates=lambda: service.settings.accounting.rates
    )


def looking(service: Service | None) -> Looking | None:
    """What asks the batch system for the State of jobs, where they are submitted to one."""
    to = service.settings.submission if service is not None else None
    return Looking(to, service.stores) if service is not None and to is not None else None


def pruning(config: GatewayConfig, service: Service | None) -> Pruning | None:
    """What forgets what need not be kept, where there is a store."""
    return Pruning(service, grace=config.limits.grace) if service is not None else None


async def _until_signalled(
    running: GatewayServer, path: Path, pipe: Connection | None = None,
    pages: ReloadedWork | None = None,
) -> None:  # fmt: skip
    """Serve until a signal; with a ``pipe``, or until nobody is at its other end."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if pipe is None:
            systemd.tell("STOPPING=1")
        running.stop()

    def ready() -> None:
        if pipe is None:
            systemd.tell("READY=1")
        else:
            with suppress(BrokenPipeError):  # who started this is gone, which the loop is told
                pipe.send("ready")

    def told() -> None:
        assert pipe is not None
        try:
            ring, settings = pipe.recv()
        except (EOFError, OSError):
            loop.remove_reader(pipe.fileno())
            running.stop()
            return
        take(running, ring, settings)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)

    def again() -> None:
        reload(running, path)
        if pages is not None:
            pages.reload()

    if pipe is None:
        loop.add_signal_handler(signal.SIGHUP, again)
    else:
        loop.add_reader(pipe.fileno(), told)
    await running.run(ready)


def reload(running: GatewayServer, path: Path) -> None:
    """Take keys, roles and rates of the file anew; if it is wrong, those of before stay."""
    config = read_again(path)
    if config is not None:
        take(running, config.ring, config.jobs.settings)


def read_again(path: Path) -> GatewayConfig | None:
    """The configuration of the file; None if it is wrong, which is told."""
    try:
        return load(path)
    except (BadSettings, OSError) as error:
        event("not reloaded", logging.ERROR, reason=str(error))
        return None


def take(running: GatewayServer, ring: Ring, settings: ServiceSettings) -> None:
    """Take keys, roles and rates."""
    take_settings(running.service, settings)
    running.take_keys(ring)
    event("keys reloaded", actors=len(ring.own) + len(ring.passwords), revoked=len(ring.revoked))


def take_settings(service: Service | None, settings: ServiceSettings) -> None:
    """Take roles and rates, where there are jobs."""
    if service is not None:
        # What jobs are submitted to stays as it was: threads are at work on it.
        service.settings = replace(settings, submission=service.settings.submission)
