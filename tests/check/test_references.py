"""References resolve where they stand, and give way to definitions when asked."""

import pytest
from draws import examples
from hypothesis import given
from lxml import etree
from strategies import documents

from sssjob.check import accept
from sssjob.check import references as module
from sssjob.check.findings import check, of_source
from sssjob.check.references import dereference, index, resolve
from sssjob.check.sources import check_source
from sssjob.document import dumps, from_tree, loads
from sssjob.errors import LimitExceeded, Severity
from sssjob.model import Job, Reference, walk

# The example of rule 9, with definitions for some of it.
GROUP = """<JobGroup><Id>g</Id><Job> job123</Job>
 <Job><Id>job124</Id><TaskGroup>tg1</TaskGroup>
  <TaskGroup><Id> tg1 </Id><Task>t1</Task><Task>t2</Task><Task><Id>t1</Id></Task></TaskGroup></Job>
 <Job>job124</Job></JobGroup>"""


def places(text, **options):
    found = resolve(loads(text), **options)
    return {path: (block.name, block.id) for path, block in found.targets.items()}


def test_the_ids_of_jobs_task_groups_and_tasks_resolve_within_what_holds_them():
    assert places(GROUP) == {
        "/JobGroup/Job[2]/TaskGroup[1]": ("TaskGroup", "tg1"),
        "/JobGroup/Job[2]/TaskGroup[2]/Task[1]": ("Task", "t1"),
        "/JobGroup/Job[3]": ("Job", "job124"),
    }


def test_what_is_found_nowhere_is_external_and_only_worth_a_notice():
    findings = resolve(loads(GROUP)).findings
    assert [(found.code, found.path, found.line) for found in findings] == [
        ("I-REFERENCE", "/JobGroup/Job[1]", 1),
        ("I-REFERENCE", "/JobGroup/Job[2]/TaskGroup[2]/Task[2]", 3),
    ]
    assert {found.severity for found in findings} == {Severity.NOTICE}
    assert findings[0].message == "Job job123 is not defined in this JobGroup"


def test_a_closed_document_has_to_hold_what_it_mentions():
    findings = resolve(loads(GROUP), closed=True).findings
    assert {(found.code, found.severity) for found in findings} == {("E-REF", Severity.ERROR)}


SCOPES = [
    pytest.param(
        "<JobGroup><Job><Id>a</Id><TaskGroup><Id>t</Id></TaskGroup></Job>"
        "<Job><Id>b</Id><TaskGroup>t</TaskGroup></Job></JobGroup>",
        {}, id="a task group of another job",
    ),
    pytest.param(
        "<Job><Id>a</Id><TaskGroup><Id>x</Id><Task><Id>t</Id></Task></TaskGroup>"
        "<TaskGroup><Id>y</Id><Task>t</Task></TaskGroup></Job>",
        {}, id="a task of another task group",
    ),
    pytest.param(
        "<JobGroup><JobDefaults><TaskGroup>t</TaskGroup><TaskGroup><Id>t</Id></TaskGroup>"
        "</JobDefaults></JobGroup>",
        {"/JobGroup/JobDefaults/TaskGroup[1]": ("TaskGroup", "t")}, id="within defaults",
    ),
    pytest.param(
        "<JobGroup><Job>a</Job><Job><JobId>a</JobId></Job></JobGroup>",
        {"/JobGroup/Job[1]": ("Job", "a")}, id="an id by its older name",
    ),
    pytest.param(
        "<JobGroup><Job>a</Job><Job><Id>A</Id></Job></JobGroup>", {}, id="ids count case"
    ),
    pytest.param(
        "<JobGroup><Job>a</Job><Job>a</Job></JobGroup>", {}, id="a mention is no definition"
    ),
]  # fmt: skip


@pytest.mark.parametrize("text, expected", SCOPES)
def test_a_reference_sees_what_is_beside_it(text, expected):
    assert places(text) == expected


