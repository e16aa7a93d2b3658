"""Each attempt to run a fetched job: what is believed of it, whose job it was, and how it stands
in the document.
"""

import os
import random
import re
import shutil
import time
from collections import Counter
from fractions import Fraction

import pytest
from click.testing import CliRunner
from condor_site import SLOT, Site
from draws import cases, pairwise
from hypothesis import given as drawn
from hypothesis import strategies as st
from waiting import growing

from sssjob import check_source, store
from sssjob.accounting.report import JobProperties, used
from sssjob.accounting.run import run_of
from sssjob.classads import forms, long
from sssjob.classads.values import Ad, Unparsed
from sssjob.cli import sssjob
from sssjob.document import dumps, loads
from sssjob.model import Delivered, TaskGroup
from sssjob.systems.condor import names
from sssjob.systems.condor.hooks import documents, reports
from sssjob.systems.condor.hooks.queue import HELD, READY, STATES, TAKEN, OpenQueue, copied
from sssjob.systems.condor.hooks.reports import STRANGE, reported
from sssjob.systems.condor.hooks.settings import HookSettings
from sssjob.systems.condor.job_ad import to_ad
from sssjob.usage import usages

USER = "<User>amy</User>"


def ran(ad, **told):
    """A report of a job that ran for 10 s."""
    more = {"JobPid": 7, "JobStartDate": int(time.time()), "JobDuration": 10.0,
            "RemoteUserCpu": 4.0, "RemoteSysCpu": 1.0, "ExitCode": 3}  # fmt: skip
    return ad.merged({**more, **told})


# What is believed.

HUGE = 2**63 - 1
LIES = [
    ({"RemoteUserCpu": -5.0}, "no amount", {"CpuDuration": "1"}),
    ({"RemoteUserCpu": Unparsed('real("INF")')}, "no amount", {"CpuDuration": "1"}),
    ({"RemoteUserCpu": Unparsed('real("NaN")')}, "no amount", {"CpuDuration": "1"}),
    ({"RemoteUserCpu": 1e18}, "processors of a machine", {"CpuDuration": "1"}),
    ({"JobDuration": -3.0}, "no amount", {"CpuDuration": "5"}),
    ({"JobDuration": 1e9}, "longer than since it was given", {"CpuDuration": "5"}),
    ({"JobDuration": Unparsed('real("INF")')}, "no amount", {"CpuDuration": "5"}),
    ({"JobStartDate": HUGE}, "after its report was left", {"StartCount": "1"}),
    ({"JobStartDate": 4_000_000_000}, "after its report was left", {"StartCount": "1"}),
    ({"JobStartDate": 99}, "before it was given to a slot", {"StartCount": "1"}),
    ({"ExitSignal": -9, "ExitBySignal": True, "ExitCode": 3}, "no signal", {}),
    ({"ExitCode": 10**12}, "no exit code", {}),
    ({"ResidentSetSize": Unparsed('real("-INF")')}, "no amount", {"ExitCode": "3"}),
    ({"BlockReadKbytes": -1}, "no amount", {"ExitCode": "3"}),
    ({"CpusProvisioned": 1_000_000}, "the slot gave 4", {"ExitCode": "3"}),
    ({"TapesProvisioned": 9}, "nothing of the kind", {"ExitCode": "3"}),
    ({"RemoteHost": "slot1@elsewhere"}, "the slot gave 'slot1@n1'", {"ExitCode": "3"}),
    ({"AssignedGPUs": "GPU-a, GPU-b"}, "names 2 GPUs", {"ExitCode": "3"}),
    ({"remoteusercpu": -5.0}, "no amount", {"CpuDuration": "1"}),
    ({"tapesprovisioned": 9}, "nothing of the kind", {"ExitCode": "3"}),
    ({"REMOTEHOST": "slot1@elsewhere"}, "the slot gave 'slot1@n1'", {"ExitCode": "3"}),
    ({"jobduration": 1e9}, "longer than since it was given", {"CpuDuration": "5"}),
    ({"RemoteUserCpu": Unparsed("1e1")}, "", {"CpuDuration": "11"}),
    # What has to be worked out is no number of a starter, however few steps it takes.
    ({"RemoteUserCpu": Unparsed("RemoteSysCpu * 9")}, "", {"CpuDuration": "1"}),
    ({"ExitReason": "bell \a, \x1b, none \ufffe"}, "", {"StatusMessage": "bell , , none"}),
]  # fmt: skip


@pytest.mark.parametrize(
    "lie, said, holds", LIES, ids=[re.sub(r"\W+", "-", str(e[0])) for e in LIES]
)
def test_what_cannot_be_true_of_a_report_is_left_out_and_told_and_the_rest_counts(
    site, lie, said, holds
):
    site.add("a.xml", USER)
    before = int(time.time())
    [ad] = site.fetch()
    site.call("job-exit", ran(ad, **lie), "exit", fold="never")
    count, told = site.fold()
    assert count == 1
    assert [said in each for each in told] == [True] * bool(said)
    job = site.job("a.xml")
    assert job.get("State") == "Completed"
    assert {name: job.get(name).strip() for name in holds} == holds
    assert before - 400 < int(job.get("StartTime")) <= time.time() + 300
    assert 0 <= job.delivered.value("Duration") <= 310
    assert job.delivered.text("Processors") == "4"
    assert job.delivered.text("Node") == "n1"
    assert not job.delivered.all("Resource")
    assert site.fetch() == []


# Whose job it was.

OTHERS = {
    "is another job": "<Job><Id>zzz</Id>{}<Executable>/bin/true</Executable></Job>",
    "runs something else": "<Job><Id>7</Id>{}<Executable>/bin/false</Executable></Job>",
    "is one of another user":
        "<Job><Id>7</Id><User>bob</User><Executable>/bin/true</Executable></Job>",
    "is gone": "",
}  # fmt: skip


@pytest.mark.parametrize("how", OTHERS)
@pytest.mark.parametrize("updated", [False, True])
def test_a_job_in_the_place_of_one_that_runs_gets_nothing_of_it_and_runs_itself(site, how, updated):
    path = site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("reply-fetch", ad, "accept")
    if updated:
        site.call("update-job-info", ran(ad))
    text = OTHERS[how].format(USER)
    path.write_text(text) if text else path.unlink()
    early = site.fetch()  # one of the same Id waits until the slot has done with the other
    assert len(early) == (how == "is another job")
    site.call("update-job-info", ran(ad))
    site.call("job-exit", ran(ad), "exit", fold="never")
    count, told = site.fold()
    assert count == 0
    assert all("its job is no longer in a.xml" in each for each in told)
    assert not text or path.read_text() == text
    ads = early + site.fetch()
    assert len(ads) == bool(text)
    assert site.fetch() == []
    for again in ads:
        site.call("job-exit", ran(again, RemoteUserCpu=2.0), "exit")
        assert site.job("a.xml").get("CpuDuration") == "3"
    assert len(site.jobs(*STATES)) == 1  # of one that is gone its report waits
    site.missed_long_ago()
    site.fold()
    assert site.fetch() == []
    assert len(site.jobs(*STATES)) == bool(text)
    assert not list((site.state / "spool").iterdir())


# decision 660
@pairwise(
    heard=["offered", "accepted", "updated"],
    instead=["", "8", "7"],
    back=["a.xml", "b.xml"],
    asked=[False, True],
)
def test_a_job_that_ended_while_its_document_was_elsewhere_is_over(
    site, heard, instead, back, asked
):
    """It was edited, synchronised, or another one stood in its place for a while."""
    path = site.add("a.xml", USER)
    [ad] = site.fetch()
    if heard != "offered":
        site.call("reply-fetch", ad, "accept")
    if heard == "updated":
        site.call("update-job-info", ran(ad))
    elsewhere = site.path.parent / "elsewhere"
    path.rename(elsewhere)
    if instead:
        path.write_text(OTHERS["runs something else"].format(USER).replace(">7<", f">{instead}<"))
    if heard == "offered":
        site.call("reply-fetch", ad, "accept")
    site.call("job-exit", ran(ad), "exit")
    assert "it waits" in site.said
    assert site.fold() == (0, [])  # said once
    others = site.fetch() if asked else []
    assert len(others) == (asked and bool(instead))
    if instead and back == "a.xml":
        path.unlink()
    elsewhere.rename(site.path / back)
    if asked:
        site.unheard()
    assert "/bin/true" not in [each["Cmd"] for each in site.fetch()]
    site.fold()
    job = site.job(back)
    told = [job.get(name) for name in ("State", "ExitCode", "StartCount", "CpuDuration")]
    assert told == ["Completed", "3", "1", "5"]
    site.unheard()
    assert "/bin/true" not in [each["Cmd"] for each in site.fetch()]
    assert not [each for each in site.jobs(*TAKEN) if each.document == back]


