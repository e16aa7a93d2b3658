import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob import document, spec
from sssjob.errors import Severity
from sssjob.fold import (
    DELIVERED,
    JOB,
    PRECEDENCE,
    Fact,
    facts,
    fold,
    identities,
    is_about,
    is_same_group,
)
from sssjob.model import Delivered, Job, Property, Requested, TaskGroup

loads = document.loads
P = Property


def texts(job, name):
    return [item.text for item in job.delivered.all(name)]


def codes(folded):
    return [finding.code for finding in folded.findings]


def test_a_fact_is_set_where_nothing_stands():
    job = Job.of(Requested.of(Processors=12), Id="1", User="amy")
    folded = fold(job, [Fact(P("Processors", 16)), Fact(P("StartTime", 5), JOB)])
    assert document.dumps(folded.job) == (
        "<Job><Id>1</Id><User>amy</User><StartTime>5</StartTime>"
        "<Requested><Processors>12</Processors></Requested>"
        "<Delivered><Processors>16</Processors></Delivered></Job>"
    )
    assert folded.changes == 2
    assert folded.findings == ()


@pytest.mark.parametrize(
    "xml, expected",
    [
        pytest.param("<Job><Id>1</Id></Job>", "<Id>1</Id><Delivered>", id="at the end"),
        pytest.param(
            "<Job><Requested><Memory>1</Memory></Requested><TaskGroup>g</TaskGroup></Job>",
            "</Requested><Delivered>", id="behind what was requested",
        ),
        pytest.param(
            "<Job><Id>1</Id><TaskGroup><Id>2</Id></TaskGroup></Job>",
            "</Delivered><TaskGroup>", id="before the task groups",
        ),
        pytest.param(
            "<Job><Delivered><Duration>1</Duration></Delivered><Id>1</Id></Job>",
            "<Delivered><Duration>1</Duration><Processors>",
            id="in the Delivered that stands there",
        ),
    ],
)  # fmt: skip
def test_delivered_stands_in_a_sensible_place(xml, expected):
    assert expected in document.dumps(fold(loads(xml), [Fact(P("Processors", 2))]).job)


def test_facts_are_in_the_namespace_of_the_job():
    job = loads(f'<Job xmlns="{spec.NAMESPACE}"><Id>1</Id></Job>')
    folded = fold(job, [Fact(P("Processors", 2)), Fact(P("State", "Running"), JOB)]).job
    assert {item.namespace for item in (*folded.properties, *folded.delivered)} == {spec.NAMESPACE}
    assert folded.block(Delivered).namespace == spec.NAMESPACE


