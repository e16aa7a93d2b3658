"""Defaults: every rule of inheritance, by its number, on values."""

# ruff: noqa: E501 - a case is one line of its table

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob import expression
from sssjob.defaults import resolve, scope
from sssjob.errors import Severity
from sssjob.model import (
    Delivered,
    Job,
    JobDefaults,
    JobGroup,
    Note,
    Property,
    Reference,
    Requested,
    Task,
    TaskDefaults,
    TaskGroup,
    TaskGroupDefaults,
    walk,
)


def P(element, value="", /, *children, **attributes):
    return Property(element, value, attributes, children)


def environment(**variables):
    return P("Environment", "", *(P("Variable", v, name=k) for k, v in variables.items()))


def group(defaults, *jobs):
    return JobGroup.of(defaults, *jobs, Id="g")


def only(defaults, job, **options):
    """The one job of a group, over these defaults."""
    (found,) = resolve(group(defaults, job), **options).block.jobs
    return found


def asks(block):
    return str(expression.of(block))


def variables(block):
    return {item.attributes["name"]: item.text for item in block["Environment"].children}


def codes(resolved):
    return [finding.code for finding in resolved.findings]


EXAMPLE = group(
    JobDefaults.of(
        P("User", "keith"), P("Id", "ignored"), P("Project", "P"),
        environment(PATH="/usr/bin", LD_LIBRARY_PATH="/usr/lib"),
        P("Dependency", "stage"),
        P("ResourceLimit", 10, name="CPUTime", type="Soft"),
        P("ResourceLimit", 20, name="CPUTime", type="Hard"),
        Requested.of(
            P("Processors", 8, op="GE"), P("Processors", 16, op="LE"), P("Memory", 512), P("Duration", 3600)
        ),
        TaskGroupDefaults.of(TaskDefaults.of(Node="n0"), Feature="ib"),
    ),
    Job.of(Id="stage"),
    Job.of(
        P("Id", "b"), P("User", "amy"),
        environment(PATH="/opt/bin", OMP_NUM_THREADS="4"),
        P("ResourceLimit", 30, name="CPUTime", type="Hard"),
        Requested.of(Processors=4),
        TaskGroup.of(P("Name", "m"), Task.of(Id=1), Task.of(Id=2, Node="n9")),
        TaskGroup.of(Name="s", Feature="gpu"),
    ),
    Reference("Job", "job77"),
)  # fmt: skip


def test_the_example_stage_has_all_defaults_but_the_dependency():
    stage = resolve(EXAMPLE).block.jobs[0]
    assert (stage.id, stage.get("User"), stage.get("Project")) == ("stage", "keith", "P")
    assert variables(stage) == {"PATH": "/usr/bin", "LD_LIBRARY_PATH": "/usr/lib"}
    assert asks(stage) == (
        "(Processors GE 8 And Processors LE 16 And Memory EQ 512 And Duration EQ 3600)"
    )
    assert not stage.properties.all("Dependency")
    assert len(stage.properties.all("ResourceLimit")) == 2


def test_the_example_b_has_its_own_first():
    b = resolve(EXAMPLE).block.jobs[1]
    assert (b.get("User"), b.get("Project"), b.get("Dependency")) == ("amy", "P", "stage")
    assert variables(b) == {
        "PATH": "/opt/bin", "OMP_NUM_THREADS": "4", "LD_LIBRARY_PATH": "/usr/lib",
    }  # fmt: skip
    limits = b.properties.all("ResourceLimit", name="CPUTime")
    assert [(each.attributes["type"], each.text) for each in limits] == [
        ("Hard", "30"), ("Soft", "10"),
    ]  # fmt: skip
    assert asks(b) == "(Processors EQ 4 And Memory EQ 512 And Duration EQ 3600)"
    master, slave = b.task_groups
    assert master.get("Feature") == "ib"
    assert [task.get("Node") for task in master.tasks] == ["n0", "n9"]
    assert [item.text for item in slave.properties.all("Feature")] == ["gpu"]


def test_the_example_leaves_references_and_holds_no_defaults():
    resolved = resolve(EXAMPLE).block
    assert resolved.items[-1] == Reference("Job", "job77")
    assert not [block for block in walk(resolved) if block.name.endswith("Defaults")]


