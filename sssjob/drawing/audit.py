"""What an audit found, as a table with what is amiss below it, and as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sssjob.accounting.audit import KINDS
from sssjob.drawing.columns import aligned
from sssjob.units import iso
from sssjob.visible import visible

if TYPE_CHECKING:
    from sssjob.accounting.audit import Amiss, Audit, Compared, Gap, MachineDay
    from sssjob.accounting.run import StatedRun

NOBODY = "-"
EMPTY = "nothing was read, and nothing is listed"
SHOWN = 10  # findings of a kind that a table lists

_COLUMNS = ("machine", "day", "listed", "read", *KINDS)


def table(found: Audit, room: int = 0) -> Iterator[str]:
    """The counts, then what is amiss, then sums and gaps; ``room`` as in ``columns.aligned``."""
    rows = [*found.rows, found.total] if len(found.rows) > 1 else found.rows
    if rows:
        yield from aligned([_COLUMNS, *(_cells(found, row) for row in rows)], 2, room)
    for kind in KINDS:
        some = [each for each in found.findings if each.kind == kind]
        yield from (_line(each) for each in some[:SHOWN])
        if (number := found.total.amiss[kind]) > SHOWN:
            yield f"{kind}: and {number - min(SHOWN, len(some))} more"
    yield from (_sum(each) for each in found.sums)
    yield from (_gap(each) for each in found.gaps[:SHOWN])
    if len(found.gaps) > SHOWN:
        yield f"gap: and {len(found.gaps) - SHOWN} more"


def as_json(found: Audit) -> dict[str, Any]:
    """All that was found; times are in seconds since 1970."""
    return {
        "ok": found.is_well and not found.is_empty,
        "rows": [_row(found, row) for row in found.rows],
        "total": _row(found, found.total),
        "findings": [
            {"kind": each.kind, **_run(each.run), **({"why": each.why} if each.why else {})}
            for each in found.findings
        ],
        "sums": [_compared(each) for each in found.sums],
        "gaps": [each._asdict() for each in found.gaps],
        "outside": found.outside,
    }


def _cells(found: Audit, row: MachineDay) -> tuple[str, ...]:
    total = row is not None and not row.day
    return (
        "(total)" if total else visible(row.machine) or NOBODY,
        row.day,
        str(row.listed) if found.listed else NOBODY,
        str(row.read),
        *(str(number) for number in row.amiss.values()),
    )


def _line(found: Amiss) -> str:
    run = found.run
    times = {"submitted": run.submit, "began": run.start, "ended": run.end}
    said = ", ".join(f"{name} {iso(at)}" for name, at in times.items() if at is not None)
    name = f"{visible(run.machine)} {visible(run.id)}" if run.machine else visible(run.id)
    why = f": {visible(found.why)}" if found.why else ""
    return f"{found.kind}: {name} ({said}){why}"


def _sum(found: Compared) -> str:
    statement = found.statement
    what = "jobs" if statement.jobs is not None else "processor seconds"
    who = visible(statement.machine or statement.submit_host) or "all"
    span = f"{iso(statement.since)} to {iso(statement.until)}"
    verdict = "agrees" if found.is_well else "differs"
    place = visible(statement.source)
    return f"{verdict}: {place}: {who}, {span}: {found.said} {what}, read {found.found}"


def _gap(gap: Gap) -> str:
    numbers = f"{gap.first}" if gap.first == gap.last else f"{gap.first} to {gap.last}"
    return f"gap: {visible(gap.machine) or NOBODY}: no job {numbers}"


def _row(found: Audit, row: MachineDay) -> dict[str, object]:
    return {
        "machine": row.machine or None, "day": row.day or None,
        "listed": row.listed if found.listed else None, "read": row.read, **row.amiss,
    }  # fmt: skip


def _run(run: StatedRun) -> dict[str, object]:
    return {
        "machine": run.machine or None, "id": run.id, "submit": run.submit, "start": run.start,
        "end": run.end,
    }  # fmt: skip


def _compared(found: Compared) -> dict[str, object]:
    statement = found.statement
    return {
        "source": statement.source,
        "since": statement.since,
        "until": statement.until,
        "machine": statement.machine or None,
        "submit_host": statement.submit_host or None,
        "what": "jobs" if statement.jobs is not None else "processor_seconds",
        "said": found.said,
        "read": found.found,
        "ok": found.is_well,
    }


def lines(found: Audit, room: int = 0) -> Iterable[str]:
    """The table; where there is nothing to show, that is said."""
    if found.is_empty:
        return [EMPTY]
    return list(table(found, room)) or ["no run that ended then was read or is listed"]
