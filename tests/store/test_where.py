import sqlite3
from fnmatch import fnmatchcase

import pytest
from asking import LEAVES, bytes_of, copies, groups, jobs
from draws import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sssjob import defaults, spec, units
from sssjob.document import bridge, tree
from sssjob.document.flat import flat
from sssjob.errors import InvalidValue, UnbalancedGroup
from sssjob.model import Job, JobGroup
from sssjob.store.columns import COLUMNS, WRITTEN, is_number
from sssjob.store.columns import NAMES as COLUMN_NAMES
from sssjob.store.rows import number, rows
from sssjob.store.sql import SQLITE, quoted, sql
from sssjob.store.where import Term, where
from sssjob.units import bytes_of as in_bytes

OPS = ("EQ", "NE", "GT", "GE", "LT", "LE")
NAMES = (
    "Id",
    "User",
    "State",
    "Name",
    "Charge",
    "Duration",
    "Processors",
    "Memory",
    "Node",
    "Shell",
)


@st.composite
def terms(draw):
    name = draw(st.sampled_from(NAMES))
    if is_number(name):
        value, ops = draw(st.sampled_from(("0", "1", "2", "2.0", "10", "0.3"))), OPS
    else:
        value, ops = draw(st.sampled_from(LEAVES[name])), (*OPS, "Match")
        value = draw(st.sampled_from((value, f"{value[:1]}*", "?m*")))
    conj = draw(st.sampled_from(("And", "Or", "AndNot", "OrNot")))
    return Term(name, draw(st.sampled_from(ops)), value, conj)


def decides(job, asked):
    """A condition of a flat job; None where nobody can say."""
    found = flat(job)[0].properties.get(asked.name)
    if found is None:
        return False
    for name, block in ((spec.REQUESTED, job.requested), (spec.DELIVERED, job.delivered)):
        if asked.name not in spec.properties(name) and any(found is each for each in block):
            return None  # the standard has no such property there
    if is_number(asked.name):
        have, want = number(found.text), float(asked.value)
        if asked.name in units.DEFAULT_UNITS:
            try:
                have, want = found.bytes, in_bytes(asked.value, units.DEFAULT_UNITS[asked.name])
            except InvalidValue:
                return None
        if have != have:
            return None
    else:
        have, want = found.text, asked.value
    if asked.op == "Match":
        held = fnmatchcase(have, want.replace("[", "[[]"))
    else:
        held = {
            "EQ": have == want, "NE": have != want, "LT": have < want,
            "LE": have <= want, "GT": have > want, "GE": have >= want,
        }[asked.op]  # fmt: skip
    return held is not asked.conj.endswith("Not")


@examples(60, suppress_health_check=list(HealthCheck))
@given(st.one_of(jobs, groups).map(lambda root: copies([root])[0]), terms())
def test_a_condition_holds_for_the_flat_job(root, asked):
    root = tree.parse(bytes_of(root, 0))
    block = defaults.resolve(bridge.from_tree(root)).block
    objects = block.jobs if isinstance(block, JobGroup) else (block,)
    if not all(isinstance(each, Job) for each in objects) or b"<!--" in bytes_of(root, 0):
        return
    plan = where([asked])
    found = {}
    for row in rows(root):
        fact = dict(zip((column.name for column in COLUMNS), row, strict=True))
        if fact["reading"] != 1 and fact["kind"] == "Job":
            found[fact["place"]] = row
    if isinstance(block, JobGroup) and len(found) != len(objects):
        return
    for job, row in zip(objects, (found[place] for place in sorted(found)), strict=False):
        expected = decides(job, asked)
        if expected is None:
            continue
        candidate, certain = decided(plan, row)
        assert candidate or not expected
        assert expected or not certain


