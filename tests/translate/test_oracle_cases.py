"""Every option that is written for a system that tests can ask is put to it (tests/interop)."""

import pytest
from oracle_cases import LEFT, MORE, TABLES, UNPUT, cases, declared, options, put

TARGETS = sorted(TABLES)


@pytest.mark.parametrize("target", TARGETS)
def test_every_option_that_is_written_is_put_to_the_real_system(target):
    shown = set().union(*(options(inner, target) for inner in put(target)))
    assert declared(target) - shown == UNPUT[target]


@pytest.mark.parametrize("target", TARGETS)
def test_an_option_that_is_not_put_is_written_in_a_case_that_is_left_out(target):
    shown = set().union(*(options(inner, target) for inner in cases(target)))
    assert declared(target) <= shown


@pytest.mark.parametrize(
    ("target", "part"), [(name, part) for name in TARGETS for part in LEFT[name]]
)
def test_nothing_is_left_out_that_is_not_there(target, part):
    assert any(part in inner for inner in cases(target))


@pytest.mark.parametrize("target", TARGETS)
def test_most_cases_are_put(target):
    assert len(put(target)) > 0.8 * len(cases(target)) > len(MORE[target])
