"""A run of the tests tries the same cases each time, however busy the machine is."""

import importlib
import re
import sys
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TESTS = Path(__file__).parent
CHECKS = re.compile(r"suppress_health_check=(\[[^]]*\]|list\(HealthCheck\))")


def drawn():
    """What a property test draws, case by case."""
    cases = []

    @given(st.lists(st.text() | st.integers() | st.floats(allow_nan=False) | st.binary()))
    def draw(case):
        cases.append(case)

    draw()
    return cases


def test_what_is_drawn_is_the_same_each_time():
    first = drawn()
    assert drawn() == first
    assert len(first) > 10


def test_what_is_drawn_does_not_depend_on_what_is_imported(tmp_path, monkeypatch):
    """Hypothesis would draw the constants of this module, once it is imported."""
    first = drawn()
    (tmp_path / "late.py").write_text("FOUND = [12345, 2.75, b'late', 'late', 'later', 'latest']\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("late")
    try:
        assert drawn() == first
    finally:
        del sys.modules["late"]


def test_neither_the_clock_nor_former_runs_decide():
    assert settings.default.deadline is None
    assert settings.default.database is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check


def test_no_test_asks_the_clock_again():
    """Who suppresses one health check states them all."""
    for path in TESTS.rglob("*.py"):
        for stated in CHECKS.findall(path.read_text()):
            assert "too_slow" in stated or stated.startswith("list"), path
