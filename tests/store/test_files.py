"""A File that a job names with # goes with it: into a store, through its versions, and out."""

import hashlib
from io import BytesIO
from types import SimpleNamespace
from urllib.parse import quote

import counting
import pytest
from hypothesis import given
from hypothesis import strategies as st
from job_service import job_service
from strategies import CHARACTERS

from sssjob import store
from sssjob.delivery.store import StoreDelivery
from sssjob.document import tree
from sssjob.document.bundle import MessageFile, bundles, written
from sssjob.document.files import opened
from sssjob.errors import InvalidValue, LimitExceeded, OtherStore
from sssjob.records import find
from sssjob.rmap.message import Data, Object, Request
from sssjob.rmap.message import File as Sent
from sssjob.rmap.reading import item
from sssjob.rmap.responder import ReceivedRequest
from sssjob.store.messages import OneMessage, message
from sssjob.store.reading import readers
from sssjob.submission import InStore

ONE = b"#!/bin/sh\necho one\n"
TWO = b"#!/bin/sh\necho two\n"


@pytest.fixture
def address(address_of_made):
    return address_of_made


@pytest.fixture
def jobs(address):
    with store.open(address, create=True) as opened:
        yield opened


def job(id_, executable="#Script", state="Idle"):
    return f"<Job><Id>{id_}</Id><State>{state}</State><Executable>{executable}</Executable></Job>"


def data(*parts):
    return f"<Data>{''.join(parts)}</Data>"


def file(content, id_="Script"):
    return written(MessageFile(id_, content))


def load(jobs, *documents, processes=1, between="\n"):
    told = []
    source = BytesIO(between.join(documents).encode())
    if processes == 1:
        jobs.load(source, on_warning=told.append)
    else:
        with readers(processes) as some:
            jobs.load(source, on_warning=told.append, readers=some)
    return [each.message for each in told]


def held(jobs, id_="1"):
    return [jobs.files(each) for each in jobs.versions(id_)]


def test_a_file_is_kept_with_the_job_that_names_it(jobs):
    assert load(jobs, data(job(1), file(ONE))) == []
    assert held(jobs) == [{"Script": ONE}]
    assert list(jobs.check()) == []


def test_files_of_the_same_id_are_those_of_their_own_message(jobs):
    load(jobs, data(job(1), file(ONE)), data(file(TWO), job(2)), data(job(3)), job(4))
    assert [held(jobs, str(n)) for n in (1, 2, 3, 4)] == [
        [{"Script": ONE}], [{"Script": TWO}], [{}], [{}],
    ]  # fmt: skip


@pytest.mark.parametrize("is_first", [True, False])
def test_a_file_further_out_is_meant_where_none_is_beside_the_job(jobs, is_first):
    inner = data(job(1), job(2, "#Other"), file(TWO, "Other"))
    load(jobs, data(*[file(ONE), inner][:: 1 if is_first else -1]))
    assert held(jobs, "1") == [{"Script": ONE}]
    assert held(jobs, "2") == [{"Other": TWO}]


@pytest.mark.parametrize("end", ["</Data", "</Job></Data>", "</Date>"])
def test_a_message_that_is_broken_gets_no_file_of_the_next_one(jobs, end):
    broken = f"<Data>{job(1)}{end}"
    source = f"{broken}\n{data(job(2), file(TWO))}\n{data(job(3), file(ONE))}".encode()
    jobs.load(BytesIO(source), on_error=lambda error: None)
    assert [jobs.files(each) for each in jobs.documents() if each.identity.id == "1"] in ([{}], [])


def test_an_id_that_names_nothing_is_told_with_its_line(jobs):
    source = f"{data(job(1), file(ONE, 'Other'))}\n{job(2)}\n"
    told = []
    jobs.load(BytesIO(source.encode()), on_warning=told.append)
    assert [(each.line, each.message) for each in told] == [
        (1, "no File with the id Script was found beside Job 1"),
        (4, "no File with the id Script was found beside Job 2"),  # the File has lines
    ]


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("place", ["before", "behind", "between"])
def test_the_file_of_many_jobs_is_found_wherever_it_stands(jobs, place, processes):
    many = [f"\n  {job(n, state='Idle' * 100)}" for n in range(800)]
    parts = {
        "before": [file(ONE), *many],
        "behind": [*many, file(ONE)],
        "between": [*many[:400], file(ONE), *many[400:]],
    }[place]
    assert load(jobs, data(*parts), data(job("last"), file(TWO)), processes=processes) == []
    assert {digests["Script"] for digests in (each.files for each in jobs.documents())} == {
        next(iter(jobs.get("7").files.values())), next(iter(jobs.get("last").files.values())),
    }  # fmt: skip
    assert (held(jobs, "799"), held(jobs, "last")) == ([{"Script": ONE}], [{"Script": TWO}])
    assert jobs.engine.fetch("SELECT count(*) FROM file") == [(2,)]


