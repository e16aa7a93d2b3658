"""Arrays as options, as task groups and as jobs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from translated import comes_back, script, wrapped

from sssjob.array_indices import parse
from sssjob.document import dumps, loads
from sssjob.translate import Settings, read, translate
from sssjob.translate.losses import Done

PREFIXES = {"sbatch": "#SBATCH", "sge": "#$", "pbs": "#PBS", "torque": "#PBS", "lsf": "#BSUB"}
OPTIONS = {
    "sbatch": "--array={}", "sge": "-t {}", "pbs": "-J {}", "torque": "-t {}",
    "lsf": "-J array[{}]",
}  # fmt: skip


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


@pytest.mark.parametrize("value", ["x", "1-", "5-1", "1-5:0", "0-999999", "1%x", ""])
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
    text, losses = translate(job, "flux", Settings(residual=False))
    assert "1-4" not in text
    assert "/Job/Extension" in {loss.path for loss in losses}


SEVERAL = ["--nodes=2", "--ntasks-per-node=4"]  # of which a task group has no tasks


@pytest.mark.parametrize(("target", "lines"), [
    ("sbatch", ["--array=1-4%2"]), ("pbs", ["-J 1-4%2"]), ("torque", ["-t 1-4%2"]),
    ("sge", ["-t 1-4", "-tc 2"]), ("lsf", ["-J array[1-4]%2"]),
])  # fmt: skip
@pytest.mark.parametrize(("source", "options"), [
    ("sbatch", ["--array=1-4%2", *SEVERAL]), ("pbs", ["-J 1-4%2", "-l select=2:mpiprocs=4"]),
    ("torque", ["-t 1-4%2", "-l nodes=2:ppn=4"]), ("sge", ["-t 1-4", "-tc 2", "-pe mpi 8"]),
    ("lsf", ["-J [1-4]%2", "-n 8"]),
])  # fmt: skip
def test_an_array_that_is_kept_is_an_array_of_each_system_that_has_them(
    source, options, target, lines
):
    (found,) = read(script(PREFIXES[source], options), source)
    text, losses = translate(found.job, target, Settings(residual=False))
    written = text.splitlines()
    if source == target == "lsf":
        lines = ["-J [1-4]%2"]
    assert {f"{PREFIXES[target]} {line}" for line in lines} <= set(written)
    told = [loss.reason for loss in losses if "the index of an element is in" in loss.reason]
    assert len(told) == (source != target)
    comes_back(found.job, target)


def test_an_array_of_slurmrestd_is_one_of_sbatch():
    (found,) = read(script("#SBATCH", ["--array=1,3-9:2%2", *SEVERAL]), "sbatch")
    form = translate(found.job, "slurmrest").text
    assert json.loads(form)["job"]["array"] == "1,3-9:2%2"
    (back,) = read(form.encode(), "slurmrest", Settings(residual=False))
    assert "#SBATCH --array=1,3-9:2%2\n" in translate(back.job, "sbatch").text
    comes_back(found.job, "slurmrest")


@pytest.mark.parametrize(("value", "target", "reason"), [
    ("1,5", "pbs", "one span of indices"), ("0-4", "lsf", "indices from 1 on"),
    ("x", "torque", "it is no array"),
])  # fmt: skip
def test_an_array_that_a_system_cannot_say_is_told(value, target, reason):
    (found,) = read(script("#SBATCH", [f"--array={value}", *SEVERAL]), "sbatch")
    losses = translate(found.job, target).losses
    (told,) = (loss for loss in losses if loss.path == "/Job/Extension")
    assert (reason in told.reason, told.done) == (True, Done.RESIDUAL)
    comes_back(found.job, target)


def test_who_changes_the_array_of_a_script_is_not_overruled_by_what_was_kept():
    (found,) = read(script("#SBATCH", ["--array=1-4", *SEVERAL]), "sbatch")
    text = translate(found.job, "pbs").text.replace("-J 1-4", "-J 1-8")
    (changed,) = read(text.encode(), "pbs")
    assert "#SBATCH --array=1-8\n" in translate(changed.job, "sbatch").text


def test_the_name_of_an_array_of_lsf_is_a_name():
    (found,) = read(script("#BSUB", ["-J wrf[1-4]%2"]), "lsf")
    assert found.job.get("Name") == "wrf"
    assert "#BSUB -J wrf[1-4]%2\n" in translate(found.job, "lsf", Settings(residual=False)).text
    elements = [*read(script("#BSUB", ["-J wrf[1-4]%2"]), "lsf", Settings(arrays="jobs"))]
    assert [each.job.get("Name") for each in elements] == ["wrf"] * 4


NO_LIMIT = [
    ("--array=1-9%0", "pbs", "-J 1-9"), ("--array=1-9%0", "sge", "-t 1-9"),
    ("--array=1-9%0", "torque", "-t 1-9"), ("--array=1-9%0", "sbatch", "--array=1-9%0"),
]  # fmt: skip
MANY = [
    ("--array=1-1000000000", "pbs", "-J 1-1000000000"),
    ("--array=1-1000000000:7%5", "pbs", "-J 1-1000000000:7%5"),
    ("--array=1-1000000000", "torque", "-t 1-1000000000"),
]
ANEW = [("keep", *case) for case in NO_LIMIT]
ANEW += [(arrays, *case) for arrays in ("keep", "task-group", "jobs") for case in MANY]


@pytest.mark.parametrize(("arrays", "source", "target", "line"), ANEW)
def test_an_array_is_spelled_anew_whatever_its_size(arrays, source, target, line):
    (found,) = read(script("#SBATCH", [source, *SEVERAL]), "sbatch", Settings(arrays=arrays))
    assert ["an array of jobs" in each.message for each in found.findings] == [True]
    text = translate(found.job, target, Settings(residual=False)).text
    assert f"{PREFIXES[target]} {line}\n" in text
    comes_back(found.job, target)


def test_an_array_is_not_listed_for_a_system_without_steps_where_it_has_too_many():
    (found,) = read(script("#SBATCH", ["--array=1-1000000000:7", *SEVERAL]), "sbatch")
    losses = translate(found.job, "torque").losses
    assert any("at most 100000 indices" in loss.reason for loss in losses)
