"""The runs of a ledger as job objects again: they tell what the rows tell, and no more."""

from collections import Counter
from io import BytesIO

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from mutated_records import READ, SOURCES

import sssjob
from sssjob import records
from sssjob.accounting.report import JobProperties, used
from sssjob.accounting.run import run_of
from sssjob.model import Delivered, Job, Property, Requested
from sssjob.records.record import Converted

pytest.importorskip("duckdb")

from sssjob.errors import DamagedStore
from sssjob.ledger import columns, jobs, ledger

JOB = """
<Job><Id>7</Id><GlobalId>g.7</GlobalId><User>amy</User><Group>phys</Group><Account>chem</Account>
<Machine>c</Machine><State>Completed</State><StatusMessage>TIMEOUT</StatusMessage><ExitCode>1</ExitCode>
<SubmitTime>1</SubmitTime><EligibleTime>2</EligibleTime><StartTime>5</StartTime><EndTime>9</EndTime>
<Requested><Processors op="LE">8</Processors><NodeCount>2</NodeCount><Duration>60</Duration>
<Memory units="GB">1</Memory><Resource name="gpus">3</Resource></Requested>
<SuspendDuration>1</SuspendDuration><Delivered><Queue>main</Queue><Partition>p</Partition><QualityOfService>q</QualityOfService>
<Application>vasp</Application><GlobalUser>CN=amy</GlobalUser><Duration>4</Duration>
<CpuDuration>7</CpuDuration><Processors>8</Processors>
<NodeCount>2</NodeCount><Memory units="KB" metric="Max">1.5</Memory>
<Resource name="gpu">3</Resource><Resource name="energy" units="kWh">0.5</Resource></Delivered>
</Job>
"""
# Where a row came from, and how its sums are written down; not what they are.
BESIDE = {columns.TOLD, columns.EXACT, columns.SOURCE, columns.LINE}


def told(row):
    return {name: each for name, each in zip(columns.NAMES, row, strict=True) if name not in BESIDE}


def test_the_job_of_a_row_says_all_that_the_row_says():
    row = columns.row(sssjob.loads(JOB), "log", 3)
    assert all(each is not None for each in told(row).values())
    assert told(columns.row(jobs.job(row))) == told(row)


def test_what_a_row_does_not_say_its_job_does_not_say():
    row = columns.row(sssjob.loads("<Job><Id>7</Id></Job>"))
    assert sssjob.dumps(jobs.job(row)) == "<Job><Id>7</Id></Job>"


def test_the_job_of_a_row_is_a_valid_document():
    job = jobs.job(columns.row(sssjob.loads(JOB)))
    found = sssjob.check_source(sssjob.dumps(job).encode())
    assert [each for each in found if each.severity == "error"] == []


# The properties that a row has something of.
NAMES = {
    *(name for names in columns.NAMED.values() for name in names), "Id", "GlobalId", "ExitCode",
    "SubmitTime", "EligibleTime", "StartTime", "EndTime", "SuspendDuration", "CpuDuration",
    "Duration", "Processors", "NodeCount", "Memory", "Resource",
}  # fmt: skip


def is_left_out(place, name, attributes, text):
    """Whether a row does not tell a property, as the page says, or tells it in another way."""
    if place == "Requested":  # of a range the upper bound; of a choice, the first as delivered
        lower = attributes.keys() & {"conj", "group"} or attributes.get("op") == "GE"
        if lower or name in ("QualityOfService", "Resource"):
            return True
    if name == "Memory":  # in KB and MB, and only the most
        return attributes.get("metric", "Max") != "Max" or place == "Requested"
    return name == "Resource" and attributes.get("name") not in ("Energy", "GPU")


def placed(job):
    """The properties of a job that a row may tell, with where they stand."""
    places = [("Job", job.items), *((type(each).__name__, each.items) for each in job.items
                                    if type(each) in (Requested, Delivered))]  # fmt: skip
    return Counter(
        (place, each.name, each.text, *sorted(each.attributes.items()))
        for place, items in places
        for each in items
        if type(each) is Property and each.name in NAMES
        and not is_left_out(place, each.name, each.attributes, each.text)
    )  # fmt: skip


# The first queue of a choice, the most of a range, and what a usage record calls otherwise.
DIFFERS = {
    "slurm-jobcomp": {("Delivered", "Queue", "short")},
    "lsf": {("Requested", "Processors", "8")},
    "ur": {
        ("Delivered", "Resource", "1500"),
        ("Delivered", "Memory", "1263616"),
        ("Delivered", "Memory", "50"),  # without a metric
    },
}


@pytest.mark.parametrize(
    "format_, name", [(format_, name) for format_, names in SOURCES.items() for name in names]
)
def test_the_job_of_a_row_has_everything_where_the_records_have_it(format_, name):
    """Also of jobs that never started, and of all that a row tells and a query may ask."""
    found = [each.job for each in records.jobs(format_, BytesIO(READ[name]))
             if isinstance(each, Converted)]  # fmt: skip
    assert found
    for job in found:
        wanted, told = placed(job), placed(jobs.job(columns.row(job)))
        differs = {each[:3] for each in (*(wanted - told), *(told - wanted))}
        assert differs <= DIFFERS.get(format_, set())


