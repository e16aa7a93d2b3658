"""What a document holds, as accounting sees it: its jobs, or the group that it is."""

import pytest

from sssjob.document import loads
from sssjob.handlers.view import NOWHERE, JobView, jobs_of

GROUP = "<JobGroup><Id>g</Id><Job><Id>1</Id></Job><Job><Id>2</Id></Job></JobGroup>"


@pytest.mark.parametrize(
    ("document", "found"),
    [("<Job><Id>1</Id></Job>", [("1", 0)]), (GROUP, [("1", 1), ("2", 2)])],
)
def test_the_jobs_of_a_document_are_views_of_jobs_by_their_places(document, found):
    views = list(jobs_of(NOWHERE, loads(document)))
    assert [(view.block.id, view.place) for view in views] == found
    assert {type(view) for view in views} == {JobView}
