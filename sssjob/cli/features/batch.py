"""What a batch system calls before and after a job: ``sssjob features prolog`` and ``epilog``.

The options here are those of all commands that ask a batch system.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from sssjob import host_name
from sssjob.cli import common, options
from sssjob.cli.features.common import VOCABULARIES, fail
from sssjob.cli.names import SystemName, Thing
from sssjob.cli.ranges import NumberRange, WholeNumber
from sssjob.cli.signals import terminable
from sssjob.errors import SSSJobError

if TYPE_CHECKING:
    from sssjob.errors import Finding
    from sssjob.features.batch.call import Invocation

Command = Callable[..., Any]


def system(thing: Thing) -> Callable[[Command], Command]:
    """The option that names a batch system of which a thing is known."""
    return click.option("--for", "system", type=SystemName(thing), required=True,
                        help="The batch system.")  # fmt: skip


# Whether it can be read is found out when it is read: what fails then has its time and its job in
# the log, and costs no more than that.
PLACE = click.Path(readable=False)

root = click.option("--root", metavar="DIR", type=PLACE, default="/run/mjf",
                    show_default=True, help="Where the directories of jobs are.")  # fmt: skip
jobs = click.option("--documents", "jobs", cls=options.Renamed, former="--jobs", metavar="DIR",
                    default="",  # a text: its server may hang, and an epilog has to keep all first
                    help="Job objects: DIR/ID.xml has the job with that Id.")  # fmt: skip
seconds = click.option("--seconds", metavar="SECONDS",
                       type=NumberRange(0.1, 3600), default=10, show_default=True,
                       help="How long the batch system may take to answer.")  # fmt: skip


status_size = click.option("--status-size", metavar="BYTES", type=WholeNumber(0, 1 << 30),
                           default=0, help="The size of $JOBSTATUS, which becomes a file system in "
                           "memory, as root; 0: it is a directory like the others.")  # fmt: skip


log = click.option("--log", "log_file", metavar="FILE", type=PLACE, default="",
                   help="Say everything there, with time and job: one line if all is well. At 4 "
                   "MiB it becomes FILE.1.")  # fmt: skip


class Journal:
    """What a prolog or epilog says: in its log, or printed where there is none."""

    def __init__(self, file: str, script: str, made: Invocation) -> None:
        self.file, self.script, self.system = file, script, made.system
        self.job = "-"
        with suppress(OSError, SSSJobError):  # whoever needs it is told why
            self.job = made.allocation(asking=False).job_id

    def done(self, what: str, notes_: tuple[str, ...], findings: tuple[Finding, ...] = ()) -> None:
        """Say what was done, and what is missing."""
        if not self.file:
            notes(notes_)
            common.print_findings(findings)
            return
        used = resource.getrusage(resource.RUSAGE_SELF)
        self._note(f"{what}, {used.ru_utime + used.ru_stime:.3f} s of CPU time")
        for each in (*notes_, *findings):
            self._note(f"warning: {each}")

    def failed(self, error: OSError | SSSJobError) -> NoReturn:
        """End the command with what went wrong."""
        text = common.reason(error) if isinstance(error, OSError) else str(error)
        if self.file and self._note(f"error: {text}"):
            sys.exit(common.NOT_UNDERSTOOD)
        fail(error)

    def _note(self, words: str) -> bool:
        """Add a line; False where that cannot be."""
        from sssjob.features.batch import journal

        # A job does not suffer from a full disk, nor from links in the way.
        with suppress(OSError, SSSJobError):
            journal.note(self.file, time.time(), f"{self.script} {self.system} {self.job}: {words}")
            return True
        return False


def call(system: str, arguments: tuple[str, ...], limit: float) -> Invocation:
    """The call of a script: what PBS gives as arguments, others have in the environment."""
    from sssjob.features.batch.call import Invocation

    environment = {name: value for name, value in os.environ.items() if value}
    return Invocation(system, arguments, environment, limit)


def notes(said: tuple[str, ...]) -> None:
    """Print what is missing."""
    for note in said:
        common.say(f"sssjob: {note}")


@click.command(
    epilog="""\b
Examples:
  sssjob features prolog --for slurm --root /run/mjf
  sssjob features prolog --for gridengine --root /run/mjf --site /etc/sssjob/site.toml
  sssjob features prolog --for pbs --documents /var/lib/sssjob/jobs -- "$@"

Exit code: 0 done, 1 something is missing or said in two ways, as standard error tells, 2 no
directory can be made, also if users other than root can write in a directory above --root. The
scripts of "sssjob features install" end with 0."""
)
@system("script")
@root
@jobs
@click.option("--site", "site_file", metavar="FILE", type=PLACE,
              help="The site's configuration (TOML): ratings, notice, factor.")  # fmt: skip
@click.option("--scratch", metavar="DIR", default="", type=PLACE,
              help="The scratch space of jobs, which its file system limits.")  # fmt: skip
@click.option("--vocabulary", type=click.Choice(VOCABULARIES), default="both", show_default=True,
              help="Write the keys of the 2016 text, of the 2014 text, or both.")  # fmt: skip
@status_size
@seconds
@log
@click.argument("arguments", nargs=-1, metavar="[-- ARGUMENTS]")
def prolog(
    system: str, root: str, jobs: str, site_file: str | None, scratch: str, vocabulary: str,
    status_size: int, seconds: float, log_file: str, arguments: tuple[str, ...],
) -> None:  # fmt: skip
    """Make the directories of the job that a prolog is called for, and print their names.

    sssjob asks the batch system what it gave the job on this node. Its answer is used rather than
    what DIR/ID.xml requests; the document gives the other values. $JOBSTATUS belongs to the user of
    the job. With Grid Engine the variables go into the environment of the job, too.
    """
    from sssjob.features.batch.starting import SiteSettings, start
    from sssjob.features.site import read as read_site

    made = call(system, arguments, seconds)
    said = Journal(log_file, "prolog", made)
    try:
        known = None if site_file is None else read_site(site_file, guarded=True)
        done = start(
            made,
            SiteSettings(Path(root), jobs, known, scratch, vocabulary, status_size),
        )
    except (OSError, SSSJobError) as error:
        said.failed(error)
    if not log_file:
        for name, place in done.directories.variables().items():
            common.data(f"{name}={place}")
    what = f"{len(done.features.values)} values, commands of {system}: {made.commands_run}"
    said.done(what, done.notes, done.findings)
    sys.exit(common.NOTHING if done.notes else common.FOUND)


@click.command(
    epilog="""\b
