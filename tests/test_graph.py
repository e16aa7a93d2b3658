"""Dependencies: conditions, designators, states, circles, and jobs that can never run."""

import itertools
from pathlib import Path

import counting
import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob import graph, loads
from sssjob.graph import FAILED, State
from sssjob.model import Job, JobDefaults, JobGroup, Property, Reference

EXAMPLE = loads(
    (Path(__file__).parents[1] / "examples/requested/dependencies.xml").read_bytes()
)  # semantics of Dependency, worked through: b and c are both named sim


def on(text, condition=None, code=None, by_name=False):
    stated = {
        "condition": condition, "code": code, "designator": "JobName" if by_name else None,
    }  # fmt: skip
    attributes = {name: str(value) for name, value in stated.items() if value is not None}
    return Property("Dependency", text, attributes)


def job(id_, *dependencies, **properties):
    return Job.of(*dependencies, Id=id_, **properties)


def group(*items):
    return JobGroup.of(*items, Id="g")


def states(*jobs, **exits):
    return {key: str(state) for key, state in graph.of(group(*jobs)).states(exits).items()}


def messages(found, code):
    return [each.message for each in found if each.code == code]


# The example


@pytest.mark.parametrize(
    ("exits", "expected"),
    [
        pytest.param({}, "ready waiting waiting waiting waiting waiting", id="nothing-done"),
        pytest.param({"a": 0}, "done ready ready never waiting never", id="a-succeeds"),
        pytest.param({"a": 2}, "done never never never never never", id="a-exits-with-2"),
        pytest.param({"a": 0, "b": 2}, "done done ready never ready never", id="b-fails"),
        pytest.param({"a": 0, "b": FAILED}, "done done ready never ready never", id="b-cancelled"),
        pytest.param({"a": None}, "done waiting waiting waiting waiting waiting", id="a-unsaid"),
    ],
)
def test_states_of_the_example(exits, expected):
    found = graph.of(EXAMPLE).states(exits)
    assert [str(state) for state in found.values()] == expected.split()
    assert "".join(found) == "abcdef"


def test_the_example_has_one_dependency_outside_and_one_job_that_can_never_run():
    example = graph.of(EXAMPLE)
    assert [(edge.job, edge.target) for edge in example.external] == [("f", "PBS.9")]
    assert example.impossible == ("d",)
    assert example.order == tuple("abcdef")
    found = list(example.check())
    assert [(each.code, each.path) for each in found] == [
        ("I-REFERENCE", "/JobGroup/Job[6]/Dependency[2]"),
        ("W-NEVER", "/JobGroup/Job[4]"),
    ]
    assert messages(found, "W-NEVER") == [
        "d can never run: b needs a to succeed, and d needs it to exit with 2"
    ]


def test_reasons_say_what_is_in_the_way():
    progress = graph.of(EXAMPLE).given({"a": 0})
    assert [(str(r.state), r.text) for r in progress.why("d")] == [
        ("waiting", "every job named sim to succeed, b is ready"),
        ("never", "a to exit with 2, which ended with 0"),
    ]
    assert [r.text for r in progress.why("f")] == [
        "d to succeed, which will never run",
        "PBS.9 to succeed, which is not here",
    ]
    assert progress.why("b") == ()


# Conditions

OUTCOMES = (0, 1, 2, FAILED, None)


