"""Queries find jobs by conditions, and show properties, totals, findings or whole job objects."""
# ruff: noqa: E501 (a row of a table is a line)

import pytest
from draws import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from job_service import job_service

from sssjob.handlers import query_process
from sssjob.handlers.conditions import Conditions, matches
from sssjob.handlers.view import views
from sssjob.query import cost
from sssjob.rmap.message import Conj, Get, Op, Where
from sssjob.workers import Bounds

JOBS = (
    "<Job><Id>PBS.1234.0</Id><User>ann</User><Machine>m1</Machine><Charge>0</Charge><Processors>4</Processors><Duration>3600</Duration></Job>",
    "<Job><Id>PBS.1235.0</Id><User>ann</User><Machine>m1</Machine><Charge>36960</Charge><Requested><Processors>8</Processors></Requested><Delivered><Processors>16</Processors><Duration>1155</Duration></Delivered></Job>",
    "<Job><Id>PBS.1236.0</Id><User>bob</User><Machine>m1</Machine><Charge>700</Charge><Processors>8</Processors><Duration>100</Duration></Job>",
    "<Job><JobId>PBS.1237.0</JobId><UserId>bob</UserId><MachineName>m1</MachineName><Charge>57600</Charge><Processors>8</Processors><WallDuration>7200</WallDuration></Job>",
    "<JobGroup><Id>g</Id><JobDefaults><User>ann</User><Machine>m2</Machine></JobDefaults><Job><Id>a</Id><Requested><Memory units='GB'>2</Memory><Processors op='GE'>4</Processors></Requested></Job><Job><Id>b</Id><User>bob</User></Job></JobGroup>",
)


@pytest.fixture
def jobs(address):
    with job_service(address) as made:
        made.create(*JOBS[:-1])
        made.answer("Create", object="JobGroup", data=JOBS[-1:])
        yield made


SHORT = {"PBS.1234.0": "4", "PBS.1235.0": "5", "PBS.1236.0": "6", "PBS.1237.0": "7"}


def found(jobs, *wheres, **options):
    return "".join(SHORT.get(id_, id_) for id_ in jobs.ids(*wheres, **options))


@pytest.mark.parametrize(
    ("wheres", "expected"),
    [
        ([], "4567ab"),
        ([("User", "EQ", "ann")], "45a"),
        ([("UserId", "NE", "ann")], "67b"),
        ([("Charge", "GT", "700")], "57"),
        ([("Charge", "GE", "700.0")], "567"),
        ([("WallDuration", "LT", "1155")], "6"),
        ([("JobId", "Match", "PBS.123?.*"), ("Duration", "LE", "3600")], "456"),
        ([("Memory", "EQ", "2048")], "a"),
        ([("Memory", "GT", "1 GB")], "a"),
        ([("Processors", "GE", "4")], "4567"),  # a bound is no value
        ([("Charge", "NE", "700", "AndNot")], "6"),  # and what has no charge is neither
        ([("Stage", "EQ", "Charge")], "567"),
        ([("Stage", "EQ", "", "And"), ("User", "EQ", "bob")], "b"),
        ([("User", "EQ", "ann", "And", 1), ("User", "EQ", "bob", "Or", -1), ("Charge", "GT", "1000")], "57"),
        ([("User", "EQ", "ann"), ("User", "EQ", "bob", "Or"), ("Charge", "GT", "1000")], "457a"),
        ([("Machine", "EQ", "m1"), ("User", "EQ", "ann", "And", 2), ("Processors", "GE", "16", "And", -1), ("User", "EQ", "bob", "Or", 1), ("Charge", "LT", "1000", "AndNot", -2)], "57"),
        ([("User", "EQ", "ann", "OrNot", 2), ("Machine", "EQ", "m1", "And", -2)], "67"),
        ([("User", "EQ", "x' OR '1'='1")], ""),
        ([("Name", "EQ", "; DROP TABLE job; --")], ""),
        ([("Deleted", "EQ", "False")], "4567ab"),
    ],
)  # fmt: skip
def test_conditions_mean_what_the_protocol_says(jobs, wheres, expected):
    assert found(jobs, *wheres) == expected


