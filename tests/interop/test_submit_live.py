"""A real Slurm and a real Grid Engine get each job once, whatever is killed, and do as told.

Where neither can be started, the tests say why.
"""

import shutil

import gridengine_cell
import pytest
import slurm_cluster
from batch_jobs import COMMAND
from daemons import started, user
from waiting import until

from sssjob.document import read
from sssjob.submission import How, InFile, NotSubmitted, Order, SubmitOptions, steer, submit

pytestmark = pytest.mark.interop

# The commands that submit and release, and the option of what is submitted by hand.
COMMANDS = {"slurm": ("sbatch", "scontrol"), "gridengine": ("qsub", "qrls")}
ORDERS = {
    "slurm": {"hold": "scontrol", "release": "scontrol", "cancel": "scancel"},
    "gridengine": {"hold": "qhold", "release": "qrls", "cancel": "qdel"},
}
WRAPPER = """#!/bin/sh
[ -e {root}/before-{name} ] && rm {root}/before-{name} && kill -9 $PPID
{program} "$@"; status=$?
[ -e {root}/after-{name} ] && rm {root}/after-{name} && kill -9 $PPID
exit $status
"""
JOB = """<Job><Id>one</Id><Name>once</Name>
<Executable>/bin/sleep</Executable><Arguments>300</Arguments>
<OutputFile>/dev/null</OutputFile><InitialWorkingDirectory>/tmp</InitialWorkingDirectory>
{more}<Requested><Duration>330</Duration></Requested></Job>"""
CHAIN = """<JobGroup><Id>g</Id><!-- kept -->
<Job><Id>c</Id><Executable>/bin/true</Executable><OutputFile>/dev/null</OutputFile>
<Dependency condition="{condition}">b</Dependency></Job>
<Job><Id>a</Id><Name>first</Name><Executable>/bin/sleep</Executable><Arguments>300</Arguments>
<OutputFile>/dev/null</OutputFile></Job>
<Job><Id>b</Id><Executable>/bin/true</Executable><OutputFile>/dev/null</OutputFile>
<Dependency condition="{condition}" designator="JobName">first</Dependency></Job>
</JobGroup>"""


class Site:
    """A batch system whose commands kill who called them, if they are told to."""

    def __init__(self, system, place):
        self.system, self.place = system, place
        self.work = place.root / "work"
        place.make("wrapped")
        for name in {*COMMANDS[system], *ORDERS[system].values()}:
            path = place.root / "wrapped" / name
            path.write_text(WRAPPER.format(root=self.work, name=name, program=shutil.which(name)))
            path.chmod(0o755)
        self.environment = {
            "PATH": f"{place.root}/wrapped:{place.environment['PATH']}",
            "XDG_STATE_HOME": f"{self.work}/state",
        }

    def document(self, name, text):
        """A document."""
        path = self.work / name
        path.write_text(text)
        return path

    def call(self, *words):
        """What a command of ours prints."""
        return self.place.run(COMMAND, *words, check=False, env=self.environment).split()

    def submit(self, path, *options):
        return self.call("submit", "--to", self.system, *options, path)

    def jobs(self):
        """The ids of all jobs that are there."""
        if self.system == "slurm":
            return self.place.run("squeue", "-h", "-o", "%F").split()
        lines = self.place.run("qstat", "-u", "*").splitlines()
        return [line.split()[0] for line in lines if line.strip()[:1].isdigit()]

    def elements_run(self, id_):
        """How many elements of an array run."""
        if self.system == "slurm":
            return len(self.place.run("squeue", "-h", "-r", "-t", "R", "-j", id_).splitlines())
        rows = self.place.run("qstat", "-s", "r", "-u", "*").splitlines()
        return sum(row.split()[:1] == [id_] for row in rows)

    def clear(self):
        """Take all jobs away; one that has just ended refuses that, which is no fault."""
        if found := self.jobs():
            command = "scancel" if self.system == "slurm" else "qdel"
            self.place.run(command, *found, check=False)
        assert until(lambda: not self.jobs())


@pytest.fixture(scope="module", params=sorted(COMMANDS))
def running(request):
    """The batch system, which is started once for all tests."""
    start = {"slurm": slurm_cluster.start, "gridengine": gridengine_cell.start}[request.param]
    place = started(start)
    yield Site(request.param, place)
    place.stop()


