"""Files of other kinds are told by what they are, by every reader, and nothing else is refused."""

import gzip
import io
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from sssjob import store
from sssjob.cli import sssjob
from sssjob.document import read
from sssjob.document.file_kinds import wrong
from sssjob.errors import UnreadableDocument

JOB = b"<Job><Id>1</Id></Job>"


def _tar():
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        member = tarfile.TarInfo("job.xml")
        member.size = len(JOB)
        archive.addfile(member, io.BytesIO(JOB))
    return stream.getvalue()


def _zip():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("job.xml", JOB)
    return stream.getvalue()


def _database():
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE a(b)")
        return connection.serialize()


LOG = "a log of a server"
KINDS = [
    pytest.param(b"%PDF-1.7\n%\xe2\xe3", "a PDF document", id="PDF"),
    pytest.param(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a picture", id="PNG"),
    pytest.param(b"\xff\xd8\xff\xe0\0\x10JFIF", "a picture", id="JPEG"),
    pytest.param(_zip(), "a zip archive or an office document", id="zip"),
    pytest.param(_tar(), "an archive", id="tar"),
    pytest.param(gzip.compress(_tar()), "an archive", id="tar, compressed"),
    pytest.param(_database(), "a database of", id="SQLite"),
    pytest.param(b"\x7fELF\x02\x01\x01", "a program in machine code", id="ELF"),
    pytest.param(b"<!DOCTYPE html>\n<html/>", "a page of HTML", id="HTML"),
    pytest.param(
        b"=" * 62 + b"\nqname        all.q   \nhostname     n1\n", "qacct -j", id="qacct -j"
    ),
    pytest.param(b"[2026-11-22T10:00:00.123] slurmctld version 25.05\n", LOG, id="slurmctld"),
    pytest.param(b"11/22/26 10:00:00 (pid:7) Setting maximum descriptors\n", LOG, id="SchedLog"),
    pytest.param(b"11/22/2026 10:00:00|worker|q|E|no such job\n", LOG, id="messages of qmaster"),
    pytest.param(b"2026-11-22 10:00:00,123 [INFO] ready\n", LOG, id="levels"),
    pytest.param(b"2026-11-22T10:00:00 warning: no disk\n", LOG, id="levels, ISO"),
    pytest.param(b"Nov 22 10:00:00 n1 slurmd[7]: started\n", LOG, id="syslog"),
    pytest.param(b"2026-11-22T10:00:00+00:00 n1 slurmd[7]: started\n", LOG, id="journalctl"),
    pytest.param(b'::1 - - [10/Oct/2026:13:55:36 +0000] "GET /"\n', LOG, id="web server"),
]


@pytest.mark.parametrize("data, what", KINDS)
def test_a_file_of_another_kind_is_told_by_what_it_is(data, what, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(data)
    for words in ("validate", "query Id", "report", "convert", "translate --to sbatch", "show"):
        result = CliRunner().invoke(sssjob, [*words.split(), str(path)])
        assert result.exit_code in (1, 2), words
        assert what in f"{result.stderr}{result.exception}", words
        assert len(result.stderr.splitlines()) <= 2, words


@pytest.mark.parametrize("words", ["validate", "query Id", "report", "show", "store import new.db"])
@pytest.mark.parametrize("text", ["hello\n", "a,b\n1,2\n"])
def test_a_text_that_is_neither_a_document_nor_records_is_told_what_to_do(
    words, text, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(sssjob, [*words.split(), "-"], input=text)
    assert result.exit_code in (1, 2)
    assert "a document in XML begins with '<'; if it holds records, name" in result.stderr


@pytest.mark.parametrize(
    "words",
    ["validate", "query Id", "report", "show", "explain", "convert", "repair", "canon", "graph"],
)
def test_a_job_script_is_told_as_one_and_what_reads_it(words):
    script = "#!/bin/sh\n#SBATCH -n 4\nhostname < x\n"
    result = CliRunner().invoke(sssjob, [*words.split(), "-"], input=script)
    assert result.exit_code in (1, 2)
    assert "this is a script, and neither a document nor records; sssjob trans" in result.stderr


@pytest.mark.parametrize("data, what", KINDS)
def test_it_is_told_of_standard_input(data, what):
    result = CliRunner().invoke(sssjob, ["validate", "-"], input=data)
    assert result.exit_code in (1, 2)
    assert what in result.stderr


@pytest.mark.parametrize(
    "head",
    [
        JOB, b"", b"\n", b"# a comment\n", b"not XML", b"{}", b"JobID|User\n", b"  <Job/>",
        b"\xef\xbb\xbf<Job/>", b"11/20/2026 14:29:34;E;123.server;user=amy", b"<!DOCTYPE Job>",
        b"2026-11-22T10:00:00|amy|7\n", b"q:host:grp:amy:name:7:sge:0:1:2:3:0:0",
    ],
)  # fmt: skip
def test_what_may_be_documents_or_records_is_not_refused(head):
    assert wrong(head) is None


def test_a_store_is_told_from_databases_of_others(tmp_path):
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(JOB)
    assert "a store of job objects" in str(wrong((tmp_path / "jobs.db").read_bytes()))
    assert "this is a database of another program" in str(wrong(_database()))


@pytest.mark.parametrize("given", [1, 20, 70])
def test_a_database_of_another_program_is_told_of_a_pipe_that_gives_little_at_a_time(given):
    with pytest.raises(UnreadableDocument, match="a database of another program"):
        list(read(Slowly(_database(), given)))


class Slowly(io.RawIOBase):
    """A stream that gives so many bytes, and then the rest in one go."""

    def __init__(self, content, first):
        self._parts = [content[:first], content[first:]]

    def readable(self):
        return True

    def readinto(self, into):
        part = self._parts.pop(0) if self._parts else b""
        now, rest = part[: len(into)], part[len(into) :]
        self._parts[:0] = [rest] if rest else []
        into[: len(now)] = now
        return len(now)


ASKED = (
    "validate", "show", "repair", "query //Job", "report", "graph", "canon", "diff {}", "layout",
    "transform usage-record", "convert", "convert --from slurm", "translate --to slurm", "audit",
    "profile", "alternatives", "match --offers {}", "explain",
    "submit --to slurm", "cancel --to slurm", "deliver --record r", "features job --dry-run",
    "lcginfo lrms", "store import new.db", "store stats", "status",
)  # fmt: skip


@pytest.mark.parametrize("command", ASKED)
def test_every_command_tells_a_database_of_another_program_as_such(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("other.db").write_bytes(_database())
    done = CliRunner().invoke(sssjob, [*command.format("other.db").split(), "other.db"])
    assert done.exit_code
    assert "a database of another program" in f"{done.stderr}{done.exception}"


COMMANDS = ["validate", "show", "repair", "query //Job", "report", "graph"]
NOISE = bytes((at * 167 + 131) % 256 for at in range(600))


@pytest.mark.parametrize("noise", [NOISE, b"\0" + NOISE], ids=["", "a NUL first"])
@pytest.mark.parametrize("command", [*COMMANDS, "convert", "status"])
def test_bytes_of_no_known_kind_are_told_as_such(command, noise, tmp_path):
    (tmp_path / "noise").write_bytes(noise)
    done = CliRunner().invoke(sssjob, [*command.split(), str(tmp_path / "noise")])
    assert done.exit_code == 2 or command in ("validate", "repair")
    assert "these are bytes of no known kind, and neither XML nor text" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("text", ['{"a": [1]}', '[{"a": 1}]', ' {\n "a": 1\n}'])
def test_json_is_told_as_such(command, text, tmp_path):
    (tmp_path / "a.json").write_text(text)
    done = CliRunner().invoke(sssjob, [*command.split(), str(tmp_path / "a.json")])
    assert "this is JSON, and a document is XML; what a batch system printed" in done.stderr


@pytest.mark.parametrize("begin", ["soon", "J\u00fcrgen", "a\x01 b c d e f g h"])
def test_text_is_told_as_text_also_in_another_encoding(begin, tmp_path):
    (tmp_path / "text").write_bytes(f"{begin} is what this says".encode("latin-1"))
    done = CliRunner().invoke(sssjob, ["show", str(tmp_path / "text")])
    assert "these are bytes" not in done.stderr
