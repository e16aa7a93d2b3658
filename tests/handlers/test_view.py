"""What a document holds, as accounting sees it: its jobs, or the group that it is."""

import pytest

from sssjob.accounting.report import JobProperties
from sssjob.document import loads
from sssjob.handlers.attributes import attribute
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


MEASURED = [
    "<Processors metric='Max'>8</Processors><Processors metric='Average'>4</Processors>",
    "<Processors metric='Max'>8</Processors><Processors>2</Processors>",
    "<Processors metric='Max'>8</Processors><Processors metric='Total'>2</Processors>",
    "<Processors context='Configured'>8</Processors>",
    "<Processors context='Dedicated'>8</Processors>",
]


@pytest.mark.parametrize("own", ["", "<Processors>3</Processors>"])
@pytest.mark.parametrize("delivered", MEASURED)
def test_processors_that_were_measured_count_for_a_request_as_little_as_for_a_report(
    delivered, own
):
    job = loads(f"<Job><Id>1</Id>{own}<Delivered>{delivered}</Delivered></Job>")
    (view,) = jobs_of(NOWHERE, job)
    given = JobProperties(job).given("Processors")
    assert view.number(attribute("Processors", "Job")) == given


def test_a_measured_amount_of_memory_counts_where_none_was_given():
    told = "<Memory metric='Max'>8</Memory><Memory metric='Average'>4</Memory>"
    for more, text in (("", "8"), ("<Memory>2</Memory>", "2")):
        job = loads(f"<Job><Id>1</Id><Delivered>{told}{more}</Delivered></Job>")
        (view,) = jobs_of(NOWHERE, job)
        assert view.text(attribute("Memory", "Job")) == text
