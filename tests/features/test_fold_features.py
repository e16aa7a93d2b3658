from fractions import Fraction

import pytest

from sssjob import document
from sssjob.features.derive import derive
from sssjob.features.fold import facts
from sssjob.features.read import modern, read
from sssjob.features.write import write
from sssjob.fold import fold
from sssjob.model import Delivered, Job, Requested

START = 1_700_000_000


def delivered(body="", machine=(), now=None, **features):
    job = document.loads(f"<Job><Id>PBS.1</Id>{body}</Job>")
    given = facts(job, features, dict(machine), now=now)
    folded = fold(job, given.facts, source="DIR")
    return folded.job, (*given.findings, *folded.findings)


# The rows of section 7: key, value, where it is found afterwards.
ROWS = [
    pytest.param({"allocated_cpu": 8}, "Delivered/Processors", {}, "8", id="allocated_cpu"),
    pytest.param({"jobstart_secs": START}, "StartTime", {}, str(START), id="jobstart_secs"),
    pytest.param(
        {"hs06_job": Fraction("11.25")}, "Delivered/Resource", {"name": "HS06"}, "11.25",
        id="hs06_job",
    ),
    pytest.param(
        {"shutdowntime_job": START}, "DeadlineTime", {}, str(START),
        id="shutdowntime_job",
    ),
    pytest.param(
        {"wall_limit_secs": 60}, "ResourceLimit", {"name": "Duration", "type": "Hard"}, "60",
        id="wall_limit_secs",
    ),
    pytest.param(
        {"cpu_limit_secs": 60}, "ResourceLimit", {"name": "CPUTime", "type": "Hard"}, "60",
        id="cpu_limit_secs",
    ),
    pytest.param(
        {"max_rss_bytes": 60}, "ResourceLimit", {"name": "ResidentSetSize", "type": "Hard"}, "60",
        id="max_rss_bytes",
    ),
    pytest.param(
        {"max_swap_bytes": 60}, "ResourceLimit", {"name": "Swap", "type": "Hard"}, "60",
        id="max_swap_bytes",
    ),
    pytest.param(
        {"scratch_limit_bytes": 60}, "ResourceLimit", {"name": "Disk", "type": "Hard"}, "60",
        id="scratch_limit_bytes",
    ),
    pytest.param(
        {"cpufactor_lrms": Fraction(3, 2)}, "Extension",
        {"type": "JobFeatures", "name": "cpufactor_lrms"}, "1.5", id="cpufactor_lrms",
    ),
    pytest.param(
        {"grace_secs_job": 0}, "Extension", {"type": "JobFeatures", "name": "grace_secs_job"}, "0",
        id="grace_secs_job",
    ),
    pytest.param(
        {"volume": "eleven"}, "Extension", {"type": "JobFeatures", "name": "volume"}, "eleven",
        id="unknown key",
    ),
]  # fmt: skip
MACHINE_ROWS = [
    pytest.param(
        {"hs06": 100}, "Delivered/Resource", {"name": "HS06", "context": "Configured"}, "100",
        id="hs06",
    ),
    pytest.param(
        {"total_cpu": 16}, "Delivered/Processors", {"context": "Configured"}, "16", id="total_cpu",
    ),
    pytest.param({"shutdowntime": START}, "DeadlineTime", {}, str(START), id="shutdowntime"),
    *(
        pytest.param(
            {name: 2}, "Extension", {"type": "MachineFeatures", "name": name}, "2", id=name
        )
        for name in ("phys_cores", "log_cores", "jobslots", "grace_secs", "shutdown_command")
    ),
]  # fmt: skip


def found(job, path, attributes):
    items = job.delivered if path.startswith("Delivered/") else job.properties
    return [item.text for item in items.all(path.rpartition("/")[2], **attributes)]


@pytest.mark.parametrize("features, path, attributes, text", ROWS)
def test_each_key_of_the_job_has_a_place(features, path, attributes, text):
    job, findings = delivered(**features)
    assert found(job, path, attributes) == [text]
    assert findings == ()


@pytest.mark.parametrize("machine, path, attributes, text", MACHINE_ROWS)
def test_each_key_of_the_machine_has_a_place(machine, path, attributes, text):
    job, findings = delivered(machine=machine)
    assert found(job, path, attributes) == [text]
    assert findings == ()


def test_normalised_limits_are_not_stored():
    job, _ = delivered(cpu_limit_secs_lrms=60, wall_limit_secs_lrms=60)
    assert job == Job.of(Id="PBS.1")


def test_processors_of_the_machine_stand_beside_those_of_the_job():
    job, findings = delivered(allocated_cpu=8, machine={"total_cpu": 16})
    assert [item.text for item in job.delivered.all("Processors")] == ["8", "16"]
    assert findings == ()


