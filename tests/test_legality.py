"""What XML can hold: the same as a parser takes, no more and no less."""

import re
from xml.sax.saxutils import quoteattr

import pytest
from draws import examples
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

import sssjob
from sssjob.document import from_tree
from sssjob.errors import InvalidValue
from sssjob.legality import legal, legal_name, legal_namespace, legal_note
from sssjob.model import Note

BEGINNINGS = ("", "urn:", "http://", "//", "http://a@[", "http://[")
ENDS = ("", "]", "]:8", "]/x", "?a", "#b")
URIS = st.builds(
    "{}{}{}".format,
    st.sampled_from(BEGINNINGS),
    st.text("abX09:/?#[]@!$&'()*+,;=%-._~ \\^`{|}é中\"<", max_size=8),
    st.sampled_from(ENDS),
).filter(bool)


def is_taken(refuses, text):
    try:
        refuses(text)
    except InvalidValue:
        return False
    return True


def is_read(document):
    try:
        etree.fromstring(document)
    except etree.XMLSyntaxError:
        return False
    return True


@examples(250)
@given(URIS)
@example("http://[9%]")
@example("#a[b]")
@example("//a:")
def test_a_namespace_is_taken_where_a_parser_takes_it(uri):
    assert is_taken(legal_namespace, uri) == is_read(f"<x:a xmlns:x={quoteattr(uri)}/>")


@examples(250)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters=":"), min_size=1))
@example("a\u0300")
@example("\u00b7a")
def test_a_name_is_taken_where_a_parser_takes_it(name):
    root = f"<{name}/>"
    assert is_taken(legal_name, name) == (is_read(root) and etree.fromstring(root).tag == name)


def test_the_namespace_of_declarations_has_no_names():
    for namespace in ("", "http://www.w3.org/2000/xmlns/"):
        assert not is_taken(legal_namespace, namespace)
        assert not is_taken(legal_name, f"{{{namespace}}}a")
    assert is_taken(legal_namespace, "http://www.w3.org/2000/xmlns")


@pytest.mark.parametrize("uri", ["http://[9%]", "http://[中]/x", "#[]", "a/b"])
def test_a_job_of_any_namespace_that_a_parser_takes_is_written_as_it_was_read(uri):
    document = f'<Job xmlns:x="{uri}"><Id>1</Id><x:Own x:a="1"/></Job>'
    assert sssjob.loads(sssjob.dumps(sssjob.loads(document))) == sssjob.loads(document)


def test_an_instruction_of_a_tree_that_was_built_is_what_can_be_read_again():
    root = etree.XML("<Job><Id>1</Id></Job>")
    root.append(etree.ProcessingInstruction("pi", " \t"))
    root.append(etree.ProcessingInstruction("pi", "  a "))
    job = from_tree(root)
    assert [note.text for note in job.items[1:]] == ["pi", "pi a "]
    assert sssjob.loads(sssjob.dumps(job)) == job


@pytest.mark.parametrize("made", [etree.Comment, lambda text: etree.PI("pi", text)])
@pytest.mark.parametrize("said", ["a\rb", "a\r\nb", "a\n\rb", "a\r"])
def test_a_carriage_return_in_a_tree_is_the_line_break_that_is_read_again(made, said):
    root = etree.XML("<Job><Id>1</Id></Job>")
    root.append(made(said))
    job = from_tree(root)
    assert sssjob.loads(sssjob.dumps(job)) == job


@pytest.mark.parametrize("kind, text", [("comment", "a\rb"), ("instruction", "pi a\rb")])
def test_a_carriage_return_where_nothing_can_be_escaped_is_refused(kind, text):
    with pytest.raises(InvalidValue, match="carriage return"):
        Note(kind, text)
    assert Note("text", "a\rb").text == "a\rb"


@pytest.mark.parametrize(
    "refused, said",
    [
        (lambda: legal("a\x01"), "a text that XML can hold: it has U+0001"),
        (lambda: legal("a\ufffe\x01", "Name"), "a value of Name that XML can hold: it has U+FFFE"),
        (lambda: legal_name("{}a"), "in a namespace that is a URI"),
        (lambda: legal_name("{urn:a}1"), "a name of XML"),
        (lambda: legal_name("{urn:a"), "in a namespace that is a URI"),
    ],
)
def test_what_is_refused_is_told_with_what_was_expected(refused, said):
    with pytest.raises(InvalidValue, match=re.escape(said)):
        refused()


def test_what_xml_holds_is_given_back():
    assert legal("caf\u00e9\n\t") == "caf\u00e9\n\t"
    assert legal_name("{urn:a}b") == "{urn:a}b"
    assert legal_namespace("urn:a", "b") == "urn:a"


def test_a_namespace_that_is_none_is_told_with_what_is_in_it():
    for name, shown in [("", "http://["), ("{http://[}a", "{http://[}a")]:
        with pytest.raises(InvalidValue) as refused:
            legal_namespace("http://[", name)
        assert refused.value.text == shown


@pytest.mark.parametrize(
    "kind, text, fits",
    [
        ("comment", "a", True),
        ("comment", "a - b", True),
        ("comment", "a -- b", False),
        ("comment", "a-", False),
        ("comment", "", True),
        ("text", "a -- b-", True),
        ("text", "a\x01", False),
        ("instruction", "pi", True),
        ("instruction", "pi -- a-", True),
        ("instruction", "pi a?>", False),
        ("instruction", "pi  a", False),
        ("instruction", "pi ", False),
        ("instruction", "XmL a", False),
        ("instruction", "xmls a", True),
        ("instruction", "1 a", False),
        ("instruction", "", False),
        ("element", "a", False),
    ],
)
def test_a_note_is_taken_where_it_is_read_back(kind, text, fits):
    assert is_taken(lambda each: legal_note(kind, each), text) == fits
    if fits:
        assert legal_note(kind, text) == text
