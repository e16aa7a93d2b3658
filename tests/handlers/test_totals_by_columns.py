"""Totals and rows from columns are those from documents, and few documents are opened."""

import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from job_service import job_service

from sssjob.handlers import stores as connections
from sssjob.handlers.columns import ShownColumn, row
from sssjob.handlers.finding import Search
from sssjob.handlers.query import rows_by_columns, totals, totals_by_columns
from sssjob.handlers.roles import Roles
from sssjob.rmap.message import Conj, Get, Object, Op, Request, Where
from sssjob.rmap.responder import ReceivedRequest
from sssjob.store import lookup
from sssjob.store.sqlite import memory_used

USERS = ("ann", "bob", " ann", "", "ann<b/>")
NUMBERS = (
    "0",
    "4",
    "007",
    "7.0",
    "2.5",
    "1e3",
    "-3",
    "7e",
    "soon",
    "",
    "9007199254740993",
    "1e400",
    "0:00:07",
)


def property_of(name, values):
    return st.sampled_from(values).map(lambda value: f"<{name}>{value}</{name}>")


NAMED = st.one_of(property_of("User", USERS), property_of("Queue", ("long", "fast")))
AMOUNT = st.one_of(
    property_of("Processors", NUMBERS), property_of("Duration", NUMBERS),
    st.sampled_from([
        "<Processors metric='Max'>8</Processors>", "<Processors metric='Total'>3</Processors>",
        "<Processors context='Dedicated'>5</Processors>",
        "<Processors context='Configured'>6</Processors>", "<Processors op='GE'>4</Processors>",
        "<Memory units='GB'>2</Memory>", "<WallDuration>9</WallDuration>", "<UserId>bob</UserId>",
    ]),
)  # fmt: skip
PART = st.lists(st.one_of(NAMED, AMOUNT), max_size=3).map("".join)


@st.composite
def job(draw, number):
    own, charge = draw(PART), draw(st.sampled_from(("", *NUMBERS)))
    parts = [f"<Id>{number}</Id>", own, f"<Charge>{charge}</Charge>" if charge else ""]
    for block in ("Requested", "Delivered"):
        inner = draw(st.one_of(st.just(""), PART))
        parts.append(f"<{block}>{inner}</{block}>" if inner else "")
    return f"<Job>{''.join(parts)}</Job>"


@st.composite
def stores(draw):
    documents = [draw(job(number)) for number in range(draw(st.integers(0, 5)))]
    if draw(st.booleans()):
        inner = draw(job(98)) + draw(job(99))
        documents.append(
            f"<JobGroup><Id>g</Id><JobDefaults>{draw(PART)}</JobDefaults>{inner}</JobGroup>"
        )
    return documents


GETS = st.lists(
    st.sampled_from([
        Get("User", "GroupBy"), Get("Queue", "GroupBy"), Get("Id", "Count"), Get("User", "Count"),
        Get("Charge", "Sum"), Get("Processors", "Average"), Get("WallDuration", "Sum"),
        Get("Processors", "Count"),
    ]),
    min_size=1, max_size=4,
)  # fmt: skip
WHERES = st.lists(
    st.one_of(
        st.builds(Where, st.sampled_from(["User", "Queue", "Id"]),
                  st.sampled_from(["ann", "1", ""]),
                  st.sampled_from(list(Op)), st.sampled_from(list(Conj))),
        st.builds(Where, st.sampled_from(["Charge", "Processors", "WallDuration"]),
                  st.sampled_from(["4", "7", "0"]),
                  st.sampled_from([Op.EQ, Op.NE, Op.GT, Op.LE]), st.sampled_from(list(Conj))),
    ),
    max_size=2,
)  # fmt: skip


def looked_for(gets, wheres, actor):
    request = Request("Query", actor, (Object("Job"),), tuple(gets), wheres=tuple(wheres))
    call = ReceivedRequest(request, actor)
    roles = Roles(actors={"root": ("admin",)})
    search = Search(call, roles.reach(call))
    return search, [ShownColumn.of(get, "Job", ("Job",)) for get in gets]


def both(kept, gets, wheres, actor):
    search, columns = looked_for(gets, wheres, actor)
    return (
        totals_by_columns(search, kept, columns, "Job"),
        list(totals(search.run(kept), columns, "Job")),
    )


