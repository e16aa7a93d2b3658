"""The directories of a virtual machine: what the metadata keys of its cloud name (MJF 2014, 2016).

"The resource provider may discover the values to set for the first two environment variables from
the machinefeatures and jobfeatures metadata keys", and the keys "should only be accessed once in
the lifetime of each virtual machine".
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

from sssjob.errors import NotFetched
from sssjob.features.remote import LINK_LOCAL, NoAnswer, RemoteOptions, content

KEYS = {"machinefeatures": "MACHINEFEATURES", "jobfeatures": "JOBFEATURES"}
LATEST = "latest"
_VERSION = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def discover(service: str = LINK_LOCAL, options: RemoteOptions | None = None) -> dict[str, str]:
    """The variables of both directories, by name, as far as the metadata of this machine has them.

    OpenStack has them in one document, all others as a key each. A value that is no directory, a
    path from ``/`` on or an address with ``http://`` or ``https://``, is refused. Raises
    ``NotFetched``, ``NoAnswer`` where there is no such service.
    """
    # With a header of its own no proxy is asked, and nothing leads elsewhere.
    own = replace(options or RemoteOptions(5.0, 5.0), headers=(("Metadata", "true"),))
    base = service.rstrip("/")
    found = _found(base, LATEST, LATEST, own)
    if not found:  # an older service may have versions by date alone
        dated = (_newest(f"{base}/", own), _newest(f"{base}/openstack/", own))
        found = _found(base, *dated, own) if any(dated) else {}
    return {KEYS[key]: _directory(key, place) for key, place in found.items()}


def _found(base: str, version: str, of_openstack: str, options: RemoteOptions) -> dict[str, str]:
    """Both keys in a version of the metadata, "" for none."""
    found = {}
    if of_openstack:
        found = _of_document(f"{base}/openstack/{of_openstack}/meta_data.json", options)
    for key in KEYS if version else ():
        if key not in found and (text := content(f"{base}/{version}/meta-data/{key}", options)):
            found[key] = text.strip()
    return found


def _newest(url: str, options: RemoteOptions) -> str:
    """The newest version that a list of a service has by date, "" for none."""
    words = (_content(url, options) or "").split()
    return max((each for each in words if _VERSION.fullmatch(each.strip("/"))), default="").strip(
        "/"
    )


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
