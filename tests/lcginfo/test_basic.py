"""The numbers of the deployed program, and its files."""

import math
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.lcginfo import basic, estimators
from sssjob.lcginfo.basic import Samples, StartedJob
from sssjob.lcginfo.config import Config
from sssjob.lcginfo.site import Site
from sssjob.lcginfo.snapshot import QueuedJob, Snapshot


def site(directory, now, starts, queued, queue="long", keep=1000):
    entries = [
        QueuedJob(queue, "atlas", "running", f"r{number}", start=float(start))
        for number, start in enumerate(starts)
    ]
    entries += [QueuedJob(queue, "atlas", "queued", f"q{number}") for number in range(queued)]
    config = Config(sample_dir=str(directory), sample_number=keep)
    return Site.of(Snapshot(tuple(entries), now=now, cycle=120.0), {}, config)


def test_the_example_of_two_running_and_two_waiting_jobs(tmp_path):
    first = basic.estimate(site(tmp_path, 1000, [500, 200], 2))["long"]
    assert (first.ert, first.wrt) == (1300, 1600)
    assert (tmp_path / "long").read_text() == "#nslot 2\n200 r1 800\n500 r0 500\n"


def test_a_second_snapshot_with_the_kept_file(tmp_path):
    basic.estimate(site(tmp_path, 1000, [500, 200], 2))
    second = basic.estimate(site(tmp_path, 1650, [500, 200], 2))["long"]
    assert second.ert == 2600


def test_no_jobs_are_no_queue_at_all(tmp_path):
    empty = Site.of(Snapshot(now=1.0), {}, Config(sample_dir=str(tmp_path)))
    assert basic.estimate(empty) == {}
    assert estimators.get("basic")(empty, [("long", "atlas")]) == {}


def test_fewer_running_jobs_than_slots_mean_that_one_is_free(tmp_path):
    basic.estimate(site(tmp_path, 1000, [500, 200], 2))
    found = basic.estimate(site(tmp_path, 1000, [500], 0))["long"]
    assert (found.ert, found.wrt) == (0, 0)
    estimate = estimators.Estimate(found.ert, found.wrt)
    assert estimators.published(estimate, 120) == (60, 120)


@pytest.mark.parametrize("running, waiting, rounds", [
    pytest.param(2, 0, 1, id="nobody-waits"),
    pytest.param(2, 1, 2, id="half-a-round"),
    pytest.param(2, 2, 2, id="a-round"),
    pytest.param(2, 3, 3, id="a-round-and-a-half"),
])  # fmt: skip
def test_rounds_of_jobs_through_the_slots(running, waiting, rounds):
    kept = (StartedJob(0, "a", 10), StartedJob(0, "b", 13))
    found = basic.formula(Samples(2, kept), running, waiting)
    assert (found.ert, found.wrt) == (rounds * 11, rounds * 13)


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9))),
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9)), min_size=1),
    st.integers(1, 30),
)
def test_new_samples_take_the_places_of_those_not_older(stored, new, keep):
    old = tuple(StartedJob(start, f"j{number}", 1) for start, number in sorted(stored))
    fresh = [StartedJob(start, f"j{number}", 2) for start, number in sorted(new)]
    merged = basic.updated(Samples(1, old), fresh, 0, 10**6).kept
    assert [sample for sample in merged if sample.age == 2] == fresh
    assert max(len(old), len(fresh)) <= len(merged) <= len(old) + len(fresh)
    assert basic.updated(Samples(1, old), fresh, 0, keep).kept == merged[-keep:]
    assert basic.updated(None, fresh, 0, keep).kept == tuple(fresh[-keep:])


def test_a_file_of_the_deployed_program_is_read_and_a_strange_one_is_not(tmp_path):
    (tmp_path / "long").write_text("#nslot 4\n100.0 1.host 900.5\n")
    assert basic.estimate(site(tmp_path, 1000, [500], 0))["long"].ert == 0
    assert (tmp_path / "long").read_text() == "#nslot 4\n100 1.host 900\n500 r0 500\n"
    for text in ("", "#nslot\n", "#nslot 0\n", "#nslot 2\nx y\n", "dear diary\n"):
        (tmp_path / "long").write_text(text)
        assert basic.estimate(site(tmp_path, 1000, [500], 0))["long"].ert == 500


def test_only_files_that_we_made_are_removed(tmp_path):
    (tmp_path / "letter").write_text("dear")
    (tmp_path / "old").write_text("#nslot 1\n1 1.host 1\n")
    basic.estimate(site(tmp_path, 1000, [500], 0, queue="a/../b"))
    assert (tmp_path / "a%2F..%2Fb").exists()
    basic.estimate(site(tmp_path, 1000, [500], 0, queue=".."))
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"letter", "old", "%2E.", basic.MADE}


def test_a_link_is_not_followed(tmp_path):
    directory, target = tmp_path / "samples", tmp_path / "target"
    directory.mkdir()
    target.write_text("#nslot 1\n1 x 1\n")
    (directory / "long").symlink_to(target)
    with pytest.raises(basic.UnusableSamples):
        basic.estimate(site(directory, 1000, [500], 0))
    assert target.read_text() == "#nslot 1\n1 x 1\n"


def test_a_directory_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(basic.UnusableSamples, match=r"^sample directory \S+: No such file"):
        basic.estimate(site(tmp_path / "none", 1000, [500], 0))


def test_the_usual_directory_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(basic.config, "SAMPLE_DIR", str(tmp_path / "usual"))
    for _ in range(2):
        assert basic.estimate(site(tmp_path / "usual", 1000, [500, 200], 2))["long"].ert == 1300


def test_runs_at_the_same_time_take_turns(tmp_path):
    found = []

    def run():
        found.append(basic.estimate(site(tmp_path, 1000, range(100, 500), 3))["long"])

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({(item.ert, item.wrt) for item in found}) == 1
    assert len((tmp_path / "long").read_text().splitlines()) == 401
    assert sorted(os.listdir(tmp_path)) == [basic.MADE, "long"]


def test_a_blank_in_an_id_does_not_end_the_field(tmp_path):
    entry = QueuedJob("long", "atlas", "running", "my job", start=1.0)
    config = Config(sample_dir=str(tmp_path))
    basic.estimate(Site.of(Snapshot((entry,), now=5.0), {}, config))
    assert math.isclose(
        basic.estimate(Site.of(Snapshot((entry,), now=9.0), {}, config))["long"].ert, 8
    )
