"""What the commands of batch systems print, as snapshots."""

import contextlib
import io
import json
import re
import time
from collections import Counter
from datetime import UTC
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from meanings import shown_job

from sssjob import registry
from sssjob.lcginfo import lrmsinfo, reader
from sssjob.lcginfo.jobs import from_job
from sssjob.lcginfo.reader import ReaderOptions
from sssjob.lcginfo.snapshot import (
    DRAINING,
    PENDING,
    PRODUCTION,
    QUEUEING,
    RUNNING,
    Pool,
    QueuedJob,
    QueueRules,
    Scheduling,
    SlotReservation,
    UnusableOutput,
)
from sssjob.systems.condor.queue import CondorQueue
from sssjob.systems.pbs import queue as pbs_queue
from sssjob.systems.pbs import words

QUEUES = [name for name, row in registry.systems().items() if row.queue]
DATA = Path(__file__).parents[1] / "data" / "lcginfo"


def snapshot(system, *outputs, **options):
    """The snapshot of files (paths) or texts, and the remarks."""
    remarks = []
    options.setdefault("zone", UTC)
    data = [
        (DATA / output).read_bytes() if isinstance(output, Path) else output.encode()
        for output in outputs
    ]
    return reader.snapshot(system, data, ReaderOptions(**options), remarks.append), remarks


def files(folder, *names):
    return [Path(folder) / name for name in names]


def counts(found):
    return Counter((job.state, job.queue, job.group) for job in found.jobs)


LIVE = {("running", "main", "alice"): 1, ("pending", "main", "bob"): 6}
ENDED = {("done", "main", "alice"): 37, ("done", "main", "bob"): 12, ("done", "inf", "alice"): 1,
         ("done", "short", "bob"): 1}  # fmt: skip


@pytest.mark.parametrize("names, ended", [
    pytest.param(files("slurm-22.05", "squeue.json", "sinfo.json"), ENDED, id="22.05-json"),
    pytest.param(files("slurm-22.05", "scontrol-show-job-oneline.txt",
                       "scontrol-show-node-oneline.txt"), ENDED, id="22.05-scontrol"),
    pytest.param(files("slurm-22.05", "squeue-all.txt", "sinfo.json"), {}, id="22.05-squeue"),
    pytest.param(files("slurm-24.11", "squeue.json", "sinfo.json"), {}, id="24.11-json"),
    pytest.param(files("slurm-24.11", "squeue.json", "scontrol-show-node.json"), {},
                 id="24.11-scontrol-json"),
    pytest.param(files("slurm-24.11", "scontrol-show-job.txt", "scontrol-show-node.txt"), ENDED,
                 id="24.11-scontrol"),
])  # fmt: skip
def test_every_output_of_slurm_shows_the_same_site(names, ended):
    found, remarks = snapshot("slurm", *names)
    assert not remarks
    assert (found.nactive, found.nfree) == (16, 12)
    assert counts(found) == {**LIVE, **ended}
    ids = [job.jobid for job in found.jobs if job.state == "pending"]
    assert sorted(ids) == ["53", "54_1", "54_3", "54_5", "54_7", "54_9"]


def test_a_job_of_slurm_has_its_times_and_slots():
    found, _ = snapshot("slurm", *files("slurm-22.05", "squeue.json"))
    (running,) = (job for job in found.jobs if job.state == "running")
    assert running == QueuedJob(
        "main", "alice", "running", "52", "alice", "wrap", 1795185012.0, 1795185013.0, 1800.0, 4,
        priority=1.0,
    )  # fmt: skip
    assert snapshot("slurm", *files("slurm-24.11", "squeue.json"))[0].now == 1795184578


def record(name="x", **words):
    """The first recorded job of scontrol, with other words."""
    path = DATA / "slurm-22.05" / "scontrol-show-job-oneline.txt"
    text = path.read_text().partition("\n")[0].replace("JobName=wrap", f"JobName={name}")
    for word, value in words.items():
        text, changed = re.subn(rf" {word}=\S*", lambda _, new=f" {word}={value}": new, text)
        assert changed == 1
    return text + "\n"


def test_a_planned_start_is_no_start():
    text = record(JobState="PENDING", Reason="Resources", SubmitTime="2026-11-20T14:00:00",
                  StartTime="2026-11-21T14:00:00", NodeList="(null)", NumCPUs="1-4",
                  TimeLimit="UNLIMITED")  # fmt: skip
    (job,) = snapshot("slurm", text)[0].jobs
    assert (job.state, job.start, job.maxwalltime, job.cpucount) == ("queued", None, None, 1)


def test_local_times_are_those_of_the_zone():
    text = record(JobState="PENDING", SubmitTime="2013-08-21T11:37:25")
    zone = ZoneInfo("Europe/Rome")
    assert snapshot("slurm", text, zone=zone)[0].jobs[0].qtime == 1377077845


def test_times_without_a_zone_are_utc_wherever_they_are_read_and_that_is_told(monkeypatch):
    text = record(JobState="PENDING", SubmitTime="2013-08-21T11:37:25")
    try:
        with monkeypatch.context() as changed:
            changed.setenv("TZ", "Europe/Rome")
            time.tzset()
            found, (remark,) = snapshot("slurm", text, zone=None)
    finally:
        time.tzset()
    assert found.jobs[0].qtime == 1377085045
    assert remark.message == "times without a zone are read as UTC; --tz names another zone"
    assert snapshot("slurm", text)[1] == []


