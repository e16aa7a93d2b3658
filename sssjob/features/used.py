"""What was used: CPU time of a session, and what a control group measured."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sssjob.errors import UnusableInput
from sssjob.features import kernel
from sssjob.integers import whole

if TYPE_CHECKING:
    from sssjob.registry import Measure

_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{0,18})?")
_SIZES = ("max_rss_bytes", "max_swap_bytes", "max_scratch_bytes")
_LONGEST = 1 << 20  # characters of a file
_CPUACCT = "cpuacct.usage"


@dataclass(frozen=True, slots=True)
class Used:
    """What a job used, as measured; None is not measured. CPU time in seconds, sizes in bytes.

    In files the names are the same; batch systems have others, which stand in their folders.
    """

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

    Of v1, the CPU time is looked up in the hierarchy of its own, too. Raises ``UnusableInput`` if
    no file of a control group is there.
    """
    place = Path(directory)
    cpu = _words(place / "cpu.stat").get("usage_usec")
    seconds = None if cpu is None else cpu / 10**6
    if seconds is None and (nanoseconds := _first(_cpu_place(place), _CPUACCT)) is not None:
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


def _cpu_place(place: Path) -> Path:
    """Where v1 counts the CPU time of a group: its controllers have hierarchies of their own."""
    parts = place.parts
    if not (place / _CPUACCT).exists() and "memory" in parts:
        index = parts.index("memory")
        for name in ("cpuacct", "cpu,cpuacct"):
            other = Path(*parts[:index], name, *parts[index + 1 :])
            if (other / _CPUACCT).exists():
                return other
    return place


def of_file(path: str | os.PathLike[str]) -> Used:
    """What a file of ``NAME = VALUE`` lines says by our names or those of batch systems.

    Grid Engine leaves such a file for the epilog of a job (``$SGE_JOB_SPOOL_DIR/usage``), HTCondor
    writes ads of this form. Raises ``UnusableInput`` if none of the names is there, or ``OSError``.
    """
    rows = _measures()
    names = {name for row in rows for name in row.names}
    found: dict[str, float] = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file.read(_LONGEST).splitlines():
            name, _, value = (part.strip() for part in line.partition("="))
            if name in names and _NUMBER.fullmatch(value):
                found[name] = float(value)
    sizes = (_size(found, rows, key) for key in _SIZES)
    used = Used(_sum(found, rows, "cpu_secs"), *sizes)
    if used == Used():
        raise UnusableInput(f"{os.fspath(path)}: none of {', '.join(sorted(names))} = NUMBER")
    return used


def _measures() -> tuple[Measure, ...]:
    """What is read of a file: by our own names, then by those of batch systems."""
    from sssjob import registry  # a payload that asks for its own CPU time reads no file

    own = (registry.Measure(key, (key,)) for key in ("cpu_secs", *_SIZES))
    return (*own, *(each for row in registry.all_systems().values() for each in row.measures))


def _sum(found: Mapping[str, float], rows: Iterable[Measure], key: str) -> float | None:
    """The sum of the first row of names of which one is there."""
    for row in rows:
        if row.key == key and (known := [found[name] for name in row.names if name in found]):
            return sum(known)
    return None


def _size(found: Mapping[str, float], rows: Iterable[Measure], key: str) -> int | None:
    """The first size that is there, in bytes; without one that is above 0, nothing was measured."""
    for row in rows:
        if row.key == key and (number := found.get(row.names[0])):
            return int(number * row.unit)
    return None


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
    found = {line[0]: whole(line[1]) for line in lines if len(line) == 2}
    return {name: number for name, number in found.items() if number is not None}


def _first(place: Path, *names: str) -> int | None:
    found = (_whole(place / name) for name in names)
    return next((number for number in found if number is not None), None)


def _whole(file: Path) -> int | None:
    return whole(_text(file).strip())


def _text(file: Path) -> str:
    return kernel.text(str(file))
