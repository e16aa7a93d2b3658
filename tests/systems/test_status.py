"""What batch systems say of live jobs becomes job objects, whatever the output is like."""

import io
import json
import re

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
from sssjob.systems.flux import ids
from sssjob.systems.pbs.status import xml as qstat_xml
from sssjob.translate import read
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
    with pytest.raises(UnusableInput, match=r"recognised as sss .* not as the listing"):
        list(status.outcomes(io.BytesIO(data), status.formats(), ZONE, OBJECTS))


def test_accounting_is_no_listing_of_jobs_and_says_who_reads_it():
    data = b"JobID|State|ElapsedRaw\n1|COMPLETED|5\n"
    with pytest.raises(
        UnusableInput, match=r"recognised as slurm .* convert and report read, and not"
    ):
        list(status.outcomes(io.BytesIO(data), status.formats("slurm"), ZONE, OBJECTS))


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
    assert job.get("EligibleTime") == "1700000100"
    assert ids.number("ƒ0") == "ƒ0"  # no F58


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


@pytest.mark.parametrize(
    ("value", "text"), [({"of": "a"}, '{"of": "a"}'), (["a"], '["a"]'), (7, "7")]
)
def test_a_text_of_slurm_that_is_none_is_kept_as_it_stands_in_json(value, text):
    """It was left out."""
    job = {"job_id": 1, "job_state": "PENDING", "name": value, "user_name": "amy"}
    data = json.dumps({"jobs": [job]}).encode()
    (found,) = read(data, "squeue-json")
    assert found.job.get("Name") == text


@pytest.mark.parametrize("name, file", [(name, file) for name, file, _ in REAL])
def test_of_what_real_systems_print_nothing_is_unknown(name, file):
    said = [each.message for each in outcomes(name, (DATA / file).read_bytes())
            if isinstance(each, Noted)]  # fmt: skip
    own = ["attributes of a job that are not read: MaxWallTimeMins"] * (name == "condor-q")
    assert [message for message in said if "not read" in message] == own  # which a user added


def unknown(name, file, old, new):
    """The notices of an output in which something else stands once."""
    data = (DATA / file).read_bytes()
    assert old in data
    before = {each.message for each in outcomes(name, data) if isinstance(each, Noted)}
    found = [each.message for each in outcomes(name, data.replace(old, new, 1))
             if isinstance(each, Noted)]  # fmt: skip
    return [message for message in found if "not" in message and message not in before]


_DETAILS = "lcginfo/gridengine/qstat-xml-j-pending.xml"
_LIST = "lcginfo/gridengine/qstat-xml-f-r.xml"
_WORDS = "lcginfo/slurm-22.05/scontrol-show-job-oneline.txt"
_FLUX = "records/flux/jobs.json"
_JSON = "lcginfo/slurm-24.11/squeue.json"


