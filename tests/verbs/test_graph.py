"""The graphs of chosen jobs, as a page or a notebook asks for them."""

import io

import pytest

from sssjob.verbs.graph import graphs
from sssjob.verbs.selection import chosen

JOBS = (
    b"<Jobs><JobGroup><Id>g</Id><Job><Id>a</Id></Job>"
    b"<Job><Id>b</Id><Dependency>a</Dependency></Job><Job><Id>c</Id></Job></JobGroup>"
    b"<Job><Id>d</Id><Dependency>elsewhere</Dependency></Job><Job><Id>e</Id></Job></Jobs>"
)


def asked(select=None):
    found = chosen("jobs.xml", io.BytesIO(JOBS), select, on_error=pytest.fail)
    return list(graphs(found))


def test_each_group_has_a_graph_and_jobs_beside_each_other_have_one():
    assert [(each.title, list(each.keys)) for each in asked()] == [
        ("JobGroup g", ["a", "b", "c"]), ("Jobs", ["d", "e"]),
    ]  # fmt: skip


def test_what_is_chosen_brings_what_it_waits_for():
    (found,) = asked("//Job[Id='b']")
    assert list(found.keys) == ["a", "b"]


def test_states_follow_from_exits_and_are_told_for_scripts():
    found, _ = asked()
    told = found.as_dict(found.progress({"a": 0}))
    assert told["states"] == {"a": "done", "b": "ready", "c": "ready"}
    assert found.knows() == {"a", "b", "c"}


def test_a_dependency_on_a_job_elsewhere_is_an_error_in_a_closed_graph():
    _, found = asked()
    assert found.findings() != found.findings(closed=True)
    assert found.knows() == {"d", "e", "elsewhere"}
