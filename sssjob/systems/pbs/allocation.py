"""What PBS gave to a job on a host: of a prologue's arguments and of ``qstat -f``.

TORQUE tells its prologue the limits as the fifth argument, PBS Professional only who the job is;
both tell the epilogue what was used as the seventh. Neither can put anything into the environment
of the job from a prologue: the shell's profile does. # decision 86
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Mapping, Sequence

from sssjob import host_name
from sssjob.amounts import DERIVED, Amount
from sssjob.commands import is_name
from sssjob.errors import InvalidValue
from sssjob.features.batch.allocation import Allocation, Notes, amount, limit
from sssjob.features.batch.call import Script
from sssjob.features.used import Used
from sssjob.systems.pbs import listing, words
from sssjob.systems.pbs.node_specs import asked_count

_NODE_CPUS = re.compile(r"^\s+(?:np|resources_available\.ncpus) = ([0-9]{1,9})$", re.MULTILINE)
_NODE_JOBS = re.compile(r"^\s+jobs = (.+)$", re.MULTILINE)
_TIMES = (("wall_limit_secs", "walltime"), ("cpu_limit_secs", "cput"))
_PROCESSORS = re.compile(r"[0-9]+(?:-[0-9]+)?")


class PBSAllocation(Script):
    """A prologue or epilogue of PBS."""

    places = ("/opt/pbs/bin",)

    def questions(self) -> Mapping[str, Sequence[str]]:
        """``qstat -f``."""
        return {"job": question(self.arguments)}

    def allocation(self, answers: Mapping[str, str], *, asking: bool) -> Allocation:
        """What the job was given. Raises ``InvalidValue``."""
        return allocation(self.arguments, answers.get("job", ""), socket.gethostname())

    def node_questions(self, node: str) -> Mapping[str, Sequence[str]]:
        """``pbsnodes``."""
        return {"node": ["pbsnodes", node]} if is_name(node) else {}

    def processors(self, node: str, answers: Mapping[str, str]) -> Amount | None:
        """``np`` of TORQUE, or ``ncpus`` of PBS."""
        found = _NODE_CPUS.findall(answers.get("node", ""))
        count = int(found[0]) if len(found) == 1 else 0
        return amount(count, "pbsnodes", "processors for jobs") if count else None

    def listings(self, node: str) -> Mapping[str, Sequence[str]]:
        """``pbsnodes``."""
        return self.node_questions(node)

    def present(self, node: str, answers: Mapping[str, str]) -> frozenset[str] | None:
        """The jobs of the node's line ``jobs``."""
        return on_node(answers.get("node", ""), node)

    def used(self) -> Used | None:
        """What stands in the arguments of an epilogue."""
        found = used(self.arguments)
        return None if found == Used() else found


def on_node(printed: str, node: str) -> frozenset[str] | None:
    """The ids of the jobs that ``pbsnodes`` shows on a node; None where it shows not just that.

    TORQUE writes ``0-3/12.server``, the processors first, PBS Professional ``12.server/0``.
    """
    lines = printed.splitlines()
    if sum(bool(line) and not line[0].isspace() for line in lines) != 1 or lines[0] != node:
        return None
    found = set()
    for part in ",".join(_NODE_JOBS.findall(printed)).split(","):
        one, slash, other = part.strip().partition("/")
        if slash:
            found.add(other if _PROCESSORS.fullmatch(one) else one)
        elif one and not _PROCESSORS.fullmatch(one):  # which stand alone in 0,2-3/12.server
            return None
    return frozenset(found)


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
    notes = Notes()
    attributes = dict(_attributes(printed, notes))
    stated = dict(_list(_limits(arguments)))
    limits = {
        **stated,
        **{
            name.removeprefix("Resource_List."): value
            for name, value in attributes.items()
            if name.startswith("Resource_List.")
        },
    }
    hosts = _hosts(attributes.get("exec_host", ""), notes)
    short = host_name.short(host)
    here = hosts.get(short, 0)
    alone = len(hosts) == 1 if hosts else _is_on_one_host(limits)
    amounts = dict(_amounts(limits, bool(alone), notes))
    if here:
        amounts["allocated_cpu"] = amount(here, "qstat", "exec_host")
    elif hosts:
        notes.append(f"qstat shows nothing of what the job has on {short}")
    if not attributes:  # TORQUE tells by its arguments what was asked for, all the same
        notes.unlearned.update(key for key, name in _TIMES if name not in stated)
    user = arguments[1] if len(arguments) > 1 else ""
    return Allocation(
        job_id(arguments), short, user, amounts, alone, tuple(notes), frozenset(notes.unlearned)
    )


