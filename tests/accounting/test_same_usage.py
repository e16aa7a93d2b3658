"""The same jobs, written in the text of every format, have used the same: GPUs included."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from written_records import FORMATS, Ran

from sssjob.accounting.report import JobProperties, Report, used
from sssjob.records import find, read_records
from sssjob.records.builders import OBJECTS
from sssjob.records.record import Converted, Options

LIMIT = 10**7

amounts = st.builds(
    Ran, number=st.just(0), hosts=st.integers(1, 3), slots=st.integers(1, 4),
    gpus=st.integers(0, 2), wall=st.integers(0, LIMIT),
    cpu=st.integers(1, LIMIT),  # sacct has 0 where nobody measured
    memory=st.integers(1, LIMIT),
)  # fmt: skip
some_jobs = st.lists(amounts, min_size=1, max_size=4).map(
    lambda jobs: [Ran(**{**vars(job), "number": place}) for place, job in enumerate(jobs, 1)]
)


def expected(job, untold):
    found = {
        "wall": job.wall, "slots": job.wall * job.processors, "cpu": job.cpu,
        "processors": job.processors, "memory": job.memory << 10, "nodes": job.wall * job.hosts,
        "gpus": job.wall * job.all_gpus if job.gpus else None,
    }  # fmt: skip
    return {name: None if name in untold else value for name, value in found.items()}


@pytest.mark.parametrize("name", FORMATS)
@given(jobs=some_jobs)
def test_a_job_has_used_the_same_in_every_format(name, jobs):
    format_name, write, untold = FORMATS[name]
    data = "\n".join(write(jobs)).encode() + b"\n"
    options = Options(zone="UTC", steps=False)
    outcomes = [*read_records(find(format_name), io.BytesIO(data), options, OBJECTS)]
    found = [item.job for item in outcomes if isinstance(item, Converted)]
    assert [job.id.partition(".")[0] for job in found] == [str(job.number) for job in jobs]
    told = [used(JobProperties(job)) for job in found]
    for sums, job in zip(told, jobs, strict=True):
        known = expected(job, untold)
        assert {key: getattr(sums, key) for key in known} == known
    report = Report(by=("user",))
    for job in found:
        report.add(job)
    assert (report.total.gpus or 0) == sum(job.wall * job.all_gpus for job in jobs)