def test_a_job_may_be_defined_elsewhere_in_the_document():
    outside = loads("<Job><Id>job123</Id></Job>")
    other = loads("<JobGroup><Job><Id>x</Id></Job><Job>y</Job></JobGroup>")
    known = index([outside, other])
    assert sorted(known) == ["job123", "x"]
    assert places(GROUP, known=known)["/JobGroup/Job[1]"] == ("Job", "job123")


def test_references_come_back_as_they_were():
    assert dumps(loads(GROUP)).count("<Job> job123</Job>") == 1


def test_dereferencing_leaves_only_what_is_external_and_defines_nothing_twice():
    group = dereference(loads(GROUP))
    assert [one.id for one in group.references("Job")] == ["job123"]
    (job,) = group.jobs
    assert [item.id for item in job.task_groups] == ["tg1"]
    (tasks,) = job.task_groups
    assert [item.name for item in tasks.items] == ["Id", "Task", "Task"]
    assert [type(item) for item in tasks.items[1:]] == [Reference, type(tasks.tasks[0])]


def test_a_definition_from_elsewhere_takes_the_place_of_its_reference_once():
    group = loads("<JobGroup><Id>g</Id><Job>a</Job><Job><Id>b</Id></Job><Job> a </Job></JobGroup>")
    known = index([loads("<Job><Id>a</Id><User>amy</User></Job>")])
    result = dereference(group, known=known)
    assert [(job.id, job.get("User")) for job in result.jobs] == [("a", "amy"), ("b", "")]
    assert not result.references("Job")


def test_a_definition_that_mentions_others_is_dereferenced_itself():
    known = index([
        loads("<Job><Id>a</Id><TaskGroup>t</TaskGroup><TaskGroup><Id>t</Id></TaskGroup></Job>")
    ])  # fmt: skip
    result = dereference(loads("<JobGroup><Job>a</Job></JobGroup>"), known=known)
    assert not result.jobs[0].references("TaskGroup")


def test_what_references_can_blow_up_to_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "LIMIT", 100)
    known = {f"j{number}": Job.of(Id=f"j{number}", Name="x", User="y") for number in range(50)}
    mentions = "".join(f"<Job>{id_}</Job>" for id_ in known)
    with pytest.raises(LimitExceeded):
        dereference(loads(f"<JobGroup><Id>g</Id>{mentions}</JobGroup>"), known=known)


@pytest.mark.parametrize("number, fits", [(25, True), (26, False)])
def test_what_is_put_in_counts_with_all_that_it_holds(monkeypatch, number, fits):
    monkeypatch.setattr(module, "LIMIT", 100)
    known = {f"j{each}": Job.of(Id=f"j{each}", Name="x", User="y") for each in range(number)}
    group = loads(
        "<JobGroup><Id>g</Id>{}</JobGroup>".format("".join(f"<Job>{id_}</Job>" for id_ in known))
    )
    if fits:
        assert len(dereference(group, known=known).jobs) == number
    else:
        with pytest.raises(LimitExceeded, match="elements in the place of references"):
            dereference(group, known=known)


EXTERNAL = """<JobGroup>
<Id>g</Id>
<Job>a</Job>
<Job><Id>b</Id><TaskGroup>t</TaskGroup></Job>
<JobDefaults><TaskGroup><Task>u</Task></TaskGroup></JobDefaults></JobGroup>"""


@pytest.mark.parametrize("closed, code", [(False, "I-REFERENCE"), (True, "E-REF")])
def test_what_is_not_defined_is_told_with_its_line_and_its_section(closed, code):
    found = resolve(loads(EXTERNAL), closed=closed)
    assert not found.targets
    assert [(one.code, one.line, one.path, one.message, one.section) for one in found.findings] == [
        (code, 3, "/JobGroup/Job[1]", "Job a is not defined in this JobGroup", "SSS 5.0"),
        (code, 4, "/JobGroup/Job[2]/TaskGroup",
         "TaskGroup t is not defined in this Job", "SSS 6.0"),
        (code, 5, "/JobGroup/JobDefaults/TaskGroup/Task",
         "Task u is not defined in this TaskGroup", "SSS 7.0"),
    ]  # fmt: skip


