"""Of many messages of a kind about one file, every command prints twenty and how many more.

``--all-findings`` prints each. Both hold for every command that reads documents or records.
"""

import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner
from command_tree import commands
from document_commands import COMMANDS

from sssjob import store
from sssjob.cli import sssjob
from sssjob.cli.common import MOST

NUMBER = 3 * MOST
# An element that nobody knows, a request that says nothing, an end before the start.
WRONG = (
    "<Job><Id>a.{0}</Id><User>amy</User><Nonsense/><Queue>q</Queue>"
    "<Requested><Processors>many</Processors><Duration op='LE'>x</Duration></Requested>"
    "<SubmitTime>9</SubmitTime><StartTime>8</StartTime><EndTime>7</EndTime></Job>\n"
)
HEADER = "JobID|User|State|Partition|ReqCPUS|AllocCPUS|Submit|Start|End|ElapsedRaw|Cluster\n"
RECORD = "{0}|amy|NONSENSE|q|x|1|2026-11-18T12:00:00|never|2026-11-18T12:00:04|2|c\n"
KINDS = {
    "documents": "".join(WRONG.format(number) for number in range(NUMBER)),
    "records": HEADER + "".join(RECORD.format(number) for number in range(NUMBER)),
    "unreadable": "".join(f"<Job><Id>a.{each}</Id></Jub>\n" for each in range(NUMBER)),
}
# Their answer is about one job, or ends at the first fault; a peer is asked, or a directory named.
ONE = {"features job", "features machine", "features submit", "request", "condor queue"}
ROWS = [row for row in COMMANDS if row.id not in ONE and "DIRECTORY" not in row.values[0]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("arguments", [pytest.param(row.values[0], id=row.id) for row in ROWS])
def test_twenty_are_printed_and_how_many_more(arguments, kind, tmp_path, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    few, every = (_messages(arguments, kind, tmp_path / str(more), more) for more in (False, True))
    told = [line for line in few if " more like these" in line]
    for kind_of in {_kind(line) for line in few}:
        assert sum(_kind(line) == kind_of for line in few) <= 3 * MOST, kind_of
    assert len(few) < 12 * MOST
    if len(every) > len(few):
        assert told, few[-3:]
        assert all(line.endswith("--all-findings tells each") for line in told)
    assert not [line for line in every if " more like these" in line]
    assert len(every) - len(few) == sum(_number(line) - 1 for line in told)


NO_JOBS = {("features", "watch")}  # what tells of an end is named by its --from


def test_each_command_that_reads_jobs_has_the_option():
    given = {name: {each for of in found.params for each in of.opts}
             for name, found in commands(sssjob)}  # fmt: skip
    reading = {name for name, options in given.items() if "--from" in options} - NO_JOBS
    assert len(reading) > 20
    assert not {name for name in reading if "--all-findings" not in given[name]}


def _kind(line):
    return tuple(word for word in line.split() if not any(letter.isdigit() for letter in word))


def _number(line):
    return int(line.split(" more like these")[0].rsplit(" ", 1)[1])


def _messages(arguments, kind, place, more):
    place.mkdir()
    bad = place.parent / "bad"
    bad.write_text(KINDS[kind])
    (place.parent / "good").write_text("<Job><Id>1</Id></Job>")
    (place.parent / "offers").write_text('[{"id": "n", "Processors": 4}]')
    named = {
        "@": bad, "GOOD": place.parent / "good", "OFFERS": place.parent / "offers",
        "RECORDS": place.parent / "good", "STORE": place / "store", "LEDGER": place / "ledger",
    }  # fmt: skip
    words = [str(named.get(word, word)) for word in arguments.split()]
    result = CliRunner().invoke(sssjob, [*words, *(["--all-findings"] if more else [])])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    excerpts = ("  ", "\t")  # of a document that cannot be read, below what is said of it
    return [line for line in result.stderr.splitlines() if not line.startswith(excerpts)]


@pytest.fixture
def damaged(tmp_path):
    """A store of so many job objects, none of which can be read."""
    address = tmp_path / "jobs.db"
    with store.open(address, create=True) as jobs:
        jobs.load("".join(f"<Job><Id>{each}</Id></Job>\n" for each in range(NUMBER)).encode())
    with closing(sqlite3.connect(address)) as database, database:
        database.execute("UPDATE document SET data = zeroblob(length(data))")
    return str(address)


@pytest.mark.parametrize("command", ["store export", "query Extension", "report"])
@pytest.mark.parametrize("more", [[], ["--all-findings"]], ids=["the first", "all"])
def test_of_damaged_job_objects_of_a_store_as_many_are_told(command, more, damaged):
    result = CliRunner().invoke(sssjob, [*command.split(), *more, damaged])
    told = [line for line in result.stderr.splitlines() if "is damaged" in line]
    assert len(told) == (NUMBER if more else MOST)
    rest = f"{damaged}: error: and {NUMBER - MOST} more like these; --all-findings tells each"
    assert (result.stderr.splitlines()[-1] == rest) is not bool(more)


def test_of_files_that_are_left_out_of_an_export_as_many_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr("sssjob.document.attached.GIVEN", 0)
    monkeypatch.setattr("sssjob.document.attached.GIVEN_FOR_EACH", 0)
    named = "".join(
        f"<Job><Id>{each}</Id><Executable>#f</Executable></Job>" for each in range(NUMBER)
    )
    address = tmp_path / "jobs.db"
    with store.open(address, create=True) as jobs:
        jobs.load(f"<Data>{named}<File id='f'>x</File></Data>".encode())
    result = CliRunner().invoke(sssjob, ["store", "export", str(address)])
    assert len([line for line in result.stderr.splitlines() if "Files that Job" in line]) == MOST
    assert f"and {NUMBER - MOST} more like these; --all-findings tells each" in result.stderr
