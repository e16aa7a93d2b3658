"""The directories of a virtual machine: what the metadata keys of its cloud name (MJF 2014, 2016).

"The resource provider may discover the values to set for the first two environment variables from
the machinefeatures and jobfeatures metadata keys", and the keys "should only be accessed once in
the lifetime of each virtual machine".
"""

from __future__ import annotations

import json
from dataclasses import replace

from sssjob.errors import NotFetched
from sssjob.features.remote import LINK_LOCAL, NoAnswer, RemoteOptions, content

KEYS = {"machinefeatures": "MACHINEFEATURES", "jobfeatures": "JOBFEATURES"}
_EC2 = "latest/meta-data"
_OPENSTACK = "openstack/latest/meta_data.json"


def discover(service: str = LINK_LOCAL, options: RemoteOptions | None = None) -> dict[str, str]:
    """The variables of both directories, by name, as far as the metadata of this machine has them.

    OpenStack has them in one document, all others as a key each. A value that is no directory, a
    path from ``/`` on or an address with ``http://`` or ``https://``, is refused. Raises
    ``NotFetched``, ``NoAnswer`` where there is no such service.
    """
    # With a header of its own no proxy is asked, and nothing leads elsewhere.
    own = replace(options or RemoteOptions(5.0, 5.0), headers=(("Metadata", "true"),))
    base = service.rstrip("/")
    found = _of_document(f"{base}/{_OPENSTACK}", own)
    for key in KEYS:
        if key not in found and (text := content(f"{base}/{_EC2}/{key}", own)):
            found[key] = text.strip()
    return {KEYS[key]: _directory(key, place) for key, place in found.items()}


def _of_document(url: str, options: RemoteOptions) -> dict[str, str]:
    text = _content(url, options)
    try:
        document = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        raise NotFetched(url, "what it says is no JSON") from None
    meta = document.get("meta") if isinstance(document, dict) else None
    said = meta if isinstance(meta, dict) else {}
    return {key: said[key].strip() for key in KEYS if isinstance(said.get(key), str)}


def _content(url: str, options: RemoteOptions) -> str | None:
    """What stands at an address; None where a service has no such thing, in whatever words."""
    try:
        return content(url, options)
    except NoAnswer:
        raise
    except NotFetched:
        return None


def _directory(key: str, place: str) -> str:
    is_one = place.startswith(("/", "http://", "https://")) and place.isprintable()
    if not is_one or " " in place:
        raise NotFetched(place, f"the metadata key {key} names no directory")
    return place.rstrip("/") or "/"