@contextmanager
def holding(documents):
    with (
        tempfile.TemporaryDirectory() as directory,
        job_service(str(Path(directory) / "jobs.db")) as jobs,
        jobs.service.stores.use() as kept,
    ):
        with kept.change() as change:
            for each in documents:
                change.put(each.encode())
        yield kept


@given(stores(), GETS, WHERES, st.sampled_from(["root", "ann"]))
@example(
    ["<Job><Id>1</Id><User>ann</User><Charge>0.1</Charge></Job>"],
    [Get("Charge", "Sum")],
    [],
    "root",
)
@example(
    ["<Job><Id>1</Id><Requested><Processors>4</Processors></Requested></Job>"],
    [Get("Processors", "Average")], [], "root",
)  # fmt: skip
@example(
    ["<Job><Id>1</Id><Charge>50</Charge></Job>",
     "<Job><Id>2</Id><User></User><Charge>7</Charge></Job>"],
    [Get("User", "GroupBy"), Get("Charge", "Sum")], [], "root",
)  # fmt: skip
def test_totals_by_columns_are_those_of_the_documents(documents, gets, wheres, actor):
    with holding(documents) as kept:
        ours, expected = both(kept, gets, wheres, actor)
        assert ours is None or ours == expected
        if not any("9007199254740993" in each or "1e400" in each for each in documents):
            assert ours is not None


TEXTS = st.lists(
    st.sampled_from(["Id", "JobId", "User", "Queue", "State", "Project"]), min_size=1, max_size=4
)
BY_ID = st.sampled_from(["0", "1", "2", "98", "g", "nothing"]).map(lambda id_: [Where("Id", id_)])


@given(stores(), TEXTS, st.one_of(WHERES, BY_ID), st.sampled_from(["root", "ann"]))
@example(
    ["<Job><Id>0</Id><Id>1</Id><User>bob</User></Job>"], ["Id", "User"], [Where("Id", "1")], "root"
)
@example(
    ["<JobGroup><Id>g</Id><JobDefaults><User>ann</User></JobDefaults><Job><Id>98</Id></Job>"
     "<Job><Id>99</Id><User>bob</User></Job></JobGroup>"],
    ["Id", "User"], [], "ann",
)  # fmt: skip
def test_rows_by_columns_are_those_of_the_documents(documents, names, wheres, actor):
    with holding(documents) as kept:
        search, columns = looked_for([Get(name) for name in names], wheres, actor)
        ours = rows_by_columns(search, kept, columns)
        assert ours is not None
        assert list(ours) == [row(view, columns) for view in search.run(kept)]


@pytest.fixture
def jobs(address):
    with job_service(address) as made:
        with made.service.stores.use() as kept, kept.change() as change:
            for number in range(300):
                user, amount = f"u{number % 3}", number % 7
                change.put(
                    f"<Job><Id>{number}</Id><User>{user}</User><State>Completed</State>"
                    f"<Delivered><Processors>{amount}</Processors></Delivered>"
                    f"<Charge>{number}</Charge></Job>".encode()
                )
            change.put(b"<Job><Id>odd</Id><User>u1</User><Charge>0.5</Charge></Job>")
            change.put(
                b"<Job><Id>idle</Id><User>u2</User><Requested><Processors>9</Processors></Requested></Job>"
            )
            change.put(b"<Job><Id>gone</Id><User>u2</User><Charge>1000</Charge></Job>")
            change.delete("gone")
        yield made


def noted(monkeypatch):
    """The Ids of the documents that are opened from now on."""
    opened, real = [], lookup.stored

    def stored(row, *others):
        opened.append(row[2])
        return real(row, *others)

    monkeypatch.setattr(lookup, "stored", stored)
    return opened


