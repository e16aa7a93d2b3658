"""Whether two names are of one job: batch systems and sites spell the same id in many ways.

A payload imports this module: nothing here that is slow to import.
"""

from __future__ import annotations

from sssjob import host_name, integers

_DIGITS = 20  # ids of Flux have 64 bits
_BEFORE_A_TASK = "_+-"  # of Slurm's arrays and heterogeneous jobs, and of TORQUE's arrays


class _JobName:
    """The number of a job, that of its task or component, and the server that counts them.

    ``task`` is None, and ``server`` is "", where the name has none.
    """

    __slots__ = ("number", "server", "task")

    def __init__(self, number: int, task: int | None = None, server: str = "") -> None:
        self.number, self.task, self.server = number, task, server


def same(named: str, own: str, *, is_whole: bool = True) -> bool | None:
    """Whether a name is that of the job ``own``; None where one has no number, such as a UUID.

    ``is_whole`` is whether the number alone can stand for a task of this job, too: so it is where
    all tasks of an array have one number, and not where that is the id of another task.

    >>> same("7", "7.server"), same("7.s2", "7.s1"), same("7[3]", "7[4].s"), same("f-1", "7")
    (True, False, False, None)
    >>> same("7", "7[4].s"), same("7", "7_4", is_whole=False), same("7_4", "7")
    (True, False, False)
    """
    if named == own:
        return True
    one, other = _parsed(named), _parsed(own)
    if one is None or other is None:
        return None
    if one.number != other.number or not _fits(one.server, other.server):
        return False
    return one.task == other.task or (is_whole and one.task is None)


def _fits(one: str, other: str) -> bool:
    """Whether two names of servers can be of one; it may have a domain behind it."""
    return not (one and other) or host_name.short(one) == host_name.short(other)


def _parsed(name: str) -> _JobName | None:
    """What a name says: 7, 7.3, 7.server, 7[3].server, 7[].server, 7_3, 7+1, or host#7.3#time."""
    server, _, rest = name.partition("#")
    if rest:  # a GlobalJobId of HTCondor
        inner = _parsed(rest.partition("#")[0])
        return inner and _JobName(inner.number, inner.task, server)
    rest = name.lstrip("0123456789")
    number = _number(name[: len(name) - len(rest)])
    if number is None or not rest:
        return None if number is None else _JobName(number)
    mark, rest = rest[0], rest[1:]
    task, _, server = rest.partition(".")
    if mark == ".":
        found = _number(rest)
        return _JobName(number, found) if found is not None else _JobName(number, None, rest)
    if mark == "[" and task.endswith("]"):
        task = task[:-1]
        if not task:
            return _JobName(number, None, server)
    elif mark not in _BEFORE_A_TASK:
        return None
    index = _number(task)
    return None if index is None else _JobName(number, index, server)


def _number(digits: str) -> int | None:
    return integers.whole(digits, _DIGITS)
