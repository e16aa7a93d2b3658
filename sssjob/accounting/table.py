"""Jobs as a table of Arrow: the columns of a store, what reports say, and the whole job beside.

The fields are those of ``sssjob.store.parquet``, whose metadata says of which path in the job each
is and what it tells. Behind them stand the values that a report groups the job by (``BY``) and
what it adds up of it (``USED``); ``document`` is the job as XML text, so that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from itertools import groupby, islice, repeat
from operator import itemgetter
from typing import Any, NamedTuple, cast

import pyarrow as pa

from sssjob.accounting.column_readings import AMOUNTS, grouping
from sssjob.accounting.column_values import PlainPieces, ValueReader
from sssjob.accounting.document_rows import TextColumnsBuilder
from sssjob.accounting.report import GROUPINGS, NAMED, JobProperties, used
from sssjob.document.bridge import to_tree
from sssjob.document.text import dumps
from sssjob.measures import JobUsage, used_of
from sssjob.model import Job
from sssjob.records.builders import Column, Items
from sssjob.store import parquet, rows
from sssjob.store.columns import NAMES
from sssjob.units import double_or_none

DOCUMENT = "document"
PIECE = 10_000  # rows of one piece of the table, which is held in memory
# What ``report --by`` groups a job by: delivered, else the job's own, else what it requests.
BY = {f"by_{name.replace('-', '_')}": name for name in NAMED}
# What a report adds up, or takes the mean of, by the names that it has there.
# fmt: off
USED = (  # in the order of ``JobUsage``, but for how long the job waited, which its times tell
    ("wall_seconds",       "wall time"),
    ("processor_seconds",  "wall time by processors"),
    ("cpu_seconds",        "time of processors at work"),
    ("used_processors",    "how many processors there were"),
    ("used_memory_bytes",  "the most that was measured, else given"),
    ("asked_memory_bytes", "the memory that was requested"),
    ("node_seconds",       "wall time by nodes"),
    ("gpu_seconds",        "wall time by GPUs"),
    ("energy_joules",      "the energy that was used"),
    ("limit_seconds",      "the wall time that was requested"),
    ("asked_processors",   "the processors that were requested"),
    ("asked_gpus",         "the GPUs that were requested"),
)
# fmt: on
_OF_STORES = (DOCUMENT, "place")  # these fields say where a job stands in a store
assert JobUsage._fields[len(USED) :] == ("wait",)
_FIELDS = [field for field in parquet.schema() if field.name not in _OF_STORES]
_PLACES = [NAMES.index(parquet.column_of(field.name)) for field in _FIELDS]

_of_table = itemgetter(*_PLACES)

Row = tuple[object, ...]


def schema() -> pa.Schema:
    """The fields of the table."""
    named = (
        pa.field(name, pa.string(), metadata={"path": "", "says": f"what report --by {by} says"})
        for name, by in BY.items()
    )
    sums = (
        pa.field(name, pa.float64(), metadata={"path": "", "says": says}) for name, says in USED
    )
    return pa.schema([*_FIELDS, *named, *sums, pa.field(DOCUMENT, pa.string(), nullable=False)])


def row(job: Job) -> Row:
    """What the table says of a job."""
    # The last row is the one with older names replaced.
    found = rows.rows(to_tree(job))[-1]
    facts = JobProperties(job)
    sums = used(facts)
    told = _of_table(found)
    named = (GROUPINGS[by](facts, UTC) or None for by in BY.values())
    return (*told, *named, *map(double_or_none, sums[: len(USED)]), dumps(job))


class TableRow(NamedTuple):
    """A row, by its number in a piece of the table."""

    batch: pa.RecordBatch
    at: int


class TableBuilder(TextColumnsBuilder[TableRow | Row]):
    """Builds rows of the table column by column; each value is what ``row`` says of the job.

    Names and amounts are asked of a job that has only the properties that they are made of. A
    request whose parts are weighed against each other is not taken apart.
    """

    def __init__(self) -> None:
        super().__init__()
        self._schema = schema()
        self._groupings = [ValueReader(grouping(by)) for by in BY.values()]
        self._amounts = [*map(ValueReader, AMOUNTS)]
        self._pieces = PlainPieces()

    def from_job(self, job: Job) -> Row:
        """The row of a job object."""
        return row(job)

    def jobs(
        self, own: Sequence[Column], requested: Sequence[Column], delivered: Sequence[Column],
        groups: Sequence[Items],
    ) -> list[TableRow | Row]:  # fmt: skip
        """The rows of many records."""
        size = len(groups)
        found = self.read(own, requested, delivered, groups)
        named = [each.values(found.told, size) for each in self._groupings]
        sums = zip(
            *map(used_of, *(each.values(found.told, size) for each in self._amounts)), strict=True
        )
        used_ = [[*map(double_or_none, each)] for each in islice(sums, len(USED))]
        told: list[Iterable[Any]] = [
            *(found.cells[place] for place in _PLACES), *named, *used_, found.texts
        ]  # fmt: skip
        odd = {*found.irregular, *self._pieces.others(found.told, size)}
        if odd:
            rows_: list[Row] = [*zip(*told, strict=False)]
            for at in odd:
                rows_[at] = row(found.job(at))
            batch = piece(rows_, self._schema)
        else:
            arrays = [
                _array(values, field, size)
                for values, field in zip(told, self._schema, strict=True)
            ]
            batch = pa.record_batch(arrays, schema=self._schema)
        return [*map(TableRow, repeat(batch), range(size))]


def _array(values: Iterable[Any], field: pa.Field, size: int) -> pa.Array:
    """A column of a piece; ``repeat`` is what all have."""
    if not isinstance(values, repeat):
        return parquet.array_of(values, field)
    value = next(iter(values))
    if value is None:
        return pa.nulls(size, field.type)
    return parquet.array_of([value] * size, field)


def together(some: Iterable[TableRow | Row], fields: pa.Schema) -> pa.RecordBatch:
    """A piece of these rows, in their order."""
    batches: list[pa.RecordBatch] = []
    for batch, those in groupby(some, lambda each: each.batch if type(each) is TableRow else None):
        if batch is None:
            batches.append(piece([*those], fields))
            continue
        places = [each.at for each in cast(Iterable[TableRow], those)]
        is_whole = len(places) == batch.num_rows and places == [*range(len(places))]
        batches.append(batch if is_whole else batch.take(pa.array(places, pa.int64())))
    return pa.Table.from_batches(batches, fields).combine_chunks().to_batches()[0]


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
