"""What a job of LSF finds in its environment. A payload imports this: nothing slow."""

from __future__ import annotations

import os

from sssjob.features.said import StatedValues, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def read(environment: Mapping[str, str]) -> StatedValues:
    """What is said of the job on this host; limits stand in no variable of every site."""
    said = StatedValues("LSF", ("wall_limit_secs", "jobstart_secs", "cpu_limit_secs"))
    index = whole(environment.get("LSB_JOBINDEX", ""))
    if index:
        said.add("job_id", f"{environment['LSB_JOBID']}[{index}]", "$LSB_JOBID[$LSB_JOBINDEX]")
    said.text("job_id", "LSB_JOBID", environment)
    said.add("allocated_cpu", _here(environment), "$LSB_MCPU_HOSTS")
    hosts = set(environment.get("LSB_HOSTS", "").split())
    if len(hosts) == 1:
        said.number("allocated_cpu", "LSB_DJOB_NUMPROC", environment)
    return said


def _here(environment: Mapping[str, str]) -> int | None:
    """The slots of this host in ``HOST N HOST N``."""
    name = os.uname().nodename.partition(".")[0]
    words = environment.get("LSB_MCPU_HOSTS", "").split()
    counts = [
        whole(count)
        for host, count in zip(words[::2], words[1::2], strict=False)
        if host.partition(".")[0] == name
    ]
    return counts[0] if len(counts) == 1 else None
