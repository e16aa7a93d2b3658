import gzip
import io
import pickle

import pytest
from lxml import etree

from sssjob import spec
from sssjob.errors import UnreadableDocument
from sssjob.query import NotAQuery, compile
from sssjob.query.match import number

WIRE = spec.NAMESPACE
JOBS = b"""<Jobs>
 <Id>all</Id>
 <Job><Id>1</Id><Memory units="GB">2</Memory><Note>two
lines</Note></Job>
 <JobGroup><Id>g</Id>
  <JobDefaults><Queue>batch</Queue></JobDefaults>
  <Job><JobId>2</JobId><Memory units="MB">512</Memory></Job>
 </JobGroup>
</Jobs>"""


def texts(expression, source, **options):
    namespaces = options.pop("namespaces", None)
    return [match.text for match in compile(expression, namespaces).run(source, **options)]


def test_a_job_in_a_group_is_found_once_and_in_its_place():
    assert texts("//Job/Memory", JOBS) == ["2", "512"]


def test_a_relative_expression_is_asked_of_each_outermost_job_object():
    assert texts("Id", JOBS) == ["1", "g"]
    assert texts("count(.//Memory)", JOBS) == ["1", "1"]


@pytest.mark.parametrize("root", ["TaskGroup", "Task", "JobDefaults"])
def test_a_root_that_is_no_job_is_asked_too(root):
    assert texts("Id", f"<{root}><Id>7</Id></{root}>".encode()) == ["7"]


def test_a_document_without_job_objects_is_not_asked_relatively():
    assert texts("Id", b"<Other><Id>7</Id></Other>") == []
    assert texts("//Id", b"<Other><Id>7</Id></Other>") == ["7"]


@pytest.mark.parametrize(
    "document",
    [
        pytest.param("<Job><Id>1</Id></Job>", id="none"),
        pytest.param(f'<Job xmlns="{WIRE}"><Id>1</Id></Job>', id="default"),
        pytest.param(f'<s:Job xmlns:s="{WIRE}"><s:Id>1</s:Id></s:Job>', id="prefix"),
        pytest.param(f'<s:Job xmlns:s="{WIRE}"><Id>1</Id></s:Job>', id="mixed"),
        pytest.param(f'<E xmlns="{WIRE}"><Job xmlns=""><Id>1</Id></Job></E>', id="undone"),
    ],
)
@pytest.mark.parametrize("expression", ["//Job/Id", "//Job[1]/Id", "Id", "//Id[1]", "//Id/../Id"])
def test_names_without_prefix_match_both_namespaces(document, expression):
    assert texts(expression, document.encode()) == ["1"]


def test_names_without_prefix_do_not_match_foreign_ones():
    document = b'<Job xmlns:x="urn:x"><Id>1</Id><x:Id>2</x:Id></Job>'
    assert texts("//Job/Id", document) == ["1"]
    assert texts("//Job/y:Id", document, namespaces={"y": "urn:x"}) == ["2"]
    assert texts("//Job/*", document) == ["1", "2"]


def test_a_prefix_for_the_wire_matches_only_there():
    document = f'<Jobs><Job><Id>1</Id></Job><s:Job xmlns:s="{WIRE}"><s:Id>2</s:Id></s:Job></Jobs>'
    assert texts("//sssrmap:Job/Id", document.encode(), namespaces={"sssrmap": WIRE}) == ["2"]


def test_documents_one_after_the_other_are_each_asked():
    assert texts("count(//Job)", b"<Job><Id>1</Id></Job>\n<Jobs/>\n<Job>x</Job>") == ["1", "0", "1"]
    assert texts("//Job/Id", b"<Job><Id>1</Id></Job>\n<Job><Id>2</Id></Job>") == ["1", "2"]
    assert texts("Id", b"<Jobs/>\n<Job><Id>2</Id></Job>") == ["2"]
    assert texts("/A/Job/Id", b"<B><Job><Id>1</Id></Job></B><A><Job><Id>2</Id></Job></A>") == ["2"]


def test_sources_are_streams_and_may_be_compressed():
    assert texts("//Job/Memory", io.BytesIO(gzip.compress(JOBS))) == ["2", "512"]


def test_a_bad_line_does_not_hide_the_next():
    errors = []
    source = b"<Job><Id>1</Id></Job>\n<Job><Id>2</Job>\n<Job><Id>3</Id></Job>\n"
    assert texts("//Job/Id", source, on_error=errors.append) == ["1", "3"]
    assert [error.finding.line for error in errors] == [2]


def test_a_broken_document_is_said():
    with pytest.raises(UnreadableDocument):
        texts("//Id", b"<Job><Id>1</Job>")


def test_effective_asks_jobs_with_their_defaults():
    assert texts("//Job/Queue", JOBS) == []
    assert texts("//Job/Queue", JOBS, effective=True) == ["batch"]
    assert texts("//Job/Id", JOBS, effective=True) == ["1", "2"]
    assert texts("count(//Job/Queue)", JOBS, effective=True) == ["1"]
    assert texts("/Jobs/JobGroup/Job/Id", JOBS, effective=True) == ["2"]


def test_effective_of_what_has_no_defaults_is_the_same():
    assert texts("//Id", b"<Other><Id>7</Id></Other>", effective=True) == ["7"]
    assert texts("//Variable", b"<Environment><Variable name='A'>1</Variable></Environment>",
                 effective=True) == ["1"]  # fmt: skip


def matches(expression, source=JOBS, **options):
    """What is shown of each match, taken while it is good."""
    namespaces = options.pop("namespaces", None)
    return [
        (match.line, match.job, match.path, match.value)
        for match in compile(expression, namespaces).run(source, **options)
    ]


