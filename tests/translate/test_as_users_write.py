"""Scripts as people write them mean the same when they are written again."""

import pytest
from translated import comes_back, script

from sssjob.translate import Settings, read, translate

SYSTEMS = [("pbs", "#PBS"), ("torque", "#PBS"), ("sge", "#$")]


def again(source, options, target, first="#!/bin/sh"):
    """Directives of a script that is read and written, and the reasons of what is told."""
    (found,) = read(f"{first}\n{options}\nrun\n".encode(), source)
    done = translate(found.job, to=target, settings=Settings(files=found.files, residual=False))
    lines = [line for line in done.text.splitlines() if line.startswith(("#PBS", "#$", "#SBATCH"))]
    return lines, [loss.reason for loss in done.losses]


@pytest.mark.parametrize(("system", "mark"), SYSTEMS)
@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("2701151200", "202701151200.00"),  # [[CC]YY]MMDDhhmm[.SS]
        ("2701151200.30", "202701151200.30"),
        ("202701151200", "202701151200.00"),
        ("01151200", "01151200"),  # the year is that in which it is submitted
        ("01151200.30", "01151200.30"),
    ],
)
def test_how_many_digits_a_time_has_tells_what_they_are(system, mark, value, written):
    lines, _ = again(system, f"{mark} -a {value}", system)
    assert f"{mark} -a {written}" in lines


@pytest.mark.parametrize(("system", "mark"), SYSTEMS)
@pytest.mark.parametrize("to", ["amy@x.org,bob@x.org", "amy", "amy,bob@x.org"])
def test_mail_goes_to_whom_the_script_names(system, mark, to):
    lines, _ = again(system, f"{mark} -m be -M {to}", system)
    assert f"{mark} -M {to}" in lines


def test_several_addresses_of_mail_are_those_of_another_system_too():
    lines, told = again("pbs", "#PBS -m e -M amy@x.org,bob@x.org", "sbatch")
    assert "#SBATCH --mail-user=amy@x.org,bob@x.org" in lines
    assert not told


@pytest.mark.parametrize(("system", "mark"), SYSTEMS)
@pytest.mark.parametrize("first", ["#!/bin/sh", "#!/bin/bash -l"])
def test_a_shell_that_is_not_that_of_the_first_line_stays_the_shell(system, mark, first):
    lines, told = again(system, f"{mark} -S /bin/bash", system, first)
    assert [line for line in lines if " -S " in line] == [f"{mark} -S /bin/bash"]
    assert not told
    _, told = again(system, f"{mark} -S /bin/bash", "sbatch", first)
    assert told == ["there is no option for it"]


@pytest.mark.parametrize("option", ["--mem=", "--export=", "--dependency=", "--comment="])
def test_an_empty_value_of_slurm_is_none_that_is_missing(option):
    (found,) = read(script("#SBATCH", ["--job-name=a", option, "--requeue"]), "sbatch")
    text = translate(found.job, "sbatch", Settings(residual=False)).text
    assert f"#SBATCH {option}\n" in text
    comes_back(found.job, "sbatch")
