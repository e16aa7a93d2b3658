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
from sssjob.document import text as module
from sssjob.document.text import escape, escaped, fragment, quoted, within, write_texts, writer
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


@pytest.mark.parametrize("around", [{}, {None: "urn:x"}, {None: "urn:x", "y": "urn:y"}])
@pytest.mark.parametrize(
    "element",
    [
        "<b/>", "<b>1</b>", "<b u='1'><c/></b>", "<y:y xmlns:y='urn:y'><c/></y:y>",
        "<ab:b xmlns:ab='urn:y'><c>1</c></ab:b>", "<y:b xmlns:y='urn:y'><y:c/></y:b>",
        "<b><c xmlns='urn:z'/></b>",
    ],
)  # fmt: skip
def test_an_element_means_the_same_among_others(around, element):
    alone = etree.fromstring(element)
    before, behind = etree.tostring(etree.Element("a", None, around), encoding=str)[:-2], "</a>"
    (there,) = etree.fromstring(f"{before}>{within(around, etree.fromstring(element))}{behind}")
    assert [(each.tag, each.text, dict(each.attrib)) for each in there.iter()] == (
        [(each.tag, each.text, dict(each.attrib)) for each in alone.iter()]
    )


TEXTS = ["", "a", "a b", "a&b", "<", ">", "\r\n", "]]>", "é", '"', "a<b>c&d\re"]


@pytest.mark.parametrize("attributes", [{}, {"units": "GB"}, {"name": "<\"'&>\n\t\r"}])
@pytest.mark.parametrize("text", TEXTS)
def test_a_property_alone_is_written_as_in_a_tree(attributes, text):
    written = fragment([Property("Name", text, attributes)])
    assert written == writer("Name", attributes)(text)
    (read_back,) = loads(f"<Job>{written}</Job>").items
    assert (read_back.text, dict(read_back.attributes)) == (text, attributes)


@pytest.mark.parametrize("texts", [[], ["a", "b"], TEXTS, ["a\0b", "<"], ["\0"]])
def test_many_texts_are_escaped_as_each_alone(texts):
    assert list(escaped(texts)) == [writer("N", {})(each)[3:-4] if each else "" for each in texts]


def test_properties_of_a_namespace_stand_in_a_document_that_declares_it():
    with pytest.raises(ValueError, match="cannot stand alone"):
        fragment([Property("Name", "a"), Property("b", "1", namespace="urn:x")])


def test_heads_that_were_not_remembered_are_written_all_the_same(monkeypatch):
    monkeypatch.setattr(module, "_HEADS_LIMIT", 2)
    monkeypatch.setattr(module, "_HEADS", {})
    many = [{"name": str(number)} for number in range(5)] + [{"name": "x" * 300}] * 2
    for attributes in [*many, *many]:
        written = fragment([Property("Variable", "1", attributes)])
        assert written == f'<Variable name="{attributes["name"]}">1</Variable>'
        assert len(module._HEADS) <= 2


class Seen(io.BytesIO):
    """A stream that keeps what it was given in one call, and after how many it was flushed."""

    def __init__(self):
        super().__init__()
        self.calls, self.flushed = [], []

    def write(self, data):
        self.calls.append(data)
        return super().write(data)

    def flush(self):
        self.flushed.append(len(self.calls))


@pytest.mark.parametrize("wrap, around", [("", ("", "")), ("Jobs", ("<Jobs>\n", "</Jobs>\n"))])
@pytest.mark.parametrize("at_once", [False, True])
def test_texts_are_written_together_unless_each_is_to_be_seen(at_once, wrap, around):
    texts, stream = [f"<Job><Id>{number}</Id></Job>" for number in range(9)], Seen()
    assert write_texts(iter(texts), stream, wrap=wrap, at_once=at_once) == 9
    lines = "".join(f"{each}\n" for each in texts)
    declared = '<?xml version="1.0" encoding="UTF-8"?>\n' if wrap else ""
    assert stream.getvalue().decode() == declared + around[0] + lines + around[1]
    assert (lines.encode() in stream.calls) is not at_once
    assert len(stream.flushed) == 9 * at_once


def test_long_texts_are_not_held_until_the_end():
    stream = Seen()
    assert write_texts(["x" * 20_000] * 6, stream) == 6
    assert [len(each) // 20_000 for each in stream.calls] == [2, 2, 2, 0]


def test_what_came_before_something_that_fails_is_written():
    def texts():
        yield "<Job/>"
        raise KeyError

    stream = Seen()
    with pytest.raises(KeyError):
        write_texts(texts(), stream)
    assert stream.getvalue() == b"<Job/>\n"


@pytest.mark.parametrize("stream", [None, "jobs.xml", io.StringIO(), io.BytesIO])
def test_only_a_binary_stream_is_written_to(stream):
    with pytest.raises(InvalidValue, match="a binary stream to write to"):
        write([Job.of(Id="1")], stream)


@pytest.mark.parametrize("dialect", ["4.0", None, 3, "x"])
def test_only_a_dialect_that_there_is_can_be_written(dialect):
    with pytest.raises(InvalidValue, match="a dialect: "):
        dumps(Job.of(Id="1"), dialect=dialect)


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


def test_short_tags_are_remembered_and_long_ones_are_not(monkeypatch):
    monkeypatch.setattr(module, "_HEADS", {})
    for name in ("a", "b" * 300):
        dumps(Job.of(Property("Extension", "1", {"name": name})))
    assert [dict(attributes) for _, attributes in module._HEADS] == [{"name": "a"}]
