"""Records of many jobs of a group are folded at once, as if each had come by itself."""

import io
import re

from draws import examples
from hypothesis import example, given
from hypothesis import strategies as st

from sssjob import store
from sssjob.delivery import StoreDelivery
from sssjob.records import find

HEADER = "JobID|Cluster|User|State|Submit|Start|End|ElapsedRaw|NCPUS"
# A look, the run, and the one behind it: when it began, how long it went on, and whether it ended.
TOLD = {"look": (1000, 30, False), "run": (1000, 60, True), "next": (2000, 70, True)}
GROUPS = (
    "<JobGroup><Id>g</Id><JobDefaults><Project>p</Project></JobDefaults>"
    "<Job>\n <Id>7_1</Id><User>amy</User></Job><!-- x --><Job><Id>7_2</Id></Job></JobGroup>"
    "<JobGroup><Id>h</Id><Job><Id>7_3</Id><State>Idle</State></Job></JobGroup><Job><Id>7_4</Id></Job>"
)
RECORDS = st.lists(
    st.tuples(st.integers(1, 5), st.sampled_from([*TOLD]), st.sampled_from(["amy", "bob"])),
    min_size=1, max_size=8,
)  # fmt: skip


def line(job, told, user):
    start, wall, has_ended = TOLD[told]
    state, end = ("COMPLETED", start + wall) if has_ended else ("RUNNING", "Unknown")
    return f"7_{job}|c|{user}|{state}|900|{start}|{end}|{wall}|1"


def delivered(path, *records):
    """What a store holds after records came, each of them lines; what was told, and counted."""
    with store.open(path, create=True) as jobs:
        jobs.load(f"<Jobs>{GROUPS}</Jobs>".encode())
        work = StoreDelivery(jobs)
        told = []
        for number, lines in enumerate(records):
            data = "\n".join([HEADER, *lines, ""]).encode()
            found = work.take_records(io.BytesIO(data), "r", find("slurm"), "UTC")
            told += [re.sub("r:[0-9]+", f"r:{number}", each.message) for each in found]
        assert list(jobs.check()) == []
        return [each.document for each in jobs.documents()], told, work.tally


@examples(40)
@example([(1, "look", "amy"), (2, "run", "bob"), (1, "run", "bob"), (1, "next", "amy")])
@given(RECORDS)
def test_records_that_come_at_once_are_folded_as_those_that_come_one_by_one(
    tmp_path_factory, records
):
    path = tmp_path_factory.mktemp("store")
    lines = [line(*each) for each in records]
    at_once, told, counts = delivered(path / "at_once.db", lines)
    one_by_one, told_then, counts_then = delivered(path / "each.db", *([each] for each in lines))
    assert at_once == one_by_one
    assert counts == counts_then
    without_places = [
        [re.sub("r:[0-9]+", "r", each) for each in some] for some in (told, told_then)
    ]
    assert without_places[0] == without_places[1]


def test_a_group_is_written_once_for_all_records_of_a_batch(tmp_path):
    members = "".join(f"<Job><Id>7_{n}</Id></Job>" for n in range(150))
    lines = [HEADER, *(line(n, "run", "amy") for n in range(150)), ""]
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(f"<JobGroup><Id>g</Id>{members}</JobGroup>".encode())
        work = StoreDelivery(jobs)
        data = io.BytesIO("\n".join(lines).encode())
        assert not [*work.take_records(data, "r", find("slurm"), "UTC")]
        assert work.tally.delivered == 150
        assert len([*jobs.versions("g")]) == 2


AD = (
    'ClusterId = 7\nProcId = 0\nOwner = "amy"\nAcctGroup = "p"\nQDate = 7000\nRequestCpus = 1\n'
    'GlobalJobId = "s#7.0#7000"\nNumJobStarts = {}\nJobStatus = {}\nRemoteWallClockTime = {}\n{}\n'
)
WAITED = AD.format(0, 1, 0, "")
RAN = AD.format(1, 4, 60, "JobStartDate = 7100\nCompletionDate = 7160\n")


def test_a_job_that_a_group_has_taken_in_is_not_deleted(tmp_path):
    """The group says another submission than the schedd: the run is a document beside it."""
    alone = (
        "<Job><Id>7.0</Id><GlobalId>s#7.0#7000</GlobalId><State>Idle</State>"
        "<SubmitTime>7000</SubmitTime></Job>"
    )
    group = "<JobGroup><Id>g</Id><Job><Id>7.0</Id><State>Idle</State>{}</Job></JobGroup>"
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        for each in (alone, group.format(""), group.format("<SubmitTime>100</SubmitTime>")):
            jobs.load(each.encode())
        [kept] = jobs.documents()
        assert kept.identity.name == "JobGroup"
        work = StoreDelivery(jobs)
        told = work.take_records(io.BytesIO((WAITED + RAN).encode()), "r", find("condor"), "UTC")
        assert not any("deleted" in each.message for each in told)
        assert sum(b"<Duration>60<" in each.document for each in jobs.documents()) == 1
        assert list(jobs.check()) == []


def test_what_somebody_deletes_stays_deleted(tmp_path):
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(b"<Job><Id>7.0</Id><GlobalId>s#7.0#7000</GlobalId><State>Idle</State></Job>")
        with jobs.change() as change:
            change.delete("7.0")
        work = StoreDelivery(jobs)
        told = work.take_records(io.BytesIO((WAITED + RAN).encode()), "r", find("condor"), "UTC")
        assert [*told]
        assert [*jobs.documents()] == []
        assert work.tally.deleted == 2