def test_the_example_tells_what_is_odd():
    resolved = resolve(EXAMPLE)
    assert codes(resolved) == ["W-USELESS", "W-USELESS"]
    assert [(each.path, each.severity) for each in resolved.findings] == [
        ("/JobGroup/JobDefaults/Id", Severity.WARNING),
        ("/JobGroup/Job[1]", Severity.NOTICE),
    ]


def test_1_1_defaults_chain_down_to_tasks():
    job = only(
        JobDefaults.of(
            TaskGroupDefaults.of(
                TaskDefaults.of(User="far", Queue="far", Session=1, Node="far"),
                User="far", Queue="far", Machine="far",
            ),
        ),
        Job.of(
            TaskGroupDefaults.of(TaskDefaults.of(User="near", Queue="near"), User="near", Queue="near"),
            TaskGroup.of(TaskDefaults.of(User="own"), Task.of(Id=1, Node="mine"), User="own"),
            Id="j",
        ),
    )  # fmt: skip
    (tasks,) = job.task_groups
    assert [tasks.get(name) for name in ("User", "Queue", "Machine")] == ["own", "near", "far"]
    (task,) = tasks.tasks
    assert [task.get(name) for name in ("User", "Queue", "Session", "Node")] == [
        "own", "near", "1", "mine",
    ]  # fmt: skip


def test_1_1_a_standalone_job_has_task_group_defaults():
    job = Job.of(TaskGroupDefaults.of(Feature="ib"), TaskGroup.of(Name="a"), Id="j")
    assert resolve(job).block == Job.of(TaskGroup.of(Name="a", Feature="ib"), Id="j")


def test_1_1_a_standalone_task_group_has_task_defaults():
    tasks = TaskGroup.of(TaskDefaults.of(Node="n"), Task.of(Id=1))
    assert resolve(tasks).block == TaskGroup.of(Task.of(Id=1, Node="n"))


def test_1_1_task_group_defaults_without_a_task_group_are_useless():
    resolved = resolve(Job.of(TaskGroupDefaults.of(Feature="ib"), Id="j"))
    assert codes(resolved) == ["W-USELESS"]
    assert resolved.block == Job.of(Id="j")


def test_1_1_of_two_defaults_elements_the_first_counts():
    two = group(JobDefaults.of(User="a"), JobDefaults.of(User="b", Queue="q"), Job.of(Id="j"))
    assert resolve(two).block.jobs == (Job.of(Id="j", User="a"),)


# fmt: off
KEYED = [
    pytest.param(P("Extension", 1, name="a", type="x"), P("Extension", 2, name="a", type="y"), True, id="Extension by type"),
    pytest.param(P("Extension", 1, name="a"),           P("Extension", 2, name="a"),           False, id="Extension the same"),
    pytest.param(P("Resource", 1, name="a"),            P("Resource", 2, name="b"),            True, id="Resource by name"),
    pytest.param(P("ResourceLimit", 1, name="a", type="Hard"), P("ResourceLimit", 2, name="a", type="Soft"), True, id="ResourceLimit by type"),
    pytest.param(P("ResourceLimit", 2, name="a"), P("ResourceLimit", 1, name="a", type="Hard"), False, id="a ResourceLimit without type overrides Hard"),
    pytest.param(P("ResourceLimit", 2, name="a"), P("ResourceLimit", 1, name="a", type="Soft"), False, id="a ResourceLimit without type overrides Soft"),
    pytest.param(P("ResourceLimit", 2, name="a", type="Hard"), P("ResourceLimit", 1, name="a"), True, id="Hard leaves the other half of a ResourceLimit without type"),
    pytest.param(P("Memory", 1, metric="Max"),          P("Memory", 2, metric="Min"),          False, id="others by name only"),
    pytest.param(P("{urn:x}Mood", 1),                   P("{urn:x}Mood", 2),                   False, id="unknown ones too"),
]
# fmt: on


@pytest.mark.parametrize(("own", "default", "kept"), KEYED)
def test_1_2_a_default_of_the_same_key_is_dropped(own, default, kept):
    job = only(JobDefaults.of(default), Job.of(own, Id="j"))
    assert job.properties.all(own.name) == ((own, default) if kept else (own,))