def test_one_report_of_an_attempt_waits_for_its_document_and_nobody_elses(site):
    path = site.add("a.xml", USER)
    [ad] = site.fetch()
    path.unlink()
    for each in (ad, ad, ad.merged({"SSSKey": "5.6"})):
        site.call("job-exit", ran(each), "exit", fold="never")
    for _ in range(2):
        site.fold()
        assert len(list((site.state / "spool").iterdir())) == 1


@pairwise(
    program=["/bin/true", "/bin/false"],
    id_=["<Id>7</Id>", ""],
    late=["exit", "evict", "update"],
    is_out=[False, True],
)
def test_a_late_report_of_a_job_that_is_done_is_none_of_the_next_of_its_name(
    site, program, id_, late, is_out
):
    """People have one file, and put the next job into it, often the same one."""
    text = f"<Job>{id_}{USER}<Executable>{{}}</Executable></Job>"
    path = site.path / "job.xml"
    path.write_text(text.format("/bin/true"))
    [ad] = site.fetch()
    site.call("job-exit", ran(ad), "exit")
    path.write_text(text.format(program))
    others = site.fetch() if is_out else []
    if late == "update":
        site.call("update-job-info", ran(ad), fold="never")
    else:
        site.call("job-exit", ran(ad, RemoteUserCpu=50.0), late, fold="never")
    count, [said] = site.fold()
    assert (count, "its job is no longer in job.xml" in said) == (0, True)
    assert path.read_text() == text.format(program)
    [other] = others or site.fetch()
    site.call("job-exit", ran(other, RemoteUserCpu=2.0), "exit")
    job = site.job("job.xml")
    told = [job.get(name) for name in ("State", "StartCount", "CpuDuration")]
    assert told == ["Completed", "1", "3"]
    assert site.fetch() == []


def test_a_queue_that_is_made_anew_gives_no_ticket_that_a_lost_one_gave(site):
    """A job of the lost one may still run, and be told of; the other job is not that one."""
    site.add("a.xml", USER)
    [lost] = site.fetch()
    shutil.rmtree(site.state)
    (site.path / "a.xml").unlink()
    site.add("b.xml", USER)
    [ad] = site.fetch()
    assert ad["SSSKey"] != lost["SSSKey"]
    site.call("job-exit", ran(lost), "exit", fold="never")
    assert site.fold()[0] == 0
    assert site.job("b.xml").get("State") == ""


def test_what_has_the_end_of_an_attempt_that_never_began_is_no_start(site):
    site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("job-exit", ad.merged({"ExitCode": 0, "ExitBySignal": False}), "exit")
    job = site.job("a.xml")
    assert not job.delivered
    assert not {"StartCount", "StartTime", "ExitCode"} & job.properties.names()
    assert len(site.fetch()) == 1


# How it stands in the document.


def test_an_attempt_is_one_start_whatever_its_reports_say_of_when_it_began(site):
    site.add("a.xml", USER)
    [ad] = site.fetch()
    now = int(time.time())
    site.call("update-job-info", ran(ad, JobStartDate=now, RemoteUserCpu=2.0))
    site.call("job-exit", ran(ad, JobStartDate=now + 1), "exit", fold="never")
    site.call("update-job-info", ran(ad, JobStartDate=now + 2), fold="never")
    assert site.fold() == (2, [])
    job = site.job("a.xml")
    told = [job.get(name) for name in ("StartCount", "CpuDuration", "StartTime")]
    assert told == ["1", "5", str(now)]
    assert job.delivered.text("Duration") == "10"
    assert not job.task_groups


def twice(site):
    """A job that was evicted after one start, and has ended after another."""
    site.add("a.xml", f"{USER}<Requested><Processors>2</Processors></Requested>")
    now = int(time.time())
    [first] = site.fetch()
    site.call("job-exit", ran(first, JobStartDate=now, ResidentSetSize=500), "evict")
    [second] = site.fetch()
    told = ran(second, JobStartDate=now + 20, JobDuration=7.0, ResidentSetSize=100)
    site.call("job-exit", told, "exit")
    return first, second, now


def test_each_attempt_has_a_delivered_of_its_own_and_the_job_the_sums(site):
    first, second, now = twice(site)
    job = site.job("a.xml")
    assert [job.get(name) for name in ("StartCount", "StartTime", "CpuDuration")] == [
        "2", str(now), "10",
    ]  # fmt: skip
    assert job.delivered.text("Duration") == "17"
    assert len(job.blocks(Delivered)) == 1
    found = [
        (each.id, each.get("Name"), each.get("StartTime"), each.get("State"), each.get("ExitCode"),
         each.get("CpuDuration"), each.delivered.text("Duration"), each.delivered.text("Memory"),
         each.delivered.text("Processors"))
        for each in job.task_groups
    ]  # fmt: skip
    assert found == [
        (first["SSSKey"], "start 1", str(now), "Completed", "", "5", "10", "500", "4"),
        (second["SSSKey"], "start 2", str(now + 20), "Completed", "3", "5", "7", "100", "4"),
    ]
    assert job.task_groups[0].get("StatusMessage").startswith("evicted")
    assert all(len(each.blocks(Delivered)) == 1 for each in job.task_groups)
    assert [each.code for each in check_source(dumps(job).encode())] == []


@pytest.mark.parametrize("late", ["", "evict", "update"])
def test_a_start_of_which_no_end_was_heard_runs_no_more_once_there_is_another(site, late):
    site.add("a.xml", USER)
    now = int(time.time())
    [first] = site.fetch()
    site.call("reply-fetch", first, "accept")
    site.call("update-job-info", ran(first, JobStartDate=now))
    site.unheard()
    [second] = site.fetch()
    site.call("update-job-info", ran(second, JobStartDate=now + 20))
    assert _starts(site) == [("Aborted", "nothing was heard of its end"), ("Running", "")]
    if late == "evict":
        site.call("job-exit", ran(first, JobStartDate=now), late)
    elif late:
        site.call("update-job-info", ran(first, JobStartDate=now, JobDuration=12.0))
    site.call("job-exit", ran(second, JobStartDate=now + 20), "exit")
    told, last = _starts(site)
    assert told == (
        ("Completed", "evicted") if late == "evict" else
        ("Aborted", "nothing was heard of its end")
    )  # fmt: skip
    assert last == ("Completed", "")


def _starts(site):
    return [
        (group.get("State"), group.get("StatusMessage")) for group in site.job("a.xml").task_groups
    ]


def test_the_part_of_processors_that_was_used_is_that_of_the_last_report(site):
    site.add("a.xml", USER)
    [ad] = site.fetch()
    for used_, kind in ((0.2, "update"), (1.0, "update"), (3.0, "exit"), (0.4, "late update")):
        told = ran(ad, CpusUsage=used_)
        words = ("job-exit", told, "exit") if kind == "exit" else ("update-job-info", told)
        site.call(*words)
        rate = site.job("a.xml").delivered.get("Processors").attributes["consumptionRate"]
        assert float(rate) == (used_ if kind != "late update" else 3.0) / 4


@pytest.mark.parametrize("sizes", [(4, 2), (8, 1, 3), (4, 4), (1, 64), (2, 3)])
def test_starts_on_slots_of_different_sizes_are_added_up_each_with_its_own(site, sizes):
    site.add("a.xml", f"{USER}<Requested><Resource name='GPU'>1</Resource></Requested>")
    for number, cpus in enumerate(sizes, 1):
        devices = ",".join(f"GPU-{each}" for each in range(cpus))
        [ad] = site.fetch(SLOT.merged({"Cpus": cpus, "GPUs": cpus, "AssignedGPUs": devices}))
        end = "exit" if number == len(sizes) else "evict"
        site.call("update-job-info", ran(ad, JobDuration=2.0))
        site.call("job-exit", ran(ad, JobDuration=5.0, CpusUsage=cpus / number), end)
    job = site.job("a.xml")
    assert [int(each.delivered.text("Processors")) for each in job.task_groups] == [*sizes]
    wanted = sum(5 * cpus for cpus in sizes)
    told = used(JobProperties(job))
    assert told.wall == 5 * len(sizes)
    given = job.delivered.all("Processors")
    assert told.slots == wanted
    assert told.gpus == pytest.approx(wanted)
    of_processors = [each for each in usages(job) if each.item.name == "Processors"]
    assert sum(each.held for each in of_processors) == wanted
    [stated] = {each.attributes["consumptionRate"] for each in given}
    assert sum(each.total for each in of_processors) == wanted * Fraction(stated)
    rates = [1 / number for number in range(1, len(sizes) + 1)]
    rate = sum(5 * cpus * each for cpus, each in zip(sizes, rates, strict=True)) / wanted
    if len({*sizes}) > 1:
        assert float(stated) == pytest.approx(rate, rel=1e-3)
    assert [*check_source(dumps(job).encode())] == []


# decision 710
FIVE = [(4, 33), (1, 7), (8, 101), (2, 0), (3, 59)]  # processors, and seconds


