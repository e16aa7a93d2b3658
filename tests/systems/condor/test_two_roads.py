"""An ad is one job object, whether ``convert`` reads it or ``status``: property by property."""

import io
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from records import converted

from sssjob import fold
from sssjob.accounting import fields
from sssjob.classads import forms, long
from sssjob.classads.values import Ad
from sssjob.model import Block, Job, Property
from sssjob.systems.condor import names
from sssjob.systems.condor.accounting import table
from sssjob.systems.condor.from_ad import to_job
from sssjob.systems.condor.job_ad import to_ad

DATA = Path(__file__).parents[2] / "data"
RECORDED = ["condor/condor_history.long", "condor/condor_q.long", "condor/history.4.0",
            "records/condor/ads.long"]  # fmt: skip

# What only the queue has of an ad, and why records of accounting do without.
ONLY_STATUS = {
    "Environment": "large, and often secret: no part of what is accounted",
    "NotificationList": "whom to tell before a job has ended",
    "EligibleTime": "when the job may start",
    "DeadlineTime": "an attribute of ours, of jobs that hooks run",
    "Extension Requirements": "an expression, which would have to be read for each record",
    "Extension Rank": "an expression, likewise",
    "Requested Architecture": "a part of Requirements",
    "Requested OperatingSystem": "a part of Requirements",
    "Requested Node": "a part of Requirements",
    "Requested Feature": "a part of Requirements",
    "Requested NodeCount": "MaxHosts counts in what was delivered",
    "Requested Resource": "records have GPUs, of all custom resources",
    "Delivered Resource": "records have GPUs, of all custom resources",
    "Dedicated": "what the slot had; reports add up what was used",
}
# An amount that is asked for as an expression is worked out for the queue only (decision 93).
EXPRESSIONS = {
    "RequestCpus": "Processors", "RequestMemory": "Memory", "RequestDisk": "Disk",
    "RequestGPUs": "Resource",
}  # fmt: skip
# An attribute of how files are written goes with their names in the queue.
IGNORED = ("redirectList", "consumptionRate")


def properties(block, place=""):
    """The properties of a job, each as its place, element, text and attributes."""
    for item in block.items:
        if isinstance(item, Property):
            kept = {key: text for key, text in item.attributes.items() if key not in IGNORED}
            yield place, item.name, item.text, tuple(sorted(kept.items()))
        elif isinstance(item, Block) and item.name in ("Requested", "Delivered"):
            yield from properties(item, item.name)


# Numbers of processors that are none, which are kept beside what is said of them.
NONE = {("Extension", "CpusProvisioned"), ("Extension", "RequestCpus")}


def excused(row, ad):
    """Whether a property is one that only the queue has."""
    place, element, _, attributes = row
    attributes = dict(attributes)
    worked_out = [of for of in EXPRESSIONS if of in ad and not is_number(ad[of])]
    if element == "Extension":
        return attributes["name"] in worked_out or f"Extension {attributes['name']}" in ONLY_STATUS
    if attributes.get("context") == "Dedicated":
        return True
    if place == "Requested" and element in [EXPRESSIONS[of] for of in worked_out]:
        return True
    if element == "Resource" and attributes["name"] == names.GPU:
        return False
    return f"{place} {element}".strip() in ONLY_STATUS


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def told_twice(ad):
    """What each road says that the other does not, apart from what is excused."""
    [record] = converted("condor", long.write(ad).encode())
    accounted, queued = (
        {row for row in properties(job) if (row[1], dict(row[3]).get("name")) not in NONE}
        for job in (record, to_job(ad, embedded=False).job)
    )
    return accounted - queued, {row for row in queued - accounted if not excused(row, ad)}


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_ads_are_one_job_object_on_both_roads(name):
    found = 0
    for ad in forms.read(io.BytesIO((DATA / name).read_bytes()), on_error=lambda error: None):
        if "ClusterId" in ad and ad.text("MyType") in ("", "Job"):
            found += 1
            assert told_twice(ad) == (set(), set()), ad.text("GlobalJobId") or ad["ClusterId"]
    assert found


