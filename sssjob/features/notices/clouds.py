"""What the metadata services of clouds say about the end of a virtual machine.

They answer at an address that only the machine itself reaches. Moments that are not told are taken
from the manuals: a preempted machine of Google has 30 s, what Azure starts it starts now.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from sssjob import units
from sssjob.errors import InvalidValue, NotFetched
from sssjob.features.notices import MACHINE, Notice, Surroundings
from sssjob.features.remote import LINK_LOCAL, RemoteOptions, content

GOOGLE = "http://metadata.google.internal"
PREEMPTED = 30  # seconds that Google leaves
_TOKEN_SECONDS = 60
_OF_AZURE = "2020-07-01"  # the version of the question
_ENDING = ("Preempt", "Terminate", "Reboot", "Redeploy")  # the events of Azure that end what runs


def aws(asked: Surroundings, now: int) -> Iterator[Notice]:
    """A spot instance that is taken back, or events of maintenance that stop the instance."""
    base = f"{asked.url or LINK_LOCAL}/latest"
    lifetime = (("X-aws-ec2-metadata-token-ttl-seconds", str(_TOKEN_SECONDS)),)
    token = content(f"{base}/api/token", _options(asked, lifetime, "PUT"))
    headers = (("X-aws-ec2-metadata-token", token.strip()),) if token else ()
    spot = _json(f"{base}/meta-data/spot/instance-action", asked, headers)
    if isinstance(spot, dict):
        yield _told(spot.get("time"), "aws", f"spot instance: {spot.get('action')}")
    for event in _list(_json(f"{base}/meta-data/events/maintenance/scheduled", asked, headers)):
        if event.get("State") == "active":
            yield _told(event.get("NotBefore"), "aws", f"maintenance: {event.get('Code')}")


def gce(asked: Surroundings, now: int) -> Iterator[Notice]:
    """A machine that is preempted, or one that maintenance ends."""
    base = f"{asked.url or GOOGLE}/computeMetadata/v1/instance"
    options = _options(asked, (("Metadata-Flavor", "Google"),))
    if (content(f"{base}/preempted", options) or "").strip() == "TRUE":
        yield Notice(MACHINE, now + PREEMPTED, "gce", "preempted")
    if (content(f"{base}/maintenance-event", options) or "").strip().startswith("TERMINATE"):
        upcoming = _json(f"{base}/upcoming-maintenance?alt=json", asked, options.headers)
        start = upcoming.get("window_start_time") if isinstance(upcoming, dict) else None
        if start is None:
            yield Notice(MACHINE, now + PREEMPTED, "gce", "maintenance that ends the machine")
        else:
            yield _told(start, "gce", "maintenance that ends the machine")


def azure(asked: Surroundings, now: int) -> Iterator[Notice]:
    """Events that end what runs on this machine; a freeze does not."""
    url = f"{asked.url or LINK_LOCAL}/metadata/scheduledevents?api-version={_OF_AZURE}"
    answer = _json(url, asked, (("Metadata", "true"),))
    for event in _list(answer.get("Events") if isinstance(answer, dict) else None):
        kind = event.get("EventType")
        if kind in _ENDING:
            why = f"{kind}: {event.get('EventId')}"
            if event.get("EventStatus") == "Started" or not event.get("NotBefore"):
                yield Notice(MACHINE, now, "azure", why)
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
    except (ValueError, IndexError, TypeError):
        raise InvalidValue(text, "a time") from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())


def _told(text: object, source: str, why: str) -> Notice:
    return Notice(MACHINE, moment(text), source, why)


def _options(
    asked: Surroundings, headers: tuple[tuple[str, str], ...], method: str = "GET"
) -> RemoteOptions:
    return RemoteOptions(asked.seconds, asked.seconds, headers=headers, method=method)


def _json(url: str, asked: Surroundings, headers: tuple[tuple[str, str], ...]) -> Any:
    """What a service says in JSON; None where it says nothing. Raises ``NotFetched``."""
    text = content(url, _options(asked, headers))
    if not text or not text.strip():
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise NotFetched(url, "what it says is no JSON") from None


def _list(found: object) -> list[dict[str, Any]]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
