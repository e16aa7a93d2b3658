"""What PBS gave to a job on a host: of a prologue's arguments and of ``qstat -f``.

TORQUE tells its prologue the limits as the fifth argument, PBS Professional only who the job is;
both tell the epilogue what was used as the seventh. Neither can put anything into the environment
of the job from a prologue: the shell's profile does. # decision 86
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from sssjob.amounts import Amount
from sssjob.errors import InvalidValue
from sssjob.features.batch.allocation import Allocation, amount
from sssjob.features.batch.call import Script
from sssjob.features.used import Used

_SIZE = re.compile(r"([0-9]{1,18})(b|kb|mb|gb|tb|pb|)", re.IGNORECASE)
_UNITS = {"": 1, "b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30, "tb": 2**40, "pb": 2**50}
_CLOCK = re.compile(r"(?:(?:([0-9]{1,6}):)?([0-9]{1,6}):)?([0-9]{1,18})(?:\.[0-9]*)?")
_HOST = re.compile(r"([^/*+]+)/([0-9,-]+)(?:\*([0-9]{1,6}))?")
_ATTRIBUTE = re.compile(r"    ([A-Za-z_][A-Za-z0-9_.]*) = (.*)")


class PBS(Script):
    """A prologue or epilogue of PBS."""

    def questions(self) -> Mapping[str, Sequence[str]]:
        """``qstat -f``."""
        return {"job": question(self.arguments)}

    def allocation(self, answers: Mapping[str, str], *, asking: bool) -> Allocation:
        """What the job was given. Raises ``InvalidValue``."""
        return allocation(self.arguments, answers.get("job", ""), socket.gethostname())

    def used(self) -> Used | None:
        """What stands in the arguments of an epilogue."""
        found = used(self.arguments)
        return None if found == Used() else found


def question(arguments: Sequence[str]) -> list[str]:
    """The command that tells about the job of a prologue."""
    return ["qstat", "-f", job_id(arguments)]


def job_id(arguments: Sequence[str]) -> str:
    """The id of a job, with the name of its server: the first argument."""
    if not arguments:
        raise InvalidValue(
            "", "the arguments that PBS gives to a prologue, the id of the job first"
        )
    return Allocation(arguments[0]).job_id


def allocation(arguments: Sequence[str], printed: str = "", host: str = "") -> Allocation:
    """What was given, of the arguments of a prologue and of what ``qstat -f`` printed.

    Raises ``InvalidValue`` where the arguments name no job.
    """
    notes: list[str] = []
    attributes = dict(_attributes(printed, notes))
    stated = dict(_list(arguments[4])) if len(arguments) > 4 else {}
    limits = {
        **stated,
        **{
            name.removeprefix("Resource_List."): value
            for name, value in attributes.items()
            if name.startswith("Resource_List.")
        },
    }
    hosts = _hosts(attributes.get("exec_host", ""))
    short = host.partition(".")[0]
    here = hosts.get(short, 0)
    alone = len(hosts) < 2
    amounts = dict(_amounts(limits, alone))
    if here:
        amounts["allocated_cpu"] = amount(here, "qstat", "exec_host")
    elif hosts:
        notes.append(f"qstat shows nothing of what the job has on {short}")
    user = arguments[1] if len(arguments) > 1 else ""
    return Allocation(job_id(arguments), short, user, amounts, alone, tuple(notes))


def used(arguments: Sequence[str]) -> Used:
    """What an epilogue is told that the job used."""
    stated = dict(_list(arguments[6])) if len(arguments) > 6 else {}
    cpu, memory = _seconds(stated.get("cput", "")), _size(stated.get("mem", ""))
    return Used(None if cpu is None else float(cpu), None if memory is None else int(memory))


def _amounts(limits: Mapping[str, str], alone: bool) -> Iterator[tuple[str, Amount]]:
    """Limits of the whole job; what several hosts share is no host's."""
    for key, name in (("wall_limit_secs", "walltime"), ("cpu_limit_secs", "cput")):
        if (seconds := _seconds(limits.get(name, ""))) is not None:
            yield key, amount(seconds, "Resource_List", f"{name}={limits[name]}")
    size = _size(limits.get("mem", ""))
    if size is not None and alone:
        yield "max_rss_bytes", amount(size, "Resource_List", f"mem={limits['mem']}")
    count = limits.get("ncpus", "")
    if alone and count.isascii() and count.isdigit() and int(count):
        yield "allocated_cpu", amount(int(count), "Resource_List", f"ncpus={count}")


def _attributes(printed: str, notes: list[str]) -> Iterator[tuple[str, str]]:
    """The attributes of a job; one that stands there more than once is not known."""
    found: dict[str, list[str]] = {}
    for line in printed.replace("\n\t", "").splitlines():
        if match := _ATTRIBUTE.fullmatch(line):
            found.setdefault(match[1], []).append(match[2].strip())
    for name, values in found.items():
        if len(values) == 1:
            yield name, values[0]
        else:
            notes.append(f"qstat shows {name} {len(values)} times: it is not known")


def _hosts(text: str) -> dict[str, int]:
    """Processors by host: n1/0*2+n2/0 of PBS Professional, n1/0+n1/1 or n1/0-1 of TORQUE."""
    found: dict[str, int] = {}
    for part in text.split("+"):
        if match := _HOST.fullmatch(part):
            name = match[1].partition(".")[0]
            found[name] = found.get(name, 0) + (int(match[3]) if match[3] else _count(match[2]))
    return found


def _count(text: str) -> int:
    total = 0
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdigit() and (last or first).isdigit():
            total += int(last or first) - int(first) + 1
    return total


def _list(text: str) -> Iterator[tuple[str, str]]:
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if equals:
            yield name, value


def _seconds(text: str) -> Fraction | None:
    found = _CLOCK.fullmatch(text)
    if not found:
        return None
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return Fraction(hours * 3600 + minutes * 60 + seconds)


def _size(text: str) -> Fraction | None:
    found = _SIZE.fullmatch(text)
    return None if not found else Fraction(int(found[1]) * _UNITS[found[2].lower()])
