"""Transaction, Reservation and Quotation show the ledger, and to nobody what is not his."""

from fractions import Fraction

import pytest
from job_service import job_service

from sssjob.handlers.charging import Accounting
from sssjob.handlers.rates import ChargeRates
from sssjob.rmap.message import Get, Where

JOB = (
    "<Job><JobId>{0}</JobId><UserId>{1}</UserId><ProjectId>p</ProjectId>"
    "<Processors>4</Processors><WallDuration>10</WallDuration></Job>"
)
BOTH = "Reservation ReservationAllocation"


@pytest.fixture
def jobs(address):
    rates = Accounting(ChargeRates({"Processors": Fraction(1)}))
    with job_service(address, accounting=rates) as made:
        for id_, user in (("a", "ann"), ("b", "bob")):
            data = [JOB.format(id_, user)]
            made.answer("Quote", data=data, options={"Guarantee": "True"}, actor="maui")
            made.answer("Reserve", data=data, actor="maui")
            made.answer("Reserve", data=data, actor="maui", now=2000.0)
        made.answer("Charge", data=[JOB.format("b", "bob")], actor="maui")
        made.answer("Refund", options={"JobId": "b", "Amount": "15"})
        yield made


def test_every_quote_reservation_charge_and_refund_is_a_transaction(jobs):
    gets = ["Action", "Actor", "Name", "JobId", "User", "Project", "Amount", "Delta"]
    said = jobs.ask("Query", object="Transaction", gets=gets)
    assert [tuple(row.values()) for row in said] == [
        ("Quote", "maui", "a", "a", "ann", "p", "40", ""),
        ("Reserve", "maui", "a", "a", "ann", "p", "40", ""),
        ("Reserve", "maui", "a", "a", "ann", "p", "40", ""),
        ("Quote", "maui", "b", "b", "bob", "p", "40", ""),
        ("Reserve", "maui", "b", "b", "bob", "p", "40", ""),
        ("Reserve", "maui", "b", "b", "bob", "p", "40", ""),
        ("Charge", "maui", "b", "b", "bob", "p", "40", "-40"),
        ("Refund", "root", "b", "b", "bob", "p", "15", "15"),
    ]
    whole, *_ = jobs.ask("Query", object="Transaction")
    assert list(whole) == [
        "Id", "Object", "Action", "Actor", "Name", "Child", "Count", "Project", "User", "Machine",
        "JobId", "Amount", "Delta", "Account", "Allocation", "Description",
    ]  # fmt: skip
    hidden, *_ = jobs.ask("Query", object="Transaction", options={"ShowHidden": "True"})
    assert hidden["Details"].endswith("= 40")


def test_reservations_that_hold_are_shown_and_those_that_ended_where_they_are_asked_for(jobs):
    gets = ["Id", "Name", "StartTime", "EndTime"]
    said = jobs.ask("Query", object="Reservation", gets=gets)
    assert [tuple(row.values()) for row in said] == [
        ("1", "a", "1000", "1610"), ("2", "a", "2000", "2610"),
    ]  # fmt: skip
    ended = jobs.ask("Query", object="Reservation", gets=["Id"], wheres=[("Deleted", "EQ", "True")])
    assert ended == [{"Id": "3"}, {"Id": "4"}]
    # By time, as glsres tells those that hold from those that do not.
    late = jobs.ask("Query", object="Reservation", gets=["Id"], wheres=[("EndTime", "GT", "2000")])
    assert late == [{"Id": "2"}]


def test_a_reservation_is_joined_with_what_it_is_for(jobs):
    gets = [
        Get("Id", "GroupBy", "Reservation"), Get("Name", "GroupBy", "Reservation"),
        Get("Amount", "Sum", "ReservationAllocation"),
    ]  # fmt: skip
    join = Where("Id", "Reservation", object="Reservation", subject="ReservationAllocation")
    _, rows = jobs.answer("Query", object=BOTH, gets=gets, wheres=[join])
    assert {row.object for row in rows} == {"Reservation_ReservationAllocation"}
    assert [dict(row.fields) for row in rows] == [
        {"Id": "1", "Name": "a", "Amount": "40"}, {"Id": "2", "Name": "a", "Amount": "40"},
    ]  # fmt: skip
    other = Where("Name", "Id", object="Reservation", subject="ReservationAllocation")
    assert jobs.code("Query", object=BOTH, wheres=[other]) == "318"
    assert jobs.code("Query", object="Job Reservation") == "740"
    assert jobs.code("Query", object="Reservation Reservation") == "740"


