"""Sources of any shape are loaded byte for byte, again and again without doubling anything."""

import gzip
import re

import pytest
from draws import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree
from strategies import ANY

from sssjob import store
from sssjob.document.places import local
from sssjob.document.slices import slices
from sssjob.errors import UnreadableDocument
from sssjob.store import Counts, loading, sqlite
from sssjob.store.identity import identify
from sssjob.store.reading import only, told
from sssjob.store.rows import rows

IDS = st.sampled_from(["1", "2", "g"])
TIMES = st.sampled_from(["", "<StartTime>5</StartTime>", "<StartTime> +07</StartTime>"])
JOBS = st.builds(
    "<Job><Id>{}</Id>{}<Name>{}</Name></Job>".format, IDS, TIMES, st.text("ab", max_size=2)
)
GROUPS = st.builds("<JobGroup><Id>{}</Id>{}</JobGroup>".format, IDS, JOBS)


@pytest.fixture
def jobs(address):
    with store.open(address, create=True, by="amy") as opened:
        yield opened


def documents(jobs):
    return [each.document for each in jobs.documents()]


def test_what_stands_in_a_wrapper_is_kept_as_it_stands(jobs):
    one, two = b"<Job>\r\n <Id>1</Id >\n</Job>", b"<JobGroup><Id>g</Id><!-- x --></JobGroup>"
    assert jobs.load(b"<Jobs>\n" + one + b"\n\n" + two + b"</Jobs>") == Counts(new=2)
    assert documents(jobs) == [one, two]


def test_loading_again_doubles_nothing_and_changes_nothing(jobs):
    source = gzip.compress(b"\n".join(b"<Job><Id>%d</Id></Job>" % n for n in range(50)))
    assert jobs.load(source) == Counts(new=50)
    assert jobs.load(source, by="bob") == Counts(unchanged=50)
    assert {each.by for each in jobs.documents()} == {"amy"}


def test_a_source_may_tell_the_whole_life_of_a_job(jobs):
    states = ["Idle", "Running", "Completed"]
    lines = [f"<Job><Id>1</Id><State>{state}</State></Job>" for state in states]
    assert jobs.load("\n".join(lines).encode()) == Counts(new=1, changed=2)
    assert [each.document.decode() for each in jobs.versions("1")] == lines


def test_what_cannot_be_kept_is_told_with_its_line_and_the_rest_go_on(jobs):
    lines = [
        b"<Job><Id>1</Id></Job>",
        b"<Job/>",
        b"<Job><Id>2</Idd></Job>",
        b"<Job><Id>3</Id></Job>",
    ]
    source = b"<Jobs>\n" + b"\n".join(lines) + b"</Jobs>"
    errors = []
    assert jobs.load(source, on_error=errors.append) == Counts(new=2, bad=2)
    assert [(each.finding.line, each.finding.code) for each in errors] == [
        (3, "E-MISSING"), (4, "E-XML"),
    ]  # fmt: skip
    with pytest.raises(UnreadableDocument, match="without an Id"):
        jobs.load(source)


def test_the_history_says_who_loaded_what_from_where(jobs):
    jobs.load(b"<Job><Id>1</Id></Job>", by="bob", name="jobs.sss", reason="April")
    [event] = jobs.changes()
    assert (event.by, event.source, event.reason) == ("bob", "jobs.sss", "April")
    assert list(jobs.changes(since=event.at + 1)) == list(jobs.changes(by="amy")) == []


def test_names_of_files_may_be_anything(jobs):
    jobs.load(b"<Job><Id>1</Id></Job>", name="a\udcff\0.xml")
    assert jobs.get("1").source == "a\ufffd\ufffd.xml"


def test_progress_is_told_after_each_batch(jobs, monkeypatch):
    monkeypatch.setattr(loading, "_DOCUMENTS", 2)
    told_counts = []
    source = b"<Job><Id>1</Id></Job>\n<Job/>\n<Job><Id>2</Id></Job>\n<Job><Id>3</Id></Job>"
    jobs.load(source, on_error=lambda error: None, on_batch=told_counts.append)
    assert told_counts == [Counts(new=2, bad=1), Counts(new=3, bad=1)]


