"""A summary of a store answers what the store answers, whatever jobs say."""

import math

import pytest
from draws import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sssjob import store
from sssjob.spans import DATED
from sssjob.store import browsing, dashboards, summary
from sssjob.store.browsing import FACETS, having, holding
from sssjob.store.condition import TRUE
from sssjob.store.summary import Summary
from sssjob.verbs.dashboards import usage

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

TEXTS = st.sampled_from(["", "amy", "Amy", "émile", "z\U0001f600", "a'b\"c", "a%_[*b", "-1"])
TIMES = st.sampled_from(
    [None, 0, -1, -86_401, 1761955199, 1761955200, 1761955200.5, 10**10, DATED - 1, DATED, 1e300]
)
NUMBERS = st.sampled_from([None, 0, 1, 2.5, 1e18, -4])
JOBS = st.lists(
    st.fixed_dictionaries({
        "Name": TEXTS, "State": TEXTS, "ExitCode": st.sampled_from([None, 0, 1, 271, -1]),
        "SubmitTime": TIMES, "StartTime": TIMES, "EndTime": TIMES, "CpuDuration": NUMBERS,
        "Requested": st.fixed_dictionaries({"User": TEXTS, "Queue": TEXTS, "Processors": NUMBERS}),
        "Delivered": st.fixed_dictionaries({
            "User": TEXTS, "Project": TEXTS, "Processors": NUMBERS, "Duration": NUMBERS,
            "Memory": NUMBERS,
        }),
    }),
    max_size=25,
)  # fmt: skip
QUESTIONS = (
    TRUE, having("user", "amy"), having("user", ""), having("exit", "271"), holding("a"),
    holding("'b"), having("month", "2025-11"), browsing.ran(0, 1761955200),
    browsing.ended(-86_400, 1761955200), browsing.waited(0, 60), browsing.ranging("memory", 1, 3),
)  # fmt: skip


def document(number, said):
    def told(pairs):
        for name, value in pairs.items():
            if isinstance(value, dict):
                yield f"<{name}>{''.join(told(value))}</{name}>"
            elif value not in (None, ""):
                yield f"<{name}>{value}</{name}>"

    return f"<Job><Id>{number}</Id>{''.join(told(said))}</Job>"


def near(one, other):
    """The same numbers, but for the order in which doubles were added."""
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-6)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(near, one, other))
    return one == other


@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    jobs=JOBS, where=st.sampled_from(QUESTIONS), name=st.sampled_from(FACETS),
    sort=st.sampled_from([("", True), ("user", False), ("end", True), ("wall", False)]),
    measure=st.sampled_from(dashboards.MEASURES), spread=st.sampled_from([*dashboards.SPREAD]),
)  # fmt: skip
def test_a_summary_counts_as_the_store_does(
    tmp_path_factory, jobs, where, name, sort, measure, spread
):
    path = tmp_path_factory.mktemp("summary")
    with store.open(path / "jobs.db", create=True) as kept:
        some = "\n".join(document(*each) for each in enumerate(jobs))
        kept.load(f"<Data>{some}<JobGroup><Id>g</Id><JobDefaults><User>amy</User></JobDefaults>"
                  "<Job><Id>g1</Id></Job></JobGroup></Data>".encode())  # fmt: skip
        made = Summary(summary.build(str(path / "jobs.db"), str(path / "columns")), 0.0)
        assert made.has(where)
        both = (made, kept.engine)
        one, other = (browsing.count(each, where) for each in both)
        assert one == other
        one, other = (browsing.facet(each, name, where, limit=99) for each in both)
        assert sorted(one, key=str) == sorted(other, key=str)
        by, down = sort
        one, other = (
            browsing.page(each, ("id", "user", "wall"), where, sort=by, down=down, limit=5)
            for each in both
        )
        assert one == other
        one, other = (dashboards.spread(each, spread, where) for each in both)
        assert one == other
        one, other = (usage(each, "user", measure, "", where) for each in both)
        assert near(one.totals, other.totals)
        assert (one.spans, one.undated, one.earlier) == (other.spans, other.undated, other.earlier)
        made.close()


def test_it_says_of_which_moment_it_is_and_what_it_has_not(tmp_path):
    path = str(tmp_path / "jobs.db")
    with store.open(path, create=True) as kept:
        kept.load(b"<Job><Id>1</Id></Job>")
        built = summary.build(path, str(tmp_path / "columns"))
        with kept.engine.reading() as reading:
            assert summary.moment_of(reading) == built.change
        kept.load(b"<Job><Id>2</Id></Job>")
        with kept.engine.reading() as reading:
            assert summary.moment_of(reading) > built.change
        made = Summary(built, 0.0)
        assert browsing.count(made) == 1
        assert not made.has(having("charge", "1"))
        assert not made.has(TRUE, "charge")


def test_numbers_beyond_all_others_harm_nobody(tmp_path):
    """Their sums are no numbers: SQLite has nothing there, DuckDB infinity less infinity."""
    path = str(tmp_path / "jobs.db")
    with store.open(path, create=True) as kept:
        large = {"Processors": 1e308, "Duration": 1e308}
        for number, end in enumerate((0, 86_400 * 3, 1e300)):
            said = {"StartTime": -86_401, "EndTime": end, "Delivered": large}
            kept.load(document(number, said).encode())
        made = Summary(summary.build(path, str(tmp_path / "columns")), 0.0)
        for each in (made, kept.engine):
            for measure in dashboards.MEASURES:
                told = usage(each, "user", measure, "day", TRUE)
                assert not any(math.isnan(total) for total in told.totals if total is not None)
            assert sum(part.jobs for part in dashboards.spread(each, "processors", TRUE)) == 3
