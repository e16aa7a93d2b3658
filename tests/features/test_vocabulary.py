from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.features import keys
from sssjob.features.vocabulary import made_of, modern, older, spoken, typed

BOTH = (*keys.JOB_FEATURES, *keys.MACHINE_FEATURES)

# The conversions of section 3: what stands there, the other vocabulary's key, its value.
TO_2014 = [
    pytest.param(
        {"scratch_limit_bytes": 20 * 10**9 + 5}, "disk_limit_GB", 20, id="whole gigabytes"
    ),
    pytest.param(
        {"scratch_limit_bytes": 512_999_999},
        "disk_limit_GB",
        Fraction("0.512"),
        id="three decimals",
    ),
    pytest.param({"scratch_limit_bytes": 999_999}, "disk_limit_GB", None, id="nothing is left"),
    pytest.param({"max_rss_bytes": 2**31}, "mem_limit_MB", 2147, id="2 GiB are 2147 MB"),
    pytest.param({"max_rss_bytes": 999_999}, "mem_limit_MB", None, id="less than a megabyte"),
    pytest.param({"allocated_cpu": 8}, "allocated_CPU", 8, id="same number"),
    pytest.param(
        {"cpu_limit_secs": 100, "cpufactor_lrms": Fraction(3, 2)},
        "cpu_limit_secs_lrms",
        150,
        id="normalised is real times factor",
    ),
    pytest.param(
        {"wall_limit_secs": 101, "cpufactor_lrms": Fraction(1, 2)},
        "wall_limit_secs_lrms",
        50,
        id="rounded down",
    ),
    pytest.param({"wall_limit_secs": 60}, "cpufactor_lrms", 1, id="the reference machine"),
    pytest.param(
        {"wall_limit_secs": 60}, "wall_limit_secs_lrms", 60, id="on the reference machine"
    ),
    pytest.param({"total_cpu": 16}, "log_cores", 16, id="logical cores"),
    pytest.param({"total_cpu": 16}, "phys_cores", None, id="physical cores are not guessed"),
    *(
        pytest.param({name: 7}, name, 7, id=name)
        for name in (
            "shutdowntime",
            "shutdowntime_job",
            "jobstart_secs",
            "wall_limit_secs",
            "cpu_limit_secs",
            "max_swap_bytes",
            "grace_secs",
            "grace_secs_job",
            "hs06_job",
            "hs06",
        )
    ),
    pytest.param({"job_id": "PBS.1"}, "job_id", "PBS.1", id="job_id"),
]

TO_2016 = [
    pytest.param({"disk_limit_GB": Fraction("0.5")}, "scratch_limit_bytes", 5 * 10**8, id="GB"),
    pytest.param({"mem_limit_MB": 4000}, "max_rss_bytes", 4 * 10**9, id="4 GB are 4000 MB"),
    pytest.param({"allocated_CPU": 8}, "allocated_cpu", 8, id="allocated"),
    pytest.param(
        {"cpu_limit_secs_lrms": 150, "cpufactor_lrms": Fraction(3, 2)},
        "cpu_limit_secs",
        100,
        id="real is normalised by factor",
    ),
    pytest.param(
        {"wall_limit_secs_lrms": 100, "cpufactor_lrms": Fraction(1, 2)},
        "wall_limit_secs",
        200,
        id="a slow node runs longer",
    ),
    pytest.param({"wall_limit_secs_lrms": 100}, "wall_limit_secs", None, id="without a factor"),
    pytest.param({"log_cores": 16, "phys_cores": 8}, "total_cpu", 16, id="logical cores count"),
    pytest.param({"log_cores": 0, "phys_cores": 8}, "total_cpu", 8, id="no hyper-threading"),
    pytest.param({"total_cpu": 12, "log_cores": 16}, "total_cpu", 12, id="the newer key stays"),
    pytest.param({"jobslots": 4}, "total_cpu", None, id="a slot may have several cores"),
]


