"""A ledger's percentiles and histograms are those of the numbers of its jobs, sorted."""

from bisect import bisect_right
from collections import Counter, defaultdict
from datetime import UTC, datetime
from fractions import Fraction
from math import ceil
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

import sssjob
from sssjob.accounting.report import Report
from sssjob.spans import SPANS, span_name

pytest.importorskip("duckdb")

from sssjob.ledger import columns, ledger
from sssjob.ledger.report import BOOKED, RUN, add_to
from sssjob.measures import DISTRIBUTIONS, Histogram, Histograms, Percentiles, Spread

NOON = int(datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp())
# By 9 processors, the last one is more than 64 bits hold, as a fraction of a byte is.
seconds = st.none() | st.sampled_from(["0", "1", "7", "1000000007", f"{2**62}"])
sizes = st.none() | st.sampled_from(["0", "1", "4", "0.1", "1000000007"])
counts = st.none() | st.sampled_from(["1", "2", "9"])
PERCENTS = ["0", "7", "50", "90", "99.9", "100"]


class Told(NamedTuple):
    """What a job states, as texts."""

    user: str
    end: int
    submit: int | None
    start: int | None
    wall: str | None
    processors: str | None
    nodes: str | None
    cpu: str | None
    memory: str | None
    asked: str | None

    def job(self, number):
        parts = [f"<Id>{number}</Id>"]
        for name in ("Submit", "Start", "End"):
            time = getattr(self, name.lower())
            parts += [] if time is None else [f"<{name}Time>{time}</{name}Time>"]
        if self.asked is not None:
            parts.append(f'<Requested><Memory units="B">{self.asked}</Memory></Requested>')
        amounts = {"User": self.user, "Duration": self.wall, "Processors": self.processors,
                   "CpuDuration": self.cpu}  # fmt: skip
        parts.append("<Delivered>")
        parts += [f"<{name}>{text}</{name}>" for name, text in amounts.items() if text is not None]
        if self.nodes is not None:
            parts.append(f"<NodeCount>{self.nodes}</NodeCount>")
        if self.memory is not None:
            parts.append(f'<Memory units="B" metric="Max">{self.memory}</Memory>')
        return sssjob.loads(f"<Job>{''.join(parts)}</Delivered></Job>")

    def numbers(self):
        """The number of each distribution, None where the job does not state it."""
        wall, processors, nodes, cpu, memory, asked = (
            None if text is None else Fraction(text) for text in self[4:]
        )
        slots = None if wall is None else wall * (1 if processors is None else processors)
        wait = None if None in (self.submit, self.start) else self.start - self.submit
        return {
            "wait": wait if wait is None or wait >= 0 else None, "wall": wall,
            "processors": processors, "nodes": nodes, "memory": memory,
            "efficiency": cpu / slots if slots and cpu is not None else None,
            "memory_efficiency": memory / asked if asked and memory is not None else None,
        }  # fmt: skip


@st.composite
def jobs(draw):
    end = NOON + draw(st.integers(-40, 40)) * 86_400 // 2
    start = draw(st.none() | st.integers(end - 200_000, end))
    return Told(
        draw(st.sampled_from(["amy", "bob", "☃"])), end,
        draw(st.none() | st.integers((start or end) - 50, (start or end) + 9)), start,
        draw(seconds), draw(counts), draw(counts), draw(seconds), draw(sizes), draw(sizes),
    )  # fmt: skip


def by_sorting(found, percents):
    """The spreads of some jobs, by sorting their numbers."""
    spreads = []
    for name in DISTRIBUTIONS:
        some = sorted(each for job in found if (each := job.numbers()[name]) is not None)
        ranks = [max(1, ceil(len(some) * Fraction(each) / 100)) for each in percents]
        values = tuple(float(some[rank - 1]) if some else None for rank in ranks)
        spreads.append(Spread(len(found) - len(some), values))
    return tuple(spreads)


def by_counting(found):
    """The histograms of some jobs, by looking up each number among the bounds."""
    histograms = []
    for name, of in DISTRIBUTIONS.items():
        some = [each for job in found if (each := job.numbers()[name]) is not None]
        parts = Counter(bisect_right(of.bounds, each) - 1 for each in some)
        counts = tuple(parts[at] for at in range(len(of.bounds)))
        histograms.append(Histogram(len(found) - len(some), counts))
    return tuple(histograms)


