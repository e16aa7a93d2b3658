"""One reader: the same bytes are accepted or refused whoever reads them, in the same words."""
# ruff: noqa: E501 (a row of a table is a line)

import io
import re
import sys
from functools import partial
from itertools import chain
from pathlib import Path
from unittest import mock

import pytest
from draws import examples
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

import sssjob
from sssjob import spec, store
from sssjob.check.findings import check_each
from sssjob.check.sources import check_source
from sssjob.document import cause, cutting, guesses, limits, loads, parsing, read, reader, tree
from sssjob.document.cutting import DocumentCutter
from sssjob.document.outermost import UNIT_TAGS, outermost
from sssjob.document.slices import slices
from sssjob.document.splice import rewrite
from sssjob.errors import UnreadableDocument
from sssjob.query import compile
from sssjob.workers import PartWork, Workers

ROOT = Path(__file__).parents[2]
JOB = b"<Job><Id>1</Id></Job>"
STREAMED, WHOLE = compile("//Job/Id"), compile("//Id")
RELATIVE, LATER = compile("Id"), compile("//Job/Id", version="3.1")

EXAMPLES = [*sorted(ROOT.glob("examples/*.xml")), *sorted(ROOT.glob("tests/data/*valid/*.xml"))]
SHAPES = (
    b"<Jobs>\n" + (JOB + b"\n") * 4 + b"</Jobs>\n",
    (JOB + b"\n") * 4,
    JOB * 3,
    b'<E a="1">\n <x:Jobs xmlns:x="urn:x" xmlns:y="urn:y">\n'
    + b'  <Job y:a="1">\n   <Id>1</Id>\n  </Job>\n' * 4
    + b" </x:Jobs>\n</E>",
    b'<?xml version="1.0"?>\n' + JOB + b'<!-- c -->\n<?xml version="1.0"?>\n' + JOB,
    '<?xml version="1.0" encoding="ISO-8859-1"?>\n<Jobs>\n<Job><Id>é</Id></Job>\n<Job/></Jobs>'.encode(
        "latin-1"
    ),
    '<?xml version="1.0"?><Jobs>\n<Job><Id>é\U0001f600</Id></Job>\n<Job/></Jobs>'.encode("utf-16"),
    b"<JobGroup>\n" + (JOB + b"\n") * 3 + b"</JobGroup>",
    b"<Jobs><!-- <Job> --><Job><![CDATA[</Job>]]></Job><?p <Job>?><Job/></Jobs>",
    f'<Data xmlns="{spec.NAMESPACE}">\n<Job><Id>1</Id></Job>\n<Job><Id>2</Id></Job>\n<File id="a">x</File></Data>'.encode(),
    b"<TaskGroup>\n" + JOB + b"\n</TaskGroup>\n<Report/>",
    b"<All><Data>\n"
    + (JOB + b"\n") * 3
    + b"</Data><Data xmlns:y='urn:y'>\n"
    + b"<Job y:a='1'/>\n" * 3
    + b"</Data></All>",
    b"<E><All><Data>\n"
    + JOB
    + b"\n</Data>"
    + (b"<Data>\n" + JOB * 2 + b"\n</Data>") * 3
    + b"</All>\n<Job/>\n</E>",
    b"<A>\n<Job/>\n<q:Job xmlns:q='urn:q'>\n<Job><Id>1</Id></Job>\n</q:Job>\n</A>",
    b"<A>\n<q:Job xmlns:q='urn:q'>\n<B><Job/></B>\n<Job><Id>1</Id></Job>\n</q:Job>\n</A>",
)
SEEDS = [data for data in (path.read_bytes() for path in EXAMPLES) if len(data) < 4000] + [*SHAPES]
# What makes a document another one, or none.
BITS = (
    b"<", b">", b"/", b"</", b'"', b"'", b"=", b"&", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?", b"?>",
    b"<Job>", b"</Job>", b"<Job/>", b"<JobGroup>", b"</JobGroup>", b"<Jobs>", b"</Jobs>", b"\n", b" ",
    b"\n<Job>", b"<x:Job>", b"</x:Job>", b' xmlns="urn:x"', b' xmlns:x="urn:x"', b' xmlns="rel"',
    b' u:a="1"', b"<u:a/>", b"\x00", b"\xff", b"\xc3", b"\xef\xbb\xbf", b'<?xml version="1.0"?>',
    b'<?xml version="1.0" encoding="ISO-8859-1"?>', b"<!DOCTYPE a>", b"<Task>", b"</Task>", b"&lt;",
    b"&#1;", b"&x;", b' xml:id="a"', b"\r\n", b"<_/>", b"<_>", "”".encode(), "\U0001f600".encode(),
)  # fmt: skip


