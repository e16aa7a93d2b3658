"""What a payload can know without $JOBFEATURES: of its batch system, its pod, and the kernel.

Of two that say a value, who gave it to the job counts before what the kernel enforces; that the
kernel enforces less is told. A payload imports this module: nothing here that is slow to import.
"""

from __future__ import annotations

import os

from sssjob.dotted import INSIDE, loaded
from sssjob.entry_points import may_be_declared
from sssjob.features import kernel
from sssjob.features.said import StatedValues, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sssjob.features.keys import Value

_SYSTEMS = "sssjob.systems"  # a group of entry points
_START, _WALL = "jobstart_secs", "wall_limit_secs"
_OF_A_JOB = ("job_id", _START, _WALL, "hs06_job")  # no limit by itself
_STARTING = 60  # seconds between the start of a job and that of what it runs
# What a pod's author usually calls what the downward API tells; without a limit it tells the
# whole node.
_POD = (
    ("job_id", ("POD_UID", "MY_POD_UID"), ""),
    ("allocated_cpu", ("CPU_LIMIT", "MY_CPU_LIMIT"), "cpu_limit"),
    ("max_rss_bytes", ("MEMORY_LIMIT", "MEM_LIMIT", "MY_MEM_LIMIT"), "mem_limit"),
    ("scratch_limit_bytes", ("EPHEMERAL_STORAGE_LIMIT",), "ephemeral_storage_limit"),
)
_PODINFO = "etc/podinfo"  # where the manual of Kubernetes mounts it


def read(environment: Mapping[str, str], root: str = "/", *, enforced: bool = True) -> StatedValues:
    """All that is said here of the job; ``root`` is where /proc, /sys and /etc are.

    ``enforced`` has the kernel asked about this process.
    """
    said = _of_systems(environment)
    if "KUBERNETES_SERVICE_HOST" in environment:
        said = said or StatedValues("Kubernetes")
        _pod(said, environment, root)
    said = said or StatedValues("")
    if enforced:
        _merge(said, kernel.limits(root))
    return said


def completed(job: Mapping[str, Value], said: StatedValues) -> StatedValues:
    """The values of $JOBFEATURES, with what else limits the job. # decision 621

    Of a limit that the batch system says, too, the least counts, and what the kernel enforces only
    where nobody says more. That they differ is a problem, as is a kernel that enforces less.
    """
    found = StatedValues("$JOBFEATURES")
    for key, value in job.items():
        found.take(key, value, found.by)
    for key, value in said.job.items():
        if key in _OF_A_JOB:
            continue
        if _is_enforced(key, said):
            if said.limits[key].kind != "assumed":
                found.take(key, value, said.sources[key])
        elif key in job:
            found.bound(key, value, said.sources[key])
        else:
            found.take(key, value, said.sources[key])
            _lacks(found, key, value)
    _times(found, said)
    id = str(job.get("job_id", ""))
    is_other = bool(id) and not _is_one_of(id, said.ids)
    found.problems += [said.nesting] if said.nesting else []
    if is_other:
        own = " or ".join(dict.fromkeys(said.ids))
        found.problems.append(
            f"job_id is {id} by $JOBFEATURES, but {own} by {said.by}: "
            "the directory may be that of another job"
        )
    if is_other or said.nesting:  # what the own job does not tell may be less
        found.unknown += said.unknown
    found.problems += _less(job, said.limits)
    return found


def _times(found: StatedValues, said: StatedValues) -> None:
    """The limit of elapsed time that ends first, with its own start."""
    mine, other = found.job.get(_WALL), said.job.get(_WALL)
    start, begun = found.job.get(_START), said.job.get(_START)
    if isinstance(start, int) and isinstance(begun, int) and abs(start - begun) > _STARTING:
        found.problems.append(
            f"{_START} is {start} by {found.by}, but {begun} by {said.sources[_START]}"
        )
    if isinstance(mine, int) and isinstance(other, int):
        ends = mine + int(start or begun or 0), other + int(begun or start or 0)
        if mine != other:
            found.problems.append(
                f"{_WALL} is {mine} by {found.by}, but {other} by {said.sources[_WALL]}"
            )
        if ends[0] <= ends[1]:
            other = None
    elif isinstance(other, int):
        _lacks(found, _WALL, other, said.sources[_WALL])
    if isinstance(other, int):
        for key in (_WALL, _START):
            if key in said.job:
                found.job.pop(key, None)
    for key in (_WALL, _START):
        if key in said.job and (key != _WALL or other is not None):
            found.take(key, said.job[key], said.sources[key])


