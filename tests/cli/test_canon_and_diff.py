"""sssjob canon and sssjob diff: the same things alike, different things told."""

import json
import re

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob

SPACE = "http://www.scidac.org/ScalableSystems/SSSRMAP"
LEFT = """<JobGroup><Id>g</Id><JobDefaults><User>amy</User></JobDefaults>
 <Job><JobId>1</JobId><Memory units="GB">2</Memory><!-- c --></Job>
 <Job><Id>2</Id></Job></JobGroup>"""
RIGHT = """<JobGroup><Job><Memory>1024</Memory><Id>1</Id><User>amy</User></Job>
 <Job><Id>2</Id></Job><Id>g</Id></JobGroup>"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "left.xml").write_text(LEFT)
    (tmp_path / "right.xml").write_text(RIGHT)

    def run(command, *arguments, document=None):
        named = [str(tmp_path / each) if each.endswith(".xml") else each for each in arguments]
        return CliRunner().invoke(sssjob, [command, *named], input=document)

    return run


def test_the_canonical_form_is_a_document(run):
    result = run("canon", "--lines", "left.xml")
    assert result.exit_code == 0
    assert result.stdout == (
        "<JobGroup><Id>g</Id><JobDefaults><User>amy</User></JobDefaults>"
        '<Job><Id>1</Id><Memory units="GB">2</Memory></Job><Job><Id>2</Id></Job></JobGroup>\n'
    )
    assert run("canon", "--lines", "-", document=result.stdout).stdout == result.stdout


def test_the_canonical_form_of_what_was_selected(run):
    result = run("canon", "--effective", "--select", "1", "--namespace", "sssrmap", "left.xml")
    assert result.stdout.splitlines() == [
        f'<Job xmlns="{SPACE}">', "  <Id>1</Id>", "  <User>amy</User>",
        '  <Memory units="GB">2</Memory>', "</Job>",
    ]  # fmt: skip


def test_comments_are_kept_for_who_asks(run):
    assert "<!-- c -->" not in run("canon", "left.xml").stdout
    assert "<!-- c -->" in run("canon", "--comments", "left.xml").stdout


def test_differences_are_told_with_both_values(run):
    result = run("diff", "left.xml", "right.xml", "--effective")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[2:] == [
        "/JobGroup/Job[Id='1']/Memory", "- 2 GB", "+ 1 GB", "/JobGroup/Job[Id='2']/User", "- amy",
    ]  # fmt: skip


def test_json_holds_path_left_and_right(run):
    result = run("diff", "--json", "--select", "//Job[1]", "left.xml", "right.xml")
    assert json.loads(result.stdout) == [
        {"path": "/Job/User", "left": None, "right": "amy"},
        {"path": "/Job/Memory", "left": "2 GB", "right": "1 GB"},
    ]
    same = run("diff", "--json", "left.xml", "left.xml")
    assert (same.exit_code, same.stdout) == (0, "[]\n")


def test_the_same_said_in_another_way_prints_nothing(run):
    other = LEFT.replace('units="GB">2<', ">2048<").replace("JobId", "Id")
    result = run("diff", "left.xml", "-", document=other)
    assert (result.exit_code, result.output) == (0, "")
    strict = run("diff", "--strict", "left.xml", "-", document=other)
    assert strict.stdout.splitlines()[2:] == ["/JobGroup/Job[Id='1']/Memory", "- 2 GB", "+ 2048"]


def test_quietly_the_exit_code_tells(run):
    result = run("diff", "-q", "left.xml", "right.xml")
    assert (result.exit_code, result.output) == (1, "")


def test_many_jobs_are_matched_by_their_ids(run):
    jobs = "\n".join(f"<Job><Id>{n}</Id></Job>" for n in (3, 1, 2))
    other = run("canon", "--lines", "-", document=jobs).stdout
    assert other.splitlines() == jobs.splitlines()
    (result,) = [run("diff", "--json", "left.xml", "-", document=jobs)]
    assert [each["path"] for each in json.loads(result.stdout)] == [
        "/JobGroup[Id='g']", "/Job[Id='3']", "/Job[Id='1']", "/Job[Id='2']",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("canon", "none.xml"), id="canon of no file"),
        pytest.param(("diff", "left.xml", "none.xml"), id="diff with no file"),
        pytest.param(("diff", "left.xml", "-"), id="diff with nothing"),
        pytest.param(("diff", "-", "-"), id="diff of one stream"),
        pytest.param(("diff", "--select", "x", "left.xml", "right.xml"), id="nothing selected"),
    ],
)
def test_what_is_not_understood_ends_with_2(run, arguments):
    assert run(*arguments, document="").exit_code == 2


def test_texts_cannot_steer_a_terminal(run):
    left, right = ("<Job><Id>1</Id><Name>a&#x9b;b</Name></Job>", "<Job><Id>1</Id></Job>")
    result = run("diff", "-", "right.xml", document=left)
    assert "\x9b" not in result.stdout
    assert right not in result.stdout


@pytest.mark.parametrize("lines", [[], ["--lines"]], ids=["indented", "lines"])
def test_comments_around_jobs_are_kept_in_their_places(run, lines):
    document = (
        "<!--1--><?a b?><Data><!--2--><Job><Id>1</Id><!--in--></Job>"
        "<x><!--3--><Job><Id>2</Id></Job></x>"
        "<File id='f'><!--in a File--></File><!--4--></Data><!--5--><Job><Id>3</Id></Job><!--6-->"
    )
    text = run("canon", "--comments", *lines, document=document).stdout
    kept = re.findall(r"<!--[^>]*-->|<\?[^>]*>|<Id>\d", text)
    assert " ".join(kept) == (
        "<!--1--> <?a b?> <!--2--> <Id>1 <!--in--> <!--3--> <Id>2 <!--4--> <!--5--> <Id>3 <!--6-->"
    )
    assert run("canon", "--comments", *lines, document=text).stdout == text
    assert "<!--" not in run("canon", *lines, document=document).stdout


def message(script, id_="1", name="s"):
    job = f"<Job><Id>{id_}</Id><Executable>#{name}</Executable></Job>"
    return f"<Data>{job}<File id='{name}'>{script}</File></Data>"


SCRIPT = "#!/bin/sh\none\ntwo\nthree"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        pytest.param(message(SCRIPT), message(SCRIPT), [], id="the same"),
        pytest.param(
            message(SCRIPT), message(SCRIPT.replace("two", "2\n2")),
            ["//File[@id='s']", "- two", "+ 2", "+ 2"], id="lines",
        ),
        pytest.param(
            message("a"), message("a\n"), ["//File[@id='s']", "+ "], id="a line end",
        ),
        pytest.param(
            message("a&#27;\nb"), "<Job><Id>1</Id><Executable>#s</Executable></Job>",
            ["//File[@id='s']", "- a\u241b", "- b"], id="missing",
        ),
        pytest.param(
            message("a", name="r"), message("a"),
            ["/Job/Executable", "- #r", "+ #s", "//File[@id='r']", "- a", "//File[@id='s']", "+ a"],
            id="another one",
        ),
        pytest.param(
            message("a") + message("b", "2"), message("b", "2") + message("b"),
            ["/*[//Job[Id='1']]//File[@id='s']", "- a", "+ b"], id="of the job with that id",
        ),
        pytest.param(
            message("a") + message("a", "2"), message("b") + message("b", "2"),
            ["/*[//Job[Id='1']]//File[@id='s']", "- a", "+ b",
             "/*[//Job[Id='2']]//File[@id='s']", "- a", "+ b"], id="alike in two messages",
        ),
        pytest.param(
            message("a").replace("<File", "<Job><Id>2</Id><Executable>#s</Executable></Job><File"),
            message("b").replace("<File", "<Job><Id>2</Id><Executable>#s</Executable></Job><File"),
            ["/*[//Job[Id='1']]//File[@id='s']", "- a", "+ b"], id="one that two jobs name",
        ),
        pytest.param(
            message("a") + message("a", "2"), message("a", "2"),
            ["/Job[Id='1']", "- Job 1", "/*[//Job[Id='1']]//File[@id='s']", "- a"],
            id="with a job that is missing",
        ),
    ],
)  # fmt: skip
def test_files_that_jobs_name_are_compared(run, tmp_path, left, right, expected):
    left, right = (text.replace("&#27;", "\u2028") for text in (left, right))
    (tmp_path / "left.xml").write_text(left)
    result = run("diff", "left.xml", "-", document=right)
    shown = [line.replace("\ufffd", "\u241b") for line in result.stdout.split("\n")[2:-1]]
    assert shown == expected
    assert result.exit_code == bool(expected)


def test_files_in_json_are_whole_and_of_what_was_selected(run, tmp_path):
    (tmp_path / "left.xml").write_text(message("a\nb") + message("x", "2"))
    (tmp_path / "right.xml").write_text(message("a\nc") + message("y", "2"))
    result = run("diff", "--json", "--select", "1", "left.xml", "right.xml")
    assert json.loads(result.stdout) == [
        {"path": "//File[@id='s']", "left": "a\nb", "right": "a\nc"},
    ]


def test_paths_of_files_are_xpath(run, tmp_path):
    (tmp_path / "left.xml").write_text(message("a") + message("b", "2"))
    path = "/*[//Job[Id='2']]//File[@id='s']"
    assert run("query", path, "left.xml").stdout == "b\n"