def test_a_large_import_into_a_new_store_ends_with_all_indexes_and_a_dictionary(jobs):
    before = jobs.engine.indexes()
    jobs.load(
        b"\n".join(b"<Job><Id>%d</Id><User>u%d</User></Job>" % (n, n % 7) for n in range(2500))
    )
    assert jobs.engine.indexes() == before
    assert jobs.statistics().dictionaries == 1
    assert jobs.count() == 2500


def test_compacting_keeps_every_byte_of_every_version(jobs):
    source = [
        b"<Job><Id>%d</Id><User>u%d</User>%s</Job>" % (n, n % 7, b" " * n) for n in range(300)
    ]
    jobs.load(b"\n".join(source))
    jobs.load(b"\n".join(each.replace(b"<User>", b"<User> ") for each in source))
    before = [(each.version, each.document) for n in range(300) for each in jobs.versions(str(n))]
    packed = jobs.statistics().packed_size
    jobs.compact()
    assert jobs.statistics().packed_size < packed
    after = [(each.version, each.document) for n in range(300) for each in jobs.versions(str(n))]
    assert after == before
    assert list(jobs.check()) == []


def test_statistics_count_what_is_there(jobs):
    jobs.load(
        b"<Job><Id>1</Id><State>Idle</State></Job>\n<JobGroup><Id>g</Id><Job><Id>2</Id></Job>"
        b"<Job>1</Job></JobGroup>\n<Job><Id>1</Id><State>Running</State></Job>"
    )
    found = jobs.statistics()
    assert (found.documents, found.jobs, found.versions, found.deleted) == (2, 2, 1, 0)
    assert found.by_state == {"": 1, "Running": 1}


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(ANY.filter(lambda node: local(node) in ("Job", "JobGroup")))
def test_the_row_of_a_document_tells_its_identity_or_leaves_it_to_the_document(node):
    found = told(rows(node)[0])
    assert found in (None, identify(node, local(node)))


class Model:
    """What a store should hold: the versions of each document, in the order of the store."""

    def __init__(self):
        self.documents = []

    def load(self, document):
        """An import takes no document of a job that waits for one in which it has started."""
        self.put(document, keeps_started=True)

    def put(self, document, *, keeps_started=False):
        new = only(document.encode())
        runs = [
            (runs, marks, versions)
            for runs, (name, id_, marks, versions) in enumerate(self.documents)
            if (name, id_) == (new.name, new.id)
        ]
        agreeing = [each for each in runs if new.marks.agree(each[1])]
        equal = [each for each in agreeing if each[1] == new.marks]
        if not agreeing:
            self.documents.append([new.name, new.id, new.marks, [document]])
            return
        at, _, versions = max(equal or agreeing, key=lambda each: (each[1].latest, each[0]))
        inner, known = (re.search("<Job>.*</Job>", each)[0] for each in (document, versions[-1]))
        same = re.match("<Job><Id>.*?</Id>", inner)[0] in known
        is_older = same and "<StartTime>5" in known and "<StartTime>" not in inner
        if versions[-1] != document and not (keeps_started and is_older):
            versions.append(document)
            self.documents[at][2] = new.marks


