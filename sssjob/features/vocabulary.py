"""The vocabularies of 2014 and 2016 from texts and into each other, through bytes and seconds.

A payload imports this module: nothing here that is slow to import.
"""

from __future__ import annotations

import time

from sssjob.features import keys
from sssjob.features.files import KeyFault, unread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sssjob.features.keys import Key, Number, Value

VOCABULARIES = ("2016", "2014", "both")
FACTOR = "cpufactor_lrms"
NORMALISED = {"cpu_limit_secs": "cpu_limit_secs_lrms", "wall_limit_secs": "wall_limit_secs_lrms"}

_OF_JOBS, _OF_MACHINES = (
    {name for row in table for name in (row.v2014, row.v2016)}
    for table in (keys.JOB_FEATURES, keys.MACHINE_FEATURES)
)
_ONLY_2014 = {row.v2014 for row in (*keys.MACHINE_FEATURES, *keys.JOB_FEATURES) if not row.v2016}
_THOUSANDTH = 10**6  # bytes in 0.001 GB of the 2014 text


def typed(
    texts: Mapping[str, str],
    table: Iterable[Key],
    decimal: Callable[[str], Number] | None = None,
    now: float | None = None,
) -> tuple[dict[str, Value], list[KeyFault]]:
    """Texts as values by a table of keys; what has no row stays text.

    ``decimal`` makes the numbers that are not whole; without it they are exact.

    Shutdown times that cannot be meant are stale and dropped: before 2001, or before the start. A
    start that lies after ``now`` (None: the clock says it) is none: then a clock was changed.
    """
    rows = {name: row for row in table for name in (row.v2014, row.v2016) if name}
    values: dict[str, Value] = {}
    faults: list[KeyFault] = []
    for name, text in texts.items():
        try:
            values[name] = keys.parse(text, rows.get(name), name, decimal)
        except ValueError as error:
            faults.append(unread(name, str(error)))
    _drop_stale(values, faults, time.time() if now is None else now)
    return values, faults


def modern(values: Mapping[str, Value]) -> tuple[dict[str, Value], list[KeyFault]]:
    """Values in the vocabulary of 2016; what only the 2014 text has keeps its name.

    Where both names stand there the newer one counts, and so does a real time before a
    normalised one; a difference beyond rounding is reported. # decision 70
    """
    found: dict[str, Value] = {}
    faults: list[KeyFault] = []
    for name, value in values.items():
        new, converted = keys.modern(name, value)
        twin = values.get(new) if new != name else None
        if twin is None:
            found[new] = converted
        elif _apart(twin, converted, name):
            faults.append(_differ(name, value, new, twin))
    _real_times(found, faults)
    _processors(found, faults)
    return found, faults


def apart(
    machine: Mapping[str, Value], job: Mapping[str, Value]
) -> tuple[dict[str, Value], dict[str, Value]]:
    """The values of one directory that is both, read by each table: every key to its own."""
    return (
        {name: value for name, value in machine.items() if name not in _OF_JOBS},
        {name: value for name, value in job.items() if name not in _OF_MACHINES},
    )


def older(values: Mapping[str, Value]) -> dict[str, Value]:
    """Values of the 2016 vocabulary by the names and in the units of 2014.

    Sizes are rounded down, and left out where nothing is left: a limit may be understated,
    never overstated. What the 2014 text does not have keeps its name, as readers ignore it.
    """
    found: dict[str, Value] = {}
    factor = values.get(FACTOR, 1)
    for name, value in values.items():
        row = keys.key(name, keys.JOB_FEATURES)
        if row is None or row.scale == 1 or isinstance(value, str):
            found[row.v2014 or name if row else name] = value
        elif (size := _rounded_down(value, row)) != 0:
            found[row.v2014] = size
        if name in NORMALISED and not isinstance(value, str) and not isinstance(factor, str):
            # decision 71: the table of the draft, not its prose: normalised = real x factor
            found.setdefault(NORMALISED[name], max(1, (value * factor).__floor__()))
    if any(name in values for name in NORMALISED):
        found.setdefault(FACTOR, factor)
    if "total_cpu" in values:
        found.setdefault("log_cores", values["total_cpu"])
    return found


