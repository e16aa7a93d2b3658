# ruff: noqa: E501 (a row is a line)
"""GPUs of a type in each target, both ways, and what has no word for a type."""

import pytest
from translated import comes_back, losses_of, requested, said_by_script, wrapped

from sssjob.document import loads
from sssjob.translate import Settings, read, translate

TYPED = requested('<NodeCount>2</NodeCount><Resource name="GPU" type="a100">4</Resource>')
LINES = {
    "sbatch": "#SBATCH --gpus=a100:4", "pbs": "#PBS -l select=2:ncpus=1:ngpus=2:accelerator_model=a100",
    "sge": "#$ -l gpu_type=a100", "lsf": "#BSUB -gpu num=2:gmodel=a100", "condor": 'require_gpus = regexp("(^|[^A-Za-z0-9])a100($|[^A-Za-z0-9])", DeviceName, "i")',
    "slurmrest": '"tres_per_job": "gres/gpu:a100=4"', "flux": '"a100"',
}  # fmt: skip


@pytest.mark.parametrize("target", LINES)
def test_gpus_of_a_type_are_asked_for(target):
    job = loads(wrapped(TYPED))
    assert LINES[target] in translate(job, target, Settings(residual=False)).text
    assert comes_back(job, target)
    assert {loss.done for loss in losses_of(TYPED, target) if "Resource" in loss.path} <= {
        "converted"
    }


@pytest.mark.parametrize("target", ["torque", "psij", "jsdl"])
def test_a_type_without_a_word_is_told(target):
    assert "/Job/Requested/Resource" in {
        loss.path for loss in losses_of(TYPED, target) if loss.done == "residual"
    }
    assert comes_back(loads(wrapped(TYPED)), target)


READ = [
    ("#SBATCH", "sbatch", ["--gres=gpu:a100:2"], 2), ("#PBS", "pbs", ["-l select=2:ncpus=1:ngpus=2:accelerator_model=a100"], 4),
    ("#$", "sge", ["-pe smp 2 -l gpu=2,gpu_type=a100"], 4), ("#BSUB", "lsf", ['-n 4 -R "span[ptile=2]" -gpu num=2:gmodel=a100'], 4),
]  # fmt: skip


@pytest.mark.parametrize(("prefix", "target", "lines", "number"), READ)
def test_gpus_of_a_type_are_read(prefix, target, lines, number):
    text, _ = said_by_script(prefix, lines, target)
    assert f'<Resource name="GPU" type="a100">{number}</Resource>' in text


@pytest.mark.parametrize(
    ("more", "kept", "gpus"),
    [
        ("mode=exclusive_process", "mode=exclusive_process", '<Resource name="GPU">'),
        ("gmodel=a100:mps=yes", "mps=yes", '<Resource name="GPU" type="a100">'),
        ("j_exclusive=yes", "j_exclusive=yes", '<Resource name="GPU">'),
    ],
)
def test_what_more_bsub_is_told_of_gpus_is_kept(more, kept, gpus):
    text, findings = said_by_script("#BSUB", [f"-gpu num=2:{more}"], "lsf")
    assert f"{gpus}2</Resource>" in text
    assert f'<Extension type="lsf" name="-gpu">{kept}</Extension>' in text
    assert [each.code for each in findings] == ["W-UNKNOWN"]


@pytest.mark.parametrize(
    "text", ["Capability >= 8.0", 'DeviceName == "x"', 'regexp("a.*", DeviceName, "i")']
)
def test_what_more_htcondor_is_told_of_gpus_is_kept(text):
    given = f"executable = /a\nrequest_gpus = 2\nrequire_gpus = {text}\nqueue\n"
    (found,) = read(given.encode())
    assert '<Resource name="GPU">2</Resource>' in str(translate(found.job, "sss").text)
    assert translate(found.job, "condor", Settings(residual=False)).text == given