@pytest.mark.parametrize(
    ("name", "file", "old", "new", "told"),
    [
        ("scontrol", _WORDS, b" Requeue=", b" Newer=5 Requeue=", "words of a job: Newer"),
        ("scontrol", _WORDS, b" JobName=", b" Newer=5 JobName=", "words of a job: Newer"),
        ("sge-xml", _LIST, b"<JB_owner>", b"<JB_newer>5</JB_newer><JB_owner>",
         "elements of a job: JB_newer"),
        ("sge-xml", _DETAILS, b"<JB_owner>",
         b"<JB_newer><e><XX_a>5</XX_a></e></JB_newer><JB_owner>",
         "elements of the details of a job: JB_newer/XX_a"),
        ("sge-xml", _DETAILS, b"<JB_owner>",
         b"<JB_soft_queue_list><e><QR_name>q</QR_name></e></JB_soft_queue_list><JB_owner>",
         "elements of the details of a job: JB_soft_queue_list/QR_name"),
        ("sge-xml", _DETAILS, b"<JB_owner>", b"<JB_cwd>/other</JB_cwd><JB_owner>",
         "elements of the details of a job: a second JB_cwd"),
        ("flux", _FLUX, b'"userid"', b'"newer": 5, "userid"', "keys of a job: newer"),
        ("flux", _FLUX, b'{"occurred"', b'{"newer": 5, "occurred"',
         "keys of a job: exception.newer"),
        ("flux", _FLUX, b'{"occurred": false}', b'"bad"', "keys of a job: exception"),
        ("condor-q", "condor/condor_q.xml", b'<a n="Cmd">', b'<a n="Newer"><i>5</i></a><a n="Cmd">',
         "attributes of a job: Newer"),
        ("squeue-json", _JSON, b'"account"', b'"newer": 5, "account"', "members of a job: newer"),
        ("squeue-json", _JSON, b'"derived_exit_code": {', b'"derived_exit_code": {"newer": 5,',
         "members of a job: derived_exit_code.newer"),
        ("squeue-json", _JSON, b'"submit_time": {', b'"submit_time": {"zone": 5,',
         "members of a job: submit_time.zone"),
        ("squeue-json", _JSON, b'"last_backfill"', b'"newer": 5, "last_backfill"',
         "members beside the jobs: newer"),
        ("qstat-json", "status/qstat-json/jobs.json", b'"pbs_server"', b'"newer": 5, "pbs_server"',
         "members beside the jobs: newer"),
        ("flux", _FLUX, b'"jobs": [', b'"jobs": [], "newer": {}, "jobs": [',
         "members beside the jobs: newer"),
        ("sge-xml", _LIST, b"<queue_info>", b"<newer/><queue_info>",
         "elements around the jobs: newer"),
        ("sge-xml", _LIST, b"</job_info>", b"<newer b='5'>6</newer></job_info>",
         "elements around the jobs: newer, newer@b"),
        ("sge-xml", _LIST, b"<job_list ", b"<job_list newer='5' ", "elements of a job: @newer"),
        ("sge-xml", _LIST, b"<JB_owner>", b"<JB_owner newer='5'>",
         "elements of a job: JB_owner@newer"),
        ("sge-xml", _DETAILS, b"<JB_owner>", b"<JB_owner newer='5'>",
         "elements of the details of a job: JB_owner@newer"),
        ("qstat-xml", "status/qstat-xml/jobs.xml", b"<Data>", b"<Data><Newer>a</Newer>",
         "elements around the jobs: Newer"),
        ("qstat-xml", "status/qstat-xml/jobs.xml", b"</Data>", b"<Newer/></Data>",
         "elements around the jobs: Newer"),
        ("qstat-xml", "status/qstat-xml/jobs.xml", b"<Job_Name>", b"<Job_Name newer='5'>",
         "XML attributes of a job: Job_Name@newer"),
    ],
)  # fmt: skip
def test_what_a_newer_version_prints_and_nobody_reads_is_told_once(name, file, old, new, told):
    whose, _, which = told.partition(": ")
    assert unknown(name, file, old, new) == [f"{whose} that are not read: {which}"]


def test_texts_of_users_that_imitate_each_other_in_scontrol_are_told():
    (told,) = unknown("scontrol", _WORDS, b" WorkDir=", b" Comment=a WorkDir=/b WorkDir=")
    assert told.startswith("texts of users that cannot be told from each other: Command, Comment")


@pytest.mark.parametrize("place", [0, 1])
def test_a_record_of_scontrol_with_another_beginning_is_told_wherever_it_stands(place):
    rows = (DATA / _WORDS).read_bytes().splitlines(keepends=True)[:3]
    rows[place] = rows[place].replace(b" JobName=", b" new JobName=", 1)
    found = outcomes("scontrol", b"".join(rows))
    bad = [each.line for each in found if isinstance(each, Bad)]
    assert bad == [1]  # what stands behind a record could be its name
    assert sum(isinstance(each, Converted) for each in found) == 2 - place


# Of a user whose account was deleted, by the road that tells of it.
@pytest.mark.parametrize(
    ("name", "file", "old", "new"),
    [
        ("scontrol", _WORDS, rb"(User|Group)Id=\w+\(", rb"\1Id=(null)("),
        ("scontrol", _WORDS, rb"(User|Group)Id=\w+\(", rb"\1Id=("),
        ("scontrol", _WORDS, rb"(User|Group)Id=\w+\(", rb"\1Id=nobody("),
        ("squeue-json", _JSON, rb'"(user|group)_name": *"[^"]*"', rb'"\1_name": ""'),
    ],
)
def test_a_user_and_a_group_without_a_name_have_their_numbers(name, file, old, new):
    data = re.sub(old, new, (DATA / file).read_bytes())
    named = [*jobs(name, data)]
    assert named
    for job in named:
        told = re.findall("<(User|Group)>([0-9]+)</", dumps(job))
        assert [name for name, _ in told] == ["Group", "User"]


