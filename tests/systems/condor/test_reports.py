"""What hooks reported, folded into a job: idempotent, in any order, starts counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.classads.values import Ad
from sssjob.document import dumps, loads
from sssjob.document.canonical import canon
from sssjob.model import Delivered, TaskGroup
from sssjob.systems.condor.hooks.reports import reported

JOB = loads("<Job><Id>7</Id><Requested><Processors>2</Processors></Requested></Job>")


def ad(start, **told):
    return Ad({"JobStartDate": start, "CpusProvisioned": 2, **told})


def test_a_report_that_comes_twice_changes_nothing():
    told = ad(1000, RemoteUserCpu=4.0, JobDuration=9.0, ResidentSetSize=100, ExitCode=0)
    once = reported(JOB, told, "exit-exit", 1010)
    assert dumps(reported(once, told, "exit-exit", 1020)).replace("1020", "1010") == dumps(once)


def test_maxima_grow_and_cpu_does_not_shrink_within_a_start():
    job = reported(JOB, ad(1000, RemoteUserCpu=4.0, ResidentSetSize=500), "update", 1005)
    job = reported(job, ad(1000, RemoteUserCpu=3.0, ResidentSetSize=100), "update", 1009)
    assert job.get("CpuDuration") == "4"
    assert job.delivered.get("Memory", metric="Max").text == "500"
    assert job.delivered.text("Duration") == "9"


def test_maxima_are_compared_by_their_units():
    known = loads(
        '<Job><Id>7</Id><Delivered><Memory metric="Max" units="GB">1</Memory></Delivered></Job>'
    )
    job = reported(known, ad(1000, ResidentSetSize=2000, ImageSize=3000), "update", 1005)
    assert job.delivered.get("Memory", metric="Max").text == "1"
    job = reported(job, ad(1000, ResidentSetSize=2 << 20), "update", 1006)
    assert job.delivered.get("Memory", metric="Max").text == f"{2 << 20}"


@pytest.mark.parametrize("known", ["9" * 5000, "lots", ""])
def test_what_a_document_says_that_is_no_number_gives_way(known):
    """Python reads no number of more than 4300 digits: the hook of such a job failed."""
    held = loads(
        f'<Job><Id>7</Id><Extension type="HTCondor" name="BlockReads">{known}</Extension>'
        f'<Extension type="HTCondor" name="BlockReadKbytes">{known}</Extension>'
        f'<Delivered><Memory metric="Max" units="KB">{known}</Memory></Delivered></Job>'
    )
    job = reported(held, ad(1000, ResidentSetSize=20, BlockReadKbytes=5), "update", 1005)
    assert job.delivered.get("Memory", metric="Max").text == "20"
    assert job.properties.get("Extension", name="BlockReadKbytes").text == "5"
    assert job.properties.get("Extension", name="BlockReads").text == known


def test_what_a_report_tells_of_the_job_is_where_records_of_accounting_have_it():
    told = ad(1000, ImageSize=300, ResidentSetSize=200, DiskUsage=100)
    job = reported(JOB, told, "update", 1005)
    found = [(name, job.delivered.text(name)) for name in ("Swap", "Memory", "Disk")]
    assert found == [("Swap", "300"), ("Memory", "200"), ("Disk", "100")]
    assert [item.attributes["name"] for item in job.properties.all("Extension")] == ["Starts"]


def test_the_end_settles_how_long_a_start_was():
    job = reported(JOB, ad(1000), "update", 1100)
    job = reported(job, ad(1000, JobDuration=50.0, ExitCode=3), "exit-exit", 1100)
    assert (job.delivered.text("Duration"), job.get("ExitCode")) == ("50", "3")
    late = reported(job, ad(1000), "update", 1200)
    assert (late.get("State"), late.delivered.text("Duration")) == ("Completed", "50")


def test_starts_are_counted_and_added_up():
    job = reported(JOB, ad(1000, JobDuration=5.0, RemoteUserCpu=1.0), "exit-evict", 1005)
    assert (job.get("State"), job.get("StatusMessage")) == ("Idle", "evicted")
    job = reported(job, ad(2000, JobDuration=7.0, RemoteUserCpu=2.0, ExitCode=0), "exit-exit", 2007)
    assert job.get("StartCount") == "2"
    assert job.get("StartTime") == "1000"  # what it used is of all starts
    assert job.get("CpuDuration") == "3"
    assert job.delivered.text("Duration") == "12"
    assert "StatusMessage" not in job.properties.names()


@pytest.mark.parametrize(
    "reason, said", [("died on signal 15", ""), ("exited with status 1", "exited with status 1")]
)
def test_why_an_earlier_run_ended_is_not_why_this_one_did(reason, said):
    ended = ad(1000, ExitBySignal=False, ExitCode=1, ExitSignal=15, ExitReason=reason)
    job = reported(JOB, ended, "exit-exit", 1001)
    assert (job.get("ExitCode"), job.get("StatusMessage")) == ("1", said)


def test_a_signal_is_an_exit_code_above_128():
    told = ad(1000, ExitBySignal=True, ExitSignal=9, ExitReason="died on signal 9")
    job = reported(JOB, told, "exit-exit", 1001)
    assert (job.get("ExitCode"), job.get("StatusMessage")) == ("137", "died on signal 9")


def test_what_was_requested_stays():
    job = reported(JOB, ad(1000, ExitCode=0), "exit-exit", 1001)
    assert job.requested == JOB.requested


REPORTS = st.lists(
    st.tuples(
        st.sampled_from([1000, 2000]), st.sampled_from(["update", "exit-exit", "exit-evict"]),
        st.floats(0, 50).map(lambda number: round(number, 1)), st.integers(1, 500),
    ),
    min_size=1, max_size=5,
)  # fmt: skip


def told(row):
    start, kind, used, memory = row
    return ad(start, RemoteUserCpu=used, JobDuration=used, ResidentSetSize=memory), kind, start + 60


@given(REPORTS)
def test_saying_everything_again_changes_nothing(rows):
    job = JOB
    for row in rows:
        job = reported(job, *told(row))
    again = job
    for row in rows:
        again = reported(again, *told(row))
    assert canon(again).delivered == canon(job).delivered
    assert again.get("StartCount") == job.get("StartCount")
    assert again.get("CpuDuration") == job.get("CpuDuration")


def test_what_was_delivered_before_stays_as_it_was_written():
    """As wherever facts are folded: attributes, groups and what has a type of its own."""
    known = loads(
        '<Job><Id>7</Id><Delivered awarenessPolicy="warn">'
        '<Resource name="GPU" type="x">9</Resource></Delivered>'
        "<TaskGroup><NodeCount>1</NodeCount></TaskGroup></Job>"
    )
    (given,) = reported(known, ad(1000, GPUsProvisioned=2), "update", 1005).blocks(Delivered)
    assert given.attributes["awarenessPolicy"] == "warn"
    gpus = [(item.text, item.attributes.get("type")) for item in given if item.name == "Resource"]
    assert gpus == [("9", "x"), ("2", None)]


def test_what_is_delivered_first_stands_before_the_task_groups():
    known = loads("<Job><Id>7</Id><TaskGroup><NodeCount>1</NodeCount></TaskGroup></Job>")
    job = reported(known, ad(1000), "update", 1005)
    assert [type(item) for item in job.items][-2:] == [Delivered, TaskGroup]