@pytest.mark.parametrize("name", ["Dependency", "Hold"])
def test_1_3_lists_are_replaced_as_a_whole(name):
    defaults = JobDefaults.of(P(name, "d1"), P(name, "d2"))
    own = Job.of(P(name, "o"), Id="j")
    assert [item.text for item in only(defaults, own).properties.all(name)] == ["o"]
    assert len(only(defaults, Job.of(Id="j")).properties.all(name)) == 2


def test_1_3_task_groups_in_defaults_are_a_template_for_jobs_without():
    defaults = JobDefaults.of(TaskGroup.of(Name="t"), TaskGroupDefaults.of(Feature="ib"))
    resolved = resolve(group(defaults, Job.of(Id="a"), Job.of(TaskGroup.of(Name="own"), Id="b")))
    a, b = resolved.block.jobs
    assert a.task_groups == (TaskGroup.of(Name="t", Feature="ib"),)
    assert b.task_groups == (TaskGroup.of(Name="own", Feature="ib"),)
    assert codes(resolved) == ["W-TEMPLATE"]


def test_1_3_a_referenced_task_group_is_a_list_of_its_own():
    own = Job.of(Reference("TaskGroup", "tg1"), Id="j")
    assert only(JobDefaults.of(TaskGroup.of(Name="t")), own) == own


def test_1_4_the_export_of_the_job_counts():
    def export(default, own):
        defaults = JobDefaults.of(environment(A="1").having(export=default))
        return only(defaults, Job.of(environment(B="2").having(export=own)))[
            "Environment"
        ].attributes

    assert export("true", None) == {"export": "true"}
    assert export("true", "false") == {"export": "false"}


def test_1_4_an_environment_may_replace_instead():
    defaults, job = JobDefaults.of(environment(A="1")), Job.of(environment(B="2"), Id="j")
    assert variables(only(defaults, job, env="replace")) == {"B": "2"}
    assert variables(only(defaults, Job.of(Id="j"), env="replace")) == {"A": "1"}


ALTERNATIVES = (
    P("User", "scottmo", group="1"), P("Project", "mscfops", group="-1"),
    P("User", "amy", conj="Or", group="1"), P("Project", "chem", group="-1"),
)  # fmt: skip


def test_1_5_an_alternative_in_a_group_of_its_own_survives():
    first, *middle, last = ALTERNATIVES
    wrapped = (first.having(group="2"), *middle, last.having(group="-2"), P("Memory", 512))
    job = only(JobDefaults.of(Requested(wrapped)), Job.of(Requested.of(Memory=1024), Id="j"))
    assert asks(job) == (
        "(Memory EQ 1024 And ((User EQ scottmo And Project EQ mscfops)"
        " Or (User EQ amy And Project EQ chem)))"
    )


def test_1_5_without_it_the_whole_block_goes():
    defaults = JobDefaults.of(Requested((*ALTERNATIVES, P("Memory", 512))))
    job = only(defaults, Job.of(Requested.of(Memory=1024), Id="j"))
    assert asks(job) == "Memory EQ 1024"


def test_1_5_an_empty_requested_inherits_all():
    defaults = JobDefaults.of(Requested.of(Memory=512, Duration=60))
    job = only(defaults, Job.of(Requested(), Id="j"))
    assert job.blocks(Requested) == (Requested.of(Memory=512, Duration=60),)


def test_1_5_what_the_job_says_uncategorised_counts_too():
    job = only(JobDefaults.of(Requested.of(Memory=512, Duration=60)), Job.of(Id="j", Memory=1024))
    assert asks(job) == "Duration EQ 60"
    assert asks(only(JobDefaults.of(Requested.of(Memory=1)), Job.of(Id="j", Memory=2))) == "None"


def test_1_5_preferences_of_one_group_are_one():
    alternatives = Requested.of(P("Memory", 2, preference="2"), P("Memory", 1, preference="1"))
    assert asks(only(JobDefaults.of(alternatives), Job.of(Requested.of(Memory=3)))) == "Memory EQ 3"
    assert asks(only(JobDefaults.of(alternatives), Job.of(Requested.of(Queue="q")))) == (
        "(Queue EQ q And OneOf(Memory EQ 2: 2, Memory EQ 1: 1))"
    )


def test_1_5_a_job_that_asks_either_or_keeps_it_together():
    job = Job.of(Requested.of(P("Queue", "a"), P("Queue", "b", conj="Or")), Id="j")
    merged = only(JobDefaults.of(Requested.of(Memory=1)), job)
    assert asks(merged) == "((Queue EQ a Or Queue EQ b) And Memory EQ 1)"
    assert [item.attributes for item in merged.requested] == [
        {"group": "1"}, {"conj": "Or", "group": "-1"}, {},
    ]  # fmt: skip


