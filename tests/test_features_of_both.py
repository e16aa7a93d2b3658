"""Features that are wanted in one place of a job and not in another are told by ``validate``."""

import pytest

import sssjob
from sssjob import loads
from sssjob.translate import translate

F, NOT_F, G_OR = (
    "<Feature>f</Feature>",
    '<Feature op="NE">f</Feature>',
    '<Feature conj="Or">g</Feature>',
)
NOT_G = '<Feature op="NE">g</Feature>'


def job(inner):
    return f"<Job><Id>1</Id><Executable>/bin/date</Executable><Duration>60</Duration>{inner}</Job>"


def group(inner, name="a"):
    return f"<TaskGroup><Name>{name}</Name>{inner}</TaskGroup>"


def requested(inner):
    return f"<Requested>{inner}</Requested>"


CONTRARY = {
    "of a job and its only group": requested(F) + group(requested(NOT_F)),
    "the other way round": requested(NOT_F) + group(requested(F)),
    "outside and inside": F + requested(NOT_F),
    "outside of a group, and inside": group(F + requested(NOT_F)),
    "outside of the job, and inside of its group": F + group(requested(NOT_F)),
    "outside of the group, and inside of its job": requested(NOT_F) + group(F),
    "of two Requested elements": requested(F) + requested(NOT_F),
    "under Nand": (
        requested("<Architecture>x</Architecture>" + F.replace(">f", ' conj="Nand">f'))
        + group(requested(F))
    ),
    "a List": requested(F) + group(
        requested('<Feature aggregation="List" op="NE">f,g</Feature>')
    ),
    "in all alternatives":
        requested(F + G_OR) + group(requested(NOT_F + NOT_G)),
}  # fmt: skip
MET = {
    "other features": requested(F) + group(requested(NOT_G)),
    "another alternative": requested(F + G_OR) + group(requested(NOT_F)),
    "a wish": requested(F) + group(requested('<Feature op="NE" preference="-1">f</Feature>')),
    "what a step was delivered":
        requested(F) + group(requested(F) + "<Delivered><Feature>g</Feature></Delivered>"),
    "a List of which one is left": F + requested(
        '<Feature aggregation="List">f,g</Feature><Feature op="NE">h</Feature>'
    ),
}  # fmt: skip


def codes(inner, times=1):
    """What is said of a job, and of so many of them, which a grammar may accept."""
    return [each.code for each in sssjob.check_source("\n".join([job(inner)] * times))]


@pytest.mark.parametrize("inner", CONTRARY.values(), ids=CONTRARY)
def test_features_that_contradict_each_other_are_told_once(inner):
    assert codes(inner) == ["W-UNSAT"]
    assert set(codes(inner, 200)) == {"W-UNSAT"}


@pytest.mark.parametrize("inner", CONTRARY.values(), ids=CONTRARY)
def test_a_target_says_the_same(inner):
    [said] = sssjob.check_source(job(inner))
    told = [each.reason for each in translate(loads(job(inner)), "condor").losses]
    assert any(said.message in each for each in told)


@pytest.mark.parametrize("inner", MET.values(), ids=MET)
def test_nothing_is_said_of_features_that_can_be_met(inner):
    assert codes(inner) == codes(inner, 200) == []


@pytest.mark.parametrize("inner", CONTRARY.values(), ids=CONTRARY)
def test_each_job_of_a_group_of_jobs_is_told_at_its_place(inner):
    text = f"<JobGroup>{job('')}{job(inner)}</JobGroup>"
    [said] = [each for each in sssjob.check_source(text) if each.code == "W-UNSAT"]
    assert said.path.split("/")[2] == "Job[2]"


def test_what_one_request_says_by_itself_is_told_of_it_alone():
    inner = requested(F + NOT_F) + group(requested(NOT_F))
    assert codes(inner) == ["W-UNSAT"]
