"""``sssjob condor why``: which clauses keep a job from slots."""

from __future__ import annotations

import json
import sys

import click

from sssjob.cli import common, options
from sssjob.cli.condor.shared import HTCONDOR, Ads, apart, engine


@click.command(
    epilog="""\b
Examples:
  sssjob condor ad job.xml | sssjob condor why - slots.ad
  condor_status -long | sssjob condor why job.ad -
  sssjob condor why job.ad slots.ad --json

Exit code: 0 a slot fits, 1 none does, 2 an ad cannot be read."""
)
@click.argument("job", metavar="JOB.ad", type=click.Path())
@click.argument("slots", metavar="SLOTS.ad", type=click.Path())
@options.JSON_OBJECT
@HTCONDOR
def command(job: str, slots: str, as_json: bool, htcondor: bool) -> None:
    """Tell slot by slot which clause of the Requirements of job and slot is false, undefined or an
    error, and what its names stand for; amounts that the job requests are clauses, too.
    """
    from sssjob.systems.condor.why import obstacles

    apart(job, slots)
    mine = Ads().one(job)
    read, number, fitting, told = Ads(), 0, 0, []
    with engine(htcondor=htcondor) as evaluate:
        for number, (_, slot) in enumerate(read.read((slots,)), 1):
            name = slot.text("Name") or f"slot {number}"
            found = list(obstacles(mine, slot, evaluate))
            fitting += not found
            if as_json:
                told.append({"slot": name, "fits": not found, "obstacles": [
                    {"of": each.of, "clause": each.text, "value": each.value, "names": each.names}
                    for each in found
                ]})  # fmt: skip
                continue
            common.data(f"{name}: {'does not fit' if found else 'fits'}")
            for each in found:
                common.data(f"  {each.of}: {each.text} is {each.value}")
                for key, value in each.names.items():
                    common.data(f"    {key} is {value}")
    if as_json:
        common.data(json.dumps({"slots": told}, ensure_ascii=False, indent=2))
    if not number and not read.unread:
        common.say(f"{common.name_of(slots)}: no ad of a slot is in it")
    if read.unread:
        sys.exit(common.NOT_UNDERSTOOD)
    sys.exit(common.FOUND if fitting else common.NOTHING)