@pytest.fixture
def site(running):
    """The batch system without jobs."""
    yield running
    running.clear()


def the_job(path):
    (found,) = read(path)
    return found


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("which", [0, 1], ids=["submit", "release"])
def test_kill_9_leaves_one_job_that_runs(site, which, when):
    path = site.document("job.xml", JOB.format(more=""))
    (site.work / f"{when}-{COMMANDS[site.system][which]}").touch()
    assert site.submit(path) == []
    assert not (site.work / f"{when}-{COMMANDS[site.system][which]}").exists()
    (id_,) = site.submit(path)
    assert site.submit(path) == [id_]
    assert site.jobs() == [id_]
    assert the_job(path).id == id_
    assert until(lambda: "Running" in _states(site, id_))


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("order", "said"), [
    ("hold", "Hold"), ("release", "Idle"), ("cancel", "Cancelled"),
])  # fmt: skip
def test_kill_9_in_the_middle_of_an_order_is_healed_by_the_next_call(site, order, said, when):
    path = site.document("job.xml", JOB.format(more="<EligibleTime>2000000000</EligibleTime>"))
    (id_,) = site.submit(path, *["--hold"] * (order == "release"))
    fault = site.work / f"{when}-{ORDERS[site.system][order]}"
    fault.touch()
    assert site.call(order, path) == []
    assert not fault.exists()
    assert site.call(order, path) == [id_, said]
    assert the_job(path).get("State") == said
    assert until(lambda: site.jobs() == ([] if order == "cancel" else [id_]))
    assert site.call(order, path) == [id_, said]


def _states(site, id_):
    printed = site.place.run(COMMAND, "status", "--from", site.system, check=False)
    return next(line for line in printed.splitlines() if f"<Id>{id_}</Id>" in line)


def test_a_copy_finds_the_job_by_its_global_id(site):
    text = JOB.format(more="<GlobalId>a 'strange' &amp; long, one|</GlobalId>")
    (first,) = site.submit(site.document("job.xml", text))
    assert site.submit(site.document("copy.xml", text)) == [first]
    assert site.jobs() == [first]


def test_a_group_waits_for_real_ids(site):
    condition = "OnSuccess" if site.system == "slurm" else "OnExit"
    path = site.document("group.xml", CHAIN.format(condition=condition))
    first, second, third = site.submit(path)
    assert [job.id for job in the_job(path).jobs] == [third, first, second]
    for job, before in ((second, first), (third, second)):
        if site.system == "slurm":
            shown = site.place.run("scontrol", "show", "job", job)
            assert f"Dependency=afterok:{before}(unfulfilled)" in shown
        else:
            shown = site.place.run("qstat", "-j", job)
            assert before in next(line for line in shown.splitlines() if "predecessor" in line)


def test_hold_release_and_cancel_by_document(site):
    path = site.document("job.xml", JOB.format(more=""))
    (id_,) = site.submit(path, "--hold")
    assert site.call("release", path) == [id_, "Idle"] or site.call("release", path)[1] == "Running"
    assert the_job(path).get("Hold") == ""
    assert site.call("cancel", path) == [id_, "Cancelled"]
    assert site.call("cancel", path) == [id_, "Cancelled"]
    assert until(lambda: not site.jobs())
    waiting = site.document("later.xml", JOB.format(more="<EligibleTime>2000000000</EligibleTime>"))
    (id_,) = site.submit(waiting)
    assert site.call("hold", waiting) == [id_, "Hold"]
    assert site.call("hold", waiting) == [id_, "Hold"]
    assert site.call("release", waiting) == [id_, "Idle"]
    assert site.call("cancel", waiting) == [id_, "Cancelled"]


def test_an_array_is_one_job_of_several_elements(site):
    """Whichever batch system its option is of."""
    more = "<Extension type='pbs' name='-J'>1-3</Extension>"
    path = site.document("array.xml", JOB.format(more=more))
    (id_,) = site.submit(path, "--hold")
    assert site.submit(path, "--hold") == [id_]
    assert set(site.jobs()) == {id_}
    assert site.call("release", path)[0] == id_
    assert until(lambda: site.elements_run(id_) == 3)
    assert site.call("cancel", path) == [id_, "Cancelled"]


