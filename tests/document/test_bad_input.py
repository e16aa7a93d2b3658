"""Bad input: refused with its place and cause, in bounded memory, whatever it is."""
# ruff: noqa: E501 (a row of a table is a line)

import io
import subprocess
import sys
from pathlib import Path

import pytest

from sssjob.document import cause, tree
from sssjob.errors import UnreadableDocument

ROOT = Path(__file__).parents[2]
JOB = b"<Job><Id>1</Id></Job>"


def texts(source):
    return [element.tag for element in tree.units(source)]


def unreadable(source):
    with pytest.raises(UnreadableDocument) as failure:
        for _ in tree.units(source):
            pass
    return failure.value.finding


SECRET = "<!DOCTYPE Job [<!ENTITY x SYSTEM '{}'>]><Job><Id>&x;</Id></Job>"
LAUGHS = "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 10}'>" for n in range(1, 12))

# fmt: off
BAD = [
    # what                                             code       line  in the message
    pytest.param(b"",                                  "E-XML",    0,   "empty",              id="nothing"),
    pytest.param(b" \n\n ",                            "E-XML",    0,   "empty",              id="white space only"),
    pytest.param(b"sacct|text\nmore|text\n",           "E-XML",    1,   "'<'",                id="no XML"),
    pytest.param(b"<!-- x -->",                        "E-XML",    1,   "has no element",     id="a comment"),
    pytest.param(b"<?x y?>\n",                         "E-XML",    2,   "has no element",     id="an instruction"),
    pytest.param(b"<Job>\n<Id>1</Job>",                "E-XML",    2,   "<Id> (line 2) is not closed before </Job>", id="a wrong end tag"),
    pytest.param(b"<Job>\n<Id>1</Id>\n",               "E-XML",    3,   "",                   id="no end"),
    pytest.param(b"<Job>\n<Id",                        "E-XML",    2,   "",                   id="cut inside a tag"),
    pytest.param(b"<Job>\n</Job>\ntrash",              "E-XML",    3,   "",                   id="text behind"),
    pytest.param(b"<Job><Id>a&b</Id></Job>",           "E-XML",    1,   "&",                  id="a bare ampersand"),
    pytest.param(b"<Job><Id>&nbsp;</Id></Job>",        "E-XML",    1,   "nbsp",               id="an unknown entity"),
    pytest.param(b"<Job a='1' a='2'/>",                "E-XML",    1,   "redefined",          id="an attribute twice"),
    pytest.param(b"<Job><x:Id>1</x:Id></Job>",         "E-XML",    1,   "x",                  id="an undeclared prefix"),
    pytest.param(b"<a\x01b/>",                         "E-XML",    1,   "",                   id="a control character in a name"),
    pytest.param(b"<a:/>",                             "E-XML",    1,   "",                   id="a name that is only a prefix"),
    pytest.param(b"<Job>\n<Id>a\x00b</Id></Job>",      "E-XML",    2,   "U+0000",             id="NUL"),
    pytest.param(b"<Job>\n<Id>a\x1bb</Id></Job>",      "E-XML",    2,   "U+001B",             id="escape"),
    pytest.param(b"<Job><Id>&#0;</Id></Job>",          "E-XML",    1,   "U+0000",            id="a reference to NUL"),
    pytest.param(b"<Job>\n<Id>\xe9</Id></Job>",        "E-XML",    2,   "byte 0xE9",          id="Latin 1, not declared"),
    pytest.param(b"<?xml version='1.0' encoding='utf-99'?><Job/>", "E-XML", 1, "utf-99",      id="an unknown encoding"),
    pytest.param(b"<?xml version='1.0' encoding='utf-16'?><Job>1</Job>", "E-XML", 1, "",      id="UTF-16 declared, not written"),
    pytest.param("<Job><Id>1</Id></Job>".encode("utf-16-le"), "E-XML", 1, "this is UTF-16 without a byte order mark", id="UTF-16 without a mark"),
    pytest.param("<Job><Id>1</Id></Job>".encode("utf-16-be"), "E-XML", 1, "this is UTF-16 without a byte order mark", id="UTF-16 of high bytes first, without a mark"),
    pytest.param(b"<!DOCTYPE Job>\n<Job/>",            "E-XML",    1,   "DTD",                id="a document type"),
    pytest.param(b"\n<!-- -->\n<!DOCTYPE Job>\n<Job/>", "E-XML",   3,   "DTD",                id="a document type below"),
    pytest.param(f"<!DOCTYPE Job [<!ENTITY l0 'ha'>{LAUGHS}]><Job><Id>&l11;</Id></Job>".encode(), "E-XML", 1, "DTD", id="a billion laughs"),
    pytest.param(SECRET.format("file:///etc/passwd").encode(), "E-XML", 1, "DTD",             id="an external entity"),
    pytest.param("<Job>\n <Variable name=”PATH”/></Job>".encode(), "E-XML", 2, "U+201D",      id="typographic quotes"),
    pytest.param("<Job\u00a0a='1'/>".encode(),         "E-XML",    1,   "U+00A0",             id="a no-break space in a tag"),
    pytest.param(b"<a>" * 300 + b"</a>" * 300,         "E-LIMIT",  1,   "256 deep",           id="300 levels"),
    pytest.param(b"<Job><Id>" + b"x" * 11_000_000 + b"</Id></Job>", "E-LIMIT", 0, "10 MB",    id="a text of 11 MB"),
    pytest.param(b"<Job a='" + b"x" * 11_000_000 + b"'/>", "E-LIMIT", 0, "",                  id="an attribute of 11 MB"),
    pytest.param(b"<Job><!--" + b"x" * 11_000_000 + b"--></Job>", "E-LIMIT", 0, "",           id="a comment of 11 MB"),
    pytest.param(b"<" + b"x" * 11_000_000,             "E-LIMIT",  0,   "",                   id="a name of 11 MB"),
]
# fmt: on


