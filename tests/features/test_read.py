import os
import subprocess
import sys
from fractions import Fraction

import pytest

from sssjob.features import files as module
from sssjob.features import keys
from sssjob.features.read import LONGEST, DirectoryValues, modern, read


@pytest.fixture
def directory(tmp_path):
    def make(**contents):
        for name, content in contents.items():
            (tmp_path / name).write_bytes(
                content if isinstance(content, bytes) else content.encode()
            )
        return tmp_path

    return make


def test_known_keys_are_typed_and_unknown_keys_are_text(directory):
    reading = read(directory(allocated_cpu="8\n", hs06_job="11.25", job_id="PBS.1\n", volume="11"))
    assert reading == DirectoryValues(
        {"allocated_cpu": 8, "hs06_job": Fraction("11.25"), "job_id": "PBS.1", "volume": "11"}
    )


def test_the_table_says_which_keys_are_known(directory):
    place = directory(total_cpu="16", allocated_cpu="8")
    assert read(place, keys.MACHINE_FEATURES).values == {"total_cpu": 16, "allocated_cpu": "8"}


@pytest.mark.parametrize("content", ["8", "8\n", "8\r\n", "  8\t\n\n", "8.0", "8.9", "\n8"])
def test_white_space_and_fractions_are_tolerated(directory, content):
    assert read(directory(allocated_cpu=content)).values == {"allocated_cpu": 8}


@pytest.mark.parametrize("content", ["", "\n", " \r\n"])
def test_an_empty_file_is_an_absent_key(directory, content):
    assert read(directory(allocated_cpu=content)) == DirectoryValues()


@pytest.mark.parametrize(
    "content, complaint",
    [
        pytest.param(b"8\0", "NUL", id="NUL"),
        pytest.param(b"8\xff", "byte 2", id="not UTF-8"),
        pytest.param(b"eight", "eight", id="not a number"),
        pytest.param(b"-1", "above 0", id="Quattor's -1 for not set"),
        pytest.param(b"9" * 30, "9223372036854775807", id="beyond 64 bits"),
        pytest.param(b"8" + b" " * LONGEST, "4096 bytes", id="too long"),
    ],
)
def test_a_bad_value_is_reported_and_the_rest_is_read(directory, content, complaint):
    place = directory(allocated_cpu=content, wall_limit_secs="60")
    reading = read(place)
    assert reading.values == {"wall_limit_secs": 60}
    [finding] = reading.findings
    assert complaint in finding.message
    assert finding.file == str(place / "allocated_cpu")
    assert finding.code == "E-TYPE"


def test_the_longest_value_is_read(directory):
    assert read(directory(job_id="x" * LONGEST)).values == {"job_id": "x" * LONGEST}


def test_readme_and_hidden_files_are_ignored(directory):
    place = directory(job_id="1")
    for name in ("README.txt", ".sssjob", ".job_id.tmp", "a-b", "jöb"):
        (place / name).write_text("\0")
    assert read(place) == DirectoryValues({"job_id": "1"})


def test_no_link_is_followed_out_of_the_directory(tmp_path):
    place = tmp_path / "job"
    place.mkdir()
    (tmp_path / "secret").write_text("7")
    (place / "allocated_cpu").symlink_to("../secret")
    (place / "job_id").symlink_to(tmp_path / "secret")
    (place / "inside").symlink_to("wall_limit_secs")
    (place / "chain").symlink_to("job_id")
    (place / "loop").symlink_to("loop")
    (place / "nowhere").symlink_to("absent")
    (place / "wall_limit_secs").write_text("60\n")
    reading = read(place)
    assert reading.values == {"wall_limit_secs": 60, "inside": "60"}
    assert len(reading.findings) == 5


def test_special_files_are_never_opened(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "job_id")
    (tmp_path / "allocated_cpu").mkdir()
    (tmp_path / "wall_limit_secs").symlink_to("job_id")
    opened = []
    genuine = os.open
    monkeypatch.setattr(os, "open", lambda *a, **k: (opened.append(a[0]), genuine(*a, **k))[1])
    reading = read(tmp_path)
    assert opened == [tmp_path]
    assert reading.values == {}
    assert len(reading.findings) == 3


def test_a_file_that_becomes_a_fifo_after_it_was_looked_at_does_not_hang(tmp_path, monkeypatch):
    (tmp_path / "job_id").write_text("1")
    regular = os.stat(tmp_path / "job_id")
    (tmp_path / "job_id").unlink()
    os.mkfifo(tmp_path / "job_id")
    monkeypatch.setattr(os, "stat", lambda *a, **k: regular)
    reading = read(tmp_path)
    assert reading.values == {}
    assert "regular file" in reading.findings[0].message


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_key_without_permission_spares_the_rest(directory):
    place = directory(job_id="1", allocated_cpu="8")
    (place / "job_id").chmod(0)
    reading = read(place)
    assert reading.values == {"allocated_cpu": 8}
    assert "Permission" in reading.findings[0].message


def test_a_directory_of_countless_files_is_cut(directory, monkeypatch):
    monkeypatch.setattr(module, "MOST", 3)
    reading = read(directory(**{f"k{number}": "1" for number in range(9)}))
    assert len(reading.values) == 3
    assert [finding.code for finding in reading.findings] == ["E-LIMIT"]


def test_an_absent_directory_raises(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "absent")


@pytest.mark.parametrize(
    "shutdown, why",
    [
        pytest.param("999999999", "2001", id="before 2001"),
        pytest.param("1455179999", "start of the job", id="before the job started"),
    ],
)
def test_a_stale_shutdown_is_reported_and_ignored(directory, shutdown, why):
    reading = read(directory(shutdowntime_job=shutdown, jobstart_secs="1455180000"))
    assert reading.values == {"jobstart_secs": 1455180000}
    [finding] = reading.findings
    assert finding.code == "W-RANGE"
    assert why in finding.message


@pytest.mark.parametrize(
    "older, newer, count",
    [
        pytest.param({"mem_limit_MB": Fraction(2147)}, {}, 0, id="only 2014"),
        pytest.param(
            {"mem_limit_MB": Fraction(2147)}, {"max_rss_bytes": 2147483648}, 0, id="floored"
        ),
        pytest.param(
            {"mem_limit_MB": Fraction(4000)}, {"max_rss_bytes": 2147483648}, 1, id="apart"
        ),
        pytest.param({"allocated_CPU": 8}, {"allocated_cpu": 8}, 0, id="same"),
        pytest.param({"allocated_CPU": 4}, {"allocated_cpu": 8}, 1, id="one less"),
    ],
)
def test_the_newer_name_counts_and_a_difference_beyond_rounding_is_reported(older, newer, count):
    reading = modern(DirectoryValues({**older, **newer}))
    converted = dict(keys.modern(*item) for item in older.items())
    assert reading.values == {**converted, **newer}
    assert [finding.code for finding in reading.findings] == ["W-DISAGREE"] * count


def test_features_import_nothing_heavy():
    code = "import sys, sssjob.features.read, sssjob.features.write, sssjob.features.derive\n"
    code += "print([name for name in ('lxml', 'click', 'rich', 'xml') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