@st.composite
def sources(draw):
    """Documents in which something was left out, put in, exchanged, said twice, or cut off."""
    data = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(data)))
        end = min(start + draw(st.sampled_from((0, 1, 2, 5, 20, 100))), len(data))
        bit = draw(st.sampled_from(BITS))
        data = draw(st.sampled_from((
            data[:start] + data[end:], data[:start] + bit + data[start:],
            data[:start] + bit + data[end:], data[:end] + data[start:], data[:end],
        )))  # fmt: skip
    return data


def canonical(element):
    text = etree.tostring(element, encoding="unicode", with_tail=False)
    return etree.canonicalize(text, rewrite_prefixes=True)


def is_unit(element):
    return element.tag in UNIT_TAGS


def splice(data):
    return b"".join(rewrite(data, lambda block: block))


def told(errors):
    return [
        (each.finding.code, each.finding.line, each.finding.column, each.finding.message)
        for each in errors
    ]


def of_any_document(said):
    """What of it is told of documents whatever they are about: not that there is no job object."""
    return [each for each in said if "holds none" not in each[3]]


def seen(view, data, show):
    """What a view gives, each while it is there, and what it tells."""
    errors = []
    found = [show(item) for item in view(data, on_error=errors.append)]
    return found, told(errors)


def located(data):
    return seen(
        tree.located, data, lambda each: (canonical(each.element), each.line, each.element.tag)
    )


def sliced(data):
    return seen(
        slices, data,
        lambda each: (canonical(each.element), each.document, each.line, each.start, each.end),
    )  # fmt: skip


def judged(data):
    """The job objects of a source with their lines, and what is refused of it, by one view."""
    found, errors = located(data)
    return [(text, line) for text, line, tag in found if tag in UNIT_TAGS], errors


