"""What a job asks for, each with its place, and what of it a target does not hold (SSS 9.0).

Whoever writes for a target takes what a job says; what nobody took is a loss, and so is what was
taken and refused. Of a request with alternatives only the chosen one counts, and a wish (a
negative preference) binds nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sssjob import expression
from sssjob.amounts import Scope
from sssjob.errors import InvalidValue
from sssjob.expression import Comparison, Interval, Not, comparisons
from sssjob.model import Block, Delivered, Job, Property, Requested, TaskGroup, stripped
from sssjob.translate.losses import POLICIES, REJECT, SHOWN, Done, Loss

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
_PLAIN = {"context": ("Dedicated", "Available"), "metric": ("Total",), "dynamic": ("false", "0")}
_OVER = frozenset(("Completed", "Removed", "Cancelled", "Failed"))


class Place(NamedTuple):
    """A property where it stands; ``plain`` unless a request compares it by more than EQ.

    ``bounded``: an amount can be asked for by it, as it cannot by NE.
    """

    path: str
    item: Property
    policy: str
    of_job: bool
    plain: bool = True
    bounded: bool = True
    requested: bool = False
    fact: bool = False


class _Fate(NamedTuple):
    """What becomes of a property that a target does not hold as it is."""

    reason: str
    done: Done | None = None  # dropped, or kept beside


class Asked:
    """A job whose defaults are resolved, as what it asks for; ``scope`` is the one of the job.

    ``unstated`` is the awarenessPolicy where the job says none.
    """

    def __init__(self, job: Job, scope: Scope, unstated: str = REJECT) -> None:
        self.job, self.scope = job, scope
        self._places: list[Place] = []
        self._fates: dict[int, _Fate] = {}  # by identity, of what is not held as it is
        self._attributes: dict[tuple[int, str], str] = {}
        self._notes: list[tuple[Place, str]] = []
        self._block(job, scope, unstated)

    @property
    def over(self) -> bool:
        """Whether the job has ended, so that its own amounts are those that it used."""
        state = self.job.get("State")
        return state in _OVER or bool(self.job.get("EndTime")) or bool(self.job.delivered)

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
            self._fates.pop(id(place.item), None)
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
            if place.bounded and place.item.name in (names if place.of_job else in_groups):
                self._take_amount(place.item)

    def bounds(self, name: str) -> Interval | None:
        """Take an amount of the job: the whole numbers that it may be; in bytes, or seconds.

        What is requested comes first. What the job says of itself counts until it has ended, and
        then only if nothing is requested at all. None where it says nothing.
        """
        requested = [place for place in self._named(name) if place.requested]
        own = [place for place in self._named(name) if not place.requested]
        for place in requested:
            if place.bounded:
                self._take_amount(place.item)
        if requested:
            return self._requested(name, requested)
        for place in own:
            if self.over and self.job.requested:
                break
            if place.item.attributes.get("metric", "") not in ("", "Total"):
                continue
            self._take_amount(place.item)
            try:
                value = expression.amount(place.item)
            except InvalidValue as error:
                self.refuse(place.item, str(error))
                continue
            return Interval(value, value).whole()
        return None

    def items(self, *names: str) -> list[Property]:
        """What the job itself says and requests by some names, taken or not."""
        return [place.item for place in self._places if place.of_job and place.item.name in names]

    def refuse(self, item: Property, reason: str, attribute: str = "") -> None:
        """Say of what was taken that it is not carried after all, and why."""
        if attribute:
            self._attributes[id(item), attribute] = reason
        else:
            self._fates[id(item)] = _Fate(reason)

    def approximate(self, name: str, reason: str, done: Done = Done.APPROXIMATED) -> None:
        """Say of all that was taken by a name that it is there as another value."""
        for place in self._places:
            if place.item.name == name and id(place.item) not in self._fates:
                self._fates[id(place.item)] = _Fate(reason, done)

    def convert(self, name: str, how: str) -> None:
        """Say of what was taken by a name by which arithmetic it is another number there."""
        self.approximate(name, how, Done.CONVERTED)

    def losses(self, target: str, *, kept: bool = False) -> Iterator[Loss]:
        """What is not held as it is, in document order; ``kept`` if a residual holds it."""
        otherwise = Done.RESIDUAL if kept else Done.DROPPED
        job = self.job.id
        for place in self._places:
            item = place.item
            policy = place.policy if place.policy in POLICIES else REJECT
            if (fate := self._fates.get(id(item))) is not None:
                yield Loss(
                    place.path, stripped(item.text), target, fate.reason, fate.done or otherwise,
                    policy, place.fact, item.line, job, _shown(item),
                )  # fmt: skip
                continue
            for key in item.attributes:
                if reason := self._attributes.get((id(item), key), ""):
                    value = item.attributes[key]
                    what = f"{key}={value[:SHOWN]!r} of {item.name}"
                    yield Loss(
                        f"{place.path}/@{key}", value, target, reason, otherwise, policy,
                        place.fact, item.line, job, what,
                    )  # fmt: skip

    def _named(self, name: str) -> list[Place]:
        return [place for place in self._places if place.of_job and place.item.name == name]

    def _requested(self, name: str, places: list[Place]) -> Interval | None:
        chosen = self.scope.chosen
        try:
            found = expression.interval(chosen.terms if chosen else (), name).whole()
        except InvalidValue as error:
            for place in places:
                self.refuse(place.item, str(error))
            return None
        return found if found.bounded else None

    def _take_amount(self, item: Property) -> None:
        self._fates.pop(id(item), None)
        for key, text in item.attributes.items():
            known = (*_LOGIC, _POLICY, "units")
            if key not in known and text not in _PLAIN.get(key, ()):
                self.refuse(item, NO_OPTION, key)

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
            elif type(item) is Delivered:
                self._facts(item, policy, path)
            elif isinstance(item, Block):
                self._block(item, None, policy, path)

    def _facts(self, block: Delivered, policy: str, path: str) -> None:
        """What a job was given asks for nothing."""
        policy = block.attributes.get(_POLICY, policy)
        for item in block.properties:
            own = item.attributes.get(_POLICY, policy)
            place = Place(f"{path}/Delivered/{item.name}", item, own, False, False, False, False,
                          True)  # fmt: skip
            self._places.append(place)
            self._fates[id(item)] = _Fate(NO_OPTION)

    def _request(self, scope: Scope | None, policy: str, path: str, of_job: bool) -> None:
        chosen = scope.chosen if scope is not None else None
        for term in chosen.terms if chosen is not None else ():
            for found in comparisons(term):
                plain = isinstance(term, Comparison) and found.op == "EQ"
                # Numbers are made of the TaskCount that stands outside of the request.
                none = "EQ" if isinstance(term, Not) else "NE"
                bounded = found.op != none and found.item.name != "TaskCount"
                self._add(found.item, path, policy, of_job, plain, bounded, True)

    def _add(
        self, item: Property, path: str, policy: str, of_job: bool, plain: bool = True,
        bounded: bool = True, requested: bool = False,
    ) -> None:  # fmt: skip
        if item.name == "Extension" and item.attributes.get("type") in TOLD:
            return
        if item.name == "Name" and not of_job:  # what a group or a task is called
            return
        own = item.attributes.get(_POLICY, policy)
        fact = item.name in FACTS and not requested
        here = f"{path}/{item.name}"
        place = Place(here, item, own, of_job, plain, bounded, requested, fact)
        self._places.append(place)
        reason = NO_OPTION if plain else f"compared by {item.attributes.get('op', 'Not')}"
        self._fates[id(item)] = _Fate(reason)


def _shown(item: Property) -> str:
    named = f" {item.attributes['name'][:SHOWN]}" if "name" in item.attributes else ""
    text = f" {stripped(item.text)[:SHOWN]!r}" if stripped(item.text) else ""
    return f"{item.name}{named}{text}"
