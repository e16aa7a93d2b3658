"""``sssjob cancel``, ``hold`` and ``release``: jobs that are submitted, by their documents."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import click

from sssjob.cli import common, names, options, records
from sssjob.cli.signals import terminable
from sssjob.users import caller

if TYPE_CHECKING:
    from sssjob.commands import CommandFailed
    from sssjob.verbs.submit import Choice

Command = Callable[..., Any]

_EPILOG = """\b
Examples:
  sssjob {0} job.xml
  sssjob {0} --select solve workflow.xml
  sssjob {0} --global-id urn:uuid:1b4e28ba-2fa1-11d2-883f-0016d3cca427 jobs.db

Exit code: 0 done, or there was nothing to do, 1 a job is not there, has ended, or
its batch system refuses, 2 FILE cannot be read or written, or the batch system
does not answer."""


def choice(command: Command) -> Command:
    """The options that say which jobs of a document or a store are meant."""
    for option in (
        click.option("--where", metavar="XPATH", default="",
                     help="Only the jobs and job groups that this finds."),
        click.option("--global-id", "global_ids", metavar="ID", multiple=True,
                     help="Only the jobs with these GlobalIds."),
        click.option("--select", "ids", metavar="ID", multiple=True,
                     help="Only the jobs with these Ids, or in job groups with them."),
    ):  # fmt: skip
        command = option(command)
    return command


def chosen(ids: tuple[str, ...], global_ids: tuple[str, ...], where: str) -> Choice:
    """Which jobs are meant, and who makes changes."""
    from sssjob.verbs.submit import Choice

    return Choice(frozenset(ids), frozenset(global_ids), where, caller())


def refused(error: CommandFailed) -> NoReturn:
    """Say why a batch system did not do as it was told, and end the command."""
    if error.status is None:
        common.fail(error)
    common.say(f"sssjob: {error.what} refuses: {error.said or f'it returned {error.status}'}")
    sys.exit(common.NOTHING)


def _command(order: str, text: str) -> click.Command:
    @click.command(order, help=text, epilog=_EPILOG.format(order))
    @names.option("--to", "system", names=names.controlled, metavar="SYSTEM", default="",
                  help="The batch system: {names}. Default: the "
                       "ResourceManagerType.")  # fmt: skip
    @choice
    @options.ALL_FINDINGS
    @options.TIMEOUT
    @click.argument("file", metavar="FILE")
    def steered(
        system: str, ids: tuple[str, ...], global_ids: tuple[str, ...], where: str,
        timeout: float, file: str,
    ) -> None:  # fmt: skip
        _steer(order, system, chosen(ids, global_ids, where), timeout, file)

    return steered


def _steer(order: str, system: str, which: Choice, seconds: float, file: str) -> None:
    from sssjob.commands import CommandFailed
    from sssjob.submission import How, Order, steer
    from sssjob.verbs import submit

    records.only_documents(file)
    good, some = True, False
    with common.failing(file), terminable(), submit.places(file, which) as works:
        for work in works:
            try:
                for done in steer(work.place, Order(order), system, How(seconds), work.chosen):
                    some = True
                    good = good and not done.why
                    if done.why:
                        common.say_of(file, "error", f"{common.name_of(file)}: {done.why}")
                    else:
                        common.echo(f"{done.id} {done.state}")
            except CommandFailed as error:
                refused(error)
    if not some:
        common.say("sssjob: no job")
    sys.exit(common.FOUND if good and some else common.NOTHING)


cancel = _command(
    "cancel",
    """Cancel jobs in the batch system that they are submitted to, and print their states.

    FILE, a document or a store, gets the State. A job that has ended already stays as it is.""",
)
hold = _command(
    "hold",
    """Hold jobs in the batch system that they are submitted to, and print their states.

    FILE, a document or a store, gets the State and a Hold of the user. Whether a job
    that runs is stopped depends on the batch system: HTCondor stops it, LSF suspends it, others let
    it run.""",
)
release = _command(
    "release",
    """Release jobs that are held, and print their states.

    FILE, a document or a store, gets the State, and loses the Hold of the user.""",
)
