"""LSF's side of the conformance kit: a job of each kind, and what LSF says inside it."""

from __future__ import annotations

import socket
from collections.abc import Mapping

from sssjob.features.batch.site_tests import PROBE, WORK, JobCase, SiteTests
from sssjob.systems.lsf import inside

_SCRIPT = f"#!/bin/sh\n{PROBE}\n"
# 99 is the exit code by which -Q has a job run again.
_AGAIN = f"#!/bin/sh\n{PROBE}\nmkdir {WORK}/again 2>/dev/null && exit 99\nexit 0\n"
_ON_EACH = f'#!/bin/sh\nblaunch -z "$LSB_HOSTS" {PROBE}\n'
_SMALL = ("-n", "1", "-W", "2")


def _batch(*words: str) -> tuple[str, ...]:
    return "bsub", "-o", "/dev/null", *words


class LSFSiteTests(SiteTests):
    """Jobs of bsub. Their limits may be minutes of another host, which are left out."""

    variables = ("LSB_JOBID", "LSB_JOBINDEX", "LSB_MCPU_HOSTS")
    commands = ("bjobs", "bhosts")

    def cases(self) -> Mapping[str, JobCase]:
        """One slot and two minutes."""
        two = ("-n", "2", "-W", "2", "-R", "span[ptile=1]")
        return {
            "simple": JobCase(_batch(*_SMALL), _SCRIPT),
            "array": JobCase(_batch(*_SMALL, "-J", "x[1-3]"), _SCRIPT, 3, apart="job_id"),
            "heterogeneous": JobCase(absent="the parts of a job of LSF have one id"),
            "multi-node": JobCase(_batch(*two), _ON_EACH, 2, apart="node"),
            "requeued": JobCase(_batch(*_SMALL, "-Q", "99"), _AGAIN, 2, apart="jobstart_secs"),
            "unlimited": JobCase(_batch("-n", "1"), _SCRIPT),  # the queue may have a limit
            "whole node": JobCase(absent="a job that is alone on its host has what it asked for"),
            "srun alone": JobCase(("bsub", "-I", *_SMALL, PROBE)),
            "odd names": JobCase(
                _batch(*_SMALL, "-J", 'x","EXEC_HOST":"9*n9', "-P", "RUNTIMELIMIT 9"), _SCRIPT
            ),
        }

    def truth(self, said: Mapping[str, str]) -> Mapping[str, str]:
        """Of the environment of the job, on the host that reports."""
        count = inside.slots(inside.counts(said) or {}, said.get("node", ""))
        return {"job_id": inside.job_id(said), "allocated_cpu": str(count or "")}

    def prolog(self, job: str, processors: int) -> Mapping[str, str]:
        """As LSF sets them."""
        return {"LSB_JOBID": job, "LSB_MCPU_HOSTS": f"{socket.gethostname()} {processors}"}
