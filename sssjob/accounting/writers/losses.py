"""What a target format cannot hold: each value with its path, and why.

A writer takes what it writes out of a ``TakenJob``; what nobody took is lost. The awarenessPolicy
that is stated at a value, or around it, decides what follows (SSS 9.0): Reject refuses the record,
Ignore keeps silent, Warn tells. Where none is stated, it is told.
"""

# decision 119

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from sssjob import units
from sssjob.accounting.report import JobProperties, wall_time
from sssjob.amounts import is_given
from sssjob.errors import AwarenessPolicy, InvalidValue
from sssjob.integers import LARGEST  # more is no amount, and readers take no more
from sssjob.model import Block, Delivered, Job, Property, Reference, TaskGroup, stripped, text_in

NO_PLACE = "no place for it"
WISH = "what was requested has no place"
ANOTHER = "another value is written"
NOT_WHOLE = "no whole number for the whole Duration: the seconds of all are written"

POLICY = "awarenessPolicy"


class UnwrittenValue(NamedTuple):
    """A value that a usage record cannot hold: where it stands in which job, and why it is lost.

    A ``translate.Loss`` is of a request, and says what is asked for instead.
    """

    job: str
    path: str
    value: str
    reason: str
    policy: AwarenessPolicy = AwarenessPolicy.WARN

    def as_dict(self) -> dict[str, str]:
        """The loss as JSON has it."""
        return {"job": self.job, "path": self.path, "value": self.value, "reason": self.reason}


class _PlacedProperty(NamedTuple):
    """A property where it stands, and the policy that holds for it."""

    path: str
    item: Property
    policy: AwarenessPolicy