def test_1_5_several_requested_elements_become_one():
    job = Job.of(Requested.of(A=1), Requested((Note("comment", "c"), P("B", 2))), Id="j")
    (merged,) = only(JobDefaults.of(Requested.of(C=3), Requested.of(B=4)), job).blocks(Requested)
    assert merged.items == (Note("comment", "c"), P("A", 1), P("B", 2), P("C", 3))


def test_1_5_nothing_to_inherit_leaves_requested_as_it_was():
    job = Job.of(Requested.of(P("Memory", 1, conj="And", group="0")), Requested.of(A=1), Id="j")
    assert only(JobDefaults.of(Requested.of(Memory=2)), job) == job


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(P("A", 1, group="1"), id="unbalanced"),
        pytest.param(P("A", 1, group="100"), id="unbalanced and deep"),
    ],
)
def test_1_5_what_cannot_be_read_stands_beside_the_other_as_it_was_written(broken):
    bad, good = Requested.of(broken), Requested.of(B=1)
    defaults = resolve(group(JobDefaults.of(bad), Job.of(good), Job.of(good), Job.of(Id="x")))
    assert codes(defaults) == ["E-GROUP"]
    both = [(good, bad), (good, bad), (bad,)]
    assert [job.blocks(Requested) for job in defaults.block.jobs] == both
    own = resolve(group(JobDefaults.of(good), Job.of(bad)))
    assert codes(own) == ["E-GROUP"]
    assert own.block.jobs[0].blocks(Requested) == (bad, good)


# What nobody knows is judged by awarenessPolicy, after the defaults were applied: it has to be there.


@pytest.mark.parametrize("word", [{"op": "APPROX"}, {"conj": "Xor"}], ids=["op", "conj"])
def test_1_5_words_that_nobody_knows_stay_whether_in_defaults_or_in_the_job(word):
    odd = P("A", 1, **word)
    default = JobDefaults.of(Requested.of(odd, P("B", 2)))
    merged = resolve(group(default, Job.of(Requested.of(C=3))))
    assert (merged.block.jobs[0].blocks(Requested), codes(merged)) == (
        (Requested.of(C=3), Requested.of(odd, P("B", 2))), [],
    )  # fmt: skip
    over = only(default, Job.of(Requested.of(B=3)))
    assert over.blocks(Requested) == (Requested.of(B=3), Requested.of(odd))
    own = resolve(group(JobDefaults.of(Requested.of(A=2, B=2)), Job.of(Requested.of(odd))))
    assert (own.block.jobs[0].blocks(Requested), codes(own)) == (
        (Requested.of(odd), Requested.of(B=2)), [],
    )  # fmt: skip


def test_1_5_of_a_request_with_unknown_words_each_conjunct_yields_by_itself():
    default = JobDefaults.of(Requested.of(
        P("A", 1, group="2"), P("B", 1, conj="Nand", group="1"), P("C", 1, conj="Or", group="-1"),
        P("D", 1, op="APPROX"), P("E", 1, group="-2"),
    ))  # fmt: skip
    left = {
        "A": [P("B", 1, conj="Nand", group="1"), P("C", 1, conj="Or", group="-1"),
              P("D", 1, op="APPROX"), P("E", 1)],
        "C": [P("A", 1), P("D", 1, op="APPROX"), P("E", 1)],
        "E": [P("A", 1), P("B", 1, conj="Nand", group="1"), P("C", 1, conj="Or", group="-1"),
              P("D", 1, op="APPROX")],
    }  # fmt: skip
    for name, expected in left.items():
        merged = only(default, Job.of(Requested.of(P(name, 9))))
        assert merged.blocks(Requested) == (Requested.of(P(name, 9)), Requested.of(*expected))


def test_1_5_preferences_that_were_apart_stay_so_beside_unknown_words():
    def default(**odd):
        one, other = P("A", 1, preference="2"), P("A", 2, preference="1", **odd)
        return Requested.of(one, P("B", 1, op="APPROX"), other)

    merged = only(JobDefaults.of(default()), Job.of(Requested.of(B=9)))
    assert [item.attributes.get("conj") for item in merged.requested] == [None, None, "And"]
    # Here the word has to stay where And would stand, so nothing is left out.
    merged = only(JobDefaults.of(default(conj="Xor")), Job.of(Requested.of(B=9)))
    assert merged.blocks(Requested) == (Requested.of(B=9), default(conj="Xor"))


