"""What this process finds in its $MACHINEFEATURES and $JOBFEATURES: the library of a payload.

Local directories need nothing but this package and the standard library, and little of it.
"""

from __future__ import annotations

import os

from sssjob.features import elsewhere, files, keys, vocabulary
from sssjob.features.files import REMOTE, locate
from sssjob.features.left import left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sssjob.features.files import KeyFault
    from sssjob.features.keys import Key, Value
    from sssjob.features.left import Left


class Here:
    """The values of both directories by key, in the vocabulary of 2016.

    ``machine`` and ``job`` hold int, float or text. A key that is absent is not known, not
    applicable or no limit, never zero; one in ``unknown`` may limit the job all the same: a server
    did not say, or no value could be made of what is told. It may have a value all the same: of
    somebody else who says it, or of one of two jobs, one inside the other, which may have less.
    ``problems`` has a sentence for whatever could not be read, or is contradicted: nothing is
    raised. ``sources`` has where each value came from: a variable, a file, or a call.
    """

    __slots__ = ("job", "machine", "problems", "sources", "unknown")

    def __init__(
        self, machine: Mapping[str, Value], job: Mapping[str, Value],
        problems: tuple[str, ...] = (), unknown: tuple[str, ...] = (),
        sources: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.machine, self.job, self.problems, self.unknown = machine, job, problems, unknown
        self.sources = {} if sources is None else sources

    def __repr__(self) -> str:
        return f"<here: {len(self.machine)} keys of the machine, {len(self.job)} of the job>"

    def left(
        self, now: float | None = None, cpu_used: float | None = None,
        cpu_rate: float | None = None,
    ) -> Left:  # fmt: skip
        """What is left of the limits; ``now`` in seconds since 1970, ``cpu_used`` in seconds.

        Without ``cpu_used``, the CPU time of this process and of its children that have ended.
        ``cpu_rate`` is how many processors the job keeps busy.
        """
        if now is None:
            import time

            now = time.time()
        used = sum(os.times()[:4]) if cpu_used is None else cpu_used
        return left(self.job, self.machine, now, used, cpu_rate)


def here(
    environment: Mapping[str, str] | None = None, root: str = "", seconds: float | None = None
) -> Here:
    """Read both directories that the environment names, local ones or over HTTP(S).

    Where there is no $JOBFEATURES, the job's batch system, its pod and the kernel are asked what
    they say (``elsewhere``). With an ``environment`` the kernel is not, for that is of this
    process, unless ``root`` names where /proc and /sys are. A server has ``seconds`` to answer for
    a directory; without them, 10 for each value and 30 for all. Contradictions are problems, and so
    are a variable that is missing, a directory that cannot be read and a value that is none: no
    exceptions, a payload goes on without what it cannot know.
    """
    variables: Mapping[str, str] = os.environ if environment is None else environment
    reading = _FeatureReading()
    machine, job = (
        _values(variables.get(variable, ""), variable, rows, reading, seconds)
        for variable, rows in keys.BY_VARIABLE.items()
    )
    if variables.get("MACHINEFEATURES") == variables.get("JOBFEATURES"):
        machine, job = vocabulary.apart(machine, job)
    said = elsewhere.read(variables, root or "/", enforced=environment is None or bool(root))
    given = job if variables.get("JOBFEATURES") else None
    whole = elsewhere.joined(machine, given, said, unlearned=reading.unlearned)
    return Here(
        whole.machine, whole.job, (*reading.problems, *whole.problems),
        tuple(dict.fromkeys((*reading.unknown, *whole.unknown))), whole.sources,
    )  # fmt: skip


class _FeatureReading:
    """What is found out while directories are read."""

    __slots__ = ("problems", "unknown", "unlearned")

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.unknown: list[str] = []
        self.unlearned: list[str] = []


def _values(
    text: str, variable: str, rows: tuple[Key, ...], reading: _FeatureReading, seconds: float | None
) -> Mapping[str, Value]:
    if not text:
        reading.problems.append(f"${variable} is not set")
        return {}
    try:
        place = locate(text)
        if place.advice:
            reading.problems.append(f"${variable}: {place.advice}")
        if place.kind == REMOTE:
            from sssjob.features.remote import RemoteOptions, texts

            options = None if seconds is None else RemoteOptions(seconds, seconds)
            answer = texts(place.place, rows, options)
            reading.unknown += answer.unknown
            return _modern(answer.texts, answer.faults, rows, variable, reading)
        return _modern(*files.texts(place.place), rows, variable, reading)
    except (OSError, ValueError, ImportError) as error:
        reading.problems.append(f"${variable}: {error}")
        reading.unknown += keys.names(rows)
        return {}


def _modern(
    texts: Mapping[str, str], faults: Iterable[KeyFault], rows: tuple[Key, ...], variable: str,
    reading: _FeatureReading,
) -> Mapping[str, Value]:  # fmt: skip
    values, wrong = vocabulary.typed(texts, rows, float)
    values, apart = vocabulary.modern(values)
    unread = (vocabulary.made_of(fault.name) for fault in (*faults, *wrong) if fault.is_unread)
    reading.unknown += (name for name in unread if name not in (*values, *reading.unknown))
    reading.unlearned += (fault.name for fault in faults if fault.is_unlearned)
    reading.problems += (f"${variable}: {fault.message}" for fault in (*faults, *wrong, *apart))
    return values
