"""Every command that takes documents: what is bad is told with its line, and the rest goes on."""
# ruff: noqa: E501 (a row of a table is a line)

import gzip
import os

import pytest
from click.testing import CliRunner
from command_tree import commands
from document_commands import COMMANDS, FIRST, LAST

from sssjob import store
from sssjob.cli import sssjob

FOREIGN = '<Job xmlns="urn:other"><Id>a.2</Id></Job>'
IGNORED = '<Job xmlns="urn:other" awarenessPolicy="Ignore"><Id>a.2</Id></Job>'
UNBOUND = '<Job><Id>a.2</Id><Memory u:its="GB">1</Memory></Job>'

# fmt: off
DOCUMENTS = {
    # what is bad                       the document                                       line, code  the good
    "a foreign Job between others":     (f"<Jobs>\n{FIRST}\n{FOREIGN}\n{LAST}\n</Jobs>\n",     3, "E-UNKNOWN", "13"),
    "a foreign Job on a line":          (f"{FIRST}\n{FOREIGN}\n{LAST}\n",                      2, "E-UNKNOWN", "13"),
    "a foreign Job alone":              (f"{FOREIGN}\n",                                       1, "E-UNKNOWN", ""),
    "a foreign wrapper, and the Jobs":  (f'<Jobs xmlns="urn:o">\n{FIRST}\n</Jobs>\n',          2, "E-UNKNOWN", ""),
    "a foreign wrapper":                (f'<o:Jobs xmlns:o="urn:o">\n{FIRST}\n{LAST}\n</o:Jobs>\n', 0, "",     "13"),
    "a foreign JobGroup around Jobs":   (f'<o:JobGroup xmlns:o="urn:o">\n{FIRST}\n{LAST}\n</o:JobGroup>\n', 0, "", "13"),
    "an undeclared prefix":             (f"<Jobs>\n{FIRST}\n{UNBOUND}\n</Jobs>\n",             3, "E-XML",     "1"),
    "an undeclared prefix on a line":   (f"{FIRST}\n{UNBOUND}\n{LAST}\n",                      2, "E-XML",     "13"),
    "an undeclared prefix, a warning":  (f'<Jobs>\n{FIRST}\n{UNBOUND}\n<File xmlns="x"/></Jobs>\n', 3, "E-XML", "1"),
    "an early end":                     (f"<Jobs>\n{FIRST}\n<Job><Id>a.2</Id>\n",              4, "E-XML",     "1"),
    "a part of a job on a line":        (f"{FIRST}\n<User>5</User>\n{LAST}\n",                2, "E-UNKNOWN", "13"),
    "a part of a job comes first":      (f"<User>5</User>\n{FIRST}\n{LAST}\n",                1, "E-UNKNOWN", "13"),
    "a part of a job comes last":       (f"{FIRST}\n{LAST}\n<User>5</User>\n",                3, "E-UNKNOWN", "13"),
    "a part of a job in one line":      (f"{FIRST}<User>5</User>{LAST}",                       1, "E-UNKNOWN", "13"),
    "a part of a job alone":            ("<User>5</User>\n",                                   1, "E-UNKNOWN", ""),
    "something else":                   (f"{FIRST}\n<Report><Line/>\n</Report>\n{LAST}\n",     2, "E-UNKNOWN", "13"),
    "text alone":                       (f"{FIRST}\n<Report>none</Report>\n{LAST}\n",          2, "E-UNKNOWN", "13"),
    "an empty wrapper":                 (f"{FIRST}\n<Jobs/>\n{LAST}\n",                       0, "",          "13"),
    "a bad document behind a good one": (f"<Jobs>\n{FIRST}\n</Jobs>\n<Jobs>\n<Job><Id>a.2</Idd></Job>\n</Jobs>\n", 5, "E-XML", "1"),
}
# What stands in a JobGroup is shown with it, or refused with it.
GROUPS = {
    "a foreign Job":            (f"<JobGroup><Id>g</Id>\n{FIRST}\n{FOREIGN}\n{LAST}\n</JobGroup>\n", 3),
    "of a list":                (f"<Jobs>\n<JobGroup><Id>g</Id>{FOREIGN}\n{FIRST}</JobGroup>\n</Jobs>\n", 2),
    "on a line":                (f"{FIRST}\n<JobGroup><Id>g</Id>{FOREIGN}{LAST}</JobGroup>\n{FIRST}\n", 2),
    "by a prefix of the list":  (f'<Jobs xmlns:o="urn:o">\n<JobGroup><Id>g</Id>{FIRST}\n<o:JobGroup/></JobGroup>\n</Jobs>', 3),
    "that may be ignored":      (f"<JobGroup><Id>g</Id>\n{FIRST}\n{IGNORED}\n{LAST}\n</JobGroup>\n", 0),
}
# fmt: on
NO_JOB = [name for name in DOCUMENTS if name.startswith(("a part of a job", "something", "text"))]
# Of documents, whatever they are about: a query may look for what stands in one without a job.
ASKED = "query"
# Commands that read no documents, or not by themselves.
OTHERS = {
    "repair": "what it reads is not well-formed",
    "serve": "it reads messages",
    "browse": "it serves until it is stopped; tests of verbs/browse have bad documents",
    "status": "it reads what batch systems print",
    "conformance": "it reads the cases of the standard",
    "completion": "it reads nothing",
    "schema": "it reads nothing",
    "config": "it reads the file of defaults",
    "send": "it reads messages that are ready",
    "demo": "it reads the examples",
    "examples": "it reads the examples",
    "lcginfo": "the others read what batch systems print",
    "store": "the others read stores",
    "ledger": "the others read a ledger",
    "features": "the others read directories, and what batch systems print",
    "condor": "the others read ads; of a directory, as condor queue does",
}  # fmt: skip
LISTING = (
    "show --to sss-lines @",
    "show --effective --json @",
    "query //Job/Id @",
    "query Id @",
    "query --effective //Job/Id @",
    "query --xpath 2.0 //Job/Id @",
    "convert --from sss @",
    "graph @",
    "match @ --offers OFFERS",
    "explain @",
    "alternatives @",
    "layout @",
    "profile @",
    "transform to-3.1.0 @",
    "canon @",
    "show --deref --to sss-lines @",
)  # fmt: skip


