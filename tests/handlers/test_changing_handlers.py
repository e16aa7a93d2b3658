"""Changes are all made or none, by who may make them, once for each id of a request."""
# ruff: noqa: E501 (a row of a table is a line)

import re
import threading

import pytest
from job_service import ROLES, job_service

from sssjob.handlers.roles import Permission, Roles

ANN = "<Job><Id>1</Id><User>ann</User><State>Idle</State><Requested><Processors>4</Processors></Requested></Job>"
BOB = "<Job><Id>2</Id><User>bob</User><Delivered><Memory units='GB'>1</Memory></Delivered></Job>"
GROUP = "<JobGroup><Id>g</Id><JobDefaults><User>ann</User></JobDefaults><Job><Id>a</Id></Job><Job><Id>b</Id><Priority>1</Priority></Job></JobGroup>"
# What a user may do with a rule for everything that is theirs.
OWNER = Roles(rules=dict(ROLES.rules) | {"user": (Permission.of("* * own"),)}, actors=ROLES.actors)


@pytest.fixture
def jobs(address):
    with job_service(address, roles=OWNER) as made:
        made.create(ANN, BOB)
        made.answer("Create", object="JobGroup", data=[GROUP])
        yield made


def test_a_job_is_made_from_sets_or_carried_whole(jobs):
    answer, [row] = jobs.answer(
        "Create",
        sets=[("JobId", "3"), ("UserId", "eve"), ("Nodes", "2"), ("Description", "a & b <c>")],
    )
    assert (answer.code, answer.message) == ("000", "Successfully created 1 Job")
    assert (
        row.xml
        == b'<Job><Id>3</Id><User>eve</User><NodeCount>2</NodeCount><Extension name="Description">a &amp; b &lt;c&gt;</Extension></Job>'
    )
    assert jobs.ask("Query", gets=["Description", "Nodes"], wheres=[("JobId", "EQ", "3")]) == [
        {"Description": "a & b <c>", "Nodes": "2"}
    ]
    assert jobs.stored("1").document.decode() == ANN


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"sets": [("Id", "1"), ("User", "ann")]}, "740"),
        ({"data": [ANN.replace("Idle", "Running")]}, "740"),
        ({"sets": [("User", "ann")]}, "314"),
        ({"sets": [("Id", "9"), ("Colour", "red")]}, "316"),
        ({"sets": [("Id", "9"), ("Stage", "Charge")]}, "740"),
        ({"sets": [("Id", "9"), ("Processors", "many")]}, "317"),
        ({"sets": [("Id", "9"), ("StartTime", "soon")]}, "317"),
        ({"sets": [("Id", "9"), ("Charge", "-1")]}, "317"),
        ({"data": ["<Job><Id>9</Id><Charge>-0.5</Charge></Job>"]}, "317"),
        ({"data": ["<Job><Id>9</Id><Id>8</Id></Job>"]}, "740"),
        ({"data": ["<Job><Id>9</Id><Processors>1</Processors><Processors>2</Processors></Job>"]}, "740"),
        ({"data": ["<Job><Id>9</Id><Delivered><Duration>1</Duration></Delivered><Delivered><Duration>2</Duration></Delivered></Job>"]}, "740"),
        ({"object": "JobGroup", "data": ["<JobGroup><Id>9</Id><Job><Id>1</Id><Id>2</Id></Job></JobGroup>"]}, "740"),
        ({"object": "JobGroup", "data": ["<JobGroup><Id>9</Id><Job><Charge>-1</Charge></Job></JobGroup>"]}, "317"),
        ({"sets": [("Id", "9")], "data": [ANN]}, "318"),
        ({}, "314"),
        ({"data": ["<JobGroup><Id>9</Id></JobGroup>"]}, "740"),
        ({"data": ["<Account><Id>9</Id></Account>"]}, "740"),
        ({"data": ["<Job><Id>9</Id></Job>", "<Job><Colour>red</Colour></Job>"]}, "710"),
    ],
)  # fmt: skip
def test_what_is_no_new_job_is_refused_and_nothing_is_made(jobs, options, code):
    assert jobs.code("Create", **options) == code
    assert jobs.ids() == ["1", "2", "a", "b"]


