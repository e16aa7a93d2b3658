"""When a machine of HTCondor has drained, and when this job has to be out of its slot.

As the ads of all slots tell it: the earliest of the machine, and the retirement or the end of the
claim of the job's own slot.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from sssjob.classads import forms
from sssjob.classads.values import Ad
from sssjob.commands import CommandFailed
from sssjob.commands import asked as answer
from sssjob.errors import InvalidValue, UnusableInput
from sssjob.features.notices import (
    JOB,
    MACHINE,
    Notice,
    Surroundings,
    Unread,
    no_new_jobs,
)
from sssjob.systems.condor import inside
from sssjob.systems.condor.slot import emptied, eviction, machine_features, shutdown

_OF_A_SLOT = ("Machine", "State", "Activity")  # what the ad of a slot always has
_STARTD = "MyAddress"  # the same in all slots of one: a machine may have several
_WITH_JOBS = ("Claimed", "Preempting")
_ENDING = {"Retiring": "retires", "Vacating": "vacates", "Killing": "is killed"}
# Of what anybody may read; a daemon that insists on more is given it, if it can be.
_AS_ANYBODY = {
    f"_CONDOR_SEC_CLIENT_{what}": "OPTIONAL"
    for what in ("AUTHENTICATION", "ENCRYPTION", "INTEGRITY")
}
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*")


def _is_of(node: str) -> str:
    """What the slots of a machine fulfil; given as a word, its name would have to be in the DNS."""
    found = f'Machine == "{node}" || Name == "{node}"'
    is_short = "." not in node and "@" not in node
    return f'{found} || regexp("^{node}[.]", Machine, "i")' if is_short else found


def read(asked: Surroundings, now: int) -> Iterator[Notice | Unread]:
    """When each slot of the machine will have drained, if it drains; the end of the own slot.

    Raises ``UnusableInput`` if HTCondor knows no such machine, ``CommandFailed``.
    """
    node = asked.node or _machine(asked.environment) or os.uname().nodename
    if not _NODE.fullmatch(node):
        raise InvalidValue(node, "the name of a machine")
    command = ["condor_status", "-long", "-constraint", _is_of(node)]
    printed = _printed(command, asked)
    slots = forms.read_text(printed)
    if not slots:
        raise UnusableInput(f"HTCondor knows no machine {node}")
    vacated = _vacated(slots, now)
    own = asked.environment.get("_CONDOR_SLOT", "")
    for slot in slots:
        if lacking := [name for name in _OF_A_SLOT if not slot.text(name)]:
            yield Unread(f"condor_status prints an ad of {node} without {' and '.join(lacking)}")
        if slot.get("Draining") is True:
            since = slot.get("LastDrainStartTime")
            known = since if type(since) is int and since > 0 else None
            yield no_new_jobs(node, "condor", slot.text("DrainReason"), known, now)
        if (end := _drained(slot, vacated, now)) is not None:
            has = "drains" if emptied(slot) is None else "has drained"
            yield Notice(MACHINE, end, "condor", f"{slot.text('Name') or node} {has}")
        if own and slot.text("Name").partition("@")[0] == own:
            job = inside.own_ad(asked.environment, inside.OF_JOB) or Ad({})
            end = shutdown(job, slot, now)
            if end is not None:
                state = _ENDING.get(slot.text("Activity"), "is claimed until then")
                yield Notice(JOB, end, "condor", f"{slot.text('Name')} {state}")


def _machine(environment: Mapping[str, str]) -> str:
    """What HTCondor calls the machine of this job, which need not be the name of its host.

    A job that a hook fetched has an empty ad of its slot; its own names the slot.
    """
    slot = inside.own_ad(environment, inside.OF_MACHINE)
    job = inside.own_ad(environment, inside.OF_JOB)
    named = "" if slot is None else slot.text("Machine")
    return named or ("" if job is None else job.text("RemoteHost").rpartition("@")[2])


def _printed(command: list[str], asked: Surroundings) -> str:
    """What HTCondor answers; without proof of who asks where that is all that it allows.

    A job has no token as a rule, and a /tmp of its own, in which it cannot prove its user to a
    daemon. # decision 579
    """
    try:
        return answer(command, asked.environment, asked.share())
    except CommandFailed as error:
        if "AUTHENTICATE" not in str(error):
            raise
    return answer(command, {**_AS_ANYBODY, **asked.environment}, asked.share())


def _vacated(slots: list[Ad], now: int) -> dict[str, int | None]:
    """The last end of the jobs of each startd; None where a slot with a job does not tell it."""
    found: dict[str, int | None] = {}
    for slot in slots:
        if slot.text("State") in _WITH_JOBS:
            startd, end = slot.text(_STARTD), eviction(slot, Ad({}), now)
            last = found.get(startd, end)
            found[startd] = None if last is None or end is None else max(last, end)
    return found


def _drained(slot: Ad, vacated: Mapping[str, int | None], now: int) -> int | None:
    """When the startd of a slot has no job any more, if it drains; stands until that is cancelled.

    The last end of its jobs, where each slot that has one tells: what HTCondor expects itself
    moves on while a job vacates, and is that of a graceful drain whatever drain was begun.
    # decision 577
    """
    if slot.get("Draining") is not True:
        return None
    if (since := emptied(slot)) is not None:
        return since
    if (last := vacated.get(slot.text(_STARTD))) is not None:
        return last
    expected = machine_features(slot).get("shutdowntime")
    return expected if isinstance(expected, int) else None
