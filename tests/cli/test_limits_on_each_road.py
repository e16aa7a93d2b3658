"""What is too much is refused by every command that reads documents, whichever way it reads them.

A row is a limit, a column a command: a command that forgets to ask a limit is a case that fails.
"""

from typing import NamedTuple

import pytest
from click.testing import CliRunner
from command_tree import commands
from document_commands import COMMANDS, FIRST

from sssjob import workers
from sssjob.cli import sssjob

INSIDE = "<Executable>/bin/true</Executable>"


class Bound(NamedTuple):
    """Constants with small values, and a document that is above them."""

    set_to: dict[str, int]
    document: str


def holding(inside):
    return FIRST.replace(INSIDE, f"{INSIDE}{inside}")


MANY = 9000
_ATTRIBUTES = " ".join(f'b{each}="1"' for each in range(MANY))
_NODES = {"NODE_LIMIT": 1000, "TOKEN_LIMIT": 4000}
REFUSED = {
    "levels": Bound({}, holding("<a>" * 256 + "</a>" * 256)),
    "elements": Bound(_NODES, holding("<a/>" * MANY)),
    "attributes": Bound(_NODES, holding(f"<a {_ATTRIBUTES}/>")),
    "a document type": Bound({}, f"<!DOCTYPE Job [<!ENTITY a 'b'>]>{FIRST}"),
}
# Other processes have limits of their own, which are as large as they are.
HERE = [each for each in COMMANDS if "--workers" not in each.values[0]]
RUN = [pytest.param(each.values[0], id=each.id) for each in HERE]


@pytest.fixture
def run(tmp_path):
    def run(command, document):
        (tmp_path / "DIRECTORY").mkdir()
        places = {
            "@": document, "OFFERS": '[{"id": "n1", "Processors": 64}]', "GOOD": FIRST,
            "RECORDS": "JobID|State|ElapsedRaw|NCPUS\n", "DIRECTORY/@.xml": document,
        }  # fmt: skip
        for name, text in places.items():
            (tmp_path / name).write_text(text)
        names = (*places, "STORE", "LEDGER", "DIRECTORY")
        words = [str(tmp_path / word) if word in names else word for word in command.split()]
        return CliRunner().invoke(sssjob, words, env={"XDG_STATE_HOME": str(tmp_path / "state")})

    return run


@pytest.mark.parametrize("command", RUN)
@pytest.mark.parametrize("bound", REFUSED.values(), ids=REFUSED)
def test_a_document_above_a_limit_is_refused_by_every_command(bound, command, run, monkeypatch):
    monkeypatch.setenv("SSSJOB_HELD_MIB", "1")  # for what holds it whole, and has no other limit
    for name, value in bound.set_to.items():
        monkeypatch.setattr(f"sssjob.document.limits.{name}", value)
    result = run(command, bound.document)
    code = "E-XML" if "DOCTYPE" in bound.document else "E-LIMIT"
    assert f"[{code}]" in result.output + result.stderr
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)


# Whoever has the option is asked with it, also where the table has a row without it.
SHARING = {
    " ".join(words) for words, found in commands(sssjob)
    if any("--workers" in of.opts for of in found.params)
}  # fmt: skip
SHARED = {
    f"{each.id} --workers": each.values[0].replace(name, f"{name} --workers 2", 1)
    for each in HERE for name in SHARING if each.values[0].startswith(f"{name} ")
}  # fmt: skip
BY_ONE = {"ledger ingest --workers", "validate --closed --workers"}  # whatever is wished
NO_DOCUMENTS = {"ledger query", "ledger report", "store query"}
BEFORE, BEHIND = (
    "".join(FIRST.replace("a.1", f"{letter}.{each}") + "\n" for each in range(40))
    for letter in "bc"
)


@pytest.fixture
def begun(monkeypatch):
    """The workers that were begun: copies of this process, and so of its limits, for a few KB."""
    found = []
    begin = workers._forked
    monkeypatch.setattr(workers, "_is_alone", lambda: True)
    monkeypatch.setattr(workers, "_forked", lambda crew: found.append(1) or begin(crew))
    monkeypatch.setattr(workers, "_FEW", 1)
    monkeypatch.setattr("sssjob.document.guesses.SIZE", 2000)
    monkeypatch.setattr("sssjob.document.guesses._LONGEST", 3000)
    monkeypatch.setattr("sssjob.document.sources._SMALL", 0)
    return found


def test_each_command_that_several_processes_work_for_is_asked_so():
    asked = {name for name in SHARING for each in SHARED.values() if each.startswith(name)}
    assert asked == SHARING - NO_DOCUMENTS


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("bound", REFUSED.values(), ids=REFUSED)
def test_a_document_above_a_limit_is_refused_by_workers(bound, name, run, begun, monkeypatch):
    monkeypatch.setenv("SSSJOB_HELD_MIB", "1")
    for limit, value in bound.set_to.items():
        monkeypatch.setattr(f"sssjob.document.limits.{limit}", value)
    result = run(SHARED[name], f"{BEFORE}{bound.document}\n{BEHIND}")
    code = "E-XML" if "DOCTYPE" in bound.document else "E-LIMIT"
    assert f"[{code}]" in result.output + result.stderr
    assert result.exit_code == 2
    assert len(begun) == (0 if name in BY_ONE else 2)


# Documents that are held whole are bound with all that stands in them; the others job by job.
MANY_JOBS = f"<Jobs>{''.join(FIRST.replace('a.1', f'a.{each}') for each in range(400))}</Jobs>"
# Only what they say of a whole document has no other way; who joins them belongs into limits.md.
WHOLE = {
    "translate", "translate --explain", "query, whole", "query, whole, 3.1", "match --offers",
    "submit",
}  # fmt: skip


@pytest.mark.parametrize("name, command", [(each.id, each.values[0]) for each in HERE])
def test_a_document_is_held_whole_by_some_commands_which_are_bound(name, command, run, monkeypatch):
    monkeypatch.setenv("SSSJOB_HELD_MIB", "1")
    result = run(command, MANY_JOBS)
    assert ("SSSJOB_HELD_MIB" in result.stderr) == (name in WHOLE)


# One File that each of 20 jobs names.
SIZE, NAMED = 1000, 20
FILES = "".join(
    f"<Job><Id>a.{each}</Id><Executable>#S</Executable></Job>" for each in range(1, NAMED + 1)
)
FILES = f"<Data>{FILES}<File id='S'>#!/bin/sh\n{'x' * SIZE}</File></Data>"


# What a batch system is given has the script of each job, or it is none. # decision 1151
SUBMITTING = {"submit"}


@pytest.mark.parametrize("command", [each for each in RUN if each.id not in SUBMITTING])
def test_no_command_writes_more_of_files_than_is_bound(command, run, monkeypatch, tmp_path):
    monkeypatch.setattr("sssjob.document.attached.GIVEN", 5 * SIZE + 500)
    monkeypatch.setattr("sssjob.document.attached.GIVEN_FOR_EACH", 0)
    result = run(command, FILES)
    given = [*tmp_path.glob("STORE/**/*"), *tmp_path.glob("STORE")]
    written = "".join(each.read_text("latin-1") for each in given if each.is_file())
    count = (written + result.stdout).count("x" * SIZE)
    assert count <= 5, result.stdout[:100]
