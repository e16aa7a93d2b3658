"""Pretended commands of batch systems, which print what the manuals say that the real ones do.

Slurm, Grid Engine and HTCondor are also tried for real (tests/interop); PBS, LSF and Flux only
here.
What was called stands in ``calls``, the jobs in ``jobs.json``. ``fault`` holds lines ``NAME WHEN
WHAT``: a command that begins so kills who called it (``kill``), fails (``fail``), or waits for the
file ``go`` (``wait``), before or after its work. With ``second-`` in front that is so from the
second job on.
"""

import fcntl
import json
import os
import stat
import sys

COMMANDS = {
    "slurm": ("sbatch", "squeue", "sacct", "scontrol", "scancel"),
    "pbs": ("qsub", "qstat", "qdel", "qhold", "qrls"),
    "gridengine": ("qsub", "qstat", "qdel", "qhold", "qrls"),
    "lsf": ("bsub", "bjobs", "bkill", "bstop", "bresume"),
    "condor": ("condor_submit", "condor_q", "condor_history", "condor_rm", "condor_hold",
               "condor_release"),
    "flux": ("flux",),
}  # fmt: skip

PROGRAM = r'''#!{python} -SEs
import fcntl, json, os, signal, sys, time
ROOT = {root!r}
SYSTEM = {system!r}
NAME, ARGS = os.path.basename(sys.argv[0]), sys.argv[1:]
WHOLE = " ".join([NAME, *ARGS])


def faults(when):
    for line in open(ROOT + "/fault").read().splitlines():
        begin, at, what = line.rsplit(" ", 2)
        if at != when or not WHOLE.startswith(begin):
            continue
        nth, _, what = what.rpartition("-")
        # By the jobs that are there: each command comes once for each.
        if nth == "second" and len(json.load(open(ROOT + "/jobs.json"))) < 2 - (
            NAME == "sbatch" and when == "before"
        ):
            continue
        if what == "kill":
            os.kill(os.getppid(), signal.SIGKILL)
        elif what == "wait":
            while os.path.exists(ROOT) and not os.path.exists(ROOT + "/go"):
                time.sleep(0.01)
        elif what == "hang":
            time.sleep(600)
        else:
            print("it does not work today", file=sys.stderr)
            sys.exit(7)


def value(*names):
    for at, word in enumerate(ARGS):
        for name in names:
            if word == name:
                return ARGS[at + 1]
            if name.startswith("--") and word.startswith(name + "="):
                return word[len(name) + 1:]
    return ""


def fail(text, status=1):
    print(text, file=sys.stderr)
    sys.exit(status)


def submit(jobs, printed, first=1):
    text = sys.stdin.read()
    id_ = str(first + len(jobs))
    jobs[id_] = {{"state": "hold", "args": ARGS, "text": text, "user": USER}}
    print(printed.format(id_))


def order(jobs, id_, word, gone):
    if id_ not in jobs or jobs[id_]["state"] == "over":
        fail(gone)
    jobs[id_]["state"] = word


def slurm(jobs):
    words = {{"hold": "PENDING", "idle": "PENDING", "run": "RUNNING", "over": "CANCELLED"}}
    def lines(found):
        for id_, job in found:
            comment = [a[10:] for a in job["args"] if a.startswith("--comment=")]
            reason = "JobHeldUser" if job["state"] == "hold" else "None"
            word = words[job["state"]]
            if "--me" not in ARGS or job["user"] == USER:
                yield "|".join((id_, word, "1795185000", reason, *comment))
    if NAME == "sbatch":
        submit(jobs, "{{}}")
    elif NAME == "squeue":
        one = value("--jobs")
        if one and one not in jobs:
            fail("slurm_load_jobs error: Invalid job id specified")
        for line in lines((i, j) for i, j in jobs.items() if one in ("", i)):
            print(line)
    elif NAME == "sacct":
        fail("Slurm accounting storage is disabled")
    elif NAME == "scontrol" and "show" in ARGS:
        for id_, job in jobs.items():
            begun, over = job["state"] in ("run", "over"), job["state"] == "over"
            start = 1795185060 if begun else "Unknown"
            end = 1795185100 if over else 1795188660 if begun else "Unknown"
            print(f"JobId={{id_}} JobName=STDIN UserId={{job['user']}}(0) GroupId=root(0) "
                  f"MCS_label=N/A Priority=1 Nice=0 Account=a QOS=normal WCKey=* "
                  f"JobState={{words[job['state']]}} Reason=None Dependency=(null) Requeue=1 "
                  f"Restarts=0 BatchFlag=1 Reboot=0 ExitCode={{3 if over else 0}}:0 "
                  f"RunTime=00:00:40 TimeLimit=00:01:00 TimeMin=N/A SubmitTime=1795185000 "
                  f"EligibleTime=1795185000 AccrueTime=Unknown StartTime={{start}} EndTime={{end}} "
                  f"Deadline=N/A SuspendTime=None SecsPreSuspend=0 Partition=main "
                  f"AllocNode:Sid=host:1 ReqNodeList=(null) ExcNodeList=(null) "
                  f"NodeList={{'n1' if begun else '(null)'}} NumNodes=1 NumCPUs=2 NumTasks=1 "
                  f"CPUs/Task=1 ReqB:S:C:T=0:0:*:* TRES=cpu=2,mem=100M,node=1,billing=1 "
                  f"MinCPUsNode=1 MinMemoryCPU=100M MinTmpDiskNode=0 Features=(null) "
                  f"OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null) Command=(null) "
                  f"WorkDir=/ StdErr=/1.out StdIn=/dev/null StdOut=/1.out Power=")
    elif NAME == "scontrol" and ARGS[0] == "update":
        id_ = ARGS[1].partition("=")[2]
        order(jobs, id_, jobs.get(id_, {{}}).get("state"), "Invalid job id specified")
        jobs[id_].setdefault("altered", []).append(ARGS[2])
    elif NAME == "scontrol":
        order(jobs, ARGS[1], "hold" if ARGS[0] == "hold" else "idle", "Invalid job id specified")
    else:
        order(jobs, ARGS[0], "over", "Invalid job id specified")


def qsub(jobs):
    """PBS Professional, and Grid Engine, which have commands of the same names."""
    pbs = SYSTEM == "pbs"
    letters = {{"hold": "H", "idle": "Q", "run": "R", "over": "F"}}
    if NAME == "qsub":
        submit(jobs, "{{}}.server" if pbs else "{{}}")
        return
    plain = [word for word in ARGS if not word.startswith("-")]
    id_ = plain[0].partition(".")[0] if plain else ""
    if NAME != "qstat":
        word = {{"qdel": "over", "qhold": "hold", "qrls": "idle"}}[NAME]
        order(jobs, id_, word, f"Unknown Job Id {{id_}}.server")
    elif pbs:
        if "-x" in ARGS:
            fail("qstat: PBS is not configured to maintain job history")
        if id_ and id_ not in jobs:
            fail(f"qstat: Unknown Job Id {{id_}}.server", 153)
        for key, job in jobs.items():
            if id_ in ("", key):
                text = "PBS_O_HOME=/root," + job["args"][job["args"].index("-v") + 1]
                print(f"Job Id: {{key}}.server\n    Job_Name = STDIN")
                print(f"    Job_Owner = {{job['user']}}@host")
                print(f"    job_state = {{letters[job['state']]}}")
                print(f"    Variable_List = {{text[:60]}}\n\t{{text[60:]}}\n")
    elif "-j" in ARGS:
        job = jobs[ARGS[ARGS.index("-j") + 1]]
        print("=" * 62)
        print(f"owner:                      {{job['user']}}")
        print(f"context:                    {{job['args'][job['args'].index('-ac') + 1]}}")
    else:
        states = {{"hold": "hqw", "idle": "qw", "run": "r"}}
        print("<?xml version='1.0'?>\n<job_info>\n  <queue_info>")
        for key, job in jobs.items():
            if job["state"] in states:
                print(f"""    <job_list state="pending">
      <JB_job_number>{{key}}</JB_job_number>
      <JAT_prio>0.00000</JAT_prio>
      <JB_name>STDIN</JB_name>
      <JB_owner>{{job['user']}}</JB_owner>
      <state>{{states[job['state']]}}</state>
    </job_list>""")
        print("  </queue_info>\n</job_info>")


def lsf(jobs):
    words = {{"hold": "PSUSP", "idle": "PEND", "run": "RUN", "over": "EXIT"}}
    if NAME == "bsub":
        submit(jobs, "Job <{{}}> is submitted to default queue <normal>.")
    elif NAME == "bjobs":
        one = ARGS[-1] if ARGS[-1].isdigit() else ""
        if one not in jobs if one else not jobs:
            fail(f"Job <{{one}}> is not found" if one else "No job found", 255)
        for id_, job in jobs.items():
            if one in ("", id_) and job["user"] == USER:
                mark = job["args"][job["args"].index("-Jd") + 1]
                print(f"{{id_}}|{{words[job['state']]}}|{{mark}}")
    else:
        word = {{"bkill": "over", "bstop": "hold", "bresume": "idle"}}[NAME]
        order(jobs, ARGS[0], word, f"Job <{{ARGS[0]}}>: No matching job found")


def condor(jobs):
    numbers = {{"hold": 5, "idle": 1, "run": 2, "over": 3}}
    if NAME == "condor_submit":
        submit(jobs, "{{0}}.0 - {{0}}.0")
    elif NAME == "condor_q":
        one = ARGS[1].partition(".")[0] if ARGS[1][:1].isdigit() else ""
        wanted = value("-constraint").partition('"')[2].rstrip('"')
        for id_, job in jobs.items():
            mark = [a for a in job["args"] if a.startswith("+SSSJobMark")][0].split('"')[1]
            if one in ("", id_) and wanted in ("", mark) and job["state"] != "over":
                print(id_, 0, numbers[job["state"]], 1795185000, job["user"], mark, sep="\t")
    elif NAME != "condor_history":
        word = {{"condor_rm": "over", "condor_hold": "hold", "condor_release": "idle"}}[NAME]
        order(jobs, ARGS[0].partition(".")[0], word, f"Couldn't find/{{NAME[7:]}} job {{ARGS[0]}}.")


def flux(jobs):
    if ARGS[:2] == ["job", "submit"]:
        submit(jobs, "{{}}")
    elif ARGS[:2] == ["job", "info"]:
        print(jobs[ARGS[2]]["text"])
    elif ARGS[0] == "jobs":
        one = ARGS[-1] if ARGS[-1].isdigit() else ""
        if one and one not in jobs:
            fail(f"flux-jobs: ERROR: JobID {{one}} unknown")
        words = {{"hold": "SCHED", "idle": "SCHED", "run": "RUN", "over": "INACTIVE"}}
        for id_, job in jobs.items():
            if one in ("", id_) and job["user"] == USER:
                urgency = 0 if job["state"] == "hold" else 16
                print(f"{{id_}}|{{words[job['state']]}}|{{urgency}}|1795185000.25")
    elif ARGS[0] == "cancel":
        order(jobs, ARGS[1], "over", f"flux-cancel: {{ARGS[1]}}: job id not found")
    else:
        order(jobs, ARGS[2], "hold" if ARGS[3] == "hold" else "idle", "unknown job id")


USER = open(ROOT + "/user").read()
with open(ROOT + "/calls", "a") as calls:
    calls.write(WHOLE + "\n")
faults("before")
with open(ROOT + "/lock", "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    with open(ROOT + "/jobs.json") as file:
        jobs = json.load(file)
    {{"pbs": qsub, "gridengine": qsub}}.get(SYSTEM, globals().get(SYSTEM))(jobs)
    with open(ROOT + "/jobs.json", "w") as file:
        json.dump(jobs, file)
faults("after")
'''