class TakenJob:
    """A job whose properties are taken by name, those delivered before its own.

    What was requested is no usage, and is never taken; steps and other blocks are not either.
    """

    def __init__(self, job: Job) -> None:
        self.id, self._job = job.id, job
        self._delivered: dict[str, list[_PlacedProperty]] = {}
        self._own: dict[str, list[_PlacedProperty]] = {}
        self._reasons: dict[int, str] = {}  # by identity, of what is not taken
        self._lost: list[UnwrittenValue] = []
        self._attributes: dict[tuple[int, str], UnwrittenValue] = {}
        policy = AwarenessPolicy.at(job.attributes, AwarenessPolicy.WARN)
        for item in job.items:
            if type(item) is Delivered:
                inner = AwarenessPolicy.at(item.attributes, policy)
                for each in item.items:
                    self._add(self._delivered, "Delivered/", each, inner)
            elif isinstance(item, Block) or type(item) is Reference:
                self._lost += _whole(self.id, item, "", policy)
            else:
                self._add(self._own, "", item, policy)

    def all(self, name: str, *kept: str) -> list[Property]:
        """Take every property of a name: those delivered, else the job's own.

        ``kept`` are the attributes that the target holds; any other is lost. What the job itself
        says beside what was delivered is lost where it says something else.
        """
        delivered, own = self._delivered.get(name, []), self._own.get(name, [])
        found = delivered or own
        said = {_said(place.item) for place in found}
        for place in (*delivered, *own):
            if _said(place.item) in said:
                self._reasons.pop(id(place.item), None)
            elif id(place.item) in self._reasons:
                self._reasons[id(place.item)] = ANOTHER
        for place in found:
            for key, value in place.item.attributes.items():
                if key not in kept and key != POLICY:
                    path = f"{place.path}{name}/@{key}"
                    loss = UnwrittenValue(self.id, path, value, NO_PLACE, place.policy)
                    self._attributes[id(place.item), key] = loss
        return [place.item for place in found]

    def one(self, name: str, *kept: str) -> Property | None:
        """Take the first of them; the others are lost."""
        found = self.all(name, *kept)
        for item in found[1:]:
            if _said(item) != _said(found[0]):
                self.lose(item, ANOTHER)
        return found[0] if found else None

    def text(self, name: str) -> str:
        """The text of the first of them, without white space around it; "" if there is none."""
        return text_in(self.one(name))

    def peek(self, name: str, /, **attributes: str) -> str:
        """The text that ``text`` would give of those with these attributes, without taking it."""
        for places in (self._delivered, self._own):
            for each in places.get(name, ()):
                if attributes.items() <= each.item.attributes.items():
                    return stripped(each.item.text)
        return ""

    def integer(self, name: str, *, least: int = -LARGEST, most: int = LARGEST) -> int | None:
        """The first of them as a whole number between two others, or None, and it is lost."""
        found = self.one(name)
        if found is None:
            return None
        try:
            value = found.value
            if isinstance(value, str):
                value = units.integer(value)
        except InvalidValue as error:
            self.lose(found, str(error))
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            self.lose(found, "no whole number")
        elif value < least:
            self.lose(found, "below zero" if not least else "too small a number")
        elif value > most:
            self.lose(found, "too large a number")
        else:
            return value
        return None

    # decision 391
    def amount(self, name: str) -> int | None:
        """A duration in seconds, or a count, as reports have it; never below zero, or None.

        The parts of a job on several machines are added up.
        """
        found = self.all(name, "group")
        if not any(item.attributes for item in found):
            return self.integer(name, least=0)
        facts = JobProperties(self._job)
        total = wall_time(facts) if name == "Duration" else facts.given(name)
        if not any(map(is_given, found)):  # then the job's own is what counts
            for place in self._own.get(name, [])[:1]:
                self._reasons.pop(id(place.item), None)
        fits = isinstance(total, int) and 0 <= total <= LARGEST
        for item in found:
            if not is_given(item):
                self.lose(item, "measured, or of another context")
            elif facts.read(item) is None:
                self.lose(item, "no number")
            elif not fits:
                self.lose(item, "no whole number that a record can hold")
        return int(total) if fits and total is not None else None

    # decision 665
    def for_the_whole(self, item: Property) -> object:
        """The amount of a property, or of a part of it, for the whole Duration of the job.

        Readers of a record multiply them. Raises ``InvalidValue``.
        """
        return (
            JobProperties(self._job).over_time(item)
            if "duration" in item.attributes
            else item.value
        )

    # decision 710
    def processor_time(self) -> int | None:
        """The seconds of all processors, where their number for the whole Duration is not whole."""
        facts = JobProperties(self._job)
        had, wall = facts.given("Processors"), wall_time(facts)
        if had is None or not wall or isinstance(had, int):
            return None
        seconds = units.plain(Fraction(had) * Fraction(wall))
        return seconds if isinstance(seconds, int) and 0 < seconds <= LARGEST else None

    def time(self, name: str) -> int | None:
        """The first of them as a time of a calendar, which ends with the year 9999, or None."""
        return self.integer(name, least=0, most=units.YEAR_9999)

    def number(self, item: Property, *, signed: bool = False) -> bool:
        """Whether a property is a number, not below zero unless ``signed``; another is lost."""
        try:
            value = units.number(item.text)
        except InvalidValue as error:
            self.lose(item, str(error))
            return False
        if value < 0 and not signed:
            self.lose(item, "below zero")
            return False
        return True

    def hold(self, item: Property, attribute: str) -> str:
        """An attribute of a property that was taken, which is not lost then."""
        self._attributes.pop((id(item), attribute), None)
        return item.attributes.get(attribute, "")

    def lose(self, item: Property, reason: str) -> None:
        """Give a property back that cannot be written after all."""
        self._reasons[id(item)] = reason

    def losses(self, names: frozenset[str] | None = None) -> Iterator[UnwrittenValue]:
        """What nobody took, and what was given back; of all properties, or of some names."""
        for places in (*self._delivered.values(), *self._own.values()):
            for path, item, policy in places:
                if id(item) in self._reasons and (names is None or item.name in names):
                    where = f"{path}{named(item)}"
                    reason = self._reasons[id(item)]
                    yield UnwrittenValue(self.id, where, stripped(item.text), reason, policy)
        for (identity, _), loss in self._attributes.items():
            if identity not in self._reasons:  # and somebody took it
                yield loss
        yield from self._lost

    def _add(
        self,
        place: dict[str, list[_PlacedProperty]],
        path: str,
        item: object,
        policy: AwarenessPolicy,
    ) -> None:
        if isinstance(item, Property):
            policy = AwarenessPolicy.at(item.attributes, policy)
            place.setdefault(item.name, []).append(_PlacedProperty(path, item, policy))
            self._reasons[id(item)] = NO_PLACE


def _whole(
    job: str, item: Block | Reference, path: str, policy: AwarenessPolicy
) -> Iterator[UnwrittenValue]:
    """A block that no usage record has: each property of a request, a step as one."""
    policy = AwarenessPolicy.at(item.attributes, policy)
    if isinstance(item, Reference | TaskGroup):
        yield UnwrittenValue(job, f"{path}{item.name}", item.id, NO_PLACE, policy)
        return
    reason = WISH if item.name == "Requested" else NO_PLACE
    for each in item.items:
        if isinstance(each, Block | Reference):
            yield from _whole(job, each, f"{path}{item.name}/", policy)
        elif isinstance(each, Property):
            where = f"{path}{item.name}/{named(each)}"
            own = AwarenessPolicy.at(each.attributes, policy)
            yield UnwrittenValue(job, where, stripped(each.text), reason, own)


def named(item: Property) -> str:
    """The name of a property, told from others of its name."""
    told = [key for key in ("type", "name") if key in item.attributes]
    return item.name + "".join(f"[@{key}='{item.attributes[key]}']" for key in told)


def _said(item: Property) -> tuple[str, str, str, str]:
    """What makes two properties of a name the same."""
    told = (item.attributes.get(key, "") for key in ("units", "metric", "name"))
    return (stripped(item.text), *told)  # type: ignore[return-value]  # three of them
