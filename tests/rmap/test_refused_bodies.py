"""What is no XML is told to a peer as of a document: the same place, and the same words."""

import pytest

from sssjob.document import tree
from sssjob.errors import Refused, UnreadableDocument
from sssjob.formats.jsdl import TRANSLATOR
from sssjob.rmap.envelope import opened

DECLARED = '<?xml version="1.0" encoding="{}"?>\n'
BEGIN = '<Envelope>\n <Body>\n  <Request action="Create" actor="ann"><Object>Job</Object>\n<Data>'
END = "</Data></Request></Body></Envelope>"
# What stands where a job would, and is no XML.
FAULTS = {
    "a job that is not closed": "<Job><Id>7</Job>",
    "a bare &": "<Job>\n<Id>1 & 2</Id></Job>",
    "a value without quotes": "<Job a=1/>",
    "a no-break space in a tag": "<Job\u00a0a='1'/>",
    "a typographic quote": "<Memory units=”GB”>2</Memory>",
    "an attribute twice, and more": '<Job a="1" a="2"><Id></Job>',
    "a name that cannot be": "<Job><㐀 b></Job>",
    "text behind the document": f"{END}x<a>",
}
ENCODINGS = {
    "UTF-8": ("utf-8", ""),
    "UTF-8 with a mark": ("utf-8-sig", ""),
    "UTF-8 that says so": ("utf-8", "UTF-8"),
    "UTF-8 that says another": ("utf-8", "us-ascii"),
    "UTF-8 that says UTF-16": ("utf-8", "UTF-16"),
    "UTF-16": ("utf-16", ""),
    "UTF-16 that says so": ("utf-16", "UTF-16"),
    "UTF-16 of high bytes first": ("utf-16-be", "UTF-16"),
    "UTF-32": ("utf-32", ""),
    "Latin 1": ("latin-1", "ISO-8859-1"),
    "Latin 1 that does not say so": ("latin-1", ""),
    "Shift_JIS": ("shift_jis", "Shift_JIS"),
    "GB18030": ("gb18030", "GB18030"),
    "ISO-2022-JP": ("iso-2022-jp", "ISO-2022-JP"),
}
# Bytes in the place of a text, of what declares an encoding that does not have them.
BYTES = {
    "us-ascii": "€".encode(), "Shift_JIS": b"\xfd", "GB18030": b"\xff", "ISO-2022-JP": b"\xed",
    "windows-1252": b"\x81", "UTF-8": b"\xed\xa0\x80", "x-unknown": b"a",
}  # fmt: skip


def told(data):
    """What is said of a document, whatever it is about, with its place."""
    with pytest.raises(UnreadableDocument) as caught:
        list(tree.documents(data, wanted=tree.Wanted.DOCUMENTS))
    found = caught.value.finding
    return found.line, found.column, found.message


def of_peer(line, column, message):
    places = [f"{name} {at}" for name, at in (("line", line), ("column", column)) if at]
    return ": ".join([", ".join(places)] * bool(places) + [message])


def is_refused_alike(data):
    place = told(data)
    with pytest.raises(Refused) as caught:
        opened(data)
    assert caught.value.code == "302"
    told_to_peer = caught.value.message.partition("too deep: ")[2]
    assert told_to_peer == of_peer(*place)


@pytest.mark.parametrize("codec, declared", ENCODINGS.values(), ids=ENCODINGS)
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_body_is_refused_as_a_document_is_in_each_encoding(fault, codec, declared):
    head = DECLARED.format(declared) if declared else ""
    is_refused_alike(f"{head}{BEGIN}é{fault}{END}".encode(codec, "replace"))


@pytest.mark.parametrize("declared, odd", BYTES.items(), ids=BYTES)
def test_a_byte_that_an_encoding_does_not_have_is_told_of_that_encoding(declared, odd):
    head = DECLARED.format(declared) + BEGIN
    is_refused_alike(head.encode() + odd + END.encode())
    is_refused_alike(head.replace("ann", "a\0").encode().replace(b"\0", odd) + END.encode())


@pytest.mark.parametrize("declared", BYTES)
def test_a_description_of_a_job_is_refused_as_a_document_is(declared):
    data = f'{DECLARED.format(declared)}<JobDefinition xmlns="urn:x">\n<JobName>\0'
    data = data.encode().replace(b"\0", BYTES[declared]) + b"</JobName></JobDefinition>"
    (found,) = (each for each in TRANSLATOR.load(data) if hasattr(each, "code"))
    assert (found.line, found.column, found.message) == told(data)


@pytest.mark.parametrize("data", [b"\x1f\x8b\x08", b"SQLite format 3\0", b"\0\1\2", b"{}", b"x"])
def test_a_body_is_taken_as_it_is_and_never_decompressed(data):
    with pytest.raises(Refused) as caught:
        opened(data)
    assert caught.value.code == "302"
    assert "compress" not in caught.value.message