@pytest.mark.parametrize("runs", [FIVE, [(1, 100), (2, 100)], [(3, 7), (5, 4)], [(2, 5), (2, 5)]])
def test_each_processor_second_of_unequal_starts_is_billed_once(site, runs):
    site.add("a.xml", USER)
    for number, (cpus, seconds) in enumerate(runs, 1):
        [ad] = site.fetch(SLOT.merged({"Cpus": cpus}))
        end = "exit" if number == len(runs) else "evict"
        site.call("job-exit", ran(ad, JobDuration=float(seconds)), end)
    job = site.job("a.xml")
    wanted = sum(cpus * seconds for cpus, seconds in runs)
    assert used(JobProperties(job)).slots == wanted
    assert sum(each.total for each in usages(job) if each.item.name == "Processors") == wanted


# decision 669
@pytest.mark.parametrize("submitted", ["", "<SubmitTime>1700000000</SubmitTime>"])
def test_a_job_that_starts_again_stays_one_run(site, submitted):
    """A site reads its documents each night: the sums are those of one run, which grows."""
    site.add("a.xml", f"{USER}{submitted}")
    runs = []
    for end in ("evict", "hold", "exit"):
        [ad] = site.fetch()
        site.call("job-exit", ran(ad, JobStartDate=int(time.time()) + 9 * len(runs)), end)
        runs.append(run_of(site.job("a.xml")))
        if end == "hold":
            path = site.path / "a.xml"
            text = path.read_text().replace("<Hold>System</Hold>", "")
            path.write_text(text.replace("<State>Hold<", "<State>Idle<", 1))
    keys = {(run.machine, run.id, run.submit, run.start) for run in runs}
    assert len(keys) == 1
    assert [run.wall for run in runs] == [10, 20, 30]


def test_starts_of_a_job_are_no_hosts_and_count_once_in_a_report(site):
    twice(site)
    job = site.job("a.xml")
    ad = to_ad(job).ad
    assert (ad["JobUniverse"], "MinHosts" in ad, ad["RequestCpus"]) == (5, False, 2)
    told = used(JobProperties(job))
    assert (told.wall, told.processors) == (17, 4)


def test_a_job_that_runs_again_asks_for_nothing_that_an_earlier_start_left(site):
    site.add("a.xml", f"{USER}<TaskGroup><TaskCount>2</TaskCount></TaskGroup>")
    ads = []
    for number in range(3):
        [ad] = site.fetch()
        ads.append({k: v for k, v in ad.items() if k not in ("SSSKey", "SSSFetched")})
        told = ran(ad, JobStartDate=int(time.time()) + number)
        site.call("job-exit", told, "exit" if number == 2 else "evict")
    assert ads[0] == ads[1] == ads[2]
    groups = [each.get("Name") for each in site.job("a.xml").task_groups]
    assert groups == ["", "start 1", "start 2", "start 3"]


JOB = loads("<Job><Id>7</Id></Job>")
ROWS = st.lists(
    st.tuples(
        st.integers(1, 3), st.sampled_from(["update", "exit-exit", "exit-evict"]),
        st.integers(0, 5), st.integers(0, 50), st.integers(1, 500),
    ),
    # An attempt ends once.
    min_size=2, max_size=6, unique_by=lambda row: row if row[1] == "update" else row[0],
)  # fmt: skip


def folded(rows):
    job = JOB
    for attempt, kind, at, seconds, memory in rows:
        began = 1000 * attempt + at
        told = {"JobStartDate": began, "JobDuration": seconds, "RemoteUserCpu": seconds}
        ad = Ad({"SSSKey": f"17.{attempt}", "JobPid": 7, "ResidentSetSize": memory, **told})
        job = reported(job, ad, kind, began + seconds)
    return job


def told_of(job):
    """What does not depend on the order in which reports came."""
    sums = [
        job.get("StartCount"), job.get("CpuDuration"),
        job.properties.get("Extension", name="Starts").text,
        job.delivered.text("Duration"), job.delivered.get("Memory", metric="Max").text,
    ]  # fmt: skip
    each = [
        (group.id, group.get("Name"), group.get("CpuDuration"), group.get("StartTime"),
         group.delivered.text("Duration"), group.delivered.get("Memory", metric="Max").text)
        for group in job.task_groups
    ]  # fmt: skip
    return sums, each


@drawn(ROWS, st.randoms(use_true_random=False))
def test_reports_of_attempts_come_in_any_order_and_twice(rows, random):
    other = [*rows, *rows]
    random.shuffle(other)
    job, again = folded(rows), folded(other)
    assert told_of(job) == told_of(again)
    # decision 712: whatever comes later, a run of a ledger stays one.
    for found, first in ((job, rows[0]), (again, other[0])):
        assert found.get("StartTime") == str(1000 * first[0] + first[2])
    starts = {row[0] for row in rows}
    assert job.get("StartCount") == str(len(starts))
    groups = job.blocks(TaskGroup)
    assert len(groups) == (len(starts) if len(starts) > 1 else 0)
    for name in ("CpuDuration",):
        if groups:
            assert sum(int(each.get(name)) for each in groups) == int(job.get(name))
    if groups:
        total = sum(each.delivered.value("Duration") for each in groups)
        assert total == job.delivered.value("Duration")


# decision 599
@pytest.mark.parametrize("end", ["an exit report", "silence", "give-back", "nothing"])
def test_a_job_that_runs_is_known_though_the_queue_was_lost(site, end):
    path = site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("update-job-info", ran(ad))
    shutil.rmtree(site.state)
    if end == "an exit report":  # before anybody has looked at the documents
        site.call("job-exit", ran(ad), "exit", fold="never")
        assert site.fold() == (1, [])
        assert site.job("a.xml").get("State") == "Completed"
        assert site.job("a.xml").get("StartCount") == "1"
        assert site.fetch() == []
        return
    path.rename(site.path / "b.xml")
    site.add("a.xml", USER, id_="8")
    [other] = site.fetch()
    assert other["SSSJobId"] == "8"
    assert [job.label for job in site.jobs("running")] == ["b.xml"]
    if end == "nothing":
        assert site.fetch() == []
    elif end == "silence":
        site.call("reply-fetch", other, "accept")
        site.call("update-job-info", ran(other))
        site.unheard()
        assert "7" in fetched_all(site)
    else:
        with OpenQueue(HookSettings(str(site.path))) as queue:
            [job] = queue.jobs("running")
            assert queue.give_back(job.key, job.attempt, TAKEN, time.time())
        assert set(fetched_all(site)) == {"7"}


@pytest.mark.parametrize("ticket", ["{}.1", "9.1", "999999999999999999.1"])
def test_a_document_of_a_user_does_not_say_what_the_queue_gave_away(site, ticket):
    """Nor does one in our name of what was not given away yet."""
    site.add("a.xml", USER)
    [ad] = site.fetch()
    starts = ticket.format(ad["SSSKey"].partition(".")[0])
    mark = f"<Extension type='HTCondor' name='Starts'>{starts}/5:1:1</Extension>"
    site.add("b.xml", f"{USER}<State>Running</State>{mark}", id_="8")
    assert site.fetch() == []
    assert [job.label for job in site.jobs("waiting")] == ["b.xml"]
    ours = f"{mark}<Extension type='HTCondor' name='DocumentUid'>0</Extension>"
    site.add("c.xml", f"{USER}<State>Running</State>{ours}", id_="9")
    site.fetch()
    running = [job.label for job in site.jobs("running")]
    assert running == (["c.xml"] if starts == "9.1" else [])


# decision 554
@pytest.mark.parametrize("loss", ["all", "queue.db", "an older one", "one of before the job"])
@pytest.mark.parametrize("updated", [False, True])
@pytest.mark.parametrize("looks", [False, True])
def test_what_was_taken_is_not_given_again_though_the_queue_was_lost(site, loss, updated, looks):
    file = site.state / "queue.db"
    if loss == "one of before the job":
        site.add("b.xml", USER, id_="8")
        [first] = site.fetch()
        site.call("reply-fetch", first, "accept")
        kept = file.read_bytes()
    site.add("a.xml", USER)
    if loss == "an older one":
        [early] = site.fetch()
        site.call("job-exit", ran(early), "evict")
        kept = file.read_bytes()
    [ad] = site.fetch()
    site.call("reply-fetch", ad, "accept")
    if updated:
        site.call("update-job-info", ran(ad))
    shutil.rmtree(site.state) if loss == "all" else file.unlink()
    if loss not in ("all", "queue.db"):
        file.write_bytes(kept)
        file.chmod(0o600)
    site.add("c.xml", USER, id_="9")
    others = site.fetch() if looks else []
    assert [other["SSSJobId"] for other in others] == ["9"] * looks
    assert len({other["SSSKey"] for other in (*others, ad)}) == 1 + looks
    site.call("job-exit", ran(ad), "exit", fold="never")
    assert site.fold() == (1, [])
    job = site.job("a.xml")
    told = [job.get(name) for name in ("State", "StartCount", "CpuDuration")]
    assert told == (["Completed", "2", "10"] if loss == "an older one" else ["Completed", "1", "5"])
    assert "Attempt" not in dumps(job)
    assert site.job("c.xml").get("State") == ""
    assert [other["SSSJobId"] for other in site.fetch()] == ["9"] * (not looks)


