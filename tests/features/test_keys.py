from fractions import Fraction

import pytest

from sssjob.errors import InvalidValue
from sssjob.features import keys

BOTH = (*keys.MACHINE_FEATURES, *keys.JOB_FEATURES)

# Name in 2014, name in 2016, type, dynamic, required: the tables as they are printed.
PRINTED = [
    ("hs06", "hs06", "real", False, "R"),
    ("shutdowntime", "shutdowntime", "time", True, "O"),
    ("jobslots", "", "integer", True, "R"),
    ("phys_cores", "", "integer", False, "R"),
    ("log_cores", "", "integer", False, "R"),
    ("shutdown_command", "", "text", False, "O"),
    ("", "total_cpu", "integer", False, "R"),
    ("", "grace_secs", "integer", False, "C"),
    ("cpufactor_lrms", "", "real", False, "R"),
    ("cpu_limit_secs_lrms", "", "s", False, "R"),
    ("cpu_limit_secs", "cpu_limit_secs", "s", False, "R"),
    ("wall_limit_secs_lrms", "", "s", False, "R"),
    ("wall_limit_secs", "wall_limit_secs", "s", False, "R"),
    ("disk_limit_GB", "scratch_limit_bytes", "GB", False, "R"),
    ("mem_limit_MB", "max_rss_bytes", "MB", False, "R"),
    ("", "max_swap_bytes", "bytes", False, "R"),
    ("jobstart_secs", "jobstart_secs", "time", False, "R"),
    ("allocated_CPU", "allocated_cpu", "integer", True, "R"),
    ("shutdowntime_job", "shutdowntime_job", "time", True, "O"),
    ("", "grace_secs_job", "integer", False, "C"),
    ("", "hs06_job", "real", False, "R"),
    ("", "job_id", "text", False, "R"),
]


# $JOBSTATUS, which only the text of 2014 has: name, type, what is the smallest number.
PRINTED_STATUS = [
    ("used_CPU", "real", 0),
    ("last_job_start", "time", 1),
    ("first_exp_job_end", "time", 1),
    ("last_exp_job_end", "time", 1),
    ("last_max_job_end", "time", 1),
    ("add_uncom_time", "s", 0),
    ("add_final_exp_waste", "s", 0),
    ("can_postpone_last_job", "boolean", None),
    ("priority_factor", "integer", -keys.LARGEST),
]


def test_the_rows_of_the_status_are_those_that_are_printed_in_their_order():
    assert [(row.v2014, row.kind, row.least) for row in keys.JOB_STATUS] == PRINTED_STATUS
    assert all(row.dynamic and not row.v2016 for row in keys.JOB_STATUS)


@pytest.mark.parametrize("printed", PRINTED, ids=lambda row: row[1] or row[0])
def test_every_printed_row_is_a_row_here(printed):
    rows = [(row.v2014, row.v2016, row.kind, row.dynamic, row.required) for row in BOTH]
    assert printed in rows


def test_there_are_no_other_rows():
    assert len(BOTH) == len(PRINTED)


@pytest.mark.parametrize("row", BOTH, ids=lambda row: row.name)
def test_a_row_is_found_by_either_name_and_every_name_is_a_key(row):
    for name in filter(None, (row.v2014, row.v2016)):
        assert keys.key(name, BOTH) is row
        assert keys.is_name(name)


def test_the_names_of_2016_have_no_capitals():
    names = (*keys.names(keys.MACHINE_FEATURES), *keys.names(keys.JOB_FEATURES))
    assert len(names) == 4 + 11
    assert all(name == name.lower() for name in names)


@pytest.mark.parametrize("name", ["", "README.md", ".hs06", "a/b", "hs06\0", "hs06\n", "ä", "a-b"])
def test_a_name_outside_the_alphabet_is_no_key(name):
    assert not keys.is_name(name)


