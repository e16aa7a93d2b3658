"""What a payload can know without $JOBFEATURES: of its batch system, its pod, and the kernel.

Of two that say a value, who gave it to the job counts before what the kernel enforces; that the
kernel enforces less is told. A payload imports this module: nothing here that is slow to import.
"""

from __future__ import annotations

import time

from sssjob.dotted import INSIDE, loaded
from sssjob.entry_points import may_be_declared
from sssjob.feature_rules import is_told
from sssjob.features import kernel, pod
from sssjob.features.said import StatedValues, is_word, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sssjob.features.keys import Value

_SYSTEMS = "sssjob.systems"  # a group of entry points
_START, _WALL, _SHUTDOWN = "jobstart_secs", "wall_limit_secs", "shutdowntime"
_MACHINE = "$MACHINEFEATURES"
_OF_A_JOB = ("job_id", _START, _WALL, "hs06_job")  # no limit by itself
_SHOWN = 40  # characters of what is no value
_STARTING = 60  # seconds between the start of a job and that of what it runs


def read(environment: Mapping[str, str], root: str = "/", *, enforced: bool = True) -> StatedValues:
    """All that is said here of the job; ``root`` is where /proc, /sys and /etc are.

    ``enforced`` has the kernel asked about this process.
    """
    said = _of_systems(environment)
    if pod.AROUND in environment:
        said = said or StatedValues("Kubernetes")
        _pod(said, environment, root)
    said = said or StatedValues("")
    if enforced:
        _merge(said, kernel.limits(root))
    return said


def joined(
    machine: Mapping[str, Value], job: Mapping[str, Value] | None, said: StatedValues,
    now: float | None = None, unlearned: Iterable[str] = (),
) -> StatedValues:  # fmt: skip
    """All that holds: the values of both directories, and what is ``said`` besides.

    ``job`` is None where there is no $JOBFEATURES; of an empty ``machine`` the system counts. A
    start that lies after ``now`` (None: the clock says it) is now. Who made $JOBFEATURES did not
    know the ``unlearned`` keys, which the batch system may tell to its job.
    Who gave a value to the job counts before what the kernel enforces, and of several the least.
    # decision 621
    """
    moment = int(time.time() if now is None else now)
    found = said if job is None else _completed(job, said, moment)
    for key in unlearned:
        if key not in said.job or _is_enforced(key, said):
            found.doubt(key)
    found.problems += _less(found.job, said.limits)
    if machine:
        _complete_machine(found, machine, said, moment)
    else:
        found.machine = dict(said.machine)
        for key in found.machine:
            found.sources.setdefault(key, said.sources.get(key, said.by))
    return found