@examples(75)
@given(sources())
@example(b'<?xml version="1.0" e\x00ncoding="ISO-8859-1"?>\n<Jobs>\n<Job><Id>\xe9</Id></Job>\n<Job')
@example(b"\xef\xbb\xbf<Jobs><Job><Id>1</Id></Jobs>")
@example(b"\xef\xbb\xbf<Job><Id>1</Job>\n<Job><Id>2</Job>")
@example(b"<Job>\n<Job><Id>1</Id></Job>\n</Job>")
@example(b"<Jobs><Job> </Job>\n&x;</Jobs>")
@example(b"<a>\n<b>\n<Job/>\n</b>\n<Job/>\n<x:Job xmlns:x='urn:x'/></a>")
@example(b"<Jobs>\n<Job>\n<Job/>\n</Job>\n<Job>\n<Job><Id></Job>\n</Jobs>")
@example(b"<u:a/><Job>\n" + b"<a>" * 300 + b"</a>" * 300 + b"\n</Job>")
def test_every_view_accepts_and_refuses_the_same(data):
    accepted, all_refused = judged(data)
    refused = of_any_document(all_refused)

    cut, said = sliced(data)
    assert [text for text, *_ in cut] == [text for text, _ in accepted]
    assert of_any_document(said) == refused
    assert {each[:3] for each in all_refused} <= {each[:3] for each in said}

    whole, said = seen(
        tree.documents, data,
        lambda each: [*map(canonical, filter(is_unit, outermost(each.element)))],
    )  # fmt: skip
    assert said == all_refused
    if not refused:
        assert [*chain(*whole)] == [text for text, _ in accepted]

    for query in (STREAMED, RELATIVE, LATER, WHOLE):
        assert seen(query.run, data, lambda match: match.text)[1] == refused
    blocks, said = seen(read, data, lambda block: block.name)
    assert said == all_refused
    assert [name for name in blocks if name in ("Job", "JobGroup")] == [
        re.match(r"<(?:\w+:)?(\w+)", text)[1] for text, _ in accepted
    ]

    checked = []
    list(check_each(data, lambda element, offset: checked.append(element.tag) or ()))
    assert len([tag for tag in checked if tag in UNIT_TAGS]) == len(accepted)
    codes = {each.code for each in check_source(data)}
    assert {each[0] for each in all_refused} <= codes
    assert ("E-XML" in codes) == any(each[0] == "E-XML" for each in refused)

    for load, why in (
        (loads, all_refused),
        (lambda data: list(tree.units(data)), all_refused),
        (splice, refused),
    ):
        if why:
            with pytest.raises(UnreadableDocument) as failure:
                load(data)
            assert told([failure.value]) == why[:1]
    if not refused:
        assert splice(data) == data


@examples(50)
@given(sources(), st.sampled_from((1, 30, 200)), st.sampled_from((1, 7, 1 << 18)))
@example(SHAPES[-4], 200, 1 << 18)
@example(SHAPES[-3], 30, 1 << 18)
@example(SHAPES[-3], 100, 1 << 18)
def test_how_a_source_is_cut_does_not_matter(data, size, chunk):
    expected = judged(data), sliced(data)
    with mock.patch.object(guesses, "SIZE", size), mock.patch.object(cutting, "_READ", chunk):
        assert (judged(data), sliced(data)) == expected
    with mock.patch.object(guesses._OfTags, "of", return_value=None):
        assert (judged(data), sliced(data)) == expected


@examples(75)
@given(sources())
def test_what_libxml2_accepts_is_accepted_and_what_is_accepted_it_accepts(data):
    refused = [each for each in located(data)[1] if each[0] != "E-UNKNOWN"]
    if parsing.fault(data) is None:
        if parsing.parsed(data).getroottree().docinfo.doctype:
            assert refused
            return
        assert refused == []
        units = filter(is_unit, outermost(parsing.parsed(data)))
        assert judged(data)[0] == [(canonical(unit), unit.sourceline) for unit in units]
    elif not refused:  # they are several
        documents = list(DocumentCutter(io.BytesIO(data)).documents())
        assert len(documents) > 1
        assert not any(parsing.fault(each.data, each.encoding) for each in documents)


@examples(50)
@given(sources())
@example(SHAPES[-2])
@example(SHAPES[-1])
def test_the_bytes_of_a_job_object_are_those_of_its_place(data):
    for each in slices(data, on_error=lambda error: None):
        assert canonical(parsing.parsed(each.document)) == canonical(each.element)
        if each.end >= 0 and b"xmlns" not in each.document:
            assert data[each.start : each.end].decode(each.encoding).encode() == each.document


@examples(15)
@given(sources())
def test_a_store_keeps_what_is_accepted_and_counts_what_is_refused(tmp_path_factory, data):
    errors = []
    path = tmp_path_factory.mktemp("store") / "jobs.db"
    with store.open(str(path), create=True) as jobs:
        counts = jobs.load(io.BytesIO(data), on_error=errors.append)
        kept = sum(1 for _ in jobs.documents())
    without_id = [each for each in errors if each.finding.code == "E-MISSING"]
    said = of_any_document(each for each in told(errors) if each[0] != "E-MISSING")
    accepted, refused = judged(data)
    assert said == of_any_document(refused)
    assert counts.bad == len(errors)
    assert counts.new == kept
    assert counts.new + counts.changed + counts.unchanged + len(without_id) == len(accepted)


