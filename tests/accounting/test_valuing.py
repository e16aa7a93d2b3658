"""Names, factors and rates of a site, held against an evaluator that looks at each job and second.

The evaluator is written from the documentation: it reads the jobs, not the sums of reports.
"""

from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob.accounting import reference
from sssjob.accounting.report import Money, Report
from sssjob.accounting.valuing import Valuation
from sssjob.errors import BadSettings, UnusableInput
from sssjob.model import Delivered, Job, Property, Requested

ZONES = [UTC, ZoneInfo("Europe/London"), ZoneInfo("Australia/Lord_Howe")]
DAY = date(2026, 10, 25)  # summer time ends in London
USERS, QUEUES, MACHINES = ["amy", "bob", "cy"], ["fast", "slow"], ["old", "new"]
DEPARTMENTS, FACULTIES = ["chem", "math"], ["science", "arts"]


def midnight(day, zone):
    return int(datetime(day.year, day.month, day.day, tzinfo=zone).timestamp())


days = st.integers(-2, 2).map(lambda number: DAY + timedelta(number))
periods = st.lists(days, max_size=3, unique=True).map(sorted)


def rows_of(bounds):
    """Periods behind each other, from always to always."""
    return [*zip([None, *bounds], [*bounds, None], strict=True)]


@st.composite
def histories(draw, key, names, level, values):
    """Rows that say what each name is elsewhere, some of them for no time at all."""
    found = []
    for name in names:
        for begin, end in rows_of(draw(periods)):
            value = draw(st.none() | st.sampled_from(values))
            if value is not None:
                found.append({key: name, "from": begin, "until": end, level: value})
    return found


prices = st.sampled_from(["0", "0.02", "1", "3.333", "12.5"])


@st.composite
def valued(draw, column, names):
    """Rows with a number, for all jobs, for a name, or for a queue and a machine."""
    found = []
    choices = [{}, *({"queue": each} for each in QUEUES)]
    choices += [{"queue": QUEUES[0], name: value} for name, value in names]
    for wanted in choices:
        for begin, end in rows_of(draw(periods)):
            number = draw(st.none() | prices)
            if number is not None and (column != "factor" or number != "0"):
                found.append({**wanted, "from": begin, "until": end, column: number})
    return found


@st.composite
def jobs(draw, zone):
    start = midnight(DAY, zone) + draw(st.integers(-86_400, 86_400))
    end = start + draw(st.sampled_from([0, 60, 3600, 90_000]))
    has_end = draw(st.booleans()) or draw(st.booleans())
    kept = [Property("Id", str(draw(st.integers(0, 10**6)))), Property("StartTime", str(start))]
    if has_end:
        kept.append(Property("EndTime", str(end)))
    given_ = {
        "User": draw(st.sampled_from([*USERS, "dan"])), "Queue": draw(st.sampled_from(QUEUES)),
        "Machine": draw(st.sampled_from(MACHINES)), "Duration": str(end - start),
        "Processors": draw(st.sampled_from(["1", "3"])), "CpuDuration": "50",
    }  # fmt: skip
    requested = Requested([Property("Memory", draw(st.sampled_from(["1", "4"])), {"units": "GB"})])
    return Job((*kept, requested, Delivered([Property(*each) for each in given_.items()])))


def written(path, table, rows, *, as_csv):
    """The rows as a file, of TOML or of CSV."""
    if as_csv:
        keys = [*dict.fromkeys(key for row in rows for key in row)] or [table]
        lines = [",".join(keys)]
        lines += [",".join(str(row.get(key) or "") for key in keys) for row in rows]
        path = path.with_suffix(".csv")
        path.write_text("\n".join(lines) + "\n")
        return path
    text = []
    for row in rows:
        text.append(f"[[{table}]]")
        for key, value in row.items():
            if isinstance(value, date):
                text.append(f"{key} = {value}")
            elif value is not None:
                name = "name" if key == table and table not in ("factor", "rate") else key
                is_number = key in ("factor", *reference.PRICES)
                text.append(f"{name} = {value}" if is_number else f'{name} = "{value}"')
    path.write_text("\n".join(text) + "\n")
    return path


