"""Defaults that nothing inherits are judged by who reads a document as it is written."""

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob

AS_WRITTEN = ("validate @", "profile @", "layout @")
AS_INHERITED = (
    "place @ --offers offers.json", "features job --dry-run @", "condor ad @",
    "deliver @ --from slurm --record records.txt", "submit --to slurm --dry-run @",
    "translate @ --from sss --to sbatch",
)  # fmt: skip
UNKNOWN = {
    "an element": "<Requested><Colour>4</Colour></Requested>",
    "a container": "<Requested><Requested><Processors>4</Processors></Requested></Requested>",
    "a value": '<Requested><Processors op="X">4</Processors></Requested>',
}
PLACES = {
    "of task groups": "<TaskGroupDefaults>{}</TaskGroupDefaults>",
    "of task groups, in those of jobs": (
        "<JobDefaults><TaskGroupDefaults>{}</TaskGroupDefaults></JobDefaults>"
    ),
}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "offers.json").write_text('{"offers": []}')
    (tmp_path / "records.txt").write_text("JobID|State\n1|COMPLETED\n")


def refusing(text):
    """The commands that refuse a job object for what is not understood."""
    with open("job.xml", "w") as file:
        file.write(text)
    found = set()
    for command in (*AS_WRITTEN, *AS_INHERITED):
        result = CliRunner().invoke(sssjob, command.replace("@", "job.xml").split())
        said = result.stderr + result.output
        if result.exit_code and any(sign in said for sign in ("E-UNKNOWN", "rejected", "E-LOSS")):
            found.add(command)
    return found


def document(defaults, inner=""):
    job = (
        f'<Job awarenessPolicy="Reject"><Id>1</Id><Executable>/bin/x</Executable>{inner}{{}}</Job>'
    )
    if not defaults.startswith("<JobDefaults"):
        return job.format(defaults)
    return f'<JobGroup awarenessPolicy="Reject"><Id>G</Id>{defaults}{job.format("")}</JobGroup>'


@pytest.mark.parametrize("unknown", UNKNOWN.values(), ids=UNKNOWN)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_what_nothing_inherits_is_refused_by_who_reads_a_document_as_it_is_written(place, unknown):
    assert refusing(document(place.format(unknown))) == {*AS_WRITTEN}


@pytest.mark.parametrize("unknown", UNKNOWN.values(), ids=UNKNOWN)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_what_a_task_group_inherits_is_refused_by_each(place, unknown):
    text = document(place.format(unknown), "<TaskGroup><Id>t</Id></TaskGroup>")
    assert refusing(text) == {*AS_WRITTEN, *AS_INHERITED}