def test_a_quotation_shows_what_was_promised_and_until_when(jobs):
    jobs.answer("Quote", data=[JOB.format("a", "ann")])  # promises nothing
    first, second = jobs.ask("Query", object="Quotation")
    assert first == {
        "Id": "1", "Amount": "40", "StartTime": "1000", "EndTime": str(1000 + 7 * 86400),
        "WallDuration": "10", "Job": "a", "User": "ann", "Project": "p", "Machine": "", "Uses": "",
        "Description": "Quote Job",
    }  # fmt: skip
    assert second["User"] == "bob"
    jobs.answer("Quote", data=[JOB.format("a", "ann")], options={"Guarantee": "True"})
    again = jobs.ask("Query", object="Quotation", wheres=[("Job", "EQ", "a")], gets=["Id"])
    assert again == [{"Id": "1"}, {"Id": "3"}]


# What Gold has for each of its objects, hidden ones last, without those of metadata.
GOLDS = {
    "Transaction": "Id Object Action Actor Name Child Count Details Project User Machine JobId "
    "Amount Delta Account Allocation Description",
    "Reservation": "Id Name Job User Project Machine StartTime EndTime Description",
    "ReservationAllocation": "Reservation Id Account Amount",
    "Quotation": "Id Amount StartTime EndTime WallDuration Job User Project Machine Uses "
    "Description",
}
META = "CreationTime ModificationTime Deleted RequestId TransactionId"


@pytest.mark.parametrize("kind", GOLDS)
def test_whatever_a_program_of_gold_asks_for_by_name_is_there(jobs, kind):
    names = f"{GOLDS[kind]} {META}".split()
    for row in jobs.ask("Query", object=kind, gets=names):
        assert list(row) == names
    shown = [list(row) for row in jobs.ask("Query", object=kind)]
    assert shown[0] == [name for name in GOLDS[kind].split() if name != "Details"]
    assert all(each == shown[0] for each in shown)


@pytest.mark.parametrize("kind", ["Transaction", "Reservation", "Quotation", BOTH])
def test_a_user_sees_only_what_is_about_his_jobs(jobs, kind):
    said = jobs.ask("Query", object=kind, actor="ann", gets=["User"])
    assert {row["User"] for row in said} == {"ann"}
    assert jobs.ask("Query", object=kind, actor="eve") == []
    assert jobs.code("Query", object=kind, actor="ann", proven=False) == "444"


@pytest.mark.parametrize("kind", ["Transaction", "Reservation", "Quotation"])
def test_the_ledger_is_only_read(jobs, kind):
    for action in ("Create", "Modify", "Delete", "Undelete", "Undo", "Refund"):
        assert jobs.code(action, object=kind, wheres=[("Id", "EQ", "1")]) == "315"


def test_the_ledger_is_sorted_added_up_and_cut_like_jobs(jobs):
    ask = jobs.ask
    by = [("Action", "GroupBy"), ("Amount", "Sum"), ("Id", "Count")]
    totals = {row["Action"]: (row["Amount"], row["Id"]) for row in
              ask("Query", object="Transaction", gets=by)}  # fmt: skip
    assert totals["Reserve"] == ("160", "4")
    down = ask("Query", object="Transaction", gets=[("Id", "Tros")], options={"Limit": 2})
    assert [row["Id"] for row in down] == ["8", "7"]
    where = [("Action", "EQ", "Charge"), ("Action", "EQ", "Refund", "Or")]
    assert len(ask("Query", object="Transaction", wheres=where)) == 2
    for wheres in ([("Colour", "EQ", "1")], [("Id", "EQ", "1", "And")] * 1001):
        assert jobs.code("Query", object="Transaction", wheres=wheres) == "318"
    assert jobs.code("Query", object="Transaction", gets=["Colour"]) == "318"
    assert jobs.code("Query", object="Transaction", wheres=[("Amount", "GT", "x")]) == "317"


def test_sums_are_exact_however_long_the_numbers_are(jobs):
    with jobs.service.stores.use() as kept:
        kept.load(b"<Job><Id>c</Id><User>ann</User><Charge>1e400</Charge></Job>")
    [there] = jobs.ask("Query", gets=[("Charge", "Sum")])
    [entered] = jobs.ask("Query", object="Transaction", gets=[("Delta", "Sum")])
    assert entered["Delta"] == f"-{there['Charge']}"
    assert len(there["Charge"]) == 401


