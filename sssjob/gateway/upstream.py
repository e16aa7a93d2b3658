"""A server behind the gateway: it is asked for what is not kept here, in the name of the actor.

A request is signed anew with the key of the gateway, and its actor is called what the server
behind calls it. What that server answers is the answer, its code and message included.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

from lxml import etree

from sssjob import units
from sssjob.client import Client
from sssjob.client.dialect import is_plain
from sssjob.document import tree
from sssjob.document.places import split
from sssjob.errors import InvalidValue, NoReply, Refused, UnknownOutcome
from sssjob.gateway.answer_memory import AnswerParts, AnswerRoom, AnswerRows, NoRoom
from sssjob.handlers.attributes import JOB, AttributeType, attribute
from sssjob.handlers.changes import once_elsewhere, require_single
from sssjob.handlers.charging import for_another, owned
from sssjob.handlers.service import Service
from sssjob.rmap import codes
from sssjob.rmap.message import READING, DataDocument, Item, Request, Row
from sssjob.rmap.responder import HandlerAnswer, ReceivedRequest

# Gold lets anybody read its passwords; who asks here is not told even that there are any.
_NEVER = "password"  # in any letters
_FUNDED = ("Reserve", "Quote")
_PRICED = (*_FUNDED, "Charge")
_NUMERIC = frozenset((
    AttributeType.NUMBER, AttributeType.AMOUNT, AttributeType.TIME, AttributeType.DURATION,
))  # fmt: skip
_ROOM = 320 << 20  # bytes of memory for all its answers, as from a gateway of usual limits
_NO_ANSWER = "242"  # it did answer, but too much, or nothing that is HTTP
_PAUSE = 5.0  # seconds in which a server that did not answer is not asked
_USERS = ("User", "UserId")
_NUMBERS = frozenset(("Limit", "Offset"))  # which Gold puts into its SQL without quotes
_NAME = re.compile("[A-Za-z][A-Za-z0-9_]{0,99}")
Action = Callable[[ReceivedRequest], HandlerAnswer]


class CircuitBreaker:
    """Whether a server is asked: not for a while after it did not answer.

    Else everybody who asks would wait as long, and those who ask something else behind them.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._until = clock, float("-inf")

    @property
    def is_closed(self) -> bool:
        """Whether it did not answer just now."""
        return self._clock() < self._until

    def close(self) -> None:
        """It did not answer."""
        self._until = self._clock() + _PAUSE


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
    door: CircuitBreaker = field(default_factory=CircuitBreaker)
    room: AnswerRoom = field(default_factory=lambda: AnswerRoom(_ROOM))

    def passes(self, asked: Request) -> bool:
        """Whether a request about objects that are not kept here goes there."""
        return not any(each.name.lower() == _NEVER for each in asked.objects)

    def answer(self, call: ReceivedRequest) -> HandlerAnswer:
        """What the server behind answers. Raises ``Refused`` where it refuses, or is not there."""
        parts = self.asked(call)
        first, last = parts[0], parts[-1]
        rows = AnswerRows(parts)
        counted = sum(part.count or 0 for part in parts)
        is_amount = counted != len(rows)
        count = None if first.count is None else counted
        return HandlerAnswer(
            rows, last.status.code, last.status.message, count if is_amount else "rows"
        )

    def passing(self, service: Service | None) -> Action:
        """What passes a request on, and where there is a store a change once."""
        if service is None:
            return self.answer

        def do(call: ReceivedRequest) -> HandlerAnswer:
            if not call.proven or call.request.action in READING:
                return self.answer(call)
            require_single(service.stores, call)
            window = service.settings.accounting.repeated
            return once_elsewhere(service.stores, call, window, partial(self.answer, call))

        return do

    def asked(self, call: ReceivedRequest) -> AnswerParts:
        """The parts of its answer.

        Raises ``Refused``: as it does, 444 for an actor that is not proven, 740 for what it could
        not understand, 730 where nothing was done, 242 where its answer is too large, and 700
        where nobody knows what was done.
        """
        if not call.proven:
            raise Refused("444", f"{call.actor} may not do this ({call.request.object})")
        if self.door.is_closed:
            raise Refused("730", "The server behind does not answer")
        renamed = self._renamed(call)
        _require_plain(renamed)
        _require_numbers(renamed)
        try:
            parts = self.room.asked(self.client, renamed)
        except NoReply as error:
            if error.code != _NO_ANSWER:
                self.door.close()
            if error.asked and call.request.action not in READING:
                said = "The server behind did not say whether it did it"
                raise UnknownOutcome(said) from error
            if error.code == _NO_ANSWER:
                said = "What the server behind answered is too large, or no answer"
                raise Refused(_NO_ANSWER, said) from error
            raise Refused("730", "The server behind does not answer") from error
        except InvalidValue as error:
            raise Refused("740", f"The server behind cannot be asked this: {error}") from error
        except Refused as error:  # what it answered is no answer
            said = "The server behind gave no answer that is one"
            code = "730"
            if isinstance(error, NoRoom):
                code, said = error.code, error.message
            if call.request.action in READING:
                raise Refused(code, said) from error
            raise UnknownOutcome(said) from error
        last = parts[-1].status
        if last.value is codes.Value.FAILURE:
            raise Refused(last.code, last.message)
        return parts

    def funded(self, service: Service, name: str, action: Action) -> Action:
        """An action that is done where the server behind has the funds for it.

        What would be refused here is not asked for there: a reservation would stay.
        """

        def do(call: ReceivedRequest) -> HandlerAnswer:
            reach = service.settings.roles.reach(call)
            if not service.came(call):
                action(replace(call, rehearsal=True))
                asked = owned(service.stores, call.request, reach)
                if name == "Quote":  # it promises nothing there
                    options = (each for each in asked.options if each.name != "Guarantee")
                    self.asked(replace(call, request=replace(asked, options=tuple(options))))
                else:
                    window = service.settings.accounting.repeated
                    there = partial(self.answer, replace(call, request=asked))
                    once_elsewhere(service.stores, call, window, there)
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

    def _renamed(self, call: ReceivedRequest) -> Request:
        asked = call.request
        if asked.object == JOB and asked.action in _PRICED:
            asked = for_another(asked)
        if asked.object == JOB and asked.data is not None and self.actors:
            items = tuple(_owned_as(each, self.actors) for each in asked.data.items)
            asked = replace(asked, data=replace(asked.data, items=items))
        objects = {each.name for each in asked.objects}
        endless = bool(objects & self.client.dialect.endless)
        return replace(
            asked, actor=self.actors.get(call.actor, call.actor),
            chunking=asked.chunking and not endless,
        )  # fmt: skip


