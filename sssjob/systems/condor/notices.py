"""When a machine of HTCondor has drained, and when this job has to be out of its slot.

As the ads of all slots tell it: the earliest of the machine, and the retirement or the end of the
claim of the job's own slot.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from sssjob.classads import forms
from sssjob.classads.values import Ad
from sssjob.commands import asked as answer
from sssjob.errors import InvalidValue, UnusableInput
from sssjob.features.notices import JOB, MACHINE, Notice, Surroundings, Unread
from sssjob.systems.condor.slot import job_features, machine_features

_OF_A_SLOT = ("Machine", "State", "Activity")  # what the ad of a slot always has
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
    node = asked.node or os.uname().nodename
    if not _NODE.fullmatch(node):
        raise InvalidValue(node, "the name of a machine")
    command = ["condor_status", "-long", "-constraint", _is_of(node)]
    printed = answer(command, asked.environment, asked.seconds)
    slots = forms.read_text(printed)
    if not slots:
        raise UnusableInput(f"HTCondor knows no machine {node}")
    own = asked.environment.get("_CONDOR_SLOT", "")
    for slot in slots:
        if lacking := [name for name in _OF_A_SLOT if not slot.text(name)]:
            yield Unread(f"condor_status prints an ad of {node} without {' and '.join(lacking)}")
        moment = machine_features(slot, now).get("shutdowntime")
        if isinstance(moment, int):
            yield Notice(MACHINE, moment, "condor", f"{slot.text('Name') or node} drains")
        if own and slot.text("Name").partition("@")[0] == own:
            moment = job_features(Ad({}), slot, now).get("shutdowntime_job")
            if isinstance(moment, int):
                state = (
                    "retires" if slot.text("Activity") == "Retiring" else "is claimed until then"
                )
                yield Notice(JOB, moment, "condor", f"{slot.text('Name')} {state}")
