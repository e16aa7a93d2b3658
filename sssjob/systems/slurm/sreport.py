"""What ``sreport --parsable2`` states of clusters: processor seconds that were used in a span."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from sssjob.accounting.audit import SystemStatement
from sssjob.errors import InvalidValue, UnusableInput
from sssjob.integers import whole
from sssjob.records.clock import Clock
from sssjob.systems.slurm.unset import NO_VALUE

_TITLE = re.compile(
    r"(Cluster/Account/User|Cluster) Utilization (\S+) - (\S+)(?: \([0-9]+ secs\))?", re.ASCII
)
_UNIT = re.compile(r"Usage reported in (?:CPU|TRES) (Seconds|Minutes|Hours)")
_SECONDS = {"Seconds": 1, "Minutes": 60, "Hours": 3600}
_RULE = "-----"
_ROOT = "root"  # the account that all others are below


def recognises(head: bytes) -> bool:
    """Whether text that begins so was printed by sreport."""
    text = head.decode("utf-8", "replace")
    return text.startswith(_RULE) and "Utilization " in text[:400]


def read(source: str, text: str, zone: str = "") -> Iterator[SystemStatement]:
    """What was used on each cluster. Raises ``UnusableInput`` for what is no such output."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(_RULE)]
    title = _TITLE.match(lines[0]) if lines else None
    unit = _UNIT.match(lines[1]) if len(lines) > 1 else None
    if title is None or unit is None or len(lines) < 3 or "|" not in lines[2]:
        raise UnusableInput(
            "not what sreport --parsable2 -t Seconds prints of 'cluster Utilization' or "
            "'cluster AccountUtilizationByUser'"
        )
    clock = Clock(zone, NO_VALUE)
    try:
        since, last = clock.read(title[2]), clock.read(title[3])
    except InvalidValue as error:
        raise UnusableInput(str(error)) from error
    if not since or not last:
        raise UnusableInput(f"no span of time: {lines[0]}")
    names = lines[2].split("|")
    used: dict[str, int] = defaultdict(int)
    for line in lines[3:]:
        row = dict(zip(names, line.split("|"), strict=False))
        amount = row.get("Allocated", row.get("Used", ""))
        if not _counts(row):
            continue
        if (number := whole(amount)) is None:
            raise UnusableInput(f"not a whole number of seconds, minutes or hours: {line}")
        used[row.get("Cluster", "")] += number
    scale = _SECONDS[unit[1]]
    for cluster, total in used.items():
        yield SystemStatement(
            source, int(since), int(last) + 1, processor_seconds=total * scale, machine=cluster,
            exact_to=scale,
        )  # fmt: skip


def _counts(row: dict[str, str]) -> bool:
    """Whether a row is about a whole cluster: that of the account above all others."""
    is_whole = "Account" not in row or (row["Account"] == _ROOT and not row.get("Login"))
    return is_whole and row.get("TRES Name", "cpu") == "cpu"
