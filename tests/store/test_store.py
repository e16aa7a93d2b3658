"""A store gives back what was put into it, every version of it, and says who did what."""

import pytest

from sssjob import store
from sssjob.errors import BusyStore, OtherStore, UnreadableDocument, UnusableStore, WrongKind
from sssjob.store import Identity
from sssjob.store.condition import Compare, Op

IDLE = b"<Job><Id>PBS.1</Id><State>Idle</State></Job>"
RUNNING = b"<Job><Id>PBS.1</Id><State>Running</State><StartTime>100</StartTime></Job>"
AGAIN = b"<Job><Id>PBS.1</Id><State>Running</State><StartTime>900</StartTime></Job>"
GROUP = b"<JobGroup>\n <Id>g</Id>\n <Job><Id>7</Id><User>amy</User></Job><Job> 8 </Job></JobGroup>"


@pytest.fixture
def jobs(address):
    with store.open(address, create=True, by="amy") as opened:
        yield opened


def put(jobs, *documents, note="", **said):
    with jobs.change(**said) as change:
        if note:
            change.note(note, "1")
        return [change.put(document) for document in documents]


def test_a_document_comes_back_byte_for_byte_with_its_history(jobs):
    [stored] = put(jobs, GROUP, by="bob", source="10.0.0.7", reason="req-17")
    assert stored == jobs.get("g")
    assert stored.document == GROUP
    assert stored.identity == Identity("JobGroup", "g", 1)
    assert (stored.by, stored.source, stored.reason) == ("bob", "10.0.0.7", "req-17")
    assert stored.version == 1


def test_who_opened_the_store_makes_its_changes(jobs):
    assert put(jobs, IDLE)[0].by == "amy"


def test_a_job_in_a_group_is_found_by_its_id(jobs):
    put(jobs, GROUP)
    assert jobs.get("7").identity.id == "g"


def test_a_job_by_itself_comes_before_one_in_a_group(jobs):
    put(jobs, GROUP, b"<Job><Id>7</Id></Job>")
    assert jobs.get("7").identity == Identity("Job", "7", 1)


def test_what_is_not_there_is_none(jobs):
    assert jobs.get("PBS.1") is None
    assert jobs.get(Identity("Job", "PBS.1")) is None
    assert jobs.versions("PBS.1") == []


def test_the_next_state_of_a_job_is_its_next_version(jobs):
    put(jobs, IDLE)
    put(jobs, RUNNING, by="bob")
    assert [(each.version, each.by, each.document) for each in jobs.versions("PBS.1")] == [
        (1, "amy", IDLE), (2, "bob", RUNNING),
    ]  # fmt: skip
    assert [each.document for each in jobs.documents()] == [RUNNING]


@pytest.mark.parametrize("one, other, runs", [
    ("1051557713", "2003-04-28T19:21:53Z", 1), ("2003-04-28T21:21:53+02:00", "1051557713", 1),
    ("+0100", "100", 1), ("1051557713", "2003-04-28T19:21:54Z", 2), ("yesterday", "100", 2),
    ("yesterday", "yesterday", 1),
])  # fmt: skip
def test_a_time_tells_runs_apart_by_what_it_means(jobs, one, other, runs):
    for at, user in ((one, "amy"), (other, "bob")):
        with jobs.change() as change:
            change.put(
                f"<Job><Id>1</Id><User>{user}</User><StartTime>{at}</StartTime></Job>".encode()
            )
    assert jobs.statistics().documents == runs


def test_a_run_after_a_requeue_is_a_job_of_its_own(jobs):
    put(jobs, RUNNING, AGAIN)
    assert jobs.get("PBS.1").document == AGAIN
    assert jobs.get(Identity("Job", "PBS.1", 1)).document == RUNNING


def test_the_same_bytes_again_change_nothing(jobs):
    put(jobs, IDLE, GROUP)
    put(jobs, IDLE, GROUP, by="bob")
    assert [(each.version, each.by) for each in jobs.documents()] == [(1, "amy"), (1, "amy")]


