"""``sssjob explain``: names of the standard, and requests."""

import json

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob

REQUEST = "<Job><Id>1</Id><Requested><Processors>4</Processors></Requested></Job>"


@pytest.fixture
def explain(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(sssjob, ["explain", *words])


def test_a_name_is_told_with_what_the_tables_say_of_it(explain):
    result = explain("Priority")
    assert result.exit_code == 0
    assert result.output.splitlines()[:4] == [
        "Priority (element, SSS 5.1 Table 2)",
        "  Current queue priority (or rank) for the job",
        "  type:         Integer",
        "  stands in:    JobDefaults, Job, TaskGroupDefaults, TaskGroup, TaskDefaults,",
    ]


def test_names_are_told_in_their_order_as_json_lines(explain):
    rows = [json.loads(line) for line in explain("--json", "E-CARD", "op").output.splitlines()]
    assert [(row["name"], row["kind"]) for row in rows] == [
        ("E-CARD", "finding"), ("op", "attribute"),
    ]  # fmt: skip


def test_a_file_comes_before_a_name(explain, tmp_path):
    (tmp_path / "Memory").write_text(REQUEST)
    assert "Processors = 4" in explain("Memory").output


def test_names_and_files_may_be_given_together(explain, tmp_path):
    (tmp_path / "job.xml").write_text(REQUEST)
    output = explain("job.xml", "E-OP").output
    assert "E-OP (finding)" in output
    assert "Processors = 4" in output


def test_what_is_nearly_a_name_gets_advice(explain):
    result = explain("Memroy")
    assert result.exit_code == 2
    assert (
        "Memroy: no such file, and no name of the standard; did you mean Memory?" in result.stderr
    )


@pytest.mark.parametrize(
    "path",
    ["/Job/Requested/Memory", "Job/Memory", "/JobGroup/Job[2]/Requested[1]/Memory[@op='LE']"],
)
def test_a_path_of_elements_is_the_last_one(explain, path):
    assert explain(path).output == explain("Memory").output


def test_a_word_that_is_no_name_is_told_what_is_explained(explain):
    result = explain("GPU")
    assert result.exit_code == 2
    assert "did you mean Memory?" in explain("Mem").stderr
    assert "GPU: no such file, and no name, value, unit or code of the standard" in result.stderr


def test_what_is_neither_is_a_file_that_is_not_there(explain):
    result = explain("nothing.xml")
    assert result.exit_code == 2
    assert "nothing.xml: No such file or directory" in result.stderr


@pytest.mark.parametrize(
    ("written", "meant"),
    [("memory", "Memory"), ("PREFERENCE", "preference"), ("/job/requested/memory", "Memory"),
     ("e-card", "E-CARD"), ("jobid", "JobId jobId")],
)  # fmt: skip
def test_a_name_in_other_letters_is_the_name(explain, written, meant):
    assert explain(written).output == explain(*meant.split()).output


def test_an_example_has_a_line_for_each_element(explain):
    assert explain("preference").output.partition("  example:\n")[2].splitlines() == [
        "    <Job>",
        "      <Id>1</Id>",
        "      <Duration>60</Duration>",
        "      <Requested>",
        '        <Memory preference="2" units="GB">2</Memory>',
        '        <Memory preference="1" units="GB">1</Memory>',
        "      </Requested>",
        "    </Job>",
    ]