@pytest.mark.parametrize(
    ("dependency", "expected"),
    [
        pytest.param(on("a"), "ready never never never waiting", id="default-is-OnSuccess"),
        pytest.param(on("a", "OnSuccess"), "ready never never never waiting", id="OnSuccess"),
        pytest.param(on("a", "OnFailure"), "never ready ready ready waiting", id="OnFailure"),
        pytest.param(on("a", "OnExit"), "ready ready ready ready ready", id="OnExit"),
        pytest.param(on("a", "OnExit", 2), "never never ready waiting waiting", id="OnExit-2"),
        pytest.param(on("a", "OnExit", "0"), "ready never never never waiting", id="OnExit-0"),
        pytest.param(on("a", "OnSuccess", 2), "ready never never never waiting", id="code-aside"),
        pytest.param(on("a", "OnExit", "two"), " ".join(["waiting"] * 5), id="code-not-read"),
        pytest.param(on("a", "OnMoon"), " ".join(["waiting"] * 5), id="condition-not-read"),
        pytest.param(on(" a\n"), "ready never never never waiting", id="white-space"),
        pytest.param(on(" "), "ready ready ready ready ready", id="no-job-named"),
    ],
)
def test_a_condition_looks_at_the_exit(dependency, expected):
    found = [states(job("a"), job("b", dependency), a=exit_)["b"] for exit_ in OUTCOMES]
    assert found == expected.split()


@pytest.mark.parametrize(
    ("exits", "expected"),
    [
        pytest.param({"a": 0}, "waiting", id="one-of-two"),
        pytest.param({"a": 0, "b": 0}, "ready", id="both"),
        pytest.param({"b": 1}, "never", id="one-failed"),
        pytest.param({"a": 0, "b": None}, "waiting", id="one-unsaid"),
    ],
)
def test_a_name_means_every_job_of_that_name(exits, expected):
    jobs = (job("a", Name="sim"), job("b", Name="sim"), job("c", on("sim", by_name=True)))
    assert states(*jobs, **exits)["c"] == expected


def test_a_name_of_many_exits_is_answered_from_few():
    jobs = [job(str(n), Name="x") for n in range(50)]
    ends = {str(n): n for n in range(1, 50)} | {"0": 7}
    wants = [on("x", c, by_name=True) for c in ("OnSuccess", "OnFailure", "OnExit")]
    wants.append(on("x", "OnExit", 7, by_name=True))
    asked = [job(f"w{number}", want) for number, want in enumerate(wants)]
    found = states(*jobs, *asked, **ends)
    assert [found[f"w{n}"] for n in range(4)] == ["never", "ready", "ready", "never"]


def test_an_id_is_no_name_and_a_name_is_no_id():
    example = graph.of(
        group(job("a", Name="b"), job("c", on("b")), job("d", on("a", by_name=True)))
    )
    assert [edge.target for edge in example.external] == ["b", "a"]


def test_never_reaches_everything_behind():
    jobs = (
        job("a"),
        job("b", on("a")),
        job("c", on("b", "OnExit")),
        job("d", on("c", "OnFailure")),
    )
    assert states(*jobs, a=1) == {"a": "done", "b": "never", "c": "never", "d": "never"}


def test_what_has_ended_counts_even_if_it_should_not_have_run():
    assert states(job("a"), job("b", on("a")), job("c", on("b")), a=1, b=0)["c"] == "ready"


def test_a_job_elsewhere_may_be_given_an_exit():
    assert states(job("a", on("PBS.9")), **{"PBS.9": 0}) == {"a": "ready"}
    assert states(job("a", on("PBS.9")), **{"PBS.9": 3}) == {"a": "never"}
    assert states(job("a", on("b", by_name=True)), job("b"), b=0)["a"] == "waiting", "b is an id"


# What documents say


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        pytest.param({"State": "Completed", "ExitCode": 0}, {"a": 0}, id="completed"),
        pytest.param({"State": "Completed", "ExitCode": 3}, {"a": 3}, id="completed-badly"),
        pytest.param({"State": "Completed"}, {"a": None}, id="completed-unsaid"),
        pytest.param({"State": "Cancelled"}, {"a": FAILED}, id="cancelled"),
        pytest.param({"State": "Cancelled", "ExitCode": 0}, {"a": FAILED}, id="cancelled-0"),
        pytest.param({"State": "Failed", "ExitCode": 9}, {"a": 9}, id="failed-9"),
        pytest.param({"State": "Idle", "ExitCode": 1}, {}, id="requeued"),
        pytest.param({"ExitCode": 0}, {"a": 0}, id="exit-code-alone"),
        pytest.param({"EndTime": 1}, {"a": None}, id="end-alone"),
        pytest.param({"State": "Running"}, {}, id="running"),
        pytest.param({}, {}, id="nothing"),
    ],
)
def test_a_document_says_which_jobs_have_ended(properties, expected):
    example = graph.of(group(job("a", **properties), job("b", on("a"))))
    assert example.exits == expected
    assert example.states() == example.states(expected)


