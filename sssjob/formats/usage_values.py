"""What the entries of usage records mean: GFD.98, and the CAR that was made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

from sssjob import units, usage
from sssjob.errors import InvalidValue
from sssjob.formats.usage_xml import ElementText, Entries
from sssjob.integers import LARGEST
from sssjob.model import Property
from sssjob.records import readers
from sssjob.records.clock import Clock, timed
from sssjob.records.readers import listed, noted
from sssjob.records.record import KEPT, Found, Instead, Read
from sssjob.records.values import amount, iso_duration
from sssjob.resource_names import GPU

# fmt: off
# Status in the standard's words, and what is said beside it.
STATES = {
    "aborted":   ("Completed", "aborted"),
    "completed": ("Completed", ""),
    "failed":    ("Completed", "failed"),
    "held":      ("Hold",      ""),
    "queued":    ("Idle",      ""),
    "started":   ("Running",   ""),
    "suspended": ("Suspended", ""),
}
# The kinds of points and spans of time that have a property of their own.
INSTANTS = {"ctime": "SubmitTime", "etime": "EligibleTime"}
SUSPENDED = "suspended"
PROCESSOR_TIME = "processorTime"  # the seconds of all processors, where those changed
VOLUMES = ("Memory", "Swap", "Disk", "Network")
# fmt: on
_VIRTUAL = ("virtual", "shared")  # what writers call virtual memory


def whole_of_all(read: Read) -> Read:
    """Mark a reader that is given every entry of a name, and not the text of the first."""
    read.takes_entries = True  # type: ignore[attr-defined]  # functions have attributes
    return read


def takes_entries(read: Read) -> bool:
    """Whether a reader is given every entry of a name."""
    return getattr(read, "takes_entries", False)


def status(text: str, end: str, start: str) -> Found:
    """The state; a word that is not known is one of a job that ended if the record has an end."""
    known = STATES.get(text.lower())
    if known is None:
        return _unknown(text, end, start) if text else None
    state, message = known
    found = [Property("State", state)]
    if state == "Hold":
        found.append(Property("Hold", "System"))
    if message:
        found.append(Property("StatusMessage", message))
    return tuple(found)


def _unknown(text: str, end: str, start: str) -> Found:
    """Raises ``Instead``, with the state that the times tell."""
    state = "Completed" if end else "Running" if start else "Idle"
    found = (Property("State", state), Property("StatusMessage", text))
    raise Instead(text, "a status of GFD.98 such as completed", found, f"taken for {state}")


def duration(text: str) -> Found:
    """An ISO 8601 duration in whole seconds, half a second rounded up."""
    return str(units.rounded(iso_duration(text)))


@whole_of_all
def cpu(entries: Entries) -> Found:
    """The seconds of all usage where they are stated, else those of the user and the system."""
    if not entries:
        return None
    stated = {entry.get("usageType").lower(): iso_duration(entry.text) for entry in entries}
    whole = stated.get("all", stated.get(""))
    return str(units.rounded(sum(stated.values(), Fraction(0)) if whole is None else whole))


@whole_of_all
def charge(entries: Entries) -> Found:
    """The first charge, in its currency."""
    if not entries or (text := amount(entries[0].text)) is None:
        return None
    unit = entries[0].get("unit")
    return (Property("Charge", text, {"units": unit} if unit else {}),)


@whole_of_all
def hosts(entries: Entries) -> Found:
    """The hosts of a job, the primary one first, each of them once."""
    first = [entry for entry in entries if entry.get("primary") in ("true", "1")]
    found = tuple(dict.fromkeys(entry.text for entry in (*first, *entries) if entry.text))
    return listed(found) if found else None


# decision 710
def processor_time(spans: Entries, wall: str) -> tuple[ElementText, str] | None:
    """The entry of the seconds of all processors, and its text: those, and the wall time.

    None where it does not say whole seconds, or the wall time does not.
    """
    told = next((each for each in spans if each.get("type") == PROCESSOR_TIME), None)
    try:
        found = [_whole(text) for text in (told.text, wall)] if told else []
    except InvalidValue:
        return None
    return (told, " ".join(map(str, found))) if told and found and all(found) else None


def _whole(text: str) -> int:
    """A duration in seconds; 0 where that is not whole, or too large. Raises ``InvalidValue``."""
    seconds = iso_duration(text)
    return seconds.numerator if seconds.denominator == 1 and seconds <= LARGEST else 0


def processors_of(text: str) -> Found:
    """Processors that for the times that they say are so many seconds in all, and the wall time."""
    if not text:
        return None
    seconds, wall = map(int, text.split())
    return usage.processors(seconds, wall)


@whole_of_all
def processors(entries: Entries) -> Found:
    """The number of processors, and the fraction of them that was used."""
    text = readers.processors(entries[0].text) if entries else None
    if not isinstance(text, str):
        return None
    rate = amount(entries[0].get("consumptionRate") or "-1")
    return (Property("Processors", text, {"consumptionRate": rate} if rate else {}),)


class _Volume(NamedTuple):
    """An amount as the standard has it, or None for the property where there is no place."""

    name: str
    entry: ElementText
    item: Property | None
    odd: bool = False


@whole_of_all
def volumes(*all: Entries) -> Found:
    """Memory, swap, disk and network, at most one of each metric."""
    found = list(_volumes(all))
    items = tuple(volume.item for volume in found if volume.item is not None)
    for volume in found:
        if volume.odd:
            raise Instead(volume.entry.text, f"an amount of {volume.name}", items, KEPT)
    return items


def other_volumes(type: str) -> Read:
    """Amounts without a unit, of a rate, or of a metric that was told before; what is no amount."""

    @whole_of_all
    def read(*all: Entries) -> Found:
        return tuple(
            noted(type, volume.name, str(volume.entry))
            for volume in _volumes(all)
            if volume.item is None
        )

    return read


def _volumes(all: tuple[Entries, ...]) -> Iterator[_Volume]:
    told: set[tuple[str, str]] = set()
    for name, entries in zip(VOLUMES, all, strict=True):
        for entry in entries or ():
            try:
                item = _amount(name, entry)
            except InvalidValue:
                yield _Volume(name, entry, None, odd=True)
                continue
            key = (item.name, item.attributes["metric"]) if item else ("", "")
            yield _Volume(name, entry, None if key in told else item)
            told |= {key} if item else set()


def _amount(name: str, entry: ElementText) -> Property | None:
    virtual = name == "Memory" and entry.get("type").lower() in _VIRTUAL
    text, unit = amount(entry.text), entry.get("storageUnit")
    if text is None or not unit or entry.get("phaseUnit"):
        return None
    try:
        unit = units.unit(unit)
    except InvalidValue:
        return None
    metric = (entry.get("metric") or "total").capitalize()
    return Property("Swap" if virtual else name, text, {"metric": metric, "units": unit})


@timed
@whole_of_all
def instants(clock: Clock, entries: Entries) -> Found:
    """Points of time that have a property of their own; the first of each counts."""
    found = {
        INSTANTS[kind]: text
        for entry in reversed(entries)
        if (kind := entry.get("type").lower()) in INSTANTS
        and (text := clock.read(entry.text)) is not None
    }
    return tuple(Property(name, text) for name, text in found.items())


def other_instants(type: str) -> Read:
    """Points of time that have none, in seconds since 1970."""

    @timed
    @whole_of_all
    def read(clock: Clock, entries: Entries) -> Found:
        return tuple(
            noted(type, entry.get("type") or "TimeInstant", text)
            for entry in entries
            if entry.get("type").lower() not in INSTANTS
            and (text := clock.read(entry.text)) is not None
        )

    return read


@whole_of_all
def suspended(entries: Entries) -> Found:
    """How long the job was suspended, the one span of time that has a property of its own."""
    found = (entry.text for entry in entries if entry.get("type").lower() == SUSPENDED)
    text = next(found, None)
    return None if text is None else duration(text)


def other_spans(type: str) -> Read:
    """The other spans of time, in seconds."""

    @whole_of_all
    def read(entries: Entries) -> Found:
        return tuple(
            noted(type, entry.get("type") or "TimeDuration", str(duration(entry.text)))
            for entry in entries
            if entry.get("type").lower() != SUSPENDED
        )

    return read


@whole_of_all
def resources(entries: Entries) -> Found:
    """What was consumed beside: numbers by their description."""
    return tuple(
        Property("Resource", text, {**_described(entry.get("description")), **_unit(entry)})
        for entry in entries
        if (text := _measured(entry)) is not None
    )


def _described(text: str) -> dict[str, str]:
    """The name of a resource, and behind that of GPUs their type, as we write it."""
    name, _, kind = text.partition(" ")
    return {"name": name, "type": kind} if name == GPU and kind else {"name": text}


def described(type: str) -> Read:
    """What sites add beside the common properties, by its description."""

    return _noted_where(type, lambda entry: True)


def other_resources(type: str) -> Read:
    """The same where it is no number, or nobody said what it is."""
    return _noted_where(type, lambda entry: _measured(entry) is None)


def _noted_where(type: str, is_wanted: Callable[[ElementText], bool]) -> Read:
    @whole_of_all
    def read(entries: Entries) -> Found:
        return tuple(
            noted(type, entry.get("description") or "Resource", entry.text)
            for entry in entries
            if entry.text and is_wanted(entry)
        )

    return read


def _measured(entry: ElementText) -> str | None:
    try:
        return amount(entry.text) if entry.get("description") else None
    except InvalidValue:
        return None


def _unit(entry: ElementText) -> dict[str, str]:
    unit = entry.get("units") or entry.get("storageUnit")
    return {"units": unit} if unit else {}


@whole_of_all
def levels(entries: Entries) -> Found:
    """Benchmark figures of the machine, by the benchmark."""
    return tuple(
        Property("Resource", text, {"name": "ServiceLevel", **({"type": kind} if kind else {})})
        for entry in entries
        for kind in (entry.get("type"),)
        if (text := amount(entry.text)) is not None
    )
