"""One value in Requested, outside of it, or both: one meaning for placements, matches and ads."""

import re

import pytest

from sssjob import loads
from sssjob.classads import writing
from sssjob.defaults import resolve
from sssjob.errors import Severity
from sssjob.expression.evaluate import Request
from sssjob.expression.offers import read
from sssjob.matching import match
from sssjob.model import Job
from sssjob.placement import placements
from sssjob.systems.condor import gpus, names
from sssjob.systems.condor.task_groups import to_ads
from sssjob.translate import Done, Settings, translate
from sssjob.verbs.match import requests

SAID = {
    "processors": "<Processors>2</Processors>", "nodes": "<NodeCount>2</NodeCount>",
    "memory": "<Memory>512</Memory>", "disk": "<Disk>512</Disk>", "swap": "<Swap>512</Swap>",
    "network": "<Network>5</Network>", "time": "<Duration>600</Duration>",
    "GPUs": '<Resource name="GPU">2</Resource>',
    "model": '<Resource name="GPU" type="a100">2</Resource>',
    "licences": '<Resource name="License" type="x">3</Resource>',
    "resource": '<Resource name="Cogs">2</Resource>', "node": "<Node>n1</Node>",
    "names": '<Node aggregation="Range" count="1">n[1-2]</Node>',
    "feature": "<Feature>ib</Feature>",
    "features": '<Feature aggregation="List">ib,ssd</Feature>',
    "architecture": "<Architecture>x86_64</Architecture>",
    "system": "<OperatingSystem>Linux</OperatingSystem>",
    "adapter": "<NetworkAdapter>myri</NetworkAdapter>",
}  # fmt: skip
REST = "<Requested><OperatingSystem op='NE'>BSD</OperatingSystem></Requested>"
GROUP, GROUPS = "<TaskGroup/>", "<TaskGroup/><TaskGroup/>"
BEGIN = '<Job awarenessPolicy="Warn"><Id>1</Id><Executable>/bin/date</Executable>'
PLACES = {
    "job": f"{BEGIN}{{}}</Job>",
    "defaults": f"<JobGroup><Id>g</Id><JobDefaults>{{}}</JobDefaults>{BEGIN}</Job></JobGroup>",
    "job of group": f"{BEGIN}{{}}<TaskGroup>{REST}</TaskGroup></Job>",
    "group": f"{BEGIN}<TaskGroup>{{}}</TaskGroup></Job>",
    "group of asking job": f"{BEGIN}{REST}<TaskGroup>{{}}</TaskGroup></Job>",
    "group defaults": f"{BEGIN}{REST}<TaskGroupDefaults>{{}}</TaskGroupDefaults>{GROUP}</Job>",
    "job of groups": f"{BEGIN}{{}}{GROUPS}</Job>",
    "one of groups": f"{BEGIN}<TaskGroup>{{}}</TaskGroup>{GROUP}</Job>",
    "each group": f"{BEGIN}<TaskGroupDefaults>{{}}</TaskGroupDefaults>{GROUPS}</Job>",
}
WAYS = {"outside": "{0}", "both": "{0}<Requested>{0}</Requested>",
        "lines": "{0}\n<Requested>\n{0}</Requested>"}  # fmt: skip
OFFERS = """[
  {"id": "n1", "Node": "n1", "Processors": 8, "Memory": 4096, "Disk": 4096, "Swap": 4096,
   "Network": 100, "Duration": 9999, "Feature": ["ib", "ssd"], "Architecture": "x86_64",
   "OperatingSystem": "Linux", "NetworkAdapter": "myri", "Resource": [
     {"name": "GPU", "type": "a100", "value": 2},
     {"name": "License", "type": "x", "value": 9}, {"name": "Cogs", "value": 9}]},
  {"id": "n2", "Node": "n2", "Processors": 1, "Memory": 100, "Disk": 100, "Swap": 100,
   "Network": 1, "Duration": 99, "Feature": [], "Architecture": "ppc",
   "OperatingSystem": "AIX", "NetworkAdapter": "eth", "Resource": []},
  {"id": "n3", "Node": "n3", "Processors": 1, "Memory": 600, "Disk": 600, "Swap": 600,
   "Network": 9, "Duration": 999, "Feature": ["ib"], "Architecture": "x86_64",
   "OperatingSystem": "Linux", "NetworkAdapter": "myri", "Resource": []}]"""


def pairs(place, said, way):
    """The document with a value in Requested alone, and the same with it in another way."""
    inside = place.format(f"<Requested>{said}</Requested>")
    return loads(inside), loads(place.format(way.format(said)))


def placed(block, offers):
    return [
        [
            each.placed,
            [[(share.name, len(share.tasks)) for share in group.shares] for group in each.groups],
        ]
        for each in placements(block, offers)
    ]


def matched(block, offers):
    found = {}
    for asked in requests(block, "", lambda each: None):
        request = Request(asked.expression)
        found[asked.path] = [str(request.answer(each).verdict) for each in offers]
    return found


