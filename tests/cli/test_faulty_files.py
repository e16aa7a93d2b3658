"""Every command that reads a file, and every fault of a file: what is said of it names the file."""

import gzip
import re

import pytest
from click.testing import CliRunner
from command_tree import commands
from document_commands import COMMANDS, FIRST

from sssjob import registry
from sssjob.cli import sssjob

FAULTS = {
    "compressed and cut off": gzip.compress(FIRST.encode() * 3)[:-9],
    "lists in lists": b"[" * 100_000,
    "objects in objects": b'{"a":' * 100_000,
    "no UTF-8": b"\xff\xfeab \xe9\n\x80 = 1\n",
    "empty": b"",
    "a directory": None,
}
READERS = (  # of what is no document; @ is the faulty file, the others are in capitals
    "repair @",
    "convert --from auto @",
    "convert --from pbs @ --blah EMPTY",
    "convert --from pbs EMPTY --blah @",
    "report GOOD --names @",
    "report GOOD --factors @",
    "report GOOD --rates @",
    "report GOOD --rates RATES --what-if @",
    "audit GOOD --against @",
    "graph GOOD --exit @",
    "transform @ GOOD",
    "send @ --outbox OUTBOX",
    "serve -c @",
    "request Query Job --key-file @ --to localhost:1 --actor a",
    "deliver GOOD --features @",
    "deliver GOOD --machine @",
    "deliver GOOD --usage @",
    "deliver GOOD --record @",
    "store export @",
    "store log @",
    "store stats @",
    "store check @",
    "features job GOOD FEATURES --machine @",
    "features job GOOD FEATURES --site @",
    "features machine --no-host FEATURES --description @",
    "features watch @",
    "condor job @",
    "condor features --job-ad @",
    "condor features --job-ad AD --machine-ad @",
    "condor eval 1 --my @",
    "condor eval 1 --target @",
    "condor why @ AD",
    "condor why AD @",
    "condor check @",
    "condor cron --site @",
    "condor simulate --documents DIRECTORY --slot-ad @",
    "lcginfo jobs @",
    "lcginfo caps --from maui @",
    "lcginfo caps --from vomaxjobs @",
    "lcginfo check -c @",
    "lcginfo run -c @",
    "lcginfo estimate -c @",
    "lcginfo estimate --lrms @",
    "lcginfo estimate --lrms EMPTY --caps @",
    "lcginfo backtest GOOD --caps @",
    "lcginfo backtest GOOD --lrms @",
)
SYSTEMS, TARGETS = registry.systems().items(), registry.targets().items()
OF_SYSTEMS = (
    *(f"translate --from {name} --to sss @" for name, row in TARGETS if row.reads),
    *(f"convert --from {name} @" for name in registry.formats()),
    *(f"status --from {name} @" for name in registry.all_statuses()),
    *(f"status --from {name} @" for name in registry.all_status_formats()),
    *(f"lcginfo lrms --from {name} @" for name, row in SYSTEMS if row.queue),
    *(f"lcginfo caps --from {name} @" for name, row in SYSTEMS if row.caps),
)  # fmt: skip
CALLS = (
    *(each.values[0] for each in COMMANDS if "@" in each.values[0]),
    *READERS,
    *OF_SYSTEMS,
)
# Commands that read no file that their caller names, or are others' rows.
OTHERS = {
    "store": "the others read a store, as those of the table do",
    "ledger": "the others read what ingest made",
    "browse": "it serves until it is stopped; what it reads is read as by store import",
    "features": "the others read directories and what batch systems print",
    "conformance": "it reads the cases of the standard",
    "completion": "it reads nothing",
    "schema": "it reads nothing",
    "config": "it reads the file of defaults, and has tests of its own",
    "demo": "it reads the examples",
    "examples": "it reads the examples",
    "deliver": "in a directory",
    "condor": "the others are called by HTCondor, and have tests of their own",
}
COUNTED = re.compile(r"\d+ errors?$")


def test_every_command_that_reads_files_is_here():
    called = [line.split() for line in CALLS]
    for name, _ in commands(sssjob):
        is_here = any(words[: len(name)] == list(name) for words in called)
        assert is_here or name[0] in OTHERS, f"{name}: no row in READERS, and no reason in OTHERS"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "GOOD": FIRST,
        "EMPTY": "",
        "AD": "a = 1\n",
        "RATES": "[[rate]]\nprocessor_hour = 1\n",
        "OFFERS": '[{"id": "n1", "Processors": 64}]',
        "RECORDS": "JobID|State|ElapsedRaw|NCPUS\n",
        "DIRECTORY/good.xml": FIRST,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    def run(line, data):
        file = tmp_path / "faulty"
        if data is None:
            file.mkdir()
        else:
            file.write_bytes(data)
        words = [str(file) if word == "@" else word for word in line.split()]
        state = {"XDG_STATE_HOME": str(tmp_path / "state")}  # where locks are
        return CliRunner().invoke(sssjob, words, env=state), str(file)

    return run


@pytest.mark.parametrize("line", CALLS)
def test_a_row_has_the_words_that_its_command_takes(line, run):
    assert "Usage:" not in run(line, FIRST.encode())[0].stderr


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("line", CALLS)
def test_what_is_said_of_a_faulty_file_names_it(line, fault, run):
    result, file = run(line, FAULTS[fault])
    assert isinstance(result.exception, SystemExit | None), result.exception
    told = [
        each for each in result.stderr.splitlines()
        if "error: " in each and not COUNTED.match(each)
    ]  # fmt: skip
    assert all(file in each for each in told), told
    if result.exit_code:
        assert file in result.stderr, result.output
    assert "codec" not in result.stderr, "words of Python"


def test_a_cut_configuration_is_told_with_its_file(run):
    result, file = run("condor check @", FAULTS["compressed and cut off"])
    assert result.stderr == f"{file}: error: the compressed data ends before its end [E-XML]\n"
    assert result.exit_code == 2
