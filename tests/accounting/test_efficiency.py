"""What a job used of what it asked for, and the advice that follows."""

from fractions import Fraction

import pytest

from sssjob import loads
from sssjob.accounting.efficiency import CPU, GPU, MEMORY, TIME, advice, amount, shares

JOB = """<Job><EndTime>1700000000</EndTime><CpuDuration>{cpu}</CpuDuration>
<Requested><Memory units="GB">8</Memory><Duration>{asked}</Duration></Requested>
<Delivered><Processors>{processors}</Processors><Duration>3600</Duration>
<Memory units="MB" metric="Max">{memory}</Memory></Delivered></Job>"""
WELL = {"cpu": 12000, "asked": 4000, "processors": 4, "memory": 6000}


def job(**changed):
    return loads(JOB.format(**{**WELL, **changed}))


def test_shares_are_those_of_reports():
    found = {each.what: each for each in shares(job())}
    assert found[CPU].words == "03:20:00 of 04:00:00"
    assert float(found[MEMORY].part) == 6000 / 8192
    assert found[TIME].part == Fraction(9, 10)


def test_what_was_asked_for_well_needs_no_advice():
    assert advice(job()) == ()


@pytest.mark.parametrize(
    "changed, said",
    [
        ({"cpu": 3600}, "Of 4 processors about 1 were busy"),
        ({"cpu": 100, "processors": 1}, "The processor waited most of the time"),
        ({"memory": 1024}, "Of the memory 1 GB of 8 GB was used: 1.25 GB would do."),
        ({"memory": 8100}, "Nearly all memory was used"),
        ({"memory": 8300}, "More memory was used than it had (8.11 GB, more than 8 GB): ask for"),
        ({"asked": 3000}, "It ran longer than its time (01:00:00, more than 00:50:00): ask for"),
        ({"asked": 86400}, "It ran for 01:00:00 of 1-00:00:00: a job that asks for 01:15:00"),
        ({"asked": 3600}, "It used its time (01:00:00 of 01:00:00)"),
    ],
    ids=str,
)
def test_what_was_asked_for_badly_is_told(changed, said):
    [told] = advice(job(**changed))
    assert told.startswith(said)


def test_a_job_that_has_not_ended_gets_no_advice():
    assert advice(loads("<Job><Requested><Duration>9999</Duration></Requested></Job>")) == ()
    text = JOB.format(**{**WELL, "cpu": 0}).replace("<EndTime>1700000000</EndTime>", "")
    assert advice(loads(text)) == ()


@pytest.mark.parametrize("wall, told", [(0, 0), (59, 0), (60, 1)])
def test_a_job_of_less_than_a_minute_gets_no_advice(wall, told):
    text = JOB.format(**{**WELL, "cpu": 1, "asked": 0})
    brief = loads(text.replace("<Duration>3600</Duration>", f"<Duration>{wall}</Duration>"))
    assert len(advice(brief)) == told


@pytest.mark.parametrize("wrong", ["many", "-5", "", "9" * 400, "1e9", "<a/>"])
def test_amounts_that_cannot_be_read_are_not_there(wrong):
    found = shares(job(cpu=wrong, asked=wrong, memory=wrong, processors=wrong))
    assert all(each.of for each in found)
    advice(job(cpu=wrong, asked=wrong, memory=wrong, processors=wrong))


def test_amounts_are_written_for_people():
    assert [amount(number, "B") for number in (0, 1023, 1 << 20)] == ["0 B", "1023 B", "1 MB"]
    assert amount(10**400, "B") == amount(10**400, "s") == "1" + "0" * 400


@pytest.mark.parametrize(
    ("resources", "words"),
    [
        ('<Resource name="gpu" consumptionRate="0.25">2</Resource>', "00:30:00 of 02:00:00"),
        ('<Resource name="gres/gpu:a100" consumptionRate="0">2</Resource>', "00:00:00 of 02:00:00"),
        ('<Resource name="gpu" consumptionRate="0.5" duration="60">4</Resource>'
         '<Resource name="GPU">8</Resource>', "00:02:00 of 00:04:00"),
        ('<Resource name="gpu">2</Resource>', None),
        ('<Resource name="tape" consumptionRate="0.5">2</Resource>', None),
        ('<Resource name="gpu" consumptionRate="much">2</Resource>', None),
    ],
)  # fmt: skip
def test_gpus_have_a_share_where_a_job_says_how_busy_they_were(resources, words):
    told = f"<Job><Delivered><Duration>3600</Duration>{resources}</Delivered></Job>"
    found = {each.what: each.words for each in shares(loads(told))}
    assert found.get(GPU) == words
