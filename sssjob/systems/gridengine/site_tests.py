"""Grid Engine's side of the conformance kit: a job of each kind, and what it says inside it."""

from __future__ import annotations

from collections.abc import Mapping

from sssjob.features.batch.site_tests import PROBE, WORK, JobCase, SiteTests
from sssjob.integers import whole

_SCRIPT = f"#!/bin/sh\nexec {PROBE}\n"
# 99 is the exit code with which a job asks to be run again.
_AGAIN = f"#!/bin/sh\n{PROBE}\nmkdir {WORK}/again 2>/dev/null && exit 99\nexit 0\n"
_LIMIT = ("-l", "h_rt=120")


def _batch(*words: str) -> tuple[str, ...]:
    return "qsub", "-terse", "-wd", WORK, "-j", "y", "-o", "/dev/null", "-S", "/bin/sh", *words


class GridEngineSiteTests(SiteTests):
    """Jobs of qsub."""

    variables = ("JOB_ID", "SGE_TASK_ID", "NSLOTS", "NHOSTS")
    commands = ("qstat", "qconf")

    def cases(self) -> Mapping[str, JobCase]:
        """One slot and two minutes."""
        return {
            "simple": JobCase(_batch(*_LIMIT), _SCRIPT, walls=(120,)),
            "array": JobCase(_batch("-t", "1-3", *_LIMIT), _SCRIPT, 3, (120,) * 3, apart="job_id"),
            "heterogeneous": JobCase(absent="Grid Engine has no such jobs"),
            "multi-node": JobCase(absent="only the first host of a parallel job has a prolog"),
            "requeued": JobCase(_batch("-r", "y", *_LIMIT), _AGAIN, 2, (120,) * 2,
                                apart="jobstart_secs"),
            "unlimited": JobCase(_batch(), _SCRIPT),  # the queue may have a limit
            "whole node": JobCase(absent="Grid Engine has no such request of its own"),
            "srun alone": JobCase(absent="no features for qrsh, see the page for sites"),
            "odd names": JobCase(
                _batch(*_LIMIT, "-N", "x_h_rt=9", "-ac", "h_rt=1,x=host_slots=99"), _SCRIPT,
                walls=(120,),
            ),
        }  # fmt: skip

    def truth(self, said: Mapping[str, str]) -> Mapping[str, str]:
        """Of the environment of the job."""
        task = said.get("SGE_TASK_ID", "")
        number = said.get("JOB_ID", "")
        job = number if whole(task) is None else f"{number}.{task}"
        return {"job_id": job, "allocated_cpu": said.get("NSLOTS", "")}

    def prolog(self, job: str, processors: int) -> Mapping[str, str]:
        """As Grid Engine sets them."""
        return {"JOB_ID": job, "NSLOTS": str(processors), "NHOSTS": "1", "HOSTNAME": "node1"}
