"""Summaries: sums, means and efficiencies of jobs, by what people ask for."""

from datetime import UTC
from fractions import Fraction
from math import isfinite
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob import loads
from sssjob.accounting.report import GROUPINGS, JobProperties, Report, used, wall_time
from sssjob.accounting.run import run_of
from sssjob.accounting.table import table as rows_of_jobs
from sssjob.drawing.report import as_json, picture, table
from sssjob.measures import ASKED, MEASURES, WAIT, merged

DAY = 86400
JOB = (
    "<Job><Id>{id}</Id><User>{user}</User><State>Completed</State><EndTime>{end}</EndTime>"
    "<CpuDuration>{cpu}</CpuDuration><Requested><Memory units='MB'>1024</Memory></Requested>"
    "<Delivered><Duration>{wall}</Duration><Processors>{processors}</Processors>"
    "<Memory units='MB' metric='Max'>{memory}</Memory></Delivered></Job>"
)


def job(id=1, user="amy", end=DAY, cpu=100, wall=100, processors=2, memory=512):
    return loads(JOB.format(**locals()))


def report(*blocks, **options):
    found = Report(**options)
    for block in blocks:
        found.add(block)
    return found


def test_what_a_job_used_is_exact():
    found = used(JobProperties(job()))
    assert found[:6] == (100, 200, 100, 2, 512 << 20, 1 << 30)


@pytest.mark.parametrize("text, expected", [
    pytest.param("<Job><Id>1</Id></Job>", (None,) * 6, id="nothing-stated"),
    pytest.param(
        "<Job><Id>1</Id><Duration>60</Duration></Job>",
        (60, 60, None, None, None, None), id="no-processors-held-one",
    ),
    pytest.param(
        "<Job><Id>1</Id><Processors>4</Processors><Delivered><Duration>60</Duration></Delivered></Job>",
        (60, 240, None, 4, None, None), id="processors-of-the-job-itself",
    ),
    pytest.param(
        "<Job><Id>1</Id><Delivered><CpuDuration>7</CpuDuration><Memory units='KB'>2</Memory>"
        "</Delivered></Job>",
        (None, None, 7, None, 2048, None), id="CPU-in-Delivered",
    ),
    pytest.param(
        "<Job><Id>1</Id><Delivered><Memory metric='Average' units='KB'>1</Memory>"
        "<Memory metric='Max' units='KB'>9</Memory></Delivered></Job>",
        (None, None, None, None, 9216, None), id="the-most-that-was-measured",
    ),
    pytest.param(
        "<Job><Id>1</Id><Delivered><Processors group='1'>4</Processors>"
        "<Processors group='-1'>8</Processors></Delivered></Job>",
        (None, None, None, 12, None, None), id="on-several-machines",
    ),
    pytest.param(
        "<Job><Id>1</Id><Requested><Memory op='GE' units='KB' group='1'>1</Memory>"
        "<Memory op='LE' units='KB' group='-1'>4</Memory></Requested></Job>",
        (None, None, None, None, None, 4096), id="the-upper-bound-of-a-request",
    ),
    pytest.param("<Job><Id>1</Id><Duration>soon</Duration></Job>", (None,) * 6, id="unreadable"),
])  # fmt: skip
def test_what_is_not_stated_is_not_used(text, expected):
    assert used(JobProperties(loads(text))) == (*expected, *(None,) * 7)


def resource(name, text, **attributes):
    told = "".join(f" {key}='{value}'" for key, value in attributes.items())
    return f"<Resource name='{name}'{told}>{text}</Resource>"


OVER_TIME = [
    ("<NodeCount>2</NodeCount>", (1200, None, None)),
    (resource("GPU", 2, type="a100") + resource("gpu", 1), (None, 1800, None)),
    (resource("GPU", 0.5), (None, 300, None)),
    (resource("GPU", "many") + resource("GPU", -2), (None, None, None)),
    (resource("GPU", 2, metric="Max") + resource("GPUs", 1), (None, 600, None)),
    (resource("Energy", 0.5, units="kWh"), (None, None, 1_800_000)),
    (resource("Energy", 7, units="J") + resource("Energy", 1, units="kJ"), (None, None, 1007)),
    (resource("Energy", 7, units="horses"), (None, None, None)),
    (resource("License", 7), (None, None, None)),
]


