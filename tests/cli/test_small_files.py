"""Small documents are asked and added up many at once, and all is said as one process says it."""

import gzip

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob
from sssjob.document import reader, sources

JOB = (
    "<Job><Id>{0}</Id><Name>n{0}</Name><User>u{1}</User><State>Completed</State><EndTime>1700000600</EndTime>"
    "<Delivered><Duration>600</Duration><Processors>2</Processors></Delivered></Job>\n"
)


@pytest.fixture
def directory(tmp_path):
    folder = tmp_path / "jobs"
    folder.mkdir()
    for number in range(130):
        (folder / f"{number:03}.xml").write_text(JOB.format(number, number % 3))
    (folder / "010.xml").write_text("<Job><Id>ten</Job>\n" + JOB.format(10, 1))
    (folder / "020.xml").write_text("text")
    (folder / "030.xml").write_bytes(b"")
    (folder / "040.xml").write_text("".join(JOB.format(n, 1) for n in range(4000, 4600)))
    (folder / "050.xml").write_bytes(gzip.compress(JOB.format(50, 2).encode()))
    (folder / "060.xml").write_text(f"<Jobs>\n{JOB.format(60, 1)}{JOB.format(61, 1)}</Jobs>\n")
    (folder / "notes.txt").write_text("not asked")
    return folder


def run(*arguments):
    return CliRunner().invoke(sssjob, [*map(str, arguments)])


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("query", "//Job/Id", "{directory}"), id="query"),
        pytest.param(("query", "--count", "//Job[User='u1']", "{directory}"), id="count"),
        pytest.param(("query", "--limit", "70", "//Job/Id", "{directory}"), id="limit"),
        pytest.param(("query", "--json", "//Job/Id", "{directory}/*.xml"), id="names"),
        pytest.param(("query", "count(//Job)", "{directory}"), id="one answer"),
        pytest.param(("query", "--xpath", "3.1", "string-join(//Job/Id, ' ')", "{directory}"),
                     id="one answer of all documents of a file"),
        pytest.param(("query", "//Job/Id", "{directory}", "{directory}/gone",
                      "{directory}/001.xml"),
                     id="missing"),
        pytest.param(("report", "{directory}"), id="report"),
        pytest.param(("report", "--by", "user", "--json", "{directory}/001.xml", "{directory}"),
                     id="report by user"),
    ],
)  # fmt: skip
def test_two_processes_say_what_one_does(arguments, directory):
    command, *rest = (text.format(directory=directory) for text in arguments)
    one, several = run(command, *rest), run(command, "--workers", "2", *rest)
    assert one.stdout
    assert several.stdout_bytes == one.stdout_bytes
    assert sorted(several.stderr.splitlines()) == sorted(one.stderr.splitlines())
    assert several.exit_code == one.exit_code
    assert "Traceback" not in one.stderr


@pytest.mark.parametrize("command", [("query", "//Job/Id"), ("report",)], ids=["query", "report"])
def test_small_files_are_sent_many_at_once(command, directory, monkeypatch):
    sent = []

    def grouped(some):
        for files in sources.grouped(some):
            sent.append(files)
            yield files

    monkeypatch.setattr(reader, "grouped", grouped)
    run(*command, "--workers", "2", directory)
    assert sum(len(files.sources) for files in sent) == 128
    assert len(sent) < 10
