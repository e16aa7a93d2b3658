"""What folds put into a job of one run is listed in it, and goes when the job runs again."""

import io
import json
import tempfile
from pathlib import Path

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob import document, registry
from sssjob.check.findings import of_source
from sssjob.delivery.document import Delivery
from sssjob.delivery.records import PlacedRecord
from sssjob.errors import AwarenessPolicy, InvalidValue
from sssjob.features import folded
from sssjob.features.batch import documents
from sssjob.features.derive import derive
from sssjob.features.status import StatusSnapshot
from sssjob.features.used import Used
from sssjob.model import Job, Property
from sssjob.translate import Settings, Untranslatable, read, translate

LIST = {"type": folded.EXTENSION, "name": folded.NAME}
START = 1_700_000_000  # of a first run; a second one begins a day later
DAY = 86400
MOMENTS = st.integers(START - DAY, START + 9 * DAY)
SMALL = st.integers(1, 4)

LIMITS = ("CPUTime", "ResidentSetSize", "Swap", "Disk", "Duration")
OF_REQUEST = st.fixed_dictionaries({}, optional={
    "<DeadlineTime>{}</DeadlineTime>": MOMENTS,
    "<SubmitTime>{}</SubmitTime>": st.just(START - DAY),
    "<State>{}</State>": st.sampled_from(("Idle", "Hold")),
    "<User>{}</User>": st.sampled_from("ab"),
    "<Name>{}</Name>": st.sampled_from("ab"),
    '<Extension type="JobFeatures" name="cpufactor_lrms">{}</Extension>': SMALL,
    '<Extension type="JobFeatures" name="grace_secs_job">{}</Extension>': SMALL,
    '<Extension type="Site" name="x">{}</Extension>': SMALL,
    "<!-- {} -->": SMALL,
    **{f'<ResourceLimit name="{name}" type="Hard">{{}}</ResourceLimit>': SMALL for name in LIMITS},
    '<ResourceLimit name="CPUTime" type="Soft">{}</ResourceLimit>': SMALL,
    '<ResourceLimit name="Disk">{}</ResourceLimit>': SMALL,
})  # fmt: skip
REQUESTED = st.fixed_dictionaries({}, optional={
    name: SMALL for name in ("Processors", "Duration", "Memory", "Swap", "Disk", "Nodes")
})  # fmt: skip


POLICIES = st.sampled_from(("", *(f' awarenessPolicy="{word}"' for word in AwarenessPolicy)))


@st.composite
def requests(draw):
    """A job as it was asked for, alone or in a group with defaults."""
    items = [text.format(value) for text, value in draw(OF_REQUEST).items()]
    policy = draw(POLICIES)
    items = [item.replace("<DeadlineTime", f"<DeadlineTime{policy}") for item in items]
    wanted = "".join(f"<{name}>{value}</{name}>" for name, value in draw(REQUESTED).items())
    items = draw(st.permutations(["<Id>7</Id>", *items, f"<Requested>{wanted}</Requested>"]))
    job = f"<Job{draw(POLICIES)}>{''.join(items)}"
    job += draw(st.sampled_from(("", "<TaskGroup><Name>g</Name></TaskGroup>"))) + "</Job>"
    if draw(st.booleans()):
        lent = draw(st.sampled_from((
            '<ResourceLimit name="CPUTime" type="Hard">9</ResourceLimit>',
            f"<DeadlineTime{draw(POLICIES)}>{START + DAY}</DeadlineTime>",
        )))  # fmt: skip
        job = f"<JobGroup{draw(POLICIES)}><JobDefaults>{lent}</JobDefaults>{job}</JobGroup>"
    return job


