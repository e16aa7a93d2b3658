"""The ledger follows the documents, whichever door these come through."""

import io
import re
import tempfile
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sssjob import store
from sssjob.store import reading, settling, upkeep
from sssjob.store.history import HistoryEntry
from sssjob.store.incoming import Ready
from sssjob.store.ledger import Entry, EntryKind
from sssjob.store.writing import DocumentWriter

CHARGES = st.sampled_from([
    "", "", "<Charge>7</Charge>", "<Charge> 40 </Charge>", "<Charge>0.1</Charge>",
    "<Charge>1.23456789012345678901</Charge>", "<Charge>9007199254740993</Charge>",
    "<Charge>1e2</Charge>", "<Charge>-3</Charge>", "<Charge>soon</Charge>",
    "<Charge>5</Charge><Charge>6</Charge>", "<Charge>5<!-- x -->0</Charge>", "<Charge>07</Charge>",
    "<Delivered><Charge>9</Charge></Delivered>", "<Requested><Charge>8</Charge></Requested>",
    "<Delivered><Charge>9</Charge></Delivered><Charge>4</Charge>",
])  # fmt: skip
USERS = st.sampled_from([
    "", "<User>ann</User>", "<User>ann</User><User>bob</User>", f"<User>{'u' * 500}</User>",
    "<Requested><User>cy</User></Requested><Project>p</Project>",
])  # fmt: skip
IDS = st.sampled_from(["a", "b", "c"])


def _job(id_, user, charge):
    return f"<Job><Id>{id_}</Id>{user}{charge}</Job>"


JOBS = st.builds(_job, IDS, USERS, CHARGES)
GROUPS = st.builds(
    lambda id_, jobs, defaults: (
        f"<JobGroup><Id>{id_}</Id>{defaults}{''.join(jobs)}</JobGroup>"
    ),
    st.sampled_from(["g", "a"]), st.lists(JOBS, max_size=3),
    st.sampled_from(["", "<JobDefaults><User>di</User></JobDefaults>"]),
)  # fmt: skip
DOCUMENTS = st.one_of(JOBS, JOBS, GROUPS)
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[0-9]+)?")


def _in_documents(kept):
    """What each job says, read from the bytes by nobody of ours."""
    found = defaultdict(Fraction)
    for stored in kept.documents(deleted=True):
        root = etree.fromstring(stored.document)
        for job in [root] if root.tag == "Job" else root.findall("Job"):
            said = [each for path in ("Delivered/Charge", "Charge")  # nobody asks for one
                    for each in job.findall(path)]  # fmt: skip
            text = said[0].xpath("string()").strip() if said else ""
            if NUMBER.fullmatch(text):
                found[stored.number, job.findtext("Id").strip()] += Fraction(Decimal(text))
    return {key: amount for key, amount in found.items() if amount}


def _in_ledger(kept):
    found = defaultdict(Fraction)
    for entry in kept.ledger.entries([EntryKind.CHARGE, EntryKind.REFUND]):
        assert entry.amount >= 0
        sign = 1 if entry.kind is EntryKind.CHARGE else -1
        found[entry.document, entry.job] += sign * entry.amount
    return {key: amount for key, amount in found.items() if amount}


def _put(kept, document):
    with kept.change() as change:
        change.put(document.encode())


def _put_in_place(kept, document):
    """As a Modify does, also under another Id."""
    with kept.change() as change:
        there = next(iter(kept.documents()), None)
        if there is not None:
            change.put(document.encode(), replacing=change.at(there.number))


def _load(kept, document):
    kept.load(io.BytesIO(f"<Jobs>{document}{document}</Jobs>".encode()))


def _keep(kept, document):
    kept.keep([reading.only(document.encode())])


def _ready(kept, document):
    """As other processes read them, where they can."""
    [found] = reading.incomings(document.encode(), pytest.fail, kept.packing, None, pytest.fail)
    packed = found._replace(content=kept.packing.packed(found.content))
    with kept.engine.transaction():
        entry = HistoryEntry(kept.engine, by="", source="", reason="")
        writer = DocumentWriter(kept.engine, kept.packing)
        writer.write_ready([Ready.of([packed])], entry)
        writer.settle(entry)


def _delete(kept, document):
    with kept.change() as change:
        change.delete(etree.fromstring(document).findtext("Id"))


def _undelete(kept, document):
    with kept.change() as change:
        change.undelete(etree.fromstring(document).findtext("Id"))


def _charge(kept, document):
    """As a Charge does, which enters why."""
    with kept.change() as change:
        stored = change.put(document.encode())
        for (number, job), said in _in_documents(kept).items():
            if number == stored.number and said > (before := change.ledger.balance(number, job)):
                entry = Entry(EntryKind.CHARGE, said - before, 1, job, number, details="computed")
                change.ledger.add(entry)


DOORS = (_put, _put_in_place, _load, _keep, _ready, _delete, _undelete, _charge)


@examples(40)
@given(st.lists(st.tuples(st.sampled_from(DOORS), DOCUMENTS), min_size=1, max_size=6))
def test_what_jobs_say_and_what_was_entered_is_the_same_through_every_door(steps):
    with (
        tempfile.TemporaryDirectory() as folder,
        store.open(f"{folder}/jobs.db", create=True) as kept,
    ):
        for door, document in steps:
            door(kept, document)
            assert _in_ledger(kept) == _in_documents(kept), (door.__name__, document)
            assert list(kept.check()) == []


