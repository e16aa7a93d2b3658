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
