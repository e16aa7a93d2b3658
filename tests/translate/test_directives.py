# ruff: noqa: E501 (a case is a line)
"""Which lines of a script are directives: those that the system takes for some, and no others."""

import itertools

import pytest
from translated import losses_of, wrapped

from sssjob.document import loads
from sssjob.document.canonical import canon
from sssjob.translate import Settings, Untranslatable, read, translate

SCRIPTS = ("sbatch", "pbs", "torque", "sge", "lsf")

# Slurm 22.05 and Grid Engine 8.1 were asked; the others by their manuals.
# fmt: off
TAKEN = [
    ("sbatch", "#SBATCH--job-name=x"), ("sbatch", "#SBATCH\t-J\tx"), ("sbatch", "\n# y\n\n#SBATCH -J x"),
    ("pbs", "#PBS-N x"), ("pbs", "  #PBS -N x"), ("torque", "\t#PBS -N x"), ("lsf", "#BSUB-J x"),
    ("sge", "#$-N x"), ("sge", "echo\n#$ -N x"), ("sge", "cat <<E\n#$ -N x\nE"), ("sge", "#$ -N y\necho\n#$ -N x"),
    ("lsf", "echo\n#BSUB -J x"), ("sge", "#$ -N x # y"), ("sge", "#$ -N 'x#y'"), ("sbatch", "#SBATCH -J x#y"),
]
LEFT = [
    ("sbatch", " #SBATCH -J x"), ("sbatch", "# SBATCH -J x"), ("sbatch", "##SBATCH -J x"), ("sbatch", ":\n#SBATCH -J x"),
    ("pbs", ":\n#PBS -N x"), ("torque", "# PBS -N x"), ("sge", " #$ -N x"), ("sge", "# $ -N x"), ("sge", "#$# -N x"),
    ("lsf", "#BSUBJ x"), ("lsf", " #BSUB -J x"),
]
# fmt: on


def name_of(target, lines):
    ((job, _, files),) = read(f"#!/bin/bash\n{lines}\n./a\n".encode(), target)
    return job.get("Name"), files["script"].decode()


@pytest.mark.parametrize(("target", "lines"), TAKEN)
def test_a_line_that_the_system_takes_is_a_directive(target, lines):
    assert name_of(target, lines)[0] == "x"


@pytest.mark.parametrize(("target", "lines"), LEFT)
def test_another_line_is_a_comment(target, lines):
    assert name_of(target, lines)[0] == ""


def test_directives_behind_the_first_command_stay_in_the_script():
    assert name_of("sge", "cat <<E\n#$ -N x\nE")[1] == "#!/bin/bash\ncat <<E\n#$ -N x\nE\n./a\n"


@pytest.mark.parametrize("line", ["#SBATCHX -J x", "#SBATCH x"])
def test_a_directive_without_an_option_is_an_error(line):
    ((_, findings, _),) = read(f"#!/bin/sh\n{line}\n./a\n".encode(), "sbatch")
    assert "E-TYPE" in [found.code for found in findings]


@pytest.mark.parametrize(
    "words", ['-J "a b', "-J 'a b", '-J a"', """-J "a' -P b""", '-J "a" -P "b']
)
@pytest.mark.parametrize(
    ("target", "prefix"),
    [("sbatch", "#SBATCH"), ("pbs", "#PBS"), ("torque", "#PBS"), ("lsf", "#BSUB")],
)
def test_quotes_that_are_not_closed_are_told_and_the_line_stays(target, prefix, words):
    text = f"#!/bin/sh\n{prefix} {words}\nexec /bin/true\n"
    ((job, findings, _),) = read(text.encode(), target)
    assert (findings[0].code, findings[0].line) == ("E-TYPE", 2)
    assert "words whose quotes are closed" in findings[0].message
    assert job.get("Name") == ""
    assert f"{prefix} {words}\n" in translate(job, target, Settings(residual=False)).text


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("lsf", '#BSUB -m ""'), ("sge", "#$ -l arch="), ("pbs", "#PBS -l gres="),
        ("pbs", "#PBS -l arch="), ("torque", "#PBS -l opsys="),
    ],
)  # fmt: skip
def test_an_option_with_an_empty_value_is_told_and_kept(target, line):
    ((job, findings, _),) = read(f"#!/bin/sh\n{line}\nexec /bin/true\n".encode(), target)
    assert findings
    assert [each for each in job.properties if each.name == "Extension"]


