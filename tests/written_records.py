"""The same jobs in the text of every format, written by hand for what tests ask of each."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

START = 1_700_000_000


@dataclass(frozen=True)
class Ran:
    """A job that ran: on so many hosts, with as many slots on each, and GPUs for each slot."""

    number: int
    hosts: int
    slots: int
    gpus: int
    wall: int
    cpu: int
    memory: int

    @property
    def end(self):
        return START + self.wall

    @property
    def names(self):
        return [f"n{place}" for place in range(1, self.hosts + 1)]

    @property
    def of_host(self):
        return self.gpus * self.slots

    @property
    def processors(self):
        return self.hosts * self.slots

    @property
    def all_gpus(self):
        return self.gpus * self.processors


def clock(seconds):
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def slurm(jobs):
    yield (
        "JobID|User|State|Submit|Start|End|ElapsedRaw|NCPUS|NNodes|NodeList|TotalCPU|MaxRSS"
        "|AllocTRES"
    )
    for job in jobs:
        # The first GPU has a type, the others have none; the count without a type is that of all.
        gpus = f",gres/gpu:a100=1,gres/gpu={job.all_gpus}" if job.gpus else ""
        yield (
            f"{job.number}|amy|COMPLETED|{START}|{START}|{job.end}|{job.wall}|{job.processors}"
            f"|{job.hosts}|{','.join(job.names)}|{clock(job.cpu)}|{job.memory}K"
            f"|cpu={job.processors},node={job.hosts}{gpus}"
        )


def slurm_json(jobs):
    def tres(**counts):
        return [{"type": name, "name": "", "count": count} for name, count in counts.items()]

    def told(job):
        gpus = [{"type": "gres", "name": "gpu", "count": job.all_gpus}] if job.gpus else []
        spent = {"seconds": job.cpu, "microseconds": 0}
        used_ = tres(mem=job.memory << 10)
        times = {"elapsed": job.wall, "start": START, "end": job.end, "submission": START}
        return {
            "job_id": job.number, "user": "amy", "state": {"current": ["COMPLETED"]},
            "nodes": ",".join(job.names), "allocation_nodes": job.hosts,
            "time": {**times, "total": spent},
            "tres": {"allocated": tres(cpu=job.processors, node=job.hosts) + gpus},
            "steps": [{
                "step": {"id": f"{job.number}.batch"}, "state": ["COMPLETED"],
                "time": {**times, "total": spent},
                "tres": {"requested": {"max": used_, "average": used_, "total": used_}},
            }],
        }  # fmt: skip

    yield json.dumps({"jobs": [told(job) for job in jobs], "errors": []}, indent=1)


def jobcomp(jobs):
    for job in jobs:
        gpus = f",gres/gpu={job.all_gpus}" if job.gpus else ""
        yield (
            f"JobId={job.number} UserId=amy(1) GroupId=g(1) Name=a JobState=COMPLETED Partition=p "
            f"TimeLimit=1 StartTime={START} EndTime={job.end} NodeList={','.join(job.names)} "
            f"NodeCnt={job.hosts} ProcCnt={job.processors} WorkDir=/ ReservationName= "
            f"Tres=cpu={job.processors},node={job.hosts}{gpus} Account=a QOS=q WcKey= Cluster=c "
            f"SubmitTime={START} EligibleTime={START} DerivedExitCode=0:0 ExitCode=0:0 "
        )


def _pbs(job, asked, given):
    return (
        f"11/20/2026 14:29:34;E;{job.number}.srv;user=amy queue=q ctime={START} start={START} "
        f"{given} {asked} end={job.end} Exit_status=0 resources_used.cput={clock(job.cpu)} "
        f"resources_used.mem={job.memory}kb resources_used.walltime={clock(job.wall)}"
    )


def torque(jobs):
    for job in jobs:
        gpus = f":gpus={job.of_host}:shared" if job.gpus else ""
        slots = f"0-{job.slots - 1}" if job.slots > 1 else "0"
        hosts = "+".join(f"{name}/{slots}" for name in job.names)
        yield _pbs(job, f"Resource_List.nodes={job.hosts}:ppn={job.slots}{gpus}:ib",
                   f"exec_host={hosts}")  # fmt: skip


def openpbs(jobs):
    for job in jobs:
        gpus = f":ngpus={job.of_host}" if job.gpus else ""
        vnodes = "+".join(f"({name}:ncpus={job.slots}{gpus})" for name in job.names)
        hosts = "+".join(f"{name}/0*{job.slots}" for name in job.names)
        yield _pbs(job, f"Resource_List.ncpus={job.processors} Resource_List.nodect={job.hosts} "
                        f"Resource_List.select={job.hosts}:ncpus={job.slots}{gpus}",
                   f"exec_host={hosts} exec_vnode={vnodes}")  # fmt: skip


def gridengine(jobs):
    for job in jobs:
        wanted = [f"gpu={job.gpus}"] if job.gpus else []
        category = f"-l {','.join(['h_rt=60', *wanted])} -pe mpi {job.processors}"
        rows = [(name, f"{place}.{name}") for place, name in enumerate(job.names, 1)]
        for name, task in (*rows, (job.names[0], "NONE")):
            cpu = job.cpu if task == "NONE" else 0
            yield (
                f"q:{name}:g:amy:a:{job.number}:sge:0:{START}:{START}:{job.end}:0:0:{job.wall}:0:0:"
                f"{job.memory}{':0' * 14}:NONE:d:mpi:{job.processors}:0:{cpu}.0:0.0:0.0:"
                f"{category}:0.0:{task}:0.0:0:0"
            )


def lsf(jobs):
    for job in jobs:
        hosts = " ".join(f'"{job.slots}*{name}"' for name in job.names)
        gpus = f" rusage[ngpus_physical={job.of_host}.00]" if job.gpus else ""
        yield (
            f'"JOB_FINISH" "10.1" {job.end} {job.number} 1 0 {job.processors} {START} 0 0 {START} '
            f'"amy" "q" "" "" "" "h" "/" "" "" "" "f" 0 {job.hosts} {hosts} 64 60.0 "a" "run" '
            f'{job.cpu} 0.0 {"-1 " * 17}"" "p" 0 {job.processors} "" "" 0 {job.memory} 0 "" "" "" '
            f'"" 0 "" 0 "" -1 "" "" "" "" -1 "" "" 0 "" 0 "" "" 0 0 -1 0 0 "select[any]{gpus}" "" '
            f'-1 "" -1 0 "" 0 0 "" {job.wall} "/" 0 ""'
        )


def condor(jobs):
    for job in jobs:
        yield json.dumps({
            "ClusterId": job.number, "ProcId": 0, "JobStatus": 4, "JobUniverse": 11,
            "MaxHosts": job.hosts, "Owner": "amy", "QDate": START, "JobCurrentStartDate": START,
            "CompletionDate": job.end, "RemoteWallClockTime": float(job.wall),
            "CumulativeRemoteUserCpu": float(job.cpu), "CumulativeRemoteSysCpu": 0.0,
            "CpusProvisioned": job.slots, "ResidentSetSize_RAW": job.memory,
            **({"RequestGPUs": job.of_host, "GPUsProvisioned": job.of_host} if job.gpus else {}),
        })  # fmt: skip


def usage_records(jobs):
    def iso(seconds):
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    yield '<UsageRecords xmlns="http://schema.ogf.org/urf/2003/09/urf" xmlns:u="http://schema.ogf.org/urf/2003/09/urf">'
    for job in jobs:
        gpus = f'<ConsumableResource u:description="GPU">{job.all_gpus}</ConsumableResource>'
        yield (
            f'<JobUsageRecord><RecordIdentity u:recordId="r{job.number}"/><JobIdentity><LocalJobId>'
            f"{job.number}</LocalJobId></JobIdentity><UserIdentity><LocalUserId>amy</LocalUserId>"
            f"</UserIdentity><Status>completed</Status>"
            f'<Memory u:metric="max" u:storageUnit="KB">{job.memory}</Memory>'
            f"<WallDuration>PT{job.wall}S</WallDuration><CpuDuration>PT{job.cpu}S</CpuDuration>"
            f"<NodeCount>{job.hosts}</NodeCount><Processors>{job.processors}</Processors>"
            f"<EndTime>{iso(job.end)}</EndTime><StartTime>{iso(START)}</StartTime>"
            f"{gpus if job.gpus else ''}</JobUsageRecord>"
        )
    yield "</UsageRecords>"


# fmt: off
# The format, what writes its text, and what it does not tell.
FORMATS = {
    "slurm":         ("slurm",         slurm,         ()),
    "slurm-json":    ("slurm-json",    slurm_json,    ()),
    "slurm-jobcomp": ("slurm-jobcomp", jobcomp,       ("cpu", "memory")),
    "torque":        ("pbs",           torque,        ()),
    "openpbs":       ("pbs",           openpbs,       ()),
    "sge":           ("sge",           gridengine,    ()),
    "lsf":           ("lsf",           lsf,           ()),
    "condor":        ("condor",        condor,        ("nodes",)),
    "ur":            ("ur",            usage_records, ()),
}
# fmt: on

# A record of other formats, and the job that it tells of.
JOB = Ran(number=71, hosts=1, slots=4, gpus=1, wall=600, cpu=1200, memory=2048)

# fmt: off
APEL = f"""APEL-individual-job-message: v0.3
Site: S
LocalJobId: 71
LocalUserId: amy
WallDuration: 600
CpuDuration: 1200
Processors: 4
NodeCount: 1
StartTime: {START}
EndTime: {JOB.end}
MemoryReal: 2048
MemoryVirtual: 4096
ServiceLevelType: HEPSPEC
ServiceLevel: 10
%%
"""
SWF = f"; UnixStartTime: {START}\n71 0 50 600 4 300 2048 4 3600 512 1 5 3 7 1 1 9 60\n"
FLUX = {
    "id": 71, "username": "amy", "urgency": 16, "priority": 16, "t_submit": 1700000000.0,
    "t_run": 1700000000.0, "t_cleanup": 1700000600.0, "t_inactive": 1700000600.0,
    "state": "INACTIVE", "name": "a", "cwd": "/", "queue": "q", "bank": "b", "ntasks": 4,
    "ncores": 4, "duration": 3600.0, "nnodes": 1, "nodelist": "n1", "result": "COMPLETED",
}  # without a returncode: one below 0 is a signal
# fmt: on


def written(name):
    """The record of the same job in a format of ``FORMATS``."""
    return "".join(f"{line}\n" for line in FORMATS[name][1]([JOB]))
