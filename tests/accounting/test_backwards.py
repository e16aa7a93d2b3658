"""A record that ends before it starts is named with its line, however its times are told."""

import io
import json
import re

import pytest

from sssjob.records import find, read_records, regular
from sssjob.records.builders import TEXTS
from sssjob.records.record import Converted, Noted, Options

HEADER = "JobID|Cluster|State|Submit|Start|End|ElapsedRaw|NCPUS"
TIMES = ("End", "Start")
AD = (
    'ClusterId = 1\nProcId = 0\nOwner = "u"\nJobStatus = 4\nQDate = 1690000000\n'
    "JobCurrentStartDate = 1690000200\nJobStartDate = 1690000200\nCompletionDate = {0}\n"
    '*** Offset = 0 ClusterId = 1 ProcId = 0 Owner = "u" CompletionDate = {0}\n'
)
PBS = "01/01/2024 00:00:00;E;1.s;user=u start=1690000200 end={0} resources_used.walltime=00:01:40\n"
JSON = {
    "job_id": 1,
    "time": {"submission": 1690000000, "start": 1690000200, "end": 0, "elapsed": 100},
    "state": {"current": ["COMPLETED"]},
}


def table(*spans):
    lines = (f"{n}|c|COMPLETED|{b}|{b}|{e}|5|1" for n, (b, e) in enumerate(spans, 1))
    return "\n".join((HEADER, *lines, ""))


def slurm_json(end):
    job = {**JSON, "time": {**JSON["time"], "end": end}}
    return json.dumps({"jobs": [job]}, indent=1)


def told(format_, text, zone="UTC"):
    """The lines that are named, and those whose job object says so."""
    stream = io.BytesIO(text.encode())
    named, said = set(), set()
    for each in read_records(find(format_), stream, Options(zone), TEXTS):
        if isinstance(each, Noted) and "ends before it starts" in each.message:
            named.add(each.line)
        elif isinstance(each, Converted):
            end, start = (re.search(f"<{name}Time>(.*?)<", each.job)[1] for name in TIMES)
            said |= {each.line} if int(end) < int(start) else set()
    return named, said


EARLY, START, LATE = "2024-01-01T02:00:00", "2024-01-01T03:00:00", "2024-01-01T04:00:00"


@pytest.mark.parametrize("format_, early, late", [
    ("slurm", table((START, EARLY)), table((START, LATE), (START, START))),
    ("slurm", table((1690000200, 1690000100)), table((1690000200, 1690000300))),
    ("slurm", table((1_000_000_100, 999_999_900)), table((999_999_900, 1_000_000_100))),
    ("condor", AD.format(1690000100), AD.format(1690000300)),
    ("pbs", PBS.format(1690000100), PBS.format(1690000300)),
    ("slurm-json", slurm_json(1690000100), slurm_json(1690000300)),
], ids=["sacct", "sacct-in-seconds", "sacct-digits", "condor", "pbs", "slurm-json"])  # fmt: skip
def test_it_is_named_where_the_job_says_so(format_, early, late):
    named, said = told(format_, early)
    assert len(named) == 1
    assert named == said
    assert told(format_, late)[0] == set()


@pytest.mark.parametrize("by_columns", [True, False])
def test_it_is_named_in_large_logs(monkeypatch, by_columns):
    monkeypatch.setattr(regular.ROAD, "_is_open", by_columns)
    spans = [(START, EARLY if number in (70, 170) else LATE) for number in range(1, 201)]
    assert told("slurm", table(*spans)) == ({71, 171}, {71, 171})


def test_a_night_on_which_clocks_are_put_back_is_none():
    """In London 01:50 comes before 01:10 once a year."""
    named, said = told("slurm", table(("2026-10-25T01:50:00", "2026-10-25T01:10:00")).replace(
        "|5|1", "|1200|1"), "Europe/London")  # fmt: skip
    assert named == said


NO_START = "01/01/2024 00:00:00;E;1.s;user=u queue=q start={0} end=1690000300 Exit_status=0\n"
JOBCOMP = (
    "JobId=7 UserId=amy(1) GroupId=g(1) Name=a JobState=COMPLETED Partition=q TimeLimit=10 "
    "StartTime={0} EndTime=2023-07-22T04:31:40 NodeList=n1 NodeCnt=1 ProcCnt=1 WorkDir=/ \n"
)
SACCT = "JobID|State|Start|End\n1|COMPLETED|{0}|2023-07-22T04:31:40\n"
CAR = (
    '<UsageRecord xmlns="http://eu-emi.eu/namespaces/2012/11/computerecord"><JobIdentity>'
    "<LocalJobId>1</LocalJobId></JobIdentity><StartTime>{0}</StartTime>"
    "<EndTime>2023-07-22T04:31:40Z</EndTime></UsageRecord>"
)


@pytest.mark.parametrize("format_, text, start, none", [
    ("pbs", NO_START, "1690000200", "0"),
    ("slurm-jobcomp", JOBCOMP, "2023-07-22T04:30:00", "1970-01-01T00:00:00"),
    ("slurm", SACCT, "2023-07-22T04:30:00", "1970-01-01T00:00:00"),
    ("car", CAR, "2023-07-22T04:30:00Z", "1970-01-01T00:00:00Z"),
], ids=["pbs", "jobcomp", "sacct", "car"])  # fmt: skip
def test_a_run_that_has_no_start_has_no_span_of_half_a_century(format_, text, start, none):
    def durations(moment):
        stream = io.BytesIO(text.format(moment).encode())
        found = read_records(find(format_), stream, Options("UTC"), TEXTS)
        jobs = [each.job for each in found if isinstance(each, Converted)]
        return [re.findall("<Duration>(.*?)<", job) for job in jobs]

    assert durations(start) == [["100"]]
    assert durations(none) == [[]]


@pytest.mark.parametrize(
    "unset", [0, 2**32 - 2, 2**32 - 1, 2**64 - 2, {"set": True, "number": 2**32 - 2}]
)
def test_a_start_that_slurm_did_not_set_is_none(unset):
    """As Slurm 24.11 prints it of a job that met its deadline while it waited."""
    text = json.dumps({"jobs": [{
        "job_id": 39, "state": {"current": ["DEADLINE"]},
        "time": {"submission": 1690000000, "start": unset, "end": 1690000200, "elapsed": 0},
    }]})  # fmt: skip
    [job] = read_records(find("slurm-json"), io.BytesIO(text.encode()), Options("UTC"), TEXTS)
    assert isinstance(job, Converted)
    assert "StartTime" not in job.job
    assert "<EndTime>1690000200<" in job.job