@pytest.mark.parametrize("data, code, line, named", BAD)
def test_bad_input_is_refused_with_place_and_cause(data, code, line, named):
    for source in (data, io.BytesIO(data)):
        finding = unreadable(source)
        assert finding.code == code
        assert finding.line == line or not line
        assert named in finding.message
    with pytest.raises(UnreadableDocument) as failure:
        tree.parse(data)
    assert failure.value.finding.code == code


def test_advice_names_what_to_write_once():
    quotes = "<Job>\n <Variable name=”PATH” type=”x”/>".encode()
    assert unreadable(quotes).suggestion == 'write "'
    assert "ISO-8859-1" in unreadable(b"<Job>\xe9</Job>").suggestion
    assert unreadable(b"<Job>a & b</Job>").suggestion == "write &amp;"


@pytest.mark.parametrize("before", [0, 70_000])
def test_an_invalid_byte_is_told_with_its_offset(before):
    data = b"<Jobs>" + b" " * before + JOB + b"<Job>\xc3\xa9\xe9</Job></Jobs>"
    assert f"byte 0xE9 at offset {data.index(0xE9)} " in unreadable(data).message


@pytest.mark.parametrize("name", ["US-ASCII", "ascii"])
@pytest.mark.parametrize("group", ["{}", "<JobGroup>\n<Job/>\n{}</JobGroup>"])
def test_a_byte_beyond_ascii_is_told_with_its_place(name, group):
    head = f'<?xml version="1.0" encoding="{name}"?>'
    data = (head + group.format("<Job><Id>é</Id></Job>")).encode()
    at = data.index(0xC3)
    for source in (data, io.BytesIO(data)):
        found = unreadable(source)
        assert found.message == f"byte 0xC3 at offset {at} is not ASCII"
        assert found.line == 1 + data.count(b"\n")
        assert found.column == at - data.rfind(b"\n", 0, at)


def test_a_prolog_of_many_comments_is_read_in_one_go():
    assert texts(b"<!---->" * 9000 + JOB) == ["Job"]
    assert unreadable(b"<!---->" * 9000 + b"x").code == "E-XML"


def test_a_directory_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError):
        texts(tmp_path)


COMPRESSED = [
    pytest.param("gzip", id="gzip"),
    pytest.param("bz2", id="bzip2"),
    pytest.param("lzma", id="xz"),
    pytest.param("zstandard", id="zstd"),
]


