"""What the only task group of a job says is said of the job, by every target."""

import pytest

from sssjob.document import loads
from sssjob.registry import all_targets
from sssjob.translate import Settings, translate

JOB = '<Job awarenessPolicy="Warn"><Id>1</Id><TaskCount>2</TaskCount>{}</Job>'
TARGETS = sorted(all_targets().keys() - {"sss"})
PROGRAM = "<Executable>/bin/date</Executable>"
REQUESTED = {
    "GPUs": '<Resource name="GPU">4</Resource>',
    "GPUs of a type": '<Resource name="GPU" type="a100">2</Resource>',
    "a licence": '<Resource name="License" type="matlab">2</Resource>',
    "a node": "<Node>n1</Node>",
    "nodes": "<Node>n1</Node><Node>n2</Node>",
    "no node": '<Node op="NE">n3</Node>',
    "a feature": "<Feature>ib</Feature>",
    "one of two features": '<Feature conj="Or">ib</Feature><Feature conj="Or">eth</Feature>',
    "a feature that is liked": '<Feature preference="-1">big</Feature>',
    "an architecture": "<Architecture>x86_64</Architecture>",
    "an operating system": "<OperatingSystem>Linux</OperatingSystem>",
    "a queue": "<Queue>main</Queue>",
    "a partition": "<Partition>p</Partition>",
    "a quality of service": "<QualityOfService>high</QualityOfService>",
    "a project": "<Project>p</Project>",
    "a reservation": "<Reservation>r</Reservation>",
    "a network": '<Network units="MB">5</Network>',
}
SAID = {
    "variables": '<Environment><Variable name="A">1</Variable></Environment>',
    "arguments": "<Arguments>a 'b c'</Arguments>",
    "a directory": "<InitialWorkingDirectory>/tmp/x</InitialWorkingDirectory>",
    "output": "<OutputFile>/tmp/o</OutputFile>",
    "a priority": "<Priority>5</Priority>",
    "a shell": "<Shell>/bin/bash</Shell>",
    "who is told": "<NotificationList>a@b</NotificationList>",
    "whether it may be restarted": "<Restartable>true</Restartable>",
    "when it may start": "<EligibleTime>1900000000</EligibleTime>",
    "a queue": "<Queue>main</Queue>",
}
CASES = {f"requests {name}": f"<Requested>{text}</Requested>" for name, text in REQUESTED.items()}
CASES |= {f"says {name}": text for name, text in SAID.items()}


def written(target, inner):
    """What is written, and what is told of it but for where it stands."""
    found = translate(loads(JOB.format(inner)), target, Settings(residual=False))
    told = sorted((loss.path.rpartition("/")[2], loss.reason, loss.done) for loss in found.losses)
    return found.text, told


@pytest.mark.parametrize("inner", CASES.values(), ids=CASES)
def test_what_the_only_group_says_is_written_as_what_its_job_says(inner):
    for target in TARGETS:
        job = written(target, PROGRAM + inner)
        assert written(target, f"{PROGRAM}<TaskGroup>{inner}</TaskGroup>") == job, target


def test_the_program_of_the_only_group_is_that_of_the_job():
    for target in TARGETS:
        job = written(target, PROGRAM)
        assert written(target, f"<TaskGroup>{PROGRAM}</TaskGroup>") == job, target


def test_what_the_job_says_itself_counts_and_another_of_its_group_is_told():
    for target in TARGETS:
        own, other = (f"<Requested><Queue>{name}</Queue></Requested>" for name in "ab")
        text, told = written(target, f"{PROGRAM}{own}<TaskGroup>{other}</TaskGroup>")
        assert text == written(target, PROGRAM + own)[0], target
        assert "Queue" in {name for name, *_ in told}, target