def test_what_may_be_said_several_times_is_taken(jobs):
    segments = "<Delivered><Processors metric='Max'>2</Processors><Processors metric='Average'>1</Processors></Delivered>"
    asked = "<Requested><Processors>2</Processors><Processors conj='Or'>4</Processors></Requested>"
    twice = "<Duration>5</Duration><Duration> 5 </Duration>"
    data = f"<Job><Id>9</Id><Charge>-0</Charge>{twice}{asked}{segments}</Job>"
    assert jobs.code("Create", data=[data]) == "000"


def test_a_charge_goes_below_zero_by_no_change(jobs):
    where = [("Id", "EQ", "1")]
    jobs.answer("Modify", sets=[("Charge", "5")], wheres=where)
    assert jobs.code("Modify", sets=[("Charge", "6", "Dec")], wheres=where) == "317"
    assert jobs.code("Modify", sets=[("Charge", "-1")], wheres=where) == "317"
    assert jobs.code("Modify", sets=[("Charge", "5", "Dec")], wheres=where) == "000"
    assert jobs.ask("Query", gets=["Charge"], wheres=where) == [{"Charge": "0"}]


def test_the_awareness_policy_decides_what_becomes_of_what_is_not_understood(jobs):
    strict = "<Job><Id>9</Id><Colour>red</Colour><Memory units='MB' mood='x' awarenessPolicy='Warn'>1</Memory></Job>"
    said = jobs.said("Create", data=[strict])
    assert jobs.code("Create", data=[strict]) == "710"
    assert "Colour" in said
    assert "mood" in said
    warned = strict.replace("<Job>", "<Job awarenessPolicy='Warn'>")
    answer, _ = jobs.answer("Create", data=[warned])
    assert answer.code == "100"
    assert "Colour" in answer.message
    assert "mood" in answer.message
    ignored = (
        strict.replace("<Job>", "<Job awarenessPolicy='Ignore'>")
        .replace("Warn", "Ignore")
        .replace("9", "8")
    )
    assert jobs.code("Create", data=[ignored]) == "000"
    assert "<Colour>red</Colour>" in jobs.stored("8").document.decode()


def test_sets_change_a_property_where_its_value_counts(jobs):
    answer, _ = jobs.answer(
        "Modify",
        sets=[("Processors", "3", "Inc"), ("Charge", "10", "Inc"), ("State", "Running")],
        wheres=[("Id", "EQ", "1")],
    )
    assert answer.message == "Successfully modified 1 Jobs"
    assert jobs.stored("1").document.decode() == (
        "<Job><Id>1</Id><User>ann</User><State>Running</State><Requested><Processors>7</Processors></Requested><Charge>10</Charge></Job>"
    )
    jobs.answer("Modify", sets=[("Memory", "24", "Dec")], wheres=[("Id", "EQ", "2")])
    assert "<Memory>1000</Memory>" in jobs.stored("2").document.decode()
    jobs.answer("Modify", sets=[("State", "NULL")], wheres=[("Id", "EQ", "1")])
    assert "State" not in jobs.stored("1").document.decode()


