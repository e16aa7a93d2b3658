"""Files of an odd form: every command reads them in one way, or refuses them in the same words."""

import gzip
import os
import re
import shutil
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from document_commands import COMMANDS, FIRST

from sssjob import store
from sssjob.cli import sssjob
from sssjob.document.sources import UnusableSource

HEADER = "JobID|JobName|User|State|ElapsedRaw|NCPUS|Start|End\n"
RECORD = "1|n|amy|COMPLETED|60|1|1795185000|1795185060\n"
EMPTY = {"empty": b"", "a line end": b"\n", "blanks": b" \n\t\r\n", "NULs": b"\0" * 9,
         "nothing, compressed": gzip.compress(b"")}  # fmt: skip
NAMES = {"a line end": "a\nb", "an escape": "a\x1b[2Jb", "no UTF-8": os.fsdecode(b"a\xffb")}
# The same document in other bytes, and the same records; what they are cut into is no matter.
DOCUMENTS = {
    "with a mark": b"\xef\xbb\xbf" + FIRST.encode(), "as UTF-16": FIRST.encode("utf-16"),
    "without a line end": FIRST.encode().rstrip(b"\n"),
    "with line ends of Windows": FIRST.encode() + b"\r\n",
    "two members": gzip.compress(FIRST[:40].encode()) + gzip.compress(FIRST[40:].encode()),
}  # fmt: skip
LINES = (HEADER + RECORD).encode()
RECORDS = {
    "with a mark": b"\xef\xbb\xbf" + LINES, "with a NUL": LINES.replace(b"amy", b"a\0my"),
    "with line ends of Windows": LINES.replace(b"\n", b"\r\n"), "compressed": gzip.compress(LINES),
    "two members": gzip.compress(LINES[:60]) + gzip.compress(LINES[60:]),
}  # fmt: skip
READING = [
    "convert --from slurm @", "convert --from slurm --workers 2 @",
    "convert --from slurm --to jsonl @", "convert --from slurm --output-dir NEW @",
    "report --from slurm @", "report --from slurm --workers 2 @",
    "deliver GOOD --from slurm --record @",
    "deliver DIRECTORY --in-place --from slurm --record @", "deliver STORE --from slurm --record @",
    "features collect --for slurm --documents DIRECTORY --record @",
]  # fmt: skip
WRITING_BACK = ("submit", "cancel", "hold", "release")  # into a file as it is
ONE_FILE = [
    each for each in COMMANDS
    if "@" in each.values[0] and "@ @" not in each.values[0] and "lcginfo" not in each.values[0]
]  # fmt: skip
LIVE = Path(__file__).parents[1] / "data/status"
# Outputs that nothing but status and translate read, and what of each is recognised.
TORQUE = (LIVE / "qstat-xml/jobs.xml").read_bytes()
SHOWN = {
    "qstat-xml": TORQUE, "qstat-xml with a mark": b"\xef\xbb\xbf" + TORQUE,
    "qstat-xml as UTF-16": TORQUE.decode().encode("utf-16"),
    "qstat-xml, compressed": gzip.compress(TORQUE),
    "sge-xml": (LIVE / "sge-xml/list-and-details.xml").read_bytes(),
    "qstat-json": (LIVE / "qstat-json/jobs.json").read_bytes(),
    "scontrol": (LIVE / "scontrol/odd.txt").read_bytes(),
    "squeue-json": (LIVE / "squeue-json/odd.json").read_bytes(),
}  # fmt: skip
ABOUT_DOCUMENTS = [pytest.param(each.values[0], id=each.id) for each in ONE_FILE]
REFUSING = [pytest.param(each.values[0], each.values[3], id=each.id) for each in ONE_FILE]


@pytest.fixture
def run(safe_path):
    """What a command does with a file of some bytes by a name: exit code, output, messages."""

    def run(command, data, name="odd", given=None):
        for folder in ("DIRECTORY", "state"):
            (safe_path / folder).mkdir(exist_ok=True)
        (safe_path / "DIRECTORY/good.xml").write_text(FIRST)
        (safe_path / "OFFERS").write_text('[{"id": "n1", "Processors": 64}]')
        (safe_path / "RECORDS").write_text("JobID|State|ElapsedRaw|NCPUS\n")
        (safe_path / "GOOD").write_text(FIRST)
        shutil.rmtree(safe_path / "LEDGER", ignore_errors=True)
        if "STORE" in command:
            (safe_path / "STORE").unlink(missing_ok=True)
            with store.open(safe_path / "STORE", create=True) as jobs:
                jobs.load(FIRST.encode())
        file = safe_path / name
        if given is None:
            file.write_bytes(data)
        places = {each: str(safe_path / each) for each in (
            "DIRECTORY", "OFFERS", "RECORDS", "GOOD", "STORE", "LEDGER", "NEW"
        )}  # fmt: skip
        words = [str(given or file) if word == "@" else places.get(word, word)
                 for word in command.split()]  # fmt: skip
        if "--output-dir" in words:
            words[words.index("--output-dir") + 1] = places["NEW"]
        environment = {"XDG_STATE_HOME": str(safe_path / "state")}
        done = CliRunner().invoke(sssjob, words, data if given == "-" else None, env=environment)
        if not isinstance(done.exception, SystemExit | None):
            raise done.exception
        return done.exit_code, done.stdout, done.stderr.replace(str(safe_path), "")

    return run