def test_a_version_that_is_replaced_by_name_may_change_its_times_and_its_id(jobs):
    [old] = put(jobs, RUNNING)
    with jobs.change() as change:
        change.put(AGAIN, replacing=old)
    with jobs.change() as change:
        change.put(b"<Job><Id>PBS.2</Id></Job>", replacing=change.get("PBS.1"))
    assert jobs.get("PBS.1") is None
    assert [each.version for each in jobs.versions("PBS.2")] == [1, 2, 3]


def test_a_version_that_is_no_longer_the_last_one_is_not_replaced(jobs):
    [old] = put(jobs, IDLE)
    put(jobs, RUNNING)
    with pytest.raises(BusyStore, match=r"Job PBS.1 has changed since"), jobs.change() as change:
        change.put(AGAIN, replacing=old)


def test_a_deleted_document_is_hidden_and_kept(jobs):
    put(jobs, IDLE)
    with jobs.change(by="bob") as change:
        assert change.delete("PBS.1").deleted
        assert change.delete("PBS.1") is None
    assert list(jobs.documents()) == []
    assert [each.deleted for each in jobs.documents(deleted=True)] == [True]
    assert list(jobs.rows(["id"])) == []
    assert list(jobs.rows(["id"], deleted=True)) == [("PBS.1",)]
    with jobs.change() as change:
        assert not change.undelete("PBS.1").deleted
        assert change.undelete("PBS.1") is None
    assert [each.deleted for each in jobs.versions("PBS.1")] == [False, True, False]


def test_another_version_of_a_deleted_document_is_there_again(jobs):
    put(jobs, IDLE)
    with jobs.change() as change:
        change.delete("PBS.1")
    put(jobs, IDLE)
    assert jobs.get("PBS.1").deleted
    put(jobs, RUNNING)
    assert not jobs.get("PBS.1").deleted


def test_a_change_that_fails_leaves_nothing_behind(jobs):
    put(jobs, IDLE)
    with pytest.raises(UnreadableDocument):
        put(jobs, RUNNING, GROUP, b"<Job/>", note="request")
    assert [each.document for each in jobs.documents()] == [IDLE]
    with jobs.change() as change:
        assert change.noted("request") is None


def test_a_note_is_kept_with_the_change_that_made_it(jobs):
    with jobs.change() as change:
        change.note("request", "1")
        change.note("request", "2")
    with jobs.change() as change:
        assert change.noted("request") == "2"


def test_rows_answer_conditions_in_order_and_in_pieces(jobs):
    put(jobs, IDLE, GROUP, b"<Job><Id>a</Id><User>amy</User></Job>")
    amys = Compare("user", Op.EQ, "amy")
    assert list(jobs.rows(["id", "place"], amys)) == [("7", 1), ("a", 0)]
    assert list(jobs.rows(["id"], amys, sort=[("id", True)], limit=1)) == [("a",)]
    assert list(jobs.rows(["id"], amys, offset=1)) == [("a",)]


def test_rows_follow_their_document(jobs):
    put(jobs, IDLE)
    put(jobs, RUNNING)
    assert list(jobs.rows(["id", "state"])) == [("PBS.1", "Running")]


def test_documents_may_be_changed_while_they_are_read(jobs):
    put(jobs, IDLE, GROUP)
    for stored in jobs.documents():
        with jobs.change() as change:
            change.delete(stored.identity)
    assert list(jobs.documents()) == []


@pytest.mark.parametrize(
    "document, said",
    [
        pytest.param(b"<Job><User>amy</User></Job>", "without an Id", id="no Id"),
        pytest.param(b"<Job><Id> </Id></Job>", "without an Id", id="blank Id"),
        pytest.param(
            b"<Job><Id>1</Idd></Job>", "is not closed before </Idd>", id="not well-formed"
        ),
        pytest.param(b"<Jobs/>", "found 0", id="no job object"),
        pytest.param(
            b"<Jobs><Job><Id>1</Id></Job><Job><Id>2</Id></Job></Jobs>", "found 2", id="two"
        ),
        pytest.param(b"<TaskGroup><Id>1</Id></TaskGroup>", "no Job or JobGroup", id="a part"),
    ],
)
def test_what_is_no_single_job_object_with_an_id_is_refused(jobs, document, said):
    with pytest.raises(UnreadableDocument, match=said), jobs.change() as change:
        change.put(document)


