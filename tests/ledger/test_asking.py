"""XPath over a ledger: what it finds is what it finds in the documents of all runs."""

from pathlib import Path

import asking as drawn
import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

pytest.importorskip("duckdb")

from ledger_runs import run

import sssjob
from sssjob.document.sources import NamedSource
from sssjob.errors import DamagedStore, SSSJobError
from sssjob.ledger import asking, columns, jobs, ledger
from sssjob.query import NotAQuery, compile
from sssjob.query.forms import Form, Shape
from sssjob.store.totals import total
from sssjob.verbs.ask import Asked
from sssjob.verbs.ledger import Ingestion
from sssjob.verbs.query import Listener, SourcesQuery

WORDS = {
    "Id": ("7", "8", " 7 ", "amy"), "User": drawn.TEXTS, "Machine": ("c", "d"),
    "State": drawn.WORDS, "ExitCode": ("0", "2", "2.0"), "StartTime": ("0", "2", "10"),
    "EndTime": ("2", "10", "9007199254740993"), "Project": ("amy", "2"),
}  # fmt: skip
AMOUNTS = ("0", "1", "2", "10", "0.30", "9007199254740993")
BLOCKS = {
    "Requested": ("Processors", "NodeCount", "Duration", "Memory"),
    "Delivered": ("Duration", "CpuDuration", "Processors", "NodeCount", "Memory"),
}


@st.composite
def told(draw):
    """A job that tells what a ledger keeps, in values that queries ask for."""
    items = [
        (name, draw(st.sampled_from(words))) for name, words in WORDS.items() if draw(st.booleans())
    ]
    text = "".join(f"<{name}>{word}</{name}>" for name, word in items)
    for name, inner in BLOCKS.items():
        given_ = [(each, draw(st.sampled_from(AMOUNTS))) for each in inner if draw(st.booleans())]
        if name == "Delivered" and draw(st.booleans()):
            given_.append(("Resource name='GPU'", draw(st.sampled_from(AMOUNTS))))
        amounts = "".join(f"<{each}>{word}</{each.split()[0]}>" for each, word in given_)
        text += f"<{name}>{amounts}</{name}>" if given_ else ""
    return f"<Job>{text}</Job>".encode()


strange = st.builds(drawn.block, st.just("Job"), drawn.job_children).map(
    lambda root: etree.tostring(drawn.copies([root])[0])
)
PATHS = (
    "Id", "User", "Project", "State", "ExitCode", "StartTime", "EndTime", "Requested", "Delivered",
    "Delivered/User", "Delivered/Project", "Delivered/Machine", "CpuDuration", "Memory",
    "Delivered/Memory/@metric",
    *(f"{block}/{name}" for block, names in BLOCKS.items() for name in names),
    "Delivered/Resource", "Delivered/Memory/@units", "Charge", "Requested/User",
)  # fmt: skip
by_id = st.builds(
    "//Job[Id = '{}' {} {} {} {}]/{}".format, st.sampled_from(WORDS["Id"]),
    st.sampled_from(("and", "or")), st.sampled_from(PATHS), drawn.signs,
    st.one_of(drawn.numbers, st.sampled_from(("1.5", "0.3", "9007199254740993"))),
    st.sampled_from(("Id", "User")),
)  # fmt: skip
plain = st.builds(
    "//Job[{} {} {}]/Id".format, st.sampled_from(PATHS), drawn.signs,
    st.one_of(drawn.texts, drawn.numbers, st.sampled_from(PATHS)),
)  # fmt: skip
both = st.builds("//Job[{0} or not({1})]".format, st.sampled_from(PATHS), st.sampled_from(PATHS))


def answers(source, question):
    """What a question finds, as its matches are printed, or why it cannot be asked."""
    query = SourcesQuery(Asked(question, Shape(Form("text", {}, False, False))))
    try:
        return [row.cells for row in query.rows([source])]
    except SSSJobError as error:
        return type(error)


@examples(15)
@given(st.data())
def test_a_query_finds_what_it_finds_in_the_documents_of_all_runs(tmp_path_factory, data):
    home = tmp_path_factory.mktemp("usage")
    kept = ledger.create(home / "usage")
    some = data.draw(st.lists(st.one_of(told(), told(), strange), min_size=4, max_size=12))
    kept.add(columns.row(sssjob.loads(each), "log", at) for at, each in enumerate(some))
    each, one = home / "each.sss", home / "one.sss"
    each.write_text("".join(f"{sssjob.dumps(job)}\n" for job in jobs.jobs(kept)))
    one.write_text(f"<Jobs>\n{each.read_text()}</Jobs>\n")
    for text in data.draw(
        st.lists(st.one_of(plain, by_id, both, drawn.queries), min_size=4, max_size=4)
    ):
        try:
            question = compile(text, {}, data.draw(st.sampled_from(("1.0", "1.0", "2.0"))))
        except NotAQuery:
            continue
        documents = each if total(question) is None else one
        wanted = answers(NamedSource("x", documents), question)
        assert answers(NamedSource(str(kept.home), kept.home), question) == wanted, text


@pytest.fixture
def kept(tmp_path):
    found = ledger.create(tmp_path / "usage")
    found.add(run(number, start=100 * number, end=100 * number + 7, wall=7) for number in range(99))
    return found


