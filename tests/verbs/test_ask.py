"""Asking by workers: the rows, places and faults of one process, as a caller of the library."""

import io
from pathlib import Path
from unittest import mock

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob.document import guesses
from sssjob.document.sources import NamedSource
from sssjob.query import compile, order
from sssjob.query.forms import Form, Shape
from sssjob.verbs.ask import Asked

pytestmark = pytest.mark.usefixtures("ready_workers")

JOB = '<Job><Id>{0}</Id><User>u{0}</User><Memory units="GB">{1}</Memory></Job>\n'
JOBS = [JOB.format(number, number % 7) for number in range(60)]
NAMED = "<Job xml:id='j3'><Id>3</Id><User>u3</User></Job>\n"
ODD = (
    NAMED,
    "<x:Job xmlns:x='urn:x'/>\n",
    "<Job>",
    "<!-- a\n<Job>\n-->\n",
    "text",
    "<Job><Id>7</Job>\n",
    "<Job Id='&nope;'/>\n",
    "\n",
)
ALL = "".join((*JOBS, NAMED))
LINES, WRAPPED = ALL, f"<Jobs>\n{ALL}</Jobs>\n"

ASKED = {
    "text": Asked(compile("//Job[Memory > 3]/Id"), Shape(Form()), places=False),
    "relative": Asked(compile("Memory"), Shape(Form("json"))),
    "columns": Asked(
        compile("//Job"), Shape(Form("csv", order.columns("Id,User"), True), order.keys("-Memory"))
    ),
    "whole": Asked(compile("//Job/Memory[. > 3]"), Shape(Form("xml"), whole=True)),
    "effective": Asked(compile("//Job[Memory = 3]/Id"), Shape(Form("jsonl")), effective=True),
    "later": Asked(compile("//Job[number(Memory) eq 3]/Id", version="3.1"), Shape(Form("json"))),
    "counted": Asked(compile("//Job[Memory > 3]"), Shape()),
    "one value of each document": Asked(compile("count(//Job)"), Shape(Form("json"))),
    "anywhere": Asked(compile("//Memory | //comment()"), Shape(Form("xml"), whole=True)),
    "by position": Asked(
        compile("//Job[1]"), Shape(Form("csv", order.columns("Id"), True), order.keys("-Memory"))
    ),
    "by identifier": Asked(compile("id('j3')/User"), Shape(Form("json")), effective=True),
    "later, one by one": Asked(compile("//Job[1]/name()", version="3.1"), Shape(Form("json"))),
    **{
        f"later, one answer: {text}": Asked(
            compile(text, version="3.1"), Shape(Form("json")), effective="@units" in text
        )
        for text in (
            "count(//Job)",
            "max(//Job/Memory)",
            "string-join(//Job/Id, ' ')",
            "count(//Job[Memory > 3]) div count(//Job)",
            "sum(//Job[1]/Memory) + count(//comment())",
            "distinct-values(//Memory/@units)",
            "sum(//Job/User)",
            "(//Job)[last()]/Id",
            "max(//Job/xs:integer(substring(User, 3)))",
            "count(//Job) + sum(//xs:integer(@units))",
        )
    },
    "held": Asked(compile("//Job/Id"), Shape(Form("json")), whole=True),
}
FAULTY = [name for name in ASKED if "sum(//Job/User)" in name or "xs:integer" in name]


def rows(asked, source, processes):
    errors = []
    with mock.patch.object(guesses, "SIZE", 300), asked.workers(processes) as workers:
        found = list(asked.rows(source, errors.append, workers=workers))
    return found, [error.finding for error in errors]


@pytest.mark.parametrize("text", [LINES, WRAPPED], ids=["lines", "wrapped"])
@pytest.mark.parametrize("name", ASKED)
def test_workers_give_the_rows_of_one_process(name, text, tmp_path):
    path = tmp_path / "jobs.xml"
    path.write_text(text)
    expected = rows(ASKED[name], NamedSource("jobs", path), 1)
    assert bool(expected[0]) != bool(expected[1])
    assert not expected[1] or name in FAULTY
    assert rows(ASKED[name], NamedSource("jobs", path), 2) == expected
    assert rows(ASKED[name], NamedSource("jobs", io.BytesIO(text.encode())), 2) == expected


@examples(12)
@given(
    st.sampled_from(list(ASKED)), st.sampled_from([("", ""), ("<Jobs>\n", "</Jobs>")]),
    st.lists(st.sampled_from((*JOBS[:5], *JOBS[:5], *ODD)), min_size=8, max_size=40),
)  # fmt: skip
def test_what_is_not_as_it_seemed_is_read_one_by_one_from_there(name, wrapper, parts):
    data = (wrapper[0] + "".join(JOBS[:12] + parts) + wrapper[1]).encode()
    one, two = (rows(ASKED[name], NamedSource("jobs", io.BytesIO(data)), count) for count in (1, 2))
    assert two == one


def test_a_caller_may_stop_early_and_ask_the_next_source(tmp_path):
    path = tmp_path / "jobs.xml"
    path.write_text(WRAPPED)
    asked = ASKED["text"]
    with mock.patch.object(guesses, "SIZE", 300), asked.workers(2) as workers:
        source = NamedSource("jobs", path)
        first = next(asked.rows(source, print, workers=workers))
        again = list(asked.rows(source, print, workers=workers))
    assert first == again[0]
    assert again == rows(asked, NamedSource("jobs", Path(path)), 1)[0]