def of_pbs(*attributes):
    """What qstat -f prints of a job with these attributes."""
    lines = ("Job Id: 1.s", "    queue = q", *(f"    {each}" for each in attributes), "\n")
    return "\n".join(lines)


def test_every_letter_of_PBS_that_holds_slots_is_running():
    states = {}
    for letter in words.STATES:
        (job,) = snapshot("pbs", of_pbs(f"job_state = {letter}"))[0].jobs
        states.setdefault(job.state, set()).add(letter)
    assert states == {
        RUNNING: set("REBSU"), PENDING: set("HWTM"), "queued": {"Q"}, "done": set("CFX"),
    }  # fmt: skip


def test_a_name_that_imitates_the_line_is_no_job():
    ran = record("y")
    imitates = ran[ran.index("y") :].rstrip("\n")
    found, (remark,) = snapshot("slurm", record(imitates.replace("%", "")))
    assert not found.jobs
    assert remark.severity == "error"
    found, _ = snapshot("slurm", record("a b=c JobState=PENDING 'd'").replace("TIMEOUT", "RUNNING"))
    assert found.jobs[0].name == "a b=c JobState=PENDING 'd'"
    assert found.jobs[0].state == "running"


def test_without_groups_an_account_can_stand_for_them():
    found, remarks = snapshot("slurm", *files("slurm-22.05", "squeue-O.txt"))
    assert not found.jobs
    assert "its Project could stand for that" in remarks[0].message
    found, remarks = snapshot("slurm", *files("slurm-22.05", "squeue-O.txt"), group="account")
    assert {job.group for job in found.jobs} == {"physics", "chem"}
    # Three lines are broken by a newline and a | in job names.
    assert [remark.line for remark in remarks] == [29, 30, 34]


@pytest.mark.parametrize("code, state", [
    pytest.param("R", "running", id="running"),
    pytest.param("SI", "running", id="signaling"),
    pytest.param("SO", "running", id="stage-out"),
    pytest.param("RS", "running", id="resizing"),
    pytest.param("CG", "running", id="completing"),
    pytest.param("RQ", "queued", id="requeued"),
    pytest.param("RF", "queued", id="requeued-elsewhere"),
    pytest.param("RH", "pending", id="held-when-requeued"),
    pytest.param("SE", "pending", id="special-exit"),
    pytest.param("OOM", "done", id="out-of-memory"),
])  # fmt: skip
def test_codes_of_squeue_mean_what_its_words_mean(code, state):
    header = "JOBID PARTITION NAME USER GROUP ST TIME NODES NODELIST(REASON)"
    found, remarks = snapshot("slurm", f"{header}\n7 main x amy atlas {code} 0:10 1 n1\n")
    assert not remarks
    assert [(job.jobid, job.state, job.group) for job in found.jobs] == [("7", state, "atlas")]


def test_squeue_tells_why_a_job_waits_where_the_nodes_of_others_stand():
    header = "JOBID PARTITION USER GROUP ST TIME CPUS NODELIST(REASON)"
    lines = "7 main amy atlas PD 0:00 4 (Dependency)\n8_[2-3] main amy atlas PD 0:00 1 (Priority)\n"
    found, _ = snapshot("slurm", f"{header}\n{lines}")
    assert [(job.jobid, job.state, job.cpucount) for job in found.jobs] == [
        ("7", "pending", 4), ("8_2", "queued", 1), ("8_3", "queued", 1),
    ]  # fmt: skip


def test_a_suspended_job_has_run_as_long_as_slurm_says():
    for name in ("slurm-22.05/squeue.json", "slurm-24.11/scontrol-show-job.txt"):
        jobs = {job.jobid: job for job in snapshot("slurm", Path(name))[0].jobs}
        assert jobs["38"].walltime == 5
        assert {"26+0", "26+1", "27+0", "27+1"} & jobs.keys()
        assert all(jobs[never].start is None for never in ("29", "34", "35", "39"))


def test_a_group_without_a_name_has_that_of_its_number():
    document = json.loads((DATA / "slurm-24.11" / "squeue.json").read_text())
    for job in document["jobs"]:
        del job["group_name"]
    found, _ = snapshot("slurm", json.dumps(document), name_of_group=lambda number: f"g{number}")
    assert {job.group for job in found.jobs} == {"g1000", "g1001"}


@pytest.mark.parametrize("state, up, free", [
    pytest.param("MIXED", 8, 5, id="mixed"),
    pytest.param("IDLE+CLOUD", 8, 5, id="with-a-flag"),
    pytest.param("MIXED+DRAIN", 8, 0, id="draining"),
    pytest.param("DRAINING", 8, 0, id="draining-as-a-word"),
    pytest.param("DOWN*+DRAIN", None, None, id="down"),
    pytest.param("IDLE*", None, None, id="does-not-answer"),
    pytest.param("FUTURE", None, None, id="future"),
])  # fmt: skip
def test_nodes_of_slurm_count_by_their_state(state, up, free):
    found, _ = snapshot("slurm", f"NodeName=n1 CPUAlloc=3 CPUTot=8 State={state} X=1\n")
    assert (found.nactive, found.nfree) == (up, free)


