"""What pages about jobs show: a store of whatever was named, and what is known of one job."""

import io
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from strategies import documents

from sssjob import defaults, store
from sssjob.cli import sssjob
from sssjob.document import from_tree, loads
from sssjob.document.sources import NamedSource, named
from sssjob.errors import LimitExceeded
from sssjob.model import Job
from sssjob.store import browsing
from sssjob.verbs import browse

JOB = "<Job><Id>{}</Id><User>amy</User><State>Completed</State></Job>"
GROUP = """<JobGroup><Id>g</Id><JobDefaults><User>amy</User></JobDefaults>
<Job>elsewhere</Job><Job><Id>a</Id><State>Completed</State><ExitCode>0</ExitCode></Job>
<Job><Id>b</Id><User>bob</User><Dependency>a</Dependency></Job><Job><Id>c</Id></Job></JobGroup>"""
SACCT = "JobID|User|State|Submit|Start|End\n7|amy|COMPLETED|1700000000|1700000100|1700000200\n"


def ids(sources, tell=lambda name, error: None):
    with browse.standing(sources, tell) as address, store.open(address, read_only=True) as jobs:
        rows = browsing.page(jobs.engine, ("id",), limit=100).rows
        return sorted(row.values[0] for row in rows)


@pytest.fixture
def place(tmp_path):
    (tmp_path / "jobs.xml").write_text(f"<Data>{JOB.format(1)}{JOB.format(2)}</Data>")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "job.sss").write_text(JOB.format(3))
    (tmp_path / "sacct.txt").write_text(SACCT)
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(JOB.format(4).encode())
    return tmp_path


@pytest.mark.parametrize(
    "names, found",
    [
        (["jobs.xml"], ["1", "2"]),
        (["more"], ["3"]),
        (["sacct.txt"], ["7"]),
        (["jobs.db"], ["4"]),
        (["jobs.db", "more", "sacct.txt", "jobs.xml"], ["1", "2", "3", "4", "7"]),
    ],
    ids=str,
)
def test_whatever_is_named_is_a_table_of_jobs(place, names, found):
    assert ids([NamedSource(str(place / name), place / name) for name in names]) == found


def test_standard_input_is_read_once():
    assert ids([NamedSource("<stdin>", io.BytesIO(JOB.format(5).encode()))]) == ["5"]


def test_one_store_is_looked_at_where_it_is_and_another_one_goes_away(place):
    kept = place / "jobs.db"
    with browse.standing([NamedSource(str(kept), kept)], print) as address:
        assert address == str(kept)
    source = NamedSource("x", place / "jobs.xml")
    with browse.standing([source], print) as address:
        assert Path(address).is_file()
        assert Path(address).parent.stat().st_mode & 0o77 == 0
    assert not Path(address).parent.exists()


def test_a_ledger_is_its_runs(place):
    pytest.importorskip("duckdb")
    arguments = ["ledger", "ingest", str(place / "led"), str(place / "sacct.txt")]
    told = CliRunner().invoke(sssjob, arguments)
    assert told.exit_code == 0, told.output
    assert ids([*named([str(place / "led")], io.BytesIO())]) == ["7"]


def test_what_cannot_be_read_is_told_and_the_rest_is_there():
    told = []
    text = f"{JOB.format(1)}\n<Job><Id>2</Idd></Job>\n{JOB.format(3)}\n".encode()
    found = ids(
        [NamedSource("bad", io.BytesIO(text))],
        lambda name, error: told.append((name, error.finding.line)),
    )
    assert (found, told) == (["1", "3"], [("bad", 2)])


def test_a_store_that_would_be_too_large_is_refused(place):
    source = NamedSource("x", place / "jobs.xml")
    with (
        pytest.raises(LimitExceeded, match="import them into a store"),
        browse.standing([source], print, most=1 << 10),
    ):
        pass


@pytest.fixture
def jobs(tmp_path):
    with store.open(tmp_path / "jobs.db", create=True, by="alice") as kept:
        kept.load(GROUP.encode(), name="first.xml")
        kept.load(JOB.format(1).encode())
        kept.load(JOB.format(1).replace("Completed", "Failed").encode(), by="bob", reason="told so")
        yield kept


def test_a_job_of_a_group_has_what_the_group_says_of_it(jobs):
    seen = browse.job(jobs, 1, 2)
    assert (seen.job.id, seen.job["User"].text) == ("a", "amy")
    told = {(each.path, each.value, each.source) for each in seen.effective[0]}
    assert ("/JobGroup/Job[2]/User", "amy", "JobDefaults") in told
    assert all(each.startswith("/JobGroup/Job[2]/") for each, _, _ in told)


def test_what_is_to_be_said_of_the_values_of_a_job_is_said_in_a_group_too(tmp_path):
    unreadable = '<Requested><Memory op="??">4</Memory></Requested>'
    text = f"""<JobGroup><Id>g</Id><JobDefaults><Dependency>a</Dependency>{unreadable}</JobDefaults>
<Job><Id>a</Id></Job><Job><Id>b</Id>{unreadable}</Job></JobGroup>"""
    with store.open(tmp_path / "jobs.db", create=True) as kept:
        kept.load(text.encode())
        seen = [browse.job(kept, 1, place) for place in (1, 2)]
    found = [{(each.code, each.path) for each in job.effective[1]} for job in seen]
    whole = {(each.code, each.path) for each in defaults.resolve(loads(text)).findings}
    assert found[0] | found[1] == whole
    assert found[0] != found[1]