@pytest.mark.parametrize("target", ["pbs", "sge", "lsf", "condor"])
def test_of_several_types_one_is_asked_for_and_the_others_are_told(target):
    inner = requested(
        '<Resource name="GPU" type="a">1</Resource><Resource name="GPU" type="b">2</Resource>'
    )
    (loss,) = [loss for loss in losses_of(inner, target) if loss.done == "residual"]
    assert (loss.value, loss.reason) == ("2", "GPUs of another type are asked for")


def test_a_request_of_slurmrestd_has_licences_and_gpus_of_several_types():
    inner = requested(
        '<Resource name="GPU" type="a">1</Resource><Resource name="GPU" type="b">2</Resource><Resource name="x" type="License">3</Resource>'
    )
    text = translate(loads(wrapped(inner)), "slurmrest", Settings(residual=False)).text
    assert '"tres_per_job": "gres/gpu:a=1,gres/gpu:b=2"' in text
    assert '"licenses": "x:3"' in text
    (found,) = read(text.encode())
    assert [item.text for item in found.job.requested if item.name == "Resource"] == ["1", "2", "3"]


# One machine of HTCondor, and several.
NODES = [
    ("<NodeCount>2</NodeCount>", "NodeCount", "2 machines of the parallel universe, of which each runs the program"),
    ("<Processors>8</Processors>", "Processors", "all of them on one machine"),
    ('<Node aggregation="Range">n[1-2]</Node>', "Node", "any of them"),
]  # fmt: skip


@pytest.mark.parametrize(("inner", "name", "reason"), NODES)
def test_what_htcondor_makes_of_several_nodes_is_told(inner, name, reason):
    assert (f"/Job/Requested/{name}", reason) in {
        (loss.path, loss.reason) for loss in losses_of(requested(inner), "condor")
    }


def test_no_machine_of_htcondor_is_asked_to_have_two_names():
    inner = requested("<Node>n1</Node><Node>n2</Node><Feature>ib</Feature>")
    text = translate(loads(wrapped(inner)), "condor", Settings(residual=False)).text
    assert "requirements = TARGET.Hasib =?= true\n" in text
    assert [loss.value for loss in losses_of(inner, "condor")] == ["n1", "n2"]
    assert comes_back(loads(wrapped(inner)), "condor")


def test_tasks_on_each_node_count_the_machines_of_htcondor():
    inner = '<TaskCount>4</TaskCount><TaskDistribution type="TasksPerNode">2</TaskDistribution>'
    text = translate(loads(wrapped(inner)), "condor", Settings(residual=False)).text
    assert "machine_count = 2\nrequest_cpus = 2\n" in text


def test_resources_that_a_site_declares_are_asked_of_htcondor_by_their_names():
    inner = requested(
        '<Resource name="Cogs">4</Resource><Resource name="GPU" type="a100">1</Resource>'
        '<Resource name="x" type="License">3</Resource>'
    )
    job = loads(wrapped(inner))
    lines = translate(job, "condor", Settings(residual=False)).text.splitlines()
    assert {"request_Cogs = 4", "request_gpus = 1", "concurrency_limits = x:3"} <= {*lines}
    assert comes_back(job, "condor")
    (found,) = read(
        b"executable = /a\nRequest_cogs = 2\nuniverse = parallel\nmachine_count = 3\nqueue\n"
    )
    assert '<Resource name="cogs">6</Resource>' in str(translate(found.job, "sss").text)
    told = [loss for loss in losses_of(inner, "condor") if "DeviceName" in loss.reason]
    assert [loss.value for loss in told] == ["1"]


@pytest.mark.parametrize("resource", ["name='two words'", "name='Cogs' type='big'", "name='cpus'"])
def test_a_resource_that_htcondor_could_not_name_is_told(resource):
    (loss,) = losses_of(requested(f"<Resource {resource}>4</Resource>"), "condor")
    assert (loss.done, loss.reason) == ("residual", "it is neither a GPU nor a License")


def test_a_request_that_is_no_number_is_kept():
    given = "executable = /a\nrequest_cogs = Cpus * 2\nqueue\n"
    (found,) = read(given.encode())
    assert translate(found.job, "condor", Settings(residual=False)).text == given


# decision 668
TWICE = ["sbatch", "pbs", "torque", "sge", "lsf", "condor", "flux", "slurmrest"]


