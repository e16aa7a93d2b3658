"""An odd value of any column of any format costs that value: it is told, and its text is kept.

Each value of one record of each format is replaced in turn. A column of which nothing is read
changes nothing; what the usage is made of may refuse the record. # decision 1045
"""

import json
import re
from copy import deepcopy

import pytest
from records import by_kind
from written_records import APEL, FLUX, FORMATS, SWF, written

from sssjob.document import dumps
from sssjob.records.clock import A_TIME
from sssjob.records.layout import NO_STATE
from sssjob.records.record import KEPT

# fmt: off
# What a value is in the text of a record.
VALUES = {
    "slurm":         r"[^|\n]+",
    "torque":        r"(?<=[A-Za-z_]=)[^ \n]+",
    "openpbs":       r"(?<=[A-Za-z_]=)[^ \n]+",
    "sge":           r"[^:\n]+",
    "lsf":           r'(?<= ")[^" \n]*(?=" )|(?<= )[^" \n]+',
    "slurm-jobcomp": r"(?<=[A-Za-z]=)[^ \n]+",
}
# fmt: on
KINDS = ("abc", "-5", "1e400")
OF_JSON = (*KINDS, -5, [7], {"a": 7})


def replaced(pattern, text):
    """The text with each of its values replaced by each odd one."""
    for found in re.finditer(pattern, text):
        begin, end = found.span()
        for odd in KINDS:
            if odd != text[begin:end]:
                yield f"{found[0]!r} at {begin}", odd, text[:begin] + odd + text[end:]


def nested(value, path=()):
    if path:
        yield path
    for key, each in value.items() if isinstance(value, dict) else ():
        yield from nested(each, (*path, key))


def changed(whole, at=lambda whole: whole, indent=1):
    """JSON with each of its values replaced, those that hold others among them."""
    for path in nested(at(whole)):
        for odd in OF_JSON:
            copy = deepcopy(whole)
            place = at(copy)
            for key in path[:-1]:
                place = place[key]
            if type(place[path[-1]]) is type(odd) is not str:
                continue  # it may be a value of this column
            place[path[-1]] = odd
            yield ".".join(map(str, path)), odd, json.dumps(copy, indent=indent) + "\n"


def behind(head, found):
    return ((where, odd, head + text) for where, odd, text in found)


def cases(name):
    """The format, the text of a record, and it with each of its values replaced."""
    if name == "apel":
        return "apel", APEL, replaced(r"(?<=[a-z]: )[^v\n]+", APEL)
    if name == "swf":
        head, body = SWF.split("\n", 1)
        return "swf", SWF, behind(f"{head}\n", replaced("[0-9]+", body))
    if name == "flux":
        return "flux", json.dumps(FLUX), changed(FLUX)
    text = written(name)
    if name == "slurm-json":
        return name, text, changed(json.loads(text), lambda whole: whole["jobs"][0])
    if name == "condor":
        # A list and an ad are expressions like any other, which tell nothing.
        found = changed(json.loads(text), indent=None)
        return name, text, (case for case in found if isinstance(case[1], str | int))
    first = 1 if name == "slurm" else 0
    head = "".join(text.splitlines(keepends=True)[:first])
    if name == "sge":
        text = text.splitlines(keepends=True)[-1]  # without the row of a slave task
    body = text.removeprefix(head)
    return FORMATS[name][0], text, behind(head, replaced(VALUES[name], body))


def properties(job):
    """What a job says, in the order of its text."""
    return re.findall(r"<[A-Z][^<>/]*>[^<>]+", dumps(job))


def element(told):
    """The element of a property, and of an Extension its name."""
    return re.match(r"<Extension [^>]*|<\w+", told)[0]


MOST = 6  # properties that are made of one value


