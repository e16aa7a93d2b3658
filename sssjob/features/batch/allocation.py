"""What a batch system gave to a job on one node, as far as it told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sssjob.amounts import Amount
from sssjob.errors import InvalidValue
from sssjob.features.derive import derive
from sssjob.features.keys import Value
from sssjob.features.precedence import Features
from sssjob.json_text import why
from sssjob.model import Job, Property

# An id names a directory: 12345, 7.3, 12[3].server.example.org, 0.cluster@host.
_MACHINE = "machinefeatures"  # beside the directories of jobs
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+\[\]-]{0,199}")


@dataclass(frozen=True, slots=True)
class Allocation:
    """A job on one node: ``amounts`` by key of $JOBFEATURES, in bytes, seconds or a count.

    ``node`` and ``user`` are empty where nobody said them. ``alone`` tells that the job has no
    other node, so that what this one has is what the job has; None is that nobody said. ``notes``
    say what is missing, and ``unlearned`` are the limits of which the batch system did not say
    whether there is one.
    """

    job_id: str
    node: str = ""
    user: str = ""
    amounts: Mapping[str, Amount] = field(default_factory=dict)
    alone: bool | None = True
    notes: tuple[str, ...] = ()
    unlearned: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not is_id(self.job_id):
            raise InvalidValue(self.job_id, "the id of a job: letters, digits and ._@+[]-")


def is_id(name: str) -> bool:
    """Whether a name is one that a job may have, and with it a directory."""
    return bool(_ID.fullmatch(name)) and ".." not in name and name != _MACHINE


def amount(value: Fraction | int, source: str, why: str = "") -> Amount:
    """A number that the batch system stated."""
    return Amount(Fraction(value), source, why=why)


class Notes(list[str]):
    """What was found on the way, and the keys of limits of which nobody learned what they are."""

    def __init__(self) -> None:
        super().__init__()
        self.unlearned: set[str] = set()

    def lose(self, note: str, *keys: str) -> None:
        """Note why limits are not known."""
        self.append(note)
        self.unlearned.update(keys)


def limit(
    read: Callable[[str], Fraction | int | None], text: str, name: str, notes: Notes, key: str = ""
) -> Fraction | None:
    """A number in the words of a batch system; None where there is none, or nothing limits.

    One that is not understood is not known either, and noted; so is its ``key``.
    """
    try:
        value = read(text) if text else None
    except InvalidValue as error:
        notes.lose(f"{name}: {error}", *([key] if key else []))
        return None
    return None if value is None else Fraction(value)


def told(printed: str, command: str, notes: list[str]) -> object:
    """What a command printed as JSON; None where it printed nothing, or no JSON, which is noted."""
    try:
        return json.loads(printed) if printed else None
    except (ValueError, RecursionError) as error:
        notes.append(f"{command} printed no JSON: {why(error)}")
        return None


def features(
    allocation: Allocation,
    job: Job | None,
    *,
    now: int,
    settings: Mapping[str, Amount],
    machine: Mapping[str, Value],
    host: Mapping[str, Amount],
) -> Features:
    """The values of the 2016 vocabulary: what was given, and what else the job object tells.

    ``job`` is the job object with its defaults resolved, or None. The other options are those of
    ``derive``; a job on several nodes has what this node has. What neither says is absent.
    """
    granted = {"jobstart_secs": amount(now, "now"), **allocation.amounts}
    return derive(
        job or Job((Property("Id", allocation.job_id),)),
        now=now, granted=granted, settings=settings, machine=machine, host=host, guessing=False,
        called=allocation.job_id,
        nodes=() if allocation.alone or not allocation.node else (allocation.node,),
    )  # fmt: skip
