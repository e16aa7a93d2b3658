"""Status of batch systems with hostile values: nothing ends the reading, no job is lost unsaid.

A value somewhere in one of the jobs of a real output is replaced, whatever it is and however deep
it stands: what becomes of the other jobs stays as it was.
"""

import io
import json
import re
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_values import nodes, replaced
from records import DATA, errors

from sssjob.errors import UnusableInput
from sssjob.records.builders import OBJECTS
from sssjob.records.record import Bad, Converted, Noted, Options, Skipped
from sssjob.verbs import status

DEEP = 1000
LONG = "9" * 400
SOURCES = {
    "squeue-json": ("lcginfo/slurm-24.11/squeue.json", "jobs"),
    "condor-q": ("condor/condor_q.json", ""),
    "flux": ("records/flux/jobs.json", "jobs"),
    "qstat-json": ("status/qstat-json/jobs.json", "Jobs"),
}
TEXTS = {
    "qstat-xml": "status/qstat-xml/jobs.xml",
    "qstat-text": "lcginfo/pbs/qstat-f.txt",
    "sge-xml": "status/sge-xml/list-and-details.xml",
    "scontrol": "lcginfo/slurm-22.05/scontrol-show-job-oneline.txt",
}
MOST = 3  # jobs that are taken
# What stands in the place of a value in JSON, as it stands there.
HOSTILE = (
    "null", "true", "false", "0", "-1", "1", "-0.0", "1.5", "1e300", "-1e300", "1e400", "NaN",
    "-Infinity", LONG, f"-{LONG}", "9" * 5000, "9223372036854775808", "-9223372036854775809",
    "4294967296", "2147483648", '""', '" "', '"\\u0000"', '"\\u001b[31m"', '"\\n"', '"\\ud800"',
    '"\\ufffe"', '"-1"', '"nan"', '"inf"', '"1e999"', f'"{LONG}"', '"' + "9" * 5000 + '"',
    '"0x10"', '"1_000"', '"\\u0661"', '"1\\u00b2"', '"<&>"', '"]]>"', '"a,b;c|d"', '"n[9-1]"',
    r'"\/Expr(1/0)\/"', r'"\/Expr(((\/"', r'"\/Expr(real(\"INF\"))\/"', '"n[1-99999999999]"',
    '"cpu=,mem=-1,gres/gpu=inf"', '"afterok:"', '"99999-99:99:99"', '"1[0-99999999999]"',
    "[]", "{}", "[null]", "[[]]", '[{}, 5, "a"]', '{"": ""}', '{"a": {"b": [1]}}',
    '{"set": true, "infinite": false, "number": -1}', '{"set": true, "number": {"set": 1}}',
    '{"set": true, "number": 1e300}', '{"infinite": true}', '{"set": [], "number": "5"}',
    '{"a": 1, "a": 2}', "[" * DEEP + "]" * DEEP, '{"a":' * DEEP + "1" + "}" * DEEP,
    "[" * 900 + "]" * 900, "[" * 190 + "]" * 190,
)  # fmt: skip
HOSTILE_TEXTS = (*(text.encode() for text in (
    "", " ", "abc", "-1", "0", "1.5", LONG, "9" * 5000, "NaN", "inf", "1e999", "\u0661", "1\u00b2",
    "&lt;", "&amp;", "&x;", "&#0;", "]]>", "4294967296", "-2147483649", "n[9-1]",
    "n[1-99999999999]", ",", "=", ":", "\x1b[31m", "99999-99:99:99", "1-9999999999:1",
    "cpu=,mem=-1", "<a>b</a>", "<a>" * DEEP + "</a>" * DEEP, "<a", "<!-- -->",
)), b"\xff\xfe", b"\x00", b"\xed\xa0\x80", b"\n")  # fmt: skip
VALUES = {
    "qstat-xml": re.compile(rb">([^<]*)</"), "sge-xml": re.compile(rb">([^<]*)</"),
    "scontrol": re.compile(rb"=([^ =\n]*)(?=[ \n])"), "qstat-text": re.compile(rb" = ([^\n]*)"),
}  # fmt: skip
MARK = "\ue000"  # no output has it: what stands there is put in its place


def outcomes(name, data):
    formats = [row for row in status.formats() if row.name == name]
    return list(status.outcomes(io.BytesIO(data), formats, Options(zone="UTC"), OBJECTS))


@cache
def parsed(name):
    file, member = SOURCES[name]
    found = json.loads((DATA / file).read_text())
    jobs = found[member] if member else found
    jobs = dict([*jobs.items()][:MOST]) if isinstance(jobs, dict) else jobs[:MOST]
    return ({**found, member: jobs} if member else jobs), member


def spelled(document, hostile):
    text = json.dumps(document, indent=1).replace('"/Expr(', '"\\/Expr(').replace(')/"', ')\\/"')
    return text.replace(json.dumps(MARK), hostile).encode()


@st.composite
def hostile_json(draw, name):
    """The number of jobs, that of one of them, and a document with a hostile value in it."""
    document, member = parsed(name)
    jobs = document[member] if member else document
    keys = [*jobs] if isinstance(jobs, dict) else [*range(len(jobs))]
    place = draw(st.integers(0, len(keys) - 1))
    of_job = [*nodes(jobs[keys[place]])]
    path = (keys[place], *draw(st.sampled_from(of_job)))
    changed = replaced(jobs, path, MARK)
    hostile = draw(st.sampled_from(HOSTILE))
    return len(keys), place, spelled({**document, member: changed} if member else changed, hostile)


