"""What libraries say is told in plain words: whatever they say, and wherever it is told."""

import configparser
import csv
import io
import json
import json.decoder
import lzma
import re
import shlex
import tomllib
import zlib
from inspect import getsource
from pathlib import Path

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob
from sssjob.document import opened
from sssjob.errors import NotAQuery, UnreadableDocument
from sssjob.library_words import (
    config_fault,
    csv_fault,
    json_fault,
    pattern_fault,
    shell_fault,
    toml_fault,
)
from sssjob.query import compile
from sssjob.settings import BadToml, toml

QUOTED = r"f?\"((?:[^\"\\]|\\.)+)\""


def sentences(module, raised):
    """The texts with which a module of Python raises an error."""
    found = re.findall(
        rf"(?:{raised})\(\s*(?:src, pos, |src, [\w.]+, )?{QUOTED}", getsource(module)
    )
    assert found
    return [each.replace("\\\\", "\\") for each in found]


JSON = [
    *sentences(json.decoder, "JSONDecodeError"), "Invalid control character at",
    "Invalid \\escape: ", "Invalid \\uXXXX escape", "Illegal trailing comma before end of object",
    "Unexpected UTF-8 BOM (decode using utf-8-sig)",
]  # fmt: skip
TOML = [
    each for each in sentences(tomllib._parser, "suffixed_err|TOMLDecodeError")
    if "coord_repr" not in each
]  # fmt: skip


@pytest.mark.parametrize("said", JSON)
def test_each_sentence_of_json_has_a_plain_one(said):
    assert json_fault(said) not in ("what is no JSON", said)


@pytest.mark.parametrize("said", TOML)
def test_each_sentence_of_toml_has_a_plain_one(said):
    filled = re.sub(r"\{(char|src\[pos\]|expect)!r\}", "'x'", said)
    filled = re.sub(r"\{\w+(!r)?\}", "('a', 'b')", filled)
    assert toml_fault(filled) not in ("what no TOML has", filled)
    assert "('a'" not in toml_fault(filled)


@pytest.mark.parametrize("text, said", [
    ('"a', "a quote that is not closed"),
    ('"a"b', "text behind a quote that is closed"),
    ("a" * 140_000, "a field of more than 131072 characters"),
    ("a\rb\n", "a line end in a field without quotes"),
])  # fmt: skip
def test_what_is_no_csv_is_told_in_plain_words(text, said):
    with pytest.raises(csv.Error) as error:
        next(csv.reader([text], strict=True))
    assert csv_fault(error.value) == said


@pytest.mark.parametrize("text, said", [
    ("'a", "a quote that is not closed"), ("a\\", "a backslash with nothing behind it"),
])  # fmt: skip
def test_what_no_shell_splits_is_told_in_plain_words(text, said):
    with pytest.raises(ValueError, match="No") as error:
        shlex.split(text)
    assert shell_fault(error.value) == said


def test_what_has_no_options_is_told_with_its_line():
    with pytest.raises(configparser.Error) as error:
        configparser.RawConfigParser().read_file(io.StringIO("[a]\nb = 1\n= 2\n"))
    assert config_fault(error.value) == "line 3: neither a section, an option nor a comment"


def test_what_is_no_pattern_is_told_with_its_place():
    with pytest.raises(re.error) as error:
        re.compile("ab(")
    assert pattern_fault(error.value) == "it is no regular expression from character 3 on"


def test_a_sentence_that_nobody_knows_is_a_general_one():
    told = [json_fault("?"), toml_fault("?"), csv_fault(csv.Error("?")), shell_fault(ValueError())]
    assert told == [
        "what is no JSON", "what no TOML has", "quotes or separators that are none of CSV",
        "quotes that no shell reads",
    ]  # fmt: skip


@pytest.mark.parametrize("changed", [
    b"\x1f\x8b\x08\0\0\0\0\0\0\3\xff\xff\xff\xff", b"BZh9" + b"a" * 30,
    lzma.compress(b"<Job/>")[:-9] + b"a" * 9,
    zlib.compress(b"<Job/>", wbits=31)[:-8] + b"12345678",
])  # fmt: skip
def test_damaged_data_is_called_so_and_no_more(changed):
    with pytest.raises(UnreadableDocument) as error, opened(io.BytesIO(changed)) as stream:
        stream.read()
    assert error.value.finding.message == "the compressed data is damaged"