def decided(plan, row):
    """Whether a row is a candidate, and whether it is certain."""
    connection = sqlite3.connect(":memory:")
    names = ", ".join(quoted(column.name) for column in COLUMNS)
    connection.execute(f"CREATE TABLE job ({names})")
    connection.execute(f"INSERT INTO job VALUES ({', '.join('?' * len(COLUMNS))})", row)
    answers = []
    for condition in (plan.candidates(effective=True), plan.certain):
        text, values = sql(condition, SQLITE)
        answers.append(
            bool(connection.execute(f"SELECT 1 FROM job WHERE {text}", values).fetchall())
        )
    connection.close()
    return answers


def row_of(text):
    [row] = rows(tree.parse(text))
    return row


def row_of_resolved(text):
    """The row that is true with defaults applied, where there are two."""
    return next(
        row for row in rows(tree.parse(text)) if row[COLUMN_NAMES.index("reading")] != WRITTEN
    )


def holds(terms, text):
    """Whether conditions hold for a job about which the columns tell all."""
    candidate, certain = decided(where(terms), row_of(text))
    assert candidate == certain
    return certain


def letters(*given):
    """Conditions on the State: ("Or", 2, "A") opens two groups before an Or State EQ A."""
    return [Term("State", "EQ", value, conj, group) for conj, group, value in given]


@pytest.mark.parametrize(
    "conditions, states",
    [
        pytest.param([("And", 0, "A"), ("Or", 0, "B"), ("And", 0, "B")], "AB", id="And is tighter"),
        pytest.param([("And", 0, "B"), ("Or", 0, "A"), ("And", 0, "B")], "B", id="either side"),
        pytest.param([("And", 1, "A"), ("Or", -1, "B"), ("And", 0, "B")], "B", id="a group"),
        pytest.param([("AndNot", 0, "A")], "BC", id="Not on the first"),
        pytest.param([("And", 0, "A"), ("OrNot", 0, "B")], "AC", id="OrNot"),
        pytest.param([("OrNot", 2, "A"), ("And", -2, "B")], "B", id="groups in a group"),
        pytest.param([], "ABC", id="no condition"),
    ],
)
def test_conditions_join_as_gold_joins_them(conditions, states):
    found = [
        each for each in "ABC" if holds(letters(*conditions), f"<Job><State>{each}</State></Job>")
    ]
    assert "".join(found) == states


@pytest.mark.parametrize("groups", [[1], [-1], [1, -2], [2, -1]])
def test_groups_have_to_balance(groups):
    with pytest.raises(UnbalancedGroup, match="State"):
        where([Term("State", "EQ", "A", "And", group) for group in groups])


@pytest.mark.parametrize(
    "groups, told",
    [
        ([1], "User (item 1) leaves 1 level open"),
        ([1, 2], "User (item 2) leaves 3 levels open"),
        ([-1], "User (item 1) closes 1 level but only 0 are open"),
        ([0, 1, -3], "User (item 3) closes 3 levels but only 1 is open"),
        ([2, -1], "User (item 2) leaves 1 level open"),
    ],
)
def test_what_does_not_balance_is_told(groups, told):
    with pytest.raises(UnbalancedGroup) as refused:
        where([Term("User", "EQ", "A", "And", group) for group in groups])
    assert str(refused.value) == told


@pytest.mark.parametrize(
    "op, value, held",
    [
        ("Match", "a*", True), ("Match", "?my", True), ("Match", "b*", False),
        ("Match", "a", False),
        ("EQ", "amy", True), ("NE", "amy", False), ("GT", "alf", True), ("LE", "alf", False),
    ],
)  # fmt: skip
def test_of_one_text_the_columns_tell_all(op, value, held):
    assert holds([Term("User", op, value)], "<Job><User>amy</User></Job>") is held


@pytest.mark.parametrize(
    "op, value, may_be",
    [
        ("EQ", "amy", True), ("EQ", "bob", True), ("EQ", "eve", False),
        ("EQ", "", True), ("NE", "eve", True), ("NE", "bob", True), ("GT", "a", True),
        ("Match", "e*", True),
    ],
)  # fmt: skip
def test_of_several_texts_the_first_counts_which_may_be_any_of_them(op, value, may_be):
    several = row_of("<Job><User>amy</User><User>bob</User></Job>")
    assert decided(where([Term("User", op, value)]), several) == [may_be, False]


