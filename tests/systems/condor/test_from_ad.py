"""Job ads as job objects: those that a real pool printed, and single attributes."""

import io
from pathlib import Path

import pytest
from records import converted, errors

from sssjob.check.sources import check_source
from sssjob.classads import forms, writing
from sssjob.classads.values import UNDEFINED, Ad
from sssjob.document import dumps
from sssjob.systems.condor import attributes, names
from sssjob.systems.condor.from_ad import to_job
from sssjob.systems.condor.job_ad import to_ad

DATA = Path(__file__).parents[2] / "data" / "condor"

# fmt: off
READ = [
    ({"ClusterId": 7, "ProcId": 2}, "Id", "7.2"),
    ({"ClusterId": 7}, "Id", "7.0"),
    ({"SSSJobId": "PBS.1", "ClusterId": 7}, "Id", "PBS.1"),
    ({"JobDescription": "what it does"}, "Name", "what it does"),
    ({"GlobalJobId": "sub#7.0#99"}, "SubmitHost", "sub"),
    ({"JobStatus": 3, "RemoveReason": "by amy"}, "StatusMessage", "removed: by amy"),
    ({"JobStatus": 3}, "State", "Completed"),
    ({"JobStatus": 5, "HoldReasonCode": 1}, "Hold", "User"),
    ({"JobStatus": 5, "HoldReasonCode": 3}, "Hold", "System"),
    ({"JobStatus": 6}, "State", "Running"),
    ({"JobStartDate": 5, "JobCurrentStartDate": 9}, "StartTime", "9"),
    ({"JobStartDate": 5}, "StartTime", "5"),
    ({"CompletionDate": 0}, "EndTime", ""),
    ({"ExitCode": 3, "ExitBySignal": False}, "ExitCode", "3"),
    ({"ExitSignal": 9, "ExitBySignal": True}, "ExitCode", "137"),
    ({"ExitStatus": 3}, "ExitCode", ""),
    ({"JobStartDate": 5, "RemoteUserCpu": 1.5, "RemoteSysCpu": 1.0}, "CpuDuration", "3"),
    ({"JobStartDate": 5, "RemoteUserCpu": 1.0, "CumulativeRemoteUserCpu": 4.0}, "CpuDuration", "4"),
    ({"Arguments": "a' 'b ''"}, "Arguments", "'a b' ''"),
    ({"Args": "a b"}, "Arguments", "a b"),
    ({"In": "/dev/null"}, "InputFile", ""),
]
# fmt: on


@pytest.mark.parametrize("attributes, element, text", READ)
def test_an_attribute_is_the_property(attributes, element, text):
    assert to_job(Ad(attributes)).job.get(element) == text


@pytest.mark.parametrize("cpu, seconds", [
    ("2.5", "3"), ("3.5", "4"), ("2.4999", "2"), ("0", "0"), ("-1", ""), ("-0.5", ""),
    ("undefined", ""), ('"soon"', ""),
])  # fmt: skip
def test_the_cpu_time_of_an_ad_is_that_of_its_record(cpu, seconds):
    text = (
        "ClusterId = 7\nProcId = 0\nJobStatus = 4\nNumJobStarts = 1\nJobCurrentStartDate = 5\n"
        f"RemoteWallClockTime = 9.0\nRemoteUserCpu = {cpu}\n"
    ).encode()
    [ad] = forms.read(io.BytesIO(text))
    [record] = converted("condor", text)
    assert [to_job(ad).job.get("CpuDuration"), _seconds(record)] == [seconds, seconds]


def _seconds(job):
    told = job.get("CpuDuration")
    return told if told.isdecimal() else ""  # what is odd is kept as it is


@pytest.mark.parametrize("name", ["condor_history.long", "condor_q.long", "job.ad"])
def test_jobs_of_a_real_pool_are_valid_job_objects(name):
    with open(DATA / name, "rb") as stream:
        for ad in forms.read(stream):
            text = dumps(to_job(ad).job)
            assert [
                found for found in check_source(text.encode()) if found.severity == "error"
            ] == []


def test_a_job_that_was_evicted_counts_all_its_starts():
    with open(DATA / "condor_history.long", "rb") as stream:
        [ad] = [ad for ad in forms.read(stream) if ad.text("UserLog") == "/data/vacated.log"]
    job = to_job(ad).job
    assert job.delivered.value("Duration") == round(ad["RemoteWallClockTime"])
    assert job.get("StartCount") == str(ad["NumJobStarts"])


def test_suspension_is_no_part_of_the_duration():
    with open(DATA / "condor_history.long", "rb") as stream:
        [ad] = [ad for ad in forms.read(stream) if ad.text("UserLog") == "/data/suspended.log"]
    job = to_job(ad).job
    assert ad["CumulativeSuspensionTime"] > 0
    suspended = int(job.get("SuspendDuration"))
    assert job.delivered.value("Duration") == round(ad["RemoteWallClockTime"]) - suspended


