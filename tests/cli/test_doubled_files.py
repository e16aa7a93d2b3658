"""Two Files of one id in one message: none is lost in silence, whichever command reads them."""
# ruff: noqa: E501 (a row of a table is a line)

import io

import pytest
from click.testing import CliRunner
from document_commands import COMMANDS, FIRST

from sssjob import store
from sssjob.cli import sssjob
from sssjob.document import guesses, read
from sssjob.document.attached import Attached
from sssjob.document.document import Document
from sssjob.errors import UnreadableDocument

JOB = FIRST.replace("/bin/true", "#S").replace("<SubmitTime>1</SubmitTime>", "")
ONE, OTHER = '<File id="S">#!/bin/sh\none</File>', '<File id="%53">#!/bin/sh\nother</File>'

# fmt: off
MESSAGES = {
    # where they stand           the message                                             that meant, and the line of the other
    "behind the job":          (f"<Data>{JOB}\n{ONE}\n{OTHER}</Data>",                    "one",   4),
    "before the job":          (f"<Data>{ONE}\n{OTHER}\n{JOB}</Data>",                    "one",   3),
    "around the job":          (f"<Data>{ONE}\n{JOB}\n{OTHER}</Data>",                    "one",   4),
    "further inside":          (f"<Data><a>{OTHER}</a>{JOB}{ONE}</Data>",                 "one",   1),
    "in a message in another": (f"<All>\n{ONE}<Data>{JOB}{OTHER}\n{ONE}</Data></All>",    "other", 5),
    "the same twice":          (f"<Data>{JOB}{ONE}\n{ONE}</Data>",                        "one",   3),
}
NONE = {
    "of two messages":         f"<All><Data>{JOB}{ONE}</Data><Data>{JOB.replace('a.1', 'a.2')}{OTHER}</Data></All>",
    "of a message in another": f"<All>{ONE}<Data>{JOB}{OTHER}</Data></All>",
    "that no job names":       f"<Data>{FIRST}{ONE}{OTHER}</Data>",
}
# fmt: on
# Commands that give Files, or what they hold. Nothing that the others give is of a File, or they
# leave a document as it stands.
GIVING = ("show", "canon", "diff", "translate", "submit", "store import", "validate --closed")
LEAVING = (
    "deliver",
    "cancel",
    "hold",
    "release",
    "features",
    "lcginfo",
    "report",
    "condor",
    "ledger",
    "browse",
)
ASKING = (
    "query", "convert", "graph", "match", "explain", "alternatives", "layout", "place", "validate",
    "profile", "transform", "request", "audit",
)  # fmt: skip
RUN = [pytest.param(each.values[0], id=each.id) for each in COMMANDS if "@" in each.values[0]]
FORMS = [
    "canon", "canon --lines", "canon --comments", "show --to sss", "show --to sss-lines",
    "show --deref --to sss", "show --effective --to sss", "show --to sss --dialect 3.0",
]  # fmt: skip


@pytest.fixture
def run(tmp_path):
    def run(command, document):
        places = {
            "@": document, "OFFERS": '[{"id": "n1", "Processors": 64}]', "GOOD": FIRST,
            "RECORDS": "JobID|State|ElapsedRaw|NCPUS\n",
        }  # fmt: skip
        for name, text in places.items():
            (tmp_path / name).write_text(text)
        names = (*places, "STORE", "LEDGER")
        words = [str(tmp_path / word) if word in names else word for word in command.split()]
        return CliRunner().invoke(sssjob, words, env={"XDG_STATE_HOME": str(tmp_path / "state")})

    return run


def told(result):
    return [line for line in result.stderr.splitlines() if "a second File" in line]


@pytest.mark.parametrize("command", RUN)
def test_every_command_that_gives_files_tells_of_a_second_one(command, run):
    document = MESSAGES["behind the job"][0]
    plain, result = run(command, f"<Data>{JOB}\n{ONE}</Data>"), run(command, document)
    assert isinstance(result.exception, SystemExit | None), result.exception
    gives = command.startswith(GIVING)
    assert gives or command.startswith((*LEAVING, *ASKING)), (
        f"{command}: neither GIVING, LEAVING nor ASKING says whether it gives Files"
    )
    assert bool(told(result)) == gives, result.stderr
    if command.startswith("validate"):
        assert all(":4: error: " in line and "[E-DUP]" in line for line in told(result))
        assert result.exit_code == int(gives)
    else:
        assert all(":4: warning: " in line and "[E-DUP]" in line for line in told(result))
        assert result.exit_code == plain.exit_code


