"""Whether a job has ended is said by its State, or else by its end, wherever it is asked."""

import io
import re
import sys

import pytest
from lxml import etree
from outside import declared

import sssjob
from sssjob import graph, registry, resources, states, store
from sssjob.accounting.writers import TARGETS
from sssjob.accounting.writers.writer import WriterOptions
from sssjob.amounts import Scope
from sssjob.check.sources import check_source
from sssjob.errors import InvalidValue
from sssjob.features.derive import derive
from sssjob.fold import JOB, Fact, fold
from sssjob.gateway.forwarding import finished
from sssjob.handlers.view import only
from sssjob.lcginfo.jobs import WRITTEN, from_job, from_store
from sssjob.lcginfo.snapshot import BY_WORD, DONE, PENDING, UNKNOWN
from sssjob.model import Delivered, Job, JobGroup, Property
from sssjob.records.clock import Clock
from sssjob.records.record import Converted, Instead
from sssjob.store.browsing import facet, having, outcomes, page
from sssjob.transform import transform
from sssjob.translate.requests import JobRequest

END = "<EndTime>1775001600</EndTime>"
# fmt: off
CASES = (  # what a job says, and whether it has ended
    ("", False),
    (END, True),
    ("<ExitCode>0</ExitCode>", True),
    ("<StartTime>1774000000</StartTime>", False),
    *((f"<State>{state}</State>", True) for state in sorted(states.OVER)),
    ("<State>CANCELLED</State>", True),
    *((f"<State>{state}</State>", False) for state, step in states.STEPS.items() if step < 2),
    ("<State>Draining</State>", False),  # nobody knows it
    (f"<State>Running</State>{END}", False),  # when it is expected to end
    (f"<State>Draining</State>{END}", False),
    (f"<State>Failed</State>{END}", True),
    ("<State>running</State>", False),
    ("<State>Staging</State><StartTime>1774000000</StartTime>", False),
)
# fmt: on


def ended_in_a_graph(job):
    return bool(graph.of([job]).exits)


def ended_for_other_systems(job):
    return JobRequest(job, Scope(job, "/Job", lambda finding: None)).over


def ended_in_a_queue(job):
    return from_job(job).state == DONE


def ended_where_facts_are_folded(job):
    """A suspension grows only until the job ends."""
    longer = Fact(Property("SuspendDuration", 9), JOB)
    return bool(fold(job, [longer]).findings)


def ended_where_it_is_charged(job):
    return bool(finished(only(job.holding((*job.items, Delivered((Property("Duration", 60),)))))))


ASKED = (
    ended_in_a_graph, ended_for_other_systems, ended_in_a_queue, ended_where_facts_are_folded,
    ended_where_it_is_charged,
)  # fmt: skip


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("said, ended", CASES)
def test_a_job_has_ended_alike_wherever_it_is_asked(ask, said, ended):
    job = sssjob.loads(
        "<Job><Id>1</Id><Queue>long</Queue><User>amy</User>"
        f"<SuspendDuration>7</SuspendDuration>{said}</Job>"
    )
    assert ask(job) == ended


def test_what_ended_long_ago_is_left_out_of_a_queue_however_its_end_is_written(tmp_path):
    with store.open(tmp_path / "jobs.db", create=True, by="amy") as stored:
        with stored.change() as change:
            for number, (said, _) in enumerate(CASES):
                text = f"<Job><Id>{number}</Id><User>amy</User><Queue>long</Queue>{said}</Job>"
                change.put(text.encode())
        found = {job.jobid for job in from_store(stored, since=1_800_000_000)}
    assert found == {str(number) for number, (_, ended) in enumerate(CASES) if not ended}


SIGNAL = '<Extension type="Slurm" name="Signal">9</Extension>'
NO_SUCCESS = graph.FAILED
# fmt: off
ENDINGS = (  # what a job says, the exit that others depend on, and the word of usage records
    ("<State>Completed</State><ExitCode>0</ExitCode>", 0, "completed"),
    ("<State>completed</State><ExitCode>00</ExitCode>", 0, "completed"),
    ("<State>Completed</State><ExitCode>3</ExitCode>", 3, "failed"),
    ("<State>Completed</State>", None, "completed"),
    ("<State>Completed</State><ExitCode>often</ExitCode>", None, "completed"),
    (END, None, "completed"),
    ("<ExitCode>0</ExitCode><StatusMessage>in time</StatusMessage>", 0, "completed"),
    ("<ExitCode>0</ExitCode><StatusMessage>CANCELLED by 0</StatusMessage>", NO_SUCCESS, "aborted"),
    ("<State>Completed</State><StatusMessage>FAILED</StatusMessage>", NO_SUCCESS, "failed"),
    (f"<State>Completed</State><ExitCode>0</ExitCode>{SIGNAL}", NO_SUCCESS, "failed"),
    (f"<State>Completed</State><ExitCode>137</ExitCode>{SIGNAL}", 137, "failed"),
    ("<State>Failed</State><ExitCode>0</ExitCode>", NO_SUCCESS, "failed"),
    ("<State>CANCELLED</State>", NO_SUCCESS, "aborted"),
    ("<State>TimedOut</State><ExitCode>1</ExitCode>", 1, "aborted"),
)
# fmt: on