# decision 667
@pytest.mark.parametrize("loss", ["queue.db", "an older one", "one of before the job"])
@pytest.mark.parametrize("looks", [False, True])
@pytest.mark.parametrize("answer", ["accept", "reject", ""])
def test_what_was_only_offered_is_not_offered_again_though_the_queue_was_lost(
    site, loss, looks, answer
):
    """The startd may take it yet; when it does not, the job comes back like any other."""
    site.add("b.xml", USER, id_="8")
    [first] = site.fetch()
    site.call("job-exit", ran(first), "exit")
    file = site.state / "queue.db"
    kept = file.read_bytes()
    site.add("a.xml", USER)
    if loss == "an older one":
        [early] = site.fetch()
        site.call("reply-fetch", early, "reject")
        kept = file.read_bytes()
    [ad] = site.fetch()
    file.unlink()
    if loss != "queue.db":
        file.write_bytes(kept)
        file.chmod(0o600)
    if looks:
        assert site.fetch() == site.fetch() == []
    if answer:
        site.call("reply-fetch", ad, answer)
    assert ("Attempt" in (site.path / "a.xml").read_text()) == (answer == "accept")
    if answer == "accept":
        assert site.fetch() == []
        site.call("job-exit", ran(ad), "exit")
        assert site.job("a.xml").get("State") == "Completed"
    if not answer:
        assert site.fetch() == []
        site.unheard()
    again = site.fetch()
    assert [each["SSSJobId"] for each in again] == ["7"] * (answer != "accept")
    for each in again:
        site.call("reply-fetch", each, "accept")
    assert not list((site.state / "offers").iterdir())


@pytest.mark.parametrize("end", ["exit", "evict", "unstarted", "evict-claim", "hold by its user"])
def test_which_attempt_was_taken_stands_in_a_document_until_something_is_heard(site, end):
    path = site.add("a.xml", USER)
    [ad] = site.fetch()
    assert "Attempt" not in path.read_text()
    site.call("reply-fetch", ad, "accept", fold="after")
    assert f'"Attempt">{ad["SSSKey"]}<' in path.read_text()
    if end == "evict-claim":  # without a word of what became of it
        site.call("evict-claim", ad)
        [other] = site.fetch()
        site.call("reply-fetch", other, "accept")
        assert path.read_text().count("Attempt") == 1
        return
    if end == "hold by its user":
        path.write_text(path.read_text().replace("<Executable>", "<State>Hold</State><Executable>"))
        shutil.rmtree(site.state)
        assert site.fetch() == []
        assert len(site.jobs("running")) == 1
        site.unheard()
        assert site.fetch() == []
        assert [job.reason for job in site.jobs("waiting")] == ["its State is Hold"]
        return
    site.call("job-exit", ad if end == "unstarted" else ran(ad), end.replace("unstarted", "evict"))
    assert "Attempt" not in path.read_text()


@pytest.mark.parametrize("instead", [False, True])
def test_a_job_that_is_moved_before_a_startd_takes_it_is_noted_where_it_stands(site, instead):
    path = site.add("a.xml", USER)
    [ad] = site.fetch()
    path.rename(site.path / "b.xml")
    if instead:
        site.add("a.xml", USER, id_="8")
    site.call("reply-fetch", ad, "accept")
    assert [each["SSSJobId"] for each in site.fetch()] == ["8"] * instead
    site.fold()
    assert "Attempt" in (site.path / "b.xml").read_text()
    shutil.rmtree(site.state)
    assert "7" not in [each["SSSJobId"] for each in site.fetch()]


# decision 598
@pytest.mark.parametrize("first", ["exit", "remove", "hold", "evict"])
@pytest.mark.parametrize("second", ["exit", "remove", "hold", "evict"])
def test_an_attempt_that_is_over_stays_over(site, first, second):
    path = site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("job-exit", ran(ad), first)
    before, states = path.read_text(), [job.state for job in site.jobs(*STATES)]
    again = ran(ad, JobDuration=100.0, RemoteUserCpu=90.0, ExitCode=5)
    site.call("job-exit", again, second, fold="never")
    assert site.fold() == (1, [])
    assert path.read_text() == before
    assert [job.state for job in site.jobs(*STATES)] == states
    ads = site.fetch()
    assert len(ads) == (first == "evict")
    for new in ads:
        site.call("job-exit", again, second)  # late
        assert [job.state for job in site.jobs(*STATES)] == ["offered"]
        site.call("job-exit", ran(new), "exit")
        assert site.job("a.xml").get("StartCount") == "2"
        assert site.job("a.xml").get("CpuDuration") == "10"


# A hold.


def poisoned(site):
    """A job that is held, and whose document says so."""
    path = site.add("a.xml", f"{USER}<Requested><Processors>2</Processors></Requested>")
    for _ in range(2):
        [ad] = site.fetch(attempts=2)
        site.call("job-exit", ad, "evict", attempts=2)
    assert site.fetch(attempts=2) == []
    assert "<Hold>System</Hold>" in path.read_text()
    [held] = site.jobs(HELD)
    assert held.reason.startswith("held after 2 attempts")
    return path


def give_back(site, path):
    from sssjob.systems.condor.hooks.reports import free
    from sssjob.systems.condor.hooks.settings import HookSettings

    settings = HookSettings(str(site.path))
    with OpenQueue(settings) as queue:
        [held] = queue.jobs(HELD)
        free(settings, queue, held, say=pytest.fail)
    assert "Hold" not in path.read_text()


def state_is_idle(site, path):
    path.write_text(path.read_text().replace("<State>Hold</State>", "<State>Idle</State>"))


def state_is_taken_out(site, path):
    path.write_text(re.sub("<(State|Hold|StatusMessage)>[^<]*</[^>]*>", "", path.read_text()))


def hold_is_taken_out(site, path):
    state_is_idle(site, path)
    path.write_text(path.read_text().replace("<Hold>System</Hold>", ""))


def only_hold_is_taken_out(site, path):
    path.write_text(path.read_text().replace("<Hold>System</Hold>", ""))


def another_program(site, path):
    path.write_text(path.read_text().replace("/bin/true", "/bin/false"))


def another_request(site, path):
    path.write_text(path.read_text().replace(">2<", ">1<"))


RELEASES = [
    give_back, state_is_idle, state_is_taken_out, hold_is_taken_out, only_hold_is_taken_out,
    another_program, another_request,
]  # fmt: skip


@pytest.mark.parametrize("release", RELEASES)
def test_whoever_sets_a_job_free_that_we_held_has_it_run_with_all_its_attempts(site, release):
    path = poisoned(site)
    release(site, path)
    site.fold()  # which does not hold it again
    [ad] = site.fetch(attempts=2)
    site.call("job-exit", ad, "evict", attempts=2)
    [ad] = site.fetch(attempts=2)
    site.call("job-exit", ran(ad), "exit")
    job = site.job("a.xml")
    assert (job.get("State"), job.get("Hold"), job.get("StatusMessage")) == ("Completed", "", "")


@pytest.mark.parametrize("change", [
    ("</Job>", "<!-- why? --></Job>"), ("<Hold>System", "<Hold>User"), (USER, USER),
])  # fmt: skip
def test_a_job_that_we_held_stays_so_whatever_else_changes(site, change):
    path = poisoned(site)
    path.write_text(path.read_text().replace(*change, 1))
    assert site.fetch(attempts=2) == []
    site.fold()
    assert site.fetch(attempts=2) == []


@pytest.mark.parametrize("content", [b"", b"this is no database" * 300, None])
def test_a_damaged_queue_says_what_to_do_and_that_helps(site, content):
    file = site.state / "queue.db"
    site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("reply-fetch", ad, "accept")
    if content is None:
        whole = file.read_bytes()
        content = whole[:4096] + b"\xff" * (len(whole) - 4096)
    if content:
        file.write_bytes(content)
        assert site.fetch() == []
        assert "put it away, and a new one is made of the documents" in site.said
        with pytest.raises(OSError, match="put it away"):
            site.jobs("accepted")
        file.unlink()
    else:
        file.write_bytes(b"")
    site.add("b.xml", USER, id_="8")
    [other] = site.fetch()
    assert (other["SSSJobId"], site.fetch()) == ("8", [])
    site.call("job-exit", ran(ad), "exit")
    assert site.job("a.xml").get("State") == "Completed"


def test_a_hold_outlives_the_queue_and_can_be_given_up_then_too(site):
    path = poisoned(site)
    shutil.rmtree(site.state)
    assert site.fetch(attempts=2) == []
    [held] = site.jobs(HELD)
    assert held.reason.startswith("held after 2 attempts")
    another_program(site, path)
    assert len(site.fetch(attempts=2)) == 1


