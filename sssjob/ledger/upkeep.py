"""Looking after a ledger: what is damaged in it, and its files made few."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from sssjob.errors import DamagedStore, UnusableStore
from sssjob.ledger import columns, damage, ids, logs, manifest, places, rollup
from sssjob.ledger.columns import END, START
from sssjob.ledger.ledger import GONE, GROUP, TRIES, USAGE, Ledger, taken_back
from sssjob.ledger.manifest import DataFile, Gone, Manifest, RecordedLog
from sssjob.ledger.places import FileStamp, Place

ROWS = 8 * GROUP  # of a file that is made, which is held in memory
_DAY = 86_400


class Older(NamedTuple):
    """How many files only older commits need, and how many bytes they have."""

    files: int = 0
    size: int = 0


class LedgerCheck(NamedTuple):
    """What was found: what is wrong, how many runs count, files of no manifest, which say nothing
    (a writer that was killed left them, or they are made of such files), and what older commits
    need.
    """

    faults: list[DamagedStore]
    runs: int
    strays: list[Place]
    older: Older


def check(ledger: Ledger) -> LedgerCheck:
    """Read every byte that the newest manifest counts on. Raises ``UnusableStore``."""
    now = ledger.manifest()
    faults = [*_faults(ledger.home, (*now.files, *now.gone, *now.logs))]
    known: list[Manifest] = []
    for number in manifest.numbers(ledger.home):
        try:
            known.append(manifest.newest(ledger.home, number))
        except UnusableStore as error:
            faults.append(DamagedStore(error.store, error.reason))
    there = _there(ledger.home)
    by_any, by_last = _needed(there, known), _needed(there, [now])
    strays = sorted(ledger.home / path for path in there if path not in by_any)
    older = [there[path].size for path in by_any if path not in by_last]
    faults += (
        DamagedStore(str(path), "is not what was written; reports of rows are right")
        for path in rollup.damaged(ledger)
    )
    faults += (
        DamagedStore(str(path), "is not what was written; jobs are found without it")
        for path in _damaged_ids(ledger.home, now)
    )
    return LedgerCheck(faults, now.rows, strays, Older(len(older), sum(older)))


def _there(home: Place) -> dict[str, FileStamp]:
    """The files that manifests list, and those that are made of these."""
    return {
        f"{folder}/{name}": kept
        for folder in (USAGE, GONE, logs.FOLDER, rollup.FOLDER, ids.FOLDER)
        for name, kept in places.below(home / folder).items()
    }


def _needed(there: Iterable[str], known: Iterable[Manifest]) -> set[str]:
    """Those of the files that some commits need, with what is made of files of rows."""
    listed: set[str] = set()
    for each in known:
        listed.update(file.path for file in each.files)
        listed.update(file.path for file in each.gone)
        listed.update(file.path for file in each.logs)
    stems = {path.rpartition("/")[2].removesuffix(".parquet") for path in listed}
    return {
        path
        for path in there
        if path in listed
        or (
            not path.startswith((USAGE, GONE, logs.FOLDER))
            and rollup.source(path.rpartition("/")[2]) in stems
            and not rollup.is_former(path)
        )
    }


def _damaged_ids(home: Place, now: Manifest) -> Iterator[Place]:
    return (home / ids.path_of(file) for file in now.files if ids.is_damaged(home, file))


def _faults(home: Place, files: Iterable[DataFile | Gone | RecordedLog]) -> Iterator[DamagedStore]:
    for file in files:
        fault = _fault(home, file)
        if fault is not None:
            yield fault


def _fault(home: Place, file: DataFile | Gone | RecordedLog) -> DamagedStore | None:
    path = home / file.path
    what = "line" if file.rows == 1 else "lines"
    what = (
        f"{what} of records"
        if isinstance(file, RecordedLog)
        else "row"
        if file.rows == 1
        else "rows"
    )
    were = "was" if file.rows == 1 else "were"
    try:
        found = damage.digest(path)
    except OSError as error:
        return DamagedStore(str(path), f"{error.strerror}; {file.rows} {what} {were} in it")
    if found == file.digest:
        return None
    return DamagedStore(str(path), f"{damage.CHANGED}; {file.rows} {what} {were} in it")


class LedgerRepair(NamedTuple):
    """What is left out now, how many runs counted in it, and how many count still.

    How many a damaged manifest had is not known.
    """

    faults: list[DamagedStore]
    lost: int
    runs: int


# decision 317
def repair(ledger: Ledger) -> LedgerRepair:
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


def _repaired(ledger: Ledger) -> LedgerRepair:
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
    kept = []
    for log in now.logs:
        fault = _fault(home, log)
        if fault is None:
            kept.append(log)
        else:
            faults.append(fault)
    following = now
    if faults or now.number < last:
        following = replace(
            now, number=last + 1, files=tuple(files), gone=gone, inputs=(), logs=tuple(kept),
            written=int(time.time()), why="repair",
        )  # fmt: skip
        manifest.commit(home, following)
    # Only now: a commit takes the number behind the last one.
    for fault in torn:
        manifest.set_aside(places.place(fault.store))
    for path in rollup.damaged(ledger):
        faults.append(DamagedStore(str(path), "is not what was written; it is made anew"))
        path.unlink(missing_ok=True)
    for path in [*_damaged_ids(home, following)]:
        faults.append(DamagedStore(str(path), "is not what was written; compact makes it anew"))
        path.unlink(missing_ok=True)
    return LedgerRepair(
        [*map(_as_commit, torn), *faults], now.rows - following.rows, following.rows
    )


def _as_commit(torn: DamagedStore) -> DamagedStore:
    return DamagedStore(torn.store, f"{torn.reason}; what its commit added is left out, unless "
                        "a later one has it")  # fmt: skip


def compact(ledger: Ledger) -> tuple[int, int]:
    """Make the files of each month few, without replaced rows: how many before, and now.

    A month that is one whole file stays. Older manifests keep their files. Raises
    ``UnusableStore``, ``DamagedStore`` for a file that is torn, gone or changed: nothing is
    changed then.
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


