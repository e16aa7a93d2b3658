"""Why a job does not fit a slot: what is false or undecided, with the values of its names."""

import json

import pytest
from click.testing import CliRunner

from sssjob.classads.parser import plain
from sssjob.cli import sssjob
from sssjob.systems.condor.why import obstacles

CASES = [
    ("[Requirements = TARGET.Memory > 5]", "[Memory = 9]", []),
    ("[]", "[Requirements = true]", []),
    ("[Requirements = (TARGET.Memory > 5 && (TARGET.Cpus > 1 && x))]", "[Memory = 4; Cpus = 2]",
     [("job", "TARGET.Memory > 5", "false", {"TARGET.Memory": "4"}),
      ("job", "x", "undefined", {"x": "undefined"})]),
    ("[Owner = \"amy\"]", "[Requirements = TARGET.Owner == \"bob\" || Idle]",
     [("slot", 'TARGET.Owner == "bob" || Idle', "undefined",
       {"TARGET.Owner": '"amy"', "Idle": "undefined"})]),
    ("[RequestMemory = 8]", "[Memory = 4]",
     [("job", "RequestMemory <= TARGET.Memory", "false",
       {"RequestMemory": "8", "TARGET.Memory": "4"})]),
    ("[RequestGPUs = 1]", "[]",
     [("job", "RequestGPUs <= TARGET.GPUs", "undefined",
       {"RequestGPUs": "1", "TARGET.GPUs": "undefined"})]),
    ("[RequestCpus = Foo]", "[Cpus = 4]",
     [("job", "RequestCpus", "undefined", {"Foo": "undefined"})]),
    ("[RequestCpus = x + 1; x = TARGET.Foo]", "[Cpus = 4]",
     [("job", "RequestCpus", "undefined", {"x": "TARGET.Foo", "TARGET.Foo": "undefined"})]),
    ("[RequestMemory = 1 / 0]", "[Memory = 4]", [("job", "RequestMemory", "error", {})]),
    ("[RequestCpus = \"2\"]", "[Cpus = 4]", [("job", "RequestCpus", '"2"', {})]),
    ("[RequestMemory = 2 * x; x = 3]", "[Memory = 4]",
     [("job", "RequestMemory <= TARGET.Memory", "false",
       {"RequestMemory": "6", "TARGET.Memory": "4"})]),
    ("[RequestMemory = 2 * x; x = 2; RequestedChroot = \"a\"]", "[Memory = 4]", []),
    ("[RequestGPUs = 1; RequireGPUs = Capability > 5]",
     "[GPUs = 1; AvailableGPUs = { g }; g = [Capability = 4]]",
     [("job", "countMatches(MY.RequireGPUs,TARGET.AvailableGPUs) >= RequestGPUs", "false",
       {"RequestGPUs": "1", "MY.RequireGPUs": "Capability > 5",
        "TARGET.AvailableGPUs": "{ [ Capability = 4 ] }"})]),
    ("[RequestGPUs = 1; RequireGPUs = Capability > MY.Least && Nosuch]",
     "[GPUs = 1; AvailableGPUs = { [Capability = 4] }]",
     [("job", "countMatches(MY.RequireGPUs,TARGET.AvailableGPUs) >= RequestGPUs", "false",
       {"RequestGPUs": "1", "TARGET.AvailableGPUs": "{ [ Capability = 4 ] }",
        "MY.RequireGPUs": "Capability > MY.Least && Nosuch", "MY.Least": "undefined",
        "Nosuch": "undefined"})]),
    ('[Requirements = regexp("(?|a)", "a")]', "[]",
     [("job", 'regexp("(?|a)","a")', "error (regexp: the regular expression is an error here, "
       "HTCondor may read it: the construct (?|a is not evaluated at character 1 of '(?|a)')",
       {})]),
    ("[Requirements = nosuch(1)]", "[]",
     [("job", "nosuch(1)", "error (the function nosuch is not known)", {})]),
    ("[Requirements = false]", "[]", [("job", "Requirements", "false", {})]),
]  # fmt: skip


@pytest.mark.parametrize("job, slot, told", CASES, ids=[row[0] + row[1] for row in CASES])
def test_what_keeps_a_job_from_a_slot_is_told(job, slot, told):
    assert [tuple(each) for each in obstacles(plain(job), plain(slot))] == told


def test_slots_are_told_one_by_one(tmp_path):
    (tmp_path / "job.ad").write_text("Requirements = TARGET.Cpus > 2\n")
    (tmp_path / "slots.ad").write_text('Name = "a"\nCpus = 1\n\nName = "b"\nCpus = 3\n')
    asked = ["condor", "why", str(tmp_path / "job.ad"), str(tmp_path / "slots.ad")]
    said = CliRunner().invoke(sssjob, asked)
    assert said.exit_code == 0
    assert said.output.splitlines() == [
        "a: does not fit", "  job: TARGET.Cpus > 2 is false", "    TARGET.Cpus is 1", "b: fits",
    ]  # fmt: skip
    told = json.loads(CliRunner().invoke(sssjob, [*asked, "--json"]).output)
    assert [each["fits"] for each in told["slots"]] == [False, True]


def test_no_slot_that_fits_is_told_by_the_exit_code(tmp_path):
    (tmp_path / "job.ad").write_text("Requirements = TARGET.Cpus > 2\n")
    (tmp_path / "slots.ad").write_text("Cpus = 1\n")
    asked = ["condor", "why", str(tmp_path / "job.ad"), str(tmp_path / "slots.ad")]
    assert CliRunner().invoke(sssjob, asked).exit_code == 1
