"""A document keeps every byte that a change is not about: the oracle is libxml2's C14N."""

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

import sssjob
from sssjob import Document
from sssjob.errors import InvalidJob, InvalidValue, UnreadableDocument
from sssjob.model import Block, Delivered, Property, Requested

MESSAGE = """<?xml version="1.0"?>
<!-- top -->
<Data xmlns:p="urn:p" xmlns:xsi="urn:xsi">
  <Job a='1'>
    <Id>1<!-- in a value --></Id> <!-- beside -->
    <State   >Idle</State>
    <Executable>#Script</Executable>
    <Extension xsi:type="p:T"><p:x   y='1'/></Extension>
    <Requested><Processors op = "GE">4</Processors><?keep me?></Requested>
  </Job>
  <File id="Script">x<![CDATA[ <y> ]]></File>
</Data>
<?end?>
"""

# What stands in a job: its text, and whether it is a property by itself that can be changed.
notes = st.sampled_from(("<!-- <Id>0</Id> -->", "<?pi <Job>?>", "<!---->"))
blanks = st.sampled_from(("", "", " ", "\n  ", "\r\n\t"))
pieces = st.sampled_from(("a", "7", "&amp;", "<![CDATA[<b>]]>", "é", "&#10;", "<!-- c -->"))
texts = st.lists(pieces, max_size=3).map("".join)
names = st.sampled_from(
    ("Name", "State", "User", "UserId", "Memory", "p:own", "Phase", "StartTime")
)  # an older name, a foreign one, and one that nobody knows
marks = st.sampled_from(("", "", ' units="GB"', " units = 'MB'", ' p:T="p:U"', ' xmlns:q="urn:q"'))
properties = st.builds("<{0}{1}>{2}</{0}>".format, names, marks, texts)
nested = st.builds(
    "<{0}>{1}{2}{1}{3}</{0}>".format,
    st.sampled_from(("Requested", "Delivered", "Extension")), blanks, properties,
    st.one_of(properties, notes),
)  # fmt: skip
contents = st.lists(
    st.one_of(properties, properties, nested, notes, st.just("<Hold/>")), max_size=5
)
jobs = st.builds(
    lambda between, inside, mark: (
        f"<Job{mark}><Id>1</Id>{''.join(between + each for each in inside)}{between}</Job>"
    ),
    blanks, contents, marks,
)  # fmt: skip
messages = st.builds(
    "{0}<Data xmlns:p='urn:p'>{1}{2}{1}<File id='S'><![CDATA[<x>]]></File>{3}</Data>{4}".format,
    st.sampled_from(("", '<?xml version="1.0"?>\n', "<!-- p -->")), blanks, jobs, jobs,
    st.sampled_from(("", "\n", "<?e?>")),
)  # fmt: skip


def canonical(root):
    return etree.tostring(root, method="c14n", with_comments=True)


def without(data, index):
    """The canonical form of a message without one child of its first job, and its blanks."""
    root = etree.fromstring(data)
    child = root.find("Job")[index]
    assert type(child.tag) is str
    before = child.getprevious()
    tail = child.tail or ""
    if before is None:
        child.getparent().text = (child.getparent().text or "") + tail
    else:
        before.tail = (before.tail or "") + tail
    child.getparent().remove(child)
    return canonical(root)


def first_only(change):
    """A change of the first job that is seen."""
    seen = []

    def once(block):
        seen.append(block)
        return change(block) if len(seen) == 1 else block

    return once


def test_nothing_of_a_message_is_lost():
    document = Document.read(MESSAGE.encode())
    assert bytes(document) == MESSAGE.encode()
    assert document.prolog == '<?xml version="1.0"?>\n<!-- top -->\n'
    assert document.epilog == "\n<?end?>\n"
    assert document.wrapper == "Data"
    assert document.prefixes == {"p": "urn:p", "xsi": "urn:xsi"}
    assert [block.id for block in document.blocks] == ["1"]
    assert document.files["Script"].content == b"x <y> "


def test_a_change_is_about_what_it_changes():
    def change(job):
        job = job.setting(State="Running & <b>")
        items = [
            replace(item, items=(*item.items, Property("Memory", "5")))
            if isinstance(item, Block) else item for item in job.items
        ]  # fmt: skip
        return replace(job, items=(*items, Delivered((Property("Processors", "4"),))))

    delivered = "\n    <Delivered>\n      <Processors>4</Processors>\n    </Delivered>"
    expected = (
        MESSAGE.replace("Idle", "Running &amp; &lt;b&gt;")
        .replace("<?keep me?>", "<?keep me?><Memory>5</Memory>")
        .replace("</Requested>", f"</Requested>{delivered}")
    )  # fmt: skip
    for encoding in ("utf-8", "utf-16", "ascii"):
        data = MESSAGE.encode(encoding)
        assert bytes(Document.read(data).replacing(change)).decode(encoding) == expected


