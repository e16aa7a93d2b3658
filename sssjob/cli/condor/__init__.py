"""``sssjob condor``: ads, features and hooks of HTCondor execution points."""

from __future__ import annotations

import click

from sssjob.cli.commands import Commands

# fmt: off
COMMANDS = {
    "ad":             "Write job objects as job ads.",
    "job":            "Write job ads as job objects.",
    "features":       "Print the features of a job in a slot.",
    "eval":           "Evaluate a ClassAd expression.",
    "why":            "Tell why a job does not fit slots.",
    "queue":          "Show which jobs wait for a slot, run, or are done.",
    "fold":           "Put what hooks reported into the job objects.",
    "cron":           "Print machine features for the ads of slots.",
    "config":         "Print the configuration of a site.",
    "check":          "Explain a configuration, and tell what would not work.",
    "simulate":       "Call the hooks as an execution point does.",
    "fetch-work":     "Hook: give a slot a job that fits it.",
    "reply-fetch":    "Hook: learn whether the slot took the job.",
    "evict-claim":    "Hook: take a job back.",
    "prepare-job":    "Hook: write a job's features before it starts.",
    "update-job-info": "Hook: note what a running job uses.",
    "job-exit":       "Hook: note how a job ended.",
}
FAMILIES = {
    "hooks": (
        "fetch-work", "reply-fetch", "evict-claim", "prepare-job", "update-job-info", "job-exit",
    ),
}
# fmt: on


@click.group(
    cls=Commands,
    home=__name__,
    sections={"Commands": COMMANDS},
    families=FAMILIES,
    epilog="""\b
Examples:
  sssjob condor ad job.xml
  sssjob condor features --job-ad job.ad --machine-ad machine.ad --json
  sssjob condor config --documents /var/lib/sssjob/jobs""",
)
def command() -> None:
    """Ads, features and hooks of HTCondor execution points. With these hooks a startd fetches jobs
    that job objects describe, each job finds its features, and what it used is put into its job
    object.
    """