def test_a_file_that_holds_elements_is_kept_whole(jobs):
    assert load(jobs, data(job(1), "<File id='Script'>a<b>c</b>d<!-- e -->f</File>")) == []
    assert held(jobs) == [{"Script": b"a<b>c</b>d<!-- e -->f"}]


def test_attributes_of_a_file_that_are_not_kept_are_told(jobs):
    told = load(jobs, data(job(1), "<File id='Script' encoding='Base64'>bHM=</File>"))
    assert told == ["the attribute encoding of the File Script beside Job 1 is not kept"]
    assert held(jobs) == [{"Script": b"bHM="}]


def test_each_version_keeps_its_own_file(jobs):
    load(jobs, data(job(1), file(ONE)))
    load(jobs, data(job(1), file(TWO)), data(job(2), file(TWO)))
    load(jobs, data(job(1, executable="/bin/true")))
    assert held(jobs) == [{"Script": ONE}, {"Script": TWO}, {}]
    assert held(jobs, "2") == [{"Script": TWO}]


def test_the_same_message_again_changes_nothing_and_another_file_does(jobs):
    def counts(content):
        return str(jobs.load(data(job(1), file(content)).encode()))

    assert counts(ONE) == "new 1, changed 0, unchanged 0, bad 0"
    assert counts(ONE) == "new 0, changed 0, unchanged 1, bad 0"
    assert counts(TWO) == "new 0, changed 1, unchanged 0, bad 0"


def test_a_later_state_of_a_job_keeps_the_file_that_does_not_come_again(jobs):
    load(jobs, data(job(1), file(ONE)))
    assert load(jobs, job(1, state="Running")) == []
    with jobs.change() as change:
        change.delete("1")
        change.undelete("1")
        change.put(job(1, state="Completed").encode(), replacing=change.get("1"))
    assert held(jobs) == [{"Script": ONE}] * 5


def test_files_are_put_with_a_job_and_only_those_that_it_names(jobs):
    with jobs.change() as change:
        change.put(job(1).encode(), files={"Script": ONE, "Other": TWO})
        change.put(data(job(2), file(TWO)).encode())
    assert (held(jobs), held(jobs, "2")) == ([{"Script": ONE}], [{"Script": TWO}])
    with pytest.raises(LimitExceeded), jobs.change() as change:
        change.put(job(3).encode(), files={"Script": b"a" * (17 << 20)})
    with pytest.raises(InvalidValue), jobs.change() as change:
        change.put(job(3).encode(), files={"Script": b"\x00"})
    assert jobs.get("3") is None


def test_a_store_of_the_version_before_is_upgraded_and_keeps_files_from_then_on(jobs, address):
    with jobs.change() as change:
        change.put(job(1).encode())
        change.put(job(1, state="Running").encode())
    with jobs.engine.transaction():
        for column in ("begins", "said"):
            jobs.engine.fetch(f"ALTER TABLE ledger DROP COLUMN {column}")
        jobs.engine.fetch("UPDATE setting SET value = '4' WHERE name = 'version'")
        jobs.engine.fetch("DROP TABLE file")
        jobs.engine.fetch("ALTER TABLE document DROP COLUMN files")
        jobs.engine.fetch("ALTER TABLE former DROP COLUMN files")
    jobs.close()
    with pytest.raises(OtherStore, match="sssjob store upgrade"):
        store.open(address)
    assert store.upgrade(address)
    with store.open(address) as again:
        assert held(again) == [{}, {}]
        load(again, data(job(1, state="Running"), file(ONE)), *map(job, range(2, 40)))
        assert held(again) == [{}, {}, {"Script": ONE}]
        assert list(again.check()) == []


def test_damage_of_a_file_is_found(jobs):
    load(jobs, data(job(1), file(ONE)), data(job(2), file(TWO)))
    digest = jobs.get("2").files["Script"]
    jobs.engine.fetch("UPDATE file SET data = ? WHERE digest <> ?", (b"\0", digest))
    jobs.engine.fetch("DELETE FROM file WHERE digest = ?", (digest,))
    said = [str(each) for each in jobs.check()]
    assert any("is damaged" in each for each in said)
    assert "document 2, version 1: its File Script is missing" in said


def test_what_is_delivered_leaves_the_file_where_it_is(jobs):
    queued = job(1).replace("</Job>", "<SubmitTime>5</SubmitTime></Job>")
    load(jobs, data(queued, file(ONE)))
    for start in (10, 90):  # the second is a further run of the job
        record = f"<Job><Id>1</Id><SubmitTime>5</SubmitTime><StartTime>{start}</StartTime></Job>"
        source = BytesIO(record.encode())
        assert [*StoreDelivery(jobs).take_records(source, "x", find("sss"))] == []
    assert [jobs.files(each) for each in jobs.documents()] == [{"Script": ONE}] * 2


def test_a_place_in_a_store_has_the_files_of_its_job(jobs):
    load(jobs, data(job(1), file(ONE)))
    [(_, files, _)] = InStore(jobs, jobs.get("1").number).held()
    assert files == {"Script": ONE}