def same(found):
    """What a command did, but for places in the file, and how that was named."""
    return [
        re.sub(r"(<stdin>|/?(odd|[\w/.-]*fifo)):?[0-9:]*", "FILE", str(each).lstrip("\ufeff"))
        for each in found
    ]  # what is written back keeps its mark


@pytest.mark.parametrize("command", ABOUT_DOCUMENTS)
def test_a_document_in_other_bytes_is_the_same(run, command):
    if "STORE" in command:
        return  # which has it already, and compares
    plain = run(command, FIRST.encode())
    for what, data in DOCUMENTS.items():
        if what == "two members" and command.split()[0] in WRITING_BACK:
            continue
        again = run(command, data)
        if command.startswith("deliver"):  # every other byte is kept
            again = (again[0], plain[1], again[2])
        assert same(again) == same(plain), what


@pytest.mark.parametrize("command", ABOUT_DOCUMENTS)
def test_live_jobs_of_a_batch_system_are_never_taken_for_job_objects(run, command):
    if command.startswith(("translate", "request", "match GOOD")):
        return  # which read them, send what they are given, and take offers of any XML
    status, output, told = told_by_main(run, command, TORQUE)
    assert status, output
    assert "live" in told, told
    assert "sssjob status" in told, told
    assert "Job_Id>" not in output


@pytest.mark.parametrize("command", ["convert @", "report @", "show @", "store import STORE @"])
@pytest.mark.parametrize("what", SHOWN)
def test_live_jobs_are_told_with_the_command_that_reads_them(run, command, what):
    status, output, told = told_by_main(run, command, SHOWN[what])
    assert (status, output) == (2, "")
    assert "sssjob status" in told


def told_by_main(run, *arguments):
    """The same as ``run``; an error that ends a command is told as its program tells it."""
    try:
        return run(*arguments)
    except UnusableSource as error:
        return 2, "", str(error)


@pytest.mark.parametrize("command", READING)
def test_records_in_other_bytes_are_the_same(run, command):
    plain = run(command, LINES)
    for what, data in RECORDS.items():
        assert run(command, data) == plain, what


@pytest.mark.parametrize("command, code", REFUSING)
def test_what_holds_no_document_is_told_by_its_name_in_a_line(run, command, code):
    for what, data in EMPTY.items():
        found = run(command, data)
        told_of(found, what)
        expected = code["E-XML"] if isinstance(code, dict) else code
        assert (found[0], what) == (expected, what), found[2]


@pytest.mark.parametrize("command", READING)
def test_what_holds_no_record_is_told_by_its_name_in_a_line(run, command):
    for what, data in EMPTY.items():
        status, _, told = run(command, data)
        assert (status, told) == (
            2, "sssjob: error: /odd: nothing to read: not even a header line\n"
        ), what  # fmt: skip


def told_of(found, what, name="odd"):
    """The first message is one line about the file, and says only once that it is an error."""
    lines = [line for line in found[2].splitlines() if "is not a property that can" not in line]
    assert re.match(rf"(sssjob: error: )?/?{re.escape(name)}[: ]", lines[0]), (what, lines)
    assert lines[0].count("error: ") == 1, lines[0]


@pytest.mark.parametrize("command", [*ABOUT_DOCUMENTS, *READING])
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_message_about_a_file_of_any_name_is_one_line(run, command, name):
    data = b"<Job" if command not in READING else b"\xff\n"
    plain, odd = run(command, data), run(command, data, name)
    assert odd[0] == plain[0]
    assert len(odd[2].splitlines()) == len(plain[2].splitlines())
    assert "\x1b" not in odd[2]
    gone = run(command, b"", name, given=f"nowhere/{name}")
    counted = command.split()[0] in ("validate", "ledger")  # it says how many there were, too
    assert gone[2].count("\n") == (2 if counted else 1)


@pytest.mark.parametrize("command", READING)
def test_records_come_from_a_pipe_or_standard_input_and_only_once(run, command, safe_path):
    plain = run(command, LINES)
    assert same(run(command, LINES, given="-")) == same(plain)
    fifo = safe_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(LINES,), daemon=True)
    writer.start()
    assert run(command, LINES, given=fifo)[:2] == plain[:2]
    writer.join()
    if "--record" not in command:
        twice = run(f"{command} -", LINES, given="-")
        assert twice == (
            2, "", "sssjob: error: standard input is named twice, and can be read only once\n"
        )  # fmt: skip


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("given, why", [
    pytest.param("/", "this is a directory: name a file in it; commands that read directories take "
                 "the job objects in files that are named *.xml or *.sss, and records of "
                 "batch systems",
                 id="directory"),
    pytest.param("/dev/null", "nothing to read: not even a header line", id="device"),
])  # fmt: skip
def test_what_is_no_file_of_records_is_refused_in_the_same_words(run, command, given, why):
    assert run(command, b"", given=given)[::2] == (2, f"sssjob: error: {given}: {why}\n")