@pytest.mark.parametrize(
    ("where", "code"),
    [
        (("Colour", "EQ", "red"), "318"),
        (("User) OR (1=1", "EQ", "x"), "318"),
        (("Charge", "EQ", "much"), "317"),
        (("StartTime", "GT", "yesterday"), "317"),
        (("Memory", "GT", "2 XB"), "317"),
        (("Deleted", "EQ", "true"), "317"),
        (Where("User", "Name", object="Account"), "318"),
        (Where("User", "Name", subject="Account"), "318"),
    ],
)
def test_a_condition_that_is_none_is_refused(jobs, where, code):
    assert jobs.code("Query", gets=["Id"], wheres=[where]) == code


WHERES = st.lists(
    st.builds(
        Where, st.sampled_from(["Id", "User", "Charge", "Processors", "Memory", "Stage", "Queue", "Name"]),
        st.sampled_from(["ann", "bob", "0", "8", "16", "700", "2048", "PBS*", "", "?"]),
        st.sampled_from(list(Op)), st.sampled_from(list(Conj)), st.integers(-1, 1),
    ),
    max_size=4,
)  # fmt: skip


@examples(60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(WHERES)
def test_columns_never_hide_a_job_that_the_conditions_hold_for(jobs, wheres):
    depth = 0
    for where in wheres:
        depth += where.group
        if depth < 0:
            return
    if depth or any(
        where.op is not Op.MATCH
        and where.name in ("Charge", "Processors", "Memory")
        and not where.value.isdigit()
        for where in wheres
    ):
        return
    conditions = Conditions(wheres)
    with jobs.service.stores.use() as kept:
        expected = [
            view.block.id
            for stored in kept.documents()
            for view in views(stored, "Job")
            if conditions.hold(view)
        ]
        assert jobs.ids(*wheres) == expected


@given(st.text("ab*?", max_size=6), st.text("ab", max_size=6))
def test_patterns_match_as_those_of_a_shell_do(pattern, text):
    from fnmatch import fnmatchcase

    assert matches(pattern, text) is fnmatchcase(text, pattern)


def test_rows_have_what_was_asked_under_the_name_that_was_asked(jobs):
    [row] = jobs.ask("Query", gets=["WallDuration", "JobId", "Queue", "Processors", Get("User", alias="who")],
                     wheres=[("Id", "EQ", "PBS.1235.0")])  # fmt: skip
    assert row == {
        "WallDuration": "1155",
        "JobId": "PBS.1235.0",
        "Queue": "",
        "Processors": "16",
        "who": "ann",
    }
    [row] = jobs.ask("Query", gets=["Memory"], wheres=[("Id", "EQ", "a")])
    assert row == {"Memory": "2048"}


def test_without_get_a_job_comes_whole_with_what_was_requested_and_delivered(jobs):
    assert jobs.ask("Query", wheres=[("Id", "EQ", "PBS.1235.0")]) == [JOBS[1]]
    [inner] = jobs.ask("Query", wheres=[("Id", "EQ", "a")])
    assert "<User>ann</User>" in inner
    assert 'units="GB"' in inner
    assert jobs.ask("Query", object="JobGroup") == [JOBS[-1].replace("'", '"')]


def test_rows_are_sorted_as_numbers_or_texts_up_and_down(jobs):
    def charges(op, **options):
        return [row["Charge"] for row in jobs.ask("Query", gets=[("Charge", op)], options=options)]

    assert charges("Sort") == ["", "", "0", "700", "36960", "57600"]
    assert charges("Tros", Limit=2, Offset=1) == ["36960", "700"]
    two = jobs.ask(
        "Query", gets=[("User", "Sort"), ("Charge", "Tros")], wheres=[("Charge", "GE", "0")]
    )
    assert [(row["User"], row["Charge"]) for row in two] == [
        ("ann", "36960"),
        ("ann", "0"),
        ("bob", "57600"),
        ("bob", "700"),
    ]


def test_totals_are_by_group_or_over_all(jobs):
    rows = jobs.ask("Query", gets=[("User", "GroupBy"), ("Charge", "Sum"), ("Id", "Count"), ("WallDuration", "Max"), ("Processors", "Average")],
                    wheres=[("Machine", "EQ", "m1")])  # fmt: skip
    assert rows == [
        {"User": "ann", "Charge": "36960", "Id": "2", "WallDuration": "3600", "Processors": "10"},
        {"User": "bob", "Charge": "58300", "Id": "2", "WallDuration": "7200", "Processors": "8"},
    ]
    assert jobs.ask("Query", gets=[Get("Charge", "Sum", alias="Total"), ("Charge", "Min")]) == [
        {"Total": "95260", "Charge": "0"}
    ]
    nothing = jobs.ask(
        "Query", gets=[("Charge", "Sum"), ("Id", "Count")], wheres=[("User", "EQ", "eve")]
    )
    assert nothing == [{"Charge": "", "Id": "0"}]


@pytest.mark.parametrize(
    "gets",
    [["User", ("Charge", "Sum")], [("User", "Sum")], [("User", "Median")], ["Colour"], [Get("User", alias="a b")],
     [Get("User", object="Account")], [Get("", path="//Job[")], [Get("", path="//Job", op="Sort")],
     [Get("", path="Id"), ("Charge", "Sum")]],
)  # fmt: skip
def test_a_get_that_makes_no_sense_is_refused(jobs, gets):
    assert jobs.code("Query", gets=gets) == "318"


def test_options_cut_and_thin_out_rows(jobs):
    assert jobs.ask("Query", gets=["User"], options={"Unique": "True"}) == [
        {"User": "ann"},
        {"User": "bob"},
    ]
    assert found(jobs, options={"Limit": 2}) == "45"
    assert found(jobs, options={"Limit": 2, "Offset": 3}) == "7a"
    assert found(jobs, options={"Limit": 0}) == "4567ab"
    assert jobs.code("Query", options={"Limit": "1; DELETE"}) == "317"
    assert jobs.code("Query", options={"Filter": "of other clients"}) == "000"


@pytest.mark.parametrize("name", ["limit", "Limti", "offset", "UNIQUE", "Tim", "ShowHiden"])
@pytest.mark.parametrize("kind", ["Job", "Transaction"])
def test_an_option_that_is_near_to_one_of_a_query_is_refused(jobs, kind, name):
    assert jobs.code("Query", object=kind, options={name: "1"}) == "318"
    [usage] = [jobs.answer("Query", options={"ShowUsage": "True"})[0]]
    assert usage.code == "010"


def test_hidden_facts_are_shown_on_demand(jobs):
    [row] = jobs.ask("Query", wheres=[("Id", "EQ", "PBS.1237.0")], options={"ShowHidden": "True"})
    assert {"Id", "User", "Stage", "Deleted", "Version", "ModificationTime"} < set(row)
    assert jobs.ask("Query", gets=["Deleted", "Version"], wheres=[("Id", "EQ", "b")]) == [
        {"Deleted": "False", "Version": "1"}
    ]


def test_the_state_at_a_time_is_that_of_then(jobs):
    before = jobs.stored("PBS.1236.0").at
    with jobs.service.stores.use() as kept:
        kept.engine.fetch("UPDATE change SET at = at - 100")
    jobs.answer("Modify", sets=[("Charge", "1")], wheres=[("Id", "EQ", "PBS.1236.0")])
    jobs.answer("Delete", wheres=[("Id", "EQ", "PBS.1234.0")])
    then = jobs.ask(
        "Query",
        gets=["Id", "Charge"],
        options={"Time": before - 50},
        wheres=[("Id", "Match", "PBS.123[46].0".replace("[46]", "?"))],
    )
    assert {row["Id"]: row["Charge"] for row in then}["PBS.1236.0"] == "700"
    assert "PBS.1234.0" in {row["Id"] for row in then}
    assert jobs.ask("Query", options={"Time": before - 200}) == []


def test_an_expression_gives_what_it_finds_in_each_job(jobs):
    assert jobs.ask("Query", gets=[Get("", path="Delivered/Processors")]) == [{"Processors": "16"}]
    assert jobs.ask(
        "Query",
        gets=["Id", Get("", path="Requested/Processors/@op", alias="Bound")],
        wheres=[("Id", "EQ", "a")],
    ) == [{"Id": "a", "Bound": "GE"}]
    assert jobs.ask(
        "Query", gets=[Get("", path="count(//Job)", alias="n")], wheres=[("Id", "EQ", "a")]
    ) == [{"n": "1"}]
    [one] = jobs.ask("Query", gets=[Get("", path="/Job/Requested")], wheres=[("Id", "EQ", "a")])
    assert one.startswith("<Job><Requested>")


def test_an_expression_never_leaves_its_job(jobs):
    for path in (
        "..",
        "/*/..",
        "//JobGroup",
        "ancestor::*",
        "preceding::Id",
        "//Job[Id='b']",
        "document('/etc/passwd')",
    ):
        assert jobs.code("Query", gets=[Get("", path=path)], wheres=[("Id", "EQ", "a")]) in (
            "000",
            "318",
        )
        try:
            rows = jobs.ask("Query", gets=[Get("", path=path)], wheres=[("Id", "EQ", "a")])
        except ValueError:
            continue
        assert rows == []


COSTLY = {
    "what multiplies": "//*[//*[//*[//*[//*[count(//*) = 0]]]]]",
    "sideways": "//*[following::*[preceding::*[following::*[preceding::*]]]]",
}


@pytest.mark.parametrize("path", COSTLY.values(), ids=COSTLY)
def test_an_expression_that_may_cost_much_is_stopped_and_others_are_answered(
    jobs, path, monkeypatch
):
    many = "".join(f"<Variable name='{n}'>1</Variable>" for n in range(300))
    jobs.create(f"<Job><Id>many</Id><Environment>{many}</Environment></Job>")
    monkeypatch.setattr(cost, "STEPS", 10**30)  # so that nothing is refused before
    monkeypatch.setattr(query_process, "BOUNDS", Bounds(memory=1 << 28, seconds=1, deadline=600))
    wheres = [("Id", "EQ", "many")]
    assert jobs.code("Query", gets=[Get("", path=path)], wheres=wheres) == "318"
    assert jobs.ask("Query", gets=[Get("", path="Id")], wheres=wheres) == [{"Id": "many"}]


def test_what_is_asked_apart_finds_the_same(jobs, monkeypatch):
    paths = ["Delivered", "count(//Job)", "//*[name()='User']", "Requested/Processors/@op", "//Id"]
    gets = [Get("", path=path) for path in paths]
    here = jobs.ask("Query", gets=gets)
    monkeypatch.setattr(query_process, "multiplies", lambda _: True)
    assert jobs.ask("Query", gets=gets) == here


def test_a_request_has_so_much_time_for_all_its_expressions(jobs, monkeypatch):
    monkeypatch.setattr(query_process, "multiplies", lambda _: True)
    monkeypatch.setattr(query_process, "TOTAL", -1)
    assert jobs.code("Query", gets=[Get("", path="Id")]) == "318"


def test_no_such_object_and_no_such_action(jobs):
    assert jobs.code("Query", object="Account") == "740"
    assert jobs.code("Deposit") == "315"


GOLDS = [
    "Id", "JobId", "User", "Project", "Machine", "Charge", "Queue", "Type", "Stage",
    "QualityOfService", "Nodes", "Processors", "Executable", "Application", "StartTime", "EndTime",
    "WallDuration", "QuoteId", "Description",
]  # fmt: skip


def test_a_program_of_gold_gets_the_same_row_of_properties_for_every_job(address):
    with job_service(address) as jobs:
        jobs.create(
            "<Job><Id>a</Id><User>ann</User><Requested><Processors>8</Processors></Requested>"
            "<Delivered><Processors>50</Processors></Delivered></Job>",
            "<Job><Id>b</Id><Extension name='Description'>x</Extension></Job>",
        )
        said = jobs.ask("Query", flat=True)
        assert [list(row) for row in said] == [GOLDS, GOLDS]
        assert [(row["Id"], row["JobId"], row["Processors"], row["Description"]) for row in said] == [
            ("a", "a", "50", ""), ("b", "b", "", "x"),
        ]  # fmt: skip
        hidden = jobs.ask("Query", flat=True, options={"ShowHidden": "True"})
        assert [list(row) for row in hidden] == [[*GOLDS, "ModificationTime", "Deleted"]] * 2
        where = [("Id", "EQ", "a")]
        for action, options in (
            ("Modify", {"sets": [("Queue", "long")], "wheres": where}),
            ("Delete", {"wheres": where}),
            ("Undelete", {"wheres": where}),
            ("Create", {"sets": [("JobId", "c")]}),
        ):
            [row] = jobs.ask(action, flat=True, **options)
            assert list(row) == GOLDS, action
        assert jobs.ask("Query", flat=True, gets=["Id"], wheres=where) == [{"Id": "a"}]
        [document] = jobs.ask("Query", wheres=where)
        assert document.startswith("<Job><Id>a</Id>")
        jobs.create("<Job><Id>d</Id></Job>")
        jobs.answer("Create", object="JobGroup", data=["<JobGroup><Id>g</Id></JobGroup>"])
        [group] = jobs.ask("Query", object="JobGroup", flat=True)
        assert list(group) == ["Id", "Name", "State", "CreationTime", "Description"]


def test_times_and_durations_are_seconds_in_whatever_form_they_are_written(tmp_path):
    """One value has one reader: what is charged for an hour is an hour in totals and conditions."""
    written = [
        ("<Duration>0:01:30</Duration>", "90"), ("<Duration>1-00:00:10</Duration>", "86410"),
        ("<Duration>90</Duration>", "90"), ("<Duration>90.5</Duration>", "90.5"),
        ("<Duration>soon</Duration>", "soon"), ("<Duration>0090</Duration>", "90"),
            ("<Duration>+600</Duration>", "600"), ("<Duration> 60 </Duration>", "60"), ("<Duration>-0</Duration>", "0"),
    ]  # fmt: skip
    start = "<StartTime>2026-11-25T10:00:00Z</StartTime>"
    with job_service(str(tmp_path / "jobs.db")) as jobs:
        jobs.create(*(
            f"<Job><Id>{n}</Id><User>zoe</User>{start}<Delivered>{text}</Delivered></Job>"
            for n, (text, _) in enumerate(written)
        ))  # fmt: skip
        shown = jobs.ask("Query", gets=["Id", "StartTime", "WallDuration"])
        assert shown == [
            {"Id": str(n), "StartTime": "1795600800", "WallDuration": text}
            for n, (_, text) in enumerate(written)
        ]
        [flat] = jobs.ask("Query", wheres=[("Id", "EQ", "0")], flat=True)
        assert (flat["StartTime"], flat["WallDuration"]) == ("1795600800", "90")
        for wheres in ((), [("User", "EQ", "zoe")], [("StartTime", "GE", "1795600800")]):
            [total] = jobs.ask("Query", gets=[("WallDuration", "Sum")], wheres=wheres)
            assert total == {"WallDuration": "87430.5"}
        assert jobs.ids(("WallDuration", "EQ", "90")) == ["0", "2", "5"]
        for text in ("600", "+600", "0600", "0:10:00"):
            assert jobs.ids(("WallDuration", "EQ", text)) == ["6"]
        assert jobs.ids(("StartTime", "EQ", "2026-11-25T11:00:00+01:00"), ("Id", "EQ", "0")) == [
            "0"
        ]
        assert jobs.code("Query", wheres=[("StartTime", "GE", "soon")]) == "317"
        assert jobs.ids(("WallDuration", "LT", "80")) == ["7", "8"]
        assert jobs.ids(("Duration", "GT", "90")) == ["1", "3", "6"]
        assert jobs.ids(("StartTime", "LT", "1795600800")) == []
        [longest] = jobs.ask("Query", gets=[("Duration", "Max")], wheres=[("Duration", "GE", "0")])
        assert longest == {"Duration": "86410"}
        sort = [("Duration", "Sort"), "Id"]
        held = [("Duration", "LE", "90"), ("Id", "NE", "5")]
        assert [row["Id"] for row in jobs.ask("Query", gets=sort, wheres=held)] == [
            "8",
            "7",
            "0",
            "2",
        ]
        jobs.answer("Modify", sets=[("Duration", "10", "Inc")], wheres=[("Id", "EQ", "0")])
        assert jobs.ids(("Duration", "EQ", "100")) == ["0"]
