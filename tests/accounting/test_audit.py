"""Audits: runs that were read held against those that are listed, and against sums."""
# ruff: noqa: E501 (a row is a line)

from fractions import Fraction
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from counting import calls
from hypothesis import given
from hypothesis import strategies as st

from sssjob import loads
from sssjob.accounting import statements
from sssjob.accounting.audit import ALIKE, KINDS, AuditQuestion, SystemStatement, audit
from sssjob.accounting.run import StatedRun, run_of, runs_of
from sssjob.errors import UnusableInput
from sssjob.systems.slurm import sreport

DAY = 86400


def run(id="7", submit=100, start=200, end=300, machine="c", **more):
    return StatedRun(machine, id, submit, start, end, **more)


def amiss(read, listed, **question):
    found = audit(AuditQuestion(**question), read, listed)
    return {kind: number for kind, number in found.total.amiss.items() if number}


LISTED = [run("7"), run("8", end=DAY + 5), run("9", end=DAY + 9)]

# fmt: off
CASES = [
    #            what was read                                       what is amiss
    pytest.param(LISTED,                                             {},                id="all"),
    pytest.param(LISTED[1:],                                         {"missing": 1},    id="one-is-not-there"),
    pytest.param(LISTED[:1],                                         {"truncated": 2},  id="the-end-is-not-there"),
    pytest.param([LISTED[0], run("1", end=9 * DAY)],                 {"truncated": 2},  id="behind-in-the-listing"),
    pytest.param([],                                                 {"missing": 3},    id="nothing"),
    pytest.param([*LISTED, LISTED[0]],                               {"doubled": 1},    id="one-twice"),
    pytest.param([*LISTED, run("10")],                               {"unlisted": 1},   id="one-more"),
    pytest.param([*LISTED, run("10", end=9 * DAY)],                  {},                id="one-of-another-day"),
    pytest.param([*LISTED[:2], run("9", end=None)],                  {"changed": 1},    id="one-that-ran-then"),
    pytest.param([*LISTED, run("9", end=None)],                      {},                id="looked-at-before-it-ended"),
    pytest.param([*LISTED, run("9", start=None, end=None)],          {},                id="looked-at-while-it-waited"),
    pytest.param([*LISTED[:2], run("9", end=DAY + 8)],               {},                id="an-end-that-is-no-value"),
    pytest.param([*LISTED[::2], run("8", start=250, end=DAY + 5)],   {"missing": 1, "unlisted": 1}, id="another-run"),
    pytest.param([*LISTED[:2], run("9", submit=None, start=None, end=DAY + 9)], {},     id="without-times"),
    pytest.param([each._replace(machine="") for each in LISTED],     {},                id="without-machine"),
    pytest.param([each._replace(machine="d") for each in LISTED],    {"missing": 3, "unlisted": 3}, id="another-machine"),
]
# fmt: on


@pytest.mark.parametrize("read, expected", CASES)
def test_what_is_amiss_is_counted_by_its_kind(read, expected):
    assert amiss(read, LISTED) == expected


def test_what_was_changed_later_is_told_with_both_values():
    read = run(said=(("EndTime", "300"), ("Processors", "4")))
    now = run(end=360, said=(("EndTime", "360"), ("Processors", "4"), ("ExitCode", "1")))
    (found,) = audit(AuditQuestion(), [read], [now]).findings
    assert (found.kind, found.why) == ("changed", "EndTime 300, now 360")


def test_whom_a_run_is_charged_to_may_change_later():
    def told(user, account):
        return loads(f"<Job><Id>7</Id><EndTime>9</EndTime><StartTime>5</StartTime>"
                     f"<Delivered><User>{user}</User>{account}</Delivered></Job>")  # fmt: skip

    read = runs_of([told("amy", "<Project>p</Project>")])
    now = [*runs_of([told("amy", "<Project>q</Project>")])]
    (found,) = audit(AuditQuestion(), read, now).findings
    assert (found.kind, found.why) == ("changed", "Project p, now q")
    without = [*runs_of([told("amy", "")])]
    assert audit(AuditQuestion(), without, now).findings == []


