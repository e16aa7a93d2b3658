"""An import by several processes keeps what one would: bytes, versions, rows, faults, order."""

import gzip
import os
from pathlib import Path
from unittest import mock

import pytest
from draws import examples
from hypothesis import example, given
from hypothesis import strategies as st

from sssjob import store
from sssjob.document import guesses
from sssjob.errors import LostWorker
from sssjob.store import Counts, loading, reading
from sssjob.store.packing import NO_DICTIONARY, Packing
from sssjob.store.writing import DocumentWriter

GOOD = [
    f"<Job><Id>{n % 50}</Id><State>{'Idle' if n < 50 else 'Completed'}</State></Job>\n"
    for n in range(70)
]
GROUP = "<JobGroup><Id>g</Id><Job><Id>a</Id></Job></JobGroup>\n"
ODD = (
    "<Job><User>nobody</User></Job>\n", "<Job><Id>7</Job>\n", "<Job>\n<Id>long</Id>\n</Job>\n",
    "<!-- <Job><Id>0</Id></Job>\n<Job> -->\n", "text\n", "<Jobs>\n", "</Jobs>\n", "<Job>\n",
    "<Jobs>\n<Job><Id>in</Id></Job>\n</Jobs>\n", "\n", GROUP,
    "<Job xmlns='urn:x'><Id>1</Id></Job>\n", "<?note\n?>\n",
    "<?xml version='1.0' encoding='ISO-8859-1'?><Job><Id>\xe9</Id></Job>\n",
    "<!DOCTYPE a><Job/>\n", "<Job><Id>&nope;</Id></Job>\n", "\x00\n",
)  # fmt: skip


def imported(path, source, processes, many=False, documents=16):
    """All that a store keeps but its times, what was said, and the counts."""
    errors, told = [], []
    path = Path(f"{path}{processes}.db")
    path.unlink(missing_ok=True)
    with (
        mock.patch.object(guesses, "SIZE", 200),
        mock.patch.object(loading, "_DOCUMENTS", documents),
        store.open(path, create=True, by="amy") as jobs,
        reading.readers(processes) as readers,
    ):  # fmt: skip
        for each in source if many else [source]:
            told.append(jobs.load(each, on_error=errors.append, readers=readers))
        tables = {
            name: jobs.engine.fetch(f"SELECT * FROM {name}")
            for name in ("document", "former", "job", "dictionary", "setting")
        }
        assert list(jobs.check()) == []
    path.unlink()
    return tables, [error.finding for error in errors], told


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("stores")


@pytest.mark.parametrize("around", [("", ""), ("<Jobs>\n", "</Jobs>\n")], ids=["lines", "wrapped"])
def test_readers_change_nothing(folder, around):
    # From a hundred documents on there is a dictionary.
    source = (around[0] + "".join(GOOD * 3) + GROUP + around[1]).encode()
    one, *more = (imported(folder / "jobs", source, n, documents=120) for n in (1, 2, 3))
    assert one[2] == [Counts(new=51, changed=100, unchanged=60)]
    assert more == [one, one]


@examples(12)
@given(
    st.sampled_from([("", ""), ("", ""), ("<Jobs>\n", "</Jobs>\n")]),
    st.lists(st.sampled_from((*GOOD[:6], *GOOD[:6], *ODD)), max_size=40),
    st.booleans(),
)
@example(("", ""), ["<Job><User>nobody</User></Job>\n"] * 3, True)
@example(("", ""), ["text\n", *GOOD[:9], "<Job>\n", *GOOD[:30]], True)
@example(("", ""), [ODD[-4], *GOOD[:30]], True)
def test_what_is_not_as_it_seemed_is_read_as_by_one(folder, around, lines, begins_well):
    begin = "".join(GOOD[:12]) if begins_well else ""
    source = (around[0] + begin + "".join(lines) + around[1]).encode("latin-1")
    assert imported(folder / "odd", source, 2) == imported(folder / "odd", source, 1)


def test_what_comes_before_damaged_compression_is_kept(folder):
    data = [f"<Job><Id>{n}{os.urandom(120).hex()}</Id></Job>\n" for n in range(3000)]
    damaged = gzip.compress("".join(data).encode())[:-9000]
    one, two = (imported(folder / "cut", damaged, count, documents=99) for count in (1, 2))
    assert two[1] == one[1]
    for tables, _, [counts] in (one, two):
        assert [row[2] for row in tables["document"]] == [
            line[9:].partition("<")[0] for line in data[: counts.new]
        ]
        assert counts == Counts(new=counts.new, bad=1)
        assert counts.new > 500


def test_the_same_readers_read_many_sources(folder):
    sources = ["".join(GOOD[n : n + 20]).encode() for n in range(0, 60, 20)]
    one, two = (imported(folder / "many", sources, count, many=True) for count in (1, 2))
    assert two == one


