"""Several processes write at once, and nothing that one has written is lost by another."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import pytest
from engines import has_waiting
from waiting import HANG, until

from sssjob import store, units
from sssjob.delivery import StoreDelivery
from sssjob.errors import BusyStore
from sssjob.records import find

LOAD = """
import sys
from sssjob import store
from sssjob.store import loading
address, source = sys.argv[1:]
loading._DOCUMENTS = 10
with store.open(address, create=True) as jobs:
    print(jobs.load(source))
"""
COUNT = """
import re, sys
from sssjob import store
address, times = sys.argv[1:]
with store.open(address) as jobs:
    for _ in range(int(times)):
        with jobs.change() as change:
            old = change.get("counter")
            number = int(re.search(rb"<Priority>(\\d+)", old.document)[1])
            change.put(b"<Job><Id>counter</Id><Priority>%d</Priority></Job>" % (number + 1))
"""
PROCESSES = 4


def together(program, *arguments):
    """What several processes print that run the same program at the same time."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, *map(str, each)], stdout=subprocess.PIPE, text=True
        )
        for each in arguments
    ]
    printed = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0] * len(running)
    return printed


def test_imports_at_the_same_time_lose_no_job_and_double_none(address, tmp_path):
    sources = []
    for process in range(PROCESSES):
        own = [f"<Job><Id>{process}.{n}</Id><Name>own</Name></Job>" for n in range(100)]
        shared = [f"<Job><Id>s.{n}</Id><Name>{process}</Name></Job>" for n in range(100)]
        pairs = zip(own, shared, strict=True)
        sources.append(tmp_path / str(process))
        sources[-1].write_text("\n".join(job for pair in pairs for job in pair))
    together(LOAD, *((address, source) for source in sources))
    with store.open(address, read_only=True) as jobs:
        names = {each.identity.id: each for each in jobs.documents()}
        assert len(names) == jobs.count() == PROCESSES * 100 + 100
        for number in range(100):
            versions = jobs.versions(f"s.{number}")
            assert len({each.document for each in versions}) == PROCESSES == len(versions)
        assert list(jobs.check()) == []


def test_a_store_that_several_make_at_once_is_made_once(address):
    program = "import sys; from sssjob import store; store.open(sys.argv[1], create=True).close()"
    together(program, *([address] for _ in range(PROCESSES)))
    with store.open(address, read_only=True) as jobs:
        assert jobs.count() == 0


def test_the_same_import_twice_at_the_same_time_is_there_once(address, tmp_path):
    source = tmp_path / "jobs"
    source.write_text("\n".join(f"<Job><Id>{n}</Id></Job>" for n in range(200)))
    together(LOAD, *((address, source) for _ in range(PROCESSES)))
    with store.open(address, read_only=True) as jobs:
        assert {each.version for each in jobs.documents()} == {1}
        assert jobs.count() == 200


def test_two_forms_of_one_job_that_are_imported_at_the_same_time_are_one(address, tmp_path):
    """One with its GlobalJobId as its Id, the other one with a part of it."""
    times = "<StartTime>1000</StartTime><EndTime>1060</EndTime>"
    forms = {"line": "s#{0}.0#900", "message": "{0}.0"}
    sources = []
    for name, form in forms.items():
        sources.append(tmp_path / name)
        some = [f"<Job><Id>{form.format(n)}</Id>{times}</Job>" for n in range(200)]
        sources[-1].write_text("\n".join(some))
    together(LOAD, *((address, source) for source in sources * 2))
    with store.open(address, read_only=True) as jobs:
        assert jobs.count() == 200


def test_what_a_change_has_read_nobody_else_changes_before_it_writes(address):
    with store.open(address, create=True) as jobs, jobs.change() as change:
        change.put(b"<Job><Id>counter</Id><Priority>0</Priority></Job>")
    together(COUNT, *((address, 25) for _ in range(PROCESSES)))
    with store.open(address, read_only=True) as jobs:
        assert b"<Priority>100</Priority>" in jobs.get("counter").document
        assert len(jobs.versions("counter")) == 101


