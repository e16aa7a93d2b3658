"""Several Requested elements of a job: all hold, and preferences count in their own (2.8, 3.1)."""

import pytest

from sssjob import loads, match
from sssjob.document.canonical import canon
from sssjob.drawing.expression import tree
from sssjob.expression import all_of
from sssjob.expression.requests import asked

NOT_GPU = '<Feature op="NE" preference="-3">gpu</Feature>'
IB = '<Feature preference="-3">ib</Feature>'
SSD = '<Feature preference="-1">ssd</Feature>'
MEMORY = '<Memory preference="2">512</Memory>'


def job(*requests):
    blocks = "".join(f"<Requested>{each}</Requested>" for each in requests)
    return loads(f"<Job><Id>1</Id>{blocks}</Job>")


def scores(of):
    """By the request of the job, by its parts and by its canonical form."""
    parts, _ = asked(of, "/Job")
    offer = {"id": "n", "Feature": ["ib"], "Memory": 512}
    return [match(each, [offer])[0].score for each in (of, all_of(parts), canon(of))]


@pytest.mark.parametrize(
    "requests, score",
    [
        ((NOT_GPU, IB), 2),
        ((NOT_GPU + IB,), 1),
        ((NOT_GPU, IB, SSD), 2),
        ((NOT_GPU, IB + SSD), 1.75),
        ((NOT_GPU, IB + MEMORY), 3),
        ((IB, MEMORY), 2),
        ((MEMORY, MEMORY), 2),
        ((f"{IB}<Queue>a</Queue>", f"{SSD}<Queue>a</Queue>"), 1),
    ],
)
def test_preferences_count_in_the_element_that_they_stand_in(requests, score):
    assert scores(job(*requests)) == [score] * 3


def test_a_request_is_shown_without_what_only_keeps_preferences_apart():
    parts, _ = asked(job(NOT_GPU, IB), "/Job")
    shown = tree("/Job", "1", all_of(parts))
    assert "nothing is requested" not in repr([each.label for each in _all(shown)])


def _all(shown):
    yield shown
    for child in shown.children:
        yield from _all(child)
