"""What a pilot said and what was measured, as facts about a job: both may come again, later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sssjob import units
from sssjob.errors import Finding, finding
from sssjob.features import keys
from sssjob.features.status import SECTION, StatusSnapshot
from sssjob.features.used import Used
from sssjob.features.waste import Number, outlook
from sssjob.fold import DELIVERED, JOB, Fact
from sssjob.integers import whole
from sssjob.model import Job, Property

EXTENSION = "JobStatus"
TAKEN = "snapshot"  # the extension that says when the values were written


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """Facts to fold, and what does not fit."""

    facts: tuple[Fact, ...]
    findings: tuple[Finding, ...] = ()


def of_status(job: Job, snapshot: StatusSnapshot, allocated: Number | None) -> StatusFacts:
    """The facts in a snapshot: cores in use, the rest as extensions, and the derived values.

    Everything is counted at the moment when the pilot wrote it, so that folding again changes
    nothing; a job that has a later snapshot keeps it. # decision 79
    """
    moment = int(snapshot.now if snapshot.written is None else snapshot.written)
    known = job.properties.get("Extension", type=EXTENSION, name=TAKEN)
    if known is not None and (whole(known.text.strip()) or 0) > moment:
        return StatusFacts((), snapshot.findings)
    derived = outlook(snapshot.values, allocated, moment)
    findings = (
        *snapshot.findings,
        *(finding("W-RANGE", note, section=SECTION) for note in derived.notes),
    )
    figures = {
        "remaining_time_expected": derived.remaining_time_expected,
        "remaining_time_enforced": derived.remaining_time_enforced,
        "draining_waste": derived.draining_waste,
        "kill_waste": derived.kill_waste,
    }
    facts = [*_in_use(snapshot, allocated)]
    facts += [
        _extension(name, keys.spell(value))
        for name, value in snapshot.values.items()
        if name != "used_CPU"
    ]
    facts += [
        _extension(name, keys.spell(figure.value))
        for name, figure in figures.items()
        if figure is not None
    ]
    return StatusFacts((*facts, _extension(TAKEN, str(moment))), findings)


def of_usage(used: Used) -> tuple[Fact, ...]:
    """The facts in what was measured: CPU time, and the most memory, swap and scratch space."""
    found = []
    if used.cpu_secs is not None:
        found.append(Fact(Property("CpuDuration", units.rounded(used.cpu_secs)), JOB))
    for name, size in (
        ("Memory", used.max_rss_bytes), ("Swap", used.max_swap_bytes),
        ("Disk", used.max_scratch_bytes),
    ):  # fmt: skip
        if size is not None:
            text, unit = units.in_units(size)
            found.append(Fact(Property(name, text, {"metric": "Max", "units": unit})))
    return tuple(found)


def _in_use(snapshot: StatusSnapshot, allocated: Number | None) -> Iterator[Fact]:
    """The cores in use, and the part that they are of those that were given. # decision 80"""
    used = snapshot.values.get("used_CPU")
    if used is None or isinstance(used, str):
        return
    in_use = Property("Processors", keys.spell(used), {"context": "Used"})
    yield Fact(in_use, DELIVERED, renews=True)
    if allocated:
        rate = Fraction(round(Fraction(used) / Fraction(allocated) * 10**6), 10**6)
        attributes = {"consumptionRate": units.decimal(rate)}
        yield Fact(Property("Processors", keys.spell(allocated), attributes), completes=True)


def _extension(name: str, text: str) -> Fact:
    return Fact(Property("Extension", text, {"type": EXTENSION, "name": name}), JOB, renews=True)
