"""A directory means the same to every command: documents by name, records by what they are."""

import gzip
import os

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob

JOB = "<Job><Id>{}</Id><Executable>a</Executable><User>amy</User></Job>"
SACCT = "JobID|User|State|Start|End\n7|amy|COMPLETED|1700000000|1700000060\n"
PBS = "11/14/2023 22:14:20;E;8.srv;user=amy start=1700000000 end=1700000060 Exit_status=0\n"
FOREIGN = '<project name="x"><target name="all"/><dependency>jobs</dependency></project>'
COMMANDS = [
    "validate", "validate --workers 2", "validate --json", "validate --closed", "show",
    "show --to sss", "report", "report --workers 2", "convert -o out.sss",
    "convert --workers 2 -o out.sss", "query //Job/Id", "query --workers 2 //Job/Id",
    "query count(//Job)", "canon", "translate --to slurm -o out",
    "translate --explain --to slurm", "profile", "layout", "graph", "store import new.db",
    "ledger ingest new", "audit", "transform to-3.1.0", "lcginfo backtest",
]  # fmt: skip


@pytest.fixture
def directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inner = tmp_path / "dir" / "2023"
    inner.mkdir(parents=True)
    for name, text in {
        "a.xml": JOB.format(1), "build.xml": FOREIGN, "README.md": "# Jobs\n",
        "sacct.txt~": SACCT, ".sacct.txt": SACCT, ".a.xml": JOB.format(1), "a.xml~": "<Job",
        "2023/b.sss": JOB.format(2),
        "2023/sacct.txt": SACCT, "2023/20231114": PBS, "jobs.db": "SQLite format 3\0",
    }.items():  # fmt: skip
        (tmp_path / "dir" / name).write_text(text)
    (inner / "c.xml.gz").write_bytes(gzip.compress(JOB.format(3).encode()))
    return "dir"


@pytest.mark.parametrize("words", COMMANDS)
def test_a_directory_is_read_by_each_command_and_what_is_neither_is_told_once(words, directory):
    result = CliRunner().invoke(sssjob, [*words.split(), directory])
    assert isinstance(result.exception, SystemExit | None), result.exception
    said = result.stderr.splitlines()
    notice = "dir: notice: not read, since neither documents nor records: "
    (told,) = (line.removeprefix(notice) for line in said if line.startswith(notice))
    assert sorted(told.split(", ")) == ["README.md", "build.xml", "jobs.db"]
    for name, format_ in (("sacct.txt", "slurm"), ("20231114", "pbs")):
        assert any(f"dir/2023/{name}:1: notice: recognised as {format_} " in line for line in said)
    assert "E-XML" not in result.output
    assert "project" not in result.stderr


@pytest.mark.parametrize("words, wanted", [
    ("query //Job/Id --no-filename", ["1", "3", "2", "8.srv", "7"]),
    ("query --count //Job", ["5"]),
    ("report --by user --csv", None),
    ("store import new.db --json", None),
])  # fmt: skip
def test_every_job_of_a_directory_counts_once(words, wanted, directory):
    result = CliRunner().invoke(sssjob, [*words.split(), directory])
    assert result.exit_code == 0, result.output
    if wanted is not None:
        assert sorted(result.stdout.split()) == sorted(wanted)
    elif words.startswith("report"):
        assert "amy,5," in result.stdout
    else:
        assert '"new": 5' in result.stdout


@pytest.mark.parametrize("name, text", [
    ("cut.xml", "<project><a></project>"),  # not well-formed
    ("small.xml", "<data><job/></data>"),  # as one may misspell it
    ("theirs.xml", '<a:Job xmlns:a="urn:a"/>'),  # a job object of another namespace
    ("part.xml", "<requested><Memory>1</Memory></requested>"),
    ("empty.xml", ""),
])  # fmt: skip
def test_what_may_be_a_document_is_not_passed_over(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    (tmp_path / "job.xml").write_text(JOB.format(1))
    result = CliRunner().invoke(sssjob, ["validate", str(tmp_path)])
    assert "not read" not in result.stderr
    assert result.exit_code in (1, 2)
    assert f"{name}:" in result.stderr


def test_hidden_files_and_copies_of_editors_are_passed_over_in_silence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("job.xml", ".job.xml", "job.xml~", ".#job.xml", ".foreign.xml", ".swp"):
        (tmp_path / name).write_text(FOREIGN if "foreign" in name else JOB.format(1))
    result = CliRunner().invoke(sssjob, ["query", "--count", "//Job", "."])
    assert (result.exit_code, result.stdout, result.stderr) == (0, "1\n", "")


def test_a_directory_of_other_things_only_is_told_with_what_would_be_read(tmp_path):
    (tmp_path / "build.xml").write_text(FOREIGN)
    result = CliRunner().invoke(sssjob, ["report", str(tmp_path)])
    assert result.exit_code == 2
    assert "not read, since neither documents nor records: build.xml" in result.stderr
    assert "named *.xml or *.sss, and records of batch systems" in result.stderr


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31mb", os.fsdecode(b"a\xffb"), "a\u202eb"])
def test_the_notice_is_one_line_whatever_files_are_called(name, tmp_path):
    (tmp_path / "job.xml").write_text(JOB.format(1))
    (tmp_path / name).write_text("of no kind")
    result = CliRunner().invoke(sssjob, ["query", "--count", "//Job", str(tmp_path)])
    assert result.stderr.count("\n") == 1
    assert "\x1b" not in result.stderr
    assert "\u202e" not in result.stderr
