"""Bytes to trees: documents of any shape and size."""
# ruff: noqa: E501 (a row of a table is a line)

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from strategies import documents

from sssjob import spec
from sssjob.document import cutting, files, loads, read, reader, tree
from sssjob.document.batches import Located
from sssjob.document.slices import slices
from sssjob.errors import UnreadableDocument

NS = spec.NAMESPACE
JOB = b"<Job><Id>1</Id></Job>"


def texts(source, **more):
    return [etree.tostring(element, with_tail=False) for element in tree.units(source, **more)]


# fmt: off
SHAPES = [
    pytest.param(JOB, ["Job"], id="a job"),
    pytest.param(b"<JobGroup><Id>g</Id>" + JOB + b"</JobGroup>", ["JobGroup"], id="a group"),
    pytest.param(b"<Jobs>" + JOB * 3 + b"</Jobs>", ["Job"] * 3, id="a wrapper"),
    pytest.param(b"<Jobs/>", [], id="an empty wrapper"),
    pytest.param(b"<a><b><c>" + JOB + b"</c></b><d>" + JOB + b"</d></a>", ["Job"] * 2, id="deep"),
    pytest.param(b"<Jobs>" + JOB + b"<JobGroup><Id>g</Id>" + JOB * 2 + b"</JobGroup></Jobs>",
                 ["Job", "JobGroup"], id="jobs in a group are the group's"),
    pytest.param(JOB * 3, ["Job"] * 3, id="documents without a break"),
    pytest.param(b"\n".join([JOB] * 3), ["Job"] * 3, id="lines"),
    pytest.param(b'<?xml version="1.0"?>\n' + JOB + b'\n<?xml version="1.0"?>' + JOB, ["Job"] * 2,
                 id="declarations"),
    pytest.param(b"<!-- <Jobs> --><Job>1</Job><!-- <a> --><Job>2</Job>", ["Job"] * 2, id="comments"),
    pytest.param(b"<Task><Id>1</Id></Task>", ["Task"], id="a task"),
    pytest.param(b"<Task><Job><Id>1</Id></Job></Task>", ["Task"], id="a job inside a task"),
    pytest.param(b"<JobDefaults><User>a</User></JobDefaults>\n" * 2, ["JobDefaults"] * 2,
                 id="lines of defaults"),
    pytest.param(f'<s:E xmlns:s="{NS}"><s:Job>1</s:Job><Job>2</Job></s:E>'.encode(), ["Job"] * 2,
                 id="namespaces"),
    pytest.param(b'<x:Job xmlns:x="urn:x"><Job>1</Job></x:Job>', ["Job"], id="in a foreign Job"),
    pytest.param(b"\xef\xbb\xbf" + JOB, ["Job"], id="a byte order mark"),
    pytest.param(b"\n \n" + JOB + b"\n\n", ["Job"], id="blank lines around"),
    pytest.param("<Job><Id>é</Id></Job>".encode("utf-16"), ["Job"], id="UTF-16"),
    pytest.param('<?xml version="1.0" encoding="ISO-8859-1"?><Job>é</Job>'.encode("latin-1"), ["Job"],
                 id="Latin 1"),
]
# fmt: on


@pytest.mark.parametrize("data, names", SHAPES)
@pytest.mark.parametrize("chunk", [1, 7, 1 << 16])
def test_documents_of_any_shape_give_their_outermost_job_objects(data, names, chunk, monkeypatch):
    monkeypatch.setattr(reader, "CHUNK", chunk)
    monkeypatch.setattr(cutting, "_READ", chunk)
    monkeypatch.setattr(files, "CHUNK", chunk)
    found = [etree.QName(element).localname for element in tree.units(data)]
    assert found == names


SEPARATORS = [
    b"",
    b"\n",
    b"\r\n",
    b" \n\t",
    b"\n\n\n",
    b"<!-- c\n -->",
    b"<?pi?>\n",
    b"\n<!--<x>-->\n",
]


