"""The scripts of Slurm: Prolog, TaskProlog and Epilog."""

from __future__ import annotations

from collections.abc import Iterator

from sssjob.features.batch.scripts import Installation, Scripts, places


class SlurmScripts(Scripts):
    """Prolog and Epilog run as root on each node of a job, TaskProlog as its user for each task."""

    command = "scontrol"
    handed = (
        "SLURM_CONF", "SLURM_CLUSTER_NAME", "SLURMD_NODENAME", "SLURM_JOB_ID", "SLURM_JOB_UID",
        "SLURM_JOB_NUM_NODES", "SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_JOB_CPUS_PER_NODE",
        "SLURM_JOB_START_TIME", "SLURM_JOB_END_TIME", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID",
        "SLURM_HET_JOB_ID", "SLURM_HET_JOB_OFFSET", "SLURM_JOB_RESERVATION",
    )  # fmt: skip
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