def used(arguments: Sequence[str]) -> Used:
    """What an epilogue is told that the job used."""
    stated = dict(_list(arguments[6])) if len(arguments) > 6 else {}
    cpu = limit(words.seconds, stated.get("cput", ""), "cput", Notes())
    memory = limit(words.size, stated.get("mem", ""), "mem", Notes())
    return Used(None if cpu is None else float(cpu), None if memory is None else int(memory))


def _limits(arguments: Sequence[str]) -> str:
    """The resources that were asked for: an epilogue is told the session before them."""
    place = 5 if len(arguments) > 6 else 4
    return arguments[place] if len(arguments) > place else ""


def _is_on_one_host(limits: Mapping[str, str]) -> bool | None:
    """Whether what was asked for is one host, by TORQUE's nodes or as PBS counts them.

    None where neither is told.
    """
    nodes = limits.get("nodes", "")
    if nodes:
        return asked_count(nodes) == 1
    return limits["nodect"] == "1" if "nodect" in limits else None


def _amounts(limits: Mapping[str, str], alone: bool, notes: Notes) -> Iterator[tuple[str, Amount]]:
    """Limits of the whole job; what several hosts share is no host's."""
    for key, name in _TIMES:
        if (seconds := limit(words.limit, limits.get(name, ""), name, notes, key)) is not None:
            yield key, amount(seconds, "Resource_List", f"{name}={limits[name]}")
    size = limit(words.size, limits.get("mem", ""), "mem", notes)
    if size is not None and alone:
        yield "max_rss_bytes", amount(size, "Resource_List", f"mem={limits['mem']}")
        whole = limit(words.size, limits.get("vmem", ""), "vmem", notes)
        if whole is not None and whole > size:
            why = f"vmem={limits['vmem']} less mem"
            yield "max_swap_bytes", Amount(whole - size, "Resource_List", DERIVED, why)
    count = limits.get("ncpus", "")
    if alone and count.isascii() and count.isdigit() and len(count) < 10 and int(count):
        yield "allocated_cpu", amount(int(count), "Resource_List", f"ncpus={count}")


def _attributes(printed: str, notes: Notes) -> Iterator[tuple[str, str]]:
    """The attributes of a job; one that stands there more than once is not known."""
    found: dict[str, list[str]] = {}
    for block in listing.in_text(printed, listing.JOB):
        for name, value in block.attributes:
            found.setdefault(name, []).append(value)
    for name, values in found.items():
        if len(values) == 1:
            yield name, values[0]
        else:
            lost = [key for key, each in _TIMES if name == f"Resource_List.{each}"]
            notes.lose(f"qstat shows {name} {len(values)} times: it is not known", *lost)


def _hosts(text: str, notes: list[str]) -> dict[str, int]:
    """Processors by host, each by its short name."""
    found: dict[str, int] = {}
    try:
        for host, count in words.hosts(text).items() if text else ():
            name = host_name.short(host)
            found[name] = found.get(name, 0) + count
    except InvalidValue as error:
        notes.append(f"exec_host: {error}")
        return {}
    return found


def _list(text: str) -> Iterator[tuple[str, str]]:
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if equals:
            yield name, value
