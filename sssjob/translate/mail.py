"""Mail about a job as options: at which events, and to whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sssjob.mail_addresses import is_address, of_uri, to_uri
from sssjob.model import Property
from sssjob.translate.fields import NOT_ALL, About
from sssjob.translate.options import ScriptOptions, ScriptReading, ScriptWriting
from sssjob.translate.requests import JobRequest

EVENTS = ("JobStart", "JobEnd", "All", "None")


def written(asked: JobRequest, item: Property, *, several: bool = True) -> str:
    """The address for an option; "" where the item has none, or where it is refused."""
    if "uri" not in item.attributes:
        return ""
    if is_address(found := of_uri(item.attributes["uri"]), several=several):
        return found
    asked.refuse(item, "it is no address of mail", "uri")
    return ""


def heard_uri(said: ScriptOptions, option: str) -> dict[str, str]:
    """The ``uri`` that an option says, if it is there."""
    to = said.last(option)
    return uri_of(said, option, to, to) if to else {}


def uri_of(
    said: ScriptOptions, option: str, value: str, to: str, *, several: bool = True
) -> dict[str, str]:  # fmt: skip
    """The ``uri`` of what a ``value`` means; that is kept as it is where it is no address."""
    if is_address(to, several=several):
        return {"uri": to_uri(to, several=several)}
    said.back(option, value, "not everyone is named by an address of mail")
    return {}


def asked_for(asked: JobRequest, known: Sequence[str]) -> tuple[Property | None, list[str]]:
    """Take what a job wants to be told of, some of what is ``known``; None and no events if not."""
    item = asked.one("NotificationList", "uri")
    if item is None:
        return None, []
    events = [word.strip() for word in item.text.split(",") if word.strip()]
    if not events or not set(events).issubset(known):
        asked.refuse(item, f"expected some of {', '.join(known)}")
        return None, []
    return item, events


@dataclass(frozen=True)
class Mail(About):
    """When a user hears of a job: the words for ``EVENTS``, and what stands between them."""

    name = "NotificationList"

    events: str
    joint: str
    words: tuple[str, str, str, str]
    to: str

    @property
    def of_options(self) -> Iterable[str]:
        """That of events, without which the address means nothing."""
        return (self.events,)

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """Events, and the address if there is one."""
        item, events = asked_for(asked, EVENTS)
        if item is None:
            return
        known = dict(zip(EVENTS, self.words, strict=True))
        made.option(self.events, self.joint.join(known[event] for event in dict.fromkeys(events)))
        if to := written(asked, item):
            made.option(self.to, to)

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """The events that the standard has a word for; others are kept as they are."""
        value = said.last(self.events)
        if value is None:
            return
        events, others = self._events(value)
        if not events:
            said.back(self.events, value, NOT_ALL)
            return
        if others:
            said.keep(self.events, value, self.joint.join(others), NOT_ALL)
        heard.say("NotificationList", ",".join(events), **heard_uri(said, self.to))

    def _events(self, value: str) -> tuple[list[str], list[str]]:
        """Events, and words that are none; All and None stand alone."""
        known = {word.lower(): event for event, word in zip(EVENTS, self.words, strict=True)}
        if whole := known.get(value.lower()):
            return [whole], []
        if not self.joint and set(value) == set(self.words[2]):
            return [EVENTS[2]], []
        parts = value.split(self.joint) if self.joint else list(value)
        events = [known[part.lower()] for part in parts if part.lower() in known]
        others = [part for part in parts if part.lower() not in known]
        return ([], []) if {"All", "None"}.intersection(events) else (events, others)
