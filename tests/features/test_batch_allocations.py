"""What a batch system gave a job, of what it prints and hands to a prolog."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.errors import InvalidValue
from sssjob.features.batch import Allocation
from sssjob.features.batch.allocation import amount, features
from sssjob.model import Job, Property, Requested
from sssjob.systems.flux import allocation as flux
from sssjob.systems.gridengine import allocation as gridengine
from sssjob.systems.lsf import allocation as lsf
from sssjob.systems.pbs import allocation as pbs
from sssjob.systems.slurm import allocation as slurm
from sssjob.systems.slurm import groups

DATA = Path(__file__).parents[1] / "data/batch"
ONE, TWO, ARRAY, TASK, HET, ODD = (
    (DATA / f"scontrol-{name}.txt").read_text()
    for name in ("one-node", "two-nodes", "array", "array-task", "het", "odd")
)
CONFIG, QSTAT, QUEUE = (
    (DATA / name).read_text() for name in ("sge-config", "sge-qstat-j.xml", "sge-queue.txt")
)
RESERVATIONS = (DATA / "scontrol-reservations.txt").read_text()
MIB = 1 << 20


def values(allocation):
    return {name: int(amount.value) for name, amount in allocation.amounts.items()}


def of_slurm(printed, node="n1", job="3", **environment):
    handed = {"SLURM_JOB_ID": job, "SLURMD_NODENAME": node, **environment}
    return slurm.allocation(handed, printed)


def of_sge(config=CONFIG, job=QSTAT, queue="", **environment):
    return gridengine.allocation({"JOB_ID": "31", **environment}, config, job, queue)


# Slurm


def test_a_job_on_one_node_has_what_scontrol_shows_there():
    found = of_slurm(ONE.replace("StartTime=2026-11-20T14:29:35", "StartTime=1795185000"))
    assert values(found) == {
        "allocated_cpu": 1, "max_rss_bytes": 100 * MIB, "jobstart_secs": 1795185000,
        "wall_limit_secs": 600,
    }  # fmt: skip
    assert found.alone
    assert found.notes == ()


@pytest.mark.parametrize(("node", "cpus", "memory"), [("n1", 4, 400), ("n2", 2, 200)])
def test_each_node_of_a_job_has_its_own_part(node, cpus, memory):
    found = of_slurm(TWO, node, "6")
    assert (values(found)["allocated_cpu"], values(found)["max_rss_bytes"]) == (cpus, memory * MIB)
    assert not found.alone


def test_nodes_with_the_same_part_stand_together():
    printed = TWO.replace("Nodes=n1 CPU_IDs=0,4-5,7", "Nodes=m7,n[1,4-5] CPU_IDs=0-3")
    assert values(of_slurm(printed, "n4", "6"))["allocated_cpu"] == 4


def test_a_node_that_is_not_shown_has_nothing_and_a_note_says_so():
    found = of_slurm(TWO, "n3", "6")
    assert "allocated_cpu" not in found.amounts
    assert found.notes == ("scontrol shows nothing of what the job has on node n3",)


@pytest.mark.parametrize(
    ("shown", "seconds"),
    [
        ("UNLIMITED", None), ("00:10:00", 600), ("1-00:00:00", 86400), ("2-03:04:05", 183845),
        ("05:00", 300), ("Partition_Limit", None),
    ],
)  # fmt: skip
def test_a_time_limit_is_read_as_slurm_prints_it(shown, seconds):
    found = values(of_slurm(ONE.replace("TimeLimit=00:10:00", f"TimeLimit={shown}")))
    assert found.get("wall_limit_secs") == seconds


def test_memory_that_nothing_limits_is_no_limit():
    assert "max_rss_bytes" not in of_slurm(ONE.replace("Mem=100", "Mem=0")).amounts


@pytest.mark.parametrize(("shown", "size"), [("5M", 5 * MIB), ("0", None), ("2G", 2048 * MIB)])
def test_scratch_space_is_what_the_node_was_to_have(shown, size):
    found = of_slurm(ONE.replace("MinTmpDiskNode=0", f"MinTmpDiskNode={shown}"))
    assert values(found).get("scratch_limit_bytes") == size


@pytest.mark.parametrize(
    "imitated", ["x MinCPUsNode=1 MinMemoryNode=100M MinTmpDiskNode=9G", "MinTmpDiskNode=9G"]
)
def test_scratch_space_is_nothing_that_a_user_writes(imitated):
    printed = ONE.replace("MinTmpDiskNode=0", "MinTmpDiskNode=5M")
    for place in ("JobName=simple", "Command=(null)"):
        found = values(of_slurm(printed.replace(place, f"{place} {imitated}")))
        assert found.get("scratch_limit_bytes") in (None, 5 * MIB)
        assert GIVEN.items() <= found.items()


def test_a_job_ends_with_its_reservation_or_with_its_deadline_before():
    handed = {"SLURM_JOB_ID": "3", "SLURMD_NODENAME": "n1", "SLURM_JOB_RESERVATION": "mine"}
    found = slurm.allocation(handed, ONE, RESERVATIONS)
    assert values(found)["shutdowntime_job"] == 1795409375
    sooner = ONE.replace("Deadline=N/A", "Deadline=1795409000")
    assert values(slurm.allocation(handed, sooner, RESERVATIONS))["shutdowntime_job"] == 1795409000
    other = slurm.allocation({**handed, "SLURM_JOB_RESERVATION": "gone"}, ONE, RESERVATIONS)
    assert "shutdowntime_job" not in other.amounts
    assert other.notes == ("scontrol tells nothing about reservation gone",)


@pytest.mark.parametrize(
    ("node", "now", "printed", "moment"),
    [
        pytest.param("n1", 1795412974, None, 1795412975, id="a window of maintenance"),
        pytest.param("n1", 1795412975, None, None, id="one that has begun"),
        pytest.param("n2", 0, None, None, id="a reservation of users"),
        pytest.param("n1", 0, "No reservations in the system\n", None, id="none at all"),
    ],
)
def test_maintenance_takes_a_node_away(node, now, printed, moment):
    script = slurm.SlurmAllocation([], {})
    answer = RESERVATIONS if printed is None else printed
    found = script.shutdown(node, {"reservations": answer}, now)
    assert (found.moment and int(found.moment.value)) == moment


@pytest.mark.parametrize("printed", ["", "slurm_load_reservations error", ONE])
def test_without_a_listing_nobody_knows_of_maintenance(printed):
    assert slurm.SlurmAllocation([], {}).shutdown("n1", {"reservations": printed}, 0) is None


@pytest.mark.parametrize(
    "line",
    ["ReservationName=x StartTime=soon EndTime=2 Nodes=n1 Flags=MAINT",
     "ReservationName=x StartTime=5 EndTime=6 Nodes=n[1-999999999] Flags=MAINT",
     "ReservationName=x Flags=MAINT"],
)  # fmt: skip
def test_a_reservation_that_cannot_be_read_hides_no_other(line):
    found = slurm.SlurmAllocation([], {}).shutdown(
        "n1", {"reservations": f"{line}\n{RESERVATIONS}"}, 0
    )
    assert int(found.moment.value) == 1795412975


@pytest.mark.parametrize(
    ("line", "is_known"),
    [
        ("ReservationName=x StartTime=soon EndTime=2 Nodes=n1 Flags=MAINT", False),
        ("ReservationName=x StartTime=5 EndTime=6 Nodes=n[1-999999999] Flags=MAINT,X", False),
        ("ReservationName=x StartTime=soon EndTime=2 Nodes=n[2-3] Flags=MAINT", True),
        ("ReservationName=x StartTime=soon EndTime=2 Nodes=n1 Flags=SPEC_NODES", True),
        ("ReservationName=x StartTime=soon EndTime=2 Nodes= Flags=MAINT", True),
        ("ReservationName=x Flags=MAINT", False),
    ],
)
def test_a_maintenance_that_cannot_be_read_is_not_none(line, is_known):
    found = slurm.SlurmAllocation([], {}).shutdown("n1", {"reservations": line}, 0)
    assert (found is not None) == is_known


@pytest.mark.parametrize(
    ("made", "user"),
    [
        ("system.slice/slurmstepd.scope/job_3", "5"),
        ("system.slice/n1_slurmstepd.scope/job_3", ""),
        ("memory/slurm/uid_5/job_3", "5"),
        ("memory/slurm_n1/uid_5/job_3", "5"),
    ],
)
def test_the_control_group_of_a_job_is_found_where_slurmd_made_it(tmp_path, made, user):
    handed = {"SLURM_JOB_ID": "3", "SLURM_JOB_UID": user, "SLURMD_NODENAME": "n1"}
    assert groups.place(handed, str(tmp_path)) == ""
    (tmp_path / made).mkdir(parents=True)
    assert groups.place(handed, str(tmp_path)) == f"{tmp_path}/{made}"
    assert groups.place({**handed, "SLURM_JOB_ID": "../3"}, str(tmp_path)) == ""


CONSTRAINED = "ConstrainRAMSpace=yes\nConstrainSwapSpace=yes\n"


@pytest.mark.parametrize(
    ("conf", "swap"),
    [
        ("ConstrainRAMSpace=yes\nConstrainSwapSpace=yes # all\nAllowedSwapSpace=50\n", 50 * MIB),
        ("constrainramspace=YES\nconstrainswapspace=yes\nAllowedSwapSpace=12.5%\n", 13107200),
        ("ConstrainRAMSpace=yes\nAllowedSwapSpace=50\n", None),
        (CONSTRAINED, 0),
        (f"{CONSTRAINED}AllowedSwapSpace=9\nMaxSwapPercent=1", None),
        (f"{CONSTRAINED}AllowedSwapSpace=much", None),
    ],
)  # fmt: skip
def test_swap_follows_from_what_the_site_allows(tmp_path, conf, swap):
    (tmp_path / "cgroup.conf").write_text(conf)
    handed = {
        "SLURM_JOB_ID": "3", "SLURMD_NODENAME": "n1", "SLURM_CONF": f"{tmp_path}/slurm.conf",
    }  # fmt: skip
    found = slurm.SlurmAllocation([], handed).allocation({"job": ONE}, asking=True)
    assert values(found).get("max_swap_bytes") == swap


GIVEN = {"allocated_cpu": 1, "max_rss_bytes": 100 * MIB, "wall_limit_secs": 600}


@pytest.mark.parametrize(
    "name",
    ["x TimeLimit=9-00:00:00", "x … Nodes=n[1-2] CPU_IDs=0-5 Mem=9", "x\nJobId=3 StartTime=1"],
)
def test_a_job_name_changes_nothing(name):
    found = of_slurm(ONE.replace("JobName=simple", f"JobName={name}"))
    assert GIVEN.items() <= values(found).items()
    assert found.notes == ()


def test_what_a_name_imitates_whole_is_not_known_and_the_rest_is():
    run = ONE[ONE.index("JobState=") : ONE.index("MinMemoryCPU")].replace("00:10:00", "9-00:00")
    found = of_slurm(ONE.replace("JobName=simple", f"JobName=x {run}"))
    assert values(found).keys() == {"allocated_cpu", "max_rss_bytes", "jobstart_secs"}
    assert found.notes == (
        "scontrol shows TimeLimit in 2 ways: it is not known",
        "scontrol shows MinTmpDiskNode in 2 ways: it is not known",
    )


def test_a_beginning_of_a_record_in_a_name_leaves_what_the_environment_says():
    printed = ONE.replace("JobName=simple", "JobName=x JobState=RUNNING Reason=None")
    found = of_slurm(printed, SLURM_JOB_CPUS_PER_NODE="1")
    assert values(found) == {"allocated_cpu": 1}
    assert len(found.notes) == 1


def test_a_name_of_several_lines_is_a_name():
    assert values(of_slurm(ODD, job="4")) == {
        "allocated_cpu": 2, "max_rss_bytes": 80 * MIB, "wall_limit_secs": 120,
        "jobstart_secs": 1795312222,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("environment", "asked"),
    [
        ({"SLURM_JOB_ID": "7"}, "7"),
        ({"SLURM_JOB_ID": "2", "SLURM_HET_JOB_ID": "2"}, "2+0"),
        ({"SLURM_JOB_ID": "3", "SLURM_HET_JOB_ID": "2"}, "3"),
        ({"SLURM_JOB_ID": "1", "SLURM_ARRAY_JOB_ID": "1", "SLURM_ARRAY_TASK_ID": "3"}, "1_3"),
        ({"SLURM_JOB_ID": "4", "SLURM_ARRAY_JOB_ID": "1", "SLURM_ARRAY_TASK_ID": "2"}, "4"),
    ],
)
def test_slurm_is_asked_about_this_job_alone(environment, asked):
    assert slurm.question(environment)[-1] == asked


@pytest.mark.parametrize(
    ("job", "printed", "asked"),
    [("1", ARRAY, "1_3"), ("2", HET, "2+0"), ("1", TASK, None), ("3", ONE, None), ("4", ODD, None),
     ("9", ARRAY, None), ("3", "", None)],
)  # fmt: skip
def test_an_answer_about_a_whole_array_is_asked_for_again(job, printed, asked):
    found = slurm.again({"SLURM_JOB_ID": job}, printed)
    assert (None if found is None else found[-1]) == asked


def test_the_last_task_of_an_array_has_its_own_values():
    found = of_slurm(TASK, job="1")
    assert values(found) == {
        "allocated_cpu": 2, "max_rss_bytes": 100 * MIB, "wall_limit_secs": 180,
        "jobstart_secs": values(found)["jobstart_secs"],
    }  # fmt: skip
    assert found.notes == ()


def test_of_a_whole_array_only_that_is_known_in_which_all_tasks_agree():
    found = of_slurm(ARRAY, job="1")
    assert not {"wall_limit_secs", "allocated_cpu", "max_rss_bytes"} & values(found).keys()
    assert found.notes


@pytest.mark.parametrize(
    ("job", "environment"),
    [
        ("3", {}),
        ("1", {"SLURM_ARRAY_TASK_ID": "2"}),
        ("1", {"SLURM_ARRAY_JOB_ID": "7"}),
        ("1", {"SLURM_HET_JOB_ID": "1"}),
    ],
)
def test_a_record_that_the_environment_contradicts_is_not_taken(job, environment):
    found = of_slurm(TASK, job=job, **environment)
    assert (found.amounts, found.notes) == ({}, (f"scontrol tells nothing about job {job}",))


# The environment of a Prolog: Slurm 22.05.8, a job of "sbatch -N2 -n5"
SPREAD = {"SLURM_JOB_CPUS_PER_NODE": "3,2", "SLURM_NODELIST": "n[1-2]"}


@pytest.mark.parametrize(
    ("environment", "node", "count"),
    [
        (SPREAD, "n1", 3),
        (SPREAD, "n2", 2),
        (SPREAD, "n3", None),
        ({**SPREAD, "SLURM_NODELIST": "n[1-3]"}, "n1", None),
        ({"SLURM_JOB_CPUS_PER_NODE": "3,2"}, "n1", None),
        ({"SLURM_JOB_CPUS_PER_NODE": "4(x3),2", "SLURM_JOB_NODELIST": "a,b[1-2],c"}, "b2", 4),
        ({"SLURM_JOB_CPUS_PER_NODE": "4(x3),2", "SLURM_JOB_NODELIST": "a,b[1-2],c"}, "c", 2),
        ({"SLURM_JOB_CPUS_PER_NODE": "4(x3)"}, "b2", 4),
        ({"SLURM_JOB_CPUS_PER_NODE": "8"}, "", 8),
        ({"SLURM_CPUS_ON_NODE": "3"}, "n1", 3),
        ({"SLURM_JOB_CPUS_PER_NODE": "many"}, "n1", None),
        ({"SLURM_JOB_CPUS_PER_NODE": "4(x9999999)"}, "n1", None),
        ({"SLURM_JOB_CPUS_PER_NODE": "0"}, "n1", None),
        ({}, "n1", None),
    ],
)
def test_processors_are_known_without_asking(environment, node, count):
    assert values(of_slurm("", node, **environment)).get("allocated_cpu") == count


def test_what_the_environment_says_counts_before_what_scontrol_shows():
    found = of_slurm(
        ONE, SLURM_JOB_CPUS_PER_NODE="2", SLURM_JOB_START_TIME="1795185000",
        SLURM_JOB_END_TIME="1795185300",
    )  # fmt: skip
    assert values(found) == {
        "allocated_cpu": 2, "max_rss_bytes": 100 * MIB, "jobstart_secs": 1795185000,
        "wall_limit_secs": 300,
    }  # fmt: skip
    assert [each.partition(" by ")[0] for each in found.notes] == [
        "allocated_cpu is 2", "jobstart_secs is 1795185000", "wall_limit_secs is 300",
    ]  # fmt: skip


@pytest.mark.parametrize("shown", ["INVALID", "NONE", "Partition_Limit", "-1", "4294967294"])
def test_a_time_limit_of_no_number_is_told(shown):
    found = of_slurm(ONE.replace("TimeLimit=00:10:00", f"TimeLimit={shown}"))
    assert "wall_limit_secs" not in found.amounts
    assert [each for each in found.notes if f"TimeLimit={shown}" in each]


@pytest.mark.parametrize("end", ["4294967294", "4294967295", "1795184000"])
def test_an_end_that_is_none_is_told_and_the_limit_is_what_scontrol_shows(end):
    found = of_slurm(ONE, SLURM_JOB_START_TIME="1795185000", SLURM_JOB_END_TIME=end)
    assert values(found)["wall_limit_secs"] == 600
    assert [each for each in found.notes if each.startswith(f"$SLURM_JOB_END_TIME {end} is not")
            or each.startswith(f"$SLURM_JOB_END_TIME is {end},")]  # fmt: skip


@pytest.mark.parametrize("end", ["1826721000", "1795185000", "1", "never", ""])
def test_a_job_that_is_said_to_end_in_a_year_has_no_limit_by_that(end):
    found = of_slurm("", SLURM_JOB_START_TIME="1795185000", SLURM_JOB_END_TIME=end)
    assert values(found) == {"jobstart_secs": 1795185000}


@pytest.mark.parametrize(("count", "alone"), [("1", True), ("2", False), ("", None)])
def test_a_job_is_alone_on_its_node_only_where_that_is_said(count, alone):
    assert of_slurm("", SLURM_JOB_NUM_NODES=count).alone is alone


def test_what_is_printed_about_another_job_is_not_taken():
    found = of_slurm(ONE, job="4")
    assert (found.amounts, len(found.notes)) == ({}, 1)


@pytest.mark.parametrize("job", ["", "12x", "../5", "٣"])
def test_a_prolog_of_no_job_is_refused(job):
    with pytest.raises(InvalidValue, match="SLURM_JOB_ID"):
        of_slurm("", job=job)


@given(st.text())
def test_no_output_of_scontrol_makes_a_prolog_fail(text):
    of_slurm(f"JobId=3 {text}")


# Grid Engine


def test_grid_engine_gives_slots_and_limits_for_each():
    found = of_sge()
    assert values(found) == {
        "allocated_cpu": 2, "max_rss_bytes": 2 * 300 * MIB, "wall_limit_secs": 3600,
    }  # fmt: skip
    assert (found.job_id, found.user, found.node) == ("31", "alice", "localhost")


@pytest.mark.parametrize(
    ("queue", "seconds"),
    [("h_rt  00:01:00\n", 60), ("h_rt  INFINITY\n", 3600), ("h_rt 02:00:00\n", 3600),
     (QUEUE, 3600)],
)  # fmt: skip
def test_the_lower_limit_of_elapsed_time_counts(queue, seconds):
    assert values(of_sge(queue=queue))["wall_limit_secs"] == seconds


def test_a_limit_that_is_consumed_by_the_job_is_not_multiplied():
    config = CONFIG.replace("h_vmem_is_consumable_job=0", "h_vmem_is_consumable_job=1")
    assert values(of_sge(config))["max_rss_bytes"] == 300 * MIB


def test_resident_memory_counts_before_the_address_space_and_cpu_time_is_of_all_slots():
    config = CONFIG.replace("h_rss=INFINITY", "h_rss=1g").replace(
        "h_cpu=INFINITY", "h_cpu=00:10:00"
    )
    assert values(of_sge(config))["max_rss_bytes"] == 10**9
    assert values(of_sge(config))["cpu_limit_secs"] == 1200


def test_swap_is_what_the_address_space_has_beyond_the_memory():
    config = CONFIG.replace("h_rss=INFINITY", "h_rss=100M").replace("h_vmem=300M", "h_vmem=80M")
    assert values(of_sge(config))["max_swap_bytes"] == 60 * MIB  # of two slots
    less = config.replace("h_rss=100M", "h_rss=200M")
    assert "max_swap_bytes" not in values(of_sge(less))
    shown = SHOWN.replace(
        "Resource_List.mem = 1gb", "Resource_List.mem = 1gb\n    Resource_List.vmem = 3gb"
    )
    assert values(pbs.allocation(ARGUMENTS, shown, "n1"))["max_swap_bytes"] == 2 << 30


def test_a_later_line_of_the_config_cannot_change_an_earlier_one():
    assert values(of_sge(CONFIG + "host_slots=64\n"))["allocated_cpu"] == 2


def test_a_task_of_an_array_has_an_id_of_its_own():
    assert of_sge(SGE_TASK_ID="3").job_id == "31.3"
    assert of_sge(SGE_TASK_ID="undefined").job_id == "31"


def test_without_answers_there_are_slots_and_a_note():
    found = gridengine.allocation({"JOB_ID": "5", "NSLOTS": "3", "NHOSTS": "1"}, "", "no XML", "")
    assert values(found) == {"allocated_cpu": 3}
    assert len(found.notes) == 2


@pytest.mark.parametrize(
    ("environment", "config", "count"),
    [
        ({"NSLOTS": "3", "NHOSTS": "1"}, "host_slots=2\n", 3),
        ({"NSLOTS": "8", "NHOSTS": "2"}, "host_slots=2\n", 2),
        ({"NSLOTS": "8", "NHOSTS": "2"}, "", None),
        ({"NSLOTS": "8"}, "", None),
        ({"NSLOTS": "many", "NHOSTS": "1"}, "host_slots=0\n", None),
        ({}, "", None),
    ],
)
def test_slots_of_this_host_are_never_guessed(environment, config, count):
    found = gridengine.allocation({"JOB_ID": "5", **environment}, config + "h_vmem=1M\n")
    assert values(found).get("allocated_cpu") == count
    # A limit for each slot is none of the job where nobody knows how many there are.
    assert values(found).get("max_rss_bytes") == (count and count * MIB)


QUEUES, HOST = ((DATA / name).read_text() for name in ("sge-qstat-f.xml", "sge-host.txt"))


@pytest.mark.parametrize(
    ("queues", "host", "count"),
    [
        (QUEUES, HOST, 11),
        (QUEUES, HOST.replace("h_vmem=8G", "h_vmem=8G, \\\n   slots=8"), 8),
        (QUEUES, HOST.replace("h_vmem=8G", "slots=99"), 11),
        (QUEUES.replace("BP", "I", 1), HOST, 3),
        (QUEUES.replace("BP", "I"), HOST, None),
        (QUEUES, "", None),
        ("", HOST, None),
        ("<a>", HOST, None),
    ],
)
def test_jobs_may_have_the_slots_of_all_queues_but_no_more_than_the_host(queues, host, count):
    assert gridengine.slots(queues, host) == count


# pbsnodes as the manuals of TORQUE and PBS Professional show it
@pytest.mark.parametrize(
    ("shown", "count"),
    [
        ("n1\n     state = free\n     np = 8\n     ntype = cluster\n", 8),
        ("n1\n     Mom = n1\n     resources_available.ncpus = 4\n     pcpus = 8\n", 4),
        ("n1\n     np = 8\nn2\n     np = 8\n", None),
        ("n1\n     resources_available.ncpus = 0\n", None),
        ("", None),
    ],
)
def test_pbs_says_how_many_processors_jobs_may_have(shown, count):
    found = pbs.PBSAllocation((), {}).processors("n1", {"node": shown})
    assert (None if found is None else found.value) == count


@pytest.mark.parametrize(
    "script", [slurm.SlurmAllocation, gridengine.GridEngineAllocation, pbs.PBSAllocation]
)
def test_a_name_that_is_no_node_is_not_asked_about(script):
    assert script((), {}).node_questions("-a; reboot") == {}
    assert all("n1" in words[-1] for words in script((), {}).node_questions("n1").values())


def test_a_queue_is_asked_for_on_this_host():
    environment = {"JOB_ID": "5", "QUEUE": "main.q", "HOSTNAME": "n1.example.org"}
    assert gridengine.questions(environment)["queue"] == ["qconf", "-sq", "main.q@n1.example.org"]
    assert "queue" not in gridengine.questions({"JOB_ID": "5", "QUEUE": "main.q -de x"})


@pytest.mark.parametrize(
    ("text", "limit"),
    [("1T", 1 << 40), ("1t", 10**12), ("2T", 2 << 40), ("1.5G", 3 << 29), ("INFINITY", None),
     ("0144M", 100 * MIB), ("NONE", None), ("-1", None)],
)  # fmt: skip
def test_a_terabyte_is_a_limit(text, limit):
    config = f"host_slots=1\nh_vmem={text}\n"
    assert values(of_sge(config)).get("max_rss_bytes") == limit


def test_a_limit_that_is_not_understood_is_not_known_and_noted():
    found = of_sge(queue="h_rt INFINITY,[n1=01:00:00]\n", job="")
    assert "wall_limit_secs" not in found.amounts
    assert "INFINITY,[n1=01:00:00]" in found.notes[0]


@pytest.mark.parametrize(
    ("before", "lines"), [("A=1\n", "B=2\n"), ("A=1", "\nB=2\n"), ("", "B=2\n")]
)
def test_variables_are_added_on_lines_of_their_own(before, lines):
    assert gridengine.exports({"B": "2"}, before) == lines


def test_directories_of_the_job_that_submitted_this_one_are_emptied():
    before = "JOBFEATURES=/of/3\nJOBSTATUS=/of/3\n"
    assert gridengine.exports({}, before) == "JOBFEATURES=\nJOBSTATUS=\n"
    assert gridengine.exports({"JOBFEATURES": "/of/7"}, before) == (
        "JOBFEATURES=/of/7\nJOBSTATUS=\n"
    )


@given(st.text(), st.text(), st.text())
def test_no_answer_of_grid_engine_makes_a_prolog_fail(config, job, queue):
    gridengine.allocation({"JOB_ID": "1"}, config, job, queue)


# PBS: as its administrator's guides describe prologues, and as qstat prints a job

ARGUMENTS = (
    "101.ce",
    "alice",
    "lab",
    "run",
    "neednodes=1:ppn=2,nodes=1:ppn=2,walltime=01:00:00,mem=2gb",
)
SHOWN = """\
Job Id: 101.ce.example.org
    Job_Name = run
    exec_host = n1/0+n1/1
    Resource_List.mem = 1gb
    Resource_List.walltime = 00:30:00
    Variable_List = PBS_O_HOME=/home/lab,PBS_O_LOGNAME=alice,
