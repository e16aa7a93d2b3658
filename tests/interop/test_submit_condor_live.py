"""A real HTCondor gets each job once, and holds, releases and removes it by its document.

Where no pool can be started, the tests say why.
"""

import condor_pool
import pytest
from daemons import started
from waiting import until

from sssjob.commands import CommandFailed
from sssjob.document import read
from sssjob.submission import How, InFile, Order, SubmitOptions, steer, submit

pytestmark = pytest.mark.interop

JOB = """<Job awarenessPolicy="Warn"><Id>one</Id>{more}<Name>a 'b' "c"</Name>
<Executable>/bin/sleep</Executable><Arguments>{seconds}</Arguments>
<InitialWorkingDirectory>/data</InitialWorkingDirectory>
<Requested><Memory units="MB">100</Memory></Requested></Job>"""


@pytest.fixture(scope="module")
def how():
    """Commands inside of the pool, as its user."""
    pool = started(condor_pool.start)
    inside = (
        "chroot", "--userspec=alice", str(pool.root), "/usr/bin/env", "-i",
        f"PATH={condor_pool.PATH}", "HOME=/home/alice", "USER=alice", "/bin/sh", "-c",
        'cd /data; exec "$@"', "sh",
    )  # fmt: skip
    yield pool, How(600, inside, "alice", locks=pool.root / "data/locks")
    condor_pool.stop()


def document(tmp_path, name="job.xml", more="", seconds=300):
    path = tmp_path / name
    path.write_text(JOB.format(more=more, seconds=seconds))
    return InFile(path)


def queued(pool):
    return pool.run("condor_q", "-allusers", "-af", "ClusterId").split()


def ordered(place, order, how):
    return [(each.state, each.why) for each in steer(place, order, how=how)]


def test_a_job_is_submitted_once_and_found_as_long_as_there_is_a_history(how, tmp_path):
    pool, how = how
    before = queued(pool)
    text = "<GlobalId>an 'odd' &amp; \"long\" one</GlobalId>"
    place = document(tmp_path, more=text, seconds=0)
    (first,) = submit(place, SubmitOptions("condor", hold=True), how)
    (again,) = submit(place, SubmitOptions("condor"), how)
    (copy,) = submit(document(tmp_path, "copy.xml", text), SubmitOptions("condor", hold=True), how)
    assert (first.new, again.new, copy.new) == (True, False, False)
    assert first.id == again.id == copy.id
    assert len(queued(pool)) == len(before) + 1
    assert ordered(place, Order.RELEASE, how)[0][0] in ("Idle", "Running")
    assert until(lambda: queued(pool) == before)
    assert until(lambda: pool.run("condor_history", "-af", "SSSJobMark").strip())
    (late,) = submit(document(tmp_path, "late.xml", text), SubmitOptions("condor"), how)
    assert (late.id, late.new, late.state) == (first.id, False, "Completed")


def test_hold_release_and_cancel(how, tmp_path):
    pool, how = how
    place = document(tmp_path)
    (done,) = submit(place, SubmitOptions("condor", hold=True), how)
    assert ordered(place, Order.HOLD, how) == [("Hold", "")]
    assert ordered(place, Order.RELEASE, how)[0][0] in ("Idle", "Running")
    assert ordered(place, Order.HOLD, how) == [("Hold", "")]
    assert ordered(place, Order.CANCEL, how) == [("Cancelled", "")]
    assert ordered(place, Order.CANCEL, how) == [("Cancelled", "")]
    assert until(lambda: done.id.partition(".")[0] not in queued(pool))
    (job,) = read(place.path)
    assert (job.id, job.get("State"), job.get("ResourceManagerType")) == (
        done.id, "Cancelled", "condor",
    )  # fmt: skip


def test_what_is_refused_is_told(how, tmp_path):
    pool, how = how
    before = queued(pool)
    place = document(tmp_path, more="<ResourceManagerType>condor</ResourceManagerType>")
    place.path.write_text(place.path.read_text().replace("/data", "/nowhere-at-all"))
    with pytest.raises(CommandFailed, match="condor_submit"):
        list(submit(place, SubmitOptions("condor"), how))
    assert queued(pool) == before
