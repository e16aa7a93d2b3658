"""What LSF gave to a job on a host: of the environment of its HOST_PRE_EXEC, and of ``bjobs``.

A limit of elapsed time is in minutes, of a host that it names, or of any: on a host of another
speed it is another one, which nobody says. A limit of memory is that of the job or of each of its
processes, by how the site configured LSF. # decision 560
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial

from sssjob import host_name
from sssjob.amounts import MINIMUM, Amount
from sssjob.commands import is_name
from sssjob.errors import InvalidValue
from sssjob.features.batch.allocation import Allocation, Notes, amount, limit, told
from sssjob.features.batch.call import Script
from sssjob.features.said import whole
from sssjob.integers import limit_seconds
from sssjob.systems.lsf import inside, words

_FIELDS = "jobid jobindex user exec_host runtimelimit memlimit"
_RUN_LIMIT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(?:/([A-Za-z0-9._-]{1,255}))?")
_MEMORY = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?) ?([KMGT])(?:B|bytes)?", re.IGNORECASE)
_HOST = re.compile(r"(?:([0-9]{1,6})\*)?([A-Za-z0-9._-]{1,255})")


class LSFAllocation(Script):
    """A HOST_PRE_EXEC or HOST_POST_EXEC of LSF. What a job used stands in no variable then."""

    def questions(self) -> Mapping[str, Sequence[str]]:
        """``bjobs``."""
        return {"job": ["bjobs", "-X", "-o", _FIELDS, "-json", _own_id(self.environment)]}

    def allocation(self, answers: Mapping[str, str], *, asking: bool) -> Allocation:
        """What the job was given. Raises ``InvalidValue``."""
        return allocation(self.environment, answers.get("job", ""), socket.gethostname())

    def node_questions(self, node: str) -> Mapping[str, Sequence[str]]:
        """``bhosts``."""
        ask = ["bhosts", "-o", "host_name max", "-json", node]
        return {"host": ask} if is_name(node) else {}

    def processors(self, node: str, answers: Mapping[str, str]) -> Amount | None:
        """MAX: the slots of the host. Where it has no number of them, nobody says it."""
        rows = [
            row
            for row in _rows(answers.get("host", ""), "bhosts", []) or ()
            if host_name.short(row.get("HOST_NAME", "")) == host_name.short(node)
        ]
        count = whole(rows[0].get("MAX", "")) if len(rows) == 1 else None
        return amount(count, "bhosts", "MAX") if count else None

    def listings(self, node: str) -> Mapping[str, Sequence[str]]:
        """``bjobs`` for the host, with jobs that ended lately: their HOST_POST_EXEC may run."""
        of_all = ["-u", "all", "-a", "-m", node]
        ask = ["bjobs", *of_all, "-o", "jobid jobindex", "-json"]
        return {"jobs": ask} if is_name(node) else {}

    def present(self, node: str, answers: Mapping[str, str]) -> frozenset[str] | None:
        """Each element of an array on its own."""
        rows = _rows(answers.get("jobs", ""), "bjobs", [])
        if rows is None or not all(whole(row.get("JOBID", "")) for row in rows):
            return None
        return frozenset(map(_id, rows))


def allocation(environment: Mapping[str, str], printed: str = "", host: str = "") -> Allocation:
    """What was given, of the environment and of what ``bjobs -json`` printed.

    Raises ``InvalidValue`` where the environment names no job.
    """
    job = _own_id(environment)
    notes = Notes()
    rows = _rows(printed, "bjobs", notes) or []
    row = rows[0] if len(rows) == 1 and _id(rows[0]) == job else {}
    if "RUNTIMELIMIT" not in row:
        notes.unlearned.add("wall_limit_secs")
    if rows and not row:
        notes.append(f"bjobs tells nothing about job {job} alone")
    here = host_name.short(host)
    told = inside.counts(environment)
    if told is None:
        notes.append("$LSB_MCPU_HOSTS holds no hosts with their slots")
    shown = _hosts(row.get("EXEC_HOST", ""), notes)
    hosts = told or shown
    alone = len(hosts) == 1 if hosts else None
    amounts = dict(_limits(row, here, bool(alone), notes))
    said = {
        source: count
        for source, hosts in (("$LSB_MCPU_HOSTS", told or {}), ("bjobs EXEC_HOST", shown))
        if (count := inside.slots(hosts, host))
    }
    if said:
        source = min(said, key=lambda each: said[each])
        amounts["allocated_cpu"] = amount(said[source], source)
    if len(set(said.values())) > 1:
        each = ", ".join(f"{count} by {source}" for source, count in said.items())
        notes.append(f"allocated_cpu is {each}: the least counts")
    return Allocation(
        job, here, row.get("USER", ""), amounts, alone, tuple(notes), frozenset(notes.unlearned)
    )  # fmt: skip


def run_limit(text: str, host: str) -> int | None:
    """RUNTIMELIMIT in seconds; None where there is none.

    Raises ``InvalidValue`` where it counts on a host of another speed.

    >>> run_limit("1440.0", "n1"), run_limit("3.0/n1", "n1"), run_limit("-", "n1")
    (86400, 180, None)
    """
    if text == "-":
        return None
    if not (found := _RUN_LIMIT.fullmatch(text)):
        raise InvalidValue(text, "minutes such as 60.0 or 60.0/HOST")
    if found[2] and host_name.short(found[2]) != host:
        raise InvalidValue(text, f"minutes of {host}: on another host they are others")
    return limit_seconds(Fraction(found[1]) * 60) or None


def memory(text: str) -> int | None:
    """MEMLIMIT in bytes; None where there is none.

    >>> memory("4 G"), memory("512 Mbytes"), memory("-")
    (4294967296, 536870912, None)
    """
    if text == "-":
        return None
    if not (found := _MEMORY.fullmatch(text)):
        raise InvalidValue(text, "a size such as 4 G")
    return int(Fraction(found[1]) * words.size(f"1{found[2]}"))


def _limits(
    row: Mapping[str, str], here: str, alone: bool, notes: Notes
) -> Iterator[tuple[str, Amount]]:
    """Limits of the whole job; what several hosts share is no host's."""
    stated = row.get("RUNTIMELIMIT", "")
    read = partial(run_limit, host=here)
    seconds = limit(read, stated, "RUNTIMELIMIT", notes, "wall_limit_secs")
    if seconds is not None:
        yield "wall_limit_secs", amount(seconds, "bjobs", f"RUNTIMELIMIT={stated}")
    stated = row.get("MEMLIMIT", "")
    size = limit(memory, stated, "MEMLIMIT", notes)
    if size and alone:
        why = f"MEMLIMIT={stated}, of the job or of each of its processes"
        yield "max_rss_bytes", Amount(size, "bjobs", MINIMUM, why)