\tPBS_O_QUEUE=lab
"""


def test_torque_tells_the_limits_as_an_argument():
    found = pbs.allocation(ARGUMENTS)
    assert values(found) == {"wall_limit_secs": 3600, "max_rss_bytes": 2 << 30}
    assert found.user == "alice"


def test_what_qstat_shows_counts_before_the_arguments():
    found = pbs.allocation(ARGUMENTS, SHOWN, "n1.example.org")
    assert values(found) == {
        "allocated_cpu": 2, "wall_limit_secs": 1800, "max_rss_bytes": 1 << 30,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("hosts", "count"),
    [("n1/0*4", 4), ("n1/0-3", 4), ("n1/0-1,6", 3), ("n1.example.org/0+n1/5", 2)],
)
def test_processors_of_a_host_are_counted_in_every_spelling(hosts, count):
    shown = SHOWN.replace("n1/0+n1/1", hosts)
    assert values(pbs.allocation(ARGUMENTS, shown, "n1"))["allocated_cpu"] == count


@pytest.mark.parametrize(
    ("asked", "alone"),
    [
        ("nodes=1:ppn=2,mem=1gb", True),
        ("nodes=n7,mem=1gb", True),
        ("nodes=2:ppn=2,mem=1gb", False),
        ("nodes=n7+n8,mem=1gb", False),
        ("nodes=1:ppn=2+1:ppn=4,mem=1gb", False),
        ("nodect=1,ncpus=2,mem=1gb", True),
        ("nodect=2,ncpus=2,mem=1gb", False),
        ("mem=1gb", None),
    ],
)
def test_without_an_answer_the_memory_of_a_job_is_that_of_its_only_host(asked, alone):
    before = pbs.allocation((*ARGUMENTS[:4], asked))
    after = pbs.allocation((*ARGUMENTS[:4], "4711", asked, "mem=5kb", "batch", "", "0"))
    assert before.alone is after.alone is alone
    assert ("max_rss_bytes" in before.amounts) is bool(alone)


def test_memory_of_a_job_on_several_hosts_is_no_hosts():
    found = pbs.allocation(ARGUMENTS, SHOWN.replace("n1/1", "n2/0"), "n1")
    assert not found.alone
    assert values(found) == {"allocated_cpu": 1, "wall_limit_secs": 1800}


def test_an_attribute_that_stands_twice_is_not_known():
    shown = SHOWN.replace("Job_Name = run", "Job_Name = run\n    exec_host = n1/0*64")
    found = pbs.allocation(ARGUMENTS, shown, "n1")
    assert "allocated_cpu" not in found.amounts
    assert found.notes == ("qstat shows exec_host 2 times: it is not known",)


def test_an_epilogue_is_told_what_was_used():
    arguments = (*ARGUMENTS, "4711", "cput=00:01:05,mem=3456kb,vmem=9999kb,walltime=00:02:00")
    arguments = (*arguments[:4], *arguments[5:6], arguments[4], arguments[6])
    used = pbs.used(arguments)
    assert (used.cpu_secs, used.max_rss_bytes) == (65.0, 3456 * 1024)


@pytest.mark.parametrize("arguments", [(), ("../../etc",), ("a/b",), ("",), ("x..y",)])
def test_an_id_that_is_no_name_of_a_directory_is_refused(arguments):
    with pytest.raises(InvalidValue):
        pbs.allocation(arguments)


@given(st.text(), st.text())
def test_no_output_of_qstat_makes_a_prologue_fail(limits, printed):
    pbs.allocation(("1.ce", "u", "g", "n", limits), printed, "n1")


# LSF: no LSF runs here; the forms are those of its manuals


def bjobs(**fields):
    """What ``bjobs -o "..." -json`` prints of one job."""
    row = {"JOBID": "7", "JOBINDEX": "0", "USER": "alice", "EXEC_HOST": "n1:n1",
           "RUNTIMELIMIT": "60.0", "MEMLIMIT": "4 G", **fields}  # fmt: skip
    return json.dumps({"COMMAND": "bjobs", "JOBS": 1, "RECORDS": [row]})


def by_lsf(printed="", host="n1.example.org", **environment):
    return lsf.allocation({"LSB_JOBID": "7", **environment}, printed, host)


def test_lsf_tells_slots_in_the_environment_and_limits_by_bjobs():
    found = by_lsf(bjobs(), LSB_MCPU_HOSTS="n1.example.org 2", LSB_JOBINDEX="0")
    assert values(found) == {
        "allocated_cpu": 2, "wall_limit_secs": 3600, "max_rss_bytes": 4 << 30,
    }  # fmt: skip
    assert found.notes == ()
    assert (found.job_id, found.user, found.node, found.alone) == ("7", "alice", "n1", True)
    assert found.amounts["max_rss_bytes"].basis == "minimum"  # it may be that of each process


@pytest.mark.parametrize(
    ("hosts", "shown", "count", "alone"),
    [
        ("", "n1:n1", 2, True), ("", "4*n1", 4, True), ("", "4*n1:2*n2", 4, False),
        ("", "n1.example.org:n2", 1, False), ("n1 2 n2 8", "n9", 2, False),
        ("n2 8", "", None, True), ("", "-", None, None), ("", "", None, None),
        ("n1", "n1", 1, True), ("", "n1;n2", None, None),
    ],
)  # fmt: skip
def test_slots_of_a_host_are_those_that_LSF_names(hosts, shown, count, alone):
    found = by_lsf(bjobs(EXEC_HOST=shown), LSB_MCPU_HOSTS=hosts)
    assert (values(found).get("allocated_cpu"), found.alone) == (count, alone)
    assert ("max_rss_bytes" in found.amounts) is bool(alone)  # what hosts share is no host's


@pytest.mark.parametrize(
    ("hosts", "shown", "count", "note"),
    [
        ("n1 1", "2*n1", 1, "allocated_cpu is 1 by $LSB_MCPU_HOSTS, 2 by bjobs EXEC_HOST"),
        ("n1 128", "2*n1", 2, "allocated_cpu is 128 by $LSB_MCPU_HOSTS, 2 by bjobs EXEC_HOST"),
        ("n1 1 n1 1", "2*n1", 2, ""), ("n1.a 1 n1.example.org 2", "", 2, ""),
        ("n1.a 1 n1.b 1", "", None, ""), ("n1 -1", "2*n1", 2, "$LSB_MCPU_HOSTS holds no hosts"),
        ("n1", "2*n1", 2, "$LSB_MCPU_HOSTS holds no hosts"),
    ],
)  # fmt: skip
def test_of_two_that_count_slots_of_LSF_the_least_holds_and_is_told(hosts, shown, count, note):
    found = by_lsf(bjobs(EXEC_HOST=shown), LSB_MCPU_HOSTS=hosts)
    assert values(found).get("allocated_cpu") == count
    assert [each[: len(note)] for each in found.notes] == ([note] if note else [])
    assert found.alone is (" n1." not in hosts)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1440.0", 86400), ("0.5", 30), ("60.0/n1", 3600), ("60.0/n1.example.org", 3600),
     ("60.0/n2", None), ("-", None), ("", None), ("01:00:00", None), ("0.0", None)],
)  # fmt: skip
def test_a_limit_of_time_counts_on_the_host_that_it_names(text, seconds):
    found = by_lsf(bjobs(RUNTIMELIMIT=text))
    assert values(found).get("wall_limit_secs") == seconds
    assert any("RUNTIMELIMIT" in note for note in found.notes) is (text in ("60.0/n2", "01:00:00"))


@pytest.mark.parametrize(
    ("text", "size"),
    [("512 M", 512 * MIB), ("1.5 Gbytes", 1536 * MIB), ("4K", 4096), ("4", None), ("-", None)],
)
def test_a_limit_of_memory_has_a_unit(text, size):
    assert values(by_lsf(bjobs(MEMLIMIT=text))).get("max_rss_bytes") == size


def test_an_element_of_an_array_is_asked_for_and_told_alone():
    script = lsf.LSFAllocation((), {"LSB_JOBID": "7", "LSB_JOBINDEX": "3"})
    assert script.questions()["job"][-1] == "7[3]"
    assert script.allocation({"job": bjobs(JOBINDEX="3")}, asking=True).job_id == "7[3]"
    other = script.allocation({"job": bjobs(JOBINDEX="4")}, asking=True)
    assert (values(other), other.notes) == ({}, ("bjobs tells nothing about job 7[3] alone",))


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        ([{"HOST_NAME": "n1.example.org", "MAX": "16"}], 16),
        ([{"HOST_NAME": "n1", "MAX": "-"}], None),
        ([{"HOST_NAME": "n2", "MAX": "16"}], None),
        ([], None),
    ],
)
def test_slots_of_a_host_for_jobs_are_its_MAX(rows, count):
    script = lsf.LSFAllocation((), {"LSB_JOBID": "7"})
    assert [*script.node_questions("n1")["host"]][:2] == ["bhosts", "-o"]
    printed = json.dumps({"COMMAND": "bhosts", "HOSTS": len(rows), "RECORDS": rows})
    found = script.processors("n1", {"host": printed})
    assert (None if found is None else found.value) == count
    assert script.processors("n1", {}) is None


@pytest.mark.parametrize(
    ("printed", "jobs"),
    [
        ('{"RECORDS": []}', set()),
        ('{"RECORDS": [{"JOBID": "7", "JOBINDEX": "3"}, {"JOBID": "8"}]}', {"7[3]", "8"}),
        ('{"RECORDS": [{"JOBID": "?"}]}', None), ("No job found", None), ("", None), ("[]", None),
    ],
)  # fmt: skip
def test_jobs_of_a_host_of_LSF(printed, jobs):
    script = lsf.LSFAllocation((), {})
    assert script.listings("n1")["jobs"][:5] == ["bjobs", "-u", "all", "-a", "-m"]
    assert script.present("n1", {"jobs": printed}) == jobs


@pytest.mark.parametrize("job", ["", "x", "../7", "7[3]"])
def test_LSF_has_to_name_a_job(job):
    with pytest.raises(InvalidValue):
        lsf.allocation({"LSB_JOBID": job})


@given(st.text() | st.recursive(st.text() | st.none(), st.lists).map(json.dumps))
def test_no_output_of_bjobs_makes_a_prolog_fail(printed):
    by_lsf(printed)
    by_lsf(bjobs(EXEC_HOST=printed, RUNTIMELIMIT=printed, MEMLIMIT=printed), LSB_MCPU_HOSTS=printed)


# Flux: none runs here; R is that of its RFC 20


def resources(*lite, **times):
    """R as ``flux job info ID R`` prints it: ranks and cores."""
    rows = [{"rank": ranks, "children": {"core": cores, "gpu": "0"}} for ranks, cores in lite]
    times = {"starttime": 1700000000.25, "expiration": 1700003600.25, **times}
    execution = {"R_lite": rows, "nodelist": ["n[0-3]"], **times}
    return json.dumps({"version": 1, "execution": execution})


def by_flux(printed, rank="2\n", **environment):
    return flux.allocation({"FLUX_JOB_ID": "ƒiFkbMhFM", **environment}, printed, rank)


def test_flux_tells_cores_and_times_by_R():
    found = by_flux(resources(("2", "0-3,8")), FLUX_JOB_USERID="1000")
    assert values(found) == {
        "allocated_cpu": 5, "jobstart_secs": 1700000000, "wall_limit_secs": 3600,
    }  # fmt: skip
    assert (found.job_id, found.user, found.alone) == ("91088924704768", "1000", True)
    assert found.notes == ()


@pytest.mark.parametrize(
    ("rank", "lite", "count", "alone"),
    [
        ("2", [("0-2", "0-1"), ("3", "0-7")], 2, False),
        ("3", [("0-2", "0-1"), ("3", "0-7")], 8, False),
        ("9", [("2", "0-1")], None, True), ("", [("2", "0-1")], None, True),
        ("2", [("2", "0-1"), ("1-3", "0")], None, None), ("2", [("2", "3-1")], None, None),
        ("2", [("2", "0-3,2")], None, None), ("2", [("2", "x")], None, None),
        ("2", [("2", "")], None, None), ("2", [("2", 4)], None, None), ("2", [], None, None),
        ("2", [("0-999999999", "0")], None, None),
    ],
)  # fmt: skip
def test_cores_of_a_node_are_those_of_its_rank(rank, lite, count, alone):
    found = by_flux(resources(*lite), rank)
    assert (values(found).get("allocated_cpu"), found.alone) == (count, alone)
    assert bool(found.notes) is (count is None)


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        ({"expiration": 0}, None), ({"expiration": None}, None), ({"starttime": None}, None),
        ({"expiration": 1700000000}, None), ({"expiration": "1700003600"}, None),
        ({"expiration": 1700000060.75}, 61), ({"expiration": 1700000010.3500001}, 11),
        ({"starttime": 1700000000.3, "expiration": 1700003600.3}, 3600),
        ({"expiration": 1e300}, None),
        ({"expiration": True}, None), ({"expiration": float("nan")}, None),
    ],
)  # fmt: skip
def test_an_end_that_R_does_not_say_is_no_limit(times, seconds):
    found = by_flux(resources(("2", "0"), **times))
    assert values(found).get("wall_limit_secs") == seconds


@pytest.mark.parametrize("job", ["", "f", "x", "../7", "f0"])
def test_flux_has_to_name_a_job(job):
    with pytest.raises(InvalidValue):
        flux.allocation({"FLUX_JOB_ID": job})


def test_cores_of_a_node_for_jobs_are_those_of_the_scheduler():
    script = flux.FluxAllocation((), {"FLUX_JOB_ID": "f2"})
    assert script.questions()["job"] == ["flux", "job", "info", "1", "R"]
    assert script.node_questions("n2")["node"] == ["flux", "resource", "R"]
    answers = {"node": resources(("0-3", "0-63")), "rank": "2\n"}
    assert script.processors("n2", answers).value == 64
    assert script.processors("n2", {**answers, "rank": "4"}) is None
    assert script.processors("n2", {"rank": "2"}) is None


@pytest.mark.parametrize(
    ("printed", "rank", "jobs"),
    [
        ("7|0-3\n8|1\n9|[0,2]\n", "2", {"7", "9"}), ("", "2", set()), ("7|0-3\n", "", None),
        ("7|\n", "2", set()), ("7|0-3\nf8|2\n", "2", None), ("7|3-0\n", "2", None),
    ],
)  # fmt: skip
def test_jobs_of_a_node_of_flux(printed, rank, jobs):
    assert flux.FluxAllocation((), {}).present("n2", {"jobs": printed, "rank": rank}) == jobs


_NAMES = st.sampled_from(["rank", "children", "core"])
_ANY = st.recursive(
    st.text() | st.none() | st.integers() | st.floats(),
    lambda inner: st.lists(inner) | st.dictionaries(_NAMES, inner),
)


@given(_ANY, _ANY, st.text())
def test_no_R_makes_a_prolog_fail(lite, moment, text):
    by_flux(text, text)
    execution = {"R_lite": lite, "starttime": moment, "expiration": moment}
    by_flux(json.dumps({"version": 1, "execution": execution}), text)


# Together with a job object

JOB = Job.of(
    Requested(
        (
            Property("Processors", 2, {"op": "GE"}),
            Property("Duration", 7200, {"op": "LE"}),
            Property("Disk", 5, {"units": "GB"}),
        )
    ),
    Id="7",
)


def derived(job, **amounts):
    given = Allocation("7", amounts={name: amount(value, "it") for name, value in amounts.items()})
    return features(given, job, now=1_700_000_000, settings={}, machine={}, host={})


def test_what_was_given_counts_before_what_was_requested_which_fills_the_rest():
    found = derived(JOB, allocated_cpu=4, wall_limit_secs=3600, jobstart_secs=1_699_999_999)
    assert found.values == {
        "allocated_cpu": 4, "wall_limit_secs": 3600, "cpu_limit_secs": 14400, "job_id": "7",
        "scratch_limit_bytes": 5 << 30, "jobstart_secs": 1_699_999_999,
    }  # fmt: skip
    assert found.findings == ()


def test_what_was_given_counts_before_an_extension_and_the_difference_is_told():
    extension = Property("Extension", "64", {"type": "JobFeatures", "name": "allocated_cpu"})
    found = derived(JOB.setting(extension), allocated_cpu=1)
    assert found.values["allocated_cpu"] == 1
    assert [item.code for item in found.findings] == ["W-DISAGREE", "W-DISAGREE"]


@pytest.mark.parametrize("op", ["GE", "LE"])
def test_a_request_does_not_say_how_many_processors_were_given(op):
    job = Job.of(
        Requested((Property("Processors", 2, {"op": op}), Property("Duration", 60))), Id="7"
    )
    found = derived(job, max_rss_bytes=5)
    assert found.values == {
        "wall_limit_secs": 60, "max_rss_bytes": 5, "jobstart_secs": 1_700_000_000, "job_id": "7",
    }  # fmt: skip
    assert "for certain" in found.absent["allocated_cpu"]


def test_nothing_is_assumed_of_a_job_of_which_nothing_is_known():
    assert derived(None).values == {"jobstart_secs": 1_700_000_000, "job_id": "7"}


def test_a_job_that_no_document_describes_has_what_was_given():
    assert derived(None, allocated_cpu=2).values == {
        "allocated_cpu": 2, "jobstart_secs": 1_700_000_000, "job_id": "7",
    }  # fmt: skip


# What a batch system may limit, and did not say to its prolog whether it does.

WALL, CPU = {"wall_limit_secs"}, {"cpu_limit_secs"}
LIMIT = "TimeLimit=00:10:00"
DATES = {"SLURM_JOB_START_TIME": "1795185000"}
LEARNED = {
    "Slurm shows a limit": (of_slurm(ONE), set()),
    "Slurm shows no limit": (of_slurm(ONE.replace(LIMIT, "TimeLimit=UNLIMITED")), set()),
    "Slurm does not answer": (of_slurm(""), WALL),
    "Slurm shows another job": (of_slurm(ONE, job="9"), WALL),
    "Slurm shows nothing whole": (of_slurm(ONE[: len(ONE) // 3]), WALL),
    "Slurm shows no word of it": (of_slurm(ONE.replace(LIMIT, "")), WALL),
    **{
        f"Slurm shows {word}": (of_slurm(ONE.replace(LIMIT, f"TimeLimit={word}")), WALL)
        for word in ("INVALID", "-1", "Partition_Limit")
    },
    "Slurm hands over an end": (of_slurm("", **DATES, SLURM_JOB_END_TIME="1795185300"), set()),
    "Slurm hands over no limit": (of_slurm("", **DATES, SLURM_JOB_END_TIME="1826721000"), set()),
    "Slurm hands over an odd end": (of_slurm("", **DATES, SLURM_JOB_END_TIME="soon"), WALL),
    "LSF shows a limit": (by_lsf(bjobs()), set()),
    "LSF shows no limit": (by_lsf(bjobs(RUNTIMELIMIT="")), set()),
    "LSF does not answer": (by_lsf(""), WALL),
    "LSF shows another job": (by_lsf(bjobs(JOBID="8")), WALL),
    "LSF shows minutes of another host": (by_lsf(bjobs(RUNTIMELIMIT="60.0/n2")), WALL),
    "Grid Engine shows limits": (of_sge(queue=QUEUE), set()),
    "Grid Engine shows no job": (of_sge(job="", queue=QUEUE), WALL),
    "Grid Engine shows something else": (of_sge(job="<x/>", queue=QUEUE), WALL),
    "Grid Engine shows no queue": (of_sge(), WALL),
    "Grid Engine shows an odd limit": (of_sge(queue="h_rt  soon\n"), WALL),
    "Grid Engine has no configuration": (of_sge(config="", queue=QUEUE), CPU),
    "PBS shows limits": (pbs.allocation(ARGUMENTS, SHOWN), set()),
    "PBS shows no limits": (
        pbs.allocation(ARGUMENTS[:1], "Job Id: 101.ce\n    queue = q\n"),
        set(),
    ),
    "PBS does not answer": (pbs.allocation(ARGUMENTS[:1]), WALL | CPU),
    "TORQUE does not answer": (pbs.allocation(ARGUMENTS), CPU),
    "PBS shows an odd limit": (pbs.allocation(ARGUMENTS, SHOWN.replace("00:30:00", "soon")), WALL),
    "Flux shows an end": (by_flux(resources(("2", "0"))), set()),
    "Flux shows no end": (by_flux(resources(("2", "0"), expiration=0)), set()),
    "Flux does not answer": (by_flux(""), WALL),
    "Flux shows an odd end": (by_flux(resources(("2", "0"), expiration="soon")), WALL),
    "Flux shows an end before the start": (by_flux(resources(("2", "0"), expiration=9)), WALL),
}


@pytest.mark.parametrize("case", LEARNED)
def test_a_limit_that_could_not_be_learned_is_no_limit_that_is_not_there(case):
    found, unlearned = LEARNED[case]
    assert found.unlearned == unlearned
    assert ("wall_limit_secs" in found.amounts) <= ("wall_limit_secs" not in unlearned
                                                    or case.startswith("Grid Engine"))  # fmt: skip
