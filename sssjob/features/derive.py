"""The values of ``$JOBFEATURES`` for a job object: which element says what, in which order.

The job's defaults are resolved before. Nothing here reads a clock or a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sssjob import units
from sssjob.amounts import ASSUMED, DERIVED, UNKNOWN, Amount
from sssjob.errors import Finding, InvalidValue, finding
from sssjob.features import keys
from sssjob.features.keys import Value
from sssjob.features.sources import SOURCES, Derived, Source, Work
from sssjob.model import Job

_NOTHING: Mapping[str, Value] = {}


@dataclass(frozen=True, slots=True)
class Features:
    """The derived keys in printed order, why others are absent, and what was found on the way."""

    derived: Mapping[str, Derived] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def values(self) -> dict[str, Value]:
        """Key to value, as ``write`` takes it."""
        return {name: item.value for name, item in self.derived.items()}


def derive(
    job: Job,
    *,
    now: int | None = None,
    starting: bool = False,
    nodes: Iterable[str] = (),
    cpu_limit: bool = True,
    repair: bool = False,
    reservation_end: int | None = None,
    machine: Mapping[str, Value] = _NOTHING,
) -> Features:
    """The values of the 2016 vocabulary for a job whose defaults are resolved.

    ``now`` is what the deadline and the start are compared with, and the start itself if the
    job is ``starting`` and has no StartTime. ``nodes`` restricts counts and sizes to the tasks
    on those nodes. ``cpu_limit`` lets the CPU time limit follow from the elapsed time limit.
    ``repair`` turns groups round that balance only then. ``machine`` holds $MACHINEFEATURES.
    """
    work = _Derivation(job, now, starting, frozenset(nodes), cpu_limit, repair, machine)
    work.reservation_end = reservation_end
    for name, sources in SOURCES.items():
        work.settle(name, sources)
    work.carry()
    order = keys.names(keys.JOB_FEATURES)
    known = {name: work.derived[name] for name in order if name in work.derived}
    absent = {name: work.absent.get(name, "nothing says it") for name in order if name not in known}
    return Features({**known, **work.derived}, absent, tuple(work.findings))


def job_id(text: str) -> str:
    """An Id as printable ASCII without blanks: other bytes of its UTF-8 are percent-encoded.

    >>> job_id("Heavy Wässer")
    'Heavy%20W%C3%A4sser'
    """
    octets = text.strip().encode("utf-8", "surrogatepass")
    return "".join(chr(byte) if 0x21 <= byte <= 0x7E else f"%{byte:02X}" for byte in octets)


class _Derivation(Work):
    """A run that keeps what the sources give, checked against each other."""

    def settle(self, name: str, sources: tuple[Source, ...]) -> None:
        """Take the first source that gives a value; the others are checked against it."""
        amounts = [amount for source in sources if (amount := source(self)) is not None]
        override = self.overrides.get(name)
        if override is not None:
            self._override(name, override, amounts)
        elif amounts:
            first, *others = amounts
            for other in others:
                self._check(name, first, other)
            self._keep(name, first)

    def carry(self) -> None:
        """The extensions that have no other home."""
        for name, text in self.overrides.items():
            if name not in SOURCES:
                self._override(name, text, [])
        if not self.job.id:
            self.report(finding("E-MISSING", "a job without Id has no job_id", path="/Job"))
        else:
            self.derived.setdefault("job_id", Derived(job_id(self.job.id), "/Job/Id"))

    def _override(self, name: str, text: Value, amounts: list[Amount]) -> None:
        path = f"/Job/Extension[@name='{name}']"
        if not keys.is_name(name):
            self.report(finding("E-TYPE", f"{name!r} cannot be a key", path=path))
            return
        try:
            value = keys.parse(str(text), keys.key(name, keys.JOB_FEATURES), name)
        except InvalidValue as error:
            self.report(finding("E-TYPE", f"{name}: {error}", path=path))
            return
        if value == "":
            return
        self.derived[name] = Derived(value, path, why="an extension wins")
        if amounts and amounts[0].basis not in (ASSUMED, UNKNOWN) and not isinstance(value, str):
            if value == _number(amounts[0], name):
                text = f"the extension says what {amounts[0].source} says already"
                self.report(finding("W-USELESS", text, path=path))
            else:
                self._check(name, Amount(Fraction(value), path), amounts[0])

    def _check(self, name: str, first: Amount, other: Amount) -> None:
        if not {ASSUMED, DERIVED, UNKNOWN}.isdisjoint((first.basis, other.basis)):
            return
        if other.value == first.value or first.value in other.admitted:
            return
        self.report(
            finding(
                "W-DISAGREE",
                f"{name} is {units.decimal(first.value)} by {first.source}, "
                f"but {units.decimal(other.value)} by {other.source}",
                path=other.source,
            )
        )

    def _keep(self, name: str, amount: Amount) -> None:
        row = keys.key(name, keys.JOB_FEATURES)
        assert row is not None
        if amount.basis == UNKNOWN:
            self.absent[name] = f"{amount.source}: {amount.why}"
            return
        try:
            value = keys.admit(_number(amount, name), row)
        except InvalidValue as error:
            self.absent[name] = f"{amount.source} gives no possible value"
            self.report(finding("E-TYPE", f"{name}: {error}", path=amount.source))
            return
        self.derived[name] = Derived(value, amount.source, amount.basis, amount.why)
        if amount.basis == ASSUMED:
            text = f"{name} is assumed to be {units.decimal(amount.value)}: {amount.why}"
            self.report(finding("I-MISSING", text, path=amount.source))


def _number(amount: Amount, name: str) -> int | Fraction:
    """The amount as the key has it: ratings as they are, processors of a share rounded up."""
    if name == "hs06_job":
        return Fraction(round(amount.value * 100), 100)
    return math.ceil(amount.value) if name == "allocated_cpu" else math.floor(amount.value)
