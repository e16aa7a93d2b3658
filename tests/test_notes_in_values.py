"""A comment or an instruction inside a value is no part of it, whoever reads the value."""

import json

import pytest
from click.testing import CliRunner

from sssjob import loads
from sssjob.cli import sssjob

PLAIN = """<Job><Id>17</Id><User>amy</User><Executable>/bin/true</Executable>
<Requested><Processors op="GE">10</Processors><Processors op="LE">12</Processors></Requested>
<Delivered><Duration>600</Duration><Processors>10</Processors></Delivered>
<State>Completed</State></Job>
"""
NOTED = PLAIN
for value in ("17", "amy", "/bin/true", "10", "12", "600", "Completed"):
    halves = f">{value[:1]}<!-- a note -->{value[1:-1]}<?a note?>{value[-1:]}<"
    NOTED = NOTED.replace(f">{value}<", halves)

COMMANDS = [
    "query //Job",
    "query //Duration",
    "query --json //User",
    "query string(//Id)",
    "query sum(//Duration)",
    "query //Job[Delivered/Processors=10]/Id",
    "query //Job[User='amy']/State",
    "query --columns Id,User,Delivered/Duration //Job",
    "query --csv --columns Id,Requested/Processors //Job",
    "report --json --by user",
    "validate",
]  # fmt: skip


@pytest.fixture
def asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def ask(words, document, place):
        file = tmp_path / "jobs.xml"
        file.write_text(document)
        name = "jobs.xml"
        if place == "store":
            CliRunner().invoke(sssjob, ["store", "import", "jobs.db", "jobs.xml"])
            name = "jobs.db"
        result = CliRunner().invoke(sssjob, [*words.split(), name])
        (tmp_path / "jobs.db").unlink(missing_ok=True)
        return result.exit_code, result.stdout

    return ask


@pytest.mark.parametrize(
    ("words", "place"),
    [(words, place) for words in COMMANDS for place in ("file", "store")
     if words != "validate" or place == "file"],
)  # fmt: skip
def test_a_note_in_a_value_changes_no_answer(words, place, asked):
    assert asked(words, NOTED, place) == asked(words, PLAIN, place)
    assert asked(words, PLAIN, place)[0] == 0


def test_the_model_has_the_value_whole():
    for each in ("User", "State", "Id"):
        assert loads(NOTED).get(each) == loads(PLAIN).get(each)


def test_texts_between_tags_stay_apart_and_those_around_notes_do_not(tmp_path):
    file = tmp_path / "a.xml"
    file.write_text("<Job><Id>1</Id><x>a<!-- n -->b<y>c</y>d<?p?>e</x><User>f</User></Job>")
    assert CliRunner().invoke(sssjob, ["query", "//Job", str(file)]).stdout == "1 ab c de f\n"
    told = json.loads(CliRunner().invoke(sssjob, ["query", "--json", "//x", str(file)]).stdout)
    assert told[0]["value"] == "<x>a<!-- n -->b<y>c</y>d<?p?>e</x>"
