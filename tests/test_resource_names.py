"""A name means GPUs, and a model of them, for all who ask, or for none."""

import json
import re

import pytest

from sssjob import loads, resource_names
from sssjob.accounting.report import JobProperties, used
from sssjob.expression.evaluate import Request
from sssjob.expression.offers import read
from sssjob.fold import fold
from sssjob.placement import place
from sssjob.systems.condor.names import machine_resource
from sssjob.translate import translate

# Attributes of a Resource, and the model of GPUs that they mean; None where they mean none.
MEANT = [
    ({"name": "GPU"}, ""), ({"name": "gpu"}, ""), ({"name": "gpus"}, ""), ({"name": "GPUs"}, ""),
    ({"name": " Gpu "}, ""), ({"name": "ngpus"}, ""), ({"name": "gres/gpu"}, ""),
    ({"name": "gres:gpu"}, ""), ({"name": "GPU", "type": "a100"}, "a100"),
    ({"name": "gpu", "type": "A100"}, "A100"), ({"name": "gpus", "type": " a100 "}, "a100"),
    ({"name": "gres/gpu:a100"}, "a100"), ({"name": "gpu:A100"}, "A100"),
    ({"name": "gpu_memory"}, None), ({"name": "GPU cores"}, None), ({"name": "gres/mps"}, None),
    ({"name": "gpu", "type": "License"}, None), ({"name": "License", "type": "gpu"}, None),
    ({"type": "gpu"}, None), ({}, None),
]  # fmt: skip


def resource(attributes, number=2):
    said = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<Resource{said}>{number}</Resource>"


def requesting(attributes, number=2):
    inner = resource(attributes, number)
    return loads(
        f"<Job awarenessPolicy='Ignore'><Executable>/bin/true</Executable>"
        f"<Requested>{inner}</Requested></Job>"
    )


def offering(*resources):
    row = {"id": "n", "Processors": 9, "Resource": [{"value": 2, **each} for each in resources]}
    return [*read(json.dumps(row).encode())]


@pytest.mark.parametrize("attributes, model", MEANT)
def test_a_name_means_gpus_for_all_who_ask(attributes, model):
    is_gpu = model is not None
    assert resource_names.gpu_model(attributes) == model
    assert (machine_resource(attributes.get("name", "")) == "GPUs") == (
        is_gpu or attributes.get("name") == "gpu"
    )
    job = requesting(attributes)
    same = {"name": "GPU", "type": model} if model else {"name": "GPU"}
    assert bool(Request.of(job).answer(*offering(same))) == is_gpu
    assert place(job, offering(same)).placed == is_gpu
    reported = loads(
        f"<Job><Delivered><Duration>1</Duration>{resource(attributes)}</Delivered></Job>"
    )
    assert used(JobProperties(reported)).gpus == (2 if is_gpu else None)
    options = ["--gpus=" + (f"{model}:2" if model else "2")] if is_gpu else []
    script = str(translate(job, "slurm").text)
    assert [line.split()[1] for line in script.splitlines() if "--gpus" in line] == options


@pytest.mark.parametrize("attributes, model", MEANT)
def test_what_is_delivered_by_another_name_is_no_second_resource(attributes, model):
    same = {"name": "GPU", "type": model} if model else {"name": "GPU"}
    one, other = (
        loads(f"<Job><Id>1</Id><Delivered>{resource(each)}</Delivered></Job>")
        for each in (same, attributes)
    )
    assert len(list(fold(one, other).job.delivered)) == (2 if model is None else 1)


A100, V100, ANY = {"name": "gpu", "type": "A100"}, {"name": "gpu:v100"}, {"name": "gpu"}
# What is offered, two of each, what is asked, and whether that is there.
MODELS = [
    ((A100,), {"name": "GPU", "type": "a100"}, 2, True),
    ((A100,), ANY, 2, True),
    ((A100, V100), ANY, 4, True),
    ((A100, V100, ANY), ANY, 6, True),
    ((A100, V100), ANY, 5, False),
    ((A100, V100), A100, 3, False),
    ((V100,), A100, 1, False),
    ((ANY,), A100, 1, False),
    ((A100, A100), ANY, 1, False),
]


