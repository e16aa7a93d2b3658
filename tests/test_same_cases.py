"""A run of the tests tries the same cases each time, however busy the machine is."""

import re
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TESTS = Path(__file__).parent
CHECKS = re.compile(r"suppress_health_check=(\[[^]]*\]|list\(HealthCheck\))")


def test_what_is_drawn_is_the_same_each_time():
    drawn = []

    @given(st.lists(st.text()))
    def draw(found):
        drawn.append(found)

    draw()
    first = [*drawn]
    drawn.clear()
    draw()
    assert drawn == first
    assert len(first) > 10


def test_neither_the_clock_nor_former_runs_decide():
    assert settings.default.deadline is None
    assert settings.default.database is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check


def test_no_test_asks_the_clock_again():
    """Who suppresses one health check states them all."""
    for path in TESTS.rglob("*.py"):
        for stated in CHECKS.findall(path.read_text()):
            assert "too_slow" in stated or stated.startswith("list"), path
