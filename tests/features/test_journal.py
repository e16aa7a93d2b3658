"""The log of prologs has one line a job, whoever writes it at once, and an end."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from sssjob.errors import Unprotected
from sssjob.features.batch.journal import note


def test_a_line_has_the_time_and_no_control_characters(tmp_path):
    note(str(tmp_path / "log"), 1700000000.9, "prolog slurm 7: \x1b[2J\nx")
    assert (
        tmp_path / "log"
    ).read_text() == "2023-11-14T22:13:20Z prolog slurm 7: \u241b[2J\u240ax\n"


def test_a_full_log_makes_room_and_none_grows_without_end(tmp_path):
    for number in range(100):
        note(str(tmp_path / "log"), 1700000000, f"job {number}", most=300)
    assert sorted(os.listdir(tmp_path)) == ["log", "log.1"]
    whole = (tmp_path / "log.1").read_text() + (tmp_path / "log").read_text()
    assert whole.splitlines()[-1].endswith("job 99")
    numbers = [int(line.split()[-1]) for line in whole.splitlines()]
    assert numbers == list(range(numbers[0], 100))
    assert all((tmp_path / name).stat().st_size <= 300 for name in ("log", "log.1"))


def test_many_write_whole_lines_at_once(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        for number in range(200):
            pool.submit(note, str(tmp_path / "log"), 1700000000, f"job {number}", 1 << 20)
    lines = (tmp_path / "log").read_text().splitlines()
    assert sorted(int(line.split()[-1]) for line in lines) == list(range(200))


def test_a_link_in_the_name_of_the_log_is_not_followed(tmp_path):
    (tmp_path / "log").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic link"):
        note(str(tmp_path / "log"), 1700000000, "job 7")
    assert not (tmp_path / "precious").exists()


def test_a_device_is_no_log_to_rotate():
    note("/dev/null", 1700000000, "job 7", most=1)
    assert not os.path.exists("/dev/null.1")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is led by others")
def test_a_link_of_another_user_on_the_way_to_the_log_is_not_followed(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "logs").symlink_to(tmp_path / "kept")
    note(str(tmp_path / "logs/log"), 1700000000, "job 7")  # a link of root
    os.chown(tmp_path / "logs", 65534, 65534, follow_symlinks=False)
    with pytest.raises(Unprotected, match="is a link of the user"):
        note(str(tmp_path / "logs/log"), 1700000000, "job 8")
    assert (tmp_path / "kept/log").read_text().count("\n") == 1