def filter_ids(ledger: Ledger) -> int:
    """Make the filters of ids that large files lack; how many. Raises ``OSError``."""
    made = 0
    there = places.names(ledger.home / ids.FOLDER)
    for file in ledger.manifest().files:
        if file.rows >= ids.FEW and ids.path_of(file).rpartition("/")[2] not in there:
            ids.remake(ledger.home, file)
            made += 1
    return made


# decision 512
def forget(ledger: Ledger, days: int, now: float) -> Older:
    """Remove commits that are older than so many days, and the files that no other one needs.

    The newest commit always stays. Where a manifest is damaged, what it needs is not known:
    ``DamagedStore`` is raised, and nothing is removed. Files of no commit go if they are a day
    old: a younger one may be of a writer that no lock keeps away. Raises ``UnusableStore`` and
    ``OSError``; what was removed by then is what nobody needs.
    """
    home, count, size = ledger.home, 0, 0
    with ledger.writing():
        last = ledger.manifest()
        known = []
        for told in [manifest.newest(home, number) for number in manifest.numbers(home)]:
            number = told.number
            if number != last.number and told.written < now - days * _DAY:
                manifest.path_of(home, number).unlink(missing_ok=True)
            else:
                known.append(told)
        there = _there(home)
        wanted = _needed(there, known)
        for path, kept in there.items():
            if path not in wanted and kept.changed < now - _DAY:
                (home / path).unlink(missing_ok=True)
                count, size = count + 1, size + kept.size
        if isinstance(home, Path):
            for folder in (home / rollup.FOLDER).glob("*"):
                if rollup.is_former(f"{rollup.FOLDER}/{folder.name}/"):
                    with suppress(OSError):  # it is not empty
                        folder.rmdir()
    return Older(count, size)


def _rewritten(
    ledger: Ledger, now: Manifest, month: str, some: list[DataFile], made: list[Place]
) -> Iterator[DataFile]:
    names = ", ".join(f'"{name}"' for name in columns.NAMES)
    for fault in _faults(ledger.home, some):
        raise fault
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
