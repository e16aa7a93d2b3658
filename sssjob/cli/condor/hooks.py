"""The hooks of HTCondor as commands: ``sssjob condor fetch-work`` and the others.

They are for people: a daemon's call is answered before click is imported, see ``__main__``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from sssjob.cli import common, options
from sssjob.cli.ranges import WholeNumber
from sssjob.systems.condor.hooks import settings
from sssjob.systems.condor.hooks.settings import (
    ATTEMPTS,
    FOLDS,
    LIMITS,
    LOST,
    PAUSE,
    REFRESH,
    SECONDS,
    SILENCE,
    HookSettings,
)

_WHERE: tuple[Callable[[Any], Any], ...] = (
    click.option("--documents", "jobs", cls=options.Renamed, former="--jobs", metavar="DIR|STORE",
                 envvar=settings.VARIABLE, default="",
                 help=f"Documents in a directory, or a store; else ${settings.VARIABLE}."),
    click.option("--state", metavar="DIR", default="",
                 help="Where the hooks keep what they know; by default DIR/.condor."),
    click.option("--trust", metavar="USER", multiple=True,
                 help="A user who may act for others, as root and condor may; may be repeated."),
)  # fmt: skip
_QUEUE = (
    *_WHERE,
    click.option("--fold", type=click.Choice(FOLDS), default="after", show_default=True,
                 help="When usage goes into the documents: after the answer, before it, never."),
    click.option("--seconds", metavar="SECONDS",
                 type=WholeNumber(1, 3600), default=SECONDS, show_default=True,
                 help="How long the hook may take."),
    click.option("--attempts", metavar="N",
                 type=WholeNumber(1), default=ATTEMPTS, show_default=True,
                 help="How many attempts in a row may fail to start a job before it is held."),
    click.option("--lost", metavar="N",
                 type=WholeNumber(1), default=LOST, show_default=True,
                 help="How many attempts in a row may start a job and be lost before it is held."),
    click.option("--pause", metavar="SECONDS",
                 type=WholeNumber(0), default=PAUSE, show_default=True,
                 help="How long a job rests after the first; each later rest is twice as long."),
)  # fmt: skip
_FETCH = (
    click.option("--silence", metavar="SECONDS",
                 type=WholeNumber(1), default=SILENCE, show_default=True,
                 help="Seconds without a report after which slots may fetch a job again."),
    click.option("--refresh", metavar="SECONDS",
                 type=WholeNumber(0), default=REFRESH, show_default=True,
                 help="Seconds after which all documents are looked at again."),
    click.option("--request", "requests", multiple=True, metavar="RequestX=N",
                 help="What jobs get that do not request it, such as RequestMemory=2048 (MiB); "
                      "may be "
                      "repeated. RequestDisk is in KiB."),
    click.option("--owner", default="", metavar="USER", help="The owner of jobs that name no "
                                                             "User."),
)  # fmt: skip
_PREPARE = (
    click.option("--features", metavar="DIR", default="",
                 help="Where to write; by default $_CONDOR_SCRATCH_DIR."),
    click.option("--mandatory", is_flag=True,
                 help="A job without features goes back to the queue (code 390)."),
)  # fmt: skip
_UPDATE = (
    click.option("--limits", type=click.Choice(LIMITS), default="keep", show_default=True,
                 help="Whether a fetched job that is over one of its limits is ended."),
)  # fmt: skip

# Options of each hook, and the words that it is called with.
OPTIONS: dict[str, tuple[tuple[Callable[[Any], Any], ...], tuple[str, ...]]] = {
    "fetch-work": ((*_QUEUE, *_FETCH), ()),
    "reply-fetch": (_QUEUE, ("accept", "reject")),
    "evict-claim": (_QUEUE, ()),
    "prepare-job": (_PREPARE, ()),
    "update-job-info": ((*_QUEUE, *_UPDATE), ()),
    "job-exit": (_QUEUE, ("exit", "remove", "hold", "evict")),
}


def places(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say where the jobs are."""
    return options.together(command, _WHERE)


