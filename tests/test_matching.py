"""sssjob.match: what schedulers call."""

import copy
import json
import pickle

import pytest

import sssjob
from sssjob.errors import InvalidJob, InvalidValue, UnbalancedGroup
from sssjob.expression import Comparison, conjuncts
from sssjob.expression.offers import BadOffer
from sssjob.matching import requested
from sssjob.model import Delivered, Job, JobGroup, Property, Requested, TaskGroup

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


# What stands outside of Requested: 8.0. Each as a property that is asked for, and an offer that
# has too little of it.
OUTSIDE = {
    "an amount": (Property("Memory", 4, {"units": "GB"}), {"Memory": "1 GB"}),
    "processors": (Property("Processors", 16), {"Processors": 8}),
    "a time": (Property("Duration", 60), {"Duration": 10}),
    "a feature": (Property("Feature", "ib"), {"Feature": ["gpu"]}),
    "an architecture": (Property("Architecture", "arm"), {"Architecture": "x86_64"}),
    "a node": (Property("Node", "n1"), {"Node": "n2"}),
    "a resource": (
        Property("Resource", 2, {"name": "matlab"}),
        {"Resource": [{"name": "matlab", "value": 1}]},
    ),
}
SWAP = Property("Swap", 1)


@pytest.mark.parametrize("item, lacks", OUTSIDE.values(), ids=OUTSIDE)
def test_what_stands_beside_a_request_is_asked_for(item, lacks):
    offer = {"id": "n", "Swap": 1, **lacks}
    swap = Requested((SWAP,))
    inside = Job((Requested((SWAP, item)),))
    (wanted,) = sssjob.match(inside, [offer])
    assert str(wanted.verdict) == "no"
    for job in (
        Job((item, swap)),
        Job((item, TaskGroup((swap,)))),
        Job((swap, TaskGroup((item,)))),
        TaskGroup((item, swap)),
    ):
        (answer,) = sssjob.match(job, [offer])
        assert (answer.verdict, answer.reasons) == (wanted.verdict, wanted.reasons)
        assert {*conjuncts(requested(job).expression)} == {Comparison(SWAP), Comparison(item)}


def test_what_a_request_speaks_of_it_alone_asks_for():
    memory, more = Property("Memory", 2048), Property("Memory", 8192, {"preference": "-1"})
    for request, verdict in (
        ((Property("Memory", 1024),), "yes"),
        ((Property("Memory", 1024), Property("Swap", 1, {"conj": "Or"})), "yes"),
        ((more,), "no"),  # a wish, which is no other amount than the one that is needed
    ):
        (answer,) = sssjob.match(Job((memory, Requested(request))), [NODES[0] | {"Swap": 0}])
        assert str(answer.verdict) == verdict
    two = Job((Property("Feature", "ib"), Requested.of(Feature="gpu")))  # both are needed
    offers = [{"id": "one", "Feature": ["gpu"]}, {"id": "both", "Feature": ["gpu", "ib"]}]
    assert verdicts(*sssjob.match(two, offers)) == [("one", "no"), ("both", "yes")]


@pytest.mark.parametrize("item", [
    Property("Memory", 2048, {"metric": "Max"}), Property("Memory", 2048, {"context": "Used"}),
    Property("TaskCount", 12), Property("Queue", "main"), Property("User", "amy"),
], ids=str)  # fmt: skip
def test_what_is_measured_or_no_matter_of_an_offer_is_not_asked_for(item):
    for request in ((), (Requested.of(Processors=4),)):
        assert verdicts(*sssjob.match(Job((item, *request)), NODES[:1])) == [("small", "yes")]


@pytest.mark.parametrize(
    "over", [Property("State", "Completed"), Delivered.of(Processors=4)], ids=["state", "delivered"]
)
def test_amounts_of_a_job_that_has_ended_are_those_that_it_used(over):
    memory, request = Property("Memory", 2048), Requested.of(Processors=4)
    assert verdicts(*sssjob.match(Job((memory, request)), NODES[:1])) == [("small", "no")]
    assert verdicts(*sssjob.match(Job((over, memory, request)), NODES[:1])) == [("small", "yes")]
    group = TaskGroup((memory, request))
    assert verdicts(*sssjob.match(Job((over, group)), NODES[:1])) == [("small", "yes")]


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


@pytest.mark.parametrize("inner, codes", [
    ("<Memory units='MB'>-4</Memory>", {"W-RANGE"}),
    ("<Processors>-4</Processors>", {"W-RANGE"}),
    ("<NodeCount>-1</NodeCount>", {"W-RANGE", "E-TYPE"}),
    ("<Requested><Resource name='x'>-0.5</Resource></Requested>", {"W-RANGE"}),
    ("<Network>NaN</Network>", {"E-TYPE"}),
    ("<Network>-INF</Network>", {"E-TYPE"}),
    ("<Memory units='MB'>-0</Memory>", set()),
    ("<Charge>-4</Charge>", set()),
])  # fmt: skip
def test_there_is_no_less_than_nothing(inner, codes):
    text = f"<Job><Id>1</Id><Duration>1</Duration>{inner}</Job>"
    for times in (1, 200):  # where a grammar accepts what has no finding
        found = sssjob.check_source("\n".join([text] * times))
        assert {each.code for each in found} == codes


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