def test_an_end_without_an_exit_code_is_worth_a_warning_where_it_matters():
    ended = job("a", State="Completed")
    assert list(graph.findings_for(group(ended, job("b", on("a", "OnExit"))))) == []
    (found,) = graph.findings_for(group(ended, job("b", on("a"))))
    assert (found.code, found.path) == ("W-EXIT", "/JobGroup/Job[2]/Dependency")


def test_defaults_are_applied_and_a_job_does_not_inherit_a_dependency_on_itself():
    defaults = JobDefaults.of(on("stage"), Name="step")
    example = graph.of(group(defaults, job("stage"), job("b"), job("c", on("step", by_name=True))))
    assert [edge.target for edge in example.edges("b")] == ["stage"]
    assert list(example.edges("stage")) == []
    assert example.cycles == (("c", "c"),), "c inherits the name that it waits for"


def test_a_finding_about_an_inherited_dependency_is_where_that_is_written():
    (found,) = graph.findings_for(group(JobDefaults.of(on("x")), job("a")))
    assert found.path == "/JobGroup/JobDefaults/Dependency"


def test_references_are_not_definitions():
    example = graph.of(group(Reference("Job", "job77"), job("a", on("job77"))))
    assert example.jobs == ("a",)
    assert [edge.target for edge in example.external] == ["job77"]
    (found,) = example.check()
    assert (found.code, found.path) == ("I-REFERENCE", "/JobGroup/Job[2]/Dependency")
    (found,) = example.check(closed=True)
    assert (found.code, str(found.severity)) == ("E-REF", "error")


def test_jobs_without_an_id_and_second_ones_of_an_id_have_keys_of_their_own():
    example = graph.of([Job.of(), job("a"), job("a", on("a"))])
    assert example.jobs == ("Job[1]", "a", "a (job 3)")
    assert [edge.jobs for edge in example.edges("a (job 3)")] == [("a",)]


# Circles


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        pytest.param([job("a", on("a"))], ["a → a"], id="itself"),
        pytest.param(
            [job("a", on("c")), job("b", on("a")), job("c", on("b"))], ["a → c → b → a"], id="three"
        ),
        pytest.param(
            [job("d", on("a")), job("a", on("b")), job("b", on("a"))], ["a → b → a"], id="behind"
        ),
        pytest.param(
            [job("a", on("b")), job("b", on("a"), on("c")), job("c", on("b"))],
            ["a → b → a", "b → c → b"],
            id="two-that-share-a-job",
        ),
        pytest.param(
            [job("c", on("d")), job("a", on("b")), job("d", on("c")), job("b", on("a"))],
            ["c → d → c", "a → b → a"],
            id="two-apart-in-document-order",
        ),
        pytest.param(
            [job("a", on("x", by_name=True), Name="y"), job("b", on("a"), Name="x"),
             job("c", Name="x")],
            ["a → b → a"], id="by-name",
        ),
        pytest.param([job("a", on("x", by_name=True), Name="x")], ["a → a"], id="own-name"),
        pytest.param(
            [job("a", on("b"), on("b", "OnExit")), job("b", on("a"))], ["a → b → a"], id="once"
        ),
        pytest.param([job("a"), job("b", on("a"), on("a", "OnExit"))], [], id="none"),
        pytest.param(
            [job("a", on("b"), on("c")), job("b", on("c")), job("c", on("a"))], ["a → b → c → a"],
            id="no-second-one-by-a-shorter-way",
        ),
    ],
)  # fmt: skip
def test_each_circle_is_told_once_with_its_path(jobs, expected):
    example = graph.of(group(*jobs))
    assert [" → ".join(circle) for circle in example.cycles] == expected
    told = messages(example.check(), "E-CYCLE")
    assert told == [f"jobs wait for each other: {path}" for path in expected]


