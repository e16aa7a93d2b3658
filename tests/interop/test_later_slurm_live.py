"""The conformance kit over a Slurm that is later than that of this machine: 24.11 of Debian 13.

Where it cannot be started, the test says why.
"""

import re
from contextlib import suppress

import later_slurm
import pytest
import slurm_cluster
import slurm_ends
from batch_jobs import COMMAND, install, kept, place_of, proven, unproven
from daemons import Unavailable, user
from waiting import until

pytestmark = pytest.mark.interop


# An epilog waits while there is a file of this name, and notes that it does.
SLOW = """\
#!/bin/sh
[ "$(id -u)" -eq 0 ] || echo "$SLURM_JOB_ID" >>{0}/as-user
if [ "$2" = epilog ] && [ -e {0}/held ]; then
    echo $$ >>{0}/held; while [ -e {0}/held ]; do sleep 0.1; done
fi
exec {1} "$@"
"""


def _slow(place):
    """Have the epilog call what begins as late as a test says."""
    program, epilog = place.root / "hooks/slow", place.root / "hooks/epilog"
    program.write_text(SLOW.format(place.root, COMMAND))
    program.chmod(0o755)
    noted = place.root / "as-user"
    noted.touch()
    noted.chmod(0o666)
    epilog.write_text(epilog.read_text().replace(str(COMMAND), str(program)))


@pytest.fixture(scope="module")
def cluster():
    """A cluster whose prologs run in the control groups of their jobs, where there are some."""
    limits = later_slurm.limits()

    def lines(place):
        place.make("jobs")
        found = install(place, "slurm", "mjf/%n", "--scratch", "/tmp")
        assert "PrologFlags=Alloc" in found
        _slow(place)
        found = [line for line in found if "=" in line.partition(" ")[0]]
        found = [line.replace("Alloc", "RunInJob") if limits else line for line in found]
        return [*found, *slurm_ends.BY_QOS]

    try:
        with later_slurm.root() as inside:
            place = slurm_cluster.start(lines, inside, later_slurm.OUTSIDE, limits=limits)
            try:
                yield place
            finally:
                place.stop()
                for each in later_slurm.GROUPS.glob("slurm_n?"):
                    with suppress(OSError):
                        each.rmdir()
    except Unavailable as error:
        pytest.skip(str(error))


def _proven_by_root(place):
    """The rows of the kit, of a run in which Slurm called each epilog as root.

    A thread of the extern step of 24.11.5 becomes the user for a moment when a job ends; an epilog
    that is begun then runs as the user, who can remove nothing (mended in 24.11.6).
    """
    noted = place.root / "as-user"
    for _ in range(5):
        before = noted.read_text()
        rows = proven(place, "slurm")
        if noted.read_text() == before:
            return rows
    pytest.fail("Slurm called an epilog as the user of its job each time")


def test_the_conformance_kit_proves_a_later_slurm(cluster):
    version = cluster.run("slurmctld", "-V")
    assert int(version.split()[1].partition(".")[0]) >= 24
    rows = _proven_by_root(cluster)
    assert len(rows) == 12
    assert unproven(cluster, rows) == []
    assert {row["outcome"] for row in rows} == {"holds"}


def test_an_epilog_goes_on_where_its_job_is_ended_once_more(cluster):
    """Slurm does so to each job that completes when its slurmd registers, or takes long for it:
    with RunInJob all that runs below the step of the epilog gets a SIGTERM.
    """
    if not later_slurm.limits():
        pytest.skip("no control groups of version 1 can be made here")
    held = cluster.root / "held"
    held.touch()
    job = cluster.run(
        "sbatch", "--parsable", "-w", "n1", "--mem=50M", "--time=2", "-o", "/dev/null",
        "--wrap", "true", user=user().pw_name,
    ).strip()  # fmt: skip
    try:
        assert until(held.read_text), cluster.logs()
        place = cluster.root / f"mjf/n1/{job}/jobfeatures"
        assert place.is_dir()
        [slurmd] = (each for each in cluster.daemons if each.args[-3:] == ["-D", "-N", "n1"])
        slurmd.terminate()
        slurmd.wait()
        cluster.daemon("slurmd", "-D", "-N", "n1")
        begun = until(
            lambda: len(held.read_text().split()) == 2,
            going=lambda: cluster.run("squeue", "-h", "-j", job, check=False).strip(),
        )
        assert begun, cluster.logs()
        assert place.is_dir()
    finally:
        held.unlink()
    slurm_ends.over(cluster, job)
    assert not place.parent.exists()
    assert "drain" not in cluster.run("sinfo", "-h", "-N", "-n", "n1", "-o", "%T")
    said = (cluster.root / "log/hooks").read_text()
    assert f"epilog slurm {job}: it was ended: exit code 143" in said


