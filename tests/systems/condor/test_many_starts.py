"""A job that HTCondor started several times is one run, whenever its ad was read: its time adds up.

A schedd says when it first started a job, and when it last did, and adds up how long all took.
"""

import json

from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from summed import call, sums

SUBMITTED = 1700000000
IDLE, RUNNING, COMPLETED, HELD = 1, 2, 4, 5


def story(walls, gap):
    """The ads that a schedd shows of a job, one after the other; the last one is its history.

    Each start takes one of ``walls`` seconds, and ``gap`` seconds later the next one begins.
    """
    ad = {
        "ClusterId": 7, "ProcId": 0, "GlobalJobId": f"s#7.0#{SUBMITTED}", "Owner": "amy",
        "QDate": SUBMITTED, "RequestCpus": 1, "NumJobStarts": 0, "RemoteWallClockTime": 0,
        "CumulativeRemoteUserCpu": 0, "CumulativeRemoteSysCpu": 0, "JobStatus": IDLE,
    }  # fmt: skip
    yield dict(ad)
    now = SUBMITTED + gap
    for start, wall in enumerate(walls, 1):
        ad |= {"JobStatus": RUNNING, "JobCurrentStartDate": now, "NumJobStarts": start}
        ad.setdefault("JobStartDate", now)
        yield dict(ad)
        now += wall
        ad["RemoteWallClockTime"] += wall
        ad |= {"JobStatus": HELD if start % 2 else IDLE, "EnteredCurrentStatus": now}
        if start < len(walls):
            yield dict(ad)
        now += gap
    ended = now - gap
    yield ad | {"JobStatus": COMPLETED, "CompletionDate": ended, "EnteredCurrentStatus": ended}


@st.composite
def looks(draw):
    """Some of these ads in files, in whatever order they were read."""
    walls = draw(st.lists(st.integers(1, 4000), min_size=1, max_size=4))
    ads = list(story(walls, draw(st.integers(1, 9000))))
    return draw(st.lists(st.sampled_from(ads), min_size=1, max_size=5))


@examples(20)
@given(looks())
def test_the_time_of_a_job_counts_once_whenever_its_ad_was_read(tmp_path_factory, ads):
    path = tmp_path_factory.mktemp("looks")
    files = []
    for place, ad in enumerate(ads):
        files.append(path / f"{place}.ads")
        files[-1].write_text(json.dumps([ad]) + "\n")
    wanted = 1, max(ad["RemoteWallClockTime"] for ad in ads)
    assert sums("report", "--from", "condor", *files) == wanted
    for file in files:
        call("store", "import", "--from", "condor", path / "jobs.db", file)
        call("ledger", "ingest", "--from", "condor", path / "usage", file)
    assert sums("report", path / "jobs.db") == wanted
    assert sums("ledger", "report", "--book", "end", path / "usage") == wanted


def test_a_job_begins_with_its_first_start_and_ends_with_its_last(tmp_path):
    history = tmp_path / "history"
    history.write_text(json.dumps([list(story([60, 20], 100))[-1]]) + "\n")
    told = call("convert", "--from", "condor", history).stdout
    assert f"<StartTime>{SUBMITTED + 100}</StartTime>" in told
    assert f"<EndTime>{SUBMITTED + 280}</EndTime>" in told
    assert "<Duration>80</Duration>" in told
