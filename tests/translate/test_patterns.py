# ruff: noqa: E501 (a row is a line)
"""File names with what only the running job knows: the words of each system, both ways."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from translated import comes_back, losses_of, said_by_script, script, wrapped

from sssjob import loads
from sssjob.file_names import NAMES, joined
from sssjob.translate import Settings, read, translate

ARRAYS = {"sbatch": "--array=1-3", "pbs": "-J 1-3", "torque": "-t 1-3", "sge": "-t 1-3", "lsf": '-J "a[1-3]"'}  # fmt: skip
PREFIX = {"sbatch": "#SBATCH", "pbs": "#PBS", "torque": "#PBS", "sge": "#$", "lsf": "#BSUB"}
OUTPUT = {"sbatch": "--output=", "pbs": "-o ", "torque": "-o ", "sge": "-o ", "lsf": "-oo "}
KINDS = {"slurmrest": "job/array", "condor": "queue"}
# A name of a job object, and what it is for a job alone and in an array; "" where there are no words.
ROWS = [
    ("sbatch", "{{Id}}", "%j", "%j"), ("sbatch", "{{ArrayId}}-{{ArrayIndex}}", "%A-0", "%A-%a"),
    ("sbatch", "{{ArrayIndex:4}}", "0000", "%4a"), ("sbatch", "{{Name}}.{{User}}.{{Node}}", "%x.%u.%N", "%x.%u.%N"),
    ("sbatch", "100%j", "100%%j", "100%%j"), ("sbatch", "a\\b", "", ""),
    ("pbs", "{{Id}}", "", ""), ("pbs", "{{ArrayIndex}}", "0", "^array_index^"), ("pbs", "a^array_index^", "", ""), ("pbs", "a%j", "a%j", "a%j"),
    ("pbs", "{{Name}}.o", "", ""), ("pbs", "$PBS_JOBID", "", ""),
    ("torque", "{{Name}}_{{Id}}", "${PBS_JOBNAME}_${PBS_JOBID}", "${PBS_JOBNAME}_${PBS_JOBID}"), ("torque", "{{ArrayIndex}}", "0", "${PBS_ARRAYID}"),
    ("sge", "{{Id}}", "$JOB_ID", "$JOB_ID.$TASK_ID"), ("sge", "{{ArrayIndex}}", "$TASK_ID", "$TASK_ID"), ("sge", "{{ArrayId}}.{{User}}", "$JOB_ID.$USER", "$JOB_ID.$USER"),
    ("sge", "{{Name}}-{{Node}}", "$JOB_NAME-$HOSTNAME", "$JOB_NAME-$HOSTNAME"), ("sge", "$HOME", "", ""), ("sge", "a,b", "", ""), ("sge", "h:a", "", ""),
    ("lsf", "{{Id}}", "%J", "%J[%I]"), ("lsf", "{{ArrayId}}.{{ArrayIndex}}", "%J.%I", "%J.%I"), ("lsf", "%I", "", ""), ("lsf", "%j", "%j", "%j"),
    ("lsf", "{{Node}}", "", ""),
    ("condor", "{{Id}}", "$(Cluster).$(Process)", "$(Cluster).$(Process)"), ("condor", "{{ArrayId}}_{{ArrayIndex}}", "$(Cluster)_$(Process)", "$(Cluster)_$(Process)"),
    ("condor", "$(Cluster)", "$(DOLLAR)(Cluster)", "$(DOLLAR)(Cluster)"), ("condor", "{{Node}}", "", ""),
    ("slurmrest", "{{Id}}-{{ArrayIndex}}", "%j-0", "%j-%a"), ("slurmrest", "%A", "%%A", "%%A"),
    ("flux", "{{Id}}.{{Name}}.{{Node}}", "{{id}}.{{name}}.{{node.name}}", None), ("flux", "{{id}}", "", None), ("flux", "{{ArrayId}}", "{{id}}", None),
    ("psij", "{{Id}}", "", None), ("psij", "%j", "%j", None), ("jsdl", "{{Id}}", "", None), ("jsdl", "%j", "%j", None),
]  # fmt: skip


def named(target, job):
    """The name of the output in what is written."""
    text = translate(job, target, Settings(residual=False)).text
    if target == "slurmrest":
        return json.loads(text)["job"].get("standard_output", "")
    if target == "psij":
        return json.loads(text).get("stdout_path", "")
    if target == "flux":
        system = json.loads(text)["attributes"]["system"]
        return (
            system.get("shell", {})
            .get("options", {})
            .get("output", {})
            .get("stdout", {})
            .get("path", "")
        )
    signs = {"condor": "output = ", "jsdl": "<posix:Output>"}
    sign = signs.get(target) or f"{PREFIX[target]} {OUTPUT[target]}"
    found = [line.strip() for line in text.splitlines() if line.strip().startswith(sign)]
    return found[0].removeprefix(sign).removesuffix("</posix:Output>") if found else ""


def job_of(target, name, among):
    kind = {"slurmrest": "slurmrestd"}.get(target, target)
    option, _, value = ARRAYS.get(target, "").replace('"', "").replace("=", " ").partition(" ")
    option, value = (
        (KINDS[target], '"1-3"' if target == "slurmrest" else "3")
        if target in KINDS
        else (option, value)
    )
    array = f'<Extension type="{kind}" name="{option}">{value}</Extension>' if among else ""
    return loads(wrapped(f"<OutputFile>{name}</OutputFile>{array}"))


CASES = [
    (target, name, among, expected)
    for target, name, *both in ROWS
    for among, expected in enumerate(both)
    if expected is not None
]


@pytest.mark.parametrize(("target", "name", "among", "expected"), CASES)
def test_a_name_of_a_job_object_is_in_the_words_of_the_system(target, name, among, expected):
    job = job_of(target, name, among)
    assert named(target, job) == expected
    assert comes_back(job, target)
    if not expected:  # and it is told
        assert [loss.path for loss in translate(job, target).losses if "Output" in loss.path] == [
            "/Job/OutputFile"
        ]


# A name as users of a system write it, and the same in a job object.
READ = [
    ("sbatch", "slurm-%A_%a.out", 1, "slurm-{{ArrayId}}_{{ArrayIndex}}.out"), ("sbatch", "%x-%j.o", 0, "{{Name}}-{{Id}}.o"),
    ("sbatch", "%03j", 0, "{{Id:3}}"), ("sbatch", "100%%", 0, "100%"), ("sbatch", "\\\\%j", 0, "%j"), ("sbatch", "%A", 0, "{{ArrayId}}"),
    ("sbatch", "{{Id}}", 0, "{{{{}}Id}}"),
    ("pbs", "o.^array_index^", 1, "o.{{ArrayIndex}}"), ("torque", "o.$PBS_JOBID", 0, "o.{{Id}}"), ("torque", "o.${PBS_ARRAYID}", 1, "o.{{ArrayIndex}}"),
    ("sge", "$JOB_NAME.$JOB_ID", 0, "{{Name}}.{{Id}}"), ("sge", "$JOB_ID.$TASK_ID", 1, "{{Id}}"), ("sge", "$JOB_ID-$TASK_ID", 1, "{{ArrayId}}-{{ArrayIndex}}"),
    ("lsf", "%J.%I", 1, "{{ArrayId}}.{{ArrayIndex}}"), ("lsf", "%J", 0, "{{Id}}"), ("lsf", "%j", 0, "%j"),
]  # fmt: skip


@pytest.mark.parametrize(("target", "name", "among", "expected"), READ)
def test_a_name_of_a_script_is_read(target, name, among, expected):
    lines = [ARRAYS[target]] * among + [f"{OUTPUT[target]}{name}"]
    text, _ = said_by_script(PREFIX[target], lines, target)
    assert f"<OutputFile>{expected}</OutputFile>" in text


# What no job object says, or nothing there.
KEPT = [
    ("sbatch", "%t"), ("sbatch", "%J"), ("sbatch", "%s"), ("sbatch", "%a"), ("sbatch", "%12a"), ("sbatch", "%"), ("pbs", "^array_index^"),
    ("pbs", "$PBS_JOBID"), ("torque", "$PBS_O_WORKDIR/a"), ("sge", "$JOB_ID.$TASK_ID"), ("sge", "$HOME/a"), ("sge", "host:/a"),
]  # fmt: skip


@pytest.mark.parametrize(("target", "name"), KEPT)
def test_a_name_with_another_word_is_kept_and_told(target, name):
    lines = [f"{OUTPUT[target]}{name}"]
    text, findings = said_by_script(PREFIX[target], lines, target)
    assert "OutputFile" not in text
    assert [each.code for each in findings] == ["W-UNKNOWN"]
    (found,) = read(script(PREFIX[target], lines), target)
    assert lines[0] in translate(found.job, target, Settings(residual=False)).text


@pytest.mark.parametrize("name", ["$(Cluster).$(Process)", "$(clusterid).$(procid)"])
def test_a_name_of_htcondor_is_read_in_any_case(name):
    (found,) = read(f"executable = /a\noutput = o.{name}\nqueue\n".encode())
    assert found.job.get("OutputFile") == "o.{{Id}}"


def test_each_job_of_an_array_has_its_index_in_its_files():
    data = script("#SBATCH", ["--array=8-10:2", "--output=%A_%3a", "--error=e%a"])
    found = list(read(data, "sbatch", Settings(arrays="jobs")))
    names = [(each.job.get("OutputFile"), each.job.get("ErrorFile")) for each in found]
    assert names == [("{{ArrayId}}_008", "e8"), ("{{ArrayId}}_010", "e10")]


def test_an_array_of_another_system_has_its_words():
    data = script("#SBATCH", ["--array=1-9", "--output=%A_%a"])
    (found,) = read(data, "sbatch", Settings(arrays="task-group"))
    assert "#$ -o $JOB_ID_$TASK_ID\n" in translate(found.job, "sge").text
    assert "#PBS -J 1-9\n" in translate(found.job, "pbs").text
    assert "OutputFile" in {
        loss.path.rpartition("/")[2] for loss in translate(found.job, "pbs").losses
    }


def test_a_text_that_looks_like_a_word_is_told():
    (loss,) = losses_of("<OutputFile>o.%j</OutputFile>", "sbatch")
    assert (loss.done, loss.reason) == ("converted", "%j is text, and stands for nothing")


SCRIPTS = ("sbatch", "pbs", "torque", "sge", "lsf", "condor", "dagman", "slurmrest", "flux", "psij", "jsdl")  # fmt: skip
PIECES = st.sampled_from([
    *(f"{{{{{name}}}}}" for name in NAMES), "{{Id:3}}", "%", "%j", "%%", "%A", "$", "$JOB_ID", "$(Cluster)", "^array_index^", "%I",
    "{{", "}}", "{{id}}", "${PBS_JOBID}", "_", "a", "/", "\\", "[", "]", ":", ",",
])  # fmt: skip


@pytest.mark.parametrize("target", SCRIPTS)
@given(st.lists(PIECES, min_size=1, max_size=4))
def test_any_name_comes_back_and_means_the_same(target, pieces):
    name = joined(pieces)
    job = loads(wrapped(f"<OutputFile>{name}</OutputFile>"))
    assert comes_back(job, target)