# fmt: off
PLACES = [
    # the source                                               line, column, what is said
    pytest.param(b"<Jobs>\n <Job><Id>1</Idd></Job></Jobs>",     2, 12, "<Id> (line 2) is not closed before </Idd>", id="inside a job"),
    pytest.param(b"<Jobs><Job/>\n<Job><Id></Job></Jobs>",       2, 10, "<Id> (line 2) is not closed before </Job>", id="behind another"),
    pytest.param(b"<Job/>\n\n<Jobs>\n<Job/></Jbs>",             4, 7, "<Jobs> (line 3) is not closed before </Jbs>", id="around jobs"),
    pytest.param(b"<Job/>\n<Job>\n<Id>",                        3, 5,  "in tag Id line 3", id="at the end"),
    pytest.param(b"<Jobs>\n<Job/>\n<a u:b='1'/><Job/></Jobs>",  3, 11, "prefix u", id="a prefix between jobs"),
    pytest.param(b"<Jobs>\n<Job/><a&/></Jobs>",                 2, 9,  "attribute", id="a tag between jobs"),
    pytest.param(b"<Job/> \n<!-- a -- b --><Job/>",             2, 8,  "hyphen", id="a comment between documents"),
    pytest.param("<Jobs>\n<Job>é \ufffe</Job></Jobs>".encode(),  2, 8,  "U+FFFE", id="a character"),
]
# fmt: on


@pytest.mark.parametrize("source, line, column, said", PLACES)
def test_a_fault_is_told_where_it_stands_in_its_source(source, line, column, said):
    _, [(code, *place, message)] = located(source)
    assert (code, *place) == ("E-XML", line, column)
    assert said.lower() in message.lower()


JOBS = "<Job><Id>1</Id></Job>\n<Job/>"
# fmt: off
FIRST_TAGS = [
    # the tag around two jobs,                     line, column, what is said
    pytest.param("<E xmlns:x='urnE xmlns:x='urn:x'>", 1, 27, "is not a valid URI", id="a value that does not end"),
    pytest.param("<E a='1'\n  b='2''>",               2, 8,  "attributes construct error", id="a quote too many"),
    pytest.param("<E a='1\x80'>",                    1, 8,  "byte 0x80 at offset 7 is not UTF-8", id="a byte"),
    pytest.param("<E a='1' a='2'>",                  1, 15, "Attribute a redefined", id="an attribute twice"),
    pytest.param("<E a=1>",                          1, 6,  "AttValue", id="no quotes"),
    pytest.param("<E\n\n \t a='1'' b='>'>",          3, 9,  "attributes construct error", id="> in what is left"),
    pytest.param("\n \n <E a='1''>",                 3, 10, "attributes construct error", id="behind white space"),
    pytest.param("<x:E>\n<F a='1''>",                1, 5,  "prefix x", id="a prefix, and another fault"),
    pytest.param("<E> \n  <F a='1''>",               2, 11, "attributes construct error", id="the second tag"),
]
# fmt: on


@pytest.mark.parametrize("before", [b"", b"<Job/>", b"<?xml version='1.0'?>\n"], ids=len)
@pytest.mark.parametrize("tag, line, column, said", FIRST_TAGS)
def test_what_is_wrong_with_the_first_tag_has_one_place(before, tag, line, column, said):
    data = before + f"{tag}{JOBS}</E>".encode("latin-1")
    at = parsing.SourcePlace().behind(before)
    where = at.line + line - 1, column + (at.column - 1 if line == 1 else 0)
    for chunk in (1, 1 << 18):
        for guess in (guesses._OfTags.of, lambda *_, **__: None):
            with mock.patch.object(cutting, "_READ", chunk), mock.patch.object(
                guesses._OfTags, "of", guess
            ):  # fmt: skip
                for read_all in (tree.located, tree.documents, slices, read):
                    [(code, *place, message), *_] = seen(read_all, data, str)[1]
                    assert (code, *place) == ("E-XML", *where)
                    assert said.replace("7", str(7 + len(before))) in message


