"""The configuration of a site: which hooks HTCondor calls, and programs that it can call.

The value of a hook's variable is a path and nothing else, so that each hook is a small program
that calls the command with its options.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sssjob import atomic
from sssjob.errors import InvalidValue
from sssjob.systems.condor import names
from sssjob.systems.condor.hooks import settings
from sssjob.systems.condor.hooks.settings import HOOKS

# fmt: off
# The variable of each hook behind the keyword, and the command that serves it.
VARIABLES = (
    ("HOOK_FETCH_WORK",                  "fetch-work"),
    ("HOOK_REPLY_FETCH",                 "reply-fetch"),
    ("HOOK_EVICT_CLAIM",                 "evict-claim"),
    ("HOOK_PREPARE_JOB_BEFORE_TRANSFER", "prepare-job"),
    ("HOOK_PREPARE_JOB",                 "prepare-job"),
    ("HOOK_UPDATE_JOB_INFO",             "update-job-info"),
    ("HOOK_JOB_EXIT",                    "job-exit"),
)
# Every variable that the text names and we write; N is a slot, KEYWORD and JOB are names of a site.
KNOWN = (
    *(f"KEYWORD_{variable}" for variable, _ in VARIABLES),
    "STARTD_JOB_HOOK_KEYWORD", "SLOTN_JOB_HOOK_KEYWORD",
    "STARTER_JOB_HOOK_KEYWORD", "STARTER_DEFAULT_JOB_HOOK_KEYWORD",
    "FetchWorkDelay", "STARTER_INITIAL_UPDATE_INTERVAL", "STARTER_UPDATE_INTERVAL",
    "PREEMPT", "WANT_HOLD",  # a policy of the site, which is kept
    "STARTD_CRON_JOBLIST",
    *(f"STARTD_CRON_JOB_{end}" for end in ("EXECUTABLE", "ARGS", "MODE", "PERIOD", "JOB_LOAD")),
)
# fmt: on
# Whether a job that was fetched ran for longer than it may. The startd counts from when it was
# given the job, and asks each few seconds (POLLING_INTERVAL). The job is held rather than evicted:
# then its starter says that it ended, and not that it goes back.
TOO_LONG = f"(time() - MY.JobStart > TARGET.{names.FEATURE}wall_limit_secs) =?= True"
UPDATE = 60  # seconds between the calls of the hook that holds a job against its other limits
FETCH_DELAY = 'ifThenElse(State == "Claimed" && Activity == "Idle", 0, 300)'
CRON, PERIOD = "cron", "5m"

_KEYWORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_LONGEST = 1 << 16  # bytes of the program of a hook


@dataclass(frozen=True, slots=True)
class HookSite:
    """What a site wants: a ``keyword``, hooks in a ``directory``, for some ``slots`` or all.

    ``fetch`` is about work that slots fetch, ``every_job`` about features for jobs that come from
    a schedd, too. ``cron`` are the arguments of the cron job, None without one. ``limits`` says
    whether jobs that were fetched are ended when they are over one of their own.
    """

    keyword: str
    directory: str
    slots: tuple[int, ...] = ()
    fetch: bool = True
    every_job: bool = False
    cron: str | None = None
    limits: bool = True

    def __post_init__(self) -> None:
        if not _KEYWORD.fullmatch(self.keyword):
            raise InvalidValue(self.keyword, "a keyword: letters and digits, a letter first")
        if not os.path.isabs(self.directory):
            raise InvalidValue(self.directory, "an absolute path, as HTCondor needs it")

    def lines(self) -> Iterator[str]:
        """The lines of the configuration."""
        word = self.keyword.upper()
        yield f"# Written by: sssjob condor config --keyword {self.keyword}"
        if self.fetch:
            for slot in self.slots:
                yield f"SLOT{slot}_JOB_HOOK_KEYWORD = {word}"
            if not self.slots:
                yield f"STARTD_JOB_HOOK_KEYWORD = {word}"
        if self.every_job:
            yield f"STARTER_DEFAULT_JOB_HOOK_KEYWORD = {word}"
        for variable, hook in VARIABLES:
            if self.fetch or hook not in ("fetch-work", "reply-fetch", "evict-claim"):
                yield f"{word}_{variable} = {os.path.join(self.directory, hook)}"
        if self.fetch:
            yield f"FetchWorkDelay = {FETCH_DELAY}"
        if self.fetch and self.limits:
            ours = f"(TARGET.{names.KEY} =!= UNDEFINED && {TOO_LONG})"
            for policy in ("PREEMPT", "WANT_HOLD"):
                yield f"{policy} = ($({policy}:False)) || {ours}"
            yield f"STARTER_UPDATE_INTERVAL = {UPDATE}"
        if self.cron is not None:
            yield "STARTD_CRON_JOBLIST = $(STARTD_CRON_JOBLIST) SSSMJF"
            yield f"STARTD_CRON_SSSMJF_EXECUTABLE = {os.path.join(self.directory, CRON)}"
            yield f"STARTD_CRON_SSSMJF_ARGS = {self.cron}".rstrip()
            yield "STARTD_CRON_SSSMJF_MODE = Periodic"
            yield f"STARTD_CRON_SSSMJF_PERIOD = {PERIOD}"


def unknown(lines: Sequence[str]) -> list[str]:
    """The variables of a configuration that the text does not name."""
    found = []
    for line in lines:
        name, equals, _ = line.partition("=")
        if not equals or line.startswith("#"):
            continue
        generic = re.sub(r"^SLOT[0-9]+_", "SLOTN_", name.strip())
        generic = re.sub(r"^[A-Za-z0-9]+_(HOOK_)", r"KEYWORD_\1", generic)
        generic = re.sub(r"^STARTD_CRON_(?!JOBLIST)[A-Za-z0-9]+_", "STARTD_CRON_JOB_", generic)
        if generic not in KNOWN:
            found.append(name.strip())
    return found


def program() -> list[str]:
    """How a daemon calls our command: by the interpreter that runs now, and by its full path.

    A daemon has no search path. The interpreter looks at nothing but the directories in which
    packages are now: not at the environment of a job, and not at what an installation adds when
    any Python starts, which takes longer than a hook does.
    """
    home = os.path.dirname(os.path.abspath(atomic.__file__))
    packages = (
        os.path.dirname(home),
        *(each for each in sys.path if each.endswith("-packages")),
    )
    paths = list(dict.fromkeys(packages))
    start = f"import sys; sys.path += {paths!r}; from sssjob.__main__ import main; main()"
    return [sys.executable, "-I", "-S", "-c", start]


def wrappers(options: Sequence[str]) -> dict[str, str]:
    """The text of the program of each hook and of cron.

    ``options`` have the form ``--name=value``. Each hook is told those that it knows: prepare-job,
    which runs as the job's user, nothing of the jobs.
    """
    return {
        name: f'#!/bin/sh\nexec {shlex.join([*program(), "condor", name, *words])} "$@"\n'
        for name in (*HOOKS, CRON)
        for words in [[each for each in options if _name(each) in settings.KNOWN.get(name, ())]]
    }


def _name(option: str) -> str:
    return option.removeprefix("--").partition("=")[0]


def write(directory: str, texts: dict[str, str]) -> None:
    """Write programs that HTCondor accepts: executable, and writable by their owner only."""
    os.makedirs(directory, exist_ok=True)
    os.chmod(directory, 0o755)
    for name, text in texts.items():
        atomic.put(directory, name, text.encode(), 0o755)


def called_in(path: str) -> tuple[str, settings.HookSettings] | None:
    """Which hook the program that ``write`` made is, and with what it is called; None of others."""
    try:
        with open(path, "rb") as file:
            lines = file.read(_LONGEST).decode().splitlines()
        words = shlex.split(lines[1])
        start = words.index("condor")
        name = words[start + 1]
    except (OSError, ValueError, IndexError):
        return None
    understood = settings.given(words[start + 2 : -1])  # behind the name of the hook
    return None if understood is None else (name, understood[0])