def test_two_runs_of_a_job_are_paired_each_with_its_own():
    first, second = run(start=200, end=300), run(start=400, end=500)
    vague = run(submit=None, start=None, end=300)
    assert amiss([second, first], [first, second]) == {}
    assert amiss([vague, second], [second, first]) == {}
    assert amiss([second], [first, second]) == {"missing": 1}


def test_jobs_without_times_are_never_taken_for_the_same():
    bare = run(submit=None, start=None)
    assert amiss([bare, bare], None) == {}
    assert amiss([run(), run()], None) == {"doubled": 1}


def test_rows_are_days_of_a_zone_and_the_span_is_that_of_the_listing():
    found = audit(AuditQuestion(zone=ZoneInfo("America/Los_Angeles")), LISTED, LISTED)
    assert [(row.day, row.listed, row.read) for row in found.rows] == [
        ("1969-12-31", 1, 1), ("1970-01-01", 2, 2),
    ]  # fmt: skip
    late = run("1", end=5 * DAY)
    assert audit(AuditQuestion(), [*LISTED, late], LISTED).outside == 1
    assert amiss([*LISTED, late], LISTED, until=9 * DAY) == {"unlisted": 1}
    assert amiss(LISTED[:1], LISTED, since=0, until=DAY) == {}


def test_jobs_of_documents_say_which_run_they_are():
    job = loads(
        "<Job><Id>5_1</Id><SubmitTime>100</SubmitTime><StartTime>200</StartTime>"
        "<EndTime>300</EndTime><ExitCode>1</ExitCode><Delivered><Machine>c</Machine>"
        "<Duration>90</Duration><Processors>4</Processors></Delivered>"
        '<Extension type="Slurm" name="JobIDRaw">77</Extension></Job>'
    )
    said = (("EndTime", "300"), ("Duration", "90"), ("Processors", "4"), ("ExitCode", "1"))
    expected = run("5_1", said=said, number=77, wall=90, processors=4, is_usage=False)
    assert run_of(job, [("Slurm", "JobIDRaw")]) == expected
    assert run_of(job).number == 5
    group = loads("<JobGroup><Job><Id>1</Id></Job><Job><Id>x</Id></Job></JobGroup>")
    assert [(each.id, each.number, each.end) for each in runs_of([group])] == [
        ("1", 1, None), ("x", None, None),
    ]  # fmt: skip


def test_gaps_are_numbers_that_neither_side_has():
    read = [run(str(number), number=number) for number in (3, 4, 9, 12)]
    listed = [*read, run("10", end=None, number=10)]
    found = audit(AuditQuestion(gaps=True), read, listed)
    assert [gap[1:] for gap in found.gaps] == [(5, 8), (11, 11)]
    assert not found.is_well
    assert audit(AuditQuestion(), read, listed).gaps == []


# fmt: off
SUMS = [
    pytest.param(SystemStatement("s", 0, 400, jobs=1),                            1,    True,  id="jobs"),
    pytest.param(SystemStatement("s", 0, 400, jobs=2),                            1,    False, id="more-jobs"),
    pytest.param(SystemStatement("s", 300, 400, jobs=1),                          1,    True,  id="the-first-second-counts"),
    pytest.param(SystemStatement("s", 0, 300, jobs=1),                            0,    False, id="the-last-does-not"),
    pytest.param(SystemStatement("s", 0, 400, jobs=1, machine="d"),               0,    False, id="another-machine"),
    pytest.param(SystemStatement("s", 0, 400, jobs=1, submit_host="h"),           1,    True,  id="a-host-nobody-states"),
    pytest.param(SystemStatement("s", 0, 400, processor_seconds=360),             360,  True,  id="without-suspension"),
    pytest.param(SystemStatement("s", 250, 400, processor_seconds=200),           200,  True,  id="the-part-in-the-span"),
    pytest.param(SystemStatement("s", 0, 400, processor_seconds=400),             360,  False, id="more-seconds"),
    pytest.param(SystemStatement("s", 0, 400, processor_seconds=300, exact_to=60), 360, False, id="a-minute-off"),
    pytest.param(SystemStatement("s", 0, 400, processor_seconds=301, exact_to=60), 360, True,  id="rounded"),
]
# fmt: on


