"""A directory of documents is served by one queue: two would give each job away twice."""

import os
import shutil
from types import SimpleNamespace

import pytest
from condor_site import SLOT, Site

from sssjob.classads import forms
from sssjob.systems.condor.hooks import served

JOB = "<User>amy</User>"


@pytest.fixture
def hosts(tmp_path, monkeypatch, capsys):
    """A directory, and a function that fetches from it at a machine, by a queue of its own."""
    path = tmp_path / "jobs"
    path.mkdir()
    site = Site(path, monkeypatch, capsys)
    site.add("a.xml", JOB)

    def fetch(machine, state):
        uname = SimpleNamespace(nodename=machine)
        with monkeypatch.context() as only:
            only.setattr(os, "uname", lambda: uname)
            answer = site.call("fetch-work", SLOT, state=str(tmp_path / state))
        return forms.read_text(answer.decode(), strict=True)

    return site, fetch


QUEUES = [("m1", "one"), ("m2", "two"), ("m1", "two"), ("m2", "jobs/.condor")]


# decision 696
@pytest.mark.parametrize("first", QUEUES)
@pytest.mark.parametrize("second", QUEUES)
def test_of_two_queues_the_first_alone_gives_jobs_of_a_directory_away(hosts, first, second):
    site, fetch = hosts
    assert len(fetch(*first)) == 1
    site.add("b.xml", JOB, "8")
    found = fetch(*second)
    is_same = first[1] == second[1]  # what its machine is called may change
    assert len(found) == is_same
    assert ("two queues would give each job away twice" in site.said) != is_same
    assert len(fetch(*first)) == (not is_same)


# decision 696
def test_a_queue_that_was_lost_serves_its_directory_again(hosts, tmp_path):
    site, fetch = hosts
    assert len(fetch("m1", "one")) == 1
    shutil.rmtree(tmp_path / "one")
    site.add("b.xml", JOB, "8")
    assert len(fetch("m1", "one")) == 1
    shutil.rmtree(tmp_path / "one")
    (site.path / ".condor" / "served").unlink()
    site.add("c.xml", JOB, "9")
    assert len(fetch("m2", "two")) == 1


# decision 696
@pytest.mark.parametrize("times", [1, 2])
def test_of_queues_that_begin_at_once_one_serves(hosts, monkeypatch, times):
    """The other one has looked for a note before this one wrote its own."""
    site, fetch = hosts
    assert len(fetch("m1", "one")) == 1
    real, asked = served._told, []

    def late(path, settings):
        asked.append(path)
        return None if len(asked) <= times else real(path, settings)

    site.add("b.xml", JOB, "8")
    monkeypatch.setattr(served, "_told", late)
    assert fetch("m2", "two") == []
    assert "is served by the queue" in site.said
    assert sorted(each.name for each in (site.path / ".condor").iterdir()) == ["served"]


# decision 696
@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_note_that_others_could_write_says_nothing(hosts, mode):
    site, fetch = hosts
    (site.path / ".condor").mkdir()
    (site.path / ".condor").chmod(mode)
    (site.path / ".condor" / "served").write_text("x m9 /elsewhere\n")
    assert len(fetch("m1", "one")) == 1