def test_jobs_inside_a_group_are_changed_in_their_document(jobs):
    answer, rows = jobs.answer(
        "Modify",
        sets=[("Priority", "5")],
        wheres=[("User", "EQ", "ann"), ("Id", "Match", "?"), ("Id", "NE", "1")],
    )
    assert (answer.message, len(rows)) == ("Successfully modified 2 Jobs", 2)
    assert jobs.stored("g").document.decode().count("<Priority>5</Priority>") == 2
    assert jobs.stored("g").version == 2
    assert jobs.code("Delete", wheres=[("Id", "EQ", "a")]) == "740"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"sets": [("Charge", "1")]}, "314"),
        ({"wheres": [("Id", "EQ", "1")]}, "318"),
        ({"sets": [("Id", "7")], "wheres": [("Id", "EQ", "1")]}, "740"),
        ({"sets": [("User", "x", "Inc")], "wheres": [("Id", "EQ", "1")]}, "318"),
        ({"sets": [("Charge", "much", "Inc")], "wheres": [("Id", "EQ", "1")]}, "317"),
        ({"sets": [("Charge", "1", "Times")], "wheres": [("Id", "EQ", "1")]}, "318"),
        ({"sets": [("Nothing", "1")], "wheres": [("Id", "EQ", "1")]}, "316"),
        ({"sets": [("Charge", "1")], "wheres": [("Id", "EQ", "nosuch")]}, "000"),
    ],
)  # fmt: skip
def test_a_modify_that_makes_no_sense_is_refused(jobs, options, code):
    assert jobs.code("Modify", **options) == code
    assert jobs.stored("1").document.decode() == ANN


def test_a_change_of_several_jobs_is_made_whole_or_not_at_all(jobs):
    jobs.create("<Job><Id>3</Id><Charge>soon</Charge></Job>".replace("soon", "1"))
    before = [jobs.stored(id_).version for id_ in ("1", "2", "3", "g")]
    # The last job refuses what the first ones would take: it is not ann's.
    assert (
        jobs.code("Modify", actor="ann", sets=[("User", "bob")], wheres=[("User", "EQ", "ann")])
        == "444"
    )
    assert [jobs.stored(id_).version for id_ in ("1", "2", "3", "g")] == before


ONLY_ONE = [
    pytest.param({"options": {name: "1"}}, id=name)
    for name in ("Limit", "limit", "Offset", "Unique", "Time")
]


@pytest.mark.parametrize("more", ONLY_ONE)
@pytest.mark.parametrize(
    "action, asked", [("Delete", {}), ("Undelete", {}), ("Modify", {"sets": [("Queue", "long")]})]
)
def test_a_change_with_an_option_that_would_say_how_many_is_refused(jobs, action, asked, more):
    every = jobs.ids()
    assert jobs.code(action, wheres=[("Id", "NE", "none")], **asked, **more) == "318"
    assert jobs.ids() == every


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"data": ["<Job><Id>1</Id></Job>"]}, id="Data"),
        pytest.param({"sets": [("Queue", "long")]}, id="Set"),
        pytest.param({"gets": ["Id"]}, id="Get"),
    ],
)
@pytest.mark.parametrize("action", ["Delete", "Undelete"])
def test_a_delete_says_only_which_jobs(jobs, action, more):
    every = jobs.ids()
    assert jobs.code(action, wheres=[("Id", "NE", "none")], **more) == "318"
    assert jobs.ids() == every


def test_a_deleted_job_is_hidden_and_comes_back(jobs):
    answer, [row] = jobs.answer("Delete", wheres=[("Id", "EQ", "1")])
    assert (answer.message, row.xml.decode()) == ("Successfully deleted 1 Jobs", ANN)
    assert jobs.ids() == ["2", "a", "b"]
    assert (
        jobs.answer("Delete", wheres=[("Id", "EQ", "1")])[0].message
        == "Successfully deleted 0 Jobs"
    )
    assert jobs.ids(("Deleted", "EQ", "True")) == ["1"]
    assert (
        jobs.answer("Undelete", wheres=[("Id", "EQ", "1")])[0].message
        == "Successfully undeleted 1 Jobs"
    )
    assert jobs.ids() == ["1", "2", "a", "b"]
    jobs.answer("Delete", wheres=[("Id", "EQ", "1")])
    assert jobs.code("Create", data=[ANN]) == "000"
    jobs.answer("Delete", wheres=[("Id", "EQ", "1")])
    assert jobs.code("Create", sets=[("Id", "1"), ("User", "eve")]) == "000"
    assert jobs.ask("Query", gets=["User"], wheres=[("Id", "EQ", "1")]) == [{"User": "eve"}]


