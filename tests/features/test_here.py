import os
import subprocess
import sys

import pytest

from sssjob import features
from sssjob.features.write import write

START = 1_700_000_000


@pytest.fixture
def given(tmp_path):
    write({"total_cpu": 16, "hs06": "151.25"}, tmp_path / "machine")
    write({"allocated_cpu": 8, "jobstart_secs": START, "wall_limit_secs": 3600}, tmp_path / "job")
    return {"MACHINEFEATURES": str(tmp_path / "machine"), "JOBFEATURES": str(tmp_path / "job")}


def test_both_directories_are_read(given):
    found = features.here(given)
    assert found.machine == {"total_cpu": 16, "hs06": 151.25}
    assert found.job["allocated_cpu"] == 8
    assert found.left(START + 600).time == 3000
    assert found.problems == ()


def test_the_environment_of_the_process_is_meant(given, monkeypatch):
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert features.here().job["allocated_cpu"] == 8


def test_keys_of_2014_are_known_by_their_newer_names(tmp_path):
    write({"mem_limit_MB": 4000, "phys_cores": 8, "log_cores": 0}, tmp_path)
    found = features.here({"JOBFEATURES": f"{tmp_path}/", "MACHINEFEATURES": str(tmp_path)})
    assert found.job["max_rss_bytes"] == 4 * 10**9
    assert found.machine["total_cpu"] == 8


@pytest.mark.parametrize(
    "name, content, problem",
    [
        pytest.param("allocated_cpu", b"8 cores", "allocated_cpu", id="a unit"),
        pytest.param("allocated_cpu", b"8\0", "NUL", id="NUL"),
        pytest.param("job_id", b"x" * (1 << 20), "4096 bytes", id="a megabyte"),
        pytest.param("job_id", b"\xff", "UTF-8", id="not UTF-8"),
        pytest.param("wall_limit_secs", b"-1", "above 0", id="negative"),
        pytest.param("shutdowntime_job", b"12", "2001", id="a shutdown before 2001"),
        pytest.param("max_rss_bytes", b"9" * 40, "9223372036854775807", id="beyond 64 bits"),
    ],
)
def test_what_is_bad_is_a_problem_of_its_key_and_nothing_is_raised(given, name, content, problem):
    with open(os.path.join(given["JOBFEATURES"], name), "wb") as file:
        file.write(content)
    found = features.here(given)
    assert name not in found.job
    assert problem in found.problems[0]
    assert found.machine["total_cpu"] == 16


@pytest.mark.parametrize(
    "name, text, value",
    [
        pytest.param("shutdowntime", "100000000000", 10**11, id="10^11"),
        pytest.param("shutdowntime", "1800000000.9", 1_800_000_000, id="a fraction of a second"),
        pytest.param("hs06", "1.5e2", 150, id="an exponent"),
    ],
)
def test_odd_numbers_are_read(given, name, text, value):
    with open(os.path.join(given["MACHINEFEATURES"], name), "w") as file:
        file.write(text)
    assert features.here(given).machine[name] == value


@pytest.mark.parametrize(
    "place, problem",
    [
        pytest.param("", "is not set", id="no variable"),
        pytest.param("/nowhere/at/all", "No such file", id="no directory"),
        pytest.param("/etc/passwd", "Not a directory", id="a file"),
        pytest.param("ftp://host/x", "http", id="another scheme"),
        pytest.param("http://[::1", "", id="no address"),
    ],
)
def test_a_directory_that_cannot_be_read_is_a_problem(given, place, problem):
    found = features.here({**given, "JOBFEATURES": place})
    assert found.job == {}
    assert any("JOBFEATURES" in each and problem in each for each in found.problems)
    assert found.machine["total_cpu"] == 16


def test_one_directory_may_be_both(tmp_path):
    write({"total_cpu": 16, "allocated_cpu": 8, "volume": "11"}, tmp_path)
    found = features.here({"MACHINEFEATURES": str(tmp_path), "JOBFEATURES": str(tmp_path)})
    assert found.machine == {"total_cpu": 16, "volume": "11"}
    assert found.job == {"allocated_cpu": 8, "volume": "11"}


def test_without_the_library_for_http_a_payload_is_told_what_to_install(given, monkeypatch):
    monkeypatch.setitem(sys.modules, "requests", None)
    found = features.here({**given, "JOBFEATURES": "http://127.0.0.1:1/jobfeatures"})
    assert found.job == {}
    assert "pip install 'sssjob[http]'" in found.problems[0]


def test_a_link_out_of_the_directory_is_not_followed(given, tmp_path):
    (tmp_path / "secret").write_text("7")
    (tmp_path / "job" / "job_id").symlink_to("../secret")
    found = features.here(given)
    assert "job_id" not in found.job
    assert "stays in the directory" in found.problems[0]


def test_payloads_import_little(given):
    code = """if True:
        import sys
        from sssjob import features
        assert features.here().machine["hs06"] == 151.25
        heavy = {"lxml", "click", "typing", "re", "dataclasses", "enum", "fractions", "decimal"}
        assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()
        outside = [m for m in sys.modules if "." not in m and m not in sys.stdlib_module_names]
        print(outside)
    """
    # Without site-packages' own start-up files, which import what they like.
    command = [sys.executable, "-S", "-c", code]
    root = os.path.dirname(os.path.dirname(os.path.dirname(features.__file__)))
    environment = {**os.environ, **given, "PYTHONPATH": root}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == "['__main__', 'sssjob']\n", done.stderr


def test_what_cannot_be_read_is_unknown_and_what_is_not_there_is_not(given, tmp_path):
    (tmp_path / "job/wall_limit_secs").write_text("1 h")
    found = features.here(given)
    assert found.left(START, cpu_used=0).time is None
    assert found.unknown == ("wall_limit_secs",)
    nowhere = features.here({**given, "JOBFEATURES": "/nowhere"})
    assert "wall_limit_secs" in nowhere.unknown
    assert "hs06" not in nowhere.unknown
    assert features.here({}).unknown == ()


@pytest.mark.parametrize("note", [b"", b"\0", b"what? th-is\n", b"x" * 9999, None])
def test_a_note_of_unknown_limits_that_cannot_be_read_makes_all_limits_of_time_unknown(
    tmp_path, note
):
    write({"wall_limit_secs": 60, "allocated_cpu": 1}, tmp_path / "job")
    if note is None:
        (tmp_path / "job/.unknown").mkdir()
    else:
        (tmp_path / "job/.unknown").write_bytes(note)
    found = features.here({"JOBFEATURES": str(tmp_path / "job")}, str(tmp_path))
    assert set(found.unknown) == {"cpu_limit_secs", "wall_limit_secs"}
    assert found.job["allocated_cpu"] == 1


def test_a_bad_line_of_unknown_limits_hides_no_good_one(tmp_path):
    write({"wall_limit_secs": 60}, tmp_path / "job")
    (tmp_path / "job/.unknown").write_text("max_rss_bytes\nwhat?\n")
    found = features.here({"JOBFEATURES": str(tmp_path / "job")}, str(tmp_path))
    assert set(found.unknown) == {"cpu_limit_secs", "max_rss_bytes", "wall_limit_secs"}