@pytest.mark.parametrize("statement, found, is_well", SUMS)
def test_sums_are_held_against_those_of_what_was_read(statement, found, is_well):
    compared = audit(AuditQuestion(), [run(wall=90, processors=4)], None, [statement]).sums[0]
    assert (compared.found, compared.is_well) == (found, is_well)


def test_jobs_that_APEL_leaves_out_are_in_no_sum_of_its_own():
    statement = SystemStatement("s", 0, 400, jobs=1)
    runs = [run("7"), run("8", is_usage=False)]
    assert audit(AuditQuestion(), runs, None, [statement]).sums[0].found == 1


def test_processor_seconds_may_differ_by_a_tolerance():
    statement = SystemStatement("s", 0, 400, processor_seconds=400)
    question = AuditQuestion(tolerance=Fraction(1, 10))
    assert audit(question, [run(wall=90, processors=4)], None, [statement]).is_well


def test_a_total_says_all_kinds():
    assert tuple(audit(AuditQuestion(), [], []).total.amiss) == KINDS


SYNC = """APEL-sync-message: v0.1
Site: RAL
SubmitHost: ce.example.org
NumberOfJobs: 100
Month: 12
Year: 2025
%%
"""


def test_messages_of_synchronisation_state_the_jobs_of_a_month():
    (found,) = statements.read("s", SYNC)
    assert (found.jobs, found.submit_host) == (100, "ce.example.org")
    assert (found.since, found.until) == (1764547200, 1767225600)
    assert statements.recognises(SYNC.encode())


@pytest.mark.parametrize("text, why", [
    pytest.param(SYNC.replace("100", "many"), "line 7: a record needs whole numbers", id="no-number"),
    pytest.param(SYNC.replace("12", "13"), "line 7: 2025-13 is no month", id="no-month"),
    pytest.param(SYNC.replace("%%", ""), "does not end with %%", id="cut-off"),
])  # fmt: skip
def test_a_message_that_cannot_be_read_is_refused(text, why):
    with pytest.raises(UnusableInput, match=why):
        list(statements.read("s", text))


# Hand-written after what sreport 22.05 prints of an empty span; tests/interop has a real one.
SREPORT = """\
--------------------------------------------------------------------------------
Cluster/Account/User Utilization 2026-11-20T00:00:00 - 2026-11-20T23:59:59 (86400 secs)
Usage reported in CPU {unit}
--------------------------------------------------------------------------------
Cluster|Account|Login|Proper Name|Used|Energy
c|root|||70|0
c|root|amy|Amy|40|0
c|physics|||30|0
c|physics|bob||30|0
d|root|||5|0
"""


@pytest.mark.parametrize("unit, scale", [("Seconds", 1), ("Minutes", 60), ("Hours", 3600)])
def test_sreport_states_what_each_cluster_was_used(unit, scale):
    text = SREPORT.format(unit=unit)
    assert sreport.recognises(text.encode())
    assert [(each.machine, each.processor_seconds) for each in sreport.read("s", text)] == [
        ("c", 70 * scale), ("d", 5 * scale),
    ]  # fmt: skip
    first = next(sreport.read("s", text, "Europe/Paris"))
    assert (first.since, first.until) == (1795129200, 1795215600)


# Printed by Slurm 22.05.8, sreport -P -t Seconds cluster Utilization, with SLURM_TIME_FORMAT=%s.
PRINTED = """\
--------------------------------------------------------------------------------
Cluster Utilization 1795294800 - 1795381199
Usage reported in CPU Seconds
--------------------------------------------------------------------------------
Cluster|Allocated|Down|PLND Down|Idle|Planned|Reported
sssjob|6|0|0|158633|1|158640
"""


def test_what_a_real_sreport_printed_is_read():
    (found,) = sreport.read("s", PRINTED)
    assert found == SystemStatement(
        "s", 1795294800, 1795381200, processor_seconds=6, machine="sssjob"
    )  # fmt: skip


