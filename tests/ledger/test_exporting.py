"""A ledger as one file: each form has every run that counts, and each value as it is."""

import csv
import io
import sqlite3
from contextlib import closing

import pytest

pytest.importorskip("duckdb")

import duckdb
import pyarrow.parquet as pq
from ledger_runs import FIRST, run

import sssjob
from sssjob import ledger
from sssjob.cli.ledger.export import FORMS
from sssjob.errors import DamagedStore, UnusableStore
from sssjob.ledger import columns, exporting
from sssjob.ledger.ledger import create

FORMULA = "=HYPERLINK(\"http://x\",'a');DROP TABLE runs;--"
LARGE = 2**63 - 1


@pytest.fixture
def runs(tmp_path):
    """Runs of which one was replaced, one with the largest number, and one with odd names."""
    kept = create(tmp_path / "usage")
    kept.add([FIRST, run(8, submit=86_400, start=86_405, end=172_810, wall=LARGE)])
    odd = sssjob.Job.of(Id="a,b", User=FORMULA, Project="-5", Queue='ä\n"q', ExitCode=-1)
    kept.add([run(7, start=5, end=10, wall=5), columns.row(odd)])
    return ledger.open(kept.home)


def exported(runs, form, **options):
    stream = io.BytesIO()
    assert exporting.export(runs, form, stream, **options) == 3
    return stream.getvalue()


def told(runs):
    return sorted(map(tuple, (row.values() for row in runs.to_arrow().to_pylist())))


def as_texts(rows):
    return sorted(
        tuple(each if isinstance(each, int | None) else str(each) for each in row) for row in rows
    )


def in_cells(rows, formula):
    """Rows as a reader of CSV finds them."""
    texts = (["" if each is None else str(each) for each in row] for row in rows)
    return sorted([formula if each == FORMULA else each for each in row] for row in texts)


@pytest.mark.parametrize("raw", [False, True])
def test_csv_has_every_run_and_no_formula_unless_it_is_wanted(runs, raw):
    text = exported(runs, "csv", raw=raw).decode()
    names, *rows = csv.reader(io.StringIO(text, newline=""))
    assert names == runs.to_arrow().column_names
    assert sorted(rows) == in_cells(told(runs), FORMULA if raw else f"'{FORMULA}")


def test_parquet_is_the_table(runs):
    found = pq.read_table(io.BytesIO(exported(runs, "parquet")))
    wanted = runs.to_arrow()
    assert found.schema.equals(wanted.schema, check_metadata=True)
    assert found.sort_by("id").equals(wanted.sort_by("id"))


@pytest.mark.parametrize("table", ["runs", "usage"])
def test_databases_have_both_tables_and_their_questions(runs, tmp_path, table):
    wanted = runs.sql(f"SELECT * FROM {table} ORDER BY id").to_arrow()
    asked = f"SELECT * FROM {table} ORDER BY id"
    (tmp_path / "a.db").write_bytes(exported(runs, "sqlite"))
    (tmp_path / "a.duckdb").write_bytes(exported(runs, "duckdb"))
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        found = connection.execute(asked)
        assert [each[0] for each in found.description] == wanted.column_names
        assert as_texts(found) == as_texts(map(dict.values, wanted.to_pylist()))
    with duckdb.connect(tmp_path / "a.duckdb", read_only=True) as connection:
        assert connection.sql(asked).to_arrow_table().equals(wanted)


@pytest.mark.parametrize("form", exporting.FORMS)
def test_pieces_make_no_difference_and_no_run_is_no_row(runs, form, monkeypatch, tmp_path):
    monkeypatch.setattr("sssjob.ledger.questions.BATCH", 1)
    exported(runs, form)
    empty, stream = ledger.open(create(tmp_path / "new").home), io.BytesIO()
    assert exporting.export(empty, form, stream) == 0
    assert stream.getvalue()


@pytest.mark.parametrize("form", exporting.FORMS)
def test_a_torn_file_is_told_before_anything_is_written(runs, form):
    file = runs.ledger.manifest().files[0]
    (runs.ledger.home / file.path).write_bytes(b"PAR1")
    stream = io.BytesIO()
    with pytest.raises(DamagedStore, match="is torn"):
        exporting.export(runs, form, stream)
    assert stream.getvalue() == b""


@pytest.mark.parametrize("form", ["sqlite", "duckdb"])
def test_a_database_that_cannot_be_written_is_told(runs, form, monkeypatch):
    library = {"sqlite": sqlite3, "duckdb": duckdb}[form]

    def fails(*_, **__):
        raise (sqlite3.OperationalError if library is sqlite3 else duckdb.IOException)("full")

    with runs.select().opened() as (fields, batches):
        monkeypatch.setattr(library, "connect", fails)
        with pytest.raises(UnusableStore, match="a database cannot be written: full"):
            exporting._database(exporting._DATABASES[form], fields, batches, io.BytesIO())


def test_the_command_knows_the_forms():
    assert exporting.FORMS == FORMS


def test_delta_has_every_run_with_times_in_utc(runs, tmp_path):
    deltalake = pytest.importorskip("deltalake")
    assert exporting.export_delta(runs, str(tmp_path / "delta")) == 3
    found = deltalake.DeltaTable(tmp_path / "delta")
    rows = found.to_pyarrow_table()
    assert str(rows.schema.field("ended").type) == "timestamp[us, tz=UTC]"
    plain = rows.cast(runs.to_arrow().schema).to_pylist()
    assert sorted(tuple(row.values()) for row in plain) == told(runs)
    with pytest.raises(FileExistsError):
        exporting.export_delta(runs, str(tmp_path / "delta"))


def test_a_torn_file_leaves_no_delta(runs, tmp_path):
    pytest.importorskip("deltalake")
    (file, *_) = runs.ledger.manifest().files
    (runs.ledger.home / file.path).write_bytes(b"PAR1")
    with pytest.raises(DamagedStore, match="is torn"):
        exporting.export_delta(runs, str(tmp_path / "delta"))
    assert not (tmp_path / "delta").exists()
