"""Hostile text through every way to write: it comes back as the text that it was, or is shown."""

import html
import json
import logging
import re
import subprocess

import pytest
from lxml import etree

from sssjob.gateway.log import Lines
from sssjob.lcginfo import ldif
from sssjob.translate import quoting
from sssjob.visible import csv_lines, in_dot, markup, visible

# fmt: off
HOSTILE = {
    "markup":     "<script>alert('1')</script>&amp;]]>\"",
    "a tag":      '"/><x y=\'',
    "controls":   "a\x00\x1b[2J\x07\x7f\x9bz",
    "turning":    "a\u202eb\u2066c\u2028d\u200be",
    "no letters": "\ufffe\uffff",
    "surrogate":  "a\ud800b",
    "DOT":        'a"]; b [label="\\',
    "LDIF":       " x: y\ndn: o=evil",
    "a URL":      "< file:///etc/passwd",
    "a shell":    "'; $(id) `id` \"$HOME\" \\ !x *",
    "a formula":  "=cmd|' /C calc'!A0",
    "lines":      "a\r\nb\tc\nd",
    "log":        '", "level": "x\n{"time": 1}',
}
# fmt: on
texts = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)


def shown(text):
    """What is seen of a text in XML: no controls, and no letter that XML lacks."""
    letters = visible(text).encode("utf-8", "replace").decode()
    return re.sub("[\ufffe\uffff]", "\ufffd", letters)


@texts
def test_markup_is_text_between_tags_and_in_attributes(text):
    made = markup(text)
    tree = etree.fromstring(f"<a b=\"{made}\" c='{made}'>{made}</a>")
    assert len(tree) == 0
    assert {tree.text, *tree.attrib.values()} == {shown(text)}
    assert html.unescape(made) == shown(text)


@texts
def test_a_text_of_dot_is_one_string(text):
    made = in_dot(text)
    inner = re.fullmatch(r'"((?:[^"\\]|\\.)*)"', made)[1]
    assert inner.replace('\\"', '"').replace("\\\\", "\\") == visible(text)


@texts
def test_a_value_of_ldif_is_read_as_it_was(text):
    text = text.replace("\ud800", "\udc80")  # bytes that are no UTF-8 have this form
    line = ldif.line("GlueCEName", text)
    assert "\n" not in line
    [entry] = ldif.read(ldif.encoded(f"dn: o=grid\n{line}\n"))
    assert entry.all("GlueCEName") == (text,)


@texts
def test_a_record_of_the_log_is_one_line_of_json(text):
    record = logging.LogRecord("x", logging.INFO, "", 0, text, (), None)
    record.facts = {"said": text}
    line = Lines().format(record)
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line)["said"] == json.loads(line)["event"] == text


@texts
def test_a_word_of_a_shell_is_that_word(text):
    if re.search("[\\0\ud800]", text):
        pytest.skip("no argument of a program can hold it")
    line = quoting.run(["printf", "%s", text])
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=True)
    assert done.stdout.decode() == text
    assert "\n" not in line


@texts
def test_a_cell_is_one_and_no_formula(text):
    [line] = csv_lines([["x", text]])
    assert line.startswith("x,")
    assert not re.match(r'x,"?[=+@]', line)
