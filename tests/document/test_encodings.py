"""What is known of an encoding before a document in it is read, and where a source is endless."""

import os

import pytest

from sssjob.document import cause, limits, parsing
from sssjob.document.encodings import by_mark, declared, shows_tags
from sssjob.document.files import ByteRange
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
