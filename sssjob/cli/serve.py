"""``sssjob serve``: answer schedulers and clients over SSSRMAP."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from sssjob.cli import common

if TYPE_CHECKING:
    from sssjob.gateway.config import GatewayConfig
    from sssjob.gateway.outbox import Outbox
    from sssjob.web.served import Pages


@click.command(
    epilog="""\b
    Examples:
      sssjob serve --config gateway.toml
      sssjob serve --config gateway.toml --check           what is wrong with it, and where
      sssjob serve --config gateway.toml --listen [::1]:7112 --listen 192.0.2.1:7112
      sssjob serve --config gateway.toml --forward gold.example.org:7112
      sssjob serve --config gateway.toml --queue           what was not forwarded yet, and why
      sssjob serve --config gateway.toml --settled 4711    a changed job was put right there by hand
      sssjob serve --config gateway.toml --take-over       the queue that was forwarded from is lost
      sssjob serve --config gateway.toml --take-over --since 2026-11-25T00:00:00Z
      sssjob serve --config /etc/sssjob/gateway.toml --unit > /etc/systemd/system/sssjob.service

    On SIGTERM and SIGINT it answers the requests that have arrived, and ends. On SIGHUP it reads
    its keys again.

    Exit code: 0 ended, or nothing is wrong, 1 --check found something, or --queue or --settled
    nothing, 2 it cannot start.
    """,
)
@click.option(
    "-c", "--config", "path", metavar="FILE", required=True, type=click.Path(path_type=Path),
    help="The configuration, in TOML.",
)  # fmt: skip
@click.option(
    "--check", is_flag=True, help="Only check the configuration, and print what is wrong with it."
)
@click.option("--unit", is_flag=True, help="Print a unit for systemd, and exit.")
@click.option(
    "--listen", "addresses", metavar="ADDRESS", multiple=True,
    help="Listen here instead; port 0 takes a free one.",
)  # fmt: skip
@click.option(
    "--forward", metavar="ADDRESS",
    help="Send finished jobs on to this server: HOST:PORT, or a URL.",
)  # fmt: skip
@click.option("--queue", is_flag=True, help="Show what was not forwarded yet, and exit.")
@click.option(
    "--settled", metavar="ID", multiple=True,
    help="Take a job that --queue shows as changed for one that was sent so, and exit.",
)  # fmt: skip
@click.option(
    "--take-over", is_flag=True,
    help="Forward to this server from now on from this queue, and from no other over the store; "
    "and exit.",
)  # fmt: skip
@click.option(
    "--since",
    metavar="TIME",
    help="With --take-over: also what has ended since then, as far as the server has not charged "
    "it (seconds since 1970, or ISO 8601).",
)
@click.option("--metrics", is_flag=True, help="Do not start without metrics for Prometheus.")
def command(
    path: Path, check: bool, unit: bool, addresses: tuple[str, ...], forward: str | None,
    queue: bool, settled: tuple[str, ...], take_over: bool, since: str | None, metrics: bool,
) -> None:  # fmt: skip
    """Answer schedulers and clients over SSSRMAP, until a signal ends it.

    Peers of Gold and standard HTTP clients use one port. The log goes to standard error, one JSON
    object a line. Metrics for Prometheus are at /metrics if their library is installed (the extra
    "gateway").
    """
    if unit:
        from sssjob.gateway import systemd

        common.data(systemd.unit(Path(sys.argv[0]).absolute(), path.absolute()), nl=False)
        return
    config = _forwarding(_listening(_loaded(path, check), addresses), forward)
    if since is not None and not take_over:
        common.fail("--since goes with --take-over")
    if take_over:
        _take_over(config, since)
    if settled:
        _settle(config, settled)
    if queue:
        _show_queue(config)
    if metrics:
        _need_figures(config)
    if check:
        common.echo(f"{path}: nothing is wrong")
        return
    from sssjob.errors import UnusableStore
    from sssjob.gateway import service

    try:
        service.run(path, config, _pages(path, config))
    except UnusableStore as error:
        common.fail(error)
    except OSError as error:
        common.fail(f"cannot listen: {error.strerror or error}")


def _pages(path: Path, config: GatewayConfig) -> Pages | None:
    """The pages of the gateway, if its file says where they are."""
    if config.web is None:
        return None
    try:
        from sssjob.web.served import Pages
    except ModuleNotFoundError as error:
        common.need_web(error)
    return Pages(path, config.web)


def _loaded(path: Path, check: bool) -> GatewayConfig:
    from sssjob.errors import BadSettings
    from sssjob.gateway.config import load

    try:
        return load(path)
    except OSError as error:
        common.fail(common.reason(error))
    except BadSettings as error:
        common.say(error)
        sys.exit(common.NOTHING if check else common.NOT_UNDERSTOOD)


def _listening(config: GatewayConfig, addresses: tuple[str, ...]) -> GatewayConfig:
    from dataclasses import replace

    from sssjob.rmap.address import address

    try:
        given = tuple(address(text) for text in addresses)
    except ValueError as error:
        common.fail(f"--listen: found {error}, expected an address such as 127.0.0.1:7112")
    return replace(config, listen=given) if given else config


def _forwarding(config: GatewayConfig, to: str | None) -> GatewayConfig:
    from sssjob.client.transports import missing
    from sssjob.gateway.config import forwarded

    if to is None:
        return config
    if not config.jobs.store:
        common.fail("--forward needs a store: give [store] address in the configuration")
    try:
        config = forwarded(config, to)
    except ValueError as error:
        common.fail(f"--forward: found {error}, expected HOST:PORT or a URL")
    for advice in filter(None, map(missing, config.forward.client.transports)):
        common.fail(f"--forward: no library for HTTP: {advice}")
    return config


def _need_figures(config: GatewayConfig) -> None:
    from sssjob.gateway.figures import MISSING, SEVERAL, available

    if config.limits.processes > 1:
        common.fail(f"--metrics: {SEVERAL}")
    if not available():
        common.fail(f"--metrics: {MISSING}")


def _show_queue(config: GatewayConfig) -> NoReturn:
    found = False
    with _outbox(config) as outbox:
        for each in outbox.left() if outbox else ():
            found = True
            said = f"  {each.said}" if each.said else ""
            common.echo(f"{dict(each.fields)['JobId']}  {each.state}  tries {each.tries}{said}")
    sys.exit(common.FOUND if found else common.NOTHING)


def _settle(config: GatewayConfig, settled: tuple[str, ...]) -> NoReturn:
    with _outbox(config) as outbox:
        done = [outbox.settle(id_) if outbox else 0 for id_ in settled]
    for id_, count in zip(settled, done, strict=True):
        if not count:
            common.echo(f"--settled {id_}: the queue has no changed job of this Id", err=True)
    sys.exit(common.FOUND if all(done) else common.NOTHING)


def _take_over(config: GatewayConfig, since: str | None) -> NoReturn:
    import time

    from sssjob import units
    from sssjob.errors import InvalidValue, UnusableStore
    from sssjob.gateway.forwarding import take_over
    from sssjob.handlers.stores import Stores

    if not config.forward.client.transports:
        common.fail("--take-over needs a server to forward to: [forward] to, or --forward")
    try:
        begin = None if since is None else units.time(since)
    except InvalidValue as error:
        common.fail(f"--since: {error}")
    stores = Stores(config.jobs.store)
    try:
        if not take_over(config.forward, stores, now=time.time(), since=begin):
            common.say("this queue forwards from the store already; there is nothing to take over")
    except UnusableStore as error:
        common.fail(error)
    finally:
        stores.close()
    sys.exit(common.FOUND)


@contextmanager
def _outbox(config: GatewayConfig) -> Iterator[Outbox | None]:
    """The queue of what is forwarded; None where there is none yet."""
    from sssjob.errors import UnusableStore
    from sssjob.gateway.outbox import Outbox

    if not config.forward.queue.exists():
        yield None
        return
    try:
        outbox = Outbox(config.forward.queue)
    except UnusableStore as error:
        common.fail(error)
    try:
        yield outbox
    finally:
        outbox.close()