@pytest.mark.parametrize(
    "inner, reason",
    [
        ("<Dependency/>", "its Dependency names no job"),
        ("<Dependency> </Dependency>", "its Dependency names no job"),
        ('<Dependency condition="OnFailure"/>', "its Dependency names no job"),
        ("<Hold>User</Hold>", "its Hold is 'User'"),
        ("<State>Idle</State><Hold>System</Hold>", "its Hold is 'System'"),
    ],
)
def test_a_job_that_waits_for_nobody_says_so(site, inner, reason):
    site.add("a.xml", USER + inner)
    assert site.fetch() == []
    [job] = site.jobs("waiting")
    assert job.reason == reason
    assert site.jobs(READY) == []


# Documents that change while their jobs run.


def group(*ids):
    jobs = (f"<Job><Id>{id_}</Id>{USER}<Executable>/bin/true</Executable></Job>" for id_ in ids)
    return f"<JobGroup><Id>g</Id>{''.join(jobs)}</JobGroup>"


def fetched_all(site):
    found = []
    while ads := site.fetch():
        found += ads
    return {ad["SSSJobId"]: ad for ad in found}


@pytest.mark.parametrize("looks", [True, False], ids=["and a slot asks", "and nobody looks"])
@pytest.mark.parametrize(
    "after", [("new", "A", "B"), ("B", "A"), ("B",), ("B", "new", "A", "A2"), ("A", "B", "new")]
)
def test_a_job_that_runs_is_known_wherever_it_stands_in_its_group_by_then(site, after, looks):
    path = site.path / "g.xml"
    path.write_text(group("A", "B"))
    ads = fetched_all(site)
    assert set(ads) == {"A", "B"}
    path.write_text(group(*after))
    new = fetched_all(site) if looks else {}
    assert set(new) == (set(after) - {"A", "B"} if looks else set())
    for name, ad in ads.items():
        used = {"A": 1.0, "B": 2.0}[name]
        told = ran(ad, RemoteUserCpu=used, RemoteSysCpu=0.0)
        site.call("job-exit", told, "exit", fold="never")
    count, told = site.fold()
    assert count == len({"A", "B"} & set(after))
    assert len(told) == 2 - count
    [block] = [site.job("g.xml")]
    found = {job.id: job.get("CpuDuration") for job in block.jobs}
    assert found == {name: {"A": "1", "B": "2"}.get(name, "") for name in after}
    assert set(fetched_all(site)) == set(after) - {"A", "B"} - set(new)


@pytest.mark.parametrize("looks", [True, False], ids=["and a slot asks", "and nobody looks"])
def test_a_job_that_runs_is_known_when_its_document_has_another_name(site, looks):
    path = site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("update-job-info", ran(ad, RemoteUserCpu=1.0))
    path.rename(site.path / "z.xml")
    if looks:
        assert site.fetch() == []
        assert [job.label for job in site.jobs("running")] == ["z.xml"]
    site.call("job-exit", ran(ad), "exit", fold="never")
    assert site.fold() == (1, [])
    assert site.job("z.xml").get("CpuDuration") == "5"
    assert site.fetch() == []
    assert len(site.jobs(*STATES)) == 1


def one(id_, program="true", user=USER):
    return f"<Job><Id>{id_}</Id>{user}<Executable>/bin/{program}</Executable></Job>"


# What stands in a directory before and after its jobs run: programs by the names of documents.
MOVES = {
    "a new job takes the name": ({"a": ["A"]}, {"b": ["A"], "a": ["new"]}),
    "a new job of that Id takes the name": ({"a": ["A"]}, {"b": ["A"], "a": ["A=false"]}),
    "two names are exchanged": ({"a": ["A"], "b": ["B"]}, {"a": ["B"], "b": ["A"]}),
    "three names go round": (
        {"a": ["A"], "b": ["B"], "c": ["C"]}, {"a": ["C"], "b": ["A"], "c": ["B"]}
    ),
    "to another group": ({"g": ["A", "B"]}, {"g": ["B", "new"], "h": ["new2", "A"]}),
    "to a group that was there": (
        {"g": ["A", "B"], "h": ["C"]}, {"g": ["B"], "h": ["new", "A", "C"]}
    ),
    "groups exchange jobs": (
        {"g": ["A", "B"], "h": ["C", "D"]}, {"g": ["C", "B"], "h": ["D", "new", "A"]}
    ),
    "two of one Id": ({"a": ["=x"], "b": ["=y"]}, {"a": ["=y"], "b": ["=x"]}),
    "before another of its Id": ({"b": ["=x"], "c": ["=y"]}, {"c": ["=x", "=new", "=y"]}),
    "no Ids": ({"g": ["=x", "=x2", "=y"]}, {"g": ["=y", "=new", "=x2", "=x"]}),
}  # fmt: skip


def put_all(site, documents):
    for path in site.path.glob("*.xml"):
        path.unlink()
    for name, jobs in documents.items():
        made = [one(*job.split("=")) if "=" in job else one(job, job) for job in jobs]
        text = made[0] if len(made) == 1 else f"<JobGroup><Id>{name}</Id>{''.join(made)}</JobGroup>"
        (site.path / f"{name}.xml").write_text(text.replace("<Id></Id>", ""))


# decision 597
@pytest.mark.parametrize("looks", [True, False], ids=["and a slot asks", "and nobody looks"])
@pytest.mark.parametrize("how", MOVES)
def test_what_runs_is_known_wherever_it_stands_though_its_name_has_another(site, how, looks):
    before, after = MOVES[how]
    put_all(site, before)
    ads = []
    while found := site.fetch():
        ads += found
    for ad in ads:
        site.call("reply-fetch", ad, "accept")
    programs = [ad["Cmd"] for ad in ads]
    assert len(programs) == len(set(programs)) == sum(map(len, before.values()))
    put_all(site, after)
    new = []
    while looks and (found := site.fetch()):
        new += found
    for count, ad in enumerate(ads, 1):
        told = ran(ad, RemoteUserCpu=float(count), RemoteSysCpu=0.0)
        site.call("job-exit", told, "exit", fold="never")
    assert site.fold() == (len(ads), [])
    while found := site.fetch():
        new += found
    used = {}
    for name in after:
        block = site.job(f"{name}.xml")
        for job in getattr(block, "jobs", (block,)):
            used[job.get("Executable")] = job.get("CpuDuration")
    assert {program: used.pop(program) for program in programs} == {
        program: str(count) for count, program in enumerate(programs, 1)
    }
    assert set(used.values()) <= {""}
    assert sorted(ad["Cmd"] for ad in new) == sorted(used)  # each once, and no other again


# decision 907
@pairwise(
    lost=["before they move", "behind that"],
    looks={"and a slot asks": True, "and nobody looks": False},
    how=[*MOVES],
)
def test_what_is_offered_is_known_wherever_it_stands_though_the_queue_is_lost(
    site, how, looks, lost
):
    before, after = MOVES[how]
    put_all(site, before)
    ads = []
    while found := site.fetch():
        ads += found
    programs = [ad["Cmd"] for ad in ads]
    assert len(programs) == len(set(programs)) == sum(map(len, before.values()))
    if lost == "before they move":
        (site.state / "queue.db").unlink()
    put_all(site, after)
    if lost == "behind that":
        (site.state / "queue.db").unlink()
    new = []
    while looks and (found := site.fetch()):
        new += found
    for ad in ads:
        site.call("reply-fetch", ad, "accept")
    for count, ad in enumerate(ads, 1):
        told = ran(ad, RemoteUserCpu=float(count), RemoteSysCpu=0.0)
        site.call("job-exit", told, "exit", fold="never")
    assert site.fold() == (len(ads), [])
    while found := site.fetch():
        new += found
    used = {}
    for name in after:
        block = site.job(f"{name}.xml")
        for job in getattr(block, "jobs", (block,)):
            used[job.get("Executable")] = job.get("CpuDuration")
    assert {program: used.pop(program) for program in programs} == {
        program: str(count) for count, program in enumerate(programs, 1)
    }
    assert set(used.values()) <= {""}
    assert sorted(ad["Cmd"] for ad in new) == sorted(used)  # each once, and no other again


IDS = [
    lambda program, draw: program,
    lambda program, draw: "",
    lambda program, draw: draw.choice("XY"),
]