def test_a_lost_reader_leaves_whole_batches_and_the_import_can_be_run_again(tmp_path):
    path = tmp_path / "jobs.db"
    source = "".join(GOOD).encode()
    with (
        mock.patch.object(guesses, "SIZE", 200), mock.patch.object(loading, "_DOCUMENTS", 8),
        store.open(path, create=True) as jobs,
        reading.Workers(reading.PartWork("work:lost_reader"), 2) as readers,
    ):  # fmt: skip
        with pytest.raises(LostWorker, match=r"^jobs\.sss:\d+: the process that worked on what"):
            jobs.load(source, name="jobs.sss", readers=readers)
        assert 0 < jobs.count() < 50
        assert jobs.count() % 8 == 0
    with store.open(path) as jobs:
        assert list(jobs.check()) == []
        jobs.load(source)
        assert jobs.count() == 50


def test_what_another_writer_added_meanwhile_is_found_by_readers(address):
    """Between the question which are there and the answer to the database, somebody adds some."""
    find, asked = DocumentWriter.find, []

    def too_early(self, ids):
        asked.append(ids)
        return [] if len(asked) == 1 and address.startswith("postgresql:") else find(self, ids)

    lines = [f"<Job><Id>{n}</Id><Name>{'x' * (n % 7)}</Name></Job>\n" for n in range(500)]
    with (
        mock.patch.object(guesses, "SIZE", 400), mock.patch.object(loading, "_DOCUMENTS", 150),
        store.open(address, create=True) as jobs, reading.readers(2) as readers,
    ):  # fmt: skip
        assert jobs.load("".join(lines[:150]).encode()) == Counts(new=150)
        assert jobs.load("".join(lines[100:200]).encode(), readers=readers) == Counts(
            new=50, unchanged=50
        )
        with mock.patch.object(DocumentWriter, "find", too_early):
            told = jobs.load("".join(lines[170:]).encode(), readers=readers)
        assert told == Counts(new=300, unchanged=30)
        assert asked
        rows = jobs.engine.fetch("SELECT id, name FROM job ORDER BY document")
        assert sorted((int(id_), name) for id_, name in rows) == [
            (n, "x" * (n % 7)) for n in range(500)
        ]
        assert list(jobs.check()) == []


def test_readers_read_a_file_themselves_and_its_bytes_pass_nobody_else(tmp_path):
    source = tmp_path / "jobs.sss"
    source.write_text("".join(GOOD))
    sent = []

    class Watched(reading.Workers):
        def in_order(self, parts, place):
            for part, made in super().in_order(parts, place):
                sent.append(part)
                yield part, made

    with (
        mock.patch.object(guesses, "SIZE", 200),
        store.open(tmp_path / "jobs.db", create=True) as jobs,
        Watched(reading.PartWork("sssjob.store.reading:reader"), 2) as readers,
        source.open("rb") as stream,
    ):  # fmt: skip
        jobs.load(stream, name="jobs.sss", readers=readers, file=source)
        assert jobs.count() == 50
    assert len(sent) > 4
    assert all(part.span is not None and not part.guess.data for part in sent)


RUN = (
    "<Job><Id>{}</Id><State>Completed</State><SubmitTime>50</SubmitTime><StartTime>{}</StartTime>"
    "<EndTime>{}</EndTime>{}<Delivered><Duration>50</Duration></Delivered></Job>"
)
IDS, STARTS = st.sampled_from(["7", "8", "s#9#50"]), st.sampled_from([100, 900])
ended = st.builds(
    lambda id, start, more: RUN.format(id, start, start + 50, more), IDS, STARTS,
    st.sampled_from(["", "", "<GlobalId>s#9#50</GlobalId>", "<Charge>5</Charge>"]),
)  # fmt: skip
waiting = st.builds("<Job><Id>{}</Id><SubmitTime>50</SubmitTime></Job>".format, IDS)
groups = st.builds(
    lambda id, *jobs: f"<JobGroup><Id>{id}</Id>{''.join(jobs)}</JobGroup>",
    st.sampled_from("gh"), ended | waiting, st.just("") | ended,
)  # fmt: skip
sources = st.lists(
    st.lists(ended | waiting | groups, min_size=1, max_size=5), min_size=1, max_size=3
)


def there(path, sources, here):
    """What a store shows, and what was told, after sources that were read so."""
    told = []
    path.unlink(missing_ok=True)
    with mock.patch.object(reading, "_here", here), store.open(path, create=True) as jobs:
        for each in sources:
            counts = jobs.load("\n".join(each).encode(), on_warning=told.append)
            told.append(counts)
        shown = [(each.identity, each.document, each.version) for each in jobs.documents()]
        hidden = jobs.engine.fetch("SELECT number, version, deleted FROM document ORDER BY number")
        entries = jobs.engine.fetch("SELECT job, document, kind, amount FROM ledger")
        assert list(jobs.check()) == []
    return shown, hidden, entries, [str(each) for each in told]


def packed_together(found):
    """As other processes hand documents on, in this one."""
    packing = Packing(NO_DICTIONARY, {}.get)
    read = [reading._packed(each, packing) for each in HERE(found)]
    return iter(reading._together(read))


HERE = reading._here


@examples(20)
@given(sources)
def test_documents_that_come_many_at_once_are_kept_as_those_that_come_alone(folder, sources):
    """In any order, with groups that have the runs of others, whatever they were charged."""
    path = folder / "together.db"
    assert there(path, sources, packed_together) == there(path, sources, HERE)
