from fractions import Fraction

import pytest

from sssjob import document
from sssjob.amounts import Amount
from sssjob.expression.offers import offer
from sssjob.features import keys, machine, site

NOW = 1_700_000_000


def settings(text):
    return site.parse(text, "site.toml").of()


def host(**values):
    return {name: Amount(Fraction(value), "/proc/cpuinfo") for name, value in values.items()}


def job(body):
    return document.loads(f"<Job><Id>1</Id>{body}</Job>")


CONFIGURED = job(
    "<Delivered><Processors context='Configured'>64</Processors>"
    "<Resource name='HS06' context='Configured'>900.5</Resource></Delivered>"
)

CASES = [
    pytest.param(
        {"settings": settings("total_cpu = 14"), "host": host(total_cpu=16)},
        "total_cpu",
        14,
        id="setting",
    ),
    pytest.param(
        {"description": offer({"id": "n", "Processors": 32})}, "total_cpu", 32, id="description"
    ),
    pytest.param(
        {"description": offer({"id": "n", "Processors": {"Configured": 32, "Available": 3}})},
        "total_cpu",
        32,
        id="configured in a description",
    ),
    pytest.param({"job": CONFIGURED}, "total_cpu", 64, id="a job's configured processors"),
    pytest.param({"host": host(total_cpu=16)}, "total_cpu", 16, id="the machine itself"),
    pytest.param({}, "total_cpu", None, id="nothing"),
    pytest.param({"settings": settings("phys_cores = 8")}, "phys_cores", 8, id="cores set"),
    pytest.param({"host": host(phys_cores=8, total_cpu=16)}, "phys_cores", 8, id="cores counted"),
    pytest.param({"host": host(total_cpu=16)}, "phys_cores", None, id="cores are not guessed"),
    pytest.param({"settings": settings("log_cores = 0")}, "log_cores", 0, id="no hyper-threading"),
    pytest.param({"settings": settings("total_cpu = 14")}, "log_cores", 14, id="one a processor"),
    pytest.param(
        {"settings": settings("hs06 = 151.256")}, "hs06", Fraction("151.26"), id="to two decimals"
    ),
    pytest.param({"settings": settings("hepscore = 512")}, "hs06", 512, id="HEPscore"),
    pytest.param(
        {"settings": settings("hs06_per_cpu = 9.5\ntotal_cpu = 14")},
        "hs06",
        133,
        id="of each",
    ),
    pytest.param(
        {"settings": settings("hepscore_per_cpu = 10"), "host": host(total_cpu=3)},
        "hs06",
        30,
        id="HEPscore of each",
    ),
    pytest.param({"job": CONFIGURED}, "hs06", Fraction("900.5"), id="a job's configured rating"),
    pytest.param({"settings": settings("jobslots = 5")}, "jobslots", 5, id="slots set"),
    pytest.param({"host": host(total_cpu=16)}, "jobslots", 16, id="a slot a processor"),
    pytest.param(
        {"settings": settings(f"shutdowntime = {NOW + 1}")},
        "shutdowntime",
        NOW + 1,
        id="shutdown",
    ),
    pytest.param(
        {"settings": settings(f"shutdowntime = {NOW}")}, "shutdowntime", None, id="passed"
    ),
    pytest.param({"settings": settings("grace_secs = 60")}, "grace_secs", 60, id="grace"),
    pytest.param({}, "grace_secs", None, id="grace is never guessed"),
    pytest.param(
        {"settings": settings("shutdown_command = '/sbin/off'")},
        "shutdown_command",
        "/sbin/off",
        id="command",
    ),
    pytest.param(
        {
            "job": job("<Extension type='MachineFeatures' name='hs06'>7</Extension>"),
            "settings": settings("hs06 = 9"),
        },
        "hs06",
        7,
        id="an extension wins",
    ),
    pytest.param(
        {"job": job("<Extension type='MachineFeatures' name='rack'>r7</Extension>")},
        "rack",
        "r7",
        id="an extension of another name",
    ),
]


@pytest.mark.parametrize("options, key, value", CASES)
def test_a_key_comes_from_its_first_source(options, key, value):
    assert machine.derive(**options, now=NOW).values.get(key) == value


@pytest.mark.parametrize("row", keys.MACHINE_FEATURES, ids=lambda row: row.name)
def test_every_key_has_cases_above_and_a_reason_when_it_is_absent(row):
    assert row.name in {case.values[1] for case in CASES}
    assert row.name in machine.derive().absent


def test_sources_that_differ_are_reported_and_a_setting_needs_no_check():
    described = offer({"id": "n", "Processors": 32})
    found = machine.derive(description=described, host=host(total_cpu=16))
    assert [finding.code for finding in found.findings] == ["W-DISAGREE"]
    found = machine.derive(settings=settings("total_cpu = 14"), host=host(total_cpu=16))
    assert found.findings == ()


def test_every_value_names_its_source():
    found = machine.derive(settings=settings("hepscore = 5"), host=host(total_cpu=2))
    sources = {name: item.source for name, item in found.derived.items()}
    assert sources["hs06"] == "site.toml"
    assert sources["total_cpu"] == "/proc/cpuinfo"
    assert "HEPscore23" in found.derived["hs06"].why