def test_of_two_definitions_of_one_id_the_first_counts():
    first, second = (f"<Job><Id>a</Id><Name>{name}</Name></Job>" for name in "xy")
    known = index([loads(first), loads(second), loads("<Job><Name>no id</Name></Job>")])
    assert dumps(known["a"]) == dumps(loads(first))
    assert [*known] == ["a"]
    group = loads(f"<JobGroup><Job>a</Job>{first}{second}</JobGroup>")
    assert resolve(group).targets["/JobGroup/Job[1]"] == loads(first)


def test_a_definition_in_the_group_counts_before_one_elsewhere():
    known = index([loads("<Job><Id>a</Id><Name>elsewhere</Name></Job>")])
    group = loads("<JobGroup><Job>a</Job><Job><Id>a</Id><Name>here</Name></Job></JobGroup>")
    (found,) = resolve(group, known=known).targets.values()
    assert "here" in dumps(found)
    left = dereference(group, known=known)
    assert [dumps(job) for job in left.jobs] == [dumps(group.jobs[0])]
    assert not left.references("Job")


def test_what_is_defined_elsewhere_is_put_in_once_where_it_is_mentioned_first():
    known = index([loads("<Job><Id>a</Id><Name>x</Name></Job>")])
    group = loads("<JobGroup><Id>g</Id><Job>a</Job><Job>b</Job><Job>a</Job></JobGroup>")
    left = dereference(group, known=known)
    assert [(item.name, item.id) for item in left.items[1:]] == [("Job", "a"), ("Job", "b")]
    assert len(left.jobs) == 1


def test_only_a_job_is_looked_for_elsewhere():
    known = index([loads("<Job><Id>t</Id></Job>")])
    job = loads("<Job><Id>a</Id><TaskGroup>t</TaskGroup></Job>")
    assert not resolve(job, known=known).targets
    assert dereference(job, known=known) == job


@examples(100)
@given(documents())
def test_dereferencing_twice_changes_nothing_more(element):
    once = dereference(from_tree(element))
    assert dereference(once) == once
    assert not resolve(once).targets
    definitions = sum(1 for _ in walk(from_tree(element)))
    assert sum(1 for _ in walk(once)) == definitions


def test_a_check_says_which_references_lead_out_of_a_document():
    root = etree.fromstring(GROUP)
    said = [one for one in check(root, offset=10) if one.code == "I-REFERENCE"]
    assert [(one.path, one.line) for one in said] == [
        ("/JobGroup/Job[1]", 11), ("/JobGroup/Job[2]/TaskGroup[2]/Task[2]", 13),
    ]  # fmt: skip
    assert sum(one.code == "E-REF" for one in check(root, closed=True)) == 2


def test_what_may_not_be_mentioned_somewhere_is_not_looked_up():
    assert resolve(loads("<Task><Id>1</Id><Job>a</Job></Task>")).findings == ()


def test_a_group_of_references_is_not_accepted_unseen(monkeypatch):
    monkeypatch.setattr(accept, "_WORTH_A_GRAMMAR", 0)
    text = "<JobGroup><Id>g</Id><Job>a</Job></JobGroup>\n" * 3
    assert [one.code for one in check_source(text.encode())] == ["I-REFERENCE"] * 3


@pytest.mark.parametrize("closed, code", [(False, "I-REFERENCE"), (True, "E-REF")])
@pytest.mark.parametrize("name", ["Job", "JobGroup"])
def test_a_job_object_that_is_a_reference_defines_nothing_which_is_told(name, closed, code):
    text = f"<Data>\n<{name}>\n hello </{name}></Data>"
    [found] = of_source(text.encode(), closed=closed)
    assert (found.code, found.line, found.path) == (code, 2, f"/{name}")
    assert found.message == f"{name} hello is a reference by its id, and defines nothing"