@examples(60)
@given(
    st.lists(st.tuples(documents(), st.sampled_from(SEPARATORS), st.booleans()), min_size=1, max_size=5),
    st.integers(1, 400),
)  # fmt: skip
def test_documents_one_after_the_other_are_read_alike_in_any_chunks(parts, chunk):
    data, expected, lines = b"", [], []
    for element, separator, declared in parts:
        lines.append(data.count(b"\n") + 1)
        text = etree.tostring(
            element, encoding="UTF-8", xml_declaration=declared and bool(separator)
        )
        expected.append(etree.tostring(etree.fromstring(text)))
        data += text + (separator or b"\n" * declared)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "CHUNK", chunk)
        patch.setattr(files, "CHUNK", chunk)
        found = [(etree.tostring(e, with_tail=False), offset) for e, offset in tree.located(data)]
    assert [text for text, _ in found] == expected


def test_lines_are_counted_over_documents(monkeypatch):
    data = b"<Job>\n<Id>1</Id></Job>\n\n<Jobs>\n<Job>2</Job>\n<Job>\n3</Job></Jobs><Job>4</Job>"
    for chunk in (1, 5, 1 << 16):
        monkeypatch.setattr(reader, "CHUNK", chunk)
        monkeypatch.setattr(cutting, "_READ", chunk)
        assert [item.line for item in tree.located(data)] == [1, 5, 6, 7]


def test_an_element_deep_in_a_long_file_knows_its_line():
    data = b"<Jobs>" + b"\n" * 200_000 + b"<Job><Id>1</Id>\n</Job>\n</Jobs>"
    [found] = tree.located(data)
    assert (found.line, Located(found.element[0], found.offset).line) == (200_001, 200_001)
    [block] = read(data)
    assert (block.line, block.items[0].line) == (200_001, 200_001)


def test_earlier_siblings_are_gone_and_ancestors_are_there():
    data = b"<a x='1'><Jobs>" + JOB * 1000 + b"</Jobs></a>"
    for element in tree.units(data):
        assert element.getprevious() is None
        assert element.getparent().getparent().get("x") == "1"


def test_a_bad_line_does_not_hide_the_next_ones():
    data = JOB + b"\n" + JOB + b"\n<Job><Id>2</Job>\n\n" + JOB + b"\n<Job"
    errors = []
    assert len(texts(data, on_error=errors.append)) == 3
    assert [error.finding.line for error in errors] == [3, 6]


def test_a_line_may_hold_several_documents():
    data = b"\n".join(
        [JOB, JOB, JOB * 2 + b"<Job><Id>2</Job>", b'<?xml version="1.0"?>' + JOB + JOB]
    )
    errors = []
    found = [item.line for item in tree.located(data, on_error=errors.append)]
    assert found == [1, 2, 3, 3, 4, 4]
    assert [error.finding.line for error in errors] == [3]


TOGETHER = [
    pytest.param(b"<Job>\n<Id>3</Id></Job>\n" + JOB, [1, 2, 3, 5], id="over several lines"),
    pytest.param(b'<?xml version="1.0"?>\n' + JOB + b"\n" + JOB, [1, 2, 4, 5], id="a declaration"),
    pytest.param(JOB + b"<Job>\n</Job>", [1, 2, 3, 3], id="behind another on its line"),
    pytest.param(b"<Jobs>\n" + JOB + b"\n" + JOB + b"\n</Jobs>", [1, 2, 4, 5], id="a wrapper"),
]


@pytest.mark.parametrize("more, lines", TOGETHER)
def test_files_put_together_may_begin_with_lines(more, lines):
    data = b"\n".join([JOB, JOB, more])
    assert [item.line for item in tree.located(data)] == lines


# fmt: off
FOREIGN = [
    # the source                                                                  job objects  lines of the foreign
    pytest.param(b"<E>\n<Job>1</Job>\n<Job xmlns='urn:x'/>\n<Job>2</Job></E>",     ["1", "2"],  [3],    id="in a wrapper"),
    pytest.param(b"<Job>1</Job>\n<Job xmlns='urn:x'/>\n<Job>2</Job>",              ["1", "2"],  [2],    id="on a line"),
    pytest.param(b"<Task xmlns='urn:x'/>",                                         [],          [1],    id="a root that is part of one"),
    pytest.param(b"<Jobs xmlns='urn:x'>\n<Job/>\n<JobGroup/></Jobs>",              [],          [2, 3], id="with their wrapper"),
    pytest.param(b"<x:JobGroup xmlns:x='urn:x'>\n<x:Job/>\n<x:Job/></x:JobGroup>", [],          [1],    id="in each other"),
    pytest.param(b"<x:Job xmlns:x='urn:x'>\n <x:Job/><Job>1</Job></x:Job>",         ["1"],       [2],    id="around a job object"),
    pytest.param(b"<Job><Job xmlns='urn:x'/>1</Job>",                              [""],        [],     id="in a job object"),
    pytest.param("<E>\n<Job xmlns='urn:x'/><Job>1</Job></E>".encode("utf-16"),     ["1"],       [2],    id="in UTF-16"),
]
# fmt: on


