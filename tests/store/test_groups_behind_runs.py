"""A group that is imported behind runs of its jobs takes them in: nothing counts twice."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from itertools import permutations
from threading import Event

import pytest
from draws import examples
from engines import has_waiting
from hypothesis import given
from hypothesis import strategies as st
from waiting import HANG, until

from sssjob import store, units
from sssjob.delivery import StoreDelivery
from sssjob.document import loads
from sssjob.errors import TakenId
from sssjob.records import find
from sssjob.store import Counts
from sssjob.store.ledger import EntryKind
from sssjob.store.writing import DocumentWriter

GROUP = "<JobGroup><Id>{}</Id>{}</JobGroup>"
IDLE = "<Job><Id>7</Id><State>Idle</State><QualityOfService>high</QualityOfService>{}</Job>"
WAITS = IDLE.format("<SubmitTime>50</SubmitTime>")
LOOK = "<Job><Id>7</Id><State>Running</State><SubmitTime>50</SubmitTime><StartTime>100</StartTime><Delivered><Duration>60</Duration></Delivered>{}</Job>"  # noqa: E501
RUN = "<Job><Id>7</Id><State>Completed</State><SubmitTime>50</SubmitTime><StartTime>100</StartTime><EndTime>700</EndTime><Delivered><Duration>600</Duration></Delivered>{}</Job>"  # noqa: E501
NEXT = "<Job><Id>7</Id><State>Completed</State><SubmitTime>700</SubmitTime><StartTime>900</StartTime><EndTime>950</EndTime><Delivered><Duration>50</Duration></Delivered>{}</Job>"  # noqa: E501
UNTOLD = RUN.replace("<StartTime>100</StartTime>", "")
NO_TIMES = UNTOLD.replace("<EndTime>700</EndTime>", "")
CANCELLED = "<Job><Id>7</Id><State>Cancelled</State><SubmitTime>50</SubmitTime><EndTime>90</EndTime>{}</Job>"  # noqa: E501
HELD = "<Job><Id>7</Id><State>Hold</State><SubmitTime>50</SubmitTime></Job>"
CHARGE = "<Charge>12</Charge>"
TAKEN = "Job 7 is that of JobGroup g from now on, and no document of its own"


@pytest.fixture
def address(address_of_made):
    return address_of_made


@pytest.fixture
def jobs(address):
    with store.open(address, create=True) as opened:
        yield opened


def loaded(jobs, *documents):
    """What became of documents, and what was told of them."""
    told = []
    counts = jobs.load("\n".join(documents).encode(), on_warning=told.append)
    return counts, [each.message for each in told]


def shown(jobs):
    """The documents that are shown; the store is whole, and its ledger says what they say."""
    found = [each.document.decode() for each in jobs.documents()]
    assert list(jobs.check()) == []
    charged = sum(map(int, re.findall("<Charge>(.*?)<", "".join(found))))
    entries = [
        -each.amount if each.kind == EntryKind.REFUND else each.amount
        for each in jobs.ledger.entries([EntryKind.CHARGE, EntryKind.REFUND])
    ]
    assert sum(entries) == charged
    return found


def seconds(documents):
    """What the runs of all documents used."""
    return sum(map(int, re.findall("<Duration>(.*?)<", "".join(documents))))


@pytest.mark.parametrize("member", [IDLE.format(""), WAITS, LOOK.format(""), RUN.format("")])
@pytest.mark.parametrize("alone", [LOOK, RUN])
@pytest.mark.parametrize("at_once", [False, True])
def test_a_run_that_stands_alone_is_that_of_the_job_of_a_group_that_comes(
    jobs, alone, member, at_once
):
    run, group = alone.format(""), GROUP.format("g", member)
    pieces = [(run, group)] if at_once else [(run,), (group,)]
    told = [text for each in pieces for text in loaded(jobs, *each)[1]]
    assert told == [TAKEN]
    [kept] = shown(jobs)
    assert kept.startswith("<JobGroup>")
    assert seconds([kept]) == (600 if RUN.format("") in (run, member) else 60)
    assert ("<QualityOfService>" in kept) is ("<QualityOfService>" in member)
    for again in (run, group, run):
        assert loaded(jobs, again)[0] == Counts(unchanged=1)
        assert shown(jobs) == [kept]


@pytest.mark.parametrize("member", [WAITS, LOOK.format(""), RUN.format("")])
def test_what_a_run_was_charged_goes_with_it_into_its_group(jobs, member):
    loaded(jobs, RUN.format(CHARGE))
    _, told = loaded(jobs, GROUP.format("g", member))
    assert told == [TAKEN]  # and nothing of credits that are given back
    [kept] = shown(jobs)
    assert kept.count(CHARGE) == 1
    assert seconds([kept]) == 600


def test_another_charge_of_the_group_is_what_its_run_is_charged_from_now_on(jobs):
    loaded(jobs, RUN.format(CHARGE))
    loaded(jobs, GROUP.format("g", RUN.format("<Charge>5</Charge>")))
    [kept] = shown(jobs)
    assert "<Charge>5</Charge>" in kept


def test_a_run_that_was_requeued_stands_beside_the_group_that_takes_in_the_first_one(jobs):
    loaded(jobs, NEXT.format(""), RUN.format(""))
    loaded(jobs, GROUP.format("g", WAITS))
    beside, group = sorted(shown(jobs))
    assert seconds([group]) == 600
    assert seconds([beside]) == 50
    assert loaded(jobs, RUN.format(""), NEXT.format(""))[0] == Counts(unchanged=2)


def test_a_run_for_which_jobs_of_two_groups_wait_stands_alone(jobs):
    loaded(jobs, RUN.format(""))
    loaded(jobs, GROUP.format("f", NEXT.format("")))  # of another run
    assert len(shown(jobs)) == 2
    other = WAITS.replace("<Id>7", "<Id>8")
    loaded(jobs, GROUP.format("g", other))
    loaded(jobs, GROUP.format("h", other), RUN.format("").replace("<Id>7", "<Id>8"))
    assert seconds(shown(jobs)) == 600 + 50 + 600
    assert len(shown(jobs)) == 5


@pytest.mark.parametrize("member", [WAITS, CANCELLED.format("")])
@pytest.mark.parametrize("alone", [WAITS, CANCELLED.format("")])
@pytest.mark.parametrize("is_first", [False, True])
def test_a_job_that_never_began_is_that_of_its_group(jobs, alone, member, is_first):
    pieces = [alone, GROUP.format("g", member)]
    for each in pieces if is_first else pieces[::-1]:
        loaded(jobs, each)
    [kept] = shown(jobs)
    for does in ("delete", "undelete"):
        with jobs.change() as change:
            getattr(change, does)("g")
    assert shown(jobs) == [kept]


@pytest.mark.parametrize("member", [WAITS, RUN.format("")])
@pytest.mark.parametrize("alone", [UNTOLD, NO_TIMES])
@pytest.mark.parametrize("is_first", [False, True])
def test_a_run_that_tells_no_start_is_no_document_beside_its_group(jobs, alone, member, is_first):
    pieces = [alone.format(CHARGE), GROUP.format("g", member)]
    for each in pieces if is_first else pieces[::-1]:
        loaded(jobs, each)
    for again in (pieces[:1], pieces[1:], pieces):
        [kept] = shown(jobs)
        assert seconds([kept]) == 600
        assert kept.count(CHARGE) == 1
        loaded(jobs, *again)


# As the history of a schedd tells of a run, with and without its GlobalJobId, and scripts for APEL.
OF_SCHEDD = [
    RUN.replace("<Id>7</Id>", told).format("<Delivered><User>amy</User></Delivered>")
    for told in (
        "<Id>41.0</Id>",
        "<Id>41.0</Id><GlobalId>s#41.0#50</GlobalId>",
        "<Id>s#41.0#50</Id><GlobalId>s#41.0#50</GlobalId>",
    )
]


@pytest.mark.parametrize("one", OF_SCHEDD)
@pytest.mark.parametrize("other", OF_SCHEDD)
@pytest.mark.parametrize(
    ("in_groups", "at_once"),
    [((True, False), False), ((False, True), False), ((True, True), False), ((True, False), True)],
)
def test_a_run_is_that_of_a_group_by_each_id_of_its_job(jobs, one, other, in_groups, at_once):
    pieces = [
        GROUP.format("g", job) if is_inside else job
        for job, is_inside in zip((one, other), in_groups, strict=True)
    ]
    for each in [pieces, pieces] if at_once else [pieces[:1], pieces[1:], pieces]:
        loaded(jobs, *each)
    [kept] = shown(jobs)
    assert seconds([kept]) == 600
    for does in ("delete", "undelete"):
        with jobs.change() as change:
            getattr(change, does)("g")
    assert shown(jobs) == [kept]


def test_a_job_of_another_schedd_or_run_is_none_of_a_group(jobs):
    loaded(jobs, GROUP.format("g", OF_SCHEDD[1]))
    other = OF_SCHEDD[2].replace("s#41.0#50", "t#41.0#50")
    begun = OF_SCHEDD[0].replace("<StartTime>100<", "<StartTime>800<").replace(">700<", ">1400<")
    loaded(jobs, other, begun)
    assert len(shown(jobs)) == 3


def test_what_waited_alone_is_the_job_of_a_group_that_has_run(jobs):
    loaded(jobs, WAITS)
    loaded(jobs, GROUP.format("g", RUN.format("")))
    assert len(shown(jobs)) == 1
    assert loaded(jobs, WAITS)[0] == Counts(unchanged=1)
    assert len(shown(jobs)) == 1


def test_a_later_version_of_a_run_that_was_taken_in_goes_into_the_group(jobs):
    loaded(jobs, LOOK.format(""))
    loaded(jobs, GROUP.format("g", WAITS))
    assert loaded(jobs, RUN.format(""))[0] == Counts(changed=1)
    [kept] = shown(jobs)
    assert seconds([kept]) == 600


def test_a_run_that_was_taken_in_is_not_shown_again_beside_its_group(jobs):
    loaded(jobs, RUN.format(CHARGE))
    loaded(jobs, GROUP.format("g", WAITS))
    with jobs.change() as change, pytest.raises(TakenId):
        change.undelete("7")
    assert len(shown(jobs)) == 1


def test_the_group_that_has_a_run_is_shown_again_by_the_id_of_the_run(jobs):
    """The document of the run was put away and not deleted; another run was only in the group."""
    loaded(jobs, RUN.format(""))
    other = RUN.format("").replace("<Id>7", "<Id>8")
    loaded(jobs, GROUP.format("g", WAITS + other))
    for deleted in ("7", "g"):
        with jobs.change() as change:
            change.delete(deleted)
        assert shown(jobs) == []
        with jobs.change() as change:
            change.undelete("7")
        assert seconds(shown(jobs)) == 1200


@pytest.mark.parametrize("is_later", [True, False])
def test_what_is_shown_again_is_the_run_that_was_deleted_and_none_that_a_group_has(jobs, is_later):
    """The document of the run that the group took in is put away, too."""
    taken, beside = (NEXT, RUN) if is_later else (RUN, NEXT)
    loaded(jobs, taken.format(""), GROUP.format("g", WAITS))
    loaded(jobs, beside.format(""))
    both = shown(jobs)
    assert seconds(both) == 650
    for deletions in (1, 2):
        for does in ["delete"] * deletions + ["undelete"] * deletions:
            with jobs.change() as change:
                getattr(change, does)("7")
        assert shown(jobs) == both
    with jobs.change() as change, pytest.raises(TakenId):
        change.undelete("7")


def test_a_deleted_group_that_is_imported_again_takes_nothing_in(jobs):
    group = GROUP.format("g", RUN.format(""))
    loaded(jobs, group)
    with jobs.change() as change:
        change.delete("g")
    loaded(jobs, RUN.format(""))
    assert loaded(jobs, group) == (Counts(unchanged=1), [])
    assert shown(jobs) == [RUN.format("")]
    loaded(jobs, GROUP.format("g", RUN.format("<Name>x</Name>")))
    [kept] = shown(jobs)
    assert kept.startswith("<JobGroup>")


@pytest.mark.parametrize("order", [*permutations(("has", "waits", "run"))])
def test_a_run_is_of_the_group_that_has_it_and_of_none_that_waits(jobs, order):
    documents = {
        "has": GROUP.format("g", RUN.format("")),
        "waits": GROUP.format("h", WAITS),
        "run": RUN.format(""),
    }
    for name in order:
        loaded(jobs, documents[name])
    if order[2] == "has" and order[0] != "has":  # the first group has taken it in before
        assert len(shown(jobs)) == 2
        return
    assert seconds(shown(jobs)) == 600
    assert len(shown(jobs)) == 2


@pytest.mark.parametrize("submitted", ["10", "50", "5000"])
@pytest.mark.parametrize("alone", ["Completed", "Idle"])
def test_a_run_is_of_the_group_that_has_it_and_of_no_job_that_only_waited_alone(
    jobs, alone, submitted
):
    """As a line of Grid Engine of a job that was cancelled before, or a group as it waited."""
    never = f"<Job><Id>7</Id><State>{alone}</State><SubmitTime>{submitted}</SubmitTime></Job>"
    group = GROUP.format("g", RUN.format(""))
    for documents in ((group, never, RUN.format("")), (never, group, RUN.format(""))):
        loaded(jobs, *documents)
        assert seconds(shown(jobs)) == 600
    assert loaded(jobs, group, RUN.format(""))[0] == Counts(unchanged=2)


def test_a_group_that_comes_as_it_waited_again_leaves_the_run_where_it_is(jobs):
    """The defaults of what is delivered make it no run."""
    loaded(jobs, GROUP.format("g", RUN.format("")))
    defaults = "<JobDefaults><Delivered><Project>p</Project></Delivered></JobDefaults>"
    loaded(jobs, GROUP.format("g", defaults + WAITS.replace(">50<", ">10<")))
    loaded(jobs, RUN.format(""))
    assert seconds(shown(jobs)) == 600


def test_a_run_that_two_groups_state_is_no_document_beside_both(jobs):
    """Each counts what it states."""
    run = RUN.format("")
    groups = GROUP.format("g", run), GROUP.format("h", run)
    loaded(jobs, *groups)
    assert loaded(jobs, run) == (Counts(unchanged=1), [])
    assert loaded(jobs, RUN.format("<Name>x</Name>"))[0] == Counts(changed=1)
    assert len(shown(jobs)) == 2


def test_another_run_that_a_group_comes_with_is_of_the_group_that_has_it(jobs):
    loaded(jobs, GROUP.format("b", RUN.format("")), GROUP.format("a", NEXT.format("")))
    loaded(jobs, GROUP.format("b", NEXT.format("")))
    assert seconds(shown(jobs)) == 650
    assert len(shown(jobs)) == 2


def test_a_run_that_stood_beside_groups_that_wait_is_shown_again_beside_them(jobs):
    loaded(jobs, GROUP.format("g", WAITS), GROUP.format("h", WAITS), RUN.format(""))
    before = shown(jobs)
    for does in ("delete", "undelete"):
        with jobs.change() as change:
            getattr(change, does)("7")
    assert shown(jobs) == before


@pytest.mark.parametrize("is_taken_in", [False, True])
def test_an_id_in_two_groups_means_the_last_run_to_delete_and_to_show_again(jobs, is_taken_in):
    pieces = [GROUP.format("b", WAITS), NEXT.format("")]
    for each in pieces[::-1] if is_taken_in else pieces:
        loaded(jobs, each)
    loaded(jobs, GROUP.format("a", RUN.format("")))
    found = []
    for does in ("delete", "delete", "delete", "undelete", "undelete"):
        with jobs.change() as change, suppress(TakenId):
            getattr(change, does)("7")
        found.append(seconds(shown(jobs)))
    assert found == [600, 0, 0, 50, 650]


def imports(document):
    def load(own):
        own.load(document.encode())

    return load


def puts(document, *, brings_groups=False):
    """As the gateway keeps what is created."""

    def put(own):
        with own.change(brings_groups=brings_groups) as change, suppress(TakenId):
            new = loads(document)
            change.require_one_place(new, None)
            change.put(new)

    return put


def delivers(record):
    def deliver(own):
        [*StoreDelivery(own).take_records(BytesIO(record.encode()), "r", find("slurm"), "UTC")]

    return deliver


NEXT_RECORD = "JobID|State|Submit|Start|End\n7|COMPLETED|{}|{}|{}\n".format(
    *map(units.iso, (700, 900, 950))
)
IN_GROUP = GROUP.format("g", WAITS)
REFUSED = 0  # what is created is there already
AT_ONCE = {
    "imports": ((), imports(RUN.format("")), imports(IN_GROUP), (600, 600)),
    "a group that is created": (
        (), imports(RUN.format("")), puts(IN_GROUP, brings_groups=True), (600, 600),
    ),
    "a job that is created": ((), puts(RUN.format("")), imports(IN_GROUP), (600, REFUSED)),
    "a delivery": (
        (RUN.format(""),), delivers(NEXT_RECORD), imports(GROUP.format("g", NEXT.format(""))),
        (650, 650),
    ),
}  # fmt: skip


@pytest.mark.parametrize("is_group_first", [False, True])
@pytest.mark.parametrize("case", AT_ONCE)
def test_a_group_and_its_run_that_are_written_at_the_same_time_count_once(
    jobs, address, monkeypatch, case, is_group_first
):
    """The first writer has written and not committed yet while the second one begins."""
    before, *writers, wanted = AT_ONCE[case]
    for each in before:
        loaded(jobs, each)
    first, second = writers[::-1] if is_group_first else writers
    has_written, may_commit = Event(), Event()
    settles = DocumentWriter.settle

    def settle(writer, entry):
        settles(writer, entry)
        if not has_written.is_set():
            has_written.set()
            assert may_commit.wait(HANG)

    def write(writer):
        with store.open(address) as own:
            writer(own)

    monkeypatch.setattr(DocumentWriter, "settle", settle)
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(write, first)
        assert has_written.wait(HANG)
        other = pool.submit(write, second)
        if address.startswith("postgresql"):  # SQLite lets only one begin
            until(lambda: other.done() or has_waiting(jobs))
        may_commit.set()
        one.result(HANG)
        other.result(HANG)
    assert seconds(shown(jobs)) == wanted[is_group_first]


def test_a_group_takes_many_runs_at_once_in_one_version(jobs):
    """Some of them are there, some are older, one waits for another group, one is of no group."""
    numbered = {n: "<Id>7</Id>".replace("7", n) for n in "12345"}
    known = {"1": WAITS, "2": RUN.format(""), "3": RUN.format(""), "4": WAITS}
    members = "".join(each.replace("<Id>7</Id>", numbered[n]) for n, each in known.items())
    loaded(jobs, GROUP.format("g", members))
    loaded(jobs, GROUP.format("h", WAITS.replace("<Id>7</Id>", "<Id>6</Id>")))
    coming = {"1": RUN, "2": RUN, "3": LOOK, "4": LOOK, "5": RUN, "6": RUN}
    runs = [each.format("").replace("<Id>7</Id>", f"<Id>{n}</Id>") for n, each in coming.items()]
    counts, told = loaded(jobs, *runs)
    assert counts == Counts(new=1, changed=3, unchanged=2)
    assert told == ["JobGroup g keeps the run of job 3: this is older, and tells less of it"]
    assert [len([*jobs.versions(id_)]) for id_ in "gh"] == [2, 2]
    assert seconds(shown(jobs)) == 600 + 600 + 600 + 60 + 600 + 600
    assert loaded(jobs, *runs) == (Counts(unchanged=6), told)


MEMBERS = {
    "waits": WAITS, "look": LOOK.format(""), "run": RUN.format(""), "next": NEXT.format(""),
    "untold": UNTOLD.format(""), "cancelled": CANCELLED.format(""),
}  # fmt: skip
FORMS = MEMBERS | {
    "bare": "<Job><Id>7</Id></Job>", "idle": IDLE.format(""), "held": HELD,
    "looks without a SubmitTime": LOOK.format("").replace("<SubmitTime>50</SubmitTime>", ""),
    "used": NO_TIMES.format(""),
}  # fmt: skip


@pytest.mark.parametrize("its", FORMS)
@pytest.mark.parametrize("own", FORMS)
def test_nothing_but_what_was_deleted_is_shown_again_whichever_document_a_group_took_in(
    own, its, tmp_path
):
    other = "<Job><Id>8</Id><StartTime>1</StartTime><EndTime>9</EndTime></Job>"
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        loaded(jobs, FORMS[own].format(""))
        _, told = loaded(jobs, GROUP.format("g", FORMS[its].format("") + other))
        before = shown(jobs)
        if TAKEN in told:
            with jobs.change() as change, pytest.raises(TakenId):
                change.undelete("7")
            assert shown(jobs) == before
        with jobs.change() as change:
            change.delete("7")
        assert shown(jobs) != before
        with jobs.change() as change:
            change.undelete("7")
        assert shown(jobs) == before


@pytest.mark.parametrize("its", [WAITS, RUN.format("")])
def test_a_group_is_not_shown_again_where_another_group_took_its_run_in_meanwhile(jobs, its):
    loaded(jobs, GROUP.format("h", its))
    loaded(jobs, RUN.format(""))
    loaded(jobs, GROUP.format("g", WAITS))
    with jobs.change() as change:
        change.delete("h")
    loaded(jobs, RUN.format(""))
    before = shown(jobs)
    assert seconds(before) == 600
    with jobs.change() as change, pytest.raises(TakenId):
        change.undelete("h")
    assert shown(jobs) == before


def test_two_groups_that_both_had_a_run_have_it_when_one_was_deleted_and_is_shown_again(jobs):
    loaded(jobs, GROUP.format("g", RUN.format("")))
    loaded(jobs, GROUP.format("h", RUN.format("")))
    before = shown(jobs)
    for does in ("delete", "undelete"):
        with jobs.change() as change:
            getattr(change, does)("h")
    assert shown(jobs) == before


def test_a_group_of_which_another_job_runs_elsewhere_by_now_is_not_shown_again(jobs):
    runs = RUN.format("").replace("<Id>7</Id>", "<Id>8</Id>")
    loaded(jobs, runs)
    loaded(jobs, GROUP.format("g", LOOK.format("") + IDLE.format("").replace(">7<", ">8<")))
    with jobs.change() as change:
        change.delete("g")
    loaded(jobs, RUN.format(""))
    before = shown(jobs)
    for id_ in ("g", "7", "8"):
        with jobs.change() as change, pytest.raises(TakenId):
            change.undelete(id_)
    assert shown(jobs) == before


@pytest.mark.parametrize("is_first", [True, False])
def test_a_job_that_waits_and_tells_whose_it_is_waits_all_the_same(jobs, is_first):
    whose = "<Delivered><Machine>c</Machine><Project>p</Project><User>amy</User></Delivered>"
    waits = WAITS.replace("</Job>", f"{whose}</Job>")
    groups = [GROUP.format("b", RUN.format("")), GROUP.format("a", waits)]
    for each in groups if is_first else groups[::-1]:
        loaded(jobs, each)
    before = shown(jobs)
    assert loaded(jobs, waits)[0] == Counts(unchanged=1)
    for does in ("delete", "undelete"):
        with jobs.change() as change:
            getattr(change, does)("b")
    assert shown(jobs) == before


@pytest.mark.parametrize("its", ["none", "waits", "look", "run"])
def test_a_deleted_group_that_comes_again_takes_in_the_run_of_each_job_that_it_keeps(jobs, its):
    idle = IDLE.format("").replace(">7<", ">8<")
    loaded(jobs, GROUP.format("g", RUN.format("") + idle))
    with jobs.change() as change:
        change.delete("g")
    loaded(jobs, RUN.format(""))
    member = "" if its == "none" else FORMS[its].format("")
    loaded(jobs, GROUP.format("g", member + idle.replace("high", "low")))
    assert seconds(shown(jobs)) == 600
    assert len(shown(jobs)) == 1


def test_a_run_that_was_deleted_stays_so_where_a_group_waits_for_its_job(jobs):
    loaded(jobs, RUN.format(""))
    with jobs.change() as change:
        change.delete("7")
    loaded(jobs, GROUP.format("g", WAITS))
    assert loaded(jobs, RUN.format("")) == (Counts(unchanged=1), [])
    assert seconds(shown(jobs)) == 0


STEPS = st.lists(
    st.tuples(st.booleans(), st.sampled_from([*MEMBERS]), st.booleans()), min_size=1, max_size=6
)


@examples(60)
@given(STEPS)
def test_each_run_counts_once_in_whatever_order_jobs_alone_and_their_group_come(
    tmp_path_factory, steps
):
    """Each step is an import of the job alone, or of the group, perhaps with the one before it."""
    batches = []
    for in_group, name, is_behind in steps:
        document = GROUP.format("g", MEMBERS[name]) if in_group else MEMBERS[name]
        batches += [[]] if not (batches and is_behind) else []
        batches[-1].append(document)
    told = {name for _, name, _ in steps}
    first = 600 if told & {"run", "untold"} else 60 if "look" in told else 0
    with store.open(tmp_path_factory.mktemp("store") / "jobs.db", create=True) as jobs:
        for batch in batches:
            loaded(jobs, *batch)
        found = shown(jobs)
        assert seconds(found) == first + (50 if "next" in told else 0)
        for document in (each for batch in batches for each in batch):
            loaded(jobs, document)
        assert seconds(shown(jobs)) == seconds(found)
