"""Requests held against offers, as values: what the command and the pages have in common."""

import io

import pytest

from sssjob.document import loads
from sssjob.document.sources import NamedSource
from sssjob.expression.offers import BadOffer
from sssjob.verbs import match

GROUP = """<JobGroup><Id>g</Id>
<Job><Id>a</Id><Requested><Processors>4</Processors></Requested></Job>
<Job><Id>b</Id><Requested><Processors op="XX">4</Processors></Requested></Job></JobGroup>"""


def offered(text, mode=None):
    refused = []
    source = NamedSource("offers", io.BytesIO(text.encode()))
    return [*match.offers(source, mode, refused.append)], refused


def asked(paths=None):
    told = []
    return [*match.requests(loads(GROUP), "jobs.xml", told.append, paths=paths)], told


def test_a_request_that_cannot_be_read_is_told_and_answers_nothing():
    (good, bad), told = asked()
    offers, _ = offered('[{"Processors": 4}, {"Processors": 2}]')
    found = match.matched(good, offers)
    assert (good.path, good.name, found.is_satisfied) == ("/JobGroup/Job[1]", "a", True)
    assert [row["verdict"] for row in found.rows()] == ["yes", "no"]
    assert [row["rank"] for row in found.rows()] == [1, 2]
    assert match.matched(bad, offers) is None
    assert told
    assert all(str(each).startswith("jobs.xml:") for each in told)


def test_paths_choose_jobs():
    found, told = asked({"/JobGroup/Job[1]"})
    assert ([each.name for each in found], told) == (["a"], [])


def test_a_wrong_offer_is_told_and_the_others_count():
    offers, refused = offered('[{"Memory": "2 XB"}, {"id": "n", "Memory": "2 GB"}]')
    assert [each.id for each in offers] == ["n"]
    assert [each.index for each in refused] == [0]
    given = "<Job><Id>n</Id><Delivered><Node>n1</Node></Delivered></Job>"
    assert match.node_names(offered(given)[0]) == ["n1"]


@pytest.mark.parametrize(
    "body",
    [b"[]", b"{}", b'{"jobs": "<Job/>"}', b'{"jobs": "", "offers": [], "mode": 1}', b'{"jobs": 1,'],
)
def test_a_body_that_is_no_match_is_refused(body):
    with pytest.raises(BadOffer, match="offers"):
        match.sent(body, None)