def test_groups_are_objects_of_their_own(jobs):
    assert jobs.ask("Query", object="JobGroup", gets=["Id"]) == [{"Id": "g"}]
    jobs.answer(
        "Modify", object="JobGroup", sets=[("State", "Running")], wheres=[("Id", "EQ", "g")]
    )
    assert jobs.ask("Query", object="JobGroup", gets=["State", "Description"]) == [
        {"State": "Running", "Description": ""}
    ]
    assert jobs.code("Query", object="JobGroup", gets=["User"]) == "318"
    jobs.answer("Delete", object="JobGroup", wheres=[("Id", "EQ", "g")])
    assert jobs.ids() == ["1", "2"]


def test_who_changed_what_and_from_where_is_kept(jobs):
    jobs.answer(
        "Modify",
        actor="bob",
        sets=[("State", "Idle")],
        wheres=[("Id", "EQ", "2")],
        id="r17",
        origin="192.0.2.9",
    )
    with jobs.service.stores.use() as kept:
        [event] = kept.changes(by="bob")
    assert (event.identity.id, event.source, event.reason) == (
        "2",
        "192.0.2.9",
        "Modify Job, request r17",
    )


def test_a_request_with_an_id_is_done_once(jobs):
    first = jobs.answer("Modify", sets=[("Charge", "5", "Inc")], wheres=[("Id", "EQ", "1")], id="x")
    again = jobs.answer(
        "Modify", sets=[("Charge", "5", "Inc")], wheres=[("Id", "EQ", "1")], id="x", now=2000.0
    )
    assert first[1] == again[1]
    assert first[0].message == again[0].message
    jobs.answer("Modify", sets=[("Charge", "6", "Inc")], wheres=[("Id", "EQ", "1")], id="x")
    jobs.answer(
        "Modify", sets=[("Charge", "5", "Inc")], wheres=[("Id", "EQ", "1")], id="x", actor="maui"
    )
    assert jobs.ask("Query", gets=["Charge"], wheres=[("Id", "EQ", "1")]) == [{"Charge": "16"}]


def test_changes_at_the_same_time_are_all_made(jobs):
    def add(number):
        for place in range(5):
            jobs.answer(
                "Modify",
                sets=[("Charge", "1", "Inc")],
                wheres=[("Id", "EQ", "1")],
                id=f"{number}.{place}",
            )
            jobs.answer("Create", sets=[("Id", f"new{number}.{place}"), ("User", "ann")])

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert jobs.ask("Query", gets=["Charge"], wheres=[("Id", "EQ", "1")]) == [{"Charge": "20"}]
    assert len(jobs.ids(("Id", "Match", "new*"))) == 20


# --- who may do what ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actor", "action", "code"),
    [
        ("root", "Delete", "000"),
        ("maui", "Delete", "444"),
        ("maui", "Refund", "444"),
        ("maui", "Query", "000"),
        ("ann", "Query", "000"),
        ("ann", "Modify", "444"),
        ("ann", "Charge", "444"),
        ("ann", "Delete", "444"),
    ],
)
def test_roles_say_who_may_do_what(address, actor, action, code):
    with job_service(address) as jobs:
        jobs.create(ANN, BOB)
        options = {"wheres": [("Id", "EQ", "1")]} if action in ("Query", "Delete", "Modify") else {}
        assert jobs.code(action, actor=actor, **options) == code


def test_somebody_unproven_may_do_nothing_whatever_the_name(jobs):
    assert jobs.code("Query", actor="root", proven=False) == "444"
    assert jobs.said("Query", actor="root", proven=False) == "root may not do this (Job Query)"