# Place, what stands there, the fact, what stands there then, whether that is a disagreement.
RUNNING = "<State>Running</State>"
CASES = [
    pytest.param(DELIVERED, "", P("Processors", 4), P("Processors", 4), "4", False, id="same"),
    pytest.param(DELIVERED, "", P("Processors", 4), P("Processors", 5), "4", True, id="kept"),
    pytest.param(
        DELIVERED, "", P("Memory", 1, {"units": "GB"}), P("Memory", 1048576, {"units": "KB"}),
        "1", False, id="the same amount in other units",
    ),
    pytest.param(
        DELIVERED, "", P("Memory", 1, {"metric": "Max"}), P("Memory", 2, {"metric": "Max"}),
        "2", False, id="a maximum grows",
    ),
    pytest.param(
        DELIVERED, "", P("Memory", 2, {"metric": "Max"}), P("Memory", 1, {"metric": "Max"}),
        "2", False, id="and never shrinks",
    ),
    pytest.param(
        DELIVERED, "", P("Memory", 2, {"metric": "Min"}), P("Memory", 1, {"metric": "Min"}),
        "1", False, id="a minimum shrinks",
    ),
    pytest.param(
        DELIVERED, "", P("Memory", 2, {"metric": "Average"}), P("Memory", 3, {"metric": "Average"}),
        "2", True, id="an average is kept",
    ),
    pytest.param(DELIVERED, RUNNING, P("Duration", 5), P("Duration", 9), "9", False, id="runs on"),
    pytest.param(DELIVERED, RUNNING, P("Duration", 9), P("Duration", 5), "9", True, id="shorter"),
    pytest.param(
        DELIVERED, "<EndTime>7</EndTime>", P("Duration", 5), P("Duration", 9), "5", True,
        id="a job that has ended runs no longer",
    ),
    pytest.param(DELIVERED, "", P("User", "amy"), P("User", " amy "), "amy", False, id="blanks"),
    pytest.param(
        DELIVERED, "", P("Processors", "x"), P("Processors", 1), "x", True,
        id="unreadable",
    ),
    pytest.param(
        DELIVERED, "", P("Memory", "x", {"metric": "Max"}), P("Memory", 1, {"metric": "Max"}),
        "x", True, id="an unreadable maximum",
    ),
    pytest.param(
        JOB, "", P("State", "Running"), P("State", "Suspended"), "Running", True,
        id="neither later nor earlier",
    ),
    pytest.param(
        DELIVERED, "", P("Memory", "x", {"metric": "Min"}), P("Memory", 1, {"metric": "Min"}),
        "x", True, id="an unreadable minimum",
    ),
    *[
        pytest.param(
            DELIVERED, "", P("Extension", "1", {"metric": metric}),
            P("Extension", "1.0", {"metric": metric}), "1", False, id=f"the same {metric}",
        )
        for metric in ("Min", "Max")
    ],
    pytest.param(
        JOB, "", P("State", "Idle"), P("State", "Completed"), "Completed", False,
        id="ends",
    ),
    pytest.param(JOB, "", P("State", "Hold"), P("State", "Running"), "Running", False, id="starts"),
    pytest.param(
        JOB, "", P("State", "Completed"), P("State", "Idle"), "Completed", True,
        id="back",
    ),
    pytest.param(
        JOB, "", P("State", "Odd"), P("State", "Running"), "Odd", True,
        id="a foreign state",
    ),
    pytest.param(
        JOB, RUNNING, P("CpuDuration", 1), P("CpuDuration", 2), "2", False,
        id="uses more",
    ),
    pytest.param(
        JOB, RUNNING, P("SuspendDuration", 1), P("SuspendDuration", 2), "2", False,
        id="hold",
    ),
    pytest.param(JOB, "", P("StartCount", 1), P("StartCount", 2), "2", False, id="started again"),
    pytest.param(JOB, "", P("DeadlineTime", 9), P("DeadlineTime", 5), "5", False, id="earlier"),
    pytest.param(JOB, "", P("DeadlineTime", 5), P("DeadlineTime", 9), "5", False, id="later"),
    pytest.param(
        JOB, "", P("StatusMessage", "a"), P("StatusMessage", "b"), "a", True,
        id="message",
    ),
    *[
        pytest.param(JOB, f"<State>{state}</State>", P(name, 100), P(name, 110), "100", True,
                     id=f"{name} of {state}")
        for name in ("EndTime", "SubmitTime") for state in ("Idle", "Completed")
    ],
    pytest.param(JOB, "", P("ExitCode", 0), P("ExitCode", 1), "0", True, id="exit code"),
    pytest.param(JOB, "", P("Name", "a"), P("Name", "b"), "a", True, id="name"),
]  # fmt: skip


def given_job(place, more, old):
    job = loads(f"<Job><Id>1</Id>{more}</Job>")
    return job.holding((*job.items, Delivered((old,)) if place == DELIVERED else old))


@pytest.mark.parametrize("place, more, old, new, expected, disagrees", CASES)
def test_precedence(place, more, old, new, expected, disagrees):
    folded = fold(given_job(place, more, old), [Fact(new, place)])
    items = folded.job.properties if place == JOB else folded.job.delivered
    assert [item.text for item in items.all(old.name)] == [expected]
    assert codes(folded) == ["W-DISAGREE"] * disagrees


@pytest.mark.parametrize("place, more, old, new, expected, disagrees", CASES)
def test_overwriting_replaces_what_disagrees_and_still_says_so(
    place, more, old, new, expected, disagrees
):
    folded = fold(given_job(place, more, old), [Fact(new, place)], overwrite=True)
    items = folded.job.properties if place == JOB else folded.job.delivered
    assert items.text(old.name) == (new.text if disagrees else expected)
    assert codes(folded) == ["W-DISAGREE"] * disagrees


def test_every_rule_has_a_case():
    rules = set()
    for case in CASES:
        place, _, _, new, *_ = case.values
        rules.add(next(rule for rule in PRECEDENCE if rule.fits(place, new)))
    assert rules == set(PRECEDENCE)


ENDS = Fact(P("State", "Completed"), JOB)