def _owned_as(item: Item, actors: Mapping[str, str]) -> Item:
    """A job in Data whose user is called what the server behind calls him."""
    if isinstance(item, Row):
        fields = tuple(
            (name, actors.get(value.strip(), value) if name in _USERS else value)
            for name, value in item.fields
        )
        return replace(item, fields=fields)
    root = tree.parse(item.xml)
    users = list(root.iter(*(f"{{*}}{name}" for name in _USERS)))
    known = [each for each in users if not len(each) and (each.text or "").strip() in actors]
    if not known:
        return item
    for each in known:
        each.text = actors[(each.text or "").strip()]
    return DataDocument(etree.tostring(root, encoding="UTF-8"))


def _require_numbers(asked: Request) -> None:
    """Refuse (740) numbers of a job that are others to Gold, for which ``0:10:00`` is 0."""
    if asked.object != JOB or asked.action not in _PRICED or asked.data is None:
        return
    for item in asked.data.items:
        for name, text, unit in _values(item):
            found = attribute(name)
            if found is None or found.kind not in _NUMERIC or not text:
                continue
            of_default = unit in ("", units.DEFAULT_UNITS.get(found.name))
            if not (text.isascii() and text.isdigit() and of_default):
                said = f"{text} {unit}".rstrip()
                raise Refused(
                    "740", f"{name} {said} cannot be passed on, as the server behind takes digits"
                )


def _values(item: Item) -> Iterator[tuple[str, str, str]]:
    """Names, texts and units of what a job in Data says."""
    if isinstance(item, Row):
        yield from ((name, value, "") for name, value in item.fields)
        return
    for element in tree.parse(item.xml).iter("{*}*"):
        if not len(element):
            yield split(str(element.tag))[1], element.text or "", element.get("units", "")
        elif not any(isinstance(child.tag, str) for child in element):
            yield split(str(element.tag))[1], "a text with a comment in it", ""


def _require_plain(asked: Request) -> None:
    """Refuse (740) what Gold would put into its SQL as it is: it is not its words that decide.

    Names and properties of Jobs are those of our own requests, and looked after there.
    """
    items = asked.data.items if asked.data else ()
    rows = [each for each in items if isinstance(each, Row)]
    if len(rows) < len(items) and asked.object != JOB:
        raise Refused("740", "An element with attributes or others in it is not passed on")
    texts = [asked.action, asked.actor]
    texts += [each.value for each in asked.sets]
    texts += [each.value for each in asked.wheres]
    texts += [each.value for each in asked.options]
    texts += [value for row in rows for _, value in row.fields]
    names = [name for each in asked.objects for name in (each.name, each.alias)]
    names += [name for each in asked.gets for name in (each.name, each.object, each.alias, each.op)]
    names += [each.name for each in asked.sets]
    names += [name for each in asked.options for name in (each.name, each.op)]
    names += [asked.action, *((asked.data.name, asked.data.type) if asked.data else ())]
    names += [name for each in asked.wheres for name in (each.name, each.object, each.subject)]
    names += [name for row in rows for name, _ in row.fields]
    if any(each.join for each in asked.objects):
        raise Refused("740", "A request that joins objects is not passed on to the server behind")
    if not all(map(is_plain, texts)) or not all(map(_NAME.fullmatch, filter(None, names))):
        raise Refused(
            "740",
            "A text with ' or \\, or a name with other characters than letters, is not passed on",
        )
    if any(each.lower() == _NEVER for each in names):
        raise Refused("740", "Passwords are not asked for behind")
    for each in asked.options:
        if each.name in _NUMBERS and not (each.value.isascii() and each.value.isdigit()):
            raise Refused("740", f"The option {each.name} is a number")
