"""Arrays as options, as task groups and as jobs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from translated import comes_back, script, wrapped

from sssjob.document import dumps, loads
from sssjob.translate import Settings, read, translate
from sssjob.translate.arrays import parse

PREFIXES = {"sbatch": "#SBATCH", "sge": "#$", "pbs": "#PBS", "torque": "#PBS"}
OPTIONS = {"sbatch": "--array={}", "sge": "-t {}", "pbs": "-J {}", "torque": "-t {}"}


def group_of(source, *lines):
    (found,) = read(script(PREFIXES[source], lines), source, Settings(arrays="task-group"))
    return found


@pytest.mark.parametrize("source", PREFIXES)
@pytest.mark.parametrize("target", PREFIXES)
def test_an_array_of_one_system_is_a_task_group_and_an_array_of_another(source, target):
    found = group_of(source, OPTIONS[source].format("1-7"))
    (group,) = found.job.task_groups
    assert (group.get("TaskCount"), group["Extension"].text) == ("7", "1-7")
    text = translate(found.job, target).text
    assert f"{PREFIXES[target]} {OPTIONS[target].format('1-7')}\n" in text
    comes_back(found.job, target)


@pytest.mark.parametrize(("target", "lines"), [
    ("sbatch", ["--array=1-5:2,9%2"]), ("torque", ["-t 1,3,5,9%2"]),
    ("pbs", []), ("sge", []),
])  # fmt: skip
def test_what_a_system_cannot_say_of_an_array_is_told(target, lines):
    job = group_of("sbatch", "--array=1-5:2,9%2").job
    text, losses = translate(job, target)
    options = [
        line.partition(" ")[2] for line in text.splitlines() if line[:2] in ("#S", "#P", "#$")
    ]
    assert [each for each in options if each.startswith(("--array", "-t", "-J"))] == lines
    assert bool(lines) != any(loss.value == "1-5:2,9%2" for loss in losses if not loss.fact)
    comes_back(job, target)


def test_how_many_run_at_once_is_an_option_of_its_own_in_grid_engine():
    job = group_of("sge", "-S /bin/sh", "-t 1-9:2", "-tc 3").job
    assert job.task_groups[0]["Extension"].text == "1-9:2%3"
    assert "#$ -t 1-9:2\n#$ -tc 3\n" in translate(job, "sge", Settings(residual=False)).text
    assert "#SBATCH --array=1-9:2%3\n" in translate(job, "sbatch").text


def test_amounts_of_all_elements_are_those_of_the_group_and_memory_is_that_of_each():
    lines = ["--array=0-9", "--ntasks=1", "--cpus-per-task=2", "--mem=4G", "--gpus=1", "--time=60"]
    found = group_of("sbatch", *lines)
    (group,) = found.job.task_groups
    assert {item.name: item.text for item in group.requested} == {
        "Processors": "20", "Memory": "4", "Resource": "10", "Duration": "3600",
    }  # fmt: skip
    assert not found.job.requested
    assert [each.code for each in found.findings] == ["I-REFERENCE"]
    text = translate(found.job, "sbatch", Settings(residual=False)).text
    assert sorted(text.splitlines()[1:-1]) == sorted(f"#SBATCH {line}" for line in (
        *lines[:4], "--gpus=1", "--time=01:00:00",
    ))  # fmt: skip


@pytest.mark.parametrize("more", ["--ntasks=4", "--nodes=2", "--ntasks-per-node=3"])
def test_an_array_whose_elements_have_several_tasks_stays_an_option(more):
    found = group_of("sbatch", "--array=0-9", more)
    assert not found.job.task_groups
    assert any("stays an option" in each.message for each in found.findings)
    assert "#SBATCH --array=0-9\n" in translate(found.job, "sbatch").text


@pytest.mark.parametrize("value", ["x", "1-", "5-1", "1-5:0", "0-999999", "1%0", "1%x", ""])
def test_what_is_no_array_is_kept_as_it_is_and_told(value):
    found = group_of("sbatch", f"--array={value}")
    assert not found.job.task_groups
    assert [each.code for each in found.findings] == ["W-UNKNOWN"]


@pytest.mark.parametrize("change", [
    ("<TaskCount>10", "<TaskCount>9"), (">0-9<", ">x<"), ("<TaskCount>10</TaskCount>", ""),
    ("<Processors>20", "<Processors>21"), ("</TaskGroup>", "</TaskGroup><TaskGroup/>"),
    ("</Job>", "<Requested><Memory>5</Memory></Requested></Job>"),
])  # fmt: skip
def test_a_group_that_is_no_array_any_more_is_a_group(change):
    found = group_of("sbatch", "--array=0-9", "--ntasks=1", "--cpus-per-task=2")
    text = dumps(found.job).replace(*change)
    assert text != dumps(found.job)
    job = loads(text)
    assert "--array" not in translate(job, "sbatch", Settings(residual=False)).text
    comes_back(job, "sbatch")


SPANS = st.lists(st.builds(
    lambda low, more, step: f"{low}-{low + more}:{step}" if step > 1 and more else f"{low}",
    st.integers(0, 99), st.integers(0, 9), st.integers(1, 3),
), min_size=1, max_size=4)  # fmt: skip


@given(SPANS, st.integers(0, 9))
def test_an_array_is_written_as_it_was_read(spans, at_once):
    text = ",".join(spans) + (f"%{at_once}" if at_once else "")
    found = parse(text)
    assert [*parse(str(found))] == [*found]
    assert parse(str(found)).at_once == at_once


def test_an_array_is_no_option_where_there_is_none():
    job = loads(wrapped('<Extension type="array" name="indices">1-4</Extension>'))
    text, losses = translate(job, "lsf", Settings(residual=False))
    assert text == "#!/bin/sh\nexec /bin/true\n"
    assert "/Job/Extension" in {loss.path for loss in losses}
