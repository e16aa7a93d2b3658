"""Sums of a store, in both engines."""

from sssjob import store
from sssjob.store.condition import TRUE
from sssjob.store.dashboards import DAY, spread
from sssjob.verbs.confined import Bounds, Confined
from sssjob.verbs.dashboards import usage

RUN = f"""<Job><Id>1</Id><User>amy</User><SubmitTime>{-3 * DAY - 50}</SubmitTime>
<StartTime>{-3 * DAY - 5}</StartTime><EndTime>{-DAY + 5}</EndTime>
<Duration>{2 * DAY + 10}</Duration></Job>"""


def test_a_run_before_1970_is_divided_at_its_midnights(kept):
    kept.load(RUN.encode())
    told = usage(kept.engine, "user", "processor_seconds", "day", TRUE)
    assert told.totals == (5, DAY, DAY, 5)


def test_a_wait_is_from_submission_to_start(kept):
    kept.load(RUN.encode())
    assert [part for part in spread(kept.engine, "wait") if part.jobs] == [(10, 1)]


def test_the_address_of_a_report_may_be_that_of_either_engine(address):
    with store.open(address, create=True) as jobs:
        jobs.load(RUN.encode())
    with Confined(Bounds(memory=1 << 29, seconds=60, deadline=900)) as confined:
        told = confined.report(address, ("user",))
    assert [(row["user"], row["jobs"]) for row in told["rows"]] == [("amy", 1)]
