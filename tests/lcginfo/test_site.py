"""The counts and free slots, with the cases that the programs before were tested by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.lcginfo.config import Config
from sssjob.lcginfo.names import vomap
from sssjob.lcginfo.site import Site
from sssjob.lcginfo.snapshot import QueuedJob, Snapshot

QUEUES, GROUPS = ("long", "short"), ("atlas", "atlasprod", "lhcb")
MAP = vomap(["atlasprod: atlas"])


def jobs(**counts):
    """Entries by ``group_state=number``."""
    return tuple(
        QueuedJob("long", group, state, f"{group}{state}{number}", qtime=0.0, start=0.0)
        for key, count in counts.items()
        for group, state in [key.split("_")]
        for number in range(count)
    )


def site(snapshot_jobs, *, caps=None, nfree=10, nactive=None, config=None, entries=()):
    snapshot = Snapshot(tuple(snapshot_jobs), nactive=nactive, nfree=nfree, now=100.0)
    config = config or Config(vomap=vomap(entries))
    return Site.of(snapshot, caps or {}, config)


def test_a_group_mapped_to_an_FQAN_counts_for_that_only():
    found = site(
        jobs(dteam_running=2, dteamadmin_running=1, ops_running=1),
        entries=["dteamadmin: /dteam/ROLE=admin"],
    )
    assert found.running("long") == 4
    assert found.running("long", "/dteam/Role=admin") == 1
    assert found.running("long", "dteam") == 2


def test_waiting_jobs_of_a_VO_leave_it_no_free_slots_and_others_theirs():
    found = site(jobs(atlas_queued=1, lhcb_running=1))
    assert (found.free("atlas"), found.free("lhcb"), found.free_slots) == (0, 10, 10)


def test_jobs_on_hold_do_not_wait():
    found = site(jobs(atlas_pending=3, atlas_done=2, atlas_unknown=1))
    assert (found.waiting(), found.running(), found.free("atlas")) == (0, 0, 10)


@pytest.mark.parametrize("caps, running, free", [
    pytest.param({"atlas": 5}, 2, 3, id="what-the-cap-leaves"),
    pytest.param({"atlas": 5}, 7, 0, id="more-than-the-cap-run"),
    pytest.param({"atlas": 50}, 2, 10, id="no-more-than-there-are"),
    pytest.param({"atlas": 0}, 0, 0, id="a-cap-of-0-is-a-cap"),
    pytest.param({"lhcb": 1}, 2, 10, id="the-cap-of-another"),
    pytest.param({"atlasprod": 3, "atlas": 4}, 2, 5, id="caps-of-groups-add-up"),
])  # fmt: skip
def test_free_slots_under_caps(caps, running, free):
    found = site(jobs(atlas_running=running), caps=caps, entries=["atlasprod: atlas"])
    assert found.free("atlas") == free


def test_free_slots_are_unknown_where_nobody_says():
    assert site(jobs(atlas_running=1), nfree=None).free("lhcb") is None
    assert site(jobs(atlas_running=1), nfree=None, nactive=4).free("lhcb") == 3


def test_what_jobs_say_of_free_slots_counts_where_no_number_does():
    waits = jobs(atlas_queued=1)
    assert (site(waits, nfree=None).free("lhcb"), site(waits, nfree=None).free_slots) == (0, 0)
    # A VO whose jobs wait or whose cap is full has none, whatever nobody knows.
    capped = site(jobs(atlas_running=1, atlas_queued=1), nfree=None, caps={"atlas": 1})
    assert (capped.free("atlas"), capped.free("lhcb"), capped.free_slots) == (0, None, None)
    # A wide job may wait beside free slots, and one of a queue with rules for them.
    wide = [job._replace(cpucount=4) for job in waits]
    assert site(wide, nfree=None).free_slots is None
    assert site(wide, nfree=None).free("atlas") == 0
    assert site(waits, nfree=5).free_slots == 5


def test_a_cap_can_count_slots():
    wide = [QueuedJob("long", "atlas", "running", "1", cpucount=4)]
    assert site(wide, caps={"atlas": 5}).free("atlas") == 4
    assert site(wide, caps={"atlas": 5}, config=Config(count="slots")).free("atlas") == 1


ENTRIES = st.lists(
    st.builds(
        QueuedJob,
        st.sampled_from(QUEUES),
        st.sampled_from(GROUPS),
        st.sampled_from(("queued", "running", "pending")),
    ),
    max_size=20,
)


@given(ENTRIES, st.dictionaries(st.sampled_from(GROUPS), st.integers(0, 9)), st.integers(0, 30))
def test_free_slots_never_exceed_caps_nor_what_is_free(entries, caps, nfree):
    found = site(entries, caps=caps, nfree=nfree, entries=["atlasprod: atlas"])
    for vo in ("atlas", "lhcb"):
        free = found.free(vo)
        assert 0 <= free <= nfree
        if vo in found.caps:
            assert free + min(found.running(vo=vo), found.caps[vo]) <= found.caps[vo]


@given(ENTRIES)
def test_counts_add_up(entries):
    found = site(entries, entries=["atlasprod: atlas"])
    for count in (found.running, found.waiting):
        assert count() == sum(count(queue) for queue in found.queues)
        assert count() == sum(count(vo=vo) for vo in ("atlas", "lhcb"))
        assert count() == sum(count(*pair) for pair in found.pairs)


def test_slots_are_counted_by_what_each_job_holds_or_asks_for():
    entries = (
        QueuedJob("long", "atlas", "running", "1", cpucount=8),
        QueuedJob("long", "lhcb", "running", "2", cpucount=2),
        QueuedJob("long", "atlas", "queued", "3", cpucount=4),
        QueuedJob("short", "atlas", "running", "4", cpucount=16),
    )
    found = site(entries)
    assert [found.slots(state, "long") for state in ("running", "queued")] == [10, 4]
    assert [found.slots("running", "long", vo) for vo in ("atlas", "lhcb", "ops")] == [8, 2, 0]
