"""The program that plants faults plants some, and the tests of units notice them."""

import gc
import os
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "long/mutate.py"


@pytest.fixture(scope="module")
def planting():
    spec = spec_from_file_location("planting", PROGRAM)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_faults_are_planted_in_each_room_every_week(planting):
    weekly = (PROGRAM.parents[2] / ".github/workflows/long.yml").read_text()
    rooms = re.search(r"room: \[(.*)\]", weekly)[1].split(", ")
    assert {*rooms} == planting.ROOMS.keys() - {"units"}  # which is a part of words


def test_what_is_marked_as_equivalent_is_a_fault_that_can_be_planted(planting):
    modules = {module for room in planting.ROOMS.values() for module in room.modules()}
    found = {
        key
        for name in modules
        for each in planting.faults(name)
        for key in (each.key, each.key_in_function)
    }
    assert planting.EQUIVALENT.keys() <= found


def test_a_fault_that_changes_nothing_in_one_function_may_change_something_in_another(
    planting, monkeypatch
):
    few = [each for each in planting.faults("sssjob.visible") if each.was == "return None"]
    first = few[0].key_in_function
    monkeypatch.setattr(planting, "EQUIVALENT", {first: "a reason"})
    assert {each.key_in_function for each in few if each.changes_nothing} == {first}


def test_what_is_printed_of_faults_tells_which_to_plant_again(planting):
    few = [*planting.faults("sssjob.integers"), *planting.faults("sssjob.visible")]
    printed = "\n".join(fault.told("no test comes here") for fault in few)
    assert planting.named(f"{printed}\nwords: 3 of 9 faults, 0 that change nothing\n") == {
        fault.key for fault in few
    }


def test_a_fault_stands_in_the_lines_of_its_statement(planting):
    for fault in planting.faults("sssjob.visible"):
        assert fault.line in fault.lines


@pytest.mark.parametrize(
    "where, noticed", [("row is not None and row.type in _NUMBERS", 1), ("odd & IRREGULAR", 0)]
)
def test_what_only_the_import_of_a_module_comes_to_is_wrong_from_there_on(
    planting, tmp_path, where, noticed
):
    """The types of columns are made once; which bits of a row are set is asked each time."""
    module = "sssjob.store.columns"
    number = next(n for n, each in enumerate(planting.faults(module)) if where in each.code)
    (tmp_path / "tests").write_text("tests/store/test_columns.py::test_types_come_from_the_tables")
    done = subprocess.run(
        [sys.executable, PROGRAM, planting.AT_IMPORT, module, str(number), f"@{tmp_path}/tests"],
        cwd=planting.HOME, env=own(), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == noticed


def test_a_function_whose_code_is_not_that_of_its_file_is_refused(planting):
    """As one would be in whose assertions pytest looks: no fault could be planted there."""
    file = planting.path_of("sssjob.integers")
    import_module("sssjob.integers")
    assert planting.Functions(["sssjob.integers"]).found[file]
    names = {}
    exec(compile("def other():\n    assert 0", file, "exec"), names)
    try:
        with pytest.raises(LookupError, match="other has another code"):
            planting.Functions(["sssjob.integers"])
    finally:
        gc.unfreeze()  # what is kept out of the way of processes that are forked


def own(**words):
    """The environment without what pytest says to what it starts."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    return {**kept, "PYTHONPATH": str(PROGRAM.parents[1]), **words}


def test_planted_faults_are_noticed_and_what_tests_reach_is_kept(tmp_path):
    done = subprocess.run(
        [sys.executable, PROGRAM, "units", "4", "2"],  # a seed without faults that change nothing
        env=own(SSSJOB_MUTATE=str(tmp_path)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "units: 4 of 1" in done.stdout
    assert done.stdout.endswith("100 % noticed, 0 not noticed\n")
    assert (tmp_path / "units.jsonl").read_text().count("test_units.py") > 10


def test_what_a_test_reaches_is_known_while_its_sources_are_the_same(planting, tmp_path):
    kept = tmp_path / "units.jsonl"
    kept.write_text('["t::a", "1", {"u.py": [3]}, 0.5, "passed"]\n["t::b", "1", {}, 0, "passed"]\n')
    assert planting.known_in(kept, {"t::a": "1", "t::b": "2", "t::c": "1"}) == {
        "t::a": ({"u.py": [3]}, 0.5, "passed")
    }
    assert planting.known_in(tmp_path / "none", {"t::a": "1"}) == {}


def test_the_sources_of_a_test_are_its_file_and_those_that_it_takes_from(planting):
    tests = PROGRAM.parents[1]
    taken = planting.with_what_it_takes(tests / "test_job_totals.py")
    assert {tests / "test_job_totals.py", tests / "test_named_nodes.py"} <= taken
    assert tests / "test_units.py" not in taken
    sources = planting.Sources()
    one, other = (sources.digest(tests / name) for name in ("test_units.py", "test_nodes.py"))
    assert one == planting.Sources().digest(tests / "test_units.py") != other


def test_the_file_that_mirrors_a_module_is_asked_first_and_no_longer_than_may_be(planting):
    tests = {"t/test_a.py::x": 1, "t/test_b.py::y": 2, "t/test_b.py::z": 9, "t/test_c.py::w": 40}
    assert [*planting.quickest("sssjob.b", tests).values()] == [2, 9, 1]
    assert [*planting.quickest("sssjob.c", tests).values()] == [40]