def test_a_circle_is_told_at_its_first_job():
    jobs = (job("d"), job("a", on("c")), job("b", on("a")), job("c", on("b")))
    (found,) = graph.findings_for(group(*jobs))
    assert (found.code, found.path) == ("E-CYCLE", "/JobGroup/Job[2]")


@pytest.mark.parametrize(
    ("many", "told"),
    [
        (11, "0 → 10 → 9 → 8 → 7 → 6 → 5 → 4 → 3 → 2 → 1 → 0"),
        (12, "0 → 11 → 10 → 9 → 8 → 7 → 6 → 5 → 4 → 3 → ... 2 more ... → 0"),
        (20, "0 → 19 → 18 → 17 → 16 → 15 → 14 → 13 → 12 → 11 → ... 10 more ... → 0"),
    ],
)
def test_a_long_circle_is_told_in_part(many, told):
    jobs = (job(str(n), on(str((n or many) - 1))) for n in range(many))
    assert messages(graph.findings_for(group(*jobs)), "E-CYCLE") == [
        f"jobs wait for each other: {told}"
    ]


def test_jobs_in_a_circle_and_behind_it_never_run_until_one_has_ended():
    jobs = (job("a", on("b")), job("b", on("a")), job("c", on("b")), job("d"))
    assert states(*jobs) == {"a": "never", "b": "never", "c": "never", "d": "ready"}
    assert states(*jobs, a=0) == {"a": "done", "b": "ready", "c": "waiting", "d": "ready"}
    assert states(*jobs, b=1) == {"a": "never", "b": "done", "c": "never", "d": "ready"}
    assert graph.of(group(*jobs)).order == ("d",)


def test_a_knot_of_many_circles_is_told_in_part():
    knot = [job(str(n), *(on(str(m)) for m in range(30) if m != n)) for n in range(30)]
    told = messages(graph.findings_for(group(*knot)), "E-CYCLE")
    assert len(told) == 101
    assert "more circles than the 100" in told[-1]


# Never


@pytest.mark.parametrize(
    ("dependencies", "expected"),
    [
        pytest.param([on("a"), on("a", "OnFailure")], True, id="success-and-failure"),
        pytest.param([on("a"), on("a", "OnExit", 3)], True, id="success-and-3"),
        pytest.param([on("a", "OnExit", 1), on("a", "OnExit", 3)], True, id="1-and-3"),
        pytest.param([on("a", "OnFailure"), on("a", "OnExit", 0)], True, id="failure-and-0"),
        pytest.param([on("x"), on("x", "OnFailure")], True, id="of-a-job-elsewhere"),
        pytest.param([on("n", by_name=True), on("a", "OnFailure")], True, id="name-and-id"),
        pytest.param(
            [on("n", by_name=True), on("n", "OnExit", 4, by_name=True)], True, id="of-a-name"
        ),
        pytest.param([on("a"), on("a", "OnExit", 0)], False, id="success-and-0"),
        pytest.param([on("a", "OnFailure"), on("a", "OnExit", 3)], False, id="failure-and-3"),
        pytest.param([on("a"), on("a", "OnExit")], False, id="success-and-any"),
        pytest.param([on("a"), on("b", "OnFailure")], False, id="of-two-jobs"),
        pytest.param([on("a"), on("a", "OnFailure", 1, by_name=True)], False, id="not-that-name"),
    ],
)
def test_needs_that_exclude_each_other_let_a_job_never_run(dependencies, expected):
    jobs = (job("a", Name="n"), job("b", Name="n"), job("c", *dependencies))
    assert (graph.of(group(*jobs)).impossible == ("c",)) is expected