def spoken(values: Mapping[str, Value], vocabulary: str) -> dict[str, Value]:
    """Values in one of ``VOCABULARIES``; "both" has every name of each.

    Keys that are in neither text are in every vocabulary.
    """
    if vocabulary == "2016":
        return {name: value for name, value in values.items() if name not in _ONLY_2014}
    return {**values, **older(values)} if vocabulary == "both" else older(values)


def made_of(name: str) -> str:
    """The 2016 key that a 2014 name is made of by ``older``; the name itself if it is none.

    >>> made_of("mem_limit_MB"), made_of("wall_limit_secs_lrms")
    ('max_rss_bytes', 'wall_limit_secs')
    """
    for real, normalised in NORMALISED.items():
        if name == normalised:
            return real
    row = keys.key(name, (*keys.JOB_FEATURES, *keys.MACHINE_FEATURES))
    return "total_cpu" if name == "log_cores" else row.name if row else name


def _rounded_down(size: Value, row: Key) -> Value:
    """A size in the unit of 2014: whole, and gigabytes below one to three decimals."""
    assert not isinstance(size, str)
    if row.kind == keys.GIGABYTES and size < row.scale:
        from fractions import Fraction

        return Fraction((size // _THOUSANDTH).__floor__(), row.scale // _THOUSANDTH)
    return (size // row.scale).__floor__()


def _real_times(values: dict[str, Value], faults: list[KeyFault]) -> None:
    """Limits in real seconds from normalised ones and the factor of the batch system."""
    factor = values.get(FACTOR)
    if factor is None or isinstance(factor, str):
        return
    for real, normalised in NORMALISED.items():
        scaled, known = values.get(normalised), values.get(real)
        if scaled is None or isinstance(scaled, str):
            continue
        if known is None:
            numerator, denominator = factor.as_integer_ratio()
            values[real] = (scaled * denominator // numerator).__floor__()
        elif not isinstance(known, str) and not _near(scaled - known * factor, max(1, factor) + 1):
            faults.append(_differ(normalised, scaled, real, known))


def _processors(values: dict[str, Value], faults: list[KeyFault]) -> None:
    """total_cpu from the cores of the 2014 text; 0 logical ones mean no hyper-threading."""
    physical, logical = values.get("phys_cores"), values.get("log_cores")
    if isinstance(physical, int) and isinstance(logical, int) and physical > logical > 0:
        # A producer that is known to swap the two still runs at sites.
        values["phys_cores"], values["log_cores"] = logical, physical
        physical, logical = logical, physical
        message = f"phys_cores {logical} and log_cores {physical} are taken the other way round"
        faults.append(KeyFault("W-DISAGREE", "phys_cores", message))
    if "total_cpu" not in values and (cores := logical or physical):
        values["total_cpu"] = cores


def _apart(newer: Value, converted: Value, name: str) -> bool:
    """Whether two spellings of one amount differ by a whole unit of the coarser one."""
    if isinstance(newer, str) or isinstance(converted, str):
        return newer != converted
    row = keys.key(name, keys.JOB_FEATURES)
    return not _near(newer - converted, row.scale if row else 1)


def _near(difference: Number, unit: Number) -> bool:
    return -unit < difference < unit


def _differ(name: str, value: Value, other: str, counts: Value) -> KeyFault:
    text = f"{name} {keys.spell(value)} is not {other} {keys.spell(counts)}, which counts"
    return KeyFault("W-DISAGREE", name, text)


def _drop_stale(values: dict[str, Value], faults: list[KeyFault], now: float) -> None:
    start = values.get("jobstart_secs", 0)
    if isinstance(start, int) and start > now:
        start = 0
    for name in ("shutdowntime", "shutdowntime_job"):
        moment = values.get(name)
        if not isinstance(moment, int) or not isinstance(start, int):
            continue
        if moment < max(keys.EARLIEST, start):
            del values[name]
            early = moment < keys.EARLIEST
            than = "2001" if early else f"the start of the job, {start}"
            message = f"{name} {moment} is stale and ignored: it lies before {than}"
            faults.append(KeyFault("W-RANGE", name, message))