@pytest.mark.parametrize(
    ("more", "name", "told", "expected", "disagrees"),
    [
        ("<State>Running</State>", "EndTime", 110, "110", False),  # it was expected
        ("<State>Idle</State>", "EndTime", 110, "110", False),
        ("", "EndTime", 110, "110", True),  # a Charge tells an end, and no State
        ("", "EndTime", 100, "100", False),
        ("<State>Failed</State>", "EndTime", 110, "100", True),
        ("<State>Idle</State>", "SubmitTime", 110, "110", True),
        ("<State>Idle</State>", "SubmitTime", 90, "90", True),
        ("<State>Idle</State>", "SubmitTime", 102, "100", True),  # as clocks differ
        ("", "SubmitTime", 110, "110", True),
        ("<State>Failed</State>", "SubmitTime", 110, "100", True),
    ],
)
def test_who_tells_that_a_job_has_ended_knows_when_and_when_it_was_submitted(
    more, name, told, expected, disagrees
):
    job = given_job(JOB, more, P(name, 100))
    record = [Fact(P(name, told), JOB), ENDS][: 1 if "Failed" in more else 2]
    folded = fold(job, record)
    assert folded.job.get(name) == expected
    assert codes(folded) == ["W-DISAGREE"] * disagrees
    assert not fold(folded.job, record).changes


def test_a_message_follows_its_state():
    job = Job.of(Id="1", State="Idle", StatusMessage="Insufficient funds to start job")
    record = [Fact(P("State", "Completed"), JOB), Fact(P("StatusMessage", "TIMEOUT"), JOB)]
    folded = fold(job, record)
    assert folded.job.get("StatusMessage") == "TIMEOUT"
    assert folded.findings == ()
    assert fold(folded.job, record).job == folded.job


@pytest.mark.parametrize(
    "attributes", [{"metric": "Max"}, {"metric": "Average"}, {"context": "Configured"}]
)
def test_another_metric_or_context_stays_beside(attributes):
    job = Job.of(Delivered((P("Memory", 1, attributes),)), Id="1")
    folded = fold(job, [Fact(P("Memory", 2))])
    assert texts(folded.job, "Memory") == ["1", "2"]
    assert folded.findings == ()


def test_groups_of_a_delivery_are_compared_in_sum():
    parts = (P("Processors", 8, {"group": "1"}), P("Processors", 4, {"group": "-1"}))
    job = Job.of(Delivered(parts), Id="1")
    assert fold(job, [Fact(P("Processors", 12))]).job == job
    assert codes(fold(job, [Fact(P("Processors", 13))])) == ["W-DISAGREE"]


@pytest.mark.parametrize(
    "old, new, count",
    [
        pytest.param(
            P("Extension", "a", {"name": "x"}), P("Extension", "b", {"name": "y"}), 2,
            id="x, y",
        ),
        pytest.param(
            P("Extension", "a", {"name": "x"}), P("Extension", "b", {"name": "x"}), 1,
            id="x, x",
        ),
        pytest.param(
            P("ResourceLimit", 5, {"name": "CPUTime", "type": "Hard"}),
            P("ResourceLimit", 5, {"name": "rlimit_cpu", "type": "Hard"}), 1,
            id="two names of a limit",
        ),
        pytest.param(
            P("ResourceLimit", 5, {"name": "CPUTime"}),
            P("ResourceLimit", 5, {"name": "CPUTime", "type": "Hard"}), 1, id="no type sets both",
        ),
        pytest.param(
            P("ResourceLimit", 5, {"name": "CPUTime", "type": "Soft"}),
            P("ResourceLimit", 5, {"name": "CPUTime", "type": "Hard"}), 2, id="soft and hard",
        ),
        pytest.param(P("Hold", "System"), P("Hold", "User"), 2, id="two holds"),
        pytest.param(P("Hold", "System"), P("Hold", "System"), 1, id="one hold"),
    ],
)  # fmt: skip
def test_what_tells_two_properties_of_one_name_apart(old, new, count):
    folded = fold(Job.of(old, Id="1"), [Fact(new, JOB)])
    assert len(folded.job.properties.all(old.name)) == count


def test_a_small_difference_is_none_within_the_tolerance():
    job = Job.of(Id="1", StartTime=1000)
    assert fold(job, [Fact(P("StartTime", 1060), JOB, 60)]).findings == ()
    assert codes(fold(job, [Fact(P("StartTime", 1061), JOB, 60)])) == ["W-DISAGREE"]


def test_cpu_time_is_looked_for_in_delivered_too():
    job = Job.of(Delivered.of(CpuDuration=5), Id="1")
    assert fold(job, [Fact(P("CpuDuration", 5), JOB)]).job == job


