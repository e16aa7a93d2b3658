"""The same jobs through every format give the same values, where the format carries them."""

import io

import pytest
from records import errors
from same_jobs import GIVEN, MADE, TIMES, made

from sssjob import units
from sssjob.nodes import expand
from sssjob.records import find, read_records
from sssjob.records.builders import OBJECTS
from sssjob.records.record import Converted, Options

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