def test_1_5_a_group_that_readers_take_differently_is_told():
    matches = Requested.of(
        P("A", 1), P("B", "x", conj="Nor", group="1", op="Match"), P("C", "y", conj="Or", group="-1", op="Match")
    )  # fmt: skip
    resolved = resolve(group(JobDefaults.of(matches), Job.of(Requested.of(D=1))))
    assert codes(resolved) == ["W-NOT-SCOPE"]


def test_1_6_an_uncategorised_default_yields_to_a_requested_property():
    job = only(JobDefaults.of(Queue="d", Memory=1), Job.of(Requested.of(Queue="q")))
    assert job.items == (Requested.of(Queue="q"), P("Memory", 1))


def test_1_6_a_delivered_property_does_not_remove_a_requested_default():
    job = only(JobDefaults.of(Requested.of(Memory=1)), Job.of(Delivered.of(Memory=2), Id="j"))
    assert (asks(job), job.delivered.text("Memory")) == ("Memory EQ 1", "2")


def test_1_2_delivered_metrics_are_kept_apart():
    defaults = JobDefaults.of(
        Delivered.of(P("Memory", 9, metric="Max"), P("Memory", 8, metric="Min"))
    )
    own = Job.of(
        Delivered.of(P("Memory", 5, metric="Average"), P("Memory", 4, metric="Min")), Id="j"
    )
    assert [item.text for item in only(defaults, own).delivered] == ["5", "4", "9"]


# fmt: off
BAGS = [
    pytest.param([("A", 1), ("B", 0), ("C", -1)], "A", [("B", 1), ("C", -1)], id="the first of a bag"),
    pytest.param([("A", 1), ("B", 0), ("C", -1)], "B", [("A", 1), ("C", -1)], id="one inside"),
    pytest.param([("A", 1), ("B", 0), ("C", -1)], "C", [("A", 1), ("B", -1)], id="the last"),
    pytest.param([("A", 1), ("B", -1)], "A", [("B", 0)], id="one is left without a bag"),
    pytest.param([("A", 0), ("B", 1), ("B", -1), ("C", 0)], "B", [("A", 0), ("C", 0)], id="a whole bag"),
]
# fmt: on


def test_1_2_equal_delivered_elements_are_not_taken_for_one():
    twice = Job.of(Delivered.of(Memory=1), Delivered.of(Memory=1))
    merged = only(JobDefaults.of(Delivered.of(Disk=2)), twice)
    assert merged.items == (Delivered.of(Memory=1, Disk=2), Delivered.of(Memory=1))


@pytest.mark.parametrize(("default", "own", "left"), BAGS)
def test_1_2_delivered_bags_stay_balanced(default, own, left):
    def bag(rows):
        return [P(name, 1, **({"group": str(group)} if group else {})) for name, group in rows]

    job = only(JobDefaults.of(Delivered(tuple(bag(default)))), Job.of(Delivered.of(**{own: 2})))
    assert list(job.delivered)[1:] == bag(left)


def test_1_7_ids_are_never_inherited_and_states_and_times_are():
    defaults = JobDefaults.of(Id="d", GlobalId="d", State="Idle", StartTime=5)
    resolved = resolve(group(defaults, Job.of(Name="n")))
    assert resolved.block.jobs == (Job.of(Name="n", State="Idle", StartTime=5),)
    assert codes(resolved) == ["W-USELESS", "W-USELESS"]


def test_1_7_a_name_for_all_is_told():
    resolved = resolve(group(JobDefaults.of(Name="n"), Job.of(Id="j")))
    assert resolved.block.jobs[0].get("Name") == "n"
    assert codes(resolved) == ["W-TEMPLATE"]


def test_1_8_a_default_dependency_by_name_does_not_hold_for_that_job():
    defaults = JobDefaults.of(P("Dependency", " prep ", designator="JobName"))
    resolved = resolve(group(defaults, Job.of(Id="a", Name="prep"), Job.of(Id="prep", Name="b")))
    assert [len(job.properties.all("Dependency")) for job in resolved.block.jobs] == [0, 1]


