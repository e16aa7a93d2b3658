"""What the metadata services of clouds say about the end of a virtual machine.

They answer at an address that only the machine itself reaches. Moments that are not told are taken
from the manuals: a preempted machine of Google has 30 s, what Azure starts it starts now.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from sssjob import units
from sssjob.errors import InvalidValue, NotFetched
from sssjob.features.notices import MACHINE, Notice, Surroundings, Unread, trying
from sssjob.features.remote import LINK_LOCAL, RemoteOptions, content

Headers = tuple[tuple[str, str], ...]

GOOGLE = "http://metadata.google.internal"
PREEMPTED = 30  # seconds that Google leaves
_TOKEN_SECONDS = 60
_OF_AZURE = "2020-07-01"  # the version of the question
_AZURES, _GOOGLES = (("Metadata", "true"),), (("Metadata-Flavor", "Google"),)
_SHOWN = 40  # characters
_MACHINE = re.compile(r"""[^\s\\/"\[\]:|<>+=;,?*@&]{1,80}""")  # none of these is in a name
_ENDING = ("Preempt", "Terminate", "Reboot", "Redeploy")  # the events of Azure that end what runs


def aws(asked: Surroundings, now: int) -> Iterator[Notice | Unread]:
    """A spot instance that is taken back, or events of maintenance that stop the instance."""
    base = f"{asked.url or LINK_LOCAL}/latest"
    lifetime = (("X-aws-ec2-metadata-token-ttl-seconds", str(_TOKEN_SECONDS)),)
    token, trouble = None, ""
    try:
        token = content(f"{base}/api/token", _options(asked, lifetime, 3, "PUT"))
    except NotFetched as error:  # the first version of the service answers without one
        trouble = str(error)
    token = (token or "").strip()
    if not (token.isascii() and token.isprintable()):
        token, trouble = "", f"{base}/api/token: what it says is no token"
    headers = (("X-aws-ec2-metadata-token", token),) if token else ()
    for part in (
        _spot(f"{base}/meta-data/spot/instance-action", asked, headers),
        _events(f"{base}/meta-data/events/maintenance/scheduled", asked, headers),
    ):
        for each in trying(part):
            yield each
            if trouble and isinstance(each, Unread):
                yield Unread(trouble)
                trouble = ""


def _spot(url: str, asked: Surroundings, headers: Headers) -> Iterator[Notice]:
    spot = _json(url, asked, headers, 2)
    if spot is not None:
        told = _object(url, spot)
        yield _told(told.get("time"), "aws", f"spot instance: {told.get('action')}")


def _events(url: str, asked: Surroundings, headers: Headers) -> Iterator[Notice | Unread]:
    for event in _list(url, _json(url, asked, headers)):
        yield from trying(_event(url, event))


def _event(url: str, event: object) -> Iterator[Notice]:
    told = _object(url, event)
    if told.get("State") == "active":
        yield _told(told.get("NotBefore"), "aws", f"maintenance: {told.get('Code')}")


def gce(asked: Surroundings, now: int) -> Iterator[Notice | Unread]:
    """A machine that is preempted, or one that maintenance ends."""
    base = f"{asked.url or GOOGLE}/computeMetadata/v1/instance"
    yield from trying(_preempted(f"{base}/preempted", asked, now))
    yield from trying(_maintained(base, asked, now))


def _preempted(url: str, asked: Surroundings, now: int) -> Iterator[Notice]:
    said = _word(url, asked, 3)
    if said == "TRUE":
        yield Notice(MACHINE, now + PREEMPTED, "gce", "preempted", counts=True)
    elif said not in ("FALSE", ""):
        raise NotFetched(url, f"{said[:_SHOWN]!r} is neither TRUE nor FALSE")


def _maintained(base: str, asked: Surroundings, now: int) -> Iterator[Notice]:
    url = f"{base}/maintenance-event"
    said = _word(url, asked, 2)
    if not said.startswith("TERMINATE"):
        if said and not said.startswith(("NONE", "MIGRATE")):
            raise NotFetched(url, f"{said[:_SHOWN]!r} is no event of maintenance")
        return
    why = "maintenance that ends the machine"
    try:
        upcoming = _json(f"{base}/upcoming-maintenance?alt=json", asked, _GOOGLES)
        start = upcoming.get("window_start_time") if isinstance(upcoming, dict) else None
        if start is not None:
            yield _told(start, "gce", why)
            return
    except (NotFetched, InvalidValue):
        pass  # that it ends is known
    yield Notice(MACHINE, now + PREEMPTED, "gce", why, counts=True)


