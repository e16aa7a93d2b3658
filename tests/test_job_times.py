"""The time of a job is the same on every road: its own, or else that of its longest task group."""

import re

import pytest
from draws import examples, pairwise
from hypothesis import given
from hypothesis import strategies as st
from translated import requested, wrapped

from sssjob import loads
from sssjob.features.derive import derive
from sssjob.features.fold import facts
from sssjob.systems.condor.task_groups import to_ads
from sssjob.translate import Done, Settings, translate


def minutes(text):
    return int(text) * 60


def clock(text):
    days, _, rest = text.rpartition("-")
    hours, of_hour, seconds = map(int, rest.split(":"))
    return ((int(days or 0) * 24 + hours) * 60 + of_hour) * 60 + seconds


# How each target says it.
TARGETS = {
    "sbatch": (r"--time=(.+)", clock),
    "slurmrest": (r'"time_limit": {[^}]*"number": (\d+)', minutes),
    "pbs": (r"walltime=([\d:]+)", clock), "torque": (r"walltime=([\d:]+)", clock),
    "sge": (r"h_rt=(\d+)", int), "lsf": (r"-W (\d+)", minutes),
    "condor": (r"allowed_job_duration = (\d+)", int), "flux": (r'"duration": (\d+)', int),
    "flux-canonical": (r'"duration": (\d+)', int), "psij": (r'"duration": "(\d+) s"', int),
    "jsdl": (r"WallTimeLimit>(\d+)<", int),
}  # fmt: skip
FORMS = (
    "<Duration>{}</Duration>",
    *map(requested, (
        "<Duration>{}</Duration>", '<Duration op="LE">{}</Duration>',
        '<Duration op="GE">{}</Duration>',
        '<Duration op="GE">60</Duration><Duration op="LE">{}</Duration>',
    )),
)  # fmt: skip
NODES = ("", "<NodeCount>1</NodeCount>", "<NodeCount>2</NodeCount>")

# In whole minutes, as some targets count; 0 where nothing is said.
seconds = st.sampled_from((0, 60, 120, 3600, 90000))
said = st.tuples(seconds, st.sampled_from(FORMS))


def text_of(said_):
    number, form = said_
    return form.format(number) if number else ""


def job_of(own, groups=()):
    inner = "".join(
        f"<TaskGroup><Name>g{at}</Name>{of_group}</TaskGroup>" for at, of_group in enumerate(groups)
    )
    return loads(wrapped(own + inner))


def of_target(job, target):
    """The time that a target is asked for, 0 for none; and what is told of it."""
    text, losses = translate(job, target, Settings(residual=False, unstated="Warn"))
    pattern, read = TARGETS[target]
    found = re.search(pattern, text)
    told = [loss for loss in losses if loss.path.endswith("/Duration")]
    return read(found[1]) if found else 0, told


def of_ads(job, name="AllowedJobDuration"):
    """The time of each ad of a job, 0 for none."""
    return {made.ad.get(name, 0) for made in to_ads(job)}


# decision 988
def longest(times):
    """The longest time, which is none where one of them is none."""
    return max(times, default=0) if all(times) else 0


def on_roads(job):
    """The time on each road that says another than the one of sbatch."""
    first, _ = of_target(job, "sbatch")
    found = {target: of_target(job, target)[0] for target in TARGETS}
    found["features"] = derive(job, starting=True).values.get("wall_limit_secs", 0)
    found["ads"] = longest(of_ads(job))
    found["features of ads"] = longest(of_ads(job, "SSSFeature_wall_limit_secs"))
    return first, {road: time for road, time in found.items() if time != first}


@examples(60)
@given(said, st.lists(st.tuples(said, st.sampled_from(NODES)), max_size=3))
def test_the_time_of_a_job_is_its_own_or_that_of_its_longest_task_group(own, groups):
    job = job_of(text_of(own), [requested(nodes) + text_of(each) for each, nodes in groups])
    assert on_roads(job) == (own[0] or longest([number for (number, _), _ in groups]), {})


# decision 980
@pairwise(
    of_group=FORMS[:3],
    own=FORMS[:3],
    nodes=NODES,
    many=[1, 2],
)
def test_another_time_of_a_task_group_is_told_on_every_road(own, of_group, nodes, many):
    def told(number):
        job = job_of(own.format(120), [requested(nodes) + of_group.format(number)] * many)
        found = {target: of_target(job, target)[1] for target in TARGETS}
        found["ads"] = [
            each for made in to_ads(job) for each in made.findings if "Duration" in each.message
        ]
        return found

    assert not any(told(120).values())
    assert all(told(60).values())
    shorter = [each for each in told(60)["sbatch"] if each.done is Done.APPROXIMATED]
    longer = [each for each in told(240)["sbatch"] if each.done is Done.APPROXIMATED]
    assert all(each.met for each in shorter)
    assert not any(each.met for each in longer)


def test_the_features_of_a_run_are_held_against_the_time_of_the_longest_task_group():
    job = job_of("", [FORMS[1].format(60), FORMS[0].format(120)])
    assert facts(job, {"wall_limit_secs": 120}) == facts(job, {})
    (found,) = facts(job, {"wall_limit_secs": 60}).findings
    assert "is not the Duration that is requested, 120" in found.message


def test_a_step_of_a_job_that_ran_has_no_time_that_is_asked_for():
    ran = "<Duration>900</Duration><Delivered><Duration>900</Duration></Delivered>"
    assert "wall_limit_secs" not in derive(job_of("", [ran])).values


@pytest.mark.parametrize("own", ["", '<ResourceLimit name="Duration">300</ResourceLimit>'])
def test_a_limit_of_the_only_task_group_comes_before_that_of_its_job(own):
    job = job_of(own, ['<ResourceLimit name="Duration">600</ResourceLimit>'])
    assert derive(job, starting=True).values["wall_limit_secs"] == 600
    assert of_ads(job) == of_ads(job, "SSSFeature_wall_limit_secs") == {600}