def test_1_8_a_dependency_of_its_own_stays():
    own = Job.of(Id="a", Dependency="a")
    assert only(JobDefaults.of(Dependency="b"), own) == own


def warned(block):
    return type(block)(block.items, {**block.attributes, "awarenessPolicy": "Warn"})


def test_1_9_an_inherited_property_keeps_its_policy():
    job = only(warned(JobDefaults.of(Colour="red")), Job.of(Id="j"))
    assert job["Colour"].attributes == {"awarenessPolicy": "Warn"}


def test_1_9_a_policy_that_holds_at_both_places_is_not_repeated():
    (job,) = resolve(warned(group(JobDefaults.of(Colour="red"), Job.of(Id="j")))).block.jobs
    assert job["Colour"].attributes == {}


def test_1_9_a_stricter_default_in_a_lenient_job():
    job = only(
        JobDefaults.of(environment(A="1"), Requested.of(Queue="q"), P("X", 1, awarenessPolicy="no"), Colour=1),
        warned(Job.of(environment(B="2"), warned(Requested.of(User="u")), Id="j")),
    )  # fmt: skip
    assert job["Colour"].attributes == {"awarenessPolicy": "Reject"}
    assert job["X"].attributes == {"awarenessPolicy": "no"}
    assert [item.attributes.get("awarenessPolicy") for item in job["Environment"].children] == [
        None, "Reject",
    ]  # fmt: skip
    assert [item.attributes for item in job.requested] == [{}, {"awarenessPolicy": "Reject"}]


def stated(block, policy):
    return type(block)(block.items, {"awarenessPolicy": policy})


def test_1_9_white_space_around_a_policy_says_nothing():
    job = only(stated(JobDefaults.of(Colour="red"), " Warn "), Job.of(Id="j"))
    assert job["Colour"].attributes == {"awarenessPolicy": "Warn"}


def test_1_9_a_policy_that_is_none_leaves_the_one_around_it():
    never = stated(JobDefaults.of(Colour="red"), "Never")
    (job,) = resolve(warned(group(never, Job.of(Id="j")))).block.jobs
    assert job["Colour"].attributes == {}


def test_1_9_blocks_keep_their_policy_too():
    defaults = warned(JobDefaults.of(Requested.of(Queue="q"), TaskGroup.of(Name="t")))
    job = only(defaults, Job.of(Id="j"))
    assert job.block(Requested).attributes == {"awarenessPolicy": "Warn"}
    assert job.task_groups[0].attributes == {"awarenessPolicy": "Warn"}


def test_1_10_what_describes_reaches_every_task_group_and_amounts_do_not():
    job = Job.of(
        P("Executable", "a.out"), P("Memory", 1), P("User", "u"), environment(A="1"),
        Requested.of(Architecture="ppc", Processors=12, Queue="q"),
        TaskGroup.of(P("Executable", "b.out"), Requested.of(Processors=1)),
        TaskGroup.of(environment(B="2"), Name="s"),
        Id="j",
    )  # fmt: skip
    scoped = scope(job)
    one, two = scoped.task_groups
    assert (one.get("Executable"), two.get("Executable")) == ("b.out", "a.out")
    assert asks(one) == "(Processors EQ 1 And Architecture EQ ppc)"
    assert asks(two) == "Architecture EQ ppc"
    assert variables(two) == {"B": "2", "A": "1"}
    assert not {"Memory", "User", "Queue"} & (one.properties.names() | two.properties.names())
    assert scoped.properties == job.properties
    assert scope(scoped) == scoped


def test_1_2_hard_and_soft_together_override_a_limit_without_type():
    own = (
        P("ResourceLimit", 2, name="a", type="Hard"),
        P("ResourceLimit", 3, name="a", type="Soft"),
    )
    job = only(JobDefaults.of(P("ResourceLimit", 1, name="a")), Job((P("Id", "j"), *own)))
    assert job.properties.all("ResourceLimit") == own


def test_1_2_origins_tell_both_limits_that_one_without_type_overrode():
    defaults = JobDefaults.of(
        P("ResourceLimit", 1, name="a", type="Hard"), P("ResourceLimit", 2, name="a", type="Soft")
    )
    (own,) = resolve(group(defaults, Job((P("ResourceLimit", 3, name="a"),)))).origins[1:]
    assert [each.value for each in own.overrode] == ["1", "2"]