@pytest.mark.parametrize("source, jobs, lines", FOREIGN)
def test_job_objects_of_other_namespaces_are_told_and_hide_none(source, jobs, lines):
    for view in (tree.units, slices):
        told = []
        found = [
            getattr(item, "element", item).text or "" for item in view(source, on_error=told.append)
        ]
        assert found == jobs
        assert [(error.finding.code, error.finding.line) for error in told] == [
            ("E-UNKNOWN", line) for line in lines
        ]
        if lines:
            with pytest.raises(UnreadableDocument, match="'urn:x'"):
                list(view(source))


BROKEN_ID = b'<Job><Id a="1" a="2">1</Id></Job>'
# fmt: off
BEHIND = [
    # what comes behind a broken job object                   where errors are
    pytest.param(b"\n<!-- a--b -->\n" + JOB,                  [(1, 21), (2, 7)],       id="a comment"),
    pytest.param(b"\n" * 10**6 + b"<!-- a--b -->" + JOB,      [(1, 21), (10**6 + 1, 7)], id="a comment behind much space"),
    pytest.param(b"\n" * 10**6 + BROKEN_ID,                   [(1, 21), (10**6 + 1, 21)], id="another behind much space"),
    pytest.param(b"\n<!DOCTYPE Job>\n" + JOB,                 [(1, 21), (2, 1)],       id="a document type"),
    pytest.param(b"\n<!-- a--b --><!DOCTYPE Job>\n" + JOB,    [(1, 21), (2, 7)],       id="a comment before a document type"),
]
# fmt: on


@pytest.mark.parametrize("behind, places", BEHIND)
def test_each_view_tells_what_is_wrong_with_a_document_before_what_is_wrong_behind_it(
    behind, places
):
    for view in (tree.units, tree.documents, slices):
        told = []
        list(view(BROKEN_ID + behind, on_error=told.append))
        assert [(error.finding.line, error.finding.column) for error in told] == places, view


def test_a_document_before_a_fault_is_whole_and_one_with_it_is_not():
    told = []
    source = b"%s\n<!-- a -->\n<?xml version='1.0'?>%s\n<!-- a--b -->\n" % (JOB, JOB)
    found = list(tree.documents(source, on_error=told.append))
    assert [each.line for each in found] == [1]
    assert [error.finding.line for error in told] == [4]


def test_an_error_counts_whatever_warning_comes_behind_it():
    document = b'<Job u:its="1"><File xmlns="relative"/></Job>'
    for load in (tree.parse, loads, lambda data: list(slices(data))):
        with pytest.raises(UnreadableDocument, match="prefix u"):
            load(document)


def test_a_parser_for_one_document_refuses_two():
    assert tree.parse("<?xml version='1.0' encoding='latin-1'?><Job>é</Job>").text == "é"
    with pytest.raises(UnreadableDocument):
        tree.parse(JOB * 2)


@pytest.mark.parametrize("between", ["", "\n", "\n<!-- c -->\n"])
@pytest.mark.parametrize("many", [1, 2, 30])
@pytest.mark.parametrize("wrapper", ["", "Jobs"])
def test_elements_of_whole_documents_are_known_by_their_ids(between, many, wrapper):
    jobs = [f"<Job><Id xml:id='a{each}'>{each}</Id></Job>" for each in range(many)]
    source = between.join(f"<{wrapper}>{job}</{wrapper}>" if wrapper else job for job in jobs)
    roots = [located.element for located in tree.documents(source.encode())]
    for number, root in enumerate(roots):
        assert [each.text for each in root.xpath(f"id('a{number}')")] == [str(number)]
    assert len(roots) == many


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_in_the_first_line_is_told_there(encoding):
    with pytest.raises(UnreadableDocument, match=r"^1:1: .*document type"):
        tree.parse("<!DOCTYPE Job><Job/>".encode(encoding))


