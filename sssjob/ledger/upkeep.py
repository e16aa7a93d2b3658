"""Looking after a ledger: what is damaged in it, and its files made few."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import file_digest
from typing import NamedTuple

import pyarrow as pa

from sssjob.errors import DamagedStore, UnusableStore
from sssjob.ledger import columns, manifest, places, rollup
from sssjob.ledger.columns import END, START
from sssjob.ledger.ledger import GONE, TRIES, USAGE, Ledger, digest_of, taken_back
from sssjob.ledger.manifest import DataFile, Gone, Manifest
from sssjob.ledger.places import Place

ROWS = 1_000_000  # of a file that is made, which is held in memory


class Checked(NamedTuple):
    """What was found: what is wrong, how many runs count, and files of no manifest, which say
    nothing: a writer that was killed left them.
    """

    faults: list[DamagedStore]
    runs: int
    strays: list[Place]


def check(ledger: Ledger) -> Checked:
    """Read every byte that the newest manifest counts on. Raises ``UnusableStore``."""
    now = ledger.manifest()
    faults = [*_faults(ledger.home, (*now.files, *now.gone))]
    known: set[str] = set()
    for number in manifest.numbers(ledger.home):
        try:
            told = manifest.newest(ledger.home, number)
        except UnusableStore as error:
            faults.append(DamagedStore(error.store, error.reason))
        else:
            known.update(file.path for file in told.files)
            known.update(file.path for file in told.gone)
    strays = sorted(
        ledger.home / path
        for folder in (USAGE, GONE)
        for path in (f"{folder}/{name}" for name in places.below(ledger.home / folder))
        if path not in known
    )
    faults += (
        DamagedStore(str(path), "is not what was written; reports of rows are right")
        for path in rollup.damaged(ledger)
    )
    return Checked(faults, now.rows, strays)


def _faults(home: Place, files: Iterable[DataFile | Gone]) -> Iterator[DamagedStore]:
    for file in files:
        fault = _fault(home, file)
        if fault is not None:
            yield fault


def _fault(home: Place, file: DataFile | Gone) -> DamagedStore | None:
    path = home / file.path
    try:
        with places.stream(path) as stream:
            found = file_digest(stream, digest_of).hexdigest()
    except OSError as error:
        return DamagedStore(str(path), f"{error.strerror}; {file.rows} rows were in it")
    if found == file.digest:
        return None
    return DamagedStore(str(path), f"is not what was written; {file.rows} rows were in it")


class Repaired(NamedTuple):
    """What is left out now, how many runs counted in it, and how many count still.

    How many a damaged manifest had is not known.
    """

    faults: list[DamagedStore]
    lost: int
    runs: int


# decision 317
def repair(ledger: Ledger) -> Repaired:
    """Leave out the files that are damaged, so that the rest answers again.

    What was read before is forgotten, so that ``ingest`` of the same logs puts the lost runs back.
    Where the newest manifest is damaged, the last one that is whole counts. Damaged manifests get
    another name, damaged rollups are removed; no other file is changed. Raises ``UnusableStore``,
    also where no manifest is whole.
    """
    for _ in range(TRIES):
        try:
            with ledger.writing(), taken_back(ledger.home):
                return _repaired(ledger)
        except manifest.Taken:
            continue
    raise UnusableStore(str(ledger.home), "others commit all the time")


def _repaired(ledger: Ledger) -> Repaired:
    home = ledger.home
    now, torn = manifest.last_whole(home)
    last = manifest.numbers(home)[-1]
    faults = [*_faults(home, now.gone)]
    gone = () if faults else now.gone
    files = []
    for file in now.files:
        fault = _fault(home, file)
        if fault is None and file.gone and not gone:
            text = f"it is no longer known which of its {file.rows} rows were replaced"
            fault = DamagedStore(str(home / file.path), text)
        if fault is None:
            files.append(file)
        else:
            faults.append(fault)
    following = now
    if faults or now.number < last:
        following = replace(
            now, number=last + 1, files=tuple(files), gone=gone, inputs=(),
            written=int(time.time()), why="repair",
        )  # fmt: skip
        manifest.commit(home, following)
    # Only now: a commit takes the number behind the last one.
    for fault in torn:
        manifest.set_aside(places.place(fault.store))
    for path in rollup.damaged(ledger):
        faults.append(DamagedStore(str(path), "is not what was written; it is made anew"))
        path.unlink(missing_ok=True)
    return Repaired([*map(_as_commit, torn), *faults], now.rows - following.rows, following.rows)


def _as_commit(torn: DamagedStore) -> DamagedStore:
    return DamagedStore(torn.store, f"{torn.reason}; what its commit added is left out, unless "
                        "a later one has it")  # fmt: skip


def compact(ledger: Ledger) -> tuple[int, int]:
    """Make the files of each month few, without replaced rows: how many before, and now.

    A month that is one whole file stays. Older manifests keep their files. Raises
    ``UnusableStore``, ``DamagedStore`` for a file that is torn or gone: nothing is changed then.
    """
    for _ in range(TRIES):
        try:
            with ledger.writing():
                return _compacted(ledger)
        except manifest.Taken:
            continue
    raise UnusableStore(str(ledger.home), "others commit all the time")


def _compacted(ledger: Ledger) -> tuple[int, int]:
    now = ledger.manifest()
    _, faults = ledger.present(now)
    if faults:
        raise faults[0]
    by_month: dict[str, list[DataFile]] = defaultdict(list)
    for file in now.files:
        by_month[file.path.split("/")[1]].append(file)
    files: list[DataFile] = []
    with taken_back(ledger.home) as made:
        for month, some in by_month.items():
            whole = [each for each in some if not each.gone and each.rows >= ROWS]
            rest = [each for each in some if each not in whole]
            files += whole
            if len(rest) == 1 and not rest[0].gone:
                files += rest
            elif rest:
                files += _rewritten(ledger, now, month, rest, made)
        if made:
            following = manifest.next_to(
                now, files=tuple(files), gone=(), written=int(time.time()), why="compact"
            )
            manifest.commit(ledger.home, following)
    return len(now.files), len(files)


def _rewritten(
    ledger: Ledger, now: Manifest, month: str, some: list[DataFile], made: list[Place]
) -> Iterator[DataFile]:
    names = ", ".join(f'"{name}"' for name in columns.NAMES)
    with ledger.connected(now, some) as connection:
        reader = connection.sql(
            f"SELECT {names} FROM live ORDER BY {END}, {START}"
        ).to_arrow_reader(ROWS // 10)
        held = columns.table([])
        for batch in reader:
            held = pa.concat_tables([held, pa.Table.from_batches([batch]).cast(held.schema)])
            while len(held) >= ROWS:
                yield ledger.write(held.slice(0, ROWS), month, made)
                held = held.slice(ROWS)
        if len(held):
            yield ledger.write(held, month, made)
