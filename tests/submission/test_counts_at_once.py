"""`features submit` asks for the counts of a translation, wherever a job says them.

A job and its only task group are one: what is said of tasks, nodes and processors comes to the same
in the job, in the group, and in both.
"""

import json
import shlex

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from translated import requested

from sssjob.defaults import resolve
from sssjob.document import loads
from sssjob.errors import InvalidJob, InvalidValue
from sssjob.features.derive import derive
from sssjob.submission.at_once import runs_once, submission
from sssjob.submission.control import control
from sssjob.translate import Settings, Untranslatable, translate

SYSTEMS = ("slurm", "pbs", "gridengine", "lsf", "flux")
JOB = "<Job awarenessPolicy='{}'><Id>1</Id><Executable>/bin/true</Executable>{}</Job>"
PLACES = ("in the job", "in its only group", "split between both")
REFUSED = (InvalidJob, InvalidValue, Untranslatable)


def job(inner, policy="Reject"):
    return resolve(loads(JOB.format(policy, inner))).block


def said(place, first, other=""):
    """Two parts of what a job says, where a place has them."""
    own = {PLACES[0]: first + other, PLACES[1]: "", PLACES[2]: first}[place]
    group = {PLACES[0]: "", PLACES[1]: first + other, PLACES[2]: other}[place]
    return own + ("" if place == PLACES[0] else f"<TaskGroup><Name>g</Name>{group}</TaskGroup>")


def counted(job, system):
    """The words of a command that are about counts; of Flux nodes, slots, cores and all tasks."""
    made = submission(job, system)
    if system != "flux":
        words = [each for each in made.command[1:] if not each.startswith("--job-name")]
        return shlex.join(words).removesuffix(" -N true").removesuffix(" -J true")
    form = json.loads(made.script)
    (outer,) = form["resources"]
    nodes, slot = (outer["count"], outer["with"][0]) if outer["type"] == "node" else (0, outer)
    (cores,) = slot["with"]
    return nodes, slot["count"], cores["count"], form["tasks"][0]["count"].get("total", 0)


def outcome(job, system):
    """The same, or None of a job that is refused."""
    try:
        return counted(job, system)
    except REFUSED:
        return None


HELD = {
    "slurm": "--parsable --hold {}", "pbs": "-h -l {}", "gridengine": "-terse -h -S /bin/sh {}",
    "lsf": "-H -n {}",
}  # fmt: skip
TASKS, PER_TASK = "<TaskCount>{}</TaskCount>", "<TaskDistribution type='ProcessorsPerTask'>2</{}>"
PER_TASK = PER_TASK.format("TaskDistribution")
# fmt: off
# What is said, in two parts, and what is asked for; None of what has to be refused.
COUNTS = [
    ("<Processors>4</Processors>", "", {
        "slurm": "--ntasks=4 --cpus-per-task=1 --nodes=1", "pbs": "nodes=1:ppn=4",
        "gridengine": "-pe smp 4", "lsf": "4 -R 'span[hosts=1]'", "flux": (0, 1, 4, 0)}),
    (TASKS.format(2), "<Processors>4</Processors>", {
        "slurm": "--ntasks=2 --cpus-per-task=2", "pbs": "nodes=1:ppn=4",
        "gridengine": "-pe smp 4", "lsf": "4 -R 'span[hosts=1]'", "flux": (0, 2, 2, 0)}),
    ("<Processors>5</Processors>", "<NodeCount>2</NodeCount>", {
        "slurm": "--ntasks=5 --cpus-per-task=1 --nodes=2", "pbs": "nodes=1:ppn=3+1:ppn=2",
        "gridengine": None, "lsf": None, "flux": (2, 1, 3, 1)}),
    (TASKS.format(6), requested('<NodeCount op="GE">4</NodeCount>'), {
        "slurm": "--ntasks=6 --cpus-per-task=1 --nodes=4", "pbs": "nodes=2:ppn=2+2:ppn=1",
        "gridengine": None, "lsf": None, "flux": (4, 2, 1, 6)}),
    (TASKS.format(6), "<NodeCount>3</NodeCount>", {
        "slurm": "--ntasks=6 --cpus-per-task=1 --nodes=3", "pbs": "nodes=3:ppn=2",
        "gridengine": None, "lsf": "6 -R 'span[ptile=2]'", "flux": (3, 2, 1, 0)}),
    (requested('<NodeCount op="LE">1</NodeCount>'), "", {
        "slurm": "--ntasks=1 --cpus-per-task=1 --nodes=1", "pbs": "nodes=1:ppn=1",
        "gridengine": "", "lsf": "1 -R 'span[hosts=1]'", "flux": (1, 1, 1, 0)}),
    (requested('<Processors op="LT">1</Processors>'), "", dict.fromkeys(SYSTEMS)),
    (TASKS.format(5), requested('<NodeCount op="LT">1</NodeCount>'), dict.fromkeys(SYSTEMS)),
    (TASKS.format(2), "<NodeCount>3</NodeCount>", dict.fromkeys(SYSTEMS)),
    (TASKS.format(2), requested("<Processors>3</Processors>"), dict.fromkeys(SYSTEMS)),
    ("<TaskDistribution>2</TaskDistribution><NodeCount>1</NodeCount>",
     requested('<Processors op="GT">3</Processors>'), dict.fromkeys(SYSTEMS)),
]
# fmt: on


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("first, other, asked", COUNTS)
def test_a_job_and_its_only_task_group_ask_for_the_same_counts(first, other, asked, place, system):
    meant = asked[system]
    if meant is not None and system != "flux":
        meant = HELD[system].format(meant).strip()
    assert outcome(job(said(place, first, other)), system) == meant