Examples:
  sssjob features epilog --for slurm --root /run/mjf
  sssjob features epilog --for gridengine --documents /var/lib/sssjob/jobs
  sssjob features epilog --for pbs -- "$@"

Exit code: 0 done, 1 the document could not be written, or nobody says where it is, as standard
error tells: the directories are kept for "sssjob features sweep", or gone where the document is
refused, 2 no job is named or its directories cannot be removed, also if users other than root can
write in a directory above --root."""
)
@system("script")
@root
@jobs
@seconds
@log
@click.argument("arguments", nargs=-1, metavar="[-- ARGUMENTS]")
def epilog(
    system: str, root: str, jobs: str, seconds: float, log_file: str, arguments: tuple[str, ...]
) -> None:  # fmt: skip
    """Remove the directories of the job that an epilog is called for.

    If DIR/ID.xml is there, it first gets what the job was given, what it said in $JOBSTATUS, and
    what the batch system measured, as by "sssjob deliver". For a job on several nodes "sssjob
    features collect" does this from its accounting record.
    """
    from sssjob.collect import end

    made = call(system, arguments, seconds)
    said = Journal(log_file, "epilog", made)
    try:
        with terminable():
            done = end(made, Path(root), jobs)
    except (OSError, SSSJobError) as error:
        said.failed(error)
    what: str = done.left
    findings: tuple[Finding, ...] = ()
    if done.tally is not None:
        folded = f"{done.tally.changes} values added"
        what = f"{folded}, {done.left}"
        findings = tuple(done.tally.findings)
        if not log_file:
            common.echo(f"{done.job_id}: {folded}")
    said.done(what, done.notes, findings)
    sys.exit(common.NOTHING if done.notes else common.FOUND)


def _job_ids(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> list[str]:
    from sssjob.features.batch.allocation import is_id

    for name in given:
        if not is_id(name):
            raise click.BadParameter(f"{name!r} is no id of a job")
    return [*dict.fromkeys(given)]


@click.command(
    epilog="""\b
Examples:
  sssjob features sweep --for slurm --root /run/mjf
  sssjob features sweep --for gridengine --dry-run --json
  sssjob features sweep --for slurm --discard 4711
  sssjob features sweep --for slurm --root /run/mjf/%n --node n7
  */10 * * * * root sssjob features sweep --for slurm --node n7

Exit code: 0 done, whether there was one or not, 1 one of them stays, as standard
error tells, 2 the batch system does not say which jobs the node has: nothing is removed then, or
users other than root can write in a directory above --root."""
)
@system("script")
@root
@jobs
@click.option("--node", metavar="NAME", default="",
              help="The name of this node in the batch system. Default: that of the host, without "
              "its domain.")  # fmt: skip
@click.option("--discard", "discarded", metavar="JOB", multiple=True, callback=_job_ids,
              help="Remove those of this job, also if an epilog kept them.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only print which directories these are.")
@click.option("--json", "as_json", is_flag=True, help="Print their names as JSON.")
@seconds
def sweep(
    system: str, root: str, jobs: str, node: str, discarded: list[str], dry_run: bool,
    as_json: bool, seconds: float,
) -> None:  # fmt: skip
    """Remove the directories of jobs that are no longer on this node.

    The epilog of a job removes them. Where it never ran, because the node lost power or the epilog
    was stopped, they stay, and so does what a prolog that was killed had not made whole (under a
    name such as .sssjob-00000039-0). In --root, %n stands for the name of the node. Let cron run
    this command. Directories that are not of jobs,
    and those of a job that starts meanwhile, stay. What an epilog could not write into DIR/ID.xml
    is folded first with --documents, and stays without it, until --discard gives it up.
    """
    from sssjob.collect import DirectoryOutcome, fold_left
    from sssjob.features.batch import directories
    from sssjob.features.batch.leftovers import sweep as swept

    findings: list[Finding] = []
    place = directories.of_node(root, node or host_name.own())

    def fold(job: str, held: int) -> tuple[bool, Sequence[str]]:
        done = fold_left(system, place, jobs, job, held, dry_run=dry_run)
        findings.extend(done.tally.findings if done.tally else ())
        return done.left is DirectoryOutcome.KEPT, done.notes

    try:
        done = swept(
            call(system, (), seconds), place, node,
            fold=fold, dry_run=dry_run, discarded=discarded,
        )  # fmt: skip
    except (OSError, SSSJobError) as error:
        fail(error)
    if as_json:
        common.data(
            json.dumps({"removed": list(done.removed), "notes": list(done.notes)}, indent=2)
        )
    else:
        for name in done.removed:
            common.echo(f"{'would remove' if dry_run else 'removed'} {name}")
    notes(tuple(filter(None, (directories.doubt(place), *done.notes))))
    common.print_findings(findings)
    sys.exit(common.NOTHING if done.notes else common.FOUND)