@pytest.mark.parametrize("target", TWICE)
@pytest.mark.parametrize("name", ["GPU", "gpus"])
def test_one_condition_that_is_said_twice_is_one(target, name):
    once = requested("<Resource name='GPU'>1</Resource>")
    twice = requested(f"<Resource name='GPU'>1</Resource><Resource name='{name}'>1</Resource>")
    other = requested(f"<Resource name='GPU'>1</Resource><Resource name='{name}'>2</Resource>")
    plain = Settings(residual=False)
    texts = {translate(loads(wrapped(each)), target, plain).text for each in (once, twice, other)}
    assert len(texts) == 1
    assert not [loss for loss in losses_of(twice, target) if loss.done == "residual"]
    told = [loss.reason for loss in losses_of(other, target) if loss.done == "residual"]
    assert told == ["1 of them are asked for, too"]


# decision 898
RANGES = {
    (("GE", 5),): (5, False),
    (("LE", 5),): (5, False),
    (("GT", 5),): (6, False),
    (("LT", 5),): (4, False),
    (("GE", 2), ("LE", 4)): (4, True),
    (("GT", "1.5"), ("LT", 4)): (3, True),
    (("GE", 4), ("LE", 4)): (4, False),
    (("LE", 4), ("EQ", 3)): (3, False),
    (("GE", "1.2"), ("LE", "1.5")): (2, True),
    (("LT", 1),): (0, False),
    (("GE", -1),): (0, False),
}
RESOURCES = {
    "name='GPU'": (*TWICE, "torque", "psij"),
    "name='GPU' type='a100'": ("sbatch", "slurmrest", "pbs", "sge", "lsf", "condor", "flux"),
    "name='License' type='m'": ("sbatch", "slurmrest", "pbs", "torque", "sge", "lsf", "condor"),
    "name='RequestFpga'": ("condor",),
}
_ENDS = [
    (target, signs, ends)
    for signs, targets in RESOURCES.items()
    for target in dict.fromkeys(targets)
    for ends in RANGES
]


@pytest.mark.parametrize("target, signs, ends", _ENDS)
def test_of_a_range_of_a_resource_the_number_that_stands_for_it_is_asked_for(target, signs, ends):
    number, is_told = RANGES[ends]
    said = "".join(f"<Resource {signs} op='{op}'>{value}</Resource>" for op, value in ends)
    alone = f"<Resource {signs}>{number}</Resource>"
    plain = Settings(residual=False)
    given = requested(f"<NodeCount>1</NodeCount>{said}")
    text = translate(loads(wrapped(given)), target, plain).text
    wanted = requested(f"<NodeCount>1</NodeCount>{alone if number else ''}")
    assert text == translate(loads(wrapped(wanted)), target, plain).text
    told = [loss for loss in losses_of(given, target) if "Resource" in loss.path]
    if number:
        assert all(loss.met for loss in told)
        assert any("the most of a range" in loss.reason for loss in told) == is_told
    else:
        assert [loss.reason for loss in told] == ["it is no number above 0"]


@pytest.mark.parametrize("op", ["NE", "Match"])
@pytest.mark.parametrize("name", ["Processors", "Memory", "Duration", "Resource"])
@pytest.mark.parametrize("target", [*TWICE, "jsdl", "psij"])
def test_what_bounds_no_amount_is_told(target, name, op):
    which = " name='GPU'" if name == "Resource" else ""
    given = requested(f"<{name}{which} op='{op}'>4</{name}>")
    told = [loss.reason for loss in losses_of(given, target) if name in loss.path]
    assert told == [f"compared by {op}"]


@pytest.mark.parametrize("target", TWICE)
def test_a_range_of_a_resource_that_has_no_place_is_told_at_both_ends(target):
    ends = "<Resource name='x y' op='GE'>2</Resource><Resource name='x y' op='LE'>4</Resource>"
    told = [loss for loss in losses_of(requested(ends), target) if "Resource" in loss.path]
    assert [loss.done for loss in told] == ["residual", "residual"]
