"""What a job of LSF finds in its environment. A payload imports this: nothing slow."""

from __future__ import annotations

import os

from sssjob import host_name, integers
from sssjob.features.said import StatedValues, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_DIGITS = 9  # of the slots of a host


def read(environment: Mapping[str, str]) -> StatedValues:
    """What is said of the job on this host; limits stand in no variable of every site."""
    said = StatedValues("LSF", ("wall_limit_secs", "jobstart_secs", "cpu_limit_secs"))
    if said.whole("LSB_JOBINDEX", environment) is not None or not environment.get("LSB_JOBINDEX"):
        said.text("job_id", "LSB_JOBID", environment, _element(environment))
    host = os.uname().nodename
    counted = counts(environment)
    if counted is None:
        text = environment["LSB_MCPU_HOSTS"]
        said.untold("LSB_MCPU_HOSTS", text, "hosts with their slots: n1 4 n2 8", "allocated_cpu")
    said.also("allocated_cpu", slots(counted or {}, host), "$LSB_MCPU_HOSTS")
    hosts = dict.fromkeys(environment.get("LSB_HOSTS", "").split(), 1)
    total = sum((counted or {}).values())
    if slots(hosts if len(hosts) == 1 else counted or {}, host) == (total or 1):
        said.number("allocated_cpu", "LSB_DJOB_NUMPROC", environment)
    elif (number := said.whole("LSB_DJOB_NUMPROC", environment, "allocated_cpu")) and total not in (
        0,
        number,
    ):
        said.problems.append(
            f"$LSB_DJOB_NUMPROC is {number}, but $LSB_MCPU_HOSTS names {total} slots"
        )
    return said


def job_id(environment: Mapping[str, str]) -> str:
    """The id of a job, or of an element of an array: 7 or 7[3]; no array has the index 0."""
    return environment.get("LSB_JOBID", "") + _element(environment)


def _element(environment: Mapping[str, str]) -> str:
    index = whole(environment.get("LSB_JOBINDEX", ""))
    return f"[{index}]" if index else ""


def counts(environment: Mapping[str, str]) -> dict[str, int] | None:
    """The slots of each host of ``HOST N HOST N`` in ``$LSB_MCPU_HOSTS``; None for another text."""
    words = environment.get("LSB_MCPU_HOSTS", "").split()
    found: dict[str, int] = {}
    for name, text in zip(words[::2], (*words[1::2], ""), strict=False):
        count = integers.whole(text, _DIGITS)
        if not count:
            return None
        found[name] = found.get(name, 0) + count
    return found


def slots(counted: Mapping[str, int], host: str) -> int | None:
    """The slots of a host by any of its names; None where two hosts could be meant."""
    if host in counted:
        return counted[host]
    name = host_name.short(host)
    fitting = [count for each, count in counted.items() if host_name.short(each) == name]
    return fitting[0] if len(fitting) == 1 else None