FEATURES = st.fixed_dictionaries({}, optional={
    **{name: SMALL for name in (
        "allocated_cpu", "cpu_limit_secs", "wall_limit_secs", "max_rss_bytes", "max_swap_bytes",
        "scratch_limit_bytes", "grace_secs_job", "cpufactor_lrms", "hs06_job", "x",
    )},
    "shutdowntime_job": MOMENTS,
})  # fmt: skip
MACHINE = st.fixed_dictionaries(
    {}, optional={"hs06": SMALL, "total_cpu": SMALL, "grace_secs": SMALL, "shutdowntime": MOMENTS}
)
RECORD = st.fixed_dictionaries({}, optional={
    "Name": st.sampled_from("ab"), "DeadlineTime": MOMENTS, "ExitCode": SMALL, "CpuDuration": SMALL,
    "StartCount": SMALL, "Queue": st.sampled_from("ab"),
    "State": st.sampled_from(("Running", "Completed", "Failed")),
})  # fmt: skip
RUNS = st.tuples(FEATURES, MACHINE, RECORD)


def folded_with(text, run, start, *, overwrite=False):
    """A document with what was given to a run that began at ``start``, and what it did."""
    features, machine, record = run
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory, "7.xml")
        place.write_text(text)
        work = Delivery(place, overwrite=overwrite)
        work.look()
        work.features = {**features, "job_id": "7", "jobstart_secs": start}
        work.machine = machine
        work.take_snapshot(StatusSnapshot({"used_CPU": 1, "priority_factor": 2}, now=start), "s")
        work.take_used(Used(5, 2**20), "u")
        told = Job.of(Id="7", StartTime=start, **record)
        work.records["7"].append(PlacedRecord("r", told))
        return b"".join(work.pieces()).decode()


def at_start(text):
    """What a prolog finds in a document of a job whose second run begins."""
    with tempfile.TemporaryDirectory() as directory:
        place = documents.place(directory, "7")
        place.write_text(text)
        return derive(documents.described(place, "7").block, now=START + DAY, starting=True).values


def same(text):
    """A document as it is read."""
    return list(document.read(text.encode()))


@given(requests(), RUNS)
def test_a_prolog_finds_of_a_job_that_ran_before_what_was_asked_for(request_, run):
    assert at_start(folded_with(request_, run, START)) == at_start(request_)


TARGETS = [name for name, row in registry.all_targets().items() if row.writes]


def written(text, target):
    """What a target is given of a document of one job, with what is told, or why it is not."""
    (reading,) = read(text.encode(), "sss")
    try:
        found = translate(reading.job, target, Settings(unstated=AwarenessPolicy.WARN))
    except Untranslatable as refused:
        return sorted(map(str, refused.losses))
    except InvalidValue as error:
        return str(error)
    told = sorted(loss for loss in found.losses if "a run of the job" not in loss.reason)
    return sorted(found.text.splitlines()), told  # a default that a fold hid has another place


@pytest.mark.parametrize("target", TARGETS)
@examples(20)
@given(requests(), RUNS)
def test_no_batch_system_is_asked_for_what_was_folded(target, request_, run):
    request_ = request_.replace("<Id>7</Id>", "<Id>7</Id><Executable>/bin/true</Executable>")
    assert written(folded_with(request_, run, START), target) == written(request_, target)


@given(requests(), RUNS, RUNS)
def test_nothing_of_an_earlier_run_is_left_when_the_next_one_is_folded(request_, first, second):
    once = folded_with(request_, first, START)
    assert same(folded_with(once, second, START + DAY)) == same(
        folded_with(request_, second, START + DAY)
    )


@given(requests(), RUNS, RUNS)
def test_what_is_folded_in_parts_is_listed_as_a_whole(request_, first, second):
    twice = folded_with(folded_with(request_, first, START), second, START)
    assert at_start(twice) == at_start(request_)


@given(requests(), RUNS, st.booleans())
def test_folding_again_changes_no_byte(request_, run, overwrite):
    once = folded_with(request_, run, START, overwrite=overwrite)
    assert folded_with(once, run, START, overwrite=overwrite) == once


JOB = document.loads("<Job><Id>7</Id><DeadlineTime>900</DeadlineTime><User>a</User></Job>")


def after(*items):
    """That job, with other properties and the list of them."""
    return folded.listed(JOB, JOB.holding(items))


