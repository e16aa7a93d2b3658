"""Writing: the same bytes as by way of a tree, and nothing lost."""

import io
from datetime import UTC, datetime
from xml.sax import saxutils

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lxml import etree
from strategies import ANY, CHARACTERS

from sssjob import spec
from sssjob.document import clean, dumps, from_tree, loads, read, to_tree, write
from sssjob.document.text import escape, quoted
from sssjob.errors import InvalidValue, UnknownName
from sssjob.model import Job, Note, Property, Reference, Requested


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


# What XML cannot hold is refused where it is given

ILLEGAL = ["\x00", "\x0b", "\x0c", "\x1b", "\ud800", "\ufffe"]

JOB = Job.of(Requested.of(Memory=1), Id=1)
BUILDERS = {
    "of": lambda text: Job.of(Name=text),
    "of a category": lambda text: Job.of(Requested.of(Memory=text)),
    "a value": lambda text: Property("Name", text),
    "a value of a namespace": lambda text: Property("{urn:x}Name", text),
    "an attribute": lambda text: Property("Name", "n", {"metric": text}),
    "another attribute": lambda text: Property("Name", "n").having(metric=text),
    "a variable": lambda text: Property("Environment", "", {}, (Property("Variable", text),)),
    "a reference": lambda text: Reference("Job", text),
    "an attribute of a block": lambda text: Job((), {"context": text}),
    "a comment": lambda text: Note("comment", text),
    "an instruction": lambda text: Note("instruction", f"pi {text}"),
    "a text": lambda text: Note("text", text),
    "setting": lambda text: JOB.setting(Name=text),
    "setting inside": lambda text: JOB.setting(inside=Requested, Memory=text),
}


@pytest.mark.parametrize("character", ILLEGAL, ids=ascii)
@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
def test_a_text_that_xml_cannot_hold_is_refused_where_it_is_given(build, character):
    with pytest.raises(InvalidValue, match=f"that XML can hold: it has U\\+{ord(character):04X}"):
        build(f"a{character}b")


def test_the_message_names_the_property_or_the_attribute():
    with pytest.raises(InvalidValue, match="is not a value of Name that XML can hold"):
        Job.of(Name="a\0b")
    with pytest.raises(InvalidValue, match="is not a value of units that XML can hold"):
        Property("Memory", 1, {"units": "a\0b"})


@pytest.mark.parametrize("build", [
    lambda: Property("a b", 1), lambda: Property("a\x0b", 1), lambda: Property("Id><x", 1),
    lambda: Property("Id", 1, {"a b": "x"}), lambda: Property("Id", 1, {"a=b": "x"}),
    lambda: Property("{urn:x}a b", 1), lambda: Property("{a b}x", 1), lambda: Property("{}x", 1),
    lambda: Property("x", 1, namespace="a b"), lambda: Job((), {}, "a b"),
    lambda: Property("a:b", 1),
    lambda: Job.of(**{"a b": 1}), lambda: Job.of(Id=1).setting(**{"a b": 1}),
    lambda: Property("Id", 1, {"{http://www.w3.org/2000/xmlns/}a b": "urn:x"}),
    lambda: Property("Id", 1, {"{http://www.w3.org/2000/xmlns/}p": "a b"}),
    lambda: Note("comment", "a--b"), lambda: Note("comment", "a-"), lambda: Note("remark", "a"),
    lambda: Note("instruction", "xml a"), lambda: Note("instruction", "p ?>"),
    lambda: Reference("Job", " "),
])  # fmt: skip
def test_what_is_no_name_or_note_of_xml_is_refused_where_it_is_given(build):
    with pytest.raises((InvalidValue, UnknownName)):
        build()


NAMES = st.text(st.sampled_from("ab-.:_9 é{}\x00\u0301\u00d7"), max_size=4).map("x{}".format)
SPOKEN = st.text(st.one_of(CHARACTERS, st.characters()), max_size=8)
SPELLED = st.one_of(
    SPOKEN, st.integers(), st.floats(), st.booleans(), st.decimals(), st.none(),
    st.sampled_from([datetime(2026, 1, 2), datetime(2026, 1, 2, tzinfo=UTC)]), st.timedeltas(),
)  # fmt: skip
URIS = st.sampled_from(["urn:x", "a b", "", "http://h/é", "http://www.w3.org/2000/xmlns/", "x#y#z"])


@given(NAMES, SPELLED, URIS)
def test_what_builders_accept_can_be_written_and_is_read_back_equal(name, said, uri):
    job = Job.of(Id=1)
    for build in (
        lambda job: job.setting(**{name: said}),
        lambda job: job.setting(Property(f"{name}-2", said, {name: said})),
        lambda job: job.setting(Property(f"{{{uri}}}{name}", said, {f"{{{uri}}}a": said})),
        lambda job: job.setting(inside=Requested, User=said),
        lambda job: job.setting(Property("x-v", "", {}, [Property(name, said)])),
        lambda job: job.holding((*job.items, Note("comment", said))),
        lambda job: job.holding((*job.items, Note("instruction", f"pi {said}"))),
        lambda job: job.holding((*job.items, Reference("Job", said, {"a": said}))),
        lambda job: Job(job.items, {name: said}),
    ):
        try:
            job = build(job)
        except (InvalidValue, UnknownName):
            continue
    for indent in (False, True):
        read = loads(dumps(job, indent=indent))
        assert (read.items, read.attributes) == (job.items, job.attributes)


@pytest.mark.parametrize("name", ["", None])
def test_a_property_has_a_name(name):
    with pytest.raises(InvalidValue, match="a name of a property"):
        Property(name, 1)
