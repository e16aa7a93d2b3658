"""Job objects as trees: the State has a colour by what it says of the job."""

import pytest

from sssjob.drawing.tree import tree
from sssjob.model import Job, JobGroup

# fmt: off
COLOURS = (  # what a job says, and the colour of its State
    ({"State": "Completed", "ExitCode": 0}, "green"), ({"State": "COMPLETED"}, "green"),
    ({"State": "Completed", "ExitCode": 1}, "red"), ({"State": "failed"}, "red"),
    ({"State": "Cancelled"}, "red"), ({"State": "running"}, "cyan"), ({"State": "Idle"}, "yellow"),
    ({"State": "HOLD"}, "magenta"), ({"State": "Suspended"}, "magenta"),
    ({"State": "Draining"}, "red"),
)
# fmt: on


@pytest.mark.parametrize("said, colour", COLOURS)
def test_a_state_has_the_colour_of_what_it_says_of_the_job(said, colour):
    assert colours(Job.of(Id="1", **said)) == {said["State"]: colour}


@pytest.mark.parametrize("state, colour", [("NotQueued", "yellow"), ("active", "cyan")])
def test_a_group_has_the_states_of_groups_too(state, colour):
    assert colours(JobGroup.of(Id="g", State=state)) == {state: colour}


def colours(block):
    label = tree(block).label
    found = {label.plain[each.start : each.end]: str(each.style) for each in label.spans}
    return {text: style for text, style in found.items() if style not in ("bold", "")}
