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
    if whole(environment.get("LSB_JOBINDEX", "")):
        said.add("job_id", job_id(environment), "$LSB_JOBID[$LSB_JOBINDEX]")
    said.text("job_id", "LSB_JOBID", environment)
    said.add("allocated_cpu", slots(environment, os.uname().nodename), "$LSB_MCPU_HOSTS")
    hosts = set(environment.get("LSB_HOSTS", "").split())
    if len(hosts) == 1:
        said.number("allocated_cpu", "LSB_DJOB_NUMPROC", environment)
    return said


def job_id(environment: Mapping[str, str]) -> str:
    """The id of a job, or of an element of an array: 7 or 7[3]; no array has the index 0."""
    index = whole(environment.get("LSB_JOBINDEX", ""))
    return environment.get("LSB_JOBID", "") + (f"[{index}]" if index else "")


def slots(environment: Mapping[str, str], host: str) -> int | None:
    """The slots of a host in ``HOST N HOST N`` of ``$LSB_MCPU_HOSTS``."""
    name = host.partition(".")[0]
    words = environment.get("LSB_MCPU_HOSTS", "").split()
    counts = [
        whole(count)
        for host, count in zip(words[::2], words[1::2], strict=False)
        if host.partition(".")[0] == name
    ]
    return counts[0] if len(counts) == 1 else None