@pytest.mark.parametrize("inner, expected", OVER_TIME)
def test_nodes_and_gpus_count_as_long_as_the_job_ran(inner, expected):
    found = used(
        JobProperties(loads(f"<Job><Delivered><Duration>600</Duration>{inner}</Delivered></Job>"))
    )
    assert (found.nodes, found.gpus, found.energy) == expected
    waited = used(JobProperties(loads(f"<Job><Delivered>{inner}</Delivered></Job>")))
    assert (waited.nodes, waited.gpus) == (None, None)


@pytest.mark.parametrize(
    "inner, expected",
    [
        (resource("gres/gpu:a100", 2) + resource("GPU", 3), 5),
        (resource("GPU", 1, op="GE") + resource("GPU", 4, op="LE"), 4),
        (resource("GPU", 2, op="GE"), 2),
        (resource("GPU", 0), None),
        (resource("GPU", "many") + resource("License", 2), None),
        (resource("GPU", 2, conj="Or") + resource("GPU", 4), None),
        ("<Memory group='1'>1</Memory>" + resource("GPU", 2), None),
    ],
)
def test_gpus_that_were_requested(inner, expected):
    found = used(JobProperties(loads(f"<Job><Requested>{inner}</Requested></Job>")))
    assert found.asked_gpus == expected


WAITED = (
    "<Job><Id>1</Id><SubmitTime>{0}</SubmitTime><StartTime>40</StartTime>{1}<Delivered>"
    "<Duration>100</Duration><CpuDuration>160</CpuDuration></Delivered></Job>"
)


def test_requests_are_held_against_what_was_used_of_them():
    asked = (
        "<Requested><Processors>8</Processors><Memory units='GB'>2</Memory>"
        f"{resource('GPU', 4)}</Requested>"
    )
    jobs = [loads(WAITED.format(10, asked)), loads(WAITED.format(20, ""))]
    found = report(*jobs, extra=(ASKED, WAIT)).total
    assert (found.asked_slots, found.cpu_of_asked) == (800, (160, 800))
    assert (found.asked_gpus, found.gpus_of_asked, found.mean_wait) == (400, (0, 0), 25)
    assert (found.mean_asked, found.with_asked) == (2 << 30, 1)


def test_a_job_that_started_before_it_was_submitted_has_no_wait():
    found = report(loads(WAITED.format(50, ""))).total
    assert (found.wait, found.mean_wait) == (None, None)


def test_gpu_hours_are_printed_where_a_job_has_them():
    with_gpus = loads(
        "<Job><User>amy</User><Delivered><Duration>3600</Duration><Resource name='GPU'>3</Resource>"
        "<Resource name='Energy' units='J'>7200000</Resource></Delivered></Job>"
    )
    found = report(job(user="bob"), with_gpus, with_gpus)
    lines = [line.split() for line in table(found, found.rows())]
    assert [line[-2:] for line in lines] == [["h", "kWh"], ["6.00", "4.00"], ["-", "-"],
                                             ["6.00", "4.00"]]  # fmt: skip
    assert as_json(found, found.rows())["total"]["gpu_seconds"] == 6 * 3600
    without = report(job())
    assert "GPU" not in table(without, without.rows())[0]


def test_jobs_are_added_up_by_name():
    found = report(job(), job(id=2, user="bob", processors=8), job(id=3, cpu=50), by=("user",))
    totals = found.groups[("amy",)]
    assert (totals.jobs, totals.wall, totals.slots, totals.cpu) == (2, 200, 400, 150)
    assert totals.efficiency == Fraction(150, 400)
    assert totals.memory_efficiency == Fraction(1, 2)
    assert totals.mean_processors == 2
    assert found.total.jobs == 3
    assert [key for key, _ in found.rows()] == [("bob",), ("amy",)]
    assert [key for key, _ in found.rows("jobs")] == [("amy",), ("bob",)]


def test_efficiency_is_that_of_the_jobs_that_state_both_sides():
    without_cpu = loads("<Job><Id>2</Id><User>amy</User><Duration>1000</Duration></Job>")
    assert report(job(), without_cpu).groups[("amy",)].efficiency == Fraction(1, 2)


def test_spans_go_upwards_in_the_zone_that_is_named():
    late = 1795132740  # 2026-11-19T23:59:00Z
    blocks = [job(end=late), job(id=2, end=late + 120), job(id=3, end=late - 400 * DAY)]
    found = report(*blocks, by=("month",))
    assert [key for key, _ in found.rows()] == [("2025-10",), ("2026-11",)]
    assert list(report(*blocks[:2], by=("day",)).groups) == [("2026-11-19",), ("2026-11-20",)]
    there = report(*blocks[:2], by=("day",), zone=ZoneInfo("Europe/Amsterdam"))
    assert list(there.groups) == [("2026-11-20",)]


