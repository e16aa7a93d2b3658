"""Which function answers which action on which object; and what answers the gateway itself has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sssjob._version import __version__
from sssjob.errors import Refused
from sssjob.handlers.attributes import Attribute
from sssjob.handlers.conditions import Conditions
from sssjob.handlers.entries import JOINS
from sssjob.handlers.finding import names as searched
from sssjob.rmap.message import Request, Row
from sssjob.rmap.responder import Answer, Call

Action = Callable[[Call], Answer]


class Actions:
    """A handler that finds the function for a request by its object and its action.

    An unknown object is refused with 740, and so are several that nothing here can join; an
    action that the object does not have with 315.
    ``quick`` tells which requests are answered at once, such as the query of one job by its Id,
    and ``slow`` those that a batch system has to answer.
    """

    def __init__(
        self,
        actions: Mapping[tuple[str, str], Action],
        quick: Callable[[Request], bool] = lambda request: False,
        slow: Callable[[Request], bool] = lambda request: False,
    ) -> None:
        self.actions = {("System", "Query"): about_itself} | dict(actions)
        self._objects = {name for name, _ in self.actions}
        self._quick, self._slow = quick, slow

    def __call__(self, call: Call) -> Answer:
        """The answer of the function. Names are case-sensitive, as in Gold."""
        request = call.request
        objects = frozenset(each.name for each in request.objects)
        if len(request.objects) > 1 and not (request.action == "Query" and objects in JOINS):
            raise Refused("740", "Only one object can be asked for here")
        action = self.actions.get((request.object, request.action))
        if action is not None:
            return action(call)
        if request.object not in self._objects:
            raise Refused("740", "The object of the request is not known here")
        raise Refused("315", f"{request.object} does not have this action here")

    def is_quick(self, request: Request) -> bool:
        """Whether a request is answered without waiting for a disk or a network."""
        known = (request.object, request.action) in self.actions
        return not known or request.object == "System" or self._quick(request)

    def is_slow(self, request: Request) -> bool:
        """Whether others should not wait behind a request."""
        return (request.object, request.action) in self.actions and self._slow(request)


def about_itself(call: Call) -> Answer:
    """What this system is: an answer to System Query, by which a client sees that all is well."""
    facts = {
        "Name": "sssjob",
        "Version": __version__,
        "Organization": "",
        "Description": "SSSRMAP gateway for SSS job objects",
    }
    names = [get.name for get in call.request.gets] or list(facts)
    if unknown := [name for name in names if name not in facts]:
        raise Refused("318", f"{unknown[0]} is no attribute of System")
    asked = call.request

    def known(name: str, kind: str) -> Attribute | None:
        return Attribute(name) if name in facts else None

    conditions = Conditions(asked.wheres, asked.object, searched(asked), known)
    row = Row("System", tuple((name, facts[name]) for name in names))
    return Answer([row] if conditions.hold(_Facts(facts)) else [])


@dataclass(frozen=True, slots=True)
class _Facts:
    """What conditions on System are asked of."""

    facts: Mapping[str, str]

    def text(self, attribute: Attribute) -> str | None:
        return self.facts[attribute.name]

    def property(self, attribute: Attribute) -> None:
        return None

    def number(self, attribute: Attribute) -> None:
        return None