@pytest.mark.parametrize(
    "options",
    [
        {"gets": ["Id"]},
        {"gets": [("Id", "Count")]},
        {"gets": [("User", "GroupBy"), ("Id", "Count")]},
        {"gets": ["Id"], "wheres": [("User", "EQ", "bob")]},
        {"gets": ["Id"], "wheres": [("User", "EQ", "ann", "And"), ("User", "EQ", "bob", "Or")]},
        {"gets": ["Id"], "wheres": [("Deleted", "EQ", "True")]},
        {"gets": ["User"], "options": {"Unique": "True"}},
        {"options": {"ShowHidden": "True"}},
        {"options": {"Time": "4000000000"}},
        {},
    ],
)
def test_users_see_their_own_jobs_by_no_way_those_of_others(jobs, options):
    jobs.answer("Delete", wheres=[("Id", "EQ", "2")])
    jobs.create("<Job><Id>3</Id><User>bob</User></Job>", "<Job><Id>4</Id></Job>",
                "<Job><Id>5</Id><User>ann</User><Delivered><User>bob</User></Delivered></Job>",
                "<Job><Id>6</Id><User>bob</User><Requested><User>ann</User></Requested></Job>")  # fmt: skip
    said = str(jobs.ask("Query", actor="ann", **options))
    assert "bob" not in said
    if "Count" not in str(options):
        assert not any(f"'Id': '{id_}'" in said for id_ in "23456")
    [count] = jobs.ask("Query", actor="ann", gets=[("Id", "Count")])
    assert count == {"Id": "3"}


def test_an_expression_shows_users_nothing_of_others(jobs):
    from sssjob.rmap.message import Get

    for path in ("//User", "/*/*", "..//User", "//Job[User='bob']/Id", "sum(//Charge)"):
        rows = jobs.ask("Query", actor="ann", gets=[Get("", path=path)])
        assert "bob" not in str(rows)
        assert len(rows) <= 3


def test_a_group_is_shown_to_whom_all_its_jobs_belong(jobs):
    assert len(jobs.ask("Query", actor="ann", object="JobGroup")) == 1
    assert jobs.ask("Query", actor="bob", object="JobGroup") == []
    jobs.answer("Modify", sets=[("User", "bob")], wheres=[("Id", "EQ", "b")])
    assert jobs.ask("Query", actor="ann", object="JobGroup") == []
    assert jobs.ids(actor="ann") == ["1", "a"]


def test_users_make_and_change_their_own_jobs_only(jobs):
    assert jobs.code("Create", actor="ann", sets=[("Id", "7"), ("User", "ann")]) == "000"
    assert jobs.code("Create", actor="ann", sets=[("Id", "8"), ("User", "bob")]) == "444"
    assert jobs.code("Create", actor="ann", sets=[("Id", "8")]) == "444"
    assert (
        jobs.answer("Modify", actor="ann", sets=[("State", "x")], wheres=[("Id", "EQ", "2")])[
            0
        ].message
        == "Successfully modified 0 Jobs"
    )
    assert jobs.answer("Delete", actor="ann", wheres=[("Id", "EQ", "2")])[1] == []
    jobs.answer("Delete", wheres=[("Id", "EQ", "2")])
    assert jobs.code("Create", actor="ann", sets=[("Id", "2"), ("User", "ann")]) == "740"


@pytest.mark.parametrize("op, sign", [("Inc", 1), ("Dec", -1)])
def test_what_adds_is_done_once_if_its_bytes_come_again(jobs, op, sign):
    jobs.answer(
        "Create", data=["<Job><Id>counted</Id><User>ann</User><Priority>9</Priority></Job>"]
    )

    def priority():
        [row] = jobs.ask("Query", gets=["Priority"], wheres=[("Id", "EQ", "counted")])
        return int(row["Priority"])

    # After the first, the condition finds the job no more.
    wheres = [("Id", "EQ", "counted"), ("Priority", "EQ", "9")]
    some = {"sets": [("Priority", "2", op)], "wheres": wheres, "mark": "m"}
    first, rows = jobs.answer("Modify", **some)
    again, same = jobs.answer("Modify", **some, now=1120.0)
    assert first.message == "Successfully modified 1 Jobs"
    assert (again.message, same) == (first.message, rows)
    assert priority() == 9 + 2 * sign
    by_id = {"sets": [("Priority", "2", op)], "wheres": wheres[:1]}
    for mark, now in (("n", 1000.0), ("n", 1121.0), ("o", 1121.0)):
        jobs.answer("Modify", **by_id, mark=mark, now=now)
    assert priority() == 9 + 8 * sign
    jobs.answer("Modify", sets=[("Priority", "5")], wheres=wheres[:1], mark="p")
    jobs.answer("Modify", sets=[("Priority", "6")], wheres=wheres[:1], mark="q")
    jobs.answer("Modify", sets=[("Priority", "5")], wheres=wheres[:1], mark="p")
    assert priority() == 5


