"""A PostgreSQL server for tests: on a Unix socket in a directory of its own, gone afterwards."""

import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from waiting import HANG, until

_PATH = os.pathsep.join((
    os.environ.get("PATH", ""), *sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True),
))  # fmt: skip
_databases = count()
_free = {}  # of each server, the databases that no test has


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
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        connection.execute("DROP SCHEMA IF EXISTS sssjob CASCADE")
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    free.append(name)


def _wait(psycopg, directory, running):
    def answers():
        try:
            psycopg.connect(address(directory)).close()
        except psycopg.OperationalError:
            return False
        return True

    if not until(answers, going=lambda: running.poll() is None):
        pytest.fail((directory / "log").read_text())
