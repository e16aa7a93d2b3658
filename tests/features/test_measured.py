import pytest

from sssjob import document
from sssjob.features.measured import of_status, of_usage
from sssjob.features.status import StatusSnapshot
from sssjob.features.used import Used
from sssjob.fold import fold

NOW = 1_700_000_000
VALUES = {
    "used_CPU": 6, "last_job_start": NOW - 100, "last_exp_job_end": NOW + 300,
    "add_uncom_time": 1000, "can_postpone_last_job": "True", "priority_factor": 2,
}  # fmt: skip


def job(body="<Delivered><Processors>8</Processors></Delivered>"):
    return document.loads(f"<Job><Id>1</Id>{body}</Job>")


def folded(known, snapshot, allocated=8):
    given = of_status(known, snapshot, allocated)
    done = fold(known, given.facts, source="DIR")
    assert done.findings == ()
    return done


def extensions(job):
    found = job.properties.all("Extension", type="JobStatus")
    return {item.attributes["name"]: item.text for item in found}


def test_cores_in_use_are_delivered_beside_those_that_were_given():
    done = folded(job(), StatusSnapshot(VALUES, NOW + 5, NOW)).job
    assert done.delivered.get("Processors", context="Used").text == "6"
    assert done.delivered.get("Processors", context="").attributes == {"consumptionRate": "0.75"}


def test_the_rest_and_what_follows_from_it_are_extensions_of_the_moment():
    assert extensions(folded(job(), StatusSnapshot(VALUES, NOW + 5, NOW)).job) == {
        "last_job_start": str(NOW - 100), "last_exp_job_end": str(NOW + 300),
        "add_uncom_time": "1000", "can_postpone_last_job": "True", "priority_factor": "2",
        "remaining_time_expected": "300", "kill_waste": "1600", "snapshot": str(NOW),
    }  # fmt: skip


def test_the_same_snapshot_changes_nothing_however_late_it_is_folded_again():
    once = folded(job(), StatusSnapshot(VALUES, NOW, NOW))
    again = folded(once.job, StatusSnapshot(VALUES, NOW + 1000, NOW))
    assert again.changes == 0
    assert again.job == once.job


def test_a_later_snapshot_replaces_an_earlier_one_and_never_the_other_way_round():
    once = folded(job(), StatusSnapshot(VALUES, NOW, NOW)).job
    later = StatusSnapshot({**VALUES, "used_CPU": 2}, NOW + 60, NOW + 60)
    done = folded(once, later).job
    assert done.delivered.get("Processors", context="Used").text == "2"
    assert done.delivered.get("Processors", context="").attributes == {"consumptionRate": "0.25"}
    assert extensions(done)["snapshot"] == str(NOW + 60)
    assert folded(done, StatusSnapshot(VALUES, NOW, NOW)).changes == 0


def test_more_cores_than_were_given_are_reported():
    given = of_status(job(), StatusSnapshot(VALUES, NOW, NOW), 4)
    assert [finding.code for finding in given.findings] == ["W-RANGE"]


@pytest.mark.parametrize(
    "used, name, text, attributes",
    [
        (Used(cpu_secs=2.5), "CpuDuration", "3", {}),
        (Used(max_rss_bytes=2**31), "Memory", "2", {"metric": "Max", "units": "GB"}),
        (Used(max_swap_bytes=1000), "Swap", "1000", {"metric": "Max", "units": "B"}),
        (Used(max_scratch_bytes=2**20), "Disk", "1", {"metric": "Max", "units": "MB"}),
    ],
)
def test_what_was_measured_is_delivered(used, name, text, attributes):
    done = fold(job(), of_usage(used)).job
    items = done.properties if name == "CpuDuration" else done.delivered
    assert items.get(name).text == text
    assert items.get(name).attributes == attributes
    assert fold(done, of_usage(used)).changes == 0


def test_a_maximum_only_grows():
    done = fold(job(), of_usage(Used(10, 5000))).job
    assert fold(done, of_usage(Used(None, 4000))).changes == 0
    more = fold(done, of_usage(Used(20, 6000))).job
    assert more.delivered.get("Memory").text == "6000"
    assert more.properties.get("CpuDuration").text == "20"


def test_nothing_measured_is_nothing_delivered():
    assert of_usage(Used()) == ()