@pytest.mark.parametrize(
    "inner, once",
    [
        ("<Processors>4</Processors>", True),
        ("<TaskGroup><Processors>4</Processors></TaskGroup>", True),
        ("<Processors>4</Processors><TaskGroup><Feature>ib</Feature></TaskGroup>", True),
        ("<TaskGroup><TaskCount>2</TaskCount></TaskGroup>", False),
        ("<TaskCount>2</TaskCount><TaskGroup><Feature>ib</Feature></TaskGroup>", False),
        ("<TaskGroup><Task><Id>0</Id></Task></TaskGroup>", False),
        (f"<TaskGroup>{PER_TASK}</TaskGroup>", False),
        ("<TaskGroup><Name>a</Name></TaskGroup><TaskGroup><Name>b</Name></TaskGroup>", False),
    ],
)
def test_a_program_runs_once_where_neither_job_nor_group_says_how_often(inner, once):
    assert runs_once(job(inner)) is once


EACH_SAYS = {
    "TaskCount": "<TaskCount>1</TaskCount>", "Processors": "<Processors>2</Processors>",
    "NodeCount": "<NodeCount>1</NodeCount>", "Memory": "<Memory units='MB'>5</Memory>",
}  # fmt: skip


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("name", EACH_SAYS)
def test_what_several_task_groups_say_is_added_up_where_it_may_be_another(name, system):
    inner = "".join(f"<TaskGroup><Name>{each}</Name>{EACH_SAYS[name]}</TaskGroup>" for each in "ab")
    with pytest.raises(InvalidJob) as refused:
        submission(job(inner), system)
    assert {each.path for each in refused.value.findings} == {f"/Job/TaskGroup/{name}"}
    told = [each for each in submission(job(inner, "Warn"), system).findings if _is_lost(each)]
    assert [each.severity for each in told] == ["warning", "warning"]
    assert not any(map(_is_lost, submission(job(inner, "Ignore"), system).findings))


def _is_lost(found):
    return found.code == "E-LOSS"


def test_a_count_of_a_job_that_is_not_that_of_its_task_groups_refuses_it():
    groups = "<TaskGroup><Name>a</Name><TaskCount>1</TaskCount></TaskGroup>" * 2
    for system in SYSTEMS:
        assert outcome(job(f"<NodeCount>4</NodeCount>{groups}"), system) is None


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "asked",
    ['<Processors op="LT">1</Processors>', "<Processors>0</Processors>",
     '<Processors op="LT">2</Processors><Processors op="NE">1</Processors>',
     '<NodeCount op="LT">1</NodeCount>', "<NodeCount>0</NodeCount>"],
)  # fmt: skip
def test_no_processors_are_allocated_by_a_request_that_no_number_satisfies(asked, place):
    found = derive(job(said(place, requested(asked), "")), starting=True)
    assert "allocated_cpu" not in found.derived
    (wrong,) = [each.message for each in found.findings if each.severity == "error"]
    assert wrong == "allocated_cpu: '0' is not a number above 0"


NUMBERS = {"NodeCount": st.integers(1, 4), "Processors": st.integers(1, 9)}
FORMS = ("<{0}>{1}</{0}>", '<{0} op="GE">{1}</{0}>', '<{0} op="LT">{1}</{0}>')


@st.composite
def parts(draw):
    """What is said of tasks, and what is requested, at most one of each name."""
    own, asked = "", ""
    if draw(st.booleans()):
        own += TASKS.format(draw(st.integers(1, 6)))
    if draw(st.booleans()):
        kind = draw(st.sampled_from(("TasksPerNode", "ProcessorsPerTask")))
        number = draw(st.integers(1, 3))
        own += f"<TaskDistribution type='{kind}'>{number}</TaskDistribution>"
    for name, numbers in NUMBERS.items():
        if draw(st.booleans()):
            asked += draw(st.sampled_from(FORMS)).format(name, draw(numbers))
    return own, requested(asked) if asked else ""


@examples(60)
@given(parts(), st.sampled_from(SYSTEMS))
def test_counts_are_submitted_as_their_translation_wherever_they_are_said(parts, system):
    """With Reject nothing is submitted that is not translated, and no place makes a difference."""
    found = {place: outcome(job(said(place, *parts)), system) for place in PLACES}
    assert len({*found.values()}) == 1, found
    if found[PLACES[0]] is not None:
        translate(job(said(PLACES[0], *parts)), control(system).target, Settings(unstated="Reject"))


ROUNDED = {
    "nodes": requested("<Processors>5</Processors><NodeCount>2</NodeCount>"),
    "GPUs": "<TaskCount>2</TaskCount>" + requested('<Resource name="GPU">3</Resource>'),
}


# decision 1184
@pytest.mark.parametrize("inner", ROUNDED.values(), ids=ROUNDED)
def test_a_number_that_is_rounded_up_for_flux_is_told_as_its_translation_does(inner):
    settings = Settings(residual=False, unstated="Reject")
    told = [each.reason for each in translate(job(inner), "flux", settings).losses if not each.fact]
    found = submission(job(inner), "flux").findings
    assert told
    assert [str(each.severity) for each in found] == ["warning"] * len(told)
    assert [each.message.partition(": ")[2] for each in found] == told


def test_the_end_of_a_range_that_is_asked_for_is_not_told():
    asked = requested('<Processors op="GE">2</Processors>')
    assert [submission(job(asked), each).findings for each in SYSTEMS] == [()] * len(SYSTEMS)