@pytest.mark.parametrize("processes", ["1", "2"])
@pytest.mark.parametrize("job, is_told", [(JOB, True), (FIRST, False)], ids=["named", "not named"])
def test_convert_says_that_it_leaves_files_out(job, is_told, processes, run):
    result = run(f"convert --from sss --workers {processes} @", f"<Data>\n{job}\n{job}{ONE}</Data>")
    left = [line for line in result.stderr.splitlines() if "and is left out" in line]
    assert [":2: warning: a File that" in line for line in left] == [True] * is_told
    assert result.exit_code == 0


def test_translate_says_that_it_leaves_attributes_of_files_out(run):
    beside = ONE.replace(" id", " mode='x' id")
    document = f"<Data>{JOB}\n{beside}</Data>"
    result = run("translate --to sss @", document)
    assert ":2: warning: the attribute mode of the File S is not kept" in result.stderr
    assert "the attribute" not in run("translate --to sss @", f"<Data>{JOB}{ONE}</Data>").stderr


@pytest.mark.parametrize("command", FORMS)
@pytest.mark.parametrize("document, first, line", MESSAGES.values(), ids=MESSAGES)
def test_what_writes_documents_writes_both_that_meant_first(document, first, line, command, run):
    result = run(f"{command} @", document)
    assert result.exit_code == 0
    assert [f":{line}: " in each for each in told(result)] == [True]
    attached = Attached(io.BytesIO(result.stdout_bytes))
    (files,) = [attached.of(block) for block in read(attached.stream)]
    assert len(files) == 2
    assert files[0].content.decode() == f"#!/bin/sh\n{first}"
    assert run(f"{command} @", result.stdout).stdout == result.stdout


@pytest.mark.parametrize("document, first, line", MESSAGES.values(), ids=MESSAGES)
@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_store_keeps_that_meant_and_says_so(document, first, line, processes, run, tmp_path):
    result = run(f"store import --workers {processes} STORE @", document)
    assert result.exit_code == 0
    assert [f":{line}: " in each and "it is not kept" in each for each in told(result)] == [True]
    with store.open(tmp_path / "STORE") as jobs:
        assert jobs.files(jobs.get("a.1")) == {"S": f"#!/bin/sh\n{first}".encode()}
        with pytest.raises(UnreadableDocument, match="a second File"), jobs.change() as changing:
            changing.put(document.encode())


@pytest.mark.parametrize("command", RUN)
@pytest.mark.parametrize("kind", NONE)
def test_files_of_other_messages_are_no_second_ones(kind, command, run):
    tells_of_all = command.startswith("validate --closed") and kind == "that no job names"
    assert bool(told(run(command, NONE[kind]))) == tells_of_all


def test_a_document_holds_both_and_finds_what_is_wrong():
    text, first, _ = MESSAGES["behind the job"]
    document = Document.read(text)
    assert bytes(document) == text.encode()
    assert document.files["S"].content.decode().endswith(first)
    assert "E-DUP" in {found.code for found in document.findings}


@pytest.mark.parametrize(
    "around", ["{}", "<Data>\n{}</Data>", "<Data>\n\n{}<File id='S'>x</File></Data>"]
)
def test_several_processes_say_of_documents_what_one_says_at_the_same_lines(
    around, run, monkeypatch
):
    monkeypatch.setattr(guesses, "SIZE", 700)
    jobs = [
        (JOB if number % 4 == 1 else FIRST).replace("a.1", f"a.{number % 17}") + "\n"
        for number in range(40)
    ]
    jobs[21] = jobs[21].replace("</Job>", "")
    document = around.format("".join(jobs))
    one, two = (run(f"convert --from sss --workers {processes} @", document) for processes in "12")
    assert "read before" in one.stderr
    assert two.stderr.splitlines() == one.stderr.splitlines()
    assert (two.stdout, two.exit_code) == (one.stdout, one.exit_code)
