"""A store answers as libxml2 does on the documents that it holds, whatever is asked."""

import pytest
from asking import documents, queries
from draws import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from lxml import etree

from sssjob import store
from sssjob.document import tree
from sssjob.query import NotAQuery, compile
from sssjob.query.match import number
from sssjob.store.answers import Trace
from sssjob.store.totals import total

many = examples(12, suppress_health_check=list(HealthCheck))


def identified(count, document):
    """The document with an Id of its own, which is how a store knows it."""
    root = tree.parse(document)
    own = etree.Element(root.tag.replace("JobGroup", "Id").replace("Job", "Id"))
    own.text = f"own{count}"
    root.insert(0, own)
    return etree.tostring(root)


def compiled(text):
    try:
        return compile(text)
    except NotAQuery:
        return None


def fill(jobs, given_documents):
    """Put these documents into a store instead of all that it has."""
    with jobs.engine.transaction():
        for table in ("job", "document", "former"):
            jobs.engine.fetch(f"DELETE FROM {table}")
    with jobs.change() as change:
        for document in given_documents:
            change.put(document)


@pytest.fixture
def address(address_of_made):
    return address_of_made


@pytest.fixture
def kept(address):
    with store.open(address, create=True) as jobs:
        yield jobs


def expected(query, given_documents, effective):
    """What libxml2 finds in each document; a total goes over all of them."""
    whole = total(query)
    if whole is None:
        return [
            match.text
            for document in given_documents
            for match in query.run(document, effective=effective)
        ]

    def value(what, part):
        found = [
            match.text
            for document in given_documents
            for match in part.run(document, effective=effective)
        ]
        if what == "count":
            return float(len(found))
        added = 0.0
        for each in found:
            added += etree.XPath("number($text)")(etree.Element("x"), text=each)
        return added

    return [whole.match(value).text]


@many
@given(
    st.lists(documents, min_size=1, max_size=8),
    st.lists(queries, min_size=8, max_size=8),
    st.booleans(),
)
def test_a_store_answers_as_libxml2(kept, given_documents, texts, effective):
    documents = [identified(count, each) for count, each in enumerate(given_documents)]
    fill(kept, documents)
    for query in filter(None, map(compiled, texts)):
        wanted = expected(query, documents, effective)
        for places in (False, True):
            found = kept.run(query, effective=effective, places=places)
            assert [match.text for match in found] == wanted, query.expression
        told = []
        found = kept.run(query, effective=effective, on_difference=told.append)
        assert ([match.text for match in found], told) == (wanted, [])
        nodes = sum(match.is_true for match in kept.run(query, effective=effective))
        assert kept.how_many(query, effective=effective) == nodes, query.expression


JOBS = [
    b"<Job><Id>1</Id><User>amy</User><Charge>0.1</Charge><Hold>User</Hold><Hold>System</Hold></Job>",
    b"<Job><Id>2</Id><User>bob</User><Charge>0.2</Charge><Shell>/bin/sh</Shell></Job>",
    b"<Job><Id>3</Id><User>amy</User><Charge>0.3</Charge></Job>",
    b"<JobGroup><Id>g</Id><Job><Id>4</Id><User>amy</User><Charge>soon</Charge></Job></JobGroup>",
]


@pytest.fixture
def jobs(kept):
    fill(kept, JOBS)
    return kept


@pytest.mark.parametrize(
    "text, answer, rows, certain, opened, verified",
    [
        pytest.param("//Job[User='amy']/Id", ["1", "3", "4"], 3, 3, 0, 0, id="columns"),
        pytest.param("//Job/Hold", ["User", "System"], 1, 1, 0, 0, id="several texts of a column"),
        pytest.param("//Job[User='bob']/Shell", ["/bin/sh"], 1, 0, 1, 1, id="candidates"),
        pytest.param("//Job[Charge > 0.1]/Id", ["2", "3"], 3, 2, 1, 1, id="one row is odd"),
        pytest.param("//Shell", ["/bin/sh"], 0, 0, 4, 4, id="scan"),
        pytest.param("//Job[User='eve']/Id", [], 0, 0, 0, 0, id="nothing"),
    ],
)  # fmt: skip
def test_a_document_is_opened_only_where_columns_do_not_tell(
    jobs, text, answer, rows, certain, opened, verified
):
    trace = Trace()
    assert [match.text for match in jobs.run(compile(text), places=False, trace=trace)] == answer
    assert trace == Trace(rows, certain, opened, verified)


