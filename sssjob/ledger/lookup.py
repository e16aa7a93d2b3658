"""Single runs of a ledger: where those with some ids are, and their rows.

It needs no DuckDB, whose import takes longer than to find one run among a hundred million.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sssjob.errors import DamagedStore
from sssjob.ledger import columns, damage, ids, places
from sssjob.ledger.columns import ID, LINE, MACHINE, SOURCE, START, SUBMIT
from sssjob.ledger.manifest import DataFile, Manifest
from sssjob.ledger.places import Place

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_AT_ONCE = 8192  # rows of a row group


def runs(home: Place, now: Manifest, wanted: Sequence[str]) -> list[dict[str, Any]]:
    """What is known of the runs of jobs with these ids: only what is stated, in order.

    Raises ``UnusableStore``.
    """
    known = [each.encode("utf-8", "replace").decode() for each in wanted]  # as rows have them
    found = with_ids(home, now, now.files, known)
    # Of rows that nobody asks for, the other columns are not read.
    told = [
        {name: value for name, value in row.items() if value is not None}
        for row in rows_at(home, now, found)
    ]
    order = (ID, MACHINE, SUBMIT, START, SOURCE, LINE)
    return sorted(told, key=lambda run: [(name not in run, run.get(name)) for name in order])


def gone(home: Place, manifest: Manifest) -> pa.Table:
    """Which rows of which files were replaced. Raises ``DamagedStore``."""
    tables = []
    for each in manifest.gone:
        with places.parquet(damage.data_of(home, each)) as file:
            tables.append(file.read(use_threads=False))
    empty = pa.table({"file": pa.array([], pa.string()), "row": pa.array([], pa.int64())})
    return pa.concat_tables([empty, *tables])


def with_ids(
    home: Place, manifest: Manifest, files: Iterable[DataFile], wanted: Sequence[str]
) -> list[tuple[str, int]]:
    """Where in some files the rows that count have one of these ids. Raises ``DamagedStore``."""
    at = [*ids.rows(home, files, wanted)]
    replaced: set[tuple[str, int]] = set()
    if any(file.gone for file, _ in at):
        told = gone(home, manifest).to_pydict()
        replaced = {*zip(told["file"], told["row"], strict=True)}
    return [place for file, row in at if (place := (file.name, row)) not in replaced]


def rows_at(
    home: Place, manifest: Manifest, wanted: Iterable[tuple[str, int]]
) -> Iterator[dict[str, Any]]:
    """The rows at some places, as names of files and numbers of rows. Raises ``DamagedStore``.

    Only the row groups that they are in are read, one at a time.
    """
    by_name: dict[str, list[int]] = {}
    for name, number in wanted:
        by_name.setdefault(name, []).append(number)
    for file in manifest.files:
        if file.name in by_name:
            try:
                yield from _taken(home / file.path, sorted(by_name[file.name]))
            except (OSError, pa.ArrowException) as error:
                text = f"cannot be read: {error}"
                raise DamagedStore(str(home / file.path), text) from None


def _taken(path: Place, numbers: Sequence[int]) -> Iterator[dict[str, Any]]:
    """The rows of a file with these numbers, which go upwards."""
    with places.parquet(path) as file:
        first = 0
        for group in range(file.num_row_groups):
            behind = first + file.metadata.row_group(group).num_rows
            some = [number for number in numbers if first <= number < behind]
            if some:
                yield from _in_group(file, group, first, some)
            first = behind


def _in_group(
    file: pq.ParquetFile, group: int, first: int, wanted: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Those of a row group, whose first row has a number; what is behind them is not read."""
    rest = [*wanted]
    for batch in file.iter_batches(_AT_ONCE, [group], [*columns.NAMES], use_threads=False):
        behind = first + len(batch)
        some = [number - first for number in rest if number < behind]
        for row in batch.take(pa.array(some, pa.int64())).to_pylist():
            yield {name: row.get(name) for name in columns.NAMES}
        rest = rest[len(some) :]
        if not rest:
            return
        first = behind
