"""The tests of a run come to its workers once each, file by file, whatever becomes of a worker."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = """
from shares import Shares

def pytest_xdist_make_scheduler(config, log):
    return Shares(config, log)
"""
BODY = """
import os
from pathlib import Path
import pytest

@pytest.mark.parametrize("number", range(5))
def test_it(number, worker_id):
    with open("ran", "a") as ran:
        ran.write(f"{Path(__file__).name} {number} {worker_id}\\n")
    if (Path(__file__).name, number) == DIES and not Path("died").exists():
        Path("died").touch()
        os._exit(1)
"""


def ran(folder, dies):
    """What ran, as file, number and worker, and what the run printed."""
    shutil.copy(Path(__file__).with_name("shares.py"), folder)
    (folder / "conftest.py").write_text(CONFTEST)
    for name in "abcdefg":
        (folder / f"test_{name}.py").write_text(BODY.replace("DIES", repr(dies)))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "xdist", "-n", "2", "--dist=loadfile",
         "-p", "no:cacheprovider"],
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(folder)},
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return [line.split() for line in (folder / "ran").read_text().splitlines()], done.stdout


ALL = [[f"test_{name}.py", str(number)] for name in "abcdefg" for number in range(5)]


def test_each_test_runs_once_and_a_file_in_its_order_by_one_worker(tmp_path):
    told, printed = ran(tmp_path, None)
    assert sorted(each[:2] for each in told) == ALL
    assert "35 passed" in printed
    for file in {file for file, _, _ in told}:
        own = [(number, worker) for name, number, worker in told if name == file]
        assert [number for number, _ in own] == [*"01234"]
        assert len({worker for _, worker in own}) == 1


@pytest.mark.parametrize("number", [0, 2, 4])
def test_what_a_worker_that_ends_had_before_it_is_done_by_another_one(tmp_path, number):
    told, printed = ran(tmp_path, ("test_c.py", number))
    # The one in which it ended fails, and is run again with the rest of its file, as of old.
    place = rf"test_c.py::test_it\[{number}\]"
    assert re.search(rf"worker 'gw\d' crashed while running '{place}'", printed)
    assert {tuple(each[:2]) for each in told} == {tuple(each) for each in ALL}
    passed = [each[:2] for each in told]
    assert all(passed.count(each) == 1 for each in ALL if each != ["test_c.py", str(number)])
