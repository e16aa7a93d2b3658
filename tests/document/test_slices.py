"""Job objects are cut out of any source byte for byte, and one that is broken hides no other."""

# ruff: noqa: E501 (a row of a table is a line)
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from strategies import ANY

from sssjob import spec
from sssjob.document import tree
from sssjob.document.outermost import UNIT_TAGS
from sssjob.document.slices import slices
from sssjob.errors import UnreadableDocument

SSSRMAP = spec.NAMESPACE


def cut(source):
    """The documents and lines, and what was said of those that cannot be read."""
    errors = []
    found = [(each.document, each.line) for each in slices(source, on_error=errors.append)]
    return found, [str(error) for error in errors]


def canonical(element):
    """The element whatever its prefixes are."""
    text = etree.tostring(element, encoding="unicode", with_tail=False)
    return etree.canonicalize(text, rewrite_prefixes=True, with_comments=True)


# fmt: off
WHOLE = [
    pytest.param(b"<Job><Id>1</Id></Job>", [(b"<Job><Id>1</Id></Job>", 1)], id="alone"),
    pytest.param(b"<?xml version='1.0'?>\n<!-- <Job> --><Job a='>'/>\n<Job/>\n",
                 [(b"<Job a='>'/>", 2), (b"<Job/>", 3)], id="one after the other"),
    pytest.param(b"<Jobs>\n <Job/>\n <JobGroup><Job/></JobGroup> </Jobs>\n<Jobs/><Jobs><Job\n/></Jobs>",
                 [(b"<Job/>", 2), (b"<JobGroup><Job/></JobGroup>", 3), (b"<Job\n/>", 4)], id="wrapped"),
    pytest.param(b"<Job><!-- </Job> --><Name><![CDATA[</Job><Job>]]></Name><?p </Job>?></Job>",
                 [(b"<Job><!-- </Job> --><Name><![CDATA[</Job><Job>]]></Name><?p </Job>?></Job>", 1)],
                 id="ends that are none"),
    pytest.param(b"<Jobs><JobName/><Job><JobName>JobGroup</JobName></Job></Jobs>",
                 [(b"<Job><JobName>JobGroup</JobName></Job>", 1)], id="names that begin alike"),
    pytest.param(b"<Job><Job><Job/></Job></Job>", [(b"<Job><Job><Job/></Job></Job>", 1)], id="nested"),
    pytest.param(b"\xef\xbb\xbf<Job/>", [(b"<Job/>", 1)], id="byte order mark"),
    pytest.param(gzip.compress(b"<Job/>\n<Job/>"), [(b"<Job/>", 1), (b"<Job/>", 2)], id="compressed"),
    pytest.param(b"<Jobs/>", [], id="a wrapper without any"),
    pytest.param(f'<e:Body xmlns:e="urn:e" xmlns="{SSSRMAP}" xmlns:f="urn:f"><Job e:a="1"/></e:Body>'.encode(),
                 [(f'<Job xmlns:e="urn:e" xmlns="{SSSRMAP}" e:a="1"/>'.encode(), 1)], id="namespaces from around it"),
    pytest.param(f'<s:Body xmlns:s="{SSSRMAP}"><s:Job xmlns:s="{SSSRMAP}"/></s:Body>'.encode(),
                 [(f'<s:Job xmlns:s="{SSSRMAP}"/>'.encode(), 1)], id="namespaces of its own"),
    pytest.param("<?xml version='1.0' encoding='ISO-8859-1'?><Job><Name>ü</Name></Job>".encode("latin-1"),
                 [("<Job><Name>ü</Name></Job>".encode(), 1)], id="Latin 1"),
    pytest.param("<?xml version='1.0'?>\n<Jobs><Job><Name>ü</Name></Job></Jobs>".encode("utf-16"),
                 [("<Job><Name>ü</Name></Job>".encode(), 2)], id="UTF-16"),
]
BROKEN = [
    pytest.param(b"<Job><Id>1</Id></Job>\n<Job><Id>2</Idd></Job>\n<Job/>",
                 [1, 3], ["2:11: error: <Id> (line 2) is not closed before </Idd>"], id="a line"),
    pytest.param(b"<Jobs>\n<Job/>\n<Job><Id>2</Idd></Job>\n<Job/>\n</Jobs>",
                 [2, 4], ["3:11: error: <Id> (line 3) is not closed before </Idd>"], id="inside a wrapper"),
    pytest.param(b"<Jobs>\n <Job><Id>\n <Job/>\n <Job/>\n</Jobs>",
                 [3, 4], ["3:2: error: the document ends inside an element"], id="without its end"),
    pytest.param(b"<Job/>\nCompleted & gone\n<Job/>",
                 [1, 3], ["2:1: error: this is text"], id="a line of something else"),
    pytest.param(b"<Job>&#xFFFE;</Job>\n<Job/>", [2], ["1:"], id="a character that XML does not have"),
    pytest.param(b"<Job>\xff</Job>\n<Job/>", [2], ["1:"], id="bytes that are no UTF-8"),
    pytest.param(b"<Job/>\n<Job><Id>2", [1], ["2:"], id="cut off"),
    pytest.param(b"<Jobs>\n<Job/>\n<Job><Id>2", [2], ["3:"], id="a wrapper cut off"),
    pytest.param(b"<Jobs>\n<Job/></Job></Jobs>", [2], ["2:"], id="an end too many"),
    pytest.param(b"<Report>\n<Line/></Report>", [], ["1: error: <Report> is no Job or JobGroup and holds none"],
                 id="another document"),
    pytest.param(b"<TaskGroup><Job/></TaskGroup>", [], ["1: error: <TaskGroup> is no Job"], id="a part of a job"),
    pytest.param(b"<Job/>\n<!DOCTYPE Job>\n<Job/>", [1], ["2:1: error: a document type"], id="a document type"),
    pytest.param(b" \n", [], ["the document is empty"], id="nothing"),
    pytest.param(b"soon\n", [], ["1:1: error: this is text"], id="no XML at all"),
]
# fmt: on


