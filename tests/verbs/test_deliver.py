"""Delivering from Python: into a document, a directory and a store, nothing of it printed."""

import io
from contextlib import contextmanager
from pathlib import Path

import pytest

from sssjob import store
from sssjob.document import dumps, loads
from sssjob.document.sources import NamedSource, UnusableSource
from sssjob.errors import Finding, UnreadableDocument
from sssjob.features.folded import listed, without_run
from sssjob.verbs.deliver import Facts, Work, run

JOB = b"<Job><Id>%d</Id><Requested><Processors>1</Processors></Requested></Job>\n"
HEAD = b"JobID|State|ElapsedRaw|NCPUS\n"
RECORDS = HEAD + b"1|COMPLETED|60|2\n2|COMPLETED|x|2\n9|COMPLETED|5|1\n"


def named(path):
    return NamedSource(str(path), Path(path))


def records(data=RECORDS):
    source = NamedSource("sacct.txt", io.BytesIO(data))
    return Facts(records=(source,), format="slurm", zone="UTC")


def delivered(work):
    *findings, tally = run(work)
    assert all(isinstance(item, Finding) for item in findings)
    return [str(item) for item in findings], tally


@pytest.fixture
def document(tmp_path):
    path = tmp_path / "job.xml"
    path.write_bytes(JOB % 1 + JOB % 2)
    return path


def test_a_document_is_written_back(document):
    findings, tally = delivered(Work(named(document), records()))
    assert (tally.jobs, tally.delivered, tally.records) == (2, 1, 2)
    assert (tally.bad, tally.elsewhere) == (1, 1)
    assert findings == [item for item in findings if item.startswith("sacct.txt:3: error")]
    first, second = document.read_bytes().splitlines(keepends=True)
    assert loads(first).delivered["Duration"].text == "60"
    assert second == JOB % 2


@pytest.mark.parametrize("data", [
    pytest.param(RECORDS, id="sacct"),
    pytest.param(b"12/08/2023 00:00:00;E;1;user=amy start=1702000000 end=1702000060\n", id="pbs"),
])  # fmt: skip
def test_records_of_which_no_format_is_named_are_recognised(data, document):
    delivered(Work(named(document), Facts(records=records(data).records, zone="UTC")))
    assert b"<Duration>60</Duration>" in document.read_bytes()


def test_a_document_goes_where_the_caller_says_and_nothing_is_printed(document, capfd):
    before, out = document.read_bytes(), io.BytesIO()

    @contextmanager
    def writing(path):
        assert path == document
        yield out

    _, tally = delivered(Work(named(document), records(), in_place=False, writing=writing))
    assert tally.delivered == 1
    assert b"<Duration>60</Duration>" in out.getvalue()
    assert document.read_bytes() == before
    assert capfd.readouterr() == ("", "")


def test_a_stream_is_read_twice_though_it_comes_once():
    out = io.BytesIO()

    @contextmanager
    def writing(path):
        yield out

    source = NamedSource("a stream", io.BytesIO(JOB % 1))
    _, tally = delivered(Work(source, records(), in_place=False, writing=writing))
    assert tally.delivered == 1
    assert b"<Duration>60</Duration>" in out.getvalue()


def test_a_directory_and_a_store_get_the_same_facts(document, tmp_path):
    place = tmp_path / "jobs"
    place.mkdir()
    (place / "a.xml").write_bytes(document.read_bytes())
    _, of_directory = delivered(Work(named(place), records()))
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(document)
    _, of_store = delivered(Work(named(tmp_path / "jobs.db"), records(), by="amy"))
    for name in ("records", "bad", "elsewhere", "delivered", "changes"):
        assert getattr(of_directory, name) == getattr(of_store, name)
    with store.open(tmp_path / "jobs.db") as jobs:
        (kept,) = (each for each in jobs.documents() if each.version == 2)
    assert kept.by == "amy"
    assert loads(kept.document) == loads((place / "a.xml").read_bytes().splitlines()[0])


def test_a_store_tells_what_is_wrong_before_it_goes_on(document, tmp_path):
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(document)
    many = HEAD + b"1|COMPLETED|x|2\n" + b"1|COMPLETED|60|2\n" * 1000
    running = run(Work(named(tmp_path / "jobs.db"), records(many)))
    assert "sacct.txt:2:" in str(next(running))
    running.close()


@pytest.mark.parametrize("make, data, error, message", [
    pytest.param(lambda work: named("/no/such.xml"), RECORDS, OSError, "such.xml", id="no file"),
    pytest.param(lambda work: work, b"", UnusableSource, "sacct.txt: nothing", id="records"),
    pytest.param(lambda work: work, b"\x1f\x8b\x08", UnreadableDocument, "sacct.txt", id="cut off"),
    pytest.param(lambda work: NamedSource("a stream", io.BytesIO(JOB % 1)), RECORDS, UnusableSource,
                 "a stream: it is no file", id="a stream in place"),
])  # fmt: skip
def test_what_cannot_be_read_is_named(make, data, error, message, document):
    before = document.read_bytes()
    with pytest.raises(error, match=message):
        delivered(Work(make(named(document)), records(data)))
    assert document.read_bytes() == before


def test_features_of_one_job_are_not_folded_into_many_documents(tmp_path):
    with pytest.raises(UnusableSource, match="only records"):
        delivered(Work(named(tmp_path), Facts(features=str(tmp_path))))


def test_the_same_is_said_of_records_wherever_their_jobs_stand(document, tmp_path):
    line = b'"ceID=ce.example.org:8443/cream-pbs-x" "jobID=CREAM%d" "lrmsID=%d" "localUser=4000"\n'
    data = b"".join(line % (number, number) for number in (1, 9)) + b"no record\n"
    place = tmp_path / "jobs"
    place.mkdir()
    (place / "a.xml").write_bytes(document.read_bytes())
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(document)
    said = [
        delivered(Work(named(into), Facts(records=records(data).records, format="blah")))[0]
        for into in (document, place, tmp_path / "jobs.db")
    ]
    assert [item.split(": ")[:2] for item in said[0]] == [
        ["sacct.txt:1", "warning"], ["sacct.txt:3", "error"],
    ]  # fmt: skip
    assert said[0] == said[1] == said[2]


def test_a_further_run_in_a_store_begins_with_what_was_requested(tmp_path):
    asked = loads("<Job><Id>1</Id><DeadlineTime>900</DeadlineTime></Job>")
    ran = asked.setting(DeadlineTime=500, StartTime=100, SubmitTime=90, Queue="a")
    path = tmp_path / "jobs.db"
    with store.open(path, create=True) as jobs:
        jobs.load(dumps(listed(asked, ran)).encode())
    head = b"JobID|State|Submit|Start|End\n"
    record = head + b"1|COMPLETED|1970-01-01T00:10:00|1970-01-01T00:11:40|1970-01-01T00:12:00\n"
    _, tally = delivered(Work(NamedSource(str(path), path), records(record)))
    assert tally.runs == 1
    with store.open(path) as jobs:
        first, second = (loads(each.document) for each in jobs.documents())
    assert (first.get("DeadlineTime"), first.get("Queue")) == ("500", "a")
    assert (second.get("DeadlineTime"), second.get("Queue")) == ("900", "")
    assert second.get("StartTime") == "700"
    assert without_run(second) == asked
