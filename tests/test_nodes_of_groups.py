"""On how many nodes task groups are together, by the names that they share (decision 1124)."""

import re

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob import loads
from sssjob.amounts import Scope, nodes_in_all
from sssjob.model import TaskGroup
from sssjob.placement import place
from sssjob.submission.at_once import submission
from sssjob.translate import Settings, translate

JOB = '<Job awarenessPolicy="Warn"><Id>1</Id><Executable>/bin/date</Executable>{}{}</Job>'
NAMES = ("n1", "n2", "n3", "m1")
OFFERS = [{"id": name, "Processors": 64} for name in (*NAMES, "o1", "o2", "o3", "o4", "o5", "o6")]
# What each target says of so many nodes of a job that has three tasks.
SAYS = {
    "sbatch": r"--nodes=(\d+)",
    "flux": r'"type": "node",\s+"count": (\d+)', "jsdl": r"TotalResourceCount>\s*<jsdl:Exact>(\d+)",
    "slurmrest": r'"minimum_nodes": (\d+)',
}  # fmt: skip


def job_of(*groups, own=""):
    inner = "".join(
        f"<TaskGroup><Name>g{number}</Name><TaskCount>{tasks}</TaskCount>"
        f"<Requested>{nodes}</Requested></TaskGroup>"
        for number, (nodes, tasks) in enumerate(groups)
    )
    return loads(JOB.format(own, inner))


def nodes_of(job, target):
    """How many nodes a target is asked for; one where it says nothing of them."""
    text = translate(job, target, Settings(residual=False)).text
    found = re.search(SAYS[target], text)
    return int(found[1]) if found else 1


LISTED = '<Node aggregation="List">n1,n2</Node>'
CASES = {
    "one name": ((("<Node>n1</Node>", 1), ("<Node>n1</Node>", 2)), "", 1),
    "two names": ((("<Node>n1</Node>", 1), ("<Node>n2</Node>", 2)), "", 2),
    "a name of the job": ((("", 1), ("", 2)), "<Node>n1</Node>", 1),
    "one name of two": ((('<Node>n1</Node>', 1), ("<Node>n1</Node><Node>n2</Node>", 2)), "", 2),
    "a List and one of it":
        (((LISTED, 2), ("<Node>n2</Node>", 1)), "", 2),
    "the same List": (((LISTED, 2), (LISTED.replace("n1,n2", "n2,n1"), 2)), "", 2),
    "a count and a name": ((("<NodeCount>1</NodeCount>", 1), ("<Node>n1</Node>", 2)), "", 2),
    "one more than is named": (
        (("<NodeCount>2</NodeCount><Node>n1</Node>", 2), ("<Node>n1</Node>", 1)), "", 2,
    ),
    "no names": ((("<NodeCount>1</NodeCount>", 1), ("<NodeCount>2</NodeCount>", 2)), "", 3),
}  # fmt: skip


@pytest.mark.parametrize("target", SAYS)
@pytest.mark.parametrize("groups, own, number", CASES.values(), ids=CASES)
def test_a_node_that_several_groups_name_is_one(groups, own, number, target):
    assert nodes_of(job_of(*groups, own=own), target) == number


@pytest.mark.parametrize("groups, own, number", CASES.values(), ids=CASES)
def test_a_submission_asks_for_as_many(groups, own, number):
    job = job_of(*groups, own=own)
    asked = re.search(r"--nodes=(\d+)", " ".join(submission(job, "slurm").command))
    assert int(asked[1]) == number


@examples(40)
@given(st.lists(st.frozensets(st.sampled_from(NAMES), min_size=1), min_size=2, max_size=3))
def test_groups_with_names_are_on_as_many_nodes_as_a_placement_has(named):
    groups = [("".join(f"<Node>{name}</Node>" for name in sorted(each)), len(each))
              for each in named]  # fmt: skip
    job = job_of(*groups)
    scopes = [Scope(group, "/Job/TaskGroup") for group in job.blocks(TaskGroup)]
    placed = place(job, OFFERS, solver=False)
    every = frozenset().union(*named)
    assert nodes_in_all(scopes) == len(every) == len(placed.nodes)
    assert nodes_of(job, "sbatch") == len(every)