def test_the_list_says_what_was_set_and_what_it_replaced():
    job = after(JOB.items[0], Property("DeadlineTime", 500), JOB.items[2], Property("StartTime", 9))
    (told,) = job.properties.all("Extension", **LIST)
    assert json.loads(told.text) == [
        {"name": "DeadlineTime", "text": "500", "before": {"name": "DeadlineTime", "text": "900"}},
        {"name": "StartTime", "text": "9"},
    ]
    assert folded.without_listed(job) == JOB


def test_a_job_that_nothing_was_folded_into_has_no_list():
    assert folded.listed(JOB, JOB) is JOB


def test_of_a_task_group_that_was_asked_for_what_it_did_goes():
    group = "<TaskGroup><Id>g</Id>{}<Requested/>{}</TaskGroup>"
    did = "<StartTime>5</StartTime><EndTime>6</EndTime><State>Failed</State><ExitCode>1</ExitCode>"
    asked, ran = (
        document.loads(f"<Job><Id>7</Id><State>Idle</State>{group.format(*each)}</Job>")
        for each in (("", ""), (did, "<Delivered><Duration>1</Duration></Delivered>"))
    )
    assert folded.as_requested(folded.listed(asked, ran.setting(StartTime=5))) == asked


def test_what_somebody_changed_after_the_fold_stays():
    job = after(JOB.items[0], Property("DeadlineTime", 500), JOB.items[2])
    changed = job.setting(DeadlineTime=700)
    assert folded.without_listed(changed).get("DeadlineTime") == "700"


def test_all_that_a_property_holds_comes_back():
    text = (
        '<Job xmlns="http://www.scidac.org/ScalableSystems/SSSRMAP" xmlns:o="urn:o"><Id>7</Id>'
        '<o:x a="1">t<o:y/><!-- c --></o:x><StatusMessage> a\n&lt;b </StatusMessage></Job>'
    )
    job = document.loads(text)
    ran = folded.listed(job, job.holding([job.items[0], Property("StartTime", 5)]))
    spelled = document.loads(document.dumps(ran))
    assert folded.without_listed(spelled).properties.names() == {"Id"}


def test_what_was_overwritten_is_taken_away_and_nothing_comes_in_its_place():
    asked = JOB.setting(Priority=1)
    job = folded.without_listed(folded.listed(asked, asked.setting(Priority=9, DeadlineTime=500)))
    assert (job.get("Priority"), job.get("DeadlineTime")) == ("", "900")


def deep(count):
    return '[{"name": "A", "text": "", "children": ' * count


ENTRY = '[{{"name": "DeadlineTime", "text": "900", "before": {{"name": "DeadlineTime", {}}}}}]'


@pytest.mark.parametrize("before", [
    '"text": "root"', '"text": "5"', '"text": "900"', '"text": ""', '"text": "1e999999"',
    '"text": "950", "attributes": {"x": "y"}',
    '"text": "950", "children": [{"name": "a", "text": ""}]',
])  # fmt: skip
def test_what_no_fold_replaces_does_not_come_back(before):
    job = JOB.holding((*JOB.items, Property("Extension", ENTRY.format(before), LIST)))
    assert folded.without_listed(job).properties.names() == {"Id", "User"}


@pytest.mark.parametrize("stated, kept", [("Reject", "Reject"), (" Warn ", "Warn"), ("x", None)])
def test_what_comes_back_has_the_awareness_policy_that_it_had(stated, kept):
    """It says whether a target that cannot hold it is refused, or told (SSS 9.0)."""
    asked = Job((Property("DeadlineTime", 900, {"awarenessPolicy": stated}),))
    ran = folded.listed(asked, Job((Property("DeadlineTime", 500),)))
    (back,) = folded.without_listed(ran).properties.all("DeadlineTime")
    assert (back.text, back.attributes.get("awarenessPolicy")) == ("900", kept)


def test_what_comes_back_is_in_the_namespace_of_its_job():
    text = '"text": "950", "namespace": "urn:x"'
    job = JOB.holding((*JOB.items, Property("Extension", ENTRY.format(text), LIST)))
    assert folded.without_listed(job) == JOB.setting(DeadlineTime=950)


