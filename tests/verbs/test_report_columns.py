"""A report over records has the same numbers and messages by columns as by job objects."""

import io
import threading
from datetime import UTC
from zoneinfo import ZoneInfo

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from mutated_records import READ, SOURCES, mutated
from usage_jobs import ZONES

pytest.importorskip("duckdb")

import duckdb
import pyarrow as pa

from sssjob.accounting.report import NAMED, SAME, Report
from sssjob.document.sources import NamedSource
from sssjob.errors import SSSJobError
from sssjob.ledger import engine, streamed
from sssjob.measures import EXTRA
from sssjob.records import regular
from sssjob.records.record import Options
from sssjob.spans import SPANS
from sssjob.verbs import report as verb
from sssjob.verbs.convert import Conversion
from sssjob.verbs.records import RecordReading
from sssjob.verbs.report import ReportedJobs

GROUPED = st.lists(
    st.sampled_from([*NAMED, *SAME, "exit", "nodes", *SPANS]), min_size=1, max_size=3, unique=True
).map(tuple)
BEGUN = 1_600_000_000
windows = st.tuples(
    st.none() | st.integers(BEGUN, BEGUN + 10**8), st.none() | st.integers(BEGUN + 10**8, BEGUN * 2)
)


def reported(kept, sources, by, window, zone, columns, **options):
    """A report with what was said, by columns or by job objects."""
    said, report = [], Report(by, *window, zone, extra=tuple(EXTRA))
    reading = RecordReading(lambda name, item: said.append((name, item)))
    for road in (regular.ROAD, verb.ROAD):
        road.open(is_open=columns)
    some = [NamedSource(f"log{at}", io.BytesIO(each)) for at, each in enumerate(sources)]
    try:
        ReportedJobs(some, said.append, kept, reading=reading, **options).add_to(report)
    except SSSJobError as error:
        return str(error), said
    finally:
        for road in (regular.ROAD, verb.ROAD):
            road.reset()
    return report.groups, report.outside, said, reading.counts


@pytest.mark.parametrize("format_", SOURCES)
@examples(5)
@given(st.data())
def test_columns_say_what_job_objects_say(format_, data):
    sources = data.draw(st.lists(mutated(format_), min_size=1, max_size=2))
    told = data.draw(st.tuples(GROUPED, windows | st.just((None, None)), st.sampled_from(ZONES)))
    together = data.draw(st.sampled_from([1, 3, 100_000]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamed, "_TOGETHER", together)
        by_columns, by_objects = (
            reported(format_, sources, *told, columns) for columns in (True, False)
        )
    assert by_columns == by_objects


def test_ends_that_are_far_apart_are_named_as_those_of_job_objects():
    """By the hour: time is cut only where runs end, in a zone whose days are not all equal."""
    ends = [0, 1, 3600, 10**9, 1_793_491_200, 1_793_496_000, 49_999_999_999, -49_999_999_999]
    lines = "".join(f"{at}|amy|COMPLETED|{end}|60\n" for at, end in enumerate(ends)).encode()
    text = b"JobID|User|State|End|ElapsedRaw\n" + lines
    for by in (("hour",), ("week", "user"), ("year", "day")):
        by_columns, by_objects = (
            reported("slurm", [text], by, (None, None), ZoneInfo("Australia/Lord_Howe"), columns)
            for columns in (True, False)
        )
        assert by_columns == by_objects
        assert len(by_columns[0]) > 3


def test_a_worker_adds_up_each_part_by_columns(monkeypatch):
    monkeypatch.setattr("sssjob.records.parts.SIZE", 2000)
    data, by = READ["slurm/22.05/all-steps-epoch.txt"], ("user", "day")
    groups, _, _, counts = reported("slurm", [data], by, (None, None), UTC, False)
    for road in (regular.ROAD, verb.ROAD):
        monkeypatch.setattr(road, "_is_open", True)
    work, found, jobs = (
        verb.of_records(Report(by, extra=tuple(EXTRA)), None),
        Report(by, extra=tuple(EXTRA)),
        0,
    )
    for task in Conversion([NamedSource("log", io.BytesIO(data))], "slurm", OPTIONS).tasks():
        part = work(task)
        found.merge(part.report)
        jobs += part.counts.converted
    assert (found.groups, jobs) == (groups, counts.converted)


def test_a_worker_makes_one_connection_and_another_only_after_a_failure(monkeypatch):
    """To make one takes longer than to sum up a part."""
    made = []
    monkeypatch.setattr(engine, "_kept", threading.local())
    make = engine._connection
    monkeypatch.setattr(engine, "_connection", lambda: made.append(make()) or made[-1])
    monkeypatch.setattr("sssjob.records.parts.SIZE", 2000)
    for road in (regular.ROAD, verb.ROAD):
        monkeypatch.setattr(road, "_is_open", True)
    work = verb.of_records(Report(("user",)), None)
    data = READ["slurm/22.05/all-steps-epoch.txt"]
    parts = [*Conversion([NamedSource("log", io.BytesIO(data))], "slurm", OPTIONS).tasks()]
    usage = [work(task).report for task in parts]
    assert (len(parts) > 3, len(made)) == (True, 1)
    with pytest.raises(duckdb.Error), engine.over(pa.table({"wall": [1]})) as connection:
        connection.execute("SELECT nothing FROM live")
    assert [work(task).report.groups for task in parts] == [each.groups for each in usage]
    assert len(made) == 2


@pytest.mark.parametrize(("whole", "of"), [(1 << 20, "objects"), (1 << 23, "columns")])
def test_the_first_part_goes_as_the_whole_stream_is_worth(whole, of, monkeypatch, tmp_path):
    """A worker sees a few parts of a stream only, and knows how large that is."""
    for road in (regular.ROAD, verb.ROAD):
        monkeypatch.setattr(road, "_needed", ("_not_imported_yet",))
        monkeypatch.setattr(road, "_is_open", None)
        monkeypatch.setattr(road, "_seen", 0)
    monkeypatch.setattr(regular, "find_spec", lambda name: name)
    path = tmp_path / "log"
    path.write_bytes(SMALL + b"2|amy|COMPLETED|1700000000|60\n" * (whole // 30 + 1))
    rows = []
    monkeypatch.setattr(streamed, "add_table", lambda report, table: rows.append(table.num_rows))
    work = verb.of_records(Report(), None)
    tasks = Conversion([NamedSource("log", path)], "slurm", OPTIONS).tasks()
    work(next(task for task in tasks if task.part))
    assert ("columns" if rows else "objects") == of


OPTIONS = Options(steps=False)


def test_what_is_small_becomes_job_objects(monkeypatch):
    monkeypatch.setattr(streamed, "RowsAdding", None)
    monkeypatch.setattr(verb, "ROAD", regular.Road(1 << 22, ("_not_imported_yet",)))
    report = Report()
    ReportedJobs([NamedSource("log", io.BytesIO(SMALL))], pytest.fail, "slurm").add_to(report)
    assert report.total.jobs == 1
    assert report.total.wall == 60


SMALL = b"JobID|User|State|End|ElapsedRaw\n1|amy|COMPLETED|1700000000|60\n"
