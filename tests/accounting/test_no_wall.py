"""A job that ended and used something counts 0 s where nothing tells its wall time, and is told.

In each format, whichever of the values is missing that would tell it. # decision 1073
"""

import io
import json
import re

import pytest
from records import by_kind
from written_records import APEL, FLUX, JOB, SWF, written

from sssjob.document import dumps
from sssjob.records import find, read_records
from sssjob.records.builders import TEXTS
from sssjob.records.layout import NO_WALL
from sssjob.records.making import BACKWARDS
from sssjob.records.record import Noted, Options


def without(text, *keys):
    """The text of a record of PBS or APEL without some of its keys."""
    for key in keys:
        text, times = re.subn(rf"(?m)( {re.escape(key)}=\S+|^{key}: .*\n)", "", text)
        assert times == 1
    return text


def put(text, sign, **values):
    """The text of a table with other values in some places of its last line."""
    *head, last = text.splitlines()
    fields = last.split(sign)
    for place, value in values.items():
        fields[int(place[1:])] = value
    return "\n".join([*head, sign.join(fields)]) + "\n"


def keyed(text, **values):
    for key, value in values.items():
        text = re.sub(rf" {key}=\S+", f" {key}={value}", text)
    return text


def swf(run="600", cpu="300", status="1", processors="4"):
    """A line of SWF with another run time, CPU time, status or number of processors."""
    return put(SWF, " ", _3=run, _4=processors, _5=cpu, _10=status)


def sacct(start, end, wall, state="COMPLETED", cpus="4"):
    return f"JobID|State|Start|End|ElapsedRaw|NCPUS\n7|{state}|{start}|{end}|{wall}|{cpus}\n"


def timeless(name, state="COMPLETED"):
    whole = json.loads(written(name))
    whole["jobs"][0]["state"]["current"] = [state]
    whole["jobs"][0]["steps"] = []
    del whole["jobs"][0]["time"]
    return json.dumps(whole)


def ad(**values):
    whole = {**json.loads(written("condor")), **values}
    return json.dumps({name: value for name, value in whole.items() if value is not None}) + "\n"


NO_CPU = {"CumulativeRemoteUserCpu": None, "CumulativeRemoteSysCpu": None}
UNTIMED = {"RemoteWallClockTime": None, "JobCurrentStartDate": None}
JOBCOMP = written("slurm-jobcomp")
LSF = written("lsf")
SGE = written("sge").splitlines()[-1] + "\n"
LAST = len(LSF.split(" ")) - 1

# fmt: off
TOLD = {
    "sacct, no end":        ("slurm", sacct("100", "Unknown", "")),
    "sacct, no start":      ("slurm", sacct("Unknown", "300", "")),
    "sacct, neither":       ("slurm", "JobID|State|NCPUS\n7|COMPLETED|4\n"),
    "sacct, only CPU time": ("slurm", "JobID|State|TotalCPU\n7|COMPLETED|00:01:00\n"),
    "slurm-json":           ("slurm-json", timeless("slurm-json")),
    "jobcomp, no end":      ("slurm-jobcomp", keyed(JOBCOMP, EndTime="Unknown")),
    "jobcomp, no start":    ("slurm-jobcomp", keyed(JOBCOMP, StartTime="Unknown")),
    "pbs":                  ("pbs", without(written("openpbs"), "start",
                                            "resources_used.walltime")),
    "pbs, only CPU time":   ("pbs", without(written("torque"), "start", "exec_host",
                                            "resources_used.walltime")),
    "sge":                  ("sge", put(SGE, ":", _10="0", _13="")),
    "lsf":                  ("lsf", put(LSF, " ", _2="0", **{f"_{LAST - 3}": "-1"})),
    "lsf, no start":        ("lsf", put(LSF, " ", _10="0", **{f"_{LAST - 3}": "-1"})),
    "condor":               ("condor", ad(**UNTIMED)),
    "condor, no CPU time":  ("condor", ad(**UNTIMED, **NO_CPU)),
    "flux, no end":         ("flux", json.dumps({**FLUX, "t_cleanup": "", "t_inactive": ""})),
    "flux, no start":       ("flux", json.dumps({**FLUX, "t_run": ""})),
    "swf":                  ("swf", SWF.replace(" 600 ", " -1 ")),
    "swf, cancelled":       ("swf", swf(run="-1", status="5")),
    "swf, failed":          ("swf", swf(run="-1", status="0")),
    "swf, no status":       ("swf", swf(run="-1", status="-1")),
    "apel":                 ("apel", without(APEL, "WallDuration", "StartTime")),
}
NOT_TOLD = {
    "goes on":           ("slurm", sacct("100", "Unknown", "", "RUNNING")),
    "never started":     ("slurm", sacct("Unknown", "300", "", "CANCELLED by 1")),
    "no time passed":    ("slurm", sacct("Unknown", "300", "0")),
    "start and end":     ("slurm", sacct("100", "300", "")),
    "nothing was used":  ("slurm", "JobID|State\n7|COMPLETED\n"),
    "slurm-json":        ("slurm-json", timeless("slurm-json", "CANCELLED")),
    "jobcomp":           ("slurm-jobcomp", keyed(JOBCOMP, StartTime="Unknown",
                                                 JobState="CANCELLED")),
    "condor, removed":   ("condor", ad(**UNTIMED, **NO_CPU, JobStatus=3)),
    "flux, cancelled":   ("flux", json.dumps({**FLUX, "t_run": "", "result": "CANCELED"})),
    "swf, cancelled":    ("swf", swf(run="-1", cpu="-1", status="5")),
    "swf, no CPU time":  ("swf", swf(run="-1", cpu="0", status="0")),
    "wall time alone":   ("pbs", without(written("openpbs"), "start")),
}
# fmt: on


