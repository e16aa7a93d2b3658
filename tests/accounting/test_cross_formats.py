"""The same jobs through every format give the same values, where the format carries them."""

import io

import pytest
from records import errors
from same_jobs import GIVEN, MADE, TIMES, made

from sssjob import units
from sssjob.accounting.report import JobProperties, used
from sssjob.accounting.writers import TARGETS
from sssjob.accounting.writers.grid import GridSite
from sssjob.accounting.writers.writer import LossCounts, WriterOptions
from sssjob.document import loads
from sssjob.nodes import expand
from sssjob.records import find, read_records
from sssjob.records.builders import OBJECTS
from sssjob.records.record import Converted, Noted, Options

OTHER_NAMES = {"swf": ("User", "Queue", "Project", "Group", "Nodes"), "sge": ("Queue",)}
CPU_ROUNDING = 4  # seconds: some formats have it for each host or processor, or with decimals


def jobs(format_name):
    program, name, _ = MADE[format_name]
    records = find(format_name.removesuffix("-long"))
    outcomes = read_records(records, io.BytesIO(made(program, name)), Options(steps=False), OBJECTS)
    return {
        item.job.id.partition(".")[0]: item.job
        for item in outcomes
        if isinstance(item, Converted)
    }  # fmt: skip


def facts(job):
    """What a job says of itself and of what it was given, in one unit each."""
    found = {name: job.get(name) for name in (*TIMES, "CpuDuration", "ExitCode") if job.get(name)}
    for name in GIVEN:
        if text := job.delivered.text(name):
            found[name] = text
    if memory := job.delivered.get("Memory", metric="Max"):
        found["Memory"] = units.bytes_of(memory.text, memory.attributes["units"])
    if node := job.delivered.get("Node"):
        found["Nodes"] = frozenset(expand(node))
    return found


@pytest.fixture(scope="module")
def reference():
    return {id: facts(job) for id, job in jobs("slurm").items()}


@pytest.mark.parametrize("format_name", MADE)
def test_a_format_tells_of_each_job_what_all_others_tell(format_name, reference):
    converted = jobs(format_name)
    assert converted.keys() == reference.keys()
    _, _, carries = MADE[format_name]
    for id, job in converted.items():
        told, expected = facts(job), reference[id]
        assert carries - told.keys() == set()
        for name in told.keys() & expected.keys() - set(OTHER_NAMES.get(format_name, ())):
            if name == "CpuDuration":
                assert abs(int(told[name]) - int(expected[name])) <= CPU_ROUNDING
            elif name == "Nodes" and format_name.startswith("condor"):
                assert told[name] <= expected[name]  # the last host alone
            elif name == "NodeCount" and format_name.startswith("condor"):
                assert int(told[name]) == len(told["Nodes"])
            else:
                assert (id, name, told[name]) == (id, name, expected[name])


@pytest.mark.parametrize("format_name", MADE)
def test_what_a_format_tells_is_a_valid_document(format_name):
    for job in list(jobs(format_name).values())[:10]:
        assert errors(job) == []


@pytest.mark.parametrize("target", ["ur", "car", "apel"])
@pytest.mark.parametrize(
    "passed, away, is_told",
    [
        (600, None, False),
        (500, None, False),  # it may have been suspended
        (601, None, False),  # rounded
        (602, None, True),
        (300, 300, False),
        (600, 300, False),  # with the suspension
        (602, 300, True),
    ],
)
def test_a_suspension_contradicts_no_duration_of_600_seconds(target, passed, away, is_told):
    """Nor does one that a format does not tell: what is written of a job is read back so."""
    rest = "" if away is None else f"<SuspendDuration>{away}</SuspendDuration>"
    job = loads(
        f"<Job><Id>7</Id><State>Completed</State><EndTime>1700000700</EndTime>"
        f"<StartTime>1700000100</StartTime><CpuDuration>9</CpuDuration>{rest}<Delivered>"
        f"<Duration>{passed}</Duration><Processors>1</Processors></Delivered></Job>"
    )
    written, lost = io.BytesIO(), LossCounts()
    writer = TARGETS[target].writer(written, WriterOptions(GridSite(name="S")), lost)
    writer.add(job)
    writer.close()
    written.seek(0)
    found = [*read_records(find(target), written, Options(), OBJECTS)]
    told = [
        each for each in found if isinstance(each, Noted) and "is not the duration" in each.message
    ]
    assert len(told) == is_told
    (read,) = [each.job for each in found if isinstance(each, Converted)]
    assert used(JobProperties(read)).wall == passed