def test_a_byte_order_mark_is_told():
    ((job, findings, files),) = read(b"\xef\xbb\xbf#!/bin/sh\n#SBATCH -J x\n./a\n")
    assert (job.get("Name"), files["script"]) == ("x", b"#!/bin/sh\n./a\n")
    assert [found.code for found in findings] == ["E-TYPE"]


ALL = b"""#!/bin/bash
#SBATCH -N2 -n2
#PBS -l nodes=3 -N p
  #PBS -q indented
#$ -N evil -cwd
#BSUB -n 7 -x
echo hi
#$ -N late -ar 7
#BSUB -J late
#SBATCH -J none
#PBS -N none
"""


def strays(losses):
    """What is told of lines of the script."""
    return [loss for loss in losses if "is a directive there" in loss.reason]


@pytest.mark.parametrize(("first", "second"), [*itertools.permutations(SCRIPTS, 2)])
def test_a_line_that_would_be_a_directive_of_the_target_is_told(first, second):
    (found,) = read(ALL, first)
    text, losses = translate(found.job, second, Settings(files=found.files))
    told = strays(losses)
    assert bool(told) is ({first, second} != {"pbs", "torque"})
    assert not any(loss.met for loss in told)
    (again,) = read(text.encode(), second)
    assert (canon(again.job), again.files) == (canon(found.job), found.files)
    assert not [each for each in again.findings if each.code == "W-DISAGREE"]


@pytest.mark.parametrize("target", SCRIPTS)
def test_a_script_of_the_same_system_says_nothing_else(target):
    (found,) = read(ALL, target)
    text, losses = translate(found.job, target, Settings(files=found.files))
    assert not strays(losses)
    (again,) = read(text.encode(), target)
    assert (canon(again.job), again.files) == (canon(found.job), found.files)


def test_reject_refuses_a_line_that_would_be_a_directive():
    job = loads('<Job awarenessPolicy="Reject"><Id>1</Id><Executable>#s</Executable></Job>')
    files = {"s": b"#!/bin/sh\n#SBATCH --account=other\n./a\n"}
    with pytest.raises(Untranslatable, match="line 2 of the script"):
        translate(job, "sbatch", Settings(files=files))


def test_a_line_behind_ours_is_no_directive_of_slurm():
    inner = '<Environment><Variable name="A">1</Variable></Environment>'
    job = loads(f"<Job><Id>1</Id><Executable>#s</Executable>{inner}</Job>")
    files = {"s": b"#!/bin/sh\n#SBATCH -J x\n./a\n"}
    assert not strays(translate(job, "sbatch", Settings(files=files)).losses)
    assert strays(translate(job, "lsf", Settings(files={"s": b"./a\n#BSUB -J x\n"})).losses)


@pytest.mark.parametrize("name", ["OutputFile", "Queue", "Project"])
def test_grid_engine_gets_no_value_with_a_comment_in_it(name):
    assert [loss.path for loss in losses_of(f"<{name}>a#b</{name}>", "sge")] == [f"/Job/{name}"]


@pytest.mark.parametrize("target", ["pbs", "torque", "lsf", "sge"])
def test_no_directive_ends_with_what_continues_a_line(target):
    text = translate(loads(wrapped("<Queue>a\\</Queue><Project>p\\</Project>")), target).text
    assert not [line for line in text.splitlines() if line.endswith("\\")]


@pytest.mark.parametrize("target", SCRIPTS)
def test_a_value_that_no_quotes_can_hold_is_told(target):
    job = wrapped('<OutputFile>it\'s "it"</OutputFile>')
    losses = [loss for loss in translate(loads(job), target).losses if not loss.fact]
    assert [loss.path for loss in losses] == ([] if target == "sbatch" else ["/Job/OutputFile"])
