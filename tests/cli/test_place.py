"""sssjob place: what is printed, what is read, and how it ends."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from lxml import etree

from sssjob.cli import sssjob

EXAMPLES = Path(__file__).parents[2] / "examples" / "requested"
JOBS, NODES = EXAMPLES / "placement.xml", EXAMPLES / "nodes.json"
SVG = "{http://www.w3.org/2000/svg}"


def place(*arguments, jobs=JOBS, nodes=NODES, given=None):
    words = ["place", str(jobs), "--offers", str(nodes), *arguments]
    return CliRunner().invoke(sssjob, words, input=given)


def test_jobs_are_placed_one_after_the_other_and_one_that_is_not_counts():
    result = place()
    assert result.exit_code == 1
    assert "/JobGroup/Job[1] run.1: placed on 3 nodes, score 7/12" in result.stdout
    assert "    c02   8-15   8" in result.stdout
    assert "/JobGroup/Job[3] run.3: not placed" in result.stdout
    assert "    Feature EQ gpu: 2 of 6 nodes" in result.stdout
    assert place("--select", "run.2").exit_code == 0


def test_json_has_an_object_for_each_job():
    rows = [json.loads(line) for line in place("--json").stdout.splitlines()]
    assert [row["placed"] for row in rows] == [True, True, False]
    first, second, third = rows
    assert (first["score"], first["exact_score"]) == (7 / 12, "7/12")
    assert [group["name"] for group in first["groups"]] == ["Coordinator", "Worker"]
    assert second["groups"][0]["placement"][1] == {
        "node": "c02", "tasks": list(range(8, 16)), "processors": 8,
    }  # fmt: skip
    assert [(reason["text"], reason["nodes"]) for reason in third["reasons"]] == [
        ("TaskCount 24", None), ("Feature EQ gpu", 2),
    ]  # fmt: skip


def test_a_task_group_can_be_placed_alone():
    result = place("--select", "Worker", "--json")
    (group,) = json.loads(result.stdout)["groups"]
    assert group["path"] == "/JobGroup/Job[1]/TaskGroup[2]"
    assert json.loads(result.stdout)["score"] == 8 / 12


def test_without_a_solver_it_says_that_nothing_is_proved():
    assert "the best that was found" in place("--select", "run.1", "--no-solver").stdout
    assert "the best that was found" not in place("--select", "run.1", "--solver").stdout


@pytest.mark.parametrize("job, boxes", [("run.1", 13 + 2), ("run.2", 24 + 1), ("run.3", 0)])
def test_a_picture_has_a_box_for_each_task(tmp_path, job, boxes):
    path = tmp_path / "placement.svg"
    place("--svg", str(path), "--select", job)
    root = etree.parse(path).getroot()
    assert len(root.findall(f"{SVG}rect[@rx]")) == boxes
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert ("not placed" in words) is (job == "run.3")


def test_a_picture_shows_one_job():
    result = place("--svg", "-")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--select one of 3" in result.stderr


def test_a_picture_of_many_nodes_and_tasks_is_cut_and_says_so(tmp_path):
    jobs = tmp_path / "job.xml"
    jobs.write_text("<Job><Id>&lt;b&gt;\u202e</Id><Processors>30050</Processors></Job>")
    nodes = [{"id": f"<{n}>" * 20, "Processors": 100} for n in range(400)]
    given = json.dumps(nodes)
    result = place("--svg", "-", jobs=jobs, nodes="-", given=given)
    root = etree.fromstring(result.stdout.encode())
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert "51 more nodes are not drawn" in texts
    assert "+68" in texts
    assert "\u202e" not in result.stdout
    assert len(result.stdout) < 2_000_000


def test_nodes_come_from_standard_input():
    result = place("--select", "run.2", nodes="-", given=NODES.read_text())
    assert result.exit_code == 0
    both = CliRunner().invoke(sssjob, ["place", "-", "--offers", "-"], input="[]")
    assert both.exit_code == 2
    assert "both the jobs and the nodes" in both.stderr


@pytest.mark.parametrize(
    "given, said",
    [
        pytest.param('[{"id": "a"}, {"id": "a"}]', "node a is offered twice", id="twice"),
        pytest.param("[{", "no JSON", id="no JSON"),
        pytest.param('[{"id": "a", "Processors": "NaN"}]', "Processors", id="no number"),
    ],
)
def test_nodes_that_cannot_be_read_end_it(given, said):
    result = place(nodes="-", given=given)
    assert result.exit_code == 2
    assert said in result.stderr


def test_what_is_not_understood_is_listed_and_ends_it(tmp_path):
    jobs = tmp_path / "jobs.xml"
    jobs.write_text("<Job><Id>1</Id><Requested><GPU>2</GPU><Phase>1</Phase></Requested></Job>")
    result = place(jobs=jobs)
    assert result.exit_code == 2
    assert "element GPU is not understood" in result.stderr
    assert "element Phase is not understood" in result.stderr


def test_counts_that_contradict_each_other_are_an_answer(tmp_path):
    jobs = tmp_path / "jobs.xml"
    jobs.write_text("<Job><Id>1</Id><TaskCount>2</TaskCount><NodeCount>3</NodeCount></Job>")
    result = place(jobs=jobs)
    assert result.exit_code == 1
    assert "[E-COUNTS]" in result.stderr