@pytest.mark.parametrize(
    "expression, shown",
    [
        ("//Job/Memory/@units", [(3, "1", "/Jobs/Job/Memory/@units", "GB"),
                                 (7, "2", "/Jobs/JobGroup/Job/Memory/@units", "MB")]),
        ("//JobGroup/Id/text()", [(5, None, "/Jobs/JobGroup/Id/text()", "g")]),
        ("/Jobs/Job/Id", [(3, "1", "/Jobs/Job/Id", "1")]),
        ("/Jobs/Id", [(2, None, "/Jobs/Id", "all")]),
        ("string(Memory/@units)", [(3, "1", None, "GB"), (5, None, None, "")]),
        ("count(//Job)", [(None, None, None, 2)]),
        ("sum(//Memory) div 4", [(None, None, None, 128.5)]),
        ("1 div 0", [(None, None, None, "Infinity")]),
        ("//Job/Queue = 'x'", [(None, None, None, False)]),
    ],
)  # fmt: skip
def test_matches_know_line_job_path_and_value(expression, shown):
    assert matches(expression) == shown


def test_an_attribute_prints_as_one():
    assert [match.xml for match in compile("//Job/Memory/@units").run(JOBS)] == [
        'units="GB"', 'units="MB"',
    ]  # fmt: skip


def test_structures_are_xml_with_their_namespaces():
    document = f'<E xmlns="{WIRE}" xmlns:x="urn:x"><Job><Id>1</Id></Job></E>'.encode()
    ((_, _, path, value),) = matches("//Job", document)
    assert path == "/E/Job"
    assert etree.fromstring(value).tag == f"{{{WIRE}}}Job"


def test_text_and_xml_of_a_match_fit_on_a_line():
    (job, note) = [
        (match.line_of_text, match.xml) for match in compile("/Jobs/Job | /Jobs/Job/Note").run(JOBS)
    ]
    assert job[0] == "1 2 two lines"
    assert note == ("two lines", "<Note>two&#10;lines</Note>")
    assert "\n" not in job[1]
    assert etree.fromstring(job[1]).findtext("Note") == "two\nlines"


@pytest.mark.parametrize(
    "document, expression, xml",
    [
        (b"<Job>\n <Id>1</Id>\n</Job>", "//Job", "<Job><Id>1</Id></Job>"),
        (
            b"<Job>\n <!-- a\nb --><Id>\n</Id></Job>",
            "//Job",
            "<Job><!-- a b --><Id>&#10;</Id></Job>",
        ),
        (b"<Job><Id>a&lt;\nb</Id></Job>", "//Job/Id/text()", "a&lt;&#10;b"),
        (b"<Job xml:lang='en'/>", "//Job/@xml:lang", 'xml:lang="en"'),
        (b"<Job xmlns:x='urn:x' x:a='&quot;'/>", "//Job/@*", "x:a='\"'"),
        (b"<Job><Id>1</Id><!-- c --></Job>", "//Job/comment()", "<!-- c -->"),
    ],
)
def test_xml_of_a_match_means_the_same(document, expression, xml):
    assert [match.xml for match in compile(expression).run(document)] == [xml]


@pytest.mark.parametrize(
    "value, text",
    [
        (0.0, "0"),
        (-0.0, "0"),
        (16.0, "16"),
        (1.5, "1.5"),
        (0.1 + 0.2, "0.3"),
        (1e12, "1000000000000"),
        (123456789012345.0, "123456789012345"),
        (1e-7, "0.0000001"),
        (1e21, "1000000000000000000000"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_numbers_are_written_without_exponent(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    "expression, is_true",
    [
        ("Id", [True]),
        ("string(Id)", [True]),
        ("string(Name)", [False]),
        ("count(Id)", [True]),
        ("count(Name)", [False]),
        ("Id = 1", [True]),
        ("Id = 2", [False]),
        ("number(Name)", [False]),
    ],
)
def test_false_zero_and_empty_strings_are_nothing(expression, is_true):
    found = compile(expression).run(b"<Job><Id>1</Id></Job>")
    assert [match.is_true for match in found] == is_true


def test_a_query_is_a_value():
    query = compile("//x:Job/Id", {"x": WIRE})
    assert query == compile("//x:Job/Id", {"x": WIRE}) != compile("//x:Job/Id", {"x": "urn:x"})
    assert pickle.loads(pickle.dumps(query)) == query
    assert len({query, compile("//x:Job/Id", {"x": WIRE})}) == 1


def test_a_query_is_asked_of_any_element():
    root = etree.fromstring(JOBS)
    assert [item.text for item in compile("//Job/Memory").on(root)] == ["2", "512"]
    assert compile("string(Id)").on(root[1]) == "1"
    assert compile("Memory > 1").on(root[1]) is True


def test_what_libxml2_refuses_is_not_a_query():
    with pytest.raises(NotAQuery):
        compile("/".join("a" * 5000))


def test_a_query_of_whole_documents_knows_the_line_of_each():
    source = b"<Job>\n<Id>1</Id></Job>\n<Job>\n<Id>2</Id></Job>\n"
    assert [match.line for match in compile("//Job[last()]/Id").run(source)] == [2, 4]


@pytest.mark.parametrize("version", ["1.0", "2.0", "3.1"])
@pytest.mark.parametrize("uri, code", [("\x01", "0001"), ("a\udcff", "DCFF"), ("\ufffe", "FFFE")])
def test_a_namespace_that_is_no_text_of_xml_is_refused(version, uri, code):
    with pytest.raises(NotAQuery, match=rf"namespace of a: character U\+{code} cannot be in XML"):
        compile("//Job", {"a": uri}, version)
