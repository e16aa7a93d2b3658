"""Sums that are kept by parts of a store are those that are added up anew, whatever was written."""

import io
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from draws import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from waiting import HANG

from sssjob.store import flat, parts
from sssjob.store.history import HistoryEntry
from sssjob.store.incoming import Ready
from sssjob.store.packing import Packed
from sssjob.store.parts import KeptSums, PartSums
from sssjob.store.reading import only
from sssjob.store.where import where
from sssjob.store.writing import DocumentWriter

ALL = where([], "Job")  # as a request without conditions is planned
ASKED = ((["user"], ["Charge", "Id"]), ([], ["Charge"]), (["machine", "project"], ["Processors"]))
NAMES = {"user": "User", "machine": "Machine", "project": "Project"}


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """A few documents are several parts."""
    monkeypatch.setattr(parts, "SIZE", 3)


def document(number, user, charge):
    # A charge that is no whole number, and processors that are only requested, columns leave open.
    wanted = "<Requested><Processors>2</Processors></Requested>" if charge % 5 == 1 else ""
    amount = "0.5" if charge % 7 == 3 else charge
    return (
        f"<Job><Id>{number}</Id><User>u{user}</User><Machine>m{charge % 2}</Machine>"
        f"<Charge>{amount}</Charge>{wanted}</Job>"
    ).encode()


def sums(jobs, kept, by, of):
    """Groups by their texts, and the documents that columns do not decide."""
    opened = []
    found = flat.totals(
        jobs.engine, jobs.packing, ALL, [NAMES[each] for each in by], of,
        lambda stored: opened.append(stored.number), kept,
    )  # fmt: skip
    return {each.texts: (each.first, each.sums) for each in found}, opened


def anew(jobs, by, of):
    """The same by one statement over all rows."""
    flats = [flat.flat_column(NAMES.get(name, name)) for name in (*by, *of)]
    with jobs.engine.reading() as moment:
        found = flat._FlatSums.of(ALL, flats, len(by), jobs.engine.dialect).found(moment)
    return found.groups, list(found.others)


PUT = st.tuples(st.just("put"), st.integers(0, 19), st.integers(0, 3), st.integers(0, 9))
STEPS = st.lists(
    st.one_of(
        PUT, PUT.map(lambda put: ("failed", *put[1:])),
        st.tuples(st.sampled_from(["delete", "undelete"]), st.integers(0, 19)),
        st.tuples(st.just("load"), st.integers(0, 19), st.integers(1, 9), st.integers(0, 9)),
        st.tuples(st.sampled_from(["put new", "load new", "ready new"]), st.integers(0, 9)),
        st.tuples(st.just("ask")),
    ),
    max_size=15,
)  # fmt: skip


class Undone(Exception):
    pass


def _next(jobs):
    """A number that no document has as its Id."""
    return 100 + 10 * jobs.engine.fetch("SELECT count(*) FROM document")[0][0]


def done(jobs, step):
    match step:
        case "put" | "failed" as how, number, user, charge:
            try:
                with jobs.change() as change:
                    change.put(document(number, user, charge))
                    if how == "failed":
                        raise Undone
            except Undone:
                pass
        case "delete" | "undelete" as how, number:
            with jobs.change() as change:
                getattr(change, how)(str(number))
        case "put new", charge:
            with jobs.change() as change:
                change.put(document(_next(jobs), 1, charge))
        case "load new", charge:
            done(jobs, ("load", _next(jobs), 4, charge))
        case "ready new", charge:  # as processes that read for another one send documents
            found = [only(document(_next(jobs) + n, 2, charge)) for n in range(4)]
            ready = Ready.of(
                [
                    each._replace(content=Packed(*jobs.packing.packed(each.content)))
                    for each in found
                ]
            )
            with jobs.engine.transaction():
                entry = HistoryEntry(jobs.engine, by="", source="", reason="")
                DocumentWriter(jobs.engine, jobs.packing).write_ready([ready], entry)
        case "load", first, count, charge:
            documents = (document(first + n, n % 3, charge + n) for n in range(count))
            jobs.load(io.BytesIO(b"<Jobs>" + b"".join(documents) + b"</Jobs>"))


@examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, min_size=1, max_size=3), asked=st.sampled_from(ASKED))
def test_kept_sums_are_those_that_are_added_up_anew(kept, steps, asked):
    """``kept`` is the store; it goes on from example to example."""
    mine = KeptSums()
    for some in steps:
        for step in some:
            done(kept, step)
            if step == ("ask",):
                sums(kept, mine, *asked)
        assert sums(kept, mine, *asked) == anew(kept, *asked)


def test_only_parts_that_were_written_to_are_asked_again(kept, monkeypatch):
    done(kept, ("load", 0, 20, 1))
    mine, asked = KeptSums(), []
    real = flat._FlatSums.found
    monkeypatch.setattr(
        flat._FlatSums, "found",
        lambda self, moment, span=None: asked.append(span) or real(self, moment, span),
    )  # fmt: skip
    before, _ = sums(kept, mine, ["user"], ["Charge"])
    assert len(asked) >= 7
    asked.clear()
    assert sums(kept, mine, ["user"], ["Charge"])[0] == before
    assert asked == []
    number = kept.get("4").number
    done(kept, ("put", 4, 9, 4 if b"u9<" not in kept.get("4").document else 6))
    after, _ = sums(kept, mine, ["user"], ["Charge"])
    assert asked == [parts.numbers(parts.part_of(number))]
    assert ("u9",) in after