def test_what_is_refused_is_told_and_nothing_is_there(site):
    path = site.document("job.xml", JOB.format(more="<Queue>no-such-queue</Queue>"))
    assert site.submit(path) == []
    assert site.jobs() == []
    assert the_job(path).get("SubmitTime") == ""


def test_slurm_shows_what_was_asked_for(site):
    if site.system != "slurm":
        pytest.skip("of Slurm")
    more = "<Priority awarenessPolicy='Warn'>9</Priority><TaskCount>4</TaskCount>"
    path = site.document("job.xml", JOB.format(more=more).replace(
        "</Duration>", "</Duration><Memory units='MB'>301</Memory><Processors>8</Processors>"
    ))  # fmt: skip
    (id_,) = site.submit(path, "--hold")
    shown = site.place.run("scontrol", "show", "job", id_)
    for part in ("JobName=once", "TimeLimit=00:06:00", "NumTasks=4", "CPUs/Task=2",
                 "MinMemoryCPU=38M", "WorkDir=/tmp", "StdOut=/dev/null", "Reason=JobHeldUser",
                 f"Comment=sssjob:{the_job(path).get('GlobalId')}"):  # fmt: skip
        assert part in shown, part


def test_a_service_submits_as_the_user_of_the_job(site):
    name = user().pw_name
    path = site.document("job.xml", JOB.format(more=f"<User>{name}</User>"))
    how = How(
        600, ("runuser", "-u", name, "--"), name, site.place.environment, site.place.root / "locks"
    )
    (done,) = submit(InFile(path), SubmitOptions(site.system, hold=True), how)
    mine = site.document("mine.xml", JOB.format(more=f"<User>{name}</User>"))
    with pytest.raises(NotSubmitted, match="would run as root"):
        list(
            submit(
                InFile(mine), SubmitOptions(site.system), How(600, locks=site.place.root / "locks")
            )
        )
    copy = site.document("copy.xml", JOB.format(
        more=f"<User>{name}</User><GlobalId>{done.global_id}</GlobalId>"
    ))  # fmt: skip
    (again,) = submit(InFile(copy), SubmitOptions(site.system), how)
    assert (again.id, again.new) == (done.id, False)
    (steered,) = steer(InFile(copy), Order.CANCEL, how=how)
    assert (steered.state, steered.done) == ("Cancelled", True)


def test_slurm_knows_a_job_that_has_ended_by_its_accounting(site):
    if site.system != "slurm":
        pytest.skip("Grid Engine keeps no context of jobs that have ended")
    text = JOB.format(more="<GlobalId>urn:ended</GlobalId>").replace("300<", "0<")
    (id_,) = site.submit(site.document("job.xml", text))
    assert until(lambda: not site.jobs())
    assert until(lambda: "urn:ended" in site.place.run("sacct", "-n", "-o", "SubmitLine%200"))
    site.place.run("scontrol", "reconfigure")
    copy = site.document("copy.xml", text)
    # What slurmctld still shows is not asked here.
    (site.place.root / "wrapped/squeue").write_text(
        f'#!/bin/sh\ncase "$*" in *--me*) ;; *) exec {shutil.which("squeue")} "$@";; esac\n'
    )
    (site.place.root / "wrapped/squeue").chmod(0o755)
    assert site.submit(copy) == [id_]
    (site.place.root / "wrapped/squeue").unlink()
    assert the_job(copy).get("State") == "Completed"


def test_slurm_is_told_of_the_cluster_of_a_job(site):
    if site.system != "slurm":
        pytest.skip("of Slurm")
    more = "<GlobalId>urn:of-a-cluster</GlobalId><Machine>sssjob</Machine>"
    path = site.document("job.xml", JOB.format(more=more))
    (id_,) = site.submit(path, "--hold")
    copy = site.document("copy.xml", JOB.format(more=more))
    assert site.submit(copy, "--hold") == [id_]
    assert site.call("hold", path) == [id_, "Hold"]
    assert site.call("cancel", path) == [id_, "Cancelled"]
    elsewhere = site.document("else.xml", JOB.format(more="<Machine>nowhere</Machine>"))
    assert site.submit(elsewhere) == []