class Evaluator:
    """What each job is charged, from rows as they were drawn."""

    def __init__(self, zone, names, faculties, factors, rates):
        self.zone, self.names, self.faculties = zone, names, faculties
        self.factors, self.rates = factors, rates

    def holds(self, row, time):
        begin, end = row["from"], row["until"]
        if time is None:
            return begin is None and end is None
        return (begin is None or midnight(begin, self.zone) <= time) and (
            end is None or time < midnight(end, self.zone)
        )

    def known(self, rows, key, name, level, time):
        return next(
            (row[level] for row in rows if row[key] == name and self.holds(row, time)), name
        )

    def department(self, job, time):
        return self.known(self.names, "user", job["User"], "department", time)

    def faculty(self, job, time):
        department = self.department(job, time)
        return self.known(self.faculties, "department", department, "faculty", time)

    def number(self, rows, column, job, time):
        told = {"queue": job["Queue"], "machine": job["Machine"],
                "department": self.department(job, time)}  # fmt: skip
        best = None
        for row in rows:
            wanted = {key: row[key] for key in row if key in told}
            if not self.holds(row, time) or any(told[key] != it for key, it in wanted.items()):
                continue
            if best is None or len(wanted) > best[0]:
                best = len(wanted), Fraction(row[column])
        return None if best is None else best[1]


def facts(job):
    told = {each.name: each.text for each in job.items if isinstance(each, Property)}
    told |= {each.name: each.text for each in job.items[-1].items}
    told["Memory"] = int(job.items[-2].items[0].text) << 30
    return told


@examples(25)
@given(st.data(), st.sampled_from(ZONES), st.booleans())
def test_each_job_counts_where_it_belonged_and_is_charged_by_the_row_that_says_most(
    tmp_path_factory, data, zone, as_csv
):
    home = tmp_path_factory.mktemp("site")
    names = data.draw(histories("user", USERS, "department", DEPARTMENTS))
    faculties = data.draw(histories("department", DEPARTMENTS, "faculty", FACULTIES))
    factors = data.draw(valued("factor", [("machine", each) for each in MACHINES]))
    rates = data.draw(valued("memory_gb_hour", [("department", each) for each in DEPARTMENTS]))
    files = [
        written(home / "users", "user", names, as_csv=as_csv),
        written(home / "departments", "department", faculties, as_csv=as_csv),
    ]
    if not (names and faculties):
        files = [each for each, rows in zip(files, (names, faculties), strict=True) if rows]
    if not names:  # then nobody tells what a department is
        return
    known = reference.names(files, zone)
    by = ("faculty", "day") if faculties else ("department", "day")
    if not (factors and rates):  # files without a row are refused
        return
    site = Valuation(
        known,
        reference.factors(written(home / "factors", "factor", factors, as_csv=False), zone, known),
        (reference.rates(written(home / "rates", "rate", rates, as_csv=False), zone, known),),
    )
    report = Report(by, zone=zone)
    fine = site.fine(report)
    found = data.draw(st.lists(jobs(zone), max_size=6))
    for job in found:
        fine.add(job)
    site.fold(fine, report)
    oracle = Evaluator(zone, names, faculties, factors, rates)
    wanted = defaultdict(lambda: [0, Fraction(0), Fraction(0)])
    for job in map(facts, found):
        time = int(job["EndTime"]) if "EndTime" in job else None
        group = oracle.faculty(job, time) if faculties else oracle.department(job, time)
        day = "" if time is None else f"{datetime.fromtimestamp(time, zone):%Y-%m-%d}"
        factor = oracle.number(factors, "factor", job, time)
        slots = int(job["Duration"]) * int(job["Processors"])
        price = oracle.number(rates, "memory_gb_hour", job, time) or Fraction(0)
        sums = wanted[group, day]
        sums[0] += 1
        sums[1] += slots * (1 if factor is None else factor)
        sums[2] += price * int(job["Duration"]) * job["Memory"] / (3600 << 30)
    told = {
        key: [totals.jobs, totals.more["slots"], totals.more["charge"]]
        for key, totals in report.groups.items()
    }
    assert told == dict(wanted)