@pytest.mark.parametrize("word", sorted(names.UNIVERSES))
def test_every_universe_but_the_usual_one_is_told_by_its_name(word):
    assert _universe_told(names.UNIVERSES[word]) == ([] if word == "vanilla" else [word])


@pytest.mark.parametrize("number", sorted({*range(1, 14)} - {*names.UNIVERSES.values()}))
def test_a_universe_of_old_pools_is_told_by_its_number(number):
    assert _universe_told(number) == [str(number)]


def _universe_told(number):
    job = to_job(Ad({"Cmd": "/bin/a", "JobUniverse": number})).job
    return [item.text for item in job.properties.all("Extension")]


# HTCondor 23.9 counts a suspension when it ends. The second and the third one are of real jobs.
@pytest.mark.parametrize(
    "ad, suspended",
    [
        ("JobStatus = 3; CumulativeSuspensionTime = 0", "0"),
        (
            "JobStatus = 3; LastJobStatus = 7; CumulativeSuspensionTime = 0; TotalSuspensions = 1",
            "",
        ),
        (
            "JobStatus = 3; LastJobStatus = 7; CumulativeSuspensionTime = 9; TotalSuspensions = 2",
            "",
        ),
        (
            "JobStatus = 7; LastJobStatus = 2; CumulativeSuspensionTime = 9; TotalSuspensions = 2",
            "",
        ),
        (
            "JobStatus = 2; LastJobStatus = 7; CumulativeSuspensionTime = 9; TotalSuspensions = 1",
            "9",
        ),
        (
            "JobStatus = 4; LastJobStatus = 2; CumulativeSuspensionTime = 9; TotalSuspensions = 1",
            "9",
        ),
        (
            "JobStatus = 4; LastJobStatus = 2; CumulativeSuspensionTime = 0; TotalSuspensions = 0",
            "0",
        ),
    ],
)
def test_where_a_suspension_did_not_end_the_time_of_all_is_not_known(ad, suspended):
    [told] = forms.read(io.BytesIO(f"JobStartDate = 5; {ad}".replace("; ", "\n").encode()))
    assert to_job(told).job.get("SuspendDuration") == suspended


@pytest.mark.parametrize("by_signal, said", [(False, ""), (True, "died on signal 15 (Terminated)")])
def test_why_an_earlier_run_ended_is_not_why_a_job_did(by_signal, said):
    reason = "died on signal 15 (Terminated)"
    told = {"ExitBySignal": by_signal, "ExitSignal": 15, "ExitReason": reason, "ExitCode": 0}
    assert to_job(Ad({"JobStatus": 4, **told})).job.get("StatusMessage") == said


def test_requirements_that_a_request_cannot_say_are_kept():
    text = 'Requirements = TARGET.Arch == "X86_64" && TARGET.KFlops > 5\nRequestMemory = 512\n'
    [ad] = forms.read_text(text)
    found = to_job(ad)
    assert found.job.requested.text("Architecture") == "x86_64"
    assert found.job.requested.get("Memory").bytes == 512 << 20
    kept = found.job.properties.get("Extension", name="Requirements")
    assert kept.text == "TARGET.KFlops > 5"


def test_what_no_request_can_say_goes_back_into_the_ad_and_does_not_grow():
    text = (
        'Cmd = "x"\nRequestCpus = 1\nRequestGPUs = 1\nRank = TARGET.Mips\n'
        'Requirements = TARGET.Arch == "X86_64" && (TARGET.KFlops > 5 || HasX)\n'
    )
    [ad] = forms.read_text(text)
    first = to_ad(to_job(ad).job).ad
    again = to_ad(to_job(first).job).ad
    assert again == first
    assert first["Rank"] == ad["Rank"]
    assert writing.expression(first["Requirements"], writing.NEW) == (
        'TARGET.Cpus >= 1 && TARGET.GPUs >= 1 && TARGET.Arch == "X86_64"'
        " && (TARGET.KFlops > 5 || HasX)"
    )


def test_amounts_are_worked_out_over_the_ad():
    [ad] = forms.read_text("RequestDisk = Files * 2\nFiles = 50\n")
    assert to_job(ad).job.requested.get("Disk").bytes == 100 * 1024


def test_a_process_is_a_task():
    job = to_job(Ad({"JobPid": 4711, "RemoteHost": "slot1_1@n1"})).job
    [group] = job.task_groups
    assert "4711" in dumps(job)
    assert group.items


def test_a_document_that_is_no_job_is_said_and_the_attributes_count():
    found = to_job(Ad({"SSSJobXML": "<Task/>", "ClusterId": 7}))
    assert found.job.id == "7.0"
    assert [each.code for each in found.findings] == ["E-XML"]


