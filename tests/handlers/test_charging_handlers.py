"""Charges, reservations, quotes and refunds follow the rate table and are recorded on the job."""
# ruff: noqa: E501 (a row of a table is a line)

import os
import re
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from draws import examples, pairwise
from hypothesis import given
from hypothesis import strategies as st
from job_service import ROLES, job_service

from sssjob import query, units
from sssjob.accounting.report import JobProperties
from sssjob.document import loads
from sssjob.errors import Refused
from sssjob.handlers.charging import Accounting
from sssjob.handlers.hooks import Hook
from sssjob.handlers.rates import ChargeRates, priced_by
from sssjob.handlers.service import ServiceSettings
from sssjob.rmap.message import Object, Option, Request
from sssjob.rmap.responder import ReceivedRequest

RATES = ChargeRates(
    {"Processors": Fraction(1), "Memory": Fraction("0.001")},
    {"QualityOfService": {"premium": Fraction(2), "cheap": Fraction("0.1")}},
)
GOLD = "<Job><JobId>{0}</JobId><ProjectId>proj1</ProjectId><UserId>ann</UserId><MachineName>m1</MachineName><Processors>16</Processors>{1}<WallDuration>{2}</WallDuration></Job>"


def gold(id_="PBS.1", more="", seconds=1155):
    return GOLD.format(id_, more, seconds)


@pytest.fixture
def jobs(address):
    with job_service(address, accounting=Accounting(RATES)) as made:
        yield made


def charged(jobs, id_="PBS.1"):
    [row] = jobs.ask("Query", gets=["Charge"], wheres=[("Id", "EQ", id_)])
    return row["Charge"]


def test_a_charge_is_recorded_on_the_job_that_it_makes_known(jobs):
    answer, [row] = jobs.answer(
        "Charge", data=[gold(more="<QualityOfService>premium</QualityOfService>")]
    )
    assert (answer.message, answer.count) == (
        "Successfully charged job PBS.1 for 36960 credits",
        36960,
    )
    assert (row.object, row.fields) == ("Charge", (("Amount", "36960"), ("Job", "PBS.1")))
    assert jobs.ask("Query", gets=["Charge", "Stage", "User", "WallDuration"]) == [
        {"Charge": "36960", "Stage": "Charge", "User": "ann", "WallDuration": "1155"}
    ]


def test_a_charge_keeps_what_was_requested_and_adds_what_was_used(jobs):
    jobs.create(
        "<Job><Id>PBS.1</Id><User>ann</User><Queue>long</Queue><Requested><Processors>8</Processors><Duration>7200</Duration></Requested></Job>"
    )
    jobs.answer("Charge", data=[gold()])
    document = jobs.stored("PBS.1").document.decode()
    assert "<Requested><Processors>8</Processors><Duration>7200</Duration></Requested>" in document
    assert "<Delivered><Processors>16</Processors><Duration>1155</Duration></Delivered>" in document
    assert "<Queue>long</Queue>" in document
    assert charged(jobs) == "18480"


def test_a_whole_job_object_is_charged_for_what_was_delivered(jobs):
    whole = "<Job><Id>7</Id><User>ann</User><Requested><Processors>99</Processors></Requested><Delivered><Processors>2</Processors><Memory units='GB'>1</Memory><Duration>100</Duration></Delivered></Job>"
    answer, _ = jobs.answer("Charge", data=[whole])
    assert answer.count == round(2 * 100 + 1024 * 0.001 * 100)
    assert "<Processors>99</Processors>" in jobs.stored("7").document.decode()


def test_a_charge_with_the_same_request_id_charges_once_and_others_add_up(jobs):
    for now in (1000.0, 2000.0):
        answer, _ = jobs.answer("Charge", data=[gold()], id="r1", now=now)
        assert answer.count == 18480
    jobs.answer("Charge", data=[gold()], id="r1", options={"ShowHours": "True"})
    assert charged(jobs) == "18480"
    jobs.answer("Charge", data=[gold()], id="r2")
    assert charged(jobs) == "36960"


def test_the_same_bytes_within_a_while_are_answered_and_not_done_again(jobs):
    first, rows = jobs.answer("Charge", data=[gold()], mark="a")
    for now in (1000.0, 1120.0):
        again, same = jobs.answer("Charge", data=[gold()], mark="a", now=now)
        assert (again.message, again.count, same) == (first.message, first.count, rows)
    assert charged(jobs) == "18480"
    jobs.answer("Charge", data=[gold()], mark="b")  # other bytes: a time, say
    jobs.answer("Charge", data=[gold()], mark="a", now=1121.0)
    jobs.answer("Charge", data=[gold()])  # not signed: nobody knows
    assert charged(jobs) == str(4 * 18480)
    reserved = [jobs.said("Reserve", data=[gold("2")], mark="a") for _ in "12"]
    assert reserved[0] == reserved[1]
    assert jobs.said("Charge", data=[gold("2")]).endswith("\n1 reservations were removed")


def test_copies_change_nothing_whatever_was_done_in_between(jobs):
    bookkeeping = {
        "a": {"action": "Charge", "data": [gold(seconds=60)]},
        "b": {"action": "Charge", "data": [gold(seconds=30)]},
        "r": {"action": "Refund", "options": {"JobId": "PBS.1", "Amount": "80"}},
    }
    first = {mark: jobs.answer(**each, mark=mark) for mark, each in bookkeeping.items()}
    for mark in "abrarbbra":
        again, same = jobs.answer(**bookkeeping[mark], mark=mark, now=1120.0)
        assert (again.message, again.count, same) == (
            first[mark][0].message, first[mark][0].count, first[mark][1],
        )  # fmt: skip
    assert charged(jobs) == str(960 + 480 - 80)
    jobs.answer(**bookkeeping["a"], mark="a", now=1121.0)  # after the window
    jobs.answer(**bookkeeping["r"], mark="r", now=1121.0)
    assert charged(jobs) == str(2 * 960 + 480 - 2 * 80)


@pytest.mark.parametrize(
    "names", [("JobId", "Id"), ("JobId", "JobId"), ("Id", "Id"), ("Amount", "Amount")]
)
def test_a_refund_of_two_meanings_is_refused(jobs, names):
    jobs.answer("Charge", data=[gold("1")])
    told = [("JobId", "1")] if "Amount" in names else []
    options = tuple(Option(name, value) for name, value in [*told, *zip(names, "12", strict=True)])
    request = Request("Refund", "root", (Object("Job"),), options=options)
    with pytest.raises(Refused) as refused:
        jobs.actions(ReceivedRequest(request, "root"))
    assert refused.value.code == "740"
    assert charged(jobs, "1") == "18480"


def test_a_refund_of_all_that_comes_again_is_answered_as_it_was(jobs):
    jobs.answer("Charge", data=[gold()], mark="a")
    for _ in "12":
        assert jobs.said("Refund", options={"JobId": "PBS.1"}, mark="r").startswith(
            "Successfully refunded 18480 "
        )
    assert charged(jobs) == "0"


AMOUNTS = st.decimals(0, 10**9, places=3).map(Fraction)


@given(
    st.dictionaries(st.sampled_from(["Processors", "Memory", "Disk"]), st.none() | AMOUNTS),
    st.dictionaries(st.sampled_from(["Queue", "QualityOfService"]), st.text(st.characters(codec="utf-8"), max_size=9)),
    st.integers(0, 10**9),
)  # fmt: skip
def test_the_details_of_a_bill_tell_what_it_was_made_of(amounts, factors, seconds):
    rates = ChargeRates(
        dict.fromkeys(amounts, Fraction(1, 3)),
        {name: {value: Fraction(2)} for name, value in factors.items()},
    )
    bill = rates.bill(seconds, amounts.get, factors.__getitem__)
    told = {
        name: Fraction(text) if name in amounts else text
        for name, text in priced_by(bill.details).items()
    }
    used = {name: amount for name, amount in amounts.items() if amount is not None}
    assert told == used | {name: value for name, value in factors.items() if value}


def test_a_copy_of_a_guaranteed_quote_makes_no_second_one(jobs):
    options = {"Guarantee": "True"}
    first, rows = jobs.answer("Quote", data=[gold()], options=options, mark="q")
    again, same = jobs.answer("Quote", data=[gold()], options=options, mark="q", now=1120.0)
    assert (again.message, same) == (first.message, rows)
    assert len(jobs.ask("Query", object="Quotation")) == 1


def test_a_refund_is_entered_under_the_id_of_its_job_and_as_it_is_described(jobs):
    jobs.answer("Charge", data=[gold("1")])
    given = {"JobId": " 1\n", "Amount": "5", "Description": "the node failed"}
    assert jobs.said("Refund", options=given) == "Successfully refunded 5 credits for job 1"
    jobs.answer("Refund", options={"JobId": "1", "Amount": "5"})
    entries = jobs.ask(
        "Query", object="Transaction", gets=["JobId", "User", "Amount", "Description"]
    )
    assert entries == [
        {"JobId": "1", "User": "ann", "Amount": "18480", "Description": "Charge Job"},
        {"JobId": "1", "User": "ann", "Amount": "5", "Description": "the node failed"},
        {"JobId": "1", "User": "ann", "Amount": "5", "Description": "Refund Job"},
    ]
    assert jobs.code("Refund", options={**given, "Description": "x" * 1001}) == "317"
    assert jobs.code("Refund", options={"JobId": " "}) == "314"


def test_a_job_that_stands_in_two_places_is_charged_in_neither(jobs):
    """An import can bring one, and so can workflows of one form: which is meant nobody can tell."""
    job = "<Job><Id>w</Id><User>ann</User><Charge>5</Charge></Job>"
    with jobs.service.stores.use() as kept, kept.change() as change:
        change.put(f"<JobGroup><Id>wg</Id>{job}</JobGroup>".encode())
        change.put(job.encode())
    said = "Job w is in Job w and in JobGroup wg; nobody can tell which one is meant"
    assert jobs.said("Charge", data=[gold("w")]) == said
    assert jobs.said("Reserve", data=[gold("w")]) == said
    assert jobs.said("Refund", options={"JobId": "w"}) == said
    with jobs.service.stores.use() as kept, kept.change() as change:
        change.delete("w")
    assert jobs.code("Refund", options={"JobId": "w"}) == "000"  # of the one that is left
    with jobs.service.stores.use() as kept, kept.change() as change:
        change.delete("w")
    assert jobs.code("Refund", options={"JobId": "w"}) == "740"  # of a job that is hidden
    with jobs.service.stores.use() as kept, kept.change() as change:
        change.put(b"<JobGroup><Id>other</Id><Job><Id>v</Id></Job></JobGroup>")
        change.put(b"<JobGroup><Id>more</Id><Job><Id>v</Id></Job></JobGroup>")
    assert "nobody can tell" in jobs.said("Charge", data=[gold("v")])


