"""What a job requests and its task groups request otherwise, for all that ask for it (1.10).

Of what each of several groups requests another, the job's own binds nobody; of what only some do,
it is asked for, or told.
"""

import pytest

from sssjob.defaults import OVERRIDDEN_BY_ALL, resolve
from sssjob.defaults.overriding import without_overridden
from sssjob.document import loads
from sssjob.expression import conjuncts
from sssjob.expression.evaluate import stated
from sssjob.matching import Asker, asked_of_groups
from sssjob.registry import all_targets
from sssjob.systems.condor.task_groups import to_ads
from sssjob.translate import Settings, translate
from sssjob.translate.engine import alternatives
from sssjob.translate.losses import REJECT

TARGETS = sorted(all_targets().keys() - {"sss"})
JOB = (
    '<Job awarenessPolicy="{policy}"><Id>1</Id><Executable>/bin/date</Executable>{own}'
    "<TaskGroup><TaskCount>1</TaskCount>{first}</TaskGroup>"
    "<TaskGroup><TaskCount>1</TaskCount>{second}</TaskGroup></Job>"
)
# What a job requests, as often as each of its groups requests another of it.
NAMES = {
    "Architecture": ("sparc", "ppc64", "aarch64"),
    "OperatingSystem": ("AIX", "SunOS", "FreeBSD"),
    "Node": ("zz1", "yy2", "xx3"),
    "NetworkAdapter": ("zzib0", "yyib1", "xxib2"),
}


def requested(name, text, **attributes):
    said = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f"<Requested><{name}{said}>{text}</{name}></Requested>"


def said(name, text):
    return f"<{name}>{text}</{name}>"


PLACES = {"in Requested": requested, "outside of it": said}
BY = pytest.mark.parametrize("name", NAMES)
WHERE = pytest.mark.parametrize("own", PLACES.values(), ids=PLACES)
TO = pytest.mark.parametrize("target", TARGETS)


def job(own="", first="", second="", policy="Warn"):
    return loads(JOB.format(policy=policy, own=own, first=first, second=second))


def losses(found, target):
    return translate(found, target, Settings(residual=False)).losses


@BY
@WHERE
@TO
def test_of_what_each_group_requests_another_nothing_is_written_of_the_job(name, own, target):
    mine, one, other = NAMES[name]
    found = job(own(name, mine), requested(name, one), requested(name, other))
    made = translate(found, target, Settings(residual=False))
    assert mine.lower() not in made.text.lower()
    (told,) = [each for each in made.losses if each.value == mine]
    assert told.reason == OVERRIDDEN_BY_ALL


@BY
@WHERE
@TO
def test_of_what_each_group_requests_another_nothing_refuses_the_job(name, own, target):
    mine, one, other = NAMES[name]
    found = job(own(name, mine), requested(name, one), requested(name, other))
    (told,) = [each for each in losses(found, target) if each.value == mine]
    assert not told._replace(policy=REJECT).refuses


@BY
@TO
def test_what_one_group_alone_requests_otherwise_is_of_the_other_one(name, target):
    mine, one, _ = NAMES[name]
    made = translate(
        job(requested(name, mine), requested(name, one)), target, Settings(residual=False)
    )
    told = {each.value: each.reason for each in made.losses}
    assert told.get(mine, "") != OVERRIDDEN_BY_ALL
    assert mine.lower() in made.text.lower() or mine in told
    assert one.lower() in made.text.lower() or one in told


@BY
@WHERE
def test_ads_and_offers_are_asked_for_the_same(name, own):
    mine, one, other = NAMES[name]
    found = job(own(name, mine), requested(name, one), requested(name, other))
    assert mine not in str([each.ad for each in to_ads(found)])
    told = [each for made in to_ads(found) for each in made.findings]
    assert [each.code for each in told if OVERRIDDEN_BY_ALL in each.message] == ["W-USELESS"]
    asked = asked_of_groups(Asker("/Job", resolve(found).block), _parts)
    assert mine not in str(asked)