def test_sinfo_counts_processors_and_nodes_once():
    assert snapshot("slurm", "4/12/8/24\n")[0].free == 12
    document = json.loads((DATA / "slurm-24.11" / "sinfo.json").read_text())
    assert len(document["sinfo"]) == 6  # two nodes in three partitions
    assert snapshot("slurm", json.dumps(document))[0].nactive == 16


PARTITIONS = """\
PartitionName=main Default=YES DefaultTime=00:10:00 MaxTime=2-00:00:00 PriorityTier=3 State=UP Nodes=n[1-2]
PartitionName=short Default=NO DefaultTime=NONE MaxTime=UNLIMITED PriorityTier=1 State=DRAIN Nodes=n2
PartitionName=off DefaultTime=NONE MaxTime=soon PriorityTier=1 State=UP Nodes=n2
"""  # noqa: E501
NODES = """\
NodeName=n1 CPUAlloc=4 CPUTot=8 State=MIXED Partitions=main
NodeName=n2 CPUAlloc=0 CPUTot=8 State=IDLE Partitions=main,short
"""
RESERVATIONS = """\
ReservationName=cores StartTime=1795190000 EndTime=1795193600 Nodes=n[1-2] CoreCnt=4 TRES=cpu=4
ReservationName=maint StartTime=1795190000 EndTime=1795193600 Nodes=n2,other CoreCnt=8 TRES=(null)
ReservationName=never StartTime=1795190000 EndTime=Unknown Nodes=n2 TRES=cpu=8
"""


def test_slurm_tells_which_partitions_use_which_nodes_their_limits_and_reservations():
    found, remarks = snapshot("slurm", NODES, PARTITIONS, RESERVATIONS, now=1795185100)
    both = ("main", "short")
    assert found.scheduling == Scheduling(
        (Pool(("main",), 8, 4), Pool(both, 8, 8)),
        (
            QueueRules("main", 172800.0, 600.0, None, 3.0, PRODUCTION),
            QueueRules("short", None, None, None, 1.0, DRAINING),
        ),
        (
            SlotReservation("cores", 1795190000.0, 1795193600.0, 2, ("main",)),
            SlotReservation("cores", 1795190000.0, 1795193600.0, 2, both),
            SlotReservation(
                "maint", 1795190000.0, 1795193600.0, 6, both
            ),  # 2 of its node are of cores
        ),
    )
    assert [remark.message.partition(":")[0] for remark in remarks] == [
        "partition 'off'", "reservation 'never' has no StartTime or no EndTime; it is not known",
    ]  # fmt: skip


# decision 715
@given(st.lists(
    st.tuples(st.integers(0, 4), st.integers(1, 4), st.sets(st.integers(1, 3), min_size=1)),
    min_size=1, max_size=5,
))  # fmt: skip
def test_reservations_that_overlap_keep_each_node_once(rows):
    """At each moment so many slots as the nodes have of which any reservation is, counted alone."""
    nodes = "".join(
        f"NodeName=n{node} CPUAlloc=0 CPUTot={2**node} State=IDLE Partitions=main\n"
        for node in (1, 2, 3)
    )
    kept = "".join(
        f"ReservationName=r{number} StartTime={1795190000 + start} "
        f"EndTime={1795190000 + start + length} Nodes={','.join(f'n{node}' for node in held)} "
        f"TRES=cpu={sum(2**node for node in held)}\n"
        for number, (start, length, held) in enumerate(rows)
    )
    found, _ = snapshot("slurm", nodes, kept, now=1795190000)
    for moment in range(9):
        held = {
            node for start, length, some in rows for node in some
            if start <= moment < start + length
        }  # fmt: skip
        told = [
            each.slots for each in found.scheduling.reserved
            if each.start <= 1795190000 + moment < each.end
        ]  # fmt: skip
        assert sum(told) == sum(2**node for node in held)


@pytest.mark.parametrize("state", ["DOWN+DRAIN", "IDLE+DRAIN", "IDLE+MAINT+DRAIN"])
def test_a_reservation_of_nodes_that_are_repaired_takes_no_slots_of_others(state):
    nodes = f"NodeName=n1 CPUAlloc=0 CPUTot=8 State={state} Partitions=main\n"
    nodes += "NodeName=n2 CPUAlloc=0 CPUTot=8 State=IDLE Partitions=main\n"
    kept = "ReservationName=r StartTime=1795190000 EndTime=1795193600 Nodes={} TRES=cpu={}\n"
    alone, _ = snapshot("slurm", nodes, kept.format("n1", 8), now=1795190100)
    assert (alone.nactive, alone.scheduling.reserved) == (8, ())
    both, _ = snapshot("slurm", nodes, kept.format("n[1-2]", 16), now=1795190100)
    [found] = both.scheduling.reserved
    assert found.slots == 8


def test_the_pools_of_sinfo_are_those_of_scontrol():
    """Rows of nodes alike are not the same rows in each partition."""

    def row(partition, nodes, allocated, idle):
        return {
            "partition": {"name": partition}, "nodes": {"nodes": nodes},
            "node": {"state": ["MIXED"]}, "cpus": {"allocated": allocated, "idle": idle},
        }  # fmt: skip

    rows = [row("main", ["n1"], 4, 4), row("main", ["n2", "n3"], 0, 16), row("short", ["n2"], 0, 8)]
    found, _ = snapshot("slurm", json.dumps({"sinfo": rows}))
    assert (found.nactive, found.nfree) == (24, 20)
    assert found.scheduling.pools == (Pool(("main",), 16, 12), Pool(("main", "short"), 8, 8))


