"""Mail about a job as options: at which events, and to whom."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sssjob.translate.fields import NOT_ALL, About
from sssjob.translate.options import Heard, Made, Said
from sssjob.translate.requests import JobRequest

EVENTS = ("JobStart", "JobEnd", "All", "None")
ADDRESS = re.compile(r"(?:mailto:(?://)?)?([^\s/:@-][^\s/:@]*@[^\s/:@]+)")
_ONE = r"[^\s/:@,-][^\s/:@,]*@[^\s/:@,]+"
ADDRESSES = re.compile(rf"(?:mailto:(?://)?)?({_ONE}(?:,{_ONE})*)")  # RFC 6068 has commas, too


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

    def write(self, asked: JobRequest, made: Made) -> None:
        """Events, and the address if there is one."""
        item = asked.one("NotificationList", "uri")
        if item is None:
            return
        events = [word.strip() for word in item.text.split(",") if word.strip()]
        if not events or not set(events).issubset(EVENTS):
            asked.refuse(item, f"expected some of {', '.join(EVENTS)}")
            return
        known = dict(zip(EVENTS, self.words, strict=True))
        made.option(self.events, self.joint.join(known[event] for event in dict.fromkeys(events)))
        if "uri" in item.attributes:
            if address := ADDRESSES.fullmatch(item.attributes["uri"].strip()):
                made.option(self.to, address[1])
            else:
                asked.refuse(item, "it is no address of mail", "uri")

    def read(self, said: Said, heard: Heard) -> None:
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
        to = said.last(self.to)
        if to and not ADDRESSES.fullmatch(to):
            said.back(self.to, to, "not everyone is named by an address of mail")
            to = None
        heard.say("NotificationList", ",".join(events), **({"uri": f"mailto:{to}"} if to else {}))

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