def test_a_name_in_no_category_is_compared_with_the_delivered_one():
    job = Job.of(Id="1", Queue="batch")
    for _ in range(2):
        folded = fold(job, [Fact(P("Queue", "debug"))])
        assert codes(folded) == ["W-DISAGREE"]
        job = folded.job
    assert (job.get("Queue"), texts(job, "Queue")) == ("batch", ["debug"])


def test_a_finding_says_where_and_what():
    job = loads("<Job>\n<Id>1</Id>\n<Delivered>\n<Processors>4</Processors></Delivered></Job>")
    [finding] = fold(job, [Fact(P("Processors", 5))], source="sacct.txt:3").findings
    assert (finding.line, finding.path) == (4, "/Job/Delivered/Processors")
    assert finding.message == "Processors 4 is kept, not 5 of sacct.txt:3"


RECORD = Job.of(
    Requested.of(Processors=99),
    Delivered.of(Processors=16, Duration=10),
    TaskGroup.of(Delivered.of(Duration=9), Id="batch", Name="batch", State="Completed"),
    Id="123", State="Completed", EndTime=20, Name="heavy",
)  # fmt: skip


def test_a_record_takes_its_place_and_what_was_requested_stays():
    job = Job.of(Requested.of(Processors=12), Id="123", State="Idle", Name="water")
    folded = fold(job, RECORD)
    assert folded.job.requested == job.requested
    assert folded.job.get("State") == "Completed"
    assert texts(folded.job, "Processors") == ["16"]
    assert [group.id for group in folded.job.task_groups] == ["batch"]
    assert codes(folded) == ["W-DISAGREE"], "the name"
    assert folded.job.get("Name") == "water"


def test_a_record_folds_into_the_task_groups_that_it_names():
    job = Job.of(TaskGroup.of(Name="batch", Executable="a.out"), Id="123")
    [group] = fold(job, RECORD).job.task_groups
    assert (group.get("Executable"), group.get("State")) == ("a.out", "Completed")
    assert group.delivered.text("Duration") == "9"


def test_a_record_of_another_job_is_an_error_unless_forced():
    job = Job.of(Id="124")
    folded = fold(job, RECORD)
    assert folded.job == job
    assert [finding.severity for finding in folded.findings] == [Severity.ERROR]
    assert fold(job, RECORD, force=True).changes


def slurm(id_, raw=""):
    extra = (P("Extension", raw, {"type": "Slurm", "name": "JobIDRaw"}),) if raw else ()
    return Job.of(*extra, Id=id_, GlobalId=f"cluster/{raw or id_}/7")


@pytest.mark.parametrize(
    "record, job, about",
    [
        pytest.param(slurm("123"), "123", True, id="equal"),
        pytest.param(slurm("123"), "1234", False, id="longer"),
        pytest.param(slurm("123_4", "127"), "123_4", True, id="array task"),
        pytest.param(slurm("123_4", "127"), "123[4]", True, id="array task as PBS spells it"),
        pytest.param(slurm("123_4", "127"), "127", True, id="array task by its raw id"),
        pytest.param(slurm("123_4", "127"), "123", False, id="the array is not its task"),
        pytest.param(slurm("123_9", "123"), "123", False, id="the last task has the array's id"),
        pytest.param(slurm("26+0", "26"), "26", True, id="leader of a heterogeneous job"),
        pytest.param(slurm("26+1", "27"), "26", False, id="another component"),
        pytest.param(slurm("26+1", "27"), "26+1", True, id="component"),
    ],
)
def test_a_record_is_about_a_job(record, job, about):
    assert is_about(record, Job.of(Id=job)) is about


def condor(number, user="", inside=""):
    delivered = (Delivered.of(P("User", inside)),) if inside else ()
    own = {"User": user} if user else {}
    return Job.of(*delivered, Id="7.0", GlobalId=f"schedd.example.org#7.0#{number}", **own)


@pytest.mark.parametrize(
    "record, job, about",
    [
        pytest.param(condor(1800000000), condor(1800000000), True, id="equal"),
        pytest.param(condor(1800000000), condor(1700000000), False, id="another of the same Id"),
        pytest.param(condor(1800000000, "amy"), condor(1800000000, "bob"), False, id="users"),
        pytest.param(condor(1800000000, "amy"), condor(1800000000), True, id="no user"),
        pytest.param(condor(1800000000), condor(1800000000, "amy"), True, id="no user of it"),
        pytest.param(condor(1800000000, "bob", "amy"), condor(1800000000, "amy"), True,
                     id="the user who ran it"),
        pytest.param(condor(1700000000, "amy"), condor(1800000000, "amy"), False, id="one user"),
        pytest.param(condor(1800000000), Job.of(Id="7.0"), True, id="one of them alone"),
    ],
)  # fmt: skip
def test_an_id_that_holds_everywhere_tells_whose_job_it_is(record, job, about):
    assert is_about(record, job) is about