OF_PBS = """\
Queue: workq
    queue_type = Execution
    Priority = 10
    resources_max.walltime = 24:00:00
    resources_default.walltime = 01:00:00
    max_run = [u:PBS_GENERIC=5],[o:PBS_ALL=10]
    enabled = True
    started = False

Queue: route
    queue_type = Route
    started = True
"""
RESERVED = """\
Resv ID: R66.server
Reserve_Name = Test
    reserve_start = Fri Nov 27 12:59:00 2026
    reserve_end = Fri Nov 27 13:59:00 2026
    queue = R66
    Resource_List.ncpus = 4
"""


def test_PBS_tells_the_limits_of_queues_which_nodes_are_theirs_and_reservations():
    nodes = "n1\n     state = free\n     np = 8\n     queue = workq\n\n"
    nodes += "n2\n     state = free\n     np = 4\n"
    job = of_pbs("job_state = R").replace("queue = q", "queue = R66")
    found, _ = snapshot("pbs", job, OF_PBS, RESERVED, nodes, now=1795185100)
    assert found.scheduling == Scheduling(
        (Pool(("workq",), 8, 8), Pool((), 4, 4)),
        (QueueRules("workq", 86400.0, 3600.0, 10, 10.0, QUEUEING),),
        (SlotReservation("R66", 1795784340.0, 1795787940.0, 4),),
    )
    assert [each.reservation for each in found.jobs] == ["R66"]


def test_grid_engine_tells_the_slots_of_each_queue_and_what_orders_its_jobs():
    names = files("gridengine", "qstat-xml-f-F.xml", "qstat-xml-long.xml")
    found, _ = snapshot("gridengine", *names)
    assert {pool.queues: pool.slots for pool in found.scheduling.pools} == {
        ("inter.q",): 8, ("main.q",): 8, ("short.q",): 8,
    }  # fmt: skip
    assert {job.priority for job in found.jobs} > {0.5}


def test_condor_gives_turns_by_the_priorities_of_submitters():
    """The lower the effective priority, the more slots: of 500 and 1000 twice as many."""

    def job(number, owner, status=1, priority=0):
        return (f'ClusterId={number}\nProcId=0\nOwner="{owner}"\nJobStatus={status}\n'
                f"QDate={number}\nJobPrio={priority}\nRequestCpus=1\n")  # fmt: skip

    jobs = [job(1, "amy", 2), *(job(n, "amy") for n in (2, 3)), *(job(n, "bob") for n in (4, 5, 6)),
            job(7, "bob", priority=9)]  # fmt: skip
    users = [f'Name="{name}@d"\nPriority={value}\nPriorityFactor=1.0\nIsAccountingGroup=false\n'
             for name, value in (("amy", 1000.0), ("bob", 500.0))]  # fmt: skip
    found, _ = snapshot("condor", "\n".join(jobs), "\n".join(users))
    waiting = [job for job in found.jobs if job.state == "queued"]
    order = [job.jobid for job in sorted(waiting, key=lambda job: (-job.priority, job.qtime))]
    assert order == ["7.0", "4.0", "2.0", "5.0", "6.0", "3.0"]


def test_torque_is_read():
    found, remarks = snapshot("pbs", *files("pbs", "qstat-f.txt", "pbsnodes-a.txt"), now=1421323200)
    assert (found.nactive, found.nfree) == (8, 2)
    assert counts(found) == {
        ("running", "atlas", "atlsgm"): 1,
        ("running", "long", "lhcb"): 1,
        ("queued", "long", "__localgroup__"): 1,
        ("pending", "long", "ops"): 1,
        ("done", "long", "ops"): 1,
    }
    first, second, third, *_ = found.jobs
    assert first == QueuedJob(
        "atlas", "atlsgm", "running", "101.ce.example.org", "atlsm003", "cream_101",
        1421319600.0, 1421319900.0, 86400.0, 2, 3600.0,
    )  # fmt: skip
    assert (second.name, second.cpucount) == ("a 'quoted' {name}", 4)
    assert second.start == 1421323200 - 1800  # no start_time: as long ago as it has run
    assert (third.cpucount, third.maxwalltime) == (8, 3600)
    assert [remark.message.split(":")[0] for remark in remarks] == [
        "job '106.ce.example.org'",
        "node 'n4' has np '2a', which is no number; it is not counted",
    ]


