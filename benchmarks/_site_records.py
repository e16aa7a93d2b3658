"""Make accounting records as large sites have them, to measure with: the same jobs in each format.

    python benchmarks/_site_records.py sge --count 1000 accounting.txt

What costs a converter is what does not repeat. So users, groups, names, limits and memory are of
many values, runs last from seconds to a week, a third of the jobs is parallel, node lists have
gaps, a fifth are elements of arrays, a sixth of them failed, and times have a calendar in sacct.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import _logs

# fmt: off
QUEUES = ("main", "quick", "week", "accel", "fat", "test")
PROGRAMS = ("gromacs", "vasp.sh", "cp2k", "R-fit", "snake", "STDIN", "wrf", "star_align", "job")
ENDS = (
    *[("COMPLETED", 0, 0)] * 82, *[("FAILED", 1, 0)] * 6, *[("FAILED", 2, 0)] * 3,
    *[("CANCELLED", 0, 15)] * 4, *[("TIMEOUT", 0, 0)] * 3, ("OUT_OF_MEMORY", 0, 9),
    ("NODE_FAIL", 1, 0),
)
SACCT = (
    "JobID", "JobIDRaw", "Cluster", "Partition", "QOS", "Account", "Group", "GID", "User", "UID",
    "Submit", "Eligible", "Start", "End", "Elapsed", "ExitCode", "State", "NNodes", "NCPUS",
    "ReqCPUS", "ReqMem", "ReqTRES", "AllocTRES", "Timelimit", "NodeList", "JobName",
)
# fmt: on


class Job(NamedTuple):
    """A job; times in seconds, sizes in KB, nodes by their numbers."""

    id: int
    task: int
    user: int
    name: str
    queue: str
    submit: int
    eligible: int
    start: int
    wall: int
    limit: int
    nodes: tuple[int, ...]
    each: int
    cpu: float
    memory: int
    swap: int
    asked: int
    state: str
    code: int
    signal: int

    @property
    def end(self) -> int:
        """When it ended."""
        return self.start + self.wall

    @property
    def processors(self) -> int:
        """On all nodes."""
        return self.each * len(self.nodes)

    @property
    def array(self) -> int:
        """The job that it is an element of, or itself."""
        return self.id - self.id % 40 if self.task else self.id


def jobs(count: int, seed: int = 1) -> Iterator[Job]:
    """So many jobs, the same for the same seed."""
    chance = Random(seed)
    submit = 1_690_000_000
    for id in range(7_000_001, 7_000_001 + count):
        submit += chance.randrange(9)
        eligible = submit + (chance.randrange(4000) if chance.random() < 0.1 else 0)
        wall = min(int(chance.lognormvariate(7.6, 1.7)), 604_800)
        nodes, each = _given(chance)
        memory = int(chance.lognormvariate(13.3, 1.5))
        spent = wall * each * len(nodes) * chance.uniform(0.15, 0.99)
        yield Job(
            id, id % 40 if chance.random() < 0.2 else 0, int(420 * chance.random() ** 2),
            f"{chance.choice(PROGRAMS)}_{chance.randrange(120)}", chance.choice(QUEUES), submit,
            eligible, eligible + int(chance.lognormvariate(4.2, 2)), wall,
            max(600, int(wall * chance.uniform(1, 3)) // 60 * 60), nodes, each, spent, memory,
            int(memory * chance.uniform(1, 2)), max(500, memory // 900 // 250 * 250),
            *chance.choice(ENDS),
        )  # fmt: skip


def _given(chance: Random) -> tuple[tuple[int, ...], int]:
    """Nodes, one after the other or not, and the processors of each."""
    kind = chance.random()
    if kind < 0.84:
        return (chance.randrange(1, 1100),), 1 if kind < 0.54 else chance.randrange(2, 17)
    size = chance.randrange(2, 10) if kind < 0.97 else chance.randrange(10, 66)
    if chance.random() < 0.3:
        return tuple(sorted(chance.sample(range(1, 1101), size))), 32
    first = chance.randrange(1, 1101 - size)
    return tuple(range(first, first + size)), 32


def sacct(count: int) -> Iterator[str]:
    """What sacct prints of allocations, in the 26 columns that Open XDMoD asks for."""
    yield "|".join(SACCT)
    for job in jobs(count):
        yield "|".join(map(str, _sacct(job).values()))


def sacct_steps(count: int) -> Iterator[str]:
    """The same with what was used, and with two or three steps for each job."""
    yield "|".join((*SACCT, "TotalCPU", "MaxRSS", "MaxVMSize"))
    for job in jobs(count):
        row = _sacct(job)
        yield "|".join(map(str, (*row.values(), _days(job.cpu), "", "")))
        none = ("Partition", "QOS", "Group", "GID", "User", "UID", "ReqMem", "ReqTRES", "Timelimit")
        for name in ("batch", "extern", "0")[: 2 + (len(job.nodes) > 1)]:
            step = row | dict.fromkeys(none, "") | {
                "JobID": f"{row['JobID']}.{name}", "JobIDRaw": f"{job.id}.{name}", "JobName": name
            }  # fmt: skip
            used = (
                ("00:00.003", "0", "0") if name == "extern"
                else (_days(job.cpu * 0.9), f"{job.memory}K", f"{job.swap}K")
            )  # fmt: skip
            yield "|".join(map(str, (*step.values(), *used)))


def _sacct(job: Job) -> dict[str, object]:
    nodes = len(job.nodes)
    tres = (
        f"billing={job.processors},cpu={job.processors},mem={job.asked * nodes}M,node={nodes}"
    )  # fmt: skip
    state = f"CANCELLED by {3000 + job.user}" if job.state == "CANCELLED" else job.state
    values = (
        f"{job.array}_{job.task}" if job.task else job.id, job.id, "kelvin", job.queue, "std",
        f"proj{job.user % 90:02}", f"grp{job.user % 50:02}", 700 + job.user % 50,
        f"usr{job.user:03}", 3000 + job.user, *map(_iso, (job.submit, job.eligible)),
        *map(_iso, (job.start, job.end)), _days(job.wall), f"{job.code}:{job.signal}", state,
        nodes, job.processors, job.processors, f"{job.asked}M", tres, tres, _days(job.limit),
        _hosts(job.nodes), job.name,
    )  # fmt: skip
    return dict(zip(SACCT, values, strict=True))


def _iso(moment: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment))


def _days(seconds: float) -> str:
    """As sacct prints spans: with days, or with thousandths of a second below an hour."""
    if isinstance(seconds, float) and seconds < 3600:
        return f"{int(seconds) // 60:02}:{seconds % 60:06.3f}"[:9]
    days, rest = divmod(int(seconds), 86400)
    return f"{days}-" * bool(days) + f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"


def _hosts(nodes: tuple[int, ...]) -> str:
    """``k[0001-0004,0009]``"""
    if len(nodes) == 1:
        return f"k{nodes[0]:04}"
    spans: list[list[int]] = []
    for node in nodes:
        if spans and node == spans[-1][1] + 1:
            spans[-1][1] = node
        else:
            spans.append([node, node])
    return f"k[{','.join(f'{a:04}-{b:04}' if a < b else f'{a:04}' for a, b in spans)}]"


def sge(count: int) -> Iterator[str]:
    """An accounting file of Grid Engine, with tight integration that has no rows of its own."""
    for job in jobs(count):
        parallel = job.processors > 1
        asked = f"-U grp{job.user % 50:02} -u usr{job.user:03} -l h_rt={job.limit}"
        asked += f",h_vmem={job.asked}M" + f" -pe orte {job.processors}" * parallel
        yield (
            f"{job.queue}.q:k{job.nodes[0]:04}.hpc.example:grp{job.user % 50:02}:usr{job.user:03}:"
            f"{job.name}:{job.array}:sge:0:{job.submit}:{job.start}:{job.end}:"
            f"{37 if job.signal == 9 else 0}:{job.code or (128 + job.signal) * bool(job.signal)}:"
            f"{job.wall}:{job.cpu * 0.95:.6f}:{job.cpu * 0.05:.6f}:{job.memory:.6f}:0:0:0:0:30211:"
            f"0:0:0.000000:16:0:0:0:55:801:{'NONE' if job.user % 3 else f'proj{job.user % 90:02}'}:"
            f"defaultdepartment:{'orte' if parallel else 'NONE'}:{job.processors}:{job.task}:"
            f"{job.cpu:.6f}:{job.memory * job.wall / 1048576:.6f}:0.000031:{asked}:0.000000:NONE:"
            f"{job.swap * 1024:.6f}:0:0"
        )


def pbs(count: int) -> Iterator[str]:
    """What TORQUE writes when a job ends."""
    for job in jobs(count):
        id = f"{job.array}[{job.task}]" if job.task else f"{job.id}"
        cores = "0" if job.each == 1 else f"0-{job.each - 1}"
        hosts = "+".join(f"k{node:04}.hpc.example/{cores}" for node in job.nodes)
        asked = f"{len(job.nodes)}:ppn={job.each}"
        yield (
            f"{time.strftime('%m/%d/%Y %H:%M:%S', time.gmtime(job.end))};E;{id}.pbs.example;"
            f"user=usr{job.user:03} group=grp{job.user % 50:02} account=proj{job.user % 90:02} "
            f"jobname={job.name} queue={job.queue} ctime={job.submit} qtime={job.submit} "
            f"etime={job.eligible} start={job.start} owner=usr{job.user:03}@front.example "
            f"exec_host={hosts} Resource_List.mem={job.asked}mb Resource_List.neednodes={asked} "
            f"Resource_List.nodect={len(job.nodes)} Resource_List.nodes={asked} "
            f"Resource_List.walltime={_clock(job.limit)} session={job.id % 60000} "
            f"total_execution_slots={job.processors} unique_node_count={len(job.nodes)} "
            f"end={job.end} Exit_status={job.code or (256 + job.signal) * bool(job.signal)} "
            f"resources_used.cput={_clock(int(job.cpu))} resources_used.energy_used=0 "
            f"resources_used.mem={job.memory}kb resources_used.vmem={job.swap}kb "
            f"resources_used.walltime={_clock(job.wall)}"
        )


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def lsf(count: int) -> Iterator[str]:
    """An lsb.acct of LSF 10.1, which names a host once for each slot."""
    for job in jobs(count):
        slots = " ".join(f'"k{node:04}"' for node in job.nodes for _ in range(job.each))
        status = job.code << 8 or job.signal
        span = f"span[ptile={job.each}]"
        yield (
            f'"JOB_FINISH" "10.1" {job.end} {job.array} {3000 + job.user} 33816578 '
            f'{job.processors} {job.submit} 0 0 {job.start} "usr{job.user:03}" "{job.queue}" '
            f'"{span}" "" "" "front" "/home/usr{job.user:03}/run" "" "%J.out" "%J.err" '
            f'"{job.submit}.{job.id}" 0 {job.processors} {slots} {32 if status else 64} 60.0 '
            f'"{job.name}" "#!/bin/sh;#BSUB -n {job.processors};#BSUB -R ""{span}"";./{job.name}" '
            f"{job.cpu * 0.95:.6f} {job.cpu * 0.05:.6f} {job.memory} 0 -1 0 0 24110 0 0 0 0 -1 0 0 "
            f'0 9001 5512 -1 "" "proj{job.user % 90:02}" {status} {job.processors} "" "" '
            f'{job.task} {job.memory} {job.swap} "" "" "" "" 0 "" {14 if status else 0} "" -1 '
            f'"/grp{job.user % 50:02}" "" "" "" -1 "" "" 1040 "" {job.start} "" "" 0 0 {job.limit} '
            f'0 {job.memory // 2} "select[type == local] order[r15s:pg] {span} " "" -1 "" -1 0 "" '
            f'0 0 "" {job.wall} "/home/usr{job.user:03}/run" 0 "" 0.000000 0.00 0.00 0.00 0.00 '
            f"{job.processors} {slots} -1 0 0 0 0 0"
        )


def condor(count: int) -> Iterator[str]:
    """What APEL's script prints of HTCondor's history."""
    for job in jobs(count):
        yield (
            f"ce.example#{job.id}.0#{job.submit}|usr{job.user:03}|{job.wall}|{int(job.cpu * 0.95)}|"
            f"{int(job.cpu * 0.05)}|{job.start}|{job.end}|{job.memory}|{job.swap}|{job.processors}|"
        )


WRITERS = {
    "slurm": sacct, "slurm-steps": sacct_steps, "sge": sge, "pbs": pbs, "lsf": lsf,
    "condor": condor,
}  # fmt: skip


def log(name: str, count: int) -> Path:
    """A file with so many jobs."""
    return _logs.made(__file__, WRITERS, name, count)


if __name__ == "__main__":
    _logs.main(__doc__.partition("\n")[0], WRITERS)