def _parts(asker):
    return conjuncts(stated(asker.block, asker.whole))


def test_pbs_writes_chunks_with_a_reject_that_holds_for_all():
    found = job(
        requested("Architecture", "sparc"), requested("Architecture", "ppc64"),
        requested("Architecture", "aarch64"), policy="Reject",
    )  # fmt: skip
    text = translate(found, "pbs").text
    assert "select=1:ncpus=1:mpiprocs=1:arch=ppc64+1:ncpus=1:mpiprocs=1:arch=aarch64" in text


KEPT = {
    "a wish of a group takes the place of nothing":
        (requested("Architecture", "sparc"), requested("Architecture", "ppc", preference="-1")),
    "features of both are needed":
        (requested("Feature", "ib"), requested("Feature", "ssd")),
    "an amount is of all tasks":
        (requested("Memory", "5"), requested("Memory", "6")),
    "a queue is of the job": (requested("Queue", "q"), requested("Queue", "r")),
}  # fmt: skip


@pytest.mark.parametrize("case", KEPT.values(), ids=KEPT)
def test_what_a_job_says_beside_that_counts(case):
    own, theirs = case
    found = job(own, theirs, theirs)
    assert without_overridden(found) == (found, ())


def test_a_choice_counts_as_a_whole():
    either = (
        "<Requested><Architecture>sparc</Architecture>"
        '<OperatingSystem conj="Or">AIX</OperatingSystem></Requested>'
    )
    found = job(either, requested("Architecture", "a"), requested("Architecture", "b"))
    left, gone = without_overridden(found)
    assert [item.text for item in gone] == ["sparc", "AIX"]
    assert not left.requested


def test_what_stands_outside_does_not_count_in_the_place_of_what_is_overridden():
    own = said("Architecture", "mips") + requested("Architecture", "sparc")
    found = job(own, requested("Architecture", "a"), requested("Architecture", "b"))
    left, gone = without_overridden(found)
    assert [item.text for item in gone] == ["mips", "sparc"]
    assert "Architecture" not in left.properties.names()


def test_a_group_that_is_only_referred_to_may_request_nothing():
    own = requested("Architecture", "sparc") + "<TaskGroup>other</TaskGroup>"
    found = job(own, requested("Architecture", "a"), requested("Architecture", "b"))
    assert without_overridden(found) == (found, ())


def test_alternatives_that_differ_in_nothing_else_are_one():
    either = (
        "<Requested><Architecture>sparc</Architecture>"
        '<Architecture conj="Or">mips</Architecture></Requested>'
    )
    found = job(either, requested("Architecture", "a"), requested("Architecture", "b"))
    assert alternatives(found) == 1


# Groups in one ad, as their amounts are added up: each host has one of what they demand.
AMOUNT = "<Processors>1</Processors>"
APART = {
    "another one each": ("", "ppc64", "aarch64"),
    "another one, and that of the job": ("sparc", "ppc64", ""),
}


@pytest.mark.parametrize("texts", APART.values(), ids=APART)
@pytest.mark.parametrize("policy, code", [("Warn", "W-USELESS"), ("Reject", "E-LOSS")])
def test_one_ad_asks_for_no_host_that_is_two_things_at_once(texts, policy, code):
    own, *theirs = (requested("Architecture", text) if text else "" for text in texts)
    (made,) = to_ads(job(own, *theirs, policy=policy))
    assert "Requirements" not in made.ad
    told = [each for each in made.findings if "cannot ask for Architecture of one" in each.message]
    assert {each.code for each in told} == {code}
    assert len(told) == 2


def test_one_ad_asks_for_a_host_that_all_groups_can_have():
    either = (
        "<Requested><Architecture>a</Architecture>"
        '<Architecture conj="Or">b</Architecture></Requested>'
    )
    (made,) = to_ads(job("", either, requested("Architecture", "b")))
    assert not [each for each in made.findings if "Architecture" in each.message]
    assert "Requirements" in made.ad
