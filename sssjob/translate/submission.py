"""A job object as a job of a batch system: what is asked for, and the script that runs.

A range asks for its least processors and for its most of everything else, as batch systems
police it; alternatives are decided as for $JOBFEATURES. # decision 87
"""

from __future__ import annotations

import grp
import math
import os
import pwd
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from sssjob import units
from sssjob.amounts import Scope
from sssjob.errors import Finding, InvalidJob, InvalidValue, Severity, finding
from sssjob.executable import DEFAULT_SHELL, Kind, arguments, executable
from sssjob.features.derive import derive
from sssjob.model import Job, Property
from sssjob.translate.asked import Asked
from sssjob.translate.losses import IGNORE, WARN, Loss
from sssjob.translate.options import NAMED, Made, Target, carry

_MIB = 1 << 20
_COMMANDS = {"slurm": "sbatch", "gridengine": "qsub", "pbs": "qsub"}
_RELEASES = {"slurm": ("scontrol", "release"), "gridengine": ("qrls",), "pbs": ("qrls",)}
_CANCELS = {"slurm": ("scancel",), "gridengine": ("qdel",), "pbs": ("qdel",)}


@dataclass(frozen=True, slots=True)
class Submission:
    """A job as it is submitted, held: the command, the script for its standard input.

    It ``stays_held`` where the job object says that its user holds it.
    """

    system: str
    command: tuple[str, ...]
    script: str
    findings: tuple[Finding, ...] = ()
    stays_held: bool = False

    def release(self, job_id: str) -> list[str]:
        """The command that lets the job go."""
        return [*_RELEASES[self.system], job_id]

    def cancel(self, job_id: str) -> list[str]:
        """The command that takes the job back."""
        return [*_CANCELS[self.system], job_id]


@dataclass(frozen=True, slots=True)
class _Wanted:
    processors: int
    tasks: int
    nodes: int
    memory: int | None
    seconds: int | None
    scratch: int | None


def submission(job: Job, system: str, *, environment: str = "smp") -> Submission:
    """The submission of a job whose defaults are resolved; the job is held until it is released.

    ``environment`` is Grid Engine's parallel environment for jobs of several processors. What no
    option carries is judged by awarenessPolicy (9.0). Raises ``InvalidJob`` with all that must not
    be left out, and ``InvalidValue`` for a job without an executable that is a path, or whose
    request contradicts itself.
    """
    found: list[Finding] = []
    scope = Scope(job, "/Job", found.append)
    wanted = _wanted(job, scope, found)
    asked = Asked(job, scope)
    asked.amounts(*_carried(system, wanted))
    script = _script(job, asked)
    made = carry(asked, _target(system, wanted))
    words = _ASKED[system](wanted, environment, made)
    if name := _name(job, asked.one("Name"), system):
        words += [part.format(name) for part in NAMED[system].split()]
    left = [*map(_told, _lost(asked, system))]
    if any(each.severity is Severity.ERROR for each in left):
        raise InvalidJob(left)
    command = (_COMMANDS[system], *_HELD[system], *words, *made.words)
    script = "\n".join((f"#!{made.shell or DEFAULT_SHELL}", *made.lines, script + made.redirection))
    return Submission(system, command, f"{script}\n", (*found, *left), made.stays_held)


def _lost(asked: Asked, system: str) -> Iterator[Loss]:
    """What a job asks for that it would not get; facts about it are kept in its document."""
    return (loss for loss in asked.losses(system) if not loss.fact and loss.policy != IGNORE)


def _told(loss: Loss) -> Finding:
    text = f"{loss.named} is not asked of {loss.target}: {loss.reason}"
    advice = 'awarenessPolicy="Warn" submits the job without it' if loss.policy != WARN else ""
    return finding(
        "E-UNKNOWN", text, line=loss.line, path=loss.path, section="SSS 9.0",
        suggestion=advice,
        severity=Severity.WARNING if loss.policy == WARN else Severity.ERROR,
    )  # fmt: skip


def submitted_id(system: str, printed: str) -> str:
    """The id of the job in what the command printed.

    >>> submitted_id("slurm", "1234;cluster\\n")
    '1234'
    """
    return printed.strip().partition(";")[0].partition("\n")[0]


def _name(job: Job, item: Property | None, system: str) -> str:
    """The Name of a job, or that of its program; Slurm takes any, others refuse most signs."""
    text = "" if item is None else item.text
    text = text or os.path.basename(job.get("Executable").strip())
    if system == "slurm" or not text:
        return text
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", text)
    return plain if plain[:1].isalpha() else f"_{plain}"


_HELD = {"slurm": ("--parsable", "--hold"), "gridengine": ("-terse", "-h"), "pbs": ("-h",)}


