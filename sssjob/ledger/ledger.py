"""A ledger: made, opened, added to and read; what a program does with one."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sssjob.errors import DamagedStore, FullStore, UnusableStore
from sssjob.integers import whole
from sssjob.known_by import of_one, submission
from sssjob.ledger import columns, damage, ids, logs, lookup, manifest, merging, places
from sssjob.ledger.columns import COLUMNS, END, ID, KEY, LINE, START, SUBMIT, Row
from sssjob.ledger.manifest import DataFile, Gone, Input, Manifest, RecordedLog, TimeRange
from sssjob.ledger.places import Place

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

USAGE, GONE, LOCK = "usage", "gone", "lock"
GROUP = 122_880  # rows of a row group, as DuckDB takes them for one thread
_DELTA = {
    **dict.fromkeys((SUBMIT, "eligible_time", START, END, LINE), "DELTA_BINARY_PACKED"),
    # Never PLAIN, which DuckDB 2.0.0 filters wrongly where there are NULLs. # decision 296
    **dict.fromkeys((ID, "global_id"), "DELTA_BYTE_ARRAY"),
}
_DICTIONARY = [each.name for each in COLUMNS if each.name not in _DELTA]
_ARRIVES = 200_000  # rows that are held in memory and committed together
TRIES = 100  # to commit, where others do
OnConflict = Callable[[merging.Conflict], None]


class Added(NamedTuple):
    """How many runs were new, were there and were replaced, or said nothing new."""

    new: int = 0
    replaced: int = 0
    unchanged: int = 0

    def __add__(self, other: Added) -> Added:  # type: ignore[override]
        return Added(*map(sum, zip(self, other, strict=True)))

    def __str__(self) -> str:
        return f"new {self.new}, replaced {self.replaced}, unchanged {self.unchanged}"


@dataclass(frozen=True, slots=True)
class Ledger:
    """A ledger in a directory; nothing of it stays open.

    ``at`` is the number of the manifest that is read; None: always the newest.
    """

    home: Place
    at: int | None = None

    def manifest(self) -> Manifest:
        """What it is made of now. Raises ``UnusableStore``."""
        return manifest.newest(self.home, self.at)

    def add(self, rows: Iterable[Row]) -> Added:
        """Put rows in. Raises ``UnusableStore``; what was committed before stays."""
        adding = LedgerAppender(self)
        for row in rows:
            adding.put(row)
        adding.commit()
        return adding.total

    @contextmanager
    def connected(
        self, now: Manifest | None = None, files: Sequence[DataFile] | None = None,
        *, fence: Mapping[str, Any] | None = None,
    ) -> Iterator[Connection]:  # fmt: skip
        """A connection of DuckDB with the views ``usage``, ``runs`` and ``live``.

        With a ``fence`` of settings for questions of users.
        """
        from sssjob.ledger.engine import connected  # whom a run is asked for needs no DuckDB

        with connected(self.home, now or self.manifest(), files, fence=fence) as found:
            yield found

    def runs(self, wanted: Sequence[str]) -> list[dict[str, Any]]:
        """What is known of the runs of jobs with these ids, in order. Raises ``UnusableStore``."""
        return lookup.runs(self.home, self.whole(), wanted)

    def whole(self) -> Manifest:
        """What it is made of now. Raises ``DamagedStore`` for a file that is torn or gone.

        An answer without its rows would be another one.
        """
        now = self.manifest()
        _, faults = self.present(now)
        if faults:
            raise faults[0]
        return now

    def present(self, now: Manifest) -> tuple[list[DataFile], list[DamagedStore]]:
        """The files of a manifest that are as long as they were, and what is wrong with others."""
        whole, faults = [], []
        sizes = places.sizes(self.home, [file.path for file in now.files])
        for file in now.files:
            size = sizes[file.path]
            if size == file.size:
                whole.append(file)
                continue
            why = f"is torn: {size} bytes, and {file.size} were written"
            if isinstance(size, OSError):
                why = size.strerror or str(size)
            faults.append(
                DamagedStore(str(self.home / file.path), f"{why}; {damage.left_out(file)}")
            )
        return whole, faults

    def commit(
        self, arrived: pa.Table, read: Sequence[Input], why: str, kept: Sequence[RecordedLog] = (),
        on_conflict: OnConflict | None = None,
    ) -> Added:  # fmt: skip
        """Put rows in, and write down which inputs were read to their end, all or nothing.

        The texts of these that are ``kept`` are written already.
        """
        for _ in range(TRIES):
            try:
                with self.writing():
                    added, conflicts = self._try(arrived, read, why, kept)
                if on_conflict is not None:
                    for each in conflicts:
                        on_conflict(each)
                return added
            except manifest.Taken:  # by somebody whom no lock kept away, as on some file systems
                continue
        raise UnusableStore(str(self.home), "others commit all the time")

    def _try(
        self, arrived: pa.Table, read: Sequence[Input], why: str, kept: Sequence[RecordedLog]
    ) -> tuple[Added, list[merging.Conflict]]:
        now = self.manifest()
        with taken_back(self.home) as made:
            met = _met_by(arrived, now)
            damage.refuse(self.home, met)
            with self.connected(now, met) as connection:
                look_at = partial(self._look_at, connection, now, met)
                replaced, conflicts = merging.merged(connection, arrived, look_at)
                files = [*self._written(connection, made)]
            count = sum(file.rows for file in files)
            gone = [self._as_gone(replaced, made)] if len(replaced) else []
            if count or read or kept:
                fewer = _with_gone(now.files, replaced)
                following = manifest.next_to(
                    now, files=(*fewer, *files), gone=(*now.gone, *gone),
                    inputs=(*now.inputs, *read), logs=(*now.logs, *kept),
                    written=int(time.time()), why=why,
                )  # fmt: skip
                manifest.commit(self.home, following)
        new = max(count - len(replaced), 0)  # tasks that ran replace several records that waited
        return Added(new, len(replaced), len(arrived) - count), conflicts

    def _look_at(
        self, connection: Connection, now: Manifest, files: Iterable[DataFile],
        names: Collection[str],
    ) -> None:  # fmt: skip
        """Leave in ``live`` what is in files with these names, or may wait."""
        from sssjob.ledger.engine import look_at

        some = [
            each for each in files
            if each.name in names or (each.start.without and each.end.without)
        ]  # fmt: skip
        look_at(connection, self.home, now, some)

    def _written(self, connection: Connection, made: list[Place]) -> Iterator[DataFile]:
        """The rows of ``fresh`` in files, one for each month of the end; others are open."""
        month = f"coalesce(strftime(make_timestamp({END} * 1000000), '%Y-%m'), 'open')"
        connection.execute(f"CREATE TEMP TABLE sorted AS SELECT *, {month} AS month FROM fresh")
        months = connection.execute("SELECT DISTINCT month FROM sorted ORDER BY 1").fetchall()
        names = ", ".join(f'"{name}"' for name in columns.NAMES)
        for (each,) in months:
            found = connection.sql(
                f"SELECT {names} FROM sorted WHERE month = $1 ORDER BY {END}, {START}, seq",
                params=[each],
            ).to_arrow_table()
            yield self.write(found.cast(columns.schema()), each, made)

    def write(self, rows: pa.Table, month: str, made: list[Place]) -> DataFile:
        """Rows as a file, on disk; ``made`` is told of it."""
        data = _parquet(rows)
        path = f"{USAGE}/{month}/{_name(month)}"
        made.append(self.home / path)
        self._put(path, data)
        submit, start, end = (_span(rows[name]) for name in (SUBMIT, START, END))
        file = DataFile(
            path, len(rows), len(data), damage.digest_of_bytes(data), submit, start, end,
            version=manifest.FILES, crc=crc32(data),
        )  # fmt: skip
        if file.rows >= ids.FEW:
            filters = ids.path_of(file)
            made.append(self.home / filters)
            places.put(self.home / filters, ids.made(rows[ID], GROUP), durable=False)
        return file

    def _as_gone(self, replaced: pa.Table, made: list[Place]) -> Gone:
        data = _parquet(replaced, plain=True)
        path = f"{GONE}/{_name('gone')}"
        made.append(self.home / path)
        self._put(path, data)
        return Gone(path, len(replaced), len(data), damage.digest_of_bytes(data))

    def keep(self, read: Input, text: BinaryIO) -> list[RecordedLog]:
        """Write the text that an input was; it counts when it is committed. Raises as ``commit``.

        What was written before an error is left behind, and is no part of the ledger.
        """
        found = []
        try:
            for data, lines in logs.pieces(text):
                path = f"{logs.FOLDER}/{_name('text')}"
                self._put(path, data)
                size, digest = len(data), damage.digest_of_bytes(data)
                found.append(
                    RecordedLog(read.name, read.digest, read.how, path, lines, size, digest)
                )
        except OSError as error:
            raise _unwritten(self.home, error) from None
        return found

    def _put(self, path: str, data: bytes | memoryview) -> None:
        places.put(self.home / path, data)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Let no other writer in. Who dies lets others in; the manifests are safe without it."""
        with places.locked(self.home / LOCK):
            yield


