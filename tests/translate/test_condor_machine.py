"""The Machine of the standard beside a Node, of which HTCondor has one name (decision 1034)."""

import pytest

from sssjob.classads import long
from sssjob.document import loads
from sssjob.errors import InvalidValue
from sssjob.systems.condor.job_ad import to_ad
from sssjob.systems.condor.requirements import NODE_FIRST, ONE_NAME
from sssjob.translate import Settings, Untranslatable, translate

JOB = "<Job awarenessPolicy='{}'><Id>1</Id><Executable>/bin/date</Executable>{}</Job>"
SETTINGS = Settings(residual=False)
NODE = 'TARGET.Machine == "n1"'
# What is asked for, what is demanded, and why something of it is not.
ASKED = [
    ("<Requested><Machine>m</Machine></Requested>", 'TARGET.Machine == "m"', ""),
    ("<Machine>m</Machine>", 'TARGET.Machine == "m"', ""),
    ("<Machine>m</Machine><Requested><Node>n1</Node></Requested>", NODE, NODE_FIRST),
    ("<Machine>m</Machine><Node>n1</Node>", NODE, NODE_FIRST),
    ("<Requested><Machine>m</Machine><Node>n1</Node></Requested>", NODE, NODE_FIRST),
    ("<Requested><Machine>n1</Machine><Node>n1</Node></Requested>", NODE, ""),
    (
        "<Requested><Machine>m</Machine><Node op='Match'>n.*</Node></Requested>",
        "regexp(", NODE_FIRST,
    ),
    (
        "<Requested><Machine>m</Machine><Node op='NE'>n1</Node></Requested>",
        'TARGET.Machine == "m"', "",
    ),
    ("<Requested><Machine>m</Machine><Machine>p</Machine></Requested>", "", ONE_NAME),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "demanded", "why"), ASKED)
def test_a_machine_beside_a_node_is_told_and_not_demanded(asked, demanded, why):
    found = translate(loads(JOB.format("Warn", asked)), "condor", SETTINGS)
    assert demanded in found.text
    assert ('== "m"' in found.text) is (why == "" and ">m<" in asked)
    assert {loss.reason for loss in found.losses if not loss.fact} == ({why} if why else set())
    if why:
        with pytest.raises((Untranslatable, InvalidValue)):
            translate(loads(JOB.format("Reject", asked)), "condor", SETTINGS)


@pytest.mark.parametrize(("asked", "demanded", "why"), ASKED)
def test_an_ad_demands_what_a_submit_file_does(asked, demanded, why):
    made = to_ad(loads(JOB.format("Warn", asked)))
    required = next(
        (line for line in long.write(made.ad).splitlines() if "Requirements" in line), ""
    )
    assert (demanded in required) or not demanded
    assert ('== "m"' in required) is (why == "" and ">m<" in asked)
    assert [each.message for each in made.findings if why and why in each.message] or not why
