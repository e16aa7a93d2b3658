"""The last run of a job is the same document in a store and in a file, whoever tells of it."""

import io
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob import store, units
from sssjob.defaults import resolve
from sssjob.delivery import StoreDelivery
from sssjob.delivery.document import Delivery
from sssjob.delivery.runs import fold_run, frame_of, told_order
from sssjob.document import dumps, loads
from sssjob.features.folded import as_requested, without_list, without_run
from sssjob.features.status import StatusSnapshot
from sssjob.fold import JOB, Fact, fold
from sssjob.model import Job, Property, Requested, jobs_of
from sssjob.records import find
from sssjob.runs import RunOrder, requested_anew

DAY = 1_700_000_000
SMALL = st.integers(1, 4)
COMMENT = {"type": "Slurm", "name": "Comment"}

ASKED = st.fixed_dictionaries({}, optional={
    "<DeadlineTime>{}</DeadlineTime>": st.integers(DAY - 100, DAY + 900_000),
    "<SubmitTime>{}</SubmitTime>": st.just(DAY - 100),
    "<State>{}</State>": st.sampled_from(("Idle", "Hold")),
    "<Name>{}</Name>": st.sampled_from("ab"),
    "<Priority>{}</Priority>": SMALL,
    '<Extension type="Slurm" name="Comment">{}</Extension>': SMALL,
    '<Extension type="JobFeatures" name="grace_secs_job">{}</Extension>': SMALL,
    '<ResourceLimit name="CPUTime" type="Hard">{}</ResourceLimit>': SMALL,
})  # fmt: skip
DEFAULTS = st.sampled_from((
    "", '<ResourceLimit name="CPUTime" type="Hard">9</ResourceLimit>', "<Queue>c</Queue>",
    "<Requested><Processors>3</Processors></Requested>", "<Name>a</Name><Priority>4</Priority>",
    f"<DeadlineTime>{DAY + 900_000}</DeadlineTime><Dependency>5</Dependency>",
    '<Extension type="JobFeatures" name="grace_secs_job">9</Extension>',
    "<Requested><Queue>q</Queue></Requested>",
))  # fmt: skip
HEAD = "JobID|State|ExitCode|Start|End|Submit|NCPUS|NodeList|JobName|Comment|Priority|QOS|User"
TOLD = st.tuples(*map(st.sampled_from, (
    ("COMPLETED", "FAILED", "NODE_FAIL"), ("0:0", "1:0"), ("1", "2"), ("n1", "n2"), ("", "a", "x"),
    ("", "1", "c"), ("", "1", "20"), ("", "low"), ("", "bob", "eve"),
)))  # fmt: skip
TELLS = ("COMPLETED", "0:0", "1", "n1", "x", "c", "20", "low", "bob")


class Run(NamedTuple):
    """A run of the job 7, and what its record tells."""

    start: int
    end: int
    told: tuple[str, ...]

    @property
    def record(self):
        """As sacct prints it."""
        times = (self.start, self.end, self.start - 20)
        state, code, *others = self.told
        row = ("7", state, code, *(units.iso(each) for each in times), *others)
        return f"{HEAD}\n{'|'.join(row)}\n".encode()


@st.composite
def requests(draw):
    """A job alone or beside another one in a group, with what its group has by default."""
    items = "".join(text.format(value) for text, value in draw(ASKED).items())
    job = f"<Job><Id>7</Id>{items}<Requested><Duration>60</Duration></Requested></Job>"
    if draw(st.booleans()):
        return job
    defaults = draw(DEFAULTS)
    group = f"<Id>g</Id><JobDefaults>{defaults}</JobDefaults>{job}<Job><Id>8</Id></Job>"
    return f"<JobGroup>{group}</JobGroup>"


@st.composite
def runs(draw):
    """One to three runs of a job, in the order of time."""
    end = DAY
    found = []
    for told in draw(st.lists(TOLD, min_size=1, max_size=3)):
        start = end + draw(st.integers(100, 400))
        end = start + draw(st.integers(1, 5000))
        found.append(Run(start, end, told))
    return found


