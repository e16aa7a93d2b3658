"""Whatever is asked, the answer is a code, the store stays whole, and the next one is answered."""
# ruff: noqa: E501 (a row of a table is a line)

import pytest
from draws import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from job_service import job_service

from sssjob.errors import Refused
from sssjob.handlers.conditions import Conditions
from sssjob.rmap.message import Conj, Get, Op, Where

JOB = "<Job><Id>1</Id><User>ann</User><Memory units='GB'>2</Memory></Job>"
LONG = "x" * 1_000_000
NASTY = [
    "'", "''", '"', "\\", "%", "_", "--", "; DROP TABLE job;--", "' OR '1'='1", "\u2028", "\U0001f600",
    "NULL", "nan", "inf", "-0", "1e999", "9" * 400, "0x10", "{Id}", "$(id)", "../..", "&lt;", "]]>", " 1 ", "",
]  # fmt: skip


@pytest.fixture
def jobs(address):
    with job_service(address) as made:
        made.create(JOB)
        yield made
        assert made.ids(("Id", "EQ", "1")) == ["1"]
        with made.service.stores.use() as kept:
            assert list(kept.check()) == []


@pytest.mark.parametrize("value", NASTY)
def test_a_nasty_value_is_compared_and_stored_as_it_is(jobs, value):
    for name in ("Id", "User", "Memory", "Charge", "StartTime", "Description", "Stage"):
        for op in Op:
            assert jobs.code("Query", gets=["Id"], wheres=[(name, op, value)]) in ("000", "317")
    jobs.answer("Create", sets=[("Id", "2"), ("Name", value), ("Description", value)])
    if value not in ("NULL", ""):
        assert jobs.ids(("Name", "EQ", value)) == ["2"]
        assert jobs.ask("Query", gets=["Name", "Description"], wheres=[("Id", "EQ", "2")]) == [
            {"Name": value, "Description": value}
        ]
        assert len(jobs.ids(("Description", "NE", value))) == 0


def test_long_and_many_parts_of_a_request_are_refused_or_answered(jobs):
    many = [Where("User", f"u{number}", Op.EQ, Conj.OR) for number in range(1000)]
    assert jobs.ids(*many) == []
    assert jobs.ids(*many[:999], Where("User", "ann", Op.EQ, Conj.OR)) == ["1"]
    assert jobs.ids(*[Where("User", "a*", Op.MATCH)] * 1000) == ["1"]
    assert jobs.code("Query", wheres=[*many, *many]) == "318"
    assert jobs.code("Query", gets=["Id"] * 1001) == "318"
    assert jobs.code("Query", gets=[Get("Id", alias=LONG)]) == "318"
    assert len(jobs.said("Query", gets=[LONG])) < 200
    assert len(jobs.said("Query", wheres=[(LONG, "EQ", "1")])) < 200
    assert len(jobs.said("Create", sets=[(LONG, "1")])) < 200
    assert len(jobs.said("Create", sets=[("Id", "9"), ("Charge", LONG)])) < 300
    assert jobs.code("Create", sets=[("Id", LONG)]) == "740"
    assert jobs.code("Charge", data=[f"<Job><Id>{LONG}</Id><Duration>1</Duration></Job>"]) == "740"
    assert jobs.code("Refund", options={"JobId": LONG}) == "740"
    assert (
        jobs.code(
            "Charge", data=[f"<Job><Id>9</Id><Duration>1</Duration><Quote>{LONG}</Quote></Job>"]
        )
        == "740"
    )
    assert jobs.code("Create", sets=[("Id", "long"), ("Name", LONG)], id=LONG) == "000"
    assert jobs.ids(("Name", "EQ", LONG)) == ["long"]
    assert jobs.ids(("Name", "Match", "*" * 1000 + "y")) == []


@examples(50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_request_gets_more_than_a_code(jobs, data):
    text = st.sampled_from(
        [*NASTY[:12], "Id", "Job", "User", "Charge", "Sum", "Assign", "1", "ann"]
    )
    action = data.draw(
        st.sampled_from(
            [
                "Query",
                "Create",
                "Modify",
                "Charge",
                "Reserve",
                "Quote",
                "Refund",
                "Undelete",
                "Drop",
            ]
        )
    )
    code = jobs.code(
            action, object=data.draw(st.sampled_from(["Job", "JobGroup", "job", "*", ""])) or "x",
            gets=data.draw(st.lists(st.tuples(text, text), max_size=2)),
            sets=data.draw(st.lists(st.tuples(text.filter(lambda name: name != "Id"), text, st.sampled_from(["Assign", "Inc", "Dec", "x"])), max_size=2)),
            wheres=data.draw(st.lists(st.builds(Where, text, text, st.sampled_from(Op), st.sampled_from(Conj)), max_size=2)),
            options=data.draw(st.dictionaries(st.sampled_from(["Limit", "Offset", "Time", "Unique", "ShowHidden", "JobId", "Amount", "Guarantee"]), text, max_size=2)),
            data=data.draw(st.lists(st.sampled_from(["<Job/>", "<Job><Id>5</Id><Duration>1</Duration></Job>", "<JobGroup><Id>5</Id></JobGroup>", "<x/>"]), max_size=2)),
            id=data.draw(st.sampled_from(["", "same"])),
        )  # fmt: skip
    assert code in ("000", "302", "314", "315", "316", "317", "318", "710", "740")


@pytest.mark.parametrize("letter", ["\0", "\x06", "\udcdf", "\uffff"])
@pytest.mark.parametrize("name", ["Charge", "Memory", "EndTime"])
def test_a_number_with_a_letter_that_no_document_has_is_none(name, letter):
    with pytest.raises(Refused) as told:
        Conditions([Where(name, f"1e{letter}5", Op.GT)])
    assert told.value.code == "317"
