"""What was used: CPU time of a session, and what a control group or a finished process measured."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from resource import struct_rusage

from sssjob.errors import UnusableInput


@dataclass(frozen=True, slots=True)
class Used:
    """What a job used, as measured; None is not measured. CPU time in seconds, sizes in bytes."""

    cpu_secs: float | None = None
    max_rss_bytes: int | None = None
    max_swap_bytes: int | None = None
    max_scratch_bytes: int | None = None


def session_cpu_secs(root: str | os.PathLike[str] = "/") -> float | None:
    """CPU seconds of all processes of this session, with the children that they waited for.

    A batch job is a session, as a rule, so this is what the job used so far, but for processes
    that left the session or that nobody waited for. None where /proc is not there.
    """
    ticks = 0
    session = str(os.getsid(0))
    for fields in _stats(Path(root, "proc")):
        if fields[3] == session:
            ticks += sum(int(number) for number in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK") if ticks else None


def of_cgroup(directory: str | os.PathLike[str]) -> Used:
    """What the control group of a job measured: v2, or the directory of a controller of v1.

    Raises ``UnusableInput`` if no file of a control group is there.
    """
    place = Path(directory)
    cpu = _words(place / "cpu.stat").get("usage_usec")
    seconds = None if cpu is None else cpu / 10**6
    if seconds is None and (nanoseconds := _whole(place / "cpuacct.usage")) is not None:
        seconds = nanoseconds / 10**9
    memory = _first(place, "memory.peak", "memory.max_usage_in_bytes")
    swap = _whole(place / "memory.swap.peak")
    both = _whole(place / "memory.memsw.max_usage_in_bytes")
    if swap is None and both is not None and memory is not None:
        swap = max(0, both - memory)
    found = Used(seconds, memory, swap)
    if found == Used():
        raise UnusableInput(f"{place} is no control group that measures CPU time or memory")
    return found


def of_rusage(usage: struct_rusage) -> Used:
    """What a finished process used, as ``os.wait4`` gives it."""
    return Used(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def of_condor(update: Mapping[str, float]) -> Used:
    """What HTCondor's update of a job says: sizes there are in KiB."""
    cpu = [update[name] for name in ("RemoteUserCpu", "RemoteSysCpu") if name in update]
    return Used(
        sum(cpu) if cpu else None,
        _kibibytes(update, "ResidentSetSize_RAW", "ResidentSetSize"),
        None,
        _kibibytes(update, "DiskUsage_RAW", "DiskUsage"),
    )


def _kibibytes(update: Mapping[str, float], *names: str) -> int | None:
    return next((int(update[name] * 1024) for name in names if name in update), None)


def _stats(proc: Path) -> Iterator[list[str]]:
    """The fields of each process from its state on: what stands before may hold anything."""
    try:
        processes = [name for name in os.listdir(proc) if name.isdigit()]
    except OSError:
        return
    for process in processes:
        try:
            text = (proc / process / "stat").read_text(errors="replace")
        except OSError:  # it has ended
            continue
        yield text.rpartition(")")[2].split()


def _words(file: Path) -> dict[str, int]:
    """Lines of a name and a number."""
    lines = (line.split() for line in _text(file).splitlines())
    return {line[0]: int(line[1]) for line in lines if len(line) == 2 and line[1].isdigit()}


def _first(place: Path, *names: str) -> int | None:
    found = (_whole(place / name) for name in names)
    return next((number for number in found if number is not None), None)


def _whole(file: Path) -> int | None:
    text = _text(file).strip()
    return int(text) if text.isdigit() else None


def _text(file: Path) -> str:
    try:
        return file.read_text("ascii", "replace")
    except OSError:
        return ""