class LedgerAppender:
    """Puts rows into a ledger, some hundred thousand in a commit; ``total`` says what they were.

    Inputs that were read to their end are written down with their last rows. ``on_conflict`` is
    given each run that arrived, of which another record tells of another user. Raises
    ``UnusableStore``; what was committed before stays.
    """

    def __init__(
        self, ledger: Ledger, why: str = "ingest", on_conflict: OnConflict | None = None
    ) -> None:
        self.total = Added()
        self._on_conflict = on_conflict
        self._ledger, self._why = ledger, why
        self._tables: list[pa.Table] = []
        self._rows: list[Row] = []
        # In which order they came, whose of tables first: a table for some rows takes long.
        self._came: list[Iterable[int]] = []
        self._rows_came: list[int] = []
        self._count = 0
        self._cut: set[int] = set()
        self._read: list[Input] = []
        self._kept: list[RecordedLog] = []

    def put(self, rows: Row | pa.Table) -> int:
        """One more row, or a table of many; the number of the first one, until the next is put."""
        if self._count >= _ARRIVES:
            self.commit()
        first = self._count
        if isinstance(rows, tuple):
            self._rows.append(rows)
            self._rows_came.append(self._count)
            self._count += 1
        else:
            self._tables.append(rows)
            self._came.append(range(self._count, self._count + len(rows)))
            self._count += len(rows)
        return first

    def doubt(self, number: int) -> None:
        """A row that was put at last may be cut short: another that tells as much counts."""
        self._cut.add(number)

    def has_read(self, read: Input | None, kept: Sequence[RecordedLog] = ()) -> None:
        """All rows of an input were put, and its text is ``kept``; None: it is read each time."""
        if read is not None:
            self._read.append(read)
        self._kept += kept

    def commit(self) -> None:
        """Commit what was put."""
        if self._count or self._read or self._kept:
            every = pa.concat_tables([*self._tables, columns.table(self._rows)])
            order: Iterable[int] = chain(*self._came, self._rows_came)
            if self._cut:
                order = (merging.CUT + n if n in self._cut else n for n in order)
            came = pa.array(order, pa.int64())
            arrived = every.append_column(merging.SEQ, came)
            self.total += self._ledger.commit(
                arrived, self._read, self._why, self._kept, self._on_conflict
            )
            self._tables, self._rows, self._came, self._rows_came = [], [], [], []
            self._cut.clear()
            self._count, self._read, self._kept = 0, [], []