def test_PBS_is_read_as_JSON():
    jobs = {
        "timestamp": 1421323200,
        "pbs_version": "23",
        "Jobs": {
            "1.pbs": {
                "Job_Name": "x", "Job_Owner": "amy@ui", "job_state": "R", "queue": "workq",
                "egroup": "atlas", "qtime": "Thu Jan 15 11:00:00 2015",
                "stime": "Thu Jan 15 11:05:00 2015", "exec_host": "n1/0*8",
                "Resource_List": {"ncpus": 8, "walltime": "01:00:00"},
            }
        },
    }  # fmt: skip
    nodes = {
        "pbs_version": "23",
        "nodes": {
            "n1": {
                "state": "free",
                "resources_available": {"ncpus": 16},
                "resources_assigned": {"ncpus": 8},
            }
        },
    }
    found, remarks = snapshot("pbs", json.dumps(jobs), json.dumps(nodes))
    assert not remarks
    assert (found.now, found.nactive, found.nfree) == (1421323200, 16, 8)
    assert found.jobs[0][:7] == ("workq", "atlas", "running", "1.pbs", "amy", "x", 1421319600)
    assert (found.jobs[0].cpucount, found.jobs[0].maxwalltime) == (8, 3600)


@pytest.mark.parametrize("attribute, number", [
    pytest.param("exec_host = n1/0+n1/1+n2/0", 3, id="a-slot-each"),
    pytest.param("exec_host = n1/0-3,6+n2/0", 6, id="ranges"),
    pytest.param("Resource_List.ncpus = 4", 4, id="ncpus"),
    pytest.param("Resource_List.nodes = n7", 1, id="a-node-by-name"),
    pytest.param("Resource_List.nodes = 2:ib", 2, id="nodes"),
    pytest.param("Resource_List.nodes = 2:ppn=4+1:ppn=2:bigmem", 10, id="nodes-of-two-kinds"),
    pytest.param("Resource_List.nodes = 1:ppn=2+3", 5, id="some-without-ppn"),
    pytest.param("Priority = 0", 1, id="nothing"),
])  # fmt: skip
def test_slots_of_PBS_jobs(attribute, number):
    for letter in "RQ":
        (job,) = snapshot("pbs", of_pbs(f"job_state = {letter}", attribute))[0].jobs
        assert job.cpucount == number


def test_grid_engine_is_read():
    names = files("gridengine", "qstat-xml-f-F.xml", "qstat-xml-long.xml", "qconf-ssconf.txt",
                  "qstat-xml-j-running.xml", "qstat-xml-j-pending.xml")  # fmt: skip
    found, remarks = snapshot("gridengine", *names)
    assert not remarks
    assert (found.nactive, found.nfree, found.cycle) == (24, 22, 1)
    assert counts(found) == {("running", "main.q", "alice"): 1, ("pending", "main.q", "bob"): 9}
    assert found.jobs[0] == QueuedJob(
        "main.q", "alice", "running", "31", "alice", "live", 1795185091.0, 1795185091.0, 3600.0, 2,
        priority=0.5,
    )  # fmt: skip
    ids = [job.jobid for job in found.jobs]
    assert ids == ["31", "10", "11", "7", "32", "33.1", "33.3", "33.5", "33.7", "33.9"]


# decision 666
def test_grid_engine_says_how_long_jobs_of_a_queue_may_run_and_whether_it_keeps_slots_free():
    names = files("gridengine", "qstat-xml-f-F.xml", "qconf-ssconf.txt", "qconf-sq.txt")
    found, remarks = snapshot("gridengine", *names)
    assert not remarks
    assert [(each.name, each.maxwalltime) for each in found.scheduling.queues] == [
        ("main.q", 600.0), ("long.q", 3600.0),  # the less of s_rt, and of h_rt on another host
    ]  # fmt: skip
    assert not found.scheduling.keeps
    found, _ = snapshot("gridengine", *files("gridengine", "qstat-xml-long.xml"), names[2])
    told = {job.maxwalltime for job in found.jobs if job.queue == "main.q"}
    assert told == {600.0, 3600.0, 7200.0}  # that of the queue, or what jobs asked for
    assert lrmsinfo.read(io.BytesIO("".join(lrmsinfo.lines(found)).encode())) == found
    text = (
        (DATA / names[1])
        .read_text()
        .replace("max_reservation                   0", "max_reservation 20")
    )
    assert snapshot("gridengine", names[0], text)[0].scheduling.keeps
    wrong = (DATA / names[2]).read_text().replace("h_rt                  00:10:00", "h_rt soon")
    [remark] = snapshot("gridengine", names[0], wrong)[1]
    assert "queue 'main.q': 'soon' is not a time" in remark.message


def test_a_parallel_job_of_grid_engine_has_the_slots_of_all_its_queues():
    found, remarks = snapshot("gridengine", *files("gridengine", "qstat-xml-f-r.xml"))
    assert not remarks
    assert (found.nactive, found.nfree) == (24, 24 - found.busy)
    jobs = {job.jobid: job for job in found.jobs}
    assert len(jobs) == len(found.jobs) == 15
    # Three slots, of which one is in inter.q and two are in main.q.
    assert (jobs["4"].queue, jobs["4"].cpucount, jobs["4"].name) == ("inter.q", 3, "a<b")
    assert (jobs["3"].queue, jobs["3"].state) == ("short.q", "pending")
    assert all(job.start for job in found.jobs if job.state == "running")
    again, _ = snapshot("gridengine", *files("gridengine", *["qstat-xml-f-r.xml"] * 2))
    assert again.busy == found.busy


def test_queues_of_grid_engine_for_interactive_jobs_only_do_not_count():
    queue = "<Queue-List><name>q@n</name><qtype>{}</qtype><slots_total>4</slots_total></Queue-List>"
    for kind, up in (("I", None), ("IP", 4), ("BIP", 4), ("N", None)):
        found, _ = snapshot("gridengine", f"<job_info>{queue.format(kind)}</job_info>")
        assert found.nactive == up


