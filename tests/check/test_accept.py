"""What the grammar lets pass is what the walk has nothing to say about."""
# ruff: noqa: E501 (a row of a table is a line)

from pathlib import Path

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from strategies import documents, mutants

from sssjob import spec
from sssjob.check import accept
from sssjob.check.accept import Acceptor
from sssjob.check.findings import check
from sssjob.check.sources import check_source
from sssjob.conformance.cases import sections
from sssjob.document.tree import units

DATA = Path(__file__).parents[1] / "data"
VALID = sorted((DATA / "valid").glob("*.xml"))
INVALID = sorted((DATA / "invalid").glob("*.xml"))
CASES = [case for section in sections() for case in section.cases if case.document]
JOBS = ("Job", "JobGroup")


@pytest.fixture(autouse=True)
def _from_the_first_document_on(monkeypatch):
    monkeypatch.setattr(accept, "_WORTH_A_GRAMMAR", 0)


@examples(80)
@given(st.one_of(documents(JOBS), mutants(JOBS)), st.sampled_from([(), ("I-UNIT",)]))
def test_what_is_accepted_gives_no_finding(element, said):
    root = etree.fromstring(etree.tostring(element))
    if Acceptor(set(said))(root):
        assert list(check(root, said=set(said))) == []


@pytest.mark.parametrize("path", [*VALID, *INVALID], ids=lambda path: path.stem)
def test_accepting_changes_no_finding(path, monkeypatch):
    some = list(check_source(path))
    monkeypatch.setattr(accept, "_WORTH_A_GRAMMAR", 1000)
    assert list(check_source(path)) == some


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_accepting_changes_no_finding_of_the_standard(case, monkeypatch):
    test_accepting_changes_no_finding(case.document.encode(), monkeypatch)


ACCEPTED = [
    *[
        pytest.param(
            f"<Job><Id>1</Id><Duration>5</Duration>{inside}</Job>", False, id=f"empty {number}"
        )
        for number, inside in enumerate((
            "<TaskGroup/>", "<TaskGroupDefaults/>", "<TaskGroup><Id>a</Id><TaskDefaults/></TaskGroup>",
            "<TaskGroup><Id>a</Id><Task> </Task></TaskGroup>", "<TaskGroup><!-- --></TaskGroup>",
            "<Requested/>", "<Delivered><!-- --></Delivered>",
        ))
    ],
    pytest.param("<Job><Id>1</Id><Duration>5</Duration></Job>", True, id="a small job"),
    pytest.param("<Job><Id>1</Id></Job>", False, id="no duration"),
    pytest.param(
        "<Job><Id>1</Id><Requested><Duration>5</Duration></Requested></Job>", True, id="requested"
    ),
    pytest.param(
        "<Job><Id>1</Id><TaskGroup><Duration>5</Duration></TaskGroup></Job>", False,
        id="a duration of a task group only",
    ),
    pytest.param(
        "<Job><Id>1</Id><Duration>5</Duration><TaskGroup><Task>1</Task></TaskGroup></Job>", False,
        id="a task group without properties",
    ),
    pytest.param(
        "<Job><Id>1</Id><Duration>5</Duration><TaskGroup><Id>a</Id></TaskGroup>"
        "<TaskGroup><Id>a</Id></TaskGroup></Job>",
        False, id="two task groups of one id",
    ),
    pytest.param(
        '<Job><Id>1</Id><Duration>5</Duration><Requested><Memory units="GB" context="Used">1</Memory>'
        "</Requested></Job>",
        False, id="requested as used",
    ),
    pytest.param(
        '<Job><Id>1</Id><Duration>5</Duration><Processors dynamic="true">1</Processors></Job>',
        False, id="dynamic beside Requested",
    ),
    pytest.param("<Job><Id>1</Id><Duration>5</Duration><Duration>5</Duration></Job>", False, id="twice"),
]  # fmt: skip


@pytest.mark.parametrize("text, accepted", ACCEPTED)
def test_the_grammar_takes_documents_that_are_right(text, accepted):
    assert Acceptor(set())(etree.fromstring(text)) == accepted
    element = etree.fromstring(text.replace("<Job>", f'<Job xmlns="{spec.NAMESPACE}">'))
    assert Acceptor(set())(element) == accepted


def test_most_measured_jobs_are_accepted():
    path = next(path for path in VALID if "moderate" in path.stem)
    # What most jobs have, in _WORDY or _CONTRADICTING, sends each of them on the walk.
    told = "a grammar has no place any more for what most jobs have: say in it what has no finding"
    assert all(Acceptor(set())(job) for job in units(path)), told
