"""Models of GPUs: how jobs ask for them, and which ones a job was given.

HTCondor asks by an expression over the properties of a GPU (RequireGPUs), and describes each GPU
of a machine by an ad of its own.

>>> required("a100.x")
'regexp("(^|[^A-Za-z0-9])a100[.]x($|[^A-Za-z0-9])", DeviceName, "i")'
>>> model(_), model('regexp("A10", DeviceName, "i")'), model("Capability >= 8.0")
(('a100.x', True), ('A10', False), ('', False))
"""

from __future__ import annotations

import re
from collections import Counter

from sssjob.classads import evaluate
from sssjob.classads.needed import references
from sssjob.classads.tree import AttributeReference, Call, Listing
from sssjob.classads.values import Ad
from sssjob.integers import LARGEST
from sssjob.nodes import plain
from sssjob.systems.condor import names

REQUIRE, REQUEST = "RequireGPUs", "RequestGPUs"
# What condor_submit puts into the Requirements of a job with a RequireGPUs.
CLAUSE = f"countMatches(MY.{REQUIRE},TARGET.AvailableGPUs) >= {REQUEST}"
ASSIGNED, AVAILABLE = "AssignedGPUs", "AvailableGPUs"
PROPERTIES = "GPUs_"  # before the id of a GPU, the ad that describes it

_OWN, _TARGET = AttributeReference(None, "MY"), AttributeReference(None, "TARGET")
_WORD = 'regexp("(^|[^A-Za-z0-9]){}($|[^A-Za-z0-9])", DeviceName, "i")'
_SOUGHT = re.compile(r'regexp\("([^"]+)", ?DeviceName, ?"i"\)')
_EDGES = "(^|[^A-Za-z0-9])", "($|[^A-Za-z0-9])"


# decision 600
def required(kind: str) -> str:
    """What asks for GPUs of a model, a plain name: it is a word of the name of the device."""
    return _WORD.format(_escaped(kind))


def _escaped(kind: str) -> str:
    return kind.replace(".", "[.]")  # not with a backslash, which a ClassAd would take


def model(text: str) -> tuple[str, bool]:
    """The model that an expression asks for, where that is all that it says; else "".

    And whether it has to be a word of the name of the device, as ours has: a regexp without its
    edges finds A10 in A100, too.
    """
    found = _SOUGHT.fullmatch(text)
    sought = found[1] if found else ""
    inner = sought.removeprefix(_EDGES[0]).removesuffix(_EDGES[1])
    kind = inner.replace("[.]", ".")
    exact = sought == inner.join(_EDGES)
    is_name = plain(kind) and inner == _escaped(kind) and (exact or sought == inner)
    return (kind, exact) if is_name else ("", False)


def given(ad: Ad) -> dict[str, int]:
    """How many GPUs of each model a job was given; nothing where that is not certain.

    A starter does not tell which GPUs a fetched job was given. Those that it can have been given
    travel with it: all of them were, or else they have to be of one model.
    """
    devices = [each for each in map(str.strip, ad.text(ASSIGNED).split(",")) if each]
    if devices:
        found = Counter(_model(ad, _key(each)) for each in devices)
    else:
        found = Counter(ad.text(name) for name in ad if name.startswith(names.GPU_MODEL))
        count = evaluate.number(ad, "GPUsProvisioned") or 0
        if len(found) == 1 and 0 < count <= LARGEST:
            found = Counter({model: int(count) for model in found})
        elif found.total() != count:
            return {}
    return {} if "" in found else dict(found)


def _key(device: str) -> str:
    """How the id of a GPU stands in names of attributes."""
    return re.sub("[^A-Za-z0-9_]", "_", device)


def _model(ad: Ad, key: str) -> str:
    # What travelled is what the machine said.
    return ad.text(f"{names.GPU_MODEL}{key}") or described(ad, f"{PROPERTIES}{key}")


def described(ad: Ad, name: str, attribute: str = "DeviceName") -> str:
    """What the ad of a GPU says that another ad has under a name: its model; else ""."""
    held = evaluate.attribute(ad, name)
    return held.text(attribute) if isinstance(held, Ad) else ""


def travelling(job: Ad, slot: Ad) -> dict[str, str]:
    """The models of the GPUs that a slot can give a job, as attributes that go with a fetched job.

    A slot gives all that it has, a partitionable one those that are not in use and that the job can
    use. The model of a GPU that is not described is "".
    """
    there = _devices(slot)
    if slot.get("PartitionableSlot") is True and REQUIRE in job:
        there = {key: name for key, name in there.items() if _suits(job, slot, name)}
    return {f"{names.GPU_MODEL}{key}": described(slot, name) for key, name in there.items()}


def _devices(slot: Ad) -> dict[str, str]:
    """The GPUs of a slot: by their ids, the attributes that describe them.

    They are its own, or else those of its machine.
    """
    told = {_identity(slot, name): name for name in slot if _is_described(name)}
    ids = map(_key, filter(None, map(str.strip, slot.text(ASSIGNED).split(","))))
    assigned = {key: told.get(key, f"{PROPERTIES}{key}") for key in ids}
    named = [each.name for each in references(slot.get(AVAILABLE)) if _is_described(each.name)]
    available = {_identity(slot, name): name for name in named}
    # Of a partitionable slot, those in use are assigned to it, too.
    is_whole = slot.get("PartitionableSlot") is not True
    first, second = (assigned, available) if is_whole else (available, assigned)
    return first or second or told


def _is_described(name: str) -> bool:
    return name.lower().startswith(PROPERTIES.lower())


def _identity(slot: Ad, name: str) -> str:
    """The id of the GPU that an attribute describes; without one, it is in its name."""
    return _key(described(slot, name, "Id")) or name[len(PROPERTIES) :]


def _suits(job: Ad, slot: Ad, name: str) -> bool:
    """Whether the GPU that an ad of a slot describes is one that a job can use."""
    listed = Listing((AttributeReference(_TARGET, name),))
    asked = Call("countMatches", (AttributeReference(_OWN, REQUIRE), listed))
    return evaluate.evaluate(asked, job, slot) == 1
