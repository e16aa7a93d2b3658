"""Sources of any shape are loaded byte for byte, again and again without doubling anything."""

import gzip
import re

import postgresql
import pytest
from draws import examples, pairwise
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree
from strategies import ANY

from sssjob import store
from sssjob.document.places import local
from sssjob.document.slices import slices
from sssjob.errors import UnreadableDocument
from sssjob.store import Counts, loading, lookup, sqlite
from sssjob.store.identity import identify
from sssjob.store.ledger import EntryKind
from sssjob.store.reading import only, told
from sssjob.store.rows import rows

IDS = st.sampled_from(["1", "2", "g"])
TIMES = st.sampled_from(["", "<StartTime>5</StartTime>", "<StartTime> +057</StartTime>"])
JOBS = st.builds(
    "<Job><Id>{}</Id>{}<Name>{}</Name></Job>".format, IDS, TIMES, st.text("ab", max_size=2)
)
# Their jobs have other Ids and do not run: of what did, test_groups_behind_runs.py.
GROUPS = st.builds(
    "<JobGroup><Id>{}</Id><Job><Id>{}</Id></Job></JobGroup>".format, IDS, st.sampled_from("ab")
)


@pytest.fixture
def address(address_of_made):
    return address_of_made


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
        is_older = "<StartTime>" in versions[-1] and "<StartTime>" not in document
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


GROUP = "<JobGroup><Id>g</Id>{}</JobGroup>"
OTHERS = "<Job><Id>8</Id></Job>"
SECOND = (
    "<Job><Id>7</Id><SubmitTime>800</SubmitTime><StartTime>900</StartTime><EndTime>950</EndTime>"
    "<Delivered><Duration>50</Duration></Delivered></Job>"
)
OLDER, ANOTHER, GONE = (
    "this is older, and tells less of it", "this has another one, which is kept beside it",
    "it is not in this",
)  # fmt: skip


def loaded(jobs, document):
    """What became of a document, and what was told of it."""
    told = []
    counts = jobs.load(document.encode(), on_warning=told.append)
    return counts, [each.message for each in told]


@pytest.mark.parametrize("charged", ["", "<Charge>12</Charge>"])
@pytest.mark.parametrize(
    ("jobs_of_it", "why", "kept", "others"),
    [
        ("<Job><Id>7</Id></Job>" + OTHERS, OLDER, OTHERS, []),
        (RAN.format("<Duration>500</Duration>") + OTHERS, OLDER, OTHERS, []),
        ("<Job><Id>7</Id><State>Idle</State></Job>" + SECOND.replace("<Id>7", "<Id>8"),
         OLDER, SECOND.replace("<Id>7", "<Id>8"), []),
        (OTHERS, GONE, OTHERS, []),
        (OTHERS + "<Job><Id>9</Id></Job>", GONE, OTHERS + "<Job><Id>9</Id></Job>", []),
        (SECOND + OTHERS, ANOTHER, OTHERS, [SECOND]),
        (SECOND + "<Job><Id>8</Id><Name>x</Name></Job>", ANOTHER,
         "<Job><Id>8</Id><Name>x</Name></Job>", [SECOND]),
        (ENDED.replace(">50<", ">40<").replace("100", "10").replace("700", "30") + OTHERS, ANOTHER,
         OTHERS, [ENDED.replace(">50<", ">40<").replace("100", "10").replace("700", "30")]),
    ],
)  # fmt: skip
def test_a_group_that_comes_again_keeps_each_run_and_takes_the_others(
    jobs, jobs_of_it, why, kept, others, charged
):
    there = ENDED.replace("</Job>", f"{charged}</Job>")
    jobs.load(GROUP.format(there + OTHERS).encode())
    again = GROUP.format(jobs_of_it)
    counts, told = loaded(jobs, again)
    assert told == [f"JobGroup g keeps the run of job 7: {why}"]
    expected = [GROUP.format(there + kept), *others]
    assert [each.decode() for each in documents(jobs)] == expected
    is_changed = kept != OTHERS
    assert counts == (
        Counts(new=1) if others else Counts(changed=1) if is_changed else Counts(unchanged=1)
    )
    entered = [(each.kind, each.amount) for each in jobs.ledger.entries(list(EntryKind))]
    assert entered == ([("Charge", 12)] if charged else [])
    assert loaded(jobs, again)[0] == Counts(unchanged=1)
    assert [each.decode() for each in documents(jobs)] == expected
    assert list(jobs.check()) == []