def test_the_earlier_shutdown_is_the_deadline():
    for body in ("", f"<DeadlineTime>{START + 50}</DeadlineTime>"):
        job, findings = delivered(
            body, shutdowntime_job=START + 30, machine={"shutdowntime": START + 20}
        )
        assert job.get("DeadlineTime") == str(START + 20)
        assert findings == ()


def test_a_shutdown_before_the_start_is_no_deadline():
    job, _ = delivered(jobstart_secs=START, machine={"shutdowntime": START - 1})
    assert job.get("DeadlineTime") == ""


@pytest.mark.parametrize(
    "body, limit, count",
    [
        pytest.param("<Requested><Duration>60</Duration></Requested>", 60, 0, id="as requested"),
        pytest.param("<Requested><Duration>60</Duration></Requested>", 90, 1, id="more"),
        pytest.param(
            "<Requested><Duration op='GE'>60</Duration></Requested>", 90, 0, id="at least"
        ),
        pytest.param("<Duration>60</Duration>", 90, 1, id="bare"),
        pytest.param(
            "<Requested><Duration group='1'>60</Duration></Requested>", 90, 0, id="unreadable"
        ),
    ],
)
def test_a_wall_limit_is_compared_with_the_request_and_never_delivered(body, limit, count):
    job, findings = delivered(body, wall_limit_secs=limit)
    assert [finding.code for finding in findings] == ["W-DISAGREE"] * count
    assert job.blocks(Delivered) == ()
    assert job.properties.all("ResourceLimit") == ()


@pytest.mark.parametrize(
    "body, now, expected",
    [
        pytest.param("", None, "", id="running, and nobody says what time it is"),
        pytest.param("", START + 70, "70", id="running until now"),
        pytest.param(f"<EndTime>{START + 50}</EndTime>", START + 70, "50", id="ended"),
        pytest.param(
            f"<EndTime>{START + 50}</EndTime><SuspendDuration>20</SuspendDuration>",
            None,
            "30",
            id="less what it was suspended",
        ),
        pytest.param(f"<EndTime>{START - 1}</EndTime>", None, "", id="ended before it started"),
        pytest.param(
            f"<StartTime>{START - 10}</StartTime><EndTime>{START + 50}</EndTime>",
            None,
            "60",
            id="the job's own start, if it is near",
        ),
    ],
)
def test_duration_is_the_time_in_the_running_state(body, now, expected):
    job, _ = delivered(body, now=now, jobstart_secs=START)
    assert job.delivered.text("Duration") == expected


def test_a_start_that_differs_by_more_than_a_minute_is_reported_and_kept():
    for seconds, count in ((60, 0), (61, 1)):
        job, findings = delivered(f"<StartTime>{START}</StartTime>", jobstart_secs=START + seconds)
        assert job.get("StartTime") == str(START)
        assert len(findings) == count


def test_the_directory_of_another_job_gives_no_facts():
    job = Job.of(Id="heavy water")
    assert facts(job, {"job_id": "heavy%20water", "allocated_cpu": 8}).about
    wrong = facts(job, {"job_id": "PBS.2", "allocated_cpu": 8})
    assert (wrong.about, wrong.facts) == (False, ())
    assert [str(finding.severity) for finding in wrong.findings] == ["error"]
    assert facts(job, {"job_id": "PBS.2", "allocated_cpu": 8}, force=True).facts


DOCUMENT = """<Job><Id>a b</Id><StartTime>1700000000</StartTime>
  <DeadlineTime>1800000000</DeadlineTime>
  <Extension type="JobFeatures" name="grace_secs_job">600</Extension>
  <Requested><Processors op="GE">8</Processors><Processors op="LE">16</Processors>
    <Duration>3600</Duration><Memory op="GE" units="GB">2</Memory><Swap>1</Swap><Disk>9</Disk>
  </Requested></Job>"""


def test_what_a_job_gave_is_folded_back_and_gives_the_same_again(tmp_path):
    job = document.loads(DOCUMENT)
    features = derive(job, now=1_700_000_000)
    write(features.values, tmp_path / "job")
    values = modern(read(tmp_path / "job")).values
    once = fold(job, facts(job, values).facts)
    assert once.findings == ()
    assert once.job.blocks(Requested) == job.blocks(Requested)
    twice = fold(once.job, facts(once.job, values).facts)
    assert (twice.job, twice.changes) == (once.job, 0)
    assert derive(once.job, now=1_700_000_000).values == features.values


def test_a_directory_of_another_job_is_told_of_a_job_without_an_id():
    (found,) = facts(Job.of(Executable="/bin/true"), {"job_id": "1"}).findings
    assert found.message == "the directory belongs to job 1, not to one without an Id"