def test_every_command_that_reads_documents_is_here():
    here = [param.values[0].split() for param in COMMANDS]
    for name, _ in commands(sssjob):
        is_here = any(words[: len(name)] == list(name) for words in here)
        told = f"{name}: no row in tests/document_commands.py, and no reason in OTHERS"
        assert is_here or name[0] in OTHERS, told


@pytest.fixture
def run(tmp_path):
    def run(command, document, given=""):
        """What a command does with a document, or in the place of the first with what is given."""
        file = tmp_path / "DIRECTORY" / "bad.xml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(document)
        (tmp_path / "OFFERS").write_text('[{"id": "n1", "Processors": 64}]')
        (tmp_path / "RECORDS").write_text("JobID|State|ElapsedRaw|NCPUS\n")
        (tmp_path / "GOOD").write_text(FIRST)
        places = ("DIRECTORY", "OFFERS", "RECORDS", "GOOD", "STORE", "LEDGER", "AGAIN")
        command = command.replace("@", given or "@", 1)
        words = [
            str(file) if word == "@" else str(tmp_path / word) if word in places else word
            for word in command.split()
        ]
        state = {"XDG_STATE_HOME": str(tmp_path / "state")}  # where locks are
        stdin = document if given == "-" else None
        return CliRunner().invoke(sssjob, words, stdin, env=state), file

    return run


