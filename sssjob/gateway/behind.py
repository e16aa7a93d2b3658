"""A server behind the gateway: it is asked for what is not kept here, in the name of the actor.

A request is signed anew with the key of the gateway, and its actor is called what the server
behind calls it. What that server answers is the answer, its code and message included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from sssjob.client import Client
from sssjob.errors import InvalidValue, NoReply, Refused
from sssjob.handlers.attributes import JOB
from sssjob.handlers.changes import was_answered
from sssjob.handlers.service import Service
from sssjob.rmap import codes
from sssjob.rmap.message import Request, Response
from sssjob.rmap.responder import Answer, Call

# Gold lets anybody read its passwords; who asks here is not told even that there are any.
_NEVER = frozenset(("Password",))
_FUNDED = ("Reserve", "Quote")
_READING = frozenset(("Query", "Balance"))
Action = Callable[[Call], Answer]


@dataclass(frozen=True, slots=True)
class Behind:
    """The server behind, and what actors are called there.

    ``funds`` asks it before a Job is reserved or quoted, and refuses what it refuses. With
    ``shadow`` it gets all requests about Jobs, too, and what it answers otherwise is logged.
    """

    client: Client
    actors: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    funds: bool = False
    shadow: bool = False

    def passes(self, asked: Request) -> bool:
        """Whether a request about objects that are not kept here goes there."""
        return not any(each.name in _NEVER for each in asked.objects)

    def answer(self, call: Call) -> Answer:
        """What the server behind answers. Raises ``Refused`` where it refuses, or is not there."""
        parts = self.asked(call)
        first, last = parts[0], parts[-1]
        rows = [row for part in parts for row in part.rows]
        counted = sum(part.count or 0 for part in parts)
        is_amount = counted != len(rows)
        count = None if first.count is None else counted
        return Answer(rows, last.status.code, last.status.message, count if is_amount else "rows")

    def asked(self, call: Call) -> list[Response]:
        """The parts of its answer.

        Raises ``Refused``: as it does, 444 for an actor that is not proven, 740 for what it could
        not understand, 730 where nothing was done, and 700 where nobody knows that.
        """
        if not call.proven:
            raise Refused("444", f"{call.actor} may not do this ({call.request.object})")
        try:
            parts = list(self.client.call(self._renamed(call)))
        except NoReply as error:
            if error.asked and call.request.action not in _READING:
                raise Refused("700", "The server behind did not say whether it did it") from error
            raise Refused("730", "The server behind does not answer") from error
        except InvalidValue as error:
            raise Refused("740", f"The server behind cannot be asked this: {error}") from error
        last = parts[-1].status
        if last.value is codes.Value.FAILURE:
            raise Refused(last.code, last.message)
        return parts

    def funded(self, service: Service, name: str, action: Action) -> Action:
        """An action that is done where the server behind has the funds for it."""

        def do(call: Call) -> Answer:
            service.settings.roles.reach(call)
            window = service.settings.accounting.repeated
            if not was_answered(service.stores, call, window):
                asked = call.request
                if name == "Quote":  # it promises nothing there
                    options = (each for each in asked.options if each.name != "Guarantee")
                    asked = replace(asked, options=tuple(options))
                self.asked(replace(call, request=asked))
            return action(call)

        return do

    def over(self, service: Service) -> dict[tuple[str, str], Action]:
        """The actions of a service, as far as funds have to be asked for."""
        if not self.funds:
            return {}
        actions = service.actions
        return {(JOB, name): self.funded(service, name, actions[JOB, name]) for name in _FUNDED}

    def is_slow(self, asked: Request) -> bool:
        """Whether it is asked before our own answer."""
        return self.funds and asked.object == JOB and asked.action in _FUNDED

    def _renamed(self, call: Call) -> Request:
        asked = call.request
        objects = {each.name for each in asked.objects}
        endless = bool(objects & self.client.dialect.endless)
        return replace(
            asked, actor=self.actors.get(call.actor, call.actor),
            chunking=asked.chunking and not endless,
        )  # fmt: skip