@pytest.mark.parametrize("in_group", [(), (900,), (100,)])
def test_the_last_run_is_charged_also_where_the_record_of_an_earlier_one_came_late(jobs, in_group):
    job = "<Job><Id>w</Id><User>ann</User><StartTime>{}</StartTime></Job>"
    with jobs.service.stores.use() as kept, kept.change() as change:
        for began in (900, 100):
            text = job.format(began)
            text = f"<JobGroup><Id>wg</Id>{text}</JobGroup>" if began in in_group else text
            change.put(text.encode())
    assert jobs.code("Charge", data=[gold("w")]) == "000"
    rows = jobs.ask("Query", gets=["StartTime", "Charge"])
    assert {row["StartTime"]: row.get("Charge") for row in rows} == {"900": "18480", "100": ""}


def test_of_a_job_of_a_group_that_ran_again_the_last_run_is_charged_and_refunded(jobs):
    """A store has it as a document of its own; the run in the group is another job."""
    job = "<Job><Id>w</Id><User>ann</User><StartTime>{}</StartTime>{}</Job>"
    first = job.format(100, "<Charge>5</Charge>")
    with jobs.service.stores.use() as kept, kept.change() as change:
        change.put(f"<JobGroup><Id>wg</Id>{first}</JobGroup>".encode())
        change.put(job.format(900, "").encode())

    def charges():
        rows = jobs.ask("Query", gets=["StartTime", "Charge"])
        return {row["StartTime"]: row.get("Charge") for row in rows}

    assert jobs.code("Charge", data=[gold("w")]) == "000"
    assert charges() == {"100": "5", "900": "18480"}
    assert jobs.code("Refund", options={"JobId": "w"}) == "000"
    assert charges() == {"100": "5", "900": "0"}
    told = [("Id", "EQ", "w"), ("StartTime", "EQ", "900")]
    assert jobs.code("Delete", wheres=told) == "000"
    assert charges() == {"100": "5"}
    assert jobs.code("Undelete", wheres=told) == "000"
    assert charges() == {"100": "5", "900": "0"}


def test_jobs_without_an_id_are_charged_to_whom_each_of_them_names(jobs):
    job = "<Job><User>{}</User>{}</Job>"
    group = "<JobGroup><Id>g</Id>{}</JobGroup>"

    def shares():
        asked = [("User", "GroupBy"), ("Delta", "Sum")]
        rows = jobs.ask("Query", object="Transaction", gets=asked)
        return {row["User"]: int(row["Delta"]) for row in rows}

    inside = [
        job.format(*each)
        for each in (("ann", "<Charge>5</Charge>"), ("bob", "<Charge>7</Charge>"), ("cyn", ""))
    ]
    jobs.answer("Create", object="JobGroup", data=[group.format("".join(inside))])
    assert shares() == {"ann": -5, "bob": -7}
    jobs.answer("Modify", sets=[("Charge", "NULL")], wheres=[("User", "EQ", "ann")])
    jobs.answer("Modify", sets=[("Charge", "9")], wheres=[("User", "EQ", "cyn")])
    assert shares() == {"ann": 0, "bob": -7, "cyn": -9}
    assert jobs.stored("g").version == 3
    with jobs.service.stores.use() as kept:
        assert [*kept.check()] == []


@pytest.mark.parametrize(
    "asked, said",
    [
        ('<Processors op="GE">8</Processors>', "Processors is one value, without op and conj"),
        (
            "<Processors>1</Processors></Requested><Requested><Processors>2</Processors>",
            "Processors is one value, requested 2 times",
        ),
    ],
)
def test_what_is_requested_by_a_bound_or_twice_has_no_price_and_is_told_as_that(jobs, asked, said):
    jobs.create(f"<Job><Id>1</Id><User>ann</User><Requested>{asked}</Requested></Job>")
    for action in ("Reserve", "Quote"):
        asked = {"data": ["<Job><Id>1</Id><Duration>10</Duration></Job>"]}
        assert (jobs.code(action, **asked), jobs.said(action, **asked)) == ("317", said)


@pytest.mark.parametrize("number", ["2.0", "1.25", "1.5"])
@pytest.mark.parametrize(("duration", "credits"), [("", 200), (' duration="8"', 16)])
def test_a_part_of_a_processor_is_refused_and_a_whole_one_in_any_form_is_charged(
    jobs, number, duration, credits
):
    """Reports count no part of one either, as the standard has whole numbers of processors."""
    told = "<Job><Id>{}</Id><User>ann</User><WallDuration>100</WallDuration>{}</Job>"
    amount = f"<Processors{duration}>{number}</Processors>"
    for id_, action in enumerate(("Reserve", "Quote", "Charge")):
        asked = {"data": [told.format(id_, amount)]}
        if number == "2.0":
            assert f" {credits} credits" in jobs.said(action, **asked)
        else:
            assert jobs.said(action, **asked) == f"Processors is a whole number, found {number}"
            assert jobs.code(action, **asked) == "317"
            assert jobs.stored(str(id_)) is None


IN_PARTS = "<TaskGroup><TaskCount>3</TaskCount><Delivered><Processors>4</Processors></Delivered></TaskGroup>"


def test_what_only_parts_of_a_known_job_say_is_not_charged_as_nothing(jobs):
    jobs.create(f"<Job><Id>1</Id><User>ann</User>{IN_PARTS}</Job>")
    bare = "<Job><JobId>1</JobId><WallDuration>10</WallDuration></Job>"
    for action in ("Charge", "Reserve", "Quote"):
        said = jobs.said(action, data=[bare])
        assert said == "Processors is not told of the whole job, by its own name"


def test_what_a_charge_tells_of_task_groups_alone_is_not_passed_over_where_the_job_is_known(jobs):
    jobs.create("<Job><Id>1</Id><User>ann</User><State>Idle</State></Job>")
    told = "<Job><Id>1</Id><WallDuration>9</WallDuration><TaskGroup>{}</TaskGroup></Job>"
    said = jobs.said("Charge", data=[told.format("<Processors>4</Processors>")])
    assert said == "Processors is not told of the whole job, by its own name"
    whole = told.format("<Name>a</Name>").replace("<WallD", "<Processors>4</Processors><WallD")
    assert "for 36 credits" in jobs.said("Charge", data=[whole])
    assert "<TaskGroup><Name>a</Name></TaskGroup>" in jobs.stored("1").document.decode()


@pytest.mark.parametrize(
    "told",
    [
        "<Duration>10</Duration>",
        "<Delivered><Duration>10</Duration></Delivered>",
        "<Duration>10</Duration><Delivered><Memory>5</Memory></Delivered>",
    ],
)
def test_what_a_charge_leaves_out_of_delivered_is_as_the_job_has_it(jobs, told):
    known = "<Delivered><Processors>4</Processors><Node>n1</Node></Delivered>"
    jobs.create(f"<Job><Id>1</Id><User>ann</User>{known}</Job>")
    asked = {"data": [f"<Job><Id>1</Id>{told}</Job>"]}
    for action in ("Quote", "Reserve", "Charge"):
        assert " 40 credits" in jobs.said(action, **asked)
    delivered = jobs.stored("1").block().delivered
    assert delivered.text("Node") == "n1"
    assert [item.text for item in delivered.all("Processors")] == ["4"]


def test_what_a_charge_says_beside_its_delivered_was_used_too(jobs):
    known = "<Delivered><Processors>4</Processors><Duration>100</Duration></Delivered>"
    jobs.create(f"<Job><Id>1</Id><User>ann</User>{known}</Job>")
    told = "<Duration>10</Duration><Processors>2</Processors><Delivered><Memory>1000</Memory></Delivered>"
    asked = {"data": [f"<Job><Id>1</Id>{told}</Job>"]}
    for action in ("Quote", "Charge"):
        assert " 30 credits" in jobs.said(action, **asked)
    block = jobs.stored("1").block()
    assert {item.name: item.text for item in block.delivered} == {
        "Processors": "2", "Duration": "10", "Memory": "1000"
    }  # fmt: skip
    assert not block.properties.names() & {"Processors", "Duration"}


def test_what_a_charge_leaves_out_of_requested_is_as_the_job_has_it(jobs):
    known = "<User>ann</User><Project>p</Project><QualityOfService>premium</QualityOfService>"
    jobs.create(f"<Job><Id>1</Id><Requested>{known}<Processors>8</Processors></Requested></Job>")
    told = "<Duration>10</Duration><Processors>2</Processors><Requested><Processors>2</Processors></Requested>"
    asked = {"data": [f"<Job><Id>1</Id>{told}</Job>"]}
    for action in ("Quote", "Charge"):
        assert " 40 credits" in jobs.said(action, **asked)
    requested = jobs.stored("1").block().requested
    assert (requested.text("User"), requested.text("Project")) == ("ann", "p")
    assert [item.text for item in requested.all("Processors")] == ["2"]


def test_what_a_charge_says_in_delivered_takes_the_place_of_what_was_delivered(jobs):
    known = (
        '<Processors group="1">4</Processors><Processors group="2">2</Processors><Node>n1</Node>'
    )
    jobs.create(f"<Job><Id>1</Id><User>ann</User><Delivered>{known}</Delivered></Job>")
    told = "<Duration>10</Duration><Processors>3</Processors><Node>n2</Node>"
    said = jobs.said("Charge", data=[f"<Job><Id>1</Id><Delivered>{told}</Delivered></Job>"])
    assert " 30 credits" in said
    delivered = jobs.stored("1").block().delivered
    assert [item.text for item in delivered] == ["10", "3", "n2"]


IN_GROUPS = '<Processors group="1">4</Processors><Processors group="2">2</Processors>'


@pytest.mark.parametrize(
    "known, told",
    [
        (IN_GROUPS, "<Processors>1</Processors>"),
        (IN_GROUPS, "<Processors>6</Processors>"),
        (IN_GROUPS.replace("group", "duration='5' group"), "<Processors>6</Processors>"),
        ("<Processors>4</Processors>", IN_GROUPS),
        (IN_GROUPS, IN_GROUPS.replace(">4<", ">3<")),
        ('<Memory metric="Max">9</Memory>', '<Memory metric="Max">5</Memory>'),
    ],
)
def test_a_charge_is_the_same_flat_and_in_delivered(jobs, known, told):
    """What it says takes the place of all that it names, and it costs what its Quote says."""
    forms = (
        "<Duration>10</Duration>{}", "<Delivered><Duration>10</Duration>{}</Delivered>",
        "<Duration>10</Duration><Delivered>{}</Delivered>",
    )  # fmt: skip
    credits = set()
    # What has a group stands in a category only.
    for id_, form in enumerate(forms["group" in told :]):
        jobs.create(f"<Job><Id>{id_}</Id><User>ann</User><Delivered>{known}</Delivered></Job>")
        data = [f"<Job><Id>{id_}</Id>{form.format(told)}</Job>"]
        credits |= {jobs.answer(action, data=data)[0].count for action in ("Quote", "Charge")}
        job = jobs.stored(str(id_)).block()
        delivered = [item for item in job.delivered if item.name != "Duration"]
        assert [str(item.text) for item in delivered] == re.findall(">([0-9]+)<", told)
    assert len(credits) == 1


METRICS = ("", "Total", "Max", "Average")
memory = st.lists(
    st.tuples(st.sampled_from(METRICS), st.integers(1, 9)), max_size=3, unique_by=lambda row: row[0]
)  # fmt: skip


def of_metrics(rows):
    return "".join(
        f'<Memory metric="{metric}">{number}000</Memory>'
        if metric
        else f"<Memory>{number}000</Memory>"
        for metric, number in rows
    )


