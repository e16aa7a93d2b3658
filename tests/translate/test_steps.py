"""Steps and starts of a job that ran ask for nothing: it is submitted again as it was asked for."""

import pytest

from sssjob.defaults import scope
from sssjob.document import loads
from sssjob.model import Job
from sssjob.translate import Settings, translate

ASKED = """<Executable>/bin/date</Executable><Requested><Processors>4</Processors>
<Memory units="MB">100</Memory><Duration>600</Duration></Requested>"""
# As Slurm's records have steps, and as the hooks of HTCondor write starts.
STEPS = [
    "<TaskGroup><Id>batch</Id><TaskCount>1</TaskCount><Delivered><Processors>2</Processors>"
    "</Delivered></TaskGroup>",
    "<TaskGroup><Id>2</Id><State>Completed</State><Delivered><Processors>8</Processors>"
    "<Duration>9</Duration></Delivered></TaskGroup>",
]
GROUP = "<TaskGroup><TaskCount>3</TaskCount><Requested><Processors>3</Processors></Requested>{}</TaskGroup>"  # noqa: E501
TARGETS = ["sbatch", "pbs", "torque", "sge", "lsf", "condor", "flux", "slurmrest"]


def job(inside):
    return loads(f"<Job>{ASKED}{inside}</Job>")


def written(job, target):
    return translate(job, target, Settings(residual=False))[0]


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("target", TARGETS)
def test_a_job_with_steps_is_written_as_it_was_without_them(target, number):
    assert written(job("".join(STEPS[:number])), target) == written(job(""), target)


@pytest.mark.parametrize("target", TARGETS)
def test_task_groups_are_asked_for_with_steps_beside_them(target):
    assert written(job(GROUP.format("") + STEPS[1]), target) == written(
        job(GROUP.format("")), target
    )


@pytest.mark.parametrize("target", TARGETS)
def test_a_task_group_that_was_asked_for_and_delivered_is_asked_for_again(target):
    had = GROUP.format("<Delivered><Processors>3</Processors></Delivered>")
    assert written(job(had), target) == written(job(GROUP.format("")), target)


def test_a_job_lends_nothing_to_its_steps():
    alone, beside = scope(job("".join(STEPS))), scope(job(STEPS[0] + GROUP.format("") + STEPS[1]))
    assert isinstance(alone, Job)
    assert isinstance(beside, Job)
    assert alone == job("".join(STEPS))
    assert [each.is_step for each in beside.task_groups] == [True, False, True]
    assert [each.get("Executable") for each in beside.task_groups] == ["", "/bin/date", ""]
