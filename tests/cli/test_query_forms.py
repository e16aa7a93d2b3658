"""What sssjob query prints: whole jobs, JSON lines, tables, CSV; sorted and limited."""

import csv
import io
import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from sssjob.cli import sssjob
from sssjob.query import compile, forms, order
from sssjob.query.forms import FileMatch, Form, Shape

JOBS = """<Jobs>
<Job><Id>a</Id><User>amy</User><Memory units="GB">2</Memory><Duration>9</Duration></Job>
<Job><Id>b</Id><User>b, jr</User><Memory units="MB">512</Memory><Duration>00:01:00</Duration></Job>
<JobGroup><Id>g</Id><Job><Id>c</Id><Feature>ib</Feature><Feature>ssd</Feature></Job></JobGroup>
<Job><Id>d</Id><User>amy</User><Duration>10</Duration></Job>
</Jobs>
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.xml").write_text(JOBS)

    def run(*arguments):
        result = CliRunner().invoke(sssjob, ["query", *arguments])
        return result.exit_code, result.stdout, result.stderr

    return run


def test_columns_are_a_table_with_numbers_at_the_right(run):
    code, out, err = run("//Job", "jobs.xml", "--columns", "Id,User,sss:seconds(Duration)")
    assert (code, err) == (0, "")
    assert out == (
        "Id  User   sss:seconds(Duration)\n"
        "a   amy                        9\n"
        "b   b, jr                     60\n"
        "c                            NaN\n"
        "d   amy                       10\n"
    )


def test_control_characters_of_a_value_do_not_steer_the_terminal(run, tmp_path):
    (tmp_path / "odd.xml").write_text("<Job><Id>1</Id><Name>a&#133;b</Name></Job>")
    assert "\x85" not in run("//Job", "odd.xml", "--columns", "Name")[1]


def test_columns_in_json_are_null_a_value_or_an_array(run):
    _, out, _ = run("//Job", "jobs.xml", "--columns", "Id,Feature,count(Feature)", "--jsonl")
    rows = [json.loads(line) for line in out.splitlines()]
    assert rows[0] == {"Id": "a", "Feature": None, "count(Feature)": 0}
    assert rows[2] == {"Id": "c", "Feature": ["ib", "ssd"], "count(Feature)": 2}
    assert json.loads(run("//Job", "jobs.xml", "--columns", "Id", "--json")[1])[3] == {"Id": "d"}


def test_csv_reads_back(run):
    _, out, _ = run("//Job", "jobs.xml", "--columns", "Id,User,Feature", "--csv")
    assert list(csv.reader(io.StringIO(out))) == [
        ["Id", "User", "Feature"], ["a", "amy", ""], ["b", "b, jr", ""],
        ["c", "", "ib, ssd"], ["d", "amy", ""],
    ]  # fmt: skip
    _, out, _ = run("//Job/User", "jobs.xml", "--csv", "--limit", "1")
    assert list(csv.DictReader(io.StringIO(out))) == [
        {"file": "jobs.xml", "line": "2", "job": "a", "path": "/Jobs/Job/User", "value": "amy"}
    ]


def test_columns_of_several_files_name_the_file(run, tmp_path):
    (tmp_path / "more.xml").write_text("<Job><Id>z</Id></Job>")
    assert run("//Job", "more.xml", "jobs.xml", "--columns", "Id", "--limit", "1")[1] == (
        "file      Id\nmore.xml  z\n"
    )
    assert run("//Job", "*.xml", "--columns", "Id", "--no-filename", "--limit", "1")[1] == "Id\na\n"


def test_columns_of_a_value_are_those_of_its_job(run):
    assert run("Memory > 1", "jobs.xml", "--columns", "Id", "--csv")[1].split() == (
        ["Id", "a", "b", "g", "d"]
    )


# A document in which XPath finds each kind of node; the Id of the job that holds it, "" for none.
OF_EACH_KIND = """<?top i?><!-- top --><Jobs><!-- in --><Job a="b"><!-- c --><?pi x?>
<Id>1</Id><Name xmlns:e="urn:e">n</Name></Job></Jobs><!-- end -->"""
NODES = {
    "//Name": "1", "//Job": "1", "//Job/@a": "1", "//Name/text()": "1", "//Job/comment()": "1",
    "//Job/processing-instruction()": "1", "//processing-instruction('pi')": "1",
    "./comment()": "1", "./processing-instruction()": "1", "//Jobs": "", "//Jobs/comment()": "",
    "/comment()": "", "/processing-instruction()": "",
}  # fmt: skip
VALUES = {"count(Id)": "1", "string(Id)": "1", "Id = 1": "1"}
OF_JOB = "ancestor-or-self::*/Id"


@pytest.mark.parametrize("version", ["1.0", "2.0", "3.1"])
@pytest.mark.parametrize("expression", [*NODES, *VALUES, "//node()", "//Name/namespace::*", "/"])
def test_columns_and_keys_are_asked_of_each_kind_of_node(run, tmp_path, version, expression):
    """Of what is no element they are asked of the element that holds it, else of its job."""
    (tmp_path / "kinds.xml").write_text(OF_EACH_KIND)
    asked = ["--xpath", version, expression, "kinds.xml"]
    key, wanted = ("Id", VALUES) if expression in VALUES else (OF_JOB, NODES)
    for sort in ([], ["--sort", f"{key},-.."]):
        for form in ([], ["--csv"], ["--jsonl"], ["--xml"], ["--whole"]):
            columned = [] if form == ["--xml"] else [["--columns", f"{key},.,.."]]
            for columns in [[], *columned]:
                result = CliRunner().invoke(sssjob, ["query", *asked, *sort, *form, *columns])
                assert result.exception is None or isinstance(result.exception, SystemExit)
                assert result.exit_code in (0, 1)
        if expression in wanted:
            _, out, _ = run(*asked, *sort, "--columns", key, "--jsonl")
            found = [json.loads(line)[key] or "" for line in out.splitlines()]
            assert set(found) == ({wanted[expression]} if found else set())
            assert found or expression in ("/comment()", "/processing-instruction()")


@pytest.mark.parametrize(
    "key, ids",
    [
        pytest.param("Memory", "b a c d", id="amounts in base units"),
        pytest.param("-Memory", "a b c d", id="missing stands last, either way"),
        pytest.param("Duration", "a d b c", id="durations in seconds"),
        pytest.param("User,-Duration", "d a b c", id="several keys"),
        pytest.param("-Id", "d c b a", id="text downwards"),
        pytest.param("-count(Feature)", "c a b d", id="numbers, in document order where equal"),
        pytest.param("Memory > 1", "c d a b", id="false comes before true"),
    ],
)
def test_answers_are_sorted(run, key, ids):
    assert run("//Job/Id/..", "jobs.xml", "--columns", "Id", "--csv", "--sort", key)[1].split() == [
        "Id", *ids.split(),
    ]  # fmt: skip


def test_the_limit_counts_after_sorting(run):
    assert run("//Job", "jobs.xml", "--xml", "--sort=-Duration", "--limit", "1")[1].startswith(
        "<Job><Id>b</Id>"
    )


def test_whole_prints_each_job_once(run):
    code, out, _ = run("--whole", "//Job/Feature", "jobs.xml")
    expected = "<Job><Id>c</Id><Feature>ib</Feature><Feature>ssd</Feature></Job>\n"
    assert (code, out) == (0, expected)
    assert run("--whole", "Memory = 2", "jobs.xml")[1].count("<Job>") == 1
    assert run("--whole", "--count", "//Job/Feature", "jobs.xml")[1] == "1\n"
    assert run("--whole", "//JobGroup/Id", "jobs.xml")[1].startswith("<JobGroup>")
    assert run("--whole", "//Job/Feature", "jobs.xml", "--columns", "Id", "--csv")[1] == "Id\nc\n"


def test_what_looks_around_its_match_is_asked_of_the_whole_tree(run):
    code, out, err = run("//Job/Feature", "jobs.xml", "--columns", "../../Id", "--explain", "--csv")
    assert (code, out.split()) == (0, ["../../Id", "g", "g"])
    assert err == (
        "jobs.xml: each document as a whole tree, because a column or key looks around its match\n"
    )


@pytest.mark.parametrize(
    "expression, plan",
    [
        ("//Job/Id", "streamed job by job"),
        ("Id", "streamed job by job"),
        ("//Id", "because /descendant::Id may stand outside of job objects"),
        ("//Job[2]", "because child::Job[2] counts job objects"),
        ("count(//Job)", "because count(/descendant::Job) is worked out over the whole document"),
        ("//Job/..", "because parent::node() may leave the job object"),
        ("//Job[Id = //Id]", "because /descendant::Id starts at the document again"),
        ("//Jobs[Id]/Job", "asks something before a job object is reached"),
    ],
)
def test_explain_says_how_a_file_is_asked(run, expression, plan):
    assert plan in run("--explain", expression, "jobs.xml")[2]


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("--columns", "Id,User["), "--columns: unexpected end of source"),
        (("--columns", "Id,"), "--columns: unexpected end of source"),
        (("--sort", "-"), "--sort: unexpected end of source"),
        (("--columns", "Id", "--xml"), "--columns gives a table, CSV or JSON, and no XML"),
    ],
)
def test_what_cannot_be_printed_is_said(run, arguments, said):
    code, out, err = run("//Job", "jobs.xml", *arguments)
    assert (code, out) == (2, "")
    assert said in err


@given(st.lists(st.integers(-99, 99), min_size=1, max_size=12), st.integers(1, 12), st.booleans())
def test_a_limit_keeps_the_first_of_the_sorted(numbers, limit, descending):
    source = "".join(f"<Job><Id>{each}</Id></Job>\n" for each in numbers).encode()
    (key,) = order.keys("-Id" if descending else "Id")
    found = [FileMatch("", match) for match in compile("//Job").run(source)]
    made = Shape(Form(), [key]).rows(found, pytest.fail)
    rows = [row.cells for row in forms.ordered(made, limit)]
    assert [int(row) for row in rows] == sorted(numbers, reverse=descending)[:limit]


def test_numbers_come_before_texts_and_nothing_comes_last():
    given = ["10", "9", "x", "1e1", "", "-2"]
    assert sorted(given, key=order.place) == ["-2", "9", "10", "1e1", "", "x"]
    assert order.place(None) > order.place("x")
    assert order.place([]) == order.place(float("nan"))
    assert order.place(float("inf")) > order.place("1e99") > order.place(True)


def test_a_list_of_expressions_is_split_outside_of_brackets_and_quotes():
    listed = "concat(Id, \",\"),Feature[. = 'a,b'],User"
    assert list(order.columns(listed)) == ['concat(Id, ",")', "Feature[. = 'a,b']", "User"]


@pytest.mark.parametrize(
    "parts",
    [
        ["Id", "User"], ["Feature[. = ']']", "Id"], ["concat(')', '(')", "Id"], ["'('", "Id"],
        ['concat("\'", Id)', "User"], ["concat('\"', Id)", "User"], ["(Id, (User, Name))", "Id"],
        ["Job[Id[1]][2]", "Id"], ["map{'a': [1, 2]}", "Id"], ["Id"],
    ],
)  # fmt: skip
def test_what_stands_in_quotes_opens_and_closes_nothing(parts):
    assert list(order.split(",".join(parts))) == parts
    assert list(order.split(" , ".join(parts))) == parts


class Terminal(io.StringIO):
    """A stream that people look at."""

    def isatty(self):
        return True


@pytest.mark.parametrize("kind", ["text", "xml", "jsonl", "csv"])
@pytest.mark.parametrize("stream, seen", [(io.StringIO, False), (Terminal, True)])
def test_only_at_a_terminal_signs_that_steer_it_are_made_visible(kind, stream, seen):
    found = [FileMatch("", match) for match in compile("//Job/Name").run(
        "<Job><Name>a\x85b</Name></Job>".encode()
    )]  # fmt: skip
    form, written = Form(kind), stream()
    form.write((row.cells for row in Shape(form).rows(found, pytest.fail)), written)
    assert ("\x85" in written.getvalue()) is not seen


def test_without_a_form_each_match_is_only_true_or_not():
    source = b"<Job><Id>1</Id></Job><Job><Id>2</Id></Job><Job><Id>1</Id></Job>"
    found = [FileMatch("", match) for match in compile("Id = 1").run(source)]
    rows = list(Shape().rows(found, pytest.fail))
    assert [(row.is_true, row.cells) for row in rows] == [(True, None), (False, None), (True, None)]


def test_what_is_split_is_asked_of_elements():
    assert compile("//Job").is_inside is False
