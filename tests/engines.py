"""Fixtures for both engines: a test that asks for ``address`` runs on a file, and on PostgreSQL."""

from contextlib import ExitStack

import postgresql
import pytest

from sssjob import store


@pytest.fixture(scope="session")
def postgresql_server():
    with postgresql.server() as directory:
        yield directory


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.interop)])
def address(request, tmp_path):
    """Where a store can be made that nobody else knows."""
    yield from _address(request, tmp_path, postgresql.database)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.interop)])
def address_of_made(request, tmp_path):
    """As ``address``; one of PostgreSQL is there already, and has no jobs."""
    yield from _address(request, tmp_path, postgresql.made)


def _address(request, folder, given):
    if request.param == "sqlite":
        yield str(folder / "jobs.db")
        return
    with given(request.getfixturevalue("postgresql_server")) as empty:
        yield empty


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.interop)]
)
def kept(request, tmp_path_factory):
    """A store that is filled anew for each test."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            target = str(tmp_path_factory.mktemp("store") / "jobs.db")
        else:
            server = request.getfixturevalue("postgresql_server")
            target = stack.enter_context(postgresql.database(server))
        yield stack.enter_context(store.open(target, create=True))


def has_waiting(jobs):
    """Whether a transaction of a PostgreSQL store waits for another one."""
    return bool(jobs.engine.fetch("SELECT 1 FROM pg_locks WHERE NOT granted"))