def _wanted(job: Job, scope: Scope, found: list[Finding]) -> _Wanted:
    """Amounts of the whole job."""
    features = derive(job, cpu_limit=False)
    values = {name: item.value for name, item in features.derived.items()}
    found += features.findings
    scopes = [Scope(group, "/Job/TaskGroup", found.append) for group in job.task_groups]
    requests = [each for each in (scope, *scopes) if each.mentioned]
    read = all(each.chosen is not None for each in requests)  # which says what is wrong with one
    errors = [item for item in found if item.severity is Severity.ERROR]
    errors = [item for item in errors if item.code != "E-MISSING"]
    if errors or not read:
        why = errors[0].message if errors else "its request cannot be read"
        raise InvalidValue(job.id, f"a job that can be submitted: {why}")
    scopes = scopes or [scope]
    nodes = scope.nodes
    count = nodes.value if nodes else sum((s.nodes.value for s in scopes if s.nodes), Fraction(0))
    return _Wanted(
        _number(values.get("allocated_cpu")) or 1,
        math.ceil(sum((scope.tasks.value for scope in scopes), Fraction(0))) or 1,
        math.ceil(count),
        _number(values.get("max_rss_bytes")),
        _number(values.get("wall_limit_secs")),
        _number(values.get("scratch_limit_bytes")),
    )


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _tasks(wanted: _Wanted) -> tuple[int, int]:
    """How many tasks Slurm is asked for, and processors of each."""
    each, rest = divmod(wanted.processors, wanted.tasks)
    return (wanted.processors, 1) if rest else (wanted.tasks, each)


def _slurm(wanted: _Wanted, environment: str, made: Made) -> list[str]:
    """Memory and scratch space are of one node."""
    tasks, each = _tasks(wanted)
    words = [f"--ntasks={tasks}", f"--cpus-per-task={each}"]
    words += [f"--nodes={wanted.nodes}"] if wanted.nodes else []
    nodes = max(wanted.nodes, 1)
    if wanted.memory:
        words.append(f"--mem={math.ceil(Fraction(wanted.memory, _MIB * nodes))}M")
    if wanted.scratch:
        words.append(f"--tmp={math.ceil(Fraction(wanted.scratch, _MIB * nodes))}M")
    if wanted.seconds:
        words.append(f"--time={math.ceil(Fraction(wanted.seconds, 60))}")  # minutes
    return words


def _gridengine(wanted: _Wanted, environment: str, made: Made) -> list[str]:
    """A slot is a processor, and memory is of one slot."""
    words = ["-S", made.shell or DEFAULT_SHELL]
    if wanted.processors > 1:
        words += ["-pe", environment, str(wanted.processors)]
    limits = [f"h_rt={wanted.seconds}"] if wanted.seconds else []
    if wanted.memory:
        limits.append(f"h_vmem={math.ceil(Fraction(wanted.memory, wanted.processors))}")
    limits += made.limits
    return [*words, "-l", ",".join(limits)] if limits else words


def _pbs(wanted: _Wanted, environment: str, made: Made) -> list[str]:
    """PBS starts the login shell of the user, unless it is told what reads the script."""
    nodes = max(wanted.nodes, 1)
    words = [f"nodes={nodes}:ppn={math.ceil(Fraction(wanted.processors, nodes))}"]
    words += [f"mem={wanted.memory}b"] if wanted.memory else []
    words += [f"walltime={units.clock(wanted.seconds)}"] if wanted.seconds else []
    words += made.limits
    shell = made.shell or (DEFAULT_SHELL if made.lines or made.redirection else "")
    return ["-l", ",".join(words), *(("-S", shell) if shell else ())]


_ASKED: dict[str, Callable[[_Wanted, str, Made], list[str]]] = {
    "slurm": _slurm,
    "gridengine": _gridengine,
    "pbs": _pbs,
}


def _script(job: Job, asked: Asked) -> str:
    """The line of the script that becomes the job."""
    asked.one("Executable")
    asked.one("Arguments")
    named = executable(job.get("Executable"), job.get("InitialWorkingDirectory"))
    if named.kind is not Kind.PATH:
        raise InvalidValue(named.target, "an executable that is a path on the nodes")
    target = job.get("Executable").strip()
    return f"exec {shlex.join([target, *arguments(job.get('Arguments'))])}"


def _carried(system: str, wanted: _Wanted) -> tuple[frozenset[str], frozenset[str]]:
    """The amounts of a job and of its task groups that are asked for."""
    names = {"Processors", "Memory", "TaskCount", "NodeCount"}
    if system == "gridengine" and (wanted.nodes, wanted.processors) != (1, 1):
        names.discard("NodeCount")  # a parallel environment decides about nodes
    if system == "slurm":
        names.add("Disk")
    if wanted.processors % wanted.tasks:
        names.discard("TaskCount")  # so many tasks do not share the processors evenly
    return frozenset((*names, "Duration")), frozenset(names)


def _target(system: str, wanted: _Wanted) -> Target:
    """Where the job goes; a user or a group without a name is called by its number."""
    user, group = str(os.geteuid()), str(os.getegid())
    with suppress(KeyError):
        user = pwd.getpwuid(os.geteuid()).pw_name
    with suppress(KeyError):
        group = grp.getgrgid(os.getegid()).gr_name
    return Target(system, user, group, wanted.nodes, _tasks(wanted)[1])