COPIED = {
    "Create": {"data": ["<Job><Id>3</Id><User>ann</User></Job>"]},
    "Delete": {"wheres": [("Id", "EQ", "1")]},
    "Modify": {"sets": [("State", "Running")], "wheres": [("State", "EQ", "Idle")]},
}
UNDONE = {
    "Create": ("Delete", {"wheres": [("Id", "EQ", "3")]}),
    "Delete": ("Undelete", COPIED["Delete"]),
    "Modify": ("Modify", {"sets": [("State", "Idle")], "wheres": [("Id", "EQ", "1")]}),
}


def test_a_copy_of_a_modify_is_answered_as_before_also_where_it_finds_its_jobs_again(jobs):
    """And says again what was to be said of them."""
    jobs.service.advice = lambda view: "it runs" if view.block.get("State") == "Running" else ""
    asked = {"sets": [("State", "Running"), ("Queue", "long")], "wheres": [("Id", "EQ", "1")]}
    first, rows = jobs.answer("Modify", **asked, mark="m")
    assert (first.code, first.message, len(rows)) == ("100", "1: it runs", 1)
    version = jobs.stored("1").version
    again, same = jobs.answer("Modify", **asked, mark="m")
    assert (again.code, again.message, again.again, same) == ("100", "1: it runs", True, rows)
    assert jobs.stored("1").version == version
    jobs.answer("Modify", sets=[("State", "Idle")], wheres=[("Id", "EQ", "1")])
    anew, _ = jobs.answer("Modify", **asked, mark="m")
    assert (anew.code, anew.again, jobs.stored("1").version) == ("100", False, version + 2)


@pytest.mark.parametrize("action", COPIED)
def test_a_copy_of_any_change_is_answered_as_before_unless_that_was_undone(jobs, action):
    """A peer that was not answered in time, and sends the same bytes, is told what was done."""
    asked, (undo, back) = COPIED[action], UNDONE[action]
    first, rows = jobs.answer(action, **asked, mark="m")
    assert first.code == "000"
    assert not first.again
    again, same = jobs.answer(action, **asked, mark="m", now=1120.0)
    assert (again.message, again.again, same) == (first.message, True, rows)
    jobs.answer(undo, **back)
    anew, _ = jobs.answer(action, **asked, mark="m", now=1120.0)
    assert (anew.message, anew.again) == (first.message, False)
    late = jobs.said(action, **asked, mark="m", now=1241.0)
    assert late != first.message


def test_a_copy_of_a_change_of_a_charge_changes_nothing_whatever_came_in_between(jobs):
    to = {"sets": [("Charge", "5")], "wheres": [("Id", "EQ", "1")]}
    jobs.answer("Modify", **to, mark="m")
    jobs.answer("Modify", sets=[("Charge", "100", "Inc")], wheres=to["wheres"])
    again, _ = jobs.answer("Modify", **to, mark="m", now=1120.0)
    assert again.again
    assert jobs.ask("Query", gets=["Charge"], wheres=to["wheres"]) == [{"Charge": "105"}]


def test_an_undelete_makes_no_second_job_of_an_id(jobs):
    group = "<JobGroup><Id>{}</Id><Job><Id>{}</Id></Job></JobGroup>"
    jobs.create("<Job><Id>x</Id></Job>")
    jobs.answer("Delete", wheres=[("Id", "EQ", "x")])
    jobs.answer("Create", object="JobGroup", data=[group.format("wx", "x")])
    assert (
        jobs.said("Undelete", wheres=[("Id", "EQ", "x")])
        == "Job x is there already, in JobGroup wx"
    )
    jobs.answer("Create", object="JobGroup", data=[group.format("wy", "y")])
    jobs.answer("Delete", object="JobGroup", wheres=[("Id", "EQ", "wy")])
    jobs.create("<Job><Id>y</Id></Job>")
    assert jobs.code("Undelete", object="JobGroup", wheres=[("Id", "EQ", "wy")]) == "740"
    assert jobs.ids(("Id", "EQ", "y")) == ["y"]


