"""What the control group of a job has used so far, while the job runs, and at what rate.

A sample is what one look found. ``after`` joins it to those before it: maxima only grow, for
kernels before 5.19 keep none, and the rate is that since the look before.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TypeVar

from sssjob.features.kernel import text
from sssjob.features.used import Used, of_cgroup
from sssjob.integers import whole

_PROCESSES, _FILES, _GROUPS = 4096, 4096, 1024  # the most that are looked at, of each job
_KEPT = 1 << 16  # characters of a file of samples
_LEAST = 0.5  # seconds between two looks that give a rate
_STALLED = re.compile(r"^some .*\btotal=([0-9]{1,18})$", re.MULTILINE)
_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?")
_Known = TypeVar("_Known", int, float)
_KIB = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


@dataclass(frozen=True, slots=True)
class Sample:
    """What a job used until ``time``, in seconds since 1970; None is not measured.

    CPU time in seconds, memory and swap in bytes, now and at most. ``cpu_rate`` is how many
    processors it kept busy since the look before. The ``stall`` times are seconds in which at least
    one of its processes waited for processors, memory or a disk. ``gpu_secs`` are of all engines of
    GPUs, as far as processes still held them, ``gpu_bytes`` their own memory.
    """

    time: float
    cpu_secs: float | None = None
    cpu_rate: float | None = None
    rss_bytes: int | None = None
    max_rss_bytes: int | None = None
    swap_bytes: int | None = None
    max_swap_bytes: int | None = None
    cpu_stall_secs: float | None = None
    memory_stall_secs: float | None = None
    io_stall_secs: float | None = None
    gpu_secs: float | None = None
    gpu_bytes: int | None = None
    # Of what is kept from look to look only: when the CPU time was read, if not now, and how much
    # of it was used before the control group, and its counter, were made anew.
    cpu_time: float | None = None
    cpu_before_secs: float | None = None

    def values(self) -> dict[str, str]:
        """What is known, by name, as files have it."""
        return {name: _spelled(value) for name, value in self.numbers().items()}

    def numbers(self) -> dict[str, float | int]:
        """The same as numbers."""
        found = ((name, getattr(self, name)) for name in NAMES)
        return {name: value for name, value in found if value is not None}

    def current(self) -> Sample:
        """What was found at its time, without CPU time that was read before."""
        return self if self.cpu_time is None else replace(self, cpu_secs=None, cpu_rate=None)

    def used(self) -> Used:
        """What of it a job object has a place for."""
        return Used(self.cpu_secs, self.max_rss_bytes, self.max_swap_bytes)


_KEPT_ONLY = ("cpu_time", "cpu_before_secs")
NAMES = tuple(each.name for each in fields(Sample) if each.name not in _KEPT_ONLY)
_COUNTS = tuple(name for name in NAMES if name.endswith("_bytes"))


def look(
    directory: str | os.PathLike[str], now: float, root: str = "/",
    on_gpus: Mapping[int, int] | None = None,
) -> Sample:  # fmt: skip
    """What a control group of v2, or that of the memory in v1, has used until ``now``.

    ``root`` is where /proc is, ``on_gpus`` the bytes that processes have on GPUs whose driver does
    not tell in /proc. Raises ``UnusableInput`` if there is no control group.
    """
    place = Path(directory)
    used = of_cgroup(place)
    memory = _whole(place, "memory.current", "memory.usage_in_bytes")
    swap, both = _whole(place, "memory.swap.current"), _whole(place, "memory.memsw.usage_in_bytes")
    if swap is None and both is not None and memory is not None:
        swap = max(0, both - memory)
    cpu, stalled, io = (_stalled(place / f"{name}.pressure") for name in ("cpu", "memory", "io"))
    seconds, size = _gpus(list(_processes(place)), root, on_gpus or {})
    return Sample(
        now, used.cpu_secs, None, memory, _most(used.max_rss_bytes, memory), swap,
        _most(used.max_swap_bytes, swap), cpu, stalled, io, seconds, size,
    )  # fmt: skip


def after(before: Sample | None, found: Sample) -> Sample:
    """What was found now, with the rate since the look before and the greatest of both."""
    if before is None:
        return found
    joined = replace(
        found,
        max_rss_bytes=_most(before.max_rss_bytes, found.max_rss_bytes),
        max_swap_bytes=_most(before.max_swap_bytes, found.max_swap_bytes),
        gpu_secs=_most(before.gpu_secs, found.gpu_secs),
    )
    if before.cpu_secs is None:
        return joined
    earlier = before.cpu_before_secs or 0.0
    if found.cpu_secs is None:  # it was used all the same
        read = before.time if before.cpu_time is None else before.cpu_time
        return replace(joined, cpu_secs=before.cpu_secs, cpu_time=read, cpu_before_secs=earlier)
    if found.cpu_secs < before.cpu_secs - earlier:  # a counter that began anew
        earlier = before.cpu_secs
    total = earlier + found.cpu_secs
    joined = replace(joined, cpu_secs=total, cpu_before_secs=earlier or None)
    passed = found.time - (before.time if before.cpu_time is None else before.cpu_time)
    if passed < _LEAST:
        return replace(joined, cpu_rate=before.cpu_rate)
    return replace(joined, cpu_rate=(total - before.cpu_secs) / passed)


def gone(before: Sample | None, found: Sample) -> tuple[str, ...]:
    """The names of what was known before and is not now."""
    if before is None:
        return ()
    known = found.current().numbers()
    return tuple(name for name in before.current().numbers() if name not in known)


def doubts(before: Sample | None, looked: Sample) -> tuple[str, ...]:
    """What cannot be true of a control group that goes on, as notes."""
    if before is None:
        return ()
    unread = [name for name in gone(before, looked) if name in ("cpu_secs", "rss_bytes")]
    found = [f"{name} could be read before, and cannot now" for name in unread]
    one, other = before.cpu_secs, looked.cpu_secs
    if one is not None:
        one -= before.cpu_before_secs or 0.0
    if one is not None and other is not None and other < one:
        found.append(f"CPU time fell from {one:g} to {other:g} s: the control group is a new one")
    return tuple(found)


def is_number(text: str) -> bool:
    """Whether a text is a number as samples have it."""
    return bool(_NUMBER.fullmatch(text))


def parse(values: Mapping[str, str], names: Iterable[str] = NAMES) -> Sample | None:
    """A sample of its values as files have them; what is no number is left out.

    None without the time at which it was taken.
    """
    found = {
        name: float(values[name]) if name not in _COUNTS else int(float(values[name]))
        for name in names
        if name in values and is_number(values[name])
    }
    return Sample(**found) if "time" in found else None  # type: ignore[arg-type]  # by _COUNTS


def dumps(sample: Sample) -> str:
    """All of a sample as lines of ``NAME = VALUE``, which ``used.of_file`` reads, too."""
    kept = {name: getattr(sample, name) for name in _KEPT_ONLY}
    values = sample.values() | {
        name: _spelled(value) for name, value in kept.items() if value is not None
    }
    return "".join(f"{name} = {value}\n" for name, value in values.items())


def loads(lines: str) -> Sample | None:
    """A sample of such lines; None where there is none."""
    pairs = (line.partition("=") for line in lines[:_KEPT].splitlines())
    values = {name.strip(): value.strip() for name, _, value in pairs}
    return parse(values, (*NAMES, *_KEPT_ONLY))


def _spelled(value: float | int) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6f}".rstrip("0").rstrip(".")


def _most(one: _Known | None, other: _Known | None) -> _Known | None:
    """The greater of two, as far as they are known."""
    if one is None or other is None:
        return one if other is None else other
    return max(one, other)


def _whole(place: Path, *names: str) -> int | None:
    found = (whole(text(str(place / name)).strip()) for name in names)
    return next((number for number in found if number is not None), None)


def _stalled(file: Path) -> float | None:
    """Seconds in which somebody waited, of a file of pressure stall information."""
    found = _STALLED.search(text(str(file)))
    return None if found is None else int(found[1]) / 10**6


def _processes(place: Path) -> Iterator[int]:
    """The processes of a group and of all below it."""
    left = _PROCESSES
    for number, (folder, names, _) in enumerate(os.walk(place)):
        if number >= _GROUPS:
            return
        names.sort()
        for line in text(os.path.join(folder, "cgroup.procs")).splitlines():
            left -= 1
            if left < 0:
                return
            if (process := whole(line)) is not None:
                yield process


def _gpus(
    processes: Iterable[int], root: str, on_gpus: Mapping[int, int]
) -> tuple[float | None, int | None]:
    """What processes have used of GPUs: of what drivers say of open files, and of what is given.

    A client of a driver may be open many times, in several processes, and counts once.
    """
    clients: dict[tuple[str, str], tuple[int, int]] = {}
    more = [on_gpus[each] for each in processes if each in on_gpus]
    for process in processes:
        folder = os.path.join(root, "proc", str(process), "fdinfo")
        try:
            names = sorted(os.listdir(folder))[:_FILES]
        except OSError:  # it has ended
            continue
        for name in names:
            said = text(os.path.join(folder, name))
            if "drm-client-id:" in said:
                words = dict(_pairs(said))
                key = words.get("drm-pdev", ""), words["drm-client-id"]
                clients[key] = _engines(words), _memory(words)
    if not clients:
        return None, sum(more) if more else None
    nanoseconds = sum(each for each, _ in clients.values())
    return nanoseconds / 10**9, sum(size for _, size in clients.values()) + sum(more)


def _pairs(said: str) -> Iterator[tuple[str, str]]:
    for line in said.splitlines():
        name, _, value = line.partition(":")
        yield name.strip(), value.strip()


def _engines(words: Mapping[str, str]) -> int:
    """Nanoseconds on all engines: ``drm-engine-render: 25662044495 ns``."""
    texts = (
        value for name, value in words.items()
        if name.startswith("drm-engine-") and not name.startswith("drm-engine-capacity-")
    )  # fmt: skip
    return sum(whole(value.removesuffix("ns").strip()) or 0 for value in texts)


def _memory(words: Mapping[str, str]) -> int:
    """Bytes in the memory of the GPU itself, by the newest of the names that a driver has."""
    for head in ("drm-resident-vram", "drm-memory-vram", "drm-total-vram"):
        found = [value.split() for name, value in words.items() if name.startswith(head)]
        if found:
            return sum(
                (whole(each[0]) or 0) * _KIB.get(each[1] if len(each) > 1 else "", 1)
                for each in found if each
            )  # fmt: skip
    return 0