@pytest.mark.parametrize("name", [*sorted({*FORMATS} - {"ur"}), "apel", "swf", "flux"])
def test_an_odd_value_is_told_and_kept_or_refuses_its_record(name):
    format_, whole, found = cases(name)
    (job,), said, _ = by_kind(format_, whole)
    usual = properties(job)
    faults, converted = [], 0
    for where, odd, text in found:
        jobs, told, bad = by_kind(format_, text)
        news = [message for message in told if message not in said]
        if not jobs:
            assert bad, (where, odd)
            continue
        converted += 1
        shown = odd if isinstance(odd, str) else json.dumps(odd).strip("[]")
        now = properties(jobs[0])
        is_kept = any(shown in each for each in now)
        lost = [each for each in usual if each not in now]
        if (lost or any(KEPT in message for message in news)) and not is_kept:
            faults.append((where, odd, "not kept", lost, news))
        if len(lost) > MOST:
            faults.append((where, odd, "costs others", lost, news))
        in_its_place = any(shown in each for each in now if element(each) in map(element, usual))
        if lost and not news and not in_its_place:
            faults.append((where, odd, "not told", lost, news))
        if len(news) != len({*news}):
            faults.append((where, odd, "told twice", lost, news))
    assert not faults, "\n".join(map(str, faults))
    assert converted > len(usual)


@pytest.mark.parametrize(
    "key",
    ["UserId", "Partition", "TimeLimit", "NodeList", "Tres", "Account", "Cluster", "SubmitTime"],
)
@pytest.mark.parametrize("blanks", [" ", "   "])
def test_a_blank_value_of_jobcomp_costs_that_value(key, blanks):
    whole = written("slurm-jobcomp")
    text = re.sub(rf"(?<={key}=)[^ ]*", blanks, whole)
    (job,), told, bad = by_kind("slurm-jobcomp", text)
    assert f"{key} is blank, which tells nothing" in told
    assert not bad
    empty = by_kind("slurm-jobcomp", re.sub(rf"(?<={key}=)[^ ]*", "", whole))[0]
    assert [job] == empty


@pytest.mark.parametrize(
    ("before", "after"), [(" 64 60.0 ", " 0 60.0 "), (" 64 60.0 ", " 64 abc ")]
)
def test_an_odd_state_or_host_factor_of_LSF_costs_itself(before, after):
    whole = written("lsf")
    (usual,), _, _ = by_kind("lsf", whole)
    (job,), told, _ = by_kind("lsf", whole.replace(before, after))
    assert {*properties(usual)} <= {*properties(job)}
    assert ("taken for Completed" in "".join(told)) == ("abc" not in after)


@pytest.mark.parametrize("place", range(5))
def test_an_odd_number_about_energy_of_LSF_costs_itself(place):
    numbers = ["33", "1", "2.5", "3", "4"]
    behind = " {} 0 12 0 7 0\n"  # of affinity, which is empty
    whole = written("lsf").rstrip("\n")
    (usual,), said, _ = by_kind("lsf", whole + behind.format(" ".join(numbers)))
    numbers[place] = "abc"
    (job,), told, _ = by_kind("lsf", whole + behind.format(" ".join(numbers)))
    lost = {*properties(usual)} - {*properties(job)}
    news = [message for message in told if message not in said]
    assert (len(lost), len(news)) == ((1, 1) if place == 0 else (0, 0))
    assert any("abc" in each for each in properties(job)) == (place == 0)


def test_an_odd_status_of_SWF_is_kept():
    (job,), told, _ = by_kind("swf", SWF.replace(" 1 5 3 7 ", " abc 5 3 7 "))
    assert '<Extension type="SWF" name="Status">abc</Extension>' in dumps(job)
    assert any("taken for Completed, kept as an Extension" in each for each in told)


def test_a_host_less_than_LSF_says_is_no_odd_state():
    _, _, bad = by_kind("lsf", written("lsf").replace('"4*n1" 64', "64"))
    assert bad == ["no state and host factor behind the hosts"]