def create(home: Place) -> Ledger:
    """A ledger in a directory, made if it is not there. Raises ``OSError``, ``UnusableStore``."""
    if manifest.numbers(home):
        ledger = Ledger(home)
        ledger.manifest()
        return ledger
    if not isinstance(home, places.ObjectPath):
        home.mkdir(parents=True, exist_ok=True)
    if unknown := [name for name in places.names(home) if name not in (manifest.FOLDER, LOCK)]:
        text = f"has other files in it ({min(unknown)}): name an empty directory, or a new one"
        raise UnusableStore(str(home), text)
    if not isinstance(home, places.ObjectPath):
        (home / manifest.FOLDER).mkdir(exist_ok=True)
    with suppress(manifest.Taken):  # by somebody who makes the same ledger
        manifest.commit(home, Manifest(written=int(time.time())))
    return Ledger(home)


def opened(home: Place, at: int | None = None) -> Ledger:
    """A ledger that is there. Raises ``UnusableStore``."""
    ledger = Ledger(home, at)
    ledger.manifest()
    return ledger


def found(home: Place) -> Ledger:
    """A ledger that is there, whatever is wrong with it. Raises ``UnusableStore``."""
    if not manifest.numbers(home):
        return opened(home)
    return Ledger(home)


def _met_by(arrived: pa.Table, now: Manifest) -> list[DataFile]:
    """The files in which runs may be that arrive: by when they were submitted.

    By when they began, where either does not tell when they were submitted. Of one that waits and
    has a GlobalJobId, a record may tell only when it began.
    """
    submit, start = _span(_submissions(arrived)), _span(arrived[START])
    waits = pc.any(pc.and_(pc.is_null(arrived[START]), _may_be_of_one(arrived))).as_py()
    return [
        file for file in now.files
        if _meet(submit, file.submit)
        or (file.submit.without and (submit.without or file.start.without or waits))
        or ((submit.without or file.submit.without) and _meet(start, file.start))
    ]  # fmt: skip


