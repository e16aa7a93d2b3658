"""Entries as job objects, and job objects as entries."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob import loads, store
from sssjob.check.sources import check_source
from sssjob.document import dumps, read
from sssjob.lcginfo import jobs, lrmsinfo
from sssjob.lcginfo.snapshot import QueuedJob

SAMPLE = Path(__file__).parents[1] / "data" / "lcginfo" / "text" / "lrmsinfo"
NAMES = st.text("abcXYZ019._-", min_size=1, max_size=9)
TIMES = st.integers(0, 2**31).map(float)
ENTRIES = st.builds(
    QueuedJob,
    queue=NAMES,
    group=NAMES,
    state=st.sampled_from(("queued", "running", "pending", "done")),
    jobid=NAMES,
    user=NAMES | st.just(""),
    name=NAMES | st.just(""),
    qtime=st.none() | TIMES,
    start=st.none() | TIMES,
    maxwalltime=st.none() | TIMES,
    cpucount=st.integers(1, 10**4),
    walltime=st.none() | TIMES,
    priority=st.none() | st.integers(-1024, 2**31).map(float),
    reservation=st.just(""),  # which a job object cannot say
).map(lambda job: job._replace(start=None) if job.state in ("queued", "pending") else job)


def entry(text, **options):
    remarks = []
    found = list(jobs.from_blocks([loads(text)], report=remarks.append, **options))
    return found, [remark.message for remark in remarks]


UNKNOWN_WORD = (
    '<Job awarenessPolicy="{}"><Id>1</Id><Queue>q</Queue><User>amy</User>'
    '<Requested><Processors op="APPROX">4</Processors></Requested></Job>'
)


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ("Reject", ["job '1': op 'APPROX' is not understood, and its awarenessPolicy is Reject"]),
        ("Warn", ["job '1': op 'APPROX' is not understood, and its awarenessPolicy is Warn"]),
        ("Ignore", []),
    ],
)
def test_a_job_stands_in_the_queue_without_what_is_not_understood_of_it(policy, told):
    (found,), remarks = entry(UNKNOWN_WORD.format(policy))
    assert (found.cpucount, remarks) == (4, told)


def test_the_policy_of_a_group_holds_for_what_is_not_understood_of_its_jobs():
    text = UNKNOWN_WORD.replace(' awarenessPolicy="{}"', "")
    (found,), remarks = entry(f'<JobGroup awarenessPolicy="Ignore"><Id>g</Id>{text}</JobGroup>')
    assert (found.cpucount, remarks) == (4, [])


def test_what_nothing_in_a_queue_depends_on_is_not_looked_for():
    job = (
        "<Job><Id>1</Id><Queue>q</Queue><User>amy</User>"
        '<Dependency condition="OnMoon">7</Dependency></Job>'
    )
    assert entry(job)[1] == []


STORED = """\
<Job><Id>1</Id><User>amy</User><Queue>long</Queue><State>Running</State><StartTime>900</StartTime></Job>
<Job><Id>2</Id><User>amy</User><Queue>long</Queue><State>Completed</State><EndTime>990</EndTime></Job>
<Job><Id>3</Id><User>amy</User><Queue>long</Queue><State>Completed</State><EndTime>500</EndTime></Job>
<Job><JobId>4</JobId><UserId>amy</UserId><QueueName>long</QueueName><EndTime>500</EndTime></Job>
<JobGroup><Id>g</Id><JobDefaults><User>bob</User><Queue>short</Queue></JobDefaults>\
<Job><Id>5</Id><State>Idle</State><Requested><Processors>4</Processors></Requested></Job>\
<Job><Id>6</Id><State>Completed</State><EndTime>10</EndTime></Job><Job>1</Job></JobGroup>
"""


def test_a_store_gives_what_has_not_ended_and_what_ended_lately(tmp_path):
    with store.open(tmp_path / "jobs.db", create=True, by="amy") as stored:
        with stored.change() as change:
            for line in STORED.splitlines():
                change.put(line.encode())
        found = {job.jobid: job for job in jobs.from_store(stored, since=900)}
    assert {name: job.state for name, job in found.items()} == {
        "1": "running", "2": "done", "5": "queued",
    }  # fmt: skip
    assert (found["5"].group, found["5"].queue, found["5"].cpucount) == ("bob", "short", 4)


@given(ENTRIES)
def test_an_entry_comes_back_from_its_job_object(found):
    document = dumps(jobs.to_job(found))
    assert not [item for item in check_source(document.encode()) if item.severity == "error"]
    assert list(jobs.from_blocks([loads(document)])) == [found]


def test_the_sample_of_the_text_becomes_valid_documents_at_the_time_of_the_clock():
    snapshot = lrmsinfo.read(io.BytesIO(SAMPLE.read_bytes()))
    found = list(jobs.to_jobs(snapshot, 1_700_000_000 - snapshot.now))
    assert [job.id for job in found] == [f"entry-{number}" for number in range(1, 6)]
    assert found[0].get("StartTime") == "1700000000"
    assert found[0].get("SubmitTime") == str(1_700_000_000 - 201)
    for job in found:
        assert not list(check_source(dumps(job).encode()))


def test_the_hidden_offset_of_rome_in_summer_goes():
    # 2013-08-21T11:37:25+02:00, as a producer there writes it in summer.
    entry = QueuedJob("long", "atlas", "queued", "1", qtime=1377074245.0)
    job = jobs.to_job(entry, 1377077845 - 1377074245)
    assert job["SubmitTime"].value == 1377077845


@given(st.text(), st.text())
def test_any_name_that_a_user_chooses_stands_in_a_document(jobid, name):
    document = dumps(jobs.to_job(QueuedJob("q", "g", "queued", jobid, name=name), number=1))
    assert not [item for item in check_source(document.encode()) if item.severity == "error"]


def test_a_time_before_1970_and_a_strange_state_are_reported_and_left_out():
    remarks = []
    job = jobs.to_job(QueuedJob("q", "g", "lost", "1", qtime=5.0), -10, remarks.append, 7)
    assert {item.name for item in job.properties} == {"Id", "Group", "Queue"}
    assert [remark.line for remark in remarks] == [7, 7]


@pytest.mark.parametrize("text, state", [
    pytest.param("<State>Idle</State>", "queued", id="idle"),
    pytest.param("<State>Idle</State><Hold>User</Hold>", "pending", id="idle-with-a-hold"),
    pytest.param("<State>Hold</State>", "pending", id="hold"),
    pytest.param("<State>Idle</State><StatusMessage>Dependency</StatusMessage>", "pending",
                 id="waits-for-another-job"),
    pytest.param("<State>Idle</State><StatusMessage>Priority</StatusMessage>", "queued",
                 id="waits-for-its-turn"),
    pytest.param("<State>Running</State><StatusMessage>Dependency</StatusMessage>", "running",
                 id="waits-for-nothing"),
    pytest.param("<State>Idle</State><Extension type='PBS' name='job_state'>W</Extension>",
                 "pending", id="waits-for-its-time"),
    pytest.param("<State>Suspended</State>", "running", id="suspended"),
    pytest.param("<State>Completed</State>", "done", id="completed"),
    pytest.param("<State>Mysterious</State>", "unknown", id="another"),
    pytest.param("<StartTime>5</StartTime>", "running", id="started"),
    pytest.param("<StartTime>5</StartTime><EndTime>9</EndTime>", "done", id="ended"),
    pytest.param("<SubmitTime>5</SubmitTime>", "queued", id="submitted"),
])  # fmt: skip
def test_states_of_job_objects(text, state):
    found, _ = entry(f"<Job><Id>1</Id><Queue>q</Queue><Group>g</Group>{text}</Job>")
    assert found[0].state == state


@pytest.mark.parametrize("text, field, value", [
    pytest.param("<Project>p</Project><User>u</User>", "group", "p", id="project"),
    pytest.param("<User>u</User>", "group", "u", id="user"),
    pytest.param("<Delivered><Group>g</Group></Delivered>", "group", "g", id="delivered"),
    pytest.param("<User>u</User><EligibleTime>5</EligibleTime>", "qtime", 5, id="eligible"),
    pytest.param("<User>u</User><Requested><Duration op='GE'>5</Duration>"
                 "<Duration op='LE'>9</Duration></Requested>", "maxwalltime", 9, id="upper-end"),
    pytest.param("<User>u</User><ResourceLimit name='Duration'>7</ResourceLimit>",
                 "maxwalltime", 7, id="limit"),
    pytest.param("<User>u</User><Requested><Processors op='GE'>8</Processors>"
                 "<Processors op='LE'>16</Processors></Requested>", "cpucount", 8, id="at-least"),
    pytest.param("<User>u</User><TaskGroup><TaskCount>3</TaskCount></TaskGroup>"
                 "<TaskGroup><Processors>4</Processors></TaskGroup>", "cpucount", 7, id="groups"),
    pytest.param("<User>u</User>", "cpucount", 1, id="nothing-said"),
    pytest.param("<User>u</User><Delivered><Processors>5</Processors><Duration>9</Duration>"
                 "</Delivered>", "cpucount", 5, id="given"),
])  # fmt: skip
def test_values_of_job_objects(text, field, value):
    found, remarks = entry(f"<Job><Id>1</Id><Queue>q</Queue>{text}</Job>")
    assert getattr(found[0], field) == value
    assert not remarks


def test_a_job_without_queue_or_group_is_reported_and_left_out():
    for text in ("<User>u</User>", "<Queue>q</Queue>"):
        found, (remark,) = entry(f"<Job><Id>1</Id>{text}</Job>")
        assert not found
        assert "nobody could count it" in remark
    assert entry("<Job><Id>1</Id><User>u</User></Job>", queue="long")[0][0].queue == "long"


def test_a_group_gives_its_jobs_with_their_defaults():
    found, _ = entry(
        "<JobGroup><JobDefaults><Queue>q</Queue><User>u</User></JobDefaults>"
        "<Job><Id>1</Id></Job><Job><Id>2</Id><User>v</User></Job></JobGroup>"
    )
    assert [(job.jobid, job.queue, job.user) for job in found] == [("1", "q", "u"), ("2", "q", "v")]


def test_jobs_of_the_examples_are_counted_or_reported():
    path = Path(__file__).parents[2] / "examples" / "queries" / "jobs.xml"
    remarks = []
    found = list(jobs.from_blocks(read(path), queue="default", report=remarks.append))
    assert found
    assert len(list(read(path))) <= len(found) + len(remarks)
