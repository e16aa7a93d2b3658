"""What stands outside of Requested and within it: one rule for scripts, ads and features."""

import re

import pytest

from sssjob.classads import writing
from sssjob.document import loads
from sssjob.expression import conjuncts
from sssjob.expression.offer import OTHERWISE
from sssjob.features.derive import derive
from sssjob.matching import requested
from sssjob.registry import all_targets
from sssjob.systems.condor.task_groups import to_ads
from sssjob.translate import Settings, translate

JOB = '<Job awarenessPolicy="Warn"><Id>1</Id><Executable>/bin/date</Executable>{}</Job>'
TARGETS = sorted(all_targets().keys() - {"sss"})
# What is said outside, and what is requested instead.
SAID = {
    "processors": ("<Processors>2</Processors>", "<Processors>4</Processors>"),
    "memory": ("<Memory>100</Memory>", '<Memory units="GB">1</Memory>'),
    "time": ("<Duration>60</Duration>", "<Duration>120</Duration>"),
    "nodes": ("<NodeCount>2</NodeCount>", "<NodeCount>3</NodeCount>"),
    "GPUs": ('<Resource name="GPU">1</Resource>', '<Resource name="GPU">2</Resource>'),
    "a node": ("<Node>n1</Node>", "<Node>n2</Node>"),
    "an architecture": ("<Architecture>arm</Architecture>", "<Architecture>x86_64</Architecture>"),
    "a system": ("<OperatingSystem>AIX</OperatingSystem>", "<OperatingSystem>L</OperatingSystem>"),
    "a queue": ("<Queue>a</Queue>", "<Queue>b</Queue>"),
    "a project": ("<Project>a</Project>", "<Project>b</Project>"),
    "a range": ("<Memory>100</Memory>", '<Memory op="GE">1</Memory><Memory op="LE">9</Memory>'),
    "alternatives": (
        "<Memory>100</Memory>", '<Processors>2</Processors><Memory conj="Or">9</Memory>'
    ),
}  # fmt: skip


# Which are asked of offers in Requested only.
OF_THE_JOB = [SAID[name][0] for name in ("a queue", "a project")]


def job(outside, within, place="{}<Requested>{}</Requested>"):
    return loads(JOB.format(place.format(outside, within)))


def written(asked, target):
    found = translate(asked, target, Settings(residual=False))
    return found.text, [each for each in found.losses if each.reason == OTHERWISE]


def ads(asked):
    return [str(each.ad) for each in to_ads(asked)]


PLACES = ("{}<Requested>{}</Requested>", "<Requested>{1}</Requested>{0}",
          "<TaskGroup>{}<Requested>{}</Requested></TaskGroup>")  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids=["before", "behind", "group"])
@pytest.mark.parametrize("outside, within", SAID.values(), ids=SAID)
def test_a_request_alone_asks_for_what_it_speaks_of(outside, within, place):
    both, alone = job(outside, within, place), job("", within, place)
    for target in TARGETS:
        text, told = written(both, target)
        assert text == written(alone, target)[0], target
        assert len(told) == 1, target
        assert "Requested" not in told[0].path
    assert ads(both) == ads(alone)
    assert derive(both).values == derive(alone).values
    assert requested(both).expression == requested(alone).expression


@pytest.mark.parametrize("outside, within", SAID.values(), ids=SAID)
def test_what_is_said_alike_is_not_told(outside, within):
    for target in TARGETS:
        text, told = written(job(outside, outside), target)
        assert (text, told) == (written(job("", outside), target)[0], [])


@pytest.mark.parametrize("first", SAID)
@pytest.mark.parametrize("then", SAID)
def test_what_a_request_does_not_speak_of_counts_wherever_it_stands(first, then):
    (outside, _), (_, within) = SAID[first], SAID[then]
    if outside.split(">")[0].split(" ")[0] in within:
        return
    beside, inside = job(outside, within), job("", within + outside)
    if "Or" in within:  # which binds less than And
        inside = job("", within.replace(">", ' group="1">', 1).replace(
            'conj="Or"', 'conj="Or" group="-1"') + outside)  # fmt: skip
    for target in TARGETS:
        assert written(beside, target)[0] == written(inside, target)[0], target
    if outside not in OF_THE_JOB:
        said = (map(str, conjuncts(requested(each).expression)) for each in (beside, inside))
        assert len({*map(frozenset, said)}) == 1


DESCRIBED = ["a node", "an architecture", "a system", "a feature"]


# What is said outside, and what an ad says of amounts that are asked for by a number.
ANYWHERE = {
    **{name: said for name, (said, _) in SAID.items() if name != "alternatives"},
    "swap": "<Swap>512</Swap>", "disk": "<Disk>512</Disk>", "network": "<Network>5</Network>",
    "model": '<Resource name="GPU" type="a100">2</Resource>', "other": "<Machine>m</Machine>",
    "built so": '<Memory context="Configured">512</Memory>', "user": "<User>u</User>",
    "group": "<Group>g</Group>", "adapter": "<NetworkAdapter>x</NetworkAdapter>",
    "feature": '<Feature aggregation="List">ib,ssd</Feature>', "quality":
    "<QualityOfService>h</QualityOfService>", "reservation": "<Reservation>R7</Reservation>",
    "range of nodes": '<Node aggregation="Range" count="1">n[1-2]</Node>',
}  # fmt: skip
AROUND = ("{}", "{}<Requested><Swap>64</Swap></Requested>", "<TaskGroup>{}</TaskGroup>")


# decision 1024
@pytest.mark.parametrize("around", AROUND, ids=["alone", "beside", "group"])
@pytest.mark.parametrize("said", ANYWHERE.values(), ids=ANYWHERE)
def test_a_value_is_asked_for_alike_outside_and_within(said, around):
    if "Swap" in said and "Swap" in around:
        return
    if "Requested" in around:
        within = around.replace("{}", "").replace("<Requested>", "<Requested>{}")
    else:
        within = around.replace("{}", "<Requested>{}</Requested>")
    outside, inside = (loads(JOB.format(each.format(said))) for each in (around, within))
    for target in TARGETS:
        assert written(outside, target) == written(inside, target), target
    assert derive(outside, starting=True).values == derive(inside, starting=True).values
    for one, other in zip(to_ads(outside), to_ads(inside), strict=True):
        assert without_clauses(one.ad) == without_clauses(other.ad)


NUMBERED = re.compile(r"TARGET\.(Cpus|Memory|Disk|GPUs) >= \d+")


def without_clauses(ad):
    """An ad without the clauses of Requirements that its RequestX attributes say, too."""
    found = dict(ad.items())
    said = found.pop("Requirements", None)
    parts = (writing.expression(said) if said else "").split(" && ")
    clauses = {part.strip("()") for part in parts}
    required = found.pop("RequireGPUs", None)
    models = required and writing.expression(required)
    return found, models, {part for part in clauses if part and not NUMBERED.fullmatch(part)}


@pytest.mark.parametrize("name", DESCRIBED)
def test_an_ad_demands_what_describes_nodes_wherever_it_stands(name):
    said = {**SAID, "a feature": ("<Feature>ib</Feature>", "")}[name][0]
    swap = "<Swap>1</Swap>"
    assert ads(job(said, swap)) == ads(job("", swap + said))
    [made] = to_ads(loads(JOB.format(said)))
    assert "Requirements" in made.ad
    assert not any("says nothing" in each.message for each in made.findings)