def test_grid_engine_groups_by_project_where_it_shows_no_group():
    found, _ = snapshot("gridengine", *files("gridengine", "qstat-xml-long.xml"))
    assert found.jobs[0].group == "physics"
    found, _ = snapshot("gridengine", *files("gridengine", "qstat-xml-u.xml"), group="user")
    assert {job.group for job in found.jobs} == {"alice", "bob"}


def test_finished_jobs_of_grid_engine_are_no_matter():
    found, remarks = snapshot("gridengine", *files("gridengine", "qstat-xml-finished.xml"))
    assert (found.jobs, remarks) == ((), [])
    assert snapshot("gridengine", *files("gridengine", "qstat-xml-j-unknown.xml"))[0].jobs == ()


@pytest.mark.parametrize("letters, state", [
    pytest.param("hr", RUNNING, id="held-while-it-runs"),
    pytest.param("dr", RUNNING, id="deleted-while-it-runs"),
    pytest.param("dx", RUNNING, id="exiting"),
    pytest.param("T", RUNNING, id="suspended"),
    pytest.param("hRwq", PENDING, id="held-before-it-runs-again"),
    pytest.param("?", None, id="letters-nobody-knows"),
    pytest.param("", None, id="no-letters"),
])  # fmt: skip
def test_letters_of_qstat_mean_the_same_for_the_queue_as_for_a_job(letters, state):
    job = (
        "<job_list><JB_job_number>7</JB_job_number><JB_owner>amy</JB_owner>"
        f"<state>{letters}</state><queue_name>q@n</queue_name><slots>1</slots></job_list>"
    )
    found, remarks = snapshot("gridengine", f"<job_info>{job}</job_info>")
    assert [each.state for each in found.jobs] == ([state] if state else [])
    assert [repr(letters) in remark.message for remark in remarks] == ([] if state else [True])


@pytest.mark.parametrize("names", [
    pytest.param(files("condor", "condor_q.json", "condor_status.json"), id="json"),
    pytest.param(files("condor", "condor_q.long.txt", "condor_status.long.txt"), id="long"),
])  # fmt: skip
def test_condor_is_read(names):
    found, remarks = snapshot("condor", *names, queue="grid")
    assert not remarks
    assert (found.nactive, found.nfree, found.now) == (8, 5, 1795184909)
    assert counts(found) == {
        ("queued", "grid", "bob"): 2,
        ("pending", "grid", "alice"): 1,
        ("pending", "grid", "bob"): 1,
        ("running", "grid", "physics.cms"): 1,
    }
    (running,) = (job for job in found.jobs if job.state == "running")
    assert (running.jobid, running.cpucount, running.maxwalltime) == ("23.0", 2, 5400)


def test_the_time_in_which_a_job_of_condor_was_suspended_is_no_run_time():
    ad = {
        "ClusterId": 7, "ProcId": 0, "JobStatus": 4, "Owner": "amy", "JobStartDate": 1700000000,
        "CompletionDate": 1700000100, "RemoteWallClockTime": 100, "CumulativeSuspensionTime": 40,
    }  # fmt: skip
    (job,) = snapshot("condor", json.dumps([ad]))[0].jobs
    assert job.walltime == 60


RAN = {"JobStartDate": 1700000000, "JobCurrentStartDate": 1700000050, "NumJobStarts": 1,
       "CpusProvisioned": 4, "RemoteWallClockTime": 100}  # fmt: skip


@pytest.mark.parametrize("said", [
    *({"JobStatus": status, **ran} for status in range(1, 8) for ran in ({}, RAN)),
    {"JobStatus": 2, **RAN, "JobUniverse": 11, "MaxHosts": 3, "MinHosts": 3},
    {"JobStatus": 1, "AccountingGroup": "physics.amy"},
    {"JobStatus": 1, "AcctGroup": "physics", "AccountingGroup": "physics.amy"},
    {"JobStatus": 1, "ProjectName": "climate"},
    {"JobStatus": 1, "JobDescription": "a name"},
    {"JobStatus": 1, "AllowedJobDuration": 60},
    {"JobStatus": 1, "AllowedJobDuration": 60.2},
    {"JobStatus": 1, "AllowedJobDuration": 60, "AllowedExecuteDuration": 30},
])  # fmt: skip
@pytest.mark.parametrize("group", ["account", "user"])
def test_an_ad_of_condor_is_the_same_job_for_the_queue_as_for_status(said, group):
    ad = {"ClusterId": 7, "ProcId": 0, "Owner": "amy", "QDate": 1699999999, "RequestCpus": 2,
          "CumulativeSuspensionTime": 40, "CompletionDate": 1700000150, **said}  # fmt: skip
    found, remarks = snapshot("condor", json.dumps([ad]), group=group)
    assert not remarks
    (job,) = shown_job("condor-q", "@")(json.dumps([ad]))
    wanted = from_job(job, queue="condor", groups=CondorQueue.groups[group])
    if wanted.state in ("queued", "pending"):  # what an earlier run was given
        wanted = wanted._replace(cpucount=2)
    if wanted.state != "done":
        wanted = wanted._replace(walltime=None)
    if wanted.state == "running" and "JobCurrentStartDate" in said:  # of this run, not of the job
        wanted = wanted._replace(start=1700000050)
    # Its turn among those of others is the matter of the queue alone.
    assert [job._replace(priority=None) for job in found.jobs] == [wanted._replace(priority=None)]


