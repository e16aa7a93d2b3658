"""``sssjob features``: $MACHINEFEATURES, $JOBFEATURES and $JOBSTATUS of jobs, sites and pilots."""

from __future__ import annotations

import click

from sssjob.cli.commands import CommandsOrDefault

# fmt: off
COMMANDS = {
    "job":      "Derive $JOBFEATURES from a job object (this may be left out).",
    "machine":  "Derive $MACHINEFEATURES of a node.",
    "live":     "Derive $JOBFEATURES from what this machine enforces.",
    "set":      "Announce or move a shutdown, or change another dynamic key.",
    "expire":   "Remove shutdown times that have come.",
    "watch":    "Watch for a shutdown; announce it, signal a payload.",
    "discover": "Find the features of a virtual machine in its metadata.",
    "show":     "Show both directories as a job sees them.",
    "left":     "Show how long a job may go on.",
    "status":   "Show or write $JOBSTATUS, under its lock.",
    "pilots":   "Rank pilots by what it costs to end them.",
    "install":  "Print how to set up a batch system so that jobs have features.",
    "agent":    "Run prologs and epilogs from a resident process.",
    "prolog":   "Make the directories of a job that starts.",
    "epilog":   "Note what a job used, and remove its directories.",
    "sweep":    "Remove directories of jobs whose epilog never ran.",
    "sample":   "Measure what the jobs of a node use while they run.",
    "prove":    "Prove with real jobs that the features of a site are right.",
    "collect":  "Put accounting records into the documents of ended jobs.",
    "submit":   "Submit a job object to a batch system.",
    "serve":    "Serve both directories over HTTP, for virtual machines.",
}
FAMILIES = {
    "derive": ("job", "machine", "live"),
    "dynamic": ("set", "expire"),
    "batch": ("prolog", "epilog", "sweep"),
}
# fmt: on


@click.group(
    cls=CommandsOrDefault,
    home=__name__,
    sections={"Commands": COMMANDS},
    families=FAMILIES,
    default="job",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  sssjob features job.xml /run/mjf/1234/jobfeatures
  sssjob features machine --site site.toml /run/mjf/machinefeatures
  sssjob features set shutdowntime_job +2h /run/mjf/1234/jobfeatures

A file that is called like a command is written ./set""",
)
def command() -> None:
    """Machine/Job Features: what a job may use, as small files that the job reads.

    sssjob features JOB.xml DIR is short for: sssjob features job JOB.xml DIR
    """