@pytest.mark.parametrize(
    "change, tag",
    [
        (lambda job: type(job)(job.items, {"awarenessPolicy": "Warn"}),
         '<Job awarenessPolicy="Warn">'),
        (lambda job: job.setting(Property("Memory", "1", {"units": "GB"})),
         '<Memory units="GB">1</Memory>'),
        (lambda job: job.setting(Property("Memory", "1")), "<Memory>1</Memory>"),
    ],
)  # fmt: skip
def test_an_attribute_that_changes_is_written(change, tag):
    data = b'<Jobs><Job><Id>1</Id><Memory units="MB">1</Memory></Job><Job/></Jobs>'
    written = bytes(Document.read(data).replacing(change)).decode()
    assert tag in written
    for job, before in zip(sssjob.read(written.encode()), sssjob.read(data), strict=True):
        assert job == change(before)


SSS = "http://www.scidac.org/ScalableSystems/SSSRMAP"


@pytest.mark.parametrize(
    ("declared", "p"), [(f'xmlns:s="{SSS}"', "s:"), (f'xmlns="{SSS}"', ""), ("", "")]
)
def test_what_is_new_has_the_prefix_of_its_job(declared, p):
    text = f"<{p}Data {declared}><{p}Job><{p}Id>1</{p}Id></{p}Job></{p}Data>"
    built = Delivered((Property("Processors", "4"),))
    inside = f"<{p}State>x</{p}State>"
    of_job = f"<{p}Delivered><{p}Processors>4</{p}Processors></{p}Delivered>"
    wish = f"<{p}Requested><{p}NodeCount>2</{p}NodeCount></{p}Requested>"
    environment = f'<{p}Environment><{p}Variable name="a">b</{p}Variable></{p}Environment>'
    variables = (Property("Variable", "b", {"name": "a"}),)
    changes = {
        inside: lambda job: job.setting(State="x"),
        inside + of_job: lambda job: job.holding((*job.items, Property("State", "x"), built)),
        wish: lambda job: job.setting(inside=Requested, NodeCount=2),
        environment: lambda job: job.setting(Property("Environment", "", {}, variables)),
    }
    for added, change in changes.items():
        expected = text.replace(f"</{p}Job>", f"{added}</{p}Job>")
        assert bytes(Document.read(text.encode()).replacing(change)).decode() == expected
    asked = text.replace(f"</{p}Job>", f"{wish}</{p}Job>").encode()
    more = Document.read(asked).replacing(lambda job: job.setting(inside=Requested, Memory=3))
    memory = f"<{p}Memory>3</{p}Memory>"
    assert bytes(more).decode() == asked.decode().replace(
        f"</{p}Requested>", f"{memory}</{p}Requested>"
    )


def test_what_stood_outside_the_prefix_of_its_job_stays_there():
    text = f"""<s:Job xmlns:s="{SSS}"><Id>1</Id><State>Idle</State><f:x xmlns:f="f"/></s:Job>"""
    changed = Document.read(text.encode()).replacing(
        lambda job: job.holding([*job.items[:1], Property("State", "x"), *job.items[2:]])
    )
    assert bytes(changed).decode() == text.replace("Idle", "x")


@given(messages)
def test_what_is_given_back_stays_byte_for_byte(text):
    document = Document.read(text.encode())
    assert bytes(document.replacing(lambda job: job)) == text.encode()
    # An equal value is no change, though it is another object.
    assert bytes(document.replacing(lambda job: replace(job, items=(*job.items,)))) == text.encode()


@given(messages, st.data())
@example("<Data xmlns:p='urn:p'><Job><Id>1</Id></Job></Data>", None)
def test_a_new_value_changes_nothing_else(text, data):
    document = Document.read(text.encode())
    job = document.blocks[0]
    places = [n for n, item in enumerate(job.items) if isinstance(item, Property)]
    place = places[0] if data is None else data.draw(st.sampled_from(places))
    old = job.items[place]
    new = Property(old.name, "new & <value>", old.attributes, (), old.namespace)

    def change(job):
        return replace(job, items=(*job.items[:place], new, *job.items[place + 1 :]))

    edited = document.replacing(first_only(change))
    assert without(edited.data, place) == without(document.data, place)
    assert edited.blocks == (change(job), *document.blocks[1:])


@given(messages, st.data())
def test_what_is_added_and_removed_changes_nothing_else(text, data):
    document = Document.read(text.encode())
    job = document.blocks[0]
    place = data.draw(st.integers(0, len(job.items)))
    new = Property("Quote", "q")

    def add(job):
        return replace(job, items=(*job.items[:place], new, *job.items[place:]))

    def remove(job):
        return replace(job, items=tuple(item for item in job.items if item != new))

    longer = document.replacing(first_only(add))
    assert longer.blocks == (add(job), *document.blocks[1:])
    assert blank(longer.replacing(first_only(remove)).data) == blank(document.data)