numbers = st.sampled_from(["0", "1", "7", "1.5", "1000000007", "9223372036854775808", "1e30"])
DELIVERED = {
    "Duration": {}, "CpuDuration": {}, "Processors": {}, "NodeCount": {},
    "Memory": {"units": "KB", "metric": "Max"}, "Resource": {"name": "GPU"},
    "Resource ": {"name": "Energy", "units": "kWh"},
}  # fmt: skip


@st.composite
def some_jobs(draw):
    given_ = [
        Property(name.strip(), draw(numbers), attributes)
        for name, attributes in DELIVERED.items()
        if draw(st.booleans())
    ]
    asked = Property("Memory", draw(numbers), {"units": "MB"})
    return Job((Property("Id", "7"), Requested((asked,)), Delivered(tuple(given_))))


@examples(60)
@given(some_jobs())
def test_reports_of_both_are_the_same(job):
    made = used(JobProperties(sssjob.loads(sssjob.dumps(jobs.job(columns.row(job))))))
    assert made == used(JobProperties(job))


@pytest.mark.parametrize("wall, count", [("0", "2"), ("7", "2"), ("", "2"), ("7", "1.5")])
def test_the_gpus_of_a_run_are_told_however_short_it_was(wall, count):
    duration = f"<Duration>{wall}</Duration>" if wall else ""
    resource = f'<Resource name="GPU">{count}</Resource>'
    text = f"<Job><Id>7</Id><Delivered>{duration}{resource}</Delivered></Job>"
    assert sssjob.dumps(jobs.job(columns.row(sssjob.loads(text)))) == text


@st.composite
def told_runs(draw, number):
    told = {
        "Machine": draw(st.sampled_from(["", "c", " d "])),
        "SubmitTime": draw(st.sampled_from(["", "0", "1700000000", "1e30"])),
        "StartTime": draw(st.sampled_from(["", "1700000100"])),
        "EndTime": draw(st.sampled_from(["", "1700000200", "-5"])),
        "ExitCode": draw(st.sampled_from(["", "0", "1", "1:9", "x"])),
    }
    own = [Property(name, text) for name, text in told.items() if text]
    name = draw(st.sampled_from(["{}", "{}_7", "{}[3].host", "a{}", " {} "])).format(number)
    return Job((Property("Id", name), *own, *draw(some_jobs()).items[1:]))


@examples(10)
@given(st.data())
def test_runs_for_an_audit_are_those_of_the_job_objects(tmp_path_factory, data):
    kept = ledger.create(tmp_path_factory.mktemp("ledger") / "usage")
    kept.add([columns.row(data.draw(told_runs(number))) for number in range(1, 9)])
    assert [*jobs.runs(kept)] == [run_of(job) for job in jobs.jobs(kept)]


def test_replaced_runs_are_left_out(tmp_path):
    kept = ledger.create(tmp_path / "usage")
    runs = "<Job><Id>{}</Id><SubmitTime>1</SubmitTime><StartTime>5</StartTime>{}</Job>"
    for end in ("", "<EndTime>9</EndTime>"):
        kept.add([columns.row(sssjob.loads(runs.format(each, end))) for each in (1, 2)])
    assert [(job.id, job["EndTime"].text) for job in jobs.jobs(kept)] == [("1", "9"), ("2", "9")]


def test_a_torn_file_is_told_and_the_rest_is_read(tmp_path):
    kept = ledger.create(tmp_path / "usage")
    for number in (1, 2):
        kept.add([columns.row(sssjob.loads(f"<Job><Id>{number}</Id></Job>"))])
    torn = kept.home / kept.manifest().files[0].path
    torn.write_bytes(torn.read_bytes()[:-1])
    faults = []
    assert [job.id for job in jobs.jobs(kept, faults.append)] == ["2"]
    assert [str(torn) in str(fault) for fault in faults] == [True]
    with pytest.raises(DamagedStore):
        next(jobs.jobs(kept))
    assert [run.id for run in jobs.runs(kept, lambda _: None)] == ["2"]
    with pytest.raises(DamagedStore):
        next(jobs.runs(kept))


@pytest.mark.parametrize("text, code", [
    ("1", 1), (" +5 ", 5), ("-1", -1), (str(2**63 - 1), 2**63 - 1), (str(2**63), None),
    ("1_0", None), ("٣", None), ("\u00a05", None), ("", None),
])  # fmt: skip
def test_an_exit_code_is_the_integer_that_the_standard_reads(text, code):
    job = Job.of(Property("Id", "1"), Property("ExitCode", text))
    assert dict(zip(columns.NAMES, columns.row(job), strict=True))["exit_code"] == code
