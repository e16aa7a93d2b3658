"""A store of PostgreSQL that tests have one after the other is for each as if it was just made."""

import postgresql
import psycopg
import pytest

from sssjob import store

pytestmark = pytest.mark.interop


def contents(address):
    with psycopg.connect(address) as connection:
        return postgresql.contents_of(connection)


def test_the_next_one_finds_what_the_first_one_did(postgresql_server):
    with postgresql.made(postgresql_server) as address:
        first = contents(address)
        with store.open(address, create=True) as jobs:
            jobs.load(b"".join(b"<Job><Id>%d</Id></Job>" % number for number in range(30)))
        assert contents(address) != first
    with postgresql.made(postgresql_server) as again:
        assert again == address
        assert contents(again) == first


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE sssjob.ledger DROP COLUMN said",
        "DROP TABLE sssjob.ledger",
        "CREATE INDEX more ON sssjob.setting (value)",
        "CREATE TABLE sssjob.more (of INTEGER)",
        "ALTER TABLE sssjob.setting ALTER value SET DEFAULT 'x'",
        "ALTER TABLE sssjob.setting SET (fillfactor = 50)",
        "DROP SCHEMA sssjob CASCADE",
    ],
)
def test_one_with_other_tables_is_made_anew(postgresql_server, change):
    with postgresql.made(postgresql_server) as address:
        first = contents(address)
        with psycopg.connect(address) as connection:
            connection.execute(change)
    with postgresql.made(postgresql_server) as again:
        assert contents(again) == first
