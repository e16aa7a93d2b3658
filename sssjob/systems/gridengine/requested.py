"""What a request of Grid Engine asks for: in scripts, categories of records, and listings."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from sssjob import nodes
from sssjob.errors import InvalidValue
from sssjob.model import Property
from sssjob.resource_names import GPU_NAMES
from sssjob.systems.gridengine.words import GPU_TYPE, limit, size

_SLOTS = re.compile(r"(\S+) (?:([0-9]{1,9})?(-)?([0-9]{1,9})?|([0-9]{1,9}(?:,[0-9]{1,9})+))")
_OPEN = 9_999_999  # the most of a range that has no end
_ONE = r"[A-Za-z0-9_*?][A-Za-z0-9_.*?-]*"
_SOME = rf"{_ONE}(?:\|{_ONE})*"
_HOSTS = re.compile(rf"(?P<all>{_SOME})|(?:\((?P<of>{_SOME})\)&)?!(?P<but>{_ONE}|\({_SOME}\))")
_WILD = re.compile(r"[*?]")
TRUE = ("TRUE", "True", "true")
HOST_NAMES = ("h", "hostname")

_SIZES = {"CoreFileSize": "core", "DataSize": "data", "FileSize": "fsize",
          "ResidentSetSize": "rss", "StackSize": "stack"}  # fmt: skip
# What limits of the operating system are called, by their names and types; "" is written as Hard.
LIMITS = {
    (name, kind): f"{letter}_{option}"
    for kind, letter in (("Hard", "h"), ("", "h"), ("Soft", "s"))
    for name, option in {"CPUTime": "cpu", **_SIZES}.items()
}


# Resources that mean something by themselves: the numbers and texts of complex(5), and GPUs.
_MEANT = frozenset((
    "arch", "calendar", "cpu", "h_rt", "h_vmem", "load_avg", "load_long", "load_medium",
    "load_short", "m_core", "m_socket", "m_thread", "m_topology", "m_topology_inuse", "mem_free",
    "mem_total", "mem_used", "min_cpu_interval", "np_load_avg", "np_load_long", "np_load_medium",
    "np_load_short", "num_proc", "qname", "s_rt", "s_vmem", "seq_no", "slots", "swap_free",
    "swap_rate", "swap_rsvd", "swap_total", "swap_used", "tmpdir", "virtual_free",
    "virtual_total", "virtual_used", "display_win_gui", "rerun", GPU_TYPE, *GPU_NAMES,
    *HOST_NAMES, *LIMITS.values(),
))  # fmt: skip


# What complex(5) has for them: a request may name a resource by either.
_SHORTCUTS = frozenset((
    "a", "c", "core", "dwg", "la", "ll", "lm", "ls", "mci", "mf", "mt", "mu", "nla", "nll", "nlm",
    "nls", "p", "q", "re", "s", "seq", "sf", "socket", "sr", "srsv", "st", "su", "thread",
    "tmp", "topo", "utopo", "vf", "vt", "vu",
))  # fmt: skip


# decision 1037
def is_of_site(name: str) -> bool:
    """Whether a resource is one to which a site gives its meaning, by its name or its shortcut."""
    return nodes.plain(name) and name not in _MEANT and name not in _SHORTCUTS


def is_feature(name: str, value: str | None) -> bool:
    """Whether a resource is something that a host has to have; without a value it is TRUE."""
    return (value is None or value in TRUE) and is_of_site(name)


class RequestedSlots(NamedTuple):
    """The slots of a parallel environment: its name, the least and the most; None is open."""

    environment: str
    least: int | None
    most: int | None

    @property
    def at_least(self) -> int:
        """How many there are at least, by which what each slot has is multiplied."""
        return self.least or 1


def parallel(text: str) -> RequestedSlots | None:
    """What stands behind ``-pe``; of a list such as 4,8 the least and the most.

    >>> [parallel(each)[1:] for each in ("mpi 4-8", "mpi 4-9999999")]
    [(4, 8), (4, None)]
    >>> parallel("mpi 8,4"), parallel("mpi")
    (RequestedSlots(environment='mpi', least=4, most=8), None)
    """
    found = _SLOTS.fullmatch(text)
    if found is None:
        return None
    name, low, dash, high, several = found.groups()
    if several:
        numbers = [int(each) for each in several.split(",")]
        return RequestedSlots(name, min(numbers), max(numbers))
    if not (low or high):
        return None
    least = int(low) if low else None
    most = int(high) if high else None if dash else least
    return RequestedSlots(name, least, None if least is not None and most == _OPEN else most)


def processors(slots: RequestedSlots) -> Iterator[Property]:
    """The slots as Processors that are requested."""
    if slots.least == slots.most:
        yield Property("Processors", str(slots.least))
        return
    for number, op in ((slots.least, "GE"), (slots.most, "LE")):
        if number is not None:
            yield Property("Processors", str(number), {"op": op})


def hosts(text: str) -> tuple[Property, ...]:
    """The hosts of ``-l h=``, wanted and not. Raises ``InvalidValue`` for what no request says.

    >>> [(each.text, *each.attributes.values()) for each in hosts("(n1|n2)&!n3")]
    [('n3', 'NE'), ('n1,n2', 'List', '1')]
    """
    found = _HOSTS.fullmatch(text)
    unwanted = ((found and found["but"]) or "").strip("()")
    wanted = ((found and (found["of"] or found["all"])) or "").split("|")
    glob = wanted[0] if _WILD.search(wanted[0]) else ""
    if found is None or _WILD.search(unwanted) or (len(wanted) > 1 and _WILD.search(text)):
        raise InvalidValue(text, "a pattern only where it is all that a request says")
    asked: list[Property] = []
    if unwanted:
        item = nodes.joined(unwanted.split("|"))
        asked.append(Property(item.name, item.text, {**item.attributes, "op": "NE"}))
    if glob:
        asked.append(Property("Node", _pattern(glob), {"aggregation": nodes.PATTERN}))
    elif len(wanted) > 1:
        several = {"aggregation": "List", "count": "1"}
        asked.append(Property("Node", ",".join(wanted), several))
    elif wanted[0]:
        asked.append(Property("Node", wanted[0]))
    return tuple(asked)


def _pattern(glob: str) -> str:
    parts = {"*": ".*", "?": ".", ".": "\\."}
    return "".join(parts.get(letter, letter) for letter in glob)


def architectures(text: str) -> list[str]:
    """The names of ``-l arch=``, of which one is enough. Raises ``InvalidValue`` for a pattern."""
    found = text.split("|")
    if not all(map(nodes.plain, found)):
        raise InvalidValue(text, "no pattern, which is no name of an architecture")
    return found


def limits(asked: Mapping[str, str]) -> Iterator[Property]:
    """The limits of the operating system among resources; what is no limit is left out."""
    for (name, kind), option in LIMITS.items():
        if kind and option in asked:
            read = whole_seconds if name == "CPUTime" else whole_bytes
            if (number := read(asked[option])) is not None:
                yield Property("ResourceLimit", str(number), {"name": name, "type": kind})


def _whole(read: Callable[[str], Fraction | int | None], text: str) -> int | None:
    """A limit or a size in seconds or bytes, rounded up; None for what is none."""
    try:
        amount = read(text)
    except InvalidValue:
        return None
    return None if amount is None else math.ceil(amount)


whole_bytes, whole_seconds = partial(_whole, size), partial(_whole, limit)
