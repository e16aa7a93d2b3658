"""The tests of a run come to its workers once each, file by file, whatever becomes of a worker."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from shares import Shares, turned
from xdist.remote import Producer

CONFTEST = """
import worker_messages
from shares import Shares

def pytest_configure(config):
    worker_messages.joined(config)

def pytest_configure_node(node):
    worker_messages.parted(node)

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
    for name in ("shares.py", "worker_messages.py"):
        shutil.copy(Path(__file__).with_name(name), folder)
    (folder / "conftest.py").write_text(CONFTEST)
    for name in "abcdefg":
        (folder / f"test_{name}.py").write_text(BODY.replace("DIES", repr(dies)))
    # Where these are set, a summary says a whole text again, not what fits a line.
    own = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "xdist", "-n", "2", "--dist=loadfile",
         "-p", "no:cacheprovider"],
        env={**own, "COLUMNS": "80", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
             "PYTHONPATH": str(folder)},
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


class Worker:
    """What the scheduler sees of a worker."""

    shutting_down = False

    def __init__(self, name):
        self.gateway = SimpleNamespace(id=name)
        self.given = []

    def shutdown(self):
        self.shutting_down = True

    def send_runtest_some(self, places):
        assert not self.shutting_down
        self.given += places


def test_a_worker_in_the_place_of_the_last_one_that_ends_gets_all_that_is_left():
    names = ["a::1", "b::1", "c::1", "c::2", "c::3"]
    option = SimpleNamespace(loadscopereorder=False)
    config = SimpleNamespace(getvalue=lambda name: ["popen"] * 2, option=option)
    shares = Shares(config, Producer("", enabled=False))
    ending, other, later = (Worker(name) for name in ("gw0", "gw1", "gw2"))
    for each in (ending, other):
        shares.add_node(each)
    for each in (ending, other):
        shares.add_node_collection(each, names)
    shares.schedule()
    assert ([names[place] for place in ending.given], other.shutting_down) == (
        ["a::1", "c::1", "c::2", "c::3"], True
    )  # fmt: skip
    shares.add_node(later)
    assert shares.remove_node(ending) == "a::1"
    shares.add_node_collection(later, names)
    shares.schedule()
    # It begins a test when it knows the next one.
    assert [names[place] for place in later.given] == ["a::1", "c::1", "c::2", "c::3"]


FAULTS = """
import os
import warnings
from pathlib import Path
import pytest

def test_skipped():
    pytest.skip("of this reason")

def test_failed():
    print("what it printed")
    warnings.warn("what it warned of")
    assert 1 + 1 == 3

@pytest.fixture
def broken():
    yield
    raise OSError("behind it")

def test_error(broken):
    pass

def test_ended():
    if not Path("died").exists():
        Path("died").touch()
        os._exit(3)
"""


def test_all_that_is_told_of_a_test_is_told_once(tmp_path):
    (tmp_path / "test_faults.py").write_text(FAULTS)
    _, printed = ran(tmp_path, None)
    assert "2 failed, 37 passed, 1 skipped, 1 warning, 1 error in" in printed
    for each in (
        "\nE       assert (1 + 1) == 3", "\nwhat it printed\n", "UserWarning: what it warned of",
        "\nE       OSError: behind it", "crashed while running 'test_faults.py::test_ended'\n",
    ):  # fmt: skip
        assert printed.count(each) == 1, each


class Found(NamedTuple):
    path: Path
    kind: str = "module"


def test_workers_begin_with_other_files_and_find_the_same():
    found = [Found(Path(name)) for name in "cbadefg"]
    found[3:3] = [Found(Path("d"), "doctests")]
    one = turned(found, {})
    assert [each.path.name for each in one] == [*"abcddefg"]
    assert [each.kind for each in one if each.path.name == "d"] == ["doctests", "module"]
    orders = [turned(found, {"workerid": f"gw{n}", "workercount": 3}) for n in range(4)]
    assert [order[0].path.name for order in orders] == ["a", "c", "e", "f"]  # a fourth in its place
    assert all(sorted(order) == sorted(found) for order in orders)
    assert orders[2] == one[5:] + one[:5]
