"""Chunks of PBS (``select=2:ncpus=4``) and nodes of TORQUE (``nodes=2:ppn=4:gpus=1:ib``) as texts.

Both are parts with + between them: a count or the name of a host, then resources and properties.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sssjob.integers import whole
from sssjob.nodes import plain

# How a process may use a GPU, which TORQUE takes behind ``gpus``.
GPU_MODES = frozenset(
    ("default", "exclusive", "exclusive_process", "exclusive_thread", "reseterr", "shared")
)
_GPUS = "gpus"
GPU_COUNTS = ("ngpus", _GPUS)  # what PBS and TORQUE call GPUs; the first that is said counts
_MISSPELT = "gpu"
MODEL = "accelerator_model"  # a type of GPUs
# Resources that mean something by themselves, of chunks and of jobs: those of pbs_resources(7).
_MEANT = frozenset((
    *GPU_COUNTS, MODEL, "accelerator", "accelerator_memory", "aoe", "arch", "cput", "eoe",
    "exec_vnode", "file", "host", "max_walltime", "mem", "min_walltime", "mpiprocs", "mpparch",
    "naccelerators", "nchunk", "ncpus", "nice", "nodect", "nodes", "ompthreads", "pcput", "place",
    "pmem", "preempt_targets", "procs", "pvmem", "select", "site", "soft_walltime", "software",
    "start_time", "vmem", "vnode", "vntype", "walltime",
))  # fmt: skip


def is_of_site(name: str) -> bool:
    """Whether a site gives a resource its meaning; in PBS its letters may be large or small."""
    return plain(name) and name.lower() not in _MEANT


def is_mark(text: str) -> bool:
    """Whether TORQUE takes a text for a property of nodes, which begins with a letter."""
    return plain(text) and text[0].isalpha()


def is_property(text: str) -> bool:
    """Whether TORQUE takes a text for a property of nodes, beside GPUs, too."""
    return is_mark(text) and text not in GPU_MODES


def is_node(text: str) -> bool:
    """Whether TORQUE takes a text for the name of a node, and not for a number of nodes."""
    return plain(text) and not text.isdecimal()


@dataclass(slots=True)
class NodeSpec:
    """So many chunks, or nodes, that are alike."""

    count: int
    values: dict[str, str] = field(default_factory=dict)  # of resources
    name: str = ""  # of the node, where that is said instead of a count
    marks: list[str] = field(default_factory=list)  # properties of nodes

    def number(self, name: str) -> int:
        """A resource that is counted, 0 where it is not said."""
        text = self.values.get(name, "0")
        return whole(text, 9) or 0

    @property
    def gpus(self) -> int:
        """The GPUs of one such node or chunk."""
        return next(filter(None, map(self.number, GPU_COUNTS)), 0)

    @property
    def has_odd_gpus(self) -> bool:
        """Whether a number of GPUs is said, and is none, or is one of a name that PBS has not."""
        told = any(whole(self.values.get(name, "0"), 9) is None for name in GPU_COUNTS)
        return told or _MISSPELT in self.values

    @property
    def properties(self) -> list[str]:
        """The properties of the nodes; behind ``gpus`` the word for their mode is none."""
        if _GPUS not in self.values:
            return self.marks
        return [mark for mark in self.marks if mark not in GPU_MODES]

    @property
    def features(self) -> list[str]:
        """The resources that such a chunk only has to have.

        >>> parts("1:ncpus=2:ib=True:ssd=false")[0].features
        ['ib']
        """
        said = (name for name, value in self.values.items() if value.lower() == "true")
        return [name for name in said if name.lower() not in _MEANT]

    def __str__(self) -> str:
        parts = [self.name or str(self.count)]
        parts += [f"{name}={value}" for name, value in self.values.items()]
        return ":".join((*parts, *self.marks))


def parts(text: str) -> list[NodeSpec] | None:
    """The parts of a list with + between them; None where it is none."""
    found = []
    text, *of_all = text.split("#")  # as TORQUE writes properties of all nodes
    for each in text.split("+"):
        head, *rest = each.split(":")
        if not plain(head):
            return None
        count = whole(head, 9) or 0
        part = NodeSpec(count or 1, name="" if count else head)
        for inner in rest:
            name, equals, value = inner.partition("=")
            if equals and part.values.get(name, value) != value:
                # Which one counts nobody knows: so it is no number, and written as it was.
                part.values[name] += f":{name}={value}"
            elif equals:
                part.values[name] = value
            else:
                part.marks.append(inner)
        part.marks += of_all
        found.append(part)
    return found


def chunks(text: str) -> list[NodeSpec] | None:
    """The chunks of ``select``, whose count may be left out where it is 1; None where it is none.

    >>> chunks("ncpus=4")[0].values, chunks("x:ncpus=4"), chunks("2:ncpus=4")[0].count
    ({'ncpus': '4'}, None, 2)
    """
    counted = "+".join(
        f"1:{each}" if "=" in each.partition(":")[0] else each for each in text.split("+")
    )
    found = parts(counted)
    return None if found is None or any(part.name for part in found) else found


def totals(found: list[NodeSpec]) -> tuple[int, int] | tuple[()]:
    """The nodes of a list and their processors, 0 where it says none; () where one has no number.

    >>> totals(parts("n1:ppn=4+2:ppn=2")), totals(parts("4")), totals(parts("1:ppn=x"))
    ((3, 8), (4, 0), ())
    """
    told = [part for part in found if "ppn" in part.values]
    if not found or not all(part.number("ppn") for part in told):
        return ()
    each = (part.count * (part.number("ppn") or 1) for part in found)
    return sum(part.count for part in found), sum(each) if told else 0


def most_processors(found: list[NodeSpec], ncpus: str) -> int:
    """The processors of ``nodes=4,ncpus=8`` by ncpus; 0 where the nodes have more, or it is none.

    Each node has one at least, so that a site's own ``ncpus=1`` takes none away.

    >>> most_processors(parts("4"), "8"), most_processors(parts("4:ppn=2"), "1")
    (8, 0)
    """
    count = whole(ncpus, 9) or 0
    return count if count >= sum(part.count * (part.number("ppn") or 1) for part in found) else 0


def asked_count(text: str) -> int | None:
    """The nodes that a list with + between its parts asks for; None where it is no such list."""
    found = parts(text)
    return sum(part.count for part in found) if found else None