@pytest.mark.parametrize(
    "op, value, held",
    [
        ("EQ", "5", True), ("EQ", "4", False), ("NE", "5", False), ("GT", "4", True),
        ("EQ", "5 MB", True), ("LT", "1 GB", True), ("LT", "1 KB", False),
    ],
)  # fmt: skip
def test_an_amount_is_compared_in_bytes(op, value, held):
    assert holds([Term("Memory", op, value)], "<Job><Memory>5</Memory></Job>") is held
    assert not holds([Term("Memory", op, value)], "<Job><Id>1</Id></Job>")


@pytest.mark.parametrize("name", [*spec.properties("Job")])
@pytest.mark.parametrize("block", ["", spec.DELIVERED, spec.REQUESTED])
def test_a_job_that_has_the_value_is_asked_whatever_columns_there_are(name, block):
    if block and name not in spec.properties(block):
        return
    said = f"<{name}>7</{name}>"
    text = f"<Job><{block}>{said}</{block}></Job>" if block else f"<Job>{said}</Job>"
    plan = where([Term(name, "EQ", "7")])
    assert any(decided(plan, row)[0] for row in rows(tree.parse(text)))


@pytest.mark.parametrize("name", ["Partition", "GlobalUser", "Feature"])
def test_a_column_tells_for_sure_what_could_stand_in_another_place_that_has_none(name):
    plan = where([Term(name, "EQ", "7")])
    said, delivered = f"<{name}>7</{name}>", f"<{name}>8</{name}>"
    (row,) = rows(tree.parse(f"<Job>{said}</Job>"))
    assert decided(plan, row) == [True, True]
    (row,) = rows(tree.parse(f"<Job><Delivered>{delivered}</Delivered>{said}</Job>"))
    assert decided(plan, row) == [True, False]


def test_older_names_are_read():
    assert holds([Term("JobId", "EQ", "7")], "<Job><Id>7</Id></Job>")


def test_what_was_delivered_stands_before_what_was_said():
    text = "<Job><User>amy</User><Delivered><User>bob</User></Delivered></Job>"
    assert holds([Term("User", "EQ", "bob")], text)
    assert not holds([Term("User", "EQ", "amy")], text)


def test_amounts_are_compared_whatever_their_units():
    text = "<Job><Delivered><Memory units='GB'>2</Memory></Delivered></Job>"
    assert holds([Term("Memory", "EQ", "2048")], text)
    assert holds([Term("Memory", "GT", "1.5 GB")], text)


@pytest.mark.parametrize(
    "asked, text",
    [
        (Term("Node", "NE", "amy"), "<Job><Node>bob<b>1</b></Node></Job>"),
        (Term("Charge", "EQ", "0"), "<Job><Charge>0<b/></Charge></Job>"),
    ],
)
def test_a_property_that_holds_elements_is_looked_at(asked, text):
    assert decided(where([asked]), row_of_resolved(text)) == [True, False]


@pytest.mark.parametrize(
    "asked, said",
    [
        (Term("Colour", "EQ", "red"), "'Colour' is not a property of a Job"),
        (Term("User", "eq", "amy"), "'eq' is not one of EQ, NE"),
        (Term("User", "EQ", "amy", "Xor"), "'Xor' is not one of And, Or"),
        (Term("Charge", "GT", "much"), "'much' is not a number for Charge"),
    ],
)
def test_what_is_not_understood_is_said(asked, said):
    with pytest.raises(InvalidValue, match=said):
        where([asked])


def test_job_groups_are_asked_for_what_is_theirs():
    plan = where([Term("Name", "EQ", "sweep")], "JobGroup")
    group, job = rows(
        tree.parse(b"<JobGroup><Name>sweep</Name><Job><Name>sweep</Name></Job></JobGroup>")
    )
    assert decided(plan, group) == [True, True]
    assert decided(plan, job) == [False, False]
