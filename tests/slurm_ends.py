"""What a real Slurm does to jobs that it preempts and to nodes that are drained, and what
``features watch`` tells of it: of each Slurm that tests start.
"""

import re

from batch_jobs import COMMAND
from daemons import user
from waiting import runs, until

GRACE = 600  # seconds: nobody waits for its end but in the partition called again
LINES = (
    "PreemptType=preempt/partition_prio",
    "PreemptMode=REQUEUE",
    f"PartitionName=low Nodes=n2 PriorityTier=2 PreemptMode=CANCEL GraceTime={GRACE}",
    "PartitionName=again Nodes=n2 PriorityTier=2 PreemptMode=REQUEUE GraceTime=2",
    "PartitionName=urgent Nodes=n2 PriorityTier=9 PreemptMode=OFF",
)
# Instead of those partitions: the same by QoS, which are in the database.
BY_QOS = ("PreemptType=preempt/qos", "PreemptMode=REQUEUE")
_ADDED = (
    f"qos low GraceTime={GRACE} PreemptMode=cancel", "qos urgent Preempt=low", "account ours",
    "user root account=ours qos=low,urgent,normal defaultqos=normal",
)  # fmt: skip
# It notes its signals, and goes on until it is told to end, or killed, or all is taken away.
PAYLOAD = """\
for each in TERM CONT USR1; do trap "echo $each >> {0}.got" $each; done
echo $$ > {0}.ready; while [ -e {0}.payload ] && ! [ -e {0}.end ]; do sleep 0.1; done; exit 7
"""
_READS = "+dac_override,+dac_read_search"  # our own program may be in a directory of root
AS_USER = (
    "setpriv", f"--reuid={user().pw_uid}", f"--regid={user().pw_gid}", "--clear-groups",
    f"--inh-caps={_READS}", f"--ambient-caps={_READS}", "--",
)  # fmt: skip
JOB = """\
#!/bin/sh
{before}{command} features watch --from slurm --every 0.5 --seconds 60 --notice 1000 --signal USR1 -- /bin/sh {0}.payload
echo "code $?"
"""  # noqa: E501


def text(cluster, name):
    place = cluster.root / f"work/{name}"
    return place.read_text() if place.exists() else ""


def words(cluster, job):
    """The words of a job, with times in seconds since 1970."""
    printed = cluster.run(
        "scontrol", "-o", "show", "job", job, env={"SLURM_TIME_FORMAT": "%s"}
    )  # fmt: skip
    return dict(word.split("=", 1) for word in printed.split() if "=" in word)


def add_qos(cluster):
    """Add them, and wait until the controller knows them."""
    for each in _ADDED:
        cluster.run("sacctmgr", "-i", "add", *each.split())
    ask = ("scontrol", "show", "assoc_mgr", "users=root", "flags=assoc,qos")
    known = (r"^QOS=urgent\(", r"^ *(UserName=root\(|.* UserName=root\()")
    assert until(lambda: all(re.search(each, cluster.run(*ask), re.M) for each in known))


def preempted(cluster, name, low, before="", by="-p"):
    """A job with a payload, which a more urgent job has just put into its grace.

    ``low`` names its partition, or its QoS (``-q``).
    """
    at = cluster.root / f"work/{name}"
    at.with_suffix(".payload").write_text(PAYLOAD.format(at))
    script = JOB.format(at, command=COMMAND, before=before)
    options = (
        f"--job-name={name}",
        f"--output={at}.out",
        f"--error={at}.out",
        "--open-mode=append",
    )
    job = cluster.run(
        "sbatch", "--parsable", by, low, "-w", "n2", "-t", 60, "--mem=50M", *options, stdin=script
    ).strip()  # fmt: skip
    assert until(at.with_suffix(".ready").exists), cluster.logs()
    assert until(
        lambda: (
            f"shutdowntime_job  {words(cluster, job)['EndTime']} " in text(cluster, f"{name}.out")
        )
    )
    urgent = cluster.run(
        "sbatch", "--parsable", by, "urgent", "-w", "n2", "-t", 1, "--exclusive",
        "--output=/dev/null", "--wrap", "true",
    ).strip()  # fmt: skip
    return job, urgent


def over(cluster, *jobs):
    """Wait until jobs are over, and the node is as it was."""
    for job in jobs:
        assert until(
            lambda job=job: not cluster.run("squeue", "-h", "-j", job, check=False).strip()
        )


def payload_has_its_grace(cluster, name, before, signals, by="-p"):
    """Slurm signals steps at once, and a batch script never: ``watch`` signals both."""
    job, urgent = preempted(cluster, name, "low", before, by)
    assert until(
        lambda: (
            int(words(cluster, job)["EndTime"])
            < GRACE + int(words(cluster, job)["StartTime"]) + 3000
        )
    )
    told = words(cluster, job)
    end = int(told["EndTime"])
    assert end == int(told["PreemptTime"]) + GRACE
    shown = rf"^shutdowntime_job  {end} .* by slurm: job {job} is preempted$"
    line = re.compile(shown, re.MULTILINE)
    assert until(lambda: line.search(text(cluster, f"{name}.out"))), text(cluster, f"{name}.out")
    assert until(lambda: sorted(text(cluster, f"{name}.got").split()) == signals)
    (cluster.root / f"work/{name}.end").touch()
    assert until(lambda: "code 7" in text(cluster, f"{name}.out")), text(cluster, f"{name}.out")
    assert sorted(text(cluster, f"{name}.got").split()) == signals
    over(cluster, job, urgent)


