"""Make accounting records in the structured formats: the same jobs as ``_records`` makes.

    python benchmarks/_formats.py condor --count 1000 history.jsonl

Jobs of sacct's JSON have the members that data_parser v0.0.42 prints, on as many lines; ads have
the attributes that sites ask ``condor_history`` for.
"""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import _logs
from _records import Job, jobs

URF = "http://schema.ogf.org/urf/2003/09/urf"
CAR = "http://eu-emi.eu/namespaces/2012/11/computerecord"
EPOCH = 1700000000  # the begin of the workload log


def slurm_json(count: int, steps: bool = False) -> Iterator[str]:
    """What ``sacct --json`` prints of 24.11; with ``steps``, a batch step for each job."""
    yield '{\n  "jobs": ['
    for job in jobs(count):
        comma = "," if job.number < 999 + count else ""
        told = json.dumps(_slurm(job, steps), indent=2, ensure_ascii=False)
        yield "    " + told.replace("\n", "\n    ") + comma
    yield '  ],\n  "meta": {"plugin": {"data_parser": "data_parser/v0.0.42"}},\n  "errors": []\n}'


def slurm_json_steps(count: int) -> Iterator[str]:
    """The same with a step for each job."""
    return slurm_json(count, steps=True)


def _slurm(job: Job, steps: bool) -> dict[str, Any]:
    first, last = job.hosts[0], job.hosts[-1]
    nodes = first if first == last else f"n[{first[1:]}-{last[1:]}]"
    tres = _tres(cpu=job.processors, mem=job.processors * 2048, node=len(job.hosts), billing=1)
    spent = {"seconds": job.cpu, "microseconds": 0}
    code = {"status": ["SUCCESS"], "return_code": _set(job.code), "signal": _signal()}
    return {
        "account": job.project, "comment": {"administrator": "", "job": "", "system": ""},
        "allocation_nodes": len(job.hosts),
        "array": {"job_id": 0, "limits": {"max": {"running": {"tasks": 0}}}, "task_id": _unset(),
                  "task": ""},
        "association": {"account": job.project, "cluster": "colony", "partition": "",
                        "user": job.user, "id": 6},
        "block": "", "cluster": "colony", "constraints": "", "container": "",
        "derived_exit_code": code,
        "time": {"elapsed": job.wall, "eligible": job.submit, "end": job.end, "planned": _set(2),
                 "start": job.start, "submission": job.submit, "suspended": 0, "system": spent,
                 "limit": _set(job.limit // 60), "total": spent, "user": spent},
        "exit_code": code, "extra": "", "failed_node": "", "flags": ["STARTED_ON_BACKFILL"],
        "group": job.project, "het": {"job_id": 0, "job_offset": _unset()}, "job_id": job.number,
        "name": job.name, "licenses": "", "mcs": {"label": ""}, "nodes": nodes,
        "partition": job.queue, "hold": False, "priority": _set(1), "qos": "normal", "qosreq": "",
        "required": {"CPUs": job.processors, "memory_per_cpu": _set(2048),
                     "memory_per_node": _unset()},
        "kill_request_user": "", "restart_cnt": 0, "reservation": {"id": 0, "name": ""},
        "script": "", "stdin_expanded": "/dev/null", "stdout_expanded": "", "stderr_expanded": "",
        "stdout": "", "stderr": "", "stdin": "/dev/null",
        "state": {"current": [job.state.split()[0]], "reason": "None"},
        "steps": [_step(job, nodes)] if steps else [],
        "submit_line": "sbatch job.sh", "tres": {"allocated": tres, "requested": tres},
        "used_gres": "", "user": job.user, "wckey": {"wckey": "", "flags": []},
        "working_directory": f"/home/{job.user}/run",
    }  # fmt: skip


def _step(job: Job, nodes: str) -> dict[str, Any]:
    used = _tres(cpu=job.cpu * 1000, mem=job.memory << 10, vmem=job.memory << 11, energy=0, pages=0)
    spent = {"seconds": job.cpu, "microseconds": 0}
    written = _tres(energy=0, disk=3827)
    return {
        "time": {"elapsed": job.wall, "end": _set(job.end), "start": _set(job.start),
                 "suspended": 0, "system": spent, "total": spent, "user": spent},
        "exit_code": {"status": ["SUCCESS"], "return_code": _set(job.code), "signal": _signal()},
        "nodes": {"count": len(job.hosts), "range": nodes, "list": list(job.hosts)},
        "tasks": {"count": 1}, "pid": "", "kill_request_user": "", "state": ["COMPLETED"],
        "statistics": {"CPU": {"actual_frequency": 0}, "energy": {"consumed": _set(0)}},
        "step": {"id": f"{job.number}.batch", "name": "batch"},
        "task": {"distribution": "Unknown"},
        "tres": {
            "requested": dict.fromkeys(("max", "min", "average", "total"), used),
            "consumed": dict.fromkeys(("max", "min", "average", "total"), written),
            "allocated": _tres(cpu=job.processors, mem=job.processors * 2048),
        },
    }  # fmt: skip


def _tres(**counts: int) -> list[dict[str, Any]]:
    return [
        {"type": name, "name": "", "id": place, "count": count}
        for place, (name, count) in enumerate(counts.items(), 1)
    ]


def _set(number: int) -> dict[str, Any]:
    return {"set": True, "infinite": False, "number": number}


def _unset() -> dict[str, Any]:
    return {"set": False, "infinite": False, "number": 0}


def _signal() -> dict[str, Any]:
    return {"id": _unset(), "name": ""}


def condor(count: int) -> Iterator[str]:
    """What ``condor_history -jsonl -attributes ...`` prints."""
    return (json.dumps(_ad(job), ensure_ascii=False) for job in jobs(count))


def condor_long(count: int) -> Iterator[str]:
    """The same as it stands in a history file."""
    for job in jobs(count):
        for name, value in _ad(job).items():
            yield f"{name} = {json.dumps(value, ensure_ascii=False)}"
        yield f"*** Offset = 0 ClusterId = {job.number} ProcId = 0 CompletionDate = {job.end}"


def _ad(job: Job) -> dict[str, Any]:
    return {
        "AcctGroup": job.project, "ClusterId": job.number, "CommittedTime": job.wall,
        "CompletionDate": job.end, "CpusProvisioned": job.processors,
        "CumulativeRemoteSysCpu": 0.0, "CumulativeRemoteUserCpu": float(job.cpu),
        "CumulativeSuspensionTime": 0, "DiskUsage_RAW": 24, "EnteredCurrentStatus": job.end,
        "ExitBySignal": False, "ExitCode": job.code,
        "GlobalJobId": f"schedd.example.org#{job.number}.0#{job.submit}",
        "ImageSize_RAW": job.memory * 2, "JobBatchName": job.name,
        "JobCurrentStartDate": job.start, "JobStartDate": job.start, "JobStatus": 4,
        "LastRemoteHost": f"slot1_1@{job.hosts[0]}", "MemoryProvisioned": job.processors * 2048,
        "NumJobStarts": 1, "NumShadowStarts": 1, "Owner": job.user, "ProcId": 0,
        "QDate": job.submit, "RemoteSysCpu": 0.0, "RemoteUserCpu": float(job.cpu),
        "RemoteWallClockTime": float(job.wall), "RequestCpus": job.processors,
        "RequestMemory": job.processors * 2048, "ResidentSetSize_RAW": job.memory,
    }  # fmt: skip


def apel(count: int) -> Iterator[str]:
    """APEL's messages about individual jobs."""
    yield "APEL-individual-job-message: v0.3"
    for job in jobs(count):
        yield (
            f"Site: EXAMPLE\nSubmitHost: ce.example.org\nMachineName: colony\nQueue: {job.queue}\n"
            f"LocalJobId: {job.number}\nLocalUserId: {job.user}\nVO: {job.project}\n"
            f"WallDuration: {job.wall}\nCpuDuration: {job.cpu}\nProcessors: {job.processors}\n"
            f"NodeCount: {len(job.hosts)}\nStartTime: {job.start}\nEndTime: {job.end}\n"
            f"MemoryReal: {job.memory}\nMemoryVirtual: {job.memory * 2}\n%%"
        )


def ur(count: int) -> Iterator[str]:
    """OGF usage records."""
    yield f'<UsageRecords xmlns="{URF}" xmlns:urf="{URF}">'
    for job in jobs(count):
        yield (
            f'<JobUsageRecord><RecordIdentity urf:recordId="colony/{job.number}"/><JobIdentity>'
            f"<LocalJobId>{job.number}</LocalJobId></JobIdentity><UserIdentity><LocalUserId>"
            f"{job.user}</LocalUserId></UserIdentity><JobName>{escape(job.name)}</JobName>"
            "<Status>completed</Status>"
            f'<Memory urf:metric="max" urf:storageUnit="KB">{job.memory}</Memory>'
            f"<WallDuration>PT{job.wall}S</WallDuration><CpuDuration>PT{job.cpu}S</CpuDuration>"
            f"<NodeCount>{len(job.hosts)}</NodeCount><Processors>{job.processors}</Processors>"
            f"<EndTime>{_iso(job.end)}</EndTime><StartTime>{_iso(job.start)}</StartTime>"
            f"<MachineName>colony</MachineName><Queue>{job.queue}</Queue>"
            f"<ProjectName>{job.project}</ProjectName>"
            f"{''.join(f'<Host>{host}</Host>' for host in job.hosts)}</JobUsageRecord>"
        )
    yield "</UsageRecords>"


def car(count: int) -> Iterator[str]:
    """EMI's compute accounting records."""
    yield f'<c:UsageRecords xmlns:c="{CAR}">'
    for job in jobs(count):
        yield (
            f'<c:UsageRecord><c:RecordIdentity c:recordId="{job.number}"/><c:JobIdentity>'
            f"<c:LocalJobId>{job.number}</c:LocalJobId></c:JobIdentity><c:UserIdentity>"
            f"<c:LocalUserId>{job.user}</c:LocalUserId><c:Group>{job.project}</c:Group>"
            f"</c:UserIdentity><c:JobName>{escape(job.name)}</c:JobName>"
            f"<c:Status>completed</c:Status><c:ExitStatus>{job.code}</c:ExitStatus>"
            f"<c:WallDuration>PT{job.wall}S</c:WallDuration>"
            f'<c:CpuDuration c:usageType="all">PT{job.cpu}S</c:CpuDuration>'
            f"<c:StartTime>{_iso(job.start)}</c:StartTime><c:EndTime>{_iso(job.end)}</c:EndTime>"
            f"<c:MachineName>colony</c:MachineName><c:Queue>{job.queue}</c:Queue>"
            f'<c:Memory c:type="Physical" c:metric="max" c:storageUnit="KB">{job.memory}</c:Memory>'
            f"<c:NodeCount>{len(job.hosts)}</c:NodeCount>"
            f"<c:Processors>{job.processors}</c:Processors></c:UsageRecord>"
        )
    yield "</c:UsageRecords>"


def swf(count: int) -> Iterator[str]:
    """A workload log, which knows users and queues by numbers."""
    yield f"; Version: 2.2\n; UnixStartTime: {EPOCH}"
    for job in jobs(count):
        share = job.cpu / job.processors
        yield (
            f"{job.number} {job.submit - EPOCH} {job.start - job.submit} {job.wall} "
            f"{job.processors} {share:.6f} {job.memory / job.processors:.6f} {job.processors} "
            f"{job.limit} -1 {int(not job.code)} {job.user[4:]} 1 -1 1 -1 -1 -1"
        )


def _iso(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


WRITERS: dict[str, Callable[[int], Iterator[str]]] = {
    "slurm-json": slurm_json, "slurm-json-steps": slurm_json_steps, "condor": condor,
    "condor-long": condor_long, "apel": apel, "ur": ur, "car": car, "swf": swf,
}  # fmt: skip


def log(name: str, count: int) -> Path:
    """A file with so many jobs."""
    return _logs.made(__file__, WRITERS, name, count)


if __name__ == "__main__":
    _logs.main(__doc__.partition("\n")[0], WRITERS)