EVERY = list(read(OFFERS.encode()))
SETS = [*([each] for each in EVERY), EVERY]


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_placements_and_matches_do_not_ask_where_a_value_stands(said, place, way):
    inside, other = pairs(place, said, way)
    assert matched(inside, EVERY) == matched(other, EVERY)
    for offers in SETS:
        assert placed(inside, offers) == placed(other, offers)


# What RequestX attributes ask for, Requirements say again only of what stands in Requested.
NUMBERED = re.compile(r"TARGET\.(Cpus|Memory|Disk|GPUs|Cogs) >= \d+")


def ads(block):
    """The ads of the jobs, without clauses of Requirements that their RequestX say; and errors."""
    found = []
    for job in jobs(resolve(block).block):
        for made in to_ads(job):
            ad = dict(made.ad.items())
            ad.pop(names.TASK_GROUPS_OF, None)  # a digest of the whole document
            texts = {name: writing.expression(ad.pop(name)) for name in EXPRESSIONS & ad.keys()}
            required = texts.pop(names.REQUIREMENTS, "").split(" && ")
            required = sorted(each.strip("()") for each in required)
            clauses = [each for each in required if each and not NUMBERED.fullmatch(each)]
            told = {each.message for each in made.findings if each.severity is Severity.ERROR}
            found.append((ad, texts, clauses, told))
    return found


def jobs(block):
    return [block] if isinstance(block, Job) else list(block.blocks(Job))


EXPRESSIONS = {names.REQUIREMENTS, names.RANK, gpus.REQUIRE}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_ads_do_not_ask_where_a_value_stands(said, place, way):
    inside, other = pairs(place, said, way)
    assert ads(inside) == ads(other)


def told(inner):
    """What is told of the ads of a job, with its path."""
    block = loads(f"{BEGIN}{inner}</Job>")
    return [(each.message, each.path) for made in to_ads(block) for each in made.findings]


OF_JOB = "{} of a task group counts for nothing: its job says what it asks for"


@pytest.mark.parametrize("form", ["{}", "<Requested>{}</Requested>"], ids=["outside", "inside"])
@pytest.mark.parametrize("name", ["Memory", "Disk", "Swap"])
def test_an_amount_of_the_only_group_beside_its_job_is_told_wherever_it_stands(name, form):
    whole, own = (form.format(f"<{name}>{value}</{name}>") for value in (2048, 512))
    expected = (OF_JOB.format(name), f"/Job/TaskGroup[1]/{name}")
    assert expected in told(f"{whole}<TaskGroup>{own}</TaskGroup>")


def test_what_a_group_says_beside_its_request_is_told_once():
    aside = "<Architecture>ppc</Architecture><Swap>5</Swap>"
    request = "<Requested><Architecture>arm</Architecture><Swap>9</Swap></Requested>"
    found = told(f"<Memory>64</Memory><TaskGroup>{aside}{request}</TaskGroup>")
    for name in ("Architecture", "Swap"):
        assert len([each for each, _ in found if each.startswith(name)]) == 1


F = "<Requested><Feature>f</Feature></Requested>"
P2, M9 = "<Processors>2</Processors>", "<Memory>9</Memory>"
WHERE = {
    "all in the job": "{asked}{used}<TaskGroup/>",
    "the request in the group": "{used}<TaskGroup>{asked}</TaskGroup>",
    "the amount in the group": "{asked}<TaskGroup>{used}</TaskGroup>",
    "all in the group": "<TaskGroup>{asked}{used}</TaskGroup>",
}
OVER = {"delivered, without a State": "<Delivered><Memory>7</Memory></Delivered>",
        "completed": "<State>Completed</State>"}  # fmt: skip


# decision 1194
@pytest.mark.parametrize("used", [P2, M9], ids=["processors", "memory"])
@pytest.mark.parametrize("state", OVER.values(), ids=OVER)
@pytest.mark.parametrize("form", WHERE.values(), ids=WHERE)
def test_amounts_beside_a_request_of_a_job_or_its_only_group_are_those_that_it_used(
    form, state, used
):
    job = loads(f"{BEGIN}{state}{form.format(asked=F, used=used)}</Job>")
    [answer] = match(job, [{"Feature": "f", "Processors": 1}])
    assert str(answer.verdict) == "yes"
    for target in ("sbatch", "pbs", "lsf", "condor"):
        told = translate(job, target, Settings(residual=False, unstated="Warn")).losses
        name = used[1:].split(">")[0]
        assert [
            each.done
            for each in told
            if each.path.endswith(f"/{name}") and "Delivered" not in each.path
        ] == [Done.DROPPED]


@pytest.mark.parametrize("form", WHERE.values(), ids=WHERE)
def test_of_a_job_that_runs_they_are_asked_for(form):
    state = "<State>Running</State><Delivered><Memory>7</Memory></Delivered>"
    job = loads(f"{BEGIN}{state}{form.format(asked=F, used=P2)}</Job>")
    script = translate(job, "sbatch", Settings(residual=False, unstated="Warn")).text
    assert "--ntasks=2\n" in script