@pytest.mark.parametrize("text", [
    "", "7", "null", "{}x", '"x"', "[7]", "[{}]",
    '[{"name": "DeadlineTime"}]', '[{"name": 7, "text": "900"}]',
    '[{"name": "DeadlineTime", "text": 7}]',
    '[{"name": "DeadlineTime", "name": "Id", "text": "900"}]',
    '[{"name": "a b", "text": "900"}]',
    '[{"name": "DeadlineTime", "text": "900", "attributes": 7}]',
    '[{"name": "DeadlineTime", "text": "900", "attributes": {"x": 1}}]',
    '[{"name": "DeadlineTime", "text": "900", "before": 7}]',
    '[{"name": "DeadlineTime", "text": "\\u0000"}]',
    '[{"name": "DeadlineTime", "text": "900", "children": [7]}]', deep(100_000), "[" * 100_000,
    '[{"name": "User", "text": "a"}]', '[{"name": "Id", "text": "7"}]',
    '[{"name": "User", "text": "a", "before": {"name": "User", "text": "root"}}]',
    '[{"name": "DeadlineTime", "text": "900", "before": {"name": "User", "text": "root"}}]',
    '[{"name": "DeadlineTime", "text": "900", "before": {"name": "Id", "text": "8"}}]',
])  # fmt: skip
def test_what_is_no_list_takes_nothing_away(text):
    job = JOB.holding((*JOB.items, Property("Extension", text, LIST)))
    assert folded.beginning(job) == job
    assert folded.without_listed(job) == job


def test_whose_a_job_is_and_what_it_runs_is_in_no_list():
    job = JOB.setting(User="b", Executable="/bin/b", DeadlineTime=500)
    (told,) = folded.listed(JOB, job).properties.all("Extension", **LIST)
    assert [each["name"] for each in json.loads(told.text)] == ["DeadlineTime"]


def test_a_document_with_a_list_is_valid():
    text = folded_with("<Job><Id>7</Id></Job>", ({"max_rss_bytes": 7}, {}, {}), START)
    assert "JobRun" in text
    found = list(of_source(io.BytesIO(text.encode())))
    assert [each.message for each in found] == ["Job has no Duration, which is recommended"]


TEXTS = st.sampled_from(("", "1", "900", "root", "Idle", "Completed", "1e999", " 5 ", "a<b"))
NAMES = st.sampled_from(("DeadlineTime", "State", "StatusMessage", "StartCount", "CpuDuration",
                         "Priority", "OutputFile", "ResourceLimit", "Extension", "User", "Id",
                         "Executable", "Requested", "{urn:x}y", "a b"))  # fmt: skip
ODD = st.fixed_dictionaries({}, optional={
    "attributes": st.sampled_from(({"x": "1"}, {"xmlns": "urn:x"}, {"type": "T", "name": "n"})),
    "namespace": st.just("urn:x"),
    "children": st.just([{"name": "User", "text": "root"}]),
})  # fmt: skip


@st.composite
def hostile(draw):
    """A valid job with a list that its submitter wrote."""
    rows, items = [], []
    for name in draw(st.lists(NAMES, max_size=3, unique=True)):
        row = {"name": name, "text": draw(TEXTS)}
        if draw(st.booleans()):
            row["before"] = {**row, "text": draw(TEXTS), **draw(ODD)}
        rows.append(row)
        items.append(f"<{name}>900</{name}>" if name in ("DeadlineTime", "Priority") else "")
    listed = Property("Extension", json.dumps(rows), LIST)
    job = f"<Job><Id>7</Id><User>bob</User>{''.join(items)}<State>Running</State></Job>"
    asked = document.loads(job)
    return document.dumps(asked.holding((*asked.items, listed)))


def errors(text):
    return [each.code for each in of_source(io.BytesIO(text.encode())) if each.code[0] == "E"]


@given(hostile(), RUNS)
def test_a_fold_of_a_valid_document_makes_a_valid_one_whatever_list_is_in_it(text, run):
    made = folded_with(text, run, START)
    assert errors(made) == errors(text)
    (job,) = same(made)
    assert (job.id, job.get("User")) == ("7", "bob")
    (begun,) = (folded.beginning(each) for each in same(text))
    assert errors(document.dumps(begun)) == errors(text)
