"""What Slurm gave to a job on a node: of the Prolog's environment and of ``scontrol show job``.

The Prolog is told who the job is, but neither its limits nor what it has on this node; these are
asked for. ``scontrol`` quotes nothing, and a job may be called ``x TimeLimit=9-00:00``: a field
that stands there more than once is in doubt, and left out. # decision 84
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from sssjob import nodes
from sssjob.amounts import Amount
from sssjob.errors import InvalidValue, LimitExceeded
from sssjob.features.batch.allocation import Allocation, amount
from sssjob.model import Property

# Times as seconds since 1970; without it they are local times without a zone.
ENVIRONMENT = {"SLURM_TIME_FORMAT": "%s"}

_SOURCE = "scontrol"
_MIB = 1 << 20
_LIMIT = re.compile(r"(?:([0-9]{1,6})-)?([0-9]{1,6}):([0-9]{1,2})(?::([0-9]{1,2}))?")
_HERE = re.compile(r"(?:^|\s)Nodes=(\S+) CPU_IDs=(\S+) Mem=([0-9]{1,15})(?=\s|$)")
_PARTS = re.compile(r"[^,\[]+(?:\[[^\]]*\][^,\[]*)?")
_IDS = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")
_NONE = ("N/A", "Unknown", "None", "(null)", "")


def question(environment: Mapping[str, str]) -> list[str]:
    """The command that tells about the job of a Prolog."""
    return ["scontrol", "-o", "-d", "show", "job", _own_id(environment)]


def allocation(environment: Mapping[str, str], printed: str = "") -> Allocation:
    """What was given, of the environment of a Prolog or Epilog and of what ``scontrol`` printed.

    Raises ``InvalidValue`` where the environment names no job.
    """
    job = _own_id(environment)
    node = environment.get("SLURMD_NODENAME", "")
    notes: list[str] = []
    amounts: dict[str, Amount] = {}
    count = environment.get("SLURM_JOB_NUM_NODES", "")
    if printed and not printed.startswith(f"JobId={job} "):
        notes.append(f"scontrol tells nothing about job {job}")
    elif printed:
        fields = _Fields(printed, notes)
        amounts = dict(_amounts(fields, node))
        count = count or fields.one("NumNodes") or "?"
    return Allocation(
        job, node, environment.get("SLURM_JOB_UID", ""), amounts, count in ("", "1"), tuple(notes)
    )  # fmt: skip


class _Fields:
    """The fields of a job, of which those that users can write are not to be trusted."""

    def __init__(self, printed: str, notes: list[str]) -> None:
        self.printed, self.notes = printed, notes

    def one(self, name: str) -> str:
        """The text of a field that stands there once, or ""."""
        found = re.findall(rf"(?:^|\s){re.escape(name)}=(\S*)", self.printed)
        if len(found) > 1:
            self.notes.append(f"scontrol shows {name} {len(found)} times: it is not known")
            return ""
        return found[0] if found and found[0] not in _NONE else ""

    def here(self, node: str) -> tuple[str, int] | None:
        """The ids of the processors on a node, and the memory in MiB; 0 is no limit."""
        found = [
            (ids, int(memory))
            for names, ids, memory in _HERE.findall(self.printed)
            if not node or any(_names(part, node) for part in _PARTS.findall(names))
        ]
        if len(found) != 1:
            what = f"{len(found)} times" if found else "nothing"
            self.notes.append(f"scontrol shows {what} of what the job has on node {node}")
            return None
        return found[0]


def _amounts(fields: _Fields, node: str) -> Iterator[tuple[str, Amount]]:
    here = fields.here(node)
    if here is not None:
        ids, memory = here
        if count := _count(ids):
            yield "allocated_cpu", amount(count, _SOURCE, f"CPU_IDs={ids}")
        if memory:
            yield "max_rss_bytes", amount(memory * _MIB, _SOURCE, f"Mem={memory} MiB on the node")
    if (start := _time(fields.one("StartTime"))) is not None:
        yield "jobstart_secs", amount(start, _SOURCE, "StartTime")
    limit = fields.one("TimeLimit")
    if (seconds := _seconds(limit)) is not None:
        yield "wall_limit_secs", amount(seconds, _SOURCE, f"TimeLimit={limit}")
    if (deadline := _time(fields.one("Deadline"))) is not None:
        yield "shutdowntime_job", amount(deadline, _SOURCE, "Deadline")


def _names(text: str, node: str) -> bool:
    """Whether a node is meant by its name, or by a range such as n[1-3,7]."""
    kind = nodes.RANGE if "[" in text else nodes.LIST
    try:
        meant = nodes.expand(Property("Node", text, {"aggregation": kind}))
    except (InvalidValue, LimitExceeded):
        return False
    return isinstance(meant, nodes.Names) and node in meant


def _own_id(environment: Mapping[str, str]) -> str:
    job = environment.get("SLURM_JOB_ID", "")
    if not (job.isascii() and job.isdigit()):
        raise InvalidValue(job, "$SLURM_JOB_ID, as Slurm sets it for a Prolog")
    return job


def _count(ids: str) -> int:
    """How many processors ``0-3,8`` are; 0 if it is no such list."""
    parts = [_IDS.fullmatch(part) for part in ids.split(",")]
    if not all(parts):
        return 0
    return sum(int(part[2] or part[1]) - int(part[1]) + 1 for part in parts if part)


def _seconds(text: str) -> int | None:
    """``[D-]HH:MM:SS`` in seconds; None for UNLIMITED and what is no time."""
    found = _LIMIT.fullmatch(text)
    if not found:
        return None
    days, first, second, third = (int(part or 0) for part in found.groups())
    if found[4] is None:
        return days * 86400 + first * (3600 if days else 60) + second * (60 if days else 1)
    return days * 86400 + first * 3600 + second * 60 + third


def _time(text: str) -> int | None:
    """Seconds since 1970, or a local time; None if there is none."""
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        return int(datetime.fromisoformat(text).timestamp()) if text else None
    except ValueError:
        return None
