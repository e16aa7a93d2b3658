"""A record of which a delimiter is lost is bad, or it is told, or nothing of its job changes.

What stands on both sides of it was read as one value otherwise: a user who is nobody, half of a
time, a project that pays for another one.
"""

import io
import re

import pytest
from records import DATA

from sssjob.document import dumps
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


# Ads as a schedd writes them, in the order that it has them in, each with its banner.
AD = """\
GlobalJobId = "s#{cluster}.{proc}#1700000000"
ClusterId = {cluster}
ProcId = {proc}
Owner = "{owner}"
AcctGroup = "{project}"
QDate = 1700000000
JobStatus = 4
JobCurrentStartDate = 1700000100
CompletionDate = {end}
EnteredCurrentStatus = {end}
RemoteWallClockTime = {wall}.0
CumulativeRemoteUserCpu = {wall}.0
CpusProvisioned = {cpus}
*** Offset = 0 ClusterId = {cluster} ProcId = {proc} Owner = "{owner}" CompletionDate = {end}
"""
AMY = AD.format(
    cluster=41, proc=0, owner="amy", project="chem", end=1700000700, wall=600, cpus=1,
)  # fmt: skip
BOB = AD.format(
    cluster=42, proc=7, owner="bob", project="bio", end=1700900000, wall=899900, cpus=64,
)  # fmt: skip


@pytest.mark.parametrize("again", [[0, 1], [1, 0]])
def test_lines_that_are_lost_between_two_ads_give_no_job_of_both_in_silence(again):
    """What the banner of an ad says stands in the ad, or it is that of another one."""
    ads = [[AMY, BOB][place].splitlines(keepends=True) for place in again]
    lines = [*ads[0], *ads[1]]
    whole, _ = read("condor", "".join(lines))
    silent = []
    for first in range(1, len(ads[0])):
        for last in range(len(ads[0]), len(lines)):
            jobs, told = read("condor", "".join(lines[:first] + lines[last:]))
            named = [set(re.findall("chem|bio|amy|bob", job)) for job in map(dumps, jobs)]
            if any({"amy", "bob"} <= each or {"chem", "bio"} <= each for each in named):
                silent.append((first, last))
            mixed = [job for job in jobs if job not in whole]
            if mixed and not told:
                silent.append((first, last))
    assert silent == []


@pytest.mark.parametrize(
    ("banner", "reason"),
    [('ClusterId = 42 ProcId = 0 Owner = "amy" CompletionDate = 1700000700',
      "ClusterId is 41, and 42 in the banner"),
     ('ClusterId = 41 ProcId = 7 Owner = "amy" CompletionDate = 1700000700',
      "ProcId is 0, and 7 in the banner"),
     ('ClusterId = 41 ProcId = 0 Owner = "bob" CompletionDate = 1700000700',
      "Owner is amy, and bob in the banner"),
     ('ClusterId = 41 ProcId = 0 Owner = "amy" CompletionDate = 1700900000',
      "CompletionDate is 1700000700, and 1700900000 in the banner"),
     ('ProcId=0 ClusterId=42', "ClusterId is 41, and 42 in the banner")],
)  # fmt: skip
def test_a_banner_of_another_ad_makes_the_ad_before_it_bad(banner, reason):
    jobs, told = read("condor", AMY.partition("***")[0] + f"*** Offset = 9000 {banner}\n")
    assert jobs == []
    assert [each.startswith(reason) for each in told] == [True]


def test_a_banner_says_of_what_an_ad_has_not_that_it_is_not_known():
    ad = (
        AMY.partition("***")[0]
        .replace('Owner = "amy"\n', "")
        .replace("CompletionDate = 17", "X = ")
    )
    for owner, end in (("?", -1), ("NULL", 0)):
        banner = (
            f'*** Offset = 0 ClusterId = 41 ProcId = 0 Owner = "{owner}" CompletionDate = {end}'
        )
        jobs, _ = read("condor", f"{ad}{banner}\n")
        assert len(jobs) == 1


