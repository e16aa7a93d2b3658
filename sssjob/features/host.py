"""What the machine that this runs on has, and what it enforces: /proc, cgroups, scratch space.

``root`` is where /proc and /sys are looked for; tests give a directory of recorded files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from sssjob.amounts import ASSUMED, DERIVED, Amount

# The kernel writes "no limit" of cgroup v1 as the largest multiple of a page below 2^63.
_UNLIMITED = 1 << 62
_LONGEST = 64 << 20  # bytes of /proc/cpuinfo: some 1.5 KB a processor
_LEVELS = 64  # of cgroups inside each other


def machine(root: str | os.PathLike[str] = "/") -> dict[str, Amount]:
    """Processors and cores of this machine as /proc/cpuinfo lists them, by key."""
    source = Path(root, "proc/cpuinfo")
    logical, cores = 0, set[tuple[str, str]]()
    physical = core = ""
    for line in [*_text(source, _LONGEST).splitlines(), ""]:
        name, _, value = (part.strip() for part in line.partition(":"))
        logical += name == "processor"
        physical = value if name == "physical id" else physical
        core = value if name == "core id" else core
        if not name and core:
            cores.add((physical, core))
            physical = core = ""
    found: dict[str, Amount] = {}
    if logical:
        found["total_cpu"] = found["log_cores"] = Amount(
            Fraction(logical), str(source), why="processors of the operating system"
        )
    if cores:  # architectures other than x86 do not say
        found["phys_cores"] = Amount(Fraction(len(cores)), str(source), why="cores of all sockets")
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
    groups = _Groups(Path(root), "self" if pid is None else str(pid), cgroup)
    found: dict[str, Amount] = {}
    processors = [
        amount for amount in (_affinity(root, pid), groups.processors()) if amount is not None
    ]
    if processors:
        found["allocated_cpu"] = min(processors, key=lambda amount: (amount.value, amount.basis))
    memory = groups.least("memory.max", "memory/memory.limit_in_bytes")
    if memory is not None:
        found["max_rss_bytes"] = memory
    if (swap := groups.swap(memory)) is not None:
        found["max_swap_bytes"] = swap
    if (space := _scratch(scratch)) is not None:
        found["scratch_limit_bytes"] = space
    return found


def _affinity(root: str | os.PathLike[str], pid: int | None) -> Amount | None:
    """Processors on which a process may run; all of them are no allocation, only an upper end."""
    if not hasattr(os, "sched_getaffinity"):  # Linux only
        return None
    try:
        count = len(os.sched_getaffinity(pid or 0))
    except ProcessLookupError:
        return None
    whole = machine(root).get("total_cpu")
    restricted = whole is not None and count < whole.value
    why = "processors it may run on" if restricted else "it may run on every processor"
    return Amount(Fraction(count), "sched_getaffinity", "exact" if restricted else ASSUMED, why)


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


class _Groups:
    """The control groups of a process: one hierarchy (v2), or one for each controller (v1)."""

    def __init__(self, root: Path, process: str, cgroup: str) -> None:
        self.mount = root / "sys/fs/cgroup"
        self.given = Path(cgroup) if cgroup else None
        self.paths: dict[str, str] = {}
        for line in _text(root / "proc" / process / "cgroup").splitlines():
            _, _, rest = line.partition(":")
            controllers, _, path = rest.partition(":")
            for controller in controllers.split(","):
                self.paths[controller] = path.lstrip("/")

    def least(self, unified: str, legacy: str) -> Amount | None:
        """The lowest number among the levels, by the name of the file in v2 or in v1."""
        amounts = [amount for file in self._files(unified, legacy) if (amount := _number(file))]
        return min(amounts, key=lambda amount: amount.value, default=None)

    def processors(self) -> Amount | None:
        """The processors that a quota comes to: time in each period."""
        amounts = []
        for file in self._files("cpu.max", "cpu/cpu.cfs_quota_us"):
            quota, _, period = _text(file).strip().partition(" ")
            if file.name != "cpu.max":
                period = _text(file.with_name("cpu.cfs_period_us")).strip()
            if quota.isdigit() and period.isdigit() and int(period):
                share = Fraction(int(quota), int(period))
                amounts.append(Amount(share, str(file), why=f"{quota} of each {period} us"))
        return min(amounts, key=lambda amount: amount.value, default=None)

    def swap(self, memory: Amount | None) -> Amount | None:
        """Swap on its own in v2; in v1 the limit is of memory and swap together."""
        found = self.least("memory.swap.max", "memory/memory.memsw.limit_in_bytes")
        if found is None or "memsw" not in found.source:
            return found
        if memory is None or found.value <= memory.value:
            return None
        source, why = f"{found.source} - {memory.source}", "memory and swap less memory"
        return Amount(found.value - memory.value, source, DERIVED, why)

    def _files(self, unified: str, legacy: str) -> Iterator[Path]:
        """The file of each level, from the process's own group up."""
        controller, _, name = legacy.partition("/")
        if self.given is not None:
            yield from _upwards(self.given, unified if (self.given / unified).exists() else name)
            return
        if controller in self.paths:
            mount = self.mount / controller
            yield from _upwards(mount / self.paths[controller], name, mount)
        if "" in self.paths:
            yield from _upwards(self.mount / self.paths[""], unified, self.mount)


def _upwards(directory: Path, name: str, top: Path | None = None) -> Iterator[Path]:
    """A file in a directory and in those above it, up to the mount point of the hierarchy."""
    for level in [directory, *directory.parents][:_LEVELS]:
        if (level / name).exists():
            yield level / name
        if level == top or not (top or (level.parent / name).exists()):
            return


def _number(file: Path) -> Amount | None:
    text = _text(file).strip()
    if not text.isdigit() or int(text) >= _UNLIMITED:  # "max", -1, or the largest page
        return None
    return Amount(Fraction(int(text)), str(file), why="the kernel enforces it")


def _text(path: Path, size: int = 1 << 16) -> str:
    """A small regular file of the kernel, or "" if it is not there or may not be read."""
    try:
        with open(path, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return ""
            return file.read(size).decode("ascii", "replace")
    except OSError:
        return ""
