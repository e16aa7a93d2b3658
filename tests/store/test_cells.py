"""Cells of a damaged store hold values of other types than their columns: every command says so."""

import shutil
import sqlite3

import pytest
from click.testing import CliRunner

from sssjob import store
from sssjob.cli import sssjob
from sssjob.errors import DamagedStore
from sssjob.store import rolled, schema, used
from sssjob.store.cells import cells
from sssjob.store.sql import quoted
from sssjob.store.sqlite import SQLite

MANY = "".join(
    f"<Job><Id>{n}</Id><User>amy</User><State>Completed</State><SubmitTime>2005-01-0{n}T00:00:00Z"
    f"</SubmitTime><StartTime>2005-01-0{n}T01:00:00Z</StartTime><Charge>{n}</Charge></Job>"
    for n in range(1, 6)
)
GROUP = "<JobGroup><Id>g</Id><Job><Id>g.1</Id></Job><Job><Id>g.2</Id></Job></JobGroup>"
WITH_FILE = "<Data><Job><Id>f</Id><Executable>#x</Executable></Job><File id='x'>echo</File></Data>"
WRONG = {
    schema.INTEGER: ("x", "", b"\xff\xfe", 1.5, None),
    schema.NUMBER: ("x", b"\xff\xfe"),
    schema.TEXT: (b"\xff\xfe", b"x", None),
    schema.BYTES: ("x", "", 7, 1.5, None),
}
# What is of the right type, and nothing that was ever written.
ODD = {
    schema.INTEGER: (-1, 1 << 62, -(1 << 63)),
    schema.TEXT: ("", "x", "-1"),
    schema.BYTES: (b"",),
}
COMMANDS = {
    "check": ("store", "check", "{store}"),
    "compact": ("store", "compact", "{store}"),
    "stats": ("store", "stats", "{store}"),
    "log": ("store", "log", "{store}"),
    "log of one": ("store", "log", "{store}", "1"),
    "export": ("store", "export", "{store}"),
    "query": ("store", "query", "//Job[User='amy']", "{store}"),
    "columns": ("query", "//Job", "--csv", "--columns", "Id,User", "{store}"),
    "report": ("report", "{store}"),
    "delete": ("store", "delete", "{store}", "1"),
    "import": ("store", "import", "{store}", "{more}"),
    "settings": ("store", "settings", "{store}"),
    "upgrade": ("store", "upgrade", "{store}"),
}
# What these commands read.
READ = [
    schema.SETTING, schema.DICTIONARY, schema.CHANGE, schema.DOCUMENT, schema.FORMER, schema.FILE,
    schema.TOUCHED, schema.job(),
]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("cells") / "made.db"
    with store.open(path, create=True) as jobs:
        for text in (MANY, GROUP, WITH_FILE, MANY.replace("amy", "bob"), MANY):
            jobs.load(f"<All>{text}</All>".encode() if text == MANY else text.encode())
    CliRunner().invoke(sssjob, ["report", str(path)])
    with sqlite3.connect(path) as connection:  # a damaged file is none that SQLite would write
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE type = 'table'"
        )
    return path


@pytest.fixture
def planted(made, tmp_path):
    def plant(table, column, value):
        path = tmp_path / "jobs.db"
        for file in tmp_path.glob("jobs.db*"):
            file.unlink()
        shutil.copy(made, path)
        with sqlite3.connect(path) as connection:
            rows = f'SELECT min(number) FROM (SELECT rowid AS number FROM "{table}")'
            try:
                connection.execute(rows)
                where = f"rowid = ({rows})"
            except sqlite3.OperationalError:  # rows live in the key
                where = "1 = 1"
            try:
                connection.execute(
                    f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE {where}', (value,)
                )
            except sqlite3.IntegrityError:  # a number of rows
                return None
        connection.close()
        return path

    return plant


def cases():
    for table in READ:
        for field in table.fields:
            wrong = (*WRONG[field.type], *ODD.get(field.type, ()))
            plain = table.name == "job" and field.name not in table.key  # there are many alike
            yield pytest.param(
                table, field, wrong[:2] if plain else wrong, id=f"{table.name}-{field.name}"
            )