LATIN = b'<?xml version="1.0" encoding="ISO-8859-1"?>'
NAMED = "<Job><Name>ü</Name></Job>"
WRAPPED = "<Jobs>\n<Job><Name>ü</Name></Job>\n</Jobs>"
DECLARING_LATIN = {
    "on its line": LATIN + JOB,
    "on two lines": LATIN + b"\n" + JOB,
    "on more lines": LATIN + b"\n<Job>\n<Id>1</Id>\n</Job>",
    "with its bytes": LATIN + b"\n" + NAMED.encode("latin-1"),
    "a wrapper": LATIN + WRAPPED.encode("latin-1"),
    "a comment behind it": LATIN + JOB + b"<!-- c -->",
}
BETWEEN = {
    "nothing": b"", "a blank": b" ", "a line end": b"\n", "blank lines": b"\n \n\n",
    "a document": JOB, "a line": b"\n" + JOB + b"\n", "many lines": (b"\n" + JOB) * 50 + b"\n",
}  # fmt: skip


@pytest.mark.parametrize("text", [NAMED, WRAPPED], ids=["a job", "a wrapper"])
@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
@pytest.mark.parametrize("first", DECLARING_LATIN.values(), ids=DECLARING_LATIN)
def test_a_document_that_declares_no_encoding_is_utf_8_whatever_is_before_it(first, between, text):
    bad, good = (first + between + text.encode(name) for name in ("latin-1", "utf-8"))
    before = bad[: bad.rfind(b"\xfc")]
    line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
    for size, chunk in ((30, 7), (1 << 18, 1 << 18)):
        with mock.patch.object(guesses, "SIZE", size), mock.patch.object(cutting, "_READ", chunk):
            for read_all in (tree.located, tree.documents, slices, read):
                assert seen(read_all, good, str)[1] == []
                [(code, *where, said)] = seen(read_all, bad, str)[1]
                assert (code, *where) == ("E-XML", line, column)
                assert "byte 0xFC" in said
                assert said.endswith("is not UTF-8")


NOTE = "<!-- ü -->".encode("latin-1")
ENDS = {
    "a comment": b"<Job/>\n<!-- c -->", "an instruction": b"<Job/>\n<?p c?>\n",
    "comments": b"<Job/>\n<!-- c -->\n\n <!-- c --><?p c?>\n",
    "a comment before a declaration": b"<Job/>\n<!-- c -->\n<?xml version='1.0'?><Job/>",
    "a declaration on its line": b"<Job/>\n<!-- c --><?xml version='1.0'?>\n<Job/>",
    "bytes in a comment": LATIN + JOB + NOTE, "bytes in a line": LATIN + JOB + b"\n" + NOTE,
    "bytes behind blank lines": LATIN + WRAPPED.encode("latin-1") + b"\n \n\n" + NOTE,
    "bytes in two lines": LATIN + JOB + b"\n" + NOTE + b"\n" + NOTE + b"\n" + JOB + b"<!-- c -->",
    "a document that goes on": b"<Job/><Jobs>\n<Job/>\n</Jobs>",
}  # fmt: skip


@pytest.mark.parametrize("before", [0, 1, 2, 50])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_what_comes_behind_a_document_belongs_to_it_however_many_lines_are_before(end, before):
    data = (JOB + b"\n") * before + end
    for size, chunk in ((1, 1), (30, 7), (1 << 18, 1 << 18)):
        with mock.patch.object(guesses, "SIZE", size), mock.patch.object(cutting, "_READ", chunk):
            for read_all in (tree.located, tree.documents, slices, read):
                assert seen(read_all, data, str)[1] == []


