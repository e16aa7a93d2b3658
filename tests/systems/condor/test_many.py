"""What a hook asks for does not grow with the jobs of a store: no clock, statements and rows."""

from collections import Counter

import pytest
from condor_site import SLOT, Site

from sssjob import store
from sssjob.classads import forms
from sssjob.store import changed_since
from sssjob.systems.condor.hooks import documents, offers
from sssjob.systems.condor.hooks.queue import FEW, JobQueue

USER = "<User>amy</User>"


class Counted:
    """A cursor that counts what it gives."""

    def __init__(self, cursor, count):
        self._cursor, self._count = cursor, count
        self.rowcount = cursor.rowcount

    def fetchone(self):
        row = self._cursor.fetchone()
        self._count["rows"] += row is not None
        return row

    def fetchall(self):
        rows = self._cursor.fetchall()
        self._count["rows"] += len(rows)
        return rows

    def __iter__(self):
        return iter(self.fetchall())


@pytest.fixture
def count(monkeypatch):
    """How many statements the queue runs, and what comes of them; documents and notes."""
    found = Counter()
    run, asked, noted = JobQueue.run, documents._StoredDocuments.found, offers.noted

    def counted(queue, statement, values=()):
        found["statements"] += 1
        return Counted(run(queue, statement, values), found)

    def listed(source, mark, also, say):
        told = asked(source, mark, also, say)
        found["documents"] += len(told.there)
        return told

    def read(state, tickets):
        found["notes"] += len(tickets)
        return noted(state, tickets)

    monkeypatch.setattr(JobQueue, "run", counted)
    monkeypatch.setattr(documents._StoredDocuments, "found", listed)
    monkeypatch.setattr(offers, "noted", read)
    monkeypatch.setattr(changed_since, "_AT_ONCE", 0)
    return found


def filled(address, first, last):
    with store.open(address, create=True) as jobs, jobs.change() as work:
        for number in range(first, last):
            work.put(f"<Job><Id>{number}</Id>{USER}<Executable>/bin/true</Executable></Job>"
                     .encode())  # fmt: skip


class Machine:
    """A machine whose hooks look at a store."""

    def __init__(self, address, tmp_path, monkeypatch, capsys):
        self._site = Site(tmp_path, monkeypatch, capsys)
        self._address, self._state = address, tmp_path / "state"

    def call(self, hook, ad, *words, **options):
        self._site.path = self._address
        given = {"state": str(self._state), "fold": "after", "refresh": 60, **options}
        return self._site.call(hook, ad, *words, **given)

    def fetch(self, **options):
        answer = self.call("fetch-work", SLOT, **options)
        return [*forms.read_text(answer.decode(), strict=True)]


@pytest.fixture
def machine(address, tmp_path, monkeypatch, capsys):
    return Machine(address, tmp_path, monkeypatch, capsys)


DAY = 86_400  # seconds after which all documents are read: not while a busy machine counts


# decision 906
@pytest.mark.parametrize("accepts", [False, True])
def test_each_job_of_a_store_is_fetched_by_as_many_statements_and_rows(
    accepts,
    address,
    machine,
    count,
):
    costs = []
    for first, last in ((0, 120), (120, 240)):
        filled(address, first, last)
        for number in range(20):
            count.clear()
            [ad] = machine.fetch(refresh=DAY)
            if accepts:
                machine.call("reply-fetch", ad, "accept", refresh=DAY)
            if number > 2:  # jobs that are new were read
                costs.append(dict(count))
    assert [each for each in costs if each != costs[0]] == []
    assert costs[0]["documents"] <= 2
    assert costs[0]["rows"] < 2 * FEW
    assert not costs[0].get("notes")


@pytest.mark.parametrize("when", ["put", "deleted", "changed"])
def test_what_is_new_in_a_store_is_known_by_the_next_hook(when, address, machine):
    filled(address, 0, 3)
    [first] = machine.fetch()
    assert first["ClusterId"] == 0
    with store.open(address) as jobs, jobs.change() as work:
        if when == "put":
            work.put(
                f"<Job><Id>9</Id>{USER}<Executable>/bin/true</Executable><Priority>5</Priority>"
                "</Job>".encode()
            )
        elif when == "deleted":
            work.delete("1")
        else:
            [found] = work.named("1")
            work.put(found.document.replace(b"/bin/true", b"/bin/false"), replacing=found)
    [second] = machine.fetch()
    assert second["ClusterId"] == {"put": 9, "deleted": 2, "changed": 1}[when]
    assert second["Cmd"] == ("/bin/false" if when == "changed" else "/bin/true")
