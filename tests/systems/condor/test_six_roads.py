"""An ad is one job object by each road: a history, a queue, ``condor job``; value by value."""

import io
import json

import pytest
from records import outcomes

from sssjob.classads import forms
from sssjob.model import Block, Property
from sssjob.records.builders import OBJECTS
from sssjob.records.record import Converted, Noted
from sssjob.records.record import Options as RecordOptions
from sssjob.systems.condor.from_ad import to_job
from sssjob.verbs import status

ATTRIBUTES = (
    "RequestMemory", "RequestCpus", "RequestDisk", "RequestGPUs", "RequestTapes",
    "AllowedJobDuration", "AllowedExecuteDuration", "CpusProvisioned", "ResidentSetSize_RAW",
    "ImageSize_RAW", "DiskUsage_RAW", "ResidentSetSize", "RemoteWallClockTime",
    "CumulativeRemoteUserCpu", "RemoteUserCpu", "CumulativeSuspensionTime", "NumJobStarts",
    "JobPrio", "ExitCode", "ExitSignal", "MinHosts", "MaxHosts", "QDate", "CompletionDate",
    "JobStartDate", "JobCurrentStartDate", "GPUsProvisioned", "HoldReasonCode", "CommittedTime",
    *(OF_TEXTS := (
        "AssignedGPUs", "ConcurrencyLimits", "AcctGroup", "AccountingGroup", "AcctGroupUser", "Cmd",
        "Err", "Iwd", "JobBatchName", "LastRemoteHost", "Out", "Owner", "ProjectName",
        "RemoteHost", "SSSQueue", "x509userproxysubject",
    )),
)  # fmt: skip
VALUES = (
    "-1", "0", "1.5", "12", "-0.5", "9223372036854775807", '"12"', '"x"', '"-1"', '"1.5G"', '"1.5"',
    "true", "1e30", '"1e30"', '"0x10"', '" "', '""',
)  # fmt: skip
BASE = {
    "ClusterId": "7", "ProcId": "0", "JobStatus": "4", "Owner": '"amy"', "QDate": "1700000000",
    "GlobalJobId": '"sch#7.0#1700000000"', "JobUniverse": "5", "Cmd": '"/bin/x"',
    "JobCurrentStartDate": "1700000000", "CompletionDate": "1700000100",
    "RemoteWallClockTime": "100", "CumulativeRemoteUserCpu": "5", "CumulativeRemoteSysCpu": "1",
    "RequestCpus": "2",
}  # fmt: skip


def _long(ad):
    return "".join(f"{name} = {value}\n" for name, value in ad.items()).encode() + b"\n"


def _json(ad):
    return b"[{" + ",".join(f'"{name}": {value}' for name, value in ad.items()).encode() + b"}]"


def _xml(ad):
    rows = []
    for name, value in ad.items():
        if value.startswith('"'):
            rows.append(f'<a n="{name}"><s>{json.loads(value)}</s></a>')
        elif value == "true":
            rows.append(f'<a n="{name}"><b v="t"/></a>')
        else:
            kind = "r" if "." in value or "e" in value else "i"
            rows.append(f'<a n="{name}"><{kind}>{value}</{kind}></a>')
    return f'<?xml version="1.0"?>\n<classads>\n<c>\n{"".join(rows)}\n</c>\n</classads>\n'.encode()


def _recorded(data):
    return list(outcomes("condor", data))


def _queued(data):
    rows = status.formats("condor-q")
    return list(status.outcomes(io.BytesIO(data), rows, RecordOptions(), OBJECTS))


ASSUMED = "no number of processors"  # which a record says of what is not there at all


def _told(outcomes):
    """The job of some outcomes, None of a bad one; and whether they tell more."""
    jobs = [each.job for each in outcomes if isinstance(each, Converted)]
    notes = (each.message for each in outcomes if isinstance(each, Noted))
    return (jobs or [None])[0], any(not each.startswith(ASSUMED) for each in notes)


def _alone(data):
    [ad] = forms.read(io.BytesIO(data))
    found = to_job(ad, embedded=False)
    return found.job, bool(found.findings)


