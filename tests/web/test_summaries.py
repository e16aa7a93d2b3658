"""A large store is counted in a summary, which says of when it is, and is not used for long."""

import pytest
from starlette.testclient import TestClient

from sssjob import store
from sssjob.store import browsing, summary
from sssjob.store.browsing import having
from sssjob.store.condition import TRUE
from sssjob.web.app import application
from sssjob.web.stores import FRESH, OLD, StorePool, Summaries

pytest.importorskip("duckdb")
HOST = "127.0.0.1:8181"


class Clock:
    now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def address(tmp_path):
    path = str(tmp_path / "jobs.db")
    with store.open(path, create=True) as jobs:
        jobs.load(b"<Job><Id>1</Id><User>amy</User></Job>")
    return path


@pytest.fixture
def summaries(address, clock):
    made = Summaries(address, large=0, clock=clock)
    yield made
    made.close()


def add(address, number):
    with store.open(address) as jobs:
        jobs.load(f"<Job><Id>{number}</Id><User>amy</User></Job>".encode())


def test_it_is_used_from_when_it_is_there_and_until_it_is_old(address, summaries, clock):
    with store.open(address, read_only=True) as kept:
        assert summaries.of(kept, TRUE) == (kept.engine, None)
        summaries.wait()
        first = summaries.of(kept, TRUE)
        assert isinstance(first.engine, summary.Summary)
        assert first.at is None
        add(address, 2)
        clock.now += 1
        stale = summaries.of(kept, TRUE)
        assert stale == (first.engine, clock.now - 1)
        assert browsing.count(stale.engine) == 1
        summaries.wait()  # nobody makes another one so soon
        assert summaries.of(kept, TRUE) == stale
        clock.now += OLD
        assert summaries.of(kept, TRUE) == (kept.engine, None)
        summaries.wait()
        assert browsing.count(summaries.of(kept, TRUE).engine) == 2
        assert summaries.of(kept, TRUE).at is None


def test_another_one_is_made_when_it_is_not_fresh(address, summaries, clock):
    with store.open(address, read_only=True) as kept:
        summaries.of(kept, TRUE)
        summaries.wait()
        add(address, 2)
        clock.now += FRESH + 1
        assert summaries.of(kept, TRUE).at is not None
        summaries.wait()
        assert summaries.of(kept, TRUE).at is None


def test_what_it_has_not_is_asked_of_the_store(address, summaries):
    with store.open(address, read_only=True) as kept:
        summaries.of(kept, TRUE)
        summaries.wait()
        assert summaries.of(kept, having("charge", "1")).engine is kept.engine
        assert summaries.of(kept, TRUE, "charge").engine is kept.engine


def test_one_that_cannot_be_made_is_told_and_the_store_answers(address, tmp_path, clock, caplog):
    made = Summaries(str(tmp_path / "none.db"), large=0, clock=clock)
    with store.open(address, read_only=True) as kept:
        made.of(kept, TRUE)
        made.wait()
        assert "no summary of" in caplog.text
        assert made.of(kept, TRUE).engine is kept.engine


def test_a_small_store_has_none(address, clock):
    made = Summaries(address, clock=clock)
    with store.open(address, read_only=True) as kept:
        assert made.of(kept, TRUE).engine is kept.engine
        made.wait()
        assert made.of(kept, TRUE).engine is kept.engine


def test_pages_say_of_when_their_numbers_are(address, summaries, clock):
    looked_at = StorePool(address, summaries=summaries)
    app = application(address, title="jobs", token="t", hosts=frozenset((HOST,)), stores=looked_at)
    headers = {"authorization": "Bearer t", "accept": "text/html"}
    with TestClient(app, base_url=f"http://{HOST}", headers=headers) as client:
        assert client.get("/jobs.json").json()["total"] == 1
        summaries.wait()
        add(address, 2)
        clock.now += 1
        told = client.get("/jobs.json?columns=id").json()
        assert [each["id"] for each in told["jobs"]] == ["2", "1"]  # rows are those of now
        assert (told["total"], told["as_of"]) == (1, clock.now - 1)
        for path in ("/jobs", "/facets/user", "/usage", "/waits"):
            assert "Counted at 1970-01-12 13:46:40 UTC" in client.get(path).text, path
        for path in ("/facets/user.json", "/usage.json", "/waits.json"):
            assert client.get(path).json()["as_of"] == clock.now - 1, path