@examples(40)
@given(known=memory, told=memory, more=memory, is_within=st.booleans(), delivers=st.booleans())
def test_by_whatever_metric_a_charge_says_an_amount_it_costs_what_its_quote_says(
    tmp_path_factory, known, told, more, is_within, delivers
):
    """An amount that was given comes before the first that was measured, and both before known."""
    own, delivered = ("", of_metrics(known)) if delivers else (of_metrics(known), "")
    job = f"<Job><Id>1</Id><User>ann</User>{own}<Delivered>{delivered}</Delivered></Job>"
    with job_service(
        tmp_path_factory.mktemp("metrics") / "jobs.db", accounting=Accounting(RATES)
    ) as jobs:
        jobs.create(job)
        rows = known
        for said in (told, more):
            duration = "<Duration>10</Duration>"
            used = duration + of_metrics(said)
            used = f"<Delivered>{used}</Delivered>" if is_within else used
            data = [f"<Job><Id>1</Id>{used}</Job>"]
            rows = [*said, *rows] if said else rows
            first = [row for row in said or rows if row[0] in METRICS[:2]] or said or rows
            expected = first[0][1] * 10 if first else 0
            counts = [jobs.answer(action, data=data)[0].count for action in ("Quote", "Charge")]
            assert counts == [expected, expected]
            if not said:
                continue
            rows = said + [row for row in rows if row[0] not in METRICS[:2]]


NAMED = (
    "<User>{}</User><QualityOfService>{}</QualityOfService><Processors>4</Processors>"
    "<Duration>10</Duration>"
)
FORMS = f"<Job><Id>1</Id><Delivered>{NAMED}</Delivered></Job>", f"<Job><Id>1</Id>{NAMED}</Job>"


@pytest.mark.parametrize("is_delivered", [False, True], ids=["file of the job", "file of the run"])
@pytest.mark.parametrize("later", FORMS, ids=["later in Delivered", "later flat"])
@pytest.mark.parametrize("first", FORMS, ids=["first in Delivered", "first flat"])
def test_a_name_that_an_earlier_charge_alone_said_is_corrected_by_a_later_one(
    jobs, first, later, is_delivered
):
    for form, told, count, said in (
        (first, ("ann", "premium"), 80, ""),
        (later, ("bob", "cheap"), 4, "User of job 1 is bob now, not ann; bob is charged"),
    ):
        answer, _ = jobs.answer("Charge", data=[form.format(*told)])
        assert answer.count == count
        assert said in answer.message
        assert "is kept" not in answer.message
    assert "premium" not in jobs.stored("1").document.decode()
    entries = jobs.ask("Query", object="Transaction", gets=["User", "Amount"])
    assert entries == [{"User": "ann", "Amount": "80"}, {"User": "bob", "Amount": "4"}]
    with jobs.service.stores.use() as store:  # who brings it as a file says that it was so
        document = jobs.stored("1").document.replace(b"</Id>", b"</Id><Name>n</Name>")
        names = b"<User>bob</User>", b"<QualityOfService>cheap</QualityOfService>"
        for name in names if is_delivered else ():
            assert document.count(name) == 1
            document = document.replace(name, b"").replace(b"<Delivered>", b"<Delivered>" + name)
        assert store.load(document).changed == 1
    answer, _ = jobs.answer("Charge", data=[first.format("eve", "premium")])
    assert ("User bob is kept, not eve" in answer.message) == is_delivered
    assert ("QualityOfService cheap is kept, not premium" in answer.message) == is_delivered


def test_the_groups_of_a_charge_leave_what_they_do_not_name_as_the_job_has_it(jobs):
    """As its Delivered does: a task group is the one that is called so, or has its place."""
    known = "<TaskGroup>{}<TaskCount>4</TaskCount><Processors>2</Processors></TaskGroup>"
    for id_, name in (("1", "<Name>a</Name>"), ("2", "<Id>7</Id>"), ("3", "")):
        jobs.create(f"<Job><Id>{id_}</Id><User>ann</User>{known.format(name)}</Job>")
        told = f"<TaskGroup>{name}<TaskCount>3</TaskCount><Node>n1</Node></TaskGroup>"
        bare = f"<Job><Id>{id_}</Id><Duration>10</Duration>{told}</Job>"
        for action in ("Charge", "Quote"):
            said = jobs.said(action, data=[bare])
            assert said == "Processors is not told of the whole job, by its own name"
        whole = bare.replace("<Duration>", "<Processors>8</Processors><Duration>")
        for _ in range(2):
            assert " 80 credits" in jobs.said("Charge", data=[whole])
        [group] = jobs.stored(id_).block().task_groups
        kept = {item.name: item.text for item in group.properties if item.name not in name}
        assert kept == {"Processors": "2", "TaskCount": "3", "Node": "n1"}


def test_a_task_group_that_is_not_known_stands_beside_those_that_are(jobs):
    group = "<TaskGroup><Name>{}</Name><TaskCount>{}</TaskCount></TaskGroup>"
    jobs.create(f"<Job><Id>1</Id><User>ann</User>{group.format('a', 4)}</Job>")
    told = "<Duration>10</Duration><Processors>1</Processors>" + group.format("b", 1)
    jobs.answer("Charge", data=[f"<Job><Id>1</Id>{told}</Job>"])
    assert [each.get("Name") for each in jobs.stored("1").block().task_groups] == ["a", "b"]


@pytest.mark.parametrize("name", ["Queue", "QualityOfService", "Machine", "Project", "User"])
def test_a_name_that_a_charge_only_requests_is_not_one_that_it_charges(jobs, name):
    known = f"<{name}>premium</{name}><Processors>4</Processors>"
    jobs.create(f"<Job><Id>1</Id><Delivered>{known}</Delivered></Job>")
    told = f"<Duration>10</Duration><Requested><{name}>other</{name}></Requested>"
    answer, _ = jobs.answer("Charge", data=[f"<Job><Id>1</Id>{told}</Job>"])
    assert (answer.code, "kept" in answer.message) == ("000", False)


@pytest.mark.parametrize("name", ["QualityOfService", "Machine", "Project", "User"])
def test_a_name_by_which_a_job_ran_takes_the_place_of_its_own(jobs, name):
    jobs.create(f"<Job><Id>1</Id><{name}>cheap</{name}></Job>")
    told = f"<Processors>4</Processors><Duration>10</Duration><{name}>premium</{name}>"
    jobs.answer("Charge", data=[f"<Job><Id>1</Id><Delivered>{told}</Delivered></Job>"])
    document = jobs.stored("1").document.decode()
    assert (document.count("premium"), document.count("cheap")) == (1, 0)


@pytest.mark.parametrize("name", ["QualityOfService", "Queue", "Machine", "Project", "User"])
@pytest.mark.parametrize("place", ["{}", "<Requested>{}</Requested>", "<Delivered>{}</Delivered>"])
def test_a_reservation_changes_no_name_of_a_known_job(jobs, place, name):
    known = place.format(f"<{name}>premium</{name}>")
    jobs.create(f"<Job><Id>1</Id>{known}</Job>")
    told = f"<Duration>10</Duration><Processors>4</Processors><{name}>cheap</{name}>"
    answer, _ = jobs.answer("Reserve", data=[f"<Job><Id>1</Id>{told}</Job>"])
    named = f"{name} of job 1 stays premium; what is reserved is for cheap"
    is_payer = name in ("Machine", "Project", "User")
    assert (answer.code, named in answer.message) == ("100" if is_payer else "000", is_payer)
    document = jobs.stored("1").document.decode()
    assert (document.count("premium"), document.count("cheap")) == (1, 0)


def test_a_charge_counts_the_defaults_of_a_group_as_its_quote_does(jobs):
    defaults = "<JobDefaults><User>ann</User><Processors>4</Processors></JobDefaults>"
    group = f"<JobGroup><Id>g</Id>{defaults}<Job><Id>1</Id></Job></JobGroup>"
    jobs.answer("Create", object="JobGroup", data=[group])
    asked = {"data": ["<Job><Id>1</Id><Duration>10</Duration></Job>"]}
    for action in ("Quote", "Charge"):
        answer, _ = jobs.answer(action, **asked)
        assert (answer.code, answer.count) == ("000", 40)
    assert jobs.ask("Query", object="Transaction", gets=["User"]) == [{"User": "ann"}]


def test_a_reservation_changes_no_default_of_a_group(jobs):
    defaults = "<JobDefaults><User>ann</User></JobDefaults>"
    group = f"<JobGroup><Id>g</Id>{defaults}<Job><Id>1</Id></Job></JobGroup>"
    jobs.answer("Create", object="JobGroup", data=[group])
    told = "<User>bob</User><Name>n</Name><Duration>10</Duration>"
    assert jobs.code("Reserve", data=[f"<Job><Id>1</Id>{told}</Job>"]) == "100"
    assert jobs.ids(("User", "EQ", "ann")) == ["1"]
    assert jobs.ids(("Name", "EQ", "n")) == ["1"]


@pytest.mark.parametrize(
    "told", ["{}<Duration>10</Duration>", "<Delivered>{}<Duration>10</Duration></Delivered>"]
)
def test_a_factor_that_a_run_was_delivered_with_is_kept_and_told(jobs, told):
    known = "<Processors>4</Processors><QualityOfService>premium</QualityOfService>"
    jobs.create(f"<Job><Id>1</Id><User>ann</User><Delivered>{known}</Delivered></Job>")
    other = told.format("<QualityOfService>cheap</QualityOfService>")
    asked = {"data": [f"<Job><Id>1</Id>{other}</Job>"]}
    answer, _ = jobs.answer("Charge", **asked)
    assert answer.code == "100"
    assert (
        "QualityOfService premium is kept, not cheap: the run was delivered with it"
        in answer.message
    )
    document = jobs.stored("1").document.decode()
    assert document.count("premium") == 1
    assert "cheap" not in document


def test_a_charge_with_another_category_leaves_what_was_delivered(jobs):
    used = "<Delivered><Duration>10</Duration><Processors>4</Processors></Delivered>"
    jobs.create(f"<Job><Id>1</Id><User>ann</User>{used}</Job>")
    asked = "<Requested><Memory>4</Memory></Requested>"
    told = f"<Job><Id>1</Id><WallDuration>9</WallDuration>{asked}</Job>"
    assert "for 36 credits" in jobs.said("Charge", data=[told])


@pytest.mark.parametrize(
    "told, said",
    [
        ("<Requested><Charge>9</Charge></Requested>", "charged job 1 for 10 credits"),
        ("<Charge>9</Charge>", "charged job 1 for 9 credits"),
        (
            "<Charge>5.5</Charge>",
            "Charge 5.5 has more decimal places than credits have; 6 is charged",
        ),
        ('<Charge units="x">9</Charge>', "Charge has no units"),
        ('<Charge op="GE">9</Charge>', "Charge is one value, without op"),
    ],
)
def test_the_amount_of_a_charge_is_one_that_was_told_as_used(jobs, told, said):
    data = f"<Job><JobId>1</JobId><UserId>ann</UserId><Processors>1</Processors><WallDuration>10</WallDuration>{told}</Job>"
    assert said in jobs.said("Charge", data=[data])


