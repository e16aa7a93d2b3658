"""The columns of a job's row: which there are, from the tables of the standard.

A column belongs to a **path** from the job (``Requested/Memory``), with names as the standard
spells them in either namespace, and says one thing about the nodes that the path selects. All of
it is about string values and numbers as XPath 1.0 has them, so that a comparison of a column is
the comparison that libxml2 makes on the document. What a column cannot say, ``odd`` admits: bit
*n* is set in a row whose nodes at ``PATHS[n]`` are more than their columns tell, and where such a
property stands in Requested or Delivered, which have none of that name. Whoever asks a column
looks at the document of such a row, too (``Bits(ODD, bit(path))``).

An engine makes one table of ``COLUMNS`` beside its own (which document it is, and so on), with an
index for each of ``INDEXES`` where its first column has a value, and for each of ``USUAL`` where
it has more than that. ``rows`` gives what to put in. TEXT has the collation BINARY or "C"; NUMBER
is a double.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from sssjob import spec, units

SEPARATOR = "\x1f"  # a character that XML does not have; it sorts before every letter
LONGEST = 400  # characters of a text that a column keeps, which is what an index can hold


class ColumnType(StrEnum):
    """The type of a column."""

    TEXT = "text"
    NUMBER = "number"
    INTEGER = "integer"


class Says(StrEnum):
    """What a column tells of the elements at its path; always NULL when there are none."""

    OWN = "a fact about the row itself, always there"
    TEXT = "the text; of several elements, all their texts, each between separators"
    LOW = "the number, or of several the lowest; NULL when one of them is no number"
    HIGH = "the highest of several numbers; NULL when there is one"
    BYTES = "the number in bytes, by the attribute units or the default unit"
    COUNT = "how many of these elements there are, 0 included"


class Column(NamedTuple):
    """A column: its name in SQL, and what it says of which path."""

    name: str
    kind: ColumnType
    path: str
    says: Says


# Facts about the row itself
PLACE = "place"  # 0 is the document's own object; the jobs of a JobGroup count from 1
KIND = "kind"  # JOB, GROUP, or REFERENCE: a Job element that only mentions one
READING = "reading"  # in which of the readings the row is true: BOTH, WRITTEN or EFFECTIVE
ODD = "odd"

JOB, GROUP, REFERENCE = "Job", "JobGroup", "Reference"
BOTH, WRITTEN, EFFECTIVE = 0, 1, 2

# fmt: off
# What people ask for often: names from the tables of properties, by the block they stand in.
HOT: dict[str, tuple[str, ...]] = {
    "": (
        "Id", "GlobalId", "Name", "State", "User", "Group", "Project", "GlobalUser", "Machine",
        "Queue", "Partition", "QualityOfService", "Application", "Hold",
        "Dependency", "Feature", "Node", "Charge", "CpuDuration", "Duration", "ExitCode",
        "NodeCount", "Priority", "Processors", "Memory", "CreationTime", "SubmitTime",
        "EligibleTime", "StartTime", "EndTime", "DeadlineTime", "StatusMessage", "SuspendDuration",
    ),
    spec.REQUESTED: (
        "User", "Project", "Machine", "Queue", "Feature", "Node",
        "Processors", "NodeCount", "Memory", "Disk", "Duration",
    ),
    spec.DELIVERED: (
        "User", "Project", "Machine", "Queue", "Node",
        "Processors", "NodeCount", "Memory", "Swap", "Duration",
    ),
}
# What is asked for often besides: attributes, and what stands deeper.
ATTRIBUTES = (
    "Requested/Memory/@units", "Delivered/Memory/@units", "Delivered/Memory/@metric",
    "Dependency/@condition",
)
NESTED = ("TaskGroup/Name", "TaskGroup/Task/Node")
COUNTED = (spec.REQUESTED, spec.DELIVERED, "TaskGroup")

INDEXES: tuple[tuple[str, ...], ...] = (
    ("id",),
    ("global_id",),
    ("name",),
    ("user", "state"),
    ("state",),
    ("project", "charge"),
    ("charge",),
    ("submit_time",),
    ("start_time",),
    ("end_time",),
    ("dependency",),
    ("task_group_task_node",),
)
# What nearly all rows have, as SQL has it: an index knows the others, which have more than that.
USUAL = {ODD: "0", READING: "0", KIND: f"'{JOB}'", "deleted": "0"}
# fmt: on

_NUMBERS = (spec.INTEGER, spec.FLOAT, spec.DATETIME, spec.DURATION)


def is_number(path: str) -> bool:
    """Whether the tables give the property at the end of a path a type that is a number."""
    row = spec.element(path.rpartition("/")[2])
    return row is not None and row.type in _NUMBERS


def is_ranged(path: str) -> bool:
    """Whether several numbers are usual: bounds in Requested, metrics in Delivered."""
    block, _, name = path.rpartition("/")
    row = spec.element(name)
    return is_number(path) and (
        block == spec.REQUESTED
        or (block == spec.DELIVERED and row is not None and bool(row.repeats))
    )


def name_of(path: str, says: Says = Says.TEXT) -> str:
    """The name of a column.

    >>> name_of("Requested/Memory/@units"), name_of("Delivered/Memory", Says.BYTES)
    ('requested_memory_units', 'delivered_memory_bytes')
    """
    words = "".join(
        f"_{letter.lower()}" if letter.isupper() else letter for letter in path.replace("@", "_")
    )
    name = "_".join(filter(None, words.replace("/", "_").split("_")))
    return f"{name}_{says.name.lower()}" if says in (Says.HIGH, Says.BYTES, Says.COUNT) else name


def _of(path: str) -> tuple[Column, ...]:
    """The columns of a path to a property or an attribute."""
    if "@" in path or not is_number(path):
        return (Column(name_of(path), ColumnType.TEXT, path, Says.TEXT),)
    says = [Says.LOW]
    if is_ranged(path):
        says.append(Says.HIGH)
    if path.rpartition("/")[2] in units.DEFAULT_UNITS:
        says.append(Says.BYTES)
    return tuple(Column(name_of(path, each), ColumnType.NUMBER, path, each) for each in says)


PATHS: tuple[str, ...] = (
    *(f"{block}/{name}".lstrip("/") for block, names in HOT.items() for name in names),
    *ATTRIBUTES,
    *NESTED,
)

COLUMNS: tuple[Column, ...] = (
    Column(PLACE, ColumnType.INTEGER, "", Says.OWN),
    Column(KIND, ColumnType.TEXT, "", Says.OWN),
    Column(READING, ColumnType.INTEGER, "", Says.OWN),
    Column(ODD, ColumnType.INTEGER, "", Says.OWN),
    *(Column(name_of(path, Says.COUNT), ColumnType.INTEGER, path, Says.COUNT) for path in COUNTED),
    *(column for path in PATHS for column in _of(path)),
)
NAMES: tuple[str, ...] = tuple(column.name for column in COLUMNS)

IRREGULAR = 1 << 62  # the bit for jobs in strange places, of which some have no row
ALL = (1 << 63) - 1  # every bit, a mask and no number: nothing in the row says enough
_BIT = {path: 1 << number for number, path in enumerate(PATHS)}
_BY_PATH = {(column.path, column.says): column.name for column in COLUMNS}
_PATH = {column.name: column.path for column in COLUMNS if column.path}

assert len(PATHS) < 63, "an integer of SQL has room for 62 paths"


def bit(path: str) -> int:
    """The bit of ``odd`` for a path; 0 for one whose columns always tell everything."""
    return _BIT.get(path, 0)


def odd_paths(odd: int) -> list[str]:
    """Where a row has more than its columns tell; "*" for jobs in strange places.

    >>> odd_paths(bit("Charge"))
    ['Charge']
    """
    if not odd:  # as nearly all are
        return []
    return [*(path for path in PATHS if odd & bit(path)), *(["*"] if odd & IRREGULAR else [])]


def column(path: str, says: Says) -> str | None:
    """The name of the column that says this of a path, or None."""
    return _BY_PATH.get((path, says))


def paths(names: Iterable[str]) -> frozenset[str]:
    """The paths that columns speak of; facts about the row itself speak of none."""
    return frozenset(_PATH[name] for name in names if name in _PATH)
