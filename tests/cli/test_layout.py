"""sssjob layout: what is printed, what is chosen, and how it ends."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob
from sssjob.drawing.layout import runs

EXAMPLE = Path(__file__).parents[2] / "examples" / "requested" / "layout.xml"
CONTRADICTION = EXAMPLE.read_text().replace("<Processors>8<", "<Processors>12<")


def layout(*arguments, document=None):
    return CliRunner().invoke(
        sssjob, ["layout", *arguments, "-"], input=document or EXAMPLE.read_text()
    )


def objects(*arguments, document=None):
    result = layout("--json", *arguments, document=document)
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_each_job_and_task_group_is_laid_out():
    result = layout()
    assert result.exit_code == 0
    assert "/JobGroup/Job[1]/TaskGroup[2] Slave" in result.stdout
    assert "fr15n01  0,4,8   3" in result.stdout
    assert "tasks                12 (Processors / ProcessorsPerTask)" in result.stdout
    assert "nodes                4 (NodeCount, line 16)" in result.stdout
    assert "(3)   3,5    2" in result.stdout
    assert not result.stderr


def test_json_has_an_object_for_each_alternative():
    twelve, sixteen = objects("--select", "Slave")
    assert (twelve["tasks"], twelve["nodes"], twelve["tasks_per_node"]) == (12, 4, [3] * 4)
    assert (sixteen["tasks"], sixteen["tasks_per_node"]) == (16, [4] * 4)
    assert twelve["placement"][1] == {"node": "fr15n02", "tasks": [1, 5, 9], "processors": 3}
    assert twelve["sources"]["nodes"] == {
        "value": 4, "from": "/JobGroup/Job[1]/TaskGroup[2]/NodeCount", "line": 16,
    }  # fmt: skip
    assert (twelve["job"], twelve["group"], twelve["file"]) == ("sim.1", "Slave", "<stdin>")
    assert twelve["alternative"] == "(Processors EQ 12 And Node EQ fr15n[01-08])"


@pytest.mark.parametrize(
    "select, paths",
    [
        pytest.param("sim.2", ["/JobGroup/Job[2]"], id="id of a job"),
        pytest.param("Master", ["/JobGroup/Job[1]/TaskGroup[1]"], id="name of a task group"),
        pytest.param("//Job[Id='sim.3']", ["/JobGroup/Job[3]"], id="XPath of the document"),
        pytest.param("Job[3]", ["/JobGroup/Job[3]"], id="XPath of the job object"),
        pytest.param("//Job[TaskCount]", ["/JobGroup/Job[2]", "/JobGroup/Job[4]"], id="several"),
        pytest.param("//TaskGroup[NodeCount]", ["/JobGroup/Job[1]/TaskGroup[2]"] * 2,
                     id="task group, two alternatives"),
        pytest.param("//Job[1]/TaskGroup[1]", ["/JobGroup/Job[1]/TaskGroup[1]"], id="number"),
    ],
)  # fmt: skip
def test_jobs_and_task_groups_are_chosen(select, paths):
    assert [row["path"] for row in objects("--select", select)] == paths


def test_a_chosen_job_brings_its_task_groups():
    assert len(objects("--select", "sim.1")) == 3


@pytest.mark.parametrize(
    "select, code, words",
    [
        pytest.param("nobody", 1, "", id="nothing"),
        pytest.param("//Job/Id", 2, "neither a job nor a task group", id="not a job"),
        pytest.param("count(//Job)", 2, "neither a job nor a task group", id="a number"),
        pytest.param("//Job[", 2, "//Job[", id="no XPath"),
    ],
)
def test_what_cannot_be_chosen_is_said(select, code, words):
    result = layout("--select", select)
    assert result.exit_code == code
    assert words in result.stderr


def test_contradictions_are_errors_and_leniently_warnings():
    strict = layout("--select", "sim.4", document=CONTRADICTION)
    assert strict.exit_code == 1
    assert (
        "<stdin>:41: error: Processors = TaskCount x ProcessorsPerTask does not hold"
        in strict.stderr
    )
    assert "12 (Requested/Processors, line 41) is not 4 (TaskCount, line 38)" in strict.stderr
    (row,) = objects("--select", "sim.4", document=CONTRADICTION)
    assert (row["tasks_per_node"], row["findings"][0]["code"]) == ([], "E-COUNTS")

    lenient = layout("--lenient", "--select", "sim.4", document=CONTRADICTION)
    assert lenient.exit_code == 0
    assert "warning" in lenient.stderr
    assert "8 is taken" in lenient.stderr
    (row,) = objects("--lenient", "--select", "sim.4", document=CONTRADICTION)
    assert (row["processors"], row["tasks_per_node"]) == (8, [2, 2])


def test_a_job_that_contradicts_its_groups_is_an_error():
    document = """<Job><Id>1</Id><Processors>20</Processors>
      <TaskGroup><Processors>12</Processors></TaskGroup>
      <TaskGroup><Processors>4</Processors></TaskGroup></Job>"""
    assert layout(document=document).exit_code == 1
    assert "Processors of a job" in layout(document=document).stderr
    assert layout("--lenient", document=document).exit_code == 0
    assert layout("--select", "//TaskGroup[1]", document=document).exit_code == 0


def test_what_is_not_placed_says_why():
    document = "<Job><Id>1</Id><TaskCount>3</TaskCount>{}</Job>"
    assert "the number of nodes is open" in layout(document=document.format("")).stdout
    more = "<NodeCount>2</NodeCount><TaskDistribution type='Rule'>Snake</TaskDistribution>"
    assert "the rule is not known here" in layout(document=document.format(more)).stdout


def test_what_cannot_be_laid_out_is_null_with_its_findings():
    document = "<Job><Id>1</Id><TaskDistribution>{1,2}{2}</TaskDistribution></Job>"
    (row,) = objects(document=document)
    assert row["tasks"] is None
    assert [found["code"] for found in row["findings"]] == ["E-COUNTS"]
    assert layout(document=document).exit_code == 1


def test_alternatives_name_themselves_in_their_findings():
    document = """<Job><Id>1</Id><TaskCount>12</TaskCount><Requested>
      <Processors group="1">12</Processors><Processors conj="Or" group="-1">17</Processors>
      </Requested></Job>"""
    result = layout(document=document)
    assert "warning: in (Processors EQ 17): Processors =" in result.stderr


def test_extended_ranges_are_asked_for():
    pytest.importorskip("ClusterShell")
    document = """<Job><Id>1</Id><TaskCount>2</TaskCount><Requested>
      <Node aggregation="Range">r[1-2]c[0-1]</Node></Requested></Job>"""
    assert layout(document=document).exit_code == 1
    (row,) = objects("--extended", document=document)
    assert [share["node"] for share in row["placement"]] == ["r1c0", "r1c1"]


def test_a_document_that_cannot_be_read_ends_with_2(tmp_path):
    (tmp_path / "bad.xml").write_text("<Job><Id>1</Job>")
    arguments = ["layout", str(tmp_path / "bad.xml"), str(tmp_path / "none.xml"), str(EXAMPLE)]
    result = CliRunner().invoke(sssjob, arguments)
    assert result.exit_code == 2
    assert "bad.xml:1:11: error" in result.stderr
    assert "none.xml: No such file" in result.stderr
    assert "Slave" in result.stdout


def test_nothing_to_lay_out_is_said_by_the_exit_code():
    assert layout(document="<Jobs/>").exit_code == 1


def test_names_from_strangers_cannot_steer_a_terminal():
    document = "<Job><Id>1</Id><TaskCount>1</TaskCount><Node>n\x9b2J</Node></Job>"
    assert "\x9b" not in layout(document=document).stdout


def test_long_layouts_are_cut_for_people_only():
    document = "<Job><Id>1</Id><TaskCount>100</TaskCount><NodeCount>100</NodeCount></Job>"
    assert "... and 36 more nodes" in layout(document=document).stdout
    (row,) = objects(document=document)
    assert len(row["placement"]) == 100


def test_a_terminal_gets_a_row_of_boxes_for_each_node():
    master, slave = pty.openpty()
    run = "from sssjob.cli import main; main()"
    command = [sys.executable, "-c", run, "layout", "--select", "sim.3", str(EXAMPLE)]
    subprocess.run(command, stdout=slave, check=True)
    os.close(slave)
    shown = os.read(master, 1 << 16).decode()
    assert "(1)  │" in shown
    assert " 4 " in shown
    assert "tasks  processors" not in shown


@pytest.mark.parametrize(
    "tasks, shown",
    [
        (range(3), "0-2"), (range(1, 2), "1"), (range(0, 9, 4), "0,4,8"), ((1, 2, 5), "1-2,5"),
        ((), "-"), (range(0, 200, 2), "0,2,4,6,8,10,12,14,16,18,20,22,... (100)"),
    ],
)  # fmt: skip
def test_tasks_are_written_as_runs(tasks, shown):
    assert runs(tasks) == shown
