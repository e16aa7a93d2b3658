"""Hostile text through every way to write: it comes back as the text that it was, or is shown."""

import ast
import html
import json
import logging
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from lxml import etree

import sssjob
from sssjob.drawing.words import Words, printed
from sssjob.gateway.log import JsonFormatter
from sssjob.lcginfo import ldif
from sssjob.translate import quoting
from sssjob.visible import Dot, Markup, ShellText, Terminal, csv_lines, in_dot, markup, visible

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
    line = JsonFormatter().format(record)
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


@texts
@pytest.mark.parametrize("language", [Terminal, Markup, Dot, ShellText])
def test_a_template_shows_texts_and_keeps_its_own_language(language, text):
    own = language.of("{text}", text=text)
    assert type(own) is language
    assert own == language.shown(text)
    assert language.of("{a}{b}{c}", a=own, b=2, c=text) == f"{own}2{own}"
    assert language.joined((own, own), ";") == f"{own};{own}"


@texts
def test_a_text_of_rich_steers_no_terminal(text):
    text = text.replace("\ud800", "")
    words = Words(text).append(text, "bold").append(Words(text))
    assert words.plain == visible(text) * 3
    assert printed(words, colours=False).rstrip("\n") == words.plain.rstrip()


# The modules that make a text of a language out of one of anybody: their functions are tested here.
MAKERS = (
    "visible.py",
    "drawing/words.py",
    "cli/common.py",
    "lcginfo/ldif.py",
    "translate/quoting.py",
)
LANGUAGES = ("Terminal", "Markup", "Dot", "ShellText", "Csv", "Ldif")


def made(tree):
    """The calls that make a text of a language, each with what it is made of."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name(id=name) if name in LANGUAGES and node.args:
                yield node.lineno, node.args[0]
            case ast.Attribute(value=ast.Name(id=name), attr="of") if name in LANGUAGES:
                yield node.lineno, node.args[0]
            case ast.Name(id="cast") if any(
                each in ast.unparse(node.args[0]) for each in LANGUAGES
            ):
                yield node.lineno, node.func


def is_ours(node, constants):
    """Whether an expression is a text that stands in the code."""
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name in constants
        case ast.IfExp(body=body, orelse=other):
            return is_ours(body, constants) and is_ours(other, constants)
    return False


def constants(scope, outside=frozenset()):
    """Names that are given a text of the code wherever a function or module gives them one.

    Those of ``outside`` are as well, unless they are given something here.
    """
    nodes = [*ast.walk(scope)]
    stored = Counter(
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    stored.update(node.arg for node in nodes if isinstance(node, ast.arg))
    literal = Counter(
        node.targets[0].id
        for node in nodes
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    )
    own = {name for name, count in literal.items() if count == stored[name]}
    return own | {name for name in outside if name not in stored}


def test_templates_stand_in_the_code():
    home = Path(sssjob.__file__).parent
    count = 0
    for path in sorted(home.rglob("*.py")):
        name = str(path.relative_to(home))
        text = path.read_text("utf-8")
        if name in MAKERS or not any(each in text for each in LANGUAGES):
            continue
        module = ast.parse(text)
        functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
        module.body = [each for each in module.body if not isinstance(each, ast.FunctionDef)]
        everywhere = constants(module)
        for scope in (module, *functions):
            for line, node in made(scope):
                count += 1
                assert is_ours(node, constants(scope, everywhere)), f"{name}:{line}"
    assert count > 40
