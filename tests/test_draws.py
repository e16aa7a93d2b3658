"""What says how many cases a test draws says so in the same proportion to every test."""

import draws
import pytest
from hypothesis import settings


@pytest.fixture
def profile():
    before = "explore" if draws.exploring() else "ci"
    yield settings.load_profile
    settings.load_profile(before)


@pytest.mark.parametrize(
    ("name", "of_ten", "of_a_sweep", "one_in"), [("ci", 10, 400, 192), ("explore", 120, 4800, 16)]
)
def test_a_run_that_explores_draws_more_of_everything(profile, name, of_ten, of_a_sweep, one_in):
    profile(name)
    assert draws.examples(10).max_examples == of_ten
    assert draws.cases(400) == of_a_sweep
    assert draws.share(192) == one_in


def test_one_in_few_becomes_all_of_them(profile):
    profile("explore")
    assert draws.share(10) == 1
