"""What the commands of the hooks share: their options, and how they are run.

They are for people: a daemon's call is answered before click is imported, see ``__main__``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from sssjob.cli import common
from sssjob.systems.condor.hooks import settings
from sssjob.systems.condor.hooks.settings import FOLDS, REFRESH, SECONDS, SILENCE, Settings

_WHERE: tuple[Callable[[Any], Any], ...] = (
    click.option("--jobs", metavar="DIR|STORE", envvar=settings.VARIABLE, default="",
                 help=f"Documents in a directory, or a store; else ${settings.VARIABLE}."),
    click.option("--state", metavar="DIR", default="",
                 help="Where the hooks keep what they know; by default DIR/.condor."),
    click.option("--trust", metavar="USER", multiple=True,
                 help="May speak for others, as root and condor do; may be repeated."),
)  # fmt: skip
_QUEUE = (
    *_WHERE,
    click.option("--fold", type=click.Choice(FOLDS), default="after", show_default=True,
                 help="When usage goes into the documents: behind the answer, now, never."),
    click.option("--seconds", type=click.IntRange(1, 3600), default=SECONDS, show_default=True,
                 help="How long the hook may take."),
)  # fmt: skip
_FETCH = (
    click.option("--silence", type=click.IntRange(1), default=SILENCE, show_default=True,
                 help="Seconds after which a job that is not heard of is given away again."),
    click.option("--refresh", type=click.IntRange(0), default=REFRESH, show_default=True,
                 help="Seconds after which all documents are looked at again."),
    click.option("--request", "requests", multiple=True, metavar="RequestX=N",
                 help="For jobs that do not request it; memory in MiB, disk in KiB."),
    click.option("--owner", default="", metavar="USER", help="For jobs without User."),
)  # fmt: skip
_PREPARE = (
    click.option("--features", metavar="DIR", default="",
                 help="Where to write; by default $_CONDOR_SCRATCH_DIR."),
    click.option("--mandatory", is_flag=True,
                 help="A job without features goes back to the queue (code 390)."),
)  # fmt: skip

# Options of each hook, and the words that it is called with.
OPTIONS: dict[str, tuple[tuple[Callable[[Any], Any], ...], tuple[str, ...]]] = {
    "fetch-work": ((*_QUEUE, *_FETCH), ()),
    "reply-fetch": (_QUEUE, ("accept", "reject")),
    "evict-claim": (_QUEUE, ()),
    "prepare-job": (_PREPARE, ()),
    "update-job-info": (_QUEUE, ()),
    "job-exit": (_QUEUE, ("exit", "remove", "hold", "evict")),
}


def places(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say where the jobs are."""
    for option in reversed(_WHERE):
        command = option(command)
    return command


def given(jobs: str, state: str, **others: Any) -> Settings:
    """Settings of options; ends the command where they name no jobs."""
    found = Settings(jobs, state, **others)
    if not found.jobs:
        common.fail(f"no jobs: say --jobs DIR or --jobs STORE, or set ${settings.VARIABLE}")
    if not found.state:
        common.fail("a store elsewhere needs --state DIR, where this machine keeps what it knows")
    return found


def hook(name: str, text: str, epilog: str) -> click.Command:
    """The command of a hook; ``text`` is its help."""
    options, words = OPTIONS[name]

    def callback(word: str = "", requests: Sequence[str] = (), **values: Any) -> None:
        from sssjob.systems.condor.hooks.programs import run

        pairs = []
        for request in requests:
            attribute, _, number = request.partition("=")
            if not attribute.startswith("Request") or not number.isdecimal():
                common.fail(f"--request {request}: expected RequestCpus=N or alike")
            pairs.append((attribute, number))
        sys.exit(run(name, Settings(requests=pairs, **values), [word] if word else []))

    made = click.command(name, help=text, epilog=epilog)(callback)
    if words:
        made.params.append(click.Argument(["word"], type=click.Choice(words)))
    for option in options:
        holder = option(lambda: None)
        made.params += holder.__click_params__
    return made