def test_a_writer_that_waits_too_long_is_told(address):
    with store.open(address, create=True) as first:
        with first.change() as change:
            change.put(b"<Job><Id>1</Id></Job>")
            with store.open(address, patience=0.05) as second, pytest.raises(BusyStore):
                rename(second)
        rename(first)
        assert first.get("1").document == b"<Job><Id>1</Id><Name>a</Name></Job>"


def rename(jobs):
    with jobs.change() as change:
        change.put(b"<Job><Id>1</Id><Name>a</Name></Job>")


def test_readers_see_what_was_there_before_a_change_until_it_ends(address):
    with store.open(address, create=True) as jobs, store.open(address, read_only=True) as reader:
        with jobs.change() as change:
            change.put(b"<Job><Id>1</Id></Job>")
            assert reader.get("1") is None
        assert reader.get("1") is not None


def test_records_that_are_delivered_in_two_orders_at_the_same_time_are_all_delivered(
    address, monkeypatch
):
    """Each delivery has one record of two jobs when the other one begins."""
    rows = [f"{id_}|COMPLETED|{units.iso(100)}|{units.iso(160)}|1\n" for id_ in "12"]
    with store.open(address, create=True) as jobs:
        jobs.load(b"<Jobs><Job><Id>1</Id></Job><Job><Id>2</Id></Job></Jobs>")
        begun, takes = [], StoreDelivery._take

        def take(self, change, placed):
            about = takes(self, change, placed)
            if self not in begun:
                begun.append(self)
                if address.startswith("postgresql"):  # SQLite lets only one begin
                    until(lambda: len(begun) == 2 or has_waiting(jobs))
            return about

        def deliver(order):
            text = "JobID|State|Start|End|NCPUS\n" + "".join(order)
            with store.open(address) as own:
                work = StoreDelivery(own)
                source = BytesIO(text.encode())
                return [*work.take_records(source, "r", find("slurm"), "UTC")], work.tally

        monkeypatch.setattr(StoreDelivery, "_take", take)
        with ThreadPoolExecutor(2) as pool:
            done = [each.result(HANG) for each in (pool.submit(deliver, rows),
                                                 pool.submit(deliver, rows[::-1]))]  # fmt: skip
        assert [(told, tally.delivered) for told, tally in done] == [([], 2), ([], 2)]
        assert all(b"<Duration>60</Duration>" in each.document for each in jobs.documents())


@pytest.mark.parametrize("times", [1, 4])
def test_a_delivery_that_gave_way_to_others_is_made_once_all_the_same(tmp_path, monkeypatch, times):
    record = f"JobID|State|Start|End|NCPUS\n1|COMPLETED|{units.iso(100)}|{units.iso(160)}|1\n"
    further = f"1|COMPLETED|{units.iso(500)}|{units.iso(530)}|1\nx|||||\n"
    found = []
    for fails in (0, times):
        left, folds = [*range(fails)], StoreDelivery._fold_groups

        def fold(self, change, left=left, folds=folds):
            folds(self, change)
            if left:
                left.pop()
                raise BusyStore("it", "others are writing the same")

        monkeypatch.setattr(StoreDelivery, "_fold_groups", fold)
        with store.open(tmp_path / f"{fails}.db", create=True) as jobs:
            jobs.load(b"<Job><Id>1</Id></Job>")
            work = StoreDelivery(jobs)
            source = BytesIO((record + further).encode())
            told = [*work.take_records(source, "r", find("slurm"), "UTC")]
            documents = [(each.document, each.version) for each in jobs.documents()]
            found.append((told, work.tally, documents))
        monkeypatch.undo()
    assert found[0] == found[1]
    assert found[0][1].runs == 1


def test_a_delivery_that_others_keep_from_it_again_and_again_gives_up(tmp_path, monkeypatch):
    def fold(self, change):
        raise BusyStore("it", "others are writing the same")

    monkeypatch.setattr(StoreDelivery, "_fold_groups", fold)
    with store.open(tmp_path / "jobs.db", create=True) as jobs, pytest.raises(BusyStore):
        [
            *StoreDelivery(jobs).take_records(
                BytesIO(b"JobID|State\n1|COMPLETED\n"), "r", find("slurm")
            )
        ]
