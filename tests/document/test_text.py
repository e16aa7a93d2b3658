"""Writing: the same bytes as by way of a tree, and nothing lost."""

import io
from xml.sax import saxutils

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lxml import etree
from strategies import ANY

import sssjob
from sssjob import spec
from sssjob.check.awareness import understood
from sssjob.document import clean, dumps, from_tree, loads, read, to_tree, write
from sssjob.document.text import escape, quoted
from sssjob.errors import InvalidValue
from sssjob.model import Job, Note, Property, Requested


def value(element):
    return from_tree(etree.fromstring(etree.tostring(element)))


@given(ANY)
def test_what_was_read_comes_back_from_what_was_written(element):
    block = value(element)
    assert loads(dumps(block)) == block


@given(ANY, st.sampled_from(["", *spec.DIALECTS]), st.sampled_from([None, *spec.NAMESPACES]))
def test_text_is_what_a_tree_would_have_been_written_as(element, dialect, namespace):
    block = value(element)
    tree = to_tree(block, dialect=dialect, namespace=namespace)
    assert dumps(block, dialect=dialect, namespace=namespace) == etree.tostring(tree, encoding=str)


@given(ANY)
def test_indenting_keeps_the_meaning(element):
    block = value(element)
    assert loads(dumps(block, indent=True)) == block


@pytest.mark.parametrize(
    "document",
    [
        pytest.param("<JobDefaults><User>a</User>00<Group>b</Group></JobDefaults>", id="mixed"),
        pytest.param(
            "<JobDefaults>0<wallclockLimit>5</wallclockLimit>0<User>a</User></JobDefaults>",
            id="texts that meet when what is between goes into Requested",
        ),
        pytest.param(
            "<JobDefaults><User>a</User>0<wallclockLimit>5</wallclockLimit>0</JobDefaults>",
            id="texts that meet behind a child",
        ),
        pytest.param("<Job><Environment><?pi ?></Environment></Job>", id="an instruction alone"),
        pytest.param("<Job><Environment><!--c--></Environment></Job>", id="a comment alone"),
        pytest.param("<Job><Environment>A=1<!--c--></Environment></Job>", id="a value of old"),
    ],
)
def test_neither_writing_nor_indenting_touches_a_text_between_children(document):
    block = loads(document)
    assert loads(dumps(block)) == block
    assert loads(dumps(block, indent=True)) == block


@given(st.lists(ANY, min_size=1, max_size=4), st.booleans())
def test_lines_and_wrapped_documents_hold_the_same_objects(elements, indent):
    blocks = [block for block in map(value, elements) if block.name in ("Job", "JobGroup")]
    assume(blocks)
    wrapped, lines = io.BytesIO(), io.BytesIO()
    assert write(blocks, wrapped, wrap="Jobs", indent=indent) == len(blocks)
    write(blocks, lines)
    # In a comment or an instruction a line break can only become a space.
    assert [flat(block) for block in read(lines.getvalue())] == [flat(block) for block in blocks]
    assert list(read(wrapped.getvalue())) == blocks
    assert lines.getvalue().count(b"\n") == len(blocks)


def flat(block):
    return dumps(block).replace("\n", " ").replace("&#10;", " ")


DIALECTS = [
    pytest.param("3.0", "<Job><JobId>1</JobId><UserId>amy</UserId></Job>", id="3.0"),
    pytest.param("0.2", "<Job><jobId>1</jobId><userName>amy</userName></Job>", id="0.2"),
    pytest.param("gold", "<Job><JobId>1</JobId><UserId>amy</UserId></Job>", id="gold"),
    pytest.param("", "<Job><Id>1</Id><User>amy</User></Job>", id="3.1.0"),
]


@pytest.mark.parametrize("dialect, text", DIALECTS)
def test_a_dialect_writes_its_own_names_and_is_read_back(dialect, text):
    job = Job.of(Id="1", User="amy")
    assert dumps(job, dialect=dialect) == text
    assert loads(text) == job


def test_indented_text_has_a_line_for_each_property_and_leaves_values_alone():
    job = Job.of(Property("Name", " a "), Requested.of(Processors=4), Note("comment", "c"), Id="1")
    assert dumps(job, indent=True) == (
        "<Job>\n  <Id>1</Id>\n  <Name> a </Name>\n  <Requested>\n    <Processors>4</Processors>\n"
        "  </Requested>\n  <!--c-->\n</Job>"
    )