@pytest.mark.parametrize("steps", [0, 1000])
def test_who_needs_what_is_told_of_the_job_itself_where_the_search_ends(steps, monkeypatch):
    monkeypatch.setattr("sssjob.graph.never._STEPS", steps)
    jobs = (job("a"), job("c", on("a"), on("a", "OnExit", 3)))
    assert messages(graph.findings_for(group(*jobs)), "W-NEVER") == [
        "c can never run: c needs a to succeed, and c needs it to exit with 3"
    ]


def test_jobs_of_one_name_may_exclude_each_other():
    jobs = (job("a", Name="x"), job("b", on("a"), Name="x"))
    fails = job("c", on("x", "OnFailure", by_name=True))
    assert graph.of(group(*jobs, fails)).impossible == ("c",)


def test_only_the_first_of_a_row_of_impossible_jobs_is_told():
    jobs = (job("a"), job("b", on("a"), on("a", "OnFailure")), job("c", on("b"), on("a")))
    assert graph.of(group(*jobs)).impossible == ("b",)


@pytest.mark.parametrize(
    ("dependency", "code"),
    [
        pytest.param(on("a", "OnExit", "1,024"), "E-TYPE", id="code-no-integer"),
        pytest.param(on("a", "OnMoon"), "E-UNKNOWN", id="condition"),
        pytest.param(on("a").having(designator="JobPath"), "E-UNKNOWN", id="designator"),
        pytest.param(on(""), "W-USELESS", id="empty"),
    ],
)  # fmt: skip
def test_odd_dependencies_are_told(dependency, code):
    found = list(graph.findings_for(group(job("a"), job("b", dependency))))
    assert [(each.code, each.path) for each in found] == [(code, "/JobGroup/Job[2]/Dependency")]


def test_of_a_job_alone_no_number_is_told():
    (found,) = graph.findings_for(group(job("a", on("x", "OnMoon"))))
    assert found.path == "/JobGroup/Job/Dependency"


@pytest.mark.parametrize(
    ("dependency", "needs", "stands"),
    [
        pytest.param(on("a"), "a to succeed", "which failed", id="success"),
        pytest.param(on("b", "OnFailure"), "b to fail", "which is ready", id="failure"),
        pytest.param(on("b", "OnExit"), "b to end", "which is ready", id="exit"),
        pytest.param(on("b", "OnExit", 3), "b to exit with 3", "which is ready", id="exit-3"),
        pytest.param(on("x", "OnFailure"), "x to fail", "which is not here", id="elsewhere"),
        pytest.param(
            on("a", "OnMoon"), "a to fulfil its condition", "a condition that is not understood",
            id="condition",
        ),
        pytest.param(
            on("a").having(designator="JobPath"), "a to fulfil its condition",
            "a condition that is not understood", id="designator",
        ),
        pytest.param(
            on("a", "OnExit", "two"), "a to fulfil its condition",
            "a condition that is not understood", id="code",
        ),
    ],
)  # fmt: skip
def test_what_is_needed_and_what_is_in_the_way_are_told(dependency, needs, stands):
    example = graph.of(group(job("a"), job("b"), job("c", dependency)))
    (reason,) = example.given({"a": FAILED}).why("c")
    assert reason.text == f"{needs}, {stands}"
    assert str(reason.state) == ("never" if needs == "a to succeed" else "waiting")


@pytest.mark.parametrize("policy", ["Warn", "Ignore"])
def test_a_condition_that_is_not_understood_is_told_as_the_policy_asks(policy):
    odd = Property("Dependency", "a", {"condition": "OnMoon", "awarenessPolicy": policy})
    found = list(graph.findings_for(group(job("a"), job("b", odd))))
    assert [str(each.severity) for each in found] == (["warning"] if policy == "Warn" else [])