@pytest.mark.parametrize(
    "known, other, same",
    [
        ({"Id": "1"}, {"Id": "1"}, True),
        ({"Id": "1", "Name": "a"}, {"Id": "2", "Name": "a"}, False),
        ({"Id": "1", "Name": "a"}, {"Name": "a"}, True),
        ({"Name": "a"}, {"Name": "b"}, False),
        ({"Name": "a"}, {}, False),
        ({}, {"Name": "a"}, False),
        ({}, {}, False),
        ({"Id": "1"}, {}, False),
    ],
)
def test_task_groups_are_one_by_their_ids_or_else_by_their_names(known, other, same):
    assert is_same_group(TaskGroup.of(**known), TaskGroup.of(**other)) is same


def test_the_global_id_is_an_identity_and_no_id_is_none():
    assert is_about(slurm("123"), Job.of(Id="mine", GlobalId="cluster/123/7"))
    assert identities(Job.of(User="amy")) == frozenset()
    assert not is_about(Job.of(User="amy"), Job.of(User="amy"))


names = st.sampled_from(["Processors", "Duration", "Memory", "User", "Queue", "Resource", "Node"])
own = st.sampled_from(
    ["State", "StartTime", "EndTime", "CpuDuration", "StatusMessage", "DeadlineTime", "Hold",
     "StartCount", "SuspendDuration", "Extension", "ResourceLimit", "Name"]
)  # fmt: skip
values = st.one_of(
    st.integers(0, 5).map(str), st.sampled_from(["Idle", "Running", "Completed", "x", ""])
)
attributes = st.fixed_dictionaries(
    {},
    optional={
        "metric": st.sampled_from(["Max", "Min", "Average"]),
        "units": st.sampled_from(["KB", "MB"]),
        "name": st.sampled_from(["CPUTime", "cpu", "GPU"]),
        "type": st.sampled_from(["Hard", "Soft"]),
    },
)
delivered_facts = st.builds(lambda *a: Fact(P(*a)), names, values, attributes)
own_facts = st.builds(lambda *a: Fact(P(*a), JOB), own, values, attributes)
many = st.lists(st.one_of(delivered_facts, own_facts), max_size=8)
groups = st.lists(
    st.builds(
        lambda name, facts: TaskGroup.of(P("Name", name), Delivered(tuple(f.item for f in facts))),
        st.sampled_from(["batch", "0", "1"]),
        st.lists(delivered_facts, max_size=3),
    ),
    max_size=3,
)


@st.composite
def jobs(draw):
    facts = draw(many)
    parts = tuple(fact.item for fact in facts if fact.place == JOB)
    given = Delivered(tuple(fact.item for fact in facts if fact.place == DELIVERED))
    asked = Requested.of(Processors=12) if draw(st.booleans()) else Requested()
    return Job((P("Id", "1"), *parts, asked, *([given] if given.items else []), *draw(groups)))


@given(jobs(), many, st.booleans())
def test_folding_facts_again_changes_nothing(job, facts, overwrite):
    once = fold(job, facts, overwrite=overwrite)
    twice = fold(once.job, facts, overwrite=overwrite)
    assert twice.job == once.job


@given(jobs(), jobs(), st.booleans())
def test_folding_a_record_again_changes_nothing(job, record, overwrite):
    once = fold(job, record, overwrite=overwrite)
    twice = fold(once.job, record, overwrite=overwrite)
    assert twice.job == once.job
    assert overwrite or twice.changes == 0


@given(jobs(), jobs())
def test_what_was_requested_is_never_touched(job, record):
    folded = fold(job, record, overwrite=True).job
    assert folded.blocks(Requested) == job.blocks(Requested)


@given(jobs(), jobs())
def test_no_element_that_was_known_is_lost(job, record):
    folded = fold(job, record).job
    for before, after in ((job.properties, folded.properties), (job.delivered, folded.delivered)):
        for name in before.names():
            assert len(after.all(name)) >= len(before.all(name))


