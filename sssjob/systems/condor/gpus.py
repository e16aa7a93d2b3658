"""Models of GPUs: how jobs ask for them, and which ones a job was given.

HTCondor asks by an expression over the properties of a GPU (RequireGPUs), and describes each GPU
of a machine by an ad of its own.

>>> required("A100"), model('regexp("a100[.]x", DeviceName, "i")'), model("Capability >= 8.0")
('regexp("A100", DeviceName, "i")', 'a100.x', '')
"""

from __future__ import annotations

import re
from collections import Counter

from sssjob.classads import evaluate, writing
from sssjob.classads.values import Ad, Node, Unparsed
from sssjob.nodes import plain
from sssjob.systems.condor import names

REQUIRE, REQUEST = "RequireGPUs", "RequestGPUs"
# What condor_submit puts into the Requirements of a job with a RequireGPUs.
CLAUSE = f"countMatches(MY.{REQUIRE},TARGET.AvailableGPUs) >= {REQUEST}"
ASSIGNED = "AssignedGPUs"
PROPERTIES = "GPUs_"  # before the id of a GPU, the ad that describes it

_NAMED = 'regexp("{}", DeviceName, "i")'
_NAME = re.compile(r'regexp\("([^"]+)", ?DeviceName, ?"i"\)')


def required(kind: str) -> str:
    """What asks for GPUs of a model: it is a part of the name of the device."""
    # Not with a backslash, which a ClassAd would take.
    return _NAMED.format(kind.replace(".", "[.]"))


def model(text: str) -> str:
    """The model that an expression asks for, where that is all that it says; else ""."""
    found = _NAME.fullmatch(text)
    kind = found[1].replace("[.]", ".") if found else ""
    return kind if plain(kind) and found and found[1] == kind.replace(".", "[.]") else ""


def given(ad: Ad) -> dict[str, int]:
    """How many GPUs of each model a job was given; nothing where that is not certain.

    A starter does not tell which GPUs a fetched job was given: then the machine has to have only
    one model that the job can have been given.
    """
    devices = [each for each in map(str.strip, ad.text(ASSIGNED).split(",")) if each]
    if devices:
        found = Counter(_model(ad, re.sub("[^A-Za-z0-9_]", "_", each)) for each in devices)
        return {} if "" in found else dict(found)
    count = evaluate.number(ad, "GPUsProvisioned") or 0
    there = {ad.text(name) for name in ad if name.startswith(names.GPU_MODEL)}
    held = ad.get(REQUIRE)
    if isinstance(held, (Node, Unparsed)):
        asked = model(writing.attribute(held, writing.NEW)).lower()
        there = {each for each in there if asked and asked in each.lower()}
    return {there.pop(): int(count)} if count > 0 and len(there) == 1 else {}


def _model(ad: Ad, key: str) -> str:
    return described(ad, f"{PROPERTIES}{key}") or ad.text(f"{names.GPU_MODEL}{key}")


def described(ad: Ad, name: str) -> str:
    """The model in the ad of a GPU that an ad of a machine or job has under a name; or ""."""
    held = evaluate.attribute(ad, name)
    return held.text("DeviceName") if isinstance(held, Ad) else ""


def travelling(slot: Ad) -> dict[str, str]:
    """The models of the GPUs of a machine, as attributes that go with a fetched job."""
    found = ((name[len(PROPERTIES) :], described(slot, name)) for name in slot
             if name.startswith(PROPERTIES))  # fmt: skip
    return {f"{names.GPU_MODEL}{key}": text for key, text in found if text}
