"""A gateway as a service: made from its file, stopped and reloaded by signals."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

from sssjob import store
from sssjob.errors import BadSettings
from sssjob.gateway import systemd
from sssjob.gateway.actions import Actions
from sssjob.gateway.config import Config, load
from sssjob.gateway.figures import MISSING, available
from sssjob.gateway.forwarding import Forwarding, hindrance
from sssjob.gateway.log import LOGGER, Lines, event
from sssjob.gateway.looking import Looking
from sssjob.gateway.pruning import Pruning
from sssjob.gateway.server import Server
from sssjob.gateway.shadow import Shadow
from sssjob.handlers.service import Service
from sssjob.handlers.stores import Stores
from sssjob.handlers.view import View
from sssjob.rmap.replay import Nonces
from sssjob.rmap.responder import Responder
from sssjob.store.verifying import LOGGER as STORE


def server(config: Config) -> Server:
    """The server that a configuration describes."""
    nonces = Nonces(since=time.time(), window=config.window, required=config.nonce)
    service = answering(config)
    behind = config.behind
    shadow = Shadow(behind) if behind is not None and behind.shadow else None
    actions = Actions({}, behind=behind)
    if service is not None:
        own = service.actions | (behind.over(service) if behind is not None else {})
        actions = Actions(own, service.is_quick, service.is_slow, behind, shadow)
    responder = Responder(
        actions, config.ring, config.policy, nonces=nonces, quick=actions.is_quick,
        slow=actions.is_slow,
    )  # fmt: skip
    return Server(responder, config, service, shadow)


def answering(config: Config) -> Service | None:
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
        return Service(stores, jobs.settings, _unsendable)
    return Service(stores, jobs.settings)


def _unsendable(view: View) -> str:
    why = hindrance(view)
    return f"will not be forwarded: {why}" if why else ""


def run(path: Path, config: Config) -> None:
    """Serve until SIGTERM or SIGINT; SIGHUP reads the keys of the file anew.

    Logs to standard error. Raises OSError where an address cannot be listened on, and
    ``UnusableStore``.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    STORE.addHandler(handler)
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
    for name in shared_roles(config):
        event("anybody with the shared key can claim this role", logging.WARNING, actor=name)
    if not available():
        event("no figures", reason=MISSING)
    running = server(config)
    made = (
        forwarding(config, running.service), looking(running.service), pruning(running.service),
        running.shadow,
    )  # fmt: skip
    beside = [each for each in made if each is not None]
    try:
        for each in beside:
            each.start()
        asyncio.run(_until_signalled(running, path))
    finally:
        for each in beside:
            each.stop()
        LOGGER.removeHandler(handler)
        STORE.removeHandler(handler)


def shared_roles(config: Config) -> list[str]:
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


def forwarding(config: Config, service: Service | None) -> Forwarding | None:
    """What sends finished jobs on, if the configuration says where to. Raises ``UnusableStore``."""
    if service is None or not config.forward.client.transports:
        return None
    return Forwarding(config.forward, service.stores)


def looking(service: Service | None) -> Looking | None:
    """What asks the batch system for the State of jobs, where they are submitted to one."""
    to = service.settings.submission if service is not None else None
    return Looking(to, service.stores) if service is not None and to is not None else None


def pruning(service: Service | None) -> Pruning | None:
    """What forgets what need not be kept, where there is a store."""
    return Pruning(service) if service is not None else None


async def _until_signalled(running: Server, path: Path) -> None:
    loop = asyncio.get_running_loop()

    def stop() -> None:
        systemd.tell("STOPPING=1")
        running.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    loop.add_signal_handler(signal.SIGHUP, reload, running, path)
    await running.run(ready=lambda: systemd.tell("READY=1"))


def reload(running: Server, path: Path) -> None:
    """Take keys, roles and rates of the file anew; if it is wrong, those of before stay."""
    try:
        config = load(path)
    except (BadSettings, OSError) as error:
        event("not reloaded", logging.ERROR, reason=str(error))
        return
    ring = config.ring
    running.take_keys(ring)
    if running.service is not None:
        # What jobs are submitted to stays as it was: threads are at work on it.
        to = running.service.settings.submission
        running.service.settings = replace(config.jobs.settings, submission=to)
    event("keys reloaded", actors=len(ring.own) + len(ring.passwords), revoked=len(ring.revoked))