@pytest.mark.parametrize("action", ["Quote", "Reserve", "Charge"])
@pytest.mark.parametrize(
    "told, code",
    [
        ("", "100"),
        ("<Disk>5</Disk>", "100"),  # has no rate
        ('<Resource name="license">2</Resource>', "100"),
        ("<TaskGroupDefaults><Processors>8</Processors></TaskGroupDefaults>", "100"),
        ("<Processors>0</Processors>", "000"),  # has a price, and costs nothing
        ("<Processors>8</Processors>", "000"),
    ],
)
def test_a_job_that_says_nothing_that_has_a_price_is_told_so_by_all_three(jobs, action, told, code):
    data = f"<Job><JobId>1</JobId><UserId>ann</UserId><WallDuration>10</WallDuration>{told}</Job>"
    answer, _ = jobs.answer(action, data=[data])
    assert answer.code == code
    assert answer.message.endswith("The job says nothing that has a price") == (code == "100")


def test_what_a_charge_and_what_the_others_count_may_be_nothing_that_has_a_price(jobs):
    bare = "<Job><JobId>1</JobId><UserId>ann</UserId><WallDuration>10</WallDuration>{}</Job>"
    assert jobs.code("Charge", data=[bare.format("<Charge>3</Charge>")]) == "000"
    only = bare.format("<Requested><Processors>8</Processors></Requested>").replace(">1<", ">2<")
    assert jobs.code("Quote", data=[only]) == jobs.code("Reserve", data=[only]) == "000"
    assert jobs.code("Charge", data=[only.replace(">2<", ">3<")]) == "100"
    jobs.service.settings = ServiceSettings(ROLES)  # without any price nothing is missing
    for action in ("Quote", "Reserve", "Charge"):
        assert jobs.code(action, data=[bare.format("").replace(">1<", ">4<")]) == "000"


def test_transactions_of_a_former_time_are_those_that_were_there(jobs):
    for now in (10.0, 20.0):
        jobs.answer("Charge", data=[gold("1")], now=now)
    asked = {"object": "Transaction", "gets": [("Delta", "Sum")]}
    assert jobs.ask("Query", **asked, options={"Time": "15"}) == [{"Delta": "-18480"}]
    assert jobs.ask("Query", **asked, options={"Time": "20"}) == [{"Delta": "-36960"}]
    for name in ("Reservation", "Quotation"):
        assert jobs.code("Query", object=name, options={"Time": "15"}) == "318"


def test_a_charge_of_nothing_is_none(jobs):
    """As rows of Gold have it for a job that nobody charged."""
    jobs.create("<Job><Id>1</Id><User>ann</User><Charge></Charge></Job>")
    asked = "<Job><JobId>1</JobId><Processors>1</Processors><WallDuration>10</WallDuration><Charge></Charge></Job>"
    for action in ("Reserve", "Charge"):
        assert jobs.answer(action, data=[asked])[0].count == 10


def test_a_site_may_take_every_charge_for_a_new_one(address):
    with job_service(address, accounting=Accounting(RATES, repeated=0)) as jobs:
        for _ in "12":
            jobs.answer("Charge", data=[gold()], mark="a")
        assert charged(jobs) == "36960"


def test_a_duration_counts_in_each_form_that_reports_read(jobs):
    jobs.answer("Charge", data=[gold(seconds="0:00:10")])
    assert charged(jobs) == "160"


def test_an_amount_that_was_worked_out_elsewhere_counts(jobs):
    answer, _ = jobs.answer(
        "Charge", data=[gold(more="<Charge>5</Charge>")], options={"ItemizedCharges": "True"}
    )
    assert answer.count == 5
    assert "5 [externally calculated] = 5" in answer.message


def test_the_items_of_a_charge_and_what_has_no_rate_are_told(jobs):
    said = jobs.said(
        "Charge",
        data=[gold(more="<QualityOfService>odd</QualityOfService>", seconds=10)],
        options={"ItemizedCharges": "True"},
    )
    assert said.split("\n")[1:] == [
        "No charge rate for QualityOfService odd",
        "( ( 16 [Processors] * 1 [ChargeRate{Resource}{Processors}] ) ) * 10 [WallDuration] = 160",
    ]


def test_hours_are_shown_where_they_are_asked_for_and_seconds_are_kept(jobs):
    answer, [row] = jobs.answer("Charge", data=[gold(seconds=7200)], options={"ShowHours": "False"})
    assert (answer.count, row.get("Amount")) == (32, "32")
    assert charged(jobs) == "115200"
    hours = {"ShowHours": "True"}
    back = {"JobId": "PBS.1", "Amount": "18"}  # in credits, as Gold's clients say it
    answer, [row] = jobs.answer("Refund", options=hours | back)
    assert (answer.message, row.get("Refund")) == (
        "Successfully refunded 0.005 credits for job PBS.1",
        "0.005",
    )
    assert charged(jobs) == "115182"


def test_a_quote_that_a_job_has_holds_for_its_charge_whoever_repeats_it(jobs):
    job = "<Job><Id>{}</Id><User>ann</User></Job>"
    jobs.create(job.format("a"), job.format("b"))
    asked = "<Job><JobId>a</JobId><Processors>2</Processors><WallDuration>10</WallDuration></Job>"
    jobs.answer("Quote", data=[asked], options={"Guarantee": "True"})
    dear = Accounting(ChargeRates({"Processors": Fraction(100)}))
    jobs.service.settings = type(jobs.service.settings)(jobs.service.settings.roles, dear)
    again, _ = jobs.answer("Quote", data=[asked])
    assert again.count == 2000  # of today
    for action in ("Reserve", "Charge"):
        assert jobs.answer(action, data=[asked])[0].count == 20
    late, _ = jobs.answer("Charge", data=[asked], now=1000.0 + 8 * 86400)
    assert (late.count, "expired" in late.message) == (2000, True)
    # One of another job is none, which is told; one of another server is no matter of ours.
    other = "Quote 1 was made for another job or User; the rates of today were used"
    for number in ("1", "77"):
        jobs.answer("Modify", sets=[("QuoteId", number)], wheres=[("Id", "EQ", "b")])
        answer, _ = jobs.answer("Charge", data=[asked.replace(">a<", ">b<")])
        assert (answer.count, other in answer.message) == (2000, number == "1")
    answer, _ = jobs.answer("Charge", data=[asked.replace("<Proc", "<UserId>bob</UserId><Proc")])
    assert (answer.count, other in answer.message) == (2000, True)


@pytest.mark.parametrize("first", ["Reserve", "Charge"])
def test_a_quote_that_named_no_job_is_for_the_first_that_has_its_number(jobs, first):
    asked = "<Job>{}<Processors>2</Processors><WallDuration>10</WallDuration></Job>"
    for user in ("", "<User>ann</User>"):
        jobs.answer("Quote", data=[asked.format(user)], options={"Guarantee": "True"})
    dear = Accounting(ChargeRates({"Processors": Fraction(100)}))
    jobs.service.settings = type(jobs.service.settings)(jobs.service.settings.roles, dear)
    jobs.create("<Job><Id>a</Id><User>ann</User></Job>", "<Job><Id>b</Id><User>ann</User></Job>")
    a, b, c = (f"<Id>{id_}</Id>" for id_ in "abc")
    number = "<QuoteId>2</QuoteId>"
    assert jobs.answer(first, data=[asked.format(a + number)])[0].count == 20
    for action in ("Reserve", "Charge", "Charge"):
        assert jobs.answer(action, data=[asked.format(a)])[0].count == 20
    for action in ("Reserve", "Charge"):
        assert jobs.code(action, data=[asked.format(b + number)]) == "740"
    other = "was made for another job or User; the rates of today were used"
    for named in (a + "<QuoteId>1</QuoteId>", c + number, c):
        answer, _ = jobs.answer("Charge", data=[asked.format(named)])
        assert (answer.count, other in answer.message) == (2000, True)
    jobs.answer("Modify", sets=[("QuoteId", "2")], wheres=[("Id", "EQ", "b")])
    answer, _ = jobs.answer("Charge", data=[asked.format(b)])
    assert (answer.count, other in answer.message) == (2000, True)
    [quoted] = jobs.ask("Query", object="Quotation", gets=["Id"], wheres=[("Id", "EQ", "2")])
    assert quoted == {"Id": "2"}
    told = {row["Action"] for row in jobs.ask("Query", object="Transaction", gets=["Action"])}
    assert told == {"Quote", "Reserve", "Charge"}
    with jobs.service.stores.use() as kept:
        jobs.answer("Charge", data=[gold("PBS.9")])  # the last entry of a ledger stays
        assert kept.prune(quotes=10**9, answers=0) >= 3


def test_a_charge_has_no_more_places_than_the_currency_through_whichever_door(jobs):
    jobs.create("<Job><Id>a</Id><User>ann</User><Charge>5</Charge></Job>")
    one = [("Id", "EQ", "a")]
    new = {"data": ["<Job><Id>b</Id><Charge>5.5</Charge></Job>"]}
    group = "<JobGroup><Id>g</Id><Job><Id>c</Id><Charge>0.5</Charge></Job></JobGroup>"
    for action, options in (
        ("Create", new), ("Create", {"data": [group], "object": "JobGroup"}),
        ("Create", {"sets": [("Id", "b"), ("Charge", "5.5")]}),
        ("Modify", {"sets": [("Charge", "0.5")], "wheres": one}),
        ("Modify", {"sets": [("Charge", "0.5", "Inc")], "wheres": one}),
        ("Refund", {"options": {"JobId": "a", "Amount": "0.5"}}),
    ):  # fmt: skip
        assert jobs.code(action, **options) == "317", (action, options)
        assert "has 0 decimal places at most" in jobs.said(action, **options)
    jobs.answer("Modify", sets=[("Charge", "6.0")], wheres=one)
    assert jobs.ask("Query", gets=["Id", "Charge"]) == [{"Id": "a", "Charge": "6.0"}]


def test_what_was_reserved_for_a_job_ends_with_its_delete(jobs):
    """A new job of its Id has no reservation that nobody made for it."""
    jobs.create("<Job><Id>PBS.1</Id><User>ann</User></Job>")
    jobs.answer("Reserve", data=[gold()])
    jobs.answer("Delete", wheres=[("Id", "EQ", "PBS.1")])
    assert jobs.ask("Query", object="Reservation") == []
    jobs.create("<Job><Id>PBS.1</Id><User>bob</User></Job>")
    assert jobs.ask("Query", object="Reservation") == []
    assert jobs.ask("Query", gets=["Id", "Stage"]) == [{"Id": "PBS.1", "Stage": ""}]
    told = jobs.ask("Query", object="Transaction", gets=["Action", "User", "Amount", "Delta"])
    assert [tuple(row.values()) for row in told] == [
        ("Reserve", "ann", "18480", ""), ("Delete", "ann", "", ""),
    ]  # fmt: skip
    jobs.answer("Reserve", data=[gold().replace("ann", "bob")])
    jobs.answer("Delete", wheres=[("Id", "EQ", "PBS.1")])
    jobs.answer("Undelete", wheres=[("Id", "EQ", "PBS.1")])
    assert jobs.ask("Query", gets=["Id", "Stage"]) == [{"Id": "PBS.1", "Stage": ""}]