@pytest.mark.parametrize("before", [0, 1, 2, 50])
@pytest.mark.parametrize("between", [JOB, JOB + b"\n", b"\n" + JOB + b"\n"], ids=repr)
def test_a_comment_behind_a_document_that_declares_nothing_is_utf_8(between, before):
    data = (JOB + b"\n") * before + LATIN + JOB + between + NOTE
    for read_all in (tree.located, tree.documents, slices, read):
        [(code, *_, said)] = seen(read_all, data, str)[1]
        assert code == "E-XML"
        assert "byte 0xFC" in said
        assert said.endswith("is not UTF-8")


def test_a_job_object_may_stand_in_another_at_any_margin():
    data = b"<Jobs>\n<Job>\n<Job><Id>1</Id></Job>\n</Job>\n<Job/>\n</Jobs>"
    assert [line for _, line in judged(data)[0]] == [2, 5]
    assert judged(data)[1] == []


def test_the_tags_around_job_objects_are_bounded():
    tags = b'<Jobs a="%b"><Job/></Jobs>'
    most = limits.AROUND_LIMIT - len(b'<Jobs a="">')
    assert judged(tags % (b"x" * most))[1] == []
    [error] = judged(tags % (b"x" * (most + 1)))[1]
    assert error[0] == "E-LIMIT"
    assert "64 KiB of tags around a job object" in " ".join(map(str, error))


@pytest.mark.parametrize(
    "document",
    [
        pytest.param("<a xmlns:p='urn:p'><Job a='>' xmlns:p='urn:q' p:b='1'/></a>", id="its own"),
        pytest.param("<a xmlns:p='urn:p' xmlns:q='urn:q'><Job type='p:T'/></a>", id="in a value"),
        pytest.param("<a xmlns='urn:a'><b xmlns=''><Job/></b></a>", id="no default any more"),
        pytest.param("<a xmlns:p='urn:a&amp;b'><Job p:b='1'/></a>", id="to be escaped"),
    ],
)
def test_a_slice_declares_what_it_uses_of_the_namespaces_around_it(document):
    [found] = slices(document.encode())
    assert canonical(parsing.parsed(found.document)) == canonical(found.element)
    assert b"xmlns:q" not in found.document


# Sources of so many parts: reading twice as many may not cost more than about twice the work.
GROWING = {
    "jobs": lambda n: b"<Jobs>\n" + (JOB + b"\n") * n + b"</Jobs>",
    "jobs on one line": lambda n: b"<Jobs>" + JOB * n + b"</Jobs>",
    "lines": lambda n: (JOB + b"\n") * n,
    "documents": lambda n: b'<?xml version="1.0"?><Job/><!-- c -->' * n,
    "bad jobs": lambda n: b"<Jobs>\n" + b"<Job><Id></Job>\n" * n + b"</Jobs>",
    "bad lines": lambda n: (JOB + b"\n") * 2 + b"<Job><Id></Job>\n" * n,
    "jobs without an end": lambda n: b"<Jobs>\n" + b"<Job>\n" * n,
    "one end for all": lambda n: b"<Jobs>\n" + b"<x:Job>\n" * n + b"</x:Job></Jobs>",
    "lines without an end": lambda n: (JOB + b"\n") * 2 + b"<Job>\n" * n,
    "jobs in comments": lambda n: (
        b"<Jobs>" + b"<!-- <Job> --><Job><!-- </Job> --></Job>" * n + b"</Jobs>"
    ),
    "jobs in a foreign group": lambda n: (
        b'<JobGroup xmlns="urn:x">' + b'<Job xmlns="">1</Job>\n' * n + b"</JobGroup>"
    ),
    "foreign jobs": lambda n: b'<Jobs xmlns="urn:x">' + JOB * n + b"</Jobs>",
    "namespaces around jobs": lambda n: (
        b"<Jobs "
        + b" ".join(b'xmlns:p%d="urn:%d"' % (i, i) for i in range(n))
        + b">\n"
        + (JOB + b"\n") * 50
        + b"</Jobs>"
    ),
    "attributes": lambda n: b"<Job " + b" ".join(b'a%d=""' % i for i in range(n)) + b"/>",
}