def test_a_policy_that_is_none_leaves_that_of_the_job():
    odd = Property("Dependency", "a", {"condition": "OnMoon", "awarenessPolicy": "never"})
    held = job("b", odd)
    lenient = type(held)(held.items, {"awarenessPolicy": "Warn"})
    assert [str(each.severity) for each in graph.findings_for(group(job("a"), lenient))] == [
        "warning"
    ]


# Order and reach


def test_ties_are_in_document_order():
    jobs = (job("d"), job("c", on("a")), job("b"), job("a"))
    assert graph.of(group(*jobs)).order == ("d", "b", "a", "c")


def test_ancestors_and_descendants_reach_through_names():
    example = graph.of(EXAMPLE)
    assert example.ancestors("d") == ("a", "b", "c")
    assert example.descendants("c") == ("d", "f")
    with pytest.raises(KeyError):
        example.ancestors("nobody")


# Against a reader of the rules who takes no short cuts

CONDITIONS = [(None, None), ("OnFailure", None), ("OnExit", None), ("OnExit", 0), ("OnExit", 2)]


@st.composite
def groups(draw, *, circles=True):
    count = draw(st.integers(1, 5 if circles else 4))
    names = [draw(st.sampled_from(["x", "y", None])) for _ in range(count)]
    jobs = []
    for number in range(count):
        reach = count if circles else number
        items = []
        for _ in range(draw(st.integers(0, 3))):
            condition, code = draw(st.sampled_from(CONDITIONS))
            by_name = draw(st.booleans())
            choices = ["x", "y"] if by_name else [*map(str, range(reach)), "elsewhere"]
            text = draw(st.sampled_from(choices))
            if by_name and not circles and text in names[number:]:
                continue
            items.append(on(text, condition, None if code is None else str(code), by_name))
        named = {} if names[number] is None else {"Name": names[number]}
        jobs.append(job(str(number), *items, **named))
    return jobs


def needs_of(jobs, one):
    for item in one.properties.all("Dependency"):
        condition = item.attributes.get("condition", "OnSuccess")
        key = "Name" if item.attributes.get("designator") == "JobName" else "Id"
        code = item.attributes.get("code")
        yield [other.id for other in jobs if other.get(key) == item.text] or None, condition, code


def met(condition, code, exit_):
    """True, False, or None for what nobody can say."""
    if condition == "OnExit" and code is None:
        return True
    if exit_ is None or (exit_ is FAILED and code not in (None, "0")):
        return None
    if condition == "OnSuccess":
        return exit_ == 0
    if condition == "OnFailure":
        return exit_ != 0
    return exit_ == int(code)


def oracle(jobs, exits):
    """Assume that every job may yet run, and take back what cannot, until nothing changes."""
    never = set()
    while True:
        hopeless = {
            one.id for one in jobs if one.id not in exits and blocked(jobs, one, exits, never)
        }
        # What only waits for itself waits for ever.
        possible = {id_ for id_ in exits}
        while True:
            more = {
                one.id
                for one in jobs
                if one.id not in hopeless
                and all(t is None or set(t) <= possible for t, _, _ in needs_of(jobs, one))
            }
            if more <= possible:
                break
            possible |= more
        lost = hopeless | {one.id for one in jobs if one.id not in possible}
        if lost <= never:
            break
        never |= lost
    found = {}
    for one in jobs:
        answers = [
            met(condition, code, exits[target]) if target in exits else None
            for targets, condition, code in needs_of(jobs, one)
            for target in targets or ["elsewhere"]
        ]
        found[one.id] = (
            "done" if one.id in exits
            else "never" if one.id in never
            else "ready" if all(answers) else "waiting"
        )  # fmt: skip
    return found


def blocked(jobs, one, exits, never):
    return any(
        target in never or (target in exits and met(condition, code, exits[target]) is False)
        for targets, condition, code in needs_of(jobs, one)
        for target in targets or []
    )


