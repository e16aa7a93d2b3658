"""Jobs that may not start yet, and those that have to end by a time: the queue keeps them."""

import os
import time

import pytest
from click.testing import CliRunner

from sssjob.classads.values import Ad
from sssjob.cli import sssjob
from sssjob.systems.condor.hooks import programs
from sssjob.systems.condor.why import obstacles

USER = "<User>amy</User>"
SECONDS = 1_900_000_000  # what the clock shows


@pytest.fixture
def clock(monkeypatch):
    """What everything here takes for the time; a test sets it."""
    now = [SECONDS + 0.5]
    monkeypatch.setattr(time, "time", lambda: now[0])
    return now


def shown(site):
    """What ``condor queue`` shows of each job."""
    words = ["condor", "queue", "--documents", str(site.path)]
    return CliRunner().invoke(sssjob, words).stdout.splitlines()


def timed(site, name, id_, eligible=None, deadline=None, more=""):
    times = {"EligibleTime": eligible, "DeadlineTime": deadline}
    told = "".join(f"<{key}>{value}</{key}>" for key, value in times.items() if value is not None)
    return site.add(name, f"{USER}{told}{more}", id_=id_)


def test_a_job_waits_for_its_time_and_keeps_no_slot_meanwhile(site, clock):
    timed(site, "a.xml", "1", eligible=SECONDS + 3600, more="<Priority>9</Priority>")
    timed(site, "b.xml", "2", eligible=SECONDS - 3600)
    [ad] = site.fetch()
    assert ad["SSSJobId"] == "2"
    assert "DeferralTime" not in ad
    assert site.fetch() == []
    assert shown(site) == [
        "offered   b.xml", "waiting   a.xml  its EligibleTime is 2030-03-17T18:46:40Z",
    ]  # fmt: skip
    clock[0] = SECONDS + 3599
    assert site.fetch(silence=10**6) == []
    clock[0] = SECONDS + 3600
    assert shown(site)[0] == "ready     a.xml"
    [ad] = site.fetch(silence=10**6)
    assert (ad["SSSJobId"], "DeferralTime" in ad) == ("1", False)


def test_a_time_that_comes_ends_the_rest_of_slots_that_found_nothing(site, clock, monkeypatch):
    """They are told without the queue being opened, until then."""
    opened = []
    held = programs._held
    monkeypatch.setattr(programs, "_held", lambda of: opened.append(1) or held(of))
    clock[0] = time.time_ns() / 1e9 + 100  # files are of now
    timed(site, "a.xml", "1", eligible=int(clock[0]) + 1000)
    timed(site, "b.xml", "2", deadline=int(clock[0]) - 5)
    options = {"refresh": 10_000, "fold": "never"}
    assert site.fetch(**options) == []
    os.utime(site.path, (0, 0))
    assert site.fetch(**options) == []
    opened.clear()
    assert (site.fetch(**options), opened) == ([], [])
    clock[0] += 1001
    [ad] = site.fetch(**options)
    assert (ad["SSSJobId"], opened) == ("1", [1])


def test_a_job_whose_time_is_over_is_given_to_no_slot(site, clock):
    path = timed(site, "a.xml", "1", deadline=SECONDS)
    assert site.fetch() == []
    assert shown(site) == ["waiting   a.xml  its DeadlineTime was 2030-03-17T17:46:40Z"]
    path.unlink()
    timed(site, "a.xml", "1", deadline=SECONDS + 60)
    assert len(site.fetch()) == 1


@pytest.mark.parametrize(
    "limit, within, allowed", [(600, 60, 59), (30, 60, 30), (None, 60, 59), (None, 1, 1)]
)
def test_a_job_ends_by_its_deadline(site, clock, limit, within, allowed):
    asked = f"<Requested><Duration>{limit}</Duration></Requested>" if limit else ""
    timed(site, "a.xml", "1", deadline=SECONDS + within, more=asked)
    [ad] = site.fetch()
    assert ad["SSSFeature_wall_limit_secs"] == allowed
    clock[0] += within + 5
    over = {"JobPid": 7, "JobStartDate": SECONDS, "JobDuration": within + 5.0,
            "ExitBySignal": True, "ExitSignal": 15}  # fmt: skip
    site.call("job-exit", ad.merged(over), "exit")
    job = site.job("a.xml")
    assert job.get("State") == "Completed"
    assert job.get("StatusMessage").startswith("TIMEOUT: it ran")
    assert f"{allowed} s allowed" in job.get("StatusMessage")


@pytest.mark.parametrize("odd", ["-5", "99999999999999999999", "tomorrow"])
def test_a_time_that_is_none_keeps_nobody_else(site, clock, odd):
    timed(site, "a.xml", "1", eligible=odd)
    timed(site, "b.xml", "2", deadline=odd)
    timed(site, "c.xml", "3")
    assert "3" in [ad["SSSJobId"] for ad in (*site.fetch(), *site.fetch(), *site.fetch())]


@pytest.mark.parametrize(
    "job, clauses",
    [
        ({}, []), ({"DeferralTime": SECONDS}, []), ({"SSSDeadline": SECONDS + 1}, []),
        ({"DeferralTime": SECONDS + 1}, ["DeferralTime <= time()"]),
        ({"SSSDeadline": SECONDS}, ["time() < SSSDeadline"]),
    ],
)  # fmt: skip
def test_why_tells_that_it_is_too_early_or_too_late(clock, job, clauses):
    found = list(obstacles(Ad(job), Ad({"Cpus": 1})))
    assert [(each.of, each.text, each.value) for each in found] == [
        ("job", text, "false") for text in clauses
    ]
