"""Conditions find by columns what they find by looking at every job, odd ones too."""

import random
from itertools import product

import odd_jobs
import pytest
from draws import pairwise, share
from job_service import job_service

from sssjob import spec, store
from sssjob.errors import Refused
from sssjob.handlers.conditions import Conditions
from sssjob.handlers.service import Service
from sssjob.handlers.stores import Stores
from sssjob.handlers.view import views
from sssjob.rmap.message import Conj, Object, Op, Request, Where

pytestmark = pytest.mark.explore

# One condition in so many is asked.
_SHARE = share(10)
_VALUES = (*odd_jobs.TEXTS, *odd_jobs.WORDS, "7*", "*o?n", "d3?", "8")
# A property of each kind: text, number, time, amount, with a column for each place or for none.
PROPERTIES = (
    "User", "Id", "Charge", "StartTime", "Duration", "Processors", "Memory", "Node", "Shell",
    "Feature", "Priority",
)  # fmt: skip
OF_GROUPS = ("Id", "Name", "State", "CreationTime")


def documents(name, kind):
    """Documents with the property in each place, also where the standard has none of that name."""
    for place in (name, f"{spec.DELIVERED}/{name}", f"{spec.REQUESTED}/{name}"):
        for document in odd_jobs.documents(place):
            # An Id of its own: the places are told apart by its first letter.
            given = document.given.replace("<Id>", f"<Id>{place[0]}", 1)
            if kind == "JobGroup" and given.startswith("<Job>"):
                given = f"<JobGroup>{given.removeprefix('<Job>').removesuffix('</Job>')}</JobGroup>"
            yield given.encode()


def asked(name, kind):
    every = list(product(Op, _VALUES, (Conj.AND, Conj.AND_NOT)))
    for op, value, conj in random.Random(name).sample(every, len(every) // _SHARE):
        try:
            yield Conditions([Where(name, value, op, conj)], kind)
        except Refused:  # no number
            continue


@pytest.mark.parametrize(
    ("name", "kind"),
    [*((name, "Job") for name in PROPERTIES), *((name, "JobGroup") for name in OF_GROUPS)],
)
def test_conditions_find_by_columns_what_they_find_by_looking(tmp_path, name, kind):
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(b"\n".join(documents(name, kind)))
        looked_at = [(each.number, view) for each in jobs.documents() for view in views(each, kind)]
        found = 0
        for conditions in asked(name, kind):
            wanted = {number for number, view in looked_at if conditions.hold(view)}
            planned = {each.number for each in jobs.candidates(conditions.plan, effective=True)}
            assert wanted <= planned, conditions
            if conditions.id is not None:
                named = {each.number for each in jobs.named(conditions.id)}
                assert wanted <= named, conditions.id
            found += len(wanted)
        assert found


@pytest.mark.parametrize(
    ("document", "where"),
    [
        ("<Job><Id>7</Id><Id>8</Id></Job>", ("Id", "EQ", "7")),
        ("<Job><Id>7</Id><Delivered><Charge>5</Charge></Delivered></Job>", ("Charge", "EQ", "5")),
        ("<Job><Id>7</Id><Charge>none</Charge></Job>", ("Charge", "NE", "0", "AndNot")),
        ("<Job><Id>7</Id><User>a<!-- n -->b</User></Job>", ("User", "EQ", "ab")),
        ("<Job><Id>7</Id><Delivered><Duration>6<?n?>00</Duration></Delivered></Job>",
         ("Duration", "EQ", "600")),
    ],
)  # fmt: skip
def test_a_job_is_found_though_its_columns_do_not_tell(address, document, where):
    with store.open(address, create=True) as jobs, jobs.change() as change:
        change.put(document.encode())
    with job_service(address) as made:
        assert made.ids(where) == ["7"]


@pytest.mark.parametrize("name", ["State", "Charge", "EndTime", "Id"])
def test_what_a_job_cannot_ask_for_is_not_said_of_it(address, name):
    document = f"<Job><Id>7</Id><Requested><{name}>5</{name}></Requested></Job>"
    with store.open(address, create=True) as jobs, jobs.change() as change:
        change.put(document.encode())
    with job_service(address) as made:
        assert made.ids((name, "EQ", "5")) == []
        assert made.ids(("Id", "EQ", "7")) == ["7"]


@pytest.mark.parametrize("user", ["amy", " amy", "amy\n"])
def test_jobs_of_an_actor_are_found_whatever_white_space_is_around_the_name(address, user):
    with store.open(address, create=True) as jobs, jobs.change() as change:
        change.put(f"<Job><Id>7</Id><User>{user}</User></Job>".encode())
        change.put(b"<Job><Id>8</Id><User>amyx</User></Job>")
    with job_service(address) as made:
        assert made.ids(actor="amy") == ["7"]


@pairwise(
    asked=["n", " n "],
    text=["n", " n", "n\n ", "\tn"],
    name=["Id", "User", "Project", "Machine"],
)
def test_a_name_is_found_and_shown_without_the_blanks_around_it(address, name, text, asked):
    """The ledger, and whoever may see a job, know it so."""
    gets = list(dict.fromkeys(("Id", name)))
    with job_service(address) as made:
        given = "" if name == "Id" else "<Id>n</Id>"
        made.create(f"<Job>{given}<{name}>{text}</{name}></Job>", "<Job><Id>nn</Id></Job>")
        for wheres in ([(name, "EQ", asked)], [("Id", "EQ", "n")]):
            assert made.ask("Query", gets=gets, wheres=wheres) == [dict.fromkeys(gets, "n")]
        assert made.ids((name, "NE", asked)) == (["nn"] if name == "Id" else [])
        assert {name: "n"} in made.ask("Query", gets=[(name, "GroupBy")])
        assert made.said("Modify", sets=[("Name", "x")], wheres=[(name, "EQ", asked)]) == (
            "Successfully modified 1 Jobs"
        )


@pytest.mark.parametrize("verifies", [True, False])
def test_no_question_of_a_store_that_is_verified_is_quick(tmp_path, verifies):
    service = Service(Stores(str(tmp_path / "jobs.db"), verifies=verifies))
    request = Request("Query", "amy", (Object("Job"),), wheres=(Where("Id", "7"),))
    assert service.is_quick(request) is not verifies