@pytest.mark.parametrize("number, place", [(1, 0), (1, 1), (1, 5), (2, 1), (3, 0), (10**17, 0)])
def test_what_is_no_job_is_none(jobs, number, place):
    assert browse.job(jobs, number, place) is None


def test_a_deleted_job_is_none(jobs):
    with jobs.change() as change:
        change.delete("1")
    assert browse.job(jobs, 2, 0) is None


def test_the_graph_of_a_job_has_those_around_it(jobs):
    around = browse.job(jobs, 1, 3).around
    assert around.keys == ("a", "b")
    assert (around.places, around.more) == ({0: 2, 1: 3}, False)
    assert browse.job(jobs, 2, 0).around is None


@pytest.mark.parametrize("here", [1, 2500, 5000])
def test_the_graph_of_a_job_in_a_long_chain_has_the_nearest(tmp_path, here):
    chain = "".join(
        f"<Job><Id>{n}</Id><Dependency>{n - 1}</Dependency></Job>" for n in range(1, 5001)
    )
    with store.open(tmp_path / "chain.db", create=True) as kept:
        kept.load(f"<JobGroup><Id>chain</Id>{chain}</JobGroup>".encode())
        around = browse.job(kept, 1, here).around
    assert around.more
    assert len(around.keys) <= browse.DRAWN
    assert str(here) in around.keys
    assert around.places == {place - 1: place for place in map(int, around.keys)}


def test_the_graph_of_a_large_group_begins_with_its_first_job(tmp_path):
    chain = "".join(
        f"<Job><Id>{n}</Id><Dependency>{n - 1}</Dependency></Job>" for n in range(1, 501)
    )
    with store.open(tmp_path / "chain.db", create=True) as kept:
        kept.load(f"<JobGroup><Id>chain</Id>{chain}</JobGroup>".encode())
        around = browse.group(kept, 1).around
    assert around.more
    assert around.keys[0] == "1"
    assert len(around.keys) <= browse.DRAWN


def test_tasks_stand_on_nodes_where_a_job_says_enough(tmp_path):
    said = "<TaskCount>5</TaskCount><Requested><NodeCount>2</NodeCount></Requested>"
    with store.open(tmp_path / "jobs.db", create=True) as kept:
        kept.load(f"<Job><Id>1</Id>{said}</Job>".encode())
        kept.load(b"<Job><Id>2</Id></Job>")
        groups = f"<TaskGroup><Name>solve</Name>{said}</TaskGroup>" * 2
        kept.load(f"<Job><Id>3</Id>{groups}</Job>".encode())
        [laid] = browse.job(kept, 1, 0).layouts
        assert [len(each.tasks) for each in laid.layout.shares] == [3, 2]
        assert browse.job(kept, 2, 0).layouts == ()
        assert [each.name for each in browse.job(kept, 3, 0).layouts] == ["solve", "solve"]


def test_versions_tell_what_changed_and_who_did_it(jobs):
    seen = browse.job(jobs, 2, 0)
    present, first = browse.versions(jobs, seen.stored)
    assert (present.stored.by, present.stored.reason) == ("bob", "told so")
    assert [tuple(each) for each in present.differences] == [("/Job/State", "Completed", "Failed")]
    assert (first.stored.version, first.differences) == (1, ())


def test_the_newest_versions_are_told_each_with_what_changed(tmp_path):
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        for number in range(browse.VERSIONS + 5):
            jobs.load(f"<Job><Id>1</Id><Priority>{number}</Priority></Job>".encode())
        told = browse.versions(jobs, browse.job(jobs, 1, 0).stored)
    numbers = [each.stored.version for each in told]
    assert numbers == [*range(browse.VERSIONS + 5, 5, -1)]
    assert all(len(each.differences) == 1 for each in told)


def test_jobs_of_several_places_are_those_of_each(jobs):
    bad = []
    found = browse.effective(
        jobs, [(1, 2), (1, 3), (2, 0), (1, 1), (9, 0)], lambda *told: bad.append(told)
    )
    assert [job.id for job in found] == ["a", "b", "1"]
    assert bad == []


def test_amounts_are_told_side_by_side(tmp_path):
    text = """<Job><Id>1</Id><Requested><Processors op="GE">2</Processors><Processors op="LE">4
    </Processors><Memory units="GB">2</Memory></Requested><Delivered><Processors>3</Processors>
    <Machine>colony</Machine></Delivered></Job>"""
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(text.encode())
        asked = browse.job(jobs, 1, 0).asked
    assert [tuple(each) for each in asked] == [
        ("Processors", "4", "3"), ("Memory", "2 GB", ""), ("Machine", "", "colony"),
    ]  # fmt: skip


@given(documents(("JobGroup",)))
def test_a_job_has_the_values_that_it_has_among_all_of_its_group(element):
    group = from_tree(element)
    whole = defaults.resolve(group)
    units = [item for item in group.items if getattr(item, "name", "") == "Job"]
    for unit, resolved in zip(
        units,
        (item for item in whole.block.items if getattr(item, "name", "") == "Job"),
        strict=True,
    ):
        if isinstance(unit, Job):
            alone = defaults.resolve(browse._alone(group, unit))
            assert alone.block.blocks(Job) == (resolved,)