@pytest.mark.parametrize("table, field, values", [*cases()])
def test_no_cell_ends_a_command_otherwise_than_by_a_line(table, field, values, planted, tmp_path):
    more = tmp_path / "more.sss"
    more.write_text(f"<All>{MANY.replace('amy', 'eve')}</All>")
    for value in values:
        if value is None and field.optional:
            continue
        for name, command in COMMANDS.items():
            path = planted(table.name, field.name, value)
            if path is None:
                break
            words = [each.format(store=path, more=more) for each in command]
            result = CliRunner().invoke(sssjob, words)
            assert isinstance(result.exception, SystemExit | None), (name, value, result.exception)
            said = [
                line
                for line in result.output.splitlines()
                if str(path) in line or "damaged" in line
            ]
            assert result.exit_code < 2 or said, (name, value, result.output)


WRITTEN = [*schema.tables(), used.TEXTS, used.DONE, used.PARTS, rolled.ROLLED]


@pytest.mark.parametrize("how", ["fetch", "stream"])
@pytest.mark.parametrize("table", WRITTEN, ids=lambda each: each.name)
def test_every_column_of_every_table_is_of_its_type_or_told(table, how, tmp_path):
    """An engine reads no cell of another type, whoever asks and however the columns are called."""
    store.open(tmp_path / "jobs.db", create=True).close()
    engine = SQLite(tmp_path / "jobs.db", create=False, read_only=False)
    types, suffix = engine.types()
    engine.fetch(f"DROP TABLE IF EXISTS {quoted(table.name)}")
    made = schema.create(table, types, suffix if table.is_small else "")
    engine.fetch(made.replace(" NOT NULL", ""))
    right = {schema.INTEGER: 1, schema.NUMBER: 1.5, schema.TEXT: "x", schema.BYTES: b"x"}
    asked = f"SELECT {schema.listed(table.names)} FROM {quoted(table.name)}"
    for field in table.fields:
        for wrong in WRONG[field.type]:
            if wrong is None and (field.optional or field.name in table.key):
                continue
            row = {each.name: right[each.type] for each in table.fields} | {field.name: wrong}
            engine.fetch(f"DELETE FROM {quoted(table.name)}")
            try:
                engine.add(table, [tuple(row.values())])
            except sqlite3.IntegrityError:  # the number of a row is a number everywhere
                assert field.name in table.key
                continue
            with pytest.raises(DamagedStore, match=f"the column {field.name} "):
                list(getattr(engine, how)(asked))
    engine.close()


@pytest.mark.parametrize(
    "name, statement, types",
    [
        ("at", "SELECT min(at) FROM change", {int, type(None)}),
        ("changes", "SELECT part, sum(changes) FROM touched GROUP BY part", {int}),
        ("state", "SELECT state, count(*) FROM job GROUP BY state", {str, type(None)}),
        ("id", "SELECT d.id FROM (SELECT document, id FROM job) AS j JOIN document AS d", {str}),
        (
            "global_id",
            "SELECT d.id, j.global_id FROM (SELECT * FROM job) AS j JOIN document AS d",
            {str, type(None)},
        ),
        ("global_id", "SELECT id, global_id, (SELECT user FROM job) FROM document WHERE", {str}),
        (
            "start_time",
            "SELECT j.start_time FROM (SELECT start_time FROM job) AS j JOIN document AS d",
            {float, type(None)},
        ),
    ],
)
def test_a_column_has_the_type_of_the_table_that_it_is_of(name, statement, types):
    named = next((each for each in ("min(at)", "sum(changes)") if each in statement), name)
    for kind, value in ((int, 1), (float, 1.5), (str, "x"), (bytes, b"x"), (type(None), None)):
        found = cells(statement, (named,))
        if kind in types:
            assert found.all_of([(value,)], "here") == [(value,)]
        else:
            with pytest.raises(DamagedStore, match=r"^here: a cell of the column"):
                found.all_of([(value,)], "here")


def test_what_is_of_no_table_may_be_anything():
    found = cells("SELECT count(*) FROM job", ("count(*)",))
    assert found.all_of([("x",), (None,)], "here") == [("x",), (None,)]
    plan = cells("EXPLAIN QUERY PLAN SELECT id FROM document", ("id", "detail"))
    assert [*plan.each_of([(1, "SCAN document")], "here")] == [(1, "SCAN document")]
