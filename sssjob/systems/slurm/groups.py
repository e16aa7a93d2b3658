"""The control group that slurmd makes for a job, and the swap that cgroup.conf leaves to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from sssjob.amounts import DERIVED, Amount
from sssjob.errors import InvalidValue
from sssjob.features.batch.allocation import Allocation
from sssjob.units import number

_MOUNT = "/sys/fs/cgroup"
_USUAL = "/etc/slurm/slurm.conf"
_LIMIT = 1 << 20  # bytes of cgroup.conf
_YES = ("yes", "up", "true", "1")  # as slurm.conf has them
_WHOLE = 100  # percent


def place(environment: Mapping[str, str], mount: str = _MOUNT) -> str:
    """The directory of the job's control group; "" where slurmd has not made it (yet).

    ``PrologFlags=Alloc`` makes it behind the Prolog, ``RunInJob`` before. # decision 536
    """
    job, user, node = (
        environment.get(name, "")
        for name in ("SLURM_JOB_ID", "SLURM_JOB_UID", "SLURMD_NODENAME")
    )  # fmt: skip
    if not (job.isascii() and job.isdigit()) or "/" in node:
        return ""
    found = (f"{mount}/{name}" for name in _names(job, user, node))
    return next((each for each in found if Path(each).is_dir()), "")


def _names(job: str, user: str, node: str) -> Iterator[str]:
    # v2, and where several slurmd share a host; v1 has the user on the way.
    yield from (f"system.slice/{name}slurmstepd.scope/job_{job}" for name in (f"{node}_", ""))
    if user.isascii() and user.isdigit():
        yield from (f"memory/slurm{name}/uid_{user}/job_{job}" for name in (f"_{node}", ""))


def limited(given: Allocation, environment: Mapping[str, str]) -> Allocation:
    """What was given, with the swap that follows from it by cgroup.conf."""
    memory = given.amounts.get("max_rss_bytes")
    if memory is None:
        return given
    conf = Path(environment.get("SLURM_CONF") or _USUAL).with_name("cgroup.conf")
    try:
        with open(conf, encoding="utf-8", errors="replace") as file:
            share = swap_share(file.read(_LIMIT))
    except OSError:
        return given
    if share is None:
        return given
    why = f"AllowedSwapSpace: {float(share * _WHOLE):g} % of the memory"
    swap = Amount(memory.value * share, str(conf), DERIVED, why)
    return replace(given, amounts={**given.amounts, "max_swap_bytes": swap})


def swap_share(configuration: str) -> Fraction | None:
    """How much swap a job may use, as a part of its memory; None where that is not for certain.

    MaxSwapPercent bounds memory and swap by the memory of the node: that may be less.

    >>> swap_share("ConstrainRAMSpace=yes\\nConstrainSwapSpace=yes\\nAllowedSwapSpace=50")
    Fraction(1, 2)
    """
    said = {}
    for line in configuration.splitlines():
        name, _, value = line.partition("#")[0].partition("=")
        said[name.strip().lower()] = value.strip().lower()
    constrained = all(said.get(f"constrain{what}space") in _YES for what in ("ram", "swap"))
    if not constrained or {"maxswappercent", "allowedramspace", "maxrampercent"} & said.keys():
        return None
    try:
        share = number(said.get("allowedswapspace", "0").removesuffix("%")) / _WHOLE
    except InvalidValue:
        return None
    return share if 0 <= share <= 1 else None
