"""Fixtures for both engines: a test that asks for ``address`` runs on a file, and on PostgreSQL."""

import postgresql
import pytest


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
