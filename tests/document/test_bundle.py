"""Messages: jobs, and the files that travel beside them byte by byte."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from sssjob import spec
from sssjob.document import attached, dumps
from sssjob.document.bundle import MessageFile, bundle, bundles, notes
from sssjob.errors import InvalidValue, Severity
from sssjob.model import Job

JOB = "<Job><Id>1</Id><Executable>{}</Executable>{}</Job>"


def read(text):
    return bundle(etree.fromstring(text))


def message(*parts):
    return f"<Data>{''.join(parts)}</Data>"


def test_an_executable_names_a_file_of_its_message():
    # The example of rule 10: the file stands beside Data, not in it.
    found = read(
        f"<Request><Data>{JOB.format('#Script', '<Shell>/bin/sh</Shell>')}</Data>"
        "<File id='Script'>echo hello world</File></Request>"
    )
    assert found.findings == ()
    assert found.script(found.blocks[0].get("Executable")).content == b"echo hello world"


def test_paths_and_addresses_name_no_file_of_the_message():
    found = read(message(JOB.format("/bin/true", "")))
    assert found.script("/bin/true") is None
    assert found.script("https://example.org/x") is None
    with pytest.raises(InvalidValue):
        found.script("#")


SH = "<Shell>sh</Shell>"
FILE = "<File id='Script'>x</File>"
FINDINGS = [
    pytest.param(
        [JOB.format("#Script", "")], [("E-FILE", "/Job/Executable")], id="a missing file"
    ),
    pytest.param(
        [JOB.format("#script", SH), FILE],
        [("E-FILE", "/Job/Executable"), ("I-FILE", "/Data/File")], id="ids count case",
    ),
    pytest.param(
        [JOB.format("#Script", SH), FILE, FILE], [("E-DUP", "/Data/File[2]/@id")], id="two files"
    ),
    pytest.param(
        [JOB.format("#Script", SH), FILE, "<File id='%53cript'/>"],
        [("E-DUP", "/Data/File[2]/@id")], id="two files by decoded ids",
    ),
    pytest.param(
        [FILE, JOB.format("x.sh", "")], [("I-FILE", "/Data/File")], id="a file nobody names"
    ),
    pytest.param(
        [JOB.format("#my%20file", SH), "<File id='my file'/>"], [], id="an encoded reference"
    ),
    pytest.param(
        [JOB.format("#my file", SH), "<File id='my%20file'/>"], [], id="an encoded id"
    ),
    pytest.param([JOB.format("#", "")], [("E-FILE", "/Job/Executable")], id="no id at all"),
    pytest.param([JOB.format("a&#10;b", "")], [("E-FILE", "/Job/Executable")], id="a line end"),
    pytest.param([JOB.format("#a%00b", "")], [("E-FILE", "/Job/Executable")], id="U+0000"),
    pytest.param([JOB.format("", "")], [("E-FILE", "/Job/Executable")], id="an empty one"),
    pytest.param(["<File>x</File>"], [("E-MISSING", "/Data/File")], id="a file without id"),
    pytest.param(
        [JOB.format("#Script", SH), "<File id='Script'>x<y/></File>"],
        [("E-MIXED", "/Data/File")], id="elements in a file",
    ),
    pytest.param(
        [JOB.format("#Script", ""), FILE], [("W-SHELL", "/Job/Executable")], id="no interpreter"
    ),
    pytest.param(
        [JOB.format("#Script", ""), "<File id='Script'>#!/bin/sh</File>"], [], id="its own #!"
    ),
    pytest.param(
        [JOB.format("#Script", "<Shell>'sh</Shell>"), FILE],
        [("E-FILE", "/Job/Executable")], id="a shell that is no list of words",
    ),
    pytest.param(
        ["<Job><Id>1</Id><Shell>sh</Shell><TaskGroup><Id>a</Id></TaskGroup><TaskGroup>"
         "<Executable>#Script</Executable><Task><Executable>#b</Executable></Task></TaskGroup>"
         "</Job>", FILE],
        [("E-FILE", "/Job/TaskGroup[2]/Task/Executable")], id="of task groups and tasks",
    ),
    pytest.param(
        ["<JobGroup><JobDefaults><Shell>sh</Shell></JobDefaults>",
         JOB.format("#Script", ""), "</JobGroup>", FILE],
        [], id="a shell from JobDefaults",
    ),
    pytest.param(
        [f"<s:Job xmlns:s='{spec.NAMESPACE}'><s:Executable>#Script</s:Executable>"
         "<s:Shell>sh</s:Shell></s:Job>", FILE], [], id="namespaces that are ours, mixed",
    ),
    pytest.param(
        ["<x:File xmlns:x='urn:x' id='Script'/>", JOB.format("#Script", "")],
        [("E-FILE", "/Job/Executable")], id="a foreign File",
    ),
]  # fmt: skip


@pytest.mark.parametrize("parts, expected", FINDINGS)
def test_what_is_wrong_with_files_is_found(parts, expected):
    found = read(message(*parts)).findings
    assert [(one.code, one.path) for one in found] == expected


def test_a_second_file_tells_the_line_of_the_first():
    (found,) = read(message(JOB.format("#Script", SH), FILE, "\n", FILE)).findings
    assert found.line == 2
    assert found.message.endswith("jobs mean the one on line 1")
    assert found.severity is Severity.ERROR


CONTENTS = [
    pytest.param("<![CDATA[if [ 1 < 2 ] && true]]>", b"if [ 1 < 2 ] && true", id="CDATA"),
    pytest.param("a&#13;\nb&#13;\n", b"a\r\nb\r\n", id="CRLF as references"),
    pytest.param("a\r\nb", b"a\nb", id="CRLF as XML reads it"),
    pytest.param("  \n\t x ", b"  \n\t x ", id="white space"),
    pytest.param("<![CDATA[a]]>&amp;<![CDATA[b]]>", b"a&b", id="in pieces"),
    pytest.param("a<!-- no -->b", b"ab", id="around a comment"),
    pytest.param("é€", "é€".encode(), id="beyond ASCII"),
    pytest.param("", b"", id="empty"),
]


@pytest.mark.parametrize("written, content", CONTENTS)
def test_the_content_of_a_file_is_exact(written, content):
    assert read(message(f"<File id='a'>{written}</File>")).files["a"].content == content


LEGAL = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="\ufffe\uffff")
    | st.sampled_from("\r\n\t&<>]"),
)


@given(LEGAL, st.text(st.sampled_from("aZ0.-_ &\"'<é"), min_size=1))
@example("a\r\nb]]>\r", "a b")
def test_what_was_written_is_read_again_byte_by_byte(content, id_):
    file = MessageFile(id_.strip() or "x", content.encode())
    again = read(attached.message(dumps(Job.of(Id="1", Name="n")), [file]))
    assert again.files == {file.id: file}
    assert again.blocks == (Job.of(Id="1", Name="n"),)


@pytest.mark.parametrize("content", [b"a\0b", b"\xff", "\ufffe".encode()])
def test_what_xml_cannot_hold_is_not_written(content):
    with pytest.raises(ValueError, match=r"U\+|UTF-8"):
        attached.message("<Job/>", [MessageFile("a", content)])


def test_each_document_of_a_source_is_a_message_of_its_own():
    text = message(JOB.format("#Script", SH), FILE) + "\n" + message(JOB.format("#Script", SH))
    codes = [[one.code for one in found.findings] for found in bundles(text.encode())]
    assert codes == [[], ["E-FILE"]]


def test_a_lone_part_of_a_job_is_a_message_too():
    found = read("<Task><Executable>#a</Executable></Task>")
    assert [(one.code, one.path) for one in found.findings] == [("E-FILE", "/Task/Executable")]


def test_a_document_of_anything_else_has_no_job_objects():
    for text in ("<Environment><Variable name='A'/></Environment>", "<Requested/>", "<Other/>"):
        assert bundle(etree.fromstring(text)).blocks == ()


@pytest.mark.parametrize(
    "held, content",
    [
        ("abc<b a='&gt;&quot;'>gh</b>ij", 'abc<b a="&gt;&quot;">gh</b>ij'),
        ("<b/>", "<b/>"),
        ("a&lt;b<i/><!-- c -->d<?e f?>g", "a&lt;b<i/><!-- c -->d<?e f?>g"),
        ("a<!-- c -->b<?e f?>c<![CDATA[<d>]]>", "abc<d>"),
    ],
    ids=["text around", "no text", "notes, too", "no elements"],
)
def test_what_a_file_holds_is_cut_off_nowhere(held, content):
    found = read(message(JOB.format("#Script", SH), f"<File id='Script'>{held}</File>"))
    assert found.files["Script"].content.decode() == content
    written = attached.message(dumps(found.blocks[0]), list(found.files.values()))
    [again] = bundles(written.encode())
    assert again.files["Script"].content.decode() == content


def test_a_document_of_several_messages_has_the_first_file_of_each_id():
    envelope = "<Envelope>{}</Envelope>".format(
        "".join(
            f"<Request><Data><Job><Id>{each}</Id></Job></Data>"
            f"<File id='{each}'>of {each}</File><File id='same'>{each}</File></Request>"
            for each in "ab"
        )
    )
    found = read(envelope)
    assert [block.id for block in found.blocks] == ["a", "b"]
    assert {id_: file.content for id_, file in found.files.items()} == {
        "a": b"of a", "same": b"a", "b": b"of b",
    }  # fmt: skip
    assert len(found.files) == 3
    assert "same" in repr(found.files)


def test_what_is_beside_job_objects_is_kept_in_its_place():
    root = etree.fromstring(
        "<!--0--><?p 1?><Jobs><!--2--><Job><!--in--></Job><a><!--3--><?p 4?></a><Job/><!--5-->"
        "</Jobs><!--6--><?p 7?>"
    )
    kept = notes(root, list(root.iter("Job")))
    assert [[each.text for each in there] for there in kept] == [
        ["0", "p 1", "2"], ["3", "p 4"], ["5", "6", "p 7"],
    ]  # fmt: skip
