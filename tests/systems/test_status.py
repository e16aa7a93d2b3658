"""What batch systems say of live jobs becomes job objects, whatever the output is like."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import DATA, as_line, errors

from sssjob import registry
from sssjob.document import dumps
from sssjob.errors import UnusableInput
from sssjob.records.builders import OBJECTS, TEXTS
from sssjob.records.layout import Layout
from sssjob.records.record import Bad, Converted, Noted, Options, Skipped
from sssjob.systems.flux import words as flux
from sssjob.verbs import status

STATUS = DATA / "status"
FORMATS = {row.name: row for row in status.formats()}
QUIRKS = sorted(path for path in STATUS.glob("*/*") if path.suffix != ".outcomes")
# What real systems printed, and how many jobs are in it.
PRINTED = {
    "squeue-json": [("lcginfo/slurm-22.05/squeue.json", 54),
                    ("lcginfo/slurm-24.11/squeue.json", 3)],
    "scontrol": [("lcginfo/slurm-22.05/scontrol-show-job-oneline.txt", 54),
                 ("lcginfo/slurm-24.11/scontrol-show-job.txt", 54)],
    "sge-xml": [("lcginfo/gridengine/qstat-xml-long.xml", 6),
                ("lcginfo/gridengine/qstat-xml-f-r.xml", 15),
                ("lcginfo/gridengine/qstat-xml-finished.xml", 27),
                ("lcginfo/gridengine/qstat-xml-j-pending.xml", 3),
                ("lcginfo/gridengine/qstat-xml-j-running.xml", 1),
                ("lcginfo/gridengine/qstat-xml-j-unknown.xml", 0),
                ("status/sge-xml/list-and-details.xml", 5)],
    "condor-q": [("condor/condor_q.json", 5), ("condor/condor_q.long", 5),
                 ("condor/condor_q.xml", 5), ("condor/condor_q.new", 5)],
}  # fmt: skip
REAL = [(name, file, count) for name, files in PRINTED.items() for file, count in files]
ZONE = Options(zone="UTC")


def outcomes(name, data, builder=OBJECTS, options=ZONE):
    return list(status.outcomes(io.BytesIO(data), [FORMATS[name]], options, builder))


def jobs(name, data):
    return [item.job for item in outcomes(name, data) if isinstance(item, Converted)]


@pytest.mark.parametrize("path", QUIRKS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_each_job_becomes_what_stands_beside_it(path):
    name = path.parent.name
    expected = path.with_suffix(".outcomes").read_text(encoding="utf-8").splitlines()
    assert [as_line(item) for item in outcomes(name, path.read_bytes())] == expected


@pytest.mark.parametrize("name, file, count", REAL)
def test_what_real_systems_printed_is_read_whole_and_gives_valid_jobs(name, file, count):
    found = outcomes(name, (DATA / file).read_bytes())
    assert not [item for item in found if isinstance(item, Bad)]
    made = [item.job for item in found if isinstance(item, Converted)]
    assert len(made) == count
    assert [job.id for job in made if errors(job)] == []
    assert all(job.id and job.get("State") for job in made)


@pytest.mark.parametrize(
    "name, file",
    [(name, file) for name, file, _ in REAL] + [(p.parent.name, str(p)) for p in QUIRKS],
)
def test_both_builders_give_the_same(name, file):
    data = (DATA / file).read_bytes()
    texts = [
        item._replace(job=dumps(item.job)) if isinstance(item, Converted) else item
        for item in outcomes(name, data)
    ]
    assert outcomes(name, data, TEXTS) == texts


@pytest.mark.parametrize("name, file", [(name, file) for name, file, _ in REAL])
def test_an_output_is_recognised_among_all(name, file):
    data = (DATA / file).read_bytes()
    read = list(status.outcomes(io.BytesIO(data), status.formats(), ZONE, OBJECTS))
    assert read == outcomes(name, data)


@pytest.mark.parametrize("path", QUIRKS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_was_cut_is_told_and_the_rest_goes_on(path):
    """A prefix of an output gives jobs of the whole one; what has no job yet may be refused."""
    data, name = path.read_bytes(), path.parent.name
    whole = {job.id for job in jobs(name, data)}
    for size in range(0, len(data), max(len(data) // 40, 1)):
        try:
            found = outcomes(name, data[:size])
        except UnusableInput:
            continue
        ids = {item.job.id for item in found if isinstance(item, Converted)}
        assert ids <= whole or name == "sge-xml"  # its tasks may stand behind the cut


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.binary(max_size=300))
def test_any_bytes_are_refused_or_told_of(name, data):
    try:
        for item in outcomes(name, data):
            assert isinstance(item, (Converted, Bad, Skipped, Noted))
    except UnusableInput:
        pass


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("data", [b"", b" \n\n"])
def test_an_empty_output_has_no_jobs(name, data):
    (said,) = outcomes(name, data)
    assert said.message == status.NO_JOBS


@pytest.mark.parametrize(
    "name, data",
    [
        ("qstat-xml", b'<?xml version="1.0"?>\n<Data></Data>\n'),
        ("qstat-xml", b"<Data/>"),
        ("qstat-json", b'{"timestamp":1, "pbs_version":"23", "pbs_server":"pbs"}'),
        ("sge-xml", b"<?xml version='1.0'?>\n<job_info><queue_info></queue_info></job_info>\n"),
        ("sge-xml", b"<?xml version='1.0'?>\n<unknown_jobs ><ST_name>9</ST_name></unknown_jobs>\n"),
        ("squeue-json", b'{"meta": {"Slurm": {}}, "errors": [], "jobs": []}'),
        ("scontrol", b"No jobs in the system\n"),
        ("condor-q", b"[]\n"),
        ("flux", b'{"jobs": []}'),
    ],
)
def test_an_output_that_says_that_there_are_none_has_no_jobs(name, data):
    assert outcomes(name, data) == []


@pytest.mark.parametrize("bomb", ["qstat-xml", "sge-xml"])
def test_no_entity_is_expanded_and_no_document_type_accepted(bomb):
    data = b'<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c SYSTEM "file:///etc/passwd">]><Data><Job>&c;</Job></Data>'
    with pytest.raises(UnusableInput, match="document type"):
        outcomes(bomb, data)


def test_job_objects_in_sssrmap_are_no_output_of_torque():
    data = b"<Data><Job><JobId>7</JobId></Job></Data>"
    with pytest.raises(UnusableInput, match="no format is recognised"):
        list(status.outcomes(io.BytesIO(data), status.formats(), ZONE, OBJECTS))


def test_what_slurm_says_in_text_and_in_json_is_the_same():
    place = DATA / "lcginfo/slurm-22.05"
    by_json, by_text = (
        {job.id: job for job in jobs(name, (place / file).read_bytes())}
        for name, file in (
            ("squeue-json", "squeue.json"),
            ("scontrol", "scontrol-show-job-oneline.txt"),
        )
    )
    assert by_json.keys() == by_text.keys()
    for id, job in by_json.items():
        other = by_text[id]
        for name in ("State", "StatusMessage", "Name", "Priority", "ExitCode", "TaskCount"):
            assert job.get(name) == other.get(name), (id, name)
        for name in ("Processors", "NodeCount", "Duration", "Memory", "Queue"):
            assert job.requested.text(name) == other.requested.text(name), (id, name)
        for name in ("Node", "Queue", "User", "Project", "Processors"):
            assert job.delivered.text(name) == other.delivered.text(name), (id, name)


def test_what_is_expected_is_no_time_that_has_come():
    """squeue says when a job that runs will end, and when one that waits may start."""
    record = {
        "job_id": 1, "job_state": ["RUNNING"], "nodes": "n1", "submit_time": 1700000000,
        "start_time": 1700000000, "end_time": 1700003600,
    }  # fmt: skip
    waits = record | {"job_id": 2, "job_state": ["PENDING"], "nodes": ""}
    ran = record | {"job_id": 3, "job_state": ["COMPLETED"]}
    found = jobs("squeue-json", json.dumps({"jobs": [record, waits, ran]}).encode())
    times = [(job.get("StartTime"), job.get("EndTime")) for job in found]
    assert times == [("1700000000", ""), ("", ""), ("1700000000", "1700003600")]
    assert found[2].delivered.text("Duration") == "3600"


def test_accounting_of_slurm_in_the_place_of_its_queue_is_refused_with_advice():
    data = json.dumps({"jobs": [{"job_id": 7, "time": {}, "association": {}}]}).encode()
    with pytest.raises(UnusableInput, match="sssjob convert --from slurm-json"):
        outcomes("squeue-json", data)


def test_details_of_grid_engine_complete_its_list_in_either_order():
    data = (STATUS / "sge-xml/list-and-details.xml").read_bytes()
    place = data.rindex(b"<?xml")
    assert jobs("sge-xml", data[place:] + data[:place]) == jobs("sge-xml", data)


def test_a_document_that_an_ad_carries_is_not_asked():
    """Users write it: it could be about another's job."""
    ad = {"ClusterId": 7, "ProcId": 0, "JobStatus": 2, "SSSJobXML": "<Job><Id>1</Id></Job>"}
    (job,) = jobs("condor-q", json.dumps([ad]).encode())
    assert job.id == "7.0"