@pytest.mark.parametrize("name", TOLD)
def test_a_job_that_used_something_for_no_known_time_is_told(name):
    format_, text = TOLD[name]
    ((job,), told, bad) = by_kind(format_, text)
    assert (told.count(NO_WALL), bad) == (1, [])
    assert not job.delivered or not job.delivered.text("Duration")


@pytest.mark.parametrize("name", NOT_TOLD)
def test_nothing_is_told_where_no_wall_time_is_missed(name):
    _, told, bad = by_kind(*NOT_TOLD[name])
    assert NO_WALL not in told
    assert not bad


@pytest.mark.parametrize("name", {**TOLD, **NOT_TOLD})
def test_the_texts_of_documents_are_told_of_as_job_objects_are(name):
    format_, text = {**TOLD, **NOT_TOLD}[name]
    found = read_records(find(format_), io.BytesIO(text.encode()), Options(), TEXTS)
    assert [each.message for each in found if isinstance(each, Noted)] == by_kind(format_, text)[1]


def test_times_that_go_backwards_are_told_once():
    _, told, _ = by_kind("slurm-jobcomp", keyed(JOBCOMP, EndTime=JOB.end - 10_000))
    assert told == [BACKWARDS]


def test_a_job_without_the_names_of_its_nodes_and_with_their_number_ran():
    ((job,), told, _) = by_kind("slurm-jobcomp", keyed(JOBCOMP, NodeList="(null)"))
    assert (job.delivered.text("Duration"), told) == ("600", [])
    ((job,), _, _) = by_kind("slurm-jobcomp", keyed(JOBCOMP, NodeList="(null)", NodeCnt="0"))
    assert not job.delivered.text("Duration")


@pytest.mark.parametrize("state", ["COMPLETED", "CANCELLED by 0", "FAILED", "DEADLINE"])
@pytest.mark.parametrize("start", ["1690000100", "Unknown"])
@pytest.mark.parametrize("wall", ["100", "0"])
def test_a_job_of_sacct_whose_nodes_were_not_assigned_ran_where_time_passed_in_it(
    state, start, wall
):
    end = int(start) + int(wall) if start != "Unknown" else 1690000200
    text = (
        "JobID|State|Start|End|ElapsedRaw|NCPUS|NodeList\n"
        f"7|{state}|{start}|{end}|{wall}|4|None assigned\n"
    )
    (job,), _, bad = by_kind("slurm", text)
    text = dumps(job)
    assert not bad
    assert ("<Duration>100<" in text) == ("<Processors>4<" in text) == (wall == "100")
    assert "None assigned" not in text


@pytest.mark.parametrize("status", ["0", "1", "5", "-1"])
@pytest.mark.parametrize("run", ["-1", "0", "600"])
@pytest.mark.parametrize("processors", ["-1", "4"])
def test_cpu_time_of_swf_counts_or_is_told(status, run, processors):
    """Whatever else is not known of the job; where nothing tells of how many it is, it is kept."""
    ((job,), told, bad) = by_kind("swf", swf(run=run, status=status, processors=processors))
    assert not bad
    if processors == "4":
        assert job.properties.text("CpuDuration") == "1200"
    else:
        assert job.properties.get("Extension", name="Average CPU Time").text == "300"
        assert any("Average CPU Time" in each for each in told)