@pytest.mark.parametrize("make", GROWING.values(), ids=GROWING)
def test_twice_the_source_costs_twice_the_work(make):
    work(make(20))  # what is made once and kept
    assert work(make(400)) < 2.5 * work(make(200))


def work(data):
    """How much is done to read a source: calls of Python, and the bytes that are parsed."""
    calls, sizes, real = 0, [], parsing.parsed

    def count(frame, event, argument):
        nonlocal calls
        calls += 1

    def parsed(octets, *arguments, **options):
        sizes.append(len(octets))
        return real(octets, *arguments, **options)

    with mock.patch.object(parsing, "parsed", parsed):
        sys.setprofile(count)
        try:
            for _ in slices(data, on_error=lambda error: None):
                pass
        finally:
            sys.setprofile(None)
    return calls * 100 + sum(sizes)


@pytest.mark.parametrize("space", [b" ", b"\n"], ids=["columns", "lines"])
@pytest.mark.parametrize("comment", [b"", b"<!-- -->"], ids=["guessed", "careful"])
def test_job_objects_may_fill_more_than_a_text_of_libxml2(space, comment):
    job = b"<Job>" + space * (1 << 20) + b"</Job>"
    data = b"<Jobs>" + comment + job * 12 + b"</Jobs>"
    assert len(list(tree.units(data))) == 12
    errors = []
    list(tree.located(data.replace(b"</Jobs>", b"\n&x;</Jobs>"), on_error=errors.append))
    lines = 2 + (12 << 20) * (space == b"\n")
    assert [(error.finding.line, error.finding.column) for error in errors] == [(lines, 4)]


@pytest.mark.parametrize("ids", [False, True])
@given(data=sources())
@example(data=b"<Job xml:id='a'><Id xml:id='b'>1</Id></Job>")
@example(data=b"<Job xml:id='a'><Id xml:id='a'>1</Id></Job>")
def test_a_parser_that_is_used_again_accepts_what_a_new_one_accepts(data, ids):
    parser = parsing.safe_parser(ids=ids)
    for _ in range(2):
        outcomes = []
        for parse in (partial(parsing.parsed, ids=ids), partial(parsing.parsed_by, parser)):
            try:
                outcomes.append(etree.tostring(parse(data)))
            except etree.XMLSyntaxError:
                outcomes.append(None)
        assert outcomes[0] == outcomes[1]


# What parses XML beside the reader, and what that is: none of it is a document about jobs.
PARSERS = {
    "check/accept.py": "a grammar made from the tables",
    "classads/as_xml.py": "ClassAds in XML",
    "document/parsing.py": "the reader's own",
    "rmap/signature.py": "the forms of an envelope of SSSRMAP that signatures need",
    "transform.py": "sheets",
}
_PARSES = re.compile(
    r"etree\.(?:fromstring|fromstringlist|parse|XML|HTML|XMLID|iterparse|XMLParser|XMLPullParser|HTMLParser)\b"
    r"|\bexpat\b|minidom|import ElementTree|xml\.sax\b(?!\.saxutils)|objectify"
)


def test_nothing_else_parses_documents():
    package = Path(sssjob.__file__).parent
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if _PARSES.search(path.read_text())
    }
    assert found == set(PARSERS)