# Rows of which the columns that a comparison asks for tell less than the document.
ODD_JOBS = [
    b"<Job><Id>two</Id><Processors>1</Processors><Processors>2</Processors><StartTime/></Job>",
    b"<Job><Id>plain</Id><Processors>4</Processors><StartTime>100</StartTime></Job>",
    b"<Job><Id>words</Id><StartTime>abc</StartTime><Duration>UNLIMITED</Duration></Job>",
    b"<Job><Id>deep</Id><TaskGroup><Task><Node>n1</Node></Task></TaskGroup></Job>",
]


@pytest.mark.parametrize(
    "text, answer, opened",
    [
        ("//Job[count(Processors)>1]/Id", ["two"], 1),
        ("//Job[not(count(Processors)>1)]/Id", ["plain", "words", "deep"], 1),
        ("//Job[StartTime='']/Id", ["two"], 2),
        ("//Job[Duration='UNLIMITED']/Id", ["words"], 1),
        ("//Job[string(StartTime)='abc']/Id", ["words"], 2),
        ("//Job[TaskGroup/Task[Node='n1']='n2']/Id", [], 1),
        ("//Job[TaskGroup/Task[Node='n1']='n1']/Id", ["deep"], 1),
        ("//Job[Id='plain' and StartTime='soon']/Id", [], 2),
    ],
)
def test_what_columns_can_never_say_odd_rows_may(kept, text, answer, opened):
    fill(kept, ODD_JOBS)
    trace = Trace()
    assert [match.text for match in kept.run(compile(text), places=False, trace=trace)] == answer
    assert kept.how_many(compile(text)) == len(answer)
    assert trace.opened == opened


@pytest.mark.parametrize(
    "text, answer, opened",
    [
        ("count(//Job[User='amy'])", "3", 0),
        ("count(//Job/Hold)", "2", 0),
        ("sum(//Job[Id='1' or Id='2']/Charge)", number(0.1 + 0.2), 1),
        ("count(//Job) > 3", "true", 0),
        ("sum(//Job[User='amy']/Charge) div count(//Job)", "NaN", 1),
        ("-count(//Shell)", "-1", 4),
        ("count(/)", "4", 4),
        ("count(//Job/..)", "4", 4),
        ("count((/JobGroup/..)[1] | //Job/Hold)", "3", 4),
        ("count(//Job/self::Job/ancestor-or-self::node())", "9", 4),
        ("sum(/) > 0", "false", 4),
    ],
)
def test_totals_go_over_the_whole_store(jobs, text, answer, opened):
    trace = Trace()
    [match] = jobs.run(compile(text), trace=trace)
    assert (match.text, match.is_node, trace.opened) == (answer, False, opened)


@pytest.mark.parametrize("text", ["count(Hold)", "string(//Job/Id)", "count(//Job) = //Job/Id"])
def test_what_is_no_total_is_asked_of_each_document(jobs, text):
    assert len(list(jobs.run(compile(text)))) == len(JOBS)


def test_a_deleted_document_is_not_found(jobs):
    with jobs.change() as change:
        change.delete("3")
    assert [match.text for match in jobs.run(compile("//Job/Id"))] == ["1", "2", "4"]
    assert [match.text for match in jobs.run(compile("//Id"))] == ["1", "2", "g", "4"]
    assert jobs.how_many(compile("//Job")) == 3


def test_a_match_with_its_place_knows_its_job(jobs):
    [match] = jobs.run(compile("//Job[Hold='System']/User"))
    assert (match.job, match.path) == ("1", "/Job/User")


def test_a_query_is_of_one_moment(jobs):
    found = jobs.run(compile("//Job/Id"), places=False)
    first = next(found)
    with jobs.change() as change:
        change.put(b"<Job><Id>9</Id></Job>")
    assert [first.text, *(match.text for match in found)] == ["1", "2", "3", "4"]
    assert jobs.how_many(compile("//Job")) == 5


def test_where_most_documents_are_candidates_all_are_read(kept):
    fill(kept, [f"<Job><Id>{n}</Id><Shell>{n % 7}</Shell></Job>".encode() for n in range(500)])
    trace = Trace()
    found = kept.run(compile("//Job[Shell='3']/Id"), places=False, trace=trace)
    assert [int(match.text) for match in found] == list(range(3, 500, 7))
    assert trace == Trace(rows=0, certain=0, opened=500, verified=500)


