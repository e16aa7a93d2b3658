"""``sssjob condor simulate``: the execution point that calls the hooks."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from sssjob.cli import common
from sssjob.cli.condor.hooks import given, places
from sssjob.cli.condor.shared import Ads
from sssjob.cli.ranges import NumberRange, WholeNumber

if TYPE_CHECKING:
    from sssjob.systems.condor.hooks.simulate import SlotEvent


@click.command(
    epilog="""\b
Examples:
  sssjob condor simulate --documents jobs
  sssjob condor simulate --documents jobs.db --slots 2 --cpus 4 --memory 4096 --json
  sssjob condor simulate --hooks /usr/libexec/sssjob --slot-ad slot.ad

Exit code: 0 a job was fetched, 1 there was no work, 2 something is not understood."""
)
@places
@click.option("--hooks", "directory", metavar="DIR", type=click.Path(),
              help="Programs of the hooks, as a configuration names them.")  # fmt: skip
@click.option("--slots", "count", metavar="N",
              type=WholeNumber(1, 256), default=1, show_default=True,
              help="How many slots there are.")  # fmt: skip
@click.option("--cpus", metavar="N", type=WholeNumber(1), default=1, show_default=True,
              help="Processors of each slot.")  # fmt: skip
@click.option("--memory", metavar="MIB", type=WholeNumber(1), default=1024, show_default=True,
              help="Memory of each slot in MiB.")  # fmt: skip
@click.option("--disk", metavar="KIB", type=WholeNumber(1), default=1048576, show_default=True,
              help="Disk of each slot in KiB.")  # fmt: skip
@click.option("--slot-ad", "ads", multiple=True, metavar="AD", type=click.Path(),
              help="The ad of a slot, instead of --slots and the sizes; may be "
                   "repeated.")  # fmt: skip
@click.option("--rounds", metavar="N", type=WholeNumber(1), default=100, show_default=True,
              help="How many jobs a slot fetches at most.")  # fmt: skip
@click.option("--initial-update", metavar="SECONDS",
              type=NumberRange(0), default=8, show_default=True,
              help="Seconds until the first update of a job.")  # fmt: skip
@click.option("--update", metavar="SECONDS",
              type=NumberRange(0.01), default=300, show_default=True,
              help="Seconds between updates.")  # fmt: skip
@click.option(
    "--json", "--jsonl", "as_json", is_flag=True, help="Print each event as JSON, one a line."
)
def command(
    jobs: str, state: str, trust: tuple[str, ...], directory: str | None, count: int, cpus: int,
    memory: int, disk: int, ads: tuple[str, ...], rounds: int, initial_update: float, update: float,
    as_json: bool,
) -> None:  # fmt: skip
    """Call the hooks as an execution point does, without HTCondor, until there is no work.

    Jobs really run: as you, without a sandbox. Slots work at the same time.
    """
    from sssjob.systems.condor.hooks.settings import HOOKS
    from sssjob.systems.condor.hooks.simulate import Pace, simulate, slot_ad
    from sssjob.systems.condor.hooks.site import program

    if directory is None:
        settings = given(jobs, state)
        words = ["--documents", settings.jobs, "--state", settings.state, "--fold", "now"]
        words += [f"--trust={user}" for user in trust]
        commands = {
            hook: [*program(), "condor", hook, *(words if hook != "prepare-job" else [])]
            for hook in HOOKS
        }
    else:
        commands = {
            hook: [os.path.join(os.path.abspath(directory), hook)]
            for hook in HOOKS
            if os.access(os.path.join(directory, hook), os.X_OK)
        }
        if "fetch-work" not in commands:
            common.fail(f"{directory}: no program fetch-work")
    if "prepare-job" in commands:
        commands["prepare-job-before-transfer"] = commands["prepare-job"]
    slots = [Ads().one(ad) for ad in ads]
    slots = slots or [slot_ad(number, cpus, memory, disk) for number in range(1, count + 1)]
    fetched = 0

    def tell(event: SlotEvent) -> None:
        nonlocal fetched
        fetched += event.what == "fetched"
        if as_json:
            common.data(json.dumps(asdict(event), ensure_ascii=False))
        else:
            common.fitted(" ".join(filter(None, (f"{event.slot}:", event.what, event.more))))

    simulate(slots, commands, tell, Pace(rounds, initial_update, update))
    sys.exit(common.FOUND if fetched else common.NOTHING)