@examples(30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(JOBS, GROUPS), min_size=1, max_size=8), st.integers(1, 4))
def test_what_was_put_or_loaded_in_any_order_is_there_with_all_versions(
    tmp_path_factory, found, size
):
    model = Model()
    half = len(found) // 2
    for document in found[:half]:
        model.load(document)
    for document in found[half:]:
        model.put(document)
    path = tmp_path_factory.mktemp("store") / "jobs.db"
    with pytest.MonkeyPatch.context() as patch, store.open(path, create=True) as jobs:
        patch.setattr(loading, "_DOCUMENTS", size)
        jobs.load("\n".join(found[:half]).encode() or b"<Jobs/>")
        for document in found[half:]:
            with jobs.change() as change:
                assert change.put(document.encode()).document == document.encode()
        got = [
            [each.document.decode() for each in jobs.versions(stored.identity)]
            for stored in jobs.documents()
        ]
        assert got == [versions for *_, versions in model.documents]


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One store for all examples: to make one takes longer than to use it."""
    with store.open(tmp_path_factory.mktemp("store") / "jobs.db", create=True) as opened:
        yield opened


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(ANY.filter(lambda node: local(node) in ("Job", "JobGroup")))
def test_any_job_object_with_an_id_comes_back_byte_for_byte(shared, node):
    document = etree.tostring(node)
    [cut] = slices(document)
    if identify(cut.element, local(cut.element))[0]:
        stored = put(shared, document)
        assert stored.document == document
        assert stored == shared.get(stored.identity)
    else:
        with pytest.raises(UnreadableDocument, match="without an Id"):
            put(shared, document)


def put(jobs, document):
    with jobs.change() as change:
        return change.put(document)


def test_the_rows_of_all_these_are_those_of_their_documents(shared):
    assert shared.count()
    assert list(shared.check()) == []


@pytest.mark.parametrize("shapes", [1, 50])
def test_rows_are_whole_however_many_shapes_they_have(tmp_path, monkeypatch, shapes):
    monkeypatch.setattr(sqlite, "_SHAPES", shapes)
    inner = ["", "<User>amy</User>", "<Queue>q</Queue><User>bob</User>", "<User>eve</User>"]
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        for number, each in enumerate(inner * 2):
            jobs.load(f"<Job><Id>{number}</Id>{each}</Job>".encode())
        jobs.load(
            "\n".join(f"<Job><Id>b{n}</Id>{each}</Job>" for n, each in enumerate(inner)).encode()
        )
        found = jobs.engine.fetch('SELECT "user", queue FROM job ORDER BY document')
        assert list(jobs.check()) == []
    assert found == 3 * [(None, None), ("amy", None), ("bob", "q"), ("eve", None)]


RAN = "<Job><Id>7</Id><SubmitTime>50</SubmitTime><StartTime>100</StartTime>{}</Job>"
ENDED = RAN.format("<EndTime>700</EndTime><Delivered><Duration>600</Duration></Delivered>")


@pytest.mark.parametrize(
    "later",
    [
        "<Job><Id>7</Id></Job>",
        "<Job><Id>7</Id><State>Idle</State></Job><Job><Id>8</Id><StartTime>9</StartTime></Job>",
        RAN.format("<Duration>500</Duration>"),
    ],
)
def test_a_group_with_a_job_that_tells_less_of_its_run_is_older_and_told(jobs, later):
    there = f"<JobGroup><Id>g</Id>{ENDED}<Job><Id>8</Id></Job></JobGroup>"
    jobs.load(there.encode())
    told = []
    again = f"<JobGroup><Id>g</Id>{later}</JobGroup>".encode()
    assert jobs.load(again, on_warning=told.append) == Counts(unchanged=1)
    assert [each.message for each in told] == [
        "JobGroup g stays as it is there: this is older, and tells less of the run of job 7"
    ]
    assert documents(jobs) == [there.encode()]


@pytest.mark.parametrize(
    "later",
    [
        ENDED.replace("<Duration>600", "<Duration>500"),  # an end may be corrected
        "<Job><Id>7</Id><SubmitTime>900</SubmitTime></Job>",  # another run
        "<Job><Id>9</Id></Job>",
    ],
)
def test_a_group_of_which_no_job_tells_less_is_its_next_version(jobs, later):
    jobs.load(f"<JobGroup><Id>g</Id>{ENDED}</JobGroup>".encode())
    again = f"<JobGroup><Id>g</Id>{later}</JobGroup>".encode()
    assert jobs.load(again) == Counts(changed=1)
    assert documents(jobs) == [again]