def given(jobs: str, state: str, **others: Any) -> HookSettings:
    """Settings of options; ends the command where they name no jobs."""
    found = HookSettings(jobs, state, **others)
    if not found.jobs:
        common.fail(
            f"no jobs: say --documents DIR or --documents STORE, or set ${settings.VARIABLE}"
        )
    if not found.state:
        common.fail("a store elsewhere needs --state DIR, where this machine keeps what it knows")
    return found


def hook(name: str, text: str, epilog: str) -> click.Command:
    """The command of a hook; ``text`` is its help."""
    options, words = OPTIONS[name]

    def callback(word: str = "", requests: Sequence[str] = (), **values: Any) -> None:
        from sssjob.systems.condor.hooks.programs import run

        pairs = []
        for text in requests:
            if (asked := settings.request(text)) is None:
                common.fail(f"--request {text}: expected an amount such as RequestCpus=1")
            pairs.append(asked)
        sys.exit(run(name, HookSettings(requests=pairs, **values), [word] if word else []))

    made = click.command(name, help=text, epilog=epilog)(callback)
    if words:
        made.params.append(click.Argument(["word"], type=click.Choice(words)))
    for option in options:
        holder = option(lambda: None)
        made.params += holder.__click_params__
    return made


fetch_work = hook(
    "fetch-work",
    """Give a slot the first job that fits it.

    Standard input is the ad of the slot, standard output the ad of a job: one whose alternatives,
    amounts and Requirements the slot satisfies, highest priority first. Nothing is printed if
    there is none. The job is claimed before it is printed, by one slot only.""",
    """\b
Example:
  sssjob condor fetch-work --documents /var/lib/sssjob/jobs < slot.ad

Exit code: 0, which HTCondor ignores; 2 the options are not understood.""",
)


reply_fetch = hook(
    "reply-fetch",
    """Learn whether the slot took the job; slots may then fetch a rejected job again.

    Standard input is the ad of the job, a line of five hyphens, and the ad of the slot.""",
    """\b
Example:
  sssjob condor reply-fetch --documents /var/lib/sssjob/jobs accept < ads

Exit code: 0, which HTCondor ignores; 2 the options are not understood.""",
)


evict_claim = hook(
    "evict-claim",
    """Take back a job whose claim is given up, unless it has ended.

    Standard input is the ad of the job, a line of five hyphens, and the ad of the slot.""",
    """\b
Example:
  sssjob condor evict-claim --documents /var/lib/sssjob/jobs < ads

Exit code: 0, which HTCondor ignores; 2 the options are not understood.""",
)


prepare_job = hook(
    "prepare-job",
    """Write the features of a job and tell it where they are.

    Standard input is the ad of the job; the ad of its slot is the file that $_CONDOR_MACHINE_AD
    names. The directories .mjf/machinefeatures, .mjf/jobfeatures and .mjf/jobstatus appear in the
    scratch directory, and the answer sets their variables in the job's environment. The same
    command serves before and after files are transferred.

    Without --mandatory a job runs without features where they cannot be written, with a message
    in its log.""",
    """\b
Example:
  sssjob condor prepare-job < $_CONDOR_JOB_AD
  sssjob condor prepare-job --features /tmp/tried < job.ad

Exit code: 0, what went wrong is in HookStatusCode; 2 the options are not understood,
or $_CONDOR_SCRATCH_DIR is not set and no --features DIR says where to write.""",
)


update_job_info = hook(
    "update-job-info",
    """Note what a running job uses, and end one that is over a limit.

    Standard input is the ad of the job with what the starter added. The report goes into the
    spool, which users of jobs may write into, and from there into the document of the job. A
    fetched job that used more than its Duration, CPU time, memory or disk allows gets SIGTERM,
    and SIGKILL 5 s later.""",
    """\b
Example:
  sssjob condor update-job-info --documents /var/lib/sssjob/jobs < job.ad

Exit code: 0, which HTCondor ignores; 2 the options are not understood.""",
)


job_exit = hook(
    "job-exit",
    """Note how a job ended, and what it used.

    Standard input is the ad of the job with what the starter added. exit and remove complete the
    job, hold holds it, evict lets it be fetched again.""",
    """\b
Example:
  sssjob condor job-exit --documents /var/lib/sssjob/jobs exit < job.ad

Exit code: 0, which HTCondor ignores; 2 the options are not understood.""",
)