WORDS = st.sampled_from(["a", "b c", "/dev/null", "slot1_2@n1", "phys.cms", "it''s", "x.amy"])
SMALL = st.integers(0, 9)
TIMES = st.integers(0, 1 << 31)
ADS = st.fixed_dictionaries(
    {"ClusterId": st.integers(1, 99), "JobStatus": st.integers(1, 7)},
    optional={
        **dict.fromkeys(
            ("Owner", "AcctGroup", "AccountingGroup", "AcctGroupUser", "ProjectName", "In", "Out",
             "Err", "Cmd", "Iwd", "JobBatchName", "JobDescription", "Arguments", "Args",
             "RemoveReason", "HoldReason", "ReleaseReason", "ExitReason", "LastRemoteHost",
             "RemoteHost", "RemoteHosts", "SubmitHost", "AssignedGPUs", "x509userproxysubject",
             "x509UserProxyVOName", "SSSGroup", "SSSQueue", "SSSQualityOfService", "SSSPartition",
             "SSSApplication"), WORDS),
        **dict.fromkeys(
            ("ProcId", "ExitCode", "ExitSignal", "HoldReasonCode", "NumJobStarts", "JobPrio",
             "RequestCpus", "RequestGPUs", "CpusProvisioned", "GPUsProvisioned", "MaxHosts",
             "CumulativeSuspensionTime", "RequestMemory", "RequestDisk", "ResidentSetSize",
             "ResidentSetSize_RAW", "DiskUsage", "ImageSize", "AllowedJobDuration",
             "AllowedExecuteDuration"), SMALL),
        **dict.fromkeys(
            ("QDate", "JobStartDate", "JobCurrentStartDate", "CompletionDate",
             "EnteredCurrentStatus"), TIMES),
        **dict.fromkeys(
            ("RemoteWallClockTime", "RemoteUserCpu", "RemoteSysCpu", "CumulativeRemoteUserCpu",
             "CumulativeRemoteSysCpu", "CommittedTime"), st.sampled_from([0.0, 1.5, 60.0, 100])),
        "ExitBySignal": st.booleans(),
        "JobUniverse": st.sampled_from([5, 7, 9, 11, 12]),
        "GlobalJobId": st.just("submit.example.org#7.0#1800000000"),
    },
)  # fmt: skip
KILLED = {
    "ClusterId": 5, "ProcId": 0, "JobStatus": 4, "Owner": "amy", "AcctGroup": "phys.cms",
    "ExitBySignal": True, "ExitSignal": 9, "RequestGPUs": 2, "GPUsProvisioned": 2,
    "JobStartDate": 1_700_000_000, "RemoteWallClockTime": 100.0, "CumulativeSuspensionTime": 40,
}  # fmt: skip


@given(ADS)
@example(KILLED)
def test_an_ad_is_one_job_object_on_both_roads(attributes):
    assert told_twice(Ad(attributes)) == (set(), set())


@pytest.mark.parametrize("row", [
    ("", "ExitCode", "137", ()),
    ("", "Extension", "9", (("name", "Signal"), ("type", "HTCondor"))),
    ("Delivered", "User", "amy", ()),
    ("Delivered", "Project", "phys.cms", ()),
    ("Delivered", "Resource", "2", (("name", "GPU"),)),
    ("Requested", "Resource", "2", (("name", "GPU"),)),
    ("Delivered", "Duration", "60", ()),
])  # fmt: skip
def test_a_job_that_a_signal_ended_is_told_alike(row):
    [record] = converted("condor", long.write(Ad(KILLED)).encode())
    for job in (record, to_job(Ad(KILLED), embedded=False).job):
        assert row in list(properties(job))


SECRET = KILLED | {"Environment": "TOKEN=secret", "EndTime": 1_700_000_100}


def test_what_only_the_queue_tells_stays_where_a_record_is_delivered():
    queued = to_job(Ad(SECRET), embedded=False).job
    [record] = converted("condor", long.write(Ad(SECRET)).encode())
    assert "Environment" in queued.properties.names()
    assert "Environment" not in record.properties.names()
    assert fold(queued, record, source="history").job == queued
    assert "Environment" in fold(record, queued, source="queue").job.properties.names()


@pytest.mark.parametrize(
    ("row", "layout"), [pytest.param(*each, id=each[0].name) for each in fields.listed()]
)
def test_no_record_of_accounting_tells_an_environment(row, layout):
    told = [place for places in fields.described(layout).values() for place in places]
    assert told
    assert not [place for place in told if "Environment" in place]


def test_what_an_ad_is_written_with_is_what_it_is_read_by():
    """One table says it, but for attributes of our own; names such as Id are made of several."""
    said = {"Id": "7", "Name": "n", "Executable": "/bin/a", "InitialWorkingDirectory": "/w",
            "GlobalId": "g#7.0#1", "Queue": "q", "Priority": "3", "State": "running",
            "SubmitTime": "1800000000", "EligibleTime": "1800000005"}  # fmt: skip
    job = Job.of(**said)
    ad = to_ad(job).ad
    again = to_job(ad).job
    assert {name: again.get(name) for name in said} == said | {"State": "Running"}
    assert {"JobBatchName", "Cmd", "Iwd", "GlobalJobId", "JobPrio", "QDate"} <= {*ad}
    assert ("EndTime", "CompletionDate") in table.WHOLE_NUMBERS


def test_hooks_read_ads_without_what_reads_files_of_records():
    code = "import sys; sys.modules['orjson'] = None; import sssjob.systems.condor.hooks.reports"
    subprocess.run([sys.executable, "-c", code], check=True)