def with_features(text, run):
    """A document into which an epilog folded what it knew of a run."""

    def take(work):
        work.features = {"job_id": "7", "cpu_limit_secs": 2, "allocated_cpu": 3}
        work.features |= {"jobstart_secs": run.start, "shutdowntime_job": run.start + 50}
        work.take_snapshot(StatusSnapshot({"used_CPU": 1}, now=run.end), "s")

    return in_file(text, [take])


def in_file(text, each_told):
    """A document after each of some folds."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory, "7.xml")
        place.write_text(text)
        for take in each_told:
            work = Delivery(place)
            work.look()
            take(work)
            place.write_bytes(b"".join(work.pieces()))
        return place.read_text()


def of_record(run):
    """Take the record of a run."""
    return lambda work: [
        *(work.take_records(io.BytesIO(run.record), "r", find("slurm"), "UTC") or ())
    ]


def in_store(text, told):
    """The jobs 7 of a store after some records, which change nothing when they come again."""
    with tempfile.TemporaryDirectory() as directory, store.open(
        Path(directory, "s.db"), create=True
    ) as jobs:  # fmt: skip
        with jobs.change() as change:
            change.put(text.encode())
        for _ in range(2):
            work = StoreDelivery(jobs)
            for run in told:
                of_record(run)(work)
        assert work.tally.changes == 0
        return [the_job(loads(each.document)) for each in jobs.documents()]


def the_job(block):
    """The job 7 of a document, with its defaults, and without the line where it stands."""
    (job,) = (each for each in jobs_of(resolve(block).block) if each.id == "7")
    return job


def said(job):
    """All that a job says, but for the list of what was folded: a default is set there, too."""
    return dumps(without_list(job))


def start(job):
    return int(job.get("StartTime") or 0)


@examples(12)
@given(requests(), runs(), st.booleans(), st.randoms(use_true_random=False))
def test_the_last_run_is_the_same_in_a_store_and_in_a_file(request_, told, has_features, order):
    text = with_features(request_, told[0]) if has_features else request_
    shuffled = order.sample(told, len(told))
    of_file = the_job(loads(in_file(text, map(of_record, shuffled))))
    of_store = in_store(text, shuffled)
    assert said(max(of_store, key=start)) == said(of_file)


@examples(12)
@given(requests(), runs(), st.booleans(), st.randoms(use_true_random=False))
def test_each_run_is_in_a_store_once(request_, told, has_features, order):
    text = with_features(request_, told[0]) if has_features else request_
    found = in_store(text, order.sample(told, len(told)))
    assert sorted(map(start, found)) == [run.start for run in told]
    for job, run in zip(sorted(found, key=start), told, strict=True):
        assert job.delivered.value("Duration") == run.end - run.start


def test_what_was_requested_stays_in_a_further_run_and_is_told_as_kept():
    first, second = (Run(DAY + 9000 * each, DAY + 9000 * each + 60, TELLS) for each in (1, 2))
    asked = '<Job><Id>7</Id><Extension type="Slurm" name="Comment">mine</Extension></Job>'
    for job in in_store(asked, [first, second]):
        (kept,) = job.properties.all("Extension", **COMMENT)
        assert kept.text == "mine"


@pytest.mark.parametrize("zone", ["", "UTC"])
def test_a_further_run_that_may_be_a_run_that_is_there_in_another_zone_is_told(tmp_path, zone):
    """Two hours behind it, as the same run would be in a zone two hours east."""
    text = (
        f"<Job><Id>7</Id><State>Completed</State><StartTime>{DAY}</StartTime>"
        f"<EndTime>{DAY + 3600}</EndTime></Job>"
    )
    row = ("7", "COMPLETED", "0:0", "2023-11-15T00:13:20", "2023-11-15T01:13:20", "", "2")
    record = f"{HEAD.rpartition('|NodeList')[0]}\n{'|'.join(row)}\n".encode()
    with store.open(tmp_path / "s.db", create=True) as jobs:
        with jobs.change() as change:
            change.put(text.encode())
        delivery = StoreDelivery(jobs)
        told = delivery.take_records(io.BytesIO(record), "r", find("slurm"), zone)
        found = [item.message for item in told if item.code == "W-USELESS"]
        assert delivery.tally.runs == 1
    wanted = "r:2: becomes a further run of job 7: its times have no zone (--tz), and may be of one"
    assert [each.startswith(wanted) for each in found] == ([] if zone else [True])


@examples(30)
@given(requests(), runs(), st.booleans())
def test_what_a_group_requested_is_known_when_its_defaults_are_resolved(request_, told, features):
    text = with_features(request_, told[0]) if features else request_
    folded = in_file(text, map(of_record, told))
    asked, ran = (the_job(loads(each)) for each in (request_, folded))
    known, wanted = (requested_anew(each) for each in (as_requested(ran), without_run(asked)))
    assert requested(known) == requested(wanted)


def requested(job):
    """What a job requests, in any order: a default that was written out is plain there."""
    found = [
        (item.name, item.text.strip(), item.attributes.get("name"), item.attributes.get("type"))
        for item in job.properties
    ]
    return sorted(map(str, found)), job.blocks(Requested)


def test_what_a_group_requests_stays_in_a_file_and_in_a_store():
    defaults = "<Name>dn</Name><Priority>4</Priority>"
    group = f"<JobGroup><Id>g</Id><JobDefaults>{defaults}</JobDefaults><Job><Id>7</Id></Job>"
    first, second = (Run(DAY + 9000 * each, DAY + 9000 * each + 60, TELLS) for each in (1, 2))
    text = f"{group}</JobGroup>"
    of_file = the_job(loads(in_file(text, [of_record(first)])))
    for job in (*in_store(text, [first, second]), of_file):
        assert (job.get("Name"), job.get("Priority")) == ("dn", "4")


def test_a_fold_hides_no_default_of_its_group():
    defaults = "<Dependency>5</Dependency><Requested><Queue>q</Queue></Requested>"
    job = "<Job><Id>7</Id></Job>"
    group = loads(f"<JobGroup><Id>g</Id><JobDefaults>{defaults}</JobDefaults>{job}</JobGroup>")
    record = Job.of(Id="7", Dependency="6", Queue="r", StartTime=DAY)
    folded = fold_run(group.jobs[0], record, frame=frame_of(group)).job
    ran = the_job(group.holding((*frame_of(group).items, folded)))
    assert requested(as_requested(ran)) == requested(the_job(group))


@examples(25)
@given(requests(), runs(), st.data())
def test_what_was_deleted_comes_back_whatever_was_delivered_meanwhile(request_, told, data):
    """A run of a job of a group is a document beside it, and neither keeps the other away."""
    with tempfile.TemporaryDirectory() as directory, store.open(
        Path(directory, "s.db"), create=True
    ) as jobs:  # fmt: skip
        with jobs.change() as change:
            change.put(request_.encode())
        for run in told:
            of_record(run)(StoreDelivery(jobs))
        for _ in range(data.draw(st.integers(1, 6))):
            hidden = data.draw(st.sampled_from([*jobs.documents(deleted=True)]))
            if data.draw(st.booleans()):
                of_record(data.draw(st.sampled_from(told)))(StoreDelivery(jobs))
            with jobs.change() as change:
                (change.undelete if hidden.deleted else change.delete)(hidden.identity)
        with jobs.change() as change:
            for each in [*jobs.documents(deleted=True)]:
                change.undelete(each.identity)
        found = [the_job(each.block()) for each in jobs.documents()]
        assert sorted(map(start, found)) == [run.start for run in told]


def in_a_store(jobs, text, told):
    """A store with a job and what records tell of it."""
    with jobs.change() as change:
        change.put(text.encode())
    for run in told:
        of_record(run)(StoreDelivery(jobs))


ALONE = "<Job><Id>7</Id></Job>"


@pytest.mark.parametrize("text", [ALONE, f"<JobGroup><Id>g</Id>{ALONE}</JobGroup>"])
def test_a_record_of_a_run_that_is_deleted_is_told_and_shows_it_no_more(tmp_path, text):
    told = [Run(DAY + 9000 * each, DAY + 9000 * each + 60, TELLS) for each in (1, 2, 3)]
    with store.open(tmp_path / "s.db", create=True) as jobs:
        in_a_store(jobs, text, told[:2])
        *_, second = (each.identity for each in jobs.documents())
        with jobs.change() as change:
            change.delete(second)
        for run, deleted in zip(told, (0, 1, 0), strict=True):
            work = StoreDelivery(jobs)
            found = [*work.take_records(io.BytesIO(run.record), "r", find("slurm"), "UTC")]
            lines = [item.message for item in found if item.code == "W-USELESS"]
            assert (work.tally.deleted, work.tally.elsewhere) == (deleted, 0)
            assert lines == [f"r:2: is not folded into job 7: {second} is deleted"] * deleted
        assert [start(the_job(each.block())) for each in jobs.documents()] == [
            told[0].start, told[2].start,
        ]  # fmt: skip


@pytest.mark.parametrize(("folds", "order"), [(fold_run, RunOrder.SAME), (fold, RunOrder.LATER)])
def test_a_start_may_differ_by_a_minute_where_a_fold_of_features_or_records_put_it(folds, order):
    """A Charge, or a file, tells it as the batch system does."""
    job = loads("<Job><Id>7</Id><State>Running</State></Job>")
    known = folds(job, [Fact(Property("StartTime", DAY), JOB)]).job
    record = loads(f"<Job><Id>7</Id><StartTime>{DAY + 10}</StartTime></Job>")
    assert told_order(known, record) is order


def test_a_record_that_ended_without_having_begun_stands_beside_the_run_of_a_group_once(tmp_path):
    head = "JobID|State|ExitCode|Start|End|NCPUS"
    row = f"7|CANCELLED|0:0|Unknown|{units.iso(DAY)}|2"
    run = Run(DAY + 9000, DAY + 9060, TELLS)
    with store.open(tmp_path / "s.db", create=True) as jobs:
        in_a_store(jobs, f"<JobGroup><Id>g</Id>{ALONE}</JobGroup>", [run])
        [group] = (each.document for each in jobs.documents())
        for _ in range(2):
            record = io.BytesIO(f"{head}\n{row}\n".encode())
            found = [*StoreDelivery(jobs).take_records(record, "r", find("slurm"), "UTC")]
            assert not [item for item in found if item.code == "W-USELESS"]
            documents = [each.document for each in jobs.documents()]
            assert (documents[0], len(documents)) == (group, 2)


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 0, 1), (2, 1, 0)])
def test_an_id_means_the_last_run_whichever_record_came_last(tmp_path, order):
    told = [Run(DAY + 9000 * each, DAY + 9000 * each + 60, TELLS) for each in range(3)]
    with store.open(tmp_path / "s.db", create=True) as jobs:
        in_a_store(jobs, ALONE, [told[each] for each in order])
        assert start(jobs.get("7").block()) == told[2].start
        with jobs.change() as change:
            assert start(change.about(Job.of(Id="7")).block()) == told[2].start


@pytest.mark.parametrize("around", ["{}", "<JobGroup><Id>g</Id>{}</JobGroup>"])
def test_a_further_run_keeps_the_reservation_that_was_requested(tmp_path, around):
    asked = around.format("<Job><Id>7</Id><Reservation>r7</Reservation></Job>")
    told = [Run(DAY + 9000 * each, DAY + 9000 * each + 60, TELLS) for each in (1, 2)]
    with store.open(tmp_path / "s.db", create=True) as jobs:
        in_a_store(jobs, asked, told)
        found = [the_job(each.block()).get("Reservation") for each in jobs.documents()]
        assert found == ["r7", "r7"]


@pytest.mark.parametrize("around", ["{}", "<JobGroup><Id>{}</Id>{}</JobGroup>"])
def test_a_further_run_is_of_the_last_job_of_its_id_and_not_of_an_old_one(tmp_path, around):
    """Numbers of jobs begin anew, and workflows have the same Ids."""
    told = [Run(DAY + 9000 * each, DAY + 9000 * each + 60, TELLS) for each in (1, 2)]
    with store.open(tmp_path / "s.db", create=True) as jobs:
        ran = "<SubmitTime>5</SubmitTime><StartTime>6</StartTime><EndTime>9</EndTime>"
        waits = f"<SubmitTime>{DAY}</SubmitTime>"
        for group, name, times in (("g", "ann", ran), ("h", "bob", waits)):
            job = f"<Job><Id>7</Id><User>{name}</User>{times}</Job>"
            text = around.format(group, job) if "JobGroup" in around else job
            with jobs.change() as change:
                change.put(text.encode())
        for run in told:
            of_record(run)(StoreDelivery(jobs))
        users = [the_job(each.block()).get("User") for each in jobs.documents()]
        assert users == ["ann", "bob", "bob"]


def test_a_further_run_has_what_was_requested_where_a_charge_came_before_it(tmp_path):
    charged = f"<Job><Id>7</Id><StartTime>{DAY + 9000}</StartTime><Charge>5</Charge></Job>"
    asked = f"<Job><Id>7</Id><StartTime>{DAY + 9000}</StartTime><Name>n</Name></Job>"
    with store.open(tmp_path / "s.db", create=True) as jobs:
        with jobs.change(reason="Charge Job, request 1") as change:
            change.put(charged.encode())
        told = [Run(DAY + 9000 * each, DAY + 9000 * each + 60, TELLS) for each in (1, 2)]
        in_a_store(jobs, asked, told)
        assert [the_job(each.block()).get("Name") for each in jobs.documents()] == ["n", "n"]


@pytest.mark.parametrize("reason", ["Charge Job, request 1", "Reserve Job, request 1"])
def test_a_further_run_has_what_was_requested_where_a_charge_made_another_one_known(
    tmp_path, reason
):
    charged = (
        f"<Job><Id>7</Id><StartTime>{DAY + 9000}</StartTime><Charge>5</Charge>"
        "<Reservation>12</Reservation></Job>"
    )
    asked = "<JobGroup><Id>g</Id><Job><Id>7</Id><Name>n</Name></Job></JobGroup>"
    first, last = (Run(DAY + 9000 * each, DAY + 9000 * each + 60, TELLS) for each in (0, 2))
    with store.open(tmp_path / "s.db", create=True) as jobs:
        in_a_store(jobs, asked, [first])
        with jobs.change(reason=reason) as change:
            change.put(charged.encode())
        of_record(last)(StoreDelivery(jobs))
        *_, made = (the_job(each.block()) for each in jobs.documents())
        assert (made.get("Name"), made.get("Charge"), made.get("Reservation")) == ("n", "", "")


OF_PBS = (
    "11/20/2026 14:29:34;E;{};user=amy queue=q ctime=100 start=200 end=300 exec_host=n1/0 "
    "resources_used.walltime=00:01:40\n"
)
FORMS = "<Job><Id>{}</Id></Job>", "<JobGroup><Id>g</Id><Job><Id>{}</Id></Job></JobGroup>"


@pytest.mark.parametrize("form", FORMS, ids=["alone", "in a group"])
@pytest.mark.parametrize("id_", ["7.srv", "7[3].srv", "7[3]"])
def test_a_record_goes_to_the_job_of_a_store_with_its_id_as_it_stands(tmp_path, id_, form):
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(form.format(id_).encode())
        source = io.BytesIO(OF_PBS.format(id_).encode())
        told = [*StoreDelivery(jobs).take_records(source, "r", find("pbs"), "UTC")]
        [document] = jobs.documents()
    assert b"<StartTime>200</StartTime>" in document.document, told