@pytest.mark.parametrize("asked", [("Quote",), ("Reserve",), ("Quote", "Reserve")], ids=" ".join)
def test_the_stage_follows_the_ledger_when_a_job_is_deleted_and_shown_again(jobs, asked):
    """A guaranteed quote holds on, and is of no new job of its Id; what was reserved ends."""
    jobs.create("<Job><Id>PBS.1</Id><User>ann</User></Job>")
    named = {"wheres": [("Id", "EQ", "PBS.1")]}
    for action in asked:
        jobs.answer(
            action, data=[gold()], options={"Guarantee": "True"} if action == "Quote" else {}
        )
    assert stages(jobs) == {"PBS.1": asked[-1]}
    for action in ("Delete", "Undelete"):
        jobs.answer(action, **named)
    assert stages(jobs) == {"PBS.1": "Quote" if "Quote" in asked else ""}
    jobs.answer("Delete", **named)
    jobs.create("<Job><Id>PBS.1</Id><User>ann</User></Job>")
    assert stages(jobs) == {"PBS.1": ""}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ([], "314"),
        ([gold(), gold("PBS.2")], "314"),
        ([gold(seconds="soon")], "314"),
        ([gold(seconds="-5")], "314"),
        ([gold().replace("<JobId>PBS.1</JobId>", "")], "314"),
        ([gold().replace("16", "many")], "317"),
        ([gold().replace("16", "-16")], "317"),
        ([gold(more="<Id>PBS.9</Id>")], "740"),
        ([gold(more="<QuoteId>99</QuoteId>")], "740"),
        (["<Job><Id>1</Id><Duration>1</Duration><Colour>red</Colour></Job>"], "710"),
    ],
)
def test_a_charge_that_makes_no_sense_is_refused_and_nothing_is_charged(jobs, data, code):
    assert jobs.code("Charge", data=data) == code
    assert jobs.ids() == []


def test_golds_clients_may_say_more_than_is_known(jobs):
    assert jobs.code("Charge", data=[gold(more="<NodeType>fat</NodeType><Id>PBS.1</Id>")]) == "000"


def test_reservations_pile_up_unless_they_are_replaced_and_end_with_the_charge(jobs):
    first, [row] = jobs.answer("Reserve", data=[gold()])
    assert (first.message, first.count, row.object) == (
        "Successfully reserved 18480 credits for job PBS.1",
        18480,
        "Reserve",
    )
    jobs.answer("Reserve", data=[gold()])
    assert jobs.ask("Query", gets=["ReservationId", "Stage"]) == [
        {"ReservationId": "2", "Stage": "Reserve"}
    ]
    replaced, _ = jobs.answer("Reserve", data=[gold()], options={"Replace": "True"})
    assert replaced.message.endswith("\n2 reservations were removed")
    assert jobs.said("Charge", data=[gold()]).endswith("\n1 reservations were removed")
    assert jobs.said("Charge", data=[gold()]) == "Successfully charged job PBS.1 for 18480 credits"


IDLE = "<Job><Id>PBS.1</Id><User>ann</User><State>Idle</State><Requested><Processors op='GE'>2</Processors><Duration>7200</Duration></Requested></Job>"
PLANNED = "<StartTime>9000</StartTime><EndTime>9999</EndTime><CpuDuration>5</CpuDuration>"


def test_a_reservation_says_nothing_of_what_a_known_job_used(jobs):
    jobs.create(IDLE)
    jobs.answer("Reserve", data=[gold(more=PLANNED)])
    assert jobs.stored("PBS.1").document.decode().replace('"', "'") == IDLE.replace(
        "<Requested>", "<Project>proj1</Project><Machine>m1</Machine><Requested>"
    ).replace("</Job>", "<Reservation>1</Reservation></Job>")
    with jobs.service.stores.use() as kept:  # what was reserved stands with the reservation
        assert "16 [Processors]" in kept.ledger.reservations("PBS.1", 1000.0)[0].details


def test_what_is_reserved_for_a_job_that_is_not_known_is_what_it_asks_for(jobs):
    jobs.answer("Reserve", data=[gold(more=PLANNED)])
    assert (
        jobs.stored("PBS.1").document.decode()
        == "<Job><Id>PBS.1</Id><Project>proj1</Project><User>ann</User><Machine>m1</Machine><Requested><Processors>16</Processors><Duration>1155</Duration></Requested><Reservation>1</Reservation></Job>"
    )


def test_a_reservation_with_a_whole_job_object_neither_brings_nor_takes_what_was_used(jobs):
    ran = "<Delivered><Processors>1</Processors><Duration>60</Duration></Delivered>"
    for id_ in ("a", "b"):
        jobs.create(f"<Job><Id>{id_}</Id><User>ann</User>{ran if id_ == 'a' else ''}</Job>")
        step = "<TaskGroup><Id>0</Id><Delivered><Duration>9</Duration></Delivered></TaskGroup>"
        more = "<Requested><Processors>4</Processors></Requested><Delivered><Duration>3600</Duration></Delivered>"
        said = f"<Job><Id>{id_}</Id><User>ann</User><Memory>1</Memory>{more}{step}</Job>"
        jobs.answer("Reserve", data=[said])
        jobs.answer("Reserve", data=[said.replace(f">{id_}<", f">{id_}2<")])
    rest = "<Reservation>{0}</Reservation></Job>"
    assert jobs.stored("a").document.decode() == (
        f"<Job><Id>a</Id><User>ann</User>{ran}{rest.format(1)}"
    )
    assert jobs.stored("b").document.decode() == (
        f"<Job><Id>b</Id><User>ann</User>{rest.format(3)}"
    )
    assert jobs.stored("a2").document.decode() == (
        "<Job><Id>a2</Id><User>ann</User><Requested><Processors>4</Processors></Requested>"
        "<TaskGroup><Id>0</Id></TaskGroup>" + rest.format(2)
    )


def test_a_planned_start_makes_no_other_run_of_a_job(jobs):
    jobs.create("<Job><Id>PBS.1</Id><User>ann</User><StartTime>100</StartTime></Job>")
    jobs.answer("Reserve", data=[gold(more=PLANNED)])
    assert jobs.ask("Query", gets=["StartTime", "EndTime", "Reservation"]) == [
        {"StartTime": "100", "EndTime": "", "Reservation": "1"}
    ]


def test_what_a_charge_makes_known_stands_where_what_was_used_does(jobs):
    jobs.answer("Charge", data=[gold()])
    assert (
        "<Delivered><Processors>16</Processors><Duration>1155</Duration></Delivered>"
        in jobs.stored("PBS.1").document.decode()
    )


@pytest.mark.parametrize(
    ("job", "credits"),
    [
        ("<Requested><Processors>99</Processors></Requested><Delivered><Duration>100</Duration></Delivered>", 0),
        ("<Requested><Processors>99</Processors></Requested><Processors>2</Processors><Duration>100</Duration>", 200),
        ("<Requested><Processors>2</Processors><QualityOfService>premium</QualityOfService></Requested><Delivered><Processors>2</Processors><Duration>1</Duration></Delivered>", 4),
    ],
)  # fmt: skip
def test_a_charge_is_for_what_was_used_and_not_for_what_was_asked_for(jobs, job, credits):
    said = f"<Job><Id>7</Id><User>ann</User>{job}</Job>"
    assert jobs.answer("Charge", data=[said])[0].count == credits
    assert jobs.answer("Quote", data=[said])[0].count != 0


def test_what_was_only_asked_for_cannot_be_charged(jobs):
    said = "<Job><Id>7</Id><Requested><Processors>2</Processors><Duration>60</Duration></Requested></Job>"
    assert jobs.code("Charge", data=[said]) == "314"
    assert jobs.answer("Reserve", data=[said])[0].count == 120
    assert jobs.ids() == ["7"]


# As sssjob stored them until Reserve let go of what a job used (commit 77f3877): Reserve had said
# 4 processors and 3600 s of a job that was known, and of one that was not.
DAMAGED = (
    b'<Job><Id>known</Id><User>ann</User><State>Idle</State><Project>proj1</Project><Machine>m1</Machine><Requested><Processors op="GE">2</Processors><Duration>7200</Duration></Requested><Delivered><Processors>4</Processors><Duration>3600</Duration></Delivered><Reservation>1</Reservation></Job>',
    b'<Job><Id>new</Id><Project>proj1</Project><User>ann</User><Machine>m1</Machine><Processors>4</Processors><Duration>3600</Duration><Reservation>2</Reservation></Job>',
    b'<Job><Id>over</Id><User>ann</User><State>Completed</State><Delivered><Processors>4</Processors><Duration>3600</Duration></Delivered><Reservation>3</Reservation><StartTime>1000</StartTime><EndTime>1060</EndTime></Job>',
)  # fmt: skip
HEALTHY = (
    b"<Job><Id>charged</Id><Processors>4</Processors><Duration>3600</Duration><Reservation>4</Reservation><Delivered><Processors>4</Processors><Duration>60</Duration></Delivered><Charge>240</Charge></Job>",
    b"<Job><Id>waits</Id><Requested><Duration>3600</Duration></Requested><Reservation>5</Reservation></Job>",
    b"<Job><Id>folded</Id><Delivered><Duration>60</Duration></Delivered><Reservation>6</Reservation><StartTime>1000</StartTime><EndTime>1060</EndTime></Job>",
    b"<Job><Id>other</Id><Delivered><Duration>60</Duration></Delivered></Job>",
)


def test_the_query_of_the_page_finds_what_an_older_reserve_has_damaged(jobs):
    page = (Path(__file__).parents[2] / "docs" / "gateway.md").read_text()
    [expression] = set(re.findall(r"//Job\[Reservation and [^\"]*", page))
    with jobs.service.stores.use() as kept:
        with kept.change() as change:
            for document in (*DAMAGED, *HEALTHY):
                change.put(document)
        found = [match.text for match in kept.run(query.compile(expression))]
    assert found == ["known", "new", "over"]


def test_a_stage_is_what_was_done_and_not_what_a_document_says(address):
    with job_service(address) as jobs:  # no rates: whatever is charged costs nothing
        jobs.create("<Job><Id>came</Id><Charge>0</Charge></Job>", "<Job><Id>PBS.1</Id></Job>")
        jobs.answer("Reserve", data=[gold()])
        assert stages(jobs) == {"came": "", "PBS.1": "Reserve"}
        jobs.answer("Charge", data=[gold()])
        jobs.answer("Reserve", data=[gold("came")])
        assert stages(jobs) == {"came": "Reserve", "PBS.1": "Charge"}
        assert jobs.ids(("Stage", "EQ", "Charge")) == ["PBS.1"]
        jobs.answer("Modify", sets=[("Queue", "q")], wheres=[("Stage", "EQ", "Charge")])
        assert jobs.ids(("Queue", "EQ", "q")) == ["PBS.1"]