def test_names_of_sites_are_read_where_an_ad_has_no_other():
    ad = {"ClusterId": 7, "JobStatus": 1, "Owner": "amy", "BatchQueue": "long",
          "x509UserProxyVOName": "cms", "MaxWallTimeMins": 90}  # fmt: skip
    (job,) = snapshot("condor", json.dumps([ad]))[0].jobs
    assert (job.queue, job.group, job.maxwalltime) == ("long", "cms", 5400)


@pytest.mark.parametrize("universe, counted", [(5, 1), (7, 0), (9, 1), (12, 0)])
def test_jobs_that_need_no_slot_are_not_counted(universe, counted):
    ad = {"ClusterId": 7, "JobStatus": 2, "Owner": "amy", "JobUniverse": universe}
    assert len(snapshot("condor", json.dumps([ad]))[0].jobs) == counted


def test_lists_of_grid_engine_beside_each_other_do_not_lend_their_queues():
    queues = (DATA / "gridengine" / "qstat-xml-f-F.xml").read_text()
    waits = (
        "<?xml version='1.0'?><job_info><queue_info></queue_info><job_info><job_list>"
        "<JB_job_number>7</JB_job_number><JB_owner>amy</JB_owner><state>qw</state>"
        "<slots>4</slots></job_list></job_info></job_info>"
    )
    (job,) = snapshot("gridengine", queues, waits)[0].jobs
    assert (job.queue, job.cpucount) == ("main.q", 4)


@pytest.mark.parametrize("slot, up, free", [
    pytest.param({"Cpus": 2, "State": "Unclaimed"}, 2, 2, id="static"),
    pytest.param({"Cpus": 2, "State": "Claimed"}, 2, 0, id="claimed"),
    pytest.param({"Cpus": 2, "State": "Owner"}, 2, 0, id="its-owner's"),
    pytest.param({"Cpus": 2, "State": "Drained"}, None, None, id="drained"),
    pytest.param({"Cpus": 2, "Offline": True}, None, None, id="asleep"),
    pytest.param({"Cpus": 3, "TotalSlotCpus": 8, "PartitionableSlot": True}, 8, 3, id="parted"),
    pytest.param({"Cpus": 2, "DynamicSlot": True, "State": "Claimed"}, None, None, id="a-part"),
])  # fmt: skip
def test_slots_of_condor(slot, up, free):
    found, _ = snapshot("condor", json.dumps([{"MyType": "Machine", **slot}]))
    assert (found.nactive, found.nfree) == (up, free)


def test_array_tasks_of_one_listing_have_a_bound_together(monkeypatch):
    monkeypatch.setattr(reader, "TASKS_LIMIT", 5)
    header = "JOBID PARTITION USER GROUP ST TIME CPUS NODELIST(REASON)"
    lines = [f"{n}_[1-3] main amy atlas PD 0:00 1 (Priority)" for n in (7, 8, 9)]
    found, remarks = snapshot("slurm", "\n".join((header, *lines, "")))
    assert [job.jobid for job in found.jobs] == ["7_1", "7_2", "7_3", "8_1", "8_2"]
    assert [each.message for each in remarks] == [
        f"job '{job}': {left} of its 3 array tasks are counted, "
        "since all arrays together may have 5"
        for job, left in (("8_[1-3]", 2), ("9_[1-3]", 0))
    ]


PBS_ARRAY = {
    "job_state": "B", "queue": "q", "array": "True", "array_indices_submitted": "1-9:2",
    "array_indices_remaining": "5-9:2",
    "array_state_count": "Queued:3 Running:1 Exiting:1 Expired:0 ",
    "Resource_List": {"ncpus": "4"},
}  # fmt: skip


def qstat(**jobs):
    return json.dumps({"timestamp": 1, "pbs_version": "20", "Jobs": jobs})


def qstat_text(**jobs):
    said = []
    for id, told in jobs.items():
        ((name, amount),) = told["Resource_List"].items()
        lines = {**told, f"Resource_List.{name}": amount}
        del lines["Resource_List"]
        said += [f"Job Id: {id}", *(f"    {key} = {value}" for key, value in lines.items()), ""]
    return "\n".join(said) + "\n"


@pytest.mark.parametrize("printed", [qstat, qstat_text])
@pytest.mark.parametrize(
    ("more", "states"),
    [
        ({}, ["queued"] * 3 + ["running"] * 2),
        ({"job_state": "H", "array_state_count": "Queued:3 Running:0 Exiting:0 Expired:2 "}, ["pending"] * 3),  # noqa: E501
        ({"array_indices_remaining": "-", "array_state_count": "Queued:0 Running:5 Exiting:0 Expired:0 "}, ["running"] * 5),  # noqa: E501
    ],
)  # fmt: skip
def test_tasks_of_an_array_of_pbs_are_counted_one_by_one(printed, more, states):
    """As those of Slurm and Grid Engine are: three wait and two run, each with four slots."""
    found, remarks = snapshot("pbs", printed(**{"7[].s": {**PBS_ARRAY, **more}}))
    assert [job.state for job in found.jobs] == states
    assert {job.cpucount for job in found.jobs} == {4}
    assert len({job.jobid for job in found.jobs}) == len(states)
    assert not remarks


