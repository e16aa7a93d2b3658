"""The table of jobs of a store, in both engines: each job once, and counts that are the jobs'."""

import sqlite3
from itertools import product

import pytest
from draws import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sssjob import store
from sssjob.errors import InvalidValue
from sssjob.states import has_ended, how_it_ended
from sssjob.store import browsing
from sssjob.store.browsing import FACETS, SHOWN, facet, having, holding, page, shown, texts

TIMES = (0, 1761955199, 1761955200, 1764547199, 1764547200)  # around the ends of two months


def document(number, user="", end=None, charge="", more=""):
    told = f"<User>{user}</User>" if user else ""
    told += "" if end is None else f"<EndTime>{end}</EndTime>"
    told += f"<Charge>{charge}</Charge>" if charge else ""
    return f"<Job><Id>{number}</Id>{told}{more}</Job>"


def load(kept, *documents):
    kept.load("<Data>{}</Data>".format("\n".join(documents)).encode())


def walk(kept, size, **how):
    """The Ids of all pages, one after the other."""
    after, found = None, []
    for _ in range(1000):
        one = page(kept.engine, ("id",), after=after, limit=size, **how)
        found += [row.values[0] for row in one.rows]
        after = one.after
        if after is None:
            return found
    raise AssertionError("pages without end")


GROUP = (
    "<JobGroup><Id>g</Id><JobDefaults><User>amy</User></JobDefaults>"
    "<Job><Id>g1</Id></Job><Job>g1</Job><Job><Id>g2</Id></Job></JobGroup>"
)
USERS = st.sampled_from(["", "amy", "Amy", "émile", "z\U0001f600", "a'b\"c", "-1", "amy x"])
JOBS = st.lists(
    st.tuples(USERS, st.sampled_from((None, *TIMES)), st.sampled_from(["", "1", "0.1", "-2", "x"])),
    max_size=14,
)