@pytest.mark.parametrize("said, exit_, word", ENDINGS)
def test_a_job_has_ended_well_or_not_for_others_and_for_usage_records_alike(said, exit_, word):
    job = sssjob.loads(f"<Job><Id>1</Id>{said}</Job>")
    assert graph.of([job]).exits == {"1": exit_}
    group = graph.of(JobGroup.of(job, Job.of(Property("Dependency", "1"), Id="2")))
    assert (group.states()["2"] is graph.State.READY) == (exit_ == 0)
    assert written(job) == by_sheet(job) == word


def status(text):
    return re.search("<urf:Status>(.*)</urf:Status>", text).group(1)


def written(job):
    """The status that the writer of usage records gives a job."""
    out = io.BytesIO()
    writer = TARGETS["ur"].writer(out, WriterOptions(), [].append)
    list(writer.through([Converted(1, job)]))
    writer.close()
    return status(out.getvalue().decode())


def by_sheet(job):
    """The status that the sheet gives it."""
    return status(b"".join(transform("usage-record", sssjob.dumps(job).encode())).decode())


def bare(known):
    """Words without what says that anything may follow."""
    return [word.rstrip("*") for word in known.words]


WORDS = sorted({*states.STEPS, *states.OVER, *states.STEPS_OF_GROUPS, "Draining", "Being removed"})
BESIDE = (  # what may stand beside a State, or alone
    "", END, "<StartTime>1774000000</StartTime>", "<ExitCode>0</ExitCode>", SIGNAL,
    "<ExitCode> +01 </ExitCode>", "<ExitCode>-0</ExitCode>", "<ExitCode>1.5</ExitCode>",
    f"<ExitCode>{'1' * 5000}</ExitCode>",
    f"<ExitCode>0</ExitCode><Delivered>{SIGNAL.replace('9', '00')}</Delivered>{SIGNAL}",
    "<Delivered><State>Completed</State><ExitCode>2</ExitCode></Delivered>",
    *(f"<ExitCode>0</ExitCode><StatusMessage>{said.title()}</StatusMessage>"
      for said in (*bare(states.said_of_aborted()), *bare(states.said_of_failed()), "EXITED",
                   "not failed")),
)  # fmt: skip


@pytest.mark.parametrize("beside", BESIDE, ids=range(len(BESIDE)))
def test_the_sheet_tells_each_state_as_the_writer_of_usage_records_does(beside):
    said = ["", *(f"<State>{each}</State>" for word in WORDS for each in (word, word.upper()))]
    jobs = [sssjob.loads(f"<Job><Id>1</Id>{state}{beside}</Job>") for state in said]
    assert [*map(by_sheet, jobs)] == [*map(written, jobs)]


def test_the_sheet_has_the_words_of_the_table():
    sheet = etree.parse(resources.sheet("usage-record")).getroot()
    said = {each.get("name"): (each.text or "").split() for each in sheet.iterfind("{*}variable")}
    assert said["bad-ends"] == [word.lower() for word in states.BAD_ENDS]
    told = said["said-of-aborted"], [*said["said-of-failed"], "EXIT"]
    known = states.said_of_aborted(), states.said_of_failed()
    assert [sorted(words) for words in told] == [sorted(bare(words)) for words in known]


RANGE = (
    "<Requested><Processors conj='And' group='1' op='GE'>8</Processors>"
    "<Processors group='-1' op='LE'>16</Processors></Requested>"
)


@pytest.mark.parametrize("state", WORDS)
def test_whether_a_job_has_started_is_asked_in_one_way_whatever_its_letters(state):
    """The least of a range is sure before a job starts; after it, it may have had the most."""
    begun = states.STEPS.get(state, 2 if state in states.OVER else 0) > 0 or state == "Active"
    for word in (state, state.upper(), f" {state.lower()} "):
        job = sssjob.loads(f"<Job><Id>1</Id><State>{word}</State>{RANGE}</Job>")
        assert (derive(job, now=0).values["allocated_cpu"] == 16) == begun
        queued = job.holding((*job.items, Property("Queue", "long"), Property("User", "amy")))
        assert from_job(queued).state == BY_WORD.get(
            state, DONE if state in states.OVER else UNKNOWN
        )


