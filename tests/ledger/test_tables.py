"""A ledger as tables and reports for a program."""

import shutil
import sys
from datetime import datetime
from decimal import Decimal
from functools import partial
from zoneinfo import ZoneInfo

import pytest

pytest.importorskip("duckdb")

import pyarrow as pa
from ledger_runs import FIRST, run

from sssjob import ledger
from sssjob.accounting.report import Report
from sssjob.errors import (
    DamagedStore,
    InvalidValue,
    LimitExceeded,
    SSSJobError,
    UnusableInput,
    UnusableStore,
)
from sssjob.ledger import questions
from sssjob.ledger import report as adding
from sssjob.ledger.ledger import Ledger, create


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Two runs of which one was replaced, and one that states little."""
    found = create(tmp_path_factory.mktemp("kept") / "usage")
    found.add([FIRST, run(8, submit=86_400, start=86_405, end=172_810, wall=86_405)])
    found.add([run(7, start=5, end=10, wall=5), run(9, submit=None)])
    return found.home


@pytest.fixture
def opened(home):
    return ledger.open(home)


@pytest.fixture
def kept(home, tmp_path):
    """A copy that a test may change."""
    shutil.copytree(home, tmp_path / "usage")
    return Ledger(tmp_path / "usage")


def by_id(table):
    return sorted(table.to_pylist(), key=lambda row: row["id"])


def test_each_run_that_counts_is_a_row_with_its_times_as_timestamps(opened):
    assert by_id(opened.to_arrow("id", "wall_seconds", "wait_seconds", "ended")) == [
        {"id": "7", "wall_seconds": 5, "wait_seconds": 4, "ended": datetime(1970, 1, 1, 0, 0, 10)},
        {"id": "8", "wall_seconds": 86_405, "wait_seconds": 5,
         "ended": datetime(1970, 1, 3, 0, 0, 10)},
        {"id": "9", "wall_seconds": None, "wait_seconds": None, "ended": None},
    ]  # fmt: skip


def test_without_names_all_columns_come_and_say_their_units(opened):
    found = opened.to_arrow()
    assert found.num_rows == 3
    assert found.schema.field("wall_seconds").metadata[b"unit"] == b"s"
    assert all(field.metadata[b"says"] for field in found.schema)
    described = opened.sql("DESCRIBE runs").to_arrow()["column_name"].to_pylist()
    assert found.column_names == described


def test_frames_and_pieces_have_the_rows_of_the_table(opened):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = opened.to_arrow()
    frame, other = opened.to_pandas(), opened.to_polars()
    assert isinstance(frame, pandas.DataFrame)
    assert isinstance(other, polars.DataFrame)
    wanted = by_id(table)
    assert by_id(other.to_arrow()) == wanted
    for name in table.column_names:
        gaps = table[name].null_count
        assert (int(frame[name].isna().sum()), other[name].null_count()) == (gaps, gaps), name
    assert by_id(pa.Table.from_batches(opened.batches())) == wanted


def test_a_question_has_values_that_are_no_part_of_it(opened):
    text = "SELECT id FROM usage WHERE id = $id"
    assert opened.sql(text, {"id": "7"}).to_arrow().to_pylist() == [{"id": "7"}]
    assert opened.sql(text, {"id": "7' OR '1' = '1"}).to_arrow().num_rows == 0
    assert opened.sql("SELECT $1 + $2 AS a", [1, 2]).to_arrow().to_pylist() == [{"a": 3}]


def test_sums_are_exact_beyond_64_bits(opened):
    text = f"SELECT sum(a) AS a FROM (VALUES ({2**62}), ({2**62}), ({2**62}), ({2**62})) AS t(a)"
    assert opened.sql(text).to_arrow().to_pylist() == [{"a": Decimal(2**64)}]


def test_columns_of_an_answer_have_names_of_their_own(opened):
    found = opened.sql("SELECT 1 AS a, 2 AS a")
    assert found.to_arrow().to_pylist() == [{"a": 1, "a_2": 2}]
    assert found.to_polars().columns == ["a", "a_2"]


def test_nothing_is_read_before_somebody_asks_and_then_anew(kept):
    opened = ledger.open(kept.home)
    found = opened.sql("SELECT count(*) AS n FROM usage")
    wrong = opened.sql("SELECT nothing")
    kept.add([run(20)])
    assert found.to_arrow().to_pylist() == [{"n": 4}]
    with pytest.raises(UnusableInput):
        wrong.to_arrow()


def test_the_ledger_as_it_was(home):
    assert ledger.open(home, as_of=1).to_arrow("id").num_rows == 2
    with pytest.raises(UnusableStore, match="no manifest 9"):
        ledger.open(home, as_of=9)
    with pytest.raises(UnusableStore, match="is no ledger"):
        ledger.open(home.parent)


def test_an_answer_of_many_rows_is_not_held_at_once(opened):
    text = "SELECT range AS a FROM range(10000000000)"
    pieces = opened.sql(text).batches()
    assert next(pieces).num_rows <= questions.BATCH
    pieces.close()


@pytest.mark.parametrize("text", [
    "SELECT count(*) FROM range(10000000000) AS a",
    "SELECT a.range + b.range AS c FROM range(1000000) AS a, range(1000000) AS b",
])  # fmt: skip
def test_a_question_ends_when_its_time_does(opened, text):
    with pytest.raises(LimitExceeded, match=r"0\.2 seconds"):
        sum(each.num_rows for each in opened.sql(text, seconds=0.2).batches())


@pytest.mark.parametrize("text", [
    "", "SELECT 1; SELECT 2", "DROP VIEW usage", "COPY (SELECT 1) TO 'a.csv'", "SELECT * FROM kept",
    "SELECT * FROM read_text('/etc/passwd')", "SELECT error('late') FROM range(5)", "SELECT $1",
])  # fmt: skip
def test_what_is_no_question_to_the_ledger_is_refused(opened, text):
    with pytest.raises(UnusableInput):
        opened.sql(text).to_arrow()


def test_an_error_of_the_caller_stays_what_it_is(opened):
    def read():
        for _ in opened.sql("SELECT 1").batches():
            raise OSError("mine")

    with pytest.raises(OSError, match="mine"):
        read()


def test_a_report_is_that_of_the_command(opened, home):
    found = opened.report("machine", "day", since=86_400, zone="Europe/Berlin", book="end")
    wanted = Report(("machine", "day"), 86_400, None, ZoneInfo("Europe/Berlin"))
    adding.add_to(wanted, Ledger(home), "end")
    assert found == wanted
    assert opened.report().by == ("user",)
    assert len(opened.report("day").groups) == 4 > len(opened.report("day", book="end").groups)


def test_a_report_takes_what_a_site_says_as_the_command_does(opened, tmp_path):
    clusters, prices = tmp_path / "clusters.csv", tmp_path / "prices.toml"
    clusters.write_text("machine,site\nc,North\n")
    prices.write_text('currency = "EUR"\n[[rate]]\nwall_hour = 3600\n')
    factors = tmp_path / "factors.csv"
    factors.write_text("machine,factor\nnone-such,2\n")
    found = opened.report(
        "site", names=[clusters], rates=str(prices), what_if=prices, factors=factors,
        requested=True, wait=True,
    )  # fmt: skip
    assert {key: totals.more["charge"] for key, totals in found.groups.items()} == {
        ("North",): found.total.wall
    }
    assert found.total.wall > 0
    assert found.money.currency == "EUR"
    assert [measure.name for measure in found.measures][-7:] == [
        "wait_seconds", "wait_mean_seconds", "normalized_processor_seconds",
        "normalized_cpu_seconds", "charge", "charge_what_if", "charge_difference",
    ]  # fmt: skip
    assert any("factor" in note for note in found.notes)
    with pytest.raises(UnusableInput, match="what-if needs rates"):
        opened.report(what_if=prices)


def test_a_torn_file_is_told_and_never_left_out(kept):
    opened = ledger.open(kept.home)
    path = kept.home / kept.manifest().files[0].path
    path.write_bytes(b"PAR1")
    for ask in (opened.to_arrow, opened.report, opened.sql("SELECT 1").to_polars):
        with pytest.raises(DamagedStore, match="is torn"):
            ask()


@pytest.mark.parametrize("call, expected", [
    (lambda it: it.to_arrow("usr"), "'usr' is not a column of a ledger: id, "),
    (lambda it: it.to_arrow('id" FROM runs --'), "is not a column of a ledger"),
    (lambda it: it.report("usr"), "'usr' is not what jobs are grouped by"),
    (lambda it: it.report("user", book="begin"), "is not run or end"),
    (lambda it: it.report("user", zone="Nowhere"), "a time zone"),
    (lambda it: it.sql("SELECT 1", seconds=0), "seconds"),
    (lambda it: it.sql("SELECT 1", seconds=float("nan")), "seconds"),
    (lambda it: it.sql("SELECT 1", seconds=float("inf")), "seconds"),
])  # fmt: skip
def test_what_is_no_name_is_refused_before_anything_is_read(opened, call, expected):
    with pytest.raises(InvalidValue, match=expected):
        call(opened)


@pytest.mark.parametrize("given", [None, 5, 1.5, b"x", object(), [], {}, "\0", "\ud800"])
def test_whatever_is_given_is_taken_or_refused_by_an_error_of_ours(opened, home, given):
    def asked(given):
        return opened.sql("SELECT $1 AS a", given).to_arrow()

    calls = {
        "directory": ledger.open, "column": opened.to_arrow, "by": opened.report,
        "question": lambda it: opened.sql(it).to_arrow(), "values": asked,
        "value": lambda it: asked([it]), "as_of": lambda it: ledger.open(home, as_of=it),
        "seconds": lambda it: opened.sql("SELECT 1", seconds=it),
        **{
            name: partial(opened.report, **{name: given})
            for name in ("since", "zone", "book", "names", "rates")
        },
    }  # fmt: skip
    for name, call in calls.items():
        try:
            call(*[given][: not isinstance(call, partial)])
        except SSSJobError:
            continue
        except Exception as error:
            pytest.fail(f"{name}: {error!r}")


@pytest.mark.parametrize("library", ["duckdb", "pyarrow"])
def test_without_a_library_the_extra_is_named(library, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ModuleNotFoundError, match=rf"{library}: pip install 'sssjob\[ledger\]'"):
        ledger.open(tmp_path)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_without_their_library_name_the_extra(library, opened, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ModuleNotFoundError, match=rf"pip install 'sssjob\[{library}\]'"):
        getattr(opened, f"to_{library}")()
