"""The keys of Machine/Job Features as printed in the 2014 and the 2016 text, one row each.

Reading, writing and deriving ask these rows; a key that has no row is text of its own. A payload
imports this module: nothing here that is slow to import, decimal numbers included.
"""

from __future__ import annotations

from sssjob.integers import LARGEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from fractions import Fraction
    from typing import TypeAlias

Number: TypeAlias = "int | float | Fraction"  # float only where a payload asked for it
Value: TypeAlias = "Number | str"

TEXT, INTEGER, REAL, BOOLEAN = "text", "integer", "real", "boolean"
TIME, SECONDS, BYTES, GIGABYTES, MEGABYTES = "time", "s", "bytes", "GB", "MB"

REQUIRED, OPTIONAL, CONDITIONAL = "R", "O", "C"

# An earlier shutdown can only be a mistake: Machine/Job Features is younger than 2001.
EARLIEST = 10**9

# "A 32-bit integer" is too small for what is deployed; beyond 64 bits nothing reads it (6.5).
_DIGITS = len(str(LARGEST))
_LONGEST_NAME = 255


class Key:
    """One row: the name in each text, "" where it has none, and what the value is.

    ``kind`` is the type with its unit, ``least`` the smallest number with a meaning (None and 1:
    any number above 0), ``dynamic`` whether the value may change while the job runs.
    """

    __slots__ = ("dynamic", "kind", "least", "meaning", "required", "v2014", "v2016")

    def __init__(
        self, v2014: str, v2016: str, kind: str, least: int | None, dynamic: bool,
        required: str, meaning: str,
    ) -> None:  # fmt: skip
        self.v2014, self.v2016, self.kind, self.least = v2014, v2016, kind, least
        self.dynamic, self.required, self.meaning = dynamic, required, meaning

    def __repr__(self) -> str:
        return f"<key {self.name}: {self.kind}>"

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
    Key("",                     "max_swap_bytes",      BYTES,     0,    False, REQUIRED,    "swap of all processes"),
    Key("jobstart_secs",        "jobstart_secs",       TIME,      1,    False, REQUIRED,    "when the batch system started the job"),
    Key("allocated_CPU",        "allocated_cpu",       INTEGER,   1,    True,  REQUIRED,    "processors given to this job"),
    Key("shutdowntime_job",     "shutdowntime_job",    TIME,      1,    True,  OPTIONAL,    "when the job must have finished"),
    Key("",                     "grace_secs_job",      INTEGER,   0,    False, CONDITIONAL, "least notice that is given of shutdowntime_job"),
    Key("",                     "hs06_job",            REAL,      None, False, REQUIRED,    "this job's share of the machine's rating"),
    Key("",                     "job_id",              TEXT,      None, False, REQUIRED,    "the local job id: printable ASCII without blanks"),
)

# By the variable that names the directory of each.
BY_VARIABLE = {"MACHINEFEATURES": MACHINE_FEATURES, "JOBFEATURES": JOB_FEATURES}

# $JOBSTATUS, written by the job itself. The first one is the lock of all.
JOB_STATUS = (
    Key("used_CPU",              "", REAL,    0,        True, REQUIRED, "cores in use now, at most allocated_CPU"),
    Key("last_job_start",        "", TIME,    1,        True, REQUIRED, "when the most recent user job was started"),
    Key("first_exp_job_end",     "", TIME,    1,        True, REQUIRED, "earliest end that is expected among the running user jobs"),
    Key("last_exp_job_end",      "", TIME,    1,        True, REQUIRED, "latest end that is expected"),
    Key("last_max_job_end",      "", TIME,    1,        True, REQUIRED, "latest end that is enforced"),
    Key("add_uncom_time",        "", SECONDS, 0,        True, REQUIRED, "CPU seconds that were uncommitted just before the latest start"),
    Key("add_final_exp_waste",   "", SECONDS, 0,        True, REQUIRED, "CPU seconds that draining wastes after the first end"),
    Key("can_postpone_last_job", "", BOOLEAN, None,     True, REQUIRED, "False when the pilot fetches no more work"),
    Key("priority_factor",       "", INTEGER, -LARGEST, True, OPTIONAL, "among the jobs of one user, higher is better"),
)