@pytest.mark.parametrize("form", ["flat", "Delivered", "Requested"])
def test_a_charge_leaves_what_it_does_not_say_as_it_was(jobs, form):
    """The QualityOfService with its factor, and whose the job is."""
    jobs.create(
        "<Job><Id>PBS.1</Id><User>ann</User><Project>p</Project><State>Running</State>"
        "<QualityOfService>premium</QualityOfService><Executable>/bin/a</Executable>"
        "<Extension type='x' name='a'>1</Extension><Requested><Memory>5</Memory></Requested></Job>"
    )
    used = "<Processors>2</Processors><Duration>10</Duration>"
    told = {
        "flat": used,
        "Delivered": f"<Delivered>{used}</Delivered>",
        "Requested": f"<Requested><Memory>9</Memory></Requested><Delivered>{used}</Delivered>",
    }
    said = f"<Job><Id>PBS.1</Id>{told[form]}</Job>"
    assert jobs.answer("Charge", data=[said])[0].count == 40
    kept = jobs.stored("PBS.1").document.decode()
    for name in ("User", "Project", "State", "QualityOfService", "Executable", "Extension"):
        assert kept.count(f"<{name}") == 1, name
    assert kept.count("<Memory>") == 1


@pairwise(
    time=["2023-11-14T22:13:20", "1700000000.5", "soon", "-1"],
    name=["SubmitTime", "StartTime", "EndTime"],
    action=["Charge", "Reserve", "Quote", "Create"],
)
def test_a_time_that_is_none_tells_no_run(jobs, action, name, time):
    told = f"<{name}>{time}</{name}>"
    if action != "Create":
        jobs.create("<Job><Id>PBS.1</Id><SubmitTime>1700000000</SubmitTime></Job>")
        assert jobs.code(action, data=[gold(more=told)]) == "317"
        return
    job, group = f"<Job><Id>PBS.1</Id>{told}</Job>", "<JobGroup><Id>g</Id>{}</JobGroup>"
    assert jobs.code(action, data=[job]) == "317"
    for inside in (job, f"<JobDefaults>{told}</JobDefaults>"):
        assert jobs.code(action, data=[group.format(inside)], object="JobGroup") == "317"
    assert jobs.code(action, sets=[("Id", "PBS.1"), (name, time)]) == "317"
    assert jobs.ids() == []


def test_a_charge_that_was_refunded_was_a_charge(jobs):
    jobs.answer("Charge", data=[gold()])
    jobs.answer("Refund", options={"JobId": "PBS.1"})
    assert stages(jobs) == {"PBS.1": "Charge"}


def stages(jobs):
    return {row["Id"]: row["Stage"] for row in jobs.ask("Query", gets=["Id", "Stage"])}


@pytest.mark.parametrize(
    ("action", "object", "asked"),
    [
        ("Query", "Job JobGroup", {}),
        ("Query", "System Job", {}),
        ("Create", "Job User", {"data": [gold()]}),
        ("Charge", "Job Account", {"data": [gold()]}),
        ("Reserve", "Job Job", {"data": [gold()]}),
        ("Quote", "Job Job", {"data": [gold()]}),
        ("Refund", "Job Job", {"options": {"JobId": "PBS.1"}}),
        ("Modify", "Job Job", {"sets": [("Queue", "q")], "wheres": [("Id", "EQ", "PBS.1")]}),
        ("Delete", "Job Job", {"wheres": [("Id", "EQ", "PBS.1")]}),
    ],
)
def test_one_object_is_asked_at_a_time(jobs, action, object, asked):
    jobs.create("<Job><Id>PBS.1</Id><User>ann</User><Charge>5</Charge></Job>")
    before = jobs.stored("PBS.1")
    assert jobs.code(action, object=object, **asked) == "740"
    assert jobs.said(action, object=object, **asked) == "Only one object can be asked for here"
    assert (jobs.ids(), jobs.stored("PBS.1")) == (["PBS.1"], before)


def test_a_reservation_ends_by_itself(jobs):
    jobs.answer("Reserve", data=[gold(seconds=100)], now=1000.0)
    assert "removed" not in jobs.said("Charge", data=[gold()], now=1701.0)


def test_a_guaranteed_quote_keeps_its_rates_for_a_week(jobs):
    plain, [row] = jobs.answer("Quote", data=[gold().replace("<JobId>PBS.1</JobId>", "")])
    assert (plain.message, row.fields) == (
        "Successfully quoted 18480 credits",
        (("Amount", "18480"),),
    )
    answer, [row] = jobs.answer("Quote", data=[gold()], options={"Guarantee": "True"})
    assert (answer.message, row.get("Id")) == (
        "Successfully quoted 18480 credits with quote id 1",
        "1",
    )
    dear = Accounting(ChargeRates({"Processors": Fraction(10)}))
    jobs.service.settings = type(jobs.service.settings)(jobs.service.settings.roles, dear)
    quoted = gold(more="<QuoteId>1</QuoteId>")
    assert jobs.answer("Charge", data=[quoted])[0].count == 18480
    assert jobs.code("Charge", data=[quoted.replace("PBS.1", "PBS.8")]) == "740"
    # The job keeps its quote; another job has none.
    assert jobs.answer("Charge", data=[gold()])[0].count == 18480
    assert jobs.answer("Charge", data=[gold("PBS.3")])[0].count == 184800
    late, _ = jobs.answer("Charge", data=[quoted], now=1000.0 + 8 * 86400)
    assert (late.count, "expired" in late.message) == (184800, True)
    assert jobs.code("Charge", data=[quoted.replace("ann", "bob")]) == "740"
    with jobs.service.stores.use() as kept:
        jobs.answer("Charge", data=[gold("PBS.2")])  # the last entry of a ledger stays
        assert kept.prune(quotes=10**9, answers=0) == 1
    pruned, _ = jobs.answer("Charge", data=[quoted], now=1000.0 + 200 * 86400)
    assert (pruned.count, "expired" in pruned.message) == (184800, True)
    for number in ("2", "0", "x"):  # nobody was quoted that
        assert jobs.code("Charge", data=[quoted.replace(">1<", f">{number}<")]) == "740"


def test_who_asks_for_a_price_changes_nothing_else_of_the_job(jobs):
    used = "<Job><Id>1</Id><User>{}</User><Delivered><Processors>9</Processors><Duration>9</Duration></Delivered></Job>"
    jobs.create(used.format("ann"), used.format("bob").replace(">1<", ">2<"))
    less = used.format("ann").replace("9", "1")
    for id_ in "123":
        said = less.replace(">1</Id>", f">{id_}</Id>")
        assert jobs.code("Quote", actor="ann", data=[said], options={"Guarantee": "True"}) == "000"
    assert jobs.stored("1").document.decode() == used.format("ann").replace(
        "</Job>", "<Quote>1</Quote></Job>"
    )
    assert jobs.stored("2").version == 1
    assert jobs.stored("3") is None
    assert jobs.code("Quote", actor="ann", data=[less.replace("ann", "bob")]) == "444"


def test_a_refund_gives_back_no_more_than_was_charged(jobs):
    jobs.answer("Charge", data=[gold()])
    answer, [row] = jobs.answer("Refund", options={"JobId": "PBS.1", "Amount": "480"})
    assert (answer.message, answer.count) == (
        "Successfully refunded 480 credits for job PBS.1",
        480,
    )
    assert row.fields == (("JobId", "PBS.1"), ("Refund", "480"))
    assert charged(jobs) == "18000"
    assert jobs.code("Refund", options={"JobId": "PBS.1", "Amount": "18001"}) == "740"
    assert jobs.code("Refund", options={"JobId": "PBS.1", "Amount": "-1"}) == "317"
    assert jobs.code("Refund", options={"JobId": "PBS.9"}) == "740"
    assert jobs.code("Refund") == "314"
    assert jobs.answer("Refund", options={"JobId": "PBS.1"})[0].count == 18000
    assert charged(jobs) == "0"


def test_a_job_inside_a_group_is_charged_there(jobs):
    jobs.answer(
        "Create",
        object="JobGroup",
        data=[
            "<JobGroup><Id>g</Id><Job><Id>a</Id><User>ann</User></Job><Job><Id>b</Id></Job></JobGroup>"
        ],
    )
    jobs.answer("Charge", data=[gold("a")])
    assert charged(jobs, "a") == "18480"
    assert "<Charge>18480</Charge>" in jobs.stored("g").document.decode()
    assert len(jobs.ids()) == 2


def test_another_run_of_an_id_is_charged_by_itself(jobs):
    for start in ("100", "9000"):
        jobs.answer("Charge", data=[gold(more=f"<StartTime>{start}</StartTime>")])
    rows = jobs.ask("Query", gets=["Charge", "StartTime"])
    assert rows == [
        {"Charge": "18480", "StartTime": "100"},
        {"Charge": "18480", "StartTime": "9000"},
    ]


RECORD = (
    "<Job><Id>PBS.1</Id><State>Completed</State><StartTime>100</StartTime><EndTime>200</EndTime>"
    '<Extension type="Slurm" name="State">REQUEUED</Extension>'
    '<Extension type="Slurm" name="Comment">c</Extension>'
    "<Delivered><Project>p</Project><User>ann</User><Queue>q</Queue></Delivered></Job>"
)


@pytest.mark.parametrize("first", ["", "<Job><Id>PBS.1</Id><State>Idle</State></Job>"])
@pytest.mark.parametrize("action", ["Charge", "Reserve"])
def test_a_further_run_is_of_whom_the_record_of_another_run_tells(jobs, action, first):
    for document in filter(None, (first, RECORD)):
        with jobs.service.stores.use() as kept:
            kept.load(document.encode())
    told = "<StartTime>300</StartTime><EndTime>310</EndTime>" if action == "Charge" else ""
    amounts = "<Processors>4</Processors><Duration>10</Duration>"
    assert jobs.code(action, data=[f"<Job><Id>PBS.1</Id>{told}{amounts}</Job>"]) == "000"
    kind = "Transaction" if action == "Charge" else "Reservation"
    names = ["User", "Project"]
    assert jobs.ask("Query", object=kind, gets=names) == [{"User": "ann", "Project": "p"}]
    with jobs.service.stores.use() as kept:
        further = [each.block() for each in kept.named("PBS.1")][-1]
    if action == "Charge":
        assert (further.get("User"), further.get("Project")) == ("ann", "p")
        extensions = [item.text for item in further.properties.all("Extension")]
        assert extensions == ([] if first else ["c"])


def test_what_a_charge_alone_delivered_is_of_no_further_run(jobs):
    charge = "<Job><Id>1</Id><StartTime>{}</StartTime><Delivered><Duration>10</Duration>{}</Delivered></Job>"
    for start, user in (("100", "<User>ann</User>"), ("900", "")):
        jobs.answer("Charge", data=[charge.format(start, user)])
    rows = jobs.ask("Query", object="Transaction", gets=["User"])
    assert sorted(row["User"] for row in rows) == ["", "ann"]


@given(
    st.fractions(0, 1000, max_denominator=100), st.integers(0, 10**6),
    st.sampled_from(["premium", "cheap", ""]), st.integers(0, 3),
)  # fmt: skip
def test_a_bill_is_the_formula_to_the_last_credit(amount, seconds, quality, precision):
    rates = ChargeRates(RATES.resources, RATES.multipliers, precision)
    bill = rates.bill(seconds, {"Processors": amount}.get, lambda name: quality)
    exact = amount * seconds * RATES.multipliers["QualityOfService"].get(quality, 1)
    assert abs(bill.amount - exact) <= Fraction(1, 2 * 10**precision)
    assert ChargeRates.from_rows(rates.as_rows(), precision) == rates