def _entries(kept):
    return [
        (each.kind, each.amount, each.user, each.project, each.details)
        for each in kept.ledger.entries([EntryKind.CHARGE, EntryKind.REFUND])
    ]


def test_an_import_enters_to_whom_it_was_charged_and_gives_back_to_the_same(address):
    said = "as the job said"
    with store.open(address, create=True) as kept:
        for user, charge in (("ann", 100), ("ann", 107), ("bob", 30), ("bob", 0)):
            stated = f"<Charge>{charge}</Charge>"
            job = f"<Job><Id>i</Id><User>{user}</User><Project>p</Project>{stated}</Job>"
            kept.load(job.encode())
        assert _entries(kept) == [
            ("Charge", 100, "ann", "p", said), ("Charge", 7, "ann", "p", said),
            ("Refund", 77, "ann", "p", said), ("Refund", 30, "ann", "p", said),
        ]  # fmt: skip
        assert [each.reason for each in kept.changes()] == [""] * 4
        kept.load(job.encode())  # the same again
        assert len(_entries(kept)) == 4


def test_an_import_by_several_processes_enters_every_charge(tmp_path):
    jobs = "".join(
        f"<Job><Id>{n}</Id>{f'<Charge>{n}</Charge>' if n % 3 else ''}</Job>\n" for n in range(500)
    )
    with (
        store.open(tmp_path / "jobs.db", create=True) as kept,
        reading.readers(2) as readers,
    ):
        kept.load(jobs.encode(), readers=readers)
        assert sum(amount for _, amount, *_ in _entries(kept)) == sum(
            n for n in range(500) if n % 3
        )
        assert _in_ledger(kept) == _in_documents(kept)


def test_a_store_of_version_6_gets_the_entries_that_it_lacks(address):
    with store.open(address, create=True) as kept:
        kept.load(b"<Jobs><Job><Id>a</Id><Charge>5</Charge></Job><Job><Id>b</Id></Job></Jobs>")
        kept.engine.fetch("DELETE FROM ledger")
        [fault] = kept.check()
        assert str(fault.message) == (
            "Job a, version 1: job a says that it was charged 5, and the ledger 0"
        )
        for column in ("begins", "said"):
            kept.engine.fetch(f"ALTER TABLE ledger DROP COLUMN {column}")
        kept.engine.fetch("UPDATE setting SET value = '6' WHERE name = 'version'")
    assert store.upgrade(address)
    with store.open(address) as kept:
        assert _entries(kept) == [("Charge", 5, "", "", "as the job said")]
        assert list(kept.check()) == []


@pytest.mark.parametrize(
    ("module", "name"), [(upkeep, "_strayed"), (settling, "_entered")], ids=["rows", "entries"]
)
def test_what_is_written_to_while_it_is_checked_is_no_damage(address, monkeypatch, module, name):
    looks, charges = getattr(module, name), iter((5, 7))

    def late(*told):
        """Change a document behind the moment in which it was read, twice."""
        if charge := next(charges, None):
            with monkeypatch.context() as patch, store.open(address) as other:
                patch.setattr(module, name, looks)
                other.load(f"<Job><Id>a</Id><Charge>{charge}</Charge></Job>".encode())
        return looks(*told)

    with store.open(address, create=True) as kept:
        kept.load(b"<Jobs><Job><Id>a</Id><Charge>2</Charge></Job><Job><Id>b</Id></Job></Jobs>")
        monkeypatch.setattr(module, name, late)
        assert list(kept.check()) == []
        assert next(charges, None) is None
        # Of the documents that nobody writes to what is wrong is told in the same look.
        charges = iter((9,))
        kept.engine.fetch("UPDATE job SET charge = 3 WHERE id = 'b'")
        assert [str(fault.identity) for fault in kept.check()] == ["Job b"]


def test_less_than_nothing_is_of_who_says_it(tmp_path):
    with store.open(tmp_path / "jobs.db", create=True) as kept:
        kept.load(b"<Job><Id>a</Id><User>ann</User><Charge>-3</Charge></Job>")
        [entry] = kept.ledger.entries([EntryKind.CHARGE, EntryKind.REFUND])
    assert (entry.kind, entry.amount, entry.user) == (EntryKind.REFUND, 3, "ann")


def test_what_is_reserved_for_a_job_goes_with_it_from_its_group(tmp_path):
    group = "<JobGroup><Id>g</Id>{}</JobGroup>"
    with store.open(tmp_path / "jobs.db", create=True) as kept:
        kept.load(group.format("<Job><Id>a</Id></Job><Job><Id>b</Id></Job>").encode())
        with kept.change() as change:
            for serial, id_ in enumerate("ab", 1):
                change.ledger.add(Entry(EntryKind.RESERVE, Fraction(1), 0, id_, 1, serial,
                                        until=10**9))  # fmt: skip
        kept.load(group.format("<Job><Id>b</Id></Job>").encode())
        assert [len(kept.ledger.reservations(id_, 5)) for id_ in "ab"] == [0, 1]
