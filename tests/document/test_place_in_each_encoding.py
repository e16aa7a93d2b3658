"""Where a fault is told, whatever the encoding, the cut, and the reader that meets it."""

import pytest

from sssjob import check_source
from sssjob.document import tree
from sssjob.document.repair import repair
from sssjob.document.slices import slices
from sssjob.errors import UnreadableDocument

READERS = [tree.units, tree.documents, slices]
# A letter of each, and a byte that none of them has there.
LETTERS = {
    "utf-8": ("ж", b"\xff"),
    "iso-8859-15": ("€", b""),
    "iso-8859-3": ("ĝ", b"\xa5"),
    "windows-1252": ("€", b"\x81"),
    "koi8-r": ("ж", b""),
    "shift_jis": ("あ", b"\xfd"),
    "euc-jp": ("あ", b"\xff"),
    "euc-kr": ("가", b"\xff"),
    "gb18030": ("ж", b"\xff"),
    "big5": ("中", b"\xff"),
}


def _first(reader, data):
    """The first thing that a reader says of some bytes: its place and its words."""
    told = []
    for _ in reader(data, on_error=told.append):
        pass
    return (told[0].finding.line, told[0].finding.column, told[0].finding.message)


def _head(name):
    return f'<?xml version="1.0" encoding="{name}"?>'


# What is wrong, and how many characters of its line stand before it.
FAULTS = {
    "a character that no document has": ("{0}\x01", 1),
    "an end tag of another name": ("{0}{0}</Nam>", 2),
    "an attribute without quotes": ("{0}<a b=1/>", 6),
}
ROUNDS = {
    "alone": ("", ""),
    "behind a job of its line": ("<Jobs><Job><Id>1</Id><Name>{0}{0}{0}</Name></Job>", "</Jobs>"),
    "in a line of its own": ("<Jobs>\n<Job><Id>1</Id></Job>\n", "</Jobs>"),
}


@pytest.mark.parametrize("around", ROUNDS.values(), ids=ROUNDS)
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("name", LETTERS)
def test_columns_count_the_characters_of_an_encoding(name, fault, around):
    letter = LETTERS[name][0]
    before, after = (part.format(letter) for part in around)
    text = _head(name) + before + "<Job><Id>2</Id><Name>"
    wrong, ahead = fault[0].format(letter), fault[1]
    place = (1 + text.count("\n"), len(text) - text.rfind("\n") + ahead)
    data = f"{text}{wrong}</Name></Job>{after}".encode(name)
    for reader in READERS:
        assert _first(reader, data)[:2] == place, reader
    assert place in [(each.line, each.column) for each in check_source(data)]


@pytest.mark.parametrize("around", ROUNDS.values(), ids=ROUNDS)
@pytest.mark.parametrize("name", [name for name, (_, none) in LETTERS.items() if none])
def test_a_byte_that_an_encoding_has_not_is_told_in_its_place(name, around):
    letter, byte = LETTERS[name]
    before, after = (part.format(letter) for part in around)
    text = _head(name) + before + f"<Job><Id>2</Id><Name>{letter}"
    place = (1 + text.count("\n"), len(text) - text.rfind("\n"))
    data = text.encode(name) + byte + f"</Name></Job>{after}".encode(name)
    said = f"byte 0x{byte.hex().upper()} at offset {len(text.encode(name))} is not {name.upper()}"
    for reader in READERS:
        assert _first(reader, data) == (*place, said), reader
    assert (*place, said) in [(each.line, each.column, each.message) for each in check_source(data)]


@pytest.mark.parametrize("name, codec", [("ISO-2022-JP", "iso2022_jp"), ("HZ", "hz")])
def test_what_is_wrong_in_an_encoding_with_states_is_told_once(name, codec):
    data = f"{_head(name)}<Job><Id>1</Id><Name>あ\x01</Name></Job>".encode(codec)
    errors = [each for each in check_source(data) if each.code == "E-XML"]
    assert [each.message for each in errors] == ["U+0001 is not a character of XML 1.0"]
    for reader in READERS:
        assert _first(reader, data) == (errors[0].line, errors[0].column, errors[0].message)


@pytest.mark.parametrize("name", [*LETTERS, "iso2022_jp"])
def test_what_is_repaired_stays_in_its_encoding(name):
    letter = LETTERS.get(name, ("あ",))[0]
    text = (
        _head(name.replace("iso2022_jp", "ISO-2022-JP")) + f"\n<Job><Name>{letter} & b</Name></Job>"
    )
    assert repair(text.encode(name)).data == text.replace("&", "&amp;").encode(name)


# What the parser says of a name only behind the tag; the document goes on.
NAMES = {
    "beside a job, with a line end in its end tag": '<R><Job/><Memory :a="1">x</Memory\n></R>',
    "beside a job": '<R><Job/><Memory :a="1">x</Memory></R>',
    "behind lines": '<R>\n<Job/>\n<Job/> <Memory :a="1">x</Memory>\n\n<Job/></R>',
    "of a namespace": '<R><Job><Id>1</Id></Job><M xmlns="u" :a="1">é</M\n></R>\n<A>\n</A>',
    "twice": '<R><Job/><M :a="1"/><Job/><M :b="1"/>\n<Job/></R>',
    "and what ends the document": '<R><Job/><Memory :a="1">x</Memory\n></R>\n<A>\n<',
}


@pytest.mark.parametrize("text", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("reader", READERS)
def test_a_name_that_cannot_be_is_told_where_it_stands(reader, text):
    before = text[: text.index(":a")]
    line, column, message = _first(reader, text.encode())
    assert message == "Failed to parse QName ':a'"
    assert line == before.count("\n") + 1
    assert column - len(before[before.rfind("\n") + 1 :]) == len(":a") + 1


def test_one_document_and_a_slice_of_it_raise_the_same():
    data = b'<R><Job/><Memory :a="1">x</Memory\n></R>\n'
    for reader in READERS:
        with pytest.raises(UnreadableDocument, match="QName") as raised:
            list(reader(data))
        assert (raised.value.finding.line, raised.value.finding.column) == (1, 20)
