"""Jobs as a table of Arrow: the columns of a store, what reports say, and the whole job beside.

The fields are those of ``sssjob.store.parquet``, whose metadata says of which path in the job each
is and what it tells. Behind them stand the values that a report groups the job by (``BY``) and
what it adds up of it (``USED``); ``document`` is the job as XML text, so that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from itertools import islice
from operator import attrgetter
from typing import Any

import pyarrow as pa

from sssjob.accounting.report import GROUPINGS, JobProperties, used
from sssjob.document.bridge import to_tree
from sssjob.document.text import dumps
from sssjob.model import Job
from sssjob.spans import SPANS
from sssjob.store import parquet, rows
from sssjob.store.columns import NAMES
from sssjob.units import double_or_none

DOCUMENT = "document"
PIECE = 10_000  # rows of one piece of the table, which is held in memory
# What ``report --by`` groups a job by: delivered, else the job's own, else what it requests.
BY = {f"by_{name.replace('-', '_')}": name for name in GROUPINGS if name not in SPANS}
# What a report adds up, or takes the mean of, by the names that it has there.
# fmt: off
USED = (
    ("wall_seconds",       "wall time",                           attrgetter("wall")),
    ("processor_seconds",  "wall time by processors",             attrgetter("slots")),
    ("cpu_seconds",        "time of processors at work",          attrgetter("cpu")),
    ("used_processors",    "how many processors there were",      attrgetter("processors")),
    ("used_memory_bytes",  "the most that was measured, else given", attrgetter("memory")),
    ("asked_memory_bytes", "the memory that was requested",       attrgetter("asked")),
    ("node_seconds",       "wall time by nodes",                  attrgetter("nodes")),
    ("gpu_seconds",        "wall time by GPUs",                   attrgetter("gpus")),
    ("energy_joules",      "the energy that was used",            attrgetter("energy")),
)
# fmt: on
_OF_STORES = (DOCUMENT, "place")  # these fields say where a job stands in a store
_FIELDS = [field for field in parquet.schema() if field.name not in _OF_STORES]
_PLACES = [NAMES.index(parquet.column_of(field.name)) for field in _FIELDS]

Row = tuple[object, ...]


def schema() -> pa.Schema:
    """The fields of the table."""
    named = (
        pa.field(name, pa.string(), metadata={"path": "", "says": f"what report --by {by} says"})
        for name, by in BY.items()
    )
    sums = (
        pa.field(name, pa.float64(), metadata={"path": "", "says": says}) for name, says, _ in USED
    )
    return pa.schema([*_FIELDS, *named, *sums, pa.field(DOCUMENT, pa.string(), nullable=False)])


def row(job: Job) -> Row:
    """What the table says of a job."""
    # The last row is the one with older names replaced.
    found = rows.rows(to_tree(job))[-1]
    facts = JobProperties(job)
    sums = used(facts)
    told = (found[place] for place in _PLACES)
    named = (GROUPINGS[by](facts, UTC) or None for by in BY.values())
    return (*told, *named, *(double_or_none(of(sums)) for _, _, of in USED), dumps(job))


def piece(some: Sequence[Row], fields: pa.Schema) -> pa.RecordBatch:
    """A piece of the table."""
    return parquet.batch_of(some, fields)


def table(jobs: Iterable[Job]) -> Any:
    """The table of jobs; what is held besides is one piece of it as rows."""
    fields = schema()
    return pa.Table.from_batches(_pieces(map(row, jobs), fields), fields)


def _pieces(found: Iterator[Row], fields: pa.Schema) -> Iterator[pa.RecordBatch]:
    while some := list(islice(found, PIECE)):
        yield piece(some, fields)