@examples(10)
@given(st.data(), st.sampled_from(ZONES))
def test_a_run_over_a_change_is_divided_there(tmp_path_factory, data, zone):
    pytest.importorskip("duckdb")
    from sssjob.ledger import columns, ledger
    from sssjob.ledger.report import add_to

    home = tmp_path_factory.mktemp("site")
    names = data.draw(histories("user", USERS, "department", DEPARTMENTS))
    rates = data.draw(valued("wall_hour", []))
    if not (names and rates):
        return
    known = reference.names([written(home / "users", "user", names, as_csv=False)], zone)
    rates_file = written(home / "rates", "rate", rates, as_csv=False)
    site = Valuation(known, None, (reference.rates(rates_file, zone, known),))
    report = Report(("department",), zone=zone)
    fine = site.fine(report)
    found = data.draw(st.lists(jobs(zone), max_size=4, unique_by=lambda job: job.items[0].text))
    kept = ledger.create(home / "ledger")
    kept.add([columns.row(job) for job in found])
    add_to(fine, kept)
    site.fold(fine, report)
    oracle = Evaluator(zone, names, [], [], rates)
    changes = sorted({
        midnight(each, zone) for row in (*names, *rates) for each in (row["from"], row["until"])
        if each is not None
    })  # fmt: skip
    seconds, charges = defaultdict(int), defaultdict(Fraction)
    for job in map(facts, found):
        start, wall = int(job["StartTime"]), int(job["Duration"])
        end = int(job.get("EndTime", start + wall))
        times = [start, *(each for each in changes if start < each < end), end]
        for low, high in pairwise(times):
            part = high - low if start < end else wall
            at = low if start < end else end
            department = oracle.department(job, at)
            seconds[department] += part
            price = oracle.number(rates, "wall_hour", job, at) or Fraction(0)
            charges[department] += price * Fraction(part, 3600)
    told = {key: totals.wall for (key,), totals in report.groups.items() if totals.wall}
    assert told == {key: each for key, each in seconds.items() if each}
    charged = {
        key: totals.more["charge"] for (key,), totals in report.groups.items()
        if totals.more["charge"]
    }  # fmt: skip
    assert charged == {key: each for key, each in charges.items() if each}


def read(tmp_path, text, name="rates.toml", of=reference.rates):
    file = tmp_path / name
    file.write_text(text)
    if of is reference.names:
        return of([file], UTC)
    return of(file, UTC, reference.LevelNames())