def told(home, found, by=("user",), book=RUN, percents=PERCENTS, zone=UTC, **window):
    kept = ledger.create(home)
    kept.add([columns.row(each) for each in found])
    report = Report(by, zone=zone, **window)
    report.percentiles = Percentiles.read(percents, DISTRIBUTIONS)
    report.histograms = Histograms.read(DISTRIBUTIONS)
    add_to(report, kept, book)
    return report


@examples(10)
@given(
    st.lists(jobs(), min_size=1, max_size=12), st.sampled_from([RUN, BOOKED]),
    st.sampled_from([("user",), ("month",), ("user", "day"), ("week", "user", "year"), ("state",)]),
    st.sampled_from([UTC, ZoneInfo("Australia/Lord_Howe")]),
    st.tuples(*[st.none() | st.integers(NOON - 900_000, NOON + 900_000)] * 2),
)  # fmt: skip
def test_percentiles_and_histograms_are_those_of_the_jobs_that_ended(
    tmp_path_factory, found, book, by, zone, window
):
    since, until = window if None in window else sorted(window)
    groups = defaultdict(list)
    for job in found:
        if (since is None or job.end >= since) and (until is None or job.end < until):
            names = {"user": job.user, "state": ""}
            groups[
                tuple(span_name(one, job.end, zone) if one in SPANS else names[one] for one in by)
            ].append(job)
    report = told(
        tmp_path_factory.mktemp("ledger"), [job.job(n) for n, job in enumerate(found)], by, book,
        zone=zone, since=since, until=until,
    )  # fmt: skip
    spreads = report.percentiles
    assert spreads.groups == {key: by_sorting(some, PERCENTS) for key, some in groups.items()}
    counted = [job for some in groups.values() for job in some]
    assert (spreads.total or spreads.nothing) == by_sorting(counted, PERCENTS)
    histograms = report.histograms
    assert histograms.groups == {key: by_counting(some) for key, some in groups.items()}
    assert histograms.total == by_counting(counted)


@pytest.mark.parametrize("percent, wall", [("55", 55), ("56", 56), ("56.001", 57)])
def test_a_percentile_is_not_one_rank_off_by_rounding(tmp_path, percent, wall):
    """As a double, 0.55 of 100 is more than 55."""
    found = [
        Told("amy", NOON, None, None, str(number), *[None] * 5).job(number)
        for number in range(1, 101)
    ]
    report = told(tmp_path / "ledger", found, percents=[percent])
    (spread,) = {each for each in report.percentiles.total if each.not_stated == 0}
    assert spread.values == (wall,)


def test_a_group_in_which_no_job_ended_has_no_percentile(tmp_path):
    job = Told("amy", NOON, None, NOON - 86_400, "86400", *[None] * 5).job(1)
    report = told(tmp_path / "ledger", [job], ("day",))
    spreads = {day: report.percentiles.group((day,))[1] for (day,) in report.groups}
    nothing = (None,) * len(PERCENTS)
    assert spreads == {
        "2026-11-19": Spread(0, nothing),
        "2026-11-20": Spread(0, (86_400,) * len(PERCENTS)),
    }


def test_a_ledger_without_runs_has_no_percentile(tmp_path):
    report = told(tmp_path / "ledger", [], ("month",))
    assert (report.percentiles.groups, report.groups) == ({}, {})


def test_a_number_that_no_double_can_hold_is_above_all_others(tmp_path):
    job = Told("amy", NOON, None, None, f"1{'0' * 400}", *[None] * 5).job(1)
    found = told(tmp_path / "ledger", [job])
    at = [of.name for of in found.percentiles.of].index("wall")
    assert found.percentiles.total[at].not_stated == 0
    assert set(found.percentiles.total[at].values) == {float("inf")}
    assert found.histograms.total[at].counts[-1] == 1


@pytest.mark.parametrize("name, at, low", [
    (name, at, low) for name in ("wall", "efficiency")
    for at, low in enumerate(DISTRIBUTIONS[name].bounds)
])  # fmt: skip
def test_a_number_that_is_a_bound_is_in_the_part_above_it(tmp_path, name, at, low):
    wall, cpu = (str(low), None) if name == "wall" else ("10", str(int(low * 10)))
    job = Told("amy", NOON, None, None, wall, None, None, cpu, None, None).job(1)
    histograms = told(tmp_path / "ledger", [job]).histograms
    (found,) = [
        each for of, each in zip(histograms.of, histograms.total, strict=True) if of.name == name
    ]
    assert [*found.counts] == [int(place == at) for place in range(len(found.counts))]
