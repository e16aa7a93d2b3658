"""What is new in a store since a mark: each document that was written, hidden or shown, once."""

import random

import pytest
from draws import cases

from sssjob import store
from sssjob.store import changed_since, parts


def job(number, text=""):
    return f"<Job><Id>{number}</Id>{text}</Job>".encode()


def told(found):
    return {(each.identity.id, each.version, each.deleted) for each in found.documents}


def test_without_a_mark_all_documents_are_told_that_are_not_hidden(address):
    with store.open(address, create=True) as jobs:
        with jobs.change() as work:
            for number in range(3):
                work.put(job(number))
            work.delete("1")
        found = jobs.news()
        assert found.are_all
        assert told(found) == {("0", 1, False), ("2", 1, False)}
        again = jobs.news(found.mark)
        assert not again.are_all
        assert again.mark == found.mark


@pytest.mark.parametrize("mark", ["x", "1 2", "1 0:x", "9999 0:1", "1 0:9999", "1 7:1"])
def test_with_a_mark_that_is_none_of_this_store_all_are_told(address, mark):
    with store.open(address, create=True) as jobs:
        with jobs.change() as work:
            work.put(job(1))
        found = jobs.news(mark)
        assert found.are_all
        assert told(found) == {("1", 1, False)}


@pytest.mark.parametrize("seed", range(cases(5)))
def test_whoever_follows_the_news_knows_what_who_asks_for_all_does(address, seed, monkeypatch):
    monkeypatch.setattr(parts, "SIZE", 4)
    draw = random.Random(seed)
    known, mark = {}, ""
    with store.open(address, create=True) as jobs:
        for _ in range(12):
            with jobs.change() as work:
                for _ in range(draw.randrange(4)):
                    number = draw.randrange(20)
                    how = draw.choice(["put", "put", "delete", "undelete", "note"])
                    if how == "put":
                        work.put(job(number, f"<Note>{draw.random()}</Note>"))
                    elif how == "note":
                        work.note("a", str(draw.random()))
                    else:
                        getattr(work, how)(str(number))
            found = jobs.news(mark)
            mark = found.mark
            for identity, version, deleted in found.documents:
                known.pop(identity, None)
                if not deleted:
                    known[identity] = version
            assert known == {each.identity: each.version for each in jobs.documents()}


def test_a_change_that_is_committed_behind_a_later_one_is_told(address):
    with store.open(address, create=True) as one, store.open(address) as two:
        if one.engine.dialect is not changed_since.POSTGRESQL:
            pytest.skip("one change waits for the other")
        with one.change() as slow:
            slow.put(job(1))
            with two.change() as quick:
                quick.put(job(2))
            mark = two.news().mark
        assert ("1", 1, False) in told(two.news(mark))


def test_what_is_told_does_not_grow_with_the_store(address, monkeypatch):
    monkeypatch.setattr(changed_since, "_AT_ONCE", 0)
    with store.open(address, create=True) as jobs:
        with jobs.change() as work:
            for number in range(300):
                work.put(job(number))
        mark = jobs.news().mark
        with jobs.change() as work:
            work.put(job(7, "<Note>x</Note>"))
        found = jobs.news(mark)
        assert told(found) == {("7", 2, False)}
