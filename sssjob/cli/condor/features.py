"""``sssjob condor features``: the features of a job in a slot, from their ads."""

from __future__ import annotations

import json
import sys

import click

from sssjob.cli import common, options
from sssjob.cli.condor.shared import Ads, apart


@click.command(
    epilog="""\b
Examples:
  sssjob condor features --job-ad $_CONDOR_JOB_AD --machine-ad $_CONDOR_MACHINE_AD
  condor_status -long slot1@n1 | sssjob condor features --machine-ad - --json

Exit code: 0 there are features, 1 there are none, 2 an ad cannot be read."""
)
@click.option("--job-ad", metavar="AD", type=click.Path(), help="The ad of the job.")
@click.option("--machine-ad", metavar="AD", type=click.Path(), help="The ad of its slot.")
@options.JSON_OBJECT
@click.option("--now", metavar="TIME", type=options.MOMENT,
              help="The time, such as 2026-11-30T12:00: moments before it are not told, and it "
                   "is the start of a job whose ad says none. No clock is asked.")  # fmt: skip
def command(job_ad: str | None, machine_ad: str | None, as_json: bool, now: int | None) -> None:
    """Print $MACHINEFEATURES and $JOBFEATURES that follow from the ads of a job and its slot.

    Each ad is a file in any form, or "-". Without the ad of a job there are features of the
    machine only. Keys that the ads do not give are left out.
    """
    from sssjob.classads.values import Ad
    from sssjob.systems.condor.slot import job_features, machine_features

    if job_ad is None and machine_ad is None:
        common.fail("an ad is needed: --job-ad AD, --machine-ad AD, or both")
    apart(job_ad, machine_ad)
    slot = Ad() if machine_ad is None else Ads().one(machine_ad)
    machine = machine_features(slot, now)
    job = {} if job_ad is None else job_features(Ads().one(job_ad), slot, now)
    if as_json:
        texts = {"machine": machine, "job": job}
        common.data(json.dumps({
            kind: {name: str(value) for name, value in values.items()}
            for kind, values in texts.items()
        }, indent=2))  # fmt: skip
    else:
        for variable, values in (("$MACHINEFEATURES", machine), ("$JOBFEATURES", job)):
            for name, value in values.items():
                common.fitted(f"{variable}/{name}  {value}")
    sys.exit(common.FOUND if machine or job else common.NOTHING)
