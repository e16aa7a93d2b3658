"""A report from rollups is the report over the rows, whatever was done to the ledger before."""

import shutil
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from usage_jobs import jobs, several

pytest.importorskip("duckdb")

from killing import killed
from ledger_runs import FIRST, run

from sssjob.accounting.report import Report
from sssjob.ledger import columns, ledger, rollup, upkeep
from sssjob.ledger.report import BOOKED, RUN, add_to, roll_up
from sssjob.measures import ASKED, EXTRA
from sssjob.model import Delivered, Job, Property
from sssjob.spans import PERIOD

DAY = 86_400
BY = [
    ("user",), ("project", "month"), ("day",), ("week", "year"), (), ("account", "cluster"),
    ("qos", "day", "user"), (PERIOD, "user"),
]  # fmt: skip
MIDNIGHTS = [
    int(datetime(2026, month, day, tzinfo=UTC).timestamp())
    for month, day in [(3, 28), (3, 29), (3, 30), (10, 31), (11, 1), (11, 2)]
]
windows = st.tuples(
    st.none() | st.sampled_from(MIDNIGHTS), st.none() | st.sampled_from(MIDNIGHTS)
).map(lambda window: window if None in window else tuple(sorted(window)))


def told(kept, by, window, book, *, by_rollup, extra=()):
    report = Report(by, *window, cuts=tuple(MIDNIGHTS[1:3]) if PERIOD in by else (), extra=extra)
    answered = add_to(report, kept, book, pytest.fail, by_rollup=by_rollup)
    return report.groups, report.outside, answered


def same(kept, by, window=(None, None), book=RUN, extra=tuple(EXTRA)):
    """The report from rollups, which is held against the one of rows."""
    groups, outside, answered = told(kept, by, window, book, by_rollup=True, extra=extra)
    rows = told(kept, by, window, book, by_rollup=False, extra=extra)
    assert rows[2].by_rollup == 0
    assert (groups, outside) == rows[:2]
    return answered


def later(job):
    """A later record of the same run."""
    told = Property("Duration", "12345")
    others = [each for each in job.items[-1].items if each.name != "Duration"]
    return Job((*job.items[:-1], Delivered([*others, told])))


steps = st.lists(
    st.sampled_from(["add", "replace", "compact", "damage", "forget", "tear", "make"]), max_size=5
)


@examples(6)
@given(st.data(), several, steps)
def test_after_any_sequence_of_changes(tmp_path_factory, data, first, changes):
    kept = ledger.create(tmp_path_factory.mktemp("ledger") / "usage")
    kept.add([columns.row(job) for job in first])
    for change in changes:
        if change == "add":
            kept.add([columns.row(data.draw(jobs()))])
        elif change == "replace":
            kept.add([columns.row(later(data.draw(st.sampled_from(first))))])
        elif change == "compact":
            upkeep.compact(kept)
        elif change == "damage":
            some = kept.manifest().files or [None]
            if some[0] is not None:
                path = kept.home / data.draw(st.sampled_from(some)).path
                path.write_bytes(path.read_bytes()[:-1])
                upkeep.repair(kept)
        elif change == "make":
            roll_up(kept)
        else:
            for path in (kept.home / rollup.FOLDER).glob("*/*"):
                path.unlink() if change == "forget" else path.write_bytes(b"PAR1")
        same(kept, data.draw(st.sampled_from(BY)), data.draw(windows),
             data.draw(st.sampled_from([RUN, BOOKED])),
             data.draw(st.sampled_from([(), (ASKED,), tuple(EXTRA)])))  # fmt: skip


NOON = MIDNIGHTS[4] + DAY // 2
WHOLE = [run(1, start=NOON, end=NOON + DAY, wall=DAY), run(2, start=NOON, end=NOON + 7, wall=7)]


@pytest.fixture
def kept(tmp_path):
    found = ledger.create(tmp_path / "usage")
    found.add(WHOLE)
    return found


def test_a_rollup_is_made_once_and_used(kept):
    assert told(kept, ("day",), (None, None), RUN, by_rollup=True)[2] == (1, 0)
    made = {path: path.stat().st_mtime_ns for path in (kept.home / rollup.FOLDER).rglob("*")}
    assert same(kept, ("user",), (MIDNIGHTS[4], None)) == (1, 0)
    kept.add([run(3, start=NOON, end=NOON + 9, wall=9)])
    assert same(kept, ("month",)) == (2, 0)
    assert {path: path.stat().st_mtime_ns for path in made if path.is_file()} == {
        path: when for path, when in made.items() if path.is_file()
    }


