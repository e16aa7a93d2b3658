"""Reports by workers: each adds up its part, and the sums are those of one process."""

import io
from pathlib import Path
from unittest import mock

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob.accounting.report import Report
from sssjob.document import guesses, loads
from sssjob.document.sources import NamedSource
from sssjob.records import parts
from sssjob.verbs.report import ReportedJobs

pytestmark = pytest.mark.usefixtures("ready_workers")

SACCT = Path(__file__).parents[1] / "data" / "slurm" / "24.11" / "all-steps-epoch.txt"
JOB = (
    "<Job><Id>{0}</Id><User>u{1}</User><EndTime>17000{0:05}</EndTime><Delivered>"
    '<Processors>{1}</Processors><Memory metric="Max" units="GB">0.{0}</Memory>'
    "<Duration>{0}</Duration></Delivered></Job>\n"
)
JOBS = [JOB.format(number, number % 4) for number in range(60)]
ODD = ("<Job>", "<!-- a\n<Job>\n-->\n", "text", "<Job><Id>7</Job>\n", "<Job Id='&nope;'/>\n", "\n")


def added(source, processes, **options):
    errors, said = [], []
    report = Report(("user", "day"))
    jobs = ReportedJobs([source], errors.append, processes=processes, **options)
    with mock.patch.object(guesses, "SIZE", 300), mock.patch.object(parts, "SIZE", 3000):
        jobs.add_to(report)
    return report, list(map(str, errors)), jobs.reading.counts, said


@examples(8)
@given(
    st.sampled_from([("", ""), ("<Jobs>\n", "</Jobs>")]),
    st.lists(st.sampled_from((*JOBS, *ODD)), min_size=8, max_size=40),
)
def test_the_sums_are_those_of_one_process(wrapper, some):
    data = (wrapper[0] + "".join(JOBS[:12] + some) + wrapper[1]).encode()
    one, two = (added(NamedSource("jobs", io.BytesIO(data)), count) for count in (1, 2))
    assert two == one


@pytest.mark.parametrize("name", ["slurm", "auto"])
def test_records_are_added_up_in_parts(name):
    one, two = (added(NamedSource("log", SACCT), count, format=name) for count in (1, 2))
    assert two == one
    assert one[0].groups


@given(st.permutations(JOBS[:9]), st.integers(0, 9), st.integers(0, 9))
def test_merging_is_associative_and_keeps_no_order(jobs, first, second):
    def of(some):
        report = Report()
        for job in some:
            report.add(loads(job))
        return report

    cuts = sorted((first, second))
    a, b, c = (of(each) for each in (jobs[: cuts[0]], jobs[cuts[0] : cuts[1]], jobs[cuts[1] :]))
    c.merge(a)
    b.merge(c)
    assert b == of(JOBS[:9])