def test_utilization_of_clusters_is_read_and_anything_else_refused():
    text = SREPORT.format(unit="Seconds")
    head = text.replace("/Account/User", "").splitlines()[:4]
    rows = ("Cluster|Allocated|Down|PLND Down|Idle|Planned|Reported", "c|70|0|0|16|0|86")
    (found,) = sreport.read("s", "\n".join((*head, *rows)))
    assert found.processor_seconds == 70
    for bad in (text.replace("CPU Seconds", "Percentage of Total"), text.replace("|70|", "|x|"),
                text.replace("|", "  "), text[:100], ""):  # fmt: skip
        with pytest.raises(UnusableInput):
            list(sreport.read("s", bad))


NUMBERS = st.sets(st.integers(0, 40), max_size=12)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_a_gap_is_a_number_between_two_of_a_machine_that_nobody_has(mine, others, listed):
    read = [
        run(f"{at}", machine=machine, number=at)
        for machine, some in (("a", mine), ("b", others))
        for at in some
    ]
    told = [run(f"{at}", machine="c", number=at) for at in listed]
    found = audit(AuditQuestion(gaps=True), read, told)
    expected = []
    for machine, some in (("a", mine), ("b", others)):
        there = sorted(
            some | {each for each in listed if each and some and min(some) < each < max(some)}
        )
        expected += [
            (machine, one + 1, other - 1) for one, other in pairwise(there) if other > one + 1
        ]
    assert [tuple(each) for each in found.gaps] == expected


def few_ids(count, **more):
    """Runs of five ids, begun at once, each on a machine of its own."""
    return [run(f"{at % 5}", machine=f"m{at}", number=at % 5, **more) for at in range(count)]


def later_ids(count):
    return [
        run(f"{at % 5}", submit=at, start=at + 1, end=at + 9, number=5 * at) for at in range(count)
    ]


SIDES = {
    "few ids": lambda count: (few_ids(count), None),
    "few ids, and others that are listed": lambda count: (few_ids(count), few_ids(count, whose="x")),
    "users": lambda count: ([run(whose=f"u{at}", one="g", end=at) for at in range(count)], None),
    "those that wait": lambda count: (few_ids(count) + [run(f"{at % 5}", submit=None, start=None, end=None, machine=f"w{at}") for at in range(count)], None),
    "changed": lambda count: (later_ids(count), [each._replace(end=each.end + 1) for each in later_ids(count)]),
    "nothing known": lambda count: ([run(submit=None, start=None, end=at) for at in range(count)], [run(submit=None, start=None, end=at, whose="x") for at in range(count)]),
    "gaps of machines": lambda count: ([run(f"{at}", machine=f"m{at // 2}", number=at % 2 * count) for at in range(count)], [run(f"{at}", number=at) for at in range(count)]),
}  # fmt: skip


@pytest.mark.parametrize("sides", SIDES.values(), ids=SIDES)
def test_an_audit_costs_as_much_as_there_are_runs(sides):
    question = AuditQuestion(gaps=True)
    some, twice = (sides(count) for count in (24 * ALIKE, 48 * ALIKE))
    assert calls(audit, question, *twice) <= 2.3 * calls(audit, question, *some) + 2000


def test_changed_runs_of_an_id_are_each_found_however_many_there_are():
    read = later_ids(40 * ALIKE)
    found = audit(
        AuditQuestion(),
        read,
        [each._replace(end=each.end + 1, said=(("EndTime", "5"),)) for each in read],
    )
    assert (found.total.read, found.total.listed) == (len(read), len(read))
    assert not found.total.amiss["missing"]
    assert not found.total.amiss["unlisted"]


# decision 1172
def test_of_runs_that_begin_at_once_so_many_are_compared():
    others = [run(machine=f"m{at}") for at in range(ALIKE)]
    less = run(machine="")
    assert amiss([run(machine="c"), *others, less], None) == {"doubled": 1}
    assert amiss([*others, run(machine="c"), run(machine="c", submit=None)], None) == {}
