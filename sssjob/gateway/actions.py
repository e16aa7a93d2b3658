"""Which function answers which action on which object; and what answers the gateway itself has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sssjob._version import __version__
from sssjob.errors import Refused
from sssjob.gateway.shadow import Shadow
from sssjob.gateway.upstream import Behind
from sssjob.handlers.attributes import ObjectAttribute
from sssjob.handlers.conditions import Conditions
from sssjob.handlers.entries import JOINS
from sssjob.handlers.finding import names as searched
from sssjob.rmap.message import Request, Row
from sssjob.rmap.responder import HandlerAnswer, ReceivedRequest

Action = Callable[[ReceivedRequest], HandlerAnswer]


class Actions:
    """A handler that finds the function for a request by its object and its action.

    An unknown object is refused with 740, and so are several that nothing here can join; an
    action that the object does not have with 315.
    ``quick`` tells which requests are answered at once, such as the query of one job by its Id,
    and ``slow`` those that a batch system has to answer. ``behind`` is asked for objects that are
    not kept here, as ``passing`` does it, and ``shadow`` hears of what was answered about Jobs.
    ``admit`` refuses what came before.
    """

    def __init__(
        self,
        actions: Mapping[tuple[str, str], Action],
        quick: Callable[[Request], bool] = lambda request: False,
        slow: Callable[[Request], bool] = lambda request: False,
        behind: Behind | None = None,
        shadow: Shadow | None = None,
        admit: Callable[[ReceivedRequest], None] = lambda call: None,
        passing: Action | None = None,
    ) -> None:
        self.actions = {("System", "Query"): about_itself} | dict(actions)
        self.behind, self.shadow, self._admit = behind, shadow, admit
        self._passing = passing
        self._objects = {name for name, _ in self.actions}
        self._quick, self._slow = quick, slow

    def __call__(self, call: ReceivedRequest) -> HandlerAnswer:
        """The answer of the function. Names are case-sensitive, as in Gold."""
        self._admit(call)
        if self.behind is not None and self._is_elsewhere(call.request):
            return (self._passing or self.behind.answer)(call)
        if self.shadow is None or not self.shadow.follows(call.request):
            return self._own(call)
        try:
            answer = self._own(call)
        except Refused as error:
            self.shadow.refused(call, error)
            raise
        return self.shadow.told(call, answer)

    def is_quick(self, request: Request) -> bool:
        """Whether a request is answered without waiting for a disk or a network."""
        if self._is_elsewhere(request):
            return False
        known = (request.object, request.action) in self.actions
        return not known or request.object == "System" or self._quick(request)

    def is_slow(self, request: Request) -> bool:
        """Whether others should not wait behind a request."""
        if self._is_elsewhere(request):
            return True
        known = (request.object, request.action) in self.actions
        funded = self.behind is not None and self.behind.is_slow(request)
        return known and (funded or self._slow(request))

    def _is_elsewhere(self, request: Request) -> bool:
        """Whether the server behind is asked: for objects of which none is kept here."""
        if self.behind is None or any(each.name in self._objects for each in request.objects):
            return False
        return self.behind.passes(request)

    def _own(self, call: ReceivedRequest) -> HandlerAnswer:
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


def about_itself(call: ReceivedRequest) -> HandlerAnswer:
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

    def known(name: str, kind: str) -> ObjectAttribute | None:
        return ObjectAttribute(name) if name in facts else None

    conditions = Conditions(asked.wheres, asked.object, searched(asked), known)
    row = Row("System", tuple((name, facts[name]) for name in names))
    return HandlerAnswer([row] if conditions.hold(_SystemFacts(facts)) else [])


@dataclass(frozen=True, slots=True)
class _SystemFacts:
    """What conditions on System are asked of."""

    facts: Mapping[str, str]

    def text(self, attribute: ObjectAttribute) -> str | None:
        return self.facts[attribute.name]

    def property(self, attribute: ObjectAttribute) -> None:
        return None

    def number(self, attribute: ObjectAttribute) -> None:
        return None