def test_a_fact_that_completes_gives_its_attributes_to_what_is_the_same():
    job = Job.of(Delivered.of(Processors=4), Id="1")
    fact = Fact(P("Processors", 4, {"consumptionRate": "0.5"}), completes=True)
    folded = fold(job, [fact])
    assert folded.job.delivered.get("Processors").attributes == {"consumptionRate": "0.5"}
    assert (folded.changes, folded.findings) == (1, ())
    again = fold(folded.job, [fact])
    assert (again.job, again.changes) == (folded.job, 0)
    assert fold(job, [Fact(fact.item)]).changes == 0


@pytest.mark.parametrize(
    "name, parts, whole, agrees",
    [
        pytest.param("Processors", (8, 4), 12, True, id="the sum"),
        pytest.param("Processors", (8, 4), 13, False, id="another one"),
        pytest.param("Processors", (8, "x"), 8, True, id="one of them"),
        pytest.param("Processors", (9, "x"), 8, False, id="what is no number"),
        pytest.param("Duration", (8, 4), 12, False, id="of what is not shared out"),
    ],
)
def test_only_amounts_that_are_shared_out_are_added(name, parts, whole, agrees):
    job = Job.of(Delivered(tuple(P(name, part) for part in parts)), Id="1", State="Completed")
    folded = fold(job, [Fact(P(name, whole))])
    assert (folded.job, codes(folded)) == (job, [] if agrees else ["W-DISAGREE"])


def test_a_record_of_another_job_is_told_by_its_source_or_as_the_record():
    job, other = Job.of(Id="1"), Job.of(Id="2")
    told = [fold(job, other, source=source).findings[0].message for source in ("", "sacct:3")]
    assert told == [
        "the record is about job '2', not '1'",
        "sacct:3 is about job '2', not '1'",
    ]


@pytest.mark.parametrize("size, shown", [(60, "x" * 60), (61, "x" * 57 + "...")])
def test_a_finding_shows_so_much_of_a_text(size, shown):
    job = Job.of(Delivered.of(Queue="x" * size), Id="1")
    [finding] = fold(job, [Fact(P("Queue", "y"))]).findings
    assert finding.message == f"Queue {shown} is kept, not y of the record"


def test_a_fact_about_a_job_that_is_nothing_but_task_groups_stands_before_them():
    job = Job.of(TaskGroup.of(Id="a"), TaskGroup.of(Id="b"))
    folded = fold(job, [Fact(P("State", "Running"), JOB)]).job
    assert [item.name for item in folded.items] == ["State", "TaskGroup", "TaskGroup"]


@pytest.mark.parametrize(
    "known, told, message",
    [
        pytest.param("", "Idle", "b", id="any state is later than none"),
        pytest.param("Idle", "Running", "b", id="a later one"),
        pytest.param("Running", "Suspended", "a", id="one beside it"),
        pytest.param("Idle", "Odd", "a", id="one that nobody knows"),
        pytest.param("Odd", "Idle", "b", id="after one that nobody knows"),
    ],
)
def test_a_message_comes_with_a_state_that_is_later(known, told, message):
    job = Job.of(Id="1", StatusMessage="a", **({"State": known} if known else {}))
    given = [Fact(P("State", told), JOB), Fact(P("StatusMessage", "b"), JOB)]
    assert fold(job, given).job.get("StatusMessage") == message


def test_what_identifies_a_record_is_no_fact_of_it():
    for record, names in (
        (Job.of(Id="1", Name="a", State="Idle"), ["Name", "State"]),
        (TaskGroup.of(Id="1", Name="a", State="Idle"), ["State"]),
    ):
        assert [fact.item.name for fact in facts(record)] == names


def test_a_record_of_another_job_is_told_at_the_id():
    other = Job.of(Id="2")
    [at_id] = fold(loads("<Job>\n\n<Id>1</Id></Job>"), other).findings
    [at_job] = fold(loads("\n<Job>\n\n<Name>x</Name></Job>"), other).findings
    assert (at_id.line, at_job.line) == (3, 2)


def test_a_record_folds_into_the_task_group_that_is_meant_and_says_which():
    groups = [TaskGroup.of(Delivered.of(Processors=number), Id=f"{number}") for number in (1, 2, 3)]
    job = Job.of(*groups, Id="1")
    told = TaskGroup.of(Delivered.of(Processors=9), Id="2")
    folded = fold(job, Job.of(told, Id="1"))
    assert (folded.job, codes(folded)) == (job, ["W-DISAGREE"])
    assert folded.findings[0].path == "/Job/TaskGroup[2]/Delivered/Processors"