@cache
def jobs_of(name):
    document, _ = parsed(name)
    return [item for item in outcomes(name, spelled(document, "")) if isinstance(item, Converted)]


@pytest.mark.parametrize("name", SOURCES)
@given(data=st.data())
def test_a_hostile_value_in_json_costs_at_most_its_job(name, data):
    count, place, document = data.draw(hostile_json(name))
    kept = held(outcomes(name, document))
    whole = [item.job for item in jobs_of(name)]
    assert len(whole) == count
    others = [job for number, job in enumerate(whole) if number != place]
    assert [job for job in kept if job in others] == others


@cache
def text_of(name):
    data = (DATA / TEXTS[name]).read_bytes()
    return b"JobId=".join(data.split(b"JobId=")[: MOST + 1]) if name == "scontrol" else data


@cache
def whole_text(name):
    return [item.job for item in outcomes(name, text_of(name)) if isinstance(item, Converted)]


@pytest.mark.parametrize("name", TEXTS)
@given(data=st.data())
def test_a_hostile_value_in_xml_or_text_costs_at_most_its_job(name, data):
    text = text_of(name)
    spans = [found.span(1) for found in VALUES[name].finditer(text)]
    begin, end = data.draw(st.sampled_from(spans))
    new = data.draw(st.sampled_from(HOSTILE_TEXTS))
    whole = whole_text(name)
    try:
        kept = held(outcomes(name, text[:begin] + new + text[end:]))
    except UnusableInput:
        assert end < len(b"JobId=") + 9  # a listing that begins with no job is none
        return
    # Entries of a list share details; a job of scontrol without an id is a part of the one before.
    most = {"sge-xml": 3, "scontrol": 2}.get(name, 1)
    assert len([job for job in whole if job not in kept]) <= most


@pytest.mark.parametrize("name", [*SOURCES, *TEXTS])
@given(data=st.data())
def test_a_cut_anywhere_costs_what_is_behind_it_and_is_told(name, data):
    text = spelled(parsed(name)[0], "") if name in SOURCES else text_of(name)
    size = data.draw(st.integers(1, len(text.rstrip()) - 1))
    whole = [item.job for item in jobs_of(name)] if name in SOURCES else whole_text(name)
    try:
        found = outcomes(name, text[:size])
    except UnusableInput:
        return  # there is no job in it yet
    kept = held(found)
    told = [item for item in found if not isinstance(item, Converted)]
    if name in ("scontrol", "qstat-text") and text[size - 1 : size] == b"\n":
        return  # a listing that is cut between two lines is a shorter one
    assert told
    if name != "sge-xml":  # the list lacks what its details say, which may be behind the cut
        complete = [job for job in kept if job in whole]
        assert complete == whole[: len(complete)]


def held(found):
    """The jobs, which are job objects but for numbers that contradict each other."""
    assert all(isinstance(item, (Converted, Bad, Skipped, Noted)) for item in found)
    kept = [item.job for item in found if isinstance(item, Converted)]
    said = [text for job in kept for text in errors(job)]
    assert [text for text in said if not text.endswith(("[E-COUNTS]", "[E-LIMIT]"))] == []
    return kept


ENDLESS = "9" * 5000
FAULTS = [
    ("flux", '{"jobs": [{"id": 1, "state": "RUN", "t_run": %s}]}' % ("[" * 900 + "]" * 900)),
    ("squeue-json", '{"jobs": [{"job_id": 1, "name": %s}]}' % ("[" * 900 + "]" * 900)),
]


@pytest.mark.parametrize("name, document", FAULTS)
def test_values_that_are_nested_too_deep_end_nothing(name, document):
    assert [item.reason for item in outcomes(name, document.encode())] == ["nested too deep"]


@pytest.mark.parametrize("name, old, new", [
    ("qstat-xml", b"<start_time>", b"<start_time>%s</start_time><start_time>"),
    ("sge-xml", b"<JB_priority>", b"<JB_priority>%s</JB_priority><JB_priority>"),
])  # fmt: skip
def test_a_number_longer_than_python_reads_ends_nothing(name, old, new):
    data = text_of(name)
    assert old in data
    held(outcomes(name, data.replace(old, new % ENDLESS.encode())))


def test_ads_behind_what_is_none_are_read():
    ad = '{"ClusterId": %d, "JobStatus": 1, "MyType": "Job"}'
    for odd in ('"a"', "5", "null", "1e300", "-1"):
        for document in (f"[{odd}, {ad % 1}]", f"[{ad % 1}, {odd}, {ad % 2}]"):
            found = outcomes("condor-q", document.encode())
            assert [item.job.id for item in found if isinstance(item, Converted)] == (
                ["1.0", "2.0"][: document.count('Job"')]
            )
            assert len([item for item in found if isinstance(item, Bad)]) == 1


def test_both_processors_of_a_task_and_tasks_of_a_node_are_kept():
    """A job of Slurm with both was no valid job object."""
    job = {"job_id": 1, "job_state": "RUNNING", "cpus_per_task": 4, "tasks_per_node": 2}
    [found] = held(outcomes("squeue-json", json.dumps({"jobs": [job]}).encode()))
    assert found.get("TaskDistribution") == "4"
    assert found.properties.get("Extension", type="Slurm", name="NtasksPerNode").text == "2"


def test_a_limit_of_flux_with_a_fraction_is_whole_seconds():
    job = {"id": 1, "state": "RUN", "t_submit": 5, "t_run": 6, "duration": 1.5}
    [found] = held(outcomes("flux", json.dumps({"jobs": [job]}).encode()))
    assert found.requested.text("Duration") == "2"
