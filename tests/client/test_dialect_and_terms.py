"""Jobs as Gold takes them, and conditions as people write them."""
# ruff: noqa: E501 (a row of a table is a line)

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import REQUESTS

from sssjob.client.dialect import GOLD, flattened
from sssjob.client.terms import change, get, option, wheres
from sssjob.errors import InvalidValue
from sssjob.rmap.envelope import opened
from sssjob.rmap.message import (
    Conj,
    Data,
    DataDocument,
    Get,
    Object,
    Op,
    Option,
    Request,
    Row,
    Set,
    Where,
)  # fmt: skip
from sssjob.rmap.signature import forms
from sssjob.rmap.writing import envelope, write_request

JOB = b"""<Job><Id>PBS.1</Id><User>ann</User><Queue>batch</Queue><Environment><Variable name="A">x</Variable>
</Environment><Requested><Processors op="GE">4</Processors></Requested>
<Delivered><Duration>100</Duration><Memory units="GB">3</Memory></Delivered></Job>"""


def test_a_job_for_gold_is_flat_and_what_is_left_out_is_named():
    row, lost = flattened(DataDocument(JOB))
    assert row == Row("Job", (
        ("JobId", "PBS.1"), ("UserId", "ann"), ("Queue", "batch"), ("WallDuration", "100"),
        ("Memory", "3"),
    ))  # fmt: skip
    assert set(lost) == {"Environment", "Processors", "units of Memory"}


def test_a_row_of_a_job_gets_golds_names_and_others_keep_theirs():
    assert flattened(Row("Job", (("Id", "1"), ("Charge", "2"))))[0].fields == (
        ("JobId", "1"), ("Charge", "2"),
    )  # fmt: skip
    assert flattened(Row("User", (("Id", "1"),)))[0].fields == (("Id", "1"),)


def test_gold_charges_for_what_was_used_and_not_for_what_was_asked_for():
    job = b"""<Job><Id>1</Id><Requested><Processors>9</Processors><Duration>9</Duration>
<QualityOfService>q</QualityOfService></Requested><Delivered><Duration>5</Duration></Delivered></Job>"""
    charge = Request("Charge", "ann", (Object("Job"),), data=Data((DataDocument(job),)))
    fields = {
        action: dict(GOLD.spoken(replace(charge, action=action)).data.items[0].fields)
        for action in ("Charge", "Quote")
    }
    assert fields["Charge"] == {"JobId": "1", "WallDuration": "5", "QualityOfService": "q"}
    assert fields["Quote"] == fields["Charge"] | {"Processors": "9"}
    assert set(flattened(DataDocument(job), used=True)[1]) == {"Duration", "Processors"}


def test_gold_takes_no_groups():
    with pytest.raises(InvalidValue, match="a Job"):
        flattened(DataDocument(b"<JobGroup><Id>1</Id></JobGroup>"))


@pytest.mark.parametrize(
    "texts, meant",
    [
        pytest.param(["User=ann"], [Where("User", "ann")], id="equal"),
        pytest.param(["A != b", "C>=1", "D<2", "E~x*"],
                     [Where("A", "b", Op.NE), Where("C", "1", Op.GE), Where("D", "2", Op.LT), Where("E", "x*", Op.MATCH)],
                     id="all hold"),
        pytest.param(["(User=ann", "Or User=bob)", "Charge>5"],
                     [Where("User", "ann", group=1), Where("User", "bob", conj=Conj.OR, group=-1), Where("Charge", "5", Op.GT)],
                     id="a group"),
        pytest.param(["((A=1", "B=2)", "Or C=3)"],
                     [Where("A", "1", group=2), Where("B", "2", group=-1), Where("C", "3", conj=Conj.OR, group=-1)],
                     id="groups in groups"),
        pytest.param(["(A=1)"], [Where("A", "1")], id="a group of one"),
        pytest.param(["Name=a (b)"], [Where("Name", "a (b)")], id="parentheses of a value"),
        pytest.param(['(Name="a (b)"', 'Or Name="x)")'],
                     [Where("Name", "a (b)", group=1), Where("Name", "x)", conj=Conj.OR, group=-1)], id="quotes"),
        pytest.param(["AndNot A=1", "OrNot B=2"],
                     [Where("A", "1", conj=Conj.AND_NOT), Where("B", "2", conj=Conj.OR_NOT)], id="negations"),
        pytest.param(["User.Name=ann"], [Where("Name", "ann", object="User")], id="object"),
        pytest.param(["Order=5"], [Where("Order", "5")], id="a name that begins with Or"),
        pytest.param(["A="], [Where("A", "")], id="empty"),
    ],
)  # fmt: skip
def test_conditions_are_what_they_look_like(texts, meant):
    assert wheres(texts) == tuple(meant)


@pytest.mark.parametrize(
    "texts",
    [["User"], ["=1"], ["(A=1"], ["AndNot (A=1", "B=2)"], ['A="1" 2'], ['A="1")'], ["A b=1"]],
)
def test_conditions_that_are_none_are_refused(texts):
    with pytest.raises(InvalidValue):
        wheres(texts)


@given(
    st.lists(st.from_regex(r"\w{1,5}( \w{1,3})?", fullmatch=True), min_size=1, max_size=6),
    st.data(),
)
def test_groups_always_balance(values, data):
    texts, depth = [], 0
    for value in values:
        opens = data.draw(st.integers(0, 2))
        closes = data.draw(st.integers(0, depth + opens))
        depth += opens - closes
        texts.append(f"{'(' * opens}A={value}{')' * closes}")
    if depth:
        with pytest.raises(InvalidValue, match="still open"):
            wheres(texts)
        return
    found = wheres(texts)
    assert sum(where.group for where in found) == 0
    assert [where.value for where in found] == values


@pytest.mark.parametrize(
    "text, meant",
    [
        ("Charge", Get("Charge")),
        ("User.Name", Get("Name", object="User")),
        ("Sum(Charge)", Get("Charge", "Sum")),
        ("Max(Job.Charge) as Top", Get("Charge", "Max", "Job", "Top")),
        ("Charge as C", Get("Charge", alias="C")),
    ],
)
def test_what_is_shown_may_be_summed_up_and_renamed(text, meant):
    assert get(text) == meant


def test_changes_and_options():
    assert change("Queue=a b") == Set("Queue", "a b")
    assert change("Charge+=5") == Set("Charge", "5", "Inc")
    assert change("Charge -= 5") == Set("Charge", "5", "Dec")
    assert option("Time=now=x") == Option("Time", "now=x")


@pytest.mark.parametrize(
    "read, text", [(get, "Sum(Charge"), (get, ""), (change, "A"), (option, "A")]
)
def test_what_is_none_of_them_is_refused(read, text):
    with pytest.raises(InvalidValue):
        read(text)


def for_gold(request):
    """The Body of a request with nothing in it that Gold cannot take."""
    rows = (
        tuple(item for item in request.data.items if isinstance(item, Row)) if request.data else ()
    )
    body = write_request(replace(request, data=Data(rows)))
    return re.sub("&#([0-9]{3,});", lambda found: found[0] if int(found[1]) < 256 else "x", body)


@given(REQUESTS.map(for_gold))
def test_what_is_signed_for_gold_is_what_gold_digests(body):
    _, as_text, *others = forms(opened(envelope(body.encode())))
    digested = GOLD.digested(body)
    assert digested == (as_text if as_text.isascii() else others[0])
