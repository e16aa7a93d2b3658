"""The state of a batch system, as any program asks for it."""

import io
from pathlib import Path

import pytest

from sssjob.document.sources import NamedSource
from sssjob.errors import UnusableInput
from sssjob.lcginfo.reader import ReaderOptions
from sssjob.lcginfo.snapshot import UnusableOutput
from sssjob.verbs import queue_state
from sssjob.verbs.queue_state import QueueReading

DATA = Path(__file__).parents[1] / "data" / "lcginfo"
JOB = b"<Job><Id>7</Id><User>amy</User><Queue>q</Queue><State>Idle</State></Job>"


def piped(data, name="<stdin>"):
    return NamedSource(name, io.BufferedReader(io.BytesIO(data)))


def named(*names):
    return [NamedSource(name, DATA / name) for name in names]


@pytest.mark.parametrize("sources, kind", [
    pytest.param([piped(JOB)], "sss", id="documents"),
    pytest.param(named("text/lrmsinfo"), "lrmsinfo", id="lrmsinfo"),
    pytest.param(named("pbs/qstat-f.txt", "pbs/pbsnodes-a.txt"), "auto", id="outputs"),
    pytest.param([piped(JOB), *named("pbs/qstat-f.txt")], "auto", id="both"),
])  # fmt: skip
def test_sources_are_recognised_together(sources, kind):
    assert queue_state.recognised(sources)[0] == kind


def test_outputs_are_parts_of_one_state_and_each_is_told_of_by_its_name():
    said = []
    reading = QueueReading(ReaderOptions(now=5), lambda name: lambda it: said.append((name, it)))
    found = reading.read("auto", named("slurm-24.11/sinfo.json", "slurm-24.11/squeue.json"))
    assert (found.nactive, found.nfree, found.now, said) == (16, 12, 5, [])
    found = reading.read("auto", named("pbs/qstat-f.txt", "pbs/pbsnodes-a.txt"))
    assert (found.nactive, len(found.jobs)) == (8, 5)
    assert {name for name, _ in said} == {"pbs/qstat-f.txt, pbs/pbsnodes-a.txt"}


def test_documents_say_nothing_of_slots():
    found = QueueReading(ReaderOptions(slots=4)).read("auto", [piped(JOB)])
    assert [(job.jobid, job.state) for job in found.jobs] == [("7", "queued")]
    assert (found.nactive, found.nfree) == (4, 4)


def test_what_cannot_be_read_is_told():
    with pytest.raises(UnusableOutput, match="x: no batch system is known to print this"):
        QueueReading().read("auto", [piped(b"hello\n", "x")])
    with pytest.raises(UnusableInput, match="name a store"):
        QueueReading().read("store", [piped(JOB)])


def test_an_array_of_jobs_is_of_slurm_where_the_jobs_are():
    flux = NamedSource("jobs.json", DATA.parent / "records/flux/jobs.json")
    read = {}
    for kind in ("auto", "sss"):
        found = QueueReading(ReaderOptions(slots=9, now=5)).read(kind, [flux])
        read[kind] = [(job.jobid, job.state) for job in found.jobs]
    assert read["auto"] == read["sss"]
    assert len(read["auto"]) > 1


def test_jobs_that_ran_are_one_log_in_the_order_in_which_they_were_ready():
    def ran(id_, submitted):
        return (
            f"<Job><Id>{id_}</Id><User>amy</User><Queue>q</Queue><State>Completed</State>"
            f"<SubmitTime>{submitted}</SubmitTime><StartTime>{submitted + 9}</StartTime>"
            f"<EndTime>{submitted + 99}</EndTime></Job>"
        ).encode()

    said = []
    reading = QueueReading(about=lambda name: lambda it: said.append((name, it.unread)))
    found = reading.past([piped(ran(1, 500), "a"), piped(b"<Job", "b"), piped(ran(2, 400), "c")])
    assert [job.ready for job in found] == [400, 500]
    assert said == [("b", True)]