def test_a_run_beside_a_group_has_the_defaults_of_the_group_but_for_what_it_was_charged(jobs):
    defaults = "<JobDefaults><User>ann</User><Charge>5</Charge></JobDefaults>"
    jobs.load(GROUP.format(defaults + ENDED).encode())
    assert loaded(jobs, GROUP.format(defaults + SECOND))[0] == Counts(new=1)
    _, beside = documents(jobs)
    assert beside == SECOND.replace("</Job>", "<User>ann</User></Job>").encode()


def test_a_group_keeps_the_runs_of_many_jobs_in_one_line(jobs):
    ran = "".join(ENDED.replace("<Id>7", f"<Id>{n}") for n in range(6))
    jobs.load(GROUP.format(ran).encode())
    _, told = loaded(jobs, GROUP.format("<Job><Id>0</Id></Job>"))
    assert told == [
        f"JobGroup g keeps the run of job 0: {OLDER}",
        "JobGroup g keeps the runs of jobs 1, 2, 3 and 2 more: they are not in this",
    ]


@pytest.mark.parametrize(
    "later",
    [
        ENDED.replace("<Duration>600", "<Duration>500"),  # an end may be corrected
        ENDED.replace(">100<", ">1970-01-01T00:01:40Z<"),  # the same moment
        ENDED.replace(">100<", ">101<"),  # clocks differ
        ENDED + "<Job><Id>9</Id></Job>",
    ],
)
def test_a_group_that_has_all_runs_is_the_next_version(jobs, later):
    jobs.load(GROUP.format(ENDED).encode())
    again = GROUP.format(later)
    assert loaded(jobs, again) == (Counts(changed=1), [])
    assert documents(jobs) == [again.encode()]


@pytest.mark.parametrize("later", ["<Job><Id>9</Id></Job>", "<Job><Id>7</Id><Name>x</Name></Job>"])
def test_a_group_of_which_no_job_ran_is_what_was_imported_last(jobs, later):
    jobs.load(GROUP.format("<Job><Id>7</Id></Job>").encode())
    assert loaded(jobs, GROUP.format(later)) == (Counts(changed=1), [])
    assert documents(jobs) == [GROUP.format(later).encode()]


@pytest.mark.parametrize("later", ["<Name>asked</Name>", "<State>Completed</State>"])
@pytest.mark.parametrize(
    "used",
    [
        "<Charge>12</Charge>",
        "<Duration>60</Duration>",
        "<StartTime>100</StartTime><Duration>60</Duration>",
        "<StartTime>100</StartTime><EndTime>160</EndTime>",
        "<State>Completed</State><Duration>60</Duration>",
    ],
)
@pytest.mark.parametrize(
    ("frame", "told"),
    [
        ("{}", "Job 7 stays as it is there: this is older, and tells less of the run"),
        (GROUP, "JobGroup g keeps the run of job 7: this is older, and tells less of it"),
    ],
)
def test_what_used_nothing_and_tells_no_time_does_not_replace_a_run(jobs, frame, told, used, later):
    there = frame.format(f"<Job><Id>7</Id>{used}</Job>")
    jobs.load(there.encode())
    again = frame.format(f"<Job><Id>7</Id>{later}</Job>")
    assert loaded(jobs, again) == (Counts(unchanged=1), [told])
    assert documents(jobs) == [there.encode()]


def test_what_tells_how_long_it_ran_is_the_next_version_without_times_too(jobs):
    jobs.load(b"<Job><Id>7</Id><StartTime>100</StartTime></Job>")
    later = "<Job><Id>7</Id><State>Completed</State><Duration>60</Duration></Job>"
    assert loaded(jobs, later) == (Counts(changed=1), [])


RUN = (
    "<Job><Id>7</Id><SubmitTime>100</SubmitTime><StartTime>200</StartTime><EndTime>300</EndTime>"
    "<Delivered><Duration>100</Duration></Delivered></Job>"
)


# a forced deletion leaves a record without times
@pytest.mark.parametrize("told", ["", "<Duration>7</Duration>"])
def test_what_is_over_and_tells_less_wall_time_does_not_replace_a_run_that_ended(jobs, told):
    used = f"<State>Completed</State><SubmitTime>100</SubmitTime><CpuDuration>3</CpuDuration>{told}"
    jobs.load(RUN.encode())
    assert loaded(jobs, f"<Job><Id>7</Id>{used}</Job>")[0] == Counts(unchanged=1)
    assert documents(jobs) == [RUN.encode()]