def test_dependencies_of_flux_name_jobs_by_number():
    record = {
        "id": 9, "state": "DEPEND", "t_submit": 1700000000.5,
        "dependencies": ["after-success=ƒiFkbMhFM", "after-finish=3", "begin-time=1700000100.000"],
    }  # fmt: skip
    (job,) = jobs("flux", json.dumps({"jobs": [record]}).encode())
    found = [(item.text, item.attributes["condition"]) for item in job.properties.all("Dependency")]
    assert found == [("91088924704768", "OnSuccess"), ("3", "OnExit")]
    assert job.properties.text("Extension") == "begin-time=1700000100.000"
    assert flux.number("ƒ0") == "ƒ0"  # no F58


@pytest.mark.parametrize("name", registry.all_statuses())
def test_a_status_says_how_to_ask_and_how_to_read(name):
    row = registry.all_statuses()[name]
    assert row.formats
    assert row.ask
    assert all(command for way in row.ask for command in way)
    for each in row.formats:
        assert isinstance(each.load(), Layout)
        assert callable(each.load().recognises)


def test_a_name_that_is_none_is_told_with_those_that_are():
    with pytest.raises(UnusableInput, match=r"slurm, .*squeue-json"):
        status.formats("lsf")
    with pytest.raises(UnusableInput, match="can be asked"):
        status.asked("squeue-json")


