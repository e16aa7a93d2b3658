"""A limit, a size or a time means the same to a batch system, on whichever road it is read."""

import contextlib

import pytest
from meanings import SUBJECTS, TEXTS

from sssjob.errors import SSSJobError

CASES = [
    pytest.param(subject, road, id=f"{system} {what}: {road}")
    for (system, what), subject in SUBJECTS.items()
    for road in subject.roads
]


@pytest.mark.parametrize("subject, road", CASES)
def test_a_text_means_what_it_means_on_every_road(subject, road):
    texts = (*TEXTS, *subject.more)
    found = {text: taken(subject.roads[road], text) for text in texts}
    assert found == {text: subject.means.get(text) for text in texts}


def taken(road, text):
    with contextlib.suppress(SSSJobError):
        return road(text)
    return None