TEN = "s#{id}.0#1700000014|amy|1337|639|26|1700000123|1700001460|165654|295493|10|"


@pytest.mark.parametrize("behind", ["", "1|", "1.25|", "undefined|"])
@pytest.mark.parametrize("begin", [TEN.index("6|170"), TEN.index("165654"), TEN.index("|10|")])
def test_a_delimiter_too_many_in_fields_of_apel_makes_no_other_job(behind, begin):
    lines = [TEN.format(id=id) + behind for id in range(1, 5)]
    whole, told = read("condor", "\n".join(lines) + "\n")
    assert (len(whole), told) == (4, set())
    for at in range(begin, len(lines[1])):
        changed = [lines[0], f"{lines[1][:at]}|{lines[1][at:]}", *lines[2:]]
        others, told = read("condor", "\n".join(changed) + "\n")
        assert told or others == whole, changed[1]


@pytest.mark.parametrize(
    "line",
    [TEN.replace("165654", "165|654"), TEN.replace("295493", "295|493"), TEN + "0|", TEN + "x|"],
)
def test_a_log_of_one_line_has_no_eleventh_field_that_is_no_factor(line):
    jobs, told = read("condor", line.format(id=1) + "\n")
    assert jobs == []
    assert [each.startswith("no factor of a node") for each in told] == [True]


XDMOD = (
    "JobID|JobIDRaw|Cluster|Partition|QOS|Account|Group|GID|User|UID|Submit|Eligible|Start|End|"
    "Elapsed|ExitCode|State|NNodes|NCPUS|ReqCPUS|ReqMem|ReqTRES|AllocTRES|Timelimit|NodeList|"
    "JobName\n"
)
OF_XDMOD = (
    "{id}|{id}|c|long|normal|acc|grp|100|{user}|1000|2023-11-14T22:13:20|2023-11-14T22:13:20|"
    "2023-11-14T22:15:00|2023-11-14T23:15:00|01:00:00|0:0|COMPLETED|1|64|64|4000M|"
    "cpu=64,mem=4000M,node=1|cpu=64,mem=4000M,node=1|02:00:00|cn01|job.{id}\n"
)
OWN = "JobID|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|WorkDir|SubmitLine\n"
OF_OWN = "{id}|c|{user}|a|COMPLETED|100|200|300|100|4|/home/{user}|sbatch x\n"


def used(jobs):
    """What jobs used, and whose they are: texts beside a text may have its delimiters."""
    names = "Id|User|Project|StartTime|EndTime|Duration|Processors|CpuDuration"
    return [sorted(re.findall(f"<(?:{names})>[^<]*", dumps(job))) for job in jobs]


@pytest.mark.parametrize(("header", "row"), [(XDMOD, OF_XDMOD), (OWN, OF_OWN)])
@pytest.mark.parametrize("instead", ["", " ", "||"])
def test_a_record_of_sacct_without_a_delimiter_is_no_text_of_the_one_before_it(
    header, row, instead
):
    """The last column is a text, which may have line breaks and delimiters."""
    rows = [row.format(id=id, user=user) for id, user in enumerate(("amy", "bob", "cia"), 1)]
    whole, told_of_whole = read("slurm", header + "".join(rows))
    assert len(whole) == 3
    for found in re.finditer(r"\|", rows[1]):
        changed = rows[1][: found.start()] + instead + rows[1][found.end() :]
        jobs, told = read("slurm", header + rows[0] + changed + rows[2])
        assert used(jobs) == used(whole) or told - told_of_whole, changed
        assert [jobs[0], jobs[-1]] == [whole[0], whole[2]]


@pytest.mark.parametrize("put", ["|", "\n"])
def test_a_record_of_sacct_with_a_delimiter_or_a_line_end_in_it_is_no_text_before_it(put):
    rows = [OF_XDMOD.format(id=id, user=user) for id, user in ((1, "amy"), (2, "bob"))]
    whole, told_of_whole = read("slurm", XDMOD + "".join(rows))
    begin_of_text = rows[1].rindex("|")
    for at in range(1, begin_of_text):
        changed = rows[1][:at] + put + rows[1][at + (put == "|") :]
        jobs, told = read("slurm", XDMOD + rows[0] + changed)
        assert used(jobs) == used(whole) or told - told_of_whole, changed