LISTED = (
    b"<job_info xmlns:xsd='x'><queue_info><Queue-List><job_list state='running'>"
    b"<JB_job_number>1</JB_job_number><state>r</state></job_list></Queue-List>"
)
TORQUE = b"<Data><Job><Job_Id>1.s</Job_Id><job_state>R</job_state></Job>"
# fmt: off
CUT = [
    ("sge-xml", b"<job_info>", 0, "</job_info>"),
    ("sge-xml", b"<job_info xmlns:x='y'", 0, "</job_info>"),
    ("sge-xml", b"<detailed_job_info>\n<djob_info>", 0, "</detailed_job_info>"),
    ("sge-xml", b"<job_info><queue_info></queue_info><job_info>", 0, "</job_info>"),
    ("sge-xml", LISTED + b"</queue_info>", 1, "</job_info>"),
    ("sge-xml", LISTED + b"<Queue-List></Queue-List>", 1, "</job_info>"),
    ("sge-xml", b"<job_info></job_info>\n<unknown_jobs >", 0, "</unknown_jobs>"),
    ("qstat-xml", b"<Data>", 0, "</Data>"),
    ("qstat-xml", b"<Data></Data><Data>", 0, "</Data>"),
    ("qstat-xml", TORQUE, 1, "</Data>"),
    ("qstat-json", b'{"timestamp": 1,', 0, "an object"),
    ("qstat-json", b"{", 0, "an object"),
]
WHOLE = [
    ("sge-xml", LISTED + b"</queue_info></job_info>\n<!-- <end> -->\n", 1),
    ("sge-xml", b"<job_info/>", 0), ("sge-xml", b"<job_info></job_info>", 0),
    ("sge-xml", b"<unknown_jobs ></unknown_jobs>\n<job_info></job_info>\n", 0),
    ("sge-xml", LISTED + b"</queue_info></job_info>\n<unknown_jobs ></unknown_jobs>\n", 1),
    ("qstat-xml", b"<Data/>\n", 0), ("qstat-xml", TORQUE + b"</Data ><?end?>", 1),
    ("qstat-xml", TORQUE + b"</Data>" + TORQUE + b"</Data>", 2),
]
# fmt: on


@pytest.mark.parametrize(("name", "data", "count", "end"), CUT)
def test_an_output_that_ends_between_jobs_is_told_from_a_whole_one(name, data, count, end):
    found = outcomes(name, data)
    assert len([item for item in found if isinstance(item, Converted)]) == count
    (told,) = (item.reason for item in found if isinstance(item, Bad))
    assert told.startswith("the input ends ")
    assert told.endswith(end)


@pytest.mark.parametrize(("name", "data", "count"), WHOLE)
def test_a_whole_output_has_no_fault(name, data, count):
    found = outcomes(name, data)
    assert not [item for item in found if isinstance(item, Bad)]
    assert len([item for item in found if isinstance(item, Converted)]) == count