# --- hooks of a scheduler -------------------------------------------------------------------------


@pytest.fixture
def hooked(address, tmp_path):
    said = tmp_path / "said"
    write = "import sys; open(sys.argv[1], 'a').write(repr(sys.argv[2:]) + chr(10)); sys.exit(sys.argv[2] == '2')"
    hooks = {
        "Cancel": Hook((sys.executable, "-c", write, str(said), "{Id}", "by={actor}"), 20.0, {"State": "Completed"}),
        "Hold": Hook((sys.executable, "-c", "import time; time.sleep(60)"), 0.2, {"Hold": "User"}),
    }  # fmt: skip
    with job_service(address, hooks=hooks) as made:
        made.create(
            "<Job><Id>1</Id><User>ann</User><State>Idle</State></Job>",
            "<Job><Id>2</Id><User>ann</User><State>Idle</State></Job>",
            "<Job><Id>3</Id><User>bob</User></Job>",
            "<Job><Id>--all</Id><User>eve</User></Job>",
            "<Job><Id>$(touch x);`id`</Id><User>eve</User></Job>",
        )
        yield made, said


def test_a_scheduler_is_asked_by_its_command_and_what_it_did_is_recorded(hooked):
    jobs, said = hooked
    answer, rows = jobs.answer("Cancel", actor="ann", wheres=[("User", "EQ", "ann")])
    assert (answer.code, len(rows)) == ("100", 1)
    assert "2: the command ended with 1" in answer.message
    assert said.read_text() == "['1', 'by=ann']\n['2', 'by=ann']\n"
    assert jobs.ask("Query", gets=["Id", "State"], wheres=[("User", "EQ", "ann")]) == [
        {"Id": "1", "State": "Completed"}, {"Id": "2", "State": "Idle"},
    ]  # fmt: skip


def test_a_command_has_its_time_and_no_more(hooked):
    jobs, _ = hooked
    assert jobs.code("Hold", wheres=[("Id", "EQ", "1")]) == "700"
    assert "longer than 0.2 seconds" in jobs.said("Hold", wheres=[("Id", "EQ", "1")])
    assert jobs.ask("Query", gets=["Hold"], wheres=[("Id", "EQ", "1")]) == [{"Hold": ""}]


def test_users_cancel_their_own_jobs_only_and_never_all_by_mistake(hooked):
    jobs, said = hooked
    answer, _ = jobs.answer("Cancel", actor="ann", wheres=[("Id", "EQ", "3")])
    assert answer.message == "Cancel: done for 0 of 0 jobs"
    assert jobs.code("Cancel", actor="ann") == "314"
    assert not said.exists()


@pytest.mark.parametrize("id_", ["--all", "$(touch x);`id`"])
def test_an_id_that_a_program_could_misread_is_given_to_none(hooked, id_):
    jobs, said = hooked
    assert jobs.code("Cancel", wheres=[("Id", "EQ", id_)]) == "740"
    assert not said.exists()


def test_without_a_hook_there_is_no_such_action(jobs):
    assert jobs.code("Cancel", wheres=[("Id", "EQ", "1")]) == "315"


def test_a_command_that_is_not_there_is_told(address):
    with job_service(address, hooks={"Cancel": Hook((f"{os.sep}no{os.sep}such", "{Id}"))}) as jobs:
        jobs.create("<Job><Id>1</Id></Job>")
        assert "cannot be started" in jobs.said("Cancel", wheres=[("Id", "EQ", "1")])


@pytest.mark.parametrize("action", ["Create", "Charge", "Reserve", "Quote"])
def test_two_values_by_an_old_and_a_new_name_are_refused(jobs, action):
    for told in (
        "<UserId>mia</UserId><User>ann</User>",
        "<MachineName>a</MachineName><Machine>b</Machine>",
        "<User>ann</User><UserId>mia</UserId>",
    ):
        sent = f"<Job><JobId>1</JobId>{told}<WallDuration>60</WallDuration></Job>"
        assert jobs.code(action, data=[sent.encode()]) == "740"
        assert "two different values" in jobs.said(action, data=[sent.encode()])
    same = "<Job><JobId>1</JobId><UserId>mia</UserId><User> mia </User><WallDuration>60</WallDuration></Job>"
    assert jobs.code(action, data=[same.encode()]) in ("000", "100")


@pytest.mark.parametrize("action", ["Charge", "Reserve", "Quote"])
@pytest.mark.parametrize(
    "told",
    [
        "<Processors>2</Processors><WallDuration units='hours'>5</WallDuration>",
        "<Processors units='GB'>2</Processors><WallDuration>5</WallDuration>",
        "<Processors op='GE'>2</Processors><WallDuration>5</WallDuration>",
        "<Processors conj='OR'>2</Processors><WallDuration>5</WallDuration>",
        "<Memory units='bananas'>100</Memory><WallDuration>5</WallDuration>",
        "<Disk units='bananas'>100</Disk><WallDuration>5</WallDuration>",  # it has no rate
    ],
)
def test_an_amount_that_says_another_number_than_it_seems_to_is_refused(jobs, action, told):
    data = [f"<Job><JobId>u</JobId>{told}</Job>"]
    assert jobs.code(action, data=data) == "317"
    assert jobs.stored("u") is None


def test_memory_is_charged_in_its_units(jobs):
    for id_, told in ("k", "<Memory units='KB'>2048000</Memory>"), ("m", "<Memory>2000</Memory>"):
        job = f"<Job><JobId>{id_}</JobId>{told}<WallDuration>5</WallDuration></Job>"
        assert jobs.answer("Charge", data=[job])[0].count == 10


@pytest.mark.parametrize(
    ("amounts", "credits"),
    [
        ('<Processors duration="5">4</Processors>', 20),
        ('<Processors duration="0:00:50">4</Processors>', 200),
        (
            '<Processors group="1">4</Processors><Processors group="2" duration="5">1</Processors>',
            405,
        ),
        ('<Processors consumptionRate="0.5">4</Processors>', 400),  # it had four, as reports count
        ('<Processors duration="5">4</Processors><Processors context="Used">2</Processors>', 20),
        ('<Memory units="GB" duration="50">1</Memory>', 51),  # 1024 MB for half of the time
    ],
)
def test_what_a_job_had_for_a_part_of_its_time_is_charged_for_that_as_reports_count_it(
    jobs, amounts, credits
):
    """Whatever says it: the Charge, or what is known of the run."""
    used = f"<Delivered><Duration>100</Duration>{amounts}</Delivered>"
    known = f"<Job><Id>known</Id><State>Completed</State>{used}</Job>"
    had = JobProperties(loads(known))
    memory = Fraction(had.given("Memory") or 0) / units.UNITS["MB"]
    assert credits == (had.given("Processors") or 0) * 100 + memory // 10
    own = f"<Job><Id>own</Id><State>Completed</State><Duration>100</Duration>{amounts}</Job>"
    jobs.create(known)
    bare = "<Job><Id>{}</Id><WallDuration>100</WallDuration></Job>"
    told = [f"<Job><Id>told</Id>{used}</Job>", bare.format("known")]
    if "group" not in amounts:  # which only what was delivered is in
        assert JobProperties(loads(own)).given("Processors") == had.given("Processors")
        jobs.create(own)
        told.append(bare.format("own"))
    for each in told:
        assert f"for {credits} credits" in jobs.said("Charge", data=[each])


FOR_FIVE = '<Processors duration="5">4</Processors>'


@pytest.mark.parametrize(
    ("before", "told", "credits"),
    [
        (FOR_FIVE, "<Processors>4</Processors>", 160),
        ("<Processors>4</Processors>", FOR_FIVE, 20),
        (FOR_FIVE, FOR_FIVE, 20),
        (FOR_FIVE, "", 20),
    ],
)
def test_a_charge_takes_no_duration_of_an_amount_from_the_one_before(jobs, before, told, credits):
    for seconds, amount in (100, before), (40, told):
        job = f"<Job><Id>1</Id><Duration>{seconds}</Duration>{amount}</Job>"
        said = jobs.said("Charge", data=[job])
    assert f"for {credits} credits" in said


@pytest.mark.parametrize("order", [1, -1])
def test_a_run_that_ended_before_another_one_was_submitted_is_charged_in_any_order(jobs, order):
    told = [
        "<Processors>8</Processors><WallDuration>3</WallDuration><EndTime>1005</EndTime>",
        "<Processors>2</Processors><WallDuration>5</WallDuration><SubmitTime>1016</SubmitTime>",
    ]
    for each in told[::order]:
        assert jobs.code("Charge", data=[f"<Job><Id>12</Id>{each}</Job>"]) in ("000", "100")
    assert sorted(int(credits) for *_, credits in ledger(jobs)) == [-24, -10]


@pytest.mark.parametrize("first", ["", ' duration="5"'])
def test_two_numbers_of_one_amount_are_refused_whatever_their_durations(jobs, first):
    amounts = f'<Processors{first}>4</Processors><Processors duration="100">8</Processors>'
    for told in (f"<Duration>100</Duration>{amounts}", f"<Delivered>{amounts}</Delivered>"):
        assert jobs.code("Charge", data=[f"<Job><Id>1</Id>{told}</Job>"]) == "740"


@pytest.mark.parametrize("told", ["-10", "10.5", "9" * 19])
def test_a_duration_that_is_none_is_shown(jobs, told):
    assert jobs.said("Charge", data=[gold(seconds=told)]).endswith(f"(WallDuration), found {told}")


def test_the_duration_of_an_amount_is_one(jobs):
    told = '<Job><Id>1</Id><Processors duration="soon">4</Processors><WallDuration>5</WallDuration></Job>'
    assert jobs.code("Charge", data=[told]) == "317"
    assert "duration of Processors" in jobs.said("Charge", data=[told])


def ledger(jobs):
    gets = ["Action", "User", "Delta"]
    return [tuple(row.values()) for row in jobs.ask("Query", object="Transaction", gets=gets)]


def test_a_job_made_anew_over_a_deleted_one_gives_nothing_back(jobs):
    jobs.answer("Charge", data=[gold(seconds=60)])
    where = [("Id", "EQ", "PBS.1")]
    jobs.answer("Delete", wheres=where)
    before = ledger(jobs)
    for charge in "", "<Charge>959</Charge>":
        again = f"<Job><Id>PBS.1</Id><User>bob</User>{charge}</Job>"
        assert jobs.code("Create", data=[again]) == "740"
        assert "Undelete it" in jobs.said("Create", data=[again])
    assert ledger(jobs) == before
    assert len(before) == 1
    jobs.answer("Undelete", wheres=where)
    assert charged(jobs) == "960"