@pytest.mark.parametrize("command, good, some, none", COMMANDS)
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_what_is_bad_is_told_with_its_line_and_hides_no_other(kind, command, good, some, none, run):
    document, line, code, ids = DOCUMENTS[kind]
    result, file = run(command, document)
    if kind in NO_JOB and command.startswith(ASKED):
        line, good = 0, good if ids else 1
    assert isinstance(result.exception, SystemExit | None), result.exception
    expected = (some if ids else none) if line else good
    if isinstance(expected, dict):
        expected = expected[code]
    assert result.exit_code == expected, result.output
    if line:
        told = [each for each in result.stderr.splitlines() if "error: " in each]
        # Advice names the tag that is open, what reads documents where they end.
        lines = (line, line - 1) if command.startswith("validate") else (line,)
        assert any(f"{file.name}:{each}:" in text for each in lines for text in told)
        if not command.startswith(("convert", "ledger")):
            assert all(f"[{code}]" in text for text in told)
    if command in LISTING:
        assert [each for each in "123" if f"a.{each}" in result.stdout] == list(ids)


@pytest.mark.parametrize("command", [pytest.param(each.values[0], id=each.id) for each in COMMANDS])
@pytest.mark.parametrize("document, line", GROUPS.values(), ids=GROUPS)
def test_a_foreign_job_in_a_group_is_told_by_every_command(document, line, command, run):
    result, file = run(command, document)
    assert isinstance(result.exception, SystemExit | None), result.exception
    told = [each for each in result.stderr.splitlines() if "of the namespace 'urn:o" in each]
    if line:
        assert result.exit_code in (1, 2)
        assert all(f"{file.name}:{line}:" in each for each in told)
    assert bool(told) == bool(line)


@pytest.mark.parametrize("part", ["TaskGroup", "Task", "JobDefaults"])
@pytest.mark.parametrize("command", [pytest.param(each.values[0], id=each.id) for each in COMMANDS])
def test_a_part_of_a_job_that_stands_by_itself_is_not_passed_over_in_silence(command, part, run):
    result, file = run(command, f"<{part}><Id>a.1</Id></{part}>")
    assert isinstance(result.exception, SystemExit | None), result.exception
    if result.exit_code and not command.startswith("query"):  # which may find nothing
        assert result.output.strip()
    if "is no Job or JobGroup" in result.stderr:
        assert f"{file.name}:1: error: <{part}> is no Job or JobGroup and holds none" in (
            result.stderr
        )
        assert result.exit_code == 2


@pytest.mark.parametrize(
    "command",
    [
        "show @", "graph @", "match @ --offers OFFERS", "explain @", "alternatives @", "layout @",
        "place @ --no-solver --offers OFFERS", "canon @", "condor ad @", "report @",
        "translate @ --to sbatch", "submit --dry-run --to slurm @", "cancel --to slurm @",
    ],
)  # fmt: skip
def test_that_there_is_no_job_is_said(command, run):
    result, _ = run(command, "<Jobs/>")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no job" in result.stderr
    if not command.startswith(("show", "report", "submit", "cancel", "condor")):
        result, _ = run(f"{command} --select nothing", FIRST)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "no job" in result.stderr


# How a source is named, and what of it is read: as a file with the same bytes is, or why it is not.
SAME = ""
SOURCES = {
    "compressed":               SAME,
    "standard input":           SAME,
    "compressed, from a pipe":  SAME,
    "a pipe":                   SAME,
    "cut off":                  "the compressed data ends before its end",
    "a directory":              "s a directory",
    "a store":                  "a store of job objects is no document",
    "nothing":                  "No such file or directory",
}  # fmt: skip
WRITING_BACK = ("submit", "cancel", "hold", "release")  # into a file as it is, or jobs of a store
ALL = (
    "show", "query", "graph", "match @", "explain", "alternatives", "layout", "place", "validate", "profile",
    "transform", "canon", "diff", "condor ad",
)  # fmt: skip
SUMS = ("report", "audit", "lcginfo backtest", "lcginfo lrms")
TAKES = ("store import", "translate", "convert", "features", "ledger")
READ_ALL = {"a directory": (*ALL, *SUMS, *TAKES), "a store": (*ALL, *SUMS, *TAKES, "deliver")}