def test_one_of_several_queues_of_grid_engine_is_enough():
    asked = b"".join(b"<e><QR_name>%s</QR_name></e>" % name for name in (b"a.q", b"b.q"))
    data = (DATA / _DETAILS).read_bytes().replace(
        b"<JB_owner>", b"<JB_hard_queue_list>%s</JB_hard_queue_list><JB_owner>" % asked, 1
    )  # fmt: skip
    asked_for = [item for item in jobs("sge-xml", data)[0].requested if item.name == "Queue"]
    assert [(item.text, dict(item.attributes)) for item in asked_for] == [
        ("a.q", {"group": "1"}), ("b.q", {"conj": "Or", "group": "-1"})
    ]  # fmt: skip


def test_a_value_of_flux_that_is_no_single_one_is_kept_as_it_stands():
    record = json.loads((DATA / _FLUX).read_text())["jobs"][0]
    record |= {"name": {"a": 1}, "ntasks": [6], "dependencies": "after-success=7"}
    (job,) = jobs("flux", json.dumps({"jobs": [record]}).encode())
    assert (job.get("Name"), job.get("TaskCount")) == ('{"a": 1}', "")
    assert job.get("Dependency") == "7"
    assert "[6]" in [item.text for item in job.properties if item.name == "Extension"]


def test_of_torque_each_text_is_read_or_told_however_deep_it_stands():
    one = b"<Data><Job><Job_Id>7.pbs</Job_Id><job_state>R</job_state>%s</Job></Data>"
    new = b"<queue>a</queue><queue>b</queue><odd>x<in><deep>y</deep></in></odd>"
    found = outcomes("qstat-xml", one % new)
    (job,) = [item.job for item in found if isinstance(item, Converted)]
    told = [item.message for item in found if isinstance(item, Noted)]
    assert told == ["attributes that a job has twice, the first of which counts: queue"]
    assert {item.attributes["name"]: item.text
            for item in job.properties if item.name == "Extension"} == {
        "odd": "x", "odd.in.deep": "y",
    }  # fmt: skip


ERRORS = (
    b'[{"description": "Failed", "error_number": 9, "error": "no\\u0000 such", "more": {"a": [5]}}]'
)


@pytest.mark.parametrize("name, old, new", [
    ("errors", b'"errors": []', b'"errors": ' + ERRORS),
    ("warnings", b'"warnings": []', b'"warnings": ' + ERRORS),
])  # fmt: skip
def test_what_slurm_complains_of_beside_its_jobs_is_told(name, old, new):
    data = (DATA / _JSON).read_bytes()
    assert old in data
    [told] = [item for item in outcomes("squeue-json", data.replace(old, new, 1))
              if isinstance(item, Noted)]  # fmt: skip
    assert told.message == f"{name} of the system: Failed; no\ufffd such"
    assert told.severity == "warning"


PBS = b'{"pbs_version": "23", "Jobs": {%s}}'
ONE, TWO = (b'"%d.s": {"job_state": "R", "queue": "q"}' % number for number in (1, 2))


