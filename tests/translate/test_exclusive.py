"""Nodes that a job has to itself: options of several systems for one thing that a job says."""

import pytest

from sssjob.errors import Severity
from sssjob.translate import Settings, read, translate

SCRIPTS = {
    "sbatch": "#!/bin/sh\n#SBATCH --exclusive\n#SBATCH --nodes=2\n./x\n",
    "pbs": "#!/bin/sh\n#PBS -S /bin/sh\n#PBS -l select=2:ncpus=4\n#PBS -l place=excl\n./x\n",
    "torque": "#!/bin/sh\n#PBS -S /bin/sh\n#PBS -n\n#PBS -l nodes=2:ppn=4\n./x\n",
    "lsf": "#!/bin/sh\n#BSUB -x\n#BSUB -n 2\n./x\n",
}
OPTIONS = {"sbatch": "--exclusive", "pbs": "-l place=excl", "torque": "-n", "lsf": "-x"}


def job_of(script, kind):
    (found,) = read(script.encode(), kind)
    assert not found.findings
    return found


def written(script, kind, to):
    found = job_of(script, kind)
    text, losses = translate(found.job, to, Settings(residual=False, files=found.files))
    assert not [loss for loss in losses if "Extension" in loss.path]
    return text.splitlines()


@pytest.mark.parametrize("to", SCRIPTS)
@pytest.mark.parametrize("kind", SCRIPTS)
def test_a_script_asks_for_nodes_of_its_own_in_the_words_of_each_system(kind, to):
    lines = written(SCRIPTS[kind], kind, to)
    assert any(line.split(" ", 1)[1] == OPTIONS[to] for line in lines[1:] if line[:1] == "#")


@pytest.mark.parametrize("kind", SCRIPTS)
def test_it_is_one_thing_that_a_job_says(kind):
    said = job_of(SCRIPTS[kind], kind).job.properties.get("Extension", type="nodes")
    assert (said.attributes["name"], said.text) == ("exclusive", "true")


# How chunks stand and which nodes they share are parts of one option, in a fixed order.
PLACES = {
    "excl": ("true", "", "excl"),
    "scatter:excl": ("true", "", "scatter:excl"),
    "pack:excl": ("true", "pack", "pack:excl"),
    "exclhost": ("host", "", "exclhost"),
    "excl:group=rack": ("true", "group=rack", "excl:group=rack"),
    "scatter:exclhost:group=rack": ("host", "group=rack", "scatter:exclhost:group=rack"),
    "pack:shared": ("", "pack:shared", "pack:shared"),
    "excl:exclhost": ("", "excl:exclhost", "excl:exclhost"),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_place_of_pbs_comes_back_as_it_stood(place):
    says, kept, back = PLACES[place]
    script = f"#!/bin/sh\n#PBS -l select=2:ncpus=4\n#PBS -l place={place}\n./x\n"
    (found,) = read(script.encode(), "pbs")
    extensions = {
        (item.attributes["type"], item.attributes["name"]): item.text
        for item in found.job.properties.all("Extension")
        if item.attributes["name"] != "order"
    }
    expected = {("nodes", "exclusive"): says, ("pbs", "-l place"): kept}
    assert extensions == {key: text for key, text in expected.items() if text}
    text, _ = translate(found.job, "pbs", Settings(residual=False, files=found.files))
    assert f"#PBS -l place={back}" in text.splitlines()


@pytest.mark.parametrize("option", ["--exclusive=user", "--exclusive=mcs"])
def test_an_option_that_means_something_else_is_kept_as_it_is(option):
    (found,) = read(f"#!/bin/sh\n#SBATCH {option}\n./x\n".encode(), "sbatch")
    assert [found.severity for found in found.findings] == [Severity.WARNING]
    assert found.job.properties.get("Extension", type="nodes") is None


@pytest.mark.parametrize("to", ["sge", "jsdl", "flux"])
def test_a_system_without_a_word_for_it_is_told(to):
    found = job_of(SCRIPTS["sbatch"], "sbatch")
    _, losses = translate(found.job, to, Settings(residual=False, files=found.files))
    assert any(loss.path == "/Job/Extension" for loss in losses)


@pytest.mark.parametrize("text", ["false", "user", ""])
def test_another_value_is_not_taken_for_it(text):
    from sssjob.document import loads

    inner = f'<Extension type="nodes" name="exclusive">{text}</Extension>'
    job = loads(f"<Job><Id>1</Id>{inner}<Executable>/bin/true</Executable></Job>")
    for to, option in OPTIONS.items():
        written, losses = translate(job, to, Settings(residual=False))
        assert option not in written
        assert any(loss.path == "/Job/Extension" for loss in losses)
