"""Slurm's side of the conformance kit: a job of each kind, and what Slurm says inside it."""

from __future__ import annotations

import os
from collections.abc import Mapping

from sssjob.features.batch.site_tests import PROBE, WORK, JobCase, SiteTests
from sssjob.integers import whole

_MIB = 1 << 20
_SMALL = ("-n1", "--mem=64M", "--time=2")
_SCRIPT = f"#!/bin/sh\nexec {PROBE}\n"
_EACH = "#!/bin/sh\nsrun {}{}\n"
_AGAIN = (
    f'#!/bin/sh\n{PROBE}\n[ "${{SLURM_RESTART_COUNT:-0}}" = 0 ] || exit 0\n'
    'scontrol requeue "$SLURM_JOB_ID"\n'
)
# What a record of scontrol looks like, in a name, which it does not quote.
_ODD = "x\nJobId=1 JobName=y\n   Nodes=n[1-2] CPU_IDs=0-5 Mem=9 GRES= TimeLimit=9-00:00:00"


def _batch(*words: str) -> tuple[str, ...]:
    return "sbatch", f"--chdir={WORK}", "--output=/dev/null", "--export=NONE", *words


class SlurmSiteTests(SiteTests):
    """Jobs of sbatch and srun."""

    variables = (
        "SLURM_JOB_ID", "SLURM_CPUS_ON_NODE", "SLURM_MEM_PER_NODE", "SLURM_HET_SIZE",
        "SLURMD_NODENAME",
    )  # fmt: skip
    commands = ("scontrol",)
    node = "SLURMD_NODENAME"

    def cases(self) -> Mapping[str, JobCase]:
        """One processor, 64 MiB and two minutes, where the kind does not ask for more."""
        two = ("-N2", "--ntasks-per-node=1", "--mem=64M", "--time=2")
        return {
            "simple": JobCase(_batch(*_SMALL), _SCRIPT, walls=(120,)),
            "array": JobCase(
                _batch("--array=1-3", *_SMALL), _SCRIPT, 3, (120,) * 3, apart="job_id"
            ),
            "heterogeneous": JobCase(
                _batch(*_SMALL, ":", "-n1", "--mem=96M", "--time=3"),
                _EACH.format("--het-group=0,1 -n1 ", PROBE), 2, (120, 180), apart="job_id",
            ),
            "multi-node": JobCase(
                _batch(*two), _EACH.format("", PROBE), 2, (120,) * 2, apart="SLURMD_NODENAME"
            ),
            "requeued": JobCase(_batch("--requeue", *_SMALL), _AGAIN, 2, (120,) * 2,
                                apart="jobstart_secs"),
            "unlimited": JobCase(
                _batch("-n1", "--mem=64M", "--time=UNLIMITED"), _SCRIPT, walls=(None,)
            ),
            "whole node": JobCase(
                _batch("--exclusive", "--mem=64M", "--time=2", "-N1"), _SCRIPT, is_whole=True
            ),
            "srun alone": JobCase(("srun", *_SMALL, "--chdir=/", PROBE), walls=(120,)),
            "odd names": JobCase(
                _batch(*_SMALL, f"--job-name={_ODD}", f"--comment={_ODD}"), _SCRIPT, walls=(120,)
            ),
        }  # fmt: skip

    def truth(self, said: Mapping[str, str]) -> Mapping[str, str]:
        """All tasks of a heterogeneous job have the variables of its first component."""
        if said.get("SLURM_HET_SIZE"):
            return {}
        found = {"job_id": said.get("SLURM_JOB_ID", "")}
        found["allocated_cpu"] = said.get("SLURM_CPUS_ON_NODE", "")
        memory = whole(said.get("SLURM_MEM_PER_NODE", ""))
        return {**found, "max_rss_bytes": str(memory * _MIB)} if memory else found

    def prolog(self, job: str, processors: int) -> Mapping[str, str]:
        """As Slurm sets them."""
        return {
            "SLURM_JOB_ID": job, "SLURM_JOB_UID": str(os.getuid()), "SLURMD_NODENAME": "node1",
            "SLURM_JOB_NUM_NODES": "1", "SLURM_JOB_CPUS_PER_NODE": str(processors),
        }  # fmt: skip
