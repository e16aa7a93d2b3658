import re

import pytest

from sssjob.errors import InvalidValue
from sssjob.features.read import read
from sssjob.features.update import TooSoon, change, expire
from sssjob.features.write import MANIFEST, write

NOW = 1_700_000_000


@pytest.fixture
def place(safe_path):
    write(
        {"grace_secs_job": 600, "grace_secs": 60, "jobstart_secs": NOW - 9, "job_id": "1"},
        safe_path,
    )
    return safe_path


@pytest.mark.parametrize(
    "name, text, value",
    [
        ("shutdowntime_job", "+3600", NOW + 3600),
        ("shutdowntime_job", "+2h", NOW + 7200),
        ("shutdowntime_job", "+10m", NOW + 600),
        ("shutdowntime_job", "+1d", NOW + 86400),
        ("shutdowntime_job", str(NOW + 700), NOW + 700),
        ("shutdowntime", "+60", NOW + 60),
        ("allocated_cpu", "4", 4),
        ("jobslots", "0", 0),
    ],
)
def test_a_dynamic_key_is_set_and_the_others_stay(place, name, text, value):
    assert change(name, text, place, NOW).value == value
    values = read(place, ()).values
    assert values[name] == str(value)
    assert values["job_id"] == "1"
    assert name in (place / MANIFEST).read_text().split()


@pytest.mark.parametrize(
    "name, text, earliest",
    [
        pytest.param("shutdowntime_job", "+599", NOW + 600, id="a second less than promised"),
        pytest.param("shutdowntime", "+59", NOW + 60, id="of the machine"),
        pytest.param("shutdowntime_job", str(NOW - 1), NOW + 600, id="in the past"),
    ],
)
def test_no_shutdown_comes_sooner_than_was_promised(place, name, text, earliest):
    with pytest.raises(TooSoon) as error:
        change(name, text, place, NOW)
    assert error.value.earliest == earliest
    assert not (place / name).exists()
    assert change(name, text, place, NOW, raise_=True).value == earliest


def test_without_a_promise_the_past_is_refused_and_the_rest_comes_with_advice(safe_path):
    with pytest.raises(TooSoon, match="past"):
        change("shutdowntime", str(NOW), safe_path, NOW)
    assert "grace_secs" in change("shutdowntime", "+1", safe_path, NOW).advice


def test_never_removes_a_shutdown(place):
    change("shutdowntime_job", "+3600", place, NOW)
    assert change("shutdowntime_job", "never", place, NOW).value is None
    assert not (place / "shutdowntime_job").exists()
    assert change("shutdowntime_job", "never", place, NOW).value is None, "also if there is none"


def test_both_names_of_a_key_change_together(safe_path):
    write({"allocated_cpu": 8, "allocated_CPU": 8}, safe_path)
    change("allocated_cpu", "4", safe_path, NOW)
    assert read(safe_path).values == {"allocated_cpu": 4, "allocated_CPU": 4}


@pytest.mark.parametrize(
    "name, text",
    [
        pytest.param("wall_limit_secs", "60", id="static"),
        pytest.param("nonsense", "60", id="unknown"),
        pytest.param("shutdowntime_job", "soon", id="no number"),
        pytest.param("shutdowntime_job", "2030-01-01T00:00:00Z", id="a calendar's time"),
        pytest.param("shutdowntime_job", "+1w", id="weeks"),
        pytest.param("allocated_cpu", "0", id="no processors"),
        pytest.param("allocated_cpu", "never", id="never is no number of processors"),
    ],
)
def test_what_is_no_dynamic_key_or_value_is_refused(place, name, text):
    with pytest.raises(InvalidValue):
        change(name, text, place, NOW)


@pytest.mark.parametrize(
    "moment, removed",
    [(NOW - 1, ("shutdowntime_job",)), (NOW, ("shutdowntime_job",)), (NOW + 1, ())],
)
def test_a_shutdown_that_has_come_is_removed(place, moment, removed):
    (place / "shutdowntime_job").write_text(f"{moment}\n")
    assert expire(place, NOW) == removed
    assert (place / "shutdowntime_job").exists() == (not removed)
    assert (place / "job_id").exists()


def test_a_shutdown_that_is_no_number_is_left_to_its_writer(place):
    (place / "shutdowntime").write_text("soon")
    assert expire(place, NOW) == ()


def test_a_removed_key_leaves_the_manifest(place):
    change("shutdowntime_job", "+3600", place, NOW)
    expire(place, NOW + 3600)
    assert "shutdowntime_job" not in (place / MANIFEST).read_text().split()


@pytest.mark.parametrize("kind", ["directory", "link"])
def test_what_stands_in_the_way_is_told_with_its_place_and_nothing_is_removed(safe_path, kind):
    place = safe_path / "a"
    write({"shutdowntime_job": NOW}, place)
    (place / ".sssjob").unlink()
    if kind == "link":
        (place / ".sssjob").symlink_to("/etc/hostname")
    else:
        (place / ".sssjob").mkdir()
    for act in (lambda: expire(place, NOW), lambda: change("shutdowntime_job", "+60", place, NOW)):
        with pytest.raises(OSError, match=re.escape(f"'{place}/.sssjob'")):
            act()
    assert (place / "shutdowntime_job").read_text() == f"{NOW}\n"
