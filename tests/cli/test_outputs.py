"""Every option that names a file to write: a FIFO is written into, and errors name the file."""

import fcntl
import os
import stat
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from command_tree import commands

import sssjob as library
from sssjob import store
from sssjob.cli import sssjob
from sssjob.ledger import columns, ledger

EXAMPLES = Path(__file__).parents[2] / "examples"
RECORDS = EXAMPLES / "slurm" / "sacct.txt"
PLACING = EXAMPLES / "requested"
STATUS = Path(__file__).parents[1] / "data" / "status" / "qstat-json" / "jobs.json"
LRMSINFO = EXAMPLES / "lcginfo" / "lrmsinfo"

# The words of each command in front of the file, by its name and option; {store} is a store.
WORDS = {
    ("convert", "--output"): f"--from slurm {RECORDS}",
    ("convert", "--losses"): f"--from slurm --to ur {RECORDS}",
    ("convert", "--counts-json"): f"--from slurm {RECORDS}",
    ("deliver", "--output"): f"{{job}} --record {RECORDS}",
    ("graph", "--output"): f"{EXAMPLES}/queries/workflow.xml",
    ("lcginfo backtest", "--svg"): f"--samples 3 {EXAMPLES}/lcginfo/yesterday.sss",
    ("ledger export", "--output"): "{ledger}",
    ("ledger report", "--svg"): "{ledger}",
    ("place", "--output"): f"{PLACING}/placement.xml --select run.1 --offers {PLACING}/nodes.json",
    ("status", "--output"): f"{STATUS}",
    ("translate", "--output"): f"{EXAMPLES}/requested/workflow.xml --select 4 --to sbatch",
    ("translate", "--losses"): f"{EXAMPLES}/requested/workflow.xml --select 4 --to sbatch",
    ("lcginfo estimate", "--svg"): f"--lrms {LRMSINFO} --plot",
    ("lcginfo jobs", "--output"): f"{LRMSINFO}",
    ("repair", "--output"): f"{EXAMPLES}/broken/job.xml",
    ("graph", "--svg"): f"{EXAMPLES}/queries/workflow.xml",
    ("place", "--svg"): f"{PLACING}/placement.xml --select run.1 --offers {PLACING}/nodes.json",
    ("report", "--svg"): f"--from slurm {RECORDS}",
    ("store export", "--output"): "{store}",
    ("transform", "--output"): f"to-3.1.0 {EXAMPLES}/message.xml",
}
NAMES = {"--output", "--svg", "--losses", "--counts-json"}


@pytest.fixture
def words(tmp_path):
    (tmp_path / "job").write_text("<Job><Id>1</Id></Job>")
    with store.open(tmp_path / "store", create=True) as jobs, jobs.change() as work:
        work.put(b"<Job><Id>1</Id></Job>")
    kept = ledger.create(tmp_path / "ledger")
    kept.add([columns.row(library.loads("<Job><Id>1</Id></Job>"))])
    places = {"job": tmp_path / "job", "store": tmp_path / "store", "ledger": kept.home}
    return lambda which: [*which[0].split(), *WORDS[which].format(**places).split(), which[1]]


def test_every_option_that_names_an_output_is_tried():
    found = {
        (" ".join(words), option)
        for words, command in commands(sssjob)
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.is_flag
        for option in NAMES & set(parameter.opts)
    }
    assert not found - set(WORDS), f"no row in WORDS: {sorted(found - set(WORDS))}"
    assert found == set(WORDS)


@pytest.mark.parametrize("which", WORDS, ids=" ".join)
def test_a_fifo_is_written_into(words, tmp_path, which):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    # Opened for both, a FIFO lets itself be opened for writing without a reader at work.
    handle = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    fcntl.fcntl(handle, fcntl.F_SETPIPE_SZ, 1 << 20)
    try:
        result = CliRunner().invoke(sssjob, [*words(which), str(path)])
        assert result.exit_code == 0, result.output
        assert len(os.read(handle, 10)) == 10
    finally:
        os.close(handle)
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.parametrize("which", WORDS, ids=" ".join)
def test_what_cannot_be_written_is_named(words, which, full):
    for path, said in ((full, "No space left on device"), ("/gone/x", "No such file or directory")):
        result = CliRunner().invoke(sssjob, [*words(which), str(path)])
        assert result.exit_code == 2, result.output
        assert result.stderr.splitlines()[-1] == f"sssjob: error: {path}: {said}"


PICTURES = [which for which in WORDS if which[1] == "--svg"]


@pytest.mark.parametrize("which", PICTURES, ids=" ".join)
def test_no_picture_is_written_over_a_document_and_one_is_over_a_picture(words, tmp_path, which):
    path = tmp_path / "file"
    for text, code in (("<Job/>", 2), ("", 0)):
        path.write_text(text)
        result = CliRunner().invoke(sssjob, [*words(which), str(path)])
        assert result.exit_code == code, result.output
        if code:
            assert f"{path} is there already, and is no picture" in result.stderr
            assert path.read_text() == text
    assert CliRunner().invoke(sssjob, [*words(which), str(path)]).exit_code == 0
    assert "<svg" in path.read_text()


@pytest.mark.parametrize(
    "words",
    ["graph --svg -o x.svg", "graph --json --svg x.svg", "place --svg x.svg -o y --offers z"],
)
def test_a_picture_takes_one_file_and_no_other_form(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(sssjob, [*words.split(), "doc.xml"])
    assert result.exit_code == 2
    assert "FILE" in result.stderr
    assert not list(tmp_path.iterdir())
