"""Times and zones of records, as batch systems print them."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from sssjob.errors import InvalidValue
from sssjob.records import clock

NOON = datetime(2026, 11, 20, 12)


@pytest.mark.parametrize(
    ("name", "minutes"),
    [
        ("", 0),
        ("UTC", 0),
        ("utc", 0),
        ("Z", 0),
        ("+02:00", 120),
        ("-02:30", -150),
        ("+0230", 150),
        ("+02", 120),
        ("+23:59", 23 * 60 + 59),
        ("-23:59", -23 * 60 - 59),
        ("+00:00", 0),
    ],
)
def test_a_zone_is_utc_or_a_distance_from_it(name, minutes):
    assert clock.timezone(name).utcoffset(NOON) == timedelta(minutes=minutes)


def test_a_zone_is_known_by_its_name():
    assert clock.timezone("Europe/Berlin") == ZoneInfo("Europe/Berlin")
    assert clock.timezone("UTC") is UTC


@pytest.mark.parametrize("name", ["+24:00", "+02:60", "+02:99", "-24:30", "2:00", "Europe/Berlim"])
def test_what_is_no_zone_is_refused_with_its_text(name):
    with pytest.raises(InvalidValue) as caught:
        clock.timezone(name)
    assert name in str(caught.value)
    assert ("Europe/Berlin" in str(caught.value)) is (name == "Europe/Berlim")