@examples(50)
@given(groups(), st.dictionaries(st.sampled_from("01234"), st.sampled_from(OUTCOMES)))
def test_states_agree_with_an_oracle(jobs, exits):
    exits = {key: exit_ for key, exit_ in exits.items() if int(key) < len(jobs)}
    found = graph.of(group(*jobs)).states(exits)
    assert {key: str(state) for key, state in found.items()} == oracle(jobs, exits)


@examples(50)
@given(groups(circles=False))
def test_a_job_is_impossible_just_if_no_exits_whatever_let_it_run(jobs):
    """Play through all ways in which jobs end in order: only jobs that are ready may run."""
    example = graph.of(group(*jobs))
    ran = set()
    outside = sorted({edge.target for edge in example.external})
    for ends in itertools.product((0, 1, 2), repeat=len(jobs) + len(outside)):
        codes = ends[: len(jobs)]
        exits = dict(zip(outside, ends[len(jobs) :], strict=True))
        for one, code in zip(jobs, codes, strict=True):
            if example.states(exits)[one.id] is State.READY:
                exits[one.id] = code
        ran |= exits.keys()
    lost = {one.id for one in jobs} - ran
    first = {id_ for id_ in lost if not lost & set(example.ancestors(id_))}
    assert set(example.impossible) == first


@examples(75)
@given(groups())
def test_the_order_has_every_job_behind_those_it_depends_upon(jobs):
    example = graph.of(group(*jobs))
    places = {key: place for place, key in enumerate(example.order)}
    for key in example.order:
        assert all(places[target] < places[key] for e in example.edges(key) for target in e.jobs)
    assert (len(places) == len(jobs)) is not bool(example.cycles)
    for circle in example.cycles:
        steps = itertools.pairwise(circle)
        assert all(any(b in edge.jobs for edge in example.edges(a)) for a, b in steps)


# Size

MANY = 20_000
SHAPES = {
    "chain": lambda n: [on(str(n - 1))] if n else [],
    "chain-backwards": lambda n: [on(str(n + 1))] if n < MANY - 1 else [],
    "ring": lambda n: [on(str((n + 1) % MANY))],
    "fan-out": lambda n: [on("0")] if n else [],
    "fan-in": lambda n: [] if n else [on(str(m)) for m in range(1, MANY)],
    "everything-by-name": lambda n: [on("x", by_name=True)] if n % 2 else [],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_twenty_thousand_jobs_need_no_recursion(shape):
    jobs = (job(str(n), *SHAPES[shape](n), Name="xy"[n % 2]) for n in range(MANY))
    example = graph.of(group(*jobs))
    found = example.states({"0": 0})
    assert len(found) == MANY
    assert found["0"] is State.DONE
    errors = [each for each in example.check() if each.code == "E-CYCLE"]
    assert len(errors) == (shape == "ring")
    assert all(len(each.message) < 200 for each in errors)
    assert len(example.order) == (0 if shape == "ring" else MANY)


def chain(length):
    ids = [str(number) for number in range(length)]
    return graph.of(group(job("0"), *(job(two, on(one)) for one, two in itertools.pairwise(ids))))


@examples(30)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=14), st.integers(0, 9))
def test_what_is_near_is_all_before_and_behind_where_there_is_room(links, start):
    needed = [[on(str(two)) for one, two in links if one == number] for number in range(10)]
    made = graph.of(group(*(job(str(n), *wanted) for n, wanted in enumerate(needed))))
    key = str(start)
    every = {key, *made.ancestors(key), *made.descendants(key)}
    assert made.near(key, 10) == (tuple(each for each in made.jobs if each in every), False)
    some, more = made.near(key, 3)
    assert more == (len(every) > 3)
    assert len(some) == min(len(every), 3)
    assert {key, *some} <= every


def test_to_look_around_costs_no_more_in_a_larger_group():
    def steps(length):
        made = chain(length)
        assert made.net.dependents  # which are worked out once
        return counting.lines(made.near, str(length // 2), 20)

    assert steps(2000) == steps(200)
