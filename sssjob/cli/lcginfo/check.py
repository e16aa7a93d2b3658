"""``sssjob lcginfo check``: what a configuration file says, and whether it would work."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sssjob.cli import common, options
from sssjob.cli.lcginfo import shared
from sssjob.visible import visible

if TYPE_CHECKING:
    from sssjob.lcginfo.config import Config, Option


@click.command(
    epilog="""\b
Examples:
  sssjob lcginfo check -c /etc/lcg-info-dynamic-scheduler.conf
  sssjob lcginfo check --run -c lcg-info-dynamic-scheduler.conf

Exit code: 0 it would work, 1 something is missing, 2 the file cannot be used."""
)
@click.option("-c", "--config", "path", required=True, metavar="FILE", help="The configuration.")
@click.option("--run", is_flag=True, help="Run the commands, and say what they print.")
@options.ALL_FINDINGS
@click.option("--json", "as_json", is_flag=True, help="Print the options as JSON.")
def command(path: str, run: bool, as_json: bool) -> None:
    """Explain a configuration file: what each option means, and what would not work."""
    from sssjob.lcginfo import config

    log = shared.Log()
    log.name = path
    with common.failing():
        loaded = config.load(path, log)
    options = [option for option in config.OPTIONS if option.field]
    if as_json:
        common.data(json.dumps({option.name: _plain(loaded, option) for option in options}))
    else:
        for option in options:
            common.fitted(_line(loaded, option))
    problems = [*_problems(loaded), *_published(loaded, log), *(_tried(loaded, log) if run else ())]
    for problem in problems:
        common.say(f"{common.name_of(path)}: error: {visible(problem)}")
    sys.exit(common.NOTHING if problems else common.FOUND)


def _line(config: Config, option: Option) -> str:
    value = _plain(config, option)
    if isinstance(value, dict):
        value = ", ".join(f"{group} is {vo}" for group, vo in value.items())
    shown = "none" if value in (None, "") else str(value)
    origin = "" if option.field in config.stated else " (default)"
    return f"[{option.section}] {option.name}: {visible(shown)}{origin}; {option.meaning}"


def _plain(config: Config, option: Option) -> Any:
    value = getattr(config, option.field)
    if isinstance(value, tuple):
        return shlex.join(value)
    return dict(value.entries) if option.name == "vomap" else value


def _problems(config: Config) -> list[str]:
    """What would not work, told without running anything."""
    from sssjob.lcginfo import estimators

    found = []
    if not config.lrms_backend_cmd:
        found.append("[LRMS] lrms_backend_cmd is not set: there are no jobs to count")
    for arguments in (config.lrms_backend_cmd, config.vo_max_jobs_cmd):
        if arguments and shutil.which(arguments[0]) is None:
            found.append(f"{arguments[0]!r} is no program that can be run")
    if config.estimator not in estimators.names():
        known = ", ".join(estimators.names())
        found.append(f"{config.estimator!r} is no known estimator; known: {known}")
    if config.estimator == "basic" and not _usable(Path(config.sample_dir)):
        found.append(f"{config.sample_dir!r} is no directory that can be written to")
    return found


def _published(config: Config, log: shared.Log) -> list[str]:
    """What is wrong with the static entries; how many there are goes to standard error."""
    from sssjob.errors import SSSJobError
    from sssjob.lcginfo import publish

    try:
        targets = publish.targets(config, log)
    except SSSJobError as error:
        return [str(error)]
    pairs = {target.pair for target in targets}
    queues = sorted({queue for queue, _ in pairs})
    named = f": {', '.join(map(visible, queues))}" if queues else ""
    common.say(f"{len(targets)} static entries to publish, of {len(queues)} queues{named}")
    return []


def _tried(config: Config, log: shared.Log) -> list[str]:
    """What went wrong when the commands were run; what they printed goes to standard error."""
    from sssjob.errors import SSSJobError
    from sssjob.lcginfo import answers

    try:
        site = answers.gather(config, log)
    except SSSJobError as error:
        return [str(error)]
    snapshot = site.snapshot
    common.say(
        f"{len(snapshot.jobs)} jobs in {len(site.queues)} queues, {site.running()} running, "
        f"{site.waiting()} waiting; slots {snapshot.nactive}, free {site.free_slots}; "
        f"caps of {len(site.caps)} VOs"
    )
    return []


def _usable(directory: Path) -> bool:
    from sssjob.lcginfo.config import SAMPLE_DIR

    if str(directory) == SAMPLE_DIR and not directory.exists():
        directory = directory.parent  # where it is made
    return directory.is_dir() and os.access(directory, os.W_OK | os.X_OK)