@pytest.mark.parametrize(
    "name, of, text, line, told",
    [
        pytest.param("a.toml", reference.rates, "[[rate]]\nprocessor_hour = -1\n", 2,
                     "found '-1', expected a decimal number, 0 or more", id="below-0"),
        pytest.param("a.toml", reference.rates, "[[rate]]\njob = 1\n\n[[rate]]\njob = 2\n", 4,
                     "overlaps with that of line 1", id="two-for-all"),
        pytest.param("a.toml", reference.rates,
                     '[[rate]]\njob = 1\nqueue = "a"\n[[rate]]\njob = 2\nuser = "b"\n', 4,
                     "asks as much as that of line 1", id="not-clear-which"),
        pytest.param("a.toml", reference.rates, "[[rate]]\njob = 1\nqeue = \"a\"\n", 3,
                     "expected queue", id="misspelt"),
        pytest.param("a.toml", reference.rates, "[[rat]]\njob = 1\n", 1, "expected [[rate]]",
                     id="another-table"),
        pytest.param("a.toml", reference.rates, "[[rate]]\nqueue = \"a\"\n", 1, "found no number",
                     id="without-a-price"),
        pytest.param("a.toml", reference.rates, "decimals = 99\n[[rate]]\njob = 1\n", 1,
                     "a whole number from 0 to 12", id="decimals"),
        pytest.param("a.toml", reference.rates, "[[rate]]\njob = 1\nfrom = 2026-13-01\n", 3,
                     "no TOML", id="no-date"),
        pytest.param("a.csv", reference.rates, "job,from\n1,2026-02-30\n", 2,
                     "expected a time such as", id="no-date-in-CSV"),
        pytest.param("a.csv", reference.rates, "job,from,until\n1,2026-03,2026-02\n", 2,
                     "expected a time after 2026-03", id="ends-before-it-begins"),
        pytest.param("a.csv", reference.rates, "\0,\1\n", 0, "found no row", id="nothing"),
        pytest.param("a.toml", reference.names, "", 0, "found no row", id="nothing-named"),
        pytest.param("a.csv", reference.rates, "job,queue\n1\n", 2, "found 1 cells", id="short"),
        pytest.param("a.csv", reference.factors, "factor\n0\n", 2, "above 0", id="no-factor"),
        pytest.param("a.csv", reference.names, "user,person\namy,A\namy,B\n", 3,
                     "overlaps with that of line 2", id="two-people"),
        pytest.param("a.toml", reference.names, '[[user]]\nperson = "A"\n', 1,
                     "expected the name of a user", id="of-nobody"),
        pytest.param("a.toml", reference.names, '[[user]]\nname = "a"\nuser = "b"\n', 3,
                     "told by itself", id="itself"),
        pytest.param("a.toml", reference.names,
                     '[[user]]\nname = "a"\nteam = "b"\n[[queue]]\nname = "q"\nteam = "c"\n', 6,
                     "that of a user, as line 1", id="two-sources"),
        pytest.param("a.csv", reference.names, "user,wall_seconds\namy,A\n", 2,
                     "no span of time and no sum", id="called-like-a-sum"),
        pytest.param("a.toml", reference.names, '[[usr]]\nname = "a"\nteam = "b"\n', 1,
                     "expected", id="of-what"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(tmp_path, name, of, text, line, told):
    with pytest.raises(BadSettings) as caught:
        read(tmp_path, text, name, of)
    first = str(caught.value).splitlines()[0]
    place = f"{tmp_path / name}:{line}" if line else f"{tmp_path / name}"
    assert first.startswith(f"{place}: error: ")
    assert told in str(caught.value)


def test_rows_may_share_a_time_if_one_says_more(tmp_path):
    found = read(tmp_path, '[[rate]]\njob = 1\n[[rate]]\njob = 2\nqueue = "a"\nqos = "b"\n')
    values = found.prices["job"]
    assert values.of({"queue": "a", "qos": "b"}, 0) == 2
    assert values.of({"queue": "a", "qos": "c"}, 0) == 1


def test_levels_of_one_name_may_stand_in_several_rows(tmp_path):
    found = read(tmp_path, "user,person,team\namy,Amy,\namy,,red\n", "a.csv", reference.names)
    assert [found.of(each, {"user": "amy"}, 0, set()) for each in ("person", "team")] == [
        "Amy", "red",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "amount, decimals, text",
    [(Fraction(1, 200), 2, "0.01"), (Fraction(-1, 200), 2, "-0.01"), (Fraction(-1, 900), 2, "0.00"),
     (Fraction(3, 2), 0, "2"), (10**30, 2, f"{10**30}.00")],
)  # fmt: skip
def test_money_is_rounded_half_up_where_it_is_printed(amount, decimals, text):
    assert Money("", decimals).text(amount) == text


def test_charges_in_two_currencies_are_not_compared(tmp_path):
    euros = read(tmp_path, 'currency = "EUR"\n[[rate]]\njob = 1\n', "a.toml")
    pounds = read(tmp_path, 'currency = "GBP"\n[[rate]]\njob = 1\n', "b.toml")
    with pytest.raises(UnusableInput, match="EUR, 2 decimals and GBP"):
        Valuation(rates=(euros, pounds)).fine(Report())


def test_what_has_no_row_is_kept_and_counted(tmp_path):
    names = read(tmp_path, "user,team\namy,red\n", "a.csv", reference.names)
    rates = read(tmp_path, '[[rate]]\nqueue = "fast"\njob = 1\n')
    site = Valuation(names, rates=(rates,))
    report = Report(("team",))
    fine = site.fine(report)
    for user, queue in [("amy", "fast"), ("bob", "slow"), ("bob", "fast"), ("", "slow")]:
        fine.add(Job((Property("Id", "1"), Property("User", user), Property("Queue", queue))))
    site.fold(fine, report)
    assert {key: it.more["charge"] for (key,), it in report.groups.items()} == {
        "red": 1, "bob": 1, "": 0,
    }  # fmt: skip
    assert site.notes == [
        "1 name without team, kept: bob",
        f"no row for the job in {tmp_path / 'rates.toml'} of 2 jobs: not charged",
    ]