@pytest.mark.parametrize(
    "report",
    [
        Report(("state",)), Report(("hour",)), Report(("day",), zone=ZoneInfo("Europe/London")),
        Report(("user",), since=NOON), Report(("user",), until=NOON),
        Report(("user",), MIDNIGHTS[0], MIDNIGHTS[0]), Report(("user", PERIOD), cuts=(NOON,)),
    ],
    ids=lambda report: f"{report.by} {report.since} {report.until}",
)  # fmt: skip
def test_what_days_do_not_tell_is_answered_by_rows(kept, report):
    assert add_to(report, kept).by_rollup == 0
    assert not (kept.home / rollup.FOLDER).exists()


def test_a_ledger_of_many_rows_gets_its_rollups_by_compact_only(kept, monkeypatch):
    monkeypatch.setattr("sssjob.ledger.report._FEW", 1)
    assert same(kept, ("user",)) == (0, 1)
    assert roll_up(kept) == 2
    assert roll_up(kept) == 0
    assert same(kept, ("user",)) == (1, 0)
    assert same(kept, ("user",), book=BOOKED) == (1, 0)


def test_a_ledger_that_may_not_be_written_to_is_answered_by_rows(kept, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("sssjob.ledger.places.outputs.writing", refused)
    assert same(kept, ("user",)) == (0, 1)


def test_a_rollup_that_was_changed_is_found_and_made_anew(kept):
    same(kept, ("user",))
    (path,) = (kept.home / rollup.FOLDER).glob("*-day/*.parquet")
    data = path.read_bytes()
    path.write_bytes(data[:-40] + bytes([data[-40] ^ 1]) + data[-39:])
    (fault,) = upkeep.check(kept).faults
    assert str(path) in str(fault)
    assert [each.store for each in upkeep.repair(kept).faults] == [str(path)]
    assert upkeep.check(kept).faults == []
    assert same(kept, ("user",)) == (1, 0)


@pytest.mark.parametrize("by", [("user", "day"), ("user", "month")])
def test_whatever_byte_of_a_rollup_is_changed_the_rows_tell(kept, by):
    kept.add([run(3, start=NOON, end=NOON + 5 * DAY, wall=9)])
    same(kept, by)
    for path in (kept.home / rollup.FOLDER).glob("*/*.parquet"):
        data = path.read_bytes()
        for at in range(0, len(data), 997):
            path.write_bytes(data[:at] + bytes([data[at] ^ 8]) + data[at + 1 :])
            same(kept, by)
        path.write_bytes(data)
    assert same(kept, by) == (2, 0)


@pytest.mark.parametrize("report, grain", [
    (Report(("user",)), "month"), (Report(("month", "user")), "month"),
    (Report(("year",), since=MIDNIGHTS[4]), "month"), (Report(("month",), MIDNIGHTS[3]), "day"),
    (Report(("week",)), "day"), (Report((PERIOD,), cuts=(MIDNIGHTS[4],)), "month"),
    (Report((PERIOD, "month"), cuts=(MIDNIGHTS[0],)), "day"),
    (Report((), until=DAY * 10**9), "day"),
])  # fmt: skip
def test_sums_by_month_answer_what_needs_no_days(kept, report, grain):
    assert rollup.grain_of(report) == grain
    add_to(report, kept)
    for other in (kept.home / rollup.FOLDER).glob(f"*-{'day' if grain == 'month' else 'month'}/*"):
        other.unlink()
    told = report.empty()
    assert add_to(told, kept).by_rollup == 1
    assert (told.groups, told.outside) == (report.groups, report.outside)


def test_an_older_commit_has_its_own(kept):
    kept.add([run(1, start=NOON, end=NOON + DAY, wall=5)])
    before = ledger.opened(kept.home, 1)
    assert same(before, ("user",)) == same(before, ("user",)) == (1, 0)
    assert same(kept, ("user",)) == (2, 0)
    assert told(before, (), (None, None), RUN, by_rollup=True)[0][()].wall == DAY + 7
    assert told(kept, (), (None, None), RUN, by_rollup=True)[0][()].wall == 12


def test_fractions_stay_exact(tmp_path):
    found = ledger.create(tmp_path / "usage")
    energy = [
        Job((
            Property("Id", str(number)), Property("StartTime", str(NOON)),
            Property("EndTime", str(NOON + DAY * number)),
            Delivered([Property("Resource", "0.0000001", {"name": "Energy", "units": "kWh"})]),
        ))
        for number in (1, 2, 3)
    ]  # fmt: skip
    found.add([columns.row(job) for job in energy])
    assert same(found, ("day",)) == (1, 0)
    assert same(found, ("month",), (MIDNIGHTS[5], None)) == (1, 0)


def test_killed_while_it_makes_rollups_it_leaves_none_or_whole_ones(kept, tmp_path):
    kept.add([FIRST])
    moment, ended = 0, False
    while not ended:
        home = tmp_path / str(moment)
        shutil.copytree(kept.home, home)
        copy = ledger.opened(home)
        ended = killed(lambda copy=copy: roll_up(copy), moment)
        assert upkeep.check(copy).faults == []
        same(copy, ("day", "user"))
        moment += 89
    assert moment > 89