@pytest.mark.parametrize(
    "idle",
    ["<Id>7</Id><State>Idle</State>", "<Id>7</Id><State>Idle</State><SubmitTime>100</SubmitTime>"],
)
@pytest.mark.parametrize("state", ["Idle", "Completed"])  # as of a forced deletion
def test_a_job_as_it_waited_is_no_other_job_than_its_run_in_a_group(jobs, idle, state):
    jobs.load(f"<JobGroup><Id>g</Id><Job>{idle}</Job></JobGroup>".encode())
    waiting = f"<Job><Id>7</Id><State>{state}</State><SubmitTime>100</SubmitTime></Job>"
    for document, counts in (
        (RUN, Counts(changed=1)), (waiting, Counts(unchanged=1)), (RUN, Counts(unchanged=1)),
    ):  # fmt: skip
        assert loaded(jobs, document)[0] == counts
        [kept] = documents(jobs)[:1] if counts.changed else documents(jobs)
        assert b"<StartTime>200</StartTime>" in kept


@pytest.mark.parametrize("id_", ["7", "7_3", "7.0", "7[3].srv"])
@pytest.mark.parametrize("user", ["", "ann", "bob"])
def test_a_run_that_is_imported_alone_is_that_of_its_job_in_a_group_by_whatever_id(jobs, id_, user):
    assert taken_in(jobs, f"<Id>{id_}</Id>", f"<Id>{id_}</Id>", user) == 1


# Only of HTCondor users tell runs apart.
@pytest.mark.parametrize("in_group", [True, False])
@pytest.mark.parametrize(("user", "count"), [("", 1), ("ann", 1), ("bob", 2)])
def test_a_run_of_another_user_of_htcondor_is_none_of_a_group(jobs, in_group, user, count):
    told, part = "<Id>7.0</Id><GlobalId>s#7.0#100</GlobalId>", "<Id>7.0</Id>"
    both = (told, part) if in_group else (part, told)
    assert taken_in(jobs, *both, user) == count


def taken_in(jobs, ids, ids_alone, user):
    """How many documents there are of a job of ann in a group, and of a run of a user alone."""
    named = f"<User>{user}</User>" if user else ""
    jobs.load(f"<JobGroup><Id>g</Id><Job>{ids}<User>ann</User></Job></JobGroup>".encode())
    jobs.load(RUN.replace("<Id>7</Id>", f"{ids_alone}{named}").encode())
    return len(documents(jobs))


CHARGE = "<Charge>12</Charge>"
WAITS = "<Job><Id>7</Id><User>ann</User></Job>"


def changed(jobs, reason, document):
    """A version that somebody else makes of the first document."""
    with jobs.change(reason=reason) as change:
        there = next(iter(jobs.documents()))
        change.put(document.encode(), replacing=change.at(there.number))


@pytest.mark.parametrize("frame", ["{}", GROUP])
@pytest.mark.parametrize(
    ("reason", "item"),
    [
        ("Modify Job, request 17", "<Name>x</Name>"),
        ("Quote Job", "<Quote>1</Quote>"),
        ("Reserve Job", "<Reservation>1</Reservation>"),
        ("Charge Job", "<Charge>5</Charge>"),
        ("delivered", "<Queue>q</Queue>"),
    ],
)
def test_what_was_imported_before_is_no_news_of_a_job_that_requests_have_changed(
    jobs, frame, reason, item
):
    asked, known = (frame.format(WAITS.replace("</Job>", f"{each}</Job>")) for each in ("", item))
    jobs.load(asked.encode())
    changed(jobs, reason, known)
    assert loaded(jobs, asked) == (Counts(unchanged=1), [])
    assert documents(jobs) == [known.encode()]


@pairwise(
    frame=["{}", GROUP],
    reason=["", "a test", "Delete Job"],
    does=[["delete"], ["delete", "undelete"], ["delete", "undelete"] * 2],
)
def test_what_was_imported_before_is_no_news_of_a_job_that_was_charged_and_hidden_since(
    jobs, frame, does, reason
):
    """Who hides a document, or shows it again, brings nothing."""
    asked, known = (frame.format(WAITS.replace("</Job>", f"{each}</Job>")) for each in ("", CHARGE))
    jobs.load(asked.encode())
    changed(jobs, "Charge Job", known)
    for each in does:
        with jobs.change(reason=reason) as change:
            getattr(change, each)("7" if frame == "{}" else "g")
    assert loaded(jobs, asked) == (Counts(unchanged=1), [])
    is_shown = does[-1] != "delete"
    assert documents(jobs) == [known.encode()] * is_shown
    assert [(each.kind, each.amount) for each in jobs.ledger.entries([*EntryKind])] == [
        ("Charge", 12)
    ]