# fmt: on

_NEWER = {
    row.v2014: row
    for row in (*MACHINE_FEATURES, *JOB_FEATURES)
    if row.v2014 and row.v2016 and row.v2014 != row.v2016
}
_CAPITALS = {
    row.v2014
    for row in (*MACHINE_FEATURES, *JOB_FEATURES, *JOB_STATUS)
    if row.v2014 != row.v2014.lower()
}
# decision 78: what the 2014 text wants in can_postpone_last_job, and what else is met.
BOOLEANS = {
    "true": "True",
    "false": "False",
    "1": "True",
    "0": "False",
    "yes": "True",
    "no": "False",
}


def is_name(name: str) -> bool:
    """Whether a file of that name can be a key: letters, digits and underscores."""
    if not 0 < len(name) <= _LONGEST_NAME or not name.isascii():
        return False
    return name.replace("_", "a").isalnum()


def is_found(name: str) -> bool:
    """Whether a file that stands in a directory is taken for a key.

    Newer keys have no capitals, so that of those that do only the printed ones count: a README
    is no key.
    """
    return is_name(name) and (name == name.lower() or name in _CAPITALS)


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
    return row.v2016, round(value * row.scale)


def parse(
    text: str, row: Key | None, name: str = "", decimal: Callable[[str], Number] | None = None
) -> Value:
    """Text as the value of a key: white space around it and fractions are read (section 5).

    Whole numbers are rounded down, except that the 2014 sizes keep their fraction. ``decimal``
    makes the number of a text such as 11.25; without it, that is an exact Fraction.
    Raises ``InvalidValue``, also for a number that the key cannot have (6.5).
    """
    stripped = text.strip()
    if row is None or row.kind == TEXT:
        return stripped
    if row.kind == BOOLEAN:
        return _boolean(stripped)
    if len(stripped) <= _DIGITS and stripped.isascii() and stripped.isdigit():
        return admit(int(stripped), row)
    value = _number(stripped) if decimal is None or not _is_decimal(stripped) else decimal(stripped)
    exact = row.kind == REAL or (row.scale != 1 and name == row.v2014)
    return admit(value if exact else value.__floor__(), row)


def admit(value: Number, row: Key) -> Number:
    """A number if the key can have it. Raises ``InvalidValue``.

    "Zero or negative limits, NaN, values beyond 2^63-1": no file, and a word about it (6.5).
    """
    if value > LARGEST:
        raise invalid(spell(value), f"a number up to {LARGEST}")
    if row.least is not None and row.least <= 0:
        if value < row.least:
            raise invalid(spell(value), f"{row.least} or more")
    elif value <= 0:
        raise invalid(spell(value), "a number above 0")
    return value


def spell(value: Value) -> str:
    """A value as the file has it, without the newline: integers without a decimal point."""
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    from sssjob import units

    return units.decimal(value)


def _is_decimal(text: str) -> bool:
    """Whether a text is digits and one point, as ratings are written."""
    whole, point, rest = text.partition(".")
    return bool(point) and len(text) <= _DIGITS and text.isascii() and (whole + rest).isdigit()


def _number(text: str) -> Fraction:
    from sssjob import units

    return units.number(text)


def _boolean(text: str) -> str:
    found = BOOLEANS.get(text.lower())
    if found is None:
        raise invalid(text, "True or False")
    return found


def invalid(text: str, expected: str) -> ValueError:
    """That a value is none: payloads import what tells it once there is something to tell."""
    from sssjob.errors import InvalidValue

    return InvalidValue(text, expected)