def test_a_document_that_stands_alone_is_asked_alone(kept):
    jobs = [f"<Job><Id>{n}</Id><Shell>{n % 7}</Shell></Job>".encode() for n in range(20)]
    jobs[3] = b"<?xml version='1.0' encoding='ISO-8859-1'?>" + jobs[3]
    fill(kept, jobs)
    found = kept.run(compile("//Job[Shell='3']"))
    assert [match.job for match in found] == ["3", "10", "17"]


def test_what_was_remembered_is_forgotten_when_somebody_writes(jobs, address):
    held, amy = compile("//Job[Hold='System']/Id"), compile("//Job[User='amy']/Id")
    total_ = compile("sum(//Job[User='bob']/Charge)")

    def answers():
        return [[match.text for match in jobs.run(each, places=False)] for each in questions]

    questions = held, amy, total_
    assert answers() == answers() == [["1"], ["1", "3", "4"], ["0.2"]]
    with store.open(address) as other, other.change() as change:
        change.delete("1")
        change.put(b"<Job><Id>5</Id><User>amy</User><User>bob</User><Charge>2</Charge></Job>")
    assert answers() == answers() == [[], ["3", "4", "5"], [number(0.2 + 2)]]
    with jobs.change() as change:  # this connection itself
        change.put(b"<Job><Id>6</Id><Hold>System</Hold><User>bob</User><Charge>x</Charge></Job>")
    assert answers() == answers() == [["6"], ["3", "4", "5"], ["NaN"]]


NODES = (("n17",), ("n1", "n17"), ("n170", "n7"), ("n17", "n17"), ("n2", "n17", "n3"))


def with_nodes(place, nodes):
    tasks = "".join(f"<Task><Node>{node}</Node></Task>" for node in nodes)
    return f"<Job><Id>{place}</Id><TaskGroup>{tasks}</TaskGroup></Job>"


@pytest.mark.parametrize("odd", [False, True])
def test_few_rows_are_found_by_what_an_index_alone_tells(kept, odd):
    documents = [f"<Job><Id>{place}</Id></Job>" for place in range(300)]
    documents[20::70] = (with_nodes(*each) for each in zip((20, 90, 160, 230), NODES, strict=False))
    documents[40] = (
        f"<JobGroup><Id>g</Id>{with_nodes(1, NODES[4])}{with_nodes(2, ['n7'])}</JobGroup>"
    )
    if odd:
        documents[50] = with_nodes(50, [f"n{place}" for place in range(200)])
    fill(kept, [each.encode() for each in documents])
    with kept.change() as change:
        change.delete("230")
    query, trace = compile("//Job[TaskGroup/Task/Node='n17']/Id"), Trace()
    expected = ["20", "1", *(["50"] if odd else []), "90"]
    found = [match.text for match in kept.run(query, places=False, trace=trace)]
    assert (found, trace.opened) == (expected, int(odd))
    assert [match.text for match in kept.run(query)] == expected
    assert kept.how_many(query) == len(expected)
    assert kept.how_many(compile("//Job[TaskGroup/Task/Node='n17']")) == len(expected)


@pytest.mark.parametrize("version", ["1.0", "3.1"])
@pytest.mark.parametrize(
    "expression",
    [
        "//Job[sss:satisfied(.) and Id='1']/Id",
        "//Job[sss:satisfied(.) or Id='1']/Id",
        "//Job[sss:satisfied(.)][Id='1']/Id",
        "//Job[Id='1' and sss:satisfied(.)]/Id",
        "//Job[Id='1'][sss:satisfied(.)]/Id",
        "//Job[Id='1' or sss:satisfied(.)]/Id",
        "//Job/Requested[sss:min(Processors) > 1]/Nothing",
        "//Job[Requested[sss:max(Processors) > 1] and Id='1']/Id",
    ],
)
def test_columns_decide_nothing_that_a_policy_forbids(kept, expression, version):
    asked = (
        "<Requested><Processors>4</Processors><GPU>2</GPU></Requested>"
        "<Delivered><Processors>4</Processors></Delivered>"
    )
    given_documents = [f"<Job><Id>{number}</Id>{asked}</Job>".encode() for number in (1, 2)]
    fill(kept, given_documents)
    query = compile(expression, version=version)
    in_documents, in_store = [], []
    for document in given_documents:
        found = list(query.run(document, on_error=in_documents.append))
        assert found == [] or "Id='1' or" in expression
    list(kept.run(query, on_error=in_store.append))
    assert len(in_store) == len(in_documents) > 0
