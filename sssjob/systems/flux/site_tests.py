"""Flux's side of the conformance kit: a job of each kind, and what Flux says inside it."""

from __future__ import annotations

import os
from collections.abc import Mapping

from sssjob.features.batch.site_tests import PROBE, JobCase, SiteTests
from sssjob.systems.flux import ids

_LIMIT = ("-t", "2m")


def _submit(*words: str) -> tuple[str, ...]:
    return "flux", "submit", "--cwd=/", "--output=/dev/null", *words, PROBE


class FluxSiteTests(SiteTests):
    """Jobs of flux submit and flux run. All but its id a job asks of the instance."""

    variables = ("FLUX_JOB_ID",)
    commands = ("flux",)
    command_words = 2
    is_told = False

    def cases(self) -> Mapping[str, JobCase]:
        """One core and two minutes."""
        return {
            "simple": JobCase(_submit("-n1", *_LIMIT), walls=(120,)),
            "array": JobCase(
                _submit("-n1", "--cc=1-3", *_LIMIT), reports=3, walls=(120,) * 3, apart="job_id"
            ),
            "heterogeneous": JobCase(absent="Flux has no such jobs"),
            "multi-node": JobCase(
                _submit("-N2", "-n2", *_LIMIT), reports=2, walls=(120,) * 2, apart="node"
            ),
            "requeued": JobCase(absent="Flux runs no job again"),
            "unlimited": JobCase(_submit("-n1")),  # the queue may have a limit
            "whole node": JobCase(
                _submit("-N1", "-n1", "--exclusive", *_LIMIT), walls=(120,), is_whole=True
            ),
            "srun alone": JobCase(
                ("flux", "run", "--cwd=/", "-n1", *_LIMIT, PROBE), walls=(120,)
            ),
            "odd names": JobCase(
                _submit("-n1", '--job-name=x"}|7|[0-9]', "--env=ODD={{id}}", *_LIMIT), walls=(120,)
            ),
        }  # fmt: skip

    def truth(self, said: Mapping[str, str]) -> Mapping[str, str]:
        """Its id."""
        return {"job_id": ids.number(said.get("FLUX_JOB_ID", ""))}

    def prolog(self, job: str, processors: int) -> Mapping[str, str]:
        """As the IMP sets them; how many processors it has, the instance says."""
        return {"FLUX_JOB_ID": job, "FLUX_JOB_USERID": str(os.geteuid())}
