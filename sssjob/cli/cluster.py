"""``--cluster``: the work of a command done by processes of other machines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sssjob.cli import common, options

if TYPE_CHECKING:
    from sssjob.clusters import Profile

_NAME, _PROFILE = "sssjob.cluster", "sssjob.cluster_profile"


def _remembered(key: str) -> Callable[[click.Context, click.Parameter, str | None], None]:
    def remember(context: click.Context, _: click.Parameter, value: str | None) -> None:
        context.meta[key] = value

    return remember


def _systems() -> Iterable[str]:
    from sssjob import clusters

    return clusters.SYSTEMS


_CLUSTER = click.option(
    "--cluster", metavar="ADDRESS|SYSTEM", expose_value=False, callback=_remembered(_NAME),
    shell_complete=options.completes(_systems),
    help="Work on other machines: on those of the Dask scheduler at this address "
         "(tcp://host:8786), or by --workers jobs of slurm, pbs, sge, lsf or condor.",
)  # fmt: skip
_PROFILE_OPTION = click.option(
    "--cluster-profile", metavar="FILE", type=click.Path(dir_okay=False), expose_value=False,
    callback=_remembered(_PROFILE),
    help="What each of these jobs asks for, as TOML: queue, memory, time.",
)  # fmt: skip


def option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options ``--cluster`` and ``--cluster-profile`` of a command that asks ``processes``."""
    return _CLUSTER(_PROFILE_OPTION(command))


def is_wanted() -> bool:
    """Whether other machines do the work of this command."""
    return bool(click.get_current_context().meta.get(_NAME))


def processes(wanted: int) -> int:
    """How many processes work, here or on a cluster, which is left when the command ends.

    What is wrong with a cluster ends the command.
    """
    context = click.get_current_context()
    name, file = context.meta.get(_NAME), context.meta.get(_PROFILE)
    if not name:
        if file:
            common.fail("--cluster-profile needs --cluster")
        return common.processes(wanted)
    from sssjob import clusters

    source = context.get_parameter_source("processes")
    told = wanted if source is click.core.ParameterSource.COMMANDLINE else 0
    started = name in clusters.SYSTEMS
    if not started and (file or told):
        what = "--cluster-profile" if file else "--workers"
        systems = ", ".join(clusters.SYSTEMS)
        common.fail(f"{what} is for workers that sssjob starts as jobs ({systems}): "
                    f"the scheduler at {name} has workers already")  # fmt: skip
    try:
        with common.failing():
            profile = _profile(file, told)
            crew = context.with_resource(clusters.connected(name, profile, _tell))
    except ModuleNotFoundError as error:
        if error.name not in ("distributed", "dask_jobqueue"):
            raise
        common.fail(error)
    _silence_dask()
    return crew


def _silence_dask() -> None:
    """What Dask logs is of connections that it closes or opens again; a lost worker is raised.

    It is logged until the process ends, whenever the other side is heard to close.
    """
    import logging

    import dask

    if dask.config.get("logging", None):  # someone wants to see it
        return
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _profile(file: str | None, workers: int) -> Profile:
    from dataclasses import replace

    from sssjob.clusters import Profile

    found = Profile.read(Path(file)) if file else Profile()
    return replace(found, workers=workers) if workers else found


def _tell(text: str) -> None:
    if sys.stderr.isatty():
        common.say(f"sssjob: {text}")