def test_lines_of_a_text_with_delimiters_belong_to_it():
    text = "sbatch --wrap 'a | b\n  c | d | e || f | g | h | i | j | k | l | m | n\n7 | 8 | 9'"
    row = OF_OWN.replace("sbatch x", text).format(id=1, user="amy")
    jobs, told = read("slurm", OWN + row + OF_OWN.format(id=2, user="bob"))
    assert (len(jobs), told) == (2, set())
    assert "8 | 9" in dumps(jobs[0])


URF = "http://schema.ogf.org/urf/2003/09/urf"
UR = (
    "  <urf:JobUsageRecord>\n    <urf:JobIdentity><urf:LocalJobId>{id}</urf:LocalJobId>"
    "</urf:JobIdentity>\n    <urf:WallDuration>PT60S</urf:WallDuration>\n"
    "    <urf:Processors>4</urf:Processors>\n  </urf:JobUsageRecord>\n"
)


@pytest.mark.parametrize("instead", ["", "x", " ", "xx"])
@pytest.mark.parametrize("which", [1, 2, 3])
def test_a_usage_record_with_a_damaged_tag_is_bad_and_costs_only_itself(which, instead):
    begin, end = f'<urf:UsageRecords xmlns:urf="{URF}">\n', "</urf:UsageRecords>\n"
    rows = [UR.format(id=id) for id in (1, 2, 3)]
    whole, _ = read("ur", begin + "".join(rows) + end)
    assert len(whole) == 3
    others = [job for id, job in enumerate(whole, 1) if id != which]
    row = rows[which - 1]
    for tag in ("<urf:JobUsageRecord>", "</urf:JobUsageRecord>"):
        for at in range(row.index(tag), row.index(tag) + len(tag) - 1):
            changed = row[:at] + instead + row[at + 1 :]
            text = "".join([begin, *rows[: which - 1], changed, *rows[which:], end])
            jobs, told = read("ur", text)
            assert jobs == whole or told, changed
            if tag[1] != "/":
                assert jobs in (others, whole), changed


NEARLY = [
    ("lsf", RECORDS["lsf"][1], "JOB_FINISH",
     ["JOB_FINSH", "JOB_FINISHH", "OB_FINISH", "JOB_FINISG"]),
    ("pbs", RECORDS["pbs"][1], ";E;", [f";{letter};" for letter in "DSQALF"]),
    ("apel", RECORDS["apel"][1], "individual", ["indvidual", "individuall", "inxividual"]),
    ("condor", 'MyType = "Job"\n' + RECORDS["condor"][1], '"Job"', ['"Jb"', '"Jobb"', '"Jxb"']),
]  # fmt: skip


@pytest.mark.parametrize(("format_", "record", "word", "damaged"), NEARLY)
def test_a_record_whose_kind_is_nearly_one_is_bad_and_not_skipped(format_, record, word, damaged):
    whole, _ = read(format_, record + "\n")
    assert len(whole) == 1
    for other in damaged:
        jobs, told = read(format_, record.replace(word, other, 1) + "\n")
        assert (jobs, bool(told)) == ([], True), other


def test_kinds_of_records_that_there_are_are_skipped():
    others = [
        ("lsf", RECORDS["lsf"][1].replace("JOB_FINISH", "JOB_FINISH2", 1)),
        ("lsf", RECORDS["lsf"][1].replace("JOB_FINISH", "JOB_RESIZE", 1)),
        ("apel", RECORDS["apel"][1].replace("individual-job", "summary", 1)),
    ]
    assert [read(format_, record + "\n") for format_, record in others] == [([], set())] * 3
    assert len(read("condor", 'MyType = "job"\n' + RECORDS["condor"][1])[0]) == 1