def _lacks(found: StatedValues, key: str, value: Value, source: str = "") -> None:
    source = source or found.sources[key]
    found.problems.append(f"{key} is {value} by {source}, and not in {found.by}")


def _is_one_of(id: str, ids: Iterable[str]) -> bool:
    """Whether an id can be one of those of this job: the numbers count, for they have many forms.

    7 is 7.server, and any task of the array 7; of what has no number, such as a UUID, nobody says.
    """
    known = [each for each in map(_numbers, ids) if each]
    one = _numbers(id)
    return not known or one is None or any(
        one[0] == other[0] and (one[1] is None or other[1] is None or one[1] == other[1])
        for other in known
    )  # fmt: skip


def _numbers(id: str) -> tuple[int, int | None] | None:
    """The number of a job, and of its task: of 7, 7.3, 7[3].server, 7_3, 7+1 or 7.server."""
    rest = id.lstrip("0123456789")
    number = whole(id[: len(id) - len(rest)])
    if number is None or (rest and rest[0] not in ".[_+"):
        return None
    return number, whole(rest[1:].partition("]")[0])


def _is_enforced(key: str, said: StatedValues) -> bool:
    """Whether it is the kernel that says a value."""
    return key in said.limits and said.sources[key].startswith(f"{said.limits[key].source}: ")


def _less(values: Mapping[str, Value], limits: Mapping[str, kernel.KernelNumber]) -> list[str]:
    """A sentence for each value of which the kernel enforces less. # decision 75"""
    return [
        f"{key} is {value}, but {each.source} allows {each.value}: {each.why}"
        for key, each in limits.items()
        if each.kind != "assumed" and isinstance(value := values.get(key), int)
        and each.value < value
    ]  # fmt: skip


def _of_systems(environment: Mapping[str, str]) -> StatedValues | None:
    """What the batch systems say whose jobs these are: one runs inside another one's."""
    found: list[StatedValues | None] = [
        loaded(reader)(environment)
        for variable, reader in loaded(INSIDE).values()
        if environment.get(variable)
    ]
    if may_be_declared(_SYSTEMS):
        found.append(_of_added_system(environment))
    known = [each for each in found if each is not None]
    if len(known) > 1:
        from sssjob.features.nested import joined  # which few jobs need

        return joined(known)
    return known[0] if known else None


def _of_added_system(environment: Mapping[str, str]) -> StatedValues | None:
    """The same for those of other distributions, which take longer to import."""
    from sssjob import registry

    row = registry.inside(environment)
    if row is None:
        return None
    try:
        found: StatedValues | None = row.load()(environment)
    except Exception as error:  # a payload goes on, whatever code of other distributions does
        found = StatedValues(f"${row.variable}")
        found.problems.append(f"${row.variable}: {type(error).__name__}: {error}")
    return found


def _pod(said: StatedValues, environment: Mapping[str, str], root: str) -> None:
    """What the downward API tells, in variables or in a volume."""
    for key, variables, file in _POD:
        for variable in variables:
            if key == "job_id":
                said.text(key, variable, environment)
            else:
                said.number(key, variable, environment)
        place = os.path.join(root, _PODINFO, file)
        if file:
            said.add(key, whole(kernel.text(place)), place)


def _merge(said: StatedValues, limits: dict[str, kernel.KernelNumber]) -> None:
    """What the kernel enforces, where nobody says more or less; a pod's author may say too much.

    Who gave processors to the job gave some: that it may run on all of the node is none of these.
    """
    said.problems += _less(said.job, limits)
    said.limits = limits
    for key, each in limits.items():
        if each.kind == "assumed" and said.by:
            said.doubt(key)
            continue
        if each.value or key == "max_swap_bytes":  # no swap at all is a limit
            said.take(key, each.value, f"{each.source}: {each.why}")