@pytest.mark.parametrize("seed", range(cases(12)))
def test_no_job_is_given_away_twice_however_documents_change(site, seed):
    """Jobs go from document to document, with all that was folded into them, while they run.

    They come back, too, and the queue is lost, or is one of some time ago.
    """
    draw = random.Random(seed)
    id_of = draw.choice(IDS)
    texts, given, over = {}, {}, set()
    starts = Counter()
    file, copies = site.state / "queue.db", [b""]
    loses = draw.random() < 0.5

    def new():
        program = f"p{len(texts)}"
        text = one(id_of(program, draw), program).replace("<Id></Id>", "")
        texts[program] = text
        return program

    def shuffled(programs):
        for path in site.path.glob("*.xml"):
            for text in re.findall("<Job>.*?</Job>", path.read_text(), re.DOTALL):
                texts[re.search(r"/bin/(\w+)<", text)[1]] = text
            path.unlink()
        places = {}
        for program in draw.sample(programs, len(programs)):
            places.setdefault(draw.choice("abcd"), []).append(program)
        for name, here in places.items():
            body = "".join(texts[program] for program in here)
            group = f"<JobGroup><Id>g</Id>{body}</JobGroup>"
            (site.path / f"{name}.xml").write_text(body if len(here) == 1 else group)

    def fetch():
        found = site.fetch()
        for ad in found:
            program = ad["Cmd"].removeprefix("/bin/")
            assert program not in given
            given[program] = ad
            if loses or draw.random() < 0.5:
                site.call("reply-fetch", ad, "accept")
        return found

    def lose():
        if file.exists():
            copies.append(file.read_bytes())
        if kept := draw.choice(copies):
            file.write_bytes(kept)
            file.chmod(0o600)
        else:
            file.unlink(missing_ok=True)

    def end(program):
        site.call("job-exit", ran(given[program]), "exit", fold="never")
        starts[program] += 1
        over.add(program)

    def come_back(program):
        site.call("job-exit", ran(given.pop(program)), "evict", fold="now")
        starts[program] += 1

    for _ in range(8):
        new()
    shuffled([*texts])
    for _ in range(6):
        for _ in range(draw.randint(0, 3)):
            fetch()
        for program in sorted(given.keys() - over):
            chance = draw.random()
            if chance < 0.3:
                fold = draw.choice(["now", "never"])
                site.call("update-job-info", ran(given[program]), fold=fold)
            elif chance < 0.4:
                end(program)
            elif chance < 0.5:
                come_back(program)
        if loses and draw.random() < 0.5:
            lose()
        if draw.random() < 0.3:
            assert site.fold()[1] == []
        if draw.random() < 0.3:
            new()
        shuffled([*texts])
    while fetch():
        pass
    for program in sorted(given.keys() - over):
        end(program)
    assert site.fold()[1] == []
    assert set(given) == set(texts)
    written = "".join(path.read_text() for path in site.path.glob("*.xml"))
    jobs = [loads(text) for text in re.findall("<Job>.*?</Job>", written, re.DOTALL)]
    told = {job.get("Executable").removeprefix("/bin/"): job for job in jobs}
    assert {program: int(job.get("StartCount")) for program, job in told.items()} == starts
    assert {program: int(job.get("CpuDuration")) // 5 for program, job in told.items()} == starts
    assert {job.get("State") for job in jobs} == {"Completed"}
    assert fetch() == []


def test_of_jobs_without_ids_as_many_run_as_there_are(site):
    put_all(site, {"g": ["=a", "=a", "=b"]})
    ads = [*site.fetch(), *site.fetch()]
    assert [ad["Cmd"] for ad in ads] == ["/bin/a", "/bin/a"]
    put_all(site, {"g": ["=b", "=a", "=a"]})
    assert [ad["Cmd"] for ad in site.fetch()] == ["/bin/b"]
    assert site.fetch() == []
    for ad in ads:
        site.call("job-exit", ran(ad), "exit", fold="never")
    assert site.fold() == (2, [])
    assert [job.get("CpuDuration") for job in site.job("g.xml").jobs] == ["", "5", "5"]


def test_a_job_that_was_accepted_and_not_heard_of_goes_back_where_updates_are_heard(site):
    """A startd that is killed right behind it gives no claim up."""
    path = site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("reply-fetch", ad, "accept")
    site.unheard()
    assert site.fetch() == []  # this site may have no hook that tells of jobs that run
    site.call("update-job-info", ran(ad))
    path.unlink()
    site.add("b.xml", USER, id_="8")
    [ad] = site.fetch()
    site.call("reply-fetch", ad, "accept")
    site.unheard()
    assert len(site.fetch()) == 1


@pairwise(
    first=["", "update", "evicted before", "evicted before, update"],
    kind=["evict", "hold", "not started"],
    state=["Completed", "Cancelled", "Hold"],
)
def test_what_its_user_says_of_a_job_that_runs_stays_and_it_is_not_run_again(
    site, state, kind, first
):
    path = site.add("a.xml", USER)
    [ad] = site.fetch()
    if "before" in first:
        site.call("job-exit", ran(ad), "evict")
        assert site.job("a.xml").get("State") == "Idle"
        [ad] = site.fetch()
    if "update" in first:
        site.call("update-job-info", ran(ad))
    site.fold()
    job = site.job("a.xml")
    path.write_text(dumps(job.setting(State=state)))
    if kind == "not started":
        site.call("job-exit", ad, "evict")
    else:
        site.call("update-job-info", ran(ad))
        site.fold()
        assert site.job("a.xml").get("State") == state
        site.call("job-exit", ran(ad), kind)
    site.fold()
    assert site.job("a.xml").get("State") == state
    assert site.fetch() == []
    if state == "Hold":
        path.write_text(dumps(site.job("a.xml").setting(State="Idle")))
        assert len(site.fetch()) == 1


@pytest.mark.parametrize("state", ["Completed", "Hold"])
def test_a_job_that_its_user_stops_ends_as_its_report_says(site, state):
    path = site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("update-job-info", ran(ad))
    path.write_text(path.read_text().replace(">Running<", f">{state}<"))
    site.call("job-exit", ran(ad), "exit")
    assert site.job("a.xml").get("State") == "Completed"
    assert site.job("a.xml").get("ExitCode") == "3"


def test_a_job_that_runs_and_is_set_to_hold_is_known_where_its_queue_is_lost(site):
    path = site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("update-job-info", ran(ad))
    path.write_text(path.read_text().replace(">Running<", ">Hold<"))
    shutil.rmtree(site.state)
    assert site.fetch() == []
    site.call("job-exit", ran(ad), "exit")
    assert site.job("a.xml").get("State") == "Completed"


# decision 898
@pytest.mark.parametrize(
    "inner", ["<Processors>-1</Processors>", "<Processors>0</Processors>", "<Memory>-5</Memory>"]
)
@pytest.mark.parametrize("policy", ["", "Warn", "Reject"])
@pytest.mark.parametrize("in_group", [False, True])
def test_a_request_for_less_than_nothing_is_told_and_waits_under_reject(
    site, inner, policy, in_group
):
    stated = f" awarenessPolicy='{policy}'" if policy else ""
    whose, own = (stated, "") if in_group else ("", stated)
    job = f"<Id>7</Id><Executable>/bin/true</Executable>{USER}<Requested>{inner}</Requested>"
    text = f"<Job{own}>{job}</Job>"
    group = f"<JobGroup{whose}><Id>g</Id>{text}</JobGroup>"
    (site.path / "a.xml").write_text(group if in_group else text)
    fetched = site.fetch()
    told = "it is no number above 0"
    if policy != "Reject":
        assert (len(fetched), told in site.said) == (1, True)
        return
    [waiting] = site.jobs("waiting")
    assert (fetched, told in waiting.reason) == ([], True)


@pytest.mark.parametrize(
    "inner, said",
    [
        ('<Environment><Variable name="B=C">x</Variable></Environment>', "the variable 'B=C'"),
        ('<OutputFile redirectList="Append">o</OutputFile>', "does not append to OutputFile"),
        ("<InitialWorkingDirectory>/a\nb</InitialWorkingDirectory>", "has a line end"),
        ('<Requested><Resource name="License" type="matlab">1</Resource></Requested>',
         "nobody counts the licences"),
    ],
)  # fmt: skip
def test_what_the_ad_of_a_job_cannot_hold_is_said_when_it_is_made(site, inner, said):
    site.add("a.xml", USER + inner)
    assert len(site.fetch()) == 1
    assert said in site.said
    assert "a.xml: " in site.said


# A job is given to one slot at a time.


def test_a_job_that_reports_is_not_silent_before_its_reports_are_folded(site):
    """A startd whose slots are all busy calls no hook that would fold them."""
    site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("reply-fetch", ad, "accept")
    site.call("update-job-info", ran(ad))
    site.unheard()
    site.call("update-job-info", ran(ad), fold="never")
    assert site.fetch(fold="never") == []
    assert "nothing was heard" not in site.said
    [job] = site.jobs("running")
    assert job.failures == 0
    for path in (site.state / "spool").iterdir():
        os.utime(path, (1, 1))
    site.unheard()
    assert len(site.fetch(fold="never")) == 1


def test_a_job_that_was_taken_for_silent_and_reports_again_runs(site):
    site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("update-job-info", ran(ad))
    site.unheard()
    assert site.fetch(pause=30) == []  # it came back, and rests
    site.call("update-job-info", ran(ad), fold="never")
    for path in (site.state / "spool").iterdir():
        os.utime(path, (time.time() + 5, time.time() + 5))
    assert site.fold() == (1, [])
    assert len(site.jobs("running")) == 1
    assert site.fetch() == []
    site.call("job-exit", ran(ad), "evict")
    site.call("update-job-info", ran(ad), fold="never")  # of a hook that was slow
    for path in (site.state / "spool").iterdir():
        os.utime(path, (time.time() + 5, time.time() + 5))
    assert site.fold() == (1, [])
    assert len(site.fetch()) == 1


@pytest.fixture
def two_hosts(tmp_path, monkeypatch, capsys):
    """Two machines that look at one store."""
    jobs = tmp_path / "jobs.db"
    with store.open(str(jobs), create=True) as made, made.change() as work:
        text = "<Job><Id>7</Id><User>amy</User><Executable>/bin/true</Executable>{}</Job>"
        work.put(text.format("<Requested><Duration>100000</Duration></Requested>").encode())
    clock = [time.time()]
    monkeypatch.setattr(time, "time", lambda: clock[0])
    hosts = []
    for name in ("one", "two"):
        host = Site(jobs, monkeypatch, capsys)
        host.state = tmp_path / name
        hosts.append(host)
    return clock, hosts


def ask(host, hook, *words, **options):
    return host.call(hook, *words, state=str(host.state), **options)


def given(host):
    return forms.read_text(ask(host, "fetch-work", SLOT).decode(), strict=True)


def test_a_job_that_a_startd_took_is_no_other_machines_for_as_long_as_it_may_run(two_hosts):
    clock, (one, two) = two_hosts
    [ad] = given(one)
    ask(one, "reply-fetch", ad, "accept")
    for _ in range(5):
        clock[0] += 19_000
        assert given(two) == []
    clock[0] += 10_000
    assert len(given(two)) == 1


@pytest.mark.parametrize("end", ["exit", "evict", "give back"])
def test_a_job_of_a_store_that_has_come_back_is_anybodys(two_hosts, end):
    clock, (one, two) = two_hosts
    [ad] = given(one)
    ask(one, "reply-fetch", ad, "accept")
    assert given(two) == []
    clock[0] += 61
    if end == "give back":
        words = ["condor", "queue", "--documents", one.path, "--state", one.state, "--give-back"]
        [job] = copied(HookSettings(str(one.path), state=str(one.state))).jobs("accepted")
        assert CliRunner().invoke(sssjob, [*map(str, words), job.label]).exit_code == 0
    else:
        ask(one, "job-exit", ran(ad), end)
    assert len(given(two)) == (0 if end == "exit" else 1)


def test_a_hook_waits_for_a_store_no_longer_than_it_may_take(two_hosts, monkeypatch):
    _, (one, two) = two_hosts
    waits, opened, seconds = [], store.open, 0

    def opening(*values, patience, **named):
        waits.append(patience)
        return opened(*values, patience=patience, **named)

    monkeypatch.setattr(store, "open", opening)
    with opened(str(one.path)) as made, made.change():
        for seconds in growing(4):
            assert not ask(two, "fetch-work", SLOT, seconds=seconds)
            if waits:  # else its time was over before it came to the store
                break
    assert f"more than {seconds // 4} s" in two.said
    assert 0 < max(waits) <= seconds
    assert len(given(two)) == 1


@pytest.mark.parametrize("left", ["", "update-job-info", "job-exit"])
def test_a_claim_that_an_older_queue_knows_nothing_of_is_given_up_with_its_slot(two_hosts, left):
    """But not where a report waits in the spool that tells how the job ended."""
    clock, (one, two) = two_hosts
    with store.open(str(one.path)) as made, made.change() as work:
        work.put(b"<Job><Id>7</Id><User>amy</User><Executable>/bin/true</Executable></Job>")
    [ad] = given(one)
    ask(one, "reply-fetch", ad, "reject")
    older = (one.state / "queue.db").read_bytes()
    clock[0] += 61
    [ad] = given(one)
    ask(one, "reply-fetch", ad, "accept")
    (one.state / "queue.db").unlink()
    (one.state / "queue.db").write_bytes(older)
    (one.state / "queue.db").chmod(0o600)
    if left:
        ask(one, left, ran(ad), *(["exit"] * (left == "job-exit")), fold="never")
    ask(one, "evict-claim", ad, fold="never")
    clock[0] += 1000
    assert len(given(two)) == (left != "job-exit")


def queued(host, *words):
    """What ``condor queue`` says at a machine, and whether it was content."""
    place = ["--documents", str(host.path), "--state", str(host.state)]
    found = CliRunner().invoke(sssjob, ["condor", "queue", *place, *words])
    return found.exit_code, found.stdout.splitlines()


# decision 633
@pairwise(
    updated=[False, True],
    duration=[0, 50_000],
    looked=[False, True],
    moved=[False, True],
)
def test_a_job_of_a_machine_that_is_lost_comes_back(two_hosts, updated, duration, looked, moved):
    """After its Duration, or by hand, at any machine; wherever its document stands by then."""
    clock, (one, two) = two_hosts
    asked = f"<Requested><Duration>{duration}</Duration></Requested>" if duration else ""
    text = f"<Job><Id>7</Id><User>amy</User><Executable>/bin/true</Executable>{asked}</Job>"
    with store.open(str(one.path)) as made, made.change() as work:
        [found] = made.documents()
        work.put(text.encode(), replacing=work.get(found.identity))
    [ad] = given(one)
    ask(one, "reply-fetch", ad, "accept")
    if updated:
        ask(one, "update-job-info", ran(ad))
    if looked:
        clock[0] += 30
        assert given(two) == []
    if moved:
        with store.open(str(one.path)) as made, made.change() as work:
            [found] = made.documents()
            text = made.get(found.identity).document.decode()
            work.put(f"<JobGroup><Id>g</Id>{text}</JobGroup>".encode())
            work.delete(found.identity)
    label = "JobGroup/1/g" if moved else "Job/1/7"
    shutil.rmtree(one.state)
    for _ in range(4):
        clock[0] += 5000
        assert queued(two) == (0, [f"waiting   {label}  another machine has it"])
        assert given(two) == given(one) == []
    if duration:
        clock[0] += 40_000
        assert queued(two)[1] == [f"ready     {label}"]
    else:
        clock[0] += 10**6
        assert given(two) == []
        assert queued(two, "--give-back", label)[0] == 0
    [again] = given(two)
    assert again["SSSKey"] != ad["SSSKey"]
    ask(two, "reply-fetch", again, "accept")
    clock[0] += 1000
    assert given(one) == []
    ask(two, "job-exit", ran(again, JobStartDate=int(clock[0])), "exit")
    clock[0] += 1000
    assert given(one) == given(two) == []
    assert queued(one) == (0, [f"done      {label}"])


# decision 599
@pytest.mark.parametrize("loss", ["gone", "an older one"])
@pytest.mark.parametrize("updated", [False, True])
@pytest.mark.parametrize("looks", [False, True])
def test_a_job_of_a_store_whose_queue_was_lost_ends_by_its_report(two_hosts, loss, updated, looks):
    clock, (one, two) = two_hosts
    assert ask(one, "fetch-work", SLOT.merged({"Cpus": 0})) == b""
    kept = (one.state / "queue.db").read_bytes()
    [ad] = given(one)
    ask(one, "reply-fetch", ad, "accept")
    if updated:
        ask(one, "update-job-info", ran(ad))
    (one.state / "queue.db").unlink()
    if loss != "gone":
        (one.state / "queue.db").write_bytes(kept)
        (one.state / "queue.db").chmod(0o600)
    if looks:
        assert given(one) == []
    ask(one, "job-exit", ran(ad), "exit")
    clock[0] += 10**6
    assert given(one) == given(two) == []
    assert queued(one) == (0, ["done      Job/1/7"])
    assert not (one.state / "bad").exists()


# decision 713
@pytest.mark.parametrize("updated", [False, True])
def test_a_report_waits_for_its_document_though_the_queue_was_lost_too(site, tmp_path, updated):
    site.add("a.xml", USER)
    [ad] = site.fetch()
    site.call("reply-fetch", ad, "accept")
    site.call("update-job-info", ran(ad)) if updated else None
    (site.path / "a.xml").rename(tmp_path / "away.xml")
    (site.state / "queue.db").unlink()
    site.call("job-exit", ran(ad), "exit")
    assert f"no document tells of {ad['SSSKey']} yet" in site.said
    site.call("job-exit", ran(ad, SSSKey="17.1"), "exit")  # no ticket that ever was
    assert "no job was given to a slot as '17.1'" in site.said
    (tmp_path / "away.xml").rename(site.path / "b.xml")
    assert site.fetch() == []
    job = site.job("b.xml")
    assert (job.get("State"), job.get("ExitCode"), job.get("CpuDuration")) == (
        "Completed", "3", "5",
    )  # fmt: skip


# decision 713
def test_of_reports_about_nothing_known_a_few_of_each_user_wait(site):
    site.add("a.xml", USER)
    [ad] = site.fetch()
    now = int(time.time() * 1000) - 1000
    for number in range(STRANGE + 3):
        ticket = f"{now - number}.{now}"
        told = ad.merged({"SSSKey": ticket, "SSSReport": "exit-exit"})
        (site.state / "spool" / f"{number}.told").write_text(long.write(told))
    site.call("job-exit", ran(ad), "exit")
    assert site.job("a.xml").get("State") == "Completed"
    assert len(os.listdir(site.state / "bad")) == 3


# decision 897
def test_every_report_about_an_attempt_that_was_known_waits_a_day_from_when_it_was_missed(
    site, tmp_path, monkeypatch
):
    monkeypatch.setattr(reports, "STRANGE", 2)
    away = tmp_path / "away"
    away.mkdir()
    for number in range(6):
        site.add(f"{number}.xml", USER, id_=str(number))
    ads = [site.fetch()[0] for _ in range(6)]
    for ad in ads:
        site.call("reply-fetch", ad, "accept")
        site.call("update-job-info", ran(ad))
        site.call("evict-claim", ad)
    for path in site.path.glob("*.xml"):
        path.rename(away / path.name)
    assert site.fetch() == []
    for ad in ads:
        site.call("job-exit", ran(ad), "exit", fold="never")
    site.fold()
    site.fold()
    assert not (site.state / "bad").exists()
    for path in away.iterdir():
        path.rename(site.path / path.name)
    assert site.fetch() == []
    assert all(site.job(f"{number}.xml").get("ExitCode") == "3" for number in range(6))
    assert not list((site.state / "spool").iterdir())


@pytest.fixture
def reads(monkeypatch):
    """How many documents of a store were read."""
    real, read = documents._StoredDocuments.blocks, []

    def blocks(source, found):
        read.append(found.name)
        return real(source, found)

    monkeypatch.setattr(documents._StoredDocuments, "blocks", blocks)
    return read


# decision 716
@pytest.mark.parametrize("claimed", [False, True])
def test_a_report_about_nothing_known_has_the_documents_read_again_at_most_once(
    two_hosts, reads, claimed
):
    """It waits a day; where a claim tells of its attempt, it may be that of a lost queue."""
    clock, (one, _) = two_hosts
    [ad] = given(one)
    ask(one, "reply-fetch", ad, "accept")
    clock[0] += 60
    ask(one, "update-job-info", ran(ad))
    assert given(one) == []  # what was written has been read
    ticket = f"{names.of_ticket(ad['SSSKey'])[0] - 1}.{names.of_ticket(ad['SSSKey'])[1]}"
    if claimed:
        with store.open(str(one.path), by="condor") as made, made.change() as work:
            work.note(documents._note(ticket), "0")
    ask(one, "job-exit", ran(ad, SSSKey=ticket), "exit", fold="never")
    [path] = (one.state / "spool").iterdir()
    os.utime(path, (clock[0], clock[0]))
    del reads[:]
    for _ in range(10):
        clock[0] += 61
        assert ask(one, "fetch-work", SLOT, refresh=60) == b""
    assert [each.name for each in (one.state / "spool").iterdir()] == [path.name]
    assert len(reads) == claimed
    ask(one, "job-exit", ran(ad), "exit")
    assert queued(one) == (0, ["done      Job/1/7"])


# decision 716
def test_a_report_about_nothing_known_keeps_none_waiting_behind_a_look_that_takes_long(
    two_hosts, monkeypatch
):
    clock, (one, _) = two_hosts
    [ad] = given(one)
    ask(one, "reply-fetch", ad, "accept")
    key, attempt = names.of_ticket(ad["SSSKey"])
    ask(one, "job-exit", ran(ad, SSSKey=f"{key - 1}.{attempt}"), "exit", fold="never")
    for path in (one.state / "spool").iterdir():
        os.utime(path, (1, 1))  # the first to be taken
    ask(one, "job-exit", ran(ad), "exit", fold="never")
    real = reports.looked

    def late(settings, queue, *, until, say):
        clock[0] = until + 1
        return real(settings, queue, until=until, say=say)

    monkeypatch.setattr(reports, "looked", late)
    settings = HookSettings(str(one.path), state=str(one.state))
    with OpenQueue(settings) as queue:
        assert reports.fold(settings, queue, say=print, until=clock[0] + 5) == (1, 0)
    assert queued(one) == (0, ["done      Job/1/7"])


# decision 553
@pytest.mark.parametrize("first, second", [(0, 1), (1, 0)])
@pytest.mark.parametrize("ahead", [0, -60, -60_000])
@pytest.mark.parametrize("looked", [False, True])
def test_attempts_of_several_machines_stand_in_the_order_in_which_they_were(
    two_hosts, first, second, ahead, looked
):
    """Whichever machine was set up first, or never looked, and whatever its clock shows."""
    clock, hosts = two_hosts
    for host in hosts if looked else ():
        assert ask(host, "fetch-work", SLOT.merged({"Cpus": 0})) == b""
        clock[0] += 1000
    [ad] = given(hosts[first])
    ask(hosts[first], "reply-fetch", ad, "accept")
    ask(hosts[first], "job-exit", ran(ad, JobStartDate=int(clock[0])), "evict")
    clock[0] += 100 + ahead * 3
    [ad] = given(hosts[second])
    ask(hosts[second], "reply-fetch", ad, "accept")
    ask(hosts[second], "job-exit", ran(ad, JobStartDate=int(clock[0])), "exit")
    with store.open(str(hosts[0].path), read_only=True) as made:
        [found] = made.documents()
        job = loads(made.get(found.identity).document)
    assert [job.get(name) for name in ("State", "ExitCode", "StartCount")] == [
        "Completed",
        "3",
        "2",
    ]
    said = [group.get("StatusMessage") for group in job.task_groups]
    # A day ahead is no clock; the job has ended nevertheless.
    assert (sorted(said, reverse=True) if ahead < -1000 else said) == ["evicted", ""]
    for host in hosts:
        clock[0] += 3600
        assert given(host) == []


# decision 661
@pytest.mark.parametrize("late", ["exit", "evict", "update", "nothing", "hold"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_job_that_ended_has_ended_whatever_is_told_of_its_other_starts(late, turned):
    """Also where the clock of another machine was days ahead, so that they are out of order."""
    day = 86_400_000
    begun = 1_700_000_000_000
    attempts = [begun + 9 * day, begun] if turned else [begun, begun + 9 * day]
    job = loads("<Job><Id>7</Id><Executable>/bin/true</Executable></Job>")
    other, mine = (
        ran(Ad({"SSSKey": f"{begun}.{each}"}), JobStartDate=each // 1000) for each in attempts
    )
    if late == "nothing":
        other = Ad({"SSSKey": other["SSSKey"]})
    kind = {"update": "update", "nothing": "exit-evict"}.get(late, f"exit-{late}")
    told = [("exit-exit", mine), (kind, other)]
    for first, second in (told, told[::-1]):
        found = reported(job, first[1], first[0], begun // 1000)
        found = reported(found, second[1], second[0], begun // 1000)
        if late == "update" and first is told[1]:
            continue  # that one may go on: what it does last counts
        assert found.get("State") == "Completed"
        assert found.get("ExitCode") == "3"
        assert found.get("StartCount") == ("1" if late == "nothing" else "2")


@pytest.mark.parametrize("id_", ["", "7"])
@pytest.mark.parametrize("how", ["exchanged", "renamed"])
def test_a_job_that_ended_in_the_place_of_another_is_over(site, id_, how):
    for name in "ab":
        (site.path / f"{name}.xml").write_text(one(id_, name).replace("<Id></Id>", ""))
    for ad in [*site.fetch(), *site.fetch()]:
        site.call("job-exit", ran(ad), "evict")
    first, second = site.path / "a.xml", site.path / "b.xml"
    texts = first.read_text(), second.read_text()
    first.write_text(texts[1])
    second.write_text(texts[0]) if how == "exchanged" else second.unlink()
    programs = []
    while found := site.fetch():
        site.call("job-exit", ran(found[0]), "exit")
        programs.append(found[0]["Cmd"])
    assert sorted(programs) == (["/bin/a", "/bin/b"] if how == "exchanged" else ["/bin/b"])
    assert site.job("a.xml").get("State") == "Completed"
    assert site.job("a.xml").get("StartCount") == "2"


def test_a_job_of_a_store_is_no_other_machines_when_another_is_put_before_it(two_hosts):
    clock, (one, two) = two_hosts
    with store.open(str(one.path)) as made, made.change() as work:
        [found] = made.documents()
        work.put(group("A").encode())
        work.delete(found.identity)
    [ad] = given(one)
    assert ad["SSSJobId"] == "A"
    ask(one, "reply-fetch", ad, "accept")
    with store.open(str(one.path)) as made, made.change() as work:
        work.put(group("new", "A").encode())
    clock[0] += 61
    assert [ad["SSSJobId"] for ad in given(two) + given(two)] == ["new"]