@pytest.mark.parametrize("text, count", [
    ("//Job[StartTime = 700]/Id", 1),
    ("//Job[StartTime >= 9000 and EndTime < 9600]", 6),
    ("//Job[Delivered/Duration > 7]", 1),
    ("//Job[Id = '12' or Id = '13']", 2),
    ("//Job[starts-with(Id, '9')]", 10),
    ("//Job[Charge > 1]", 1),
    ("//Job[contains(Name, 'x')]/Name", 1),
])  # fmt: skip
def test_only_rows_in_which_there_may_be_an_answer_are_read(kept, text, count):
    question = compile(text)
    assert asking.narrows(question)
    assert len([*asking.found(kept, question)]) == count


@pytest.mark.parametrize("text, wanted", [
    ("//Job[Id = '12']/User", {"12"}),
    ("//Job[Id = '12' or Id = '13'][User = 'amy']", {"12", "13"}),
    ("//Job[Id = '12' and Id = '13']", {"12"}),
    ("//Job[Id = '12' or User = 'amy']", None),
    ("//Job[not(Id = '12')]", None),
    ("//Job[Id != '12']", None),
    ("//Job[starts-with(Id, '12')]", None),
    ("//Job[Requested/Id = '12']", None),
])  # fmt: skip
def test_a_query_for_an_id_reads_the_rows_that_have_it(kept, monkeypatch, text, wanted):
    question = compile(text)
    assert asking.ids_of(asking.plan(question).bounds.maybe) == wanted
    if wanted:
        monkeypatch.setattr(ledger.Ledger, "connected", None)  # no DuckDB
        found = {job.id for job in asking.found(kept, question)}
        assert found == wanted


@pytest.mark.parametrize(
    "text", ["//Job", "count(//Job)", "(//Job)[2]", "//Job[2]", "sum(//Job/ExitCode)"]
)
def test_what_columns_do_not_decide_is_asked_of_all(text):
    assert not asking.narrows(compile(text))


def test_files_are_asked_in_pieces_and_in_their_order(kept, monkeypatch):
    kept.add(run(number, start=10**9 + number, end=10**9 + 99 * number) for number in range(99))
    monkeypatch.setattr(asking, "_ROWS", 1)
    question = compile("//Job[EndTime > 8998]")
    wanted = [job.id for job in jobs.jobs(kept) if int(job.items[3].text) > 8998]
    assert [job.id for job in asking.found(kept, question)] == wanted
    assert len(wanted) == 108


def test_replaced_runs_are_not_found_and_a_torn_file_is_told(kept):
    kept.add([run(7, start=700, end=708, wall=8)])
    assert [job.id for job in asking.found(kept, compile("//Job[EndTime = 707]"))] == ["0"]
    (first, _) = kept.manifest().files
    with open(kept.home / first.path, "r+b") as file:
        file.truncate(first.size - 1)
    with pytest.raises(DamagedStore, match="is torn"):
        [*asking.found(kept, compile("//Job[EndTime = 708]"))]


# What records that are converted say of a run, wherever they say it.
CONVERTED = [
    "Delivered/User", "Delivered/Group", "Delivered/Project", "Delivered/Machine",
    "Delivered/Partition", "Delivered/Queue", "Delivered/QualityOfService", "Delivered/Duration",
    "Delivered/Processors", "Delivered/NodeCount", "Delivered/Memory[@metric = 'Max']",
    "Delivered/Memory[@metric = 'Max']/@units", "Requested/Memory", "Requested/Memory/@units",
    "Requested/Processors", "Requested/NodeCount", "Requested/Duration", "CpuDuration", "ExitCode",
    "State", "StatusMessage", "Id", "GlobalId", "SubmitTime", "EligibleTime", "StartTime",
    "EndTime", "SuspendDuration", "Requested/Duration[@op = 'LE']",
]  # fmt: skip


@pytest.mark.parametrize("path", CONVERTED)
def test_a_ledger_answers_what_the_records_answer_that_it_was_made_of(path, ingested):
    question = compile(f"//Job[Delivered/Duration > 0]/{path}")
    of_records, of_runs = (sorted(answers(each, question)) for each in ingested)
    assert of_records
    assert of_runs == of_records


@pytest.fixture(scope="module")
def ingested(tmp_path_factory):
    """A log, and the ledger of it."""
    log = Path(__file__).parents[2] / "examples" / "slurm" / "sacct.txt"
    found = ledger.create(tmp_path_factory.mktemp("usage") / "usage")
    work = Ingestion(found, pytest.fail)
    work.take([NamedSource(str(log), log)], "slurm")
    work.commit()
    return NamedSource(str(log), log), NamedSource(str(found.home), found.home)


MORE = "other values than those for reports"


@pytest.mark.parametrize("text, names", [
    ("//Job[Name = 'x']/Node", ["Name", "Node"]),
    ("//Job[Delivered/User = 'x']/Requested/Memory/@units", []),
    ("count(//JobGroup)", ["JobGroup"]),
    ("//Job[Delivered/Resource[@type = 'a100']][Requested/Duration[@op = 'LE']]", ["@type"]),
    ("//Delivered/*", [MORE]),
    ("//Job//text()", [MORE]),
    ("//Job/Delivered/node()", [MORE]),
    ("//Job[Name]/@*", ["Name", MORE]),
    ("//Job/Id/text()", []),
    ("/*/Job[. = 'x']/../Job[Id > 2 * 3]/self::Job", []),
])  # fmt: skip
@pytest.mark.parametrize("version", ["1.0", "3.1"])
def test_what_no_run_tells_is_said(kept, text, names, version):
    told = []

    class Told(Listener):
        def asking_ledger(self, name, untold):
            told.append((name, untold))

    query = SourcesQuery(
        Asked(compile(text, {}, version), Shape(Form("text", {}, False, False))), Told()
    )
    [*query.rows([NamedSource(str(kept.home), kept.home)])]
    assert told == [(str(kept.home), names)]