@pytest.mark.parametrize(
    "parts_, same, said",
    [
        pytest.param(3, (), "(d.number >= ?)", id="all of them"),
        pytest.param(3, (0, 1, 2), "(d.number >= ?)", id="what comes behind"),
        pytest.param(
            4, (1, 2), "(d.number >= ? AND d.number < ? OR d.number >= ?)", id="what is around"
        ),
        pytest.param(
            201, range(1, 201, 2),
            f"({'d.number >= ? AND d.number < ? OR ' * 100}d.number >= ?)", id="each second",
        ),
        pytest.param(203, range(1, 203, 2), "1 = 1", id="too many stretches: everything"),
    ],
)  # fmt: skip
def test_documents_are_asked_again_by_the_stretches_of_parts_that_changed(parts_, same, said):
    class Moment:
        def fetch(self, text, values=()):
            kept = [(part, 7) for part in same] if "FROM kept" in text else []
            return kept or [(part, 7 if "touched" in text else 6) for part in range(parts_)]

    text, values = parts.changed(Moment(), "kept", "d.number")
    assert text == said
    asked = [part for part in range(parts_ + 1) if is_asked(part * parts.SIZE, text, values)]
    assert asked == [part for part in range(parts_ + 1) if part not in same or text == "1 = 1"]


def is_asked(number, text, values):
    with closing(sqlite3.connect(":memory:")) as database:
        where = text.replace("d.number", str(number))
        return database.execute(f"SELECT {where}", values).fetchone() == (1,)


def test_no_more_sums_are_kept_than_there_is_room_for(kept, monkeypatch):
    done(kept, ("load", 0, 20, 1))
    mine = KeptSums()
    sums(kept, mine, [], ["Charge"])
    size = mine.size
    assert size
    sums(kept, mine, ["user"], ["Charge"])
    assert mine.size > size
    monkeypatch.setattr(parts, "MOST", mine.size - 1)
    sums(kept, mine, [], ["Id"])
    assert mine.size < parts.MOST
    monkeypatch.setattr(parts, "MOST", 1)
    other = KeptSums()
    assert sums(kept, other, ["user"], ["Charge"]) == anew(kept, ["user"], ["Charge"])
    assert other.size == 0


class Moment:
    """A moment of a store of which only is known how often each part was written to."""

    def __init__(self, **counts):
        self.counts = counts

    def fetch(self, *_):
        return [(int(part[1:]), count) for part, count in self.counts.items()]


def test_kept_are_one_for_each_part_one_for_each_of_its_groups_and_its_others(monkeypatch):
    first = {("a",): (1, ((1, 5),)), ("b",): (2, ((2, 7),))}
    found = {0: PartSums(first, (3, 4, 5)), 1: PartSums({("a",): (9, ((1, 2),))})}
    monkeypatch.setattr(parts, "MOST", 8)
    mine = KeptSums()
    whole = PartSums({("a",): (1, ((2, 7),)), ("b",): (2, ((2, 7),))}, (3, 4, 5))
    assert mine.of("all", Moment(p0=1, p1=1), found.get) == whole
    assert mine.size == 8
    assert mine.of("all", Moment(p0=1, p1=1), None) == whole, "nothing is asked"
    found[0] = PartSums({("b",): (4, ((3, 1),))}, (6,))
    assert mine.of("all", Moment(p0=2, p1=1), found.get) == PartSums(
        {("a",): (9, ((1, 2),)), ("b",): (4, ((3, 1),))}, (6,)
    )
    assert mine.size == 5
    found[1] = PartSums(None, (9,))
    assert mine.of("all", Moment(p0=2, p1=2), found.get) == PartSums(None, (6, 9))
    assert mine.size == 5
    monkeypatch.setattr(parts, "MOST", 4)
    mine.of("all", Moment(p0=2, p1=2), found.get)
    assert mine.size == 0, "what is more than the room is kept no longer"


# A process is killed at its first statement of a change, then at its second, and so on; who keeps
# sums meanwhile sees each time what who adds up anew sees.
PROGRAM = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from sssjob import store
from sssjob.store import parts
parts.SIZE = 3
from test_parts import ASKED, anew, document, done, sums
from sssjob.store.parts import KeptSums

address = sys.argv[1]
def write(left):
    with store.open(address) as jobs:
        def counted(real):
            def asked(*arguments):
                if next(left, None) is None:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*arguments)
            return asked
        jobs.engine.fetch = counted(jobs.engine.fetch)
        jobs.engine.many = counted(jobs.engine.many)
        with jobs.change() as change:
            for number in (1, 8, 30):
                change.put(document(number, number % 3, 8))
            change.delete("5")

mine = KeptSums()
with store.open(address, create=True) as jobs:
    done(jobs, ("load", 0, 12, 1))
ended, kills = None, 0
while ended != 0:
    pid = os.fork()
    if not pid:
        write(iter(range(kills)))
        os._exit(0)
    ended = os.waitpid(pid, 0)[1]
    kills += ended != 0
    with store.open(address) as jobs:
        for asked in ASKED[:2]:
            assert sums(jobs, mine, *asked) == anew(jobs, *asked), kills
print(kills)
"""


def test_a_killed_writer_leaves_kept_sums_right(address):
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, address, str(Path(__file__).parent)],
        capture_output=True, text=True, timeout=HANG,
        env={"PYTHONPATH": str(Path(__file__).parents[1])},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 10