def _completed(job: Mapping[str, Value], said: StatedValues, now: int) -> StatedValues:
    """The values of $JOBFEATURES, with what else limits the job.

    Of a limit that the batch system says, too, the least counts, and what the kernel enforces only
    where nobody says more. That they differ is a problem. What was said and cannot be read may be
    less still. # decision 652
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
    for key, (most, source) in said.at_most.items():
        if key in job:
            found.bound(key, most, source)
    id = str(job.get("job_id", ""))
    is_other = bool(id) and not _is_one_of(id, said)
    _times(found, said, now, one_job=not is_other and not said.nesting)
    found.problems += (each for each in said.problems if each not in found.problems)
    if is_other:
        own = " or ".join(said.ids)
        found.problems.append(
            f"job_id is {id} by $JOBFEATURES, but {own} by {said.by}: "
            "the directory may be that of another job"
        )
    for key in said.doubted:
        found.doubt(key)
    if is_other or said.nesting:  # what the own job does not tell may be less
        for key in said.missing:
            found.doubt(key)
    return found


def _complete_machine(
    found: StatedValues, machine: Mapping[str, Value], said: StatedValues, now: int
) -> None:  # fmt: skip
    """The values of $MACHINEFEATURES, but an earlier shutdown that the batch system tells."""
    other = said.machine.get(_SHUTDOWN)
    found.machine = dict(machine)
    for key in machine:
        found.sources[key] = _MACHINE
    start, mine = found.job.get(_START), machine.get(_SHUTDOWN)
    if not isinstance(other, int) or other == mine:
        return
    is_leftover = isinstance(mine, int) and isinstance(start, int) and mine < min(start, now)
    if isinstance(mine, int) and not is_leftover:
        found.problems.append(f"{_SHUTDOWN} is {mine} by {_MACHINE}, but {other} by {said.by}")
        other = min(mine, other)
    else:
        found.problems.append(f"{_SHUTDOWN} is {other} by {said.by}, and not in {_MACHINE}")
    if other != mine:
        found.machine[_SHUTDOWN], found.sources[_SHUTDOWN] = other, said.by


def _times(found: StatedValues, said: StatedValues, now: int, *, one_job: bool) -> None:
    """The limit of elapsed time that ends first, with its own start.

    Where ``one_job`` is said to have started at two times, both limits count from the earlier one.
    """
    mine, other = found.job.get(_WALL), said.job.get(_WALL)
    start, begun = found.job.get(_START), said.job.get(_START)
    source = said.sources.get(_START, said.by)
    if isinstance(start, int) and isinstance(begun, int) and abs(start - begun) > _STARTING:
        found.problems.append(f"{_START} is {start} by {found.by}, but {begun} by {source}")
        if one_job and begun < start:
            found.job[_START], found.sources[_START] = begun, source
            start = begun
        elif one_job:
            begun, source = start, found.by
    if isinstance(mine, int) and isinstance(other, int):
        ends = mine + min(int(start or begun or 0), now), other + min(int(begun or start or 0), now)
        if mine != other:
            found.problems.append(
                f"{_WALL} is {mine} by {found.by}, but {other} by {said.sources[_WALL]}"
            )
        if ends[0] <= ends[1]:
            other = None
    elif isinstance(other, int):
        _lacks(found, _WALL, other, said.sources[_WALL])
    if other is not None:
        found.job.pop(_WALL, None)
        found.take(_WALL, other, said.sources[_WALL])
        if begun is not None:
            found.job.pop(_START, None)
    if begun is not None:
        found.take(_START, begun, source)


def _lacks(found: StatedValues, key: str, value: Value, source: str = "") -> None:
    source = source or found.sources[key]
    found.problems.append(f"{key} is {value} by {source}, and not in {found.by}")


def _is_one_of(id: str, said: StatedValues) -> bool:
    """Whether an id can be one of those of this job; of what has no number nobody says."""
    if not said.ids:
        return True
    from sssjob.features import job_names  # which only jobs of a batch system need

    spelled = said.spelled(id)
    found = [job_names.same(spelled, own, is_whole=whole) for own, whole in said.ids.items()]
    known = [each for each in found if each is not None]
    return any(known) or not known


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
    """What the downward API tells, in variables or in the files of a volume."""
    for name, key in pod.NAMES.items():
        for variable in pod.spellings(name):
            if key == "job_id":
                said.text(key, variable, environment)
            elif key:
                said.number(key, variable, environment)
    for name, place, text in pod.files(root):
        key = pod.NAMES[name]
        if key == "job_id" and is_word(text):
            said.add(key, text, place)
        elif key and key != "job_id" and (number := whole(text)):
            said.also(key, number, place)
        elif key:
            expected = "one word" if key == "job_id" else "a number above 0"
            said.wrong(f"{place} is {text[:_SHOWN]!r}, not {expected}", key)


def _merge(said: StatedValues, limits: dict[str, kernel.KernelNumber]) -> None:
    """What the kernel enforces, where nobody says more or less; a pod's author may say too much.

    Who gave processors to the job gave some: that it may run on all of the node is none of these.
    """
    said.limits = limits
    for key, each in limits.items():
        if each.kind == "assumed" and said.by:
            said.lacks(key)
            continue
        if is_told(key, each.value):
            said.take(key, said.bounded(key, each.value), f"{each.source}: {each.why}")
