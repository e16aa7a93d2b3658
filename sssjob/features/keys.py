"""The keys of Machine/Job Features as printed in the 2014 and the 2016 text, one row each.

Reading, writing and deriving ask these rows; a key that has no row is text of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from sssjob import model, units
from sssjob.errors import InvalidValue

Value = int | Fraction | str

TEXT, INTEGER, REAL = "text", "integer", "real"
TIME, SECONDS, BYTES, GIGABYTES, MEGABYTES = "time", "s", "bytes", "GB", "MB"

REQUIRED, OPTIONAL, CONDITIONAL = "R", "O", "C"

# "A 32-bit integer" is too small for what is deployed; beyond 64 bits nothing reads it (6.5).
LARGEST = 2**63 - 1
# An earlier shutdown can only be a mistake: Machine/Job Features is younger than 2001.
EARLIEST = 10**9


class Key(NamedTuple):
    """One row: the name in each text, "" where it has none, and what the value is.

    ``kind`` is the type with its unit, ``least`` the smallest number with a meaning (None: any
    number above 0), ``dynamic`` whether the value may change while the job runs.
    """

    v2014: str
    v2016: str
    kind: str
    least: int | None
    dynamic: bool
    required: str
    meaning: str

    @property
    def name(self) -> str:
        """The name in the newest text that has the key."""
        return self.v2016 or self.v2014

    @property
    def scale(self) -> int:
        """How many of the 2016 unit one of the 2014 unit is."""
        return _SCALES.get(self.kind, 1) if self.v2014 and self.v2016 else 1


_SCALES = {GIGABYTES: 10**9, MEGABYTES: 10**6}

# fmt: off

MACHINE_FEATURES = (
    Key("hs06",             "hs06",           REAL,    None, False, REQUIRED,    "rating of the whole machine as it is set up"),
    Key("shutdowntime",     "shutdowntime",   TIME,    1,    True,  OPTIONAL,    "when the machine will be shut down"),
    Key("jobslots",         "",               INTEGER, 0,    True,  REQUIRED,    "job slots of the machine"),
    Key("phys_cores",       "",               INTEGER, 1,    False, REQUIRED,    "physical cores"),
    Key("log_cores",        "",               INTEGER, 0,    False, REQUIRED,    "logical cores, 0 when hyper-threading is off"),
    Key("shutdown_command", "",               TEXT,    None, False, OPTIONAL,    "command that lets the user destroy the virtual machine"),
    Key("",                 "total_cpu",      INTEGER, 1,    False, REQUIRED,    "processors that may be allocated to jobs on this machine"),
    Key("",                 "grace_secs",     INTEGER, 0,    False, CONDITIONAL, "least notice that is given of a shutdown"),
)

JOB_FEATURES = (
    Key("cpufactor_lrms",       "",                    REAL,      None, False, REQUIRED,    "normalisation factor of the batch system, reference machine 1"),
    Key("cpu_limit_secs_lrms",  "",                    SECONDS,   1,    False, REQUIRED,    "CPU time limit, normalised"),
    Key("cpu_limit_secs",       "cpu_limit_secs",      SECONDS,   1,    False, REQUIRED,    "CPU time limit over all processes of the job"),
    Key("wall_limit_secs_lrms", "",                    SECONDS,   1,    False, REQUIRED,    "elapsed time limit, normalised"),
    Key("wall_limit_secs",      "wall_limit_secs",     SECONDS,   1,    False, REQUIRED,    "elapsed time limit from jobstart_secs on, not multiplied by cores"),
    Key("disk_limit_GB",        "scratch_limit_bytes", GIGABYTES, 1,    False, REQUIRED,    "scratch space; the 2014 text counts in 10^9 bytes"),
    Key("mem_limit_MB",         "max_rss_bytes",       MEGABYTES, 1,    False, REQUIRED,    "resident memory of all processes; the 2014 text counts in 10^6 bytes"),
    Key("",                     "max_swap_bytes",      BYTES,     1,    False, REQUIRED,    "swap of all processes"),
    Key("jobstart_secs",        "jobstart_secs",       TIME,      1,    False, REQUIRED,    "when the batch system started the job"),
    Key("allocated_CPU",        "allocated_cpu",       INTEGER,   1,    True,  REQUIRED,    "processors given to this job"),
    Key("shutdowntime_job",     "shutdowntime_job",    TIME,      1,    True,  OPTIONAL,    "when the job must have finished"),
    Key("",                     "grace_secs_job",      INTEGER,   0,    False, CONDITIONAL, "least notice that is given of shutdowntime_job"),
    Key("",                     "hs06_job",            REAL,      None, False, REQUIRED,    "this job's share of the machine's rating"),
    Key("",                     "job_id",              TEXT,      None, False, REQUIRED,    "the local job id: printable ASCII without blanks"),
)

# fmt: on

_NAME = re.compile(r"[A-Za-z0-9_]{1,255}")
_NEWER = {
    row.v2014: row
    for row in (*MACHINE_FEATURES, *JOB_FEATURES)
    if row.v2014 and row.v2016 and row.v2014 != row.v2016
}


def is_name(name: str) -> bool:
    """Whether a file of that name can be a key: letters, digits and underscores."""
    return _NAME.fullmatch(name) is not None


def key(name: str, table: Iterable[Key]) -> Key | None:
    """The row that a name of either text stands for, or None."""
    return next((row for row in table if name and name in (row.v2014, row.v2016)), None)


def names(table: Iterable[Key], vocabulary: str = "v2016") -> tuple[str, ...]:
    """The names of one vocabulary, ``v2014`` or ``v2016``, in printed order."""
    return tuple(name for row in table if (name := getattr(row, vocabulary)))


def modern(name: str, value: Value) -> tuple[str, Value]:
    """A 2014 key that the 2016 text renames, by its new name and in its new unit.

    >>> modern("mem_limit_MB", 4000)
    ('max_rss_bytes', 4000000000)
    """
    row = _NEWER.get(name)
    if row is None or isinstance(value, str):
        return (row.v2016 if row else name), value
    return row.v2016, math.floor(value * row.scale)


def parse(text: str, row: Key | None, name: str = "") -> Value:
    """Text as the value of a key: white space around it and fractions are read (section 5).

    Whole numbers are rounded down, except that the 2014 sizes keep their fraction.
    Raises ``InvalidValue``, also for a number that the key cannot have (6.5).
    """
    stripped = text.strip()
    if row is None or row.kind == TEXT:
        return stripped
    value = units.number(stripped)
    exact = row.kind == REAL or (row.scale != 1 and name == row.v2014)
    return admit(value if exact else math.floor(value), row)


def admit(value: int | Fraction, row: Key) -> int | Fraction:
    """A number if the key can have it. Raises ``InvalidValue``.

    "Zero or negative limits, NaN, values beyond 2^63-1": no file, and a word about it (6.5).
    """
    if value > LARGEST:
        raise InvalidValue(spell(value), f"a number up to {LARGEST}")
    if value <= 0 and (row.least != 0 or value < 0):
        raise InvalidValue(spell(value), "a number above 0" if row.least != 0 else "0 or more")
    return value


def spell(value: Value) -> str:
    """A value as the file has it, without the newline: integers without a decimal point."""
    return value if isinstance(value, str) else model.text(value)
