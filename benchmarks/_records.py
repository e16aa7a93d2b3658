"""Make accounting records to measure with: the same jobs in the format of every batch system.

    python benchmarks/_records.py pbs --count 1000 accounting.txt

Users, names and sizes repeat as they do in logs; times, ids and amounts differ. Some names need
escaping, and now and then sacct's have a delimiter or a line break in them.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import _logs

# fmt: off
NAMES = ("wrap", "md_run", "Météo-&-Zürich", "blastn<nt>", "fit.R", "relax-17", "STDIN", "train.sh")
STATES = ("COMPLETED",) * 18 + ("FAILED", "TIMEOUT", "CANCELLED by 1000", "OUT_OF_MEMORY")
QUEUES = ("batch", "long", "debug")
PROJECTS = ("chem", "climate", "bio-17", "materials")
SACCT = (
    "JobID", "JobIDRaw", "Cluster", "Partition", "Account", "Group", "User", "Submit",
    "Eligible", "Start", "End", "ElapsedRaw", "State", "ExitCode", "NCPUS", "NNodes",
    "NodeList", "ReqCPUS", "ReqMem", "TimelimitRaw", "QOS", "TotalCPU", "MaxRSS",
    "AllocTRES", "JobName", "WorkDir",
)
# fmt: on


class Job(NamedTuple):
    """What every batch system knows of a job; times in seconds, memory in KB."""

    number: int
    user: str
    project: str
    queue: str
    name: str
    submit: int
    start: int
    end: int
    processors: int
    hosts: tuple[str, ...]
    limit: int
    cpu: int
    memory: int
    state: str

    @property
    def wall(self) -> int:
        """Seconds from start to end."""
        return self.end - self.start

    @property
    def code(self) -> int:
        """The exit code."""
        return int(self.state == "FAILED")


def jobs(count: int, seed: int = 1) -> Iterator[Job]:
    """So many jobs, the same for the same seed."""
    chance = Random(seed)
    submit = 1700000000
    for number in range(1000, 1000 + count):
        submit += chance.randrange(30)
        start = submit + chance.randrange(1, 40000)
        wall = chance.randrange(1, 90000)
        processors = chance.choice((1, 1, 1, 1, 2, 4, 8, 16, 64, 128))
        first = chance.randrange(1, 900)
        yield Job(
            number, f"user{chance.randrange(200):03}", chance.choice(PROJECTS),
            chance.choice(QUEUES), chance.choice(NAMES), submit, start, start + wall, processors,
            tuple(f"n{first + node:03}" for node in range(max(1, processors // 32))),
            chance.choice((3600, 14400, 86400)), int(wall * processors * chance.random()),
            chance.randrange(4000, 9000000), chance.choice(STATES),
        )  # fmt: skip


def sacct(count: int, steps: bool = False) -> Iterator[str]:
    """What sacct prints, with a header; with ``steps``, two or three of them for each job."""
    yield "|".join(SACCT)
    for job in jobs(count):
        row = _sacct(job)
        yield "|".join(row.values())
        if steps:
            batch = row | {
                "Partition": "", "Group": "", "User": "", "QOS": "", "ReqMem": "",
                "TimelimitRaw": "", "MaxRSS": f"{job.memory}K", "WorkDir": "",
            }  # fmt: skip
            for step in ("batch", "extern", "0")[: 2 + job.number % 2]:
                id = f"{job.number}.{step}"
                yield "|".join((batch | {"JobID": id, "JobIDRaw": id, "JobName": step}).values())


def _sacct(job: Job) -> dict[str, str]:
    nodes = job.hosts[0] if len(job.hosts) == 1 else f"n[{job.hosts[0][1:]}-{job.hosts[-1][1:]}]"
    days, rest = divmod(job.cpu, 86400)
    spent = f"{days}-" * bool(days) + f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    name = job.name if job.number % 200 else "a|b"
    texts = (
        job.number, job.number, "colony", job.queue, job.project, job.project, job.user,
        job.submit, job.submit, job.start, job.end, job.wall, job.state, f"{job.code}:0",
        job.processors, len(job.hosts), nodes, job.processors, f"{job.processors * 2}G",
        job.limit // 60, "normal", spent, "",
        f"billing={job.processors},cpu={job.processors},mem={job.processors * 2}G,"
        f"node={len(job.hosts)}",
        name, f"/home/{job.user}/run" + "\nx" * (job.number % 500 == 7),
    )  # fmt: skip
    return dict(zip(SACCT, map(str, texts), strict=True))


def pbs(count: int) -> Iterator[str]:
    """What OpenPBS writes when a job ends."""
    for job in jobs(count):
        id = f"{job.number}.pbs01"
        each = max(1, job.processors // len(job.hosts))
        hosts = "+".join(f"{host}/0*{each}" for host in job.hosts)
        vnodes = "+".join(f"({host}:ncpus={each}:mem={each * 2}gb)" for host in job.hosts)
        known = (
            f"user={job.user} group={job.project} project={job.project} jobname={job.name} "
            f"queue={job.queue} ctime={job.submit} qtime={job.submit} etime={job.submit} "
            f"start={job.start} exec_host={hosts} exec_vnode={vnodes} "
            f"Resource_List.mem={job.processors * 2}gb Resource_List.ncpus={job.processors} "
            f"Resource_List.nodect={len(job.hosts)} Resource_List.place=free "
            f"Resource_List.select={len(job.hosts)}:ncpus={each} "
            f"Resource_List.walltime={_clock(job.limit)}"
        )
        yield (
            f"11/20/2026 14:29:34;E;{id};{known} session={job.number} end={job.end} "
            f"Exit_status={job.code} resources_used.cpupercent=97 "
            f"resources_used.cput={_clock(job.cpu)} resources_used.mem={job.memory}kb "
            f"resources_used.ncpus={job.processors} resources_used.vmem={job.memory * 2}kb "
            f"resources_used.walltime={_clock(job.wall)} run_count=1"
        )


def sge(count: int) -> Iterator[str]:
    """An accounting file of Grid Engine."""
    for job in jobs(count):
        parallel = len(job.hosts) > 1
        for host in reversed(job.hosts):
            task = f"1.{host}" if host != job.hosts[0] else "NONE"
            yield (
                f"{job.queue}.q:{host}:{job.project}:{job.user}:{job.name}:{job.number}:sge:0:"
                f"{job.submit}:{job.start}:{job.end}:0:{job.code}:{job.wall}:1.5:0.5:"
                f"{job.memory}.000000:0:0:0:0:483:0:0:0.000000:8:0:0:0:8:9:{job.project}:"
                f"defaultdepartment:{'mpi' if parallel else 'NONE'}:{job.processors}:0:"
                f"{job.cpu // len(job.hosts)}.000000:12.3:0.000000:-l h_rt={job.limit}"
                f"{f' -pe mpi {job.processors}' if parallel else ''}:0.000000:{task}:"
                f"{job.memory * 2048}.000000:0:0"
            )


def lsf(count: int) -> Iterator[str]:
    """An lsb.acct of LSF 10.1, which names a host once for each slot."""
    for job in jobs(count):
        slots = [host for host in job.hosts for _ in range(job.processors // len(job.hosts))]
        hosts = " ".join(f'"{host}"' for host in slots)
        usage = " ".join(f"{host} 100 200 1 2 0" for host in job.hosts)
        yield (
            f'"JOB_FINISH" "10.1" {job.end} {job.number} 1001 33816611 {job.processors} '
            f'{job.submit} 0 0 {job.start} "{job.user}" "{job.queue}" "span[ptile=32]" "" "" '
            f'"login1" "/home/{job.user}/run" "" "out.%J" "" "1700000000.{job.number}" 0 '
            f'{len(slots)} {hosts} {32 if job.code else 64} 60.0 "{job.name}" '
            f'"#!/bin/sh; echo ""{job.name}""; ./run" {job.cpu}.25 0.25 -1 0 -1 0 0 1 1 0 0 -1 '
            f'0 0 0 -1 -1 -1 -1 "" "{job.project}" {job.code << 8} {job.processors} "" "" 0 '
            f'{job.memory} {job.memory * 2} "" "" "" "" 0 "" 0 "" -1 "" "" "" "" -1 "/g" "" 0 "" '
            f'0 "" "" 0 {len(job.hosts)} {usage} {job.limit} 0 {job.memory} "select[any]" "" -1 '
            f'"" -1 0 "" 0 0 "" {job.wall} "run" 0 ""'
        )


def jobcomp(count: int) -> Iterator[str]:
    """What the plugin jobcomp/filetxt of Slurm writes."""
    for job in jobs(count):
        row = _sacct(job)
        yield (
            f"JobId={job.number} UserId={job.user}(1001) GroupId={job.project}(100) "
            f"Name={job.name} JobState={job.state.split()[0]} Partition={job.queue} "
            f"TimeLimit={job.limit // 60} StartTime={job.start} EndTime={job.end} "
            f"NodeList={row['NodeList']} NodeCnt={len(job.hosts)} ProcCnt={job.processors} "
            f"WorkDir=/home/{job.user}/run ReservationName= Tres={row['AllocTRES']} "
            f"Account={job.project} QOS=normal WcKey=* Cluster=colony SubmitTime={job.submit} "
            f"EligibleTime={job.submit} DerivedExitCode=0:0 ExitCode={job.code}:0 "
        )


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def sacct_steps(count: int) -> Iterator[str]:
    """The same with steps."""
    return sacct(count, steps=True)


WRITERS = {
    "slurm": sacct, "slurm-steps": sacct_steps, "pbs": pbs, "sge": sge, "lsf": lsf,
    "slurm-jobcomp": jobcomp,
}  # fmt: skip


def log(name: str, count: int) -> Path:
    """A file with so many jobs."""
    return _logs.made(__file__, WRITERS, name, count)


if __name__ == "__main__":
    _logs.main(__doc__.partition("\n")[0], WRITERS)
