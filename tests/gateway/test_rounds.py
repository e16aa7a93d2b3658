"""What a gateway does by the way is done again, whatever went wrong."""

from queue import Queue

import pytest
from waiting import HANG

from sssjob.errors import Refused
from sssjob.gateway.rounds import Rounds


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
