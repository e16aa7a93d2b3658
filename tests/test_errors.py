"""Findings and exceptions: sentences made of facts."""
# ruff: noqa: E501 (a row of a table is a line)

import ast
import pickle
from pathlib import Path

import pytest

from sssjob import errors
from sssjob.errors import CODES, Severity, finding


def test_codes_are_unique_and_begin_with_their_severity():
    names = [code.name for code in CODES]
    assert len(set(names)) == len(names)
    assert {code.name[0]: code.severity for code in CODES} == {
        "E": Severity.ERROR,
        "W": Severity.WARNING,
        "I": Severity.NOTICE,
    }


def literal_severities():
    """Each code and severity that the code states together."""
    for path in sorted(Path(errors.__file__).parent.rglob("*.py")):
        text = path.read_text()
        if "severity=Severity." not in text:
            continue
        for call in ast.walk(ast.parse(text)):
            words = {each.arg: each.value for each in getattr(call, "keywords", ())}
            if isinstance(call, ast.Call) and isinstance(words.get("severity"), ast.Attribute):
                for name in call.args[:1]:
                    if isinstance(name, ast.Constant) and name.value in errors.CODE:
                        yield path.name, name.value, Severity[words["severity"].attr]


def test_every_severity_that_the_code_states_is_one_that_explain_tells():
    found = list(literal_severities())
    assert found
    for file, code, severity in found:
        assert severity in errors.CODE[code].severities, (file, code, severity)


def test_a_finding_is_one_line_as_compilers_print_it():
    found = finding("E-TYPE", "wrong", file="a.xml", line=3, column=9, path="/Job", section="SSS 2",
                    suggestion="write 1")  # fmt: skip
    assert str(found) == "a.xml:3:9: error: wrong at /Job; write 1 (SSS 2) [E-TYPE]"
    assert str(finding("I-UNIT", "so")) == "notice: so [I-UNIT]"
    assert found.in_file("b.xml").as_dict() == {
        "file": "b.xml", "line": 3, "column": 9, "code": "E-TYPE", "severity": "error",
        "message": "wrong", "path": "/Job", "section": "SSS 2", "suggestion": "write 1",
    }  # fmt: skip
    assert finding("E-XML", "x").as_dict()["line"] is None


RAISED = [
    pytest.param(errors.UnreadableDocument(finding("E-XML", "no")), "error: no [E-XML]", id="bytes"),
    pytest.param(errors.InvalidJob([finding("E-XML", "a"), finding("E-DUP", "b")]),
                 "error: a [E-XML]\nerror: b [E-DUP]", id="all at once"),
    pytest.param(errors.InvalidValue("x" * 99, "an integer"), f"'{'x' * 57}...' is not an integer", id="value"),
    pytest.param(errors.UnbalancedGroup(0, "User", 2, 1), "User (item 1) closes 2 levels but only 1 is open", id="closes"),
    pytest.param(errors.UnbalancedGroup(1, "User", 0, 1), "User (item 2) leaves 1 level open", id="open"),
    pytest.param(errors.Refused("444", "not yours"), "not yours (444)", id="refused"),
    pytest.param(errors.BadFraming("no length", 411), "no length (242)", id="framing"),
    pytest.param(errors.NoReply("222", "nobody", False), "nobody (222)", id="no reply"),
    pytest.param(errors.BadKeyFile("key", "empty"), "key: empty", id="key file"),
    pytest.param(errors.BadSettings([errors.Problem("a.toml", 3, "limits.rows", "-1", "more")]),
                 "a.toml:3: error: limits.rows: found -1, expected more", id="settings"),
    pytest.param(errors.LimitExceeded("terms", 64), "more than 64 terms", id="limit"),
]  # fmt: skip


@pytest.mark.parametrize("error, text", RAISED)
def test_an_exception_makes_its_sentence_and_travels_between_processes(error, text):
    assert str(error) == text
    assert isinstance(error, (errors.SSSJobError, ValueError))
    assert str(pickle.loads(pickle.dumps(error))) == text