@pytest.mark.parametrize("data", [
    b'{"Jobs": {%s}, "Jobs": {%s}}' % (ONE, TWO),
    PBS % ONE + PBS % TWO,
    PBS % ONE + b"\n" + PBS % TWO + b"\n",
])  # fmt: skip
def test_jobs_of_openpbs_are_read_wherever_there_are_some(data):
    """Those behind the first object were lost in silence."""
    found = outcomes("qstat-json", data)
    assert [item.job.id for item in found] == ["1.s", "2.s"]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("qstat-json", PBS % ONE + b"x", "'x' behind the object \"Jobs\""),
        ("qstat-json", (PBS % ONE)[:-1], "the input ends inside an object"),
        ("qstat-json", b'{"Jobs": [5], "Jobs": {%s}}' % ONE, "'Jobs' is no object"),
        ("squeue-json", b'{"jobs": [{"job_id": 1, "job_state": "RUNNING"}]',
         "the input ends inside an object"),
        ("squeue-json", b'{"jobs": [{"job_id": 1, "job_state": "RUNNING"}], "jobs": {"a": 5}}',
         "'jobs' is no array"),
        ("flux", b'{"jobs": [{"id": 1, "state": "RUN", "t_submit": 5, "urgency": 1}]',
         "the input ends inside an object"),
    ],
)  # fmt: skip
def test_what_is_wrong_around_the_jobs_of_json_is_told(name, data, reason):
    found = outcomes(name, data)
    assert len([item for item in found if isinstance(item, Converted)]) == 1
    assert [item.reason for item in found if isinstance(item, Bad)] == [reason]


def test_a_listing_of_scontrol_that_ends_in_a_record_of_several_lines_is_told():
    """What stood behind the end of a line was lost in silence."""
    data = (DATA / "lcginfo/slurm-24.11/scontrol-show-job.txt").read_bytes()
    assert not [item for item in outcomes("scontrol", data) if not isinstance(item, Converted)]
    last = data.rindex(b"\nJobId=") + 1
    ends = [place + 1 for place in range(last, len(data) - 1) if data[place : place + 1] == b"\n"]
    assert len(ends) > 10
    for end in ends:
        *jobs, told = outcomes("scontrol", data[:end])
        assert all(isinstance(item, Converted) for item in jobs)
        assert isinstance(told, Bad) or "cut short" in told.message


ODD_TEXTS = {"1.10": "1.10", "1e3": "1e3", "1.50": "1.50", "17": "17", '"005"': "005"}


@pytest.mark.parametrize(("written", "told"), ODD_TEXTS.items())
def test_a_text_of_pbs_that_looks_like_a_number_stays_as_it_is_written(written, told):
    job = f'"Job_Name": {written}, "Account_Name": {written}, "Variable_List": {{"V": {written}}}'
    jobs_of = f'"Jobs": {{"7.s": {{"job_state": "Q", {job}}}}}'
    data = f'{{"timestamp": 1, "pbs_version": "23", {jobs_of}}}'
    (job,) = jobs("qstat-json", data.encode())
    (variable,) = job.properties.all("Environment")[0].children
    assert (job.get("Name"), job.delivered.get("Project").text, variable.text) == (told,) * 3


_SHOWN = "Job Id: 7.s\n    job_state = Q\n    Variable_List = {}\n"
_IN_XML = (
    "<Data><Job><Job_Id>7.s</Job_Id><job_state>Q</job_state>"
    "<Variable_List>{}</Variable_List></Job></Data>"
)
VARIABLES = {
    "B=ab\\,c,V=1": {"B": "ab,c", "V": "1"},
    "B=ab,c,V=1": {"B": "ab,c", "V": "1"},
    "B=a\\,C=d,V=1": {"B": "a,C=d", "V": "1"},
    "B=C:\\\\temp,V=1": {"B": "C:\\temp", "V": "1"},
    "B=a\\\\,V=1": {"B": "a\\", "V": "1"},
    'B=\\"a\\",V=\\\'': {"B": '"a"', "V": "'"},
    "B=a\\n,V=\\": {"B": "a\\n", "V": "\\"},
}


@pytest.mark.parametrize(("written", "told"), VARIABLES.items())
def test_what_pbs_escapes_in_variables_is_read_alike(written, told):
    for name, text in (("qstat-text", _SHOWN), ("qstat-xml", _IN_XML)):
        (job,) = jobs(name, text.format(written).encode())
        found = job.properties.all("Environment")[0].children
        assert {each.attributes["name"]: each.text for each in found} == told


@pytest.mark.parametrize("data", [b"<Data/>", b"<Data>\n</Data>\n"])
def test_a_document_without_a_job_is_not_said_to_have_one(data):
    told = qstat_xml.recognises(data)
    assert told == "<Data> without a job, as qstat prints it"
    assert "Job_Id" in qstat_xml.recognises(b"<Data><Job><Job_Id>7</Job_Id></Job></Data>")