def _hosts(shown: str, notes: list[str]) -> dict[str, int]:
    """Slots by host, of ``4*n1:n2:n2``."""
    found: dict[str, int] = {}
    for part in shown.split(":") if shown not in ("", "-") else ():
        if not (each := _HOST.fullmatch(part)):
            notes.append(f"EXEC_HOST: {InvalidValue(shown[:200], 'hosts such as 4*n1:n2')}")
            return {}
        found[each[2]] = found.get(each[2], 0) + int(each[1] or 1)
    return found


def _rows(printed: str, command: str, notes: list[str]) -> list[dict[str, str]] | None:
    """The records of a command's JSON, as far as they are texts; None where it has none."""
    form = told(printed, command, notes)
    rows = form.get("RECORDS") if isinstance(form, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return None
    return [
        {name: value.strip() for name, value in row.items() if isinstance(value, str)}
        for row in rows
    ]


def _id(row: Mapping[str, str]) -> str:
    """The id of the job of a record, by the rule of its environment."""
    names = {"LSB_JOBID": row.get("JOBID", ""), "LSB_JOBINDEX": row.get("JOBINDEX", "")}
    return inside.job_id(names)


def _own_id(environment: Mapping[str, str]) -> str:
    job = environment.get("LSB_JOBID", "")
    if not (job.isascii() and job.isdigit()):
        raise InvalidValue(job, "$LSB_JOBID, as LSF sets it for a HOST_PRE_EXEC")
    return inside.job_id(environment)
