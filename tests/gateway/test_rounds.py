"""What a gateway does by the way is done again, whatever went wrong."""

import threading
from queue import Queue

import pytest
from job_service import job_service
from waiting import HANG

from sssjob.errors import Refused
from sssjob.gateway.rounds import Rounds
from sssjob.gateway.upkeep import Pruning
from sssjob.store.ledger import EntryKind


@pytest.mark.parametrize(
    ("fault", "event"),
    [
        (Refused("730", "busy"), "not done"),
        (FileNotFoundError(2, "no such command"), "not done"),
        (ZeroDivisionError("a fault of ours"), "fault"),
    ],
    ids=["refused", "the system", "ours"],
)
def test_what_goes_wrong_costs_one_round(log, fault, event):
    begun: Queue[int] = Queue()
    faults = [fault, None]

    def work():
        begun.put(len(faults))
        if found := faults.pop(0) if faults else None:
            raise found

    rounds = Rounds("test", work, 0.0, failed="not done", patience=HANG)
    rounds.start()
    assert [begun.get(timeout=HANG), begun.get(timeout=HANG)] == [2, 1]
    rounds.stop()
    assert [each["event"] for each in log] == [event]
    assert ("trace" in log[0]) is (event == "fault")


def test_rounds_that_were_never_begun_are_stopped_all_the_same():
    rounds = Rounds("test", int, 0.0, failed="not done", patience=HANG)
    rounds.stop()
    assert rounds.stopping


def test_the_first_round_may_come_later():
    done = []
    rounds = Rounds("test", lambda: done.append(1), 0.0, failed="no", patience=HANG, first=HANG)
    rounds.start()
    rounds.stop()
    assert done == []


def test_the_end_of_a_round_is_waited_for_no_longer_than_said():
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def work():
        begun.set()
        may_end.wait(HANG)
        ended.set()

    rounds = Rounds("test", work, HANG, failed="not done", patience=0.0)
    rounds.start()
    assert begun.wait(HANG)
    rounds.stop()
    assert not ended.is_set()
    may_end.set()
    assert ended.wait(HANG)


def test_answers_are_forgotten_often_and_quotes_seldom(tmp_path):
    with job_service(str(tmp_path / "jobs.db")) as jobs:
        times = {"at": 1000.0}
        pruning = Pruning(jobs.service, grace=HANG, clock=lambda: times["at"])
        kept = jobs.service.settings.accounting.kept
        asked = "<Job><Processors>2</Processors><WallDuration>{}</WallDuration></Job>"

        def left():
            with jobs.service.stores.use() as store:
                [(count,)] = store.engine.fetch("SELECT count(*) FROM answer")
                return count, len([*store.ledger.entries([EntryKind.QUOTE])])

        for number in range(3):
            options = {"Guarantee": "True"}
            jobs.answer(
                "Quote", data=[asked.format(number + 1)], mark=f"m{number}", options=options
            )
        pruning.prune()
        assert left() == (3, 3)
        times["at"] += 200  # the answers are old
        pruning.prune()
        assert left() == (0, 3)
        for after, quotes in ((kept + 10**6, 1), (60, 1)):  # the last entry stays
            times["at"] += after
            pruning.prune()
            assert left() == (0, quotes)
        jobs.answer("Quote", data=[asked.format(9)], options={"Guarantee": "True"}, now=1000.0)
        for after, quotes in ((60, 2), (3600, 1)):
            times["at"] += after
            pruning.prune()
            assert jobs.service.stores._open == []  # what it keeps of pages ends with each round
            assert left() == (0, quotes)