@pytest.mark.parametrize("does", [["delete"], ["delete", "undelete"]])
def test_what_imports_alone_have_made_alternates_also_where_it_was_hidden(jobs, does):
    for user in ("ann", "bob"):
        jobs.load(WAITS.replace("ann", user).encode())
    for each in does:
        with jobs.change(reason="Delete Job") as change:
            getattr(change, each)("7")
    assert loaded(jobs, WAITS)[0] == Counts(changed=1)
    assert documents(jobs) == [WAITS.encode()]


def test_what_is_replaced_that_requests_have_made_is_told(jobs):
    jobs.load(WAITS.encode())
    for reason in ("Quote Job, request 1", "Modify Job", "Modify Job"):
        changed(jobs, reason, WAITS.replace("ann", f"ann{reason}"))
    counts, told = loaded(jobs, WAITS.replace("ann", "bob"))
    assert counts == Counts(changed=1)
    assert told == [
        "Job 7 is replaced, with what was made of it since it was imported: Quote, Modify"
    ]


def test_what_imports_alone_have_made_is_what_was_imported_last(jobs):
    for user in ("ann", "bob", "ann"):
        assert loaded(jobs, WAITS.replace("ann", user))[1] == []
    assert len([*jobs.versions("7")]) == 3


CHARGED = ENDED.replace("</Job>", f"{CHARGE}</Job>")
NAMED = ENDED.replace("</Job>", "<Name>x</Name></Job>")


def texts(jobs, name):
    """The texts of an element in all documents."""
    return re.findall(f"<{name}>(.*?)</{name}>", b"".join(documents(jobs)).decode())


def charged(jobs):
    """What the jobs of all documents say that they were charged, as the ledger has it."""
    assert list(jobs.check()) == []
    found = texts(jobs, "Charge")
    with jobs.change() as change:
        each = [change.ledger.balance(document.number, "7") for document in jobs.documents()]
    assert sum(each) == sum(map(int, found))
    return found


@pytest.mark.parametrize("frame", ["{}", GROUP])
@pytest.mark.parametrize("less", ["0", "5"])
def test_credits_that_an_import_gives_back_are_told(jobs, frame, less):
    jobs.load(frame.format(CHARGED).encode())
    counts, told = loaded(jobs, frame.format(CHARGED.replace("12", less)))
    assert counts == Counts(changed=1)
    gives = 12 - int(less)
    assert told == [f"job 7 was charged 12, of which {gives} are given back: this says less"]
    assert charged(jobs) == [less]


@pytest.mark.parametrize("frame", ["{}", GROUP])
@pytest.mark.parametrize("is_deleted", [False, True])
def test_an_import_that_says_nothing_of_a_charge_takes_none_away(jobs, frame, is_deleted):
    jobs.load(frame.format(CHARGED).encode())
    for again in (False, True):
        if is_deleted and not again:
            with jobs.change() as change:
                change.delete("7" if frame == "{}" else "g")
        counts, told = loaded(jobs, frame.format(NAMED))
        assert (counts, told) == (Counts(unchanged=1) if again else Counts(changed=1), [])
        assert charged(jobs) == ["12"]
        assert texts(jobs, "Name") == ["x"]


def test_a_charge_that_stays_of_a_request_that_is_replaced_is_told(jobs):
    jobs.load(ENDED.encode())
    changed(jobs, "Charge Job", CHARGED)
    assert loaded(jobs, NAMED)[1] == [
        "Job 7 is replaced, with what was made of it since it was imported: Charge; "
        "what it was charged stays"
    ]
    assert charged(jobs) == ["12"]


def test_a_charge_stays_with_its_run_in_a_group_whatever_else_comes(jobs):
    """One run tells more than was known, one less; a third one is new."""
    other = WAITS.replace("7", "8")
    known = [CHARGED, other.replace("</Job>", "<Duration>60</Duration></Job>")]
    jobs.load(GROUP.format("".join(known)).encode())
    counts, told = loaded(jobs, GROUP.format(f"{NAMED}{other}<Job><Id>9</Id></Job>"))
    assert counts == Counts(changed=1)
    assert told == ["JobGroup g keeps the run of job 8: this is older, and tells less of it"]
    assert charged(jobs) == ["12"]
    assert loaded(jobs, GROUP.format(f"{NAMED}{other}<Job><Id>9</Id></Job>"))[0] == Counts(
        unchanged=1
    )