@pytest.mark.parametrize("offered, asked, number, is_there", MODELS)
def test_gpus_of_any_model_are_those_of_all_models(offered, asked, number, is_there):
    nodes, job = offering(*offered), requesting(asked, number)
    assert bool(Request.of(job).answer(*nodes)) == is_there
    assert place(job, nodes).placed == is_there


@pytest.mark.parametrize("each, placed", [((1, 1), True), ((2, 0), True), ((1, 2), False)])
def test_who_takes_gpus_of_a_model_leaves_fewer_to_those_who_take_any(each, placed):
    groups = "".join(
        f"<TaskGroup><Name>{name}</Name>"
        f"<Requested>{resource(asked, number)}</Requested></TaskGroup>"
        for name, asked, number in zip("ab", (A100, ANY), each, strict=True)
        if number
    )
    assert place(loads(f"<Job><Id>1</Id>{groups}</Job>"), offering(A100)).placed == placed


def test_gpus_of_a_model_are_some_of_those_of_any_for_match_and_place():
    inner = resource(ANY, 2) + resource(A100, 2)
    job = loads(f"<Job><Requested>{inner}</Requested></Job>")
    assert Request.of(job).answer(*offering(A100))
    assert place(job, offering(A100)).placed


LICENCES = [{"name": "essl", "type": "License"}, {"name": "License", "type": "essl"}]


def test_a_licence_is_one_resource_in_the_words_of_submission_and_of_accounting():
    asked, recorded = LICENCES
    assert resource_names.key(asked) == resource_names.key(recorded)
    assert resource_names.license_name({"name": "essl"}) is None
    assert resource_names.license_name({"name": "License"}) is None
    for attributes in LICENCES:
        for other in LICENCES:
            assert place(requesting(attributes), offering(other)).placed
            known = loads(f"<Job><Id>1</Id><Delivered>{resource(attributes)}</Delivered></Job>")
            record = loads(f"<Job><Id>1</Id><Delivered>{resource(other)}</Delivered></Job>")
            assert fold(known, record).changes == 0


@pytest.mark.parametrize("target", ["sbatch", "slurmrest", "pbs", "torque", "sge", "lsf", "condor"])
def test_a_licence_is_translated_alike_in_the_words_of_both(target):
    for attributes in LICENCES:
        text = str(translate(requesting(attributes), target).text)
        # What the form cannot say as it was written is kept in a comment of ours.
        assert re.search(r"essl\b", re.sub(r"# sssjob: .*?(?:\\n|\n)", "", text))


@pytest.mark.parametrize(
    "attributes, license_name",
    [
        ({"name": "essl", "type": "License"}, "essl"),
        ({"name": " essl ", "type": " License "}, "essl"),
        ({"name": "License", "type": "essl"}, "essl"),
        ({"name": "License", "type": "License"}, "License"),
        ({"name": "License"}, None),
        ({"name": "essl", "type": "floating"}, None),
        ({"type": "License"}, ""),
        ({}, None),
    ],
)
def test_a_licence_is_named_by_either_attribute(attributes, license_name):
    assert resource_names.license_name(attributes) == license_name
    assert resource_names.is_license(attributes) == (license_name is not None)


@pytest.mark.parametrize(
    "attributes, key",
    [
        ({"name": "gpus"}, (("name", "GPU"),)),
        ({"name": "gres/gpu:A100"}, (("name", "GPU"), ("type", "a100"))),
        ({"name": "essl", "type": "License"}, (("name", "License"), ("type", "essl"))),
        ({"name": "Tapes", "type": "LTO", "units": "x"}, (("name", "Tapes"), ("type", "LTO"))),
        ({"name": "Tapes"}, (("name", "Tapes"),)),
        ({"type": "gpu"}, (("type", "gpu"),)),
        ({}, ()),
    ],
)
def test_what_means_the_same_resource_has_the_same_key(attributes, key):
    assert resource_names.key(attributes) == key
