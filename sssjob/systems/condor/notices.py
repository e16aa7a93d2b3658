"""When a machine of HTCondor has drained: as the ads of its slots tell it, the earliest of all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from sssjob.classads import forms
from sssjob.commands import asked as answer
from sssjob.errors import InvalidValue, UnusableInput
from sssjob.features.notices import MACHINE, Notice, Surroundings
from sssjob.systems.condor.slot import machine_features

_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*")


def read(asked: Surroundings, now: int) -> Iterator[Notice]:
    """When each slot of the machine will have drained, if it drains.

    Raises ``UnusableInput`` if HTCondor knows no such machine, ``CommandFailed``.
    """
    node = asked.node or os.uname().nodename
    if not _NODE.fullmatch(node):
        raise InvalidValue(node, "the name of a machine")
    printed = answer(["condor_status", "-long", node], asked.environment, asked.seconds)
    slots = forms.read_text(printed)
    if not slots:
        raise UnusableInput(f"HTCondor knows no machine {node}")
    for slot in slots:
        moment = machine_features(slot, now).get("shutdowntime")
        if isinstance(moment, int):
            yield Notice(MACHINE, moment, "condor", f"{slot.text('Name') or node} drains")
