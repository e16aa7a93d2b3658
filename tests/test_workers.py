"""Work in parts: the order, what is waiting, errors, and processes that end before their part."""

import gzip
import os
import signal
import subprocess
import sys
import threading
from itertools import count, islice
from pathlib import Path

import pytest
import work as tasks

from sssjob import workers
from sssjob.document.files import opened, span
from sssjob.errors import LimitExceeded, LostWorker, UnusableInput, WorkFailed
from sssjob.workers import PartWork, Workers, cores

HERE = Path(__file__)


@pytest.fixture(params=["forked", "begun"], autouse=True)
def start(request, monkeypatch):
    """Both ways to start a process, whatever threads run these tests."""
    monkeypatch.setattr(workers, "_is_alone", lambda: request.param == "forked")


def work(name, *arguments):
    return PartWork(f"work:{name}", arguments)


def given(work, parts, processes=2, **options):
    with Workers(work, processes) as some:
        return list(some.in_order(parts, **options))


@pytest.mark.parametrize("processes", [1, 2, 3])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 50])
def test_results_stand_beside_their_parts_in_the_order_of_these(processes, size):
    found = given(work("squares", 1), range(size), processes)
    assert found == [(number, number * number + 1) for number in range(size)]


def test_few_parts_are_done_here_and_more_by_so_many_processes():
    assert {id_ for _, id_ in given(work("process_ids"), range(2))} == {os.getpid()}
    found = {id_ for _, id_ in given(work("process_ids"), range(40))}
    assert os.getpid() not in found
    assert 1 <= len(found) <= 2


def test_the_same_processes_work_on_what_comes_later_even_if_it_was_left_in_the_middle():
    with Workers(work("process_ids"), 2) as some:
        first = {id_ for _, id_ in islice(some.in_order(range(40)), 20)}
        rest = list(some.in_order("abc"))
        assert [part for part, _ in rest] == ["a", "b", "c"]
        assert os.getpid() not in {id_ for _, id_ in rest}
        assert len(first | {id_ for _, id_ in rest}) <= 2


@pytest.mark.parametrize("processes", [1, 2, 4])
def test_no_more_is_taken_than_a_few_parts_for_each_process(processes):
    taken = []

    def parts():
        for number in count():
            taken.append(number)
            yield number

    with Workers(work("squares"), processes) as some:
        for number, (part, _) in zip(range(100), some.in_order(parts()), strict=False):
            assert part == number
            assert some.waiting == taken[number + 1 :]
            assert len(some.waiting) <= 4 * processes


@pytest.mark.parametrize("size", [1, 1 << 16, 1 << 20, (1 << 22) + 1])
def test_parts_and_results_may_be_larger_than_what_a_pipe_holds(size):
    found = given(work("doubled"), (bytes([number]) * size for number in range(7)))
    assert [(len(part), len(data), data[-1]) for part, data in found] == [
        (size, 2 * size, number) for number in range(7)
    ]


@pytest.mark.parametrize("size", [0, 1, 1 << 16, (1 << 21) + 1])
def test_bytes_of_a_result_travel_beside_it_and_are_not_pickled(size):
    found = given(work("doubled_apart"), (bytes([number]) * size for number in range(7)))
    assert [made for _, made in found] == [
        (size, bytes([number]) * 2 * size) for number in range(7)
    ]
    assert {type(data) for _, (_, data) in found} == {memoryview}


@pytest.mark.parametrize("processes", [1, 2])
def test_what_the_work_raises_is_raised_in_its_turn(processes):
    with Workers(work("failing", 5, tasks.no_input), processes) as some:
        found = some.in_order(range(20))
        assert [made for _, made in islice(found, 5)] == [0, 1, 2, 3, 4]
        with pytest.raises(UnusableInput) as raised:
            next(found)
        assert (raised.value.reason, raised.value.line) == ("no header", 7)
        assert [made for _, made in some.in_order(range(6, 12))] == list(range(6, 12))


def test_what_cannot_travel_is_told_as_text():
    with pytest.raises(WorkFailed, match=r"(?s)Traceback.*Untravelled: a"):
        given(work("failing", 5, tasks.untravelled), range(20))


def test_a_work_that_cannot_be_made_is_raised_too():
    with pytest.raises(AttributeError, match="no_such_work"):
        given(work("no_such_work"), range(20))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_ends_is_an_error_that_names_its_part(number):
    with pytest.raises(LostWorker) as raised:
        given(work("ended", 7, number), range(20), place=lambda part: f"log:{part}")
    assert str(raised.value) == (
        f"log:7: the process that worked on what begins there was ended by signal {number:d}"
    )


def test_no_process_is_left_when_the_block_ends():
    with Workers(work("process_ids"), 3) as some:
        found = {id_ for _, id_ in islice(some.in_order(range(100)), 30)}
    for id_ in found:
        with pytest.raises(ProcessLookupError):
            os.kill(id_, 0)


# Of a run of the tests that a shell has put into the background, SIGINT is ignored at first.
ASKING = """
import os, signal, sys, time
from sssjob.workers import PartWork, Workers
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {folder!r})
with Workers(PartWork("work:process_ids"), 2) as some:
    for number, (_, worker) in enumerate(some.in_order(range(10 ** 9))):
        if number == 50:
            print(worker, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_processes_end_with_the_one_that_asks(number):
    program = ASKING.format(folder=str(HERE.parent))
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as asking:
        assert int(asking.stdout.readline())
        asking.send_signal(number)
        # A worker has the other end of its output, too: it is closed when all have ended.
        assert asking.stdout.read() == b""
        assert asking.wait() != 0


def test_a_process_with_other_threads_is_not_copied(monkeypatch):
    monkeypatch.undo()
    is_set = threading.Event()
    other = threading.Thread(target=is_set.wait)
    other.start()
    try:
        assert not workers._is_alone()
    finally:
        is_set.set()
        other.join()


def test_cores_are_those_that_this_process_may_use():
    assert 1 <= cores() <= os.cpu_count()


def test_a_span_is_read_by_whoever_gets_it(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"0123456789")
    with opened(path) as stream:
        found = span(path, stream)
    assert found._replace(start=3, size=4).read() == b"3456"


@pytest.mark.parametrize("change", ["replaced", "shorter"])
def test_a_span_of_a_file_that_changed_is_told(tmp_path, change):
    path = tmp_path / "log"
    path.write_bytes(b"0123456789")
    with path.open("rb") as held:  # so that its inode stays taken
        found = span(path, held)._replace(start=3, size=4)
        if change == "replaced":
            path.unlink()
        path.write_bytes(b"0123456789" if change == "replaced" else b"01234")
        with pytest.raises(OSError, match="the file changed while it was read") as raised:
            found.read()
    assert raised.value.filename == str(path)


def test_only_regular_files_that_are_read_as_they_are_have_spans(tmp_path):
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(b"0123456789"))
    with opened(packed) as stream:
        assert span(packed, stream) is None
    with opened(b"0123") as stream:
        assert span(b"0123", stream) is None
    with open(os.devnull, "rb") as stream:
        assert span(os.devnull, stream) is None


def test_who_does_not_answer_in_time_is_ended():
    bounds = workers.Bounds(deadline=0.1)
    with Workers(PartWork("work:endless"), 1, bounds) as some:
        for _ in range(2):
            with pytest.raises(LimitExceeded, match="until an answer"):
                list(some.in_order([1]))
