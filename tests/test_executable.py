"""What an Executable names, and what runs a script."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.errors import InvalidValue
from sssjob.executable import ExecutableKind, From, arguments, decoded, executable, interpreter

KINDS = [
    ("#Script", ExecutableKind.FILE, "Script"),
    (" #Script\n", ExecutableKind.FILE, "Script"),
    ("#my%20script", ExecutableKind.FILE, "my script"),
    ("https://example.org/a.sh", ExecutableKind.URI, "https://example.org/a.sh"),
    ("gsiftp://h/x", ExecutableKind.URI, "gsiftp://h/x"),
    ("file:///etc/passwd", ExecutableKind.URI, "file:///etc/passwd"),
    ("C:\\run.exe", ExecutableKind.DRIVE, "C:\\run.exe"),
    ("c://x", ExecutableKind.DRIVE, "c://x"),
    ("/bin/true", ExecutableKind.PATH, "/bin/true"),
    ("run.sh", ExecutableKind.PATH, "/home/amy/run.sh"),
    ("http:run", ExecutableKind.PATH, "/home/amy/http:run"),
    ("../a b", ExecutableKind.PATH, "/home/amy/../a b"),
]


@pytest.mark.parametrize("text, kind, target", KINDS)
def test_an_executable_is_told_from_its_text(text, kind, target):
    found = executable(text, "/home/amy")
    assert (found.kind, found.target) == (kind, target)


def test_a_path_without_a_directory_stays_relative():
    assert executable("run.sh").target == "run.sh"


@pytest.mark.parametrize("text", ["", " ", "#", "a\nb", "a\rb", "a\0b", "#a%0Ab"])
def test_a_text_that_names_nothing_is_refused(text):
    with pytest.raises(InvalidValue):
        executable(text)


@pytest.mark.parametrize("text", ["", " "])
def test_a_job_without_an_executable_is_told_so(text):
    with pytest.raises(InvalidValue, match="there is nothing to run"):
        executable(text)


@pytest.mark.parametrize(
    "text, id_", [("a", "a"), ("%C3%A9", "é"), ("%FF", "%FF"), ("100%", "100%"), ("a+b", "a+b")]
)
def test_ids_are_compared_decoded(text, id_):
    assert decoded(text) == id_


INTERPRETERS = [
    (b"#!/bin/bash\necho", "/bin/csh", ("/bin/bash",), From.SCRIPT),
    (b"#! /usr/bin/env -S python3 -u \r\n", "", ("/usr/bin/env", "-S python3 -u"), From.SCRIPT),
    (b"#!\necho", "/bin/csh -f", ("/bin/csh", "-f"), From.SHELL),
    (b" #!/bin/bash", "/bin/csh", ("/bin/csh",), From.SHELL),
    (b"echo", " ", ("/bin/sh",), From.DEFAULT),
    (b"", "", ("/bin/sh",), From.DEFAULT),
    (b"#!/opt/\xff\n", "", ("/opt/\udcff",), From.SCRIPT),
]


@pytest.mark.parametrize("script, shell, command, source", INTERPRETERS)
def test_a_script_runs_by_its_own_line_else_the_shell_else_sh(script, shell, command, source):
    found = interpreter(script, shell)
    assert (found.command, found.source) == (command, source)


@pytest.mark.parametrize("text", ["it's", '"a', "a\\"])
def test_unbalanced_quotes_are_refused_where_a_list_is_needed(text):
    with pytest.raises(InvalidValue, match="a list of arguments"):
        arguments(text)


@given(st.lists(st.text()))
def test_arguments_split_as_a_shell_would(words):
    assert arguments(shlex.join(words)) == tuple(words)


def test_arguments_expand_nothing():
    assert arguments("$HOME `id` * # x") == ("$HOME", "`id`", "*", "#", "x")
