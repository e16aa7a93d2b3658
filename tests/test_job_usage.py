"""What jobs used, as values: sums of a group, averages, percentiles and histograms."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.errors import InvalidValue
from sssjob.measures import (
    DISTRIBUTIONS,
    MOST_PERCENTILES,
    USUAL,
    Histogram,
    Histograms,
    JobUsage,
    Percentile,
    Percentiles,
    Spread,
    Totals,
    distributions,
    memory_held,
    merged,
    usage_of,
    usage_text,
    used_of,
    waited,
)

NUMBERS = st.none() | st.integers(0, 50) | st.fractions(0, 9, max_denominator=8)
JOBS = st.builds(JobUsage, *[NUMBERS] * len(JobUsage._fields))


def totals(*jobs):
    found = Totals()
    for job in jobs:
        found.add(job)
    return found


@given(st.lists(st.lists(JOBS, max_size=3), max_size=4))
def test_groups_together_have_the_sums_of_all_their_jobs(groups):
    everybody = [job for group in groups for job in group]
    assert merged(totals(*group) for group in groups) == totals(*everybody)


@given(st.lists(JOBS, max_size=5))
def test_sums_are_of_what_jobs_state(jobs):
    found = totals(*jobs)

    def stated(name):
        return [value for job in jobs if (value := getattr(job, name)) is not None]

    def times(one, other):
        both = [(getattr(job, one), getattr(job, other)) for job in jobs]
        return [a * b for a, b in both if a is not None and b is not None]

    def total(values):
        return sum(values) if values else None

    assert found.jobs == len(jobs)
    for name in ("wall", "slots", "cpu", "processors", "memory"):
        assert getattr(found, name) == sum(stated(name))
    for name in ("nodes", "gpus", "energy", "limit", "asked", "wait"):
        assert getattr(found, name) == total(stated(name))
    assert found.asked_slots == total(times("wall", "asked_processors"))
    assert found.asked_gpus == total(times("wall", "asked_gpus"))
    assert found.most_memory == max(stated("memory"), default=None)
    held = ["memory" if job.asked is None else "asked" for job in jobs]
    assert found.held == sum(
        (job.wall or 0) * (getattr(job, name) or 0) for job, name in zip(jobs, held, strict=True)
    )
    counts = {"processors": "processors", "memory": "memory", "asked": "asked", "wait": "wait"}
    for name, of in counts.items():
        assert getattr(found, f"with_{name}") == len(stated(of))


@pytest.mark.parametrize(
    "over, under, name",
    [
        ("cpu", "slots", "efficiency"),
        ("memory", "asked", "memory_efficiency"),
        ("wall", "limit", "limit_efficiency"),
    ],
)
def test_an_efficiency_is_of_jobs_that_state_both_sides_and_have_something_to_use(
    over, under, name
):
    def job(one, other):
        return JobUsage(**{over: one, under: other})

    assert getattr(totals(), name) is None
    assert getattr(totals(job(3, None), job(None, 4), job(5, 0)), name) is None
    assert getattr(totals(job(3, 4), job(7, None), job(0, 2), job(9, 0)), name) == Fraction(1, 2)


@pytest.mark.parametrize(
    "over, of, name",
    [
        ("processors", "processors", "mean_processors"), ("memory", "memory", "mean_memory"),
        ("asked", "asked", "mean_asked"), ("wait", "wait", "mean_wait"),
    ],
)  # fmt: skip
def test_an_average_is_of_the_jobs_that_state_it(over, of, name):
    assert getattr(totals(JobUsage()), name) is None
    jobs = [JobUsage(**{over: each}) for each in (1, 2, None, 0)]
    assert getattr(totals(*jobs), name) == 1


def test_a_sum_that_is_forgotten_is_that_of_no_job():
    found = totals(JobUsage(wall=5, energy=7, wait=3))
    found.forget(("wait", "with_wait", "wall"))
    assert found == Totals(jobs=1, energy=7)


def test_what_a_site_makes_of_the_sums_is_added_up_by_its_name():
    one, other = Totals(more={"cost": 2, "co2": 1}), Totals(more={"cost": 3, "water": 5})
    assert merged((one, other)).more == {"cost": 5, "co2": 1, "water": 5}


def test_a_job_holds_the_memory_that_it_requested_or_else_used():
    assert memory_held(JobUsage(memory=1, asked=2)) == 2
    assert memory_held(JobUsage(memory=1, asked=0)) == 0
    assert memory_held(JobUsage(memory=1)) == 1
    assert memory_held(JobUsage()) is None


@given(JOBS)
def test_what_a_job_used_comes_back_from_its_text(job):
    assert usage_of(usage_text(job)) == job


def test_a_job_without_processors_had_one():
    used = used_of(10, None, 3, None, None, 2, None, 5, None, 4, None)
    assert used == JobUsage(
        wall=10, slots=10, cpu=3, nodes=20, energy=5, asked_processors=4
    )  # fmt: skip
    assert used_of(10, 7, *[None] * 9).slots == 70
    assert used_of(None, 7, *[None] * 9).slots is None


@pytest.mark.parametrize(
    "submit, start, seconds",
    [(3, 10, 7), (3, 3, 0), (4, 3, None), (None, 3, None), (3, None, None)],
)
def test_a_job_waits_from_its_submission_to_its_start(submit, start, seconds):
    assert waited(submit, start) == seconds


# Distributions


@pytest.mark.parametrize(
    "text, name, part",
    [
        ("50", "p50", Fraction(1, 2)), ("050", "p50", Fraction(1, 2)), ("0", "p0", 0),
        ("99.9", "p99.9", Fraction(999, 1000)), ("99.90", "p99.9", Fraction(999, 1000)),
        ("99.0", "p99", Fraction(99, 100)), ("100", "p100", 1), ("100.000", "p100", 1),
        ("0.125", "p0.125", Fraction(1, 800)),
    ],
)  # fmt: skip
def test_a_percentile_is_called_by_its_number(text, name, part):
    assert Percentile.read(text) == (name, part)


@pytest.mark.parametrize("text", ["100.001", "101", "1000", "1.2345", "-1", "1e1", "", ".5", "5."])
def test_what_is_no_percentile_is_refused(text):
    with pytest.raises(InvalidValue, match="a percentile: 0 to 100, with at most 3 decimals"):
        Percentile.read(text)


def test_percentiles_are_asked_for_once_and_not_too_many():
    found = Percentiles.read(("5", "50", "5.0"), ("wall",))
    assert ([each.name for each in found.wanted], found.of) == (
        ["p5", "p50"], (DISTRIBUTIONS["wall"],)
    )  # fmt: skip
    assert [each.name for each in Percentiles.read(("5",)).of] == [*USUAL]
    assert len(Percentiles.read(map(str, range(MOST_PERCENTILES))).wanted) == MOST_PERCENTILES
    for some in ((), map(str, range(MOST_PERCENTILES + 1))):
        with pytest.raises(InvalidValue, match=f"1 to {MOST_PERCENTILES} percentiles"):
            Percentiles.read(some)


def test_a_group_in_which_no_job_ended_has_no_percentiles():
    found = Percentiles.read(("5", "50"), ("wall", "wait"))
    nothing = (Spread(0, (None, None)),) * 2
    some = (Spread(1, (2, 3)), Spread(0, (4, 5)))
    found.groups["a",] = some
    assert (found.group(("a",)), found.group(("b",))) == (some, nothing)


def test_distributions_are_those_of_their_names_or_the_usual_ones():
    assert [each.name for each in distributions()] == [*USUAL]
    assert [each.name for each in distributions(["nodes", "wall", "nodes"])] == ["nodes", "wall"]
    with pytest.raises(InvalidValue, match="one of wait, wall"):
        distributions(["wall", "size"])


@pytest.mark.parametrize(
    "name, job, number",
    [
        ("wall", JobUsage(wall=7), 7),
        ("wall", JobUsage(), None),
        ("efficiency", JobUsage(cpu=3, slots=4), Fraction(3, 4)),
        ("efficiency", JobUsage(cpu=3, slots=0), None),
        ("efficiency", JobUsage(cpu=3), None),
        ("memory_efficiency", JobUsage(memory=1, asked=2), Fraction(1, 2)),
    ],
)
def test_a_distribution_is_of_one_number_of_each_job(name, job, number):
    assert DISTRIBUTIONS[name].of(job) == number


def test_histograms_of_groups_add_up():
    found = Histograms.read(("wall", "nodes"))
    wall, nodes = (len(each.bounds) for each in found.of)
    for number, key in enumerate("ab", 1):
        found.groups[key,] = (
            Histogram(number, (number,) * wall), Histogram(0, (10 * number,) * nodes)
        )  # fmt: skip
    nothing = (Histogram(0, (0,) * wall), Histogram(0, (0,) * nodes))
    assert found.group(("c",)) == nothing == found.added(())
    assert found.added([("b",), ("c",)]) == found.groups["b",]
    assert found.total == (Histogram(3, (3,) * wall), Histogram(0, (30,) * nodes))
