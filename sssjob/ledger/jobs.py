"""The runs of a ledger as job objects again, for all that reads jobs.

A row holds what reports add up, so its job object tells that and no more, where records that were
converted tell it: names in Delivered, CPU time beside it, memory in KB and in MB. The row that is
made of such an object says what the row says that it came from: reports of both agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import pyarrow as pa

from sssjob.accounting import run as accounting
from sssjob.accounting.report import NAMED
from sssjob.errors import DamagedStore, hand_over
from sssjob.ledger import columns, damage, lookup, places
from sssjob.ledger.columns import EXACT, GROUPED, KEPT, SUMMED
from sssjob.ledger.ledger import Ledger
from sssjob.measures import Number, usage_of
from sssjob.model import Delivered, Item, Job, Property, Requested
from sssjob.resource_names import GPU
from sssjob.units import decimal, plain

T = TypeVar("T")

_AT_ONCE = 10_000  # rows that are held in memory

# The elements of a job object that have the value of one column: its own, and those in Delivered.
_OF_JOB = ("application", "state", "status")
GIVEN = {column: NAMED[name][0] for name, column in GROUPED.items() if name not in _OF_JOB}
OWN = {
    "id": "Id", "global_id": "GlobalId",
    **{GROUPED[name]: NAMED[name][0] for name in _OF_JOB},
    "exit_code": "ExitCode", "submit_time": "SubmitTime", "eligible_time": "EligibleTime",
    "start_time": "StartTime", "end_time": "EndTime", "suspended_seconds": "SuspendDuration",
}  # fmt: skip
# The queue of a job that never started is that of the job itself, as records have it.
QUEUE, NEVER = GROUPED["queue"], f"{columns.START} IS NULL AND {SUMMED['wall']} IS NULL"
_OF_RUN = (
    columns.MACHINE, columns.ID, columns.GLOBAL, columns.SUBMIT, columns.START, columns.END,
    SUMMED["wall"], SUMMED["processors"], SUMMED["cpu"], "exit_code",
    *(GROUPED[name] for name in accounting.CHARGED), EXACT,
)  # fmt: skip
REQUESTED = {
    "Processors": "asked_processors", "NodeCount": "asked_nodes", "Duration": "limit_seconds",
}  # fmt: skip
# How records tell a limit, energy, and memory: the attributes, and the bytes of a unit.
LIMIT = {"Duration": {"op": "LE"}}
ENERGY = {"name": "Energy", "units": "J"}
USED_MEMORY, USED_UNIT = {"metric": "Max", "units": "KB"}, 1 << 10
ASKED_MEMORY, ASKED_UNIT = {"units": "MB"}, 1 << 20
_Told = dict[str, Any]


# decision 298
def jobs(ledger: Ledger, on_error: Callable[[DamagedStore], None] | None = None) -> Iterator[Job]:
    """The job object of each run that counts, in the order of the files, a few in memory.

    A file that is torn, gone or changed goes to ``on_error``, and the rest is read; without it, it
    is raised. Raises ``UnusableStore``.
    """
    return _made(ledger, columns.NAMES, job, on_error)


# decision 351
def runs(
    ledger: Ledger, on_error: Callable[[DamagedStore], None] | None = None
) -> Iterator[accounting.StatedRun]:
    """The runs as ``sssjob audit`` compares them: those of the job objects, made of columns."""
    return _made(ledger, _OF_RUN, _run, on_error)


def _made(
    ledger: Ledger, names: Sequence[str], make: Callable[[columns.Row], T],
    on_error: Callable[[DamagedStore], None] | None,
) -> Iterator[T]:  # fmt: skip
    """What is made of these columns of each run that counts."""
    now = ledger.manifest()
    whole, faults = ledger.present(now)
    for fault in faults:
        hand_over(fault, on_error)
    replaced: dict[str, set[int]] = {}
    for each in lookup.gone(ledger.home, now).to_pylist():
        replaced.setdefault(each["file"], set()).add(each["row"])
    for file in whole:
        gone, path = replaced.get(file.name, set()), ledger.home / file.path
        if (changed := damage.fault(ledger.home, file)) is not None:
            hand_over(changed, on_error)
            continue
        try:
            for number, row in enumerate(_rows(path, names)):
                if number not in gone:
                    yield make(row)
        except (OSError, pa.ArrowException) as error:
            damaged = DamagedStore(str(path), f"cannot be read: {error}")
            hand_over(damaged, on_error)


def job(row: columns.Row) -> Job:
    """The job object of a row, as far as the row tells of it."""
    told = dict(zip(columns.NAMES, row, strict=True))
    items: list[Item] = [
        Property(element, str(told[name]))
        for name, element in OWN.items()
        if told[name] is not None
    ]
    sums = _sums(told)
    if told[columns.START] is None and sums["wall"] is None and told[QUEUE] is not None:
        items.append(Property(GIVEN[QUEUE], told[QUEUE]))
        told[QUEUE] = None
    items += _property("CpuDuration", sums["cpu"])
    for block, properties in (
        (Requested, _requested(told, sums)),
        (Delivered, _delivered(told, sums)),
    ):
        if some := tuple(properties):
            items.append(block(some))
    return Job(tuple(items))


def _sums(told: _Told) -> dict[str, Number | None]:
    """What a report adds up, exactly."""
    if told[EXACT] is not None:
        return usage_of(told[EXACT])._asdict()
    return {each.name: told[each.column] for each in KEPT}


def _requested(told: _Told, sums: dict[str, Number | None]) -> Iterator[Property]:
    for element, column in REQUESTED.items():
        yield from _property(element, told[column], LIMIT.get(element))
    yield from _property("Memory", _in(sums["asked"], ASKED_UNIT), ASKED_MEMORY)
    yield from _property("Resource", sums["asked_gpus"], {"name": GPU})


def _delivered(told: _Told, sums: dict[str, Number | None]) -> Iterator[Property]:
    for name, element in GIVEN.items():
        if told[name] is not None:
            yield Property(element, told[name])
    wall = sums["wall"]
    for element, amount in (
        ("Duration", wall),
        ("Processors", sums["processors"]),
        ("NodeCount", _each(sums["nodes"], wall, told["used_nodes"])),
    ):
        yield from _property(element, amount)
    yield from _property("Memory", _in(sums["memory"], USED_UNIT), USED_MEMORY)
    # What a file of an earlier version says of a run of 0 seconds does not tell its GPUs.
    yield from _property(
        "Resource", _each(sums["gpus"], wall, told[columns.USED_GPUS]), {"name": GPU}
    )
    yield from _property("Resource", sums["energy"], ENERGY)


def _in(amount: Number | None, unit: int) -> Number | None:
    return None if amount is None else plain(Fraction(amount) / unit)


def _each(total: Number | None, wall: Number | None, otherwise: Number | None) -> Number | None:
    """How many there were, by what they add up to over the time of the run."""
    return Fraction(total) / wall if wall and total is not None else otherwise


def _property(
    element: str, amount: Number | None, attributes: dict[str, str] | None = None
) -> Iterator[Property]:
    if amount is not None:
        yield Property(element, decimal(amount), attributes or {})


def _run(row: columns.Row) -> accounting.StatedRun:
    (
        machine, name, global_id, submit, start, end, wall, processors, cpu, exit_code, user,
        project, exact,
    ) = row  # fmt: skip
    amounts = wall, processors, cpu
    if exact is not None:
        sums = usage_of(exact)
        amounts = sums.wall, sums.processors, sums.cpu
    key = machine or "", name or "", submit, start, end
    code = "" if exit_code is None else str(exit_code)
    number = accounting.number_in(name or "")
    charged = user or "", project or ""
    return accounting.made(key, amounts, code, charged, number, global_id=global_id or "")


def _rows(path: places.Place, names: Sequence[str]) -> Iterator[columns.Row]:
    with places.parquet(path) as file:
        there = [name for name in names if name in file.schema_arrow.names]
        for batch in file.iter_batches(_AT_ONCE, columns=there, use_threads=False):
            nothing = [None] * len(batch)
            told = [batch[name].to_pylist() if name in there else nothing for name in names]
            yield from zip(*told, strict=True)