@pytest.mark.parametrize("user", ["ann", "bob"])
def test_a_charge_of_a_job_without_an_id_stays_with_whom_it_names(jobs, user):
    job = "<Job><User>{}</User><StartTime>5</StartTime><EndTime>9</EndTime>{}</Job>"
    jobs.load(GROUP.format(job.format("ann", "<Charge>12</Charge>")).encode())
    counts, told = loaded(jobs, GROUP.format(job.format(user, "<Name>x</Name>")))
    assert counts == Counts(changed=1)
    assert len(told) == (user != "ann")
    assert texts(jobs, "Charge") == ["12"] * (user == "ann")


def test_a_charge_by_default_of_a_group_is_what_it_says(jobs):
    group = "<JobGroup><Id>g</Id><JobDefaults><Charge>{}</Charge></JobDefaults>{}</JobGroup>"
    jobs.load(group.format(12, ENDED).encode())
    assert len(loaded(jobs, group.format(5, ENDED))[1]) == 1
    assert charged(jobs) == ["5"]
    assert loaded(jobs, GROUP.format(NAMED)) == (Counts(changed=1), [])
    assert charged(jobs) == ["5"]


@pytest.mark.parametrize(
    ("times", "becomes"),
    [
        ("<SubmitTime>50</SubmitTime><StartTime>101</StartTime>", "changed"),
        ("<SubmitTime>51</SubmitTime><StartTime>100</StartTime>", "changed"),
        ("<SubmitTime>51</SubmitTime><StartTime>98</StartTime>", "changed"),
        ("<SubmitTime>50</SubmitTime><StartTime>103</StartTime>", "new"),
        ("<SubmitTime>51</SubmitTime>", "unchanged"),
        ("<SubmitTime>103</SubmitTime>", "new"),
        ("<SubmitTime>50</SubmitTime><StartTime>101</StartTime><GlobalId>b</GlobalId>", "new"),
    ],
)
def test_the_clocks_of_two_records_of_a_run_may_differ(jobs, times, becomes):
    jobs.load(ENDED.replace("</Job>", "<GlobalId>a</GlobalId></Job>").encode())
    end = "<EndTime>700</EndTime>" if "Start" in times else ""
    counts, _ = loaded(jobs, f"<Job><Id>7</Id>{times}{end}</Job>")
    assert counts == Counts(**{becomes: 1})


def test_an_import_is_of_the_run_that_has_what_it_tells(jobs):
    jobs.load(ENDED.encode())
    jobs.load(b"<Job><Id>7</Id><StartTime>900</StartTime></Job>")
    jobs.load(b"<Job><Id>7</Id><SubmitTime>50</SubmitTime><Charge>5</Charge></Job>")
    charged_of = [b"<Charge>5</Charge>" in each for each in documents(jobs)]
    assert charged_of == [True, False]


@pytest.mark.parametrize("count", [1, 99, 100, 1500])
def test_what_was_known_of_few_rows_makes_no_question_slow_once_they_are_many(tmp_path, count):
    """An import is one change, behind which a gateway makes one with each request."""
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(b"".join(b"<Job><Id>%d</Id></Job>" % number for number in range(count)))
    with store.open(tmp_path / "jobs.db") as jobs:
        for statement, values in (
            (lookup.PRESENT, ()), (lookup.FORMER, ()), (lookup.EVENTS, (0, "", "")),
        ):  # fmt: skip
            plan = jobs.engine.fetch(f"EXPLAIN QUERY PLAN {statement}", values)
            scanned = [told for *_, told in plan if str(told).startswith("SCAN")]
            assert len(scanned) == (3 if "UNION ALL" in statement else 1), scanned


# decision 1005
@pytest.mark.interop
@pytest.mark.parametrize("what", ["import", "compact"])
def test_only_tables_of_the_store_are_looked_at(what, postgresql_server):
    psycopg = pytest.importorskip("psycopg")
    with postgresql.database(postgresql_server) as address:
        with psycopg.connect(address) as other:
            other.execute("CREATE TABLE theirs AS SELECT 1 AS number")
        with store.open(address, create=True) as jobs:
            jobs.load(b"<Job><Id>1</Id></Job>")
            if what == "compact":
                with psycopg.connect(address) as other:
                    other.execute("UPDATE pg_class SET reltuples = -1 WHERE relname = 'document'")
                jobs.compact()
        with psycopg.connect(address) as other:
            found = other.execute(
                "SELECT relname, reltuples FROM pg_class WHERE relname IN ('document', 'theirs')"
            ).fetchall()
    assert dict(found) == {"document": 1, "theirs": -1}