class Pretended:
    """The commands of one batch system, in ``bin`` of a directory."""

    def __init__(self, root, system, user):
        self.root, self.system = root, system
        (root / "bin").mkdir(parents=True)
        (root / "jobs.json").write_text("{}")
        (root / "user").write_text(user)
        (root / "calls").write_text("")
        (root / "fault").write_text("")
        text = PROGRAM.format(python=sys.executable, root=str(root), system=system)
        program = root / "program"
        program.write_text(text)
        program.chmod(stat.S_IRWXU)
        for name in COMMANDS[system]:
            (root / "bin" / name).symlink_to(program)

    def fault(self, *lines):
        """What goes wrong from now on."""
        (self.root / "fault").write_text("".join(f"{line}\n" for line in lines))

    @property
    def jobs(self):
        """The jobs that are there, by their numbers."""
        return json.loads((self.root / "jobs.json").read_text())

    def becomes(self, id_, state):
        """A job has another state now, whatever commands run."""
        with (self.root / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            jobs = self.jobs
            jobs[id_]["state"] = state
            (self.root / "jobs.json").write_text(json.dumps(jobs))

    @property
    def calls(self):
        """The commands that were called."""
        return (self.root / "calls").read_text().splitlines()

    @property
    def path(self):
        """A search path with these commands first."""
        return f"{self.root}/bin{os.pathsep}{os.environ['PATH']}"
