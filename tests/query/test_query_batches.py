"""Job objects read many at once: the same answers, places and faults as one by one."""

import io
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sssjob import spec
from sssjob.document import guesses, reader, tree
from sssjob.query import compile

QUERIES = (
    "//Job/Id", "//Job[Memory > 600]/Memory/@units", "/Jobs/Job/Id", "/*/Job/Id/text()", "Id",
    "/Job/Id | //JobGroup/Id", "count(.//Memory)", "//JobGroup/Job[2]/Id", "Memory[1] = 512",
    "/descendant::Job", "//Job[sss:bytes(Memory) > 0]/Id", "/E/Jobs/Job/Id",
)  # fmt: skip


def one_by_one(query, source, errors):
    located = tree.located(source, on_error=errors.append, wanted=tree.Wanted.DOCUMENTS)
    return [shown(match) for match in query.of_units(located, False, True, errors.append)]


def at_once(query, source, errors, size=40):
    with mock.patch.object(guesses, "SIZE", size):
        run = query.run(io.BytesIO(source), on_error=errors.append)
        return [shown(match) for match in run]


def shown(match):
    return match.text, match.path, match.line, match.job, match.xml


def same(expression, source, **options):
    query = compile(expression)
    assert query.streams
    expected_errors, errors = [], []
    expected = one_by_one(query, source, expected_errors)
    assert at_once(query, source, errors, **options) == expected
    assert [error.finding for error in errors] == [error.finding for error in expected_errors]


jobs = st.builds(
    "<Job>{}<Id>{}</Id>{}</Job>".format,
    st.sampled_from(("", "\n", "<!-- note -->", "<![CDATA[ ]]>", "\n  ")),
    st.integers(0, 99),
    st.sampled_from((
        "", '<Memory units="GB">2</Memory>', "<Memory>512</Memory><Memory>1</Memory>",
        "<Name>a&amp;b</Name>\n", "<!--\n<Job>\n-->", "<![CDATA[\n<Job><Id>0</Id></Job>\n]]>",
        "<!-- </Job>\n<Job> -->", f'<Id xmlns="{spec.NAMESPACE}">7</Id>',
    )),
)  # fmt: skip
groups = st.builds("<JobGroup><Id>g</Id>\n {}\n {}</JobGroup>".format, jobs, jobs)
odd = st.sampled_from((
    "<Id>all</Id>", "<!-- between -->", "<!--\n<Job><Id>0</Id></Job>\n<Job>\n-->", "text",
    "<Batch>\n<Job><Id>b</Id></Job>\n</Batch>", "<Job>", "</Job>", "<Job/>", "<JobDefaults/>", "",
    "<?pi\n<Job>?>", "<Job><Id>1</Job>", "&nope;", "\x01", "<Job", "</Jobs><Jobs>",
    "<Job>bad</Job>",
))  # fmt: skip
units = st.lists(st.one_of(jobs, jobs, jobs, groups, odd), max_size=8)
wrappers = st.sampled_from((
    ("<Jobs>\n", "\n</Jobs>"), ("<Jobs>\n", "\n</Jobs>\n<Job><Id>x</Id></Job>"), ("", ""),
    (f'<?xml version="1.0"?>\n<Jobs xmlns="{spec.NAMESPACE}">\n', "</Jobs>"),
    ("<E a='1'>\n <Jobs>\n", "</Jobs></E>"), ("<JobGroup>\n", "</JobGroup>"), ("<Jobs>", "</Jobs>"),
    ("<?xml version='1.0' encoding='ISO-8859-1'?><Jobs>\n", "</Jobs>"), ("<Jobs>\n", ""),
    ("<Jobs><!-- first -->\n", "</Jobs>"), ("<TaskGroup>\n", "</TaskGroup>"),
))  # fmt: skip
sources = st.builds(
    lambda wrapper, parts, between: (
        f"{wrapper[0]}{between.join(parts)}{wrapper[1]}".encode().replace(b"bad", b"\xff")
    ),
    wrappers, units, st.sampled_from(("\n", "\n", "\n\n", "\r\n")),
)  # fmt: skip


@given(sources, st.sampled_from(QUERIES), st.sampled_from((7, 40, 90, 4096)))
@example(b"<Job><Id>1</Id></Job>\n<Job>\n</Job><Job/>\n<Job/>", "Id", 7)
@example(b"<Job/>\n<Job/><Job>\n</Job>\n<Job/>", "//Job", 7)
@example(b"<Job/>\n<Job/></Lines><Lines><Job/>\n<Job/>", "//Job", 7)
def test_batches_change_no_answer_no_place_and_no_fault(source, expression, size):
    same(expression, source, size=size)


USUAL = [
    pytest.param("<Job><Id>1</Id></Job>\n" * 20, id="lines"),
    pytest.param("<Jobs>\n" + "<Job><Id>1</Id></Job>\n" * 20 + "</Jobs>", id="wrapped"),
    pytest.param("<Jobs>\n" + "  <Job>\n    <Id>1</Id>\n  </Job>\n" * 20 + "</Jobs>", id="pretty"),
    pytest.param("<Jobs>\n" + " <JobGroup>\n  <Job>\n  </Job>\n </JobGroup>\n" * 20 + "</Jobs>",
                 id="groups"),
    pytest.param("<Jobs>" + "<Job><Id>1</Id></Job>" * 20 + "</Jobs>", id="one line"),
    pytest.param(f"<s:Jobs xmlns:s='{spec.NAMESPACE}'>\n" + "<s:Job/>\n" * 90 + "</s:Jobs>",
                 id="prefixes"),
]  # fmt: skip


@pytest.mark.parametrize("source", USUAL)
def test_usual_sources_are_cut_by_guesses_that_fit(source, monkeypatch):
    def fail(*arguments):
        raise AssertionError("it was cut with care")

    monkeypatch.setattr(guesses, "SIZE", 100)
    monkeypatch.setattr(guesses, "careful", fail)
    assert len(list(reader.batches(source.encode()))) > 3


def test_one_bad_line_does_not_hide_the_next():
    source = b"<Job><Id>1</Id></Job>\n" * 9 + b"<Job><Id>2</Job>\n" + b"<Job><Id>3</Id></Job>\n" * 9
    errors = []
    found = at_once(compile("//Job/Id"), source, errors)
    assert [text for text, *_ in found] == ["1"] * 9 + ["3"] * 9
    assert [line for _, _, line, *_ in found] == [*range(1, 10), *range(11, 20)]
    assert [error.finding.line for error in errors] == [10]


def test_the_path_of_a_match_begins_at_its_own_document():
    lines = b"<Job><Id>1</Id></Job>\n<Job><Id>2</Id></Job>\n"
    found = compile("//Job/Id").run(lines)
    assert [(match.path, match.line) for match in found] == [("/Job/Id", 1), ("/Job/Id", 2)]