def pipe(data):
    """The name of a pipe that holds some bytes, which can be read once."""
    end, write = os.pipe()
    os.write(write, data)
    os.close(write)
    return f"/dev/fd/{end}"


@pytest.fixture
def named(tmp_path):
    """What names a document in each of these ways, and what standard input holds."""

    def named(kind):
        data = FIRST.encode()
        packed = gzip.compress(data)
        if kind == "a directory":
            (tmp_path / "jobs").mkdir()
            (tmp_path / "jobs" / "a.xml").write_bytes(data)
            return str(tmp_path / "jobs")
        if kind == "a store":
            with store.open(tmp_path / "jobs.db", create=True) as jobs:
                jobs.load(data)
            return str(tmp_path / "jobs.db")
        if kind in ("compressed", "cut off"):
            file = tmp_path / "a.xml.gz"
            file.write_bytes(packed if kind == "compressed" else packed[:-9])
            return str(file)
        if kind == "nothing":
            return str(tmp_path / "nothing.xml")
        return "-" if kind == "standard input" else pipe(packed if "compr" in kind else data)

    return named


@pytest.mark.parametrize("kind, why", SOURCES.items(), ids=SOURCES)
@pytest.mark.parametrize(
    "command", [pytest.param(each.values[0], id=each.id) for each in COMMANDS if "@" in each.values[0]]
)  # fmt: skip
def test_a_source_is_read_by_every_command_or_refused_by_all_in_the_same_words(
    command, kind, why, named, run
):
    plain, _ = run(command, FIRST)
    given = named(kind)
    again, _ = run(command.replace("STORE", "AGAIN"), FIRST, given)
    if command.split()[0] in WRITING_BACK:
        assert again.exit_code == 2
        return
    reads = any(command.startswith(name) for name in READ_ALL.get(kind, ()))
    if why and not reads:
        told = f"{command}: it reads {kind}, and no row of READ_ALL, such as ALL, says so"
        assert again.exit_code in (1, 2), told
        assert why in again.stderr
    else:
        assert again.exit_code == plain.exit_code, again.output
        if command[:7] != "deliver" or kind != "a store":  # it is written into the store
            assert ("a.1" in again.stdout) == ("a.1" in plain.stdout)


OF_OTHERS = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"


@pytest.mark.parametrize(
    "command", [pytest.param(each.values[0], id=each.id) for each in COMMANDS if "@" in each.values[0]]
)  # fmt: skip
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_a_file_of_another_kind_is_told_by_every_command(command, packed, run, tmp_path):
    file = tmp_path / "paper"
    file.write_bytes(gzip.compress(OF_OTHERS) if packed else OF_OTHERS)
    result, _ = run(command, FIRST, str(file))
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert result.exit_code == 2
    if not (packed and command.split()[0] in WRITING_BACK):  # what is compressed is not opened
        assert "this is a PDF document" in result.stderr
    assert "Start tag" not in result.stderr


SACCT = """JobID|User|State|Start|End|NCPUS
7|amy|COMPLETED|1700000000|1700000060|16
x|amy|COMPLETED|1700000000|1700000060|16
9|amy|COMPLETED|1700000000|1700000060|16
"""
RECORDS = [each for each in COMMANDS if each.id.split()[0].split(",")[0] in (*ALL, "match", "report", "audit")
           and "DIRECTORY" not in each.values[0] and each.id != "match --offers"]  # fmt: skip


@pytest.mark.parametrize("command", [pytest.param(each.values[0], id=each.id) for each in RECORDS])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_records_are_jobs_for_every_command_that_reads_all(command, packed, run, tmp_path):
    file = tmp_path / "sacct.txt"
    file.write_bytes(gzip.compress(SACCT.encode()) if packed else SACCT.encode())
    result, _ = run(command, FIRST, str(file))
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert result.exit_code == 1, result.output  # as of any bad record
    assert f"{file}:1: notice: recognised as slurm" in result.stderr
    assert f"{file}:3: error: 'x' is no job id" in result.stderr
    assert "E-XML" not in result.stderr
