"""What a batch system shows of its jobs, where a form of jobs goes by the same name."""

import json
from pathlib import Path

import pytest

from sssjob.translate import AUTO, read, recognise

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize("name", [AUTO, "flux"])
@pytest.mark.parametrize("file", ["jobs.json", "one.json"])
def test_jobs_that_flux_lists_are_no_jobspec(file, name):
    found = [*read((DATA / "records" / "flux" / file).read_bytes(), name)]
    assert found
    assert all(each.job.get("SubmitTime") and each.job.get("State") for each in found if each.job)
    assert not any("jobspec" in str(each) or "RFC" in str(each) for each in found)


@pytest.mark.parametrize("name", [AUTO, "flux"])
def test_a_jobspec_stays_one(name):
    (found,) = read((DATA / "translate" / "flux.json").read_bytes(), name)
    assert (found.job.get("Executable"), found.findings) == ("/bin/date", ())


@pytest.mark.parametrize("name", [AUTO, "flux"])
@pytest.mark.parametrize("text", ['{"jobs": []}', '{\n  "jobs" : [ ]}\n', ""])
def test_no_jobs_are_none(text, name):
    if text or name != AUTO:
        assert [*read(text.encode(), name)] == []


def test_names_of_jobs_decide_nothing():
    """Whoever names a job chooses no reader."""
    job = {"id": 1, "t_submit": 1.0, "urgency": 16, "state": "RUN", "name": "resources",
           "annotations": {"user": {"resources": 1, "tasks": 1, "version": 1}}}  # fmt: skip
    data = json.dumps({"jobs": [job]}).encode()
    assert recognise(data) == "flux"
    (found,) = read(data)
    assert found.job.get("Name") == "resources"