def test_a_document_type_has_its_column_behind_what_stands_in_its_line():
    with pytest.raises(UnreadableDocument, match=r"^2:12: .*document type"):
        tree.parse("\n <!-- é --><!DOCTYPE Job><Job/>")


INNER = b"<TaskGroup><Name>1</Name></TaskGroup>"


@pytest.mark.parametrize(
    "root",
    [
        pytest.param(b"<TaskGroup>" + INNER + b"</TaskGroup>", id="one of its name inside"),
        pytest.param(
            b"<TaskGroup><!-- c -->" + INNER * 2 + b"</TaskGroup>", id="two, and a comment"
        ),
        pytest.param(b"<TaskGroup><![CDATA[</TaskGroup>]]><TaskGroup/></TaskGroup>", id="CDATA"),
        pytest.param(b"<TaskGroup><?p </TaskGroup>?></TaskGroup>", id="an instruction"),
        pytest.param(b"<TaskGroup a='>' />", id="an empty one"),
    ],
)
def test_a_part_of_a_job_object_ends_where_its_own_end_is(root):
    source = root + b"\n" + JOB + b"\n" + root
    assert [each.line for each in tree.documents(source)] == [1, 2, 3]
    assert [each.element.tag for each in tree.documents(source)] == [
        "TaskGroup",
        "Job",
        "TaskGroup",
    ]


@pytest.mark.parametrize(
    "job, lines, wrong",
    [
        pytest.param(b"<Job><Jobs>x</Jobs></Job>", [2, 4], [3], id="one like what it stands in"),
        pytest.param(b"<Job><Jobs><Jobs/></Jobs><!-- --></Job>", [2, 4], [3], id="two of them"),
        pytest.param(b"<Job><Job/><Job></Job></Job>", [2, 4], [3], id="jobs"),
        pytest.param(b"<Job><Job/>&</Job>", [4], [2, 3], id="a job, and what is wrong"),
        pytest.param(b"<Job><Jobs>x</Jobs>&</Job>", [4], [2, 3], id="the same of the other"),
        pytest.param(b"<Job><!-- <Job> </Jobs> --></Job>", [2, 4], [3], id="a comment"),
    ],
)
def test_a_job_object_ends_where_its_own_end_is_whatever_it_holds(job, lines, wrong):
    told = []
    source = b"<Jobs>\n%s\n<Job>&</Job>\n<Job><Id>4</Id></Job></Jobs>\n" % job
    assert [each.line for each in tree.located(source, on_error=told.append)] == lines
    assert [error.finding.line for error in told] == wrong


@pytest.mark.parametrize("inner", [b"", b"<Jobs/>", b"<Jobs>x</Jobs>", b"<Jobs><Jobs/></Jobs>"])
def test_one_without_an_end_of_its_own_ends_with_what_it_stands_in(inner):
    told = []
    source = b"<Jobs>\n<Job>%s\n</Jobs>\n<Job><Id>4</Id></Job>" % inner
    assert [each.line for each in tree.located(source, on_error=told.append)] == [4]
    assert [error.finding.line for error in told] == [3]


@pytest.mark.parametrize(
    "before, behind, lines, wrong",
    [
        pytest.param("<x:Jobs>", "</x:Jobs>", [], 1, id="of what jobs stand in"),
        pytest.param("<Jobs x:a='1'>", "</Jobs>", [], 1, id="of an attribute of that"),
        pytest.param("<Jobs><x:A>", "</x:A></Jobs>", [], 1, id="further inside"),
        pytest.param("<Jobs><x:b/>", "</Jobs>", [2, 3], 1, id="of what stands beside jobs"),
        pytest.param("<Jobs><b x:a='1'/>", "</Jobs>", [2, 3], 1, id="of its attribute"),
        pytest.param("<Jobs><A><x:b/>", "</A></Jobs>", [2, 3], 1, id="beside jobs further inside"),
    ],
)
@pytest.mark.parametrize("reader", [tree.located, slices])
def test_a_prefix_that_is_declared_nowhere_costs_the_jobs_that_stand_in_its_element(
    reader, before, behind, lines, wrong
):
    told = []
    source = f"{before}\n{JOB.decode()}\n{JOB.decode()}\n{behind}".encode()
    assert [each.line for each in reader(source, on_error=told.append)] == lines
    assert [error.finding.line for error in told] == [wrong]
