"""How many processors of a job of Slurm are on one node: ``3,2(x4)``, in the order of its nodes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sssjob.errors import InvalidValue
from sssjob.systems.slurm import words

if TYPE_CHECKING:
    from collections.abc import Mapping

_COUNTS = re.compile(r"([0-9]{1,6})(?:\(x([0-9]{1,6})\))?")
_MOST_NODES = 100_000  # of one job


def processors(environment: Mapping[str, str], node: str) -> int | None:
    """Those of ``$SLURM_JOB_CPUS_PER_NODE``; None where it does not say which are the node's."""
    counts: list[tuple[int, int]] = []
    for part in environment.get("SLURM_JOB_CPUS_PER_NODE", "").split(","):
        if not (found := _COUNTS.fullmatch(part)):
            return None
        counts.append((int(found[1]), int(found[2] or 1)))
    if len({each for each, _ in counts}) == 1:
        return counts[0][0]
    names = nodes(environment)
    if node not in names or sum(times for _, times in counts) != len(names):
        return None
    place = names.index(node)
    for each, times in counts:
        if place < times:
            return each
        place -= times
    raise AssertionError


def nodes(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The nodes of the job, as the environment lists them."""
    return names(environment.get("SLURM_JOB_NODELIST") or environment.get("SLURM_NODELIST", ""))


def names(text: str) -> tuple[str, ...]:
    """The nodes of a list; none where it is no list, or too long."""
    try:
        return words.expand(text, _MOST_NODES) or ()
    except InvalidValue:
        return ()