@pytest.mark.parametrize("word", ["RUNNING", "SUSPENDED", "COMPLETING"])
@pytest.mark.parametrize("name", ["slurm", "slurm-json", "slurm-jobcomp", "flux"])
def test_a_job_that_goes_on_has_no_end_whatever_its_record_says(name, word):
    format_, whole, _ = cases(name)
    (usual,), said, _ = by_kind(format_, whole)
    known = {"RUNNING": "RUN", "SUSPENDED": "SCHED", "COMPLETING": "CLEANUP"}[word]
    text = re.sub('INACTIVE"', f'{known}"', whole) if name == "flux" else whole
    (job,), told, _ = by_kind(format_, text.replace("COMPLETED", word))
    (new,) = [message for message in told if message not in said]
    assert "an End of a job that goes on: " in new
    assert ("EndTime" in usual, "EndTime" in job) == (True, False)
    assert job.get("State") != "Completed"


@pytest.mark.parametrize("status", [0, 1, 2, 5, 6, 7, 8, 9])
@pytest.mark.parametrize("ended", [1_700_009_000, 0, None])
def test_an_ad_of_a_job_that_goes_on_has_no_end_and_one_in_it_is_told(status, ended):
    format_, whole, _ = cases("condor")
    ad = {**json.loads(whole), "JobStatus": status, "CompletionDate": ended}
    (job,), told, bad = by_kind(format_, json.dumps(ad))
    assert ("EndTime" in job, bad) == (False, [])
    assert any("an End of a job that goes on: " in each for each in told) == bool(ended)


@pytest.mark.parametrize(("name", "state"), [("condor", "JobStatus"), ("flux", "state")])
@pytest.mark.parametrize("without", [None, ""])
def test_a_job_without_a_state_is_told(name, state, without):
    format_, whole, _ = cases(name)
    record = json.loads(whole)
    record[state] = without
    (job,), told, bad = by_kind(format_, json.dumps(record))
    assert ("State" in job, bad) == (False, [])
    assert NO_STATE in told


@pytest.mark.parametrize("value", ["1.5", 1.5])
@pytest.mark.parametrize("name", ["ExitCode", "HoldReasonCode", "MinHosts", "MaxHosts"])
def test_a_part_of_a_whole_number_of_HTCondor_is_odd(name, value):
    ad = {**json.loads(written("condor")), name: value}
    ((job,), told, bad) = by_kind("condor", json.dumps(ad) + "\n")
    assert (told, bad) == ([f"'1.5' is not a whole number: {name}; {KEPT}"], [])
    assert f'<Extension type="HTCondor" name="{name}">1.5' in properties(job)
    assert "ExitCode" not in job


@pytest.mark.parametrize("value", ["1.5", 1.5])
@pytest.mark.parametrize("name", ["ClusterId", "ProcId"])
def test_a_part_of_an_id_of_HTCondor_is_that_of_no_job(name, value):
    ad = {**json.loads(written("condor")), name: value}
    jobs, _, bad = by_kind("condor", json.dumps(ad) + "\n")
    assert (jobs, bad) == ([], [f"'1.5' is not a whole number: {name}"])


def test_a_whole_number_with_a_point_is_one():
    ad = {**json.loads(written("condor")), "ClusterId": "71.0", "ProcId": 2.0, "ExitCode": 3.0}
    ((job,), told, bad) = by_kind("condor", json.dumps(ad) + "\n")
    assert (job.id, job["ExitCode"].text, told, bad) == ("71.2", "3", [], [])


WORDS = ["*", "N/A", "(null)", "Unknown"]
# Where a time stands in a record of a format that has no word for one that is not known.
TIMES = {
    "ctime": ("pbs", written("torque"), r"(?<= ctime=)\S+"),
    "start": ("pbs", written("openpbs"), r"(?<= start=)\S+"),
    "StartTime": ("apel", APEL, r"(?<=StartTime: )\S+"),
    "EndTime": ("apel", APEL, r"(?<=EndTime: )\S+"),
}


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("name", TIMES)
def test_a_word_of_others_for_no_time_is_told_and_kept(name, word):
    format_, whole, pattern = TIMES[name]
    text, times = re.subn(pattern, word, whole)
    ((job,), told, bad) = by_kind(format_, text)
    said = f"{word!r} is not {A_TIME}: {name}; no time is known, {KEPT}"
    assert (times, told, bad) == (1, [said], [])
    assert job.delivered.text("Duration") == "600"
    assert [each for each in properties(job) if each.endswith(f'name="{name}">{word}')]


