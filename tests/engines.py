"""Fixtures for both engines: a test that asks for ``address`` runs on a file, and on PostgreSQL."""

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
    if request.param == "sqlite":
        return str(tmp_path / "jobs.db")
    return postgresql.database(request.getfixturevalue("postgresql_server"))


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.interop)]
)
def kept(request, tmp_path_factory):
    """A store that is filled anew for each test."""
    if request.param == "sqlite":
        target = str(tmp_path_factory.mktemp("store") / "jobs.db")
    else:
        target = postgresql.database(request.getfixturevalue("postgresql_server"))
    with store.open(target, create=True) as jobs:
        yield jobs
