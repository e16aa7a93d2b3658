"""One rule divides usage over time: a ledger and a store tell the same of the same jobs."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest
from draws import examples
from hypothesis import example, given
from hypothesis import strategies as st

import sssjob
from sssjob import store
from sssjob.accounting.report import Report
from sssjob.measures import ASKED, EXTRA, LONGEST, RATES, WAIT, dated_sql, left_out
from sssjob.spans import DATED
from sssjob.store import browsing, dashboards
from sssjob.store.condition import TRUE
from sssjob.verbs.dashboards import usage

pytest.importorskip("duckdb")

from sssjob.ledger import columns, ledger
from sssjob.ledger.report import BOOKED, RUN, add_to

DAY = 86_400
FIRST = int(datetime(2026, 11, 20, tzinfo=UTC).timestamp())
# Multiples of four seconds, so that three quarters of each part are whole seconds, too.
QUARTERS = st.integers(-3 * DAY // 4, 3 * DAY // 4).map(lambda number: FIRST + 4 * number)
LENGTHS = st.sampled_from([4, 3600, DAY - 4, DAY, 40 * DAY])


@st.composite
def runs(draw):
    """A job as a text: with and without times, suspensions, processors and CPU time."""
    start, end = draw(st.none() | QUARTERS), draw(st.none() | QUARTERS)
    if start is not None and draw(st.booleans()):
        end = start + draw(LENGTHS)
    length = draw(LENGTHS) if start is None or end is None or end <= start else end - start
    wall = draw(st.sampled_from([None, 0, length, length * 3 // 4]))  # the rest was suspended
    away = draw(st.sampled_from([None, 0, -4, length // 4]))
    if end is None and wall is not None:
        wall = length - (away or 0) if away != -4 else length
    processors = draw(st.sampled_from([None, 0, 1, 7]))
    cpu = draw(st.sampled_from([None, 0, length, length // 2]))
    told = {"StartTime": start, "EndTime": end, "CpuDuration": cpu, "SuspendDuration": away}
    own = "".join(f"<{key}>{value}</{key}>" for key, value in told.items() if value is not None)
    given_ = {"Duration": wall, "Processors": processors}
    delivered = "".join(f"<{k}>{v}</{k}>" for k, v in given_.items() if v is not None)
    return f"{own}<Delivered>{delivered}</Delivered>"


# Runs from the second day on that are divided, and that are not, as a time of them is wrong.
BEGUN = f"<StartTime>{DAY}</StartTime><Duration>{LONGEST // 4 * 3}</Duration>"
SINGLE = [
    f"{BEGUN}<EndTime>{DAY + LONGEST}</EndTime>",
    f"{BEGUN}<EndTime>{DAY + LONGEST + 1}</EndTime>",
    f"{BEGUN}<SuspendDuration>{LONGEST // 4}</SuspendDuration>",
    f"{BEGUN}<SuspendDuration>{LONGEST // 4 + 1}</SuspendDuration>",
]
several = st.lists(runs(), min_size=1, max_size=12)


def both(home, texts):
    """The same jobs in a ledger, in a store, and as values."""
    documents = [f"<Job><Id>{n}</Id>{text}</Job>" for n, text in enumerate(texts)]
    jobs = [sssjob.loads(text) for text in documents]
    kept = ledger.create(home / "ledger")
    kept.add([columns.row(job) for job in jobs])
    path = home / "jobs.db"
    with store.open(path, create=True) as written:
        written.load(f"<Data>{''.join(documents)}</Data>".encode())
    return jobs, kept, path


def of_a_ledger(kept, span, book=RUN):
    """What each span has of each measure, and how many jobs are in none."""
    told = Report((span,))
    add_to(told, kept, book)
    undated = told.groups.pop(("",), None)
    found = {
        key: {
            "jobs": totals.jobs,
            "wall_seconds": totals.wall,
            "processor_seconds": totals.slots,
            "cpu_seconds": totals.cpu,
            "efficiency": None if totals.efficiency is None else float(totals.efficiency),
        }
        for (key,), totals in told.groups.items()
    }
    return found, undated.jobs if undated else 0


def of_a_store(path, span):
    found, undated = {}, 0
    with store.open(path, read_only=True) as jobs:
        for measure in dashboards.MEASURES:
            told = usage(jobs.engine, "user", measure, span, TRUE)
            undated = told.undated
            for each, total in zip(told.spans, told.totals, strict=True):
                found.setdefault(each.name, {})[measure] = total
    return found, undated


def stated(spans):
    """Spans in which anything was used, without numbers that are nothing."""
    told = {
        span: {name: value for name, value in numbers.items() if value}
        for span, numbers in spans.items()
    }
    return {span: numbers for span, numbers in told.items() if numbers}


@examples(10)
@given(several, st.sampled_from(["day", "week", "month", "year"]))
@example([f"<StartTime>{FIRST}</StartTime><Duration>{DAY}</Duration>"], "day")  # has not ended
@example([f"<EndTime>{DATED}</EndTime><Duration>7</Duration>"], "year")  # has no date
@example(SINGLE, "year")
@example(
    [f"<EndTime>{FIRST}</EndTime><CpuDuration>7</CpuDuration><Delivered>"
     "<Duration>8</Duration><Processors>0</Processors></Delivered>",
     f"<EndTime>{FIRST}</EndTime><CpuDuration>1</CpuDuration><Duration>2</Duration>"], "day",
)  # fmt: skip
def test_a_dashboard_tells_what_the_ledger_tells(tmp_path_factory, texts, span):
    _, kept, path = both(tmp_path_factory.mktemp("both"), texts)
    wanted, undated = of_a_ledger(kept, span)
    found, told = of_a_store(path, span)
    assert (stated(found), told) == (stated(wanted), undated)


@examples(8)
@given(several)
def test_a_report_over_the_jobs_tells_what_the_ledger_books_at_the_end(tmp_path_factory, texts):
    jobs, kept, _ = both(tmp_path_factory.mktemp("booked"), texts)
    wanted, told = (Report(("day",), extra=tuple(EXTRA)) for _ in range(2))
    for job in jobs:
        wanted.add(job)
    add_to(told, kept, BOOKED)
    assert told.groups == wanted.groups


@examples(8)
@given(several)
@example(SINGLE)
def test_the_jobs_behind_a_number_are_those_that_were_counted(tmp_path_factory, texts):
    _, _, path = both(tmp_path_factory.mktemp("behind"), texts)
    with store.open(path, read_only=True) as jobs:
        counted = usage(jobs.engine, "user", "jobs", "day", TRUE)
        used = usage(jobs.engine, "user", "processor_seconds", "day", TRUE)
        for span, number in zip(counted.spans, counted.totals, strict=True):
            behind = browsing.counted(span.begin, span.end)
            assert browsing.count(jobs.engine, behind) == (number or 0)
        for span, amount in zip(used.spans, used.totals, strict=True):
            behind = browsing.ran(span.begin, span.end)
            assert browsing.count(jobs.engine, behind) or not amount


@pytest.mark.parametrize("text", SINGLE)
def test_a_single_job_is_behind_the_numbers_that_it_made_and_no_others(tmp_path, text):
    _, _, path = both(tmp_path, [text])
    with store.open(path, read_only=True) as jobs:
        told = usage(jobs.engine, "user", "wall_seconds", "month", TRUE)
        for span, amount in zip(told.spans, told.totals, strict=True):
            behind = browsing.count(jobs.engine, browsing.ran(span.begin, span.end))
            assert behind == bool(amount)
        early = browsing.ran(DAY, 2 * DAY)
        assert browsing.count(jobs.engine, early) == (text in (SINGLE[0], SINGLE[2]))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_time_counts_while_it_has_a_date_on_both_sides_of_1970(sign):
    with closing(sqlite3.connect(":memory:")) as database:
        asked = [0, sign, sign * (DATED - 1), sign * DATED, sign * (DATED + 1)]
        told = [database.execute(f"SELECT {dated_sql(str(each))}").fetchone()[0] for each in asked]
    assert told == [*asked[:3], None, None]


def test_what_only_something_else_needs_is_left_out_of_totals():
    every = left_out(())
    assert {"asked", "wait", "held"} <= every
    assert every - left_out([ASKED]) >= {"asked", "limit"}
    assert every - left_out([WAIT]) == {"wait", "with_wait"}
    assert left_out([ASKED, WAIT, RATES]) == frozenset()