class Watched(Ad):
    """An ad that knows which of its attributes were asked for."""

    __slots__ = ("asked",)

    def __init__(self, items, line=0):
        super().__init__(items, line)
        self.asked = set()

    def get(self, name, default=None):
        self.asked.add(name)
        return super().get(name, default)

    def __contains__(self, name):
        self.asked.add(name)
        return super().__contains__(name)


def test_the_tables_of_attributes_say_what_is_read():
    asked = set()
    for more in (
        {}, {"JobStatus": 5, "Out": "a", "Err": "a"}, {"CpusProvisioned": 1, "JobNotification": 1},
        {"RequestGPUs": 1},
    ):  # fmt: skip
        ad = Watched({"JobStartDate": 5, **more})
        to_job(ad, embedded=False)
        asked |= ad.asked
    read = {*attributes.KINDS, "Args", "Arguments", "Env", "EnvDelim", "Environment"}
    # Of the amounts there are more, and what is wished for is only told.
    assert asked - {"RequestGPUs", "GPUsProvisioned", *attributes.WISHES} == read
    left = [name for names in attributes.LEFT.values() for name in names]
    assert len(left) == len(set(left))
    assert not read & set(left)


# decision 714
def test_what_an_ad_asks_for_and_no_job_object_says_is_told():
    ad = Ad({"Cmd": "a", "KillSig": "SIGINT", "JarFiles": "a.jar", "Mine": 1, "TransferInput": "a"})
    [told] = to_job(ad).findings
    assert told.message == "no job object says: JarFiles, KillSig, Mine, TransferInput"
    assert told.code == "W-USELESS"
    usual = {"KillSig": "SIGTERM", "OnExitRemove": True, "PeriodicHold": False, "QDate": 5}
    assert to_job(Ad({"Cmd": "a", **usual})).findings == ()


def test_an_attribute_is_known_in_any_case_of_letters():
    ad = Ad({"cmd": "a", "dag_nodesDONE": 1, "jobsubmitFILE": "a", "REQUESTTapes": 1, "Mine": 1})
    assert attributes.unknown(ad) == ["Mine"]
    assert list(attributes.odd(Ad({"qdate": "soon", "requestTapes": ()}))) == [
        "qdate", "requestTapes",
    ]  # fmt: skip


ENDLESS, NO_NUMBER = 'real("INF")', 'real("NaN")'


AMOUNTS = [name for name, kind in attributes.KINDS.items()
           if kind in (attributes.amount, attributes.asked, attributes.moment)]  # fmt: skip


@pytest.mark.parametrize("name", [*AMOUNTS, "RequestTapes", "TapesProvisioned"])
def test_a_value_that_is_no_amount_is_kept_and_told(name):
    """An endless one ended ``sssjob status`` with a traceback; others were left out."""
    for value in (ENDLESS, f"-{ENDLESS}", NO_NUMBER, "1e300", "-1", "error", '"many"', "true",
                  "{ 1 }", "[ a = 1 ]", "TARGET.Cpus"):  # fmt: skip
        text = f'MyType = "Job"\nSSSJobId = "7"\nJobStartDate = 5\n{name} = {value}\n'
        [ad] = forms.read_text(text)
        found = to_job(ad)
        kept = found.job.properties.get("Extension", type="HTCondor", name=name)
        assert kept.text, value
        [told] = found.findings
        assert name in told.message, value
        assert told.message.endswith("; kept as an Extension"), value
        assert errors(found.job) == []


@pytest.mark.parametrize("name, value", [
    ("Requirements", False), ("Requirements", "yes"), ("Rank", "fast"), ("Cmd", 5),
    ("JobStatus", 9), ("ExitBySignal", 1), ("QDate", 2**40), ("Arguments", "'open"),
    ("Env", "no equals sign"),
])  # fmt: skip
def test_a_value_of_another_kind_is_kept_and_told(name, value):
    found = to_job(Ad({name: value}))
    assert found.job.properties.get("Extension", type="HTCondor", name=name).text
    assert [each.message.endswith("; kept as an Extension") for each in found.findings] == [True]


def test_what_is_undefined_is_nowhere():
    found = to_job(Ad({"ExitCode": UNDEFINED, "Cmd": UNDEFINED}))
    assert (found.job.items, found.findings) == ((), ())


def test_whose_a_job_was_goes_back_into_its_ad():
    whose = {"Owner": "amy", "AcctGroup": "phys", "x509userproxysubject": "/CN=amy"}
    ad = Ad({"ClusterId": 7, "ProcId": 0, "Cmd": "x", **whose, "RequestGPUs": 2})
    again = to_ad(to_job(ad).job).ad
    assert {name: again[name] for name in (*whose, "RequestGPUs")} == {**whose, "RequestGPUs": 2}


def test_processors_below_half_of_one_have_no_rate():
    ad = Ad({"JobStartDate": 5, "CpusProvisioned": 0.4, "CpusUsage": 0.2})
    assert "consumptionRate" not in dumps(to_job(ad).job)
