"""Reports by workers: each adds up its part, and the sums are those of one process."""

import io
import json
from pathlib import Path
from unittest import mock

import pytest
from click.testing import CliRunner
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob import store
from sssjob.accounting.report import Report
from sssjob.cli import sssjob
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


LATER = JOB.format(7, 1).replace("</Id>", "</Id><StartTime>5</StartTime>")
EARLIER = LATER.replace("<EndTime>1700000007</EndTime>", "<State>Running</State>")


@pytest.mark.parametrize("given", ["s.db a.sss", "a.sss s.db", "s.db s.db", "s.db log"])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_what_a_store_has_and_other_sources_tell_counts_once(given, workers, tmp_path):
    (tmp_path / "a.sss").write_text("".join((*JOBS[:6], EARLIER)))
    log = "JobID|State|Start|End|ElapsedRaw|NCPUS\n7|RUNNING|5|Unknown|9|1\n"
    (tmp_path / "log").write_text(log)
    with store.open(tmp_path / "s.db", create=True) as jobs:
        jobs.load(io.BytesIO("".join((*JOBS[:6], LATER)).encode()))
    names = [str(tmp_path / name) for name in given.split()]
    words = ["report", "--json", "--workers", workers]
    once = CliRunner().invoke(sssjob, [*words, str(tmp_path / "s.db")])
    found = CliRunner().invoke(sssjob, [*words, *names])
    jobs = json.loads(once.stdout)["total"]["jobs"]
    untold = 0 if "log" in given else 6  # these jobs state no time, and so no run
    assert json.loads(found.stdout)["total"]["jobs"] == jobs + untold
    assert "read before" in found.stderr


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