@pytest.mark.parametrize(
    "name, found",
    [
        ("hs06", True), ("allocated_CPU", True), ("used_CPU", True), ("mem_limit_MB", True),
        ("my_key2", True), ("README", False), ("Hs06", False), ("README.md", False), (".x", False),
    ],
)  # fmt: skip
def test_of_names_with_capitals_only_printed_ones_are_taken_for_keys(name, found):
    assert keys.is_found(name) is found


def test_an_unknown_key_has_no_row():
    assert keys.key("volume", BOTH) is None
    assert keys.key("", BOTH) is None


@pytest.mark.parametrize(
    "name, text, value",
    [
        pytest.param("allocated_cpu", "8\n", 8, id="newline"),
        pytest.param("allocated_cpu", " 8 \r\n", 8, id="CR and blanks"),
        pytest.param("jobstart_secs", "1455180000.75", 1455180000, id="time with a fraction"),
        pytest.param("wall_limit_secs", "3600.9", 3600, id="seconds are rounded down"),
        pytest.param("max_rss_bytes", "2e9", 2_000_000_000, id="exponent"),
        pytest.param("hs06_job", "11.25", Fraction("11.25"), id="rating"),
        pytest.param("disk_limit_GB", "0.5", Fraction(1, 2), id="fraction of a gigabyte"),
        pytest.param("mem_limit_MB", "4000", Fraction(4000), id="megabytes"),
        pytest.param("grace_secs_job", "0", 0, id="no grace"),
        pytest.param("log_cores", "0", 0, id="no hyper-threading"),
        pytest.param("shutdowntime", "10000000000", 10**10, id="more than 32 bits"),
        pytest.param("job_id", " PBS.1 \n", "PBS.1", id="text"),
        pytest.param("volume", "eleven\n", "eleven", id="unknown key"),
    ],
)
def test_a_value_is_read_by_the_type_of_its_key(name, text, value):
    assert keys.parse(text, keys.key(name, BOTH), name) == value


@pytest.mark.parametrize(
    "name, text",
    [
        pytest.param("allocated_cpu", "0", id="no processors"),
        pytest.param("allocated_cpu", "0.5", id="half a processor"),
        pytest.param("wall_limit_secs", "-1", id="negative"),
        pytest.param("grace_secs_job", "-1", id="negative grace"),
        pytest.param("hs06_job", "0", id="no rating"),
        pytest.param("max_rss_bytes", "NaN", id="NaN"),
        pytest.param("max_rss_bytes", "9223372036854775808", id="2^63"),
        pytest.param("jobstart_secs", "2016-02-11T08:40:00Z", id="ISO time"),
        pytest.param("cpu_limit_secs", "1,024", id="comma"),
    ],
)
def test_an_impossible_value_is_refused(name, text):
    with pytest.raises(InvalidValue):
        keys.parse(text, keys.key(name, BOTH), name)


@pytest.mark.parametrize(
    "name, value, new, converted",
    [
        pytest.param("disk_limit_GB", 20, "scratch_limit_bytes", 20 * 10**9, id="GB is 10^9"),
        pytest.param(
            "disk_limit_GB", Fraction("0.0005"), "scratch_limit_bytes", 500_000, id="0.0005"
        ),
        pytest.param("mem_limit_MB", 4000, "max_rss_bytes", 4 * 10**9, id="MB is 10^6"),
        pytest.param("allocated_CPU", 8, "allocated_cpu", 8, id="same number"),
        pytest.param("cpufactor_lrms", 1, "cpufactor_lrms", 1, id="only in 2014"),
        pytest.param("wall_limit_secs", 60, "wall_limit_secs", 60, id="same in both"),
    ],
)
def test_a_2014_key_is_turned_into_its_successor(name, value, new, converted):
    assert keys.modern(name, value) == (new, converted)


@pytest.mark.parametrize(
    "value, text",
    [(2147483648, "2147483648"), (Fraction(1125, 100), "11.25"), (Fraction(8), "8"), ("x", "x")],
)
def test_numbers_are_spelled_without_needless_points(value, text):
    assert keys.spell(value) == text