def asked(address, *elements, files=()):
    parts = tuple(item(tree.parse(each)) for each in elements)
    request = Request("Create", "root", (Object("Job"),), data=Data(parts), files=files)
    with job_service(address) as service:
        return service.actions(ReceivedRequest(request, "root", "10.0.0.7", True, 1000.0))


@pytest.mark.parametrize("where", ["in Data", "behind Data", "by its name"])
def test_a_gateway_keeps_the_file_of_a_job_that_is_created(jobs, address, where):
    beside = {"behind Data": (Sent("ls", id="Script"),), "by its name": (Sent("ls", "Script"),)}
    inside = [file(b"ls")] if where == "in Data" else []
    asked(address, job(1), *inside, files=beside.get(where, ()))
    assert held(jobs) == [{"Script": b"ls"}]


def test_a_gateway_takes_all_that_a_file_holds(jobs, address):
    asked(address, job(1), "<File id='Script'>a<b>c</b>d</File>")
    assert held(jobs) == [{"Script": b"a<b>c</b>d"}]


@pytest.mark.parametrize("executable", ["Script", "file:///Script", "/Script", "C:\\Script"])
def test_what_names_no_file_stays_where_a_file_of_that_name_gets_another_id(executable):
    """A job with an Executable of its own in a group whose jobs name the File."""
    together = OneMessage()
    group = f"<JobGroup>{job(1)}{job(2, executable)}</JobGroup>".encode()
    list(together.pieces(job(3).encode(), {"Script": "digest"}, {"Script": ONE}))
    document, script = together.pieces(group, {"Script": "other"}, {"Script": TWO})
    assert document.count(b"<Executable>#Script-2</Executable>") == 1
    assert f"<Executable>{executable}</Executable>".encode() in document
    assert b"Script-2" in script


def test_twice_as_many_files_of_one_id_cost_one_message_twice_the_work():
    def made(count):
        together = OneMessage()
        for each in range(count):
            yield from together.pieces(job(each).encode(), {"Script": str(each)}, {"Script": b"ls"})

    few, many = (counting.calls(list, made(count)) for count in (100, 200))
    assert many < 2.2 * few


IDS = st.text("ab#%20 é/-", min_size=1, max_size=4).filter(lambda id_: id_.strip(" \t\r\n") == id_)
CONTENTS = st.text(CHARACTERS, max_size=9).map(str.encode)
MESSAGES = st.lists(
    st.dictionaries(st.sampled_from(["1", "2", "3", "4"]), st.tuples(IDS, CONTENTS), min_size=1),
    min_size=1, max_size=4,
)  # fmt: skip


def test_of_a_document_whose_file_gets_another_id_only_the_executable_is_changed():
    given = "<Job><Id>2</Id><Name>#Script</Name><Executable>{}</Executable><Queue>#x</Queue></Job>"
    one = OneMessage()
    first = b"".join(one.pieces(job(1).encode(), {"Script": "a"}, {"Script": ONE}))
    second = b"".join(
        one.pieces(given.format("#Script").encode(), {"Script": "b"}, {"Script": TWO})
    )
    assert first == (job(1) + file(ONE)).encode()
    assert second == (given.format("#Script-2") + file(TWO, "Script-2")).encode()


def of_messages(source):
    """The File that each job of some messages means."""
    found = {}
    with opened(source) as stream:
        for bundle in bundles(stream):
            for block in bundle.blocks:
                script = bundle.script(block.get("Executable"))
                found[block.id] = None if script is None else script.content
    return found


@given(MESSAGES)
def test_what_is_imported_is_exported_with_the_same_files(kept, messages):
    sources, meant = [], {}
    for number, each in enumerate(messages):
        files = dict(each.values())  # of two of one id, the last one is there
        for id_, (name, _) in each.items():
            meant[f"{number}.{id_}"] = files[name]
        parts = [
            job(f"{number}.{id_}", f"#{quote(name, safe='')}") for id_, (name, _) in each.items()
        ]
        sources.append(data(*parts, *(file(content, name) for name, content in files.items())))
    for table in ("document", "former", "job", "file"):
        kept.engine.fetch(f"DELETE FROM {table}")
    assert load(kept, *sources) == []
    documents = [(each.document, each.files, kept.files(each)) for each in kept.documents()]
    apart = b"\n".join(message(document, files) for document, _, files in documents)
    together = OneMessage()
    pieces = [piece for each in documents for piece in together.pieces(*each)]
    assert of_messages(apart) == of_messages(b"<Jobs>%s</Jobs>" % b"".join(pieces)) == meant


def test_a_file_that_many_jobs_name_is_digested_once(jobs, monkeypatch):
    digested = []

    def sha256(content):
        digested.append(content)
        return hashlib.sha256(content)

    monkeypatch.setattr("sssjob.store.files.hashlib", SimpleNamespace(sha256=sha256))
    once = f"#!/bin/sh\n# {jobs.address}\n".encode()  # another one for each kind of store
    load(jobs, data(*(job(each) for each in range(20)), file(once)))
    assert digested == [once]
    assert all(jobs.files(each) == {"Script": once} for each in jobs.documents())
