"""Files that job objects name stay with them wherever these are written anew."""

import io

import pytest
from click.testing import CliRunner

from sssjob import Document
from sssjob.cli import sssjob
from sssjob.document import attached, read
from sssjob.document.attached import Attached, message
from sssjob.document.bundle import bundles
from sssjob.document.text import escape
from sssjob.errors import LimitExceeded

SCRIPT = "#!/bin/sh\necho '1 < 2' & exit\n"
NAMED = "<Executable>#Script</Executable>"
JOB = f"<Job><Id>1</Id>{NAMED}</Job>"
OTHER = "<Job><Id>2</Id></Job>"
FILE = f'<File id="Script">{escape(SCRIPT)}</File>'
SHAPES = {
    "behind":          f"<Data>{JOB}{FILE}</Data>",
    "before":          f"<Data>{FILE}{JOB}</Data>",
    "on lines":        f"<Data>\n  {JOB}\n  {FILE}\n</Data>",
    "with a comment":  f"<!-- a --><Data>\n<!-- b -->{JOB}\n<!-- c -->{FILE}</Data>",
    "in another element": f"<s:E xmlns:s='urn:s'><s:Body>{JOB}</s:Body>{FILE}</s:E>",
    "of a second document": f"<Data>{OTHER}</Data>\n<Data>\n{JOB}\n{FILE}</Data>",
    "beside another":  f'<Data>{JOB}<File id="Other">no</File>{FILE}</Data>',
    "of a group":      f"<Data><JobGroup><Id>g</Id>{JOB}</JobGroup>{FILE}</Data>",
    "of a task group": f"<Data><Job><TaskGroup>{NAMED}</TaskGroup></Job>{FILE}</Data>",
}  # fmt: skip


def contents(text):
    return [file.content for each in bundles(text.encode()) for file in each.files.values()]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(
    "command", [("show", "--to", "sss"), ("show", "--to", "sss-lines"), ("canon",),
                ("canon", "--lines"), ("show", "--effective", "--deref", "--to", "sss")],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.parametrize("is_stream", [False, True], ids=["a file", "a stream"])
def test_a_file_stays_beside_the_job_that_names_it(shape, command, is_stream, tmp_path):
    path = tmp_path / "message.xml"
    path.write_text(shape)
    name, given = ("-", shape) if is_stream else (str(path), None)
    result = CliRunner().invoke(sssjob, [*command, name], input=given)
    assert result.exit_code == 0, result.stderr
    kept = [each for each in contents(result.stdout) if each != b"no"]
    assert kept == [SCRIPT.encode()]
    [*_, last] = bundles(result.stdout.encode())
    assert not [each for each in last.findings if each.code == "E-FILE"]


def holding(id_, content, begin="", end=""):
    job = f"<Job><Id>{id_}</Id>{NAMED}</Job>"
    return f'<Data>{begin}{job}{end}<File id="Script">{content}</File></Data>'


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(holding(1, "a"), holding(2, "b"), id="on one line"),
        pytest.param(holding(1, "a"), holding(1, "b"), id="on one line, and with one Id"),
        pytest.param(holding(1, "a", begin="\n"), holding(2, "b"), id="where the first one ends"),
        pytest.param(holding(1, "a", end="\n"), holding(2, "b"), id="where the first File is"),
        pytest.param(holding(1, "a", begin=OTHER), f"\n{holding(1, 'b')}", id="on two lines"),
    ],
)
@pytest.mark.parametrize("command", [("show", "--effective", "--to", "sss-lines"), ("canon",)])
def test_each_message_has_its_own_files(first, second, command):
    result = CliRunner().invoke(sssjob, [*command, "-"], input=first + second)
    assert contents(result.stdout) == [b"a", b"b"]


def test_a_job_that_names_no_file_is_written_as_ever():
    plain = f"<Data><Job><Id>1</Id><Executable>/bin/true</Executable></Job>{FILE}</Data>"
    result = CliRunner().invoke(sssjob, ["show", "--to", "sss-lines", "-"], input=plain)
    assert result.stdout == "<Job><Id>1</Id><Executable>/bin/true</Executable></Job>\n"


class Slow(io.RawIOBase):
    """A stream that tells how much of it was read."""

    def __init__(self, data):
        self.data, self.read_bytes = io.BytesIO(data), 0

    def readable(self):
        return True

    def readinto(self, buffer):
        data = self.data.read(min(len(buffer), 10))
        self.read_bytes += len(data)
        buffer[: len(data)] = data
        return len(data)


def test_nothing_waits_for_files_that_nobody_names():
    lines = b"<Job><Id>1</Id></Job>\n" * 100_000
    slow = Slow(lines)
    files = Attached(io.BufferedReader(slow))
    first = next(read(files.stream))
    assert files.of(first) == []
    assert slow.read_bytes < len(lines)


def test_a_source_that_is_too_large_is_read_and_said_to_be(monkeypatch):
    monkeypatch.setattr(attached, "LIMIT", 100)
    text = f"<Data>{JOB * 5}{FILE}</Data>"
    files = Attached(io.BytesIO(text.encode()))
    found = []
    for block in read(files.stream):
        with pytest.raises(LimitExceeded, match="Files"):
            files.of(block)
        found.append(block.id)
    assert found == ["1"] * 5
    result = CliRunner().invoke(sssjob, ["show", "--to", "sss-lines", "-"], input=text)
    assert "warning: Files that Job 1 names are left out" in result.stderr
    assert result.stdout == f"{JOB}\n" * 5


def test_a_job_has_the_files_of_its_message_however_often_it_is_asked():
    files = Attached(io.BytesIO(holding(1, "a").encode()))
    [block] = read(files.stream)
    assert [[each.content for each in files.of(block)] for _ in range(3)] == [[b"a"]] * 3


def test_a_job_of_several_messages_of_a_line_has_the_files_of_each_in_turn():
    files = Attached(io.BytesIO((holding(1, "a") + holding(1, "b")).encode()))
    found = [[each.content for each in files.of(block)] for block in read(files.stream)]
    assert found == [[b"a"], [b"b"]]


def test_a_message_is_a_job_and_its_files():
    assert message("<Job/>", ()) == "<Job/>"


@pytest.mark.parametrize("command", [("canon",), ("show", "--to", "sss-lines")], ids=" ".join)
def test_a_file_keeps_its_attributes(command):
    attributes = 'encoding="Base64" p:mode="&lt;7&quot;&#10;"'
    text = f"<Data xmlns:p='urn:p'>{JOB}<File id='Script' {attributes}>bHM=</File></Data>"
    result = CliRunner().invoke(sssjob, [*command, "-"], input=text)
    [found] = bundles(result.stdout.encode())
    assert found.files["Script"].attributes == {"encoding": "Base64", "{urn:p}mode": '<7"\n'}
    changed = Document.read(text).with_file("Script", "bHMK").files["Script"]
    assert (changed.attributes, changed.content) == (found.files["Script"].attributes, b"bHMK")
