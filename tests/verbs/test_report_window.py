"""A report in a window asks a store only for documents that may have jobs of it."""

from pathlib import Path

import pytest
from engines import address  # noqa: F401 (fixtures)

from sssjob import store
from sssjob.accounting.report import Report
from sssjob.document.sources import NamedSource
from sssjob.measures import EXTRA
from sssjob.verbs.report import ReportedJobs

JOB = "<Job><Id>{}</Id><User>amy</User>{}<Duration>7</Duration></Job>"
# Ends that columns decide, and others: in the window of 10 to 20, outside, or odd in any way.
ENDS = [
    "<EndTime>9</EndTime>", "<EndTime>10</EndTime>", "<EndTime> 19 </EndTime>",
    "<EndTime>20</EndTime>", "<EndTime>99999999999</EndTime>", "<EndTime>12.5</EndTime>",
    "<EndTime>+12</EndTime>", "<EndTime>1970-01-01T00:00:12Z</EndTime>", "<EndTime/>", "",
    "<EndTime>never</EndTime>", "<EndTime>12</EndTime><EndTime>30</EndTime>",
    "<EndTime>30</EndTime><EndTime>12</EndTime>", "<EndTime>-1</EndTime>",
    "<Delivered><EndTime>12</EndTime></Delivered>", "<s:EndTime xmlns:s='urn:x'>12</s:EndTime>",
    "<EndTime>30<!-- 12 --></EndTime>", "<EndTime>1e1</EndTime>", "<EndTime>010</EndTime>",
]  # fmt: skip
GROUP = (
    "<JobGroup><Id>g</Id><JobDefaults><EndTime>12</EndTime></JobDefaults><Job><Id>in</Id></Job>"
    "<Job><Id>out</Id><EndTime>30</EndTime></Job></JobGroup>"
)
WINDOWS = [(10, 20), (10, None), (None, 20), (13, 14), (10, 10), (10**12, None), (None, None)]


@pytest.fixture
def filled(address):  # noqa: F811 (a fixture)
    with store.open(address, create=True) as jobs:
        documents = [*(JOB.format(*each) for each in enumerate(ENDS)), GROUP]
        jobs.load("\n".join(documents).encode())
    return address


def told(filled, since, until, processes=1):
    report, faults = Report(("user",), since, until, extra=tuple(EXTRA)), []
    sources = [NamedSource(filled, Path(filled))]
    ReportedJobs(sources, faults.append, processes=processes).add_to(report)
    return report.groups, report.outside, faults


@pytest.mark.parametrize("since, until", WINDOWS)
def test_it_has_the_numbers_of_a_look_at_every_document(filled, since, until):
    wanted = Report(("user",), since, until, extra=tuple(EXTRA))
    for block in ReportedJobs([NamedSource(filled, Path(filled))], pytest.fail):
        wanted.add(block)
    assert told(filled, since, until) == (wanted.groups, wanted.outside, [])


def test_several_processes_count_the_same(filled):
    assert told(filled, 10, 20, 2) == told(filled, 10, 20)


def test_documents_that_ended_at_another_time_are_not_opened(filled):
    others = []
    with store.open(filled, read_only=True) as jobs:
        parts = [*jobs.ended_within(10, 20, others.append)]
    opened = {row[2] for part in parts for row in part.rows}
    assert others == [4]
    assert {"0", "3", "4"}.isdisjoint(opened)
    assert {"1", "2", "g"} <= opened