def test_only_documents_that_columns_do_not_decide_are_opened(jobs, monkeypatch):
    opened = noted(monkeypatch)
    gets = [("User", "GroupBy"), ("Id", "Count"), ("Charge", "Sum"), ("Processors", "Sum")]
    assert [tuple(row.values()) for row in jobs.ask("Query", gets=gets)] == [
        ("u0", "100", "14850", str(sum(number % 7 for number in range(0, 300, 3)))),
        ("u1", "101", "14950.5", str(sum(number % 7 for number in range(1, 300, 3)))),
        ("u2", "101", "15050", str(sum(number % 7 for number in range(2, 300, 3)) + 9)),
    ]  # fmt: skip
    assert opened == ["odd", "idle"]
    opened.clear()
    [row] = jobs.ask("Query", gets=[("Id", "Count")], wheres=[("State", "EQ", "Completed")])
    assert (row, opened) == ({"Id": "300"}, [])
    assert jobs.ask("Query", gets=[("Charge", "Sum")], actor="u1") == [{"Charge": "14950.5"}]
    assert opened == ["odd"]
    assert jobs.ask("Query", gets=[("Id", "Count")], actor="nobody") == [{"Id": "0"}]


@pytest.mark.parametrize("actor", ["root", "u1"])
def test_a_row_of_texts_is_given_without_opening_its_document(jobs, actor, monkeypatch):
    opened = noted(monkeypatch)
    for wheres, count in (
        ([("Id", "EQ", "4")], 1), ([("JobId", "EQ", "4")], 1), ([("Id", "EQ", "gone")], 0),
        ([("Processors", "EQ", "1"), ("User", "EQ", "u1")], 15),
        ([("Charge", "LT", "10"), ("State", "NE", "")], 10 if actor == "root" else 3),
    ):  # fmt: skip
        gets = ["Id", "User", ("State", "", "", "Now")]
        rows = jobs.ask("Query", gets=gets, wheres=wheres, actor=actor)
        assert len(rows) == count
        assert all(list(each) == ["Id", "User", "Now"] for each in rows)
    assert jobs.ids(("Id", "EQ", "3"), actor="u1") == []
    assert jobs.ids(options={"Limit": "2", "Offset": "1"}, actor="u1") == ["4", "7"]
    assert opened == []


def test_where_columns_do_not_tell_documents_are_asked(jobs):
    for gets in ([("Charge", "Max")], [("Stage", "GroupBy"), ("Id", "Count")],
                 [("QualityOfService", "GroupBy")], [("Memory", "Sum")]):  # fmt: skip
        rows = jobs.ask("Query", gets=gets)
        assert rows
    assert jobs.ask("Query", gets=[("Charge", "Max")]) == [{"Charge": "299"}]
    [row] = jobs.ask("Query", gets=[("Id", "Count")], wheres=[("Deleted", "EQ", "True")])
    assert row == {"Id": "1"}
    with jobs.service.stores.use() as kept:
        kept.verify(True)
        assert jobs.ask("Query", gets=[("Charge", "Sum")]) == [{"Charge": "44850.5"}]


def test_totals_of_a_request_without_conditions_are_kept(jobs):
    def kept():
        with jobs.service.stores.use() as store:
            return store.sums.size

    gets = [("User", "GroupBy"), ("Charge", "Sum")]
    jobs.ask("Query", gets=gets, wheres=[("State", "EQ", "Completed")])
    jobs.ask("Query", gets=gets, actor="u1")
    assert kept() == 0
    before = jobs.ask("Query", gets=gets)
    assert kept() > 0
    assert jobs.ask("Query", gets=gets) == before
    jobs.answer("Modify", sets=[("Charge", "1000")], wheres=[("Id", "EQ", "0")])
    after = {row["User"]: row["Charge"] for row in jobs.ask("Query", gets=gets)}
    assert after == {row["User"]: row["Charge"] for row in before} | {"u0": "15850"}


@pytest.mark.skipif(memory_used() is None, reason="this SQLite does not say what it holds")
def test_a_thread_gives_back_the_pages_of_its_connection_after_a_while(tmp_path, monkeypatch):
    with job_service(str(tmp_path / "jobs.db")) as made:
        with made.service.stores.use() as kept:
            kept.load(b"".join(b"<Job><Id>%d</Id></Job>" % number for number in range(2000)))
            list(kept.documents())
            held = memory_used()
        with made.service.stores.use():
            assert memory_used() == held  # not each time
        monkeypatch.setattr(connections, "_RELEASED", 0.0)
        with made.service.stores.use() as kept:
            assert memory_used() < held - 200_000
            assert len(list(kept.documents())) == 2000
