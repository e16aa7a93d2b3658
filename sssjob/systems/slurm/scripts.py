"""The scripts of Slurm: Prolog, TaskProlog and Epilog."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from sssjob.features.batch.scripts import Installation, LiveSetting, Scripts, places

# Prolog = /a, in later versions Prolog[0] = /a, one for each.
_LINE = re.compile(r"^(\w+)(?:\[[0-9]+\])?\s+= (.*)$", re.MULTILINE)
_PROGRAM = re.compile(r"/[A-Za-z0-9._/+*?\[\]-]+")  # or a pattern of them
# These run the Prolog before all else; RunInJob, of later versions, in the group of the job.
_ALLOCATING = frozenset(("Alloc", "Contain", "RunInJob", "X11"))


class SlurmScripts(Scripts):
    """Prolog and Epilog run as root on each node of a job, TaskProlog as its user for each task."""

    command = "scontrol"
    handed = (
        "SLURM_CONF", "SLURM_CLUSTER_NAME", "SLURMD_NODENAME", "SLURM_JOB_ID", "SLURM_JOB_UID",
        "SLURM_JOB_NUM_NODES", "SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_JOB_CPUS_PER_NODE",
        "SLURM_JOB_START_TIME", "SLURM_JOB_END_TIME", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID",
        "SLURM_HET_JOB_ID", "SLURM_HET_JOB_OFFSET", "SLURM_JOB_RESERVATION",
    )  # fmt: skip
    job = "job=$SLURM_JOB_ID\n"
    node = '"$SLURMD_NODENAME"'
    prolog = ("prolog", "Slurm Prolog")
    epilog = ("epilog", "Slurm Epilog")

    def more(self, at: Installation) -> dict[str, str]:
        """TaskProlog: the environment of a job can be changed there only."""
        lines = "".join(
            f'[ -d "{place}" ] && echo "export {variable}={place}" || echo "unset {variable}"\n'
            for variable, place in places("$mjf", "$job")
        )
        text = (
            f"{at.head('Slurm TaskProlog', 'tells every task')}"
            "# What it prints goes into the environment of the task, which else is that of the\n"
            "# node on which srun was called.\n"
            f"mjf={at.root_word()} here= group=0\n"
            "# All tasks of a heterogeneous job have the id of its first component.\n"
            'while eval "id=\\$SLURM_JOB_ID_HET_GROUP_$group"; [ -n "$id" ]; do\n'
            '    [ -d "$mjf/$id" ] && here=${here:+$here+}$id\n'
            "    group=$((group + 1))\n"
            "done\n"
            "job=${here:-$SLURM_JOB_ID}\n"
            f"{lines}"
            "exit 0\n"
        )
        return {"taskprolog": text}

    def configuration(self, at: Installation) -> Iterator[str]:
        """The lines of slurm.conf."""
        yield "# slurm.conf, on every node; then: scontrol reconfigure"
        yield f"Prolog={at.place('prolog')}"
        yield f"TaskProlog={at.place('taskprolog')}"
        yield f"Epilog={at.place('epilog')}"
        yield "PrologFlags=Alloc"
        yield "# or RunInJob, where Slurm has it: prologs read what limits the memory of their job"

    def live(self) -> Mapping[str, Sequence[str]]:
        """``scontrol show config``."""
        return {"config": ["scontrol", "show", "config"]}

    def settings(self, at: Installation, answers: Mapping[str, str]) -> list[LiveSetting]:
        """The programs, and that the Prolog runs before a job starts and not before its steps."""
        found: dict[str, list[str]] = {}
        for name, value in _LINE.findall(answers.get("config", "")):
            found.setdefault(name, []).append("" if value == "(null)" else value.strip())
        programs = [
            _program(name, " ".join(filter(None, found.get(name, []))), at)
            for name in ("Prolog", "TaskProlog", "Epilog")
        ]
        flags = [each for each in ",".join(found.get("PrologFlags", [])).split(",") if each]
        wanted = flags if _ALLOCATING & set(flags) else [*flags, "Alloc"]
        return [*programs, LiveSetting("PrologFlags", ",".join(flags), ",".join(wanted))]


def _program(name: str, found: str, at: Installation) -> LiveSetting:
    script = name.lower()
    wanted = at.place(script)
    if found in ("", wanted):
        return LiveSetting(name, found, wanted, script)
    if all(_PROGRAM.fullmatch(each) for each in found.split()):
        return LiveSetting(name, found, wanted, script, found)
    return LiveSetting(name, found, wanted, script, trouble="it is no plain path: merge it by hand")