def test_1_10_the_single_task_group_has_the_amounts_too():
    defaults = JobDefaults.of(Requested.of(Processors=12, Queue="q"), TaskCount=3)
    (job,) = scope(group(defaults, Job.of(TaskGroup.of(Name="t"), Id="j"))).jobs
    assert (asks(job.task_groups[0]), job.task_groups[0].get("TaskCount")) == (
        "Processors EQ 12",
        "3",
    )


def test_1_10_an_implicit_task_group_stays_implicit():
    job = Job.of(Id="j", Executable="a.out")
    assert scope(job) == job


def test_1_10_what_cannot_be_read_is_lent_as_it_is():
    bad = Requested.of(P("Memory", 1, group="1"))
    job = Job.of(bad, TaskGroup.of(Name="t"), Shell="sh")
    assert scope(job).task_groups == (TaskGroup.of(bad, Name="t", Shell="sh"),)


def test_1_10_words_that_nobody_knows_are_lent():
    odd = P("Memory", 1, op="APPROX")
    job = Job.of(Requested.of(odd, P("Queue", "q")), TaskGroup.of(Name="t"))
    assert scope(job).task_groups == (TaskGroup.of(Requested.of(odd), Name="t"),)


def test_1_11_origins_tell_place_source_and_what_was_overridden():
    shown = [str(origin) for origin in resolve(EXAMPLE).origins if "Job[2]" in origin.path]
    assert shown == [
        "/JobGroup/Job[2]/Id = 'b' (own)",
        "/JobGroup/Job[2]/User = 'amy' (own, over 'keith' of JobDefaults)",
        "/JobGroup/Job[2]/Environment/Variable[1] = '/opt/bin' (own, over '/usr/bin' of JobDefaults)",
        "/JobGroup/Job[2]/Environment/Variable[2] = '4' (own)",
        "/JobGroup/Job[2]/Environment/Variable[3] = '/usr/lib' (JobDefaults)",
        "/JobGroup/Job[2]/ResourceLimit[1] = '30' (own, over '20' of JobDefaults)",
        "/JobGroup/Job[2]/Requested/Processors = '4' (own, over 'GE 8' of JobDefaults, over 'LE 16' of JobDefaults)",
        "/JobGroup/Job[2]/Requested/Memory = '512' (JobDefaults)",
        "/JobGroup/Job[2]/Requested/Duration = '3600' (JobDefaults)",
        "/JobGroup/Job[2]/TaskGroup[1]/Name = 'm' (own)",
        "/JobGroup/Job[2]/TaskGroup[1]/Task[1]/Id = '1' (own)",
        "/JobGroup/Job[2]/TaskGroup[1]/Task[1]/Node = 'n0' (JobDefaults/TaskGroupDefaults/TaskDefaults)",
        "/JobGroup/Job[2]/TaskGroup[1]/Task[2]/Id = '2' (own)",
        "/JobGroup/Job[2]/TaskGroup[1]/Task[2]/Node = 'n9' (own, over 'n0' of JobDefaults/TaskGroupDefaults/TaskDefaults)",
        "/JobGroup/Job[2]/TaskGroup[1]/Feature = 'ib' (JobDefaults/TaskGroupDefaults)",
        "/JobGroup/Job[2]/TaskGroup[2]/Name = 's' (own)",
        "/JobGroup/Job[2]/TaskGroup[2]/Feature = 'gpu' (own, over 'ib' of JobDefaults/TaskGroupDefaults)",
        "/JobGroup/Job[2]/Project = 'P' (JobDefaults)",
        "/JobGroup/Job[2]/Dependency = 'stage' (JobDefaults)",
        "/JobGroup/Job[2]/ResourceLimit[2] = '10' (JobDefaults)",
    ]


def test_1_11_lines_are_those_of_the_place_where_it_was_written():
    defaults = JobDefaults((Property("User", "d", line=3), Property("Queue", "q", line=4)))
    job = Job((Property("User", "o", line=9),))
    user, queue = resolve(group(defaults, job)).origins[1:]
    assert (user.line, user.overrode[0].line, queue.line) == (9, 3, 4)