@examples(10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(jobs=JOBS)
def test_each_job_is_on_exactly_one_page(tmp_path_factory, jobs):
    path = tmp_path_factory.mktemp("pages") / "jobs.db"
    with store.open(path, create=True) as kept:
        # Beside them a group with two jobs that are alike, a reference to one, and a deleted job.
        load(kept, *(document(number, *each) for number, each in enumerate(jobs)), GROUP,
             document("gone"))  # fmt: skip
        with kept.change() as change:
            change.delete("gone")
        wanted = sorted([*map(str, range(len(jobs))), "g1", "g2"])
        for sort, down in product(("", "user", "end", "charge", "id"), (False, True)):
            names = ("id", sort or "id")
            whole = page(kept.engine, names, sort=sort, down=down, limit=100).rows
            order = [row.values[0] for row in whole]
            assert sorted(order) == wanted
            for size in (1, 2, 3, len(order) - 1, len(order)):
                assert walk(kept, size, sort=sort, down=down) == order, (sort, size)
            stated = [row.values[1] for row in whole if row.values[1] is not None]
            assert not sort or stated == sorted(stated, reverse=down)
            assert all(row.values[1] is None for row in whole[len(stated) :])


@pytest.fixture(scope="module")
def some(kept):
    load(
        kept,
        document(1, "amy", TIMES[1], "3", "<State>Completed</State>"),
        document(2, "bob", TIMES[2], "0.5", "<Delivered><User>amy</User></Delivered>"),
        document(3, "", TIMES[3], "", "<Requested><User>amy</User></Requested>"),
        document(4, "", TIMES[4]),
        document(5, "&lt;b>", more="<Project>p_%*?[x]</Project>"),
    )
    return kept


def ids(kept, where):
    return [row.values[0] for row in page(kept.engine, ("id",), where, limit=100).rows]


def test_what_was_delivered_stands_before_the_jobs_own_and_that_before_what_it_requests(some):
    rows = page(some.engine, ("id", "user"), limit=9).rows
    assert dict(row.values for row in rows) == {
        "1": "amy", "2": "amy", "3": "amy", "4": None, "5": "<b>",
    }  # fmt: skip
    assert ids(some, having("user", "amy")) == ["1", "2", "3"]
    assert ids(some, having("user", "bob")) == []
    assert ids(some, having("user", "")) == ["4"]


def test_months_are_those_of_utc(some):
    months = {each.value: each.jobs for each in facet(some.engine, "month", limit=9)}
    assert months == {"2025-10": 1, "2025-11": 2, "2025-12": 1, None: 1}
    assert ids(some, having("month", "2025-11")) == ["2", "3"]
    assert ids(some, having("month", "")) == ["5"]
    assert ids(some, having("month", "9999-12")) == []


@pytest.mark.parametrize("name", [name for name in FACETS if name != "exit"])
def test_a_facet_counts_the_jobs_that_its_filter_leaves(some, name):
    for each in facet(some.engine, name, limit=20):
        assert len(ids(some, having(name, each.value or ""))) == each.jobs, each


STATES = ("", "Completed", "completed", "FAILED", "Cancelled", "TimedOut", "Running", "Odd")
MESSAGES = ("", "TIMEOUT", "Cancelled by root", "removed: x", "failed", "OUT_OF_MEMORY", "EXIT",
            "EXITED", "TERM_OWNER", "NODE_FAIL", "odd *?[")  # fmt: skip


def test_outcomes_of_columns_are_those_of_usage_records(address):
    expected = {}
    documents = []
    cases = product(STATES, MESSAGES, ("", "0", "2"), ("", "1700000000"))
    for number, case in enumerate(cases):
        told = dict(zip(("State", "StatusMessage", "ExitCode", "EndTime"), case, strict=True))
        inner = "".join(f"<{name}>{text}</{name}>" for name, text in told.items() if text)
        documents.append(f"<Job><Id>{number}</Id>{inner}</Job>")
        over = has_ended(told.get)
        expected.setdefault(str(how_it_ended(told.get)) if over else "", []).append(str(number))
    with store.open(address, create=True) as kept:
        load(kept, *documents)
        for value, names in expected.items():
            rows = page(kept.engine, ("id",), having("outcome", value), limit=999).rows
            assert sorted((row.values[0] for row in rows), key=int) == names
        counts = {each.value or "": each.jobs for each in facet(kept.engine, "outcome", limit=9)}
    assert counts == {value: len(names) for value, names in expected.items()}
    assert set(expected) == {"", "completed", "failed", "aborted", "unsaid"}


def test_an_outcome_that_there_is_none_of_is_refused(some):
    with pytest.raises(InvalidValue, match="one of aborted, failed, completed, unsaid"):
        having("outcome", "Failed")


def test_a_search_takes_no_sign_for_a_pattern(some):
    assert ids(some, holding("p_%*?[x]")) == ["5"]
    assert ids(some, holding("%")) == ["5"]
    assert ids(some, holding("_%")) == ["5"]
    assert ids(some, holding("<b")) == ["5"]


def test_counts_are_made_again_when_somebody_wrote(tmp_path):
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        load(jobs, document(1, "amy"))
        assert [browsing.count(jobs.engine) for _ in range(2)] == [1, 1]
        load(jobs, document(2, "amy"))
        assert browsing.count(jobs.engine) == 2
        assert facet(jobs.engine, "user", limit=1) == [("amy", 2)]


def test_every_column_of_the_table_can_be_shown_and_sorted_by(some):
    names = tuple(SHOWN)
    [first, *_] = page(some.engine, names, limit=9).rows
    assert len(first.values) == len(names)
    for name in names:
        assert len(walk(some, 2, sort=name, down=True)) == 5, name


def test_no_second_scan_is_needed_for_the_newest(tmp_path):
    with store.open(tmp_path / "jobs.db", create=True) as kept:
        load(kept, *(document(number, "amy", 100 + number) for number in range(9)))
    with sqlite3.connect(tmp_path / "jobs.db") as raw:
        plan = raw.execute(
            'EXPLAIN QUERY PLAN SELECT document FROM job WHERE "end_time" IS NOT NULL '
            'ORDER BY "end_time" DESC, document DESC, place DESC LIMIT 2'
        ).fetchall()
    assert not [step for step in plan if "TEMP B-TREE" in step[3]], plan


@pytest.mark.parametrize("name, meant", [("usr", "user"), ("stae", "state"), ("'; DROP", "")])
def test_a_column_that_there_is_none_of_is_told_with_what_was_meant(name, meant):
    with pytest.raises(InvalidValue, match="column of jobs") as told:
        shown(name)
    assert not meant or f"did you mean {meant}?" in str(told.value)


@pytest.mark.parametrize(
    "text", ["2025", "2025-13", "2025-00", "0000-01", "2025-1", "x", "٢٠٢٥-٠١"]
)
def test_a_month_is_a_year_and_a_month(text):
    with pytest.raises(InvalidValue, match="a month such as"):
        having("month", text)


def test_a_number_is_compared_as_one(some):
    assert ids(some, having("charge", "3.0")) == ["1"]
    with pytest.raises(InvalidValue):
        having("charge", "much")


def test_several_texts_are_told_apart(tmp_path):
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        load(jobs, document(1, more="<User>a</User><User>b</User>"))
        [row] = page(jobs.engine, ("user",), limit=1).rows
    assert texts(row.values[0]) == ["a", "b"]


@pytest.mark.parametrize(
    "low, high, found",
    [(4, 8, "ac"), (4, 9, "abc"), (5, None, "b"), (0, 4, ""), (8, 8, ""), (0, None, "abc")],
)
def test_a_range_has_its_lower_end_and_what_counts_of_each_job(address, low, high, found):
    """What was delivered counts before what a job says, and that before what it asks for."""
    processors = "<Processors>{}</Processors>".format
    eight, four = processors(8), processors(4)
    with store.open(address, create=True) as kept:
        load(
            kept,
            document("a", more=f"{eight}<Delivered>{four}</Delivered>"),
            document("b", more=f"<Requested>{four}</Requested>{eight}"),
            document("c", more=f"<Requested>{four}</Requested>"),
            document("none"),
        )
        rows = kept.rows(["id"], browsing.ranging("processors", low, high))
        assert sorted(id_ for (id_,) in rows) == [*found]


@pytest.mark.parametrize("name", ["user", "queue", "state", "nothing"])
def test_only_columns_of_numbers_have_ranges(name):
    with pytest.raises(InvalidValue):
        browsing.ranging(name, 1, 2)
