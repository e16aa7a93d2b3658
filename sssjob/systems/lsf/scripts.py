"""The scripts of LSF: HOST_PRE_EXEC and HOST_POST_EXEC of a queue, and its JOB_STARTER."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sssjob.features.batch.directories import VARIABLES
from sssjob.features.batch.scripts import (
    ConfigFile,
    Installation,
    LiveSetting,
    QueuePrograms,
    Scripts,
    becoming,
    exports,
)

_QUEUE = re.compile(r"^QUEUE: +(\S+)$", re.MULTILINE)
_PROFILE = re.compile(r"^APPLICATION NAME: +(\S+)", re.MULTILINE)
_SCRIPTS = {"HOST_PRE_EXEC": "prolog", "HOST_POST_EXEC": "epilog", "JOB_STARTER": "starter"}
_LINE = re.compile(rf"^({'|'.join(_SCRIPTS)}): *(.*?) *$", re.MULTILINE)
_PROGRAM = re.compile(r"(/[A-Za-z0-9._/+-]+)")
_SUDOERS = "LSB_PRE_POST_EXEC_USER"


class LSFScripts(Scripts):
    """They run as root on each host of a job; the starter as the user, on the first.

    The variables of the user's environment are theirs, too: ``$LSF_ENVDIR`` is not handed on, by
    which a user could have root read another lsf.conf. # decision 560
    """

    command = "bjobs"
    handed = ("LSB_JOBID", "LSB_JOBINDEX", "LSB_MCPU_HOSTS")
    job = (
        "job=$LSB_JOBID\n"
        '[ "${LSB_JOBINDEX:-0}" = 0 ] || job="$job[$LSB_JOBINDEX]"\n'
    )  # fmt: skip
    prolog = ("prolog", "LSF HOST_PRE_EXEC")
    epilog = ("epilog", "LSF HOST_POST_EXEC")

    def more(self, at: Installation) -> dict[str, str]:
        """The JOB_STARTER: a HOST_PRE_EXEC cannot change the environment of a job."""
        text = (
            f"{at.head('LSF JOB_STARTER', 'tells the job')}{self.job}"
            "# bsub hands on the environment that it is called in, maybe that of another job.\n"
            f"unset {' '.join(VARIABLES)}\n"
            f"{exports('', at.root_word(), '$job')}"
            f"{becoming('/bin/sh')}"
        )
        return {"starter": text}

    def configuration(self, at: Installation) -> Iterator[str]:
        """The lines of a queue, and of lsf.sudoers."""
        yield "# lsb.queues, for each queue; then: badmin reconfig"
        yield f"HOST_PRE_EXEC = {at.place('prolog')}"
        yield f"HOST_POST_EXEC = {at.place('epilog')}"
        yield f"JOB_STARTER = {_starter(at)}"
        yield "# /etc/lsf.sudoers on every host, root's, mode 600; then: badmin hrestart all"
        yield f"{_SUDOERS}=root"
        yield "# lsf.conf has to be found in /etc there: what a user can set is not handed on"

    def live(self) -> Mapping[str, Sequence[str]]:
        """``bqueues -l`` of every queue, and ``bapp -l`` of every application profile."""
        return {"queues": ["bqueues", "-l"], "profiles": ["bapp", "-l"]}

    def files(self) -> Mapping[str, ConfigFile]:
        """``lsf.sudoers``, which LSF reads only if nobody but root can."""
        return {"sudoers": ConfigFile("/etc/lsf.sudoers", 0o400, 0o077)}

    def settings(self, at: Installation, answers: Mapping[str, str]) -> list[LiveSetting]:
        """The programs of each queue, and as whom they run. A starter cannot call another one.

        The starter of an application profile takes the place of that of its queues.
        """
        rows = []
        for queue, said in _parts(_QUEUE, answers.get("queues", "")):
            rows += [(queue, name, said.get(name, "")) for name in _SCRIPTS]
        if rows:
            rows += [
                (f"profile {profile}", "JOB_STARTER", starter)
                for profile, said in _parts(_PROFILE, answers.get("profiles", ""))
                if (starter := said.get("JOB_STARTER", ""))
            ]
        wanted = {name: at.place(script) for name, script in _SCRIPTS.items()}
        wanted["JOB_STARTER"] = _starter(at)
        rules = QueuePrograms(wanted, _SCRIPTS, _PROGRAM, "it has arguments")
        found = [_by_hand(each) for each in rules.settings(rows)]
        pairs = (line.partition("=") for line in answers.get("sudoers", "").splitlines())
        said = {name.strip(): value.strip() for name, _, value in pairs}
        return [*found, LiveSetting(_SUDOERS, said.get(_SUDOERS, ""), "root")] if found else []


def _parts(head: re.Pattern[str], printed: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The name that each part of a listing has in its head, and the programs that it says."""
    parts = head.split(printed)
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        yield name, {key: value.strip() for key, value in _LINE.findall(text)}


def _starter(at: Installation) -> str:
    return f'{at.place("starter")} "%USRCMD"'


def _by_hand(found: LiveSetting) -> LiveSetting:
    """A starter of the site runs the job itself: ours cannot call it first."""
    if found.script != "starter" or not found.own:
        return found
    return replace(found, own="", trouble="there is one already: merge it by hand")
