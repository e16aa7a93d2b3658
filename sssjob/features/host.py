"""What the machine that this runs on has, and what it enforces: /proc, cgroups, scratch space.

``root`` is where /proc and /sys are looked for; tests give a directory of recorded files.
"""

from __future__ import annotations

import os
from fractions import Fraction

from sssjob.amounts import DERIVED, Amount
from sssjob.features import kernel


def machine(root: str | os.PathLike[str] = "/") -> dict[str, Amount]:
    """Processors and cores of this machine as /proc/cpuinfo lists them, by key."""
    source = os.path.join(root, "proc/cpuinfo")
    logical, cores = kernel.processors(os.fspath(root))
    found: dict[str, Amount] = {}
    if logical:
        found["total_cpu"] = found["log_cores"] = Amount(
            Fraction(logical), source, why="processors of the operating system"
        )
    if cores:
        found["phys_cores"] = Amount(Fraction(cores), source, why="cores of all sockets")
    return found


def job(
    root: str | os.PathLike[str] = "/", *, pid: int | None = None, cgroup: str = "",
    scratch: str | os.PathLike[str] | None = None,
) -> dict[str, Amount]:  # fmt: skip
    """What is enforced on a process and on all others of its cgroup, by key of $JOBFEATURES.

    ``pid`` is the process (None: this one); ``cgroup`` the directory of its control group, below
    which the limits of all levels count. ``scratch`` is a directory of the scratch space; None
    is $TMPDIR. What nothing limits is left out.
    """
    found = {
        name: Amount(Fraction(each.number, each.per), each.source, each.kind, each.why)
        for name, each in kernel.limits(os.fspath(root), pid, cgroup).items()
    }
    if (space := _scratch(scratch)) is not None:
        found["scratch_limit_bytes"] = space
    return found


def _scratch(directory: str | os.PathLike[str] | None) -> Amount | None:
    """The size of a scratch file system: "the full scratch space available to all jobs"."""
    place = directory or os.environ.get("TMPDIR") or "/tmp"
    try:
        status = os.statvfs(place)
    except OSError:
        return None
    # What is kept for root is no job's.
    size = (status.f_blocks - (status.f_bfree - status.f_bavail)) * status.f_frsize
    why = "the whole file system, which all jobs share"
    return Amount(Fraction(size), f"statvfs {os.fspath(place)}", DERIVED, why) if size else None