@pytest.mark.parametrize(
    ("there", "made", "code"),
    [
        ("<Id>x</Id>C10", "<Id>y</Id>C10", "740"),  # nobody of these was charged
        ("<Id>x</Id>C10", "<Id>y</Id>", "740"),
        ("<Id>x</Id>C10", "<Id>x</Id>C9", "740"),
        ("<Id>x</Id>C10", "<Id>x</Id>C11", "000"),
        ("<Id>x</Id>", "<Id>y</Id>C1", "000"),
        ("<User>ann</User>C10", "<User>bob</User>C10", "000"),  # of no Id, and one owner
        ("<User>ann</User>C10", "<User>ann</User>C9", "740"),
    ],
)
def test_a_group_that_is_made_anew_gives_nothing_back(jobs, there, made, code):
    def create(said):
        said = re.sub("C([0-9]+)", r"<Charge>\1</Charge>", said)
        group = f"<JobGroup><Id>wf</Id><Job>{said}</Job></JobGroup>"
        return jobs.code("Create", object="JobGroup", data=[group])

    assert create(there) == "000"
    jobs.answer("Delete", object="JobGroup", wheres=[("Id", "EQ", "wf")])
    before = jobs.ask("Query", object="Transaction", gets=["Id", "Action"])
    assert create(made) == code
    now = jobs.ask("Query", object="Transaction", gets=["Id", "Action"])
    assert now[: len(before)] == before
    assert not [row for row in now if row["Action"] == "Refund"]


def test_no_job_takes_the_id_of_one_elsewhere_that_was_charged_and_deleted(jobs):
    """It could not be shown again, and nobody could refund it."""
    group = "<JobGroup><Id>{}</Id><Job><Id>{}</Id><Charge>{}</Charge></Job></JobGroup>"
    jobs.create("<Job><Id>m</Id><Charge>50</Charge></Job>")
    jobs.answer("Delete", wheres=[("Id", "EQ", "m")])
    made = {"object": "JobGroup", "data": [group.format("wf", "m", 60)]}
    told = "Job m is there already, in Job m, which was charged and deleted"
    assert jobs.said("Create", **made) == told
    jobs.answer("Undelete", wheres=[("Id", "EQ", "m")])
    jobs.answer("Refund", options={"JobId": "m"})
    jobs.answer("Delete", wheres=[("Id", "EQ", "m")])
    assert jobs.code("Create", **made) == "000"
    jobs.answer("Delete", object="JobGroup", wheres=[("Id", "EQ", "wf")])
    assert jobs.code("Create", data=["<Job><Id>m</Id><Charge>70</Charge></Job>"]) == "740"


def test_a_job_is_in_one_place(jobs):
    group = "<JobGroup><Id>{}</Id><Job><Id>{}</Id></Job><Job><Id>{}</Id></Job></JobGroup>"

    def create(text):
        kind = "JobGroup" if "Group" in text else "Job"
        return jobs.code("Create", object=kind, data=[text])

    assert create(group.format("wf", "y", "y")) == "740"
    assert create("<Job><Id>x</Id></Job>") == "000"
    assert create(group.format("wf", "x", "y")) == "740"
    assert create(group.format("wf", "z", "y")) == "000"
    assert create("<Job><Id>y</Id></Job>") == "740"
    assert create("<Job><Id>wf</Id></Job>") == "000"  # a group may be called as a job is
    assert create(group.format("wf2", "z", "w")) == "000"  # as workflows of one form are
    jobs.answer("Delete", wheres=[("Id", "EQ", "x")])
    assert create(group.format("wf3", "x", "v")) == "000"