def payload_is_ended_with_its_grace(cluster, name, partition):
    """When the grace is over, Slurm ends all of the job, and requeues it: no end is called off."""
    job, urgent = preempted(cluster, name, partition, "srun -n1 ")
    pid = text(cluster, f"{name}.ready").strip()
    assert until(lambda: not runs(pid))
    assert set(text(cluster, f"{name}.got").split()) == {"TERM", "CONT", "USR1"}
    said = text(cluster, f"{name}.out")
    announced = re.findall(r"^shutdowntime_job  (\S+) .*: (.*)$", said, re.MULTILINE)
    # The first one is that of the time limit, an hour after the start.
    assert [why for _, why in announced[1:2]] == [f"job {job} is preempted"]
    assert all(int(moment) < int(announced[0][0]) - 3000 for moment, _ in announced[1:]), said
    assert "called off" not in said
    cluster.run("scancel", job, urgent)
    over(cluster, job, urgent)


def configure(cluster, line):
    """Add a line to slurm.conf, which all daemons of Slurm read again."""
    with (cluster.root / "etc/slurm.conf").open("a") as file:
        file.write(f"{line}\n")
    cluster.run("scontrol", "reconfigure")
    name, value = line.split("=")
    assert until(
        lambda: re.search(rf"^{name} += {value}$", cluster.run("scontrol", "show", "config"), re.M)
    )


def _told(cluster, *command):
    """What a look tells, without the moments."""
    printed = cluster.run(*command, check=False)
    return [line.partition(" by ")[2] for line in printed.splitlines()]


def drain_is_told_and_taken_back(cluster, machine):
    """It is no end of a job; the machine is empty when the last one ends by its limit."""
    end = cluster.root / "work/drains.end"
    waits = f"while [ -d {end.parent} ] && ! [ -e {end} ]; do sleep 0.1; done"
    options = ("--parsable", "-w", "n1", "--mem=50M", "--output=/dev/null")
    jobs = [
        cluster.run("sbatch", *options, "-t", minutes, "--wrap", waits).strip()
        for minutes in (40, 50)
    ]
    for job in jobs:
        assert until(lambda job=job: words(cluster, job)["JobState"] == "RUNNING")
    assert until(machine.is_dir), cluster.logs()  # by a prolog, which may take longer
    program, calls = cluster.root / "called", cluster.root / "work/calls"
    program.write_text(f'#!/bin/sh\necho "$@" >> {calls}\n')
    program.chmod(0o755)
    watch = cluster.daemon(
        COMMAND, "features", "watch", "--from", "slurm", "--node", "n1", "--every", 0.5,
        "--seconds", 60, "--machine", machine, "--call", program,
    )  # fmt: skip
    cluster.run("scontrol", "update", "nodename=n1", "state=drain", "reason=new disk")
    [last] = {words(cluster, job)["EndTime"] for job in jobs[1:]}
    assert until(lambda: f"shutdowntime {last} slurm" in text(cluster, "calls")), cluster.logs()
    assert (machine / "shutdowntime").read_text().strip() == last
    once = (COMMAND, "features", "watch", "--once", "--from", "slurm", "--node", "n1")
    said = _told(cluster, *once)
    assert said == [
        "slurm: node n1 takes no new jobs (new disk)",
        "slurm: node n1 drains (new disk): its last job ends",
    ]
    assert {words(cluster, job)["JobState"] for job in jobs} == {"RUNNING"}
    # A user from whom the jobs of others are hidden is not told when the last of all ends.
    assert _told(cluster, *AS_USER, *once) == said
    configure(cluster, "PrivateData=jobs")
    assert (_told(cluster, *once), _told(cluster, *AS_USER, *once)) == (said, said[:1])
    # One without a limit: then nobody knows when the node will be empty, and the drain is told.
    cluster.run("scontrol", "update", f"JobId={jobs[0]}", "TimeLimit=UNLIMITED")
    assert _told(cluster, *once) == said[:1]
    assert until(lambda: text(cluster, "calls").endswith("shutdowntime - -\n"))
    assert until(lambda: not (machine / "shutdowntime").exists())
    cluster.run("scontrol", "update", "nodename=n1", "state=resume")
    assert until(lambda: text(cluster, "calls").endswith("draining - -\n"))
    lines = text(cluster, "calls").splitlines()
    assert (lines[0].split()[::2], lines[1:]) == (
        ["draining", "slurm"],
        [f"shutdowntime {last} slurm", "shutdowntime - -", "draining - -"],
    )
    # It is drained again, is empty after a while, and is resumed: nothing is left of it.
    cluster.run(
        "scontrol", "update", "nodename=n1", "state=drain", "reason=[again] Comment=x [a@1]"
    )
    end.touch()
    over(cluster, *jobs)
    assert until(lambda: (machine / "shutdowntime").exists()), cluster.logs()
    said = cluster.run(*once).splitlines()
    assert said[-1].endswith("node n1 has drained ([again] Comment=x [a@1])")
    cluster.run("scontrol", "update", "nodename=n1", "state=resume")
    assert until(lambda: not (machine / "shutdowntime").exists())
    assert until(lambda: text(cluster, "calls").endswith("draining - -\nshutdowntime - -\n"))
    watch.terminate()
    assert watch.wait() == 143
