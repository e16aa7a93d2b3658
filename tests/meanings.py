"""What a limit, a size or a time means to a batch system, and every road on which it is read.

A road takes a text to seconds or bytes; None where it gives neither: no limit, no value, or no such
text at all. ``SUBJECTS`` has for each system what is asked, the roads, and what each text means;
texts of ``TEXTS`` that are not told mean nothing there.
"""

import io
import re
import tomllib
from fractions import Fraction
from importlib import import_module
from typing import NamedTuple

from records import DATA, converted

from sssjob import registry, systems, units
from sssjob.classads import forms
from sssjob.classads.values import Ad
from sssjob.lcginfo.reader import ReaderOptions, snapshot
from sssjob.model import Delivered, Job, Property
from sssjob.records.builders import OBJECTS
from sssjob.records.record import Converted
from sssjob.records.record import Options as RecordOptions
from sssjob.systems.condor import slot
from sssjob.systems.gridengine import allocation as gridengine
from sssjob.systems.lsf import allocation as lsf
from sssjob.systems.pbs import allocation as pbs
from sssjob.systems.slurm import allocation as slurm
from sssjob.translate import read
from sssjob.verbs import status

START = "1795185000"  # seconds since 1970, and the same in UTC
_LOCAL = "2026-11-20T14:30:00"
M, G, T = (1 << 10 * power for power in range(2, 5))
HOUR, DAY = 3600, 86400
_BEYOND = (2**31 + 10) * M

# What systems, their versions and their users write where a limit or a size stands.
TEXTS = (
    "", "0", "00:00:00", "1T", "1t", "1.5G", "1024k", "90", "1:30", "01:00:00", "1-00:00:00",
    "2-1", "unlimited", "UNLIMITED", "INFINITE", "INFINITY", "infinity", "-1", "4294967294",
    "4294967295", "18446744073709551615", "INVALID", "Unknown", "None", "NONE", "N/A", "NOT_SET",
    "(null)", "Partition_Limit", "soon",
)  # fmt: skip


class Subject(NamedTuple):
    """A limit, a size or a time of a system: its roads, and what texts mean there."""

    roads: dict
    means: dict
    more: tuple = ()  # texts that are asked beside ``TEXTS``


def amount(job, name, *, limit="LE"):
    """The request of a job in seconds or bytes; ``limit`` is the op of a limit of time."""
    found = job.requested.all(name) if job.requested else ()
    if not found:
        return None
    assert found[0].attributes.get("op") == (limit if name == "Duration" else None), found
    unit = found[0].attributes.get("units", "")
    return Fraction(found[0].text) * (units.UNITS[unit] if unit else 1)


def _only(jobs, name):
    return amount(jobs[0], name) if jobs else None


def recorded_job(format_name, template):
    """The jobs of accounting records."""
    return lambda text: converted(format_name, _filled(template, text))


def recorded(format_name, template, name="Duration"):
    """In an accounting record."""
    read_jobs = recorded_job(format_name, template)
    return lambda text: _only(read_jobs(text), name)


def shown_job(format_name, template):
    """The jobs of what the system shows."""

    def road(text):
        stream = io.BytesIO(_filled(template, text))
        rows = status.formats(format_name)
        found = status.outcomes(stream, rows, RecordOptions(), OBJECTS)
        return [each.job for each in found if isinstance(each, Converted)]

    return road


def shown(format_name, template, name="Duration"):
    """In what the system shows of a live job."""
    read_jobs = shown_job(format_name, template)
    return lambda text: _only(read_jobs(text), name)


def limited(text):
    """In what a slot of HTCondor tells a payload."""
    (ad,) = forms.read(io.BytesIO(_filled(_AD, text)))
    told = slot.job_features(ad, Ad({"Cpus": 1})).get("wall_limit_secs")
    return None if told is None else int(told)


def began(read_jobs):
    """When a job started, in seconds since 1970."""

    def road(text):
        told = [job.get("StartTime") for job in read_jobs(text)]
        return int(told[0]) if told and told[0] else None

    return road


def given(allocation, key):
    """In what a prolog is told."""

    def road(text):
        found = allocation(text).amounts.get(key)
        return found and found.value

    return road


def queued(system, template):
    """In the state of a queue."""

    def road(text):
        jobs = snapshot(system, [_filled(template, text)], ReaderOptions(queue="q")).jobs
        return None if not jobs or jobs[0].maxwalltime is None else Fraction(jobs[0].maxwalltime)

    return road


def asked(target, template, name="Duration"):
    """In an option of who submits."""

    def road(text):
        (found,) = read(_filled(template, text), target)
        return found.job and amount(found.job, name, limit=None)  # decision 492

    return road


def _filled(template, text):
    return template.replace("@", text).encode()


def _file(name):
    return (DATA / name).read_text()


_TOLD = tomllib.loads(_file("formats.toml"))


def _limited_by(format_name):
    """The record with a limit that a table has; one that has none is told by test_registry.py."""
    return _TOLD.get(format_name, {}).get("limit", "")


_SCONTROL = _file("batch/scontrol-one-node.txt")
_LIMIT = re.sub(r"\bTimeLimit=\S+", "TimeLimit=@", _SCONTROL)
_MEMORY = re.sub(r"\bMinMemoryCPU=\S+", "MinMemoryNode=@", _SCONTROL)
_JOBCOMP = _limited_by("slurm-jobcomp").replace("TimeLimit=10 ", "TimeLimit=@ ")
_IN_SLURM = {"SLURM_JOB_ID": "3", "SLURM_JOB_NUM_NODES": "1", "SLURMD_NODENAME": "n1"}
_REST = _file("translate/slurmrest.json").replace('"name"', '"time_limit": @, "name"', 1)
_SET = '{"set": true, "infinite": false, "number": @}'
_SQUEUE = '{"jobs": [{"job_id": 7, "group_name": "g", "partition": "q", "job_state": "RUNNING", "time_limit": @}]}'  # noqa: E501
_PBS = _limited_by("pbs").replace("Resource_List.walltime=01:00:00", "Resource_List.{}=@")
_QSTAT = "Job Id: 7.s\n    job_state = R\n    queue = q\n    exec_host = n1/0\n    Resource_List.{} = @\n"  # noqa: E501
_QSTAT_JSON = '{{"timestamp": 1, "pbs_version": "23", "Jobs": {{"7.s": {{"job_state": "R", "queue": "q", "Resource_List": {{"{}": "@"}}}}}}}}'  # noqa: E501
_QSTAT_XML = "<Data><Job><Job_Id>7.s</Job_Id><job_state>R</job_state><queue>q</queue><Resource_List><{0}>@</{0}></Resource_List></Job></Data>"  # noqa: E501
_SGE = _limited_by("sge").replace("-l h_rt=3600", "-l {}=@")
_LIST = (
    "<job_info><queue_info><Queue-List><name>main.q@n1</name><job_list state='running'>"
    "<JB_job_number>7</JB_job_number><JB_name>n</JB_name><JB_owner>amy</JB_owner><state>r</state>"
    "<JAT_start_time>2026-11-20T14:00:00</JAT_start_time><slots>1</slots>"
    "<hard_request name='{}' resource_contribution='0.0'>@</hard_request>"
    "</job_list></Queue-List></queue_info></job_info>"
)
_DETAIL = _file("batch/sge-qstat-j.xml").replace(
    "<CE_stringval>3600</CE_stringval>", "<CE_stringval>@</CE_stringval>"
)
_CONFIG = "h_rss=@\nh_vmem=INFINITY\n"
_IN_LSF = {"LSB_JOBID": "7", "LSB_MCPU_HOSTS": "n1 4"}
_BJOBS = '{"RECORDS":[{"JOBID":"7","RUNTIMELIMIT":"@","MEMLIMIT":"-"}]}'
_LSF = _limited_by("lsf").replace(" 3600 0 512 ", " @ 0 512 ") + "\n"
_AD = '[{"ClusterId": 7, "ProcId": 0, "Owner": "amy", "JobStatus": 2, "AllowedJobDuration": @}]'
_EXECUTION = _AD.replace("AllowedJob", "AllowedExecute")
_FLUX = _limited_by("flux").replace("3600.0", "@")
_JOBSPEC = _file("translate/flux.json").replace('"duration": 600', '"duration": @')


def _script(directive):
    return f"#!/bin/sh\n{directive}\nexec /bin/date\n"