DECLARING = [
    '<!DOCTYPE Job [<!ENTITY x "y">]><Job><Id>a&x;b</Id></Job>',
    '<!DOCTYPE Job [<!ENTITY x "y">]><Job><Id>1</Id></Job>',
    '<!DOCTYPE Job SYSTEM "file:///etc/hostname"><Job><Id>1</Id></Job>',
    f"<!-- {'x' * 4000} --><!DOCTYPE Job><Job><Id>1</Id></Job>",
    "<!DOCTYPE Jobs>\n<Jobs>\n<Job><Id>1</Id></Job>\n<Job/>\n</Jobs>",
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", DECLARING)
def test_a_document_type_is_refused_by_every_view_in_every_encoding(text, encoding):
    data = text.encode(encoding)
    views = [
        *(lambda query=query: [*query.run(data)] for query in (STREAMED, RELATIVE, LATER, WHOLE)),
        lambda: loads(data), lambda: [*read(data)], lambda: [*slices(data)],
        lambda: [*tree.documents(io.BytesIO(data))], lambda: [*tree.located(data)],
    ]  # fmt: skip
    for view in views:
        with pytest.raises(UnreadableDocument, match="document type declaration"):
            view()
    for parse in (parsing.parsed, partial(parsing.parsed_by, parsing.safe_parser())):
        with pytest.raises(etree.XMLSyntaxError):
            parse(data)
    assert {each.message for each in check_source(data)} == {cause.DOCTYPE}


# A start tag between documents on lines, cut by a line end: as what stands in quotes may look.
CUT_TAGS = [
    pytest.param("<Job a='1>2'\nb='3'>", ["1", "2", "3", "4"], id="behind a quoted >"),
    pytest.param("<Job a='1>2\nb'>", ["1", "2", "3", "4"], id="in quotes behind a >"),
    pytest.param('<Job a="1" b=">"\n>', ["1", "2", "3", "4"], id="double quotes"),
    pytest.param("<Job\na='1'>", ["1", "2", "3", "4"], id="without a >"),
    pytest.param("<Job a='1>\n<Job>", ["1", "2", "3", "4"], id="cut off, and another one"),
]


@pytest.mark.parametrize("tag, ids", CUT_TAGS)
@pytest.mark.parametrize("size", [10, guesses.SIZE])
def test_a_document_among_lines_may_go_on_in_the_next_line(tag, ids, size):
    lines = [f"<Job><Id>{number}</Id></Job>" for number in (1, 2, 4)]
    text = "\n".join((*lines[:2], f"{tag}<Id>3</Id></Job>", lines[2])).encode()
    told = []
    with mock.patch.object(guesses, "SIZE", size):
        assert [each.id for each in read(io.BytesIO(text), on_error=told.append)] == ids
        assert [each.text for each in STREAMED.run(text, on_error=lambda error: None)] == ids
        assert len(list(tree.documents(text, on_error=lambda error: None))) == len(ids)
    assert bool(told) == (tag == CUT_TAGS[-1].values[0])


def of_batch(name, batch):
    return name, [canonical(each.element) for each in batch.located()]


def of_trees(name, found):
    return name, [canonical(each.element) for each in found]


@pytest.mark.parametrize(
    "broken", [b"", JOB + b"\n<Job><Id>&</Id></Job>\n"], ids=["whole", "broken"]
)
@pytest.mark.parametrize("data", SHAPES, ids=range(len(SHAPES)))
def test_parts_of_a_source_hold_what_the_source_holds(data, broken):
    data, told, again = broken + data, [], []
    with Workers(PartWork("sssjob.document.reader:on_parts", (of_batch,)), 1) as workers:
        stream = io.BytesIO(data)
        found = reader.in_parts("f", data, stream, workers, of_batch, on_error=told.append)
        assert [*found] == [
            of_batch("f", batch) for batch in reader.batches(data, on_error=again.append)
        ]
    with Workers(PartWork("sssjob.document.reader:on_whole", (of_trees,)), 1) as workers:
        stream = io.BytesIO(data)
        found = [*reader.whole_in_parts("f", data, stream, workers, of_trees, on_error=told.append)]
        documents = [*reader.documents(data, on_error=again.append, wanted=tree.Wanted.DOCUMENTS)]
        assert [text for _, texts in found for text in texts] == of_trees("f", documents)[1]
    assert [each.finding for each in told] == [each.finding for each in again]
