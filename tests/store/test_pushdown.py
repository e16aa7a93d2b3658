import re
import sqlite3

import pytest
from asking import documents, queries
from draws import examples
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from sssjob.document import tree
from sssjob.query import NotAQuery, compile
from sssjob.store.bounds import ALWAYS, NOTHING, UNKNOWN, exactly
from sssjob.store.columns import COLUMNS
from sssjob.store.condition import Op, Present
from sssjob.store.facts import PathColumns
from sssjob.store.plan import Level
from sssjob.store.pushdown import plan
from sssjob.store.rows import rows
from sssjob.store.sql import SQLITE, quoted, sql

many = examples(30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


def table(given_documents):
    connection = sqlite3.connect(":memory:")
    names = ", ".join(f"{quoted(column.name)}" for column in COLUMNS)
    connection.execute(f"CREATE TABLE job (document INTEGER, {names})")
    marks = ", ".join("?" * (len(COLUMNS) + 1))
    for number, document in enumerate(given_documents):
        connection.executemany(
            f"INSERT INTO job VALUES ({marks})",
            [(number, *row) for row in rows(tree.parse(document))],
        )
    return connection


def asked(connection, what, condition):
    text, values = sql(condition, SQLITE)
    return connection.execute(f"SELECT {what} FROM job WHERE {text}", values).fetchall()


def compiled(text):
    try:
        return compile(text)
    except NotAQuery:
        return None


def answers(query, document, effective):
    return [match.text for match in query.run(document, effective=effective, places=False)
            if match.is_node]  # fmt: skip


@many
@given(st.lists(documents, min_size=1, max_size=6), queries, st.booleans())
def test_what_is_no_candidate_has_no_answer_and_what_is_certain_is_one(documents, text, effective):
    query = compiled(text)
    assume(query is not None)
    found = plan(query)
    connection = table(documents)
    candidates = found.candidates(effective=effective)
    text, values = sql(found.certain, SQLITE)
    where, more = sql(candidates, SQLITE)
    chosen = connection.execute(
        f'SELECT document, ({text}) IS TRUE, "place" FROM job WHERE {where} '
        f'ORDER BY document, "place"', (*values, *more),
    ).fetchall()  # fmt: skip
    connection.close()
    for number, document in enumerate(documents):
        expected = answers(query, document, effective)
        mine = [row for row in chosen if row[0] == number]
        if expected:
            assert mine
        if found.path is not None and all(certain for _, certain, _ in mine):
            assert bool(mine) == bool(expected)
            if found.path == "" or found.numbers:
                assert len(mine) == len(expected)


@pytest.mark.parametrize(
    "text, level",
    [
        ("//Job[Id='7']", Level.EXACT),
        ("//Job[Charge > 1000]/Id", Level.EXACT),
        ("//Job[starts-with(Name, 'Heavy')]/Id", Level.EXACT),
        ("//Job[Delivered/Memory > Requested/Memory]/Id", Level.EXACT),
        ("//Job[User='amy' and not(State='Failed' or State='Idle')]/Id", Level.EXACT),
        ("//Job[TaskGroup/Task/Node='n1']", Level.EXACT),
        ("//Job[Dependency='7']/Id", Level.EXACT),
        ("//Job[Delivered/Memory/@metric='Max' and EndTime >= 10]", Level.EXACT),
        ("//Job[EndTime >= 10 and EndTime < 2 * 3600]", Level.EXACT),
        ("//Job[not(Delivered)]/Id", Level.EXACT),
        ("//Job[sss:bytes(Delivered/Memory) > 5]", Level.NARROWS),
        ("//Job[Delivered/Memory[@metric='Max'] > 5]", Level.NARROWS),
        ("//Job[State='Idle']/Shell", Level.NARROWS),
        ("//Job[Shell='/bin/sh']", Level.NARROWS),
        ("Queue", Level.EXACT),
        ("//Memory", Level.NOTHING),
        ("string(//Job/Id)", Level.NOTHING),
    ],
)  # fmt: skip
def test_usual_questions_are_planned_well(text, level):
    assert plan(compile(text)).level is level


TEXTS, BOTH, LATER = ("1.0",), ("1.0", "3.1"), ("3.1",)


@pytest.mark.parametrize(("versions", "predicate", "level", "names"), [
    (BOTH, "Delivered/User = User", Level.NARROWS, "delivered_user user"),
    (BOTH, "User != ProjectId", Level.NARROWS, "user"),
    (BOTH, "not(User = 'amy')", Level.EXACT, "user"),
    (BOTH, "boolean(User)", Level.EXACT, "user"),
    (BOTH, "boolean(User = 'amy')", Level.EXACT, "user"),
    (BOTH, "true()", Level.EXACT, ""),
    (BOTH, "not(true())", Level.EXACT, ""),
    (BOTH, "count(Node) > 1", Level.EXACT, "node"),
    (BOTH, "number(Charge) > 5", Level.EXACT, "charge"),
    (BOTH, "sss:bytes(Memory) > 5 and User = 'amy'", Level.NARROWS, "memory memory_bytes user"),
    (BOTH, "string-length(Name) > 3", Level.NARROWS, ""),
    (BOTH, "name() = 'Job'", Level.NARROWS, ""),
    (BOTH, "position() = 1", Level.NOTHING, ""),
    (TEXTS, "Memory > Requested/Memory", Level.EXACT, "memory requested_memory"),
    (TEXTS, "concat('a', 'b') = 'ab'", Level.EXACT, ""),
    (TEXTS, "contains('abc', 'b')", Level.EXACT, ""),
    (TEXTS, "id('x')", Level.NARROWS, ""),
    (TEXTS, "lang('en')", Level.NARROWS, ""),
    (TEXTS, "'a'", Level.NARROWS, ""),
    (BOTH, "User = 'amy' or Name = 'b'", Level.EXACT, "user name"),
    (BOTH, "User = 'amy' and Name = 'b'", Level.EXACT, "user name"),
    (LATER, "exists(Node)", Level.EXACT, "node"),
    (LATER, "empty(Node)", Level.EXACT, "node"),
    (LATER, "exists(Memory[. > 5])", Level.NARROWS, "memory"),
    (LATER, "if (User) then Name = 'a' else Name = 'b'", Level.EXACT, "name user"),
    (LATER, "User = ('amy', 'bob')", Level.EXACT, "user"),
    (LATER, "some $n in Node satisfies $n = 'a'", Level.EXACT, "node"),
    (LATER, "some $n in Node satisfies not($n = 'a')", Level.NARROWS, "node"),
    (LATER, "some $n in Node satisfies ($n = 'a' and User = 'amy')", Level.NARROWS, "node"),
    (LATER, "some $n in Node satisfies (some $m in Node satisfies $m = 'a')", Level.NARROWS, ""),
    (LATER, "some $n in Node, $m in User satisfies $n = 'a'", Level.NARROWS, ""),
    (LATER, "every $n in Node satisfies $n = 'a'", Level.NARROWS, ""),
    (LATER, "EndTime > StartTime", Level.NARROWS, "end_time start_time"),
    (LATER, "1 = 1", Level.NARROWS, ""),
    (LATER, "'a'", Level.NOTHING, ""),
])  # fmt: skip
def test_a_question_asks_the_columns_that_tell_and_decides_what_they_decide(
    versions, predicate, level, names
):
    for version in versions:
        found = plan(compile(f"//Job[{predicate}]", None, version))
        text, _ = sql(found.candidates(effective=False), SQLITE)
        asked_ = {*re.findall(r'"(\w+)"', text)} - {"kind", "odd", "reading"}
        assert (found.level, asked_) == (level, {*names.split()})


def test_what_stands_before_a_call_that_may_refuse_a_document_narrows_what_is_asked():
    for call in ("sss:min(Requested/Memory) > 5", "sss:max(Requested/Memory) < 5"):
        found = plan(compile(f"//Job[EndTime > 5 and {call} and User = 'amy']"))
        text = sql(found.candidates(effective=False), SQLITE).text
        assert '"end_time" > ?' in text
        assert '"user"' not in text


def test_what_could_not_be_planned_is_said():
    assert plan(compile("/Job[2]/Id")).why == ("a place among others is only known in the document")
    assert "no path" in plan(compile("string(//Job/Id)")).why


def test_bounds_name_the_paths_of_their_columns():
    with pytest.raises(AssertionError, match="the paths of their columns"):
        exactly(Present("user"), NOTHING)


def test_paths_stay_where_a_condition_goes_away():
    never = PathColumns("Processors").counted(Op.GT, 1)
    for bounds in (~never, never & ALWAYS, never | UNKNOWN, never.possible, (~never & never)):
        assert bounds.paths == {"Processors"}


@pytest.mark.parametrize(
    "asked_, found",
    [
        pytest.param("number(Charge) = 5", {0}, id="a number with a column"),
        pytest.param("number(Charge) > 5", {1}, id="another number"),
        pytest.param("number(Shell) = 5", {0, 1, 2}, id="a text that has none may be it"),
    ],
)
def test_what_a_text_is_as_a_number_is_told_by_its_column(asked_, found):
    given_documents = [
        b"<Job><Charge>5</Charge></Job>", b"<Job><Charge>7</Charge></Job>",
        b"<Job><Shell>5</Shell></Job>",
    ]  # fmt: skip
    planned = plan(compile(f"//Job[{asked_}]", None, "3.1"))
    connection = table(given_documents)
    chosen = asked(connection, "document", planned.candidates(effective=False))
    connection.close()
    assert {number for (number,) in chosen} == found