def _submissions(arrived: pa.Table) -> pa.ChunkedArray:
    """When runs were submitted; of some only their GlobalJobId tells it."""
    told = arrived[SUBMIT]
    is_untold = pc.is_null(told)
    if not pc.any(pc.and_(is_untold, _may_be_of_one(arrived))).as_py():
        return told
    ids = zip(arrived[ID].to_pylist(), arrived[columns.GLOBAL].to_pylist(), strict=True)
    said = (submission(of_one(id_ or "", one or ""), "") for id_, one in ids)
    others = pa.array([*map(whole, said)], pa.int64())
    return pc.coalesce(told.combine_chunks(), others)


def _may_be_of_one(arrived: pa.Table) -> pa.ChunkedArray:
    found = (pc.match_substring(arrived[name], "#") for name in (ID, columns.GLOBAL))
    return pc.or_(*(pc.fill_null(each, False) for each in found))


def _meet(arrived: TimeRange, known: TimeRange) -> bool:
    until = None if arrived.most is None else arrived.most + 1
    return arrived.least is not None and known.meets(arrived.least, until)


def _with_gone(files: Iterable[DataFile], replaced: pa.Table) -> list[DataFile]:
    """Files of which more rows are replaced; those of which all are, say nothing any more."""
    counts = pc.value_counts(replaced["file"]).to_pylist()
    more = {each["values"]: each["counts"] for each in counts}
    found = (each._replace(gone=each.gone + more.get(each.name, 0)) for each in files)
    return [each for each in found if each.gone < each.rows]


def _span(times: pa.ChunkedArray) -> TimeRange:
    found = pc.min_max(times).as_py()
    return TimeRange(found["min"], found["max"], times.null_count)


def _parquet(rows: pa.Table, *, plain: bool = False) -> memoryview:
    stream = io.BytesIO()
    options: dict[str, Any] = (
        {} if plain
        else {
            "use_dictionary": _DICTIONARY, "column_encoding": _DELTA, "row_group_size": GROUP,
        }
    )  # fmt: skip
    pq.write_table(rows, stream, compression="zstd", compression_level=3, **options)
    return stream.getbuffer()


def _name(head: str) -> str:
    """A name that no other file has."""
    return f"{head}-{os.urandom(10).hex()}.parquet"


@contextmanager
def taken_back(home: Place) -> Iterator[list[Place]]:
    """A list of the files that a commit makes: they are removed again if it comes to nothing.

    What could not be written (a full disk, most of all) raises ``UnusableStore``.
    """
    made: list[Place] = []
    try:
        yield made
    except BaseException as error:
        if not isinstance(error, places.Unsure):
            for path in made:
                path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _unwritten(home, error) from None
        raise


def _unwritten(home: Place, error: OSError) -> UnusableStore:
    text = f"{error.strerror or error}; what was committed before stays"
    return (FullStore if error.errno == 28 else UnusableStore)(str(home), text)


assert set(KEY) <= set(columns.NAMES)