ROADS = {
    "history -long": lambda ad: _told(_recorded(_long(ad))),
    "history -json": lambda ad: _told(_recorded(_json(ad))),
    "history -xml": lambda ad: _told(_recorded(_xml(ad))),
    "condor_q -long": lambda ad: _told(_queued(_long(ad))),
    "condor_q -json": lambda ad: _told(_queued(_json(ad))),
    "condor job": lambda ad: _alone(_long(ad)),
}


def _rows(block, place=""):
    """What a job says, but for what the slot had, which only the queue tells."""
    if block is None:
        return None
    found = set()
    for item in block.items:
        if isinstance(item, Property) and item.attributes.get("context") != "Dedicated":
            found.add((place, item.name, item.text, tuple(sorted(item.attributes.items()))))
        elif isinstance(item, Block) and item.name in ("Requested", "Delivered"):
            found |= _rows(item, item.name)
    return found


# A history does without a record whose usage is made of no number (decision 750), and has a remark
# about times in another order, and the amounts of a job without a start.
REFUSED = ("RemoteWallClockTime", "CumulativeSuspensionTime", "CompletionDate",
           "JobCurrentStartDate", "QDate")  # fmt: skip
ABOUT_TIMES = ("CompletionDate", "JobCurrentStartDate")
WITHOUT_A_START = {
    ("", "CpuDuration", "6", ()), ("Delivered", "Duration", "100", ()),
    ("Delivered", "Processors", "2", ()),
}  # fmt: skip


# decision 891
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("name", ATTRIBUTES)
def test_an_attribute_is_the_same_by_each_road(name, value):
    ad = BASE | {name: value}
    found = {road: read(ad) for road, read in ROADS.items()}
    rows, noted = _rows(found["condor job"][0]), found["condor job"][1]
    for road, (job, told) in found.items():
        if job is None:
            assert road.startswith("history"), road
            assert noted
            assert name in REFUSED
            continue
        more = WITHOUT_A_START if name == "JobCurrentStartDate" else set()
        assert _rows(job) - more == rows - more, road
        assert told == noted or (told and name in ABOUT_TIMES), road


@pytest.mark.parametrize("name", sorted({*ATTRIBUTES} - {*REFUSED, *OF_TEXTS, "JobStartDate"}))
def test_what_is_no_amount_is_kept_by_its_own_name_and_told(name):
    for road, read in ROADS.items():
        job, told = read(BASE | {name: '"x"'})
        kept = ("", "Extension", "x", (("name", name), ("type", "HTCondor")))
        assert kept in _rows(job), road
        assert told, road


# decision 900
@pytest.mark.parametrize("value", ['"x"', '"0x10"', "1e30", '" "', "true", "-1e30"])
def test_processors_that_are_none_are_no_reason_to_refuse_a_record(value):
    ad = {name: text for name, text in BASE.items() if name != "RequestCpus"}
    found = {road: read(ad | {"RequestCpus": value}) for road, read in ROADS.items()}
    rows = {road: _rows(job) for road, (job, _) in found.items()}
    assert all(rows[road] == rows["condor job"] for road in rows)
    kept = [row for row in rows["condor job"] if ("name", "RequestCpus") in row[-1]]
    assert len(kept) == (0 if value == '" "' else 1)
    assert {told for _, told in found.values()} == {bool(kept)}


# decision 900
@pytest.mark.parametrize("value", ['"x"', "-1", "1e30", '"1e30"', "true", '" "', '""'])
@pytest.mark.parametrize("name", ["MemoryProvisioned", "DiskProvisioned", "FooProvisioned"])
def test_what_a_slot_gave_and_is_no_amount_is_kept_by_each_road(name, value):
    found = {road: read(BASE | {name: value}) for road, read in ROADS.items()}
    rows = {road: _rows(job) for road, (job, _) in found.items()}
    assert all(rows[road] == rows["condor job"] for road in rows)
    is_blank = not value.strip('" ')
    assert any(("name", name) in row[-1] for row in rows["condor job"]) is not is_blank
    assert {told for _, told in found.values()} == {not is_blank}


# decision 900
@pytest.mark.parametrize("value", ["0", "1", "1.5", "true"])
def test_a_number_names_no_gpu(value):
    for road, read in ROADS.items():
        job, told = read(BASE | {"AssignedGPUs": value})
        assert ("Delivered", "Resource") not in {row[:2] for row in _rows(job)}, road
        assert told, road