def test_the_stage_follows_the_ledger_and_not_what_a_document_says(jobs):
    jobs.create(
        "<Job><Id>c</Id><Charge>0</Charge></Job>",
        "<Job><Id>d</Id><Reservation>maintenance</Reservation></Job>",
        "<Job><Id>e</Id><Quote>17</Quote></Job>",
        "<Job><Id>f</Id><Charge>12</Charge></Job>",
    )
    said = jobs.ask("Query", gets=["Id", "Stage"])
    assert {row["Id"]: row["Stage"] for row in said} == {
        "a": "Reserve", "b": "Charge", "c": "", "d": "", "e": "", "f": "Charge",
    }  # fmt: skip
    [entry] = jobs.ask("Query", object="Transaction", wheres=[("JobId", "EQ", "f")])
    assert (entry["Action"], entry["Amount"]) == ("Charge", "12")


def test_who_was_charged_elsewhere_is_brought_forward_before_a_charge(jobs):
    with jobs.service.stores.use() as kept, kept.change() as change:
        change.put(b"<Job><Id>h</Id><User>ann</User><Charge>100</Charge></Job>")
    jobs.answer("Charge", data=[JOB.format("h", "ann")])
    said = jobs.ask("Query", object="Transaction", gets=["Amount"], wheres=[("JobId", "EQ", "h")])
    assert [row["Amount"] for row in said] == ["100", "40"]
    assert jobs.ask("Query", gets=["Charge"], wheres=[("Id", "EQ", "h")]) == [{"Charge": "140"}]


@pytest.mark.parametrize("by", ["Refund", "Modify", "import"])
def test_who_was_charged_gets_it_back_whoever_the_job_is_of_now(jobs, by):
    """By each door through which a Charge becomes less."""
    where, entries = {"wheres": [("Id", "EQ", "k")]}, {"wheres": [("JobId", "EQ", "k")]}
    jobs.answer("Charge", data=[JOB.format("k", "ann")])
    said = jobs.said("Modify", sets=[("User", "bob")], **where)
    assert said == "User of job k is bob now, and 40 credits stay charged to ann"
    if by == "Refund":
        assert jobs.code("Refund", options={"JobId": "k", "Amount": "4"}) == "000"
    elif by == "Modify":
        assert jobs.code("Modify", sets=[("Charge", "4", "Dec")], **where) == "000"
    else:
        less = jobs.stored("k").document.replace(b"<Charge>40<", b"<Charge>36<")
        with jobs.service.stores.use() as kept, kept.change() as change:
            change.put(less)
    said = jobs.ask("Query", object="Transaction", gets=["User", "Delta"], **entries)
    assert [(row["User"], row["Delta"]) for row in said] == [("ann", "-40"), ("ann", "4")]
    assert jobs.ask("Query", gets=["User", "Charge"], **where) == [{"User": "bob", "Charge": "36"}]


def test_who_was_charged_elsewhere_is_brought_forward_before_a_refund(jobs):
    with jobs.service.stores.use() as kept, kept.change() as change:  # as an import does
        change.put(b"<Job><Id>g</Id><User>ann</User><Charge>100</Charge></Job>")
    jobs.answer("Refund", options={"JobId": "g", "Amount": "30"})
    said = jobs.ask("Query", object="Transaction", gets=["Action", "Amount", "Delta"],
                    wheres=[("JobId", "EQ", "g")])  # fmt: skip
    assert [tuple(row.values()) for row in said] == [
        ("Charge", "100", "-100"), ("Refund", "30", "30"),
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "values", "code"), [
    ("Guarantee", ["yes"], "317"), ("Guarantee", ["False", "True"], "740"),
    ("Guarantee", ["True", "True"], "000"), ("Guarantee", ["tRUE"], "000"),
    ("ItemizedCharges", ["1"], "317"),
])  # fmt: skip
def test_an_option_that_says_nothing_or_two_things_is_refused(jobs, name, values, code):
    """A Quote that somebody takes for guaranteed, and that is not, costs money."""
    assert jobs.code("Quote", data=[JOB.format("a", "ann")], options={name: values}) == code


def test_a_window_that_is_told_twice_is_refused(jobs):
    for kind in ("Job", "Transaction"):
        assert jobs.code("Query", object=kind, options={"Limit": ["1", "2"]}) == "740"
        assert jobs.code("Query", object=kind, options={"Unique": "yes"}) == "317"