def test_an_end_is_taken_from_job_defaults_too_and_validate_sees_it():
    text = (
        f"<JobGroup><Id>g</Id><JobDefaults>{SIGNAL}<State>Completed</State></JobDefaults>"
        "<Job><Id>1</Id></Job><Job><Id>2</Id><Dependency>1</Dependency></Job></JobGroup>"
    )
    assert graph.of(sssjob.loads(text)).exits["1"] is NO_SUCCESS
    assert "W-EXIT" not in {str(each.code) for each in check_source(text.encode())}


def test_the_words_of_a_queue_are_one_table_in_both_directions():
    assert all(BY_WORD[word] == state for state, word in WRITTEN.items())
    assert set(WRITTEN) == set(BY_WORD.values())


KITE = """
from sssjob.registry import System, SystemWords

SYSTEM = System("kite", "Kite", words=SystemWords(
    aborted=("KILLED*",), failed=("CRASHED",), waits=("Licences*",),
    waits_by=(("kite_state", "parked"),), no_time=("never",),
))
"""


@pytest.fixture
def kite(tmp_path, monkeypatch):
    """A batch system of another distribution, with words of its own."""
    (site := tmp_path / "site").mkdir()
    (site / "kite_system.py").write_text(KITE)
    declared(site, {registry.SYSTEMS: {"kite": "kite_system:SYSTEM"}}, name="kites")
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(site))
        yield
    sys.modules.pop("kite_system", None)


ENDED = (
    "<Job><Id>1</Id><State>Completed</State><ExitCode>0</ExitCode>"
    "<StatusMessage>{}</StatusMessage></Job>"
)
# What a job of no system of ours says, and how it ended by the words of the one above.
ENDED_IN_KITE = [
    ("killed: by root", "aborted"), ("Crashed", "failed"), ("crashed twice", "completed"),
]  # fmt: skip


# decision 1208
@pytest.mark.parametrize("said, how", ENDED_IN_KITE)
def test_a_system_of_another_distribution_says_how_its_jobs_end(said, how, kite):
    job = sssjob.loads(ENDED.format(said))
    assert written(job) == how
    assert (graph.of([job]).exits == {"1": 0}) == (how == "completed")


@pytest.mark.parametrize("said, _", ENDED_IN_KITE)
def test_without_the_system_nobody_knows_its_words(said, _):
    assert written(sssjob.loads(ENDED.format(said))) == "completed"


@pytest.mark.parametrize("inner, waits", [
    ("<StatusMessage>Licences: 7 of 7</StatusMessage>", True),
    ("<StatusMessage>licences</StatusMessage>", False),
    ('<Extension type="K" name="kite_state">parked</Extension>', True),
    ('<Extension type="K" name="kite_state">parked here</Extension>', False),
    ('<Extension type="K" name="other_state">parked</Extension>', False),
    ('<Extension type="P" name="job_state">W</Extension>', True),
])  # fmt: skip
def test_a_system_of_another_distribution_says_which_jobs_wait_for_more_than_slots(
    inner, waits, kite
):
    own = f"<User>u</User><Queue>q</Queue><State>Idle</State>{inner}"
    job = sssjob.loads(f"<Job><Id>1</Id>{own}</Job>")
    assert (from_job(job).state == PENDING) == waits


def test_a_word_of_another_distribution_for_no_time_is_one_in_every_log(kite):
    with pytest.raises(Instead, match="never"):
        Clock().read("never")
    assert Clock("", frozenset(("never",))).read("never") is None


def test_without_the_system_its_word_for_no_time_is_no_time():
    with pytest.raises(InvalidValue) as raised:
        Clock().read("never")
    assert not isinstance(raised.value, Instead)


@pytest.mark.parametrize("said, how", ENDED_IN_KITE)
def test_a_store_tells_outcomes_by_the_words_of_another_distribution(said, how, kite, tmp_path):
    with store.open(tmp_path / "jobs.db", create=True, by="amy") as jobs:
        with jobs.change() as change:
            change.put(ENDED.format(said).encode())
        counts = {each.value: each.jobs for each in facet(jobs.engine, "outcome", limit=9)}
        pages = {
            name: len(page(jobs.engine, ("id",), having("outcome", name), limit=9).rows)
            for name in outcomes()
        }
    assert counts == {how: 1}
    assert [name for name, size in pages.items() if size] == [how]