def azure(asked: Surroundings, now: int) -> Iterator[Notice | Unread]:
    """Events that end what runs on this machine; a freeze does not.

    All machines of a set are told the events of each, with the names of those that they concern.
    """
    base = f"{asked.url or LINK_LOCAL}/metadata"
    url = f"{base}/scheduledevents?api-version={_OF_AZURE}"
    answer = _json(url, asked, _AZURES, 2)
    events = _list(url, None if answer is None else _object(url, answer).get("Events"))
    ending = [
        each for each in events if not isinstance(each, dict) or each.get("EventType") in _ENDING
    ]
    name = ""
    if any(isinstance(each, dict) and each.get("Resources") for each in ending):
        try:
            name = _name_of_azure(base, asked)
        except NotFetched as error:  # then each may concern this one
            yield Unread(str(error))
    for event in ending:
        yield from trying(_concerning(url, event, name, now))


def _name_of_azure(base: str, asked: Surroundings) -> str:
    """What Azure calls this machine, in small letters. Raises ``NotFetched``."""
    url = f"{base}/instance/compute/name?api-version={_OF_AZURE}&format=text"
    said = (content(url, _options(asked, _AZURES)) or "").strip()
    if not _MACHINE.fullmatch(said):
        raise NotFetched(url, f"{said[:_SHOWN]!r} is no name of a machine")
    return said.lower()


def _concerning(url: str, found: object, name: str, now: int) -> Iterator[Notice]:
    """An event that ends this machine; one without a name, or without machines, may be of all."""
    event = _object(url, found)
    concerned = event.get("Resources")
    names = [str(each).lower() for each in concerned] if isinstance(concerned, list) else []
    if name and names and name not in names:
        return
    why = f"{event.get('EventType')}: {event.get('EventId')}"
    status = event.get("EventStatus")
    if status not in ("Scheduled", "Started"):
        raise NotFetched(url, f"{why} is neither Scheduled nor Started but {str(status)[:_SHOWN]}")
    if status == "Started" or not event.get("NotBefore"):
        yield Notice(MACHINE, now, "azure", why, counts=True)
    else:
        yield _told(event["NotBefore"], "azure", why)


def moment(text: object) -> int:
    """A time of a metadata service, ISO 8601 or as in HTTP, in UTC unless it says another zone.

    >>> moment("2026-11-25T08:22:00Z") == moment("Wed, 25 Nov 2026 08:22:00 GMT")
    True
    """
    if not isinstance(text, str):
        raise InvalidValue(str(text), "a time")
    try:
        return units.time(text.strip())
    except InvalidValue:
        pass
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, IndexError, TypeError, OverflowError):
        raise InvalidValue(text, "a time") from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())


def _told(text: object, source: str, why: str) -> Notice:
    return Notice(MACHINE, moment(text), source, why)


def _options(
    asked: Surroundings, headers: Headers, questions: int = 1, method: str = "GET"
) -> RemoteOptions:
    """How one of so many questions that are still to come is asked."""
    seconds = asked.share(questions)
    return RemoteOptions(seconds, seconds, headers=headers, method=method)


def _word(url: str, asked: Surroundings, questions: int) -> str:
    """What the service of Google says in a word, "" where it says nothing."""
    return (content(url, _options(asked, _GOOGLES, questions)) or "").strip()


def _json(url: str, asked: Surroundings, headers: Headers, questions: int = 1) -> object:
    """What a service says in JSON; None where it says nothing. Raises ``NotFetched``."""
    text = content(url, _options(asked, headers, questions))
    if not text or not text.strip():
        return None
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        raise NotFetched(url, "what it says is no JSON") from None
    return found


def _object(url: str, found: object) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise NotFetched(url, "what it says is no object of JSON")
    return found


def _list(url: str, found: object) -> list[Any]:
    if found is not None and not isinstance(found, list):
        raise NotFetched(url, "what it says is no list of events")
    return found or []