def test_a_store_that_is_not_there_is_not_made_by_accident(tmp_path):
    with pytest.raises(UnusableStore, match="no such store"):
        store.open(tmp_path / "none.db")
    assert not list(tmp_path.iterdir())


def test_a_store_is_opened_again_and_again(address):
    for number in range(3):
        with store.open(address, create=True) as jobs:
            put(jobs, f"<Job><Id>{number}</Id></Job>".encode())
    with store.open(address, read_only=True) as jobs:
        assert len(list(jobs.documents())) == 3


def test_a_store_that_is_only_read_is_not_written(address):
    with store.open(address, create=True) as jobs:
        put(jobs, IDLE)
    with store.open(address, read_only=True) as jobs:
        with pytest.raises(UnusableStore, match="read"):
            put(jobs, RUNNING)
        assert jobs.get("PBS.1").document == IDLE


def test_a_path_may_have_a_scheme_and_odd_characters(tmp_path):
    with store.open(f"sqlite:{tmp_path}/a?b#c%20.db", create=True) as jobs:
        put(jobs, IDLE)
    assert (tmp_path / "a?b#c%20.db").exists()


def test_a_store_of_a_newer_version_says_which_and_is_not_upgraded(address):
    with store.open(address, create=True) as jobs:
        jobs.engine.fetch("UPDATE setting SET value = '99' WHERE name = 'version'")
    said = "a store of version 99, made by a newer sssjob"
    with pytest.raises(OtherStore, match=said):
        store.open(address)
    with pytest.raises(OtherStore, match=said):
        store.upgrade(address)


def test_a_store_of_version_5_gets_its_status_messages(address):
    failed = IDLE.replace(b"</State>", b"</State><StatusMessage>out of memory</StatusMessage>")
    with store.open(address, create=True) as jobs:
        put(jobs, failed, GROUP)
        for column in ("begins", "said"):
            jobs.engine.fetch(f"ALTER TABLE ledger DROP COLUMN {column}")
        jobs.engine.fetch("UPDATE setting SET value = '5' WHERE name = 'version'")
        jobs.engine.fetch("ALTER TABLE job DROP COLUMN status_message")
    with pytest.raises(OtherStore, match="sssjob store upgrade"):
        store.open(address)
    assert store.upgrade(address)
    with store.open(address, read_only=True) as jobs:
        assert [*jobs.rows(["id"], deleted=False)]
        assert ("out of memory",) in {*jobs.rows(["status_message"])}
        assert list(jobs.check()) == []


def test_a_store_with_other_columns_is_upgraded_from_its_documents(address):
    with store.open(address, create=True) as jobs:
        put(jobs, IDLE, GROUP)
        with jobs.change() as change:
            change.delete("PBS.1")
        before = list(jobs.rows(["id", "state", "deleted"], deleted=True))
        jobs.engine.fetch("UPDATE setting SET value = 'id:text' WHERE name = 'columns'")
        jobs.engine.fetch("ALTER TABLE job RENAME COLUMN state TO condition")
    with pytest.raises(OtherStore, match="sssjob store upgrade"):
        store.open(address)
    assert store.upgrade(address)
    assert not store.upgrade(address)
    with store.open(address, read_only=True) as jobs:
        assert list(jobs.rows(["id", "state", "deleted"], deleted=True)) == before
        assert list(jobs.check()) == []


def test_who_changed_a_store_is_a_text(tmp_path):
    with store.open(tmp_path / "s.db", create=True) as jobs, pytest.raises(WrongKind, match="5"):
        jobs.load(b"<Job><Id>1</Id></Job>", by=5)
