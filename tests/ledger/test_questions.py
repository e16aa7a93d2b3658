"""What users may ask a ledger: anything that changes nothing, within bounds."""

import pytest

pytest.importorskip("duckdb")

from ledger_runs import FIRST, run
from waiting import HANG

from sssjob.errors import DamagedStore, LimitExceeded, SSSJobError, UnusableInput
from sssjob.ledger import ledger, questions


@pytest.fixture
def kept(tmp_path):
    found = ledger.create(tmp_path / "usage")
    found.add([FIRST, run(8, start=5, end=9, wall=6), run(8, "d", start=5, end=9)])
    return found


def answer(kept, text, seconds=HANG):
    with questions.asked(kept, text, seconds) as found:
        return found.names, [*found.rows]


def test_a_select_is_answered(kept):
    found = answer(kept, "SELECT id, sum(wall_seconds) FROM usage GROUP BY id ORDER BY id")
    assert found == (["id", "sum(wall_seconds)"], [("7", 4), ("8", 6)])


def test_columns_have_names_of_their_own(kept):
    assert answer(kept, "SELECT 1 AS a, 2 AS a, 3 AS a_2") == (["a", "a_2", "a_2_2"], [(1, 2, 3)])


@pytest.mark.parametrize("text", [
    "", "SELECT 1; SELECT 2", "CREATE TABLE a (b INT)", "COPY (SELECT 1) TO '{home}/a.csv'",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{home}/a.csv'", "ATTACH '{home}/a.db'", "INSTALL httpfs",
    "SET memory_limit = '9GB'", "PRAGMA threads=4", "DROP VIEW usage",
    "EXPORT DATABASE '{home}'",
    "SELECT * FROM read_text('{outside}')", "SELECT * FROM '{outside}'",
    "SELECT * FROM read_csv('{home}/../outside.csv')", "SELECT * FROM glob('{home}/../*')",
    "SELECT * FROM kept", "SELECT * FROM nothing_such", "SELECT", "SELECT 1 +", "\x00",
    "SELECT * FROM query('DROP VIEW usage')", "SELECT 9223372036854775807 + 1", "\ud800",
])  # fmt: skip
def test_what_may_change_or_read_anything_else_is_refused(kept, tmp_path, text):
    outside = tmp_path / "outside.csv"
    outside.write_text("a\n1\n")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    with pytest.raises(UnusableInput):
        answer(kept, text.format(home=kept.home, outside=outside))
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize("text", [
    "SELECT count(*) FROM range(10000000000) AS a",
    "SELECT a.range + b.range AS c FROM range(1000000) AS a, range(1000000) AS b",
])  # fmt: skip
def test_a_question_ends_when_its_time_does(kept, text):
    with pytest.raises(LimitExceeded, match=r"more than 0\.2 seconds for a question"):
        answer(kept, text, 0.2)


def test_the_runs_of_jobs_are_shown_with_what_is_stated(kept):
    found = kept.runs(["8", "'; DROP VIEW usage; --", "\udcff"])
    assert [(each["id"], each["machine"], each.get("wall_seconds")) for each in found] == [
        ("8", "c", 6), ("8", "d", None),
    ]  # fmt: skip
    assert all("user" not in each for each in found)


def test_a_ledger_with_a_torn_file_answers_nothing(kept):
    (file,) = kept.manifest().files
    (kept.home / file.path).write_bytes(b"PAR1")
    for ask in (lambda: answer(kept, "SELECT 1"), lambda: kept.runs(["7"])):
        with pytest.raises(DamagedStore, match="is torn: 4 bytes"):
            ask()


def test_a_file_that_is_no_parquet_any_more_is_told(kept):
    (file,) = kept.manifest().files
    path = kept.home / file.path
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(SSSJobError):
        answer(kept, "SELECT * FROM usage")
    with pytest.raises(SSSJobError):
        kept.runs(["7"])


def test_the_runs_of_jobs_are_found_in_every_row_group_of_every_file(kept, monkeypatch):
    """Only the row groups are read in which they are; what was replaced is not shown."""
    monkeypatch.setattr(ledger, "GROUP", 2)
    kept.add([run(number % 4, start=number, end=number + 9) for number in range(1, 10)])
    kept.add([run(1, start=5, end=12), run(1, start=90, end=99)])
    found = kept.runs(["1", "3"])
    assert [(each["id"], each["start_time"], each["end_time"]) for each in found] == [
        ("1", 1, 10), ("1", 5, 12), ("1", 9, 18), ("1", 90, 99), ("3", 3, 12), ("3", 7, 16),
    ]  # fmt: skip


def test_runs_that_state_less_are_shown_last(kept):
    kept.add(
        [run(1, machine="", start=6, end=9), run(1, start=None, end=9), run(1, start=5, end=9)]
    )
    found = kept.runs(["1"])
    assert [(each.get("machine"), each.get("start_time")) for each in found] == [
        ("c", 5), ("c", None), (None, 6),
    ]  # fmt: skip
