"""What a job asks for, each with its place, and what of it nobody carries to a batch system (9.0).

Whoever makes options of a job takes what these say; what nobody took is not carried, and the
awarenessPolicy that holds at its place decides: Reject (or none, which is the same) refuses the
job, Warn lets it go and tells, Ignore lets it go. Of a request with alternatives only the chosen
one counts, and a wish (a negative preference) binds nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sssjob.amounts import Scope
from sssjob.errors import Finding, Severity, finding
from sssjob.expression import Comparison, Not, comparisons
from sssjob.model import Block, Delivered, Job, Property, Requested, Task, TaskGroup, stripped

REJECT, WARN, IGNORE = "Reject", "Warn", "Ignore"
NO_OPTION = "there is no option for it"

# What says who or what a job is, or what became of it, and asks a batch system for nothing.
FACTS = frozenset((
    "Application", "Charge", "Checkpointable", "CpuDuration", "EndTime", "ExitCode", "GlobalId",
    "GlobalUser", "Id", "Process", "ReservationTime", "Session", "StagedTime", "StartCount",
    "StartTime", "State", "StatusMessage", "SubmitHost", "SubmitTime", "SuspendDuration",
    "TimeCategory", "Type",
))  # fmt: skip
# Extensions that the prolog reads in the document, so that no option is needed.
TOLD = ("JobFeatures", "MachineFeatures")

# What the expression of a request takes into account, and what an amount is measured by.
_LOGIC = ("op", "conj", "group", "preference", "performanceFactor")
_POLICY = "awarenessPolicy"
_SHOWN = 60  # characters of a text
_PLAIN = {"context": ("Dedicated", "Available"), "metric": ("Total",), "dynamic": ("false", "0")}


class _Place(NamedTuple):
    """A property where it stands; ``plain`` unless a request compares it by more than EQ.

    ``bounded``: an amount can be asked for by it, as it cannot by NE.
    """

    path: str
    item: Property
    policy: str
    of_job: bool
    plain: bool = True
    bounded: bool = True


class Asked:
    """A job whose defaults are resolved, as what it asks for; ``scope`` is the one of the job."""

    def __init__(self, job: Job, scope: Scope) -> None:
        self._places: list[_Place] = []
        self._reasons: dict[int, str] = {}  # by identity, of what is not carried
        self._attributes: dict[tuple[int, str], str] = {}
        self._block(job, scope, REJECT)

    def take(self, name: str, *held: str) -> list[Property]:
        """Take what the job itself says by a name, and what is requested to be equal to it.

        ``held`` are the attributes that are taken as well.
        """
        found = [
            place
            for place in self._places
            if place.item.name == name and place.of_job and place.plain
        ]
        for place in found:
            self._reasons.pop(id(place.item), None)
            for key in place.item.attributes:
                if key not in (*held, *_LOGIC, _POLICY):
                    self.refuse(place.item, NO_OPTION, key)
        return [place.item for place in found]

    def one(self, name: str, *held: str) -> Property | None:
        """Take the first of them; another that says something else is not carried."""
        found = self.take(name, *held)
        for item in found[1:]:
            if stripped(item.text) != stripped(found[0].text):
                self.refuse(item, f"{stripped(found[0].text)!r} is asked for as well")
        return found[0] if found else None

    def amounts(self, names: frozenset[str], in_groups: frozenset[str]) -> None:
        """Take amounts of the job and of its task groups, of which numbers are made."""
        for place in self._places:
            item = place.item
            if place.bounded and item.name in (names if place.of_job else in_groups):
                self._reasons.pop(id(item), None)
                for key, text in item.attributes.items():
                    known = (*_LOGIC, _POLICY, "units")
                    if key not in known and text not in _PLAIN.get(key, ()):
                        self.refuse(item, NO_OPTION, key)

    def refuse(self, item: Property, reason: str, attribute: str = "") -> None:
        """Say of what was taken that it is not carried after all, and why."""
        if attribute:
            self._attributes[id(item), attribute] = reason
        else:
            self._reasons[id(item)] = reason

    def left(self, system: str) -> Iterator[Finding]:
        """What is not carried, in document order; what may be ignored is not told."""
        for place in self._places:
            item = place.item
            if (reason := self._reasons.get(id(item))) is not None:
                text = f"{_shown(item)} is not asked of {system}: {reason}"
                yield from _told(place, place.path, text)
                continue
            for key in item.attributes:
                if reason := self._attributes.get((id(item), key), ""):
                    what = f"{key}={item.attributes[key][:_SHOWN]!r} of {item.name}"
                    text = f"{what} is not asked of {system}: {reason}"
                    yield from _told(place, f"{place.path}/@{key}", text)

    def _block(self, block: Block, scope: Scope | None, policy: str, path: str = "") -> None:
        policy = block.attributes.get(_POLICY, policy)
        path = f"{path}/{block.name}"
        for item in block.items:
            if isinstance(item, Property):
                self._add(item, path, policy, isinstance(block, Job))
            elif isinstance(item, TaskGroup):
                inner = Scope(item, f"{path}/TaskGroup", lambda found: None)
                self._block(item, inner, policy, path)
            elif isinstance(item, Requested):
                self._request(scope, item.attributes.get(_POLICY, policy), f"{path}/Requested",
                              isinstance(block, Job))  # fmt: skip
                scope = None  # which speaks of all such blocks together
            elif isinstance(item, Task) or (
                isinstance(item, Block) and type(item) is not Delivered
            ):
                self._block(item, None, policy, path)

    def _request(self, scope: Scope | None, policy: str, path: str, of_job: bool) -> None:
        chosen = scope.chosen if scope is not None else None
        for term in chosen.terms if chosen is not None else ():
            for found in comparisons(term):
                plain = isinstance(term, Comparison) and found.op == "EQ"
                # Numbers are made of the TaskCount that stands outside of the request.
                none = "EQ" if isinstance(term, Not) else "NE"
                bounded = found.op != none and found.item.name != "TaskCount"
                self._add(found.item, path, policy, of_job, plain, bounded)

    def _add(
        self, item: Property, path: str, policy: str, of_job: bool, plain: bool = True,
        bounded: bool = True,
    ) -> None:  # fmt: skip
        if item.name in FACTS and not path.endswith("/Requested"):
            return
        if item.name == "Extension" and item.attributes.get("type") in TOLD:
            return
        if item.name == "Name" and not of_job:  # what a group or a task is called
            return
        own = item.attributes.get(_POLICY, policy)
        self._places.append(_Place(f"{path}/{item.name}", item, own, of_job, plain, bounded))
        reason = NO_OPTION if plain else f"compared by {item.attributes.get('op', 'Not')}"
        self._reasons[id(item)] = reason


def _shown(item: Property) -> str:
    named = f" {item.attributes['name'][:_SHOWN]}" if "name" in item.attributes else ""
    text = f" {stripped(item.text)[:_SHOWN]!r}" if stripped(item.text) else ""
    return f"{item.name}{named}{text}"


def _told(place: _Place, path: str, text: str) -> Iterator[Finding]:
    if place.policy == IGNORE:
        return
    severity = Severity.WARNING if place.policy == WARN else Severity.ERROR
    advice = 'awarenessPolicy="Warn" submits the job without it' if place.policy != WARN else ""
    yield finding(
        "E-UNKNOWN", text, line=place.item.line, path=path, section="SSS 9.0",
        suggestion=advice, severity=severity,
    )  # fmt: skip
