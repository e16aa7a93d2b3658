"""A PostgreSQL server for tests: on a Unix socket in a directory of its own, gone afterwards."""

import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest
from waiting import HANG, until

from sssjob import store

_PATH = os.pathsep.join((
    os.environ.get("PATH", ""), *sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True),
))  # fmt: skip
_databases = count()
_free = {}  # of each server, the databases that no test has
_made = {}  # of each server, those with a store without jobs, and what this is


def _found(program):
    # Beside it are the files it needs, which a link to it elsewhere does not know.
    path = shutil.which(program, path=_PATH)
    return path and os.path.realpath(path)


def _user():
    """Whom the server runs as: it refuses to be root."""
    if os.getuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    name = next(name for name in ("postgres", "nobody") if name in names)
    return {"user": name, "group": pwd.getpwnam(name).pw_gid, "extra_groups": []}


@contextmanager
def server():
    """The directory of the socket of a running server; skips where there is none to run."""
    psycopg = pytest.importorskip("psycopg", exc_type=ImportError)
    if not (_found("initdb") and _found("postgres")):
        pytest.skip("PostgreSQL is not installed (Debian, Ubuntu: postgresql)")
    user = _user()
    beside = os.environ.get("PYTEST_DEBUG_TEMPROOT")  # where tmp_path is, too
    directory = Path(tempfile.mkdtemp(prefix="sssjob-pg-", dir=beside))
    try:
        if user:
            os.chown(directory, pwd.getpwnam(user["user"]).pw_uid, user["group"])
        data = directory / "data"
        quiet = {"cwd": directory, "stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
        subprocess.run(
            [_found("initdb"), "-D", data, "-A", "trust", "-U", "sssjob", "-E", "UTF8",
             "--locale=C", "--no-sync"],
            check=True, **quiet, **user,
        )  # fmt: skip
        with (directory / "log").open("wb") as log:
            quiet["stdout"] = log
            running = subprocess.Popen(
                [_found("postgres"), "-D", data, "-k", directory, "-c", "listen_addresses=",
                 "-c", "fsync=off", "-c", "shared_buffers=32MB"],
                **quiet, **user,
            )  # fmt: skip
        try:
            _wait(psycopg, directory, running)
            yield directory
        finally:
            running.send_signal(signal.SIGQUIT)  # without a checkpoint of what is thrown away
            running.wait(HANG)
    finally:
        shutil.rmtree(directory)


def address(directory, database="postgres"):
    return f"postgresql://sssjob@/{database}?host={directory}"


@contextmanager
def database(directory):
    """The address of an empty database, emptied afterwards, because a new one takes 7 MB."""
    import psycopg

    free = _free.setdefault(directory, [])
    if free:
        name = free.pop()
    else:
        name = f"test{next(_databases)}"
        with psycopg.connect(address(directory), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    yield address(directory, name)
    with psycopg.connect(address(directory, name), autocommit=True) as connection:
        _end_others(connection)
        connection.execute("DROP SCHEMA IF EXISTS sssjob CASCADE")
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    free.append(name)


def _end_others(connection):
    connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


class Contents(NamedTuple):
    """What there is in a store: how its tables are made, their rows, and the next numbers."""

    structure: list
    rows: dict
    numbers: dict


def structure_of(connection):
    """Every relation of a store, with its columns, its definition and what it is set to."""
    return connection.execute(
        "SELECT c.relname, c.relkind, c.reloptions, c.relpersistence, a.attname, a.attnum,"
        " format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attcollation,"
        " pg_get_expr(d.adbin, d.adrelid),"
        " CASE WHEN c.relkind = 'i' THEN pg_get_indexdef(c.oid) END"
        " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
        " LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum"
        " WHERE c.relnamespace = 'sssjob'::regnamespace ORDER BY c.relname, a.attnum"
    ).fetchall()


def contents_of(connection):
    """All of it, of a store that is small."""
    structure = structure_of(connection)
    names = {(name, kind) for name, kind, *_ in structure}
    rows = {
        name: sorted(connection.execute(f'SELECT * FROM sssjob."{name}"').fetchall(), key=repr)
        for name, kind in names if kind == "r"
    }  # fmt: skip
    numbers = {
        name: connection.execute(f'SELECT last_value, is_called FROM sssjob."{name}"').fetchone()
        for name, kind in names if kind == "S"
    }  # fmt: skip
    return Contents(structure, rows, numbers)


@contextmanager
def made(directory):
    """The address of a store without jobs.

    To make its tables takes five times as long as to empty them. One whose tables a test changed,
    or took away, is not used again.
    """
    import psycopg

    kept = _made.setdefault(directory, [])
    with ExitStack() as stack:
        if kept:
            ending, target, connection, contents = kept.pop()
            stack.push(ending)
        else:
            target = stack.enter_context(database(directory))
            store.open(target, create=True).close()
            # One for all of its tests, as it takes long to know the tables.
            connection = stack.enter_context(psycopg.connect(target, autocommit=True))
            contents = contents_of(connection)
        yield target
        _end_others(connection)
        if _emptied(connection, contents):
            kept.append((stack.pop_all(), target, connection, contents))


def _emptied(connection, contents):
    """Give a store the contents it began with, if its tables are as they were."""
    if not connection.execute("SELECT to_regnamespace('sssjob')").fetchone()[0]:
        return False
    if structure_of(connection) != contents.structure:
        return False
    statements = []
    for name, rows in contents.rows.items():
        statements.append(f'DELETE FROM sssjob."{name}"')
        for row in rows:
            values = connection.execute(
                f"SELECT {', '.join(['quote_nullable(%s)'] * len(row))}", row
            ).fetchone()
            statements.append(f'INSERT INTO sssjob."{name}" VALUES ({", ".join(values)})')
    for name, (last, is_called) in contents.numbers.items():
        statements.append(f"SELECT setval('sssjob.\"{name}\"', {last}, {is_called})")
    connection.execute("; ".join(statements))
    return True


def _wait(psycopg, directory, running):
    def answers():
        try:
            psycopg.connect(address(directory)).close()
        except psycopg.OperationalError:
            return False
        return True

    if not until(answers, going=lambda: running.poll() is None):
        pytest.fail((directory / "log").read_text())