@pytest.mark.parametrize("asked", [("0",), ("NULL",), ("1", "Dec"), ("959",)])
def test_who_may_not_refund_cannot_lower_a_charge(jobs, asked):
    jobs.answer("Charge", data=[gold(seconds=60)])
    where, before = [("Id", "EQ", "PBS.1")], ledger(jobs)
    asks = {"sets": [("Charge", *asked)], "wheres": where}
    assert jobs.code("Modify", actor="maui", **asks) == "444"
    assert ledger(jobs) == before
    assert charged(jobs) == "960"
    assert jobs.code("Modify", actor="maui", sets=[("Charge", "961")], wheres=where) == "000"
    assert jobs.code("Modify", actor="root", **asks) == "000"


@pytest.mark.parametrize("text", ["5 credits", "NaN", "1,5", "-1", "1e400", "1000000000000000"])
def test_a_charge_that_is_no_number_is_refused_by_a_create(jobs, text):
    assert jobs.code("Create", data=[f"<Job><Id>c</Id><Charge>{text}</Charge></Job>"]) == "317"
    assert jobs.stored("c") is None


def test_a_refund_gives_back_what_was_asked_for_or_nothing(jobs):
    jobs.create("<Job><Id>n</Id><User>ann</User></Job>")
    assert jobs.code("Refund", options={"JobId": "n"}) == "740"
    assert b"Charge" not in jobs.stored("n").document
    jobs.answer("Charge", data=[gold(seconds=60)])
    before = ledger(jobs)
    for amount in "0.4", "0.5", "1.000001":
        options = {"JobId": "PBS.1", "Amount": amount}
        assert jobs.code("Refund", options=options) == "317"
    assert ledger(jobs) == before
    assert jobs.code("Refund", options={"JobId": "PBS.1", "Amount": "1.0"}) == "000"


@pytest.mark.parametrize("action", ["Charge", "Reserve", "Quote"])
@pytest.mark.parametrize(
    ("told", "options", "code"),
    [
        ("<StartTime>now</StartTime>", {}, "317"),
        ("<EndTime>soon</EndTime>", {}, "317"),
        ("", {"StartTime": "now"}, "317"),
        ("", {"EndTime": "-"}, "317"),
        ("", {"WallDuration": "5.5"}, "317"),
        ("", {"WallDuration": "61"}, "740"),
        ("", {"WallDuration": "0:01:00", "StartTime": "100", "EndTime": "160"}, "000"),
        ("<StartTime>100</StartTime>", {"StartTime": "1970-01-01T00:01:40Z"}, "000"),
        ("<StartTime>100</StartTime>", {"StartTime": "101"}, "740"),
        ("<EndTime>100</EndTime>", {"StartTime": "100"}, "000"),
    ],
)  # fmt: skip
def test_times_of_what_is_priced_are_times_and_agree_with_the_options(
    jobs, action, told, options, code
):
    data = [
        f"<Job><JobId>t</JobId><Processors>1</Processors>{told}<WallDuration>60</WallDuration></Job>"
    ]
    assert jobs.code(action, data=data, options=options) == code


def test_what_is_asked_for_does_not_end_before_it_starts_and_a_charge_is_about_its_duration(jobs):
    times = "<StartTime>1970-01-01T00:01:40Z</StartTime><EndTime>99</EndTime>"
    data = [
        f"<Job><JobId>t</JobId><Processors>1</Processors>{times}<WallDuration>60</WallDuration></Job>"
    ]
    for action in ("Reserve", "Quote"):
        assert jobs.code(action, data=data) == "317"
        assert jobs.said(action, data=data) == ("EndTime 99 is before StartTime 100")
    assert jobs.stored("t") is None
    assert jobs.code("Charge", data=data) == "000"


def test_an_option_says_what_a_job_used_and_not_what_it_asked_for(jobs):
    asked = "<Requested><Duration>3600</Duration></Requested><Processors>2</Processors>"
    data = [f"<Job><Id>t</Id>{asked}</Job>"]
    options = {"WallDuration": "60", "StartTime": "100"}
    jobs.answer("Charge", data=data, options=options)
    stored = jobs.stored("t").document.decode()
    assert "<Requested><Duration>3600</Duration></Requested>" in stored
    assert "<Duration>60</Duration>" in stored.partition("<Delivered>")[2]
    assert "<StartTime>100</StartTime>" in stored


BARE = "<Job><JobId>1</JobId><Processors>2</Processors><WallDuration>10</WallDuration></Job>"


def owners(jobs, object="Transaction", **options):
    gets = ["User", "Project", "Machine"]
    return [tuple(row.values()) for row in jobs.ask("Query", object=object, gets=gets, **options)]


def test_entries_are_about_whose_the_job_is_also_where_a_request_does_not_say_it(jobs):
    whose = "<User>ann</User><Project>p</Project><Machine>m</Machine>"
    jobs.create(f"<Job><Id>1</Id>{whose}</Job>")
    group = (
        f"<JobGroup><Id>g</Id><JobDefaults>{whose}</JobDefaults><Job><Id>2</Id></Job></JobGroup>"
    )
    jobs.answer("Create", object="JobGroup", data=[group])
    for name in "12":
        data = [BARE.replace("<JobId>1", f"<JobId>{name}")]
        jobs.answer("Quote", data=data, options={"Guarantee": "True"})
        jobs.answer("Reserve", data=data)
        for seen in ({}, {"actor": "ann"}):
            assert owners(jobs, "Reservation", **seen) == [("ann", "p", "m")]
        number = jobs.ask("Query", object="Quotation", gets=["Id"])[-1]["Id"]
        quoted = data[0].replace("</Job>", f"<QuoteId>{number}</QuoteId></Job>")
        jobs.answer("Charge", data=[quoted])
        jobs.answer("Refund", options={"JobId": name, "Amount": "1"})
    assert owners(jobs, actor="ann") == owners(jobs) == [("ann", "p", "m")] * 8
    gets = [("User", "GroupBy"), ("Charge", "Sum")]
    assert jobs.ask("Query", gets=gets) == [{"User": "ann", "Charge": "38"}]


@pytest.mark.parametrize(
    ("known", "sent", "cost"),
    [
        ("<Delivered><Processors>8</Processors><Duration>9</Duration></Delivered>", "", 40),
        ("<Processors>8</Processors>", "", 40),
        ("<Requested><Processors>8</Processors></Requested>", "", 0),  # it is not what was used
        ("<Processors>8</Processors>", "<Processors>2</Processors>", 10),
        ("<QualityOfService>premium</QualityOfService>", "<Processors>2</Processors>", 20),
        ("<QualityOfService>premium</QualityOfService>", "<Processors>2</Processors><QualityOfService>cheap</QualityOfService>", 1),
    ],
)  # fmt: skip
def test_a_charge_costs_what_the_job_says_that_it_used_afterwards(jobs, known, sent, cost):
    jobs.create(f"<Job><Id>1</Id>{known}</Job>")
    data = [f"<Job><JobId>1</JobId>{sent}<WallDuration>5</WallDuration></Job>"]
    assert jobs.answer("Charge", data=data)[0].count == cost


def test_a_reservation_costs_what_the_job_is_known_to_ask_for(jobs):
    jobs.create("<Job><Id>1</Id><Requested><Processors>8</Processors></Requested></Job>")
    data = ["<Job><JobId>1</JobId><WallDuration>5</WallDuration></Job>"]
    assert jobs.answer("Reserve", data=data)[0].count == 40
    assert jobs.answer("Quote", data=data)[0].count == 40


@pytest.mark.parametrize("action", ["Charge", "Reserve", "Quote"])
@pytest.mark.parametrize(
    ("told", "code"),
    [
        ("<TaskGroup><TaskCount>3</TaskCount><Delivered><Processors>4</Processors></Delivered></TaskGroup>", "740"),
        ("<TaskGroup><Task><Delivered><Processors>4</Processors></Delivered></Task></TaskGroup>", "740"),
        ("<Resource name='Processors'>4</Resource>", "740"),
        ("<Processors/>", "317"),
        ("<Processors>99999999999999999999999</Processors>", "317"),
    ],
)  # fmt: skip
def test_what_no_charge_can_be_computed_of_is_refused(jobs, action, told, code):
    own, _, parts = told.partition("<TaskGroup>")
    delivered = f"{own}<Duration>10</Duration>"
    parts = f"<TaskGroup>{parts}" if parts else ""
    data = [f"<Job><Id>w</Id><Delivered>{delivered}</Delivered>{parts}</Job>"]
    assert jobs.code(action, data=data) == code
    assert jobs.stored("w") is None


def test_charges_add_up_to_no_more_than_a_charge_may_be(jobs):
    told = "<Processors>9</Processors><WallDuration>99999999999999</WallDuration>"
    data = [f"<Job><JobId>w</JobId>{told}</Job>"]
    assert [jobs.code("Charge", data=data, id=str(number)) for number in (1, 2)] == ["000", "317"]


@pytest.mark.parametrize(
    ("start", "end", "shown", "until"),
    [
        ("", "", 1010, 1670), ("900", "", 1010, 1670), ("5000", "", 5000, 5660),
        ("5000", "9000", 5000, 9600), ("", "1020", 1010, 1670),
    ],
)  # fmt: skip
def test_a_reservation_holds_until_a_job_that_starts_later_can_have_ended(
    jobs, start, end, shown, until
):
    told = f"<StartTime>{start}</StartTime>" if start else ""
    told += f"<EndTime>{end}</EndTime>" if end else ""
    data = [f"<Job><JobId>1</JobId>{told}<WallDuration>60</WallDuration></Job>"]
    jobs.answer("Reserve", data=data, now=1010.0)
    [row] = jobs.ask("Query", object="Reservation", gets=["StartTime", "EndTime"], now=1010.0)
    assert row == {"StartTime": str(shown), "EndTime": str(until)}


def test_a_quote_for_a_job_that_starts_later_holds_from_then_on(jobs):
    times = {"Guarantee": "True", "StartTime": "2000000000"}
    jobs.answer("Quote", data=[gold().replace("<JobId>PBS.1</JobId>", "")], options=times)
    [row] = jobs.ask("Query", object="Quotation", gets=["StartTime", "EndTime"])
    assert row == {"StartTime": "2000000000", "EndTime": str(2000000000 + 7 * 86400)}


@pytest.mark.parametrize(
    "said",
    ["<Charge>9</Charge>", "<Delivered><Charge>9</Charge></Delivered>",
     "<Charge>9</Charge><Charge>4</Charge>",
     "<Charge>9</Charge><Requested><Charge>50</Charge></Requested>"],
)  # fmt: skip
def test_a_charge_adds_to_what_a_job_came_with_wherever_it_says_so(jobs, said):
    job = f"<Job><Id>PBS.1</Id><User>ann</User>{said}</Job>"
    with jobs.service.stores.use() as kept:
        kept.load(job.encode())
    jobs.answer("Charge", data=[gold(seconds=10)])
    assert charged(jobs) == "169"
    jobs.answer("Refund", options={"JobId": "PBS.1", "Amount": "5"})
    assert charged(jobs) == "164"
    told = jobs.ask("Query", object="Transaction", gets=["Action", "Amount", "User"])
    assert [tuple(row.values()) for row in told] == [
        ("Charge", "9", "ann"), ("Charge", "160", "ann"), ("Refund", "5", "ann"),
    ]  # fmt: skip
    with jobs.service.stores.use() as kept:
        assert list(kept.check()) == []
