"""What the kernel enforces on a process: processors that it may run on, limits of control groups.

``root`` is where /proc and /sys are looked for. A payload imports this module: nothing here that
is slow to import.
"""

from __future__ import annotations

import os
import stat

from sssjob.integers import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST = 64 << 20  # bytes of /proc/cpuinfo: some 1.5 KB a processor
_LEVELS = 64  # of cgroups inside each other
_MOUNT = "sys/fs/cgroup"


class KernelNumber:
    """A number that was read, ``number`` / ``per``, where it stands, and what it is.

    ``kind`` is "exact", "derived" of others, or "assumed" where nothing is limited.
    """

    __slots__ = ("kind", "number", "per", "source", "why")

    def __init__(
        self, number: int, source: str, why: str, kind: str = "exact", per: int = 1
    ) -> None:
        self.number, self.per, self.source, self.why, self.kind = number, per, source, why, kind

    def __repr__(self) -> str:
        return f"<{self.value} by {self.source}>"

    @property
    def value(self) -> int:
        """The number in whole ones: a share of a processor needs the whole of it."""
        return -(-self.number // self.per)


def limits(root: str = "/", pid: int | None = None, cgroup: str = "") -> dict[str, KernelNumber]:
    """What is enforced on a process and on all others of its control group, by key of $JOBFEATURES.

    ``pid`` is the process (None: this one); ``cgroup`` the directory of its control group, below
    which the limits of all levels count. What nothing limits is left out.
    """
    groups = _ControlGroups(root, "self" if pid is None else str(pid), cgroup)
    found: dict[str, KernelNumber] = {}
    processors = [each for each in (_affinity(root, pid), groups.processors()) if each]
    if processors:
        least = processors[0]
        for each in processors[1:]:
            one, other = each.number * least.per, least.number * each.per
            if one < other or (one == other and least.kind == "assumed"):
                least = each
        found["allocated_cpu"] = least
    if memory := groups.least("memory.max", "memory/memory.limit_in_bytes"):
        found["max_rss_bytes"] = memory
    if swap := groups.swap(memory):
        found["max_swap_bytes"] = swap
    return found


def processors(root: str = "/") -> tuple[int, int]:
    """The processors that /proc/cpuinfo lists, and the cores of all sockets; 0 is not known."""
    logical, cores = 0, set()
    physical = core = ""
    for line in [*text(os.path.join(root, "proc/cpuinfo"), _LONGEST).splitlines(), ""]:
        name, _, value = (part.strip() for part in line.partition(":"))
        logical += name == "processor"
        physical = value if name == "physical id" else physical
        core = value if name == "core id" else core
        if not name and core:
            cores.add((physical, core))
            physical = core = ""
    return logical, len(cores)  # architectures other than x86 do not say which cores


def _affinity(root: str, pid: int | None) -> KernelNumber | None:
    """Processors on which a process may run; all of them are no allocation, only an upper end."""
    if not hasattr(os, "sched_getaffinity"):  # Linux only
        return None
    try:
        count = len(os.sched_getaffinity(pid or 0))
    except ProcessLookupError:
        return None
    # The same number, but /proc/cpuinfo of a large machine takes long to read.
    restricted = count < ((os.cpu_count() or 0) if root == "/" else processors(root)[0])
    why = "processors it may run on" if restricted else "it may run on every processor"
    return KernelNumber(count, "sched_getaffinity", why, "exact" if restricted else "assumed")


class _ControlGroups:
    """The control groups of a process: one hierarchy (v2), or one for each controller (v1)."""

    def __init__(self, root: str, process: str, cgroup: str) -> None:
        self.mount, self.given = os.path.join(root, _MOUNT), cgroup
        self.paths: dict[str, str] = {}
        for line in text(os.path.join(root, "proc", process, "cgroup")).splitlines():
            _, _, rest = line.partition(":")
            controllers, _, path = rest.partition(":")
            for controller in controllers.split(","):
                self.paths[controller] = path.strip("/")

    def least(self, unified: str, legacy: str) -> KernelNumber | None:
        """The lowest number among the levels, by the name of the file in v2 or in v1."""
        found = [each for file in self._files(unified, legacy) if (each := _number(file))]
        return min(found, key=lambda each: each.number, default=None)

    def processors(self) -> KernelNumber | None:
        """The processors that a quota comes to: time in each period."""
        least: KernelNumber | None = None
        for file in self._files("cpu.max", "cpu/cpu.cfs_quota_us"):
            quota, _, period = text(file).strip().partition(" ")
            if os.path.basename(file) != "cpu.max":
                period = text(os.path.join(os.path.dirname(file), "cpu.cfs_period_us")).strip()
            used, of = whole(quota), whole(period)
            if used is None or not of:
                continue
            share = KernelNumber(used, file, f"{quota} of each {period} us", per=of)
            if least is None or share.number * least.per < least.number * share.per:
                least = share
        return least

    def swap(self, memory: KernelNumber | None) -> KernelNumber | None:
        """Swap on its own in v2; in v1 the limit is of memory and swap together."""
        found = self.least("memory.swap.max", "memory/memory.memsw.limit_in_bytes")
        if found is None or "memsw" not in found.source:
            return found
        if memory is None or found.number < memory.number:
            return None
        source, why = f"{found.source} - {memory.source}", "memory and swap less memory"
        return KernelNumber(found.number - memory.number, source, why, "derived")

    def _files(self, unified: str, legacy: str) -> Iterator[str]:
        """The file of each level, from the process's own group up."""
        controller, _, name = legacy.partition("/")
        if self.given:
            is_unified = os.path.exists(os.path.join(self.given, unified))
            yield from _upwards(self.given, unified if is_unified else name)
            return
        if controller in self.paths:
            mount = os.path.join(self.mount, controller)
            yield from _upwards(os.path.join(mount, self.paths[controller]), name, mount)
        if "" in self.paths:
            yield from _upwards(os.path.join(self.mount, self.paths[""]), unified, self.mount)


def _upwards(directory: str, name: str, top: str = "") -> Iterator[str]:
    """A file in a directory and in those above it, up to the mount point of the hierarchy."""
    level = directory.rstrip("/")
    for _ in range(_LEVELS):
        file, above = os.path.join(level, name), os.path.dirname(level)
        if os.path.exists(file):
            yield file
        if level in (top, above) or not (top or os.path.exists(os.path.join(above, name))):
            return
        level = above


def _number(file: str) -> KernelNumber | None:
    number = whole(text(file).strip())
    # "max", -1, or "no limit" of cgroup v1: the largest multiple of a page below 2^63, which has
    # more digits than are read.
    if number is None:
        return None
    return KernelNumber(number, file, "the kernel enforces it")


def text(path: str, size: int = 1 << 16) -> str:
    """A small regular file of the kernel, or "" if it is not there or may not be read."""
    try:
        # A pipe would be waited for.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return ""
            return file.read(size).decode("ascii", "replace")
    except (OSError, ValueError):
        return ""