@pytest.mark.parametrize("values, name, expected", TO_2014)
def test_a_value_of_2016_in_the_vocabulary_of_2014(values, name, expected):
    assert older(values).get(name) == expected


@pytest.mark.parametrize("values, name, expected", TO_2016)
def test_a_value_of_2014_in_the_vocabulary_of_2016(values, name, expected):
    found, faults = modern(values)
    assert found.get(name) == expected
    assert faults == []


@pytest.mark.parametrize(
    "values, name, counts",
    [
        pytest.param(
            {"mem_limit_MB": 4000, "max_rss_bytes": 2**31}, "max_rss_bytes", 2**31, id="size"
        ),
        pytest.param(
            {"wall_limit_secs": 100, "wall_limit_secs_lrms": 100, "cpufactor_lrms": Fraction(1, 2)},
            "wall_limit_secs",
            100,
            id="the key that is not normalised",
        ),
        pytest.param({"phys_cores": 16, "log_cores": 8}, "phys_cores", 8, id="cores swapped"),
    ],
)
def test_a_contradiction_is_reported_and_resolved(values, name, counts):
    found, faults = modern(values)
    assert found[name] == counts
    assert [fault.code for fault in faults] == ["W-DISAGREE"]


def test_both_vocabularies_hold_every_name_of_each():
    values = {"allocated_cpu": 8, "max_rss_bytes": 10**9, "wall_limit_secs": 60, "volume": "11"}
    both = spoken(values, "both")
    assert both.keys() == {
        "allocated_cpu", "allocated_CPU", "max_rss_bytes", "mem_limit_MB", "wall_limit_secs",
        "wall_limit_secs_lrms", "cpufactor_lrms", "volume",
    }  # fmt: skip
    assert spoken({**values, "cpufactor_lrms": 1}, "2016") == values
    assert "max_rss_bytes" not in spoken(values, "2014")


@pytest.mark.parametrize("row", [row for row in BOTH if row.v2014], ids=lambda row: row.v2014)
def test_every_name_of_2014_is_made_of_a_key_that_is_known(row):
    assert keys.key(made_of(row.v2014), BOTH) is not None


def test_what_is_no_number_spares_the_rest():
    values, faults = typed({"allocated_cpu": "8 cores", "job_id": "1"}, keys.JOB_FEATURES)
    assert values == {"job_id": "1"}
    assert "allocated_cpu is not read: '8 cores'" in faults[0].message


def test_payloads_get_decimal_numbers_without_the_module_of_fractions():
    values, _ = typed({"hs06": "151.25", "total_cpu": "16"}, keys.MACHINE_FEATURES, float)
    assert values == {"hs06": 151.25, "total_cpu": 16}
    assert type(values["hs06"]) is float


SIZES = st.integers(10**6, 2**62)


@given(st.fixed_dictionaries({}, optional={"max_rss_bytes": SIZES, "scratch_limit_bytes": SIZES}))
def test_a_limit_is_understated_by_less_than_a_unit_and_never_overstated(values):
    there = {name: value for name, value in older(values).items() if name.endswith(("MB", "GB"))}
    back, faults = modern(there)
    assert faults == []
    for name, value in values.items():
        unit = 10**6 if name == "max_rss_bytes" or value < 10**9 else 10**9
        assert 0 <= value - back[name] < unit


@given(st.integers(1, 10**9), st.fractions("1/50", 50))
def test_normalised_times_come_back_within_rounding_and_do_not_disagree(seconds, factor):
    values = {"wall_limit_secs": seconds, "cpufactor_lrms": factor}
    found, faults = modern(older(values))
    assert found["wall_limit_secs"] == seconds
    assert faults == []
    del (there := older(values))["wall_limit_secs"]
    assert (
        seconds - 1 - 1 / factor <= modern(there)[0]["wall_limit_secs"] <= max(seconds, 1 / factor)
    )