def test_a_span_of_time_counts_its_beginning_and_not_its_end():
    found = report(job(end=10), job(id=2, end=20), job(id=3, end=30), since=10, until=30)
    assert (found.total.jobs, found.outside) == (2, 1)
    assert report(loads("<Job><Id>1</Id></Job>"), since=0).outside == 1


def test_jobs_of_a_group_have_their_defaults_and_mentions_are_no_jobs():
    group = loads(
        "<JobGroup><Id>g</Id><JobDefaults><User>amy</User></JobDefaults>"
        "<Job><Id>1</Id></Job><Job><Id>2</Id><User>bob</User></Job><Job>1</Job></JobGroup>"
    )
    assert {key: totals.jobs for key, totals in report(group).groups.items()} == {
        ("amy",): 1, ("bob",): 1,
    }  # fmt: skip


@pytest.mark.parametrize("name", GROUPINGS)
def test_every_grouping_says_nothing_of_a_job_that_says_nothing(name):
    assert GROUPINGS[name](JobProperties(loads("<Job><Id>1</Id></Job>")), UTC) == ""


AMOUNTS = st.integers(0, 10**6)
JOBS = st.lists(
    st.builds(
        job,
        user=st.sampled_from(("amy", "bob", "cas")),
        end=AMOUNTS, cpu=AMOUNTS, wall=AMOUNTS, processors=st.integers(0, 64), memory=AMOUNTS,
    ),
    max_size=8,
)  # fmt: skip


@given(JOBS, st.sampled_from(sorted(GROUPINGS)))
def test_groups_always_add_up_to_the_total_of_all_jobs(jobs, name):
    one = report(*jobs, by=())
    parts = merged(report(*jobs, by=(name,)).groups.values())
    for measure in MEASURES:
        assert measure.of(parts) == measure.of(one.total), measure.name


def test_a_number_that_no_double_can_hold_is_told_by_every_way_out():
    inner = f"<Delivered><Duration>{'9' * 400}</Duration></Delivered>"
    huge = loads(f"<Job><User>amy</User>{inner}</Job>")
    found = report(huge, by=("user",))
    rows = found.rows()
    assert "inf" in table(found, rows)[1].split()
    assert as_json(found, rows)["rows"][0]["wall_seconds"] == int("9" * 400)
    wall = next(each for each in MEASURES if each.name == "wall_seconds")
    _, (bar,) = picture(found, rows, wall)
    assert isfinite(bar.amount)
    assert rows_of_jobs([huge]).column("wall_seconds").to_pylist() == [float("inf")]


SPAN = "<StartTime>100</StartTime><EndTime>160</EndTime>"
# What a job says, how long it ran for reports, and how long where spans count, too.
RAN = [
    (f"{SPAN}<Delivered><Duration>70</Duration></Delivered>", 70, 70),
    (f"{SPAN}<Duration>70</Duration>", 70, 60),
    (f"{SPAN}<Duration>50</Duration>", 50, 50),
    (SPAN, None, 60),
    (f"{SPAN}<SuspendDuration>20</SuspendDuration>", None, 40),
    (f"{SPAN}<SuspendDuration>61</SuspendDuration>", None, None),
    ("<StartTime>100</StartTime>", None, None),
    ("<Duration>70</Duration>", 70, 70),
    (f"{SPAN}<Requested><Duration>70</Duration></Requested>", None, 60),
    ("", None, None),
]


@pytest.mark.parametrize("inner, reported, charged", RAN)
def test_how_long_a_job_ran_has_one_rule_which_spans_are_told_apart(inner, reported, charged):
    facts = JobProperties(loads(f"<Job><Id>1</Id>{inner}</Job>"))
    assert wall_time(facts) == used(facts).wall == run_of(facts.job).wall == reported
    assert wall_time(facts, spans=True) == charged


# decision 665
@pytest.mark.parametrize("processors, wall, slots", [
    ('<Processors duration="150">2</Processors>', 200, 300),
    ('<Processors duration="150" consumptionRate="0.5">2</Processors>', 200, 300),
    ('<Processors duration="00:01:00">2</Processors>', 200, 120),
    ('<Processors duration="soon">2</Processors>', 200, 400),
    ('<Processors duration="150">2</Processors>', 0, 0),
    ("<Processors>2</Processors>", 200, 400),
])  # fmt: skip
def test_processors_count_for_as_long_as_they_were_had(processors, wall, slots):
    text = f"<Job><Delivered><Duration>{wall}</Duration>{processors}</Delivered></Job>"
    assert used(JobProperties(loads(text))).slots == slots
