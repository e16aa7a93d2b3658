"""Jobs that inherit more than is worked out: told where they stand, and what is behind goes on."""

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob

LENT = (
    "<Jobs>\n<JobGroup><Id>g</Id><JobDefaults>"
    + "".join(f"<Extension name='e{each}'>v</Extension>" for each in range(30))
    + "</JobDefaults>"
    + "".join(f"<Job><Id>{each}</Id></Job>" for each in range(30))
    + "</JobGroup>{behind}</Jobs>"
)
GOOD = "<Job><Id>good</Id><User>amy</User><Executable>/bin/true</Executable></Job>"
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
