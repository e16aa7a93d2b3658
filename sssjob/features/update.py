"""Keys that change while a job runs: a shutdown that is announced, moved, or has come.

"If the resource provider announces a shutdown time to the jobs on this host, that time will not
be less than grace_secs seconds after the moment the shutdown time is set."
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from sssjob import directory_handles as handles
from sssjob.errors import InvalidValue, SSSJobError
from sssjob.features import files, keys
from sssjob.features.batch import directories
from sssjob.features.keys import Key, Value
from sssjob.features.read import read
from sssjob.features.write import naming, put, remove
from sssjob.integers import whole

SHUTDOWNS = {"shutdowntime": "grace_secs", "shutdowntime_job": "grace_secs_job"}

_RELATIVE = re.compile(r"\+([0-9]{1,18})\s*([smhd]?)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_NEVER = ("never", "none", "")


class TooSoon(SSSJobError, ValueError):
    """A shutdown nearer than the notice that was promised; ``earliest`` is what may be set."""

    def __init__(self, name: str, moment: int, earliest: int, grace: int) -> None:
        super().__init__(name, moment, earliest, grace)
        self.name, self.moment, self.earliest, self.grace = name, moment, earliest, grace

    def __str__(self) -> str:
        promise = (
            f"{SHUTDOWNS[self.name]} promises {self.grace} s" if self.grace else "that is past"
        )
        return f"{self.name} {self.moment} is too soon: {promise}; the earliest is {self.earliest}"


@dataclass(frozen=True, slots=True)
class KeyChange:
    """What was set: the key, the value (None: it is removed), and what should be known of it."""

    name: str
    value: Value | None
    advice: str = ""


def table_of(name: str) -> tuple[str, Key] | None:
    """The variable whose directory holds a key that may change, with its row; None for others."""
    for variable, table in keys.BY_VARIABLE.items():
        row = keys.key(name, table)
        if row is not None and row.dynamic:
            return variable, row
    return None


def change(
    name: str, text: str, directory: str | os.PathLike[str], now: int, *, raise_: bool = False
) -> KeyChange:
    """Set one dynamic key of a directory.

    A shutdown is ``+SECONDS`` from now (or ``+2h``), a time in seconds since 1970, or ``never``,
    which removes it. It is refused (``TooSoon``) if it is nearer than the notice that the
    directory promises, unless ``raise_`` moves it to the earliest moment. Raises ``InvalidValue``
    for what is no value of the key, and ``OSError``.
    """
    found = table_of(name)
    if found is None:
        raise InvalidValue(name, f"a key that may change: {', '.join(_dynamic())}")
    _, row = found
    if text.strip().lower() in _NEVER and row.required == keys.OPTIONAL:
        remove((name,), directory)
        if name in SHUTDOWNS:
            directories.forget(directory, name)
        return KeyChange(name, None)
    values = read(directory, (*keys.JOB_FEATURES, *keys.MACHINE_FEATURES)).values
    value = keys.parse(_moment(text, now) if name in SHUTDOWNS else text, row, name)
    advice = ""
    if name in SHUTDOWNS:
        assert isinstance(value, int)
        value, advice = _announced(name, value, values.get(SHUTDOWNS[name]), now, raise_)
    # Both names of one key stand in a directory that was written for both vocabularies.
    put(
        {name: value, **{twin: value for twin in (row.v2014, row.v2016) if twin in values}},
        directory,
    )
    return KeyChange(name, value, advice)


def expire(directory: str | os.PathLike[str], now: int) -> tuple[str, ...]:
    """Remove the shutdown times that have come: "must be removed if the shutdowntime has arrived".

    Gives the keys that were removed. One that is no number is left for whoever wrote it. Raises
    ``Unprotected`` for a directory that others can exchange, or ``OSError``.
    """
    with handles.protected(directory) as folder, naming(directory):
        texts, _ = files.texts(folder, SHUTDOWNS)
        moments = {name: whole(text) for name, text in texts.items()}
        over = [name for name, at in moments.items() if at is not None and at <= now]
        return remove(over, folder).removed if over else ()


def _announced(
    name: str, moment: int, grace: Value | None, now: int, raise_: bool
) -> tuple[int, str]:
    """A shutdown that keeps what was promised, and advice where nothing was."""
    promised = grace if isinstance(grace, int) else 0
    earliest = now + max(promised, 1)
    if moment < earliest and not raise_:
        raise TooSoon(name, moment, earliest, promised)
    if grace is None:
        advice = (
            f"no {SHUTDOWNS[name]} is promised: jobs that have started cannot rely on any notice"
        )
        return max(moment, earliest), advice
    return max(moment, earliest), ""


def _moment(text: str, now: int) -> str:
    relative = _RELATIVE.fullmatch(text.strip())
    if relative is None:
        if not text.strip().lstrip("-").isdecimal():
            raise InvalidValue(text, "+SECONDS, +90m, +2h, +1d, seconds since 1970, or never")
        return text
    return str(now + int(relative[1]) * _SECONDS[relative[2]])


def _dynamic() -> list[str]:
    return [row.name for table in keys.BY_VARIABLE.values() for row in table if row.dynamic]
