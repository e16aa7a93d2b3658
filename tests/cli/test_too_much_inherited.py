"""Jobs that inherit more than is worked out: told where they stand, and what is behind goes on."""

import pytest
from click.testing import CliRunner
from document_commands import COMMANDS as EVERY
from document_commands import FIRST

from sssjob import jobs, read
from sssjob.cli import sssjob
from sssjob.errors import InheritedTooMuch, UnreadableDocument


def lent(many):
    """A document of a group in which so many jobs inherit as many elements, and what is behind."""
    return (
        "<Jobs>\n<JobGroup><Id>g</Id><JobDefaults>"
        + "".join(f"<Extension name='e{each}'>v</Extension>" for each in range(many))
        + "</JobDefaults>"
        + "".join(f"<Job><Id>{each}</Id></Job>" for each in range(many))
        + "</JobGroup>{behind}</Jobs>"
    )


LENT = lent(30)
ABOVE = lent(300)  # what other processes refuse, whose limits are as large as they are
GOOD = FIRST.replace("a.1", "good")
COMMANDS = {
    "show --effective": "good",
    "show --explain": "good",
    "show --effective --json": "good",
    "canon --effective": "good",
    "query --effective Id": "good",
    "convert": "good",
    "report --by user": "amy",
    "explain": "/Job good",
    "match --offers offers.json": "good",
    "layout": "n",
    "condor ad": "good",
    "store import new.db": "new 1",
    "place --no-solver --offers offers.json": "good",
    "alternatives": "good",
    "audit --json": "",
    "ledger ingest new": "new 1",
    "lcginfo lrms --from sss --slots 1": "'group': 'amy'",
    "lcginfo backtest": "slots: 1",
}


# These are asked or read as whole documents, and the next document goes on.
OF_DOCUMENTS = {
    "query --effective //Id": "good",
    "query --effective --xpath 3.1 //Id": "good",
    "translate --to sss": "good",
    "translate --to slurm": "/bin/true",
}


CASES = [
    *((each, "behind it") for each in COMMANDS),
    *((each, "in another file") for each in (*COMMANDS, *OF_DOCUMENTS)),
]


@pytest.mark.parametrize("command, stands", CASES)
def test_what_is_behind_goes_on(command, stands, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sssjob.defaults.resolver.LENT", 10)
    monkeypatch.setattr("sssjob.defaults.resolver.LENT_FOR_EACH", 2)
    inside = stands == "behind it"
    (tmp_path / "lent.xml").write_text(LENT.format(behind=GOOD if inside else ""))
    (tmp_path / "good.xml").write_text(GOOD)
    (tmp_path / "offers.json").write_text('[{"id": "n1", "Processors": 64}]')
    files = ["lent.xml"] if inside else ["lent.xml", "good.xml"]
    result = CliRunner().invoke(sssjob, [*command.split(), *files])
    told = [line for line in result.stderr.splitlines() if "[E-LIMIT]" in line]
    assert len(told) == 1
    assert told[0].startswith("lent.xml:2: error: more than ")
    assert "elements that jobs inherit" in told[0]
    assert (COMMANDS | OF_DOCUMENTS)[command] in result.output
    assert result.exit_code == 2


SHARED = {
    "convert": "good",
    "report --by user": "amy",
    "query --effective Id": "good",
    "query --effective --xpath 3.1 Id": "good",
    "store import new.db": "new 1",
    "ledger ingest new": "new 1",
}


@pytest.mark.parametrize("stands", ["behind it", "in another file"])
@pytest.mark.parametrize("command", SHARED)
def test_several_processes_say_the_same_as_one(command, stands, tmp_path, monkeypatch):
    inside = stands == "behind it"
    said = []
    for workers in ("1", "2"):
        place = tmp_path / workers
        place.mkdir()
        monkeypatch.chdir(place)
        (place / "lent.xml").write_text(ABOVE.format(behind=GOOD if inside else ""))
        (place / "good.xml").write_text(GOOD)
        files = ["lent.xml"] if inside else ["lent.xml", "good.xml"]
        result = CliRunner().invoke(sssjob, [*command.split(), "--workers", workers, *files])
        assert SHARED[command] in result.stdout + result.stderr
        told = [line for line in result.stderr.splitlines() if "[E-LIMIT]" in line]
        assert [line.partition(": error: more than")[0] for line in told] == ["lent.xml:2"]
        said.append((result.exit_code, result.stdout, told))
    assert said[0] == said[1]


# Commands for which nothing is worked out that jobs inherit, and what they look at.
UNASKED = {
    "show": "as it is written", "query": "as it is written", "graph": "dependencies alone",
    "validate": "each part as it is written", "profile": "as it is written", "canon": "as written",
    "transform": "as it is written", "diff": "as it is written", "deliver": "job by job",
    "request": "sent as it is", "match GOOD": "what is delivered is no default",
}  # fmt: skip
WITH_OPTION = ("show --effective", "show --explain", "query --effective")


@pytest.mark.parametrize("command", [pytest.param(each.values[0], id=each.id) for each in EVERY])
def test_every_command_tells_of_it_with_its_line_or_needs_it_not(command, tmp_path, monkeypatch):
    shared = "--workers" in command
    if not shared:
        monkeypatch.setattr("sssjob.defaults.resolver.LENT", 10)
        monkeypatch.setattr("sssjob.defaults.resolver.LENT_FOR_EACH", 2)
    document = (ABOVE if shared else LENT).format(behind=FIRST)
    places = {
        "@": document, "OFFERS": '[{"id": "n1", "Processors": 64}]', "GOOD": FIRST,
        "RECORDS": "JobID|State|ElapsedRaw|NCPUS\n", "DIRECTORY/lent.xml": document,
    }  # fmt: skip
    for name, text in places.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    names = (*places, "STORE", "LEDGER", "DIRECTORY")
    words = [str(tmp_path / word) if word in names else word for word in command.split()]
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    result = CliRunner().invoke(sssjob, words, env=state)
    assert isinstance(result.exception, SystemExit | None), result.exception
    told = [line for line in result.stderr.splitlines() if "[E-LIMIT]" in line]
    name = "lent.xml" if "DIRECTORY" in command else str(tmp_path / "@")
    if command.startswith((*UNASKED,)) and not command.startswith(WITH_OPTION):
        assert not told
    else:
        assert told, result.stderr
        assert all(f"{name}:2: error: more than " in line for line in told), told
        assert result.exit_code == 2


def test_jobs_of_a_program_go_on_behind_it(tmp_path, monkeypatch):
    path = tmp_path / "lent.xml"
    path.write_text(LENT.format(behind=GOOD))
    group, good = read(path)
    monkeypatch.setattr("sssjob.defaults.resolver.LENT", 10)
    monkeypatch.setattr("sssjob.defaults.resolver.LENT_FOR_EACH", 2)
    told = []
    assert [job.id for job in jobs(path, group, good, on_error=told.append)] == ["good", "good"]
    assert [each.finding.code for each in told] == ["E-LIMIT"] * 2
    assert str(told[0]).startswith(f"{path}:2: error: more than ")
    with pytest.raises(UnreadableDocument, match="elements that jobs inherit"):
        list(jobs(path))
    with pytest.raises(InheritedTooMuch):
        list(jobs(group))