def test_a_prolog_in_the_control_group_of_its_job_asks_nobody(cluster):
    """What it tells is the same as when it asks."""
    if not later_slurm.limits():
        pytest.skip("no control groups of version 1 can be made here")
    machine = cluster.root / "mjf/n1/machinefeatures"
    cluster.daemon(
        COMMAND, "features", "watch", "--from", "slurm", "--node", "n1", "--machine", machine
    )
    assert until((machine / ".watched").exists), cluster.logs()
    shown = []
    for node in ("n1", "n2"):
        out = cluster.root / f"work/{node}"
        cluster.run(
            "sbatch", "-W", "-w", node, "-n2", "--mem=77M", "--time=3", "-o", out, "--wrap",
            'for each in "$JOBFEATURES"/*; do echo "${each##*/} $(cat "$each")"; done',
            user=user().pw_name,
        )  # fmt: skip
        shown.append(dict(line.split(" ", 1) for line in out.read_text().splitlines()))
    moving = ("job_id", "jobstart_secs")
    first, second = (
        {name: value for name, value in each.items() if name not in moving} for each in shown
    )
    assert first == second, cluster.logs()
    assert (first["max_rss_bytes"], first["wall_limit_secs"]) == (str(77 << 20), "180")
    log = (cluster.root / "log/hooks").read_text()
    asked = [re.search(rf" slurm {each['job_id']}: .*commands of slurm: ([0-9])", log)[1]
             for each in shown]  # fmt: skip
    assert asked == ["0", "1"]  # of n2 nobody watches the reservations


def test_what_a_job_used_is_in_its_document_without_the_accounting_database(cluster):
    """Its control group is gone before the epilog runs: what the last look found counts."""
    if not later_slurm.limits():
        pytest.skip("no control groups of version 1 can be made here")
    root = cluster.root / "mjf/n1"
    sampler = cluster.daemon(
        COMMAND, "features", "sample", "--for", "slurm", "--node", "n1", "--root", root,
        "--every", 0.2,
    )  # fmt: skip
    waits = (
        'until [ -e "$JOBSTATUS/used_max_rss_bytes" ]; do sleep 0.1; done; '
        f'cat "$JOBSTATUS/used_max_rss_bytes" > {cluster.root}/work/seen'
    )
    job = cluster.run(
        "sbatch", "--parsable", "--hold", "-w", "n1", "--mem=77M", "-t", 5, "-o", "/dev/null",
        "--wrap", waits, user=user().pw_name,
    ).strip()  # fmt: skip
    (cluster.root / "jobs").mkdir(exist_ok=True)
    place_of(cluster, job).write_text(f"<Job><Id>{job}</Id></Job>\n")
    cluster.run("scontrol", "release", job)
    try:
        assert until(lambda: kept(cluster, job).delivered.get("Memory", metric="Max")), (
            cluster.logs()
        )
    finally:
        sampler.terminate()
        sampler.wait()
    seen = int((cluster.root / "work/seen").read_text())
    assert 0 < seen <= kept(cluster, job).delivered.get("Memory", metric="Max").bytes <= 77 << 20


def test_a_payload_has_the_grace_of_its_qos(cluster):
    slurm_ends.add_qos(cluster)
    slurm_ends.payload_has_its_grace(cluster, "alone", "", ["USR1"], "-q")


def test_a_drain_is_told_and_taken_back(cluster):
    slurm_ends.drain_is_told_and_taken_back(cluster, cluster.root / "mjf/n1/machinefeatures")