@pytest.mark.parametrize("module", COMPRESSED)
def test_external_addresses_are_not_opened_from_compressed_input_either(module, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    data = SECRET.format(secret.as_uri()).encode()
    packed = pytest.importorskip(module).compress(data)
    assert unreadable(packed).message == "a document type declaration (DTD) is not accepted"


# Documents that never end as streams, made while they are read under a limit of memory.
ENDLESS = """
import gzip, lzma, resource, zstandard, lxml.etree
from sssjob.document import tree
from sssjob.errors import UnreadableDocument

class Endless:
    # A head, then the same bytes again and again, in small pieces.
    def __init__(self, head, again, size):
        self.rest, self.again, self.left = head, again * max(1, (1 << 16) // len(again)), size

    def peek(self, size):
        return self.rest[:size]

    def read(self, size=-1):
        if self.rest:
            data, self.rest = self.rest[:size], self.rest[size:]
            return data
        self.left -= len(self.again)
        return self.again if self.left > 0 else b""

held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + (MEBIBYTES << 20),) * 2)
try:
    print(sum(1 for _ in tree.units(SOURCE)))
except UnreadableDocument as error:
    print(error.finding.code, error.finding.message)
"""

# fmt: off
STREAMS = [
    #            head             again    MiB  what is said
    pytest.param(b"<Job><Id>",    b"x",    128, "E-LIMIT", id="a text node of 4 GB"),
    pytest.param(b"<Job a='",     b"x",    128, "E-LIMIT", id="an attribute of 4 GB"),
    pytest.param(b"<Job><!--",    b"x",    128, "E-LIMIT", id="a comment of 4 GB"),
    pytest.param(b"<!--",         b"x",    128, "E-LIMIT", id="a comment of 4 GB in front"),
    pytest.param(b"<Job><?pi ",   b"x",    128, "E-LIMIT", id="an instruction of 4 GB"),
    pytest.param(b"<Job><![CDATA[", b"x",  128, "E-LIMIT", id="a CDATA section of 4 GB"),
    pytest.param(b"<Job ",        b"x='' ", 256, "E-LIMIT",  id="an attribute again and again"),
    pytest.param(b"<Job>",        b"<a>",  128, "E-LIMIT", id="more than a million levels"),
    pytest.param(b"<Jobs>",       b"<a/>", 2048, "E-LIMIT", id="elements that are no jobs"),
    pytest.param(b"<Job>1</Job>\n<Job>1</Job>\n<Job>", b"x", 512, "E-LIMIT", id="a line of 4 GB"),
    pytest.param(b"",             b" ",    64,  "E-XML",   id="256 MB of blanks"),
    pytest.param(b"<Job>1</Job>", b" ",    64,  "E-LIMIT",       id="4 GB of blanks behind a document"),
]
# fmt: on


def under_limit(source, mebibytes):
    text = ENDLESS.replace("SOURCE", source).replace("MEBIBYTES", str(mebibytes))
    return subprocess.run(
        [sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("head, again, mebibytes, said", STREAMS)
def test_what_never_ends_is_refused_in_bounded_memory(head, again, mebibytes, said):
    size = 4 << 30 if head else 256 << 20  # of blanks all are read
    result = under_limit(f"Endless({head!r}, {again!r}, {size})", mebibytes)
    assert result.stdout.startswith(said), result.stderr[-600:]


QUICKLY = {"gzip": {"compresslevel": 1}, "bz2": {"compresslevel": 1}, "lzma": {"preset": 0}}


@pytest.mark.parametrize("module", COMPRESSED)
def test_a_small_file_that_unpacks_to_very_much_stays_small_in_memory(module, tmp_path):
    path = tmp_path / "bomb"
    compress, how = pytest.importorskip(module).compress, QUICKLY.get(module, {})
    path.write_bytes(compress(b"<Job><Id>" + b" " * (1 << 28), **how))
    result = under_limit(repr(str(path)), 192)
    assert result.stdout.startswith("E-LIMIT"), result.stderr[-600:]


@pytest.mark.parametrize(
    "said, number",
    [
        ("Char 0x1F out of allowed range", "U+001F"),
        ("xmlParseCharRef: invalid xmlChar value 31", "U+001F"),
        ("Invalid PCDATA Char 12", "U+000C"),
        ("a reference &#x1f; to no character", "U+001F"),
        ("a reference &#12; to no character", "U+000C"),
    ],
)
def test_a_character_is_told_by_its_number_however_the_parser_says_it(said, number):
    refused = cause.unreadable(said, 3, 4)
    assert refused.finding.message == f"{number} is not a character of XML 1.0"
