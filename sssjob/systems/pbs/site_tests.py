"""The side of PBS in the conformance kit: a job of each kind, and what it says inside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sssjob.features.batch.site_tests import PROBE, JobCase, SiteTests
from sssjob.features.keys import spell
from sssjob.systems.pbs import inside
from sssjob.systems.pbs.scripts import is_professional

_SCRIPT = f"#!/bin/sh\nexec {PROBE}\n"
_NODE = ("-l", "nodes=1:ppn=1,mem=64mb")
_LIMIT = ("-l", "walltime=00:02:00")


def _batch(*words: str) -> tuple[str, ...]:
    return "qsub", "-j", "oe", "-o", "/dev/null", "-S", "/bin/sh", *words


class PBSSiteTests(SiteTests):
    """Jobs of qsub, in words of both TORQUE and PBS Professional."""

    variables = ("PBS_JOBID", "PBS_NUM_NODES", "PBS_NUM_PPN", "PBS_NP", "PBS_WALLTIME", "NCPUS")
    commands = ("qstat", "pbsnodes")

    def cases(self) -> Mapping[str, JobCase]:
        """One processor, 64 MiB and two minutes."""
        elements = "-J" if is_professional() else "-t"
        return {
            "simple": JobCase(_batch(*_NODE, *_LIMIT), _SCRIPT, walls=(120,)),
            "array": JobCase(
                _batch(elements, "1-3", *_NODE, *_LIMIT), _SCRIPT, 3, (120,) * 3, apart="job_id"
            ),
            "heterogeneous": JobCase(absent="the parts of a job of PBS have one id"),
            "multi-node": JobCase(absent="only the first host of a job has a prologue"),
            "requeued": JobCase(absent="only operators run a job of PBS again"),
            "unlimited": JobCase(_batch(*_NODE), _SCRIPT),  # the queue may have a limit
            "whole node": JobCase(absent="a job that is alone on its node has what it asked for"),
            "srun alone": JobCase(absent="a job of PBS without a script needs a terminal"),
            "odd names": JobCase(
                _batch(*_NODE, *_LIMIT, "-N", "exec_host=n9/0*64", "-v",
                       "ODD=x Resource_List.walltime = 9"),
                _SCRIPT, walls=(120,),
            ),
        }  # fmt: skip

    def truth(self, said: Mapping[str, str]) -> Mapping[str, str]:
        """Of the environment of the job."""
        found = inside.read(said)
        return {} if found is None else {key: spell(value) for key, value in found.job.items()}

    def prolog(self, job: str, processors: int) -> Mapping[str, str]:
        """All is in the arguments."""
        return {}

    def arguments(self, job: str, processors: int) -> Sequence[str]:
        """As TORQUE gives them; PBS Professional tells no resources."""
        return job, "root", "root", "proof", f"nodect=1,ncpus={processors}"