PYTHON = re.compile(
    r"NoneType|\bNone\b|must be real|Expecting|delimiter:|codec can't|literal for|string to float"
    r"|No closing|No escaped|unhashable|object is not|has no attribute|Traceback|<class"
    r"|\(char \d|positional argument|<string>|Error -\d|\bstr\b|\bint\b|\bfloat\b"
)
GIVEN = {
    "translate --from psij --to sss @": ("{", '{"a": }', "[1", "{'a': 1}"),
    "convert --from slurm-json @": ("{", '{"jobs": [{"a" 1}]}', '{"jobs": [{"a": "x'),
    "convert --from lsf @": ('"JOB_FINISH" "10.1" 1 "a"b" ', '"JOB_FINISH" "10.1" 1 "a'),
    "condor check @": ("if x",),
    "condor job @": ("[{", '[{"a": }]', "<classads><c>", "a = ["),
    "match --offers @ J": ("", "{", "[{'a'}]", '{"a": 1,}'),
    "report --factors @ J": ("a", "[[a]\n", '"a', "a = = 1"),
    "lcginfo check --config @": ("[LRMS]\nlrms_backend_cmd = cat 'x\n", "[Main]\n= x\n"),
    "serve --config @": ("a = ", "[a]\n[a]", "a = {b = 1, b = 2}", "'''", "a.b = 1\na = 2\n"),
    "transform @ J": ("<xsl", "<a><b></a>", "<a/>"),
    "show @": ("<Job", "<Job>&x;</Job>", "<Job></Jobs>", "\x1f\x8b"),
}  # fmt: skip


@pytest.mark.parametrize("words, text", [
    (words, text) for words, texts in GIVEN.items() for text in texts
])  # fmt: skip
def test_a_command_refuses_a_file_in_plain_words(words, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("given").write_text(text, "latin-1")
    Path("J").write_text("<Job><Id>1</Id></Job>")
    done = CliRunner().invoke(sssjob, words.replace("@", "given").split())
    assert done.exit_code
    assert "given" in done.stderr
    assert not PYTHON.search(done.stderr.replace("given", ""))


@pytest.mark.parametrize("text", [
    "[a]\nb = 1\n[a]", "a = {b = 1}\n[a.c]", "a = [1", "a = 1979-13-01",
    'a = "\\x"', "a", "= 1", "a = \"\x01\"",
])  # fmt: skip
def test_settings_are_refused_without_words_of_python(text):
    with pytest.raises(BadToml) as error:
        toml(text)
    assert not re.search(r"namespace|mutate|Cannot|Invalid|Expected|\('", str(error.value))
    assert "(at " in str(error.value)


CALLS = """
subsequence((1,2),())
subsequence((1,2),'a')
substring('a', ())
insert-before((1,2),(),1)
math:pow(10,400)
math:exp(1000)
'a' to 2
round(1, ())
abs('a')
max((1,'a'))
sum(('a',1))
string-join((1,2), 3)
matches('a', '(')
replace('a', '[', 'b')
tokenize('a', '+')
format-number((), '0')
xs:date('2020-13-01')
xs:double('a')
xs:integer('a')
xs:dayTimeDuration('P')
xs:hexBinary('x')
array:get([1], 2)
map:get(1, 2)
function($a) { $a }(1, 2)
1 idiv 0
1 mod 0
-'a'
'a' * 2
adjust-dateTime-to-timezone((), 1)
codepoints-to-string(99999999)
string-to-codepoints(1)
remove((1,2), ())
"""


@pytest.mark.parametrize("call", CALLS.split("\n")[1:-1])
def test_a_call_that_cannot_be_worked_out_is_told_without_words_of_python(call):
    assert not PYTHON.search(said_of(call))


def said_of(call):
    """The first line of why a call is refused; "" where it is not."""
    try:
        [*compile(call, version="3.1").run(b"<Job><Id>1</Id></Job>")]
    except (NotAQuery, UnreadableDocument) as error:
        return str(error).partition("\n")[0]
    return ""
