"""Whether a job has ended is said by its State, or else by its end, wherever it is asked."""

import pytest

import sssjob
from sssjob import graph, states, store
from sssjob.amounts import Scope
from sssjob.fold import JOB, Fact, fold
from sssjob.gateway.forwarding import finished
from sssjob.handlers.view import only
from sssjob.lcginfo.jobs import WRITTEN, from_job, from_store
from sssjob.lcginfo.snapshot import BY_WORD, DONE
from sssjob.model import Delivered, Property
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


def test_the_words_of_a_queue_are_one_table_in_both_directions():
    assert all(BY_WORD[word] == state for state, word in WRITTEN.items())
    assert set(WRITTEN) == set(BY_WORD.values())