def test_a_task_of_pbs_with_a_record_of_its_own_is_counted_once():
    one = {"job_state": "R", "queue": "q", "Resource_List": {"ncpus": "4"}}
    found, _ = snapshot("pbs", qstat(**{"7[].s": PBS_ARRAY, "7[1].s": one, "7[3].s": one}))
    assert sorted(job.jobid for job in found.jobs) == [f"7[{n}].s" for n in (1, 3, 5, 7, 9)]


def test_tasks_of_pbs_that_run_have_the_bound_of_those_that_wait(monkeypatch):
    monkeypatch.setattr(reader, "TASKS_LIMIT", 4)
    monkeypatch.setattr(pbs_queue, "TASKS_LIMIT", 4)
    found, _ = snapshot("pbs", qstat(**{"7[].s": PBS_ARRAY, "8[].s": PBS_ARRAY}))
    assert len(found.jobs) == 4


def test_several_schedds_print_several_arrays():
    ad = '[\n{"JobStatus": 1, "ClusterId": %d, "ProcId": 0, "Owner": "amy"}\n]\n'
    found, _ = snapshot("condor", ad % 1 + "\n" + ad % 2)
    assert [job.jobid for job in found.jobs] == ["1.0", "2.0"]


def test_options_win_over_what_is_read():
    found, _ = snapshot("condor", *files("condor", "condor_q.json", "condor_status.json"),
                        slots=10, cycle=7.0, now=5.0)  # fmt: skip
    assert (found.nactive, found.nfree, found.cycle, found.now) == (10, 8, 7, 5)


@pytest.mark.parametrize("system", QUEUES)
@pytest.mark.parametrize("text", ["squeue: error: no controller\n", "{", "[1", "<job_info>", "{}"])
def test_an_output_of_something_else_is_refused(system, text):
    with pytest.raises(UnusableOutput):
        snapshot(system, text)


def test_a_truncated_output_is_refused():
    text = (DATA / "slurm-22.05" / "squeue.json").read_text()
    with pytest.raises(UnusableOutput, match="JSON cannot be read"):
        snapshot("slurm", text[: len(text) // 2])
    text = (DATA / "gridengine" / "qstat-xml-u.xml").read_text()
    with pytest.raises(UnusableOutput, match="XML of qstat"):
        snapshot("gridengine", text[: len(text) // 2])


@pytest.mark.parametrize("system, text", [
    *((system, "") for system in QUEUES),
    ("slurm", '{"jobs": []}'),
    ("slurm", "No jobs in the system"),
    ("pbs", '{"timestamp": 5, "pbs_version": "23"}'),
    ("gridengine", "<job_info><queue_info/><job_info/></job_info>"),
    ("condor", "[\n]\n\n[\n]\n"),
    ("condor", "All queues are empty\n"),
])  # fmt: skip
def test_an_idle_system_has_no_jobs(system, text):
    assert snapshot(system, text)[0].jobs == ()


KEYS = st.sampled_from((
    "jobs", "nodes", "sinfo", "node", "cpus", "state", "allocated", "idle", "job_id", "partition",
    "group_name", "job_state", "set", "number", "infinite", "start_time", "time_limit", "Jobs",
    "pbs_version", "queue", "Resource_List", "ncpus", "JobStatus", "Owner", "Cpus", "MyType",
))  # fmt: skip
LEAVES = st.sampled_from((None, True, 0, -1, 1e300, 7, "", "x", "R", "RUNNING", "IDLE", "Machine"))
DOCUMENTS = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5)
)


@pytest.mark.parametrize("system", ["slurm", "pbs", "condor"])
@pytest.mark.parametrize("key", ["jobs", "nodes", "sinfo", "Jobs", "JobStatus", "MyType"])
@given(document=DOCUMENTS)
def test_no_JSON_breaks_a_reader(system, key, document):
    for text in (json.dumps({key: document}), json.dumps([{key: document, "Cpus": document}])):
        with contextlib.suppress(UnusableOutput):
            snapshot(system, text)


@pytest.mark.parametrize("text", [
    pytest.param("<job_list><slots>x</slots></job_list>", id="no-number"),
    pytest.param("<job_list><tasks>1-9:0,x</tasks></job_list>", id="no-tasks"),
    pytest.param("<Queue-List><qtype>B</qtype><slots_total>x</slots_total></Queue-List>",
                 id="no-slots"),
    pytest.param("<job_list><JAT_start_time>soon</JAT_start_time></job_list>", id="no-time"),
])  # fmt: skip
def test_no_value_of_qstat_breaks_the_reader(text):
    found, _ = snapshot("gridengine", f"<job_info>{text}</job_info>")
    assert not found.jobs


@pytest.mark.parametrize("system", QUEUES)
@given(st.data())
def test_no_text_breaks_a_reader(system, data):
    text = data.draw(st.text() | st.text('{}[]":=JobIdNamep \n\t<>/0123456789', max_size=60))
    with contextlib.suppress(UnusableOutput):
        snapshot(system, text)
