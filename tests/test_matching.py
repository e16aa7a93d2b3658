"""sssjob.match: what schedulers call."""

import copy
import json
import pickle

import pytest

import sssjob
from sssjob.errors import InvalidJob, InvalidValue, UnbalancedGroup
from sssjob.expression.offers import BadOffer
from sssjob.model import Job, JobGroup, Property, Requested, TaskGroup

JOB = Job.of(Requested.of(Property("Memory", 2, {"op": "GE", "units": "GB"}), Processors=4), Id="1")
NODES = [
    {"id": "small", "Memory": "1 GB", "Processors": 8},
    {"id": "large", "Memory": "4 GB", "Processors": 8},
]


def verdicts(*answers):
    return [(answer.offer.id, str(answer.verdict)) for answer in answers]


def test_a_job_is_matched_with_plain_data():
    answers = sssjob.match(JOB, NODES)
    assert verdicts(*answers) == [("small", "no"), ("large", "yes")]
    assert answers[0].reasons == ("Memory GE 2 GB: up to 1 GB offered",)
    assert verdicts(*sssjob.ranked(answers)) == [("large", "yes"), ("small", "no")]


def test_a_request_is_made_once_and_asked_of_offers_of_any_kind():
    request = sssjob.Request.of(JOB)
    ran = sssjob.Job.of(sssjob.Delivered.of(Processors=4, Memory=4096), Id="ran")
    offers = [sssjob.Offer.of("n", [Property("Memory", 4096), Property("Processors", 4)]), ran]
    assert verdicts(*sssjob.match(request, offers)) == [("n", "yes"), ("ran", "yes")]
    assert verdicts(*sssjob.match(request.expression, NODES[1:])) == [("large", "yes")]


def test_defaults_count_and_a_job_without_requested_asks_by_its_own_amounts():
    assert verdicts(*sssjob.match(Job.of(Processors=9), NODES)) == [
        ("small", "no"),
        ("large", "no"),
    ]


@pytest.mark.parametrize("asked, error", [
    (JobGroup.of(JOB), InvalidValue),
    (Job.of(Requested.of(Property("GPU", 1))), InvalidJob),
    (Job.of(Requested.of(Property("Memory", 1, {"op": "APPROX"}))), InvalidJob),
    (Job.of(Requested.of(Property("Memory", 1, {"op": "Match"}))), InvalidJob),
    (Job.of(Requested.of(Property("Memory", 1, {"group": "1"}))), UnbalancedGroup),
])  # fmt: skip
def test_what_cannot_be_asked_is_refused(asked, error):
    with pytest.raises(error):
        sssjob.match(asked, NODES)


# What is requested, in one or more Requested or without any.
REQUESTS = {
    "an amount": (Requested.of(Processors=9),),
    "alternatives": (
        Requested.of(
            Property("Memory", 2048, {"preference": "2"}),
            Property("Memory", 8192, {"preference": "1"}),
        ),
    ),
    "one of two": (Requested.of(Property("Processors", 9), Property("Memory", 2, {"conj": "Or"})),),
    "two requests": (Requested.of(Processors=4), Requested.of(Property("Feature", "ib"))),
    "amounts alone": (Property("Processors", 9),),
}


@pytest.mark.parametrize("asked", REQUESTS.values(), ids=REQUESTS)
@pytest.mark.parametrize("beside", [(), (Requested.of(Property("Queue", "q")),)], ids=["", "queue"])
def test_a_request_of_the_only_task_group_is_one_of_its_job(asked, beside):
    alone = sssjob.match(Job((*beside, *asked)), NODES)
    for job in (
        Job((*beside, TaskGroup(asked))),
        Job((*beside, *asked, TaskGroup(asked))),
        Job((*asked, TaskGroup(beside))),
    ):
        assert [(each.verdict, each.score) for each in sssjob.match(job, NODES)] == [
            (each.verdict, each.score) for each in alone
        ]


def test_a_job_of_several_task_groups_has_no_one_request():
    group = TaskGroup((Requested.of(Processors=9),))
    with pytest.raises(InvalidValue, match=r"TaskGroup\[2\]' is not one request"):
        sssjob.match(Job((group, group)), NODES)


def test_warn_goes_on():
    job = Job((Requested.of(Property("GPU", 1), Memory=1),), {"awarenessPolicy": "Warn"})
    assert verdicts(*sssjob.match(job, NODES)) == [("small", "yes"), ("large", "yes")]


def test_an_offer_that_is_none_is_told():
    with pytest.raises(BadOffer):
        sssjob.match(JOB, [{"Memory": "much"}])


def test_what_loads_takes_is_validated():
    text = "<Job><Id>1</Id><Duration>1</Duration><Memory units='MB'>x</Memory></Job>"
    for source in (text, f"\ufeff\n {text}", text.encode(), sssjob.loads(text)):
        assert not sssjob.is_valid(source)
        with pytest.raises(InvalidJob) as refused:
            sssjob.validate(source)
        assert [found.code for found in refused.value.findings] == ["E-TYPE"]
    assert sssjob.validate(text.replace("x", "1")) == ()


@pytest.mark.parametrize("inner, code", [
    ("<Memory units='MB'>-4</Memory>", "W-RANGE"),
    ("<Processors>-4</Processors>", "W-RANGE"),
    ("<NodeCount>-1</NodeCount>", "W-RANGE"),
    ("<Requested><Resource name='x'>-0.5</Resource></Requested>", "W-RANGE"),
    ("<Network>NaN</Network>", "E-TYPE"),
    ("<Network>-INF</Network>", "E-TYPE"),
    ("<Memory units='MB'>-0</Memory>", None),
    ("<Charge>-4</Charge>", None),
])  # fmt: skip
def test_there_is_no_less_than_nothing(inner, code):
    text = f"<Job><Id>1</Id><Duration>1</Duration>{inner}</Job>"
    for times in (1, 200):  # where a grammar accepts what has no finding
        found = sssjob.check_source("\n".join([text] * times))
        assert {each.code for each in found} == ({code} if code else set())


def test_every_public_name_is_there():
    for name in sssjob.__all__:
        assert getattr(sssjob, name) is not None
    assert json.dumps(dict(JOB.attributes)) == "{}"


# What is no offer and no request, and what nobody may change


@pytest.mark.parametrize("offers", [NODES[0], sssjob.Offer.of("n", ()), JOB, [None], [7], ["n1"]])
def test_what_is_no_offer_is_told(offers):
    for call in (sssjob.match, sssjob.place):
        with pytest.raises(BadOffer, match="offer"):
            call(JOB, offers)


@pytest.mark.parametrize("asked", [None, 7, "Processors", Property("Processors", 4)])
def test_what_is_no_request_is_told(asked):
    with pytest.raises(InvalidValue, match="a job, a task group, an expression or a Request"):
        sssjob.match(asked, NODES)
    with pytest.raises(InvalidValue, match=r"an expression; Request\.of takes a job"):
        sssjob.Request(asked)


def test_nothing_of_an_offer_or_an_answer_changes():
    facts = {"Processors": (Property("Processors", 8),), "Memory": (Property("Memory", 4096),)}
    offer = sssjob.Offer("n", facts)
    (answer,) = sssjob.match(JOB, [offer])
    facts.clear()
    for held in (offer.facts, offer.amounts, offer.names, answer.taken):
        with pytest.raises(TypeError, match="does not support item assignment"):
            held["Processors"] = ()
    assert verdicts(*sssjob.match(JOB, [offer])) == [("n", "yes")]
    assert pickle.loads(pickle.dumps(offer)) == copy.deepcopy(offer) == offer
