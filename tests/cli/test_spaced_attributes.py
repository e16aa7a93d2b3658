"""The value of an attribute means the same with white space around it, whoever reads it."""

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob

CASES = {
    "redirectList": '<OutputFile redirectList="~Append~">o</OutputFile>',
    "Merge": '<OutputFile>o</OutputFile><ErrorFile redirectList="~Merge~">o</ErrorFile>',
    "Close": '<InputFile redirectList="~Close~">i</InputFile>',
    "uri": '<NotificationList uri="~mailto:a@example.org~">JobEnd</NotificationList>',
    "a limit": '<ResourceLimit name="~Memory~" type="~Hard~">500</ResourceLimit>',
    "export": '<Environment export="~true~"/>',
    "TasksPerNode": '<TaskDistribution type="~TasksPerNode~">2</TaskDistribution>'
                    "<Requested><Processors>4</Processors></Requested>",
    "condition": '<Dependency condition="~OnExit~" code="~3~">7</Dependency>',
    "designator": '<Dependency designator="~JobName~">m</Dependency>',
    "a list": '<Requested><Node aggregation="~List~">a,b</Node></Requested>',
    "a pattern": '<Requested><Node aggregation="~Pattern~">a.*</Node></Requested>',
    "a range": '<Requested><Node aggregation="~Range~">a[1-2]</Node></Requested>',
    "count": '<Requested><Node count="~2~">a</Node></Requested>',
    "context": '<Requested><Memory context="~Configured~" units="~MB~">5</Memory></Requested>',
    "metric": '<Requested><Memory metric="~Total~" units="~GB~">2</Memory></Requested>',
    "op": '<Requested><Processors op="~GE~">2</Processors><Queue op="~NE~">a</Queue></Requested>',
    "EQ": '<Requested><Processors op="~EQ~">2</Processors></Requested>',
    "conj": '<Requested><Queue>a</Queue><Queue conj="~Or~">b</Queue></Requested>',
    "group": '<Requested><Queue group="~1~">a</Queue><Queue conj="Or" group="~-1~">b</Queue>'
             "</Requested>",
    "preference": '<Requested><Queue preference="~2~">a</Queue><Queue preference="~1~">b</Queue>'
                  "</Requested>",
    "a GPU": '<Requested><Resource name="~gpu~" type="~a100~">2</Resource></Requested>',
    "a resource": '<Requested><Resource name="~tapes~">2</Resource></Requested>',
    "a licence": '<Requested><Resource name="~License~" type="~essl~">2</Resource></Requested>',
    "what was used": '<Delivered><Processors context="~Used~">2</Processors>'
                     '<Memory metric="~Max~" units="~GB~">2</Memory>'
                     '<Resource name="~energy~" units="~J~">7200000</Resource></Delivered>',
    "a policy": '<Requested awarenessPolicy="~Warn~"><Processors>2</Processors></Requested>',
}  # fmt: skip
HEAD = (
    "<Job><Id>1</Id><User>amy</User><Executable>/bin/x</Executable><State>Completed</State>"
    "<StartTime>2026-01-01T00:00:00Z</StartTime><EndTime>2026-01-01T00:01:00Z</EndTime>"
)
OFFERS = '[{"Queue": "a", "Node": "a", "Processors": 4, "Memory": "4 GB"}]'
ROADS = {
    **{to: ("translate", "--to", to) for to in ("condor", "flux", "sge", "lsf", "pbs", "sbatch")},
    "ad": ("condor", "ad"),
    "features": ("features", "job"),
    "layout": ("layout",),
    "expression": ("explain",),
    "alternatives": ("alternatives",),
    "offers": ("match", "--offers", "offers.json"),
    "graph": ("graph",),
    "report": ("report",),
}


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("case", CASES)
def test_white_space_around_the_value_of_an_attribute_changes_no_answer(
    case, road, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "offers.json").write_text(OFFERS)
    plain, *spaced = (_answer(CASES[case].replace("~", space), road) for space in ("", " ", "\t"))
    assert spaced == [plain] * 2


def _answer(inside, road):
    """The exit code and what is printed, but the document itself as an ad has it."""
    with open("job.xml", "w", encoding="utf-8") as file:
        file.write(f"{HEAD}{inside}</Job>")
    found = CliRunner().invoke(sssjob, [*ROADS[road], "job.xml"])
    assert found.exception is None or type(found.exception) is SystemExit
    lines = [line for line in found.stdout.splitlines() if "<Job>" not in line]
    return found.exit_code, lines
