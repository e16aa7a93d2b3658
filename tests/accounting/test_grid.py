"""What a computing element knows of a job joins what the batch system knows, by id and time."""

import io

import pytest

from sssjob import loads
from sssjob.accounting.grid import AFTER, BEFORE, Grid
from sssjob.document import dumps
from sssjob.records.record import Bad

AT = 1795184400  # 2026-11-20 14:20:00 UTC
LINE = (
    '"timestamp=2026-11-20 14:20:00" "userDN=/O=Grid/CN=Amy" "userFQAN=/atlas/Role=production" '
    '"ceID=ce.example.org:8443/q" "jobID=CREAM1" "lrmsID=8"'
)


def grid(*lines):
    found = Grid()
    outcomes = list(found.read(io.BytesIO("\n".join(lines).encode())))
    return found, outcomes


def ended(id="8", end=AT + 60, more="", delivered=""):
    inner = f"<Delivered>{delivered}</Delivered>" if delivered else ""
    return loads(f"<Job><Id>{id}</Id><EndTime>{end}</EndTime>{more}{inner}</Job>")


def test_a_job_gets_the_user_and_the_project_of_its_entry():
    found, _ = grid(LINE)
    job = found.join(ended())
    assert job.delivered.text("GlobalUser") == "/O=Grid/CN=Amy"
    assert job.delivered.text("Project") == "atlas"
    assert (job.get("GlobalId"), job.get("SubmitHost")) == ("CREAM1", "ce.example.org")
    assert job.properties.get("Extension", type="VOMS", name="Role").text == "production"
    assert (found.entries, found.joined) == (1, 1)


def test_what_the_record_itself_says_stays():
    found, _ = grid(LINE)
    more = "<GlobalId>c/8/1</GlobalId><SubmitTime>1795184300</SubmitTime>"
    job = found.join(ended(more=more, delivered="<Project>physics</Project><User>amy</User>"))
    assert job.delivered.text("Project") == "physics"
    assert (job.get("GlobalId"), job.get("SubmitTime")) == ("c/8/1", "1795184300")
    assert job.properties.get("Extension", type="BLAH", name="GlobalId").text == "CREAM1"
    assert len(job.delivered) == 3
    assert dumps(loads(dumps(job))) == dumps(job)


@pytest.mark.parametrize(
    "end, joins",
    [(AT - BEFORE, 1), (AT - BEFORE - 1, 0), (AT + AFTER - 1, 1), (AT + AFTER, 0)],
)
def test_a_record_of_the_same_id_joins_within_a_window_of_time(end, joins):
    found, _ = grid(LINE)
    job = ended(end=end)
    assert (found.join(job) != job) == bool(joins)
    assert found.joined == joins


def test_of_several_entries_the_nearest_to_the_submission_counts():
    earlier = LINE.replace("14:20:00", "10:00:00").replace("CREAM1", "CREAM0")
    found, _ = grid(earlier, LINE)
    for submitted, expected in ((AT - 60, "CREAM1"), (AT - 15000, "CREAM0")):
        job = found.join(ended(more=f"<SubmitTime>{submitted}</SubmitTime>"))
        assert job.get("GlobalId") == expected


def test_an_id_may_lack_the_server_that_the_log_has():
    found, _ = grid(LINE.replace("lrmsID=8", "lrmsID=8.lrms1"))
    assert found.join(ended("8.lrms1")).get("GlobalId") == "CREAM1"
    assert found.join(ended("8")).get("GlobalId") == "CREAM1"
    assert found.join(ended("8.other")).get("GlobalId") == ""


def test_an_entry_without_a_time_and_a_record_without_one_join_nothing():
    found, outcomes = grid('"lrmsID=8"', "bad", LINE)
    assert [type(item) for item in outcomes if isinstance(item, Bad)] == [Bad]
    assert found.entries == 1
    assert found.join(loads("<Job><Id>8</Id></Job>")).get("GlobalId") == ""
