"""The scripts that a batch system calls, and the lines of its configuration that name them.

A script never fails, however it goes: a Prolog of Slurm that fails drains the node, one of Grid
Engine stops the queue. It hands on only the variables that are needed, because some systems give
a prolog the environment of the job's user. # decision 85
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sssjob import atomic, handles
from sssjob.errors import InvalidValue

# fmt: off
# The variables of each system that its scripts hand on.
_HANDED = {
    "slurm":      ("SLURM_CONF", "SLURM_CLUSTER_NAME", "SLURMD_NODENAME", "SLURM_JOB_ID",
                   "SLURM_JOB_UID", "SLURM_JOB_NUM_NODES", "SLURM_JOB_NODELIST", "SLURM_NODELIST",
                   "SLURM_JOB_CPUS_PER_NODE", "SLURM_JOB_START_TIME", "SLURM_JOB_END_TIME",
                   "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_HET_JOB_ID",
                   "SLURM_HET_JOB_OFFSET"),
    "gridengine": ("SGE_ROOT", "SGE_CELL", "SGE_QMASTER_PORT", "SGE_EXECD_PORT",
                   "SGE_JOB_SPOOL_DIR", "SGE_TASK_ID", "JOB_ID", "NSLOTS", "NHOSTS", "QUEUE",
                   "HOSTNAME"),
    "pbs":        ("PBS_SERVER", "PBS_CONF_FILE"),
}
_NODE = {"slurm": '"$SLURMD_NODENAME"', "gridengine": '"$(uname -n)"', "pbs": '"$(uname -n)"'}
# fmt: on
_NAMES = {
    "slurm": ("Slurm Prolog", "Slurm Epilog"),
    "gridengine": ("prolog of a Grid Engine queue", "epilog of a Grid Engine queue"),
    "pbs": ("PBS prologue", "PBS epilogue"),
}
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
VARIABLES = {
    "JOBFEATURES": "jobfeatures",
    "MACHINEFEATURES": "machinefeatures",
    "JOBSTATUS": "jobstatus",
}


@dataclass(frozen=True, slots=True)
class Installation:
    """What a site installs: scripts of a ``system`` in a ``directory``.

    ``program`` is how our command is called. ``root`` is where the directories of jobs are; %n in
    it is the name of the node. ``options`` go to the prolog, ``jobs`` to both: the directory of
    documents. ``path`` is where commands of the system are looked for before the usual directories.
    ``seconds`` is the most that a script may take, ``log`` where it says what is wrong.
    """

    system: str
    directory: str
    program: Sequence[str]
    root: str = "/run/mjf"
    jobs: str = ""
    options: Sequence[str] = ()
    path: str = ""
    seconds: int = 30
    log: str = "/var/log/sssjob-features.log"

    def __post_init__(self) -> None:
        for path in filter(None, (self.directory, self.root, self.jobs, self.path, self.log)):
            if not os.path.isabs(path) or "\n" in path:
                raise InvalidValue(path, "an absolute path, as a daemon needs it")

    def check(self) -> None:
        """Raise ``Unprotected`` where others could lead root elsewhere, as far as it is here."""
        before, node, _ = self.root.partition("%n")
        handles.check(os.path.dirname(before) if node else self.root)
        if self.jobs:
            handles.check(self.jobs)

    def scripts(self) -> dict[str, str]:
        """The text of each script, by its file name."""
        before, after = _NAMES[self.system]
        suffix = "ue" if self.system == "pbs" else ""
        found = {
            f"prolog{suffix}": self._script(before, "makes", "prolog"),
            f"epilog{suffix}": self._script(after, "takes away", "epilog"),
        }
        if self.system == "slurm":
            found["taskprolog"] = self._task_prolog()
        elif self.system == "gridengine":
            found["starter"] = self._starter()
        else:
            found["profile.sh"] = self._profile()
        return found

    def configuration(self) -> Iterator[str]:
        """The lines that name the scripts, and where they belong."""
        at = Path(self.directory)
        match self.system:
            case "slurm":
                yield "# slurm.conf, on every node; then: scontrol reconfigure"
                yield f"Prolog={at / 'prolog'}"
                yield f"TaskProlog={at / 'taskprolog'}"
                yield f"Epilog={at / 'epilog'}"
                yield "PrologFlags=Alloc"
            case "gridengine":
                yield "# qconf -mq QUEUE, for queues of batch jobs, not where qrsh and qlogin run:"
                yield "# 8.1.9 may end a prolog there before it is done, and close the queue."
                yield f"prolog                root@{at / 'prolog'}"
                yield f"epilog                root@{at / 'epilog'}"
                yield "# Where nothing may run as root, instead of both:"
                yield f"# starter_method        {at / 'starter'}"
            case _:
                yield "# As root, on every node that runs jobs; PBS wants the files to be root's:"
                yield f"install -m 500 {at / 'prologue'} $PBS_HOME/mom_priv/prologue"
                yield f"install -m 500 {at / 'epilogue'} $PBS_HOME/mom_priv/epilogue"
                yield f"install -m 644 {at / 'profile.sh'} /etc/profile.d/sssjob-features.sh"
        if self.jobs:
            yield "# crontab, where accounting records are: they are complete some seconds later"
            yield f"* * * * *  {shlex.join(self._collect())}"

    def _collect(self) -> list[str]:
        words = [*self.program, "features", "collect", "--for", self.system, "--jobs", self.jobs]
        return words if self.system == "slurm" else [*words, "--record", "FILE"]

    def _script(self, name: str, what: str, command: str) -> str:
        return (
            f"{self._head(name, what)}"
            "# Whatever happens, the job must not suffer: this ends with 0, and in time.\n"
            f"PATH={shlex.quote(':'.join(filter(None, (self.path, PATH))))}\n"
            f"log={shlex.quote(self.log)}\n"
            '(: >>"$log") 2>/dev/null || log=/dev/null\n'
            f'{self._call(command, self._root())} >>"$log" 2>&1 </dev/null\n'
            "exit 0\n"
        )

    def _task_prolog(self) -> str:
        lines = "".join(
            f'[ -d "{place}" ] && echo "export {variable}={place}" || echo "unset {variable}"\n'
            for variable, place in _places("$mjf", "$job")
        )
        return (
            f"{self._head('Slurm TaskProlog', 'tells every task')}"
            "# What it prints goes into the environment of the task, which else is that of the\n"
            "# node on which srun was called.\n"
            f"mjf={self._root()} here= group=0\n"
            "# All tasks of a heterogeneous job have the id of its first component.\n"
            'while eval "id=\\$SLURM_JOB_ID_HET_GROUP_$group"; [ -n "$id" ]; do\n'
            '    [ -d "$mjf/$id" ] && here=${here:+$here+}$id\n'
            "    group=$((group + 1))\n"
            "done\n"
            "job=${here:-$SLURM_JOB_ID}\n"
            f"{lines}"
            "exit 0\n"
        )

    def _profile(self) -> str:
        head = self._head("/etc/profile.d", "tells the shell").partition("\n")[2]
        lines = _lines("    ", self._root(), "$PBS_JOBID")
        return f'{head}if [ -n "$PBS_JOBID" ]; then\n{lines}    unset mjf\nfi\n'

    def _starter(self) -> str:
        call = self._call("prolog", '"$mjf"')
        return (
            f"{self._head('Grid Engine starter_method', 'makes')}"
            "# It runs as the user of the job, in the place of its shell, and ends as the job.\n"
            "mjf=$TMPDIR/mjf task=$SGE_TASK_ID\n"
            '[ "$task" = undefined ] && task= || task=${task:+.$task}\n'
            "# Without a directory of the job there is no place that others could not prepare.\n"
            'if [ -n "$TMPDIR" ]; then\n'
            f"{call} >/dev/null 2>&1 </dev/null\n"
            f"{_lines('    ', '$mjf', '$JOB_ID$task')}"
            "fi\n"
            "shell=${SGE_STARTER_SHELL_PATH:-/bin/sh}\n"
            "# A script comes as its path and arguments, qsub -b y as a command, or as one text.\n"
            '[ -f "$1" ] && [ ! -x "$1" ] && exec "$shell" "$@"\n'
            'case $(command -v "$1") in /*) exec "$@" ;; esac\n'
            'exec "$shell" -c "$*"\n'
        )

    def _head(self, name: str, what: str) -> str:
        return (
            "#!/bin/sh\n"
            f"# {name}: {what} $JOBFEATURES, $MACHINEFEATURES and $JOBSTATUS of a job.\n"
            f"# Written by: sssjob features install --for {self.system}\n"
        )

    def _root(self) -> str:
        """The root as a word of the shell."""
        parts = [shlex.quote(part) if part else "" for part in self.root.split("%n")]
        return _NODE[self.system].join(parts)

    def _call(self, command: str, root: str) -> str:
        handed = " \\\n    ".join(f'{name}="${name}"' for name in _HANDED[self.system])
        words = [*self.program, "features", command, "--for", self.system]
        more = [f"--seconds={max(1, self.seconds // 3)}"]
        more += [f"--jobs={self.jobs}"] if self.jobs else []
        more += self.options if command == "prolog" else []
        arguments = ' -- "$@"' if self.system == "pbs" else ""
        return (
            f'timeout -k 2 {self.seconds} env -i PATH="$PATH" LANG=C.UTF-8 \\\n    {handed} \\\n'
            f"    {shlex.join(words)} --root {root} {shlex.join(more)}{arguments}"
        )


def _places(root: str, job: str) -> Iterator[tuple[str, str]]:
    """The variables, and where their directories are, in words of the shell."""
    for variable, name in VARIABLES.items():
        yield (
            variable,
            f"{root}/{name}" if variable == "MACHINEFEATURES" else f"{root}/{job}/{name}",
        )


def _lines(indent: str, root: str, job: str) -> str:
    """For each directory that is there, a line that exports its name."""
    found = f"{indent}mjf={root}\n" if root != "$mjf" else ""
    for variable, place in _places("$mjf", job):
        found += f'{indent}[ -d "{place}" ] && export "{variable}={place}"\n'
    return found


def write(directory: str | os.PathLike[str], scripts: dict[str, str]) -> None:
    """Write scripts, each whole or not at all; all but a profile can be run.

    Everybody can read them, whatever the umask is: some run as the user of the job. Raises
    ``Unprotected`` for a directory in which others could exchange what root runs, or ``OSError``.
    """
    with handles.protected(directory, make=True) as folder:
        for name, text in scripts.items():
            atomic.put(folder, name, text.encode(), 0o644 if name == "profile.sh" else 0o755)