REFUSED = [
    pytest.param(Job.of(Id="a\x00b"), "U+0000", id="NUL"),
    pytest.param(Job.of(Id="\x1b[31m"), "U+001B", id="escape"),
    pytest.param(Job.of(Property("Id", "1", {"uri": "\ufffe"})), "U+FFFE", id="no character"),
    pytest.param(Job.of(Property("a b", "1")), "'a b'", id="a name with a blank"),
    pytest.param(Job.of(Property("Id><x", "1")), "'Id><x'", id="markup in a name"),
    pytest.param(Job.of(Property("Id", "1", {"a=b": "1"})), "'a=b'", id="an attribute's name"),
    pytest.param(Job.of(Note("comment", "a -- b")), "comment", id="a comment's end in it"),
    pytest.param(Job.of(Note("instruction", "a ?>")), "instruction", id="an instruction's end"),
    pytest.param(Job.of(Note("instruction", "xml version")), "instruction", id="a declaration"),
]


@pytest.mark.parametrize("job, named", REFUSED)
def test_what_would_not_be_read_back_is_not_written(job, named):
    with pytest.raises(ValueError, match=r".") as refusal:
        dumps(job)
    assert named in str(refusal.value)
    with pytest.raises(ValueError, match=r"."):
        to_tree(job)


def test_characters_that_xml_does_not_have_can_be_replaced():
    assert clean("\x00a\tb\ud800\U0001f600") == "\ufffda\tb\ufffd\U0001f600"


def test_elements_without_namespace_stay_out_of_a_default_one():
    text = f'<Job xmlns="{spec.NAMESPACE}"><Id>1</Id><User xmlns="">amy</User></Job>'
    job = loads(text)
    assert [item.namespace for item in job.items] == [spec.NAMESPACE, ""]
    assert loads(dumps(job)) == job
    bare = f'<s:Job xmlns:s="{spec.NAMESPACE}" xmlns="urn:x"><s:Id>1</s:Id></s:Job>'
    assert loads(dumps(loads(bare), namespace="")).namespace == ""


@given(st.text(alphabet="a&<>\"'\n\r\té"))
def test_texts_and_attributes_are_written_as_the_library_of_python_does(text):
    assert escape(text) == saxutils.escape(text)
    assert escape(text, {"\n": "&#10;"}) == saxutils.escape(text, {"\n": "&#10;"})
    assert quoted(text) == saxutils.quoteattr(text)


# What XML cannot hold: values may have it, and whatever would write it says so

ILLEGAL = ["\x00", "\x0b", "\x0c", "\x1b", "\ud800", "\ufffe"]


def holding(text):
    """Job objects that hold a text in each place where one can stand."""
    yield Job.of(Name=text)
    yield Job.of(Requested.of(Memory=text))
    yield Job.of(Property("Name", "n", {"metric": text}))
    yield Job.of(Property("Environment", "", {}, (Property("Variable", text, {"name": "A"}),)))
    yield Job((Property("Id", 1), Note("comment", text)))
    yield Job((Property("Id", 1), Note("instruction", f"pi {text}")))
    yield Job((Property("Id", 1), Note("text", text)))
    yield Job((), {"context": text})


@pytest.mark.parametrize("character", ILLEGAL, ids=ascii)
def test_every_text_that_xml_cannot_hold_is_told_where_it_is_written(character):
    told = f"a text that XML can hold: it has U+{ord(character):04X}"
    for job in holding(f"a{character}b"):
        for call in (
            dumps, to_tree, understood, sssjob.validate, sssjob.match,
            lambda job: dumps(job, indent=True), lambda job: write([job], io.BytesIO()),
        ):  # fmt: skip
            with pytest.raises(InvalidValue) as refused:
                call(job, []) if call is sssjob.match else call(job)
            assert told in str(refused.value)


@pytest.mark.parametrize("item", [
    Property("a b", 1), Property("a\x0b", 1), Property("Id", 1, {"a b": "x"}),
    Property("{urn:x}a b", 1), Note("comment", "a--b"), Note("comment", "a-"),
    Note("instruction", "xml a"), Note("instruction", "p ?>"),
])  # fmt: skip
def test_what_is_no_name_or_note_of_xml_is_told(item):
    for call in (dumps, to_tree):
        with pytest.raises(InvalidValue, match="of XML"):
            call(Job((item,)))


@pytest.mark.parametrize("name", ["", None])
def test_a_property_has_a_name(name):
    with pytest.raises(InvalidValue, match="a name of a property"):
        Property(name, 1)