def blank(data):
    """The canonical form without white space between elements."""
    root = etree.fromstring(data)
    for element in root.iter():
        if len(element) and not (element.text or "").strip():
            element.text = None
        if not (element.tail or "").strip():
            element.tail = None
    return canonical(root)


def test_a_file_is_exchanged_and_added():
    document = Document.read(MESSAGE.encode())
    changed = document.with_file("Script", b"echo 1 < 2")
    assert bytes(changed) == bytes(document).replace(b"x<![CDATA[ <y> ]]>", b"echo 1 &lt; 2")
    added = document.with_file("More", b"\r")
    assert bytes(added) == bytes(document).replace(
        b"</File>", b'</File>\n  <File id="More">&#13;</File>'
    )
    with pytest.raises(ValueError, match="wrapper"):
        Document.read(b"<Job/>").with_file("a", b"")
    assert bytes(Document.read(b"<Data/>").replacing(lambda job: job)) == b"<Data/>"


@pytest.mark.parametrize("data", [b"", b"<Job/><Job/>", b"<Job>", b"\xff", b"<!DOCTYPE a><a/>"])
def test_what_is_no_document_is_refused(data):
    with pytest.raises(UnreadableDocument):
        Document.read(data)


def test_it_is_one_of_the_names_of_the_library():
    assert sssjob.Document is Document
    assert "Document" in sssjob.__all__


@pytest.mark.parametrize(
    "id_, content",
    [("", "x"), ("a\0b", "x"), ("\ud800", "x"), ("a", "\0"), ("a", "\ud800"), ("a", b"\xff")],
    ids=ascii,
)
def test_a_file_that_xml_cannot_hold_is_refused(id_, content):
    with pytest.raises(InvalidValue):
        Document.read(b"<Data><Job/></Data>").with_file(id_, content)


@pytest.mark.parametrize("read", [sssjob.loads, sssjob.validate, Document.read])
def test_a_text_with_half_a_character_is_no_document(read):
    with pytest.raises((UnreadableDocument, InvalidJob), match="not UTF-8"):
        read("<Job><Id>\ud800</Id></Job>")


def test_a_document_is_shown_by_its_size():
    assert repr(Document.read(b"<Job><Id>1</Id></Job>")) == "<Document: 21 bytes>"


def test_a_document_tells_what_is_wrong_with_its_files():
    document = Document.read("<Data><Job><Id>1</Id></Job><File id='a'>x</File></Data>")
    assert [found.code for found in document.findings] == ["I-FILE"]
    assert Document.read("<Job><Id>1</Id></Job>").findings == ()


@pytest.mark.parametrize("new", [None, "<Job/>", Property("Id", "1")])
def test_only_a_job_object_takes_the_place_of_one(new):
    with pytest.raises(InvalidValue, match="a job object in the place of another one"):
        Document.read("<Job><Id>1</Id></Job>").replacing(lambda job: new)


BEGINNINGS = ("", "<?xml version='1.0'?>", "<?xml version='1.0' encoding='{}'?>")
HIDING = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "utf-8-sig")


@pytest.mark.parametrize("content", ["<é €>", "€".encode()], ids=["text", "bytes"])
@pytest.mark.parametrize("begin", BEGINNINGS)
@pytest.mark.parametrize("encoding", [*HIDING, "utf-8", "iso-8859-1", "ascii", "iso-2022-jp", "hz"])
def test_a_file_is_added_and_exchanged_in_each_encoding(encoding, begin, content):
    body = "<Data>\n<Job><Id>1</Id></Job></Data>"
    data = f"{begin.format(encoding.removesuffix('-sig'))}{body}".encode(encoding)
    try:
        document = Document.read(data)
    except sssjob.UnreadableDocument:
        assert not begin or "{" not in begin or encoding.endswith(("-le", "-be"))
        return
    assert document.prolog == begin.format(encoding.removesuffix("-sig"))
    one = document.with_file("S", content)
    two = one.with_file("S", "x")
    kept = content.encode() if isinstance(content, str) else content
    for found, octets in ((one, kept), (two, b"x")):
        again = Document.read(bytes(found))
        assert again.files["S"].content == octets
        assert again.blocks == document.blocks
        assert again.encoding == document.encoding
        assert again.prolog == document.prolog
    assert bytes(one).startswith(data[:8])


ODD = (
    "UTF-16", "utf-32", "ucs-4", "IBM037", "x-none", "utf-7", "EUC-TW", "UCS2", "windows-31j",
)  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_an_encoding_that_is_declared_ends_in_no_other_error(name):
    data = f"<?xml version='1.0' encoding='{name}'?><Data><Job><Id>1</Id></Job></Data>".encode()
    with suppress(sssjob.SSSJobError):
        assert Document.read(data).with_file("S", "x").files["S"].content == b"x"
