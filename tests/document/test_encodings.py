"""What is known of an encoding before a document in it is read, and where a source is endless."""

import os

import pytest

from sssjob.document import cause, limits, parsing, tree
from sssjob.document.encodings import by_mark, declared, shows_tags
from sssjob.document.files import ByteRange
from sssjob.document.slices import slices
from sssjob.document.sources import Files, NamedSource
from sssjob.errors import UnreadableDocument


@pytest.mark.parametrize(
    "name, shows",
    [
        ("utf-8", True), ("latin-1", True), ("cp1252", True), ("no-such", True),
        ("utf-16", False), ("utf-32-be", False), ("cp037", False),
        ("utf-7", False), ("iso2022_jp", False), ("hz", False),
    ],
)  # fmt: skip
def test_tags_are_seen_in_encodings_that_hold_ascii_as_it_is(name, shows):
    assert shows_tags(name) is shows


def test_an_encoding_is_that_of_the_mark_or_of_the_declaration():
    assert by_mark("<?xml?>".encode("utf-16-le")) == "utf-16-le"
    assert by_mark(b"<?xml?>") is None
    for name in ("utf-32-le", "utf-32-be"):  # UCS-4, as libxml2 knows it by its first sign
        assert by_mark("<?xml?>".encode(name)) == by_mark("<Job/>".encode(name)) == name
    assert declared(b"<?xml version='1.0' encoding='Latin-1'?>") == "latin-1"
    assert declared(b"<?xml version='1.0' encoding='UTF8'?>") is None
    assert declared(b"<Job encoding='Latin-1'/>") is None


def test_one_character_in_eight_may_be_no_text():
    assert not cause.is_binary("a" * 7 + "\0")
    assert cause.is_binary("a" * 6 + "\0")
    assert not cause.is_binary(" <" + "\0" * 20)
    assert not cause.is_binary("")


def test_what_has_no_tag_is_waited_for_until_its_limit(monkeypatch):
    monkeypatch.setattr(limits, "TOKEN_LIMIT", 100)
    limits.refuse_endless(b"a" * 100, 1)
    limits.refuse_endless(b"a" * 50 + b"<" + b"b" * 99, 1)
    for data in (b"a" * 101, b"<" + b"b" * 100, b"a" * 50 + b"<" + b"b" * 100):
        with pytest.raises(UnreadableDocument, match="without a tag") as refused:
            limits.refuse_endless(data, 6)
        assert refused.value.finding.line == 7


def test_bytes_of_a_file_are_those_that_stood_there(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"abcdef")
    found = os.stat(path)
    there = ByteRange(str(path), found.st_dev, found.st_ino, 2, 3)
    assert (there.whole, there.read()) == (6, b"cde")
    for other in (there._replace(size=5), there._replace(inode=found.st_ino + 1)):
        with pytest.raises(OSError, match="changed while it was read"):
            other.read()
    path.unlink()
    assert there.whole == 0


def test_small_files_that_are_read_together_are_called_by_the_first(tmp_path):
    assert str(Files((NamedSource("a", tmp_path), NamedSource("b", tmp_path)))) == "a"


def test_a_declaration_of_another_encoding_is_told():
    with pytest.raises(
        UnreadableDocument, match="declared as UTF-16, and its bytes are not; write"
    ):
        parsing.parse(b'<?xml version="1.0" encoding="UTF-16"?><Job/>')


_HIDING = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")
_SHOWING = ("utf-8", "iso-8859-1", "shift_jis", "windows-1252")
_FOREIGN = '<Job xmlns="urn:x"><Id>2</Id></Job>'
_JUDGED = {
    "a job object": "<Job><Id>1</Id></Job>",
    "a Job of another namespace in a JobGroup": f"<JobGroup><Id>g</Id>{_FOREIGN}</JobGroup>",
    "one with a prefix": '<JobGroup xmlns:x="urn:x"><Id>g</Id><x:Job><Id>2</Id></x:Job></JobGroup>',
    "one in a group of a list": f"<Jobs><JobGroup><Id>g</Id>{_FOREIGN}</JobGroup></Jobs>",
    "one that need not be understood":
        '<JobGroup><Id>g</Id><Job xmlns="urn:x" awarenessPolicy="Ignore"/></JobGroup>',
    "one beside jobs": f"<Jobs><Job><Id>1</Id></Job>{_FOREIGN}</Jobs>",
    "one alone": _FOREIGN,
    "a document type": "<!DOCTYPE Job><Job><Id>1</Id></Job>",
    "an entity": '<!DOCTYPE Job [<!ENTITY a "b">]><Job><Id>&a;</Id></Job>',
}  # fmt: skip


def _judged(reader, data):
    """What a reader says of some bytes: how many it found, and the code and line of each error."""
    errors = []
    found = sum(1 for _ in reader(data, on_error=errors.append))
    return found, [(each.finding.code, each.finding.line) for each in errors]


@pytest.mark.parametrize("name", [*_HIDING, *_SHOWING])
@pytest.mark.parametrize("text", _JUDGED.values(), ids=_JUDGED)
@pytest.mark.parametrize("reader", [tree.units, tree.documents, slices])
def test_a_document_is_judged_alike_in_each_encoding(reader, text, name):
    data = f'<?xml version="1.0" encoding="{name}"?>{text}'.encode(name)
    assert _judged(reader, data) == _judged(reader, text.encode())
