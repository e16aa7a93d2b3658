"""A record of which a delimiter is lost is bad, or it is told, or nothing of its job changes.

What stands on both sides of it was read as one value otherwise: a user who is nobody, half of a
time, a project that pays for another one.
"""

import io
import re

import pytest
from records import DATA

from sssjob.errors import UnusableInput
from sssjob.records import find, read_records
from sssjob.records.builders import OBJECTS
from sssjob.records.record import Bad, Converted, Noted, Options, Severity

SACCT = (
    "Cluster|JobID|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|NCPUS|TotalCPU|JobName"
)
# The format, one whole record, and what its delimiters are: what a group has is taken away.
RECORDS = {
    "pbs": ("pbs", "11/20/2026 14:29:34;E;7.srv;user=amy group=g account=acc jobname=j queue=batch "
            "ctime=1700000000 qtime=1700000000 etime=1700000000 start=1700000100 exec_host=n1/0*4 "
            "session=12 end=1700000700 Exit_status=0 resources_used.cput=00:05:00 "
            "resources_used.mem=4kb resources_used.walltime=00:10:00", r"([ =])"),
    "condor": ("condor", 'GlobalJobId = "s#41.0#1700000000"\nClusterId = 41\nProcId = 0\n'
               'Owner = "amy"\nTransferInput = "a = b"\nJobStatus = 4\nQDate = 1700000000\n'
               "RequestMemory = ifThenElse(MemoryUsage =!= undefined,MemoryUsage,( ImageSize ))\n"
               "Rank = 0.0\nJobCurrentStartDate = 1700000100\nCompletionDate = 1700000700\n"
               "EnteredCurrentStatus = 1700000700\nRemoteWallClockTime = 600.0\n"
               "ToE = [ Who = \"itself\"; How = \"OF_ITS_OWN_ACCORD\" ]\nRemoteUserCpu = 500.0\n"
               "RemoteSysCpu = 20.0\nCumulativeRemoteUserCpu = 500.0\nLeaveJobInQueue = false\n"
               "CumulativeRemoteSysCpu = 20.0\nCpusProvisioned = 8\nJobPrio = 0\n*** \n", r"(\n)"),
    "apel": ("apel", "APEL-individual-job-message: v0.3\nSite: S\nMachineName: m\nLocalJobId: 7\n"
             "LocalUserId: amy\nGlobalUserName: /DC=org/CN=Robot: amy\nFQAN: /atlas/Role=p\n"
             "VO: atlas\nVOGroup: /atlas\nVORole: Role=p\nQueue: q\nWallDuration: 600\n"
             "CpuDuration: 300\nProcessors: 4\nStartTime: 1700000100\nEndTime: 1700000700\n%%\n",
             r"(\n)|(?m:^)\w+(: )"),
    "blah": ("blah", '"timestamp=2026-11-20 14:20:00" "userDN=/O=Grid/CN=Amy B" '
             '"userFQAN=/atlas/Role=production" "ceID=ce.example.org:8443/q" "jobID=CREAM1" '
             '"lrmsID=7" "localUser=1000"', r"(\")|(?<=\")\w+(=)"),
    "lsf": ("lsf", (DATA / "accounting/lsf/quirks/ends.txt").read_text().splitlines()[0],
            r"(\")|(?<=[0-9\"])( )(?=[0-9\"-])"),
    "sge": ("sge", (DATA / "accounting/sge/quirks/versions.txt").read_text().splitlines()[1],
            "(:)"),
    "sacct": ("slurm", f"{SACCT}\nc|7|amy|a|long|COMPLETED|1700000000|1700000100|1700000700|600|4"
              "|00:05:00|j\n", r"(?s:(?<=c\|7).*)|(\|)(?=[^\n]*\n$)"),
}  # fmt: skip


def read(format_, text):
    """The documents of a text, and what is told of it, notices left out."""
    try:
        found = [*read_records(find(format_), io.BytesIO(text.encode()), Options(), OBJECTS)]
    except UnusableInput as error:
        return [], {str(error)}
    told = {
        item.message if isinstance(item, Noted) else item.reason
        for item in found
        if isinstance(item, Bad) or (isinstance(item, Noted) and item.severity is Severity.WARNING)
    }
    return [item.job for item in found if isinstance(item, Converted)], told


@pytest.mark.parametrize("name", RECORDS)
def test_a_delimiter_that_is_lost_changes_no_job_in_silence(name):
    format_, whole, delimiter = RECORDS[name]
    jobs, told_of_whole = read(format_, whole)
    assert len(jobs) == 1
    silent = []
    for found in re.finditer(delimiter, whole):
        if found.lastindex is None:
            continue
        begin, end = found.span(found.lastindex)
        changed = whole[:begin] + whole[end:]
        others, told = read(format_, changed)
        if others != jobs and not told - told_of_whole:
            silent.append(changed[max(begin - 20, 0) : begin + 20])
    assert silent == []
