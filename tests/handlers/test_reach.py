"""Whose jobs an actor sees: one rule, by whichever way of asking the jobs are looked for."""

import tempfile
from pathlib import Path

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from job_service import job_service
from lxml import etree

from sssjob.errors import Refused
from sssjob.handlers.roles import Permission, Roles
from sssjob.rmap.message import Get, Object, Request
from sssjob.rmap.responder import ReceivedRequest
from sssjob.store.browsing import page
from sssjob.store.reach import Reach
from sssjob.web.readers import Reader

MANAGED = {"mia": ("p", "q")}
ROLES = Roles(actors={"root": ("admin",)}, projects=MANAGED)
NAMED = st.one_of(
    st.sampled_from(["ann", " ann ", "mia", ""]).map(lambda name: f"<User>{name}</User>"),
    st.sampled_from(["p", " q", "r", "pq", ""]).map(lambda name: f"<Project>{name}</Project>"),
    st.sampled_from(["<UserId>mia</UserId>", "<ProjectId>p</ProjectId>"]),
)
PART = st.lists(NAMED, max_size=2).map("".join)


@st.composite
def job(draw, number):
    parts = [f"<Id>{number}</Id>", draw(PART)]
    for block in ("Requested", "Delivered"):
        inner = draw(st.one_of(st.just(""), PART))
        parts.append(f"<{block}>{inner}</{block}>" if inner else "")
    return f"<Job>{''.join(parts)}</Job>"


def names(element, kind):
    """The texts of a property in a job, and in its blocks, by the names of the document alone."""
    found = element.xpath(
        f"({kind}|{kind}Id|Requested/{kind}|Requested/{kind}Id|Delivered/{kind}|Delivered/{kind}Id)"
    )
    return {(each.text or "").strip() for each in found}


def expected(documents, actor):
    """By the sentences of the manual, from the documents."""
    seen = []
    for each in documents:
        element = etree.fromstring(each)
        users, projects = names(element, "User"), names(element, "Project")
        is_managed = bool(projects) and projects <= set(MANAGED.get(actor, ()))
        if users == {actor} or is_managed or actor == "root":
            seen.append(element.findtext("Id"))
    return seen


def is_plain(document):
    """Whether each block has at most one user and one project, without white space around."""
    blocks = etree.fromstring(document).xpath("/Job|/Job/Requested|/Job/Delivered")
    own = [each.xpath(f"{kind}|{kind}Id") for each in blocks for kind in ("User", "Project")]
    return "> " not in document and all(len(each) < 2 for each in own)


@examples(15)
@given(st.data(), st.sampled_from(["root", "ann", "mia", "nobody"]))
def test_every_way_of_asking_sees_the_same_jobs(data, actor):
    documents = [data.draw(job(number)) for number in range(data.draw(st.integers(1, 5)))]
    meant = expected(documents, actor)
    with tempfile.TemporaryDirectory() as place:
        path = str(Path(place) / "jobs.db")
        with job_service(path, roles=ROLES) as jobs:
            with jobs.service.stores.use() as kept, kept.change() as change:
                for each in documents:
                    change.put(each.encode())
            assert jobs.ids(actor=actor) == meant
            everything = jobs.ask("Query", actor=actor)
            assert [etree.fromstring(each).findtext("Id") for each in everything] == meant
            assert jobs.ids(actor=actor, options={"Time": 4102444800}) == meant
            for number in range(len(documents)):
                by_id = jobs.ids(("Id", "EQ", str(number)), actor=actor)
                assert by_id == [each for each in meant if each == str(number)]
            [total] = jobs.ask("Query", actor=actor, gets=[Get("Id", "Count")]) or [{"Id": "0"}]
            assert total == {"Id": str(len(meant))}
            with jobs.service.stores.use() as kept:
                sees = Reader(actor, ROLES.reach(called("Query", actor))).sees
                shown = page(kept.engine, ("id",), sees, limit=100).rows
                # Pages hide a job of which columns do not tell all: white space, several of a kind.
                assert {row.values[0] for row in shown} <= set(meant)
                plain = [each for each in meant if is_plain(documents[int(each)])]
                assert {row.values[0] for row in shown} >= set(plain)


def called(action, actor, **proven):
    return ReceivedRequest(Request(action, actor, (Object("Job"),)), actor, **proven)


def test_a_manager_sees_the_ledger_of_projects_and_changes_nothing(tmp_path):
    with job_service(str(tmp_path / "jobs.db"), roles=ROLES) as jobs:
        for id_, project in (("1", "p"), ("2", "r")):
            used = f"<User>ann</User><Project>{project}</Project><Duration>60</Duration>"
            jobs.answer("Charge", data=[f"<Job><Id>{id_}</Id>{used}</Job>".encode()])
        for actor, seen in (("mia", ["1"]), ("ann", ["1", "2"]), ("bob", []), ("root", ["1", "2"])):
            entries = jobs.ask("Query", object="Transaction", actor=actor, gets=["JobId"])
            assert [each["JobId"] for each in entries] == seen
        assert (
            jobs.code("Modify", actor="mia", wheres=[("Id", "EQ", "1")], sets=[("Queue", "x")])
            == "444"
        )


def test_a_group_is_seen_by_who_manages_the_projects_of_all_its_jobs(tmp_path):
    with job_service(str(tmp_path / "jobs.db"), roles=ROLES) as jobs:
        for id_, other in (("a", "q"), ("b", "r")):
            inner = "".join(
                f"<Job><Id>{id_}{project}</Id><Project>{project}</Project></Job>"
                for project in ("p", other)
            )
            group = f"<JobGroup><Id>{id_}</Id>{inner}</JobGroup>"
            jobs.answer("Create", object="JobGroup", data=[group.encode()])
        groups = jobs.ask("Query", object="JobGroup", actor="mia", gets=["Id"])
        assert groups == [{"Id": "a"}]
        assert jobs.ids(actor="mia") == ["ap", "aq", "bp"]


def test_a_rule_about_projects_is_what_the_site_makes_of_it():
    rules = dict(ROLES.rules) | {"manager": (Permission.of("Cancel Job project"),)}
    roles = Roles(rules, projects=MANAGED)
    assert roles.reach(called("Cancel", "mia")) == Reach("mia", ("p", "q"))
    assert roles.reach(called("Query", "mia")) == Reach("mia")  # as a user
    with pytest.raises(Refused):
        roles.reach(called("Cancel", "mia", proven=False))