# fmt: off
SUBJECTS = {
    ("slurm", "limit"): Subject({
        "accounting slurm": recorded("slurm", "JobID|State|Timelimit\n7|COMPLETED|@\n"),
        "accounting slurm, raw": recorded("slurm", "JobID|State|TimelimitRaw\n7|COMPLETED|@\n"),
        "accounting slurm-json": recorded("slurm-json", '{"jobs": [{"job_id": 7, "time": {"limit": "@"}}]}'),  # noqa: E501
        "accounting slurm-jobcomp": recorded("slurm-jobcomp", _JOBCOMP),
        "status squeue-json": shown("squeue-json", _SQUEUE.replace("@", '"@"')),
        "status scontrol": shown("scontrol", _LIMIT),
        "features": given(lambda text: slurm.allocation(_IN_SLURM, _LIMIT.replace("@", text)), "wall_limit_secs"),  # noqa: E501
        "queue": queued("slurm", _LIMIT),
        "queue, JSON": queued("slurm", _SQUEUE.replace("@", '"@"')),
        "translate sbatch": asked("sbatch", _script("#SBATCH --time=@")),
    }, {"90": 90 * 60, "1:30": 90, "01:00:00": HOUR, "1-00:00:00": DAY, "2-1": 2 * DAY + HOUR,
        "00:10.1": 11, "00:00.1": 1}, ("00:10.1", "00:00.1")),
    ("slurm", "limit as a number"): Subject({
        "accounting slurm-json": recorded("slurm-json", f'{{"jobs": [{{"job_id": 7, "time": {{"limit": {_SET}}}}}]}}'),  # noqa: E501
        "accounting, plain": recorded("slurm-json", '{"jobs": [{"job_id": 7, "time": {"limit": @}}]}'),  # noqa: E501
        "status squeue-json": shown("squeue-json", _SQUEUE.replace("@", _SET)),
        "queue": queued("slurm", _SQUEUE),
        "queue, set": queued("slurm", _SQUEUE.replace("@", _SET)),
        "translate slurmrest": asked("slurmrest", _REST),
    }, {"90": 90 * 60}),
    ("slurm", "size"): Subject({
        "status scontrol": shown("scontrol", _MEMORY, "Memory"),
        "translate sbatch": asked("sbatch", _script("#SBATCH --nodes=1\n#SBATCH --mem=@"), "Memory"),  # noqa: E501
    }, {"1T": T, "1t": T, "1.5G": 3 * G // 2, "1024k": M, "90": 90 * M, "2147483658": _BEYOND,
        "2147483658M": _BEYOND}, ("2147483658", "2147483658M")),
    ("slurm", "size of sacct"): Subject({  # whose number may hold the flag of 2^31
        "accounting slurm": recorded("slurm", "JobID|State|ReqMem|ReqNodes|ReqCPUS\n7|COMPLETED|@|1|1\n", "Memory"),  # noqa: E501
    }, {"1T": T, "1t": T, "1.5G": 3 * G // 2, "1024k": M, "90": 90 * M, "2147483658M": 10 * M},
       ("2147483658M",)),
    ("slurm", "start"): Subject({
        "accounting slurm": began(recorded_job("slurm", "JobID|State|Start|End\n7|COMPLETED|@|1795185100\n")),  # noqa: E501
        "accounting slurm-jobcomp": began(recorded_job("slurm-jobcomp", re.sub(r"StartTime=\S+", "StartTime=@", _limited_by("slurm-jobcomp")))),  # noqa: E501
        "status scontrol": began(shown_job("scontrol", re.sub(r"\bStartTime=\S+", "StartTime=@", _SCONTROL))),  # noqa: E501
        "features": given(lambda text: slurm.allocation(_IN_SLURM, re.sub(r"\bStartTime=\S*", f"StartTime={text}", _SCONTROL)), "jobstart_secs"),  # noqa: E501
    }, {START: int(START), "2026-11-20T14:30:00": int(START), "90": 90,
        "4294967294": (1 << 32) - 2, "4294967295": (1 << 32) - 1}, (START, "2026-11-20T14:30:00")),
    ("pbs", "limit"): Subject({
        "accounting pbs": recorded("pbs", _PBS.format("walltime")),
        "status qstat-json": shown("qstat-json", _QSTAT_JSON.format("walltime")),
        "status qstat-xml": shown("qstat-xml", _QSTAT_XML.format("walltime")),
        "status qstat-text": shown("qstat-text", _QSTAT.format("walltime")),
        "features": given(lambda text: pbs.allocation(["7.s"], _QSTAT.format("walltime").replace("@", text), "n1"), "wall_limit_secs"),  # noqa: E501
        "features, arguments": given(lambda text: pbs.allocation(["7.s", "amy", "g", "n", f"walltime={text}"], "", "n1"), "wall_limit_secs"),  # noqa: E501
        "queue": queued("pbs", _QSTAT.format("walltime")),
        "translate pbs": asked("pbs", _script("#PBS -l walltime=@")),
        "translate torque": asked("torque", _script("#PBS -l nodes=1\n#PBS -l walltime=@")),
    }, {"0": 0, "00:00:00": 0, "90": 90, "1:30": 90, "01:00:00": HOUR, "1:2:3": 3723,
        "0:90:0": 5400, "4294967294": (1 << 32) - 2, "4294967295": (1 << 32) - 1,
        "10.1": 11, "10.5": 11, "0:10.9": 11, "0.1": 1},
       ("1:2:3", "0:90:0", "1:0:1000", "1:0:100", "10.1", "10.5", "0:10.9", "0.1")),
    ("pbs", "size"): Subject({
        "accounting pbs": recorded("pbs", _PBS.format("mem"), "Memory"),
        "status qstat-json": shown("qstat-json", _QSTAT_JSON.format("mem"), "Memory"),
        "status qstat-xml": shown("qstat-xml", _QSTAT_XML.format("mem"), "Memory"),
        "status qstat-text": shown("qstat-text", _QSTAT.format("mem"), "Memory"),
        "features": given(lambda text: pbs.allocation(["7.s"], _QSTAT.format("mem").replace("@", text), "n1"), "max_rss_bytes"),  # noqa: E501
        "translate pbs": asked("pbs", _script("#PBS -l select=1:mem=@"), "Memory"),
        "translate torque": asked("torque", _script("#PBS -l nodes=1\n#PBS -l mem=@"), "Memory"),
    }, {"0": 0, "90": 90, "1T": T, "1t": T, "1.5G": 3 * G // 2, "1024k": M,
        "4294967294": (1 << 32) - 2, "4294967295": (1 << 32) - 1}),
    ("gridengine", "limit"): Subject({
        "accounting sge": recorded("sge", _SGE.format("h_rt")),
        "status sge-xml": shown("sge-xml", _LIST.format("h_rt")),
        "status, details": shown("sge-xml", _DETAIL),
        "features": given(lambda text: gridengine.allocation({"JOB_ID": "31"}, "x=1", _DETAIL.replace("@", text)), "wall_limit_secs"),  # noqa: E501
        "features, queue": given(lambda text: gridengine.allocation({"JOB_ID": "31"}, "x=1", "", f"qname main.q\nh_rt {text}\n"), "wall_limit_secs"),  # noqa: E501
        "queue": queued("gridengine", _LIST.format("h_rt")),
        "translate sge": asked("sge", _script("#$ -l h_rt=@")),
    }, {"0": 0, "00:00:00": 0, "90": 90, "01:00:00": HOUR, "10.1": 11, "10.5": 11, "0.1": 1,
        "4294967294": (1 << 32) - 2, "4294967295": (1 << 32) - 1}, ("10.1", "10.5", "0.1")),
    ("gridengine", "size"): Subject({
        "accounting sge": recorded("sge", _SGE.format("mem_free"), "Memory"),
        "accounting, swap": recorded("sge", _SGE.format("h_vmem"), "Swap"),
        "status sge-xml": shown("sge-xml", _LIST.format("h_vmem"), "Swap"),
        "features": given(lambda text: gridengine.allocation({"JOB_ID": "31"}, _CONFIG.replace("@", text)), "max_rss_bytes"),  # noqa: E501
        "translate sge": asked("sge", _script("#$ -l h_vmem=@"), "Memory"),
        "translate, swap": asked("sge", _script("#$ -l swap_free=@"), "Swap"),
    }, {"0": 0, "90": 90, "1T": T, "1t": 10**12, "1.5G": 3 * G // 2, "1024k": 1024 * 1000,
        "4294967294": (1 << 32) - 2, "4294967295": (1 << 32) - 1}),
    ("lsf", "limit"): Subject({
        "accounting lsf": recorded("lsf", _LSF),  # seconds
    }, {"90": 90, "4294967294": (1 << 32) - 2, "4294967295": (1 << 32) - 1}),
    ("lsf", "limit of bsub"): Subject({
        "translate lsf": asked("lsf", _script("#BSUB -W @")),  # minutes
    }, {"0": 0, "90": 90 * 60, "1:30": 90 * 60}),
    ("lsf", "limit of bjobs"): Subject({
        "features": given(lambda text: lsf.allocation(_IN_LSF, _BJOBS.replace("@", text), "n1"), "wall_limit_secs"),  # noqa: E501
    }, {"90": 90 * 60, "10.1": 606, "60.0": HOUR, "60.0/n1": HOUR, "0.5": 30},  # minutes
       ("10.1", "60.0", "60.0/n1", "0.5")),
    ("lsf", "size of bjobs"): Subject({
        "features": given(lambda text: lsf.allocation(_IN_LSF, _BJOBS.replace('"-"', f'"{text}"'), "n1"), "max_rss_bytes"),  # noqa: E501
    }, {"1T": T, "1t": T, "1 T": T, "1.5G": 3 * G // 2, "1024k": M, "1024 Kbytes": M},
       ("1 T", "1024 Kbytes")),
    ("lsf", "size"): Subject({
        "translate lsf": asked("lsf", _script('#BSUB -R "rusage[mem=@]"'), "Memory"),
    }, {"0": 0, "90": 90 * M, "1T": T, "1t": T, "1024k": M, "4294967294": ((1 << 32) - 2) * M,
        "4294967295": ((1 << 32) - 1) * M}),
    ("swf", "limit"): Subject({
        "accounting swf": recorded("swf", "1 0 10 100 4 25.5 1000 4 @ 2000 1 3 2 7 1 2 -1 -1\n"),
    }, {"0": 0, "90": 90, "10.1": 11, "10.5": 11, "0.1": 1, "4294967294": (1 << 32) - 2,
        "4294967295": (1 << 32) - 1}, ("10.1", "10.5", "0.1")),
    ("condor", "limit"): Subject({
        "accounting condor": recorded("condor", _AD),
        "accounting, execution": recorded("condor", _EXECUTION),
        "status condor-q": shown("condor-q", _AD),
        "status, execution": shown("condor-q", _EXECUTION),
        "queue": queued("condor", _AD),
        "queue, execution": queued("condor", _EXECUTION),
        "features": limited,
    }, {"90": 90, "4294967294": (1 << 32) - 2, "4294967295": (1 << 32) - 1}),
    # A number of a submit file may be an expression. # decision 982
    ("condor", "limit of condor_submit"): Subject({
        "translate condor": asked("condor", "executable = /bin/date\nallowed_job_duration = @\nqueue\n"),  # noqa: E501
    }, {"90": 90, "2-1": 1, "4294967294": (1 << 32) - 2, "4294967295": (1 << 32) - 1}),
    ("condor", "size"): Subject({
        "accounting condor": recorded("condor", "ClusterId = 7\nProcId = 0\nJobStatus = 4\nRequestMemory = @\n", "Memory"),  # noqa: E501
        "status condor-q": shown("condor-q", '[{"ClusterId": 7, "ProcId": 0, "JobStatus": 4, "RequestMemory": @}]', "Memory"),  # noqa: E501
    }, {"90": 90 * M, "4294967294": ((1 << 32) - 2) * M,
        "4294967295": ((1 << 32) - 1) * M}),
    ("condor", "size of condor_submit"): Subject({
        "translate condor": asked("condor", "executable = /bin/date\nrequest_memory = @\nqueue\n", "Memory"),  # noqa: E501
    }, {"90": 90 * M, "2-1": M, "1T": T, "1t": T, "1024k": M, "1.5G": 3 * G // 2,
        "4294967294": ((1 << 32) - 2) * M, "4294967295": ((1 << 32) - 1) * M}),
    ("flux", "limit"): Subject({
        "accounting flux": recorded("flux", _FLUX),
        "accounting, text": recorded("flux", _FLUX.replace("@", '"@"')),
        "status flux": shown("flux", _FLUX),
        "translate flux": asked("flux", _JOBSPEC),
    }, {"90": 90, "10.1": 11, "10.5": 11, "0.1": 1, "4294967294": (1 << 32) - 2,
        "4294967295": (1 << 32) - 1}, ("10.1", "10.5", "0.1")),
}


def scripted(target):
    """The job of a script."""

    def road(directive):
        (found,) = read(_script(directive).encode(), target)
        return [found.job]

    return road


_SGE_ROADS = {
    "accounting": recorded_job("sge", _SGE.replace("-l {}=@", "@")),
    "translate": scripted("sge"),
}


def _slots(text):
    """A request of Grid Engine as the category of a record, and as a directive."""
    return {"accounting": (_SGE_ROADS["accounting"], text),
            "translate": (_SGE_ROADS["translate"], f"#$ {text}")}


_PBS_DEPEND = _limited_by("pbs").replace("Resource_List.walltime=01:00:00", "depend=@")


def _torque(asked):
    """The same requests in a record, a listing and a directive."""
    said = dict(each.split("=", 1) for each in asked.split(" "))
    record = " ".join(f"Resource_List.{name}={value}" for name, value in said.items())
    shown = "\n    ".join(f"Resource_List.{name} = {value}" for name, value in said.items())
    listing = f"Job Id: 7.s\n    job_state = Q\n    queue = q\n    {shown}\n\n"
    return {
        "accounting": (recorded_job("pbs", _PBS_DEPEND.replace("depend=@", "@")), record),
        "status": (shown_job("qstat-text", "@"), listing),
        "translate": (scripted("torque"), f"#PBS -l {asked.replace(' ', ',')}"),
    }


_SGE_STATUS = shown_job("sge-xml", "@")


def _sge_requests(**requests):
    """The same hard requests in a category, a directive, and a list of qstat."""
    said = ",".join(f"{name}={value}" for name, value in requests.items())
    listed = "".join(f"<hard_request name='{name}' resource_contribution='0.0'>{value}"
                     "</hard_request>" for name, value in requests.items())
    return {**_slots(f"-l {said}"),
            "status": (_SGE_STATUS, re.sub("<hard_request.*</hard_request>", listed, _LIST))}


def _sge_slots(text):
    """The same slots in a category, a directive, and a list of qstat."""
    environment = f"<requested_pe name='smp'>{text}</requested_pe><hard_request name='{{}}'"
    listed = _LIST.replace("<hard_request name='{}'", environment).format("x").replace("@", "1")
    return {**_slots(f"-pe smp {text}"), "status": (_SGE_STATUS, listed)}


# What asks for GPUs: how many of which type a job has, and what says it on each road.
GPUS = {
    "gpu of each slot": (("8", None), _slots("-l gpu=2 -pe smp 4")),
    "gpus of each slot": (("8", None), _slots("-l gpus=2 -pe smp 4")),
    "ngpus of each slot": (("2", None), _slots("-l ngpus=2")),
    "gpus by two names": (("3", None), _slots("-l gpu=2,gpus=1")),
    "gpus of a type": (("4", "a100"), _slots("-l gpu=2,gpu_type=a100 -pe smp 2")),
    "a pattern is no type": (("2", None), _slots("-l gpu=2,gpu_type=a*")),
    "ngpus of PBS": (("1", None), {
        "accounting": (recorded_job("pbs", _PBS.format("ngpus")), "1"),
        "translate": (scripted("pbs"), "#PBS -l ncpus=4,mem=2gb,ngpus=1"),
        "translate, chunk": (scripted("pbs"), "#PBS -l select=1:ncpus=4:ngpus=1"),
        "translate torque": (scripted("torque"), "#PBS -l ncpus=4,ngpus=1"),
    }),
    "gpus of PBS": (("4", None), {
        "accounting": (recorded_job("pbs", _PBS.format("gpus")), "4"),
        "accounting, nodes": (recorded_job("pbs", _PBS.format("nodes")), "2:ppn=1:gpus=2"),
        "translate": (scripted("pbs"), "#PBS -l gpus=4"),
        "translate, chunk": (scripted("pbs"), "#PBS -l select=2:gpus=2"),
        "translate torque": (scripted("torque"), "#PBS -l nodes=2:ppn=1:gpus=2"),
    }),
}
# What asks for memory of each slot of Grid Engine: how much the job has of it, in bytes.
MEMORY_OF_SLOTS = {
    "h_vmem": (8 * G, "-l h_vmem=2G -pe smp 4", "Swap", "Memory"),
    "h_vmem of the least number": (8 * G, "-pe smp 4-8 -l h_vmem=2G", "Swap", "Memory"),
    "h_vmem of one slot": (2 * G, "-l h_vmem=2G", "Swap", "Memory"),
    "mem_free": (8 * G, "-l mem_free=2G -pe smp 4", "Memory", ""),  # a script keeps its text
}


def of_slots(text, recorded_as, asked_as):
    """The memory of a job of Grid Engine on each road that reads it, in bytes."""
    found = _slots(text)
    listed = _LIST.replace("<slots>1</slots>", "<slots>4</slots>")
    requests = dict(item.split("=") for item in re.findall(r"-l (\S+)", text))
    ((name, size),) = requests.items()
    listed = listed.format(name).replace("@", size)
    if parallel := re.search(r"-pe (\S+) (\S+)", text):
        environment = f"<requested_pe name='{parallel[1]}'>{parallel[2]}</requested_pe>"
        listed = listed.replace("<hard_request", f"{environment}<hard_request")
    yield "status", shown_job("sge-xml", "@")(listed), recorded_as
    for road, (read_jobs, said) in found.items():
        if name_of := {"accounting": recorded_as, "translate": asked_as}[road]:
            yield road, read_jobs(said), name_of


_SQUEUED = '{"jobs": [{"job_id": 7, "group_name": "g", "partition": "q", "job_state": "PENDING", @}]}'  # noqa: E501
_ENDED = "JobID|State|@\n7|COMPLETED|"


def _rest(members):
    """The job of a request to slurmrestd."""
    (found,) = read(_REST.replace("@", "5").replace('"name"', f'{members}, "name"', 1).encode(), "slurmrest")  # noqa: E501
    return [found.job]


def _one_kept(members):
    """The same job without what a request to slurmrestd has beside the members."""
    (job,) = _rest(members)
    kept = [item for item in job.items if getattr(item, "attributes", {}).get("type") == "nodes"]
    return [Job(tuple(kept))]


def _sacct(column):
    return lambda text: recorded_job("slurm", _ENDED.replace("@", column) + "@\n")(text)


def _changed(text, **values):
    """A listing or a record with other values of some keys."""
    for key, value in values.items():
        text, count = re.subn(rf"(\b{key}=)\S*", rf"\g<1>{value}", text)
        assert count, key
    return text


def _lsf(before, there):
    record = _limited_by("lsf")
    read_jobs = recorded_job("lsf", record.replace(before, there, 1) + "\n")

    def road(text):
        assert before in record
        return read_jobs(text)

    return road


def _lsf_asked(text):
    """A job of LSF of a version that tells no effective requirement."""
    record = _limited_by("lsf").replace('"select[any]"', '""').replace("span[ptile=2]", text, 1)
    return recorded_job("lsf", record + "\n")(text)


# What a resource requirement asks for on two hosts with two of four tasks each.
_LSF_SPAN = "span[ptile=2] "
_LSF_REQUIREMENTS = (
    ("memory of each host", "Requested/Memory", [("4", {})], "rusage[mem=2048]"),
    ("memory of each task", "Requested/Memory", [("8", {})], "rusage[mem=2048.00/task]"),
    ("memory of the job", "Requested/Memory", [("2", {})], "rusage[mem=2048/job]"),
    ("scratch space", "Requested/Disk", [("2", {})], "rusage[tmp=1024:mem=1]"),
    ("memory for some time", "Requested/Memory", [], "rusage[mem=2048:duration=5]"),
    ("a licence", "Requested/Resource", [("2", {"type": "matlab"})], "rusage[mem=1:matlab=2]"),
    ("a host by select", "Requested/Node", [("n1", {})], "select[hname==n1]"),
    ("hosts by select", "Requested/Node", [("n1", {}), ("n2", {"conj": "Or"})], "select[hname==n1 || hname==n2]"),  # noqa: E501
    ("a host that is not wanted", "Requested/Node", [("n1", {"op": "NE"})], "select[hname!=n1 && ib]"),  # noqa: E501
    ("features", "Requested/Feature", [("ib", {}), ("ssd", {})], "select[ib && ssd]"),
    ("hosts of any type", "Requested/Architecture", [], "select[type==any]"),
    ("hosts of one type", "Requested/Architecture", [("X86_64", {})], "select[type==X86_64]"),
)


def _scontrol(**values):
    return lambda _: shown_job("scontrol", "@")(_changed(_SCONTROL, **values))


def _jobcomp(**values):
    return lambda _: recorded_job("slurm-jobcomp", "@")(_changed(_limited_by("slurm-jobcomp"), **values))  # noqa: E501


def inside(system, **environment):
    """A job that has of itself what it finds inside: its id, and what it was given."""

    def road(_):
        said = sssjob_inside(system, environment)
        items = [Property("Id", said.job["job_id"])] if "job_id" in said.job else []
        given = {"allocated_cpu": "Processors", "wall_limit_secs": "Duration"}
        found = [Property(given[key], value) for key, value in said.job.items() if key in given]
        return [Job((*items, Delivered(tuple(found))))]

    return road


def sssjob_inside(system, environment):
    """What a job of a system finds."""
    module, _, name = systems.INSIDE[system][1].partition(":")
    return getattr(import_module(module), name)(environment)


def shown_flux(text):
    """Jobs that ``flux jobs --json`` prints."""
    return shown_job("flux", "@")('{"jobs": [{"id": 7, "state": "SCHED", "t_submit": 1787838671.0, %s}]}' % text)  # noqa: E501, UP031


def _jobspec(text):
    """The job of a jobspec, with something else among what it asks of the system."""
    asked = _JOBSPEC.replace("@", "600").replace(', "job": {"name": "sample"}', f", {text}")
    (found,) = read(asked.encode(), "flux")
    return [found.job]


def _cores(slot):
    """The job of a jobspec with these resources."""
    asked = _JOBSPEC.replace("@", "0")
    resources = re.search(r'"resources": (\[.*\]),\n', asked)
    (found,) = read(asked.replace(resources[1], f"[{slot}]").encode(), "flux")
    return [found.job]


def _submit(text):
    """The job of a submit file of HTCondor."""
    (found,) = read(f"executable = /bin/date\n{text}\nqueue\n".encode(), "condor")
    return [found.job]


_CONDOR_AD = "ClusterId = 7\nProcId = 0\n@\n"


def _condor(submit, ad, *, records=True):
    """A submit file, the ad that condor_submit makes of it, and a record where that has it."""
    ad = ad if "JobStatus" in ad else f"JobStatus = 1\n{ad}"
    return {
        "translate": (_submit, submit),
        "status": (shown_job("condor-q", _CONDOR_AD), ad),
    } | ({"accounting": (recorded_job("condor", _CONDOR_AD), ad)} if records else {})


_PARALLEL = (
    "universe = parallel\nmachine_count = 4\nrequest_cpus = 8\nrequest_memory = 100\nrequest_gpus = 2",  # noqa: E501
    "JobUniverse = 11\nMinHosts = 4\nMaxHosts = 4\nRequestCpus = 8\nRequestMemory = 100\nRequestGPUs = 2",  # noqa: E501
)
_ON_ALL = _condor(*_PARALLEL)
_SGE_DETAIL = (
    "<detailed_job_info><djob_info><element><JB_job_number>7</JB_job_number><JB_owner>amy</JB_owner>"
    "<JB_submission_time>1795185000</JB_submission_time>@</element></djob_info></detailed_job_info>"
)
_SGE_WAITS = (
    "<job_info><queue_info/><job_info><job_list state='pending'><JB_job_number>7</JB_job_number>"
    "<JB_name>n</JB_name><JB_owner>amy</JB_owner><state>@</state><slots>1</slots>"
    "</job_list></job_info></job_info>"
)


def _sge(letters, detail):
    """The letters of a list, and what the details have instead of them."""
    return {"list": (shown_job("sge-xml", _SGE_WAITS), letters),
            "details": (shown_job("sge-xml", _SGE_DETAIL), detail)}


def _task(status, message=""):
    told = f"<JAT_message_list><element><QIM_message>{message}</QIM_message></element></JAT_message_list>"  # noqa: E501
    return (f"<JB_ja_tasks><ulong_sublist><JAT_status>{status}</JAT_status>"
            f"<JAT_task_number>1</JAT_task_number>{told if message else ''}</ulong_sublist></JB_ja_tasks>")  # noqa: E501


_QSTAT_ENDED = "Job Id: 7.s\n    job_state = F\n    queue = q\n    exec_host = n1/0\n    Exit_status = @\n"  # noqa: E501
_QSTAT_DEPEND = "Job Id: 7.s\n    job_state = H\n    queue = q\n    depend = @\n"
_PBS_ENDED = re.sub(r"Exit_status=\S+", "Exit_status=@", _limited_by("pbs"))

# The same fact of a job on every road that can say it: the element that says it and where it stands,  # noqa: E501
# each as it is (text, and attributes that change it), and what tells it on each road.
FACTS = {
    "features of Slurm, one of which is enough": ("Requested/Feature", [("ib", {}), ("ssd", {"conj": "Or"})], {  # noqa: E501
        "accounting": (_sacct("Constraints"), "ib|ssd"),
        "accounting, JSON": (recorded_job("slurm-json", '{"jobs": [{"job_id": 7, "constraints": "@"}]}'), "ib|ssd"),  # noqa: E501
        "status": (shown_job("squeue-json", _SQUEUED), '"features": "ib|ssd"'),
        "status scontrol": (_scontrol(Features="ib|ssd"), ""),
        "translate": (scripted("sbatch"), "#SBATCH --constraint=ib|ssd"),
        "translate slurmrest": (_rest, '"constraints": "ib|ssd"'),
    }),
    "nodes that Slurm may not give": ("Requested/Node", [("n5", {"op": "NE"})], {
        "status": (shown_job("squeue-json", _SQUEUED), '"excluded_nodes": "n5"'),
        "status scontrol": (_scontrol(ExcNodeList="n5"), ""),
        "translate": (scripted("sbatch"), "#SBATCH --exclude=n5"),
        "translate slurmrest": (_rest, '"excluded_nodes": ["n5"]'),
    }),
    "more nodes than Slurm is asked for": ("Requested/Node", [], {
        "translate": (scripted("sbatch"), "#SBATCH --nodes=2 --nodelist=n[1-3]"),
        "translate slurmrest": (_rest, '"nodes": "2", "required_nodes": ["n[1-3]"]'),
    }),
    "where the output of a job of Slurm goes": ("OutputFile", [("/d/7-007%n.%q", {})], {
        "accounting": (recorded_job("slurm", "JobID|JobName|State|StdOut\n7|n|COMPLETED|@\n"), "/d/%j-%3A%%%x.%q"),  # noqa: E501
        "accounting, opened": (recorded_job("slurm-json", '{"jobs": [{"job_id": 7, "name": "n", "stdout_expanded": "@"}]}'), "/d/7-007%n.%q"),  # noqa: E501
        "status": (shown_job("squeue-json", _SQUEUED), r'"name": "n", "standard_output": "/d/%j-%3A%%%x.%q"'),  # noqa: E501
        "status, text alone": (shown_job("squeue-json", _SQUEUED), r'"standard_output": "/d/7-007%n.\\%q"'),  # noqa: E501
        "status, opened": (shown_job("squeue-json", _SQUEUED), '"standard_output": "/d/%j", "stdout_expanded": "/d/7-007%n.%q"'),  # noqa: E501
        "status scontrol": (_scontrol(StdOut="/d/7-007%n.%q"), ""),
    }),
    "when a job of Slurm may begin, in a time without a zone": ("EligibleTime", [(START, {})], {
        "accounting": (recorded_job("slurm", "JobID|State|Eligible\n7|PENDING|@\n"), _LOCAL),
        "status": (shown_job("squeue-json", _SQUEUED), f'"eligible_time": {START}'),
        "status scontrol": (_scontrol(JobState="PENDING", StartTime="Unknown", EligibleTime=_LOCAL), ""),  # noqa: E501
        "translate": (scripted("sbatch"), f"#SBATCH --begin={_LOCAL}"),
        "translate slurmrest": (_rest, f'"begin_time": {START}'),
    }),
    "when a job of PBS may begin, in a time without a zone": ("EligibleTime", [(START, {})], {
        "accounting": (recorded_job("pbs", _PBS_DEPEND.replace("depend=@", "@")), f"etime={START}"),
        "status": (shown_job("qstat-text", _QSTAT_DEPEND.replace("depend", "Execution_Time")), "Fri Nov 20 14:30:00 2026"),  # noqa: E501
        "translate": (scripted("pbs"), "#PBS -a 202611201430.00"),
        "translate torque": (scripted("torque"), "#PBS -a 202611201430.00"),
    }),
    "when a job of Grid Engine may begin, in a time without a zone": ("EligibleTime", [(START, {})], {  # noqa: E501
        "status": (shown_job("sge-xml", _SGE_DETAIL), f"<JB_execution_time>{START}</JB_execution_time>"),  # noqa: E501
        "translate": (scripted("sge"), "#$ -a 202611201430.00"),
    }),
    "a host of Grid Engine": ("Requested/Node", [("n1", {})], _sge_requests(hostname="n1")),
    "hosts of Grid Engine": ("Requested/Node", [("n3", {"op": "NE"}), ("n1,n2", {"count": "1"})], _sge_requests(h="(n1|n2)&amp;!n3") | _slots("-l h=(n1|n2)&!n3")),  # noqa: E501
    "an architecture of Grid Engine": ("Requested/Architecture", [("lx-amd64", {})], _sge_requests(arch="lx-amd64")),  # noqa: E501
    "architectures of Grid Engine": ("Requested/Architecture", [("a", {}), ("b", {"conj": "Or"})], _sge_requests(arch="a|b")),  # noqa: E501
    "a pattern of architectures of Grid Engine": ("Requested/Architecture", [], _sge_requests(arch="lx-*")),  # noqa: E501
    "a feature of Grid Engine": ("Requested/Feature", [("gpu_ok", {})], _sge_requests(h_rt="60", gpu_ok="TRUE")),  # noqa: E501
    "what a host of Grid Engine has not": ("Requested/Feature", [], _sge_requests(gpu_ok="FALSE")),
    "limits of CPU time of Grid Engine": ("ResourceLimit", [("3600", {"name": "CPUTime", "type": "Hard"}), ("60", {"name": "CPUTime", "type": "Soft"})], _sge_requests(s_cpu="60", h_cpu="1:0:0")),  # noqa: E501
    "a limit of the stack of Grid Engine": ("ResourceLimit", [("2048", {"name": "StackSize", "type": "Hard"})], _sge_requests(h_stack="2K", h_cpu="INFINITY")),  # noqa: E501
    **{f"slots of Grid Engine: {text}": ("Requested/Processors", told, _sge_slots(text))
       for text, told in {
           "4": [("4", {})],
           "4-8": [("4", {"op": "GE"}), ("8", {"op": "LE"})],
           "4,8": [("4", {"op": "GE"}), ("8", {"op": "LE"})],
           "4-": [("4", {"op": "GE"})],
           "4-9999999": [("4", {"op": "GE"})],
           "-8": [("8", {"op": "LE"})],
       }.items()},
    "the priority of Grid Engine": ("Priority", [("-5", {})], {
        "status": (shown_job("sge-xml", _SGE_DETAIL), "<JB_priority>1019</JB_priority>"),
        "translate": (scripted("sge"), "#$ -p -5"),
    }),
    **{f"whom Grid Engine writes to: -m {letters}": ("NotificationList", [(event, {"uri": "mailto:a@x"})], {  # noqa: E501
        "status": (shown_job("sge-xml", _SGE_DETAIL), f"<JB_mail_options>{bits}</JB_mail_options><JB_mail_list><element><MR_user>a</MR_user><MR_host>x</MR_host></element></JB_mail_list>"),  # noqa: E501
        "translate": (scripted("sge"), f"#$ -m {letters} -M a@x"),
    }) for letters, bits, event in (
        ("be", 0x180000, "JobStart,JobEnd"), ("e", 0x100000, "JobEnd"), ("bea", 0x1C0000, "All"))},
    **{f"{path} of TORQUE: {asked}": (path, [(told, {})], _torque(asked)) for path, told, asked in (
        ("Requested/NodeCount", "2", "nodes=n1:ppn=4+n2:ppn=2"),
        ("Requested/Processors", "6", "nodes=n1:ppn=4+n2:ppn=2"),
        ("Requested/Processors", "16", "nodes=2:ppn=4+1:ppn=8"),
        ("Requested/Processors", "8", "procs=8"),
        ("Requested/Processors", "8", "nodes=2 ncpus=8"),
        ("Requested/Processors", "8", "nodes=2:ppn=4 ncpus=8"),
        ("Requested/Processors", "8", "nodes=2:ppn=4 ncpus=1"),
        ("Requested/NodeCount", "4", "nodes=4 ncpus=2"),
        ("Requested/Architecture", "linux", "arch=linux"),
        ("Requested/OperatingSystem", "linux", "opsys=linux"),
    )},
    **{f"{path} of TORQUE, not told by {asked}": (path, [], _torque(asked)) for path, asked in (
        ("Requested/NodeCount", "procs=8"),
        ("TaskDistribution", "procs=8"),
        ("Requested/Processors", "nodes=4 ncpus=2"),
    )},
    **{f"where {element} of PBS goes, on a host": (element, [("/d/o", {})], {
        "status": (shown_job("qstat-text", _QSTAT_DEPEND.replace("depend", attribute)), "login:/d/o"),  # noqa: E501
        "translate": (scripted("pbs"), f"#PBS {option} login:/d/o"),
        "translate torque": (scripted("torque"), f"#PBS {option} login:/d/o"),
    }) for element, attribute, option in (
        ("OutputFile", "Output_Path", "-o"), ("ErrorFile", "Error_Path", "-e"))},
    "an architecture of PBS": ("Requested/Architecture", [("linux", {})], {
        "accounting": (recorded_job("pbs", _PBS.format("arch")), "linux"),
        "translate": (scripted("pbs"), "#PBS -l arch=linux"),
    }),
    "what a site of HTCondor declares": ("Requested/Resource", [("2", {})], _condor(
        "request_foo = 2", "RequestFoo = 2")),
    **{f"{what} of HTCondor that is what the job uses": (f"Requested/{what}", [], {
        "accounting": (recorded_job("condor", _CONDOR_AD), said),
        "status": (shown_job("condor-q", _CONDOR_AD), said),
    }) for what, said in (
        ("Memory", "MemoryUsage = 5\nRequestMemory = ifthenelse(MemoryUsage =!= undefined,MemoryUsage,1)"),  # noqa: E501
        ("Disk", "DiskUsage = 77\nRequestDisk = DiskUsage"),
    )},
    "on four machines of HTCondor, what a site declares": ("Requested/Resource", [("8", {})], _condor(  # noqa: E501
        "universe = parallel\nmachine_count = 4\nrequest_foo = 2",
        "JobUniverse = 11\nMinHosts = 4\nMaxHosts = 4\nRequestFoo = 2")),
    "processors that a job of Flux waits for": ("Requested/Processors", [("4", {})], {
        "status": (shown_flux, '"ncores": 4, "ntasks": 4'),
        "accounting": (recorded_job("flux", '{"id": 7, "t_submit": 1.0, "state": "SCHED", @}'), '"ncores": 4'),  # noqa: E501
    }),
    "tasks with two processors each that a job of Flux waits for": ("TaskCount", [("2", {})], {
        "status": (shown_flux, '"ncores": 4, "ntasks": 2'),
        "translate": (_cores, '{"type": "slot", "count": 2, "label": "task", "with": [{"type": "core", "count": 2}]}'),  # noqa: E501
    }),
    "a range of nodes of Slurm": ("Requested/NodeCount", [("2", {"op": "GE"}), ("4", {"op": "LE"})], {  # noqa: E501
        "status": (shown_job("squeue-json", _SQUEUED), '"node_count": 2, "max_nodes": 4'),
        "status scontrol": (_scontrol(JobState="PENDING", NumNodes="2-4", TRES="node=2"), ""),
        "translate": (scripted("sbatch"), "#SBATCH --nodes=2-4"),
        "translate slurmrest": (_rest, '"nodes": "2-4"'),
    }),
    "one number of nodes of Slurm": ("Requested/NodeCount", [("2", {})], {
        "status": (shown_job("squeue-json", _SQUEUED), '"node_count": 2, "max_nodes": 2'),
        "status, no largest number": (shown_job("squeue-json", _SQUEUED), '"node_count": 2, "max_nodes": 0'),  # noqa: E501
        "status scontrol": (_scontrol(JobState="PENDING", NumNodes="2-2", TRES="node=2"), ""),
        "translate": (scripted("sbatch"), "#SBATCH --nodes=2"),
    }),
    "GPUs on each node of Slurm": ("Requested/Resource", [("6", {})], {
        "accounting": (_sacct("ReqTRES"), "node=3,gres/gpu:a100=6"),
        "status": (shown_job("squeue-json", _SQUEUED), '"tres_req_str": "node=3,gres/gpu:a100=6"'),
        "status scontrol": (_scontrol(TRES="(null) ReqTRES=node=3,gres/gpu:a100=6", NumNodes="3"), ""),  # noqa: E501
        "status scontrol, up to 23.02": (_scontrol(TRES="node=3,gres/gpu=8", NumNodes="3", Command="c TresPerNode=gres:gpu:a100:2"), ""),  # noqa: E501
        "translate": (scripted("sbatch"), "#SBATCH --nodes=3 --gres=gpu:a100:2"),
        "translate slurmrest": (_rest, '"nodes": "3", "tres_per_node": "gres/gpu:a100:2"'),
        "translate slurmrest, =": (_rest, '"nodes": "3", "tres_per_node": "gres/gpu:a100=2"'),
    }),
    "GPUs of Slurm beside another resource": ("Requested/Resource", [("2", {})], {
        "translate": (scripted("sbatch"), "#SBATCH --nodes=1 --gres=gpu:a100:2,shard:3"),
        "translate slurmrest": (_rest, '"nodes": "1", "tres_per_node": "gres/gpu:a100=2,gres/shard=3"'),  # noqa: E501
    }),
    "processors of Slurm in a list alone": ("Requested/Processors", [("4", {})], {
        "accounting": (_sacct("ReqTRES"), "cpu=4,mem=8G,node=2"),
        "accounting, beside": (recorded_job("slurm", "JobID|State|ReqTRES|ReqCPUS\n7|COMPLETED|cpu=9,node=2|@\n"), "4"),  # noqa: E501
        "status": (shown_job("squeue-json", _SQUEUED), '"tres_req_str": "cpu=4,mem=8G,node=2"'),
    }),
    "memory of Slurm in a list alone": ("Requested/Memory", [("8192", {})], {
        "accounting": (_sacct("ReqTRES"), "cpu=4,mem=8G,node=2"),
        "accounting, beside": (recorded_job("slurm", "JobID|State|ReqTRES|ReqMem\n7|COMPLETED|mem=1G,node=2|@\n"), "8G"),  # noqa: E501
    }),
    "nodes of Slurm in a list alone": ("Requested/NodeCount", [("2", {})], {
        "accounting": (_sacct("ReqTRES"), "cpu=4,mem=8G,node=2"),
    }),
    "nodes that a job of Slurm has to itself": ("Extension", [("true", {})], {
        "translate": (scripted("sbatch"), "#SBATCH --exclusive"),
        "translate slurmrest": (_one_kept, '"shared": ["none"]'),
        "translate slurmrest, a word": (_one_kept, '"shared": "none"'),
        "translate slurmrest, up to v0.0.38": (_one_kept, '"exclusive": "exclusive"'),
        "translate slurmrest, a flag": (_one_kept, '"exclusive": true'),
    }),
    "GPUs for each task of Slurm": ("Requested/Resource", [("8", {})], {
        "translate": (scripted("sbatch"), "#SBATCH --ntasks=4 --gpus-per-task=2"),
        "translate slurmrest": (_rest, '"tasks": 4, "tres_per_task": "gres/gpu:2"'),
    }),
    "GPUs that Slurm gave with a whole node, and nobody asked for": ("Requested/Resource", [], {
        "accounting": (recorded_job("slurm", "JobID|State|ReqTRES|AllocTRES\n7|COMPLETED|node=3|@\n"), "node=3,gres/gpu=8"),  # noqa: E501
        "status": (shown_job("squeue-json", _SQUEUED.replace("PENDING", "RUNNING")), '"tres_req_str": "node=3", "tres_alloc_str": "node=3,gres/gpu=8"'),  # noqa: E501
        "status scontrol": (_scontrol(TRES="(null) ReqTRES=node=3 AllocTRES=node=3,gres/gpu=8"), ""),  # noqa: E501
        "status scontrol, up to 23.02": (_scontrol(TRES="node=3,gres/gpu=8", NumNodes="3", JOB_GRES="gpu:8"), ""),  # noqa: E501
    }),
    "processors of each task of Slurm": ("Requested/Processors", [("8", {})], {
        "status": (shown_job("squeue-json", _SQUEUED), '"cpus": 8, "tasks": 4, "cpus_per_task": 2'),
        "translate": (scripted("sbatch"), "#SBATCH --ntasks=4 --cpus-per-task=2"),
        "translate slurmrest": (_rest, '"tasks": 4, "cpus_per_task": 2'),
    }),
    "the partition in which a job of Slurm ran": ("Delivered/Queue", [("q", {})], {
        "accounting": (_sacct("Partition"), "q"),
        "accounting slurm-jobcomp": (_jobcomp(Partition="q"), ""),
        "status scontrol": (_scontrol(Partition="q"), ""),
    }),
    "the queue that is asked for": ("Queue", [("q", {})], {
        "accounting slurm": (recorded_job("slurm", "JobID|State|Start|End|Partition\n7|CANCELLED|None|2026-11-20T14:00:00|@\n"), "q"),  # noqa: E501
        "accounting slurm-jobcomp": (_jobcomp(JobState="CANCELLED", NodeList="(null)", Partition="q"), ""),  # noqa: E501
        "accounting flux": (recorded_job("flux", '{"id": 7, "t_submit": 1.0, "state": "SCHED", @}'), '"queue": "q"'),  # noqa: E501
        "status squeue-json": (shown_job("squeue-json", _SQUEUED), '"name": "n"'),
        "status scontrol": (_scontrol(JobState="PENDING", StartTime="Unknown", NodeList="", Partition="q"), ""),  # noqa: E501
        "status qstat-text": (shown_job("qstat-text", _QSTAT_DEPEND), "afterok:5.s"),
        "status sge-xml": (shown_job("sge-xml", _SGE_WAITS.replace("@", "qw").replace("<slots>", "@<slots>")), "<hard_req_queue>q</hard_req_queue>"),  # noqa: E501
        "status flux": (shown_flux, '"queue": "q"'),
        "translate sbatch": (scripted("sbatch"), "#SBATCH --partition=q"),
        "translate slurmrest": (lambda name: [each.job for each in read(_REST.replace("@", "5").replace("short", name).encode(), "slurmrest")], "q"),  # noqa: E501
        "translate pbs": (scripted("pbs"), "#PBS -q q"),
        "translate torque": (scripted("torque"), "#PBS -q q"),
        "translate sge": (scripted("sge"), "#$ -q q"),
        "translate lsf": (scripted("lsf"), "#BSUB -q q"),
        "translate flux": (_jobspec, '"queue": "q"'),
    }),
    **{f"{name} of Grid Engine, which is no queue": ("Queue", [], {
        "status": (shown_job("sge-xml", _SGE_WAITS.replace("@", "qw").replace("<slots>", "@<slots>")), f"<hard_req_queue>{name}</hard_req_queue>"),  # noqa: E501
        "translate": (scripted("sge"), f"#$ -q {name}"),
    }) for name in ("main.q@n1", "q@@hg", "*.q@n1,r", "*@n*")},
    "queues of Grid Engine of which one is enough": ("Requested/Queue", [("q", {}), ("r", {"conj": "Or"})], {  # noqa: E501
        "status": (shown_job("sge-xml", _SGE_WAITS.replace("@", "qw").replace("<slots>", "@<slots>")), "<hard_req_queue>q,r</hard_req_queue>"),  # noqa: E501
        "translate": (scripted("sge"), "#$ -q q,r"),
    }),
    **{f"{path} of a job of Grid Engine that has one of the queues it asked for": (path, told, {
        "accounting": (_SGE_ROADS["accounting"], "-q main.q,r"),
        "status": (_SGE_STATUS, _LIST.format("x").replace("@<", "1<").replace("</job_list>", "<hard_req_queue>main.q,r</hard_req_queue></job_list>")),  # noqa: E501
    }) for path, told in (
        ("Requested/Queue", []), ("Queue", []), ("Delivered/Queue", [("main.q", {})]))},
    "swap that a host of Grid Engine has to have": ("Requested/Swap", [], {
        road: each for road, each in _sge_requests(swap_free="1G").items() if road != "translate"
    }),
    "partitions of which one is enough": ("Requested/Queue", [("q", {}), ("r", {"conj": "Or"})], {
        "accounting slurm-jobcomp": (_jobcomp(Partition="q,r"), ""),
        "accounting slurm-jobcomp, never started": (_jobcomp(Partition="q,r", NodeList="(null)"), ""),  # noqa: E501
        "status": (shown_job("squeue-json", _SQUEUED.replace('"q"', '"q,r"')), '"name": "n"'),
        "translate": (scripted("sbatch"), "#SBATCH --partition=q,r"),
    }),
    "what Slurm notes of a job that never started": ("ExitCode", [("1", {})], {
        "accounting": (recorded_job("slurm", "JobID|State|Start|End|ExitCode\n7|DEADLINE|None|2026-11-20T14:00:00|@\n"), "1:0"),  # noqa: E501
        "accounting slurm-jobcomp": (_jobcomp(JobState="DEADLINE", NodeList="(null)", ExitCode="1:0"), ""),  # noqa: E501
        "status scontrol": (_scontrol(JobState="DEADLINE", StartTime="None", NodeList="", ExitCode="1:0"), ""),  # noqa: E501
    }),
    **{f"{path} of a run after which a job of Slurm waits again": (path, [(told, {})], {
        "accounting": (recorded_job("slurm", "JobID|State|Start|End|ElapsedRaw|ExitCode\n7|REQUEUED|1795185000|1795185005|5|@\n"), "0:0"),  # noqa: E501
        "accounting slurm-jobcomp": (_jobcomp(JobState="PENDING", StartTime="2026-11-20T14:30:00", EndTime="2026-11-20T14:30:05", ExitCode="0:0"), ""),  # noqa: E501
    }) for path, told in (("State", "Completed"), ("StatusMessage", "REQUEUED"), ("ExitCode", "0"), ("EndTime", "1795185005"), ("Delivered/Duration", "5"))},  # noqa: E501
    "no exit code of a job that never started": ("ExitCode", [], {
        "accounting": (recorded_job("slurm", "JobID|State|Start|End|ExitCode\n7|CANCELLED|None|2026-11-20T14:00:00|@\n"), "0:0"),  # noqa: E501
        "accounting slurm-jobcomp": (_jobcomp(JobState="CANCELLED", NodeList="(null)", ExitCode="0:0"), ""),  # noqa: E501
        "status scontrol": (_scontrol(JobState="CANCELLED", StartTime="None", NodeList="", ExitCode="0:0"), ""),  # noqa: E501
    }),
    **{f"{path} of chunks of PBS: {chunks}": (path, told, {
        "accounting": (recorded_job("pbs", _PBS.format("select")), chunks),
        "status": (shown_job("qstat-text", _QSTAT.format("select").replace("= R", "= Q")), chunks),
        "translate": (scripted("pbs"), f"#PBS -l select={chunks}"),
    }) for path, told, chunks in (
        ("Requested/Node", [("n1", {})], "1:ncpus=1:host=n1"),
        ("Requested/Node", [("n1,m2", {})], "1:ncpus=2:host=n1+1:ncpus=2:host=m2"),
        ("Requested/Node", [], "2:ncpus=1"),
        ("Requested/Architecture", [("linux", {})], "2:ncpus=1:arch=linux"),
        ("Requested/Feature", [("ib", {})], "1:ncpus=1:ib=true"),
        ("Requested/Feature", [], "1:ncpus=1:ib=false"),
    )},
    "licences of TORQUE": ("Requested/Resource", [("2", {"type": "matlab"}), ("1", {"type": "x"})], _torque("gres=matlab+2%x+1")),  # noqa: E501
    "what gres of TORQUE is beside licences": ("Requested/Resource", [], _torque("gres=matlab")),
    **{f"{path} of PBS where {how}": (path, told, {
        "status": (shown_job("qstat-text", _QSTAT_DEPEND.replace("depend = @", "@")), shown),
        "translate": (scripted("pbs"), script),
        "translate torque": (scripted("torque"), script),
    }) for path, told, how, shown, script in (
        ("OutputFile", [("/o", {})], "messages go to the output", "Join_Path = oe\n    Output_Path = h:/o\n    Error_Path = h:/e", "#PBS -j oe\n#PBS -o /o"),  # noqa: E501
        ("ErrorFile", [("", {})], "messages go to the output", "Join_Path = oe\n    Output_Path = h:/o\n    Error_Path = h:/e", "#PBS -j oe\n#PBS -o /o"),  # noqa: E501
        ("OutputFile", [("/e", {})], "the output goes to the messages", "Join_Path = eo\n    Output_Path = h:/o\n    Error_Path = h:/e", "#PBS -j eo\n#PBS -e /e"),  # noqa: E501
        ("ErrorFile", [("", {})], "the output goes to the messages", "Join_Path = eo\n    Output_Path = h:/o\n    Error_Path = h:/e", "#PBS -j eo\n#PBS -e /e"),  # noqa: E501
        ("OutputFile", [("/o", {"redirectList": "Keep"})], "both stay", "Keep_Files = oe\n    Output_Path = h:/o", "#PBS -k oe\n#PBS -o /o"),  # noqa: E501
        ("ErrorFile", [("/e", {})], "the output stays", "Keep_Files = o\n    Error_Path = h:/e", "#PBS -k o\n#PBS -e /e"),  # noqa: E501
        ("NotificationList", [("None", {})], "nobody is written to", "Mail_Points = n", "#PBS -m n"),  # noqa: E501
        ("NotificationList", [("All", {"uri": "mailto:a@x"})], "all is written", "Mail_Points = abe\n    Mail_Users = a@x", "#PBS -m abe\n#PBS -M a@x"),  # noqa: E501
    )},
    "a job of PBS that no checkpoint is made of": ("Checkpointable", [("false", {})], {
        "status": (shown_job("qstat-text", _QSTAT_DEPEND.replace("depend = @", "@")), "Checkpoint = n"),  # noqa: E501
        "status, torque": (shown_job("qstat-text", _QSTAT_DEPEND.replace("depend = @", "@")), "Checkpoint = none"),  # noqa: E501
        "translate": (scripted("pbs"), "#PBS -c n"),
        "translate torque": (scripted("torque"), "#PBS -c none"),
    }),
    "jobs of PBS that are waited for": ("Dependency", [("5.s", {"condition": "OnSuccess"}), ("6.s", {"condition": "OnExit"})], {  # noqa: E501
        "accounting": (recorded_job("pbs", _PBS_DEPEND), "afterok:5.s,afterany:6.s"),
        "status": (shown_job("qstat-text", _QSTAT_DEPEND), "afterok:5.s@s,afterany:6.s@s"),
        "translate": (scripted("pbs"), "#PBS -W depend=afterok:5.s,afterany:6.s"),
    }),
    "jobs of LSF that are waited for": ("Dependency", [("5", {"condition": "OnSuccess"}), ("6", {"condition": "OnExit"})], {  # noqa: E501
        "accounting": (_lsf('"span[ptile=2]" ""', '"span[ptile=2]" "@"'), "done(5) && ended(6)"),
        "translate": (scripted("lsf"), '#BSUB -w "done(5) && ended(6)"'),
    }),
    "a condition of LSF of which one part is enough": ("Dependency", [], {
        "accounting": (_lsf('"span[ptile=2]" ""', '"span[ptile=2]" "@"'), "done(5) || ended(6)"),
        "translate": (scripted("lsf"), '#BSUB -w "done(5) || ended(6)"'),
    }),
    "one host of LSF": ("Requested/NodeCount", [("1", {})], {
        "accounting": (_lsf('"select[any]"', '"@"'), "span[hosts=1]"),
        "translate": (scripted("lsf"), '#BSUB -n 4 -R "span[hosts=1]"'),
    }),
    "tasks on each host of LSF": ("TaskDistribution", [("2", {})], {
        "accounting": (_lsf('"select[any]"', '"@"'), "span[ptile=2]"),
        "translate": (scripted("lsf"), '#BSUB -n 4 -R "span[ptile=2]"'),
    }),
    **{f"{what}, as LSF reads it": (path, told, {
        "accounting, effective": (_lsf('"select[any]"', '"@"'), text),
        "accounting": (_lsf_asked, text),
        "translate": (scripted("lsf"), f'#BSUB -n 4 -R "{_LSF_SPAN}{text}"'),
    }) for what, path, told, text in _LSF_REQUIREMENTS},
    "hosts of LSF of which any will do": ("Requested/Node", [("n1,n2", {"count": "1"})], {
        "accounting": (_lsf(' 0 4 "n1" "n1"', ' 2 @ 4 "n1" "n1"'), '"n1" "n2"'),
        "translate": (scripted("lsf"), '#BSUB -m "n1 n2"'),
    }),
    "where the output of a job of LSF goes": ("OutputFile", [("out.7.0", {})], {
        "accounting": (_lsf('"out.%J"', '"@"'), "out.%J.%I"),
    }),
    "the application profile of LSF": ("Application", [("app1", {})], {
        "accounting": (_lsf('"app1"', '"@"'), "app1"),
        "translate": (scripted("lsf"), "#BSUB -app app1"),
    }),
    "when a job of LSF may begin": ("EligibleTime", [("1795183200", {})], {
        "accounting": (_lsf(" 1700000000 0 0 ", " 1700000000 @ 0 "), "1795183200"),
        "translate": (scripted("lsf"), "#BSUB -b 2026:11:20:14:00"),
    }),
    "when a job of LSF has to have ended": ("DeadlineTime", [("1795183200", {})], {
        "accounting": (_lsf(" 1700000000 0 0 ", " 1700000000 0 @ "), "1795183200"),
    }),
    "how a job of PBS ended": ("StatusMessage", [("over the limit of wall time", {})], {
        "accounting": (recorded_job("pbs", _PBS_ENDED), "-29"),
        "status": (shown_job("qstat-text", _QSTAT_ENDED), "-29"),
    }),
    "how long a job of Slurm was planned": ("Extension", [("1-01:00:00", {})], {
        "accounting": (recorded_job("slurm", "JobID|Planned\n7|@\n"), "1-01:00:00"),
        "accounting, JSON": (recorded_job("slurm-json", '{"jobs": [{"job_id": 7, "time": {"planned": @}}]}'), _SET.replace("@", "90000")),  # noqa: E501
    }),
    "jobs of Flux that are waited for": ("Dependency", [("1", {"condition": "OnSuccess"}), ("7", {"condition": "OnExit"})], {  # noqa: E501
        "status": (shown_flux, '"dependencies": ["after-success=f2", "after-finish=7"]'),
        "translate": (_jobspec, '"dependencies": [{"scheme": "afterok", "value": "f2"}, {"scheme": "afterany", "value": "7"}]'),  # noqa: E501
    }),
    "when a job of Flux may begin": ("EligibleTime", [(START, {})], {
        "status": (shown_flux, f'"dependencies": ["begin-time={START}.000"]'),
        "translate": (_jobspec, f'"dependencies": [{{"scheme": "begin-time", "value": "{START}"}}]'),  # noqa: E501
    }),
    "the name of a job of Flux": ("Name", [("n", {})], {
        "status": (shown_flux, '"name": "n"'),
        "translate": (_jobspec, '"job": {"name": "n"}'),
    }),
    "where a job of Flux works": ("InitialWorkingDirectory", [("/d", {})], {
        "status": (shown_flux, '"cwd": "/d"'),
        "translate": (_jobspec, '"cwd": "/d"'),
    }),
    "the id of a job of Flux": ("Id", [("1", {})], {
        "accounting": (lambda text: recorded_job("flux", "@")('{"jobs": [{"id": "f2", "state": "RUN", "t_submit": 1.0, "t_run": 2.0}]}'), ""),  # noqa: E501
        "inside": (inside("flux", FLUX_JOB_ID="\u01922"), ""),
        "inside, ASCII": (inside("flux", FLUX_JOB_ID="f2"), ""),
    }),
    "the id of a task of an array of Grid Engine": ("Id", [("31.2", {})], {
        "inside": (inside("gridengine", JOB_ID="31", SGE_TASK_ID="2"), ""),
        "status": (shown_job("sge-xml", "@"), _SGE_WAITS.replace("@", "r").replace(">7<", ">31<").replace("<slots>", "<tasks>2</tasks><slots>")),  # noqa: E501
    }),
    "the id of a task of an array of LSF": ("Id", [("7[3]", {})], {
        "inside": (inside("lsf", LSB_JOBID="7", LSB_JOBINDEX="3"), ""),
    }),
    "the id of a task of an array of PBS": ("Id", [("7[3].s", {})], {
        "accounting": (recorded_job("pbs", "@"), _limited_by("pbs").replace(";7.srv;", ";7[3].s;")),
        "status": (shown_job("qstat-text", "@"), _QSTAT_ENDED.replace("7.s", "7[3].s").replace("@", "0")),  # noqa: E501
        "inside": (inside("pbs", PBS_JOBID="7[3].s"), ""),
    }),
    "processors that PBS gave": ("Delivered/Processors", [("2", {})], {
        "accounting": (recorded_job("pbs", "@"), _limited_by("pbs").replace("exec_host=n1/0", "exec_host=n1/0*2")),  # noqa: E501
        "inside": (inside("pbs", PBS_JOBID="7.s", NCPUS="2"), ""),
    }),
    "nodes of a parallel job of HTCondor": ("Requested/NodeCount", [("4", {})], _ON_ALL),
    "processors on all hosts of HTCondor": ("Requested/Processors", [("32", {})], _ON_ALL),
    "memory on all hosts of HTCondor": ("Requested/Memory", [("400", {})], _ON_ALL),
    "GPUs on all hosts of HTCondor": ("Requested/Resource", [("8", {})], _ON_ALL),
    **{f"licences of Slurm: {text}": ("Requested/Resource", told, {
        "accounting": (_sacct("Licenses"), text),
        "accounting, JSON": (recorded_job("slurm-json", '{"jobs": [{"job_id": 7, "licenses": "@"}]}'), text),  # noqa: E501
        "status": (shown_job("squeue-json", _SQUEUED), f'"licenses": "{text}"'),
        "status scontrol": (_scontrol(Licenses=text), ""),
        "translate": (scripted("sbatch"), f"#SBATCH --licenses={text}"),
        "translate slurmrest": (_rest, f'"licenses": "{text}"'),
    }) for text, told in {
        "matlab@srv:2,essl": [("2", {"type": "matlab@srv"}), ("1", {"type": "essl"})],
        "a=2": [("2", {"type": "a"})],
        "a:1,a:2": [("1", {"type": "a"}), ("2", {"type": "a"})],
        "a:0": [], "a:x": [], "a|b": [], "a;b": [], "a@b@c": [],
    }.items()},
    **{f"what Slurm is to wait for: {text}": ("Dependency", told, {
        "status": (shown_job("squeue-json", _SQUEUED), f'"dependency": "{text}"'),
        "status, with states": (shown_job("squeue-json", _SQUEUED), f'"dependency": "{text}(unfulfilled)"'),  # noqa: E501
        "status scontrol": (_scontrol(JobState="PENDING", Dependency=f"{text}(unfulfilled)"), ""),
        "translate": (scripted("sbatch"), f"#SBATCH --dependency={text}"),
        "translate slurmrest": (_rest, f'"dependency": "{text}"'),
    }) for text, told in {
        "afterok:7_*": [("7_*", {"condition": "OnSuccess"})],
        "afterany:7_3": [("7_3", {"condition": "OnExit"})],
        "afternotok:7": [("7", {"condition": "OnFailure"})],
        "afterok:7+5": [], "afterok:x": [], "after:7": [],
    }.items()},
    **{f"reservations of Slurm: {text}": ("Requested/Reservation", told, {
        "accounting": (_sacct("Reservation"), text),
        "accounting, JSON": (recorded_job("slurm-json", '{"jobs": [{"job_id": 7, "reservation": {"name": "@"}}]}'), text),  # noqa: E501
        "accounting slurm-jobcomp": (_jobcomp(ReservationName=text), ""),
        "status": (shown_job("squeue-json", _SQUEUED), f'"resv_name": "{text}"'),
    }) for text, told in {"r7": [("r7", {})], "r7,r8": []}.items()},
    **{f"{element} of Slurm that is asked for: {text}": (element, told, {
        "translate": (scripted("sbatch"), f"#SBATCH --{option}={text}"),
        "translate slurmrest": (_rest, f'"{option}": "{text}"'),
    }) for element, option in (("Reservation", "reservation"), ("Machine", "clusters"))
       for text, told in {"r7": [("r7", {})], "r7,r8": [], "all": []}.items()},
    "licences of HTCondor": ("Requested/Resource", [("2", {"type": "matlab"}), ("1", {"type": "x"})], _condor(  # noqa: E501
        "concurrency_limits = matlab:2,x", 'ConcurrencyLimits = "matlab:2,x"')),
    "a job of HTCondor that is held from the start": ("Hold", [("User", {})], _condor(
        "hold = True", "JobStatus = 5\nHoldReasonCode = 15")),
    "what HTCondor prefers": ("Requested/Node", [("n1", {})], _condor(
        'rank = (Machine == "n1")', 'Rank = (TARGET.Machine == "n1")', records=False)),
    "what HTCondor requires": ("Requested/Node", [("n1", {})], _condor(
        'requirements = (Machine == "n1")', 'Requirements = (TARGET.Machine == "n1")', records=False)),  # noqa: E501
    "the name of a job of HTCondor": ("Name", [("b", {})], _condor(
        "batch_name = b\ndescription = d", 'JobBatchName = "b"\nJobDescription = "d"')),
    "a description is the name of a job of HTCondor without one": ("Name", [("d", {})], _condor(
        "description = d", 'JobDescription = "d"')),
    "arguments of HTCondor": ("Arguments", [("a 'b c'", {})], _condor(
        """arguments = "a 'b c'\"""", """Arguments = "a 'b c'\"""")),
    "when a job of HTCondor may begin": ("EligibleTime", [(START, {})], _condor(
        f"deferral_time = {START}", f"DeferralTime = {START}", records=False)),
    "a job of Grid Engine that waits": ("State", [("Idle", {})], _sge("qw", "")),
    "a job of Grid Engine that waits for another": ("State", [("Hold", {})], _sge(
        "hqw", "<JB_jid_predecessor_list><job_predecessors><JRE_job_number>5</JRE_job_number></job_predecessors></JB_jid_predecessor_list>")),  # noqa: E501
    "a job of Grid Engine that could not be started": ("State", [("Hold", {})], _sge(
        "Eqw", _task(0, "no such directory"))),
    "why a job of Grid Engine is held": ("Hold", [("System", {})], _sge(
        "Eqw", _task(0, "no such directory"))),
    "a job of Grid Engine that is brought to its node": ("State", [("Running", {})], _sge("t", _task(0x200))),  # noqa: E501
    "a job of Grid Engine that runs": ("State", [("Running", {})], _sge("r", _task(0x80))),
    "a job of Grid Engine that is suspended": ("State", [("Suspended", {})], _sge("s", _task(0x180))),  # noqa: E501
}


def facts(job, path):
    """What a job says by an element, such as ``Requested/Node``: texts, and what changes them."""
    place, _, name = path.rpartition("/")
    items = getattr(job, place.lower()).all(name) if place else job.properties.all(name)
    for item in items:
        told = item.attributes
        more = {key: told[key] for key in ("op", "conj", "count") if key in told}
        if name in ("ResourceLimit", "NotificationList"):
            more |= told
        elif "redirectList" in told and item.text:
            more["redirectList"] = told["redirectList"]
        if told.get("name") == "License":
            more["type"] = told["type"]
        if name == "Dependency":
            more["condition"] = item.attributes.get("condition", "OnSuccess")
        yield item.text, more


# Roads that read no such value, and why.
WITHOUT = {
    ("flux", "size"): "a jobspec has no resource that is an amount of memory",
    ("flux", "features limit"): "R says when a job ends, and has no text for how long it may run",
    ("condor", "translate dagman limit"): "a DAG has no limit: its submit files have",
    ("flux", "translate flux-canonical limit"): "the same reader as that of flux",
}
# fmt: on


def expected_roads(row: registry.System):
    """The roads that a system has: by what it declares, on each a limit of time is read."""
    yield from (f"accounting {each.name}" for each in row.formats)
    yield from (f"status {each.name}" for each in (row.status.formats if row.status else ()))
    yield from ("features",) * bool(row.script)
    yield from ("queue",) * bool(row.queue)
    yield from (f"translate {each.name}" for each in row.targets if each.reads)


def lacks_meanings(name, row):
    """What a system has no case for."""
    for thing in ("limit", "size"):
        if (name, thing) not in SUBJECTS and (name, thing) not in WITHOUT:
            yield f"{name}: no {thing} in tests/meanings.py, and no reason in WITHOUT"
    roads = {road for key, subject in SUBJECTS.items() if key[0] == name for road in subject.roads}
    for road in expected_roads(row):
        if road not in roads and (name, f"{road} limit") not in WITHOUT:
            yield f"{name}: no road {road!r} in tests/meanings.py, and no reason in WITHOUT"
