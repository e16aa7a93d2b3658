"""A job object as a job of a batch system: what is asked for, and the script that runs.

A range asks for its least processors and for its most of everything else, as batch systems
police it; alternatives are decided as for $JOBFEATURES. # decision 87
"""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sssjob import units
from sssjob.amounts import Scope
from sssjob.errors import Finding, InvalidValue, Severity
from sssjob.executable import Kind, arguments, executable
from sssjob.features.derive import derive
from sssjob.model import Job

_MIB = 1 << 20
_COMMANDS = {"slurm": "sbatch", "gridengine": "qsub", "pbs": "qsub"}
_RELEASES = {"slurm": ("scontrol", "release"), "gridengine": ("qrls",), "pbs": ("qrls",)}
_CANCELS = {"slurm": ("scancel",), "gridengine": ("qdel",), "pbs": ("qdel",)}

# fmt: off
# The option for each text of a job, by system.
_TEXTS = {
    "slurm":      {"Name": "--job-name={}", "Project": "--account={}", "Queue": "--partition={}",
                   "InitialWorkingDirectory": "--chdir={}"},
    "gridengine": {"Name": "-N {}", "Project": "-P {}", "Queue": "-q {}",
                   "InitialWorkingDirectory": "-wd {}"},
    "pbs":        {"Name": "-N {}", "Project": "-A {}", "Queue": "-q {}"},
}
_STREAMS = {
    "slurm":      {"InputFile": "--input={}", "OutputFile": "--output={}",
                   "ErrorFile": "--error={}"},
    "gridengine": {"InputFile": "-i {}", "OutputFile": "-o {}", "ErrorFile": "-e {}"},
    "pbs":        {"OutputFile": "-o {}", "ErrorFile": "-e {}"},
}
# fmt: on


@dataclass(frozen=True, slots=True)
class Submission:
    """A job as it is submitted, held: the command, the script for its standard input."""

    system: str
    command: tuple[str, ...]
    script: str
    findings: tuple[Finding, ...] = ()

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

    ``environment`` is Grid Engine's parallel environment for jobs of several processors. Raises
    ``InvalidValue`` for a job without an executable that is a path, or whose request contradicts
    itself.
    """
    found: list[Finding] = []
    wanted = _wanted(job, found)
    words = _ASKED[system](wanted, environment)
    texts = {"Name": _name(job, system)}
    for name, option in {**_TEXTS[system], **_STREAMS[system]}.items():
        if text := texts.get(name) or job.get(name):
            words += [part.format(text) for part in option.split()]
    if job.get("OutputFile") and not job.get("ErrorFile"):
        words += _TOGETHER[system]
    command = (_COMMANDS[system], *_HELD[system], *words)
    return Submission(system, command, _script(job), tuple(found))


def submitted_id(system: str, printed: str) -> str:
    """The id of the job in what the command printed.

    >>> submitted_id("slurm", "1234;cluster\\n")
    '1234'
    """
    return printed.strip().partition(";")[0].partition("\n")[0]


def _name(job: Job, system: str) -> str:
    """The Name of a job, or that of its program; Slurm takes any, others refuse most signs."""
    text = job.get("Name") or os.path.basename(job.get("Executable").strip())
    if system == "slurm" or not text:
        return text
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", text)
    return plain if plain[:1].isalpha() else f"_{plain}"


_HELD = {"slurm": ("--parsable", "--hold"), "gridengine": ("-terse", "-h"), "pbs": ("-h",)}


# Standard error goes where the output goes, as Slurm has it without being told.
_TOGETHER: dict[str, tuple[str, ...]] = {
    "slurm": (), "gridengine": ("-j", "y"), "pbs": ("-j", "oe"),
}  # fmt: skip


def _wanted(job: Job, found: list[Finding]) -> _Wanted:
    """Amounts of the whole job."""
    features = derive(job, cpu_limit=False)
    values = {name: item.value for name, item in features.derived.items()}
    found += features.findings
    errors = [item for item in features.findings if item.severity is Severity.ERROR]
    if errors := [item for item in errors if item.code != "E-MISSING"]:
        raise InvalidValue(job.id, f"a job that can be submitted: {errors[0].message}")
    scopes = [Scope(group, "/Job/TaskGroup", found.append) for group in job.task_groups]
    scopes = scopes or [Scope(job, "/Job", found.append)]
    nodes = Scope(job, "/Job", found.append).nodes
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


def _slurm(wanted: _Wanted, environment: str) -> list[str]:
    """Memory and scratch space are of one node."""
    each, rest = divmod(wanted.processors, wanted.tasks)
    tasks, each = (wanted.processors, 1) if rest else (wanted.tasks, each)
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


def _gridengine(wanted: _Wanted, environment: str) -> list[str]:
    """A slot is a processor, and memory is of one slot."""
    words = ["-S", "/bin/sh"]
    if wanted.processors > 1:
        words += ["-pe", environment, str(wanted.processors)]
    limits = [f"h_rt={wanted.seconds}"] if wanted.seconds else []
    if wanted.memory:
        limits.append(f"h_vmem={math.ceil(Fraction(wanted.memory, wanted.processors))}")
    return [*words, "-l", ",".join(limits)] if limits else words


def _pbs(wanted: _Wanted, environment: str) -> list[str]:
    nodes = max(wanted.nodes, 1)
    words = [f"nodes={nodes}:ppn={math.ceil(Fraction(wanted.processors, nodes))}"]
    words += [f"mem={wanted.memory}b"] if wanted.memory else []
    words += [f"walltime={units.clock(wanted.seconds)}"] if wanted.seconds else []
    return ["-l", ",".join(words)]


_ASKED: dict[str, Callable[[_Wanted, str], list[str]]] = {
    "slurm": _slurm,
    "gridengine": _gridengine,
    "pbs": _pbs,
}


def _script(job: Job) -> str:
    named = executable(job.get("Executable"), job.get("InitialWorkingDirectory"))
    if named.kind is not Kind.PATH:
        raise InvalidValue(named.target, "an executable that is a path on the nodes")
    target = job.get("Executable").strip()
    words = shlex.join([target, *arguments(job.get("Arguments"))])
    return f"#!/bin/sh\nexec {words}\n"