@pytest.mark.parametrize("source, expected", WHOLE)
def test_each_job_object_keeps_its_bytes(source, expected):
    assert cut(source) == (expected, [])


@pytest.mark.parametrize("source, lines, said", BROKEN)
def test_what_is_broken_is_told_and_the_rest_goes_on(source, lines, said):
    found, errors = cut(source)
    assert [line for _, line in found] == lines
    assert len(errors) == len(said), errors
    assert all(one in error for one, error in zip(said, errors, strict=True)), errors


def test_without_anybody_to_tell_the_first_fault_is_raised():
    with pytest.raises(UnreadableDocument, match="is not closed before </Idd>"):
        list(slices(b"<Job/>\n<Job><Id>2</Idd></Job>\n<Job/>"))


@given(
    st.lists(ANY.filter(lambda node: node.tag in UNIT_TAGS), min_size=1, max_size=4),
    st.sampled_from(["", "Jobs", "s:Body"]),
    st.sampled_from(["", "\n", " \n\n"]),
)
def test_the_job_objects_are_those_of_the_tree(nodes, wrapper, space):
    source = space.join(etree.tostring(node, encoding="unicode") for node in nodes)
    if wrapper:
        source = f'<{wrapper} xmlns:s="{SSSRMAP}">{space}{source}</{wrapper}>'
    expected = [canonical(unit) for unit in tree.units(source.encode())]
    found = list(slices(source.encode()))
    assert [canonical(each.element) for each in found] == expected
    assert [canonical(etree.fromstring(each.document)) for each in found] == expected


@given(st.binary(max_size=60).map(lambda data: b"<Jobs><Job>" + data + b"</Job><Job/></Jobs>"))
def test_no_bytes_stop_it_in_any_other_way_than_by_telling(source):
    cut(source)


@pytest.mark.parametrize(
    "begin", [b"<Job>", b"<Jobs><Job><Id>", b"<!--", b"<Jobs><![CDATA[", b"<?x "]
)
def test_what_does_not_end_is_not_read_for_ever(begin, monkeypatch):
    monkeypatch.setattr("sssjob.document.limits.OBJECT_LIMIT", 1 << 20)
    _, [error] = cut(begin + b"x" * (4 << 20))
    assert "E-LIMIT" in error


def test_where_a_chunk_ends_does_not_matter(monkeypatch):
    source = b"<Jobs>\n<!-- <Job> --><Job a='>'/><Job><![CDATA[</Job>]]></Job>\n<JobGroup><Job/></JobGroup></Jobs>"
    whole = cut(source)
    assert len(whole[0]) == 3
    monkeypatch.setattr("sssjob.document.cutting._READ", 1)
    assert cut(source) == whole


def test_a_line_in_another_encoding_among_lines_is_a_document_in_utf8():
    lines = [b"<Job><Id>%d</Id></Job>" % number for number in range(12)]
    lines.insert(
        9, "<?xml version='1.0' encoding='ISO-8859-1'?><Job><Id>é</Id></Job>".encode("latin-1")
    )
    found = [each.document for each in slices(b"\n".join(lines))]
    assert found[9] == "<Job><Id>é</Id></Job>".encode()
    assert [*found[:9], *found[10:]] == [*lines[:9], *lines[10:]]


@pytest.mark.parametrize(
    "source, places",
    [
        pytest.param(b"<Job/>\n<Job></Job>", [(0, 6), (7, 18)], id="lines"),
        pytest.param(b"<Jobs><Job/> <Job/></Jobs>", [(6, 12), (13, 19)], id="wrapped"),
        pytest.param("<Jobs><Job/><Job/></Jobs>".encode("utf-16"), [(14, 26), (26, 38)], id="UTF-16"),
        pytest.param(b"<?xml version='1.0' encoding='iso-2022-jp'?><Jobs><Job/><Job/></Jobs>",
                     [(-1, -1)] * 2, id="an encoding whose characters have no size of their own"),
    ],
)  # fmt: skip
def test_where_it_stands_is_known_or_is_not(source, places):
    assert [(each.start, each.end) for each in slices(source)] == places


@pytest.mark.parametrize("blank, many", [(200_000, 1), (200_000, 2), (400_000, 1), (200_001, 3)])
def test_much_white_space_is_a_limit_behind_a_document_and_counts_anew_behind_the_next(
    blank, many, monkeypatch
):
    monkeypatch.setattr("sssjob.document.limits.TOKEN_LIMIT", 300_000)
    found, errors = cut((b"<Job/>" + b"\n" * blank) * many + b"<!-- c --><Job/>")
    if blank < 300_000:
        assert ([line for _, line in found], errors) == (
            [1 + each * blank for each in range(many + 1)], []
        )  # fmt: skip
    else:
        assert len(found) == 1
        assert "without a tag" in "".join(errors)
        assert errors[0].startswith("1: error")
