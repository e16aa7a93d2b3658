"""An expression that could run for days is refused, and no other."""

import pytest
from lxml import etree

from sssjob.errors import LimitExceeded, UnreadableDocument
from sssjob.query import compile, cost
from sssjob.query.parser import parse
from sssjob.query.rewrite import direct

JOBS = b"<Jobs>" + b"<Job><Id>1</Id><Dependency>2</Dependency></Job>" * 1000 + b"</Jobs>"


@pytest.mark.parametrize(
    "expression",
    [
        "//*[//*[//*[//*]]]",
        "//*[following::*[following::*[following::*]]]",
        "//*/following::*/following::*/following::*/following::*",
        "count(//*[count(//*[count(//*[count(//*) > 1]) > 1]) > 1])",
        "//Job[(//*)[count(//*) > 1]/*[//*]]",
    ],
)
def test_what_could_run_for_days_is_refused_at_once(expression):
    query = compile(expression)
    with pytest.raises(UnreadableDocument, match="steps to answer this on 3001 elements"):
        list(query.run(JOBS))
    with pytest.raises(LimitExceeded):
        query.on(etree.fromstring(JOBS))


@pytest.mark.parametrize(
    "expression",
    [
        "//Job[Dependency = //Job/Id]/Id",
        "//Job[Id = preceding-sibling::Job/Id]",
        "count(//Job[not(Id = //Dependency)])",
    ],
)
def test_what_ends_in_time_is_answered(expression):
    assert cost.multiplies(compile(expression).parsed)
    assert list(compile(expression).run(b"<Jobs><Job><Id>1</Id></Job></Jobs>")) is not None
    cost.refuse_endless(compile(expression).parsed, etree.fromstring(JOBS))


@pytest.mark.parametrize(
    "expression",
    [
        "//Job/Id", "//Job[Delivered/Processors > 12]/Id", "//Job//Task[Node]//Node",
        "sum(//Job/Charge) div count(//Job)", "//Job[TaskGroup[Task[Node[. = 'a']]]]", "Id | Name",
    ],
)  # fmt: skip
def test_usual_questions_are_not_even_estimated(expression):
    assert not cost.multiplies(direct(parse(expression)))


@pytest.mark.parametrize(
    "expression, most",
    [
        ("//*[following-sibling::*]", 12), ("//*/following-sibling::*", 12), ("/following::*", 9),
        ("/descendant::*", 3), ("//*/following::*", 30),
        ("self::*", 3),
        ("/*[//*]", 12), ("(//*)[1]", 3), ("//*[.//*]", 9), ("(//*)[//*]", 12),
    ],
)  # fmt: skip
def test_steps_are_as_many_as_nodes_are_asked_from(monkeypatch, expression, most):
    parsed, three = direct(parse(expression)), etree.fromstring("<a><b/><c/></a>")
    monkeypatch.setattr(cost, "STEPS", most)
    cost.refuse_endless(parsed, three)
    monkeypatch.setattr(cost, "STEPS", most - 1)
    with pytest.raises(LimitExceeded):
        cost.refuse_endless(parsed, three)


def test_a_job_that_is_too_large_to_ask_does_not_hide_the_next():
    source = JOBS + b"\n<Jobs><Job><Id>9</Id></Job></Jobs>\n"
    errors = []
    found = compile("//*[//*[//*[//*]]]/Id").run(source, on_error=errors.append)
    assert [match.text for match in found] == ["9"]
    assert [error.finding.code for error in errors] == ["E-LIMIT"]
