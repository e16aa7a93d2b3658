"""sssjob graph: a tree, JSON, DOT and a picture of the dependencies of jobs."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sssjob import graph as graphs
from sssjob.cli import sssjob
from sssjob.drawing.graph import dot, picture
from sssjob.drawing.graph_svg import svg
from sssjob.drawing.layers import layered
from sssjob.model import Job, JobGroup, Property

EXAMPLE = (Path(__file__).parents[2] / "examples/requested/dependencies.xml").read_text()
SVG = "{http://www.w3.org/2000/svg}"
CIRCLE = """<JobGroup><Id>g</Id><Job><Id>a</Id><Dependency>c</Dependency></Job>
<Job><Id>b</Id><Dependency>a</Dependency></Job>
<Job><Id>c</Id><Dependency>b</Dependency></Job></JobGroup>"""


def graph(*arguments, document=EXAMPLE):
    return CliRunner().invoke(sssjob, ["graph", *arguments, "-"], input=document)


def as_json(*arguments, document=EXAMPLE):
    return json.loads(graph("--json", *arguments, document=document).stdout)


def group(count, link):
    return "".join((
        "<JobGroup><Id>g</Id>",
        *(f"<Job><Id>{n}</Id>{link(n)}</Job>" for n in range(count)),
        "</JobGroup>",
    ))  # fmt: skip


def chain(number):
    return f"<Dependency>{number - 1}</Dependency>" if number else ""


def drawn(*jobs):
    made = graphs.of(JobGroup.of(*jobs, Id="g"))
    return picture("JobGroup g", made, made.given({}), made.jobs)


# JSON


def test_json_holds_the_state_of_each_job_the_circles_and_what_is_outside():
    found = as_json("--exit", "a=0", "--exit", "b=2")
    assert found["states"] == {
        "a": "done", "b": "done", "c": "ready", "d": "never", "e": "ready", "f": "never",
    }  # fmt: skip
    assert found["cycles"] == []
    assert found["impossible"] == ["d"]
    assert found["external"] == [{"job": "f", "dependency": "PBS.9", "designator": "JobId"}]
    assert found["order"] == list("abcdef")
    job = found["jobs"][3]
    assert (job["id"], job["name"], job["state"], job["exit"]) == ("d", None, "never", None)
    assert {"state": "never", "needs": "a to exit with 2, which ended with 0"} in job["why"]
    assert found["jobs"][1]["exit"] == 2


def test_each_job_group_is_an_object_on_a_line_of_its_own():
    document = f"<Data>{CIRCLE}{CIRCLE.replace('<Id>g', '<Id>h')}</Data>"
    lines = graph("--json", document=document).stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["g", "h"]


def test_jobs_beside_each_other_are_one_graph():
    document = """<Data><Job><Id>a</Id></Job>
      <Job><Id>b</Id><Dependency>a</Dependency></Job></Data>"""
    found = as_json("--exit", "a=0", document=document)
    assert found["id"] is None
    assert found["states"] == {"a": "done", "b": "ready"}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param([], ["done", "never", "ready"], id="from-document"),
        pytest.param(["--exit", "a=0"], ["done", "ready", "never"], id="exit-comes-first"),
        pytest.param(["--exit", "a=failed"], ["done", "never", "ready"], id="failed"),
        pytest.param(["--exit", "a=unknown"], ["done", "waiting", "waiting"], id="unknown"),
        pytest.param(["--from-scratch"], ["ready", "waiting", "waiting"], id="from-scratch"),
    ],
)
def test_a_document_is_where_it_starts_and_exits_come_first(arguments, expected):
    document = """<JobGroup><Id>g</Id>
      <Job><Id>a</Id><State>Completed</State><ExitCode>1</ExitCode></Job>
      <Job><Id>b</Id><Dependency>a</Dependency></Job>
      <Job><Id>c</Id><Dependency condition="OnFailure">a</Dependency></Job></JobGroup>"""
    assert list(as_json(*arguments, document=document)["states"].values()) == expected


# Exit codes and what is said


@pytest.mark.parametrize(
    ("arguments", "document", "code", "said"),
    [
        pytest.param([], EXAMPLE, 0, "[W-NEVER]", id="never-is-a-warning"),
        pytest.param(["--closed"], EXAMPLE, 1, "[E-REF]", id="closed"),
        pytest.param([], CIRCLE, 1, "a → c → b → a", id="circle"),
        pytest.param([], "<Jobs/>", 1, "", id="no-jobs"),
        pytest.param([], "<JobGroup>", 2, "[E-XML]", id="not-read"),
        pytest.param(["--exit", "z=0"], EXAMPLE, 2, "no job has the id z", id="no-such-job"),
        pytest.param(["--exit", "a"], EXAMPLE, 2, "ID=CODE", id="no-code"),
        pytest.param(["--exit", "a=1.5"], EXAMPLE, 2, "ID=CODE", id="half-a-code"),
        pytest.param(["--exit", "PBS.9=0"], EXAMPLE, 0, "", id="a-job-elsewhere"),
        pytest.param(
            ["--svg", "-"], f"<D>{CIRCLE}{CIRCLE}</D>", 2, "--select one of g, g", id="two"
        ),
        pytest.param(["--select", "nobody"], EXAMPLE, 1, "", id="nothing-chosen"),
    ],
)
def test_the_exit_code_tells(arguments, document, code, said):
    result = graph(*arguments, document=document)
    assert result.exit_code == code
    assert said in result.stderr


# The tree


def test_the_tree_has_each_job_once_below_the_last_that_it_waits_for():
    lines = graph("--exit", "a=0").stdout.splitlines()
    assert lines == [
        "JobGroup g: 1 done, 2 ready, 1 waiting, 2 never",
        "└── ✓ a prep  done, exit 0",
        "    ├── ● b sim  ready",
        "    │   └── ○ e  waiting: needs b to fail, which is ready",
        "    └── ● c sim  ready",
        "        └── ✗ d  never: needs a to exit with 2, which ended with 0",
        "            └── ✗ f  never: needs d to succeed, which will never run",
    ]


def test_the_tree_shows_circles_first():
    lines = graph(document=CIRCLE).stdout.splitlines()
    assert lines[1] == "├── circle: a → c → b → a"
    assert sum("never: needs" in line for line in lines) == 3


def test_a_long_chain_neither_recurses_nor_runs_off_to_the_right():
    lines = graph(document=group(3000, chain)).stdout.splitlines()
    assert len(lines) < 520
    assert "and 2500 more jobs" in lines[-1]
    assert max(map(len, lines)) < 200


def test_names_cannot_steer_a_terminal():
    document = "<JobGroup><Id>g</Id><Job><Id>a\x9b2J\u202e</Id></Job></JobGroup>"
    output = graph(document=document).stdout
    assert "\x9b" not in output
    assert "\u202e" not in output


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        pytest.param("g", "abcdef", id="group"),
        pytest.param("e", "abe", id="job"),
        pytest.param("//Job[Name='sim'][2]", "acdf", id="xpath"),
        pytest.param("//Job[Id='e' or Id='c']", "abcdef", id="two"),
    ],
)
def test_a_chosen_job_comes_with_all_before_and_behind_it(select, expected):
    assert "".join(as_json("--select", select)["states"]) == expected


# DOT


def test_dot_quotes_what_strangers_wrote():
    evil = Job.of(Property("Dependency", 'b\\"'), Id='a" [shape=none]; "\\', Name="x\ny")
    text = "\n".join(dot(drawn(evil)))
    assert r'"a\" [shape=none]; \"\\"' in text
    assert r"x␊y\n" in text
    assert r'"elsewhere b\\\""' in text


def test_dot_has_an_arrow_for_each_dependency_and_one_box_for_a_name():
    text = graph("--dot").stdout
    assert text.startswith('digraph "JobGroup g" {')
    assert '"name sim" -> "d";' in text
    assert '"a" -> "d" [style=dotted, label="exit 2"];' in text
    assert '"b" -> "e" [style=dashed, color="#b3261e", label="fails"];' in text
    assert text.count(" -> ") == 9


# The picture


def test_the_picture_is_a_document_that_says_what_it_shows(tmp_path):
    file = tmp_path / "g.svg"
    result = graph("--svg", str(file), "--exit", "a=0")
    assert result.exit_code == 0
    assert result.stdout == ""
    root = etree.parse(file).getroot()
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == "JobGroup g"
    assert "1 done, 2 ready, 1 waiting, 2 never" in root.find(f"{SVG}desc").text
    titles = [each.findtext(f"{SVG}title") for each in root.iter(f"{SVG}g")]
    assert "d: never, needs a to exit with 2, which ended with 0" in titles
    classes = [each.get("class") for each in root.iter(f"{SVG}rect")]
    assert {"done", "ready", "waiting", "never", "elsewhere", "name"} <= set(classes)
    assert "prefers-color-scheme: dark" in root.findtext(f"{SVG}style")


def test_the_picture_holds_nothing_that_strangers_could_run():
    evil = Job.of(Id="<script>alert(1)</script>", Name="]]>&")
    root = etree.fromstring(svg(drawn(evil)))
    assert not list(root.iter(f"{SVG}script"))
    assert "<script>alert(1)</script> ]]>&: ready" in root.xpath("//*[local-name()='title']/text()")


@pytest.mark.parametrize("link", [chain, lambda n: "<Dependency>0</Dependency>" if n else ""])
def test_a_picture_of_many_jobs_shows_the_first_and_says_so(link):
    result = graph("--svg", "-", document=group(2000, link))
    assert "the picture shows the first 500 jobs of 2000" in result.stderr
    assert "1500 more jobs are not drawn." in result.stdout
    assert result.stdout.count("<rect") < 520


def test_circles_are_drawn_too():
    root = etree.fromstring(graph("--svg", "-", document=CIRCLE).stdout.encode())
    arrows = [path for path in root.iter(f"{SVG}path") if path.get("class") == "link success"]
    assert len(arrows) == 3 + 1, "and one in the legend"


@examples(60)
@given(st.integers(1, 30).flatmap(lambda count: st.tuples(
    st.just(count),
    st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=60),
)))  # fmt: skip
def test_boxes_do_not_overlap_and_links_lead_to_the_right(given_):
    count, links = given_
    found = layered(count, links, [60.0] * count)
    for row in found.rows:
        heights = [found.height[box] for box in row if box < count]
        assert all(b - a >= 59.9 for a, b in pairwise(heights))
    assert sorted(box for row in found.rows for box in row) == list(range(len(found.layer)))
    for (one, other), way in zip(links, found.passed, strict=True):
        assert (way[0], way[-1]) == (min(one, other), max(one, other))
        if one != other:
            assert found.layer[way[0]] < found.layer[way[-1]]


def test_the_picture_in_the_docs_is_what_the_command_draws():
    drawn = Path(__file__).parents[2] / "docs" / "pictures" / "dependencies.svg"
    assert graph("--svg", "-", "--exit", "a=0").stdout == drawn.read_text()
