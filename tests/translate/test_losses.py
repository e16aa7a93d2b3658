# ruff: noqa: E501 (a row is a line)
"""What is a loss, and what is none."""

import pytest
from translated import losses_of, wrapped

from sssjob.document import loads
from sssjob.translate import translate


# Attributes of a request mean nothing of what a job says itself.
@pytest.mark.parametrize("target", ["sbatch", "pbs", "torque", "sge", "lsf", "condor", "slurmrest", "psij", "jsdl", "flux"])  # fmt: skip
@pytest.mark.parametrize(
    ("inner", "keys"),
    [
        ('<Dependency op="NE" conj="Or" group="1" x="y">7</Dependency>', "op conj group x"),
        ('<Queue op="NE">q</Queue>', "op"),
        ('<NodeCount op="LE">4</NodeCount>', "op"),
        ('<TaskCount preference="1">4</TaskCount>', "preference"),
    ],
)
def test_an_attribute_that_nobody_takes_is_told(target, inner, keys):
    losses = losses_of(inner, target)
    whole = [loss for loss in losses if "@" not in loss.path and loss.done != "converted"]
    told = [loss.path.rpartition("@")[2] for loss in losses if "@" in loss.path]
    assert whole or told == keys.split()


@pytest.mark.parametrize("designator", ["GlobalId", "TaskId"])
def test_a_job_that_is_named_by_what_bsub_does_not_know_is_told(designator):
    inner = f'<Dependency designator="{designator}">7</Dependency>'
    assert [loss.path for loss in losses_of(inner, "lsf")] == ["/Job/Dependency"]


@pytest.mark.parametrize("kind", ["sbatch", "condor"])
def test_the_order_of_options_asks_for_nothing(kind):
    inner = f'<Extension type="{kind}" name="order">--odd, --mem</Extension>'
    job = loads(wrapped(inner).replace("<Job>", '<Job awarenessPolicy="Reject">'))
    for target in ("sge", "sbatch", "jsdl"):
        assert [loss.path for loss in translate(job, target).losses] == ["/Job/Id"]
    other = inner.replace(kind, "mine")
    assert [loss.path for loss in losses_of(other, "sge")] == ["/Job/Extension"]
