"""What the attributes of one ad come to, and of that what its job used: amounts for Delivered.

The names of the properties and the rule of each are those of the table of accounting, which reads
whole columns. Sizes are KiB, which ``KB`` is here; ``X_RAW`` is measured, ``X`` rounded up by the
schedd.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sssjob import units
from sssjob.classads import evaluate
from sssjob.classads.values import Ad, Node
from sssjob.errors import InvalidValue
from sssjob.integers import LARGEST, SMALLEST
from sssjob.model import Property
from sssjob.records.record import Field, Instead
from sssjob.systems.condor import gpus, names
from sssjob.systems.condor.accounting import table
from sssjob.systems.condor.accounting.values import (
    NUMBERS,
    WORKED_OUT,
    is_blank,
    told,
    worked_out,
)

# fmt: off
# What a slot gave, beside what the table of accounting has of it.
GIVEN = (
    ("MemoryProvisioned", "Memory", {"context": "Dedicated", "units": "MB"}),
    ("DiskProvisioned",   "Disk",   {"context": "Dedicated", "units": "KB"}),
)
# What has no element of its own.
EXTENSIONS = ("ProportionalSetSizeKb", "BlockReadKbytes", "BlockWriteKbytes", "ScratchDirFileCount")
# fmt: on
# Reports of hooks know the duration better.
_OF_REPORTS = tuple(row for row in table.USED if row.element != "Duration")

Wrong = Callable[[Field, InvalidValue], None]


def unheard(row: Field, error: InvalidValue) -> None:
    """What is no value is left out."""


def number(ad: Ad, name: str) -> int | float | None:
    """The number that an attribute is or comes to, None where no job object can have it."""
    value = evaluate.number(ad, name)
    return value if value is not None and SMALLEST <= value <= LARGEST else None


@dataclass(frozen=True, slots=True)
class AdTexts:
    """The attributes of an ad as texts, as records of accounting have them; "" for none.

    ``worked_out`` are those that are worked out of several, such as the Id and the Duration.
    """

    ad: Ad
    worked_out: Mapping[str, str]

    @classmethod
    def of(cls, ad: Ad) -> AdTexts:
        """Those of an ad, whose expressions are worked out over it."""
        numbers = [number(ad, name) for name in NUMBERS]
        return cls(ad, dict(zip(WORKED_OUT, worked_out(numbers), strict=True)))

    @property
    def ran(self) -> bool:
        """Whether the job has ever been started."""
        return bool(self.worked_out["StartTime"])

    def text(self, name: str) -> str:
        """The text of an attribute."""
        if name in self.worked_out:
            return self.worked_out[name]
        value = self.ad.get(name)
        if isinstance(value, str):
            return "" if is_blank(value) else value
        return told(number(self.ad, name) if isinstance(value, Node) else value)

    def properties(
        self, rows: Iterable[Field], wrong: Wrong = unheard
    ) -> Iterator[tuple[Field, Property]]:
        """What rows of the table make of the ad; ``wrong`` is told what is no value of its row."""
        for row in rows:
            given = [self.text(name) for name in (row.column, *row.beside)]
            try:
                found = row.read(*given) if any(given) else None
            except InvalidValue as error:
                wrong(row, error)
                if isinstance(error, Instead):
                    yield from ((row, item) for item in error.properties)
                continue
            if isinstance(found, str):
                yield row, Property(row.element, found, row.attributes)
            else:
                yield from ((row, item) for item in found or ())


def delivered(
    ad: Ad, duration: float | None = None, wrong: Wrong = unheard
) -> Iterator[Property]:  # fmt: skip
    """The properties of Delivered that an ad tells of, for a job that ran.

    ``duration`` in seconds is what the caller knows better than the ad; ``wrong`` is told what is
    no value.
    """
    texts = AdTexts.of(ad)
    if duration is not None:
        yield Property("Duration", units.rounded(duration))
    rows = table.USED if duration is None else _OF_REPORTS
    if texts.ran:
        for _, item in texts.properties(rows, wrong):
            if item.name == "Processors":
                yield _rated(ad, item)
            elif item.name == "Resource" and (models := gpus.given(ad)):
                # Which they were, where a machine describes its GPUs.
                for model, count in models.items():
                    yield Property("Resource", count, {"name": names.GPU, "type": model})
            else:
                yield item
        yield from _given(ad)


def exit_code(ad: Ad) -> str:
    """The exit code, of a job that a signal ended 128 more than it; "" where none is known."""
    texts = AdTexts.of(ad)
    rows = (row for row in table.ATTRIBUTES if row.element == "ExitCode")
    return next((item.text for _, item in texts.properties(rows)), "")


def exit_reason(ad: Ad) -> str:
    """Why a job ended, of this run of it; "" where that is not told."""
    by_signal = {True: "true", False: "false"}.get(ad.get("ExitBySignal"), "")
    return table.exit_reason(ad.text("ExitReason"), by_signal)


def _rated(ad: Ad, processors: Property) -> Property:
    """Processors with the part of them that was used."""
    used = number(ad, "CpusUsage")
    if used is None or processors.text == "0":
        return processors
    rate = Fraction(used).limit_denominator(10**6) / int(processors.text)
    return Property("Processors", processors.text, {"consumptionRate": f"{float(rate):.4g}"})


def _given(ad: Ad) -> Iterator[Property]:
    """What the slot gave, and resources of other names than the table has."""
    for name, element, attributes in GIVEN:
        value = number(ad, name)
        if value is not None and value > 0:
            yield Property(element, int(value), attributes)
    known = {row.column.lower() for row in table.USED} | {name.lower() for name, *_ in GIVEN}
    for name in ad:
        if name.lower().endswith(table.PROVISIONED) and name.lower() not in known:
            count = number(ad, name)
            if count:
                resource = names.resource(name[: -len(table.PROVISIONED)])
                yield Property("Resource", units.decimal(Fraction(count)), {"name": resource})
