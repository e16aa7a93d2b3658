"""What the jobs of a node use while they run: looked up, kept for their end, and told to them.

Strategy. Only the kernel knows what a job uses, and only as long as its control group stands: of
many systems that has gone when the epilog runs. So each look is kept in ``ROOT/ID/used``, which
only root can write: what the epilog folds is never what a user wrote. The copy in $JOBSTATUS, as
``used_*``, is for the job and its pilot.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sssjob import atomic, host_name
from sssjob import directory_handles as handles
from sssjob.commands import CommandFailed, asked
from sssjob.errors import UnusableInput
from sssjob.features import files, samples
from sssjob.features.batch import directories
from sssjob.features.batch.call import Invocation
from sssjob.features.batch.directories import Directories
from sssjob.features.samples import Sample
from sssjob.features.used import Used
from sssjob.integers import whole

_CPU = "cpu_secs"
KEPT = "used"  # in the directory of a job
TOLD = "used_"  # before each name in $JOBSTATUS
_SHOWN = 40  # characters of what is no number
_DRIVER = Path("/proc/driver/nvidia")
_QUESTION = ("nvidia-smi", "--query-compute-apps=pid,used_gpu_memory",
             "--format=csv,noheader,nounits")  # fmt: skip
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class SampledJobs:
    """The newest sample of each job that has a control group, by id; and what went wrong."""

    samples: Mapping[str, Sample]
    notes: tuple[str, ...] = ()


def look(
    call: Invocation, root: Path, now: float, node: str = "", pattern: str = ""
) -> SampledJobs:
    """Look once at all jobs that have directories below ``root``, and keep and tell what is found.

    ``pattern`` is where control groups are, with %j for the id of a job, %u for the number of its
    user, and %n for the node; without it, the batch system knows. Raises ``Unprotected`` where
    others could lead root elsewhere, or ``OSError``.
    """
    named = node or host_name.own()
    notes: list[str] = []
    found = {}
    try:
        standing = directories.standing(root)
    except FileNotFoundError:
        return SampledJobs({})  # no job has been here
    on_gpus = _on_gpus(call, notes) if standing else {}
    for job_id in standing:
        if Directories(root, job_id).is_kept:
            continue  # it has ended, and what it used until then is kept
        try:
            with handles.protected(root) as folder, handles.inside(folder, job_id) as job:
                user = _owner(job)
                place = _expanded(pattern, job_id, named, user) if pattern else ""
                place = place or call.group_of(job_id, named, user)
                if not place:
                    continue
                before, looked = _kept(job), samples.look(place, now, on_gpus=on_gpus)
                sample = samples.after(before, looked)
                atomic.put(job, KEPT, samples.dumps(sample).encode(), durable=False)
                found[job_id] = sample.current()
                _tell(job, found[job_id], samples.gone(before, sample))
                notes += (f"{root / job_id}: {note}" for note in samples.doubts(before, looked))
        except FileNotFoundError:
            continue  # its epilog was quicker
        except UnusableInput:
            continue  # it has no control group, or none any more
        except OSError as error:
            notes.append(f"{root / job_id}: {error.filename or ''}: {error.strerror}")
    return SampledJobs(found, tuple(notes))


def last(call: Invocation, where: Directories, node: str = "", user: str = "") -> Used | None:
    """What a job used that ends: of its control group, where it still stands, and of what was kept.

    Only what root kept counts. None where nothing was measured.
    """
    before = None
    with suppress(OSError), handles.protected(where.root) as folder:  # noqa: SIM117
        with handles.inside(folder, where.job_id) as job:
            before = _kept(job)
    place = call.group() or call.group_of(where.job_id, node, user)
    with suppress(UnusableInput):
        if place:
            now = 0.0 if before is None else before.time
            return samples.after(before, samples.look(place, now)).used()
    return None if before is None else before.used()


def keep(where: Directories, used: Used, now: float) -> None:
    """Keep what a job used that has ended. Raises ``Unprotected``, or ``OSError``."""
    sample = Sample(
        now, used.cpu_secs, max_rss_bytes=used.max_rss_bytes, max_swap_bytes=used.max_swap_bytes
    )
    with handles.protected(where.root) as folder, handles.inside(folder, where.job_id) as job:
        atomic.put(job, KEPT, samples.dumps(sample).encode())


def kept(where: Directories) -> Used | None:
    """What was kept so, or by the last look. Raises ``Unprotected``, or ``OSError``."""
    with handles.protected(where.root) as folder, handles.inside(folder, where.job_id) as job:
        sample = _kept(job)
    return None if sample is None else sample.used()


class ToldSample(NamedTuple):
    """The sample in a $JOBSTATUS, and what is wrong there.

    Its ``time`` is 0 where none is told. ``is_lost`` is that CPU time is told, and not readable.
    """

    sample: Sample | None
    faults: tuple[str, ...]
    is_lost: bool = False


def told(directory: str | os.PathLike[str]) -> ToldSample:
    """The sample in a $JOBSTATUS, which its user could have written."""
    names = [TOLD + name for name in samples.NAMES]
    try:
        texts, found = files.texts(directory, names)
    except OSError as error:
        return ToldSample(None, (f"{error.strerror}",))
    faults = [each.message for each in found]
    values = {name.removeprefix(TOLD): text for name, text in texts.items()}
    faults += [
        f"{TOLD}{name} {text[:_SHOWN]!r} is no number from 0 on"
        for name, text in values.items() if not samples.is_number(text)
    ]  # fmt: skip
    sample = samples.parse(values)
    if sample is None and values:
        faults.append(f"there is no {TOLD}time to what was used")
        sample = samples.parse({**values, "time": "0"})
    wrong = {each.name for each in found if each.is_unread}
    is_lost = TOLD + _CPU in wrong or (
        _CPU in values and (sample is None or sample.cpu_secs is None)
    )
    if _CPU not in values and TOLD + _CPU not in wrong:
        if os.path.lexists(os.path.join(directory, TOLD + _CPU)):
            faults.append(f"{TOLD}{_CPU} is empty: there was no room for it")
            is_lost = True
        elif "cpu_rate" in values:
            faults.append(f"there is no {TOLD}{_CPU} to {TOLD}cpu_rate")
            is_lost = True
    return ToldSample(sample, tuple(faults), is_lost)


def _owner(job: int) -> str:
    """The number of the user to whom $JOBSTATUS belongs; "" where there is none."""
    try:
        status = os.stat("jobstatus", dir_fd=job, follow_symlinks=False)
    except FileNotFoundError:
        return ""
    return str(status.st_uid)


def _expanded(pattern: str, job_id: str, node: str, user: str) -> str:
    found = pattern
    for sign, word in (("%j", job_id), ("%n", node), ("%u", user)):
        found = found.replace(sign, word)
    return found if os.path.isdir(found) else ""


def _kept(job: int) -> Sample | None:
    try:
        octets = files.content(job, KEPT)
    except (OSError, ValueError):
        return None
    return samples.loads(octets.decode("ascii", "replace"))


def _tell(job: int, sample: Sample, gone: Iterable[str]) -> None:
    """Put it where the job sees it, and take away what is ``gone``: it is not of this time.

    The directory is a user's: each name is replaced, and no link followed. Where it is full, what
    stood there makes room, or is taken away: old figures are none. Raises ``OSError`` then.
    """
    values = sample.values()
    values["time"] = values.pop("time")  # at last: none is older than its time
    with suppress(FileNotFoundError, NotADirectoryError):  # noqa: SIM117
        with handles.inside(job, "jobstatus") as folder:
            _take_away(folder, gone)
            try:
                _put(folder, values)
            except OSError:
                _make_room(folder)
                try:
                    _put(folder, values)
                except OSError:
                    _make_room(folder)
                    raise


def _put(folder: int, values: Mapping[str, str]) -> None:
    for name, value in values.items():
        text = value and f"{value}\n"
        atomic.put(folder, TOLD + name, text.encode(), durable=False)


def _make_room(folder: int) -> None:
    """Take away all that was told; an empty file, which takes no room, tells that CPU time was."""
    others = [name for name in samples.NAMES if name != _CPU]
    try:
        _put(folder, {_CPU: ""})
        _take_away(folder, others)
    except OSError:  # there is not even room for a name
        _take_away(folder, samples.NAMES)
        with suppress(OSError):
            _put(folder, {_CPU: ""})


def _take_away(folder: int, names: Iterable[str]) -> None:
    for name in names:
        with suppress(FileNotFoundError, IsADirectoryError):
            os.unlink(TOLD + name, dir_fd=folder)


def _on_gpus(call: Invocation, notes: list[str]) -> dict[int, int]:
    """The bytes that processes have on GPUs whose driver does not tell of them in /proc."""
    if not _DRIVER.is_dir():
        return {}
    try:
        return dict(gpu_memory(asked(_QUESTION, call.environment, call.seconds)))
    except CommandFailed as error:
        notes.append(str(error))
        return {}


def gpu_memory(printed: str) -> Iterator[tuple[int, int]]:
    """Processes and their bytes, of lines such as ``4711, 512``; a process may have several GPUs.

    >>> dict(gpu_memory("7, 2\\n7, 1\\n8, [N/A]\\n"))
    {7: 3145728}
    """
    sums: dict[int, int] = {}
    for line in printed.splitlines():
        process, _, size = (each.strip() for each in line.partition(","))
        number, mebibytes = whole(process), whole(size)
        if number is not None and mebibytes is not None:
            sums[number] = sums.get(number, 0) + mebibytes * _MIB
    yield from sums.items()