def test_1_11_a_job_without_defaults_is_all_its_own():
    origins = resolve(Job.of(Requested.of(A=1, B=2), Id="j")).origins
    assert [(each.path, each.source) for each in origins] == [
        ("/Job/Id", "own"), ("/Job/Requested/A", "own"), ("/Job/Requested/B", "own"),
    ]  # fmt: skip


def test_defaults_at_the_root_are_left_alone():
    defaults = JobDefaults.of(TaskGroupDefaults.of(Feature="ib"), User="u")
    assert resolve(defaults).block == defaults


def test_comments_in_defaults_are_not_inherited_and_own_ones_stay():
    defaults = JobDefaults((Note("comment", "d"), P("User", "u")))
    job = only(defaults, Job((Note("comment", "o"), P("Id", "j"))))
    assert job.items == (Note("comment", "o"), P("Id", "j"), P("User", "u"))


def test_the_defaults_of_a_group_are_read_once_for_all_its_jobs(monkeypatch):
    reads = []
    parse = expression.parse
    monkeypatch.setattr(expression, "parse", lambda items: reads.append(1) or parse(items))
    jobs = [Job.of(Requested.of(Processors=1), Id=number) for number in range(100)]
    resolve(group(EXAMPLE.items[1], *jobs))
    assert len(reads) == len(jobs) + 1


# Always

NAMES = ("Id", "User", "Queue", "Memory", "Hold", "Dependency", "Name")
simple = st.builds(P, st.sampled_from(NAMES), st.integers(1, 3))
policies = st.sampled_from([{}, {}, {"awarenessPolicy": "Warn"}, {"awarenessPolicy": "Bad"}])
environments = st.dictionaries(st.sampled_from("AB"), st.just("1")).map(lambda d: environment(**d))


@st.composite
def requested(draw):
    items, depth = draw(st.lists(simple, max_size=4)), 0
    out = []
    for index, item in enumerate(items):
        step = -depth if index == len(items) - 1 else draw(st.integers(-min(depth, 1), 1))
        depth += step
        conj = draw(st.sampled_from([None, "Or", "Nand"]))
        op = draw(st.sampled_from([None, "GE", "Match"]))
        out.append(item.having(group=str(step) if step else None, conj=conj, op=op))
    return Requested(tuple(out), draw(policies))


def blocks(kind, *inner):
    own = st.one_of(
        simple, environments, requested(), st.lists(simple, max_size=3).map(tuple).map(Delivered),
        st.just(Note("comment", "c")), *inner,
    )  # fmt: skip
    return st.builds(kind, st.lists(own, max_size=5).map(tuple), policies)


tasks = blocks(Task)
task_groups = blocks(TaskGroup, tasks, blocks(TaskDefaults))
groups_defaults = blocks(TaskGroupDefaults, tasks, blocks(TaskDefaults))
jobs = blocks(Job, task_groups, groups_defaults)
job_groups = blocks(
    JobGroup,
    jobs,
    blocks(JobDefaults, task_groups, groups_defaults),
    st.just(Reference("Job", "r")),
)


@given(job_groups)
def test_resolving_twice_changes_nothing(block):
    once = resolve(block)
    again = resolve(once.block)
    assert again.block == once.block
    assert again.findings == ()


@given(blocks(Job, blocks(TaskGroup, tasks)))
def test_a_job_without_defaults_is_unchanged(job):
    assert resolve(job).block == job
    assert resolve(group(JobDefaults(), job)).block.jobs == (job,)


@given(job_groups)
def test_no_property_of_its_own_is_lost(block):
    for before, after in zip(block.jobs, resolve(block).block.jobs, strict=True):
        for item in before.properties:
            if item.name != "Environment":
                assert item in after.properties
        assert values(before.requested) <= values(after.requested)
        assert set(before.delivered) <= set(after.delivered)


def values(properties):
    return {(item.name, item.text) for item in properties}


@given(job_groups, st.sampled_from(["merge", "replace"]))
def test_origins_name_every_effective_property(block, env):
    resolved = resolve(block, env=env)
    effective = [
        " ".join(
            word.strip()
            for word in (
                inner.attributes.get("op", ""),
                inner.text,
                inner.attributes.get("units", ""),
            )
            if word.strip()
        )
        for each in walk(resolved.block)
        for item in each.items
        if isinstance(item, Property)
        for inner in (item.children or (item,))
    ]
    assert sorted(origin.value for origin in resolved.origins) == sorted(effective)
