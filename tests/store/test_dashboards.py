"""Sums of a store, in both engines."""

from itertools import product

from sssjob import store
from sssjob.store import browsing
from sssjob.store.condition import TRUE, all_of
from sssjob.store.dashboards import DAY, spread
from sssjob.verbs.confined import Bounds, Confined
from sssjob.verbs.dashboards import usage

NOON, TWO = DAY // 2, 2 * DAY

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
        told = confined.report(address, ("user",)).report
    assert [(row["user"], row["jobs"]) for row in told["rows"]] == [("amy", 1)]


# Times of a run on both sides of midnights, and not stated: start, end and wall time.
RUNS = [
    *product((None, DAY - 1, DAY, DAY + NOON, TWO), (None, DAY, DAY + 1, TWO), (None, 0, NOON, DAY))
]


def jobs_of(kept, condition):
    ours = all_of(browsing.having("user", "spans"), condition)
    return {int(row.values[0]) for row in browsing.page(kept.engine, ("id",), ours, limit=999).rows}


def loaded(kept, runs, user):
    """Load runs of a user, who is in no other test; gives the condition that finds them."""
    names = ("StartTime", "EndTime", "Duration")
    for number, run in enumerate(runs):
        told = "".join(
            f"<{name}>{value}</{name}>" for name, value in zip(names, run, strict=True)
            if value is not None
        )  # fmt: skip
        job = f"<Job><Id>{number}</Id><User>{user}</User>{told}</Job>"
        kept.load(job.encode())
    return browsing.having("user", user)


def over(start, end, wall):
    """When a run was over, as the head of ``measures`` says it."""
    if end is not None:
        return end
    return None if start is None or wall is None else start + wall


def test_spans_are_half_open_whatever_is_asked_of_them(kept):
    loaded(kept, RUNS, "spans")
    for low, high in ((0, DAY), (DAY, TWO), (TWO, 3 * DAY), (0, TWO)):
        span = range(low, high)
        ended = {at for at, run in enumerate(RUNS) if run[1] in span}
        assert jobs_of(kept, browsing.ended(low, high)) == ended
        counted = {at for at, run in enumerate(RUNS) if over(*run) in span}
        assert jobs_of(kept, browsing.counted(low, high)) == counted
        ran = set()
        for at, run in enumerate(RUNS):
            end = over(*run)
            if end is None:
                continue
            begin = end if run[0] is None else min(run[0], end)
            lasts = max(begin, low) < min(end, high)
            if lasts or (begin == end and end in span):
                ran.add(at)
        assert jobs_of(kept, browsing.ran(low, high)) == ran, (low, high)
    january = jobs_of(kept, browsing.having("month", "1970-01"))
    assert january == jobs_of(kept, browsing.ended(0, 31 * DAY))


def test_a_run_up_to_midnight_has_no_part_of_the_next_day_and_counts_there(kept):
    where = loaded(kept, [(DAY + NOON, TWO, NOON)], "midnight")
    told = usage(kept.engine, "user", "wall_seconds", "day", where)
    assert [(each.begin, each.end) for each in told.spans] == [(DAY, TWO)]
    assert told.totals == (NOON,)
    told = usage(kept.engine, "user", "jobs", "day", where)
    assert [(each.begin, each.end) for each in told.spans] == [(DAY, TWO), (TWO, 3 * DAY)]
    assert told.totals == (None, 1)


def test_each_day_of_a_chart_has_what_its_jobs_had_in_it(kept):
    where = loaded(kept, RUNS, "days")
    told = usage(kept.engine, "user", "wall_seconds", "day", where)
    for span, total in zip(told.spans, told.totals, strict=True):
        found = []
        for start, end, wall in RUNS:
            stop = over(start, end, wall)
            if stop is None or wall is None:
                continue
            begin = stop if start is None else min(start, stop)
            if begin == stop:
                found += [wall] if span.begin <= stop < span.end else []
            elif (part := min(stop, span.end) - max(begin, span.begin)) > 0:
                found.append(wall * part / (stop - begin))
        assert (None if total is None else round(total, 6)) == (
            round(sum(found), 6) if found else None
        ), span


def test_what_no_job_states_is_no_zero(kept):
    where = loaded(kept, [(0, DAY + 5, DAY)], "silent")
    told = usage(kept.engine, "state", "cpu_seconds", "day", where)
    assert (told.amounts, told.totals) == (((None,), (None,)), (None, None))
    stated = "<Job><Id>z</Id><User>silent</User><State>Failed</State><StartTime>0</StartTime>"
    kept.load(f"{stated}<EndTime>{DAY + 5}</EndTime><CpuDuration>0</CpuDuration></Job>".encode())
    told = usage(kept.engine, "state", "cpu_seconds", "day", where)
    amounts = dict(zip(told.values, zip(*told.amounts, strict=True), strict=True))
    assert (amounts, told.totals) == ({None: (None, None), "Failed": (0, 0)}, (0, 0))