@pytest.mark.parametrize("word", WORDS)
def test_it_is_one_of_Slurm(word):
    text = f"JobID|State|Submit|ElapsedRaw|NCPUS\n7|COMPLETED|{word}|60|4\n"
    assert by_kind("slurm", text)[1:] == ([], [])


def test_a_number_of_GPUs_that_is_told_twice_is_none():
    whole = written("torque")
    gpus = re.search(":gpus=[0-9]+", whole)[0]
    ((job,), told, _) = by_kind("pbs", whole.replace(gpus, f":gpus=1{gpus}"))
    assert sum("nodes with a number of GPUs" in message for message in told) == 1
    assert not [each for each in properties(job) if each.startswith("<Resource")]
    (same,), again, _ = by_kind("pbs", whole.replace(gpus, 2 * gpus))
    assert again == []
    assert [each for each in properties(same) if each.startswith("<Resource")]


@pytest.mark.parametrize(
    ("owner", "host", "is_kept"),
    [("amy@login", "login", False), ("bob@login", "login", True), ("login", "", True),
     ("amy", "", False), ("amy@", "", False)],
)  # fmt: skip
def test_another_owner_of_TORQUE_is_kept(owner, host, is_kept):
    ((job,), told, _) = by_kind(
        "pbs", written("torque").replace("user=amy", f"user=amy owner={owner}")
    )
    assert (job.get("SubmitHost"), told) == (host, [])
    assert (f'<Extension type="PBS" name="owner">{owner}' in properties(job)) == is_kept


ROW = written("sge").splitlines()[-1].split(":")
ROW[33] = "NONE"  # granted_pe
ANCHORS = {"submission_time": 8, "category": 39, "pe_taskid": 41}


@pytest.mark.parametrize("odd", ["abc", "1e400", ""])
@pytest.mark.parametrize("name", ANCHORS)
def test_one_odd_anchor_of_Grid_Engine_costs_itself(name, odd):
    row = [*ROW]
    row[ANCHORS[name]] = odd
    ((job,), told, bad) = by_kind("sge", ":".join(row) + "\n")
    assert (len(told), bad) == (1, [])
    assert name in told[0]
    assert job.delivered.text("Duration") == "600"
    kept = f'<Extension type="SGE" name="{name}">{odd}'
    assert (kept in properties(job)) == (odd != "")


@pytest.mark.parametrize(
    "changes",
    [{8: "abc", 39: "abc"}, {39: "abc", 41: "abc"}, {33: "mpi", 41: "abc"}, {8: "12"},
     {39: "abc", 36: "x"}, {39: "abc", 9: "x"}],
    ids=str,
)  # fmt: skip
def test_two_odd_anchors_or_a_slave_task_may_be_anything(changes):
    row = [changes.get(place, text) for place, text in enumerate(ROW)]
    jobs, _, bad = by_kind("sge", ":".join(row) + "\n")
    assert (len(jobs), len(bad)) == (0, 1)


def univa(size, clock, wall="7"):
    behind = ["NONE", "NONE", "0", "0", "sub", "/home", "qsub x", clock, "5", "NONE"]
    row = [*ROW, *behind][:size]
    row[13] = wall
    return ":".join(row) + "\n"


@pytest.mark.parametrize("size", [53, 54, 55])
@pytest.mark.parametrize(
    ("clock", "wall"), [("600.000", "600"), ("600", "600"), ("602", "602"), ("650", "7")]
)
def test_a_wall_time_without_a_fraction_is_none_of_a_command(size, clock, wall):
    ((job,), _, bad) = by_kind("sge", univa(size, clock))
    assert (job.delivered.text("Duration"), bad) == (wall, [])
    (command,) = [each for each in properties(job) if 'name="submit_cmd"' in each]
    assert ("650" in command) == (wall == "7")
